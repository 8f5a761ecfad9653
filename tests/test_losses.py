"""Losses: their stable codes, and insignificant losses."""

from __future__ import annotations

import ast
import copy
import json
import re
import string
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import slow
from contentmodel import ChatOptions, ChatRequest, FunctionTool, HostedTool, ToolChoice, reasons
from contentmodel.auditing import leaves, unaccounted
from contentmodel.encoded import Encoded
from contentmodel.engine.context import EncodeContext
from contentmodel.json import child_path
from contentmodel.losses import Loss, pruned
from contentmodel.reasons import KINDS, REASONS, Reason
from contentmodel_conformance.work import Work, superlinear
from test_layout import tree_of

ROOT = Path(__file__).parent.parent
SOURCES = sorted(path for folder in ("contentmodel", "adapters") for path in (ROOT / folder).rglob("*.py"))
OWN = {"api", "kind", "field", "family"}
"""Keywords of the functions themselves. No text names them."""

ENTRIES = {name: entry for name, entry in vars(reasons).items() if isinstance(entry, Reason)}


@cache
def reports() -> list[tuple[str, ast.Call, ast.expr]]:
    """Return every call that reports a loss: its position, the call, and its reason."""
    at = {"report_loss": 2, "synthesize": 1, "loss_of": 0}
    found = []
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if name in at and len(node.args) > at[name]:
                found.append((f"{path.relative_to(ROOT)}:{node.lineno}", node, node.args[at[name]]))
    return found


def test_loss_reports_name_an_entry_of_the_table_of_reasons() -> None:
    """Programs distinguish losses by their codes: add an entry to reasons.py."""
    found = reports()
    assert len(found) > 50
    assert [position for position, _, reason in found if isinstance(reason, ast.Constant | ast.JoinedStr)] == []


def test_loss_reports_pass_all_values_that_reason_text_names() -> None:
    for position, call, reason in reports():
        if not (isinstance(reason, ast.Attribute) and ast.unparse(reason.value) == "reasons"):
            continue
        named = {name for _, name, _, _ in string.Formatter().parse(ENTRIES[reason.attr].why) if name} - {"target"}
        assert {keyword.arg for keyword in call.keywords} - OWN == named, position


def test_losses_are_created_only_in_module_loss() -> None:
    for path in SOURCES:
        if path.name != "losses.py":
            assert not re.search(r"(?<![\w.])Loss\(", path.read_text()), path


def test_every_loss_entry_is_registered_once_and_used() -> None:
    assert len(REASONS) == len(ENTRIES)
    words = {word for path in SOURCES if path.name != "reasons.py" for word in re.findall(r"\w+", path.read_text())}
    assert ENTRIES.keys() - words == set()


@pytest.mark.parametrize("code", REASONS)
def test_loss_entry_has_a_code_in_kebab_case_a_kind_and_a_sentence(code: str) -> None:
    entry = REASONS[code]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
    assert entry.kind in KINDS
    assert entry.why
    assert not entry.why.endswith(".")


def test_loss_with_text_instead_of_entry_has_code_unlisted() -> None:
    context = EncodeContext("some-api", "somebody", "request")
    context.report_loss(None, None, "no {place} for it", kind="degraded")
    [loss] = Encoded({}, None, context).losses
    assert (loss.kind, loss.why, loss.code) == ("degraded", "no {place} for it", "unlisted")


def test_values_in_reason_text_are_not_formatted_again() -> None:
    context = EncodeContext("some-api", "somebody", "request")
    context.report_loss(None, "role", reasons.NO_ROLE, role="{target}")
    [loss] = Encoded({}, None, context).losses
    assert (loss.why, loss.code) == (
        "some-api has no role '{target}': the message is sent as a user message",
        "no-role",
    )


# -- insignificant losses ----------------------------------------------------------------------------------------------


ANSWER = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5.2",
    "status": "completed",
    "temperature": 1.0,
    "tools": [],
    "tool_choice": "auto",
    "output": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hi.", "annotations": []}],
        }
    ],
    "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
}


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic-messages", "google-generate-content"])
@pytest.mark.parametrize("tools", [[], [FunctionTool(name="a")], [HostedTool(kind="web_search")]])
@pytest.mark.parametrize("mode", ["auto", "none", "required", "other"])
@pytest.mark.parametrize(("names", "hosted"), [(None, None), (["a"], None), (["b", "c"], None), (None, "web_search")])
def test_encoder_writes_less_specific_tool_choice_if_it_reports_one(
    target: str, tools: list[Any], mode: str, names: list[str] | None, hosted: str | None
) -> None:
    options = ChatOptions(tool_choice=ToolChoice(mode=mode, tools=names, hosted=hosted))
    request = ChatRequest(model="m", messages=[contentmodel.user("Hi.")], tools=tools, options=options)
    encoded = contentmodel.adapter(target).encode_request(request)
    if "no-tool-choice" in {loss.code for loss in encoded.losses}:
        assert encoded.payload.get("tool_choice") or encoded.payload["toolConfig"]["functionCallingConfig"]


