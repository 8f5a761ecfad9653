"""The HTTP interface of an API, as data: paths, keys, headers, and the spelling of models and token counts.

An adapter has it as its attribute `http`. The gateway reads it; nothing here opens a connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.json import Json, JsonObject


class HttpMethod(msgspec.Struct, frozen=True, kw_only=True):
    """One method of an API.

    `path` follows the base URL of the official SDK; `{model}` in it is the model. `routes` are the full paths at which
    a server answers the method, as Starlette writes them; without any, the gateway does not answer it. `query` is sent
    with every call.
    """

    path: str
    routes: tuple[str, ...] = ()
    query: dict[str, str] = {}


class TokenCounting(msgspec.Struct, frozen=True, kw_only=True):
    """The method that counts the input tokens of a request.

    `fields` are the request's fields that the method accepts. If `wraps` is set, the payload is the value of this field
    and names its model. `answer` is the method's answer, and `result` is its field with the number of tokens.
    """

    method: HttpMethod
    fields: tuple[str, ...] = ()
    wraps: str | None = None
    result: str
    answer: JsonObject = {}

    def request_of(self, payload: Mapping[str, Any], model: str) -> JsonObject:
        """Return the request of the method for the payload of a request."""
        if self.wraps is not None:
            return {self.wraps: {"model": f"models/{model.removeprefix('models/')}", **payload}}
        return {name: payload[name] for name in self.fields if name in payload}

    def payload_of(self, request: Mapping[str, Any]) -> JsonObject:
        """Return the payload of the request whose tokens are to be counted."""
        wrapped = request.get(self.wraps) if self.wraps is not None else None
        return dict(wrapped) if isinstance(wrapped, Mapping) else dict(request)

    def read(self, answer: Json) -> int | None:
        """Return the number of tokens in an answer of the method; None if it has none."""
        count = answer.get(self.result) if isinstance(answer, dict) else None
        return count if count.__class__ is int else None

    def write(self, count: int) -> JsonObject:
        """Return the answer of the method with a number of tokens."""
        return {**self.answer, self.result: count}


class StateField(msgspec.Struct, frozen=True, kw_only=True):
    """The opaque field of reasoning that clients of an API send back unchanged: a gateway keeps foreign state in it.

    `kind` is the kind of its `Protected`; None if the API has the text of reasoning only. `on_calls` is whether clients
    send back the field of a call, and not that of the reasoning before it. `in_bytes` is whether it has base64.
    `joins` is whether a stream has no mark between two blocks of reasoning, so that clients join them.
    """

    kind: str | None
    on_calls: bool = False
    in_bytes: bool = False
    joins: bool = False


class HttpApi(msgspec.Struct, frozen=True, kw_only=True):
    """The HTTP interface of an API.

    - `base_url`: the provider's base URL, in the form that the official SDK expects.
    - `generate`: the method that returns an answer. `stream`: the method that streams one, if it is another method.
      `count`: the method that counts tokens, if there is one.
    - `key_header`: the header of the API key. `key_prefix`: the text before the key. `key_query`: the query parameter
      that may contain the key instead. `key_variables`: the environment variables that the official SDK reads.
    - `headers`: headers of every request. `forwarded`: headers of a client that have a meaning for this API.
    - `request_id`: the header of an answer that identifies the request.
    - `path_field`: the field of a payload that has the model of the path, if the body has no such field.
    - `foreign`: fields that a request of another API gets if it does not set them.
    - `streams_by_default`: whether a request without the field `stream` asks for a stream.
    - `usage_fields`: the fields by which a request asks for the usage in a stream, if it must.
    - `retry_in_body`: whether an error body, and not a header, contains the time to wait before a retry.
    - `mount`: the path before the base URL's at servers that answer several APIs, if another API has the same paths.
    - `keep_alive`: bytes that clients ignore between two events of a stream. A comment is one line: some clients read
      an empty line as an empty event (openai-go before 3.43, maximhq/bifrost#5874, seen 2026-11-29). `comments`:
      whether the official clients ignore comments in a stream.
    - `dates_answers`: whether answers must have a time, in seconds.
    - `passed`: methods whose requests and answers are passed through to an upstream of this API, and not converted.
    - `keeps_conversations`: whether a request can refer to answers and conversations that the server keeps.
    - `state`: the field of reasoning that clients send back; None if the API has no reasoning.
    - `asks_state`: fields by which a request without the server's memory asks for its opaque state, if it must.
    """

    base_url: str
    generate: HttpMethod
    stream: HttpMethod | None = None
    count: TokenCounting | None = None
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    key_query: str | None = None
    key_variables: tuple[str, ...]
    headers: dict[str, str] = {}
    forwarded: tuple[str, ...] = ()
    request_id: str = "x-request-id"
    path_field: str | None = None
    foreign: JsonObject = {}
    streams_by_default: bool = False
    usage_fields: JsonObject = {}
    retry_in_body: bool = False
    mount: str = ""
    keep_alive: bytes = b": keep-alive\n"
    comments: bool = True
    keeps_conversations: bool = False
    dates_answers: bool = False
    passed: tuple[HttpMethod, ...] = ()
    state: StateField | None = None
    asks_state: JsonObject = {}

    @property
    def names_model_in_path(self) -> bool:
        """True if the path, and not the payload, names the model."""
        return "{model}" in self.generate.path

    def with_path_model(self, body: JsonObject, model: str | None) -> JsonObject:
        """Return the payload of a body: with the model of the path, if the API has a field for it."""
        if self.path_field is None or model is None or body.__class__ is not dict:
            return body
        return {self.path_field: model, **body}

    def body_of(self, payload: JsonObject) -> JsonObject:
        """Return the body of a payload: without the model, if the path has it."""
        return {name: value for name, value in payload.items() if name != self.path_field}

    def method(self, *, streams: bool) -> HttpMethod:
        """Return the method for a streamed answer, or for a whole one."""
        return self.stream if streams and self.stream is not None else self.generate

    def asks_stream(self, payload: Mapping[str, Any]) -> bool:
        """Return whether a request asks for a stream in its field `stream`."""
        value = payload.get("stream")
        return value is True or (value is None and self.streams_by_default)

    def asks_array(self, query: Mapping[str, str]) -> bool:
        """Return whether a call of the method that streams asks for one JSON array: it lacks the query of the method.

        Gemini streams events only with `alt=sse`.
        """
        return self.stream is not None and any(query.get(name) != value for name, value in self.stream.query.items())

    def asks_usage(self, payload: Mapping[str, Any]) -> bool:
        """Return whether a request asks for the usage in a stream."""
        return _contains(payload, self.usage_fields)

    def with_usage(self, payload: JsonObject) -> JsonObject:
        """Return a request that asks for the usage in its stream."""
        return _merged(payload, self.usage_fields)

    def key_of(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """Return the API key of a client's request. The names of `headers` are in lower case."""
        value = headers.get(self.key_header, "")
        if value[: len(self.key_prefix)].lower() == self.key_prefix.lower() and value[len(self.key_prefix) :].strip():
            return value[len(self.key_prefix) :].strip()
        return query.get(self.key_query) or None if self.key_query is not None else None

    def key_headers(self, key: str) -> dict[str, str]:
        """Return the headers that send an API key."""
        return {self.key_header: f"{self.key_prefix}{key}"}


def _contains(payload: Any, fields: Mapping[str, Any]) -> bool:
    """Return whether an object has all of the fields, at every depth."""
    if not isinstance(payload, Mapping):
        return False
    return all(
        _contains(payload.get(name), value) if isinstance(value, dict) else payload.get(name) == value
        for name, value in fields.items()
    )


def _merged(payload: JsonObject, fields: Mapping[str, Any]) -> JsonObject:
    """Return an object with the fields added, at every depth."""
    added = {
        name: _merged(payload.get(name) or {}, value) if isinstance(value, dict) else value
        for name, value in fields.items()
    }
    return {**payload, **added}
