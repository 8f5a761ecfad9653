"""The normalized finish reasons of the values of providers, for formats that store these values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import EncodeContext, FinishReasons
from contentmodel.message import FinishReason


class PairedFinishReasons(FinishReasons):
    """Finish reasons of an API, of which some have the same meaning as values of other APIs (`paired`).

    A normalized reason may be coarser than both.
    """

    def __init__(self, *args: Any, paired: Mapping[Any, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._paired = paired

    def encode(self, value: FinishReason, context: EncodeContext, owner: Any) -> str | int | None:
        raw = None if context.native or value.raw is None else self._paired.get(value.raw)
        if raw is None or self.reasons[raw] != value.reason or value.stop_sequence is not None:
            return super().encode(value, context, owner)
        return raw


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
