"""Defects in the pairing of calls, results and questions."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel import pairs
from contentmodel.engine.losses import provenance
from contentmodel.engine.pipeline import calls, names
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT
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


@change(pairs.AnswerCallIds, "give", CHAT, "stream-crossing/foreign")
def gives_streamed_results_new_ids(original: Any, self: Any, index: Any, content: Any) -> Any:
    """Give a streamed call another id each time."""
    result = original(self, index, content)
    self._serial = getattr(self, "_serial", 0) + 1
    return msgspec.structs.replace(result, call_id=f"{result.call_id}_{self._serial}")


@change(pairs.DistinctIds, "give", ANTHROPIC, "answered-calls/foreign")
def repeats_ids(original: Any, self: Any, call_id: Any, *, is_minted: Any = False) -> Any:
    """Keep ids that calls of earlier turns have."""
    self.taken.add(call_id)
    return call_id


@change(pairs._Pending, "take_call", CHAT, "answered-calls/foreign")
def pairs_by_ids_alone(original: Any, self: Any, result: Any) -> Any:
    """Pair a result that has an id with a call of this id only, although the calls have none."""
    self.close()
    return self._take_by_id(result) if result.call_id else original(self, result)


@change(calls._Pairing, "finish", CHAT, "answered-calls/foreign")
def leaves_half_answered_turns(original: Any, self: Any) -> Any:
    """Send a turn at the end in which only some calls have results."""
    self._end_run()


@change(calls._Pairing, "add", CHAT, "answered-calls/foreign")
def lets_instructions_end_turns(original: Any, self: Any, number: Any, message: Any) -> Any:
    """Send a placeholder for a result that follows instructions."""
    if message.role in ("system", "developer"):
        self._end_turn()
    original(self, number, message)


@change(names, "with_used_ids", CHAT, "maps/crossing")
def forgets_used_ids(original: Any, maps: Any, source: Any, context: Any) -> Any:
    """Leave the ids of the request out of the maps, so that an answer may repeat them."""
    result = original(maps, source, context)
    return msgspec.structs.replace(result, used=(), repeated={})


@change(provenance, "_field_paths", CHAT, "loss-paths/crossing")
def reports_fields_that_do_not_exist(original: Any, place: Any, field: Any) -> Any:
    """Report the loss of a field under its name in the model."""
    for path, inside, exact in original(place, field):
        yield f"{path}.{field.partition('$')[0]}", inside, exact
