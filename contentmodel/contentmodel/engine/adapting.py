"""An adapter made of tables. The engine is imported with the first adapter, not with the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, partial
from operator import is_
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec
from msgspec.structs import replace

from contentmodel import reasons
from contentmodel.adapter import Payload, as_json
from contentmodel.capabilities import NO_HOST, UNLIMITED, Host, Known
from contentmodel.content.base import AIContent
from contentmodel.content.text import TextContent
from contentmodel.encoded import Encoded
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.losses.records import report_records, report_request_records, report_result_records
from contentmodel.engine.pipeline.answers import as_error_body, counted, with_end, with_failure, with_fitting_finish
from contentmodel.engine.pipeline.lowering import (
    APPROVALS,
    UNCHANGED,
    normalized_contents,
    normalized_request,
    normalized_response,
)
from contentmodel.engine.pipeline.sentinels import refuses_continuation, with_continuation, without_continuation
from contentmodel.engine.pipeline.steps import (
    NOT_NORMAL,
    RECORDED,
    Fact,
    Plan,
    Step,
    apply_answer_steps,
    apply_request_steps,
    apply_steps,
    payload_step,
    request_step,
)
from contentmodel.engine.pipeline.tools import with_custom_calls
from contentmodel.engine.table.answers import ErrorTypes
from contentmodel.engine.table.codecs import AnyCodec
from contentmodel.engine.table.introspect import get_attribute
from contentmodel.engine.table.rows import Row
from contentmodel.engine.table.tables import Table, misfits
from contentmodel.engine.table.tree import Nested
from contentmodel.errors import DecodeError, EncodeError, Fault
from contentmodel.framing import SSE, StreamFormat
from contentmodel.hints import Hint
from contentmodel.http_api import HttpApi
from contentmodel.json import (
    Json,
    JsonArray,
    JsonObject,
    child_path,
    is_error_in_list,
    kind_of,
    name_of,
    put_at,
    steps_of,
    without_path,
)
from contentmodel.limits import LimitHeaders
from contentmodel.literals import DocumentForm
from contentmodel.message import ChatMessage, Origin
from contentmodel.renames import SchemaMap
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.rules import MODEL_RULE, Rules, Violation
from contentmodel.serialize import require_valid, require_valid_parts

if TYPE_CHECKING:
    from contentmodel.engine.losses.provenance import RowFinder
    from contentmodel.engine.streams.decoder import StreamDecoder
    from contentmodel.engine.streams.encoder import StreamEncoder
    from contentmodel.engine.table.answers import FinishReasons


class TableAdapter:
    """An adapter made of tables: a row for the request, a row for the response, and the steps before encoding."""

    api: str
    issuer: str
    table: Table
    request: Row
    response: Row
    rules: Rules
    errors: ErrorTypes | None = None
    """The error types of the API, by kind of error."""
    limit_headers: LimitHeaders | None = None
    """The headers in which the API reports rate limits; None if it has none."""
    http: HttpApi | None = None
    """The HTTP interface of the API; None if the format has none."""
    hosts: Mapping[str, HttpApi] = {}
    """The HTTP interfaces of hosts that have paths of their own, by dialect. `dialects[0]` is the API's own host."""
    answer: AnyCodec | None = None
    """The codec of the messages of an answer, if they are encoded to one value."""
    decoder: type[StreamDecoder] | None = None
    """The class that decodes streams; None if the format has none."""
    encoder: type[StreamEncoder] | None = None
    """The class that encodes streams; None if the format has none."""
    stream_format: StreamFormat = SSE
    """The format in which the events of a stream are bytes."""
    restores_custom_calls: bool = False
    """True if functions with one text stand for custom tools, so that their calls are custom calls."""
    also_takes: Mapping[str, tuple[type, ...]] = {}
    """Additional JSON classes that the API accepts, by the path of the field in a wire object."""
    requires: Mapping[str, type] = {}
    """The required fields of a request, with their JSON classes."""
    has_lane = False
    """True if conversions depend only on what `lanes/values.py` says. The law `lanes` checks it."""
    model_field = "model"
    """The field of a payload that names the model."""
    takes_only = False
    """True if the API accepts a single object in place of a list."""
    form: DocumentForm = "json"
    """The form of a document. If it is "lines", a request is only its messages, and `conversation` must be set."""
    conversation = ""
    """The request field with the messages. A list as the payload is read as this field."""
    is_list = False
    """True if a request of another API is written as the list of its messages. `conversation` must be set."""

    request_steps: tuple[Step, ...] = ()
    """Steps that adapt a request to this API before the table encodes it, in order."""
    request_payload_steps: tuple[Step, ...] = ()
    """Steps that complete the payload of a request, in order: required fields, refused settings."""
    host_payload_steps: tuple[Step, ...] = ()
    """Steps that put the completed payload of a request into the form of its host, in order."""
    answer_steps: tuple[Step, ...] = ()
    """Steps that adapt the messages of one choice of an answer to this API, in order."""
    token_counts: Mapping[str, bool] | None = None
    """The counters that include others: the arguments of `counted`, which converts the counts of other APIs."""
    response_steps: tuple[Step, ...] = ()
    """Steps that adapt the rest of an answer, in order."""
    response_payload_steps: tuple[Step, ...] = ()
    """Steps that complete the payload of an answer from another API, in order. Native steps run for every answer."""
    reasoning_fields: tuple[str, ...] = ()
    """The fields of a message that contain reasoning of any issuer. Each is the name of a policy."""

    block_union = "content block"
    """The union of the blocks of an answer. An API whose blocks are no union overrides the methods for blocks."""

    dialects: tuple[str, ...] = ()
    """The names of hosts that the policy `dialect` selects, if the API has several."""

    results_in_calls = False
    """True if a call and its result are one object: the results have the order of their calls."""
    has_failed_answers = False
    """True if an answer of the API can be a failure. Otherwise, a failed answer becomes the body of an error."""
    finish: FinishReasons | None = None
    """The finish reasons of answers, by which other APIs recognize values that say more than their reason."""
    failure_message: str | None = None
    """The unmapped field of a choice that explains why the answer failed."""
    has_errors_in_lists = False
    """True if the body of an error may be the only item of a list."""
    keeps_approvals: bool = False
    """True if the format stores approvals of the application's own calls."""
    keeps_state = False
    """True if the format stores the opaque state and the hosted tools of any provider, with the provider's name."""
    takes_json = False
    """True if results of tools may be JSON values. Other JSON values are sent as text."""
    records: frozenset[str] = frozenset()
    """The fields of stored conversations that the format has, of `ChatRequest.branches`, messages and results.

    The engine reports those that the format does not have.
    """
    meaningless: Mapping[str, Any] = {}
    """Unmapped fields that have no meaning outside of this API.

    Each name is mapped to the meaningless value, to a tuple of such values, to a function that returns whether a value
    is meaningless, or to None for any value that holds no text, call, result or medium. A list of one function is for
    a list: each entry that is not meaningless is a loss by itself.
    """
    structure: frozenset[str] = frozenset()
    """Fields with API-specific values, for audits, that the table does not show: each API has its own such values."""
    repeated: frozenset[str] = frozenset()
    """Fields of an answer that repeat a setting of its request."""
    answered: frozenset[str] = frozenset()
    """Fields of a request that belong to its answer: a request of another API ignores them."""

    def __new__(cls, *arguments: Any, **named: Any) -> Self:
        """Create an adapter. Raise TypeError if its class lacks an attribute, or has one with a misspelled name."""
        _require_attributes(cls)
        return super().__new__(cls)

    @cached_property
    def groups(self) -> frozenset[str]:
        """The fields of a request that are objects of settings, such as `generationConfig`."""
        return frozenset(key for key, child in self.request.root.children.items() if isinstance(child, Nested))

    @cached_property
    def shows_refusals(self) -> bool:
        """True if a finish reason of this API shows that the model refused."""
        return self.finish is not None and self.finish.has("refusal")

    def _after_steps(self, response: ChatResponse, context: EncodeContext) -> ChatResponse:
        """Return a response after all steps: those over messages for each choice, then those over the response."""
        is_ended = not (context.native or context.is_unfinished or response.error is not None or self.encoder is None)
        choices = []
        for choice in response.choices:
            choice = with_end(choice, context) if is_ended else choice
            choice = with_fitting_finish(choice, context, shows_refusals=self.shows_refusals)
            messages = apply_answer_steps(choice.messages, self._answer_plan, context)
            choices.append(choice if messages is choice.messages else context.replace(choice, messages=messages))
        if not all(map(is_, choices, response.choices)):
            response = context.replace(response, choices=choices)
        if self.token_counts is not None:
            response = counted(response, context, **self.token_counts)
        return apply_steps(response, self._response_plan, context) if self.response_steps else response

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> Json:
        """Encode adapted messages as they are in an answer of this API: blocks, items or a message."""
        if self.answer is None:
            raise EncodeError(f"{self.api} cannot encode contents outside of an answer: encode the whole response")
        return self.answer.encode(messages, context, None)

    def encode_contents(self, contents: list[AIContent], context: EncodeContext) -> Json:
        """Encode contents as they are in an answer of this API, in the form of `encode_messages`.

        Raise EncodeError if a content without an origin (built by hand) has a field of the wrong type.
        """
        self.aim(context, None if context.origin is None else context.origin.model)
        return self.encode_more(contents, context)

    def encode_more(self, contents: list[AIContent], context: EncodeContext) -> Json:
        """Do the same as `encode_contents`, with a context that was prepared by `aim` for all contents of an answer."""
        if context.has_no_origin:
            for content in contents:
                require_valid(content)
        if not UNCHANGED.issuperset(map(type, contents)):
            contents = normalized_contents(contents, context, takes_json=self.takes_json)
            report_result_records(contents, self.records, context)
        messages = [ChatMessage(role="assistant", contents=contents, origin=context.origin)]
        if not self._answer_plan.is_idle(contents, context):
            messages = apply_answer_steps(messages, self._answer_plan, context)
        return self.encode_messages(messages, context)

    def aim(self, context: EncodeContext, model: str | None) -> None:
        """Set what a context holds of the target: the format's features, the model, and the host that serves it."""
        key = context.kind, model, context.model, context.native, tuple(sorted(context.policies.items()))
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) >= Plan.MOST:
                self._targets.clear()
            target = self._targets[key] = self._target(context, model)
        context.keeps_state, context.keeps_approvals = self.keeps_state, self.keeps_approvals
        context.lacks_approvals, context.reasoning_fields = self._lacks_approvals, self.reasoning_fields
        context.known, context.host, context.issuers = target.known, target.host, target.issuers
        context.policies, context.target = target.policies, target

    def _target(self, context: EncodeContext, model: str | None) -> Target:
        """Return what is known of a target before a request or an answer is looked at."""
        policies, known = context.policies, UNLIMITED
        host = self.host(model, policies)
        if context.kind == "request":
            known = self.look_up_model(model, policies)
            if context.native and known.model is None and known.status == "guessed":
                # The request was written for a model that it does not name: nothing in it is too much for a guess.
                known = UNLIMITED
        if host.cache_points and not known.capabilities.cache_points:
            known = replace(known, capabilities=replace(known.capabilities, cache_points=True))
        foreign = self.rules.foreign_model({self.model_field: model}, host) if context.kind == "request" else None
        return Target(model, known, host, host.issuers | {self.issuer}, {**host.policies, **policies}, foreign)

    @cached_property
    def _targets(self) -> dict[Any, Target]:
        return {}

    @cached_property
    def _lacks_approvals(self) -> bool:
        rows = (row for union in self.table.unions.values() for row in union.rows)
        return not self.keeps_approvals and not any(issubclass(row.model, APPROVALS) for row in rows)

    @property
    def messages_field(self) -> str:
        """The field of a request with its messages."""
        return self.conversation or "messages"

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        """Return what the host of a model adds to the API. An API of several hosts overrides this."""
        return NO_HOST

    def origin_of(self, payload: Mapping[str, object]) -> Origin:
        """Return the origin of a payload, with the model if the payload names one."""
        model = payload.get(self.model_field)
        return Origin(api=self.api, issuer=self.issuer, model=model if isinstance(model, str) else None)

    def answer_origin(self, payload: Mapping[str, object]) -> Origin:
        """Return the origin of an answer, whole or streamed."""
        return replace(self.origin_of(payload), is_answer=True)

    def decode_request(self, payload: Payload) -> ChatRequest:
        """Decode a request. Raise DecodeError with every fault if the payload is not a request of this API."""
        return self.trace_request(payload)[0]

    def decode_response(self, payload: Payload) -> ChatResponse:
        """Decode an answer or an error body. Raise DecodeError with every fault if the payload is neither."""
        return self.trace_response(payload)[0]

    def trace_request(self, payload: Payload, *, is_plain: bool = False) -> tuple[ChatRequest, Json, DecodeContext]:
        """Decode a request. Also return the payload as plain JSON values, and the trace of the decoding.

        `is_plain`: the payload consists of plain JSON values that are not changed afterwards.
        """
        wire: Json = payload if is_plain else as_json(payload, self.api, self.form)
        if self._is_conversation(wire):
            request, _, context = self._decode(self.request, {self.conversation: wire}, root=wire)
            return ALONE.on(request, self.api, True), wire, context
        return self._decode(self.request, _checked(wire, self.api))

    def trace_response(self, payload: Payload, *, is_plain: bool = False) -> tuple[ChatResponse, Json, DecodeContext]:
        """Decode a response. Also return the payload as plain JSON values, and the trace of the decoding.

        `is_plain`: the payload consists of plain JSON values that are not changed afterwards.
        """
        wire: Json = payload if is_plain else as_json(payload, self.api, self.form)
        if self.has_errors_in_lists and is_error_in_list(wire):
            response, _, context = self._decode(self.response, wire[0], root=wire)
            return context.replaced(response, IN_LIST.on(response, self.api, True)), wire, context
        return self._decode(self.response, _checked(wire, self.api))

    def read_request(self, wire: JsonObject) -> tuple[ChatRequest, DecodeContext]:
        """Decode a request from plain JSON values that are not changed afterwards, with all faults in the context."""
        request: ChatRequest
        request, context = self._read(self.request, wire)
        return request, context

    def read_response(self, wire: JsonObject, decoded: Mapping[int, object] | None = None) -> ChatResponse:
        """Decode a response from plain JSON values that are not changed afterwards.

        `decoded` has objects that the adapter decoded before, by the identity of their wire objects.
        """
        response, context = self._read(self.response, wire, decoded=decoded)
        context.finish(wire)
        return response  # type: ignore[no-any-return]

    def _decode(
        self, row: Row, wire: JsonObject, root: JsonArray | None = None
    ) -> tuple[Any, JsonObject, DecodeContext]:
        value, context = self._read(row, wire, root)
        context.finish(wire)
        return value, wire, context

    def _read(
        self,
        row: Row,
        wire: JsonObject,
        root: JsonArray | None = None,
        decoded: Mapping[int, object] | None = None,
    ) -> tuple[Any, DecodeContext]:
        """Return the decoded value, possibly partial, and the context with all faults."""
        origin = self.origin_of(wire) if row is self.request else self.answer_origin(wire)
        context = DecodeContext(self.api, origin)
        context.root = root
        context.decoded = decoded or {}
        try:
            value = self._decode_row(row, wire, context)
            if self.restores_custom_calls and row is self.request:
                value = with_custom_calls(value, context)
        except RecursionError:
            raise DecodeError(self.api, [Fault("$", "nested too deeply")]) from None
        context.trace(row, [value], wire, None, spread=False)
        for key, kind in self.requires.items() if row is self.request else ():
            if key not in wire:
                context.fault(wire, key, f"missing {name_of(kind)}")
            elif wire[key].__class__ is not kind and not self._is_only(wire[key], kind):
                context.expected(wire, key, name_of(kind), wire[key])
        return value, context

    def _is_only(self, value: object, kind: type) -> bool:
        """Return whether a value is a single object in place of a list."""
        return self.takes_only and kind is list and value.__class__ is dict

    def _decode_row(self, row: Row, wire: JsonObject, context: DecodeContext) -> Any:
        return row.decode(wire, context)

    def encode_request(
        self, request: ChatRequest, policies: Mapping[str, str] | None = None, model: str | None = None
    ) -> Encoded:
        """Encode the request for this API (and this model), and record the losses.

        Raise EncodeError if a value without an origin (built by hand) has a field of the wrong type.
        """
        require_valid_parts(request, ChatRequest)
        source = request
        reencode = partial(self.encode_request, policies=policies, model=model)
        context = EncodeContext(self.api, self.issuer, "request", policies, request.origin)
        if model is not None and model != request.model:
            request = context.replace(request, model=model)
        context.model = model
        context.is_aimed = context.native and _is_aimed(request, context)
        self.aim(context, request.model)
        if model is None and not context.native and context.target.foreign is not None:
            context.report_loss(request, "model", reasons.FOREIGN_MODEL, found=context.target.foreign)
        request = apply_request_steps(request, self._request_plan, context)
        payload = apply_steps(self.request.encode(request, context), self._payload_plan, context, request)
        is_alone = ALONE.of(request, self.api) if context.native else self.is_list
        if self.form == "lines" or (is_alone and payload.keys() == {self.conversation}):
            payload = payload.get(self.conversation, [])
        return Encoded(payload, source, context, reencode, self.form)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: without the plans, which are made again."""
        attributes = vars(self).items()
        return {name: value for name, value in attributes if not isinstance(value, Plan) and name != "_targets"}

    @cached_property
    def _request_plan(self) -> Plan:
        first = (
            request_step(
                normalized_request,
                native=True,
                needs=NOT_NORMAL,
                makes=lambda facts: (TextContent,),
                takes_json=self.takes_json,
            ),
            request_step(report_request_records, native=True, needs=RECORDED, held_fields=self.records),
            request_step(without_continuation, native=True, needs=(Fact.CONTINUED,)),
        )
        last = request_step(with_continuation, native=True, on=refuses_continuation)
        return Plan((*first, *self.request_steps, last))

    @cached_property
    def _answer_plan(self) -> Plan:
        return Plan(self.answer_steps)

    @cached_property
    def _response_plan(self) -> Plan:
        return Plan(self.response_steps)

    @cached_property
    def _payload_plan(self) -> Plan:
        last = (payload_step(self._without_refused, aimed=True), payload_step(self._with_required, native=True))
        return Plan((*self.request_payload_steps, *last, *self.host_payload_steps))

    def _without_refused(self, payload: JsonObject, request: ChatRequest, context: EncodeContext) -> JsonObject:
        """Return the payload without the settings that this API refuses. Report each as a loss.

        Rules are applied again after each removal, because one removal can change the result of another rule. If a
        field has several attributes, only the first one is refused, unless the field is refused again.
        """
        shared: set[str] = set()
        for _ in range(20):
            with_model = payload if context.model is None else {**payload, self.model_field: context.model}
            violated = self.rules.to_leave_out(
                with_model, context.known.capabilities, context.host, model=_text_of(with_model, self.model_field)
            )
            if violated is None:
                break
            rule, violations = violated
            before = payload
            for path, description in violations:
                for owner, field, api in self._refused_at(path, request):
                    why = f"{description}: {rule.text}"
                    context.report_loss(owner, field, reasons.REFUSED_SETTING, api=api, rule=why)
                payload = without_path(payload, path)
                leaf = self.request.leaf_at(path)
                if leaf is not None and len(leaf.attributes) > 1:
                    others = [get_attribute(request, attribute) for attribute in leaf.attributes[1:]]
                    if path in shared:
                        context.report_lost_attributes(request, leaf.attributes[1:])
                    elif others != [None] * len(others):
                        put_at(payload, leaf.wire, leaf.codec.encode((None, *others), context, request))
                    shared.add(path)
            if payload == before:
                break
        return payload

    def _refused_at(self, path: str, request: ChatRequest) -> Iterable[tuple[object, str | None, str | None]]:
        """Return the model objects and fields that are lost if a path is removed from the payload.

        The third value is the API of the source if the field is provider-specific there, too.
        """
        place = self.request.attribute_at(path)
        key = str(steps_of(path)[0])
        if place is None and key in (request.extra or {}).get(self.api, {}):
            return [(request, key, None if request.origin is None else request.origin.api)]
        attribute, tail = place or ("options", "")
        if attribute == "tools" and tail:
            return [(*tool, None) for tool in self.tools_at(tail, request)] or [(request, attribute, None)]
        value = get_attribute(request, attribute) if tail else None
        is_plain = value.__class__ is dict or (value.__class__ is list and len(value) > 1)
        return [(request, f"{attribute}${tail}" if is_plain else attribute, None)]

    def tools_at(self, path: str, request: ChatRequest) -> list[tuple[object, str | None]]:
        """Return the tool at a path in the tools of the payload, with the field that the path leads to."""
        first, *steps = steps_of(f"${path}")
        tools = [tool for entry in request.tools for tool in getattr(entry, "tools", (entry,))]
        if not isinstance(first, int) or first >= len(tools):
            return []
        return [(tools[first], "strict" if steps[-1:] == ["strict"] else None)]

    def _with_required(self, payload: JsonObject, request: ChatRequest, context: EncodeContext) -> JsonObject:
        """Return the payload with its required fields. They are empty if there is nothing to send."""
        for key, kind in self.requires.items():
            payload.setdefault(key, kind())
        return payload

    def encode_response(self, response: ChatResponse, policies: Mapping[str, str] | None = None) -> Encoded:
        """Encode the answer for this API, and record the losses.

        Raise EncodeError if a value of an answer without an origin (built by hand) has a field of the wrong type.
        """
        return self.encode_answer(response, policies)

    def encode_answer(
        self,
        response: ChatResponse,
        policies: Mapping[str, str] | None = None,
        context: EncodeContext | None = None,
        *,
        is_unfinished: bool = False,
    ) -> Encoded:
        """Encode an answer, or its envelope with the context of the contents that a stream has sent.

        If an error follows (`is_unfinished`), an answer of another API gets no finish reason.
        """
        require_valid_parts(response, ChatResponse)
        if context is None:
            context = EncodeContext(self.api, self.issuer, "response", policies, response.origin)
            of_origin = response.origin.model if response.origin is not None and context.native else None
            self.aim(context, response.model or of_origin)
        context.answer_id, context.is_unfinished = response.id, is_unfinished
        answer = normalized_response(response, context, takes_json=self.takes_json)
        answer = with_failure(answer, context, keeps_content=self.has_failed_answers)
        if answer.error is not None and not self.has_failed_answers:
            answer = as_error_body(answer, context)
        for choice in answer.choices:
            report_records(choice.messages, self.records, context)
        payload: Json = self.response.encode(self._after_steps(answer, context), context)
        for step in self.response_payload_steps:
            if step.native or context.completes:
                payload = step.run(payload, answer, context)
        if context.native and IN_LIST.of(response, self.api):
            payload = [payload]
        again = partial(self.encode_answer, policies=policies, is_unfinished=is_unfinished)
        return Encoded(payload, response, context, again, self.form)

    @property
    def block_rows(self) -> RowFinder:
        """The finder of the rows of the contents of blocks."""
        return self.table.unions[self.block_union]

    def decode_blocks(self, blocks: JsonArray, context: DecodeContext) -> list[AIContent]:
        """Decode blocks of an answer that another format keeps."""
        return self.table.unions[self.block_union].decode_list(blocks, context)

    def encode_blocks(self, contents: list[AIContent], context: EncodeContext) -> JsonArray:
        """Encode contents of this API as blocks of an answer, without the steps: the inverse of `decode_blocks`."""
        return self.table.unions[self.block_union].encode_list(contents, context)

    def block_groups(self, contents: list[AIContent]) -> list[list[AIContent]]:
        """Return the contents in groups, each of which is one block: by default, each content alone."""
        return [[content] for content in contents]

    def stream_decoder(self, *, deltas: bool = True) -> StreamDecoder:
        """Return a decoder for one stream of this API. If `deltas` is False, it emits no delta events.

        Raise DecodeError if the format has no streams.
        """
        if self.decoder is None:
            raise DecodeError(self.api, [Fault("$", f"{self.api} has no streams: decode a response")])
        return self.decoder(self, deltas=deltas)

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> StreamEncoder:
        """Return an encoder for one stream of this API. Raise EncodeError if the format has no streams."""
        if self.encoder is None:
            raise EncodeError(f"{self.api} has no streams: fold the events and encode the response")
        return self.encoder(self, policies)

    def restore_arguments(self, arguments: Json, adapted: SchemaMap) -> Json:
        """Convert arguments that fit an adapted schema to the original schema."""
        return arguments

    def look_up_model(self, model: str | None, policies: Mapping[str, str] | None = None) -> Known:
        """Return the capabilities of a model, and where they come from (`status`).

        The policy `capabilities` overrides the table. Raise ValueError if it names a model that the table does not
        list.
        """
        table = self.rules.capabilities
        return UNLIMITED if table is None else table.chosen(model, policies)

    def check_request(
        self, payload: Payload, model: str | None = None, policies: Mapping[str, str] | None = None
    ) -> list[Violation]:
        """Return the violations of a request: parts that this API refuses, ignores or mishandles.

        `model` is used if the payload names no model. The policy `capabilities` in `policies` overrides the
        capabilities of the model, and `dialect` names its host. Violations of rules that do not apply to the model have
        the severity "unchecked".
        Raise DecodeError if the payload is not a JSON object.
        """
        wire, is_list = self._as_request(payload)
        with_model = wire if model is None else {**wire, self.model_field: model}
        named = _text_of(with_model, self.model_field)
        known = self.look_up_model(named, policies)
        violations = self.rules.check(with_model, known, self.host(named, policies))
        if self.model_field not in wire:
            # The caller named the model: the payload has no such field.
            named_at = child_path("$", self.model_field)
            violations = [replace(v, path="$") if v.rule == MODEL_RULE else v for v in violations]
            violations = [v for v in violations if v.path != named_at]
        certain_paths = {violation.path for violation in violations if violation.severity != "unchecked"}
        misshapen = [v for v in self._misshapen(wire, known) if v.path not in certain_paths]
        misshapen_paths = {v.path for v in misshapen}
        all_violations = [
            *misshapen,
            *(v for v in violations if v.severity != "unchecked" or v.path not in misshapen_paths),
        ]
        return [replace(v, path=self._path_in_list(v.path)) for v in all_violations] if is_list else all_violations

    def _path_in_list(self, path: str) -> str:
        """Return a path in the list of messages for a path in a request."""
        field = child_path("$", self.conversation)
        return f"${path.removeprefix(field)}" if path.startswith(field) else path

    def _misshapen(self, wire: JsonObject, known: Known) -> list[Violation]:
        """Return violations for decoding faults, values of a wrong JSON class and unknown enum values."""
        faults: dict[str, Fault] = {}
        try:
            _, context = self._read(self.request, wire)
            is_own = known.status not in ("other", "unlimited")
            every_fault = [*context.faults(wire), *misfits(wire, context, self.accepts_value, is_own=is_own)]
        except DecodeError as error:
            every_fault = list(error.faults)
        for fault in every_fault:
            faults.setdefault(fault.path, fault)
        return [
            Violation(
                path=f.path,
                rule="shape",
                severity="refused",
                message=f.message,
                fix="send a value that the API accepts",
            )
            for f in faults.values()
        ]

    def accepts_value(self, name: str, value: object, codec: AnyCodec) -> bool:
        """Return whether the API accepts a value that the field's codec cannot hold. `name` is the wire path."""
        return value.__class__ in self.also_takes.get(name, ())

    def recognises_list(self, items: JsonArray) -> float:
        """Return how much a list looks like the messages of a request of this API, from 0 to 1."""
        return 0.0

    def _as_request(self, payload: Payload) -> tuple[JsonObject, bool]:
        """Return a payload as a request object, and whether violations have paths in a list of messages."""
        wire = as_json(payload, self.api, self.form)
        if self._is_conversation(wire):
            return {self.conversation: wire}, self._has_lists
        return _checked(wire, self.api), False

    def _is_conversation(self, wire: object) -> bool:
        """Return whether a payload is a list of messages. It may be empty if all documents are lists."""
        return bool(self.conversation) and wire.__class__ is list and (bool(wire) or self._has_lists)

    @property
    def _has_lists(self) -> bool:
        """True if a document of the format is a list: of messages, or of the values of lines."""
        return self.is_list or self.form == "lines"

    @staticmethod
    def have_roles(items: Sequence[object]) -> bool:
        """Return whether a list is not empty and contains only objects with a role."""
        return bool(items) and all(isinstance(item, dict) and isinstance(item.get("role"), str) for item in items)

    def describe(self) -> JsonObject:
        """Return the tables as data, for documentation, coverage and generators."""
        return self.table.describe()


