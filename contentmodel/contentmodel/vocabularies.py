"""The vocabulary of an API: the roles of its field names, for audits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.engine.table.answers import FinishReasons
from contentmodel.json import path_keys, snake_name


class Vocabulary(msgspec.Struct, frozen=True):
    """The field names of an API, grouped by the role of their values.

    `structure`: API-specific values that every API has in its own spelling. `references`: names and ids that other
    fields repeat. `data`: JSON of the caller, whose inner fields have neither role. `arguments`: arguments of calls.
    `words`: structure values inside of arguments, each with the keys of its object and of itself. `inner_names`: such
    keys of names. `calls`: objects that are calls. `pairs`: types of objects that contain a call and its result.
    `numbers`: numbers that may be sent as texts. `tools`: lists of tool definitions. `aliases`: other names of top-
    level fields, mapped to the usual ones. `prefixes`: texts before a name in a field. `labels`: texts before a label
    that is no name, such as that of a server. `known`: values that a field declares, which are no names with such a
    text before them. `is_store`: the API is a storage format, with its own fields for the values of all APIs.
    `expanded`: returns a payload with its texts in parts, for APIs that write several values in one text, or with error
    flags, for APIs that have strings for them. `finishes`: fields of an answer for its finish reason, and
    `finishes_of_choices` those of a choice. `finish`: what the values of these fields mean.
    `models`: fields of a request or an answer for the model.
    """

    structure: frozenset[str] = frozenset()
    words: frozenset[tuple[str, str, str]] = frozenset()
    inner_names: frozenset[tuple[str, str]] = frozenset()
    references: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = {}
    prefixes: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    known: frozenset[tuple[str, str]] = frozenset()
    is_store: bool = False
    expanded: Callable[[Any], Any] | None = None
    finishes: frozenset[str] = frozenset()
    finishes_of_choices: frozenset[str] = frozenset()
    finish: FinishReasons | None = None
    models: frozenset[str] = frozenset()


# Fields of the model whose values are API-specific (_API_VALUES), and fields that are names (_NAMES).
_API_VALUES = {
    "role",
    "kind",
    "index",
    "finish_reason",
    "tool_choice",
    "mode",
    "effort",
    "include",
    "modalities",
    "status",
    "parallel_tool_calls",
}
_NAMES = {"name", "call_id", "request_id", "file_id", "url", "title"}


def vocabulary_of(reader: Any) -> Vocabulary:
    """Return the vocabulary of an API, derived from the tables that its adapter describes.

    It contains the fields of type tags, of translated values, and of names of calls, tools and sources.
    """
    described = reader.describe() if hasattr(reader, "describe") else {}
    unions = described.get("unions", {}).values()
    rows = [*described.get("records", {}).values(), *(row for union in unions for row in union["rows"])]
    rows += [half for pair in described.get("pairs", ()) for half in pair.values()]
    tags = {union["tag"] for union in unions if union["tag"]}
    forms = [form for guest in described.get("guests", ()) for form in guest["forms"]]
    objects = (*(row["constants"] for row in rows), *(form["part"] for form in forms))
    fixed = [(path, value) for constants in objects for path, value in constants.items()]
    enums = {path for form in forms for path, field in form["fields"].items() if field["form"] == "enum"}
    constants = {(path_keys(path)[-1], str(value)) for path, value in fixed if value.__class__ is not list}
    fields = {path_keys(path)[-1] for row in rows for path in row["fields"]}
    # A constant with a single value, in a field that other rows map, does not distinguish rows.
    kinds = {step for step, count in Counter(step for step, _ in constants).items() if count > 1 or step not in fields}
    calls = [row for row in rows if row["model"] in ("FunctionCallContent", "CustomToolCallContent")]
    results = [row for row in rows if row["model"].endswith("ResultContent")]
    respelled = [field for row in rows if row.get("protobuf_json") for field in row["fields"].items()]
    arguments = _holding({"arguments"}, [row for row in rows if row["model"].endswith("CallContent")])
    is_store = not getattr(reader, "issuer", "?")
    return Vocabulary(
        structure=_steps(kinds | tags | enums | _holding(_API_VALUES, rows))
        - _steps(_holding({"uri", "media_type"}, rows))
        | frozenset(getattr(reader, "structure", ())),
        words=frozenset((*keys, str(value)) for path, value in fixed for keys in _keys_inside(path, arguments)),
        inner_names=frozenset(keys for path in _holding(_NAMES, rows) for keys in _keys_inside(path, arguments)),
        references=_steps(_holding(_NAMES, rows)),
        data=_steps(
            _holding({"arguments"}, calls, "dict")
            # A store may have both forms; an API has such a field only for calls with inputs of a fixed form.
            | (_holding({"arguments"}, calls, "dict|str") if is_store else set())
            | _holding({"parameters", "schema"}, rows, "dict")
            # A format that is a string or an object: the object is the schema.
            | _holding({"response_format"}, rows, "str or dict")
        ),
        arguments=_steps(arguments),
        aliases={key: value for row in rows for key, value in row.get("aliases", {}).items() if "." not in key},
        prefixes=_before(rows, is_name=True),
        labels=_before(rows, is_name=False),
        known=frozenset(
            (name.rpartition(".")[2], value) for name, values in described.get("values", {}).items() for value in values
        ),
        is_store=is_store,
        expanded=getattr(reader, "expanded", None),
        finishes=_steps(_holding({"finish_reason"}, [row for row in rows if row["model"] == "ChatResponse"])),
        finishes_of_choices=_steps(_holding({"finish_reason"}, [row for row in rows if row["model"] == "ChatChoice"])),
        finish=getattr(reader, "finish", None),
        models=frozenset(
            path
            for row in rows
            if row["model"] in ("ChatRequest", "ChatResponse")
            for path in _holding({"model"}, [row])
            if "." not in path
        ),
        pairs=frozenset(str(pair["call"]["constants"].get("type")) for pair in described.get("pairs", ())),
        numbers=_steps(path for path, field in respelled if field["form"] in ("int", "int|float")),
        tools=_steps(_holding({"tools"}, [row for row in rows if row["model"] == "ChatRequest"])),
        calls=_above(arguments) - _above(path for row in results for path in row["fields"]),
    )


def _keys_inside(path: str, arguments: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the last two keys of a dotted path if it leads into arguments."""
    keys = path_keys(path)
    if len(keys) > 1 and keys[-2] in arguments:
        yield keys[-2], keys[-1]


