"""`contentmodel tools`: tool configuration files, checked, shown and tried out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich import box
from rich.table import Table

from contentmodel.cli.console import err, out, safe_text, visible
from contentmodel.cli.errors import Problem, print_problem, problem_of
from contentmodel.cli.executors import parse_executors
from contentmodel.cli.installed import check_api, load
from contentmodel.cli.losses import Tally, print_groups
from contentmodel.cli.output import layout, open_output, print_json
from contentmodel.cli.read import Document
from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.engine.json import parse, write
from contentmodel.errors import DecodeError
from contentmodel.request import ChatRequest, FunctionTool

if TYPE_CHECKING:
    from contentmodel.tools import Tool
    from contentmodel.tools.config import Executor, ToolFile, ToolFileError
    from contentmodel.tools.config.format import ApiTool

FAULTS_FOUND = 1
CALL_FAILED = 1

Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Tool configuration files; - is standard input.")]
File = Annotated[str, typer.Argument(metavar="FILE", help="A tool configuration file; - is standard input.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a tool in it.")]
Args = Annotated[
    str, typer.Argument(metavar="ARGS", help="Its arguments as a JSON object; - is standard input.", show_default=False)
]
For = Annotated[str | None, typer.Option("--for", metavar="API", help="As JSON, as this API is told of the tools.")]
Executors = Annotated[
    list[str] | None,
    typer.Option(
        "--executor",
        metavar="NAME=URL",
        help="Where the calls of an api go, which is called default where the file does not name it: https://... "
        "(REST or GraphQL, as the tool says), sqlite:///FILE or postgresql://... Several times for several.",
    ),
]
Headers = Annotated[
    list[str] | None, typer.Option("--header", metavar="NAME:VALUE", help="A header of every HTTP request.")
]
Context = Annotated[
    list[str] | None,
    typer.Option("--context", metavar="NAME=VALUE", help="A value that the caller supplies, and never the model."),
]
FaultsAsJson = Annotated[bool, typer.Option("--json", help="One JSON object for each fault, a line each.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a file with a tool that cannot be loaded.")]
ResultAsJson = Annotated[bool, typer.Option("--json", help="The result's contents as JSON, with data as base64.")]


def tools_command() -> None:
    """Tool configuration files: check them, show what a model is told of their tools, and call these.

    \b
    [bold]Examples[/bold]
    contentmodel tools check shop.tools.json
    contentmodel tools show shop.tools.json --for openai-chat
    contentmodel tools call shop.tools.json orders '{"limit": 3}' --executor default=https://api.example.com \\
        --context customerid=7
    """


def check(files: Files, *, executor: Executors = None, header: Headers = None, as_json: FaultsAsJson = False) -> None:
    """Say what is wrong with tool configuration files: all of it, with file, tool and JSON path.

    Nothing is called. With --executor the names of executors are checked too, and SQL as that database reads it.
    Functions of local tools are the application's, and not looked for.

    Exit codes: 0 nothing is wrong; 1 something is; 2 a file cannot be read, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel tools check *.tools.json
    contentmodel tools check shop.tools.json --executor default=sqlite:///shop.db
    contentmodel tools check shop.tools.json --json | jq -r .path
    """
    from contentmodel.tools.config import ToolFileError

    code = 0
    with _installed():
        executors = parse_executors(executor or [], header or [])
        for file in files:
            try:
                found = _read(file, executors or None, strict=True)
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
                    out().print(visible(f"{found.name}: {_count(len(found))}, no faults"), soft_wrap=True)
    raise typer.Exit(code)


def show(file: File, *, api: For = None, strict: Strict = False) -> None:
    """Show the tools of a file: for people, or as one API's JSON with --for.

    What the caller supplies (the context) is not in the schema that a model sees, and the two internal tools are
    not among the tools. A tool with a fault is left out and reported; --strict refuses the file.

    \b
    [bold]Examples[/bold]
    contentmodel tools show shop.tools.json
    contentmodel tools show shop.tools.json --for anthropic-messages
    """
    check_api(api, "--for", stored=False)
    with _installed():
        found = _checked(file, strict=strict)
        if api is None:
            out().print(_table(found))
        else:
            _print_encoded(found.definitions, api)


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
    """Call one tool of a file, as a model would: the arguments are validated, and the result is printed.

    Another tool of the file with a fault is reported; --strict refuses the file.

    Exit codes: 0 it gave a result; 1 it failed; 2 bad input, arguments that the tool refuses, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel tools call advice.tools.json search_advice '{"query": "cats"}' --executor default=https://...
    contentmodel tools call shop.tools.json orders --executor default=sqlite:///shop.db --context customerid=7
    echo '{"limit": 3}' | contentmodel tools call shop.tools.json orders - --executor default=sqlite:///shop.db
    """
    if file == args == "-":
        raise Problem("FILE and ARGS cannot both be standard input", hint="name the file, or write ARGS out")
    with _installed():
        executors = parse_executors(executor or [], header or [])
        tool = _tool(_checked(file, strict=strict), name, executors, context or [])
        text = sys.stdin.read() if args == "-" else args
        asked = FunctionCallContent(call_id="call_1", name=name, arguments=text)
        raise typer.Exit(_print_result(_result(tool, asked), as_json))


# What the commands have in common -------------------------------------------------------------------------------------


@contextmanager
def _installed() -> Iterator[None]:
    """Says which extra brings what is missing, and that is not our own."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "contentmodel").partition(".")[0] == "contentmodel":
            raise
        hint = 'pip install "contentmodel[tools]"'
        raise Problem(f"this needs {error.name}, which is not installed", hint=hint) from None


