"""Rules of ATIF trajectories: what the pydantic models of Harbor refuse.

Source: `nat.atif` of nvidia-nat-atif 1.9.0 (seen 2026-11-23), which contains these models.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.datasets.atif.blocks import API

RULES = Rules(API)
SOURCE = "nat.atif of nvidia-nat-atif 1.9.0"
AGENT_FIELDS = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")


@RULES.rule("refused", fix="add the missing field, or a step", source=f"{SOURCE}, trajectory.py, agent.py and step.py")
def required_fields(trajectory: dict[str, Any]) -> Iterator[Broken]:
    """A trajectory must have a version, an agent with a name and a version, and at least one step."""
    if "schema_version" not in trajectory:
        yield "$.schema_version", "missing"
    agent = trajectory.get("agent")
    for name in ("name", "version"):
        if not isinstance(agent, dict) or name not in agent:
            yield f"$.agent.{name}", "missing"
    if trajectory.get("steps") == []:
        yield "$.steps", "an empty list"


@RULES.rule("refused", fix="number the steps 1, 2, 3", source=f"{SOURCE}, trajectory.py")
def steps_are_numbered(trajectory: dict[str, Any]) -> Iterator[Broken]:
    """The step_id of the steps must be 1, 2, 3, without gaps."""
    for number, (path, step) in enumerate(objects(trajectory, "steps"), 1):
        if step.get("step_id") != number:
            yield f"{path}.step_id", f"{step.get('step_id')!r:.60} instead of {number}"


@RULES.rule("refused", fix="use system, user or agent", source=f"{SOURCE}, step.py")
def sources_are_known(trajectory: dict[str, Any]) -> Iterator[Broken]:
    """The source of a step must be system, user or agent."""
    for path, step in objects(trajectory, "steps"):
        if step.get("source") not in ("system", "user", "agent"):
            yield f"{path}.source", f"{step.get('source')!r:.60}"


@RULES.rule("refused", fix="move it to a step of the agent", source=f"{SOURCE}, step.py")
def agent_fields_in_agent_steps(trajectory: dict[str, Any]) -> Iterator[Broken]:
    """Only steps of the agent may have calls, reasoning, metrics, a model and a reasoning effort."""
    for path, step in objects(trajectory, "steps"):
        for name in AGENT_FIELDS if step.get("source") != "agent" else ():
            if step.get(name) is not None:
                yield f"{path}.{name}", f"in a step of the source {step.get('source')!r:.60}"


@RULES.rule("refused", fix="move the result to the step of its call", source=f"{SOURCE}, trajectory.py")
def results_are_in_the_step_of_their_call(trajectory: dict[str, Any]) -> Iterator[Broken]:
    """A result with the id of a call must be in the step of this call."""
    for path, step in objects(trajectory, "steps"):
        called = [call.get("tool_call_id") for _, call in objects(step, "tool_calls")]
        observation = step.get("observation")
        for at, result in (
            objects(observation, "results", f"{path}.observation") if isinstance(observation, dict) else ()
        ):
            call_id = result.get("source_call_id")
            if call_id is not None and call_id not in called:
                yield f"{at}.source_call_id", f"no call {call_id!r:.60} in this step"
