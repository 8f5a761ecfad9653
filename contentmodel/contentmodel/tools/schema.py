"""JSON Schemas of arguments: make them from types, simplify them for a model, and check given ones.

A given schema may come from an untrusted file or server. If it could make validation run without end, it is refused
when the tool is defined: references out of the document, references without a target, circular references that apply to
the same value, and excessive nesting or size.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import msgspec

from contentmodel.errors import ContentModelError, Fault
from contentmodel.json import whole_number
from contentmodel.schemas import DATA, NAMED, tidied
from contentmodel.tools.faults import shown
from contentmodel.tools.keywords import OverBudget
from contentmodel.tools.validation import SchemaValidator, counted

MAX_DEPTH = 64
"""The maximum nesting of a given schema."""
MAX_NODES = 20_000
"""The maximum number of values, of any type, in a given schema."""
MAX_CHARACTERS = 2_000_000
"""The maximum number of characters of all names and texts in a given schema."""
MAX_NAME = 1000
"""The maximum number of characters of one name (a key) in a given schema."""

# Keywords that apply to the same value, not to a part of it: a circle of these never ends.
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")


class ToolDefinitionError(ContentModelError, ValueError):
    """The definition of a tool, or of a set of tools, is invalid. `faults` has all faults."""

    def __init__(self, tool: str, faults: list[str]) -> None:
        self.tool, self.faults = tool, tuple(faults)
        super().__init__(f"{tool}: {'; '.join(faults)}")


class UnenforcedPattern(UserWarning):
    """A pattern of a JSON Schema is not enforced: it needs lookaround or back-references, or is too large."""


def type_schema(kind: Any) -> dict[str, Any]:
    """Return the simplified JSON Schema of a model, Struct, dataclass or TypedDict. Raise TypeError if it has none."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return tidied(msgspec.json.schema(kind))
    return tidied(pydantic_schema(kind))


def pydantic_schema(kind: Any) -> dict[str, Any]:
    """Return pydantic's JSON Schema of `kind`. Raise TypeError if there is none."""
    import warnings

    from pydantic import PydanticUserError, TypeAdapter
    from pydantic.json_schema import PydanticJsonSchemaWarning

    try:
        with warnings.catch_warnings():
            # The model does not need a default that has no JSON form, such as a sentinel.
            warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
            schema = TypeAdapter(kind).json_schema(mode="validation")
    except PydanticUserError as error:
        raise TypeError(str(error.message).partition("\n")[0].partition(" Set `")[0]) from error
    return _with_structs(schema)


