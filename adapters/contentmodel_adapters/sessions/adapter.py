"""Sessions of coding agents: files of JSON Lines that contain messages in the format of an API.

The adapter of a session file finds the wire objects of messages in the lines (`read`). The adapter of the API (`Inner`)
decodes them. Before decoding, each wire object gets a number in a field that no API has (`TOKEN`), so that the decoded
value has it in its residue. After decoding, the fields of the line replace the number. Encoding does the same in the
opposite direction, and `write` builds the lines.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from contentmodel.adapter import Payload, as_json
from contentmodel.authoring import (
    EncodeContext,
    Encoded,
    Inner,
    InnerPayload,
    InnerTrace,
    Reason,
    RequestsOnly,
    Rules,
    SchemaMap,
    Violation,
    escaped,
    may_hold_content,
    normalized_request,
    reasons,
    strings_in,
    texts_in,
)
from contentmodel.capabilities import UNLIMITED, Known
from contentmodel.errors import DecodeError
from contentmodel.literals import DocumentForm
from contentmodel.message import Branch, Origin
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.serialize import require_valid_parts
from contentmodel_adapters.sessions.lines import END, HEAD_LINE, ORDER
from contentmodel_adapters.sessions.reading import (
    CONTENT,
    NULLS,
    UNREADABLE,
    Part,
    Place,
    Reader,
    Session,
    mark_odd,
    odd_paths,
    sources_of,
)
from contentmodel_adapters.sessions.writing import Writer, Written, without_api


class SessionAdapter(RequestsOnly):
    """A base class of adapters of session files. A session is a request without options."""

    api: str
    issuer: str
    inner: Inner
    """The API of the messages in the file."""
    records: frozenset[str]
    """The records of a message (`created`, `usage`, ...) that the format has for a new answer. The others are lost."""
    rules: Rules
    placeholders: tuple[Reason, ...] = ()
    """The reasons of the inner API to begin with a placeholder message. The file does not need it."""
    writes_records = False
    """True if edits of the response id, the usage and the finish reason of a read answer are written."""
    has_instructions = False
    """True if a file contains the instructions of its agent."""
    form: DocumentForm = "lines"
    meaningless: Mapping[str, Any] = {}
    repeated: frozenset[str] = frozenset()

    # -- what a format defines -----------------------------------------------------------------------------------------

    def read(self, lines: list[Any], unreadable: Collection[Place]) -> Session:
        """Return the wire objects of the messages in the lines. Those of `unreadable` are not decoded."""
        raise NotImplementedError

    def write(
        self, request: ChatRequest, parts: Sequence[tuple[Branch | None, list[Written]]], context: EncodeContext
    ) -> list[Any]:
        """Return the lines of a session."""
        raise NotImplementedError

    def line_objects(self, entry: dict[str, Any], writer: Writer) -> list[dict[str, Any]]:
        """Return the wire objects for the lines of the format, from one that the inner adapter encoded."""
        return [entry]

    def recognises_list(self, items: list[Any]) -> float:
        """Return how likely the lines are a session of this format, from 0 to 1."""
        raise NotImplementedError

    # -- the adapter ---------------------------------------------------------------------------------------------------

    def decode_request(self, payload: Payload) -> ChatRequest:
        """Decode a session. Lines that cannot be decoded are kept. Raise DecodeError if the input is not lines."""
        return self.trace_request(payload)[0]

    def trace_request(self, payload: Payload) -> tuple[ChatRequest, Any, Any]:
        """Decode a session. Return the request, the values of the lines, and the trace of the decoding."""
        lines = as_json(payload, self.api, "lines")
        session, decoded = self._decoded(lines)
        reader = Reader(self.api, self.inner.api, session, writes_records=self.writes_records)
        parts = [[reader.message(message, trace) for message in request.messages] for request, _, trace in decoded]
        branches = [
            replace(part.branch, messages=messages)
            for part, messages in zip(session.parts, parts, strict=True)
            if part.branch is not None
        ]
        first = decoded[0][0]
        request = ChatRequest(
            model=session.model,
            instructions=first.instructions,
            tools=first.tools,
            messages=parts[0],
            branches=branches,
            origin=Origin(api=self.api, issuer=self.issuer, model=session.model),
            extra=self._extra_of(session, first),
        )
        for inner, _, trace in decoded:
            trace.replaced(inner, request)
        payloads = [
            InnerPayload(wire, trace, part.places, part.lines)
            for part, (_, wire, trace) in zip(session.parts, decoded, strict=True)
        ]
        return request, lines, InnerTrace(self.api, payloads, reader.own_paths)

    def _extra_of(self, session: Session, first: ChatRequest) -> dict[str, dict[str, Any]] | None:
        extra = dict(first.extra or {})
        parts = ([source.line for source in sources_of(part, session)] for part in session.parts)
        order = [line for lines in parts for line in (*lines, END)]
        line_hint = {} if session.head_line is None else {HEAD_LINE.key: session.head_line}
        nulls = {NULLS.key: session.nulls} if session.nulls else {}
        extra[self.api] = {**escaped(session.kept), ORDER.key: order, **line_hint, **nulls}
        return extra

    def _decoded(self, lines: list[Any]) -> tuple[Session, list[tuple[ChatRequest, Any, Any]]]:
        """Return the session and its decoded parts.

        A value with a fault changes nothing about the others: an item of a list is decoded as unknown, and another wire
        object stays in its line.
        """
        unreadable: set[Place] = set()
        while True:
            session = self.read(lines, unreadable)
            decoded = [self._decoded_part(part, session, unreadable) for part in session.parts]
            if None not in decoded:
                self.weigh(session)
                return session, decoded  # type: ignore[return-value]

    def _decoded_part(
        self, part: Part, session: Session, unreadable: set[Place]
    ) -> tuple[ChatRequest, Any, Any] | None:
        """Return a decoded part. If wire objects have faults, add their places to `unreadable`, and return None."""
        while True:
            try:
                return self.inner.decode(part.fields, part.entries)
            except DecodeError as error:
                odd_places = mark_odd(error, part, session, self.inner.messages)
                if odd_places:
                    unreadable |= odd_places
                    return None

    def weigh(self, session: Session) -> None:
        """Move the lines that may hold content which is not in the conversation to the entry CONTENT."""
        said: set[str] = set()
        for kind in [kind for kind in session.kept if kind in self.meaningless]:
            light: list[list[Any]] = []
            for entry in session.kept[kind]:
                if self.is_of_program(kind, entry[1]) or not may_hold_content(entry[1]):
                    light.append(entry)
                    continue
                if not said:
                    said.update(strings_in([part.entries for part in session.parts]))
                (light if self.is_repeated(entry[1], said) else session.kept.setdefault(CONTENT, [])).append(entry)
            session.kept[kind] = light
        session.kept = {kind: entries for kind, entries in session.kept.items() if entries}

    def is_of_program(self, kind: str, line: Any) -> bool:
        """Return whether a kept line is known to hold no content of the conversation, but texts of the program."""
        return False

    def is_repeated(self, line: Any, said: set[str]) -> bool:
        """Return whether the conversation has the texts of a kept line. `said` are all texts of the conversation."""
        return all(text.strip() in said for text in texts_in(line))

    def encode_request(
        self, request: ChatRequest, policies: Mapping[str, str] | None = None, model: str | None = None
    ) -> Encoded:
        """Return the lines of a session. Values without a place in the file are lost: options and tools.

        Raise EncodeError if a value without an origin (built by hand) has a field of the wrong type.
        """
        require_valid_parts(request, ChatRequest)
        context = EncodeContext(self.api, self.issuer, "request", policies, request.origin)
        context.model = model
        source, request = request, normalized_request(request, context, takes_json=True)
        writer = Writer(self, request, context)
        parts = [writer.part(None, request.messages)]
        if context.native:
            parts += [writer.part(branch, branch.messages) for branch in request.branches]
        elif request.branches:
            context.report_loss(request, "branches", reasons.NO_BRANCHES)
        self._report_rest(request, context)
        again = partial(self.encode_request, policies=policies, model=model)
        return Encoded(self.write(request, parts, context), source, context, again, "lines")

    def _report_rest(self, request: ChatRequest, context: EncodeContext) -> None:
        """Report the values of a request that a session file does not contain."""
        context.report_lost_attributes(request, tuple(f"options.{name}" for name in ChatOptions.__struct_fields__))
        has_head_line = context.native and HEAD_LINE.of(request, self.api) is not None
        for tool in request.tools if not has_head_line else ():
            context.report_loss(tool, None, reasons.NO_FIELD)
        if not has_head_line and not (context.native and self.has_instructions):
            self.report_instructions(request, context)
        extra = without_api(request.extra, self.api)
        # The line that holds the instructions and tools also holds their residue.
        extra = without_api(extra, self.inner.api) if has_head_line else extra
        context.leave_residue(context.replace(request, extra=extra))

    @staticmethod
    def report_instructions(request: ChatRequest, context: EncodeContext) -> None:
        """Report the instructions of a request as lost."""
        for content in request.instructions:
            context.report_loss(content, None, reasons.AGENT_INSTRUCTIONS)

    def check_request(self, payload: Payload, model: str | None = None) -> list[Violation]:
        """Return the violations of a file, among them the lines that cannot be decoded, or are no JSON."""
        lines = as_json(payload, self.api, "lines")
        session, _ = self._decoded(lines)
        violations = [
            replace(violation, path=f"${violation.path.removeprefix('$.lines')}")
            for violation in self.rules.check({"lines": lines})
        ]
        unreadable = (index for index, _ in session.kept.get(UNREADABLE, ()))
        invalid = dict.fromkeys(unreadable, (f"its message is not valid for {self.inner.api}", "correct the message"))
        damaged = (index for index, line in enumerate(lines) if line.__class__ is not dict)
        invalid |= dict.fromkeys(damaged, ("it is no JSON object", "complete the line"))
        violations += [
            Violation(
                path=f"$[{index}]",
                rule="shape",
                severity="ignored",
                message=f"the line is not part of the conversation: {cause}",
                fix=f"{fix}, or remove the line",
            )
            for index, (cause, fix) in sorted(invalid.items())
        ]
        return violations + [
            Violation(
                path=path,
                rule="shape",
                severity="ignored",
                message=f"the value is not part of its message: it is not valid for {self.inner.api}",
                fix="correct or remove the value",
            )
            for part in session.parts
            for path in odd_paths(part, self.inner.messages)
        ]

    def restore_arguments(self, arguments: Any, adapted: SchemaMap) -> Any:
        """Return the arguments unchanged: a session has no schemas."""
        return arguments

    def recognises(self, payload: dict[str, Any]) -> Mapping[Any, float]:
        """Return {}: a session is not one object."""
        return {}

    def look_up_model(self, model: str | None, policies: Mapping[str, str] | None = None) -> Known:
        """Return unlimited capabilities: a file takes the messages of every model."""
        return UNLIMITED

    def describe(self) -> dict[str, Any]:
        """Return the tables of the inner API as data: they describe the messages in the lines."""
        return {**self.inner.adapter.describe(), "api": self.api}
