"""The table of Mistral's chat completions: parts, calls, results, usage and errors (mistralai 3.7.0, client/models)."""

from __future__ import annotations

from typing import Any

from contentmodel import (
    DataContent,
    DocumentContent,
    ErrorContent,
    HostedFileContent,
    ReasoningContent,
    TextContent,
    UriContent,
    Usage,
)
from contentmodel.authoring import (
    ArgumentsText,
    Codec,
    DecodeContext,
    EncodeContext,
    Field,
    Filled,
    Group,
    Implied,
    One,
    Opaque,
    Required,
    Row,
    Silent,
    Spec,
    Table,
    TextOrBlocks,
    chat,
    list_of,
    row,
)

API = "mistral-chat"
TABLE = Table(API)


class Thinking(Codec[str]):
    """The field `thinking` if it is a list with one text. Other lists have the row `thinking.parts`."""

    classes = (list,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        return bool(isinstance(value, list) and len(value) == 1 and is_text(value[0]) and value[0]["text"])

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> str:
        return str(value[0]["text"])

    def encode(self, value: str, context: EncodeContext, owner: object) -> Any:
        return [{"type": "text", "text": value}]


class ThinkingParts(Group):
    """The field `thinking` with references. The list stays in the residue, and is written if the text is unchanged."""

    attribute = "text"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> str:
        return text_of_parts(wire)

    def encode(self, value: str, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        if value != text_of_parts((owner.extra or {}).get(API, {})):
            wire["thinking"] = [{"type": "text", "text": value}]


def text_of_parts(wire: dict[str, Any]) -> str:
    """Return the texts of the field `thinking`, joined and without references."""
    return "".join(part["text"] for part in list_of(wire, "thinking") if is_text(part))


def is_text(part: Any) -> bool:
    """Return whether a part is a text without other fields."""
    is_plain = isinstance(part, dict) and part.keys() == {"type", "text"}
    return is_plain and part["type"] == "text" and isinstance(part["text"], str)


def medium(name: str, model: type[Any], fields: dict[str, Any], *others: Field) -> Row:
    """Return a row for media. The name of the row begins with the type of the part."""
    return Row(name, model, fields, *others, constants={"type": name.partition(".")[0]})


def usual_row(content: Any, rows: list[Row]) -> Row | None:
    """Return the row for a content of another API. Media other than images and audio become documents."""
    kind = getattr(content, "media_kind", None)
    wanted = {"image": "image_url", "audio": "input_audio"}.get(str(kind), "document_url") if kind else rows[0].name
    return next((one for one in rows if one.name.startswith(wanted)), rows[0])


THINKING: dict[str, Spec] = {"signature": ("protected", Opaque("mistral", "signature"))}
IMAGES = [
    *chat.image_rows(),
    medium("image_url.short.data", DataContent, {"image_url": chat.DATA}),
    medium("image_url.short", UriContent, {"image_url": "uri"}, Implied({"kind": "image"})),
]
TEXT = row("text", TextContent, {"text": "text"})
RESOURCE_PARTS = TABLE.union("resource content", [TEXT, *IMAGES], prefer=usual_row)
DOCUMENT = {"document_url": "uri", "document_name": "name"}
PARTS = TABLE.union(
    "part",
    [
        TEXT,
        row("reference", TextContent, {}, Implied({"text": ""})),
        row("thinking", ReasoningContent, {"thinking": ("text", Thinking()), **THINKING}, Filled({"thinking": []})),
        medium("thinking.parts", ReasoningContent, THINKING, ThinkingParts()),
        *IMAGES,
        medium("document_url.data", DataContent, {"document_url": chat.DATA, "document_name": "name"}),
        medium("document_url", UriContent, DOCUMENT, Implied({"kind": "document"})),
        medium("file", HostedFileContent, {"file_id": "file_id"}, Implied({"kind": "document"})),
        row("input_audio", DataContent, {"input_audio": "data"}),
        row("resource", DocumentContent, {"uri": "uri", "content": ("parts", One(RESOURCE_PARTS))}),
        row("resource_link", UriContent, {"uri": "uri"}),
    ],
    prefer=usual_row,
    foreign_types=(TextContent, ReasoningContent, DataContent, UriContent),
)
CONTENT = TextOrBlocks(PARTS, "string")
TABLE.keep("reference", "reference_ids")
TABLE.known_values("thinking", "text", "reference", "tool_reference")


class Arguments(ArgumentsText):
    """The arguments of a call: JSON text, or an object. Only arguments from Mistral are written as an object."""

    classes = (str, dict)

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        return value if context.native and isinstance(value, dict) else super().encode(value, context, owner)


CALLS = chat.function_calls(TABLE, Arguments())
RESULTS = chat.result_messages(TABLE, {"tool_call_id": "call_id", "name": "name", "content": ("outputs", CONTENT)})
COUNTERS: dict[str, Spec] = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}
INSIDE = Silent("cached_inside", "reasoning_inside")
USAGES = TABLE.union(
    "usage",
    [
        # Most recorded answers have `num_cached_tokens` instead of `prompt_tokens_details`.
        Row("usage.cached", Usage, {**COUNTERS, "num_cached_tokens": ("cache_read_tokens", Required(int))}, INSIDE),
        Row("usage", Usage, {**COUNTERS, "prompt_tokens_details.cached_tokens": "cache_read_tokens"}, INSIDE),
    ],
    tag=None,
    prefer=lambda usage, rows: rows[1],
)
ERROR = TABLE.record(
    "error", ErrorContent, {"message": "message", "type": "code"}, Silent("kind"), Filled({"message": ""})
)
