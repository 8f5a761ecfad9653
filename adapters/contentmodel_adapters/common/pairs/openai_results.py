"""Hosted tools of OpenAI that a framework keeps. Their calls and results become items of the Responses API again.

Pydantic AI itself reads and sends them so: `models/openai` of pydantic-ai-slim 2.68 (seen 2026-11-27). It sends calls
with their status, and the API reads the results from the items that it stores. `ai_sdk_openai` has the AI SDK's form.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import EncodeContext, minted_id, object_of, objects_of, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import (
    ShellToolCallContent,
    ToolSearchToolCallContent,
    ToolSearchToolResultContent,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.interop.front_ends import arguments_of
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest, FunctionTool
from contentmodel_adapters.common.hosted_tools import KIND_OF, RESULTS, with_class
from contentmodel_adapters.common.pairs.ai_sdk_openai import ISSUER, RESPONSES, items_of, items_of_sdk
from contentmodel_adapters.common.pairs.kept_results import (
    MODEL_MESSAGES,
    PYDANTIC_AI,
    UI_MESSAGES,
    are_of,
    decoded,
    is_hosted,
    json_of,
    kept_parts,
    sdk_pair,
    with_changed_contents,
    with_own_contents,
    with_provider,
)

_SOURCE = (RESPONSES, ISSUER)
_FRAMEWORKS = (PYDANTIC_AI, UI_MESSAGES, MODEL_MESSAGES)
_STATES = ("in_progress", "completed", "incomplete")
_MADE = ("background", "quality", "size", "revised_prompt")
"""The settings of a generated image that its result has."""
_WITH_FILES = ("code_interpreter_call", "image_generation_call")
_WITH_ID = ("web_search_call", "file_search_call")
_USED = frozenset({"container_id", "error", "output", "outputs", "results", "sources", "tools"})
"""The fields of items that Pydantic AI has in the arguments or in the result."""
Fields = dict[str, Any]


# -- to Pydantic AI ----------------------------------------------------------------------------------------------------


def with_results_of_openai(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages for Pydantic AI in which the calls and results of OpenAI's hosted tools have its form.

    Pydantic AI sends them back only with the name of the provider, and with the arguments that it reads itself.
    """
    return with_changed_contents(messages, RESPONSES, context, _for_pydantic_ai)


def _for_pydantic_ai(contents: list[Any], context: EncodeContext) -> list[AIContent]:
    made: list[list[AIContent]] = [[content] for content in contents]
    calls: dict[Any, int] = {}
    searches: dict[Any, Any] = {}
    for at, content in enumerate(contents):
        if isinstance(content, ToolSearchToolCallContent | ToolSearchToolResultContent):
            made[at] = [_search_for_pydantic_ai(content, searches, context)]
        elif is_hosted(content, ToolCallContent):
            calls[content.call_id] = at
        elif is_hosted(content, ToolResultContent) and content.call_id in calls:
            before = calls.pop(content.call_id)
            made[before], made[at] = _pair_for_pydantic_ai(contents[before], content, context)
    return [content for some in made for content in some]


def _pair_for_pydantic_ai(call: Any, result: Any, context: EncodeContext) -> tuple[list[Any], list[Any]]:
    """Return a call, and the files and the result of it, as Pydantic AI reads their item."""
    item = _item_of(call, result)
    kind = str(item.get("type"))
    kept = _PARTS[kind](item) if kind in _PARTS else None
    if kept is None:
        return [call], [result]
    arguments, value = kept
    files = _files(item, result, context) if kind in _WITH_FILES else []
    status = {"status": None} if "status" in value else {}
    called, returned = call, result
    if kind == "image_generation_call":
        called = _with_rest(call, value, context, has_file=bool(files))
    called = context.replace(called, arguments=arguments, **status)
    if kind == "mcp_list_tools":
        returned = context.replaced(result, with_class(result, RESULTS["mcp_server"]))
    returned = context.replace(returned, outputs=[JsonContent(value=value)], is_error=None, **status)
    own_id = {"id": item["id"]} if kind in _WITH_ID else {}
    return (
        [with_provider(called, _SOURCE, own_id, context, _USED)],
        [*files, with_provider(returned, _SOURCE, {}, context, _USED)],
    )


