"""Validate a model's arguments against the tool's schema before the tool runs.

If any argument is invalid, all are refused. JSON types are checked strictly: "3" is no integer, 1 is no boolean. Types
without a JSON form (dates, UUIDs, decimals, enums) are read from their usual text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contentmodel.content.tools import FunctionCallContent, ToolCallContent
from contentmodel.errors import ContentModelError, DecodeError, EncodeError
from contentmodel.json import parse, write
from contentmodel.tools.arguments import SchemaArguments
from contentmodel.tools.faults import InputFault, InvalidArguments, ToolInputError, shown
from contentmodel.tools.validation import InputLimits, limited

if TYPE_CHECKING:
    from contentmodel.tools.definition import Tool

QUICK = 20_000
"""Arguments up to this many characters are validated by pydantic and msgspec within a few milliseconds."""


@dataclass(frozen=True)
class Input:
    """A call with valid arguments. `args` is passed to the tool's `run`."""

    tool: Tool
    call: FunctionCallContent
    args: Any


def is_cut_short(call: ToolCallContent) -> bool:
    """Return whether the provider marked the arguments of a call as incomplete."""
    return call.status in ("incomplete", "in_progress")


def validate_input(
    tool: Tool,
    call: FunctionCallContent,
    *,
    limits: InputLimits | None = None,
    deadline: float | None = None,
) -> Input:
    """Return the validated arguments of `call` in the form that `tool` takes.

    `limits` bound the size and the work (default: `InputLimits()`). A validation against a JSON Schema ends at
    `deadline`, a time of `time.monotonic`. Raise ToolInputError with all faults of the arguments.
    """
    if is_cut_short(call):
        raise ToolInputError(tool.name, [InputFault("$", "a complete call", "one that was cut short")])
    reader, limits = tool.arguments, limits or InputLimits()
    text, value = _parsed(tool.name, call, limits)
    try:
        with limited(limits, deadline):
            args = reader.read(text, value)
    except InvalidArguments as refused:
        raise ToolInputError(tool.name, refused.faults) from None
    except RecursionError:
        raise ToolInputError(tool.name, [InputFault("$", "arguments nested less deeply", "too many levels")]) from None
    except Exception as error:
        # Validators are the application's code. If they raise, the arguments are not valid.
        raise ToolInputError(tool.name, [InputFault("$", "arguments that the tool can check", "others")]) from error
    return Input(tool, call, args)


def is_slow(tool: Tool, call: FunctionCallContent) -> bool:
    """Return whether validating a call may take too long for an event loop."""
    try:
        return isinstance(tool.arguments, SchemaArguments) or len(call.arguments_text) > QUICK
    except ContentModelError:
        return False


def _parsed(name: str, call: FunctionCallContent, limits: InputLimits) -> tuple[bytes, dict[str, Any]]:
    """Return the arguments as JSON text and as an object. Raise ToolInputError if they are invalid or too large."""
    arguments = call.arguments
    if isinstance(arguments, str) and len(arguments) > limits.max_bytes:
        raise _too_large(name, len(arguments), limits)
    try:
        text = (
            (arguments.strip() or "{}").encode("utf-8", "surrogatepass")
            if isinstance(arguments, str)
            else write(arguments or {})
        )
        if len(text) > limits.max_bytes:
            raise _too_large(name, len(text), limits)
        value = parse(text)
    except (DecodeError, EncodeError, RecursionError) as error:
        problem = error.faults[0].message.removeprefix("not JSON: ") if isinstance(error, DecodeError) else str(error)
        raise ToolInputError(name, [InputFault("$", "a JSON object", f"invalid JSON: {problem}")]) from None
    if not isinstance(value, dict):
        raise ToolInputError(name, [InputFault("$", "a JSON object", shown(value))])
    if _is_deeper(value, limits.max_depth):
        raise ToolInputError(name, [InputFault("$", f"at most {limits.max_depth} levels of nesting", "more")])
    return text, value


def _too_large(name: str, size: int, limits: InputLimits) -> ToolInputError:
    return ToolInputError(name, [InputFault("$", f"at most {limits.max_bytes:,} bytes of JSON", f"{size:,}")])


def _is_deeper(value: Any, levels: int) -> bool:
    inside = [value]
    for _ in range(levels):
        inside = [
            item
            for outer in inside
            for item in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(item, dict | list)
        ]
        if not inside:
            return False
    return True
