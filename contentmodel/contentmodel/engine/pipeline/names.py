"""Map ids and tool names of another API to those that the target accepts. The map can be reversed.

Each call gets an id that is unique in its conversation, and each result the id of its call, as APIs require it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import repeat
from string import digits
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from contentmodel import reasons
from contentmodel.content.tools import CustomToolCallContent, FunctionCallContent, ToolCallContent, ToolResultContent
from contentmodel.engine.context import is_all_native, is_native, with_contents
from contentmodel.engine.pipeline.steps import CALLS_AND_RESULTS
from contentmodel.hints import minted, minted_id, with_call_id
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import AnswerCallIds, DistinctIds, Place, TranscriptIndex, missing_ids, new_ids
from contentmodel.reasons import Reason
from contentmodel.renames import Renames
from contentmodel.request import ChatRequest, CustomTool, FunctionTool, Tool, ToolChoice, ToolGroup
from contentmodel.rules import IdentifierRule, tester

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import DecodeContext, EncodeContext


@cache
def validator(rule: IdentifierRule) -> Callable[[str], bool]:
    """Return a function that tests whether a text matches the rule.

    Raise ValueError if the rule allows too few texts to replace the ids of another API.
    """
    first, others = _allowed_characters(rule)
    if len(first) * len(others) ** (_length(rule) - 1) < _MIN_TEXTS:
        raise ValueError(
            f"the rule {rule} allows fewer than {_MIN_TEXTS:,} texts, too few for ids or names: allow more characters"
        )
    return tester(rule)


_USUAL_LENGTH, _MIN_TEXTS = 24, 2**32
"""The usual length of generated texts, and the minimum number of texts that a rule has to allow."""
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


@cache
def _allowed_characters(rule: IdentifierRule) -> tuple[str, str]:
    """Return the printable ASCII characters that may start a text, and those that may follow."""
    matches = re.compile(f"{rule.characters}{{1,2}}", re.DOTALL).fullmatch
    first = "".join(letter for letter in _PRINTABLE if matches(letter))
    return first, "".join(letter for letter in _PRINTABLE if matches(first[:1] + letter))


def _length(rule: IdentifierRule) -> int:
    """Return the length of generated texts."""
    return max(min(rule.longest, _USUAL_LENGTH), rule.shortest)


def _encoded_digest(digest: str, rule: IdentifierRule) -> str:
    """Return a digest in the characters that the rule allows."""
    first, others = _allowed_characters(rule)
    number, index = divmod(int(digest, 16), len(first))
    text = first[index]
    for _ in range(_length(rule) - 1):
        number, index = divmod(number, len(others))
        text += others[index]
    return text


class Bijection:
    """Map texts to target-safe ones: unchanged if the target accepts them, else derived from their hash.

    The result depends only on this text and earlier ones. So if a conversation grows, earlier results stay the same.
    """

    def __init__(
        self, rule: IdentifierRule, make: Callable[[str, str, IdentifierRule], str], reserved: Iterable[str] = ()
    ) -> None:
        self._rule = rule
        self._accepts = validator(rule)
        self._make = make
        self.same: set[str] = set()
        """The texts that are unchanged."""
        self.changed: dict[str, str] = {}
        """The changed texts, with their replacements."""
        self.reserved = frozenset(reserved)
        """Texts with a special meaning. No text is mapped to one of these."""
        self._used: set[str] = set(self.reserved)

    def __call__(self, text: str) -> str:
        return text if self.keeps(text) else self.changed.get(text) or self._add(text)

    def take(self, text: str) -> None:
        """Keep the text unchanged, even if the rule does not allow it."""
        self.same.add(text)

    def keeps(self, text: str) -> bool:
        """Return whether the text is unchanged. If so, no other text is mapped to it from now on."""
        if text in self.same:
            return True
        if text in self._used or text in self.changed or not self._accepts(text):
            return False
        self.same.add(text)
        return True

    def _add(self, text: str) -> str:
        # Imported here because the import is slow (a tenth of this library's import time) and rarely needed.
        from hashlib import blake2s

        replacement, tries = "", 0
        while not replacement or replacement in self._used or replacement in self.same:
            digest = blake2s(f"{tries}{text}".encode("utf-8", "surrogatepass")).hexdigest()
            replacement, tries = self._make(text, digest, self._rule), tries + 1
            if not self._accepts(replacement):
                replacement = _encoded_digest(digest, self._rule)
        self.changed[text] = replacement
        self._used.add(replacement)
        return replacement


def _call_id(text: str, digest: str, rule: IdentifierRule) -> str:
    # At least eight digits of the hash are kept. If the id is then too long, `_encoded_digest` replaces it.
    return f"call_{digest[:24]}"[: max(rule.longest, 13)]


def _tool_name(text: str, digest: str, rule: IdentifierRule) -> str:
    readable = re.sub(r"\W", "_", text, flags=re.ASCII)[: min(rule.longest, 64) - 9] or "tool"
    return f"{readable if readable[0] not in digits else '_' + readable[1:]}_{digest[:8]}"


def with_names(
    request: ChatRequest,
    context: EncodeContext,
    *,
    ids: IdentifierRule,
    names: IdentifierRule,
    reserved: Iterable[str] = (),
) -> ChatRequest:
    """Return a request of another API with ids and tool names that the target accepts.

    Definitions, calls, results and tool choice are changed consistently. The maps are stored in `context.maps`.
    """
    rename = _Renamer(context, Bijection(ids, _call_id), Bijection(names, _tool_name, reserved))
    tools = [rename.tool(tool) for tool in request.tools]
    options = request.options
    if options.tool_choice is not None:
        choice = rename.choice(options.tool_choice)
        if choice is not options.tool_choice:
            options = msgspec.structs.replace(options, tool_choice=choice)
    messages = [rename.message(message) for message in request.messages]
    context.maps = rename.maps(context.maps or Renames())
    if not rename.has_changes:
        return request
    return msgspec.structs.replace(request, tools=tools, options=options, messages=messages)


def with_used_ids(maps: Renames | None, source: object, context: EncodeContext) -> Renames:
    """Return the maps of a converted request with the ids of its calls."""
    maps = Renames() if maps is None else maps
    if not isinstance(source, ChatRequest):
        return maps
    calls = [content for content in contents_of(source.messages) if isinstance(content, ToolCallContent)]
    if is_all_native(source, context):
        calls = [call for call in calls if minted(call) is not None]
    used = tuple(dict.fromkeys(call.call_id for call in calls if call.call_id))
    return msgspec.structs.replace(maps, used=used) if used else maps


_M = TypeVar("_M", bound=msgspec.Struct)


class _Renamer:
    """Rename tools, calls and results for the target, and report each change."""

    def __init__(self, context: EncodeContext, ids: Bijection, names: Bijection) -> None:
        self._context = context
        self._ids = ids
        self._names = names

    @property
    def has_changes(self) -> bool:
        """True if an id or a name was replaced."""
        return bool(self._ids.changed or self._names.changed)

    def maps(self, before: Renames) -> Renames:
        """Return the maps of a conversion with the replacements, which may be of ids that were replaced before."""
        names, ids = self._names.changed, self._ids.changed
        tools = {names.get(name, name): tool for name, tool in before.tools.items()}
        repeated = {ids.get(call_id, call_id): source for call_id, source in before.repeated.items()}
        ids = {source: call_id for source, call_id in ids.items() if source not in before.repeated}
        return msgspec.structs.replace(before, ids=ids, repeated=repeated, names=names, tools=tools)

    def tool(self, tool: Tool) -> Tool:
        if isinstance(tool, ToolGroup):
            tools = [self.tool(inner) for inner in tool.tools]
            changed = any(new is not old for new, old in zip(tools, tool.tools, strict=True))
            return msgspec.structs.replace(tool, tools=tools) if changed else tool
        if not isinstance(tool, FunctionTool | CustomTool):
            return tool
        if self._context.native:
            self._names.take(tool.name)
        return self._changed(tool, name=self._names(tool.name))

    def choice(self, choice: ToolChoice) -> ToolChoice:
        if not choice.tools:
            return choice
        return self._changed(choice, tools=[self._names(name) for name in choice.tools])

    def message(self, message: ChatMessage) -> ChatMessage:
        if is_native(message, self._context):
            self._take(message)
            # A stored answer has the source's names. A tool of this request that was renamed is renamed here, too.
            if not any(c.__class__ in CALLS_AND_RESULTS and c.name in self._names.changed for c in message.contents):
                return message
            contents = [self._content(c) if c.__class__ in CALLS_AND_RESULTS else c for c in message.contents]
            return with_contents(message, contents)
        same_ids, same_names = self._ids.same, self._names.same
        for content in message.contents:
            if content.__class__ not in CALLS_AND_RESULTS:
                continue
            call_id, name = content.call_id, _name_of(content)
            if call_id not in same_ids and call_id is not None and not self._ids.keeps(call_id):
                break
            if name not in same_names and name is not None and not self._names.keeps(name):
                break
        else:
            return message
        contents = [self._content(c) if c.__class__ in CALLS_AND_RESULTS else c for c in message.contents]
        return with_contents(message, contents)

    def _take(self, message: ChatMessage) -> None:
        """Keep the ids and names of a message from the target's API."""
        for content in message.contents:
            if content.__class__ in CALLS_AND_RESULTS:
                if content.call_id is not None:
                    self._ids.take(content.call_id)
                if content.name is not None and content.name not in self._names.changed:
                    self._names.take(content.name)

    def _content(self, content: ToolCallContent | ToolResultContent) -> AIContent:
        call_id = None if content.call_id is None else self._ids(content.call_id)
        old_name = _name_of(content)
        name = content.name if old_name is None else self._names(old_name)
        if call_id == content.call_id and name == content.name:
            return content
        return self._changed(content, call_id=call_id, name=name)

    def _changed(self, value: _M, **fields: object) -> _M:
        changes = {field: item for field, item in fields.items() if item != getattr(value, field)}
        if not changes:
            return value
        for field in changes:
            old = getattr(value, field)
            names = [old] if field == "name" else old if field == "tools" else ()
            is_reserved = not self._names.reserved.isdisjoint(names)
            self._context.report_loss(value, field, reasons.RESERVED_NAME if is_reserved else reasons.MAPPED_NAME)
        return msgspec.structs.replace(value, **changes)


