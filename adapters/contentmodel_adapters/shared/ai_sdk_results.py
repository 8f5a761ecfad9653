"""Results of hosted tools of Anthropic and Google in the form that the Vercel AI SDK keeps: JSON of the provider.

The SDK sends such results back to their provider only in this form, and with the names and the metadata that its
providers write. Source: `convert-to-anthropic-prompt.ts` of @ai-sdk/anthropic and `convert-to-google-messages.ts` of
@ai-sdk/google, as in ai 7.0.173 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import EncodeContext, camel_name, is_native, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import McpServerToolCallContent, McpServerToolResultContent
from contentmodel.content.text import JsonContent
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel.interop.front_ends import arguments_of
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest

ANTHROPIC, GOOGLE = "anthropic-messages", "google-generate-content"
IN_CODE = ("bash_code_execution", "text_editor_code_execution")
"""The tools of Anthropic that frameworks merge into code execution. In the SDK, the input names the original tool."""
_TEXT, _TEXT_OR_NULL, _NUMBER, _NUMBER_OR_NULL = (str,), (str, type(None)), (int, float), (int, float, type(None))
_RAN: dict[str, Any] = {"stdout": _TEXT, "stderr": _TEXT, "return_code": _NUMBER}
_FILE_ID = [{"type": _TEXT, "file_id": _TEXT}]
_SOURCE = {"type": _TEXT, "mediaType": _TEXT, "data": _TEXT}
_DOCUMENT = {"type": _TEXT, "title": _TEXT_OR_NULL, "citations?": {"enabled": (bool,)}, "source": _SOURCE}
_LINES = {"num_lines": _NUMBER_OR_NULL, "start_line": _NUMBER_OR_NULL, "total_lines": _NUMBER_OR_NULL}
_FORMS: dict[str, Any] = {
    "web_search_tool_result": [
        {"url": _TEXT, "title": _TEXT_OR_NULL, "pageAge": _TEXT_OR_NULL, "encryptedContent": _TEXT, "type": _TEXT}
    ],
    "web_fetch_result": {"type": _TEXT, "url": _TEXT, "content": _DOCUMENT, "retrievedAt": _TEXT_OR_NULL},
    "tool_search_tool_result": [{"type": _TEXT, "toolName": _TEXT}],
    "advisor_result": {"type": _TEXT, "text": _TEXT, "stopReason?": _TEXT},
    "advisor_redacted_result": {"type": _TEXT, "encryptedContent": _TEXT, "stopReason?": _TEXT},
    "code_execution_result": {**_RAN, "content?": _FILE_ID},
    "encrypted_code_execution_result": {
        "encrypted_stdout": _TEXT,
        "stderr": _TEXT,
        "return_code": _NUMBER,
        "content?": _FILE_ID,
    },
    "bash_code_execution_result": {**_RAN, "content": _FILE_ID},
    "text_editor_code_execution_view_result": {"content": _TEXT, "file_type": _TEXT, **_LINES},
    "text_editor_code_execution_create_result": {"is_file_update": (bool,)},
    "text_editor_code_execution_str_replace_result": {
        "lines": (list, type(None)),
        **dict.fromkeys(("new_lines", "new_start", "old_lines", "old_start"), _NUMBER_OR_NULL),
    },
}
"""The forms that @ai-sdk/anthropic accepts, by the type of the result or of its block.

