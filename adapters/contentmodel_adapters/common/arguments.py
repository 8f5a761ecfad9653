"""Read JSON Schemas node by node, and restore returned arguments to the schema that a tool's author wrote.

Covers JSON Schema (draft 2020-12, older keywords that generators still emit, and OpenAPI's `nullable`) and the changes
that a `Dialect` makes to arguments. `schemas` lists the keywords that each API takes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, NamedTuple, TypeGuard
from urllib.parse import unquote

import msgspec

from contentmodel.authoring import child_path, whole_number
from contentmodel.errors import EncodeError

Node = dict[str, Any]

TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
DEFINITIONS = ("$defs", "definitions")
UNIONS = ("anyOf", "oneOf")
MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "patternProperties", "dependentSchemas", *DEFINITIONS)
WRAPPER = "value"
_MISSING = object()


def names(text: str) -> frozenset[str]:
    """Return the names in a text, as a set of keywords."""
    return frozenset(text.split())


ONE = names("items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties")
ANNOTATIONS = names(
    "title description default example examples deprecated readOnly writeOnly $comment $schema $id $anchor"
)


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON Schema that one field of one API takes.

    `keywords`: the allowed keywords, None for all. `formats`: the allowed values of `format`, None for all.
    `enum_types`: the types that values of `enum` may have. `bare_root`: keywords that the root must not have.
    `object_root`: whether the root must be an object; `answers_too`: whether also in the schema of an answer.
    `references`: whether `$ref` is allowed (never with siblings); `cycles`: where it may be recursive: "anywhere",
    "optional" (each cycle passes through an optional property) or "nowhere". `closed`: objects allow only the
    properties that they name, every schema has a type, and `pattern` has neither lookaround nor back-references.
    `all_required`: objects also require all their properties. `nullable`: null is expressed by that keyword, a schema
    has one type, and `anyOf` has no siblings. `whole`: an array must have items, the root must have properties.
    `names`: a pattern for the names of the root's properties. `most`: the limits of the counts of `counted`;
    `most_min_items`: the limit of `minItems`.
    """

    name: str
    keywords: frozenset[str] | None = None
    formats: frozenset[str] | None = None
    enum_types: frozenset[str] = names("string number integer boolean null")
    bare_root: tuple[str, ...] = ("anyOf", "oneOf", "allOf", "enum", "const", "not")
    object_root: bool = True
    answers_too: bool = False
    references: bool = True
    cycles: str = "anywhere"
    closed: bool = False
    all_required: bool = False
    nullable: bool = False
    whole: bool = False
    most_min_items: float = math.inf
    names: str | None = None
    most: dict[str, int] = {}


class Lost(NamedTuple):
    """A keyword that was removed or changed: its JSON path in the original schema, its name, and the reason.

    If `keyword` is None, the whole schema at the path was removed.
    """

    path: str
    keyword: str | None
    why: str


class Adapted(msgspec.Struct, frozen=True):
    """A schema in a dialect.

    `lost`: the constraints that were removed or changed. `structural`: changes of form, which `restore_arguments`
    undoes. `reasons`: why the dialect has no such schema; `schema` is then the original one. Parts of the schema may be
    shared with the original: treat it as read-only.
    """

    schema: Node
    lost: list[Lost] = []
    structural: list[Lost] = []
    reasons: list[Lost] = []

    @property
    def possible(self) -> bool:
        """True if the dialect can express this schema without rejecting values that it allows."""
        return not self.reasons


def restore_arguments(arguments: Any, original_schema: Node, dialect: Dialect) -> Any:
    """Return arguments in the form of the original schema, from arguments for `adapt(original_schema, dialect).schema`.

    A wrapped root is unwrapped. If the dialect makes every property required, a null is removed if its property was
    optional and not nullable; in a union, the first variant that the value fits decides, preferably one that it fits
    unchanged. Unchanged parts are the same objects. Raise EncodeError if the nesting is too deep.
    """
    restorer = _Restorer(original_schema)
    try:
        if isinstance(original_schema, dict) and wraps(restorer.reader, dialect):
            if not isinstance(arguments, dict) or arguments.keys() != {WRAPPER}:
                return arguments
            arguments = arguments[WRAPPER]
        return restorer.value(arguments, original_schema) if dialect.all_required else arguments
    except RecursionError:
        raise EncodeError("tool arguments are nested too deeply") from None


