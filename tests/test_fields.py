"""The kinds of fields: generated code equals plain code, on every row of every adapter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given

import contentmodel
from conftest import records, slow
from contentmodel import (
    Citation,
    DataContent,
    ErrorContent,
    HostedTool,
    Origin,
    TextContent,
    UnknownContent,
    UriContent,
)
from contentmodel.authoring import Codec, DataUri, Filled, Gathered, Implied, Rest, Row, Silent, Table, dotted_key
from contentmodel.content import CustomToolCallContent
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.table import compile as compiling
from contentmodel.engine.table import rows
from contentmodel.errors import ContentModelError
from contentmodel_conformance.mutants.engine.changes import reloaded_adapters
from contentmodel_conformance.strategies.damage import misfitting
from contentmodel_conformance.strategies.sdk import disturbed, sdk_payloads, with_unknowns
from contentmodel_conformance.strategies.transcripts import answers, transcripts

APIS = ("anthropic-messages", "google-generate-content", "openai-chat", "openai-responses", "turn-blocks")
TYPED = APIS[:-1]
KINDS = ("request", "response")

# -- generated and plain code ------------------------------------------------------------------------------------------


def both(row: Row) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the generated functions of a row. They compare their results with those of the plain functions."""
    decode, encode = compiling.generated(row)
    decode_plainly, encode_plainly = compiling.plain(row)

    def decode_twice(wire: dict[str, Any], context: DecodeContext) -> Any:
        other = _copied(context)
        before = copy.deepcopy(wire)
        value, plain = decode(wire, context), decode_plainly(wire, other)
        assert wire == before
        assert value == plain, row
        assert _faults(context) == _faults(other), row
        assert len(context.traces) == len(other.traces), row
        return value

    def encode_twice(value: Any, context: EncodeContext) -> dict[str, Any]:
        other = _copied(context)
        wire: dict[str, Any] = encode(value, context)
        plain = encode_plainly(value, other)
        assert wire == plain, row
        assert _notes(context) == _notes(other), row
        return wire

    return decode_twice, encode_twice


def _copied(context: Any) -> Any:
    """Return a copy of a context with lists of its own."""
    other = copy.copy(context)
    for name in context.__slots__:
        value = getattr(context, name)
        if isinstance(value, list | dict):
            setattr(other, name, copy.copy(value))
    return other


def _faults(context: DecodeContext) -> list[tuple[str, str]]:
    return sorted((str(key), message) for _, key, message in context._faults.values())


def _notes(context: EncodeContext) -> list[tuple[Any, ...]]:
    return [
        (owner.__class__, field, reason.code, api, values)
        for owner, field, reason, api, values in context.pending_losses
    ]


@pytest.fixture(scope="module")
def adapters() -> Iterator[dict[str, Any]]:
    """New adapters with rows that run both the generated and the plain code."""
    contentmodel.adapters()
    with pytest.MonkeyPatch.context() as patch, reloaded_adapters():
        patch.setattr(rows, "generated", both)
        # Rows are compiled when they are first used.
        yield contentmodel.adapters()


def decode_and_encode(payload: Any, api: str, kind: str, adapters: dict[str, Any]) -> None:
    """Decode a payload, and encode it for every API."""
    try:
        value = getattr(adapters[api], f"decode_{kind}")(payload)
    except ContentModelError:
        return
    for target in APIS:
        write(value, kind, adapters[target])


