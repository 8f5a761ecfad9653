"""Hosted tools of OpenAI that the AI SDK keeps. Their calls and results become items of the Responses API again.

`ai_sdk_openai` has the AI SDK's form.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import EncodeContext, minted_id, reasons
from contentmodel.content.hosted import (
    ShellToolCallContent,
    ToolSearchToolCallContent,
    ToolSearchToolResultContent,
)
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.message import Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.pairs.ai_sdk_openai import RESPONSES, items_of_sdk
from contentmodel_adapters.common.pairs.kept_results import (
    MODEL_MESSAGES,
    UI_MESSAGES,
    decoded,
    is_hosted,
    json_of,
    kept_parts,
    sdk_pair,
    with_own_contents,
)

_FRAMEWORKS = (UI_MESSAGES, MODEL_MESSAGES)
Fields = dict[str, Any]


def with_hosted_of_openai(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose calls and results of OpenAI's hosted tools, kept by the AI SDK, stay hosted.

    A generated image is sent only if the API stores it.
    """

    def own(call: Any, result: Any, origin: Origin) -> list[Any]:
        parts = kept_parts(call, result, origin)
        pair = sdk_pair(parts) if parts else None
        items = [] if pair is None else items_of_sdk(pair)
        if request.options.store is False and [item["type"] for item in items] == ["image_generation_call"]:
            return []
        return _pair_of_items(items, call, result, context)

    return with_own_contents(request, context, _FRAMEWORKS, own)


def _pair_of_items(items: list[Fields], call: Any, result: Any, context: EncodeContext) -> list[Any]:
    """Return the call and the result that items are; [] if they are no such pair."""
    contents = decoded(RESPONSES, {"input": items}) if items else []
    made = [minted_id(c, RESPONSES, call.call_id) if _lacks_id(c) else _of_provider(c) for c in contents]
    if len(made) != 2 or not all(map(is_hosted, made, (ToolCallContent, ToolResultContent))):
        return []
    if result.is_error is True:
        context.report_loss(result, "is_error", reasons.IN_STATE)
        context.report_loss(result, "outputs", reasons.IN_STATE)
    if items[0]["type"] == "mcp_call":
        context.report_loss(result, "outputs$.arguments", reasons.REPEATED_CALL)
        if json_of(call.arguments) != json_of(made[0].arguments):
            context.report_loss(call, "arguments", reasons.STORED_WITH_ITEM)
    elif items[0]["type"] in ("web_search_call", "file_search_call") and result.is_error is not True:
        context.report_loss(call, "arguments", reasons.REPEATED_CALL)
    for old, item in zip((call, result), (items[0], items[-1]), strict=True):
        if old.call_id not in (item.get("id"), item.get("call_id")):
            context.report_loss(old, "call_id", reasons.NO_FIELD)
    return made


def _of_provider(content: Any) -> Any:
    """Return a call of a shell as one that the provider runs: without its container, an item does not show that."""
    return replace(content, executor="provider") if isinstance(content, ShellToolCallContent) else content


def _lacks_id(content: Any) -> bool:
    """Return whether a content is of a search for tools without an id: the API has none if it runs the search."""
    return isinstance(content, ToolSearchToolCallContent | ToolSearchToolResultContent) and content.call_id is None
