"""Defects in stored documents."""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.mutants.broken import CHAT
from contentmodel_conformance.mutants.engine.changes import change, module

_CHECK = "stored-documents/forged"

serialize = module("serialize")


@change(serialize, "_newer_fields", CHAT, _CHECK)
def takes_all_fields_for_newer(original: Any, kept: Any, owner: Any) -> dict[str, Any]:
    """Write kept fields of a newer version over those that this version has."""
    return {serialize._field_of(key): item for key, item in kept.items()}


@change(serialize, "_put_back_at", CHAT, _CHECK)
def trusts_the_paths_of_newer_fields(original: Any, steps: Any, newer: Any, plain: Any, value: Any) -> None:
    """Add newer fields to an object at a path without a test that there is one."""
    for step in steps:
        plain, value = plain[step], value[step] if isinstance(step, int) else getattr(value, step)
    plain.update(newer)
