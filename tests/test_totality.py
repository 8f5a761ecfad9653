"""Odd input by example: valid JSON is kept, and other input is refused with the path of every fault.

Stream decoders never raise for input: a value of a wrong class is kept unchanged, or ends the turn with an error.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatResponse,
    Citation,
    DecodeError,
    ErrorContent,
    FunctionCallContent,
    ReasoningContent,
    StreamError,
    TextContent,
    fold,
    fold_stream,
    unfold,
)
from contentmodel import events as ev
from contentmodel.content import WebSearchToolCallContent
from contentmodel.framing import write_sse
from contentmodel.html import page
from contentmodel.streams import encode_stream
from contentmodel_conformance import streams

STREAMS = ("anthropic-messages", "openai-chat", "openai-responses", "google-generate-content")
TARGETS = pytest.mark.parametrize("target", STREAMS)
EACH = pytest.mark.parametrize("api", STREAMS)


def chat(text: str) -> bytes:
    return b'{"model":"m","messages":[{"role":"user","content":%s}]}' % text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "body",
    [
        chat('"\\ud83d"'),
        chat('"\\ude00 half of an emoji"'),
        b'\xef\xbb\xbf{"model":"m","messages":[]}',
        b'{"model":"m","messages":[],"seed":123456789012345678901234567890}',
        b'{"model":"m","messages":[],"seed":-9223372036854775809}',
    ],
)
def test_decoder_keeps_unusual_json_values(body: bytes) -> None:
    adapter = contentmodel.adapter("openai-chat")
    encoded = adapter.encode_request(adapter.decode_request(body)).to_json()
    assert json.loads(encoded) == json.loads(body.removeprefix(b"\xef\xbb\xbf"))


def test_decoder_takes_last_of_duplicate_keys() -> None:
    request = contentmodel.adapter("openai-chat").decode_request(b'{"model":"a","model":"b","messages":[]}')
    assert request.model == "b"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"messages": [], "temperature": float("nan")}, "$.temperature"),
        ({"messages": [{"role": "user", "content": object()}]}, "$.messages[0].content"),
        ({"messages": [], "logit_bias": {1: 2}}, "$.logit_bias"),
    ],
)
def test_decoder_rejects_non_json_value_in_dict_with_its_path(value: Any, path: str) -> None:
    with pytest.raises(DecodeError) as raised:
        contentmodel.adapter("openai-chat").decode_request(value)
    assert [fault.path for fault in raised.value.faults] == [path]


def test_decode_error_has_all_faults() -> None:
    payload = {
        "model": "m",
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": 5}, "text", {"text": "no type"}]},
            17,
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text"}]}]},
        ],
    }
    with pytest.raises(DecodeError) as raised:
        contentmodel.adapter("anthropic-messages").decode_request(payload)
    assert {str(fault) for fault in raised.value.faults} == {
        "expected string, got integer at $.messages[0].content[0].text",
        "expected an object: a content block, got string at $.messages[0].content[1]",
        "missing string: the type of this content block at $.messages[0].content[2].type",
        "expected an object: a message, got integer at $.messages[1]",
        "missing string at $.messages[2].content[0].content[0].text",
    }
    assert str(raised.value).startswith("anthropic-messages: ")


# -- streams with values of another class ------------------------------------------------------------------------------


def chunk(delta: Any, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None, **fields}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def claude(block: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    head = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": {}}
    return [
        {"type": "message_start", "message": head},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]


def items(*found: dict[str, Any]) -> list[dict[str, Any]]:
    added = [
        {"type": f"response.output_item.{step}", "output_index": place, "item": item}
        for place, item in enumerate(found)
        for step in ("added", "done")
    ]
    answer = {"id": "r", "object": "response", "status": "completed", "model": "m", "output": list(found)}
    first = {"type": "response.created", "response": {**answer, "status": "in_progress", "output": []}}
    return [first, *added, {"type": "response.completed", "response": answer}]


CALL = {"type": "function_call", "id": "f", "call_id": "c", "name": "n", "arguments": "{}"}
TEXT = {"type": "output_text", "text": "Hi", "annotations": []}
MESSAGE = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [TEXT]}
SEARCH = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}}
ODD: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "chat: a list in a column of words": (
        "openai-chat",
        [chunk({"reasoning_content": piece}) for piece in (",", [], "t")] + [chunk({}, finish_reason="stop")],
    ),
    "chat: a list before a column of words": (
        "openai-chat",
        [chunk({"reasoning_content": piece}) for piece in ([], "t", {"a": 1})] + [chunk({}, finish_reason="stop")],
    ),
    "chat: an object in a list of parts": (
        "openai-chat",
        [chunk({"content": piece}) for piece in ([{"type": "text", "text": "a"}], {"a": 1}, "b")]
        + [chunk({}, finish_reason="stop")],
    ),
    "chat: a call without its object": (
        "openai-chat",
        [chunk({"tool_calls": [{"index": 0, "id": "c"}]}), chunk({}, finish_reason="tool_calls")],
    ),
    "chat: words for a list of calls": (
        "openai-chat",
        [chunk({"tool_calls": "x", "annotations": "y"}), chunk({}, finish_reason="stop")],
    ),
    "claude: an object for a type": ("anthropic-messages", claude({"type": {}, "text": "x"})),
    "claude: a list for a type": ("anthropic-messages", claude({"type": [], "input": []})),
    "claude: half a pair in arguments": (
        "anthropic-messages",
        claude(
            {"type": "tool_use", "id": "t", "name": "n", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"a": "\\ud800"}'},
        ),
    ),
    "claude: an unknown delta with a text": (
        "anthropic-messages",
        claude(
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "Hi"},
            {"type": "of_tomorrow", "text": "x"},
        ),
    ),
    "responses: an object for a type": ("openai-responses", items({"type": {}, "id": "x"}, MESSAGE)),
    "responses: a number for a summary": (
        "openai-responses",
        items({"type": "reasoning", "id": "r", "summary": 1.5}, MESSAGE),
    ),
    "responses: words for a summary": ("openai-responses", items({"type": "reasoning", "id": "r", "summary": "abc"})),
    "responses: words for the content": ("openai-responses", items({**MESSAGE, "content": "Hi"})),
    "responses: words for a part": ("openai-responses", items({**MESSAGE, "content": ["Hi", None, TEXT]})),
    "responses: a list for a text": ("openai-responses", items({**MESSAGE, "content": [{**TEXT, "text": ["x"]}]})),
    "responses: a list for the type of a part": (
        "openai-responses",
        items({**MESSAGE, "content": [{**TEXT, "type": []}]}),
    ),
    "responses: an object for annotations": (
        "openai-responses",
        items({**MESSAGE, "content": [{**TEXT, "annotations": {}, "logprobs": 1}]}),
    ),
    "responses: an object for arguments": ("openai-responses", items({**CALL, "arguments": {"a": 1}}, SEARCH)),
    "responses: an object for the name of an event": ("openai-responses", [{"type": {"a": 1}}, *items(MESSAGE)]),
    "responses: half a pair in the name of an event": (
        "openai-responses",
        [*items(MESSAGE)[:1], {"type": "response.\ud800\ndata: x"}, *items(MESSAGE)[1:]],
    ),
    "gemini: words for an index": (
        "google-generate-content",
        [{"candidates": [{"index": "0", "content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}],
    ),
}


@TARGETS
@pytest.mark.parametrize("case", ODD)
def test_stream_with_value_of_wrong_type_converts_to_every_api(case: str, target: str) -> None:
    api, events = ODD[case]
    raw = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    streams.conversion(contentmodel.adapter(api), contentmodel.adapter(target), [raw])
    assert b"".join(contentmodel.convert_stream([raw], source=api, target=target))


def test_chat_stream_decoder_continues_text_after_value_of_wrong_type() -> None:
    _, events = ODD["chat: a list in a column of words"]
    found = list(contentmodel.decode_stream(map(sse, events), "openai-chat"))
    assert [event.delta for event in found if isinstance(event, ev.UnknownDelta)] == [{"reasoning_content": []}]
    assert [content.text for content in fold(found).messages[0].contents] == [",t"]


def sse(event: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % json.dumps(event).encode()


# -- events in any order -----------------------------------------------------------------------------------------------

START = ev.BlockStart(index=0, content=TextContent(text=""))
STOP = ev.BlockStop(index=0, content=TextContent(text="Hi"))


@EACH
@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([STOP], "BlockStop for block 0, which has not started"),
        ([ev.TextDelta(index=3, text="x")], "TextDelta for block 3, which has not started"),
        ([START, START], "BlockStart for block 0, which has started already"),
        ([START, STOP, START], "BlockStart for block 0, which has started already"),
        ([START, STOP, STOP], "BlockStop for block 0, which has stopped already"),
        (
            [ev.BlockStart(index=0, content=TextContent(text=""), choice=-1)],
            "block 0: its choice is -1, expected 0 to 1023",
        ),
        ([ev.BlockCatchUp(index=4, content=TextContent(text=""), choice=10**9)], "block 4: its choice is 1000000000"),
    ],
)
def test_stream_encoder_rejects_events_out_of_order(api: str, events: list[Any], message: str) -> None:
    with pytest.raises(StreamError, match=message):
        list(encode_stream(events, api))


def test_fold_rejects_invalid_choice() -> None:
    with pytest.raises(StreamError, match="its choice is -1"):
        fold([ev.BlockStart(index=0, content=TextContent(text=""), choice=-1)])


@EACH
def test_stream_encoder_accepts_block_that_stops_with_another_type(api: str) -> None:
    search = WebSearchToolCallContent(call_id="w", name="web_search", arguments={"query": "q"})
    events = [START, ev.TextDelta(index=0, text="Hi"), ev.BlockStop(index=0, content=search)]
    streams.disorder(contentmodel.adapter(api), events)


@pytest.mark.parametrize("name", ["a\nb", "a\rdata: x", "\ud83d"])
def test_write_sse_drops_event_name_that_does_not_fit_a_line(name: str) -> None:
    assert write_sse(b"{}", name) == b"data: {}\n\n"


# -- halves of surrogate pairs -----------------------------------------------------------------------------------------

HALF = "half \ud83d of it"
SURROGATE_MESSAGE = ChatMessage(
    role="assistant",
    contents=[
        ReasoningContent(text=HALF),
        TextContent(text=HALF, annotations=[Citation(url="https://example.org", title=HALF)]),
        FunctionCallContent(call_id="c", name="f", arguments={HALF: HALF}),
        FunctionCallContent(call_id="d", name="f", arguments='{"a": "\\ud800"}'),
    ],
)
ANSWER = ChatResponse(id="i", model="m", choices=[ChatChoice(messages=[SURROGATE_MESSAGE])])


def test_arguments_with_lone_surrogate_are_readable_as_text_and_object() -> None:
    written, received = SURROGATE_MESSAGE.contents[2:]
    assert isinstance(written, FunctionCallContent)
    assert isinstance(received, FunctionCallContent)
    assert json.loads(written.arguments_text) == {HALF: HALF}
    assert received.arguments_object == {"a": "\ud800"}


@EACH
@pytest.mark.parametrize("size", [None, 1])
def test_lone_surrogate_survives_stream_round_trip(api: str, size: int | None) -> None:
    events = list(unfold(ANSWER, size=size))
    assert fold(events) == ANSWER
    raw = b"".join(encode_stream(events, api))
    raw.decode()
    found = fold_stream([raw], api)
    assert found.text == HALF
    calls = [call.arguments_object for message in found.messages for call in message.tool_calls]
    assert calls == [{HALF: HALF}, {"a": "\ud800"}]


def test_page_renders_lone_surrogate() -> None:
    failed = ErrorContent(message=HALF)
    body = page([SURROGATE_MESSAGE, ChatMessage(role="tool", contents=[failed])], title=HALF).encode()
    assert b"half" in body


@pytest.mark.parametrize("field", ["annotations", "extra", "protected"])
def test_decoder_reports_path_of_lone_surrogate_in_field_of_wrong_type(field: str) -> None:
    block = {"block_type": "text", "text_content": "", "content": {field: "\ud83d"}}
    with pytest.raises(DecodeError) as caught:
        contentmodel.adapter("turn-blocks").decode_request({"turns": [{"role": "user", "blocks": [block]}]})
    assert [fault.path for fault in caught.value.faults] == [f"$.turns[0].blocks[0].content.{field}"]
