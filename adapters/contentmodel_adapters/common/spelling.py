"""The spelling of the names in a JSON value."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import snake_name


def in_snake_case(value: Any) -> Any:
    """Return a value whose names have underscores, at every depth."""
    if value.__class__ is list:
        return [in_snake_case(item) for item in value]
    if value.__class__ is not dict:
        return value
    return {snake_name(key): in_snake_case(item) for key, item in value.items()}
