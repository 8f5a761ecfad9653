"""The errors of Amazon Bedrock: names of exceptions, in bodies and in streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from contentmodel.authoring import Aliases, DecodeContext, ErrorBody, ErrorTypes, Field, ProtobufJson
from contentmodel_adapters.shared.errors_at_top import decode_with_error


def type_of(name: str) -> str:
    """Return the name of an exception without its namespace and link. Headers and bodies may contain both."""
    return name.partition(":")[0].rpartition("#")[2]


class Errors(ErrorTypes):
    """The kinds of errors, by the name of the exception, which may have a namespace."""

    def kind_of(self, wire: Mapping[str, object]) -> str | None:
        name = wire.get(TYPE)
        return super().kind_of({**wire, TYPE: type_of(name)} if isinstance(name, str) else wire)


TYPE = "__type"
"""The field of an error body that names the exception. In HTTP answers, the header x-amzn-errortype has it, too."""
# docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, "Errors", seen 2026-11-23.
ERRORS = Errors(
    (TYPE,),
    {
        "invalid_request": {TYPE: "ValidationException"},
        "context_length": {TYPE: "ValidationException"},
        "too_large": {TYPE: "ValidationException"},
        "authentication": {TYPE: "UnrecognizedClientException"},
        "permission": {TYPE: "AccessDeniedException"},
        "billing": {TYPE: "AccessDeniedException"},
        "conflict": {TYPE: "ConflictException"},
        "not_found": {TYPE: "ResourceNotFoundException"},
        "rate_limit": {TYPE: "ThrottlingException"},
        "timeout": {TYPE: "ModelTimeoutException"},
        "server": {TYPE: "InternalServerException"},
        "overloaded": {TYPE: "ServiceUnavailableException"},
    },
    {
        "ModelErrorException": "server",
        "ModelStreamErrorException": "server",
        "ModelNotReadyException": "overloaded",
        "ServiceQuotaExceededException": "rate_limit",
        "ExpiredTokenException": "authentication",
        "InvalidSignatureException": "authentication",
        "MissingAuthenticationTokenException": "authentication",
    },
    {"authentication": 403, "timeout": 408, "overloaded": 503},
)
KINDS = {name: kind for name in ERRORS.types if (kind := ERRORS.kind_of({TYPE: name})) is not None}
"""The kind of each exception, by name."""
STREAMED = {"ThrottlingException", "ValidationException", "ServiceUnavailableException", "ModelStreamErrorException"}
"""The exceptions that streams can have. Any other one is sent as an InternalServerException."""


ALIASES = {"Message": "message"}
"""The other name of the message, which the services in front of a model use (botocore 1.43.117, parsers.py)."""
OTHER_NAMES: tuple[Field, ...] = (ProtobufJson(), Aliases(ALIASES))
FIELDS = ("message", *ALIASES, TYPE, "originalStatusCode", "originalMessage", "resourceName")
"""The fields of an exception."""


def is_error(wire: Mapping[str, Any]) -> bool:
    """Return whether an object has the fields of an error at the top."""
    return any(isinstance(wire.get(key), str) for key in ("message", *ALIASES, TYPE))


def with_error(
    wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any], body: ErrorBody
) -> Any:
    """Return a decoded response with the error at the top of its body."""
    return decode_with_error(wire, context, decode, body, FIELDS)


def with_usual_names(wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an error with their usual names."""
    return {ALIASES.get(key, key): value for key, value in wire.items()}


def wire_of_exception(name: str, wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error body for an exception in a stream."""
    return {TYPE: name[:1].upper() + name[1:], **wire}


def exception_of(payload: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the event for an error body, and its name."""
    kind = type_of(str(payload.get(TYPE, "")))
    name = kind if kind in STREAMED else "InternalServerException"
    return {key: value for key, value in payload.items() if key != TYPE}, name[0].lower() + name[1:]
