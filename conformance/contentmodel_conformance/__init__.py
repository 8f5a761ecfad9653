"""What an adapter has to hold to, as plain functions: judges, strategies and laws, for our adapters and others'."""
