"""Tool calls and tool results: the base classes, and the types of tools that the application runs."""

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
    """The caller of a tool: the model itself (`kind` "direct"), or a program that it runs (`call_id` is that run)."""

    kind: str
    call_id: str | None = None
    extra: dict[str, dict[str, Any]] | None = None


class ToolCallContent(AIContent, frozen=True, kw_only=True):
    """The base class of tool calls.

    `call_id` pairs the call with its result. `arguments` is an object, or a text if the API sent a text; a text is
    kept exactly as received, valid JSON or not. `status` is the provider's value. `executor` is "client" if the
    application runs the tool, or "provider".
    """

    call_id: str | None = None
    name: str | None = None
    arguments: dict[str, Any] | str | None = None
    status: str | None = None
    caller: Caller | None = None
    executor: Open[Executor] = "provider"

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text. If `arguments` is a text, return it unchanged."""
        if isinstance(self.arguments, str):
            return self.arguments
        return write(self.arguments or {}).decode()

    @property
    def arguments_object(self) -> dict[str, Any]:
        """The arguments as an object; {} if they are None or empty.

        Raise ToolArgumentsError if the text is not a JSON object.
        """
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
        """The arguments received so far, for a call that is still streaming. Display them; never run them."""
        from contentmodel.partial import partial_json

        value = self.arguments if isinstance(self.arguments, dict) else partial_json(self.arguments or "")
        return value if isinstance(value, dict) else {}


class ToolResultContent(AIContent, frozen=True, kw_only=True):
    """The base class of tool results. `outputs` are contents; texts given to the constructor become TextContents.

    A failure is an `ErrorContent` among the outputs, or `is_error` if the API has such a flag. `error` covers both.
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
        """The first ErrorContent of the outputs, or an ErrorContent with the text if `is_error` is true; else None."""
        for output in self.outputs:
            if isinstance(output, ErrorContent):
                return output
        return ErrorContent(message=self.text) if self.is_error else None

    @property
    def text(self) -> str:
        """The concatenated text outputs."""
        return "".join(output.text for output in self.outputs if isinstance(output, TextContent))


class FunctionCallContent(ToolCallContent, frozen=True, kw_only=True):
    """A call of a function that the application declares and runs. `namespace` is the group that declares it."""

    executor: Open[Executor] = "client"
    namespace: str | None = None


class FunctionResultContent(ToolResultContent, frozen=True, kw_only=True):
    """The result of the application's function."""

    executor: Open[Executor] = "client"


class CustomToolCallContent(ToolCallContent, frozen=True, kw_only=True):
    """A call of a free-text tool of the application. `arguments` is the text, not JSON."""

    executor: Open[Executor] = "client"
    namespace: str | None = None

    @property
    def arguments_object(self) -> dict[str, Any]:
        """The text as an object: `{"input": text}`."""
        return {"input": self.arguments or ""}


class CustomToolResultContent(ToolResultContent, frozen=True, kw_only=True):
    """The result of the application's free-text tool."""

    executor: Open[Executor] = "client"


class HostedToolCallContent(ToolCallContent, frozen=True, kw_only=True):
    """A call of a tool that the provider defines. Subclasses cover specific tools; other tools use this class."""


class HostedToolResultContent(ToolResultContent, frozen=True, kw_only=True):
    """The result of a tool that the provider defines. The base class of the results of all hosted tools."""


class ToolApprovalRequestContent(AIContent, frozen=True, kw_only=True):
    """A request for approval of a call, before it is made. It contains the name, server and arguments of the call."""

    request_id: str
    name: str | None = None
    server: str | None = None
    arguments: dict[str, Any] | str | None = None


class ToolApprovalResponseContent(AIContent, frozen=True, kw_only=True):
    """The response to a `ToolApprovalRequestContent`."""

    request_id: str
    approved: bool
    reason: str | None = None


class InputRequestContent(AIContent, frozen=True, kw_only=True):
    """A request for input from the user. `message` is the question, `schema` the schema of the expected value."""

    request_id: str
    message: str | None = None
    schema: dict[str, Any] | None = None


class InputResponseContent(AIContent, frozen=True, kw_only=True):
    """The user's response to an `InputRequestContent`."""

    request_id: str
    value: Any = None
