"""Ids and tool names of another API in the letters that the target takes, by a map that can be undone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from contentmodel.content import CONTENT_TYPES
from contentmodel.content.tools import CustomToolCallContent, FunctionCallContent, ToolCallContent, ToolResultContent
from contentmodel.engine.json import Json, JsonObject
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.engine.table.hints import minted
from contentmodel.errors import ToolArgumentsError
from contentmodel.events import ArgumentsDelta, BlockCatchUp, BlockStart, BlockStop, StreamEvent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, CustomTool, FunctionTool, Tool, ToolChoice, ToolGroup
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.rules import IdentifierRule

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext


@cache
def validator(takes: IdentifierRule) -> Callable[[str], bool]:
    """Return a function that says whether the alphabet has a text.

    ValueError if the alphabet has too few texts: an id of another API could not be replaced by one of them.
    """
    matches = re.compile(takes.pattern, re.DOTALL).fullmatch
    first, rest = _letters(takes)
    if len(first) * len(rest) ** (min(takes.longest, _MADE) - 1) < _ROOM:
        raise ValueError(f"the alphabet {takes} has fewer than {_ROOM:,} texts: no ids or names can be made of it")
    # Most ids are identifiers, which are quicker to tell than a pattern is to match.
    longest = takes.longest if matches("a") and matches("Z_9") else 0

    def accepts(text: str) -> bool:
        return (len(text) <= longest and text.isascii() and text.isidentifier()) or matches(text) is not None

    return accepts


_MADE, _ROOM = 24, 2**32
"""The length of texts that are made of an alphabet's letters, and how many of them there have to be."""
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


@cache
def _letters(takes: IdentifierRule) -> tuple[str, str]:
    """Return the characters, of those that ASCII can print, that may begin a text and those that may follow."""
    matches = re.compile(takes.pattern, re.DOTALL).fullmatch
    first = "".join(letter for letter in _PRINTABLE if matches(letter))
    return first, "".join(letter for letter in _PRINTABLE if matches(first[:1] + letter))


def _spelled(digest: str, takes: IdentifierRule) -> str:
    """Return a digest in the letters of the alphabet."""
    first, rest = _letters(takes)
    number, index = divmod(int(digest, 16), len(first))
    made = first[index]
    for _ in range(min(takes.longest, _MADE) - 1):
        number, index = divmod(number, len(rest))
        made += rest[index]
    return made


class Bijection:
    """Texts and what stands for them: the text itself where the target takes it, else one made from its hash.

    What a text becomes depends on the texts before it alone, so that a longer conversation keeps what it had.
    """

    def __init__(
        self, takes: IdentifierRule, make: Callable[[str, str, IdentifierRule], str], reserved: Iterable[str] = ()
    ) -> None:
        self._takes = takes
        self._accepts = validator(takes)
        self._make = make
        self.same: set[str] = set()
        """The texts that stand for themselves."""
        self.changed: dict[str, str] = {}
        """Every text that something else stands for, and what does."""
        self.reserved = frozenset(reserved)
        """Texts that have another meaning: no text stays one of these, or becomes one."""
        self._made: set[str] = set(self.reserved)

    def __call__(self, text: str) -> str:
        return text if self.keeps(text) else self.changed.get(text) or self._add(text)

    def take(self, text: str) -> None:
        """The text stands for itself, whatever letters it has."""
        self.same.add(text)

    def keeps(self, text: str) -> bool:
        """Whether the text stands for itself, from now on."""
        if text in self.same:
            return True
        if text in self._made or text in self.changed or not self._accepts(text):
            return False
        self.same.add(text)
        return True

    def _add(self, text: str) -> str:
        # Imported here: it takes a tenth of what this library takes to import, and is seldom needed.
        from hashlib import blake2s

        made, tries = "", 0
        while not made or made in self._made or made in self.same:
            digest = blake2s(f"{tries}{text}".encode("utf-8", "surrogatepass")).hexdigest()
            made, tries = self._make(text, digest, self._takes), tries + 1
            if not self._accepts(made):
                made = _spelled(digest, self._takes)
        self.changed[text] = made
        self._made.add(made)
        return made


def _call_id(text: str, digest: str, takes: IdentifierRule) -> str:
    # If fewer than eight digits fit, the id is too long, and is spelled in the alphabet's letters instead.
    return f"call_{digest[:24]}"[: max(takes.longest, 13)]


def _tool_name(text: str, digest: str, takes: IdentifierRule) -> str:
    readable = re.sub(r"\W", "_", text, flags=re.ASCII)[: min(takes.longest, 64) - 9] or "tool"
    return f"{readable if not readable[0].isdigit() else '_' + readable[1:]}_{digest[:8]}"