def _read(file: str, executors: Mapping[str, Executor] | None = None, *, strict: bool) -> ToolFile:
    """A file with its faults found; the functions of `local` tools are not looked for."""
    from contentmodel.tools.config.load import read_tools

    return read_tools(sys.stdin.buffer.read() if file == "-" else Path(file), executors, None, strict=strict)


def _checked(file: str, *, strict: bool) -> ToolFile:
    """A file whose faults are reported. Problem where it cannot be used."""
    from contentmodel.tools.config import ToolFileError

    try:
        found = _read(file, strict=strict)
    except ToolFileError as error:
        raise _faulty(file, error) from None
    if found.faults:
        print_problem(_faulty(file, found, "these tools are left out; --strict refuses the file"))
    return found


def _faulty(file: str, error: ToolFileError | ToolFile, hint: str = "") -> Problem:
    count = "1 fault" if len(error.faults) == 1 else f"{len(error.faults)} faults"
    details = tuple(f"{fault.path}: {f'{fault.tool}: ' if fault.tool else ''}{fault.message}" for fault in error.faults)
    return Problem(f"{file}: {count}", details, hint)


def _count(tools: int) -> str:
    return "1 tool" if tools == 1 else f"{tools} tools"


# show -----------------------------------------------------------------------------------------------------------------


def _table(file: ToolFile) -> Table:
    from contentmodel.tools.config.format import ApiTool

    # Narrow: a description has most of the 80 columns.
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("tool", overflow="fold")
    table.add_column("what the model is told, and what the caller supplies", overflow="fold")
    kinds = {entry.function.name: entry for entry in file.entries}
    for definition in file.definitions:
        entry = kinds[definition.name]
        place = f"api {entry.api.name}" if isinstance(entry, ApiTool) else str(entry.__struct_config__.tag)
        head = safe_text(f"{definition.name}\n", "bold").append_text(safe_text(place, "dim"))
        said = safe_text(" ".join((definition.description or "(no description)").split()))
        for line in _parameters(definition):
            said.append("\n- ").append_text(safe_text(line))
        if entry.context:
            said.append_text(safe_text(f"\nthe caller supplies {', '.join(entry.context)}", "dim"))
        table.add_row(head, said)
    return table


