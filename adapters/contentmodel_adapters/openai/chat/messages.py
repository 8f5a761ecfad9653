"""The messages of Chat Completions: columns of contents, one message for each tool result, thoughts between two tags.

They are apart from table.py, which would be longer than a file may be.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import msgspec

from contentmodel.authoring import (
    Blocks,
    BlocksOrOne,
    Codec,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Fields,
    Filled,
    Hint,
    Implied,
    MessageList,
    NonEmptyText,
    One,
    PairRow,
    Place,
    Roles,
    Row,
    Silent,
    TextOrBlocks,
    foreign,
    hints,
    is_native,
    needs_error_mark,
    object_of,
    reasons,
    with_detached_media,
    with_error_mark,
    with_error_read,
    with_media_back,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, contents_of
from contentmodel_adapters.common.answer import SpelledRole, misfits, restore_role, role_of
from contentmodel_adapters.common.citations import moved_citation
from contentmodel_adapters.common.replay import Change, Replay, is_own_answer
from contentmodel_adapters.openai.chat.hosts import API
from contentmodel_adapters.openai.chat.parts import (
    AUDIO_ANSWER,
    CITATIONS,
    CONTENT,
    CONTEXT,
    EXECUTED,
    EXTRA_CONTENT,
    FUNCTION_CALL,
    REASONING_DETAILS,
    RESULTS,
    SIGNATURE_IN_LIST,
    SOURCE,
    TABLE,
    THINKING_BLOCKS,
    TOOL_CALLS,
    Details,
    context_of,
    signs_text,
    with_context,
    with_whole_details,
)

# -- thoughts of Gemini ------------------------------------------------------------------------------------------------
#
# They are in the content, between two tags. Google's endpoint marks such a message, and in a stream each chunk of a
# thought, with a flag. The closing tag is at the start of the answer (streams of Gemini 2.5 as several clients have
# recorded them, seen 2026-11-28).

THOUGHT = "<thought>"
"""The opening tag, and the column of the thought in a message whose content is divided."""
END = "</thought>"
FLAG: dict[str, Any] = {"google": {"thought": True}}


def is_flagged(wire: dict[str, Any]) -> bool:
    """Return whether a message or a delta has the flag of a thought."""
    return object_of(object_of(wire, "extra_content"), "google").get("thought") is True


def with_thought_apart(wire: dict[str, Any], context: DecodeContext) -> dict[str, Any]:
    """Return a message whose thought has a column of its own. If the thought does not end, there is no content."""
    parts = _divided(wire)
    if not parts:
        return wire
    copy = {key: value for key, value in wire.items() if key != "content"} | parts
    context.copied(copy, wire, (THOUGHT, (wire, "content")))
    return copy


def _divided(wire: dict[str, Any]) -> dict[str, str]:
    """Return the thought and the answer in the content of a message; {} if it has no thought."""
    content = wire.get("content")
    if content.__class__ is not str or not content.startswith(THOUGHT) or not is_flagged(wire):
        return {}
    thought, end, answer = content[len(THOUGHT) :].partition(END)
    return {THOUGHT: thought, **({"content": answer} if end else {})} if thought else {}


def expanded(payload: Any) -> Any:
    """Return a payload whose messages have the thought and the answer as a list, for audits."""
    if payload.__class__ is list:
        return [expanded(item) for item in payload]
    if payload.__class__ is not dict:
        return payload
    inner = {key: expanded(payload[key]) for key in ("messages", "choices", "message") if key in payload}
    parts = _divided(payload)
    payload = with_whole_details(payload)
    return {**payload, **inner, **({"content": [*parts.values()]} if parts else {})}


def with_thought_inside(wire: dict[str, Any]) -> dict[str, Any]:
    """Return a message whose thought is in the content: the inverse of `with_thought_apart`."""
    thought, content = f"{THOUGHT}{wire.pop(THOUGHT)}", wire.get("content")
    if content.__class__ is list:
        return {**wire, "content": [{"type": "text", "text": f"{thought}{END}"}, *content]}
    return {**wire, "content": thought if content is None else f"{thought}{END}{content}"}


class Divider:
    """Divide the content of a stream into the thought and the answer. Tags may be cut."""

    def __init__(self) -> None:
        self._waiting = ""
        """Text that may be the beginning of the next tag."""
        self._tags = [THOUGHT, END]
        """The tags that have not been found yet."""
        self._is_empty = True
        """True until a thought has a text. An empty thought is content."""

    @property
    def is_over(self) -> bool:
        """Return whether the rest of the content is the answer."""
        return not self._tags

    def divide(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the pieces of a text, each with its column. The end of the thought is an empty piece of the answer."""
        text, self._waiting = self._waiting + text, ""
        if len(self._tags) == 2:
            if len(text) < len(THOUGHT) and THOUGHT.startswith(text):
                self._waiting = text
                return
            # A content without the tag is an answer.
            self._tags = self._tags[1:] if text.startswith(THOUGHT) else []
            text = text.removeprefix(THOUGHT) if self._tags else text
        if self._tags:
            thought, end, text = text.partition(END)
            # The end of the thought may be the beginning of the tag.
            begun = (END[:size] for size in range(len(END) - 1, 0, -1) if thought.endswith(END[:size]))
            self._waiting = "" if end else next(begun, "")
            thought = thought.removesuffix(self._waiting)
            self._is_empty = self._is_empty and not thought
            if thought:
                yield THOUGHT, thought
            if not end:
                return
            self._tags = []
            text = f"{THOUGHT}{END}{text}" if self._is_empty else text
        yield "content", text

    def rest(self) -> Iterator[tuple[str, str]]:
        """Yield the text that waited: the stream has ended."""
        is_begun, waiting = len(self._tags) == 1, self._waiting
        self._waiting, self._tags = "", []
        if is_begun and self._is_empty:
            yield ("content", f"{THOUGHT}{waiting}") if not waiting else (THOUGHT, waiting)
        elif waiting:
            yield THOUGHT if is_begun else "content", waiting


