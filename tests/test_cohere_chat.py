"""Cohere's Chat API v2: documents, citations, plans, and streams. The SDK's types and clients judge what is written."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import cohere
import pytest
from cohere.v2.types import V2ChatResponse

from conftest import records
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    TextContent,
    adapter,
    audit,
    check,
    convert,
    detect,
    fold,
    fold_stream,
    unfold,
    user,
)
from contentmodel.events import BlockCatchUp, BlockStop, CitationDelta, ReasoningDelta, TurnComplete, TurnError
from contentmodel.request import ResponseFormat
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.server import LoopbackServer
from contentmodel_conformance.streams import frames_of

API = "cohere-chat"
COHERE: Any = adapter(API)
MODEL = "command-a-reasoning-08-2025"
TOOL = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
PLAN = "I will look."
BARK = {
    "start": 5,
    "end": 9,
    "text": "bark",
    "content_index": 1,
    "type": "TEXT_CONTENT",
    "sources": [
        {"type": "tool", "id": "c1:0", "tool_output": {"content": "Dogs bark."}},
        {"type": "document", "id": "d1", "document": {"id": "d1", "title": "Dogs", "text": "Dogs bark."}},
    ],
}
THOUGHT = {
    "start": 0,
    "end": 2,
    "text": "Hm",
    "content_index": 0,
    "type": "THINKING_CONTENT",
    "sources": [{"type": "document", "id": "d1"}],
}
PLANNED = {"start": 7, "end": 11, "text": "look", "type": "PLAN", "sources": [{"type": "tool", "id": "c0:2"}]}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
ANSWERED = {
    "role": "assistant",
    "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Dogs bark."}],
    "citations": [THOUGHT, BARK],
}
REQUEST: dict[str, Any] = {
    "model": MODEL,
    "documents": [
        "Cats sleep.",
        {"id": "d1", "data": {"title": "Dogs", "text": "Dogs bark.", "year": 2024}},
        {"data": {"snippet": "Birds fly."}},
        {"id": "d4", "data": {"rows": [1, 2.50]}},
    ],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
            ],
        },
        {"role": "assistant", "tool_plan": PLAN, "tool_calls": [CALL], "citations": [PLANNED]},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [
                {"type": "document", "document": {"id": "x", "data": {"text": "Found."}}},
                {"type": "text", "text": "More."},
            ],
        },
        ANSWERED,
        {"role": "user", "content": "Thanks."},
    ],
    "tools": [TOOL],
    "strict_tools": True,
    "tool_choice": "NONE",
    "thinking": {"type": "enabled", "token_budget": 100},
    "response_format": {"type": "text"},
    "safety_mode": "CONTEXTUAL",
    "citation_options": {"mode": "FAST"},
    "max_tokens": 200,
    "stop_sequences": ["END"],
    "p": 0.5,
    "k": 3,
    "seed": 7,
    "logprobs": True,
    "priority": 1,
    "stream": False,
}
RESPONSE: dict[str, Any] = {
    "id": "a1",
    "message": ANSWERED,
    "finish_reason": "COMPLETE",
    "usage": {
        "billed_units": {"input_tokens": 3, "output_tokens": 2},
        "tokens": {"input_tokens": 40, "output_tokens": 5},
        "cached_tokens": 16,
    },
}


def changed(payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(payload), **fields}


def answer(*contents: Any, **fields: Any) -> ChatResponse:
    """Return an answer that an application made."""
    message = ChatMessage(role="assistant", contents=list(contents))
    choice = ChatChoice(messages=[message], finish_reason=FinishReason(reason="stop"))
    return ChatResponse(id="a", choices=[choice], **fields)


# -- requests ----------------------------------------------------------------------------------------------------------

VARIANTS = {
    "whole": REQUEST,
    "documents as texts": changed(REQUEST, documents=[{"data": "Plain."}, {"data": ""}, {"id": None, "data": {}}]),
    "a document without data": changed(REQUEST, documents=[{"id": "a"}]),
    "an odd document": changed(REQUEST, documents=["a", 5]),
    "no documents": changed(REQUEST, documents=[]),
    "no messages": {"model": MODEL, "messages": [], "documents": ["a"]},
    "strict tools without tools": {"model": MODEL, "messages": REQUEST["messages"], "strict_tools": True},
    "loose tools": changed(REQUEST, strict_tools=False),
    "a strict tool": changed(REQUEST, tools=[{**TOOL, "strict": True}]),
    "an unknown tool": changed(REQUEST, tools=[TOOL, {"type": "search", "strict": 1}]),
    "lower-case choice": changed(REQUEST, tool_choice="required"),
    "unknown choice": changed(REQUEST, tool_choice="AUTO"),
    "schema": changed(REQUEST, response_format={"type": "json_object", "json_schema": {"type": "object"}}),
    "JSON": changed(REQUEST, response_format={"type": "json_object"}),
    "fractions": changed(REQUEST, k=3.0, p=1),
}


@pytest.mark.parametrize("payload", VARIANTS.values(), ids=VARIANTS)
def test_request_is_unchanged_after_decoding_and_encoding(payload: dict[str, Any]) -> None:
    before = copy.deepcopy(payload)
    encoded = COHERE.encode_request(COHERE.decode_request(payload))
    assert json.dumps(encoded.payload, sort_keys=True) == json.dumps(before, sort_keys=True)
    assert encoded.losses == ()
    assert payload == before


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "google-generate-content"])
def test_request_converts_without_unreported_losses(target: str) -> None:
    encoded = convert(REQUEST, source=API, target=target)
    assert "Dogs bark." in json.dumps(encoded.payload)
    assert audit(REQUEST, encoded) == []


def test_settings_of_other_apis_are_encoded_in_the_form_of_cohere() -> None:
    chat = {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "top_p": 0.5,
        "stop": ["a"],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
        "reasoning_effort": "low",
    }
    payload = convert(chat, source="openai-chat", target=API, model=MODEL).payload
    assert (payload["p"], payload["stop_sequences"]) == (0.5, ["a"])
    assert payload["response_format"]["type"] == "json_object"
    assert payload["response_format"]["json_schema"]["type"] == "object"
    assert payload["thinking"] == {"type": "enabled", "token_budget": 1024}
    off = convert({**chat, "reasoning_effort": "none"}, source="openai-chat", target=API, model=MODEL).payload
    assert off["thinking"] == {"type": "disabled"}
    assert ResponseFormat(kind="json_schema").kind == "json_schema"


RULES = {
    "strict-is-a-setting-of-the-request": {"tools": [{**TOOL, "strict": True}]},
    "calls-have-results": {"messages": [{"role": "assistant", "tool_calls": [CALL]}]},
    "results-follow-their-calls": {"messages": [{"role": "tool", "tool_call_id": "c9", "content": ""}]},
    "tool-names-match-pattern": {"tools": [{"type": "function", "function": {"name": "a-b", "parameters": {}}}]},
    "numbers-are-in-range": {"p": 1.0},
    "few-stop-sequences": {"stop_sequences": list("abcdef")},
    "choices-need-tools": {"tool_choice": "REQUIRED", "tools": None},
    "no-conflicting-fields": {"response_format": {"type": "json_object"}},
    "settings-supported": {"model": "command-r-plus-08-2024"},
    "images-supported": {"model": "command-a-03-2025", "thinking": None},
    "parts-in-their-roles": {"messages": [{"role": "system", "content": [{"type": "image_url"}]}]},
    "roles-are-known": {"messages": [{"role": "developer", "content": "a"}]},
    "messages-have-content": {"messages": [{"role": "user"}]},
    "model-required": {"model": None},
    "messages-required": {"messages": []},
}


@pytest.mark.parametrize("rule", RULES)
def test_check_reports_what_the_api_refuses(rule: str) -> None:
    assert rule in [violation.rule for violation in check(changed(REQUEST, **RULES[rule]), api=API)]


# -- answers -----------------------------------------------------------------------------------------------------------

ANSWERS = {
    "citations": RESPONSE,
    "a plan": changed(RESPONSE, message={"role": "assistant", "tool_plan": PLAN, "tool_calls": [CALL]}),
    "an empty plan": changed(RESPONSE, message={"role": "assistant", "tool_plan": "", "content": None}),
    "another order": changed(RESPONSE, message={**ANSWERED, "citations": [BARK, THOUGHT, BARK]}),
    "without places": changed(RESPONSE, message={**ANSWERED, "citations": [{"start": 0, "end": 4}, {"sources": []}]}),
    "an unknown place": changed(RESPONSE, message={**ANSWERED, "citations": [{**BARK, "content_index": 7}, THOUGHT]}),
    "an odd source": changed(RESPONSE, message={**ANSWERED, "citations": [{**BARK, "sources": [1]}, {"source": {}}]}),
    "tool without number": changed(
        RESPONSE, message={**ANSWERED, "citations": [{**BARK, "sources": [{"type": "tool", "id": "c1"}]}]}
    ),
    "logprobs": changed(RESPONSE, logprobs=[{"text": "a", "token_ids": [1], "logprobs": [-0.5]}]),
    "floats": changed(RESPONSE, usage={"tokens": {"input_tokens": 40.0, "output_tokens": 5}, "cached_tokens": 16.0}),
    "half a token": changed(RESPONSE, usage={"tokens": {"input_tokens": 40.5}}),
    "another role": changed(RESPONSE, message={"role": "system", "content": "Hi"}),
    "no role": changed(RESPONSE, message={"content": "Hi"}),
    "an error": {"id": "e1", "message": "invalid api token"},
    "nothing": {},
    "a list": {"message": [], "finish_reason": None},
}


@pytest.mark.parametrize("payload", ANSWERS.values(), ids=ANSWERS)
def test_answer_is_unchanged_after_decoding_and_encoding(payload: dict[str, Any]) -> None:
    encoded = COHERE.encode_response(COHERE.decode_response(payload))
    assert json.dumps(encoded.payload, sort_keys=True) == json.dumps(payload, sort_keys=True)
    assert encoded.losses == ()


@pytest.mark.parametrize("target", [API, "turn-blocks", "anthropic-messages"])
def test_audit_finds_the_call_of_a_cited_result(target: str) -> None:
    """The id of a source is the id of a call and the number of a part: other APIs have them in two fields."""
    assert audit(RESPONSE, convert(RESPONSE, source=API, target=target, kind="response")) == []


def test_audit_reports_a_missing_call_of_a_cited_result() -> None:
    encoded = convert(RESPONSE, source=API, target="turn-blocks", kind="response")
    del encoded.payload["blocks"][-1]["content"]["annotations"][0]["call_id"]
    assert [one.value for one in audit(RESPONSE, encoded)] == ["c1"]


ERROR = {"code": 502, "message": "Upstream died."}
PART = {"role": "assistant", "content": "Par"}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"choices": [{"index": 0, "finish_reason": "error", "error": ERROR, "message": PART}]}, "$.choices[0].error"),
        ({"choices": [{"index": 0, "message": PART}], "error": ERROR}, "$.error"),
        ({"choices": [{"index": 0, "message": PART}], "error": "Upstream died."}, "$.error"),
    ],
)
def test_answer_with_an_error_ends_with_error(fields: dict[str, Any], path: str) -> None:
    payload = {"id": "a", "object": "chat.completion", "created": 1, "model": "m", **fields}
    converted = convert(payload, source="openai-chat", target=API, kind="response")
    assert converted.payload["finish_reason"] == "ERROR"
    assert [loss.path for loss in converted.losses if loss.code == "no-field" and "error" in loss.path] == [path]
    assert audit(payload, converted) == []


def test_failed_stream_folds_to_an_answer_with_a_finish_reason() -> None:
    delta = {"finish_reason": "ERROR", "error": "Upstream died."}
    text = {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": "Par"}}}}
    start = {"type": "message-start", "id": "a", "delta": {"message": {"role": "assistant"}}}
    events = [start, text, {"type": "message-end", "delta": delta}]
    answer = fold_stream(b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events), API)
    encoded = COHERE.encode_response(answer)
    assert encoded.payload["finish_reason"] == "ERROR"
    assert judge(API, "response").faults(encoded.payload) == []


@pytest.mark.parametrize(
    ("payload", "kind"),
    [(REQUEST, "request"), (RESPONSE, "response"), ({"type": "tool-plan-delta", "delta": {}}, "stream")],
)
def test_detect_finds_the_api(payload: dict[str, Any], kind: str) -> None:
    assert detect(payload)[:2] == (API, kind)


# -- the SDK -----------------------------------------------------------------------------------------------------------


def test_objects_of_the_sdk_are_read() -> None:
    read = COHERE.decode_response(V2ChatResponse.model_validate(RESPONSE))
    assert read.text == "Dogs bark."
    assert read.usage.input_tokens == 40
    assert [len(content.annotations) for content in read.messages[0].contents] == [1, 2]


def test_official_clients_read_plans_calls_and_citations() -> None:
    planned = COHERE.decode_response(ANSWERS["a plan"])
    cited = COHERE.decode_response(RESPONSE)

    async def later(url: str) -> Any:
        client = cohere.AsyncClientV2(api_key="none", base_url=url)
        whole = await client.chat(model=MODEL, messages=[{"role": "user", "content": "?"}])
        events = client.chat_stream(model=MODEL, messages=[{"role": "user", "content": "?"}])
        return whole, [event async for event in events]

    with LoopbackServer([planned, planned, cited, cited]) as server:
        url = server.base_url(API)
        client = cohere.ClientV2(api_key="none", base_url=url)
        whole = client.chat(model=MODEL, messages=[{"role": "user", "content": "?"}])
        assert whole.message.tool_plan == PLAN
        assert whole.message.tool_calls[0].function.arguments == CALL["function"]["arguments"]
        events = list(client.chat_stream(model=MODEL, messages=[{"role": "user", "content": "?"}]))
        plan = [event.delta.message.tool_plan for event in events if event.type == "tool-plan-delta"]
        assert "".join(plan) == PLAN
        assert events[-1].delta.usage.tokens.input_tokens == 40
        whole, events = asyncio.run(later(url))
    assert whole.message.citations[1].sources[0].id == "c1:0"
    citations = [event.delta.message.citations for event in events if event.type == "citation-start"]
    assert [(c.text, c.content_index, len(c.sources)) for c in citations] == [("Hm", 0, 1), ("bark", 1, 2)]


# -- streams -----------------------------------------------------------------------------------------------------------


def delta(kind: str, index: int | None = None, **message: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, "delta": {"message": message}}


START = {
    "id": "a1",
    "type": "message-start",
    "delta": {"message": {"role": "assistant", "content": [], "tool_plan": ""}},
}
END = {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": RESPONSE["usage"]}}
TEXTS = [
    delta("content-start", 0, content={"type": "thinking", "thinking": ""}),
    delta("content-delta", 0, content={"thinking": "Hm."}),
    {"type": "content-end", "index": 0},
    delta("content-start", 1, content={"type": "text", "text": ""}),
    delta("content-delta", 1, content={"text": "Dogs "}),
    delta("content-delta", 1, content={"text": "bark."}),
]
CITES = [
    delta("citation-start", 0, citations=THOUGHT),
    {"type": "citation-end", "index": 0},
    delta("citation-start", 1, citations=BARK),
    {"type": "citation-end", "index": 1},
]
STOP = {"type": "content-end", "index": 1}
PLANNING = [
    START,
    delta("tool-plan-delta", tool_plan="I will "),
    delta("tool-plan-delta", tool_plan="look."),
    delta("tool-call-start", 0, tool_calls={**CALL, "function": {"name": "look", "arguments": ""}}),
    delta("tool-call-delta", 0, tool_calls={"function": {"arguments": '{"at"'}}),
    delta("tool-call-delta", 0, tool_calls={"function": {"arguments": ": 1}"}}),
    {"type": "tool-call-end", "index": 0},
    END,
]


def read(events: list[Any], *, named: bool = True) -> list[Any]:
    """Return the events of a stream, with or without `event:` lines."""
    decoder = COHERE.stream_decoder()
    read = []
    for event in events:
        line = f"event: {event['type']}\n" if named else ""
        read += decoder.feed(f"{line}data: {json.dumps(event)}\n\n".encode())
    return read + decoder.close()


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("cites_first", [True, False])
def test_stream_folds_to_the_content_of_the_answer(*, named: bool, cites_first: bool) -> None:
    ending = [*CITES, STOP] if cites_first else [STOP, *CITES]
    events = read([START, *TEXTS, *ending, END], named=named)
    assert isinstance(events[-1], TurnComplete)
    assert fold(events) == COHERE.decode_response(RESPONSE)
    stop = next(event for event in events if isinstance(event, BlockStop) and isinstance(event.content, TextContent))
    assert len(stop.content.annotations or ()) == (2 if cites_first else 0)
    late = [event.index for event in events if isinstance(event, BlockCatchUp)]
    assert late == ([0] if cites_first else [0, 1])
    assert len([event for event in events if isinstance(event, CitationDelta)]) == (2 if cites_first else 0)


def test_stream_of_a_plan_folds_to_reasoning_and_calls() -> None:
    events = read(PLANNING)
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == PLAN
    assert fold(events) == COHERE.decode_response(ANSWERS["a plan"])


@pytest.mark.parametrize("payload", [RESPONSE, ANSWERS["a plan"], ANSWERS["logprobs"]])
def test_encoded_stream_folds_to_the_answer(payload: dict[str, Any]) -> None:
    encoder, made = COHERE.stream_encoder(), COHERE.decode_response(payload)
    data = b"".join(map(encoder.feed, unfold(made))) + encoder.close()
    assert encoder.losses == ()
    decoder = COHERE.stream_decoder()
    again = fold([*decoder.feed(data), *decoder.close()])
    assert COHERE.encode_response(again).payload == payload


def test_stream_ends_with_the_error_of_its_last_event() -> None:
    ending = {"type": "message-end", "delta": {"error": "No more.", "finish_reason": "ERROR"}}
    events = read([START, *TEXTS, ending])
    assert isinstance(events[-1], TurnError)
    assert events[-1].error.message == "No more."
    assert fold(events).text == "Dogs bark."


def test_stream_keeps_events_without_content() -> None:
    debug = {"type": "debug", "prompt": "<BOS>"}
    assert [event.data for event in read([START, debug, *TEXTS, END]) if hasattr(event, "data")] == [debug]


def test_stream_continues_contents_without_a_start() -> None:
    whole = fold(read([START, delta("content-delta", 0, content={"text": "Hi"}), END]))
    assert whole.text == "Hi"


# -- recorded traffic --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["request", "response"])
def test_recorded_payloads_are_unchanged(kind: str, corpus: Any) -> None:
    for record in records(API, kind):
        value = getattr(COHERE, f"decode_{kind}")(record["body"])
        encoded = getattr(COHERE, f"encode_{kind}")(value)
        assert (encoded.payload, encoded.losses) == (record["body"], ()), record["id"]


def test_recorded_streams_are_written_as_the_same_events(corpus: Any) -> None:
    for record in records(API, "stream"):
        encoder, decoder = COHERE.stream_encoder(), COHERE.stream_decoder()
        events = [event for frame in frames_of(record["body"]) for event in decoder.feed(frame)] + decoder.close()
        data = b"".join(map(encoder.feed, events)) + encoder.close()
        written = [json.loads(line[6:]) for line in data.splitlines() if line[:7] == b"data: {"]
        assert written == [event["data"] for event in record["body"] if isinstance(event["data"], dict)], record["id"]


# -- conversations -----------------------------------------------------------------------------------------------------


def test_failed_result_is_marked_in_its_text() -> None:
    call = FunctionCallContent(call_id="c1", name="look", arguments={})
    failed = FunctionResultContent(call_id="c1", outputs=["No such file."], is_error=True)
    messages = [user("?"), ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[failed])]
    payload = COHERE.encode_request(ChatRequest(messages=messages), model=MODEL).payload
    again = COHERE.decode_request(payload).messages[-1].contents[0]
    assert again.error is not None
    assert "No such file." in payload["messages"][-1]["content"]
