"""Transcripts of calls as badly kept as in the wild: ids that repeat in each turn or are missing, and late results.

Each call has a number in its arguments, and its result has the same number in its text. So a law can tell which result
belongs to which call, although their ids do not.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from contentmodel import ChatMessage, ChatOptions, ChatRequest, FunctionCallContent, FunctionResultContent, Origin, user
from contentmodel.content.text import TextContent
from contentmodel.request import FunctionTool

__all__ = ["IDS", "call_transcripts"]

ELSEWHERE = Origin(api="smoke-signals", issuer="unknown", model="m")
"""An API without an adapter."""
IDS = ("repeated", "equal", "unique", "odd", "none on calls", "none on results", "none")
"""The forms of the ids of a transcript's calls and results."""


@st.composite
def call_transcripts(draw: DrawFn, *, longest: int = 4) -> ChatRequest:
    """Draw a request with turns of calls. Only the last turn may lack results."""
    ids, numbers = draw(st.sampled_from(IDS)), iter(range(1, 1000))
    messages: list[Any] = []
    turns = draw(st.integers(1, longest))
    for turn in range(turns):
        if not messages or draw(st.booleans()):
            messages.append(user(f"Question {turn}."))
        calls = [_call(ids, turn, at, next(numbers), draw) for at in range(draw(st.integers(1, 3)))]
        split = draw(st.integers(0, len(calls) - 1)) if draw(st.booleans()) else 0
        messages += [ChatMessage(role="assistant", contents=list(part)) for part in _parts(calls, split)]
        is_last = turn == turns - 1
        answered = draw(st.integers(0, len(calls))) if is_last else len(calls)
        messages += _results(draw, ids, calls[:answered])
        if is_last and answered == len(calls) and draw(st.booleans()):
            messages.append(user("Go on."))
    tools = [FunctionTool(name=name, parameters={"type": "object"}) for name in ("look", "go")]
    return ChatRequest(
        model="m",
        messages=[ChatMessage(role=m.role, contents=m.contents, origin=ELSEWHERE) for m in messages],
        tools=list(tools),
        options=ChatOptions(max_output_tokens=99),
        origin=ELSEWHERE,
    )


def _call(ids: str, turn: int, at: int, number: int, draw: DrawFn) -> FunctionCallContent:
    call_id = {"repeated": f"call_{at}", "equal": "look:0", "odd": f"a b:{at}"}.get(ids, f"call_{turn}_{at}")
    name = draw(st.sampled_from(("look", "go")))
    has_id = ids not in ("none on calls", "none")
    return FunctionCallContent(call_id=call_id if has_id else None, name=name, arguments={"number": number})


def _results(draw: DrawFn, ids: str, calls: list[FunctionCallContent]) -> list[ChatMessage]:
    """Return results in the order of the calls, in one message or several, and perhaps instructions between them."""
    named = draw(st.booleans())
    results: list[Any] = []
    for call in calls:
        number = call.arguments["number"]  # type: ignore[index]
        call_id = f"result_{number}" if ids == "none on calls" else call.call_id
        outputs: list[Any] = [TextContent(text=f"number {number}")]
        name = call.name if named else None
        results.append(
            FunctionResultContent(call_id=None if ids == "none on results" else call_id, name=name, outputs=outputs)
        )
    parts = [ChatMessage(role="tool", contents=part) for part in _parts(results, draw(st.integers(0, len(results))))]
    if len(parts) == 2 and draw(st.booleans()):
        role = draw(st.sampled_from(("developer", "system")))
        parts.insert(1, ChatMessage(role=role, contents=[TextContent(text="Be brief.")]))
    return parts


def _parts(contents: list[Any], at: int) -> list[list[Any]]:
    """Return two parts of a list, without empty ones."""
    return [part for part in (contents[:at], contents[at:]) if part]
