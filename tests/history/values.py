"""Hypothesis strategies of any value of the model, read off its types; and rows as people write them."""

from __future__ import annotations

import typing
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st

from contentmodel import CONTENT_TYPES, ChatMessage, ChatRequest, ChatResponse, Content, TextContent
from contentmodel.interop import options_of
from contentmodel.wire.introspect import fields_of
from contentmodel_conformance.strategies.sdk import json_values

WORDS = st.sampled_from(["", "a", "Look it up.", "Ünïcödé ✅", "\ud83d", "x y", "tool_use", "0"]) | st.text(max_size=6)
KEYS = st.sampled_from(["a", "b c", "it's", "type", "block_type", "text", ":note", "[0]"])
OBJECTS = st.dictionaries(KEYS, json_values, max_size=2)
EXTRA = st.dictionaries(st.sampled_from(["openai-chat", "anthropic-messages", "x"]), OBJECTS, max_size=2)
DEPTH = 3


def values(kind: Any, depth: int = DEPTH) -> st.SearchStrategy[Any]:
    """Any value of a type that a field of the model has."""
    if kind is Any:
        return json_values
    if kind is str:
        return WORDS
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(-3, 2**60)
    if kind is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if kind is type(None):
        return st.none()
    if kind is Content:
        return any_content(depth - 1)
    origin, args, options = typing.get_origin(kind), typing.get_args(kind), options_of(kind)
    if len(options) > 1:
        return st.one_of([values(option, depth) for option in options])
    if origin is list:
        return st.lists(values(args[0], depth), max_size=2 if depth > 0 else 0)
    if origin is dict:
        return EXTRA if typing.get_origin(args[1]) is dict else OBJECTS
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return structs(kind, depth)
    raise TypeError(kind)


@cache
def structs(kind: type[Any], depth: int = DEPTH) -> st.SearchStrategy[Any]:
    """A value of a Struct of the model, with anything in its fields; half of them say nothing."""

    @st.composite
    def build(draw: st.DrawFn) -> Any:
        said = {}
        for field in fields_of(kind):
            if field.required or (draw(st.booleans()) and depth > 0):
                said[field.name] = draw(values(field.type, depth - 1))
        return kind(**said)

    return build()


@cache
def any_content(depth: int = DEPTH) -> st.SearchStrategy[Any]:
    """A content of any class."""
    if depth <= 0:
        return st.builds(TextContent, text=WORDS)
    return st.sampled_from(CONTENT_TYPES).flatmap(lambda kind: structs(kind, depth))


ROLES = st.sampled_from(["user", "assistant", "tool", "assistant", "tool", "system", "developer"])


@st.composite
def messages(draw: st.DrawFn) -> ChatMessage:
    message = draw(structs(ChatMessage, 3))
    role = draw(ROLES | WORDS)
    if draw(st.booleans()):
        return ChatMessage(role=role, contents=message.contents)
    return msgspec.structs.replace(message, role=role)


@st.composite
def requests(draw: st.DrawFn) -> ChatRequest:
    """Any request at all."""
    request = draw(structs(ChatRequest, 2))
    return msgspec.structs.replace(request, messages=draw(st.lists(messages(), max_size=5)))


def responses() -> st.SearchStrategy[ChatResponse]:
    """Any response at all."""
    return structs(ChatResponse, 5)


# -- rows --------------------------------------------------------------------------------------------------------------

