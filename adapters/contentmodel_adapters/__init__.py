"""Adapters: one package for each provider API. They need no SDK, and none of them knows another."""
