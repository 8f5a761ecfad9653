"""Convert the result of an MCP tool to an outcome, and back.

All parts of a result are kept in its contents, so that they survive when the contents become the result of a call.
Parts that are not content are stored in `extra["mcp"]` under keys with a colon, and restored on the way back.

- `isError`: the first text becomes an ErrorContent; one is added if there is no text.
- `structuredContent` is the `artifact` of the result, and reaches the model once. If the texts contain it (the same
  JSON, or the value of the only key "result", as the SDKs write it), no text is added; else a text with its JSON is
  added.
- Other fields of the result (`_meta`) are stored on the first content.
"""

from __future__ import annotations

import json
from typing import Any, Literal, NotRequired, TypedDict

import msgspec

from contentmodel import reasons
from contentmodel.authoring import EncodeContext
from contentmodel.content.base import AIContent
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.encoded import Encoded
from contentmodel.errors import DecodeError, Fault
from contentmodel.hints import Hint
from contentmodel.losses import Loss
from contentmodel.tools.mcp.blocks import (
    API,
    LINK,
    blocks_of,
    contents_from_mcp,
    json_of,
    leave,
    link_text,
    plain_error,
    typed,
)
from contentmodel.tools.outcome import ToolOutcome, contents_of, result_of

FAILED = "tool_failed"
MAX_BLOCKS = 10_000
"""The maximum number of blocks of one result."""
_SILENT = "The tool failed and did not say why."


class _Structured(TypedDict):
    value: Any
    added: NotRequired[bool]


_EMPTY = Hint[Literal[True]](API, "empty", "a result had no blocks")
_ERROR = Hint[Literal["added"]](API, "error", "an error that was added, because a result had only a failure flag")
_RESULT = Hint[dict[str, Any]](API, "result", "the fields of a result beside its blocks")
_STRUCTURED = Hint[_Structured](API, "structured", "the structured content that a text repeats, or was added for")


class McpResult(msgspec.Struct, frozen=True):
    """`result`, a `CallToolResult` of the package `mcp`, and `losses`: the parts of the outcome that it cannot hold."""

    result: Any
    losses: tuple[Loss, ...]


def outcome_from_mcp(result: Any, *, links: str = "text") -> ToolOutcome:
    """Convert a `CallToolResult` (or its JSON) to an outcome.

    `links="text"` converts resource links to text: only the MCP server can read them, and a provider would fetch them
    as URLs. "uri" converts them to UriContents. Raise DecodeError if it is not a tool result.
    """
    fields = json_of(result)
    blocks = fields.pop("content", None) if isinstance(fields, dict) else None
    if not isinstance(blocks, list):
        raise DecodeError(API, [Fault("$.content", "expected the list of a tool result's blocks")])
    if len(blocks) > MAX_BLOCKS:
        raise DecodeError(API, [Fault("$.content", f"expected at most {MAX_BLOCKS:,} blocks, got {len(blocks):,}")])
    contents = contents_from_mcp(blocks)
    structured = fields.get("structuredContent")
    if structured is not None:
        contents = _with_structured(contents, fields.pop("structuredContent"))
    if fields.pop("isError", None) is True:
        contents = _with_error(contents)
    if fields.get("resultType") == "complete":
        del fields["resultType"]
    if links == "text":
        contents = [_as_text(content) for content in contents]
    if not contents:
        contents = [_EMPTY.on(TextContent(text=""), API, True)]
    if fields:
        contents[0] = _RESULT.on(contents[0], API, fields)
    return ToolOutcome(contents, artifact=structured)


def result_from_mcp(call: FunctionCallContent, result: Any, *, links: str = "text") -> FunctionResultContent:
    """Convert a `CallToolResult` (or its JSON) to the result of `call`."""
    return result_of(call, outcome_from_mcp(result, links=links))


