"""The checks: each tries one law on one kind of input. Importing this registers all, in the order of reports."""

from __future__ import annotations

from importlib import import_module

from contentmodel_conformance.checks.registry import CHECKS, LAWS, Check

__all__ = ["CHECKS", "LAWS", "Check"]

# One adapter and its payloads, its values, two adapters, plans, lanes, errors, hosted tools, guests, voices, hints,
# streams, costs, fairness, recordings, readers, single values, calls, detection, models and hosts.
for _name in (
    "payloads",
    "nulls",
    "values",
    "crossing",
    "planning",
    "lanes",
    "failures",
    "hosted",
    "guests",
    "voices",
    "hints",
    "streams",
    "bounds",
    "fairness",
    "recorded",
    "agreement",
    "recorded_streams",
    "live_prefix",
    "honest_endings",
    "relayed",
    "by_itself",
    "calls",
    "detection",
    "model_names",
    "obeying",
):
    import_module(f"{__name__}.{_name}")
