"""`contentmodel convert` of a stream: what has arrived is written before more of it is awaited."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from rich.text import Text

from contentmodel.cli.console import err, visible
from contentmodel.cli.errors import BAD_DOCUMENT, LOSSES_REFUSED, Problem, print_problem, problem_of
from contentmodel.cli.incoming import NAMED_BY_API, Stream, Turn, is_broken, read_turn, report_broken
from contentmodel.cli.installed import STORED, load
from contentmodel.cli.losses import Tally, print_groups, print_tally
from contentmodel.cli.order import Order, Outputs
from contentmodel.cli.output import Write, is_replaced, layout, open_optional, open_output
from contentmodel.cli.read import Document
from contentmodel.content.outcomes import ErrorContent
from contentmodel.engine.losses.loss import Loss, LossError, significant
from contentmodel.events import Fold, StreamEvent, TurnError
from contentmodel.serialize import dumps


def convert_stream(stream: Stream, order: Order, outputs: Outputs) -> int:
    """Converts one stream, and says what was lost and how it ended. Gives the exit code."""
    _check(order, outputs)
    document = Document(b"", stream.name)
    try:
        with open_optional(outputs.losses) as listing:
            tally = Tally(listing, documents=1)
            try:
                turn = read_turn(stream, order.api)
                _check_turn(turn, order)
                with open_output(outputs.payload, at_once=True) as write:
                    error, losses = (_fold if order.target == STORED else _encode)(turn, order, write)
            except LossError as refused:
                tally.add(document, refused.losses)
                return _report_refused(stream, refused, tally, order, outputs)
            tally.add(document, losses)
    except BAD_DOCUMENT as fault:
        problem = problem_of(fault, stream.name, NAMED_BY_API)
        print_problem(problem)
        return problem.code
    return _report(turn, error, tally, order)


def _check(order: Order, outputs: Outputs) -> None:
    """Problem where an option is for documents."""
    if order.model:
        raise Problem("--model: a request is for a model, and a stream is an answer", hint="leave it out")
    if outputs.maps:
        hint = "keep them when you convert the request, and give them to its answer: --undo-maps FILE"
        raise Problem("--maps: only a converted request has maps, and this is a stream", hint=hint)
    if order.pretty and order.target != STORED:
        raise Problem("--pretty: the events of a stream are one line each", hint="leave --pretty out")


def _check_turn(turn: Turn, order: Order) -> None:
    if order.renames is not None and turn.api == STORED:
        raise Problem("--undo-maps: maps are undone in what the API answered, and not in a stored document")


Ending = tuple[ErrorContent | None, tuple[Loss, ...]]
"""The error that a turn ended with, and what was lost of it."""


def _fold(turn: Turn, order: Order, write: Write) -> Ending:
    """Writes the stored response that a stream amounts to."""
    gathered = Fold()
    for batch in turn.batches:
        for event in batch:
            gathered.feed(event)
    response = gathered.response
    write(layout(dumps(response), pretty=order.pretty is not False))
    return response.error, ()


def _encode(turn: Turn, order: Order, write: Write) -> Ending:
    """Writes the stream of the target, as the events come. LossError where losing is refused."""
    encoder = load(order.target).stream_encoder(order.policies)
    error: ErrorContent | None = None

    def losses() -> tuple[Loss, ...]:
        return tuple(_placed(loss, turn) for loss in encoder.losses)

    def write_all(pieces: Iterator[bytes]) -> None:
        done: list[bytes] = []
        try:
            for piece in pieces:
                if order.on_loss == "raise" and (refused := significant(encoder.losses)):
                    raise LossError(order.target, tuple(_placed(loss, turn) for loss in refused))
                done.append(piece)
        finally:
            if data := b"".join(done):
                write(data)

    undone = _undoing(turn, order)
    for batch in turn.batches:
        error = next((event.error for event in batch if isinstance(event, TurnError)), error)
        write_all(encoder.feed(found) for event in batch for found in undone(event))
    write_all(iter([encoder.close()]))
    return error, losses()


def _undoing(turn: Turn, order: Order) -> Callable[[StreamEvent], list[StreamEvent]]:
    """What gives an event the ids, names and arguments of the request that the stream answers."""
    maps = order.renames
    if maps is None:
        return lambda event: [event]
    return maps.undoing(load(turn.api).restore_arguments)


def _placed(loss: Loss, turn: Turn) -> Loss:
    """A loss with its path in the document that was given, where that was one."""
    return msgspec.structs.replace(loss, path="$.value" + loss.path[1:]) if turn.api == STORED else loss


def _report_refused(stream: Stream, refused: LossError, tally: Tally, order: Order, outputs: Outputs) -> int:
    problem = problem_of(refused, stream.name)
    if is_replaced(outputs.payload):
        print_problem(problem)
    else:
        said = f"{stream.name}: converted up to what would be lost, and no further"
        print_problem(Problem(said, hint=f"what was written before it stays; {problem.hint}"))
    if not order.quiet:
        print_groups(tally, err())
    return LOSSES_REFUSED


def _report(turn: Turn, error: ErrorContent | None, tally: Tally, order: Order) -> int:
    if error is not None and is_broken(turn, error):
        code = report_broken(turn, error, "what came before it was converted, and ends with this error")
        if tally.count and not order.quiet:
            print_groups(tally, err())
        return code
    if error is not None:
        said = visible(f"{turn.name}: the answer ends with an error: {error.code or 'error'}: {error.message}")
        err().print(Text.assemble(("note:", "bold yellow"), " ", said), soft_wrap=True)
    tally.converted = 1
    if not order.quiet:
        print_tally(tally, err(), target=order.target, is_lines=False)
    return 0
