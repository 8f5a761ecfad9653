"""The laws of hosted tools: unknown tools decode to calls and results, and failures are reported."""

from __future__ import annotations

from typing import Any

from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ErrorContent,
    HostedToolCallContent,
    HostedToolResultContent,
    TextContent,
)
from contentmodel.json import value_at
from contentmodel_conformance import laws
from contentmodel_conformance.differences import ABSENT
from contentmodel_conformance.laws import LawBroken
from contentmodel_conformance.oracles.hosted import payload_of

__all__ = ["handmade", "hosted", "hosted_failures"]


def hosted(adapter: Any, kind: str, blocks: list[dict[str, Any]]) -> None:
    """The call and the result of an unknown hosted tool decode to the hosted base classes, with one id."""
    payload = payload_of(adapter.api, kind, blocks)
    value = laws.decode(adapter, kind, payload)
    calls = [content for content in _contents(value) if isinstance(content, HostedToolCallContent)]
    if len(calls) != 1 or calls[0].call_id is None or calls[0].name is None:
        raise LawBroken(
            "hosted",
            "$",
            "the call of an unknown tool is not decoded as one hosted call with a name and an id",
            "one hosted call",
            calls,
        )
    results = [content for content in _contents(value) if isinstance(content, HostedToolResultContent)]
    # If the application answers the call, the result is a function result.
    expected = 1 if calls[0].executor == "provider" else 0
    if [result.call_id for result in results] != [calls[0].call_id] * expected:
        raise LawBroken(
            "hosted", "$", "the result of an unknown tool is not decoded with the id of its call", calls[0], results
        )
    laws.identity(adapter, kind, payload)


def hosted_failures(adapter: Any, kind: str, blocks: list[dict[str, Any]], *, failed: bool = True) -> None:
    """The outputs of a failed hosted tool have an error, in every form of its API. Those of others have none."""
    payload = payload_of(adapter.api, kind, blocks)
    value = laws.decode(adapter, kind, payload)
    results = [content for content in _contents(value) if isinstance(content, HostedToolResultContent)]
    if not results:
        raise LawBroken("hosted failures", "$", "no hosted result was decoded", blocks[-1], _contents(value))
    has_error = any(isinstance(output, ErrorContent) for output in results[-1].output_list)
    if has_error is not failed or (results[-1].error is not None) is not failed:
        why = "no output is the failure" if failed else "the result has an error without a failure"
        raise LawBroken("hosted failures", "$", why, blocks[-1], results[-1])
    laws.identity(adapter, kind, payload)


def handmade(accepts: Any, adapter: Any, kind: str, contents: list[Any]) -> None:
    """Hosted calls and results that an application creates from fields of the model fit the official SDK's types."""
    turn = ChatMessage(role="assistant", contents=contents)
    user = ChatMessage(role="user", contents=[TextContent(text="Go on.")])
    value = ChatRequest(model="m", messages=[user, turn, user])
    answer = ChatResponse(choices=[ChatChoice(messages=[turn])])
    payload = laws.encode(adapter, kind, value if kind == "request" else answer).payload
    for fault in accepts.faults(payload):
        path, _, message = fault.partition(": ")
        raise LawBroken("handmade", path, message, laws.ALLOWED, value_at(payload, path, ABSENT))


def _contents(value: Any) -> list[Any]:
    messages = value.messages if isinstance(value, ChatRequest) else value.choices[0].messages
    return [content for message in messages for content in message.contents]
