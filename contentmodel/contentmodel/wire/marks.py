"""Words that stand for what an API has no field for, so that they can be told from what somebody said and be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.text import TextContent

if TYPE_CHECKING:
    from contentmodel.wire.context import EncodeContext


class Mark:
    """A word in brackets around a name: `[output of tool call call_1]`."""

    def __init__(self, before: str) -> None:
        self._before = f"[{before} "

    def write(self, name: str) -> str:
        """The mark of a name."""
        return f"{self._before}{name}]"

    def read(self, text: str) -> str | None:
        """The name in a text that is nothing but this mark; None where it is anything else."""
        if text.startswith(self._before) and text.endswith("]"):
            return text[len(self._before) : -1]
        return None


APART = Mark("output of tool call")
"""Media of a tool's result, in an API whose results hold words alone."""

LATE = Mark("late result of tool call")
"""A result that no call waits for."""

NO_RESULT = "[no result of this call was recorded]"
"""The result of a call that got none, for APIs that want one."""

ERROR = "[is_error: true]\n"
"""Begins the words of a result that is a failure, in APIs that have no flag for it."""


def with_error_told(result: Any, context: EncodeContext) -> Any:
    """A failed result whose first text says so, for APIs that have no flag beside the words."""
    if not result.is_error:
        return result
    if not context.native:
        context.lose(result, "is_error", f"{context.api} has no flag for it: it is told in words", kind="degraded")
    index = next((i for i, output in enumerate(result.outputs) if output.__class__ is TextContent), None)
    outputs = list(result.outputs)
    if index is None:
        outputs.insert(0, TextContent(text=ERROR))
    else:
        text = msgspec.structs.replace(outputs[index], text=ERROR + outputs[index].text)
        outputs[index] = context.same(outputs[index], text)
    return context.same(result, msgspec.structs.replace(result, outputs=outputs, is_error=None))


def with_error_read(result: Any) -> Any:
    """A result whose first output begins with the mark of a failure, with the flag in its place."""
    outputs = getattr(result, "outputs", None)
    first = outputs[0] if outputs else None
    if first.__class__ is not TextContent or not first.text.startswith(ERROR):
        return result
    text = msgspec.structs.replace(first, text=first.text[len(ERROR) :])
    return msgspec.structs.replace(result, outputs=[text, *result.outputs[1:]], is_error=True)
