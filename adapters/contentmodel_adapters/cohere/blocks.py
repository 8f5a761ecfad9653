"""The table of Cohere's Chat API v2: content parts, documents, calls, results, citations, usage, errors.

Sources: cohere 7.3.1 (types), docs.cohere.com/v2/reference/chat, and recorded traffic; seen November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    ArgumentsText,
    AsSent,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    Implied,
    Required,
    Row,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    chat,
    object_of,
    parse,
    row,
    text_of,
    whole_number,
    write,
)
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.errors import DecodeError
from contentmodel.usage import Usage

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
    return f"{name}.snippet" if "text" not in document and text_of(document, "snippet") else f"{name}.text"


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and "://" in value


def _usual_row(citation: Citation) -> str:
    """Return the name of the usual row of a citation."""
    if citation.call_id:
        return "tool"
    if citation.url is citation.title is citation.cited_text is None:
        return "plain"
    return "document.text" if citation.url is None or _is_address(citation.url) else "document.link.text"


# -- answers -----------------------------------------------------------------------------------------------------------


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
    as_sent=AsSent("tokens.input_tokens", "tokens.output_tokens", "cached_tokens"),
)
TABLE.keep("usage", "billed_units")
ERROR = TABLE.record("error", ErrorContent, {"message": "message"}, Silent("kind", "code"), Filled({"message": ""}))