def wraps(reader: Reader, dialect: Dialect) -> bool:
    """Return whether the root is not allowed as it is, and is wrapped in an object with the property `value`."""
    return dialect.object_root and not _is_allowed_root(reader.plain(reader.root), dialect.bare_root)


def _is_allowed_root(node: Node, bare: tuple[str, ...]) -> bool:
    if not node.keys() - ANNOTATIONS - {*DEFINITIONS}:
        return True
    types = types_of(node)
    if types is not None and set(types) - {"null"} != {"object"}:
        return False
    return "properties" in node or (types is not None and not any(keyword in node for keyword in bare))


def types_of(node: Node) -> list[str] | None:
    """Return the types that a schema names; None if it names no valid type."""
    value = node.get("type")
    names = value if isinstance(value, list) else [value]
    types = [name.lower() for name in names if isinstance(name, str) and name.lower() in TYPES]
    return list(dict.fromkeys(types)) or None


def type_of(value: Any) -> str:
    """Return the JSON Schema type of a JSON value."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(value.__class__, "null")


def canonical(node: Node) -> Node:
    """Return the schema in the form of draft 2020-12.

    Types are in lower case; `nullable` and a list under `items` are replaced. Counts become numbers: OpenAPI's subset,
    as JSON of protocol buffers, has them as strings.
    """
    if any(node.get(keyword).__class__ is str for keyword in COUNTS):
        node = {key: int(value) if _is_count(key, value) else value for key, value in node.items()}
    types, type_value = types_of(node), node.get("type")
    names = type_value if isinstance(type_value, list) else [type_value]
    if types is not None and any(isinstance(name, str) and name != name.lower() for name in names):
        node = {**node, "type": types if isinstance(type_value, list) else types[0]}
    if isinstance(node.get("items"), list):
        other_fields = {key: value for key, value in node.items() if key not in ("items", "additionalItems")}
        additional = {"items": node["additionalItems"]} if "additionalItems" in node else {}
        node = {**other_fields, "prefixItems": node["items"], **additional}
    if node.get("nullable") is True and node.keys() & {"type", "enum", "const", "$ref", "allOf", *UNIONS}:
        node = with_null({key: value for key, value in node.items() if key != "nullable"})
    return node


COUNTS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})


def _is_count(keyword: str, value: Any) -> bool:
    return keyword in COUNTS and value.__class__ is str and whole_number(value, 19) is not None


def with_null(node: Node) -> Node:
    """Return the schema with null allowed as well."""
    if "$ref" in node or "allOf" in node:
        return {"anyOf": [node, {"type": "null"}]}
    result = dict(node)
    types = types_of(node)
    if types is not None and "null" not in types:
        result["type"] = [*types, "null"]
    if "const" in node and node["const"] is not None:
        result["enum"] = [result.pop("const"), None]
    elif isinstance(node.get("enum"), list) and None not in node["enum"]:
        result["enum"] = [*node["enum"], None]
    for keyword in UNIONS:
        if isinstance(node.get(keyword), list) and {"type": "null"} not in node[keyword]:
            result[keyword] = [*node[keyword], {"type": "null"}]
    return result


def merged(parts: list[Node]) -> tuple[Node, list[str]]:
    """Return one schema that combines all `parts`, and the conflicting keywords, of which the first value is kept."""
    result: Node = {}
    conflicts: list[str] = []
    for part in parts:
        for key, value in part.items():
            if key not in result:
                result[key] = value
            elif key not in ANNOTATIONS and result[key] != value:
                result[key], is_exact = _both(key, result[key], value)
                conflicts += [] if is_exact else [key]
    return result, conflicts


def _both(key: str, one: Any, other: Any) -> tuple[Any, bool]:
    """Return the combination of both values of a keyword, and whether it is exact."""
    if key == "properties" and isinstance(one, dict) and isinstance(other, dict):
        shared = {
            name: {"allOf": [one[name], other[name]]} for name in one if name in other and one[name] != other[name]
        }
        return {name: shared.get(name, one.get(name, other.get(name))) for name in [*one, *other]}, True
    if key == "required" and isinstance(one, list) and isinstance(other, list):
        return [*one, *(name for name in other if name not in one)], True
    if key == "type":
        first, second = types_of({"type": one}), types_of({"type": other})
        common = [name for name in first or [] if name in (second or [])]
        return (common if len(common) > 1 else common[0], True) if common else (one, False)
    return one, False


def children(node: Node) -> Iterator[tuple[str, int | str | None, Any]]:
    """Yield every direct subschema of a node: the keyword, the index or name under it, and the schema."""
    for keyword, value in node.items():
        if keyword in ONE and isinstance(value, dict | bool):
            yield keyword, None, value
        elif keyword in MANY and isinstance(value, list):
            yield from ((keyword, index, inner) for index, inner in enumerate(value))
        elif keyword in NAMED and isinstance(value, dict):
            yield from ((keyword, name, inner) for name, inner in value.items())


class Reader:
    """Look up parts of a schema by pointer. `$ref` and `allOf` of each node are resolved once."""

    def __init__(self, root: Any) -> None:
        self.root = root
        # Keyed by id. The node is stored as well, so that its id is not reused.
        self._plain: dict[int, tuple[Any, Node]] = {}
        self._null: dict[int, bool] = {}

    def target(self, pointer: str) -> Any:
        """Return the schema that a local `$ref` points to; None if there is none."""
        value = self.root if pointer == "#" or pointer.startswith("#/") else _MISSING
        for step in unquote(pointer[1:]).split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict):
                value = value.get(step, _MISSING)
            elif isinstance(value, list) and (index := whole_number(step)) is not None and index < len(value):
                value = value[index]
            else:
                return None
        return value if isinstance(value, dict | bool) else None

    def parts(self, node: Node) -> tuple[list[Node], list[str]]:
        """Return all schemas that apply at a node (itself, its `$ref` and `allOf`), and the pointers followed."""
        parts: list[Node] = []
        pointers: list[str] = []
        pending: list[Any] = [node]
        while pending:
            part = pending.pop()
            if not isinstance(part, dict):
                continue
            part = canonical(part)
            parts.append(without_keywords(part, "$ref", "allOf", *DEFINITIONS))
            members = part["allOf"] if isinstance(part.get("allOf"), list) else []
            pending += reversed(members)
            pointer = part.get("$ref")
            if isinstance(pointer, str) and pointer not in pointers:
                pointers.append(pointer)
                pending.append(self.target(pointer))
        return parts, pointers

    def plain(self, node: Node) -> Node:
        """Return the node in the form of `canonical`, with `$ref` and `allOf` resolved."""
        cached = self._plain.get(id(node))
        if cached is None:
            cached = self._plain[id(node)] = (node, merged(self.parts(node)[0])[0])
        return cached[1]

    def admits_null(self, source: Any) -> bool:
        """Return whether a schema allows null, judged by types, values and unions."""
        if not isinstance(source, dict):
            return source is not False
        node = self.plain(source)
        if id(source) not in self._null:
            self._null[id(source)] = False
            self._null[id(source)] = self._null_fits(node)
        return self._null[id(source)]

    def _null_fits(self, node: Node) -> bool:
        types, values = types_of(node), node.get("enum")
        unlisted = isinstance(values, list) and None not in values
        if (types is not None and "null" not in types) or node.get("const") is not None or unlisted:
            return False
        unions = {keyword: node[keyword] for keyword in UNIONS if isinstance(node.get(keyword), list)}
        fitting = {keyword: sum(map(self.admits_null, variants)) for keyword, variants in unions.items()}
        return 0 not in fitting.values() and fitting.get("oneOf", 1) == 1


def names_of(node: Node, keyword: str = "required") -> list[str]:
    """Return the list of names under a keyword, without items that are not strings."""
    names = node.get(keyword)
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def named(node: Node, keyword: str = "properties") -> Node:
    """Return the schemas by name under a keyword."""
    schemas = node.get(keyword)
    return schemas if isinstance(schemas, dict) else {}


def circles(reader: Reader, *, every: bool) -> set[str]:
    """Return the pointers in or between cycles of references.

    Unless `every`, only cycles through required properties count.
    """
    root = reader.root if isinstance(reader.root, dict) else {}
    pending = ["#", *(pointer_to(keyword, name) for keyword in DEFINITIONS for name in named(root, keyword))]
    graph: dict[str, set[str]] = {}
    for pointer in pending:
        if pointer not in graph:
            graph[pointer] = set(_references(reader.target(pointer), every))
            pending += sorted(graph[pointer])
    return set(_turned(_turned(graph)))


def _turned(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the graph with its edges reversed, without nodes that lead to no cycle."""
    back: dict[str, set[str]] = {pointer: set() for pointer in graph}
    for pointer in graph:
        for following in graph[pointer]:
            back[following].add(pointer)
    ends = [pointer for pointer in graph if not graph[pointer]]
    for end in ends:
        for before in back[end]:
            graph[before].discard(end)
            ends += [] if graph[before] else [before]
    removed = set(ends)
    return {pointer: before - removed for pointer, before in back.items() if pointer not in removed}


