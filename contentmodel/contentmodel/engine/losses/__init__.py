"""Losses: the values that a conversion could not carry, with the reason and the path of each."""
