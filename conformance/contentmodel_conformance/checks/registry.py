"""What a check is, and the list of all of them.

    @check(laws.identity, "sdk", "payloads that the SDK's types allow", "types")
    def sdk_identity(subject, trial): ...

The law's docstring is what reports say that it promises. `needs` names what has to be there: for each, the subject's
`no_<need>` says why it is not, and then the check is skipped with that reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

Run: TypeAlias = Callable[[Subject, Trial], None]


@dataclass(frozen=True)
class Check:
    """One law, tried on one sort of input. `name` is its id: `identity/table`."""

    name: str
    law: str
    on: str
    needs: tuple[str, ...]
    run: Run

    def skipped(self, subject: Subject) -> str:
        """Why this check does not apply to an adapter; empty where it does."""
        reasons = (getattr(subject, f"no_{need}") for need in self.needs)
        return next((reason for reason in reasons if reason), "")


CHECKS: dict[str, Check] = {}
"""Every check, by its name."""

LAWS: dict[str, str] = {}
"""Every law, with the sentence that says what it promises."""


def check(law: Callable[..., Any], name: str, on: str, *needs: str) -> Callable[[Run], Run]:
    """Registers the function below as a check of `law`, tried on what `on` says, and called `name` for short."""
    kept = law_name(law)
    LAWS.setdefault(kept, promise(law))
    slug = f"{kept.replace(' ', '-')}/{name}"
    if slug in CHECKS:
        raise TypeError(f"two checks are named {slug}: rename one")

    def register(run: Run) -> Run:
        CHECKS[slug] = Check(slug, kept, on, needs, run)
        return run

    return register


def law_name(law: Callable[..., Any]) -> str:
    """The name of a law: its function's; those of streams say so."""
    name = law.__name__.replace("_", " ")
    return f"stream {name}" if law.__module__.endswith(".streams") else name


def promise(law: Callable[..., Any]) -> str:
    """What a law promises: the first paragraph of its docstring."""
    return " ".join(inspect.cleandoc(law.__doc__ or "").partition("\n\n")[0].split())
