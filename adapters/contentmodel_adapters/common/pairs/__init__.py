"""Code for pairs of formats: the blocks of a provider in the messages of a framework."""
