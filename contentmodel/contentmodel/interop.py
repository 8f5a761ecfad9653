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
        from pydantic_core import PydanticCustomError, core_schema

        from contentmodel.errors import DecodeError
        from contentmodel.serialize import convert_value, to_builtins

        def validate(value: Any) -> Any:
            if isinstance(value, cls):
                return value
            try:
                return convert_value(value, cls)
            except DecodeError as error:
                raise PydanticCustomError("contentmodel", "{fault}", {"fault": str(error)}) from None

        return core_schema.no_info_plain_validator_function(
            validate,
            serialization=core_schema.plain_serializer_function_ser_schema(to_builtins, when_used="always"),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return cls._json_schema()

    @classmethod
    def _json_schema(cls) -> dict[str, Any]:
        from contentmodel.serialize import schema_of

        return schema_of(cls)


class Model(
    PydanticInterop,
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    repr_omit_defaults=True,
    gc=False,
):
    """The base of the model's types: plain data that compares by value; fields that say nothing are not written.

    Values form trees. They are not tracked by the garbage collector: one that was made to contain itself is never
    collected.
    """