def _name_of(content: ToolCallContent | ToolResultContent) -> str | None:
    """Return the name of a tool of the application; None for one that the provider runs: its name is the API's."""
    return None if content.executor == "provider" else content.name


# -- ids of calls ------------------------------------------------------------------------------------------------------


_CALLS = (FunctionCallContent, CustomToolCallContent)
_TOOLS = (ToolCallContent, ToolResultContent)
_ChangedIds: TypeAlias = "dict[Place, tuple[str, Reason]]"
"""The ids of calls, results and approvals by place, and why an id differs from that of the source."""


def reason_of_new_id(call_id: str | None) -> Reason:
    """Return the reason why a call gets another id than `call_id`."""
    return reasons.REPEATED_CALL_ID if call_id else reasons.CALL_ID


def with_call_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of a request with ids on all calls and results, if any has none in messages of other APIs."""
    has_ids = all(map(getattr, contents_of(messages), repeat("call_id"), repeat("-")))
    if has_ids or all(is_native(message, context) for message in messages):
        return messages
    return with_distinct_ids(messages, TranscriptIndex(messages), context)


def with_answer_ids(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of an answer with distinct ids on its calls, and with the same ids on their results."""
    ids = AnswerCallIds(context.answer_id)
    changed_ids: _ChangedIds = {}
    places = [(number, at) for number, message in enumerate(messages) for at in range(len(message.contents))]
    for block, place in enumerate(places):
        content = _at(messages, place)
        if isinstance(content, _TOOLS):
            changed_ids[place] = ids.give(block, content).call_id or "", reason_of_new_id(content.call_id)
    return _with_ids(messages, changed_ids, context)


