"""Schemas in every dialect: adapted schemas conform, allow what the original allows, and arguments are restored."""

from __future__ import annotations

import copy
import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from contentmodel import adapter, audit, convert
from contentmodel.errors import ContentModelError, EncodeError
from contentmodel_adapters.common.arguments import Dialect, restore_arguments
from contentmodel_adapters.common.schemas import (
    ANTHROPIC_STRICT,
    ANTHROPIC_TOOLS,
    GEMINI_JSON_SCHEMA,
    GEMINI_SCHEMA,
    GEMINI_TOOLS,
    OPENAI_LOOSE,
    OPENAI_STRICT,
    adapt,
    for_answers,
)

DIALECTS = [OPENAI_STRICT, OPENAI_LOOSE, GEMINI_SCHEMA, GEMINI_JSON_SCHEMA, ANTHROPIC_TOOLS, ANTHROPIC_STRICT]
DIALECTS.append(GEMINI_TOOLS)
every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)

# The keywords of each dialect, copied from the providers' pages. The tests do not read them from the code.
KEYWORDS = {
    "openai strict": "type title description enum const properties required additionalProperties items anyOf $ref $defs"
    " definitions $schema format pattern minItems maxItems multipleOf minimum maximum exclusiveMinimum"
    " exclusiveMaximum",
    "gemini schema": "type title description enum format nullable default example items minItems maxItems properties"
    " required propertyOrdering minProperties maxProperties minLength maxLength pattern minimum maximum anyOf",
    "gemini json schema": "$id $defs $ref $anchor type format title description enum items prefixItems minItems"
    " maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering"
    # Accepted and ignored.
    " $schema $comment default example examples deprecated readOnly writeOnly pattern minLength maxLength multipleOf"
    " uniqueItems minProperties maxProperties contentEncoding contentMediaType",
    "anthropic strict": "type title description enum const default properties required additionalProperties items"
    " minItems anyOf $ref $defs definitions format pattern",
}
STRICT = ("openai strict", "anthropic strict")


def inner(node: dict[str, Any]) -> list[Any]:
    """Return the direct subschemas of a schema."""
    found: list[Any] = []
    for keyword in ("items", "additionalProperties", "not"):
        found += [node[keyword]] if isinstance(node.get(keyword), dict) else []
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        found += node.get(keyword, [])
    for keyword in ("properties", "$defs", "definitions"):
        found += node.get(keyword, {}).values()
    return found


def faults(node: Any, name: str) -> list[str]:
    """Return the faults of a schema in a dialect."""
    if not isinstance(node, dict):
        return [f"{node!r} is no schema"]
    found = [f"{key} in {node}" for key in node.keys() - set(KEYWORDS[name].split())]
    found += [f"siblings of {node}" for _ in "x" if "$ref" in node and node.keys() - {"$ref", "$defs"}]
    found += strict_faults(node, name) if name in STRICT else []
    found += gemini_faults(node) if name == "gemini schema" else []
    return found + [fault for part in inner(node) for fault in faults(part, name)]


def strict_faults(node: dict[str, Any], name: str) -> list[str]:
    found = [] if node.keys() & {"type", "anyOf", "$ref"} else [f"no type in {node}"]
    types = node.get("type", [])
    if "object" in (types if isinstance(types, list) else [types]):
        found += [] if node.get("additionalProperties") is False else [f"open: {node}"]
        everything = set(node.get("required", [])) == set(node["properties"])
        found += [] if everything or name != "openai strict" else [f"optional: {node}"]
    if "array" in (types if isinstance(types, list) else [types]) and "items" not in node:
        found.append(f"no items: {node}")
    return found


def gemini_faults(node: dict[str, Any]) -> list[str]:
    kind = node.get("type", "STRING")
    found = [f"types in {node}" for _ in "x" if not isinstance(kind, str) or kind.upper() == "NULL"]
    found += [f"beside anyOf: {node}" for _ in "x" if "anyOf" in node and len(node) > 1]
    found += [f"values in {node}" for value in node.get("enum", []) if not isinstance(value, str)]
    found += [f"values of {node}" for _ in "x" if "enum" in node and kind.upper() != "STRING"]
    return found + [f"{name} of {node}" for name in node.get("required", []) if name not in node["properties"]]


