"""Mutants of the engine, by its parts."""

from __future__ import annotations

from importlib import import_module

for _name in (
    "contexts",
    "pipeline",
    "walk",
    "lanes",
    "losses",
    "tables",
    "guests",
    "nulls",
    "streams",
    "pairs",
    "detection",
    "documents",
):
    import_module(f"{__name__}.{_name}")
