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
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from contentmodel.adapter import adapter
from contentmodel.batch_errors import RPC_CODES, error_of_text, text_of_error, with_http_code
from contentmodel.content.outcomes import ErrorContent
from contentmodel.convert import check, convert
from contentmodel.engine.json import Json, JsonObject, child_path, kind_of, parse, write
from contentmodel.engine.losses.encoded import Encoded
from contentmodel.engine.losses.loss import Loss, LossError, loss_of
from contentmodel.engine.losses.reasons import PROVIDER_FIELD
from contentmodel.engine.pipeline.names import Renames
from contentmodel.errors import DecodeError, Fault
from contentmodel.failures import STATUSES, kind_of_status
from contentmodel.literals import OnLoss, Policies
from contentmodel.response import ChatResponse
from contentmodel.rules import Violation

Outcome: TypeAlias = Literal["succeeded", "errored", "canceled", "expired"]
"""The outcome of a request. A canceled or expired request has no payload: the model did not receive it."""


class BatchItem(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a batch file: the `payload` of the API `api`, its path and its key.

    `key` is the identifier that the application gave. `path` is the JSON path of the payload in the line. `outcome` is
    that of a result, whose payload is an answer or an error body. `status` is the HTTP status of a result.
    """

    key: str | None
    kind: Literal["request", "response"]
    api: str
    payload: Json = None
    path: str = "$"
    outcome: Outcome = "succeeded"
    status: int = 200


class ConvertedLine(msgspec.Struct, frozen=True):
    """A converted line, its losses with paths in the source line, and the result of converting its payload, if any."""

    line: JsonObject
    encoded: Encoded | None
    path: str
    more: tuple[Loss, ...] = ()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All losses, in the order of the source."""
        found = () if self.encoded is None else self.encoded.losses
        return (*_moved(found, self.path), *self.more)

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
    `key_pattern` is the pattern of the keys; None if a key is optional. `dialect` is the host that runs the batch, if
    the API has several.
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
    one_model: bool = False
    dialect: str | None = None

    def with_host(self, policies: Policies | None) -> Policies | None:
        """Return the policies for a request, with the host that runs the batch."""
        return policies if self.dialect is None else {**(policies or {}), "dialect": self.dialect}


# -- reading -----------------------------------------------------------------------------------------------------------


def _read_openai(line: JsonObject) -> BatchItem:
    key = _key(line, "custom_id")
    if "body" in line:
        return BatchItem(key=key, kind="request", api=_api_of_url(line), payload=line["body"], path="$.body")
    return _read_http_result(line, key, _api_of_body)


def _read_mistral(line: JsonObject) -> BatchItem:
    key = _key(line, "custom_id")
    if "body" in line:
        return BatchItem(key=key, kind="request", api="mistral-chat", payload=line["body"], path="$.body")
    return _read_http_result(line, key, lambda _: "mistral-chat")


def _read_http_result(line: JsonObject, key: str | None, api_of: Callable[[Json], str]) -> BatchItem:
    """Return the item of a result with the status and the body of an HTTP response, or with an error instead."""
    error = line.get("error")
    if isinstance(error, dict):
        outcome = _OUTCOMES.get(str(error.get("code")), "errored")
        body = None if outcome != "errored" else {"error": error}
        return BatchItem(key=key, kind="response", api=api_of(None), payload=body, path="$", outcome=outcome)
    response = _object(line, "response")
    body = _object(response, "body", "$.response")
    status = response.get("status_code")
    failed = isinstance(status, int) and status >= 400
    return BatchItem(
        key=key,
        kind="response",
        api=api_of(body),
        payload=body,
        path="$.response.body",
        outcome="errored" if failed else "succeeded",
        status=status if isinstance(status, int) else 200,
    )


_OUTCOMES: dict[str, Outcome] = {"batch_expired": "expired", "batch_cancelled": "canceled"}
_CODES = {outcome: code for code, outcome in _OUTCOMES.items()}
_URLS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}


def _api_of_url(line: JsonObject) -> str:
    for api, url in _URLS.items():
        if line.get("url") == url:
            return api
    raise _fault("$.url", f"expected {' or '.join(_URLS.values())}, got {line.get('url')!r}")


