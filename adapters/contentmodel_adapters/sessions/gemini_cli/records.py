"""Convert records of Gemini CLI's sessions to contents of generateContent, and back.

A record of an answer holds thoughts, text and calls either in the fields `thoughts`, `content` and `toolCalls`, or all
as parts of `content`. The program sends them in this order (`convertSessionToClientHistory`, seen with 0.61.0). A text
may be without an object around it: `content` and `result` are a `PartListUnion`.

Each part has a slot: its place in the record. A value without a slot stays in the record, and changes nothing about the
parts beside it. If it may hold content, it is lifted: its path is its name among the fields (`toolCalls[1].result`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from contentmodel.authoring import Hint, may_hold_content
from contentmodel_adapters.sessions.reading import is_odd, odd

Slot = list[Any]
"""The kind of a part, and the keys that lead to its place. The kinds are the keys of _VALUES."""

SLOTS = Hint[list[list[str | int]]](None, "slots", "the kind and the place of each part in a record of a session file")

_CALL = ("id", "name", "args")
_CALL_FIELDS = frozenset(
    {
        *(*_CALL, "result", "status", "timestamp", "agentId", "displayName", "description", "resultDisplay"),
        "renderOutputAsMarkdown",
    }
)
"""The fields of a call: those after `result` are for the user."""
_LIFTED = re.compile(r"(thoughts|toolCalls)\[(\d+)\](?:\.(\w+))?")
_UNFIT = object()
"""The value of a slot for a part that does not fit into it."""


def message_parts(record: dict[str, Any]) -> tuple[list[Any], list[Slot]] | None:
    """Return the thoughts, the content and the calls of a record as parts, with their slots; None if it has none."""
    content, is_answer = record.get("content"), record["type"] == "gemini"
    pairs = [*_content(content, "content")] if content or not is_answer else []
    if is_answer and not any(part.get("functionCall") or part.get("thought") for part, _ in pairs):
        thoughts: list[tuple[Any, Slot]] = [
            ({"text": _head(item) + item["description"], "thought": True}, ["thought", "thoughts", at, "description"])
            for at, item in _items(record, "thoughts")
            if item.__class__ is dict and item.get("description").__class__ is str
        ]
        calls: list[tuple[Any, Slot]] = [
            (
                {"functionCall": {key: item[key] for key in _CALL if item.get(key) is not None}},
                ["call", "toolCalls", at],
            )
            for at, item in _items(record, "toolCalls")
            if item.__class__ is dict and any(item.get(key) is not None for key in _CALL)
        ]
        pairs = [*thoughts, *pairs, *calls]
    if not pairs and (content not in ("", None, []) or not is_answer):
        return None
    return [part for part, _ in pairs], [slot for _, slot in pairs]


def result_parts(record: dict[str, Any]) -> tuple[list[Any], list[Slot]]:
    """Return the results of the calls in a record of an answer as parts of a message of the user, with their slots.

    A result that begins with a text becomes the output of its call, as a result that is only a text does.
    """
    parts: list[Any] = []
    slots: list[Slot] = []
    for at, call in _items(record, "toolCalls"):
        result = call.get("result") if call.__class__ is dict else None
        pairs = [*_content(result, "toolCalls", at, "result")] if result else []
        if pairs and [*pairs[0][0]] == ["text"] and not any("functionResponse" in part for part, _ in pairs):
            named = {key: call[key] for key in ("id", "name") if call.get(key) is not None}
            part, (kind, *path) = pairs[0]
            output = {"functionResponse": {**named, "response": {"output": part["text"]}}}
            pairs[0] = output, ["output" if kind == "text" else "text_output", *path]
        parts += [part for part, _ in pairs]
        slots += [slot for _, slot in pairs]
    return parts, slots


def envelope_of(
    record: dict[str, Any], parts: list[Any], slots: list[Slot], results: list[Slot], *, repeats: bool
) -> dict[str, Any]:
    """Return a record with None in the slots of its parts and results. Values that may hold content are lifted.

    `repeats` is True if later records repeat the results.
    """
    copy = _copied(record)
    for kind, *path in (*slots, *results):
        holder, last = _holder(copy, path)
        if kind == "call":
            holder[last].update(dict.fromkeys(_CALL & holder[last].keys()))
        else:
            holder[last] = {"text": None} if kind == "text_output" else None
    lifted: dict[str, Any] = {}
    for path, value in _left(copy, parts, {*map(_path, (*slots, *results))}, repeats=repeats):
        lifted[_path(["", *path])] = value
        holder, last = _holder(copy, path)
        holder[last] = None
    return {**copy, **lifted}


def filled(envelope: dict[str, Any], parts: list[Any], slots: list[Slot]) -> dict[str, Any] | None:
    """Return the record of an envelope with parts in its slots; None if the parts do not fit into them."""
    if len(parts) != len(slots):
        return None
    record = _copied({key: value for key, value in envelope.items() if not _LIFTED.fullmatch(key)})
    try:
        for name in envelope.keys() - record.keys():
            field, at, inside = _LIFTED.fullmatch(name).groups()  # type: ignore[union-attr]
            holder, last = _holder(record, [field, int(at), *([inside] if inside else [])])
            holder[last] = envelope[name]
        for (kind, *path), part in zip(slots, parts, strict=True):
            holder, last = _holder(record, path)
            holder[last] = _VALUES[kind](part, holder[last] if kind == "call" else holder)
            if holder[last] is _UNFIT:
                return None
    except (LookupError, TypeError, AttributeError):
        return None
    return record


def place_of(slot: Slot) -> tuple[str, str]:
    """Return the path of a slot in its record, and the path of the part's own value inside of the part."""
    kind, *_ = slot
    path = _path(slot)
    if kind == "text_output":
        path += ".text"
    return path, _INSIDE.get(kind, "")


