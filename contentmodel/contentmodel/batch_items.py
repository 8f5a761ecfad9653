"""Read the lines of batch files: the payload of a request or a result, its key and its outcome.

Hosts of OpenAI's APIs have lines without a URL, or with another one (docs.fireworks.ai/guides/batch-inference, skills
of togethercomputer/skills, batch-rest.md of MicrosoftDocs/azure-ai-docs). Lines of Bedrock have the body of InvokeModel
or that of Converse (batch-inference-data.md of docs.aws.amazon.com/bedrock). InvokeModel takes the body of Converse for
Nova, and that of Chat Completions for gpt-oss (model-parameters-openai.html). Lines of Claude at Vertex AI have a key
(cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude-batch). Seen 2026-11-27.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from contentmodel.adapter import adapter
from contentmodel.batch_errors import error_of_text, with_http_code
from contentmodel.errors import DecodeError, Fault
from contentmodel.json import Json, JsonObject, kind_of, write

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


def read_openai(line: JsonObject) -> BatchItem:
    """Return the item of a line of OpenAI's APIs, or of a host of them."""
    key = _key(line, "custom_id")
    if "body" in line:
        return BatchItem(key=key, kind="request", api=_api_of_url(line), payload=line["body"], path="$.body")
    return _read_http_result(line, key, _api_of_body)


def read_mistral(line: JsonObject) -> BatchItem:
    """Return the item of a line of Mistral."""
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
CODES = {outcome: code for code, outcome in _OUTCOMES.items()}
"""The code of OpenAI's error for a request that was not run, by its outcome."""
URLS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}
"""The URL of a request, by its API."""


def _api_of_url(line: JsonObject) -> str:
    """Return the API of a request. The URL may lack the version, or have another one; without it, the body decides."""
    url = line.get("url")
    if url is None:
        body = line["body"]
        return "openai-responses" if isinstance(body, dict) and "input" in body else "openai-chat"
    for api, usual in URLS.items():
        if isinstance(url, str) and url.endswith(usual.removeprefix("/v1")):
            return api
    raise fault("$.url", f"expected {' or '.join(URLS.values())}, got {url!r}")


def _api_of_body(body: Json) -> str:
    is_response = isinstance(body, dict) and body.get("object") == "response"
    return "openai-responses" if is_response else "openai-chat"


def read_anthropic(line: JsonObject) -> BatchItem:
    """Return the item of a line of Anthropic."""
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
        raise fault("$.result.type", f"expected succeeded, errored, canceled or expired, got {outcome!r}")
    return BatchItem(key=key, kind="response", api=api, outcome=outcome)


def read_gemini(line: JsonObject) -> BatchItem:
    """Return the item of a line of Gemini, or of Vertex AI."""
    key, api = _key(line, "custom_id" if "key" not in line else "key"), "google-generate-content"
    request, response = line.get("request"), line.get("response")
    if isinstance(request, dict) and "anthropic_version" in request and not line.get("status"):
        api = "anthropic-messages"
    if "response" in line:
        # A result of Vertex AI contains its request.
        if line.get("status"):
            body, status = error_of_text(str(line["status"]))
            return BatchItem(
                key=key, kind="response", api=api, payload=body, path="$.status", outcome="errored", status=status
            )
        return BatchItem(key=key, kind="response", api=api, payload=response, path="$.response")
    if "error" in line:
        body = {"error": with_http_code(line["error"])}
        return BatchItem(key=key, kind="response", api=api, payload=body, outcome="errored", status=500)
    return BatchItem(key=key, kind="request", api=api, payload=_object(line, "request"), path="$.request")


def read_bedrock(line: JsonObject) -> BatchItem:
    """Return the item of a line of Bedrock."""
    key, api = _key(line, "recordId"), "anthropic-messages"
    if "modelOutput" in line:
        answer = line["modelOutput"]
        api = _api_of_model(answer, "response") if isinstance(answer, dict) else api
        return BatchItem(key=key, kind="response", api=api, payload=answer, path="$.modelOutput")
    error = line.get("error")
    if isinstance(error, dict):
        code, message = error.get("errorCode"), error.get("errorMessage")
        body = {"error": {"message": message if isinstance(message, str) else write(error).decode()}}
        status = code if isinstance(code, int) and code >= 400 else 500
        return BatchItem(
            key=key, kind="response", api=api, payload=body, path="$.error", outcome="errored", status=status
        )
    body = _object(line, "modelInput")
    return BatchItem(key=key, kind="request", api=_api_of_model(body, "request"), payload=body, path="$.modelInput")


def _api_of_model(body: JsonObject, kind: Literal["request", "response"]) -> str:
    """Return the API of a body of Bedrock. Raise DecodeError for a body of a model's own API."""
    if "anthropic_version" in body:
        return "anthropic-messages"
    apis = ("bedrock-converse", "anthropic-messages", "openai-chat")
    scores = {api: adapter(api).recognises(body).get(kind, 0.0) for api in apis}
    if kind == "request":
        # Bedrock requires the version of a request to Claude.
        del scores["anthropic-messages"]
    best = max(scores, key=lambda api: scores[api])
    if scores[best] < _LIKELY:
        field = "modelInput" if kind == "request" else "modelOutput"
        version = ", with anthropic_version," if kind == "request" else ""
        raise fault(
            f"$.{field}", f"expected a {kind} of Anthropic Messages{version} of Converse or of Chat Completions"
        )
    return best


_LIKELY = 0.4
"""The confidence below which a body is one of another API."""


def _key(line: JsonObject, name: str) -> str | None:
    key = line.get(name)
    if key is not None and not isinstance(key, str):
        raise fault(f"$.{name}", f"expected string, got {kind_of(key)}")
    return key


def _object(line: JsonObject, name: str, path: str = "$") -> JsonObject:
    value = line.get(name)
    if not isinstance(value, dict):
        raise fault(path if name not in line else f"{path}.{name}", f"expected an object {name}, got {kind_of(value)}")
    return value


def fault(path: str, message: str) -> DecodeError:
    """Return the error of a line."""
    return DecodeError("batch", [Fault(path, message)])
