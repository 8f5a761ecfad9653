"""The tests of the adapter: the laws, on payloads and values of Mistral."""

from __future__ import annotations

import mistral_chat

from contentmodel import ChatChoice, ChatMessage, ChatResponse, FinishReason, ReasoningContent, TextContent, Usage
from contentmodel_conformance import AdapterConformance, Limits

REQUEST = {
    "model": "mistral-medium-latest",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is in these?"},
                {"type": "image_url", "image_url": "https://example.org/cat.png"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}},
                {"type": "document_url", "document_url": "https://example.org/a.pdf", "document_name": "a.pdf"},
                {"type": "input_audio", "input_audio": "SUQzBAA="},
            ],
        },
        {
            "role": "assistant",
            "content": "",
            "prefix": False,
            "tool_calls": [
                {"id": "Kx8sP2mQ1", "function": {"name": "look_up", "arguments": '{"name": "cat"}'}, "index": 0},
            ],
        },
        {"role": "tool", "tool_call_id": "Kx8sP2mQ1", "name": "look_up", "content": "A cat."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "One result."}], "closed": True},
                {"type": "text", "text": "A cat."},
                {"type": "reference", "reference_ids": [1]},
            ],
        },
        {"role": "user", "content": "Thanks."},
    ],
    "tools": [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}],
    "tool_choice": "required",
    "random_seed": 7,
    "safe_prompt": True,
}
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
MEANT = ChatResponse(
    id="9c0d",
    model="magistral-medium-latest",
    created=1770000000,
    choices=[
        ChatChoice(
            index=0,
            messages=[
                ChatMessage(
                    role="assistant",
                    contents=[
                        ReasoningContent(text="Blue, or"),
                        TextContent(text="The sky is"),
                    ],
                )
            ],
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
    adapter = mistral_chat.adapter
    payloads = {"request": [REQUEST], "response": [ANSWER, ERROR]}
    examples = [(ANSWER, MEANT)]
    limits = Limits(
        issuer="mistral",
        model="mistral-medium-latest",
        signs=True,
        hosted_search=False,
        systems_between=False,
        media=frozenset({"images", "documents", "unnamed", "image links", "document links"}),
        tools=frozenset({"bare", "choices"}),
    )
