"""`contentmodel convert` of a stream: each received chunk is converted and written before the next is read."""

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
from contentmodel.events import Fold, StreamEvent, TurnError
from contentmodel.losses import Loss, LossError, significant
from contentmodel.serialize import dumps


def convert_stream(stream: Stream, order: Order, outputs: Outputs) -> int:
    """Convert one stream, and report its losses and its end. Return the exit code."""
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
    """Raise Problem if an option applies only to documents."""
    if order.model:
        raise Problem("--model needs a request, but the input is a stream", hint="remove --model")
    if outputs.maps:
        hint = "use --maps FILE when you convert the request, and --undo-maps FILE for the stream that answers it"
        raise Problem("--maps needs a request, but the input is a stream", hint=hint)
    if order.pretty and order.target != STORED:
        raise Problem("--pretty cannot be used with a stream: each event is one line", hint="remove --pretty")


def _check_turn(turn: Turn, order: Order) -> None:
    if order.renames is not None and turn.api == STORED:
        hint = "give the stream as the API sent it"
        raise Problem("--undo-maps needs a stream of an API, but the input is a stored document", hint=hint)


Ending = tuple[ErrorContent | None, tuple[Loss, ...]]
"""The error that a turn ended with, if any, and its losses."""


def _fold(turn: Turn, order: Order, write: Write) -> Ending:
    """Fold the stream into a response, and write it as a stored document."""
    fold = Fold()
    for batch in turn.batches:
        for event in batch:
            fold.feed(event)
    response = fold.response
    write(layout(dumps(response), pretty=order.pretty is not False))
    return response.error, ()


def _encode(turn: Turn, order: Order, write: Write) -> Ending:
    """Write the stream of the target as the events arrive. Raise LossError if losses are refused."""
    encoder = load(order.target).stream_encoder(order.policies)
    error: ErrorContent | None = None

    def losses() -> tuple[Loss, ...]:
        return tuple(_with_input_path(loss, turn) for loss in encoder.losses)

    def write_all(pieces: Iterator[bytes]) -> None:
        written: list[bytes] = []
        try:
            for piece in pieces:
                if order.on_loss == "raise" and (refused := significant(encoder.losses)):
                    raise LossError(order.target, tuple(_with_input_path(loss, turn) for loss in refused))
                written.append(piece)
        finally:
            if data := b"".join(written):
                write(data)

    restore = _restorer(turn, order)
    for batch in turn.batches:
        error = next((event.error for event in batch if isinstance(event, TurnError)), error)
        write_all(encoder.feed(restored) for event in batch for restored in restore(event))
    write_all(iter([encoder.close()]))
    return error, losses()


def _restorer(turn: Turn, order: Order) -> Callable[[StreamEvent], list[StreamEvent]]:
    """Return a function that restores the ids, names and arguments of the original request in an event."""
    maps = order.renames
    if maps is None:
        return lambda event: [event]
    return maps.restoring(load(turn.api).restore_arguments)


def _with_input_path(loss: Loss, turn: Turn) -> Loss:
    """Return a loss with its path in the input, if the input is a stored document."""
    return msgspec.structs.replace(loss, path="$.value" + loss.path[1:]) if turn.api == STORED else loss


def _report_refused(stream: Stream, refused: LossError, tally: Tally, order: Order, outputs: Outputs) -> int:
    problem = problem_of(refused, stream.name)
    if is_replaced(outputs.payload):
        print_problem(problem)
    else:
        message = f"{stream.name}: the conversion stopped at an event that would cost a loss"
        print_problem(Problem(message, hint=f"the output that was already written remains; {problem.hint}"))
    if not order.quiet:
        print_groups(tally, err())
    return LOSSES_REFUSED


def _report(turn: Turn, error: ErrorContent | None, tally: Tally, order: Order) -> int:
    if error is not None and is_broken(turn, error):
        code = report_broken(
            turn, error, "the events before the fault were converted; the output ends with an error event"
        )
        if tally.count and not order.quiet:
            print_groups(tally, err())
        return code
    if error is not None:
        note = visible(f"{turn.name}: the answer ends with an error: {error.code or 'error'}: {error.message}")
        err().print(Text.assemble(("note:", "bold yellow"), " ", note), soft_wrap=True)
    tally.converted = 1
    if not order.quiet:
        print_tally(tally, err(), target=order.target, is_lines=False)
    return 0