def pointer_to(keyword: str, name: str) -> str:
    """Return the reference to a definition of the root."""
    return f"#/{keyword}/" + name.replace("~", "~0").replace("/", "~1")


def name_in(pointer: str) -> str:
    """Return the name of the definition that a reference points to."""
    return pointer.split("/")[2].replace("~1", "/").replace("~0", "~")


def _references(source: Any, every: bool) -> Iterator[str]:
    """Yield the pointers in a schema, without those of its definitions; unless `every`, without optional properties."""
    pending = [source]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        required = set(names_of(node))
        for keyword, name, inner in children(node):
            optional = keyword == "properties" and name not in required and not every
            pending += [] if optional or keyword in DEFINITIONS else [inner]


def counted(schema: Node) -> dict[str, int]:
    """Count what APIs limit: `levels` of objects, properties, enum values, optional properties, unions."""
    counts = {"levels": 0, "properties": 0, "values": 0, "optional": 0, "unions": 0}
    pending: list[tuple[Any, int]] = [(schema, 0)]
    while pending:
        node, level = pending.pop()
        if not isinstance(node, dict):
            continue
        properties, values = named(node), node.get("enum")
        level += bool(properties)
        counts["levels"] = max(counts["levels"], level)
        counts["properties"] += len(properties)
        counts["optional"] += len(properties.keys() - set(names_of(node)))
        counts["values"] += len(values) if isinstance(values, list) else 0
        counts["unions"] += isinstance(node.get("type"), list) or any(keyword in node for keyword in UNIONS)
        pending += [(inner, level) for keyword, _, inner in children(node)]
    return counts


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