class StructSchema:
    """Annotation metadata with which pydantic reads and describes a msgspec Struct."""

    def __init__(self, kind: type[msgspec.Struct]) -> None:
        self.kind = kind

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import PydanticCustomError, core_schema

        def read(value: Any) -> Any:
            if isinstance(value, self.kind):
                return value
            try:
                return msgspec.convert(value, self.kind, str_keys=True)
            except (msgspec.ValidationError, UnicodeEncodeError) as error:
                raise PydanticCustomError("struct", "{fault}", {"fault": str(error)}) from None

        return core_schema.no_info_plain_validator_function(read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        # pydantic follows every reference that it sees, so msgspec's schemas are inserted afterwards.
        return {_STRUCT: self.kind}


_STRUCT = "contentmodel:struct"


def _with_structs(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `schema` with the placeholders of Structs replaced by their schemas, and all definitions merged."""
    definitions: dict[str, Any] = dict(schema.pop("$defs", {}))

    def put(value: Any) -> Any:
        if isinstance(value, list):
            return [put(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind = value.get(_STRUCT)
        if kind is None:
            return {key: put(item) for key, item in value.items()}
        inlined = msgspec.json.schema(kind)
        for name, definition in inlined.pop("$defs", {}).items():
            if definitions.setdefault(name, definition) != definition:
                raise TypeError(f"two different types have the name {name}: rename one")
        return {**inlined, **{key: item for key, item in value.items() if key != _STRUCT}}

    put_in = put(schema)
    for name, definition in list(definitions.items()):
        definitions[name] = put(definition)
    return {**put_in, "$defs": definitions} if definitions else put_in


def schema_faults(schema: Any) -> list[Fault]:
    """Return the faults, with their JSON paths, that make a given schema unusable for arguments."""
    size_fault = _size_fault(schema)
    if size_fault is not None:
        return [size_fault]
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return [Fault("$", "the type of the schema must be object")]
    return _reference_faults(schema) or _dialect_faults(schema) or _pattern_faults(schema)


def unenforced_patterns(schema: dict[str, Any]) -> list[Fault]:
    """Return the patterns of a valid schema that are not enforced, with the reasons."""
    with counted() as budget:
        patterns = [(path, text, budget.pattern(text).problem) for path, text in _patterns(schema)]
    return [
        Fault(path, f"the pattern {shown(text)} is not enforced: {problem}")
        for path, text, problem in patterns
        if problem
    ]


def _patterns(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for path, node in _nodes(schema, "$"):
        if isinstance(node.get("pattern"), str):
            yield f"{path}.pattern", node["pattern"]
        named = node.get("patternProperties")
        yield from ((f"{path}.patternProperties", name) for name in (named if isinstance(named, dict) else ()))


def _pattern_faults(schema: dict[str, Any]) -> list[Fault]:
    try:
        unenforced_patterns(schema)
    except OverBudget as over:
        return [Fault("$", f"the patterns of the schema are too many or too large: compiling them takes {over}")]
    return []


def _size_fault(schema: Any) -> Fault | None:
    todo, nodes, characters = [(schema, 0)], 0, 0
    while todo:
        value, depth = todo.pop()
        nodes += 1
        names = list(filter(_is_text, value)) if isinstance(value, dict) else [value] if _is_text(value) else []
        characters += sum(map(len, names))
        if depth > MAX_DEPTH:
            return Fault("$", f"the schema is nested deeper than {MAX_DEPTH} levels")
        if nodes > MAX_NODES:
            return Fault("$", f"the schema has more than {MAX_NODES} values")
        if characters > MAX_CHARACTERS:
            return Fault("$", f"the names and texts of the schema have more than {MAX_CHARACTERS:,} characters")
        if isinstance(value, dict) and any(len(name) > MAX_NAME for name in names):
            return Fault("$", f"a name in the schema has more than {MAX_NAME:,} characters")
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        todo += [(item, depth + 1) for item in inside]
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _reference_faults(schema: dict[str, Any]) -> list[Fault]:
    faults = []
    for path, node in _nodes(schema, "$"):
        for keyword in ("$ref", "$dynamicRef"):
            target = node.get(keyword)
            if target is not None and not (isinstance(target, str) and _resolved(schema, target) is not None):
                faults.append(Fault(path, f"{keyword} {target!r} does not refer to a schema in this document"))
    return faults or _circles(schema)


def _circles(schema: dict[str, Any]) -> list[Fault]:
    """Return references that are circular, or chained too deeply, and apply to the same value."""
    checked: set[int] = set()

    def circles(node: Any, above: tuple[int, ...]) -> bool:
        if not isinstance(node, dict) or id(node) in checked:
            return False
        if id(node) in above or len(above) > MAX_DEPTH:
            return True
        is_circular = any(circles(inner, (*above, id(node))) for inner in _same_value(schema, node))
        checked.add(id(node))
        return is_circular

    return [
        Fault(path, f"$ref is circular, or refers through more than {MAX_DEPTH} schemas")
        for path, node in _nodes(schema, "$")
        if isinstance(node.get("$ref"), str) and circles(node, ())
    ]


def _same_value(schema: dict[str, Any], node: dict[str, Any]) -> Iterator[Any]:
    """Yield the schemas that apply to the same value as `node`."""
    for keyword in ("$ref", "$dynamicRef"):
        if isinstance(node.get(keyword), str):
            yield _resolved(schema, node[keyword])
    for keyword in _IN_PLACE:
        inner = node.get(keyword)
        yield from inner if isinstance(inner, list) else (inner,)
    dependent = node.get("dependentSchemas")
    yield from dependent.values() if isinstance(dependent, dict) else ()


def _nodes(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of a schema with its JSON path. Data (defaults, constants) is skipped."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            named = key in NAMED and isinstance(item, dict)
            for inner, inner_path in (
                [(m, f"{path}.{key}.{n}") for n, m in item.items()] if named else [(item, f"{path}.{key}")]
            ):
                if named or key not in DATA:
                    yield from _nodes(inner, inner_path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _nodes(item, f"{path}[{index}]")


def _resolved(schema: dict[str, Any], reference: str) -> Any:
    """Return the target of a JSON Pointer reference; None if it is missing or outside of the document."""
    if not reference.startswith("#") or (reference != "#" and not reference.startswith("#/")):
        return None
    target: Any = schema
    for part in reference[2:].split("/") if reference != "#" else ():
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and key in target:
            target = target[key]
        elif isinstance(target, list) and (index := whole_number(key)) is not None and index < len(target):
            target = target[index]
        else:
            return None
    return target if isinstance(target, dict | bool) else None


def _dialect_faults(schema: dict[str, Any]) -> list[Fault]:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    checker = SchemaValidator(Draft202012Validator.META_SCHEMA)
    try:
        return checker.read(schema, lambda error: [Fault(error.json_path, error.message[:200])])
    except OverBudget as over:
        return [Fault("$", f"checking the schema takes {over}")]


def is_typed_dict(kind: Any) -> bool:
    """Return whether `kind` is a TypedDict class."""
    from typing import is_typeddict

    from typing_extensions import is_typeddict as is_backport

    return is_typeddict(kind) or is_backport(kind)


def is_schema_type(kind: Any) -> bool:
    """Return whether `kind` is a pydantic model, msgspec Struct, dataclass or TypedDict."""
    if not isinstance(kind, type):
        return False
    is_known = issubclass(kind, msgspec.Struct) or dataclasses.is_dataclass(kind) or hasattr(kind, "model_json_schema")
    return is_known or is_typed_dict(kind)
