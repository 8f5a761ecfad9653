"""Validators (judges) of wire payloads, built from the types of the providers' SDKs.

A judge has the age of the installed SDK: a recorded payload that it refuses may be valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from contentmodel.adapter import adapter
from contentmodel.errors import UnknownApiError
from contentmodel.extras import needs_extra
from contentmodel_conformance.oracles.envelopes import Kind
from contentmodel_conformance.oracles.sdks import APIS, SDKS, Sdk
from contentmodel_conformance.oracles.validators import Check, shape_check

__all__ = ["APIS", "SDKS", "Judge", "Kind", "Sdk", "judge"]


@dataclass(frozen=True)
class Judge:
    """Validates payloads against an SDK's types. A payload is valid if one of the `checks` finds no fault."""

    api: str
    kind: str
    checks: tuple[Check, ...]

    def faults(self, payload: dict[str, Any]) -> list[str]:
        """Return the faults, each with its JSON path; [] if valid. Of several checks, the shortest list counts."""
        payload = _without(_fields_of_host(self.api, payload), payload)
        fewest: list[str] = []
        for check in self.checks:
            new_faults = check(payload)
            if not new_faults:
                return []
            fewest = new_faults if not fewest or len(new_faults) < len(fewest) else fewest
        return fewest


def _fields_of_host(api: str, payload: dict[str, Any]) -> frozenset[str]:
    """Return the fields that the host of a payload's model adds to the API. The SDK does not have them."""
    try:
        host = getattr(adapter(api), "host", None)
    except UnknownApiError:
        return frozenset()
    model = payload.get("model")
    return frozenset() if host is None or not isinstance(model, str) else host(model).fields


def _without(fields: frozenset[str], value: Any) -> Any:
    """Return a JSON value without the fields of these names."""
    if not fields or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [_without(fields, item) for item in value]
    return {key: _without(fields, item) for key, item in value.items() if key not in fields}


@cache
def judge(api: str, kind: str) -> Judge:
    """Return the judge of an API's requests or responses. Raises LookupError or, without SDK, ImportError."""
    sdk = SDKS.get(api)
    if sdk is None or kind not in ("request", "response"):
        raise LookupError(f"no judge of {api} {kind}")
    with needs_extra(sdk.extra):
        checks = sdk.checks.get(kind)
        return Judge(api, kind, checks() if checks is not None else (shape_check(sdk.record(kind)),))
