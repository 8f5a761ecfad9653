"""The adapter of Gemini's generateContent, on the Developer API and on Vertex AI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    Host,
    HttpApi,
    HttpMethod,
    Row,
    StateField,
    TableAdapter,
    TokenCounting,
    number_of,
    objects_of,
    with_custom_calls,
)
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.reasoning import ISSUER, SKIP
from contentmodel_adapters.common.schema_adaptation import restored_arguments
from contentmodel_adapters.google.generate_content.fit import (
    ANSWER_STEPS,
    HOST_STEPS,
    PAYLOAD_STEPS,
    REQUEST_STEPS,
    RESPONSE_PAYLOAD_STEPS,
    RESPONSE_STEPS,
)
from contentmodel_adapters.google.generate_content.response import (
    ERRORS,
    FINISH,
    RESPONSE,
    encode_answer,
    with_block_reason,
)
from contentmodel_adapters.google.generate_content.rules import DIALECTS, INVOCATIONS, RULES, host_of
from contentmodel_adapters.google.generate_content.stream import Decoder, Encoder
from contentmodel_adapters.google.generate_content.table import API, TABLE, id_of_answer
from contentmodel_adapters.google.generate_content.tools import REQUEST, tools_of_member, with_format_kind, with_level
from contentmodel_adapters.google.shared import with_strict_tools


# The HTTP interface of generateContent (ai.google.dev/api/generate-content and .../tokens, seen 2026-11-23).
def _method(verb: str, **query: str) -> HttpMethod:
    """Return a method of a model. The routes are those of the Developer API and of Vertex AI."""
    return HttpMethod(
        path=f"/v1beta/models/{{model}}:{verb}",
        routes=(f"/{{version}}/models/{{model}}:{verb}", f"/{{version}}/{{parent:path}}/models/{{model}}:{verb}"),
        query=query,
    )


HTTP = HttpApi(
    base_url="https://generativelanguage.googleapis.com",
    generate=_method("generateContent"),
    stream=_method("streamGenerateContent", alt="sse"),
    count=TokenCounting(method=_method("countTokens"), wraps="generateContentRequest", result="totalTokens"),
    key_header="x-goog-api-key",
    key_prefix="",
    key_query="key",
    # google-genai prefers the first one (google/genai/_api_client.py of 3.4, get_env_api_key).
    key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    retry_in_body=True,
    # google-genai reads a comment as JSON (_RawJsonLineBuffer in _api_client.py of 3.4), and ignores blank lines.
    keep_alive=b"\n",
    comments=False,
    # Gemini CLI sends back the signatures of calls, and no thoughts.
    state=StateField(kind="signature", on_calls=True, in_bytes=True),
)


class GoogleGenerateContent(TableAdapter):
    """The adapter of generateContent, requests and answers."""

    api = API
    issuer = ISSUER
    has_lane = True
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"contents": list}
    dialects = tuple(DIALECTS)
    # Other APIs report the calls of hosted tools anyway.
    meaningless = {"thoughtSignature": SKIP, "toolConfig": {INVOCATIONS: True}}
    takes_only = True
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    takes_json = True
    conversation = "contents"
    block_union = "part"
    errors = ERRORS
    finish = FINISH
    failure_message = "finishMessage"
    has_errors_in_lists = True
    http = HTTP
    request_steps = REQUEST_STEPS
    request_payload_steps = PAYLOAD_STEPS
    host_payload_steps = HOST_STEPS
    answer_steps = ANSWER_STEPS
    response_steps = RESPONSE_STEPS
    token_counts = {"cached_inside": True, "reasoning_inside": False, "tools_inside": False}
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        return host_of(policies)

    def accepts_value(self, name: str, value: Any, codec: Codec[Any]) -> bool:
        """Return whether a value is another spelling in the JSON form of protocol buffers, which the API reads.

        A number may be a string, an enum value its number, a list with one element that element
        (protobuf.dev/programming-guides/json, seen 2026-11-22). Roles have a separate rule; a schema is any JSON.
        """
        if name == "role" or name.endswith("JsonSchema"):
            return True
        if isinstance(value, str):
            names = codec.known_values or (codec.tagged[1] if codec.tagged is not None else ())
            return number_of(value, codec) is not None or value.lower() in {spelling.lower() for spelling in names}
        if isinstance(value, float):
            return number_of(value, codec) is not None
        return (value.__class__ is int and str in codec.classes) or (isinstance(value, dict) and list in codec.classes)

    def origin_of(self, payload: Mapping[str, Any]) -> Origin:
        model = payload.get("modelVersion", payload.get("model_version"))
        return Origin(api=API, issuer=self.issuer, model=model if isinstance(model, str) else None)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        context.answer_id = id_of_answer(wire) if row is RESPONSE else None
        value = super()._decode_row(row, wire, context)
        if isinstance(value, ChatResponse):
            return with_block_reason(value, wire, context)
        if not isinstance(value, ChatRequest):
            return value
        return with_custom_calls(with_strict_tools(with_level(with_format_kind(value), context), context), context)

    def tools_at(self, path: str, request: ChatRequest) -> list[tuple[Any, str | None]]:
        return [(tool, None) for tool in tools_of_member(path, request.tools)]

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> dict[str, Any]:
        return encode_answer(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the turns are of this API: its parts have no type."""
        if not items or not all(isinstance(item, dict) and "parts" in item for item in items):
            return 0.0
        return 0.1 if any("type" in part for item in items for part in objects_of(item, "parts")) else 0.9

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence.

        Only this API has `contents` and `candidates`.
        """
        if isinstance(payload.get("contents"), list | dict):
            return {"request": 1.0}
        if any(key in payload for key in ("candidates", "usageMetadata", "promptFeedback")):
            return {"response": 1.0, "stream": 0.9}
        error = payload.get("error")
        return (
            {"response": 0.9, "stream": 0.9} if isinstance(error, dict) and isinstance(error.get("status"), str) else {}
        )


adapter = GoogleGenerateContent()
