"""Laws of opaque values, of values that others imply, and of restored values."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    HostedTool,
    Origin,
    ResponseFormat,
    TextContent,
    UriContent,
)
from contentmodel.content import CustomToolCallContent, CustomToolResultContent, WebSearchToolCallContent
from contentmodel_conformance import by_itself, fairness, laws, voices
from contentmodel_conformance.checks.streams import _has_halves
from contentmodel_conformance.mutants.broken import Broken
from contentmodel_conformance.readers.reading import Reading

# -- opacity -----------------------------------------------------------------------------------------------------------


class _Leaks(Broken):
    """Write protected data of another issuer into requests."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        return {**payload, "metadata": {"user_id": value.messages[0].contents[0].protected.data}}


def test_opacity_finds_protected_data_whatever_its_field_name() -> None:
    """The name of the field is `data`."""
    sealed = {"type": "reasoning.encrypted", "data": "c2VhbGVk", "format": "openai-responses-v1"}
    payload = {"model": "m", "messages": [{"role": "assistant", "content": "x", "reasoning_details": [sealed]}]}
    target = contentmodel.adapter("anthropic-messages")
    laws.opacity(contentmodel.adapter("openai-chat"), target, "request", payload)
    with pytest.raises(laws.LawBroken, match="only openai can read"):
        laws.opacity(contentmodel.adapter("openai-chat"), _Leaks(target), "request", payload)


def test_opacity_allows_a_file_with_the_bytes_of_a_signature() -> None:
    signed = {"type": "thinking", "thinking": "Hm.", "signature": "AAAAAAAA"}
    file = {"type": "base64", "media_type": "application/pdf", "data": "AAAAAAAA"}
    messages = [
        {"role": "user", "content": [{"type": "document", "source": file}]},
        {"role": "assistant", "content": [signed, {"type": "text", "text": "Done."}]},
        {"role": "user", "content": "More?"},
    ]
    payload = {"model": "claude-opus-4-8", "max_tokens": 100, "messages": messages}
    source, target = contentmodel.adapter("anthropic-messages"), contentmodel.adapter("openai-responses")
    laws.opacity(source, target, "request", payload)


# -- section -----------------------------------------------------------------------------------------------------------

GOOGLE = contentmodel.adapter("google-generate-content")


def asked(*contents: Any, tools: tuple[Any, ...] = ()) -> ChatRequest:
    return ChatRequest(model="m", messages=[ChatMessage(role="user", contents=[*contents])], tools=[*tools])


class _WritesTextFiles(Broken):
    """Change the media type of a link to one of another kind."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        link = {"fileUri": value.messages[0].contents[0].uri, "mimeType": "text/plain"}
        return {"contents": [{"role": "user", "parts": [{"fileData": link}]}]}


@pytest.mark.parametrize("path", ["a.pdf", "a.png", "papers/7"])
@pytest.mark.parametrize("kind", ["document", "image", "video"])
def test_section_reads_the_kind_of_a_link_from_its_media_type(path: str, kind: str) -> None:
    laws.section(GOOGLE, "request", asked(UriContent(uri=f"https://example.org/{path}", kind=kind)))


def test_section_finds_kind_that_media_type_does_not_imply() -> None:
    request = asked(UriContent(uri="https://example.org/a", kind="video"))
    with pytest.raises(laws.LawBroken, match="video"):
        laws.section(_WritesTextFiles(GOOGLE), "request", request)


@pytest.mark.parametrize("api", contentmodel.adapters())
def test_section_allows_a_missing_format_for_text(api: str) -> None:
    options = ChatOptions(response_format=ResponseFormat(kind="text"))
    request = msgspec.structs.replace(asked(TextContent(text="Hi.")), options=options)
    laws.section(contentmodel.adapter(api), "request", request)


@pytest.mark.parametrize("api", contentmodel.adapters())
@pytest.mark.parametrize("name", ["search", "web_search"])
def test_section_counts_a_hosted_tool_beside_a_function(api: str, name: str) -> None:
    tools = (HostedTool(kind="web_search", name="web_search"), FunctionTool(name=name, parameters={"type": "object"}))
    laws.section(contentmodel.adapter(api), "request", asked(TextContent(text="Look it up."), tools=tools))


# -- restoration -------------------------------------------------------------------------------------------------------


class _LeavesOutTitles(Broken):
    """Leave out the titles of sources."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        for candidate in payload.get("candidates", ()):
            for chunk in candidate.get("groundingMetadata", {}).get("groundingChunks", ()):
                chunk["web"].pop("title", None)
        return payload


