"""`contentmodel convert`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Annotated

import msgspec
import typer

from contentmodel.cli.console import err
from contentmodel.cli.errors import LOSSES_REFUSED, Problem
from contentmodel.cli.installed import STORED, check_api, load
from contentmodel.cli.losses import Tally, print_tally
from contentmodel.cli.options import From, In, Kind, OnLoss, parse_policies
from contentmodel.cli.output import Write, check_output, layout, open_output
from contentmodel.cli.progress import tracked
from contentmodel.cli.read import Document, Source, decode, for_each, identify, open_source
from contentmodel.convert import convert as convert_payload
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.serialize import dumps
from contentmodel.wire.losses import Loss, LossError
from contentmodel.wire.lowering import POLICIES

_POLICIES = "; ".join(f"{family}={'|'.join(choices)}" for family, choices in POLICIES.items())

To = Annotated[str, typer.Option("--to", metavar="API", help="The API to convert to, or contentmodel.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="OUT", help="Where to write. Default: standard output.")
]
Losses = Annotated[
    str | None, typer.Option("--losses", metavar="FILE", help="List every loss there as JSON, with its path.")
]
Raising = Annotated[
    OnLoss, typer.Option("--on-loss", help="raise: write nothing of a document that would lose something.")
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="FAMILY=CHOICE",
        help=f"What becomes of content that the target has no place for: {_POLICIES}.",
    ),
]
Pretty = Annotated[
    bool | None,
    typer.Option(
        "--pretty/--compact", help="Indented, or one line. JSON Lines are always one line each.", show_default="pretty"
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing about losses and progress.")]


@dataclass(frozen=True)
class Order:
    """What the command line asks for."""

    target: str
    api: str | None
    kind: str | None
    policies: Mapping[str, str]
    on_loss: str
    pretty: bool


def convert(
    path: In = None,
    *,
    target: To,
    api: From = None,
    kind: Kind = None,
    output: Output = None,
    losses: Losses = None,
    on_loss: Raising = OnLoss.report,
    policy: Policies = None,
    pretty: Pretty = None,
    quiet: Quiet = False,
) -> None:
    """Convert payloads from one API to another, and say what was lost.

    What the input is of is detected, document by document. A summary of the losses goes to standard error.

    Exit codes: 0 converted; 1 something would have been lost (--on-loss raise); 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel convert chat.json --to anthropic-messages
    contentmodel convert in.jsonl --to openai-chat -o out.jsonl --losses l.jsonl
    contentmodel convert chat.json --to openai-chat --on-loss raise
    contentmodel convert chat.json --to openai-chat --policy reasoning=text
    contentmodel convert chat.json --to contentmodel -o stored.json
    curl ... | contentmodel convert --kind response --to contentmodel
    """
    check_api(target, "--to")
    check_api(api, "--from")
    _check_files(path, output, losses)
    order = Order(target, api, kind and kind.value, parse_policies(policy or []), on_loss.value, pretty is not False)
    source = open_source(path)
    if source.is_lines and pretty:
        raise Problem("--pretty: JSON Lines are one line each", hint="leave --pretty out")
    code, tally = _convert_files(source, order, output, losses, quiet)
    if not quiet:
        print_tally(tally, err(), target=target, is_lines=source.is_lines)
    raise typer.Exit(code)


class _Refused(Exception):
    """The one document would lose something: its losses are listed, and no output is written."""


def _convert_files(
    source: Source, order: Order, output: str | None, losses: str | None, quiet: bool
) -> tuple[int, Tally]:
    code = 0
    with ExitStack() as stack:
        tally = Tally(stack.enter_context(open_output(losses)) if losses is not None else None)
        with suppress(_Refused), open_output(output) as write:
            code = _convert_all(source, order, write, tally, _documents(source, output, quiet))
            if code and not source.is_lines:
                raise _Refused if code == LOSSES_REFUSED else typer.Exit(code)
    return code, tally


def _check_files(path: str | None, output: str | None, losses: str | None) -> None:
    if losses == "-" and output in (None, "-"):
        raise Problem(
            "--losses -: the converted payload goes to standard output already",
            hint="write it to a file with -o OUT, or the losses to a file with --losses FILE",
        )
    check_output(output, [path], "--output")
    check_output(losses, [path, output], "--losses")


def _documents(source: Source, output: str | None, quiet: bool) -> Iterable[Document]:
    """With a progress bar where a terminal shows it, and nothing else."""
    console = err()
    to_terminal = output in (None, "-") and sys.stdout.isatty()
    if quiet or to_terminal or not console.is_terminal:
        return source.documents
    return tracked(source, console)


def _convert_all(source: Source, order: Order, write: Write, tally: Tally, documents: Iterable[Document]) -> int:
    def work(document: Document) -> None:
        tally.documents += 1
        try:
            body, losses = convert_document(document, order)
        except LossError as error:
            tally.add(document, error.losses)
            raise
        write(layout(body, pretty=order.pretty and not source.is_lines))
        tally.converted += 1
        tally.add(document, losses)

    return for_each(documents, work)


def convert_document(document: Document, order: Order) -> tuple[bytes, tuple[Loss, ...]]:
    """One document as the target writes it, and what was lost. LossError where that is refused."""
    payload = identify(document, order.api, order.kind)
    if order.target == STORED:
        return dumps(decode(payload, document)), ()
    if payload.api == STORED:
        return _convert_stored(decode(payload, document), order)
    load(order.target), load(payload.api)
    encoded = convert_payload(
        payload.value,
        target=order.target,
        source=payload.api,
        kind=payload.kind,
        policies=order.policies,
        on_loss=order.on_loss,
    )
    return encoded.to_json(), encoded.losses


def _convert_stored(value: object, order: Order) -> tuple[bytes, tuple[Loss, ...]]:
    writer = load(order.target)
    if isinstance(value, ChatRequest):
        encoded = writer.encode_request(value, order.policies)
    elif isinstance(value, ChatResponse):
        encoded = writer.encode_response(value, order.policies)
    else:
        raise Problem(
            "only stored requests and responses can be converted to an API",
            hint="`contentmodel show` shows the others, and --to contentmodel rewrites them",
        )
    losses = tuple(msgspec.structs.replace(loss, path="$.value" + loss.path[1:]) for loss in encoded.losses)
    if losses and order.on_loss == "raise":
        raise LossError(order.target, losses)
    return encoded.to_json(), losses
