"""Conversations with what files of agents and frameworks store: times, counts, outcomes, artifacts, JSON, branches."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contentmodel import ChatMessage, ChatRequest, FinishReason, Usage
from contentmodel.content import FunctionResultContent, JsonContent
from contentmodel.message import Branch

__all__ = ["stored"]

_RECORDS: dict[str, SearchStrategy[Any]] = {
    "created": st.sampled_from([1_780_000_123, 1_780_000_124.5, "2026-05-29T01:02:03Z"]),
    "response_id": st.just("response_of_a_record"),
    "usage": st.builds(Usage, input_tokens=st.integers(4_000, 9_999), output_tokens=st.integers(10_000, 20_000)),
    "finish_reason": st.builds(FinishReason, reason=st.just("stop"), raw=st.just("ended_in_a_record")),
}
_OUTCOMES = st.sampled_from([None, "succeeded", "failed", "denied", "interrupted", "timed_out", "preliminary"])
_VALUES = st.sampled_from([None, {"kept": "by an application"}, ["kept", 77_001]])
_JSON = st.sampled_from([{"wind": 77_002, "sky": ["clear"]}, [77_003, "fog"], 77_004, {"result": {"wind": 77_005}}])


@st.composite
def stored(draw: DrawFn, conversations: SearchStrategy[ChatRequest]) -> ChatRequest:
    """Draw one of the requests, with some of these fields set."""
    request = draw(conversations)
    messages = [_recorded(draw, message) for message in request.messages]
    branches = [Branch(messages=messages[:1], parent_id="message_before_a_branch")] if draw(st.booleans()) else []
    return msgspec.structs.replace(request, messages=messages, branches=branches)


def _recorded(draw: DrawFn, message: ChatMessage) -> ChatMessage:
    records = {name: draw(values) for name, values in _RECORDS.items() if draw(st.booleans())}
    contents = [_kept(draw, content) for content in message.contents]
    return msgspec.structs.replace(message, contents=contents, **records)


def _kept(draw: DrawFn, content: Any) -> Any:
    if content.__class__ is not FunctionResultContent:
        return content
    outputs = [JsonContent(value=draw(_JSON))] if draw(st.booleans()) else content.outputs
    return msgspec.structs.replace(content, outputs=outputs, outcome=draw(_OUTCOMES), artifact=draw(_VALUES))
