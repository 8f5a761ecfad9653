"""The table of AG-UI: the messages of a run, their parts and calls, the tools, and the answers to interrupts.

Source: ag_ui/_generated/models.py of ag-ui-protocol 1.0.0, and ag_ui/core/deprecated.py for the part `binary`, which
earlier versions have (seen 2026-11-23).
"""

from __future__ import annotations

from typing import Any, Literal

from contentmodel.authoring import (
    ArgumentsText,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    Hint,
    Implied,
    Required,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    parse,
    reasons,
    row,
    write,
)
from contentmodel.content.base import Protected
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import ConfigurationContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    InputResponseContent,
    ToolApprovalResponseContent,
)
from contentmodel.errors import DecodeError
from contentmodel.message import ChatMessage
from contentmodel.request import FunctionTool, HostedTool

API = "ag-ui"
TABLE = Table(API)
UNFOLLOWED = Hint[Literal[True]](API, "unfollowed", "no assistant message follows the reasoning")

# -- opaque state ------------------------------------------------------------------------------------------------------


class EncryptedValue(Codec[Protected]):
    """The field `encryptedValue`: opaque state of a provider.

    The format does not name the provider. State of another API is written as JSON with its issuer, so that a later
    request can send it to this issuer. Any other text is state of the agent, and is written only in this format.
    """

    classes = (str,)
    identity = False

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> Protected:
        return read_state(value) or Protected(issuer=API, kind="encrypted", data=value)

    def encode(self, value: Protected, context: EncodeContext, owner: object) -> str:
        return value.data if value.issuer == API else _write_state(value)

    def describe(self) -> str:
        return "opaque"


def _write_state(value: Protected) -> str:
    return write({"issuer": value.issuer, "kind": value.kind, "data": value.data}).decode()


def read_state(text: str) -> Protected | None:
    """Return the state in a text that `_write_state` wrote; None for any other text."""
    if not text.startswith('{"issuer":'):
        return None
    try:
        fields = parse(text)
    except DecodeError:
        return None
    if fields.keys() != {"issuer", "kind", "data"} or not all(value.__class__ is str for value in fields.values()):
        return None
    value = Protected(**fields)
    return value if value.issuer != API and _write_state(value) == text else None


ENCRYPTED_VALUE = EncryptedValue()
STATE: dict[str, Spec] = {"encryptedValue": ("protected", ENCRYPTED_VALUE)}

# -- parts -------------------------------------------------------------------------------------------------------------

KINDS = ("image", "audio", "video", "document")


def _media(kind: str) -> list[Row]:
    """Return the rows of one kind of media: one for each type of source."""
    implied = Implied({"kind": kind})
    named: dict[str, Spec] = {"source.mimeType": "media_type", "metadata.filename": "name"}
    any_type = Filled({"source.mimeType": "application/octet-stream"})
    data: dict[str, Spec] = {"source.value": ("data", Required()), **named}
    of = {source: {"type": kind, "source.type": source} for source in ("data", "url", "file")}
    return [
        Row(f"{kind}.data", DataContent, data, any_type, constants=of["data"]),
        Row(f"{kind}.url", UriContent, {"source.value": "uri", **named}, implied, constants=of["url"]),
        Row(f"{kind}.file", HostedFileContent, {"source.value": "file_id", **named}, implied, constants=of["file"]),
    ]


def _usual_row(content: Any, rows: list[Row]) -> Row:
    """Return the usual row of a medium: the first one of its kind."""
    kind = content.media_kind
    usual = kind if kind in ("image", "audio", "video") else "document"
    return next(one for one in rows if one.name.startswith(usual))


_BINARY: dict[str, Spec] = {"mimeType": "media_type", "filename": "name"}
PARTS = TABLE.union(
    "part",
    [
        row("text", TextContent, {"text": "text"}),
        *(media_row for kind in KINDS for media_row in _media(kind)),
        # Before version 1.0.
        Row("binary.data", DataContent, {"data": ("data", Required()), **_BINARY}, constants={"type": "binary"}),
        Row("binary.url", UriContent, {"url": "uri", **_BINARY}, constants={"type": "binary"}),
        Row("binary.id", HostedFileContent, {"id": "file_id", **_BINARY}, constants={"type": "binary"}),
    ],
    prefer=_usual_row,
)
CONTENT = TextOrBlocks(PARTS, "string")

