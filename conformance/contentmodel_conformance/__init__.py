"""Checks for adapters: laws, test data and a report, as plain functions and for pytest.

report = check_adapter(my_adapter)          # everything that applies
class TestMine(AdapterConformance): ...     # the same, a test for each check
contentmodel-conformance run my-api         # the same, on the command line
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contentmodel_conformance.laws import LawBroken
    from contentmodel_conformance.report import Change, Finding, Outcome, Report
    from contentmodel_conformance.strategies.transcripts import Limits
    from contentmodel_conformance.suite import Progress, check_adapter, check_adapters, check_corpus
    from contentmodel_conformance.testing import AdapterConformance

__all__ = [
    "AdapterConformance",
    "Change",
    "Finding",
    "LawBroken",
    "Limits",
    "Outcome",
    "Progress",
    "Report",
    "check_adapter",
    "check_adapters",
    "check_corpus",
]

# Imported lazily: pytest imports this package in every run, for its plugin.
_HOMES = {
    "AdapterConformance": "testing",
    "Change": "report",
    "Finding": "report",
    "LawBroken": "laws",
    "Limits": "strategies.transcripts",
    "Outcome": "report",
    "Progress": "suite",
    "Report": "report",
    "check_adapter": "suite",
    "check_adapters": "suite",
    "check_corpus": "suite",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from contentmodel.extras import needs_extra

    with needs_extra("conformance"):
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