def result_to_mcp(result: Any) -> McpResult:
    """Convert a FunctionResultContent, a ToolOutcome, or any return value of a tool to a `CallToolResult`.

    A result that came from MCP is returned unchanged. If a text was edited and no longer matches the structured
    content, the structured content is dropped as a loss. `display`, and values that no MCP block can hold, are losses
    too.
    """
    from mcp.types import CallToolResult

    root = result if isinstance(result, FunctionResultContent) else contents_of(result)
    outputs = list(root.output_list) if isinstance(root, FunctionResultContent) else root.contents
    context = EncodeContext(API, API, "result")
    context.report_lost_attributes(root, ("annotations", "protected", "display"))
    fields = _fields_of_result(outputs)
    failed = any(isinstance(output, ErrorContent) for output in outputs) or getattr(root, "is_error", None) is True
    structured = _structured(outputs, root.artifact, context)
    written = [
        _holdable(content, block, context)
        for content in outputs
        if not _is_added(content)
        for block in _blocks(content, outputs, context)
    ]
    payload = {**fields, **structured, "content": written, **({"isError": True} if failed else {})}
    return McpResult(CallToolResult.model_validate(payload, by_name=False), Encoded(None, root, context).losses)


def with_structured(outcome: Any) -> ToolOutcome:
    """Return a tool's result. If it is one text of JSON, mark it to be sent as structured content too."""
    converted = contents_of(outcome)
    if len(converted.results) != 1 or _STRUCTURED.of(converted.results[0], API) is not None:
        return converted
    is_json, value = _parsed(converted.results[0])
    if not is_json or not isinstance(converted.results[0], TextContent):
        return converted
    return msgspec.structs.replace(converted, results=[_STRUCTURED.on(converted.results[0], API, {"value": value})])


def _fields_of_result(outputs: list[AIContent]) -> dict[str, Any]:
    results = (fields for output in outputs if (fields := _RESULT.of(output, API)) is not None)
    return dict(next(results, {}))


def _is_added(content: AIContent) -> bool:
    """Return whether a content only represents a field of the MCP result, or is an empty placeholder."""
    if _EMPTY.of(content, API):
        return _text(content) == ""
    if isinstance(content, ErrorContent):
        return _ERROR.of(content, API) is not None and content.message == _SILENT
    structured = _STRUCTURED.of(content, API)
    return structured is not None and structured.get("added", False) and _parsed(content)[0]


# Errors ---------------------------------------------------------------------------------------------------------------


def _with_error(contents: list[AIContent]) -> list[AIContent]:
    if any(isinstance(content, ErrorContent) for content in contents):
        return contents
    for index, content in enumerate(contents):
        if isinstance(content, TextContent) and not _is_added(content) and _is_plain_text(content):
            error = ErrorContent(message=content.text, code=FAILED, extra=content.extra)
            return [*contents[:index], error, *contents[index + 1 :]]
    return [_ERROR.on(ErrorContent(message=_SILENT, code=FAILED), API, "added"), *contents]


def _blocks(content: AIContent, outputs: list[AIContent], context: EncodeContext) -> list[Any]:
    if not isinstance(content, ErrorContent) or not _is_plain(content, outputs):
        return blocks_of(content, context)
    leave(content, context)
    return [plain_error(content)]


def _is_plain(content: ErrorContent, outputs: list[AIContent]) -> bool:
    """Return whether an error needs no mark, because `_with_error` restores it without one."""
    if content.code != FAILED or content.details is not None:
        return False
    is_single = sum(isinstance(output, ErrorContent) for output in outputs) == 1
    return is_single and next(output for output in outputs if _is_plain_text(output)) is content


def _is_plain_text(content: AIContent) -> bool:
    """Return whether a content becomes a text block in MCP, not a resource or a link."""
    if isinstance(content, TextContent):
        return bool(blocks_of(content, EncodeContext(API, API, "content"))[0]["type"] == "text")
    return isinstance(content, ErrorContent | DocumentContent)


# Structured content ---------------------------------------------------------------------------------------------------