UNKNOWN = st.dictionaries(st.sampled_from(["note", "cache_control", "x y", "it's"]), json_values, max_size=2)
_TEXT = st.sampled_from(["Hi.", "", "18 degrees"])
_INSIDE: dict[str, st.SearchStrategy[Any]] = {
    "text": st.fixed_dictionaries({}, optional={"annotations": st.none() | st.just([{"url": "https://a.example"}])}),
    "thinking": st.fixed_dictionaries(
        {}, optional={"signature": st.sampled_from(["c2ln", None, ""]), "issuer": st.just("anthropic")}
    ),
    "tool_use": st.fixed_dictionaries(
        {"tool_use_id": st.sampled_from(["t1", "t2"]), "tool_name": st.just("weather")},
        optional={
            "input": st.sampled_from([{}, {"city": "Oslo"}, '{"city": "Oslo"}', None]),
            "executor": st.just("client"),
        },
    ),
    "image": st.fixed_dictionaries({"media_type": st.just("image/png"), "data": st.just("iVBORw0K")})
    | st.fixed_dictionaries({"url": st.just("https://a.example/a.png")}, optional={"media_type": st.just("image/png")}),
    "reference": st.fixed_dictionaries({"uri": st.just("https://a.example")}, optional={"title": st.just("A")})
    | st.fixed_dictionaries({"file": st.just("file_1")})
    | st.fixed_dictionaries({"item_id": st.just("item_1")}),
    "error": st.fixed_dictionaries({"message": st.just("No."), "code": st.just("refusal")}),
    "web_search_tool_call": st.fixed_dictionaries({"call_id": st.just("s1"), "arguments": st.just({"query": "x"})}),
    "web_search_tool_result": st.fixed_dictionaries(
        {"call_id": st.just("s1"), "outputs": st.just([{"type": "uri", "uri": "https://a.example", "more": 1}])}
    ),
    "hologram": st.fixed_dictionaries({"shape": st.just([1, 2])}),
}


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """A block as people write it by hand, with something unknown now and then."""
    form = draw(st.integers(0, 9))
    if form == 0:
        return {"type": "text", "text": draw(_TEXT), **draw(UNKNOWN)}
    kind = draw(st.sampled_from([*_INSIDE, "tool_result", "text"]))
    if kind == "tool_result":
        outputs = _TEXT | st.none() | st.lists(blocks(depth - 1), max_size=2 if depth > 0 else 0)
        inside = draw(
            st.fixed_dictionaries(
                {"tool_use_id": st.sampled_from(["t1", "t2"])},
                optional={"is_error": st.booleans() | st.none(), "content": outputs},
            )
        )
    else:
        inside = draw(_INSIDE[kind])
    inside = {**inside, **draw(UNKNOWN)}
    block: dict[str, Any] = {"block_type": kind}
    if kind in ("text", "thinking") or draw(st.integers(0, 4)) == 0:
        block["text_content"] = draw(_TEXT if kind in ("text", "thinking") else st.none() | _TEXT)
    if inside or draw(st.booleans()):
        block["content"] = inside or draw(st.sampled_from([None, {}]))
    return {**block, **draw(UNKNOWN)}


@st.composite
def rows(draw: st.DrawFn, role: str | None = None) -> dict[str, Any]:
    """A turn as people write it by hand."""
    made = draw(st.lists(blocks(), max_size=4))
    numbered = draw(st.sampled_from([None, 0, 1, 10]))
    if numbered is not None:
        made = [{"sequence": numbered + (numbered or 1) * index, **block} for index, block in enumerate(made)]
    optional = {
        "conversation": st.just("c1"),
        "status": st.sampled_from(["complete", "interrupted", None]),
        "model": st.just("claude-opus-5"),
        "origin": st.none() | st.just({"api": "anthropic-messages", "issuer": "anthropic"}),
        "stop_reason": st.sampled_from(["stop", "end_turn", "odd", None]),
        "usage": st.none() | st.just({"input_tokens": 3, "output_tokens": 4, "cached": {"more": 1}}),
        "started_at": st.just("2026-11-21T10:00:00Z"),
        "ended_at": st.none(),
        "error": st.none() | st.just("Broke.") | st.just({"message": "Broke.", "code": "x", "new": 1}),
        "envelope": st.none() | st.just({}) | st.just({"note": 1}),
    }
    turn = draw(st.fixed_dictionaries({"role": st.just(role) if role else ROLES}, optional=optional))
    if made or draw(st.booleans()):
        turn["blocks"] = made
    if made and draw(st.integers(0, 5)) == 0:
        turn["envelope"] = {
            "messages": [
                {"role": draw(ROLES), "author_name": "ann", "blocks": 1, "new": 2},
                {"role": draw(ROLES), "blocks": len(made) - 1},
            ]
        }
    return {**turn, **draw(UNKNOWN)}


@st.composite
def transcripts_of_rows(draw: st.DrawFn) -> dict[str, Any]:
    """A request as people write it by hand."""
    turns = draw(st.lists(rows(), max_size=5))
    if draw(st.booleans()):
        turns = [{"id": f"t{index}", **turn} for index, turn in enumerate(turns)]
        turns = [{**turn, "previous": f"t{index - 1}" if index else None} for index, turn in enumerate(turns)]
    envelope = {
        "model": st.just("m"),
        "instructions": st.just([{"type": "text", "text": "Be brief.", "more": 1}]),
        "tools": st.just([{"type": "function", "name": "weather", "parameters": {"type": "object"}, "new": None}]),
        "options": st.just({"temperature": 1, "seed": None, "new": 1}),
        "origin": st.none() | st.just({"api": "openai-chat", "issuer": "openai", "new": 1}),
        "messages": st.just([]),
    }
    wire: dict[str, Any] = {"turns": turns, **draw(UNKNOWN)}
    if draw(st.booleans()):
        wire["envelope"] = draw(st.fixed_dictionaries({}, optional=envelope))
    if draw(st.booleans()):
        wire["conversation"] = "c1"
    return wire
