"""Hosted tools of OpenAI in the parts of the Vercel AI SDK, which become items of the Responses API again.

The parts are those that the SDK makes of an answer. It sends most of them back as references to stored items. Source:
`openai-responses-language-model.ts` and `convert-to-openai-responses-input.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import EncodeContext, list_of, object_of, objects_of, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import ToolSearchToolCallContent, ToolSearchToolResultContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    Caller,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.interop.front_ends import arguments_of
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.pairs import ai_sdk_openai_runs as runs
from contentmodel_adapters.common.pairs.kept_results import SdkPair, at_result

RESPONSES, ISSUER = "openai-responses", "openai"
OF_SERVER, _LIST = "mcp.", "mcp_list_tools"
"""The beginning of the names of the tools of MCP servers, and a name for lists of them, which the SDK leaves out."""
_ACTIONS = {"search": "search", "open_page": "openPage", "find_in_page": "findInPage"}
_ITEM_ACTIONS = {name: kind for kind, name in _ACTIONS.items()}
_OF_ACTION = {"search": ("query", "queries"), "open_page": ("url",), "find_in_page": ("url", "pattern")}
_OF_FILE = {"attributes": "attributes", "file_id": "fileId", "filename": "filename", "score": "score", "text": "text"}
_OF_IMAGE = frozenset({"action", "background", "output_format", "prompt", "quality", "revised_prompt", "size"})
"""The settings of an image. The SDK leaves them out; parts of other origin have them as the arguments."""
_OF_PREFIX = {
    "ws": "web_search",
    "fs": "file_search",
    "ci": "code_interpreter",
    "ig": "image_generation",
    "tsc": "tool_search",
}
"""The tools by the beginning of the ids of their items."""
_IN_PARTS = frozenset(
    {
        "call_id",
        "container_id",
        "error",
        "execution",
        "max_output_length",
        "output",
        "outputs",
        "results",
        "sources",
    }
)
"""The fields of items that are in the parts. The id is too, if the part has metadata."""
Fields = dict[str, Any]


def items_of(*contents: Any) -> list[Fields]:
    """Return the items of contents of an assistant."""
    origin = Origin(api=RESPONSES, issuer=ISSUER)
    message = ChatMessage(role="assistant", contents=list(contents), origin=origin)
    payload: Any = installed(RESPONSES).encode_request(ChatRequest(messages=[message], origin=origin)).payload
    return objects_of(payload, "input")


def renamed(fields: Fields, names: Mapping[str, str]) -> Fields:
    """Return the fields that have new names, with those."""
    return {names[key]: value for key, value in fields.items() if key in names}


# -- to the SDK --------------------------------------------------------------------------------------------------------


def with_items_for_sdk(message: ChatMessage, context: EncodeContext, at: str, errors: bool) -> list[AIContent]:
    """Return the contents of a message of the Responses API with the hosted tools in the SDK's form.

    `at` is the field of calls with the values of providers. If `errors` is false, a failed result is a text. A call
    keeps its arguments, which the SDK itself leaves out if its result has them.
    """
    contents: list[Any] = message.contents
    made: list[list[AIContent]] = [[content] for content in contents]
    calls: dict[Any, list[tuple[int, Any]]] = {}
    clients: set[Any] = set()
    for index, content in enumerate(contents):
        run = _run(content, clients, context, at)
        if run is not None:
            made[index] = [run]
        elif _is_of_api(content, ToolCallContent):
            call = _call(content, context, at)
            calls.setdefault(content.call_id, []).append((index, call))
            made[index] = [call]
        elif _is_of_api(content, ToolResultContent) and calls.get(content.call_id):
            before, call = calls[content.call_id].pop(0)
            made[index] = [_result(contents[before], content, call.call_id, context, at_result(at), errors)]
        elif isinstance(content, ToolApprovalRequestContent):
            made[index] = _request(content, context)
        elif isinstance(content, ToolApprovalResponseContent) and at == "providerOptions":
            # Without the flag, the SDK does not send the answer.
            made[index] = [context.with_fields(content, {"providerExecuted": True})]
        elif isinstance(content, FunctionResultContent) and content.caller is not None and at == at_result(at):
            made[index] = [_of_program(content, content.caller, context, at)]
    return [one for some in made for one in some]


def _request(request: ToolApprovalRequestContent, context: EncodeContext) -> list[AIContent]:
    """Return a request for an approval with the call that the SDK makes of it."""
    name = f"{OF_SERVER}{request.name}"
    context.report_loss(request, None, reasons.CALL_OF_APPROVAL)
    context.report_loss(request, "name", reasons.OTHER_VALUE, value=name)
    call = HostedToolCallContent(call_id=request.request_id, name=name, arguments=request.arguments or {})
    return [context.replaced(request, call), context.replace(request, name=name)]


def _of_program(result: FunctionResultContent, caller: Caller, context: EncodeContext, at: str) -> AIContent:
    """Return a result with the program that made the call in the values of the provider."""
    fields = {"type": caller.kind, **({} if caller.call_id is None else {"callerId": caller.call_id})}
    return context.with_fields(context.replace(result, caller=None), {at: {ISSUER: {"caller": fields}}})


def _run(content: Any, clients: set[Any], context: EncodeContext, at: str) -> Any:
    """Return a call or a result of a shell, a patch or a program in the SDK's form; None for other contents.

    `clients` are the ids of the calls that the application runs.
    """
    is_call = isinstance(content, HostedToolCallContent)
    if not is_call and not isinstance(content, HostedToolResultContent):
        return None
    item = next(iter(items_of(content)), {})
    kept = runs.input_of(item) if is_call else runs.output_of(item)
    if kept is None:
        return None
    name, value = kept
    has_id = (is_call or name == runs.PROGRAM) and isinstance(item.get("id"), str)
    marked = _with_ids(content, {"itemId": item["id"]} if has_id else {}, context, at if is_call else at_result(at))
    changes: Fields = {"status": None} if name in (runs.PATCH, runs.PROGRAM) and not is_call else {}
    if is_call:
        changes = {"name": name, "arguments": value, "protected": None}
        is_client = content.executor == "client"
        clients.update({content.call_id} if is_client else ())
    else:
        changes |= {"outputs": [JsonContent(value=value)], "is_error": None}
        is_client = content.executor == "client" or content.call_id in clients
    if not is_client:
        return context.replace(marked, **changes)
    model = FunctionCallContent if is_call else FunctionResultContent
    names = [one for one in model.__struct_fields__ if one in marked.__struct_fields__ and one != "executor"]
    fields = {one: getattr(marked, one) for one in names} | changes
    return context.replaced(marked, model(**fields))


def _is_of_api(content: Any, kind: type[Any]) -> bool:
    """Return whether a content is a call or a result of a hosted tool. Searches for tools may have no id."""
    is_search = isinstance(content, ToolSearchToolCallContent | ToolSearchToolResultContent)
    return isinstance(content, kind) and content.executor == "provider" and (is_search or content.call_id is not None)


def _call(call: Any, context: EncodeContext, at: str) -> Any:
    item = next(iter(items_of(call)), {})
    kind, arguments = item.get("type"), arguments_of(call)
    if kind == "code_interpreter_call" and isinstance(arguments, dict):
        changed = context.replace(call, arguments={**arguments, "containerId": item.get("container_id")})
        return _with_ids(changed, {}, context, at)
    if kind == "mcp_call":
        return context.replace(call, name=f"{OF_SERVER}{call.name}", server=None)
    if kind == "mcp_list_tools":
        return context.replace(call, name=_LIST, server=None)
    if kind == "tool_search_call" and item.get("execution") == "server":
        given = {"arguments": arguments, "call_id": item.get("call_id")}
        call_id = item.get("call_id") or item.get("id")
        ids = {"itemId": item["id"]} if "id" in item else {}
        return _with_ids(context.replace(call, call_id=call_id, arguments=given), ids, context, at)
    return _with_ids(call, {}, context, at)


def _result(call: Any, result: Any, call_id: str, context: EncodeContext, at: str, errors: bool) -> Any:
    items = items_of(call, result)
    kind, item = items[0].get("type") if items else None, items[-1] if items else {}
    make = _VALUES.get(str(kind))
    value = None if make is None or (kind == "tool_search_call") is not (len(items) == 2) else make(item)
    if value is None:
        return result
    failed = kind == "web_search_call" and "status" in value
    changes: Fields = {"outputs": [as_output(value, failed=failed, errors=errors)], "call_id": call_id}
    changes["is_error"] = True if failed else None
    changes |= {name: empty for name, empty in _CLEARED.items() if getattr(result, name, None)}
    ids = {"itemId": item["id"]} if kind in _WITH_ID and "id" in item else {}
    named = {"name": f"{OF_SERVER}{call.name}"} if kind == "mcp_call" else {}
    return _with_ids(context.replace(result, **changes, **named), ids, context, at)


def as_output(value: Any, *, failed: bool, errors: bool) -> AIContent:
    """Return the output for a value. In UI messages (`errors` is false), that of a failed call is JSON text."""
    if not failed or errors:
        return JsonContent(value=value)
    return TextContent(text=json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _with_ids(content: Any, ids: Fields, context: EncodeContext, at: str) -> AIContent:
    """Return a content with the ids that OpenAI has, instead of the fields of its item that the parts have."""
    extra = {name: residue for name, residue in (content.extra or {}).items() if name != RESPONSES}
    own = (content.extra or {}).get(RESPONSES, {})
    used = {*_IN_PARTS, *(["id"] if "itemId" in ids else [])}
    if rest := {name: field for name, field in own.items() if name[0] != ":" and name not in used}:
        extra[RESPONSES] = rest
    if ids:
        extra[context.api] = {**extra.get(context.api, {}), at: {ISSUER: ids}}
    made: AIContent = context.replace(content, extra=extra or None)
    return made


def _found_by_search(item: Fields) -> Fields | None:
    if item.get("status", "completed") != "completed":
        return {"status": item["status"]}
    action = object_of(item, "action")
    kind = action.get("type")
    if kind not in _ACTIONS:
        return None
    fields = {name: action[name] for name in _OF_ACTION[kind] if action.get(name) is not None}
    sources = action.get("sources", item.get("sources"))
    return {"action": {"type": _ACTIONS[kind], **fields}, **({} if sources is None else {"sources": sources})}


def _found_files(item: Fields) -> Fields:
    files = [renamed(file, _OF_FILE) for file in objects_of(item, "results")]
    return {"queries": list_of(item, "queries"), "results": None if item.get("results") is None else files}


def _returned(item: Fields) -> Fields:
    ended = {name: item[name] for name in ("output", "error") if item.get(name) is not None}
    fields = {"name": item.get("name"), "arguments": item.get("arguments"), **ended}
    return {"type": "call", "serverLabel": item.get("server_label"), **fields}


def _listed(item: Fields) -> Fields:
    error = {} if item.get("error") is None else {"error": item["error"]}
    return {"type": "listTools", "serverLabel": item.get("server_label"), "tools": item.get("tools") or [], **error}


_VALUES: dict[str, Callable[[Fields], Fields | None]] = {
    "web_search_call": _found_by_search,
    "file_search_call": _found_files,
    "code_interpreter_call": lambda item: renamed(item, {"outputs": "outputs"}),
    "mcp_call": _returned,
    "mcp_list_tools": _listed,
    "tool_search_call": lambda item: {"tools": list_of(item, "tools")},
}
"""The functions that return the value of a result, by the type of the item of the call."""
_WITH_ID = ("mcp_call", "tool_search_call")
"""The types of items whose id the SDK keeps beside the result."""
_CLEARED: Fields = {"tools": [], "status": None}
"""The other fields of a result whose values are in the value."""


# -- from the SDK ------------------------------------------------------------------------------------------------------


def items_of_sdk(pair: SdkPair) -> list[Fields]:
    """Return the items of a call and its result that the SDK keeps; [] if they are not those of a tool of OpenAI."""
    tool = OF_SERVER if pair.name.startswith(OF_SERVER) else pair.name
    if tool not in _TO_ITEM:
        # Applications may rename tools. OpenAI's ids begin with the kind of the item.
        tool = _OF_PREFIX.get(pair.call_id.partition("_")[0], "")
        tool = tool or runs.OF_PREFIX.get(str(item_id_of(pair.of_call)).partition("_")[0], "")
    make = _TO_ITEM.get(tool)
    if make is None or not isinstance(pair.arguments, dict) or not isinstance(pair.value, dict):
        return []
    return make(pair, pair.arguments, pair.value)


def _web_search_item(pair: SdkPair, arguments: Fields, value: Fields) -> list[Fields]:
    item = {"type": "web_search_call", "id": pair.call_id}
    if pair.failed:
        is_own = value.keys() == {"status"} and isinstance(value["status"], str)
        asked = {"action": arguments} if arguments else {}
        return [{**item, "status": value["status"], **asked}] if is_own else []
    action = object_of(value, "action")
    kind = _ITEM_ACTIONS.get(str(action.get("type")))
    if kind is None or value.keys() - {"action", "sources"} or arguments not in ({}, {**action, "type": kind}):
        return []
    sources = {"sources": value["sources"]} if value.get("sources") is not None else {}
    return [{**item, "status": "completed", "action": {**action, "type": kind, **sources}}]


def _file_search_item(pair: SdkPair, arguments: Fields, value: Fields) -> list[Fields]:
    if pair.failed or value.keys() != {"queries", "results"} or not isinstance(value["queries"], list):
        return []
    if arguments not in ({}, {"queries": value["queries"]}):
        return []
    names = {name: key for key, name in _OF_FILE.items()}
    found = [renamed(file, names) for file in objects_of(value, "results")]
    results = None if value["results"] is None else found
    item = {"type": "file_search_call", "id": pair.call_id, "status": "completed", "queries": value["queries"]}
    return [{**item, "results": results}]


def _code_item(pair: SdkPair, arguments: Fields, value: Fields) -> list[Fields]:
    if pair.failed or "containerId" not in arguments or value.keys() - {"outputs"}:
        return []
    ran = {"code": arguments.get("code"), "container_id": arguments["containerId"], "outputs": value.get("outputs")}
    return [{"type": "code_interpreter_call", "id": pair.call_id, "status": "completed", **ran}]


def _image_item(pair: SdkPair, arguments: Fields, value: Fields) -> list[Fields]:
    if (
        pair.failed
        or arguments.keys() - _OF_IMAGE
        or value.keys() != {"result"}
        or not isinstance(value["result"], str)
    ):
        return []
    item = {"type": "image_generation_call", "id": pair.call_id, "status": "completed"}
    return [{**item, **arguments, "result": value["result"]}]


def _server_item(pair: SdkPair, arguments: Fields, value: Fields) -> list[Fields]:
    if value.get("type") != "call" or not isinstance(value.get("serverLabel"), str):
        return []
    item = {"type": "mcp_call", "id": item_id_of(pair.of_result) or pair.call_id, "server_label": value["serverLabel"]}
    fields: Fields = {name: value[name] for name in ("name", "arguments", "output", "error") if name in value}
    status = "failed" if value.get("error") is not None else "completed" if "output" in value else None
    return [{**item, **({"status": status} if status else {}), **fields}]


def _server_tools_item(pair: SdkPair, arguments: Fields, value: Fields) -> list[Fields]:
    if pair.failed or arguments or value.get("type") != "listTools" or not isinstance(value.get("tools"), list):
        return []
    fields: Fields = {name: value[name] for name in ("tools", "error") if name in value}
    return [{"type": "mcp_list_tools", "id": pair.call_id, "server_label": value.get("serverLabel"), **fields}]


def _tool_search_items(pair: SdkPair, arguments: Fields, value: Fields) -> list[Fields]:
    if pair.failed or arguments.keys() != {"arguments", "call_id"} or value.keys() != {"tools"}:
        return []
    common = {"execution": "server", "call_id": arguments["call_id"], "status": "completed"}
    found = {"type": "tool_search_output", "id": item_id_of(pair.of_result) or pair.call_id, "tools": value["tools"]}
    call = {"type": "tool_search_call", "id": item_id_of(pair.of_call) or pair.call_id}
    return [{**call, "arguments": arguments["arguments"], **common}, {**found, **common}]


def _run_items(tool: str, pair: SdkPair) -> list[Fields]:
    of_result = item_id_of(pair.of_result) if tool == runs.PROGRAM else None
    return runs.items_of_run(tool, pair, item_id_of(pair.of_call), of_result)


def item_id_of(metadata: Fields) -> Any:
    """Return the id of the item that the values of a provider have; None without one."""
    return next((fields["itemId"] for fields in metadata.values() if object_of({"": fields}, "").get("itemId")), None)


_TO_ITEM: dict[str, Callable[[SdkPair, Fields, Fields], list[Fields]]] = {
    "web_search": _web_search_item,
    "web_search_preview": _web_search_item,
    "file_search": _file_search_item,
    "code_interpreter": _code_item,
    "image_generation": _image_item,
    "tool_search": _tool_search_items,
    runs.SHELL: lambda pair, arguments, value: _run_items(runs.SHELL, pair),
    runs.PROGRAM: lambda pair, arguments, value: _run_items(runs.PROGRAM, pair),
    OF_SERVER: _server_item,
    _LIST: _server_tools_item,
}
