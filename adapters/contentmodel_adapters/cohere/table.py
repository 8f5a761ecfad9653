"""The table of Cohere's Chat API v2: parts, documents, calls, citations, tools, messages, requests and answers.

Sources: cohere 7.3.1 (types), docs.cohere.com/v2/reference/chat, and recorded traffic; seen November 2026.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    ArgumentsText,
    Blocks,
    ChatMessages,
    Choice,
    Codec,
    Column,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorFields,
    ErrorTypes,
    Filled,
    FinishReasons,
    Group,
    Hint,
    Implied,
    Inlined,
    OneOf,
    ProviderOnly,
    Record,
    Required,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    Verbatim,
    WholeNumber,
    chat,
    derives,
    enum_at,
    foreign,
    hints,
    is_native,
    object_of,
    parse,
    reasons,
    row,
    same_options,
    text_of,
    whole_number,
    write,
)
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.outcomes import ErrorContent, UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.errors import DecodeError
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, FunctionTool, Tool, ToolChoice
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import SpelledAnswer, SpelledRole
from contentmodel_adapters.common.citations import moved_citation

API = "cohere-chat"
TABLE = Table(API)


# -- documents ---------------------------------------------------------------------------------------------------------


class DocumentText(TextField):
    """The text of a document. A document without a text has another row."""

    mandatory = True


class DocumentData(DocumentText):
    """The data of a document that has no text: compact JSON, as the model gets it."""

    classes: tuple[type, ...] = (dict,)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        return [TextContent(text=write(value).decode("utf-8", "surrogatepass"))]

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        text = super().encode(value, context, owner) or ""
        try:
            data = parse(text, API)
        except DecodeError:
            data = None
        return data if isinstance(data, dict) else {"text": text}

    def describe(self) -> str:
        return "dict"


_TEXT = DocumentText(TextContent, "text", between="\n\n")
_DATA = DocumentData(TextContent, "text", between="\n\n")


def document_rows(prefix: str, constants: Mapping[str, Any]) -> list[Row]:
    """Return the rows of a document whose fields are at `prefix`: one for each form of its data.

    The data are a string, or an object with any keys. The keys `text`, `snippet` and `title` are those of
    docs.cohere.com/v2/docs, seen 2026-11-23.
    """
    named: dict[str, Spec] = {f"{prefix}id": "uri", f"{prefix}data.title": "title"}
    forms: dict[str, dict[str, Spec]] = {
        "text": {**named, f"{prefix}data.text": ("parts", _TEXT)},
        "snippet": {**named, f"{prefix}data.snippet": ("parts", _TEXT)},
        "string": {f"{prefix}id": "uri", f"{prefix}data": ("parts", _TEXT)},
        "data": {f"{prefix}id": "uri", f"{prefix}data": ("parts", _DATA)},
    }
    filled = {"text": Filled({f"{prefix}data.text": ""})}
    return [
        Row(f"document.{name}", DocumentContent, fields, *filter(None, [filled.get(name)]), constants=constants)
        for name, fields in forms.items()
    ]


DOCUMENTS = TABLE.union("document", document_rows("", {}), tag=None)

# -- content -----------------------------------------------------------------------------------------------------------

TEXT = row("text", TextContent, {"text": "text"}, Silent("annotations"))
USER_CONTENT = TABLE.union("user content", [TEXT, *chat.image_rows()])
ANSWER_CONTENT = TABLE.union(
    "assistant content",
    [
        TEXT,
        row("thinking", ReasoningContent, {"thinking": "text"}, Silent("annotations"), Filled({"thinking": ""})),
    ],
)
RESULT_CONTENT = TABLE.union("tool content", [TEXT, *document_rows("document.", {"type": "document"})])

# -- calls and results -------------------------------------------------------------------------------------------------

CALLS = chat.function_calls(TABLE, ArgumentsText(), name=("name", Required()))
RESULT: dict[str, Spec] = {"tool_call_id": "call_id", "content": ("outputs", TextOrBlocks(RESULT_CONTENT, "string"))}
RESULTS = chat.result_messages(TABLE, RESULT, Silent("name"))

# -- citations ---------------------------------------------------------------------------------------------------------


class ResultPart(Codec[tuple[str, int | None, int | None]]):
    """The id of a source that is a tool result: the id of its call, and the number of the part, as in `call_1:0`."""

    classes = (str,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        call_id, _, number = value.rpartition(":") if isinstance(value, str) else ("", "", "")
        return bool(call_id) and str(whole_number(number)) == number

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> tuple[str, int, int]:
        call_id, _, number = value.rpartition(":")
        return call_id, int(number), int(number) + 1

    def encode(self, value: tuple[str, int | None, int | None], context: EncodeContext, owner: object) -> str:
        return f"{value[0]}:{value[1] or 0}"

    def describe(self) -> str:
        return "call id"


SPAN: dict[str, Spec] = {"start": "span.start", "end": "span.end"}
LINKS: dict[str, dict[str, Spec]] = {
    "document": {"source.id": "url"},
    "document.link": {"source.document.url": "url"},
    "document.id": {},
}
"""The field with the address of a cited document. An id is the caller's own, or an address, or made from a number."""


