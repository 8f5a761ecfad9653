"""Defects in rows, unions and codecs."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel import hints
from contentmodel.engine.table import compile as compiling
from contentmodel.engine.table import fields, respelling, tree
from contentmodel.engine.table.answers import FinishReasons
from contentmodel.engine.table.codecs import ArgumentsObject, EnumString
from contentmodel.engine.table.failure_fields import Failure, Shape
from contentmodel.engine.table.nested import CachePoints, MessageList, ObjectList, Outputs, TextOrBlocks
from contentmodel.engine.table.respelling import Verbatim
from contentmodel.engine.table.rows import Inlined, PairRow, Row
from contentmodel.engine.table.spellings import Affixed, Roles
from contentmodel.engine.table.tool_choices import Choice
from contentmodel.engine.table.unions import Union
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, GOOGLE
from contentmodel_conformance.mutants.engine.changes import BEDROCK, OLLAMA, RESPONSES, change

replace = msgspec.structs.replace


@change(Verbatim, "around", BEDROCK, "identity/sdk")
def keeps_no_value_as_sent(original: Any, self: Any, decode: Any, encode: Any, row: Any) -> Any:
    """Keep no wire values that a codec would write in another way."""
    return decode, encode


# -- codecs ------------------------------------------------------------------------------------------------------------


@change(EnumString, "encode", ANTHROPIC, "rules/settings")
def sends_any_enum_value(original: Any, self: Any, value: Any, context: Any, owner: Any) -> Any:
    """Send enum values of other APIs that the target does not define."""
    return value


@change(ArgumentsObject, "encode", ANTHROPIC, "agreement/crossing")
def empties_arguments_that_are_no_object(original: Any, self: Any, value: Any, context: Any, owner: Any) -> Any:
    """Send an empty object instead of arguments that are text."""
    return value if value.__class__ is dict else {}


@change(TextOrBlocks, "_mark_list", CHAT, "identity/sdk-places")
def forgets_the_form_of_texts(original: Any, self: Any, contents: Any, context: Any) -> None:
    """Keep no hint that a single text was in a list."""


@change(Affixed, "encode", "vercel-ui-messages", "section/foreign")
def leaves_out_the_affix(original: Any, self: Any, value: Any, context: Any, owner: Any) -> Any:
    """Send a name without the constant text before it."""
    return value


@change(CachePoints, "encode", ANTHROPIC, "identity/sdk", "section/foreign")
def forgets_cache_points(original: Any, self: Any, value: Any, context: Any, owner: Any) -> Any:
    """Leave out cache points without a loss."""
    return None


@change(Outputs, "decode", ANTHROPIC, "identity/hosted")
def forgets_the_form_of_outputs(original: Any, self: Any, value: Any, context: Any, container: Any, key: Any) -> Any:
    """Keep no hint of the form of a hosted tool's outputs."""
    contents = original(self, value, context, container, key)
    return [replace(content, extra=None) for content in contents]


@change(Roles, "decode", CHAT, "roles/crossing")
def reads_any_role_as_its_own(original: Any, self: Any, value: Any, context: Any, container: Any, key: Any) -> Any:
    """Decode a role that the API does not define as a role of the model."""
    return self.to_model.get(value) or value


# -- rows --------------------------------------------------------------------------------------------------------------


def _last_field(row: Row) -> str:
    return list(row.root.children or [""])[-1]


@change(compiling, "generated", ANTHROPIC, "identity/table")
def does_not_write_a_field(original: Any, row: Row) -> Any:
    """Decode the last field of each row, but do not encode it."""
    decode, encode = original(row)
    last = _last_field(row)

    def encode_without(value: Any, context: Any) -> Any:
        return {key: item for key, item in encode(value, context).items() if key != last}

    return decode, encode_without


@change(compiling, "generated", ANTHROPIC, "identity/sdk")
def does_not_read_a_field(original: Any, row: Row) -> Any:
    """Encode the last field of each row, but do not decode it."""
    decode, encode = original(row)
    last = _last_field(row)
    optional = last in row.root.children and not getattr(row.root.children[last], "required", True)

    def decode_without(wire: Any, context: Any) -> Any:
        return decode({key: item for key, item in wire.items() if key != last} if optional else wire, context)

    return decode_without, encode


