"""Every model type as a field of a pydantic model: validation, serialisation and schema come from msgspec.

pydantic is imported only when pydantic itself asks.
"""

from __future__ import annotations

from typing import Any

import msgspec


class PydanticInterop:
    """Mixed into the Structs of the model; adds no field."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        from contentmodel.serialize import convert_value, to_builtins

        def validate(value: Any) -> Any:
            return value if isinstance(value, cls) else convert_value(value, cls)

        return core_schema.no_info_plain_validator_function(
            validate,
            serialization=core_schema.plain_serializer_function_ser_schema(to_builtins, when_used="always"),
            metadata={"pydantic_js_functions": [lambda _schema, _handler: cls._json_schema()]},
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return cls._json_schema()

    @classmethod
    def _json_schema(cls) -> dict[str, Any]:
        from contentmodel.serialize import schema_of

        return schema_of(cls)


def struct_fields(cls: type) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The msgspec fields of a Struct class."""
    return msgspec.structs.fields(cls)
