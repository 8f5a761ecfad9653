"""Fields of hosts and gateways of Chat Completions: state, reasoning, sources, counters, and their detection."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest

import contentmodel
from contentmodel import (
    FunctionCallContent,
    ReasoningContent,
    TextContent,
    convert,
    convert_stream,
    detect,
    fold_stream,
)
from contentmodel.content.base import Protected
from contentmodel.literals import Policies
from contentmodel_adapters.openai.chat.hosts import DIALECTS
from contentmodel_adapters.openai.chat.messages import REASONING_FIELDS
from test_dialects import ANTHROPIC, CALL, CHAT, GOOGLE, LITELLM, answer, request
from test_events import chunk, lawful, sse

SIGNATURE = "U0lHTkFUVVJF"
SIGNED = Protected(issuer="google", kind="signature", data=SIGNATURE)


# -- LiteLLM -----------------------------------------------------------------------------------------------------------

FIELDS = {"provider_specific_fields": {"thought_signature": SIGNATURE}}
MARKED = f"call_1__thought__{SIGNATURE}"
SIGNED_CALLS: dict[str, Any] = {
    "fields": {**CALL, **FIELDS},
    "fields and id": {**CALL, "id": MARKED, **FIELDS},
    "inner fields": {**CALL, "function": {**CALL["function"], **FIELDS}},
    "id": {**CALL, "id": MARKED},
}


@pytest.mark.parametrize("place", SIGNED_CALLS)
def test_signature_of_a_call_is_read_from_each_place_of_litellm(place: str) -> None:
    call = SIGNED_CALLS[place]
    payload = request("gemini/gemini-3-pro", content=None, tool_calls=[call])
    payload["messages"][2] = {**payload["messages"][2], "tool_call_id": call["id"]}
    decoded = CHAT.decode_request(payload)
    made = decoded.messages[1].contents[0]
    assert isinstance(made, FunctionCallContent)
    assert (made.call_id, made.protected) == (call["id"], SIGNED)
    assert CHAT.encode_request(decoded).payload == payload
    there = convert(payload, source="openai-chat", target=GOOGLE).payload
    assert there["contents"][1]["parts"][0]["thoughtSignature"] == SIGNATURE


def test_signature_of_a_streamed_call_of_litellm_reaches_gemini() -> None:
    call = {"index": 0, **SIGNED_CALLS["fields and id"]}
    stream = sse(chunk({"role": "assistant", "tool_calls": [call]}), chunk({}, finish="tool_calls"))
    lawful("openai-chat", stream)
    assert fold_stream(stream, "openai-chat").messages[0].contents[0].protected == SIGNED
    made = b"".join(convert_stream([stream], source="openai-chat", target=GOOGLE))
    assert SIGNATURE.encode() in made


def test_signatures_of_gemini_are_in_the_fields_that_litellm_reads() -> None:
    parts = [
        {"text": "Look.", "thoughtSignature": "VEVYVA=="},
        {"functionCall": {"id": "call_1", "name": "look_up", "args": {}}, "thoughtSignature": SIGNATURE},
    ]
    result = {"functionResponse": {"id": "call_1", "name": "look_up", "response": {"output": "A cat."}}}
    contents = [
        {"role": "user", "parts": [{"text": "Which?"}]},
        {"role": "model", "parts": parts},
        {"role": "user", "parts": [result]},
    ]
    there = convert({"contents": contents}, source=GOOGLE, target="openai-chat", model="gemini-3-pro", policies=LITELLM)
    message = there.payload["messages"][1]
    assert message["provider_specific_fields"] == {"thought_signatures": ["VEVYVA=="]}
    assert message["tool_calls"][0]["provider_specific_fields"] == {"thought_signature": SIGNATURE}
    assert b"extra_content" not in there.to_json()
    back = convert(there.payload, source="openai-chat", target=GOOGLE).payload
    assert back["contents"] == contents


def test_signature_of_a_text_of_litellm_is_kept_beside_its_other_fields() -> None:
    fields = {"thought_signatures": [SIGNATURE], "other": 1}
    payload = answer(content="Hello.", provider_specific_fields=fields)
    decoded = CHAT.decode_response(payload)
    assert [content.protected for content in decoded.messages[0].contents] == [SIGNED, None]
    assert CHAT.encode_response(decoded).payload == payload


@pytest.mark.parametrize("place", SIGNED_CALLS)
def test_listed_signature_of_a_call_is_not_one_of_the_text(place: str) -> None:
    fields = {"thought_signatures": [SIGNATURE]}
    payload = answer(content="Hello.", tool_calls=[SIGNED_CALLS[place]], provider_specific_fields=fields)
    decoded = CHAT.decode_response(payload)
    text, call = decoded.messages[0].contents
    assert (text, call.protected) == (TextContent(text="Hello."), SIGNED)
    assert CHAT.encode_response(decoded).payload == payload


# -- Databricks --------------------------------------------------------------------------------------------------------

CLAUDE = "us.anthropic.claude-3-7-sonnet-20250219-v1:0"
TEXT = {"type": "text", "text": "Hello."}


def reasoning(*summaries: dict[str, Any]) -> dict[str, Any]:
    """Return a part of reasoning of Databricks."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", **summary} for summary in summaries]}


