"""`python -m contentmodel_conformance`, and the command `contentmodel-conformance`. Needs the extra `conformance`."""

from __future__ import annotations

import sys

from contentmodel.errors import MissingExtraError
from contentmodel.extras import needs_extra


def main() -> None:
    """Run the command with the arguments of the process, and exit."""
    try:
        with needs_extra("conformance"):
            import contentmodel_conformance.cli_matrix  # (registers its commands)
            import contentmodel_conformance.cli_mutants
            import contentmodel_conformance.cli_record  # noqa: F401
            from contentmodel_conformance.cli import app
    except MissingExtraError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    app(prog_name="contentmodel-conformance")


if __name__ == "__main__":
    main()