def test_loss_of_schema_that_allows_no_value_names_the_schema() -> None:
    inner = {"type": "array", "items": False}
    schema = {"type": "object", "properties": {"never": False, "empty": inner, "wrong": 3}}
    made = {"type": "json_schema", "json_schema": {"name": "f", "schema": schema}}
    payload = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi."}], "response_format": made}
    losses = contentmodel.convert(payload, target="google-generate-content").losses
    found = {loss.path.rpartition(".")[2]: loss.why for loss in losses if loss.code == "schema-removed"}
    why = "google-generate-content cannot express this schema"
    assert found == {
        "never": f"{why}: no value is allowed",
        "items": f"{why}: no value matches it",
        "wrong": f"{why}: expected object or boolean, got integer",
    }


def test_on_loss_raise_ignores_insignificant_losses() -> None:
    encoded = contentmodel.convert(ANSWER, target="openai-chat", on_loss="raise")
    assert encoded.losses
    request = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi.", "name": "me"}], "stream": True}
    with pytest.raises(contentmodel.LossError) as raised:
        contentmodel.convert(request, target="google-generate-content", model="gemini-3-pro", on_loss="raise")
    assert [loss.path for loss in raised.value.losses] == ["$.messages[0].name"]


# -- precision ---------------------------------------------------------------------------------------------------------


EXAMPLES = ROOT / "examples"
APIS = ("anthropic-messages", "google-generate-content", "openai-chat", "openai-responses")


def places(value: Any, path: str = "$") -> Iterator[tuple[Any, Any, str]]:
    """Yield every member and element of a JSON value: its parent, its key, and its path."""
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        where = child_path(path, key) if isinstance(key, str) else f"{path}[{key}]"
        yield value, key, where
        if isinstance(item, dict | list):
            yield from places(item, where)


def texts_in(value: Any) -> list[str]:
    return [item for _, item, _ in leaves(value) if isinstance(item, str) and len(item) > 24]


@pytest.mark.parametrize("name", [slow("agent_turns.anthropic.json"), "chat.openai.json", "answer.responses.json"])
@pytest.mark.parametrize("target", APIS)
def test_audit_reports_every_deleted_text_and_block(name: str, target: str) -> None:
    """A loss excuses only the value at its path."""
    source = json.loads((EXAMPLES / name).read_text())
    encoded = contentmodel.convert(source, target=target)
    assert contentmodel.audit(source, encoded) == []
    original = encoded.payload
    count, converted = Counter(texts_in(source)), Counter(texts_in(original))
    # A text that occurs twice may be a reference, so one of the two may be missing.
    known = {text for text in count if count[text] == converted[text] == 1}
    assert known
    for parent, key, path in list(places(copy.deepcopy(original))):
        if known.isdisjoint(texts_in([parent[key]])):
            continue
        encoded.payload = copy.deepcopy(original)
        parent, key = next((one, at) for one, at, where in places(encoded.payload) if where == path)
        del parent[key]
        assert contentmodel.audit(source, encoded), path


def test_audit_counts_names_and_ids_of_calls_separately() -> None:
    call = {"type": "function", "id": "call_1", "function": {"name": "now", "arguments": "{}"}}
    tools = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]
    messages = [
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Noon."},
    ]
    source = {"model": "gpt-5.2", "messages": messages, "tools": tools}
    encoded = contentmodel.convert(source, target="anthropic-messages")
    assert contentmodel.audit(source, encoded) == []
    block = encoded.payload["messages"][1]["content"][0]
    for key in ("id", "name"):
        value = block.pop(key)
        assert [one.value for one in contentmodel.audit(source, encoded)] == [value]
        block[key] = value
    del encoded.payload["tools"][0]["name"]
    assert [one.path for one in contentmodel.audit(source, encoded)] == ["$.tools[0].function.name"]


