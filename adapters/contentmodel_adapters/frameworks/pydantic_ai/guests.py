"""The blocks of providers that Pydantic AI keeps: calls and results of the tools that a provider runs.

Pydantic AI sends them back to their provider as blocks: `_native_tools.py`, `models/anthropic`, `models/openai` and
`models/google.py` of pydantic-ai-slim 2.68 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from contentmodel.authoring import Form, forms, guests, object_or_text, write
from contentmodel.content.media import standard_base64
from contentmodel_adapters.frameworks.pydantic_ai.hosted import CALL_KIND, RETURN_KIND
from contentmodel_adapters.frameworks.pydantic_ai.values import DIGESTS

Fields = dict[str, Any]
PARTS = guests.Parts(
    issuer="provider_name", call_id="tool_call_id", file_id="id", implied={"outcome": "success"}, texts=("args",)
)
ID, TEXT, OBJECT, LIST = forms.Leaf(str, required=True), forms.Leaf(str), forms.Leaf(dict), forms.Leaf(list)
FLAG = forms.Leaf(bool)
SERVER = forms.Affix("mcp_server:", required=True)
NEW_RESULT: Fields = {DIGESTS: [], "content": None}
"""Fields of new results."""
SEARCH: Fields = {"tool_kind": "tool-search"}
"""A field of new calls and results of a search for tools."""


def _call(name: str, **more: Any) -> Fields:
    return {"part_kind": CALL_KIND, "tool_name": name, **more}


def _result(name: str, **more: Any) -> Fields:
    return {"part_kind": RETURN_KIND, "tool_name": name, **more}


# -- Anthropic ---------------------------------------------------------------------------------------------------------

# Pydantic AI does not keep that the model itself made a call.
_CALLER: Fields = {"provider_details.anthropic_caller": ("caller", forms.Unlike({"type": "direct"}))}
_USED: Fields = {"tool_call_id": ("id", ID), "args": ("input", OBJECT), **_CALLER}
_GIVEN: Fields = {"tool_call_id": ("tool_use_id", ID), "content": "content", **_CALLER}


def _server_tool(name: str, tool: str | None = None) -> list[Form]:
    """Return the forms of the calls and results of a tool. `tool` is the name of the part if it is another one."""
    details = {} if tool is None else {"provider_details.anthropic_tool_name": name}
    return [
        Form(
            f"{name}.call",
            _call(tool or name, **details),
            {"type": "server_tool_use", "name": name},
            _USED,
            renamed=tool,
        ),
        Form(
            f"{name}.result",
            _result(tool or name, **details),
            {"type": f"{name}_tool_result"},
            _GIVEN,
            adds=NEW_RESULT,
        ),
    ]


def _tool_search(strategy: str, key: str) -> Form:
    return Form(
        f"tool_search.{strategy}",
        _call("tool_search", **{"provider_details.strategy": strategy}),
        {"type": "server_tool_use", "name": f"tool_search_tool_{strategy}"},
        {**_USED, "args.queries": (f"input.{key}", forms.OnlyText())},
        adds=SEARCH,
        renamed="tool_search",
    )


ANTHROPIC = [
    *_server_tool("web_search"),
    *_server_tool("web_fetch"),
    *_server_tool("advisor"),
    *_server_tool("bash_code_execution", "code_execution"),
    *_server_tool("text_editor_code_execution", "code_execution"),
    *_server_tool("code_execution"),
    _tool_search("bm25", "query"),
    _tool_search("regex", "pattern"),
    Form(
        "tool_search.error",
        _result("tool_search", **{"content.discovered_tools": []}),
        {"type": "tool_search_tool_result", "content.type": "tool_search_tool_result_error"},
        {
            "tool_call_id": ("tool_use_id", ID),
            "provider_details.error_code": ("content.error_code", ID),
            "provider_details.error_message": ("content.error_message", TEXT),
        },
        adds={**SEARCH, **NEW_RESULT},
    ),
    Form(
        "tool_search.result",
        _result("tool_search"),
        {"type": "tool_search_tool_result", "content.type": "tool_search_tool_search_result"},
        {
            "tool_call_id": ("tool_use_id", ID),
            "content.discovered_tools": (
                "content.tool_references",
                forms.Items("name", "tool_name", {"type": "tool_reference"}),
            ),
        },
        adds={**SEARCH, **NEW_RESULT},
    ),
    Form(
        "mcp.call",
        {"part_kind": CALL_KIND, "args.action": "call_tool"},
        {"type": "mcp_tool_use"},
        {
            "tool_call_id": ("id", ID),
            "tool_name": ("server_name", SERVER),
            "args.tool_name": ("name", ID),
            "args.tool_args": ("input", OBJECT),
        },
    ),
    Form(
        "mcp.result",
        {"part_kind": RETURN_KIND},
        {"type": "mcp_tool_result"},
        {
            "tool_call_id": ("tool_use_id", ID),
            "content.content": "content",
            "content.is_error": ("is_error", forms.Leaf(bool)),
        },
        adds=NEW_RESULT,
        of_call={"tool_name": SERVER},
    ),
]
"""Claude's blocks of server tools."""

