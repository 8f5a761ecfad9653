"""Group steps into messages, and split messages into steps.

Consecutive steps of the model (thoughts, output, calls, results of hosted tools) are one message, and so are
consecutive results of functions. The other fields of a step with a list of contents are kept with its first
content, in the hint `STEP`. A content with this hint starts a step.
"""

from __future__ import annotations

from typing import Any, Literal

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, MessageList, escaped, is_native, wire_fields
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.common.citations import whole_citations
from contentmodel_adapters.common.thought_parts import decode_parts, unknown_part_of, with_last_thought
from contentmodel_adapters.google.interactions.blocks import API, CONTENT, SIGNED, STEPS, SUMMARY

STEP = Hint[dict[str, Any]](API, "step", "the other fields of the step whose first content this is", fields=True)
WHOLE_STEP = Hint[Literal[True]](API, "whole_step", "an unknown object was a step, not a content of one")
INPUT = Hint[Literal["string", "content", "contents"]](
    API, "input", "the form of an input that was not a list of steps: a string, one content or a list of contents"
)
# The list of contents of a step, and the union of its contents.
LISTS = {"user_input": ("content", CONTENT), "model_output": ("content", CONTENT), "thought": ("summary", SUMMARY)}
_SPEAKERS = ("user_input", "model_output")
_ROLES = {"user_input": "user", "function_result": "tool"}
_SIGNATURE: Any = SIGNED["signature"][1]


# -- decoding ------------------------------------------------------------------------------------------------------


def decode_step(step: dict[str, Any], items: list[Any], index: int, context: DecodeContext) -> tuple[str, list[Any]]:
    """Return the role and the contents of a step, which is `items[index]`."""
    tag = step.get("type")
    if tag == "thought":
        contents = _decode_thought(step, context)
    else:
        contents = _decode_list(step, context) if tag in ("user_input", "model_output") else []
        if not contents:
            content = UnknownContent(api=API, block=step) if tag in LISTS else STEPS.decode(step, context)
            contents = [WHOLE_STEP.on(content, API, True) if content.__class__ is UnknownContent else content]
            context.trace(STEPS, contents, items, index, spread=False)
    return _ROLES.get(tag, "assistant") if tag.__class__ is str else "assistant", contents


def _decode_list(step: dict[str, Any], context: DecodeContext) -> list[Any]:
    """Return the contents of input or output. The first one has the other fields of the step."""
    field, union = LISTS[step["type"]]
    wires = step.get(field)
    if wires.__class__ is not list or not wires:
        return []
    contents: list[Any] = union.decode_list(wires, context)
    context.trace(union, contents, step, field, spread=len(contents) == len(wires))
    if contents:
        # The list is traced already, so it is changed in place.
        contents[0] = STEP.on(contents[0], API, _around(step, field))
    return contents


def _around(step: dict[str, Any], *read: str) -> dict[str, Any]:
    return escaped({key: value for key, value in step.items() if key not in ("type", *read)})


def _decode_thought(step: dict[str, Any], context: DecodeContext) -> list[Any]:
    """Return a content for each part of a thought's summary, at least one. The last content has the signature."""
    wires, read = step.get("summary"), []
    thoughts: list[Any] = []
    if wires.__class__ is list and wires:
        thoughts = decode_parts(wires, "summary", SUMMARY, lambda wire: wire.__class__ is dict, context)
        context.trace(SUMMARY, thoughts, step, "summary", spread=True)
        read.append("summary")
    has_signature = _SIGNATURE.holds(step.get("signature"))
    if not thoughts or has_signature:
        thoughts = with_last_thought(thoughts, step, "summary", context)
    if has_signature:
        signature = _SIGNATURE.decode(step["signature"], context, step, "signature")
        context.trace(None, [signature], step, "signature", spread=False)
        thoughts = [*thoughts[:-1], context.replace(thoughts[-1], protected=signature)]
        read.append("signature")
    return [context.replaced(thoughts[0], STEP.on(thoughts[0], API, _around(step, *read))), *thoughts[1:]]


def decode_steps(items: list[Any], context: DecodeContext) -> list[ChatMessage]:
    """Return the messages of a list of steps."""
    runs: list[tuple[str, list[Any]]] = []
    for index, step in Steps().objects(items, context):
        role, contents = context.decoded.get(id(step)) or decode_step(step, items, index, context)
        if runs and runs[-1][0] == role != "user":
            runs[-1][1].extend(contents)
        else:
            # A copy: the list of one step's contents was traced, and must not grow.
            runs.append((role, [*contents]))
    return [ChatMessage(role=role, contents=contents, origin=context.origin) for role, contents in runs]


def is_outputs(value: Any) -> bool:
    """Return whether a value is the list that answers had before they had steps: contents, thoughts and calls."""
    if value.__class__ is not list or not value or any(item.__class__ is not dict for item in value):
        return False
    return all(item.get("type").__class__ is str and item["type"] not in _SPEAKERS for item in value)


