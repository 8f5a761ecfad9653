"""The adapter of Ollama's own chat API, /api/chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    LINES,
    DecodeContext,
    HttpApi,
    HttpMethod,
    Row,
    StateField,
    TableAdapter,
    list_of,
    object_of,
    objects_of,
)
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.schema_adaptation import restored_arguments
from contentmodel_adapters.ollama.fit import (
    ANSWER_STEPS,
    REQUEST_PAYLOAD_STEPS,
    REQUEST_STEPS,
    RESPONSE_PAYLOAD_STEPS,
)
from contentmodel_adapters.ollama.rules import RULES
from contentmodel_adapters.ollama.stream import Decoder, Encoder
from contentmodel_adapters.ollama.table import ANSWER, API, FINISH, REQUEST, RESPONSE, TABLE, id_of_answer, read_stream

HTTP = HttpApi(
    base_url="http://127.0.0.1:11434",
    generate=HttpMethod(path="/api/chat", routes=("/api/chat",)),
    key_variables=("OLLAMA_API_KEY",),
    streams_by_default=True,
    # The clients parse each line as JSON, which may begin with spaces (_client.py of ollama 0.6.3). They read no blank
    # lines and no comments.
    keep_alive=b" ",
    comments=False,
    state=StateField(kind=None),
)
"""The HTTP interface (docs.ollama.com/api/chat and .../api/authentication, seen 2026-11-23)."""


class OllamaChat(TableAdapter):
    """The adapter of /api/chat: requests, answers, streams and errors."""

    finish = FINISH
    api = API
    issuer = "ollama"
    has_lane = True
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    also_takes = {"stop": (str,), "keep_alive": (int, float, str)}
    restores_custom_calls = True
    response = RESPONSE
    answer = ANSWER
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    http = HTTP
    stream_format = LINES
    structure = frozenset({"think"})
    meaningless = {
        "content": "",
        "thinking": "",
        "format": "",
        "done": None,
        **dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")),
    }
    request_steps = REQUEST_STEPS
    request_payload_steps = REQUEST_PAYLOAD_STEPS
    answer_steps = ANSWER_STEPS
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        context.answer_id = id_of_answer(wire) if row is RESPONSE else None
        value = super()._decode_row(row, wire, context)
        return read_stream(value, wire) if isinstance(value, ChatRequest) else value

    def expanded(self, payload: Any) -> Any:
        """Return a payload with the format "json" as a `type`, for audits: other APIs spell this type differently."""
        if not isinstance(payload, dict) or payload.get("format") != "json":
            return payload
        rest = {key: value for key, value in payload.items() if key != "format"}
        return {**rest, "response_format": {"type": "json"}}

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload of this API that it may be, each with a confidence.

        Requests look like those of Chat Completions. Only fields that are specific to Ollama give a high confidence.
        """
        if isinstance(payload.get("message"), dict) and isinstance(payload.get("done"), bool):
            return {"response" if payload["done"] else "stream": 1.0}
        if isinstance(payload.get("error"), str) and "code" not in payload:
            return {"response": 0.6, "stream": 0.6}
        if not isinstance(payload.get("messages"), list):
            return {}
        is_own = any(key in payload for key in ("options", "keep_alive", "think", "format", "truncate", "shift"))
        calls = (call for message in objects_of(payload, "messages") for call in objects_of(message, "tool_calls"))
        has_objects = any(isinstance(object_of(call, "function").get("arguments"), dict) for call in calls)
        is_own = is_own or has_objects or any(map(_is_own, objects_of(payload, "messages")))
        return {"request": 0.95 if is_own else 0.3}


def _is_own(message: dict[str, Any]) -> bool:
    """Return whether a message has a field of Ollama. Its images are base64; hosts of Chat Completions have objects."""
    return "tool_name" in message or any(isinstance(image, str) for image in list_of(message, "images"))


adapter = OllamaChat()