def a_grounded_answer() -> dict[str, Any]:
    pages = [{"uri": f"https://example.org/{n}", "title": f"Page {n}"} for n in range(3)]
    supports = [
        {"segment": {"startIndex": 0, "endIndex": 4}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": 5, "endIndex": 8}, "groundingChunkIndices": [1, 0]},
    ]
    grounding = {
        "webSearchQueries": ["Rome"],
        "groundingChunks": [{"web": page} for page in pages],
        "groundingSupports": supports,
        "searchEntryPoint": {"renderedContent": "<b>Rome</b>"},
    }
    content = {"role": "model", "parts": [{"text": "Rome is old."}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "groundingMetadata": grounding}]}


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_audit_reports_a_deleted_citation_of_a_listed_source(target: str) -> None:
    """Regression: all sources were reported as lost, with the URLs and titles of the citations."""
    source = a_grounded_answer()
    source["candidates"][0]["groundingMetadata"]["groundingChunks"][0]["web"]["domain"] = "example.org"
    # Each source has one citation.
    source["candidates"][0]["groundingMetadata"]["groundingSupports"][1]["groundingChunkIndices"] = [1]
    encoded = contentmodel.convert(source, target=target, kind="response")
    assert contentmodel.audit(source, encoded) == []
    chunks = "$.candidates[0].groundingMetadata.groundingChunks"
    lost = {loss.path for loss in encoded.losses if loss.exact and loss.path.startswith(chunks)}
    assert lost == {f"{chunks}[0].web.domain", f"{chunks}[2]"}
    answer = encoded.payload["choices"][0]["message"] if target == "openai-chat" else encoded.payload["output"][0]
    del (answer if target == "openai-chat" else answer["content"][0])["annotations"][0]
    assert [one.path for one in contentmodel.audit(source, encoded)] == [
        f"{chunks}[0].web.uri",
        f"{chunks}[0].web.title",
        "$.candidates[0].groundingMetadata.groundingSupports[1]",
    ]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("deleted", [0, 1])
def test_audit_reports_a_deleted_citation_whose_source_has_another(target: str, deleted: int) -> None:
    source = a_grounded_answer()
    source["candidates"][0]["groundingMetadata"]["groundingSupports"][1]["groundingChunkIndices"] = [0]
    encoded = contentmodel.convert(source, target=target, kind="response")
    assert contentmodel.audit(source, encoded) == []
    answer = encoded.payload["choices"][0]["message"] if target == "openai-chat" else encoded.payload["output"][0]
    del (answer if target == "openai-chat" else answer["content"][0])["annotations"][deleted]
    paths = [one.path for one in contentmodel.audit(source, encoded)]
    assert paths == ["$.candidates[0].groundingMetadata.groundingSupports[1]"]


HOSTED: dict[str, Any] = {
    "openai-responses": {"model": "m", "input": "Hi.", "tools": [{"type": "web_search"}]},
    "anthropic-messages": {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi."}],
        "tools": [{"type": "web_search_20250305", "name": "web_search"}],
    },
    "google-generate-content": {
        "contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
        "tools": [{"googleSearch": {}}],
    },
}


@pytest.mark.parametrize("target", HOSTED)
@pytest.mark.parametrize("api", HOSTED)
def test_audit_reports_a_deleted_hosted_tool_without_settings(api: str, target: str) -> None:
    encoded = contentmodel.convert(HOSTED[api], source=api, target=target, kind="request")
    assert contentmodel.audit(HOSTED[api], encoded) == []
    del encoded.payload["tools"][0]
    assert "$.tools[0]" in {one.path[: len("$.tools[0]")] for one in contentmodel.audit(HOSTED[api], encoded)}


GRAMMAR = {"syntax": "lark", "definition": 'start: "a"'}


@pytest.mark.parametrize("target", ["anthropic-messages", "google-generate-content"])
def test_loss_of_grammar_that_becomes_text_is_degraded(target: str) -> None:
    custom = {"type": "custom", "name": "c", "format": {"type": "grammar", **GRAMMAR}}
    source = {"model": "m", "input": "Hi.", "tools": [custom]}
    encoded = contentmodel.convert(source, source="openai-responses", target=target, kind="request")
    [loss] = [loss for loss in encoded.losses if loss.code == "grammar-as-text"]
    assert (loss.path, loss.kind, loss.what) == ("$.tools[0].format.type", "degraded", "format.type of CustomTool")
    again = contentmodel.convert(encoded.payload, source=target, target=target, kind="request")
    assert "grammar-as-text" not in {loss.code for loss in again.losses}


