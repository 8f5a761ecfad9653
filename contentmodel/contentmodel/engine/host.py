"""The host of a model, for APIs that several hosts offer, each with additions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from contentmodel.engine.streams.formats import StreamFormat


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """The additions of the host of a model to an API.

    - `issuers`: the issuers whose opaque state the host reads, besides the API's own.
    - `state_field`: the field of a message that contains reasoning with this state. `state_residue` are other fields of
      such reasoning.
    - `fields`: the host's fields that the API does not have.
    - `cache_points`: whether the host accepts cache points for all models.
    - `policies`: the host's default policies.
    - `stream_format`: the format of its streams; None if it is the API's own.
    - `serves`: the makers whose models the host serves, for the rule `MODEL_RULE`; None if they are those of the API.
    - `dialect`: the adapter's own description of the host.
    """

    issuers: frozenset[str] = frozenset()
    state_field: str | None = None
    state_residue: Mapping[str, Any] = {}
    fields: frozenset[str] = frozenset()
    cache_points: bool = False
    policies: Mapping[str, str] = {}
    stream_format: StreamFormat | None = None
    serves: frozenset[str] | None = None
    dialect: Any = None


NO_HOST = Host()
