"""Mutants, to try the checks on: each is one defect of an adapter or of the engine, and the checks that find it.

for mutant in MUTANTS.values():
    assert mutant.report().failures
"""

from __future__ import annotations

from importlib import import_module

from contentmodel_conformance.mutants.broken import MUTANTS, AdapterMutant, Broken, Mutant

__all__ = ["MUTANTS", "AdapterMutant", "Broken", "Mutant"]

# The list has this order: contents, settings, roles, conduct, streams and their endings, what only the readers find,
# single values, models, hosts, and the engine.
for _name in (
    *("contents", "settings", "voices", "conduct", "streams", "live_prefix", "endings"),
    *("agreement", "by_itself", "model_names", "hosts", "engine"),
):
    import_module(f"{__name__}.{_name}")
