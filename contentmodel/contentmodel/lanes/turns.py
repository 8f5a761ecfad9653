"""The lane of requests: turns of an agent that are like earlier ones are converted by templates.

A turn is the messages from an answer with calls to the last result of these calls. Its conversion depends on nothing
but the turn, the head of the request and its neighbours being turns, too. So a long request is converted without most
of its turns: the model's way converts the rest, with one turn of each template, which must come out as the template
makes it. Then the other turns are put back in their places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2s
from itertools import islice, pairwise, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent, ToolCallContent, ToolResultContent
from contentmodel.encoded import Encoded
from contentmodel.engine.context import DecodeContext
from contentmodel.engine.losses.model_paths import ModelPaths
from contentmodel.errors import ContentModelError, DecodeError
from contentmodel.json import Json, JsonArray, JsonObject, value_at, write
from contentmodel.lanes.late import Late, is_due
from contentmodel.lanes.passing import cites_pages, found_in, items_of, leaves, path_of, replaced
from contentmodel.lanes.template import Outcome, Passing, template_of
from contentmodel.lanes.values import ID, NAME, Kind
from contentmodel.losses import Loss
from contentmodel.message import contents_of
from contentmodel.request import ChatRequest, FunctionTool

if TYPE_CHECKING:
    from contentmodel.engine.adapting import TableAdapter
    from contentmodel.renames import Renames


class TurnTemplate(NamedTuple):
    """The template of a turn. It returns the wire messages, the ids of the calls, and the names of their tools."""

    fill: Callable[[Json], Json]
    losses: tuple[Loss, ...]
    """With paths that begin at the list of the messages of the turn."""
    counts: Mapping[str, int]


class Fit(NamedTuple):
    """A turn of a request that a template takes."""

    start: int
    end: int
    """The index of the first message after the turn."""
    template: TurnTemplate
    messages: JsonArray
    """Its wire messages in the target."""
    ids: list[str]
    names: list[str]


Use: TypeAlias = tuple[int, bool]
"""A template, and whether the turn is followed by other messages than turns."""


def role_of(message: Json) -> object:
    """Return the role and the type of a wire message, if they are texts."""
    if message.__class__ is not dict:
        return None
    role, name = message.get("role"), message.get("type")
    return (role if role.__class__ is str else None, name if name.__class__ is str else None)


def outline_of(message: Json) -> object:
    """Return the role and the keys of a wire message, and for each of its lists the keys of the objects there."""
    if message.__class__ is not dict:
        return None
    lists = [
        (*[(*entry,) if entry.__class__ is dict else None for entry in value],) if value.__class__ is list else None
        for value in message.values()
    ]
    return (role_of(message), *message, *lists)


def outlined(messages: JsonArray) -> Iterator[str]:
    """Yield the paths of the objects and lists whose keys and lengths are in the outlines of messages."""
    yield "$"
    for path, message in items_of(messages, "$"):
        yield path
        for inner, value in items_of(message, path):
            if value.__class__ is list:
                yield inner
                yield from (at for at, entry in items_of(value, inner) if entry.__class__ is dict)


class Turns:
    """The templates of turns for one target: an API, a model and policies."""

    FEWEST = 8
    """The number of turns to leave out from which this way is shorter."""
    MOST = 64
    """The largest number of templates."""
    FAILURES = 3
    """The turns of one outline without a template after which none is made for it."""
    AT_ONCE = 16
    """The largest number of turns that one request is searched for."""
    MOST_HEADS = 64
    """The largest number of heads for which templates are known to be right."""

    def __init__(self, reader: TableAdapter, writer: TableAdapter, convert: Callable[[JsonObject], Encoded]) -> None:
        """Create the lane. `convert` converts a request through the model."""
        self.reader, self.writer, self._convert = reader, writer, convert
        self._at, self._to = reader.messages_field, writer.messages_field
        self._outlines: dict[object, int] = {}
        """A number for the outline of each message of a turn."""
        self._templates: dict[tuple[int | None, ...], list[TurnTemplate]] = {}
        """By the outlines of their messages."""
        self._lengths: dict[int | None, list[int]] = {}
        """The lengths of turns by the outlines of their first messages, the largest first."""
        self._starts: set[object] = set()
        """The roles of the first messages of turns."""
        self._right: dict[bytes, set[Use]] = {}
        """The uses of templates that made what the model's way made, by the heads of requests."""
        self._failures: Counter[object] = Counter()
        """The turns without a template, by the outlines of their messages."""
        self._others = 0
        """The number of requests with turns that no template takes."""

    # -- conversion --------------------------------------------------------------------------------------------------

    def fits(self, messages: JsonArray) -> list[Fit]:
        """Return the turns that a template takes, in their order."""
        fits: list[Fit] = []
        outlines = [self._outlines.get(outline_of(message)) for message in messages]
        at, end = 0, len(messages)
        while at < end:
            fit = self._fit(messages, outlines, at)
            if fit is None:
                at += 1
            else:
                fits.append(fit)
                at = fit.end
        return fits

    def _fit(self, messages: JsonArray, outlines: Sequence[int | None], at: int) -> Fit | None:
        for length in self._lengths.get(outlines[at], ()):
            for template in self._templates.get((*outlines[at : at + length],), ()):
                filled = template.fill(messages[at : at + length])
                if filled is not None:
                    return Fit(at, at + length, template, *filled)
        return None

    def converted(self, wire: JsonObject) -> Encoded:
        """Convert a request without most of its turns, and put these back. An unusual one takes the model's way."""
        messages = wire[self._at]
        fits = self.fits(messages) if self._templates else []
        if sum(fit.end - fit.start for fit in fits) < 0.8 * len(messages):
            self._others += 1
            if is_due(self._others):
                encoded = self._convert(wire)
                self.learn(wire, encoded)
                return encoded
        return self.without_turns(wire, fits) or self._convert(wire)

    def without_turns(self, wire: JsonObject, fits: Sequence[Fit]) -> Encoded | None:
        """Convert a request without most of its turns; None if it has too few, or if a turn depends on others."""
        messages = wire[self._at]
        if len(fits) < self.FEWEST:
            return None
        head = blake2s(write({**wire, self._at: messages[: fits[0].start]})).digest()
        right = {*self._right.get(head, ())}
        left_out = self._left_out(messages, fits, right)
        if len(left_out) < self.FEWEST:
            return None
        others: JsonArray = []
        start = 0
        for fit in left_out:
            others += messages[start : fit.start]
            start = fit.end
        try:
            encoded = self._convert({**wire, self._at: others + messages[start:]})
        except DecodeError:
            # The paths of faults are those of the whole request.
            return None
        spliced = self._spliced(encoded.payload.get(self._to), fits, {fit.start for fit in left_out})
        if spliced is None or not _are_apart(left_out, encoded.value, encoded.maps):
            return None
        if len(self._right) >= self.MOST_HEADS:
            self._right.clear()
        self._right[head] = right
        whole = {**encoded.payload, self._to: spliced}
        return SplicedRequest(whole, encoded, fits, left_out, self, lambda: self._convert(wire))

    def _left_out(self, messages: JsonArray, fits: Sequence[Fit], right: set[Use]) -> list[Fit]:
        """Return the turns to leave out: those after another turn and before an answer.

        The first one of each use stays, if it is not in `right`. All uses are added to it.
        """
        left_out: list[Fit] = []
        end = -1
        following = [*[fit.start for fit in fits[1:]], -1]
        for fit, use, start in zip(fits, self._uses(fits, len(messages)), following, strict=True):
            is_between = fit.start == end and (
                fit.end == start or (fit.end < len(messages) and role_of(messages[fit.end]) in self._starts)
            )
            if is_between and use in right:
                left_out.append(fit)
            right.add(use)
            end = fit.end
        return left_out

    @staticmethod
    def _uses(fits: Sequence[Fit], length: int) -> list[Use]:
        """Return the template of each turn, and whether other messages than turns follow it."""
        uses: list[Use] = []
        start, is_followed = length, False
        for fit in reversed(fits):
            is_followed = is_followed or fit.end != start
            uses.append((id(fit.template), is_followed))
            start = fit.start
        return uses[::-1]

    def _spliced(self, messages: Json, fits: Sequence[Fit], left_out: set[int]) -> JsonArray | None:
        """Return the wire messages with those of the turns that were left out; None if a template made others."""
        if messages.__class__ is not list:
            return None
        spliced: JsonArray = []
        at = 0
        for fit in fits:
            if fit.start in left_out:
                spliced += fit.messages
                continue
            places = [place for place, message in enumerate(messages) if message == fit.messages[0]]
            end = places[0] + len(fit.messages) if places else 0
            if len(places) != 1 or places[0] < at or messages[places[0] : end] != fit.messages:
                return None
            spliced += messages[at:end]
            at = end
        return spliced + messages[at:]

    # -- learning ----------------------------------------------------------------------------------------------------

    def learn(self, wire: JsonObject, encoded: Encoded) -> None:
        """Make templates of the turns of a request, which was converted through the model, that no template takes."""
        request, source = encoded.value, encoded.source
        if source is None or not isinstance(request, ChatRequest) or source[0] is not wire:
            return
        conversation = DecodedTurns(wire, request, source[1], self._at)
        remaining = self.AT_ONCE
        for start, end in conversation.turns:
            if not remaining or sum(map(len, self._templates.values())) >= self.MOST:
                break
            messages = conversation.messages[start:end]
            outlines = (*map(outline_of, messages),)
            if self._failures[outlines] >= self.FAILURES or self.fits(messages):
                continue
            remaining -= 1
            template = self._template_of(messages, conversation.kinds_of(start, end), conversation)
            if template is not None:
                self._add(outlines, template, role_of(messages[0]))
            elif len(self._failures) < self.MOST:
                self._failures[outlines] += 1

    def _template_of(
        self, messages: JsonArray, kinds: Mapping[str, Kind], conversation: DecodedTurns
    ) -> TurnTemplate | None:
        if ID not in kinds.values():
            # The ids are made of the places of the calls.
            return None
        passing = Passing([*leaves(messages, kinds)])
        before, after = (replaced(messages, passing.others(salt)) for salt in ("before", "after"))

        def convert(turn: Json) -> Outcome:
            return self._inserted(turn, before, after, conversation, kinds)

        try:
            template = template_of(messages, kinds, convert(messages), convert, frozenset(outlined(messages)))
        except (_Dependent, ContentModelError):
            return None
        if template is None or not template.fill(messages)[0]:
            return None
        return TurnTemplate(template.fill, template.losses, template.counts)

    def _add(self, outlines: Sequence[object], template: TurnTemplate, start: object) -> None:
        """Add a template of turns whose messages have these outlines. The first message has the role `start`."""
        numbers = [self._outlines.setdefault(outline, len(self._outlines)) for outline in outlines]
        self._templates.setdefault((*numbers,), []).append(template)
        lengths = self._lengths.get(numbers[0], ())
        self._lengths[numbers[0]] = sorted({*lengths, len(outlines)}, reverse=True)
        self._starts.add(start)

    def _inserted(
        self,
        turn: JsonArray,
        before: JsonArray,
        after: JsonArray,
        conversation: DecodedTurns,
        kinds: Mapping[str, Kind],
    ) -> Outcome:
        """Return what becomes of a turn between two others: its messages, and the ids and names of its calls."""
        names = [
            value_at(messages, path)
            for messages in (before, turn, after)
            for path, kind in kinds.items()
            if kind is NAME
        ]
        first = conversation.messages[: conversation.turns[0][0]]
        without = self._convert(conversation.request([*first, *before, *after], names))
        whole = self._convert(conversation.request([*first, *before, *turn, *after], names))
        old, new = without.payload.get(self._to, []), whole.payload.get(self._to, [])
        more = max(len(new) - len(old), 0)
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
        start = min(start, len(new) - more)
        if old[start:] != new[start + more :] or {**without.payload, self._to: new} != whole.payload:
            raise _Dependent
        at = len(first) + len(before)
        losses = _inside(whole.losses, without.losses, self._at, at, len(turn))
        earlier_ids = {call.call_id for call in _calls_of(without.value)}
        calls = [call for call in _calls_of(whole.value) if call.call_id not in earlier_ids]
        if any(call.call_id in whole.maps.ids for call in calls) or whole.created != without.created:
            # What else depends on the turn: the maps of the request, and its time.
            raise _Dependent
        converted = [new[start : start + more], [call.call_id for call in calls], [call.name for call in calls]]
        return Outcome(converted, losses, None, whole.count_losses() - without.count_losses())


