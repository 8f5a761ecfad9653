"""Requests and responses: how their parts become messages of the model, and messages become requests again.

A response is one message of the assistant. A request is one message for each of its parts, because each part has a role
and a time. The first message of a request keeps its other fields. When encoding, messages between two responses become
one request.

`instructions` are those of one request to the model, and a model gets those of the last request. So the instructions of
the last request that has some are `ChatRequest.instructions`; earlier ones stay in the residue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    OF_MESSAGES,
    DecodeContext,
    EncodeContext,
    Hint,
    MessageList,
    Silent,
    TextField,
    escaped,
    foreign,
    hints,
    is_native,
    reasons,
    runs,
    wire_fields,
)
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import CompactionContent, UnknownContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.reasoning import maker_of
from contentmodel_adapters.frameworks.pydantic_ai.blocks import (
    OLDER_RESPONSE,
    REQUEST_PARTS,
    RESPONSE,
    SHELL,
    TABLE,
    TOLD,
    USER_PROMPT,
    is_older,
)
from contentmodel_adapters.frameworks.pydantic_ai.values import API, BEDROCK, issuer_of

REQUEST = Hint[dict[str, Any]](
    API, "request", "the other fields of a request, on the message of its first part", fields=True
)
EMPTY = Hint[Literal[True]](API, "empty", "a request has no parts")
INSTRUCTED = Hint[Literal[True]](API, "instructed", "the request has the instructions of the conversation")
WHOLE = Hint[Literal[True]](API, "message", "the unknown content is a whole message, not a part of one")
SPOKEN = Hint[Literal[True]](API, "spoken", "the content is a separate part, although user prompts may contain it")
_RESULTS = ("tool-return", "retry-prompt")
_OF_USER = ("user-prompt", "retry-feedback", "retry-prompt", "speech", "compaction")
_MOCK = ("tool-return", "retry-feedback", "retry-prompt")
"""The parts of a request without instructions of its own: it has those of the request before it."""
_TEXT = TextField(TextContent, "text", between="\n\n")


def instructed_request(wires: list[Any]) -> int | None:
    """Return the index of the request with the instructions that a model would get; None if there are none.

    Source: `_instruction_parts_of` in pydantic_ai/models/__init__.py.
    """
    requests = [at for at, wire in enumerate(wires) if wire.__class__ is dict and wire.get("kind") == "request"][-2:]
    for at in reversed(requests):
        if wires[at].get("instructions").__class__ is str:
            return at if wires[at]["instructions"] else None
        parts = wires[at].get("parts")
        if parts.__class__ is not list or not all(p.__class__ is dict and p.get("part_kind") in _MOCK for p in parts):
            return None
    return None


class Messages(MessageList):
    """The list of requests and responses."""

    # -- decoding ------------------------------------------------------------------------------------------------------

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        instructed, before = instructed_request(value), None
        for index, wire in self.objects(value, context):
            kind = wire.get("kind")
            if kind.__class__ is not str:
                context.fault(wire, "kind", 'missing string: the kind of this message, "request" or "response"')
            elif kind in ("request", "response") and wire.get("parts").__class__ is not list:
                context.expected(wire, "parts", "an array of parts", wire.get("parts"))
            elif kind == "response":
                messages.append(self._response(wire, value, index, context))
            elif kind == "request":
                run = list(_of_request(wire, context)) or [_empty(wire, context)]
                run[0] = context.replaced(run[0], _with_fields(run[0], wire, before == "request", instructed == index))
                messages += run
            else:
                content = WHOLE.on(UnknownContent(api=API, block=wire), API, True)
                messages.append(_message(f"{API}:{kind}", [content], context))
                context.trace(None, messages[-1:], value, index, spread=False)
                context.trace(None, [content], value, index, spread=False)
            before = kind
        return messages

    def _response(self, wire: dict[str, Any], wires: list[Any], index: int, context: DecodeContext) -> ChatMessage:
        layout = OLDER_RESPONSE if is_older(wire, {"vendor_id": "provider_response_id"}) else RESPONSE
        message: ChatMessage = layout.decode(wire, context)
        if layout is OLDER_RESPONSE:
            message = context.replaced(message, hints.ROW.on(message, API, layout.name))
        model = wire.get("model_name")
        origin = Origin(
            api=API, issuer=issuer_of(wire.get("provider_name")), model=model if isinstance(model, str) else None
        )
        contents = [_with_maker(content, origin, context) for content in message.contents]
        message = msgspec.structs.replace(message, origin=origin, contents=contents)
        context.trace(layout, [message], wires, index, spread=False)
        return message

    # -- encoding ------------------------------------------------------------------------------------------------------

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires: list[dict[str, Any]] = []
        request: dict[str, Any] | None = None
        requests: list[dict[str, Any]] = []
        instructed: list[dict[str, Any]] = []
        for message in value:
            is_own = is_native(message, context)
            whole = _whole_block(message) if is_own else None
            if not message.contents and not is_own:
                foreign.leave_empty(message, context)
            elif message.role == "assistant" or whole is not None:
                wires.append(_response_of(message, context) if whole is None else whole)
                request = None
            else:
                fields = REQUEST.of(message, API)
                if request is None or fields is not None:
                    request = {"parts": [], **wire_fields(fields or {}), "kind": "request"}
                    wires.append(request)
                    requests.append(request)
                    instructed += [request] if not is_own or INSTRUCTED.of(message, API) else []
                request["parts"] += _parts_of(message, context)
        if owner.instructions:
            holders = instructed or requests
            starts_with_answer = bool(wires) and wires[0].get("kind") == "response" and not is_native(value[0], context)
            if starts_with_answer or not holders:
                holders = [{"parts": [], "kind": "request"}, *holders]
                wires.insert(0, holders[0])
            text = instructions_of(owner, context)
            for wire in holders:
                if wire.get("instructions") is None:
                    wire["instructions"] = text
        return wires

    def describe(self) -> str:
        return "list of request or response"


def _with_maker(content: Any, origin: Origin, context: DecodeContext) -> Any:
    """Return a content with the maker of the model as the issuer of its state, if Bedrock passed the state on."""
    state, maker = content.protected, maker_of(origin.model)
    if state is None or state.issuer != BEDROCK or maker is None:
        return content
    return context.replace(content, protected=msgspec.structs.replace(state, issuer=maker))


def _whole_block(message: ChatMessage) -> dict[str, Any] | None:
    """Return the wire object of a message that is neither a request nor a response; None for other messages."""
    first = message.contents[0] if message.contents else None
    if not isinstance(first, UnknownContent) or first.api != API or not WHOLE.of(first, API):
        return None
    block: dict[str, Any] = first.block
    return block


def without_records(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message without the fields that only responses have, if it is none. Report them as lost."""
    is_written = bool(message.contents) or is_native(message, context)
    allowed = OF_MESSAGES if is_written and message.role == "assistant" else ("created",) if is_written else ()
    lost = [name for name in OF_MESSAGES if name not in allowed and getattr(message, name) is not None]
    context.report_records(message, allowed)
    return msgspec.structs.replace(message, **dict.fromkeys(lost)) if lost else message


