"""A request and an answer of /api/chat with most features of the format (docs.ollama.com/api/chat, seen 2026-11-23)."""

from __future__ import annotations

from typing import Any

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}},
    },
}


def call(city: str, **more: Any) -> dict[str, Any]:
    """Return a call without an id."""
    return {"function": {"name": "get_weather", "arguments": {"city": city}, **more}}


REQUEST: dict[str, Any] = {
    "model": "qwen3",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is the weather in the city on this picture, and in Rome?", "images": [PNG]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "The picture shows Paris.",
            "tool_calls": [call("Paris", index=0), call("Rome", index=1)],
        },
        {"role": "tool", "content": "11 degrees", "tool_name": "get_weather"},
        {"role": "tool", "content": "22 degrees", "tool_name": "get_weather"},
        {"role": "assistant", "content": "11 degrees in Paris, 22 in Rome."},
        {"role": "user", "content": "Thanks."},
    ],
    "tools": [TOOL],
    "think": "low",
    "format": {"type": "object", "properties": {"degrees": {"type": "integer"}}},
    "keep_alive": "5m",
    "options": {"num_ctx": 8192, "num_predict": 100, "temperature": 0.5, "seed": 7, "stop": ["END"]},
    "logprobs": True,
    "top_logprobs": 2,
    "stream": False,
}
ANSWER: dict[str, Any] = {
    "model": "qwen3",
    "created_at": "2026-11-23T10:00:00.123456789Z",
    "message": {
        "role": "assistant",
        "content": "Let me look.",
        "thinking": "Two cities.",
        "tool_calls": [call("Paris"), call("Rome")],
    },
    "done": True,
    "done_reason": "stop",
    "total_duration": 6037504209,
    "load_duration": 28126292,
    "prompt_eval_count": 44,
    "prompt_eval_duration": 182953000,
    "eval_count": 113,
    "eval_duration": 5825102000,
    "logprobs": [{"token": "Let", "logprob": -0.25, "bytes": [76, 101, 116], "top_logprobs": []}],
}
