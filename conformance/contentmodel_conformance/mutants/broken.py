"""The base class of broken adapters (a good adapter, and hooks that break it), and the registry of mutants."""

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
from contentmodel.json import write
from contentmodel_conformance.report import Report
from contentmodel_conformance.suite import check_adapter

replace = msgspec.structs.replace


class Broken:
    """A good adapter with hooks that break it. A hook that is not overridden changes nothing."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def is_foreign(self, value: Any) -> bool:
        """Return whether a value came from another API. Many defects only affect such values."""
        return value.origin is not None and value.origin.api != self.inner.api

    # -- the hooks ---------------------------------------------------------------------------------------------

    def read(self, kind: str, payload: Any) -> Any:
        """Return the payload to decode."""
        return payload

    def decoded(self, kind: str, value: Any) -> Any:
        """Return the result of decoding."""
        return value

    def to_write(self, kind: str, value: Any) -> Any:
        """Return the value to encode."""
        return value

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        """Return the payload that encoding `value` gives."""
        return payload

    def claimed(self, losses: tuple[Loss, ...], value: Any) -> tuple[Loss, ...]:
        """Return the losses that encoding `value` reports."""
        return losses

    def received(self, data: bytes) -> bytes:
        """Return the bytes of a stream to decode."""
        return data

    def events_decoded(self, events: list[ev.StreamEvent]) -> list[ev.StreamEvent]:
        """Return the events that some bytes of a stream decode to."""
        return events

    def event_to_encode(self, event: ev.StreamEvent) -> ev.StreamEvent:
        """Return the event to encode."""
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
    """The encoded payload of a broken adapter."""

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
    """The stream decoder of a broken adapter."""

    def __init__(self, decoder: Any, owner: Broken) -> None:
        self._decoder, self._owner = decoder, owner

    def feed(self, data: bytes) -> Any:
        return self._owner.events_decoded(self._decoder.feed(self._owner.received(data)))

    def feed_event(self, event: Any, name: str | None = None) -> Any:
        return self._owner.events_decoded(self._decoder.feed_event(event, name))

    def close(self) -> Any:
        return self._owner.events_decoded(self._decoder.close())


class Writer:
    """The stream encoder of a broken adapter."""

    def __init__(self, encoder: Any, owner: Broken) -> None:
        self._encoder, self._owner = encoder, owner

    @property
    def losses(self) -> Any:
        return self._encoder.losses

    def feed(self, event: Any) -> Any:
        return self._encoder.feed(self._owner.event_to_encode(event))

    def close(self) -> Any:
        return self._encoder.close()


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A defect: its `name` and `description`, and the `checks` that each find it.

    The checks are tried on the adapter of `api`, and convert from and to the adapter of `other`.
    """

    name: str
    description: str
    api: str
    other: str
    checks: tuple[str, ...]

    def broken(self) -> AbstractContextManager[tuple[Any, Any]]:
        """Return a context manager that gives the adapter with the defect, and the other adapter."""
        raise NotImplementedError

    def report(self, *, seed: int = 0) -> Report:
        """Run the checks on the broken adapter. The mutant is found if every check fails."""
        with self.broken() as (adapter, other):
            return self._report(adapter, other, seed)

    def report_of_the_good(self, *, seed: int = 0) -> Report:
        """Run the same checks on the good adapter. They must pass."""
        return self._report(contentmodel.adapter(self.api), contentmodel.adapter(self.other), seed)

    def _report(self, adapter: Any, other: Any, seed: int) -> Report:
        return check_adapter(adapter, only=self.checks, others=[other], seed=seed, fail_fast=True)


class AdapterMutant(Mutant, frozen=True, kw_only=True):
    """A good adapter in a wrapper that breaks it."""

    kind: type[Broken]

    def adapter(self) -> Any:
        """Return a new broken adapter."""
        return self.kind(contentmodel.adapter(self.api))

    def broken(self) -> AbstractContextManager[tuple[Any, Any]]:
        return nullcontext((self.adapter(), contentmodel.adapter(self.other)))


MUTANTS: dict[str, Mutant] = {}
"""All mutants, by name."""


def add(mutant: Mutant) -> None:
    """Add a mutant to the registry."""
    if mutant.name in MUTANTS:
        raise ValueError(f"two mutants are named {mutant.name}: rename one")
    MUTANTS[mutant.name] = mutant


Kind = TypeVar("Kind", bound=type[Broken])
CHAT, ANTHROPIC, GOOGLE = "openai-chat", "anthropic-messages", "google-generate-content"
RESPONSES = "openai-responses"


def mutant(api: str, *checks: str, other: str | None = None) -> Callable[[Kind], Kind]:
    """Register the decorated class as a mutant. Its docstring describes the defect."""

    def register(kind: Kind) -> Kind:
        name = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
        description = " ".join(inspect.cleandoc(kind.__doc__ or "").split())
        target = other or (ANTHROPIC if api == CHAT else CHAT)
        add(AdapterMutant(name=name, description=description, api=api, other=target, checks=checks, kind=kind))
        return kind

    return register


# -- helpers of hooks --------------------------------------------------------------------------------------------------


def messages_of(value: Any) -> list[ChatMessage]:
    """Return the messages of a request, or of the first choice of a response."""
    messages: list[ChatMessage] = value.messages
    return messages


def with_messages(value: Any, messages: list[ChatMessage]) -> Any:
    """Return a copy of a request or response with other messages."""
    if isinstance(value, ChatRequest):
        return replace(value, messages=messages)
    return (
        replace(value, choices=[replace(value.choices[0], messages=messages), *value.choices[1:]])
        if value.choices
        else value
    )


def with_contents(value: Any, change: Callable[[list[Any]], list[Any]]) -> Any:
    """Return a copy of a request or response with the contents of each message changed."""
    return with_messages(value, [replace(message, contents=change(message.contents)) for message in messages_of(value)])


def each_content(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a request or response with each content changed. Contents that become None are removed."""
    return with_contents(
        value, lambda contents: [changed for content in contents if (changed := change(content)) is not None]
    )


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of JSON with each value changed, innermost values first."""
    if isinstance(value, dict):
        return change({key: changed(item, change) for key, item in value.items()})
    if isinstance(value, list):
        return change([changed(item, change) for item in value])
    return change(value)
