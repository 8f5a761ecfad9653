"""State of providers, in the form in which the libraries of frameworks send it back: ids of items, and base64."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, pairwise
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import EncodeContext, Hint, hints, is_native, object_of, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent, standard_base64
from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.objects import at, without
from contentmodel_adapters.common.pairs.kept_results import MODEL_MESSAGES, PYDANTIC_AI, UI_MESSAGES

RESPONSES = "openai-responses"
ITEM = Hint[dict[str, Any]](
    RESPONSES, "item", "the fields of the item that the content was a part of, on its first part", fields=True
)
OF_ITEMS = (ReasoningContent, CompactionContent)
"""The contents whose item must have an id."""


def with_item_ids(contents: Iterable[AIContent]) -> Iterator[tuple[AIContent, str | None]]:
    """Yield each content with the id of its item, if it is reasoning or a compaction of the Responses API; else None.

    The parts of a reasoning item after the first have the id of the first.
    """
    item: dict[str, Any] = {}
    for content in contents:
        if isinstance(content, ReasoningContent):
            item = ITEM.of(content, RESPONSES) or item
        else:
            item = (content.extra or {}).get(RESPONSES, {}) if isinstance(content, CompactionContent) else {}
        own = item.get("id")
        yield content, own if isinstance(own, str) else None
        if isinstance(content, CompactionContent):
            item = {}


def reasoning_items(contents: Iterable[AIContent]) -> Iterator[list[AIContent]]:
    """Yield the parts of each reasoning item of the Responses API, and each other content alone.

    The state is that of the whole item, and its last part has it.
    """
    item: list[AIContent] = []
    for content in contents:
        if item and not _continues(content, item[-1]):
            yield item
            item = []
        item.append(content)
    if item:
        yield item


def _continues(content: AIContent, last: AIContent) -> bool:
    """Return whether a content is a further part of the reasoning item of the content before it."""
    are_parts = isinstance(content, ReasoningContent) and isinstance(last, ReasoningContent)
    return are_parts and last.protected is None and ITEM.of(content, RESPONSES) is None


def with_state_first(contents: Iterable[AIContent], context: EncodeContext) -> list[tuple[AIContent, str | None]]:
    """Return the contents with the ids of their items. The first part of a reasoning item has its encrypted content.

    Pydantic AI and LangChain ignore the encrypted content of the other parts.
    """
    pairs = list(with_item_ids(contents))
    for _, parts in groupby(range(len(pairs)), lambda at: pairs[at][1] or at):
        first, *others = parts
        last = others[-1] if others else first
        protected = pairs[last][0].protected
        if last != first and protected is not None and pairs[first][0].protected is None:
            pairs[first] = context.replace(pairs[first][0], protected=protected), pairs[first][1]
            pairs[last] = context.replace(pairs[last][0], protected=None), pairs[last][1]
    return pairs


_ITEM_IDS = (
    (MODEL_MESSAGES, "providerOptions.openai.itemId"),
    (MODEL_MESSAGES, "providerOptions.azure.itemId"),
    (UI_MESSAGES, "providerMetadata.openai.itemId"),
    (UI_MESSAGES, "providerMetadata.azure.itemId"),
    (PYDANTIC_AI, "id"),
)
"""The paths of the id of an item of the Responses API in the residue of reasoning, each with the API of the residue."""
_OF_CHAT = ("content", "reasoning", "reasoning_content")
"""The ids of reasoning from Chat in Pydantic AI: the names of its fields (models/openai.py of 2.x, seen 2026-11-27)."""


def _item_id(content: AIContent) -> str | None:
    """Return the id of the item that a framework keeps with reasoning; None if it keeps none."""
    return _item_of(content)[1]


def _item_of(content: AIContent) -> tuple[str, str | None]:
    """Return the path of the id of an item in the residue of reasoning, and the id; ("", None) without one."""
    extra = content.extra or {}
    for api, path in _ITEM_IDS if isinstance(content, ReasoningContent) else ():
        found = at(object_of(extra, api), path)
        if found.__class__ is str:
            return f"{api}.{path}", found
    return "", None


def with_id_of_item(content: AIContent, context: EncodeContext) -> AIContent:
    """Return reasoning with the id of its item where the API has it. It is taken from the residue of the framework."""
    path, item_id = _item_of(content)
    item: dict[str, Any] = {"type": "reasoning", "id": item_id, "summary": []}
    bare = replace(content, extra=without(content.extra or {}, path))
    return context.replace(content, extra=ITEM.on(bare, RESPONSES, item).extra)


def with_stored_reasoning(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose reasoning of OpenAI without encrypted content is an item that the API stores.

    The frameworks send the id of the item, unless the request sets `store` to false. Other such reasoning is left out.
    """
    if request.options.store is False:
        return request
    return context.with_messages(request, [_with_stored(message, context) for message in request.messages])


