"""A model's reasoning, and the opaque state that proves it."""

from __future__ import annotations

from contentmodel.content.base import AIContent
from contentmodel.literals import Open, ReasoningKind


class ReasoningContent(AIContent, frozen=True, kw_only=True):
    """Thoughts. `text` may be empty where only the proof (`protected`) was given.

    `kind` is "summary" where the API said that these words sum up thoughts that it keeps to itself, "text" where
    it said that these are the thoughts, None where it did not say.
    """

    text: str = ""
    kind: Open[ReasoningKind | None] = None
