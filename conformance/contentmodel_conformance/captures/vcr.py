"""Read VCR cassettes, in YAML and JSON: those of vcrpy, of Ruby's VCR, of betamax and of LangChain's tests.

The formats are those of vcrpy 9.4 (vcr/serialize.py), VCR 6 (the structs in lib/vcr/structs.rb), and
langchain-tests 1.0 (conftest.py: `requests` and `responses` as two lists), seen 2026-11-24. Pydantic AI stores JSON
bodies as `parsed_body`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from contentmodel.errors import ContentModelError
from contentmodel.extras import needs_extra
from contentmodel.json import plain, write
from contentmodel_conformance.captures.entries import CaptureError, Damaged, Entry, Exchange, Message
from contentmodel_conformance.captures.har import from_base64

MOST_VALUES = 5_000_000
"""The maximum number of values in a cassette. Aliases of aliases can expand a small YAML file without limit."""


class _Request(msgspec.Struct):
    method: str
    uri: str
    headers: dict[str, Any] | None = None
    body: Any = None
    parsed_body: Any = msgspec.UNSET


class _Response(msgspec.Struct):
    status: Any = None
    status_code: int | None = None
    headers: dict[str, Any] | None = None
    body: Any = None
    content: Any = None
    parsed_body: Any = msgspec.UNSET


class _Interaction(msgspec.Struct):
    request: _Request
    response: _Response


def interactions_of(value: Any) -> list[Any] | None:
    """Return the interactions of a cassette; None if the value is not a cassette."""
    if not isinstance(value, dict):
        return None
    for key in ("interactions", "http_interactions"):
        if isinstance(value.get(key), list):
            return list(value[key])
    requests, responses = value.get("requests"), value.get("responses")
    if not isinstance(requests, list) or not isinstance(responses, list):
        return None
    pairs = zip(requests, responses, strict=False)
    return [{"request": request, "response": response} for request, response in pairs]


def read_vcr(interactions: list[Any]) -> Iterator[Entry]:
    """Yield the entries of a cassette."""
    _check_size(interactions)
    for number, value in enumerate(interactions, 1):
        place = f"interaction {number}"
        try:
            yield _exchange(msgspec.convert(value, _Interaction), place)
        except (msgspec.ValidationError, ContentModelError) as error:
            yield Damaged(place=place, reason=str(error))


def _exchange(interaction: _Interaction, place: str) -> Exchange:
    request, response = interaction.request, interaction.response
    sent = _body(request.body, request.parsed_body, "$.request.body")
    received = response.body if response.body is not None else response.content
    return Exchange(
        place=place,
        # Ruby writes a symbol: ":post".
        method=request.method.lstrip(":").upper(),
        url=request.uri,
        request=Message(headers=_headers(request.headers), body=sent),
        status=_status(response),
        answer=Message(
            headers=_headers(response.headers), body=_body(received, response.parsed_body, "$.response.body")
        ),
    )


def _status(response: _Response) -> int | None:
    status = response.status.get("code") if isinstance(response.status, dict) else response.status
    status = response.status_code if status is None else status
    if status is not None and status.__class__ is not int:
        raise CaptureError(f"$.response.status: expected a number, got {status!r}")
    return status


def _headers(headers: dict[str, Any] | None) -> list[tuple[str, str]]:
    return [
        (name, value.decode("latin-1") if isinstance(value, bytes) else str(value))
        for name, values in (headers or {}).items()
        for value in (values if isinstance(values, list) else [values])
    ]


def _body(value: Any, parsed: Any, path: str) -> bytes:
    """Return the bytes of a body: a text, bytes, a dict of one of them, or a JSON value."""
    if parsed is not msgspec.UNSET:
        return write(plain(parsed, "vcr"))
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dict) and isinstance(value.get("base64_string"), str):
        return from_base64(value["base64_string"], f"{path}.base64_string")
    if isinstance(value, dict) and "string" in value:
        return _body(value["string"], msgspec.UNSET, f"{path}.string")
    if isinstance(value, dict) and isinstance(value.get("state"), list) and value["state"]:
        # vcrpy stored files as `!!python/object/new:_io.BytesIO`.
        return _body(value["state"][0], msgspec.UNSET, path)
    raise CaptureError(f"{path}: expected a text, bytes, or an object with string or base64_string")


# -- YAML --------------------------------------------------------------------------------------------------------------


def load_yaml(data: bytes) -> Any:
    """Return the value of a YAML document, with plain values for tagged ones. Raise CaptureError if it is not YAML."""
    loader = _loader()
    import yaml

    try:
        return yaml.load(data, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CaptureError(f"not YAML: {' '.join(str(error).split())}") from None


@cache
def _loader() -> Any:
    """Return a loader class that ignores tags. It reads `!binary`, which Ruby writes, as `!!binary`."""
    with needs_extra("captures"):
        import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """A subclass, because the constructors must not be added to the shared class."""

    def untagged(loader: Any, suffix: str, node: Any) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return loader.construct_scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_mapping(node, deep=True)

    Loader.add_constructor("!binary", Loader.construct_yaml_binary)
    Loader.add_multi_constructor("!", untagged)
    Loader.add_multi_constructor("tag:yaml.org,2002:python/", untagged)
    return Loader


def _check_size(value: Any) -> None:
    """Raise CaptureError if a value is too large when its aliases are expanded."""
    if _size(value, {}) > MOST_VALUES:
        raise CaptureError(f"more than {MOST_VALUES:,} values when the aliases of the YAML are expanded")


def _size(value: Any, sizes: dict[int, int]) -> int:
    """Return the number of values in a value with expanded aliases. The size of a shared value is computed once."""
    if not isinstance(value, dict | list):
        return 1
    size = sizes.get(id(value))
    if size is None:
        sizes[id(value)] = MOST_VALUES + 1  # the size of a value that contains itself
        inner = value.values() if isinstance(value, dict) else value
        size = sizes[id(value)] = 1 + sum(_size(item, sizes) for item in inner)
    return size
