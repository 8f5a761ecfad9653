"""Contents of OpenAI that the AI SDK keeps, and that are no guests: texts with annotations, and approvals."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import EncodeContext, hints, is_native, object_of, objects_of
from contentmodel.errors import DecodeError
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest

PYDANTIC_AI, UI_MESSAGES, MODEL_MESSAGES = "pydantic-ai-messages", "vercel-ui-messages", "vercel-model-messages"


def is_hosted(content: Any, kind: type[Any]) -> bool:
    """Return whether a content is a call or a result, with an id, of a tool that a provider runs."""
    return isinstance(content, kind) and content.executor == "provider" and content.call_id is not None


# -- from a framework --------------------------------------------------------------------------------------------------


SDK_FORMATS = (UI_MESSAGES, MODEL_MESSAGES)
"""The formats of the Vercel AI SDK."""


def is_kept(message: ChatMessage, formats: Collection[str], context: EncodeContext) -> bool:
    """Return whether a message came from one of these formats to another API."""
    return message.origin is not None and message.origin.api in formats and not is_native(message, context)


def with_own(old: Any, new: Any, context: EncodeContext, residue: dict[str, Any] | None = None, **changes: Any) -> Any:
    """Return a content of the target in place of one that a framework keeps. It stays hosted.

    `residue` are the fields of the framework that are left, by API. `changes` are other values of attributes.
    """
    extra = {**(old.extra or {}), **(new.extra or {}), **(residue or {})}
    left = {api: fields for api, fields in extra.items() if fields}
    made = context.replaced(old, replace(new, cache_point=old.cache_point, extra=left or None, **changes))
    return context.with_fields(made, hints.GUEST.entry("item"))


def provider_in(metadata: dict[str, Any], providers: Collection[str]) -> str:
    """Return the first of some providers that has values; "" if none has."""
    return next((name for name in providers if object_of(metadata, name)), "")


def without_values(residue: dict[str, Any], at: str, names: Collection[str], only: str = "") -> dict[str, Any]:
    """Return the fields of a part without the values `names` of providers in its field `at`.

    Objects that become empty are left out. If `only` is the name of a provider, the values of others stay.
    """
    left: dict[str, Any] = {}
    for provider, values in object_of(residue, at).items():
        is_kept_whole = values.__class__ is not dict or provider != (only or provider)
        rest = values if is_kept_whole else {name: value for name, value in values.items() if name not in names}
        if rest or not values:
            left[provider] = rest
    return {**{name: value for name, value in residue.items() if name != at}, **({at: left} if left else {})}


def decoded(api: str, payload: dict[str, Any]) -> list[Any]:
    """Return the contents of a payload with one message; [] if the API has no such message."""
    try:
        return installed(api).decode_request(payload).messages[0].contents
    except DecodeError:
        return []


def items_of(*contents: Any) -> list[dict[str, Any]]:
    """Return the items of the Responses API of contents of an assistant."""
    origin = Origin(api="openai-responses", issuer="openai")
    message = ChatMessage(role="assistant", contents=list(contents), origin=origin)
    payload: Any = installed("openai-responses").encode_request(ChatRequest(messages=[message], origin=origin)).payload
    return objects_of(payload, "input")
