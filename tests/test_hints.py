"""Hints: declarations, accepted values, and documents that earlier versions stored."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

import contentmodel
from contentmodel import (
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    TextContent,
    hints,
    loads,
)
from contentmodel.authoring import Hint
from contentmodel.engine.table import respelling
from contentmodel.tools.mcp import result_from_mcp, result_to_mcp
from contentmodel_conformance.pages import hints_page
from contentmodel_conformance.strategies.hints import every_hint
from test_layout import PACKAGES, files, tree_of

STORED = Path(__file__).parent / "stored"
"""Documents that the first version of hints wrote, each with the payload that it was decoded from.

Add to them, but do not write them again."""
API = "smoke-signals"
HINTS = every_hint()


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the declarations of a test afterwards."""
    monkeypatch.setattr(hints, "_declared", {name: dict(owners) for name, owners in hints._declared.items()})


def stored(kind: str | None = None) -> list[Any]:
    found = []
    for path in sorted(STORED.glob("*.jsonl")):
        for index, record in enumerate(map(json.loads, path.read_text().splitlines())):
            if kind is None or record["kind"] == kind:
                found.append(pytest.param(path.stem, record, id=f"{path.stem}-{index}"))
    return found


# -- stored documents --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("api", "record"), [*stored("request"), *stored("response")])
def test_stored_document_encodes_to_its_original_payload(api: str, record: Any) -> None:
    value = loads(json.dumps(record["document"]))
    adapter = contentmodel.adapter(api)
    encode = adapter.encode_request if record["kind"] == "request" else adapter.encode_response
    encoded = encode(value)  # type: ignore[arg-type]
    assert encoded.payload == record["payload"]
    assert encoded.losses == ()


@pytest.mark.parametrize(("api", "record"), stored("content"))
def test_stored_mcp_result_is_written_unchanged(api: str, record: Any) -> None:
    assert api == "mcp"
    call = FunctionCallContent(call_id="call_1", name="look", arguments={})
    result = loads(json.dumps(record["document"]), FunctionResultContent)
    read = result_from_mcp(call, record["payload"])
    # The first version had no artifacts.
    assert result == (read if result.artifact is not None else msgspec.structs.replace(read, artifact=None))
    written = result_to_mcp(result)
    assert written.result.model_dump(mode="json", by_alias=True, exclude_unset=True) == record["payload"]
    assert written.losses == ()


