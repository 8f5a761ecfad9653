"""The blocks of providers that the AI SDK keeps: calls and results of the tools that a provider runs.

Parts have no name of the provider, and applications may rename tools: the values of results, the ids of items and the
values of providers tell them apart. Both formats keep the same values under other names: a `Spelling`. The SDK sends
these parts back to their provider. Source: `convert-to-anthropic-prompt.ts` of @ai-sdk/anthropic,
`convert-to-openai-responses-input.ts` and `openai-responses-language-model.ts` of @ai-sdk/openai, and
`convert-to-google-messages.ts` of @ai-sdk/google, each of 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from contentmodel.authoring import Form, Guest, Table, camel_name, forms, guests, object_of, object_or_text, write
from contentmodel_adapters.common.objects import in_snake_case

Fields = dict[str, Any]
ID, TEXT, OBJECT, LIST = forms.Leaf(str, required=True), forms.Leaf(str), forms.Leaf(dict), forms.Leaf(list)
NULLABLE = forms.Leaf(nullable=True)
_SPELLED = forms.Leaf(str, required=True, repeats=True)
"""A name or an id that the block has as a field of another role."""
PARTS = guests.Parts(issuer="", call_id="toolCallId", texts=("input",), usual=("toolName", "type", "toolCallId"))


class Spelling(NamedTuple):
    """The names of the fields of a format: the constants of calls and results, and the paths of their values."""

    call: Fields
    result: Fields
    failure: Fields
    value: str
    error: str
    """The path of the value of a failed result."""
    of_call: str
    of_result: str
    """The fields with the values of providers."""
    is_split: bool
    """Whether results are parts of their own, with the name of the tool."""

    def names(self, name: str) -> tuple[Fields, Fields]:
        """Return the fields of new calls, and of new results, with the name of the tool."""
        if self.is_split:
            return {"toolName": name}, {"toolName": name}
        return {"type": f"tool-{name}"}, {}

    def named(self, before: str, *, of_server: bool) -> list[tuple[Fields, Fields]]:
        """Return the forms in which a call has the name of its block, `before` it a constant text.

        Each has constants and a field. The usual form is the first one.
        """
        dynamic: Fields = {"toolName": ("name", forms.Affix(before, required=True, repeats=bool(before)))}
        if self.is_split:
            return [({}, dynamic)]
        static: Fields = {"type": ("name", forms.Affix(f"tool-{before}", required=True, repeats=True))}
        found: list[tuple[Fields, Fields]] = [({"type": "dynamic-tool"}, dynamic), ({}, static)]
        return found if of_server else found[::-1]

    def value_of(self, part: Mapping[str, Any]) -> Any:
        """Return the value of a result, which may be JSON text; None if the part is no result."""
        for constants, path in ((self.result, self.value), (self.failure, self.error)):
            if all(_at(part, key) == value for key, value in constants.items()):
                found = _at(part, path)
                return object_or_text(found) if found.__class__ is str else found
        return None

    def calls_in(self, parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the calls of tools that a provider runs, or that have the id of an item, with their indexes."""
        for at, part in enumerate(parts):
            is_hosted = all(part.get(key) == value for key, value in self.call.items())
            if part.get("toolCallId").__class__ is str and (is_hosted or item_id(part, self.of_call) is not None):
                yield at, part

    def pairs_in(self, parts: Sequence[Mapping[str, Any]]) -> tuple[dict[int, int], list[int]]:
        """Return the index of the result of each call that has one, by that of the call, and the other calls."""
        calls: dict[str, int] = {}
        paired: dict[int, int] = {}
        called = {at for at, _ in self.calls_in(parts)}
        for at, part in enumerate(parts):
            if at in called:
                calls[part["toolCallId"]] = at
            elif part.get("toolCallId") in calls and self.value_of(part) is not None:
                paired[calls.pop(part["toolCallId"])] = at
        return paired, list(calls.values())


MODEL = Spelling(
    call={"type": "tool-call", "providerExecuted": True},
    result={"type": "tool-result", "output.type": "json"},
    failure={"type": "tool-result", "output.type": "error-json"},
    value="output.value",
    error="output.value",
    of_call="providerOptions",
    of_result="providerOptions",
    is_split=True,
)
UI = Spelling(
    call={"providerExecuted": True},
    result={"state": "output-available"},
    failure={"state": "output-error"},
    value="output",
    error="errorText",
    of_call="callProviderMetadata",
    of_result="resultProviderMetadata",
    is_split=False,
)


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if value.__class__ is dict else None
    return value


