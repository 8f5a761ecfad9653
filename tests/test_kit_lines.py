"""The conformance kit on an adapter whose documents are JSON Lines, without responses and streams."""

from __future__ import annotations

from typing import Any

import pytest

import contentmodel
from chat_log import ChatLog, adapter
from conftest import PROFILE
from contentmodel import DecodeError
from contentmodel.adapter import as_json
from contentmodel_conformance import Report, check_adapter, trying

PAYLOADS: dict[str, Any] = {
    "request": [
        [
            {"role": "user", "content": "What time is it?", "time": 1},
            {"role": "assistant", "content": [{"type": "call", "id": "c1", "name": "clock", "arguments": {}}]},
            {"role": "tool", "id": "c1", "content": "12:00"},
            {"role": "note", "text": "resumed"},
            '{"role": "assist',
        ]
    ]
}
FAST = ("face", "detection", "identity", "totality", "stability", "section", "prefixes", "accounting/list", "purity")


PARTNERS = [contentmodel.adapter(api) for api in ("anthropic-messages", "openai-responses", "codex-rollout")]


def checked(reader: Any, *only: str, tries: int | None = None) -> Report:
    return check_adapter(reader, payloads=PAYLOADS, others=PARTNERS, only=only or None, tries=tries)


def failures(report: Report) -> set[str]:
    return {one.check for one in report.outcomes if one.status == "failed"}


def notes(report: Report) -> dict[str, str]:
    return {one.check: one.note for one in report.outcomes if one.status == "skipped"}


def test_adapter_of_lines_passes_checks_of_documents(chat_log: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "QUICK", 4)
    report = checked(adapter, *FAST)
    assert [finding.detail for one in report.outcomes for finding in one.findings] == []
    passed = {one.check for one in report.outcomes if one.status == "passed"}
    assert {"identity/lines", "identity/given", "totality/deep", "prefixes/foreign"} <= passed


@pytest.mark.slow
def test_adapter_of_lines_passes_checks_of_the_kit(chat_log: Any) -> None:
    report = checked(adapter, tries=None if PROFILE == "deep" else 3)
    assert failures(report) == set()
    assert sum(one.status == "passed" for one in report.outcomes) > 35


def test_checks_of_streams_and_invalid_json_are_skipped_with_the_reason(chat_log: Any) -> None:
    found = notes(checked(adapter, "stream cuts", "refusal", "accounting/list"))
    assert found["refusal/cut"] == "any text is a document: a line that is not JSON is kept as its text"
    assert found["stream-cuts/written"] == "chat-log has no streams, only conversations: decode a request"
    assert "accounting/list" in found


def test_checks_of_lines_are_skipped_for_other_forms() -> None:
    assert (
        notes(check_adapter(contentmodel.adapter("openai-chat"), only=["identity/lines"]))["identity/lines"]
        == "a document is one JSON value"
    )


class DropsTorn(ChatLog):
    """An adapter that ignores a line that is not JSON."""

    def decode_request(self, payload: Any) -> Any:
        return super().decode_request(
            [line for line in as_json(payload, self.api, "lines") if not isinstance(line, str)]
        )


class RefusesTorn(ChatLog):
    """An adapter that refuses a line that is not JSON."""

    def decode_request(self, payload: Any) -> Any:
        if any(isinstance(line, str) for line in as_json(payload, self.api, "lines")):
            raise DecodeError(self.api, [])
        return super().decode_request(payload)


@pytest.mark.parametrize("defect", [DropsTorn, RefusesTorn])
def test_kit_finds_adapter_that_does_not_keep_lines_that_are_not_json(chat_log: Any, defect: type[ChatLog]) -> None:
    assert failures(checked(defect(), "identity/lines")) == {"identity/lines"}
