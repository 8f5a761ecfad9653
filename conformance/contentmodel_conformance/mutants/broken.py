"""What a broken adapter is made of: a good one, and hooks to break it with; and the list that mutants register in."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import msgspec

import contentmodel
from contentmodel import ChatMessage, ChatRequest, Loss
from contentmodel import events as ev
from contentmodel.engine.json import write
from contentmodel_conformance.report import Report
from contentmodel_conformance.suite import check_adapter

replace = msgspec.structs.replace


class Broken:
    """A good adapter, and hooks to break it with; what no hook changes is as it was."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def is_abroad(self, value: Any) -> bool:
        """Whether a value says that it came from another API: many defects show there alone."""
        return value.origin is not None and value.origin.api != self.inner.api

    # -- the hooks ---------------------------------------------------------------------------------------------

    def read(self, kind: str, payload: Any) -> Any:
        """The payload that is decoded."""
        return payload

    def decoded(self, kind: str, value: Any) -> Any:
        """The value that decoding gives."""
        return value

    def to_write(self, kind: str, value: Any) -> Any:
        """The value that is encoded."""
        return value

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        """The payload that encoding gives, of this value."""
        return payload

    def claimed(self, losses: tuple[Loss, ...], value: Any) -> tuple[Loss, ...]:
        """The losses that encoding reports, of this value."""
        return losses

    def received(self, data: bytes) -> bytes:
        """The bytes of a stream that are decoded."""
        return data

    def heard(self, events: list[ev.StreamEvent]) -> list[ev.StreamEvent]:
        """The events that decoding some bytes of a stream gives."""
        return events

    def told(self, event: ev.StreamEvent) -> ev.StreamEvent:
        """The event that is encoded."""
        return event

    # -- the adapter -------------------------------------------------------------------------------------------

    def trace_request(self, payload: Any) -> Any:
        value, wire, trace = self.inner.trace_request(self.read("request", payload))
        return self.decoded("request", value), wire, trace

    def trace_response(self, payload: Any) -> Any:
        value, wire, trace = self.inner.trace_response(self.read("response", payload))
        return self.decoded("response", value), wire, trace

    def decode_request(self, payload: Any) -> Any:
        return self.trace_request(payload)[0]

    def decode_response(self, payload: Any) -> Any:
        return self.trace_response(payload)[0]

    def encode_request(self, request: Any, policies: Any = None, model: str | None = None) -> Any:
        encoded = self.inner.encode_request(self.to_write("request", request), policies, model)
        return _Written(encoded, self, "request", request)

    def encode_response(self, response: Any, policies: Any = None) -> Any:
        encoded = self.inner.encode_response(self.to_write("response", response), policies)
        return _Written(encoded, self, "response", response)

    def stream_decoder(self, *, deltas: bool = True) -> Any:
        return Reader(self.inner.stream_decoder(deltas=deltas), self)

    def stream_encoder(self, policies: Any = None) -> Any:
        return Writer(self.inner.stream_encoder(policies), self)


class _Written:
    """What a broken adapter has encoded."""

    def __init__(self, encoded: Any, owner: Broken, kind: str, value: Any) -> None:
        self._encoded, self._owner = encoded, owner
        self._value = value
        self.payload = owner.written(kind, encoded.payload, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoded, name)

    @property
    def losses(self) -> Any:
        return self._owner.claimed(self._encoded.losses, self._value)

    def trace_to(self, payload: Any, context: Any) -> Any:
        self._encoded.trace_to(payload, context)
        return self

    def to_json(self) -> bytes:
        return write(self.payload)


class Reader:
    """A stream that a broken adapter reads."""

    def __init__(self, decoder: Any, owner: Broken) -> None:
        self._decoder, self._owner = decoder, owner

    def feed(self, data: bytes) -> Any:
        return self._owner.heard(self._decoder.feed(self._owner.received(data)))

    def feed_event(self, event: Any, name: str | None = None) -> Any:
        return self._owner.heard(self._decoder.feed_event(event, name))

    def close(self) -> Any:
        return self._owner.heard(self._decoder.close())


