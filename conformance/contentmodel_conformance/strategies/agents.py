"""Requests and answers of agents, as lanes expect them: turns of calls and results, with ids like real ones."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from hypothesis import strategies as st

from contentmodel import (
    AIContent,
    ChatChoice,
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    Origin,
    Protected,
    ReasoningContent,
    TextContent,
    Usage,
)
from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import UNITS
from contentmodel_conformance.strategies.transcripts import Limits

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TOOLS = ("read_file", "run_tests", "search")


def agent_requests(api: str, limits: Limits) -> Any:
    """Return a strategy of requests that came from `api`, with one to three turns of calls and results."""
    return st.integers(0, 2**32).map(partial(_request, api, limits))


def agent_answers(api: str, limits: Limits) -> Any:
    """Return a strategy of answers that came from `api`, with reasoning, text or calls."""
    return st.integers(0, 2**32).map(partial(_answer, api, limits))


def _request(api: str, limits: Limits, seed: int) -> ChatRequest:
    random, origin = Random(seed), Origin(api=api, issuer=limits.issuer, model=limits.model)
    messages = [ChatMessage(role="user", contents=[TextContent(text=_prose(random))], origin=origin)]
    for _ in range(random.choice((1, 2, 3))):
        contents: list[Any] = _contents(random, limits, calls=random.choice((1, 1, 2)))
        messages.append(ChatMessage(role="assistant", contents=contents, origin=origin))
        calls = [content for content in contents if isinstance(content, FunctionCallContent)]
        results: list[AIContent] = [_result(random, call) for call in calls]
        messages.append(ChatMessage(role="tool", contents=results, origin=origin))
    tools: list[Any] = [FunctionTool(name=name, description=name, parameters={"type": "object"}) for name in _TOOLS]
    options = ChatOptions(max_output_tokens=4096)
    return ChatRequest(model=limits.model, messages=messages, tools=tools, options=options, origin=origin)


def _answer(api: str, limits: Limits, seed: int) -> ChatResponse:
    random = Random(seed)
    origin = Origin(api=api, issuer=limits.issuer, model=limits.model, is_answer=True)
    contents = _contents(random, limits, calls=random.choice((0, 1, 2)))
    called = any(isinstance(content, FunctionCallContent) for content in contents)
    choice = ChatChoice(
        messages=[ChatMessage(role="assistant", contents=contents, origin=origin)],
        finish_reason=FinishReason(reason="tool_calls" if called else "stop"),
        index=0,
    )
    read, sent = random.randrange(900, 999), random.randrange(100, 200)
    usage = Usage(input_tokens=read, output_tokens=sent, total_tokens=read + sent, cache_read_tokens=sent // 2)
    return ChatResponse(
        id=_id(random, 24),
        model=limits.model,
        created=1_780_000_000 + random.randrange(1000),
        choices=[choice],
        usage=usage,
        origin=origin,
    )


def _contents(random: Random, limits: Limits, calls: int) -> list[AIContent]:
    contents: list[AIContent] = []
    if limits.signs and random.random() < 0.5:
        state = Protected(issuer=limits.issuer, kind="signature", data=_id(random, 24))
        contents.append(ReasoningContent(text=_prose(random), protected=state))
    if not calls or random.random() < 0.7:
        contents.append(_cited(random) if random.random() < 0.4 else TextContent(text=_prose(random)))
    return [*contents, *(_call(random) for _ in range(calls))]


def _cited(random: Random) -> TextContent:
    """Return a text with citations of pages: of all of it, or of parts in the units of some APIs."""
    text = random.choice(("", "🙂 ", "Ünï ")) + _prose(random)
    start = random.choice((0, 3, 9))
    part = Span(start=start, end=random.choice((start + 8, len(text))), unit=random.choice(UNITS))
    pages = [
        Citation(
            url=f"https://a.example/{random.randrange(10**6)}",
            title=_prose(random),
            cited_text=random.choice((None, _prose(random))),
            span=random.choice((None, part)),
        )
        for _ in range(random.choice((1, 1, 2)))
    ]
    return TextContent(text=text, annotations=pages)


def _call(random: Random) -> FunctionCallContent:
    arguments = {"path": _prose(random), "number": random.randrange(100)}
    return FunctionCallContent(call_id=_id(random, 9), name=random.choice(_TOOLS), arguments=arguments)


def _result(random: Random, call: FunctionCallContent) -> FunctionResultContent:
    return FunctionResultContent(call_id=call.call_id, name=call.name, outputs=[TextContent(text=_prose(random))])


def _id(random: Random, length: int) -> str:
    # Mistral's ids have nine letters and digits.
    return "".join(random.choices(_LETTERS, k=length - 2)) + "a1"


def _prose(random: Random) -> str:
    return f"The file {random.randrange(10**6)} has {random.randrange(10**6)} lines."
