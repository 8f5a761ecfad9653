"""Tables: rows that pair wire objects with types of the model, and are compiled to functions."""
