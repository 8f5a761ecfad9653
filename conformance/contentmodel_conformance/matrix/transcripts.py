"""Conversations to convert between APIs: one of each family of content, as a request or an answer.

Built as model values, and encoded for the source API first, so that they contain only what it supports.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from contentmodel.content.base import Protected
from contentmodel.content.citations import Citation, Span
from contentmodel.content.hosted import WebSearchToolCallContent, WebSearchToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage, FinishReason, Origin
from contentmodel.request import (
    ChatOptions,
    ChatRequest,
    FunctionTool,
    HostedTool,
    ReasoningOptions,
    ResponseFormat,
    ToolChoice,
)
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_conformance.matrix.samples import IMAGE

__all__ = ["BASELINES", "FAMILIES", "Family"]

_QUESTION = "What is the weather in Paris?"
_ANSWER = "18 degrees, cloudy."
_CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_LOOKUP = FunctionTool(name="lookup", description="Looks up the weather.", parameters=_CITY)
_OPTIONS = ChatOptions(max_output_tokens=1024)

Value = ChatRequest | ChatResponse


class Family(NamedTuple):
    """A family of content: its name, whether it is of a "request" or a "response", and a conversation for an origin.

    `in_it` returns whether a conversation still has the family's content.
    """

    name: str
    of: str
    build: Callable[[Origin], Value]
    in_it: Callable[[Value], bool]


def _messages(origin: Origin, *turns: tuple[str, list[Any]]) -> list[ChatMessage]:
    return [ChatMessage(role=role, contents=contents, origin=origin) for role, contents in turns]


def _request(origin: Origin, *turns: tuple[str, list[Any]], **more: Any) -> ChatRequest:
    messages = _messages(origin, ("user", [TextContent(text=_QUESTION)]), *turns)
    return ChatRequest(**{"model": "a-model", "messages": messages, "options": _OPTIONS, "origin": origin, **more})


def _response(origin: Origin, *contents: Any, **more: Any) -> ChatResponse:
    ends = FinishReason(reason=more.pop("reason", "stop"))
    choice = ChatChoice(messages=_messages(origin, ("assistant", list(contents))), finish_reason=ends)
    return ChatResponse(**{"id": "answer_1", "model": "a-model", "choices": [choice], "origin": origin, **more})


def _has(kind: type[Any], test: Callable[[Any], bool] = lambda content: True) -> Callable[[Value], bool]:
    """Return a test for a content of a type, in a message or in the outputs of a result."""

    def search(value: Value) -> bool:
        contents = [content for message in value.messages for content in message.contents]
        contents += [output for content in contents for output in getattr(content, "output_list", ())]
        return any(isinstance(content, kind) and test(content) for content in contents)

    return search


_always: Callable[[Value], bool] = lambda value: True  # noqa: E731


def _thought(origin: Origin) -> ReasoningContent:
    seal = Protected(issuer=origin.issuer, kind="signature", data="b3BhcXVlLXN0YXRl")
    return ReasoningContent(text="The user wants the weather.", protected=seal)


def _call(number: int) -> FunctionCallContent:
    return FunctionCallContent(call_id=f"call_{number}", name="lookup", arguments={"city": "Paris"})


def _search() -> list[Any]:
    page = UriContent(uri="https://example.org/weather", title="Weather")
    return [
        WebSearchToolCallContent(call_id="srvtoolu_1", name="web_search", arguments={"query": "weather"}),
        WebSearchToolResultContent(call_id="srvtoolu_1", outputs=[page]),
    ]


_CITATIONS = (
    Citation(span=Span(start=0, end=10), url="https://example.org/weather", title="Weather"),
    Citation(url="https://example.org/weather", title="Weather", cited_text="18 degrees"),
)


def _cited() -> TextContent:
    return TextContent(text=_ANSWER, annotations=list(_CITATIONS))


# -- requests ----------------------------------------------------------------------------------------------------------


def _text(origin: Origin) -> ChatRequest:
    turns = ("assistant", [TextContent(text=_ANSWER)]), ("user", [TextContent(text="And in Rome?")])
    return _request(origin, *turns, instructions=[TextContent(text="Be brief.")])


def _reasoning(origin: Origin) -> ChatRequest:
    result = FunctionResultContent(call_id="call_1", outputs=[TextContent(text=_ANSWER)])
    return _request(origin, ("assistant", [_thought(origin), _call(1)]), ("tool", [result]), tools=[_LOOKUP])


def _tools(origin: Origin) -> ChatRequest:
    fine = FunctionResultContent(call_id="call_1", outputs=[TextContent(text=_ANSWER)])
    failed = FunctionResultContent(call_id="call_2", outputs=[TextContent(text="No station there.")], is_error=True)
    return _request(origin, ("assistant", [_call(1), _call(2)]), ("tool", [fine, failed]), tools=[_LOOKUP])


def _hosted(origin: Origin) -> ChatRequest:
    turns = ("assistant", [*_search(), TextContent(text=_ANSWER)]), ("user", [TextContent(text="And in Rome?")])
    return _request(origin, *turns)


def _media(origin: Origin) -> ChatRequest:
    contents = [
        DataContent(data=IMAGE, media_type="image/png"),
        UriContent(uri="https://example.org/sky.png", media_type="image/png"),
        DataContent(data="JVBERi0xLjQKJSVFT0YK", media_type="application/pdf", name="weather.pdf"),
    ]
    return _request(origin, ("user", contents))


def _sounds(origin: Origin) -> ChatRequest:
    sound = DataContent(data="UklGRiQAAABXQVZFZm10IA==", media_type="audio/wav")
    return _request(origin, ("user", [sound]))


def _images_in_results(origin: Origin) -> ChatRequest:
    image = DataContent(data=IMAGE, media_type="image/png")
    result = FunctionResultContent(call_id="call_1", outputs=[TextContent(text=_ANSWER), image])
    return _request(origin, ("assistant", [_call(1)]), ("tool", [result]), tools=[_LOOKUP])


def _files(origin: Origin) -> ChatRequest:
    return _request(origin, ("user", [HostedFileContent(file_id="file_0123456789", media_type="application/pdf")]))


def _citations(origin: Origin) -> ChatRequest:
    return _request(origin, ("assistant", [_cited()]), ("user", [TextContent(text="And in Rome?")]))


def _definitions(origin: Origin) -> ChatRequest:
    schema = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0, "default": 3}}}
    tools = [_LOOKUP, FunctionTool(name="ages", parameters=schema), HostedTool(kind="web_search")]
    return _request(origin, tools=tools)


def _formats(origin: Origin) -> ChatRequest:
    response_format = ResponseFormat(kind="json_schema", schema={**_CITY, "additionalProperties": False}, name="city")
    return _request(origin, options=ChatOptions(max_output_tokens=1024, response_format=response_format))


_SETTINGS = ChatOptions(
    max_output_tokens=1024,
    temperature=0.5,
    top_p=0.9,
    stop_sequences=["END"],
    seed=7,
    parallel_tool_calls=False,
    tool_choice=ToolChoice(mode="required"),
    reasoning=ReasoningOptions(effort="low"),
)


def _settings(origin: Origin) -> ChatRequest:
    return _request(origin, options=_SETTINGS, tools=[_LOOKUP])


# -- answers -----------------------------------------------------------------------------------------------------------


def _refused(origin: Origin) -> ChatResponse:
    return _response(origin, ErrorContent(message="I cannot help with that.", code="refusal"), reason="refusal")


def _picture(origin: Origin) -> ChatResponse:
    return _response(origin, TextContent(text="Here."), DataContent(data=IMAGE, media_type="image/png"))


_USAGE = Usage(input_tokens=9, output_tokens=5, total_tokens=14, cache_read_tokens=3, reasoning_tokens=2)

FAMILIES = (
    Family("text", "request", _text, _has(TextContent)),
    Family("reasoning", "request", _reasoning, _has(ReasoningContent)),
    Family("tools", "request", _tools, _has(FunctionCallContent)),
    Family("images in results", "request", _images_in_results, _has(DataContent)),
    Family("hosted tools", "request", _hosted, _has(WebSearchToolCallContent)),
    Family("images and documents", "request", _media, _has(DataContent)),
    Family("sounds", "request", _sounds, _has(DataContent)),
    Family("files", "request", _files, _has(HostedFileContent)),
    Family("citations", "request", _citations, _has(TextContent, lambda text: bool(text.annotations))),
    Family("tool definitions", "request", _definitions, lambda value: bool(getattr(value, "tools", None))),
    Family("formats of answers", "request", _formats, lambda value: bool(value.options.response_format)),  # type: ignore[union-attr]
    Family("settings", "request", _settings, _always),
    Family("text", "response", lambda o: _response(o, TextContent(text=_ANSWER)), _has(TextContent)),
    Family(
        "reasoning",
        "response",
        lambda o: _response(o, _thought(o), TextContent(text=_ANSWER)),
        _has(ReasoningContent),
    ),
    Family("tools", "response", lambda o: _response(o, _call(1), reason="tool_calls"), _has(FunctionCallContent)),
    Family(
        "hosted tools",
        "response",
        lambda o: _response(o, *_search(), TextContent(text=_ANSWER)),
        _has(WebSearchToolCallContent),
    ),
    Family("images", "response", _picture, _has(DataContent)),
    Family(
        "citations",
        "response",
        lambda o: _response(o, _cited()),
        _has(TextContent, lambda text: bool(text.annotations)),
    ),
    Family("refusals", "response", _refused, _always),
    Family("usage", "response", lambda o: _response(o, TextContent(text=_ANSWER), usage=_USAGE), _always),
    Family("an answer cut short", "response", lambda o: _response(o, TextContent(text="18"), reason="length"), _always),
)
"""One conversation for each family."""

BASELINES: dict[str, Callable[[Origin], Value]] = {
    "request": lambda origin: _request(origin),
    "response": lambda origin: _response(origin, TextContent(text="(an answer)")),
}
"""Minimal conversations. Their losses are not counted for any family."""
