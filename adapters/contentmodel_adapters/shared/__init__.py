"""Provider-specific code that more than one adapter needs."""
