"""The `contentmodel` command: its subcommands, and the options that they share."""

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
from contentmodel.cli.ask import ask
from contentmodel.cli.check import check
from contentmodel.cli.convert import convert
from contentmodel.cli.datasets import COMMANDS as DATASETS_COMMANDS
from contentmodel.cli.datasets import datasets_command
from contentmodel.cli.detect import detect
from contentmodel.cli.errors import reported
from contentmodel.cli.export import export
from contentmodel.cli.gateway import COMMANDS as GATEWAY_COMMANDS
from contentmodel.cli.gateway import GatewayCommands, gateway_command
from contentmodel.cli.plan import plan
from contentmodel.cli.sessions.commands import COMMANDS as SESSIONS_COMMANDS
from contentmodel.cli.sessions.commands import sessions_command
from contentmodel.cli.show import show
from contentmodel.cli.tools import COMMANDS, tools_command


class Commands(TyperGroup):
    """Run a command. Convert each expected error to a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        with reported():
            return super().invoke(ctx)


def new_app(group: type[TyperGroup] = Commands) -> typer.Typer:
    """Return a Typer app with the settings of this command."""
    return typer.Typer(
        cls=group,
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
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
]


def contentmodel_command(version: Version = False) -> None:
    """Show LLM conversations, and convert them between the APIs of the providers. Every loss is reported.

    Commands read a file or standard input: a JSON document, JSON Lines, or a stream of server-sent events. The API
    (openai-chat, anthropic-messages, ...) and the kind (request, response, stream) of the input are detected.

    Run `contentmodel COMMAND --help` for the options, exit codes and examples of a command.

    \b
    [bold]Examples[/bold]
    contentmodel show chat.json
    contentmodel convert chat.json --to anthropic-messages
    contentmodel convert log.jsonl --to openai-responses -o out.jsonl
    contentmodel check request.json --for openai-chat
    contentmodel plan chat.json
    contentmodel detect log.jsonl
    contentmodel export history.db -o chat.html
    contentmodel ask -m openai:gpt-5.2 "Why is the sky blue?"
    contentmodel apis
    contentmodel sessions list
    contentmodel tools check shop.tools.json
    contentmodel gateway --to openai-responses --model gpt-5.2
    contentmodel datasets convert logs/ --to anthropic-messages -o out
    """


class Documents(StrEnum):
    """The kinds of document that have a JSON Schema."""

    contentmodel = "contentmodel"
    tools = "tools"
    gateway = "gateway"


def schema(
    of: Annotated[
        Documents,
        typer.Argument(
            metavar="OF",
            help="contentmodel: stored documents. tools: tool configuration files. gateway: configuration files of a "
            "gateway.",
        ),
    ] = Documents.contentmodel,
) -> None:
    """Print the JSON Schema of stored documents, of tool configuration files, or of a gateway's configuration.

    Stored documents are the documents that `convert --to contentmodel` writes.

    \b
    [bold]Examples[/bold]
    contentmodel schema > contentmodel.schema.json
    contentmodel schema tools > tools.schema.json
    contentmodel schema gateway > gateway.schema.json
    """
    result = _SCHEMAS[of]()
    typer.echo(msgspec.json.format(msgspec.json.encode(result), indent=2))


def _tool_file_schema() -> dict[str, Any]:
    from contentmodel.tools.config import tool_file_schema

    return tool_file_schema()


def _gateway_schema() -> dict[str, Any]:
    from contentmodel.gateway import config_schema

    return config_schema()


_SCHEMAS = {
    Documents.contentmodel: contentmodel.schema,
    Documents.tools: _tool_file_schema,
    Documents.gateway: _gateway_schema,
}


def help_of(command: Callable[..., None]) -> str:
    """Return the docstring with each paragraph on one line; otherwise typer keeps the line breaks of the source."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(text if text.startswith("\b") else " ".join(text.split()) for text in paragraphs)


app.callback(help=help_of(contentmodel_command))(contentmodel_command)
for command in (convert, show, export, check, plan, detect, ask, apis, schema):
    app.command(help=help_of(command))(command)

sessions_app = new_app()
for name, sessions_subcommand in SESSIONS_COMMANDS:
    sessions_app.command(name, help=help_of(sessions_subcommand))(sessions_subcommand)
app.add_typer(sessions_app, name="sessions", help=help_of(sessions_command))

tools_app = new_app()
for command in COMMANDS:
    tools_app.command(help=help_of(command))(command)
app.add_typer(tools_app, name="tools", help=help_of(tools_command))

gateway_app = new_app(GatewayCommands)
for gateway_subcommand in GATEWAY_COMMANDS:
    gateway_app.command(help=help_of(gateway_subcommand))(gateway_subcommand)
app.add_typer(gateway_app, name="gateway", help=help_of(gateway_command))

datasets_app = new_app()
for command in DATASETS_COMMANDS:
    datasets_app.command(help=help_of(command))(command)
app.add_typer(datasets_app, name="datasets", help=help_of(datasets_command))
