"""Citations of tool results name the call whose result they cite."""

from __future__ import annotations

from typing import Any

import contentmodel
from contentmodel import ChatChoice, ChatMessage, ChatResponse, Citation, TextContent, events
from contentmodel.content import Span
from contentmodel.renames import Renames

CHAT = contentmodel.adapter("openai-chat")
CITED = {"type": "function_citation", "function_citation": {"tool_call_id": "c1", "start_index": 3, "end_index": 7}}
ANSWER: dict[str, Any] = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It rains.", "annotations": [CITED]}}]
}


def citation_of(response: ChatResponse) -> Citation:
    [text] = response.messages[0].contents
    assert text.annotations is not None
    [citation] = text.annotations
    return citation


def test_chat_decoder_reads_cited_call() -> None:
    response = CHAT.decode_response(ANSWER)
    assert citation_of(response) == Citation(
        call_id="c1", span=Span(start=3, end=7), extra={"openai-chat": {":row": "function_citation"}}
    )
    assert CHAT.encode_response(response).payload == ANSWER


def test_cited_call_without_a_page_is_not_sent_to_other_readers_of_chat() -> None:
    """OpenAI's own annotations are citations of pages."""
    text = TextContent(text="It rains.", annotations=[Citation(call_id="c1")])
    message = ChatMessage(role="assistant", contents=[text])
    encoded = CHAT.encode_response(ChatResponse(choices=[ChatChoice(messages=[message])]))
    assert "annotations" not in encoded.payload["choices"][0]["message"]
    assert [(loss.kind, loss.path) for loss in encoded.losses if loss.is_significant] == [
        ("dropped", "$.choices[0].messages[0].contents[0].annotations[0]")
    ]


def test_answer_restores_the_cited_call_ids_of_the_source() -> None:
    response = CHAT.decode_response(ANSWER)
    maps = Renames(ids={"original": "c1"})
    assert citation_of(maps.restored_names(response, CHAT.restore_arguments)).call_id == "original"


def test_streamed_answer_restores_the_cited_call_ids_of_the_source() -> None:
    restore = Renames(ids={"original": "c1"}).restoring(CHAT.restore_arguments)
    [delta] = restore(events.CitationDelta(index=0, citation=Citation(call_id="c1")))
    assert isinstance(delta, events.CitationDelta)
    assert delta.citation.call_id == "original"
    [stop] = restore(events.BlockStop(index=0, content=TextContent(text="It", annotations=[Citation(call_id="c1")])))
    assert isinstance(stop, events.BlockStop)
    assert stop.content.annotations == [Citation(call_id="original")]