def _item_of(*contents: Any) -> Fields:
    """Return the item of a call and its result, or of one of them; {} if they are no item."""
    items = items_of(*contents)
    return items[0] if len(items) == 1 else {}


def _status(item: Fields) -> Fields:
    return {"status": item.get("status", "completed")}


def _web_search(item: Fields) -> tuple[Any, Fields] | None:
    if not isinstance(item.get("action", {}), dict):
        return None
    action = {name: value for name, value in object_of(item, "action").items() if value is not None}
    sources = action.pop("sources", None)
    return action or None, {**_status(item), **({"sources": sources} if sources else {})}


def _file_search(item: Fields) -> tuple[Any, Fields] | None:
    found = {} if item.get("results") is None else {"results": item["results"]}
    queries = item.get("queries", [])
    return ({"queries": queries}, {**_status(item), **found}) if isinstance(queries, list) else None


def _code(item: Fields) -> tuple[Any, Fields] | None:
    if not isinstance(item.get("outputs") or [], list):
        return None
    logs = [output.get("logs") for output in objects_of(item, "outputs") if output.get("type") == "logs"]
    arguments = {"container_id": item.get("container_id"), "code": item.get("code") or ""}
    return arguments, {**_status(item), **({"logs": logs} if logs else {})}


def _image(item: Fields) -> tuple[Any, Fields]:
    settings = {name: item[name] for name in _MADE if item.get(name)}
    return None, {**({"status": "completed"} if item.get("result") else _status(item)), **settings}


def _mcp_call(item: Fields) -> tuple[Any, Fields] | None:
    arguments = json_of(item.get("arguments") or "{}")
    value = {"output": item.get("output"), "error": item.get("error")}
    return (arguments, value) if arguments.__class__ is dict else None


def _mcp_tools(item: Fields) -> tuple[Any, Fields] | None:
    tools = item.get("tools") or []
    return (None, {"tools": tools, "error": item.get("error")}) if isinstance(tools, list) else None


_PARTS: dict[str, Callable[[Fields], tuple[Any, Fields] | None]] = {
    "web_search_call": _web_search,
    "file_search_call": _file_search,
    "code_interpreter_call": _code,
    "image_generation_call": _image,
    "mcp_call": _mcp_call,
    "mcp_list_tools": _mcp_tools,
}
"""The arguments of the call and the content of the return that Pydantic AI makes of an item, by its type."""


def _files(item: Fields, result: Any, context: EncodeContext) -> list[Any]:
    """Return the images of a result, which Pydantic AI keeps in parts of their own. Report other outputs."""
    files: list[Any] = []
    extra = {context.api: {"id": item.get("id")}}
    for output in result.outputs:
        if isinstance(output, DataContent):
            media_type = f"image/{item.get('output_format') or 'png'}"
            files.append(context.replace(output, media_type=media_type, extra={**(output.extra or {}), **extra}))
        elif isinstance(output, UriContent) and output.uri.startswith("data:") and "," in output.uri:
            image = DataContent.from_data_uri(output.uri)
            files.append(context.replaced(output, context.replace(image, extra={**(output.extra or {}), **extra})))
        elif not isinstance(output, TextContent) and (not isinstance(output, ErrorContent) or item.get("error")):
            context.report_loss(output, None, reasons.NO_FIELD)
    return files


def _with_rest(call: Any, value: Fields, context: EncodeContext, *, has_file: bool) -> Any:
    """Return the call of a generated image whose residue has the settings that Pydantic AI does not keep."""
    kept = {*value, "output_format"} if has_file else value.keys()
    arguments = arguments_of(call)
    settings = arguments.items() if isinstance(arguments, dict) else ()
    rest = {name: setting for name, setting in settings if name not in kept}
    if call.status not in (None, value["status"]):
        context.report_loss(call, "status", reasons.OTHER_VALUE, value=value["status"])
    extra = call.extra or {}
    return context.replace(call, extra={**extra, RESPONSES: {**extra.get(RESPONSES, {}), **rest}})


