"""Functions without parameters, for APIs that require a schema. They get `NO_PARAMETERS`.

The form is a row of the target's table, so decoding restores the definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from contentmodel.authoring import Row, Silent, Spec
from contentmodel.request import FunctionTool

NO_PARAMETERS = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
    "description": "This function has no parameters.",
}
"""The schema of a function that was defined without one."""


def without_parameters_row(
    name: str,
    schema: str,
    others: Mapping[str, Spec] = MappingProxyType({}),
    *,
    at: str = "",
    silent: tuple[str, ...] = (),
) -> Row:
    """Return the row of a function without parameters, for an API that requires a schema in the field `schema`.

    `others` are further fields of the function, and `at` is the path before its name.
    `silent` are attributes that other code writes.
    """
    fields = {f"{at}{key}": key for key in ("name", "description", "strict")} | dict(others)
    return Row(name, FunctionTool, fields, Silent("parameters", *silent), constants={schema: NO_PARAMETERS})
