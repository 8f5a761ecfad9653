"""Token counts of one API in the way another counts them."""

from __future__ import annotations

import msgspec

from contentmodel.authoring import EncodeContext, reasons
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage


def counted(
    response: ChatResponse, context: EncodeContext, *, cached_inside: bool, reasoning_inside: bool
) -> ChatResponse:
    """The response with its usage counted as the target counts; every number that changes is reported."""
    usage = response.usage
    if usage is None or context.native:
        return response
    changed: dict[str, int | bool] = {"cached_inside": cached_inside, "reasoning_inside": reasoning_inside}
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    if usage.input_tokens is not None and cached and usage.cached_inside != cached_inside:
        changed["input_tokens"] = usage.input_tokens + (cached if cached_inside else -cached)
    reasoning = usage.reasoning_tokens or 0
    if usage.output_tokens is not None and reasoning and usage.reasoning_inside != reasoning_inside:
        changed["output_tokens"] = usage.output_tokens + (reasoning if reasoning_inside else -reasoning)
    for name in ("input_tokens", "output_tokens"):
        if name in changed:
            context.lose(usage, name, reasons.TOKENS_COUNTED)
    counted_usage: Usage = msgspec.structs.replace(usage, **changed)
    context.replaced(usage, counted_usage)
    return msgspec.structs.replace(response, usage=counted_usage)