def name_of(part: Mapping[str, Any]) -> str:
    """Return the name of the tool of a call."""
    name = part.get("toolName")
    return name if name.__class__ is str else str(part.get("type")).removeprefix("tool-")


def item_id(part: Mapping[str, Any], at: str) -> str | None:
    """Return the id of the item of OpenAI that a call has in its field `at`; None for other parts."""
    metadata = part.get(at) if "input" in part else None
    found = (_at(metadata, f"{issuer}.itemId") for issuer in _ISSUERS) if metadata.__class__ is dict else ()
    return next((one for one in found if one.__class__ is str), None)


def _under(key: str, fields: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return fields of one of the parts of a form."""
    return {f"{key}.{path}": value for path, value in fields.items()}


class _Failure(forms.Leaf):
    """The value of a failed result: an object, or its JSON text, as UI messages have it."""

    part_classes = (dict, str)
    keeps = True

    def __init__(
        self,
        to_block: Callable[[Fields], Any],
        to_part: Callable[[Any], Any],
        *classes: type,
        as_text: bool,
        example: Fields,
    ) -> None:
        super().__init__(required=True)
        self.block_classes = classes
        self.repeats = (0,) if as_text else ()
        self._to_block, self._to_part, self._as_text = to_block, to_part, as_text
        self.examples = (self._written(example),)

    def to_block(self, value: Any) -> Any:
        found = object_or_text(value) if value.__class__ is str else value
        return self._to_block(found) if found.__class__ is dict else forms.MISFIT

    def to_part(self, value: Any) -> Any:
        return self._written(self._to_part(value))

    def _written(self, value: Any) -> Any:
        return write(value).decode() if self._as_text and value is not forms.MISFIT else value


# -- Anthropic ---------------------------------------------------------------------------------------------------------

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
    kept = {name: inner for name, inner in value.items() if inner is not None or f"{name}?" not in form}
    return {**{name: _filled(inner, form.get(name)) for name, inner in kept.items()}, **nulls}


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
    made = {key: camel_name(key) for key in value}
    names = [*made.values()]
    return {(name if names.count(name) == 1 else key): _in_camel_case(value[key]) for key, name in made.items()}


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
        made = self._checked(value)
        return made if made is forms.MISFIT else in_snake_case(made)

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
        made = _in_camel_case(value)
        return made if _fits(made, _REFERENCES) else forms.MISFIT


class _OneText(forms.Leaf):
    """The text of a failed call of an MCP server, in place of its blocks."""

    part_classes = (str,)
    block_classes = (list,)

    def to_block(self, value: str) -> Any:
        return [{"type": "text", "text": value}]

    def to_part(self, value: list[Any]) -> Any:
        texts = [item.get("text") if item.__class__ is dict and item.get("type") == "text" else None for item in value]
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

    return _Failure(
        lambda value: in_snake_case(value) if is_of_tool(value) else forms.MISFIT,
        lambda value: _in_camel_case(value) if is_of_tool(value) else forms.MISFIT,
        dict,
        as_text=spelling.error == "errorText",
        example={"type": f"{tool}_tool_result_error", "errorCode": "unavailable"},
    )


def anthropic(spelling: Spelling) -> list[Form]:
    """Return the forms of Claude's blocks of server tools."""
    caller: Fields = {f"{spelling.of_call}.anthropic.caller": ("caller", _Caller())}
    used: Fields = {"toolCallId": ("id", ID), "input": ("input", OBJECT), **caller}
    given: Fields = {"toolCallId": ("tool_use_id", ID)}

    def results(tool: str, name: str, *examples: Any) -> list[Form]:
        block, adds = {"type": f"{tool}_tool_result"}, spelling.names(name)[1]
        value: Fields = {spelling.value: ("content", _Result(tool, *examples))}
        error: Fields = {spelling.error: ("content", _error(tool, spelling))}
        return [
            Form(f"{tool}.result", spelling.result, block, {**given, **value}, adds=adds),
            Form(f"{tool}.error", spelling.failure, block, {**given, **error}, adds=adds),
        ]

    def call(form: str, tool: str, name: str, typed: str | None = None) -> Form:
        part = spelling.call if typed is None else {**spelling.call, "input.type": typed}
        block = {"type": "server_tool_use", "name": tool}
        renamed = None if tool == name else name
        return Form(form, part, block, used, adds=spelling.names(name)[0], renamed=renamed)

    found = {"type": "web_search_result", "url": "https://a.example", "encryptedContent": "E"}
    ran = {"stdout": "", "stderr": "", "return_code": 0}
    made = [
        call("web_search.call", "web_search", "web_search"),
        *results("web_search", "web_search", [{**found, "title": "A", "pageAge": None}], []),
        call("web_fetch.call", "web_fetch", "web_fetch"),
        *results("web_fetch", "web_fetch"),
        call("advisor.call", "advisor", "advisor"),
        *results("advisor", "advisor", {"type": "advisor_result", "text": "a"}),
        call("code_execution.call", "code_execution", "code_execution", OF_PROGRAM),
        # Older versions have no type.
        call("code_execution.untyped", "code_execution", "code_execution"),
        *results("code_execution", "code_execution", {"type": "code_execution_result", **ran, "content": []}),
    ]
    for tool in ("bash_code_execution", "text_editor_code_execution"):
        made += [call(f"{tool}.call", tool, "code_execution", tool), *results(tool, "code_execution")]
    return [*made, *_tool_searches(spelling, used, given), *_mcp(spelling, used, given)]


def _tool_searches(spelling: Spelling, used: Fields, given: Fields) -> list[Form]:
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
                {**used, **name},
            )
            for number, (constants, name) in enumerate(spelling.named("", of_server=False))
        ),
        Form("tool_search.result", spelling.result, success, {**given, **references}, of_call=of_call),
        Form("tool_search.error", spelling.failure, block, {**given, **error}, of_call=of_call),
    ]


