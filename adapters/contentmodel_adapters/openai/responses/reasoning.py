"""The texts of reasoning on the Responses API: hosts of open models send and take them, OpenAI refuses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, EncodeContext, objects, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel_adapters.common.rule_helpers import Declare

NO_TEXTS = reasons.dropped(
    "openai-responses-reasoning-text", "OpenAI's models take no text of reasoning: only a summary and encrypted content"
)


def declare_reasoning_texts(rule: Declare) -> None:
    """Add the rule to those of the API. `rule` declares a rule for OpenAI's own models."""

    @rule("refused", fix="remove it", source="openai/codex#36551, musistudio/claude-code-router#1783")
    def reasoning_has_no_content(request: dict[str, Any]) -> Iterator[Broken]:
        """A reasoning item must have an empty content. vLLM, LM Studio and xAI accept its text."""
        for at, item in objects(request, "input"):
            if item.get("type") == "reasoning" and item.get("content"):
                yield f"{at}.content", "the text of the reasoning"


def without_texts(contents: list[AIContent], context: EncodeContext) -> list[AIContent]:
    """Return the contents of a message without the texts of reasoning, for OpenAI's own models."""
    kept: list[AIContent] = []
    for content in contents:
        if not isinstance(content, ReasoningContent) or content.kind != "text":
            kept.append(content)
            continue
        context.report_loss(content, "text", NO_TEXTS)
        if content.protected is not None:
            kept.append(context.replace(content, text="", kind=None))
    return kept
