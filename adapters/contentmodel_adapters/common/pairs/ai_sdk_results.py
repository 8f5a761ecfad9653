"""Results of hosted tools of Anthropic and Google in the form that the Vercel AI SDK keeps: JSON of the provider.

The SDK sends such results back to their provider only in this form, and with the names and the metadata that its
providers write. Source: `convert-to-anthropic-prompt.ts` of @ai-sdk/anthropic and `convert-to-google-messages.ts` of
@ai-sdk/google, as in ai 7.0.173 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from contentmodel.authoring import EncodeContext, camel_name, is_native, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import McpServerToolCallContent, McpServerToolResultContent
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel.interop.front_ends import arguments_of
from contentmodel.message import ChatMessage
from contentmodel_adapters.common.pairs.ai_sdk_google import with_parts_for_sdk
from contentmodel_adapters.common.pairs.ai_sdk_openai import RESPONSES, as_output, with_items_for_sdk
from contentmodel_adapters.common.pairs.kept_results import ANTHROPIC, GOOGLE, block_of

IN_CODE = ("bash_code_execution", "text_editor_code_execution")
"""The tools of Anthropic that frameworks merge into code execution. In the SDK, the input names the original tool."""
OF_PROGRAM = "programmatic-tool-call"
"""The type of the input of the tool of Anthropic that has only code."""
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
    """Return messages of other APIs with the hosted tools of Anthropic, Google and OpenAI in the SDK's form.

    `at` is the field of parts with the values of providers. If `errors` is false, failed results are texts.
    """
    return [
        message
        if is_native(message, context) or message.origin is None or message.origin.api not in _PROVIDED
        else context.with_contents(message, list(_PROVIDED[message.origin.api](message, context, at, errors)))
        for message in messages
    ]


def _of_anthropic(message: ChatMessage, context: EncodeContext, at: str, errors: bool) -> Iterator[AIContent]:
    servers: dict[str | None, str] = {}
    for content in message.contents:
        made: Any = content
        if isinstance(content, HostedToolResultContent):
            failed = content.is_error is True or content.error is not None
            is_text = failed and not errors and isinstance(content, McpServerToolResultContent)
            made = content if is_text else _with_json(content, context, failed=failed, errors=errors)
        elif isinstance(content, HostedToolCallContent):
            made = _typed_code(content, context)
        if isinstance(made, McpServerToolCallContent) and made.server is not None:
            servers[made.call_id] = made.server
            made = context.replace(made, server=None, extra=_of_server(made, made.server, context, at))
        elif isinstance(made, McpServerToolResultContent) and made.call_id in servers:
            made = context.replace(made, extra=_of_server(made, servers[made.call_id], context, at))
        yield made


def _typed_code(call: Any, context: EncodeContext) -> Any:
    """Return a call that executes code with the type of the original tool in its input."""
    arguments = arguments_of(call)
    if call.name in IN_CODE:
        context.report_loss(call, "name", reasons.TOOL_BY_NAME)
        typed = {"type": call.name, **arguments} if isinstance(arguments, dict) else arguments
        return context.replace(call, name="code_execution", arguments=typed)
    if (
        call.name != "code_execution"
        or not isinstance(arguments, dict)
        or "code" not in arguments
        or "type" in arguments
    ):
        return call
    return context.replace(call, arguments={"type": OF_PROGRAM, **arguments})


def _of_server(content: Any, server: str, context: EncodeContext, at: str) -> dict[str, dict[str, Any]]:
    """Return the residue of a call or a result of an MCP server with the metadata of @ai-sdk/anthropic."""
    fields = {"anthropic": {"type": "mcp-tool-use", "serverName": server}}
    return {**(content.extra or {}), context.api: {at: fields}}


def _with_json(content: Any, context: EncodeContext, *, failed: bool, errors: bool) -> Any:
    block = block_of(content, ANTHROPIC)
    value = _anthropic_json(block, failed)
    if value is None:
        return content
    # Keep the residue that the JSON does not contain.
    is_whole = block.get("type") != "tool_search_tool_result"
    extra = {name: residue for name, residue in (content.extra or {}).items() if name != ANTHROPIC}
    own = (content.extra or {}).get(ANTHROPIC, {})
    if rest := {name: field for name, field in own.items() if name[0] != ":" and not (is_whole and name == "content")}:
        extra[ANTHROPIC] = rest
    outputs = [as_output(value, failed=failed, errors=errors)]
    return context.replace(
        content, outputs=outputs, is_error=True if failed else None, protected=None, extra=extra or None
    )


def _anthropic_json(block: dict[str, Any], failed: bool) -> Any:
    kind, content = str(block.get("type")), block.get("content")
    if not kind.endswith("_tool_result") or content.__class__ not in (dict, list):
        return None
    if kind == "mcp_tool_result":
        return content
    found = content.get("tool_references") if content.__class__ is dict else None
    if failed:
        return _in_camel_case(content)
    is_code = kind.endswith("code_execution_tool_result")
    value = content if is_code else _in_camel_case(content if found is None else found)
    form = _FORMS.get(str(value.get("type")) if value.__class__ is dict else kind)
    value = _filled(value, form)
    return value if _fits(value, form) else None


def completed_form(value: Any) -> Any:
    """Return a result of a hosted tool of Anthropic in the SDK's form; None if it is no such result.

    The SDK itself leaves out the title of a page that has none, and may write null for settings of a document.
    """
    if value.__class__ is list:
        types = {str(item.get("type")) if item.__class__ is dict else "" for item in value}
        forms = [form for form in _FORMS.values() if form.__class__ is list] if len(types) == 1 else []
        filled = ((_filled(value, form), form) for form in forms)
        return next((one for one, form in filled if _fits(one, form)), None)
    kind = str(value.get("type")) if value.__class__ is dict else ""
    if kind.endswith("_tool_result_error"):
        return value
    filled = _filled(value, _FORMS.get(kind))
    return filled if kind in _FORMS and _fits(filled, _FORMS[kind]) else None


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


_PROVIDED: dict[str, Callable[[ChatMessage, EncodeContext, str, bool], Iterable[AIContent]]] = {
    ANTHROPIC: _of_anthropic,
    GOOGLE: with_parts_for_sdk,
    RESPONSES: with_items_for_sdk,
}
"""The functions that return the contents of a message, by its API."""
