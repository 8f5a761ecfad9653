"""Results of hosted tools, failed and successful, written by hand from the providers' documentation.

Independent of the adapters' tables, so that a form of failure that a table lacks is still tested.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["FAILURES", "SUCCESSES", "payload_of"]

Blocks: TypeAlias = list[dict[str, Any]]


def payload_of(api: str, kind: str, blocks: Blocks) -> dict[str, Any]:
    """Return the minimal payload of an API whose model turn has these blocks."""
    return _PAYLOADS[api](kind, blocks)


def _anthropic(kind: str, blocks: Blocks) -> dict[str, Any]:
    if kind == "request":
        turns = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": blocks}]
        return {"model": "m", "max_tokens": 9, "messages": [*turns, {"role": "user", "content": "And?"}]}
    body = {"id": "i", "type": "message", "role": "assistant", "model": "m", "content": blocks}
    return {**body, "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}


def _responses(kind: str, blocks: Blocks) -> dict[str, Any]:
    if kind == "request":
        return {"model": "m", "input": [{"role": "user", "content": "Go on."}, *blocks]}
    return {"id": "i", "object": "response", "created_at": 0, "model": "m", "status": "completed", "output": blocks}


def _google(kind: str, blocks: Blocks) -> dict[str, Any]:
    if kind == "request":
        return {"contents": [{"role": "user", "parts": [{"text": "Go on."}]}, {"role": "model", "parts": blocks}]}
    content = {"role": "model", "parts": blocks}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


def _chat(kind: str, blocks: Blocks) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Wait.", "tool_calls": blocks}
    if kind == "request":
        results = [{"role": "tool", "tool_call_id": block.get("id"), "content": "Done."} for block in blocks]
        return {"model": "m", "messages": [{"role": "user", "content": "Go on."}, message, *results]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": "i", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def _interactions(kind: str, blocks: Blocks) -> dict[str, Any]:
    if kind == "request":
        said = {"type": "user_input", "content": [{"type": "text", "text": "Go on."}]}
        return {"model": "m", "input": [said, *blocks]}
    return {"object": "interaction", "id": "i", "model": "m", "status": "completed", "steps": blocks}


def _bedrock(kind: str, blocks: Blocks) -> dict[str, Any]:
    message = {"role": "assistant", "content": blocks}
    if kind == "request":
        user = [{"role": "user", "content": [{"text": text}]} for text in ("Go on.", "And?")]
        return {"modelId": "m", "messages": [user[0], message, user[1]]}
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}


_PAYLOADS = {
    "anthropic-messages": _anthropic,
    "openai-responses": _responses,
    "google-generate-content": _google,
    "google-interactions": _interactions,
    "bedrock-converse": _bedrock,
    "openai-chat": _chat,
}


# -- Anthropic (docs.claude.com, the pages of each tool, and anthropic 2.12, types; seen 2026-11-22) -------------------


def _use(name: str, kind: str = "server_tool_use", **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": "t1", "name": name, "input": {}, **more}


def _result(tag: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": f"{tag}_tool_result", "tool_use_id": "t1", "content": content, **more}


def _printed(kind: str, code: int) -> dict[str, Any]:
    return {"type": kind, "stdout": "half", "stderr": "no such file", "return_code": code, "content": []}


def _coded(tag: str, code: str) -> dict[str, Any]:
    return {"type": f"{tag}_tool_result_error", "error_code": code}


_TEXT = [{"type": "text", "text": "no such file"}]
_MCP = _use("look", "mcp_tool_use", server_name="s")
_ANTHROPIC = {
    "an exit code of code": [
        _use("code_execution"),
        _result("code_execution", _printed("code_execution_result", 1)),
    ],
    "an exit code of bash": [
        _use("bash_code_execution"),
        _result("bash_code_execution", _printed("bash_code_execution_result", 127)),
    ],
    "an error object": [_use("web_search"), _result("web_search", _coded("web_search", "max_uses_exceeded"))],
    "a list of one error object": [_use("web_search"), _result("web_search", [_coded("web_search", "unavailable")])],
    "an error object of an unknown type": [
        _use("web_search"),
        _result("web_search", {"type": "search_error", "error_code": "x"}),
    ],
    "an error of a fetch": [_use("web_fetch"), _result("web_fetch", _coded("web_fetch", "url_not_accessible"))],
    "an MCP server's failure": [_MCP, _result("mcp", _TEXT, is_error=True)],
    "an MCP server's failure as a string": [_MCP, _result("mcp", "no such file", is_error=True)],
    "an MCP server's failure without a text": [_MCP, _result("mcp", [], is_error=True)],
    "an error object of an unknown tool": [_use("quantum"), _result("quantum", _coded("quantum", "unavailable"))],
    "an exit code of an unknown tool": [_use("quantum"), _result("quantum", _printed("quantum_result", 2))],
    "a flag of an unknown tool": [_use("quantum"), _result("quantum", _TEXT, is_error=True)],
    "a new kind of result of a known tool": [
        _use("code_execution"),
        _result("code_execution", _printed("code_execution_result_v2", 1)),
    ],
}
_ANTHROPIC_FINE = {
    "an exit code of code": [
        _use("code_execution"),
        _result("code_execution", _printed("code_execution_result", 0)),
    ],
    "an MCP server's text": [_MCP, _result("mcp", _TEXT, is_error=False)],
    "an unknown tool's text": [_use("quantum"), _result("quantum", _TEXT)],
}

# -- OpenAI Responses (openai 3.54, types/responses; seen 2026-11-22) --------------------------------------------------


def _item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": "t1", "status": "failed", **more}


def _shell(**outcome: Any) -> Blocks:
    output = {"stdout": "half", "stderr": "no such file", "outcome": outcome}
    call = {"type": "shell_call", "id": "i1", "call_id": "t1", "status": "completed", "action": {"commands": ["ls"]}}
    call["environment"] = {"type": "container_reference", "container_id": "c"}
    return [call, {"type": "shell_call_output", "id": "o1", "call_id": "t1", "output": [output]}]


def _patched(status: str) -> Blocks:
    call: dict[str, Any] = {"type": "apply_patch_call", "id": "i1", "call_id": "t1", "status": "completed"}
    call["operation"] = {"type": "delete_file", "path": "a"}
    return [call, {"type": "apply_patch_call_output", "call_id": "t1", "status": status, "output": "no such file"}]


def _given(kind: str, **more: Any) -> Blocks:
    return [{"type": "quantum_call", "id": "i1", "call_id": "t1"}, {"type": kind, "call_id": "t1", **more}]


_MCP_CALL = {"name": "look", "server_label": "s", "arguments": "{}"}
_RESPONSES = {
    "the status of a search": [_item("web_search_call", action={"type": "search", "query": "a"})],
    "the status of a search in files": [_item("file_search_call", queries=["a"], results=None)],
    "the status of code": [_item("code_interpreter_call", code="1/0", container_id="c", outputs=None)],
    "the status of code that printed": [
        _item("code_interpreter_call", code="1/0", container_id="c", outputs=[{"type": "logs", "logs": "half"}])
    ],
    "the status of an image": [_item("image_generation_call", result=None)],
    "the error of an image": [_item("image_generation_call", result=None, error={"code": "blocked", "message": "no"})],
    "the status of an MCP call": [_item("mcp_call", **_MCP_CALL, output=None, error=None)],
    "the error of an MCP call": [{**_item("mcp_call", **_MCP_CALL, output=None, error="no"), "status": "completed"}],
    "the error of a list of tools": [{"type": "mcp_list_tools", "id": "t1", "server_label": "s", "error": "no"}],
    "an exit code": _shell(type="exit", exit_code=2),
    "a timeout": _shell(type="timeout"),
    "the status of a patch": _patched("failed"),
    "a program that did not end": [
        {"type": "program", "id": "i1", "call_id": "t1", "code": "f()", "fingerprint": "f"},
        {"type": "program_output", "id": "o1", "call_id": "t1", "result": "half", "status": "incomplete"},
    ],
    "the status of an unknown tool": [_item("quantum_call")],
    "the error of an unknown tool": [{**_item("quantum_call", error={"message": "no"}), "status": "completed"}],
    "the status of an unknown tool's output": [
        {"type": "quantum_call", "id": "i1", "call_id": "t1", "status": "completed"},
        {"type": "quantum_call_output", "id": "o1", "call_id": "t1", "status": "failed", "output": "no"},
    ],
    "the status of an unknown tool's result": _given("quantum_result", status="failed", output="half"),
    "the error of an unknown tool's result": _given("quantum_output", error={"message": "no"}),
}
_RESPONSES_FINE = {
    "an exit code": _shell(type="exit", exit_code=0),
    "a patch": _patched("completed"),
    "an unknown tool": [{**_item("quantum_call", outputs=[{"type": "logs", "logs": "done"}]), "status": "completed"}],
    "an unknown tool's result": _given("quantum_result", output="done"),
}

# -- Gemini (google-genai 3.4, types.Outcome, UrlRetrievalStatus, ToolResponse; seen 2026-11-22) -----------------------


def _ran(outcome: Any) -> Blocks:
    code = {"executableCode": {"language": "PYTHON", "code": "1/0"}}
    return [code, {"codeExecutionResult": {"outcome": outcome, "output": "Traceback"}}]


def _answered(tool: str, response: Any) -> Blocks:
    call = {"toolCall": {"id": "t1", "toolType": tool, "args": {}}}
    return [call, {"toolResponse": {"id": "t1", "toolType": tool, "response": response}}]


def _part(key: str, **more: Any) -> Blocks:
    return [{"quantumCall": {"id": "t1", "args": {}}}, {key: {"id": "t1", **more}}]


_GOOGLE = {
    "a failed outcome": _ran("OUTCOME_FAILED"),
    "a deadline": _ran("OUTCOME_DEADLINE_EXCEEDED"),
    "a failed outcome as a number": _ran(2),
    "an error of a known tool": _answered("FILE_SEARCH", {"error": "no"}),
    "an error of an unknown tool": _answered("QUANTUM", {"error": "no"}),
    "an error object of an unknown tool": _answered("QUANTUM", {"error": {"code": 5}, "took": 1}),
    "the outcome of an unknown part": _part("quantumResult", outcome="OUTCOME_FAILED", output="half"),
    "the error of an unknown part": _part("quantumResult", error={"message": "no"}),
    "the error in the response of an unknown part": _part("quantumResponse", response={"error": "no"}),
}
_GOOGLE_FINE = {
    "an outcome": _ran("OUTCOME_OK"),
    "an unknown tool": _answered("QUANTUM", {"output": "done"}),
    "an unknown part": _part("quantumResult", output="done"),
}

# -- Interactions (google-genai 3.4, _gaos/types/interactions; seen 2026-11-29) ----------------------------------------
# The results of file searches, maps, tool searches, media processing and MCP servers have no sign of a failure.


def _step(tool: str, *, failed: bool = True, **more: Any) -> Blocks:
    call = {"type": f"{tool}_call", "id": "t1", "arguments": {}}
    return [call, {"type": f"{tool}_result", "call_id": "t1", **({"is_error": True} if failed else {}), **more}]


_PAGE = {"url": "https://example.com", "status": "error"}
_INTERACTIONS = {
    "the flag of code": _step("code_execution", result="Traceback"),
    "the flag of code with contents": _step("code_execution", result=_TEXT),
    "the flag of a search": _step("google_search", result=[]),
    "the flag of a retrieval": _step("retrieval"),
    "the flag of a page": _step("url_context", result=[]),
    "the status of a page": _step("url_context", failed=False, result=[_PAGE]),
    "the flag of an unknown tool": _step("quantum", result="no"),
    "the error of an unknown tool": _step("quantum", failed=False, error={"message": "no"}),
}
_INTERACTIONS_FINE = {
    "code": _step("code_execution", failed=False, is_error=False, result="1"),
    "a page": _step("url_context", failed=False, result=[{**_PAGE, "status": "success"}]),
    "an unknown tool": _step("quantum", failed=False, result="done"),
}

# -- Bedrock (docs.aws.amazon.com/nova, "Using built-in tools", and botocore 1.43, ToolResultBlock; seen 2026-11-29) ---


def _ran_by_nova(name: str, status: str, content: Blocks) -> Blocks:
    call = {"toolUseId": "t1", "name": name, "type": "server_tool_use", "input": {"code": "1/0"}}
    result = {"toolUseId": "t1", "type": f"{name}_result", "status": status, "content": content}
    return [{"toolUse": call}, {"toolResult": result}]


_PRINTED = [{"text": '{"stdOut":"","stdErr":"Traceback","exitCode":1,"isError":true}'}]
_BEDROCK = {
    "the status of code": _ran_by_nova("nova_code_interpreter", "error", _PRINTED),
    "the status of code as JSON": _ran_by_nova("nova_code_interpreter", "error", [{"json": {"exitCode": 1}}]),
    "the status of a search": _ran_by_nova("nova_grounding", "error", []),
    "the status of an unknown tool": _ran_by_nova("quantum", "error", [{"text": "no"}]),
}
_BEDROCK_FINE = {
    "code": _ran_by_nova("nova_code_interpreter", "success", [{"text": "1"}]),
    "an unknown tool": _ran_by_nova("quantum", "success", [{"text": "done"}]),
}

FAILURES: dict[str, dict[str, Blocks]] = {
    "anthropic-messages": _ANTHROPIC,
    "openai-responses": _RESPONSES,
    "google-generate-content": _GOOGLE,
    "google-interactions": _INTERACTIONS,
    "bedrock-converse": _BEDROCK,
}
"""The forms in which hosted tools of each API report failures: the blocks of one turn, whose last result failed.

Mistral's results have a content and no sign of a failure (mistralai 3.7, ToolMessage). Cohere's API runs no tools
(cohere 7.3, AssistantMessageResponse). Seen 2026-11-29.
"""

SUCCESSES: dict[str, dict[str, Blocks]] = {
    "anthropic-messages": _ANTHROPIC_FINE,
    "openai-responses": _RESPONSES_FINE,
    "google-generate-content": _GOOGLE_FINE,
    "google-interactions": _INTERACTIONS_FINE,
    "bedrock-converse": _BEDROCK_FINE,
}
"""The same kinds of results without a failure."""
