"""Laws of calls: their ids in a conversation, the results that answer them, and the paths of what is lost of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from contentmodel import ChatRequest
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.engine.pipeline.sentinels import NO_RESULT
from contentmodel.json import steps_of, write
from contentmodel.pairs import TranscriptIndex
from contentmodel_conformance.differences import ABSENT, Label
from contentmodel_conformance.laws import LawBroken, Refused, crossed, decode, loss_source

_NUMBER = re.compile(r'number[": ]+(\d+)')
RECORDS = frozenset({"turn-blocks", "otel-gen-ai", "langchain-messages"})
"""Formats that keep the ids of providers, because they record what was sent."""
_UNPAIRED = {"calls-have-results", "results-have-calls", "results-follow-their-calls"}


def unique_ids(source: Any, target: Any, kind: str, payload: Any) -> None:
    """No two calls of a converted request have the same id."""
    _unique(target, decode(target, kind, crossed(source, target, kind, payload).payload))


def _unique(adapter: Any, request: ChatRequest) -> None:
    contents = [content for message in request.messages for content in message.contents]
    ids = Counter(content.call_id for content in contents if isinstance(content, FunctionCallContent))
    repeated = [call_id for call_id, often in ids.items() if call_id is not None and often > 1]
    if repeated and adapter.api not in RECORDS:
        detail = f"several calls have the id {repeated[0]!r}"
        raise LawBroken("unique ids", "$", detail, Label("one call"), ids[repeated[0]])


def answered_calls(adapter: Any, request: ChatRequest) -> None:
    """Each call has an id of its own, and the result of the source, however their ids are kept.

    A call gets a placeholder only if it has no result and its turn does not stay open, and the maps restore its id.
    """
    encoded = adapter.encode_request(request)
    sent = decode(adapter, "request", encoded.payload)
    _unique(adapter, sent)
    is_open = request.messages[-1].role == "assistant" or adapter.api in RECORDS
    for violation in adapter.check_request(encoded.payload):
        if violation.rule in _UNPAIRED and not is_open:
            raise LawBroken("answered calls", violation.path, violation.message, Label("no violation"), violation.rule)
    before, after = _expected(request), _answers(sent)
    if before.keys() != after.keys():
        raise LawBroken("answered calls", "$", "calls are missing", sorted(before), sorted(after))
    originals = {**encoded.maps.repeated, **{new_id: source for source, new_id in encoded.maps.ids.items()}}
    for number, (call_id, result) in before.items():
        sent_id, sent_result = after[number]
        if result != sent_result and not (result is None and sent_result == NO_RESULT):
            raise LawBroken("answered calls", "$", f"call {number} got another result", result, sent_result)
        if call_id and sent_id in originals and originals[sent_id] != call_id:
            raise LawBroken("answered calls", "$", f"the maps do not restore the id of call {number}", call_id, sent_id)


def _expected(request: ChatRequest) -> dict[int, tuple[str | None, str | None]]:
    """Return the id of each call, and the text of the result that has the number of the call, by this number."""
    contents: list[Any] = [content for message in request.messages for content in message.contents]
    function_calls: list[Any] = [content for content in contents if isinstance(content, FunctionCallContent)]
    calls: dict[int, str | None] = {call.arguments["number"]: call.call_id for call in function_calls}
    texts = {c.text for c in contents if isinstance(c, FunctionResultContent)}
    return {
        number: (call_id, f"number {number}" if f"number {number}" in texts else None)
        for number, call_id in calls.items()
    }


def _answers(request: ChatRequest) -> dict[int, tuple[str | None, str | None]]:
    """Return the id of each call, and the text of its result, by the number in its arguments."""
    answers: dict[int, tuple[str | None, str | None]] = {}
    index = TranscriptIndex(request.messages)
    for place in index.calls:
        call: Any = request.messages[place[0]].contents[place[1]]
        number = _NUMBER.search(write(call.arguments).decode().replace("\\", ""))
        answer = index.result_of.get(place)
        result: Any = None if answer is None else request.messages[answer[0]].contents[answer[1]]
        if number is not None:
            answers[int(number[1])] = call.call_id, result.text if isinstance(result, FunctionResultContent) else None
    return answers


def loss_paths(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Every loss has a path that leads to a value of the source.

    Only a value that the source lacks, and one without meaning, may have the path of a missing field.
    """
    original = loss_source(source, kind, payload)
    if original is not payload:
        raise Refused("the adapter has no tracing")
    for loss in crossed(source, target, kind, payload).losses:
        steps = steps_of(loss.path)
        while loss.kind in ("synthesized", "insignificant") and steps and isinstance(steps[-1], str):
            # The source lacks the field, and perhaps the object that would have it.
            steps = steps[:-1]
        if not _leads_to_value(payload, steps):
            detail = f"{loss.code}: the source has no such value"
            raise LawBroken("loss paths", loss.path, detail, Label("a value"), ABSENT)


def _leads_to_value(value: Any, steps: Sequence[Any]) -> bool:
    """Return whether a payload has a value at a path. A path may lead into JSON that is a text."""
    for step in steps:
        if value.__class__ is str:
            with suppress(ValueError):
                value = json.loads(value)
        if not (isinstance(step, int) and value.__class__ is list and step < len(value)) and (
            value.__class__ is not dict or step not in value
        ):
            return False
        value = value[step]
    return True