# -- OpenAI ------------------------------------------------------------------------------------------------------------

_PNG = "data:image/png;base64,"


def _data_of(file: Any) -> Any:
    return file.get("content", {}).get("data") if file.get("content", {}).__class__ is dict else None


def _file(data: str, media_type: str = "image/png") -> Fields:
    return {"part_kind": "file", "content": {"kind": "binary", "data": data, "media_type": media_type}}


class _Outputs(forms.Leaf):
    """The outputs of code. Pydantic AI has the texts in the result, and the images after them in parts of their own."""

    examples = ((["a"], {"0": _file("AAAA")}), (["a", "b"], None), (None, {"0": _file("AAAA", "image/webp")}))
    part_classes = (list, dict)
    block_classes = (list,)

    def to_block(self, value: tuple[Any, Any]) -> Any:
        logs, files = value
        images = [_data_of(file) for file in files.values()] if files.__class__ is dict else []
        if logs.__class__ is dict or files.__class__ is list or not all(image.__class__ is str for image in images):
            return forms.MISFIT
        outputs = [{"type": "logs", "logs": log} for log in logs or ()]
        return [*outputs, *({"type": "image", "url": _PNG + image} for image in images)]

    def to_part(self, outputs: list[Any]) -> Any:
        items = [output for output in outputs if output.__class__ is dict]
        logs = [item.get("logs") for item in items if item.get("type") == "logs"]
        urls = [url for item in items if item.get("type") == "image" and (url := item.get("url")).__class__ is str]
        images = [_file(url.removeprefix(_PNG)) for url in urls if url.startswith(_PNG)]
        files = {str(number): image for number, image in enumerate(images)}
        return logs or forms.NOTHING, files or forms.NOTHING


class _ArgumentsText(forms.Leaf):
    """The arguments of a call of a server: an object in parts, its JSON text in items."""

    part_classes = (dict,)
    block_classes = (str,)
    may_respell = True

    def to_block(self, value: Fields) -> str:
        return write(value).decode()

    def to_part(self, value: str) -> Any:
        part = object_or_text(value)
        return part if part.__class__ is dict else forms.MISFIT

    def is_alike(self, value: Any, again: Any) -> bool:
        return again.__class__ is str and forms.same(object_or_text(value), object_or_text(again))


class _Queries(forms.Leaf):
    """The arguments of a search for tools. Items may have `paths` instead of queries."""

    part_classes = block_classes = (dict,)
    examples = ({"queries": ["a"]},)
    may_respell = True

    def to_part(self, value: Fields) -> Any:
        queries = value.get("queries", value.get("paths")) if len(value) == 1 else None
        return {"queries": queries} if queries.__class__ is list else forms.MISFIT

    def is_alike(self, value: Any, again: Any) -> bool:
        return value.__class__ is dict and [*value.values()] == [*again.values()]