def plain_json_schema(node: Any) -> Any:
    """Convert a Gemini schema to JSON Schema: Gemini has `nullable`, and reads `oneOf` as `anyOf`."""
    if isinstance(node, list):
        return [plain_json_schema(part) for part in node]
    if not isinstance(node, dict):
        return node
    result = {key: plain_json_schema(value) for key, value in node.items() if key not in ("nullable", "oneOf")}
    if "oneOf" in node:
        result["anyOf"] = plain_json_schema(node["oneOf"])
    if isinstance(result.get("type"), str):
        result["type"] = result["type"].lower()
    return {"anyOf": [result, {"type": "null"}]} if node.get("nullable") is True else result


def validator(schema: Any) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema)


# Schemas

NAMES = ("a", "b", "c")
LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 1, "title": "T"},
        {"type": "string", "pattern": "^x?$", "format": "date-time"},
        {"type": "string", "pattern": "^(?!y)", "format": "uri", "examples": ["x"]},
        {"type": "integer", "minimum": 0, "description": "d"},
        {"type": "integer", "exclusiveMinimum": 0, "default": 1},
        {"type": "number", "exclusiveMaximum": 2.5, "multipleOf": 0.5},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["string", "null"], "default": None},
        {"type": ["string", "integer"]},
        {"type": ["integer", "null"], "enum": [1, None]},
        {"enum": ["x", "y"]},
        {"enum": ["x", 1, None]},
        {"const": "x"},
        {"const": 1, "title": "One"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        {"$ref": "#/$defs/a"},
        {"$ref": "#/$defs/b", "description": "the second"},
        {"$ref": "#"},
        {},
        True,
    ]
)
NO_OBJECT = {"$ref": "#"}


