"""Validation against a JSON Schema (Draft 2020-12), with every fault, in bounded work, fetching nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from contentmodel.tools.faults import InputFault, InvalidArguments, shown

MAX_REFERENCES = 10_000
"""References that one validation may follow: schemas of two lines can ask for billions."""

_left: ContextVar[int] = ContextVar("references left")


class SchemaValidator:
    """Reads JSON values against one schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        from jsonschema import Draft202012Validator, validators  # type: ignore[import-untyped]
        from referencing import Registry

        plain: Any = Draft202012Validator
        words = {word: _counted(plain.VALIDATORS[word]) for word in ("$ref", "$dynamicRef")}
        checks = plain.FORMAT_CHECKER
        self._validator: Any = validators.extend(plain, words)(schema, registry=Registry(), format_checker=checks)

    def faults(self, value: Any) -> list[InputFault]:
        """What the schema has against `value`, in the order of the paths. InvalidArguments where it asks too much."""
        token = _left.set(MAX_REFERENCES)
        try:
            errors = sorted(self._validator.iter_errors(value), key=lambda error: str(error.json_path))
        finally:
            _left.reset(token)
        return list(dict.fromkeys(fault for error in errors for fault in _faults(error)))


def _counted(follow: Any) -> Any:
    def counted(validator: Any, reference: Any, instance: Any, node: Any) -> Iterator[Any]:
        _left.set(_left.get() - 1)
        if _left.get() < 0:
            fault = InputFault("$", f"arguments that {MAX_REFERENCES} references of the schema can check", "others")
            raise InvalidArguments([fault])
        yield from follow(validator, reference, instance, node) or ()

    return counted


def _faults(error: Any) -> Iterator[InputFault]:
    path, limit, got = error.json_path, error.validator_value, error.instance
    if error.validator == "required":
        for name in (name for name in limit if name not in got):
            yield InputFault(f"{path}.{name}", "a value (it is required)", "nothing")
    elif error.validator == "additionalProperties" and limit is False:
        for name in (name for name in got if not _is_known(name, error.schema)):
            yield InputFault(f"{path}.{name}", "no argument of this name", shown(got[name]))
    elif error.validator in ("anyOf", "oneOf") and error.context:
        yield InputFault(path, " or ".join(dict.fromkeys(map(_expected, error.context))), shown(got))
    else:
        yield InputFault(path, _expected(error), shown(got))


def _is_known(name: str, schema: dict[str, Any]) -> bool:
    patterns = schema.get("patternProperties", {})
    return name in schema.get("properties", {}) or any(re.search(pattern, name) for pattern in patterns)


def _expected(error: Any) -> str:
    limit = error.validator_value
    if error.validator == "type":
        return " or ".join(limit) if isinstance(limit, list) else str(limit)
    if error.validator == "enum":
        return f"one of {shown(limit)}"
    return f"{error.validator} {shown(limit)}"