def _holding(attributes: set[str], rows: Iterable[dict[str, Any]], form: str | None = None) -> set[str]:
    """Return the wire fields that map one of these attributes, in this form."""
    return {
        path
        for row in rows
        for path, field in row["fields"].items()
        if form in (None, field["form"])
        and not attributes.isdisjoint(name.rpartition(".")[2] for name in field["attribute"].split(", "))
    }


def _before(rows: Iterable[dict[str, Any]], *, is_name: bool) -> dict[str, str]:
    """Return the text before the value of each wire field that has one: of names, or of other values."""
    return {
        path_keys(path)[-1]: field["form"][:-1]
        for row in rows
        for path, field in row["fields"].items()
        if field["form"].endswith("*") and (field["attribute"] in _NAMES) is is_name
    }


def _above(paths: Iterable[str]) -> frozenset[str]:
    """Return the second-to-last steps of dotted paths."""
    names = {keys[-2] for path in paths if len(keys := path_keys(path)) > 1}
    return frozenset(names | {snake_name(name) for name in names})


def _steps(paths: Iterable[str]) -> frozenset[str]:
    """Return the last steps of dotted paths, as given and in snake case."""
    names = {path_keys(path)[-1] for path in paths}
    return frozenset(names | {snake_name(name) for name in names})