class Writer:
    """A stream that a broken adapter writes."""

    def __init__(self, encoder: Any, owner: Broken) -> None:
        self._encoder, self._owner = encoder, owner

    @property
    def losses(self) -> Any:
        return self._encoder.losses

    def feed(self, event: Any) -> Any:
        return self._encoder.feed(self._owner.told(event))

    def close(self) -> Any:
        return self._encoder.close()


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A defect: its `name`, what it does wrong (`says`), the adapter (`api`) that the checks are tried on, the one
    (`other`) that it is converted from and to, and the `checks` that each find it.
    """

    name: str
    says: str
    api: str
    other: str
    checks: tuple[str, ...]

    def broken(self) -> AbstractContextManager[tuple[Any, Any]]:
        """Return what gives the adapter with the defect and the other one; the defect ends with it."""
        raise NotImplementedError

    def report(self, *, seed: int = 0) -> Report:
        """What its checks say of the broken adapter. It is found where every one of them fails."""
        with self.broken() as (adapter, other):
            return self._report(adapter, other, seed)

    def report_of_the_good(self, *, seed: int = 0) -> Report:
        """What the same checks say of the good adapter: else it would be no news that they fail."""
        return self._report(contentmodel.adapter(self.api), contentmodel.adapter(self.other), seed)

    def _report(self, adapter: Any, other: Any, seed: int) -> Report:
        return check_adapter(adapter, only=self.checks, others=[other], seed=seed, fail_fast=True)


class AdapterMutant(Mutant, frozen=True, kw_only=True):
    """A good adapter in a wrapper that breaks it."""

    kind: type[Broken]

    def adapter(self) -> Any:
        """The broken adapter, with no memory of earlier ones."""
        return self.kind(contentmodel.adapter(self.api))

    def broken(self) -> AbstractContextManager[tuple[Any, Any]]:
        return nullcontext((self.adapter(), contentmodel.adapter(self.other)))


MUTANTS: dict[str, Mutant] = {}
"""All mutants, by name."""


def add(made: Mutant) -> None:
    """Add a mutant to the list."""
    if made.name in MUTANTS:
        raise ValueError(f"two mutants are called {made.name}")
    MUTANTS[made.name] = made


Kind = TypeVar("Kind", bound=type[Broken])
CHAT, ANTHROPIC, GOOGLE = "openai-chat", "anthropic-messages", "google-generate-content"
RESPONSES = "openai-responses"


def mutant(api: str, *checks: str, other: str | None = None) -> Callable[[Kind], Kind]:
    """Registers the class below; its name is the mutant's, and its docstring what the mutant does wrong."""

    def register(kind: Kind) -> Kind:
        name = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
        says = " ".join(inspect.cleandoc(kind.__doc__ or "").split())
        abroad = other or (ANTHROPIC if api == CHAT else CHAT)
        add(AdapterMutant(name=name, says=says, api=api, other=abroad, checks=checks, kind=kind))
        return kind

    return register


# -- what the hooks are made of ----------------------------------------------------------------------------------------


def messages_of(value: Any) -> list[ChatMessage]:
    """The messages of a request, or of the first choice of a response."""
    found: list[ChatMessage] = value.messages
    return found


def with_messages(value: Any, messages: list[ChatMessage]) -> Any:
    """The value with other messages."""
    if isinstance(value, ChatRequest):
        return replace(value, messages=messages)
    return (
        replace(value, choices=[replace(value.choices[0], messages=messages), *value.choices[1:]])
        if value.choices
        else value
    )


def with_contents(value: Any, change: Callable[[list[Any]], list[Any]]) -> Any:
    """The value with the contents of each message changed."""
    return with_messages(value, [replace(message, contents=change(message.contents)) for message in messages_of(value)])


def each_content(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with each content changed; one that becomes None goes."""
    return with_contents(value, lambda contents: [made for one in contents if (made := change(one)) is not None])


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """JSON with each value in it changed, from the inside out."""
    if isinstance(value, dict):
        return change({key: changed(item, change) for key, item in value.items()})
    if isinstance(value, list):
        return change([changed(item, change) for item in value])
    return change(value)
