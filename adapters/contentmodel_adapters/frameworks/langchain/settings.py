"""Settings of media blocks that packages read in several places: beside the other fields, in `extras` or in `metadata`.

These are the cache point, Anthropic's citations and context of a document, and names. Source: langchain-anthropic 1.7
(chat_models.py) and langchain-aws 1.9 (chat_models/bedrock_converse.py), both in `_format_data_content_block`, seen
2026-11-27.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import CachePoints, DecodeContext, EncodeContext, Hint
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel_adapters.common.objects import at, without
from contentmodel_adapters.frameworks.langchain.blocks import API, CACHE_POINT, KINDS

SET = Hint[dict[str, str]](API, "set", "the path of each setting in a media block that is not in its usual place")
ANTHROPIC = "anthropic-messages"
MEDIA_TYPES = (DataContent, UriContent, HostedFileContent)
_POINTS = CachePoints(CACHE_POINT)
_POINT = "cache_control"
_OF_DOCUMENTS = {"citations": dict, "context": str}
"""The settings of documents that only Anthropic has, with their JSON classes."""
_HOLDERS = ("", "extras.", "metadata.")
_NAMED = {"file": "filename", "text-plain": "title"}
"""The usual field of a name, by the type of the block."""
_NAMES = ("title", "name")
"""The other fields of a name: Anthropic's, and Bedrock's."""


def with_usual_places(block: dict[str, Any], context: DecodeContext) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a block with its settings beside the other fields, and their paths in the block."""
    kind = block.get("type")
    places = dict(_places(block, kind)) if kind.__class__ is str and kind in KINDS else {}
    if not places:
        return block, {}
    copy = block
    for key, path in places.items():
        copy = {**without(copy, path), key: at(copy, path)}
    context.copied(copy, block)
    for key, path in places.items():
        context.copied(copy, block, (key, path))
    for holder in ("extras", "metadata"):
        if holder in copy and copy[holder] is not block[holder]:
            context.copied(copy[holder], block[holder])
    return copy, places


def _places(block: dict[str, Any], kind: str) -> Any:
    """Yield the usual field of each setting of a block, and the path that it has."""
    if not _POINTS.holds(block.get(_POINT)):
        yield from _found(block, _POINT, _HOLDERS[1:], (_POINT,), _POINTS.holds)
    if kind in _NAMED:
        for key, json_class in _OF_DOCUMENTS.items():
            yield from _found(block, key, _HOLDERS, (key,), lambda value, c=json_class: value.__class__ is c)
        if not any(at(block, f"{holder}{name}") for holder in _HOLDERS for name in ("filename", _NAMED[kind])):
            yield from _found(block, _NAMED[kind], _HOLDERS, _NAMES, lambda value: value.__class__ is str and value)


def _found(block: dict[str, Any], key: str, holders: tuple[str, ...], names: tuple[str, ...], holds: Any) -> Any:
    paths = (f"{holder}{name}" for name in names for holder in holders)
    path = next((path for path in paths if holds(at(block, path))), None)
    if path is not None:
        yield key, path


def with_settings(content: Any, places: dict[str, str], context: DecodeContext) -> Any:
    """Return the content of a block with usual places. Anthropic's settings are fields of its API."""
    own = (content.extra or {}).get(API, {})
    of_anthropic = {key: own[key] for key in _OF_DOCUMENTS if key in places and key in own}
    rest = {key: value for key, value in own.items() if key not in of_anthropic}
    extra = {**(content.extra or {}), API: {**rest, **SET.entry(places)}}
    if of_anthropic:
        extra[ANTHROPIC] = {**extra.get(ANTHROPIC, {}), **of_anthropic}
    return context.replace(content, extra=extra)


# -- encoding ----------------------------------------------------------------------------------------------------------


def without_settings(content: Any, context: EncodeContext) -> tuple[Any, dict[str, str]]:
    """Return a content whose settings of Anthropic are fields of its block, and the paths of all settings."""
    extra = content.extra or {}
    theirs = extra.get(ANTHROPIC, {})
    if content.__class__ not in MEDIA_TYPES:
        return content, {}
    moved = {key: theirs[key] for key, json_class in _OF_DOCUMENTS.items() if theirs.get(key).__class__ is json_class}
    places = {**{key: f"extras.{key}" for key in moved}, **(SET.of(content, API) or {})}
    if moved:
        rest = {key: value for key, value in theirs.items() if key not in moved}
        others = {api: fields for api, fields in extra.items() if api != ANTHROPIC}
        kept = {**others, **({ANTHROPIC: rest} if rest else {}), API: {**extra.get(API, {}), **moved}}
        content = context.replace(content, extra=kept)
    return content, places


def in_places(block: dict[str, Any], places: dict[str, str]) -> dict[str, Any]:
    """Return a block with its settings in their places."""
    copy = dict(block)
    for key, path in places.items():
        if key not in copy:
            continue
        value = copy.pop(key)
        holder, _, name = path.rpartition(".")
        if not holder:
            copy[name] = value
        elif copy.get(holder, {}).__class__ is dict:
            copy[holder] = {**copy.get(holder, {}), name: value}
    return copy
