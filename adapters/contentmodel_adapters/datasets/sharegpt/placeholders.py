"""Media beside the messages: the n-th `<image>` of the values refers to the n-th element of `images`.

`<video>` refers to `videos`, and `<audio>` to `audios`. If the numbers differ, the list and the texts stay as they are.

Sources: data/README.md of hiyouga/LLaMA-Factory ("Multimodal Image Dataset"), and its
src/llamafactory/data/mm_plugin.py (seen 2026-11-23).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    contents_of,
    each_output,
    list_of,
    objects_of,
    reasons,
    text_of,
)
from contentmodel.content.media import MediaContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest

LISTS = {"image": "images", "video": "videos", "audio": "audios"}
"""The list of each kind of media."""
WITHOUT_MEDIA = frozenset({"system", "function_call"})
"""Roles whose values have no media."""
PLACEHOLDER = re.compile("<(image|video|audio)>")
WRITTEN_PLACEHOLDER = reasons.degraded(
    "sharegpt-placeholder", "{target} reads {text} as a medium: blanks are added inside of the brackets"
)


class Pieces(list[dict[str, Any]]):
    """The value of a message with media, in parts. No JSON value has this class."""

    origins: dict[int, tuple[list[Any], int]]
    """The list and the index of each medium, by its position."""


def counts_of(messages: list[dict[str, Any]]) -> Counter[str]:
    """Return the number of placeholders of each kind."""
    texts = (message["value"] for message in messages if message.get("value").__class__ is str)
    return Counter(kind for text in texts for kind in PLACEHOLDER.findall(text))


def listed_media(document: dict[str, Any]) -> dict[str, list[str]]:
    """Return the lists of media by kind: those with one string for each placeholder."""
    listed = {kind: list_of(document, name) for kind, name in LISTS.items() if list_of(document, name)}
    if not listed:
        return {}
    messages = objects_of(document, "conversations")
    counts = counts_of(messages)
    fixed = counts_of([message for message in messages if text_of(message, "from") in WITHOUT_MEDIA])
    return {
        kind: media
        for kind, media in listed.items()
        if len(media) == counts[kind] and not fixed[kind] and all(item.__class__ is str for item in media)
    }


def with_pieces(document: dict[str, Any], context: DecodeContext) -> dict[str, Any]:
    """Return a document whose values have their media, without the lists of these media."""
    lists = listed_media(document)
    if not lists:
        return document
    messages = with_split_values(document["conversations"], lists)
    for copy, message in zip(messages, document["conversations"], strict=True):
        if copy is not message:
            context.copied(copy, message)
    context.copied(messages, document["conversations"])
    names = {LISTS[kind] for kind in lists}
    changed = {key: value for key, value in document.items() if key not in names} | {"conversations": messages}
    context.copied(changed, document)
    return changed


def with_split_values(messages: list[Any], lists: dict[str, list[str]]) -> list[Any]:
    """Return the messages, with the values that have media of these lists in parts."""
    read = dict.fromkeys(lists, 0)
    pieces = [_pieces(message, lists, read) for message in messages]
    return [
        message if parts is None else {**message, "value": parts}
        for message, parts in zip(messages, pieces, strict=True)
    ]


def _pieces(message: Any, lists: dict[str, list[str]], read: dict[str, int]) -> Pieces | None:
    """Return the value of a message in parts; None if it has no media. `read` counts the media of each list."""
    value = message.get("value") if message.__class__ is dict else None
    if value.__class__ is not str or read.keys().isdisjoint(PLACEHOLDER.findall(value)):
        return None
    pieces = Pieces()
    pieces.origins = {}
    text = ""
    for at, part in enumerate(PLACEHOLDER.split(value)):
        if at % 2 == 0:
            text += part
        elif part not in lists:
            text += f"<{part}>"
        else:
            pieces += [{"text": text}] if text else []
            text = ""
            media, index = lists[part], read[part]
            pieces.origins[len(pieces)] = media, index
            pieces.append({part: media[index]})
            read[part] += 1
    pieces += [{"text": text}] if text else []
    return pieces


def with_lists(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with a placeholder for each medium, and the media in their lists."""
    media: dict[str, list[Any]] = {}
    for message in objects_of(payload, "conversations"):
        pieces = message.get("value")
        if isinstance(pieces, Pieces):
            for piece in pieces:
                for kind in LISTS.keys() & piece.keys():
                    media.setdefault(LISTS[kind], []).append(piece[kind])
            message["value"] = joined(pieces)
    for name, values in media.items():
        payload[name] = [*list_of(payload, name), *values]
    return payload


def joined(pieces: list[dict[str, Any]]) -> str:
    """Return the value of parts. An empty line separates two texts."""
    values: list[str] = []
    is_text = False
    for piece in pieces:
        text = piece.get("text")
        if text is None:
            values += [f"<{kind}>" for kind in piece.keys() & LISTS.keys()]
        elif text:
            values.append(f"\n\n{text}" if is_text else text)
        is_text = bool(text) or (is_text and text == "")
    return "".join(values)


def with_plain_placeholders(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages without texts that readers take for media: those with a placeholder.

    Texts of this format are changed only if an edit added media of the same kind.
    """
    kinds: set[str | None] = set() if context.native else {*LISTS}
    for content in contents_of(messages) if context.native else ():
        parts = content.output_list if isinstance(content, ToolResultContent) else [content]
        kinds.update(part.media_kind for part in parts if isinstance(part, MediaContent))

    def plain(content: Any, context: EncodeContext) -> Any:
        if isinstance(content, ToolResultContent):
            changed = each_output(content, plain, context)
            return content if changed is content else context.replaced(content, changed)
        if content.__class__ is not TextContent or kinds.isdisjoint(PLACEHOLDER.findall(content.text)):
            return content
        text = PLACEHOLDER.sub(lambda match: f"< {match[1]} >" if match[1] in kinds else match[0], content.text)
        context.report_loss(content, "text", WRITTEN_PLACEHOLDER, text=PLACEHOLDER.findall(content.text)[0])
        return context.replace(content, text=text)

    return [
        context.with_contents(message, [plain(content, context) for content in message.contents])
        for message in messages
    ]


def escaped_json(text: str) -> str:
    """Return a JSON text without placeholders: strings have an escape in their place."""
    return PLACEHOLDER.sub(r"\\u003c\1>", text)
