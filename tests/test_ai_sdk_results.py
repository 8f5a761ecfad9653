"""Hosted tools in the messages of the AI SDK: they return to OpenAI, Gemini and Claude as their own items and parts.

The SDK judges the form: the messages that it makes of an answer, and of the stream of the same answer.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from ai_sdk import MODELS, node, sent
from conftest import needs_node
from contentmodel import adapter, check, convert
from contentmodel.auditing import audit
from contentmodel_conformance.server.answers import body_of
from contentmodel_conformance.server.endpoints import ENDPOINTS

RESPONSES, GEMINI, CLAUDE = "openai-responses", "google-generate-content", "anthropic-messages"
FORMATS = MODEL, UI = "vercel-model-messages", "vercel-ui-messages"
PNG = "iVBORw0KGgo="
LOOK = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False, "description": "Look."}
REFUSED = {"type": "http_error", "code": 500, "message": "No."}


def done(kind: str, id: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": id, "status": "completed", **fields}


def tool_search(name: str, id: str, **fields: Any) -> dict[str, Any]:
    return done(name, id, call_id=None, execution="server", **fields)


SEARCHED = {"type": "search", "query": "q", "queries": ["q", "r"]}
CALLED = {"server_label": "srv", "name": "get"}
FILE = {"file_id": "file_1", "filename": "a.txt", "score": 0.5, "text": "Fog.", "attributes": {"k": "v"}}
RAN = {"container_id": "c1", "code": "1"}
ITEMS: dict[str, list[dict[str, Any]]] = {
    "search": [
        done("web_search_call", "ws_1", action={**SEARCHED, "sources": [{"type": "url", "url": "https://a.example"}]})
    ],
    "search without sources": [done("web_search_call", "ws_1", action=SEARCHED)],
    "page": [done("web_search_call", "ws_1", action={"type": "open_page", "url": "https://a.example"})],
    "find": [
        done("web_search_call", "ws_1", action={"type": "find_in_page", "url": "https://a.example", "pattern": "p"})
    ],
    "failed search": [{**done("web_search_call", "ws_1", action={"type": "search", "query": "q"}), "status": "failed"}],
    "files": [done("file_search_call", "fs_1", queries=["q"], results=[FILE, {**FILE, "file_id": "file_2"}])],
    "files without results": [done("file_search_call", "fs_1", queries=["q"], results=None)],
    "code": [
        done(
            "code_interpreter_call",
            "ci_1",
            **RAN,
            outputs=[{"type": "logs", "logs": "1"}, {"type": "image", "url": "https://a.example/1.png"}],
        )
    ],
    "code without outputs": [done("code_interpreter_call", "ci_1", **RAN, outputs=None)],
    "image": [done("image_generation_call", "ig_1", result=PNG)],
    "server": [done("mcp_call", "mcp_1", **CALLED, arguments='{"a": 1}', output="Fog.")],
    "failed server": [{**done("mcp_call", "mcp_1", **CALLED, arguments="{}", error=REFUSED), "status": "failed"}],
    "tools": [
        tool_search("tool_search_call", "tsc_1", arguments={"paths": ["look"]}),
        tool_search("tool_search_output", "tso_1", tools=[LOOK]),
    ],
}


def ran(outcome: str, output: str) -> list[dict[str, Any]]:
    result = {"outcome": outcome, "output": output}
    return [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"codeExecutionResult": result}]


def used(kind: str, arguments: dict[str, Any], response: dict[str, Any], *signatures: str) -> list[dict[str, Any]]:
    tool = {"id": "tool_1", "toolType": kind}
    parts = [{"toolCall": {**tool, "args": arguments}}, {"toolResponse": {**tool, "response": response}}]
    signed = [*({"thoughtSignature": signature} for signature in signatures), {}, {}]
    return [{**part, **more} for part, more in zip(parts, signed, strict=False)]


PARTS: dict[str, list[dict[str, Any]]] = {
    "code": ran("OUTCOME_OK", "1"),
    "failed code": ran("OUTCOME_FAILED", "Error"),
    "two runs": [*ran("OUTCOME_OK", "1"), *ran("OUTCOME_DEADLINE_EXCEEDED", "2")],
    "search": used("GOOGLE_SEARCH_WEB", {"queries": ["q"]}, {"search_suggestions": "<p>"}, "AAAA", "BBBB"),
    "unsigned page": used("URL_CONTEXT", {"urls": ["https://a.example"]}, {}),
    "files": used("FILE_SEARCH", {"query": "q"}, {}, "AAAA"),
    "another tool": used("TOOL_OF_TOMORROW", {"a": 1}, {"b": 2}, "AAAA", "BBBB"),
}


def claude(tool: str, arguments: dict[str, Any], kind: str, content: Any) -> list[dict[str, Any]]:
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": tool, "input": arguments}
    return [call, {"type": f"{kind}_tool_result", "tool_use_id": "srvtoolu_1", "content": content}]


def refused(kind: str) -> dict[str, Any]:
    return {"type": f"{kind}_tool_result_error", "error_code": "unavailable"}


UNTITLED = {"type": "web_search_result", "url": "https://a.example", "title": None}
BLOCKS: dict[str, list[dict[str, Any]]] = {
    "failed search": claude("web_search", {"query": "q"}, "web_search", refused("web_search")),
    "failed fetch": claude("web_fetch", {"url": "https://a.example"}, "web_fetch", refused("web_fetch")),
    "failed code": claude("code_execution", {"code": "1"}, "code_execution", refused("code_execution")),
    "failed tool search": claude("tool_search_tool_bm25", {"query": "q"}, "tool_search", refused("tool_search")),
    "untitled page": claude(
        "web_search", {"query": "q"}, "web_search", [{**UNTITLED, "encrypted_content": "E1", "page_age": None}]
    ),
}
ALL = {RESPONSES: ITEMS, GEMINI: PARTS, CLAUDE: BLOCKS}
CASES = [(api, name) for api, cases in ALL.items() for name in cases]


def conversation(api: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    if api == RESPONSES:
        user = {"type": "message", "role": "user"}
        return {"model": MODELS[api], "input": [{**user, "content": "Look."}, *blocks, {**user, "content": "More?"}]}
    if api == GEMINI:
        turns = [("user", [{"text": "Look."}]), ("model", blocks), ("user", [{"text": "More?"}])]
        return {"contents": [{"role": role, "parts": parts} for role, parts in turns]}
    said = [("user", "Look."), ("assistant", blocks), ("user", "More?")]
    messages = [{"role": role, "content": content} for role, content in said]
    return {"model": MODELS[api], "max_tokens": 9, "messages": messages}


def blocks_of(payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks between the two messages of the user."""
    if "input" in payload:
        items: list[dict[str, Any]] = payload["input"][1:-1]
        return items
    turns = payload["contents"] if "contents" in payload else payload["messages"]
    assert len(turns) == 3, turns
    blocks: list[dict[str, Any]] = turns[1].get("parts") or turns[1]["content"]
    return blocks


