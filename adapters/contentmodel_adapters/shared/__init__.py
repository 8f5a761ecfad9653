"""Provider lore that more than one adapter needs."""
