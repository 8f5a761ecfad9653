"""What a client sent: each request as it came, and as the model has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from contentmodel.adapter import adapter
from contentmodel.engine.json import parse
from contentmodel.engine.losses.loss import Loss
from contentmodel.errors import DecodeError
from contentmodel.errors import Fault as Flaw
from contentmodel.request import ChatRequest
from contentmodel.rules import Violation
from contentmodel_conformance.server.script import Fault

SECRETS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key", "proxy-authorization", "cookie", "key"})
"""Headers and query parameters that a log must not have."""


@dataclass
class Recorded:
    """One request, and how it was answered.

    `payload` is its JSON, None where it is none. `request` is what the model reads in it; `error` says why it reads
    nothing. `model` is the one that is asked for, in the payload or in the path.
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
    """The number of the turn that answered it."""
    fault: Fault | None = None
    """What went wrong on purpose."""
    status: int | None = None
    """The HTTP status of the answer; None where the connection was cut before it."""
    losses: tuple[Loss, ...] = field(default=())
    """What this API could not carry of the turn's answer."""

    def check(self) -> list[Violation]:
        """What the API would refuse, ignore or answer badly in it, as far as its rules apply to the model."""
        try:
            found: list[Violation] = adapter(self.api).check_request(self.payload, self.model)
        except DecodeError as error:
            return [_unreadable(flaw) for flaw in (self.error or error).faults]
        return [violation for violation in found if violation.severity != "unchecked"]

    def as_json(self) -> dict[str, Any]:
        """The record for a log, without keys and other secrets."""
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
    return Violation(path=flaw.path, rule="shape", severity="refused", what=flaw.message, fix="send what the API reads")


def _without_secrets(said: Mapping[str, str]) -> dict[str, str]:
    return {name: "..." if name.lower() in SECRETS else value for name, value in said.items()}


def read_body(record: Recorded, body: bytes) -> None:
    """Fills a record with what the body says, as far as it says it."""
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
