"""Guests: blocks of a provider among the parts of another format, and the forms that spell them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from contentmodel import adapter, convert, dumps, loads
from contentmodel.auditing import audit, unaccounted
from contentmodel.authoring import Form, forms
from contentmodel.engine.table.forms import respelled
from contentmodel.engine.table.guests import guest_api
from contentmodel.vocabularies import vocabulary_of
from contentmodel_conformance.strategies.damage import ODD

CLAUDE, RESPONSES, PYDANTIC_AI, CHAT = "anthropic-messages", "openai-responses", "pydantic-ai-messages", "openai-chat"
MODEL, STORE = "vercel-model-messages", "turn-blocks"
OPUS = "claude-opus-4-8"
PAGE = {"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "E"}


def called(name: str, args: Any, provider: str = "anthropic", call_id: str = "c1", **more: Any) -> dict[str, Any]:
    part = {"part_kind": "builtin-tool-call", "tool_name": name, "tool_call_id": call_id, "args": args}
    return {**part, "provider_name": provider, **more}


def returned(name: str, content: Any, provider: str = "anthropic", call_id: str = "c1", **more: Any) -> dict[str, Any]:
    part = {"part_kind": "builtin-tool-return", "tool_name": name, "tool_call_id": call_id, "content": content}
    return {**part, "provider_name": provider, **more}


SEARCH = [called("web_search", {"query": "q"}), returned("web_search", [PAGE])]
SERVER = [
    called("mcp_server:srv", {"action": "call_tool", "tool_name": "get", "tool_args": {"a": 1}}, "openai"),
    returned("mcp_server:srv", {"output": "Fog.", "error": None}, "openai"),
]


def document(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"kind": "response", "parts": [*parts]}]


def guests_of(request: Any) -> list[str | None]:
    return [guest_api(content) for message in request.messages for content in message.contents]


def blocks_at(api: str, request: Any, **options: Any) -> list[str]:
    payload: Any = adapter(api).encode_request(request, model=OPUS if api == CLAUDE else "gpt-5.2", **options).payload
    items = payload["input"] if api == RESPONSES else [b for m in payload["messages"] for b in m["content"]]
    return [item["type"] for item in items]


# -- forms -------------------------------------------------------------------------------------------------------------

FORM = Form(
    "search",
    {"kind": "call"},
    {"type": "use"},
    {
        "id": ("id", forms.Leaf(str, required=True)),
        "args": ("input", forms.Leaf(dict)),
        "args.queries": ("input.query", forms.OnlyText()),
        "found": ("tools", forms.Items("name", "tool", {"type": "ref"})),
        "server": ("server", forms.Affix("srv:")),
    },
)
PART = {
    "kind": "call",
    "id": "c1",
    "args": {"queries": ["q"], "limit": 1},
    "found": [{"name": "a"}],
    "server": "srv:x",
}
BLOCK = {
    "type": "use",
    "id": "c1",
    "input": {"query": "q", "limit": 1},
    "tools": [{"type": "ref", "tool": "a"}],
    "server": "x",
}


def test_form_is_read_in_both_directions() -> None:
    assert FORM.to_block(PART) == BLOCK
    assert FORM.to_part(BLOCK) == PART


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_both_directions_of_a_form_take_any_json(value: Any) -> None:
    for key in PART:
        FORM.to_block({**PART, key: value})
    for key in BLOCK:
        FORM.to_part({**BLOCK, key: value})
    FORM.to_block({**PART, "args": {**PART["args"], "queries": value}})  # type: ignore[dict-item]


def test_form_does_not_fit_a_value_of_another_class() -> None:
    assert FORM.to_block({**PART, "id": 1}) is None
    assert FORM.to_block({**PART, "server": "x"}) is None
    assert FORM.to_part({**BLOCK, "id": None}) is None


EITHER = Form("signed", {"kind": "x"}, {"type": "y"}, {("a.state", "b.state"): ("state", forms.Either(2, str))})


@pytest.mark.parametrize("name", ["a", "b"])
def test_value_in_one_of_several_places_of_a_part_is_kept_there(name: str) -> None:
    part = {"kind": "x", name: {"state": "s"}}
    block = {"type": "y", "state": "s"}
    assert EITHER.to_block(part) == block
    back = EITHER.to_part(block)
    assert back == {"kind": "x", "a": {"state": "s"}}
    assert respelled(back, EITHER.spellings(part, back)) == part


def test_form_with_a_path_twice_is_refused() -> None:
    with pytest.raises(TypeError, match="mapped twice"):
        Form("twice", {"kind": "call"}, {"type": "use"}, {"kind": "id"})


SOURCES = forms.Each(
    Form("page", {"type": "cite"}, {"type": "page"}, {"more.page": ("page", forms.Leaf(required=True))}, rest="more"),
    Form("other", {"type": "own"}, {}, {}, rest="value"),
)
REST = Form(
    "result",
    {"type": "result"},
    {"kind": "tool"},
    {"sources": ("cites", SOURCES), "status": ("failed", forms.Words(("error", True), ("success", False)))},
    rest="more",
)
RESTED = {
    "type": "result",
    "status": "error",
    "sources": [{"type": "cite", "more": {"page": 1, "x": 2}}, {"type": "own", "value": {"type": "new"}}],
    "more": {"id": "c1", "a.b": None},
}
FLAT = {
    "kind": "tool",
    "failed": True,
    "cites": [{"type": "page", "page": 1, "x": 2}, {"type": "new"}],
    "id": "c1",
    "a.b": None,
}


def test_other_fields_of_a_block_are_in_an_object_of_its_part() -> None:
    assert REST.to_block(RESTED) == FLAT
    assert REST.to_part(FLAT) == RESTED
    assert REST.to_part({"kind": "tool"}) == {"type": "result"}


def test_fields_of_a_part_are_other_fields_of_its_block() -> None:
    same = Form("text", {"type": "text"}, {"type": "text"}, {"notes": "cites"}, rest="")
    assert same.to_block({"type": "text", "text": "a", "notes": []}) == {"type": "text", "text": "a", "cites": []}
    assert same.to_part({"type": "text", "text": "a", "cites": []}) == {"type": "text", "text": "a", "notes": []}
    # A field of the block with the name of another field of the part has no place there.
    assert same.to_block({"type": "text", "cites": []}) is None
    assert same.to_part({"type": "text", "notes": []}) is None


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_rest_and_items_of_a_form_take_any_json(value: Any) -> None:
    for key in ("sources", "status", "more"):
        REST.to_block({**RESTED, key: value})
    for key in ("cites", "failed", "type", "more", "status"):
        REST.to_part({**FLAT, key: value})
    REST.to_block({**RESTED, "sources": [value, {"type": "cite", "more": value}]})


def test_rest_with_a_field_of_the_form_does_not_fit() -> None:
    assert REST.to_block({**RESTED, "more": {"cites": []}}) is None
    assert REST.to_block({**RESTED, "more": 1}) is None


def test_moves_of_a_form_are_the_fields_with_another_place_in_the_part() -> None:
    block = REST.to_block(RESTED)
    assert block is not None
    moves = [(copy is block, names) for copy, _, names in REST.moves(block, RESTED) if names is not None]
    own = {("cites", "sources"), ("failed", "status"), ("id", "more.id"), ("a\\.b", "more.a\\.b")}
    inner = {("page", "more.page"), ("x", "more.x"), ("type", "value.type")}
    assert {names for is_own, names in moves if is_own} == own
    assert {names for is_own, names in moves if not is_own} == inner


def test_form_applies_only_if_its_inverse_returns_the_same_part() -> None:
    twice = {**RESTED, "status": 1}
    assert forms.spelled([REST], twice) is None
    found = forms.spelled([REST], {**RESTED, "unknown": 1})
    assert found is not None
    assert found[1:] == (FLAT, {"unknown": 1})


def test_one_is_not_true() -> None:
    assert not forms.same({"a": [1]}, {"a": [True]})
    assert forms.remainder({"a": 1, "b": 2}, {"a": True}) is forms.MISFIT


# -- contents ----------------------------------------------------------------------------------------------------------


def test_guest_survives_storage_and_replacement() -> None:
    request = adapter(PYDANTIC_AI).decode_request(document(*SEARCH))
    kept: Any = loads(dumps(request))
    assert guests_of(kept) == [CLAUDE, CLAUDE]
    message = kept.messages[0]
    edited = [replace(message.contents[0], arguments={"query": "r"}), message.contents[1]]
    kept = replace(kept, messages=[replace(message, contents=edited)])
    assert blocks_at(CLAUDE, kept)[-2:] == ["server_tool_use", "web_search_tool_result"]
    payload: Any = adapter(PYDANTIC_AI).encode_request(kept).payload
    assert payload == document({**SEARCH[0], "args": {"query": "r"}}, SEARCH[1])


@pytest.mark.parametrize("half", SEARCH)
def test_half_a_pair_is_a_function_at_its_provider(half: dict[str, Any]) -> None:
    request = adapter(PYDANTIC_AI).decode_request(document(half))
    assert guests_of(request) == [CLAUDE]
    assert not {"server_tool_use", "web_search_tool_result"} & {*blocks_at(CLAUDE, request)}


def test_guests_of_two_providers_are_blocks_of_their_own_one_only() -> None:
    other = [{**part, "tool_call_id": "m1"} for part in SERVER]
    request = adapter(PYDANTIC_AI).decode_request(document(*SEARCH, *other))
    assert guests_of(request) == [CLAUDE, CLAUDE, RESPONSES, RESPONSES]
    assert "mcp_call" in blocks_at(RESPONSES, request)
    assert "web_search_call" not in blocks_at(RESPONSES, request)
    assert "server_tool_use" in blocks_at(CLAUDE, request)
    assert "mcp_tool_use" not in blocks_at(CLAUDE, request)


def test_failed_part_is_no_guest() -> None:
    request = adapter(PYDANTIC_AI).decode_request(document(SEARCH[0], {**SEARCH[1], "outcome": "failed"}))
    assert guests_of(request) == [CLAUDE, None]


def test_text_of_arguments_is_kept_unless_they_change() -> None:
    text = '{"query":  "q"}'
    call = {**SEARCH[0], "args": text}
    request = adapter(PYDANTIC_AI).decode_request(document(call, SEARCH[1]))
    assert adapter(PYDANTIC_AI).encode_request(request).payload == document(call, SEARCH[1])
    message = request.messages[0]
    edited = [replace(message.contents[0], arguments={"query": "r"}), message.contents[1]]
    changed = replace(request, messages=[replace(message, contents=edited)])
    assert json.dumps(adapter(PYDANTIC_AI).encode_request(changed).payload).count('"query": "r"') == 1


def test_content_that_the_block_cannot_hold_is_written_by_the_format() -> None:
    request = adapter(PYDANTIC_AI).decode_request(document(*SEARCH))
    message: Any = request.messages[0]
    result = replace(message.contents[1], outputs=[*message.contents[1].outputs, message.contents[0]])
    changed = replace(request, messages=[replace(message, contents=[message.contents[0], result])])
    assert adapter(PYDANTIC_AI).encode_request(changed).losses != ()


def test_loss_of_a_value_in_two_parts_has_both_paths() -> None:
    kept = document(*SERVER)
    encoded = convert(kept, source=PYDANTIC_AI, target=CHAT, kind="request", model="gpt-4.1")
    assert audit(kept, encoded) == []
    paths = [loss.path for loss in encoded.losses if loss.what.startswith("server of")]
    assert sorted(paths) == ["$[0].parts[0].tool_name", "$[0].parts[1].tool_name"]


def test_image_without_a_result_of_its_call_stays_a_file() -> None:
    file = {"part_kind": "file", "id": "c1", "content": {"kind": "binary", "data": "AAAA", "media_type": "image/png"}}
    parts = [called("web_search", {"query": "q"}, "openai"), file, returned("web_search", {"status": "x"}, "openai")]
    encoded = convert(document(*parts), source=PYDANTIC_AI, target=PYDANTIC_AI, kind="request")
    assert encoded.payload == document(*parts)


IMAGE = [
    called("image_generation", {}, "openai"),
    {
        "part_kind": "file",
        "id": "c1",
        "content": {"kind": "binary", "data": "AAAA", "media_type": "image/png"},
        "x_field": "unknown",
    },
    returned("image_generation", {"status": "completed"}, "openai"),
]
CODE = [
    called("code_execution", {"container_id": "", "code": "plot()"}, "openai"),
    IMAGE[1],
    returned("code_execution", {"status": "completed", "logs": ["done"]}, "openai"),
]
AS_TEXT = [{**SERVER[0], "args": json.dumps(SERVER[0]["args"])}, SERVER[1]]
OTHER_SERVER = [SERVER[0], {**SERVER[1], "tool_name": "mcp_server:other"}]
LISTED = [{**SERVER[0], "args": '{"action": "list_tools"}'}, SERVER[1]]
FAILED_WITH_CITATION = [
    called("mcp_server:srv", {"action": "call_tool", "tool_name": "get"}),
    returned(
        "mcp_server:srv",
        {
            "content": [{"type": "text", "text": "", "citations": [{"type": "char_location", "start_char_index": 0}]}],
            "is_error": True,
        },
    ),
]
TARGETS = ("atif", "codex-rollout", "meai", "inspect-eval-log", "langchain-messages", "otel-gen-ai", CHAT, RESPONSES)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("parts", [IMAGE, CODE, AS_TEXT, OTHER_SERVER, LISTED, FAILED_WITH_CITATION])
def test_values_of_guests_are_in_the_output_or_a_loss(parts: list[dict[str, Any]], target: str) -> None:
    kept = document(*parts)
    assert audit(kept, convert(kept, source=PYDANTIC_AI, target=target, kind="request")) == []


def test_loss_of_a_result_covers_the_files_of_other_parts() -> None:
    parts = [
        called("code_execution", {"container_id": ""}, "openai"),
        IMAGE[1],
        returned("code_execution", {}, "openai"),
    ]
    encoded = convert(document(*parts), source=PYDANTIC_AI, target="codex-rollout", kind="request")
    assert "AAAA" not in json.dumps(encoded.payload)
    assert "$[0].parts[1]" in [loss.path for loss in encoded.losses if loss.kind == "dropped"]


def test_audit_finds_the_name_of_a_tool_that_is_missing_from_arguments_as_text() -> None:
    kept = document(*AS_TEXT)
    encoded = convert(kept, source=PYDANTIC_AI, target="meai", kind="request")
    text = json.dumps(encoded.payload)
    damaged = unaccounted(
        kept,
        json.loads(text.replace('"get"', '""')),
        encoded.losses,
        *map(vocabulary_of, map(adapter, (PYDANTIC_AI, "meai"))),
    )
    assert text.count('"get"') == 1
    assert [(one.path, one.value) for one in damaged] == [("$[0].parts[0].args.tool_name", "get")]


def searched(*queries: str) -> list[Any]:
    """Return model messages with searches of OpenAI, whose parts have each query twice."""
    parts: list[Any] = []
    for number, query in enumerate(queries):
        own = {"toolCallId": f"ws_{number}", "toolName": "web_search"}
        call = {"type": "tool-call", **own, "input": {"query": query, "type": "search"}, "providerExecuted": True}
        value = {"action": {"type": "search", "query": query}}
        parts += [call, {"type": "tool-result", **own, "output": {"type": "json", "value": value}}]
    return [{"role": "assistant", "content": parts}]


def missing_from(store: str, source: list[Any]) -> list[tuple[str, Any]]:
    """Return the path and the value of what a stored conversation, as JSON, does not have of model messages."""
    vocabularies = (vocabulary_of(adapter(api)) for api in (MODEL, STORE))
    return [(one.path, one.value) for one in unaccounted(source, json.loads(store), (), *vocabularies)]


def test_audit_of_a_store_accepts_a_value_that_parts_repeat() -> None:
    kept = searched("tides", "harbours")
    encoded = convert(kept, source=MODEL, target=STORE, kind="request")
    assert json.dumps(encoded.payload).count("tides") == 1
    assert audit(kept, encoded) == []


def test_audit_of_a_store_finds_a_missing_value_that_parts_repeat() -> None:
    kept = searched("tides", "harbours")
    store = json.dumps(convert(kept, source=MODEL, target=STORE, kind="request").payload)
    start = "$[0].content"
    assert missing_from(store.replace("tides", "harbours"), kept) == [
        (f"{start}[0].input.query", "tides"),
        (f"{start}[1].output.value.action.query", "tides"),
    ]


def test_audit_of_a_store_finds_a_missing_value_beside_one_that_parts_repeat() -> None:
    kept: Any = [*searched("tides"), {"role": "user", "content": [{"type": "text", "text": "harbours"}]}]
    store = json.dumps(convert(kept, source=MODEL, target=STORE, kind="request").payload)
    assert missing_from(store.replace("harbours", "tides"), kept) == [("$[1].content[0].text", "harbours")]
    twice = [*kept, {"role": "user", "content": [{"type": "text", "text": "harbours"}]}]
    assert missing_from(store, twice) == [("$[2].content[0].text", "harbours")]


def test_table_describes_the_values_of_items_that_it_keeps() -> None:
    described = adapter("pydantic-ai-messages").describe()
    assert described["of_items"] == {"openai-responses": {"types": ["ReasoningContent"], "paths": {"id": ["id"]}}}
