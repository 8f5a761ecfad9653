"""Any model value, generated from the model's types: contents, messages, requests, responses; and schemas of tools.

Independent of APIs. Half of the optional fields are unset, so that examples stay small and recursion ends.
"""

from __future__ import annotations

import typing
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Content,
    ReasoningOptions,
    ResponseFormat,
    TextContent,
    ToolChoice,
)
from contentmodel.content import CONTENT_TYPES, CachePoint
from contentmodel.engine.table.introspect import fields_of
from contentmodel.interop import options_of
from contentmodel_conformance.strategies.sdk import json_values

__all__ = ["contents", "messages", "options", "requests", "responses", "structs", "tool_schemas"]

_DEPTH = 3
_SAMPLE_TEXTS = st.sampled_from(["", "a", "Look it up.", "Ünïcödé ✅", "x y", "tool_use", "0", "\ud83d"]) | st.text(
    max_size=6
)
_KEYS = st.sampled_from(["a", "b c", "it's", "type", "text", "[0]"])
_OBJECTS = st.dictionaries(_KEYS, json_values, max_size=2)
_EXTRA = st.dictionaries(st.sampled_from(["openai-chat", "anthropic-messages", "x"]), _OBJECTS, max_size=2)
_ROLES = st.sampled_from(["user", "assistant", "tool", "assistant", "tool", "system", "developer"]) | _SAMPLE_TEXTS
_PLAIN: dict[Any, SearchStrategy[Any]] = {
    Any: json_values,
    str: _SAMPLE_TEXTS,
    bool: st.booleans(),
    int: st.integers(-3, 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
}


def contents(kind: Any = None, depth: int = _DEPTH) -> SearchStrategy[Any]:
    """Draw a content of this class, or of any, with at most `depth` nested values."""
    return _any_content(depth) if kind is None else structs(kind, depth)


@st.composite
def messages(draw: DrawFn) -> ChatMessage:
    """Draw a message of any role with any contents."""
    message: ChatMessage = draw(structs(ChatMessage))
    role = draw(_ROLES)
    if draw(st.booleans()):
        return ChatMessage(role=role, contents=message.contents)
    return msgspec.structs.replace(message, role=role)


@st.composite
def requests(draw: DrawFn) -> ChatRequest:
    """Draw a request with at least one message."""
    request: ChatRequest = draw(structs(ChatRequest, 2))
    return msgspec.structs.replace(request, messages=draw(st.lists(messages(), min_size=1, max_size=4)))


def responses() -> SearchStrategy[ChatResponse]:
    """Return a strategy of any response."""
    return structs(ChatResponse, 5)


@cache
def structs(kind: type[Any], depth: int = _DEPTH) -> SearchStrategy[Any]:
    """Return a strategy of values of a model class, with any values in its fields."""

    @st.composite
    def build(draw: DrawFn) -> Any:
        fields = {}
        for field in fields_of(kind):
            if field.required or (depth > 0 and draw(st.booleans())):
                fields[field.name] = draw(_values(field.type, depth - 1))
        return kind(**fields)

    return build()


def _values(kind: Any, depth: int) -> SearchStrategy[Any]:
    """Return a strategy for the type of a model field."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind is Content:
        return _any_content(depth - 1)
    origin, arguments, options = typing.get_origin(kind), typing.get_args(kind), options_of(kind)
    if len(options) > 1:
        return st.one_of([_values(option, depth) for option in options])
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(_values(arguments[0], depth), max_size=2 if depth > 0 else 0)
    if origin is dict:
        return _EXTRA if typing.get_origin(arguments[1]) is dict else _OBJECTS
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return structs(kind, depth)
    raise TypeError(f"no strategy for a field of type {kind}")


@cache
def _any_content(depth: int) -> SearchStrategy[Any]:
    if depth <= 0:
        return st.builds(TextContent, text=_SAMPLE_TEXTS)
    return st.sampled_from(CONTENT_TYPES).flatmap(lambda kind: structs(kind, depth))


# -- settings ----------------------------------------------------------------------------------------------------------

_SHARES = st.sampled_from([0.25, 0.5, 1])
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_FORMATS = st.sampled_from(
    [
        ResponseFormat(kind="text"),
        ResponseFormat(kind="json"),
        ResponseFormat(kind="json_schema", schema=_SCHEMA),
        ResponseFormat(kind="json_schema", schema=_SCHEMA, name="place", description="A place.", strict=True),
    ]
)
_CHOICES = st.sampled_from(
    [ToolChoice(mode=mode) for mode in ("auto", "none", "required")]
    + [ToolChoice(mode="required", tools=["weather"]), ToolChoice(mode="auto", tools=["weather"])]
)
_REASONING = st.builds(
    ReasoningOptions,
    mode=st.sampled_from([None, "enabled", "adaptive", "disabled", "between_tools"]),
    effort=st.sampled_from([None, "none", "minimal", "low", "medium", "high", "xhigh", "max"]),
    budget_tokens=st.sampled_from([None, -1, 0, 100, 1024, 8000, 50000]),
    include=st.sampled_from([None, True, False]),
    summary=st.sampled_from([None, "auto", "detailed"]),
)
SETTINGS: dict[str, SearchStrategy[Any]] = {
    "max_output_tokens": st.integers(16, 9999),
    "temperature": _SHARES | st.sampled_from([0, 1.5]),
    "top_p": _SHARES,
    "top_k": st.integers(1, 40),
    "frequency_penalty": _SHARES,
    "presence_penalty": _SHARES,
    "seed": st.integers(1, 999),
    "stop_sequences": st.lists(
        st.sampled_from(["END", "\n\n", "###", "A:", "B:", "C:", "D:"]), min_size=1, max_size=7, unique=True
    ),
    "choices": st.integers(1, 3),
    "logprobs": st.booleans(),
    "top_logprobs": st.integers(0, 5),
    "stream": st.booleans(),
    "store": st.booleans(),
    "user": st.sampled_from(["user-1", "ann"]),
    "metadata": st.sampled_from([{"team": "a"}, {"user_id": "u"}, {}]),
    "service_tier": st.sampled_from(["auto", "default", "flex", "priority"]),
    "verbosity": st.sampled_from(["low", "medium", "high"]),
    "modalities": st.sampled_from([["text"], ["text", "audio"]]),
    "conversation_id": st.just("conv_1"),
    "previous_response_id": st.just("resp_1"),
    "parallel_tool_calls": st.booleans(),
    "tool_choice": _CHOICES,
    "response_format": _FORMATS,
    "reasoning": _REASONING,
    "cache_point": st.builds(CachePoint, ttl=st.sampled_from([None, "5m", "30m"])),
}


@st.composite
def options(draw: DrawFn, *names: str) -> ChatOptions:
    """Draw realistic options: the named ones, or a few if none are named."""
    chosen = list(names) or draw(st.lists(st.sampled_from(sorted(SETTINGS)), max_size=4, unique=True))
    return ChatOptions(**{name: draw(SETTINGS[name]) for name in chosen})


# -- schemas of tools --------------------------------------------------------------------------------------------------

_NAMES = st.sampled_from(["city", "days", "a b", "Ünïcödé", "$ref", "type", "x" * 70])
_LEAVES: SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "string", "format": "date", "minLength": 1, "pattern": "^a"},
        {"type": "integer", "minimum": 0, "exclusiveMaximum": 9},
        {"type": "number", "multipleOf": 0.5, "default": 1.5},
        {"type": "boolean", "description": "Whether."},
        {"type": ["string", "null"]},
        {"const": 1},
        {"$ref": "#/$defs/place"},
        {},
    ]
)


def tool_schemas() -> SearchStrategy[dict[str, Any]]:
    """Return a strategy of JSON Schemas of parameters: nested, with references, unions and rare keywords."""
    inner = st.recursive(_LEAVES, _grown, max_leaves=5)
    properties = st.dictionaries(_NAMES, inner, max_size=3)
    return st.builds(_tool_schema, properties, st.booleans(), st.sampled_from([None, False, True]))


def _grown(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return (
        st.builds(lambda item: {"type": "array", "items": item}, inner)
        | st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=2))
        | st.builds(_object_schema, st.dictionaries(_NAMES, inner, max_size=2))
    )


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": sorted(properties)[:1]}


def _tool_schema(properties: dict[str, Any], strict: bool, more: bool | None) -> dict[str, Any]:
    schema = {**_object_schema(properties), "$defs": {"place": {"type": "string", "title": "Place"}}}
    if strict:
        schema["required"] = sorted(properties)
    return schema if more is None else {**schema, "additionalProperties": more}