@pytest.mark.parametrize(
    ("summaries", "text", "signature"),
    [
        ([{"text": "Look.", "signature": "EqRf"}], "Look.", "EqRf"),
        ([{"text": "Look."}], "Look.", None),
        ([{"text": "Look.", "signature": ""}], "Look.", None),
        ([{"text": "Lo"}, {"text": "ok.", "signature": "EqRf"}], "Look.", "EqRf"),
    ],
)
def test_reasoning_of_databricks_is_read_with_its_signature(
    summaries: list[dict[str, Any]], text: str, signature: str | None
) -> None:
    payload = {**answer(content=[reasoning(*summaries), TEXT]), "model": CLAUDE}
    decoded = CHAT.decode_response(payload)
    thought, _ = decoded.messages[0].contents
    assert isinstance(thought, ReasoningContent)
    assert thought.text == text
    assert (thought.protected and thought.protected.data) == signature
    assert CHAT.encode_response(decoded).payload == payload
    there = convert(payload, source="openai-chat", target=ANTHROPIC).payload
    thinking = [{"type": "thinking", "thinking": text, "signature": signature}] if signature else []
    assert there["content"] == [*thinking, TEXT]


def test_changed_reasoning_of_databricks_is_written_in_one_summary() -> None:
    payload = {**answer(content=[reasoning({"text": "Lo"}, {"text": "ok."}), TEXT]), "model": CLAUDE}
    decoded = CHAT.decode_response(payload)
    message = decoded.messages[0]
    message.contents[0] = contentmodel.ReasoningContent(text="See.", extra=message.contents[0].extra)
    made = CHAT.encode_response(decoded).payload["choices"][0]["message"]["content"]
    assert made == [reasoning({"text": "See."}), TEXT]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "reasoning", "summary": []},
        {"type": "reasoning"},
        reasoning({"text": "a", "signature": "b"}, {"text": "c", "signature": "d"}),
        reasoning({"text": "a", "other": 1}),
    ],
)
def test_other_reasoning_parts_are_unknown_and_kept(part: dict[str, Any]) -> None:
    payload = answer(content=[part, TEXT])
    assert CHAT.encode_response(CHAT.decode_response(payload)).payload == payload


def test_streamed_reasoning_of_databricks_is_one_part() -> None:
    deltas: list[Any] = [
        [reasoning({"text": "Lo", "signature": ""})],
        [reasoning({"text": "ok.", "signature": ""})],
        [reasoning({"text": "", "signature": "EqRf"})],
        [{"type": "text", "text": "Hel"}],
        [{"type": "text", "text": "lo."}],
    ]
    chunks = [{**chunk({"content": delta}), "model": CLAUDE} for delta in deltas]
    stream = sse(*chunks, chunk({}, finish="stop"))
    lawful("openai-chat", stream)
    folded = fold_stream(stream, "openai-chat")
    message = CHAT.encode_response(folded).payload["choices"][0]["message"]
    assert message["content"] == [reasoning({"text": "Look.", "signature": "EqRf"}), TEXT]
    made = b"".join(convert_stream([stream], source="openai-chat", target=ANTHROPIC))
    assert fold_stream(made, ANTHROPIC).messages[0].contents[0].protected == Protected(
        issuer="anthropic", kind="signature", data="EqRf"
    )