class Target(msgspec.Struct, frozen=True, eq=False):
    """Facts of a model, its host and the policies that are known before a request or an answer is looked at.

    `foreign` is the finding if the model of a request is one of another provider.
    """

    model: str | None
    known: Known
    host: Host
    issuers: frozenset[str]
    policies: Mapping[str, str]
    foreign: str | None


IN_LIST = Hint[Literal[True]](None, "in_list", "the body of an error was the only item of a list")
ALONE = Hint[Literal[True]](None, "alone", "a request was a list of messages and nothing else")


def _checked(wire: object, api: str) -> JsonObject:
    if wire.__class__ is not dict:
        raise DecodeError(api, [Fault("$", f"expected an object, got {kind_of(wire)}")])
    return wire


def _is_aimed(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether a request goes to another model than the one that it names, or to a host that a policy names."""
    origin = request.origin
    return "dialect" in context.policies or (origin is not None and request.model != origin.model)


def _text_of(wire: Mapping[str, object], key: str) -> str | None:
    value = wire.get(key)
    return value if isinstance(value, str) else None


_REQUIRED = {
    "api": "the id of the API",
    "issuer": "the provider whose opaque values the API reads",
    "table": "the Table of all rows",
    "rules": "the rules of the API: Rules(api), if there are none",
    "request": "the row of a request: table.record(...)",
}
"""The attributes that each adapter sets, each with its meaning."""


def _require_attributes(kind: type[TableAdapter]) -> None:
    """Raise TypeError if the class of an adapter lacks an attribute, or has one with a misspelled name."""
    names = [name for name in dir(TableAdapter) + list(_REQUIRED) if not name.startswith("_")]
    attributes = {name: base for base in kind.__mro__[: kind.__mro__.index(TableAdapter)] for name in vars(base)}
    for name in attributes.keys() - set(names):
        near = [] if name.startswith("_") else get_close_matches(name, names, 1, 0.9)
        if near and near[0] not in attributes:
            raise TypeError(f"{kind.__name__}: adapters have no attribute {name}: did you mean {near[0]}?")
    for name, meaning in _REQUIRED.items():
        if not hasattr(kind, name):
            raise TypeError(f"{kind.__name__} has no attribute {name}: set it to {meaning}")
    if not kind.api == kind.table.api == kind.rules.api:
        ids = f"table of {kind.table.api}, rules of {kind.rules.api}"
        raise TypeError(f"{kind.__name__} is the adapter of {kind.api}, and has a {ids}: use one id for all")
