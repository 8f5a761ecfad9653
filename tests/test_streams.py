"""Recorded streams beside what else was recorded: the text of the transport, and the same exchange without streaming.

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


def test_the_transport_text_is_the_recorded_stream(corpus: Any) -> None:
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


def asked(record: dict[str, Any], requests: dict[str, Any]) -> str | None:
    """What was asked, as a key; None where it was not recorded. How it was to be delivered is no part of it."""
    request = requests.get(record.get("request_id") or "")
    if request is None:
        return None
    body = {key: value for key, value in request["body"].items() if key not in ("stream", "stream_options")}
    return json.dumps([record["model"], body], sort_keys=True)


def twins(api: str) -> Iterator[tuple[Recorded, Any]]:
    """Return recorded streams, each with the answer of the same request without streaming."""
    requests = {record["id"]: record for record in records(api, "request")}
    answers = defaultdict(list)
    for record in records(api, "response"):
        answers[asked(record, requests)].append(record)
    for stream in recorded(api):
        key = asked(stream.record, requests)
        for answer in answers[key] if key is not None else ():
            yield stream, stream.adapter.decode_response(answer["body"])


def gist(content: Any) -> Any:
    """Return a content without what differs in every answer: ids, opaque state, residue, reasoning, search results."""
    calls = content.arguments_object if isinstance(content, ToolCallContent) else None
    sources = [(citation.url, citation.title) for citation in content.annotations or ()]
    outputs = {type(output).__name__ for output in getattr(content, "outputs", ())}
    words = content.text if isinstance(content, contentmodel.TextContent) else None
    return type(content).__name__, words, getattr(content, "name", None), calls, sources, outputs


def gists(response: Any) -> list[Any]:
    """Every content but texts without words: generateContent puts a signature on one of its own, when it streams."""
    found = [content for message in response.messages for content in message.contents]
    return [gist(c) for c in found if not isinstance(c, contentmodel.TextContent) or c.text]


def said(response: Any) -> list[Any]:
    """The words and calls of an answer: where two have the same, the model answered the same twice."""
    found = [content for message in response.messages for content in message.contents]
    return [response.text, *[c.arguments_object for c in found if isinstance(c, ToolCallContent)]]


@every_api
def test_an_exchange_without_streaming_has_the_same_content(api: str, corpus: Any) -> None:
    pairs = [(stream.id, fold(stream.events), answer) for stream, answer in twins(api)]
    same = [pair for pair in pairs if said(pair[1]) == said(pair[2])]
    assert same
    for name, streamed, answer in same:
        assert gists(streamed) == gists(answer), name
        assert streamed.finish_reason == answer.finish_reason, name
