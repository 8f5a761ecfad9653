"""Requests that Ollama's server refuses or answers badly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, IdentifierRule, Rules, list_of, objects, one_object
from contentmodel.content.media import standard_base64
from contentmodel_adapters.ollama_chat.blocks import API
from contentmodel_adapters.ollama_chat.capabilities import CAPABILITIES
from contentmodel_adapters.ollama_chat.tools import LEVELS

RULES = Rules(API, CAPABILITIES)
CALL_IDS = IdentifierRule(".", 256)
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_.-]", 128)
_TYPES = "api/types.go of ollama/ollama; seen 2026-11-23"


@RULES.rule("refused", fix="name the model", source=f"ChatRequest in {_TYPES}")
def model_required(request: dict[str, Any]) -> Iterator[Broken]:
    """A request must name its model."""
    if not request.get("model"):
        yield "$", "no model"


@RULES.rule("refused", fix="send the content as text, and images in `images`", source=f"Message in {_TYPES}")
def content_is_text(request: dict[str, Any]) -> Iterator[Broken]:
    """The content of a message must be a string, not a list of parts."""
    for at, message in objects(request, "messages"):
        if isinstance(message.get("content"), list | dict):
            yield f"{at}.content", "not a text"


@RULES.rule("refused", fix="send standard base64 with padding", source=f"ImageData, a []byte of Go, in {_TYPES}")
def images_are_base64(request: dict[str, Any]) -> Iterator[Broken]:
    """Images must be standard base64, without the prefix of a data URI."""
    for at, message in objects(request, "messages"):
        for number, data in enumerate(list_of(message, "images")):
            if isinstance(data, str) and standard_base64(data) != data:
                yield f"{at}.images[{number}]", f"{data[:20]!r}"


@RULES.rule("refused", fix="send an object", source=f"ToolCallFunctionArguments in {_TYPES}")
def arguments_are_objects(request: dict[str, Any]) -> Iterator[Broken]:
    """The arguments of a call must be an object, not JSON text."""
    for at, message in objects(request, "messages"):
        for path, call in objects(message, "tool_calls", at):
            for where, function in one_object(call, "function", path):
                if not isinstance(function.get("arguments"), dict):
                    yield f"{where}.arguments", f"{function.get('arguments')!r:.60}"


@RULES.rule("refused", fix=f"use true, false, {', '.join(LEVELS)}", source=f"ThinkValue in {_TYPES}")
def thinking_is_known(request: dict[str, Any]) -> Iterator[Broken]:
    """`think` must be true, false or one of the levels."""
    level = request.get("think")
    if level is not None and not isinstance(level, bool) and level not in LEVELS:
        yield "$.think", f"{level!r:.60}"


@RULES.rule("harmful", fix="put the call before its result", source=f"Message in {_TYPES}")
def results_follow_their_calls(request: dict[str, Any]) -> Iterator[Broken]:
    """A result with an id must follow the call with that id."""
    called: set[Any] = set()
    for at, message in objects(request, "messages"):
        called.update(str(call.get("id")) for _, call in objects(message, "tool_calls"))
        call_id = message.get("tool_call_id")
        if message.get("role") == "tool" and isinstance(call_id, str) and call_id not in called:
            yield f"{at}.tool_call_id", f"no call {call_id!r:.60} before it"
