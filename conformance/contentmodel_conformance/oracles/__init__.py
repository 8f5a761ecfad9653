"""Validators (judges) of wire payloads, built from the types of the providers' SDKs.

A judge has the age of the installed SDK: a recorded payload that it refuses may be valid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from contentmodel.extras import needs_extra
from contentmodel_conformance.oracles import google
from contentmodel_conformance.oracles.envelopes import Kind, anthropic_stable_request, envelope
from contentmodel_conformance.oracles.validators import Check, shape_check, type_check

__all__ = ["APIS", "SDK_EXTRAS", "Judge", "Kind", "judge"]

SDK_EXTRAS = {
    "anthropic-messages": "anthropic",
    "google-generate-content": "google",
    "openai-chat": "openai",
    "openai-responses": "openai",
}
"""The extra that installs the SDK of each API."""
APIS = tuple(SDK_EXTRAS)


@dataclass(frozen=True)
class Judge:
    """Validates payloads against an SDK's types. A payload is valid if one of the `checks` finds no fault."""

    api: str
    kind: str
    checks: tuple[Check, ...]

    def faults(self, payload: dict[str, Any]) -> list[str]:
        """Return the faults, each with its JSON path; [] if valid. Of several checks, the shortest list counts."""
        fewest: list[str] = []
        for check in self.checks:
            new_faults = check(payload)
            if not new_faults:
                return []
            fewest = new_faults if not fewest or len(new_faults) < len(fewest) else fewest
        return fewest


@cache
def judge(api: str, kind: str) -> Judge:
    """Return the judge of an API's requests or responses. Raises LookupError or, without SDK, ImportError."""
    if (api, kind) not in _CHECKS:
        raise LookupError(f"no judge of {api} {kind}")
    with needs_extra(SDK_EXTRAS[api]):
        return Judge(api, kind, _CHECKS[api, kind]())


def _anthropic_request() -> tuple[Check, ...]:
    return shape_check(envelope("anthropic-messages", "request")), shape_check(anthropic_stable_request())


def _anthropic_response() -> tuple[Check, ...]:
    from anthropic.types import Message
    from anthropic.types.beta import BetaMessage

    return type_check(BetaMessage), type_check(Message)


def _chat_response() -> tuple[Check, ...]:
    from openai.types.chat import ChatCompletion

    return (type_check(ChatCompletion),)


def _responses_response() -> tuple[Check, ...]:
    from openai.types.responses import Response

    of_sdk = type_check(Response)

    def check(payload: dict[str, Any]) -> list[str]:
        # A custom call has a status in recorded answers and in `ResponseCustomToolCallItem`, but not in `Response`.
        output = payload.get("output")
        items = [_without_status(item) for item in output] if isinstance(output, list) else output
        return of_sdk({**payload, "output": items} if "output" in payload else payload)

    return (check,)


def _without_status(item: Any) -> Any:
    if not isinstance(item, dict) or item.get("type") != "custom_tool_call":
        return item
    known = ("in_progress", "completed", "incomplete")
    return {key: value for key, value in item.items() if key != "status" or value not in known}


_CHECKS: dict[tuple[str, str], Callable[[], tuple[Check, ...]]] = {
    ("anthropic-messages", "request"): _anthropic_request,
    ("anthropic-messages", "response"): _anthropic_response,
    ("google-generate-content", "request"): lambda: (google.request_check(),),
    ("google-generate-content", "response"): lambda: (google.response_check(),),
    ("openai-chat", "request"): lambda: (shape_check(envelope("openai-chat", "request")),),
    ("openai-chat", "response"): _chat_response,
    ("openai-responses", "request"): lambda: (shape_check(envelope("openai-responses", "request")),),
    ("openai-responses", "response"): _responses_response,
}
