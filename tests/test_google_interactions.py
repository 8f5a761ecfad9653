"""Gemini's Interactions API: steps, signatures, forms of the input, streams, agents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

import contentmodel
from contentmodel import TextContent, adapter, convert
from contentmodel.content import JsonContent, UnknownContent, WebSearchToolCallContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent, HostedToolResultContent
from contentmodel.events import ArgumentsDelta, CitationDelta, SignatureDelta, TurnError, fold
from contentmodel.streams import encode_stream, fold_stream
from contentmodel.unfolding import unfold
from providers import PROVIDERS
from test_events import lawful

API, OTHER = "google-interactions", "google-generate-content"
INTERACTIONS = adapter(API)
CALL = {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}}
RESULT = {"type": "function_result", "call_id": "c1", "name": "f", "result": "Done."}
THOUGHT = {"type": "thought", "summary": [{"type": "text", "text": "Hm."}], "signature": "AAAA"}


def said(text: str, kind: str = "model_output") -> dict[str, Any]:
    return {"type": kind, "content": [{"type": "text", "text": text}]}


def request(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "gemini-3-flash-preview", "input": [said("Hi", "user_input"), *steps], **fields}


def answer(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "v1_a", "object": "interaction", "model": "m", "status": "completed", "steps": [*steps], **fields}


def events(*steps: tuple[dict[str, Any], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the events of a stream: each step with its deltas."""
    made: list[dict[str, Any]] = [
        {"event_type": "interaction.created", "interaction": {"id": "v1_a", "status": "in_progress"}}
    ]
    for index, (step, deltas) in enumerate(steps):
        made.append({"event_type": "step.start", "index": index, "step": step})
        made += [{"event_type": "step.delta", "index": index, "delta": delta} for delta in deltas]
        made.append({"event_type": "step.stop", "index": index})
    return [*made, {"event_type": "interaction.completed", "interaction": {"id": "v1_a", "status": "completed"}}]


def read(stream: list[dict[str, Any]]) -> list[Any]:
    decoder = INTERACTIONS.stream_decoder()
    return [event for wire in stream for event in decoder.feed_event(wire)] + decoder.close()


