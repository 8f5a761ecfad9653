"""Write the events of a turn as the events of a run while they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import (
    InputRequestContent,
    ToolApprovalRequestContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.events import Notice, StreamEvent, TurnComplete, TurnError
from contentmodel.interop.ag_ui.events import API, CALL, REASONING, TEXT
from contentmodel.interop.front_ends import (
    STOPPED,
    BlockWriter,
    Chunks,
    OpenBlock,
    counts_of,
    is_of_hosted_tool,
    message_of,
)
from contentmodel.json import Json, JsonObject
from contentmodel.response import ChatResponse
from contentmodel.serialize import to_builtins


def run_events(events: Iterable[StreamEvent], *, thread_id: str, run_id: str) -> Iterator[JsonObject]:
    """Convert the events of one turn to the events of a run, as they arrive.

    Send each one as a server-sent event: `data: ` with its JSON. If the turn fails, the last event is RUN_ERROR. Opaque
    state of providers is not sent.
    """
    writer = RunWriter(run_id, thread_id, run_id)
    for event in events:
        yield from writer.chunks(event)


class RunWriter(BlockWriter):
    """Write the events of a run. Contents without an event in AG-UI are sent as events of the type CUSTOM.

    `turn` is the prefix of the messages' ids. `thread` and `run` are the ids from the input of the run.
    """

    def __init__(self, turn: str, thread: str, run: str) -> None:
        super().__init__(turn)
        self._run = {"threadId": thread, "runId": run}
        self._interrupts: list[JsonObject] = []
        self._message = ""

    def started(self, response: ChatResponse) -> Chunks:
        return [{"type": "RUN_STARTED", **self._run}]

    def stepped(self) -> Chunks:
        self._message = ""
        return [*self._step_ended(self.step - 1), {"type": "STEP_STARTED", "stepName": _step(self.step)}]

    def _step_ended(self, step: int) -> list[JsonObject]:
        return [{"type": "STEP_FINISHED", "stepName": _step(step)}] if step else []

    def opened(self, block: OpenBlock) -> Chunks:
        content, name = block.content, {"messageId": block.name}
        if isinstance(content, ToolCallContent):
            parent = {"parentMessageId": self._message} if self._message else {}
            return [CALL.start(block.call_id, toolCallName=self._name_of(content) or "unknown", **parent)]
        if isinstance(content, ReasoningContent):
            return [{"type": "REASONING_START", **name}, REASONING.start(block.name, role="reasoning")]
        self._message = block.name
        return [TEXT.start(block.name, role="assistant")]

    def grown(self, block: OpenBlock, text: str) -> Chunks:
        if isinstance(block.content, ToolCallContent):
            return [CALL.more(block.call_id, text)]
        return [(REASONING if isinstance(block.content, ReasoningContent) else TEXT).more(block.name, text)]

    def ended(self, block: OpenBlock) -> Chunks:
        content = block.content
        if isinstance(content, ToolCallContent):
            late = [] if block.sent else self.grown(block, content.arguments_text)
            return [*late, CALL.end(block.call_id)]
        if isinstance(content, ReasoningContent):
            return [REASONING.end(block.name), {"type": "REASONING_END", "messageId": block.name}]
        return [TEXT.end(block.name)]

    def whole(self, block: OpenBlock) -> Chunks:
        content, name = block.content, {"messageId": block.name}
        if isinstance(content, ToolResultContent):
            text = content.text or ("" if content.error is None else message_of(content.error))
            shown = self._hosted_content(content) if is_of_hosted_tool(content) else text
            result = {"toolCallId": content.call_id or "", "content": shown or text, "role": "tool"}
            return [{"type": "TOOL_CALL_RESULT", **name, **result}]
        if isinstance(content, ToolApprovalRequestContent):
            asked = {"id": content.request_id, "reason": "tool_approval", "toolCallId": content.request_id}
            self._interrupts.append({**asked, "message": f"Allow {content.name}?"})
            return []
        if isinstance(content, InputRequestContent):
            self._interrupts.append(_question(content))
            return []
        return [{"type": "CUSTOM", "name": "content", "value": to_builtins(content)}]

    def _name_of(self, call: ToolCallContent) -> str | None:
        if not is_of_hosted_tool(call):
            return call.name
        calls = (written for message in self.listed(API, [call]) for written in message.get("toolCalls", ()))
        return next((written["function"]["name"] for written in calls), call.name)

    def _hosted_content(self, result: ToolResultContent) -> Json:
        messages = self.listed(API, [result])
        return next((message["content"] for message in messages if message["role"] == "tool"), None)

    def noticed(self, notice: Notice) -> Chunks:
        return [{"type": "CUSTOM", "name": "notice", "value": to_builtins(notice)}]

    def completed(self, event: TurnComplete) -> Chunks:
        outcome: JsonObject = {"type": "success"}
        if self._interrupts:
            outcome = {"type": "interrupt", "interrupts": self._interrupts}
        return [*self._step_ended(self.step), self._finished(outcome, event.response)]

    def failed(self, event: TurnError) -> Chunks:
        if event.error.code in STOPPED:
            return [*self._step_ended(self.step), self._finished({"type": "cancelled"}, event.response)]
        coded = {"code": event.error.code} if event.error.code else {}
        return [{"type": "RUN_ERROR", "message": message_of(event.error), **coded}]

    def _finished(self, outcome: JsonObject, response: ChatResponse) -> JsonObject:
        finished: JsonObject = {"type": "RUN_FINISHED", **self._run, "outcome": outcome}
        if response.usage is not None:
            model = {} if response.model is None else {"model": response.model}
            finished["usage"] = [{**model, **counts_of(response.usage)}]
        return finished


def _step(number: int) -> str:
    return f"step-{number}"


def _question(question: InputRequestContent) -> JsonObject:
    interrupt: JsonObject = {"id": question.request_id, "reason": "input"}
    if question.message:
        interrupt["message"] = question.message
    if question.schema:
        interrupt["responseSchema"] = question.schema
    return interrupt
