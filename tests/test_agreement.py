"""The hand-written readers, and the law that compares readings before and after a conversion."""

from __future__ import annotations

import ast
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import anthropic
import google.genai
import pytest
from openai.types.chat.chat_completion import Choice
from openai.types.responses.response import IncompleteDetails

import contentmodel
from conftest import APIS
from contentmodel import convert
from contentmodel.auditing import vocabulary_of_api
from contentmodel_conformance import agreement, check_adapter, laws, readers
from contentmodel_conformance.agreement import Excuses, compare
from contentmodel_conformance.precision import precision
from contentmodel_conformance.readers import READERS
from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    CACHED,
    CALL,
    FAILED,
    FINISH,
    INPUT,
    MEDIUM,
    OUTPUT,
    REASONING,
    RESULT,
    SYSTEM,
    TOTAL,
    USER,
    WRITTEN,
    Fact,
    digest,
    link,
)

CHAT, RESPONSES, ANTHROPIC, GEMINI = APIS
PIXEL = "iVBORw0KGgo="
ANSWERS: dict[str, Any] = {
    ANTHROPIC: {
        "id": "i",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "text", "text": "Hm."},
            {"type": "tool_use", "id": "c", "name": "look", "input": {"q": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 200,
            "cache_creation_input_tokens": 3000,
            "output_tokens": 50,
            "output_tokens_details": {"thinking_tokens": 7},
        },
    },
    CHAT: {
        "id": "i",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "Hm.",
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}
                    ],
                },
            }
        ],
        "usage": {
            "prompt_tokens": 3210,
            "completion_tokens": 50,
            "total_tokens": 3260,
            "prompt_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 3000},
            "completion_tokens_details": {"reasoning_tokens": 7},
        },
    },
    RESPONSES: {
        "id": "i",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"q":1}'},
        ],
        "usage": {
            "input_tokens": 3210,
            "output_tokens": 50,
            "total_tokens": 3260,
            "input_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 3000},
            "output_tokens_details": {"reasoning_tokens": 7},
        },
    },
    GEMINI: {
        "responseId": "i",
        "modelVersion": "m",
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [{"text": "Hm."}, {"functionCall": {"name": "look", "args": {"q": 1}}}],
                },
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 3200,
            "toolUsePromptTokenCount": 10,
            "cachedContentTokenCount": 200,
            "candidatesTokenCount": 43,
            "thoughtsTokenCount": 7,
            "totalTokenCount": 3260,
        },
    },
}
"""The same answer in each API, as far as each can represent it."""


def values(reading: Any, kind: str) -> list[Any]:
    return [fact.value for fact in reading.of(kind)]


@pytest.mark.parametrize("api", APIS)
def test_readers_read_same_facts_from_same_response_of_every_api(api: str) -> None:
    reading = READERS[api]("response", ANSWERS[api])
    assert values(reading, ASSISTANT) == ["Hm."]
    assert values(reading, CALL) == [("look", '{"q":1}')]
    assert (values(reading, INPUT), values(reading, OUTPUT)) == ([3210], [50])
    assert (values(reading, CACHED), values(reading, REASONING)) == ([200], [7])
    assert values(reading, WRITTEN) in ([3000], [])
    assert values(reading, TOTAL) in ([3260], [])
    assert values(reading, FINISH)[0] in ("tool calls", "ended")


def test_readers_import_neither_library_nor_adapters() -> None:
    for path in Path(readers.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.split(".")[0] in ("contentmodel", "contentmodel_adapters", "msgspec") for name in names)


def test_digest_is_equal_for_both_base64_alphabets_and_data_uris() -> None:
    assert digest("-_-_") == digest("+/+/") == link("data:image/png;base64,+/+/") != digest("AAAA")
    assert digest("iVBORw0KGgo") == digest(f" {PIXEL}\n")
    assert link("https://example.org/a.png") == "https://example.org/a.png"


REQUEST = {
    "model": "m",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
                {"type": "text", "text": "And this."},
            ],
        },
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "Seen."},
        {"role": "user", "content": "Thanks."},
    ],
}


def readings_of(kind: str, payload: Any, source: str, target: str) -> tuple[Any, Any, Any]:
    encoded = convert(payload, source=source, target=target, kind=kind)
    before, after = READERS[source](kind, payload), READERS[target](kind, encoded.payload)
    return before, after, Excuses(payload, encoded.losses)


CASES = [("request", REQUEST, CHAT, target) for target in READERS if target != CHAT]
CASES += [("response", ANSWERS[source], source, target) for source, target in permutations(APIS, 2)]
IDS = [f"{kind} {source} to {target}" for kind, _, source, target in CASES]


@pytest.mark.parametrize(("kind", "payload", "source", "target"), CASES, ids=IDS)
def test_compare_finds_each_fact_missing_from_output(kind: str, payload: Any, source: str, target: str) -> None:
    before, after, excuses = readings_of(kind, payload, source, target)
    compare(before, after, excuses)
    shared = [fact for fact in after.facts if fact.value in values(before, fact.kind) and fact.kind != TOTAL]
    assert len(shared) >= 5
    facts = after.facts
    for fact in shared:
        after.facts = [other for other in facts if other is not fact]
        if any(excuses.cover(one) for one in before.of(fact.kind)):
            continue
        with pytest.raises(laws.LawBroken) as found:
            compare(before, after, excuses)
        assert fact.kind in found.value.detail


