"""Gemini's Interactions API: steps, signatures, forms of the input, streams, agents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

import contentmodel
from contentmodel import ChatMessage, ChatRequest, FunctionTool, Origin, ReasoningContent, TextContent, adapter, convert
from contentmodel.content import JsonContent, UnknownContent, UriContent, WebSearchToolCallContent
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
    "given",
    [
        "Hi",
        {"type": "text", "text": "Hi"},
        [{"type": "text", "text": "Hi"}],
        [{"type": "text", "text": "Look."}, {"type": "image", "uri": "https://example.com/a.png"}],
        [said("Hi", "user_input")],
    ],
)
def test_each_form_of_the_input_is_one_user_message_and_comes_back(given: Any) -> None:
    payload = {"model": "m", "input": given}
    decoded = INTERACTIONS.decode_request(payload)
    assert [message.role for message in decoded.messages] == ["user"]
    assert INTERACTIONS.encode_request(decoded).payload == payload


def test_an_edit_of_a_string_input_is_sent() -> None:
    decoded = INTERACTIONS.decode_request({"model": "m", "input": "Hi"})
    decoded.messages[0].contents.append(UriContent(uri="https://example.com/a.png", kind="image"))
    (step,) = INTERACTIONS.encode_request(decoded).payload["input"]
    assert [part["type"] for part in step["content"]] == ["text", "image"]


def test_steps_of_the_model_are_one_message_and_results_another() -> None:
    payload = request(THOUGHT, said("Wait."), CALL, RESULT, said("Good."))
    decoded = INTERACTIONS.decode_request(payload)
    assert [message.role for message in decoded.messages] == ["user", "assistant", "tool", "assistant"]
    assert [type(content) for content in decoded.messages[1].contents] == [
        ReasoningContent,
        TextContent,
        FunctionCallContent,
    ]
    assert INTERACTIONS.encode_request(decoded).payload == payload


def test_a_step_of_several_contents_keeps_its_fields_and_its_borders() -> None:
    output = {"type": "model_output", "content": [{"type": "text", "text": t} for t in "ab"], "extra": 1}
    payload = request(output, said("c"), {"type": "model_output", "content": []})
    assert INTERACTIONS.encode_request(INTERACTIONS.decode_request(payload)).payload == payload


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


def test_a_failed_page_is_an_error_of_its_result() -> None:
    pages = [{"url": "https://example.com", "status": "error"}, {"url": "https://example.org", "status": "success"}]
    call = {"type": "url_context_call", "id": "u1", "arguments": {"urls": []}}
    payload = answer(call, {"type": "url_context_result", "call_id": "u1", "result": pages})
    decoded = INTERACTIONS.decode_response(payload)
    result = decoded.messages[0].contents[1]
    assert isinstance(result, HostedToolResultContent)
    assert result.error is not None
    assert INTERACTIONS.encode_response(decoded).payload == payload


def test_stored_conversations_are_continued_only_here() -> None:
    payload = {"model": "m", "previous_interaction_id": "v1_a", "store": True, "input": [RESULT]}
    decoded = INTERACTIONS.decode_request(payload)
    assert decoded.options.previous_response_id == "v1_a"
    assert INTERACTIONS.encode_request(decoded).payload == payload
    made = convert(payload, source=API, target="openai-responses")
    assert "previous_response_id" not in made.payload
    assert "$.previous_interaction_id" in [loss.path for loss in made.losses]


def test_requests_to_agents_have_no_model() -> None:
    payload = {"agent": "deep-research-preview-04-2026", "input": "Why?", "background": True, "agent_config": {"a": 1}}
    decoded = INTERACTIONS.decode_request(payload)
    assert decoded.model is None
    encoded = INTERACTIONS.encode_request(decoded)
    assert (encoded.payload, encoded.losses) == (payload, ())


def test_a_request_of_the_application_has_the_current_form() -> None:
    made = INTERACTIONS.encode_request(
        ChatRequest(
            model="gemini-3-flash-preview",
            instructions=["Be brief."],
            messages=[ChatMessage(role="user", contents=["Hi"])],
            tools=[FunctionTool(name="f", parameters={"type": "object"})],
        )
    )
    assert made.payload == {
        "model": "gemini-3-flash-preview",
        "system_instruction": "Be brief.",
        "input": [said("Hi", "user_input")],
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
    }


def test_formats_of_answers_are_json_and_schemas() -> None:
    schema = {"type": "object", "properties": {}}
    made = {"type": "text", "mime_type": "application/json", "schema": schema}
    for form in (made, [made]):
        decoded = INTERACTIONS.decode_request(request(response_format=form))
        assert decoded.options.response_format is not None
        assert decoded.options.response_format.schema == schema
        assert INTERACTIONS.encode_request(decoded).payload == request(response_format=form)
    bare = request(response_format=schema)
    decoded = INTERACTIONS.decode_request(bare)
    assert decoded.options.response_format is None
    assert INTERACTIONS.encode_request(decoded).payload == bare


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


def test_signatures_move_from_generate_content_to_thoughts_and_back() -> None:
    there = convert(GEMINI, source=OTHER, target=API)
    assert [step["type"] for step in there.payload["input"]] == [
        *("user_input", "thought", "function_call", "function_call", "function_result", "function_result"),
        *("thought", "model_output", "user_input"),
    ]
    assert there.payload["input"][1] == THOUGHT
    assert there.payload["input"][6] == {"type": "thought", "signature": "BBBB"}
    back = convert(there.payload, source=API, target=OTHER)
    assert back.payload["contents"] == GEMINI["contents"]


def test_signatures_move_from_thoughts_to_the_next_part_and_back() -> None:
    payload = request(
        THOUGHT, CALL, RESULT, {"type": "thought", "signature": "BBBB"}, said("Good."), said("?", "user_input")
    )
    there = convert(payload, source=API, target=OTHER)
    parts = [part for content in there.payload["contents"] for part in content["parts"]]
    assert [part["thoughtSignature"] for part in parts if "thoughtSignature" in part] == ["AAAA", "BBBB"]
    assert parts[1] == {"text": "Hm.", "thought": True}
    assert parts[2]["thoughtSignature"] == "AAAA"
    assert [loss.kind for loss in there.losses if loss.code == "google-moved-signature"] == ["moved"]
    back = convert(there.payload, source=OTHER, target=API)
    assert back.payload["input"] == payload["input"]


@pytest.mark.parametrize("target", ["anthropic-messages", "openai-responses", "openai-chat", "bedrock-converse"])
def test_signatures_go_to_no_other_issuer(target: str) -> None:
    # Google's own host of Chat Completions takes them.
    model = "gpt-5.2" if target == "openai-chat" else None
    made = convert(request(THOUGHT, CALL, RESULT), source=API, target=target, model=model)
    assert "AAAA" not in json.dumps(made.payload)
    assert any(loss.path.startswith("$.input[1]") for loss in made.losses)


def test_placeholder_signatures_are_not_thoughts() -> None:
    unsigned = convert(request(CALL, RESULT), source=API, target=OTHER)
    assert "skip_thought_signature_validator" in json.dumps(unsigned.payload)
    back = convert(unsigned.payload, source=OTHER, target=API, model="gemini-2.5-flash")
    assert back.payload["input"] == request(CALL, RESULT)["input"]


def test_calls_of_other_apis_follow_a_placeholder_at_models_that_require_it() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]
    made = convert({"messages": messages}, source="openai-chat", target=API, model="gemini-3-pro")
    placeholder = {"type": "thought", "signature": "skip_thought_signature_validator"}
    assert [step["type"] for step in made.payload["input"]] == [
        *("user_input", "thought", "model_output", "function_call", "function_result"),
    ]
    assert made.payload["input"][1] == placeholder
    assert "placeholder-signature" in {loss.code for loss in made.losses}
    assert contentmodel.check(made.payload, api=API) == []
    older = convert({"messages": messages}, source="openai-chat", target=API, model="gemini-2.5-flash")
    assert placeholder not in older.payload["input"]


def test_empty_signatures_are_not_sent_to_generate_content() -> None:
    thought = {"type": "thought", "signature": "", "summary": [{"type": "text", "text": "Hm."}]}
    made = convert(request(thought, CALL, RESULT), source=API, target=OTHER, model="gemini-3-pro")
    (call,) = [part for content in made.payload["contents"] for part in content["parts"] if "functionCall" in part]
    assert call["thoughtSignature"] == "skip_thought_signature_validator"


def test_answers_of_generate_content_keep_signatures_in_thoughts() -> None:
    payload = {"candidates": [{"content": GEMINI["contents"][1], "finishReason": "STOP"}]}  # type: ignore[index]
    made = convert(payload, source=OTHER, target=API, kind="response")
    assert [step["type"] for step in made.payload["steps"]] == ["thought", "function_call", "function_call"]
    assert made.payload["status"] == "requires_action"


# -- answers and errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("completed", "stop"),
        ("requires_action", "tool_calls"),
        ("incomplete", "length"),
        ("budget_exceeded", "length"),
        ("failed", "error"),
        ("queued", "running"),
        ("requires_continuation", "pause"),
        ("new_status", "other"),
    ],
)
def test_statuses_are_finish_reasons(status: str, reason: str) -> None:
    decoded = INTERACTIONS.decode_response(answer(said("Hi"), status=status))
    assert decoded.finish_reason is not None
    assert decoded.finish_reason.reason == reason
    assert INTERACTIONS.encode_response(decoded).payload == answer(said("Hi"), status=status)


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


def test_citations_count_bytes() -> None:
    note = {"type": "url_citation", "url": "https://example.com", "title": "A", "start_index": 0, "end_index": 3}
    step = {"type": "model_output", "content": [{"type": "text", "text": "éa!", "annotations": [note]}]}
    made = convert(answer(step), source=API, target="openai-responses", kind="response").payload
    cited = made["output"][0]["content"][0]["annotations"][0]
    assert (cited["start_index"], cited["end_index"]) == (0, 2)


@pytest.mark.parametrize(
    ("code", "kind"),
    [("invalid_request", "invalid_request"), ("quota_exceeded", "rate_limit"), ("service_unavailable", "overloaded")],
)
def test_codes_of_errors_have_kinds(code: str, kind: str) -> None:
    decoded = INTERACTIONS.decode_response({"error": {"code": code, "message": "No."}})
    assert decoded.error is not None
    assert decoded.error.kind == kind


def test_codes_of_errors_are_not_kept_by_generate_content() -> None:
    error = {"error": {"code": "quota_exceeded", "message": "No."}}
    made = convert(error, source=API, target=OTHER, kind="response").payload
    assert made == {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "No."}}
    back = convert(made, source=OTHER, target=API, kind="response").payload
    assert back["error"]["code"] == "rate_limit_exceeded"


# -- streams -------------------------------------------------------------------------------------------------------


def test_stream_folds_thoughts_texts_and_calls() -> None:
    thought = [
        {"type": "thought_summary", "content": {"type": "text", "text": "H"}},
        {"type": "thought_summary", "content": {"type": "text", "text": "m."}},
        {"type": "thought_signature", "signature": "AAAA"},
    ]
    text = [{"type": "text", "text": "Wa"}, {"type": "text", "text": "it."}]
    call = [{"type": "arguments_delta", "arguments": '{"a"'}, {"type": "arguments_delta", "arguments": ": 1}"}]
    made = folded(
        ({"type": "thought"}, thought),
        ({"type": "model_output"}, text),
        ({**CALL, "arguments": {}}, call),
    )
    assert made == [THOUGHT, said("Wait."), CALL]


def test_stream_of_a_hosted_tool_merges_its_deltas() -> None:
    call = (
        {"type": "google_search_call", "id": "s1", "arguments": {}},
        [{"type": "google_search_call", "arguments": {"queries": ["a"]}}],
    )
    result = (
        {"type": "file_search_result", "call_id": "s1"},
        [
            {"type": "file_search_result", "result": [{"text": "a"}]},
            {"type": "file_search_result", "result": [{"text": "b"}]},
        ],
    )
    made = folded(call, result)
    assert made[0]["arguments"] == {"queries": ["a"]}
    assert made[1]["result"] == [{"text": "a"}, {"text": "b"}]


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


def test_stream_of_whole_steps_folds_to_the_answer() -> None:
    assert folded((SEEN, []), (said("x"), [])) == [SEEN, said("x")]
    response = INTERACTIONS.decode_response(answer(SEEN, said("x")))
    assert response.text == "x"
    assert INTERACTIONS.encode_response(response).payload["steps"] == [SEEN, said("x")]


def test_stream_keeps_every_part_of_a_summary() -> None:
    deltas: list[dict[str, Any]] = [{"type": "thought_summary", "content": part} for part in SEEN["summary"]]
    signature = {"type": "thought_signature", "signature": "AAAA"}
    assert folded(({"type": "thought"}, [*deltas, signature])) == [SEEN]
    assert folded(({"type": "thought"}, deltas[1:])) == [{"type": "thought", "summary": SEEN["summary"][1:]}]


def test_media_of_a_summary_are_reported_elsewhere() -> None:
    encoded = convert(answer(SEEN, said("x")), source=API, target="openai-responses", kind="response")
    paths = {loss.path for loss in encoded.losses}
    assert {"$.steps[0].summary[1]", "$.steps[0].summary[2]", "$.steps[0].signature"} <= paths


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


def test_citations_that_follow_a_text_reach_its_step() -> None:
    chunk = {"web": {"uri": "https://example.com", "title": "A"}}
    support = {"segment": {"startIndex": 0, "endIndex": 2}, "groundingChunkIndices": [0]}
    frames = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]},
        {
            "candidates": [
                {
                    "finishReason": "STOP",
                    "groundingMetadata": {"groundingChunks": [chunk], "groundingSupports": [support]},
                }
            ]
        },
    ]
    data = b"".join(b"data: " + json.dumps(frame).encode() + b"\r\n\r\n" for frame in frames)
    made = contentmodel.fold_stream(b"".join(contentmodel.convert_stream(data, source=OTHER, target=API)), API)
    (text,) = made.messages[0].contents
    assert [citation.url for citation in text.annotations or ()] == ["https://example.com"]


# -- detection -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (request(CALL, RESULT), "request"),
        ({"model": "gemini-3-pro", "input": "Hi", "generation_config": {"seed": 1}}, "request"),
        ({"model": "gemini-3-pro", "input": "Hi"}, "request"),
        (
            {"model": "gemini-3-pro", "input": [{"type": "text", "text": "?"}, {"type": "image", "data": "aQ=="}]},
            "request",
        ),
        ({"model": "gemini-3-pro", "input": {"type": "text", "text": "Hi"}}, "request"),
        ({"model": "m", "input": "Hi", "tools": [{"type": "google_search"}]}, "request"),
        (
            {"model": "m", "input": "Hi", "response_format": {"type": "text", "mime_type": "application/json"}},
            "request",
        ),
        (answer(said("Hi")), "response"),
        ({"status": "completed", "steps": [THOUGHT]}, "response"),
    ],
)
def test_payloads_are_detected(payload: dict[str, Any], kind: str) -> None:
    assert contentmodel.detect(payload)[:2] == (API, kind)


@pytest.mark.parametrize(
    "payload",
    [
        {"model": "gemini-3-pro", "input": "Hi", "max_output_tokens": 9},
        {"model": "gemini-3-pro", "input": "Hi", "instructions": "Be short."},
        {"model": "gemini-3-pro", "input": [{"role": "user", "content": "Hi"}]},
        {"model": "gpt-6", "input": "Hi"},
    ],
)
def test_requests_of_responses_are_not_those_of_interactions(payload: dict[str, Any]) -> None:
    assert contentmodel.detect(payload)[:2] == ("openai-responses", "request")


def test_hosted_search_has_its_queries() -> None:
    step = {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["a", "b"]}, "search_type": "web_search"}
    (call,) = INTERACTIONS.decode_response(answer(step)).messages[0].contents
    assert isinstance(call, WebSearchToolCallContent)
    assert call.queries == ["a", "b"]


def test_fields_of_a_step_with_an_empty_text_are_reported() -> None:
    payload = request(said(" "), {**said(""), "unknown": True}, said("?", "user_input"))
    assert "$.input[2].unknown" in [loss.path for loss in convert(payload, source=API, target="ollama-chat").losses]


@pytest.mark.parametrize("summary", [None, {}, {"text": "x"}])
def test_edited_thought_replaces_a_summary_of_an_unknown_form(summary: Any) -> None:
    payload = {"model": "gemini-3-pro", "input": [{"type": "thought", "summary": summary}]}
    request = INTERACTIONS.decode_request(payload)
    assert INTERACTIONS.encode_request(request).payload == payload
    thought = request.messages[0].contents[0]
    request.messages[0].contents[:] = [replace(thought, text="Hm."), ReasoningContent(text="So.")]
    steps = INTERACTIONS.encode_request(request).payload["input"]
    assert steps == [{"type": "thought", "summary": [{"type": "text", "text": text} for text in ("Hm.", "So.")]}]


def test_stored_step_with_a_value_in_place_of_its_contents_is_written() -> None:
    text = TextContent(text="Hi.", extra={API: {":step": {"content": {}, "type": "x"}}})
    origin = Origin(api=API, issuer="google")
    request = ChatRequest(model="m", messages=[ChatMessage(role="user", contents=[text], origin=origin)], origin=origin)
    steps = INTERACTIONS.encode_request(request).payload["input"]
    assert steps == [{"type": "user_input", "content": [{"type": "text", "text": "Hi."}]}]


def test_citations_of_other_apis_count_bytes() -> None:
    note = {"type": "url_citation", "url": "https://example.com", "title": "A", "start_index": 0, "end_index": 2}
    item = {"type": "output_text", "text": "\u00e9a!", "annotations": [note]}
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [item]}
    response = {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [message],
    }
    made = convert(response, source="openai-responses", target=API, kind="response").payload
    (cited,) = made["steps"][0]["content"][0]["annotations"]
    assert (cited["start_index"], cited["end_index"]) == (0, 3)


@pytest.mark.parametrize("target", sorted(PROVIDERS.keys() - {API}))
def test_response_format_of_another_medium_is_reported_and_not_sent(target: str) -> None:
    request = {"model": "gemini-3-pro", "input": "Hi", "response_format": {"type": "audio"}}
    encoded = convert(request, source=API, target=target)
    assert "json" not in encoded.to_json().decode()
    assert any(loss.path.startswith("$.response_format") and loss.kind == "dropped" for loss in encoded.losses)


@pytest.mark.parametrize("target", sorted(PROVIDERS.keys() - {API}))
def test_search_suggestions_are_dropped_with_a_loss(target: str) -> None:
    steps = [
        {"type": "user_input", "content": [{"type": "text", "text": "Hi"}]},
        {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["x"]}},
        {"type": "google_search_result", "call_id": "s1", "result": [{"search_suggestions": "<div>x</div>"}]},
    ]
    encoded = convert({"model": "gemini-3-pro", "input": steps}, source=API, target=target)
    assert "<div>" not in encoded.to_json().decode()
    assert ("$.input[2].result[0]", "dropped") in {(loss.path, loss.kind) for loss in encoded.losses}


def test_answer_with_an_error_has_failed_although_its_status_is_completed() -> None:
    text = {"type": "output_text", "text": "Hi", "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    answer = {
        "id": "r",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "status": "completed",
        "output": [message],
        "error": {"code": "server_error", "message": "late"},
    }
    encoded = convert(answer, source="openai-responses", target=API, kind="response")
    assert encoded.payload["status"] == "failed"
    assert encoded.payload["errors"] == [{"code": "api_error", "message": "late"}]
    assert "no-finish-reason" in [loss.code for loss in encoded.losses]


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


def test_errors_of_a_completed_interaction_are_kept() -> None:
    answer = {"id": "v", "object": "interaction", "status": "completed", "steps": [], "errors": [QUOTA]}
    response = INTERACTIONS.decode_response(answer)
    assert response.error is None
    assert INTERACTIONS.encode_response(response).payload == answer


@pytest.mark.parametrize(
    "outputs",
    [
        [{"type": "text", "text": "Hello"}],
        [THOUGHT, {"type": "text", "text": "He"}, {"type": "text", "text": "llo", "annotations": []}, CALL],
        [{"type": "text", "text": "Hello"}, {"type": "image", "data": "iVBORw0K", "mime_type": "image/png"}],
        [{"type": "text", "text": "Hello"}, {"type": "novelty", "value": 1}],
    ],
)
def test_outputs_are_the_contents_of_an_answer_without_steps(outputs: list[dict[str, Any]]) -> None:
    answer = {"id": "v", "object": "interaction", "status": "completed", "outputs": outputs}
    response = INTERACTIONS.decode_response(answer)
    assert response.text == "Hello"
    assert INTERACTIONS.encode_response(response).payload == answer
    event = {"event_type": "interaction.completed", "interaction": answer}
    assert fold_stream([f"data: {json.dumps(event)}\n\n".encode()], API) == response
    streamed = fold_stream([*encode_stream(unfold(response), API)], API)
    assert (streamed.text, streamed.extra) == ("Hello", response.extra)
    for target in PROVIDERS.keys() - {API}:
        encoded = convert(answer, source=API, target=target, kind="response")
        assert "lo" in encoded.to_json().decode()
        assert contentmodel.audit(answer, encoded) == []


@pytest.mark.parametrize("outputs", [[], None, "a", [1], [{}], [{"type": 1}], [said("a")]])
def test_outputs_of_another_form_are_kept(outputs: Any) -> None:
    answer = {"id": "v", "object": "interaction", "status": "completed", "outputs": outputs}
    assert INTERACTIONS.encode_response(INTERACTIONS.decode_response(answer)).payload == answer


TOOLS_OF_GOOGLE = [
    {"googleMaps": {"enableWidget": True}},
    {"fileSearch": {"fileSearchStoreNames": ["stores/1"], "topK": 3, "metadataFilter": "a = 1"}},
    {"computerUse": {"environment": "ENVIRONMENT_BROWSER", "excludedPredefinedFunctions": ["drag"]}},
]
TOOLS_OF_INTERACTIONS = [
    {"type": "google_maps", "enable_widget": True},
    {
        "type": "file_search",
        "file_search_store_names": ["stores/1"],
        "top_k": 3,
        "metadata_filter": "a = 1",
    },
    {"type": "computer_use", "environment": "browser", "excluded_predefined_functions": ["drag"]},
]


def test_hosted_tools_keep_their_settings_in_the_other_api_of_google() -> None:
    asked = {"model": "gemini-3-pro", "input": "Hi", "tools": TOOLS_OF_INTERACTIONS}
    encoded = convert(asked, source=API, target=OTHER)
    assert encoded.payload["tools"] == [{name: value for tool in TOOLS_OF_GOOGLE for name, value in tool.items()}]
    lost = {loss.path for loss in encoded.losses if "tools" in loss.path}
    assert lost == {"$.tools[2].environment"}
    assert contentmodel.audit(asked, encoded) == []
    contents = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "tools": TOOLS_OF_GOOGLE}
    encoded = convert(contents, source=OTHER, target=API)
    assert encoded.payload["tools"] == TOOLS_OF_INTERACTIONS
    assert contentmodel.audit(contents, encoded) == []


def test_setting_that_the_other_api_of_google_lacks_is_the_only_loss() -> None:
    tool = {"type": "google_maps", "enable_widget": True, "latitude": 52.5}
    encoded = convert({"model": "gemini-3-pro", "input": "Hi", "tools": [tool]}, source=API, target=OTHER)
    assert encoded.payload["tools"] == [{"googleMaps": {"enableWidget": True}}]
    assert [loss.path for loss in encoded.losses if "tools" in loss.path] == ["$.tools[0].latitude"]


def test_file_search_of_another_provider_is_not_sent_to_google() -> None:
    tool = {"type": "file_search", "vector_store_ids": ["vs_1"]}
    encoded = convert({"model": "gpt-5", "input": "Hi", "tools": [tool]}, source="openai-responses", target=API)
    assert "tools" not in encoded.payload


def test_service_tier_is_the_same_in_both_apis_of_google() -> None:
    asked = {"model": "gemini-3-pro", "input": "Hi", "service_tier": "flex"}
    assert convert(asked, source=API, target=OTHER).payload["serviceTier"] == "flex"
    contents = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "serviceTier": "flex"}
    assert convert(contents, source=OTHER, target=API).payload["service_tier"] == "flex"
    other = {**contents, "serviceTier": "FLEX"}
    assert adapter(OTHER).encode_request(adapter(OTHER).decode_request(other)).payload == other


def test_safety_settings_and_cached_contents_are_the_same_in_both_apis_of_google() -> None:
    settings = [
        {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"},
        {"category": "HARM_CATEGORY_HATE_SPEECH", "threshold": "OFF", "method": "SEVERITY"},
    ]
    fields = {"cachedContent": "cachedContents/1", "labels": {"team": "a"}, "safetySettings": settings}
    request = {"contents": [{"role": "user", "parts": [{"text": "?"}]}], **fields}
    there = convert(request, source=OTHER, target=API, model="gemini-3-pro")
    assert there.payload["cached_content"] == "cachedContents/1"
    assert there.payload["safety_settings"] == [
        {"type": "harassment", "threshold": "block_none"},
        {"type": "hate_speech", "threshold": "off", "method": "severity"},
    ]
    assert [(loss.code, loss.path) for loss in there.losses] == [("google-safety-settings", "$.safetySettings")]
    back = convert(there.payload, source=API, target=OTHER)
    assert {name: back.payload[name] for name in fields} == fields


def test_safety_settings_of_another_form_are_reported() -> None:
    payload = {"model": "gemini-3-pro", "input": "?", "safety_settings": [{"type": "harassment", "level": 3}]}
    converted = convert(payload, source=API, target=OTHER)
    assert "safetySettings" not in converted.payload
    assert ("provider-field", "$.safety_settings") in [(loss.code, loss.path) for loss in converted.losses]


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


def test_older_streams_may_have_media_and_no_numbers() -> None:
    events = older((0, {"type": "text", "text": "Hi."}), (1, IMAGE))
    for event in events:
        if event.get("index") == 0:
            del event["index"]
    raw = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    steps = INTERACTIONS.encode_response(fold(lawful(API, raw))).payload["steps"]
    assert [part for step in steps for part in step["content"]] == [{"type": "text", "text": "Hi."}, IMAGE]