def composed(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(st.sampled_from(NAMES), parts, max_size=3)
    objects = st.builds(an_object, properties, st.sets(st.sampled_from(NAMES)), st.sampled_from([None, False]))
    unions = st.builds(
        lambda keyword, variants: {keyword: variants, "title": "U"},
        st.sampled_from(["anyOf", "oneOf"]),
        st.lists(parts, min_size=1, max_size=3),
    )
    arrays = st.builds(lambda items: {"type": "array", "items": items, "minItems": 0}, parts)
    tuples = st.builds(
        lambda first: {"type": "array", "prefixItems": first, "minItems": len(first), "maxItems": len(first)},
        st.lists(parts, min_size=1, max_size=2),
    )
    joined = st.builds(lambda one: {"allOf": [one], "description": "j"}, objects)
    return objects | objects | unions | arrays | tuples | joined


def an_object(properties: dict[str, Any], required: set[str], additional: bool | None) -> dict[str, Any]:
    node = {"type": "object", "properties": properties, "required": sorted(required & properties.keys())}
    return node if additional is None else {**node, "additionalProperties": additional}


NODES = st.recursive(LEAVES, composed, max_leaves=8)
ROOTS = st.one_of(NODES.filter(lambda node: isinstance(node, dict)), composed(NODES))
SCHEMAS = st.builds(lambda root, defs: {**root, "$defs": defs}, ROOTS, st.fixed_dictionaries({"a": NODES, "b": NODES}))


class Maker:
    """Draw an instance of a schema in three forms: original, as a strict dialect requires it, and restored."""

    def __init__(self, root: dict[str, Any], draw: Any) -> None:
        self.root, self.draw, self.ambiguous = root, draw, False

    def make(self, node: Any, depth: int) -> tuple[Any, Any, Any]:
        if depth > 6:
            assume(False)
        if not isinstance(node, dict):
            return (0, 0, 0)
        for keyword in ("$ref", "allOf"):
            if keyword in node:
                return self.make(self.target(node), depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                self.ambiguous |= len(node[keyword]) > 1
                return self.make(self.draw(st.sampled_from(node[keyword])), depth + 1)
        if "enum" in node or "const" in node:
            value = self.draw(st.sampled_from(node.get("enum", [node.get("const")])))
            return value, value, value
        return self.typed(node, depth)

    def target(self, node: dict[str, Any]) -> Any:
        if "allOf" in node:
            return node["allOf"][0]
        return self.root if node["$ref"] == "#" else self.root["$defs"][node["$ref"][-1]]

    def typed(self, node: dict[str, Any], depth: int) -> tuple[Any, Any, Any]:
        kind = node.get("type", "integer")
        kind = self.draw(st.sampled_from(kind)) if isinstance(kind, list) else kind
        if kind == "object":
            return self.an_object(node, depth)
        if kind == "array":
            items = node.get("prefixItems", [node["items"]] * self.draw(st.integers(0, 2)) if "items" in node else [])
            made = [self.make(item, depth + 1) for item in items]
            return [one for one, _, _ in made], [one for _, one, _ in made], [one for _, _, one in made]
        value = {"string": "x", "integer": 1, "number": 1.5, "boolean": True}.get(kind)
        return value, value, value

    def an_object(self, node: dict[str, Any], depth: int) -> tuple[Any, Any, Any]:
        made: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = ({}, {}, {})
        for name, part in node.get("properties", {}).items():
            if name in node.get("required", []) or (depth < 3 and self.draw(st.booleans())):
                for result, value in zip(made, self.make(part, depth + 1), strict=True):
                    result[name] = value
                continue
            made[1][name] = None
            if not list(validator(self.root).descend(None, part)):
                made[2][name] = None
        return made


def grounded(node: Any, root: dict[str, Any], above: tuple[Any, ...] = ()) -> bool:
    """Return whether no schema refers to itself at the same value. Validators would recurse infinitely."""
    if not isinstance(node, dict):
        return True
    if any(node is other for other in above):
        return False
    targets = [root if node["$ref"] == "#" else root["$defs"][node["$ref"][-1]]] if "$ref" in node else []
    same_place = [*targets, *node.get("anyOf", []), *node.get("oneOf", []), *node.get("allOf", [])]
    return all(grounded(part, root, (*above, node)) for part in same_place)


def all_grounded(schema: dict[str, Any]) -> bool:
    waiting: list[Any] = [schema]
    for node in waiting:
        waiting += inner(node) if isinstance(node, dict) else []
    return all(grounded(node, schema) for node in waiting)


# Properties


@every_dialect
@given(schema=SCHEMAS)
def test_adapted_schema_conforms_to_dialect(dialect: Dialect, schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    result = adapt(schema, dialect)
    assert schema == before
    if not result.possible:
        assert result.schema is schema
        return
    if dialect.name in KEYWORDS:
        assert faults(result.schema, dialect.name) == []
    assert str(result.schema.get("type")).lower() == "object"
    assert not result.schema.keys() & set(dialect.bare_root)
    validator(plain_json_schema(result.schema)).check_schema(plain_json_schema(result.schema))


@every_dialect
@given(schema=SCHEMAS)
def test_adapt_returns_conforming_schema_unchanged(dialect: Dialect, schema: dict[str, Any]) -> None:
    once = adapt(schema, dialect)
    again = adapt(once.schema, dialect)
    if once.possible:
        assert (again.schema is once.schema, again.lost, again.structural) == (True, [], [])


@every_dialect
@given(schema=SCHEMAS)
def test_adapt_reports_every_lost_validation_keyword(dialect: Dialect, schema: dict[str, Any]) -> None:
    """Each validation keyword that the adapted schema lacks is reported with a path in the schema."""
    result = adapt(schema, dialect)
    lost_keywords = {lost.keyword for lost in result.lost}
    schema_text = str({key: value for key, value in schema.items() if key != "$defs"})
    for keyword in ("minLength", "uniqueItems", "multipleOf", "exclusiveMaximum", "pattern"):
        if result.possible and f"'{keyword}'" in schema_text and f"'{keyword}'" not in str(result.schema):
            assert lost_keywords & {keyword, "anyOf", "oneOf"}
    assert all(lost.path.startswith("$") and lost.why for lost in [*result.lost, *result.reasons])


@every_dialect
@given(schema=SCHEMAS, data=st.data())
def test_adapted_schema_accepts_original_instances_and_arguments_are_restored(
    dialect: Dialect, schema: dict[str, Any], data: Any
) -> None:
    result = adapt(schema, dialect)
    assume(result.possible and all_grounded(schema))
    maker = Maker(schema, data.draw)
    instance, filled, expected = maker.make(schema, 0)
    assume(validator(schema).is_valid(instance))
    arguments = filled if dialect.all_required else instance
    wrapped = any("wrapped in" in change.why for change in result.structural)
    arguments = {"value": arguments} if wrapped else arguments
    assume(isinstance(arguments, dict))
    validator(plain_json_schema(result.schema)).validate(arguments)
    back = restore_arguments(arguments, schema, dialect)
    if not maker.ambiguous:
        assert back == (expected if dialect.all_required else instance)
    validator(schema).validate(back)


WORDS = """type properties required items prefixItems enum const anyOf oneOf allOf not $ref $defs nullable format a
additionalProperties patternProperties minimum exclusiveMinimum minItems pattern description default definitions"""
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
JSON = st.recursive(
    VALUES | st.sampled_from(["object", "array", "string", "#", "#/$defs/a", "#/properties/a", 10**400, 1.5]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.sampled_from(re.split(r"\s+", WORDS)), parts),
    max_leaves=20,
)


@every_dialect
@given(schema=JSON, arguments=JSON)
def test_adapt_accepts_or_rejects_any_json(dialect: Dialect, schema: Any, arguments: Any) -> None:
    try:
        result = adapt(schema, dialect)
    except ContentModelError:
        assert not isinstance(schema, dict)
        return
    if result.possible and dialect.name in KEYWORDS:
        assert faults(result.schema, dialect.name) == []
    restore_arguments(arguments, schema, dialect)


# Examples


def an_example(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def lost(result: Any) -> list[tuple[str, str]]:
    return [(one.path, one.keyword) for one in result.lost]


def test_openai_strict_makes_optional_properties_nullable_and_restore_removes_nulls() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}}}
    result = adapt(schema, OPENAI_STRICT)
    assert result.schema == {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"type": ["integer", "null"]}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    assert [change.path for change in result.structural] == ["$.properties.a", "$.properties.b"]
    assert result.lost == []
    assert restore_arguments({"a": None, "b": None}, schema, OPENAI_STRICT) == {"b": None}


def test_openai_loose_keeps_every_keyword() -> None:
    schema = an_example(a={"type": "string", "minLength": 2}, b={"type": "object", "additionalProperties": True})
    assert adapt(schema, OPENAI_LOOSE).schema is schema
    assert adapt({}, OPENAI_LOOSE).schema == {"type": "object", "properties": {}}
    assert adapt(an_example(a={"type": "array"}), OPENAI_LOOSE).schema["properties"]["a"]["items"] == {}


def test_gemini_schema_inlines_references_and_keeps_only_string_enums() -> None:
    schema = an_example(
        when={"anyOf": [{"$ref": "#/definitions/Day"}, {"type": "null"}], "description": "the day"},
        size={"type": "integer", "enum": [1, 2], "exclusiveMinimum": 0},
        both={"type": ["string", "integer"], "minLength": 1},
    )
    schema["definitions"] = {"Day": {"const": "monday"}}
    result = adapt(schema, GEMINI_SCHEMA)
    assert result.schema["properties"] == {
        "when": {"type": "string", "enum": ["monday"], "description": "the day", "nullable": True},
        "size": {"type": "integer", "minimum": 1},
        "both": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]},
    }
    assert lost(result) == [("$.properties.size.enum", "enum")]


