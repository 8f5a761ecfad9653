"""The `contentmodel-conformance` command: the app, and the command `serve`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

import typer
from rich.text import Text

import contentmodel
from contentmodel.cli.app import help_of, new_app
from contentmodel.cli.console import err, out, safe_text
from contentmodel.cli.errors import Problem, naming
from contentmodel.cli.output import print_json
from contentmodel.display import count_of
from contentmodel.json import write
from contentmodel_conformance.cli_run import run
from contentmodel_conformance.server import LoopbackServer, Recorded, read_script
from contentmodel_conformance.server.app import DELTA_SIZE

app = new_app()


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"contentmodel-conformance {contentmodel.__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and exit.")
]


@app.callback()
def conformance_command(version: Version = False) -> None:
    """Check adapters, and test clients of LLM APIs against a local server.

    \b
    [bold]Examples[/bold]
    contentmodel-conformance run openai-chat
    contentmodel-conformance run my_package.my_api:adapter --report report.html
    contentmodel-conformance serve script.json
    """


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Add a command. Its docstring is its help text; each paragraph becomes one line."""
    app.command(help=help_of(function))(function)
    return function


command(run)


# -- serve -------------------------------------------------------------------------------------------------------------

SCRIPT_HELP = "JSON (a list of turns, or one) or JSON Lines (a turn a line); - is standard input."
ScriptPath = Annotated[str, typer.Argument(metavar="SCRIPT", help=SCRIPT_HELP, show_default=False)]
Host = Annotated[str, typer.Option("--host", metavar="HOST", help="The address to listen on.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 chooses a free one.")]
Repeat = Annotated[bool, typer.Option("--repeat", help="Start again after the last turn.")]
Log = Annotated[
    str | None,
    typer.Option(
        "--log", metavar="FILE", help="Append the requests as JSON Lines, without API keys; - is standard output."
    ),
]
DeltaSize = Annotated[
    int, typer.Option("--delta-size", metavar="N", min=1, help="The number of characters of a text per stream event.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the URL, and no requests.")]


@command
def serve(
    path: ScriptPath,
    *,
    host: Host = "127.0.0.1",
    port: Port = 8089,
    repeat: Repeat = False,
    log: Log = None,
    delta_size: DeltaSize = DELTA_SIZE,
    quiet: Quiet = False,
) -> None:
    """Serve the scripted answers of a local server, in the format of every API.

    The server has the endpoints of the API of each provider, streaming and not; at its start, it prints the URLs for
    their clients. Each request gets the next turn of the script, in the format of its API. After the last turn, every
    request gets an error. Ctrl-C stops the server.

    A turn is a text with optional tool calls, an answer in the format of any API (with "api" if it cannot be detected),
    or a stored contentmodel document. A turn with a fault fails for the first "times" requests (default: 1). Faults:
    status (with retry_after, message), drop_after (bytes), stall (seconds; stall_after bytes), malformed_at (the number
    of an event), truncate (true).

    \b
    [bold]Turns[/bold]
    {"text": "Hi."}
    {"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}
    {"text": "Hi.", "fault": {"status": 429, "retry_after": 1, "times": 2}}
    {"text": "Hi.", "fault": {"drop_after": 200}}
    {"api": "anthropic-messages", "payload": {"content": [...], ...}}

    Exit codes: 0 the server was stopped; 2 invalid input or command line.

    \b
    [bold]Examples[/bold]
    contentmodel-conformance serve script.json
    contentmodel-conformance serve turns.jsonl --port 0 --log requests.jsonl
    echo '{"text": "Hi."}' | contentmodel-conformance serve - --repeat
    """
    turns = read_script(path)
    with _logging(log) as keep:

        def report(record: Recorded) -> None:
            keep(record)
            if not quiet:
                err().print(_line_of(record), soft_wrap=True)

        server = LoopbackServer(turns, host=host, port=port, repeat=repeat, delta_size=delta_size, on_request=report)
        _listen(server, host, port)
        _greet(server, len(turns), to_stderr=log == "-")
        with suppress(KeyboardInterrupt):
            server.run()


def _listen(server: LoopbackServer, host: str, port: int) -> None:
    try:
        server.listen()
    except OSError as error:
        hint = "choose another --port, or --port 0 for a free one"
        raise Problem(f"cannot listen on {host} port {port}: {error.strerror or error}", hint=hint) from None


@contextmanager
def _logging(path: str | None) -> Iterator[Callable[[Recorded], None]]:
    """Yield a function that appends each record to a file as one JSON line; `-` is standard output."""
    if path is None:
        yield lambda record: None
        return
    if path == "-":
        yield lambda record: print_json(record.as_json())
        return
    with naming(path), open(path, "ab", buffering=0) as file:

        def keep(record: Recorded) -> None:
            file.write(write(record.as_json()) + b"\n")

        yield keep


_CLIENTS = {
    "openai-chat": 'OpenAI(base_url=URL, api_key="none")',
    "anthropic-messages": 'Anthropic(base_url=URL, api_key="none")',
    "google-generate-content": 'genai.Client(http_options={"base_url": URL}, api_key="none")',
    "bedrock-converse": 'boto3.client("bedrock-runtime", endpoint_url=URL, region_name="us-east-1")',
    "cohere-chat": 'cohere.ClientV2(base_url=URL, api_key="none")',
    "mistral-chat": 'Mistral(server_url=URL, api_key="none")',
    "ollama-chat": "ollama.Client(host=URL)",
}
"""The call that creates the official client of each API. `URL` is its base URL."""


def _greet(server: LoopbackServer, turns: int, *, to_stderr: bool) -> None:
    """Print the URL, and how to configure each client."""
    console = err() if to_stderr else out()
    console.print(
        Text.assemble(("listening on ", "bold"), (server.url, "bold green"), f" with {count_of(turns, 'turn')}"),
        soft_wrap=True,
    )
    for api, client in _CLIENTS.items():
        line = client.replace("URL", f'"{server.base_url(api)}"')
        console.print(f"  {line}", style="dim", soft_wrap=True)
    console.print("Ctrl-C stops it", style="dim")
    console.file.flush()


def _line_of(record: Recorded) -> Text:
    """Return the request and its answer in one line."""
    line = Text(f"{record.number} ", style="cyan").append_text(safe_text(f"{record.api} {record.model or '-'}"))
    line.append(" stream" if record.is_stream else " plain", style="dim")
    turn = "no turn" if record.turn is None else f"turn {record.turn}"
    line.append(f" -> {turn}, " + ("no answer" if record.status is None else f"HTTP {record.status}"))
    if record.fault is not None:
        line.append(", with its fault", style="yellow")
    if record.error is not None:
        line.append_text(safe_text(f": {record.error}", "red"))
    elif record.losses:
        line.append(f", {count_of(len(record.losses), 'loss')}", style="yellow")
    return line
