"""A model of Pydantic AI that sends its requests with a client of this library.

    model = ClientModel(async_chat_client("anthropic-messages", model="claude-opus-4-8"))
    agent = Agent(model, instructions="Be brief.")

Messages are converted by the adapter `pydantic-ai-messages`, in both directions.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from contentmodel.adapter import adapter
from contentmodel.client import AsyncChatClient, AsyncChatStream, ClientError
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, ToolResultContent
from contentmodel.events import (
    ArgumentsDelta,
    BlockStart,
    BlockStop,
    ReasoningDelta,
    TextDelta,
    TurnComplete,
    TurnError,
)
from contentmodel.extras import needs_extra
from contentmodel.message import ChatMessage
from contentmodel.request import (
    ChatOptions,
    ChatRequest,
    FunctionTool,
    ReasoningOptions,
    ResponseFormat,
    ToolChoice,
)
from contentmodel.response import ChatResponse

with needs_extra("pydantic-ai", "pydantic_ai"):
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UserError
    from pydantic_ai.messages import (
        InstructionPart,
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelResponse,
        ModelResponseStreamEvent,
        TextPart,
        ThinkingPart,
        ToolCallPart,
    )
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.models._tool_choice import resolve_tool_choice
    from pydantic_ai.profiles import ModelProfile, ModelProfileSpec, merge_profile
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import RunContext, ToolDefinition

FORMAT = "pydantic-ai-messages"
_OPTIONS = {
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop_sequences": "stop_sequences",
    "parallel_tool_calls": "parallel_tool_calls",
    "service_tier": "service_tier",
}
"""The option of a request for each setting of Pydantic AI that has the same meaning."""


class ClientModel(Model):
    """A model that sends its requests with a client. The losses of a request go to the client's `on_losses`.

    `native_tools` are not supported. A setting without a counterpart in `ChatOptions` raises UserError.
    """

    def __init__(
        self,
        client: AsyncChatClient,
        *,
        profile: ModelProfileSpec | None = None,
        settings: ModelSettings | None = None,
    ) -> None:
        super().__init__(settings=settings, profile=_with_defaults(profile, client))
        self.client = client

    @property
    def model_name(self) -> str:
        """The model of the client, or the API id if the client has none."""
        return self.client.model or self.client.api

    @property
    def system(self) -> str:
        """The issuer of the client's API: the name of the provider in messages."""
        return adapter(self.client.api).issuer

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send the messages and return the answer. Raise ModelHTTPError or ModelAPIError if the request fails."""
        request, timeout = self._request(messages, model_settings, model_request_parameters)
        try:
            response = await self.client.complete(request, timeout=timeout)
        except ClientError as error:
            raise _raised(error, self.model_name) from error
        return model_response(response)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Send the messages and yield the streamed answer."""
        request, timeout = self._request(messages, model_settings, model_request_parameters)
        try:
            async with self.client.stream(request, timeout=timeout) as stream:
                yield _Streamed(model_request_parameters, stream=stream, name=self.model_name, provider=self.system)
        except ClientError as error:
            raise _raised(error, self.model_name) from error

    def _request(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> tuple[ChatRequest, float | None]:
        settings, parameters = self.prepare_request(settings, parameters)
        request = adapter(FORMAT).decode_request(messages)
        instructions = self._get_instruction_parts(messages, parameters) or []
        text = InstructionPart.join(instructions)
        options: dict[str, Any] = dict(settings or {})
        timeout = options.get("timeout")
        request = msgspec.structs.replace(
            request,
            instructions=[] if text is None else [TextContent(text=text)],
            tools=[_tool(tool) for tool in (*parameters.declared_function_tools, *parameters.output_tools)],
            options=_options(options, parameters),
        )
        return request, timeout if isinstance(timeout, int | float) else None


def _with_defaults(profile: ModelProfileSpec | None, client: AsyncChatClient) -> ModelProfileSpec:
    """Return a profile over the defaults for the client's model: what its API has, as far as the model is known."""
    capabilities = adapter(client.api).look_up_model(client.model).capabilities
    defaults = ModelProfile(
        supports_json_schema_output=capabilities.structured_output,
        supports_thinking=capabilities.thinking != () or bool(capabilities.efforts),
    )
    if callable(profile):
        return lambda base: profile(merge_profile(base, defaults))
    return merge_profile(defaults, profile)


def _tool(tool: ToolDefinition) -> FunctionTool:
    return FunctionTool(
        name=tool.name, description=tool.description, parameters=tool.parameters_json_schema, strict=tool.strict
    )


_OF_CONNECTION = ("timeout", "request_timeout", "first_event_timeout", "framing_announcement", "tool_choice")


def _options(settings: dict[str, Any], parameters: ModelRequestParameters) -> ChatOptions:
    values = {_OPTIONS[name]: value for name, value in settings.items() if name in _OPTIONS}
    unknown = [
        name for name, value in settings.items() if name not in (*_OPTIONS, *_OF_CONNECTION) and value is not None
    ]
    if unknown:
        raise UserError(f"ClientModel has no setting {', '.join(unknown)}: set it in the client or in its SDK")
    thinking = parameters.thinking
    if thinking is not None:
        mode = "disabled" if thinking is False else "enabled"
        effort = thinking if isinstance(thinking, str) else None
        values["reasoning"] = ReasoningOptions(effort=effort) if effort else ReasoningOptions(mode=mode)
    output = parameters.output_object
    if parameters.output_mode == "native" and output is not None:
        values["response_format"] = ResponseFormat(
            kind="json_schema",
            schema=output.json_schema,
            name=output.name or "output",
            description=output.description,
            strict=output.strict,
        )
    return ChatOptions(**values, tool_choice=_choice(settings, parameters))


def _choice(settings: Any, parameters: ModelRequestParameters) -> ToolChoice | None:
    """Return the tools that a model may call: its functions by the setting `tool_choice`, and the output tools."""
    choice = resolve_tool_choice(settings, parameters)
    if isinstance(choice, tuple):
        return ToolChoice(mode=choice[0], tools=sorted(choice[1]))
    tools = (*parameters.declared_function_tools, *parameters.output_tools)
    return ToolChoice(mode=choice) if tools and choice != "auto" else None


# -- answers -----------------------------------------------------------------------------------------------------------


def model_response(response: ChatResponse) -> ModelResponse:
    """Return an answer of this library as a response of Pydantic AI."""
    return _loaded(_wire_of(response, [content for message in response.messages for content in message.contents]))


def _wire_of(response: ChatResponse, contents: Iterable[AIContent]) -> dict[str, Any]:
    """Return the JSON of a Pydantic AI response with these contents and the other fields of an answer."""
    message = ChatMessage(
        role="assistant",
        contents=list(contents),
        usage=response.usage,
        finish_reason=response.finish_reason,
        response_id=response.id,
        origin=response.origin,
    )
    payload: Any = adapter(FORMAT).encode_request(ChatRequest(messages=[message], origin=response.origin)).payload
    wire: dict[str, Any] = payload[0] if payload else {"kind": "response", "parts": []}
    return wire if response.model is None else {**wire, "model_name": response.model}


def _loaded(wire: dict[str, Any]) -> ModelResponse:
    (loaded,) = ModelMessagesTypeAdapter.validate_python([wire])
    assert isinstance(loaded, ModelResponse)
    return loaded


@dataclass
class _Streamed(StreamedResponse):
    """A streamed answer, with the events of a client's stream converted to those of Pydantic AI."""

    stream: AsyncChatStream
    name: str
    provider: str
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    results: set[int] = field(default_factory=set)
    """The blocks of results: they are sent whole, at their end."""

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        growing: set[int] = set()
        async for event in self.stream:
            if isinstance(event, TurnComplete):
                self._finish(event.response)
            elif isinstance(event, TurnError):
                cause = self.stream.failure
                raise ModelAPIError(self.name, event.error.message or "the stream ended early") from cause
            else:
                for part_event in self._events(event, growing):
                    yield part_event

    def _events(self, event: Any, growing: set[int]) -> Iterator[ModelResponseStreamEvent]:
        parts = self._parts_manager
        if isinstance(event, BlockStart) and event.choice == 0:
            content = event.content
            if isinstance(content, ToolResultContent):
                self.results.add(event.index)
            if isinstance(content, FunctionCallContent) and content.name:
                yield from parts.handle_tool_call_delta_events(
                    vendor_part_id=event.index, tool_name=content.name, tool_call_id=content.call_id
                )
            elif isinstance(content, TextContent | ReasoningContent) and content.text:
                yield from self._grow(event.index, content, content.text, growing)
        elif isinstance(event, TextDelta) and event.index not in self.results:
            yield from self._grow(event.index, TextContent(text=""), event.text, growing)
        elif isinstance(event, ReasoningDelta):
            yield from self._grow(event.index, ReasoningContent(), event.text, growing)
        elif isinstance(event, ArgumentsDelta) and event.path is None:
            growing.add(event.index)
            yield from parts.handle_tool_call_delta_events(vendor_part_id=event.index, args=event.text)
        elif isinstance(event, BlockStop):
            yield from self._end(event, growing)

    def _grow(self, index: int, content: AIContent, text: str, growing: set[int]) -> Iterator[ModelResponseStreamEvent]:
        growing.add(index)
        if isinstance(content, ReasoningContent):
            yield from self._parts_manager.handle_thinking_delta(vendor_part_id=index, content=text)
        else:
            yield from self._parts_manager.handle_text_delta(vendor_part_id=index, content=text)

    def _end(self, event: BlockStop, growing: set[int]) -> Iterator[ModelResponseStreamEvent]:
        """Yield the rest of a block: its opaque state and its citations, or the whole block if it had no deltas."""
        parts, at = self._parts_manager, event.index
        for part in _loaded(_wire_of(ChatResponse(origin=self.stream.response.origin), [event.content])).parts:
            if isinstance(part, ToolCallPart):
                yield from parts.handle_tool_call_delta_events(
                    vendor_part_id=at,
                    args=None if at in growing else part.args_as_json_str(),
                    provider_name=part.provider_name,
                    provider_details=part.provider_details,
                )
            elif isinstance(part, ThinkingPart) and at in growing:
                if part.signature is not None or part.provider_details is not None:
                    yield from parts.handle_thinking_delta(
                        vendor_part_id=at,
                        signature=part.signature,
                        provider_name=part.provider_name,
                        provider_details=part.provider_details,
                    )
            elif isinstance(part, TextPart) and at in growing:
                if part.citations or part.provider_details is not None:
                    yield from parts.handle_text_delta(
                        vendor_part_id=at,
                        content="",
                        provider_name=part.provider_name,
                        provider_details=part.provider_details,
                        citations=part.citations,
                    )
            elif not isinstance(part, TextPart) or part.content:
                yield parts.handle_part(vendor_part_id=at, part=part)

    def _finish(self, response: ChatResponse) -> None:
        loaded = _loaded(_wire_of(response, [TextContent(text="")]))
        self._usage = loaded.usage
        self.finish_reason = loaded.finish_reason
        self.provider_response_id = loaded.provider_response_id
        self.name = loaded.model_name or self.name

    async def close_stream(self) -> None:
        """Close the connection."""
        await self.stream.close()

    @property
    def model_name(self) -> str:
        """The model that answers."""
        return self.name

    @property
    def provider_name(self) -> str | None:
        """The issuer of the client's API."""
        return self.provider or None

    @property
    def provider_url(self) -> str | None:
        """None, because the address is a setting of the client."""
        return None

    @property
    def timestamp(self) -> datetime:
        """The time of the request."""
        return self.started


def _raised(error: ClientError, model: str) -> Exception:
    """Return the exception of Pydantic AI for an exception of a client."""
    if error.status is None:
        return ModelAPIError(model, str(error))
    body = None if error.error is None else {"message": error.error.message, "code": error.error.code}
    return ModelHTTPError(error.status, model, body)
