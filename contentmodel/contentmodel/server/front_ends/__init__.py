"""The protocols of other front ends, beside the server's own: the same turns, in their events and bodies."""
