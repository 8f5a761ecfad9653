"""Sentinel texts for values that the target has no field for.

Some of them are reversed when the payload is decoded. Users and tools may write any text, including a copy of a
sentinel. A reversible sentinel therefore contains a seal: a digest of the values that it describes. It is reversed only
if the seal matches and the position is right. The result of a tool announces its media; a user message cannot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from contentmodel import reasons
from contentmodel.content.media import MediaContent
from contentmodel.content.media_types import ending_of
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.engine.context import is_native
from contentmodel.engine.losses.inner import token_of
from contentmodel.engine.pipeline.lowering import normalized_contents
from contentmodel.engine.pipeline.steps import CONTINUE
from contentmodel.errors import DecodeError, ToolArgumentsError
from contentmodel.hints import Hint
from contentmodel.json import Json, parse, write
from contentmodel.message import ChatMessage

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.content.media import DataContent
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.request import ChatRequest


_V = TypeVar("_V")


class Label:
    """A line in brackets with a call id: `[output of tool call call_1]`. A label alone proves nothing.

    An id with a line feed, or with a quotation mark at its start, is written as a JSON string.
    """

    def __init__(self, before: str) -> None:
        self._before = f"[{before} "

    def write(self, name: str) -> str:
        """Return the label for a call id."""
        if "\n" in name or name.startswith('"'):
            name = write(name).decode()
        return f"{self._before}{name}]"

    def read(self, text: str) -> str | None:
        """Return the call id if the text is exactly this label, else None."""
        if not text.startswith(self._before) or not text.endswith("]"):
            return None
        name: Json = text[len(self._before) : -1]
        if name.startswith('"'):
            try:
                name = parse(name)
            except DecodeError:
                return None
        return name if isinstance(name, str) and self.write(name) == text else None


APART = Label("output of tool call")
"""Precedes the media of a tool result, in the message after results that cannot hold media."""

LATE = Label("late result of tool call")
"""Precedes a result whose call is missing. It is not reversed."""

NO_RESULT = "[no result of this call was recorded]"
"""The placeholder result of a call without a result, for APIs that require one. It is not reversed."""

DENIED = "[the user denied this call]"
"""The result of a call that was denied without a reason, for APIs without approvals. It is not reversed."""

LEFT_OUT = "[nothing of this message could be sent]"
"""The placeholder for a user message of which nothing can be sent. It is not reversed."""

NO_TURN = "[the conversation has no message yet]"
"""The placeholder user message of an empty request, for APIs that require a message. It is not reversed."""

_BEGINS = "[is_error: "
_FAILED = re.compile(rf"{re.escape(_BEGINS)}(true|false) #([0-9a-f]{{16}})\](\n|\Z)")
BEGUN = "[the conversation began before this"
_MADE_NAME = re.compile(r"(?:document|video|file)-[0-9a-f]{16}(?:\.[a-z0-9]{1,9})?")
_ANNOUNCES = "[media of this result follow:"
_ANNOUNCED = re.compile(rf"(\n|){re.escape(_ANNOUNCES)}((?: #[0-9a-f]{{16}})+)\]")

MARKS = (*(label.write("").removesuffix("]") for label in (APART, LATE)), _BEGINS, BEGUN, CONTINUE)
"""The beginnings of texts that say more than other texts."""


def is_marked(text: str) -> bool:
    """Return whether a text may be one of these sentinels, or end with one."""
    return text.startswith(MARKS) or (text.endswith("]") and _ANNOUNCES in text)


def seal_of(*parts: str | None) -> str:
    """Return a digest of `parts`, 16 hexadecimal digits long."""
    # Imported here because the import is slow (a tenth of this library's import time) and rarely needed.
    from hashlib import blake2s

    return blake2s(write(parts), digest_size=8).hexdigest()


# -- failures ----------------------------------------------------------------------------------------------------------


def needs_error_mark(result: ToolResultContent) -> bool:
    """Return whether the text of a result needs an error mark: the result failed, or its text imitates the mark."""
    return bool(result.is_error) or with_error_read(result) is not result


def with_error_mark(result: _V, context: EncodeContext) -> _V:
    """Return a result with an error mark before its first text, for APIs without a failure flag. JSON becomes text.

    If a successful result imitates the mark, it gets a mark with "false", so that the imitation is kept as text. Other
    contents are returned unchanged.
    """
    if not isinstance(result, ToolResultContent) or not needs_error_mark(result):
        return result
    if result.is_error and not context.native:
        context.report_loss(result, "is_error", reasons.NO_ERROR_FLAG)
    outputs = list(normalized_contents(result.output_list, context) if context.completes else result.output_list)
    first = _first_text(outputs)
    flag = "true" if result.is_error else "false"
    if first is None:
        outputs.insert(0, TextContent(text=f"{_BEGINS}{flag} #{seal_of(flag, result.call_id)}]"))
    else:
        index, original = first[0], first[1].text
        text = f"{_BEGINS}{flag} #{seal_of(flag, result.call_id, original)}]\n{original}"
        outputs[index] = context.replace(first[1], text=text)
    return context.replace(result, outputs=outputs, is_error=None)


def with_error_read(result: _V) -> _V:
    """Return a result with the flag instead of a sealed mark in its first text: the inverse of `with_error_mark`."""
    if not isinstance(result, ToolResultContent):
        return result
    first = _first_text(result.outputs or ())
    if first is None or not first[1].text.startswith(_BEGINS):
        return result
    index, text = first
    mark = _read_error_mark(text.text, result.call_id)
    if mark is None:
        return result
    failed, unmarked_text = mark
    if not failed and (unmarked_text is None or _read_error_mark(unmarked_text, result.call_id) is None):
        return result
    if unmarked_text is None and _first_text(result.output_list[index + 1 :]) is not None:
        # A mark is alone only if there is no text.
        return result
    texts = [] if unmarked_text is None else [msgspec.structs.replace(text, text=unmarked_text)]
    outputs = [*result.output_list[:index], *texts, *result.output_list[index + 1 :]]
    return msgspec.structs.replace(result, outputs=outputs, is_error=True if failed else result.is_error)


def _first_text(outputs: Sequence[AIContent]) -> tuple[int, TextContent] | None:
    for index, output in enumerate(outputs):
        if output.__class__ is TextContent:
            return index, output
    return None


def _read_error_mark(text: str, call_id: str | None) -> tuple[bool, str | None] | None:
    """Return whether a valid mark is "true", and the text after it; None if there is no valid mark."""
    match = _FAILED.match(text)
    if match is None:
        return None
    unmarked_text = text[match.end() :] if match[3] else None
    sealed_texts = () if unmarked_text is None else (unmarked_text,)
    return (match[1] == "true", unmarked_text) if match[2] == seal_of(match[1], call_id, *sealed_texts) else None


# -- media after their result -----------------------------------------------------------------------------------------


def media_seal(call_id: str | None, medium: object) -> str:
    """Return the seal of one medium of a call's result."""
    names = ("data", "uri", "file_id", "text")
    value = next((value for name in names if (value := getattr(medium, name, None)) is not None), None)
    return seal_of(call_id, value)