OF_TYPE = {
    "string": names("format pattern minLength maxLength"),
    "number": names("format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
    "array": names("items prefixItems minItems maxItems uniqueItems contains"),
    "object": names("properties required additionalProperties patternProperties propertyOrdering")
    | names("minProperties maxProperties propertyNames"),
}
OF_TYPE["integer"] = OF_TYPE["number"]
OF_SOME_TYPE = frozenset().union(*OF_TYPE.values())
SHAPES = names("properties items prefixItems enum const additionalProperties patternProperties")
LOOKS_AROUND = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k<|\(\?P=|\\[bB]")
INCLUSIVE = (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1))
GUESSES = (("object", names("properties required additionalProperties")), ("array", names("items prefixItems")))


FORMS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), is_number),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"), is_number),
    **dict.fromkeys(("title", "description", "format", "pattern", "$schema"), lambda value: isinstance(value, str)),
    **dict.fromkeys(("required", "propertyOrdering"), lambda value: value == names_of({"required": value})),
    "prefixItems": lambda value: isinstance(value, list),
    "additionalProperties": lambda value: isinstance(value, dict | bool),
    "nullable": lambda value: isinstance(value, bool),
}


def without_keywords(node: Node, *keywords: str) -> Node:
    """Return the schema without these keywords."""
    return {key: value for key, value in node.items() if key not in keywords}


def upper(schema: Node, source: Any, dialect: Dialect) -> Node:
    """Return the schema with its type in capitals if the source has it so and the dialect allows it."""
    type_name = source.get("type") if isinstance(source, dict) else None
    if dialect.nullable and isinstance(type_name, str) and type_name.isupper() and isinstance(schema.get("type"), str):
        return {**schema, "type": schema["type"].upper()}
    return schema


def type_keyword(types: list[str] | None) -> Node:
    """Return the `type` keyword for these types; {} if there are none."""
    return {"type": types if len(types) > 1 else types[0]} if types else {}


