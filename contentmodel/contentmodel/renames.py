"""The names and ids that a conversion replaced, and how an answer gets the originals back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from contentmodel.content.text import TextContent
from contentmodel.content.tools import CustomToolCallContent, FunctionCallContent, ToolCallContent, ToolResultContent
from contentmodel.errors import ToolArgumentsError
from contentmodel.events import (
    ArgumentsDelta,
    BlockCatchUp,
    BlockStart,
    BlockStop,
    CitationDelta,
    StreamEvent,
    TurnStart,
)
from contentmodel.json import Json, JsonObject
from contentmodel.pairs import AnswerCallIds
from contentmodel.response import ChatResponse

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent


Restore: TypeAlias = "Callable[[JsonObject, SchemaMap], Json]"
"""Convert the arguments that the target returned to the schema of the source."""


_M = TypeVar("_M", bound=msgspec.Struct)


class SchemaMap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a tool in the source, and the schema `dialect` of the target."""

    schema: JsonObject
    dialect: str


class SourceTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The source of a target's function: the tool `name` of a `namespace`, or a custom tool."""

    name: str
    namespace: str | None = None
    is_custom: bool = False


class Renames(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The replacements in a converted request: from the source's call `ids` and tool `names` to the target's.

    - `repeated`: the target's ids of calls whose id an earlier call of the source has, with that id.
    - `schemas`: the source's parameters of tools whose schema was changed, by the target's name.
    - `tools`: the tools that are of another kind in the source, by the target's name.
    - `used`: the ids of the source's calls. A new call of the answer that has one of them, or no id, gets another id.
      If the source is of the target's API, they are only those that its adapter generated.
    """

    ids: dict[str, str] = {}
    repeated: dict[str, str] = {}
    names: dict[str, str] = {}
    schemas: dict[str, SchemaMap] = {}
    tools: dict[str, SourceTool] = {}
    used: tuple[str, ...] = ()

    def restored_names(
        self,
        response: ChatResponse,
        restore: Restore,
        replaced: Callable[[object, object], object] | None = None,
    ) -> ChatResponse:
        """Return an answer of the target with the source's ids, names and arguments.

        `restore` is the target adapter's `restore_arguments`. `replaced` is called with each replaced object and its
        replacement.
        """
        choices = []
        for choice in response.choices:
            restorer, block = _Restorer(self, restore, response.id, replaced), count()
            messages = [
                restorer.changed(message, contents=[restorer.content(next(block), c) for c in message.contents])
                for message in choice.messages
            ]
            choices.append(restorer.changed(choice, messages=messages))
        return _Restorer(self, restore, None, replaced).changed(response, choices=choices)

    def leave(self, calls: Sequence[tuple[str | None, str | None]]) -> bool:
        """Return whether `restored_names` leaves an answer with no other calls than these, by id and name, as it is."""
        if self == Renames():
            return True
        ids = {call_id for call_id, _ in calls if call_id}
        mapped = ids.intersection({*self.ids.values(), *self.used, *self.repeated})
        changed = {*self.names.values(), *self.schemas, *self.tools}
        return len(ids) == len(calls) and not mapped and changed.isdisjoint(name for _, name in calls)

    def restoring(self, restore: Restore) -> Callable[[StreamEvent], list[StreamEvent]]:
        """Return a function that restores the events of one streamed answer, in order, like `restored_names`."""
        return (lambda event: [event]) if self == Renames() else _StreamUndoing(self, restore)


class _Restorer:
    """Restore the ids, names and arguments of one choice of an answer. Contents are identified by their blocks."""

    def __init__(
        self,
        maps: Renames,
        restore: Restore,
        answer_id: str | None,
        replaced: Callable[[object, object], object] | None = None,
    ) -> None:
        self._maps, self._restore, self._replaced = maps, restore, replaced
        self._ids = {target: original for original, target in maps.ids.items()}
        self._names = {target: original for original, target in maps.names.items()}
        self._unique = AnswerCallIds(answer_id, [*maps.used, *maps.repeated]) if maps.used or maps.repeated else None

    def content(self, block: int, content: AIContent) -> AIContent:
        """Return the content of a block with the source's values."""
        if not isinstance(content, ToolCallContent | ToolResultContent):
            return self._with_cited_calls(content)
        maps = self._maps
        call_id = self._call_id(block, content)
        name = self._names.get(content.name or "", content.name)
        source = maps.tools.get(content.name or "")
        if source is not None and isinstance(content, FunctionCallContent | CustomToolCallContent):
            is_custom = isinstance(content, FunctionCallContent) and source.is_custom and is_text_alone(content)
            call = as_custom_call(content) if is_custom else content
            fields = {"call_id": call_id, "name": source.name, "namespace": source.namespace}
            return self._replacing(content, msgspec.structs.replace(call, **fields))
        if isinstance(content, ToolCallContent) and content.name in maps.schemas:
            return self.changed(content, call_id=call_id, name=name, arguments=self._arguments(content))
        return self.changed(content, call_id=call_id, name=name)

    def _call_id(self, block: int, content: ToolCallContent | ToolResultContent) -> str | None:
        """Return the source's id of a call that the target has from the request, or the unique id of a new call."""
        call_id = content.call_id or ""
        if call_id in self._ids:
            return self._ids[call_id]
        unique = content.call_id if self._unique is None else self._unique.give(block, content).call_id
        is_earlier = isinstance(content, ToolResultContent) and unique == call_id
        return self._maps.repeated.get(call_id, unique) if is_earlier else unique

    def _with_cited_calls(self, content: AIContent) -> AIContent:
        cited = content.annotations or ()
        ids = {**self._maps.repeated, **self._ids}
        if not any(citation.call_id in ids for citation in cited):
            return content
        annotations = [self.changed(c, call_id=ids.get(c.call_id or "", c.call_id)) for c in cited]
        return self._replacing(content, msgspec.structs.replace(content, annotations=annotations))

    def _arguments(self, call: ToolCallContent) -> Json:
        """Return the arguments in the source's schema. Text that is not an object is unchanged."""
        try:
            arguments = call.arguments_object
        except ToolArgumentsError:
            return call.arguments
        restored = self._restore(arguments, self._maps.schemas[call.name or ""])
        return call.arguments if restored == arguments else restored

    def changed(self, old: _M, **fields: object) -> _M:
        """Return a value with other fields, recorded as its replacement; the same value if they are equal."""
        if all(getattr(old, name) == value for name, value in fields.items()):
            return old
        return self._replacing(old, msgspec.structs.replace(old, **fields))

    def _replacing(self, old: object, new: _M) -> _M:
        if self._replaced is not None:
            self._replaced(old, new)
        return new


def is_text_alone(call: ToolCallContent) -> bool:
    """Return whether a call has exactly one argument, the text `input`. Custom calls are converted to such calls."""
    try:
        arguments = call.arguments_object
    except ToolArgumentsError:
        return False
    return arguments.keys() == {"input"} and arguments["input"].__class__ is str


def as_custom_call(call: ToolCallContent) -> CustomToolCallContent:
    """Return the custom call for a call whose only argument is a text."""
    fields = {name: getattr(call, name) for name in CustomToolCallContent.__struct_fields__}
    return CustomToolCallContent(**{**fields, "arguments": call.arguments_object["input"]})


class _StreamUndoing:
    """Restore names in a stream. Arguments that have to be changed are emitted at once, at the end of their block."""

    def __init__(self, maps: Renames, restore: Restore) -> None:
        self._maps = maps
        self._restore = restore
        self._answer_id: str | None = None
        self._choices: dict[int, _Restorer] = {}
        self._choice_of: dict[int, int] = {}
        """The choice of each block."""
        self._without_deltas: set[int] = set()
        """The blocks whose deltas are dropped, because their arguments are emitted in one piece."""

    def __call__(self, event: StreamEvent) -> list[StreamEvent]:
        if isinstance(event, TurnStart):
            self._answer_id = event.response.id
        if isinstance(event, ArgumentsDelta) and event.index in self._without_deltas:
            return []
        if isinstance(event, CitationDelta):
            text = self._restored(event.index, TextContent(text="", annotations=[event.citation]))
            return [msgspec.structs.replace(event, citation=citation) for citation in text.annotations or ()]
        if not isinstance(event, BlockStart | BlockStop | BlockCatchUp):
            return [event]
        if isinstance(event, BlockStart):
            self._choice_of[event.index] = event.choice
        name = getattr(event.content, "name", None)
        if name in self._maps.schemas or name in self._maps.tools:
            self._without_deltas.add(event.index)
        changed: StreamEvent = msgspec.structs.replace(event, content=self._restored_content(event))
        return [changed]

    def _restored_content(self, event: BlockStart | BlockStop | BlockCatchUp) -> AIContent:
        content: Any = event.content
        source = self._maps.tools.get(getattr(content, "name", None) or "")
        if source is not None and source.is_custom and isinstance(event, BlockStart) and not content.arguments:
            content = msgspec.structs.replace(content, arguments={"input": ""})
        return self._restored(event.index, content)

    def _restored(self, block: int, content: AIContent) -> AIContent:
        choice = self._choice_of.get(block, 0)
        if choice not in self._choices:
            self._choices[choice] = _Restorer(self._maps, self._restore, self._answer_id)
        return self._choices[choice].content(block, content)
