"""`contentmodel ask`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from contentmodel.cli.console import err, visible
from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import target_option
from contentmodel.cli.losses import Tally, print_groups
from contentmodel.cli.options import parse_policies
from contentmodel.cli.read import Document
from contentmodel.client import ClientError, TypedChatClient, chat_client
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent
from contentmodel.content.text import TextContent
from contentmodel.errors import DecodeError, EncodeError
from contentmodel.events import TextDelta
from contentmodel.json import JsonObject, parse, write
from contentmodel.losses import Loss, significant
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.serialize import dumps
from contentmodel.typed import Asking, OutputError, Schema

if TYPE_CHECKING:
    from contentmodel.history import TurnStore

NO_ANSWER = 1
_MODEL = "CONTENTMODEL_MODEL"

Prompt = Annotated[
    str | None,
    typer.Argument(
        metavar="PROMPT",
        help="The question. Default, or with -: standard input. A pipe is added to it.",
        show_default=False,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="PROVIDER:MODEL", envvar=_MODEL, help="Such as openai:gpt-5.2 or ollama-chat:qwen3."
    ),
]
System = Annotated[str | None, typer.Option("--system", "-s", metavar="TEXT", help="The instructions.")]
Attached = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", metavar="FILE", help="An image, document or text to send. Repeatable."),
]
SchemaFile = Annotated[
    str | None,
    typer.Option("--schema", metavar="FILE", help="A JSON Schema of the answer. Print one JSON value that fits it."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the whole response as a contentmodel document.")]
ToRequest = Annotated[bool, typer.Option("--to-request", help="Print the payload of the request, and send nothing.")]
Store = Annotated[
    str | None, typer.Option("--store", metavar="STORE", help="Keep the conversation in this history, as a new one.")
]
Continue = Annotated[
    str | None, typer.Option("--continue", metavar="STORE", help="Continue the last conversation of this history.")
]
Conversation = Annotated[
    str | None, typer.Option("--conversation", "-c", metavar="NAME", help="The conversation in the history.")
]
Policy = Annotated[
    list[str] | None,
    typer.Option("--policy", metavar="FAMILY=CHOICE", help="As in `contentmodel convert`. Repeatable."),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="The host. Default: that of the SDK.")]


def ask(
    prompt: Prompt = None,
    model: ModelName = None,
    system: System = None,
    files: Attached = None,
    schema: SchemaFile = None,
    as_json: AsJson = False,
    to_request: ToRequest = False,
    store: Store = None,
    go_on: Continue = None,
    conversation: Conversation = None,
    policy: Policy = None,
    base_url: BaseUrl = None,
) -> None:
    """Ask a model, and print its answer.

    The answer is printed while it arrives. The key of the provider is read from the environment, as its SDK does:
    OPENAI_API_KEY, ANTHROPIC_API_KEY, ... The extra of the provider must be installed: contentmodel[openai], for
    example. A text on standard input is added to the question. Losses of the request go to standard error.

    Exit codes: 0 answered; 1 no answer, or none that fits --schema; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel ask -m anthropic:claude-opus-5 "Why is the sky blue?"
    git diff | contentmodel ask -m openai:gpt-5.2 -s "Review this."
    contentmodel ask -m google:gemini-3-pro --schema city.json --file photo.jpg "Which city?"
    contentmodel ask -m ollama:qwen3 --store history.db "The capital of Norway?"
    contentmodel ask -m ollama:qwen3 --continue history.db "And of Italy?"
    contentmodel ask -m openai:gpt-5.2 --to-request "Hello"
    """
    if model is None:
        raise Problem("no model", hint=f"name one with --model PROVIDER:MODEL, or set {_MODEL}")
    api, named = target_option(model, "--model", None, stored=False)
    if named is None:
        raise Problem(f"--model: {model!r} names a provider and no model", hint=f"write {model}:MODEL")
    if store is not None and go_on is not None:
        raise Problem("--store and --continue cannot be combined", hint="--continue keeps the conversation, too")
    if conversation is not None and store is None and go_on is None:
        raise Problem("--conversation needs --store or --continue")
    described = None if schema is None else _schema_in(schema)
    question = ChatMessage(role="user", contents=_contents(prompt, files or []))
    with _history(store or go_on, conversation, is_new=go_on is None) as history:
        instructions = [] if system is None else [TextContent(text=system)]
        request = ChatRequest(instructions=instructions, messages=[*(history.messages if history else []), question])
        if to_request:
            _print_payload(request, api, named, described, parse_policies(policy or []))
            return
        options: dict[str, Any] = {} if base_url is None else {"base_url": base_url}
        with chat_client(
            api, model=named, policies=parse_policies(policy or []), on_losses=_print_losses, **options
        ) as client:
            response = _answer(client, request, described, as_json=as_json)
        if history is not None:
            history.add(question, response)


def _contents(prompt: str | None, files: list[str]) -> list[AIContent]:
    """Return the contents of the question: its text, the text of standard input, and files."""
    texts = [prompt] if prompt not in (None, "-") else []
    if not texts or (sys.stdin is not None and not sys.stdin.isatty()):
        piped = "" if sys.stdin is None else sys.stdin.read()
        texts += [piped.rstrip("\n")] if piped.strip() else []
    contents: list[AIContent] = [DataContent.from_path(path) for path in files]
    text = "\n\n".join(filter(None, texts))
    if not text and not contents:
        raise Problem("no question", hint='write it behind the options: contentmodel ask -m MODEL "Why?"')
    return [*contents, *([TextContent(text=text)] if text else [])]


def _schema_in(path: str) -> Schema:
    value = parse(Path(path).read_bytes())
    if not isinstance(value, dict):
        raise Problem(f"{path}: a JSON Schema is an object")
    try:
        return Schema(value, name=str(value.get("title") or Path(path).stem))
    except ValueError as error:
        raise Problem(f"{path}: {error}") from None


def _print_payload(request: ChatRequest, api: str, model: str, schema: Schema | None, policies: Any) -> None:
    from contentmodel.adapter import adapter

    writer = adapter(api)
    if schema is not None:
        asking: Asking[Any] = Asking(request, schema, adapter=writer, model=model, policies=policies)
        request = asking.request
    encoded = writer.encode_request(request, policies, model)
    payload: JsonObject = encoded.payload
    _print_losses(encoded.losses)
    typer.echo(json.dumps(payload, indent=2, ensure_ascii=False))


def _print_losses(losses: tuple[Loss, ...]) -> None:
    tally = Tally()
    tally.add(Document(b"", "request"), significant(losses))
    print_groups(tally, err())


# -- the answer --------------------------------------------------------------------------------------------------------


def _answer(client: TypedChatClient, request: ChatRequest, schema: Schema | None, *, as_json: bool) -> ChatResponse:
    """Print the answer, and return it."""
    try:
        if schema is not None:
            typed = client.complete(request, output=schema)
            typer.echo(dumps(typed.response) if as_json else write(typed.output))
            return typed.response
        response = client.complete(request) if as_json else _streamed(client, request)
    except OutputError as error:
        if error.text:
            typer.echo(error.text, err=True)
        raise Problem(str(error), code=NO_ANSWER) from None
    except (ClientError, DecodeError) as error:
        raise Problem(str(error), hint=_hint_of(error), code=NO_ANSWER) from None
    except EncodeError as error:
        raise Problem(str(error)) from None
    if as_json:
        typer.echo(dumps(response))
    if response.error is not None:
        raise Problem(f"the answer ended with an error: {response.error.message}", code=NO_ANSWER)
    reason = response.finish_reason.reason if response.finish_reason else None
    if reason in ("length", "refusal", "content_filter"):
        err().print(visible(f"the answer ended early: {reason}"), style="yellow")
    return response


def _hint_of(error: Exception) -> str:
    status = getattr(error, "status", None)
    if status in (401, 403):
        return "set the key of the provider in the environment, as its SDK reads it"
    return "" if status is not None else "is the host right, and reachable? --base-url names another one"


def _streamed(client: TypedChatClient, request: ChatRequest) -> ChatResponse:
    shown = visible if sys.stdout.isatty() else str
    has_text = False
    with client.stream(request) as stream:
        for event in stream.events:
            if isinstance(event, TextDelta):
                has_text = True
                typer.echo(shown(event.text), nl=False)
                sys.stdout.flush()
    if has_text:
        typer.echo()
    return stream.response


# -- the history -------------------------------------------------------------------------------------------------------


class _History:
    """One conversation of a store."""

    def __init__(self, store: TurnStore, name: str, messages: list[ChatMessage]) -> None:
        self._store, self.name, self.messages = store, name, messages

    def add(self, question: ChatMessage, response: ChatResponse) -> None:
        """Store the question and the answer."""
        self._store.add_messages(self.name, [question, *response.messages])
        err().print(visible(f"kept as conversation {self.name}"), style="dim")


@contextmanager
def _history(path: str | None, name: str | None, *, is_new: bool) -> Iterator[_History | None]:
    if path is None:
        yield None
        return
    from contentmodel.history import TurnStore

    if not is_new and "://" not in path and not os.path.exists(path):
        raise Problem(f"{path}: no such history", hint="begin one with --store")
    store = TurnStore.open(path)
    try:
        if is_new:
            chosen = name or next(name for name in map("ask-{}".format, count(1)) if not _has(store, name))
            if _has(store, chosen):
                raise Problem(f"{path}: the conversation {chosen!r} exists", hint="continue it with --continue and -c")
            yield _History(store, chosen, [])
            return
        latest = [conversation.id for conversation in store.conversations(5, newest_first=True)]
        if not latest:
            raise Problem(f"{path}: there is no conversation", hint="begin one with --store")
        chosen = name or latest[0]
        if not _has(store, chosen):
            raise Problem(f"{path}: there is no conversation {chosen!r}", hint=f"the latest are {', '.join(latest)}")
        yield _History(store, chosen, list(store.load(chosen).messages))
    finally:
        store.close()


def _has(store: TurnStore, name: str) -> bool:
    from contentmodel.history import NotFoundError

    try:
        store.conversation(name)
    except NotFoundError:
        return False
    return True
