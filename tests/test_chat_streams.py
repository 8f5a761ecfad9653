"""Variants of Chat Completions streams of different hosts, written by hand."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

import contentmodel
from contentmodel import FinishReason, ReasoningContent, TextContent, UnknownContent
from contentmodel.events import BlockDelta, BlockStart, StreamEvent, TurnComplete, TurnError, fold
from test_events import call, calls, chunk, lawful, sse, summary


def chat(*chunks: Any, finish: str | None = "stop", done: bool = True) -> list[StreamEvent]:
    """Decode the chunks or deltas, and check the laws of streams."""
    wires = [c if "choices" in c or "error" in c else chunk(c) for c in chunks]
    raw = sse(*wires, *([chunk(finish=finish)] if finish else [])) + (b"data: [DONE]\n\n" if done else b"")
    return lawful("openai-chat", raw)


A, B = ("a", "f", '{"x":1}'), ("b", "g", '{"x":2}')
CALLING: dict[str, tuple[list[Any], list[Any]]] = {
    "numbers from 1": ([calls(call(1, "", "f", "a")), calls(call(1, '{"x":1}'))], [A]),
    "every number 0": (
        [calls(call(0, '{"x"', "f", "a")), calls(call(0, ":1}")), calls(call(0, '{"x":2}', "g", "b"))],
        [A, B],
    ),
    "every number 0, in one delta": ([calls(call(0, '{"x":1}', "f", "a"), call(0, '{"x":2}', "g", "b"))], [A, B]),
    "no numbers": (
        [calls(call(None, '{"x"', "f", "a")), calls(call(None, ":1}")), calls(call(None, '{"x":2}', "g", "b"))],
        [A, B],
    ),
    "no numbers, ids again and again": (
        [calls(call(None, '{"x"', "f", "a")), calls(call(None, ":1}", id="a")), calls(call(None, '{"x":2}', "g", "b"))],
        [A, B],
    ),
    "neither numbers nor ids": (
        [calls(call(None, '{"x":1}', "f"), call(None, '{"x":2}', "g"))],
        [(None, *A[1:]), (None, *B[1:])],
    ),
    "no numbers, several calls in each delta": (
        [
            calls(call(None, "", "f", "a"), call(None, "", "g", "b")),
            calls(call(None, '{"x"'), call(None, '{"x"')),
            calls(call(None, ":1}"), call(None, ":2}")),
        ],
        [A, B],
    ),
    "in turns": (
        [
            calls(call(0, "", "f", "a"), call(1, "", "g", "b")),
            calls(call(0, '{"x"')),
            calls(call(1, '{"x"')),
            calls(call(0, ":1}")),
            calls(call(1, ":2}")),
        ],
        [A, B],
    ),
    "whole in one delta": ([calls(call(0, '{"x":1}', "f", "a"))], [A]),
    "a name after the id": ([calls(call(0, id="a")), calls(call(0, name="f")), calls(call(0, '{"x":1}'))], [A]),
    "a blank name before the name": ([calls(call(0, "", "", "a")), calls(call(0, '{"x":1}', "f"))], [A]),
    "names after the arguments, in turns": (
        [
            calls(call(0, '{"x"', "", "a"), call(1, "", "", "b")),
            calls(call(1, '{"x":2}', "g")),
            calls(call(0, ":1}", "f")),
        ],
        [A, B],
    ),
    "neither numbers nor a name at first": ([calls(call(None, "", "", "a")), calls(call(None, '{"x":1}', "f"))], [A]),
    "an id after the name": ([calls(call(0, "", "f")), calls(call(0, '{"x":1}', id="a"))], [A]),
    "blank ids and names later": ([calls(call(0, '{"x"', "f", "a")), calls(call(0, ":1}", "", ""))], [A]),
    "a blank type": ([calls({**call(0, "", "f", "a"), "type": ""}), calls({**call(0, '{"x":1}'), "type": ""})], [A]),
    "a type of null": ([calls({**call(0, '{"x":1}', "f", "a"), "type": None})], [A]),
    "one call without a list": (
        [{"tool_calls": call(0, '{"x"', "f", "a")}, {"tool_calls": {**call(0, ":1}"), "id": "", "type": "function"}}],
        [A],
    ),
    "ids and names again": ([calls(call(0, '{"x"', "f", "a")), calls(call(0, ":1}", "f", "a"))], [A]),
    "words after a call": ([{"content": "1"}, calls(call(0, '{"x":1}', "f", "a")), {"content": "2"}], ["12", A]),
    "the old function_call": (
        [{"function_call": {"name": "f", "arguments": ""}}, {"function_call": {"arguments": '{"x":1}'}}],
        [(None, *A[1:])],
    ),
}


@pytest.mark.parametrize("case", sorted(CALLING))
def test_chat_stream_decoder_reads_every_form_of_calls(case: str) -> None:
    chunks, expected = CALLING[case]
    events = chat(*chunks, finish="tool_calls")
    assert isinstance(events[-1], TurnComplete)
    assert summary(events) == expected


def test_chat_stream_decoder_starts_a_call_when_its_name_is_known() -> None:
    deltas = [calls(call(0, '{"x"', "", "a")), {"content": "Hi"}, calls(call(0, ":1}", "f"))]
    events = chat(*deltas, finish="tool_calls")
    started = [event.content for event in events if isinstance(event, BlockStart)]
    assert [getattr(content, "name", None) for content in started] == [None, "f"]
    assert summary(events) == ["Hi", A]
    raw = sse(*map(chunk, deltas), chunk(finish="tool_calls")) + b"data: [DONE]\n\n"
    converted = contentmodel.convert(raw, source="openai-chat", target="anthropic-messages", kind="stream")
    assert b'"id":"a","name":"f"' in converted.payload


def test_chat_stream_decoder_keeps_a_call_that_never_gets_a_name() -> None:
    assert summary(chat(calls(call(0, '{"x":1}', "", "a")), finish="tool_calls")) == [("a", "", '{"x":1}')]


TEXT = {"type": "text", "text": "a"}
TEXT_FORMS: dict[str, tuple[list[Any], list[Any]]] = {
    "parts": ([{"content": [TEXT]}, {"content": [TEXT]}], ["aa"]),
    "parts, then words": ([{"content": [TEXT]}, {"content": "b"}, {"content": "c"}], ["abc"]),
    "words, then parts": ([{"content": "b"}, {"content": [TEXT]}], ["ba"]),
    "a reasoning column": ([{"reasoning": "a"}, {"reasoning": "b"}, {"content": "c"}], ["ab", "c"]),
    "reasoning twice": (
        [
            {"reasoning": "a", "reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]},
            {"reasoning": "b", "reasoning_details": [{"type": "reasoning.text", "text": "b", "index": 0}]},
            {"content": "c"},
        ],
        ["ab", "c"],
    ),
    "a whole message beside the delta": ([chunk({"content": "a"}, message={"content": "a"})], ["a"]),
    "a last message with more than its deltas": (
        [chunk({"content": "a"}), chunk({}, finish="stop", message={"content": "ab", "reasoning": "c"})],
        ["c", "ab"],
    ),
    "a choice without a number": ([{"choices": [{"delta": {"content": "a"}}]}], ["a"]),
    "other ids in every chunk": ([chunk({"content": "a"}), {**chunk({"content": "b"}), "id": "c2"}], ["ab"]),
    "two ends": ([{"content": "a"}, chunk(finish="stop"), {**chunk({"content": ""}, finish="stop")}], ["a"]),
}


@pytest.mark.parametrize("case", sorted(TEXT_FORMS))
def test_chat_stream_decoder_reads_every_form_of_texts(case: str) -> None:
    chunks, expected = TEXT_FORMS[case]
    events = chat(*chunks)
    assert isinstance(events[-1], TurnComplete)
    assert summary(events) == expected
    assert fold(events).id == "c1"


def whole(message: dict[str, Any], finish: str) -> dict[str, Any]:
    """Return the chunk with the whole message with which some hosts end a stream."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    return {**chunk(), "object": "chat.completion", "choices": [choice]}


