"""The adapter of Codex rollouts: the files of sessions of the Codex CLI, JSON Lines with items of the Responses API.

The history of a session is its lines of the type `response_item`. A line `compacted` replaces it by its items, or by
the prompts and its summary: the other items before it become a branch. The other lines are kept. Observed with
@openai/codex 0.169.0 on 2026-11-23; `codex app-server generate-json-schema` writes the schema of the items.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from contentmodel.authoring import TOKEN, EncodeContext, Inner, TextField, reasons
from contentmodel.content.text import TextContent
from contentmodel.message import Branch, ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.sessions.adapter import SessionAdapter
from contentmodel_adapters.sessions.codex.blocks import (
    AGENT_MESSAGE,
    API,
    CLI_VERSION,
    COMMUNICATION,
    ITEMS,
    NOTICES,
    OF_PROGRAM,
    ORIGINATOR,
    PARTS,
    PASSTHROUGH,
    RECORDS,
)
from contentmodel_adapters.sessions.codex.reading import AGENTS, OTHER, Reading, has_slot, is_header
from contentmodel_adapters.sessions.codex.rules import RULES
from contentmodel_adapters.sessions.lines import (
    arranged,
    first_time,
    is_new,
    iso_time,
    kept_as,
    kept_lines,
    session_id,
)
from contentmodel_adapters.sessions.reading import UNREADABLE, Place, Session
from contentmodel_adapters.sessions.writing import Writer, Written, nulls_of, with_current

_TEXT = TextField(TextContent, "text", between="\n\n")


class CodexRollout(SessionAdapter):
    """The adapter of Codex rollouts."""

    api = API
    issuer = "openai"
    rules = RULES
    inner = Inner("openai-responses", "input")
    has_instructions = True
    records = frozenset({"created"})
    meaningless = RECORDS

    def recognises_list(self, items: list[Any]) -> float:
        """Return how likely the lines are a rollout, from 0 to 1."""
        typed = [item for item in items if item.__class__ is dict and item.get("payload").__class__ is dict]
        if any(item.get("type") == "session_meta" for item in typed):
            return 0.99
        if items and is_header(items[0]) and all("payload" not in item for item in items if item.__class__ is dict):
            return 0.9
        return 0.9 if any(item.get("type") == "response_item" and "timestamp" in item for item in typed) else 0.0

    def is_of_program(self, kind: str, line: Any) -> bool:
        """Return whether a line has settings, states or notices of the program."""
        payload = line.get("payload") if line.__class__ is dict else None
        event = payload.get("type") if payload.__class__ is dict else None
        return kind in OF_PROGRAM or (kind == "event_msg" and isinstance(event, str) and event in NOTICES)

    def is_repeated(self, line: Any, said: set[str]) -> bool:
        """Return whether the texts of an event are in the history, or the call that it is about."""
        payload = line.get("payload") if line.__class__ is dict else None
        for value in (payload, payload.get("item")) if payload.__class__ is dict else ():
            names = (value.get("call_id"), value.get("id")) if value.__class__ is dict else ()
            if any(isinstance(name, str) and name in said for name in names):
                return True
        return super().is_repeated(line, said)

    def read(self, lines: list[Any], unreadable: Collection[Place]) -> Session:
        """Return the items of the history, and the items that were removed from it as branches."""
        return Reading(lines, unreadable).session

    def line_objects(self, entry: dict[str, Any], writer: Writer) -> list[dict[str, Any]]:
        """Adapt a new item to Codex, which skips items of unknown types, and items that have parts of unknown types."""
        kind = "message" if entry.get("type") is None else entry["type"]
        if writer.line_of(entry) is not None:
            return [entry]
        if not isinstance(kind, str) or kind not in ITEMS:
            writer.report_loss(entry, reasons.NO_FIELD)
            return []
        field = "content" if kind == "message" else "output"
        parts = entry.get(field)
        if kind == "message" and isinstance(parts, str):
            parts = [{"type": _text_type(entry), "text": parts}]
        if parts.__class__ is not list:
            return [entry]
        fitting = [part for part in (_fitting_part(part, entry, writer) for part in parts) if part is not None]
        written = {**entry, "type": kind, field: fitting}
        if entry.get("role") == "assistant":
            written = {"id": writer.new_id("msg"), "status": "completed", **written}
        if fitting or kind != "message":
            return [written]
        for name in entry:
            if name not in ("type", "role", field, TOKEN):
                writer.report_field(entry, name)
        return []

    def write(
        self, request: ChatRequest, parts: Sequence[tuple[Branch | None, list[Written]]], context: EncodeContext
    ) -> list[Any]:
        """Return the lines of a rollout."""
        old_lines = kept_lines(request, self.api) if context.native else []
        header = [_new_header(request, context)] if is_new(request, self.api) else []
        # Nulls in the lines of these entries are of the file.
        whole = kept_as(request, self.api, OTHER, UNREADABLE)
        slots = {index: line["type"] for index, line in old_lines if index not in whole and has_slot(line)}
        if request.model is not None and "turn_context" not in slots.values():
            context.report_loss(request, "model", reasons.NO_FIELD)
        if context.native and not header and "session_meta" not in slots.values():
            self.report_instructions(request, context)
        groups: list[list[tuple[int | None, Any]]] = []
        replacements: dict[int, dict[int, Any]] = {}
        for _, written in parts:
            groups.append([])
            previous: ChatMessage | None = None
            for item in written:
                source = item.source
                if source is not None and source.at is not None:
                    replacements.setdefault(source.line, {})[source.at] = _item_of(item)
                else:
                    line = _line_of(item, item.message is not previous)
                    groups[-1].append((None if source is None else source.line, line))
                message = item.message
                if (
                    (message is not None and message.created is not None and source is None)
                    and (previous is not None and previous is not message)
                    and message.role == previous.role == "assistant"
                ):
                    # Decoding joins the items of two answers to one message.
                    context.report_loss(message, "created", reasons.MESSAGE_RECORD)
                previous = message
        for at, (index, line) in enumerate(old_lines):
            if index in slots:
                old_lines[at] = index, _completed(line, index, replacements.get(index, {}), request, context)
        return _numbered([*header, *arranged(groups, old_lines, request, self.api)])


def _text_type(item: dict[str, Any]) -> str:
    return "output_text" if item.get("role") == "assistant" else "input_text"


def _fitting_part(part: dict[str, Any], item: dict[str, Any], writer: Writer) -> dict[str, Any] | None:
    """Return a part of an item in a form that Codex reads; None if there is no such form."""
    if isinstance(part.get("type"), str) and part["type"] in PARTS:
        return part
    if "refusal" in part:
        writer.report_loss(part if TOKEN in part else item, reasons.REFUSAL_AS_TEXT)
        token = {TOKEN: part[TOKEN]} if TOKEN in part else {}
        return {"type": _text_type(item), "text": part["refusal"], **token}
    writer.report_loss(part if TOKEN in part else item, reasons.NO_FIELD)
    return None


def _new_header(request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the first line of a new file: Codex resumes a session with these fields (seen with 0.169.0)."""
    time = first_time(request.messages)
    if time is None:
        context.report_loss(request, None, reasons.UNKNOWN_TIME)
    payload: dict[str, Any] = {
        "id": session_id(request, context),
        "timestamp": time or iso_time(0),
        "cwd": context.policies.get("directory", "/"),
        "originator": ORIGINATOR,
        "cli_version": CLI_VERSION,
    }
    if context.native and request.instructions:
        payload["base_instructions"] = {"text": _instructions(request, context)}
    return {"timestamp": payload["timestamp"], "type": "session_meta", "payload": payload}


