"""Messages of LangChain's packages for hosts: sources, plans, hosted tools, and reasoning."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import contentmodel
from contentmodel import audit, convert
from contentmodel.content.citations import Citation, Span
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import (
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import UriContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from langchain_hosts import (
    CITED,
    COHERE,
    COHERE_STREAM,
    CONVERSATIONS,
    DETAILS,
    DOCUMENTS,
    EXECUTED,
    FOUND,
    GROQ,
    GROQ_V1,
    LINKS,
    MISTRAL,
    OLLAMA,
    OPENROUTER,
    OPENROUTER_STREAM,
    OPENROUTER_TEXT,
    PERPLEXITY,
    PLAN,
    XAI,
    answer,
    message,
)

API = "langchain-messages"
ADAPTER: Any = contentmodel.adapter(API)


def read(messages: list[Any], at: int = 1) -> ChatMessage:
    decoded: ChatMessage = ADAPTER.decode_request(messages).messages[at]
    return decoded


def sent(messages: list[Any], target: str, **options: Any) -> list[Any]:
    payload: Any = convert(messages, source=API, target=target, kind="request", **options).payload
    listed: list[Any] = payload["messages"]
    return listed


def lost(messages: list[Any], target: str) -> set[tuple[str, str]]:
    losses = convert(messages, source=API, target=target, kind="request").losses
    return {(loss.kind, loss.path) for loss in losses if loss.kind in ("dropped", "degraded")}


def edited(messages: list[Any], at: int, **contents: Any) -> Any:
    """Return the body of a message after an edit of contents: `c0=...` is the first content; None removes it."""
    request = ADAPTER.decode_request(messages)
    made = [contents.get(f"c{index}", content) for index, content in enumerate(request.messages[at].contents)]
    changed = replace(request.messages[at], contents=[content for content in made if content is not None])
    messages = [changed if index == at else one for index, one in enumerate(request.messages)]
    return ADAPTER.encode_request(replace(request, messages=messages)).payload[at]


@pytest.mark.parametrize("messages", CONVERSATIONS)
@pytest.mark.parametrize(
    "target", ["cohere-chat", "mistral-chat", "ollama-chat", "vercel-ui-messages", "pydantic-ai-messages"]
)
def test_conversions_report_every_loss(messages: Any, target: str) -> None:
    assert audit(messages, convert(messages, source=API, target=target, kind="request")) == []


# -- sources -----------------------------------------------------------------------------------------------------------


def test_search_results_of_perplexity_are_citations() -> None:
    (text,) = read(PERPLEXITY).contents
    assert text.annotations is not None
    (citation,) = text.annotations
    assert (citation.url, citation.title, citation.cited_text, citation.span) == (LINKS[0], "E", "Spain", None)
    assert lost(PERPLEXITY, "openai-chat") == {
        ("dropped", "$[1].additional_kwargs.search_results[0]"),
        ("dropped", "$[1].additional_kwargs.images"),
        ("dropped", "$[1].additional_kwargs.related_questions"),
    }


def test_links_of_xai_are_citations() -> None:
    *_, text = read(XAI).contents
    assert [citation.url for citation in text.annotations or ()] == LINKS
    assert sent(XAI, "openai-chat")[1] == {"role": "assistant", "content": "Spain."}
    assert ("dropped", "$[1].additional_kwargs.citations[1]") in lost(XAI, "openai-chat")


def test_links_beside_other_search_results_are_kept() -> None:
    kwargs = {"citations": LINKS, "search_results": [FOUND]}
    messages = [message("human", "a"), answer("b", additional_kwargs=kwargs)]
    assert len(read(messages).contents[0].annotations or ()) == 1
    assert ("dropped", "$[1].additional_kwargs.citations") in lost(messages, "openai-chat")


def test_links_without_a_text_are_kept() -> None:
    messages = [message("human", "a"), answer("", additional_kwargs={"citations": LINKS})]
    assert read(messages).contents == []
    assert ADAPTER.encode_request(ADAPTER.decode_request(messages)).payload == messages


def test_edited_sources_are_written_to_their_lists() -> None:
    text = read(PERPLEXITY).contents[0]
    citations = [replace(one, url=LINKS[1]) for one in text.annotations or ()]
    kwargs = edited(PERPLEXITY, 1, c0=replace(text, annotations=citations))["additional_kwargs"]
    assert kwargs["search_results"] == [{**FOUND, "url": LINKS[1]}]
    assert kwargs["citations"] == [LINKS[1]]


def test_removed_sources_are_not_written() -> None:
    body = edited(PERPLEXITY, 1, c0=TextContent(text="No."))
    assert body["content"] == "No."
    assert {"search_results", "citations"}.isdisjoint(body["additional_kwargs"])


# -- hosted tools ------------------------------------------------------------------------------------------------------


def test_executed_tools_of_groq_are_calls_and_results() -> None:
    reasoning, *tools, text = read(GROQ).contents
    assert isinstance(reasoning, ReasoningContent)
    assert text == TextContent(text="It is 4.")
    assert [tool.__class__ for tool in tools] == [
        WebSearchToolCallContent,
        WebSearchToolResultContent,
        CodeInterpreterToolCallContent,
        CodeInterpreterToolResultContent,
    ]
    found: Any = tools[1]
    assert isinstance(found.outputs[1], UriContent)


def test_executed_tools_are_not_sent_to_chat_completions() -> None:
    assert sent(GROQ, "openai-chat")[1] == {"role": "assistant", "content": "It is 4."}
    assert {("dropped", f"$[1].additional_kwargs.executed_tools[{at}]") for at in range(2)} <= lost(GROQ, "openai-chat")


def test_edited_executed_tool_is_written() -> None:
    call: Any = read(GROQ).contents[1]
    body = edited(GROQ, 1, c1=replace(call, arguments={"query": "r"}))
    assert body["additional_kwargs"]["executed_tools"] == [{**EXECUTED[0], "arguments": '{"query":"r"}'}, EXECUTED[1]]


def test_executed_tools_that_blocks_repeat_are_decoded_once() -> None:
    contents = read(GROQ_V1).contents
    assert len(contents) == 6
    blocks = [block for one in sent(GROQ_V1, "anthropic-messages") for block in one["content"]]
    assert [block["type"] for block in blocks].count("tool_use") == 2


def test_executed_tools_are_removed_with_their_blocks() -> None:
    kwargs = edited(GROQ_V1, 1, c0=None, c3=None, c4=None)["additional_kwargs"]
    assert kwargs == {"reasoning_content": ""}


@pytest.mark.parametrize("tools", [[], [1], [{}], [{"type": "search", "arguments": 1}], [{"type": "search"}, None], {}])
def test_unusual_executed_tools_are_kept(tools: Any) -> None:
    messages = [message("human", "a"), answer("b", additional_kwargs={"executed_tools": tools})]
    assert ADAPTER.encode_request(ADAPTER.decode_request(messages)).payload == messages


# -- reasoning ---------------------------------------------------------------------------------------------------------


def test_details_of_openrouter_are_sent_back() -> None:
    first, second, *_ = read(OPENROUTER).contents
    assert isinstance(first, ReasoningContent)
    assert first.text == "Hm."
    assert first.protected is not None
    assert first.protected.issuer == "anthropic"
    assert isinstance(second, ReasoningContent)
    body = sent(OPENROUTER, "openai-chat")[1]
    assert body["reasoning_details"] == DETAILS
    assert lost(OPENROUTER, "openai-chat") == set()


@pytest.mark.parametrize("messages", [OPENROUTER, OPENROUTER_STREAM])
def test_signature_of_openrouter_is_sent_to_its_issuer(messages: Any) -> None:
    blocks = sent(messages, "anthropic-messages")[1]["content"]
    assert blocks[0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


def test_details_of_chat_completions_are_written_and_restored() -> None:
    turns: list[Any] = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "I look.", "reasoning_details": DETAILS},
    ]
    request = {"model": "anthropic/claude-sonnet-4.5", "messages": turns}
    payload: Any = convert(request, source="openai-chat", target=API, kind="request").payload
    assert payload[1]["data"]["additional_kwargs"] == {"reasoning_details": DETAILS}
    assert sent(payload, "openai-chat") == turns


def test_text_of_openrouter_is_sent_back() -> None:
    assert sent(OPENROUTER_TEXT, "openai-chat")[1] == {"role": "assistant", "reasoning": "Hm.", "content": "I look."}


def test_edit_of_a_detail_changes_the_text_that_repeats_it() -> None:
    detail: Any = read(OPENROUTER).contents[0]
    kwargs = edited(OPENROUTER, 1, c0=replace(detail, text="Ok."))["additional_kwargs"]
    assert kwargs["reasoning_details"][0]["text"] == kwargs["reasoning_content"] == "Ok."


def test_thinking_of_ollama_is_sent_back() -> None:
    assert sent(OLLAMA, "ollama-chat")[1] == {"role": "assistant", "thinking": "Hm.", "content": "4"}


def test_references_and_thinking_of_mistral_are_sent_back() -> None:
    assert sent(MISTRAL, "mistral-chat")[1]["content"] == [
        MISTRAL[1]["content"][0],
        {"type": "text", "text": "Spain"},
        {"type": "reference", "reference_ids": [1]},
    ]


# -- Cohere ------------------------------------------------------------------------------------------------------------


def test_plan_of_cohere_is_reasoning() -> None:
    plan, call = read(COHERE).contents
    assert isinstance(plan, ReasoningContent)
    assert (plan.kind, plan.text) == ("plan", PLAN)
    assert isinstance(call, contentmodel.FunctionCallContent)
    assert sent(COHERE, "cohere-chat")[1]["tool_plan"] == PLAN
    assert ("dropped", "$[1].content") in lost(COHERE, "openai-chat")


def test_streamed_plan_is_the_content_only() -> None:
    plan: Any = read(COHERE_STREAM).contents[0]
    assert (plan.kind, plan.text) == ("plan", PLAN)
    assert sent(COHERE_STREAM, "cohere-chat")[1]["tool_plan"] == PLAN
    body = edited(COHERE_STREAM, 1, c0=replace(plan, text="No."))
    assert body["content"] == "No."
    assert "tool_plan" not in body["additional_kwargs"]


def test_edited_plan_is_written_twice() -> None:
    plan: Any = read(COHERE).contents[0]
    body = edited(COHERE, 1, c0=replace(plan, text="No."))
    assert body["content"] == body["additional_kwargs"]["tool_plan"] == "No."


def test_plan_of_the_api_is_the_content_and_is_restored() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns: list[Any] = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "tool_plan": PLAN, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
    ]
    request = {"model": "command-a-03-2025", "messages": turns}
    payload: Any = convert(request, source="cohere-chat", target=API, kind="request").payload
    body = payload[1]["data"]
    assert body["content"] == body["additional_kwargs"]["tool_plan"] == PLAN
    assert body["tool_calls"] == [{"name": "f", "args": {}, "id": "c1", "type": "tool_call"}]
    assert sent(payload, "cohere-chat") == turns


def test_text_that_differs_from_the_plan_is_a_text() -> None:
    messages = [message("human", "a"), answer("b", additional_kwargs={"tool_plan": "c"})]
    assert read(messages).contents == [TextContent(text="b")]
    assert ("dropped", "$[1].additional_kwargs") in lost(messages, "cohere-chat")


def test_citations_of_cohere_are_on_their_contents() -> None:
    (text,) = read(COHERE, 3).contents
    assert text.annotations is not None
    (citation,) = text.annotations
    assert (citation.call_id, citation.span) == ("c1", Span(start=6, end=13))
    (document,) = read(COHERE, 5).contents[1].annotations or ()
    assert (document.url, document.cited_text) == (None, "Tall penguins are emperors.")
    listed = sent(COHERE, "cohere-chat")
    assert listed[3]["citations"] == [CITED]
    assert "content_index" not in listed[5]["citations"][0] or listed[5]["citations"][0]["content_index"] == 1


def test_documents_of_a_user_are_documents_of_the_request() -> None:
    payload: Any = convert(COHERE, source=API, target="cohere-chat", kind="request").payload
    assert payload["documents"] == DOCUMENTS
    *documents, text = read(COHERE, 4).contents
    assert [document.__class__ for document in documents] == [DocumentContent] * 3
    assert text == TextContent(text="Penguins?")
    blocks = sent(COHERE, "anthropic-messages")[4]["content"]
    assert [block["type"] for block in blocks] == ["document"] * 3 + ["text"]


def test_edited_documents_are_written_beside_the_content() -> None:
    document: Any = read(COHERE, 4).contents[0]
    body = edited(COHERE, 4, c0=replace(document, uri="d9"), c1=None)
    assert body["content"] == "Penguins?"
    assert body["additional_kwargs"]["documents"] == [{**DOCUMENTS[0], "id": "d9"}, DOCUMENTS[2]]


@pytest.mark.parametrize("documents", [["a"], [{"text": "a"}], [{"data": 1}], {}, []])
def test_documents_of_another_form_are_kept(documents: Any) -> None:
    messages = [message("human", "a", additional_kwargs={"documents": documents})]
    assert read(messages, 0).contents == [TextContent(text="a")]
    assert ADAPTER.encode_request(ADAPTER.decode_request(messages)).payload == messages


def test_entry_that_is_no_document_leaves_the_documents_beside_it() -> None:
    messages = [message("human", "a", additional_kwargs={"documents": [*DOCUMENTS, None]})]
    kinds = [content.__class__ for content in read(messages, 0).contents]
    assert kinds == [*[DocumentContent] * 3, UnknownContent, TextContent]
    assert ADAPTER.encode_request(ADAPTER.decode_request(messages)).payload == messages


def test_thinking_of_cohere_is_sent_back() -> None:
    listed = sent(COHERE, "cohere-chat")
    for at in (5, 7):
        assert listed[at]["content"] == [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Emperors."}]
    # The form is that of OpenAI without a type.
    payload: Any = convert(COHERE, source=API, target="openai-responses", kind="request").payload
    assert "reasoning" not in [item["type"] for item in payload["input"]]


def test_records_of_cohere_that_the_metadata_repeat_are_no_losses() -> None:
    assert lost(COHERE, "cohere-chat") == set()


def test_record_of_cohere_that_only_the_metadata_have_is_a_loss() -> None:
    messages = [COHERE[0], answer("Rain.", response_metadata={"id": "a1", "citations": [CITED]})]
    assert lost(messages, "cohere-chat") == {("dropped", "$[1].response_metadata.citations")}


def test_edited_citation_of_cohere_is_written() -> None:
    text = read(COHERE, 3).contents[0]
    citations: list[Citation] = [replace(one, span=Span(start=0, end=2)) for one in text.annotations or ()]
    body = edited(COHERE, 3, c0=replace(text, annotations=citations))
    (written,) = body["additional_kwargs"]["citations"]
    assert (written["start"], written["end"], written["sources"]) == (0, 2, CITED["sources"])


@pytest.mark.parametrize(
    "change", [{"content_index": 3}, {"sources": [1]}, {"start": "a"}, {"type": "PLAN"}, {"$nulls": 1}]
)
def test_unusual_citations_of_cohere_are_kept(change: Any) -> None:
    kwargs = {"citations": [CITED, {**CITED, **change}]}
    messages = [message("human", "a"), answer("It is raining.", additional_kwargs=kwargs)]
    assert ADAPTER.encode_request(ADAPTER.decode_request(messages)).payload == messages
