"""Steps: how a request or an answer is adapted to its target, in the order that the adapter declares.

A step is a pure function that returns its argument if there is nothing to do. There are few shapes:

- content: `(content, context)` returns a content, or a list of contents; an empty list leaves it out.
- message: `(message, context)` returns a message, or a list of messages; an empty list leaves it out.
- messages: `(messages, context)` returns messages: a step over a transcript, such as pairing.
- request, response, payload: a step over such a value.

The census lists the facts of a request once: what is in its transcript. A fact is a content type that occurs (of a
content, an output, or `Citation`), a `Fact`, the role of a message, the type of a tool in ("tool", type), a setting in
("option", name), or an API whose fields the request has in ("extra", api). A plan has only the steps that may have
work. It follows from these facts and from the target.

The engine walks: successive steps over contents and messages are one walk, in which each message passes all of them
before the next one. It skips messages of the target's API, and messages without anything that a step looks at. It
records what replaced what, so that losses are traced to the source: steps of contents and messages need not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from enum import Enum
from functools import cache, partial
from itertools import chain, groupby, repeat
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from contentmodel.content import CONTENT_TYPES
from contentmodel.content.base import Protected
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.engine.losses.model_paths import names_of_parts
from contentmodel.engine.losses.records import OF_MESSAGES, OF_RESULTS
from contentmodel.json import JsonObject
from contentmodel.message import ChatMessage
from contentmodel.request import ChatOptions, ToolGroup

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse


# -- the census --------------------------------------------------------------------------------------------------------


CONTINUE = "[continue this answer"
"""The beginning of a message that asks a model to continue its answer."""


class Fact(Enum):
    """A fact of a request that is no type, role or name."""

    __hash__ = object.__hash__

    INSTRUCTIONS = "the request has instructions"
    BRANCHES = "the request has branches"
    FOREIGN = "a message, or the request, is not of the target's API"
    OWN_CLASS = "a content is of an application's own class"
    NO_OUTPUTS = "the outputs of a result are unset"
    RICH_RESULT = "a result is not exactly one text of the application"
    RESULT_RECORD = "a result has an outcome or an artifact"
    MESSAGE_ID = "a message has an id"
    MESSAGE_RECORD = "a message has a time, counts, or another field of stored messages"
    AUTHOR = "a message has the name of its author"
    STATE = "a content has opaque state"
    CITED_ALONE = "a text is empty and has citations"
    NO_CALL_ID = "a call or result has no id"
    NAMESPACE = "a function call is in a namespace"
    STRICT_TOOL = "a function, or one in a group, is strict"
    BLANK_TEXT = "a text is blank"
    CONTINUED = "the last message may be one that asked a model to continue"


Facts: TypeAlias = frozenset[Any]
EVERY: Facts = frozenset(Fact)
"""The facts of a value without a census."""
NOT_NORMAL = (Fact.OWN_CLASS, Fact.NO_OUTPUTS, Fact.BRANCHES, JsonContent)
"""The facts of requests whose contents may have to be normalized."""
RECORDED = (Fact.BRANCHES, Fact.MESSAGE_ID, Fact.MESSAGE_RECORD, Fact.RESULT_RECORD)
"""The facts of requests with fields that only stored conversations have."""

TYPES = frozenset(CONTENT_TYPES)
RESULTS = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, ToolResultContent))
CALLS_AND_RESULTS = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, ToolCallContent | ToolResultContent))
HOSTED = frozenset(k for k in CONTENT_TYPES if issubclass(k, HostedToolCallContent | HostedToolResultContent))

_NO_ORIGIN = object()
_contents, _role, _origin = attrgetter("contents"), attrgetter("role"), attrgetter("origin")
_of_content, _NOTHING = attrgetter("annotations", "protected"), (None, None)
_of_result, _NO_RECORDS = attrgetter(*OF_RESULTS), (None,) * len(OF_RESULTS)
_of_message = attrgetter("author_name", "message_id", *OF_MESSAGES)
_PLAIN = (None,) * (2 + len(OF_MESSAGES))
_namespace = attrgetter("namespace")
_NO_OPTIONS = ChatOptions()
_of_options = attrgetter(*ChatOptions.__struct_fields__)


def census(request: ChatRequest, api: str) -> Facts:
    """Return the facts of a request for the target `api`."""
    facts = facts_of(request.messages, api, request.instructions)
    if request.origin is None or request.origin.api != api:
        facts.add(Fact.FOREIGN)
    if request.instructions:
        facts.add(Fact.INSTRUCTIONS)
    if request.branches:
        facts.add(Fact.BRANCHES)
    for tool in request.tools:
        facts.add(("tool", tool.__class__))
        if tool.__class__ is ToolGroup or getattr(tool, "strict", None):
            facts.add(Fact.STRICT_TOOL)
    if request.options is not _NO_OPTIONS:
        for name, value in zip(ChatOptions.__struct_fields__, _of_options(request.options), strict=True):
            if value is not None:
                facts.add(("option", name))
    for other in request.extra or ():
        facts.add(("extra", other))
    return frozenset(facts)


def facts_of(messages: list[ChatMessage], api: str, instructions: Sequence[AIContent] = ()) -> set[Any]:
    """Return the facts of a transcript, and of instructions, which a step may make a message of."""
    contents: list[Any] = [*instructions, *chain.from_iterable(map(_contents, messages))]
    facts: set[Any] = set(map(type, contents))
    _add_contents(facts, contents)
    _add_messages(facts, messages, api)
    return facts


def _add_messages(facts: set[Any], messages: list[ChatMessage], api: str) -> None:
    facts.update(map(_role, messages))
    last: Any = _NO_ORIGIN
    for origin in map(_origin, messages):
        if origin is not last:
            last = origin
            if origin is None or origin.api != api:
                facts.add(Fact.FOREIGN)
    if len(messages) > 1 and messages[-1].role == "user":
        ending: Any = messages[-1].contents
        if len(ending) == 1 and ending[0].__class__ is TextContent and ending[0].text.startswith(CONTINUE):
            facts.add(Fact.CONTINUED)
    if any(map(_PLAIN.__ne__, map(_of_message, messages))):
        for author, message_id, *records in map(_of_message, messages):
            if author is not None:
                facts.add(Fact.AUTHOR)
            if message_id is not None:
                facts.add(Fact.MESSAGE_ID)
            if records.count(None) < len(records):
                facts.add(Fact.MESSAGE_RECORD)


def _add_contents(facts: set[Any], contents: list[Any]) -> None:
    kinds = frozenset(facts)
    if not TYPES.issuperset(kinds):
        facts.add(Fact.OWN_CLASS)
    if any(map(_NOTHING.__ne__, map(_of_content, contents))):
        _add_attributes(facts, contents)
    if not all(map(getattr, contents, repeat("call_id"), repeat("-"))):
        facts.add(Fact.NO_CALL_ID)
    if TextContent in kinds:
        texts = [content.text for content in contents if content.__class__ is TextContent]
        if "" in texts or any(map(str.isspace, texts)):
            facts.add(Fact.BLANK_TEXT)
    if FunctionCallContent in kinds:
        calls = [content for content in contents if content.__class__ is FunctionCallContent]
        if not {None}.issuperset(map(_namespace, calls)):
            facts.add(Fact.NAMESPACE)
    holders = [kind for kind in kinds if "outputs" in kind.__struct_fields__]
    if holders:
        _add_results(facts, [content for content in contents if content.__class__ in holders])
    if DocumentContent in kinds:
        _add_parts(facts, [c.parts for c in contents if c.__class__ is DocumentContent])


def _add_attributes(facts: set[Any], contents: list[Any]) -> None:
    for content in contents:
        if content.annotations:
            facts.add(Citation)
            if content.__class__ is TextContent and not content.text:
                facts.add(Fact.CITED_ALONE)
        if content.protected is not None:
            facts.add(Fact.STATE)


def _add_results(facts: set[Any], results: list[Any]) -> None:
    for result in results:
        outputs = result.outputs
        is_odd = result.__class__ is FunctionResultContent and result.executor != "client"
        if outputs is None:
            facts.add(Fact.NO_OUTPUTS)
        elif is_odd or len(outputs) != 1 or outputs[0].__class__ is not TextContent:
            facts.add(Fact.RICH_RESULT)
    facts.add(TextContent)
    _add_parts(facts, [result.outputs for result in results if result.outputs])
    if any(map(_NO_RECORDS.__ne__, map(_of_result, results))):
        facts.add(Fact.RESULT_RECORD)


def _add_parts(facts: set[Any], lists: list[list[AIContent]]) -> None:
    """Add the types of outputs, and of the parts of documents."""
    for parts in lists:
        facts.update(map(type, parts))
        if not TYPES.issuperset(map(type, parts)):
            facts.add(Fact.OWN_CLASS)
        for part in parts:
            if part.__class__ is DocumentContent:
                _add_parts(facts, [part.parts])
            elif part.__class__ in RESULTS:
                _add_results(facts, [part])
            elif part.__class__ is TextContent and (not part.text or part.text.isspace()):
                facts.add(Fact.BLANK_TEXT)


# -- steps and plans ---------------------------------------------------------------------------------------------------


_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])
_R = TypeVar("_R", bound="ToolResultContent")
_V = TypeVar("_V")
Made: TypeAlias = "AIContent | Sequence[AIContent]"
"""The content that a step makes of one, or several, or none."""
Turns: TypeAlias = "ChatMessage | Sequence[ChatMessage]"
"""The message that a step makes of one, or several, or none."""
Makes: TypeAlias = Callable[[Facts], Collection[Any]]
Own: TypeAlias = Literal["never", "aimed", "always"]
Shape: TypeAlias = Literal["content", "message", "messages", "value"]
_NONE: frozenset[Any] = frozenset()
_getter = cache(attrgetter)

_DECLARED = "fields_of_step"
"""The attribute of a function with the fields of its step that are declared beside it."""


def needs(*facts: Any, makes: Makes | None = None) -> Callable[[_F], _F]:
    """Declare the facts without which a step has no work, and those that it may make, beside its function."""

    def declare(run: _F) -> _F:
        return _declared(run, needs=frozenset(facts), makes=makes)

    return declare


def _declared(run: _F, **fields: Any) -> _F:
    """Keep the values of fields of a step beside its function, and return the function."""
    setattr(run, _DECLARED, {**getattr(run, _DECLARED, {}), **fields})
    return run


class Step(msgspec.Struct, frozen=True):
    """One step of a pipeline.

    - `native`: it also runs for requests that are all of the target's API. `aimed`: only if they go to another model
      or host than the one that they were written for.
    - `own`: whether a step of contents or messages looks at the messages of the target's API, always or if aimed.
    - `needs`: facts of the census; without any of them, the step has no work. `makes`: the facts that may hold after
      the step, by those before it. `on`: whether the step has work for a target: it may look only at what a context
      holds of the target.
    - `types`: the types of the contents that a step of contents or messages looks at; none: all of them.
    - `emptied`: what a message becomes of which a step over contents leaves nothing.
    - `attribute`: gets the attribute that such a step looks at, of a content or of a message; the others have no work.
    - `plain`: the types that such a step has no work for, by the role of the message, with the facts of the request.
    - `keys`: the fields of a payload that the step looks at; none: all of them.
    - `alone`: the types of contents of which a step needs one if a content of an answer is alone (see `is_alone`); None
      if they are those that it needs beside others.
    - `place`: its place in its plan, and that of its last step if it is a walk.
    """

    name: str
    run: Callable[..., Any]
    shape: Shape = "value"
    native: bool = False
    aimed: bool = False
    needs: Facts = _NONE
    makes: Makes | None = None
    on: Callable[[EncodeContext], bool] | None = None
    types: frozenset[type] = _NONE
    plain: Callable[[Facts], Mapping[str, frozenset[type]]] | None = None
    attribute: Callable[[Any], Any] | None = None
    own: Own = "never"
    emptied: Callable[[ChatMessage, EncodeContext], Turns] | None = None
    keys: frozenset[str] = _NONE
    alone: frozenset[type] | None = None
    place: int = 0


WALK = "walk"
"""The name of a walk, which records by itself what replaced what."""


class Plan:
    """Steps in their order. Those that may have work are chosen by the facts and the target, and kept."""

    MOST = 512
    """The largest number of kept choices. Requests of a kind have the same facts."""

    __slots__ = ("_chosen", "_idle", "_kept")

    def __init__(self, steps: Iterable[Step]) -> None:
        """Create the plan of steps."""
        steps = tuple(msgspec.structs.replace(step, place=place) for place, step in enumerate(steps))
        self._chosen = {
            (is_own, is_aimed): tuple(step for step in steps if not is_own or step.native or (step.aimed and is_aimed))
            for is_own in (False, True)
            for is_aimed in (False, True)
        }
        self._kept: dict[Any, tuple[Step, ...]] = {}
        self._idle: set[Any] = set()
        """The types for which no step is planned if a content is alone, without annotations and opaque state."""

    def _keep(self, key: Any, stages: tuple[Step, ...]) -> tuple[Step, ...]:
        if len(self._kept) >= self.MOST:
            self._kept.clear()
        self._kept[key] = stages
        return stages

    def whole(self, context: EncodeContext) -> tuple[Step, ...]:
        """Return the steps for a value without a census, such as an answer or a payload."""
        key = context.native, context.is_aimed
        return self._kept.get(key) or self._keep(key, _joined(self._chosen[key], EVERY))

    def stages(self, facts: Facts, context: EncodeContext) -> tuple[Step, ...]:
        """Return the steps for a request with these facts, those over contents and messages joined to walks."""
        key = facts, context.native, context.is_aimed, context.target
        stages = self._kept.get(key)
        if stages is None:
            stages = self.planned(facts, context)
            if context.target is not None:
                self._keep(key, stages)
        return stages

    def planned(self, facts: Facts, context: EncodeContext) -> tuple[Step, ...]:
        """Choose the steps that may have work."""
        is_own = context.native and Fact.FOREIGN not in facts
        # The first step converts contents of own classes to types of the model: what they hold is not in the census.
        is_known = Fact.OWN_CLASS not in facts
        steps: list[Step] = []
        for step in self._chosen[is_own, context.is_aimed]:
            if is_known and step.needs and step.needs.isdisjoint(facts):
                continue
            if step.on is not None and not step.on(context):
                continue
            if step.makes is not None:
                facts = facts.union(step.makes(facts))
            steps.append(step)
        return _joined(steps, facts)

    def stages_of_answer(
        self, messages: Sequence[ChatMessage], context: EncodeContext, start: int = 0
    ) -> tuple[Step, ...]:
        """Return the steps from the place `start` that can change messages of an answer.

        They are chosen once for each set of content types.
        """
        kinds: set[type] = set()
        content: Any
        for message in messages:
            for content in message.contents:
                kind = content.__class__
                kinds.add(kind)
                if kind not in TYPES:
                    kinds.update(kind.__mro__)
                if content.annotations is not None:
                    kinds.add(Citation)
                if content.protected is not None:
                    kinds.add(Protected)
                if kind in RESULTS or kind not in TYPES:
                    kinds.update(map(type, getattr(content, "outputs", None) or ()))
        alone, native = is_alone(messages), context.native
        key = start, native, context.target, alone, frozenset(kinds)
        stages = self._kept.get(key)
        if stages is None:
            steps = (step for step in self._chosen[native, False] if step.place >= start)
            steps = (step for step in steps if step.on is None or step.on(context))
            stages = _joined((step for step in steps if _may_change(step, kinds, alone)), EVERY)
            if context.target is not None:
                self._keep(key, stages)
            if alone and not stages and not start and kinds <= TYPES - RESULTS:
                self._idle |= {(native, context.target, kind) for kind in kinds}
        return stages

    def is_idle(self, contents: Sequence[Any], context: EncodeContext) -> bool:
        """Return whether it is known that no step changes these contents of an answer: a usual block of a stream."""
        if len(contents) != 1 or (context.native, context.target, contents[0].__class__) not in self._idle:
            return False
        content = contents[0]
        return content.annotations is None and content.protected is None and bool(getattr(content, "call_id", True))


def is_alone(messages: Sequence[ChatMessage]) -> bool:
    """Return whether messages of an answer have one content or none, of the assistant: each block of a stream is alone.

    A call or result without an id is not, because it needs one that no other has.
    """
    if len(messages) != 1 or messages[0].role != "assistant" or len(messages[0].contents) > 1:
        return False
    return all(map(getattr, messages[0].contents, repeat("call_id"), repeat("-")))


def needs_alone(*kinds: type) -> Callable[[_F], _F]:
    """Declare that a function compares contents or messages: if a content is alone, it needs one of these types."""

    def declare(run: _F) -> _F:
        return _declared(run, alone=frozenset(kinds))

    return declare


def _may_change(step: Step, kinds: Set[type], alone: bool) -> bool:
    """Return whether a step may have work for contents of these types. `Citation` and `Protected` are attributes."""
    if alone and step.alone is not None:
        return not step.alone.isdisjoint(kinds)
    if step.needs and step.needs.isdisjoint(kinds) and all(isinstance(fact, type) for fact in step.needs):
        return False
    if step.shape != "content":
        return True
    attribute = _OF_ATTRIBUTES.get(step.attribute)
    return (attribute is None or attribute in kinds) and not (step.types and step.types.isdisjoint(kinds))


_OF_ATTRIBUTES: dict[Any, type] = {_getter("annotations"): Citation, _getter("protected"): Protected}


def _joined(steps: Iterable[Step], facts: Facts) -> tuple[Step, ...]:
    """Return steps, with successive ones over contents and messages joined to walks."""
    stages: list[Step] = []
    for is_walk, group in groupby(steps, lambda step: step.shape in ("content", "message")):
        run = tuple(group)
        stages += (Step(WALK, Walk(run, facts), "messages", place=run[-1].place),) if is_walk else run
    return tuple(stages)


def request_step(
    run: Callable[..., ChatRequest],
    *,
    native: bool = False,
    aimed: bool = False,
    needs: Collection[Any] = (),
    makes: Makes | None = None,
    on: Callable[[EncodeContext], bool] | None = None,
    **settings: object,
) -> Step:
    """Return a step for a function `(request, context, **settings)` that returns a request."""
    return _step(run, settings, native=native, aimed=aimed, needs=needs, makes=makes, on=on)


def transcript_step(
    run: Callable[..., list[ChatMessage]],
    *,
    native: bool = False,
    aimed: bool = False,
    needs: Collection[Any] = (),
    makes: Makes | None = None,
    on: Callable[[EncodeContext], bool] | None = None,
    **settings: object,
) -> Step:
    """Return a step for a function `(messages, context, **settings)` that returns messages.

    The messages are those of a request, or of one choice of an answer. An answer has no facts but content types: of
    these, `Citation` means that a content has annotations, and `Protected` that one has opaque state.
    """
    return _step(run, settings, shape="messages", native=native, aimed=aimed, needs=needs, makes=makes, on=on)


def content_step(
    run: Callable[..., Made],
    *types: type,
    native: bool = False,
    aimed: bool = False,
    needs: Collection[Any] = (),
    makes: Makes | None = None,
    on: Callable[[EncodeContext], bool] | None = None,
    plain: Callable[[Facts], Mapping[str, frozenset[type]]] | None = None,
    attribute: str | None = None,
    own: Own | None = None,
    emptied: Callable[[ChatMessage, EncodeContext], Turns] | None = None,
    **settings: object,
) -> Step:
    """Return a step for a function `(content, context, **settings)` that returns a content, or contents.

    It is called for each content of `types` (none: of all types) in the messages; `context.message` is its message.
    """
    looks = _looks(types, plain, attribute, own, native=native, aimed=aimed)
    facts: dict[str, Any] = {"needs": needs, "makes": makes, "on": on, "emptied": emptied}
    return _step(run, settings, shape="content", native=native, aimed=aimed, **facts, **looks)


def turn_step(
    run: Callable[..., Turns],
    *types: type,
    native: bool = False,
    aimed: bool = False,
    needs: Collection[Any] = (),
    makes: Makes | None = None,
    on: Callable[[EncodeContext], bool] | None = None,
    plain: Callable[[Facts], Mapping[str, frozenset[type]]] | None = None,
    attribute: str | None = None,
    own: Own | None = None,
    **settings: object,
) -> Step:
    """Return a step for a function `(message, context, **settings)` that returns a message, or messages.

    It is called for each message with contents of `types` (none: for all messages).
    """
    looks = _looks(types, plain, attribute, own, native=native, aimed=aimed)
    facts: dict[str, Any] = {"needs": needs, "makes": makes, "on": on}
    return _step(run, settings, shape="message", native=native, aimed=aimed, **facts, **looks)


def response_step(run: Callable[..., ChatResponse], *, native: bool = False, **settings: object) -> Step:
    """Return a step for a function `(response, context, **settings)` that returns a response."""
    return _step(run, settings, native=native)


def payload_step(
    run: Callable[..., JsonObject],
    *,
    native: bool = False,
    aimed: bool = False,
    keys: Collection[str] = (),
    on: Callable[[EncodeContext], bool] | None = None,
    **settings: object,
) -> Step:
    """Return a step for a function `(payload, source, context, **settings)` that returns a payload.

    The source is the request or response that was encoded.
    """
    return _step(run, settings, native=native, aimed=aimed, keys=frozenset(keys), on=on)


def _looks(
    types: tuple[type, ...], plain: Any, attribute: str | None, own: Own | None, *, native: bool, aimed: bool
) -> dict[str, Any]:
    """Return the fields of a step over contents or messages that say what it looks at."""
    return {
        "types": frozenset(types),
        "plain": plain,
        "attribute": None if attribute is None else _getter(attribute),
        "own": own or ("always" if native else "aimed" if aimed else "never"),
    }


def _step(run: Callable[..., object], settings: JsonObject, needs: Collection[Any] = (), **options: Any) -> Step:
    """Return a step with the options that are given, and those that are declared beside its function."""
    given_options = {name: value for name, value in options.items() if value is not None}
    if needs:
        given_options["needs"] = frozenset(needs)
    fields = {**getattr(run, _DECLARED, {}), **given_options}
    return Step(run.__name__, partial(run, **settings) if settings else run, **fields)


def apply_request_steps(request: ChatRequest, plan: Plan, context: EncodeContext) -> ChatRequest:
    """Apply the steps that may have work to a request. Replacements are recorded for the paths of losses."""
    messages = request.messages
    for step in plan.stages(census(request, context.api), context):
        if step.shape == "messages":
            context.tools = request.tools
            changed = step.run(messages, context)
            if len(changed) != len(messages) or not all(map(is_, changed, messages)):
                messages = changed if step.name == WALK else compared(messages, changed, context)
            continue
        if messages is not request.messages:
            request = context.replace(request, messages=messages)
        changed = step.run(request, context)
        request = request if changed is request else compared(request, changed, context)
        messages = request.messages
    return request if messages is request.messages else context.replace(request, messages=messages)


def walked(messages: list[ChatMessage], plan: Plan, context: EncodeContext) -> list[ChatMessage]:
    """Apply the steps that may have work to messages."""
    for step in plan.planned(frozenset(facts_of(messages, context.api)), context):
        changed = step.run(messages, context)
        messages = changed if step.name == WALK else compared(messages, changed, context)
    return messages


class Walk:
    """Steps over contents and messages. Each message passes all of them before the next one."""

    def __init__(self, steps: Sequence[Step], facts: Facts) -> None:
        """Create the walk for a request with these facts."""
        self._steps = steps
        self._plain = {step.plain: step.plain(facts) for step in steps if step.plain is not None}
        self._types = frozenset(kind for step in steps for kind in step.types)
        self._of_contents = tuple({step.attribute for step in steps if step.shape == "content" and step.attribute})
        self._of_messages = tuple({step.attribute for step in steps if step.shape == "message" and step.attribute})
        self._is_whole = any(not (step.plain or step.types or step.attribute) for step in steps)
        """True if a step looks at every message."""

    def __call__(self, messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
        """Return the messages after all steps; the same list if nothing changes."""
        api, types, of_contents, of_messages = context.api, self._types, self._of_contents, self._of_messages
        plain, is_whole = tuple(self._plain.items()), self._is_whole
        changed: list[ChatMessage] | None = None
        for number, message in enumerate(messages):
            contents = message.contents
            idle: list[object] = []
            for of, by_role in plain:
                if by_role.get(message.role, _NONE).issuperset(map(type, contents)):
                    idle.append(of)
            has_work = is_whole or len(idle) < len(plain) or not types.isdisjoint(map(type, contents))
            for attribute in of_contents if not has_work else ():
                has_work = has_work or any(map(attribute, contents))
            for attribute in of_messages if not has_work else ():
                has_work = has_work or attribute(message) is not None
            if has_work:
                is_own = message.origin is not None and message.origin.api == api
                turns = self._turns(message, context, idle, is_own=is_own)
                if changed is None and len(turns) == 1 and turns[0] is message:
                    continue
                changed = messages[:number] if changed is None else changed
                changed += turns
            elif changed is not None:
                changed.append(message)
        return messages if changed is None else changed

    def _turns(
        self, message: ChatMessage, context: EncodeContext, idle: Sequence[object], *, is_own: bool
    ) -> list[ChatMessage]:
        """Return what the steps make of a message. Those with `plain` in `idle` have no work for it."""
        turns = [message]
        for step in self._steps:
            if step.plain in idle or (
                is_own and (step.own == "never" or (step.own == "aimed" and not context.is_aimed))
            ):
                continue
            changed: list[ChatMessage] = []
            for turn in turns:
                if step.types and step.types.isdisjoint(map(type, turn.contents)):
                    changed.append(turn)
                elif step.shape == "content":
                    if step.attribute is None or any(map(step.attribute, turn.contents)):
                        changed += _of_contents(step, turn, context)
                    else:
                        changed.append(turn)
                elif step.attribute is not None and step.attribute(turn) is None:
                    changed.append(turn)
                else:
                    returned = step.run(turn, context)
                    changed += (turn,) if returned is turn else recorded_turns(turn, returned, context)
            turns = changed
        return turns


def _of_contents(step: Step, message: ChatMessage, context: EncodeContext) -> list[ChatMessage]:
    """Apply a step to the contents of a message that it looks at."""
    types, attribute = step.types, step.attribute
    context.message = message
    contents: list[AIContent] = []
    is_same = True
    for index, content in enumerate(message.contents):
        if (types and content.__class__ not in types) or (attribute is not None and not attribute(content)):
            contents.append(content)
            continue
        context.index = index
        returned = step.run(content, context)
        if returned is content:
            contents.append(content)
            continue
        is_same = False
        contents += recorded(content, returned, context)
    if is_same:
        return [message]
    changed = context.replace(message, contents=contents)
    if contents or step.emptied is None:
        return [changed]
    return recorded_turns(changed, step.emptied(changed, context), context)


def recorded_turns(message: ChatMessage, returned: Turns, context: EncodeContext) -> list[ChatMessage]:
    """Record what a step made of a message. Return it as a list."""
    turns: list[ChatMessage] = [returned] if isinstance(returned, ChatMessage) else list(returned)
    heir = next((turn for turn in turns if turn.role == message.role), turns[0] if turns else message)
    if heir is not message:
        context.replaced(message, heir)
    if len(turns) == 1 and len(heir.contents) == len(message.contents):
        for old, new in zip(message.contents, heir.contents, strict=True):
            if new is not old:
                context.replaced(old, new)
    return turns


def recorded(content: AIContent, returned: Any, context: EncodeContext) -> Sequence[AIContent]:
    """Record what a step made of a content. Return it as a sequence."""
    if returned.__class__ is not list and returned.__class__ is not tuple:
        context.replaced(content, returned)
        return (returned,)
    if not returned:
        return ()
    inner = {id(part) for part in getattr(content, "parts", None) or getattr(content, "outputs", None) or ()}
    for part in returned:
        # Parts of the content have a place of their own.
        if part is not content and id(part) not in inner:
            context.replaced(content, part)
    return returned


def compared(old: _V, new: _V, context: EncodeContext) -> _V:
    """Record what replaced a value, or messages, and their parts, and return the new one. What is recorded stays.

    The parts of a list that are new replace, in order, those that are gone, if these are as many. A new message
    replaces the one that its first content came from, or else the next one of its role whose contents are gone.
    """
    if new is old:
        return new
    originals = context.originals()
    pairs: list[tuple[Any, Any]] = _pairs(old, new, originals) if new.__class__ is list else [(old, new)]
    while pairs:
        before, after = pairs.pop()
        if id(after) not in originals and (id(before) not in originals or _source(before, originals) != id(after)):
            # A step may give back what an earlier one replaced.
            context.replacements.append((before, after))
        for name in names_of_parts(after.__class__) if after.__class__ is not ChatMessage else ():
            part, new_part = getattr(before, name, None), getattr(after, name)
            if new_part is part or not new_part or not part:
                continue
            if new_part.__class__ is part.__class__ is list:
                pairs += _pairs(part, new_part, originals)
            elif isinstance(new_part, msgspec.Struct) and isinstance(part, msgspec.Struct):
                pairs.append((part, new_part))
    return new


def _pairs(old: Any, new: Any, originals: Mapping[int, object]) -> list[tuple[Any, Any]]:
    """Return the items of a list that are gone, each with the one that replaced it."""
    before, after = set(map(id, old)), set(map(id, new))
    if before <= after or after - before <= originals.keys():
        return []
    gone = [item for item in old if id(item) not in after]
    added = [item for item in new if id(item) not in before]
    if added[0].__class__ is ChatMessage:
        return _pairs_of_messages(gone, added, originals)
    if len(gone) != len(added) or not all(isinstance(item, msgspec.Struct) for item in (*gone, *added)):
        return []
    return list(zip(gone, added, strict=True))


def _pairs_of_messages(
    gone: list[ChatMessage], added: list[ChatMessage], originals: Mapping[int, object]
) -> list[tuple[Any, Any]]:
    """Return the messages that are gone, each with the one that has its contents, and the replaced contents."""
    owners = {id(content): message for message in gone for content in message.contents}
    kept_ids = {id(content) for message in added for content in message.contents}
    heirs: dict[int, ChatMessage] = {}
    others: list[ChatMessage] = []
    for message in added:
        sources = (owners.get(_source(content, originals, owners)) for content in message.contents)
        first = next(filter(None, sources), None)
        if first is None or heirs.setdefault(id(first), message) is not message:
            others.append(message)
    unmatched: dict[str, list[ChatMessage]] = {}
    for message in reversed(gone):
        contents = message.contents
        if id(message) not in heirs and not (contents and all(id(content) in kept_ids for content in contents)):
            unmatched.setdefault(message.role if contents else "", []).append(message)
    for message in others:
        queue = unmatched.get(message.role if message.contents else "") or unmatched.get(message.role)
        if queue:
            heirs[id(queue.pop())] = message
    pairs: list[tuple[Any, Any]] = []
    for first in gone:
        heir = heirs.get(id(first))
        if heir is not None:
            pairs.append((first, heir))
            before = [content for content in first.contents if id(content) not in kept_ids]
            after = [content for content in heir.contents if id(content) not in owners]
            pairs += zip(before, after, strict=True) if len(before) == len(after) else ()
    return pairs


def _source(content: object, originals: Mapping[int, object], near: Collection[int] = ()) -> int:
    """Return the identity of the first value that a content replaced, or of the latest one in `near`."""
    while id(content) not in near and originals.get(id(content), content) is not content:
        content = originals[id(content)]
    return id(content)


def each_output(result: _R, step: Callable[[AIContent, EncodeContext], Made], context: EncodeContext) -> _R:
    """Apply a step to each output of a result. Return the result with what the step made of them."""
    outputs: list[AIContent] = []
    is_same = True
    for output in result.outputs or ():
        returned = step(output, context)
        if returned is output:
            outputs.append(output)
        else:
            is_same = False
            outputs += recorded(output, returned, context)
    return result if is_same else msgspec.structs.replace(result, outputs=outputs)


def apply_answer_steps(messages: list[ChatMessage], plan: Plan, context: EncodeContext) -> list[ChatMessage]:
    """Apply the steps that can change them to the messages of one choice of an answer.

    After a step that changed something, the steps after it are chosen again.
    """
    stages = plan.stages_of_answer(messages, context)
    while stages:
        step, stages = stages[0], stages[1:]
        changed = step.run(messages, context)
        if len(changed) != len(messages) or not all(map(is_, changed, messages)):
            messages = changed if step.name == WALK else compared(messages, changed, context)
            stages = plan.stages_of_answer(messages, context, step.place + 1)
    return messages


def apply_steps(value: _T, plan: Plan, context: EncodeContext, *source: object) -> _T:
    """Apply the steps to a response, or to a payload with its source."""
    for step in plan.whole(context):
        if step.keys and step.keys.isdisjoint(value):  # type: ignore[arg-type]
            continue
        if step.on is None or step.on(context):
            changed = step.run(value, *source, context)
            value = changed if source else compared(value, changed, context)
    return value
