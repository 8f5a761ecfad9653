"""Tools that a provider runs: one part of an assistant message has both the call and its result, as texts."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    ArgumentsText,
    Codec,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Filled,
    FixedName,
    Group,
    NonEmpty,
    NonEmptyText,
    PairRow,
    Row,
    Silent,
    Spec,
    object_or_text,
    reasons,
    write,
)
from contentmodel.content import CONTENT_TYPES
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel_adapters.frameworks import hosted_tools
from contentmodel_adapters.frameworks.inspect.blocks import OUTPUTS, TABLE

FAILED = "error"
"""The error that is written for a failed call without a message."""


def _is_object(text: str) -> bool:
    return object_or_text(text).__class__ is dict


class _Code(ArgumentsText):
    """The input of a code tool: JSON text, or only the code."""

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> Any:
        return value if _is_object(value) else {"code": value}

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        code = value.get("code") if value.__class__ is dict and value.keys() == {"code"} else None
        if code.__class__ is str and not _is_object(code):
            return code
        return super().encode(value, context, owner)


class _Result(NonEmptyText):
    """The result of a hosted tool: a text. An empty text means no output. Outputs of other types become text."""

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> str | None:
        texts = [self._text_of(output, context, owner) for output in value]
        return "\n".join(filter(None, texts)) or None

    def _text_of(self, output: AIContent, context: EncodeContext, owner: object) -> str | None:
        if output.__class__ is TextContent:
            return super().encode([output], context, owner)
        return "\n".join(block["text"] for block in OUTPUTS.encode_list([output], context))


class _Error(NonEmptyText):
    """The error of a hosted tool: a message or a code."""

    def holds(self, value: Any) -> bool:
        return super().holds(value) and value != FAILED

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> str:
        return "\n".join(filter(None, (self._text_of(error, context) for error in value))) or FAILED

    def _text_of(self, error: Any, context: EncodeContext) -> str:
        context.report_rest(error, "message")
        context.report_lost_attributes(error, ("protected",))
        return error.message or error.code or ""


class _Failed(Group):
    """The flag of a call that failed without a message. An error with a message is an output."""

    attribute = "is_error"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> bool | None:
        return True if wire.get("error") == FAILED else None

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        if value and not any(output.__class__ is ErrorContent for output in owner.outputs):
            wire["error"] = FAILED


_OF_TEXT = tuple(kind for kind in CONTENT_TYPES if kind is not ErrorContent)
_RESULT = {
    "result": Column(_Result(TextContent, "text"), *_OF_TEXT),
    "error": Column(_Error(ErrorContent, "message"), ErrorContent),
}
_ARGUMENTS, _CODE = ArgumentsText(), _Code()
LIST_TOOLS = "mcp_list_tools"


def _pair(
    label: str,
    kind: str,
    tool_type: str | None,
    *,
    arguments: Codec[Any] = _ARGUMENTS,
    is_named: bool = False,
    fields: dict[str, Spec] | None = None,
) -> PairRow:
    """Return the row of a kind of tool. If `is_named` is true, the name of the tool selects the row."""
    named: Spec = ("name", FixedName(label)) if is_named else "name"
    usual = {"id": "", "name": label, "arguments": "{}"}
    constants = {"type": "tool_use"}
    unwritten = {"server", "tools"} & set(hosted_tools.RESULTS[kind].__struct_fields__)
    return TABLE.pair(
        Row(
            f"tool_use.{label}",
            hosted_tools.CALLS[kind],
            {"id": ("call_id", NonEmpty()), "name": named, "arguments": ("arguments", arguments), **(fields or {})},
            Filled({**usual, "tool_type": "mcp_call"} if tool_type is None else usual),
            constants=constants if tool_type is None else {**constants, "tool_type": tool_type},
        ),
        Row(
            f"tool_use.{label}.result",
            hosted_tools.RESULTS[kind],
            {},
            _Failed(),
            Columns("outputs", _RESULT),
            Filled({"result": ""}),
            Silent("name", "call_id", "status", *unwritten),
        ),
        ("result", "error"),
    )


_SERVER: dict[str, Spec] = {"context": "server"}
PAIRS: dict[str, PairRow] = {
    "web_search": _pair("web_search", "web_search", "web_search"),
    "web_fetch": _pair("web_fetch", "web_fetch", "web_search", is_named=True),
    "code_execution": _pair("code_execution", "code_interpreter", "code_execution", arguments=_CODE),
    "bash_code_execution": _pair("bash_code_execution", "shell", "code_execution", is_named=True),
    "text_editor_code_execution": _pair("text_editor_code_execution", "text_editor", "code_execution", is_named=True),
    "mcp_call": _pair("mcp_call", "mcp_server", "mcp_call", fields=_SERVER),
    LIST_TOOLS: _pair(LIST_TOOLS, "mcp_list_tools", "mcp_call", is_named=True, fields=_SERVER),
    "other": _pair("tool", hosted_tools.OTHER, None),
}
_OF_NAMES = {
    name: PAIRS[name].call.constants["tool_type"]
    for name in ("web_fetch", "bash_code_execution", "text_editor_code_execution", LIST_TOOLS)
}
"""The type of each tool whose class is selected by its name."""
BY_CALL: dict[type[Any], PairRow] = {pair.call.model: pair for pair in PAIRS.values()}
BY_RESULT: dict[type[Any], PairRow] = {pair.result.model: pair for pair in PAIRS.values()}


def pair_of(wire: Any) -> PairRow | None:
    """Return the row of a part with a call and its result; None for other parts."""
    if wire.__class__ is not dict or wire.get("type") != "tool_use":
        return None
    kind, name = wire.get("tool_type"), wire.get("name")
    if name.__class__ is str and name in _OF_NAMES and _OF_NAMES[name] == kind:
        return PAIRS[name]
    if kind == "mcp_call" and wire.get("context").__class__ is not str:
        return PAIRS["other"]
    return PAIRS.get(kind, PAIRS["other"]) if kind.__class__ is str else PAIRS["other"]


def decode_pair(pair: PairRow, wire: dict[str, Any], context: DecodeContext) -> list[Any]:
    """Return the call and the result of a part. Both have the server of the tool."""
    contents = pair.decode(wire, context)
    server = getattr(contents[0], "server", None)
    return contents if server is None else [contents[0], replace(contents[1], server=server)]


def is_half(content: Any) -> bool:
    """Return whether a content is the call or the result of a tool that a provider runs."""
    return isinstance(content, HostedToolCallContent | HostedToolResultContent)


def encode_pairs(contents: list[Any], context: EncodeContext) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the part of each call and its result, and of each result without a call. Each has its content's index."""
    results = _results_of_calls(contents)
    joined = set(results.values())
    for at, content in enumerate(contents):
        if isinstance(content, HostedToolCallContent):
            if at not in results and context.completes:
                context.report_loss(content, None, reasons.MISSING_RESULT)
            result = contents[results[at]] if at in results else None
            if result is not None and results[at] != at + 1:
                context.report_loss(result, None, reasons.RESULT_WITH_CALL)
            yield at, _encoded(content, result, context)
        elif isinstance(content, HostedToolResultContent) and at not in joined:
            yield at, _encoded(None, content, context)