def _mcp(spelling: Spelling, used: Fields, given: Fields) -> list[Form]:
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
                {**used, **server, **name},
            )
            for number, (constants, name) in enumerate(spelling.named("", of_server=True))
        ),
        Form("mcp.error", spelling.failure, {**block, "is_error": True}, {**given, **errors}, of_call=of_call),
        Form("mcp.result", spelling.result, block, {**given, **content}, of_call=of_call),
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
    name, arguments = name_of(call), object_of({"": object_or_text(call.get("input"))}, "")
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
        callers = [_at(part, f"{spelling.of_call}.anthropic.caller.toolId") for part in parts]
        waiting = {caller for caller in callers if caller.__class__ is str}
        for at, part in spelling.calls_in(parts):
            is_of_server = _at(part, f"{spelling.of_call}.anthropic.type") == "mcp-tool-use"
            value = spelling.value_of(parts[paired[at]]) if at in paired else []
            tool = "mcp" if is_of_server else _tool_of_claude(value)
            if not tool and value == []:
                tool = _tool_without_result(part, waiting)
            tools.update({at: tool, paired[at]: tool} if at in paired else {at: tool})
        for at, part in enumerate(parts):
            value = spelling.value_of(part)
            is_of_server = _at(part, f"{spelling.of_call}.anthropic.type") == "mcp-tool-use"
            tool = tools[at] if at in tools else "" if value is None else _tool_of_claude(value)
            if tool or (value is not None and is_of_server):
                yield guests.Group(part, {"": at}, tool=tool or "mcp")

    return groups


# -- Gemini ------------------------------------------------------------------------------------------------------------

_OF_GOOGLE = ("google", "googleVertex", "vertex")
"""The names of the provider."""


