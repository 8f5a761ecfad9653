"""Conversion without the steps that mend a transcript, to show what these cost where there is nothing to mend."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import contentmodel
from contentmodel.engine.adapting import TableAdapter
from contentmodel.engine.pipeline import passes

_MODULES = tuple(
    importlib.import_module(f"contentmodel_adapters.{name}")
    for name in ("openai_chat", "openai_responses", "anthropic_messages", "google_generate_content")
)


def _same(value: Any, *_: Any, **__: Any) -> Any:
    return value


def _same_payload(adapter: Any, payload: Any, *_: Any) -> Any:
    return payload


# Where each step is looked up, and what does nothing in its place: ids and names, pairs, schemas, media, settings.
_STEPS: list[tuple[Any, str, Callable[..., Any]]] = [
    *((module, "with_fitting_calls", _same) for module in _MODULES),
    *((module, "with_fitting_schemas", _same) for module in _MODULES),
    (passes, "with_readable_media", _same),
    (TableAdapter, "_without_refused", _same_payload),
]


def convert_unmended(data: bytes, source: str, target: str) -> bytes:
    """A request converted as it is: what the target refuses of it stays in it."""
    kept = [(place, name, getattr(place, name)) for place, name, _ in _STEPS]
    for place, name, nothing in _STEPS:
        setattr(place, name, nothing)
    try:
        return contentmodel.convert(data, source=source, target=target, kind="request").to_json()
    finally:
        for place, name, step in kept:
            setattr(place, name, step)
