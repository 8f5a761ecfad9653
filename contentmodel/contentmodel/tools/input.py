"""What a model sends for a tool, read against the tool's schema before anything runs.

Arguments are valid as a whole or not at all. JSON types are followed to the letter: "3" is no integer, 1 is no true;
what JSON has no type for (dates, UUIDs, decimals, enums) is read from its usual text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contentmodel.content.tools import FunctionCallContent, ToolCallContent
from contentmodel.errors import DecodeError, EncodeError
from contentmodel.tools.faults import InputFault, InvalidArguments, ToolInputError, shown
from contentmodel.wire.json import parse, write

if TYPE_CHECKING:
    from contentmodel.tools.definition import Tool


@dataclass(frozen=True)
class Input:
    """A call whose arguments are valid. `args` is what the tool's `run` is given."""

    tool: Tool
    call: FunctionCallContent
    args: Any


def is_cut_short(call: ToolCallContent) -> bool:
    """Whether the provider says that the arguments of a call have not all come."""
    return call.status in ("incomplete", "in_progress")


def validate_input(tool: Tool, call: FunctionCallContent) -> Input:
    """The arguments of `call` as `tool` takes them. ToolInputError has everything that is wrong with them."""
    if is_cut_short(call):
        raise ToolInputError(tool.name, [InputFault("$", "a complete call", "one that was cut short")])
    reader = tool.arguments
    text, value = _parsed(tool.name, call)
    try:
        args = reader.read(text, value)
    except InvalidArguments as refused:
        raise ToolInputError(tool.name, refused.faults) from None
    except RecursionError:
        raise ToolInputError(tool.name, [InputFault("$", "arguments nested less deeply", "too many levels")]) from None
    except Exception as error:
        # Validators are the application's code; what they raise is no reason to run on what they did not pass.
        raise ToolInputError(tool.name, [InputFault("$", "arguments that the tool can check", "others")]) from error
    return Input(tool, call, args)


def _parsed(name: str, call: FunctionCallContent) -> tuple[bytes, dict[str, Any]]:
    """The arguments as JSON text and as an object; ToolInputError where they are neither."""
    given = call.arguments
    try:
        text = (
            (given.strip() or "{}").encode("utf-8", "surrogatepass") if isinstance(given, str) else write(given or {})
        )
        value = parse(text)
    except (DecodeError, EncodeError, RecursionError) as error:
        why = error.faults[0].message.removeprefix("not JSON: ") if isinstance(error, DecodeError) else str(error)
        raise ToolInputError(name, [InputFault("$", "a JSON object", f"what is not JSON: {why}")]) from None
    if not isinstance(value, dict):
        raise ToolInputError(name, [InputFault("$", "a JSON object", shown(value))])
    return text, value