def with_names(
    request: ChatRequest,
    context: EncodeContext,
    *,
    ids: IdentifierRule,
    names: IdentifierRule,
    reserved: Iterable[str] = (),
) -> ChatRequest:
    """A request of another API with ids and tool names that the target takes, the same on definitions, calls, results
    and tool choice. The maps are kept in `context.maps`.
    """
    rename = _Renamer(context, Bijection(ids, _call_id), Bijection(names, _tool_name, reserved))
    tools = [rename.tool(tool) for tool in request.tools]
    options = request.options
    if options.tool_choice is not None:
        choice = rename.choice(options.tool_choice)
        if choice is not options.tool_choice:
            options = context.replace(options, tool_choice=choice)
    messages = [rename.message(message) for message in request.messages]
    context.maps = rename.maps(context.maps or Renames())
    if not context.maps.ids and not context.maps.names:
        return request
    changed: ChatRequest = context.replace(request, tools=tools, options=options, messages=messages)
    return changed


Restore: TypeAlias = "Callable[[JsonObject, SchemaMap], Json]"
"""Return the arguments that the source's schema has for those that the target got."""
_M = TypeVar("_M", bound=msgspec.Struct)


class SchemaMap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a tool as the source had them, and the `dialect` that the target got them in."""

    schema: JsonObject
    dialect: str


class SourceTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a function of the target is in the source: the tool `name` of a `namespace`, or one that takes free text."""

    name: str
    namespace: str | None = None
    is_custom: bool = False


