"""Answers: one turn, whose columns hold the answer's fields other than its blocks."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.authoring import Fields, Place
from contentmodel.content.outcomes import ErrorContent
from contentmodel.message import ChatMessage, FinishReason, contents_of
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.serialize import to_builtins
from contentmodel.usage import Usage
from contentmodel_adapters.datasets.turn_blocks.blocks import (
    Reading,
    bare,
    json_of,
    json_places,
    own_residue,
    value_of,
    with_residue,
    write_block,
)
from contentmodel_adapters.datasets.turn_blocks.messages import (
    HERE,
    Places,
    Turn,
    as_cut,
    heading,
    read_messages,
    read_shells,
    residue_around,
    shell_of,
)
from contentmodel_adapters.datasets.turn_blocks.spelling import respelled

REASONS = (
    *("stop", "length", "tool_calls", "content_filter", "refusal", "pause", "error"),
    *("compaction", "cancelled", "running"),
)
"""The model's own finish reasons, without a provider's value."""
OTHER_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "pause_turn": "pause",
    "max_iterations": "other",
    "interrupted": "cancelled",
}
"""Other values that people write."""


def finish_of(value: str) -> FinishReason:
    """Return the finish reason of the value in `stop_reason`."""
    return (
        FinishReason(reason=value)
        if value in REASONS
        else FinishReason(reason=OTHER_REASONS.get(value, "other"), raw=value)
    )


def value_of_finish(finish: FinishReason) -> str:
    """Return the value that `finish_of` reads as this finish reason, or else the model's reason."""
    values = (finish.reason, str(finish.raw))
    return next((value for value in values if finish_of(value) == finish), finish.reason)


def write_response(response: ChatResponse) -> Turn:
    """Return the turn of an answer."""
    plain = bare(response)
    messages = [message for choice in plain.choices for message in choice.messages]
    turn: Turn = {"id": plain.id, **heading(messages or [ChatMessage(role="assistant")]), "model": plain.model}
    turn["stop_reason"] = None if plain.finish_reason is None else value_of_finish(plain.finish_reason)
    turn["usage"] = None if plain.usage is None else json_of(plain.usage)
    if plain.error is not None:
        turn["error"] = {key: value for key, value in json_of(plain.error).items() if key != "type"}
    turn = {key: value for key, value in turn.items() if value is not None}
    contents = list(contents_of(messages))
    read = _of_columns(turn, _as_cut(turn, contents), Reading([]))
    if read != plain:
        # Fields that differ from the columns; null for those that only the columns give.
        full, derived = _shell(plain), _shell(read)
        differing = {key: value for key, value in full.items() if derived.get(key) != value}
        beyond = {**dict.fromkeys(key for key in derived if key not in full), **differing}
        turn["envelope"] = {**turn.get("envelope", {}), "response": beyond}
    turn["blocks"] = [write_block(content, index) for index, content in enumerate(contents)]
    return respelled(turn, own_residue(response))


def _as_cut(turn: Turn, contents: list[Any]) -> list[ChatMessage]:
    """Return the messages that a turn with these contents would be read as."""
    reading = Reading([])
    origin = None if "origin" not in turn else value_of(turn["origin"], type(HERE), "$.origin", reading)
    return as_cut(turn["role"], contents, origin, turn.get("envelope"), "$.envelope", reading)


def _shell(response: ChatResponse) -> dict[str, Any]:
    """Return an answer as JSON, with the number of blocks of each message."""
    shell: dict[str, Any] = to_builtins(msgspec.structs.replace(response, choices=[]))
    choices = []
    for choice in response.choices:
        messages = [shell_of(message) for message in choice.messages]
        plain = to_builtins(msgspec.structs.replace(choice, messages=[]))
        choices.append({**plain, **({"messages": messages} if messages else {})})
    return {**shell, **({"choices": choices} if choices else {})}


