"""Convert MCP content blocks to contents, and back.

Both directions work on plain JSON. Values that a content has no field for are kept in `extra["mcp"]`. A block that
would not round-trip is kept whole, as UnknownContent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal
from urllib.parse import quote, unquote

from contentmodel import reasons
from contentmodel.authoring import EncodeContext
from contentmodel.content.base import AIContent
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import ErrorContent, UnknownContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.encoded import Encoded
from contentmodel.hints import Hint, escaped, wire_fields
from contentmodel.json import DUMPERS, plain, set_fields
from contentmodel.losses import Loss

API = "mcp"
DUMPERS["mcp_types"] = set_fields
ERROR_MARK = "contentmodel/error"
"""The key in a block's `_meta` that marks its text as an error, with its code and details."""

LINK = Hint[dict[str, Any]](API, "link", "the resource link that was sent as a text")
_TYPE = Hint[Literal["audio", "image"]](API, "type", "the type of a block whose media type does not imply it")
_SPELLING = Hint[Literal[True]](API, "spelling", "the base64 of a medium is not in the standard spelling")
_UNNAMED = Hint[Literal[True]](API, "unnamed", "a resource has an address without a name")
_ATTACHMENT = "attachment:"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_STANDARD = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


class McpBlocks(list[Any]):
    """MCP blocks, with `losses`: the parts of the contents that they cannot hold."""

    losses: tuple[Loss, ...] = ()


def contents_from_mcp(blocks: Iterable[Any]) -> list[AIContent]:
    """Convert MCP content blocks (classes of the package `mcp`, or JSON) to contents, one for one.

    | block | content |
    |---|---|
    | text | TextContent |
    | image, audio | DataContent |
    | resource with text | TextContent (DataContent if it was written by this library), its uri in `extra` |
    | resource with blob | DataContent, named by its uri |
    | resource_link | UriContent, with the description as its text |
    | any other | UnknownContent, whole |

    Annotations, `_meta` and unknown fields are kept in `extra["mcp"]`. Raise DecodeError if a block is not JSON.
    """
    return [content_of(json_of(block)) for block in blocks]


def contents_to_mcp(contents: Iterable[AIContent]) -> McpBlocks:
    """Convert contents to MCP content blocks: classes of the package `mcp`, or JSON for a block without a class there.

    `losses` of the list has the values that MCP cannot hold, with their paths in the list of contents. An error becomes
    a text with a mark in its `_meta`, because MCP has an error flag only for a whole result.
    """
    items = list(contents)
    context = EncodeContext(API, API, "content")
    blocks = McpBlocks(typed(block) for content in items for block in blocks_of(content, context))
    blocks.losses = Encoded(None, items, context).losses
    return blocks


def json_of(value: Any) -> Any:
    """Return a value of the package `mcp`, or JSON, as JSON. Unset fields are left out, except the type of a block."""
    return plain(value, API)


def typed(block: Any) -> Any:
    """Return a JSON block as its class in `mcp`. If there is none, or if it would lose fields, return the block."""
    kind = _class_of(block)
    try:
        instance = kind.model_validate(block, by_name=False) if kind else block
    except ValueError:
        return block
    return instance if json_of(instance) == block else block


def _class_of(block: Any) -> Any:
    from mcp import types

    classes = {
        "text": types.TextContent,
        "image": types.ImageContent,
        "audio": types.AudioContent,
        "resource": types.EmbeddedResource,
        "resource_link": types.ResourceLink,
        "tool_use": types.ToolUseContent,
        "tool_result": types.ToolResultContent,
    }
    kind = block.get("type") if isinstance(block, dict) else None
    return classes.get(kind) if isinstance(kind, str) else None


def content_of(block: Any) -> AIContent:
    """Convert one JSON block to a content."""
    kind = block.get("type") if isinstance(block, dict) else None
    read = _READERS.get(kind) if isinstance(kind, str) else None
    content = None if read is None else read(escaped(dict(block)))
    # Keep the block whole if the content would not be written as the same block.
    if content is None or blocks_of(content, EncodeContext(API, API, "content")) != [block]:
        return UnknownContent(api=API, block=block)
    return content