It refuses the whole request for others. A field with a question mark may be missing, but not null."""


def with_provider_results(
    messages: list[ChatMessage], context: EncodeContext, *, at: str, errors: bool
) -> list[ChatMessage]:
    """Return messages of other APIs with the hosted tools of Anthropic and Google in the SDK's form.

    `at` is the field of parts with the values of providers. If `errors` is false, failed results are unchanged.
    """
    return [
        message
        if is_native(message, context) or message.origin is None or message.origin.api not in (ANTHROPIC, GOOGLE)
        else context.with_contents(message, list(_provided(message, message.origin.api, context, at, errors)))
        for message in messages
    ]


def _provided(message: ChatMessage, api: str, context: EncodeContext, at: str, errors: bool) -> Iterator[AIContent]:
    servers: dict[str | None, str] = {}
    for content in message.contents:
        made: Any = content
        if isinstance(content, HostedToolResultContent):
            failed = content.is_error is True or content.error is not None
            made = content if failed and not errors else _with_json(content, api, context, failed=failed)
        elif isinstance(content, HostedToolCallContent) and content.name in IN_CODE:
            context.report_loss(content, "name", reasons.TOOL_BY_NAME)
            arguments = arguments_of(content)
            if isinstance(arguments, dict):
                arguments = {"type": content.name, **arguments}
            made = context.replace(content, name="code_execution", arguments=arguments)
        if isinstance(made, McpServerToolCallContent) and made.server is not None:
            servers[made.call_id] = made.server
            made = context.replace(made, server=None, extra=_of_server(made, made.server, context, at))
        elif isinstance(made, McpServerToolResultContent) and made.call_id in servers:
            made = context.replace(made, extra=_of_server(made, servers[made.call_id], context, at))
        yield made


def _of_server(content: Any, server: str, context: EncodeContext, at: str) -> dict[str, dict[str, Any]]:
    """Return the residue of a call or a result of an MCP server with the metadata of @ai-sdk/anthropic."""
    fields = {"anthropic": {"type": "mcp-tool-use", "serverName": server}}
    return {**(content.extra or {}), context.api: {at: fields}}


def _with_json(content: Any, api: str, context: EncodeContext, *, failed: bool) -> Any:
    block = block_of(content, api)
    value = _anthropic_json(block, failed) if api == ANTHROPIC else _google_json(block)
    if value is None:
        return content
    # Keep the residue that the JSON does not contain.
    inner = "content" if api == ANTHROPIC else "codeExecutionResult"
    is_whole = block.get("type") != "tool_search_tool_result"
    extra = {name: residue for name, residue in (content.extra or {}).items() if name != api}
    own = (content.extra or {}).get(api, {})
    if rest := {name: field for name, field in own.items() if name[0] != ":" and not (is_whole and name == inner)}:
        extra[api] = rest
    # The JSON has the outcome of Google's code execution.
    status = {"status": None} if hasattr(content, "status") else {}
    fields = {"outputs": [JsonContent(value=value)], "is_error": True if failed else None, "protected": None, **status}
    return context.replace(content, extra=extra or None, **fields)


def block_of(content: Any, api: str) -> dict[str, Any]:
    """Return the block of a result in the format of its provider; {} if it has no block there."""
    origin = Origin(api=api, issuer=installed(api).issuer)
    message = ChatMessage(role="assistant", contents=[content], origin=origin)
    payload = installed(api).encode_request(ChatRequest(messages=[message], origin=origin)).payload
    messages = payload["contents" if api == GOOGLE else "messages"] or [{}]
    blocks = messages[0].get("parts" if api == GOOGLE else "content")
    block = blocks[0] if blocks.__class__ is list and len(blocks) == 1 else None
    return block if block.__class__ is dict else {}


def _google_json(part: dict[str, Any]) -> Any:
    result = part.get("codeExecutionResult")
    return {key: value for key, value in result.items() if key != "id"} if result.__class__ is dict else None


def _anthropic_json(block: dict[str, Any], failed: bool) -> Any:
    kind, content = str(block.get("type")), block.get("content")
    if not kind.endswith("_tool_result") or content.__class__ not in (dict, list):
        return None
    if kind == "mcp_tool_result":
        return content
    found = content.get("tool_references") if content.__class__ is dict else None
    value = (
        content if kind.endswith("code_execution_tool_result") else _in_camel_case(content if found is None else found)
    )
    if failed:
        return value
    form = _FORMS.get(str(value.get("type")) if value.__class__ is dict else kind)
    value = _filled(value, form)
    return value if _fits(value, form) else None


def is_of_sdk(value: Any) -> bool:
    """Return whether a value is a result of a hosted tool of Anthropic in the SDK's form."""
    if value.__class__ is list:
        types = {str(item.get("type")) if item.__class__ is dict else "" for item in value}
        return len(types) == 1 and any(form.__class__ is list and _fits(value, form) for form in _FORMS.values())
    kind = str(value.get("type")) if value.__class__ is dict else ""
    has_failed = kind.endswith("_tool_result_error")
    return has_failed or (kind in _FORMS and _fits(value, _FORMS[kind]))


def _filled(value: Any, form: Any) -> Any:
    """Return a value with null for each missing field that may be null, and without null for those that may not."""
    if form.__class__ is list and value.__class__ is list:
        return [_filled(item, form[0]) for item in value]
    if form.__class__ is not dict or value.__class__ is not dict:
        return value
    nulls = {name: None for name, inner in form.items() if type(None) in inner and name not in value}
    kept = {name: inner for name, inner in value.items() if inner is not None or f"{name}?" not in form}
    return {**{name: _filled(inner, form.get(name)) for name, inner in kept.items()}, **nulls}


def _fits(value: Any, form: Any) -> bool:
    if form.__class__ is list:
        return value.__class__ is list and all(_fits(item, form[0]) for item in value)
    if form.__class__ is not dict:
        return form is not None and value.__class__ in form
    return value.__class__ is dict and all(
        _fits(value[name.rstrip("?")], inner) if name.rstrip("?") in value else name.endswith("?")
        for name, inner in form.items()
    )


def _in_camel_case(value: Any) -> Any:
    if value.__class__ is list:
        return [_in_camel_case(item) for item in value]
    if value.__class__ is not dict:
        return value
    # If two fields would get the same name, both keep their names.
    made = {key: camel_name(key) for key in value}
    names = [*made.values()]
    return {(name if names.count(name) == 1 else key): _in_camel_case(value[key]) for key, name in made.items()}
