"""Messages of the Chat API v2: the columns of an answer with its citations, results, and documents beside messages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    Blocks,
    ChatMessages,
    Column,
    DecodeContext,
    EncodeContext,
    Group,
    Hint,
    Roles,
    Row,
    TextField,
    TextOrBlocks,
    chat,
    hints,
    is_native,
    passes,
    reasons,
)
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.cohere.blocks import (
    ANSWER_CONTENT,
    API,
    CALLS,
    CITATIONS,
    DOCUMENTS,
    RESULTS,
    TABLE,
    USER_CONTENT,
    row_of_source,
)
from contentmodel_adapters.common.citations import moved_citation

PLAN = "tool_plan"


class Plan(TextField):
    """The plan of the calls: reasoning in a field beside the content. An empty plan is not decoded."""

    def holds(self, value: Any) -> bool:
        return value.__class__ is str and value != ""


COLUMNS = {
    PLAN: Column(Plan(ReasoningContent, "text", between="\n\n", kind="plan"), ReasoningContent, hinted=True),
    "content": Column(TextOrBlocks(ANSWER_CONTENT, "list")),
    "tool_calls": Column(Blocks(CALLS)),
}
_OWN_ROLES = {"system": "system", "user": "user"}
ROLES = Roles(API, _OWN_ROLES, {**_OWN_ROLES, "developer": "system"}, elsewhere=("assistant", "tool"))
PLAIN = chat.plain_messages(TABLE, ROLES, {"content": ("contents", TextOrBlocks(USER_CONTENT, "string"))})
TABLE.known_values("message.roles", "system", "user", "assistant", "tool")

# -- citations ---------------------------------------------------------------------------------------------------------

JOINED = Hint[Literal[True]](API, "joined", "one wire citation has this source and that of the citation before it")
POSITION = Hint[int](
    API, "position", "the position in the list of citations, if the list is not in the order of the contents"
)
TAGS = {"TEXT_CONTENT": "text", "THINKING_CONTENT": "thinking", "PLAN": PLAN}
"""The type of the content that each type of citation belongs to."""
TYPES = {tag: name for name, tag in TAGS.items()}
TABLE.known_values("citation.type", *TAGS)
AT_PLAN = -1
CITED = (TextContent, ReasoningContent)


def tags_of(wire: dict[str, Any]) -> list[Any]:
    """Return the types of the contents of a message. A `content_index` of a citation is an index of this list."""
    content = wire.get("content")
    if isinstance(content, list):
        return [part.get("type") if isinstance(part, dict) else None for part in content]
    return ["text"] if isinstance(content, str) else []


def place_of(citation: dict[str, Any], tags: list[Any], *, has_plan: bool) -> int | None:
    """Return the index of the content that a citation belongs to, or `AT_PLAN`; None if there is no such content.

    A citation without a type is about a text. One without an index belongs to the first content of its type.
    """
    kind = citation.get("type")
    kind = "TEXT_CONTENT" if kind is None else kind
    tag = TAGS.get(kind) if isinstance(kind, str) else None
    if tag == PLAN:
        return AT_PLAN if has_plan and citation.get("content_index") is None else None
    if citation.get("content_index") is None:
        return tags.index(tag) if tag in tags else None
    index = citation["content_index"]
    return index if index.__class__ is int and 0 <= index < len(tags) and tags[index] == tag is not None else None


def decode_citation(wire: dict[str, Any], context: DecodeContext) -> list[Citation]:
    """Decode a wire citation: one citation for each source, or one without a source if there is none."""
    sources = wire.get("sources")
    if not isinstance(sources, list) or not sources or not all(isinstance(source, dict) for source in sources):
        copies = [dict(wire)]
        context.copied(copies[0], wire)
    else:
        rest = {key: value for key, value in wire.items() if key != "sources"}
        copies = [{**rest, "source": source} for source in sources]
        for index, copy in enumerate(copies):
            context.copied(copy, wire, ("source", (sources, index)))
    citations = [CITATIONS.decode(copy, context) for copy in copies]
    citations[1:] = [JOINED.on(citation, API, True) for citation in citations[1:]]
    for citation, copy in zip(citations, copies, strict=True):
        context.trace(CITATIONS, [citation], copy, None, spread=False)
    return citations


def _with_citations(message: ChatMessage, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message with its citations on their contents. If one belongs to no text, the message is unchanged."""
    listed, tags = wire["citations"], tags_of(wire)
    has_plan = COLUMNS[PLAN].holds(wire.get(PLAN))
    if not isinstance(listed, list) or not listed or any(c.__class__ is not dict or "source" in c for c in listed):
        return message
    places = [place_of(citation, tags, has_plan=has_plan) for citation in listed]
    if None in places or len(message.contents) < has_plan + len(tags):
        return message
    if not all(isinstance(message.contents[(place or 0) + has_plan], CITED) for place in places):
        return message
    contents: dict[int, list[Citation]] = {}
    is_usual = places == sorted(places, key=lambda place: place or 0)
    for position, (place, citation) in enumerate(zip(places, listed, strict=True)):
        decoded = decode_citation(citation, context)
        if not is_usual:
            placed = [POSITION.on(c, API, position) for c in decoded]
            for old, new in zip(decoded, placed, strict=True):
                context.replaced(old, new)
            decoded = placed
        contents.setdefault((place or 0) + has_plan, []).extend(decoded)
    for index, citations in contents.items():
        message.contents[index] = msgspec.structs.replace(message.contents[index], annotations=citations)
    own = {key: value for key, value in (message.extra or {}).get(API, {}).items() if key != "citations"}
    return msgspec.structs.replace(message, extra={API: own} if own else None)


