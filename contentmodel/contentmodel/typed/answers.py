"""Typed answers: the value, the response that it was in, and the tries; and the error if there is none."""

from __future__ import annotations

from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec

from contentmodel.errors import ContentModelError
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage, total_of

T = TypeVar("T")

OutputMode: TypeAlias = Literal["native", "tool", "prompt"]
"""The place of the schema in the request: a setting of the API, a tool that must be called, or the instructions."""
OutputReason: TypeAlias = Literal["invalid", "not_json", "refused", "cut_short", "empty", "failed"]
"""Why an answer has no value: it does not fit the type, is no JSON, is a refusal, ended at a limit, has no text, or is
an error of the API."""


class Try(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of the model. `error` says why it has no value, or is None."""

    response: ChatResponse
    error: str | None = None

    @property
    def usage(self) -> Usage | None:
        """The token counts of the answer."""
        return self.response.usage


class Typed(Generic[T]):
    """An answer with a checked value.

    `output` is the value, `response` the answer that it was in, `mode` the place of the schema in the request, and
    `tries` all answers in order: the last one has the value.
    """

    def __init__(self, output: T, mode: OutputMode, tries: tuple[Try, ...]) -> None:
        self.output = output
        self.mode: OutputMode = mode
        self.tries = tries

    @property
    def response(self) -> ChatResponse:
        """The answer that has the value."""
        return self.tries[-1].response

    @property
    def usage(self) -> Usage | None:
        """The token counts of all tries; None if the API sent none."""
        return total_of(one.usage for one in self.tries)

    def __repr__(self) -> str:
        return f"Typed(output={self.output!r}, mode={self.mode!r}, tries={len(self.tries)})"


class OutputError(ContentModelError, ValueError):
    """No answer had a value of the type.

    `reason` is an `OutputReason`, `path` the JSON path of the fault in the value, `text` the answer's JSON text,
    `response` the last answer, and `tries` all of them.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: OutputReason = "invalid",
        path: str = "$",
        text: str = "",
        tries: tuple[Try, ...] = (),
    ) -> None:
        super().__init__(message)
        self.reason: OutputReason = reason
        self.path, self.text, self.tries = path, text, tries

    @property
    def response(self) -> ChatResponse:
        """The last answer."""
        return self.tries[-1].response

    @property
    def usage(self) -> Usage | None:
        """The token counts of all tries; None if the API sent none."""
        return total_of(one.usage for one in self.tries)
