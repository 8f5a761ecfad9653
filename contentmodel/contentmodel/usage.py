"""Token counts, normalised. The provider's own counters stay in the residue to the letter."""

from __future__ import annotations

from typing import Any

from contentmodel.interop import Model


class Usage(Model, frozen=True, kw_only=True):
    """Tokens of one answer, as the API counted them; None is "not said".

    `cached_inside` says whether `input_tokens` already holds the cached ones (OpenAI, Google) or they stand beside
    it (Anthropic); `reasoning_inside` the same for `output_tokens` and `reasoning_tokens` (False for Google).
    `all_input_tokens` and `all_output_tokens` are the same sum for every API.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    input_audio_tokens: int | None = None
    output_audio_tokens: int | None = None
    tool_input_tokens: int | None = None
    accepted_prediction_tokens: int | None = None
    rejected_prediction_tokens: int | None = None
    cached_inside: bool = True
    reasoning_inside: bool = True
    extra: dict[str, dict[str, Any]] | None = None

    @property
    def all_input_tokens(self) -> int:
        """Every token that went in: fresh, read from a cache, written to a cache, and of tool results."""
        tokens = (self.input_tokens or 0) + (self.tool_input_tokens or 0)
        if not self.cached_inside:
            tokens += (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0)
        return tokens

    @property
    def all_output_tokens(self) -> int:
        """Every token that came out, thoughts included."""
        return (self.output_tokens or 0) + (0 if self.reasoning_inside else self.reasoning_tokens or 0)