class Renames(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What stands for what in a converted request: from the source's call `ids` and tool `names` to the target's.

    `schemas` are the source's parameters of tools whose schema the target got in another form, and `tools` the tools
    that are of another kind there, both by the target's name. `calls` is the highest number of an id like `call_7` in
    the source: ids that an adapter gives to calls of the answer, which has none, are counted from there.
    """

    ids: dict[str, str] = {}
    names: dict[str, str] = {}
    schemas: dict[str, SchemaMap] = {}
    tools: dict[str, SourceTool] = {}
    calls: int = 0

    def restored_names(
        self,
        response: ChatResponse,
        restore: Restore,
        replaced: Callable[[object, object], None] | None = None,
    ) -> ChatResponse:
        """An answer of the target in the source's ids, names and arguments.

        `restore` is the target adapter's `restore_arguments`; `replaced` is told what stands for what.
        """
        ids = {there: here for here, there in self.ids.items()}
        names = {there: here for here, there in self.names.items()}

        def restored(content: AIContent) -> AIContent:
            if not isinstance(content, ToolCallContent | ToolResultContent):
                return content
            call_id = ids.get(content.call_id or "", self._counted_on(content))
            name = names.get(content.name or "", content.name)
            source = self.tools.get(content.name or "")
            if source is not None and isinstance(content, FunctionCallContent | CustomToolCallContent):
                is_custom = isinstance(content, FunctionCallContent) and source.is_custom and is_text_alone(content)
                made = as_custom_call(content) if is_custom else content
                named = {"call_id": call_id, "name": source.name, "namespace": source.namespace}
                return replacing(content, msgspec.structs.replace(made, **named))
            if isinstance(content, ToolCallContent) and content.name in self.schemas:
                arguments = self._restored(content, restore)
                return changed(content, call_id=call_id, name=name, arguments=arguments)
            return changed(content, call_id=call_id, name=name)

        def changed(old: _M, **fields: object) -> _M:
            if all(getattr(old, name) == value for name, value in fields.items()):
                return old
            return replacing(old, msgspec.structs.replace(old, **fields))

        def replacing(old: object, new: _M) -> _M:
            if replaced is not None:
                replaced(old, new)
            return new

        choices = [
            changed(choice, messages=[changed(m, contents=[restored(c) for c in m.contents]) for m in choice.messages])
            for choice in response.choices
        ]
        return changed(response, choices=choices)

    def undoing(self, restore: Restore) -> Callable[[StreamEvent], list[StreamEvent]]:
        """Return a function that does the same for the steps of one streamed answer, in their order."""
        return (lambda event: [event]) if self == Renames() else _StreamUndoing(self, restore)

    def _counted_on(self, content: ToolCallContent | ToolResultContent) -> str | None:
        """Return the id of a call or a result; if an adapter gave it, with a number that no call of the source has."""
        call_id = content.call_id
        number = _numbered(call_id) if self.calls and minted(content) is not None else 0
        return f"call_{number + self.calls}" if number else call_id

    def _restored(self, call: ToolCallContent, restore: Restore) -> Json:
        """The arguments that the source's schema has; text that is no object, or needs no change, as it is."""
        try:
            arguments = call.arguments_object
        except ToolArgumentsError:
            return call.arguments
        restored = restore(arguments, self.schemas[call.name or ""])
        return call.arguments if restored == arguments else restored


_NUMBERED = re.compile(r"call_([1-9][0-9]{0,8})")


def _numbered(call_id: str | None) -> int:
    found = _NUMBERED.fullmatch(call_id or "")
    return int(found[1]) if found is not None else 0


def with_counted_calls(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return the request, for an API whose answers have calls without ids. The maps get the number of its last call."""
    contents = (content for message in request.messages for content in message.contents)
    calls = max((_numbered(c.call_id) for c in contents if isinstance(c, ToolCallContent)), default=0)
    if calls:
        context.maps = msgspec.structs.replace(context.maps or Renames(), calls=calls)
    return request


def is_text_alone(call: ToolCallContent) -> bool:
    """Return whether a call has the one argument `input`, a text, as calls that stand for custom ones do."""
    try:
        arguments = call.arguments_object
    except ToolArgumentsError:
        return False
    return arguments.keys() == {"input"} and arguments["input"].__class__ is str


def as_custom_call(call: ToolCallContent) -> CustomToolCallContent:
    """Return the custom call that a call with a text alone stands for."""
    fields = {name: getattr(call, name) for name in CustomToolCallContent.__struct_fields__}
    return CustomToolCallContent(**{**fields, "arguments": call.arguments_object["input"]})


class _StreamUndoing:
    """Undoes maps in a stream. Arguments that are written in another form come whole, with the end of their block."""

    def __init__(self, maps: Renames, restore: Restore) -> None:
        self._maps = maps
        self._restore = restore
        self._held: set[int] = set()
        """The blocks whose deltas are left out."""

    def __call__(self, event: StreamEvent) -> list[StreamEvent]:
        if isinstance(event, ArgumentsDelta) and event.index in self._held:
            return []
        if not isinstance(event, BlockStart | BlockStop | BlockCatchUp):
            return [event]
        name = getattr(event.content, "name", None)
        if name in self._maps.schemas or name in self._maps.tools:
            self._held.add(event.index)
        changed: StreamEvent = msgspec.structs.replace(event, content=self._undone(event))
        return [changed]

    def _undone(self, event: BlockStart | BlockStop | BlockCatchUp) -> AIContent:
        content: Any = event.content
        source = self._maps.tools.get(getattr(content, "name", None) or "")
        if source is not None and source.is_custom and isinstance(event, BlockStart) and not content.arguments:
            content = msgspec.structs.replace(content, arguments={"input": ""})
        message = ChatMessage(role="assistant", contents=[content])
        answer = self._maps.restored_names(ChatResponse(choices=[ChatChoice(messages=[message])]), self._restore)
        return answer.messages[0].contents[0]


NAMED = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, ToolCallContent | ToolResultContent))


class _Renamer:
    """Gives tools, calls and results their names and ids of the target, and reports each that changed."""

    def __init__(self, context: EncodeContext, ids: Bijection, names: Bijection) -> None:
        self._context = context
        self._ids = ids
        self._names = names

    def maps(self, before: Renames) -> Renames:
        names = self._names.changed
        tools = {names.get(name, name): tool for name, tool in before.tools.items()}
        return msgspec.structs.replace(before, ids=self._ids.changed, names=names, tools=tools)

    def tool(self, tool: Tool) -> Tool:
        if isinstance(tool, ToolGroup):
            tools = [self.tool(inner) for inner in tool.tools]
            changed = any(new is not old for new, old in zip(tools, tool.tools, strict=True))
            return self._context.replace(tool, tools=tools) if changed else tool
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
            return message
        same_ids, same_names = self._ids.same, self._names.same
        for content in message.contents:
            if content.__class__ not in NAMED:
                continue
            call_id, name = content.call_id, content.name
            if call_id not in same_ids and call_id is not None and not self._ids.keeps(call_id):
                break
            if name not in same_names and name is not None and not self._names.keeps(name):
                break
        else:
            return message
        contents = [self._content(c) if c.__class__ in NAMED else c for c in message.contents]
        return self._context.with_contents(message, contents)

    def _take(self, message: ChatMessage) -> None:
        """What came from the target's API keeps its ids and names."""
        for content in message.contents:
            if content.__class__ in NAMED:
                if content.call_id is not None:
                    self._ids.take(content.call_id)
                if content.name is not None:
                    self._names.take(content.name)

    def _content(self, content: ToolCallContent | ToolResultContent) -> AIContent:
        call_id = None if content.call_id is None else self._ids(content.call_id)
        name = None if content.name is None else self._names(content.name)
        if call_id == content.call_id and name == content.name:
            return content
        return self._changed(content, call_id=call_id, name=name)

    def _changed(self, value: _M, **given: object) -> _M:
        new = {field: item for field, item in given.items() if item != getattr(value, field)}
        if not new:
            return value
        for field in new:
            held = getattr(value, field)
            names = [held] if field == "name" else held if field == "tools" else ()
            is_reserved = not self._names.reserved.isdisjoint(names)
            self._context.report_loss(value, field, reasons.RESERVED_NAME if is_reserved else reasons.MAPPED_NAME)
        return self._context.replace(value, **new)
