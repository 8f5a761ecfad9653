"""The official SDKs' own accumulators: what their clients make of a stream, as wire JSON.

An accumulator knows its SDK's types and no others, and takes its own API's events alone: what it raises, or leaves out,
is no verdict on a stream. google-genai 3.4 has none: its clients give chunks.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

Events = Iterable[dict[str, Any]]


class CannotAccumulate(Exception):
    """The SDK cannot read this stream: the cause is what it raised."""


def accumulated(api: str, events: Events) -> dict[str, Any]:
    """The answer that the SDK's client gives for these events. LookupError where an SDK has no accumulator."""
    if api not in _ACCUMULATORS:
        raise LookupError(f"no accumulator of {api}")
    try:
        return _ACCUMULATORS[api](copy.deepcopy(list(events)))
    except Exception as error:  # Whatever an SDK raises at a stream that it does not understand.
        raise CannotAccumulate(f"{type(error).__name__}: {error}") from error


def _anthropic(events: Events) -> dict[str, Any]:
    from anthropic._models import construct_type_unchecked
    from anthropic.lib.streaming._beta_messages import accumulate_event
    from anthropic.types.beta import BetaRawMessageStreamEvent

    message: Any = None
    pieces: dict[int, bytes] = {}
    for wire in events:
        # As its client does, which looks at the name of an event first (anthropic 2.12, _streaming.py).
        if wire.get("type") in _ANTHROPIC_EVENTS:
            event: Any = construct_type_unchecked(value=wire, type_=BetaRawMessageStreamEvent)  # type: ignore[arg-type]
            message = accumulate_event(
                event=event, current_snapshot=message, json_bufs=pieces, request_headers=_headers()
            )
    return _wire(message)


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
"""The APIs whose SDK makes an answer of a stream."""


# -- comparing ---------------------------------------------------------------------------------------------------------


def comparable(api: str, wire: Any) -> Any:
    """What of an answer an accumulator can be asked for.

    No nulls: the SDKs fill in fields that nobody said. 1.0 is 1, for their types make the one of the other. Nor
    `parsed` and `parsed_arguments`, which they add. Of Chat the choices alone, for the rest is the first chunk's or
    the last's; and of a choice the words, the calls and why it ended: every other string is strung together where a
    host repeats it, or lost where a later chunk is the first to say it. Ids and names that were strung together
    count once.
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
_WORDS = ("content", "refusal", "reasoning", "reasoning_content", "function_call")


def _chat_choice(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("message", {})
    calls = [
        {"id": _once(call.get("id", "")), **{kind: _chat_call(call[kind]) for kind in _CALLS if kind in call}}
        for call in message.get("tool_calls", ())
    ]
    said = {key: choice[key] for key in ("index", "finish_reason", "logprobs") if choice.get(key)}
    return {**said, **{key: message[key] for key in _WORDS if message.get(key)}, "tool_calls": calls}


def _chat_call(said: dict[str, Any]) -> dict[str, Any]:
    return {**said, "name": _once(said.get("name", ""))}


def _once(text: str) -> str:
    """The text that this one repeats."""
    lengths = (n for n in range(1, len(text)) if text[:n] * (len(text) // n) == text)
    return text[: next(lengths, len(text))]
