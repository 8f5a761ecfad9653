"""Adapters: one package for each provider API. They need no SDK, and do not import each other."""
