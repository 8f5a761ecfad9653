"""The normalized finish reasons of the values of providers, for formats that store these values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import FinishReasons


class PairedFinishReasons(FinishReasons):
    """Finish reasons of an API, of which some have the same meaning as values of other APIs (`paired`).

    A normalized reason may be coarser than both.
    """

    def __init__(self, *args: Any, paired: Mapping[Any, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._paired = paired

    def same_value(self, raw: str | int, reason: str) -> str | int | None:
        paired = self._paired.get(raw)
        return paired if paired is not None and self.reasons[paired] == reason else super().same_value(raw, reason)


MALFORMED = {"MALFORMED_FUNCTION_CALL": "malformed_tool_use", "MALFORMED_RESPONSE": "malformed_model_output"}
"""The values of Gemini and of Converse for a call, or an answer, that cannot be read.

Sources: google-genai 3.4 (FinishReason) and botocore 1.43.117 (StopReason), seen 2026-11-27.
"""

OF_GEMINI: dict[str | int, str] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
}
OF_PROVIDERS: dict[str | int, str] = {
    **OF_GEMINI,
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "COMPLETE"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "content_filtered"), "content_filter"),
    "refusal": "refusal",
    "pause_turn": "pause",
    "compaction": "compaction",
    "error": "error",
}
MORE_THAN_THEIR_REASON = frozenset({"stop_sequence", "model_length", "RECITATION", "function_call"})
"""The values of `OF_PROVIDERS` that say more than their normalized reason."""