# -- messages ----------------------------------------------------------------------------------------------------------


class NonEmptyObject(One[AIContent]):
    """An object with a value that is not blank. Some hosts (Snowflake) send blanks and zeros for a missing object."""

    def holds(self, value: Any) -> bool:
        return value.__class__ is dict and any(value.values())


class SignedObject(One[AIContent]):
    """An object with a signature of Google. Any other one is residue."""

    def holds(self, value: Any) -> bool:
        google = object_of(value, "google") if value.__class__ is dict else {}
        return google.get("thought_signature").__class__ is str and google["thought_signature"] != ""


ROLE = Hint[SpelledRole](API, "role", "the role of the message of an answer, if it is not the usual one")
REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
"""The fields for reasoning of any issuer."""
REASONING_TEXTS = ("reasoning_content", "reasoning", "reasoning_text")
"""Those that hold one text."""
REASONING_LISTS = {"thinking_blocks": THINKING_BLOCKS, "reasoning_details": REASONING_DETAILS}
"""The fields that hold parts of the reasoning. A message with one of them may repeat its text in other fields."""
BETWEEN = "\n\n"
"""The separator of several reasoning texts, or of several refusals, in one field."""

TEXT_COLUMN = Column(TextOrBlocks(CONTENT, "string", annotated=True), TextContent)
REFUSAL_COLUMN = Column(NonEmptyText(ErrorContent, "message", between=BETWEEN, code="refusal"), ErrorContent)


