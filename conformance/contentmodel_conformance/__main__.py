"""`python -m contentmodel_conformance`, and the command `contentmodel-conformance`. Needs the extra `conformance`."""

from __future__ import annotations

import sys

_NEEDED = {"typer", "rich", "starlette", "uvicorn", "hypothesis", "pydantic", "jinja2"}


def main() -> None:
    """Run the command with the arguments of the process, and exit."""
    try:
        import contentmodel_conformance.cli_matrix  # (registers its commands)
        import contentmodel_conformance.cli_mutants  # noqa: F401
        from contentmodel_conformance.cli import app
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in _NEEDED:
            raise
        need = 'Install it: pip install "contentmodel[conformance]"'
        print(f"The contentmodel-conformance command needs {name}. {need}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    app(prog_name="contentmodel-conformance")


if __name__ == "__main__":
    main()