def folded(*steps: tuple[dict[str, Any], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the steps of the answer that a stream folds to."""
    steps_of_answer: list[dict[str, Any]] = INTERACTIONS.encode_response(
        contentmodel.fold(read(events(*steps)))
    ).payload["steps"]
    return steps_of_answer


# -- requests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "outputs"),
    [
        ("Done.", [TextContent]),
        ({"a": 1}, [JsonContent]),
        ([{"type": "text", "text": "Done."}, {"type": "image", "data": "AAAA", "mime_type": "image/png"}], None),
        ([{"type": "function", "name": "f"}], None),
    ],
)
def test_results_are_texts_objects_or_contents(result: Any, outputs: list[type] | None) -> None:
    payload = request(CALL, {**RESULT, "result": result, "is_error": True})
    decoded = INTERACTIONS.decode_request(payload)
    (content,) = decoded.messages[-1].contents
    assert isinstance(content, FunctionResultContent)
    assert content.is_error
    assert outputs is None or [type(output) for output in content.outputs] == outputs
    assert INTERACTIONS.encode_request(decoded).payload == payload


def test_unknown_hosted_tools_are_calls_and_results() -> None:
    call = {"type": "quantum_call", "id": "q1", "arguments": {"qubits": 2}, "signature": "AAAA"}
    result = {"type": "quantum_result", "call_id": "q1", "result": [{"type": "text", "text": "01"}]}
    payload = request(call, result, {"type": "pause"})
    decoded = INTERACTIONS.decode_request(payload)
    first, second, third = decoded.messages[-1].contents
    assert (first.name, second.name) == ("quantum", "quantum")  # type: ignore[attr-defined]
    assert isinstance(second, HostedToolResultContent)
    assert second.text == "01"
    assert isinstance(third, UnknownContent)
    assert INTERACTIONS.encode_request(decoded).payload == payload


# -- signatures ----------------------------------------------------------------------------------------------------

GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "AAAA"},
                {"functionCall": {"id": "c2", "name": "f", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "Done."}}},
                {"functionResponse": {"id": "c2", "name": "f", "response": {"output": "Done."}}},
            ],
        },
        {"role": "model", "parts": [{"text": "Good.", "thoughtSignature": "BBBB"}]},
        {"role": "user", "parts": [{"text": "And?"}]},
    ]
}


def test_placeholder_signatures_are_not_thoughts() -> None:
    unsigned = convert(request(CALL, RESULT), source=API, target=OTHER)
    assert "skip_thought_signature_validator" in json.dumps(unsigned.payload)
    back = convert(unsigned.payload, source=OTHER, target=API, model="gemini-2.5-flash")
    assert back.payload["input"] == request(CALL, RESULT)["input"]


def test_answers_of_generate_content_keep_signatures_in_thoughts() -> None:
    payload = {"candidates": [{"content": GEMINI["contents"][1], "finishReason": "STOP"}]}  # type: ignore[index]
    made = convert(payload, source=OTHER, target=API, kind="response")
    assert [step["type"] for step in made.payload["steps"]] == ["thought", "function_call", "function_call"]
    assert made.payload["status"] == "requires_action"


# -- answers and errors --------------------------------------------------------------------------------------------


def test_usage_counts_thoughts_and_tools_beside_the_output() -> None:
    usage = {
        "total_input_tokens": 22,
        "total_output_tokens": 973,
        "total_thought_tokens": 249,
        "total_tool_use_tokens": 129,
    }
    decoded = INTERACTIONS.decode_response(answer(said("Hi"), usage=usage))
    made = convert(answer(said("Hi"), usage=usage), source=API, target="openai-responses", kind="response").payload
    assert decoded.usage is not None
    assert decoded.usage.all_output_tokens == 973 + 249
    assert made["usage"]["output_tokens"] == 973 + 249
    assert made["usage"]["input_tokens"] == 22 + 129


# -- streams -------------------------------------------------------------------------------------------------------


def test_stream_of_media_and_citations() -> None:
    note = {"type": "url_citation", "url": "https://example.com"}
    deltas = [
        {"type": "text", "text": "Look:"},
        {"type": "text_annotation_delta", "annotations": [note]},
        {"type": "image", "data": "AAAA", "mime_type": "image/png"},
        {"type": "audio", "data": "AAAA", "mime_type": "audio/wav"},
        {"type": "audio", "data": "BBBB"},
    ]
    (step,) = folded(({"type": "model_output"}, deltas))
    assert step["content"] == [
        {"type": "text", "text": "Look:", "annotations": [note]},
        {"type": "image", "data": "AAAA", "mime_type": "image/png"},
        {"type": "audio", "data": "AAAABBBB", "mime_type": "audio/wav"},
    ]
    made = read(events(({"type": "model_output"}, deltas)))
    assert [event.citation.url for event in made if isinstance(event, CitationDelta)] == ["https://example.com"]


IMAGE = {"type": "image", "data": "aGk=", "mime_type": "image/png"}
SEEN = {**THOUGHT, "summary": [{"type": "text", "text": "a"}, IMAGE, {"type": "unknown", "text": 5}]}


def stream_of(*steps: Any) -> bytes:
    made = events(*((step, []) for step in steps))
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in made)


def converted(*steps: Any) -> Any:
    return convert(stream_of(*steps), source=API, target=API, kind="stream")


def test_encoded_stream_keeps_the_contents_of_a_step_together() -> None:
    output = {"type": "model_output", "content": [{"type": "text", "text": "x"}, IMAGE, {"type": "text", "text": "y"}]}
    encoded = converted(SEEN, output)
    assert INTERACTIONS.encode_response(contentmodel.fold_stream(encoded.payload, API)).payload["steps"] == [
        SEEN,
        output,
    ]
    assert not encoded.losses


def test_encoded_stream_reports_texts_that_it_separates_from_their_step() -> None:
    text = {"type": "text", "text": "a"}
    encoded = converted({**THOUGHT, "summary": [text, text]})
    steps = INTERACTIONS.encode_response(contentmodel.fold_stream(encoded.payload, API)).payload["steps"]
    assert steps == [{"type": "thought", "summary": [text]}, {**THOUGHT, "summary": [text]}]
    (loss,) = encoded.losses
    assert (loss.path, loss.kind) == ("$.choices[0].messages[0].contents[1]", "moved")


@pytest.mark.parametrize(
    "step",
    [
        {},
        {"content": [{"type": "text", "text": "x"}]},
        *({"type": "model_output", "content": content} for content in ([], "x", [{"type": "text"}])),
        {"type": "model_output", "content": [{"type": "text", "text": None}]},
        *({"type": "thought", "summary": [{"type": "text", **part}]} for part in ({}, {"text": None}, {"text": 5})),
    ],
)
def test_encoded_stream_of_malformed_steps_ends_like_its_source(step: dict[str, Any]) -> None:
    before = contentmodel.fold_stream(stream_of(step), API)
    after = contentmodel.fold_stream(converted(step).payload, API)
    assert [message.contents for message in after.messages] == [message.contents for message in before.messages]
    assert (after.error is None) is (before.error is None)


def test_stream_emits_signatures_and_arguments() -> None:
    made = read(
        events(
            ({"type": "thought"}, [{"type": "thought_signature", "signature": "AAAA"}]),
            ({**CALL, "arguments": {}}, [{"type": "arguments_delta", "arguments": "{}"}]),
        )
    )
    assert [event.protected.data for event in made if isinstance(event, SignatureDelta)] == ["AAAA"]
    assert [event.text for event in made if isinstance(event, ArgumentsDelta)] == ["{}"]


def test_truncated_arguments_are_not_an_object() -> None:
    made = read(events(({**CALL, "arguments": {}}, [{"type": "arguments_delta", "arguments": '{"a": '}])))
    (call,) = contentmodel.fold(made).messages[0].contents
    assert isinstance(call, FunctionCallContent)
    assert call.arguments == '{"a": '


def test_a_failed_stream_keeps_what_it_sent() -> None:
    stream = events(({"type": "model_output"}, [{"type": "text", "text": "Hi"}]))[:3]
    made = read([*stream, {"event_type": "error", "error": {"code": "gateway_timeout", "message": "Late."}}])
    assert isinstance(made[-1], TurnError)
    assert made[-1].error.kind == "timeout"
    assert contentmodel.fold(made).text == "Hi"


# -- detection -----------------------------------------------------------------------------------------------------


def test_hosted_search_has_its_queries() -> None:
    step = {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["a", "b"]}, "search_type": "web_search"}
    (call,) = INTERACTIONS.decode_response(answer(step)).messages[0].contents
    assert isinstance(call, WebSearchToolCallContent)
    assert call.queries == ["a", "b"]


QUOTA = {"code": "quota_exceeded", "message": "No quota is left."}


@pytest.mark.parametrize("errors", [[QUOTA], [QUOTA, {"code": "api_error", "message": "Late."}]])
@pytest.mark.parametrize("steps", [[], [{"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}]])
def test_errors_of_a_failed_interaction_are_its_error(
    errors: list[dict[str, Any]], steps: list[dict[str, Any]]
) -> None:
    answer = {"id": "v", "object": "interaction", "status": "failed", "steps": steps, "errors": errors}
    response = INTERACTIONS.decode_response(answer)
    assert response.error is not None
    assert (response.error.kind, response.error.message) == ("rate_limit", QUOTA["message"])
    assert INTERACTIONS.encode_response(response).payload == answer
    assert fold_stream([*encode_stream(unfold(response), API)], API) == response
    for target in PROVIDERS.keys() - {API}:
        encoded = convert(answer, source=API, target=target, kind="response")
        # An answer of Cohere or Ollama that has contents has no error.
        lost = {loss.path for loss in encoded.losses if loss.kind == "dropped"}
        assert QUOTA["message"] in str(encoded.payload) or lost & {"$.errors", "$.errors[0]", "$.errors[0].message"}
        assert contentmodel.audit(answer, encoded) == []


# -- streams before steps ------------------------------------------------------------------------------------------


def older(*deltas: tuple[int, dict[str, Any]], starts: Sequence[tuple[int, str]] = ()) -> list[dict[str, Any]]:
    """Return the events of an answer whose contents were its items."""
    head = {"id": "v1_a", "model": "gemini-3-pro", "object": "interaction"}
    usage = {"total_input_tokens": 3, "total_output_tokens": 2}
    outputs = [{"type": "text", "text": "Hi."}]
    begun = [{"event_type": "content.start", "index": index, "content": {"type": kind}} for index, kind in starts]
    grown = [{"event_type": "content.delta", "index": index, "delta": delta} for index, delta in deltas]
    ended = [{"event_type": "content.stop", "index": index} for index in sorted({index for index, _ in deltas})]
    last = {**head, "status": "completed", "usage": usage, "outputs": outputs}
    return [
        {"event_type": "interaction.start", "interaction": {**head, "status": "in_progress"}},
        *begun,
        *grown,
        *ended,
        {"event_type": "interaction.complete", "interaction": last},
    ]


THINKING = (0, {"type": "thought_summary", "content": {"type": "text", "text": "Hm."}})
SIGNED = (0, {"type": "thought_signature", "signature": "AAAA"})
SAYING = [(1, {"type": "text", "text": "H"}), (1, {"type": "text", "text": "i."})]
CALLING = (2, {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}})
IMAGE = {"type": "image", "data": "aQ==", "mime_type": "image/png"}


@pytest.mark.parametrize("starts", [(), ((0, "thought"), (1, "text"), (2, "function_call"))], ids=["bare", "started"])
def test_older_streams_are_read(starts: Sequence[tuple[int, str]]) -> None:
    events = older(THINKING, SIGNED, *SAYING, CALLING, starts=starts)
    raw = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    assert contentmodel.detect(raw)[:2] == (API, "stream")
    response = fold(lawful(API, raw))
    assert response.error is None
    assert response.usage is not None
    assert response.usage.output_tokens == 2
    assert INTERACTIONS.encode_response(response).payload["steps"] == [
        {"type": "thought", "summary": [{"type": "text", "text": "Hm."}], "signature": "AAAA"},
        {"type": "model_output", "content": [{"type": "text", "text": "Hi."}]},
        {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
    ]