def without(value: Any, *names: str) -> Any:
    """Return a JSON value without null, and without fields of these names."""
    if isinstance(value, list):
        return [without(inner, *names) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: without(inner, *names) for key, inner in value.items() if inner is not None and key not in names}


def returned(api: str, kept: Any, source: str, **options: Any) -> Any:
    return convert(kept, source=source, target=api, kind="request", model=MODELS[api], **options)


@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize(("api", "name"), CASES)
def test_hosted_tools_survive_conversion_to_the_sdk_and_back(api: str, name: str, framework: str) -> None:
    request = conversation(api, ALL[api][name])
    kept = convert(request, source=api, target=framework, kind="request")
    assert audit(request, kept) == []
    back = returned(api, kept.payload, framework)
    assert without(blocks_of(back.payload)) == without(ALL[api][name])
    assert audit(kept.payload, back) == []
    assert [broken for broken in check(back.payload, api=api, model=MODELS[api]) if broken.severity == "refused"] == []


# -- what the SDK makes ------------------------------------------------------------------------------------------------


def answer_of(api: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    if api == RESPONSES:
        needed = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        counted = {"usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}}
        head = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5.2"}
        return {**head, "output": blocks, **needed, **counted}
    if api == GEMINI:
        return {"candidates": [{"content": {"role": "model", "parts": blocks}, "finishReason": "STOP"}]}
    usage = {"input_tokens": 1, "output_tokens": 1}
    head: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODELS[api],
        "stop_reason": "end_turn",
    }
    return {**head, "stop_sequence": None, "content": blocks, "usage": usage}


def stream_of(api: str, answer: dict[str, Any]) -> str:
    endpoint = next(one for one in ENDPOINTS if one.api == api)
    response = adapter(api).decode_response(answer)
    return b"".join(body_of(response, endpoint, streams="events").frames).decode()


@cache
def made_by_sdk() -> dict[tuple[str, str], Any]:
    """Return the messages of each case: the model messages of an answer, and the UI message of its stream."""
    answers = [(api, answer_of(api, ALL[api][name])) for api, name in CASES]
    tasks = [{"api": api, "answer": answer, "stream": stream_of(api, answer)} for api, answer in answers]
    return dict(zip(CASES, node("provided.mjs", tasks), strict=True))


def kept_by_sdk(case: tuple[str, str], framework: str) -> Any:
    made = made_by_sdk()[case]
    user: dict[str, Any]
    if framework == MODEL:
        user = {"role": "user", "content": "Look."}
        return [user, *made["model"], {**user, "content": "More?"}]
    user = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Look."}]}
    return [user, made["ui"], {**user, "id": "u2", "parts": [{"type": "text", "text": "More?"}]}]


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_messages_of_the_sdk_return_to_their_provider(case: tuple[str, str], framework: str) -> None:
    kept = kept_by_sdk(case, framework)
    back = returned(case[0], kept, framework)
    expected = json.loads(json.dumps(ALL[case[0]][case[1]]))
    if case[1] == "failed search" and case[0] == RESPONSES:
        # The SDK does not keep what was searched for.
        expected[0]["action"]["query"] = ""
    assert without(blocks_of(back.payload)) == without(expected)
    assert audit(kept, back) == []


_WITH_ACTION = [name for name, items in ITEMS.items() if items[0]["type"] in ("web_search_call", "file_search_call")]
_RANDOM = ("toolCallId", "sourceId", "id")


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("framework", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_conversion_has_the_parts_that_the_sdk_makes(case: tuple[str, str], framework: str) -> None:
    api, name = case
    request = conversation(api, ALL[api][name])
    ours = convert(request, source=api, target=framework, kind="request").payload
    at = "content" if framework == MODEL else "parts"
    kinds = ("tool-call", "tool-result") if framework == MODEL else ("tool-", "dynamic-tool")
    made = [
        [part for message in document for part in parts_in(message, at) if str(part["type"]).startswith(kinds)]
        for document in (ours, kept_by_sdk(case, framework))
    ]
    # The SDK makes up the ids of the execution of code.
    names = list(_RANDOM if api == GEMINI else ())
    if api == RESPONSES and name in _WITH_ACTION:
        # The SDK leaves the arguments out of the call: they are in the result, if the search has not failed.
        names.append("input")
    assert without(made[0], *names) == without(made[1], *names)


def parts_in(message: dict[str, Any], at: str) -> list[dict[str, Any]]:
    parts = message[at]
    return parts if isinstance(parts, list) else []


# -- limits ------------------------------------------------------------------------------------------------------------


def kept_of(api: str, name: str, framework: str = MODEL) -> Any:
    return convert(conversation(api, ALL[api][name]), source=api, target=framework, kind="request").payload


@pytest.mark.parametrize("framework", FORMATS)
def test_renamed_tools_are_known_by_the_ids_of_openai(framework: str) -> None:
    text = json.dumps(kept_of(RESPONSES, "search", framework)).replace('"web_search"', '"look_up"')
    renamed = json.loads(text.replace("tool-web_search", "tool-look_up"))
    assert blocks_of(returned(RESPONSES, renamed, framework).payload) == ITEMS["search"]


@pytest.mark.parametrize(("name", "api"), [("search", GEMINI), ("code", GEMINI), ("search", CLAUDE), ("files", CLAUDE)])
def test_tools_of_openai_are_functions_elsewhere(name: str, api: str) -> None:
    text = json.dumps(returned(api, kept_of(RESPONSES, name), MODEL).payload)
    assert ("functionCall" if api == GEMINI else '"tool_use"') in text
    assert not any(mark in text for mark in ("server_tool_use", "executableCode", '"toolCall"'))


@pytest.mark.parametrize("name", ["search", "files"])
def test_tools_of_gemini_are_functions_for_models_before_gemini_3(name: str) -> None:
    kept = kept_of(GEMINI, name)
    back = convert(kept, source=MODEL, target=GEMINI, kind="request", model="gemini-2.5-flash").payload
    assert "functionCall" in json.dumps(back)


def test_image_is_a_function_result_with_an_image_elsewhere() -> None:
    back = returned(CLAUDE, kept_of(RESPONSES, "image"), MODEL).payload
    source = {"type": "base64", "data": PNG, "media_type": "image/png"}
    assert back["messages"][2]["content"][0]["content"] == [{"type": "image", "source": source}]


def test_settings_of_an_image_are_kept_as_arguments() -> None:
    items = [{**ITEMS["image"][0], "quality": "low", "size": "1024x1024"}]
    kept = convert(conversation(RESPONSES, items), source=RESPONSES, target=UI, kind="request").payload
    assert blocks_of(returned(RESPONSES, kept, UI).payload) == items


def test_generated_image_is_sent_with_its_data_if_the_api_does_not_store_it() -> None:
    request = adapter(MODEL).decode_request(kept_of(RESPONSES, "image"))
    request = replace(request, options=replace(request.options, store=False))
    back: Any = adapter(RESPONSES).encode_request(request, model=MODELS[RESPONSES]).payload
    assert [one["result"] for one in back["input"] if one["type"] == "image_generation_call"] == [PNG]


def test_list_of_the_tools_of_a_server_survives() -> None:
    tools = [{"name": "get", "input_schema": {"type": "object"}}]
    items = [{"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "srv", "tools": tools}]
    for framework in FORMATS:
        kept = convert(conversation(RESPONSES, items), source=RESPONSES, target=framework, kind="request")
        assert audit(conversation(RESPONSES, items), kept) == []
        assert blocks_of(returned(RESPONSES, kept.payload, framework).payload) == items


# -- programs of Claude ------------------------------------------------------------------------------------------------

PROGRAM = "code_execution_20250825"
CODE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "look()"}}
PRINTED = {"type": "code_execution_result", "stdout": "Fog", "stderr": "", "return_code": 0, "content": []}
WAITING: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Look."}]},
    {
        "role": "assistant",
        "content": [
            CODE,
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "look",
                "input": {},
                "caller": {"type": PROGRAM, "tool_id": "srvtoolu_1"},
            },
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Fog"}]},
]
ANSWERED: list[dict[str, Any]] = [
    *WAITING,
    {
        "role": "assistant",
        "content": [
            {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": PRINTED},
            {"type": "text", "text": "Fog."},
        ],
    },
    {"role": "user", "content": [{"type": "text", "text": "More?"}]},
]
PROGRAMS = {"waiting": WAITING, "answered": ANSWERED}


def kept_program(name: str, framework: str) -> Any:
    request = {"model": MODELS[CLAUDE], "max_tokens": 9, "messages": PROGRAMS[name]}
    kept = convert(request, source=CLAUDE, target=framework, kind="request")
    assert audit(request, kept) == []
    return kept.payload


@pytest.mark.parametrize("name", [*PROGRAMS])
def test_calls_of_a_program_of_claude_survive(name: str) -> None:
    kept = kept_program(name, MODEL)
    assert kept[1]["content"][1]["providerOptions"] == {
        "anthropic": {"caller": {"type": PROGRAM, "toolId": "srvtoolu_1"}}
    }
    back = returned(CLAUDE, kept, MODEL)
    assert [(turn["role"], turn["content"]) for turn in back.payload["messages"]] == [
        (turn["role"], turn["content"]) for turn in PROGRAMS[name]
    ]
    assert audit(kept, back) == []


@pytest.mark.parametrize("name", [*PROGRAMS])
def test_calls_of_a_program_survive_in_a_ui_message(name: str) -> None:
    kept = kept_program(name, UI)
    assert len([part for part in kept[1]["parts"] if "toolCallId" in part]) == 2
    back = returned(CLAUDE, kept, UI)
    # A UI message has the result of a program with its call.
    ran = [block["type"] for block in back.payload["messages"][1]["content"]]
    assert ran == ["server_tool_use", *(["code_execution_tool_result"] if name == "answered" else []), "tool_use"]
    assert back.payload["messages"][1]["content"][-1]["caller"] == {"type": PROGRAM, "tool_id": "srvtoolu_1"}
    assert audit(kept, back) == []


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROGRAMS])
def test_sdk_sends_the_same_blocks_of_a_program(name: str) -> None:
    [theirs] = sent(CLAUDE, [kept_program(name, MODEL)])
    assert theirs["body"]["messages"] == PROGRAMS[name]


# -- sources beside tools ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", [RESPONSES, GEMINI, CLAUDE])
def test_sources_beside_tools_are_no_empty_text(api: str) -> None:
    kept = kept_of(RESPONSES, "search", UI)
    source = {"type": "source-url", "sourceId": "s1", "url": "https://b.example"}
    kept[1]["parts"].append(source)
    back = returned(api, kept, UI)
    assert '""' not in json.dumps(back.payload)
    assert ("$[1].parts[2]", "no-field") in [(loss.path, loss.code) for loss in back.losses]
    assert audit(kept, back) == []
