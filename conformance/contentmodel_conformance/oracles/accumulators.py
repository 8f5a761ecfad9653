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
    """The answer that the SDK's own client gives for these events. LookupError where the API's SDK has no accumulator."""
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
        # What the client's own loop would not hand on to the state (openai 3.54, lib/streaming/chat/_completions.py).
        if wire.get("object", "chat.completion.chunk") in ("chat.completion.chunk", ""):
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