class ExecutedTools(Codec[list[AIContent]]):
    """The tools that the host ran: a call and its result for each."""

    classes = (list,)
    identity = False

    def holds(self, value: Any) -> bool:
        is_list = value.__class__ is list and bool(value)
        return is_list and all(wire.__class__ is dict and wire.get("type").__class__ is str for wire in value)

    def count(self, wire: Any) -> int:
        return 2 * len(wire)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        contents = []
        for wire in value:
            pair = EXECUTED.get(wire["type"], EXECUTED["other"])
            call, result = pair.decode(wire, context)
            contents += [call, msgspec.structs.replace(result, name=call.name)]
        return contents

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterator[Place]:
        for at, content in enumerate(value):
            number = at // 2
            if number < len(wire):
                yield content, f"{path}[{number}]", wire[number], _pair_of(content)

    def encode(self, value: list[AIContent], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires = []
        waiting: Any = None
        content: Any
        for content in value:
            pair, kind = _pair_of(waiting), content.__class__
            if isinstance(waiting, ToolCallContent) and kind is pair.result.model:
                wires.append(pair.encode(waiting, content, context))
                waiting = None
                continue
            wires += self._alone(waiting, context)
            waiting = content
        return wires + self._alone(waiting, context)

    def _alone(self, content: Any, context: EncodeContext) -> list[dict[str, Any]]:
        """Return the object of a call without a result, or of a result without a call."""
        if content is None:
            return []
        is_call = isinstance(content, ToolCallContent)
        return [_pair_of(content).encode(content if is_call else None, None if is_call else content, context)]

    def describe(self) -> str:
        return "list of executed tool"


def _pair_of(content: Any) -> PairRow:
    pairs = EXECUTED.values()
    return next(
        (pair for pair in pairs if content.__class__ in (pair.call.model, pair.result.model)), EXECUTED["other"]
    )


COLUMNS = {
    # OpenAI's own types have no reasoning. DeepSeek, xAI, Moonshot and others use reasoning_content, Groq and
    # OpenRouter reasoning, GitHub Copilot reasoning_text (anomalyco/opencode#8900, seen 2026-11-27).
    **{
        name: Column(NonEmptyText(ReasoningContent, "text", between=BETWEEN), ReasoningContent, hinted=True)
        for name in REASONING_TEXTS
    },
    "thinking_blocks": Column(Blocks(THINKING_BLOCKS), ReasoningContent, hinted=True),
    "reasoning_details": Column(Details(REASONING_DETAILS), ReasoningContent, hinted=True),
    "executed_tools": Column(ExecutedTools(), HostedToolCallContent, HostedToolResultContent, hinted=True),
    "extra_content": Column(SignedObject(EXTRA_CONTENT), ReasoningContent, hinted=True),
    "provider_specific_fields": Column(One(SIGNATURE_IN_LIST), ReasoningContent, hinted=True),
    THOUGHT: Column(NonEmptyText(ReasoningContent, "text", between=BETWEEN), ReasoningContent, hinted=True),
    "content": TEXT_COLUMN,
    "refusal": REFUSAL_COLUMN,
    "audio": Column(NonEmptyObject(AUDIO_ANSWER), DataContent, HostedFileContent, hinted=True),
    "images": Column(Blocks(CONTENT), DataContent, UriContent, hinted=True),
    # TGI sends a single call without a list (huggingface/text-generation-inference#2949, seen 2026-11-27).
    "tool_calls": Column(BlocksOrOne(TOOL_CALLS), FunctionCallContent, CustomToolCallContent, HostedToolCallContent),
    "function_call": Column(NonEmptyObject(FUNCTION_CALL), FunctionCallContent, hinted=True),
}


def _assistant(name: str, *without: str) -> Row:
    """Return the row of an assistant's message, whose columns `without` stay in the residue."""
    return TABLE.record(
        name,
        ChatMessage,
        {"name": "author_name"},
        Columns("contents", {name: column for name, column in COLUMNS.items() if name not in without}),
        Implied({"role": "assistant"}),
        Silent("message_id"),
        constants={"role": "assistant"},
    )


REPEATED = "reasoning"
"""A text of reasoning that may repeat another one."""
_OTHERS: dict[str | None, tuple[str, ...]] = {
    None: (),
    REPEATED: (REPEATED,),
    **{name: (*REASONING_TEXTS, *(REASONING_LISTS.keys() - {name})) for name in REASONING_LISTS},
}
"""The columns that are residue, because they repeat another one, by the reason: a list of parts, or an equal text."""


def _assistants() -> dict[tuple[str | None, bool], Row]:
    """Return the rows of the assistant's messages, by the reason in `_OTHERS`, and whether a text is signed."""
    rows = {}
    for reason, is_signed in product(_OTHERS, (False, True)):
        name = f"{'signed ' if is_signed else ''}assistant message{f' with {reason}' if reason else ''}"
        rows[reason, is_signed] = _assistant(name, *_OTHERS[reason], *(() if is_signed else (SIGNED,)))
    return rows


SIGNED = "provider_specific_fields"
"""The field with the signature of a text. In a message without a signed text, it is residue."""
ASSISTANTS = _assistants()
ASSISTANT = ASSISTANTS[None, True]
"""The row that encodes all of them."""
# The other roles have separate records.
ROLES = Roles(
    API,
    {"system": "system", "developer": "developer", "user": "user"},
    elsewhere=("assistant", "tool", "function"),
)
PLAIN = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", TextOrBlocks(CONTENT, "string")), "name": "author_name"},
    Silent("message_id"),
    Filled({"content": ""}),
)