def instructions_of(request: ChatRequest, context: EncodeContext) -> str | None:
    """Return the text of a conversation's instructions. Other contents are reported as lost."""
    return _TEXT.encode(request.instructions, context, request)


def _message(role: str, contents: list[AIContent], context: DecodeContext) -> ChatMessage:
    return ChatMessage(role=role, contents=contents, origin=context.origin)


def _empty(wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    message = EMPTY.on(_message("user", [], context), API, True)
    context.trace(None, [message], wire, "parts", spread=False)
    return message


def _with_fields(message: ChatMessage, wire: dict[str, Any], follows_request: bool, is_instructed: bool) -> ChatMessage:
    """Return the first message of a request, with the other fields of the request."""
    left_out = ("parts", "kind", "instructions") if is_instructed else ("parts", "kind")
    fields = {key: value for key, value in wire.items() if key not in left_out}
    if fields or follows_request:
        message = REQUEST.on(message, API, escaped(fields))
    return INSTRUCTED.on(message, API, True) if is_instructed else message


def _of_request(wire: dict[str, Any], context: DecodeContext) -> Iterator[ChatMessage]:
    parts = wire["parts"]
    for index, part in enumerate(parts):
        if part.__class__ is not dict:
            context.expected(parts, index, "an object: a part of the request", part)
        elif part.get("part_kind").__class__ is not str:
            context.fault(part, "part_kind", "missing string: the kind of this part")
        elif part["part_kind"] == "user-prompt":
            message = _with_issuer(USER_PROMPT.decode(part, context), part)
            context.trace(USER_PROMPT, [message], parts, index, spread=False)
            yield message
        else:
            yield _single(part, parts, index, context)


def _with_issuer(message: ChatMessage, part: dict[str, Any]) -> ChatMessage:
    """Return a message with the provider of its uploaded files as issuer: their ids are valid for it only."""
    content = part.get("content")
    for item in content if content.__class__ is list else (content,):
        if item.__class__ is dict and item.get("kind") == "uploaded-file":
            origin = Origin(api=API, issuer=issuer_of(item.get("provider_name")))
            return msgspec.structs.replace(message, origin=origin)
    return message


def _single(part: dict[str, Any], parts: list[Any], index: int, context: DecodeContext) -> ChatMessage:
    """Decode a part with one content. The message has its time."""
    fields, shell = context.without(part, ["timestamp"]), context.only(part, ["timestamp"])
    content = REQUEST_PARTS.decode(fields, context)
    if content.__class__ is UnknownContent:
        content, shell = UnknownContent(api=API, block=part), {}
    kind = part["part_kind"]
    is_result = kind in _RESULTS and part.get("tool_name").__class__ is str
    role = "tool" if is_result else "user" if kind in _OF_USER else "system"
    if role == "user" and content.__class__ is not CompactionContent:
        content = SPOKEN.on(content, API, True)
    message: ChatMessage = msgspec.structs.replace(SHELL.decode(shell, context), role=role, contents=[content])
    message = _with_issuer(message, part) if is_result else message
    context.trace(SHELL, [message], parts, index, spread=False)
    context.trace(REQUEST_PARTS, [content], parts, index, spread=False)
    return message


def _response_of(message: ChatMessage, context: EncodeContext) -> dict[str, Any]:
    layout = OLDER_RESPONSE if hints.ROW.of(message, API) == OLDER_RESPONSE.name else RESPONSE
    wire = layout.encode(message, context)
    if wire.get("parts") is None:
        # All contents are dropped.
        wire["parts"] = []
    origin = message.origin
    if origin is not None and origin.is_answer and not is_native(message, context):
        wire.update({"model_name": origin.model} if origin.model is not None else {})
        wire.update({"provider_name": origin.issuer} if origin.issuer else {})
    return wire


def _parts_of(message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
    """Return the parts of a message of a request."""
    if EMPTY.of(message, API) and not message.contents:
        return []
    if message.role == "developer":
        context.report_loss(message, "role", reasons.OTHER_VALUE, value="system")
    takes_all = message.role in ("system", "developer", "tool")
    parts: list[dict[str, Any]] = []
    for contents, is_single in runs(message.contents, lambda content: takes_all or _is_part(content)):
        if is_single:
            shell = SHELL.encode(context.with_contents(message, contents), context) if not parts else _time_of(parts)
            parts += [{**wire, **shell} for wire in REQUEST_PARTS.encode_list(contents, context)]
        else:
            parts.append(USER_PROMPT.encode(context.with_contents(message, contents), context))
    return parts if message.contents else [USER_PROMPT.encode(message, context)]


def _time_of(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"timestamp": parts[0]["timestamp"]} if "timestamp" in parts[0] else {}


def _is_part(content: AIContent) -> bool:
    """Return whether a content of a user message is a part of its own."""
    if SPOKEN.of(content, API):
        row = hints.ROW.of(content, API)
        return row is None or row in TOLD
    return content.__class__ is CompactionContent


MESSAGES = Messages()
CONVERSATION = TABLE.record(
    "conversation",
    ChatRequest,
    {"messages": ("messages", MESSAGES)},
    # The codec of the messages writes the instructions.
    Silent("instructions"),
)
TABLE.keep("request", "instructions", "timestamp", "run_id", "conversation_id", "metadata", "state")
