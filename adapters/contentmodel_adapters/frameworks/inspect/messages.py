"""Messages of eval logs: a message with the role `tool` is one result, and an assistant message names its model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec.structs import replace

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Filled,
    Hint,
    Implied,
    MessageList,
    NonEmptyText,
    NonEmptyTextOrBlocks,
    Place,
    ResultMessage,
    Roles,
    Row,
    Silent,
    Spec,
    each_output,
    foreign,
    hints,
    is_native,
    reasons,
    row,
    with_contents,
)
from contentmodel.content import CONTENT_TYPES
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.frameworks.call_signatures import is_signed, without_signatures
from contentmodel_adapters.frameworks.hosted_tools import with_class
from contentmodel_adapters.frameworks.inspect.anchors import is_anchor, with_signatures, write_anchors
from contentmodel_adapters.frameworks.inspect.blocks import PARTS, TABLE
from contentmodel_adapters.frameworks.inspect.hosted import decode_pair, encode_pairs, is_half, pair_of
from contentmodel_adapters.frameworks.inspect.values import (
    API,
    OUTCOME,
    OUTCOMES,
    is_of_openrouter,
    issuer_of,
    kind_of_state,
    model_for,
)

REPEATED = Hint[Literal[True]](API, "repeated", "the content of a failed result repeats the message of its error")

# -- contents ----------------------------------------------------------------------------------------------------------


class Content(NonEmptyTextOrBlocks):
    """A string or a list of parts. A part of a hosted tool becomes two contents: the call and its result."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if value.__class__ is str or not any(count_of(part) != 1 for part in value):
            return super().decode(value, context, container, key)
        contents: list[AIContent] = []
        for index, wire in enumerate(value):
            pair = pair_of(wire)
            if wire.__class__ is not dict:
                context.expected(value, index, f"an object: a {self.union.name}", wire)
            elif pair is not None:
                contents += decode_pair(pair, wire, context)
            elif not is_anchor(wire):
                contents.append(self.union.decode(wire, context))
        return contents

    def count(self, wire: Any) -> int:
        return sum(map(count_of, wire)) if wire.__class__ is list else 1

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        if wire.__class__ is not list:
            return super().places(value, wire, path)
        origins = [(index, part) for index, part in enumerate(wire) for _ in range(count_of(part))]
        pairs = zip(value, origins, strict=False)
        return [(content, f"{path}[{index}]", part, pair_of(part) or self.union) for content, (index, part) in pairs]

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        is_cited = any(content.annotations for content in value)
        if not is_cited and not any(map(is_half, value)):
            return super().encode(value, context, owner)
        pairs = dict(encode_pairs(value, context))
        blocks: list[Any] = []
        for at, content in enumerate(value):
            if at in pairs:
                blocks.append(pairs[at])
            elif not is_half(content):
                blocks += self.union.encode_list([content], context)
        return blocks or None


def count_of(part: Any) -> int:
    """Return the number of contents of a part: two for a hosted tool, none for an anchor."""
    return 2 if pair_of(part) is not None else 0 if is_anchor(part) else 1


CONTENT = Content(PARTS)

# -- messages ----------------------------------------------------------------------------------------------------------


def _form_of_call(wire: dict[str, Any]) -> str | None:
    kind, arguments = wire.get("type"), wire.get("arguments")
    if kind == "custom":
        is_text = arguments.__class__ is dict and arguments.get("input").__class__ is str
        return kind if is_text else "custom.object"
    return "untyped" if kind is None else "function" if kind == "function" else None


