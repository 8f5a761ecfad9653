"""Operations on one payload. Each returns the values of a row of results, and never depends on Arrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec

from contentmodel.adapter import FoldsStreams, Payload, adapter, traced
from contentmodel.auditing import audit
from contentmodel.batches import FORMATS, ConvertedLine, check_line, convert_line, make_line, read_line
from contentmodel.content.tools import ToolCallContent
from contentmodel.convert import check, convert
from contentmodel.detecting import bytes_of, detect_stream, identify, is_stream
from contentmodel.encoded import Encoded, EncodedStream, time_of
from contentmodel.errors import ContentModelError, DecodeError
from contentmodel.extras import needs_extra
from contentmodel.json import JsonObject, kind_of, write
from contentmodel.literals import PayloadKind
from contentmodel.losses import Loss, LossError
from contentmodel.message import ChatMessage, contents_of
from contentmodel.planning import plan
from contentmodel.renames import Renames
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.streams import fold_stream
from contentmodel.times import date_of, seconds_of
from contentmodel.usage import Usage, total_of

LossColumn: TypeAlias = Literal["counts", "all"]
"""The content of the column `losses`: counts by code, or each loss with its path."""

MAX_BYTES = 256 << 20
"""The default limit of the size of one payload."""


class Detail(msgspec.Struct, frozen=True):
    """One loss or violation: its `code` (a rule's name), its `kind` (a severity), its path, and why."""

    code: str
    kind: str
    path: str
    why: str


class Row(msgspec.Struct):
    """The results of one payload: the `values` of the columns, and facts for the report of a job.

    `counts` are the numbers that a report adds up, and `details` returns the losses or violations behind them. `maps`
    are the key of a converted request and its replaced names. `day` is a date as text. If `error` is set, the operation
    failed.
    """

    values: dict[str, Any] = {}
    counts: Mapping[str, int] = {}
    error: str | None = None
    api: str | None = None
    model: str | None = None
    day: str | None = None
    details: Callable[[], list[Detail]] | None = None
    maps: tuple[str, Renames] | None = None


Operation: TypeAlias = Callable[..., Row]
"""A function of one payload, and of its `key` if the batch function takes keys. It raises the errors of `convert`."""


def row_of(operation: Operation, payload: object, max_bytes: int = MAX_BYTES, **key: str | None) -> Row:
    """Return the row of a payload. An error of the payload becomes the error of the row, and never stops other rows."""
    try:
        return operation(_checked(payload, max_bytes), **key)
    except ContentModelError as error:
        api = error.api if isinstance(error, DecodeError) else None
        return Row(error=message_of(error), api=None if api in ("json", "stream") else api)
    except RecursionError:
        return Row(error="nested too deeply at $")
    except Exception as error:
        return Row(error=f"{type(error).__name__}: {message_of(error)}")


def message_of(error: Exception) -> str:
    """Return the text of an error with a JSON path. Lone surrogates are escaped, because Arrow refuses them."""
    text = str(error).encode("utf-8", "backslashreplace").decode()
    return text if "$" in text else f"{text} at $"


def _checked(payload: Any, max_bytes: int) -> Payload:
    """Return a payload that may be read. Raise DecodeError if it has the wrong type or is too large."""
    if isinstance(payload, Exception):
        raise payload
    if not isinstance(payload, bytes | str | dict | list):
        raise ContentModelError(f"expected JSON text, an object or an array, got {kind_of(payload)}")
    if isinstance(payload, bytes | str) and len(payload) > max_bytes:
        raise ContentModelError(f"the payload has {len(payload):,} bytes, and the limit is {max_bytes:,}")
    return payload


# -- operations --------------------------------------------------------------------------------------------------------


def convert_row(
    payload: Payload,
    *,
    losses: LossColumn = "counts",
    key: str | None = None,
    maps: Mapping[str, Renames] | None = None,
    **options: Any,
) -> Row:
    """Convert a payload, or a line of a batch file, with the `options` of `convert`. Values: `payload`, `losses`.

    `key` is the key of the row, and `maps` has the maps of the requests that answers belong to, by their keys.
    """
    listed = losses == "all"
    try:
        encoded = _converted(payload, key, maps or {}, options)
    except LossError as error:
        counts, lost = _counts_of(error.losses), error.losses
        losses_column = _with_paths(lost) if listed else _listed(counts)
        return Row({"losses": losses_column}, counts, message_of(error), details=lambda: _details(lost))
    counts = _counts_of(encoded.losses) if isinstance(encoded, EncodedStream) else dict(encoded.count_losses())
    losses_column = _with_paths(encoded.losses) if listed else _listed(counts)
    row = Row({"payload": encoded.to_json().decode(), "losses": losses_column}, counts, api=options.get("source"))
    row.details = lambda: _details(encoded.losses)
    inner = encoded.encoded if isinstance(encoded, ConvertedLine) else encoded
    if not isinstance(inner, Encoded):
        return row
    key = str(encoded.line.get(FORMATS[options["target"]].key_name)) if isinstance(encoded, ConvertedLine) else key
    if key is not None and inner.maps != Renames():
        row.maps = key, inner.maps
    row.api = inner.source_api or row.api
    return _with_facts(row, inner.model, inner.created)


def _converted(
    payload: Any, key: str | None, maps: Mapping[str, Renames], options: dict[str, Any]
) -> Encoded | EncodedStream | ConvertedLine:
    source, target = options["source"], options["target"]
    if target not in FORMATS:
        encoded: Encoded | EncodedStream = convert(payload, maps=maps.get(key or ""), **options)
        return encoded
    of_lines = {name: value for name, value in options.items() if name != "kind"}
    if source in FORMATS:
        renames = maps.get(read_line(payload, source).key or "") if maps else None
        return convert_line(payload, maps=renames, **of_lines)
    if key is None:
        raise ContentModelError(f"a line of {target} needs a key: name the column of the keys")
    return make_line(payload, key, **of_lines)


def check_row(payload: Payload, *, source: str | None = None, model: str | None = None, policies: Any = None) -> Row:
    """Check a request, or a request of a batch file. Values: `violations`."""
    if source is not None and source in FORMATS:
        violations = check_line(cast("JsonObject", payload), source, model, policies)
    else:
        payload, source, _ = identify(payload, source, "request")
        violations = check(payload, api=source, model=model, policies=policies)
    named = payload.get("model") if isinstance(payload, dict) else None
    counts = Counter(violation.rule for violation in violations if violation.severity != "unchecked")
    values = {"violations": [msgspec.structs.asdict(violation) for violation in violations]}
    row = Row(values, counts, api=source, model=named if isinstance(named, str) else model)
    row.details = lambda: [
        Detail(violation.rule, violation.severity, violation.path, violation.message) for violation in violations
    ]
    return row


def audit_row(payload: Payload, **options: Any) -> Row:
    """Convert a payload, and compare the output with it. Values: `unaccounted`."""
    payload, options["source"], options["kind"] = identify(payload, options.get("source"), options.get("kind"))
    encoded = convert(payload, **options)
    if isinstance(encoded, EncodedStream):
        raise ContentModelError("a stream cannot be audited: audit its response")
    unaccounted = [
        {"path": missing.path, "value": write(missing.value).decode()} for missing in audit(payload, encoded)
    ]
    row = Row(
        {"unaccounted": unaccounted}, {"unaccounted": len(unaccounted)} if unaccounted else {}, api=options["source"]
    )
    return _with_facts(row, encoded.model, encoded.created)


def plan_row(
    payload: Payload,
    *,
    targets: Sequence[str] | None = None,
    source: str | None = None,
    kind: PayloadKind | None = None,
    models: Mapping[str, str] | None = None,
    policies: Any = None,
) -> Row:
    """Compare the losses of several targets. Values: `plans`, the lowest cost first."""
    value, source, _ = _decoded(payload, source, kind)
    compared = plan(value, targets=targets, source=source, models=models, policies=policies)
    plans = [
        {
            "target": entry.target,
            "cost": float(entry.cost),
            "losses": _listed(_counts_of(entry.losses)),
            "violations": [violation.rule for violation in entry.violations],
        }
        for entry in compared
    ]
    counts = {compared[0].target: 1} if compared else {}
    return _with_facts(Row({"plans": plans}, counts, api=source), value.model, time_of(value))


def show_row(
    payload: Payload,
    *,
    source: str | None = None,
    kind: PayloadKind | None = None,
    width: int = 100,
    full: bool = True,
) -> Row:
    """Draw a payload as a transcript. Values: `text`."""
    value, source, kind = _decoded(payload, source, kind)
    return Row({"text": _drawn(value, width, full=full)}, api=source)


def statistics_row(payload: Payload, *, source: str | None = None, kind: PayloadKind | None = None) -> Row:
    """Count what a payload contains. Values: the columns of `statistics`."""
    value, source, kind = _decoded(payload, source, kind)
    messages = value.messages
    every_content = list(contents_of(messages))
    contents = Counter(str(type(content).__struct_config__.tag) for content in every_content)
    usage = _usage_of(value, messages)
    row = _with_facts(Row(api=source), value.model, time_of(value))
    numbers = {
        "messages": len(messages),
        "turns": _turns_in(messages),
        "tools": len(value.tools) if isinstance(value, ChatRequest) else 0,
        "tool_calls": sum(isinstance(content, ToolCallContent) for content in every_content),
        "input_tokens": None if usage is None else usage.all_input_tokens,
        "output_tokens": None if usage is None else usage.all_output_tokens,
    }
    counted = [{"type": tag, "count": number} for tag, number in sorted(contents.items())]
    row.values = {"kind": kind, "model": row.model, **numbers, "contents": counted}
    row.counts = {**{name: number for name, number in numbers.items() if number}, **contents}
    return row


# -- parts of the operations -------------------------------------------------------------------------------------------


def _decoded(
    payload: Payload, source: str | None, kind: PayloadKind | None
) -> tuple[ChatRequest | ChatResponse, str, PayloadKind]:
    """Return the value of a payload, its API and its kind. A stream is folded."""
    if kind == "stream" or (kind is None and is_stream(payload)):
        data = bytes_of(payload)
        source = source or detect_stream(data, None)
        reader = adapter(source)
        if isinstance(reader, FoldsStreams):
            return reader.decode_request(reader.request_of_stream(data)), source, "request"
        return fold_stream(data, source), source, "stream"
    payload, source, kind = identify(payload, source, kind)
    return traced(adapter(source), kind, payload)[0], source, kind


def _turns_in(messages: Iterable[ChatMessage]) -> int:
    """Return the number of turns: consecutive messages of one role are one turn."""
    roles = [message.role for message in messages]
    return sum(role != before for role, before in zip(roles, [None, *roles], strict=False))


def _usage_of(value: ChatRequest | ChatResponse, messages: Iterable[ChatMessage]) -> Usage | None:
    """Return the usage of a response, or the sum of those that stored messages have; None if there is none."""
    if isinstance(value, ChatResponse):
        return value.usage
    return total_of(message.usage for message in messages)


def _with_facts(row: Row, model: str | None, created: float | int | str | None) -> Row:
    """Set the model and the day of a row."""
    row.model = model
    if created is not None:
        date = date_of(seconds_of(created))
        row.day = None if date is None else date[:10]
    return row


def _counts_of(losses: Iterable[Loss]) -> dict[str, int]:
    return dict(Counter(loss.code for loss in losses))


def _listed(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"code": code, "count": count} for code, count in sorted(counts.items())]


def _with_paths(losses: Iterable[Loss]) -> list[dict[str, Any]]:
    names = ("code", "kind", "path", "what", "why")
    return [{name: getattr(loss, name) for name in names} for loss in losses]


def _details(losses: Iterable[Loss]) -> list[Detail]:
    return [Detail(loss.code, loss.kind, loss.path, loss.why) for loss in losses]


def _drawn(value: object, width: int, *, full: bool) -> str:
    with needs_extra("cli"):
        from contentmodel.cli.console import Terminal
        from contentmodel.cli.pieces import Page, print_parts
        from contentmodel.cli.transcript import transcript
    from io import StringIO

    text = StringIO()
    console = Terminal(file=text, width=width, highlight=False, markup=False, emoji=False, color_system=None)
    print_parts(console, transcript(value, Page(full)))
    return text.getvalue()
