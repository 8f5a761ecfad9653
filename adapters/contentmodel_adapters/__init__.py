"""Adapters: one package for each API, in folders of families. They need no SDK, and do not import each other."""
