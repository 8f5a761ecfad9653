"""Convert one request for an upstream, and its answer for the client. No I/O."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from contentmodel.adapter import as_json, traced
from contentmodel.content.outcomes import ErrorContent
from contentmodel.encoded import Encoded
from contentmodel.errors import DecodeError, EncodeError, Fault
from contentmodel.events import StreamEvent, TurnComplete, TurnError, TurnStart
from contentmodel.gateway.carrying import Account, CarriedEvents, Carrier, Lost, Opened
from contentmodel.gateway.config import Route
from contentmodel.gateway.front import JSON_TYPE, Front, GatewayError, Incoming, Reply, without_secrets
from contentmodel.gateway.lanes import NOW, AnswerLane, RequestLane, usage_of
from contentmodel.gateway.report import Report
from contentmodel.gateway.state import StateKeys, may_have_envelopes
from contentmodel.gateway.upstream import Sender, has_contents
from contentmodel.json import JsonObject, parse, write
from contentmodel.lanes.lane import may_have_lane
from contentmodel.losses import Loss, significant
from contentmodel.reasons import NO_CARRIER
from contentmodel.renames import Renames
from contentmodel.request import ChatRequest, FunctionTool, HostedTool
from contentmodel.response import ChatResponse
from contentmodel.rules import Violation
from contentmodel.streams import StreamConverter, fold_stream
from contentmodel.unfolding import unfold

if TYPE_CHECKING:
    from contentmodel.gateway.conversations import Thread

_M = TypeVar("_M", bound=msgspec.Struct)

OUTPUT_LIMIT = "32000"
"""The limit of output tokens for an API that requires one, if the client sets none. Agents write whole files."""

PARAMETERS = {
    "code_interpreter": "code",
    "file_search": "query",
    "image_generation": "prompt",
    "shell": "command",
    "url_context": "url",
    "web_fetch": "url",
    "web_search": "query",
}
"""The parameter of a hosted tool that is offered as a function, by kind. Other kinds take any arguments."""


Decoded: TypeAlias = tuple[ChatRequest, tuple[Any, Any] | None]
"""A decoded request, and its payload with the record of source paths, if its adapter makes one."""


@dataclass
class Outgoing:
    """A request as an upstream gets it, and what is needed to convert its answer.

    If `passes` is true, the APIs of both sides are the same, and bytes are passed through. `thread` takes the answer if
    it is kept. `carrier` has the envelopes for the answer. `check` returns the violations of the request.
    """

    body: bytes
    model: str
    streams: bool
    passes: bool = False
    maps: Renames = field(default_factory=Renames)
    losses: tuple[Loss, ...] = ()
    thread: Thread | None = None
    carrier: Carrier | None = None
    check: Callable[[], list[Violation]] | None = None

    @cached_property
    def violations(self) -> list[str]:
        """The rules of the upstream's API that the request breaks. To find them takes longer than to convert it."""
        check, self.check = self.check, None
        return [] if check is None else [f"{found.rule} at {found.path}" for found in check()]