def announcing(
    outputs: Sequence[AIContent], call_id: str | None, media: Sequence[AIContent]
) -> tuple[TextContent | None, list[AIContent]]:
    """Return the outputs of a result whose `media` follow in another message, and the replaced text of `words`.

    The last text ends with an announcement: the seal of each medium.
    """
    announcement = _ANNOUNCES + "".join(f" #{media_seal(call_id, m)}" for m in media) + "]"
    last = outputs[-1] if outputs else None
    if not isinstance(last, TextContent):
        return None, [*outputs, TextContent(text=announcement)]
    return last, [*outputs[:-1], msgspec.structs.replace(last, text=f"{last.text}\n{announcement}")]


def announced(result: ToolResultContent) -> tuple[list[AIContent], list[str]]:
    """Return the outputs of a result without its announcement, and the announced seals: the inverse of `announcing`."""
    last = result.outputs[-1] if result.outputs else None
    if not isinstance(last, TextContent):
        return result.output_list, []
    at = last.text.rfind(_ANNOUNCES)
    match = _ANNOUNCED.fullmatch(last.text, max(at - 1, 0)) if at >= 0 else None
    if match is None:
        return result.output_list, []
    outputs = result.output_list[:-1]
    if match[1]:
        outputs.append(msgspec.structs.replace(last, text=last.text[: match.start()]))
    return outputs, match[2].replace("#", "").split()


# -- names of files ----------------------------------------------------------------------------------------------------


def made_name(content: DataContent) -> str:
    """Return a file name for inline data, for APIs that require one: kind, seal of the data, ending of the media type.

    The seal distinguishes a generated name from a user's. A generated name is dropped when the data is encoded for
    another API.
    """
    return f"{content.media_kind or 'file'}-{seal_of(content.data)}{ending_of(content.media_type)}"


