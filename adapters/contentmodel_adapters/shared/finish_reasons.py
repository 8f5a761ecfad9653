"""The normalized finish reasons of the values of providers, for formats that store these values."""

from __future__ import annotations

OF_PROVIDERS: dict[str | int, str] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "STOP", "COMPLETE"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length", "MAX_TOKENS"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "content_filtered", "SAFETY", "RECITATION"), "content_filter"),
    "refusal": "refusal",
    "pause_turn": "pause",
    "compaction": "compaction",
    "error": "error",
}
