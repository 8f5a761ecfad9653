"""The class of checks, and the registry of all checks.

    @check(laws.identity, "sdk", "payloads that the SDK's types allow", "types")
    def sdk_identity(subject, trial): ...

Reports show the first paragraph of the law's docstring as its promise. `needs` lists requirements: if the subject's
`no_<need>` is not empty, the check is skipped, with `no_<need>` as the reason.
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
    """One law, tried on one kind of input. `name` is its id: `identity/table`."""

    name: str
    law: str
    on: str
    needs: tuple[str, ...]
    run: Run

    def skipped(self, subject: Subject) -> str:
        """Return why this check does not apply to an adapter; "" if it does."""
        reasons = (getattr(subject, f"no_{need}") for need in self.needs)
        return next((reason for reason in reasons if reason), "")


CHECKS: dict[str, Check] = {}
"""Every check, by name."""

LAWS: dict[str, str] = {}
"""Every law, with its promise."""


def check(law: Callable[..., Any], name: str, on: str, *needs: str) -> Callable[[Run], Run]:
    """Register the decorated function as a check `name` of `law`. `on` describes its input."""
    title = law_name(law)
    LAWS.setdefault(title, promise(law))
    slug = f"{title.replace(' ', '-')}/{name}"
    if slug in CHECKS:
        raise TypeError(f"two checks are named {slug}: rename one")

    def register(run: Run) -> Run:
        CHECKS[slug] = Check(slug, title, on, needs, run)
        return run

    return register


def law_name(law: Callable[..., Any]) -> str:
    """Return the name of a law: its function's name; laws of streams start with "stream"."""
    name = law.__name__.replace("_", " ")
    return f"stream {name}" if law.__module__.endswith(".streams") else name


def promise(law: Callable[..., Any]) -> str:
    """Return the promise of a law: the first paragraph of its docstring."""
    return " ".join(inspect.cleandoc(law.__doc__ or "").partition("\n\n")[0].split())