def is_made_name(content: DataContent) -> bool:
    """Return whether inline data has the name that `made_name` generates for it."""
    return _MADE_NAME.fullmatch(content.name or "") is not None and content.name == made_name(content)


# -- the beginning of a conversation -----------------------------------------------------------------------------------


def begun_before(contents: Sequence[object]) -> str:
    """Return the text of a user message before a first assistant message, for APIs that require one.

    The seal is of the first of the assistant's `contents`, because that stays when the turn grows.
    """
    return f"{BEGUN} #{first_seal(contents[0] if contents else None)}]"


def first_seal(content: object) -> str:
    """Return the seal of a content beside a placeholder."""
    if not isinstance(content, ToolCallContent):
        return media_seal(None, content)
    try:
        return seal_of(content.name, write(content.arguments_object).decode())
    except ToolArgumentsError as error:
        return seal_of(content.name, error.text)


# -- for audits --------------------------------------------------------------------------------------------------------


def unmarked(text: str) -> str:
    """Return a text without reversible sentinels, whether their seals match or not."""
    if any(text.startswith(f"{begin} #") and len(text) == len(begin) + 19 for begin in (BEGUN, CONTINUE)):
        return ""
    if _MADE_NAME.fullmatch(text):
        return ""
    failed = _FAILED.match(text)
    outputs, _ = announced(ToolResultContent(outputs=[TextContent(text=text[failed.end() :] if failed else text)]))
    return outputs[0].text if outputs and isinstance(outputs[0], TextContent) else ""


# -- media of results in the message after them ------------------------------------------------------------------------


BEHIND = Hint[Literal[True]](None, "apart", "a medium of a result was in the message after it")


def with_media_back(messages: list[ChatMessage], context: DecodeContext) -> list[ChatMessage]:
    """Return the messages with announced media moved from the next message back into the results."""
    if not any(_labels_media(message) for message in messages):
        return messages
    back: list[ChatMessage] = []
    results: list[ChatMessage] = []
    for message in messages:
        if message.role == "tool":
            results.append(message)
        elif results and _labels_media(message) and _take_media(results, message, context):
            # One message holds the media of all results before it.
            results = []
            continue
        else:
            results = []
        back.append(message)
    return back


def _labels_media(message: ChatMessage) -> bool:
    if message.role != "user" or message.extra is not None or message.author_name is not None:
        return False
    return len(message.contents) > 1 and _labelled_call(message.contents[0]) is not None


def _labelled_call(content: AIContent) -> str | None:
    return APART.read(content.text) if content.__class__ is TextContent and content.extra is None else None


def _media_by_call(message: ChatMessage) -> dict[str, list[AIContent]] | None:
    """Return the media under each label; None if the message contains anything else."""
    media: dict[str, list[AIContent]] = {}
    for content in message.contents:
        call_id = _labelled_call(content)
        if call_id is not None:
            if call_id in media:
                return None
            media[call_id] = []
        elif isinstance(content, MediaContent) and media:
            media[next(reversed(media))].append(content)
        else:
            return None
    return media


def _take_media(results: list[ChatMessage], message: ChatMessage, context: DecodeContext) -> bool:
    """Move the media of `message` into the results that announce them. If any do not match, return False."""
    media = _media_by_call(message)
    if media is None:
        return False
    places = [
        (result, index, content)
        for result in results
        for index, content in enumerate(result.contents)
        if isinstance(content, ToolResultContent) and content.call_id in media
    ]
    if [content.call_id for _, _, content in places] != list(media):
        return False
    merged = [_with_media(content, media[content.call_id or ""], context) for _, _, content in places]
    whole = [content for content in merged if content is not None]
    if len(whole) < len(merged):
        return False
    for (result, index, _), content in zip(places, whole, strict=True):
        # In place, because the origin of the message is recorded already.
        result.contents[index] = content
    context.moved_parts(message, [medium for media_of_call in media.values() for medium in media_of_call])
    return True


def _with_media(result: ToolResultContent, media: list[AIContent], context: DecodeContext) -> ToolResultContent | None:
    """Return the result with `media` as outputs; None unless it announces each of them, in this order."""
    outputs, seals = announced(result)
    remaining_seals = iter(seals)
    if not media or not all(media_seal(result.call_id, medium) in remaining_seals for medium in media):
        return None
    moved = [BEHIND.on(medium, context.api, True) for medium in media]
    for old, new in zip(media, moved, strict=True):
        context.replaced(old, new)
    return msgspec.structs.replace(result, outputs=[*outputs, *moved])


