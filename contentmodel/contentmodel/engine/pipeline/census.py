"""The facts of a request, taken once: what is in its transcript. Steps without one of their facts do not run.

A fact is a content type that occurs (of a content, an output, or `Citation`), a `Fact`, the role of a message, the type
of a tool in ("tool", type), a setting in ("option", name), or an API whose fields the request has in ("extra", api).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import chain, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from contentmodel.content import CONTENT_TYPES
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.engine.losses.records import OF_MESSAGES, OF_RESULTS
from contentmodel.engine.pipeline.sentinels import CONTINUE
from contentmodel.request import ChatOptions, ToolGroup

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.message import ChatMessage
    from contentmodel.request import ChatRequest


class Fact(Enum):
    """A fact of a request that is no type, role or name."""

    __hash__ = object.__hash__

    INSTRUCTIONS = "the request has instructions"
    BRANCHES = "the request has branches"
    FOREIGN = "a message, or the request, is not of the target's API"
    OWN_CLASS = "a content is of an application's own class"
    NO_OUTPUTS = "the outputs of a result are unset"
    RICH_RESULT = "a result is not exactly one text"
    RESULT_RECORD = "a result has an outcome or an artifact"
    MESSAGE_ID = "a message has an id"
    MESSAGE_RECORD = "a message has a time, counts, or another field of stored messages"
    AUTHOR = "a message has the name of its author"
    STATE = "a content has opaque state"
    CITED_ALONE = "a text is empty and has citations"
    CACHE_POINT = "a content has a cache point"
    NO_CALL_ID = "a call or result has no id"
    NAMESPACE = "a function call is in a namespace"
    INCOMPLETE_CALL = "a function call is incomplete"
    STRICT_TOOL = "a function, or one in a group, is strict"
    EMPTY_MESSAGE = "a message has no contents"
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
_of_content, _NOTHING = attrgetter("annotations", "protected", "cache_point"), (None, None, None)
_of_result, _NO_RECORDS = attrgetter(*OF_RESULTS), (None,) * len(OF_RESULTS)
_of_message = attrgetter("author_name", "message_id", *OF_MESSAGES)
_PLAIN = (None,) * (2 + len(OF_MESSAGES))
_of_call, _PLAIN_CALL = attrgetter("namespace", "status"), (None, None)
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
    if not all(map(_contents, messages)):
        facts.add(Fact.EMPTY_MESSAGE)
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
        if any(map(_PLAIN_CALL.__ne__, map(_of_call, calls))):
            for namespace, status in map(_of_call, calls):
                if namespace is not None:
                    facts.add(Fact.NAMESPACE)
                if status == "incomplete":
                    facts.add(Fact.INCOMPLETE_CALL)
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
        if content.cache_point is not None:
            facts.add(Fact.CACHE_POINT)


def _add_results(facts: set[Any], results: list[Any]) -> None:
    for result in results:
        outputs = result.outputs
        if outputs is None:
            facts.add(Fact.NO_OUTPUTS)
        elif len(outputs) != 1 or outputs[0].__class__ is not TextContent:
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
            elif part.__class__ is TextContent and (not part.text or part.text.isspace()):
                facts.add(Fact.BLANK_TEXT)
