"""Hosted tools of Gemini that a framework keeps. Their calls and results become parts of generateContent again.

Pydantic AI itself reads and sends them so: `models/google.py` of pydantic-ai-slim 2.68 (seen 2026-11-27).
`ai_sdk_google` has the AI SDK's form.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import EncodeContext, hints, minted_id, object_of, reasons, snake_name
from contentmodel.content.base import AIContent
from contentmodel.content.text import JsonContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.google import ISSUER
from contentmodel_adapters.common.hosted_tools import CALLS, RESULTS, with_class
from contentmodel_adapters.common.pairs.ai_sdk_google import parts_of_sdk
from contentmodel_adapters.common.pairs.kept_results import (
    GOOGLE,
    MODEL_MESSAGES,
    PYDANTIC_AI,
    UI_MESSAGES,
    are_of,
    block_of,
    decoded,
    is_hosted,
    json_of,
    kept_parts,
    sdk_pair,
    with_changed_contents,
    with_own_contents,
    with_provider,
)

_CODE = "code_execution"
_TOOLS = {"GOOGLE_SEARCH_WEB": "web_search", "URL_CONTEXT": "web_fetch", "FILE_SEARCH": "file_search"}
"""The tools of Pydantic AI by the type of the tool. It reads no other types, except one that it never sends back."""
_TYPES = {name: kind for kind, name in _TOOLS.items()}
_LEFT_OUT = {_CODE: {"outcome": reasons.IN_STATE}, "web_search": {"sources": reasons.NO_FIELD}}
"""Fields of results that Gemini does not have, or only as a state, by the name of the tool."""
_NAMES = ("google", "google-gla")
"""The names of the provider, the second one of versions before 2."""
_MADE_ID = "pyd_ai_"
"""The beginning of the ids that Pydantic AI makes for calls without ids. The API refuses them."""
Fields = dict[str, Any]


# -- to Pydantic AI ----------------------------------------------------------------------------------------------------


def with_results_of_gemini(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages for Pydantic AI in which the calls and results of Gemini's hosted tools have its form.

    Pydantic AI sends them back to Gemini only with the name of the provider, and with Gemini's JSON as the content.
    """
    return with_changed_contents(messages, GOOGLE, context, _for_pydantic_ai)


def _for_pydantic_ai(contents: list[AIContent], context: EncodeContext) -> list[AIContent]:
    return [_changed(content, context) for content in contents]


def _changed(content: Any, context: EncodeContext) -> Any:
    is_call = is_hosted(content, ToolCallContent)
    if not is_call and not is_hosted(content, ToolResultContent):
        return content
    part = block_of(content, GOOGLE)
    key, member = next(((key, value) for key, value in part.items() if isinstance(value, dict)), ("", {}))
    is_code = snake_name(key) in ("executable_code", "code_execution_result")
    name = _CODE if is_code else _TOOLS.get(str(member.get("toolType", member.get("tool_type"))))
    if name is None:
        return content
    changed = content
    if name == "web_fetch":
        kinds = CALLS if is_call else RESULTS
        changed = context.replaced(content, with_class(content, kinds[name]))
    value = {inner: item for inner, item in member.items() if item is not None} if is_code else member.get("response")
    if not is_call:
        outputs = [] if value is None else [JsonContent(value=value)]
        changed = context.replace(changed, outputs=outputs, status=None, is_error=None)
    return with_provider(changed, (GOOGLE, ISSUER), {}, context, (key,) if is_code else ())


# -- from Pydantic AI --------------------------------------------------------------------------------------------------


def with_hosted_of_gemini(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose calls and results of Gemini's hosted tools, kept by a framework, stay hosted.

    Models before Gemini 3 take only the execution of code.
    """

    def own(call: Any, result: Any, origin: Origin) -> list[Any]:
        parts, takes_tools = kept_parts(call, result, origin), context.known.capabilities.signed_calls
        value = json_of(parts[-1].get("content")) if parts else None
        if origin.api != PYDANTIC_AI:
            pair = sdk_pair(parts) if parts else None
            value = None if pair is None else pair.value
            made = [] if pair is None else parts_of_sdk(pair, takes_tools=takes_tools)
        else:
            made = _parts_of(parts, takes_tools=takes_tools) if are_of(_NAMES, parts) else []
        contents = decoded(GOOGLE, {"contents": [{"role": "model", "parts": made}]}) if made else []
        if not all(map(is_hosted, contents, (ToolCallContent, ToolResultContent))) or len(contents) != 2:
            return []
        left_out = _LEFT_OUT.get(call.name, {}) if isinstance(value, dict) else {}
        for name, reason in left_out.items():
            if name in (value or ()):
                context.report_loss(result, f"outputs$.{name}", reason)
        return _with_ids((call, result), contents, context)

    return with_own_contents(request, context, (PYDANTIC_AI, UI_MESSAGES, MODEL_MESSAGES), own)


def _parts_of(parts: list[Fields], *, takes_tools: bool) -> list[Fields]:
    """Return the parts of a call and a result that Pydantic AI sends; [] if it sends none."""
    name, call_id = str(parts[0].get("tool_name")), str(parts[0].get("tool_call_id"))
    arguments, value = json_of(parts[0].get("args")), json_of(parts[1].get("content"))
    if name == _CODE and isinstance(arguments, dict) and isinstance(value, dict):
        members: tuple[Fields, Fields] = {"executableCode": arguments}, {"codeExecutionResult": value}
    elif name in _TYPES and takes_tools and not call_id.startswith(_MADE_ID):
        tool = {"id": call_id, "toolType": _TYPES[name]}
        response = value if isinstance(value, dict) else {"result": value}
        if name == "web_search":
            # Pydantic AI adds them from the metadata of the answer.
            response = {key: item for key, item in response.items() if key != "sources"}
        members = {"toolCall": {**tool, "args": arguments or {}}}, {"toolResponse": {**tool, "response": response}}
    else:
        return []
    return [{**member, **_signature(part)} for member, part in zip(members, parts, strict=True)]


def _signature(part: Fields) -> Fields:
    signature = object_of(part, "provider_details").get("thought_signature")
    return {"thoughtSignature": signature} if signature else {}


def _with_ids(kept: tuple[Any, Any], made: list[Any], context: EncodeContext) -> list[Any]:
    """Return a call and a result with the id of the parts of Pydantic AI, if those of Gemini have none of their own."""
    if made[0].__class__ is not CALLS["code_interpreter"]:
        return made
    for old in kept:
        context.report_loss(old, "call_id", reasons.NO_FIELD)
    has_own = hints.MINTED.of(made[1], GOOGLE) is None
    return made if has_own else [minted_id(new, GOOGLE, old.call_id) for old, new in zip(kept, made, strict=True)]
