"""Cache points: one notion for all APIs, and never a significant loss."""

from __future__ import annotations

from typing import Any

import pytest

import contentmodel
from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    HostedTool,
    Loss,
    TextContent,
    user,
)
from contentmodel.content import AIContent, CachePoint, DataContent, JsonContent
from contentmodel.request import CustomTool
from contentmodel.rules import Violation
from contentmodel.serialize import dumps, loads

ANTHROPIC, CHAT, RESPONSES, GOOGLE, ROWS = APIS = [
    contentmodel.adapter(api)
    for api in ("anthropic-messages", "openai-chat", "openai-responses", "google-generate-content", "turn-blocks")
]
FIELDS = ("cache_control", "prompt_cache_breakpoint", "cache_point")
POINT = CachePoint()
CACHED = TextContent(text="Look.", cache_point=POINT)
CALL = FunctionCallContent(call_id="c1", name="look", arguments={})
EACH = pytest.mark.parametrize("adapter", APIS, ids=lambda adapter: adapter.api)


def points_in(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(points_in, value))
    return sum((key in FIELDS) + points_in(item) for key, item in value.items()) if isinstance(value, dict) else 0


def reports(losses: tuple[Loss, ...]) -> list[Loss]:
    return [loss for loss in losses if loss.code.startswith("cache-")]


def answered(output: AIContent) -> list[ChatMessage]:
    result = FunctionResultContent(call_id="c1", outputs=[output])
    return [
        user("Look."),
        ChatMessage(role="assistant", contents=[CALL]),
        ChatMessage(role="tool", contents=[result]),
    ]


def request_of(*points: CachePoint | None, model: str | None = "claude-opus-5", **options: Any) -> ChatRequest:
    contents: list[AIContent] = [TextContent(text=f"Text {n}", cache_point=point) for n, point in enumerate(points)]
    messages = [ChatMessage(role="user", contents=contents)]
    return ChatRequest(model=model, messages=messages, options=ChatOptions(max_output_tokens=9, **options))


ANTHROPIC_REQUEST = {
    "model": "claude-opus-5",
    "max_tokens": 100,
    "cache_control": {"type": "ephemeral"},
    "tools": [
        {"name": "look", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "web_search_20250305", "name": "web_search", "cache_control": {"type": "ephemeral"}},
    ],
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h", "new": 1}}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}],
}


def test_decoder_reads_cache_points_of_all_places() -> None:
    request = ANTHROPIC.decode_request(ANTHROPIC_REQUEST)
    assert request.options.cache_point == CachePoint()
    assert [tool.cache_point for tool in request.tools] == [CachePoint(ttl="1h"), CachePoint()]
    extra = {"anthropic-messages": {"new": 1}}
    assert request.instructions[0].cache_point == CachePoint(ttl="1h", extra=extra)
    assert request.messages[0].contents[0].cache_point == CachePoint()


def test_decoder_keeps_cache_control_of_unknown_types_as_residue() -> None:
    control = {"type": "persistent", "ttl": "1h"}
    payload = {**ANTHROPIC_REQUEST, "system": [{"type": "text", "text": "Be brief.", "cache_control": control}]}
    request = ANTHROPIC.decode_request(payload)
    assert request.instructions[0].cache_point is None
    assert request.instructions[0].extra == {"anthropic-messages": {"cache_control": control}}
    assert ANTHROPIC.encode_request(request).payload == payload


def test_encoder_writes_more_cache_points_than_the_limit_to_the_same_api() -> None:
    payload = {**ANTHROPIC_REQUEST, "messages": [*ANTHROPIC_REQUEST["messages"]] * 6}  # type: ignore[misc]
    encoded = ANTHROPIC.encode_request(ANTHROPIC.decode_request(payload))
    assert (encoded.payload, encoded.losses) == (payload, ())


