"""`contentmodel gateway`: run a gateway, and check its configuration file."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from contentmodel.cli.console import err, visible
from contentmodel.cli.errors import Problem, reported
from contentmodel.cli.gateway_agent import agent_of, run_agent
from contentmodel.cli.gateway_replay import replay
from contentmodel.cli.installed import target_option
from contentmodel.cli.options import parse_policies
from contentmodel.display import count_of
from contentmodel.extras import needs_extra

if TYPE_CHECKING:
    from contentmodel.gateway import GatewayConfig

FAULTS_FOUND = 1
AGENT_ARGUMENTS = "contentmodel agent"
"""The key of the arguments after `--` in the context of the command."""
BACKLOG = 2048
"""The connections that wait to be accepted, as in uvicorn."""
KEYS = "env:NAME (an environment variable), client (the key that the client sends), or none"

File = Annotated[str | None, typer.Argument(metavar="CONFIG", help="A TOML file.", show_default=False)]
CheckedFile = Annotated[str, typer.Argument(metavar="CONFIG", help="A TOML file.")]
To = Annotated[str | None, typer.Option("--to", metavar="API", help="The API of the upstream, instead of a file.")]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="The upstream's base URL. Default: the provider's own.")
]
Key = Annotated[
    str | None,
    typer.Option("--key", metavar="SOURCE", help=f"The upstream's key: {KEYS}. Default: the SDK's variable."),
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help="The upstream's model. Default: the model that the client names."),
]
PolicyTexts = Annotated[
    list[str] | None, typer.Option("--policy", metavar="FAMILY=CHOICE", help="As for `convert`. Repeatable.")
]
OnLossTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--on-loss",
        metavar="report|refuse|FAMILY=refuse",
        help="Refuse requests with losses, or with losses of one family (media, tools, ...). Repeatable.",
    ),
]
Hosted = Annotated[
    str,
    typer.Option(
        "--hosted-tools", metavar="encode|drop|function|refuse", help="Hosted tools that the upstream does not have."
    ),
]
Host = Annotated[str | None, typer.Option("--host", metavar="HOST", help="Where to listen. Default: 127.0.0.1.")]
Port = Annotated[int | None, typer.Option("--port", metavar="PORT", help="Where to listen. Default: 8080.")]
Workers = Annotated[
    int, typer.Option("--workers", metavar="N", min=1, help="The number of processes. They share the `store`.")
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Use the file again when it changes. SIGHUP does it once.", show_default=False)
]
Run = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="AGENT",
        help="Run claude, codex, gemini, or another program with --env, and stop with it. `--` begins its arguments.",
    ),
]
Env = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        metavar="NAME=VALUE",
        help="A variable for --run. {url} and {key} are of the gateway. Repeatable.",
    ),
]
Record = Annotated[
    str | None,
    typer.Option("--record", metavar="FOLDER", help="Keep the requests and answers of both sides in this folder."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors, no line for each request.")]


class GatewayCommands(TyperGroup):
    """Run `serve` if the first argument is not a subcommand."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            # They are the arguments of the program of --run.
            ctx.meta[AGENT_ARGUMENTS] = args[args.index("--") + 1 :]
            args = args[: args.index("--")]
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["serve", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with reported():
            return super().invoke(ctx)


def gateway_command() -> None:
    """Let any client use any provider: answer the APIs of OpenAI, Anthropic and Google with the models of another one.

    Run it with a configuration file, or with --to for a single upstream. The client is given the address of the gateway
    in place of the provider's. Requests and answers are converted while they stream, and every answer has the header
    contentmodel-losses. `GET /contentmodel/losses/ID` lists the losses of the request ID, with paths and reasons.

    The gateway listens on 127.0.0.1, stores nothing unless the file has a `store`, and prints one line of JSON for each
    request. `/health/ready`, `/metrics` and `/contentmodel/requests` show how it works.

    \b
    [bold]Examples[/bold]
    export OPENAI_API_KEY=...
    contentmodel gateway --to openai:gpt-5.2
    ANTHROPIC_BASE_URL=http://127.0.0.1:8080 claude

    \b
    contentmodel gateway gateway.toml --port 9000
    contentmodel gateway check gateway.toml
    contentmodel schema gateway > gateway.schema.json
    """


def serve(
    context: typer.Context,
    config: File = None,
    to: To = None,
    base_url: BaseUrl = None,
    key: Key = None,
    model: Model = None,
    policy: PolicyTexts = None,
    hosted_tools: Hosted = "encode",
    on_loss: OnLossTexts = None,
    host: Host = None,
    port: Port = None,
    workers: Workers = 1,
    watch: Watch = False,
    run: Run = None,
    env: Env = None,
    record: Record = None,
    quiet: Quiet = False,
) -> None:
    """Run a gateway until it is interrupted.

    SIGTERM or Ctrl-C stops it: new requests are refused, and running ones get `drain_seconds`. A second Ctrl-C ends it
    at once. SIGHUP reads the file again; a file with faults changes nothing.

    Exit codes: 0 stopped; 2 a fault in the configuration or the command line, or the port is used by another program;
    3 it could not start, because the store cannot be opened for example. With --run: the code of the program.

    \b
    [bold]Examples[/bold]
    contentmodel gateway --to anthropic-messages --model claude-opus-5
    contentmodel gateway --to openai-chat --base-url http://127.0.0.1:11434/v1 --key none --model qwen3
    contentmodel gateway gateway.toml --workers 4 --watch
    contentmodel gateway --to openai-responses --model gpt-5.2 --run claude -- -p "hello"
    contentmodel gateway gateway.toml --record session --run my-agent --env OPENAI_BASE_URL={url}/v1
    """
    with needs_extra("gateway"):
        from contentmodel.gateway import create_app, serving
    chosen = [to, base_url, key, model, policy, on_loss]
    if config is not None and (any(chosen) or hosted_tools != "encode"):
        raise Problem("a configuration file and options of an upstream exclude each other", hint="put them in the file")
    if config is None and to is None:
        raise Problem("expected a configuration file or --to API", hint="contentmodel gateway --help has examples")
    settings = (
        _from_file(config)
        if config is not None
        else _from_options(to or "", base_url, key, model, policy, hosted_tools, on_loss)
    )
    if watch and config is None:
        raise Problem("--watch needs a configuration file", hint="put the options into a file")
    arguments = context.meta.get(AGENT_ARGUMENTS, [])
    if run is None and (arguments or env):
        raise Problem("arguments after `--`, and --env, need --run", hint="... --run claude -- -p hello")
    if run is not None:
        if workers > 1 or watch or host is not None:
            raise Problem("--run excludes --workers, --watch and --host", hint="the gateway is for this program only")
        agent = agent_of(run, env or [])
        settings = _listening(settings, "127.0.0.1", port or 0)
        app = _app(lambda: create_app(settings, record=record), record)
        raise typer.Exit(run_agent(app, _bound(settings), run, arguments, agent, _key_of(settings)))
    settings = _listening(settings, host, port)
    if workers > 1 and settings.store is None and any(key.limits for key in settings.keys.values()):
        raise Problem("--workers: processes count the limits of keys together only in a store", hint="set `store`")
    _app(lambda: create_app(settings, record=record), record)
    sockets = _bound(settings)
    _print_start(settings, sockets[0].getsockname()[1])
    changes = [(name, value) for name, value in (("host", host), ("port", port)) if value is not None]
    source = serving.Source(settings, config, tuple(changes), record)
    code = serving.run(source, sockets, workers=workers, watch=watch, quiet=quiet)
    if code:
        raise typer.Exit(code)


def check(config: CheckedFile) -> None:
    """Check a configuration file, and print every fault with its place.

    Exit codes: 0 no fault; 1 faults; 2 the file cannot be read, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel gateway check gateway.toml
    """
    settings = _from_file(config)
    counts = f"{count_of(len(settings.routes), 'route')}, {count_of(len(settings.upstreams), 'upstream')}"
    typer.echo(f"{config}: no faults ({counts})")


def _from_file(path: str) -> GatewayConfig:
    with needs_extra("gateway"):
        from contentmodel.gateway import ConfigError, load_config

    try:
        return load_config(path)
    except ConfigError as error:
        raise _problem(error, path) from None


def _problem(error: Any, name: str) -> Problem:
    details = tuple(f"{fault.path}: {fault.message}" for fault in error.faults)
    return Problem(
        f"{name}: {count_of(len(error.faults), 'fault')}",
        details,
        "`contentmodel schema gateway` prints the schema",
        code=FAULTS_FOUND,
    )


def _from_options(
    api: str,
    base_url: str | None,
    key: str | None,
    model: str | None,
    policy: list[str] | None,
    hosted_tools: str,
    on_loss: list[str] | None,
) -> GatewayConfig:
    from contentmodel.gateway import ConfigError, read_config

    api, model = target_option(api, "--to", model, stored=False)
    upstream = {"api": api, "base_url": base_url, "key": key}
    route = {"to": "upstream", "model": model, "policies": dict(parse_policies(policy or []))}
    value = {
        "upstreams": {"upstream": {name: text for name, text in upstream.items() if text is not None}},
        "routes": [
            {name: item for name, item in route.items() if item is not None}
            | {"hosted_tools": hosted_tools, "on_loss": _on_loss(on_loss or [])}
        ],
    }
    try:
        return read_config(value)
    except ConfigError as error:
        faults = "; ".join(_option_fault(fault.path, fault.message) for fault in error.faults)
        raise Problem(faults) from None


_OPTIONS = {"api": "to"}
"""The options whose names are not those of their fields in a configuration."""


def _option_fault(path: str, message: str) -> str:
    """Return a fault with the option that it comes from."""
    field = "on_loss" if ".on_loss" in path else path.rpartition(".")[2]
    return f"--{_OPTIONS.get(field, field.replace('_', '-'))}: {message}"


def _on_loss(texts: list[str]) -> Any:
    """Return the choice for all families, or for some of them."""
    if not texts:
        return "report"
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    pairs = [text.partition("=") for text in texts]
    if not all(equals for _, equals, _ in pairs):
        raise Problem("--on-loss: one choice for all families, or FAMILY=CHOICE for some of them")
    return {family: choice for family, _, choice in pairs}


def _listening(settings: GatewayConfig, host: str | None, port: int | None) -> GatewayConfig:
    """Apply the options of the address, and check the result."""
    import msgspec

    from contentmodel.gateway import ConfigError, check_config

    changed = msgspec.structs.replace(
        settings, host=host or settings.host, port=settings.port if port is None else port
    )
    try:
        check_config(changed)
    except ConfigError as error:
        raise _problem(error, "the configuration") from None
    return changed


def _bound(settings: GatewayConfig) -> list[socket.socket]:
    """Return sockets that listen at all addresses of the host."""
    sockets: list[socket.socket] = []
    port = settings.port
    try:
        addresses = socket.getaddrinfo(settings.host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys((entry[0], entry[4][0]) for entry in addresses):
            # asyncio turns off the delay of small packets only for sockets with this protocol number.
            listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            sockets.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address, port))
            port = listener.getsockname()[1]
            listener.listen(BACKLOG)
    except OSError as error:
        for listener in sockets:
            listener.close()
        reason = error.strerror or str(error)
        hint = "stop the other program, or choose another --port" if error.errno == errno.EADDRINUSE else ""
        raise Problem(f"cannot listen on {settings.host}:{settings.port}: {reason}", hint=hint) from None
    return sockets


