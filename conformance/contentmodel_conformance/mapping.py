"""Laws of a conversion's other results: maps that restore an answer, and losses of shared values."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from contentmodel import ChatChoice, ChatMessage, ChatRequest, ChatResponse
from contentmodel.content.tools import CustomToolCallContent, FunctionCallContent
from contentmodel.errors import ToolArgumentsError
from contentmodel.events import Fold
from contentmodel.message import contents_of
from contentmodel.unfolding import unfold
from contentmodel_conformance.differences import ABSENT, Label
from contentmodel_conformance.laws import LawBroken, crossed, encode

_CALLS = (FunctionCallContent, CustomToolCallContent)
_NO_PLACE = {"no-field", "as-function-call"}
"""Codes of losses that no map restores: the target has no field for the value."""
_CONTENT = re.compile(r"\$\.messages\[(\d+)\]\.contents\[(\d+)\]")


def maps(source: Any, target: Any, kind: str, payload: Any) -> None:
    """The maps of a conversion restore the names, namespaces, ids and arguments of calls, also in a stream.

    The converted calls are put into an answer of the target and restored. A call whose id was not replaced gets another
    one, because the request has a call with that id. Calls that the target has no field for, as a loss reports, are not
    compared.
    """
    encoded = crossed(source, target, kind, payload)
    request = source.decode_request(payload)
    before = _by_id(request, _lost_calls(target, request))
    ids = {content.call_id for content in contents_of(request.messages) if isinstance(content, _CALLS)}
    replaced = {new_id: original for original, new_id in encoded.maps.ids.items()}
    for answer in _answers(target.decode_request(encoded.payload)):
        whole = encoded.maps.restored_names(answer, target.restore_arguments)
        for sent, call in zip(_calls(answer), _calls(whole), strict=True):
            original = replaced.get(sent.call_id)
            if original is None and call.call_id in ids:
                raise LawBroken("maps", "$", "a new call has the id of an earlier one", Label("another id"), call)
            if original is not None and call.call_id != original:
                raise LawBroken("maps", "$", "the id of a call was not restored", original, call.call_id)
            source_call = before.get(original or sent.call_id)
            if source_call is not None and _without_id(source_call, encoded.maps) != _without_id(call, encoded.maps):
                raise LawBroken("maps", "$", f"call {call.call_id} differs after it was restored", source_call, call)
        streamed = _streamed(answer, encoded.maps.restoring(target.restore_arguments))
        if [_fields(call) for call in _calls(streamed)] != [_fields(call) for call in _calls(whole)]:
            raise LawBroken("maps", "$", "the calls restored in a stream and in an answer differ", whole, streamed)


def _lost_calls(target: Any, request: ChatRequest) -> set[int]:
    """Return the object ids of a request's calls that the target has no field for."""
    matches = (
        _CONTENT.match(loss.path) for loss in encode(target, "request", request).losses if loss.code in _NO_PLACE
    )
    places = ((int(place[1]), int(place[2])) for place in matches if place is not None)
    return {id(request.messages[number].contents[at]) for number, at in places}


def _by_id(request: ChatRequest, lost: set[int]) -> dict[str | None, Any]:
    """Return the calls of a request by id, without lost calls and without ids that several calls share."""
    calls = [content for message in request.messages for content in message.contents if isinstance(content, _CALLS)]
    count = Counter(call.call_id for call in calls)
    return {call.call_id: call for call in calls if count[call.call_id] == 1 and id(call) not in lost}


def _answers(request: ChatRequest) -> Iterator[ChatResponse]:
    for message in request.messages:
        calls: list[Any] = [content for content in message.contents if isinstance(content, _CALLS)]
        if calls:
            answer = ChatMessage(role="assistant", contents=calls, origin=message.origin)
            yield ChatResponse(choices=[ChatChoice(messages=[answer])], origin=message.origin)


def _calls(response: ChatResponse) -> list[Any]:
    return [content for message in response.messages for content in message.contents]


def _fields(call: Any, maps: Any = None) -> tuple[Any, ...]:
    """Return the fields of a call; without arguments if `maps` has a schema of its tool: they may be adapted."""
    is_adapted = maps is not None and any(maps.names.get(call.name, call.name) == name for name in maps.schemas)
    try:
        arguments: Any = call.arguments if isinstance(call, CustomToolCallContent) else call.arguments_object
    except ToolArgumentsError:
        arguments = call.arguments
    return type(call), call.call_id, call.name, call.namespace, None if is_adapted else arguments


def _without_id(call: Any, maps: Any) -> tuple[Any, ...]:
    kind, _, *others = _fields(call, maps)
    return kind, *others


def _streamed(answer: ChatResponse, undone: Any) -> ChatResponse:
    """Restore an answer as a stream, and fold it. Raise LawBroken if a block starts with another name or id."""
    gathered = Fold()
    begun: dict[int, Any] = {}
    for event in unfold(answer):
        for restored in undone(event):
            content = getattr(restored, "content", None)
            if content is not None:
                named = type(content), content.call_id, content.name
                if begun.setdefault(restored.index, named) != named:
                    raise LawBroken(
                        "maps", f"block {restored.index}", "its start and its end have different names", named, begun
                    )
            gathered.feed(restored)
    return gathered.response


def sharing(adapter: Any, kind: str, value: Any) -> None:
    """The losses of a value that has one object twice are those of a value with a copy of the object."""
    shared, apart = (_again(value, second) for second in (lambda part: part, copy.deepcopy))
    expected, actual = (
        Counter((loss.path, loss.code) for loss in encode(adapter, kind, variant).losses) for variant in (apart, shared)
    )
    for path, code in expected - actual:
        raise LawBroken("sharing", path, f"the loss {code} is missing for a shared object", code, ABSENT)
    for path, code in actual - expected:
        raise LawBroken("sharing", path, f"the loss {code} is reported only if the object is shared", ABSENT, code)


def _again(value: Any, second: Any) -> Any:
    """Return a value with its messages repeated."""
    if isinstance(value, ChatRequest):
        return msgspec.structs.replace(value, messages=[*value.messages, *second(value.messages)])
    choices = [
        msgspec.structs.replace(choice, messages=[*choice.messages, *second(choice.messages)])
        for choice in value.choices
    ]
    return msgspec.structs.replace(value, choices=choices)
