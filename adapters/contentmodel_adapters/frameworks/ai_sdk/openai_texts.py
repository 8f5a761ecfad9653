"""Texts of the Responses API in the parts of the Vercel AI SDK: the id of the item, its phase and its annotations.

The SDK also has the annotations as citations of UI messages. It keeps the position of a citation of a file only in the
values of the provider. Source: `map-openai-responses-annotation.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from contentmodel.authoring import EncodeContext, Table, guests, hints, is_native, list_of, objects_of
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.common.reasoning import ITEM, RESPONSES
from contentmodel_adapters.frameworks.ai_sdk.spelling import ISSUERS, Fields
from contentmodel_adapters.frameworks.provider_state import with_item_ids

_OF_FILE = ("file_citation", "container_file_citation")
ISSUER = "openai"
PROVIDER = guests.Provider(RESPONSES)


def keep_of_openai(table: Table, at: str) -> None:
    """Declare the values of OpenAI's items that the SDK keeps with texts and reasoning, in the field `at`."""
    names = {"id": "itemId", "phase": "phase", "annotations": "annotations"}
    paths = {name: [f"{at}.{issuer}.{key}" for issuer in ISSUERS] for name, key in names.items()}
    table.keep_of_items(RESPONSES, (TextContent, ReasoningContent), paths)


def with_openai_ids(messages: list[ChatMessage], context: EncodeContext, *, api: str, at: str) -> list[ChatMessage]:
    """Return the messages with the values of OpenAI's items in the field `at` of reasoning, compactions and texts.

    Without an id, the SDK sends no compaction, and only that part of reasoning that has the encrypted content.
    """
    return [message if is_native(message, context) else _with_ids(message, context, api, at) for message in messages]


def _with_ids(message: ChatMessage, context: EncodeContext, api: str, at: str) -> ChatMessage:
    contents: Iterable[AIContent] = [
        content
        if item_id is None
        else context.replace(content, extra={**(content.extra or {}), api: {at: {"openai": {"itemId": item_id}}}})
        for content, item_id in with_item_ids(message.contents)
    ]
    if message.role == "assistant" and message.origin is not None and message.origin.api == RESPONSES:
        contents = _with_text_items(contents, context, at=at, has_citations=at == "providerMetadata")
    return context.with_contents(message, list(contents))


def _with_text_items(
    contents: Iterable[AIContent], context: EncodeContext, *, at: str, has_citations: bool
) -> Iterator[AIContent]:
    """Yield contents of the Responses API. Texts have the values of their items in the field `at`.

    `has_citations`: whether texts also have citations, as in UI messages.
    """
    item: Fields = {}
    for content in contents:
        item_fields = ITEM.of(content, RESPONSES)
        item = item_fields if item_fields is not None else item if isinstance(content, TextContent) else {}
        if not isinstance(content, TextContent) or item.get("type", "message") != "message":
            yield content
            continue
        annotations = _annotations_of(content, item)
        values = {
            "itemId": item.get("id"),
            "phase": item.get("phase"),
            "annotations": annotations if content.annotations else None,
        }
        present = {name: value for name, value in values.items() if value is not None}
        yield _with_values(content, present, context, at, has_citations=has_citations) if present else content


def _annotations_of(content: TextContent, item: Fields) -> list[Fields] | None:
    """Return the annotations of a text on the wire; None if they are not all objects."""
    if not content.annotations:
        return []
    # Only a part of an item has annotations.
    items = PROVIDER.blocks(ITEM.on(content, RESPONSES, item))
    part = next((part for text_item in items for part in objects_of(text_item, "content")), {})
    annotations = objects_of(part, "annotations")
    return annotations if len(annotations) == len(list_of(part, "annotations")) == len(content.annotations) else None


def _with_values(
    content: TextContent, values: Fields, context: EncodeContext, at: str, *, has_citations: bool
) -> AIContent:
    extra = dict(content.extra or {})
    item_fields = ITEM.of(content, RESPONSES)
    if item_fields is not None:
        other_fields = {name: value for name, value in item_fields.items() if name not in ("id", "phase")}
        extra[RESPONSES] = {**extra[RESPONSES], **ITEM.entry(other_fields)}
    extra[context.api] = {**extra.get(context.api, {}), at: {ISSUER: values}}
    cited: list[Citation] | None = content.annotations
    if "annotations" in values:
        pairs = list(zip(content.annotations or (), values["annotations"], strict=True)) if has_citations else []
        cited = [_citation(citation, wire, context) for citation, wire in pairs if wire.get("type") != "file_path"]
    changed: AIContent = context.replace(content, annotations=cited or None, extra=extra)
    return changed


def _citation(citation: Citation, wire: Fields, context: EncodeContext) -> Citation:
    """Return a citation of a UI message. The rest of its fields is in the annotation."""
    kind = wire.get("type")
    extra = {api: residue for api, residue in (citation.extra or {}).items() if api != RESPONSES}
    if kind not in _OF_FILE or citation.file_id is None:
        source = {} if citation.url is None else _source(citation.url, {}, "url", context)
        return context.replaced(
            citation, replace(citation, extra={**extra, context.api: source} if source else extra or None)
        )
    place = {"containerId": citation.container_id} if kind == _OF_FILE[1] else {"index": wire.get("index")}
    values = {"providerMetadata": {ISSUER: {"type": kind, "fileId": citation.file_id, **place}}}
    extra[context.api] = _source(citation.file_id, values, "document", context)
    span = citation.span if kind == _OF_FILE[1] else None
    changed = replace(citation, span=span, title=citation.filename, file_id=None, container_id=None, extra=extra)
    return context.replaced(citation, changed)


def _source(source_id: str, values: Fields, row: str, context: EncodeContext) -> Fields:
    """Return the fields of a citation that the model does not have. Versions 5 and 6 have a part for each source."""
    if context.policies.get("ai_sdk", "7") != "7":
        return {"sourceId": source_id, **values}
    return {"source": {"id": source_id, **values}, **hints.ROW.entry(row)}
