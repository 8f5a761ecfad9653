"""Claude's blocks of server tools in the parts of the AI SDK.

Source: `convert-to-anthropic-prompt.ts` of @ai-sdk/anthropic 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from contentmodel.authoring import Form, camel_name, forms, guests, object_of, object_or_text
from contentmodel_adapters.common.objects import in_snake_case
from contentmodel_adapters.frameworks.ai_sdk.spelling import (
    ID,
    LIST,
    OBJECT,
    Failure,
    Fields,
    Spelling,
    at_path,
    name_of,
)

_TEXT, _TEXT_OR_NULL, _NUMBER, _NUMBER_OR_NULL = (str,), (str, type(None)), (int, float), (int, float, type(None))
_RAN: Fields = {"stdout": _TEXT, "stderr": _TEXT, "return_code": _NUMBER}
_FILE_ID = [{"type": _TEXT, "file_id": _TEXT}]
_SOURCE = {"type": _TEXT, "mediaType": _TEXT, "data": _TEXT}
_DOCUMENT = {"type": _TEXT, "title": _TEXT_OR_NULL, "citations?": {"enabled": (bool,)}, "source": _SOURCE}
_LINES = {"num_lines": _NUMBER_OR_NULL, "start_line": _NUMBER_OR_NULL, "total_lines": _NUMBER_OR_NULL}
_REFERENCES = [{"type": _TEXT, "toolName": _TEXT}]
_RESULTS: Fields = {
    "web_search_result": [
        {"url": _TEXT, "title": _TEXT_OR_NULL, "pageAge": _TEXT_OR_NULL, "encryptedContent": _TEXT, "type": _TEXT}
    ],
    "web_fetch_result": {"type": _TEXT, "url": _TEXT, "content": _DOCUMENT, "retrievedAt": _TEXT_OR_NULL},
    "advisor_result": {"type": _TEXT, "text": _TEXT, "stopReason?": _TEXT},
    "advisor_redacted_result": {"type": _TEXT, "encryptedContent": _TEXT, "stopReason?": _TEXT},
    "code_execution_result": {**_RAN, "content?": _FILE_ID},
    "encrypted_code_execution_result": {
        "encrypted_stdout": _TEXT,
        "stderr": _TEXT,
        "return_code": _NUMBER,
        "content?": _FILE_ID,
    },
    "bash_code_execution_result": {**_RAN, "content": _FILE_ID},
    "text_editor_code_execution_view_result": {"content": _TEXT, "file_type": _TEXT, **_LINES},
    "text_editor_code_execution_create_result": {"is_file_update": (bool,)},
    "text_editor_code_execution_str_replace_result": {
        "lines": (list, type(None)),
        **dict.fromkeys(("new_lines", "new_start", "old_lines", "old_start"), _NUMBER_OR_NULL),
    },
}
"""The forms that @ai-sdk/anthropic accepts, by the type of the result or of its first block.

