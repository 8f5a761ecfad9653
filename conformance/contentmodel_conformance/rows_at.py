"""The rows of an adapter's table at the path of a finding, and what they map there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

import contentmodel
from contentmodel import ChatRequest, ChatResponse
from contentmodel.authoring import DecodeContext, Row, steps_of


def row_at(adapter: Any, value: Any, where: str) -> str:
    """Return the row at a path of a payload or of a model value, and what the row does with the field there.

    Return "" if no row is there, or if the adapter has no table.
    """
    try:
        if isinstance(value, ChatRequest | ChatResponse):
            return _in_value(adapter, value, where)
        return _in_payload(adapter, value, where) if isinstance(value, dict) else ""
    except (Exception, SystemExit):
        # The adapter has a defect, so it may fail here, too.
        return ""


def _in_payload(adapter: Any, payload: dict[str, Any], where: str) -> str:
    row, keys = _innermost(adapter, payload, where)
    if row is None or not keys:
        return "" if row is None else _named(row)
    if row.columns is not None and keys[0] in row.columns.columns:
        return f"{_named(row)}: field {keys[0]} is a column of {row.columns.attributes[0]}"
    if keys[0] in row.constants:
        return f"{_named(row)}: field {keys[0]} is the constant {row.constants[keys[0]]!r}"
    field, attribute, codec = _leaf(row, keys)
    if not field:
        return f"{_named(row)}: no field {keys[0]}, so that it is kept in the residue"
    return f"{_named(row)}: field {field} is attribute {attribute}, by {codec}"


def _innermost(adapter: Any, payload: dict[str, Any], where: str) -> tuple[Row | None, list[str]]:
    """Return the innermost row of a payload that contains the path, and the keys of the rest of the path."""
    innermost, path = None, ""
    for row in (adapter.request, adapter.response):
        context = DecodeContext(adapter.api, adapter.answer_origin({}))
        value = row.decode(payload, context)
        context.trace(row, [value], payload, None, spread=False)
        for place in context.paths(payload).places():
            is_inside = where.startswith(place.path) and where[len(place.path) :][:1] in ("", ".", "[")
            if is_inside and isinstance(place.row, Row) and (innermost is None or len(place.path) > len(path)):
                innermost, path = place.row, place.path
    return innermost, [step for step in steps_of(f"${where[len(path) :]}") if isinstance(step, str)]


def _leaf(row: Row, keys: list[str]) -> tuple[str, str, str]:
    """Return the field of a row at these keys, or above them, its attribute and its codec."""
    leaves = {leaf.wire: leaf for leaf in row.root.leaves()}
    for end in range(len(keys), 0, -1):
        field = ".".join(keys[:end])
        if field in leaves:
            return field, leaves[field].attribute, type(leaves[field].codec).__name__
    return "", "", ""


def _in_value(adapter: Any, value: Any, where: str) -> str:
    """Return the rows of the class at a path of a model value, and the field of the attribute in each."""
    owner: Any = value
    kind, attribute = type(value), ""
    for step in steps_of(where):
        if isinstance(step, int):
            owner = owner[step]
        elif not isinstance(owner, msgspec.Struct):
            break
        elif step not in owner.__struct_fields__:
            return _in_source(adapter, value, where)
        else:
            kind, attribute, owner = type(owner), step, getattr(owner, step)
    return _in_table(adapter, kind, attribute) if attribute else ""


def _in_source(adapter: Any, value: Any, where: str) -> str:
    """Return the same for a path of the payload of the API that a value came from."""
    source = contentmodel.adapter(value.origin.api)
    is_request = isinstance(value, ChatRequest)
    payload = (source.encode_request if is_request else source.encode_response)(value).payload
    row, keys = _innermost(source, payload, where)
    _, attribute, _ = ("", "", "") if row is None else _leaf(row, keys)
    return _in_table(adapter, row.model, attribute) if row is not None and attribute else ""


def _in_table(adapter: Any, kind: type, attribute: str) -> str:
    rows = [row for row in _rows(adapter) if row.model is kind]
    mappings = "; ".join(dict.fromkeys(_mapping(row, attribute) for row in rows))
    return mappings or f"none: the table has no row for {kind.__name__}"


def _rows(adapter: Any) -> Iterator[Row]:
    yield from adapter.table.records.values()
    for union in adapter.table.unions.values():
        yield from union.rows


def _named(row: Row) -> str:
    return f"{row.name} ({row.model.__name__})"


def _mapping(row: Row, attribute: str) -> str:
    fields = [leaf.wire for leaf in row.root.leaves() if attribute in leaf.attributes]
    if fields:
        return f"{_named(row)}: attribute {attribute} is field {', '.join(fields)}"
    if attribute not in set(row.unmapped()):
        return (
            f"{_named(row)}: attribute {attribute} belongs to {', '.join(type(other).__name__ for other in row.others)}"
        )
    fix = f'map a field to it, or add Silent("{attribute}") if other fields show it'
    return f"{_named(row)}: no field for attribute {attribute}: {fix}"
