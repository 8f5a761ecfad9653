"""The command line itself: its commands, and what they have in common."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import msgspec
import typer
from typer.core import TyperGroup

import contentmodel
from contentmodel.cli.apis import apis
from contentmodel.cli.check import check
from contentmodel.cli.convert import convert
from contentmodel.cli.detect import detect
from contentmodel.cli.errors import reported
from contentmodel.cli.export import export
from contentmodel.cli.plan import plan
from contentmodel.cli.show import show
from contentmodel.cli.tools import COMMANDS, tools_command


class Commands(TyperGroup):
    """Runs a command, and turns what goes wrong into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        with reported():
            return super().invoke(ctx)


def new_app() -> typer.Typer:
    """A command of commands, as ours are."""
    return typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = new_app()


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"contentmodel {contentmodel.__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and exit.")
]


@app.callback()
def contentmodel_command(version: Version = False) -> None:
    """LLM conversations: show them, and convert them between the providers' APIs without silent losses.

    \b
    [bold]Examples[/bold]
    contentmodel show chat.json
    contentmodel convert chat.json --to anthropic-messages
    contentmodel convert log.jsonl --to openai-responses -o out.jsonl
    contentmodel check request.json --for openai-chat
    contentmodel plan chat.json
    contentmodel detect log.jsonl
    contentmodel export history.db -o chat.html
    contentmodel apis
    contentmodel tools check shop.tools.json
    """


class Documents(StrEnum):
    """What has a schema of its own."""

    contentmodel = "contentmodel"
    tools = "tools"


def schema(of: Annotated[Documents, typer.Argument(metavar="OF")] = Documents.contentmodel) -> None:
    """Print a JSON Schema: of the documents that `--to contentmodel` writes, or (tools) of tool configuration files.

    \b
    [bold]Examples[/bold]
    contentmodel schema > contentmodel.schema.json
    contentmodel schema tools > tools.schema.json
    """
    found = contentmodel.schema() if of is Documents.contentmodel else _tool_file_schema()
    typer.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))


def _tool_file_schema() -> dict[str, Any]:
    from contentmodel.tools.config import tool_file_schema

    return tool_file_schema()


def help_of(command: Callable[..., None]) -> str:
    """The docstring with a line for each paragraph: typer would break the lines where the source does."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(text if text.startswith("\b") else " ".join(text.split()) for text in paragraphs)


for command in (convert, show, export, check, plan, detect, apis, schema):
    app.command(help=help_of(command))(command)

tools_app = new_app()
for command in COMMANDS:
    tools_app.command(help=help_of(command))(command)
app.add_typer(tools_app, name="tools", help=help_of(tools_command))