def decode_outputs(items: list[Any], context: DecodeContext) -> list[ChatMessage]:
    """Return the message of `outputs`. Each content is a step of its own."""
    made: list[Any] = []
    for index, item in enumerate(items):
        if CONTENT.knows(item):
            content = STEP.on(CONTENT.decode(item, context), API, {})
            context.trace(CONTENT, [content], items, index, spread=False)
            made.append(content)
        else:
            made += decode_step(item, items, index, context)[1]
    return [ChatMessage(role="assistant", contents=made, origin=context.origin)]


# -- encoding ------------------------------------------------------------------------------------------------------


class _Writer:
    """Write steps."""

    def __init__(self, context: EncodeContext) -> None:
        self.context = context
        self.steps: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        """The step to which more contents may be appended."""
        self._listed: list[dict[str, Any]] | None = None
        """The contents of the open step; None if none was written."""

    def write(self, message: ChatMessage) -> None:
        self._open = None
        is_own = is_native(message, self.context)
        self.context.report_lost_attributes(message, ("author_name",))
        self.context.leave_residue(message)
        for content in message.contents:
            if STEPS.has(content.__class__) or WHOLE_STEP.of(content, API):
                self.steps += STEPS.encode_list([content], self.context)
                self._open = None
            elif isinstance(content, ReasoningContent):
                self._think(content)
            elif unknown_part_of(content, API) is not None:
                self._append(self._step(content, "thought"), "summary", SUMMARY.encode_list([content], self.context))
            else:
                if message.role != "user" and not is_own:
                    # In answers of other APIs, each content is a step, as in a stream.
                    self._open = None
                    content = whole_citations(content, self.context, unit="byte", titled=False)
                parts = CONTENT.encode_list([content], self.context)
                if parts:
                    step = self._step(content, "user_input" if message.role == "user" else "model_output")
                    self._append(step, "content", parts)

    def _think(self, content: ReasoningContent) -> None:
        step = self._step(content, "thought")
        if content.text or content.kind is not None:
            self._append(step, "summary", SUMMARY.encode_list([content], self.context))
        else:
            self.context.report_lost_attributes(content, ("annotations", "cache_point"))
            self.context.leave_residue(content)
        if content.protected is not None:
            self._open = None
            signature = _SIGNATURE.encode(content.protected, self.context, content)
            step |= {} if signature is None else {"signature": signature}

    def _step(self, content: Any, tag: str) -> dict[str, Any]:
        """Return the step that a content belongs to: its own, the open one, or a new one."""
        around = STEP.of(content, API)
        step = self._open
        if around is not None or step is None or step["type"] != tag:
            fields = {key: value for key, value in wire_fields(around or {}).items() if key != "type"}
            step, self._listed = {"type": tag, **fields}, None
            self._open = step
            self.steps.append(step)
        return step

    def _append(self, step: dict[str, Any], field: str, wires: list[dict[str, Any]]) -> None:
        """Append to the contents of the open step. The first ones replace a value of the residue."""
        if self._listed is None:
            self._listed = step[field] = []
        self._listed.extend(wires)


def encode_steps(messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
    """Return the steps of a list of messages."""
    writer = _Writer(context)
    for message in messages:
        writer.write(message)
    return writer.steps


def encode_outputs(messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
    """Return the `outputs` of messages: the contents of their steps, and the steps without contents."""
    outputs: list[dict[str, Any]] = []
    for step in encode_steps(messages, context):
        outputs += step["content"] if step["type"] in _SPEAKERS and "content" in step else [step]
    return outputs


class Steps(MessageList):
    """The input of a request: a list of steps, or one user message as a list of contents, a content, or a string."""

    classes = (list, dict, str)
    item, tag, meaning = "step", "type", "type"

    def holds(self, value: Any) -> bool:
        return value.__class__ is str or (value.__class__ in (list, dict) and bool(value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        if value.__class__ is list and not all(item.__class__ is dict and CONTENT.knows(item) for item in value):
            return decode_steps(value, context)
        form: Any = "contents"
        if value.__class__ is list:
            contents = CONTENT.decode_list(value, context)
            context.trace(CONTENT, contents, container, key, spread=True)
        else:
            form = "string" if value.__class__ is str else "content"
            contents = [TextContent(text=value) if value.__class__ is str else CONTENT.decode(value, context)]
            context.trace(None if form == "string" else CONTENT, contents, container, key, spread=False)
        return [ChatMessage(role="user", contents=contents, origin=context.origin, extra=INPUT.extra(API, form))]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> Any:
        steps = encode_steps(value, context)
        form = INPUT.of(value[0], API) if len(value) == 1 else None
        if form is None or not context.native or len(steps) != 1 or steps[0].keys() != {"type", "content"}:
            return steps or None
        content = steps[0]["content"]
        if form == "contents":
            return content
        if len(content) > 1 or (form == "string" and content[0].keys() != {"type", "text"}):
            return steps
        return content[0] if form == "content" else content[0]["text"]
