"""Decode the bodies that front ends of other protocols send. Their contents get the same checks as the server's own.

The server stores the conversation. So only the last message of a body is read: contents of the user, or responses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.json import write
from contentmodel.server.request_models import MOST_FAULTS
from contentmodel.server.sent import ANSWERS, HERE, Rules, content_of, fault_of, is_id

Sent = tuple[str, dict[str, Any]]
"""The path of a value in the body, and the content for it in the form of the server's own bodies."""


class FrontEndRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a front end.

    `position` is the number of the user's messages in the body, 0 if it has none. If `again`, the last of them gets
    another answer; if `edits`, it replaces the stored one. `answered` is the id of the message that asks the questions
    or gets another answer. `run` is the client's id of the run.
    """

    conversation: str
    contents: list[AIContent] = []
    key: str | None = None
    position: int = 0
    again: bool = False
    edits: bool = False
    answered: str | None = None
    run: str = ""


class _Message(msgspec.Struct):
    """The parts of a message that are read. Only those of the last message are decoded further."""

    id: str = ""
    role: str = ""
    parts: msgspec.Raw = msgspec.Raw(b"[]")
    content: msgspec.Raw = msgspec.Raw(b'""')


# -- useChat of the Vercel AI SDK --------------------------------------------------------------------------------------


class _Chat(msgspec.Struct):
    id: str
    messages: list[_Message]
    trigger: str = "submit-message"
    message_id: str | None = msgspec.field(default=None, name="messageId")


NOTHING_ANSWERED = (
    "the assistant's message answers no question: send a message of the user, or respond to an approval request. "
    "Results of tools that run in the front end are not accepted"
)


def chat_of(data: bytes, rules: Rules) -> FrontEndRequest:
    """Decode the body of `useChat`. Raise DecodeError with the path of each fault."""
    body = _decoded(data, _Chat)
    _check_ids(rules, id=body.id, messageId=body.message_id)
    last, path = _last(body.messages)
    received = FrontEndRequest(conversation=body.id, position=sum(message.role == "user" for message in body.messages))
    replace = msgspec.structs.replace
    if body.trigger == "regenerate-message":
        return replace(received, again=True, answered=body.message_id)
    if body.trigger != "submit-message":
        _refuse("$.trigger", f"expected submit-message or regenerate-message, got {body.trigger[:100]!r}")
    parts = _decoded(last.parts, list[dict[str, Any]], f"{path}.parts")
    if last.role == "assistant":
        contents = _contents(_approvals(parts, f"{path}.parts"), rules, f"{path}.parts", NOTHING_ANSWERED)
        return replace(received, contents=contents, answered=last.id or None)
    if last.role != "user":
        _refuse(f"{path}.role", f"expected user or assistant, got {last.role[:100]!r}")
    contents = _contents(_sent_parts(parts, f"{path}.parts"), rules, f"{path}.parts", "expected a text or a file")
    key = last.id if 0 < len(last.id) <= rules.limits.key_length else None
    edits = body.message_id is not None
    return replace(received, contents=contents, key=None if edits else key, edits=edits)


def _approvals(parts: Sequence[dict[str, Any]], path: str) -> Iterator[Sent]:
    for index, part in enumerate(parts):
        approval = part.get("approval")
        if part.get("state") == "approval-responded" and isinstance(approval, dict):
            answer = {"request_id": approval.get("id"), "approved": approval.get("approved")}
            reason = {} if approval.get("reason") is None else {"reason": approval["reason"]}
            yield f"{path}[{index}].approval", {"type": "tool_approval_response", **answer, **reason}


def _sent_parts(parts: Sequence[dict[str, Any]], path: str) -> Iterator[Sent]:
    for index, part in enumerate(parts):
        place = f"{path}[{index}]"
        if part.get("type") == "text":
            # A message with files has an empty text if the user wrote none.
            if part.get("text") != "":
                yield place, {"type": "text", "text": part.get("text")}
        elif part.get("type") == "file":
            yield place, _medium(part.get("url"), part.get("mediaType"), part.get("filename"), place)
        else:
            _refuse(f"{place}.type", f"expected text or file, got {str(part.get('type'))[:100]!r}")


# -- AG-UI -------------------------------------------------------------------------------------------------------------


class _Run(msgspec.Struct):
    threadId: str  # noqa: N815 - the names of the protocol
    runId: str  # noqa: N815
    messages: list[_Message] = []
    tools: list[msgspec.Raw] | None = None
    context: list[msgspec.Raw] | None = None
    resume: list[dict[str, Any]] | None = None


def run_of(data: bytes, rules: Rules) -> FrontEndRequest:
    """Decode the input of an AG-UI run. Raise DecodeError with the path of each fault."""
    body = _decoded(data, _Run)
    _check_ids(rules, threadId=body.threadId, runId=body.runId)
    if body.tools:
        _refuse("$.tools", "tools that run in the front end are not supported: declare tools in the server's runner")
    if body.context:
        _refuse("$.context", "the server sets the context of its model: send a message instead")
    received = FrontEndRequest(conversation=body.threadId, run=body.runId)
    replace = msgspec.structs.replace
    if body.resume:
        return replace(received, contents=_contents(_resumed(body.resume), rules, "$.resume", "expected answers"))
    last, path = _last(body.messages)
    if last.role != "user":
        _refuse(f"{path}.role", f"expected a message of the user at the end, got one of {last.role[:100]!r}")
    place = f"{path}.content"
    content = _decoded(last.content, str | list[dict[str, Any]], place)
    whole = [(place, {"type": "text", "text": content})]
    sent = whole if isinstance(content, str) else _inputs(content, place)
    contents = _contents(sent, rules, place, "expected a text")
    key = last.id if 0 < len(last.id) <= rules.limits.key_length else None
    return replace(received, contents=contents, key=key)


def _resumed(entries: Sequence[dict[str, Any]]) -> Iterator[Sent]:
    for index, entry in enumerate(entries):
        payload, name = entry.get("payload"), {"request_id": entry.get("interruptId")}
        path = f"$.resume[{index}]"
        details = payload if isinstance(payload, dict) else {}
        if entry.get("status") == "cancelled" or isinstance(payload, bool) or "approved" in details:
            approved = entry.get("status") != "cancelled" and (payload is True or details.get("approved") is True)
            reason = {"reason": details["reason"]} if isinstance(details.get("reason"), str) else {}
            yield path, {"type": "tool_approval_response", **name, "approved": approved, **reason}
        else:
            yield path, {"type": "input_response", **name, "value": payload}


def _inputs(parts: Any, path: str) -> Iterator[Sent]:
    for index, part in enumerate(parts):
        place, source = f"{path}[{index}]", part.get("source")
        if part.get("type") == "text":
            yield place, {"type": "text", "text": part.get("text")}
        elif isinstance(source, dict) and source.get("type") in ("data", "url"):
            value, media_type = source.get("value"), source.get("mimeType")
            if source["type"] == "data":
                yield place, {"type": "data", "data": value, "media_type": media_type}
            else:
                yield place, _link(value, media_type, None, part.get("type"))
        else:
            _refuse(place, "expected a text, or a medium with data or a link as its source")


# -- both --------------------------------------------------------------------------------------------------------------


def _medium(url: Any, media_type: Any, name: Any, path: str) -> dict[str, Any]:
    """Return a file of a data URL, or a link."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return _link(url, media_type, name, None)
    head, _, data = url.partition(",")
    if not head.endswith(";base64"):
        _refuse(f"{path}.url", "expected a data URL with base64")
    named = {} if name is None else {"name": name}
    type_of_data = head.removeprefix("data:").removesuffix(";base64")
    return {"type": "data", "data": data, "media_type": type_of_data or media_type, **named}