def _are_apart(turns: Sequence[Fit], rest: Any, maps: Renames) -> bool:
    """Return whether turns are independent of the rest of a request.

    Their ids are no others, their tools are defined and unchanged, and each call of the rest has a result.
    """
    ids = [call_id for turn in turns for call_id in turn.ids]
    other_ids = [call.call_id for call in _calls_of(rest)]
    results = {c.call_id for c in contents_of(rest.messages) if isinstance(c, ToolResultContent)}
    if len({*ids, *other_ids}) != len(ids) + len(other_ids) or results != {*other_ids}:
        return False
    changed = {*maps.names, *maps.schemas, *maps.tools}
    usual = {tool.name for tool in rest.tools if tool.__class__ is FunctionTool} - changed
    return usual.issuperset(name for turn in turns for name in turn.names)


class _Dependent(Exception):
    """A turn changes what becomes of other parts of its request."""


def _calls_of(request: Any) -> list[ToolCallContent]:
    return [content for content in contents_of(request.messages) if isinstance(content, ToolCallContent)]


def index_in(path: str, conversation: str) -> tuple[int, str] | None:
    """Return the index of the message that a path leads into, and the rest of the path; None if it leads elsewhere."""
    start = f"$.{conversation}["
    if not path.startswith(start):
        return None
    index, _, tail = path[len(start) :].partition("]")
    return int(index), tail