def with_minted_ids(
    messages: list[ChatMessage], context: DecodeContext, answer_id: str | None = None
) -> list[ChatMessage]:
    """Return decoded messages with ids on the calls and results of an API without ids. Each result has its call's.

    The API's encoder drops these ids. The ids of answers with another `answer_id` differ.
    """
    for (number, at), call_id in missing_ids(messages, answer_id).items():
        contents: list[Any] = messages[number].contents
        if contents[at].call_id is None:
            # In place: the list is traced already.
            contents[at] = minted_id(contents[at], context.api, call_id)
    return messages


def with_distinct_ids(
    messages: Sequence[ChatMessage], index: TranscriptIndex, context: EncodeContext
) -> list[ChatMessage]:
    """Return messages in which each call has an id that no earlier call has, and each result the id of its call.

    An id depends only on earlier messages, so that those of a growing conversation are stable. If the target's own
    messages repeat ids, these are kept, because the target gave them. The maps of the context get the original of each
    repeated id.
    """
    distinct, originals = DistinctIds(), dict[str, str]()
    fresh, foreign = new_ids(distinct.taken), set[str]()
    changed_ids: _ChangedIds = {}
    for place in sorted([*index.calls, *index.results]):
        content, is_of_target = _at(messages, place), is_native(messages[place[0]], context)
        if place in index.call_of:
            changed_ids |= _id_of_result(messages, place, index.call_of[place], changed_ids)
        elif content.call_id and not isinstance(content, ToolCallContent):
            continue
        elif is_of_target and content.call_id and content.call_id not in foreign:
            distinct.taken.add(content.call_id)
            continue
        else:
            call_id = distinct.give(content.call_id or next(fresh))
            changed_ids[place] = call_id, reason_of_new_id(content.call_id)
            if content.call_id and call_id != content.call_id:
                originals[call_id] = content.call_id
                changed_ids |= dict.fromkeys(index.approvals_of.get(place, ()), changed_ids[place])
            if not is_of_target:
                foreign.add(call_id)
    if originals:
        maps = context.maps or Renames()
        context.maps = msgspec.structs.replace(maps, repeated={**maps.repeated, **originals})
    return _with_ids(messages, changed_ids, context)


