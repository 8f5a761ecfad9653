"""`python -m contentmodel.cli`."""

from contentmodel.cli import main

main()
