"""Laws for defects that laws which count values do not find, such as two swapped results or a false loss.

Each value gets a unique mark first, so that equal values are distinguished.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec

from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    DecodeError,
    ReasoningContent,
    TextContent,
)
from contentmodel.auditing import leaves
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.events import fold
from contentmodel.framing import stream_format_of
from contentmodel.json import canonical, parse, write
from contentmodel.lines import write_lines
from contentmodel.unfolding import unfold
from contentmodel_conformance.differences import ABSENT
from contentmodel_conformance.laws import LawBroken, Refused, decode, encode
from contentmodel_conformance.streams import decode as decode_stream
from contentmodel_conformance.streams import encode as encode_stream

_INDEX = re.compile(r"\[\d+\]")
_MARK = re.compile(r"mark(\d+)kram")


def pairing(adapter: Any, kind: str, value: Any) -> None:
    """A tool result stays paired with its call, and results keep their order. One directly after its call is kept."""
    marks = _Marks(value, adapter.api)
    encoded = encode(adapter, kind, marks.value)
    pairs = list(_answers(decode(adapter, kind, encoded.payload)))
    for call, result in pairs:
        if result in marks.answers and call is not None and marks.answers[result] != call:
            detail = f"the result of call {marks.answers[result]} became the result of call {call}"
            raise LawBroken("pairing", f"result {result}", detail, marks.answers[result], call)
    lost = marks.direct - {result for call, result in pairs if call is not None}
    if lost:
        detail = "the result directly after its call is no result of a call any more"
        raise LawBroken("pairing", f"result {min(lost)}", detail, marks.answers[min(lost)], ABSENT)
    order = [result for _, result in pairs]
    if getattr(adapter, "results_in_calls", False):
        # The order of the calls is that of the results.
        return
    if order != sorted(order):
        raise LawBroken("pairing", "$", "the order of the results changed", sorted(order), order)


def policies(adapter: Any, request: ChatRequest) -> None:
    """The policy for reasoning is applied: with "text", reasoning that the target cannot represent is sent as text."""
    thoughts: dict[str, str] = {}
    messages = [
        msgspec.structs.replace(message, contents=[_marked_thought(content, thoughts) for content in message.contents])
        for message in request.messages
    ]
    if not thoughts:
        raise Refused("the request has no reasoning")
    encoded = adapter.encode_request(msgspec.structs.replace(request, messages=messages), {"reasoning": "text"})
    sent = encoded.to_json().decode("utf-8", "replace")
    for mark in thoughts:
        if mark not in sent:
            raise LawBroken(
                "policies",
                "$.messages",
                "the policy is to send reasoning as text, but it was not sent",
                thoughts[mark],
                ABSENT,
            )


def _marked_thought(content: Any, thoughts: dict[str, str]) -> Any:
    if not isinstance(content, ReasoningContent) or not content.text.strip():
        return content
    mark = f"thought{len(thoughts)}thguoht"
    thoughts[mark] = content.text
    return msgspec.structs.replace(content, text=f"{content.text} {mark}")


def honesty(adapter: Any, kind: str, value: Any) -> None:
    """A value that is reported as dropped is not in the output."""
    marks = _Marks(value)
    encoded = encode(adapter, kind, marks.value)
    sent = {int(number) for number in _MARK.findall(encoded.to_json().decode("utf-8", "replace"))}
    for loss in encoded.losses:
        if loss.kind != "dropped":
            continue
        inside = (
            n
            for n, path in marks.texts.items()
            if path == loss.path or path.startswith((f"{loss.path}.", f"{loss.path}["))
        )
        for number in sorted(sent.intersection(inside)):
            detail = f"reported as dropped ({loss.why}), but it is in the output"
            raise LawBroken("honesty", loss.path, detail, "no loss, or no such text", marks.texts[number])


class _Marks:
    """A value (`value`) whose texts, calls and results have unique marks.

    `texts` has the path of each mark. `answers` maps the mark of a result to the mark of its call. It has no results of
    `api` that only their name assigns to a call, because payloads of `api` may have no names in results. `direct` has
    the marks of the results that directly follow the message of their call.
    """

    def __init__(self, value: Any, api: str | None = None) -> None:
        self.texts: dict[int, str] = {}
        self.answers: dict[int, int] = {}
        self.direct: set[int] = set()
        self._last: set[int] = set()
        self._api = api
        self._is_own = False
        self._count = 0
        self._calls: _OpenCalls = {}
        self._unclear: set[str] = set()
        self._role = ""
        self.value = self._marked(value)

    def _marked(self, value: Any) -> Any:
        replace = msgspec.structs.replace
        if not isinstance(value, ChatResponse):
            return replace(value, messages=self._messages(value.messages, "$.messages"))
        choices = [
            replace(choice, messages=self._messages(choice.messages, f"$.choices[{at}].messages"))
            for at, choice in enumerate(value.choices)
        ]
        return replace(value, choices=choices)

    def _messages(self, messages: list[ChatMessage], path: str) -> list[ChatMessage]:
        return [self._message(message, f"{path}[{at}].contents") for at, message in enumerate(messages)]

    def _message(self, message: ChatMessage, path: str) -> ChatMessage:
        self._is_own = message.origin is not None and message.origin.api == self._api
        self._record_shared_ids(message)
        _remove_ids(self._calls, message)
        self._last = self._last if message.role == "tool" else set()
        contents = [self._content(content, f"{path}[{at}]") for at, content in enumerate(message.contents)]
        return msgspec.structs.replace(message, contents=contents)

    def _record_shared_ids(self, message: ChatMessage) -> None:
        """Record the ids that calls of two messages of a turn share: a result with such an id is ambiguous."""
        before, self._role = self._role, message.role
        if message.role == "assistant":
            ids = {content.call_id or "" for content in message.contents if content.__class__ is FunctionCallContent}
            again = {call_id for call_id in ids if self._calls.get(call_id)}
            self._unclear = self._unclear | again if before == "assistant" else set()

    def _content(self, content: Any, path: str) -> Any:
        replace = msgspec.structs.replace
        if content.__class__ is TextContent and content.text.strip():
            return replace(content, text=f"{content.text} {self._mark(f'{path}.text')}")
        if content.__class__ is FunctionCallContent and isinstance(content.arguments, dict):
            mark = self._mark(f"{path}.arguments")
            self._calls.setdefault(content.call_id or "", []).append((self._count, content.name))
            self._last.add(self._count)
            return replace(content, arguments={**content.arguments, "mark": mark})
        if content.__class__ is not FunctionResultContent:
            return content
        outputs = [TextContent(text=self._mark(f"{path}.output_list[0].text")), *content.output_list]
        open_calls = self._calls.get(content.call_id or "")
        if self._is_own and len({name for _, name in open_calls or ()}) > 1:
            self._unclear = {*self._unclear, content.call_id or ""}
        if open_calls and (content.call_id or "") not in self._unclear:
            self.answers[self._count] = _take(open_calls, content.name)
            if self.answers[self._count] in self._last:
                self.direct.add(self._count)
        return replace(content, outputs=outputs)

    def _mark(self, path: str) -> str:
        self._count += 1
        self.texts[self._count] = path
        return f"mark{self._count}kram"


_OpenCalls: TypeAlias = dict[str, list[tuple[int, str | None]]]
"""The marks and names of the calls without a result, by id."""


def _take(open_calls: list[tuple[int, str | None]], name: str | None) -> int:
    """Remove the first call with this name, or the first call if none has it, and return the mark of the call."""
    named = (at for at, (_, call_name) in enumerate(open_calls) if name is not None and call_name == name)
    return open_calls.pop(next(named, 0))[0]


def _remove_ids(calls: _OpenCalls, message: ChatMessage) -> None:
    """Remove the ids of a message's calls from the open calls: they no longer refer to earlier calls."""
    for content in message.contents:
        if content.__class__ is FunctionCallContent:
            calls.pop(content.call_id or "", None)