def google(spelling: Spelling) -> list[Form]:
    """Return the forms of the parts of generateContent of tools that Gemini runs."""
    call_adds, result_adds = spelling.names("code_execution")
    made = []
    for provider in _OF_GOOGLE:
        of_call, of_result = f"{spelling.of_call}.{provider}", f"{spelling.of_result}.{provider}"
        signed_call: Fields = {f"{of_call}.thoughtSignature": ("thoughtSignature", TEXT)}
        signed_result: Fields = {f"{of_result}.thoughtSignature": ("thoughtSignature", TEXT)}
        for tool in ("named_code", "code"):
            # Some parts have ids.
            is_named = tool == "named_code"
            ids: Fields = {"input.id": ("executableCode.id", ID)}
            of_result_id: Fields = {"toolCallId": ("codeExecutionResult.id", ID)}
            made += [
                Form(
                    f"{tool}.call.{provider}",
                    spelling.call,
                    {},
                    {
                        "input.language": ("executableCode.language", ID),
                        "input.code": ("executableCode.code", ID),
                        **(ids if is_named else {}),
                        **signed_call,
                    },
                    adds={**call_adds, "toolCallId": lambda part: _at(part, "input.id")} if is_named else call_adds,
                ),
                Form(
                    f"{tool}.result.{provider}",
                    spelling.result,
                    {},
                    {
                        f"{spelling.value}.outcome": ("codeExecutionResult.outcome", _SPELLED),
                        f"{spelling.value}.output": ("codeExecutionResult.output", _Printed(str)),
                        **(of_result_id if is_named else {}),
                        **signed_result,
                    },
                    adds=result_adds,
                ),
            ]
        made += [
            Form(
                f"tool.call.{provider}",
                spelling.call,
                {},
                {
                    f"{of_call}.serverToolCallId": ("toolCall.id", _SPELLED),
                    f"{of_call}.serverToolType": ("toolCall.toolType", _SPELLED),
                    "input": ("toolCall.args", OBJECT),
                    **signed_call,
                },
                adds=_server_names(spelling, of_call)[0],
            ),
            Form(
                f"tool.result.{provider}",
                spelling.result,
                {},
                {
                    f"{of_result}.serverToolCallId": ("toolResponse.id", _SPELLED),
                    f"{of_result}.serverToolType": ("toolResponse.toolType", _SPELLED),
                    spelling.value: ("toolResponse.response", _Response(dict)),
                    **signed_result,
                },
                adds=_server_names(spelling, of_result)[1],
            ),
        ]
    return made


class _Printed(forms.Leaf):
    """The output of code. A part has an empty text if there is none."""

    part_default = ""
    keeps = True


class _Response(forms.Leaf):
    """The response of a tool. A part has an empty object if there is none."""

    part_default: Fields = {}


def _server_names(spelling: Spelling, at: str) -> tuple[Fields, Fields]:
    def name(part: Fields) -> str:
        return f"server:{_at(part, f'{at}.serverToolType')}"

    if spelling.is_split:
        return {"toolName": name}, {"toolName": name}
    return {"type": "dynamic-tool", "toolName": name}, {}


def gemini_parts(spelling: Spelling) -> guests.Groups:
    """Return a function that yields each part of a tool of Gemini, with or without its other half."""

    def groups(parts: Sequence[Fields], is_named: Callable[[Fields], bool]) -> Iterator[guests.Group]:
        paired, _ = spelling.pairs_in(parts)
        calls = dict(spelling.calls_in(parts))
        codes = {at for at, part in calls.items() if name_of(part) == "code_execution"}
        codes |= {paired[at] for at in codes if at in paired}
        named = {part["toolCallId"] for part in calls.values() if _at(part, "input.id") is not None}
        for at, part in enumerate(parts):
            if _server_type(part, spelling) is not None:
                yield guests.Group(part, {"": at}, tool="tool")
            elif at in codes or (at not in calls and part.get("toolName") == "code_execution"):
                yield guests.Group(part, {"": at}, tool="named_code" if part.get("toolCallId") in named else "code")

    return groups


def _server_type(part: Fields, spelling: Spelling) -> Any:
    found = (
        _at(part, f"{at}.{provider}.serverToolType")
        for at in (spelling.of_call, spelling.of_result)
        for provider in _OF_GOOGLE
    )
    return next((one for one in found if one is not None), None)


# -- OpenAI ------------------------------------------------------------------------------------------------------------

_ACTIONS = {"search": "search", "open_page": "openPage", "find_in_page": "findInPage"}
_ITEM_ACTIONS = {name: kind for kind, name in _ACTIONS.items()}
_OF_ACTION = {"search": ("query", "queries"), "open_page": ("url",), "find_in_page": ("url", "pattern")}
_OF_FILE = {"attributes": "attributes", "file_id": "fileId", "filename": "filename", "score": "score", "text": "text"}
_IN_ITEM = {name: key for key, name in _OF_FILE.items()}
_OF_IMAGE = ("action", "background", "output_format", "prompt", "quality", "revised_prompt", "size")
"""The settings of an image. The SDK leaves them out; parts of other origin have them as the arguments."""
_OF_PREFIX = {
    "ws": "web_search",
    "fs": "file_search",
    "ci": "code_interpreter",
    "ig": "image_generation",
    "tsc": "tool_search",
}
"""The tools by the beginning of the ids of their items: applications may rename tools."""
_OPENAI_TOOLS = {name: name for name in (*_OF_PREFIX.values(), "mcp_list_tools")}
_OPENAI_TOOLS["web_search_preview"] = "web_search"
_ISSUERS = ("openai", "azure")
PAIR = ("call", "result")