_CALL: dict[str, Spec] = {"id": "call_id", "function": "name", "arguments": ("arguments", ArgumentsObject())}
_TEXT_CALL: dict[str, Spec] = {"id": "call_id", "function": "name", "arguments.input": "arguments"}
_NO_CALL = Filled({"id": "", "function": "", "arguments": {}})
CALLS = TABLE.union(
    "tool call",
    [
        row("function", FunctionCallContent, _CALL, _NO_CALL),
        Row("untyped", FunctionCallContent, _CALL, _NO_CALL),
        row("custom", CustomToolCallContent, _TEXT_CALL, Filled({"id": "", "function": "", "arguments.input": ""})),
        row("custom", FunctionCallContent, _CALL, _NO_CALL, form="object"),
    ],
    find=_form_of_call,
    prefer=lambda call, rows: rows[0],
)
_IN_CALLS = (FunctionCallContent, CustomToolCallContent)
_CONTENTS = Column(CONTENT, *(kind for kind in CONTENT_TYPES if kind not in _IN_CALLS))
ASSISTANT = TABLE.record(
    "assistant message",
    ChatMessage,
    {"id": "message_id"},
    Columns("contents", {"content": _CONTENTS, "tool_calls": Column(Blocks(CALLS), *_IN_CALLS)}),
    Implied({"role": "assistant"}),
    Filled({"content": ""}),
    constants={"role": "assistant"},
)
_ROLES = {"system": "system", "user": "user"}
ROLES = Roles(API, _ROLES, {**_ROLES, "developer": "system"}, elsewhere=("assistant", "tool"))
PLAIN = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", CONTENT), "id": "message_id"},
    Filled({"content": ""}),
)
_RESULT: dict[str, Spec] = {"tool_call_id": "call_id", "function": "name"}
_OUTPUT = Column(CONTENT, *CONTENT_TYPES)
_OUTPUT.spreads = False
RESULTS = TABLE.union(
    "result message",
    [
        Row(
            "result",
            FunctionResultContent,
            _RESULT,
            Columns("outputs", {"content": _OUTPUT}),
            Filled({"content": ""}),
            Silent("status"),
            constants={"role": "tool"},
        ),
        # Inspect sends the message of the error to the model instead of the content.
        Row(
            "failed",
            FunctionResultContent,
            {**_RESULT, "error.type": ("outcome", OUTCOME)},
            Columns(
                "outputs",
                {
                    "error.message": Column(NonEmptyText(TextContent, "text", between="\n"), TextContent, hinted=True),
                    "content": _OUTPUT,
                },
            ),
            Implied({"is_error": True}),
            Filled({"content": "", "error.type": "unknown", "error.message": ""}),
            Silent("status"),
            constants={"role": "tool"},
        ),
    ],
    find=lambda wire: "failed" if _has_failed(wire) else "result",
    prefer=lambda result, rows: rows[1] if result.is_error else rows[0],
)


def _has_failed(wire: Mapping[str, Any]) -> bool:
    error: Any = wire.get("error")
    return error.__class__ is dict and error.get("message").__class__ is str


def repeats_error(wire: Mapping[str, Any]) -> bool:
    """Return whether the content of a failed result repeats the message of its error. Some agents write that."""
    return _has_failed(wire) and wire["error"]["message"] == wire.get("content") != ""


RESULT_MESSAGE = ResultMessage(RESULTS, {"message_id": "id"})


class Messages(MessageList):
    """The list of messages."""

    tag = "role"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        origin = context.origin
        for index, wire in self.objects(value, context):
            if wire["role"] == "tool":
                messages.append(_decode_result(wire, value, index, context))
                continue
            layout = ASSISTANT if wire["role"] == "assistant" else PLAIN
            if layout is ASSISTANT and wire.get("model").__class__ is str:
                context.origin = Origin(api=API, issuer=issuer_of(wire["model"]), model=wire["model"])
            message = layout.decode(wire, context)
            message = with_signatures(message, wire, context) if layout is ASSISTANT else message
            context.origin = origin
            context.trace(layout, [message], value, index, spread=False)
            messages.append(message)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        return [wire for message in value for wire in _encode_message(message, context)]


def _decode_result(wire: dict[str, Any], wires: list[Any], index: int, context: DecodeContext) -> ChatMessage:
    repeats = repeats_error(wire)
    message = RESULT_MESSAGE.decode(wire, context, left_out=["content"] if repeats else ())
    [result] = message.contents
    if repeats and result.__class__ is FunctionResultContent:
        message.contents[0] = context.replaced(result, REPEATED.on(result, API, True))
    context.trace(RESULT_MESSAGE, [message], wires, index, spread=False)
    return message


