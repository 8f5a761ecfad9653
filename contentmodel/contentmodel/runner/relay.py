"""Merge all parts of a run into one event stream: answers, messages of the loop, and results of calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contentmodel.content import result_type
from contentmodel.content.tools import FunctionCallContent, ToolCallContent, ToolResultContent
from contentmodel.events import (
    ArgumentsDelta,
    BlockCatchUp,
    BlockDelta,
    BlockStart,
    BlockStop,
    Fold,
    Layout,
    Notice,
    StreamEvent,
    TurnComplete,
    TurnError,
    TurnStart,
    UsageDelta,
    without_contents,
)
from contentmodel.message import ChatMessage
from contentmodel.response import ChatResponse
from contentmodel.runner.calls import Task
from contentmodel.runner.report import RunResult
from contentmodel.runner.turns import Ids, renamed
from contentmodel.usage import Usage


class Relay:
    """Number the blocks of a run consecutively, and make the ids of its calls unique.

    The emitted events fold to `RunResult.response`.
    """

    def __init__(self, ids: Ids) -> None:
        self._every_id = ids
        self._ids = ids.next_answer()
        self._next = 0
        self._messages: list[list[int]] = []
        self._others: Layout = []
        self._usage: Usage | None = None
        self._has_begun = False
        self._answer = Fold()
        # The new id of a call or result of this answer, by its block and its original id.
        self._new_ids: dict[tuple[int, str | None], str | None] = {}
        self._foreign: set[int] = set()
        self._of_task: dict[Task, int] = {}
        # The blocks of this answer whose arguments are sent when they are complete.
        self._held: set[int] = set()

    @property
    def has_begun(self) -> bool:
        """True if any event was emitted."""
        return self._has_begun

    @property
    def is_answering(self) -> bool:
        """True if blocks of an answer were received that `answer` has not returned yet."""
        return self._answer.count > 0

    @property
    def is_complete(self) -> bool:
        """True if the answer is complete."""
        return self._answer.is_over

    def begin(self) -> Iterator[StreamEvent]:
        """Emit the start of the run, unless it was emitted before."""
        if not self._has_begun:
            self._has_begun = True
            yield TurnStart(response=ChatResponse())

    # -- answers -----------------------------------------------------------------------------------------------

    def feed(self, event: StreamEvent) -> Iterator[StreamEvent]:
        """Convert an event of an answer to events of the run."""
        if isinstance(event, ArgumentsDelta) and event.index in self._held:
            return
        if isinstance(event, BlockStart | BlockStop | BlockCatchUp):
            event = self._distinct(self._visible(event))
        self._answer.feed(event)
        if isinstance(event, TurnComplete | TurnError):
            return
        if isinstance(event, TurnStart | UsageDelta):
            yield from self._counted(event)
        elif isinstance(event, BlockDelta | BlockStart | BlockStop | BlockCatchUp):
            yield msgspec.structs.replace(event, index=event.index + self._next)
        else:
            yield event

    def _counted(self, event: TurnStart | UsageDelta) -> Iterator[StreamEvent]:
        """Add up the usage of all answers, and emit TurnStart only once."""
        is_start = isinstance(event, TurnStart)
        usage = event.response.usage if isinstance(event, TurnStart) else event.usage
        if is_start and not self._has_begun:
            self._has_begun = True
            yield event
        elif usage is not None:
            yield UsageDelta(usage=usage if self._usage is None else self._usage + usage)

    def _visible(self, event: BlockStart | BlockStop | BlockCatchUp) -> BlockStart | BlockStop | BlockCatchUp:
        """Remove the model's values for arguments that the caller supplies from a call that is handed back.

        The arguments are sent when they are complete: a growing text cannot be separated into its values.
        """
        content: Any = event.content
        tools = self._every_id.tools
        if not isinstance(content, FunctionCallContent) or not tools.hides_arguments(content.name):
            return event
        if not isinstance(event, BlockStop) and isinstance(content.arguments, str):
            content = msgspec.structs.replace(content, arguments="")
        self._held.add(event.index)
        return msgspec.structs.replace(event, content=tools.without_supplied(content))

    def _distinct(self, event: BlockStart | BlockStop | BlockCatchUp) -> StreamEvent:
        """Replace the call id of a block by its unique id. Blocks of other choices are not changed."""
        content: Any = event.content
        if not isinstance(content, ToolCallContent | ToolResultContent) or event.index in self._foreign:
            return event
        if not isinstance(event, BlockStop) and event.choice:
            self._foreign.add(event.index)
            return event
        key = event.index, content.call_id
        if key not in self._new_ids:
            self._new_ids[key] = self._ids.of_content(content).call_id
        changed: StreamEvent = msgspec.structs.replace(event, content=renamed(content, self._new_ids[key]))
        return changed

    def answer(self) -> ChatResponse:
        """Return the answer made of the events so far, and prepare for the next answer."""
        response, layout = self._answer.response, self._answer.layout
        first, *others = [[[i + self._next for i in message] for message in choice] for choice in layout] or [[]]
        self._messages += first
        self._others = others
        self._next += self._answer.count
        if response.usage is not None:
            self._usage = response.usage if self._usage is None else self._usage + response.usage
        self._answer, self._new_ids, self._foreign, self._held = Fold(), {}, set(), set()
        self._ids = self._every_id.next_answer()
        return response

    # -- what the loop adds ------------------------------------------------------------------------------------

    def emit_message(self, message: ChatMessage) -> Iterator[StreamEvent]:
        """Emit a complete message."""
        yield from self.begin()
        for index, content in zip(self._blocks(len(message.contents)), message.contents, strict=True):
            yield BlockStart(index=index, content=content)
            yield BlockStop(index=index, content=content)

    def _blocks(self, count: int) -> list[int]:
        """Return the block numbers of a new message with `count` contents."""
        indices = list(range(self._next, self._next + count))
        self._messages.append(indices)
        self._next += count
        return indices

    def open(self, tasks: list[Task]) -> Iterator[StreamEvent]:
        """Start the result blocks in the order of the calls. Results that exist already are stopped at once."""
        yield from self.begin()
        self._of_task = dict(zip(tasks, self._blocks(len(tasks)), strict=True))
        for task, index in self._of_task.items():
            call = task.call
            blank = result_type(call)(call_id=call.call_id, name=call.name, executor=call.executor)
            yield BlockStart(index=index, content=blank)
        for task in tasks:
            if task.result is not None:
                yield from self.close(task)

    def use(self, task: Task) -> Iterator[StreamEvent]:
        """Emit the notice that a tool is used."""
        if task.record is not None and task.record.use is not None:
            yield Notice(kind="tool_use", text=task.record.use, call_id=task.call.call_id)

    def close(self, task: Task) -> Iterator[StreamEvent]:
        """Emit the result of a call, and the notices about it: its text, and the text that the tool displays."""
        assert task.result is not None
        yield BlockStop(index=self._of_task[task], content=task.result)
        record, call_id = task.record, task.call.call_id
        if record is None or record.result is None:
            return
        yield Notice(kind="tool_result", text=record.result, call_id=call_id)
        if record.display != record.result and record.display is not None:
            yield Notice(kind="display", text=record.display, call_id=call_id)

    def end(self, result: RunResult) -> Iterator[StreamEvent]:
        """Emit the end of the run."""
        yield from self.begin()
        envelope = without_contents(result.response)
        layout = [self._messages, *self._others] if envelope.choices else []
        if result.response.error is not None:
            yield TurnError(error=result.response.error, response=envelope, layout=layout)
        else:
            yield TurnComplete(response=envelope, layout=layout)
