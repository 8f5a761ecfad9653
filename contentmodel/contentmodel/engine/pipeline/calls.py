"""Pair the calls and results of another API: each result follows the turn of its call, as every API requires.

Appending to a transcript must not change the encoding of its beginning. So if a message of the user or the model
follows a call without a result, the call gets a placeholder result, and a late result becomes text. Instructions alone
are no reason to ask the model: if they are between a call and its result, they follow the result. Calls at the end stay
open, because their results may be added later, unless another call of their turn has a result.

Guests are calls and results of a provider's tools: a format writes them as its parts, and their provider keeps those
that it accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel import reasons
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import MediaContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.engine.context import is_native, with_contents
from contentmodel.engine.pipeline.foreign import INSTRUCTION_ROLES, Continues, joined_messages, leave_empty
from contentmodel.engine.pipeline.lowering import as_texts, reported_text
from contentmodel.engine.pipeline.names import calls_of, validator, with_distinct_ids, with_names
from contentmodel.engine.pipeline.sentinels import APART, LATE, NO_RESULT, announcing, is_announced
from contentmodel.engine.pipeline.steps import CALLS_AND_RESULTS, HOSTED, compared, needs
from contentmodel.hints import GUEST
from contentmodel.message import ChatMessage
from contentmodel.pairs import Place, TranscriptIndex
from contentmodel.request import CustomTool, FunctionTool, HostedTool, ToolGroup

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.table.guests import Guest
    from contentmodel.json import JsonArray, JsonObject
    from contentmodel.request import ChatRequest
    from contentmodel.rules import IdentifierRule


_NO_ARGUMENTS = (None, "")
_MORE_THAN_TEXT = (MediaContent, DocumentContent)


def pair_calls(
    messages: Sequence[ChatMessage],
    index: TranscriptIndex,
    context: EncodeContext,
    *,
    detach_media: str = "never",
    is_continued: bool = False,
) -> list[ChatMessage]:
    """Return messages in which each call, except those at the end, has one result, and each result has a call.

    - `detach_media`: whether results hold no media ("always"), or failed ones hold text only ("errors"). Their media
      follow in a user message after all calls of the turn are answered; documents in failed results become text.
    - `is_continued`: whether the server stores the conversation that these messages continue. Results at their
      beginning then answer calls that are stored there.
    """
    pairing = _Pairing(index, context, detach_media, is_continued)
    for number, message in enumerate(messages):
        pairing.add(number, message)
    pairing.finish()
    return pairing.messages


def _has_more_than_text(result: ToolResultContent) -> bool:
    outputs = result.output_list
    if len(outputs) == 1:
        return isinstance(outputs[0], _MORE_THAN_TEXT)
    return any(isinstance(output, _MORE_THAN_TEXT) for output in outputs)


NEEDS_OF_CALLS = (
    *CALLS_AND_RESULTS,
    *(("tool", kind) for kind in (FunctionTool, CustomTool, HostedTool, ToolGroup)),
    ("option", "tool_choice"),
    "tool",
)
"""The facts of requests with calls, results or tools, whose ids and names may have to be changed."""


@needs(*NEEDS_OF_CALLS)
def with_fitting_calls(
    request: ChatRequest,
    context: EncodeContext,
    *,
    ids: IdentifierRule,
    names: IdentifierRule,
    detach_media: str = "never",
    continues: Continues | None = None,
    reserved: Iterable[str] = (),
) -> ChatRequest:
    """Return a request of another API with paired calls and results, and with ids and names that the target accepts.

    `reserved` are names of hosted tools: a function of such a name is renamed. Results at the beginning of a request
    that `continues` a conversation answer calls that the server stores.
    """
    if _Fit(ids, names, detach_media).holds(request):
        return request
    # Until the last step, no content is moved: all places of the index stay valid.
    messages, index = request.messages, TranscriptIndex(request.messages)
    messages = compared(messages, with_complete_calls(messages, context), context)
    messages = compared(messages, with_distinct_ids(messages, index, context), context)
    messages = compared(messages, with_names_of_calls(messages, index, context), context)
    distinct = compared(request, msgspec.structs.replace(request, messages=messages), context)
    named = with_names(distinct, context, ids=ids, names=names, reserved=reserved)
    messages = compared(distinct, named, context).messages
    is_continued = continues is not None and continues(request, context)
    messages = pair_calls(messages, index, context, detach_media=detach_media, is_continued=is_continued)
    return msgspec.structs.replace(named, messages=messages)


def with_complete_calls(messages: Sequence[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages. Calls of other APIs without arguments get an empty object, those without a name "tool"."""
    return [
        _with_complete_calls(message, context)
        if message.role == "assistant" and not is_native(message, context)
        else message
        for message in messages
    ]


