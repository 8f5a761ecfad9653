"""Move provider-specific fields of a request to the target's residue, if the target has the same fields."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contentmodel.engine.context import EncodeContext
    from contentmodel.request import ChatRequest


def with_fields_of(request: ChatRequest, context: EncodeContext, other: str, names: Collection[str]) -> ChatRequest:
    """Return a request with fields of the API `other` that this API has, too, with the same names and values.

    If a host limits the fields of the target, they stay lost.
    """
    extra = request.extra or {}
    fields = extra.get(other)
    if not fields:
        return request
    same = {name: fields[name] for name in names if name in fields}
    if not same or context.host.dialect is not None:
        return request
    left = {name: value for name, value in fields.items() if name not in same}
    own: dict[str, Any] = {**same, **extra.get(context.api, {})}
    changed: ChatRequest = context.replace(request, extra={**extra, other: left, context.api: own})
    return changed
