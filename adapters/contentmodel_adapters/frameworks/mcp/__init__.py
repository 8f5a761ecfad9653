"""The adapter of MCP sampling: the parameters of `sampling/createMessage`, and its results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    DUMPERS,
    Blocks,
    DecodeContext,
    EncodeContext,
    IdentifierRule,
    Kinds,
    Row,
    TableAdapter,
    TextField,
    Verbatim,
    content_step,
    each_output,
    foreign,
    hoist_instructions,
    instructions_as_text,
    media,
    object_of,
    objects_of,
    payload_step,
    reasons,
    request_step,
    set_fields,
    transcript_step,
    with_fitting_calls,
    with_known_tools,
    with_normalized_texts,
    without_user_messages,
)
from contentmodel.content.media import UriContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.common import documents
from contentmodel_adapters.frameworks.mcp.blocks import API, CHOICE, CONTENT, PREFERRED, TABLE, TOOLS, Messages
from contentmodel_adapters.frameworks.mcp.response import ERRORS, RESPONSE, encode_content, with_error
from contentmodel_adapters.frameworks.mcp.rules import RULES

MAX_TOKENS = 4096
"""The limit that is sent if a request has none, because MCP requires one. The policy `output_limit` replaces it."""
NAMES = IdentifierRule("[a-zA-Z0-9_./-]", 128)
READS = media.MediaSupport(schemes=("http", "https", "file"), in_answers=True)
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "messages": ("messages", Messages()),
        "modelPreferences.hints": ("model", PREFERRED),
        "systemPrompt": ("instructions", TextField(TextContent, "text", between="\n\n")),
        "temperature": "options.temperature",
        "maxTokens": "options.max_output_tokens",
        "stopSequences": "options.stop_sequences",
        "metadata": "options.metadata",
        "tools": ("tools", Blocks(TOOLS)),
        "toolChoice": ("options.tool_choice", CHOICE),
    },
    verbatim=Verbatim("modelPreferences.hints"),
)
TABLE.keep("request", "_meta", "includeContext", "task")


def with_names_of_links(result: FunctionResultContent, context: EncodeContext) -> FunctionResultContent:
    """Return a result in which each link has a name: MCP requires one."""
    return each_output(result, _with_name, context)


def _with_name(output: Any, context: EncodeContext) -> Any:
    if not isinstance(output, UriContent) or output.name is not None:
        return output
    context.report_loss(output, "name", reasons.MCP_LINK_NAME)
    return replace(output, name=output.title or output.uri)


def with_limit(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with a limit of output tokens: MCP requires one."""
    if "maxTokens" in payload:
        return payload
    context.report_loss(request, "options.max_output_tokens", reasons.OUTPUT_LIMIT)
    return {**payload, "maxTokens": int(context.policies.get("output_limit", MAX_TOKENS))}


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the required fields. The payload of an error is returned unchanged."""
    if response.error is not None and not response.choices:
        return payload
    if "model" not in payload:
        context.report_loss(response, "model", reasons.NO_MODEL)
    return {"role": "assistant", "content": {"type": "text", "text": ""}, "model": "", **payload}


class McpSampling(TableAdapter):
    """The adapter of sampling: a server's request to the model of its client, and the answer."""

    api = API
    issuer = ""
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    errors = ERRORS
    requires = {"messages": list}
    conversation = "messages"
    records = frozenset({"artifact"})
    meaningless = {"_meta": ({}, None), "includeContext": "none", "task": None, "resultType": "complete"}
    request_steps = (
        request_step(with_known_tools, native=True, kinds=Kinds()),
        request_step(hoist_instructions),
        *documents.NORMALIZED,
        transcript_step(foreign.join_results),
        *media.with_readable_media(READS),
        documents.WITH_A_TURN,
        request_step(with_fitting_calls, ids=documents.ANYTHING, names=NAMES),
        transcript_step(instructions_as_text),
        content_step(with_names_of_links, FunctionResultContent, own="always", needs=(UriContent,)),
        documents.FITTING_SCHEMAS,
    )
    request_payload_steps = (payload_step(with_limit),)
    answer_steps = (
        transcript_step(without_user_messages),
        transcript_step(with_normalized_texts, blocks=CONTENT),
        transcript_step(foreign.without_names_of_results, needs=(FunctionResultContent,)),
        *media.with_readable_media(READS),
        transcript_step(foreign.without_broken_status, native=True, needs=foreign.CALLS),
    )
    response_payload_steps = (payload_step(completed),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        decode = partial(super()._decode_row, row, context=context)
        return with_error(wire, context, decode) if row is RESPONSE else decode(wire)

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> Any:
        return encode_content(messages, context)

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds that a payload may be: "request" for parameters of sampling, "response" for a result.

        The messages of a prompt (`prompts/get`) have the same form: their content is one object.
        """
        if "maxTokens" in payload and isinstance(payload.get("messages"), list):
            return {"request": 0.99}
        messages = objects_of(payload, "messages")
        if messages and all(isinstance(object_of(message, "content").get("type"), str) for message in messages):
            return {"request": 0.8}
        if payload.keys() <= {"code", "message", "data"} and isinstance(payload.get("code"), int):
            return {"response": 0.6} if isinstance(payload.get("message"), str) else {}
        content = payload.get("content")
        blocks = content if isinstance(content, list) else [content]
        typed = all(isinstance(block, dict) and "type" in block for block in blocks)
        is_result = typed and "role" in payload and isinstance(payload.get("model"), str) and "id" not in payload
        return {"response": 0.99 if "stopReason" in payload else 0.6} if is_result else {}


DUMPERS["mcp_types"] = set_fields
adapter = McpSampling()
