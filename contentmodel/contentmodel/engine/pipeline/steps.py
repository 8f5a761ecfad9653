"""Passes: the steps that adapt a request or an answer to its target, in the order that the adapter declares.

A pass is a pure function that returns its argument if there is nothing to do. Passes over a request, a response or
messages take and return such a value. Passes over a payload take and return the encoded wire object.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial, wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from contentmodel.content.citations import Citation
from contentmodel.engine.json import JsonObject
from contentmodel.engine.pipeline.origins import is_all_native
from contentmodel.message import contents_of

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.message import ChatMessage
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse

_T = TypeVar("_T")


class Pass(msgspec.Struct, frozen=True):
    """One step of a pipeline.

    If a request came entirely from the target's API, only `native` passes run, and `aimed` ones if it goes to another
    model or host than the one that it was written for. If a pass `needs` content types, it is
    skipped for requests without any of them.
    """

    name: str
    run: Callable[..., Any]
    native: bool = False
    aimed: bool = False
    needs: frozenset[type] = frozenset()
    is_for_messages: bool = False


class Plan:
    """Passes in their order. Those that run for each kind of source are chosen once."""

    __slots__ = ("_chosen",)

    def __init__(self, passes: Iterable[Pass]) -> None:
        """Create the plan of passes."""
        passes = tuple(passes)
        self._chosen = {
            (is_own, is_aimed): tuple(step for step in passes if not is_own or step.native or (step.aimed and is_aimed))
            for is_own in (False, True)
            for is_aimed in (False, True)
        }

    def steps(self, context: EncodeContext, *, is_own: bool) -> tuple[Pass, ...]:
        """Return the passes that run. `is_own`: whether the whole value came from the target's API."""
        return self._chosen[is_own, context.is_aimed]


def request_pass(
    run: Callable[..., ChatRequest],
    *,
    native: bool = False,
    aimed: bool = False,
    needs: Collection[type] = (),
    **settings: object,
) -> Pass:
    """Return a pass for a function `(request, context, **settings)` that returns a request."""
    return _pass(run, settings, native=native, aimed=aimed, needs=frozenset(needs))


def message_pass(
    run: Callable[..., list[ChatMessage]],
    *,
    native: bool = False,
    aimed: bool = False,
    needs: Collection[type] = (),
    **settings: object,
) -> Pass:
    """Return a pass for a function `(messages, context, **settings)` that returns messages.

    The messages are those of a request, or of one choice of an answer. `needs` applies only to requests.
    """
    return _pass(run, settings, native=native, aimed=aimed, needs=frozenset(needs), is_for_messages=True)


def content_pass(
    run: Callable[..., AIContent],
    *,
    native: bool = False,
    aimed: bool = False,
    needs: Collection[type] = (),
    **settings: object,
) -> Pass:
    """Return a pass for a function `(content, context, **settings)` that returns a content.

    It is called for each content of the messages. If it changes nothing, it must return its argument.
    """

    @wraps(run)
    def run_each(messages: list[ChatMessage], context: EncodeContext, **settings: object) -> list[ChatMessage]:
        return [
            context.with_contents(message, [run(content, context, **settings) for content in message.contents])
            for message in messages
        ]

    return message_pass(run_each, native=native, aimed=aimed, needs=needs, **settings)


def response_pass(run: Callable[..., ChatResponse], *, native: bool = False, **settings: object) -> Pass:
    """Return a pass for a function `(response, context, **settings)` that returns a response."""
    return _pass(run, settings, native=native)


def payload_pass(
    run: Callable[..., JsonObject], *, native: bool = False, aimed: bool = False, **settings: object
) -> Pass:
    """Return a pass for a function `(payload, source, context, **settings)` that returns a payload.

    The source is the request or response that was encoded.
    """
    return _pass(run, settings, native=native, aimed=aimed)


def _pass(run: Callable[..., object], settings: JsonObject, **options: Any) -> Pass:
    name = run.__name__
    return Pass(name, partial(run, **settings) if settings else run, **options)


def prepared(request: ChatRequest, plan: Plan, context: EncodeContext) -> ChatRequest:
    """Apply the passes to a request. Replacements are recorded for the paths of losses."""
    kinds: frozenset[type] | None = None
    messages = request.messages
    for step in plan.steps(context, is_own=is_all_native(request, context)):
        if step.needs:
            kinds = kinds_in(messages) if kinds is None else kinds
            if kinds.isdisjoint(step.needs):
                continue
        if step.is_for_messages:
            messages = step.run(messages, context)
            continue
        if messages is not request.messages:
            request = context.replace(request, messages=messages)
        changed = step.run(request, context)
        if changed is not request:
            request = context.replaced(request, changed)
        messages = request.messages
    return request if messages is request.messages else context.replace(request, messages=messages)


def kinds_in(messages: Sequence[ChatMessage]) -> frozenset[type]:
    """Return the types of all contents, and of their outputs and citations."""
    contents: list[Any] = list(contents_of(messages))
    kinds: set[type] = set(map(type, contents))
    holders: set[Any] = {kind for kind in kinds if "outputs" in kind.__struct_fields__}  # type: ignore[attr-defined]
    if has_annotations(contents):
        kinds.add(Citation)
    if holders:
        for content in contents:
            if content.__class__ in holders:
                kinds.update(map(type, content.outputs or ()))
    return frozenset(kinds)


def has_annotations(contents: Iterable[AIContent]) -> bool:
    """Return whether any of the contents has annotations."""
    return any(map(_ANNOTATIONS, contents))


_ANNOTATIONS = attrgetter("annotations")


def fitted(value: _T, plan: Plan, context: EncodeContext, *source: object) -> _T:
    """Apply the passes to the messages of an answer, a response, or a payload with its source."""
    for step in plan.steps(context, is_own=context.native):
        value = step.run(value, *source, context)
    return value
