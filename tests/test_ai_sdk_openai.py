"""Approvals, shells, patches, programs and citations of OpenAI in the messages of the AI SDK.

The SDK judges: the messages that it makes of an answer, and the items that it sends to OpenAI.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from ai_sdk import asked, node, sent
from conftest import needs_node
from contentmodel import adapter, check, convert, decode_stream
from contentmodel.auditing import audit
from contentmodel.interop.vercel_ui import read_message, ui_chunks
from test_ai_sdk_results import (
    FORMATS,
    MODEL,
    RESPONSES,
    UI,
    answer_of,
    conversation,
    done,
    stream_of,
    without,
)

Items = list[dict[str, Any]]
REASONS, PLAIN = "gpt-5.2", "gpt-4.1"
"""A model that reasons, and one that does not."""


def kept_of(items: Items, framework: str, **options: Any) -> Any:
    request = conversation(RESPONSES, items)
    kept = convert(request, source=RESPONSES, target=framework, kind="request", **options)
    assert audit(request, kept) == []
    return kept.payload


def returned(kept: Any, framework: str, model: str = PLAIN) -> Items:
    back = convert(kept, source=framework, target=RESPONSES, kind="request", model=model)
    assert audit(kept, back) == []
    refused = [one for one in check(back.payload, api=RESPONSES, model=model) if one.severity == "refused"]
    # The rule does not read the id of the call from the output of a local shell, which has another field for it.
    assert [one for one in refused if "local_shell_call" not in json.dumps(back.payload)] == []
    items: Items = back.payload["input"]
    return items


@cache
def made_by_sdk(text: str) -> dict[str, Any]:
    """Return what the SDK makes of an answer with the items of this JSON text, in both formats."""
    answer = answer_of(RESPONSES, json.loads(text))
    [made] = node("provided.mjs", [{"api": RESPONSES, "answer": answer, "stream": stream_of(RESPONSES, answer)}])
    return {MODEL: made["model"], UI: [made["ui"]]}


def parts_of(messages: Any) -> list[dict[str, Any]]:
    """Return the parts of the assistant."""
    parts = [part for one in messages if one["role"] == "assistant" for part in one.get("parts") or one["content"]]
    return [part for part in parts if part["type"] != "step-start" and not part["type"].startswith("source-")]


def sent_by_sdk(kept: Any, framework: str, **options: Any) -> Items:
    """Return the items that the SDK sends for the messages."""
    if framework == UI:
        [answer] = asked("ai", [{"name": "convert", "messages": kept}])
        assert answer["error"] is None
        kept = answer["messages"]
    [result] = sent(RESPONSES, [kept], **options)
    items: Items = result["body"]["input"]
    return items


# -- tools with two items ----------------------------------------------------------------------------------------------

ACTION = {"commands": ["ls"], "timeout_ms": 1000, "max_output_length": 50}
CONTAINER = {"environment": {"type": "container_reference", "container_id": "cntr_1"}}
EXITED = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
STOPPED = {"stdout": "", "stderr": "x", "outcome": {"type": "timeout"}}
RAN = {"call_id": "call_1", "status": "completed", "max_output_length": 50, "output": [EXITED, STOPPED]}
SHELL = done("shell_call", "sh_1", call_id="call_1", action=ACTION)
LOCAL = done("local_shell_call", "lsh_1", call_id="call_1", action={"type": "exec", "command": ["ls"], "env": {}})
OPERATION = {"type": "update_file", "path": "a.txt", "diff": "+a"}
PATCH = done("apply_patch_call", "apc_1", call_id="call_1", operation=OPERATION)
PATCHED = {"type": "apply_patch_call_output", "call_id": "call_1"}
PROGRAM = {"type": "program", "id": "cm_1", "call_id": "call_1", "code": "look()", "fingerprint": "F"}
CALLER = {"caller": {"type": "program", "caller_id": "call_1"}}
CALLED = [
    {"type": "function_call", "call_id": "call_2", "name": "look", "arguments": "{}", **CALLER},
    {"type": "function_call_output", "call_id": "call_2", "output": "Fog", **CALLER},
]
ENDED = done("program_output", "cmo_1", call_id="call_1", result="Fog")
RUNS: dict[str, Items] = {
    "shell": [SHELL, {"type": "shell_call_output", **RAN}],
    "local shell": [LOCAL, {"type": "local_shell_call_output", "id": "call_1", "output": "a"}],
    "patch": [PATCH, {**PATCHED, "status": "completed"}],
    "failed patch": [PATCH, {**PATCHED, "status": "failed", "output": "No."}],
    "program": [PROGRAM, ENDED],
    "incomplete program": [PROGRAM, {**ENDED, "status": "incomplete"}],
    "waiting program": [PROGRAM, *CALLED],
    "answered program": [PROGRAM, *CALLED, ENDED],
}


def in_order(items: Items, framework: str, name: str) -> Items:
    """Return the items as a UI message has them: the result of a program with its call."""
    return [items[0], items[-1], *items[1:-1]] if (framework, name) == (UI, "answered program") else items


@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("name", RUNS)
def test_runs_survive_conversion_to_the_sdk_and_back(name: str, framework: str) -> None:
    back = returned(kept_of(RUNS[name], framework), framework)[1:-1]
    assert without(back, "name") == without(in_order(RUNS[name], framework, name), "name")


@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("target", ["anthropic-messages", "google-generate-content", "openai-chat"])
@pytest.mark.parametrize("name", RUNS)
def test_runs_are_functions_elsewhere(name: str, target: str, framework: str) -> None:
    kept = kept_of(RUNS[name], framework)
    back = convert(kept, source=framework, target=target, kind="request")
    assert audit(kept, back) == []
    assert '"type": "program"' not in json.dumps(back.payload)


OF_ANSWERS: dict[str, Items] = {
    "shell": [{**SHELL, **CONTAINER}, done("shell_call_output", "sho_1", **RAN)],
    "program": [PROGRAM, ENDED],
    "incomplete program": RUNS["incomplete program"],
}


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("name", OF_ANSWERS)
def test_runs_that_the_sdk_makes_return_to_openai(name: str, framework: str) -> None:
    made = made_by_sdk(json.dumps(OF_ANSWERS[name]))[framework]
    assert without(parts_of(kept_of(OF_ANSWERS[name], framework))) == without(parts_of(made))
    [call, result] = OF_ANSWERS[name]
    call = {key: value for key, value in call.items() if key != "environment"}
    result = {key: value for key, value in result.items() if key != "id" or name != "shell"}
    assert returned(made, framework) == [call, result]


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("name", [name for name in RUNS if name != "local shell"])
def test_sdk_sends_the_same_runs(name: str, framework: str) -> None:
    kept = kept_of(RUNS[name], framework)
    theirs = sent_by_sdk(kept, framework, has_tools=True)[1:-1]
    ours = returned(kept, framework)[1:-1]
    # The SDK leaves out the status of some items, and our results have the name of the function.
    assert without(ours, "status", "name") == without(theirs, "status", "name")


# -- approvals ---------------------------------------------------------------------------------------------------------

LOOK = [{"type": "text", "text": "Look."}]
ASKED = {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "srv", "name": "get", "arguments": '{"a":1}'}
ALLOWED = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
DENIED = {**ALLOWED, "approve": False, "reason": "No."}
FETCHED = done("mcp_call", "mcp_1", server_label="srv", name="get", arguments='{"a":1}', output="Fog.")
REFERENCE = {"type": "item_reference", "id": "mcpr_1"}
APPROVALS: dict[str, tuple[Items, Items]] = {
    "pending": ([ASKED], []),
    "approved": ([ASKED, ALLOWED], [REFERENCE, ALLOWED]),
    "denied": ([ASKED, DENIED], [REFERENCE, DENIED]),
    "called": ([ASKED, ALLOWED, FETCHED], [REFERENCE, ALLOWED, FETCHED]),
}
"""Items, and those that return: the API stores the request, and the SDK sends none without an answer."""


@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("name", APPROVALS)
def test_approvals_of_mcp_return_as_references_and_answers(name: str, framework: str) -> None:
    items, expected = APPROVALS[name]
    kept = kept_of(items, framework)
    assert parts_of(kept)[0]["providerExecuted"] is True
    assert returned(kept, framework)[1:-1] == expected


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("framework", FORMATS)
def test_conversion_has_the_approval_that_the_sdk_makes(framework: str) -> None:
    made = made_by_sdk(json.dumps([ASKED]))[framework]
    # The SDK makes up the id of the call.
    names = ("toolCallId",)
    assert without(parts_of(kept_of([ASKED], framework)), *names) == without(parts_of(made), *names)
    user = {"role": "user", **({"content": "Look."} if framework == MODEL else {"id": "u1", "parts": LOOK})}
    assert len(returned([user, *made], framework)) == 1


@pytest.mark.parametrize("items", [[ASKED], OF_ANSWERS["shell"], OF_ANSWERS["program"]])
def test_stream_of_a_ui_message_has_the_parts_of_its_conversion(items: Items) -> None:
    stream = stream_of(RESPONSES, answer_of(RESPONSES, items)).encode()
    shown = read_message(ui_chunks(decode_stream([stream], RESPONSES), message_id="m"))
    assert parts_of([shown]) == parts_of(kept_of(items, UI))


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("name", APPROVALS)
def test_sdk_sends_the_same_approvals(name: str, framework: str) -> None:
    kept = kept_of(APPROVALS[name][0], framework)
    theirs = sent_by_sdk(kept, framework, store=True)[1:-1]
    # The SDK sends no reason, a reference to the result, and for a denial of UI messages a result of a function.
    expected = [item for item in theirs if item["type"] != "function_call_output" and item.get("id") != "mcp_1"]
    ours = [item for item in returned(kept, framework)[1:-1] if item["type"] != "mcp_call"]
    assert without(ours, "reason") == expected


# -- citations ---------------------------------------------------------------------------------------------------------

URL = {"type": "url_citation", "start_index": 0, "end_index": 3, "url": "https://a.example", "title": "A"}
OF_FILE = {"type": "file_citation", "file_id": "file_1", "filename": "a.txt", "index": 2}
OF_CONTAINER = {
    "type": "container_file_citation",
    "container_id": "cntr_1",
    "file_id": "cfile_1",
    "filename": "b.txt",
    "start_index": 0,
    "end_index": 3,
}
PATH = {"type": "file_path", "file_id": "file_2", "index": 1}
THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "RUM=",
}


STORED: dict[str, Items] = {
    "summary": [{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]}],
    "two parts": [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": text} for text in ("Hm.", "So.")],
        }
    ],
    "empty": [{"type": "reasoning", "id": "rs_1", "summary": []}],
    "two items": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "So."}]},
    ],
}
"""Reasoning that OpenAI stores, without encrypted content."""


def said(*annotations: dict[str, Any], id: str = "msg_1", **fields: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": "Fog. More.", "annotations": list(annotations), "logprobs": []}
    return done("message", id, role="assistant", content=[part], **fields)


TEXTS: dict[str, Items] = {
    "url": [said(URL)],
    "file": [said(OF_FILE)],
    "file of a container": [said(OF_CONTAINER)],
    "path": [said(PATH)],
    "all": [said(URL, OF_FILE, OF_CONTAINER, PATH)],
    "two messages": [said(URL), said(OF_FILE, id="msg_2")],
    "no citation": [said()],
    "phase": [said(URL, phase="final_answer")],
}


@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("version", ["7", "6", "5"])
@pytest.mark.parametrize("name", TEXTS)
def test_citations_survive_conversion_to_the_sdk_and_back(name: str, version: str, framework: str) -> None:
    kept = kept_of(TEXTS[name], framework, policies={"ai_sdk": version})
    assert without(returned(kept, framework)[1:-1], "logprobs") == without(TEXTS[name], "logprobs")


@pytest.mark.parametrize("name", TEXTS)
def test_stream_of_a_ui_message_has_the_texts_of_its_conversion(name: str) -> None:
    stream = stream_of(RESPONSES, answer_of(RESPONSES, TEXTS[name])).encode()
    shown = read_message(ui_chunks(decode_stream([stream], RESPONSES), message_id="m"))
    # The sources of a stream are parts of their own.
    names = ("state", "citations")
    assert without(parts_of([shown]), *names) == without(parts_of(kept_of(TEXTS[name], UI)), *names)


@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("model", [REASONS, PLAIN])
@pytest.mark.parametrize("name", STORED)
def test_stored_reasoning_survives_conversion_to_the_sdk_and_back(name: str, model: str, framework: str) -> None:
    items = [*STORED[name], said(URL)]
    assert without(returned(kept_of(items, framework), framework, model)[1:-1], "logprobs") == without(
        items, "logprobs"
    )


@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("name", STORED)
def test_stored_reasoning_is_not_sent_to_others_or_if_nothing_is_stored(name: str, framework: str) -> None:
    request = adapter(framework).decode_request(kept_of(STORED[name], framework))
    for store, target in ((False, RESPONSES), (None, "openai-chat"), (None, "anthropic-messages")):
        changed = replace(request, options=replace(request.options, store=store))
        encoded = adapter(target).encode_request(changed, model=REASONS)
        assert "rs_1" not in json.dumps(encoded.payload)
        assert "rs_2" not in json.dumps(encoded.payload)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("name", TEXTS)
def test_conversion_has_the_texts_that_the_sdk_makes(name: str, framework: str) -> None:
    made = made_by_sdk(json.dumps(TEXTS[name]))[framework]
    ours = parts_of(kept_of(TEXTS[name], framework))
    assert without(ours, "state") == without(parts_of(made), "state")
    assert without(returned(made, framework), "logprobs") == without(TEXTS[name], "logprobs")


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("model", [REASONS, PLAIN])
@pytest.mark.parametrize("store", [True, False])
def test_texts_are_items_where_the_sdk_refers_to_items(model: str, store: bool) -> None:
    ending = said(URL, phase="final_answer")
    for items in ([THOUGHT, ending], [ending], *([*thoughts, ending] for thoughts in STORED.values())):
        kept = kept_of(items, MODEL)
        request = adapter(MODEL).decode_request(kept)
        request = replace(request, options=replace(request.options, store=store))
        ours: Any = adapter(RESPONSES).encode_request(request, model=model).payload
        theirs = sent_by_sdk(kept, MODEL, store=store, model=model)
        text = theirs[-2]
        thoughts = [item["id"] for item in theirs if str(item.get("id")).startswith("rs_")]
        assert [item.get("id", "rs_1") for item in ours["input"] if item["type"] == "reasoning"] == thoughts
        is_item = text.get("type") == "item_reference"
        assert isinstance(ours["input"][-2]["content"], list) is is_item
        assert ours["input"][-2].get("id") == text.get("id")
        assert is_item or ours["input"][-2]["phase"] == text["phase"]
