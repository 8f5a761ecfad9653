"""Defects in the state of one decoding or encoding, and in the steps of an adapter."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.engine.adapting import TableAdapter
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, GOOGLE
from contentmodel_conformance.mutants.engine.changes import RESPONSES, change

replace = msgspec.structs.replace


@change(EncodeContext, "replace", ANTHROPIC, "tracing/foreign")
def forgets_what_it_replaces(original: Any, self: Any, old: Any, **fields: Any) -> Any:
    """Replace a value without a record."""
    return replace(old, **fields)


@change(EncodeContext, "replaced", CHAT, "tracing/foreign")
def records_replacements_backwards(original: Any, self: Any, old: Any, new: Any) -> Any:
    """Record the new value as the replaced one."""
    original(self, new, old)
    return new


@change(EncodeContext, "report_lost_attributes", GOOGLE, "section/settings")
def drops_false_values_silently(original: Any, self: Any, owner: Any, names: Any) -> None:
    """Report no loss of values that are false, zero or empty."""
    for name in names:
        value = owner
        for part in name.split("."):
            value = getattr(value, part, None)
        if value:
            original(self, owner, (name,))


@change(EncodeContext, "degrade", ANTHROPIC, "accounting/unknown")
def degrades_without_fields(original: Any, self: Any, content: Any, reason: Any, *carried: str, **values: Any) -> None:
    """Report that a content is degraded, without its lost fields."""
    self.report_loss(content, None, reason, **values)


@change(EncodeContext, "leave_residue", CHAT, "accounting/unknown")
def leaves_residue_silently(original: Any, self: Any, owner: Any, *, own: bool = False) -> None:
    """Report no loss of fields that only other APIs have."""


@change(EncodeContext, "report_loss", ANTHROPIC, "accounting/crossing")
def loses_the_whole_value(original: Any, self: Any, owner: Any, field: Any, reason: Any, **named: Any) -> None:
    """Report a lost field as the loss of the value that has it."""
    original(self, owner, None, reason, **named)


@change(EncodeContext, "__init__", CHAT, "identity/table")
def fills_in_defaults_natively(original: Any, self: Any, *arguments: Any, **named: Any) -> None:
    """Add required fields to native payloads."""
    original(self, *arguments, **named)
    self.completes = True


@change(DecodeContext, "replaced", CHAT, "accounting/crossing", other=ANTHROPIC)
def forgets_what_decoding_replaced(original: Any, self: Any, old: Any, new: Any) -> None:
    """Keep no record of the values that a decoder replaces."""


@change(DecodeContext, "copied", RESPONSES, "accounting/unknown")
def forgets_copies(original: Any, self: Any, copy: Any, original_value: Any, moved: Any = None) -> None:
    """Keep no record of the objects that copies are made from."""


@change(DecodeContext, "trace_messages", CHAT, "accounting/crossing")
def traces_no_messages(original: Any, self: Any, messages: Any, container: Any, row_of: Any) -> None:
    """Keep no record of the source paths of messages."""


@change(TableAdapter, "encode_request", CHAT, "addressing/foreign")
def sends_to_the_source_model(original: Any, self: Any, request: Any, policies: Any = None, model: Any = None) -> Any:
    """Encode the model of the request instead of the model that the caller names."""
    return original(self, request, policies, None)


@change(TableAdapter, "_is_conversation", CHAT, "accounting/list")
def reads_no_bare_list(original: Any, self: Any, wire: Any) -> bool:
    """Refuse a list of messages as a request."""
    return False


@change(TableAdapter, "answer_origin", CHAT, "replay/sdk")
def records_no_answers(original: Any, self: Any, payload: Any) -> Any:
    """Keep no record that a message came from an answer."""
    return replace(original(self, payload), is_answer=False)
