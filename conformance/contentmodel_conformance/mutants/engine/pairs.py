"""Defects in the pairing of calls, results and questions."""

from __future__ import annotations

from typing import Any

from contentmodel import pairs
from contentmodel_conformance.mutants.broken import ANTHROPIC
from contentmodel_conformance.mutants.engine.changes import change


@change(pairs._Pending, "_last_group", ANTHROPIC, "pairing/repeated")
def pairs_with_the_first_group(original: Any, self: Any, key: Any) -> Any:
    """Pair a result with a call of the first group that has its id, instead of the last."""
    for entries in self._by_key.get(key) or ():
        while entries and entries[0].is_taken:
            entries.popleft()
        if entries:
            return entries
    return None
