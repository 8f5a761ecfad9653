"""Batch files of the providers: one request, or one result, with its key on each line.

The payloads are those of the APIs. A format only adds an envelope: the key, and the outcome of a result.

    converted = convert_line(line, source="openai-batch", target="anthropic-batch")
    converted.line, converted.losses

`contentmodel.datasets` and `contentmodel datasets` convert whole files. Sources, seen 2026-11-22: the guides of the
providers, and the SDK types of the results of Anthropic (`message_batch_individual_response.py`) and of Gemini
(`InlinedResponse`). Errors of Bedrock have an HTTP status
(docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html, seen 2026-11-27).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from contentmodel.adapter import Payload, adapter
from contentmodel.batch_errors import RPC_CODES, text_of_error
from contentmodel.batch_items import (
    CODES,
    URLS,
    BatchItem,
    fault,
    read_anthropic,
    read_bedrock,
    read_gemini,
    read_mistral,
    read_openai,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.convert import check, convert
from contentmodel.encoded import Encoded
from contentmodel.errors import DecodeError, Fault
from contentmodel.failures import STATUSES, kind_of_status
from contentmodel.json import Json, JsonObject, child_path, kind_of, parse, write
from contentmodel.literals import OnLoss, Policies
from contentmodel.losses import Loss, LossError, loss_of
from contentmodel.reasons import PROVIDER_FIELD
from contentmodel.renames import Renames
from contentmodel.response import ChatResponse
from contentmodel.rules import MODEL_RULE, Violation


class ConvertedLine(msgspec.Struct, frozen=True):
    """A converted line, its losses with paths in the source line, and the result of converting its payload, if any."""

    line: JsonObject
    encoded: Encoded | None
    path: str
    more: tuple[Loss, ...] = ()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All losses, in the order of the source."""
        losses = () if self.encoded is None else self.encoded.losses
        return (*_moved(losses, self.path), *self.more)

    def to_json(self) -> bytes:
        """Return the line as compact JSON, without a newline."""
        return write(self.line)

    def count_losses(self) -> Counter[str]:
        """Return the number of lost values by code, without finding their paths."""
        counts = Counter[str]() if self.encoded is None else self.encoded.count_losses()
        return counts + Counter(loss.code for loss in self.more)


def _moved(losses: Iterable[Loss], path: str) -> Iterator[Loss]:
    """Yield the losses of a payload that is at `path` in its line, with paths in the line."""
    return (msgspec.structs.replace(loss, path=path + loss.path[1:]) for loss in losses)


class BatchFormat(NamedTuple):
    """A format of batch files: its `name`, the API of the lines that it writes, and its limits.

    `read` returns the item of a line; `write` returns the line of an item. `fields` are the fields of lines.
    `key_pattern` is the pattern of the keys; None if a key is optional. `required` are fields that a request must have
    although it can be read without them. `dialect` is the host that runs the batch, if the API has several.
    """

    name: str
    api: str
    read: Callable[[JsonObject], BatchItem]
    write: Callable[[BatchItem], JsonObject]
    fields: frozenset[str]
    max_lines: int | None = None
    max_bytes: int | None = None
    key_pattern: str | None = None
    key_name: str = "custom_id"
    required: tuple[str, ...] = ()
    one_model: bool = False
    dialect: str | None = None

    def with_host(self, policies: Policies | None) -> Policies | None:
        """Return the policies for a request, with the host that runs the batch."""
        return policies if self.dialect is None else {**(policies or {}), "dialect": self.dialect}


# -- writing -----------------------------------------------------------------------------------------------------------


def _write_openai(item: BatchItem) -> JsonObject:
    if item.kind == "request":
        return {"custom_id": item.key, "method": "POST", "url": URLS[item.api], "body": item.payload}
    return {"id": f"batch_req_{item.key}", "custom_id": item.key, **_http_result(item)}


def _write_mistral(item: BatchItem) -> JsonObject:
    if item.kind == "request":
        return {"custom_id": item.key, "body": item.payload}
    return {"id": f"batch_req_{item.key}", "custom_id": item.key, **_http_result(item)}


def _http_result(item: BatchItem) -> JsonObject:
    if item.outcome in CODES:
        message = f"This request was not run: it {'is expired' if item.outcome == 'expired' else 'was canceled'}."
        return {"response": None, "error": {"code": CODES[item.outcome], "message": message}}
    response = {"status_code": item.status, "request_id": f"req_{item.key}", "body": item.payload}
    return {"response": response, "error": None}