def _api_of_body(body: Json) -> str:
    is_response = isinstance(body, dict) and body.get("object") == "response"
    return "openai-responses" if is_response else "openai-chat"


def _read_anthropic(line: JsonObject) -> BatchItem:
    key, api = _key(line, "custom_id"), "anthropic-messages"
    if "params" in line:
        return BatchItem(key=key, kind="request", api=api, payload=line["params"], path="$.params")
    result = _object(line, "result")
    outcome = result.get("type")
    if outcome == "succeeded":
        return BatchItem(key=key, kind="response", api=api, payload=result.get("message"), path="$.result.message")
    if outcome == "errored":
        error = result.get("error")
        return BatchItem(key=key, kind="response", api=api, payload=error, path="$.result.error", outcome="errored")
    if outcome not in ("canceled", "expired"):
        raise _fault("$.result.type", f"expected succeeded, errored, canceled or expired, got {outcome!r}")
    return BatchItem(key=key, kind="response", api=api, outcome=outcome)


def _read_gemini(line: JsonObject) -> BatchItem:
    key, api = _key(line, "key"), "google-generate-content"
    if "response" in line:
        # A result of Vertex AI contains its request.
        if line.get("status"):
            body, status = error_of_text(str(line["status"]))
            return BatchItem(
                key=key, kind="response", api=api, payload=body, path="$.status", outcome="errored", status=status
            )
        return BatchItem(key=key, kind="response", api=api, payload=line["response"], path="$.response")
    if "error" in line:
        body = {"error": with_http_code(line["error"])}
        return BatchItem(key=key, kind="response", api=api, payload=body, outcome="errored", status=500)
    return BatchItem(key=key, kind="request", api=api, payload=_object(line, "request"), path="$.request")


def _read_bedrock(line: JsonObject) -> BatchItem:
    key, api = _key(line, "recordId"), "anthropic-messages"
    if "modelOutput" in line:
        return BatchItem(key=key, kind="response", api=api, payload=line["modelOutput"], path="$.modelOutput")
    error = line.get("error")
    if isinstance(error, dict):
        code, message = error.get("errorCode"), error.get("errorMessage")
        body = {"error": {"message": message if isinstance(message, str) else write(error).decode()}}
        status = code if isinstance(code, int) and code >= 400 else 500
        return BatchItem(
            key=key, kind="response", api=api, payload=body, path="$.error", outcome="errored", status=status
        )
    body = _object(line, "modelInput")
    if "anthropic_version" not in body:
        raise _fault("$.modelInput", "expected a request of Anthropic Messages, with anthropic_version")
    return BatchItem(key=key, kind="request", api=api, payload=body, path="$.modelInput")


def _key(line: JsonObject, name: str) -> str | None:
    key = line.get(name)
    if key is not None and not isinstance(key, str):
        raise _fault(f"$.{name}", f"expected string, got {kind_of(key)}")
    return key


def _object(line: JsonObject, name: str, path: str = "$") -> JsonObject:
    value = line.get(name)
    if not isinstance(value, dict):
        raise _fault(path if name not in line else f"{path}.{name}", f"expected an object {name}, got {kind_of(value)}")
    return value


def _fault(path: str, message: str) -> DecodeError:
    return DecodeError("batch", [Fault(path, message)])


# -- writing -----------------------------------------------------------------------------------------------------------


def _write_openai(item: BatchItem) -> JsonObject:
    if item.kind == "request":
        return {"custom_id": item.key, "method": "POST", "url": _URLS[item.api], "body": item.payload}
    return {"id": f"batch_req_{item.key}", "custom_id": item.key, **_http_result(item)}


def _write_mistral(item: BatchItem) -> JsonObject:
    if item.kind == "request":
        return {"custom_id": item.key, "body": item.payload}
    return {"id": f"batch_req_{item.key}", "custom_id": item.key, **_http_result(item)}


