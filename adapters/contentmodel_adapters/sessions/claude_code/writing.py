"""Write the lines of a session of Claude Code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contentmodel.authoring import EncodeContext, reasons
from contentmodel.content.tools import ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.sessions.claude_code.blocks import API, COMMON, INNER, SHAPE, VERSION, text_path, with_value
from contentmodel_adapters.sessions.claude_code.reading import OUTCOMES, ending_of
from contentmodel_adapters.sessions.lines import (
    HEAD_LINE,
    ORDER,
    Group,
    first_time,
    iso_time,
    made_id,
    order_of,
    session_id,
)
from contentmodel_adapters.sessions.reading import LINE
from contentmodel_adapters.sessions.writing import Written, nulls_of, with_current

_MOST_VALUES, _LONGEST_VALUE = 3, 200
"""The number of values of a message in the ids of its lines. The number of the line makes the ids unique."""


class Writing:
    """The state of writing one file."""

    def __init__(self, request: ChatRequest, context: EncodeContext) -> None:
        self._request, self._context = request, context
        self._order = order_of(request, API)
        self._results = _results(request) if context.native else {}
        self._rendered: dict[int, dict[int, Any]] = {}
        self._fields: dict[str, Any] = {
            "isSidechain": False,
            "userType": "external",
            "cwd": context.policies.get("directory", "/"),
            "sessionId": session_id(request, context),
            "version": VERSION,
            "gitBranch": "",
        }
        self._time = first_time(request.messages)
        self._count = 0
        self._last: str | None = None
        self._tail: tuple[int | None, str | None] = None, None
        self._is_first_group = True
        self._answered: ChatMessage | None = None
        self._valued: ChatMessage | None = None
        self._values: list[str | None] = []
        self._response_ids: dict[str, None] = {}
        self._response_id = ""

    # -- messages ------------------------------------------------------------------------------------------------------

    def group(self, written: list[Written]) -> list[tuple[int | None, Any]]:
        """Return the lines of a conversation, each with the index of the line that it was read from, if any."""
        lines: list[tuple[int | None, Any]] = []
        self._last, before, previous = None, None, None
        # Each line of an answer repeats its fields. The message has those of the last line.
        lasts = {id(item.message): item for item in written if item.wire["role"] == "assistant"}
        edits = {key: self._edits_of(item) for key, item in lasts.items()}
        for item in written:
            source = item.source
            if source is not None and source.at is not None:
                self._rendered.setdefault(source.line, {})[source.at] = {"content": item.wire["content"]}
                before = source.line
                continue
            if source is None and item.wire["role"] not in ("user", "assistant"):
                if item.message is not None:
                    self._context.report_loss(item.message, None, reasons.AGENT_INSTRUCTIONS)
                continue
            is_first = item.message is not previous
            previous = item.message
            at = None if source is None else source.line
            line = self._new_line(item) if source is None else self._old_line(item, is_first)
            for name, value in edits.get(id(item.message), {}).items() if source is not None else ():
                if name in line["message"]:
                    line["message"][name] = value
            if source is not None and self._order.get(at) != before:
                line["parentUuid"] = self._last
            self._last, before = line.get("uuid"), at
            lines.append((at, line))
        if self._is_first_group:
            self._tail = before, self._last
            self._is_first_group = False
        return lines

    def _edits_of(self, item: Written) -> dict[str, Any]:
        """Return the changed fields of an answer that was read."""
        message, source = item.message, item.source
        if message is None or source is None:
            return {}
        fields = {key[8:]: value for key, value in source.envelope.items() if key.startswith("message.")}
        ending, edits = ending_of(fields), dict[str, Any]()
        if ending is None:
            return {}
        if message.response_id is not None and message.response_id != fields.get("id"):
            edits["id"] = message.response_id
        written = self._ending(message) if ending != (message.usage, message.finish_reason) else {}
        if message.usage != ending[0]:
            edits["usage"] = written.get("usage")
        if message.finish_reason != ending[1]:
            edits |= {name: written[name] for name in ("stop_reason", "stop_sequence")}
        for name, field in (("id", "response_id"), ("usage", "usage"), ("stop_reason", "finish_reason")):
            if name in edits and name not in fields:
                self._context.report_loss(message, field, reasons.MESSAGE_RECORD)
        return edits

    def _old_line(self, item: Written, is_first: bool) -> dict[str, Any]:
        """Return the line of a message that was read from this format, with the current values of the message."""
        assert item.source is not None
        envelope, wire = item.source.envelope, item.wire
        line = _with_fields(_with_fields(envelope, "message"), "attachment")
        path = text_path(line, (type(None),))
        if path is not None:
            line = with_value(line, path, wire["content"])
        elif line.get("type") == "attachment":
            line["rendered"] = [{"content": wire["content"]}]
        else:
            message = line.get("message")
            line["message"] = {
                **(message if isinstance(message, dict) else {}),
                "role": wire["role"],
                "content": wire["content"],
            }
        if "toolUseResult" in line and line["toolUseResult"] is None:
            artifacts = [result.artifact for result in self._results.get(item.source.line, ())]
            line["toolUseResult"] = next((artifact for artifact in artifacts if artifact is not None), None)
        if is_first and item.message is not None and item.message.created is not None and "timestamp" in line:
            line["timestamp"] = item.message.created
        self._write_result(line, self._results.get(item.source.line, []))
        self._time = line.get("timestamp", self._time)
        self._fields.update({key: line[key] for key in COMMON if key in line})
        return line

    def _write_result(self, line: dict[str, Any], results: list[ToolResultContent]) -> None:
        """Write the outcome of the only result of a line if it changed. Report values that the line cannot have."""
        if len(results) != 1:
            for result in results:
                self._context.report_lost_attributes(result, ("artifact", "outcome"))
            return
        (result,) = results
        if "toolUseResult" not in line:
            self._context.report_lost_attributes(result, ("artifact",))
        if result.outcome == OUTCOMES.get(str(line.get("toolDenialKind"))):
            return
        kinds = [kind for kind, name in OUTCOMES.items() if name == result.outcome]
        if result.outcome is None:
            del line["toolDenialKind"]
        elif kinds:
            line["toolDenialKind"] = kinds[0]
        else:
            self._context.report_loss(result, "outcome", reasons.NO_FIELD)

    def _new_line(self, item: Written) -> dict[str, Any]:
        """Return the line of a new message. Claude Code resumes a session with these fields (seen with 2.1.330)."""
        self._count += 1
        message, role = item.message, item.wire["role"]
        if message is not None and message.created is not None:
            self._time = iso_time(message.created)
        if self._time is None:
            self._context.report_loss(self._request, None, reasons.UNKNOWN_TIME)
            self._time = iso_time(0)
        wire = dict(item.wire) if message is None or role == "user" else self._answer(item.wire, message)
        return {
            "parentUuid": self._last,
            **self._fields,
            "type": role,
            "message": wire,
            "uuid": made_id(self._fields["sessionId"], self._last, self._count, role, self._values_of(message)),
            "timestamp": self._time,
        }

    def _values_of(self, message: ChatMessage | None) -> list[str | None]:
        """Return values that are different for messages after the same line, and do not depend on the source format."""
        if message is not self._valued:
            self._valued = message
            contents = () if message is None else message.contents
            ids = (getattr(content, "call_id", None) for content in contents)
            text = "" if message is None else message.text
            self._values = [text if len(text) <= _LONGEST_VALUE else made_id(text), *ids]
        return self._values[:_MOST_VALUES]

    def _answer(self, wire: dict[str, Any], message: ChatMessage) -> dict[str, Any]:
        """Return a new answer with the fields of its response."""
        content = wire.get("content", [])
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        origin = message.origin
        model = self._context.model or (origin.model if origin is not None else None) or self._request.model or ""
        response_id = self._id_of_response(message)
        fields: dict[str, Any] = {"id": response_id, "type": "message", "role": "assistant", "model": model}
        return {**fields, **wire, "content": blocks, **self._ending(message)}

    def _id_of_response(self, message: ChatMessage) -> str:
        """Return the id of a message's answer. Lines with one id are one answer, so two answers have two ids."""
        if message is not self._answered:
            self._answered = message
            named = message.response_id
            is_free = named is not None and named not in self._response_ids
            new_id = f"msg_{made_id(self._fields['sessionId'], self._last)}"
            if named is not None and not is_free:
                self._context.report_loss(message, "response_id", reasons.MESSAGE_RECORD)
            self._response_id = named if is_free and named is not None else new_id
            self._response_ids[self._response_id] = None
        return self._response_id

    def _ending(self, message: ChatMessage) -> dict[str, Any]:
        """Return the finish reason and the token counts of an answer."""
        ending: dict[str, Any] = {"stop_reason": None, "stop_sequence": None}
        if message.usage is None and message.finish_reason is None:
            return ending
        choice = ChatChoice(messages=[], finish_reason=message.finish_reason)
        response = ChatResponse(choices=[choice], usage=message.usage)
        payload = INNER.encode_answer(response, self._context)
        return {key: payload.get(key, value) for key, value in {**ending, "usage": None}.items()}

    # -- other lines ---------------------------------------------------------------------------------------------------

    def completed(self, kept: Sequence[tuple[int, Any]], groups: Sequence[Group]) -> list[tuple[int, Any]]:
        """Return the kept lines with the current texts of attachments, and the id of the last message."""
        written = (line for group in groups for _, line in group)
        models = [line.get("message", {}).get("model") for line in written if line.get("type") == "assistant"]
        if self._request.model is not None and self._request.model not in models:
            self._context.report_loss(self._request, "model", reasons.NO_FIELD)
        head_line, read = HEAD_LINE.of(self._request, API), {*(ORDER.of(self._request, API) or ())}
        lines = []
        for index, line in kept:
            if index in read and line.get("type") == "attachment":
                texts, rendered = self._rendered.get(index, {}), line.get("rendered")
                rendered = rendered if rendered.__class__ is list else [None] * (max(texts, default=-1) + 1)
                line = {**line, "rendered": with_current(rendered, texts, nulls_of(self._request, API, index))}
            lines.append((index, self._with_shape(line) if index == head_line else line))
        at, tail = self._tail
        if tail is not None and (at is None or at != self._order.get(None)):
            for number, (index, line) in reversed([*enumerate(lines)]):
                if line.__class__ is dict and line.get("type") == "last-prompt":
                    lines[number] = index, {**line, "leafUuid": tail}
                    break
        return lines

    def _with_shape(self, line: dict[str, Any]) -> dict[str, Any]:
        """Return the line of a model request with the instructions and tools of the model."""
        request = self._request
        residue = (request.extra or {}).get(INNER.api)
        extra = None if residue is None else {INNER.api: residue}
        changes: dict[str, Any] = {"messages": [], "branches": [], "options": ChatOptions(), "extra": extra}
        payload = INNER.encode(self._context.replace(request, **changes), self._context)
        written = {name: payload[name] for name in SHAPE if name in payload}
        removed = {name for name in SHAPE if line["shape"].get(name) == [] and name not in written}
        shape = {name: value for name, value in line["shape"].items() if name not in removed}
        return {**line, "shape": {**shape, **written}}


def _with_fields(envelope: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the fields of a line with the object `name` in place of its fields, which have the keys `name.FIELD`."""
    inside = {key: value for key, value in envelope.items() if key.startswith(f"{name}.")}
    if not inside:
        return envelope
    line = {key: value for key, value in envelope.items() if key not in inside}
    return {**line, name: {key[len(name) + 1 :]: value for key, value in inside.items()}}


def _results(request: ChatRequest) -> dict[int | None, list[ToolResultContent]]:
    """Return the results that were read from each line, by its index."""
    results: dict[int | None, list[ToolResultContent]] = {}
    for messages in (request.messages, *(branch.messages for branch in request.branches)):
        line = None
        for message in messages:
            line = LINE.of(message, API) if message.extra else line
            for content in message.contents:
                if isinstance(content, ToolResultContent):
                    result_line = LINE.of(content, API) if content.extra else None
                    results.setdefault(line if result_line is None else result_line, []).append(content)
    return results