_INSIDE = {
    "text": ".text",
    "thought": ".text",
    "call": ".functionCall",
    "output": ".functionResponse.response.output",
    "text_output": ".functionResponse.response.output",
}


def _path(slot: Slot) -> str:
    """Return the path of a slot: `.toolCalls[1].result`. The path of a lifted value has no dot in front."""
    kind, *steps = slot
    path = "".join(f"[{step}]" if step.__class__ is int else f".{step}" for step in steps)
    return path if kind else path[1:]


def _holder(record: dict[str, Any], path: Slot) -> tuple[Any, Any]:
    """Return the container of a place, and the last key of its path."""
    *steps, last = path
    holder: Any = record
    for step in steps:
        holder = holder[step]
    return holder, last


def _copied(record: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a record whose slots can be changed."""
    copy = dict(record)
    for name in ("content", "thoughts", "toolCalls"):
        if copy.get(name).__class__ is list:
            copy[name] = [dict(item) if item.__class__ is dict else item for item in copy[name]]
    for _, call in _items(copy, "toolCalls"):
        if call.__class__ is dict and call.get("result").__class__ is list:
            call["result"] = [dict(item) if item.__class__ is dict else item for item in call["result"]]
    return copy


def _items(record: dict[str, Any], field: str) -> Iterator[tuple[int, Any]]:
    values = record.get(field)
    yield from enumerate(values if values.__class__ is list else ())


# -- parts -------------------------------------------------------------------------------------------------------------


def _content(value: Any, *path: str | int) -> Iterator[tuple[Any, Slot]]:
    """Yield the parts of a `PartListUnion` with their slots. Values in a list that are no parts are marked as odd."""
    if value.__class__ is list:
        for at, item in enumerate(value):
            if item.__class__ is str:
                yield {"text": item}, ["text", *path, at]
            else:
                yield item if item.__class__ is dict and not is_odd(item) else odd(item), ["part", *path, at]
    elif value.__class__ is str:
        yield {"text": value}, ["text", *path]
    elif value.__class__ is dict:
        yield value, ["part", *path]


def _head(thought: dict[str, Any]) -> str:
    return f"**{thought['subject']}** " if isinstance(thought.get("subject"), str) and thought["subject"] else ""


def _left(
    record: dict[str, Any], parts: list[Any], part_paths: set[str], *, repeats: bool
) -> Iterator[tuple[list[str | int], Any]]:
    """Yield the path and the value of each thought, call and result that is no part, unless parts repeat it."""
    texts = "\n".join(part["text"] for part in parts if part.get("thought") and isinstance(part.get("text"), str))
    for at, thought in _items(record, "thoughts"):
        text = thought.get("description") if thought.__class__ is dict else thought
        if (
            thought
            and f".thoughts[{at}].description" not in part_paths
            and not (isinstance(text, str) and text in texts)
        ):
            yield ["thoughts", at], thought
    calls = [part["functionCall"] for part in parts if part.get("functionCall").__class__ is dict]
    ids = {call["id"] for call in calls if isinstance(call.get("id"), str)}
    for at, call in _items(record, "toolCalls"):
        if call.__class__ is not dict or _CALL_FIELDS.isdisjoint(call):
            if call is not None:
                yield ["toolCalls", at], call
            continue
        unknown = {key: value for key, value in call.items() if key not in _CALL_FIELDS and key.isidentifier()}
        for key, value in unknown.items():
            if may_hold_content({key: value}):
                yield ["toolCalls", at, key], value
        if f".toolCalls[{at}]" not in part_paths and not (isinstance(call.get("id"), str) and call["id"] in ids):
            for key in _CALL:
                if call.get(key) is not None:
                    yield ["toolCalls", at, key], call[key]
        result, place = call.get("result"), f".toolCalls[{at}].result"
        if result and place not in part_paths and f"{place}[0]" not in part_paths and not repeats:
            yield ["toolCalls", at, "result"], result


# -- values of slots ---------------------------------------------------------------------------------------------------


def _text(part: Any, holder: Any) -> Any:
    is_text = part.__class__ is dict and [*part] == ["text"] and isinstance(part["text"], str)
    return part["text"] if is_text else _UNFIT


def _description(part: Any, holder: dict[str, Any]) -> Any:
    head, text = _head(holder), part.get("text") if part.__class__ is dict else None
    if not isinstance(text, str) or set(part) != {"text", "thought"} or part["thought"] is not True:
        return _UNFIT
    return text[len(head) :] if text.startswith(head) else _UNFIT


def _call(part: Any, call: dict[str, Any]) -> Any:
    fields = part.get("functionCall") if part.__class__ is dict and len(part) == 1 else None
    if fields.__class__ is not dict or any(key not in _CALL or key not in call for key in fields):
        return _UNFIT
    return {**call, **fields}


def _output(part: Any, holder: Any) -> Any:
    response = part.get("functionResponse") if part.__class__ is dict else None
    value = response.get("response") if response.__class__ is dict else None
    output = value.get("output") if value.__class__ is dict else None
    return output if isinstance(output, str) else _UNFIT


def _text_output(part: Any, holder: Any) -> Any:
    output = _output(part, holder)
    return output if output is _UNFIT else {"text": output}


_VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "part": lambda part, holder: part,
    "text": _text,
    "thought": _description,
    "call": _call,
    "output": _output,
    "text_output": _text_output,
}
"""The function for each kind of a part that returns the value in its slot."""