class _Action(forms.Leaf):
    """What a search did: its arguments, which the SDK leaves out, the action of its result, and the sources."""

    part_classes = (dict, list)
    block_classes = (dict,)
    keeps = True
    repeats = (0,)
    examples = (({}, {"type": "search", "query": "q"}, None), (None, {"type": "openPage", "url": "u"}, [{"a": 1}]))

    def to_block(self, value: tuple[Any, Any, Any]) -> Any:
        arguments, action, sources = value
        kind = _ITEM_ACTIONS.get(str(action.get("type"))) if action.__class__ is dict else None
        made = {} if kind is None else {**action, "type": kind}
        if kind is None or arguments not in (None, {}, made):
            return forms.MISFIT
        return made if sources is None else {**made, "sources": sources}

    def to_part(self, value: Fields) -> Any:
        kind = value.get("type")
        if kind not in _ACTIONS:
            return forms.MISFIT
        fields = {name: value[name] for name in _OF_ACTION[kind] if value.get(name) is not None}
        sources = value.get("sources")
        action = {"type": _ACTIONS[kind], **fields}
        return {**fields, "type": kind}, action, forms.NOTHING if sources is None else sources


class _Given(forms.Leaf):
    """The arguments of a call, {} if its item has none."""

    part_default: Fields = {}

    def to_block(self, value: Any) -> Any:
        return value or forms.NOTHING


class _Queries(forms.Leaf):
    """The texts of a search for files: the arguments, which the SDK leaves out, and a field of the result."""

    part_classes = (dict, list)
    block_classes = (list,)
    keeps = True
    repeats = (0,)
    examples = (({}, ["a"]), ({"queries": ["a"]}, ["a"]))

    def to_block(self, value: tuple[Any, Any]) -> Any:
        arguments, queries = value
        return queries if queries.__class__ is list and arguments in (None, {}, {"queries": queries}) else forms.MISFIT

    def to_part(self, value: list[Any]) -> Any:
        return {"queries": value}, value


class _Files(forms.Leaf):
    """The files that a search found; null if the result does not contain them."""

    part_classes = block_classes = (list,)
    part_default = None
    keeps = True
    examples = ([{"fileId": "f", "filename": "a", "score": 0.5, "text": "t", "attributes": {}}], [])

    def to_block(self, value: list[Any]) -> Any:
        if not all(item.__class__ is dict and item.keys() <= _IN_ITEM.keys() for item in value):
            return forms.MISFIT
        return [{_IN_ITEM[key]: inner for key, inner in item.items()} for item in value]

    def to_part(self, value: list[Any]) -> Any:
        items = [item for item in value if item.__class__ is dict]
        return [{_OF_FILE[key]: inner for key, inner in item.items() if key in _OF_FILE} for item in items]


class _Arguments(forms.Leaf):
    """The arguments of a call of a server: a value, and their JSON text in the result."""

    part_classes = (dict, list, str, int, float, bool)
    block_classes = (str,)
    keeps = True
    repeats = (1,)
    examples = (({"a": 1}, '{"a":1}'),)

    def to_block(self, value: tuple[Any, Any]) -> Any:
        arguments, text = value
        is_same = text.__class__ is str and (arguments == {} or forms.same(arguments, object_or_text(text)))
        return text if is_same or arguments == text else forms.MISFIT

    def to_part(self, value: str) -> Any:
        return object_or_text(value), value


def _completed(block: Fields) -> str:
    return "completed"


def _status(block: Fields) -> Any:
    """Return the status of a call of a server, which its output and its error show."""
    return "failed" if block.get("error") is not None else "completed" if "output" in block else forms.NOTHING


def _is_failure(value: Any) -> Any:
    is_status = value.keys() == {"status"} and value["status"].__class__ is str and value["status"] != "completed"
    return value["status"] if is_status else forms.MISFIT


