"""Tell requests of an API by their fields: those with `input` from rows of data sets, which have it beside others.

Rows of Alpaca have `instruction`, `input` and `output` (data/README.md of hiyouga/LLaMA-Factory, seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from contentmodel.authoring import Row, Table


def fields_of(request: Row, table: Table) -> frozenset[str]:
    """Return the fields of the requests of an API."""
    return frozenset((*request.known_keys(), *table.kept["request"]))


def may_be_request(payload: Mapping[str, Any], fields: Set[str]) -> bool:
    """Return whether an object may be a request: most of its fields are those of requests, or it names a model.

    A request has no `output`.
    """
    known = len(payload.keys() & fields)
    return "output" not in payload and ("model" in payload or 2 * known >= len(payload))