CALL = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
OTHER = {"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": '{"x":2}'}}
REPEATED: dict[str, tuple[list[Any], dict[str, Any], list[Any]]] = {
    "a text": ([{"content": "He"}, chunk({"content": "llo"}, finish="stop")], {"content": "Hello"}, ["Hello"]),
    "the end of a text": ([{"content": "He"}], {"content": "Hello"}, ["Hello"]),
    "another text": ([{"content": "Hello"}], {"content": "Bye"}, ["Hello"]),
    "a reasoning": (
        [{"reasoning_content": "I"}, {"content": "Hi"}],
        {"content": "Hi", "reasoning_content": "I"},
        ["I", "Hi"],
    ),
    "a call": ([calls(call(0, "", "f", "a")), calls(call(0, '{"x":1}'))], {"content": "", "tool_calls": [CALL]}, [A]),
    "a call with a new id": ([calls(CALL)], {"tool_calls": [{**CALL, "id": "c"}]}, [A]),
    "the end of a call": ([calls(call(0, '{"x"', "f", "a"))], {"tool_calls": [CALL]}, [A]),
    "a call without a list": ([calls(CALL)], {"tool_calls": CALL}, [A]),
    "a missing call": ([calls(CALL)], {"content": None, "tool_calls": [CALL, OTHER]}, [A, B]),
    "calls without numbers": (
        [calls(CALL, OTHER)],
        {"tool_calls": [{key: one[key] for key in one if key != "index"} for one in (CALL, OTHER)]},
        [A, B],
    ),
    "everything": ([{"role": "assistant"}], {"content": "Hi", "tool_calls": [CALL]}, ["Hi", A]),
}


