"""Calls of tools and their results: what every kind has, and the function calls that the application runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent, are_contents, as_contents
from contentmodel.engine.json import kind_of, parse, write
from contentmodel.errors import DecodeError, ToolArgumentsError
from contentmodel.interop import Model
from contentmodel.literals import Executor, Open

if TYPE_CHECKING:
    from contentmodel.content import Content


class Caller(Model, frozen=True, kw_only=True):
    """Who made a call: the model itself (`kind` "direct") or a program that it runs (`call_id` names that run)."""

    kind: str
    call_id: str | None = None
    extra: dict[str, dict[str, Any]] | None = None


class ToolCallContent(AIContent, frozen=True, kw_only=True):
    """A call of a tool, of any kind.

    `call_id` pairs it with its result. `arguments` is an object, or the text that an API sent in its place:
    text is kept to the letter, valid JSON or not. `status` is the provider's word. `executor` says who runs
    it: "client" (the application) or "provider".
    """

    call_id: str | None = None
    name: str | None = None
    arguments: dict[str, Any] | str | None = None
    status: str | None = None
    caller: Caller | None = None
    executor: Open[Executor] = "provider"

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text; text that was received comes back to the letter."""
        if isinstance(self.arguments, str):
            return self.arguments
        return write(self.arguments or {}).decode()

    @property
    def arguments_object(self) -> dict[str, Any]:
        """The arguments as an object; empty text is an empty object. ToolArgumentsError where they are neither."""
        if isinstance(self.arguments, dict):
            return self.arguments
        if not self.arguments:
            return {}
        try:
            value = parse(self.arguments)
        except DecodeError as error:
            raise ToolArgumentsError(self.name, self.arguments, error.faults[0].message) from None
        if not isinstance(value, dict):
            raise ToolArgumentsError(self.name, self.arguments, f"expected an object, got {kind_of(value)}")
        return value

    @property
    def partial_arguments(self) -> dict[str, Any]:
        """The arguments as far as they have come, for a call that still grows. To show, and never to run."""
        from contentmodel.partial import partial_json

        value = self.arguments if isinstance(self.arguments, dict) else partial_json(self.arguments or "")
        return value if isinstance(value, dict) else {}


class ToolResultContent(AIContent, frozen=True, kw_only=True):
    """The result of a tool, of any kind: its `outputs` are contents.

    A failure is an `ErrorContent` among the outputs, or `is_error` where the API has a flag for it; `error` is
    one place to ask for both.
    """

    call_id: str | None = None
    name: str | None = None
    outputs: list[Content] = []
    is_error: bool | None = None
    status: str | None = None
    caller: Caller | None = None
    executor: Open[Executor] = "provider"

    def __post_init__(self) -> None:
        if not are_contents(self.outputs):
            msgspec.structs.force_setattr(self, "outputs", as_contents(self.outputs, "outputs"))

    @property
    def error(self) -> ErrorContent | None:
        """What went wrong, or None."""
        for output in self.outputs:
            if isinstance(output, ErrorContent):
                return output
        return ErrorContent(message=self.text) if self.is_error else None

    @property
    def text(self) -> str:
        """The text outputs, one after the other."""
        return "".join(output.text for output in self.outputs if isinstance(output, TextContent))


class FunctionCallContent(ToolCallContent, frozen=True, kw_only=True):
    """A call of a function that the application declared and runs. `namespace` is the group that it was declared in."""

    executor: Open[Executor] = "client"
    namespace: str | None = None


class FunctionResultContent(ToolResultContent, frozen=True, kw_only=True):
    """What the application's function gave back."""

    executor: Open[Executor] = "client"


class CustomToolCallContent(ToolCallContent, frozen=True, kw_only=True):
    """A call of an application's tool that takes free text: `arguments` is that text, not JSON."""

    executor: Open[Executor] = "client"
    namespace: str | None = None

    @property
    def arguments_object(self) -> dict[str, Any]:
        """The text under the key "input"."""
        return {"input": self.arguments or ""}


class CustomToolResultContent(ToolResultContent, frozen=True, kw_only=True):
    """What the application's free-text tool gave back."""

    executor: Open[Executor] = "client"


class HostedToolCallContent(ToolCallContent, frozen=True, kw_only=True):
    """A call of a tool that the provider defines, known to this library by a class of its own or not."""


class HostedToolResultContent(ToolResultContent, frozen=True, kw_only=True):
    """The result of a tool that the provider defines. Code for this class handles every hosted tool."""


class ToolApprovalRequestContent(AIContent, frozen=True, kw_only=True):
    """The provider asks before it makes a call. Self-contained: it says what the call would be."""

    request_id: str
    name: str | None = None
    server: str | None = None
    arguments: dict[str, Any] | str | None = None


class ToolApprovalResponseContent(AIContent, frozen=True, kw_only=True):
    """The answer to a `ToolApprovalRequestContent`."""

    request_id: str
    approved: bool
    reason: str | None = None


class InputRequestContent(AIContent, frozen=True, kw_only=True):
    """The conversation waits for something that only the user can give."""

    request_id: str
    message: str | None = None
    schema: dict[str, Any] | None = None


class InputResponseContent(AIContent, frozen=True, kw_only=True):
    """What the user gave for an `InputRequestContent`."""

    request_id: str
    value: Any = None