@pytest.mark.parametrize("target", ["anthropic-messages", "openai-chat", "google-generate-content"])
def test_audit_reports_a_deleted_status_that_became_the_text_of_a_failure(target: str) -> None:
    call = {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "container_id": "c",
        "code": "1/0",
        "outputs": [{"type": "logs", "logs": "Zero"}],
        "status": "failed",
    }
    items = [{"role": "user", "content": "Divide."}, call, {"role": "assistant", "content": "It failed, alas."}]
    source = {"model": "m", "input": items}
    encoded = contentmodel.convert(source, target=target, kind="request")
    assert contentmodel.audit(source, encoded) == []
    [(parent, key)] = [
        (parent, key) for parent, key, _ in places(encoded.payload) if parent[key] in ("failed", {"text": "failed"})
    ]
    del parent[key]
    assert [one.path for one in contentmodel.audit(source, encoded)] == ["$.input[1].status"]


def test_audit_of_text_inside_many_longer_texts_takes_linear_time() -> None:
    def audit_of(size: int) -> Work:
        held = [f"Answer {at}: say hello to everyone." for at in range(size)]
        return lambda: unaccounted(["say hello to everyone"] * size, held, ())

    assert unaccounted(["say hello to everyone"] * 2, ["Answer: say hello to everyone."], ())
    assert superlinear([audit_of(size) for size in (20, 80, 320)], 4, copies=False) == []


@pytest.mark.parametrize("setting", [{"thinking_budget": 1234}, {"thinking_level": "huge"}])
@pytest.mark.parametrize("target", [api for api in APIS if api != "google-generate-content"])
def test_audit_reads_settings_of_thinking_in_snake_case(setting: dict[str, Any], target: str) -> None:
    source = {
        "contents": [{"role": "user", "parts": [{"text": "Hello, world."}]}],
        "generation_config": {"thinking_config": setting},
    }
    encoded = contentmodel.convert(source, target=target)
    assert contentmodel.audit(source, encoded) == []
    [lost] = [loss.path for loss in encoded.losses if ".thinking_config" in loss.path]
    assert lost == f"$.generation_config.thinking_config.{next(iter(setting))}"
    encoded.payload.pop("messages", None) or encoded.payload.pop("input")
    assert [one.value for one in contentmodel.audit(source, encoded)] == ["Hello, world."]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_audit_reads_response_format_in_snake_case(target: str) -> None:
    source = {
        "contents": [{"role": "user", "parts": [{"text": "Hello, world."}]}],
        "generation_config": {"response_mime_type": "application/json", "response_schema": {"type": "OBJECT"}},
    }
    assert contentmodel.audit(source, contentmodel.convert(source, target=target)) == []


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic-messages"])
def test_audit_counts_definitions_of_functions_without_parameters(target: str) -> None:
    source = {
        "contents": [
            {"role": "user", "parts": [{"text": "Hello, world."}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "now", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "now", "response": {"output": "x"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "now", "parameters": None}]}],
    }
    encoded = contentmodel.convert(source, target=target)
    assert contentmodel.audit(source, encoded) == []
    encoded.payload["tools"].pop()
    assert [one.path for one in contentmodel.audit(source, encoded)] == ["$.tools[0].functionDeclarations[0].name"]


SHARED_MEDIUM = contentmodel.DataContent.from_bytes(b"RIFF", media_type="video/x-unknown")
SHARED_RESULT = contentmodel.FunctionResultContent(
    call_id="call_1", outputs=[contentmodel.TextContent(text="3"), SHARED_MEDIUM, SHARED_MEDIUM]
)
SHARED_CITATION = contentmodel.Citation(title="A page", url="https://example.com/a")
SHARED_TEXT = contentmodel.TextContent(text="As the page says.", annotations=[SHARED_CITATION, SHARED_CITATION])


def shared_request() -> contentmodel.ChatRequest:
    """A request in which a message, a content, an output and a citation each occur twice."""
    asked = contentmodel.ChatMessage(role="user", contents=[contentmodel.TextContent(text="Look."), SHARED_MEDIUM])
    call = contentmodel.FunctionCallContent(call_id="call_1", name="look", arguments={})
    called = contentmodel.ChatMessage(role="assistant", contents=[SHARED_TEXT, SHARED_TEXT, call])
    result = contentmodel.ChatMessage(role="tool", contents=[SHARED_RESULT])
    tools = [contentmodel.FunctionTool(name="look", parameters={"type": "object"})]
    return contentmodel.ChatRequest(model="m", messages=[asked, called, result, asked], tools=tools)