def write(value: Any, kind: str, target: Any) -> None:
    """Encode a value of the model for an API. Ignore errors of the library."""
    with suppress(ContentModelError):
        getattr(target, f"encode_{kind}")(value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("api", [TYPED[0], *map(slow, TYPED[1:])])
def test_generated_and_plain_code_agree_on_payloads_of_the_sdks(api: str, kind: str, adapters: dict[str, Any]) -> None:
    payloads = sdk_payloads(api, kind)

    @given(payloads | with_unknowns(payloads) | disturbed(payloads))
    def agree(payload: Any) -> None:
        decode_and_encode(payload, api, kind, adapters)

    agree()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("api", TYPED)
def test_generated_and_plain_code_agree_on_conversations(api: str, kind: str, adapters: dict[str, Any]) -> None:
    drawn: Any = transcripts(api) if kind == "request" else answers(api)
    payloads = drawn.map(lambda value: getattr(contentmodel.adapter(api), f"encode_{kind}")(value).payload)

    @given(drawn, payloads.flatmap(lambda payload: misfitting(payload, ("type", "role", "status", "text"))))
    def agree(value: Any, misfits: Any) -> None:
        for target in APIS:
            write(value, kind, adapters[target])
        decode_and_encode(misfits, api, kind, adapters)

    agree()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("api", TYPED)
def test_generated_and_plain_code_agree_on_recorded_traffic(
    api: str, kind: str, adapters: dict[str, Any], corpus: Any
) -> None:
    for record in records(api, kind):
        decode_and_encode(record["body"], api, kind, adapters)


# -- invalid rows ------------------------------------------------------------------------------------------------------


class Misreporting(Silent):
    """Report the unwritten value in generated code only."""

    def finish(self, value: Any, wire: dict[str, Any], context: EncodeContext) -> None:
        """Report nothing."""


class Misreading(Gathered):
    """Read fewer fields in generated code than in plain code."""

    def read_source(self, count: str, code: Any) -> None:
        super().read_source(count, code)
        code.read["arguments"] = "None"


def test_comparison_finds_generated_code_that_differs() -> None:
    row = Row("call", CustomToolCallContent, {"id": "call_id"}, Misreading("arguments", "input")).bind("an-api")
    with pytest.raises(AssertionError):
        both(row)[0]({"id": "1", "input": "x"}, DecodeContext("an-api", Origin(api="an-api", issuer="me")))
    row = Row("link", UriContent, {"uri": "uri"}, Misreporting()).bind("an-api")
    with pytest.raises(AssertionError):
        both(row)[1](UriContent(uri="x", name="y"), EncodeContext("an-api", "me", "request"))


def test_row_rejects_path_that_is_mapped_twice() -> None:
    with pytest.raises(TypeError, match="row tool: source is mapped twice"):
        Row("tool", HostedTool, {"source.data": "kind", "source": "name"})


class Spelled(Codec[str]):
    """A text that is written to the field in which it was read, which it begins with."""

    classes = (str,)
    identity = False

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def encode(self, value: str, context: EncodeContext, owner: object) -> str | None:
        return value if value.startswith(self.path) else None


@pytest.mark.parametrize("path", ["a", "b", "c.d"])
def test_row_reads_the_set_one_of_several_fields_of_an_attribute(path: str) -> None:
    row = Row("source", Citation, {name: ("url", Spelled(name)) for name in ("a", "b", "c.d")}).bind("x")
    decode, encode = both(row)
    wire: dict[str, Any] = {"c": {"d": "c.d!"}} if path == "c.d" else {path: f"{path}!"}
    value = decode(wire, DecodeContext("x", Origin(api="x", issuer="x")))
    assert value == Citation(url=f"{path}!")
    assert encode(value, EncodeContext("x", "x", "request", None, Origin(api="x", issuer="x"))) == wire


def test_row_rejects_two_fields_of_same_class() -> None:
    with pytest.raises(TypeError, match="row tool: two fields of the same class"):
        Row("tool", HostedTool, {}, Rest("settings"), Rest("settings"))


def test_rest_has_the_paths_of_mapped_fields_with_other_values() -> None:
    row = Row("tool", HostedTool, {"name": "name", "inside.kind": "kind"}, Rest("settings"), constants={"type": "t"})
    wire = {"type": 7, "name": 7, "inside": {"kind": "k", "a.b": 1}, "other": {"c": 1}}
    paths = ["type", "name", r"inside.a\.b", "other"]
    assert row.fields_of("settings", wire) == paths


def test_filled_in_values_are_not_shared_between_wire_objects() -> None:
    row = Row("tool", HostedTool, {}, Implied({"kind": "x"}), Filled({"filters": []})).bind("an-api")
    tool, context = HostedTool(kind="x"), EncodeContext("an-api", "me", "request")
    for encode in (compiling.generated(row)[1], compiling.plain(row)[1]):
        first, second = encode(tool, context), encode(tool, context)
        assert first == second == {"filters": []}
        assert first["filters"] is not second["filters"]


# -- keys with dots ----------------------------------------------------------------------------------------------------


def test_row_maps_keys_that_contain_dots() -> None:
    fields = {dotted_key("a.text"): "text"}
    filled = Filled({f"inside.{dotted_key('b.c')}": 1})
    mapped = Row("words", TextContent, fields, filled, constants={dotted_key("a.type"): "words"}).bind("an-api")
    context = DecodeContext("an-api", Origin(api="an-api", issuer="me"))
    wire = {"a.type": "words", "a.text": "Hi.", "a": {"text": "No."}}
    text = mapped.decode(wire, context)
    assert text == TextContent(text="Hi.", extra={"an-api": {"a": {"text": "No."}}})
    encoding = EncodeContext("an-api", "me", "request", origin=None)
    assert mapped.encode(text, encoding) == {**wire, "inside": {"b.c": 1}}
    assert mapped.fields_of("text", wire) == [r"a\.text"]
    assert mapped.attribute_at("$['a.text'][0]") == ("text", "[0]")


def test_fault_in_a_key_that_contains_dots_has_a_quoted_path() -> None:
    mapped = Row("words", TextContent, {dotted_key("a.text"): "text"}).bind("an-api")
    for wire in ({}, {"a.text": 7}):
        context = DecodeContext("an-api", Origin(api="an-api", issuer="me"))
        mapped.decode(wire, context)
        assert [fault.path for fault in context.faults(wire)] == ["$['a.text']"]


# -- selection of a row ------------------------------------------------------------------------------------------------


def _read(union: Any, wire: dict[str, Any]) -> Any:
    return union.decode(wire, DecodeContext("an-api", Origin(api="an-api", issuer="me")))


def test_union_without_tag_tries_rows_in_order() -> None:
    table = Table("an-api")
    rows_in_order = [
        Row("lost", ErrorContent, {"url": "message", "status": "code"}, select=("status", (404, "GONE"))),
        Row("page", UriContent, {"url": "uri"}),
        Row("words", TextContent, {"inside.text": "text"}),
    ]
    union = table.union("found", rows_in_order, tag=None)
    assert _read(union, {"url": "u", "status": "GONE"}) == ErrorContent(message="u", code="GONE")
    assert _read(union, {"url": "u", "inside": {"text": "t"}}).uri == "u"
    assert _read(union, {"url": 7, "inside": {"text": "t"}}).text == "t"
    for wire in ({"url": 7}, {"inside": "t"}, {"status": ["GONE"]}):
        assert _read(union, wire) == UnknownContent(api="an-api", block=wire)


def test_union_reports_fault_only_if_rows_of_tag_require_same_field() -> None:
    table = Table("an-api")

    def named(name: str, model: type[Any], fields: dict[str, Any]) -> Row:
        return Row(name, model, fields, constants={"type": "image"})

    data, link = (("media_type", "data"), DataUri()), "uri"
    alike = table.union("a", [named("data", DataContent, {"url": data}), named("link", UriContent, {"url": link})])
    assert _read(alike, {"type": "image", "url": "data:image/png;base64,AAAA"}).data == "AAAA"
    assert _read(alike, {"type": "image", "url": "https://example.org"}).uri == "https://example.org"
    context = DecodeContext("an-api", Origin(api="an-api", issuer="me"))
    wire = {"type": "image", "url": 7}
    alike.decode(wire, context)
    assert [str(fault) for fault in context.faults(wire)] == ["expected string, got integer at $.url"]
    apart = table.union("b", [named("data", DataContent, {"data": data}), named("link", UriContent, {"url": link})])
    assert _read(apart, wire) == UnknownContent(api="an-api", block=wire)