def _write_anthropic(item: BatchItem) -> JsonObject:
    if item.kind == "request":
        return {"custom_id": item.key, "params": item.payload}
    content = {"succeeded": {"message": item.payload}, "errored": {"error": item.payload}}.get(item.outcome, {})
    return {"custom_id": item.key, "result": {"type": item.outcome, **content}}


# The codes of google.rpc.Code for requests that were not run.
_GOOGLE_CODES = {"canceled": (1, "CANCELLED"), "expired": (4, "DEADLINE_EXCEEDED")}


def _write_gemini(item: BatchItem) -> JsonObject:
    if item.kind == "request":
        return {"key": item.key, "request": item.payload}
    if item.outcome in _GOOGLE_CODES:
        code, status = _GOOGLE_CODES[item.outcome]
        return {"key": item.key, "error": {"code": code, "message": "This request was not run.", "status": status}}
    if item.outcome == "errored":
        error = item.payload["error"]
        code = error.get("code")
        return {"key": item.key, "error": {**error, "code": RPC_CODES.get(code, code)}}
    return {"key": item.key, "response": item.payload}


def _write_vertex(item: BatchItem) -> JsonObject:
    line = _write_gemini(item)
    if item.kind == "response":
        error = line.pop("error", None)
        return {"status": "" if error is None else text_of_error(error), "response": {}, **line}
    return line


def _write_bedrock(item: BatchItem) -> JsonObject:
    if item.kind == "request":
        # The body of InvokeModel. The job names the model.
        return {"recordId": item.key, "modelInput": item.payload}
    if item.outcome == "succeeded":
        return {"recordId": item.key, "modelOutput": item.payload}
    if item.outcome == "errored":
        return {
            "recordId": item.key,
            "error": {"errorCode": item.status, "errorMessage": item.payload["error"]["message"]},
        }
    code = STATUSES["timeout" if item.outcome == "expired" else "cancelled"]
    return {"recordId": item.key, "error": {"errorCode": code, "errorMessage": f"The request was {item.outcome}."}}


# -- formats -----------------------------------------------------------------------------------------------------------

_HTTP_FIELDS = frozenset({"custom_id", "method", "url", "body", "id", "response", "error"})
_OPENAI = BatchFormat(
    "openai-batch",
    "openai-chat",
    read_openai,
    _write_openai,
    _HTTP_FIELDS,
    50_000,
    200 * 10**6,
    key_pattern=".+",
    required=("method", "url"),
    one_model=True,
)
_GEMINI = BatchFormat(
    "gemini-batch",
    "google-generate-content",
    read_gemini,
    _write_gemini,
    frozenset({"key", "request", "response", "error", "status", "processed_time"}),
    max_bytes=2 * 10**9,
    key_name="key",
    dialect="gemini",
)

FORMATS: Mapping[str, BatchFormat] = {
    one.name: one
    for one in (
        _OPENAI,
        _OPENAI._replace(name="openai-responses-batch", api="openai-responses"),
        BatchFormat(
            "anthropic-batch",
            "anthropic-messages",
            read_anthropic,
            _write_anthropic,
            frozenset({"custom_id", "params", "result"}),
            100_000,
            256 * 10**6,
            key_pattern="[a-zA-Z0-9_-]{1,64}",
            dialect="anthropic",
        ),
        _GEMINI,
        _GEMINI._replace(
            name="vertex-batch",
            write=_write_vertex,
            max_bytes=10**9,
            fields=_GEMINI.fields | {"custom_id"},
            dialect="vertex",
        ),
        BatchFormat(
            "bedrock-batch",
            "anthropic-messages",
            read_bedrock,
            _write_bedrock,
            frozenset({"recordId", "modelInput", "modelOutput", "error"}),
            50_000,
            key_name="recordId",
            dialect="bedrock",
        ),
        BatchFormat("mistral-batch", "mistral-chat", read_mistral, _write_mistral, _HTTP_FIELDS, key_pattern=".+"),
    )
}
"""The formats of batch files, by name. `openai-batch` writes requests of Chat Completions, and reads both APIs."""


def batch_format(name: str) -> BatchFormat:
    """Return a format of batch files. Raise ValueError with the known names if there is none."""
    if name not in FORMATS:
        raise ValueError(f"no batch format {name!r}: the formats are {', '.join(FORMATS)}")
    return FORMATS[name]


