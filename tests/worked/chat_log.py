"""The adapter of chat logs: who said what, line by line, which tools the bot called, and what they gave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    DecodeError,
    EncodeError,
    ErrorContent,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    HostedTool,
    TextContent,
)
from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Codec,
    DecodeContext,
    EncodeContext,
    Group,
    MappedEnum,
    Place,
    Record,
    Roles,
    Row,
    Table,
    TableAdapter,
    message_pass,
    passes,
    place_instructions,
    request_pass,
    row,
    spread,
)
from contentmodel.errors import Fault
from contentmodel.rules import Rules

API = "chat-log"
TABLE = Table(API)

WORDS = row("words", TextContent, {"words": "text"})
CALL = row(
    "call", FunctionCallContent, {"call_id": "call_id", "name": "name", "with": ("arguments", ArgumentsObject())}
)
GIVEN = TABLE.union("output", [WORDS])
ANSWER = row(
    "answer",
    FunctionResultContent,
    {"call_id": "call_id", "name": "name", "gave": ("outputs", Blocks(GIVEN)), "failed": "is_error"},
)
PARTS = TABLE.union("part", [WORDS, CALL, ANSWER])

ROLE = Roles(API, {"rules": "system", "guest": "user", "bot": "assistant", "tools": "tool"})
LINE = TABLE.record("line", ChatMessage, {"who": ("role", ROLE), "parts": ("contents", Blocks(PARTS))})


class Lines(Codec[list[ChatMessage]]):
    """The lines of a log, each of them a message."""

    classes = (list,)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and bool(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        read = []
        for index, line in enumerate(value):
            if line.__class__ is dict:
                read.append(LINE.decode(line, context))
            else:
                context.expected(value, index, "an object: a line", line)
        return read

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return spread(value, wire, path, LINE)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        return [LINE.encode(message, context) for message in value]


TOOL = row("function", FunctionTool, {"name": "name", "does": "description", "takes": "parameters"})
HOSTED = Row("hosted", HostedTool, {"type": "kind", "name": "name", "settings": "settings"})
TOOLS = TABLE.union("tool", [TOOL], other=HOSTED)

LOG = TABLE.record(
    "log",
    ChatRequest,
    {
        "model": "model",
        "limit": "options.max_output_tokens",
        "tools": ("tools", Blocks(TOOLS)),
        "lines": ("messages", Lines()),
    },
)


ENDED = MappedEnum({"done": "stop", "cut": "length", "called": "tool_calls"})


class Reply(Group):
    """The bot's next line, and why it ended there: the only choice of an answer."""

    attribute = "choices"
    keys = ("line", "ended")
    parts = {"ended": "choices.finish_reason"}

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        if not wire.keys() & self.keys:
            return []
        line, word = wire.get("line"), wire.get("ended", "done")
        if line.__class__ is not dict:
            context.expected(wire, "line", "an object: a line", line)
            return []
        if word.__class__ is not str:
            context.expected(wire, "ended", "a string", word)
            return []
        message = LINE.decode(line, context)
        context.trace(LINE, [message], wire, "line", spread=False)
        reason = FinishReason(reason=ENDED.decode(word, context, wire, "ended"), raw=word)
        return [ChatChoice(messages=[message], finish_reason=reason if "ended" in wire else None)]

    def encode(
        self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        for choice in value[1:]:
            context.report_loss(choice, None, f"{API} has one reply")
        for choice in value[:1]:
            context.report_lost_attributes(choice, ("logprobs",))
            context.leave_residue(choice)
            message = passes.joined_messages(choice.messages or [ChatMessage(role="assistant")], context)
            wire["line"] = LINE.encode(message, context)
            if choice.finish_reason is not None:
                wire["ended"] = self._word(choice.finish_reason, context)

    def _word(self, finish: FinishReason, context: EncodeContext) -> str:
        context.report_lost_attributes(finish, ("stop_sequence", "resumable"))
        said = finish.raw
        is_ours = isinstance(said, str) and ENDED.decode(said, context, None, "") == finish.reason
        return str(said if is_ours else ENDED.encode(finish.reason, context, finish))


TROUBLE = TABLE.record("trouble", ErrorContent, {"words": "message", "code": "code"})
REPLY = TABLE.record("reply", ChatResponse, {"model": "model", "trouble": ("error", Record(TROUBLE))}, Reply())


class ChatLog(TableAdapter):
    """Chat logs as requests, single lines of them as answers."""

    api = API
    issuer = "house"
    table = TABLE
    rules = Rules(API)
    request = LOG
    requires = {"lines": list}
    response = REPLY

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """A log has lines, an answer is one; lines have parts."""
        lines, line = payload.get("lines"), payload.get("line")
        if isinstance(lines, list) and all(isinstance(one, dict) and "parts" in one for one in lines):
            return {"request": 0.95}
        return {"response": 0.95} if isinstance(line, dict) and "parts" in line else {}

    def stream_decoder(self, *, deltas: bool = True) -> Any:
        raise DecodeError(API, [Fault("$", "a log is no stream")])

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> Any:
        raise EncodeError(f"{API} has no stream: fold the events, and encode the response")

    request_passes = (request_pass(place_instructions, native=True), message_pass(passes.normalize_foreign))
    answer_passes = (message_pass(passes.settle_answer),)


adapter = ChatLog()