def _answers(value: Any) -> Iterator[tuple[int | None, int]]:
    """Yield the mark of each result with the mark of its call, or None if it has none."""
    calls: _OpenCalls = {}
    choices = getattr(value, "choices", None)
    for message in value.messages if choices is None else [m for choice in choices for m in choice.messages]:
        _remove_ids(calls, message)
        for content in message.contents:
            if content.__class__ not in (FunctionCallContent, FunctionResultContent):
                continue
            mark = _MARK.search(write(content).decode("utf-8", "replace"))
            open_calls = calls.setdefault(content.call_id or "", [])
            if content.__class__ is FunctionCallContent and mark is not None:
                open_calls.append((int(mark[1]), content.name))
            elif mark is not None:
                yield _take(open_calls, content.name) if open_calls else None, int(mark[1])


def key_order(adapter: Any, kind: str, payload: Any) -> None:
    """The order of the keys of an object does not change the decoded value."""
    try:
        value = decode(adapter, kind, payload)
    except DecodeError:
        raise Refused from None
    turned = _turned(payload)
    one, other = _facts(value), _facts(decode(adapter, kind, turned))
    if one != other:
        detail = "the value differs if the keys are in reverse order"
        raise LawBroken("key order", "$", detail, sorted((one - other).elements()), sorted((other - one).elements()))


