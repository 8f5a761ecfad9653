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
    Aliases,
    ArgumentsText,
    AsSent,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    Group,
    Implied,
    MappedEnum,
    One,
    Opaque,
    ProtobufJson,
    Required,
    Row,
    Silent,
    Spec,
    Table,
    TextOrBlocks,
    TextOrJson,
    TextParts,
    chat,
    list_of,
    row,
)

API = "mistral-chat"
TABLE = Table(API)


class Thinking(TextParts):
    """The field `thinking` if it is a list with one text. Other lists have the row `thinking.parts`."""

    def holds(self, value: Any) -> bool:
        return super().holds(value) and len(value) == 1 and value[0]["text"] != ""


THINKING_TEXT = Thinking({"type": "text"})
is_text = THINKING_TEXT.is_part


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
    return THINKING_TEXT.text_of(list_of(wire, "thinking"))


def usual_row(content: Any, rows: list[Row]) -> Row | None:
    """Return the row for a content of another API. Media other than images and audio become documents."""
    kind = getattr(content, "media_kind", None)
    wanted = {"image": "image_url", "audio": "input_audio"}.get(str(kind), "document_url") if kind else rows[0].name
    return min((one for one in rows if one.name.startswith(wanted)), key=lambda one: len(one.name), default=rows[0])


class Link(Codec[str]):
    """The address of audio. Any other text is base64."""

    classes = (str,)
    mandatory = True

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value.startswith(("http://", "https://"))


THINKING: dict[str, Spec] = {"signature": ("protected", Opaque("mistral", "signature"))}
IMAGES = [
    *chat.image_rows(),
    row("image_url", DataContent, {"image_url": chat.DATA}, form="short.data"),
    row("image_url", UriContent, {"image_url": "uri"}, Implied({"kind": "image"}), form="short"),
]
TEXT = row("text", TextContent, {"text": "text"})
# The service also takes the object of Chat Completions, and addresses.
AUDIO: dict[str, Spec] = {
    "input_audio.data": ("data", Required(str)),
    "input_audio.format": ("media_type", MappedEnum({"mp3": "audio/mpeg", "wav": "audio/wav"})),
}
RESOURCE_PARTS = TABLE.union("resource content", [TEXT, *IMAGES], prefer=usual_row)
DOCUMENT = {"document_url": "uri", "document_name": "name"}
PARTS = TABLE.union(
    "part",
    [
        TEXT,
        row("reference", TextContent, {}, Implied({"text": ""})),
        row("thinking", ReasoningContent, {"thinking": ("text", THINKING_TEXT), **THINKING}, Filled({"thinking": []})),
        row("thinking", ReasoningContent, THINKING, ThinkingParts(), form="parts"),
        *IMAGES,
        row("document_url", DataContent, {"document_url": chat.DATA, "document_name": "name"}, form="data"),
        row("document_url", UriContent, DOCUMENT, Implied({"kind": "document"})),
        row("file", HostedFileContent, {"file_id": "file_id"}, Implied({"kind": "document"})),
        row("input_audio", UriContent, {"input_audio": ("uri", Link())}, Implied({"kind": "audio"}), form="link"),
        row("input_audio", DataContent, AUDIO, form="object"),
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
CALLS = chat.function_calls(TABLE, ArgumentsText(objects=True))
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
# The errors of validation have a list in place of the message, or are FastAPI's own, whose only field is `detail`.
ERROR = TABLE.record(
    "error",
    ErrorContent,
    {"message": ("message", TextOrJson()), "type": "code"},
    *(Silent("kind"), Filled({"message": ""}), ProtobufJson(), Aliases({"detail": "message"})),
    as_sent=AsSent("message"),
)
