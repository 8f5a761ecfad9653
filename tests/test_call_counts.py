"""The number of Python calls of a small conversion, pinned: a request walks no further than it must."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import pytest

import contentmodel

ANTHROPIC, CHAT = contentmodel.adapter("anthropic-messages"), contentmodel.adapter("openai-chat")
REQUEST = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "tool_use", "id": "toolu_01", "name": "look", "input": {"a": 1}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "a cat"}]},
    ],
    "tools": [
        {
            "name": "look",
            "description": "d",
            "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        }
    ],
}
BODY = json.dumps(REQUEST).encode()
DECODED = ANTHROPIC.decode_request(BODY)


def counted(run: Callable[[], object]) -> tuple[int, int]:
    """Return the number of calls of Python functions, and of the files that these are in, of a warm run."""
    run()
    run()
    codes: list[CodeType] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            codes.append(frame.f_code)

    previous = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(previous)
    # The first is the function itself.
    files = {code.co_filename if code.co_filename[0] != "<" else "<rows>" for code in codes[1:]}
    return len(codes) - 1, len(files)


@pytest.mark.parametrize(
    ("run", "calls", "files"),
    [
        pytest.param(lambda: ANTHROPIC.trace_request(BODY), 104, 26, id="decode"),
        pytest.param(lambda: CHAT.encode_request(DECODED), 330, 53, id="encode"),
        pytest.param(
            lambda: contentmodel.convert(BODY, source="anthropic-messages", target="openai-chat", kind="request"),
            450,
            66,
            id="convert",
        ),
    ],
)
def test_conversion_of_a_small_request_makes_few_calls(run: Callable[[], object], calls: int, files: int) -> None:
    made, seen = counted(run)
    assert made <= calls
    assert seen <= files


@pytest.mark.parametrize(
    ("make", "calls"),
    [
        pytest.param(lambda: CHAT.encode_request(DECODED), 230, id="of the model"),
        pytest.param(
            lambda: contentmodel.convert(BODY, source="anthropic-messages", target="openai-chat", kind="request"),
            460,
            id="of the payload",
        ),
    ],
)
def test_losses_are_found_without_a_second_encoding(make: Callable[[], Any], calls: int) -> None:
    results = iter([make() for _ in range(3)])
    made, _ = counted(lambda: next(results).losses)
    assert made <= calls