def _encode_message(message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
    if not message.contents and not is_native(message, context):
        foreign.leave_empty(message, context)
        return []
    if message.role == "tool":
        return _encode_results(message, context)
    if message.role == "assistant":
        message, signatures = without_signatures(message, context)
        wire = ASSISTANT.encode(message, context)
        write_anchors(wire, message, signatures)
        model = None if is_native(message, context) else _model_of(message)
        return [wire if model is None else {**wire, "model": model}]
    if message.role == "developer":
        context.report_loss(message, "role", reasons.OTHER_VALUE, value="system")
    return [PLAIN.encode(message, context)]


def _encode_results(message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
    """Return a message for each result. The first one has the id of the ChatMessage."""
    wires = RESULT_MESSAGE.encode_message(message, context)
    for wire, result in zip(wires, message.contents, strict=False):
        if REPEATED.of(result, API) and _has_failed(wire) and "content" not in wire:
            wire["content"] = wire["error"]["message"]
    return wires


# -- steps -------------------------------------------------------------------------------------------------------------


def _model_of(message: ChatMessage) -> str | None:
    """Return the name of the model of another API's message, with its provider; None if the model is unknown."""
    origin = message.origin
    return None if origin is None or not origin.model else model_for(origin.issuer, origin.model)


def _issuer_of(message: ChatMessage, context: EncodeContext) -> str:
    """Return the issuer that the decoder will assign to the opaque state of a message."""
    is_own = is_native(message, context)
    model = (message.extra or {}).get(API, {}).get("model") if is_own else _model_of(message)
    issuer = issuer_of(model) if message.role == "assistant" and isinstance(model, str) else ""
    return issuer or (API if is_own else "")


def with_known_state(content: Any, context: EncodeContext) -> Any:
    """Return a content without the opaque state of another provider than that of the model of its message."""
    residue, is_reasoning = (content.extra or {}).get(API, {}), content.__class__ is ReasoningContent
    is_call = isinstance(content, ToolCallContent) and not is_signed(content)
    if not (is_reasoning or is_call) or hints.ROW.read(residue) == "reasoning.encrypted":
        return content
    sealed, issuer = content.protected, ""
    if is_reasoning:
        issuer = "openrouter" if is_of_openrouter(residue) else _issuer_of(context.message, context)
    if not issuer or sealed.issuer != issuer:
        is_all = is_reasoning and not content.text
        context.report_loss(content, None if is_all else "protected", reasons.OPAQUE_STATE, issuer=sealed.issuer)
        return [] if is_all else replace(content, protected=None)
    kind = kind_of_state(issuer, has_summary=sealed.kind != "redacted" or bool(content.text))
    kind = "signature" if hints.ROW.read(residue) == "reasoning" else kind
    if sealed.kind != kind:
        context.report_loss(content, "protected.kind", reasons.OTHER_VALUE, value=kind)
    return content


def with_error(result: Any, context: EncodeContext) -> Any:
    """Return a result with an outcome that the format has. A failed result has the message of an error."""
    is_custom = result.__class__ is CustomToolResultContent
    failed = bool(result.is_error) and (is_custom or result.__class__ is FunctionResultContent)
    changed = with_class(result, FunctionResultContent) if is_custom else result
    if result.is_error and not is_native(context.message, context):
        context.report_loss(result, "is_error", reasons.IN_STATE)
    if result.outcome is not None and not (failed and result.outcome in OUTCOMES.values()):
        usual = result.outcome == ("failed" if result.error is not None else "succeeded")
        reason = reasons.OUTCOME if result.error is not None else reasons.NO_FIELD
        context.report_loss(result, "outcome", reasons.USUAL_OUTCOME if usual else reason, value=result.outcome)
        changed = replace(changed, outcome=None)
    is_written = any(hints.COLUMN.of(output, API) == "message" for output in changed.outputs)
    if not failed or is_written or "error" in (changed.extra or {}).get(API, {}):
        return changed
    return each_output(changed, _as_message, context)


def _as_message(output: AIContent, context: EncodeContext) -> AIContent:
    return hints.COLUMN.on(output, API, "message") if output.__class__ is TextContent else output


def with_names_of_calls(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages with the name of its call in each result of another API that has no name."""
    names: dict[str | None, str | None] = {}
    named = []
    for message in messages:
        contents: list[Any] = []
        for content in message.contents:
            if isinstance(content, ToolCallContent):
                names[content.call_id] = content.name
            elif isinstance(content, ToolResultContent) and content.name is None and not is_native(message, context):
                name = names.get(content.call_id)
                content = content if name is None else replace(content, name=name)
            contents.append(content)
        named.append(with_contents(message, contents))
    return named


MESSAGES = Messages()
CONVERSATION = TABLE.record("sample", ChatRequest, {"messages": ("messages", MESSAGES)})
TABLE.keep("assistant message", "source", "metadata", "model")
TABLE.keep("message", "source", "metadata", "tool_call_id")
TABLE.keep("result", "source", "metadata")
TABLE.keep(
    "sample",
    *("id", "epoch", "input", "choices", "target", "description", "sandbox", "files", "setup", "output", "scores"),
    *("metadata", "store", "events", "timelines", "model_usage", "role_usage", "model_fallbacks", "started_at"),
    *("completed_at", "total_time", "working_time", "uuid", "invalidation", "error", "error_retries", "attachments"),
    *("events_data", "limit", "turn_count", "token_limit", "token_limit_type", "token_limit_usage", "message_limit"),
    "time_limit",
)