@pytest.mark.parametrize("case", sorted(REPEATED))
def test_chat_stream_decoder_takes_only_what_is_missing_from_a_message_after_deltas(case: str) -> None:
    deltas, message, expected = REPEATED[case]
    events = chat(*deltas, whole(message, "stop"), finish=None)
    assert isinstance(events[-1], TurnComplete)
    assert summary(events) == expected


def test_chat_stream_decoder_keeps_the_fields_of_a_message_beside_its_last_delta() -> None:
    # The chunks of Writer have both fields.
    message = {"role": "assistant", "content": "a", "web_search_data": {"query": "q"}, "tool_calls": [CALL]}
    events = chat({"content": "a"}, chunk(calls(CALL)), chunk({}, finish="tool_calls", message=message), finish=None)
    answer = fold(events).choices[0].messages[0]
    assert summary(events) == ["a", A]
    assert answer.extra == {"openai-chat": {"web_search_data": {"query": "q"}}}


def test_chat_stream_decoder_keeps_unknown_parts_before_the_text() -> None:
    part = {"type": "hologram", "frames": 3}
    contents = fold(chat({"content": [part]}, {"content": "b"}, {"content": "c"})).messages[0].contents
    assert isinstance(contents[0], UnknownContent)
    assert contents[0].block == part
    assert contents[1].text == "bc"


def thinking(*texts: str) -> dict[str, Any]:
    """Return a part with reasoning as Mistral's API has it."""
    return {"type": "thinking", "thinking": [{"type": "text", "text": text} for text in texts]}


def test_chat_stream_decoder_joins_thinking_parts() -> None:
    events = chat({"content": [thinking("I ", "am ")]}, {"content": [thinking("sure.")]}, {"content": "Yes."})
    assert [type(event).__name__ for event in events if isinstance(event, BlockDelta)] == [
        *("ReasoningDelta", "ReasoningDelta", "TextDelta")
    ]
    thought, text = fold(events).messages[0].contents
    assert isinstance(thought, ReasoningContent)
    assert (thought.text, text.text) == ("I am sure.", "Yes.")


def test_chat_stream_decoder_reads_interleaved_choices() -> None:
    events = chat(
        chunk({"content": "a"}),
        chunk({"content": "x"}, index=1),
        {"content": "b"},
        chunk({"content": "y"}, index=1, finish="length"),
    )
    response = fold(events)
    assert [(c.index, c.messages[0].text, c.finish_reason.raw) for c in response.choices if c.finish_reason] == [
        (0, "ab", "stop"),
        (1, "xy", "length"),
    ]


def of_choice(index: int, text: str | None, finish: str | None = None) -> dict[str, Any]:
    """Return a chunk of one of several choices."""
    wire = chunk({"content": text}, finish=finish)
    return {**wire, "choices": [{**wire["choices"][0], "index": index}]}


BEGUN_LATE = [of_choice(1, "Heron"), of_choice(1, " Bay"), of_choice(0, "Gull"), of_choice(1, "", "stop")]


