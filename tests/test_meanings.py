"""Audits of finish reasons and models."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from contentmodel import Encoded, Loss, adapter, audit, convert
from contentmodel.auditing import unaccounted, vocabulary_of_api
from contentmodel.meanings import finishes

ANTHROPIC, CHAT, RESPONSES = "anthropic-messages", "openai-chat", "openai-responses"


def ended(reason: str) -> dict[str, Any]:
    """Return an answer of the Messages API with this stop reason, and a text that names the model."""
    usage = {"input_tokens": 1, "output_tokens": 2}
    content = [{"type": "text", "text": "I am claude-opus-4-8."}]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-8"}
    return {**head, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}


def answered(reason: str) -> Encoded[Any]:
    """Return this answer, converted to Chat Completions."""
    return convert(ended(reason), source=ANTHROPIC, target=CHAT, kind="response")


def missing(reason: str, payload: Any, losses: Collection[Loss]) -> list[tuple[str, Any]]:
    vocabularies = vocabulary_of_api(ANTHROPIC), vocabulary_of_api(CHAT)
    return [(one.path, one.value) for one in unaccounted(ended(reason), payload, [*losses], *vocabularies)]


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "model_context_window_exceeded", "stop_sequence"])
def test_audit_reports_a_finish_reason_that_changes_without_a_loss(reason: str) -> None:
    made = answered(reason)
    assert audit(ended(reason), made) == []
    others = [loss for loss in made.losses if loss.code != "no-finish-reason"]
    choice = {**made.payload["choices"][0], "finish_reason": "content_filter" if reason == "max_tokens" else "length"}
    assert missing(reason, {**made.payload, "choices": [choice]}, others) == [("$.stop_reason", reason)]


def test_audit_reports_an_exact_finish_reason_that_becomes_the_usual_one_without_a_loss() -> None:
    made = answered("model_context_window_exceeded")
    found = missing("model_context_window_exceeded", made.payload, ())
    assert ("$.stop_reason", "model_context_window_exceeded") in found


def test_audit_takes_a_finish_reason_that_means_the_same() -> None:
    for reason in ("end_turn", "max_tokens", "tool_use"):
        assert [loss for loss in answered(reason).losses if loss.code == "no-finish-reason"] == []
        assert audit(ended(reason), answered(reason)) == []


def test_audit_reports_a_changed_model_that_a_text_names() -> None:
    made = answered("end_turn")
    assert missing("end_turn", {**made.payload, "model": "gpt-4o"}, made.losses) == [("$.model", "claude-opus-4-8")]


def test_finishes_reads_the_reason_of_an_incomplete_answer_instead_of_its_status() -> None:
    details = {"reason": "max_output_tokens"}
    vocabulary = vocabulary_of_api(RESPONSES)
    assert vocabulary is not None
    found = [*finishes({"status": "incomplete", "incomplete_details": details, "output": []}, vocabulary)]
    assert [(one.value, one.path) for one in found] == [("max_output_tokens", "$.incomplete_details.reason")]
    assert "$.status" in found[0].above
    found = [*finishes({"status": "failed", "incomplete_details": None}, vocabulary)]
    assert [(one.value, one.path) for one in found] == [("failed", "$.status")]


def test_value_is_usual_if_the_content_made_another_reason_of_the_usual_stop() -> None:
    finish = adapter("bedrock-converse").finish
    assert finish.is_usual("end_turn", "tool_calls")
    assert not finish.is_usual("stop_sequence", "tool_calls")
    # An application changed the reason: the value is no longer true.
    assert finish.is_usual("stop_sequence", "length")