def document_citations() -> list[Row]:
    """Return the rows of a citation of a document, by the fields with its address and its text.

    A document is an object with any keys (DocumentSource of cohere 7.3.1, seen 2026-11-27). For `snippet`, `text` and
    `title`, see `document_rows`; documents from the web also have `url`.
    """
    return [
        Row(
            f"{name}.{text}",
            Citation,
            {**SPAN, **link, "source.document.title": "title", f"source.document.{text}": "cited_text"},
            constants={"source.type": "document"},
        )
        for name, link in LINKS.items()
        for text in ("text", "snippet")
    ]


CITATIONS = TABLE.union(
    "citation",
    [
        Row(
            "tool",
            Citation,
            {**SPAN, "source.id": (("call_id", "location.start", "location.end"), ResultPart())},
            Implied({"location.unit": "block"}),
            constants={"source.type": "tool"},
        ),
        Row("plain", Citation, SPAN),
        *document_citations(),
    ],
    find=lambda wire: row_of_source(wire.get("source")),
    prefer=lambda citation, rows: next(row for row in rows if row.name == _usual_row(citation)),
)
"""The rows of a citation with one source in the field `source`. `decode_citation` splits the API's list `sources`."""


def row_of_source(source: Any) -> str:
    """Return the name of the row of a citation with this source."""
    kind = source.get("type") if isinstance(source, dict) else None
    if kind == "tool" and ResultPart().holds(source.get("id")):
        return "tool"
    if kind != "document":
        return "plain"
    document = object_of(source, "document")
    name = "document" if _is_address(source.get("id")) else "document.id"
    name = "document.link" if text_of(document, "url") else name
    return f"{name}.snippet" if document.get("text") is None and text_of(document, "snippet") else f"{name}.text"


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and "://" in value


def _usual_row(citation: Citation) -> str:
    """Return the name of the usual row of a citation."""
    if citation.call_id:
        return "tool"
    if citation.url is citation.title is citation.cited_text is None:
        return "plain"
    return "document.text" if citation.url is None or _is_address(citation.url) else "document.link.text"


# -- usage and errors --------------------------------------------------------------------------------------------------


class Count(Codec[int]):
    """A token count. Counts are floats in the SDK's types, and integers in traffic."""

    classes = (int, float)
    identity = False

    def holds(self, value: object) -> bool:
        return value.__class__ is int or (isinstance(value, float) and value.is_integer())

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> int:
        return int(value)


USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "tokens.input_tokens": ("input_tokens", Count()),
        "tokens.output_tokens": ("output_tokens", Count()),
        "cached_tokens": ("cache_read_tokens", Count()),
    },
    # Cached tokens are part of `tokens.input_tokens`: a recorded answer has 1,683 input tokens, 992 of them cached.
    Silent("cached_inside", "reasoning_inside"),
    verbatim=Verbatim("tokens.input_tokens", "tokens.output_tokens", "cached_tokens"),
)
TABLE.keep("usage", "billed_units")
ERROR = TABLE.record("error", ErrorContent, {"message": "message"}, Silent("kind", "code"), Filled({"message": ""}))


# -- tools -------------------------------------------------------------------------------------------------------------

FUNCTION = {f"function.{key}": key for key in ("name", "description", "parameters")} | {"strict": "strict"}
TOOLS = chat.function_tools(TABLE, FUNCTION, [chat.free_text_function()], find=chat.row_of_function)
STRICT_TOOLS = reasons.insignificant("cohere-chat-strict", "{target} has one strict setting for all tools: it is set")
LIFTED = Hint[Literal[True]](API, "strict", "the request, not the tool, has the setting for strict arguments")


