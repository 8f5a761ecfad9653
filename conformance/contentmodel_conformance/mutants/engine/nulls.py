"""Defects in the reading of nulls."""

from __future__ import annotations

from typing import Any

from contentmodel import encoded
from contentmodel.content.outcomes import UnknownContent
from contentmodel.engine.table.rows import Inlined
from contentmodel.engine.table.unions import Union
from contentmodel_conformance.mutants.broken import CHAT
from contentmodel_conformance.mutants.engine.changes import OLLAMA, RESPONSES, change

_CHECK = "null-twin/payloads"


@change(Union, "decode", CHAT, _CHECK)
def takes_null_for_an_unknown_type(original: Any, self: Any, wire: Any, context: Any) -> Any:
    """Read a block whose type is null as unknown, although its type may be missing."""
    if self.tag in wire and wire[self.tag] is None:
        return UnknownContent(api=self.api, block=wire)
    return original(self, wire, context)


@change(Inlined, "consumed", OLLAMA, _CHECK)
def makes_a_choice_of_null(original: Any, self: Any, wire: Any) -> Any:
    """Read an answer whose message is null as an empty choice."""
    return [key for key in self.keys if key in wire]


@change(encoded, "is_empty", RESPONSES, _CHECK)
def loses_objects_of_nulls(original: Any, value: Any) -> bool:
    """Report an object of settings that are all null as a significant loss."""
    return value is None or value == [] or value == {}
