"""Convert the token counts of one API to the way another counts them."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.authoring import DecodeContext, EncodeContext, Group, Record, reasons
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage


class ReasoningInside(Group):
    """Decides if the output tokens of OpenAI's formats include those of reasoning.

    They do, unless the total shows otherwise: xAI counts reasoning beside `completion_tokens` (26 of them, 255 of
    reasoning, 307 of input and 588 in total; answer of grok-3-mini, seen 2026-11-22).
    """

    attribute = "reasoning_inside"

    def __init__(self, input_tokens: str, output_tokens: str) -> None:
        self._fields = input_tokens, output_tokens
        self._details = f"{output_tokens}_details"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> bool:
        details = wire.get(self._details)
        reasoning = details.get("reasoning_tokens") if details.__class__ is dict else None
        counts: list[Any] = [*(wire.get(field) for field in self._fields), reasoning]
        if not reasoning or not all(count.__class__ is int for count in counts):
            return True
        return bool(wire.get("total_tokens") != sum(counts))

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        """Write nothing: the counters show it."""


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
    more_input = of_tools + _moved(cached, usage.cached_inside, cached_inside)
    more_output = _moved(reasoning, usage.reasoning_inside, reasoning_inside)
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


class UsageRecord(Record[Usage]):
    """The usage of a stored response, which counts cached tokens as input and reasoning as output."""

    def encode(self, value: Usage, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        if not value.cached_inside or not value.reasoning_inside or value.tool_input_tokens:
            value = counted_usage(value, context, cached_inside=True, reasoning_inside=True)
        return super().encode(value, context, owner)


def _moved(tokens: int, were_inside: bool, are_inside: bool) -> int:
    """Return the change of a counter if some tokens are newly included in it, or no longer."""
    return 0 if were_inside == are_inside else tokens if are_inside else -tokens
