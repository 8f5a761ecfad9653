"""Hypothesis strategies for payloads, model values and streams."""