def _search_for_pydantic_ai(content: Any, searches: dict[Any, Any], context: EncodeContext) -> Any:
    """Return a search for tools, or what it found. `searches`: the ids for Pydantic AI, by call id.

    A hosted search has no call id of its own: Pydantic AI uses the id of its item.
    """
    item = _item_of(content)
    is_call = isinstance(content, ToolSearchToolCallContent)
    value = _searched(item) if is_call else _discovered(item)
    given = (content.extra or {}).get(RESPONSES, {}).get("call_id", content.call_id)
    own_id = given or item.get("id")
    if item.get("execution") != "server" or value is None or not isinstance(own_id, str):
        return content
    call_id = searches.setdefault(content.call_id, own_id)
    details = {"call_id": given, "execution": "server", "status": item.get("status")}
    if is_call:
        fields = {"id": item.get("id"), "provider_details": details}
        changed = context.replace(content, call_id=call_id, name="tool_search", arguments=value, status=None)
    else:
        fields = {"provider_details": {"id": item.get("id"), **details}}
        context.report_loss(content, "tools", reasons.NO_FIELD)
        outputs = [JsonContent(value=value)]
        changed = context.replace(content, call_id=call_id, outputs=outputs, tools=[], status=None, is_error=None)
    return with_provider(changed, _SOURCE, fields, context, ("id", "call_id", "execution"))


def _searched(item: Fields) -> Fields | None:
    arguments = item.get("arguments") or {"queries": []}
    if not isinstance(arguments, dict) or len(arguments) != 1:
        return None
    found = arguments.get("queries", arguments.get("paths"))
    has_names = isinstance(found, list) and all(isinstance(name, str) for name in found)
    return {"queries": found} if has_names else None


def _discovered(item: Fields) -> Fields:
    return {"discovered_tools": [{"name": tool.get("name")} for tool in _functions(objects_of(item, "tools"))]}


def _functions(tools: list[Fields]) -> list[Fields]:
    return [tool for tool in tools if tool.get("type") == "function"]


# -- from Pydantic AI --------------------------------------------------------------------------------------------------