def item_parts(parts: Sequence[Fields], is_named: Callable[[Fields], bool]) -> Iterator[guests.Group]:
    """Yield each call with its result and the files that have its id. The parts of searches for tools are alone."""
    calls: dict[str, int] = {}
    for at, part in enumerate(parts):
        kind, call_id = part.get("part_kind") if is_named(part) else None, part.get("tool_call_id")
        if kind in (CALL_KIND, RETURN_KIND) and part.get("tool_name") == "tool_search":
            yield guests.Group(part, {"": at})
        elif kind == CALL_KIND and call_id.__class__ is str:
            calls[call_id] = at
        elif kind == RETURN_KIND and call_id.__class__ is str and call_id in calls:
            before = calls.pop(call_id)
            between = enumerate(parts[before:at], before)
            files = [index for index, file in between if file.get("part_kind") == "file" and file.get("id") == call_id]
            file_parts = {"files": {str(number): parts[index] for number, index in enumerate(files)}} if files else {}
            yield guests.Group(
                {"call": parts[before], "result": part, **file_parts}, {"call": before, "result": at}, files
            )


PAIR = ("call", "result")
_IDS: Fields = {"call.tool_call_id": ("id", ID), "result.tool_call_id": ("id", ID)}
_STATUS: Fields = {"result.content.status": ("status", forms.Enum())}
_LABELS: Fields = {"call.tool_name": ("server_label", SERVER), "result.tool_name": ("server_label", SERVER)}
_NULLABLE = forms.Leaf(nullable=True)
_NEW: Fields = {f"result.{DIGESTS}": []}
_DONE: Fields = {**_NEW, "result.content.status": "completed"}


def _of_item(whole: Fields) -> Any:
    return whole["call"].get("tool_call_id")


def _item(
    name: str, tool: str, block: Fields, fields: Any, more: Fields | None = None, adds: Fields | None = None
) -> Form:
    """Return the form of an item that is a call and its result."""
    parts = {"call": _call(tool), "result": _result(tool)}
    part = {f"{key}.{field}": value for key, fixed in parts.items() for field, value in fixed.items()}
    return Form(name, {**part, **(more or {})}, block, {**_IDS, **fields}, adds={**_DONE, **(adds or {})}, keys=PAIR)


def _server(kind: str, action: str, fields: Fields, **adds: Any) -> Form:
    part = {"call.part_kind": CALL_KIND, "call.args.action": action, "result.part_kind": RETURN_KIND}
    fields = {**_IDS, **_LABELS, **fields, "result.content.error": ("error", _NULLABLE)}
    return Form(kind, part, {"type": kind}, fields, adds={**_NEW, "result.content.error": None, **adds}, keys=PAIR)


def _tool_search_form(name: str, kind: str, part: Fields, fields: Fields, **options: Any) -> Form:
    """Return the form of an item of a hosted search for tools, which may have no call id."""
    details = {"call_id": _NULLABLE, "status": forms.Enum()}
    fields = {**fields, **{f"provider_details.{detail}": (detail, leaf) for detail, leaf in details.items()}}
    adds = {**SEARCH, "provider_details.call_id": None, **options.pop("adds", {})}
    part = {**part, "provider_details.execution": "server"}
    return Form(name, part, {"type": kind, "execution": "server"}, fields, adds=adds, **options)


def _call_or_item_id(part: Fields) -> Any:
    return part.get("provider_details", {}).get("call_id") or part.get("id")


