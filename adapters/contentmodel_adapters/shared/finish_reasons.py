"""The normalized finish reasons of the values of providers, for formats that store these values."""

from __future__ import annotations

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
