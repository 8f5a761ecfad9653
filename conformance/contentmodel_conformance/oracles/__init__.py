"""Judges of wire payloads, made of the types in the providers' own SDKs.

A judge is as old or as new as the SDK it was made of: a recorded payload that it refuses may well be right.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from contentmodel_conformance.oracles.envelopes import (
    GOOGLE_CLIENT_FIELDS,
    Kind,
    anthropic_stable_request,
    envelope,
    google_generation_types,
    google_request_types,
)
from contentmodel_conformance.oracles.validators import Check, shape_check, type_check

__all__ = ["APIS", "Judge", "Kind", "judge"]

APIS = ("anthropic-messages", "google-generate-content", "openai-chat", "openai-responses")


@dataclass(frozen=True)
class Judge:
    """Says what an SDK's types have against a payload; one check that has nothing against it is enough."""

    api: str
    kind: str
    checks: tuple[Check, ...]

    def faults(self, payload: dict[str, Any]) -> list[str]:
        """What is wrong, each fault with its JSON path; empty for a payload that is accepted."""
        fewest: list[str] | None = None
        for check in self.checks:
            found = check(payload)
            if not found:
                return []
            fewest = found if fewest is None or len(found) < len(fewest) else fewest
        return fewest or []


@cache
def judge(api: str, kind: str) -> Judge:
    """The judge of one API's requests or responses. Raises LookupError for others, ImportError without the SDK."""
    if (api, kind) not in _CHECKS:
        raise LookupError(f"no judge of {api} {kind}")
    return Judge(api, kind, _CHECKS[api, kind]())