It refuses the whole request for others. A field with a question mark may be missing, but not null."""
_SERVER_TOOLS = ("web_search", "web_fetch", "bash_code_execution", "text_editor_code_execution", "code_execution")
_ALONE = {"web_search": {"query"}, "web_fetch": {"url"}, "code_execution": {"type"}, "advisor": set[str]()}
"""The fields that the arguments of calls without a result must have, by the name of the tool."""
OF_PROGRAM = "programmatic-tool-call"
"""The type of the arguments of the tool that has only code."""


def _type_of(value: Any) -> str:
    """Return the type of a result, or of its first block."""
    first = value[0] if value.__class__ is list and value else value
    return str(first.get("type")) if first.__class__ is dict else ""


def _filled(value: Any, form: Any) -> Any:
    """Return a value with null for each missing field that may be null, and without null for those that may not.

    The SDK itself leaves out the title of a page that has none, and may write null for settings of a document.
    """
    if form.__class__ is list and value.__class__ is list:
        return [_filled(item, form[0]) for item in value]
    if form.__class__ is not dict or value.__class__ is not dict:
        return value
    nulls = {name: None for name, inner in form.items() if type(None) in inner and name not in value}
    present = {name: inner for name, inner in value.items() if inner is not None or f"{name}?" not in form}
    return {**{name: _filled(inner, form.get(name)) for name, inner in present.items()}, **nulls}


def _fits(value: Any, form: Any) -> bool:
    if form.__class__ is list:
        return value.__class__ is list and all(_fits(item, form[0]) for item in value)
    if form.__class__ is not dict:
        return form is not None and value.__class__ in form
    return value.__class__ is dict and all(
        _fits(value[name.rstrip("?")], inner) if name.rstrip("?") in value else name.endswith("?")
        for name, inner in form.items()
    )


def _in_camel_case(value: Any) -> Any:
    if value.__class__ is list:
        return [_in_camel_case(item) for item in value]
    if value.__class__ is not dict:
        return value
    # If two fields would get the same name, both keep their names.
    camel_names = {key: camel_name(key) for key in value}
    names = [*camel_names.values()]
    return {(name if names.count(name) == 1 else key): _in_camel_case(value[key]) for key, name in camel_names.items()}


class _Result(forms.Leaf):
    """The result of a server tool. Its names are in camel case, except those of the execution of code."""

    part_classes = block_classes = (dict, list)
    keeps = True

    def __init__(self, tool: str, *examples: Any) -> None:
        super().__init__(required=True)
        self._tool, self._is_code, self.examples = tool, tool.endswith("code_execution"), examples

    def _checked(self, value: Any) -> Any:
        kind = _type_of(value)
        form = _RESULTS.get(kind, [] if value == [] else None)
        if value != [] and (form is None or not kind.removeprefix("encrypted_").startswith(f"{self._tool}_")):
            return forms.MISFIT
        filled = _filled(value, form)
        return filled if value == [] or _fits(filled, form) else forms.MISFIT

    def to_block(self, value: Any) -> Any:
        block = self._checked(value)
        return block if block is forms.MISFIT else in_snake_case(block)

    def to_part(self, value: Any) -> Any:
        return self._checked(value if self._is_code else _in_camel_case(value))


class _References(forms.Leaf):
    """The tools that a search found."""

    part_classes = block_classes = (list,)
    keeps = True
    examples = ([{"type": "tool_reference", "toolName": "a"}], [])

    def to_block(self, value: Any) -> Any:
        return in_snake_case(value) if _fits(value, _REFERENCES) else forms.MISFIT

    def to_part(self, value: Any) -> Any:
        part = _in_camel_case(value)
        return part if _fits(part, _REFERENCES) else forms.MISFIT


class _OneText(forms.Leaf):
    """The text of a failed call of an MCP server, in place of its blocks."""

    part_classes = (str,)
    block_classes = (list,)

    def to_block(self, value: str) -> Any:
        return [{"type": "text", "text": value}]

    def to_part(self, value: list[Any]) -> Any:
        texts: list[Any] = [
            item.get("text") if item.__class__ is dict and item.get("type") == "text" else None for item in value
        ]
        return "\n".join(texts) if all(text.__class__ is str for text in texts) else forms.MISFIT


class _Caller(forms.Leaf):
    """The program that made a call."""

    part_classes = block_classes = (dict,)

    def to_block(self, value: Fields) -> Any:
        return {"tool_id" if key == "toolId" else key: inner for key, inner in value.items()}

    def to_part(self, value: Fields) -> Any:
        return {"toolId" if key == "tool_id" else key: inner for key, inner in value.items()}


def _is_error(value: Any) -> bool:
    return _type_of(value).endswith("_tool_result_error")


def _error(tool: str, spelling: Spelling) -> forms.Leaf:
    def is_of_tool(value: Any) -> bool:
        return _is_error(value) and _type_of(value).startswith(tool)

    return Failure(
        lambda value: in_snake_case(value) if is_of_tool(value) else forms.MISFIT,
        lambda value: _in_camel_case(value) if is_of_tool(value) else forms.MISFIT,
        dict,
        as_text=spelling.error == "errorText",
        example={"type": f"{tool}_tool_result_error", "errorCode": "unavailable"},
    )


def anthropic(spelling: Spelling) -> list[Form]:
    """Return the forms of Claude's blocks of server tools."""
    caller: Fields = {f"{spelling.of_call}.anthropic.caller": ("caller", _Caller())}
    call_fields: Fields = {"toolCallId": ("id", ID), "input": ("input", OBJECT), **caller}
    result_fields: Fields = {"toolCallId": ("tool_use_id", ID)}

    def results(tool: str, name: str, *examples: Any) -> list[Form]:
        block, adds = {"type": f"{tool}_tool_result"}, spelling.names(name)[1]
        value: Fields = {spelling.value: ("content", _Result(tool, *examples))}
        error: Fields = {spelling.error: ("content", _error(tool, spelling))}
        return [
            Form(f"{tool}.result", spelling.result, block, {**result_fields, **value}, adds=adds),
            Form(f"{tool}.error", spelling.failure, block, {**result_fields, **error}, adds=adds),
        ]

    def call(form: str, tool: str, name: str, typed: str | None = None) -> Form:
        part = spelling.call if typed is None else {**spelling.call, "input.type": typed}
        block = {"type": "server_tool_use", "name": tool}
        renamed = None if tool == name else name
        return Form(form, part, block, call_fields, adds=spelling.names(name)[0], renamed=renamed)

    page = {"type": "web_search_result", "url": "https://a.example", "encryptedContent": "E"}
    printed = {"stdout": "", "stderr": "", "return_code": 0}
    claude_forms = [
        call("web_search.call", "web_search", "web_search"),
        *results("web_search", "web_search", [{**page, "title": "A", "pageAge": None}], []),
        call("web_fetch.call", "web_fetch", "web_fetch"),
        *results("web_fetch", "web_fetch"),
        call("advisor.call", "advisor", "advisor"),
        *results("advisor", "advisor", {"type": "advisor_result", "text": "a"}),
        call("code_execution.call", "code_execution", "code_execution", OF_PROGRAM),
        # Older versions have no type.
        call("code_execution.call_untyped", "code_execution", "code_execution"),
        *results("code_execution", "code_execution", {"type": "code_execution_result", **printed, "content": []}),
    ]
    for tool in ("bash_code_execution", "text_editor_code_execution"):
        claude_forms += [call(f"{tool}.call", tool, "code_execution", tool), *results(tool, "code_execution")]
    return [
        *claude_forms,
        *_tool_searches(spelling, call_fields, result_fields),
        *_mcp(spelling, call_fields, result_fields),
    ]