class Tools(Group):
    """The tools. The field `strict_tools` of the request makes all of them strict."""

    attribute = "tools"
    keys = ("tools", "strict_tools")

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        tools = wire.get("tools")
        if not isinstance(tools, list) or not tools:
            return ()
        # Only functions without their own `strict` can hold the request's setting.
        is_function = TOOLS.rows[0].fits
        fits = all(
            isinstance(t, dict) and t.get("type") == "function" and is_function(t) and "strict" not in t for t in tools
        )
        return self.keys if fits and wire.get("strict_tools").__class__ is bool else ("tools",)

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[Tool]:
        keys = self.consumed(wire)
        tools: list[Any] = wire["tools"] if keys else []
        if "strict_tools" not in keys:
            decoded = TOOLS.decode_list(tools, context)
        else:
            copies = [{**tool, "strict": wire["strict_tools"]} for tool in tools]
            context.copied(copies, tools)
            for copy, tool in zip(copies, tools, strict=True):
                context.copied(copy, tool, ("strict", (wire, "strict_tools")))
            tools = copies
            decoded = [
                LIFTED.on(tool, API, True) if isinstance(tool, FunctionTool) else tool
                for tool in TOOLS.decode_list(tools, context)
            ]
        context.trace(TOOLS, decoded, tools, None, spread=len(decoded) == len(tools))
        return decoded

    def encode(self, value: list[Tool], wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        tools = TOOLS.encode_list(value, context)
        if tools:
            wire["tools"] = tools
        functions = [tool for tool in value if isinstance(tool, FunctionTool)]
        if context.native and not any(LIFTED.of(tool, API) for tool in functions):
            return
        settings = {tool.pop("strict", None) for tool in tools if tool.get("type") == "function"}
        if len(settings) == 1 and settings != {None}:
            wire["strict_tools"] = settings.pop()
            for tool in functions if not context.native else ():
                context.report_loss(tool, "strict", STRICT_TOOLS)
            return
        for tool in functions:
            # The API has one setting for all tools, and the tools have different ones.
            context.report_lost_attributes(tool, ("strict",))


class OwnChoice(Choice):
    """The tool choice. The API has no value for auto: the field is missing then."""

    def _written(self, value: ToolChoice, context: EncodeContext, owner: Any) -> Any:
        if value.mode == "auto" and not value.tools and value.hosted is None:
            context.report_loss(owner, "options.tool_choice", reasons.USUAL_VALUE)
            return None
        return super()._written(value, context, owner)


MODES = {"REQUIRED": "required", "NONE": "none"}
_WRITTEN = {mode: value for value, mode in MODES.items()}


def write_choice(choice: ToolChoice, tools: list[Any]) -> str | None:
    """Encode a tool choice; None if the API cannot express it: it has no choice of one tool."""
    return None if choice.tools or choice.hosted is not None else _WRITTEN.get(choice.mode)


TABLE.known_values("tool_choice", *MODES)
TOOL_CHOICE = OwnChoice(lambda value: None, write_choice, modes=MODES, fallback=None)


# The SDK has `json_schema`, the guide and the API before version 2 `schema` (docs.cohere.com, "Structured Outputs").
RESPONSE_FORMAT = chat.response_formats(
    TABLE,
    "response_format",
    chat.schema_row("json_object", "json_schema", "schema"),
    chat.schema_row("json_object", "schema", "old_schema"),
)


# -- columns of messages -----------------------------------------------------------------------------------------------

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

# -- citations of a message --------------------------------------------------------------------------------------------

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
        other_fields = {key: value for key, value in wire.items() if key != "sources"}
        copies = [{**other_fields, "source": source} for source in sources]
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
    residue = {key: value for key, value in (message.extra or {}).get(API, {}).items() if key != "citations"}
    return msgspec.structs.replace(message, extra={API: residue} if residue else None)


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
            encoded = _encode_citation(citation, converter, context)
            before = latest if context.native and JOINED.of(citation, API) else None
            if before is not None and all(before.get(key) == encoded.get(key) for key in ("start", "end")):
                before["sources"] += encoded.get("sources", [])
                continue
            latest = encoded if encoded.get("sources") else None
            if context.completes or place_of(encoded, tags, has_plan=has_plan) != place:
                encoded["type"] = TYPES[PLAN if is_plan else tags[index]]
                encoded.pop("content_index", None)
                if not is_plan:
                    encoded["content_index"] = index
            position = POSITION.of(citation, API) if context.native else None
            listed.append((len(listed) if position is None else position, encoded))
    return [encoded for _, encoded in sorted(listed, key=lambda item: item[0])]


def _encode_citation(citation: Citation, converter: SpanConverter, context: EncodeContext) -> dict[str, Any]:
    """Return a wire citation with one source, or without any."""
    if context.completes:
        citation = moved_citation(citation, converter, 0, context, titled=False)
    wire: dict[str, Any] = CITATIONS.encode_list([citation], context)[0]
    source = wire.pop("source", None)
    if source is not None:
        wire["sources"] = [source]
    if context.completes and citation.span is not None:
        wire["text"] = _cited(converter.text, citation.span.start, citation.span.end)
    return wire


@derives
def _cited(text: str, start: int | None, end: int | None) -> str:
    return text[start:end]


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
        contents: list[Any] = []
        for content in message.contents:
            if content.annotations and isinstance(content, CITED):
                content = context.replace(content, annotations=None)
            if is_plan_content(content) and hints.COLUMN.of(content, API) is None:
                content = context.replaced(content, hints.COLUMN.on(content, API, PLAN))
            contents.append(content)
        wire = super().encode(context.with_contents(message, contents), context)
        if is_cited and cites:
            wire["citations"] = [*wire.get("citations", []), *_encode_citations(message, wire, context)]
        return wire


ASSISTANT = chat.assistant_messages(TABLE, COLUMNS, kind=CitedMessage)

# -- documents beside messages -----------------------------------------------------------------------------------------

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

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        if not self.messages.holds(wire.get("messages")):
            return ()
        documents = wire.get("documents")
        fits = isinstance(documents, list) and documents and all(d.__class__ in (str, dict) for d in documents)
        return self.keys if fits else ("messages",)

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatMessage]:
        keys = self.consumed(wire)
        messages = self.messages.decode(wire["messages"], context, wire, "messages") if keys else []
        if "documents" in keys:
            contents: list[Any] = [
                hints.FORM.on(DocumentContent(parts=[TextContent(text=document)]), API, "string")
                if isinstance(document, str)
                else DOCUMENTS.decode(document, context)
                for document in wire["documents"]
            ]
            context.trace(DOCUMENTS, contents, wire, "documents", spread=True)
            message = ChatMessage(role="user", contents=contents, origin=context.origin, extra=BESIDE.extra(API, True))
            context.trace(None, [message], wire, "documents", spread=False)
            before = next((at for at, other in enumerate(messages) if other.role != "system"), len(messages))
            messages = [*messages[:before], message, *messages[before:]]
        return messages

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
            other_contents = [content for content in message.contents if not any(content is other for other in moved)]
            if other_contents:
                messages.append(context.with_contents(message, other_contents))
            elif not is_beside and not turns:
                turns = 1
                messages.append(foreign.left_out(message, context))
            elif not is_beside:
                foreign.leave_empty(message, context)
        if messages:
            wire["messages"] = self.messages.encode(messages, context, owner)
        if documents:
            wire["documents"] = [entry for document in documents for entry in self._encode_document(document, context)]

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


