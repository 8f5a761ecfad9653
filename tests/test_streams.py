"""Recorded streams, compared with the raw text of the transport and with answers that were not streamed.

The laws of streams are checks of the kit (test_conformance.py).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest

import contentmodel
from conftest import APIS, records
from contentmodel.content.tools import ToolCallContent
from contentmodel.events import fold
from contentmodel_conformance import streams

every_api = pytest.mark.parametrize("api", APIS)


class Recorded:
    """One recorded stream, and its events."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.id: str = record["id"]
        self.record = record
        self.adapter = contentmodel.adapter(record["api"])
        self.events = streams.decode(self.adapter, streams.frames_of(record["body"]))


@lru_cache
def recorded(api: str) -> list[Recorded]:
    return [Recorded(record) for record in records(api, "stream") if record["status"] in (200, None)]


def test_raw_transport_text_decodes_to_the_recorded_events(corpus: Any) -> None:
    known = {stream.id: stream for api in APIS for stream in recorded(api)}
    compared = 0
    with (corpus / "recorded" / "raw-framing.jsonl").open("rb") as lines:
        for line in lines:
            record = json.loads(line)
            stream = known.get(record["id"])
            if stream is not None:
                compared += 1
                raw = record["raw"].encode()
                assert streams.decode(stream.adapter, [raw]) == stream.events, record["id"]
                streams.cuts(stream.adapter, raw, range(0, len(raw), 777))
    assert compared > 0


# -- the same exchange, without streaming ------------------------------------------------------------------------------


def request_key(record: dict[str, Any], requests: dict[str, Any]) -> str | None:
    """Return the model and the body of a request as a key, without stream options; None if it was not recorded."""
    request = requests.get(record.get("request_id") or "")
    if request is None:
        return None
    body = {key: value for key, value in request["body"].items() if key not in ("stream", "stream_options")}
    return json.dumps([record["model"], body], sort_keys=True)


def streams_with_answers(api: str) -> Iterator[tuple[Recorded, Any]]:
    """Return recorded streams, each with the answer of the same request without streaming."""
    requests = {record["id"]: record for record in records(api, "request")}
    answers = defaultdict(list)
    for record in records(api, "response"):
        answers[request_key(record, requests)].append(record)
    for stream in recorded(api):
        key = request_key(stream.record, requests)
        for answer in answers[key] if key is not None else ():
            yield stream, stream.adapter.decode_response(answer["body"])


def comparable_content(content: Any) -> Any:
    """Return a content without values that differ in every answer: ids, opaque state, residue, search results."""
    calls = content.arguments_object if isinstance(content, ToolCallContent) else None
    sources = [(citation.url, citation.title) for citation in content.annotations or ()]
    outputs = {type(output).__name__ for output in getattr(content, "outputs", ())}
    text = content.text if isinstance(content, contentmodel.TextContent) else None
    return type(content).__name__, text, getattr(content, "name", None), calls, sources, outputs


def comparable_contents(response: Any) -> list[Any]:
    """Return all contents except for empty texts: a stream of generateContent has one for its signature."""
    contents = [content for message in response.messages for content in message.contents]
    return [comparable_content(c) for c in contents if not isinstance(c, contentmodel.TextContent) or c.text]


def text_and_calls(response: Any) -> list[Any]:
    """Return the text and the arguments of an answer. Answers are comparable if these are equal."""
    contents = [content for message in response.messages for content in message.contents]
    return [response.text, *[c.arguments_object for c in contents if isinstance(c, ToolCallContent)]]


@every_api
def test_streamed_and_plain_answers_of_a_request_have_the_same_contents(api: str, corpus: Any) -> None:
    pairs = [(stream.id, fold(stream.events), answer) for stream, answer in streams_with_answers(api)]
    same = [pair for pair in pairs if text_and_calls(pair[1]) == text_and_calls(pair[2])]
    assert same
    for name, streamed, answer in same:
        assert comparable_contents(streamed) == comparable_contents(answer), name
        assert streamed.finish_reason == answer.finish_reason, name