# -- repeated reasoning ------------------------------------------------------------------------------------------------


def test_reasoning_in_two_fields_is_one_thought() -> None:
    payload = answer(reasoning="Look.", reasoning_content="Look.", content="Hello.")
    decoded = CHAT.decode_response(payload)
    assert [content.__class__ for content in decoded.messages[0].contents] == [ReasoningContent, TextContent]
    assert CHAT.encode_response(decoded).payload == payload


def test_different_texts_of_reasoning_are_two_thoughts() -> None:
    decoded = CHAT.decode_response(answer(reasoning="Look.", reasoning_content="See.", content="Hello."))
    assert len(decoded.messages[0].contents) == 3


def test_streamed_reasoning_in_two_fields_is_one_thought() -> None:
    stream = sse(
        *(chunk({"reasoning": text, "reasoning_content": text}) for text in ("Lo", "ok.")),
        chunk({"content": "Hello."}),
        chunk({}, finish="stop"),
    )
    lawful("openai-chat", stream)
    contents = fold_stream(stream, "openai-chat").messages[0].contents
    assert [content.__class__ for content in contents] == [ReasoningContent, TextContent]
    made = b"".join(
        convert_stream([stream], source="openai-chat", target="ollama-chat", policies={"reasoning": "text"})
    )
    assert made.count(b"ok.") == 1


# -- detection ---------------------------------------------------------------------------------------------------------

QUESTION = {"role": "user", "content": "Which?"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
GROQS = {"citation_options": "enabled", "documents": [{"id": "1", "source": {"type": "text", "text": "A cat."}}]}


@pytest.mark.parametrize(
    "payload",
    [
        {"messages": [QUESTION, {"role": "assistant", "content": "", "images": [IMAGE]}, QUESTION]},
        {"messages": [QUESTION], **GROQS},
        {"messages": [QUESTION], "documents": [{"title": "Cats", "text": "A cat."}]},
        {"messages": [QUESTION, {"role": "assistant", "content": "A cat [1].", "citations": ["https://example.org"]}]},
    ],
)
def test_fields_of_hosts_do_not_make_a_request_of_another_api(payload: dict[str, Any]) -> None:
    assert detect({"model": "m", **payload}) == ("openai-chat", "request")


@pytest.mark.parametrize(
    ("api", "payload"),
    [
        ("ollama-chat", {"messages": [{**QUESTION, "images": ["iVBORw0KGgo="]}]}),
        ("cohere-chat", {"messages": [QUESTION], "documents": ["A cat."]}),
        ("cohere-chat", {"messages": [QUESTION], "documents": [{"id": "1", "data": {"text": "A cat."}}]}),
        ("cohere-chat", {"messages": [QUESTION], "citation_options": {"mode": "fast"}}),
    ],
)
def test_fields_of_other_apis_identify_them(api: str, payload: dict[str, Any]) -> None:
    assert detect({"model": "m", **payload}) == (api, "request")


# -- sources -----------------------------------------------------------------------------------------------------------

URL = "https://example.org/cats"
DATA_SOURCES = {"citations": [{"content": "A cat.", "title": "Cats", "url": URL, "chunk_id": "0"}], "intent": "cats"}
SOURCES: dict[str, Any] = {
    "web_search": [{"title": "Cats", "link": URL, "content": "A cat.", "refer": "ref_1"}],
    "search_info": {"search_results": [{"index": 1, "title": "Cats", "url": URL}], "other": 1},
}


@pytest.mark.parametrize("field", [*SOURCES, "context"])
def test_listed_sources_are_citations_of_the_text(field: str) -> None:
    payload = answer(content="A cat.", context=DATA_SOURCES) if field == "context" else answer(content="A cat.")
    payload |= {field: SOURCES[field]} if field in SOURCES else {}
    decoded = CHAT.decode_response(payload)
    citation, *others = decoded.messages[0].contents[0].annotations or []
    assert not others
    assert (citation.url, citation.title) == (URL, "Cats")
    assert CHAT.encode_response(decoded).payload == payload
    output = convert(payload, source="openai-chat", target="openai-responses").payload["output"]
    assert output[0]["content"][0]["annotations"][0]["url"] == URL


def test_data_sources_of_a_message_in_a_request_are_kept() -> None:
    payload = request("gpt-4o", content="A cat.", context=DATA_SOURCES)
    assert CHAT.encode_request(CHAT.decode_request(payload)).payload == payload


CALL_DELTA = {"tool_calls": [{"index": 0, **CALL}]}


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk({"context": DATA_SOURCES}), chunk({"content": "A cat."})],
        [chunk({"content": "A cat."}), chunk(CALL_DELTA), chunk({"context": DATA_SOURCES})],
        [chunk({"content": "A cat."}), {**chunk({}), "web_search": SOURCES["web_search"]}],
        [{**chunk({"content": text}), "search_info": SOURCES["search_info"]} for text in ("A ", "cat.")],
    ],
)
def test_streamed_sources_are_those_of_the_answer(chunks: list[Any]) -> None:
    stream = sse(*chunks, chunk({}, finish="stop"))
    lawful("openai-chat", stream)
    folded = fold_stream(stream, "openai-chat")
    assert [citation.url for citation in folded.messages[0].contents[0].annotations or ()] == [URL]
    again = b"".join(convert_stream([stream], source="openai-chat", target="openai-chat"))
    assert fold_stream(again, "openai-chat").messages == folded.messages


