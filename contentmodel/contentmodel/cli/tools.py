"""`contentmodel tools`: check and show tool configuration files, and call their tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich import box
from rich.table import Table

from contentmodel.cli.console import err, out, safe_text, visible
from contentmodel.cli.errors import Problem, print_problem, problem_of
from contentmodel.cli.executors import parse_executors
from contentmodel.cli.installed import api_option, load
from contentmodel.cli.losses import Tally, print_groups
from contentmodel.cli.output import layout, open_output, print_json
from contentmodel.cli.read import Document
from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.display import count_of
from contentmodel.errors import DecodeError
from contentmodel.json import parse, write
from contentmodel.request import ChatRequest, FunctionTool

if TYPE_CHECKING:
    from contentmodel.tools import Tool
    from contentmodel.tools.config import Executor, ToolFile, ToolFileError
    from contentmodel.tools.config.format import ApiTool

FAULTS_FOUND = 1
CALL_FAILED = 1

Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Tool configuration files; - is standard input.")]
File = Annotated[str, typer.Argument(metavar="FILE", help="A tool configuration file; - is standard input.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a tool in the file.")]
Args = Annotated[
    str,
    typer.Argument(
        metavar="ARGS", help="The arguments, a JSON object; - is standard input. Default: {}.", show_default=False
    ),
]
For = Annotated[
    str | None, typer.Option("--for", metavar="API", help="Print the tools as JSON in the format of this API.")
]
Executors = Annotated[
    list[str] | None,
    typer.Option(
        "--executor",
        metavar="NAME=URL",
        help="The executor of the api tools with this `api.name` (default: `default`): https://... (REST or GraphQL, "
        "depending on the tool), sqlite:///FILE or postgresql://... Repeatable.",
    ),
]
Headers = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="NAME:VALUE", help="A header for every HTTP request. Repeatable."),
]
Context = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        metavar="NAME=VALUE",
        help="A context value, which the caller supplies instead of the model. Repeatable.",
    ),
]
FaultsAsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object per fault, one per line.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse the file if one of its tools has a fault.")]
ResultAsJson = Annotated[
    bool, typer.Option("--json", help="Print the contents of the result as JSON, with binary data as base64.")
]


def tools_command() -> None:
    """Check tool configuration files, show the tools as a model sees them, and call a tool.

    \b
    [bold]Examples[/bold]
    contentmodel tools check shop.tools.json
    contentmodel tools show shop.tools.json --for openai-chat
    contentmodel tools call shop.tools.json orders '{"limit": 3}' --executor default=https://api.example.com \\
        --context customerid=7
    """


def check(files: Files, *, executor: Executors = None, header: Headers = None, as_json: FaultsAsJson = False) -> None:
    """Check tool configuration files. Print every fault with its file, tool and JSON path.

    No tool is called. With --executor, the names of the executors are checked too, and SQL statements are parsed in
    the dialect of the database. The functions of local tools belong to the application and are not checked.

    Exit codes: 0 no faults; 1 faults; 2 a file cannot be read, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel tools check *.tools.json
    contentmodel tools check shop.tools.json --executor default=sqlite:///shop.db
    contentmodel tools check shop.tools.json --json | jq -r .path
    """
    from contentmodel.tools.config import ToolFileError

    code = 0
    executors = parse_executors(executor or [], header or [])
    for file in files:
        try:
            result = _read(file, executors or None, strict=True)
        except ToolFileError as error:
            code = max(code, FAULTS_FOUND)
            for fault in error.faults:
                if as_json:
                    print_json(fault)
                else:
                    out().print(visible(str(fault)), soft_wrap=True)
        except OSError as error:
            problem = problem_of(error)
            print_problem(problem)
            code = max(code, problem.code)
        else:
            if not as_json:
                out().print(visible(f"{result.name}: {count_of(len(result), 'tool')}, no faults"), soft_wrap=True)
    raise typer.Exit(code)


def show(file: File, *, api: For = None, strict: Strict = False) -> None:
    """Show the tools of a file as a table, or with --for as the JSON that an API receives.

    The model does not see the context values, which the caller supplies, nor internal tools. A tool with a fault is
    reported and left out; --strict refuses the file.

    Exit codes: 0 shown; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel tools show shop.tools.json
    contentmodel tools show shop.tools.json --for anthropic-messages
    """
    api = api_option(api, "--for", stored=False)
    loaded = _checked(file, strict=strict)
    if api is None:
        out().print(_table(loaded))
    else:
        _print_encoded(loaded.definitions, api)


def call(
    file: File,
    name: Name,
    args: Args = "{}",
    *,
    executor: Executors = None,
    header: Headers = None,
    context: Context = None,
    as_json: ResultAsJson = False,
    strict: Strict = False,
) -> None:
    """Call one tool of a file as a runner does: validate the arguments, run the call, and print the result.

    Only the tools of an api can be called; local tools need the functions of the application. If another tool of the
    file has a fault, it is reported; --strict refuses the file.

    Exit codes: 0 the call succeeded; 1 the call failed; 2 bad input, invalid arguments, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel tools call advice.tools.json search_advice '{"query": "cats"}' --executor default=https://...
    contentmodel tools call shop.tools.json orders --executor default=sqlite:///shop.db --context customerid=7
    echo '{"limit": 3}' | contentmodel tools call shop.tools.json orders - --executor default=sqlite:///shop.db
    """
    if file == args == "-":
        raise Problem("FILE and ARGS cannot both be standard input", hint="name the file, or give ARGS as text")
    executors = parse_executors(executor or [], header or [])
    tool = _tool(_checked(file, strict=strict), name, executors, context or [])
    text = sys.stdin.read() if args == "-" else args
    request = FunctionCallContent(call_id="call_1", name=name, arguments=text)
    raise typer.Exit(_print_result(_result(tool, request), as_json))


# Shared by the commands -----------------------------------------------------------------------------------------------


def _read(file: str, executors: Mapping[str, Executor] | None = None, *, strict: bool) -> ToolFile:
    """Read and check a file. The functions of `local` tools are not checked."""
    from contentmodel.tools.config.load import read_tools

    return read_tools(sys.stdin.buffer.read() if file == "-" else Path(file), executors, None, strict=strict)


def _checked(file: str, *, strict: bool) -> ToolFile:
    """Read a file, and report its faults. Raise Problem if it cannot be used."""
    from contentmodel.tools.config import ToolFileError

    try:
        result = _read(file, strict=strict)
    except ToolFileError as error:
        raise _faulty(file, error) from None
    if result.faults:
        print_problem(_faulty(file, result, "these tools are left out; --strict refuses the file"))
    return result


def _faulty(file: str, error: ToolFileError | ToolFile, hint: str = "") -> Problem:
    details = tuple(f"{fault.path}: {f'{fault.tool}: ' if fault.tool else ''}{fault.message}" for fault in error.faults)
    return Problem(f"{file}: {count_of(len(error.faults), 'fault')}", details, hint)


# show -----------------------------------------------------------------------------------------------------------------


def _table(file: ToolFile) -> Table:
    from contentmodel.tools.config.format import ApiTool

    # Narrow: the description needs most of the 80 columns.
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("tool", overflow="fold")
    table.add_column("description, parameters, and context values", overflow="fold")
    entries = {entry.function.name: entry for entry in file.entries}
    for definition in file.definitions:
        entry = entries[definition.name]
        kind = f"api {entry.api.name}" if isinstance(entry, ApiTool) else str(entry.__struct_config__.tag)
        head = safe_text(f"{definition.name}\n", "bold").append_text(safe_text(kind, "dim"))
        text = safe_text(" ".join((definition.description or "(no description)").split()))
        for line in _parameters(definition):
            text.append("\n- ").append_text(safe_text(line))
        if entry.context:
            text.append_text(safe_text(f"\nthe caller supplies {', '.join(entry.context)}", "dim"))
        table.add_row(head, text)
    return table


def _parameters(definition: FunctionTool) -> Iterator[str]:
    schema = definition.parameters or {}
    for name, value in schema.get("properties", {}).items():
        kind = value.get("type", "any") if isinstance(value, dict) else "any"
        text = " or ".join(kind) if isinstance(kind, list) else kind
        yield f"{name}: {text}{'' if name in schema.get('required', ()) else ', optional'}"


def _print_encoded(definitions: list[FunctionTool], api: str) -> None:
    encoded = load(api).encode_request(ChatRequest(model="any", tools=list(definitions)))
    tools = encoded.payload.get("tools")
    if tools is None and definitions:
        raise Problem(f"requests to {api} cannot contain tools")
    with open_output(None) as write_out:
        write_out(layout(write(tools or []), pretty=True))
    losses = [loss for loss in encoded.losses if loss.path.startswith("$.tools")]
    if losses:
        tally = Tally()
        tally.add(Document(b"", api), losses)
        print_groups(tally, err())


# call -----------------------------------------------------------------------------------------------------------------


def _tool(file: ToolFile, name: str, executors: Mapping[str, Executor], context: list[str]) -> Tool:
    """Return one tool of a file, ready to run. The executors and context of the other tools are not needed."""
    from contentmodel.tools import Tool
    from contentmodel.tools.config import ToolFileError, load_tools
    from contentmodel.tools.config.format import ApiTool

    offered = [definition.name for definition in file.definitions]
    entry = next((entry for entry in file.entries if entry.function.name == name and name in offered), None)
    if entry is None:
        raise Problem(
            f"{file.name}: unknown tool {name!r}", hint=f"the tools of the file: {', '.join(offered) or 'none'}"
        )
    if not isinstance(entry, ApiTool):
        raise Problem(f"{file.name}: {name} is a local tool, which needs the application; only api tools can be called")
    try:
        single = load_tools([msgspec.to_builtins(entry)], executors=executors)
    except ToolFileError as error:
        raise _faulty(file.name, error, f"name its executor with --executor {entry.api.name}=URL") from None
    tool = single.tools(_parse_context(context, entry))[0]
    assert isinstance(tool, Tool)
    return tool


def _parse_context(texts: list[str], entry: ApiTool) -> dict[str, Any]:
    """Parse NAME=VALUE texts. A value is a text if the schema allows a string, else JSON."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Problem(f"--context: expected NAME=VALUE, got {text!r}", hint="example: --context customerid=7")
        if name not in entry.context:
            names = ", ".join(entry.context) or "none"
            raise Problem(
                f"--context: {entry.function.name} has no context value {name!r}", hint=f"its context values: {names}"
            )
        values[name] = _context_value(value, entry.function.parameters["properties"][name])
    return values


