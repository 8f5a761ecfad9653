"""The hints of all installed APIs, and model values with hints of right and wrong types."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import contentmodel
from contentmodel.content.citations import Span
from contentmodel.hints import Hint, declared
from contentmodel.serialize import NEWER
from contentmodel_conformance.strategies.damage import ODD
from contentmodel_conformance.strategies.sdk import json_values

__all__ = ["every_hint", "forged", "hints_of", "right_values", "with_hints", "wrong_values"]


def every_hint() -> list[Hint[Any]]:
    """Return the hints of every API, of each adapter that is installed, and of MCP."""
    apis = {None, *contentmodel.adapters()}
    if find_spec("mcp"):
        apis.add(import_module("contentmodel.tools.mcp.results").API)  # It has hints, but is not an adapter.
    return [hint for hint in declared() if hint.api in apis]


def hints_of(api: str) -> list[Hint[Any]]:
    """Return the hints that the residue of an API may have."""
    return [hint for hint in every_hint() if hint.api in (None, api)]


def right_values(hint: Hint[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy of values of the type of a hint."""
    return _of(hint.type)


def wrong_values(hint: Hint[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy of values of a wrong type; of odd values if every type is right."""
    wrong = [value for value in ODD if not hint.is_in({hint.key: value})]
    return st.sampled_from(wrong or ODD)


_WORDS = (
    *("", "x", "type", "role", "content", "contents", "parts", "text", "id", "name", "messages", "input", "output"),
    *("user", "model", "assistant", "tool", "text=txt", "parts.text=TEXT", "a.b", "stderr", "reasoning_content"),
    *("reasoning_details", "tool_calls", "functionDeclarations", "text_content", "call_1"),
)
_texts = st.sampled_from(_WORDS)


def _of(kind: Any) -> st.SearchStrategy[Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return st.sampled_from(ODD) | json_values
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is list:
        return st.lists(_of(inner[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(_texts, _of(inner[1]), max_size=3)
    if is_typeddict(kind):
        fields = {name: _of(_without_marks(of)) for name, of in get_type_hints(kind, include_extras=True).items()}
        required = {name: fields[name] for name in kind.__required_keys__}
        return st.fixed_dictionaries(required, optional={k: v for k, v in fields.items() if k not in required})
    if origin is not None:
        return st.one_of(*(_of(option) for option in inner))
    if kind is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    return _texts if kind is str else st.from_type(kind)


def _without_marks(kind: Any) -> Any:
    """Return the type in NotRequired[type]."""
    return get_args(kind)[0] if str(get_origin(kind)).endswith("Required") else kind


@st.composite
def with_hints(draw: DrawFn, value: Any, apis: tuple[str, ...], *, right: bool) -> Any:
    """Draw a copy of a request or response, with hints of `apis` on some parts.

    If `right`, the hints have the right types, but may be on any part; else they have wrong types.
    """
    parts = draw(st.sets(st.integers(0, 30), min_size=1, max_size=4)) if draw(st.booleans()) else None
    count = -1

    def visit(part: Any) -> Any:
        nonlocal count
        if isinstance(part, list):
            return [visit(item) for item in part]
        if not isinstance(part, msgspec.Struct):
            return part
        fields = {name: visit(getattr(part, name)) for name in part.__struct_fields__ if name != "extra"}
        if "extra" in part.__struct_fields__:
            count += 1
            if parts is None or count in parts:
                fields["extra"] = _hinted(draw, part.extra, apis, right=right)  # type: ignore[attr-defined]
        return msgspec.structs.replace(part, **fields)

    return visit(value)


def _hinted(draw: DrawFn, extra: Any, apis: tuple[str, ...], *, right: bool) -> dict[str, dict[str, Any]]:
    changed = {api: dict(residue) for api, residue in (extra or {}).items()}
    for api in apis:
        for hint in draw(st.lists(st.sampled_from(hints_of(api)), min_size=1, max_size=4)):
            key = draw(st.sampled_from((hint.key, *hint.older)))
            if right:
                changed.setdefault(api, {})[key] = draw(right_values(hint))
            elif not any(name in changed.get(api, {}) for name in (hint.key, *hint.older)):
                changed.setdefault(api, {})[key] = draw(wrong_values(hint))
    return changed


_PATHS = ("$", "$ref", "$.options", "$.origin", "$.messages", "$.messages[0]", "$.contents[0]", "$.text", "$.tools[9]")
_FIELDS = (
    *_WORDS[1:],
    "message",
    "message.role",
    "message.content",
    "timestamp",
    "payload",
    "rendered",
    "toolUseResult",
)

_odd = st.sampled_from(ODD)
_newer = st.dictionaries(
    st.sampled_from(_PATHS) | st.sampled_from(_FIELDS),
    _odd | st.dictionaries(st.sampled_from(_FIELDS), _odd, max_size=2),
    max_size=3,
)
"""Fields of newer versions: of the object itself, or of an object at a path, which may not exist."""


@st.composite
def forged(draw: DrawFn, value: Any, apis: tuple[str, ...]) -> Any:
    """Draw a copy of a request or response as a stored document may have it, from any source.

    Some parts have hints of any of the APIs, unmapped fields of odd values, and fields of newer versions at odd paths.
    Some spans have an unknown unit.
    """

    def visit(part: Any) -> Any:
        if isinstance(part, list):
            return [visit(item) for item in part]
        if not isinstance(part, msgspec.Struct):
            return part
        fields = {name: visit(getattr(part, name)) for name in part.__struct_fields__ if name != "extra"}
        if isinstance(part, Span) and draw(st.booleans()):
            fields["unit"] = draw(st.sampled_from(["word", "page", ""]))
        if "extra" in part.__struct_fields__ and draw(st.booleans()):
            fields["extra"] = _forged(draw, getattr(part, "extra", None), apis)
        return msgspec.structs.replace(part, **fields)

    return visit(value)


def _forged(draw: DrawFn, extra: Any, apis: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    changed: dict[str, dict[str, Any]] = {api: dict(residue) for api, residue in (extra or {}).items()}
    for api in draw(st.lists(st.sampled_from(apis), min_size=1, max_size=3)):
        residue = changed.setdefault(api, {})
        for hint in draw(st.lists(st.sampled_from(hints_of(api)), max_size=4)):
            residue[hint.key] = draw(right_values(hint) | wrong_values(hint))
        for field in draw(st.lists(st.sampled_from(_FIELDS), max_size=2)):
            residue[field] = draw(_odd)
    return {**changed, NEWER: draw(_newer)} if draw(st.booleans()) else changed
