"""Defects in losses and in their paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel import encoded, losses
from contentmodel.engine.losses import inner, model_paths, provenance, records
from contentmodel.engine.table import rows
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT
from contentmodel_conformance.mutants.engine.changes import RESPONSES, change


@change(model_paths.ModelPaths, "source", ANTHROPIC, "tracing/foreign")
def follows_one_replacement(original: Any, self: Any, item: Any) -> Any:
    """Trace a value through only one replacement."""
    return self.originals.get(id(item), item)


@change(model_paths, "stepped", ANTHROPIC, "section/foreign")
def counts_lists_from_one(original: Any, path: Any, step: Any) -> Any:
    """Start the indices in paths at one."""
    return original(path, step + 1 if isinstance(step, int) else step)


@change(model_paths, "_parts", ANTHROPIC, "accounting/crossing")
def searches_no_lists(original: Any, kind: Any) -> Any:
    """Search for lost values outside of lists only."""
    names, values_of = original(kind)
    return names, lambda owner: [() if isinstance(value, list) else value for value in values_of(owner)]


@change(rows.Row, "element_at", ANTHROPIC, "accounting/crossing")
def takes_the_next_element(original: Any, self: Any, attribute: str, index: int, wire: Any, path: str) -> Any:
    """Report a lost content with the path of the next one."""
    return original(self, attribute, index + 1, wire, path) or original(self, attribute, 0, wire, path)


@change(model_paths, "with_distinct_parts", CHAT, "sharing/foreign")
def reports_shared_values_once(original: Any, value: Any, seen: Any = None) -> Any:
    """Report the loss of a value that is used twice only once."""
    return value


@change(provenance, "_field_paths", ANTHROPIC, "precision/crossing")
def names_the_object_of_a_field(original: Any, place: Any, field: Any) -> Iterator[Any]:
    """Report a lost field with the path of its object."""
    yield place.path, "", True


@change(provenance, "residue_path", CHAT, "accounting/unknown")
def puts_residue_in_the_wrong_object(original: Any, path: str, field: str, wire: Any = None) -> str:
    """Report a lost unknown field with the path of the object above."""
    return str(original(path.rpartition(".")[0] or path, field, wire))


@change(encoded, "_left_behind", CHAT, "accounting/unknown")
def leaves_fields_silently(original: Any, owner: Any, kept: Any) -> Iterator[Any]:
    """Report no loss of provider-specific fields."""
    yield from ()


@change(encoded, "_around", RESPONSES, "accounting/crossing")
def forgets_the_fields_of_items(original: Any, owner: Any, api: Any, item: Any) -> Iterator[Any]:
    """Report no loss of fields of the wire object that a content was a part of."""
    yield from ()


@change(losses.PendingLoss, "at", CHAT, "accounting/crossing")
def reports_no_exact_losses(
    original: Any, self: Any, path: str, target: str, subject: str, *, exact: bool = True
) -> Any:
    """Report every loss as inexact, as if an unspecified part of the value at its path were lost."""
    return original(self, path, target, subject, exact=False)


@change(records, "report_records", CHAT, "section/stored")
def forgets_records(original: Any, messages: Any, held: Any, context: Any) -> None:
    """Report no loss of times, counts and outcomes that a stored conversation has."""


@change(inner.InnerPaths, "_own_paths", "claude-code-session", "accounting/crossing", other=CHAT)
def loses_paths_of_lines(original: Any, self: Any, owner: Any, pending: Any, model: Any) -> Any:
    """Report the fields of the lines of a session with paths in the model."""
    return None


@change(losses, "may_hold_content", "gemini-cli-session", "weight/crossing", other=CHAT)
def finds_no_content_in_fields(original: Any, value: Any) -> bool:
    """Report lost fields and lines that hold content as insignificant."""
    return False
