"""The formats of agent frameworks and of the protocols between them."""
