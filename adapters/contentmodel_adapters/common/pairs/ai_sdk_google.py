"""Hosted tools of Gemini in the parts of the Vercel AI SDK, which become parts of generateContent again.

The parts are those that the SDK makes of an answer, and the only ones that it sends back. Source:
`google-language-model.ts` and `convert-to-google-messages.ts` of @ai-sdk/google 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import EncodeContext, object_of, snake_name
from contentmodel.content.base import AIContent
from contentmodel.content.text import JsonContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.common.pairs.kept_results import GOOGLE, SdkPair, at_result, block_of, is_hosted, provider_in

CODE, OF_SERVER = "code_execution", "server:"
"""The name of the execution of code, and the beginning of the names of other tools."""
_PROVIDERS = ("google", "googleVertex", "vertex")
Fields = dict[str, Any]


def with_parts_for_sdk(message: ChatMessage, context: EncodeContext, at: str, errors: bool) -> list[AIContent]:
    """Return the contents of a message of generateContent with the hosted tools in the SDK's form.

    `at` is the field of calls with the values of providers. No result of Gemini has failed for the SDK.
    """
    kinds = (ToolCallContent, ToolResultContent)
    return [_changed(c, context, at) if any(is_hosted(c, kind) for kind in kinds) else c for c in message.contents]


def _changed(content: Any, context: EncodeContext, at: str) -> Any:
    part = block_of(content, GOOGLE)
    key, member = next(((key, value) for key, value in part.items() if isinstance(value, dict)), ("", {}))
    fields: Fields
    if snake_name(key) == "code_execution_result":
        value = {"outcome": member.get("outcome"), "output": member.get("output") or ""}
        fields = {"outputs": [JsonContent(value=value)], "is_error": None, "status": None}
    elif snake_name(key) == "executable_code":
        fields = {"name": CODE}
    elif snake_name(key) in ("tool_call", "tool_response"):
        return _of_server(content, member, context, at)
    else:
        return content
    return context.replace(content, extra=_without_fields(content, {key}), **fields)


def _of_server(content: Any, member: Fields, context: EncodeContext, at: str) -> Any:
    kind = member.get("toolType", member.get("tool_type"))
    ids: Fields = {"serverToolCallId": content.call_id, "serverToolType": kind}
    if content.protected is not None and isinstance(content, ToolResultContent):
        ids = {"thoughtSignature": content.protected.data, **ids}
        content = context.replace(content, protected=None)
    fields: Fields = {"name": f"{OF_SERVER}{kind}"}
    if isinstance(content, ToolResultContent):
        fields |= {"outputs": [JsonContent(value=member.get("response") or {})], "is_error": None}
        at = at_result(at)
    extra = _without_fields(content, {"toolType", "tool_type"}) or {}
    return context.replace(content, extra={**extra, context.api: {at: {"google": ids}}}, **fields)


def _without_fields(content: Any, names: set[str]) -> dict[str, Any] | None:
    """Return the residue of a content without fields of its part that the SDK's form has."""
    extra = {name: residue for name, residue in (content.extra or {}).items() if name != GOOGLE}
    own = (content.extra or {}).get(GOOGLE, {})
    if rest := {name: field for name, field in own.items() if name[0] != ":" and name not in names}:
        extra[GOOGLE] = rest
    return extra or None


def parts_of_sdk(pair: SdkPair, *, takes_tools: bool) -> list[Fields]:
    """Return the parts of a call and its result that the SDK keeps; [] if they are not those of a tool of Gemini."""
    value, arguments = pair.value, pair.arguments
    if not isinstance(value, dict) or not isinstance(arguments, dict):
        return []
    if pair.name == CODE:
        is_own = arguments.keys() == {"language", "code"} and value.keys() == {"outcome", "output"}
        return [{"executableCode": arguments}, {"codeExecutionResult": value}] if is_own and not pair.failed else []
    called, found = _ids_of(pair.of_call), _ids_of(pair.of_result)
    kind, call_id = called.get("serverToolType"), called.get("serverToolCallId")
    if not takes_tools or not isinstance(kind, str) or not isinstance(call_id, str):
        return []
    tool = {"id": call_id, "toolType": kind}
    return [
        {"toolCall": {**tool, "args": arguments}, **_signature(called)},
        {"toolResponse": {**tool, "response": value}, **_signature(found)},
    ]


def _ids_of(metadata: Fields) -> Fields:
    return object_of(metadata, provider_in(metadata, _PROVIDERS))


def _signature(fields: Fields) -> Fields:
    signature = fields.get("thoughtSignature")
    return {"thoughtSignature": signature} if isinstance(signature, str) else {}
