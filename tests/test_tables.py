"""Tables check themselves when they are built: an error names the row, the field or the attribute, and the fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contentmodel import ChatRequest, ChatResponse, FunctionCallContent, TextContent, UriContent, Usage
from contentmodel.authoring import (
    ArgumentsText,
    Blocks,
    ErrorTypes,
    Implied,
    One,
    OneOf,
    Record,
    Row,
    Rules,
    Table,
    TableAdapter,
    row,
)

TABLE = Table("my-api")
TEXT = row("text", TextContent, {"text": "text"})
TEXTS = TABLE.union("part", [TEXT])
USAGE = TABLE.record("usage", Usage, {"in": "input_tokens"})
WRONG: Any = ("text", 1, 2)

FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "misspelled attribute": (
        lambda: row("text", TextContent, {"text": "txt"}),
        "row text: field text: TextContent has no attribute 'txt': did you mean 'text'?",
    ),
    "unknown attribute": (
        lambda: Row("usage", Usage, {"in": "options.seed"}),
        "row usage: field in: Usage has no attribute 'options': it has input_tokens, ",
    ),
    "missing attribute": (
        lambda: row("link", UriContent, {"kind": "media_type"}),
        'row link: UriContent needs uri, which no field sets: map a field to "uri", or add Implied({"uri": ...})',
    ),
    "class in place of a codec": (
        lambda: row("call", FunctionCallContent, {"with": ("arguments", ArgumentsText)}),  # type: ignore[dict-item]
        "row call: the codec of field with is <class 'contentmodel.engine.table.codecs.ArgumentsText'>: "
        "write ArgumentsText(...)",
    ),
    "no attribute and codec": (
        lambda: row("text", TextContent, {"text": WRONG}),
        'row text: field text is (\'text\', 1, 2): write "attribute", or ("attribute", codec)',
    ),
    "no codec": (
        lambda: row("text", TextContent, {"text": "text", "sealed": "protected"}),
        "row text: field sealed, attribute protected: there is no default codec for the type ",
    ),
    "field twice": (
        lambda: row("link", UriContent, {"link": "uri", "link.name": "name"}),
        "row link: link.name is mapped twice",
    ),
    "row twice": (
        lambda: Table("my-api").union("part", [row("a", TextContent, {"text": "text"}) for _ in range(2)]),
        'union part: two rows are named a: give one of them another name: row("a", ..., form="...")',
    ),
    "row in place of a union": (
        lambda: OneOf(USAGE),  # type: ignore[arg-type]
        "OneOf needs a union, got the row usage: use Record(row) for a value of one type",
    ),
    "union in place of a row": (
        lambda: Record(TEXTS),  # type: ignore[arg-type]
        "Record needs a row, got ",
    ),
    "list in place of one value": (
        lambda: Row("response", ChatResponse, {"usage": ("usage", One(TEXTS))}),
        "row response: field usage, attribute usage: One does not fit, because the attribute is no list: use Record",
    ),
    "one value in place of a list": (
        lambda: Row("response", ChatResponse, {"choices": ("choices", Record(USAGE))}),
        "row response: field choices, attribute choices: Record does not fit, because the attribute is a list: "
        "use Blocks(union)",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_table_names_row_field_and_fix(name: str) -> None:
    build, message = FAULTS[name]
    with pytest.raises(TypeError) as caught:
        build()
    assert str(caught.value).startswith(message)


ADAPTERS: dict[str, tuple[dict[str, Any], str]] = {
    "missing rules": ({}, "Mine has no attribute rules: set it to the rules of the API: Rules(api), if there are none"),
    "misspelled steps": (
        {"rules": Rules("my-api"), "response_step": ()},
        "Mine: adapters have no attribute response_step: did you mean response_steps?",
    ),
    "rules of another API": (
        {"rules": Rules("other-api")},
        "Mine is the adapter of my-api, and has a table of my-api, rules of other-api: use one id for all",
    ),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_adapter_names_the_attribute_and_the_fix(name: str) -> None:
    attributes, message = ADAPTERS[name]
    usual = {"api": "my-api", "issuer": "me", "table": TABLE, "request": TABLE.record("request", ChatRequest, {})}
    with pytest.raises(TypeError) as caught:
        type("Mine", (TableAdapter,), {**usual, **attributes})()
    assert str(caught.value) == message


def test_error_types_name_the_missing_kind_and_the_fix() -> None:
    with pytest.raises(ValueError, match='add "server"'):
        ErrorTypes((), {}, {})


def test_table_takes_implied_attributes_and_fitting_codecs() -> None:
    Row("call", FunctionCallContent, {"id": "call_id"}, Implied({"name": "search", "arguments": {}}))
    Row("response", ChatResponse, {"usage": ("usage", Record(USAGE))})
    assert Blocks(TEXTS).union is TEXTS
