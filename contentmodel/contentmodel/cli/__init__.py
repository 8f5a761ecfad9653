"""The `contentmodel` command. Needs the extra `cli`; importing this package loads neither typer nor rich."""

from __future__ import annotations

import sys

_NEEDED = {"typer", "rich"}


def main() -> None:
    """Runs the command with the arguments of the process, and exits."""
    try:
        from contentmodel.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        print(
            f'The contentmodel command needs {error.name}. Install it: pip install "contentmodel[cli]"',
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    app(prog_name="contentmodel")