TABLE.known_values("message.roles", "system", "developer", "user", "assistant", "tool", "function")
TABLE.keep("message", "annotations")


def decode_message(wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Decode one message of any role."""
    role = wire.get("role")
    if role == "assistant":
        return decode_assistant(wire, context)
    if role in ("tool", "function"):
        contents = [with_error_read(RESULTS.decode(wire, context))]
        return ChatMessage(role="tool", contents=contents, origin=context.origin)
    return PLAIN.decode(wire, context)  # type: ignore[no-any-return]


def decode_assistant(wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Decode an assistant's message: its columns in a fixed order, its citations on the text."""
    if "extra_content" in wire:
        wire = with_thought_apart(wire, context)
    message: ChatMessage = row_of_wire(wire).decode(wire, context)
    if "annotations" in wire:
        message = _attach_citations(message, wire, context)
    return with_context(message, wire, context) if "context" in wire else message


def row_of_wire(wire: dict[str, Any]) -> Row:
    """Return the row that reads an assistant's message."""
    is_signed = SIGNED in wire and signs_text(wire)
    for listed in REASONING_LISTS:
        if wire.get(listed).__class__ is list and wire[listed]:
            return ASSISTANTS[listed, is_signed]
    return ASSISTANTS[REPEATED if repeats_reasoning(wire) else None, is_signed]


def repeats_reasoning(wire: dict[str, Any]) -> bool:
    """Return whether a message or a delta has a text of reasoning in two fields.

    vLLM sends the new name beside the old one (entrypoints/openai/chat_completion/protocol.py, seen 2026-11-27).
    """
    text = wire.get(REPEATED)
    return text.__class__ is str and text != "" and text == wire.get("reasoning_content")


REPLAY = Replay(
    fields={
        "": Change(drops=("annotations", "executed_tools", "index"), nulls=("tool_calls",)),
        "audio": Change(keeps=("id",)),
    },
    verbatim=("arguments", "input"),
)
"""The fields of an answer's message that a request must not have. A request only has the id of audio."""


def encode_message(message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
    """Return the wire messages of one message: none, one, or one for each tool result."""
    if message.role == "assistant":
        wire = encode_assistant(message, context)
        if message.origin is not None and message.origin.is_answer:
            wire = REPLAY.request_form(wire, message, context)
        # Skip foreign messages with nothing to send.
        return [wire] if context.native or len(wire) > 1 else []
    if message.role == "tool":
        return _encode_results(message, context)
    if not context.native and not message.contents:
        foreign.leave_empty(message, context)
        return []
    return [PLAIN.encode(message, context)]


def encode_assistant(message: ChatMessage, context: EncodeContext) -> dict[str, Any]:
    """Return the wire message of an assistant's message."""
    wire = ASSISTANT.encode(message, context)
    for content in message.contents:
        if content.annotations is not None:
            citations = _collect_citations(message, context)
            if citations:
                wire["annotations"] = citations
            if context.native:
                wire = context_of(message, wire, context)
            break
    return with_thought_inside(wire) if THOUGHT in wire else wire


def _encode_results(message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
    results = []
    if message.extra is not None or message.author_name is not None:
        context.report_lost_attributes(message, ("author_name",))
        context.leave_residue(message)
    for content in message.contents:
        if content.__class__ is FunctionResultContent and content.is_error is None and not needs_error_mark(content):
            results.append(content)
        else:
            results.append(_as_function_result(content, context))
    wires = RESULTS.encode_list(results, context)
    for result in results:
        for output in getattr(result, "outputs", None) or ():
            if output.__class__ is TextContent and output.annotations is not None:
                context.report_lost_attributes(output, ("annotations",))
    if not is_native(message, context) or is_own_answer(message, context):
        # The name is on the call. Keep it here only when round-tripping a message that had it.
        for wire in wires:
            if wire.get("role") == "tool":
                wire.pop("name", None)
    return wires


def _as_function_result(content: Any, context: EncodeContext) -> Any:
    """Return a result as a function result. A failure is marked in its text, because Chat has no flag for it."""
    if not isinstance(content, ToolResultContent):
        return content
    marked = with_error_mark(content, context)
    if content.__class__ is not FunctionResultContent:
        context.degrade(content, reasons.ONE_RESULT_KIND, *FunctionResultContent.__struct_fields__)
    fields = {name: getattr(marked, name) for name in FunctionResultContent.__struct_fields__}
    return context.replaced(content, FunctionResultContent(**fields))


def _attach_citations(message: ChatMessage, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    annotations = wire["annotations"]
    texts = [index for index, c in enumerate(message.contents) if c.__class__ is TextContent]
    if annotations.__class__ is not list or not annotations or not texts:
        return message
    if any(annotation.__class__ is not dict for annotation in annotations):
        return message
    citations = CITATIONS.decode_list(annotations, context)
    context.trace(CITATIONS, citations, wire, "annotations", spread=len(citations) == len(annotations))
    contents = message.contents
    old = contents[texts[0]]
    contents[texts[0]] = msgspec.structs.replace(old, annotations=citations)
    residue = {key: value for key, value in (message.extra or {}).get(API, {}).items() if key != "annotations"}
    return msgspec.structs.replace(message, contents=contents, extra={API: residue} if residue else None)


def _collect_citations(message: ChatMessage, context: EncodeContext) -> list[Any]:
    collected = []
    before = 0
    for content in message.contents:
        if content.__class__ is not TextContent:
            continue
        converter = SpanConverter(content.text)
        for citation in content.annotations or ():
            source = SOURCE.of(citation, API)
            if source is not None and (context.native or source != CONTEXT):
                if context.kind == "request" and source != CONTEXT:
                    context.report_loss(citation, None, reasons.NO_CITATION_IN_REQUEST)
                continue
            is_unmoved = context.native and before == 0
            collected.append(citation if is_unmoved else moved_citation(citation, converter, before, context))
        before += len(content.text)
    return CITATIONS.encode_list(collected, context)


class Messages(MessageList):
    """The list of messages of a request."""

    tag = "role"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [decode_message(wire, context) for _, wire in self.objects(value, context)]
        context.trace_messages(messages, value, _row_of)
        return with_media_back(messages, context)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires = []
        for message in with_detached_media(value, API) if context.native else value:
            wires += encode_message(message, context)
        return wires


class Message(Codec[list[ChatMessage]]):
    """The message of a choice."""

    classes = (dict,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        role = value.get("role")
        wire = value if role == "assistant" else {**value, "role": "assistant"}
        if wire is not value:
            context.copied(wire, value)
        messages = [decode_assistant(wire, context)]
        context.trace(_row_of, messages, container, key, spread=False)
        if wire is not value:
            residue = {
                **(messages[0].extra or {}).get(API, {}),
                **ROLE.entry(role_of(value)),
                **misfits(value, role=str),
            }
            messages[0] = msgspec.structs.replace(messages[0], extra={API: residue})
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> dict[str, Any]:
        return encode_answer(value, context)


def encode_answer(messages: list[ChatMessage], context: EncodeContext) -> dict[str, Any]:
    """Return the message of a choice."""
    message = messages[0] if len(messages) == 1 else _joined(messages, context)
    for other in messages[1:]:
        context.report_lost_attributes(other, ("author_name",))
        context.leave_residue(other, own=True)
    wire = encode_assistant(message, context)
    spelled = None if message.extra is None else ROLE.of(message, API)
    if spelled is not None:
        restore_role(wire, spelled)
    if not context.completes:
        return wire
    if wire.get("content").__class__ is list:
        wire["content"] = "".join(part["text"] for part in wire["content"])
    # In OpenAI's types, an answer's message always has these fields.
    wire.setdefault("content", None)
    wire.setdefault("refusal", None)
    return wire


def _joined(messages: list[ChatMessage], context: EncodeContext) -> ChatMessage:
    message: ChatMessage = context.replace(messages[0], contents=list(contents_of(messages)))
    return message


class _ResultMessage(Fields):
    """The layout of a message that is one tool result. The result has the path of the message."""

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        yield value.contents[0], path, wire, RESULTS


RESULT_MESSAGE = _ResultMessage({})


def _row_of(message: ChatMessage) -> Row | Fields:
    if message.role == "tool":
        return RESULT_MESSAGE
    if message.role != "assistant":
        return PLAIN
    columns = {hints.COLUMN.of(content, API) for content in message.contents}
    reason: str | None = next((name for name in REASONING_LISTS if name in columns), None)
    if reason is None and "reasoning_content" in columns and (message.extra or {}).get(API, {}).get(REPEATED):
        reason = REPEATED
    return ASSISTANTS[reason, SIGNED in columns]
