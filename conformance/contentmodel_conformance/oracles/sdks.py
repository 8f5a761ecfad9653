"""The SDK of each API: its package, its types of whole payloads, and the checks of payloads against them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from contentmodel_conformance.oracles import aws, envelopes, google
from contentmodel_conformance.oracles.shapes import Record
from contentmodel_conformance.oracles.validators import Check, shape_check, type_check


@dataclass(frozen=True)
class Sdk:
    """The SDK that has the types of an API.

    `package` is its distribution, and `extra` is the extra of this project that installs it. `request` and `response`
    return the record of a whole payload. `checks` has the checks of a kind: of several checks, one must find no fault.
    A kind without an entry is checked against its record.
    """

    package: str
    extra: str
    request: Callable[[], Record]
    response: Callable[[], Record]
    checks: Mapping[str, Callable[[], tuple[Check, ...]]] = field(default_factory=dict)

    def record(self, kind: str) -> Record:
        """Return the record of a whole payload."""
        return self.request() if kind == "request" else self.response()


@cache
def envelope(api: str, kind: str) -> Record:
    """Return the record of a whole request body or response. Raises KeyError for an API without an SDK here."""
    return SDKS[api].record(kind)


def _anthropic_request() -> tuple[Check, ...]:
    return shape_check(envelopes.anthropic_request()), shape_check(envelopes.anthropic_stable_request())


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


def _cohere_response() -> tuple[Check, ...]:
    from cohere.v2.types.v2chat_response import V2ChatResponse

    return (type_check(V2ChatResponse),)


def _interactions_request() -> tuple[Check, ...]:
    return shape_check(envelopes.interactions_request()), shape_check(envelopes.interactions_request("agent"))


def _without_status(item: Any) -> Any:
    if not isinstance(item, dict) or item.get("type") != "custom_tool_call":
        return item
    statuses = ("in_progress", "completed", "incomplete")
    return {key: value for key, value in item.items() if key != "status" or value not in statuses}


SDKS = {
    "anthropic-messages": Sdk(
        package="anthropic",
        extra="anthropic",
        request=envelopes.anthropic_request,
        response=envelopes.anthropic_response,
        checks={"request": _anthropic_request, "response": _anthropic_response},
    ),
    "cohere-chat": Sdk(
        package="cohere",
        extra="cohere",
        request=envelopes.cohere_request,
        response=envelopes.cohere_response,
        checks={"response": _cohere_response},
    ),
    "bedrock-converse": Sdk(
        package="botocore",
        extra="bedrock",
        request=aws.converse_request,
        response=aws.converse_response,
    ),
    "google-generate-content": Sdk(
        package="google-genai",
        extra="google",
        request=envelopes.google_request,
        response=envelopes.google_response,
        checks={"request": lambda: (google.request_check(),), "response": lambda: (google.response_check(),)},
    ),
    "google-interactions": Sdk(
        package="google-genai",
        extra="google",
        request=envelopes.interactions_request,
        response=envelopes.interactions_response,
        checks={"request": _interactions_request},
    ),
    "mistral-chat": Sdk(
        package="mistralai",
        extra="mistral",
        request=envelopes.mistral_request,
        response=envelopes.mistral_response,
    ),
    "ollama-chat": Sdk(
        package="ollama", extra="ollama", request=envelopes.ollama_request, response=envelopes.ollama_response
    ),
    "openai-chat": Sdk(
        package="openai",
        extra="openai",
        request=envelopes.chat_request,
        response=envelopes.chat_response,
        checks={"response": _chat_response},
    ),
    "openai-responses": Sdk(
        package="openai",
        extra="openai",
        request=envelopes.responses_request,
        response=envelopes.responses_response,
        checks={"response": _responses_response},
    ),
}
"""The SDKs of the APIs that have one. A new API is one entry."""
APIS = tuple(SDKS)
