"""Tool calls and tool results: the base classes, and the types of tools that the application runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import JsonContent, TextContent, are_contents, as_contents
from contentmodel.errors import DecodeError, ToolArgumentsError
from contentmodel.interop import Model
from contentmodel.json import kind_of, parse, write
from contentmodel.literals import Executor, Open, Outcome

if TYPE_CHECKING:
    from contentmodel.content import Content


class Caller(Model, frozen=True, kw_only=True):
    """The caller of a tool: the model itself, or a program that it runs."""

    kind: str
    """`direct` for the model itself, else the provider's name of the kind of program."""
    call_id: str | None = None
    """The call of the program that makes this call."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""


class ToolCallContent(AIContent, frozen=True, kw_only=True):
    """The base class of tool calls."""

    call_id: str | None = None
    """The id that pairs the call with its result."""
    name: str | None = None
    """The name of the tool."""
    arguments: dict[str, Any] | str | None = None
    """An object; or a text if the API sent a text, which is kept exactly as received, valid JSON or not."""
    status: str | None = None
    """The provider's value."""
    caller: Caller | None = None
    """The caller, if the API reports it."""
    executor: Open[Executor] = "provider"
    """`client` if the application runs the tool, or `provider`."""

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text. If `arguments` is a text, return it unchanged."""
        if isinstance(self.arguments, str):
            return self.arguments
        return write(self.arguments or {}).decode()

    @property
    def arguments_object(self) -> dict[str, Any]:
        """The arguments as an object; {} if they are None, a blank text, or the text `null`.

        Raise ToolArgumentsError if the text is not a JSON object.
        """
        if isinstance(self.arguments, dict):
            return self.arguments
        if not self.arguments or self.arguments.strip() in ("", "null"):
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
    """The base class of tool results."""

    call_id: str | None = None
    """The id of the call that this is the result of."""
    name: str | None = None
    """The name of the tool."""
    outputs: list[Content] | None = []
    """The outputs as contents. A text becomes a `TextContent`. A failure is an `ErrorContent` among them.

    None means that the source does not say what the outputs are. Encoders send it as an empty list.
    """
    is_error: bool | None = None
    """True if the call failed, for APIs with such a flag. The property `error` covers this flag and the outputs."""
    outcome: Open[Outcome | None] = None
    """The outcome of the call, if the source reports more than success or failure."""
    artifact: Any = None
    """The result as the application keeps it beside the outputs, a JSON value. It is never sent to a model."""
    status: str | None = None
    """The provider's value."""
    caller: Caller | None = None
    """The caller, if the API reports it."""
    executor: Open[Executor] = "provider"
    """`client` if the application runs the tool, or `provider`."""

    def __post_init__(self) -> None:
        if self.outputs is not None and not are_contents(self.outputs):
            msgspec.structs.force_setattr(self, "outputs", as_contents(self.outputs, "outputs"))

    @property
    def output_list(self) -> list[Content]:
        """The outputs; an empty list if they are None."""
        return [] if self.outputs is None else self.outputs

    @property
    def error(self) -> ErrorContent | None:
        """The first ErrorContent of the outputs, or an ErrorContent with the text if `is_error` is true; else None."""
        for output in self.output_list:
            if isinstance(output, ErrorContent):
                return output
        return ErrorContent(message=self.text) if self.is_error else None

    @property
    def text(self) -> str:
        """The concatenated text outputs. A JSON value is compact JSON text."""
        return "".join(output.text for output in self.output_list if isinstance(output, TextContent | JsonContent))


class FunctionCallContent(ToolCallContent, frozen=True, kw_only=True):
    """A call of a function that the application declares and runs."""

    executor: Open[Executor] = "client"
    namespace: str | None = None
    """The group that declares the tool."""


class FunctionResultContent(ToolResultContent, frozen=True, kw_only=True):
    """The result of the application's function."""

    executor: Open[Executor] = "client"


class CustomToolCallContent(ToolCallContent, frozen=True, kw_only=True):
    """A call of a free-text tool of the application. `arguments` is the text, not JSON."""

    executor: Open[Executor] = "client"
    namespace: str | None = None
    """The group that declares the tool."""

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
    """A request for approval of a call, before it is made."""

    request_id: str
    """The id of the request. The response has the same one."""
    name: str | None = None
    """The name of the tool."""
    server: str | None = None
    """The label of the MCP server."""
    arguments: dict[str, Any] | str | None = None
    """The arguments of the call."""


class ToolApprovalResponseContent(AIContent, frozen=True, kw_only=True):
    """The response to a `ToolApprovalRequestContent`."""

    request_id: str
    """The id of the request that this responds to."""
    approved: bool
    """True if the call is approved."""
    reason: str | None = None
    """The reason, for people and the model."""


class InputRequestContent(AIContent, frozen=True, kw_only=True):
    """A request for input from the user."""

    request_id: str
    """The id of the request. The response has the same one."""
    message: str | None = None
    """The question."""
    schema: dict[str, Any] | None = None
    """The JSON Schema of the expected value."""


class InputResponseContent(AIContent, frozen=True, kw_only=True):
    """The user's response to an `InputRequestContent`."""

    request_id: str
    """The id of the request that this responds to."""
    value: Any = None
    """The user's input, a JSON value."""
