"""Losses: what a conversion could not carry, why, and where it was."""