def residues(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every residue in the JSON of a model value, with its API."""
    if isinstance(value, dict):
        yield from (value.get("extra") or {}).items()
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from residues(item)


def test_stored_documents_have_every_declared_hint() -> None:
    found = {
        (hint.api, hint.name)
        for parameters in stored()
        for api, residue in residues(parameters.values[1]["document"]["value"])
        for hint in HINTS
        if hint.api in (None, api) and hint.is_in(residue)
    }
    assert {(hint.api, hint.name) for hint in HINTS} == found


def test_stored_documents_have_only_declared_hints() -> None:
    known = {(hint.api, key) for hint in HINTS for key in (hint.key, *hint.older)}
    for parameters in stored():
        for api, residue in residues(parameters.values[1]["document"]["value"]):
            assert all({(api, key), (None, key)} & known for key in residue if hints.is_hint(key)), (api, residue)


# -- versions ----------------------------------------------------------------------------------------------------------


def _split(value: Any) -> Any:
    return value.split() if isinstance(value, str) else None


def test_hint_reads_and_migrates_values_of_older_versions() -> None:
    letters = Hint[list[str]](
        API,
        "letters_3",
        "the letters",
        older={
            "letters_2": lambda value: value.split() if isinstance(value, str) else None,
            "letters": lambda value: ["?"],
        },
    )
    assert letters.version == 3
    text = TextContent(text="")
    for residue, value in (
        ({":letters_3": ["a"], ":letters_2": "b"}, ["a"]),
        ({":letters_2": "b c", ":letters": 1}, ["b", "c"]),
        ({":letters_2": 5, ":letters": 1}, None),
        ({":letters": 1}, ["?"]),
        ({":letters_4": ["a"]}, None),
    ):
        content = msgspec.structs.replace(text, extra={API: residue})
        assert letters.of(content, API) == value
        assert letters.is_in(residue) is (value is not None)


def test_hint_reads_none_if_migration_returns_wrong_type() -> None:
    hint = Hint[list[str]](API, "letters_2", "the letters", older={"letters": lambda value: value})
    assert hint.read({":letters": "ab"}) is None


# -- declarations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [(API, API), (None, API), (API, None), (None, None)])
def test_second_declaration_of_hint_key_raises_type_error(first: str | None, second: str | None) -> None:
    Hint[str](first, "twice", "the first")
    with pytest.raises(TypeError, match=r"'twice'.*declared already.*the first"):
        Hint[str](second, "twice", "the second")


def test_equal_declaration_replaces_the_first() -> None:
    first, second = Hint[str](API, "again", "the same"), Hint[str](API, "again", "the same")
    assert second in hints.declared()
    assert first not in hints.declared()


def test_hints_of_different_apis_may_have_equal_names() -> None:
    Hint[str](API, "own", "the first")
    Hint[int]("drums", "own", "the second")


def test_hint_without_type_raises_type_error() -> None:
    hint: Hint[str] = Hint(API, "typeless", "something")
    with pytest.raises(TypeError, match=r"declare it as Hint\[type\]"):
        hint.read({":typeless": ""})


def test_hint_reads_only_values_of_its_type() -> None:
    cases: list[tuple[Hint[Any], list[Any], list[Any]]] = [
        (Hint[Literal["a", True]](API, "literal", "x"), ["a", True], [1, "b", [], {}, None, 1.0]),
        (Hint[str](API, "text", "x"), ["", "a"], [1, None, []]),
        (Hint[str | None](API, "optional", "x"), ["a", None], [1, []]),
        (Hint[list[str]](API, "texts", "x"), [[], ["a"]], ["a", [1], {}, None]),
        (Hint[dict[str, Any]](API, "object", "x"), [{}, {"a": 1}], [[], "a", None]),
        (Hint[dict[str, int | str]](API, "map", "x"), [{"a": 1}], [{"a": []}, {"a": None}, []]),
        (Hint[Any](API, "anything", "x"), [0, {}, None], []),
    ]
    for hint, right, wrong in cases:
        for value in right:
            assert hint.is_in({hint.key: value})
            assert hint.read({hint.key: value}) == value
        for value in wrong:
            assert not hint.is_in({hint.key: value})
            assert hint.read({hint.key: value}) is None


def test_hint_on_content_keeps_other_residue() -> None:
    hint = Hint[str](API, "beside", "x")
    content = TextContent(text="", extra={API: {"unknown": 1}, "drums": {":a": 2}})
    made = hint.on(content, API, "yes")
    assert made.extra == {API: {"unknown": 1, ":beside": "yes"}, "drums": {":a": 2}}
    assert content.extra == {API: {"unknown": 1}, "drums": {":a": 2}}
    assert (hint.of(made, API), hint.of(made, "drums")) == ("yes", None)
    assert hint.extra(API, "no") == {API: hint.entry("no")} == {API: {":beside": "no"}}


def test_hints_page_lists_each_hint_with_its_type() -> None:
    page = hints_page()
    assert '| `:form` | every API | `"list"`, `"one"`, `"string"` | 1 |' in page
    assert page.count("\n| `:") == len(HINTS)


# -- misplaced hints ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [respelling.NAMES.entry(["text=txt"]), hints.ABSENT.entry(["text"])], ids=str)
@pytest.mark.parametrize("api", sorted(contentmodel.adapters()))
def test_misplaced_hint_removes_no_field_from_payload(api: str, extra: dict[str, Any]) -> None:
    adapter = contentmodel.adapter(api)
    origin = Origin(api=api, issuer=adapter.issuer)
    contents: list[Any] = [TextContent(text="Three boats.", extra={api: extra})]
    messages = [ChatMessage(role="assistant", contents=contents, origin=origin, extra={api: extra})]
    payload = adapter.encode_request(ChatRequest(messages=messages, origin=origin)).payload
    text = adapter.decode_request(payload).messages[0].contents[0]
    assert getattr(text, "text", None) == "Three boats."


def test_response_with_damaged_hint_keeps_required_fields() -> None:
    adapter = contentmodel.adapter("anthropic-messages")
    record = next(p.values[1] for p in stored("response") if p.values[0] == adapter.api)
    document = json.dumps(record["document"]).replace('":ending": {', '":ending": 5, "ending": {')
    payload = adapter.encode_response(loads(document, ChatResponse)).payload
    assert (payload["role"], payload["stop_reason"]) == ("assistant", "stop_sequence")


# -- no hint without a declaration -------------------------------------------------------------------------------------

EXCEPTIONS = {
    ("contentmodel/hints.py", ":around."),  # A key of losses, which is no hint.
    ("contentmodel/hints.py", ":inside."),
    ("contentmodel/history/columns.py", ":json"),  # A key of database columns.
    ("contentmodel/history/rows.py", ":row"),
}
_KEY = re.compile(r":[a-z][a-z0-9_.]*")


def keys_in(tree: ast.AST) -> Iterator[str]:
    """Return the texts of a module that look like the key of a hint, and the beginnings of such f-strings."""
    nodes = list(ast.walk(tree))
    inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values[1:]}
    for node in nodes:
        text = node.value if isinstance(node, ast.Constant) and id(node) not in inner else None
        if isinstance(text, str) and _KEY.fullmatch(text):
            yield text


def test_modules_do_not_spell_out_hint_keys() -> None:
    found = {
        (str(path.relative_to(PACKAGES[package].parent)), key)
        for package in PACKAGES
        for path in files(package)
        if re.search("[\"']:[a-z]", path.read_text())  # Parse only files with a text that begins like a key.
        for key in keys_in(tree_of(path))
    }
    assert found == EXCEPTIONS


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        ('own[":row"] = 1', [":row"]),
        ('own.get(f":item.{name}")', [":item."]),
        ('f"{a}:b"', []),
        ('"a:b", ":", "::"', []),
    ],
)
def test_keys_in_finds_hint_keys_in_source(source: str, keys: list[str]) -> None:
    assert list(keys_in(ast.parse(source))) == keys
