"""Scripts of a loopback server: turns, their faults, and which turn is next.

Independent of HTTP: a script selects the answer of a request, and `Fault` describes what goes wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from contentmodel.adapter import adapter
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.detecting import detect
from contentmodel.errors import ContentModelError, DecodeError, DetectError, UnknownApiError
from contentmodel.errors import Fault as Flaw
from contentmodel.json import kind_of, write
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.serialize import loads

Answerer: TypeAlias = Callable[[ChatRequest], ChatResponse]
"""Returns the answer to a request."""


class ScriptError(ContentModelError, ValueError):
    """Raised if an item of a script is not a valid turn."""


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fault of an answer. Fields can be combined.

    `status` sends the API's error body, with `message` and the header `retry-after`. `drop_after` closes the connection
    after this many bytes of the body (0: before the response). `stall` waits this many seconds, before the response or
    after `stall_after` bytes of the body. `malformed_at` breaks the JSON of this event of a stream, counted from 0 (the
    last event if there are fewer), or of a plain answer. `truncate` ends the response normally, but without the final
    events of a stream, or in the middle of a plain answer.

    The fault applies to the first `times` tries of a turn; the next try gets the turn's answer.
    """

    status: int | None = None
    message: str | None = None
    retry_after: float | None = None
    drop_after: int | None = None
    stall: float | None = None
    stall_after: int = 0
    malformed_at: int | None = None
    truncate: bool = False
    times: int = 1

    def __post_init__(self) -> None:
        for name in ("retry_after", "drop_after", "stall", "stall_after", "malformed_at"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"{name} is negative")
        if self.times < 1:
            raise ValueError("times is less than 1: omit the fault instead")
        if self.status is not None and not 400 <= self.status <= 599:
            raise ValueError(f"status {self.status} is not an error status: expected 400 to 599")
        if self.status is None and (self.message is not None or self.retry_after is not None):
            raise ValueError("message and retry_after require a status")
        if self.stall_after and self.stall is None:
            raise ValueError("stall_after requires stall, the number of seconds")
        if self.status is None and self.stall is None and not self.spoils:
            raise ValueError("the fault is empty: expected status, drop_after, stall, malformed_at or truncate")

    @property
    def spoils(self) -> bool:
        """True if the body arrives changed or incomplete."""
        return self.drop_after is not None or self.malformed_at is not None or self.truncate

    @property
    def only_delays(self) -> bool:
        """True if a client that waits gets the whole answer."""
        return self.status is None and not self.spoils

    @property
    def needs_answer(self) -> bool:
        """True if the fault needs an answer to apply to."""
        return self.status is None and self.drop_after != 0


@dataclass(frozen=True)
class Turn:
    """One answer of a script: a response, or a function from a request to one, and a fault before it.

    A turn with a fault and no response is done after the fault. `delta_size` is the number of characters per text delta
    in a stream.
    """

    response: ChatResponse | Answerer | None = None
    fault: Fault | None = None
    delta_size: int | None = None

    def __post_init__(self) -> None:
        if self.response is None and self.fault is None:
            raise ValueError("a turn has a response, or a fault, or both")
        if self.response is None and self.fault is not None and self.fault.needs_answer:
            raise ValueError("this fault requires a response: only status and drop_after 0 do not")
        if self.delta_size is not None and self.delta_size < 1:
            raise ValueError("delta_size is less than 1")


