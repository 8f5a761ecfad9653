"""The laws of an adapter as a whole: its required members, its table, and detection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel import UnknownContent
from contentmodel.display import count_of
from contentmodel_conformance.coverage import missing_types
from contentmodel_conformance.differences import Label
from contentmodel_conformance.laws import LawBroken

_METHODS = (
    *("decode_request", "encode_request", "decode_response", "encode_response"),
    *("stream_decoder", "stream_encoder", "check_request", "restore_arguments", "recognises", "describe"),
)


def face(adapter: Any) -> None:
    """An adapter has a name, an issuer, every method that the library calls, and a description of its table."""
    for name in ("api", "issuer"):
        if not isinstance(getattr(adapter, name, None), str):
            raise LawBroken("face", name, "is not a string", Label("a str"), getattr(adapter, name, None))
    for name in _METHODS:
        if not callable(getattr(adapter, name, None)):
            detail = "is missing: if the adapter does not support it, it must raise ContentModelError"
            raise LawBroken("face", f"{name}()", detail, Label("a method"), getattr(adapter, name, None))
    if not isinstance(adapter.recognises({}), Mapping):
        raise LawBroken("face", "recognises({})", "is not a mapping", Label("a score by kind"), adapter.recognises({}))
    _describes(adapter.describe(), adapter.api)


def _describes(described: Any, api: str) -> None:
    if not isinstance(described, dict) or described.get("api") != api:
        raise LawBroken("face", "describe()", "its `api` is not the API id of the adapter", {"api": api}, described)
    for name in ("pairs", "values", "kept", "records", "unions"):
        if name not in described:
            raise LawBroken(
                "face",
                f"describe()[{name!r}]",
                "is missing",
                Label("the entries of the table; empty if it has none"),
                None,
            )
    for name, union in described["unions"].items():
        for row in union["rows"]:
            if not {"name", "model", "constants", "fields"} <= set(row):
                raise LawBroken(
                    "face",
                    f"describe()['unions'][{name!r}]",
                    "a row without a name, model, constants or fields",
                    Label("a row"),
                    row,
                )


def detection(adapter: Any, kind: str, payload: Any) -> None:
    """If a payload of this API is recognised, its own kind has the highest score."""
    # A list is never an answer.
    scores = {} if isinstance(payload, list) else adapter.recognises(payload)
    if scores and max(scores, key=lambda name: scores[name]) != kind:
        raise LawBroken("detection", "$", "the other kind has a higher score", kind, dict(scores))


def coverage(adapter: Any) -> None:
    """Every type, tag and enum value of the API's official SDK is in the adapter's table."""
    for position, names in missing_types(adapter.api, adapter.describe()).items():
        missing = f"no row of the table has {count_of(len(names), 'name')}"
        detail = f"{missing}: add rows, or install the SDK that the table is made for"
        raise LawBroken("coverage", position, detail, sorted(names), [])


def known(value: Any) -> None:
    """Every block that a provider sent has a type in the model."""
    for content in contents_of(value):
        if isinstance(content, UnknownContent):
            raise LawBroken(
                "known",
                "$",
                "no row of the table decodes the block",
                Label("a content type of the model"),
                content.block,
            )


def contents_of(value: Any) -> list[Any]:
    """Return every content of a request or response, including outputs of tools."""
    choices = getattr(value, "choices", [])
    messages = [m for choice in choices for m in choice.messages] if choices else getattr(value, "messages", [])
    contents = [*getattr(value, "instructions", []), *(c for message in messages for c in message.contents)]
    for content in contents:
        contents.extend(getattr(content, "output_list", ()))
    return contents


def readable(line: str) -> None:
    """Every line of the recorded traffic is a valid record."""
    location, _, reason = line.partition(": ")
    raise LawBroken("readable", location, reason, Label("a valid record"), Label("an invalid line"))