# -- messages ----------------------------------------------------------------------------------------------------------

FAILED = "The tool failed."
"""The `error` that is written for a failed result without a text."""


class Error(Codec[bool]):
    """The field `error` of a failed result, if it repeats the text of the result. Any other error is an output."""

    classes = (str,)
    identity = False

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value != ""

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> bool:
        return True

    def encode(self, value: bool, context: EncodeContext, owner: Any) -> str | None:
        if not value:
            return None
        if context.completes:
            context.report_loss(owner, "is_error", reasons.IN_STATE)
        return owner.text or FAILED


CALLS = TABLE.union(
    "tool call",
    [
        row(
            "function",
            FunctionCallContent,
            {
                "id": "call_id",
                "function.name": "name",
                "function.arguments": ("arguments", ArgumentsText()),
                **STATE,
            },
            Filled({"id": "", "function.name": "", "function.arguments": "{}"}),
        )
    ],
    default="function",
)
MESSAGES = TABLE.union(
    "message of one content",
    [
        Row("assistant", TextContent, {"content": "text", **STATE}, constants={"role": "assistant"}),
        Row(
            "reasoning",
            ReasoningContent,
            {"content": "text", **STATE},
            Filled({"content": ""}),
            constants={"role": "reasoning"},
        ),
        Row(
            "tool",
            FunctionResultContent,
            {
                "toolCallId": "call_id",
                "content": ("outputs", CONTENT),
                "error": ("is_error", Error()),
                **STATE,
            },
            Silent("name"),
            Filled({"toolCallId": "", "content": ""}),
            constants={"role": "tool"},
        ),
    ],
    tag="role",
)
ACTIVITY = TABLE.record(
    "activity message",
    ConfigurationContent,
    {"activityType": "kind", "content": "settings"},
    Filled({"content": {}}),
    constants={"role": "activity"},
)
HEAD = TABLE.record(
    "assistant message",
    ChatMessage,
    {"id": "message_id", "name": "author_name"},
    Implied({"role": "assistant"}),
    Silent("contents"),
    constants={"role": "assistant"},
)
ROLES = ("system", "developer", "user", "assistant", "tool", "activity", "reasoning")
_ROLES = Roles(API, {role: role for role in ROLES[:3]}, elsewhere=ROLES[3:])
_FIELDS: dict[str, Spec] = {"id": "message_id", "role": ("role", _ROLES), "name": "author_name"}
SYSTEM = TABLE.record(
    "system message",
    ChatMessage,
    {**_FIELDS, "content": ("contents", TextField(TextContent, "text", between="\n\n"))},
    Filled({"content": ""}),
)
USER = TABLE.record("message", ChatMessage, {**_FIELDS, "content": ("contents", CONTENT)}, Filled({"content": ""}))
for _name in ("assistant message", "system message", "message"):
    TABLE.keep(_name, "metadata", "subagentRunId", *(() if _name == "assistant message" else ("encryptedValue",)))
TABLE.known_values("message.role", *ROLES)

# -- tools and answers -------------------------------------------------------------------------------------------------

TOOLS = TABLE.union(
    "tool",
    [
        Row(
            "tool",
            FunctionTool,
            {"name": "name", "description": "description", "parameters": "parameters"},
            Filled({"description": ""}),
        )
    ],
    tag=None,
    other=Row("other", HostedTool, {}),
    foreign_types=[FunctionTool],
)


_ANSWER: dict[str, Spec] = {"interruptId": "request_id"}
RESUME = TABLE.union(
    "answer",
    [
        Row(
            "approval",
            ToolApprovalResponseContent,
            {**_ANSWER, "payload.approved": ("approved", Required(bool)), "payload.reason": "reason"},
            constants={"status": "resolved"},
        ),
        Row(
            "approval.flag",
            ToolApprovalResponseContent,
            {**_ANSWER, "payload": ("approved", Required(bool))},
            constants={"status": "resolved"},
        ),
        Row(
            "cancelled",
            ToolApprovalResponseContent,
            _ANSWER,
            Implied({"approved": False}),
            constants={"status": "cancelled"},
        ),
        Row("input", InputResponseContent, {**_ANSWER, "payload": "value"}, constants={"status": "resolved"}),
    ],
    tag="status",
    by_fields=True,
)
