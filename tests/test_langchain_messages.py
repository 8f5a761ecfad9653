"""Messages of LangChain: spellings, blocks of providers, calls that stand twice, conversions, and the bridge."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from langchain_core.load import dumpd, load
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
    messages_from_dict,
    messages_to_dict,
)

import contentmodel
from contentmodel import (
    ChatRequest,
    FunctionCallContent,
    UnknownContent,
    assistant,
    audit,
    convert,
    detect,
    user,
)
from contentmodel.content import result_type
from contentmodel.content.base import Protected, content_tag
from contentmodel.content.hosted import (
    MapsToolCallContent,
    McpServerToolResultContent,
    ShellToolCallContent,
    TextEditorToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import HostedToolCallContent
from contentmodel.history import AsyncTurnStore, TurnStore
from contentmodel.langchain import AsyncTurnStoreHistory, TurnStoreHistory, from_langchain, to_langchain
from contentmodel.message import ChatMessage, Origin, contents_of
from contentmodel_conformance import laws
from contentmodel_conformance.strategies.damage import with_one_replaced
from langchain_payloads import (
    BESIDE,
    BLOCKS,
    CODE,
    CONVERSATIONS,
    HOSTED,
    HOSTED_ITEMS,
    HOSTS,
    ITEMS,
    JOINED,
    LANGCHAIN,
    NATIVE,
    OLDER,
    PARTNERS,
    PLAIN,
    REASONED,
    SPOKEN,
    with_data,
)

API = "langchain-messages"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
ADAPTER: Any = contentmodel.adapter(API)
SEALED = Protected(issuer="openai", kind="signature", data="c2ln")


def objects(messages: list[dict[str, Any]]) -> list[BaseMessage]:
    return messages_from_dict(with_data(messages))


@pytest.mark.parametrize("payload", LANGCHAIN)
def test_decoded_messages_are_encoded_unchanged(payload: Any) -> None:
    request = ADAPTER.decode_request(payload)
    encoded = ADAPTER.encode_request(request)
    assert encoded.payload == payload
    assert encoded.losses == ()
    assert detect(payload) == (API, "request")
    assert not any(isinstance(content, UnknownContent) for content in contents_of(request.messages))


@pytest.mark.slow
def test_payloads_with_any_value_replaced_are_refused_or_kept() -> None:
    for payload in with_one_replaced(LANGCHAIN):
        with suppress(laws.Refused):
            laws.disturbance(ADAPTER, "request", payload)


@pytest.mark.parametrize("key", ["data", "kwargs"])
@pytest.mark.parametrize("word", ["human", "ai", "tool"])
def test_type_that_is_null_is_that_around_the_message(key: str, word: str) -> None:
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    around = {"lc": 1, "id": [names[word]]} if key == "kwargs" else {"type": word}
    body = {"content": "x", "tool_call_id": "c1"}
    null, missing = ([{**around, key: wire}] for wire in ({"type": None, **body}, body))
    request = ADAPTER.decode_request(null)
    assert request.messages[0].role == ADAPTER.decode_request(missing).messages[0].role
    assert ADAPTER.encode_request(request).payload == null


def test_chat_message_with_a_null_role_and_no_type_is_encoded_unchanged() -> None:
    payload = [{"type": "chat", "data": {"content": "x", "role": None}}]
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_dumps_of_the_library_and_its_objects_are_payloads(conversation: list[dict[str, Any]]) -> None:
    messages = objects(conversation)
    flat = [message.model_dump() for message in messages]
    for dumped in (messages_to_dict(messages), flat, dumpd(messages)):
        assert ADAPTER.encode_request(ADAPTER.decode_request(dumped)).payload == dumped
    assert ADAPTER.encode_request(ADAPTER.decode_request(messages)).payload == messages_to_dict(messages)
    assert detect(messages) == (API, "request")


@pytest.mark.parametrize("payload", LANGCHAIN)
@pytest.mark.parametrize("target", PROVIDERS)
def test_conversions_to_apis_report_every_loss(payload: Any, target: str) -> None:
    encoded = convert(payload, target=target, source=API, kind="request")
    assert audit(payload, encoded) == []


@pytest.mark.parametrize("target", ["anthropic-messages", "openai-responses"])
def test_blocks_of_a_provider_are_sent_to_it_unchanged(target: str) -> None:
    payload = convert(NATIVE, target=target, source=API, kind="request").payload
    sent = payload["messages"][1]["content"] if target == "anthropic-messages" else payload["input"]
    source = NATIVE[1]["content"] if target == "anthropic-messages" else NATIVE[3]["content"]
    items = [block for block in source if block["type"] not in ("text", "refusal")]
    assert [block for block in sent if block in items] == items


def test_standard_blocks_of_hosted_tools_become_the_blocks_of_their_provider() -> None:
    content = convert(BLOCKS, target="anthropic-messages", source=API, kind="request").payload["messages"][1]["content"]
    assert content[0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    assert {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}} in content
    found = {"type": "web_search_result", "url": "https://example.org", "title": "E", "encrypted_content": "eA=="}
    assert {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [found]} in content
    assert {"type": "redacted_thinking", "data": "cmVk"} in content


def test_media_and_cache_points_in_the_forms_of_partner_packages_are_converted() -> None:
    system, message = ADAPTER.decode_request(PARTNERS).messages
    kinds = [TextContent, DataContent, UriContent, UriContent, DataContent, DataContent, DataContent]
    assert [type(content) for content in message.contents] == kinds
    assert [content.media_type for content in message.contents[1:]] == [
        *("image/png", "video/mp4", None, "image/png", "image/png", "application/pdf")
    ]
    assert (system.contents[0].cache_point.ttl, message.contents[0].cache_point.ttl) == (None, "1h")
    sent = convert(PARTNERS, target="bedrock-converse", source=API, kind="request").payload
    assert sent["system"] == PARTNERS[0]["content"]
    assert [sent["messages"][0]["content"][at] for at in (1, -2, -1)] == [
        PARTNERS[1]["content"][at] for at in (1, -2, -1)
    ]


@pytest.mark.parametrize("target", ["anthropic-messages", "google-generate-content"])
def test_image_of_mcp_in_a_result_is_an_image(target: str) -> None:
    call = {"id": "c1", "name": "plot", "args": {}, "type": "tool_call"}
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    messages = [
        {"type": "human", "content": "Plot it."},
        {"type": "ai", "content": "", "tool_calls": [call]},
        {"type": "tool", "content": [image], "tool_call_id": "c1"},
    ]
    request = ADAPTER.decode_request(messages)
    (output,) = request.messages[2].contents[0].outputs
    assert (output.__class__, output.media_type) == (DataContent, "image/png")
    assert ADAPTER.encode_request(request).payload == messages
    assert "aGk=" in json.dumps(contentmodel.convert(messages, target=target).payload)


@pytest.mark.parametrize("before", [[], [{"of": "tomorrow"}], [{"text": "x"}, {"cachePoint": {"type": "default"}}]])
def test_cache_point_after_no_content_is_an_unknown_block(before: list[Any]) -> None:
    payload = [{"type": "human", "content": [*before, {"cachePoint": {"type": "default"}}]}]
    request = ADAPTER.decode_request(payload)
    assert type(request.messages[0].contents[-1]) is UnknownContent
    assert ADAPTER.encode_request(request).payload == payload


@pytest.mark.parametrize("ending", ["finish_reason", "stop_reason", "stopReason", "done_reason"])
@pytest.mark.parametrize("target", ["pydantic-ai-messages", "otel-gen-ai"])
def test_finish_reason_of_another_spelling_is_not_missing_in_an_audit(ending: str, target: str) -> None:
    answer = {"type": "ai", "content": "x", "response_metadata": {ending: "tool_use"}}
    payload = [{"type": "human", "content": "q"}, answer]
    assert audit(payload, convert(payload, source=API, target=target, kind="request")) == []


@pytest.mark.parametrize("source", ["meai", "agent-framework"])
def test_message_id_is_not_missing_in_an_audit(source: str) -> None:
    request = ChatRequest(messages=[ChatMessage(role="user", contents=["Hi."], message_id="m1")])
    payload = contentmodel.adapter(source).encode_request(request).payload
    encoded = convert(payload, source=source, target=API, kind="request")
    assert encoded.payload[0]["data"]["id"] == "m1"
    assert audit(payload, encoded) == []


def test_records_of_a_stored_answer_decode_to_fields_of_the_message() -> None:
    answer, result = ADAPTER.decode_request(PLAIN).messages[2:4]
    assert (answer.response_id, answer.finish_reason.reason) == ("chatcmpl-1", "tool_calls")
    assert (answer.usage.input_tokens, answer.usage.cache_read_tokens, answer.usage.reasoning_tokens) == (11, 4, 3)
    assert [call.arguments for call in answer.contents] == [{"city": "Oslo"}, "{oops"]
    assert (result.message_id, result.contents[0].artifact, result.contents[0].is_error) == (
        "t1",
        {"celsius": 21},
        False,
    )


def test_edit_of_a_call_changes_each_field_that_has_it() -> None:
    request = ADAPTER.decode_request(NATIVE)
    message = request.messages[1]
    at = next(at for at, content in enumerate(message.contents) if isinstance(content, FunctionCallContent))
    message.contents[at] = msgspec.structs.replace(message.contents[at], arguments={"at": "Bergen"})
    written = ADAPTER.encode_request(request).payload[1]
    assert written["content"][3]["input"] == written["tool_calls"][0]["args"] == {"at": "Bergen"}


def test_items_of_custom_and_computer_tools_are_sent_to_openai() -> None:
    items = convert(ITEMS, target="openai-responses", source=API, kind="request").payload["input"][1:]
    custom, computer, output, screenshot = items[:4]
    assert [custom, computer] == ITEMS[1]["content"] == [block["value"] for block in ITEMS[4]["content"]]
    assert output == {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"}
    assert screenshot == ITEMS[6]["content"][0]["value"]
    assert items[4:] == items[:4]


@pytest.mark.parametrize("at", [2, 3, 5, 6])
def test_edit_of_a_result_in_an_item_is_encoded(at: int) -> None:
    request = ADAPTER.decode_request(ITEMS)
    result: Any = request.messages[at].contents[0]
    changed = msgspec.structs.replace(result, call_id="c9", outputs=[DataContent(data="AAAA", media_type="image/png")])
    request.messages[at].contents[0] = changed
    payload = ADAPTER.encode_request(request).payload
    assert payload[at]["tool_call_id"] == "c9"
    assert "AAAA" in json.dumps(payload[at]["content"])
    assert {**payload[at], "tool_call_id": "", "content": []} == {**ITEMS[at], "tool_call_id": "", "content": []}


def test_result_of_a_custom_tool_of_another_api_is_a_result() -> None:
    items = [
        {"type": "custom_tool_call", "call_id": "c1", "name": "code", "input": "1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "2"},
    ]
    messages = convert({"input": items}, target=API, source="openai-responses", kind="request").payload
    assert messages[1] == {"type": "tool", "data": {"type": "tool", "tool_call_id": "c1", "content": "2"}}


def test_parts_of_a_reasoning_item_are_sent_as_one_item() -> None:
    items = convert(REASONED, target="openai-responses", source=API, kind="request").payload["input"]
    summary = [{"type": "summary_text", "text": text} for text in "ab"]
    assert [item for item in items if item["type"] == "reasoning"] == [
        {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j"},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "ZW5k"},
        {"type": "reasoning", "id": "rs_3", "summary": [{"type": "summary_text", "text": "c"}]},
        REASONED[3]["content"][0],
    ]


def test_standard_blocks_of_hosted_tools_become_the_items_of_openai() -> None:
    encoded = convert(HOSTED, target="openai-responses", source=API, kind="request")
    assert encoded.payload["input"][1:-1] == HOSTED_ITEMS
    assert {loss.kind for loss in encoded.losses} == {"insignificant"}


def test_edit_of_a_part_of_a_reasoning_item_is_encoded() -> None:
    request = contentmodel.loads(contentmodel.dumps(ADAPTER.decode_request(REASONED)), ChatRequest)
    request.messages[1].contents[1] = msgspec.structs.replace(request.messages[1].contents[1], text="new")
    expected = [dict(block) for block in REASONED[1]["content"]]
    expected[1]["reasoning"] = "new"
    assert ADAPTER.encode_request(request).payload == [
        REASONED[0],
        {**REASONED[1], "content": expected},
        *REASONED[2:],
    ]


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}],
        [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": "Yes."}],
    ],
)
def test_blocks_of_a_provider_do_not_hide_the_types_of_messages(content: list[Any]) -> None:
    assert detect([{"type": "ai", "content": content}]) == (API, "request")


def test_object_that_cannot_be_dumped_does_not_hide_the_messages() -> None:
    unknown = {"lc": 1, "type": "not_implemented", "id": ["app", "Note"], "repr": "Note()"}
    payload = [dumpd(HumanMessage("Hi.")), unknown]
    assert detect(payload) == (API, "request")
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload


def test_audio_of_an_answer_is_sent_by_its_id() -> None:
    messages = convert(SPOKEN, target="openai-chat", source=API, kind="request").payload["messages"]
    assert messages[1] == {"role": "assistant", "audio": {"id": "audio_1"}}


_CALLER = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "t1", "name": "f", "input": {}, "caller": _CALLER},
        {"type": "tool_call", "id": "t1", "name": "f", "args": {}, "extras": {"caller": _CALLER}},
    ],
)
def test_program_that_makes_a_call_is_sent_to_claude(block: dict[str, Any]) -> None:
    again = {"name": "f", "args": {}, "id": "t1", "type": "tool_call"}
    metadata = {"model_provider": "anthropic"}
    answer = {"type": "ai", "content": [block], "tool_calls": [again], "response_metadata": metadata}
    payload = [{"type": "human", "content": "q"}, answer, {"type": "tool", "content": "4", "tool_call_id": "t1"}]
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload
    messages = convert(payload, target="anthropic-messages", source=API).payload["messages"]
    assert messages[1]["content"][0]["caller"] == _CALLER


@pytest.mark.parametrize("arguments", ['{"a": 1}', "oops"])
@pytest.mark.parametrize("field", ["tool_calls", "content"])
def test_arguments_as_text_are_sent(arguments: str, field: str) -> None:
    call = {"name": "f", "args": arguments, "id": "c1", "type": "tool_call"}
    payload = [{"type": "ai", "content": "", field: [call]}, {"type": "tool", "content": "4", "tool_call_id": "c1"}]
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload
    messages = convert(payload, target="openai-chat", source=API, kind="request").payload["messages"]
    sent = [call["function"]["arguments"] for message in messages for call in message.get("tool_calls", ())]
    assert sent == [arguments]


def test_calls_in_messages_with_roles_have_their_arguments() -> None:
    payload = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"name": "look", "args": {"at": "Oslo"}, "id": "c1", "type": "tool_call"}],
        },
        {"role": "tool", "content": "Fog.", "tool_call_id": "c1"},
    ]
    chat: Any = contentmodel.adapter("openai-chat")
    assert chat.encode_request(chat.decode_request(payload)).payload == payload
    messages = convert(payload, target="anthropic-messages").payload["messages"]
    assert messages[1]["content"] == [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "Oslo"}}]


def test_calls_of_older_versions_are_sent() -> None:
    messages = convert(OLDER, target="openai-chat", source=API, kind="request").payload["messages"]
    calls = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    assert [(call["name"], call["arguments"]) for call in calls] == [
        *(("f", '{"a":1}'), ("f", "{oops"), ("g", "{}"), ("g", "{}")),
    ]
    results = [message["content"] for message in messages if message["role"] == "tool"]
    assert results == ["4", "not JSON", "5", "6"]


def test_call_added_to_those_of_older_versions_is_decoded_again() -> None:
    request = ADAPTER.decode_request(OLDER)
    request.messages[1].contents.append(FunctionCallContent(call_id="c3", name="f", arguments={}))
    again = ADAPTER.decode_request(ADAPTER.encode_request(request).payload)
    assert [call.call_id for call in again.messages[1].contents] == ["c1", "c2", "c3"]


@pytest.mark.parametrize("target", PROVIDERS)
def test_calls_of_joined_streams_have_their_arguments(target: str) -> None:
    calls = [one for one in contents_of(ADAPTER.decode_request(JOINED).messages) if hasattr(one, "arguments")]
    assert [call.arguments for call in calls] == [{"query": "q"}, {"at": "Oslo"}, {"at": "Oslo"}, '{"b": 2}']
    payload = convert(JOINED, target=target, source=API, kind="request").payload
    again = contents_of(contentmodel.adapter(target).decode_request(payload).messages)
    sent = [one for one in again if isinstance(one, FunctionCallContent) and one.name == "look"]
    assert [call.arguments_object for call in sent] == [{"at": "Oslo"}] * 2


@pytest.mark.parametrize("target", ["anthropic-messages", "openai-responses"])
def test_providers_get_no_keys_that_join_streams(target: str) -> None:
    payload = convert(JOINED, target=target, source=API, kind="request").payload
    assert not any(f'"{key}"' in json.dumps(payload) for key in ("index", "partial_json", "toolset_name"))


def test_items_of_openai_beside_the_content_are_sent_to_it() -> None:
    beside = BESIDE[1]["additional_kwargs"]
    encoded = convert(BESIDE, target="openai-responses", source=API, kind="request")
    items = [without_index(item) for item in (beside["reasoning"], *beside["tool_outputs"])]
    assert encoded.payload["input"][1:4] == items
    assert {loss.kind for loss in encoded.losses} == {"insignificant"}
    encoded = convert(BESIDE, target="openai-chat", source=API, kind="request")
    path = "$[1].additional_kwargs"
    assert {f"{path}.reasoning.summary[1]", f"{path}.tool_outputs[1]"} <= {loss.path for loss in encoded.losses}


def test_files_have_the_names_of_their_blocks() -> None:
    payload = convert(HOSTS, target="openai-responses", source=API, kind="request").payload
    assert [part["filename"] for part in payload["input"][0]["content"]] == ["a.pdf", "b.pdf"]


def test_blocks_of_mistral_are_sent_to_it_unchanged() -> None:
    payload = convert(HOSTS, target="mistral-chat", source=API, kind="request").payload
    assert payload["messages"][1]["content"] == HOSTS[1]["content"]


@pytest.mark.parametrize("target", ["anthropic-messages", "bedrock-converse"])
def test_signed_reasoning_of_claude_at_bedrock_is_sent(target: str) -> None:
    model = HOSTS[3]["response_metadata"]["model_name"]
    payload = convert(HOSTS, target=target, source=API, kind="request", model=model).payload
    block = payload["messages"][3]["content"][0]
    expected = HOSTS[3]["content"][0]["reasoning_content"]
    assert block == (
        {"reasoningContent": {"reasoningText": expected}}
        if target == "bedrock-converse"
        else {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    )


def test_code_tool_of_gemini_is_sent_to_it() -> None:
    payload = convert(CODE, target="google-generate-content", source=API, kind="request").payload
    assert payload["contents"][1]["parts"] == [
        {"thought": True, "text": "Hm.", "thoughtSignature": "c2ln"},
        {"executableCode": {"code": "print(1)", "language": "PYTHON"}},
        {"codeExecutionResult": {"id": "call_1", "outcome": "OUTCOME_OK", "output": "1"}},
        {"text": "One."},
    ]


def without_index(value: Any) -> Any:
    if isinstance(value, list):
        return [without_index(item) for item in value]
    return {k: without_index(v) for k, v in value.items() if k != "index"} if isinstance(value, dict) else value


def test_edit_of_a_joined_call_is_encoded() -> None:
    request = ADAPTER.decode_request(JOINED)
    contents = request.messages[1].contents
    contents[3] = msgspec.structs.replace(contents[3], arguments={"at": "Bergen"})
    written = ADAPTER.encode_request(request).payload[1]
    assert written["content"][3] == {"type": "tool_use", "id": "tu_1", "name": "look", "input": {"at": "Bergen"}}
    assert written["content"][:3] == JOINED[1]["content"][:3]
    assert written["tool_calls"][0]["args"] == {"at": "Bergen"}


@pytest.mark.parametrize("block", [{"partial_json": '{"a": 1}', "index": 1}, {"partial_json": "{"}, {"index": 0}])
@pytest.mark.parametrize("said", [{}, {"b": 1}, '{"c": 1}', "{", None, 3])
def test_joined_calls_without_a_repetition_are_encoded_unchanged(block: dict[str, Any], said: Any) -> None:
    payload = [{"type": "ai", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": said, **block}]}]
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload


@pytest.mark.parametrize("metadata", ["x", ["abcd"], 3, None, []])
def test_metadata_that_are_no_object_are_encoded_unchanged(metadata: Any) -> None:
    payload = [{"type": "ai", "content": "x", "tool_calls": [], "response_metadata": metadata}]
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload


ANTHROPIC = {
    "model": "claude-opus-4-8",
    "messages": [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "tool_use", "id": "tu_1", "name": "look", "input": {"at": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "tu_1", "is_error": True, "content": "Fog."},
                {"type": "text", "text": "Again."},
            ],
        },
    ],
}


def test_conversation_of_anthropic_is_written_with_standard_blocks() -> None:
    encoded = convert(ANTHROPIC, target=API, kind="request")
    call = {"type": "tool_call", "id": "tu_1", "name": "look", "args": {"at": "Oslo"}}
    reasoning = {"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "c2ln"}}
    about = {"model_provider": "anthropic", "model_name": "claude-opus-4-8", "output_version": "v1"}
    assert [message["data"] for message in encoded.payload] == [
        {"type": "human", "content": "Look."},
        {"type": "ai", "content": [reasoning, call], "tool_calls": [call], "response_metadata": about},
        {"type": "tool", "tool_call_id": "tu_1", "status": "error", "content": "Fog."},
        {"type": "human", "content": "Again."},
    ]
    assert [loss.path for loss in encoded.losses if loss.kind != "insignificant"] == ["$.model"]
    assert [block["type"] for block in messages_from_dict(encoded.payload)[1].content_blocks] == [
        "reasoning",
        "tool_call",
    ]


@pytest.mark.parametrize("api", PROVIDERS)
def test_library_reads_encoded_conversations_of_each_api(api: str) -> None:
    conversation = convert(PLAIN, target=api, source=API, kind="request").payload
    written = convert(conversation, target=API, source=api, kind="request").payload
    messages = messages_from_dict(written)
    assert ADAPTER.encode_request(ADAPTER.decode_request(written)).payload == written
    assert [message.type for message in messages] == ["system", "human", "ai", "tool", "tool", "ai"]
    again = [message["role"] for message in convert_to_openai_messages(messages)]
    assert again == ["system", "user", "assistant", "tool", "tool", "assistant"]


def test_dump_with_constructors_is_loaded_by_the_library() -> None:
    messages = [HumanMessage("hi"), AIMessage("hello")]
    request = ADAPTER.decode_request(dumpd(messages))
    request.messages.append(user("new"))
    written = ADAPTER.encode_request(request).payload
    assert load(written, allowed_objects="messages") == [*messages, HumanMessage("new")]


# -- the bridge --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_objects_survive_conversion_to_messages_and_back(conversation: list[dict[str, Any]]) -> None:
    messages = objects(conversation)
    assert to_langchain(from_langchain(messages)) == messages


def test_messages_of_the_application_become_objects() -> None:
    losses: list[Any] = []
    made = to_langchain([contentmodel.system("Be brief."), user("hi"), assistant("hello")], losses=losses)
    assert made == [SystemMessage("Be brief."), HumanMessage("hi"), AIMessage("hello")]
    assert losses == []
    assert to_langchain([]) == []


def test_messages_of_langchain_and_of_others_may_be_in_one_list() -> None:
    chat = [HumanMessage("hi"), AIMessage("hello", response_metadata={"logprobs": [1]})]
    other = contentmodel.adapter("anthropic-messages").decode_request(ANTHROPIC).messages[1]
    assert to_langchain([*from_langchain(chat), other])[:2] == chat


CHAT: list[BaseMessage] = [
    HumanMessage("Weather?", id="h1"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Oslo"}, "id": "call_1", "type": "tool_call"}]),
    ToolMessage("Sunny.", tool_call_id="call_1", artifact=[1]),
    AIMessage("It is sunny.", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
]


@pytest.mark.parametrize("one_by_one", [False, True])
def test_history_returns_the_messages_that_were_added(one_by_one: bool) -> None:
    with TurnStore.open(":memory:") as store:
        history = TurnStoreHistory(store, "c")
        assert history.messages == []
        history.clear()
        for messages in [[message] for message in CHAT] if one_by_one else [CHAT]:
            history.add_messages(messages)
        assert history.messages == CHAT
        history.add_user_message("And tomorrow?")
        history.add_ai_message("Rain.")
        assert [message.content for message in history.messages[4:]] == ["And tomorrow?", "Rain."]
        assert TurnStoreHistory(store, "other").messages == []
        history.clear()
        assert history.messages == []


@pytest.mark.parametrize("chat", [[AIMessage("")], [HumanMessage(""), AIMessage("")] * 2])
def test_messages_without_contents_become_equal_objects_again(chat: list[BaseMessage]) -> None:
    assert to_langchain(from_langchain(chat)) == chat
    history = TurnStoreHistory(TurnStore.open(":memory:"), "c")
    history.add_messages(chat)
    assert history.messages == chat


def test_conversation_without_contents_becomes_an_empty_list() -> None:
    losses: list[contentmodel.Loss] = []
    assert to_langchain([ChatMessage(role="assistant", message_id="m1")], losses=losses) == []
    assert [loss.path for loss in losses] == ["$.messages[0].message_id"]


def test_async_methods_of_a_history_use_the_store_in_a_thread(tmp_path: Any) -> None:
    async def run() -> list[BaseMessage]:
        await history.aadd_messages(CHAT)
        return await history.aget_messages()

    with TurnStore.open(tmp_path / "h.db") as store:
        history = TurnStoreHistory(store, "c")
        assert asyncio.run(run()) == CHAT


def test_async_history_returns_the_messages_that_were_added() -> None:
    async def run() -> None:
        async with await AsyncTurnStore.open(":memory:") as store:
            history = AsyncTurnStoreHistory(store, "c")
            await history.aclear()
            assert await history.aget_messages() == []
            await history.aadd_messages(CHAT)
            assert await history.aget_messages() == CHAT
            for call in (lambda: history.messages, lambda: history.add_messages(CHAT), history.clear):
                with pytest.raises(TypeError, match="AsyncTurnStore"):
                    call()
            await history.aclear()
            assert await history.aget_messages() == []

    asyncio.run(run())


def test_request_of_langchain_keeps_its_messages_in_a_store() -> None:
    request = ADAPTER.decode_request(BLOCKS)
    rows = contentmodel.adapter("turn-blocks").encode_request(request).payload
    stored = contentmodel.adapter("turn-blocks").decode_request(rows)
    assert ADAPTER.encode_request(ChatRequest(messages=stored.messages)).payload == BLOCKS


def test_state_has_the_form_that_the_packages_of_providers_send_back() -> None:
    """They decode standard base64, and join the parts of a reasoning item by its id, with the state of the first."""
    image = {"inlineData": {"mimeType": "image/png", "data": "-_-_-w"}}
    result = {"functionResponse": {"name": "f", "response": {"output": "x"}, "parts": [image]}}
    call = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "-_-_-w"}
    gemini = {"contents": [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result, image]}]}
    text = json.dumps(convert(gemini, source="google-generate-content", target=API, kind="request").payload)
    assert (text.count("+/+/+w=="), text.count("-_-_")) == (3, 0)
    summary = [{"type": "summary_text", "text": text} for text in ("One.", "Two.")]
    item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j"}
    made = convert({"input": [item]}, source="openai-responses", target=API, kind="request").payload
    assert made[-1]["data"]["content"] == [
        {"type": "reasoning", "reasoning": "One.", "extras": {"encrypted_content": "ZW5j"}, "id": "rs_1"},
        {"type": "reasoning", "reasoning": "Two.", "id": "rs_1"},
    ]


@pytest.mark.parametrize(
    ("content", "field", "role"),
    [
        (ReasoningContent(text="Hm.", kind="summary"), "kind", "assistant"),
        (DataContent(data="aGk=", media_type="image/png", protected=SEALED), "protected", "user"),
        (McpServerToolResultContent(call_id="srv_1", server="weather"), "server", "assistant"),
        (WebSearchToolResultContent(call_id="srv_1", artifact={"rows": 1}), "artifact", "assistant"),
    ],
)
def test_fields_that_messages_cannot_have_are_losses(content: Any, field: str, role: str) -> None:
    origin = Origin(api="openai-responses", issuer="openai")
    call = HostedToolCallContent(call_id="srv_1", name="lookup")
    contents = [call, content] if hasattr(content, "call_id") else [content]
    message = ChatMessage(role=role, contents=contents, origin=origin)
    losses = ADAPTER.encode_request(ChatRequest(messages=[message])).losses
    assert f"$.messages[0].contents[{len(contents) - 1}].{field}" in [loss.path for loss in losses]


@pytest.mark.parametrize("kind", [ShellToolCallContent, TextEditorToolCallContent, MapsToolCallContent])
def test_hosted_tools_keep_their_classes(kind: Any) -> None:
    name = content_tag(kind.__name__).removesuffix("_tool_call")
    call = kind(call_id="srv_1", name=name, arguments={})
    message = ChatMessage(role="assistant", contents=[call, result_type(call)(call_id="srv_1")])
    decoded = ADAPTER.decode_request(ADAPTER.encode_request(ChatRequest(messages=[message])).payload)
    assert [type(content) for content in decoded.messages[0].contents] == [kind, result_type(call)]


@pytest.mark.parametrize("is_bare", [True, False])
def test_the_only_conversation_of_a_batch_is_read(is_bare: bool) -> None:
    """Callbacks and the runs of LangSmith have a list of conversations."""
    said = {"content": "Hi.", "type": "human", "score": 1}
    message = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": said,
    }
    payload: Any = [[message]] if is_bare else {"messages": [[message]]}
    assert contentmodel.detect(payload) == (API, "request")
    request = contentmodel.adapter(API).decode_request(payload)
    assert [one.text for one in request.messages] == ["Hi."]
    assert contentmodel.adapter(API).encode_request(request).payload == payload
    converted = contentmodel.convert(payload, source=API, target="openai-chat")
    path = "$[0][0].kwargs.score" if is_bare else "$.messages[0][0].kwargs.score"
    assert path in {loss.path for loss in converted.losses}
    assert contentmodel.audit(payload, converted) == []


def test_fields_with_the_names_of_older_calls_stay_fields() -> None:
    message = {"type": "ai", "tool_calls": [{"type": "tool_call"}], "older_calls": [{"type": "function"}]}
    payload = [message, {"type": "human", "data": {"type": "human", "content": "Hi."}}]
    adapter = contentmodel.adapter(API)
    assert adapter.encode_request(adapter.decode_request(payload)).payload == payload


def test_output_of_a_server_that_is_no_text_stays_a_standard_block() -> None:
    call = {"type": "server_tool_call", "name": "remote_mcp", "id": "mcp_1", "args": {}, "extras": {"tool_name": "f"}}
    result = {
        "type": "server_tool_result",
        "tool_call_id": "mcp_1",
        "output": [{"text": "It rains."}],
        "status": "success",
    }
    metadata = {"model_provider": "openai"}
    payload = [
        {"type": "ai", "content": [call, result], "response_metadata": metadata},
        {"type": "human", "content": "q"},
    ]
    assert contentmodel.check(payload, api=API) == []


def test_standard_blocks_of_a_stream_are_those_of_anthropic() -> None:
    call = {"type": "server_tool_call", "name": "web_search", "args": {"query": "q"}, "id": "s1", "index": 0}
    page = {"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "E"}
    given = {"type": "server_tool_result", "tool_call_id": "s1", "status": "success", "output": [page], "index": 1}
    given["extras"] = {"block_type": "web_search_tool_result"}
    metadata = {"model_provider": "anthropic", "output_version": "v1"}
    asked = {"type": "human", "content": "q"}
    messages = [asked, {"type": "ai", "content": [call, given], "response_metadata": metadata}, asked]
    sent = convert(messages, source=API, target="anthropic-messages", kind="request", model="claude-opus-4-8").payload
    assert [block["type"] for block in sent["messages"][1]["content"]] == ["server_tool_use", "web_search_tool_result"]
    assert convert(messages, source=API, target=API, kind="request").payload == messages


def _of_anthropic(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    metadata = {"output_version": "v1", "model_provider": "anthropic"}
    return [
        {"type": "human", "content": "Hi."},
        {"type": "ai", "content": [*blocks], "response_metadata": metadata},
        {"type": "human", "content": "Go on."},
    ]


def test_result_of_a_server_without_a_status_is_encoded_unchanged() -> None:
    block = {"type": "server_tool_result", "tool_call_id": "s1", "extras": {"block_type": "mcp_tool_result"}}
    payload = _of_anthropic(block)
    adapter = contentmodel.adapter(API)
    assert adapter.encode_request(adapter.decode_request(payload)).payload == payload


def test_hosted_tool_beside_a_blank_text_is_sent_to_its_provider() -> None:
    page = {"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "E"}
    call = {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": {"query": "q"}}
    extras = {"block_type": "web_search_tool_result"}
    result = {
        "type": "server_tool_result",
        "tool_call_id": "s1",
        "status": "success",
        "output": [page],
        "extras": extras,
    }
    payload = _of_anthropic({"type": "text", "text": " "}, call, result)
    made: Any = convert(payload, source="langchain-messages", target="anthropic-messages", kind="request").payload
    assert [block["type"] for block in made["messages"][1]["content"]] == ["server_tool_use", "web_search_tool_result"]


def test_unknown_field_of_an_empty_cited_text_is_reported() -> None:
    cited = {"type": "citation", "cited_text": "a", "title": "A", "url": "https://a.example"}
    payload = _of_anthropic(
        {"type": "text", "text": "", "annotations": [cited], "x_field": "x"}, {"type": "text", "text": "A"}
    )
    made = convert(payload, source="langchain-messages", target="google-generate-content", kind="request")
    assert audit(payload, made) == []
