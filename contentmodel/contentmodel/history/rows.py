"""Convert between rows of the database and values of the model. Rows have the wire format of the adapter `turn-blocks`.

This module defines the contents of the columns, and checks whether a turn may be stored. It contains no SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from contentmodel.adapter import adapter
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import as_content
from contentmodel.errors import DecodeError
from contentmodel.history.errors import InvalidTurnError
from contentmodel.history.turns import Block, StoredTurn, Turn
from contentmodel.json import plain
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.serialize import convert_value, to_builtins
from contentmodel.usage import Usage, total_of

API = "turn-blocks"
ROW = ":row"
"""The only key of the column `rest` if a block's row does not fit into the other columns."""
Json = dict[str, Any]
COLUMNS = ("model", "origin", "stop_reason", "usage", "error")
"""The columns of a turn that describe the response."""


def rows() -> Any:
    """Return the adapter of rows. Raise UnknownApiError if the adapters are not installed."""
    return adapter(API)


# -- blocks ------------------------------------------------------------------------------------------------------------


def block_row(sequence: int, content: Any) -> Json:
    """Return the columns of one block. Raise EncodeError or InvalidTurnError if it cannot be stored as JSON."""
    row = rows().encode_block(as_content(content, "content"), sequence)
    return columns_of(row, sequence)


def columns_of(row: Json, sequence: int) -> Json:
    """Return the columns of a block's row in the wire format. Raise InvalidTurnError if it cannot be stored."""
    if not isinstance(sequence, int) or sequence < 0:
        raise InvalidTurnError(f"the sequence {sequence!r} of a block is not valid: expected 0, 1, 2, ...")
    row = {key: value for key, value in row.items() if key != "sequence"}
    try:
        row = plain(row, API)
    except DecodeError as error:
        raise InvalidTurnError(f"this block cannot be stored: {error}") from None
    kind = row.get("block_type", row.get("type"))
    columns = {
        "sequence": sequence,
        "block_type": kind,
        "text_content": row.get("text_content") if isinstance(row.get("text_content"), str) else None,
        "content": row.get("content"),
        "rest": {k: v for k, v in row.items() if k not in ("block_type", "text_content", "content")} or None,
    }
    return columns if _wire_of(columns) == row else {**columns, "rest": {ROW: row}}


def block_wire(row: Mapping[Any, Any], sequence: int) -> Json:
    """Return a block's row in the wire format, with this `sequence` number."""
    return {"sequence": sequence, **_wire_of(row)}


def _wire_of(row: Mapping[Any, Any]) -> Json:
    others = row["rest"] or {}
    if set(others) == {ROW}:
        return dict(others[ROW])
    fields = {key: row[key] for key in ("text_content", "content") if row[key] is not None}
    return {"block_type": row["block_type"], **fields, **others}