def _context_value(text: str, schema: Any) -> Any:
    kinds = schema.get("type") if isinstance(schema, dict) else None
    if kinds == "string" or (isinstance(kinds, list) and "string" in kinds):
        return text
    try:
        return parse(text)
    except DecodeError:
        return text


def _result(tool: Tool, request: FunctionCallContent) -> FunctionResultContent:
    """Return the result of a call. Raise Problem if the arguments are invalid."""
    from contentmodel.tools import ToolContext, ToolInputError, result_of, validate_input

    try:
        args = validate_input(tool, request).args
    except ToolInputError as error:
        details = tuple(str(fault) for fault in error.faults)
        raise Problem(f"{tool.name}: the arguments are not valid", details) from None
    try:
        return result_of(request, tool.invoke(args, ToolContext()))
    except Exception as error:  # As in a runner: a failure is a result.
        return result_of(request, error)


def _print_result(result: FunctionResultContent, as_json: bool) -> int:
    """Print a result. Return the exit code."""
    if as_json:
        print_json(result.outputs)
        return CALL_FAILED if result.error else 0
    with open_output(None) as write_out:
        for output in result.output_list:
            if isinstance(output, TextContent | JsonContent):
                write_out(output.text.encode("utf-8", "surrogatepass") + b"\n")
            elif isinstance(output, DataContent):
                note = f"{output.media_type}, {count_of(len(output.to_bytes()), 'byte')}: --json prints them"
                err().print(visible(note), soft_wrap=True)
    for output in result.output_list:
        if isinstance(output, ErrorContent):
            print_problem(Problem(output.message))
    return CALL_FAILED if result.error else 0


COMMANDS: tuple[Callable[..., None], ...] = (check, show, call)
"""The subcommands of `contentmodel tools`."""