def read_response(wire: Turn, reading: Reading) -> tuple[ChatResponse, list[ChatMessage]]:
    """Return the answer of a turn, and its messages."""
    messages = read_messages(wire, "$", reading)
    response = _of_columns(wire, messages, reading)
    envelope = wire.get("envelope")
    overrides = envelope.get("response") if isinstance(envelope, dict) else None
    if overrides is not None and not reading.faults:
        response = _with_envelope(overrides, response, messages, reading)
    if reading.faults:
        return response, messages
    return with_residue(response, residue_around(write_response(response), wire)), messages


def _of_columns(turn: Turn, messages: list[ChatMessage], reading: Reading) -> ChatResponse:
    """Return the answer as the turn's columns have it."""
    reason, error, name = turn.get("stop_reason"), turn.get("error"), turn.get("id")
    usage = None
    if isinstance(turn.get("usage"), dict):
        usage = value_of(turn["usage"], Usage, "$.usage", reading)
    return ChatResponse(
        id=name if isinstance(name, str) else None,
        model=turn["model"] if isinstance(turn.get("model"), str) else None,
        choices=[ChatChoice(messages=messages, finish_reason=finish_of(reason) if isinstance(reason, str) else None)],
        usage=usage,
        error=None if error is None else _read_error(error, reading),
        origin=HERE,
    )


def _read_error(error: Any, reading: Reading) -> ErrorContent | None:
    if isinstance(error, str):
        return ErrorContent(message=error)
    if not isinstance(error, dict):
        return None
    read: ErrorContent | None = value_of({**error, "type": "error"}, ErrorContent, "$.error", reading)
    return read


def _with_envelope(
    envelope: Any, response: ChatResponse, messages: list[ChatMessage], reading: Reading
) -> ChatResponse:
    """Return the answer with the envelope's fields, which override the columns."""
    path = "$.envelope.response"
    if not isinstance(envelope, dict):
        reading.expected(path, "an object", envelope)
        return response
    other_fields = {key: value for key, value in envelope.items() if key != "choices"}
    shell = to_builtins(msgspec.structs.replace(response, choices=[]))
    data = {key: value for key, value in {**shell, **other_fields}.items() if value is not None}
    read = value_of(data, ChatResponse, path, reading)
    if read is None:
        return response
    choices = response.choices
    if "choices" in envelope:
        contents = list(contents_of(messages))
        choices = _read_choices(envelope["choices"], contents, f"{path}.choices", reading)
    return msgspec.structs.replace(bare(read), choices=choices)  # type: ignore[no-any-return]


def _read_choices(choices: Any, contents: list[Any], path: str, reading: Reading) -> list[ChatChoice]:
    if choices is None:
        choices = []
    if not isinstance(choices, list):
        reading.expected(path, "an array of choices", choices)
        return []
    read, at = [], 0
    for index, choice in enumerate(choices):
        choice_path = f"{path}[{index}]"
        if not isinstance(choice, dict):
            reading.expected(choice_path, "an object: a choice", choice)
            continue
        shell = value_of({k: v for k, v in choice.items() if k != "messages"}, ChatChoice, choice_path, reading)
        messages: list[ChatMessage] = []
        if choice.get("messages") is not None:
            count = _count(choice["messages"])
            messages = (
                read_shells(choice["messages"], contents[at : at + count], f"{choice_path}.messages", reading) or []
            )
            at += count
        if shell is not None:
            read.append(msgspec.structs.replace(bare(shell), messages=messages))
    if at != len(contents) and not reading.faults:
        reading.fault(path, f"these choices have {at} blocks, but the turn has {len(contents)}")
    return read


def _count(shells: Any) -> int:
    counts = [s.get("blocks") for s in shells if isinstance(s, dict)] if isinstance(shells, list) else []
    return sum(count for count in counts if count.__class__ is int and count > 0)


class ResponsePlaces(Places):
    """The wire fields of an answer's attributes: columns of the turn."""

    def places(self, value: Any, wire: Any, path: str) -> Any:
        for name in ("usage", "error"):
            yield from json_places(getattr(value, name), wire.get(name), f"{path}.{name}")
        for choice in value.choices:
            place: Place = (choice, path, wire, CHOICE)
            yield place


RESPONSE = ResponsePlaces({"choices": "blocks", "created": "envelope.response.created"})


CHOICE = Fields({"finish_reason": "stop_reason", "messages": "blocks"})