def openai(spelling: Spelling) -> list[Form]:
    """Return the forms of the items of the Responses API of tools that OpenAI runs."""
    ids: Fields = {"call.toolCallId": ("id", ID), "result.toolCallId": ("id", ID)}
    part = {**_under("call", spelling.call), **_under("result", spelling.result)}
    value = f"result.{spelling.value}"

    def pair(
        form: str, name: str, kind: str, fields: Mapping[Any, Any], adds: Fields | None = None, **options: Any
    ) -> Form:
        call, result = spelling.names(name)
        added = {**_under("call", call), **_under("result", result), **(adds or {})}
        constants = options.pop("part", part)
        implied = options.pop("implied", {"status": _completed})
        return Form(
            form, constants, {"type": kind}, {**ids, **fields}, adds=added, implied=implied, keys=PAIR, **options
        )

    status = _Failure(
        _is_failure,
        lambda status: forms.MISFIT if status == "completed" else {"status": status},
        str,
        as_text=spelling.error == "errorText",
        example={"status": "failed"},
    )
    failed = {**_under("call", spelling.call), **_under("result", spelling.failure)}
    search = {("call.input", f"{value}.action", f"{value}.sources"): ("action", _Action(required=True))}
    found = {("call.input", f"{value}.queries"): ("queries", _Queries(required=True))}
    code: Fields = {"call.input.code": ("code", NULLABLE), "call.input.containerId": ("container_id", ID)}
    outcome: Fields = {"call.input": ("action", _Given(dict)), f"result.{spelling.error}": ("status", status)}
    image: Fields = {f"{value}.result": ("result", ID), **{f"call.input.{name}": name for name in _OF_IMAGE}}
    return [
        pair("web_search.failed", "web_search", "web_search_call", outcome, part=failed, implied={}),
        pair("web_search.done", "web_search", "web_search_call", search),
        pair(
            "file_search.done",
            "file_search",
            "file_search_call",
            {**found, f"{value}.results": ("results", _Files(nullable=True))},
        ),
        pair(
            "code_interpreter.done",
            "code_interpreter",
            "code_interpreter_call",
            {**code, f"{value}.outputs": ("outputs", NULLABLE)},
            {value: {}},
        ),
        pair("image_generation.done", "image_generation", "image_generation_call", image, {"call.input": {}}),
        pair(
            "mcp_list_tools.done",
            "mcp_list_tools",
            "mcp_list_tools",
            {
                f"{value}.serverLabel": ("server_label", ID),
                f"{value}.tools": ("tools", LIST),
                f"{value}.error": ("error", NULLABLE),
            },
            {"call.input": {}},
            part={**part, f"{value}.type": "listTools"},
            implied={},
        ),
        *_servers(spelling, part, value),
        *_openai_searches(spelling),
        *_runs(spelling),
    ]


def _item_ids(spelling: Spelling, *ends: str) -> Iterator[Fields]:
    """Yield the places of the id of an item beside those of a call, the usual one first."""
    for at in ends:
        yield from ({f"{at}.{issuer}.itemId": ("id", _SPELLED)} for issuer in _ISSUERS)


def _servers(spelling: Spelling, part: Fields, value: str) -> Iterator[Form]:
    """Yield the forms of calls of MCP servers. The result has the id of the item, if it is not that of the call."""
    result: Fields = (
        {"result.toolName": ("name", forms.Affix("mcp.", required=True, repeats=True))} if spelling.is_split else {}
    )
    fields = {
        **result,
        f"{value}.name": ("name", ID),
        f"{value}.serverLabel": ("server_label", ID),
        ("call.input", f"{value}.arguments"): ("arguments", _Arguments(required=True)),
        f"{value}.output": ("output", forms.Leaf()),
        f"{value}.error": ("error", forms.Leaf()),
    }
    own: Fields = {"call.toolCallId": ("id", ID), "result.toolCallId": ("id", ID)}
    ends = [f"result.{spelling.of_result}", *([] if spelling.is_split else [f"call.{spelling.of_call}"])]
    for number, ids in enumerate([*_item_ids(spelling, *ends), own]):
        for constants, name in spelling.named("mcp.", of_server=True):
            yield Form(
                f"mcp.{number}.{len(constants)}",
                {**part, f"{value}.type": "call", **_under("call", constants)},
                {"type": "mcp_call"},
                {**ids, **_under("call", name), **fields},
                implied={"status": _status},
                keys=PAIR,
            )


