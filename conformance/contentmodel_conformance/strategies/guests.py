"""Documents of a format with blocks of providers, generated from the forms that its table describes.

The provider's table gives the values that a form leaves open. The parts replace a part in a document that the adapter
wrote, or follow it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contentmodel.json import dotted_key, path_keys
from contentmodel_conformance.strategies.damage import ODD
from contentmodel_conformance.strategies.sdk import json_values
from contentmodel_conformance.strategies.tables import Unions, block_of, is_of, put, value_of

__all__ = ["guest_documents", "odd_guests"]

Described = dict[str, Any]
_CLASSES: dict[str, type] = {"any": object, "bool": bool, "dict": dict, "list": list, "str": str}


def guest_documents(
    described: Described, providers: Mapping[str, Described], samples: list[Any]
) -> SearchStrategy[Any] | None:
    """Return a strategy of documents with guests; None if no sample has a place for them.

    `providers` has the descriptions of the tables of the providers, by API.
    """
    unions = described["unions"]
    usable = [sample for sample in samples if any(True for _ in _places(sample, described["guests"], unions))]
    guests = [guest for guest in described["guests"] if guest["api"] in providers]
    if not usable or not guests:
        return None

    # A function without the descriptions as arguments: hypothesis would make their text.
    @st.composite
    def documents(draw: DrawFn) -> Any:
        document = copy.deepcopy(draw(st.sampled_from(usable)))
        around, owner, index = draw(st.sampled_from(list(_places(document, guests, unions))))
        guest = draw(st.sampled_from(guests))
        if guest["parts"]["around"]:
            put(around, guest["parts"]["around"], draw(st.sampled_from(guest["issuers"])))
        tools = sorted({_tool(form) for form in guest["forms"]})
        for number, tool in enumerate(draw(st.lists(st.sampled_from(tools), min_size=1, max_size=5, unique=True))):
            owner[index:index] = _parts(draw, guest, tool, providers[guest["api"]], f"c_{number}")
        return document

    return documents()


def odd_guests(described: Described, documents: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Return a strategy of documents in which one value of a guest's part is another one, or missing."""
    names = {guest["parts"][name] for guest in described["guests"] for name in ("issuer", "call_id")} - {""}
    kinds = {value for form in _forms(described["guests"]) for value in form["part"].values() if value.__class__ is str}

    @st.composite
    def odd(draw: DrawFn) -> Any:
        document = copy.deepcopy(draw(documents))
        inner = [container[key] for container, key in _values(document)]
        objects = [part for part in inner if part.__class__ is dict]
        parts = [part for part in objects if names & part.keys() or str(part.get("type")) in kinds]
        container, key = draw(st.sampled_from([place for part in parts for place in _values(part)]))
        if container.__class__ is dict and draw(st.booleans()):
            del container[key]
        else:
            container[key] = copy.deepcopy(draw(st.sampled_from(ODD[:-2]) | json_values))
        return document

    return odd()


def _places(value: Any, guests: list[Described], unions: Unions) -> Iterator[tuple[Any, list[Any], int]]:
    """Yield the places of the parts of unions that have a row for a guest's part: the object, its list, and the index.

    If the name of the provider is in the object around the parts, it has the first key of the path.
    """
    tags = {name: union for name, union in unions.items() if any(_fits(form, union) for form in _forms(guests))}
    named = {path_keys(guest["parts"]["around"])[0] for guest in guests if guest["parts"]["around"]}
    for around, name in _values(value):
        items: Any = around[name] if around[name].__class__ is list else []
        for index, item in enumerate(items if around.__class__ is list or named <= around.keys() else ()):
            if item.__class__ is dict and any(is_of(item, union) for union in tags.values()):
                yield around, items, index


def _forms(guests: list[Described]) -> Iterator[Described]:
    return (form for guest in guests for form in guest["forms"])


def _fits(form: Described, union: Described) -> bool:
    tag = union["tag"]
    kinds = {value for path, value in form["part"].items() if path_keys(path)[-1] == tag}
    return bool(kinds & {str(row["constants"].get(tag)) for row in union["rows"]})


