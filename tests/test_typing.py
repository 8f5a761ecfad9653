"""Public types: their literals match the tables, and `loads` checks the type of a document."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest

import contentmodel
from contentmodel import literals, losses, reasons
from contentmodel.content.text import UNITS
from contentmodel.convert import KINDS, ConvertOptions
from contentmodel.failures import STATUSES
from contentmodel.planning import COSTS
from contentmodel.policies import TEXT_POLICIES
from contentmodel.runner import report
from contentmodel_adapters.anthropic.messages.table import HOSTED_KINDS as ANTHROPIC
from contentmodel_adapters.google.generate_content.tools import HOSTED_KINDS as GOOGLE
from contentmodel_adapters.openai.responses.table import HOSTED_KINDS as RESPONSES


@pytest.mark.parametrize(
    ("literal", "known"),
    [
        (literals.PayloadKind, KINDS),
        (literals.ErrorKind, STATUSES),
        (literals.LossKind, reasons.KINDS),
        (literals.LossKind, COSTS),
        (literals.TextUnit, UNITS),
        (report.StopReason, report.STOPS),
        (report.CallOutcome, report.OUTCOMES),
        (literals.ToolKind, {*ANTHROPIC.values(), *GOOGLE.values(), *RESPONSES.values(), "advisor", "other"}),
    ],
    ids=["payloads", "errors", "losses", "costs", "units", "stops", "outcomes", "tools"],
)
def test_literal_type_has_the_values_of_its_table(literal: Any, known: Any) -> None:
    assert set(get_args(literal)) == set(known)


def test_loss_families_are_values_of_the_literal_type() -> None:
    assert set(losses._FAMILIES.values()) < set(get_args(literals.LossFamily))


def test_policies_type_has_the_choices_of_the_table() -> None:
    hints = get_type_hints(literals.Policies)
    assert hints.pop("capabilities") is str
    assert hints.pop("output_limit") is str
    assert [hints.pop(name) for name in TEXT_POLICIES] == [str, str, str]
    assert {name: get_args(choices) for name, choices in hints.items()} == contentmodel.POLICIES


def test_convert_options_match_parameters_of_convert() -> None:
    parameters = get_type_hints(contentmodel.convert)
    options = get_type_hints(ConvertOptions)
    assert options == {name: parameters[name] for name in options}
    assert parameters.keys() - options.keys() == {"payload", "target", "kind", "return"}


def test_open_literal_is_str_at_run_time() -> None:
    assert literals.Open[literals.Role] is str
    assert literals.Open[literals.Role | None] == str | None


def test_loads_rejects_document_of_another_type() -> None:
    request = contentmodel.ChatRequest(messages=[contentmodel.user("Hello")])
    stored = contentmodel.dumps(request)
    assert contentmodel.loads(stored, contentmodel.ChatRequest) == request
    with pytest.raises(contentmodel.DecodeError, match="expected ChatResponse, got a document of the kind 'request'"):
        contentmodel.loads(stored, contentmodel.ChatResponse)


def test_loads_accepts_list_type_and_content_type() -> None:
    messages = [contentmodel.user("Hello")]
    text = contentmodel.TextContent(text="Hello")
    assert contentmodel.loads(contentmodel.dumps(messages), list[contentmodel.ChatMessage]) == messages
    assert contentmodel.loads(contentmodel.dumps(text), contentmodel.TextContent) == text
    with pytest.raises(contentmodel.DecodeError, match="expected DataContent"):
        contentmodel.loads(contentmodel.dumps(text), contentmodel.DataContent)