def test_reader_reads_facts_of_request_with_roles() -> None:
    reading = READERS[CHAT]("request", REQUEST)
    kinds = [fact.kind for fact in reading.facts]
    assert kinds == [SYSTEM, SYSTEM, USER, USER, MEDIUM, ASSISTANT, CALL, RESULT, USER]
    assert reading.facts[0].paths == ("$.messages[0].content[0].text", "$.messages[0].role")


@pytest.mark.parametrize("damage", ["glued", "swapped", "added"])
def test_compare_finds_joined_swapped_and_added_texts(damage: str) -> None:
    before, after, excuses = readings_of("request", REQUEST, CHAT, ANTHROPIC)
    first, second, *_ = after.of(USER)
    kept = [fact for fact in after.facts if fact.kind != USER]
    fact = type(first)
    changed = {
        "glued": [fact(USER, first.value + second.value, first.paths), *after.of(USER)[2:]],
        "swapped": [second, first, *after.of(USER)[2:]],
        "added": [*after.of(USER), *(fact(USER, f"More {number}.", first.paths) for number in range(40))],
    }[damage]
    after.facts = [*kept, *changed]
    with pytest.raises(laws.LawBroken, match="user text"):
        compare(before, after, excuses)


def test_compare_finds_system_texts_that_one_field_joins() -> None:
    payload = {
        "model": "claude-opus-4-8",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}],
        "messages": [{"role": "user", "content": "Hello."}],
    }
    before, after, excuses = readings_of("request", payload, ANTHROPIC, RESPONSES)
    compare(before, after, excuses)
    after.facts = [fact for fact in after.facts if fact.kind != SYSTEM] + [Fact(SYSTEM, "Be brief.", ("$.x",), True)]
    with pytest.raises(laws.LawBroken, match="system text"):
        compare(before, after, excuses)


def test_loss_excuses_only_facts_under_its_path() -> None:
    payload = {**REQUEST, "messages": [*REQUEST["messages"][:2], {"role": "user", "content": "Thanks."}]}
    before, after, _ = readings_of("request", payload, CHAT, ANTHROPIC)
    after.facts = [fact for fact in after.facts if fact.value not in ("And this.", "Be kind.")]
    lost = contentmodel.Loss(path="$.messages[1].content[2]", kind="dropped", what="TextContent", why="a test")
    with pytest.raises(laws.LawBroken) as found:
        compare(before, after, Excuses(payload, [lost]))
    assert found.value.where == "$.messages[0].content[1].text"


def test_loss_of_dropped_list_does_not_excuse_new_text() -> None:
    payload = {**REQUEST, "stop": ["One.", "Two."]}
    before, after, _ = readings_of("request", payload, CHAT, ANTHROPIC)
    lost = contentmodel.Loss(path="$.stop", kind="dropped", what="stop", why="a test")
    compare(before, after, Excuses(payload, [lost]))
    after.facts.append(Fact(USER, "New.", ("$.messages[9].content",)))
    with pytest.raises(laws.LawBroken, match="no loss reports it"):
        compare(before, after, Excuses(payload, [lost]))


def test_compare_ignores_added_blank_text() -> None:
    before, after, _ = readings_of("request", REQUEST, CHAT, ANTHROPIC)
    after.facts.append(Fact(USER, "\n\n", ("$.messages[9].content",)))
    compare(before, after, Excuses(REQUEST, []))


def test_readers_read_tool_failure_from_flags_keys_and_marks() -> None:
    result = {"type": "tool_result", "tool_use_id": "c", "content": "No.", "is_error": True}
    call = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    payload = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}, *messages]}
    assert values(READERS[ANTHROPIC]("request", payload), FAILED) == [True]
    anthropic = contentmodel.adapter(ANTHROPIC)
    for target in (CHAT, RESPONSES, GEMINI):
        target_adapter = contentmodel.adapter(target)
        agreement.agreement((READERS[ANTHROPIC], READERS[target]), anthropic, target_adapter, "request", payload)


@pytest.mark.parametrize("text", ["", "free", "{}", '{"input":"x"}'])
@pytest.mark.parametrize("target", [RESPONSES, ANTHROPIC, GEMINI])
def test_readers_agree_on_input_of_custom_call(target: str, text: str) -> None:
    call = {"type": "custom", "id": "call_1", "custom": {"name": "edit", "input": text}}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "Done."}
    tool = {"type": "custom", "custom": {"name": "edit"}}
    messages = [{"role": "user", "content": "Edit."}, {"role": "assistant", "tool_calls": [call]}, result]
    payload = {"model": "m", "messages": messages, "tools": [tool]}
    chat, target_adapter = contentmodel.adapter(CHAT), contentmodel.adapter(target)
    agreement.agreement((READERS[CHAT], READERS[target]), chat, target_adapter, "request", payload)


