"""Arguments of calls as models type them: spelled in any way, cut off, malformed, or no object."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from contentmodel import ChatChoice, ChatMessage, ChatResponse, FinishReason, FunctionCallContent, Origin, TextContent
from contentmodel import events as ev
from contentmodel.json import object_or_text

NO_OBJECTS = ("[1]", "[]", "null", "3", "1e5", "true", '"x"', "  ", "", "{", '{"a":1}}', "ls -la", '{"a" 1}', "NaN")
"""Texts that are JSON of another kind, or no JSON."""
SPELLED = (
    '{"a":1e5}',
    '{"a": 1.0}',
    '{"a":"\\u0041\\/"}',
    '{ "a" : [ 1 , 2 ] }',
    '{"a":123456789012345678901234567890}',
    '{"a":-0}',
    '{"a":1,"a":2}',
    '\n{"a":"é"}\n',
    "{}",
    "{ }",
    '{"INVALID_JSON":"x"}',
    '{"input":"x"}',
)
"""Objects that a JSON library would write in another way, or that other formats use as marks."""


@st.composite
def argument_texts(draw: DrawFn) -> str:
    """Draw the text of arguments: of any object in any spelling, cut anywhere or not, or of no object."""
    if draw(st.booleans()):
        return draw(st.sampled_from((*NO_OBJECTS, *SPELLED)))
    values = st.text(max_size=6) | st.integers() | st.booleans() | st.none() | st.lists(st.integers(), max_size=2)
    arguments = draw(st.dictionaries(st.text(max_size=4), values, max_size=3))
    separators = draw(st.sampled_from(((",", ":"), (", ", ": "))))
    text = json.dumps(arguments, separators=separators, ensure_ascii=draw(st.booleans()))
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


@st.composite
def typed_calls(draw: DrawFn, origin: Origin) -> list[Any]:
    """Draw the events of an answer whose calls have such arguments, in pieces, after a text or not."""
    contents: list[Any] = [TextContent(text="Look:")] if draw(st.booleans()) else []
    events: list[Any] = [ev.TurnStart(response=ChatResponse(id="r", model="m", origin=origin))]
    for content in contents:
        events += [ev.BlockStart(index=0, content=TextContent(text="")), ev.TextDelta(index=0, text=content.text)]
        events.append(ev.BlockStop(index=0, content=content))
    for index in range(len(contents), len(contents) + draw(st.integers(1, 2))):
        text = draw(argument_texts())
        begun = FunctionCallContent(call_id=f"call_{index}", name="run", arguments="")
        size = draw(st.sampled_from((1, 3, 100)))
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        # A decoder of an API with objects stops a block with the object, where there is one.
        arguments = object_or_text(text) if text and draw(st.booleans()) else text
        if text and draw(st.integers(0, 9)) == 0:
            # A source that contradicts itself: what was sent cannot be changed.
            arguments = {"changed": text}
        events.append(ev.BlockStart(index=index, content=begun))
        events += [ev.ArgumentsDelta(index=index, text=piece) for piece in pieces]
        contents.append(FunctionCallContent(call_id=begun.call_id, name="run", arguments=arguments))
        events.append(ev.BlockStop(index=index, content=contents[-1]))
    finish = FinishReason(reason=draw(st.sampled_from(("tool_calls", "length", "stop"))))
    choice = ChatChoice(messages=[ChatMessage(role="assistant", origin=origin)], finish_reason=finish)
    response = ChatResponse(id="r", model="m", origin=origin, choices=[choice])
    return [*events, ev.TurnComplete(response=response, layout=[[list(range(len(contents)))]])]