@change(tree.Plain, "holds", CHAT, "identity/sdk-places")
def takes_defaults_for_missing(original: Any, self: Any, value: Any) -> bool:
    """Drop a wire value that equals a default."""
    return bool(self.codec.holds(value))


@change(Row, "merge", CHAT, "identity/sdk")
def writes_no_residue(original: Any, self: Any, residue: Any, wire: Any) -> None:
    """Drop unknown fields."""


@change(PairRow, "decode", RESPONSES, "hosted/unknown")
def reads_results_without_their_call(original: Any, self: Any, wire: Any, context: Any) -> Any:
    """Decode an object with a call and its result, and give the result no id."""
    contents = original(self, wire, context)
    return [*contents[:1], *(replace(content, call_id=None) for content in contents[1:])]


@change(PairRow, "encode", RESPONSES, "identity/sdk")
def writes_calls_without_results(original: Any, self: Any, call: Any, result: Any, context: Any) -> Any:
    """Encode a call without the result of the same object."""
    return original(self, call, None if call is not None else result, context)


@change(hints, "escaped_key", CHAT, "notes/wire")
def reads_forged_notes(original: Any, key: str) -> str:
    """Decode a key of the wire as a note of a codec."""
    return key


@change(Failure, "read", ANTHROPIC, "hosted-failures/listed")
def reads_no_signs_of_failure(original: Any, self: Any, result: Any, wire: Any, api: Any) -> Any:
    """Ignore fields that report a failure."""
    return result


@change(Shape, "fits", RESPONSES, "hosted/unknown")
def ignores_forms(original: Any, self: Any, wire: Any) -> bool:
    """Recognise no blocks by their shape."""
    return False


# -- unions ------------------------------------------------------------------------------------------------------------


@change(Union, "_usual", CHAT, "accounting/crossing")
def takes_the_last_row_that_fits(original: Any, self: Any, content: Any, rows: Any) -> Any:
    """Encode a content with the last of its matching rows."""
    return rows[-1]


@change(respelling, "respell", GOOGLE, "identity/sdk-places")
def writes_names_as_usual(original: Any, wire: Any, residue: Any) -> None:
    """Write names and numbers in their usual spelling instead of the original one."""


@change(fields.Columns, "counts", CHAT, "accounting/crossing")
def counts_contents_of_columns_wrong(original: Any, self: Any, wire: Any) -> Any:
    """Use the next column's content when the path of a loss is determined."""
    yield from ((key, count - 1) for key, count in original(self, wire))


# -- codecs of several APIs --------------------------------------------------------------------------------------------


@change(FinishReasons, "decode", CHAT, "agreement/crossing")
def ends_every_answer_normally(original: Any, self: Any, value: Any, *rest: Any) -> Any:
    """Decode every finish reason as the normal end of an answer."""
    return replace(original(self, value, *rest), reason="stop", raw=None)


@change(Inlined, "encode", OLLAMA, "identity/sdk")
def writes_no_inlined_fields(original: Any, self: Any, value: Any, wire: Any, context: Any, owner: Any) -> None:
    """Leave out the fields of a value that are in the outer object."""


@change(MessageList, "objects", CHAT, "identity/table")
def skips_the_last_message(original: Any, self: Any, value: Any, context: Any) -> Any:
    """Decode all messages of a list but the last."""
    return original(self, value[:-1], context)


@change(ObjectList, "holds", GOOGLE, "each-by-itself/anywhere")
def reads_all_entries_or_none(original: Any, self: Any, value: Any) -> bool:
    """Leave a list of candidates in the residue if one of them is no object."""
    return original(self, value) and all(isinstance(entry, dict) for entry in value)


@change(Choice, "encode", CHAT, "identity/sdk")
def writes_tool_choices_as_usual(original: Any, self: Any, value: Any, context: Any, owner: Any) -> Any:
    """Write a tool choice in its usual spelling instead of the original one."""
    return original(self, replace(value, extra=None), context, owner)
