"""The sessions that coding agents store as lines of JSON."""