# -- counters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", ["cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens"])
def test_tokens_written_to_a_cache_are_read_from_the_field_of_each_host(written: str) -> None:
    counted = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    usage = {**counted, "prompt_tokens_details": {"cached_tokens": 3, written: 4, "cache_type": "ephemeral"}}
    payload = {**answer(content="Hello."), "usage": usage}
    decoded = CHAT.decode_response(payload)
    assert decoded.usage is not None
    assert (decoded.usage.cache_read_tokens, decoded.usage.cache_write_tokens) == (3, 4)
    assert CHAT.encode_response(decoded).payload == payload
    there = convert(payload, source="openai-chat", target=ANTHROPIC).payload["usage"]
    assert (there["input_tokens"], there["cache_creation_input_tokens"]) == (2, 4)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [("eos", "stop"), ("eos_token", "stop"), ("stop_sequence", "stop"), ("insufficient_system_resource", "error")],
)
def test_finish_reason_of_a_host_is_normalized(raw: str, reason: str) -> None:
    payload = answer(content="Hello.")
    payload["choices"][0]["finish_reason"] = raw
    decoded = CHAT.decode_response(payload)
    assert decoded.choices[0].finish_reason is not None
    assert decoded.choices[0].finish_reason.reason == reason
    assert CHAT.encode_response(decoded).payload == payload


@pytest.mark.parametrize(
    ("name", "sent"),
    [("Ann Lee", "Ann_Lee"), ("a < b | c", "a_b_c"), ("Zoë", "Zoë"), ("x" * 70, "x" * 64), (" ", "_")],
)
def test_names_of_authors_get_characters_that_the_api_accepts(name: str, sent: str) -> None:
    document = [{"type": "ai", "data": {"type": "ai", "content": "Hi", "name": name}}]
    encoded = convert(document, source="langchain-messages", target="openai-chat", model="gpt-5.2", kind="request")
    assert encoded.payload["messages"][-1]["name"] == sent
    assert ("author-name" in {loss.code for loss in encoded.losses}) is (name != sent)
    assert contentmodel.check(encoded.payload, api="openai-chat") == []


# -- rows of hosts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DIALECTS)
def test_reasoning_field_of_a_host_is_one_that_the_table_and_the_policy_know(name: str) -> None:
    field = DIALECTS[name].reasoning
    known = (
        {*REASONING_FIELDS} & {*contentmodel.POLICIES["reasoning"]} & {*get_args(get_type_hints(Policies)["reasoning"])}
    )
    assert field is None or field in known
