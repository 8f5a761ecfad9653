"""The provider-specific settings of requests that Chat Completions and Responses have in common."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from contentmodel.authoring import EncodeContext, object_of
from contentmodel.request import ChatRequest

# types/chat/completion_create_params.py and types/responses/response_create_params.py of openai 3.54 (seen 2026-11-27).
_SAME = ("moderation", "prompt_cache_key", "prompt_cache_retention", "safety_identifier")
_MEMBERS = {"prompt_cache_options": ("mode", "ttl"), "stream_options": ("include_obfuscation",)}
"""Settings that are objects, with the members that both APIs have."""


def with_settings_of(
    request: ChatRequest, context: EncodeContext, other: str, takes: Collection[str] | None = None
) -> ChatRequest:
    """Return a request with the settings that the API `other` has too, if the target's host takes them.

    `takes`: the settings that the host takes; None if all.
    """
    extra = request.extra or {}
    settings = extra.get(other)
    if not settings:
        return request
    same = {name: settings[name] for name in _SAME if name in settings and (takes is None or name in takes)}
    left = {name: value for name, value in settings.items() if name not in same}
    for name, members in _MEMBERS.items() if takes is None else ():
        options = object_of(settings, name)
        if options.keys() & set(members):
            same[name] = {key: value for key, value in options.items() if key in members}
            others = {key: value for key, value in options.items() if key not in members}
            left = {**left, name: others} if others else {key: left[key] for key in left if key != name}
    if not same:
        return request
    own: dict[str, Any] = {**extra.get(context.api, {}), **same}
    changed: ChatRequest = context.replace(request, extra={**extra, other: left, context.api: own})
    return changed