def _tool_searches(spelling: Spelling, call_fields: Fields, result_fields: Fields) -> list[Form]:
    block = {"type": "tool_search_tool_result"}
    success = {**block, "content.type": "tool_search_tool_search_result"}
    of_call = {"toolName": ID} if spelling.is_split else {}
    references: Fields = {spelling.value: ("content.tool_references", _References(required=True))}
    error: Fields = {spelling.error: ("content", _error("tool_search", spelling))}
    return [
        *(
            Form(
                f"tool_search.call{number}",
                {**spelling.call, **constants},
                {"type": "server_tool_use"},
                {**call_fields, **name},
            )
            for number, (constants, name) in enumerate(spelling.named("", of_server=False))
        ),
        Form("tool_search.result", spelling.result, success, {**result_fields, **references}, of_call=of_call),
        Form("tool_search.error", spelling.failure, block, {**result_fields, **error}, of_call=of_call),
    ]


def _mcp(spelling: Spelling, call_fields: Fields, result_fields: Fields) -> list[Form]:
    server: Fields = {f"{spelling.of_call}.anthropic.serverName": ("server_name", ID)}
    typed = {f"{spelling.of_call}.anthropic.type": "mcp-tool-use"}
    block = {"type": "mcp_tool_result"}
    of_call = {"toolName": ID, spelling.of_call: OBJECT} if spelling.is_split else {}
    content: Fields = {spelling.value: ("content", forms.Leaf(list, required=True))}
    errors: Fields = {spelling.error: ("content", _OneText() if not spelling.is_split else LIST)}
    return [
        *(
            Form(
                f"mcp.call{number}",
                {**spelling.call, **typed, **constants},
                {"type": "mcp_tool_use"},
                {**call_fields, **server, **name},
            )
            for number, (constants, name) in enumerate(spelling.named("", of_server=True))
        ),
        Form("mcp.error", spelling.failure, {**block, "is_error": True}, {**result_fields, **errors}, of_call=of_call),
        Form("mcp.result", spelling.result, block, {**result_fields, **content}, of_call=of_call),
    ]


def _tool_of_claude(value: Any) -> str:
    """Return the tool that made a result; "" if no tool of Claude did."""
    kind = _type_of(value).removeprefix("encrypted_")
    if kind == "tool_reference":
        return "tool_search"
    tools = (*_SERVER_TOOLS, "advisor", "tool_search")
    return next((tool for tool in tools if kind.startswith(f"{tool}_")), "")


def _tool_without_result(call: Mapping[str, Any], waiting: set[Any]) -> str:
    """Return the tool of a call of Claude without a result that shows it. `waiting` are the ids of programs."""
    call_input: Any = call.get("input")
    name, arguments = name_of(call), object_of({"": object_or_text(call_input)}, "")
    if name in ("tool_search_tool_regex", "tool_search_tool_bm25"):
        return "tool_search"
    if name not in _ALONE or not (arguments.keys() >= _ALONE[name] or call.get("toolCallId") in waiting):
        return ""
    kind = arguments.get("type")
    return kind if name == "code_execution" and kind in _SERVER_TOOLS else name if kind in (None, OF_PROGRAM) else ""


def claude_parts(spelling: Spelling) -> guests.Groups:
    """Return a function that yields each part of a tool of Claude. Results show the tool, and those of calls theirs."""

    def groups(parts: Sequence[Fields], is_named: Callable[[Fields], bool]) -> Iterator[guests.Group]:
        paired, _ = spelling.pairs_in(parts)
        tools: dict[int, str] = {}
        callers = [at_path(part, f"{spelling.of_call}.anthropic.caller.toolId") for part in parts]
        waiting = {caller for caller in callers if caller.__class__ is str}
        for at, part in spelling.calls_in(parts):
            is_of_server = at_path(part, f"{spelling.of_call}.anthropic.type") == "mcp-tool-use"
            value = spelling.value_of(parts[paired[at]]) if at in paired else []
            tool = "mcp" if is_of_server else _tool_of_claude(value)
            if not tool and value == []:
                tool = _tool_without_result(part, waiting)
            tools.update({at: tool, paired[at]: tool} if at in paired else {at: tool})
        for at, part in enumerate(parts):
            value = spelling.value_of(part)
            is_of_server = at_path(part, f"{spelling.of_call}.anthropic.type") == "mcp-tool-use"
            tool = tools[at] if at in tools else "" if value is None else _tool_of_claude(value)
            if tool or (value is not None and is_of_server):
                yield guests.Group(part, {"": at}, tool=tool or "mcp")

    return groups
