"""What `contentmodel convert` was asked for, and where everything goes."""

from __future__ import annotations

from dataclasses import dataclass

from contentmodel.cli.errors import Problem
from contentmodel.cli.output import check_output
from contentmodel.engine.pipeline.names import Renames
from contentmodel.literals import OnLoss, PayloadKind, Policies


@dataclass(frozen=True)
class Order:
    """What the command line asks for. `pretty` is None where it does not say."""

    target: str
    api: str | None
    kind: PayloadKind | None
    policies: Policies
    on_loss: OnLoss
    pretty: bool | None
    model: str | None
    renames: Renames | None
    quiet: bool


@dataclass(frozen=True)
class Outputs:
    """Where everything goes; None is standard output for the payload, and nowhere for the others."""

    payload: str | None
    losses: str | None
    maps: str | None

    def check(self, path: str | None) -> None:
        """Problem where one would take the place of the input, or of another."""
        named = {"--output": self.payload or "-", "--losses": self.losses, "--maps": self.maps}
        taken = [path]
        for option, output in named.items():
            if output == "-" and "-" in taken[1:]:
                hint = f"name a file: {option} FILE, or -o OUT for the payload"
                raise Problem(f"{option} -: something else goes to standard output already", hint=hint)
            check_output(output, taken, option)
            taken.append(output)
