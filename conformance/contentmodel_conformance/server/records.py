"""Recorded requests: the payload as received, and decoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from contentmodel.adapter import adapter
from contentmodel.errors import DecodeError
from contentmodel.errors import Fault as Flaw
from contentmodel.json import parse
from contentmodel.losses import Loss
from contentmodel.request import ChatRequest
from contentmodel.rules import Violation
from contentmodel_conformance.server.script import Fault

SECRETS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key", "proxy-authorization", "cookie", "key"})
"""Headers and query parameters that are masked in logs."""


@dataclass
class Recorded:
    """One request, and how it was answered.

    `payload` is its JSON, or None if it is invalid. `request` is the decoded payload; if decoding fails, `error` is set
    instead. `model` is the requested model, from the path or the payload.
    """

    number: int
    api: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    payload: Any
    is_stream: bool
    model: str | None = None
    request: ChatRequest | None = None
    error: DecodeError | None = None
    turn: int | None = None
    """The number of the turn that answers it."""
    fault: Fault | None = None
    """The fault that was applied."""
    status: int | None = None
    """The HTTP status of the answer; None if the connection is closed before it."""
    dialect: str | None = None
    """The host that has the path, if it is not the API's own."""
    losses: tuple[Loss, ...] = field(default=())
    """The losses of encoding the turn's answer for this API."""

    def check(self) -> list[Violation]:
        """Return what the API would refuse, ignore or answer badly in it. Rules that cannot be checked are left out."""
        try:
            policies = () if self.dialect is None else ({"dialect": self.dialect},)
            violations: list[Violation] = adapter(self.api).check_request(self.payload, self.model, *policies)
        except DecodeError as error:
            return [_unreadable(flaw) for flaw in (self.error or error).faults]
        return [violation for violation in violations if violation.severity != "unchecked"]

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON for a log, with API keys and other secrets masked."""
        line = {
            "number": self.number,
            "api": self.api,
            "path": self.path,
            "query": _without_secrets(self.query),
            "headers": _without_secrets(self.headers),
            "is_stream": self.is_stream,
            "payload": self.payload,
            "turn": self.turn,
            "status": self.status,
        }
        if self.fault is not None:
            line["fault"] = msgspec.to_builtins(self.fault)
        if self.error is not None:
            line["error"] = str(self.error)
        return line


def _unreadable(flaw: Flaw) -> Violation:
    return Violation(
        path=flaw.path,
        rule="shape",
        severity="refused",
        message=flaw.message,
        fix="send a payload with the API's shape",
    )


def _without_secrets(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: "..." if name.lower() in SECRETS else value for name, value in fields.items()}


def read_body(record: Recorded, body: bytes) -> None:
    """Decode the body into a record's `payload`, `request` and `model`, or set its `error`."""
    try:
        record.payload = parse(body, record.api)
        request: ChatRequest = adapter(record.api).decode_request(record.payload)
    except DecodeError as error:
        record.error = error
        return
    if record.model is None:
        record.model = request.model
    elif request.model is None:
        request = msgspec.structs.replace(request, model=record.model)
    record.request = request
