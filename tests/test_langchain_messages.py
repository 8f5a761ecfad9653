"""Messages of LangChain: spellings, blocks of providers, calls that stand twice, conversions, and the bridge."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

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
    UnknownContent,
    assistant,
    audit,
    convert,
    detect,
    user,
)
from contentmodel.content import result_type
from contentmodel.content.base import content_tag
from contentmodel.content.hosted import (
    MapsToolCallContent,
    ShellToolCallContent,
    TextEditorToolCallContent,
)
from contentmodel.history import AsyncTurnStore, TurnStore
from contentmodel.langchain import AsyncTurnStoreHistory, TurnStoreHistory, from_langchain, to_langchain
from contentmodel.message import ChatMessage, contents_of
from contentmodel_conformance import laws
from contentmodel_conformance.strategies.damage import with_one_replaced
from langchain_payloads import CONVERSATIONS, LANGCHAIN, STORED, with_data

API = "langchain-messages"
OF_HOSTS = ("cohere-chat", "mistral-chat", "ollama-chat", "vercel-ui-messages", "pydantic-ai-messages")
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
ADAPTER: Any = contentmodel.adapter(API)


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


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_dumps_of_the_library_and_its_objects_are_payloads(conversation: list[dict[str, Any]]) -> None:
    messages = objects(conversation)
    flat = [message.model_dump() for message in messages]
    for dumped in (messages_to_dict(messages), flat, dumpd(messages)):
        assert ADAPTER.encode_request(ADAPTER.decode_request(dumped)).payload == dumped
    assert ADAPTER.encode_request(ADAPTER.decode_request(messages)).payload == messages_to_dict(messages)
    assert detect(messages) == (API, "request")


@pytest.mark.parametrize(
    ("payload", "target"),
    [
        *((payload, target) for payload in LANGCHAIN for target in PROVIDERS),
        *((payload, target) for payload in CONVERSATIONS[-11:] for target in OF_HOSTS),
    ],
)
def test_conversions_to_apis_report_every_loss(payload: Any, target: str) -> None:
    encoded = convert(payload, target=target, source=API, kind="request")
    assert audit(payload, encoded) == []


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}],
        [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": "Yes."}],
    ],
)
def test_blocks_of_a_provider_do_not_hide_the_types_of_messages(content: list[Any]) -> None:
    assert detect([{"type": "ai", "content": content}]) == (API, "request")


@pytest.mark.parametrize("target", ["anthropic-messages", "openai-responses"])
def test_providers_get_no_keys_that_join_streams(target: str) -> None:
    payload = convert(STORED["joined"], target=target, source=API, kind="request").payload
    assert not any(f'"{key}"' in json.dumps(payload) for key in ("index", "partial_json", "toolset_name"))


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


@pytest.mark.parametrize("api", PROVIDERS)
def test_library_reads_encoded_conversations_of_each_api(api: str) -> None:
    conversation = convert(STORED["plain"], target=api, source=API, kind="request").payload
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
    request = ADAPTER.decode_request(STORED["blocks"])
    rows = contentmodel.adapter("turn-blocks").encode_request(request).payload
    stored = contentmodel.adapter("turn-blocks").decode_request(rows)
    assert ADAPTER.encode_request(ChatRequest(messages=stored.messages)).payload == STORED["blocks"]


@pytest.mark.parametrize("kind", [ShellToolCallContent, TextEditorToolCallContent, MapsToolCallContent])
def test_hosted_tools_keep_their_classes(kind: Any) -> None:
    name = content_tag(kind.__name__).removesuffix("_tool_call")
    call = kind(call_id="srv_1", name=name, arguments={})
    message = ChatMessage(role="assistant", contents=[call, result_type(call)(call_id="srv_1")])
    decoded = ADAPTER.decode_request(ADAPTER.encode_request(ChatRequest(messages=[message])).payload)
    assert [type(content) for content in decoded.messages[0].contents] == [kind, result_type(call)]


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