class Request:
    """A request of a client that can be converted for several upstreams. It is decoded once, if at all."""

    def __init__(
        self, incoming: Incoming, route: Route, keys: StateKeys | None = None, client_key: str | None = None
    ) -> None:
        """`keys` are those of the state that clients send back; None to carry none. `client_key` is the client's."""
        self.incoming, self.route = incoming, route
        self.front: Front = incoming.front
        self._keys, self._client_key = keys, client_key

    @cached_property
    def has_envelopes(self) -> bool:
        """True if the request may have state that a gateway signed."""
        return self._keys is not None and may_have_envelopes(self.incoming.body, self.incoming.payload)

    def issued_by(self, sender: Sender) -> bool:
        """Return whether an upstream issued the newest state of the request."""
        assert self._keys is not None
        return Opened(self.value.messages, self._keys).prefers(Account(sender, self._client_key))

    @cached_property
    def decoded(self) -> Decoded:
        """The decoded request with its trace. Raise GatewayError if it is not valid."""
        try:
            value, trace = traced(self.front.adapter, "request", self.incoming.payload)
        except DecodeError as error:
            raise GatewayError("invalid_request", str(error)) from None
        assert isinstance(value, ChatRequest)
        return _with_stream(value, trace, streams=self.incoming.streams), trace

    @property
    def value(self) -> ChatRequest:
        """The decoded request. Raise GatewayError if it is not valid."""
        return self.decoded[0]

    def outgoing(self, sender: Sender, thread: Thread | None = None) -> Outgoing:
        """Return the request for an upstream, with the messages of its thread.

        Raise GatewayError if the request is not valid, or if the route refuses its losses.
        """
        incoming = self.incoming
        model = self.route.model or incoming.model
        passes = sender.speaks(self.front)
        if passes and not self.has_envelopes:
            return Outgoing(self.passed(model), model, incoming.streams, passes=True)
        try:
            encoded, lost = self._same(sender, model) if passes else self._encoded(sender, model, thread)
        except (DecodeError, EncodeError) as error:
            raise GatewayError("invalid_request", str(error)) from None
        losses = (*encoded.losses, *lost)
        self._refuse(losses, sender)
        if passes:
            body = write(sender.http.body_of(encoded.payload))
            return Outgoing(body, model, incoming.streams, passes=True, losses=losses)
        payload = sender.http.body_of({**sender.http.foreign, **encoded.payload})
        if incoming.streams and sender.http.usage_fields:
            payload = sender.http.with_usage(payload)
        # The store keeps the state of an answer that it keeps.
        carrier = None if thread is not None and thread.is_kept else self._carrier(sender, model)
        if carrier is not None and carrier.can_carry and sender.http.asks_state:
            payload = _asking_state(payload, sender, model)
        host = (sender.policies,) if sender.policies else ()
        check = partial(sender.adapter.check_request, payload, model, *host)
        return Outgoing(write(payload), model, incoming.streams, False, encoded.maps, losses, thread, carrier, check)

    def _carrier(self, sender: Sender, model: str) -> Carrier | None:
        """Return what carries the reasoning of an answer; None if nothing does, or if the client's API is the same."""
        if self._keys is None or self.route.reasoning != "carry" or sender.api == self.front.api:
            return None
        account = Account(sender, self._client_key)
        return Carrier(self._keys, account, self.front, self.route.chat_reasoning, model)

    def _same(self, sender: Sender, model: str) -> tuple[Encoded, tuple[Loss, ...]]:
        """Return the request for an upstream of the client's API, without envelopes."""
        value, trace = self.decoded
        request, lost = self._opened(value, trace, sender)
        encoded: Encoded = sender.adapter.encode_request(request, sender.policies, model)
        encoded = encoded if trace is None else encoded.trace_to(*trace)
        return encoded, encoded.losses_of(value, lost)

    def _opened(self, value: ChatRequest, trace: Any, sender: Sender) -> tuple[ChatRequest, list[Lost]]:
        """Return a request with the state in its envelopes that an upstream may get, and what is lost."""
        # Messages that were kept before may have envelopes as well.
        if self._keys is None or (value is self.value and not self.has_envelopes):
            return value, []
        opened = Opened(value.messages, self._keys)
        replaced = (lambda old, new: new) if trace is None else trace[1].replaced
        account = Account(sender, self._client_key)
        return opened.request(value, account, choice=self.route.reasoning, replaced=replaced)

    def _encoded(self, sender: Sender, model: str, thread: Thread | None) -> tuple[Encoded, tuple[Loss, ...]]:
        """Convert the request for an upstream: by the lane if it is long and refers to no other messages."""
        policies, payload = self._policies(sender), self.incoming.payload
        continued = None if thread is None else thread.decoded
        lane = self._lane(sender, policies) if continued is None and not self.has_envelopes else None
        if lane is not None and lane.is_long(payload):
            return lane.turns(payload, model).converted(payload), ()
        value, trace = continued or self.decoded
        request, lost = self._opened(value, trace, sender)
        request = _with_hosted_tools(request, trace, sender, model, self.route.hosted_tools)
        encoded: Encoded = sender.adapter.encode_request(request, policies, model)
        encoded = encoded if trace is None else encoded.trace_to(*trace)
        return encoded, encoded.losses_of(value, lost)

    def _lane(self, sender: Sender, policies: Mapping[str, str]) -> RequestLane | None:
        """Return the lane of requests like this one; None if one of the APIs has none."""
        reader, streams, choice = self.front.adapter, self.incoming.streams, self.route.hosted_tools
        if not may_have_lane(reader, sender.adapter):
            return None

        def change(request: ChatRequest, trace: Any, model: str | None) -> ChatRequest:
            request = _with_stream(request, trace, streams=streams)
            return _with_hosted_tools(request, trace, sender, model or "", choice)

        key = "request", reader, streams, choice, *sorted(policies.items())
        lane: RequestLane | None = sender.lanes.get(key)
        if lane is None:
            lane = sender.lanes[key] = RequestLane(reader, sender.adapter, policies, change)
        return lane

    def passed(self, model: str) -> bytes:
        """Return the bytes of the client. If the payload names another model, only its value is replaced."""
        body = self.incoming.body
        if self.front.http.names_model_in_path or model == self.incoming.model:
            return body
        return with_model(body, model)

    def _policies(self, sender: Sender) -> dict[str, str]:
        hosted = {"hosted_tools": "drop"} if self.route.hosted_tools == "drop" else {}
        return {"output_limit": OUTPUT_LIMIT, **hosted, **self.route.choices, **sender.policies}

    def _refuse(self, losses: Iterable[Loss], sender: Sender) -> None:
        """Raise GatewayError if the route refuses one of the losses."""
        refused = [loss for loss in significant(losses) if self.route.refuses(loss.family)]
        if refused:
            listed = "; ".join(f"{loss.what} at {loss.path}: {loss.why}" for loss in refused[:5])
            more = f"; and {len(refused) - 5} more" if len(refused) > 5 else ""
            raise GatewayError(
                "invalid_request",
                f"{sender.shown} cannot carry the whole request, and its route refuses losses: {listed}{more}",
            )


