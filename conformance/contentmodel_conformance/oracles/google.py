"""The checks of generateContent. Its SDK has models for the parts of a request, but not for the whole.

The models accept names in two spellings, enums in any case, and any string as an enum (with a warning); inside parts
they convert values. So a payload must pass two checks: the models, and the shapes read from them. For the shapes, the
payload is normalized to one spelling.
"""

from __future__ import annotations

import warnings
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.alias_generators import to_camel, to_snake

from contentmodel_conformance.oracles.envelopes import (
    google_generation_types,
    google_request,
    google_request_types,
    google_response,
)
from contentmodel_conformance.oracles.shapes import (
    NULL,
    ListOf,
    Literals,
    MapOf,
    OneOf,
    Record,
    Shape,
)
from contentmodel_conformance.oracles.validators import Check, shape_check, type_check


class _Piece(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        val_json_bytes="base64",
        arbitrary_types_allowed=True,
    )


def request_check() -> Check:
    """Return the check of requests."""
    generation = _model("GenerationConfig", google_generation_types())
    pieces = google_request_types() | {"generationConfig": generation}
    return _check(_model("GenerateContentRequest", pieces), google_request())


def response_check() -> Check:
    """Return the check of responses."""
    from google.genai.types import GenerateContentResponse

    return _check(GenerateContentResponse, google_response())


def _model(name: str, pieces: dict[str, Any]) -> Any:
    fields: dict[str, Any] = {to_snake(key): (piece | None, None) for key, piece in pieces.items()}
    return create_model(name, __base__=_Piece, **fields)


def _check(model: Any, record: Record) -> Check:
    of_model, of_shape = type_check(model, strict=False), shape_check(record)

    def checked(payload: dict[str, Any]) -> list[str]:
        return of_shape(_respelled(payload, record)) or _quietly(of_model, payload)

    return checked


def _quietly(check: Check, payload: dict[str, Any]) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check(payload)


def _respelled(value: Any, shape: Shape | None) -> Any:
    """Return the value with keys and enums in the spelling of responses."""
    match shape, value:
        case Record(), dict():
            return dict(_respelled_item(key, inner, shape) for key, inner in value.items())
        case ListOf(item), list():
            return [_respelled(inner, item) for inner in value]
        case MapOf(item), dict():
            return {key: _respelled(inner, item) for key, inner in value.items()}
        case Literals(values), str():
            return next((spelling for spelling in (value, value.upper()) if spelling in values), value)
        case OneOf(choices), _:
            return _respelled(value, next((choice for choice in choices if choice != NULL), None))
    return value


def _respelled_item(key: str, value: Any, record: Record) -> tuple[str, Any]:
    name = next((name for name in (key, to_camel(key)) if name in record.fields), key)
    item = record.fields.get(name)
    return name, _respelled(value, item.shape if item else None)
