"""The table of ATIF, the Agent Trajectory Interchange Format of Harbor: one JSON object per run.

A step of the agent has its calls and their results. A result that is of no call, as those of agents that write their
commands in texts, is a message of the user. Source: docs/rfcs/0001-trajectory-format.md of
harbor-framework/harbor, and `nat.atif` of nvidia-nat-atif 1.9.0 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import (
    OF_MESSAGES,
    ArgumentsObject,
    Blocks,
    Column,
    Columns,
    DecodeContext,
    EachBlock,
    EncodeContext,
    Filled,
    Hint,
    Implied,
    MessageList,
    Roles,
    Row,
    Silent,
    Table,
    TextOrBlocks,
    chat,
    foreign,
    row,
    with_error_mark,
    with_error_read,
)
from contentmodel.content.media import UriContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import UsageRecord
from contentmodel_adapters.common.chat_rows import REASONING, report_citations
from contentmodel_adapters.common.documents import DateText

API = "atif"
TABLE = Table(API)
OBSERVED = Hint[bool](API, "observed", "whether the message is a result of no call, in the step before it")
UNKNOWN_RESULT = Hint[bool](API, "unknown_result", "whether the only content is a whole result of an unknown form")


def _medium(kind: str) -> Row:
    source = {"source.path": "uri", "source.media_type": "media_type"}
    return Row(kind, UriContent, source, Implied({"kind": kind}), constants={"type": kind})


PARTS = TABLE.union("content part", [row("text", TextContent, {"text": "text"}), _medium("image"), _medium("audio")])
CALLS = TABLE.union(
    "tool call",
    [
        Row(
            "call",
            FunctionCallContent,
            {"tool_call_id": "call_id", "function_name": "name", "arguments": ("arguments", ArgumentsObject())},
            Filled({"arguments": {}}),
        )
    ],
    find=lambda wire: "call",
)
_RESULT_FIELDS = ("source_call_id", "content", "subagent_trajectory_ref")
RESULTS = TABLE.union(
    "result",
    [
        Row(
            "result",
            FunctionResultContent,
            {"source_call_id": "call_id", "content": ("outputs", TextOrBlocks(PARTS, "string"))},
            Silent("name"),
        )
    ],
    find=lambda wire: "result" if any(wire.get(name) is not None for name in _RESULT_FIELDS) else None,
)
USAGE = TABLE.record(
    "metrics",
    Usage,
    {
        "prompt_tokens": "input_tokens",
        "completion_tokens": "output_tokens",
        "cached_tokens": "cache_read_tokens",
        "extra.cache_creation_input_tokens": "cache_write_tokens",
        "extra.reasoning_tokens": "reasoning_tokens",
    },
    Implied({"cached_inside": True, "reasoning_inside": True}),
)
AGENT = TABLE.record(
    "agent step",
    ChatMessage,
    {"timestamp": ("created", DateText()), "metrics": ("usage", UsageRecord(USAGE))},
    Columns(
        "contents",
        {
            "reasoning_content": Column(REASONING, ReasoningContent),
            "message": Column(TextOrBlocks(PARTS, "string"), TextContent, UriContent),
            "tool_calls": Column(Blocks(CALLS), FunctionCallContent),
        },
    ),
    Implied({"role": "assistant"}),
    Filled({"message": ""}),
    constants={"source": "agent"},
)
STEP = TABLE.record(
    "step",
    ChatMessage,
    {
        "source": ("role", Roles(API, {"system": "system", "user": "user"}, elsewhere=("agent",))),
        "timestamp": ("created", DateText()),
        "message": ("contents", TextOrBlocks(PARTS, "string")),
    },
    Filled({"message": ""}),
)
PLAIN_RESULT = TABLE.record(
    "plain result", ChatMessage, {"content": ("contents", TextOrBlocks(PARTS, "string"))}, Implied({"role": "user"})
)
OBSERVATION = TABLE.record(
    "observation", ChatMessage, {"results": ("contents", EachBlock(RESULTS))}, Implied({"role": "tool"})
)
TABLE.known_values("step.source", "system", "user", "agent")


class Steps(MessageList):
    """The steps of a trajectory. The observation of a step becomes a tool message after the message of the step."""

    item = "step"
    tag = meaning = "source"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        for index, wire in self.objects(value, context):
            messages += _decode_step(wire, context, value, index)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = []
        for message in value:
            if not context.native and not message.contents:
                context.report_records(message, ())
                foreign.leave_empty(message, context)
                continue
            plain = message.role == "user" and OBSERVED.of(message, API)
            written = _without_records(message, context, in_step=message.role != "tool" and not plain)
            if plain:
                only = written.contents[0] if len(written.contents) == 1 else None
                if isinstance(only, UnknownContent) and UNKNOWN_RESULT.of(written, API) and context.native:
                    result = only.block
                else:
                    result = PLAIN_RESULT.encode(written, context)
                _add_results(steps, {"results": [result]})
            elif message.role == "tool":
                for tool_result in written.contents:
                    report_citations(getattr(tool_result, "output_list", ()), context)
                results = [with_error_mark(tool_result, context) for tool_result in written.contents]
                _add_results(steps, OBSERVATION.encode(context.with_contents(written, results), context))
            else:
                report_citations(message.contents, context)
                steps.append(_encoded_step(written, context, owner.model))
        return steps


def _encoded_step(message: ChatMessage, context: EncodeContext, usual: str | None) -> dict[str, Any]:
    """Return the step of a message. That of another model than the usual one has the name of this model."""
    if message.role != "assistant":
        return STEP.encode(message, context)
    step = AGENT.encode(message, context)
    model = None if context.native or message.origin is None else message.origin.model
    return step if model in (None, usual) else {"model_name": model, **step}


def _without_records(message: ChatMessage, context: EncodeContext, *, in_step: bool) -> ChatMessage:
    """Return a message without the records that its place in a trajectory cannot have. Report them as lost."""
    allowed = ("created", "usage") if message.role == "assistant" else ("created",) if in_step else ()
    lost = [name for name in OF_MESSAGES if name not in allowed and getattr(message, name) is not None]
    context.report_records(message, allowed)
    return context.replace(message, **dict.fromkeys(lost)) if lost else message


def _decode_step(wire: dict[str, Any], context: DecodeContext, steps: list[Any], index: int) -> Iterator[ChatMessage]:
    layout = AGENT if wire["source"] == "agent" else STEP
    observation: Any = wire.get("observation")
    has_results = _has_results(observation)
    message = layout.decode(context.without(wire, ("observation",)) if has_results else wire, context)
    context.trace(layout, [message], steps, index, spread=False)
    yield message
    if not has_results:
        return
    if _is_plain(observation, wire):
        for at in range(len(observation["results"])):
            plain = _decode_plain(observation["results"], at, context)
            context.trace(PLAIN_RESULT, [plain], observation["results"], at, spread=False)
            yield context.replaced(plain, OBSERVED.on(plain, API, True))
        return
    results = OBSERVATION.decode(observation, context)
    results.contents[:] = map(with_error_read, results.contents)
    context.trace(OBSERVATION, [results], wire, "observation", spread=False)
    yield results


def _has_results(observation: Any) -> bool:
    """Return whether an observation has results. Without contents and calls, it only refers to other trajectories."""
    results = observation.get("results") if observation.__class__ is dict else None
    objects = [result for result in results if result.__class__ is dict] if results.__class__ is list else []
    return any(result.get(key) is not None for result in objects for key in ("content", "source_call_id"))


def _is_plain(observation: dict[str, Any], step: dict[str, Any]) -> bool:
    """Return whether the results are contents of no call: the agent of the step has made none."""
    results = [result for result in observation["results"] if result.__class__ is dict]
    return (
        not step.get("tool_calls")
        and observation.keys() == {"results"}
        and any(result.get("content") is not None for result in results)
        and all(result.get("source_call_id") is None for result in results)
    )


def _decode_plain(results: list[Any], at: int, context: DecodeContext) -> ChatMessage:
    """Return the message of a result of no call. A result without content is an unknown content."""
    result = results[at]
    if result.__class__ is dict and result.get("content") is not None:
        message: ChatMessage = PLAIN_RESULT.decode(result, context)
        return message
    unknown = UnknownContent(api=API, block=result)
    context.trace(None, [unknown], results, at, spread=False)
    return UNKNOWN_RESULT.on(ChatMessage(role="user", contents=[unknown], origin=context.origin), API, True)


def _add_results(steps: list[dict[str, Any]], wire: dict[str, Any]) -> None:
    """Add an observation to the last step. A step without calls can also have results."""
    if not steps:
        steps.append({"source": "system", "message": ""})
    before = steps[-1].get("observation")
    if before is not None:
        wire = {**wire, **before, "results": [*before.get("results", ()), *wire.get("results", ())]}
    steps[-1]["observation"] = wire


TOOLS = chat.function_tools(TABLE)
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "steps": ("messages", Steps()),
        "agent.model_name": "model",
        "agent.tool_definitions": ("tools", Blocks(TOOLS)),
    },
)
TABLE.keep(
    "agent step",
    *("step_id", "model_name", "reasoning_effort", "is_copied_context", "llm_call_count", "observation"),
)
TABLE.keep("step", "step_id", "is_copied_context", "llm_call_count", "observation")
TABLE.keep("result", "subagent_trajectory_ref")
TABLE.keep("plain result", "source_call_id", "subagent_trajectory_ref")
TABLE.keep("metrics", "cost_usd", "prompt_token_ids", "completion_token_ids", "logprobs")
TABLE.keep(
    "request",
    *("schema_version", "session_id", "trajectory_id", "agent.name", "agent.version", "notes", "final_metrics"),
    *("continued_trajectory_ref", "subagent_trajectories"),
)