def _asking_state(payload: JsonObject, sender: Sender, model: str) -> JsonObject:
    """Return a request that asks for the opaque state of its reasoning, if its model may reason."""
    if sender.adapter.look_up_model(model, sender.policies).capabilities.thinking == ():
        return payload
    added = {
        name: [*(payload.get(name) or ()), *(one for one in value if one not in (payload.get(name) or ()))]
        for name, value in sender.http.asks_state.items()
    }
    return {**payload, **added}


def _with_stream(request: ChatRequest, trace: Any, *, streams: bool) -> ChatRequest:
    """Set whether the answer is streamed, which the path of some APIs names."""
    stream = True if streams else None
    if (request.options.stream or None) is stream:
        return request
    return _changed(trace, request, options=_changed(trace, request.options, stream=stream))


def _with_hosted_tools(request: ChatRequest, trace: Any, sender: Sender, model: str, choice: str) -> ChatRequest:
    """Apply the route's choice for hosted tools that the upstream lacks."""
    if choice not in ("function", "refuse"):
        return request
    lacking = [tool for tool in request.tools if isinstance(tool, HostedTool) and _lacks(sender, tool, model)]
    if not lacking:
        return request
    if choice == "refuse":
        names = ", ".join(tool.name or tool.kind for tool in lacking)
        raise GatewayError("invalid_request", f"{sender.shown} has no such hosted tools: {names}")
    taken = {getattr(tool, "name", None) for tool in request.tools if tool not in lacking}
    tools = [_as_function(tool, taken) if tool in lacking else tool for tool in request.tools]
    return _changed(trace, request, tools=tools)