def test_adapt_converts_gemini_types_and_nullable_for_other_dialects() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING", "nullable": True}, "b": {"type": "ARRAY", "items": {"type": "NUMBER"}}},
        "required": ["a"],
    }
    assert adapt(schema, GEMINI_SCHEMA).schema is schema
    assert adapt(schema, ANTHROPIC_TOOLS).schema == {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "array", "items": {"type": "number"}}},
        "required": ["a"],
    }
    assert restore_arguments({"a": None, "b": None}, schema, OPENAI_STRICT) == {"a": None}


def test_gemini_json_schema_keeps_references_without_siblings() -> None:
    schema = an_example(a={"$ref": "#/$defs/A", "description": "one"}, t={"prefixItems": [{"type": "string"}]})
    schema["$defs"] = {"A": {"const": 1, "default": 1}}
    result = adapt(schema, GEMINI_JSON_SCHEMA)
    assert result.schema["properties"]["a"] == {"description": "one", "anyOf": [{"$ref": "#/$defs/A"}]}
    assert result.schema["$defs"] == {"A": {"default": 1, "enum": [1]}}
    assert lost(result) == []


def test_gemini_tools_keeps_every_keyword_below_root_object() -> None:
    properties = {"a": {"type": "integer", "exclusiveMinimum": 0, "default": 1}, "b": {"const": "x"}}
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", **an_example(**properties)}
    assert adapt(schema, GEMINI_TOOLS).schema is schema
    assert adapt({"anyOf": [schema]}, GEMINI_TOOLS).schema["type"] == "object"