def blocks_of(content: AIContent, context: EncodeContext) -> list[Any]:
    """Convert one content to JSON blocks: usually one; none, with a reported loss, if MCP cannot hold it."""
    if isinstance(content, UnknownContent) and content.api == API:
        return [content.block]
    if isinstance(content, DocumentContent):
        context.report_loss(content, None, reasons.MCP_DOCUMENT_PARTS)
        context.report_lost_attributes(content, ("title", "uri"))
        leave(content, context)
        return [block for part in content.parts for block in blocks_of(part, context)]
    write = _WRITERS.get(type(content))
    if write is None:
        context.report_loss(content, None, reasons.MCP_NO_BLOCK)
        return []
    leave(content, context)
    return [write(content, context)]


def notes_of(content: AIContent) -> dict[str, Any]:
    """Return the residue of a content that came from MCP, with the hints of this codec."""
    return (content.extra or {}).get(API, {})


def leave(content: AIContent, context: EncodeContext) -> None:
    """Report the losses of attributes that any content may have and no block can hold."""
    context.report_lost_attributes(content, ("annotations", "protected"))
    context.leave_residue(content)


def _residue(content: AIContent) -> dict[str, Any]:
    return wire_fields(notes_of(content))


def _extra(block: dict[str, Any]) -> dict[str, dict[str, Any]] | None:
    fields = {key: value for key, value in block.items() if key != "type"}
    return {API: fields} if fields else None


def _string(fields: dict[str, Any], key: str) -> str | None:
    """Remove and return the text at `key`. A value of another type is left in place."""
    return fields.pop(key) if isinstance(fields.get(key), str) else None


# Text and errors ------------------------------------------------------------------------------------------------------


def _read_text(block: dict[str, Any]) -> AIContent | None:
    text = _string(block, "text")
    if text is None:
        return None
    meta = block.get("_meta")
    error = meta.get(ERROR_MARK) if isinstance(meta, dict) else None
    if not isinstance(error, dict) or not _is_error(error):
        return TextContent(text=text, extra=_extra(block))
    block["_meta"] = {key: value for key, value in block["_meta"].items() if key != ERROR_MARK}
    if not block["_meta"]:
        del block["_meta"]
    return ErrorContent(message=text, code=error.get("code"), details=error.get("details"), extra=_extra(block))


def _is_error(mark: dict[str, Any]) -> bool:
    return isinstance(mark.get("code"), str | None) and isinstance(mark.get("details"), dict | None)


def _write_text(content: TextContent, context: EncodeContext) -> dict[str, Any]:
    link, residue = LINK.of(content, API), _residue(content)
    if link is not None and link_text(link) == content.text:
        return link
    if isinstance(residue.get("resource"), dict):
        return {**residue, "type": "resource", "resource": {**residue["resource"], "text": content.text}}
    return {**residue, "type": "text", "text": content.text}


def _write_json(content: JsonContent, context: EncodeContext) -> dict[str, Any]:
    return {**_residue(content), "type": "text", "text": content.text}


def _write_error(content: ErrorContent, context: EncodeContext) -> dict[str, Any]:
    fields = {"code": content.code, "details": content.details}
    mark = {key: value for key, value in fields.items() if value is not None}
    residue = _residue(content)
    return {**plain_error(content), "_meta": {**(residue.get("_meta") or {}), ERROR_MARK: mark}}


def plain_error(content: ErrorContent) -> dict[str, Any]:
    """Return an error as a text without a mark: the flag of its result marks the error."""
    return {**_residue(content), "type": "text", "text": content.message}


# Bytes and documents --------------------------------------------------------------------------------------------------


def _read_media(block: dict[str, Any]) -> AIContent | None:
    kind, data, media_type = block["type"], _string(block, "data"), _string(block, "mimeType")
    if data is None or media_type is None:
        return None
    if _kind_of(media_type) != kind:
        block |= _TYPE.entry(kind)
    return DataContent(data=data, media_type=media_type, extra=_extra(_spelled(block, data)))


def _read_resource(block: dict[str, Any]) -> AIContent | None:
    resource = dict(block["resource"]) if isinstance(block.get("resource"), dict) else {}
    uri, text = resource.get("uri"), _string(resource, "text")
    if not isinstance(uri, str):
        return None
    if text is not None and not uri.startswith(_ATTACHMENT):
        return TextContent(text=text, extra=_extra({**block, "resource": resource}))
    blob = None if text is not None else _string(resource, "blob")
    if text is None and blob is None:
        return None
    del resource["uri"]
    media_type = _string(resource, "mimeType")
    fields = {**block, "resource": resource}
    if not resource and (text is not None or _kind_of(media_type) is None):
        del fields["resource"]
    name = _name_of(uri)
    if name is None:
        fields |= _UNNAMED.entry(True)
    extra = _extra(_spelled(fields, blob or ""))
    return DataContent(data=blob or "", text=text, media_type=media_type, name=name, extra=extra)