def _changed(trace: Any, value: _M, **fields: Any) -> _M:
    """Return a value with other fields. The trace gets both, so that the paths of losses lead to the payload."""
    changed = msgspec.structs.replace(value, **fields)
    if trace is not None:
        trace[1].replaced(value, changed)
    return changed


def _lacks(sender: Sender, tool: HostedTool, model: str) -> bool:
    """Return whether an API has no form of a hosted tool: a request with this tool alone loses it."""
    encoded = sender.adapter.encode_request(ChatRequest(model=model, tools=[tool]), sender.policies, model)
    return not encoded.payload.get("tools")


def _as_function(tool: HostedTool, taken: set[str | None]) -> FunctionTool:
    name = tool.name or tool.kind
    while name in taken:
        name += "_hosted"
    taken.add(name)
    parameter = PARAMETERS.get(tool.kind)
    schema: JsonObject = {"type": "object"}
    if parameter is not None:
        schema |= {"properties": {parameter: {"type": "string"}}, "required": [parameter]}
    return FunctionTool(name=name, description=f"The tool {tool.kind} of the client.", parameters=schema)


_TOKEN = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:\s*)?|[\[{]|[\]}]', re.DOTALL)
"""A string or a bracket of JSON. Group 1 is the string, and group 2 is set if it is a key."""


def with_model(body: bytes, model: str) -> bytes:
    """Return a JSON object with another value of its member `model`. All other bytes are unchanged."""
    depth, end, pieces = 0, 0, []
    value_at = -1
    for token in _TOKEN.finditer(body):
        if token[1] is None:
            depth += 1 if token[0] in b"[{" else -1
        elif depth == 1 and token[2] is not None and parse(token[1]) == "model":
            value_at = token.end()
        elif token.start() == value_at:
            pieces += [body[end : token.start(1)], write(model)]
            end = token.end(1)
    return b"".join([*pieces, body[end:]])


# -- answers -----------------------------------------------------------------------------------------------------------


