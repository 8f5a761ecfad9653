"""Ids of calls through the gateway: unique in a conversation, whatever the upstream sends, with the official client."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pytest

from gateways import config_for, gateway
from raw_upstreams import RawUpstream, stream
from raw_upstreams import answer as whole

TOOLS: list[Any] = [{"name": "look", "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}}}]


def calls(turn: int, ids: list[str | None]) -> list[dict[str, Any]]:
    """Return the calls of one answer, with these ids."""
    return [
        {"type": "function", "function": {"name": "look", "arguments": json.dumps({"at": f"{turn}.{number}"})}}
        | ({} if call_id is None else {"id": call_id})
        for number, call_id in enumerate(ids)
    ]


def answer(turn: int, ids: list[str | None], *, is_stream: bool) -> Any:
    """Return an answer of Chat Completions with calls, whole or as a stream. It has no id of its own."""
    made = calls(turn, ids)
    if not is_stream:
        message = {"role": "assistant", "content": None, "tool_calls": made}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        body = {"id": "", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return whole(body)
    deltas = [{"tool_calls": [{"index": number, **call}]} for number, call in enumerate(made)]
    chunks = [
        *({"index": 0, "delta": delta, "finish_reason": None} for delta in deltas),
        {"index": 0, "delta": {}, "finish_reason": "tool_calls"},
    ]
    head = {"id": "", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    events = [f"data: {json.dumps({**head, 'choices': [chunk]})}\n\n" for chunk in chunks]
    return stream("".join([*events, "data: [DONE]\n\n"]).encode())


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    "ids", [["call_0", "call_1"], ["same", "same"], [None, None]], ids=["repeated", "equal", "none"]
)
def test_official_client_gets_distinct_ids_and_upstream_gets_right_pairs(
    ids: list[str | None], is_stream: bool, upstream: RawUpstream
) -> None:
    upstream.set_answers(*(answer(turn, ids, is_stream=is_stream) for turn in range(4)))
    config = config_for("openai-chat", upstream.base_url("openai-chat"))
    messages: list[Any] = [{"role": "user", "content": "Look."}]
    seen: list[str] = []
    with gateway(config) as (url, _), anthropic.Anthropic(api_key="none", base_url=url, max_retries=0) as client:
        for _ in range(4):
            asked: dict[str, Any] = {"model": "m", "max_tokens": 99, "messages": messages, "tools": TOOLS}
            if is_stream:
                with client.messages.stream(**asked) as streaming:
                    got = streaming.get_final_message()
            else:
                got = client.messages.create(**asked)
            blocks = [block for block in got.content if block.type == "tool_use"]
            seen += [block.id for block in blocks]
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": f"seen {block.input['at']}"}
                for block in blocks
            ]
            messages += [{"role": "assistant", "content": got.content}, {"role": "user", "content": results}]
    assert len(seen) == len(set(seen)) == 8
    sent = upstream.requests[-1].payload["messages"]
    by_id = {call["id"]: call for message in sent for call in message.get("tool_calls", ())}
    answered = {message["tool_call_id"]: message["content"] for message in sent if message["role"] == "tool"}
    assert list(by_id) == list(answered) == seen[:6]
    at = {call_id: json.loads(call["function"]["arguments"])["at"] for call_id, call in by_id.items()}
    assert answered == {call_id: f"seen {place}" for call_id, place in at.items()}
