"""Carry the reasoning of one API through clients of another one: into envelopes, and out of them. No I/O.

`Carrier` changes the events and the contents of an answer, and `Opened` those of a request. Both work on the model: the
adapters of the client and of the upstream decide where the state is in a payload.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import msgspec

from contentmodel import reasons
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.events import (
    BlockCatchUp,
    BlockDelta,
    BlockStart,
    BlockStop,
    Layout,
    SignatureDelta,
    StreamEvent,
    TurnComplete,
    TurnError,
    TurnStart,
)
from contentmodel.gateway.front import Front
from contentmodel.gateway.state import (
    TOTAL,
    Envelope,
    State,
    StateKeys,
    digest_of,
    digest_of_call,
    has_own_id,
    is_envelope,
)
from contentmodel.gateway.upstream import Sender
from contentmodel.hints import COLUMN, GUEST
from contentmodel.http_api import StateField
from contentmodel.message import ChatMessage, Origin
from contentmodel.pairs import AnswerCallIds
from contentmodel.reasons import Reason
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse

CARRIED = "carried"
"""The form of a content that came from an envelope, or that is shown with one (`contentmodel.hints.GUEST`)."""

CHAT = "openai-chat"
CHAT_FIELDS = {
    "reasoning_content": StateField(kind=None),
    "reasoning_details": StateField(kind="signature", joins=True),
}
"""The fields of reasoning of Chat Completions that clients may send back."""

Lost: TypeAlias = tuple[Any, str | None, Reason]
"""A lost value: its content, the lost attribute (None: all of it), and the reason."""
Unsealed: TypeAlias = list[tuple[int, int, Any]]
"""Contents whose state gets no envelope, each with its choice and block."""
Replaced: TypeAlias = Callable[[Any, Any], Any]
"""A function of an old and a new value, which returns the new one."""


class Account(msgspec.Struct, frozen=True):
    """An upstream with the key that it is used with: state is valid for the same one only."""

    sender: Sender
    client_key: str | None

    def boundary(self, keys: StateKeys, number: bytes | None = None) -> bytes:
        """Return what an envelope has of this account. `number` is that of the key of the envelope."""
        sender = self.sender
        base_url = (sender.upstream.base_url or sender.http.base_url).rstrip("/")
        return keys.account(number, sender.api, base_url, self.client_key if sender.takes_client_key else sender.key)


# -- answers -----------------------------------------------------------------------------------------------------------


class Carrier:
    """The envelopes of the answers of one upstream to one client. `fields` is the choice for clients of Chat."""

    def __init__(self, keys: StateKeys, account: Account, front: Front, fields: str, model: str) -> None:
        self._keys, self._api, self._model = keys, front.api, model
        sender = account.sender
        self._source, self._issuer = sender.api, sender.adapter.issuer
        # The hosts of Chat have fields for the state of several issuers, and no client sends back all of them.
        self._own = None if front.api == CHAT else front.adapter.issuer
        self._account = account.boundary(keys)
        self._column = fields if front.api == CHAT and fields in CHAT_FIELDS else None
        self.field = front.http.state if self._column is None else CHAT_FIELDS[self._column]

    @property
    def can_carry(self) -> bool:
        """True if clients send an opaque field back."""
        return self.field is not None and self.field.kind is not None

    @property
    def on_calls(self) -> bool:
        """True if calls have the envelopes."""
        return self.field is not None and self.field.on_calls

    @property
    def joins(self) -> bool:
        """True if clients join blocks of reasoning."""
        return self.field is not None and self.field.joins

    @property
    def shows(self) -> tuple[bool, str | None]:
        """True if the client gets reasoning, and its field of Chat. Answers with equal values are shown alike."""
        return self.field is not None, self._column

    def needs(self, content: Any) -> bool:
        """Return whether a content has something that the client's API cannot carry itself.

        Reasoning without a state is carried as well: without an envelope, it would not go back to its issuer.
        """
        state = content.protected
        if isinstance(content, ReasoningContent):
            if state is not None:
                return bool(state.issuer != self._own)
            return self.field is not None and not (self.on_calls and self._issuer == self._own)
        is_kept = isinstance(content, TextContent) or (
            isinstance(content, ToolCallContent) and content.executor == "client"
        )
        return bool(is_kept and state is not None and state.issuer != self._own)

    def needed_by(self, response: ChatResponse) -> bool:
        """Return whether any content of an answer needs to be carried."""
        return any(
            self.needs(content)
            for choice in response.choices
            for message in choice.messages
            for content in message.contents
        )

    def state_of(self, content: Any, *, text: str | None = None, back: int = 0) -> State:
        """Return the state of a content."""
        state, role = content.protected, "text" if isinstance(content, TextContent) else "call"
        reasoning, extra = None, {}
        if isinstance(content, ReasoningContent):
            role, reasoning, extra = "reasoning", content.kind, (content.extra or {}).get(self._source, {})
        made = State(role=role, text=text, back=back, reasoning=reasoning, extra=extra)
        if state is None:
            return made
        return msgspec.structs.replace(made, issuer=state.issuer, kind=state.kind, data=state.data)

    def shown(self, content: Any, protected: Protected | None = None) -> Any:
        """Return a content as the client gets it: with an envelope, or without foreign state."""
        if self.field is None:
            return content
        if not isinstance(content, ReasoningContent):
            return msgspec.structs.replace(content, protected=protected) if self.can_carry else content
        extra = {api: fields for api, fields in (content.extra or {}).items() if api != self._source}
        column = {} if self._column is None else COLUMN.entry(self._column)
        extra[self._api] = {**GUEST.entry(CARRIED), **column}
        return msgspec.structs.replace(content, protected=protected, extra=extra)

    def sealed(self, states: list[State], call_id: str | None, digest: bytes) -> Protected | None:
        """Return states in an envelope; None if the client cannot carry it."""
        if self.field is None or self.field.kind is None:
            return None
        envelope = Envelope(self._source, self._issuer, self._model, self._account, call_id, digest, states)
        text = self._keys.seal(envelope, in_bytes=self.field.in_bytes)
        return None if text is None else Protected(issuer=self._own or self._api, kind=self.field.kind, data=text)

    def answer(self, response: ChatResponse, replaced: Replaced) -> tuple[ChatResponse, Unsealed]:
        """Return a whole answer as the client gets it. It is carried like the stream of its contents."""
        if not self.needed_by(response):
            return response, []
        carry, old = self.events(), list[Any]()
        layout: Layout = [[[] for _ in choice.messages] for choice in response.choices]
        events: list[StreamEvent] = carry(TurnStart(response=response))
        for number, choice in enumerate(response.choices):
            for indices, message in zip(layout[number], choice.messages, strict=True):
                for content in message.contents:
                    indices.append(len(old))
                    events += carry(BlockStart(index=len(old), content=content, choice=number))
                    events += carry(BlockStop(index=len(old), content=content))
                    old.append(content)
        *last, end = carry(TurnComplete(response=response, layout=layout))
        assert isinstance(end, TurnComplete)
        made: dict[int, Any] = {e.index: e.content for e in (*events, *last) if isinstance(e, BlockStop)}
        for index, number in carry.numbers.items():
            replaced(old[index], made[number])
        choices = []
        for choice, places in zip(response.choices, end.layout, strict=True):
            messages = []
            for message, indices in zip(choice.messages, places, strict=True):
                contents = [made[index] for index in indices]
                messages.append(replaced(message, msgspec.structs.replace(message, contents=contents)))
            choices.append(replaced(choice, msgspec.structs.replace(choice, messages=messages)))
        changed: ChatResponse = replaced(response, msgspec.structs.replace(response, choices=choices))
        return changed, carry.unsealed

    def events(self) -> CarriedEvents:
        """Return a function of the events of one answer."""
        return CarriedEvents(self)


class CarriedEvents:
    """Put the state of the events of one answer into envelopes.

    Reasoning ends when the next block begins, because its envelope names the call that follows. Blocks get
    new numbers: an envelope without reasoning gets a block of its own.
    """

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self.unsealed: Unsealed = []
        self.numbers: dict[int, int] = {}
        """The new number of each block."""
        self._count = 0
        self._choices: dict[int, int] = {}
        self._others: Counter[int] = Counter()
        """The number of blocks that are no reasoning, by choice."""
        self._held: dict[int, list[tuple[int, BlockStop]]] = defaultdict(list)
        """The ends of reasoning that wait for the next block, by choice."""
        self._joined: dict[int, list[State]] = defaultdict(list)
        """The states of reasoning directly before them, if clients join them."""
        self._late: dict[int, BlockStart] = {}
        """The starts of reasoning that has no text so far: without text, the client gets no block."""
        self._states: dict[int, list[tuple[State, int]]] = defaultdict(list)
        """The states that wait for a call, by choice, with the number of other blocks before them."""
        self._on_call: dict[int, list[State]] = {}
        """The states of reasoning before a call, by its block."""
        self._signed: set[int] = set()
        """The calls whose state is in an envelope before them."""
        self._before: dict[int, list[int]] = defaultdict(list)
        self._after: dict[int, list[int]] = defaultdict(list)
        """The numbers of new blocks before and after a block; after -1 - choice, those at the end of a choice."""
        self._ids: dict[int, AnswerCallIds] = {}
        self._answer_id: str | None = None

    def __call__(self, event: StreamEvent) -> list[StreamEvent]:
        """Return the events for the client."""
        if isinstance(event, BlockDelta):
            if isinstance(event, SignatureDelta) and self._hides(event.protected):
                return []
            began = self._late.pop(event.index, None)
            start = [] if began is None else [self._begun(began)]
            number = self.numbers.get(event.index, event.index)
            return [*start, event if number == event.index else msgspec.structs.replace(event, index=number)]
        if isinstance(event, BlockStart):
            return [*self._start(event)]
        if isinstance(event, BlockStop):
            return [*self._stop(event)]
        if isinstance(event, BlockCatchUp):
            # A snapshot replaces the block: its state is not carried.
            content = self._carrier.shown(event.content) if self._carrier.needs(event.content) else event.content
            number = self._new(event.index, event.choice)
            return [*self._flush(event.choice), msgspec.structs.replace(event, index=number, content=content)]
        if isinstance(event, TurnComplete | TurnError):
            return [*self._end(event)]
        if isinstance(event, TurnStart):
            self._answer_id = event.response.id
        return [event]

    def _hides(self, state: Protected) -> bool:
        return self._carrier.field is not None and self._carrier.needs(ReasoningContent(protected=state))

    def _new(self, index: int, choice: int) -> int:
        """Return the new number of a block."""
        self._choices.setdefault(index, choice)
        if index not in self.numbers:
            self.numbers[index] = self._count
            self._count += 1
        return self.numbers[index]

    def _call_id(self, index: int, choice: int, content: Any) -> str | None:
        """Return the id of a call that the client gets; None if the content is no call of the client."""
        if not isinstance(content, ToolCallContent | ToolResultContent):
            return None
        given = self._ids.setdefault(choice, AnswerCallIds(self._answer_id)).give(index, content)
        return given.call_id if isinstance(content, ToolCallContent) and content.executor == "client" else None

    def _start(self, event: BlockStart) -> Iterator[StreamEvent]:
        content, choice, carrier = event.content, event.choice, self._carrier
        call_id = self._call_id(event.index, choice, content)
        is_carried = carrier.can_carry and carrier.needs(content)
        if call_id is not None and carrier.on_calls:
            self._on_call[event.index] = self._waiting(choice)
        elif call_id is not None and is_carried:
            self._signed.add(event.index)
            yield from self._flush(choice, call_id, content, self._before[event.index])
        elif isinstance(content, ReasoningContent) and carrier.joins:
            for number, held in self._held.pop(choice, []):
                yield self._join(choice, number, held)
        else:
            yield from self._flush(choice, call_id)
        self._others[choice] += not isinstance(content, ReasoningContent)
        if carrier.on_calls and isinstance(content, ReasoningContent) and not content.text and carrier.needs(content):
            self._choices[event.index] = choice
            self._late[event.index] = event
        else:
            yield self._begun(event)

    def _begun(self, event: BlockStart) -> BlockStart:
        """Return the start of a block as the client gets it."""
        content = self._carrier.shown(event.content) if self._carrier.needs(event.content) else event.content
        return msgspec.structs.replace(event, index=self._new(event.index, event.choice), content=content)

    def _stop(self, event: BlockStop) -> Iterator[StreamEvent]:
        content: Any = event.content
        choice, carrier = self._choices.get(event.index, 0), self._carrier
        began = self._late.pop(event.index, None)
        if began is not None and carrier.needs(content) and not content.text:
            self._states[choice].append((carrier.state_of(content, text=""), self._others[choice]))
            return
        if began is not None:
            yield self._begun(began)
        number = self._new(event.index, choice)
        states = self._on_call.pop(event.index, [])
        is_needed = carrier.needs(content)
        stop = msgspec.structs.replace(event, index=number, content=carrier.shown(content) if is_needed else content)
        if not carrier.can_carry:
            if is_needed and content.protected is not None:
                self.unsealed.append((choice, number, content))
            yield stop
        elif isinstance(content, ToolCallContent) and carrier.on_calls and (states or is_needed):
            call_id = self._call_id(event.index, choice, content)
            yield self._signed_call(stop, choice, call_id, content, states)
        elif not is_needed:
            yield stop
        elif carrier.on_calls:
            text = content.text if isinstance(content, ReasoningContent) else None
            self._states[choice].append((carrier.state_of(content, text=text), self._others[choice]))
            yield stop
        elif isinstance(content, ReasoningContent):
            self._held[choice].append((number, event))
        else:
            yield stop
            if event.index not in self._signed:
                call_id = self._call_id(event.index, choice, content)
                yield from self._extra(choice, number, content, call_id, self._after[event.index])

    def _signed_call(
        self, stop: BlockStop, choice: int, call_id: str | None, content: Any, states: list[State]
    ) -> BlockStop:
        """Return the end of a call with the states before it and its own."""
        carrier = self._carrier
        if carrier.needs(content):
            states = [*states, carrier.state_of(content)]
        elif content.protected is not None:
            # The client's own signature has to stay.
            self._states[choice] += [(state, self._others[choice]) for state in states]
            return stop
        sealed = carrier.sealed(states, call_id, digest_of_call(content))
        if sealed is None:
            self.unsealed.append((choice, stop.index, content))
        return msgspec.structs.replace(stop, content=carrier.shown(content, sealed))

    def _waiting(self, choice: int) -> list[State]:
        """Return the states that wait for a call, each with its distance."""
        now = self._others[choice]
        return [msgspec.structs.replace(state, back=now - before) for state, before in self._states.pop(choice, [])]

    def _flush(
        self, choice: int, call_id: str | None = None, signed: Any = None, places: list[int] | None = None
    ) -> Iterator[StreamEvent]:
        """Yield the ends of the reasoning before a call, or before another block. `signed` is a call with a state."""
        held, carrier = self._held.pop(choice, []), self._carrier
        if not held and places is not None:
            yield from self._extra(choice, self._count, signed, call_id, places)
        for number, event in held:
            content: Any = event.content
            is_last = event is held[-1][1]
            if carrier.joins and not is_last:
                yield self._join(choice, number, event)
                continue
            joined = self._joined.pop(choice, [])
            states = [*joined, carrier.state_of(content, text=content.text if joined else None)]
            if is_last and signed is not None:
                states.append(carrier.state_of(signed))
            text = "".join(state.text or "" for state in joined) + content.text
            sealed = carrier.sealed(states, call_id, digest_of(text))
            if sealed is not None:
                yield SignatureDelta(index=number, protected=sealed)
            elif any(state.data is not None for state in states):
                self.unsealed.append((choice, number, content))
            yield msgspec.structs.replace(event, index=number, content=carrier.shown(content, sealed))

    def _join(self, choice: int, number: int, event: BlockStop) -> BlockStop:
        """Return the end of reasoning whose state goes into the envelope of the reasoning that follows."""
        content: Any = event.content
        self._joined[choice].append(self._carrier.state_of(content, text=content.text))
        return msgspec.structs.replace(event, index=number, content=self._carrier.shown(content))

    def _extra(
        self, choice: int, number: int, content: Any, call_id: str | None, places: list[int]
    ) -> Iterator[StreamEvent]:
        """Yield a block of reasoning that has the state of a call or a text."""
        digest = digest_of(content.text if isinstance(content, TextContent) else "")
        sealed = self._carrier.sealed([self._carrier.state_of(content)], call_id, digest)
        if sealed is None:
            self.unsealed.append((choice, number, content))
        else:
            yield from self._block(choice, sealed, places)

    def _block(self, choice: int, sealed: Protected, places: list[int]) -> Iterator[StreamEvent]:
        number = self._count
        self._count += 1
        places.append(number)
        yield BlockStart(index=number, content=self._carrier.shown(ReasoningContent()), choice=choice)
        yield SignatureDelta(index=number, protected=sealed)
        yield BlockStop(index=number, content=self._carrier.shown(ReasoningContent(), sealed))

    def _end(self, event: TurnComplete | TurnError) -> Iterator[StreamEvent]:
        for choice in sorted({*self._held, *self._states}):
            yield from self._flush(choice)
            states = self._waiting(choice)
            sealed = self._carrier.sealed(states, None, digest_of("")) if states else None
            if sealed is not None:
                yield from self._block(choice, sealed, self._after[-1 - choice])
        layout = [[self._placed(indices) for indices in messages] for messages in event.layout]
        for choice, messages in enumerate(layout):
            if messages:
                messages[-1] += self._after[-1 - choice]
        yield msgspec.structs.replace(event, layout=layout)

    def _placed(self, indices: Iterable[int]) -> list[int]:
        """Return the numbers of the blocks of a message, with those of new blocks."""
        placed: list[int] = []
        for index in indices:
            own = [self.numbers[index]] if index in self.numbers else []
            placed += [*self._before[index], *own, *self._after[index]]
        return placed


# -- requests ----------------------------------------------------------------------------------------------------------


class Opened:
    """The envelopes of a request: each is verified once, whatever upstream the request goes to."""

    def __init__(self, messages: Iterable[ChatMessage], keys: StateKeys) -> None:
        self._keys = keys
        self._found: dict[int, tuple[bytes, Envelope] | None] = {}
        self._newest: tuple[bytes, Envelope] | None = None
        room = TOTAL * keys.most
        for message in reversed(list(messages)):
            for content in reversed(message.contents):
                if not _has_envelope(content):
                    continue
                data = content.protected.data  # type: ignore[union-attr]
                room -= len(data)
                found = keys.open(data) if room >= 0 else None
                self._found[id(content)] = found
                self._newest = self._newest or found

    def prefers(self, account: Account) -> bool:
        """Return whether an upstream issued the newest state."""
        return self._newest is not None and self._is_of(self._newest, account)

    def _is_of(self, found: tuple[bytes, Envelope], account: Account) -> bool:
        number, envelope = found
        return envelope.account == account.boundary(self._keys, number)

    def request(
        self, request: ChatRequest, account: Account, *, choice: str, replaced: Replaced
    ) -> tuple[ChatRequest, list[Lost]]:
        """Return a request with the opened state that an upstream may get, and what was lost.

        `choice` is that of the route: no upstream gets state unless it is "carry", nor reasoning if it is "drop".
        """
        lost: list[Lost] = []
        messages: list[ChatMessage] = []
        of_calls: dict[str | None, Protected] = {}
        for at, message in enumerate(request.messages):
            if message.role != "assistant":
                of_calls = {}
            if not of_calls and not any(map(_has_envelope, message.contents)):
                messages.append(message)
                continue
            following = _calls_after(request.messages, at)
            opening = _Opening(self, account, message, following, lost, choice, of_calls, replaced)
            contents = opening.contents()
            if contents:
                origin = opening.origin or message.origin
                messages.append(msgspec.structs.replace(message, contents=contents, origin=origin))
                replaced(message, messages[-1])
        changed = msgspec.structs.replace(request, messages=messages)
        replaced(request, changed)
        return changed, lost


def _has_envelope(content: AIContent) -> bool:
    return content.protected is not None and is_envelope(content.protected.data)


def _calls_after(messages: list[ChatMessage], at: int) -> list[Any]:
    """Return the contents of the messages of the model that follow a message."""
    found: list[Any] = []
    for message in messages[at + 1 :]:
        if message.role != "assistant":
            break
        found += message.contents
    return found


def _is_call(content: Any, call_id: str | None) -> bool:
    return isinstance(content, ToolCallContent) and content.call_id == call_id


def _is_bare(content: Any) -> bool:
    """Return whether a content is reasoning of the client, without a state."""
    return (
        isinstance(content, ReasoningContent)
        and content.protected is None
        and not any(GUEST.is_in(own) for own in (content.extra or {}).values())
    )


class _Opening:
    """The envelopes of one message. `following` are the contents of the same turn after it.

    `origin` is set if the message is of the API of an upstream that did not issue its state: it is then adapted to it.
    """

    def __init__(
        self,
        opened: Opened,
        account: Account,
        message: ChatMessage,
        following: list[Any],
        lost: list[Lost],
        choice: str,
        of_calls: dict[str | None, Protected],
        replaced: Replaced,
    ) -> None:
        """`of_calls` are the states of calls that follow, by the id of the call."""
        self._of_calls = of_calls
        self._opened, self._account, self._message, self._following = opened, account, message, following
        self._lost, self._choice, self._replaced = lost, choice, replaced
        self._made: list[Any] = []
        self.origin: Origin | None = None

    def contents(self) -> list[Any]:
        """Return the contents with the state that the upstream may get."""
        contents: list[Any] = list(self._message.contents)
        for index, content in enumerate(contents):
            if not _has_envelope(content):
                self._made.append(self._with_state(content))
                continue
            found = self._opened._found.get(id(content))
            if found is None or not self._fits(found[1], content, contents[index + 1 :]):
                self._drop(content, reasons.STATE_INVALID)
            elif isinstance(content, ReasoningContent):
                self._open_reasoning(found, content)
            else:
                self._open_call(found, content)
        return self._made

    def _with_state(self, content: Any) -> Any:
        """Return a call with its state, if an envelope before it had one."""
        state = self._of_calls.pop(content.call_id, None) if isinstance(content, ToolCallContent) else None
        if state is None:
            return content
        signed = msgspec.structs.replace(content, protected=state)
        self._replaced(content, signed)
        return signed

    def _fits(self, envelope: Envelope, content: Any, after: list[Any]) -> bool:
        """Return whether an envelope belongs to this place."""
        if isinstance(content, ReasoningContent):
            is_text = any(state.role == "text" for state in envelope.states)
            if not is_text and self._joined(envelope, content) is None:
                return False
            calls = [*self._made, *after, *self._following]
            return envelope.call_id is None or any(_is_call(call, envelope.call_id) for call in calls)
        if not isinstance(content, ToolCallContent) or envelope.call_id is None:
            return False
        if has_own_id(content) and content.call_id != envelope.call_id:
            return False
        return digest_of_call(content) == envelope.digest

    def _joined(self, envelope: Envelope, content: ReasoningContent) -> int | None:
        """Return the number of blocks before one whose text belongs to its envelope as well; None if none fits."""
        text = content.text
        for number in range(len(self._made) + 1):
            if digest_of(text) == envelope.digest:
                return number
            before = self._made[-1 - number] if number < len(self._made) else None
            if not isinstance(before, ReasoningContent) or before.protected is not None:
                return None
            text = before.text + text
        return None

    def _drop(self, content: Any, reason: Reason) -> None:
        """Leave out the envelope of a content, and a block that has nothing else."""
        if isinstance(content, ReasoningContent):
            self._lost.append((content, None, reason))
            return
        self._lost.append((content, "protected", reason))
        bare = msgspec.structs.replace(content, protected=None)
        self._replaced(content, bare)
        self._made.append(bare)

    def _is_usable(self, found: tuple[bytes, Envelope], content: Any) -> bool:
        """Return whether the upstream issued the state. Report it as lost if not."""
        envelope, sender = found[1], self._account.sender
        if self._choice == "carry" and self._opened._is_of(found, self._account):
            return True
        if self._choice == "drop":
            whole = None if isinstance(content, ReasoningContent) else "protected"
            self._lost.append((content, whole, reasons.FOREIGN_REASONING))
        elif any(state.data is not None for state in envelope.states):
            reason = reasons.STATE_OF_OTHER_ACCOUNT if self._choice == "carry" else reasons.FOREIGN_REASONING
            self._lost.append((content, "protected", reason))
        if self._message.origin is not None and self._message.origin.api == sender.api != envelope.api:
            self.origin = Origin(api=envelope.api, issuer=envelope.issuer, model=envelope.model)
        return False

    def _open_reasoning(self, found: tuple[bytes, Envelope], content: ReasoningContent) -> None:
        is_usable, envelope = self._is_usable(found, content), found[1]
        del self._made[len(self._made) - (self._joined(envelope, content) or 0) :]
        self._open(envelope, content, is_usable=is_usable)

    def _open(self, envelope: Envelope, content: Any, *, is_usable: bool) -> None:
        """Add the reasoning of an envelope. The client may have sent its text as well, without a state."""
        reasoning = [state for state in envelope.states if state.role == "reasoning"]
        hidden = [state.text for state in reasoning if state.text is not None]
        visible = [one for one in self._made if _is_bare(one)]
        if hidden and "".join(hidden) == "".join(one.text for one in visible):
            self._made = [one for one in self._made if not _is_bare(one)]
        for state in envelope.states:
            if state.role == "reasoning":
                made = self._reasoning(envelope, state, content.text if state.text is None else state.text, is_usable)
                if made is not None:
                    self._replaced(content, made)
                    self._insert(made, state.back)
            elif is_usable and isinstance(content, ReasoningContent):
                self._attach(envelope, state, content)

    def _reasoning(self, envelope: Envelope, state: State, text: str, is_usable: bool) -> ReasoningContent | None:
        """Return the reasoning of a state. Without the state, its text is left; None if it has none."""
        kind: Any = state.reasoning
        if not is_usable:
            origin = self._message.origin
            is_same_api = origin is not None and origin.api == self._account.sender.api == envelope.api
            is_left_out = is_same_api or self._choice == "drop" or not text
            return None if is_left_out else ReasoningContent(text=text, kind=kind)
        protected = None
        if state.data is not None:
            protected = Protected(issuer=state.issuer, kind=state.kind, data=state.data)
        extra = {envelope.api: {**state.extra, **GUEST.entry(CARRIED)}}
        return ReasoningContent(text=text, kind=kind, protected=protected, extra=extra)

    def _insert(self, made: ReasoningContent, back: int) -> None:
        """Add reasoning where it was: before so many other contents."""
        at = len(self._made)
        while back > 0 and at:
            at -= 1
            back -= not isinstance(self._made[at], ReasoningContent)
        self._made.insert(at, made)

    def _attach(self, envelope: Envelope, state: State, content: ReasoningContent) -> None:
        """Give a state back to its call, or to the text before the envelope."""
        protected = Protected(issuer=state.issuer, kind=state.kind, data=state.data or "")
        if state.role == "call":
            at = next((at for at, made in enumerate(self._made) if _is_call(made, envelope.call_id)), None)
            if at is None:
                self._of_calls[envelope.call_id] = protected
                return
            signed = msgspec.structs.replace(self._made[at], protected=protected)
            self._replaced(self._made[at], signed)
            self._made[at] = signed
            return
        for index in range(len(self._made) - 1, -1, -1):
            text = self._made[index]
            if isinstance(text, TextContent) and digest_of(text.text) == envelope.digest:
                self._made[index] = msgspec.structs.replace(text, protected=protected)
                self._replaced(text, self._made[index])
                return
        self._lost.append((content, None, reasons.STATE_INVALID))

    def _open_call(self, found: tuple[bytes, Envelope], call: Any) -> None:
        is_usable, envelope = self._is_usable(found, call), found[1]
        self._open(envelope, call, is_usable=is_usable)
        own = next((state for state in envelope.states if state.role == "call"), None) if is_usable else None
        state = None if own is None else Protected(issuer=own.issuer, kind=own.kind, data=own.data or "")
        bare = msgspec.structs.replace(call, protected=state)
        self._replaced(call, bare)
        self._made.append(bare)