def _id_of_result(
    messages: Sequence[ChatMessage], place: Place, call_place: Place, changed_ids: _ChangedIds
) -> _ChangedIds:
    """Return the new id of a result, if it has to change: the id of its call."""
    own_id, call_id = _at(messages, place).call_id, _at(messages, call_place).call_id
    if call_place not in changed_ids:
        return {} if own_id else {place: (call_id, reasons.CALL_ID)}
    reason = reasons.ID_OF_CALL if own_id and own_id != call_id else reason_of_new_id(own_id)
    return {place: (changed_ids[call_place][0], reason)}


def _at(messages: Sequence[ChatMessage], place: Place) -> Any:
    return messages[place[0]].contents[place[1]]


def _with_ids(messages: Sequence[ChatMessage], changed_ids: _ChangedIds, context: EncodeContext) -> list[ChatMessage]:
    """Return messages with the given ids of calls, results and approvals. Report each that differs as a loss."""
    changed: dict[int, list[AIContent]] = {}
    for place, (call_id, reason) in ((place, changed_ids[place]) for place in sorted(changed_ids)):
        content = _at(messages, place)
        field = "call_id" if isinstance(content, _TOOLS) else "request_id"
        if getattr(content, field) == call_id:
            continue
        context.report_loss(content, field, reason)
        renamed = with_call_id(content, call_id) if field == "call_id" else _answering(content, call_id)
        changed.setdefault(place[0], list(messages[place[0]].contents))[place[1]] = renamed
    return [
        with_contents(message, changed[number]) if number in changed else message
        for number, message in enumerate(messages)
    ]


def _answering(approval: Any, call_id: str) -> AIContent:
    changed: AIContent = msgspec.structs.replace(approval, request_id=call_id)
    return changed


def calls_of(number: int, message: ChatMessage) -> dict[Place, ToolCallContent]:
    """Return the calls of a message that the application runs, by their places in the indexed messages."""
    return {(number, at): content for at, content in enumerate(message.contents) if isinstance(content, _CALLS)}
