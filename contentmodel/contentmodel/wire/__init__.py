"""The codec engine: tables that pair wire objects with model types, and what compiles and runs them."""
