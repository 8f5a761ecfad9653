"""Citations of a type that does not exist yet, in each format with citations."""

from __future__ import annotations

from typing import Any

import pytest

from contentmodel import Citation, adapter, adapters, audit, convert, dumps, loads

NEW = {"type": "brand_new", "x": 1}
HI = {"role": "user", "content": "Hi."}
ITEM = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
CITED_BY_BEDROCK = {"content": [{"text": "Cited."}], "citations": [{"title": "T", "location": {"brandNew": {"x": 1}}}]}


def text(type_: str = "text", key: str = "citations", tag: str = "type") -> dict[str, Any]:
    return {tag: type_, "text": "Cited.", key: [{**NEW, tag: "brand_new"}]}


PAYLOADS: dict[str, Any] = {
    "agent-framework": [{"type": "message", "role": "assistant", "contents": [text(key="annotations")]}],
    "anthropic-messages": {"messages": [HI, {"role": "assistant", "content": [text()]}]},
    "bedrock-converse": {"messages": [{"role": "assistant", "content": [{"citationsContent": CITED_BY_BEDROCK}]}]},
    "cohere-chat": {"messages": [HI, {"role": "assistant", "content": "Cited.", "citations": [NEW]}]},
    "google-interactions": {"input": [{"type": "model_output", "content": [text(key="annotations")]}]},
    "inspect-eval-log": [HI, {"role": "assistant", "content": [text()]}],
    "langchain-messages": [{"type": "ai", "content": [text(key="annotations")]}],
    "meai": [{"role": "assistant", "contents": [{**text(key="annotations", tag="$type")}]}],
    "openai-chat": {"messages": [HI, {"role": "assistant", "content": "Cited.", "annotations": [NEW]}]},
    "openai-responses": {"input": [{**ITEM, "content": [text("output_text", "annotations")]}]},
    "pydantic-ai-messages": [
        {
            "kind": "response",
            "parts": [{"part_kind": "text", "content": "Cited.", "citations": [{"sources": [{"kind": "brand_new"}]}]}],
        }
    ],
    "vercel-ui-messages": [{"id": "a", "role": "assistant", "parts": [text()]}],
}
WITH_THE_SAME = {"claude-code-session", "codex-rollout"}
"""The formats that have the blocks of another one."""


def test_every_format_with_a_union_of_citations_is_tried() -> None:
    found = {
        api
        for api in adapters()
        if any(
            row["model"] == "Citation" for union in adapter(api).describe()["unions"].values() for row in union["rows"]
        )
    }
    assert found - WITH_THE_SAME == PAYLOADS.keys()


@pytest.mark.parametrize("api", PAYLOADS)
def test_unknown_citation_is_a_citation_or_stays_in_the_residue(api: str) -> None:
    own = adapter(api)
    request = own.decode_request(PAYLOADS[api])
    cited = [c for message in request.messages for content in message.contents for c in content.annotations or ()]
    assert all(citation.__class__ is Citation for citation in cited)
    assert loads(dumps(request)) == request
    assert own.encode_request(request).payload == PAYLOADS[api]


@pytest.mark.parametrize("api", PAYLOADS)
def test_unknown_citation_converts_to_every_format_with_a_report(api: str) -> None:
    for target in adapters():
        made = convert(PAYLOADS[api], source=api, kind="request", target=target, model="gpt-5.2")
        assert audit(PAYLOADS[api], made) == [], target
