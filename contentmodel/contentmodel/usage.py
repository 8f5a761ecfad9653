"""Normalized token counts. The provider's own counters are kept unchanged in `extra`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

import msgspec

from contentmodel.interop import Model


class Usage(Model, frozen=True, kw_only=True):
    """Tokens of one response, as the API counted them. None means unset.

    `all_input_tokens` and `all_output_tokens` are totals that are comparable between APIs.
    """

    input_tokens: int | None = None
    """Tokens of the input."""
    output_tokens: int | None = None
    """Tokens of the output."""
    total_tokens: int | None = None
    """The total that the API reports."""
    cache_read_tokens: int | None = None
    """Input tokens that were read from a cache."""
    cache_write_tokens: int | None = None
    """Input tokens that were written to a cache."""
    reasoning_tokens: int | None = None
    """Tokens of reasoning."""
    input_audio_tokens: int | None = None
    """Input tokens of audio."""
    output_audio_tokens: int | None = None
    """Output tokens of audio."""
    tool_input_tokens: int | None = None
    """Input tokens of the results of hosted tools."""
    accepted_prediction_tokens: int | None = None
    """Tokens of a predicted output that the response has."""
    rejected_prediction_tokens: int | None = None
    """Tokens of a predicted output that the response does not have."""
    cached_inside: bool = True
    """True if `input_tokens` includes the cached tokens (OpenAI, Google), False if it does not (Anthropic)."""
    reasoning_inside: bool = True
    """True if `output_tokens` includes `reasoning_tokens`, False if it does not (Google)."""
    extra: dict[str, dict[str, Any]] | None = None
    """The provider's own counters and hints, by API id."""

    def __add__(self, other: Usage) -> Usage:
        """Add two usages. A counter that is unset in both stays None. Drop `extra`, the provider's own counters."""
        mine, theirs = (self, other) if self._counts_as(other) else (self._beside(), other._beside())
        sums: dict[str, Any] = {name: _sum(getattr(mine, name), getattr(theirs, name)) for name in COUNTERS}
        return Usage(**sums, cached_inside=mine.cached_inside, reasoning_inside=mine.reasoning_inside)

    def _counts_as(self, other: Usage) -> bool:
        return (self.cached_inside, self.reasoning_inside) == (other.cached_inside, other.reasoning_inside)

    def _beside(self) -> Usage:
        """Return the same tokens with cached and reasoning tokens counted separately."""
        cached = (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0) if self.cached_inside else 0
        thought = (self.reasoning_tokens or 0) if self.reasoning_inside else 0
        return msgspec.structs.replace(
            self,
            input_tokens=None if self.input_tokens is None else self.input_tokens - cached,
            output_tokens=None if self.output_tokens is None else self.output_tokens - thought,
            cached_inside=False,
            reasoning_inside=False,
        )

    @property
    def all_input_tokens(self) -> int:
        """The total of input tokens: uncached, read from a cache, written to a cache, and of tool results."""
        tokens = (self.input_tokens or 0) + (self.tool_input_tokens or 0)
        if not self.cached_inside:
            tokens += (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0)
        return tokens

    @property
    def all_output_tokens(self) -> int:
        """The total of output tokens, including reasoning."""
        return (self.output_tokens or 0) + (0 if self.reasoning_inside else self.reasoning_tokens or 0)


def total_of(usages: Iterable[Usage | None]) -> Usage | None:
    """Return the sum of usages; None if there are none. Those of one answer alone keep the provider's counters."""
    counted = [usage for usage in usages if usage is not None]
    return reduce(add, counted) if counted else None


COUNTERS = tuple(name for name in Usage.__struct_fields__ if name.endswith("_tokens"))
"""The fields that count tokens."""


def _sum(one: int | None, other: int | None) -> int | None:
    return (one or 0) + (other or 0) if one is not None or other is not None else None
