"""Make the records of an exchange: its request, and its answer, stream or error. They still contain secrets."""

from __future__ import annotations

import msgspec

from contentmodel.adapter import adapter
from contentmodel.compression import CutOffError, TooLargeError, UndecodedError
from contentmodel.errors import DecodeError
from contentmodel.events import TurnError
from contentmodel.framing import stream_format_of
from contentmodel.http_api import HttpApi
from contentmodel.json import Json, JsonObject, parse
from contentmodel_conformance.captures.bodies import decoded, events_in, is_stream
from contentmodel_conformance.captures.entries import Exchange, Message
from contentmodel_conformance.captures.recognition import (
    Call,
    api_of_request,
    call_at,
    is_answer_of,
    is_request_of,
)
from contentmodel_conformance.streams import decode

NOT_LLM = "not a request of an LLM API"


class Skip(Exception):
    """Raised to skip an entry. Its text is the reason."""


class SkipAnswer(Exception):
    """Raised to skip the answer of an entry, but not its request. Its text is the reason."""


class Drafts(msgspec.Struct, frozen=True):
    """The records of an exchange, and the reason if it, or its answer, was skipped."""

    records: list[JsonObject]
    skipped: str | None = None


def drafts_of(exchange: Exchange, limit: int) -> Drafts:
    """Return the records of an exchange. Bodies of more than `limit` bytes are skipped.

    Raise UndecodedError, with the reason, if a body of a call of an LLM API is damaged or has an unknown encoding, and
    MissingExtraError if its encoding needs an extra.
    """
    try:
        call, payload = _request(exchange, limit)
        request = _record(call, exchange, "request", payload)
        try:
            return Drafts([request, _answer(call, payload, exchange, limit)])
        except SkipAnswer as skip:
            return Drafts([request], str(skip))
    except Skip as skip:
        return Drafts([], str(skip))
    except RecursionError:
        return Drafts([], "nested too deeply")


def _record(call: Call, exchange: Exchange, kind: str, body: Json) -> JsonObject:
    return {
        "api": call.api,
        "provenance": "recorded",
        "dialect": None if call.is_own_host else "other",
        "kind": kind,
        "status": exchange.status,
        "model": call.model,
        "body": body,
    }


# -- requests ----------------------------------------------------------------------------------------------------------


def _request(exchange: Exchange, limit: int) -> tuple[Call, JsonObject]:
    """Return the call that an exchange makes, and its payload."""
    if exchange.is_websocket:
        raise Skip("a WebSocket")
    call = call_at(exchange.url) if exchange.method.upper() == "POST" else None
    if call is not None and call.method == "count":
        raise Skip("a count of tokens")
    if exchange.method.upper() != "POST":
        raise Skip(NOT_LLM)
    try:
        payload = _payload(exchange.request, limit)
    except (Skip, UndecodedError):
        if call is None:
            raise Skip(NOT_LLM) from None
        raise
    call = _checked(call, payload)
    if exchange.status is None:
        raise Skip("no answer: the request was blocked, or the connection ended")
    if exchange.status < 200 or 300 <= exchange.status < 400:
        raise Skip(f"no answer, but the status {exchange.status}")
    model = call.model or payload.get("model")
    return call._replace(model=model if isinstance(model, str) else None), payload


def _payload(message: Message, limit: int) -> JsonObject:
    if message.body is None:
        raise Skip("the capture does not have the body of the request")
    try:
        payload = parse(_body(message, limit, "request"))
    except TooLargeError:
        raise Skip(f"the request has more than {limit:,} bytes") from None
    except DecodeError:
        raise Skip("the request is not JSON, or is cut off") from None
    if not isinstance(payload, dict):
        raise Skip("the request is not a JSON object")
    return payload


def _body(message: Message, limit: int, name: str) -> bytes:
    try:
        return decoded(message, limit)
    except (TooLargeError, CutOffError):
        raise
    except UndecodedError as error:
        raise UndecodedError(f"the body of the {name}: {error}") from None


def _checked(call: Call | None, payload: JsonObject) -> Call:
    """Return the call that the payload makes. Raise Skip if no API recognizes the payload."""
    if call is not None and (call.is_own_host or is_request_of(call.api, payload)):
        return call
    api = api_of_request(payload)
    if api is None:
        raise Skip(NOT_LLM)
    return Call(api, "detected")


# -- answers -----------------------------------------------------------------------------------------------------------


def _answer(call: Call, payload: JsonObject, exchange: Exchange, limit: int) -> JsonObject:
    """Return the record of the answer. Raise SkipAnswer if it is unusable, Skip if it is no answer of an LLM API."""
    message = exchange.answer
    if message.body is None:
        raise SkipAnswer("the capture does not have the body of the answer")
    try:
        body = _body(message, limit, "answer")
        if not body.strip():
            raise SkipAnswer("the answer is empty")
        if (exchange.status or 0) < 300 and _is_stream(call, payload, message, body):
            return _record(call, exchange, "stream", _events(call, body))
        kind = "response" if (exchange.status or 0) < 300 else "error"
        return _record(call, exchange, kind, _json(call, body, kind))
    except TooLargeError:
        raise SkipAnswer(f"the answer has more than {limit:,} bytes") from None
    except CutOffError as error:
        raise SkipAnswer(f"the answer is not complete: {error}") from None


def _is_stream(call: Call, payload: JsonObject, message: Message, body: bytes) -> bool:
    http = getattr(adapter(call.api), "http", None)
    asked = isinstance(http, HttpApi) and http.asks_stream(payload)
    return is_stream(body, message.header("content-type"), stream_format_of(adapter(call.api)), asked=asked)


def _json(call: Call, body: bytes, kind: str) -> JsonObject:
    try:
        value = parse(body)
    except DecodeError:
        value = None
    if not isinstance(value, dict):
        reason = "the answer is neither a JSON object nor a stream"
        raise SkipAnswer(reason) if kind == "error" else Skip(reason)
    if call.method == "detected" and kind == "response" and not is_answer_of(call.api, value):
        raise Skip(NOT_LLM)
    return value


def _events(call: Call, body: bytes) -> list[JsonObject]:
    events = events_in(body)
    if call.method == "detected" and not any(is_answer_of(call.api, event["data"]) for event in events):
        raise Skip(NOT_LLM)
    last = decode(adapter(call.api), [body])[-1:]
    if not events or (last and isinstance(last[0], TurnError) and last[0].error.code == "stream_ended"):
        raise CutOffError("the last event of the stream is missing")
    return events