def same_block(row: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
    """Return whether two rows are the same block."""
    return _wire_of(row) == _wire_of(other)


def block_of(row: Mapping[Any, Any]) -> Block:
    """Return the block of a row."""
    return Block(sequence=row["sequence"], content=rows().decode_block(block_wire(row, row["sequence"])))


# -- turns -------------------------------------------------------------------------------------------------------------


def check_turn(role: Any, blocks: Sequence[Mapping[Any, Any]] = ()) -> None:
    """Raise InvalidTurnError if a turn of this role may not be stored, or may not contain these blocks."""
    turn = {"role": role, "blocks": [_wire_of(block) for block in blocks]}
    violations = [v for v in rows().check_request({"turns": [turn]}) if v.severity == "refused"]
    if violations:
        details = "; ".join(f"{v.message} at {v.path.removeprefix('$.turns[0].')}: {v.fix}" for v in violations)
        raise InvalidTurnError(f"this turn cannot be stored: {details}")


def turn_of(row: Mapping[Any, Any]) -> Turn:
    """Return the turn of a row."""
    return Turn(
        id=row["id"],
        conversation=row["conversation"],
        previous=row["previous"],
        number=row["number"],
        role=row["role"],
        status=row["status"],
        model=row["model"],
        origin=_value(row["origin"], Origin),
        stop_reason=row["stop_reason"],
        usage=_value(row["usage"], Usage),
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        error=_error(row["error"]),
        writer=row["writer"],
    )


def _value(data: Any, kind: Any) -> Any:
    return None if data is None else convert_value(data, kind)


def _error(data: Any) -> ErrorContent | None:
    if data is None or isinstance(data, str):
        return None if data is None else ErrorContent(message=data)
    error: ErrorContent = convert_value({**data, "type": "error"}, ErrorContent)
    return error


def answer_columns(
    *,
    model: str | None = None,
    origin: Origin | None = None,
    stop_reason: str | None = None,
    usage: Usage | None = None,
    error: ErrorContent | None = None,
) -> Json:
    """Return the columns of the values that are set. Omit unset values."""
    columns: Json = {"model": model, "stop_reason": stop_reason}
    columns["origin"] = None if origin is None else to_builtins(origin)
    columns["usage"] = None if usage is None else to_builtins(usage)
    if error is not None:
        columns["error"] = {key: value for key, value in to_builtins(error).items() if key != "type"}
    return {key: value for key, value in columns.items() if value is not None}


_CUT = frozenset({"messages", "results"})
"""The keys of a turn's envelope that say how its blocks group into messages."""


def response_columns(response: ChatResponse, role: str) -> Json:
    """Return the columns of the first choice of a response, without its blocks. `envelope` has all other fields."""
    response = msgspec.structs.replace(response, choices=response.choices[:1])
    turn = rows().encode_response(response).payload
    messages = response.messages
    heading = rows().encode_heading(messages, role) if messages else {}
    envelope = {key: value for key, value in turn.get("envelope", {}).items() if key not in _CUT}
    envelope |= heading.get("envelope", {})
    if response.id is not None:
        # The id of the row is the store's.
        envelope["response"] = {"id": response.id, **envelope.get("response", {})}
    columns = {key: turn[key] for key in COLUMNS if key in turn}
    return {**columns, "envelope": envelope or None}


def usual_messages(role: str, contents: list[Any], origin: Origin | None) -> list[ChatMessage]:
    """Split the contents of a turn into messages, for a turn without a layout."""
    messages: list[ChatMessage] = rows().cut(role, contents, origin)
    return messages


def turn_rows(messages: list[ChatMessage]) -> list[tuple[Json, list[Json]]]:
    """Return the columns of the turns that messages are stored as, each with the columns of its blocks."""
    turns = []
    for turn in rows().encode_turns(messages):
        blocks = [columns_of(row, index) for index, row in enumerate(turn["blocks"] or [])]
        columns = {key: turn.get(key) for key in ("role", *COLUMNS)}
        # Ids and times of imported rows (the store sets its own), and unknown fields.
        imported = {key: value for key, value in turn.items() if key not in (*columns, "envelope", "blocks")}
        envelope = {**(turn.get("envelope") or {}), **({"imported": imported} if imported else {})}
        recorded = _recorded(envelope.get("messages") or [])
        columns.update({key: value for key, value in recorded.items() if columns.get(key) is None})
        columns["envelope"] = envelope or None
        turns.append((columns, blocks))
    return turns


def _recorded(shells: list[Json]) -> Json:
    """Return the columns of a turn that the records of its messages give, so that queries find them.

    Messages are read from `shells`, the envelope of the turn. Usage of several responses is added up.
    """
    shells = [{key: value for key, value in shell.items() if key != "blocks"} for shell in shells]
    messages = [convert_value(shell, ChatMessage) for shell in shells if not _RECORDS.isdisjoint(shell)]
    if not messages:
        return {}
    answers = [message for message in messages if message.role == "assistant"]
    reasons = [message.finish_reason for message in messages if message.finish_reason is not None]
    response = ChatResponse(
        model=next((answer.origin.model for answer in reversed(answers) if answer.origin is not None), None),
        usage=total_of(message.usage for message in messages),
        choices=[ChatChoice(finish_reason=reasons[-1] if reasons else None)],
    )
    turn = rows().encode_response(response).payload
    times = [time for message in messages if (time := _moment(message.created)) is not None]
    columns = {key: turn[key] for key in ("model", "stop_reason", "usage") if key in turn}
    return {**columns, "started_at": min(times), "ended_at": max(times)} if times else columns


_RECORDS = frozenset({"created", "response_id", "usage", "finish_reason"})


def _moment(created: float | int | str | None) -> datetime | None:
    """Return the time of a message: seconds since 1970 or an ISO 8601 text, in UTC if it has no zone; else None."""
    try:
        if isinstance(created, str):
            time = datetime.fromisoformat(created)
            return time.astimezone(UTC) if time.tzinfo is not None else time.replace(tzinfo=UTC)
        return None if created is None else datetime.fromtimestamp(created, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def turn_wire(row: Mapping[Any, Any], blocks: Iterable[Mapping[Any, Any]]) -> Json:
    """Return a turn's row in the wire format, with the blocks of the transcript in the order of its layout."""
    by_sequence = {block["sequence"]: block for block in blocks}
    usual = sorted(by_sequence)
    order = usual if row["layout"] is None else [n for n in row["layout"] if n in by_sequence]
    numbered = [(n if row["layout"] is None else index, by_sequence[n]) for index, n in enumerate(order)]
    fields = {key: row[key] for key in ("id", "conversation", "previous", "role", "status", *COLUMNS)}
    times = {key: row[key].isoformat() for key in ("started_at", "ended_at") if row[key] is not None}
    wire = {**fields, **times, "envelope": row["envelope"]}
    wire = {key: value for key, value in wire.items() if value is not None}
    return {**wire, "blocks": [block_wire(block, number) for number, block in numbered]}


def stored_turn(row: Mapping[Any, Any], blocks: Iterable[Mapping[Any, Any]]) -> StoredTurn:
    """Return a turn with its messages. An open turn without blocks has no messages."""
    wire = turn_wire(row, blocks)
    if row["status"] == "open" and not wire["blocks"]:
        return StoredTurn(turn=turn_of(row), messages=[])
    turn: Json = {key: wire[key] for key in ("role", "origin") if key in wire}
    turn["envelope"] = {key: value for key, value in (wire.get("envelope") or {}).items() if key in _CUT}
    turn["blocks"] = [{**block, "sequence": index} for index, block in enumerate(wire["blocks"])]
    return StoredTurn(turn=turn_of(row), messages=rows().decode_messages(turn))


def response_of(wire: Json) -> ChatResponse:
    """Return the response of a turn's row, without the columns of the store itself."""
    envelope = (wire.get("envelope") or {}).get("response") or {}
    columns = {key: wire[key] for key in ("role", *COLUMNS, "envelope", "blocks") if key in wire}
    response: ChatResponse = rows().decode_response({**columns, **({"id": envelope["id"]} if "id" in envelope else {})})
    extra = {api: residue for api, residue in (response.extra or {}).items() if api != API}
    return msgspec.structs.replace(response, extra=extra or None)


# -- conversations -----------------------------------------------------------------------------------------------------


def settings_of(request: ChatRequest, last: str | None) -> Json:
    """Return the settings of a request (all but its messages) with the id of its last turn."""
    payload = rows().encode_request(_without_messages(request)).payload
    return {"request": {key: value for key, value in payload.items() if key != "turns"}, "last": last}


def settings_wire(settings: Json | None, last: str | None) -> Json:
    """Return settings in the wire format, for a transcript that ends with the turn `last`.

    The origin of the request is only kept if the transcript is unchanged. If turns were added, drop it, so that the
    encoder also checks the new parts.
    """
    wire = dict((settings or {}).get("request", {}))
    envelope = wire.get("envelope")
    if envelope and "origin" in envelope and settings is not None and settings["last"] != last:
        others = {key: value for key, value in envelope.items() if key != "origin"}
        wire.pop("envelope")
        wire.update({"envelope": others} if others else {})
    return wire


def request_of(settings: Json | None, last: str | None, messages: list[ChatMessage]) -> ChatRequest:
    """Return the transcript that ends with the turn `last`."""
    request = rows().decode_request({**settings_wire(settings, last), "turns": []})
    return _with_messages(request, messages)


def _without_messages(request: ChatRequest) -> ChatRequest:
    return _with_messages(request, [])


def _with_messages(request: ChatRequest, messages: list[ChatMessage]) -> ChatRequest:
    changed: ChatRequest = msgspec.structs.replace(request, messages=messages)
    return changed
