"""What every adapter has to hold to: judges, strategies and laws, as plain functions."""
