"""Media of tool results, in APIs whose results hold words alone: in a message of the user behind them, and back.

`pairing` puts them there when a transcript of another API is written. Here is what makes this undone on reading, and
done again where the same transcript is written back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.media import MediaContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.wire.marks import APART
from contentmodel.wire.notes import note_of, noted

if TYPE_CHECKING:
    from contentmodel.wire.context import DecodeContext


def with_media_back(messages: list[ChatMessage], context: DecodeContext) -> list[ChatMessage]:
    """Media that stand behind the results they belong to, each under its mark, as outputs of these results again."""
    if not any(_tells_media(message) for message in messages):
        return messages
    back: list[ChatMessage] = []
    for message in messages:
        first = next((i + 1 for i in range(len(back) - 1, -1, -1) if back[i].role != "tool"), 0)
        media = _media_by_call(message, back[first:], context) if _tells_media(message) else None
        if media is None:
            back.append(message)
        else:
            for results in back[first:]:
                _take_media(results, media)
    return back


def _tells_media(message: ChatMessage) -> bool:
    if message.role != "user" or message.extra is not None or message.author_name is not None:
        return False
    return len(message.contents) > 1 and _marked_call(message.contents[0]) is not None


def _marked_call(content: Any) -> str | None:
    plain = content.__class__ is TextContent and content.extra is None
    return APART.read(content.text) if plain else None


def _media_by_call(
    message: ChatMessage, results: list[ChatMessage], context: DecodeContext
) -> dict[str, list[Any]] | None:
    """The media of each call; None where they are not just as `with_media_apart` would write them."""
    media: dict[str, list[Any]] = {}
    for content in message.contents:
        call_id = _marked_call(content)
        if call_id is not None:
            if call_id in media:
                return None
            media[call_id] = []
        elif isinstance(content, MediaContent) and media:
            moved = noted(content, context.api, ":apart", True)
            context.replaced(content, moved)
            media[next(reversed(media))].append(moved)
        else:
            return None
    ids = [c.call_id for result in results for c in result.contents if isinstance(c, ToolResultContent)]
    in_order = [call_id for call_id in ids if call_id in media]
    return media if in_order == list(media) and all(media.values()) else None


def _take_media(message: ChatMessage, media: dict[str, list[Any]]) -> None:
    # In place: where the message came from is known already.
    for index, content in enumerate(message.contents):
        if isinstance(content, ToolResultContent) and content.call_id in media:
            outputs = [*content.outputs, *media[content.call_id]]
            message.contents[index] = msgspec.structs.replace(content, outputs=outputs)


def with_media_apart(messages: list[ChatMessage], api: str) -> list[ChatMessage]:
    """The inverse: outputs that came from a message behind their results go back to one."""
    if not _any_apart(messages, api):
        return messages
    apart: list[ChatMessage] = []
    later: list[Any] = []
    for message in messages:
        if message.role == "tool":
            later += [told for content in message.contents for told in _told(content, api)]
            kept = [_without(content, _apart(content, api)) for content in message.contents]
            message = msgspec.structs.replace(message, contents=kept)
        elif later:
            apart.append(ChatMessage(role="user", contents=later, origin=message.origin))
            later = []
        apart.append(message)
    return [*apart, ChatMessage(role="user", contents=later, origin=messages[-1].origin)] if later else apart


def _any_apart(messages: list[ChatMessage], api: str) -> bool:
    for message in messages:
        for content in message.contents if message.role == "tool" else ():
            for output in getattr(content, "outputs", ()):
                if output.extra is not None and note_of(output, api, ":apart") is not None:
                    return True
    return False


def _apart(content: Any, api: str) -> list[Any]:
    """The outputs of a result that came from behind it."""
    outputs = getattr(content, "outputs", ())
    return [o for o in outputs if o.extra is not None and note_of(o, api, ":apart") is not None]


def _told(content: Any, api: str) -> list[Any]:
    outputs = _apart(content, api)
    return [TextContent(text=APART.write(content.call_id or "")), *outputs] if outputs else []


def _without(content: Any, apart: list[Any]) -> Any:
    if not apart:
        return content
    outputs = [output for output in content.outputs if all(output is not other for other in apart)]
    return msgspec.structs.replace(content, outputs=outputs)
