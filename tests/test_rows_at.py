"""The row that a finding of the kit names: the place in the adapter's table where the defect is."""

from __future__ import annotations

import time
from typing import Any

import pytest

import contentmodel
from contentmodel import ChatRequest, FunctionResultContent, Origin, TextContent, user
from contentmodel_conformance import cli_run
from contentmodel_conformance.rows_at import row_at
from contentmodel_conformance.suite import Progress

CHAT, MISTRAL = contentmodel.adapter("openai-chat"), contentmodel.adapter("mistral-chat")
PAYLOAD = {
    "model": "m",
    "stop": ["x"],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "a": 1}]}],
    "tools": [{"type": "function", "function": {"name": "f"}}],
}


@pytest.mark.parametrize(
    ("where", "row"),
    [
        ("$.stop[0]", "request (ChatRequest): field stop is attribute options.stop_sequences, by TextOrTexts"),
        ("$.tools[0].function.name", "function (FunctionTool): field function.name is attribute name, by Codec"),
        ("$.tools[0].type", "function (FunctionTool): field type is the constant 'function'"),
        ("$.messages[0].content[0].a", "text (TextContent): no field a, so that it is kept in the residue"),
        ("$.messages[0].content[0]", "text (TextContent)"),
    ],
)
def test_row_of_payload_is_the_innermost_one(where: str, row: str) -> None:
    assert row_at(MISTRAL, PAYLOAD, where) == row


def test_rows_of_value_map_its_attribute() -> None:
    result = FunctionResultContent(call_id="c", outputs=[TextContent(text="x")])
    request = ChatRequest(messages=[user(result)])
    assert "attribute call_id is field tool_call_id" in row_at(MISTRAL, request, "$.messages[0].contents[0].call_id")
    assert row_at(MISTRAL, request, "$.messages[0].contents[0].outputs[0].text").startswith(
        "text (TextContent): attribute text is field text; reference (TextContent): attribute text belongs to "
    )


def test_attribute_without_a_field_comes_with_the_fix() -> None:
    request = ChatRequest(messages=[user(TextContent(text="x"))])
    found = row_at(MISTRAL, request, "$.messages[0].contents[0].annotations")
    assert found.startswith("text (TextContent): no field for attribute annotations: map a field to it, or add Silent(")


def test_path_in_the_source_leads_to_rows_of_the_target() -> None:
    request = CHAT.decode_request({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5})
    assert request.origin == Origin(api="openai-chat", issuer="openai", model="m")
    found = row_at(MISTRAL, request, "$.max_completion_tokens") or row_at(MISTRAL, request, "$.max_tokens")
    assert found == "request (ChatRequest): attribute options.max_output_tokens is field max_tokens"


@pytest.mark.parametrize("value", [None, [], {"messages": 7}, "text"])
def test_path_without_a_row_has_none(value: Any) -> None:
    assert row_at(MISTRAL, value, "$") in ("", "request (ChatRequest)")


def test_progress_has_a_line_every_few_seconds_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 1.0, 6.0, 7.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    update = cli_run._lines()
    for done, check in enumerate(["a", "b", "c"]):
        update(Progress(api="my-api", check=check, done=done, count=3, outcome=None))
    assert capsys.readouterr().err.splitlines() == ["my-api: 1 of 3 checks, now b"]