def of_gemini(index: int, text: str, finish: str | None = None) -> dict[str, Any]:
    """Return a chunk of one of several candidates."""
    ending = {"finishReason": finish} if finish else {}
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": index, **ending}]}


@pytest.mark.parametrize("api", ["openai-chat", "mistral-chat"])
def test_stream_decoder_keeps_positions_of_choices_that_begin_out_of_order(api: str) -> None:
    chunks = [*BEGUN_LATE, of_choice(0, " Cove", "stop")]
    response = fold(lawful(api, sse(*chunks) + b"data: [DONE]\n\n"))
    assert [(choice.index, choice.messages[0].text) for choice in response.choices] == [
        (0, "Gull Cove"),
        (1, "Heron Bay"),
    ]
    assert response.text == "Gull Cove"


def test_gemini_stream_decoder_keeps_positions_of_candidates_that_begin_out_of_order() -> None:
    chunks = [of_gemini(1, "Heron"), of_gemini(0, "Gull"), of_gemini(1, " Bay", "STOP"), of_gemini(0, " Cove", "STOP")]
    response = fold(lawful("google-generate-content", sse(*chunks)))
    assert [choice.messages[0].text for choice in response.choices] == ["Gull Cove", "Heron Bay"]


@pytest.mark.parametrize("end", [b"", b"data: [DONE]\n\n"])
def test_stream_decoder_reads_a_choice_whose_predecessor_never_begins(end: bytes) -> None:
    events = lawful("openai-chat", sse(of_choice(1, "Heron"), of_choice(1, " Bay", "stop")) + end)
    assert isinstance(events[-1], TurnComplete)
    assert [(choice.index, choice.messages[0].text) for choice in fold(events).choices] == [(1, "Heron Bay")]


def test_truncated_stream_keeps_delayed_choices() -> None:
    response = fold(lawful("openai-chat", sse(of_choice(2, "Heron"), of_choice(1, "Gull"))))
    assert [choice.messages[0].text for choice in response.choices] == ["Gull", "Heron"]


def test_chat_stream_decoder_reads_the_finish_reason_of_a_choice_without_index() -> None:
    events = chat(
        {"choices": [{"delta": {"content": "a"}}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}, finish=None
    )
    assert fold(events).finish_reason == FinishReason(reason="stop", raw="stop")


def test_chat_stream_decoder_reads_the_finish_reason_of_a_choice_without_delta() -> None:
    end = {**chunk(), "choices": [{"index": 0, "finish_reason": "length"}]}
    events = chat({"content": "a"}, end, finish=None)
    assert fold(events).finish_reason == FinishReason(reason="length", raw="length")


def test_chat_stream_decoder_appends_logprobs_and_keeps_other_fields() -> None:
    probability = {"token": "a", "logprob": -1, "bytes": None, "top_logprobs": []}
    seed = 7228414683750928001
    events = chat(
        chunk({"content": "a"}, logprobs={"content": [probability], "refusal": None}),
        chunk({"content": "b"}, logprobs={"content": [probability], "refusal": None}, seed=seed),
    )
    choice = fold(events).choices[0]
    assert choice.logprobs == {"content": [probability] * 2, "refusal": None}
    encoded = contentmodel.adapter("openai-chat").encode_response(fold(events)).to_json()
    assert json.loads(encoded)["choices"][0]["seed"] == seed


def test_chat_stream_decoder_joins_padded_audio_as_bytes() -> None:
    pieces = [base64.b64encode(piece).decode() for piece in (b"1", b"23", b"456")]
    first, second, third = ({"audio": {"data": piece}} for piece in pieces)
    events = chat({"audio": {"id": "x", "transcript": "he"}}, first, second, third, {"audio": {"transcript": "llo"}})
    content = fold(events).messages[0].contents[0]
    assert base64.b64decode(content.data) == b"123456"
    assert content.transcript == "hello"


def test_chat_stream_decoder_reads_citations_before_and_after_their_text() -> None:
    link = {"type": "url_citation", "url_citation": {"url": "u", "title": "t", "start_index": 0, "end_index": 1}}
    for chunks in ([{"annotations": [link]}, {"content": "a"}], [{"content": "a"}, {"annotations": [link]}]):
        (content,) = fold(chat(*chunks)).messages[0].contents
        assert [citation.url for citation in content.annotations] == ["u"]


@pytest.mark.parametrize("done", [True, False])
def test_chat_stream_without_finish_reason_is_complete_only_with_done(done: bool) -> None:
    events = chat({"content": "a"}, finish=None, done=done)
    assert isinstance(events[-1], TurnComplete if done else TurnError)
    assert summary(events) == ["a"]


@pytest.mark.parametrize(("times", "expected"), [((0, 7, 8), 7), ((7, 8), 7), ((0, 0), 0)])
def test_time_of_stream_is_the_first_that_is_not_zero(times: tuple[int, ...], expected: int) -> None:
    deltas = [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}]
    first = {"id": "", "created": times[0], "model": "", "choices": [], "prompt_filter_results": []}
    chunks = [{"id": "c", "created": time, "model": "m", "choices": deltas} for time in times[1:]]
    events = chat(first, *({**one, "object": "chat.completion.chunk"} for one in chunks), finish=None)
    assert fold(events).created == expected


