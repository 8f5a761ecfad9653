"""`contentmodel sessions`: the sessions of coding agents on this machine."""