def _values(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the container and the key of every value in a JSON value."""
    steps = value.items() if value.__class__ is dict else enumerate(value) if value.__class__ is list else ()
    for key, inner in list(steps):
        yield value, key
        yield from _values(inner)


def _tool(form: Described) -> str:
    name: str = form["name"]
    return name.partition(".")[0]


def _parts(draw: DrawFn, guest: Described, tool: str, provider: Described, call_id: str) -> list[Any]:
    """Draw the parts of a call and a result of a tool, or of one of them."""
    forms = [form for form in guest["forms"] if _tool(form) == tool]
    chosen = forms if draw(st.booleans()) else [draw(st.sampled_from(forms))]
    if guest["parts"]["is_joined"] and len(chosen) > 1:
        # The parts of a call and of a result.
        halves = [[form for form in forms if _is_of_call(form) is is_call] for is_call in (True, False)]
        chosen = [draw(st.sampled_from(half)) for half in halves if half]
    parts: list[Described] = []
    for form in chosen:
        whole = _whole(draw, guest, form, provider, call_id)
        for name, field in form["of_call"].items():
            before = next((part[name] for part in parts if name in part), None)
            put(whole, name, value_of(draw, {}, field["form"], 0) if before is None else before)
        form_parts = [whole] if form["keys"] == [""] else [whole[key] for key in form["keys"]]
        files = whole.get("files", {}).values() if form["keys"] != [""] else ()
        for part in form_parts:
            if guest["parts"]["call_id"]:
                # Some blocks have no id.
                part.setdefault(guest["parts"]["call_id"], call_id)
            if guest["parts"]["issuer"]:
                part[guest["parts"]["issuer"]] = draw(st.sampled_from(guest["issuers"]))
            for name in guest["parts"]["texts"]:
                if part.get(name).__class__ is dict and draw(st.booleans()):
                    part[name] = json.dumps(part[name])
        for file in files:
            file[guest["parts"]["file_id"]] = form_parts[0].get(guest["parts"]["call_id"])
        for part in (*form_parts, *files):
            part |= {"x_field": "unknown"} if draw(st.booleans()) else {}
        parts += [*form_parts[:-1], *files, form_parts[-1]]
    if guest["parts"]["is_joined"]:
        return [{key: value for part in parts for key, value in part.items()}]
    return parts


def _is_of_call(form: Described) -> bool:
    return "call" in str(form["name"]).partition(".")[2]


def _whole(draw: DrawFn, guest: Described, form: Described, provider: Described, call_id: str) -> Described:
    """Draw the object of the parts of a form, with values of the provider's block."""
    rows = [row for row in _rows(provider) if _is_like(row, form["block"])]
    row = draw(st.sampled_from(rows)) if rows else None
    block = {} if row is None else block_of(draw, provider["unions"], row, 2)
    ids = [] if row is None else [path for path, field in row["fields"].items() if field["attribute"] == "call_id"]
    whole: Described = {}
    for path, value in form["part"].items():
        put(whole, path, copy.deepcopy(value))
    # Values that are in one of several places are in the same one.
    name = draw(st.integers(0, 11))
    for path, field in form["fields"].items():
        at, number = field.get("either", (0, 1))
        if at != name % number:
            continue
        if path_keys(path)[-1] == guest["parts"]["call_id"] or field["block"] in ids:
            put(whole, path, call_id)
        elif field["required"] or draw(st.integers(0, 3)):
            value = _at(block, field["block"])
            value = value if isinstance(value, _CLASSES.get(field["form"], ())) else None
            chosen = draw(st.sampled_from(field["examples"])) if field["examples"] else value
            if chosen is not None or not field["examples"]:
                put(whole, path, value_of(draw, {}, field["form"], 0) if chosen is None else copy.deepcopy(chosen))
    if form["rest"] is not None:
        mapped = {
            path_keys(path)[0] for path in (*form["block"], *(field["block"] for field in form["fields"].values()))
        }
        for key, value in block.items():
            if key not in mapped:
                put(whole, ".".join(filter(None, (form["rest"], dotted_key(key)))), value)
    for path, value in form["adds"].items():
        if path_keys(path)[-1] in guest["parts"]["usual"] and _at(whole, path) is None:
            put(whole, path, value)
    return whole


def _rows(provider: Described) -> Iterator[Described]:
    yield from (row for union in provider["unions"].values() for row in union["rows"])
    for pair in provider["pairs"]:
        yield {**pair["call"], "fields": {**pair["call"]["fields"], **pair["result"]["fields"]}}


def _is_like(row: Described, block: Described) -> bool:
    """Return whether a row is that of a block with these constants. Null is no value of a block."""
    kinds = {path: value for path, value in block.items() if value is not None and path != "name"}
    return bool(kinds) and all(row["constants"].get(path) == value for path, value in kinds.items())


def _at(value: Any, path: str) -> Any:
    for key in path_keys(path):
        value = value.get(key) if value.__class__ is dict else None
    return value