_SETTINGS: Fields = {
    f"result.content.{name}": (name, TEXT) for name in ("background", "quality", "size", "revised_prompt")
}
FORMAT = forms.Affix("image/", examples=("image/png", "image/webp"))
_IMAGE: Fields = {"type": "image_generation_call"}
OPENAI = [
    _item(
        "web_search",
        "web_search",
        {"type": "web_search_call"},
        {"call.args": ("action", OBJECT), **_STATUS, "result.content.sources": ("action.sources", LIST)},
        adds={"call.id": _of_item},
    ),
    _item(
        "file_search",
        "file_search",
        {"type": "file_search_call"},
        {"call.args.queries": ("queries", LIST), **_STATUS, "result.content.results": ("results", LIST)},
        adds={"call.id": _of_item},
    ),
    _item(
        "code",
        "code_execution",
        {"type": "code_interpreter_call"},
        {
            "call.args.container_id": ("container_id", ID),
            "call.args.code": ("code", TEXT),
            **_STATUS,
            ("result.content.logs", "files"): ("outputs", _Outputs(block_default=None)),
        },
    ),
    _item(
        "image",
        "image_generation",
        _IMAGE,
        {
            "files.0.content.data": ("result", ID),
            "files.0.content.media_type": ("output_format", FORMAT),
            # An image of a stream is complete for Pydantic AI.
            "result.content.status": ("status", forms.Always("completed")),
            **_SETTINGS,
        },
        {"files.0.part_kind": "file", "files.0.content.kind": "binary"},
        adds={"files.0.content.media_type": "image/png"},
    ),
    _item("no_image", "image_generation", {**_IMAGE, "result": None}, {**_STATUS, **_SETTINGS}),
    _tool_search_form(
        "tool_search.call",
        "tool_search_call",
        _call("tool_search"),
        {"id": ("id", _NULLABLE), "args": ("arguments", _Queries())},
        adds={"tool_call_id": _call_or_item_id},
    ),
    _tool_search_form(
        "tool_search.result",
        "tool_search_output",
        _result("tool_search"),
        {
            "provider_details.id": ("id", TEXT),
            "content.discovered_tools": ("tools", forms.Items("name", "name", {"type": "function"})),
        },
        adds=NEW_RESULT,
        of_call={"tool_call_id": ID},
    ),
    _server("mcp_list_tools", "list_tools", {"result.content.tools": ("tools", LIST)}),
    _server(
        "mcp_call",
        "call_tool",
        {
            "call.args.tool_name": ("name", ID),
            "call.args.tool_args": ("arguments", _ArgumentsText()),
            "result.content.output": ("output", _NULLABLE),
        },
        **{"result.content.output": None},
    ),
]
"""The items of the Responses API of tools that OpenAI runs."""

# -- Gemini ------------------------------------------------------------------------------------------------------------


class _Signature(forms.Leaf):
    """A signature: base64, in the standard alphabet in parts of Pydantic AI."""

    part_classes = block_classes = (str,)
    may_respell = True

    def to_part(self, value: str) -> str:
        return standard_base64(value) or value

    def is_alike(self, value: Any, again: Any) -> bool:
        return bool(standard_base64(value) == again)


class _ToolId(forms.Leaf):
    """The id of a call. Pydantic AI makes one for calls without ids, which the API refuses."""

    part_classes = block_classes = (str,)

    def to_block(self, value: str) -> Any:
        return forms.MISFIT if value.startswith("pyd_ai_") else value


_SIGNED: Fields = {"provider_details.thought_signature": ("thoughtSignature", _Signature())}
_SOME_OBJECT = forms.Leaf(dict, required=True)


def _tool(name: str, kind: str, beside: Sequence[str] = ()) -> list[Form]:
    """Return the forms of the calls and results of a tool of this type."""
    call_id = _ToolId(required=True)
    return [
        Form(
            f"{kind}.call",
            _call(name),
            {"toolCall.toolType": kind},
            {"tool_call_id": ("toolCall.id", call_id), "args": ("toolCall.args", OBJECT), **_SIGNED},
        ),
        Form(
            f"{kind}.result",
            _result(name),
            {"toolResponse.toolType": kind},
            {"tool_call_id": ("toolResponse.id", call_id), "content": ("toolResponse.response", OBJECT), **_SIGNED},
            adds=NEW_RESULT,
            beside=beside,
        ),
    ]


GEMINI = [
    Form("code.call", _call("code_execution"), {}, {"args": ("executableCode", _SOME_OBJECT), **_SIGNED}),
    Form(
        "code.result",
        _result("code_execution"),
        {},
        {
            "content": ("codeExecutionResult", _SOME_OBJECT),
            "content.outcome": ("codeExecutionResult.outcome", forms.Enum()),
            **_SIGNED,
        },
        adds=NEW_RESULT,
    ),
    # Pydantic AI adds the sources from the metadata of the answer.
    *_tool("web_search", "GOOGLE_SEARCH_WEB", ("content.sources",)),
    *_tool("web_fetch", "URL_CONTEXT"),
    *_tool("file_search", "FILE_SEARCH"),
]
"""The parts of generateContent of tools that Gemini runs. Pydantic AI reads no others."""