def test_streamed_audio_after_its_transcript_is_one_member_of_a_gemini_part() -> None:
    deltas = [{"audio": {"id": "a", "transcript": "Hi"}}, {"audio": {"data": "AAAA"}}]
    raw = sse(*map(chunk, deltas), chunk(finish="stop")) + b"data: [DONE]\n\n"
    converted = contentmodel.convert(raw, source="openai-chat", target="google-generate-content", kind="stream").payload
    assert b'{"inlineData":{"data":"AAAA"}}' in converted


FLAG = {"extra_content": {"google": {"thought": True}}}
# By the content and its pieces: the pieces of a thought have the flag.
THOUGHTS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "a thought and an answer": (
        [
            {"content": "<thought>Plan. ", **FLAG},
            {"content": "Go.", **FLAG},
            {"content": "</thought>Hi"},
            {"content": "!"},
        ],
        [("reasoning", "Plan. Go."), ("text", "Hi!")],
    ),
    "tags that are cut": (
        [{"content": "<thou", **FLAG}, {"content": "ght>a</b</thou", **FLAG}, {"content": "ght>Hi"}],
        [("reasoning", "a</b"), ("text", "Hi")],
    ),
    "all at once": ([{"content": "<thought>a</thought>Hi", **FLAG}], [("reasoning", "a"), ("text", "Hi")]),
    "an empty answer": ([{"content": "<thought>a</thought>", **FLAG}], [("reasoning", "a"), ("text", "")]),
    "a thought without an end": ([{"content": "<thought>a</th", **FLAG}], [("reasoning", "a</th")]),
    "an empty thought": (
        [{"content": "<thought>", **FLAG}, {"content": "</thought>Hi"}],
        [("text", "<thought></thought>Hi")],
    ),
    "no tags": ([{"content": "Hi", **FLAG}], [("text", "Hi")]),
    "a late flag": ([{"content": "Hi"}, {"content": "!", **FLAG}], [("text", "Hi!")]),
    "no flag": ([{"content": "<thought>a</thought>Hi"}], [("text", "<thought>a</thought>Hi")]),
}


@pytest.mark.parametrize("case", THOUGHTS)
def test_thoughts_of_gemini_in_the_content_are_reasoning(case: str) -> None:
    deltas, expected = THOUGHTS[case]
    events = chat(*deltas)
    response = fold(events)
    contents = response.messages[0].contents
    kinds = {ReasoningContent: "reasoning", TextContent: "text"}
    assert [(kinds[content.__class__], content.text) for content in contents] == expected  # type: ignore[attr-defined, index]
    encoded = contentmodel.adapter("openai-chat").encode_response(response)
    content = "".join(delta["content"] for delta in deltas)
    assert encoded.payload["choices"][0]["message"]["content"] == content
    assert encoded.losses == ()
    again = contentmodel.adapter("openai-chat").decode_response(encoded.payload)
    assert again.messages[0].contents == contents
    made = contentmodel.convert(encoded.payload, source="openai-chat", target="anthropic-messages")
    assert made.payload["content"] == [
        {"type": "text", "text": text} for kind, text in expected if kind == "text" and text
    ]
    assert contentmodel.audit(encoded.payload, made) == []