def _facts(value: Any) -> Counter[str]:
    """Return all values with their paths, without indices: a tool of Gemini becomes one object per key."""
    values = leaves(msgspec.to_builtins(value))
    return Counter(f"{_INDEX.sub('', path)} = {_spelled(item)}" for path, item, _ in values)


def _spelled(value: Any) -> str:
    """Return a value as JSON. An object that is JSON text gets its keys sorted."""
    if isinstance(value, str) and value[:1] == "{":
        with suppress(DecodeError):
            return canonical(parse(value))
    return write(value).decode()


def _turned(value: Any) -> Any:
    """Return JSON with the keys of all objects in reverse order."""
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(value)}
    return [_turned(item) for item in value] if isinstance(value, list) else value


LEVELS = (50, 100, 200, 400, 800)


def nested(payload: dict[str, Any] | list[Any], levels: int) -> Iterator[bytes]:
    """Yield a payload as text with `levels` nested lists or objects in an unknown field.

    The field is in the payload, or in the first object of each of its lists. A list is the values of JSON Lines.
    """
    for opened, closed in (("[", "]"), ('{"a":', "}")):
        deep = f"{opened * levels}1{closed * levels}".encode()
        for marked in _with_place(payload):
            text = write_lines(marked) if isinstance(marked, list) else write(marked)
            yield text.replace(b'"place of the depth"', deep)


def _with_place(payload: dict[str, Any] | list[Any]) -> Iterator[dict[str, Any] | list[Any]]:
    if isinstance(payload, list):
        if payload and isinstance(payload[0], dict):
            yield from ([line, *payload[1:]] for line in _with_place(payload[0]))
        return
    yield {**payload, "depth": "place of the depth"}
    for key, items in payload.items():
        if isinstance(items, list) and items and isinstance(items[0], dict):
            yield {**payload, key: [{**items[0], "depth": "place of the depth"}, *items[1:]]}


_HIGH, _LOW = b"HIGHHALF", b"LOW-HALF"
_WHOLE = "\U0001f600"


def surrogates(adapter: Any) -> None:
    """A character whose surrogate pair is split between two events is decoded whole."""
    message = ChatMessage(role="assistant", contents=[TextContent(text=(_HIGH + _LOW).decode())])
    response = ChatResponse(id="i", model="m", choices=[ChatChoice(messages=[message])])
    raw, _ = encode_stream(adapter, unfold(response, size=len(_HIGH)))
    form = stream_format_of(adapter)
    framing = form.framing()
    frames = [*framing.feed(raw), *framing.end()]
    halves = ((name, data.replace(_HIGH, b"\\ud83d").replace(_LOW, b"\\ude00")) for name, data in frames)
    cut = b"".join(form.write(data, name) for name, data in halves)
    text = fold(decode_stream(adapter, [cut])).text
    if text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") != _WHOLE:
        escaped = text.encode("unicode_escape").decode()
        raise LawBroken("surrogates", "$.text", "half of a character is missing", _WHOLE, escaped)