class Answer:
    """Convert the answer of an upstream for the client that asked."""

    def __init__(
        self,
        incoming: Incoming,
        sender: Sender,
        outgoing: Outgoing,
        policies: dict[str, str],
        secrets: tuple[str, ...] = (),
    ) -> None:
        """`secrets` are removed from an error of the upstream."""
        self.incoming, self._sender, self._outgoing, self._secrets = incoming, sender, outgoing, secrets
        self._front = incoming.front
        self.thread, self._carrier = outgoing.thread, outgoing.carrier
        self._now = int(time.time())
        chunk = {"stream_usage": "chunk"} if incoming.asks_usage else {}
        self._policies = {**policies, **chunk, **self._front.policies}
        self._payload: JsonObject | None = None

    @cached_property
    def _lane(self) -> AnswerLane | None:
        """The lane of answers like this one; None if one of the APIs has none, or if the answer is kept."""
        reader, writer = self._sender.adapter, self._front.adapter
        is_kept = self.thread is not None and self.thread.is_kept
        if is_kept or not may_have_lane(reader, writer):
            return None
        carrier = self._carrier
        key = "answer", writer, None if carrier is None else carrier.shows, *sorted(self._policies.items())
        lane: AnswerLane | None = self._sender.lanes.get(key)
        if lane is None:
            change = partial(_uncarried, carrier=carrier, dates=self._front.http.dates_answers)
            lane = self._sender.lanes[key] = AnswerLane(reader, writer, self._policies, change)
        return lane

    def _payload_of(self, body: bytes) -> JsonObject:
        """Return the JSON of the answer, which is read once: for a template, and for the model's way."""
        if self._payload is None:
            payload = as_json(body, self._sender.api)
            self._payload = self._sender.http.with_path_model(payload, self._outgoing.model)
        return self._payload

    def repeated(self, body: bytes, report: Report) -> Reply | None:
        """Convert a whole answer by a template; return None if it fits none. Raise DecodeError if it is not JSON."""
        lane = self._lane
        if lane is None or self._sender.stream_format.begins(body):
            return None
        payload = self._payload_of(body)
        filled = lane.filled({**payload, NOW: self._now}) if payload.__class__ is dict else None
        if filled is None:
            return None
        (made, usage, calls), template = filled
        if not self._outgoing.maps.leave(calls):
            return None
        report.describe_answer(template.losses, usage_of(usage))
        return Reply(template.status or 200, write(made), {"content-type": JSON_TYPE})

    def read(self, body: bytes) -> tuple[ChatResponse, Any]:
        """Return a whole answer, and its trace. Raise DecodeError if it is not an answer of the upstream's API.

        Some servers send events although the request asks for none (open-webui/computer#193, seen 2026-11-27).
        """
        reader = self._sender.adapter
        if self._sender.stream_format.begins(body):
            return self._folded(body), None
        payload = self._payload_of(body)
        value, trace = traced(reader, "response", payload)
        assert isinstance(value, ChatResponse)
        is_empty = value.error is None and value.finish_reason is None and not has_contents(value)
        if is_empty and "response" not in reader.recognises(payload):
            raise DecodeError(reader.api, [Fault("$", "expected an answer of this API")])
        return value, trace

    def _folded(self, body: bytes) -> ChatResponse:
        """Return the answer of a stream, or its error alone."""
        value = fold_stream(body, self._sender.api)
        if value.error is not None:
            return ChatResponse(error=value.error, origin=value.origin)
        return msgspec.structs.replace(value, model=value.model or self._outgoing.model)

    def whole(self, value: ChatResponse, trace: Any, report: Report) -> Reply:
        """Convert a whole answer."""
        reader = self._sender.adapter
        replaced = None if trace is None else trace[1].replaced
        restored = self._outgoing.maps.restored_names(value, reader.restore_arguments, replaced)
        kept = self._dated(restored if self.thread is None else self.thread.whole(restored, self._outgoing.maps))
        if replaced is not None and kept is not restored:
            replaced(restored, kept)
        shown, unsealed = kept, list[Any]()
        if self._carrier is not None:
            shown, unsealed = self._carrier.answer(kept, replaced or (lambda old, new: new))
        encoded = self._front.adapter.encode_response(shown, self._policies)
        if trace is not None:
            encoded.trace_to(*trace)
        body = write(encoded.payload)
        lost = [(content, "protected", NO_CARRIER) for *_, content in unsealed if not has_state(content, body)]
        report.describe_answer((*encoded.losses, *encoded.losses_of(kept, lost)), value.usage)
        if self._lane is not None and trace is not None and restored is value and shown is kept:
            self._lane.learn({**trace[0], NOW: self._now}, encoded)
        return Reply(encoded.status or 200, body, {"content-type": JSON_TYPE})

    def as_stream(self, value: ChatResponse, report: Report) -> bytes:
        """Convert a whole answer to a stream, for an upstream that does not stream."""
        restored = self._outgoing.maps.restored_names(value, self._sender.adapter.restore_arguments)
        encoder = self._front.adapter.stream_encoder(self._policies)
        kept = self._dated(restored if self.thread is None else self.thread.whole(restored, self._outgoing.maps))
        carry = None if self._carrier is None else self._carrier.events()
        events = unfold(kept) if carry is None else (one for event in unfold(kept) for one in carry(event))
        data = b"".join([*map(encoder.feed, events), encoder.close()])
        for choice, block, content in () if carry is None else carry.unsealed:
            if not has_state(content, data):
                encoder.report_left_out((choice, block), content, "protected", NO_CARRIER)
        report.describe_answer(encoder.losses, value.usage)
        return data

    def converter(self) -> StreamConverter:
        """Return the converter of a streamed answer."""
        return CarryingConverter(
            None if self._carrier is None else self._carrier.events(),
            self._each(),
            source=self._sender.api,
            target=self._front.api,
            maps=self._outgoing.maps,
            model=self._outgoing.model,
            policies=self._policies,
        )

    def _each(self) -> Callable[[StreamEvent], StreamEvent]:
        """Return what changes each event of a stream: it is kept, dated, and its error has no secrets."""
        kept = None if self.thread is None else self.thread.events(self._outgoing.maps)

        def changed(event: StreamEvent) -> StreamEvent:
            if isinstance(event, TurnError):
                error = without_secrets(event.error, self._secrets)
                event = msgspec.structs.replace(event, error=error, response=_with_error(event.response, error))
            event = event if kept is None else kept(event)
            if not isinstance(event, TurnStart | TurnComplete | TurnError):
                return event
            return msgspec.structs.replace(event, response=self._dated(event.response))

        return changed

    def _dated(self, response: ChatResponse) -> ChatResponse:
        """Return an answer with the present time, if the client's API has one and the upstream's has none."""
        return _dated(response, None, self._now, dates=self._front.http.dates_answers)


