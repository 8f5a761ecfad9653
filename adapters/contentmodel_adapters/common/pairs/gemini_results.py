"""Hosted tools of Gemini that the AI SDK keeps. Their calls and results become parts of generateContent again.

`ai_sdk_google` has the AI SDK's form.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import EncodeContext, hints, minted_id, reasons
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.message import Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.hosted_tools import CALLS
from contentmodel_adapters.common.pairs.ai_sdk_google import parts_of_sdk
from contentmodel_adapters.common.pairs.kept_results import (
    GOOGLE,
    MODEL_MESSAGES,
    UI_MESSAGES,
    decoded,
    is_hosted,
    kept_parts,
    sdk_pair,
    with_own_contents,
)

_CODE = "code_execution"
_LEFT_OUT = {_CODE: {"outcome": reasons.IN_STATE}, "web_search": {"sources": reasons.NO_FIELD}}
"""Fields of results that Gemini does not have, or only as a state, by the name of the tool."""
Fields = dict[str, Any]


def with_hosted_of_gemini(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose calls and results of Gemini's hosted tools, kept by the AI SDK, stay hosted.

    Models before Gemini 3 take only the execution of code.
    """

    def own(call: Any, result: Any, origin: Origin) -> list[Any]:
        parts, takes_tools = kept_parts(call, result, origin), context.known.capabilities.signed_calls
        pair = sdk_pair(parts) if parts else None
        made = [] if pair is None else parts_of_sdk(pair, takes_tools=takes_tools)
        contents = decoded(GOOGLE, {"contents": [{"role": "model", "parts": made}]}) if made else []
        if (
            pair is None
            or not all(map(is_hosted, contents, (ToolCallContent, ToolResultContent)))
            or len(contents) != 2
        ):
            return []
        left_out = _LEFT_OUT.get(call.name, {}) if isinstance(pair.value, dict) else {}
        for name, reason in left_out.items():
            if name in (pair.value or ()):
                context.report_loss(result, f"outputs$.{name}", reason)
        return _with_ids((call, result), contents, context)

    return with_own_contents(request, context, (UI_MESSAGES, MODEL_MESSAGES), own)


def _with_ids(kept: tuple[Any, Any], made: list[Any], context: EncodeContext) -> list[Any]:
    """Return a call and a result with the id of the framework's parts, if those of Gemini have none of their own."""
    if made[0].__class__ is not CALLS["code_interpreter"]:
        return made
    for old in kept:
        context.report_loss(old, "call_id", reasons.NO_FIELD)
    has_own = hints.MINTED.of(made[1], GOOGLE) is None
    return made if has_own else [minted_id(new, GOOGLE, old.call_id) for old, new in zip(kept, made, strict=True)]
