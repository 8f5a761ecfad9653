"""Convert the token counts of one API to the way another counts them."""

from __future__ import annotations

import msgspec

from contentmodel.engine.context import EncodeContext
from contentmodel.engine.losses import reasons
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage


def counted(
    response: ChatResponse,
    context: EncodeContext,
    *,
    cached_inside: bool,
    reasoning_inside: bool,
    tools_inside: bool = True,
) -> ChatResponse:
    """Return the response with its usage counted as the target counts; report every number that changes.

    `tools_inside`: the target counts the output of hosted tools as input, and has no separate counter for it.
    """
    usage = response.usage
    if usage is None or context.native:
        return response
    made = counted_usage(
        usage, context, cached_inside=cached_inside, reasoning_inside=reasoning_inside, tools_inside=tools_inside
    )
    return msgspec.structs.replace(response, usage=made)


def counted_usage(
    usage: Usage, context: EncodeContext, *, cached_inside: bool, reasoning_inside: bool, tools_inside: bool = True
) -> Usage:
    """Return the usage of another API, counted as the target counts; report every number that changes."""
    changed: dict[str, int | bool | None] = {"cached_inside": cached_inside, "reasoning_inside": reasoning_inside}
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    reasoning = usage.reasoning_tokens or 0
    of_tools = (usage.tool_input_tokens or 0) if tools_inside else 0
    more_input = of_tools + (_moved(cached, usage.cached_inside, cached_inside) if cached else 0)
    more_output = _moved(reasoning, usage.reasoning_inside, reasoning_inside) if reasoning else 0
    # A missing counter is zero if others are added to it (generateContent omits zeros).
    if more_input and (usage.input_tokens is not None or cached_inside or of_tools):
        changed["input_tokens"] = (usage.input_tokens or 0) + more_input
    if more_output and (usage.output_tokens is not None or reasoning_inside):
        changed["output_tokens"] = (usage.output_tokens or 0) + more_output
    if of_tools:
        changed["tool_input_tokens"] = None
    for name in ("input_tokens", "output_tokens", "tool_input_tokens"):
        if name in changed and getattr(usage, name) is not None:
            context.report_loss(usage, name, reasons.TOKEN_COUNTER_DIFFERS)
    made: Usage = msgspec.structs.replace(usage, **changed)
    return context.replaced(usage, made)


def _moved(tokens: int, were_inside: bool, are_inside: bool) -> int:
    """Return the change of a counter if some tokens are newly included in it, or no longer."""
    return 0 if were_inside == are_inside else tokens if are_inside else -tokens