def _results_of_calls(contents: list[Any]) -> dict[int, int]:
    """Return the index of the result of each call that has one, by the index of the call. Ids need not be unique."""
    waiting: dict[tuple[str | None, type], deque[int]] = defaultdict(deque)
    results: dict[int, int] = {}
    for at, content in enumerate(contents):
        if isinstance(content, HostedToolCallContent):
            pair = BY_CALL.get(content.__class__, PAIRS["other"])
            waiting[content.call_id, pair.result.model].append(at)
        elif isinstance(content, HostedToolResultContent):
            pair = BY_RESULT.get(content.__class__, PAIRS["other"])
            if calls := waiting[content.call_id, pair.result.model]:
                results[calls.popleft()] = at
    return results


def _known(content: Any, base: type[Any], rows: dict[type[Any], PairRow], context: EncodeContext) -> Any:
    """Return a call or a result of a class that the format supports. Other classes become the base class."""
    if content.__class__ in rows:
        return content
    context.report_loss(content, None, reasons.TOOL_BY_NAME)
    attributes = tuple(name for name in content.__struct_fields__ if name not in base.__struct_fields__)
    context.report_lost_attributes(content, attributes)
    name = content.name or hosted_tools.KIND_OF.get(content.__class__)
    return context.replaced(content, replace(hosted_tools.with_class(content, base), name=name))


def _encoded(call: Any, result: Any, context: EncodeContext) -> dict[str, Any]:
    """Return the part of a call and its result. One of them may be missing."""
    if call is not None:
        call = _known(call, HostedToolCallContent, BY_CALL, context)
    if result is not None:
        result = _known(result, HostedToolResultContent, BY_RESULT, context)
    pair = BY_RESULT[result.__class__] if call is None else BY_CALL[call.__class__]
    wire = pair.encode(call, result, context)
    server = getattr(result, "server", None)
    if server is not None or pair is PAIRS["mcp_call"]:
        # A part without a context would be decoded as the call of another kind of tool.
        wire.setdefault("context", server or "")
        if server is not None:
            context.report_other_value(result, "server", wire["context"])
    if result is None:
        if context.completes:
            wire.setdefault("result", "")
        return wire
    if call is None and result.name is not None and pair is not PAIRS[LIST_TOOLS]:
        wire["name"] = result.name
    tools = getattr(result, "tools", None)
    if tools:
        context.report_loss(result, "tools", reasons.AS_TEXT)
        wire["result"] = write(tools).decode()
    return wire