def test_stored_documents_keep_cache_points() -> None:
    request = ANTHROPIC.decode_request(ANTHROPIC_REQUEST)
    assert loads(dumps(request), ChatRequest) == request
    through = ROWS.decode_request(ROWS.encode_request(request).payload)
    assert ANTHROPIC.encode_request(through).payload == ANTHROPIC_REQUEST


def test_document_with_cache_control_as_residue_is_still_sent() -> None:
    """Documents from before `cache_point` have the field in the residue."""
    text = TextContent(text="Hi", extra={"anthropic-messages": {"cache_control": {"type": "ephemeral"}}})
    request = ChatRequest(model="claude-opus-5", messages=[user(text)])
    encoded = ANTHROPIC.encode_request(request).payload
    assert encoded["messages"][0]["content"] == [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]


# -- conversion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_cache_points_reach_models_of_openai_that_have_them(target: str) -> None:
    encoded = contentmodel.convert(ANTHROPIC_REQUEST, target=target, model="gpt-6-sol")
    message = encoded.payload["messages" if target == "openai-chat" else "input"][-1]
    assert message["content"][0]["prompt_cache_breakpoint"] == {"mode": "explicit"}
    back = contentmodel.convert(encoded.payload, source=target, target="anthropic-messages", model="claude-opus-5")
    assert back.payload["messages"] == ANTHROPIC_REQUEST["messages"]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("model", ["gpt-5.2", "llama-4", None])
def test_texts_stay_strings_for_models_without_cache_points(target: str, model: str | None) -> None:
    encoded = contentmodel.adapter(target).encode_request(request_of(POINT, model=model))
    [message] = encoded.payload["messages" if target == "openai-chat" else "input"]
    assert message["content"] == "Text 0"
    assert [(loss.code, loss.path) for loss in reports(encoded.losses)] == [
        ("cache-point", "$.messages[0].contents[0].cache_point")
    ]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_other_lifetimes_become_the_default(target: str) -> None:
    encoded = contentmodel.adapter(target).encode_request(request_of(CachePoint(ttl="1h"), model="gpt-6-sol"))
    assert points_in(encoded.payload) == 1
    assert [(loss.code, loss.path) for loss in reports(encoded.losses)] == [
        ("cache-lifetime", "$.messages[0].contents[0].cache_point.ttl")
    ]


PLACES: dict[str, dict[str, Any]] = {
    "instructions": {"instructions": [CACHED], "messages": [user("Hi")]},
    "second of instructions": {"instructions": [TextContent(text="Be brief."), CACHED], "messages": [user("Hi")]},
    "later system text": {"messages": [user("Hi"), ChatMessage(role="system", contents=[CACHED]), user("Hi")]},
    "text": {"messages": [user(CACHED)]},
    "blank text": {"messages": [user("Hi", TextContent(text="", cache_point=POINT))]},
    "image": {"messages": [user("Hi", DataContent(data="iVBORw0=", media_type="image/png", cache_point=POINT))]},
    "answer": {"messages": [user("Hi"), ChatMessage(role="assistant", contents=[CACHED]), user("Hi")]},
    "output": {"messages": answered(CACHED)},
    "JSON output": {"messages": answered(JsonContent(value={"a": 1}, cache_point=POINT))},
    "function": {"messages": [user("Hi")], "tools": [FunctionTool(name="look", cache_point=POINT)]},
    "custom tool": {"messages": [user("Hi")], "tools": [CustomTool(name="look", cache_point=POINT)]},
    "hosted tool": {"messages": [user("Hi")], "tools": [HostedTool(kind="web_search", cache_point=POINT)]},
    "options": {"messages": [user("Hi")], "options": ChatOptions(cache_point=POINT)},
}