def _with_complete_calls(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    contents: list[AIContent] = list(message.contents)
    for at, content in enumerate(contents):
        if content.__class__ is not FunctionCallContent:
            continue
        missing: dict[str, Any] = {}
        if content.arguments in _NO_ARGUMENTS:
            if content.arguments is not None:
                context.report_loss(content, "arguments", reasons.EMPTY_ARGUMENTS)
            missing["arguments"] = {}
        if content.name is None:
            context.report_loss(content, "name", reasons.CALL_NAME)
            missing["name"] = "tool"
        if missing:
            contents[at] = msgspec.structs.replace(content, **missing)
    return with_contents(message, contents)


def with_names_of_calls(
    messages: Sequence[ChatMessage], index: TranscriptIndex, context: EncodeContext
) -> list[ChatMessage]:
    """Return messages of other APIs in which each result has the name of its call."""
    return [
        _with_names_of_calls(messages, number, index, context)
        if message.role == "tool" and not is_native(message, context)
        else message
        for number, message in enumerate(messages)
    ]


def _with_names_of_calls(
    messages: Sequence[ChatMessage], number: int, index: TranscriptIndex, context: EncodeContext
) -> ChatMessage:
    contents: list[AIContent] = list(messages[number].contents)
    for at, content in enumerate(contents):
        place = index.call_of.get((number, at))
        if place is None or not isinstance(content, ToolResultContent) or content.name is None:
            continue
        call = messages[place[0]].contents[place[1]]
        if isinstance(call, ToolCallContent) and call.name is not None and call.name != content.name:
            context.report_loss(content, "name", reasons.NAME_OF_CALL)
            contents[at] = msgspec.structs.replace(content, name=call.name)
    return with_contents(messages[number], contents)


class _Fit:
    """A fast check for requests that need no change. It stops at the first value that may need one."""

    def __init__(self, ids: IdentifierRule, names: IdentifierRule, detach_media: str) -> None:
        self._takes_id = validator(ids)
        self._takes_name = validator(names)
        self._detach_media = detach_media
        self._names: set[str | None] = {None}
        self._ids: set[str] = set()

    def holds(self, request: ChatRequest) -> bool:
        """Return whether the request needs no change."""
        choice = request.options.tool_choice
        named = all(tool.__class__ is FunctionTool and self._is_name(tool.name) for tool in request.tools)
        chosen = choice is None or all(self._is_name(name) for name in choice.tools or ())
        return named and chosen and self._are_paired(request.messages)

    def _is_name(self, name: str | None) -> bool:
        self._names.add(name)
        return name is None or self._takes_name(name)

    def _are_paired(self, messages: Sequence[ChatMessage]) -> bool:
        pending: dict[str, str | None] = {}
        for message in messages:
            if message.role == "tool":
                if not self._are_answers(message, pending):
                    return False
            elif pending or (message.role == "assistant" and not self._are_calls(message, pending)):
                return False
        return not pending or messages[-1].role != "tool"

    def _are_answers(self, message: ChatMessage, pending: dict[str, str | None]) -> bool:
        for content in message.contents:
            if content.__class__ is not FunctionResultContent or content.call_id not in pending:
                return False
            if content.name not in (None, pending.pop(content.call_id)):
                return False
            detached = self._detach_media == "always" or (content.is_error and self._detach_media == "errors")
            if detached and _has_more_than_text(content):
                return False
        return True

    def _are_calls(self, message: ChatMessage, pending: dict[str, str | None]) -> bool:
        for content in message.contents:
            if content.__class__ is FunctionCallContent:
                call_id = content.call_id
                if (
                    content.arguments in _NO_ARGUMENTS
                    or content.name is None
                    or call_id is None
                    or call_id in self._ids
                ):
                    return False
                if not self._takes_id(call_id):
                    return False
                self._ids.add(call_id)
                pending[call_id] = content.name
                if content.name not in self._names and not self._is_name(content.name):
                    return False
            elif content.__class__ in CALLS_AND_RESULTS:
                return False
        return True


class _Pairing:
    """Pair calls and results of messages that are added one by one.

    Hold the calls without a result, and what to send after the last result of a turn. Calls are identified by their
    places in the transcript, because their ids may be replaced.
    """

    def __init__(self, index: TranscriptIndex, context: EncodeContext, detach_media: str, is_continued: bool) -> None:
        self._index = index
        self._context = context
        self._detach_media = detach_media
        self._may_answer_stored = is_continued
        self.messages: list[ChatMessage] = []
        self._run: list[ChatMessage] = []
        """The last message, and those that will be joined to it."""
        self._waiting: dict[Place, ToolCallContent] = {}
        self._closed: set[Place] = set()
        """The calls with a placeholder result. A later result of theirs would be a second one."""
        self._deferred: list[AIContent] = []
        """The contents to send as a user message after the results."""
        self._held_messages: list[ChatMessage] = []
        """The instructions after a call that may still get a result."""
        self._allowed: set[Place] = set()
        """The calls whose approval is answered. The application runs them when it goes on."""

    def add(self, number: int, message: ChatMessage) -> None:
        """Add the next message, after the messages that have to precede it."""
        is_answer = message.role == "assistant"
        # After late results, which are sent as texts, the model has answered: a new turn.
        is_open = self._waiting and not self._held_messages and not self._deferred
        if message.role == "tool":
            self._end_run()
            self._add_results(number, message)
        elif is_open and is_answer and self.messages[-1].role == message.role:
            # If the calls of a turn are in several messages, their results follow all of them.
            self._run = self._run or [self.messages[-1]]
            self._run.append(message)
            self._waiting |= self._calls_of(number, message)
        elif self._waiting and not message.contents and not is_native(message, self._context):
            # An empty turn (of an interrupted answer) does not separate a result from its call.
            leave_empty(message, self._context)
        elif self._waiting and message.role in INSTRUCTION_ROLES:
            self._held_messages.append(message)
        else:
            self._end_turn()
            self.messages.append(message)
            if is_answer:
                self._may_answer_stored = False
                self._waiting = self._calls_of(number, message)

    def _calls_of(self, number: int, message: ChatMessage) -> dict[Place, ToolCallContent]:
        """Return the calls of a message that the application runs, with those of the target's own tools."""
        is_own = self._context.is_own
        hosted_calls = {
            (number, at): content
            for at, content in enumerate(message.contents)
            if isinstance(content, HostedToolCallContent) and content.executor == "client" and is_own(content)
        }
        return {**calls_of(number, message), **hosted_calls}

    def finish(self) -> None:
        """Complete the last messages.

        All calls of the last turn get results, unless none has one yet. A call whose approval is answered stays open.
        """
        self._end_run()
        if not self._held_messages and not self._deferred:
            self._waiting = {place: call for place, call in self._waiting.items() if place not in self._allowed}
        if self._held_messages or self._deferred or (self._waiting and self.messages[-1].role == "tool"):
            self._end_turn()

    def _end_turn(self) -> None:
        """Complete the turn: add placeholder results for its pending calls, and then what was held."""
        self._end_run()
        if self._waiting:
            self._answer_waiting()
        self._add_held_messages()

    def _end_run(self) -> None:
        if self._run:
            self.messages[-1] = joined_messages(self._run, self._context)
            self._run = []

    def _add_results(self, number: int, message: ChatMessage) -> None:
        places = [(number, at) for at in range(len(message.contents))]
        calls = [self._index.call_of.get(place) for place in places]
        if approvals := self._index.approvals_of:
            here = set(places)
            self._allowed |= {call for call in self._waiting if not here.isdisjoint(approvals.get(call, ()))}
        are_expected = [call is not None and self._waiting.pop(call, None) is not None for call in calls]
        is_of_target = is_native(message, self._context)
        contents: list[AIContent] = []
        for content, call, is_expected in zip(message.contents, calls, are_expected, strict=True):
            result = content if isinstance(content, ToolResultContent) else None
            is_unmatched = call in self._closed if is_of_target else not is_expected and not self._may_answer_stored
            if result is not None and is_unmatched:
                self._send_late(self._as_user_text(result), message)
                continue
            if self._held_messages and is_expected:
                self._context.report_loss(content, None, reasons.RESULT_MOVED)
            contents.append(
                self._with_text_only(content) if not is_of_target and self._detaches_media(content) else content
            )
        message = self._context.with_contents(message, contents)
        last = self.messages[-1] if self.messages else message
        if message.contents and self._held_messages and last.role == "tool" and any(are_expected):
            # Some APIs take all results of a turn in one message.
            self.messages[-1] = joined_messages([last, message], self._context)
        elif message.contents:
            self.messages.append(message)
        else:
            leave_empty(message, self._context)
        if not self._waiting:
            self._add_held_messages()

    def _send_late(self, contents: list[AIContent], message: ChatMessage) -> None:
        """Send contents after the results of the turn, and after the messages that are held."""
        if self._held_messages:
            self._held_messages.append(ChatMessage(role="user", contents=contents, origin=message.origin))
        else:
            self._deferred += contents

    def _detaches_media(self, content: AIContent) -> bool:
        if self._detach_media == "errors":
            return bool(getattr(content, "is_error", None))
        return self._detach_media == "always"

    def _add_held_messages(self) -> None:
        """Add what follows the results of a turn."""
        if self._deferred:
            origin = self.messages[-1].origin if self.messages else None
            self.messages.append(ChatMessage(role="user", contents=self._deferred, origin=origin))
        self.messages += self._held_messages
        self._deferred, self._held_messages = [], []

    def _as_user_text(self, result: ToolResultContent) -> list[AIContent]:
        self._context.degrade(result, reasons.UNMATCHED_RESULT, "call_id", "outputs")
        outputs = result.output_list
        media = [output for output in outputs if isinstance(output, MediaContent)]
        texts = [reported_text(output, self._context) for output in outputs if not isinstance(output, MediaContent)]
        text = "\n".join([LATE.write(result.call_id or ""), *filter(None, texts)])
        return [self._context.replaced(result, TextContent(text=text)), *media]

    def _answer_waiting(self) -> None:
        """Add placeholder results for pending calls, because the conversation goes on."""
        results: list[AIContent] = [self._no_result(call) for call in self._waiting.values()]
        self._closed.update(self._waiting)
        self._waiting = {}
        last = self.messages[-1]
        if last.role == "tool":
            self.messages[-1] = with_contents(last, [*last.contents, *results])
        else:
            self.messages.append(ChatMessage(role="tool", contents=results, origin=last.origin))

    def _no_result(self, call: ToolCallContent) -> ToolResultContent:
        self._context.report_loss(call, None, reasons.MISSING_RESULT)
        model = CustomToolResultContent if call.__class__ is CustomToolCallContent else FunctionResultContent
        outputs: list[AIContent] = [TextContent(text=NO_RESULT)]
        return self._context.placeholder(model(call_id=call.call_id, name=call.name, outputs=outputs))

    def _with_text_only(self, content: AIContent) -> AIContent:
        if not isinstance(content, ToolResultContent):
            return content
        return self._without_media(self._without_documents(content) if self._detach_media == "errors" else content)

    def _without_documents(self, result: ToolResultContent) -> ToolResultContent:
        if not any(isinstance(output, DocumentContent) for output in result.output_list):
            return result
        outputs: list[AIContent] = []
        for output in result.output_list:
            parts = as_texts(output, self._context) if isinstance(output, DocumentContent) else [output]
            if not parts:
                self._context.report_loss(output, None, reasons.UNSUPPORTED_CONTENT)
            outputs += parts
        return self._context.replace(result, outputs=outputs)

    def _without_media(self, result: ToolResultContent) -> ToolResultContent:
        media = [output for output in result.output_list if isinstance(output, MediaContent)]
        if not media:
            return result
        for output in media:
            self._context.report_loss(output, None, reasons.MEDIA_AFTER_RESULT)
        self._deferred += [TextContent(text=APART.write(result.call_id or "")), *media]
        others = [output for output in result.output_list if not isinstance(output, MediaContent)]
        if is_announced(media, self._context.api):
            last, others = announcing(others, result.call_id, media)
            if last is not None:
                self._context.replaced(last, others[-1])
        return self._context.replace(result, outputs=others)


# -- guests ------------------------------------------------------------------------------------------------------------


@needs(*HOSTED, makes=lambda facts: {UnknownContent})
def with_guests(messages: list[ChatMessage], context: EncodeContext, guests: Sequence[Guest] = ()) -> list[ChatMessage]:
    """Return messages whose guests are the parts of the target's format: unknown contents, which no step changes.

    Guests are the contents of these providers: those that a part was decoded to, and calls and results of hosted tools
    in messages of their APIs. Those that no form has are unchanged, and so are those that become texts by the policy.
    """
    is_function = context.policies.get("hosted_tools", "function") == "function"
    by_api = {guest.api: guest for guest in guests}
    calls: dict[Any, JsonObject] = {}
    changed = []
    for message in messages:
        is_kept = message.role in ("assistant", "tool") and (is_function or is_native(message, context))
        guest_contents = _by_guest(message, by_api) if is_kept else {}
        parts: dict[int, JsonArray] = {}
        for api, contents in guest_contents.items():
            for group in by_api[api].adapter.block_groups(contents):
                encoded = by_api[api].encode(group, calls, context)
                parts.update(
                    {id(content): spelled for content, spelled in zip(group, encoded or (), strict=encoded is not None)}
                )
        if parts:
            contents = [part for content in message.contents for part in _as_parts(content, parts, context)]
            message = with_contents(message, contents)
        changed.append(message)
    return changed


def _by_guest(message: ChatMessage, guests: dict[str, Guest]) -> dict[str, list[AIContent]]:
    """Return the contents of guests by the API of their provider."""
    origin = message.origin.api if message.origin is not None else ""
    by_api: dict[str, list[AIContent]] = {}
    for content in message.contents:
        if not isinstance(content, ToolCallContent | ToolResultContent):
            continue
        named = next((api for api in content.extra or () if api in guests and GUEST.of(content, api)), None)
        is_hosted = isinstance(content, HostedToolCallContent | HostedToolResultContent)
        api = named or (origin if origin in guests and is_hosted else None)
        if api is not None:
            by_api.setdefault(api, []).append(content)
    return by_api


def _as_parts(content: AIContent, parts: dict[int, JsonArray], context: EncodeContext) -> Iterable[AIContent]:
    if id(content) not in parts:
        return (content,)
    return [context.replaced(content, UnknownContent(api=context.api, block=part)) for part in parts[id(content)]]


@needs(*HOSTED)
def with_whole_guests(
    request: ChatRequest,
    context: EncodeContext,
    accepts: Callable[[Any, ChatRequest, EncodeContext], bool] | None = None,
) -> ChatRequest:
    """Return a request in which the target's guests in messages of other formats are such as the target accepts.

    Others are contents of their provider like those of any other API. A call or a result needs its other half; a call
    without a result may have made other calls. `accepts` is a further condition.
    """
    guests = [
        content
        for message in request.messages
        if not is_native(message, context)
        for content in message.contents
        if isinstance(content, ToolCallContent | ToolResultContent) and context.is_own(content)
    ]
    if not guests:
        return request
    ids: dict[bool, set[Any]] = {
        is_call: {guest.call_id for guest in guests if isinstance(guest, ToolCallContent) is is_call}
        for is_call in (True, False)
    }
    contents = [content for message in request.messages for content in message.contents]
    calls = [content for content in contents if isinstance(content, ToolCallContent)]
    callers = {call.caller.call_id for call in calls if call.caller is not None and call.caller.call_id is not None}
    whole = ids[True] & (ids[False] | callers)
    refused = {
        id(guest)
        for guest in guests
        if guest.call_id not in whole or (accepts is not None and not accepts(guest, request, context))
    }
    if not refused:
        return request
    messages = [
        with_contents(
            message,
            [without_guest(content, context) if id(content) in refused else content for content in message.contents],
        )
        for message in request.messages
    ]
    return msgspec.structs.replace(request, messages=messages)


def without_guest(content: Any, context: EncodeContext) -> Any:
    """Return a content that is no guest of the target: it is handled like a content of another API."""
    if not context.is_own(content):
        return content
    fields = {key: value for key, value in content.extra[context.api].items() if key != GUEST.key}
    return context.replace(content, extra={**content.extra, context.api: fields})