def test_gemini_json_schema_unrolls_recursion_through_required_properties() -> None:
    node = an_example(next={"$ref": "#/$defs/Node"})
    optional = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    kept = adapt({**an_example(n={"$ref": "#/$defs/Node"}), "$defs": {"Node": optional}}, GEMINI_JSON_SCHEMA)
    assert kept.schema["$defs"] == {"Node": optional}
    assert kept.lost == []
    unrolled = adapt({**an_example(n={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}, GEMINI_JSON_SCHEMA)
    assert "$ref" not in str(unrolled.schema)
    assert [one.keyword for one in unrolled.lost] == ["$ref"]


def test_anthropic_tools_removes_union_at_the_root() -> None:
    schema = {**an_example(a={}, b={}), "required": [], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    result = adapt(schema, ANTHROPIC_TOOLS)
    assert result.schema == {"type": "object", "properties": {"a": {}, "b": {}}, "required": []}
    assert lost(result) == [("$.anyOf", "anyOf")]
    assert not adapt(an_example(**{"a b": {}}), ANTHROPIC_TOOLS).possible


def test_anthropic_strict_closes_objects_and_keeps_optional_properties() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}, "l": {"type": "array", "items": {"type": "string"}}},
        "required": ["n"],
    }
    result = adapt(schema, ANTHROPIC_STRICT)
    assert result.schema["required"] == ["n"]
    assert result.schema["additionalProperties"] is False
    assert lost(result) == [("$.properties.n.minimum", "minimum")]


@every_dialect
def test_adapt_wraps_union_at_the_root_and_restore_unwraps_it(dialect: Dialect) -> None:
    one, two = an_example(a={"type": "string"}), an_example(b={"type": "integer"})
    schema = {"anyOf": [one, two]}
    result = adapt(schema, dialect)
    assert list(result.schema["properties"]) == ["value"]
    assert [change.keyword for change in result.structural] == ["type"]
    assert restore_arguments({"value": {"b": 1}}, schema, dialect) == {"b": 1}
    assert restore_arguments({"other": 1}, schema, dialect) == {"other": 1}


def test_for_answers_allows_any_root_type_except_in_openai() -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    for dialect in (GEMINI_SCHEMA, GEMINI_JSON_SCHEMA, ANTHROPIC_STRICT):
        assert adapt(schema, for_answers(dialect)).schema is schema
    assert adapt(schema, for_answers(OPENAI_STRICT)).schema["required"] == ["value"]


