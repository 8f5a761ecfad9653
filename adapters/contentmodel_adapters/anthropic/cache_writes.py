"""The tokens that Claude writes to caches, by their lifetime: the Messages API and Converse count them in other forms.

They are residue of the usage. Sources: types/cache_creation.py of anthropic 2.12, CacheDetail of botocore 1.43.117;
seen 2026-11-27.
"""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.authoring import EncodeContext
from contentmodel.response import ChatResponse

_FIELDS = {"anthropic-messages": "cache_creation", "bedrock-converse": "cacheDetails"}
_COUNTERS = {"1h": "ephemeral_1h_input_tokens", "5m": "ephemeral_5m_input_tokens"}
"""The counters of the Messages API, in the order in which Converse lists the lifetimes."""


def with_cache_writes_of_kin(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return a response of the other API of Claude with the cache writes in the form of this one."""
    usage, origin = response.usage, response.origin
    if usage is None or origin is None or origin.api not in _FIELDS or context.native:
        return response
    extra, field = usage.extra or {}, _FIELDS[origin.api]
    counts = counts_of(extra.get(origin.api, {}).get(field))
    if not counts:
        return response
    left = {name: value for name, value in extra[origin.api].items() if name != field}
    own = {**extra.get(context.api, {}), _FIELDS[context.api]: _written(counts, context.api)}
    changed = context.replace(usage, extra={**extra, origin.api: left, context.api: own})
    return msgspec.structs.replace(response, usage=changed)


def counts_of(value: Any) -> dict[str, int]:
    """Return the tokens by lifetime; none if the value has another form."""
    if value.__class__ is list and all(
        item.__class__ is dict and item.keys() == {"ttl", "inputTokens"} for item in value
    ):
        counts = {item["ttl"]: item["inputTokens"] for item in value if item["ttl"] in ("1h", "5m")}
        is_whole = len(counts) == len(value)
    else:
        counters = value if value.__class__ is dict else {}
        counts = {ttl: counters[name] for ttl, name in _COUNTERS.items() if name in counters}
        is_whole = len(counts) == len(counters)
    return counts if is_whole and all(count.__class__ is int for count in counts.values()) else {}


def _written(counts: dict[str, int], api: str) -> Any:
    if api == "anthropic-messages":
        return {name: counts.get(ttl, 0) for ttl, name in reversed(_COUNTERS.items())}
    return [{"ttl": ttl, "inputTokens": counts[ttl]} for ttl in _COUNTERS if counts.get(ttl)]