def _link(url: Any, media_type: Any, name: Any, kind: Any) -> dict[str, Any]:
    # The AI SDK names a kind alone, "image", if it has no media type.
    is_kind = isinstance(media_type, str) and "/" not in media_type
    fields = {"media_type": None if is_kind else media_type, "name": name, "kind": media_type if is_kind else kind}
    return {"type": "uri", "uri": url, **{key: value for key, value in fields.items() if value is not None}}


def _contents(sent: Iterable[Sent], rules: Rules, path: str, missing: str) -> list[AIContent]:
    """Return the contents, after the checks of the server's own bodies. Raise DecodeError if there are none."""
    contents: list[AIContent] = []
    faults: list[Fault] = []
    for place, value in sent:
        try:
            contents.append(content_of(msgspec.Raw(write(value)), place, rules))
        except DecodeError as error:
            faults += [Fault(_named(fault.path), fault.message) for fault in error.faults]
        if len(contents) + len(faults) > rules.limits.contents:
            _refuse(path, f"expected at most {rules.limits.contents} contents")
    if faults:
        raise DecodeError(HERE, faults[:MOST_FAULTS])
    if not contents:
        _refuse(path, missing)
    answered = [content.request_id for content in contents if isinstance(content, ANSWERS)]
    if len(answered) != len(set(answered)):
        _refuse(path, "two answers to the same question")
    return contents


def _named(path: str) -> str:
    """Return the path of a fault with the name that the field has in the body."""
    place, _, field = path.rpartition(".")
    names = next((names for part, names in _NAMES if part in place), _OF_PARTS)
    return f"{place}.{names.get(field, field)}"


_OF_PARTS = {"uri": "url", "data": "url", "media_type": "mediaType", "name": "filename"}
_NAMES = (
    ("$.resume[", {"request_id": "interruptId", "value": "payload"}),
    (".approval", {"request_id": "id"}),
    (".content", {"uri": "source.value", "data": "source.value", "media_type": "source.mimeType"}),
)
"""The names of fields in bodies, by a part of the path of the value."""


def _last(messages: Sequence[_Message]) -> tuple[_Message, str]:
    if not messages:
        _refuse("$.messages", "expected at least one message")
    return messages[-1], f"$.messages[{len(messages) - 1}]"


def _check_ids(rules: Rules, **ids: str | None) -> None:
    for name, value in ids.items():
        if value is not None and not is_id(value, rules.limits.id_length):
            _refuse(f"$.{name}", f"expected 1 to {rules.limits.id_length} printable characters without blanks")


def _decoded(data: bytes | msgspec.Raw, kind: Any, path: str = "$") -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DecodeError(HERE, [fault_of(error, path)]) from None


def _refuse(path: str, message: str) -> NoReturn:
    raise DecodeError(HERE, [Fault(path, message)])
