"""The table of ATIF, the Agent Trajectory Interchange Format of Harbor: one JSON object per run.

A step of the agent has its calls and their results. Source: docs/rfcs/0001-trajectory-format.md of
harbor-framework/harbor, and `nat.atif` of nvidia-nat-atif 1.9.0 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Filled,
    Implied,
    MessageList,
    Roles,
    Row,
    Silent,
    Table,
    TextOrBlocks,
    chat,
    passes,
    row,
    with_error_mark,
    with_error_read,
)
from contentmodel.content.media import UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.shared.chat_rows import REASONING, report_citations

API = "atif"
TABLE = Table(API)


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
            {
                "tool_call_id": "call_id",
                "function_name": "name",
                "arguments": ("arguments", ArgumentsObject()),
            },
            Filled({"arguments": {}}),
        )
    ],
    find=lambda wire: "call",
)
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
    find=lambda wire: "result",
)
AGENT = TABLE.record(
    "agent step",
    ChatMessage,
    {},
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
        "message": ("contents", TextOrBlocks(PARTS, "string")),
    },
    Filled({"message": ""}),
)
OBSERVATION = TABLE.record(
    "observation", ChatMessage, {"results": ("contents", Blocks(RESULTS))}, Implied({"role": "tool"})
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
                passes.leave_empty(message, context)
            elif message.role == "tool":
                _add_observation(steps, message, context)
            else:
                report_citations(message.contents, context)
                steps.append((AGENT if message.role == "assistant" else STEP).encode(message, context))
        return steps


def _decode_step(wire: dict[str, Any], context: DecodeContext, steps: list[Any], index: int) -> Iterator[ChatMessage]:
    layout = AGENT if wire["source"] == "agent" else STEP
    observation: Any = wire.get("observation")
    if not _has_results(observation):
        message = layout.decode(wire, context)
        context.trace(layout, [message], steps, index, spread=False)
        yield message
        return
    rest = {key: value for key, value in wire.items() if key != "observation"}
    context.copied(rest, wire)
    message = layout.decode(rest, context)
    context.trace(layout, [message], steps, index, spread=False)
    yield message
    results = OBSERVATION.decode(observation, context)
    results.contents[:] = map(with_error_read, results.contents)
    context.trace(OBSERVATION, [results], wire, "observation", spread=False)
    yield results


def _has_results(observation: Any) -> bool:
    """Return whether an observation has results. Without contents and calls, it only refers to other trajectories."""
    results = observation.get("results") if observation.__class__ is dict else None
    if results.__class__ is not list or not all(result.__class__ is dict for result in results):
        return False
    return any(result.get(key) is not None for result in results for key in ("content", "source_call_id"))


def _add_observation(steps: list[dict[str, Any]], message: ChatMessage, context: EncodeContext) -> None:
    """Add the results of a tool message to the last step. A step without calls can also have results."""
    for result in message.contents:
        report_citations(getattr(result, "outputs", ()), context)
    contents = [with_error_mark(content, context) for content in message.contents]
    wire = OBSERVATION.encode(context.with_contents(message, contents), context)
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
    "step_id",
    "timestamp",
    "model_name",
    "reasoning_effort",
    "metrics",
    "is_copied_context",
    "llm_call_count",
    "observation",
)
TABLE.keep("step", "step_id", "timestamp", "is_copied_context", "llm_call_count", "observation")
TABLE.keep("result", "subagent_trajectory_ref")
TABLE.keep(
    "request",
    *("schema_version", "session_id", "trajectory_id", "agent.name", "agent.version", "notes", "final_metrics"),
    *("continued_trajectory_ref", "subagent_trajectories"),
)
