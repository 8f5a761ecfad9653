"""Damaged input: streams with events left out, doubled or changed, events in any order, flipped bytes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from contentmodel import events as ev
from contentmodel.framing import StreamFormat
from contentmodel_conformance.strategies.sdk import json_values

__all__ = [
    *("added_nulls", "bytes_of", "Edit", "flips", "misfitting", "mixed_up", "ODD", "out_of_order", "replacements"),
    "with_one_replaced",
]

Body = list[dict[str, Any]]

ODD: tuple[Any, ...] = (
    *({}, [], [[]], [{}], [None], ["x"], {"type": {}}, {"type": "text"}, {"a": {"b": [1]}}, [[[[[[[[]]]]]]]]),
    *(None, True, False, 0, -1, 3, 1.5, 1e300, 10**30, -(2**63) - 1),
    *("", "x", ",", "{", "null", "NaN", "\0", "\ud800", "a\udc00b"),
)
"""One value of each JSON class, and typical problematic texts."""

_STRANGERS: tuple[dict[str, Any], ...] = (
    *({}, {"type": "of_tomorrow"}, {"type": {}}, {"type": []}, {"type": None}, {"error": []}, {"error": {}}),
    *({"choices": [{}]}, {"candidates": [{}]}, {"index": 7, "delta": {}}, {"output_index": "0"}),
)
_DEEP = 200


@st.composite
def mixed_up(draw: DrawFn, body: Body) -> Body:
    """Draw a changed copy of a stream, a list of {event?, data}: one to three changes of events or inside events."""
    body = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        draw(st.sampled_from(_CHANGES))(draw, body)
    return body


# -- changes of a stream -----------------------------------------------------------------------------------------------


def _place(draw: DrawFn, body: Body) -> int:
    return draw(st.integers(0, len(body) - 1))


def _drop(draw: DrawFn, body: Body) -> None:
    if len(body) > 1:
        del body[_place(draw, body)]


def _double(draw: DrawFn, body: Body) -> None:
    body.insert(_place(draw, body), copy.deepcopy(body[_place(draw, body)]))


def _swap(draw: DrawFn, body: Body) -> None:
    one, other = _place(draw, body), _place(draw, body)
    body[one], body[other] = body[other], body[one]


def _cut(draw: DrawFn, body: Body) -> None:
    del body[_place(draw, body) + 1 :]


def _insert(draw: DrawFn, body: Body) -> None:
    body.insert(_place(draw, body), {"data": copy.deepcopy(draw(st.sampled_from(_STRANGERS)))})


def _forget(draw: DrawFn, body: Body) -> None:
    owner, key = _inside(draw, body)
    if isinstance(owner, dict):
        del owner[key]


def _rename(draw: DrawFn, body: Body) -> None:
    """Rename a key to one that occurs elsewhere in the stream, or to an unknown one."""
    owner, key = _inside(draw, body)
    _, other = _inside(draw, body)
    if isinstance(owner, dict):
        owner[other if isinstance(other, str) else "unknown"] = owner.pop(key)


def _replace(draw: DrawFn, body: Body) -> None:
    owner, key = _inside(draw, body)
    if owner is not None:
        owner[key] = copy.deepcopy(draw(st.sampled_from(ODD) | json_values))


def _transplant(draw: DrawFn, body: Body) -> None:
    """Replace a value by one from elsewhere in the stream."""
    (owner, key), (other, other_key) = _inside(draw, body), _inside(draw, body)
    if owner is not None and other is not None:
        owner[key] = copy.deepcopy(other[other_key])


def _wrap(draw: DrawFn, body: Body) -> None:
    """Wrap a value in one or very many lists or objects."""
    owner, key = _inside(draw, body)
    if owner is None:
        return
    is_listed = draw(st.booleans())
    for _ in range(draw(st.sampled_from((1, 1, 1, _DEEP)))):
        owner[key] = [owner[key]] if is_listed else {"a": owner[key]}


def _break_text(draw: DrawFn, body: Body) -> None:
    """Insert a lone surrogate, or a character that JSON escapes, into a text."""
    owner, key = _inside(draw, body)
    if owner is not None and isinstance(owner[key], str):
        place = draw(st.integers(0, len(owner[key])))
        owner[key] = owner[key][:place] + draw(st.sampled_from(_INSERTED)) + owner[key][place:]


_INSERTED = ("\ud800", "\udfff", '"', "\\", "{", "\0", "\u2028")
_CHANGES: tuple[Callable[[DrawFn, Body], None], ...] = (
    *(_drop, _double, _swap, _cut, _insert, _forget, _rename),
    *(_replace, _replace, _replace, _transplant, _wrap, _break_text, _break_text),
)


def _inside(draw: DrawFn, body: Body) -> tuple[Any, Any]:
    """Draw a place inside an event: its parent and key; (None, None) if the event has none."""
    places = list(_places(body[_place(draw, body)]["data"]))
    return draw(st.sampled_from(places)) if places else (None, None)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a JSON value: its parent and key."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _places(item)


def bytes_of(body: Body, form: StreamFormat) -> bytes:
    """Return a stream in this format. The data may be any JSON or text."""
    return b"".join(_frame(event, form) for event in body)


def _frame(event: dict[str, Any], form: StreamFormat) -> bytes:
    data = event["data"]
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else json.dumps(data).encode()
    return form.write(text, event.get("event") or None)


@st.composite
def misfitting(draw: DrawFn, payload: Any, fields: Collection[str]) -> Any:
    """Draw a copy of a payload, in which one or two of the fields `fields` have a wrong JSON class."""
    changed = copy.deepcopy(payload)
    places = [(owner, key) for owner, key in _places(changed) if key in fields and isinstance(owner[key], str)]
    for _ in range(draw(st.integers(1, 2)) if places else 0):
        owner, key = draw(st.sampled_from(places))
        owner[key] = copy.deepcopy(draw(st.sampled_from(_MISFITS)))
    return changed


_MISFITS: tuple[Any, ...] = (7, 1.5, {"a": "misfit"}, ["misfit"], [7], {"a": 7})


_MISSING = object()
_REPLACEMENTS = (_MISSING, None, {"a": 1})


class Edit(NamedTuple):
    """A change of one value of a payload. `steps` are the keys and indexes that lead to its parent."""

    payload: Any
    steps: tuple[Any, ...]
    key: Any
    value: Any

    def applied(self) -> Any:
        """Return a changed copy of the payload."""
        changed = copy.deepcopy(self.payload)
        parent = _at(changed, self.steps)
        if self.value is _MISSING:
            del parent[self.key]
        else:
            parent[self.key] = copy.deepcopy(self.value)
        return changed


def with_one_replaced(payloads: Iterable[Any]) -> Iterator[Any]:
    """Yield copies of payloads with one value missing, or replaced by null or by an object."""
    return (edit.applied() for edit in replacements(payloads))


def replacements(payloads: Iterable[Any]) -> Iterator[Edit]:
    """Yield edits that drop a value, or replace it by null or by an object: the first value at each path.

    Paths that differ only in indexes are one path: names of types, and items of lists of names, are all replaced.
    """
    seen: set[tuple[Any, ...]] = set()
    for payload in payloads:
        for steps, key, path in _paths(payload):
            if path not in seen:
                seen.add(path)
                yield from (Edit(payload, steps, key, value) for value in _REPLACEMENTS)


def added_nulls(payloads: Iterable[Any]) -> Iterator[Edit]:
    """Yield edits that add a null to an object, under a key of another object of the payload.

    Objects with the same keys, the same type and the same role are one object.
    """
    seen: set[tuple[Any, ...]] = set()
    for payload in payloads:
        places = [((), payload), *((steps, _at(payload, steps)) for steps in _steps(payload))]
        objects = [(steps, value) for steps, value in places if isinstance(value, dict)]
        names = sorted({key for _, value in objects for key in value})
        for steps, value in objects:
            form = (*sorted(value), str(value.get("type")), str(value.get("role")))
            for name in names:
                if name not in value and (form, name) not in seen:
                    seen.add((form, name))
                    yield Edit(payload, steps, name, None)


def _steps(payload: Any) -> Iterator[tuple[Any, ...]]:
    return ((*steps, key) for steps, key, _ in _paths(payload))


def _at(payload: Any, steps: Iterable[Any]) -> Any:
    for step in steps:
        payload = payload[step]
    return payload


def _paths(
    value: Any, steps: tuple[Any, ...] = (), path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any, tuple[Any, ...]]]:
    """Yield every place in a JSON value: the steps to its parent, its key, and its path, in which all indexes are None.

    A path has the types of the objects that it goes through.
    """
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        step = (key, str(value.get("type"))) if isinstance(value, dict) else None
        yield steps, key, (*path, step)
        yield from _paths(item, (*steps, key), (*path, step))


# -- events of the model -----------------------------------------------------------------------------------------------


@st.composite
def out_of_order(draw: DrawFn, turns: Sequence[Sequence[ev.StreamEvent]]) -> list[ev.StreamEvent]:
    """Draw the events of a turn with some left out, doubled, changed, or inserted from another turn."""
    events = list(draw(st.sampled_from(turns)))
    others = [event for turn in turns for event in turn]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(events)))
        change = draw(st.sampled_from(("drop", "double", "foreign", "change", "change")))
        if change == "drop":
            del events[at : at + 1]
        elif change == "double":
            events.insert(at, draw(st.sampled_from(events or others)))
        elif change == "foreign":
            events.insert(at, draw(st.sampled_from(others)))
        else:
            events[at : at + 1] = [_changed(draw, event, others) for event in events[at : at + 1]]
    return events


_NUMBERS = (0, 1, 2, 7, -1, 10**9)
_LAYOUTS: tuple[ev.Layout, ...] = ([], [[]], [[[0]]], [[[7]]], [[[0, 0]]], [[[0]], [[1]]], [[[-1]]])


def _changed(draw: DrawFn, event: ev.StreamEvent, others: Sequence[ev.StreamEvent]) -> ev.StreamEvent:
    """Draw a copy of an event with another index, choice, content or layout."""
    contents = [other.content for other in others if isinstance(other, ev.BlockStart | ev.BlockStop)]
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "index": st.sampled_from(_NUMBERS),
        "choice": st.sampled_from(_NUMBERS),
        "content": st.sampled_from(contents),
        "layout": st.sampled_from(_LAYOUTS),
    }
    fields = [name for name in strategies if hasattr(event, name)]
    if not fields:
        return event
    name = draw(st.sampled_from(fields))
    changed: ev.StreamEvent = msgspec.structs.replace(event, **{name: draw(strategies[name])})
    return changed


def flips() -> st.SearchStrategy[list[tuple[int, int]]]:
    """Draw offsets (modulo the length of the bytes), each with its new byte."""
    return st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(0, 255)), min_size=1, max_size=5)