def _print_start(settings: GatewayConfig, port: int) -> None:
    """Print what clients need: the address for each of the well-known variables."""
    url = f"http://{settings.host}:{port}"
    lines = [f"listening on {url}"]
    for number, route in enumerate(settings.routes):
        routed = [(target.upstream, route.at(target, settings.upstreams).model) for target in route.targets]
        upstreams = ", ".join(f"{n} ({settings.upstreams[n].api}): {m or 'the same model'}" for n, m in routed)
        lines.append(f"route {number}: {', '.join(route.models)} -> {upstreams}")
    if not settings.state_keys and any(route.reasoning == "carry" for route in settings.routes):
        lines.append("state_key is not set: sessions lose the reasoning of other APIs when the gateway restarts")
    lines.append(f"clients: ANTHROPIC_BASE_URL={url}")
    lines += [f"         {variable}" for variable in (f"OPENAI_BASE_URL={url}/v1", f"GOOGLE_GEMINI_BASE_URL={url}")]
    for line in lines:
        err().print(visible(line), soft_wrap=True)


def _app(make: Callable[[], Any], record: str | None) -> Any:
    """Return the app. Raise Problem if the folder of recordings cannot be created."""
    try:
        return make()
    except OSError as error:
        raise Problem(f"--record {record}: {error.strerror or error}") from None


def _key_of(settings: GatewayConfig) -> str:
    """Return the key that the gateway requires; "none" if it requires none."""
    if settings.key is None:
        if settings.keys:
            raise Problem("--run needs the gateway's own key", hint='set key = "env:NAME" beside the keys of clients')
        return "none"
    return os.environ[settings.key.partition(":")[2]]


COMMANDS = (serve, check, replay)