def with_detached_media(messages: list[ChatMessage], api: str) -> list[ChatMessage]:
    """Return the messages with such media moved after their results again: the inverse of `with_media_back`."""
    if not _has_detached_media(messages, api):
        return messages
    moved: list[ChatMessage] = []
    later: list[AIContent] = []
    for message in messages:
        if message.role == "tool":
            contents = []
            for content in message.contents:
                content, behind = _divided(content, api)
                contents.append(content)
                later += behind
            message = msgspec.structs.replace(message, contents=contents)
        elif later:
            moved.append(ChatMessage(role="user", contents=later, origin=message.origin))
            later = []
        moved.append(message)
    return [*moved, ChatMessage(role="user", contents=later, origin=messages[-1].origin)] if later else moved


def _has_detached_media(messages: list[ChatMessage], api: str) -> bool:
    for message in messages:
        for content in message.contents if message.role == "tool" else ():
            outputs = getattr(content, "output_list", ())
            if any(map(_EXTRA, outputs)) and any(_is_detached(output, api) for output in outputs):
                return True
    return False


_EXTRA = attrgetter("extra")


def _is_detached(output: AIContent, api: str) -> bool:
    return output.extra is not None and BEHIND.of(output, api) is not None


def _divided(content: AIContent, api: str) -> tuple[AIContent, list[AIContent]]:
    """Return a result without its detached media, and these media after their label."""
    if not isinstance(content, ToolResultContent):
        return content, []
    media = [output for output in content.output_list if _is_detached(output, api)]
    if not media:
        return content, []
    others = [output for output in content.output_list if not _is_detached(output, api)]
    if is_announced(media, api):
        _, others = announcing(others, content.call_id, media)
    label = TextContent(text=APART.write(content.call_id or ""))
    return msgspec.structs.replace(content, outputs=others), [label, *media]


def is_announced(media: Sequence[AIContent], api: str) -> bool:
    """Return whether a result announces its media. The messages of a container stay apart when it is decoded."""
    return all(token_of(medium.extra, api) is None for medium in media)


# -- the end of a conversation -----------------------------------------------------------------------------------------


_NAMED = ("listed", "newest", "chosen")


def refuses_continuation(context: EncodeContext) -> bool:
    """Return whether the target refuses to continue an answer, and the conversation must not end with one."""
    if context.known.capabilities.prefill or context.known.status not in _NAMED:
        return False
    return (context.is_aimed or not context.native) and context.policies.get("prefill") != "keep"


def with_continuation(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request that ends with a message of the user if the named model refuses to continue an answer.

    The policy `prefill` selects: "continue" adds the message, "keep" leaves the answer at the end. A request of the
    target's API for the same model is unchanged. An answer that ends with a call waits for its result.
    """
    last = next((message for message in reversed(request.messages) if message.contents), None)
    if last is None or last.role != "assistant":
        return request
    if isinstance(last.contents[-1], ToolCallContent | ToolResultContent):
        return request
    return msgspec.structs.replace(request, messages=[*request.messages, asked_to_continue(last, context)])


def asked_to_continue(answer: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return the message of the user that asks the model to continue an answer, and report it."""
    context.report_loss(answer, None, reasons.CONTINUED)
    return ChatMessage(role="user", contents=[TextContent(text=_text_after(answer))], origin=context.origin)


def without_continuation(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of another API without the last message, if `with_continuation` added it."""
    messages = request.messages
    if len(messages) < 2 or is_native(messages[-1], context):
        return request
    text = _only_text(messages[-1])
    if text is None or not text.startswith(CONTINUE) or text != _text_after(messages[-2]):
        return request
    context.report_loss(messages[-1], None, reasons.CONTINUED_BEFORE)
    return msgspec.structs.replace(request, messages=messages[:-1])


def _only_text(message: ChatMessage) -> str | None:
    content: AIContent | None = message.contents[0] if len(message.contents) == 1 else None
    return content.text if content.__class__ is TextContent and message.role == "user" else None


def _text_after(answer: ChatMessage) -> str:
    """Return the text of the added message: it has the seal of the answer before it."""
    return f"{CONTINUE} #{first_seal(answer.contents[-1] if answer.contents else None)}]"
