"""The reasoning of a model, with its signature."""

from __future__ import annotations

from contentmodel.content.base import AIContent
from contentmodel.literals import Open, ReasoningKind


class ReasoningContent(AIContent, frozen=True, kw_only=True):
    """Reasoning of a model."""

    text: str = ""
    """The text of the reasoning; empty if the API only returned opaque state (`protected`)."""
    kind: Open[ReasoningKind | None] = None
    """`summary` if the API marks the text as a summary of hidden reasoning, `text` if it marks it as the reasoning
    itself, `plan` if it is the plan of the calls that follow (Cohere), None if the API marks none of them."""
