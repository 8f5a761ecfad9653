"""State of providers, in the form in which the libraries of frameworks send it back: ids of items, and base64."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import EncodeContext, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent, standard_base64
from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import ToolResultContent
from contentmodel_adapters.common.reasoning import ITEM, RESPONSES

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
        item_id = item.get("id")
        yield content, item_id if isinstance(item_id, str) else None
        if isinstance(content, CompactionContent):
            item = {}


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
        if any(new is not output for new, output in zip(outputs, content.output_list, strict=True)):
            content = context.replace(content, outputs=outputs)
    return content
