"""JSON Schema keywords with bounded work: schemas and values may come from models, files and servers.

The validator is that of jsonschema. Each keyword charges its steps to a `Budget`, which raises `OverBudget` when its
steps or its time are used up. Keywords that are not linear (uniqueItems, enum, const), or that run patterns, are
replaced.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any

from contentmodel.tools.faults import shown
from contentmodel.tools.patterns import MAX_MEMORY, Pattern, compiled

MAX_STEPS = 500_000
"""The maximum steps of one validation. Applying a keyword to a value is one or a few steps. All take about 2 s."""

Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]

# Steps for a failed compilation, because RE2 may have used all of its memory before it failed.
_FAILED = MAX_MEMORY // 1000
_CLOCK_EVERY = 256
# Keywords that visit each item or property of a value.
_EACH = frozenset(("additionalProperties", "contains", "items", "patternProperties", "prefixItems", "propertyNames"))


class OverBudget(Exception):
    """A validation exceeds its steps or its time."""


class Budget:
    """A counter of the steps of one validation. `deadline` is a time of `time.monotonic`."""

    def __init__(self, steps: int = MAX_STEPS, deadline: float | None = None) -> None:
        self.steps, self.deadline = steps, deadline
        self._left = steps
        self._until_clock = 0
        self._patterns: dict[str, Pattern] = {}

    def charge(self, steps: int) -> None:
        """Subtract `steps`. Raise OverBudget if no steps are left, or if the deadline has passed."""
        self._left -= steps
        self._until_clock -= steps
        if self._left < 0:
            raise OverBudget(f"more than {self.steps:,} steps")
        if self._until_clock < 0:
            self._until_clock = _CLOCK_EVERY
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise OverBudget("more time than is left")

    def pattern(self, text: str) -> Pattern:
        """Return a compiled pattern. Each pattern is charged once in a validation."""
        if text not in self._patterns:
            pattern = self._patterns[text] = compiled(text)
            self.charge(10 + len(text) // 10 + (_FAILED if pattern.size is None else pattern.size // 5))
        return self._patterns[text]

    def matches(self, pattern: str, text: str) -> bool:
        """Return whether a pattern matches anywhere in `text`."""
        program = self.pattern(pattern)
        self.charge(1 + len(text) // 100 + (program.size or 0) * len(text) // 1000)
        return program.matches(text)


budget: ContextVar[Budget] = ContextVar("budget of a validation")


@cache
def validator_class() -> Any:
    """Return jsonschema's validator class for Draft 2020-12, with its work counted."""
    from jsonschema import Draft202012Validator, validators  # type: ignore[import-untyped]

    plain: Any = Draft202012Validator
    keywords: dict[str, Keyword] = {
        "additionalProperties": _additional_properties,
        "const": lambda validator, const, value, schema: _enum(validator, [const], value, schema),
        "enum": _enum,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "unevaluatedItems": _unevaluated,
        "unevaluatedProperties": _unevaluated,
        "uniqueItems": _unique_items,
    }
    extended: Any = validators.extend(
        plain, {name: _counted(name, keywords.get(name, kw)) for name, kw in plain.VALIDATORS.items()}
    )
    # jsonschema changes to another class if a subschema names its dialect, and shows the whole value if a schema is
    # False. Neither would be counted.
    extended.evolve = _evolve
    extended.iter_errors = _refusing(plain.iter_errors)
    extended.descend = _descending(plain.descend)
    return extended


@cache
def format_checker() -> Any:
    """Return a checker of the formats whose check is linear and needs no further package."""
    from jsonschema import Draft202012Validator, FormatChecker

    checkers = Draft202012Validator.FORMAT_CHECKER.checkers
    names = [name for name in ("date", "email", "idn-email", "ipv4", "ipv6", "uuid") if name in checkers]
    return FormatChecker(formats=names)


