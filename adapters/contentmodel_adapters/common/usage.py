"""Usage in formats of OpenAI, and in formats that keep the usage of any API."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import DecodeContext, EncodeContext, Group, Record, counted_usage
from contentmodel.usage import Usage


class ReasoningInside(Group):
    """Decides if the output tokens of OpenAI's formats include those of reasoning.

    They do, unless the total shows otherwise: xAI counts reasoning beside `completion_tokens` (26 of them, 255 of
    reasoning, 307 of input and 588 in total; answer of grok-3-mini, seen 2026-11-22). So does Perplexity, which has its
    counter beside the others and not in the total: there, more reasoning than output is not inside.
    """

    attribute = "reasoning_inside"

    def __init__(self, input_tokens: str, output_tokens: str) -> None:
        self._fields = input_tokens, output_tokens
        self._details = f"{output_tokens}_details"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> bool:
        details = wire.get(self._details)
        beside = wire.get("reasoning_tokens")
        reasoning = details.get("reasoning_tokens", beside) if details.__class__ is dict else beside
        counts: list[Any] = [*(wire.get(field) for field in self._fields), reasoning]
        if not reasoning or not all(count.__class__ is int for count in counts):
            return True
        is_more = reasoning is beside and reasoning > counts[1]
        return bool(not is_more and wire.get("total_tokens") != sum(counts))

    def encode(self, value: Any, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        """Write nothing: the counters show it."""


class UsageRecord(Record[Usage]):
    """The usage of a stored response, which counts cached tokens as input and reasoning as output."""

    def encode(self, value: Usage, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        if not value.cached_inside or not value.reasoning_inside or value.tool_input_tokens:
            value = counted_usage(value, context, cached_inside=True, reasoning_inside=True)
        return super().encode(value, context, owner)