def _with_stored(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    contents: list[AIContent] = []
    for item_id, group in groupby(message.contents, _item_id):
        parts = list(group)
        if item_id is not None and _is_stored(item_id, parts, message):
            parts = [with_id_of_item(parts[0], context), *parts[1:]]
            parts = [context.with_fields(part, hints.GUEST.entry("stored")) for part in parts]
        contents += parts
    return context.with_contents(message, contents)


def _is_stored(item_id: str, parts: list[AIContent], message: ChatMessage) -> bool:
    """Return whether the parts of an item have only its id, and their message came from OpenAI's Responses API."""
    path, origin = _item_of(parts[0])[0], message.origin
    if message.role != "assistant" or origin is None or not path.startswith(f"{origin.api}."):
        return False
    if origin.api == PYDANTIC_AI:
        provider = at(parts[0].extra or {}, f"{PYDANTIC_AI}.provider_name") or origin.issuer
        if provider not in ("openai", "azure") or item_id in _OF_CHAT:
            return False
    return all(part.protected is None for part in parts)


def with_state_of_items(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages of other APIs in which all parts of an item of OpenAI have its encrypted content.

    A framework may have it on one part only. The parts follow each other, and have the same id.
    """
    return _with_parts(messages, context, _with_state)


def _with_parts(
    messages: list[ChatMessage],
    context: EncodeContext,
    change: Callable[[list[AIContent], EncodeContext], list[AIContent]],
) -> list[ChatMessage]:
    """Return messages in which `change` was called for the contents of those that may have several parts of an item."""
    return [
        context.with_contents(message, change(message.contents, context))
        if sum(content.__class__ is ReasoningContent for content in message.contents) > 1
        and not is_native(message, context)
        else message
        for message in messages
    ]


def _with_state(contents: list[AIContent], context: EncodeContext) -> list[AIContent]:
    made: list[AIContent] = []
    for content, after in pairwise(contents):
        if _item_id(content) is not None and _are_of_one_item(content, after):
            context.report_loss(content, "protected", reasons.REPEATED_STATE)
    for item_id, group in groupby(contents, _item_id):
        parts = list(group)
        states = [part.protected for part in parts if part.protected is not None]
        is_one = item_id is not None and len({(one.issuer, one.kind, one.data) for one in states}) == 1
        if is_one and states[0].kind == "encrypted":
            parts = [part if part.protected else context.replace(part, protected=states[0]) for part in parts]
        made += parts
    return made


def with_state_at_end(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages of other APIs in which only the last of several parts with the same encrypted content has it.

    The Responses API has it once for each item.
    """
    return _with_parts(messages, context, _at_end)


def _at_end(contents: list[AIContent], context: EncodeContext) -> list[AIContent]:
    made: list[AIContent] = []
    for one, after in zip(contents, [*contents[1:], None], strict=False):
        if not _are_of_one_item(one, after):
            made.append(one)
            continue
        if _item_id(one) is None:
            # With an id, the loss is reported before: the part may have got the state from another one.
            context.report_loss(one, "protected", reasons.REPEATED_STATE)
        made.append(context.replace(one, protected=None))
    return made


def _are_of_one_item(content: AIContent, after: AIContent | None) -> bool:
    """Return whether reasoning, and the reasoning after it, have the same encrypted content and the same id."""
    if not isinstance(content, ReasoningContent) or not isinstance(after, ReasoningContent):
        return False
    is_same = content.protected is not None and content.protected == after.protected
    return is_same and _item_id(content) == _item_id(after)


def with_standard_base64(content: AIContent, context: EncodeContext) -> AIContent:
    """Return a content with its data and a signature of Gemini as standard base64.

    Pydantic AI and LangChain decode base64 without the characters that the standard alphabet lacks.
    """
    protected = content.protected
    if protected is not None and (protected.issuer, protected.kind) == ("google", "signature"):
        data = standard_base64(protected.data)
        if data is not None and data != protected.data:
            context.report_loss(content, "protected", reasons.BASE64_SPELLING)
            content = context.replace(content, protected=replace(protected, data=data))
    if isinstance(content, DataContent) and content.text is None:
        data = standard_base64(content.data)
        if data is not None and data != content.data:
            context.report_loss(content, "data", reasons.BASE64_SPELLING)
            content = context.replace(content, data=data)
    elif isinstance(content, ToolResultContent) and any(
        isinstance(output, DataContent) for output in content.output_list
    ):
        outputs = [with_standard_base64(output, context) for output in content.output_list]
        if any(made is not output for made, output in zip(outputs, content.output_list, strict=True)):
            content = context.replace(content, outputs=outputs)
    return content