def _openai_searches(spelling: Spelling) -> Iterator[Form]:
    """Yield the forms of the items of searches for tools, which may have no call id."""

    def call_id(part: Fields) -> Any:
        ids = (_at(part, f"{spelling.of_call}.{issuer}.itemId") for issuer in _ISSUERS)
        return next(filter(None, ids), None)

    own: Fields = {"toolCallId": ("id", ID)}
    call, result = spelling.names("tool_search")
    found: Fields = {f"{spelling.value}.tools": ("tools", forms.Leaf(list, required=True))}
    common: Fields = {"implied": {"status": _completed}}
    ends = dict.fromkeys((spelling.of_result, spelling.of_call))
    # Searches of the API itself have no call id.
    for tool, call_ids in (("named_search", {}), ("tool_search", {"call_id": None})):
        named: Fields = {} if call_ids else {"toolCallId": ("call_id", ID)}
        of_input: Fields = {"input.call_id": ("call_id", _SPELLED)} if named else {}
        for number, ids in enumerate([*_item_ids(spelling, spelling.of_call), {} if named else own]):
            yield Form(
                f"{tool}.call{number}",
                {**spelling.call, **({} if named else {"input.call_id": None})},
                {"type": "tool_search_call", "execution": "server", **call_ids},
                {**ids, **named, **of_input, "input.arguments": ("arguments", NULLABLE)},
                adds={**call, **({} if named else {"toolCallId": call_id})},
                **common,
            )
        for number, ids in enumerate([*_item_ids(spelling, *ends), {} if named else own]):
            yield Form(
                f"{tool}.result{number}",
                spelling.result,
                {"type": "tool_search_output", "execution": "server", **call_ids},
                {**ids, **named, **found},
                adds=result,
                of_call={} if named or own in (ids,) else {"toolCallId": ID},
                **common,
            )


_CAMEL = {
    "timeout_ms": "timeoutMs",
    "max_output_length": "maxOutputLength",
    "working_directory": "workingDirectory",
    "exit_code": "exitCode",
}
_SNAKE = {camel: snake for snake, camel in _CAMEL.items()}
SHELL, LOCAL_SHELL, PATCH, PROGRAM = "shell", "local_shell", "apply_patch", "programmatic_tool_calling"
_RUN_OF_PREFIX = {"sh": SHELL, "lsh": LOCAL_SHELL, "apc": PATCH, "cm": PROGRAM}
"""The tools by the beginning of the ids of the items of their calls."""


def _spelled(fields: Fields, names: Mapping[str, str]) -> Fields:
    """Return the fields that are not null, with the names of the other side."""
    return {names.get(key, key): value for key, value in fields.items() if value is not None}


class _Commands(forms.Leaf):
    """The commands of a shell."""

    part_classes = block_classes = (dict,)
    keeps = True
    examples = ({"commands": ["ls"], "timeoutMs": 1}, {"command": ["ls"], "type": "exec", "env": {}})

    def to_block(self, value: Fields) -> Any:
        made = _spelled(value, _SNAKE)
        return made if made.get("commands", made.get("command")).__class__ is list else forms.MISFIT

    def to_part(self, value: Fields) -> Any:
        return _spelled(value, _CAMEL)


