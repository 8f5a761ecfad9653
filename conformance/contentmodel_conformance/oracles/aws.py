"""The types of AWS services, read from the service models of botocore, and the checks of payloads against them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import cache
from typing import Any

from contentmodel_conformance.oracles.shapes import (
    Anything,
    Field,
    ListOf,
    Literals,
    MapOf,
    Record,
    Scalar,
    Shape,
)

_SCALARS = {
    "string": Scalar("str"),
    "boolean": Scalar("bool"),
    "integer": Scalar("int"),
    "long": Scalar("int"),
    "float": Scalar("float"),
    "double": Scalar("float"),
    "blob": Scalar("bytes"),
    "timestamp": Scalar("date"),
}


@cache
def _model() -> Any:
    import botocore.session

    return botocore.session.get_session().get_service_model("bedrock-runtime")


def converse_request() -> Record:
    """Return the parameters of Converse: the body of a request, and the model of its path."""
    record = _record(_model().shape_for("ConverseRequest"))
    # The body alone does not name the model.
    fields = {**record.fields, "modelId": Field(Scalar("str"), required=False)}
    fields["messages"] = Field(fields["messages"].shape, required=True)
    return Record(record.name, lambda: fields)


def converse_response() -> Record:
    """Return the record of an answer of Converse. Recorded answers have further counters of tokens."""
    return _record(_model().shape_for("ConverseResponse"))


def _record(shape: Any) -> Record:
    records: dict[str, Record] = {}
    return _structure(shape, records)


def _structure(shape: Any, records: dict[str, Record]) -> Record:
    """Return the record of a structure. A union has at most one of its members."""
    if shape.name not in records:
        exclusive = frozenset(shape.members) if getattr(shape, "is_tagged_union", False) else frozenset()

        def read() -> dict[str, Field]:
            required = shape.required_members
            return {name: Field(_shape(member, records), name in required) for name, member in shape.members.items()}

        records[shape.name] = Record(shape.name, read, exclusive)
    return records[shape.name]


def _shape(shape: Any, records: dict[str, Record]) -> Shape:
    if getattr(shape, "is_document_type", False):
        return Anything()
    if shape.type_name == "structure":
        return _structure(shape, records)
    if shape.type_name == "list":
        return ListOf(_shape(shape.member, records))
    if shape.type_name == "map":
        return MapOf(_shape(shape.value, records))
    values = tuple(getattr(shape, "enum", ()) or ())
    return Literals(values) if values else _SCALARS[shape.type_name]


def faults_of_sdk(payload: dict[str, Any]) -> list[str]:
    """Return the faults that the SDK's own validator finds in a request. It checks lengths as well."""
    from botocore.validate import ParamValidator

    report = ParamValidator().validate(
        with_bytes({"modelId": "m", **payload}, "ConverseRequest"), _model().shape_for("ConverseRequest")
    )
    return [f"$: {report.generate_report()}"] if report.has_errors() else []


def with_bytes(payload: Any, name: str) -> Any:
    """Return a payload with bytes in place of base64, as the SDK takes it. `name` is its structure in the service."""
    return _converted(payload, _model().shape_for(name), _from_base64)


def _from_base64(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, binascii.Error):
        return value


def _converted(value: Any, shape: Any, convert: Callable[[Any], Any]) -> Any:
    if getattr(shape, "is_document_type", False):
        return value
    if shape.type_name == "structure" and isinstance(value, dict):
        members = shape.members
        return {k: _converted(v, members[k], convert) if k in members else v for k, v in value.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [_converted(item, shape.member, convert) for item in value]
    return convert(value) if shape.type_name == "blob" else value
