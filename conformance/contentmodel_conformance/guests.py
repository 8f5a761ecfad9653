"""The law of guests: a conversation that a format keeps crosses as that of its provider does."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

import contentmodel
from contentmodel import ChatMessage, ChatRequest, Origin, TextContent
from contentmodel.engine.table.guests import guest_api
from contentmodel.hints import GUEST
from contentmodel_conformance import laws
from contentmodel_conformance.differences import difference
from contentmodel_conformance.laws import LawBroken, Refused

__all__ = ["guests", "of_provider"]


def guests(source: Any, target: Any, kind: str, document: Any) -> None:
    """A block of a provider that a format keeps crosses to an API as the same block of the provider itself does."""
    request, blocks, provider = _guests_in(source, kind, document)
    if provider.api in (target.api, getattr(getattr(target, "inner", None), "api", None)):
        raise Refused("the guests are those of the target")
    expected = laws.encode(target, kind, _of_provider(blocks, provider, source)).payload
    changed = difference(expected, laws.encode(target, kind, _conversation(blocks, request.origin)).payload)
    if changed is not None:
        raise LawBroken("guests", *changed)


def of_provider(source: Any, kind: str, document: Any) -> tuple[Any, Any]:
    """Return the provider of the guests of a document, and a payload of this provider with their blocks.

    Each block has an unknown field.
    """
    _, blocks, provider = _guests_in(source, kind, document)
    unknown = {"x_field": "unknown"}
    new = [replace(c, extra={**c.extra, provider.api: {**c.extra[provider.api], **unknown}}) for c in blocks]
    return provider, laws.encode(provider, kind, _of_provider(new, provider, source)).payload


def _guests_in(source: Any, kind: str, document: Any) -> tuple[ChatRequest, list[Any], Any]:
    """Return the request of a document, its guests, and their provider."""
    request = laws.decode(source, kind, document)
    blocks = [content for message in request.messages for content in message.contents if guest_api(content)]
    apis = {str(guest_api(content)) for content in blocks}
    if len(apis) != 1:
        raise Refused("the document has no guests")
    return request, blocks, contentmodel.adapter(apis.pop())


def _of_provider(blocks: list[Any], provider: Any, source: Any) -> ChatRequest:
    own_blocks = [_as_provider_content(content, provider.api, source.api) for content in blocks]
    return _conversation(own_blocks, Origin(api=provider.api, issuer=provider.issuer))


def _conversation(contents: list[Any], origin: Origin | None) -> ChatRequest:
    user = ChatMessage(role="user", contents=[TextContent(text="Go on.")], origin=origin)
    turn = ChatMessage(role="assistant", contents=contents, origin=origin)
    return ChatRequest(model="m", messages=[user, turn, user], origin=origin)


def _as_provider_content(content: Any, provider: str, source: str) -> Any:
    """Return a guest as the content that the provider's table decodes."""
    extra = {api: fields for api, fields in content.extra.items() if api != source}
    extra[provider] = {name: value for name, value in extra[provider].items() if name != GUEST.key}
    return replace(content, extra=extra)
