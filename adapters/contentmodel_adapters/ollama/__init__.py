"""The adapter of Ollama's own chat API, /api/chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    LINES,
    Blocks,
    DecodeContext,
    EncodeContext,
    Hint,
    Kinds,
    Row,
    TableAdapter,
    WholeNumber,
    list_of,
    media,
    message_pass,
    object_of,
    objects_of,
    passes,
    payload_pass,
    place_instructions,
    request_pass,
    same_options,
    settings,
    with_custom_calls,
    with_date,
    with_fitting_calls,
    with_known_tools,
    with_normalized_texts,
    without_user_messages,
)
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.schema_adaptation import UNENFORCED, restored_arguments, with_fitting_schemas
from contentmodel_adapters.ollama.blocks import API, TABLE
from contentmodel_adapters.ollama.http import HTTP
from contentmodel_adapters.ollama.messages import ANSWER, MESSAGES
from contentmodel_adapters.ollama.response import FINISH, RESPONSE, id_of_answer
from contentmodel_adapters.ollama.rules import CALL_IDS, RULES, TOOL_NAMES
from contentmodel_adapters.ollama.stream import Decoder
from contentmodel_adapters.ollama.stream_encoder import Encoder
from contentmodel_adapters.ollama.tools import TOOLS, Format, Limit, Think

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "messages": ("messages", MESSAGES),
        "tools": ("tools", Blocks(TOOLS)),
        **same_options("stream", "logprobs", "top_logprobs"),
        "format": ("options.response_format", Format()),
        "think": ("options.reasoning", Think()),
        "options.num_predict": ("options.max_output_tokens", Limit()),
        **same_options("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", at="options."),
        "options.top_k": ("options.top_k", WholeNumber("options.top_k")),
        "options.stop": "options.stop_sequences",
    },
)
TABLE.keep("request", "keep_alive", "truncate", "shift")
TABLE.keep(
    "options",
    *("num_ctx", "num_keep", "num_batch", "num_gpu", "main_gpu", "num_thread", "use_mmap", "use_mlock", "low_vram"),
    *("min_p", "tfs_z", "typical_p", "repeat_last_n", "repeat_penalty", "penalize_newline", "draft_num_predict"),
    *("mirostat", "mirostat_tau", "mirostat_eta", "numa", "f16_kv", "logits_all", "vocab_only", "embedding_only"),
)
THINKING = settings.Form(off={"mode": "disabled"}, auto={"mode": "adaptive"})
READS = media.MediaSupport(media_types=("image/*",), links=(), texts=True, in_answers=True)
STREAMED = Hint[dict[str, Any]](API, "stream", "the field `stream` of a request that streams by default")


def read_stream(request: ChatRequest, wire: dict[str, Any]) -> ChatRequest:
    """Return a request with `stream` set. The API streams unless `stream` is false."""
    if wire.get("stream") is not None:
        return request
    own = {key: value for key, value in (request.extra or {}).get(API, {}).items() if key != "stream"}
    own |= STREAMED.entry({"stream": None} if "stream" in wire else {})
    options = msgspec.structs.replace(request.options, stream=True)
    return msgspec.structs.replace(request, options=options, extra={**(request.extra or {}), API: own})


def with_stream(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with `stream` set, unless its source relied on the API's default."""
    streamed = STREAMED.read((request.extra or {}).get(API, {}))
    if streamed is not None and request.options.stream is True:
        return {**{key: value for key, value in payload.items() if key != "stream"}, **streamed}
    return {"stream": False, **payload}


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API always sends."""
    if response.error is not None and not response.choices:
        context.report_lost_attributes(response, ("model", "created", "usage"))
        return {"error": payload["error"]}
    payload = with_date(payload, "created_at", response, context)
    return {"model": "", "message": {"role": "assistant", "content": ""}, **payload, "done": True}


class OllamaChat(TableAdapter):
    """The adapter of /api/chat: requests, answers, streams and errors."""

    finish = FINISH
    api = API
    issuer = "ollama"
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    also_takes = {"stop": (str,), "keep_alive": (int, float, str)}
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
    request_passes = (
        request_pass(settings.with_fitting_settings, native=True, form=THINKING),
        request_pass(with_known_tools, native=True, kinds=Kinds()),
        request_pass(place_instructions, native=True),
        *passes.NORMALIZE,
        *media.with_readable_media(READS),
        request_pass(passes.with_a_turn),
        request_pass(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES),
        request_pass(with_fitting_schemas, dialects=UNENFORCED),
        message_pass(passes.with_names_of_results),
    )
    request_payload_passes = (payload_pass(passes.with_model), payload_pass(with_stream, native=True))
    answer_passes = (message_pass(without_user_messages), message_pass(with_normalized_texts, native=True))
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_passes = (payload_pass(completed),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        context.answer_id = id_of_answer(wire) if row is RESPONSE else None
        value = super()._decode_row(row, wire, context)
        return with_custom_calls(read_stream(value, wire), context) if isinstance(value, ChatRequest) else value

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
        own = any(key in payload for key in ("options", "keep_alive", "think", "format", "truncate", "shift"))
        calls = (call for message in objects_of(payload, "messages") for call in objects_of(message, "tool_calls"))
        has_objects = any(isinstance(object_of(call, "function").get("arguments"), dict) for call in calls)
        own = own or has_objects or any(map(_is_own, objects_of(payload, "messages")))
        return {"request": 0.95 if own else 0.3}


def _is_own(message: dict[str, Any]) -> bool:
    """Return whether a message has a field of Ollama. Its images are base64; hosts of Chat Completions have objects."""
    return "tool_name" in message or any(isinstance(image, str) for image in list_of(message, "images"))


adapter = OllamaChat()
