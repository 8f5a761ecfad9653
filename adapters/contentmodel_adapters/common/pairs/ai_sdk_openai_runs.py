"""Shells, patches and programs of OpenAI in the parts of the Vercel AI SDK. Calls and results have items of their own.

The provider runs programs, and commands in a container. The application runs other commands, and applies patches: the
SDK keeps these as calls and results of a tool of the application, with the id of the item. Source:
`openai-responses-language-model.ts` and `convert-to-openai-responses-input.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import list_of, object_of
from contentmodel_adapters.common.pairs.kept_results import SdkPair

SHELL, LOCAL_SHELL, PATCH, PROGRAM = "shell", "local_shell", "apply_patch", "programmatic_tool_calling"
"""The names of the tools."""
OF_PREFIX = {"sh": SHELL, "lsh": LOCAL_SHELL, "apc": PATCH, "cm": PROGRAM}
"""The tools by the beginning of the ids of the items of their calls."""
_CAMEL = {
    "timeout_ms": "timeoutMs",
    "max_output_length": "maxOutputLength",
    "working_directory": "workingDirectory",
    "exit_code": "exitCode",
}
_SNAKE = {camel: snake for snake, camel in _CAMEL.items()}
_COMPLETED = {"status": "completed"}
Fields = dict[str, Any]


def _spelled(fields: Fields, names: dict[str, str]) -> Fields:
    """Return the fields that are not null, with the names of the other API."""
    return {names.get(key, key): value for key, value in fields.items() if value is not None}


# -- to the SDK --------------------------------------------------------------------------------------------------------


def input_of(item: Fields) -> tuple[str, Fields] | None:
    """Return the name of the tool and the input of a call in the SDK's form; None if the item is no such call."""
    kind = str(item.get("type"))
    if kind in ("shell_call", "local_shell_call") and isinstance(item.get("action"), dict):
        return kind.removesuffix("_call"), {"action": _spelled(item["action"], _CAMEL)}
    if kind == "apply_patch_call" and isinstance(item.get("operation"), dict):
        return PATCH, {"callId": item.get("call_id"), "operation": item["operation"]}
    if kind == "program":
        return PROGRAM, {"code": item.get("code"), "fingerprint": item.get("fingerprint")}
    return None


def output_of(item: Fields) -> tuple[str, Fields] | None:
    """Return the name of the tool and the output of a call in the SDK's form; None if the item is no such result."""
    kind = str(item.get("type"))
    if kind == "shell_call_output":
        limit = _spelled({"max_output_length": item.get("max_output_length")}, _CAMEL)
        outputs = list_of(item, "output")
        return (SHELL, {**limit, "output": [_command(one, _CAMEL) for one in outputs]}) if _are(outputs) else None
    if kind == "local_shell_call_output":
        return LOCAL_SHELL, {"output": item.get("output") or ""}
    if kind == "apply_patch_call_output":
        output = _spelled({"output": item.get("output")}, {})
        return PATCH, {"status": item.get("status", "completed"), **output}
    if kind == "program_output":
        return PROGRAM, {"result": item.get("result"), "status": item.get("status", "completed")}
    return None


def _command(output: Fields, names: dict[str, str]) -> Fields:
    return {**output, "outcome": _spelled(object_of(output, "outcome"), names)}


def _are(outputs: list[Any]) -> bool:
    return all(isinstance(one, dict) and isinstance(one.get("outcome"), dict) for one in outputs)


# -- from the SDK ------------------------------------------------------------------------------------------------------


def call_item(tool: str, call_id: str, item_id: Any, arguments: Any) -> Fields | None:
    """Return the item of a call that the SDK keeps; None if it has another form."""
    ids = {"call_id": call_id, **({"id": item_id} if isinstance(item_id, str) else {})}
    fields: Any = arguments if isinstance(arguments, dict) else {}
    action = fields.get("action")
    if tool in (SHELL, LOCAL_SHELL) and fields.keys() == {"action"} and isinstance(action, dict):
        given = _spelled(action, _SNAKE)
        return {"type": f"{tool}_call", **ids, **_COMPLETED, "action": given} if _has_commands(given) else None
    if tool == PATCH and fields.keys() == {"callId", "operation"} and isinstance(fields["operation"], dict):
        is_same = fields["callId"] == call_id
        return {"type": "apply_patch_call", **ids, **_COMPLETED, "operation": fields["operation"]} if is_same else None
    if tool == PROGRAM and fields.keys() == {"code", "fingerprint"}:
        return {"type": "program", **ids, **fields} if all(isinstance(one, str) for one in fields.values()) else None
    return None


def _has_commands(action: Fields) -> bool:
    return isinstance(action.get("commands", action.get("command")), list)


def result_item(tool: str, call_id: str, item_id: Any, value: Any) -> Fields | None:
    """Return the item of a result that the SDK keeps; None if it has another form."""
    fields: Any = value if isinstance(value, dict) else {}
    make = _RESULTS.get(tool)
    item = None if make is None else make(fields, call_id)
    return item if item is None or not isinstance(item_id, str) else {**item, "id": item_id}


def _shell_result(fields: Fields, call_id: str) -> Fields | None:
    outputs = fields.get("output")
    if fields.keys() - {"maxOutputLength", "output"} or not isinstance(outputs, list) or not _are(outputs):
        return None
    item = {**_spelled(fields, _SNAKE), "output": [_command(one, _SNAKE) for one in outputs]}
    return {"type": "shell_call_output", "call_id": call_id, **item}


def _local_result(fields: Fields, call_id: str) -> Fields | None:
    is_text = fields.keys() == {"output"} and isinstance(fields["output"], str)
    return {"type": "local_shell_call_output", "id": call_id, **fields} if is_text else None


def _patch_result(fields: Fields, call_id: str) -> Fields | None:
    is_own = fields.get("status") in ("completed", "failed") and not fields.keys() - {"status", "output"}
    is_text = isinstance(fields.get("output", ""), str)
    return {"type": "apply_patch_call_output", "call_id": call_id, **fields} if is_own and is_text else None


def _program_result(fields: Fields, call_id: str) -> Fields | None:
    is_own = fields.keys() == {"result", "status"} and all(isinstance(one, str) for one in fields.values())
    return {"type": "program_output", "call_id": call_id, **fields} if is_own else None


_RESULTS: dict[str, Callable[[Fields, str], Fields | None]] = {
    SHELL: _shell_result,
    LOCAL_SHELL: _local_result,
    PATCH: _patch_result,
    PROGRAM: _program_result,
}


def items_of_run(tool: str, pair: SdkPair, of_call: Any, of_result: Any) -> list[Fields]:
    """Return the items of a call and its result; [] if one of them has another form.

    `of_call` and `of_result` are the ids of the items, if the SDK keeps them.
    """
    call = call_item(tool, pair.call_id, of_call, pair.arguments)
    result = result_item(tool, pair.call_id, of_result, pair.value)
    return [] if pair.failed or call is None or result is None else [call, result]