def _encode_citations(message: ChatMessage, wire: dict[str, Any], context: EncodeContext) -> list[dict[str, Any]]:
    """Return the citations of the contents of a message, in the order of the contents or of the payload."""
    tags, has_plan = tags_of(wire), PLAN in wire
    listed: list[tuple[int, dict[str, Any]]] = []
    index = -1
    for content in message.contents:
        is_plan = is_plan_content(content)
        index += not is_plan and content.__class__ in (TextContent, ReasoningContent, UnknownContent)
        place = AT_PLAN if is_plan else index
        latest: dict[str, Any] | None = None
        converter = SpanConverter(content.text if isinstance(content, CITED) else "")
        for citation in (content.annotations or ()) if isinstance(content, CITED) else ():
            made = _encode_citation(citation, converter, context)
            if context.native and JOINED.of(citation, API) and latest is not None and _is_same_span(latest, made):
                latest["sources"] += made.get("sources", [])
                continue
            latest = made if made.get("sources") else None
            if context.completes or place_of(made, tags, has_plan=has_plan) != place:
                made["type"] = TYPES[PLAN if is_plan else tags[index]]
                made.pop("content_index", None)
                if not is_plan:
                    made["content_index"] = index
            position = POSITION.of(citation, API) if context.native else None
            listed.append((len(listed) if position is None else position, made))
    return [made for _, made in sorted(listed, key=lambda item: item[0])]


