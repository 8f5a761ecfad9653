"""A hand-written reader of ATIF trajectories.

From docs/rfcs/0001-trajectory-format.md of harbor-framework/harbor (seen 2026-11-23): a step of the agent has its calls
and their results. Media are files beside the trajectory.
"""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.readers.reading import ASSISTANT, MEDIUM, SYSTEM, USER, Reading, link, objects, texts

_SOURCES = {"system": SYSTEM, "user": USER, "agent": ASSISTANT}


def read(kind: str, payload: dict[str, Any]) -> Reading:
    """Return the facts of a trajectory."""
    reading = Reading()
    for path, step in objects(payload.get("steps"), "$.steps"):
        message = step.get("message")
        for part_path, text in texts(message, f"{path}.message", ["text"]):
            reading.add(_SOURCES.get(step.get("source", ""), USER), text, part_path, f"{path}.source")
        _media(reading, message, f"{path}.message")
        for call_path, call in objects(step.get("tool_calls"), f"{path}.tool_calls"):
            name, arguments = call.get("function_name"), call.get("arguments")
            reading.call(name, arguments, f"{call_path}.arguments", f"{call_path}.function_name")
        observation = step.get("observation")
        results = observation.get("results") if isinstance(observation, dict) else None
        for result_path, result in objects(results, f"{path}.observation.results"):
            for part_path, text in texts(result.get("content"), f"{result_path}.content", ["text"]):
                reading.result(text, part_path)
            _media(reading, result.get("content"), f"{result_path}.content")
    return reading


def _media(reading: Reading, content: Any, path: str) -> None:
    for part_path, part in objects(content, path):
        source = part.get("source")
        if isinstance(source, dict):
            reading.add(MEDIUM, link(source.get("path")), f"{part_path}.source.path")