def _counted(name: str, keyword: Keyword) -> Keyword:
    def counted(validator: Any, limit: Any, value: Any, schema: Any) -> Iterator[Any]:
        spent = budget.get()
        spent.charge(1 + _length(limit) // 8 + (_length(value) if name in _EACH else 0))
        for error in keyword(validator, limit, value, schema) or ():
            # The message contains the value, so its length is charged.
            spent.charge(6 + len(error.message) // 100)
            yield error

    return counted


def _length(value: Any) -> int:
    return len(value) if isinstance(value, dict | list) else 0


# The class ------------------------------------------------------------------------------------------------------------


def _evolve(self: Any, **changes: Any) -> Any:
    budget.get().charge(1)
    settings = {"schema": self.schema, "format_checker": self.format_checker, "registry": self._registry}
    return type(self)(**{**settings, "_resolver": self._resolver, **changes})


def _refusing(iter_errors: Any) -> Any:
    def errors(self: Any, value: Any, _schema: Any = None) -> Iterator[Any]:
        if self.schema is False:
            yield _refused(value)
        else:
            yield from iter_errors(self, value)

    return errors


def _descending(descend: Any) -> Any:
    def errors(self: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, **more: Any) -> Any:
        if schema is not False:
            yield from descend(self, instance, schema, path, schema_path, **more)
            return
        error = _refused(instance)
        if path is not None:
            error.path.appendleft(path)
        yield error

    return errors


def _refused(value: Any) -> Any:
    from jsonschema import ValidationError

    budget.get().charge(2)
    return ValidationError(
        "nothing is allowed here", validator=None, validator_value=None, instance=value, schema=False
    )


# Keywords -------------------------------------------------------------------------------------------------------------


def _error(message: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message)


def _pattern(validator: Any, pattern: Any, value: Any, schema: Any) -> Iterator[Any]:
    if isinstance(value, str) and not budget.get().matches(pattern, value):
        yield _error(f"{shown(value)} does not match {shown(pattern)}")


def _pattern_properties(validator: Any, patterns: Any, value: Any, schema: Any) -> Iterator[Any]:
    for name in value if isinstance(value, dict) else ():
        for pattern, subschema in patterns.items():
            if budget.get().matches(pattern, name):
                yield from validator.descend(value[name], subschema, path=name, schema_path=pattern)


def is_known(name: str, schema: dict[str, Any]) -> bool:
    """Return whether `properties` or `patternProperties` match a property of this name."""
    patterns = schema.get("patternProperties", {})
    return name in schema.get("properties", {}) or any(budget.get().matches(pattern, name) for pattern in patterns)


def _additional_properties(validator: Any, allowed: Any, value: Any, schema: Any) -> Iterator[Any]:
    extra = [name for name in value if not is_known(name, schema)] if isinstance(value, dict) else []
    if allowed is False and extra:
        yield _error(f"additional properties are not allowed: {shown(extra)}")
    for name in extra if isinstance(allowed, dict) else ():
        yield from validator.descend(value[name], allowed, path=name)


def _enum(validator: Any, values: Any, value: Any, schema: Any) -> Iterator[Any]:
    key = _key(value)
    if not any(_key(each) == key for each in values if _may_equal(each, value)):
        yield _error(f"{shown(value)} is not one of {shown(values)}")


def _may_equal(one: Any, other: Any) -> bool:
    return isinstance(one, dict | list) or isinstance(one, str) == isinstance(other, str)


def _unique_items(validator: Any, unique: Any, value: Any, schema: Any) -> Iterator[Any]:
    if unique and isinstance(value, list) and len({_key(item) for item in value}) < len(value):
        yield _error("the items are not unique")


def _key(value: Any) -> Any:
    """Return a key that is equal for values that JSON Schema treats as equal: 1 and 1.0, but not 1 and true."""
    if isinstance(value, str | None):
        return value
    if not isinstance(value, dict | list):
        return isinstance(value, bool), value
    budget.get().charge(1 + len(value))
    if isinstance(value, list):
        return ("list", *map(_key, value))
    return "dict", frozenset((name, _key(item)) for name, item in value.items())


# Unevaluated properties and items -------------------------------------------------------------------------------------


def _unevaluated(validator: Any, allowed: Any, value: Any, schema: Any) -> Iterator[Any]:
    """Apply `unevaluatedProperties` to an object, or `unevaluatedItems` to a list."""
    keyword = "unevaluatedProperties" if isinstance(value, dict) else "unevaluatedItems"
    if not isinstance(value, dict | list) or schema.get(keyword) is not allowed:
        return
    others = {key: each for key, each in schema.items() if key != keyword}
    evaluated = _evaluated(validator, value, others)
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if key not in evaluated:
            yield from validator.descend(each, allowed, path=key)


def _evaluated(validator: Any, value: Any, schema: Any) -> set[Any]:
    """Return the property names or indexes that `schema` evaluates. `value` must be valid for `schema`."""
    if not isinstance(schema, dict):
        return set()
    budget.get().charge(4 + len(schema) + len(value))
    evaluated = _named_in(value, schema) if isinstance(value, dict) else _placed_in(validator, value, schema)
    for keyword in ("$ref", "$dynamicRef"):
        if keyword in schema:
            resolved = validator._resolver.lookup(schema[keyword])
            inner = validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)
            evaluated |= _evaluated(inner, value, resolved.contents)
    for subschema in _subschemas(validator, value, schema):
        if _is_valid(validator, value, subschema):
            evaluated |= _evaluated(validator, value, subschema)
    return evaluated


def _named_in(value: dict[str, Any], schema: dict[str, Any]) -> set[Any]:
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(value)
    return {name for name in value if is_known(name, schema)}


def _placed_in(validator: Any, value: list[Any], schema: dict[str, Any]) -> set[Any]:
    if "items" in schema or "unevaluatedItems" in schema:
        return set(range(len(value)))
    indexes = set(range(len(schema.get("prefixItems", ()))))
    if "contains" in schema:
        indexes |= {index for index, item in enumerate(value) if _is_valid(validator, item, schema["contains"])}
    return indexes


def _subschemas(validator: Any, value: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the subschemas of `schema` that apply to the whole value."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword, ())
    yield from (each for name, each in schema.get("dependentSchemas", {}).items() if name in value)
    if "if" in schema:
        yield schema["if"]
        yield schema.get("then" if _is_valid(validator, value, schema["if"]) else "else", True)


def _is_valid(validator: Any, value: Any, schema: Any) -> bool:
    return next(validator.descend(value, schema), None) is None
