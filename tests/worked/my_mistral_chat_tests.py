"""The tests of the adapter: the laws of the kit, on payloads and values of Mistral."""

from __future__ import annotations

import json
from pathlib import Path

import my_mistral_chat

from contentmodel import ChatChoice, ChatResponse, FinishReason, ReasoningContent, Usage, assistant
from contentmodel_conformance import AdapterConformance, Limits

REQUEST = json.loads(Path(__file__).with_name("request.json").read_text())
OTHER_SPELLING = {**REQUEST, "tool_choice": "required"}
ANSWER = {
    "id": "9c0d",
    "object": "chat.completion",
    "created": 1770000000,
    "model": "magistral-medium-latest",
    "choices": [
        {
            "index": 0,
            "finish_reason": "model_length",
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Blue, or"}]},
                    {"type": "text", "text": "The sky is"},
                ],
            },
        }
    ],
    "usage": {
        "prompt_tokens": 12,
        "completion_tokens": 30,
        "total_tokens": 42,
        "prompt_tokens_details": {"cached_tokens": 5},
    },
}
EXPECTED = ChatResponse(
    id="9c0d",
    model="magistral-medium-latest",
    created=1770000000,
    choices=[
        ChatChoice(
            index=0,
            messages=[assistant(ReasoningContent(text="Blue, or"), "The sky is")],
            finish_reason=FinishReason(reason="length"),
        )
    ],
    usage=Usage(input_tokens=12, output_tokens=30, total_tokens=42, cache_read_tokens=5),
)
ERROR = {
    "object": "error",
    "message": "Rate limit exceeded",
    "type": "rate_limited",
    "param": None,
    "code": "1300",
    "raw_status_code": 429,
}


class TestMistralChat(AdapterConformance):
    adapter = my_mistral_chat.adapter
    payloads = {"request": [REQUEST, OTHER_SPELLING], "response": [ANSWER, ERROR]}
    examples = [(ANSWER, EXPECTED)]
    limits = Limits(
        issuer="mistral",
        model="mistral-medium-latest",
        signs=True,
        hosted_search=False,
        systems_between=False,
        media=frozenset({"images", "documents", "unnamed", "image links", "document links"}),
        tools=frozenset({"bare", "choices"}),
    )
