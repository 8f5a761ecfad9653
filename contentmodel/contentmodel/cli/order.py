"""The options and the outputs of `contentmodel convert`."""

from __future__ import annotations

from dataclasses import dataclass

from contentmodel.cli.errors import Problem
from contentmodel.cli.output import check_output
from contentmodel.literals import OnLoss, PayloadKind, Policies
from contentmodel.renames import Renames


@dataclass(frozen=True)
class Order:
    """The options of a conversion. `pretty` is None if the command line does not set it."""

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
    """The output paths. None is standard output for the payload; the others are not written."""

    payload: str | None
    losses: str | None
    maps: str | None

    def check(self, path: str | None) -> None:
        """Raise Problem if an output would overwrite the input or another output."""
        named = {"--output": self.payload or "-", "--losses": self.losses, "--maps": self.maps}
        used = [path]
        for option, output in named.items():
            if output == "-" and "-" in used[1:]:
                hint = f"name a file: {option} FILE, or -o OUT for the payload"
                raise Problem(f"{option} -: standard output is already used by another output", hint=hint)
            check_output(output, used, option)
            used.append(output)
