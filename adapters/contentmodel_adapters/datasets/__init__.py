"""The formats of data sets and of stored runs."""
