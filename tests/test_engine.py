"""The guarantees of the table engine, on rows made for the tests."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import (
    DataContent,
    FunctionCallContent,
    FunctionResultContent,
    ReasoningContent,
    TextContent,
    UnknownContent,
)
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.table.codecs import MappedEnum, Opaque
from contentmodel.engine.table.rows import Row
from contentmodel.engine.table.tables import Table, row
from contentmodel.message import Origin

API = "anthropic-messages"
ORIGIN = Origin(api=API, issuer="anthropic")


def decoding() -> DecodeContext:
    return DecodeContext("test", Origin(api="test", issuer="test"))


def encoding() -> EncodeContext:
    return EncodeContext("test", "test", "request")


def edit(payload: dict[str, Any], change: Any) -> dict[str, Any]:
    """Return the payload after a change of its model value."""
    adapter = contentmodel.adapter(API)
    return adapter.encode_request(change(adapter.decode_request(payload))).payload


def with_first(request: Any, **changes: Any) -> Any:
    """Return the request with its first content changed."""
    message = request.messages[0]
    contents = [msgspec.structs.replace(message.contents[0], **changes), *message.contents[1:]]
    return msgspec.structs.replace(request, messages=[msgspec.structs.replace(message, contents=contents)])


def a_request(*blocks: dict[str, Any], role: str = "user") -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1, "messages": [{"role": role, "content": list(blocks)}]}


def test_encoder_writes_edit_and_keeps_residue() -> None:
    block = {"type": "text", "text": "old", "cache_control": {"type": "ephemeral"}, "tomorrow": [1]}
    edited = edit(a_request(block), lambda request: with_first(request, text="new"))
    assert edited == a_request({**block, "text": "new"})


def test_residue_does_not_override_fields() -> None:
    extra = {API: {"text": "from the residue", "cache_control": {"type": "ephemeral"}}}
    edited = edit(a_request({"type": "text", "text": "said"}), lambda request: with_first(request, extra=extra))
    assert edited["messages"][0]["content"] == [
        {"type": "text", "text": "said", "cache_control": {"type": "ephemeral"}}
    ]


def test_encoder_distinguishes_null_and_missing_field() -> None:
    for block in ({"type": "text", "text": "x", "citations": None}, {"type": "text", "text": "x"}):
        assert edit(a_request(block), lambda request: request) == a_request(block)


def test_encoder_keeps_content_as_string_or_list() -> None:
    for content in ("hi", "", [{"type": "text", "text": "hi"}], []):
        payload = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": content}]}
        assert edit(payload, lambda request: request) == payload


def test_encoder_writes_edited_string_content_as_string() -> None:
    payload = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "old"}]}
    assert edit(payload, lambda r: with_first(r, text="new"))["messages"][0]["content"] == "new"


def test_encoder_keeps_unknown_fields_of_nested_object() -> None:
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA==", "new": 1}}
    edited = edit(a_request(block), lambda request: with_first(request, data="BB=="))
    assert edited["messages"][0]["content"][0]["source"] == {**block["source"], "data": "BB=="}


def test_unknown_block_is_kept_whole() -> None:
    block = {"type": "hologram", "parts": [{"type": "text"}]}
    request = contentmodel.adapter(API).decode_request(a_request(block))
    assert request.messages[0].contents == [UnknownContent(api=API, block=block)]
    assert edit(a_request(block), lambda request: request) == a_request(block)


def test_encoder_drops_signature_of_another_issuer() -> None:
    protected = contentmodel.Protected(issuer="google", kind="signature", data="c2VjcmV0")
    encoded = contentmodel.adapter(API).encode_request(
        contentmodel.ChatRequest(
            model="m",
            messages=[
                contentmodel.ChatMessage(
                    role="assistant",
                    contents=[TextContent(text="hi", protected=protected), ReasoningContent(protected=protected)],
                )
            ],
        )
    )
    assert b"c2VjcmV0" not in encoded.to_json()
    assert len(encoded.losses) >= 2


def test_encoder_keeps_text_of_arguments_and_writes_edited_arguments() -> None:
    text = '{"b": 1,  "a": 1, "a": 2}'
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}
    payload = {"model": "m", "messages": [{"role": "assistant", "tool_calls": [call]}]}
    adapter = contentmodel.adapter("openai-chat")
    request = adapter.decode_request(payload)
    assert adapter.encode_request(request).payload == payload
    edited = with_first(request, arguments={"b": 2})
    written = adapter.encode_request(edited).payload["messages"][0]["tool_calls"][0]["function"]["arguments"]
    assert written == '{"b":2}'


def test_spelling_of_json_arguments_is_reported_unless_it_is_the_compact_one() -> None:
    def losses(text: str) -> list[str]:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}
        payload = {"model": "m", "max_completion_tokens": 5, "messages": [{"role": "assistant", "tool_calls": [call]}]}
        encoded = contentmodel.convert(payload, source="openai-chat", target=API)
        return [loss.path for loss in encoded.losses]

    assert losses('{"a":1}') == []
    assert losses('{"a": 1}') == ["$.messages[0].tool_calls[0].function.arguments"]
    assert losses("{not json") == ["$.messages[0].tool_calls[0].function.arguments"]


def test_item_with_call_and_result_decodes_to_two_contents_and_encodes_to_one_item() -> None:
    item = {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "code": "print(1)",
        "container_id": "c_1",
        "outputs": [{"type": "logs", "logs": "1\n"}],
    }
    adapter = contentmodel.adapter("openai-responses")
    response = adapter.decode_response({"id": "r", "object": "response", "status": "completed", "output": [item]})
    call, result = response.messages[0].contents
    assert (call.call_id, result.call_id, result.text) == ("ci_1", "ci_1", "1\n")
    assert adapter.encode_response(response).payload["output"] == [item]
    for content, expected in (([call], {"outputs"}), ([result], {"code", "container_id", "status"})):
        message = msgspec.structs.replace(response.messages[0], contents=content)
        choice = msgspec.structs.replace(response.choices[0], messages=[message])
        written = adapter.encode_response(msgspec.structs.replace(response, choices=[choice])).payload["output"]
        assert len(written) == 1
        assert set(item) - set(written[0]) == expected


def test_fields_of_chat_message_decode_to_contents_in_order() -> None:
    message = {
        "role": "assistant",
        "content": "text",
        "refusal": None,
        "reasoning_content": "thought",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "2", "type": "custom", "custom": {"name": "g", "input": "free"}},
            {"id": "3", "type": "telepathy", "telepathy": {}},
            {"type": "telepathy", "telepathy": {}},
        ],
    }
    adapter = contentmodel.adapter("openai-chat")
    request = adapter.decode_request({"model": "m", "messages": [message]})
    kinds = [type(content).__name__ for content in request.messages[0].contents]
    assert kinds == [
        "ReasoningContent",
        "TextContent",
        "FunctionCallContent",
        "CustomToolCallContent",
        "HostedToolCallContent",
        "UnknownContent",
    ]
    assert adapter.encode_request(request).payload["messages"] == [message]


def test_text_after_call_is_reported_as_moved_for_chat() -> None:
    message = contentmodel.ChatMessage(
        role="assistant",
        contents=[FunctionCallContent(call_id="1", name="f", arguments={}), TextContent(text="after")],
    )
    request = contentmodel.ChatRequest(model="m", messages=[message])
    encoded = contentmodel.adapter("openai-chat").encode_request(request)
    assert [(loss.kind, loss.path) for loss in encoded.losses] == [("moved", "$.messages[0].contents[1]")]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"a": "no_such_attribute"}, "no attribute"),
        ({"a": "annotations"}, "attribute annotations: there is no default codec for the type .*: pass a codec"),
    ],
)
def test_row_rejects_unknown_attribute_and_missing_codec(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        row("block", TextContent, fields)


def test_row_rejects_binding_to_second_api() -> None:
    with pytest.raises(TypeError, match="belongs to"):
        Row("r", TextContent, {"text": "text"}).bind("one").bind("two")


def test_table_of_custom_rows_decodes_and_encodes() -> None:
    table = Table("test")
    union = table.union(
        "block",
        [
            row("say", TextContent, {"words": "text", "proof": ("protected", Opaque("test", "signature"))}),
            row("file", DataContent, {"data.base64": "data", "data.kind": "media_type"}),
            row("answer", FunctionResultContent, {"to": "call_id"}),
        ],
    )
    wires = [
        {"type": "say", "words": "hi", "proof": "p", "new": {"deep": None}},
        {"type": "file", "data": {"base64": "AA==", "kind": "image/png", "odd": 1}},
        {"type": "answer", "to": "1", "words": []},
    ]
    contents = union.decode_list(wires, decoding())
    assert contents[0].protected == contentmodel.Protected(issuer="test", kind="signature", data="p")
    assert contents[1].extra == {"test": {"data": {"odd": 1}}}
    assert union.encode_list(contents, encoding()) == wires


def test_source_of_compiled_row_is_in_linecache() -> None:
    import linecache

    contentmodel.adapter(API).decode_request(a_request({"type": "text", "text": "x"}))
    shown = [name for name in linecache.cache if name.startswith(f"<row {API} text -> TextContent")]
    assert shown
    assert "def decode" in "".join(linecache.getlines(shown[0]))


@pytest.mark.parametrize("word", ["stop", "here:stop", "here:here:stop", "end", "other"])
def test_mapped_enum_survives_round_trip_if_value_imitates_its_prefix(word: str) -> None:
    codec = MappedEnum({"end": "stop", "over": "stop"})
    held = codec.decode(word, DecodeContext("here", Origin(api="here", issuer="x")), {}, "word")
    assert codec.encode(held, EncodeContext("here", "x", "response"), None) == word


def test_table_rejects_keeping_a_field_that_its_record_maps() -> None:
    table = Table("test")
    table.record("request", contentmodel.ChatRequest, {"model": "model"})
    with pytest.raises(TypeError, match="record request: model cannot be kept"):
        table.keep("request", "seed", "model")