def _with_structured(contents: list[AIContent], value: Any) -> list[AIContent]:
    if _contains(contents, value):
        index = next(i for i, content in enumerate(contents) if isinstance(content, TextContent | ErrorContent))
        marked = _STRUCTURED.on(contents[index], API, {"value": value})
        return [*contents[:index], marked, *contents[index + 1 :]]
    added = TextContent(text=json.dumps(value, ensure_ascii=False))
    return [*contents, _STRUCTURED.on(added, API, {"value": value, "added": True})]


def _structured(outputs: list[AIContent], artifact: Any, context: EncodeContext) -> dict[str, Any]:
    """Return the field `structuredContent`: a new artifact, else the decoded value if the outputs still match it."""
    values = [stored for output in outputs if (stored := _STRUCTURED.of(output, API)) is not None]
    if artifact is not None and all(artifact != stored["value"] for stored in values):
        return {"structuredContent": artifact}
    for output in outputs:
        stored = _STRUCTURED.of(output, API)
        if stored is None:
            continue
        is_json, value = _parsed(output)
        if stored.get("added") and is_json:
            return {"structuredContent": value}
        if not stored.get("added") and _contains(outputs, stored["value"]):
            return {"structuredContent": stored["value"]}
        context.report_loss(output, _STRUCTURED.key, reasons.MCP_EDITED_VALUE, api=API)
    return {}


def _contains(contents: list[AIContent], value: Any) -> bool:
    """Return whether the texts contain this value."""
    original = [content for content in contents if not _is_added(content) and LINK.of(content, API) is None]
    texts = [_text(content) for content in original if isinstance(content, TextContent | ErrorContent)]
    canonical = _canonical(value)
    if any(text == value or _text_form(text) == canonical for text in texts):
        return True
    wrapped = isinstance(value, dict) and value.keys() == {"result"}
    inner = value["result"] if wrapped else value
    if isinstance(inner, list) and len(inner) == len(texts) > 0:
        return all(_is_text_of(text, item) for text, item in zip(texts, inner, strict=True))
    return wrapped and len(texts) == 1 and _is_text_of(texts[0], inner)


def _is_text_of(text: str, value: Any) -> bool:
    return text == value or _text_form(text) == _canonical(value)


def _text_form(text: str) -> str | None:
    is_json, value = _loaded(text)
    return _canonical(value) if is_json else None


def _canonical(value: Any) -> str:
    # Compare as text, because True == 1 in Python.
    return json.dumps(value, sort_keys=True)


def _text(content: AIContent) -> str:
    return content.message if isinstance(content, ErrorContent) else getattr(content, "text", "")


def _parsed(content: AIContent) -> tuple[bool, Any]:
    return _loaded(_text(content))


def _loaded(text: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(text)
    except (ValueError, RecursionError):
        return False, None


# Blocks of a result ---------------------------------------------------------------------------------------------------


def _as_text(content: AIContent) -> AIContent:
    if not isinstance(content, UriContent):
        return content
    [block] = blocks_of(content, EncodeContext(API, API, "content"))
    return TextContent(text=link_text(block), extra=LINK.extra(API, block))


def _holdable(content: AIContent, block: Any, context: EncodeContext) -> Any:
    """Return a block in a form that a result of the package `mcp` can hold."""
    instance = typed(block)
    if not isinstance(instance, dict) and getattr(instance, "type", None) not in (None, "tool_use", "tool_result"):
        return instance
    is_known = isinstance(block, dict) and block.get("type") in ("text", "image", "audio", "resource", "resource_link")
    context.report_loss(content, None, reasons.MCP_NO_CLASS)
    if is_known and _with_less(block) is not None:
        return _with_less(block)
    return {"type": "text", "text": json.dumps(block, ensure_ascii=False)}


def _with_less(block: dict[str, Any]) -> Any:
    """Return the fields of a block that `mcp` accepts; None if it accepts none of it."""
    from mcp.types import ContentBlock
    from pydantic import TypeAdapter

    try:
        return TypeAdapter[Any](ContentBlock).validate_python(block, by_name=False)
    except ValueError:
        return None
