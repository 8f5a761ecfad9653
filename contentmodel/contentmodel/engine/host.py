"""The host of a model, for APIs that several hosts offer, each with additions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """The additions of the host of a model to an API.

    - `issuers`: those whose opaque state it reads, besides the API's own.
    - `state_field`: the field of a message that contains reasoning with this state. `state_residue` are other fields of
      such reasoning.
    - `fields`: the fields that the API does not have.
    - `cache_points`: whether it takes cache points for all models.
    - `policies`: used if the caller sets no other.
    - `dialect`: the adapter's own description of the host.
    """

    issuers: frozenset[str] = frozenset()
    state_field: str | None = None
    state_residue: Mapping[str, Any] = {}
    fields: frozenset[str] = frozenset()
    cache_points: bool = False
    policies: Mapping[str, str] = {}
    dialect: Any = None


NO_HOST = Host()