def _line_of(item: Written, is_first: bool) -> dict[str, Any]:
    """Return the line of an item. If `is_first`, the item is the first of its message, and the line gets its time."""
    created = None if item.message is None else item.message.created
    if item.source is None:
        return {"timestamp": iso_time(created or 0), "type": "response_item", "payload": item.wire}
    if not item.source.envelope:
        return item.wire
    if item.source.envelope.get("type") == COMMUNICATION and item.source.at is None:
        line = _communication(item)
    else:
        inside = _inside(item.source.envelope)
        fields = {key: value for key, value in item.source.envelope.items() if key not in inside}
        line = {**fields, "payload": _item_of(item)} if fields else _item_of(item)
    if is_first and created is not None and "timestamp" in line:
        line["timestamp"] = created
    return line


def _communication(item: Written) -> dict[str, Any]:
    """Return the line of a message of another agent: of its type if it has one text, else of the type of items."""
    assert item.source is not None
    envelope = item.source.envelope
    payload_fields = {
        key.removeprefix("payload."): value for key, value in envelope.items() if key.startswith("payload.")
    }
    line = {key: value for key, value in envelope.items() if not key.startswith("payload.")}
    parts: Any = item.wire.get("content")
    is_text = parts.__class__ is list and len(parts) == 1 and parts[0].keys() == {"type", "text"}
    if item.wire["type"] != AGENT_MESSAGE or not is_text or not parts[0]["text"]:
        return {**line, "type": "response_item", "payload": item.wire}
    names = {key: item.wire[key] for key in AGENTS if key in item.wire}
    return {**line, "payload": {**payload_fields, **names, "content": parts[0]["text"]}}