def place_of(pointer: str) -> str:
    """Return the JSON path of a reference's target."""
    steps = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    return reduce(child_path, steps, "$")


def place_in(path: str, keyword: str, key: int | str | None) -> str:
    """Return the JSON path of a subschema."""
    path = child_path(path, keyword)
    return path if key is None else f"{path}[{key}]" if isinstance(key, int) else child_path(path, key)


class _Restorer:
    """Walk arguments and the original schema together."""

    def __init__(self, schema: Any) -> None:
        self.reader = Reader(schema)
        self._fitting: dict[tuple[int, int, bool], bool] = {}

    def value(self, value: Any, source: Any) -> Any:
        if not isinstance(value, dict | list) or not isinstance(source, dict):
            return value
        node = self.reader.plain(source)
        variants = self._variants(node)
        if variants:
            fitting = (
                variant for adapted in (False, True) for variant in variants if self.fits(value, variant, adapted)
            )
            return self.value(value, next(fitting, None))
        return self._object(value, node) if isinstance(value, dict) else self._array(value, node)

    def _variants(self, node: Node) -> list[Any]:
        """Return the variants of a union; [] if the node has a shape itself."""
        unions = [node[keyword] for keyword in UNIONS if isinstance(node.get(keyword), list)]
        return unions[0] if unions and not node.keys() & {"properties", "items", "prefixItems"} else []

    def _object(self, value: Node, node: Node) -> Node:
        properties, required = named(node), set(names_of(node))
        result = {}
        for name, inner in value.items():
            source = properties.get(name, node.get("additionalProperties"))
            if not (name in properties and self._was_absent(inner, name not in required, source)):
                result[name] = self.value(inner, source)
        is_unchanged = len(result) == len(value) and all(result[name] is inner for name, inner in value.items())
        return value if is_unchanged else result

    def _was_absent(self, inner: Any, optional: bool, source: Any) -> bool:
        return inner is None and optional and not self.reader.admits_null(source)

    def _array(self, value: list[Any], node: Node) -> list[Any]:
        result = [self.value(inner, _item(node, index)) for index, inner in enumerate(value)]
        return value if all(map(lambda a, b: a is b, result, value)) else result

    def fits(self, value: Any, source: Any, adapted: bool) -> bool:
        """Return whether a value has the types, values and names of a schema, or with `adapted`, of its strict form."""
        if not isinstance(source, dict):
            return source is not False
        node = self.reader.plain(source)
        key = (id(value), id(source), adapted)
        if key not in self._fitting:
            self._fitting[key] = True
            self._fitting[key] = self._fits(value, node, adapted)
        return self._fitting[key]

    def _fits(self, value: Any, node: Node, adapted: bool) -> bool:
        types = types_of(node)
        if types is not None and not is_of(value, types):
            return False
        values = [node["const"]] if "const" in node else node.get("enum")
        if isinstance(values, list) and not any(
            value == allowed and type_of(value) == type_of(allowed) for allowed in values
        ):
            return False
        variants = self._variants(node)
        if variants:
            return any(self.fits(value, variant, adapted) for variant in variants)
        if isinstance(value, dict):
            return self._object_fits(value, node, adapted)
        items = enumerate(value) if isinstance(value, list) else ()
        return all(self.fits(inner, _item(node, index), adapted) for index, inner in items)

    def _object_fits(self, value: Node, node: Node, adapted: bool) -> bool:
        properties, required = named(node), set(names_of(node))
        if any(name not in value for name in required):
            return False
        for name, inner in value.items():
            source = properties.get(name, node.get("additionalProperties", not adapted))
            absent = adapted and self._was_absent(inner, name in properties and name not in required, source)
            if not absent and not self.fits(inner, source, adapted):
                return False
        return True


def _item(node: Node, index: int) -> Any:
    """Return the schema of one element of an array."""
    first = node.get("prefixItems")
    return first[index] if isinstance(first, list) and index < len(first) else node.get("items")


def is_of(value: Any, types: list[str]) -> bool:
    """Return whether a value has one of these types; 1.0 is an integer too."""
    kind = type_of(value)
    is_whole = kind == "number" and "integer" in types and value.is_integer()
    return kind in types or (kind == "integer" and "number" in types) or is_whole