def _inside(
    losses: Sequence[Loss], others: Sequence[Loss], conversation: str, start: int, length: int
) -> tuple[Loss, ...]:
    """Return the losses in some messages, with paths that begin at these. Raise _Dependent if there are more others."""
    inside: list[Loss] = []
    outside: list[Loss] = []
    for loss in losses:
        index, tail = index_in(loss.path, conversation) or (-1, "")
        if start <= index < start + length:
            inside.append(msgspec.structs.replace(loss, path=f"[{index - start}]{tail}"))
        elif index >= start:
            outside.append(msgspec.structs.replace(loss, path=f"$.{conversation}[{index - length}]{tail}"))
        else:
            outside.append(loss)
    if Counter(outside) != Counter(others):
        raise _Dependent
    return tuple(inside)


class DecodedTurns:
    """The turns at the start of a decoded request: calls of functions and their results, which are texts."""

    MOST = 600
    """The number of contents that are searched."""

    def __init__(self, wire: JsonObject, request: ChatRequest, context: DecodeContext, conversation: str) -> None:
        """Find the turns."""
        self._wire, self._request, self._at = wire, request, conversation
        self.messages: JsonArray = wire[conversation]
        self._paths, self._model = context.paths(wire), ModelPaths([request], [], context.api)
        self._contents: dict[int, list[tuple[str, Any]]] = {}
        """The contents of each wire message, with the roles of their messages."""
        contents = ((message.role, content) for message in request.messages for content in message.contents)
        for role, content in islice(contents, self.MOST):
            path = path_of(content, None, self._paths, self._model)
            place = None if path is None else index_in(path, conversation)
            if place is not None:
                self._contents.setdefault(place[0], []).append((role, content))
        self.turns = [*self._turns()]
        """The indexes of the first message of each turn, and of the first one after it."""

    def _turns(self) -> Iterator[tuple[int, int]]:
        starts = [
            at
            for at in range(len(self.messages))
            if self._has_only("assistant", at) and not self._has_only("assistant", at - 1)
        ]
        for start, following in pairwise([*starts, len(self.messages)]):
            end = next((at for at in range(start, following) if not self._is_part(at)), following)
            if end > start + 1 and self._has_only("tool", end - 1) and self._is_whole(start, end):
                yield start, end

    def _has_only(self, role: str, at: int) -> bool:
        return {content_role for content_role, _ in self._contents.get(at, ())} == {role}

    def _is_part(self, at: int) -> bool:
        return (self._has_only("assistant", at) or self._has_only("tool", at)) and all(
            _is_usual(content) for _, content in self._contents[at]
        )

    def _is_whole(self, start: int, end: int) -> bool:
        contents = [content for at in range(start, end) for _, content in self._contents[at]]
        calls = [content.call_id for content in contents if content.__class__ is FunctionCallContent]
        results = [content.call_id for content in contents if content.__class__ is FunctionResultContent]
        return None not in calls and Counter(calls) == Counter(results) and len({*calls}) == len(calls)

    def kinds_of(self, start: int, end: int) -> dict[str, Kind]:
        """Return the kinds of the values of a turn, by paths that begin at its list of messages."""
        kinds: dict[str, Kind] = {}
        for at in range(start, end):
            contents = [content for _, content in self._contents[at]]
            contents += [output for content in contents for output in getattr(content, "outputs", ())]
            for path, kind in found_in(contents, self._wire, self._paths, self._model):
                index, tail = index_in(path, self._at) or (-1, "")
                kinds[f"$[{index - start}]{tail}"] = kind
        return kinds

    def request(self, messages: JsonArray, names: Sequence[str]) -> JsonObject:
        """Return the request with other messages, and with a tool of each name if it has any function."""
        wire = {**self._wire, self._at: messages}
        tool = next((tool for tool in self._request.tools if tool.__class__ is FunctionTool), None)
        path = None if tool is None else path_of(tool, "name", self._paths, self._model)
        listed, _, entry_path = (path or "").rpartition("[")
        index, _, field = entry_path.partition("]")
        if not listed:
            return wire
        tools = value_at(wire, listed)
        defined = {value_at(entry, f"${field}") for entry in tools}
        more = [
            replaced(tools[int(index)], {f"${field}": name}) for name in dict.fromkeys(names) if name not in defined
        ]
        changed: JsonObject = replaced(wire, {listed: [*tools, *more]})
        return changed


