"""Mistakes in losses and in where they were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.engine.losses import encoded, loss, provenance
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT
from contentmodel_conformance.mutants.engine.changes import RESPONSES, change


@change(provenance.ModelPaths, "source", ANTHROPIC, "tracing/foreign")
def follows_one_replacement(original: Any, self: Any, item: Any) -> Any:
    """Follows a value back through one replacement, and not through all."""
    return self._originals.get(id(item), item)


@change(provenance, "stepped", ANTHROPIC, "section/foreign")
def counts_lists_from_one(original: Any, path: Any, step: Any) -> Any:
    """Counts the elements of a list from one in paths."""
    return original(path, step + 1 if isinstance(step, int) else step)


@change(provenance, "parts_of", ANTHROPIC, "accounting/crossing")
def searches_no_lists(original: Any, value: Any) -> Any:
    """Does not look for lost values inside of lists."""
    return [] if isinstance(value, list) else original(value)


@change(provenance, "with_distinct_parts", CHAT, "sharing/foreign")
def reports_shared_values_once(original: Any, value: Any, seen: Any = None) -> Any:
    """Reports the loss of a value that is used twice once."""
    return value


@change(provenance, "_field_paths", ANTHROPIC, "precision/crossing")
def names_the_object_of_a_field(original: Any, place: Any, field: Any) -> Iterator[Any]:
    """Reports the object as lost where one of its fields is."""
    yield place.path, "", True


@change(provenance, "residue_path", CHAT, "accounting/unknown")
def puts_residue_in_the_wrong_object(original: Any, path: str, field: str) -> str:
    """Gives a field that only its API knows the path of the object above."""
    return str(original(path.rpartition(".")[0] or path, field))


@change(encoded, "_left_behind", CHAT, "accounting/unknown")
def leaves_fields_behind_in_silence(original: Any, owner: Any, kept: Any) -> Iterator[Any]:
    """Reports no fields that only their own API knows."""
    yield from ()


@change(encoded, "_around", RESPONSES, "accounting/crossing")
def forgets_the_fields_of_items(original: Any, owner: Any, api: Any, item: Any) -> Iterator[Any]:
    """Reports no fields of the wire object whose part a content was."""
    yield from ()


@change(encoded, "_repeats", ANTHROPIC, "accounting/crossing")
def takes_fields_for_repeated(original: Any, found: Any, signs: Any) -> bool:
    """Leaves out losses of fields as if a text said them."""
    return found.code in ("no-field", "provider-field")


@change(loss.PendingLoss, "at", CHAT, "accounting/crossing")
def takes_no_place_for_exact(original: Any, self: Any, path: str, target: str, what: str, *, exact: bool = True) -> Any:
    """Reports every loss as somewhere in the value at its path."""
    return original(self, path, target, what, exact=False)