def _item_of(item: Written) -> dict[str, Any]:
    """Return an item with its fields that are not of the Responses API: PASSTHROUGH, and an object around an output."""
    wire = item.wire
    for key, value in _inside({} if item.source is None else item.source.envelope).items():
        if key.endswith(PASSTHROUGH):
            wire = {**wire, PASSTHROUGH: value}
        else:
            wire = {**wire, "output": {**value, "content": wire.get("output", "")}}
    return wire


def _inside(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an envelope that belong into the item, by their paths in the line."""
    outputs = (".output",) if "payload" in envelope else (".output", "output")
    return {key: value for key, value in envelope.items() if PASSTHROUGH in key or key.endswith(outputs)}


def _instructions(request: ChatRequest, context: EncodeContext) -> str:
    """Return the instructions of the session as one text."""
    return _TEXT.encode(request.instructions, context, request) or ""


def _completed(
    line: dict[str, Any], index: int, replacement: dict[int, Any], request: ChatRequest, context: EncodeContext
) -> dict[str, Any]:
    """Fill the field of a kept line that reading set to None: instructions, the model, a history or its summary."""
    payload, filled = line["payload"], dict[str, Any]()
    if line["type"] == "session_meta":
        filled["base_instructions"] = {**payload["base_instructions"], "text": _instructions(request, context)}
    elif line["type"] == "turn_context":
        filled["model"] = request.model
    elif payload.get("replacement_history").__class__ is list or payload.get("message") is not None:
        # The list has the items that are not of the conversation.
        history = payload["replacement_history"]
        history = [None] * (max(replacement, default=-1) + 1) if history is None else history
        filled["replacement_history"] = with_current(history, replacement, nulls_of(request, API, index))
    elif replacement:
        content = replacement[0].get("content")
        parts = content if content.__class__ is list else [{"text": content}]
        filled["message"] = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return {**line, "payload": {**payload, **filled}}


def _numbered(lines: list[Any]) -> list[Any]:
    """Add ordinals to the new items after a line that has one."""
    number: int | None = None
    for at, line in enumerate(lines):
        if line.__class__ is not dict:
            continue
        if isinstance(line.get("ordinal"), int):
            number = line["ordinal"]
        elif number is not None and line.get("type") == "response_item":
            number += 1
            lines[at] = {**line, "ordinal": number}
    return lines


adapter = CodexRollout()