def _is_usual(content: Any) -> bool:
    """Return whether a content is one of a turn, without cache points. Its citations are of pages alone."""
    if content.cache_point is not None or not cites_pages(content):
        return False
    if content.__class__ is FunctionResultContent:
        outputs = content.outputs or ()
        return bool(outputs) and all(o.__class__ is TextContent and _is_usual(o) for o in outputs)
    return content.__class__ in (TextContent, ReasoningContent, FunctionCallContent)


class SplicedRequest(Late):
    """The result of a conversion without some turns, which were put back."""

    __slots__ = ("_at", "_fits", "_left_out", "_without_turns")

    def __init__(
        self,
        payload: Json,
        without_turns: Encoded,
        fits: Sequence[Fit],
        left_out: Sequence[Fit],
        turns: Turns,
        by_model: Callable[[], Encoded],
    ) -> None:
        """Create the result.

        `without_turns` is the conversion without the turns `left_out`, which are some of `fits`. `by_model` converts
        the whole request.
        """
        super().__init__(payload, turns.reader, turns.writer, by_model)
        self._without_turns, self._fits, self._left_out, self._at = (
            without_turns,
            fits,
            left_out,
            turns.reader.messages_field,
        )
        self._losses = None

    @property
    def model(self) -> str | None:
        """The model that the source names."""
        return self._without_turns.model

    @property
    def created(self) -> float | int | str | None:
        """The time of the last message of the source that has one. A turn with a time has no template."""
        return self._without_turns.created

    @property
    def maps(self) -> Renames:
        """The replaced ids and tool names: those of the rest, and the ids of the calls that were left out."""
        maps = self._without_turns.maps
        used = dict.fromkeys(maps.used)
        following: dict[str, list[str]] = {}
        last = ""
        left_out = {fit.start for fit in self._left_out}
        for fit in self._fits:
            if fit.start in left_out:
                # An answer to a turn follows it at once.
                following[last] = fit.ids
            last = fit.ids[-1]
        if not used.keys() & following.keys():
            # The calls are of the target's API.
            return maps
        ids: list[str] = []
        for call_id in used:
            ids.append(call_id)
            while ids[-1] in following:
                ids += following[ids[-1]]
        return msgspec.structs.replace(maps, used=(*ids,))

    def count_losses(self) -> Counter[str]:
        """Return the number of lost values by code."""
        return sum((Counter(fit.template.counts) for fit in self._left_out), self._without_turns.count_losses())

    @property
    def may_lose(self) -> bool:
        """True if anything may be lost."""
        return self._without_turns.may_lose or any(fit.template.losses for fit in self._left_out)

    def _resolve(self) -> tuple[Loss, ...]:
        """Return the losses of the rest, with their indexes in the whole, and those of the turns that were left out."""
        placed: list[tuple[int, str, Loss]] = []
        for loss in self._without_turns.losses:
            index, tail = index_in(loss.path, self._at) or (-1, "")
            placed.append((self._whole_index(index), tail, loss))
        for fit in self._left_out:
            for loss in fit.template.losses:
                at, _, tail = loss.path[1:].partition("]")
                placed.append((fit.start + int(at), tail, loss))
        placed.sort(key=itemgetter(0))
        return tuple(
            loss if at < 0 else msgspec.structs.replace(loss, path=f"$.{self._at}[{at}]{tail}")
            for at, tail, loss in placed
        )

    def _whole_index(self, index: int) -> int:
        for fit in self._left_out:
            if index < fit.start:
                break
            index += fit.end - fit.start
        return index