def with_hosted_of_openai(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose calls and results of OpenAI's hosted tools, kept by a framework, stay hosted.

    Of those that Pydantic AI keeps, images and other results are left out: the API reads them from the items that it
    stores. A generated image is sent only if the API stores it.
    """
    sent: list[Any] = []

    def own(call: Any, result: Any, origin: Origin) -> list[Any]:
        parts = kept_parts(call, result, origin)
        if origin.api != PYDANTIC_AI:
            pair = sdk_pair(parts) if parts else None
            items = [] if pair is None else items_of_sdk(pair)
            if request.options.store is False and [item["type"] for item in items] == ["image_generation_call"]:
                return []
            return _pair_of_items(items, call, result, context)
        if not are_of((ISSUER,), parts, origin.issuer):
            return []
        if call.name == "tool_search":
            return _search_of(call, result, parts, request, context)
        if request.options.store is False and parts[0].get("tool_name") == "image_generation":
            return []
        made = _pair_of(call, result, parts, context)
        sent.extend(content.call_id for content in made[:1])
        return made

    return _without_files(with_own_contents(request, context, _FRAMEWORKS, own), sent, context)


def _pair_of_items(items: list[Fields], call: Any, result: Any, context: EncodeContext) -> list[Any]:
    """Return the call and the result that items are; [] if they are no such pair."""
    contents = decoded(RESPONSES, {"input": items}) if items else []
    made = [minted_id(c, RESPONSES, call.call_id) if _lacks_id(c) else _of_provider(c) for c in contents]
    if len(made) != 2 or not all(map(is_hosted, made, (ToolCallContent, ToolResultContent))):
        return []
    if result.is_error is True:
        context.report_loss(result, "is_error", reasons.IN_STATE)
        context.report_loss(result, "outputs", reasons.IN_STATE)
    if items[0]["type"] == "mcp_call":
        context.report_loss(result, "outputs$.arguments", reasons.REPEATED_CALL)
        if json_of(call.arguments) != json_of(made[0].arguments):
            context.report_loss(call, "arguments", reasons.STORED_WITH_ITEM)
    elif items[0]["type"] in ("web_search_call", "file_search_call") and result.is_error is not True:
        context.report_loss(call, "arguments", reasons.REPEATED_CALL)
    for old, item in zip((call, result), (items[0], items[-1]), strict=True):
        if old.call_id not in (item.get("id"), item.get("call_id")):
            context.report_loss(old, "call_id", reasons.NO_FIELD)
    return made


def _of_provider(content: Any) -> Any:
    """Return a call of a shell as one that the provider runs: without its container, an item does not show that."""
    return replace(content, executor="provider") if isinstance(content, ShellToolCallContent) else content


def _lacks_id(content: Any) -> bool:
    """Return whether a content is of a search for tools without an id: the API has none if it runs the search."""
    return isinstance(content, ToolSearchToolCallContent | ToolSearchToolResultContent) and content.call_id is None


def _pair_of(call: Any, result: Any, parts: list[Fields], context: EncodeContext) -> list[Any]:
    """Return the call and the empty result of the item that Pydantic AI sends; [] if it sends none."""
    tool, _, server = str(parts[0].get("tool_name")).partition(":")
    arguments, value = json_of(parts[0].get("args")) or {}, json_of(parts[1].get("content"))
    item = _ITEMS[tool](arguments, server) if tool in _ITEMS and arguments.__class__ is dict else None
    if item is None:
        return []
    rest = value
    if tool in _WITH_STATUS and value.__class__ is dict:
        rest = {name: inner for name, inner in value.items() if name != "status"}
        item["status"] = value.get("status") or "completed"
    contents = decoded(RESPONSES, {"input": [{**item, "id": call.call_id}]})
    if not contents or not is_hosted(contents[0], ToolCallContent):
        return []
    for name in arguments.keys() - _SENT.get(tool, arguments.keys()):
        context.report_loss(call, f"arguments$.{name}", reasons.STORED_WITH_ITEM)
    for name in _lost_fields(result, rest):
        context.report_loss(result, name, reasons.STORED_WITH_ITEM)
    empty = RESULTS[KIND_OF[type(contents[0])]](call_id=call.call_id)
    return [*contents, empty][:2]


def _lost_fields(result: Any, value: Any) -> list[str]:
    """Return the fields of a result that its item does not have. `value` is the content of its part, without those."""
    if value.__class__ is dict and result.__class__ is not RESULTS["mcp_list_tools"]:
        lost = [f"outputs$.{name}" for name, inner in value.items() if inner is not None]
    else:
        lost = [name for name in ("outputs", "tools") if getattr(result, name, None)]
    return [*lost, "is_error"] if result.is_error is True else lost


def _web_search_item(arguments: Fields, server: str) -> Fields | None:
    action = {name: value for name, value in arguments.items() if value is not None}
    return {"type": "web_search_call", "action": action} if arguments else None


def _file_search_item(arguments: Fields, server: str) -> Fields | None:
    return {"type": "file_search_call", "queries": arguments.get("queries", [])} if arguments else None


def _code_item(arguments: Fields, server: str) -> Fields | None:
    if not arguments.get("container_id"):
        return None
    ran = {name: arguments.get(name) for name in _SENT["code_execution"]}
    return {"type": "code_interpreter_call", **ran, "outputs": None}


def _image_item(arguments: Fields, server: str) -> Fields | None:
    return {"type": "image_generation_call"}


def _mcp_item(arguments: Fields, server: str) -> Fields | None:
    if server and arguments.get("action") == "list_tools":
        return {"type": "mcp_list_tools", "server_label": server, "tools": []}
    name, used = arguments.get("tool_name"), arguments.get("tool_args")
    if not server or arguments.get("action") != "call_tool" or not isinstance(name, str) or used is None:
        return None
    text = json.dumps(used, ensure_ascii=False, separators=(",", ":"))
    return {"type": "mcp_call", "server_label": server, "name": name, "arguments": text}


_ITEMS: dict[str, Callable[[Fields, str], Fields | None]] = {
    "web_search": _web_search_item,
    "file_search": _file_search_item,
    "code_execution": _code_item,
    "image_generation": _image_item,
    "mcp_server": _mcp_item,
}
"""The item that Pydantic AI sends for the arguments of a call, by the name of the tool."""
_SENT: dict[str, tuple[str, ...]] = {
    "file_search": ("queries",),
    "code_execution": ("code", "container_id"),
    "image_generation": (),
}
"""The arguments that an item has, if it does not have all of them."""
_WITH_STATUS = ("web_search", "file_search", "code_execution")
"""The tools whose result has the status of the item."""


def _search_of(call: Any, result: Any, parts: list[Fields], request: ChatRequest, context: EncodeContext) -> list[Any]:
    """Return the call and the result of a search for tools, with the definitions of the functions that it found."""
    arguments, value = json_of(parts[0].get("args")) or {}, json_of(parts[1].get("content"))
    called, found = (object_of(part, "provider_details") for part in parts)
    if arguments.__class__ is not dict or value.__class__ is not dict or not found.get("id"):
        return []
    names = [match.get("name") for match in objects_of(value, "discovered_tools")]
    items = [
        {**_search_fields("tool_search_call", parts[0], called), "id": parts[0].get("id"), "arguments": arguments},
        {**_search_fields("tool_search_output", parts[1], found), "id": found["id"], "tools": _defined(names, request)},
    ]
    contents = decoded(RESPONSES, {"input": items})
    if len(contents) != 2:
        return []
    known = [tool["name"] for tool in items[1]["tools"]]
    if value != {"discovered_tools": [{"name": name} for name in known]}:
        context.report_loss(result, "outputs", reasons.STORED_WITH_ITEM)
    for old, new, item in zip((call, result), contents, items, strict=True):
        if old.call_id not in (new.call_id, item["id"]):
            context.report_loss(old, "call_id", reasons.NO_FIELD)
    return [
        minted_id(content, RESPONSES, str(part.get("tool_call_id"))) if content.call_id is None else content
        for content, part in zip(contents, parts, strict=True)
    ]


def _search_fields(kind: str, part: Fields, details: Fields) -> Fields:
    status, call_id = details.get("status"), details.get("call_id", part.get("tool_call_id"))
    return {
        "type": kind,
        "execution": "server",
        "call_id": call_id if isinstance(call_id, str | None) else part.get("tool_call_id"),
        "status": status if status in _STATES else "completed",
    }


def _defined(names: list[Any], request: ChatRequest) -> list[Fields]:
    """Return the definitions of the functions of a request that have these names."""
    tools: list[Any] = [tool for tool in request.tools if isinstance(tool, FunctionTool) and tool.name in names]
    payload: Any = installed(RESPONSES).encode_request(ChatRequest(tools=tools)).payload
    return _functions(objects_of(payload, "tools"))


def _without_files(request: ChatRequest, sent: list[Any], context: EncodeContext) -> ChatRequest:
    """Return a request without the files of the calls `sent`: the API reads them from the items that it stores."""
    return context.with_messages(request, [_without_files_of(message, sent, context) for message in request.messages])


def _without_files_of(message: ChatMessage, sent: list[Any], context: EncodeContext) -> ChatMessage:
    kept = []
    for content in message.contents:
        if isinstance(content, DataContent) and (content.extra or {}).get(PYDANTIC_AI, {}).get("id") in sent:
            context.report_loss(content, None, reasons.STORED_WITH_ITEM)
        else:
            kept.append(content)
    return context.with_contents(message, kept)