def read_line(line: bytes | str | Json, source: str) -> BatchItem:
    """Return the item of a line of a batch file. Raise DecodeError with the path of the fault."""
    value = parse(line) if isinstance(line, bytes | str) else line
    if not isinstance(value, dict):
        raise fault("$", f"expected an object, got {kind_of(value)}")
    return batch_format(source).read(value)


def make_line(
    payload: Payload,
    key: str,
    *,
    target: str,
    source: str | None = None,
    model: str | None = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
) -> ConvertedLine:
    """Convert a request of an API to a line of a batch file with a key. Further parameters are those of `convert`.

    Raise the errors of `convert`, and ValueError if the format does not accept the key.
    """
    writer = batch_format(target)
    if writer.key_pattern is not None and not re.fullmatch(writer.key_pattern, key):
        raise ValueError(f"{writer.key_name} {key!r:.80} does not match {writer.key_pattern}, which {target} requires")
    encoded = convert(
        payload,
        source=source,
        target=writer.api,
        kind="request",
        model=model,
        policies=writer.with_host(policies),
        on_loss=on_loss,
    )
    item = BatchItem(key=key, kind="request", api=writer.api, payload=encoded.payload)
    return ConvertedLine(writer.write(item), encoded, "$")


def convert_line(
    line: bytes | str | JsonObject,
    *,
    source: str,
    target: str,
    model: str | None = None,
    maps: Renames | None = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
) -> ConvertedLine:
    """Convert a line of a batch file to another format, with the same key. Further parameters are those of `convert`.

    A result that is an error becomes an error. The ids of the envelope are not kept. A line of the same format is
    unchanged. A line without a key, if its format has none (Vertex AI) or an optional one, gets a key that is a hash of
    its request: a result that contains its request gets the same one. Raise the errors of `convert`, with paths in the
    line.
    """
    value = parse(line) if isinstance(line, bytes | str) else line
    reader, writer = batch_format(source), batch_format(target)
    item = read_line(value, source)
    if source == target:
        return ConvertedLine(value, None, "$")
    if item.key is None:
        item = msgspec.structs.replace(item, key=_made_key(value, reader))
    more = [
        loss_of(PROVIDER_FIELD, child_path("$", name), name, target, family="provider fields", source=source)
        for name in value
        if name not in reader.fields
    ]
    if item.outcome in CODES:
        return ConvertedLine(writer.write(msgspec.structs.replace(item, api=writer.api)), None, "$", tuple(more))
    try:
        encoded = convert(
            item.payload,
            source=item.api,
            target=writer.api,
            kind=item.kind,
            model=model,
            maps=maps,
            policies=writer.with_host(policies) if item.kind == "request" else policies,
            on_loss=on_loss,
        )
    except DecodeError as error:
        faults = [Fault(item.path + fault.path[1:], fault.message) for fault in error.faults]
        raise DecodeError(error.api, faults) from None
    except LossError as error:
        raise LossError(writer.api, tuple(_moved(error.losses, item.path))) from None
    if item.outcome == "errored":
        encoded = _with_kind(encoded, item, writer.api)
    status = encoded.status or item.status
    written = writer.write(msgspec.structs.replace(item, api=writer.api, payload=encoded.payload, status=status))
    return ConvertedLine(written, encoded, item.path, tuple(more))


def _made_key(line: JsonObject, reader: BatchFormat) -> str:
    """Return the key of a line without one: a hash of its request. Equal requests have equal keys."""
    if reader.key_pattern is not None:
        raise fault(f"$.{reader.key_name}", "expected string, got null")
    hashed = line.get("request") or line.get("modelInput") or line
    return f"line-{hashlib.sha256(write(hashed)).hexdigest()[:32]}"


def _with_kind(encoded: Encoded, item: BatchItem, target: str) -> Encoded:
    """Return an error that names no type, or a body that is no error of its API, with the kind of the HTTP status."""
    response = encoded.value if isinstance(encoded.value, ChatResponse) else ChatResponse()
    error = response.error or ErrorContent(message=write(item.payload).decode())
    if error.code is not None or error.kind is not None or (error.extra and item.api == target):
        return encoded
    typed = msgspec.structs.replace(error, kind=kind_of_status(item.status))
    return adapter(target).encode_response(msgspec.structs.replace(response, error=typed))