def _http_result(item: BatchItem) -> JsonObject:
    if item.outcome in _CODES:
        message = f"This request was not run: it {'is expired' if item.outcome == 'expired' else 'was canceled'}."
        return {"response": None, "error": {"code": _CODES[item.outcome], "message": message}}
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
    _read_openai,
    _write_openai,
    _HTTP_FIELDS,
    50_000,
    200 * 10**6,
    key_pattern=".+",
    one_model=True,
)
_GEMINI = BatchFormat(
    "gemini-batch",
    "google-generate-content",
    _read_gemini,
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
            _read_anthropic,
            _write_anthropic,
            frozenset({"custom_id", "params", "result"}),
            100_000,
            256 * 10**6,
            key_pattern="[a-zA-Z0-9_-]{1,64}",
            dialect="anthropic",
        ),
        _GEMINI,
        _GEMINI._replace(name="vertex-batch", write=_write_vertex, max_bytes=10**9, dialect="vertex"),
        BatchFormat(
            "bedrock-batch",
            "anthropic-messages",
            _read_bedrock,
            _write_bedrock,
            frozenset({"recordId", "modelInput", "modelOutput", "error"}),
            50_000,
            key_name="recordId",
            dialect="bedrock",
        ),
        BatchFormat("mistral-batch", "mistral-chat", _read_mistral, _write_mistral, _HTTP_FIELDS, key_pattern=".+"),
    )
}
"""The formats of batch files, by name. `openai-batch` writes requests of Chat Completions, and reads both APIs."""


def batch_format(name: str) -> BatchFormat:
    """Return a format of batch files. Raise ValueError with the known names if there is none."""
    if name not in FORMATS:
        raise ValueError(f"no batch format {name!r}: the formats are {', '.join(FORMATS)}")
    return FORMATS[name]


def read_line(line: bytes | str | JsonObject, source: str) -> BatchItem:
    """Return the item of a line of a batch file. Raise DecodeError with the path of the fault."""
    value = parse(line) if isinstance(line, bytes | str) else line
    if not isinstance(value, dict):
        raise _fault("$", f"expected an object, got {kind_of(value)}")
    return batch_format(source).read(value)


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
    if item.outcome in _CODES:
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
        raise _fault(f"$.{reader.key_name}", "expected string, got null")
    hashed = line.get("request") or line.get("modelInput") or line
    return f"line-{hashlib.sha256(write(hashed)).hexdigest()[:32]}"


def _with_kind(encoded: Encoded, item: BatchItem, target: str) -> Encoded:
    """Return an error that names no type, or a body that is no error of its API, with the kind of the HTTP status."""
    response = encoded.value if isinstance(encoded.value, ChatResponse) else ChatResponse()
    error = response.error or ErrorContent(message=write(item.payload).decode())
    if error.code is not None or error.kind is not None or (error.extra and item.api == target):
        return encoded
    made = msgspec.structs.replace(error, kind=kind_of_status(item.status))
    return adapter(target).encode_response(msgspec.structs.replace(response, error=made))


def check_line(
    line: bytes | str | JsonObject, source: str, model: str | None = None, policies: Policies | None = None
) -> list[Violation]:
    """Return the violations of a request of a batch file, with paths in the line. Raise the errors of `check`.

    `check_lines` checks the keys, and the limits of the file.
    """
    item, chosen = _request_in(line, source), batch_format(source).with_host(policies)
    found = check(item.payload, api=item.api, model=model, policies=chosen)
    return [msgspec.structs.replace(violation, path=item.path + violation.path[1:]) for violation in found]


def _request_in(line: bytes | str | JsonObject, source: str) -> BatchItem:
    item = read_line(line, source)
    if item.kind != "request":
        raise _fault(item.path, "expected a request, got a result")
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

    Paths begin with the index of the line. A line that is not a request of the format is a violation too.
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
            item = _request_in(line, format)
        except DecodeError as error:
            for fault in error.faults:
                fix = f"write each line as a request of {format}"
                yield _violation(f"{path}{fault.path[1:]}", "batch-line", fault.message, fix)
            continue
        yield from _check_key(item, keys, limits, f"{path}.{limits.key_name}")
        model = item.payload.get("model") if isinstance(item.payload, dict) else None
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
