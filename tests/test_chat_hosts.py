"""Fields of hosts and gateways of Chat Completions: state, reasoning, sources, counters, and their detection."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest

import contentmodel
from contentmodel import (
    ReasoningContent,
    TextContent,
    convert_stream,
    fold_stream,
)
from contentmodel.content.base import Protected
from contentmodel.literals import Policies
from contentmodel_adapters.openai.chat.hosts import DIALECTS
from contentmodel_adapters.openai.chat.messages import REASONING_FIELDS
from test_dialects import ANTHROPIC, CALL, CHAT, GOOGLE
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


def test_signature_of_a_streamed_call_of_litellm_reaches_gemini() -> None:
    call = {"index": 0, **SIGNED_CALLS["fields and id"]}
    stream = sse(chunk({"role": "assistant", "tool_calls": [call]}), chunk({}, finish="tool_calls"))
    lawful("openai-chat", stream)
    assert fold_stream(stream, "openai-chat").messages[0].contents[0].protected == SIGNED
    made = b"".join(convert_stream([stream], source="openai-chat", target=GOOGLE))
    assert SIGNATURE.encode() in made


# -- Databricks --------------------------------------------------------------------------------------------------------

CLAUDE = "us.anthropic.claude-3-7-sonnet-20250219-v1:0"
TEXT = {"type": "text", "text": "Hello."}


def reasoning(*summaries: dict[str, Any]) -> dict[str, Any]:
    """Return a part of reasoning of Databricks."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", **summary} for summary in summaries]}


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


# -- sources -----------------------------------------------------------------------------------------------------------

URL = "https://example.org/cats"
DATA_SOURCES = {"citations": [{"content": "A cat.", "title": "Cats", "url": URL, "chunk_id": "0"}], "intent": "cats"}
SOURCES: dict[str, Any] = {
    "web_search": [{"title": "Cats", "link": URL, "content": "A cat.", "refer": "ref_1"}],
    "search_info": {"search_results": [{"index": 1, "title": "Cats", "url": URL}], "other": 1},
}


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


# -- rows of hosts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DIALECTS)
def test_reasoning_field_of_a_host_is_one_that_the_table_and_the_policy_know(name: str) -> None:
    field = DIALECTS[name].reasoning
    known = (
        {*REASONING_FIELDS} & {*contentmodel.POLICIES["reasoning"]} & {*get_args(get_type_hints(Policies)["reasoning"])}
    )
    assert field is None or field in known