def check_line(
    line: bytes | str | JsonObject, source: str, model: str | None = None, policies: Policies | None = None
) -> list[Violation]:
    """Return the violations of a request of a batch file, with paths in the line. Raise the errors of `check`.

    `check_lines` checks the keys, and the limits of the file.
    """
    item, chosen = _request_in(line, source), batch_format(source).with_host(policies)
    violations = check(item.payload, api=item.api, model=model, policies=chosen)
    return [msgspec.structs.replace(violation, path=item.path + violation.path[1:]) for violation in violations]


def _request_in(line: bytes | str | Json, source: str) -> BatchItem:
    item = read_line(line, source)
    if item.kind != "request":
        raise fault(item.path, "expected a request, got a result")
    return item


# -- files -------------------------------------------------------------------------------------------------------------


class Match(NamedTuple):
    """The request and the result of one key. A request without a result has None."""

    key: str
    request: BatchItem
    result: BatchItem | None


def match_results(
    requests: Iterable[bytes | str | JsonObject], results: Iterable[bytes | str | JsonObject], format: str
) -> Iterator[Match]:
    """Yield each request with its result, in the order of the requests. Providers return results in any order.

    Raise ValueError for a request without a key, a key that occurs twice, and a result whose key no request has.
    """
    answers: dict[str | None, BatchItem] = {}
    for line in results:
        item = read_line(line, format)
        if item.key in answers:
            raise ValueError(f"two results have the key {item.key!r}")
        answers[item.key] = item
    seen: set[str] = set()
    for line in requests:
        item = read_line(line, format)
        if item.key is None or item.key in seen:
            raise ValueError("a request has no key" if item.key is None else f"two requests have the key {item.key!r}")
        seen.add(item.key)
        yield Match(item.key, item, answers.pop(item.key, None))
    if answers:
        raise ValueError(f"no request has the key of the result {next(iter(answers))!r}")


def check_lines(lines: Iterable[bytes], format: str) -> Iterator[Violation]:
    """Yield the violations of a provider's limits by a file of requests: lines, bytes, keys, models.

    Paths begin with the index of the line. A line that is not a request of the format is a violation too. A model of
    another provider is reported at its first line.
    `check_line` checks the requests themselves.
    """
    limits = batch_format(format)
    size = count = 0
    keys: set[str] = set()
    models: set[str] = set()
    for line in lines:
        size += len(line) + (not line.endswith(b"\n"))
        if not line.strip():
            continue
        path, count = f"$[{count}]", count + 1
        try:
            value = parse(line)
            item = _request_in(value, format)
        except DecodeError as error:
            for fault in error.faults:
                fix = f"write each line as a request of {format}"
                yield _violation(f"{path}{fault.path[1:]}", "batch-line", fault.message, fix)
            continue
        for name in limits.required:
            if name not in value:
                yield _violation(f"{path}.{name}", "batch-line", "missing string", f"set {name}")
        yield from _check_key(item, keys, limits, f"{path}.{limits.key_name}")
        model = item.payload.get("model") if isinstance(item.payload, dict) else None
        if isinstance(model, str) and model not in models:
            yield from (replace(v, path=path + v.path[1:]) for v in check_line(value, format) if v.rule == MODEL_RULE)
        if limits.one_model and isinstance(model, str) and models and model not in models:
            yield _violation(f"{path}.body.model", "one-model", f"{format} has one model in a file", "divide the file")
        models |= {model} if isinstance(model, str) else set()
    for name, number, limit in (("lines", count, limits.max_lines), ("bytes", size, limits.max_bytes)):
        if limit is not None and number > limit:
            yield _violation("$", f"batch-{name}", f"{number:,} {name}: {format} takes {limit:,}", "divide the file")


def _check_key(item: BatchItem, keys: set[str], limits: BatchFormat, path: str) -> Iterator[Violation]:
    if item.key is None:
        if limits.key_pattern is not None:
            yield _violation(path, "batch-key", "the request has no key", f"set {limits.key_name}")
        return
    if item.key in keys:
        yield _violation(path, "batch-key", f"the key {item.key!r} occurs twice", "give each request a different key")
    if limits.key_pattern is not None and not re.fullmatch(limits.key_pattern, item.key):
        yield _violation(path, "batch-key", f"the key {item.key!r} does not match {limits.key_pattern}", "rename it")
    keys.add(item.key)


def _violation(path: str, rule: str, message: str, fix: str) -> Violation:
    return Violation(path=path, rule=rule, severity="refused", message=message, fix=fix)