@EACH
@pytest.mark.parametrize("place", PLACES.values(), ids=list(PLACES))
@pytest.mark.parametrize("model", ["claude-opus-5", "gpt-6-sol", "gpt-5.2", "gemini-3-pro", "llama-4"])
def test_cache_point_is_written_or_reported(adapter: Any, place: dict[str, Any], model: str) -> None:
    encoded = adapter.encode_request(ChatRequest(model=model, **place))
    found = reports(encoded.losses)
    dropped = [loss for loss in encoded.losses if loss.path.startswith("$.tools[0]") and loss.kind == "dropped"]
    assert points_in(encoded.payload) + len(found) + len(dropped) == 1
    assert all(loss.kind == "insignificant" and "cache_point" in loss.path for loss in found)


@EACH
def test_answers_have_no_cache_points(adapter: Any) -> None:
    message = ChatMessage(role="assistant", contents=[CACHED])
    encoded = adapter.encode_response(contentmodel.ChatResponse(choices=[contentmodel.ChatChoice(messages=[message])]))
    is_store = adapter is ROWS
    assert (points_in(encoded.payload), len(reports(encoded.losses))) == ((1, 0) if is_store else (0, 1))


# -- the limits of Anthropic -------------------------------------------------------------------------------------------


def violations(payload: Any) -> list[Violation]:
    return [v for v in ANTHROPIC.check_request(payload) if "cache" in v.rule]


def test_last_four_cache_points_are_kept() -> None:
    encoded = ANTHROPIC.encode_request(request_of(*[POINT] * 6))
    [message] = encoded.payload["messages"]
    assert ["cache_control" in block for block in message["content"]] == [False, False, True, True, True, True]
    assert [(loss.code, loss.path, loss.kind) for loss in encoded.losses] == [
        ("cache-point-limit", f"$.messages[0].contents[{n}].cache_point", "insignificant") for n in (0, 1)
    ]
    assert violations(encoded.payload) == []


def test_cache_point_of_the_whole_prompt_counts() -> None:
    encoded = ANTHROPIC.encode_request(request_of(*[POINT] * 4, cache_point=POINT))
    [message] = encoded.payload["messages"]
    assert encoded.payload["cache_control"] == {"type": "ephemeral"}
    assert ["cache_control" in block for block in message["content"]] == [False, True, True, True]


def test_lifetimes_do_not_increase() -> None:
    points = [CachePoint(ttl=ttl) for ttl in ("1h", "5m", "1h")]
    encoded = ANTHROPIC.encode_request(request_of(*points))
    [message] = encoded.payload["messages"]
    assert [block["cache_control"].get("ttl") for block in message["content"]] == ["1h", "5m", None]
    assert [(loss.code, loss.path) for loss in encoded.losses] == [
        ("cache-lifetime", "$.messages[0].contents[2].cache_point.ttl")
    ]
    assert violations(encoded.payload) == []


def test_cache_control_in_the_residue_is_not_removed() -> None:
    extra = {"anthropic-messages": {"cache_control": {"type": "ephemeral"}}}
    contents = [TextContent(text=f"Text {n}", extra=extra) for n in range(4)]
    encoded = ANTHROPIC.encode_request(ChatRequest(model="claude-opus-5", messages=[user(*contents, CACHED)]))
    [message] = encoded.payload["messages"]
    assert ["cache_control" in block for block in message["content"]] == [True, True, True, True, False]


def test_encoding_leaves_the_request_unchanged() -> None:
    request = request_of(*[CachePoint(ttl="5m"), CachePoint(ttl="1h")] * 3)
    before = dumps(request)
    assert ANTHROPIC.encode_request(request).payload == ANTHROPIC.encode_request(request).payload
    assert dumps(request) == before


def test_cache_point_of_an_empty_text_that_is_not_sent_is_reported() -> None:
    empty = {"type": "input_text", "text": "", "prompt_cache_breakpoint": {"mode": "explicit"}}
    payload = {"model": "m", "input": [{"role": "user", "content": [empty, {"type": "input_text", "text": "Hi."}]}]}
    encoded = contentmodel.convert(payload, source="openai-responses", target="ollama-chat")
    assert [(loss.code, loss.path) for loss in encoded.losses] == [
        ("cache-point", "$.input[0].content[0].prompt_cache_breakpoint")
    ]
