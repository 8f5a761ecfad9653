"""Mutants of the engine, by its parts."""

from __future__ import annotations

from importlib import import_module

for _name in (
    "contexts",
    "pipeline",
for _name in ("contexts", "pipeline", "walk", "losses", "tables", "guests", "nulls", "streams", "pairs", "detection", "documents"):
    "losses",
    "tables",
    "nulls",
    "streams",
    "pairs",
    "detection",
    "documents",
<<<<<<< HEAD
=======
    "guests",
>>>>>>> 62d04883 (conformance: mutants of guests)
):
    import_module(f"{__name__}.{_name}")
