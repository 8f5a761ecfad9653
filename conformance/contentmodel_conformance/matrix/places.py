"""The places of a content: requests and answers around it, and what replaces it after a round trip.

Owns the scaffolds. Scaffold contents are recognized by their texts and ids; all other contents after a round trip come
from the content under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from contentmodel.content import result_type
from contentmodel.content.base import AIContent
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import MediaContent
from contentmodel.content.outcomes import (
    CompactionContent,
    ConfigurationContent,
    ErrorContent,
    ReferenceContent,
    ToolChangeContent,
    UnknownContent,
)
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, FinishReason, Origin
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_conformance.matrix.samples import tool_name

__all__ = ["INSTRUCTIONS", "RESULT", "Staged", "places", "remains", "staged"]

INSTRUCTIONS, USER, ASSISTANT, RESULT = "the instructions", "the user's turn", "the assistant's turn", "a tool's result"
_SCAFFOLD_TEXTS = {"(asked before)", "(said before)", "(said after)", "(asked after)", "(the result)"}
# Every API accepts it: Mistral requires nine letters and digits.
_SCAFFOLD = "scaffold0"

_PLACES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (TextContent, (INSTRUCTIONS, USER, ASSISTANT, RESULT)),
    ((MediaContent, DocumentContent, UnknownContent), (USER, ASSISTANT, RESULT)),
    (ErrorContent, (ASSISTANT, RESULT)),
    (JsonContent, (RESULT,)),
    ((ToolCallContent, ReasoningContent, CompactionContent), (ASSISTANT,)),
    ((ToolApprovalRequestContent, InputRequestContent), (ASSISTANT,)),
    ((ToolApprovalResponseContent, InputResponseContent), (USER,)),
    ((ToolChangeContent, ConfigurationContent), (USER,)),
    (ReferenceContent, (USER, ASSISTANT, RESULT)),
)


class Staged(NamedTuple):
    """A whole request or answer, the role of the content in it, and the model paths of the content's losses.

    `pair` is the path of the call of a result.
    """

    value: ChatRequest | ChatResponse
    role: str
    paths: tuple[str, ...]
    pair: str | None = None


def places(content: AIContent, kind: str) -> tuple[str, ...]:
    """Return the places of a content in a request or an answer; () if answers have none."""
    if isinstance(content, ToolResultContent):
        all_places: tuple[str, ...] = (ASSISTANT,) if content.executor == "provider" else (USER,)
    else:
        all_places = next((names for types, names in _PLACES if isinstance(content, types)), (USER, ASSISTANT))
    return all_places if kind == "request" else tuple(place for place in all_places if place == ASSISTANT)


def staged(content: AIContent, place: str, kind: str, origin: Origin | None) -> Staged:
    """Return the content at its place, in a conversation that is valid without it."""
    if kind == "response":
        return _answer(content, origin)
    before, message, inside = _turn(content, place)
    messages = [_message("user", [TextContent(text="(asked before)")], origin)]
    instructions: list[Any] = []
    paths = ["$.instructions[0]"]
    if place == INSTRUCTIONS:
        instructions = [content]
    else:
        messages += [_message(role, contents, origin) for role, contents in (*before, message)]
        paths = [f"$.messages[{len(messages) - 1}]", f"$.messages[{len(messages) - 1}].contents[{inside}]"]
    messages += [_message(role, contents, origin) for role, contents in _after(content, message[0])]
    request = ChatRequest(
        model="a-model",
        instructions=instructions,
        messages=messages,
        options=ChatOptions(max_output_tokens=1024),
        origin=origin,
    )
    pair = None
    if isinstance(content, ToolResultContent):
        pair = f"$.messages[{1 if place == ASSISTANT else len(before)}].contents[0]"
    return Staged(request, "system" if place == INSTRUCTIONS else message[0], tuple(paths), pair)


def _message(role: str, contents: list[Any], origin: Origin | None) -> ChatMessage:
    return ChatMessage(role=role, contents=contents, origin=origin)


_Turn = tuple[str, list[Any]]


def _turn(content: AIContent, place: str) -> tuple[list[_Turn], _Turn, int]:
    """Return the turns before a content, the turn with it, and its index there."""
    if place == RESULT:
        call = FunctionCallContent(call_id=_SCAFFOLD, name="lookup", arguments={"city": "Paris"})
        result = FunctionResultContent(call_id=_SCAFFOLD, name="lookup", outputs=[content])
        return [("assistant", [call])], ("tool", [result]), 0
    if isinstance(content, ToolResultContent):
        call = _call_of(content)
        if place == ASSISTANT:
            return [], ("assistant", [call, content]), 1
        return [("assistant", [call])], ("tool", [content]), 0
    contents: list[Any] = [content]
    if isinstance(content, ToolCallContent) and content.executor == "provider":
        contents.append(_result_of(content))
    elif not isinstance(content, TextContent | ToolCallContent):
        # Keeps the turn from being empty if the content is dropped.
        contents.append(TextContent(text="(said before)"))
    if place == USER and isinstance(content, ToolApprovalResponseContent):
        question = ToolApprovalRequestContent(request_id=content.request_id, name="lookup", server="weather")
        return [("assistant", [question])], ("user", contents), 0
    return [], ("assistant" if place == ASSISTANT else "user", contents), 0


def _after(content: AIContent, role: str) -> Iterator[_Turn]:
    """Yield the turns after a content in a turn of this role. After results, the assistant answers before the user."""
    if isinstance(content, ToolCallContent) and content.executor == "client":
        role = "tool"
        yield role, [_result_of(content)]
    if role == "tool":
        yield "assistant", [TextContent(text="(said after)")]
    yield "user", [TextContent(text="(asked after)")]


def _call_of(result: ToolResultContent) -> Any:
    from contentmodel.content import CONTENT_TYPES

    name = type(result).__name__.replace("ResultContent", "CallContent")
    kind = next((kind for kind in CONTENT_TYPES if kind.__name__ == name), FunctionCallContent)
    arguments: Any = "(the input)" if name == "CustomToolCallContent" else {"query": "(the input)"}
    return kind(call_id=result.call_id, name=tool_name(type(result)), arguments=arguments)  # type: ignore[call-arg]


def _result_of(call: ToolCallContent) -> Any:
    result = result_type(call)(call_id=call.call_id, outputs=[TextContent(text="(the result)")])
    return msgspec.structs.replace(result, executor=call.executor)


def _answer(content: AIContent, origin: Origin | None) -> Staged:
    contents: list[Any] = [content]
    index = 0
    if isinstance(content, ToolResultContent):
        contents, index = [_call_of(content), content], 1
    elif isinstance(content, ToolCallContent) and content.executor == "provider":
        contents.append(_result_of(content))
    calls = isinstance(content, ToolCallContent) and content.executor == "client"
    answer = ChatResponse(
        id="answer_0123456789",
        model="a-model",
        choices=[
            ChatChoice(
                messages=[_message("assistant", contents, origin)],
                finish_reason=FinishReason(reason="tool_calls" if calls else "stop"),
            )
        ],
        origin=origin,
    )
    path = "$.choices[0].messages[0]"
    return Staged(answer, "assistant", (path, f"{path}.contents[{index}]"))


# -- afterwards --------------------------------------------------------------------------------------------------------


def remains(content: AIContent, value: ChatRequest | ChatResponse) -> list[tuple[str, Any]]:
    """Return what replaces a content: every content that is not empty and not of the scaffold, with its role."""
    others = ((role, other) for role, other in _all(value) if not _is_scaffold(other, content))
    return [(role, other) for role, other in others if not _is_empty(other)]


def _is_empty(content: Any) -> bool:
    """Return whether a content has no text, such as a thought with a placeholder for its state."""
    has_text = isinstance(content, TextContent | ReasoningContent)
    return has_text and not content.text and content.protected is None


def _all(value: ChatRequest | ChatResponse) -> Iterator[tuple[str, Any]]:
    yield from (("system", content) for content in getattr(value, "instructions", ()))
    for message in value.messages:
        for content in message.contents:
            if isinstance(content, ToolResultContent) and content.call_id == _SCAFFOLD:
                yield from (("tool", output) for output in content.output_list)
            else:
                yield message.role, content
    error = getattr(value, "error", None)
    if error is not None:
        yield "assistant", error


def _is_scaffold(other: Any, content: AIContent) -> bool:
    if isinstance(other, TextContent):
        return other.text in _SCAFFOLD_TEXTS
    if isinstance(content, ToolApprovalResponseContent) and isinstance(
        other, ToolApprovalRequestContent | ToolCallContent
    ):
        # The request, and the call that some formats make from it.
        return True
    if isinstance(other, ToolCallContent):
        return other.call_id == _SCAFFOLD or isinstance(content, ToolResultContent)
    return isinstance(other, ToolResultContent) and isinstance(content, ToolCallContent)
