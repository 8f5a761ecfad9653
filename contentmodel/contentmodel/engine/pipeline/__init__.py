"""Pipelines: the ordered steps that fit a conversation to a target."""
