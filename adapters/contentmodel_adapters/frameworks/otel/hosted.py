"""The parts of tools that the provider runs: `server_tool_call`, and calls with the field `builtin` of Pydantic AI.

The conventions define only the `type` of the inner object. The other fields are the arguments, or the outputs. An inner
object that this library did not write is decoded as a JSON value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from contentmodel.authoring import (
    ArgumentsObjectOrText,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    Row,
    Spec,
    Union,
    spread,
)
from contentmodel.content.text import JsonContent
from contentmodel_adapters.frameworks import hosted_tools
from contentmodel_adapters.frameworks.otel.values import IsPart, Response, are_parts

SERVER_CALL, SERVER_RESPONSE = "server_tool_call", "server_tool_call_response"


CALLS = {kind: hosted_tools.CALLS[kind] for kind in hosted_tools.BY_PROVIDER}
RESULTS = {kind: hosted_tools.RESULTS[kind] for kind in hosted_tools.BY_PROVIDER}
_ALIASES = {
    "google_search": "web_search",
    "code_execution": "code_interpreter",
    "bash_code_execution": "code_interpreter",
    "text_editor_code_execution": "code_interpreter",
    "mcp": "mcp_server",
}
_ENDING = re.compile(r"(_tool)?(_call|_call_output|_result|_use|_preview)?(_[\d_]+)?$")


def kind_of(*names: object) -> str:
    """Return the kind of a tool from its type or its name: `web_search` for `web_search_20250305`."""
    texts = [name for name in names if isinstance(name, str)]
    kinds = (_ALIASES.get(plain, plain) for name in texts for plain in (name, _ENDING.sub("", name, count=1)))
    return next((kind for kind in kinds if kind in CALLS), hosted_tools.OTHER)


class _Inside(Codec[Any]):
    """The inner object of a part, without its type. A type that differs from the kind of tool stays in the object."""

    classes = (dict,)
    identity = False

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def _rest(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {key: item for key, item in value.items() if key != "type" or item != self._kind}

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        return self._rest(value)

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        return {"type": self._kind, **value}


class _Outputs(_Inside):
    """The inner object of a response: a list of parts in `outputs`, or a JSON value. `more` are further attributes."""

    def __init__(self, kind: str, union: Union, is_part: IsPart, more: tuple[str, ...]) -> None:
        super().__init__(kind)
        self._union, self._is_part, self._more = union, is_part, more

    def holds(self, value: object) -> bool:
        return isinstance(value, dict) and bool(self._rest(value))

    def _split(self, value: Mapping[str, Any]) -> tuple[list[Any] | None, dict[str, Any], list[Any]]:
        """Return the parts, the JSON value and the further attributes of an inner object."""
        fields = self._rest(value)
        more = [fields.pop(name) if _is_own(name, fields.get(name)) else None for name in self._more]
        if fields.keys() == {"outputs"} and are_parts(fields["outputs"], self._is_part):
            return fields["outputs"], {}, more
        return None, fields, more

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        parts, json_value, more = self._split(value)
        outputs: list[Any] = [JsonContent(value=json_value)] if json_value else []
        if parts is not None:
            outputs = self._union.decode_list(parts, context)
        return (outputs, *more) if self._more else outputs

    def places(self, value: Any, wire: Any, path: str) -> Any:
        parts, rest, _ = self._split(wire)
        if parts is not None:
            return spread(value, parts, f"{path}.outputs", self._union)
        return [(value[0], path, wire, None)] if rest and value else []

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        outputs, *more = value if self._more else (value,)
        more_fields = {name: item for name, item in zip(self._more, more, strict=True) if item is not None}
        plain = self._as_json(outputs)
        if plain is not None:
            return super().encode({**context.plain_value(outputs[0], "value"), **more_fields}, context, owner)
        parts = self._union.encode_list(outputs, context)
        return super().encode({**({"outputs": parts} if parts else {}), **more_fields}, context, owner)

    def _as_json(self, outputs: list[Any]) -> dict[str, Any] | None:
        """Return the only output if it is an object that decodes as the same JSON value; else None."""
        value = outputs[0].value if len(outputs) == 1 and outputs[0].__class__ is JsonContent else None
        return (
            value if value.__class__ is dict and self._split(value) == (None, value, [None] * len(self._more)) else None
        )


def _is_own(name: str, value: Any) -> bool:
    """Return whether an attribute can hold a value: the name of a server, or a list of tools."""
    if name == "server":
        return value.__class__ is str
    return value.__class__ is list and bool(value) and all(item.__class__ is dict for item in value)


def _more(model: type[Any]) -> tuple[str, ...]:
    return tuple(name for name in ("server", "tools") if name in model.__struct_fields__)


def hosted_rows(outputs: Union, is_part: IsPart) -> Iterator[Row]:
    """Return the rows of calls and responses of all kinds of tools that the provider runs."""
    named: dict[str, Spec] = {"id": "call_id", "name": "name", "is_error": "is_error"}
    call: dict[str, Spec] = {"id": "call_id", "name": "name"}
    for kind, model in CALLS.items():
        filled = {"name": kind, f"{SERVER_CALL}.type": kind}
        yield Row(
            f"{SERVER_CALL}.{kind}",
            model,
            {**call, SERVER_CALL: ("arguments", _Inside(kind))},
            Filled(filled),
            constants={"type": SERVER_CALL},
        )
        server: dict[str, Spec] = {f"{SERVER_CALL}.{name}": name for name in _more(model)}
        yield Row(
            f"{SERVER_CALL}.{kind}.own",
            model,
            {**call, f"{SERVER_CALL}.arguments": "arguments", **server},
            Filled({"name": kind}),
            constants={"type": SERVER_CALL, f"{SERVER_CALL}.type": kind},
        )
        yield Row(
            f"{BUILTIN}.{kind}",
            model,
            {**call, "arguments": ("arguments", ArgumentsObjectOrText())},
            constants={"type": "tool_call", "builtin": True},
        )
    for kind, model in RESULTS.items():
        more = _more(model)
        spec: Spec = (("outputs", *more) if more else "outputs", _Outputs(kind, outputs, is_part, more))
        yield Row(
            f"{SERVER_RESPONSE}.{kind}",
            model,
            {**named, SERVER_RESPONSE: spec},
            Filled({f"{SERVER_RESPONSE}.type": kind}),
            constants={"type": SERVER_RESPONSE},
        )
        yield Row(
            f"{BUILTIN}.{kind}.result",
            model,
            {**named, "result": ("outputs", Response(outputs, is_part))},
            constants={"type": "tool_call_response", "builtin": True},
        )


BUILTIN = "builtin"


def row_of_hosted(part: Mapping[str, Any]) -> str | None:
    """Return the name of the row of a part of a hosted tool; None for other parts."""
    tag = part["type"]
    if part.get(BUILTIN) is True:
        return f"{BUILTIN}.{kind_of(part.get('name'))}{'.result' if tag == 'tool_call_response' else ''}"
    inner: Any = part.get(tag)
    if inner.__class__ is not dict or inner.get("type").__class__ is not str:
        return None
    kind = kind_of(inner.get("type"), part.get("name"))
    return f"{tag}.{kind}.own" if tag == SERVER_CALL and _has_own_form(inner, kind) else f"{tag}.{kind}"


def _has_own_form(inner: Mapping[str, Any], kind: str) -> bool:
    """Return whether the inner object of a call has the field `arguments` that this adapter writes for some calls."""
    fields = ("arguments", *_more(CALLS[kind]))
    return inner.get("type") == kind and len(inner) > 1 and inner.keys() <= {"type", *fields}


def usual_call(call: Any, rows: list[Row]) -> Row:
    """Return the row for a call. If the arguments cannot be the fields of the inner object, it has `arguments`."""
    kind, arguments = rows[0].name.removeprefix(f"{SERVER_CALL}."), call.arguments
    is_plain = arguments is None or (arguments.__class__ is dict and "type" not in arguments)
    has_more = any(getattr(call, name) is not None for name in _more(call.__class__))
    if is_plain and not has_more and not _has_own_form({"type": kind, **(arguments or {})}, kind):
        return rows[0]
    return rows[1]
