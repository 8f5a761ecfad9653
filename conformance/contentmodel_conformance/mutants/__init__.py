"""Broken adapters, to try the checks on: each is a good adapter with one defect, and the checks that have to find it.

for mutant in MUTANTS.values():
    assert mutant.report().failures
"""

from __future__ import annotations

from importlib import import_module

from contentmodel_conformance.mutants.broken import MUTANTS, Broken, Mutant

__all__ = ["MUTANTS", "Broken", "Mutant"]

# The list has this order: contents, settings, roles, conduct, streams, and what only the readers find.
for _name in ("contents", "settings", "voices", "conduct", "streams", "agreement"):
    import_module(f"{__name__}.{_name}")
