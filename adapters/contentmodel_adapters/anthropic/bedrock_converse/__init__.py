"""The adapter of Amazon Bedrock's Converse and ConverseStream."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from contentmodel.authoring import (
    EVENT_STREAM,
    DecodeContext,
    EncodeContext,
    Host,
    HttpApi,
    HttpMethod,
    Row,
    StateField,
    TableAdapter,
    object_of,
    object_or_text,
    objects_of,
    with_custom_calls,
)
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.anthropic.aws_errors import ERRORS, OF_HOLDERS, holder_of, is_error
from contentmodel_adapters.anthropic.bedrock_converse.fit import (
    ANSWER_STEPS,
    PAYLOAD_STEPS,
    REQUEST_STEPS,
    RESPONSE_PAYLOAD_STEPS,
    RESPONSE_STEPS,
    without_fields_of_model,
)
from contentmodel_adapters.anthropic.bedrock_converse.response import FINISH, RESPONSE, encode_blocks
from contentmodel_adapters.anthropic.bedrock_converse.rules import RULES
from contentmodel_adapters.anthropic.bedrock_converse.stream import EVENTS, Decoder, Encoder
from contentmodel_adapters.anthropic.bedrock_converse.table import (
    API,
    FORMATS,
    ISSUER,
    OF_MODEL,
    REQUEST,
    TABLE,
    is_of_prompt,
    maker_of,
    require_messages,
)
from contentmodel_adapters.anthropic.shared import counts_of
from contentmodel_adapters.common.schema_adaptation import restored_arguments


# The HTTP interface of Converse (docs.aws.amazon.com/bedrock/latest/APIReference, seen 2026-11-23).
def _method(verb: str) -> HttpMethod:
    return HttpMethod(path=f"/model/{{model}}/{verb}", routes=(f"/model/{{model:path}}/{verb}",))


HTTP = HttpApi(
    base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
    generate=_method("converse"),
    stream=_method("converse-stream"),
    # An API key of Bedrock. Signatures of requests (SigV4) are made by the SDKs only.
    key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    request_id="x-amzn-requestid",
    path_field="modelId",
    keep_alive=b"",
    comments=False,
    state=StateField(kind="signature"),
)


class BedrockConverse(TableAdapter):
    """The adapter of Converse: requests, answers and streams. The issuer of signatures is the maker of the model."""

    api = API
    issuer = ISSUER
    has_lane = True
    model_field = "modelId"
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    conversation = "messages"
    takes_json = True
    errors = ERRORS
    finish = FINISH
    http = HTTP
    stream_format = EVENT_STREAM
    meaningless = {
        "type": ("tool_use", "text"),
        "toolUse": {"type": "tool_use"},
        "toolResult": {"content": []},
        "inferenceConfig": {},
        OF_MODEL: {},
        # Two of the counters have two names.
        **dict.fromkeys(("cacheReadInputTokenCount", "cacheWriteInputTokenCount")),
        **dict.fromkeys(("metrics", "p")),
        **OF_HOLDERS,
    }
    structure = frozenset({"maxReasoningEffort"})
    request_steps = REQUEST_STEPS
    request_payload_steps = PAYLOAD_STEPS
    answer_steps = ANSWER_STEPS
    token_counts = {"cached_inside": False, "reasoning_inside": True}
    response_steps = RESPONSE_STEPS
    response_payload_steps = RESPONSE_PAYLOAD_STEPS

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        """Return the issuer of the model's state: a host of models of several makers."""
        maker = maker_of(model)
        return Host(issuers=frozenset({maker} if maker else ()))

    def origin_of(self, payload: Mapping[str, object]) -> Origin:
        origin = super().origin_of(payload)
        if origin.model is not None:
            return origin
        router = object_of(object_of(payload, "trace"), "promptRouter")
        invoked = router.get("invokedModelId")
        return Origin(api=API, issuer=ISSUER, model=invoked if isinstance(invoked, str) else None)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        if row is REQUEST:
            require_messages(wire, context)
        decode = partial(super()._decode_row, row, context=context)
        value = without_fields_of_model(wire, context, decode) if row is REQUEST else decode(wire)
        return with_custom_calls(value, context) if isinstance(value, ChatRequest) else value

    def expanded(self, payload: Any) -> Any:
        """Return a payload with media types in place of formats, flags of failed results, and counters, for audits."""
        if isinstance(payload, list):
            return [self.expanded(item) for item in payload]
        if not isinstance(payload, dict):
            return payload
        changed: dict[str, Any] = (
            {"status": True} if "toolUseId" in payload and payload.get("status") == "error" else {}
        )
        tier = object_of(payload, "serviceTier")
        if tier.keys() == {"type"}:
            # Audits count neither a `type` nor its members: the value is inside one of them.
            changed["serviceTier"] = {"type": {"tier": {"name": tier["type"]}}}
        if "cacheDetails" in payload:
            changed["cacheDetails"] = counts_of(payload["cacheDetails"]) or payload["cacheDetails"]
        if isinstance(payload.get("schema"), str):
            # The schema of an answer is a JSON text: a loss has the path of a keyword in it.
            changed["schema"] = object_or_text(payload["schema"])
        return {k: _with_media_type(k, v) or self.expanded(v) for k, v in payload.items()} | changed

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
        return encode_blocks(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the messages are of this API: high if their blocks have no type.

        A message has a role and blocks, and nothing else. Newer versions may have more fields or more blocks. Messages
        with other fields and other blocks are of another format.
        """
        if not self.have_roles(items) or not {"user", "assistant", "system"}.issuperset(i["role"] for i in items):
            return 0.0
        has_other_fields = any(item.keys() - {"role", "content"} for item in items)
        own_count, has_other = sum(map(_has_own_blocks, items)), any(map(_has_only_other_blocks, items))
        return 0.95 if own_count and not (has_other and has_other_fields) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence."""
        if "contentBlockIndex" in payload or _is_event(payload):
            return {"stream": 1.0}
        if isinstance(payload.get("output"), dict) and ("stopReason" in payload or "message" in payload["output"]):
            return {"response": 1.0}
        kind = payload.get("__type")
        if (isinstance(kind, str) and kind.endswith("Exception")) or holder_of(payload) is not None:
            return {"response": 0.9}
        if is_of_prompt(payload) and "messages" not in payload:
            return {"request": 1.0}
        messages = payload.get("messages")
        if isinstance(messages, list):
            named = "modelId" in payload and all(isinstance(item, dict) and "content" in item for item in messages)
            has_untyped = any("type" not in block for block in objects_of(payload, "system"))
            if named or has_untyped or not OWN_FIELDS.isdisjoint(payload):
                return {"request": 1.0}
            if self.recognises_list(messages):
                return {"request": 0.95}
        return {"response": 0.1} if len(payload) == 1 and is_error(payload) else {}


OWN_FIELDS = frozenset(
    (
        *("additionalModelRequestFields", "guardrailConfig", "inferenceConfig", "outputConfig", "performanceConfig"),
        *("promptVariables", "requestMetadata", "toolConfig"),
    )
)
"""Fields of requests that other APIs with messages do not have."""


def _is_event(payload: dict[str, Any]) -> bool:
    """Return whether a payload is the end of a stream, or an event as the SDKs have it: its name is the only key."""
    if len(payload) == 1 and payload.keys() <= EVENTS:
        return isinstance(payload.get("metadata", {}), dict) and payload.get("metadata") != {}
    return "stopReason" in payload and payload.keys() <= {"stopReason", "additionalModelResponseFields", "p"}


def _with_media_type(key: str, medium: Any) -> dict[str, Any] | None:
    """Return an image, a document, a video or audio with its media type; None for any other value.

    The format of a document of parts stays as it is: it is residue.
    """
    is_medium = key in FORMATS and isinstance(medium, dict) and "content" not in object_of(medium, "source")
    value = medium.get("format") if is_medium else None
    media_type = FORMATS[key].get(value) if isinstance(value, str) else None
    return None if media_type is None else {**medium, "format": media_type}


def _has_own_blocks(message: Any) -> bool:
    """Return whether a message has blocks without a type, with a key of this API."""
    content = message.get("content") if isinstance(message, dict) else None
    items = content if isinstance(content, list) else []
    return any(isinstance(item, dict) and "type" not in item and item.keys() & _KEYS for item in items)


def _has_only_other_blocks(message: Any) -> bool:
    """Return whether a message has blocks, and none is of this API."""
    return bool(objects_of(message, "content")) and not _has_own_blocks(message)


_KEYS = frozenset(
    {*FORMATS, "text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "guardContent", "cachePoint"}
)
adapter = BedrockConverse()
