"""Convert a validation error of pydantic to a short list of faults, each with its JSON path.

pydantic reports all members of a union that do not match. Here, only the member that the payload's tag selects counts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_snake

_TAGS = ("type", "role")
_WRONG_TAG = ("literal_error", "enum", "missing", "extra_forbidden")


@dataclass(frozen=True)
class _Label:
    """A step into a member of a union. It has no key in the payload."""

    name: str


@dataclass(frozen=True)
class _Complaint:
    steps: tuple[str | int | _Label, ...]
    code: str
    message: str

    def path(self) -> str:
        parts = [step for step in self.steps if not isinstance(step, _Label)]
        return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def faults_of(error: ValidationError, payload: Any) -> list[str]:
    """Return one line per fault, as `$.messages[0].role: Input should be 'user'`."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    complaints = [_Complaint(_steps(item["loc"], payload), item["type"], item["msg"]) for item in details]
    return list(dict.fromkeys(f"{item.path()}: {item.message}" for item in _prune(complaints, 0)))


def _steps(location: tuple[str | int, ...], payload: Any) -> tuple[str | int | _Label, ...]:
    steps: list[str | int | _Label] = []
    for position, step in enumerate(location):
        last = position == len(location) - 1
        key = _key(payload, step)
        if key is not None:
            payload = payload[key]
            steps.append(key)
        else:
            steps.append(step if last and isinstance(payload, dict) and _is_name(step) else _Label(str(step)))
    return tuple(steps)


def _key(payload: Any, step: str | int) -> str | int | None:
    """Return the step as the payload spells it; None if it has no such key. Models always report the alias."""
    if isinstance(step, int):
        return step if isinstance(payload, list) and step < len(payload) else None
    if not isinstance(payload, dict):
        return None
    return next((name for name in (step, to_snake(step)) if name in payload), None)


def _is_name(step: str | int) -> bool:
    """Return whether a step is a missing key, rather than a class or a type expression."""
    return isinstance(step, str) and step.isidentifier() and not step[0].isupper() and step not in _TYPE_NAMES


_TYPE_NAMES = frozenset({"str", "int", "float", "bool", "none", "datetime", "bytes", "list", "dict"})


def _prune(complaints: list[_Complaint], depth: int) -> list[_Complaint]:
    """Return the relevant complaints. All of `complaints` share their first `depth` steps."""
    at_depth = [item for item in complaints if len(item.steps) == depth]
    groups: dict[str | int | _Label, list[_Complaint]] = defaultdict(list)
    for item in complaints:
        if len(item.steps) > depth:
            groups[item.steps[depth]].append(item)
    branches = [group for step, group in groups.items() if isinstance(step, _Label)]
    keys = [group for step, group in groups.items() if not isinstance(step, _Label)]
    pruned = [complaint for group in keys for complaint in _prune(group, depth + 1)]
    return at_depth + pruned + _representative(branches, depth)


def _representative(branches: list[list[_Complaint]], depth: int) -> list[_Complaint]:
    if not branches:
        return []
    fitting = [branch for branch in branches if not _is_off(branch, depth + 1)]
    if fitting:
        return min((_prune(branch, depth + 1) for branch in fitting), key=len)
    steps = branches[0][0].steps[:depth]
    return [_Complaint(steps, "union", f"none of the {len(branches)} alternatives accepts this value")]


def _is_off(branch: list[_Complaint], depth: int) -> bool:
    """Return whether the payload cannot be this member: its JSON class or its tag differs."""
    return any(
        len(item.steps) == depth
        or (len(item.steps) == depth + 1 and item.steps[-1] in _TAGS and item.code in _WRONG_TAG)
        for item in branch
    )