def _is_same_span(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (one.get("start"), one.get("end")) == (other.get("start"), other.get("end"))


def _encode_citation(citation: Citation, converter: SpanConverter, context: EncodeContext) -> dict[str, Any]:
    """Return a wire citation with one source, or without any."""
    if context.completes:
        citation = moved_citation(citation, converter, 0, context, titled=False)
    wire: dict[str, Any] = CITATIONS.encode_list([citation], context)[0]
    source = wire.pop("source", None)
    if source is not None:
        wire["sources"] = [source]
    if context.completes and citation.span is not None:
        wire["text"] = converter.text[citation.span.start : citation.span.end]
    return wire


def is_plan_content(content: AIContent) -> bool:
    """Return whether a content is the plan of calls."""
    return isinstance(content, ReasoningContent) and (content.kind == "plan" or hints.COLUMN.of(content, API) == PLAN)


# -- messages ----------------------------------------------------------------------------------------------------------


class CitedMessage(Row):
    """The row of messages of the assistant. Their field `citations` has the citations of all contents."""

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
        message: ChatMessage = super().decode(wire, context)
        return _with_citations(message, wire, context) if "citations" in wire else message

    def encode(self, message: ChatMessage, context: EncodeContext) -> dict[str, Any]:
        cites = context.kind == "response" or is_native(message, context)
        is_cited = any(content.annotations for content in message.contents)
        if not is_cited and not any(map(is_plan_content, message.contents)):
            return super().encode(message, context)
        contents = [_column_content(content, context) for content in message.contents]
        wire = super().encode(context.with_contents(message, contents), context)
        if is_cited and cites:
            wire["citations"] = [*wire.get("citations", []), *_encode_citations(message, wire, context)]
        return wire


def _column_content(content: Any, context: EncodeContext) -> Any:
    """Return a content without its citations, which the message has in a field. A plan gets the hint of its column."""
    if content.annotations and isinstance(content, CITED):
        content = context.replace(content, annotations=None)
    if is_plan_content(content) and hints.COLUMN.of(content, API) is None:
        content = context.replaced(content, hints.COLUMN.on(content, API, PLAN))
    return content


ASSISTANT = chat.assistant_messages(TABLE, COLUMNS, kind=CitedMessage)

# -- documents ---------------------------------------------------------------------------------------------------------

BESIDE = Hint[Literal[True]](API, "documents", "the contents of the message are the request's field `documents`")
DOCUMENTS_APART = reasons.moved("cohere-chat-documents", "{target} has documents in a separate field of the request")


class Conversation(Group):
    """The messages, and the documents of the request.

    The documents are contents of a user message before all other turns, because they are data with no more authority
    than the user's own text, and because other APIs take documents there.
    """

    attribute = "messages"
    keys = ("messages", "documents")
    messages = ChatMessages(ASSISTANT, PLAIN, RESULTS, detached=True)

    def taken(self, wire: Mapping[str, Any]) -> Collection[str]:
        if not self.messages.holds(wire.get("messages")):
            return ()
        documents = wire.get("documents")
        fits = isinstance(documents, list) and documents and all(d.__class__ in (str, dict) for d in documents)
        return self.keys if fits else ("messages",)

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatMessage]:
        keys = self.taken(wire)
        messages = self.messages.decode(wire["messages"], context, wire, "messages") if keys else []
        if "documents" in keys:
            contents = [self._decode_document(document, context) for document in wire["documents"]]
            context.trace(DOCUMENTS, contents, wire, "documents", spread=True)
            message = ChatMessage(role="user", contents=contents, origin=context.origin, extra=BESIDE.extra(API, True))
            context.trace(None, [message], wire, "documents", spread=False)
            before = next((at for at, other in enumerate(messages) if other.role != "system"), len(messages))
            messages = [*messages[:before], message, *messages[before:]]
        return messages

    def _decode_document(self, document: Any, context: DecodeContext) -> AIContent:
        if isinstance(document, str):
            return hints.FORM.on(DocumentContent(parts=[TextContent(text=document)]), API, "string")
        decoded: AIContent = DOCUMENTS.decode(document, context)
        return decoded

    def encode(self, value: list[ChatMessage], wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        documents: list[Any] = []
        messages: list[ChatMessage] = []
        turns = sum(message.role == "user" and not all(map(_is_document, message.contents)) for message in value)
        for message in value:
            is_beside = context.native and BESIDE.of(message, API) is not None
            moved = [content for content in message.contents if _is_document(content, unknown=is_beside)]
            if message.role != "user" or not moved:
                messages.append(message)
                continue
            for content in () if is_beside else moved:
                context.report_loss(content, None, DOCUMENTS_APART)
            documents += moved
            rest = [content for content in message.contents if not any(content is other for other in moved)]
            if rest:
                messages.append(context.with_contents(message, rest))
            elif not is_beside and not turns:
                turns = 1
                messages.append(passes.left_out(message, context))
            elif not is_beside:
                passes.leave_empty(message, context)
        if messages:
            wire["messages"] = self.messages.encode(messages, context, owner)
        if documents:
            wire["documents"] = [made for document in documents for made in self._encode_document(document, context)]

    def _encode_document(self, document: Any, context: EncodeContext) -> list[Any]:
        if context.native and hints.FORM.of(document, API) == "string" and document.uri is document.title is None:
            return [DOCUMENTS.encode_list([document], context)[0]["data"]["text"]]
        return DOCUMENTS.encode_list([document], context)


def _is_document(content: AIContent, *, unknown: bool = False) -> bool:
    return isinstance(content, DocumentContent) or (unknown and isinstance(content, UnknownContent))


def expanded(payload: Any) -> Any:
    """Return a payload in which the id of each source that is a tool result is a list: the call's id and a number."""
    if payload.__class__ is list:
        return [_expanded(message) for message in payload]
    if payload.__class__ is not dict:
        return payload
    changed = {"messages": expanded(payload["messages"])} if payload.get("messages").__class__ is list else {}
    return {**payload, **changed, **({"message": _expanded(payload["message"])} if "message" in payload else {})}


def _expanded(wire: Any) -> Any:
    """Return a message, a citation or a source with the ids of its sources as lists."""
    if wire.__class__ is not dict:
        return wire
    if row_of_source(wire) == "tool":
        call_id, _, number = wire["id"].rpartition(":")
        return {**wire, "id": [call_id, int(number)]}
    lists = {key: wire[key] for key in ("citations", "sources") if wire.get(key).__class__ is list}
    return {**wire, **{key: [_expanded(item) for item in items] for key, items in lists.items()}}