class Call(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A function call in short form."""

    name: str
    arguments: dict[str, Any] | str = {}
    id: str | None = None


class _ShortForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str | None = None
    calls: list[Call] = []


class _Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that any form of a turn may have."""

    fault: Fault | None = None
    delta_size: int | None = None


TurnLike: TypeAlias = Turn | ChatResponse | Answerer | str | Mapping[str, Any]
"""Anything that `as_turn` converts to a turn."""

_FRAME = frozenset(_Frame.__struct_fields__)
_SHORT_FIELDS = frozenset(_ShortForm.__struct_fields__)


def say(text: str | None = None, *calls: Call) -> ChatResponse:
    """Return an answer of a text and function calls, without an origin: any API can encode it."""
    contents: list[Any] = [] if text is None else [TextContent(text=text)]
    contents += [FunctionCallContent(call_id=call.id, name=call.name, arguments=call.arguments) for call in calls]
    return ChatResponse(choices=[ChatChoice(messages=[ChatMessage(role="assistant", contents=contents)])])


def as_turn(value: TurnLike) -> Turn:
    """Convert a value to a turn. Raises DecodeError or DetectError if it is invalid.

    A string is an answer with this text. A dict has the format of script files: a stored document
    (`contentmodel.dumps`), an answer of any API (as `{"api": ..., "payload": ...}` if the API cannot be detected), or
    `{"text": ..., "calls": [...]}`. Each may also have "fault" and "delta_size".
    """
    if isinstance(value, Turn):
        return value
    if isinstance(value, str):
        return Turn(say(value))
    if isinstance(value, ChatResponse) or callable(value):
        return Turn(value)
    if not isinstance(value, Mapping):
        raise DecodeError("turn", [Flaw("$", f"expected an object, got {kind_of(value)}")])
    frame = _typed({key: value[key] for key in _FRAME & value.keys()}, _Frame)
    answer = {key: item for key, item in value.items() if key not in _FRAME}
    try:
        return Turn(_response_of(answer) if answer else None, frame.fault, frame.delta_size)
    except (DecodeError, DetectError, UnknownApiError):
        raise
    except ValueError as error:
        raise DecodeError("turn", [Flaw("$", str(error))]) from None


def _response_of(value: dict[str, Any]) -> ChatResponse:
    if "contentmodel" in value:
        return _stored(value)
    if "payload" in value:
        return _named(value)
    if value.keys() <= _SHORT_FIELDS:
        short_form: _ShortForm = _typed(value, _ShortForm)
        return say(short_form.text, *short_form.calls)
    api, _ = detect(value, kind="response")
    answer: ChatResponse = adapter(api).decode_response(value)
    return answer


def _stored(document: dict[str, Any]) -> ChatResponse:
    if document.get("kind") != "response":
        raise DecodeError("contentmodel", [Flaw("$.kind", f"expected 'response', got {document.get('kind')!r}")])
    return loads(write(document), ChatResponse)


def _named(value: dict[str, Any]) -> ChatResponse:
    other = next((key for key in value if key not in ("api", "payload")), None)
    if other is not None:
        raise DecodeError("turn", [Flaw(f"$.{other}", "expected only api and payload")])
    payload, api = value["payload"], value.get("api")
    if api is not None and not isinstance(api, str):
        raise DecodeError("turn", [Flaw("$.api", f"expected str, got {kind_of(api)}")])
    if api is None:
        api, _ = detect(payload, kind="response")
    try:
        answer: ChatResponse = adapter(api).decode_response(payload)
    except DecodeError as error:
        raise within(error, "$.payload") from None
    return answer


def within(error: DecodeError, path: str) -> DecodeError:
    """Return the error with `path` in front of the paths of its faults."""
    return DecodeError(error.api, [Flaw(path + flaw.path.removeprefix("$"), flaw.message) for flaw in error.faults])


def _typed(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        raise DecodeError("turn", [Flaw(path.rstrip("`") or "$", message)]) from None


def turns_of(script: Iterable[TurnLike]) -> list[Turn]:
    """Return the turns of a script. Raises ScriptError with the number of an invalid turn."""
    if isinstance(script, str | Mapping | ChatResponse | Turn):
        raise ScriptError(f"expected a list of turns, got one {type(script).__name__}: put it into a list")
    turns = []
    for number, value in enumerate(script, 1):
        try:
            turns.append(as_turn(value))
        except ContentModelError as error:
            raise ScriptError(f"turn {number}: {error}") from error
    return turns


@dataclass(frozen=True)
class Taken:
    """The turn of one request. `number` counts on if a script is repeated; `fault` is the fault of this try, if any."""

    number: int
    turn: Turn
    fault: Fault | None


class Script:
    """Assigns turns to requests, in the order in which they arrive."""

    def __init__(self, turns: Iterable[TurnLike], *, repeat: bool = False) -> None:
        self.turns = turns_of(turns)
        self.repeat = repeat
        self.done = 0
        """The number of turns that are done. It is not reset if the script is repeated."""
        self._tries = 0

    def take(self) -> Taken | None:
        """Return the turn for a new request; None if no turn is left."""
        if not self.turns or (self.done >= len(self.turns) and not self.repeat):
            return None
        turn = self.turns[self.done % len(self.turns)]
        fault = turn.fault if turn.fault is not None and self._tries < turn.fault.times else None
        taken = Taken(self.done + 1, turn, fault)
        self._tries += 1
        if fault is None or (turn.response is None and self._tries >= fault.times):
            self.finish(taken)
        return taken

    def finish(self, taken: Taken) -> None:
        """Mark a turn as done, unless it is already."""
        if taken.number == self.done + 1:
            self.done += 1
            self._tries = 0
