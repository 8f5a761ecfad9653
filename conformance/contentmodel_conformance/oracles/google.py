"""The checks of generateContent, whose SDK is pydantic models throughout and has none for a whole request.

Owns what is special there: both spellings of a name, enums that take any string and merely warn, and dates.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.alias_generators import to_camel, to_snake

from contentmodel_conformance.oracles.envelopes import (
    GOOGLE_CLIENT_FIELDS,
    google_generation_types,
    google_request_types,
)
from contentmodel_conformance.oracles.validators import Check, type_check

_NO_DATE = "Input should be a valid datetime"
_ENUM_WARNING = re.compile(r"(.*) is not a valid (\w+)", re.DOTALL)


class _Piece(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        val_json_bytes="base64",
        arbitrary_types_allowed=True,
    )


def request_check() -> Check:
    generation = _model("GenerationConfig", google_generation_types())
    pieces = google_request_types() | {"generationConfig": generation}
    return _check(_model("GenerateContentRequest", pieces, required="contents"))


def response_check() -> Check:
    from google.genai.types import GenerateContentResponse

    check = _check(GenerateContentResponse)

    def without_client_fields(payload: dict[str, Any]) -> list[str]:
        names = [name for name in payload if to_camel(name) in GOOGLE_CLIENT_FIELDS]
        return check(payload) + [f"$.{name}: a field of the client, not of the wire" for name in names]

    return without_client_fields


def _model(name: str, pieces: dict[str, Any], required: str = "") -> Any:
    fields = {
        to_snake(key): (piece, ...) if key == required else (piece | None, None) for key, piece in pieces.items()
    }
    return create_model(name, __base__=_Piece, **fields)  # type: ignore[call-overload]


def _check(annotation: Any) -> Check:
    return _with_enums(_with_dates(type_check(annotation), type_check(annotation, strict=False)))


def _with_dates(strict: Check, lax: Check) -> Check:
    """The strict check, which takes a date's text as the lax one does.

    Every model of this SDK has a validator that runs before its fields. What that hands on counts as Python's, of
    which the strict mode wants a datetime and not the text of one.
    """

    def checked(payload: dict[str, Any]) -> list[str]:
        found = strict(payload)
        if not any(fault.endswith(_NO_DATE) for fault in found):
            return found
        wrong = {fault.partition(": ")[0] for fault in lax(payload)}
        return [fault for fault in found if not fault.endswith(_NO_DATE) or fault.partition(": ")[0] in wrong]

    return checked


def _with_enums(check: Check) -> Check:
    """The check, with values that no enum lists as faults; the SDK names the value but not where it stands."""

    def checked(payload: dict[str, Any]) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = check(payload)
            except AttributeError as error:  # a number where the enum expects text
                return [f"$: an enum refuses a value: {error}"]
        matches = (_ENUM_WARNING.fullmatch(str(warning.message)) for warning in caught)
        unknown = dict.fromkeys((match[1], match[2]) for match in matches if match)
        return found + [fault for value, enum in unknown for fault in _enum_faults(payload, value, enum)]

    return checked


def _enum_faults(payload: Any, value: str, enum: str) -> list[str]:
    places = list(_places(payload, value, "$")) or ["$"]
    return [f"{place}: {value!r} is no {enum}" for place in places]


def _places(payload: Any, value: str, path: str) -> Iterator[str]:
    if payload == value:
        yield path
    elif isinstance(payload, dict):
        for key, inner in payload.items():
            yield from _places(inner, value, f"{path}.{key}")
    elif isinstance(payload, list):
        for index, inner in enumerate(payload):
            yield from _places(inner, value, f"{path}[{index}]")
