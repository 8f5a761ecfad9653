"""Calls and results of another API in pairs, as every API wants them: each result right behind the turn of its call.

A transcript that grows keeps what was written for its beginning. So nothing is moved up: a call that the conversation
went past gets a result that says that there is none, and a result that no call waits for is told in words. Calls at
the very end are left open, for their results are still to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.media import MediaContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage
from contentmodel.wire.lowering import as_text
from contentmodel.wire.marks import APART, LATE, NO_RESULT
from contentmodel.wire.names import with_names

if TYPE_CHECKING:
    from contentmodel.request import ChatRequest
    from contentmodel.rules import Alphabet
    from contentmodel.wire.context import EncodeContext

_CALLS = frozenset({FunctionCallContent, CustomToolCallContent})


def pair_calls(
    messages: Sequence[ChatMessage], context: EncodeContext, *, media_apart: str = "never"
) -> list[ChatMessage]:
    """Messages in which every call but those at the end has one result, and every result its call.

    Where results hold words alone ("always", or those that are "errors"), their media follow in a message of the user,
    once all calls of the turn are answered.
    """
    if _are_paired(messages, media_apart):
        return list(messages)
    pairing = _Pairing(context, media_apart)
    for message in messages:
        pairing.add(message)
    pairing.finish()
    return pairing.messages


def _are_paired(messages: Sequence[ChatMessage], media_apart: str) -> bool:
    """Whether nothing has to be done, found out quickly."""
    waiting: set[str | None] = set()
    content: Any
    for message in messages:
        if message.role == "tool":
            for content in message.contents:
                if content.__class__ is not FunctionResultContent or content.call_id not in waiting:
                    return False
                waiting.remove(content.call_id)
                if media_apart != "never" and (content.is_error or media_apart == "always") and _has_media(content):
                    return False
        elif waiting:
            return False
        elif message.role == "assistant":
            for content in message.contents:
                if content.__class__ in _CALLS:
                    if content.call_id in waiting:
                        return False
                    waiting.add(content.call_id)
    return True


def _has_media(result: Any) -> bool:
    outputs = result.outputs
    if len(outputs) == 1:
        return isinstance(outputs[0], MediaContent)
    return any(isinstance(output, MediaContent) for output in outputs)


def with_fitting_calls(
    request: ChatRequest, context: EncodeContext, *, ids: Alphabet, names: Alphabet, media_apart: str = "never"
) -> ChatRequest:
    """A request of another API whose calls and results are in pairs, under ids and names that the target takes."""
    request = with_names(request, context, ids=ids, names=names)
    messages = pair_calls(request.messages, context, media_apart=media_apart)
    return msgspec.structs.replace(request, messages=messages)


class _Pairing:
    """Takes messages one by one; knows the calls that wait for a result, and what is told when none does."""

    def __init__(self, context: EncodeContext, media_apart: str) -> None:
        self._context = context
        self._media_apart = media_apart
        self.messages: list[ChatMessage] = []
        self._waiting: dict[str | None, Any] = {}
        self._later: list[Any] = []

    def add(self, message: ChatMessage) -> None:
        """The next message, with what has to stand before it."""
        if message.role == "tool":
            self._add_results(message)
            return
        if self._waiting:
            self._answer_waiting()
        self.messages.append(message)
        if message.role == "assistant":
            for content in message.contents:
                if content.__class__ in _CALLS:
                    self._waiting[content.call_id] = content

    def finish(self) -> None:
        """The end of the transcript. What is told when all calls are answered is not there yet."""
        for content in self._later:
            self._context.lose(content, None, "it follows when all calls of its turn are answered")

    def _add_results(self, message: ChatMessage) -> None:
        strays: list[Any] = []
        has_media = False
        for content in message.contents:
            if content.__class__ is not FunctionResultContent and not isinstance(content, ToolResultContent):
                continue
            if self._waiting.pop(content.call_id, None) is None:
                strays.append(content)
            elif self._keeps_apart(content):
                has_media = has_media or _has_media(content)
        if strays:
            self._later += [told for result in strays for told in self._told(result)]
            apart = {id(result) for result in strays}
            message = self._replaced(message, [c for c in message.contents if id(c) not in apart])
        if has_media:
            contents = [self._without_media(c) if self._keeps_apart(c) else c for c in message.contents]
            message = self._replaced(message, contents)
        if message.contents:
            self.messages.append(message)
        if not self._waiting:
            self._tell_later(message)

    def _keeps_apart(self, content: Any) -> bool:
        if self._media_apart == "errors":
            return bool(getattr(content, "is_error", None))
        return self._media_apart == "always"

    def _tell_later(self, message: ChatMessage) -> None:
        if self._later:
            self.messages.append(ChatMessage(role="user", contents=self._later, origin=message.origin))
            self._later = []

    def _told(self, result: ToolResultContent) -> list[Any]:
        self._context.lose(result, None, "no call before it waits for it: it is told in words", kind="degraded")
        media = [output for output in result.outputs if isinstance(output, MediaContent)]
        words = [as_text(output) for output in result.outputs if not isinstance(output, MediaContent)]
        text = "\n".join([LATE.write(result.call_id or ""), *filter(None, words)])
        return [self._context.same(result, TextContent(text=text)), *media]

    def _answer_waiting(self) -> None:
        """The conversation goes on: calls that still wait get a result that says that there is none."""
        results: list[Any] = [self._no_result(call) for call in self._waiting.values()]
        self._waiting = {}
        last = self.messages[-1]
        if last.role == "tool":
            self.messages[-1] = self._replaced(last, [*last.contents, *results])
        else:
            self.messages.append(ChatMessage(role="tool", contents=results, origin=last.origin))
        self._tell_later(last)

    def _no_result(self, call: Any) -> ToolResultContent:
        why = f"{self._context.api} wants a result for every call, and nobody gave one"
        self._context.lose(call, None, why, kind="synthesized")
        model = CustomToolResultContent if call.__class__ is CustomToolCallContent else FunctionResultContent
        outputs: list[Any] = [TextContent(text=NO_RESULT)]
        return model(call_id=call.call_id, name=call.name, outputs=outputs)

    def _without_media(self, result: Any) -> Any:
        media = [output for output in getattr(result, "outputs", ()) if isinstance(output, MediaContent)]
        if not media:
            return result
        why = f"such results of {self._context.api} hold words alone: it follows in a message of the user"
        for output in media:
            self._context.lose(output, None, why, kind="moved")
        self._later += [TextContent(text=APART.write(result.call_id or "")), *media]
        words = [output for output in result.outputs if not isinstance(output, MediaContent)]
        return self._context.same(result, msgspec.structs.replace(result, outputs=words))

    def _replaced(self, message: ChatMessage, contents: list[Any]) -> ChatMessage:
        changed: ChatMessage = self._context.same(message, msgspec.structs.replace(message, contents=contents))
        return changed
