"""The `contentmodel` command. Needs the extra `cli`; importing this package loads neither typer nor rich."""

from __future__ import annotations

import sys

from contentmodel.errors import MissingExtraError
from contentmodel.extras import needs_extra


def main() -> None:
    """Run the command with the arguments of the process, and exit."""
    try:
        with needs_extra("cli"):
            from contentmodel.cli.app import app
    except MissingExtraError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    app(prog_name="contentmodel")