@pytest.mark.parametrize("target", ["anthropic-messages", "google-generate-content", "openai-chat", "openai-responses"])
def test_count_losses_has_same_codes_as_losses(target: str) -> None:
    encoded = contentmodel.adapter(target).encode_request(shared_request())
    listed = Counter(loss.code for loss in encoded.losses)
    counted = encoded.count_losses()
    assert listed.keys() == counted.keys()
    assert all(counted[code] <= count for code, count in listed.items())


CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def function_of(number: int, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "name": f"f{number}", "parameters": CLOSED, "strict": False, **fields}


@pytest.mark.parametrize(
    ("fields", "source", "target", "lost"),
    [
        ({"stop": ["a", " ", "b"]}, "openai-chat", "anthropic-messages", {"$.stop[1]"}),
        ({"metadata": {"a": "x" * 600, "b": "y"}}, "openai-responses", "openai-chat", {"$.metadata.a"}),
        (
            {"tools": [function_of(1), {"type": "web_search"}, function_of(2)]},
            "openai-responses",
            "google-generate-content",
            {"$.tools[1]"},
        ),
        (
            {"tools": [function_of(number, strict=True) for number in range(21)]},
            "openai-responses",
            "anthropic-messages",
            {"$.tools[20].strict"},
        ),
    ],
)
def test_loss_of_refused_part_of_a_setting_has_only_its_path(
    fields: dict[str, Any], source: str, target: str, lost: set[str]
) -> None:
    models = {"google-generate-content": "gemini-2.5-flash", "anthropic-messages": "claude-sonnet-4-5"}
    model = models.get(target, "gpt-4.1")
    conversation = (
        {"input": "Hi."} if source == "openai-responses" else {"messages": [{"role": "user", "content": "Hi."}]}
    )
    payload = {"model": "m", **conversation, **fields}
    encoded = contentmodel.convert(payload, source=source, target=target, model=model)
    assert {loss.path for loss in encoded.losses if loss.code == "refused-setting"} == lost
    assert contentmodel.audit(payload, encoded) == []
    [name] = fields
    if name == "tools":
        encoded.payload["tools"].pop()
        assert contentmodel.audit(payload, encoded) != []


def test_unaccounted_keeps_parts_of_incomplete_json_text_for_other_values() -> None:
    source = {"first": '{"a": "this one", "b": "that one"}', "second": '{"a": "this one"}'}
    assert [found.path for found in unaccounted(source, {"words": "this one"}, ())] == ["$.first"]
    assert unaccounted(source, {"words": ["this one", "that one", "this one"]}, ()) == []


LOSSES = st.builds(
    Loss,
    path=st.sampled_from(["$", "$.a", "$.ab", "$.a.b", "$.a[0]", "$.a[0].c", "$.a[0].c.d", "$.e"]),
    kind=st.sampled_from(["dropped", "degraded", "moved", "insignificant"]),
    what=st.just("x"),
    why=st.sampled_from(["y", "z"]),
    family=st.sampled_from(["text", "provider fields"]),
    exact=st.booleans(),
)


def covers(whole: Loss, loss: Loss) -> bool:
    """Return whether a loss of a whole value makes the loss of a part of it needless."""
    is_inside = loss.path.startswith((f"{whole.path}.", f"{whole.path}[")) and whole.path != "$"
    is_gone = whole.exact and whole.kind in ("dropped", "insignificant")
    return is_inside and is_gone and (whole.kind == "dropped" or loss.kind not in ("dropped", "degraded"))


def repeats(whole: Loss, loss: Loss) -> bool:
    """Return whether the first loss at a path makes another one at the same path needless."""
    return whole != loss and loss.path != "$" and (whole.kind == "dropped" or loss.family == "provider fields")


@given(losses=st.lists(LOSSES, max_size=8))
def test_pruned_losses_name_each_lost_value_once(losses: list[Loss]) -> None:
    gone = [loss for loss in losses if loss.exact and loss.kind in ("dropped", "insignificant")]
    ranked = sorted(gone, key=lambda loss: (loss.family == "provider fields", loss.kind != "dropped"))
    expected = []
    for loss in losses:
        first = next((whole for whole in ranked if whole.path == loss.path), loss)
        if not any(covers(whole, loss) for whole in losses) and not repeats(first, loss) and loss not in expected:
            expected.append(loss)
    assert pruned(losses) == tuple(expected)