class _Printouts(forms.Leaf):
    """The outputs of the commands of a shell."""

    part_classes = block_classes = (list,)
    keeps = True
    examples = ([{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exitCode": 0}}],)

    def to_block(self, value: list[Any]) -> Any:
        return self._changed(value, _SNAKE)

    def to_part(self, value: list[Any]) -> Any:
        return self._changed(value, _CAMEL)

    def _changed(self, value: list[Any], names: Mapping[str, str]) -> Any:
        if not all(item.__class__ is dict and item.get("outcome").__class__ is dict for item in value):
            return forms.MISFIT
        return [{**item, "outcome": _spelled(item["outcome"], names)} for item in value]


class _Status(forms.Leaf):
    """The status of a patch or a program."""

    part_classes = block_classes = (str,)
    part_default = "completed"

    def __init__(self, *values: str) -> None:
        super().__init__()
        self._values = self.examples = values

    def to_block(self, value: str) -> Any:
        return value if value in self._values else forms.MISFIT


def _runs(spelling: Spelling) -> Iterator[Form]:
    """Yield the forms of shells, patches and programs. Applications run some of them."""
    value, own = spelling.value, {"toolCallId": ("call_id", ID)}
    client = {"type": "tool-call"} if spelling.is_split else {}
    action: Fields = {"input.action": ("action", _Commands(required=True))}
    patch: Fields = {"input.operation": ("operation", forms.Leaf(dict, required=True))}
    program: Fields = {"input.code": ("code", ID), "input.fingerprint": ("fingerprint", ID)}
    same_id: Fields = {"input.callId": ("call_id", _SPELLED)}

    def calls(tool: str, kind: str, fields: Fields, executor: str) -> Iterator[Form]:
        constants = spelling.call if executor == "provider" else client
        adds, is_program = spelling.names(tool)[0], tool == PROGRAM
        of = tool if executor == "provider" else f"client_{tool}"
        for number, ids in enumerate(
            [*_item_ids(spelling, spelling.of_call), *([{}] if executor == "provider" else [])]
        ):
            yield Form(
                f"{of}.call{number}",
                constants,
                {"type": kind},
                {**ids, **own, **fields},
                adds=adds,
                executor=None if is_program else executor,
                implied={} if is_program else {"status": _completed},
            )

    def result(tool: str, kind: str, fields: Fields, ids: Fields = own, executor: str | None = None) -> Form:
        of, adds = f"client_{tool}" if executor else tool, spelling.names(tool)[1]
        return Form(f"{of}.result", spelling.result, {"type": kind}, {**ids, **fields}, adds=adds, executor=executor)

    yield from calls(SHELL, "shell_call", action, "client")
    yield from calls(SHELL, "shell_call", action, "provider")
    limit: Fields = {f"{value}.maxOutputLength": ("max_output_length", forms.Leaf(int))}
    printed: Fields = {f"{value}.output": ("output", _Printouts(required=True)), **limit}
    yield from calls(LOCAL_SHELL, "local_shell_call", action, "client")
    output: Fields = {f"{value}.output": ("output", ID)}
    for executor in ("client", None):
        yield result(SHELL, "shell_call_output", printed, executor=executor)
        yield result(LOCAL_SHELL, "local_shell_call_output", output, {"toolCallId": ("id", ID)}, executor)
    yield from calls(PATCH, "apply_patch_call", {**patch, **same_id}, "client")
    changed: Fields = {f"{value}.status": ("status", _Status("completed", "failed"))}
    yield result(PATCH, "apply_patch_call_output", {**changed, f"{value}.output": ("output", TEXT)}, own, "client")
    yield from calls(PROGRAM, "program", program, "provider")
    ended: Fields = {
        f"{value}.result": ("result", ID),
        f"{value}.status": ("status", _Status("completed", "incomplete")),
    }
    for ids in [*_item_ids(spelling, spelling.of_result), {}]:
        yield result(PROGRAM, "program_output", ended, {**ids, **own})


def openai_items(spelling: Spelling) -> guests.Groups:
    """Return a function that yields each call with its result. The parts of searches for tools are alone."""

    def groups(parts: Sequence[Fields], is_named: Callable[[Fields], bool]) -> Iterator[guests.Group]:
        paired, others = spelling.pairs_in(parts)
        for call in others:
            if (tool := _tool_of_openai(parts[call], spelling)) == PROGRAM:
                # It waits for the results of its calls.
                yield guests.Group(parts[call], {"": call}, tool=tool)
        for call, result in paired.items():
            tool = _tool_of_openai(parts[call], spelling)
            if tool == "tool_search" and _at(parts[call], "input.call_id") is not None:
                tool = "named_search"
            if tool in _APART:
                yield guests.Group(parts[call], {"": call}, tool=tool)
                yield guests.Group(parts[result], {"": result}, tool=tool)
            elif tool:
                whole = {"call": parts[call], "result": parts[result]}
                yield guests.Group(whole, {"call": call, "result": result}, tool=tool)

    return groups


_APART = ("tool_search", "named_search", SHELL, PROGRAM, *(f"client_{tool}" for tool in _RUN_OF_PREFIX.values()))
"""The tools whose calls and results are items of their own."""


def _tool_of_openai(call: Fields, spelling: Spelling) -> str:
    name, start = name_of(call), (item_id(call, spelling.of_call) or "").partition("_")[0]
    if call.get("providerExecuted") is not True:
        return f"client_{_RUN_OF_PREFIX[start]}" if start in _RUN_OF_PREFIX else ""
    if start in _RUN_OF_PREFIX:
        return _RUN_OF_PREFIX[start]
    if name in (SHELL, PROGRAM):
        return name
    if name.startswith("mcp."):
        return "mcp"
    if name in _OPENAI_TOOLS:
        return _OPENAI_TOOLS[name]
    return _OF_PREFIX.get(call["toolCallId"].partition("_")[0], "")


# -- guests ------------------------------------------------------------------------------------------------------------


def guests_of(table: Table, spelling: Spelling) -> list[Guest]:
    """Return the guests of a format."""
    return [
        table.guest("anthropic-messages", (), anthropic(spelling), PARTS, groups=claude_parts(spelling)),
        table.guest("openai-responses", (), openai(spelling), PARTS, groups=openai_items(spelling)),
        table.guest("google-generate-content", (), google(spelling), PARTS, groups=gemini_parts(spelling)),
    ]
