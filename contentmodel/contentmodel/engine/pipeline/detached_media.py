"""Media of tool results in APIs whose results hold text only: they are in a user message after the results.

`pairing` moves them there when a transcript of another API is encoded. This module moves them back when the payload is
decoded, and there again when the same transcript is encoded for its own API.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import msgspec

from contentmodel.content.media import MediaContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.engine.losses.inner import token_of
from contentmodel.engine.pipeline.sentinels import APART, announced, announcing, media_seal
from contentmodel.engine.table.hints import Hint
from contentmodel.message import ChatMessage

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import DecodeContext

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
    taken = [_with_media(content, media[content.call_id or ""], context) for _, _, content in places]
    whole = [content for content in taken if content is not None]
    if len(whole) < len(taken):
        return False
    for (result, index, _), content in zip(places, whole, strict=True):
        # In place, because the origin of the message is recorded already.
        result.contents[index] = content
    context.taken(message, [medium for media_of_call in media.values() for medium in media_of_call])
    return True


def _with_media(result: ToolResultContent, media: list[AIContent], context: DecodeContext) -> ToolResultContent | None:
    """Return the result with `media` as outputs; None unless it announces each of them, in this order."""
    outputs, seals = announced(result)
    rest = iter(seals)
    if not media or not all(media_seal(result.call_id, medium) in rest for medium in media):
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
