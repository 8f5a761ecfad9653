"""The JSON Schema that each API takes, and the adaptation of schemas to it, for tools and answers.

A `Dialect` is data; `adapt` is one walk for all dialects. `arguments.restore_arguments` undoes its effect on returned
arguments. Neither depends on a wire format.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec

from contentmodel.authoring import child_path, kind_of
from contentmodel.errors import EncodeError
from contentmodel_adapters.common import arguments as read
from contentmodel_adapters.common.arguments import Adapted, Dialect, Lost, Node, names

_COMMON = names("type title description enum properties required items format")

OPENAI_STRICT = Dialect(
    name="openai strict",
    keywords=_COMMON
    | names("const additionalProperties anyOf $ref $defs definitions $schema pattern minItems maxItems multipleOf")
    | names("minimum maximum exclusiveMinimum exclusiveMaximum"),
    formats=names("date-time time date duration email hostname ipv4 ipv6 uuid"),
    answers_too=True,
    closed=True,
    all_required=True,
    most={"levels": 10, "properties": 5000, "values": 1000},
)
"""Strict function tools and `json_schema` answers of Chat Completions and Responses.

Every object closed, every property required (optional ones are nullable), the root a plain object, `$ref` without
siblings, recursion allowed, 10 levels, 5,000 properties, 1,000 enum values:
https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas, as profiled in
https://jsonschemaprofiles.unitvectorylabs.com/schemas/openai, and openai 3.52, lib/_pydantic.py. `default`, `oneOf` are
"not permitted", `$ref` "cannot have keywords", lookaround is refused (pydantic/pydantic-ai#5519, vercel/ai#21037).
`minLength` and `maxLength` are not in the guide's list, so they are left out (pydantic/pydantic-ai#4490 doubts it). All
seen 2026-11-21.
"""

OPENAI_LOOSE = Dialect(
    name="openai", bare_root=("anyOf", "oneOf", "allOf", "enum", "not"), answers_too=True, whole=True
)
"""Function tools that are not strict: any JSON Schema whose root is an object.

"schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
(langchain-ai/langchainjs#9804), "array schema missing items" (ogx-ai/ogx#3602, apify/apify-mcp-server#36) and "object
schema missing properties" at the root (bnb-chain/bnbchain-mcp#68) are its refusals. Seen 2026-11-21.
"""

GEMINI_SCHEMA = Dialect(
    name="gemini schema",
    keywords=_COMMON
    | names("nullable default example minItems maxItems propertyOrdering minProperties maxProperties minLength")
    | names("maxLength pattern minimum maximum anyOf"),
    formats=names("enum date-time int32 int64 float double"),
    enum_types=names("string"),
    references=False,
    nullable=True,
    whole=True,
)
"""`parameters`, `response` and `responseSchema` of generateContent: a subset of OpenAPI 3.0.

The keywords are the fields of `Schema` in google-genai 3.4, types.py, without `defs`, `ref` and `additionalProperties`,
which the Developer API does not have (_transformers.py inlines the one and raises for the other). Types may be in
capitals or not (types.Type is case-insensitive, and so is the service). "only 'enum' and 'date-time' are supported
for STRING type" (hideya/langchain-mcp-tools-ts#36; the SDK names more, for the Enterprise platform); `enum` "only
allowed for STRING type" (diegosouzapw/OmniRoute#760); a list of types "cannot start list"
(taylorwilsdon/google_workspace_mcp#1099); `anyOf` must be the only field (anomalyco/opencode#14659); `items` "missing
field" (cline/cline#7339); `required` "property is not defined" (iBUHub/AIStudioToAPI#154). All seen 2026-11-21.
"""

GEMINI_TOOLS = Dialect(name="gemini tools")
"""`parametersJsonSchema` and `responseJsonSchema` of generateContent's functions: any JSON Schema of an object.

"The schema must describe an object" (google-genai 3.4, types.py, FunctionDeclaration.parameters_json_schema). Draft 7
schemas as generators write them, with unions, references, literals and constraints, were sent as they are to Gemini
2.5 and 3.5, on both hosts (vercel/ai#20757, 2026-09-14). Seen 2026-11-22.
"""

GEMINI_JSON_SCHEMA = Dialect(
    name="gemini json schema",
    keywords=_COMMON
    | names("$id $defs $ref $anchor prefixItems minItems maxItems minimum maximum anyOf oneOf")
    | names("additionalProperties propertyOrdering")
    | names("$schema $comment default example examples deprecated readOnly writeOnly pattern minLength maxLength")
    | names("multipleOf uniqueItems minProperties maxProperties contentEncoding contentMediaType"),
    enum_types=names("string number integer"),
    cycles="optional",
)
"""`responseJsonSchema` of generateContent's settings.

"While the full JSON Schema may be sent, not all features are supported": those of the first two lines are, `enum` "for
strings and numbers"; "cyclic references are unrolled to a limited degree and, as such, may only be used within
non-required properties", and only keywords that start with `$` are allowed beside `$ref` (docstring of
`response_json_schema` in google-genai 3.4, types.py). The others are sent too, for the service ignores them
(vercel/ai#18325). `const` is refused there and becomes an `enum` of one value (vercel/ai#20757). Seen 2026-11-22.
"""

ANTHROPIC_TOOLS = Dialect(name="anthropic tools", bare_root=("anyOf", "oneOf", "allOf"), names=r"[a-zA-Z0-9_.-]{1,64}")
"""`input_schema` of tools that are not strict: draft 2020-12 with a root of type object.

anthropic 2.11, types/tool_param.py; "input_schema does not support oneOf, allOf, or anyOf at the top level"
(anthropics/claude-code#27337), "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'" for the root's properties
(decocms/studio#6874), "It must match JSON Schema draft 2020-12" (anthropics/claude-code#86664). Seen 2026-11-21.
"""

ANTHROPIC_STRICT = Dialect(
    name="anthropic strict",
    keywords=_COMMON | names("const default additionalProperties minItems anyOf $ref $defs definitions pattern"),
    formats=names("date-time time date duration email hostname uri ipv4 ipv6 uuid"),
    cycles="nowhere",
    closed=True,
    most_min_items=1,
    names=r"[a-zA-Z0-9_.-]{1,64}",
    most={"optional": 24, "unions": 16},
)
"""Strict tools and `output_config.format` of the Messages API.

https://platform.claude.com/docs/en/build-with-claude/structured-outputs (as restated by LangSchema 0.7.1 on hexdocs):
objects closed, no recursion, `minItems` 0 or 1 only, no bounds of numbers and lengths, simple patterns, values of
`enum` primitive; over all strict tools of a request at most 24 optional parameters, 16 unions and 20 tools (the first
two are checked for one schema here). anthropic 2.11, lib/_parse/_transform.py has the formats, and a type, union or
value for every schema. `allOf` is taken in part ("not with $ref"), so it is always read.merged. All seen 2026-11-21.
"""


def for_answers(dialect: Dialect) -> Dialect:
    """Return the dialect for the schema of an answer: except at OpenAI's APIs, the root need not be an object."""
    return dialect if dialect.answers_too else msgspec.structs.replace(dialect, object_root=False)


def adapt(schema: Node, dialect: Dialect) -> Adapted:
    """Return the schema in the dialect; the same object if nothing had to change.

    The result allows all that the original does, except undeclared properties of objects that a closed dialect closes.
    A root that cannot be an object becomes the property "value" of one; an empty root is an object without properties.
    Where references are not allowed, cycles are unrolled three times, and inlining ends after 40 levels or 10,000
    schemas. Raise EncodeError if the schema is not a JSON object, or nested too deeply.
    """
    if not isinstance(schema, dict):
        raise EncodeError(f"a JSON Schema must be an object, not {read.type_of(schema)}")
    try:
        return _Adapter(schema, dialect).adapted()
    except RecursionError:
        raise EncodeError("a JSON Schema is nested too deeply") from None


UNROLLED, INLINED, DEEPEST = 3, 10_000, 40
_PREFIXES = tuple(f"#/{keyword}/" for keyword in read.DEFINITIONS)


class _Adapter:
    """Walk one schema. Each method returns a new node and records what is lost."""

    def __init__(self, schema: Node, dialect: Dialect) -> None:
        self._schema, self._dialect, self._reader = schema, dialect, read.Reader(schema)
        self._keywords = dialect.keywords or frozenset()
        # Dicts as ordered sets.
        self._lost, self._structural, self._reasons = (dict[Lost, None]() for _ in range(3))
        self._within: Counter[str] = Counter()
        self._depth = self._inlined = 0
        self._wrapped = read.wraps(self._reader, dialect)
        looks = dialect.references and dialect.cycles != "anywhere"
        self._circles = read.circles(self._reader, every=dialect.cycles == "nowhere") if looks else set()

    def adapted(self) -> Adapted:
        root = self._rooted()
        for keyword in read.DEFINITIONS:
            if self._schema.get(keyword) == {} and (self._dialect.keywords is None or keyword in self._keywords):
                root[keyword] = {}
            for pointer, definition in self._definitions(keyword).items():
                root.setdefault(pointer.split("/")[1], {})[read.name_in(pointer)] = definition
        self._check(root)
        if self._reasons:
            return Adapted(self._schema, reasons=list(self._reasons))
        return Adapted(self._schema if root == self._schema else root, list(self._lost), list(self._structural))

    def _report(self, path: str, keyword: str, why: str) -> None:
        self._lost[Lost(child_path(path, keyword), keyword, why)] = None

    def _refuse(self, path: str, keyword: str, why: str) -> Node:
        self._reasons[Lost(child_path(path, keyword), keyword, why)] = None
        return {}

    def _anything(self, path: str) -> Node:
        return self._refuse(path, "type", "every schema must have a type") if self._dialect.closed else {}

    def _check(self, schema: Node) -> None:
        for name in read.named(schema):
            if self._dialect.names is not None and not re.fullmatch(self._dialect.names, name):
                self._refuse("$.properties", name, f"the name must match {self._dialect.names}")
        for kind, count in read.counted(schema).items():
            if count > self._dialect.most.get(kind, count):
                self._refuse("$", kind, f"{count} {kind}, the limit is {self._dialect.most[kind]}")

    def _rooted(self) -> Node:
        node = read.without_keywords(self._schema, *read.DEFINITIONS)
        if self._wrapped:
            self._structural[
                Lost("$", "type", f"not an object: wrapped in an object as the property {read.WRAPPER!r}")
            ] = None
            closed = {"additionalProperties": False} if self._dialect.closed else {}
            properties = {read.WRAPPER: self.node(node, "$")}
            return {"type": "object", "properties": properties, "required": [read.WRAPPER], **closed}
        return dict(self.node(self._as_object(node) if self._dialect.object_root else node, "$"))

    def _as_object(self, node: Node) -> Node:
        """Return the root as a plain object, its `$ref` and `allOf` resolved one level deep."""
        if "$ref" in node or ("allOf" in node and "allOf" in self._dialect.bare_root):
            node = self._joined(self._reader.parts(node)[0], "$")
        node = read.canonical(node)
        for keyword in self._dialect.bare_root:
            if keyword in node:
                self._report("$", keyword, "not allowed at the root")
        if read.types_of(node) is None and node.get("type") is not None:
            self._report("$", "type", "not a valid type: read as object")
        spelled = node if read.types_of(node) == ["object"] else {**node, "type": "object"}
        no_map = not spelled.keys() & {"additionalProperties", "patternProperties"}
        if self._dialect.whole or (self._dialect.closed and no_map):
            spelled = {"properties": {}, **spelled}
        return read.upper(read.without_keywords(spelled, *self._dialect.bare_root), self._schema, self._dialect)

    def _definitions(self, keyword: str) -> Node:
        """Return the root's definitions, by the references to them that are kept."""
        return {
            pointer: self.node(inner, child_path(child_path("$", keyword), name))
            for name, inner in read.named(self._schema, keyword).items()
            if (pointer := self._target(read.pointer_to(keyword, name))) is not None
        }

    def _target(self, pointer: Any) -> str | None:
        """Return the pointer to a reference's target in the adapted schema; None if it has to be inlined."""
        if not isinstance(pointer, str) or pointer in self._circles:
            return None
        if self._dialect.keywords is None:
            is_moved = self._wrapped and pointer[:1] == "#" and not pointer.startswith(_PREFIXES)
            return f"#/properties/{read.WRAPPER}{pointer[1:]}" if is_moved else pointer
        is_definition = (
            pointer.startswith(_PREFIXES) and pointer.count("/") == 2 and self._reader.target(pointer) is not None
        )
        if pointer.startswith(_PREFIXES[1]) and "definitions" not in self._keywords:
            pointer = pointer.replace(_PREFIXES[1], _PREFIXES[0], 1)
            is_definition = is_definition and self._reader.target(pointer) is None
        root = pointer == "#" and not self._wrapped and self._dialect.cycles == "anywhere"
        return pointer if self._dialect.references and (is_definition or root) else None

    def node(self, source: Any, path: str) -> Any:
        """Return the schema at `path` in the dialect."""
        if self._dialect.keywords is None:
            return self._open(read.canonical(source), path) if isinstance(source, dict) else source
        if source is False or not isinstance(source, dict | bool):
            why = "no value matches it" if source is False else f"expected object or boolean, got {kind_of(source)}"
            self._lost[Lost(path, None, why)] = None
            return self._anything(path)
        self._inlined += bool(self._depth)
        node = read.without_keywords(read.canonical(source), *read.DEFINITIONS) if isinstance(source, dict) else {}
        result = self._referred(node, path) if "$ref" in node or "allOf" in node else self._plain(node, path)
        return read.upper(result, source, self._dialect)

    def _open(self, node: Node, path: str) -> Node:
        """Return a schema for a dialect that allows every keyword."""
        result = dict(node)
        for keyword, key, inner in read.children(node):
            schema = self.node(inner, read.place_in(path, keyword, key))
            if key is None:
                result[keyword] = schema
            elif schema is not inner:
                result[keyword] = result[keyword].copy() if result[keyword] is node[keyword] else result[keyword]
                result[keyword][key] = schema
        if (target := self._target(node.get("$ref"))) is not None:
            result["$ref"] = target
        if self._dialect.whole and "array" in (read.types_of(node) or ()):
            result.setdefault("items", {})
        return result

    def _referred(self, node: Node, path: str) -> Node:
        """Return a schema that had `$ref` or `allOf`: only the reference, or all merged into one."""
        target, beside = self._target(node.get("$ref")), read.without_keywords(node, "$ref")
        if target is None or beside.keys() - read.ANNOTATIONS:
            return self._inline(node, path)
        around = self._supported(beside, path)
        return {**around, "anyOf": [{"$ref": target}]} if around else {"$ref": target}

    def _inline(self, node: Node, path: str) -> Node:
        parts, pointers = self._reader.parts(node)
        for pointer in pointers:
            if self._reader.target(pointer) is None:
                self._report(path, "$ref", f"{pointer} has no target")
        if self._dialect.closed and not self._circles.isdisjoint(pointers):
            return self._refuse(path, "$ref", "a recursive reference")
        over = max((self._within[pointer] for pointer in pointers), default=0) >= UNROLLED
        if over or (pointers and (self._inlined > INLINED or self._depth > DEEPEST)):
            why = f"unrolled {UNROLLED} times" if over else "too large to inline"
            self._report(path, "$ref", why)
            types = read.type_keyword(read.types_of(self._joined(parts, path)))
            return self._refuse(path, "$ref", why) if self._dialect.closed else self._plain(types, path)
        at = read.place_of(pointers[0]) if len(parts) == 2 and node.keys() == {"$ref"} else path
        self._within.update(pointers)
        self._depth += bool(pointers)
        result = self._plain(self._joined(parts, path), at)
        self._depth -= bool(pointers)
        self._within.subtract(pointers)
        return result

    def _joined(self, parts: list[Node], path: str) -> Node:
        node, conflicts = read.merged(parts)
        for keyword in conflicts:
            self._report(path, keyword, "conflicting values: the first one is kept")
        return node

    def _plain(self, node: Node, path: str) -> Node:
        """Return a schema that had no references."""
        node = self._literal(node, path)
        if any(keyword in node for keyword in read.UNIONS):
            return self._union(node, path)
        node = self._typed(node, path)
        types = read.types_of(node) or []
        if self._dialect.nullable and (len(types) > 1 or "null" in types):
            return self._split(node, types, path)
        node = self._object(node, path) if "object" in types else node
        return self._supported(self._array(node, path) if "array" in types else node, path)

    def _literal(self, node: Node, path: str) -> Node:
        """Return `const` and `enum` if the dialect allows their values, else their types."""
        keyword = "const" if "const" in node else "enum"
        if keyword not in node:
            return node
        values, other_keywords = (
            [node["const"]] if keyword == "const" else node["enum"],
            read.without_keywords(node, "const", "enum"),
        )
        kinds = list(dict.fromkeys(map(read.type_of, values))) if isinstance(values, list) else []
        allowed = self._dialect.enum_types
        others = [kind for kind in kinds if kind != "null"]
        if not kinds or not allowed >= set(others):
            self._report(path, keyword, "values of this type cannot be listed")
            return {**read.type_keyword(kinds), **other_keywords}
        if "null" in kinds and "null" not in allowed:
            return self._null_beside(other_keywords, [value for value in values if value is not None], others)
        value = {"const": values[0]} if keyword in self._keywords and keyword == "const" else {"enum": values}
        needed = read.type_keyword(kinds) if self._dialect.closed or self._dialect.nullable else {}
        return {**needed, **other_keywords, **value}

    def _null_beside(self, other_keywords: Node, values: list[Any], kinds: list[str]) -> Node:
        if not values:
            return {"type": "null", **other_keywords}
        types = [name for name in read.types_of(other_keywords) or kinds if name != "null"] or kinds
        annotations = {key: value for key, value in other_keywords.items() if key in read.ANNOTATIONS}
        listed = {**read.without_keywords(other_keywords, *annotations), **read.type_keyword(types), "enum": values}
        return {**annotations, "anyOf": [listed, {"type": "null"}]}

    def _typed(self, node: Node, path: str) -> Node:
        types = read.types_of(node)
        if types is None and "type" in node:
            self._report(path, "type", "not a JSON Schema type")
            node = read.without_keywords(node, "type")
        if types is None:
            types = [name for name, keywords in read.GUESSES if keywords & node.keys()][:1]
        if types:
            value = node.get("type")
            return node if value in (types, types[0]) else {**node, **read.type_keyword(types)}
        return {**node, **self._anything(path)}

    def _union(self, node: Node, path: str) -> Node:
        keyword = next(keyword for keyword in read.UNIONS if keyword in node)
        siblings, variants = read.without_keywords(node, *read.UNIONS), node[keyword]
        if read.UNIONS[1] in node and keyword != read.UNIONS[1]:
            self._report(path, read.UNIONS[1], "combined with another union")
        if not isinstance(variants, list) or not variants or siblings.keys() & read.SHAPES:
            self._report(path, keyword, "combined with properties, items or values" if variants else "malformed")
            return self._plain(siblings, path)
        placed = [(variant, f"{path}.{keyword}[{index}]") for index, variant in enumerate(variants)]
        return self._united(siblings, [place for place in placed if place[0] is not False], keyword, path)

    def _united(self, siblings: Node, variants: list[tuple[Any, str]], keyword: str, path: str) -> Node:
        for key in siblings.keys() - read.ANNOTATIONS - {"type"}:
            self._report(path, key, "combined with a union")
        around = self._supported({key: value for key, value in siblings.items() if key in read.ANNOTATIONS}, path)
        if read.types_of(siblings) is not None:
            variants = [(self._narrowed(variant, siblings, path), place) for variant, place in variants]
        if not variants:
            return {**around, **self._anything(path)}
        if keyword not in self._keywords:
            self._report(path, keyword, "sent as anyOf: more than one variant may match")
            keyword = "anyOf"
        if self._dialect.nullable:
            return self._without_siblings(around, variants, path)
        return {**around, keyword: [self.node(variant, place) for variant, place in variants]}

    def _narrowed(self, variant: Any, siblings: Node, path: str) -> Any:
        """Return the variant with the type that is beside the union."""
        inner = read.types_of(self._reader.plain(variant)) if isinstance(variant, dict) else None
        if inner is None and isinstance(variant, dict) and not variant.keys() & {"$ref", "allOf", *read.UNIONS}:
            return {"type": siblings["type"], **read.without_keywords(variant, "type")}
        if inner is None or not set(inner) <= set(read.types_of(siblings) or ()):
            self._report(path, "type", "combined with a union")
        return variant

    def _without_siblings(self, around: Node, variants: list[tuple[Any, str]], path: str) -> Node:
        """Return `anyOf` without siblings, with null as `nullable` of its first variant."""
        nulls = [isinstance(variant, dict) and read.types_of(variant) == ["null"] for variant, _ in variants]
        schemas = [self.node(*place) for place, is_null in zip(variants, nulls, strict=True) if not is_null]
        flat = [inner for schema in schemas for inner in (schema["anyOf"] if schema.keys() == {"anyOf"} else [schema])]
        null = {"nullable": True} if any(nulls) else {}
        if len(flat) < 2:
            return {**(flat[0] if flat else {}), **around, **null}
        for key in around.keys() - {"title", "description"}:
            self._report(path, key, "combined with a union")
        texts = {key: around[key] for key in ("title", "description") if key in around}
        first, *others = [{**texts, **schema} for schema in flat]
        return {"anyOf": [{**first, **null}, *others]}

    def _split(self, node: Node, types: list[str], path: str) -> Node:
        """Return one variant for each type: a schema of this dialect has one type."""
        others = [name for name in types if name != "null"]
        null = {"nullable": True} if len(others) < len(types) else {}
        if not others:
            self._report(path, "type", "the type null cannot be expressed")
            return {**self._supported(read.without_keywords(node, "type"), path), **null}
        if len(others) == 1:
            return {**self._plain({**node, "type": others[0]}, path), **null}
        siblings = read.without_keywords(node, "type", "enum", *read.OF_SOME_TYPE)
        variants: list[Any] = [{"type": "null"}] if null else []
        for name in others:
            values = [value for value in node.get("enum", ()) if read.type_of(value) == name]
            keywords = {key: value for key, value in node.items() if key in read.OF_TYPE.get(name, ())}
            variants.append({"type": name, **keywords, **({"enum": values} if values else {})})
        return self._united(siblings, [(variant, path) for variant in variants], "anyOf", path)

    def _object(self, node: Node, path: str) -> Node:
        node, required = dict(node), read.names_of(node)
        if not isinstance(node.get("properties", {}), dict):
            self._report(path, "properties", "malformed")
            del node["properties"]
        if self._dialect.closed:
            self._close(node, path)
        elif {"patternProperties", "additionalProperties"} <= node.keys():
            self._report(path, "additionalProperties", "its patternProperties are removed")
            del node["additionalProperties"]
        properties = read.named(node)
        if "properties" in node:
            node["properties"] = self._properties(properties, required, path)
        defined = [name for name in required if name in node.get("properties", {})]
        if len(defined) < len(required):
            self._report(path, "required", "lists an undefined property")
            node["required"] = defined
        if self._dialect.all_required and set(defined) != properties.keys():
            node["required"] = [name for name, inner in properties.items() if inner is not False]
        return node

    def _close(self, node: Node, path: str) -> None:
        """Close an object of a closed dialect. Refuse a map: it would become an empty object."""
        open_end = node.get("additionalProperties", "properties" not in node) is not False
        if open_end or read.named(node, "patternProperties"):
            self._refuse(path, "additionalProperties", "an object must list all its properties")
        if set(read.names_of(node)) - read.named(node).keys():
            self._refuse(path, "required", "lists an undefined property")
        node["additionalProperties"] = False
        node.setdefault("properties", {})

    def _properties(self, properties: Node, required: list[str], path: str) -> Node:
        result, needed = {}, set(required)
        for name, source in properties.items():
            at = child_path(child_path(path, "properties"), name)
            if source is False:
                self._lost[Lost(at, None, "no value is allowed")] = None
                continue
            schema = self.node(source, at)
            if self._dialect.all_required and name not in needed:
                self._structural[Lost(at, "required", "optional: sent as required and nullable")] = None
                schema = schema if self._reader.admits_null(source) else read.with_null(schema)
            result[name] = schema
        return result

    def _array(self, node: Node, path: str) -> Node:
        node, first = dict(node), node.get("prefixItems")
        if isinstance(first, list) and "prefixItems" not in self._keywords:
            self._report(path, "prefixItems", "all items get one schema")
            node["items"] = self._any_item(node, first, path)
            del node["prefixItems"]
        elif "items" in node:
            node["items"] = self.node(node["items"], f"{path}.items")
        elif self._dialect.whole or self._dialect.closed:
            node["items"] = self._anything(f"{path}.items")
        return node

    def _any_item(self, node: Node, first: list[Any], path: str) -> Node:
        """Return one schema for every item of a tuple."""
        items = [(inner, f"{path}.prefixItems[{index}]") for index, inner in enumerate(first)]
        most, rest_schema = node.get("maxItems"), node.get("items", True)
        if rest_schema is not False and not (read.is_number(most) and most <= len(first)):
            items.append((rest_schema, f"{path}.items"))
        distinct = list({repr(place[0]): place for place in reversed(items)}.values())[::-1]
        return dict(self.node(*distinct[0])) if len(distinct) == 1 else self._united({}, distinct, "anyOf", path)

    def _supported(self, node: Node, path: str) -> Node:
        """Return the keywords that the dialect has, in forms that it allows."""
        node, types = self._inclusive(node, path), read.types_of(node)
        result = {}
        for key, value in node.items():
            why = self._why_not(key, value, types)
            if why is not None:
                self._report(path, key, why)
            elif key == "additionalProperties" and isinstance(value, dict):
                result[key] = self.node(value, f"{path}.{key}")
            elif key == "prefixItems":
                result[key] = [self.node(inner, f"{path}.{key}[{index}]") for index, inner in enumerate(value)]
            else:
                result[key] = value
        return result

    def _why_not(self, key: str, value: Any, types: list[str] | None) -> str | None:
        dialect = self._dialect
        if key not in self._keywords:
            return f"not supported by {dialect.name}"
        if not read.FORMS.get(key, bool)(value) and key in read.FORMS:
            return "malformed"
        if types and key in read.OF_SOME_TYPE and not any(key in read.OF_TYPE.get(name, ()) for name in types):
            return "has no effect on this type"
        if key == "format" and dialect.formats is not None and value not in dialect.formats:
            return f"not a format of {dialect.name}"
        if key == "pattern" and dialect.closed and read.LOOKS_AROUND.search(value):
            return "the pattern has lookaround or back-references"
        if key == "minItems" and value > dialect.most_min_items:
            return f"more than {dialect.most_min_items}"
        return None

    def _inclusive(self, node: Node, path: str) -> Node:
        """Replace exclusive bounds by inclusive ones if the dialect has only these."""
        for key, other, step in read.INCLUSIVE:
            if key in node and key not in self._keywords and other in self._keywords and read.is_number(node[key]):
                exact = read.types_of(node) == ["integer"] and isinstance(node[key], int)
                if not exact or other in node:
                    self._report(path, key, f"not supported by {self._dialect.name}")
                bound = {other: node[key] + step if exact else node[key]}
                node = {**bound, **read.without_keywords(node, key)}
        return node
