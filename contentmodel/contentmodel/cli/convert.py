"""`contentmodel convert`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from contentmodel.cli.console import err
from contentmodel.cli.convert_stream import convert_stream
from contentmodel.cli.errors import LOSSES_REFUSED, Problem
from contentmodel.cli.incoming import Stream
from contentmodel.cli.installed import STORED, api_option, has_lines, load, target_option
from contentmodel.cli.losses import Tally, print_tally
from contentmodel.cli.options import From, In, Kind, Model, OnLoss, parse_policies
from contentmodel.cli.order import Order, Outputs
from contentmodel.cli.output import Write, layout, open_optional, open_output
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, Source, decode, for_each, identify, only_document, open_input
from contentmodel.convert import convert as convert_payload
from contentmodel.losses import Loss, LossError, significant
from contentmodel.policies import POLICIES
from contentmodel.renames import Renames
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.serialize import dumps

_POLICIES = "; ".join(f"{family}={'|'.join(choices)}" for family, choices in POLICIES.items())

To = Annotated[str, typer.Option("--to", metavar="API", help="The target API, or contentmodel (stored documents).")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="OUT", help="The output file. Default: standard output.")
]
Losses = Annotated[
    str | None, typer.Option("--losses", metavar="FILE", help="Write every loss to this file as JSON, with its path.")
]
Raising = Annotated[
    OnLoss,
    typer.Option(
        "--on-loss", help="report: convert and report the losses. raise: do not convert a document with losses."
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="FAMILY=CHOICE",
        help=f"How to convert content that the target cannot represent: {_POLICIES}. Repeatable.",
    ),
]
KeptMaps = Annotated[
    str | None,
    typer.Option(
        "--maps",
        metavar="FILE",
        help="Write the replaced ids and tool names of a converted request to this file, for --undo-maps.",
    ),
]
Answered = Annotated[
    str | None,
    typer.Option(
        "--undo-maps",
        metavar="FILE",
        help="The file that --maps wrote for the request. Restores its ids, names and arguments in the response.",
    ),
]
Pretty = Annotated[
    bool | None,
    typer.Option(
        "--pretty/--compact",
        help="Indent the JSON, or write one line. JSON Lines are always compact.",
        show_default="pretty",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the summary of losses and the progress bar.")]


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
    model: Model = None,
    maps: KeptMaps = None,
    undo_maps: Answered = None,
    pretty: Pretty = None,
    quiet: Quiet = False,
) -> None:
    """Convert requests, responses and streams from one API to another, and report every loss.

    The API and the kind of the input are detected for each document. The payload goes to standard output or to -o; a
    summary of the losses goes to standard error.

    A stream (server-sent events) is converted while it arrives. A broken stream ends with the error event of the
    target, and with exit code 2. An error event of the provider is converted like any other event. --to contentmodel
    stores the complete response. Use --kind stream to convert a stored response to a stream.

    Exit codes: 0 converted; 1 refused by --on-loss raise; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel convert chat.json --to anthropic-messages
    contentmodel convert in.jsonl --to openai-chat -o out.jsonl --losses l.jsonl
    contentmodel convert chat.json --to openai-chat --on-loss raise
    contentmodel convert chat.json --to openai-chat --policy reasoning=text
    contentmodel convert chat.json --to openai-chat --model gpt-5.2 --maps m.json
    contentmodel convert answer.json --to anthropic-messages --undo-maps m.json
    contentmodel convert chat.json --to contentmodel -o stored.json
    curl ... | contentmodel convert --kind response --to contentmodel
    curl -N ... | contentmodel convert --kind stream --to openai-chat
    contentmodel convert answer.sse --to contentmodel -o stored.json
    contentmodel convert stored.json --kind stream --to anthropic-messages
    """
    target, model = target_option(target, "--to", model)
    api = api_option(api, "--from")
    outputs = Outputs(output, losses, maps)
    outputs.check(path)
    if target == STORED:
        _check_stored({"--model": model, "--policy": policy, "--maps": maps, "--undo-maps": undo_maps})
    order = Order(
        target,
        api,
        None if kind is None else kind.value,
        parse_policies(policy or []),
        on_loss.value,
        pretty,
        model,
        None if undo_maps is None else _read_maps(undo_maps),
        quiet,
    )
    source = open_input(path, order.api, order.kind)
    if isinstance(source, Stream):
        raise typer.Exit(convert_stream(source, order, outputs))
    if source.is_lines:
        _check_lines(pretty, maps, undo_maps)
    documents = documents_of(source, "converting", quiet=quiet, prints=output in (None, "-"))
    if has_lines(target):
        if pretty:
            raise Problem(f"--pretty cannot be used with --to {target}: it is JSON Lines", hint="remove --pretty")
        hint = f"convert one of them: sed -n 1p FILE | contentmodel convert - --to {target}"
        documents = only_document(documents, target, hint)
    code, tally = _convert_source(source, order, outputs, documents)
    if not quiet:
        print_tally(tally, err(), target=target, is_lines=source.is_lines)
    raise typer.Exit(code)


_NOT_STORED = "--undo-maps needs a response of an API, but the input is a stored document"


class _Refused(Exception):
    """--on-loss raise refused the only document. List its losses, and write no output."""


def _check_stored(options: Mapping[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise Problem(f"{option} cannot be used with --to {STORED}; it needs a target API", hint=f"remove {option}")


def _check_lines(pretty: bool | None, maps: str | None, undo_maps: str | None) -> None:
    if pretty:
        raise Problem("--pretty cannot be used with JSON Lines: each document is one line", hint="remove --pretty")
    if maps or undo_maps:
        option = "--maps" if maps else "--undo-maps"
        raise Problem(
            f"{option} needs a single document, but the input is JSON Lines", hint="convert one document at a time"
        )


def _convert_source(source: Source, order: Order, outputs: Outputs, documents: Iterable[Document]) -> tuple[int, Tally]:
    code, from_pipe = 0, source.size is None
    with open_optional(outputs.losses) as listing:
        tally = Tally(listing)
        opened = open_output(outputs.payload, at_once=from_pipe)
        with suppress(_Refused), opened as write, open_optional(outputs.maps) as keep:
            code = _convert_all(source, order, write, keep, tally, documents)
            if code and not source.is_lines:
                raise _Refused if code == LOSSES_REFUSED else typer.Exit(code)
    return code, tally


def _read_maps(path: str) -> Renames:
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Renames)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise Problem(f"{path}: not a file that --maps wrote: {error}") from None


def _convert_all(
    source: Source, order: Order, write: Write, keep: Write | None, tally: Tally, documents: Iterable[Document]
) -> int:
    def work(document: Document) -> None:
        tally.documents += 1
        try:
            pieces, losses, maps = convert_document(document, order)
        except LossError as error:
            tally.add(document, error.losses)
            raise
        pretty = order.pretty is not False and not source.is_lines
        for piece in pieces if has_lines(order.target) else [layout(b"".join(pieces), pretty=pretty)]:
            write(piece)
        if keep is not None:
            keep(layout(msgspec.json.encode(maps), pretty=True))
        tally.converted += 1
        tally.add(document, losses)

    return for_each(documents, work)


def convert_document(document: Document, order: Order) -> tuple[Iterable[bytes], tuple[Loss, ...], Renames]:
    """Return a document as pieces of target JSON, its losses and its maps. Raise LossError if losses are refused."""
    payload = identify(document, order.api, order.kind)
    if order.renames is not None and payload.kind != "response":
        raise Problem(f"--undo-maps needs a response, but the input is a {payload.kind}", hint="remove --undo-maps")
    if order.renames is not None and payload.api == STORED:
        raise Problem(_NOT_STORED, hint="give the response as the API sent it")
    if order.target == STORED:
        return [dumps(decode(payload, document))], (), Renames()
    if payload.api == STORED:
        return convert_value(decode(payload, document), order, "$.value")
    for api in (order.target, payload.api):
        load(api)  # Raises Problem if it cannot be loaded.
    encoded = convert_payload(
        payload.value,
        target=order.target,
        source=payload.api,
        kind=payload.payload_kind,
        model=order.model,
        maps=order.renames,
        policies=order.policies,
        on_loss=order.on_loss,
    )
    return encoded.json_pieces(), encoded.losses, encoded.maps


def convert_value(value: object, order: Order, path: str) -> tuple[Iterable[bytes], tuple[Loss, ...], Renames]:
    """Convert a value of the model, which is at `path` in its document. Raise LossError if losses are refused."""
    writer = load(order.target)
    if isinstance(value, ChatRequest):
        encoded = writer.encode_request(value, order.policies, order.model)
    elif isinstance(value, ChatResponse):
        encoded = writer.encode_response(value, order.policies)
    else:
        raise Problem(
            "only stored requests and responses can be converted to an API",
            hint="`contentmodel show` displays other stored documents; --to contentmodel copies them",
        )
    losses = tuple(msgspec.structs.replace(loss, path=path + loss.path[1:]) for loss in encoded.losses)
    if order.on_loss == "raise" and (refused := significant(losses)):
        raise LossError(order.target, refused)
    return encoded.json_pieces(), losses, encoded.maps