def _write_data(content: DataContent, context: EncodeContext) -> dict[str, Any]:
    residue = _residue(content)
    context.report_lost_attributes(content, ("transcript",))
    resource = residue.pop("resource", None)
    kind = _TYPE.of(content, API) or _kind_of(content.media_type)
    if kind is not None and resource is None and content.text is None:
        context.report_lost_attributes(content, ("name",))
        return {**residue, "type": kind, "data": _base64(content, context), "mimeType": content.media_type}
    uri = _uri_of(content.name)
    if content.name is None and not _UNNAMED.of(content, API):
        context.report_loss(content, "name", reasons.MCP_URI)
    if content.text is not None and not uri.startswith(_ATTACHMENT):
        context.report_loss(content, None, reasons.MCP_TEXT_WITH_URI)
    fields = {"uri": uri, "mimeType": content.media_type, "text": content.text}
    if content.text is None:
        fields["blob"] = _base64(content, context)
    written = {key: value for key, value in fields.items() if value is not None}
    return {**residue, "type": "resource", "resource": {**(resource or {}), **written}}


def _kind_of(media_type: str | None) -> str | None:
    """Return the type of the block for bytes of this media type; None for a resource."""
    kind = (media_type or "").partition("/")[0].strip().lower()
    return kind if kind in ("image", "audio") else None


def _spelled(fields: dict[str, Any], data: str) -> dict[str, Any]:
    """Add a hint if the base64 is not in standard form, so that it is sent back unchanged."""
    return fields if _STANDARD.fullmatch(data) else {**fields, **_SPELLING.entry(True)}


def _base64(content: DataContent, context: EncodeContext) -> str:
    data = content.data
    if _STANDARD.fullmatch(data) or _SPELLING.of(content, API):
        return data
    context.report_loss(content, "data", reasons.MCP_BASE64)
    standard = data.rstrip("=").replace("-", "+").replace("_", "/")
    return standard + "=" * (-len(standard) % 4)


def _uri_of(name: str | None) -> str:
    """Convert a name to a URI, unchanged if it is one. `_name_of` is the reverse."""
    if name and _SCHEME.match(name) and not name.startswith(_ATTACHMENT):
        return name
    return _ATTACHMENT + quote(name or "", safe="", errors="surrogatepass")


def _name_of(uri: str) -> str | None:
    if not uri.startswith(_ATTACHMENT):
        return uri
    return unquote(uri.removeprefix(_ATTACHMENT), errors="surrogatepass") or None


# Links ----------------------------------------------------------------------------------------------------------------


def _read_link(block: dict[str, Any]) -> AIContent | None:
    uri, name = _string(block, "uri"), _string(block, "name")
    if uri is None or name is None:
        return None
    title, text, media_type = _string(block, "title"), _string(block, "description"), _string(block, "mimeType")
    return UriContent(uri=uri, name=name, title=title, text=text, media_type=media_type, extra=_extra(block))


def _write_link(content: UriContent, context: EncodeContext) -> dict[str, Any]:
    if content.name is None:
        context.report_loss(content, "name", reasons.MCP_LINK_NAME)
    name = content.title or content.uri if content.name is None else content.name
    fields = {"title": content.title, "description": content.text, "mimeType": content.media_type}
    written = {key: value for key, value in fields.items() if value is not None}
    return {**_residue(content), **written, "type": "resource_link", "uri": content.uri, "name": name}


def link_text(block: dict[str, Any]) -> str:
    """Return a resource link as text for a model, because only the MCP server can read the resource."""
    lines = [block.get("title") or block.get("name"), block.get("description"), block.get("uri")]
    return "\n".join(line for line in lines if isinstance(line, str))


_READERS: dict[str, Callable[[dict[str, Any]], AIContent | None]] = {
    "text": _read_text,
    "image": _read_media,
    "audio": _read_media,
    "resource": _read_resource,
    "resource_link": _read_link,
}
_WRITERS: dict[type[AIContent], Callable[[Any, EncodeContext], dict[str, Any]]] = {
    TextContent: _write_text,
    JsonContent: _write_json,
    ErrorContent: _write_error,
    DataContent: _write_data,
    UriContent: _write_link,
}
