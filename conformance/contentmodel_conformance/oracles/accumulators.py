"""The official SDKs' accumulators: the answer that their clients build from a stream, as wire JSON.

An accumulator supports only its SDK's types: if it raises, or drops something, the stream may still be valid.
google-genai 3.4 has none: its clients return chunks.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

Events = Iterable[dict[str, Any]]


class CannotAccumulate(Exception):
    """Raised if the SDK cannot read a stream. The cause is the SDK's error."""


def accumulated(api: str, events: Events) -> dict[str, Any]:
    """Return the answer that the SDK builds from these events. Raises LookupError if the SDK has no accumulator."""
    if api not in _ACCUMULATORS:
        raise LookupError(f"no accumulator of {api}")
    try:
        return _ACCUMULATORS[api](copy.deepcopy(list(events)))
    except Exception as error:  # SDKs raise anything on streams that they do not support.
        raise CannotAccumulate(f"{type(error).__name__}: {error}") from error


def _anthropic(events: Events) -> dict[str, Any]:
    from anthropic._models import construct_type_unchecked
    from anthropic.lib.streaming._beta_messages import accumulate_event
    from anthropic.types.beta import BetaRawMessageStreamEvent

    message: Any = None
    pieces: dict[int, bytes] = {}
    # The SDK ignores the fields of message_stop, in which Bedrock counts tokens.
    last: dict[str, Any] = {}
    for wire in events:
        if wire.get("type") == "message_stop":
            last = {key: value for key, value in wire.items() if key != "type"}
        # Like the client, which filters by event name first (anthropic 2.12, _streaming.py).
        if wire.get("type") in _ANTHROPIC_EVENTS:
            event: Any = construct_type_unchecked(value=wire, type_=BetaRawMessageStreamEvent)  # type: ignore[arg-type]
            message = accumulate_event(
                event=event, current_snapshot=message, json_bufs=pieces, request_headers=_headers()
            )
    return {**_wire(message), **last}


_ANTHROPIC_EVENTS = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)


def _headers() -> Any:
    import httpx2

    return httpx2.Headers()


def _chat(events: Events) -> dict[str, Any]:
    from openai._models import construct_type_unchecked
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    state: Any = ChatCompletionStreamState()
    for wire in events:
        state.handle_chunk(construct_type_unchecked(value=wire, type_=ChatCompletionChunk))
    return _wire(state.current_completion_snapshot)


def _responses(events: Events) -> dict[str, Any]:
    from openai import omit
    from openai._models import construct_type_unchecked
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.responses import ResponseStreamEvent

    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    for wire in events:
        event: Any = construct_type_unchecked(value=wire, type_=ResponseStreamEvent)  # type: ignore[arg-type]
        state.handle_event(event)
        if wire.get("type") in ("response.incomplete", "response.failed"):
            return _wire(event.response)
    return _wire(state._completed_response)


def _wire(value: Any) -> dict[str, Any]:
    if value is None:
        raise EOFError("the stream gave no answer")
    wire: dict[str, Any] = value.to_dict(mode="json")
    return wire


_ACCUMULATORS: dict[str, Callable[[Events], dict[str, Any]]] = {
    "anthropic-messages": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
}
APIS = frozenset(_ACCUMULATORS)
"""The APIs whose SDK has an accumulator."""


# -- comparing ---------------------------------------------------------------------------------------------------------


def comparable(api: str, wire: Any) -> Any:
    """Return the part of an answer that can be compared with an accumulator's.

    Nulls are removed, since the SDKs add unset fields; so are `parsed` and `parsed_arguments`. 1.0 becomes 1, since the
    SDKs' types convert it. Of Chat, only the choices remain, since other fields are the first or the last chunk's. Of a
    choice, only texts, calls and finish reason remain: the SDK concatenates other strings that a host repeats, and
    drops those that start in a later chunk. Ids and names that were concatenated are reduced to one.
    """
    wire = _without_nulls(wire)
    if api != "openai-chat":
        return wire
    return [_chat_choice(choice) for choice in wire.get("choices", ())]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    return {
        key: _without_nulls(item)
        for key, item in value.items()
        if item is not None and key not in ("parsed", "parsed_arguments")
    }


_CALLS = ("function", "custom")
_TEXTS = ("content", "refusal", "reasoning", "reasoning_content", "function_call")


def _chat_choice(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("message", {})
    calls = [
        {"id": _once(call.get("id", "")), **{kind: _chat_call(call[kind]) for kind in _CALLS if kind in call}}
        for call in message.get("tool_calls", ())
    ]
    fields = {key: choice[key] for key in ("index", "finish_reason", "logprobs") if choice.get(key)}
    return {**fields, **{key: message[key] for key in _TEXTS if message.get(key)}, "tool_calls": calls}


def _chat_call(function: dict[str, Any]) -> dict[str, Any]:
    return {**function, "name": _once(function.get("name", ""))}


def _once(text: str) -> str:
    """Return the shortest text that `text` is a repetition of."""
    lengths = (n for n in range(1, len(text)) if text[:n] * (len(text) // n) == text)
    return text[: next(lengths, len(text))]