def test_restoration_allows_one_source_for_all_its_citations() -> None:
    citation = {
        "type": "web_search_result_location",
        "url": "https://example.org/a",
        "title": "A page",
        "cited_text": "Words.",
        "encrypted_index": "AAAA",
    }
    texts = [{"type": "text", "text": f"Fact {n}.", "citations": [citation]} for n in range(3)]
    answer = {"id": "r", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    payload = {**answer, "content": texts, "usage": {"input_tokens": 1, "output_tokens": 1}}
    source = contentmodel.adapter("anthropic-messages")
    laws.restoration(source, GOOGLE, "response", payload)
    with pytest.raises(laws.LawBroken, match="A page"):
        laws.restoration(source, _LeavesOutTitles(GOOGLE), "response", payload)


# -- pairs of calls and results ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", contentmodel.adapters())
@pytest.mark.parametrize("is_own", [True, False])
def test_pairing_prefers_call_of_name_of_result(api: str, is_own: bool) -> None:
    """A payload of the API itself stays as it is, and Anthropic's results have no names."""
    origin = Origin(api=api if is_own else "smoke-signals", issuer="unknown")
    calls = [FunctionCallContent(call_id="x", name=name, arguments={}) for name in ("look", "look", "read")]
    results = [
        FunctionResultContent(call_id="x", name=name, outputs=[TextContent(text="Done.")]) for name in ("read", "look")
    ]
    messages = [
        ChatMessage(role="user", contents=[TextContent(text="Hi.")], origin=origin),
        ChatMessage(role="assistant", contents=[*calls], origin=origin),
        ChatMessage(role="tool", contents=[*results], origin=origin),
    ]
    fairness.pairing(contentmodel.adapter(api), "request", ChatRequest(model="m", messages=messages))


def test_voices_assign_result_to_call_of_its_tool_if_ids_are_equal() -> None:
    calls = [
        CustomToolCallContent(call_id="x", name="edit", arguments="voice1eciov"),
        FunctionCallContent(call_id="x", name="look", arguments={"tag": "voice2eciov"}),
    ]
    result = CustomToolResultContent(call_id="x", outputs=[TextContent(text="Done.")])
    messages = [ChatMessage(role="assistant", contents=[*calls]), ChatMessage(role="tool", contents=[result])]
    *_, voice = voices.voices_of(ChatRequest(messages=messages))
    assert (voice.content, voice.call) == ("Done.", "voice1eciov")


# -- streams -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("query", "is_half"), [("\ud83d", True), ("\U0001f600", False)])
def test_accumulation_refuses_half_of_surrogate_pair_in_any_call(query: str, is_half: bool) -> None:
    call = WebSearchToolCallContent(call_id="1", arguments={"query": query})
    choice = ChatChoice(messages=[ChatMessage(role="assistant", contents=[call])])
    assert _has_halves((ChatResponse(choices=[choice]), None)) is is_half


# -- each by itself ----------------------------------------------------------------------------------------------------


def test_list_that_is_sent_as_json_text_may_have_an_odd_value() -> None:
    """The details of a retry are a JSON value of the application, and its text has all of them."""
    detail = {"type": "missing", "loc": ["a"], "msg": "Field required", "input": {}}

    def document(*details: Any) -> Any:
        return [{"kind": "request", "parts": [{"part_kind": "retry-prompt", "content": [*details]}]}]

    adapter = contentmodel.adapter("pydantic-ai-messages")
    by_itself.each_by_itself(adapter, "request", (document(detail), document({"x_unknown": 1}, detail)))
    with pytest.raises(laws.LawBroken, match="changes another value"):
        by_itself.each_by_itself(adapter, "request", (document(detail), document({**detail, "msg": "No"})))


def test_weight_takes_a_name_among_finish_reasons_for_no_text() -> None:
    """A request ignores the fields of the response: this is an insignificant loss, unless they have a text."""
    span = {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi."}]}]}
    adapter, target = contentmodel.adapter("otel-gen-ai"), contentmodel.adapter("openai-chat")
    odd = {**span, "gen_ai.response.finish_reasons": [by_itself.MARK]}
    by_itself.weight((lambda kind, payload: Reading(), None), adapter, target, "request", odd)
