"""The scripted model: a task of many turns, whose calls fit the tools that each request offers."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from programs import Arguments, Program
from wire import ANSWERS, CALL_IDS, ModelCall, ModelTurn

from contentmodel.adapter import adapter
from contentmodel.content.tools import ToolCallContent
from contentmodel.message import contents_of
from contentmodel.request import ChatRequest, CustomTool, FunctionTool
from contentmodel.response import ChatResponse

Choices = Iterable[tuple[str, Arguments]]

PROMPT = "Write notes.txt, look at image.png, and count. Quote: “Ä 日本 \\n 'x'”."
NOTES = 'First line, with "quotes" and a backslash \\.\nÄ “typographic” 日本語 🙂\n'
DONE = "All done: the notes are written."
MISSING = "no-such-file.txt"
NOT_FOUND = "(?i)not exist|no such file|not found"
FREE = ("openai-chat", "openai-responses")
"""The APIs with tools that take free text."""
COUNTED = 10
"""The turns that count, one command each."""


@dataclass(frozen=True)
class Step:
    """A turn of the task: reasoning, a text, and calls. Each call is the first of its choices that is offered.

    `results` are patterns of the texts of the results. `image` is set if a result is the image.
    """

    reasoning: str
    text: str = ""
    calls: tuple[Choices, ...] = ()
    results: tuple[str, ...] = ()
    image: bool = False


def task(program: Program, project: Path, *, short: bool = False) -> list[Step]:
    """Return the turns of the task, with a pattern for each result. A short one has the notes and three commands."""
    write = Step(
        "The notes come first.\n\nThen the rest.",
        "I start with the notes.",
        (program.write(project / "notes.txt", NOTES),),
    )
    count = [
        Step(
            f"Turn {n} counts to {n * n}.",
            "",
            (program.command(f"echo counted {n} >> count.txt; echo at {n * n}"),),
            (f"at {n * n}",),
        )
        for n in range(1, COUNTED + 1)
    ]
    last = Step("That is all.", DONE)
    if short:
        long = replace(count[2], text=" ".join(f"{n} squared is {n * n}." for n in range(200)))
        return [write, *count[:2], long, last]
    both = tuple(program.command(f"sleep 0.{3 - n}; echo 'result of {n}'") for n in (1, 2))
    parallel = [Step("Two commands are independent.", "Two at once.", both, ("result of 1", "result of 2"))]
    return [
        write,
        Step("A missing file is an error.", "", (program.read(project / MISSING),), (NOT_FOUND,)),
        Step("Now the image.", "I look at the image.", (program.image(project / "image.png"),), image=True),
        *(parallel if program.calls_at_once else ()),
        Step("A command can fail.", "", (program.command("echo this went wrong >&2; exit 3"),), ("this went wrong",)),
        *count,
        last,
    ]


class Model:
    """Answers requests with the turns of a task. The calls in a request determine its turn, so requests may repeat."""

    def __init__(self, api: str, steps: list[Step]) -> None:
        self.api, self.steps = api, steps
        self.turns: dict[int, ModelTurn] = {}
        self.other_requests = 0
        """The number of requests that are not part of the task."""

    def __call__(self, request: ChatRequest) -> ChatResponse:
        """Return the answer to a request."""
        turn = self._next(request)
        answer: ChatResponse = adapter(self.api).decode_response(ANSWERS[self.api](turn))
        return answer

    def _next(self, request: ChatRequest) -> ModelTurn:
        tools = {tool.name: tool for tool in request.tools if isinstance(tool, FunctionTool | CustomTool)}
        if not tools:
            self.other_requests += 1
            return ModelTurn(9000 + self.other_requests, "This is not the task.", "Nothing.", ())
        made = sum(isinstance(content, ToolCallContent) for content in contents_of(request.messages))
        number = 0
        while made > 0:
            made -= len(self.steps[number].calls)
            number += 1
        step = self.steps[number]
        first = 10 * number
        calls = tuple(call_of(self.api, tools, choices, first + place) for place, choices in enumerate(step.calls))
        self.turns[number] = ModelTurn(number, step.reasoning, step.text, calls)
        return self.turns[number]


def call_of(api: str, tools: dict[str, Any], choices: Choices, number: int) -> ModelCall:
    """Return a call of the first of the choices that is offered. Raises LookupError if none is."""
    listed = list(choices)
    for name, arguments in listed:
        tool = tools.get(name)
        if tool is None:
            continue
        if isinstance(arguments, str) and not (isinstance(tool, CustomTool) and api in FREE):
            # Elsewhere, a tool that takes free text is a function with one argument.
            arguments = {"input": arguments}
        return ModelCall(CALL_IDS[api].format(number), name, arguments)
    raise LookupError(f"the request offers none of {[name for name, _ in listed]}, but {sorted(tools)}")


def image() -> bytes:
    """Return a small image: 8 by 8 pixels, as PNG."""
    rows = b"".join(b"\0" + b"".join(bytes((30 * x, 30 * y, 128)) for x in range(8)) for y in range(8))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def shown(value: Any) -> str:
    """Return a value for a message, cut to one line."""
    return json.dumps(value, ensure_ascii=False)[:200]