def _parameters(definition: FunctionTool) -> Iterator[str]:
    schema = definition.parameters or {}
    for name, said in schema.get("properties", {}).items():
        kind = said.get("type", "any") if isinstance(said, dict) else "any"
        words = " or ".join(kind) if isinstance(kind, list) else kind
        yield f"{name}: {words}{'' if name in schema.get('required', ()) else ', optional'}"


def _print_encoded(definitions: list[FunctionTool], api: str) -> None:
    encoded = load(api).encode_request(ChatRequest(model="any", tools=list(definitions)))
    tools = encoded.payload.get("tools")
    if tools is None and definitions:
        raise Problem(f"{api} is told of no tools")
    with open_output(None) as write_out:
        write_out(layout(write(tools or []), pretty=True))
    losses = [loss for loss in encoded.losses if loss.path.startswith("$.tools")]
    if losses:
        tally = Tally()
        tally.add(Document(b"", api), losses)
        print_groups(tally, err())


# call -----------------------------------------------------------------------------------------------------------------


def _tool(file: ToolFile, name: str, executors: Mapping[str, Executor], context: list[str]) -> Tool:
    """One tool of a file, ready to run. What the others would need is not asked for."""
    from contentmodel.tools import Tool
    from contentmodel.tools.config import ToolFileError, load_tools
    from contentmodel.tools.config.format import ApiTool

    offered = [definition.name for definition in file.definitions]
    entry = next((entry for entry in file.entries if entry.function.name == name and name in offered), None)
    if entry is None:
        raise Problem(f"{file.name}: there is no tool {name!r}", hint=f"there are: {', '.join(offered) or 'none'}")
    if not isinstance(entry, ApiTool):
        raise Problem(f"{name} is run by the application: only the tools of an api can be called from here")
    try:
        alone = load_tools([msgspec.to_builtins(entry)], executors=executors)
    except ToolFileError as error:
        raise _faulty(file.name, error, f"--executor {entry.api.name}=URL says where it goes") from None
    made = alone.tools(_parse_context(context, entry))[0]
    assert isinstance(made, Tool)
    return made


def _parse_context(texts: list[str], entry: ApiTool) -> dict[str, Any]:
    """NAME=VALUE: the text where the schema takes text, and else the JSON value."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Problem(f"--context: expected NAME=VALUE, got {text!r}", hint="--context customerid=7")
        if name not in entry.context:
            known = ", ".join(entry.context) or "none"
            raise Problem(
                f"--context: {entry.function.name} asks the caller for no {name!r}", hint=f"it asks for {known}"
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


def _result(tool: Tool, asked: FunctionCallContent) -> FunctionResultContent:
    """The result of a call. Problem where the arguments are refused."""
    from contentmodel.tools import ToolContext, ToolInputError, result_of, validate_input

    try:
        args = validate_input(tool, asked).args
    except ToolInputError as error:
        details = tuple(str(fault) for fault in error.faults)
        raise Problem(f"{tool.name}: the arguments are not valid", details) from None
    try:
        return result_of(asked, tool.invoke(args, ToolContext()))
    except Exception as error:  # As a runner does it: a failure is a result.
        return result_of(asked, error)


def _print_result(result: FunctionResultContent, as_json: bool) -> int:
    """Prints a result, and gives the exit code."""
    if as_json:
        print_json(result.outputs)
        return CALL_FAILED if result.error else 0
    with open_output(None) as write_out:
        for output in result.outputs:
            if isinstance(output, TextContent):
                write_out(output.text.encode("utf-8", "surrogatepass") + b"\n")
            elif isinstance(output, DataContent):
                said = f"{output.media_type}, {len(output.to_bytes()):,} bytes: --json shows them"
                err().print(visible(said), soft_wrap=True)
    for output in result.outputs:
        if isinstance(output, ErrorContent):
            print_problem(Problem(output.message))
    return CALL_FAILED if result.error else 0


COMMANDS: tuple[Callable[..., None], ...] = (check, show, call)
"""The commands below `contentmodel tools`."""
