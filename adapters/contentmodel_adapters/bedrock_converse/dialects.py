"""The fields of makers for the effort of reasoning, in `additionalModelRequestFields`. Claude's is in `outputConfig`.

Sources: docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html and
docs.aws.amazon.com/nova/latest/nova2-userguide, seen 2026-11-23.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import DecodeContext, EncodeContext, object_of
from contentmodel.request import ChatRequest
from contentmodel_adapters.bedrock_converse.blocks import API

OF_MODEL, _OUTPUT = "additionalModelRequestFields", "outputConfig"
_FIELDS: dict[str, tuple[str, str, dict[str, str]]] = {
    "gpt-oss": ("reasoning_effort", "", {}),
    "nova-2": ("reasoningConfig", "maxReasoningEffort", {"type": "enabled"}),
}
"""By a part of a model's name: the field, the name of the effort in it, and the constants beside that."""


def _part_of(model: object) -> str | None:
    """Return the part of a model's name that is a key of `_FIELDS`; None if its effort is in `outputConfig`."""
    return next((part for part in _FIELDS if isinstance(model, str) and part in model.lower()), None)


def _written(part: str, effort: str) -> dict[str, Any]:
    field, inner, constants = _FIELDS[part]
    return {field: {**constants, inner: effort} if inner else effort}


def _read(part: str, own: dict[str, Any]) -> str | None:
    """Return the effort in the fields of a model; None if they do not have it in the usual form."""
    field, inner, _ = _FIELDS[part]
    effort = object_of(own, field).get(inner) if inner else own.get(field)
    return effort if isinstance(effort, str) and own[field] == _written(part, effort)[field] else None


def _without(wire: dict[str, Any], outer: str, name: str) -> dict[str, Any]:
    """Return a copy of an object without a field of its member `outer`, and without the member if it is empty."""
    left = {key: value for key, value in wire[outer].items() if key != name}
    return {key: value for key, value in wire.items() if key != outer} | ({outer: left} if left else {})


def with_fields_of_model(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the effort of reasoning in the field that the model has for it."""
    part = _part_of(request.model if context.native else context.known.model)
    reasoning = request.options.reasoning
    effort = None if reasoning is None else reasoning.effort
    if part is None or effort is None or "effort" not in object_of(payload, _OUTPUT):
        return payload
    own = object_of(payload, OF_MODEL)
    kept = {key: value for key, value in own.items() if context.native or key != "thinking"}
    return {**_without(payload, _OUTPUT, "effort"), OF_MODEL: {**kept, **_written(part, effort)}}


def without_fields_of_model(
    wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], ChatRequest]
) -> ChatRequest:
    """Decode a request with the effort from the field that the model has for it.

    For such a model, `outputConfig.effort` is an unknown field.
    """
    part = _part_of(wire.get("modelId"))
    own, output = object_of(wire, OF_MODEL), object_of(wire, _OUTPUT)
    if part is not None and isinstance(output.get("effort"), str):
        return _decode_unread(wire, output["effort"], context, decode)
    effort = None if part is None else _read(part, own)
    if part is None or effort is None:
        return decode(wire)
    field, inner, _ = _FIELDS[part]
    copy = _without(wire, OF_MODEL, field) | {_OUTPUT: {**output, "effort": effort}}
    context.copied(copy, wire, (f"{_OUTPUT}.effort", ".".join(filter(None, (OF_MODEL, field, inner)))))
    return decode(copy)


def _decode_unread(
    wire: dict[str, Any], effort: str, context: DecodeContext, decode: Callable[[dict[str, Any]], ChatRequest]
) -> ChatRequest:
    """Decode a request with `outputConfig.effort` as residue."""
    copy = _without(wire, _OUTPUT, "effort")
    context.copied(copy, wire)
    request = decode(copy)
    extra = request.extra or {}
    residue = extra.get(API, {})
    output = {**object_of(residue, _OUTPUT), "effort": effort}
    return context.replace(request, extra={**extra, API: {**residue, _OUTPUT: output}})
