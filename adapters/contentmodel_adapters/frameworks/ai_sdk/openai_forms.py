"""OpenAI's items of hosted tools, shells, patches and programs in the parts of the AI SDK.

The SDK sends most of them back as references to stored items. Source: `openai-responses-language-model.ts` and
`convert-to-openai-responses-input.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from contentmodel.authoring import Form, forms, guests, object_or_text
from contentmodel_adapters.frameworks.ai_sdk.spelling import (
    ID,
    ISSUERS,
    LIST,
    NULLABLE,
    SPELLED,
    TEXT,
    Failure,
    Fields,
    Spelling,
    at_path,
    either,
    item_id,
    name_of,
    under,
)

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
PAIR = ("call", "result")


class _Action(forms.Leaf):
    """The action of a search: the arguments, which the SDK leaves out, the action of the result, and its sources."""

    part_classes = (dict, list)
    block_classes = (dict,)
    keeps = True
    repeats = (0,)
    examples: Sequence[Any] = (
        ({}, {"type": "search", "query": "q"}, None),
        (None, {"type": "openPage", "url": "u"}, [{"a": 1}]),
        (
            {"type": "find_in_page", "url": "u", "pattern": "p"},
            {"type": "findInPage", "url": "u", "pattern": "p"},
            None,
        ),
    )

    def to_block(self, value: tuple[Any, Any, Any]) -> Any:
        arguments, action, sources = value
        kind = _ITEM_ACTIONS.get(str(action.get("type"))) if action.__class__ is dict else None
        item_action = {} if kind is None else {**action, "type": kind}
        if kind is None or arguments not in (None, {}, item_action):
            return forms.MISFIT
        return item_action if sources is None else {**item_action, "sources": sources}

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
    examples: Sequence[Any] = (({}, ["a"]), ({"queries": ["a"]}, ["a"]))

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
    part = {**under("call", spelling.call), **under("result", spelling.result)}
    value = f"result.{spelling.value}"

    def pair(
        form: str,
        name: str,
        kind: str,
        fields: Mapping[Any, Any],
        adds: Fields | None = None,
        part: Fields = part,
        *,
        is_completed: bool = True,
    ) -> Form:
        call, result = spelling.names(name)
        added = {**under("call", call), **under("result", result), **(adds or {})}
        implied = {"status": _completed} if is_completed else {}
        return Form(form, part, {"type": kind}, {**ids, **fields}, adds=added, implied=implied, keys=PAIR)

    status = Failure(
        _is_failure,
        lambda status: forms.MISFIT if status == "completed" else {"status": status},
        str,
        as_text=spelling.error == "errorText",
        example={"status": "failed"},
    )
    failed = {**under("call", spelling.call), **under("result", spelling.failure)}
    search = {("call.input", f"{value}.action", f"{value}.sources"): ("action", _Action(required=True))}
    queries = {("call.input", f"{value}.queries"): ("queries", _Queries(required=True))}
    code: Fields = {"call.input.code": ("code", NULLABLE), "call.input.containerId": ("container_id", ID)}
    outcome: Fields = {"call.input": ("action", _Given(dict)), f"result.{spelling.error}": ("status", status)}
    image: Fields = {f"{value}.result": ("result", ID), **{f"call.input.{name}": name for name in _OF_IMAGE}}
    return [
        pair("web_search.failed", "web_search", "web_search_call", outcome, part=failed, is_completed=False),
        pair("web_search.done", "web_search", "web_search_call", search),
        pair(
            "file_search.done",
            "file_search",
            "file_search_call",
            {**queries, f"{value}.results": ("results", _Files(nullable=True))},
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
            is_completed=False,
        ),
        *_servers(spelling, part, value),
        *_openai_searches(spelling),
        *_runs(spelling),
    ]


def _item_id(*at: str) -> Fields:
    """Return the field of the id of an item beside that of a call."""
    return either(at, ISSUERS, "itemId", "id")


def _servers(spelling: Spelling, part: Fields, value: str) -> Iterator[Form]:
    """Yield the forms of calls of MCP servers. The result has the id of the item, if it is not that of the call."""
    result: Fields = (
        {"result.toolName": ("name", forms.Affix("mcp.", required=True, repeats=True))} if spelling.is_split else {}
    )
    fields: dict[Any, Any] = {
        **result,
        f"{value}.name": ("name", ID),
        f"{value}.serverLabel": ("server_label", ID),
        ("call.input", f"{value}.arguments"): ("arguments", _Arguments(required=True)),
        f"{value}.output": ("output", forms.Leaf()),
        f"{value}.error": ("error", forms.Leaf()),
    }
    tool_ids: Fields = {"call.toolCallId": ("id", ID), "result.toolCallId": ("id", ID)}
    ends = [f"result.{spelling.of_result}", *([] if spelling.is_split else [f"call.{spelling.of_call}"])]
    for number, ids in enumerate((_item_id(*ends), tool_ids)):
        for constants, name in spelling.named("mcp.", of_server=True):
            yield Form(
                f"mcp.{number}.{len(constants)}",
                {**part, f"{value}.type": "call", **under("call", constants)},
                {"type": "mcp_call"},
                {**ids, **under("call", name), **fields},
                implied={"status": _status},
                keys=PAIR,
            )


def _openai_searches(spelling: Spelling) -> Iterator[Form]:
    """Yield the forms of the items of searches for tools, which may have no call id."""

    def call_id(part: Fields) -> Any:
        ids = (at_path(part, f"{spelling.of_call}.{issuer}.itemId") for issuer in ISSUERS)
        return next(filter(None, ids), None)

    tool_ids: Fields = {"toolCallId": ("id", ID)}
    call, result = spelling.names("tool_search")
    tool_list: Fields = {f"{spelling.value}.tools": ("tools", forms.Leaf(list, required=True))}
    common: Fields = {"implied": {"status": _completed}}
    ends = dict.fromkeys((spelling.of_result, spelling.of_call))
    # Searches of the API itself have no call id.
    for tool, call_ids in (("named_search", {}), ("tool_search", {"call_id": None})):
        named: Fields = {} if call_ids else {"toolCallId": ("call_id", ID)}
        of_input: Fields = {"input.call_id": ("call_id", SPELLED)} if named else {}
        for number, ids in enumerate((_item_id(spelling.of_call), {} if named else tool_ids)):
            yield Form(
                f"{tool}.call{number}",
                {**spelling.call, **({} if named else {"input.call_id": None})},
                {"type": "tool_search_call", "execution": "server", **call_ids},
                {**ids, **named, **of_input, "input.arguments": ("arguments", NULLABLE)},
                adds={**call, **({} if named else {"toolCallId": call_id})},
                **common,
            )
        for number, ids in enumerate((_item_id(*ends), {} if named else tool_ids)):
            yield Form(
                f"{tool}.result{number}",
                spelling.result,
                {"type": "tool_search_output", "execution": "server", **call_ids},
                {**ids, **named, **tool_list},
                adds=result,
                of_call={} if named or ids is tool_ids else {"toolCallId": ID},
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
        block = _spelled(value, _SNAKE)
        return block if block.get("commands", block.get("command")).__class__ is list else forms.MISFIT

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
    value, call_ids = spelling.value, {"toolCallId": ("call_id", ID)}
    client = {"type": "tool-call"} if spelling.is_split else {}
    action: Fields = {"input.action": ("action", _Commands(required=True))}
    patch: Fields = {"input.operation": ("operation", forms.Leaf(dict, required=True))}
    program: Fields = {"input.code": ("code", ID), "input.fingerprint": ("fingerprint", ID)}
    same_id: Fields = {"input.callId": ("call_id", SPELLED)}

    def calls(tool: str, kind: str, fields: Fields, executor: str) -> Iterator[Form]:
        constants = spelling.call if executor == "provider" else client
        adds, is_program = spelling.names(tool)[0], tool == PROGRAM
        of = tool if executor == "provider" else f"client_{tool}"
        for number, ids in enumerate([_item_id(spelling.of_call), *([{}] if executor == "provider" else [])]):
            yield Form(
                f"{of}.call{number}",
                constants,
                {"type": kind},
                {**ids, **call_ids, **fields},
                adds=adds,
                executor=None if is_program else executor,
                implied={} if is_program else {"status": _completed},
            )

    def result(
        tool: str, kind: str, fields: Fields, ids: Fields = call_ids, executor: str | None = None, number: int = 0
    ) -> Form:
        of, adds = f"client_{tool}" if executor else tool, spelling.names(tool)[1]
        return Form(
            f"{of}.result{number}", spelling.result, {"type": kind}, {**ids, **fields}, adds=adds, executor=executor
        )

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
    yield result(PATCH, "apply_patch_call_output", {**changed, f"{value}.output": ("output", TEXT)}, call_ids, "client")
    yield from calls(PROGRAM, "program", program, "provider")
    ended: Fields = {
        f"{value}.result": ("result", ID),
        f"{value}.status": ("status", _Status("completed", "incomplete")),
    }
    for number, ids in enumerate((_item_id(spelling.of_result), {})):
        yield result(PROGRAM, "program_output", ended, {**ids, **call_ids}, number=number)


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
            if tool == "tool_search" and at_path(parts[call], "input.call_id") is not None:
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
