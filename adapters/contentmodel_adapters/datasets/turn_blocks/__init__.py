"""The adapter of stored rows: turns and their blocks. The format is of no provider; stores and people write it.

It holds every value of the model: decoding keeps everything, and encoding never reports a loss. Rows have no stream;
`contentmodel.history.record` stores one.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec

from contentmodel.adapter import Payload, as_json
from contentmodel.authoring import DecodeContext, EncodeContext, Encoded, SchemaMap, Violation, kind_of
from contentmodel.capabilities import UNLIMITED, Known
from contentmodel.errors import DecodeError, EncodeError, Fault
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.serialize import require_valid_parts
from contentmodel_adapters.datasets.turn_blocks import blocks, messages, response
from contentmodel_adapters.datasets.turn_blocks.blocks import API, Reading
from contentmodel_adapters.datasets.turn_blocks.rules import ROLES, RULES

DEEP = "nested too deeply"


class TurnBlocks:
    """The adapter of rows of turns and blocks. A request is a transcript of turns, a response is one turn."""

    api = API
    issuer = ""
    rules = RULES
    roles = ROLES

    # -- the adapter ---------------------------------------------------------------------------------------------------

    def decode_request(self, payload: Payload) -> ChatRequest:
        """Decode a transcript. Raise DecodeError listing every fault if the payload is invalid."""
        return self.trace_request(payload)[0]

    def trace_request(self, payload: Payload) -> tuple[ChatRequest, Any, DecodeContext]:
        """Decode a transcript. Return the request, the payload as plain JSON values, and the source trace."""
        wire = _as_object(payload)
        request, counts = _read(messages.read_request, wire)
        context = DecodeContext(API, Origin(api=API, issuer=""))
        context.trace(messages.REQUEST, [request], wire, None, spread=False)
        remaining = iter(request.messages)
        for index, count in enumerate(counts):
            messages.trace_turn(context, [*islice(remaining, count)], wire["turns"][index], wire["turns"], index)
        return request, wire, context

    def encode_request(
        self, request: ChatRequest, policies: Mapping[str, str] | None = None, model: str | None = None
    ) -> Encoded:
        """Return the transcript as rows, for `model` if it is given. Nothing is lost.

        Raise EncodeError if it is nested too deeply, or if a value that the application created has the wrong type.
        """
        require_valid_parts(request, ChatRequest)
        if model is not None:
            request = msgspec.structs.replace(request, model=model)
        context = EncodeContext(API, self.issuer, "request", policies, request.origin)
        return Encoded(_write(messages.write_request, request), request, context)

    def decode_response(self, payload: Payload) -> ChatResponse:
        """Decode one turn as an answer. Raise DecodeError listing every fault if the payload is invalid."""
        return self.trace_response(payload)[0]

    def trace_response(self, payload: Payload) -> tuple[ChatResponse, Any, DecodeContext]:
        """Decode one turn. Return the response, the payload as plain JSON values, and the source trace."""
        wire = _as_object(payload)
        answer, read_messages = _read(response.read_response, wire)
        context = DecodeContext(API, Origin(api=API, issuer=""))
        context.trace(response.RESPONSE, [answer], wire, None, spread=False)
        messages.trace_turn(context, read_messages, wire, wire, None)
        return answer, wire, context

    def encode_response(self, response_: ChatResponse, policies: Mapping[str, str] | None = None) -> Encoded:
        """Return the answer as one turn. Nothing is lost.

        Raise EncodeError if it is nested too deeply, or if a value that the application created has the wrong type.
        """
        require_valid_parts(response_, ChatResponse)
        context = EncodeContext(API, self.issuer, "response", policies, response_.origin)
        return Encoded(_write(response.write_response, response_), response_, context)

    def stream_decoder(self, *, deltas: bool = True) -> Any:
        """Raise DecodeError: rows have no stream."""
        raise DecodeError(API, [Fault("$", "rows have no stream: decode them as a request or a response")])

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> Any:
        """Raise EncodeError: rows have no stream."""
        raise EncodeError(f"{API} has no stream: fold the events and encode the response, or record them in a store")

    def check_request(self, payload: Payload, model: str | None = None) -> list[Violation]:
        """Return faults of shape and of role. Raise DecodeError if the payload is not a JSON object."""
        wire = _as_object(payload)
        return [*_misshapen(self, wire), *RULES.check(wire)]

    def restore_arguments(self, arguments: Any, adapted: SchemaMap) -> Any:
        """Return the arguments unchanged: this adapter does not adapt schemas."""
        return arguments

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence.

        A transcript has turns, a turn has blocks, and a block has a `block_type`.
        """
        turns = payload.get("turns")
        if isinstance(turns, list):
            shaped = all(isinstance(turn, dict) and ("blocks" in turn or "role" in turn) for turn in turns)
            return {"request": 0.97} if shaped else {}
        typed = payload.get("blocks")
        if isinstance(typed, list) and "role" in payload:
            named = all(isinstance(block, dict) and "block_type" in block for block in typed)
            return {"response": 0.97} if named else {}
        return {}

    def expanded(self, payload: Any) -> Any:
        """Return a payload without the texts that its rows repeat, so that an audit counts each once."""
        if not isinstance(payload, dict):
            return payload
        if isinstance(payload.get("turns"), list):
            return {**payload, "turns": [self.expanded(turn) for turn in payload["turns"]]}
        rows = payload.get("blocks")
        return (
            {**payload, "blocks": [blocks.without_repeated_text(row) for row in rows]}
            if isinstance(rows, list)
            else payload
        )

    def look_up_model(self, model: str | None, policies: Mapping[str, str] | None = None) -> Known:
        """Return unlimited capabilities: a store takes everything."""
        return UNLIMITED

    def describe(self) -> dict[str, Any]:
        """Return the block types as data, for documentation, coverage and generators."""
        columns = {name: {"attribute": "extra", "form": "any", "required": False} for name in messages.COLUMNS}
        attributes = {"origin": "origin", "envelope": ", ".join(messages.SHELL), "blocks": "contents"}
        fields = {key: {"attribute": name, "form": "any", "required": False} for key, name in attributes.items()}
        role = {"role": {"attribute": "role", "form": "str", "required": True}}
        return {
            "api": API,
            "pairs": [],
            "values": {"role": list(ROLES), "stop_reason": [*response.REASONS, *response.OTHER_REASONS]},
            "kept": {"request": ["conversation"], "turn": list(messages.COLUMNS)},
            "records": {
                "request": {
                    "name": "request",
                    "model": "ChatRequest",
                    "constants": {},
                    "fields": {
                        "turns": {"attribute": "messages", "form": "list of turn", "required": True},
                        **{
                            f"envelope.{name}": {"attribute": name, "form": "the model's JSON", "required": False}
                            for name in ChatRequest.__struct_fields__
                            if name != "messages"
                        },
                    },
                },
                "turn": {"name": "turn", "model": "ChatMessage", "constants": {}, "fields": {**role, **fields}},
                "response": {
                    "name": "response",
                    "model": "ChatResponse",
                    "constants": {},
                    "fields": {
                        **{name: columns[name] | {"attribute": name} for name in ("id", "model", "usage", "error")},
                        "stop_reason": {"attribute": "choices.finish_reason", "form": "str", "required": False},
                        "blocks": {"attribute": "choices", "form": "list of block", "required": False},
                    },
                },
            },
            "unions": {"block": {"name": "block", "tag": "block_type", "rows": blocks.describe()}},
        }

    # -- row by row, for stores ----------------------------------------------------------------------------------------

    def encode_turns(self, conversation: list[ChatMessage]) -> list[dict[str, Any]]:
        """Return the turns of messages, without ids. Raise EncodeError if they are nested too deeply."""
        turns: list[dict[str, Any]] = _write(messages.write_turns, conversation)
        return turns

    def encode_heading(self, turn_messages: list[ChatMessage], role: str) -> dict[str, Any]:
        """Return the turn of `role` that these messages make, without its blocks."""
        turn: dict[str, Any] = _write(lambda run: messages.heading(run, role), turn_messages)
        return turn

    def cut(self, role: str, contents: list[Any], origin: Origin | None) -> list[ChatMessage]:
        """Return the messages of a turn's contents, for a turn without an envelope."""
        return messages.cut(role, contents, origin)

    def encode_block(self, content: Any, sequence: int) -> dict[str, Any]:
        """Return the row of one content. Raise EncodeError if it is nested too deeply."""
        row: dict[str, Any] = _write(lambda value: blocks.write_block(value, sequence), content)
        return row

    def decode_block(self, block: dict[str, Any]) -> Any:
        """Return the content of one row. Raise DecodeError with every fault."""
        return _read(blocks.read_block, block, "$", sequence=block.get("sequence"))

    def decode_messages(self, turn: dict[str, Any]) -> list[ChatMessage]:
        """Return the messages of one turn, without the turn's other fields. Raise DecodeError with every fault."""
        result: list[ChatMessage] = _read(messages.read_messages, turn, "$")
        return result


def _as_object(payload: Payload) -> dict[str, Any]:
    wire = as_json(payload, API)
    if wire.__class__ is not dict:
        raise DecodeError(API, [Fault("$", f"expected an object, got {kind_of(wire)}")])
    return wire


def _read(read: Any, wire: dict[str, Any], *path: str, **more: Any) -> Any:
    """Return the result of `read`. Raise DecodeError with every fault that it collects."""
    reading = Reading([])
    try:
        value = read(wire, *path, reading, **more)
    except RecursionError:
        raise DecodeError(API, [Fault("$", DEEP)]) from None
    if reading.faults:
        raise DecodeError(API, reading.faults)
    return value


def _write(write: Any, value: Any) -> Any:
    try:
        return write(value)
    except RecursionError:
        raise EncodeError(f"{DEEP} to be written as rows") from None


def _misshapen(adapter: TurnBlocks, wire: dict[str, Any]) -> list[Violation]:
    try:
        adapter.decode_request(wire)
    except DecodeError as error:
        return [
            Violation(
                path=f.path,
                rule="shape",
                severity="refused",
                message=f.message,
                fix="follow the row format of docs/history.md",
            )
            for f in error.faults
        ]
    return []


adapter = TurnBlocks()
