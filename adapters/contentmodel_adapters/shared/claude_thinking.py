"""The display of Claude's thinking, which requests have at Anthropic and at Bedrock."""

from __future__ import annotations

from contentmodel.authoring import EncodeContext
from contentmodel.request import ChatRequest
from contentmodel_adapters.shared.paths import at, put, without

PLACES = {
    "anthropic-messages": "thinking.display",
    "bedrock-converse": "additionalModelRequestFields.thinking.display",
}
_THINKS = ("adaptive", "enabled")


def with_display_of_claude(request: ChatRequest, context: EncodeContext, other: str) -> ChatRequest:
    """Return a request with the display of thinking of the API `other`, if the target is a Claude that thinks."""
    extra = request.extra or {}
    display = at(extra.get(other, {}), PLACES[other])
    mode = request.options.reasoning and request.options.reasoning.mode
    if display is None or mode not in _THINKS or "claude" not in (context.known.model or "").lower():
        return request
    own = put(extra.get(context.api, {}), PLACES[context.api], display)
    left = without(extra[other], PLACES[other])
    changed: ChatRequest = context.replace(request, extra={**extra, other: left, context.api: own})
    return changed