def _dated(response: ChatResponse, trace: Any, now: int, *, dates: bool) -> ChatResponse:
    return response if response.created is not None or not dates else _changed(trace, response, created=now)


def _uncarried(response: ChatResponse, trace: Any, now: int, *, carrier: Carrier | None, dates: bool) -> ChatResponse:
    """Return a dated answer for a template. Raise EncodeError if it has reasoning to carry: no template signs it."""
    if carrier is not None and carrier.needed_by(response):
        raise EncodeError("the answer has reasoning of another API")
    return _dated(response, trace, now, dates=dates)


def has_state(content: Any, data: bytes) -> bool:
    """Return whether a payload has the opaque state of a content."""
    return content.protected is None or write(content.protected.data)[1:-1] in data


class CarryingConverter(StreamConverter):
    """Convert a stream whose foreign reasoning is in envelopes. State that the client does not get is reported."""

    def __init__(
        self, carry: CarriedEvents | None, changed: Callable[[StreamEvent], StreamEvent], **options: Any
    ) -> None:
        """Create the converter. `changed` changes each event before it is carried."""
        self._carry = carry
        super().__init__(**options, each=lambda e: (changed(e),) if carry is None else carry(changed(e)))

    def feed(self, data: bytes) -> bytes:
        made = super().feed(data)
        self._look_for_state(made)
        return made

    def close(self) -> bytes:
        made = super().close()
        self._look_for_state(made)
        for choice, block, content in () if self._carry is None else self._carry.unsealed:
            self.report_left_out(choice, block, content, "protected", NO_CARRIER)
        return made

    def _look_for_state(self, made: bytes) -> None:
        if self._carry is not None and self._carry.unsealed:
            self._carry.unsealed = [one for one in self._carry.unsealed if not has_state(one[-1], made)]


def _with_error(response: ChatResponse, error: ErrorContent) -> ChatResponse:
    """Return the response of a failed stream with its error as the client gets it."""
    return response if response.error is None else msgspec.structs.replace(response, error=error)


class Framing:
    """Frame a stream of the client's API as the client asked: unchanged, or as the elements of a JSON array."""

    def __init__(self, incoming: Incoming) -> None:
        stream_format, is_array = incoming.front.stream_format, incoming.framing == "array"
        self.media_type = JSON_TYPE if is_array else stream_format.media_type
        self._parser = stream_format.framing() if is_array else None
        self._is_first = True

    @property
    def is_array(self) -> bool:
        """True if the events are elements of an array."""
        return self._parser is not None

    def feed(self, data: bytes) -> bytes:
        """Return the bytes for the client."""
        if self._parser is None:
            return data
        elements = []
        for _, event in self._parser.feed(data):
            elements.append((b"[" if self._is_first else b",\n") + event)
            self._is_first = False
        return b"".join(elements)

    def close(self) -> bytes:
        """Return the end of the stream."""
        return b"" if self._parser is None else (b"[]" if self._is_first else b"]")