@pytest.mark.parametrize("dialect", [OPENAI_STRICT, ANTHROPIC_STRICT], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize(
    "part",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {}, "patternProperties": {"^x": {}}},
        {"type": "object"},
        {"type": "object", "properties": {}, "required": ["a"]},
        {"type": "array"},
        {"description": "anything"},
        True,
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "https://example.com/schema"},
    ],
)
def test_strict_dialects_report_unsupported_parts_as_impossible(dialect: Dialect, part: Any) -> None:
    schema = an_example(a=part)
    result = adapt(schema, dialect)
    assert not result.possible
    assert result.schema is schema
    assert all(reason.path.startswith("$.properties.a") and reason.why for reason in result.reasons)


def test_strict_dialects_limit_depth_and_optional_properties() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(11):
        deep = {**an_example(a=deep), "additionalProperties": False}
    assert adapt(deep["properties"]["a"], OPENAI_STRICT).possible
    assert not adapt(deep, OPENAI_STRICT).possible
    many = {f"p{index}": {"type": "string"} for index in range(25)}
    assert not adapt({"type": "object", "properties": many}, ANTHROPIC_STRICT).possible
    assert adapt(an_example(**many), ANTHROPIC_STRICT).possible


@every_dialect
def test_adapt_and_restore_raise_encode_error_for_deep_nesting(dialect: Dialect) -> None:
    schema: dict[str, Any] = {"type": "string"}
    arguments: Any = "x"
    for _ in range(10_000):
        schema, arguments = an_example(a=schema), {"a": arguments}
    with pytest.raises(EncodeError, match="nested too deeply"):
        adapt(schema, dialect)
    circle = {**an_example(a={"$ref": "#"}), "required": []}
    if not dialect.all_required:
        assert restore_arguments(arguments, circle, dialect) is arguments
        return
    with pytest.raises(EncodeError, match="nested too deeply"):
        restore_arguments(arguments, circle, dialect)


@pytest.mark.slow
@every_dialect
def test_inlining_of_references_is_bounded(dialect: Dialect) -> None:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, 40):
        part = {"allOf": [{"$ref": f"#/$defs/d{level - 1}"}], "type": ["object", "string"]}
        definitions[f"d{level}"] = an_example(a=part, b=part)
    result = adapt({**an_example(a={"$ref": "#/$defs/d39"}), "$defs": definitions}, dialect)
    if dialect is GEMINI_SCHEMA:
        assert any("too large" in one.why for one in result.lost)