def test_user_text_of_compaction_is_not_converted_to_assistant_text() -> None:
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is 2+2?"}]}
    payload = {"id": "i", "object": "response.compaction", "created_at": 1, "output": [message]}
    for target in (ANTHROPIC, CHAT, GEMINI):
        encoded = convert(payload, source=RESPONSES, target=target, kind="response")
        assert not values(READERS[target]("response", encoded.payload), ASSISTANT)
        assert ("$.output[0]", "no-role-in-answer") in [(loss.path, loss.code) for loss in encoded.losses]


@pytest.mark.parametrize("key", ["return_value", "temperature", "instructions"])
def test_undefined_key_of_function_response_is_kept_as_json(key: str) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "look", "args": {}}}]}
    answer = {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "look", "response": {key: "18"}}}]}
    payload = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}, call, answer]}
    encoded = convert(payload, source=GEMINI, target=CHAT, kind="request")
    assert values(READERS[CHAT]("request", encoded.payload), RESULT) == [f'{{"{key}":"18"}}']


def test_agreement_check_is_skipped_without_a_reader() -> None:
    class Delegate:
        api = "like-chat"

        def __getattr__(self, name: str) -> Any:
            return getattr(contentmodel.adapter(CHAT), name)

    others = [contentmodel.adapter(ANTHROPIC)]
    (outcome,) = check_adapter(Delegate(), only=["agreement/crossing"], others=others).outcomes
    assert (outcome.status, "no reader" in outcome.note) == ("skipped", True)
    (outcome,) = check_adapter(Delegate(), only=["agreement/crossing"], others=others, reader=READERS[CHAT]).outcomes
    assert outcome.status != "skipped"


@pytest.mark.parametrize("target", [ANTHROPIC, CHAT, GEMINI])
def test_readers_agree_on_incomplete_response_without_reason(target: str) -> None:
    payload = {**ANSWERS[RESPONSES], "status": "incomplete", "incomplete_details": None}
    adapter, target_adapter = contentmodel.adapter(RESPONSES), contentmodel.adapter(target)
    agreement.agreement((READERS[RESPONSES], READERS[target]), adapter, target_adapter, "response", payload)


def words_of(hint: Any) -> list[str]:
    """Return the values of an optional Literal."""
    return [word for option in get_args(hint) for word in get_args(option)]


REASONS = [
    *((GEMINI, reason.value) for reason in google.genai.types.FinishReason),
    *((ANTHROPIC, reason) for reason in get_args(anthropic.types.StopReason)),
    *((CHAT, reason) for reason in get_args(Choice.model_fields["finish_reason"].annotation)),
    *((RESPONSES, reason) for reason in words_of(IncompleteDetails.model_fields["reason"].annotation)),
]


@pytest.mark.parametrize(("source", "reason"), REASONS)
def test_adapters_and_readers_agree_on_every_finish_reason_of_the_sdks(source: str, reason: str) -> None:
    payload: dict[str, Any] = {
        GEMINI: {"candidates": [{"finishReason": reason}]},
        ANTHROPIC: {**ANSWERS[ANTHROPIC], "content": [], "stop_reason": reason},
        CHAT: {**ANSWERS[CHAT], "choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": reason}]},
        RESPONSES: {**ANSWERS[RESPONSES], "status": "incomplete", "incomplete_details": {"reason": reason}},
    }[source]
    for target in {*APIS} - {source}:
        adapter, target_adapter = contentmodel.adapter(source), contentmodel.adapter(target)
        agreement.agreement((READERS[source], READERS[target]), adapter, target_adapter, "response", payload)


@pytest.mark.parametrize("reason", ["stop", "length", "model_length", "tool_calls", "error"])
def test_adapters_and_readers_agree_on_every_finish_reason_of_mistral(reason: str) -> None:
    source, message = "mistral-chat", {"role": "assistant", "content": ""}
    payload = {**ANSWERS[CHAT], "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    for target in {*APIS} - {source}:
        adapter, target_adapter = contentmodel.adapter(source), contentmodel.adapter(target)
        agreement.agreement((READERS[source], READERS[target]), adapter, target_adapter, "response", payload)


def test_gemini_reader_reads_call_with_thought_flag_as_call() -> None:
    part = {"functionCall": {"name": "look"}, "thought": True, "text": "Hm."}
    reading = READERS[GEMINI]("response", {"candidates": [{"content": {"parts": [part]}}]})
    assert (len(values(reading, CALL)), values(reading, ASSISTANT)) == (1, [])


def test_precision_accepts_surrogate_escaped_in_json_text() -> None:
    # The text of the arguments has half an emoji as an escape, and so not the characters of the reasoning.
    surrogate = "\udfff"
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"q":"\\udfff"}'}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": surrogate}]}
    source = {**ANSWERS[RESPONSES], "output": [thought, call]}
    encoded = convert(source, source=RESPONSES, target=ANTHROPIC, kind="response")
    assert encoded.payload["content"][0]["input"] == {"q": surrogate}
    precision(source, encoded, vocabulary_of_api(RESPONSES), vocabulary_of_api(ANTHROPIC), most=100)
