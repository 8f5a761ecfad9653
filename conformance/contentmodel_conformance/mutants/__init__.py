"""Broken adapters, to try the checks on: each is a good adapter with one defect, and the checks that have to find it.

for mutant in MUTANTS.values():
    assert mutant.report().failures
"""

from __future__ import annotations

from importlib import import_module

from contentmodel_conformance.mutants.broken import MUTANTS, Broken, Mutant

__all__ = ["MUTANTS", "Broken", "Mutant"]

# What is said, with which settings, by whom, how they work, streams, what only readers find: in the order of the list.
for _name in ("contents", "settings", "voices", "conduct", "streams", "agreement"):
    import_module(f"{__name__}.{_name}")
