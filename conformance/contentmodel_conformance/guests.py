"""The law of guests: a conversation that a format keeps crosses as that of its provider does."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

import contentmodel
from contentmodel import ChatMessage, ChatRequest, Origin, TextContent
from contentmodel.engine.table.guests import guest_api
from contentmodel.engine.table.hints import GUEST
from contentmodel_conformance import laws
from contentmodel_conformance.differences import difference
from contentmodel_conformance.laws import LawBroken, Refused

__all__ = ["guests"]


def guests(source: Any, target: Any, kind: str, document: Any) -> None:
    """A block of a provider that a format keeps crosses to an API as the same block of the provider itself does."""
    request = laws.decode(source, kind, document)
    found = [content for message in request.messages for content in message.contents if guest_api(content)]
    apis = {guest_api(content) for content in found}
    if len(apis) != 1 or target.api in apis:
        raise Refused("the document has no guests, or some of the target or of several providers")
    provider = contentmodel.adapter(str(apis.pop()))
    kept = _conversation(found, request.origin)
    own = [_own(content, provider.api, source.api) for content in found]
    origin = Origin(api=provider.api, issuer=provider.issuer)
    expected = laws.encode(target, kind, _conversation(own, origin)).payload
    changed = difference(expected, laws.encode(target, kind, kept).payload)
    if changed is not None:
        raise LawBroken("guests", *changed)


def _conversation(contents: list[Any], origin: Origin | None) -> ChatRequest:
    user = ChatMessage(role="user", contents=[TextContent(text="Go on.")], origin=origin)
    turn = ChatMessage(role="assistant", contents=contents, origin=origin)
    return ChatRequest(model="m", messages=[user, turn, user], origin=origin)


def _own(content: Any, provider: str, source: str) -> Any:
    """Return a guest as the content that the provider's table decodes."""
    extra = {api: fields for api, fields in content.extra.items() if api != source}
    extra[provider] = {name: value for name, value in extra[provider].items() if name != GUEST.key}
    return replace(content, extra=extra)