def test_adapt_replaces_self_reference_with_empty_schema() -> None:
    schema = {**an_example(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert adapt(schema, GEMINI_SCHEMA).schema["properties"] == {"a": {}}
    assert not adapt(schema, ANTHROPIC_STRICT).possible


def test_adapt_merges_all_of_into_one_schema() -> None:
    base = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    schema = an_example(x={"allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"b": {"type": "integer"}}}]})
    schema["$defs"] = {"Base": base}
    assert adapt(schema, OPENAI_STRICT).schema["properties"]["x"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    assert restore_arguments({"x": {"a": "s", "b": None}}, schema, OPENAI_STRICT) == {"x": {"a": "s"}}


def test_restore_arguments_keeps_null_that_matching_variant_allows() -> None:
    cat = {**an_example(kind={"const": "cat"}, n={"type": "string"}), "required": ["kind"]}
    dog = {**an_example(kind={"const": "dog"}, n={"type": ["string", "null"]}), "required": ["kind"]}
    schema = an_example(pets={"type": "array", "items": {"anyOf": [cat, dog]}})
    pets = [{"kind": "cat", "n": None}, {"kind": "dog", "n": None}, {"kind": "cow", "n": None}, 3]
    back = restore_arguments({"pets": pets}, schema, OPENAI_STRICT)
    assert back == {"pets": [{"kind": "cat"}, *pets[1:]]}


def test_restore_arguments_returns_unchanged_arguments_without_copy() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}}
    arguments = {"a": {"b": "x", "c": None}, "d": None}
    for dialect in DIALECTS:
        assert restore_arguments(arguments, schema, dialect) is arguments


# Pydantic schemas


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str | None = None


class Order(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    placed: datetime
    price: Decimal
    grid: list[list[int]] = []
    place: tuple[int, str] = (0, "")
    note: str | None = None
    size: Literal["s", "m"] = "m"
    cat: Cat = Field(default=Cat(kind="cat"), description="another")
    count: int = Field(default=1, gt=0, le=10)


class Map(BaseModel):
    counts: dict[str, int]


@every_dialect
@pytest.mark.parametrize("model", [Tree, Order, Map])
def test_pydantic_schemas_conform_or_are_impossible(dialect: Dialect, model: type[BaseModel]) -> None:
    result = adapt(model.model_json_schema(), dialect)
    closed = {("anthropic strict", Tree), ("anthropic strict", Map), ("openai strict", Map)}
    assert result.possible == ((dialect.name, model) not in closed)
    if result.possible and dialect.name in KEYWORDS:
        assert faults(result.schema, dialect.name) == []


def test_restore_arguments_removes_nulls_of_pydantic_defaults() -> None:
    schema = Order.model_json_schema()
    given_back = {
        "pet": {"kind": "cat", "lives": None},
        "placed": "2026-11-21T00:00:00Z",
        "price": 1,
        **dict.fromkeys(("grid", "place", "note", "size", "cat", "count")),
    }
    validator(adapt(schema, OPENAI_STRICT).schema).validate(given_back)
    back = restore_arguments(given_back, schema, OPENAI_STRICT)
    assert back == {"pet": {"kind": "cat"}, "placed": "2026-11-21T00:00:00Z", "price": 1, "note": None}
    assert Order.model_validate(back).count == 1


def test_recursive_pydantic_schema_keeps_references_or_is_unrolled() -> None:
    schema = Tree.model_json_schema()
    strict = adapt(schema, OPENAI_STRICT)
    assert strict.schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    tree = {"value": 1, "children": [{"value": 2, "children": None}]}
    assert restore_arguments(tree, schema, OPENAI_STRICT) == {"value": 1, "children": [{"value": 2}]}
    unrolled = adapt(schema, GEMINI_SCHEMA)
    assert re.findall("unrolled", str(unrolled.lost)) == ["unrolled"]


@pytest.mark.parametrize("keyword", ["minLength", "default"])
def test_adapt_reports_path_of_lost_keyword(keyword: str) -> None:
    schema = an_example(age={"type": "string", keyword: 3 if keyword == "minLength" else "x"})
    assert lost(adapt(schema, OPENAI_STRICT)) == [(f"$.properties.age.{keyword}", keyword)]


@pytest.mark.parametrize("target", ["mistral-chat", "otel-gen-ai"])
@pytest.mark.parametrize(("whole", "part"), [("OBJECT", "STRING"), (6, 1)])
def test_types_of_gemini_are_written_as_those_of_json_schema(target: str, whole: Any, part: Any) -> None:
    parameters = {"type": whole, "properties": {"city": {"anyOf": [{"type": part}]}, "days": {"type": "NUMBER"}}}
    payload = {
        "contents": [{"role": "user", "parts": [{"text": "Is it sunny?"}]}],
        "tools": [{"functionDeclarations": [{"name": "weather", "parameters": parameters}]}],
    }
    encoded = convert(payload, source="google-generate-content", target=target, model="m")
    request = adapter(target).decode_request(encoded.payload)
    assert [getattr(tool, "parameters", None) for tool in request.tools] == [
        {"type": "object", "properties": {"city": {"anyOf": [{"type": "string"}]}, "days": {"type": "number"}}}
    ]
    assert {loss.code for loss in encoded.losses} & {"schema-converted"} == (
        set() if whole == "OBJECT" else {"schema-converted"}
    )
    assert audit(payload, encoded) == []
