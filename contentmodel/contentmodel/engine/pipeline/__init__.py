"""Pipelines: the ordered passes that fit a conversation to a target."""
