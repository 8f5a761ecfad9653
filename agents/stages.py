"""The stages of a recorded session, and the scripted model that answers the requests of a stage in order."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from model import Step, call_of
from terminal import Terminal
from wire import ANSWERS, ModelTurn

from contentmodel.adapter import adapter
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.message import contents_of
from contentmodel.request import ChatRequest, HostedTool, ToolGroup
from contentmodel.response import ChatResponse

SUBTASK = "Count the lines of the notes, as a subtask."
"""The prompt of sub-agents. A request that contains it comes from a sub-agent."""
COMPACTION = re.compile(
    "Your task is to create a detailed summary|CONTEXT CHECKPOINT COMPACTION"
    "|Generate a new <state_snapshot>|evaluate the <state_snapshot>"
)
"""The prompts with which the agents request a summary of the session."""
SUMMARY = (
    "<analysis>The notes, then the count.</analysis>\n<summary>\n<state_snapshot>\n"
    "The notes are written. The count goes on.\n</state_snapshot>\n</summary>"
)
"""The answer to a request for a summary, in a form that each of the agents accepts."""
STARTED = "started"
"""The file that a command creates before it waits to be interrupted."""


class RunningAgent:
    """A running agent: write lines to its standard input, wait for its output or files, and send signals to it."""

    def __init__(self, process: subprocess.Popen[bytes], project: Path, out: Path, limit: float) -> None:
        self.process, self.project, self._out = process, project, out
        self._end = time.monotonic() + limit

    def write(self, value: Any) -> None:
        """Write a line of JSON."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        self.process.stdin.flush()

    def wait(self, condition: Callable[[], Any]) -> Any:
        """Wait until a condition returns a true value, and return it. Raises TimeoutError."""
        while not (found := condition()):
            if time.monotonic() > self._end or self.process.poll() is not None:
                raise TimeoutError(f"the agent ended or was too slow: {self.printed()[-300:]!r}")
            time.sleep(0.1)
        return found

    def wait_for_command(self) -> None:
        """Wait until the command that creates STARTED has started."""
        self.wait((self.project / STARTED).exists)
        time.sleep(1)

    def printed(self) -> str:
        """Return what the agent wrote to its standard output so far."""
        return self._out.read_bytes().decode("utf-8", "replace")

    def lines(self) -> list[Any]:
        """Return the complete lines of JSON that the agent wrote to its standard output so far."""
        return [json.loads(line) for line in self.printed().split("\n")[:-1] if line.startswith("{")]

    def signal(self, number: int) -> None:
        """Send a signal to the agent, and not to the commands that it runs."""
        self.process.send_signal(number)


@dataclass(frozen=True)
class Stage:
    """One run of an agent: a prompt, and the turns of the model.

    `way` is "new", "resume" or "fork"; the latter two continue the newest session. `sub` are the turns of sub-agents.
    `options` are added to the command; a function gets the home. `attend` acts while the agent runs. If `reads` is set,
    the agent gets its prompts from `attend`. `types` acts in a terminal, where the agent starts without a prompt.
    `command` replaces the whole command. `ends` is false if the agent does not end by itself.
    `summaries` is the number of compactions.
    """

    prompt: str
    steps: tuple[Step, ...]
    way: str = "new"
    sub: tuple[Step, ...] = ()
    options: tuple[str, ...] | Callable[[Path], tuple[str, ...]] = ()
    attend: Callable[[RunningAgent], None] | None = None
    reads: bool = False
    types: Callable[[Terminal], None] | None = None
    command: tuple[str, ...] | None = None
    ends: bool = True
    summaries: int = 0


def interrupted(agent: RunningAgent) -> None:
    """Interrupt the agent while it waits for a command."""
    agent.wait_for_command()
    agent.signal(signal.SIGINT)


def killed(agent: RunningAgent) -> None:
    """Kill the agent while it waits for a command."""
    agent.wait_for_command()
    agent.signal(signal.SIGKILL)


class StagedModel:
    """Answers the requests of a stage in order: those of the session, those of sub-agents, and those for summaries."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.steps: list[Step] = []
        self.sub: list[Step] = []
        self.number = 0
        """The number of requests so far, of all stages."""
        self.summaries = 0
        self._lock = threading.Lock()

    def begin(self, stage: Stage) -> None:
        """Take the turns of a stage."""
        self.steps, self.sub, self.summaries = list(stage.steps), list(stage.sub), 0

    def __call__(self, request: ChatRequest) -> ChatResponse:
        """Return the answer to a request."""
        with self._lock:
            turn = self._next(request)
        answer: ChatResponse = adapter(self.api).decode_response(ANSWERS[self.api](turn))
        return answer

    def _next(self, request: ChatRequest) -> ModelTurn:
        self.number += 1
        asked = [
            "\n".join(content.text for content in message.contents if isinstance(content, TextContent))
            for message in request.messages
            if message.role == "user"
        ]
        if asked and COMPACTION.search(asked[-1]):
            self.summaries += 1
            return ModelTurn(self.number, "A summary is due.", SUMMARY, ())
        tools, groups = offered(request)
        if not tools:
            return ModelTurn(self.number, "This is not the task.", "Nothing.", ())
        steps = self.sub if is_subtask(request) else self.steps
        if not steps:
            raise LookupError("the stage has no turn left for this request")
        step = steps.pop(0)
        calls = [call_of(self.api, tools, some, 10 * self.number + place) for place, some in enumerate(step.calls)]
        calls = [replace(call, group=groups.get(call.name)) for call in calls]
        return ModelTurn(self.number, step.reasoning, step.text, tuple(calls))


def is_subtask(request: ChatRequest) -> bool:
    """Return whether a request comes from a sub-agent: a content other than a call or a result has its prompt."""
    others = (c for c in contents_of(request.messages) if not isinstance(c, ToolCallContent | ToolResultContent))
    return any(SUBTASK in str(content) for content in others)


def offered(request: ChatRequest) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the tools that a request offers, by name, and the names of their groups."""
    tools: dict[str, Any] = {}
    groups: dict[str, str] = {}
    for tool in request.tools:
        for one in tool.tools if isinstance(tool, ToolGroup) else [tool]:
            if isinstance(one, HostedTool):
                tools[one.name or one.kind] = one
            else:
                tools[one.name] = one
                if isinstance(tool, ToolGroup) and tool.name:
                    groups[one.name] = tool.name
    return tools, groups