# -- answers -----------------------------------------------------------------------------------------------------------

FINISH = FinishReasons(
    {
        "COMPLETE": "stop",
        "STOP_SEQUENCE": "stop",
        "MAX_TOKENS": "length",
        "TOOL_CALL": "tool_calls",
        "ERROR": "error",
        "TIMEOUT": "error",
    },
    {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL", "error": "ERROR"},
    "COMPLETE",
)
TABLE.known_values("finish_reason", *FINISH.reasons)
ROLE = Hint[SpelledRole](API, "role", "the role of the message of an answer, if it is not the usual one")
# The body of an error has a message and no type: the status of the response shows what it is.
ERRORS = ErrorTypes((), {"server": {}}, {})


ANSWER = SpelledAnswer(ASSISTANT, ROLE)
CHOICE = TABLE.record(
    "choice",
    ChatChoice,
    {
        "message": ("messages", ANSWER),
        "finish_reason": ("finish_reason", FINISH),
        "logprobs": ("logprobs", ProviderOnly("logprobs", list)),
    },
    Silent("index"),
)


class OnlyChoice(Inlined):
    """The message, the finish reason and the log probabilities: the only choice of an answer."""

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        kinds = {"message": dict, "finish_reason": str, "logprobs": list}
        return [key for key in self.keys if wire.get(key).__class__ is kinds[key]]

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: ChatResponse) -> None:
        is_cut = owner.error is not None and any(choice.messages for choice in value)
        if is_cut:
            context.report_loss(owner.error, None, reasons.NO_FIELD)
        super().encode(value, wire, context, owner)
        if is_cut:
            # An answer must have a finish reason (V2ChatResponse of cohere 7.3.1). Only this one shows the failure.
            wire.setdefault("finish_reason", "ERROR")


class ErrorText(ErrorFields):
    """The message of an error, which is a string. The message of an answer is an object."""

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        return self.keys if isinstance(wire.get("message"), str) else ()


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {"id": "id", "usage": ("usage", Record(USAGE))},
    ErrorText(ErrorBody(ERROR, ERRORS), "message"),
    OnlyChoice("choices", CHOICE, one_of_list=True),
)


# -- requests ----------------------------------------------------------------------------------------------------------

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "tool_choice": ("options.tool_choice", TOOL_CHOICE),
        "response_format": ("options.response_format", OneOf(RESPONSE_FORMAT)),
        "max_tokens": "options.max_output_tokens",
        **same_options("stop_sequences", "temperature", "seed", "frequency_penalty", "presence_penalty", "logprobs"),
        **same_options("stream"),
        "k": ("options.top_k", WholeNumber("options.top_k")),
        "p": "options.top_p",
        "thinking.type": enum_at("options.reasoning.mode", "enabled", "disabled"),
        "thinking.token_budget": "options.reasoning.budget_tokens",
    },
    Conversation(),
    Tools(),
)
TABLE.keep("request", "citation_options", "priority", "safety_mode")
