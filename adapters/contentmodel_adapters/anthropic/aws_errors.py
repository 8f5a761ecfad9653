"""The errors of Amazon Bedrock: names of exceptions, in bodies and in streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import Aliases, DecodeContext, ErrorBody, ErrorTypes, Field, ProtobufJson
from contentmodel.content.outcomes import ErrorContent
from contentmodel_adapters.common.answer import decode_with_error


def type_of(name: str) -> str:
    """Return the name of an exception without its namespace and link. Headers and bodies may contain both."""
    return name.partition(":")[0].rpartition("#")[2]


class Errors(ErrorTypes):
    """The kinds of errors, by the name of the exception, which may have a namespace."""

    def kind_of(self, wire: Mapping[str, object]) -> str | None:
        usual = {NAMES.get(key, key): value for key, value in wire.items()}
        names = {key: type_of(name) for key in self.keys if isinstance(name := usual.get(key), str)}
        return super().kind_of({**usual, **names})


TYPE = "__type"
"""The field of an error body that names the exception. In HTTP answers, the header x-amzn-errortype has it, too."""
ALIASES = {"Message": "message"}
"""The other name of the message, which the services in front of a model use (botocore 1.43.117, parsers.py)."""
NAMES = {**ALIASES, "Code": TYPE}
"""The other names of fields, also those in botocore's errors."""
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
        # awsconsolehelpdocs/latest/gsg/common-errors.html, seen 2026-11-27.
        "UnknownOperationException": "not_found",
        "InternalFailure": "server",
        "ServiceUnavailable": "overloaded",
        # The example of an error in a stream (smithy.io/2.0/aws/amazon-eventstream.html, seen 2026-11-27).
        "InternalError": "server",
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


OTHER_NAMES: tuple[Field, ...] = (ProtobufJson(), Aliases(ALIASES))
NAMES_OF_ROW: tuple[Field, ...] = (ProtobufJson(), Aliases(NAMES))
"""The other names of the fields of a row that has the name of the exception in `TYPE`."""
FIELDS = ("message", *ALIASES, TYPE, "originalStatusCode", "originalMessage", "resourceName")
"""The fields of an exception."""


HOLDERS = {"Output": TYPE, "Error": "Code"}
"""The objects that may hold the fields of an error, each with its field for the name of the exception.

The service answers with `Output` if it has no such path (BerriAI/litellm#13618, seen 2026-11-27). `Error` is in
the `response` of botocore's ClientError, which applications log (botocore 1.43.117, parsers.py).
"""


OF_HOLDERS: dict[str, Any] = {"ResponseMetadata": None, "Version": ("1.0",)}
"""The fields beside such an object that have no meaning."""


def holder_of(wire: Mapping[str, Any]) -> str | None:
    """Return the key of the object that holds the fields of an error; None if there is none."""
    for key, name in HOLDERS.items():
        fields = wire.get(key)
        if fields.__class__ is dict and isinstance(fields.get(name), str):
            return key
    return None


def nested_error(holder: str, wire: dict[str, Any], context: DecodeContext, body: ErrorBody) -> ErrorContent:
    """Return the error in the object under the key `holder`."""
    error = body.decode(wire[holder], context, wire, holder)
    context.trace(body.row, [error], wire, holder, spread=False)
    return error


def is_error(wire: Mapping[str, Any]) -> bool:
    """Return whether an object has the fields of an error at the top."""
    return any(isinstance(wire.get(key), str) for key in ("message", *ALIASES, TYPE))


def with_error(
    wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any], body: ErrorBody
) -> Any:
    """Return a decoded response with the error at the top of its body, or in an object there."""
    holder = holder_of(wire)
    if holder is not None:
        error = nested_error(holder, wire, context, body)
        return msgspec.structs.replace(decode(context.without(wire, (holder,))), error=error)
    return decode_with_error(wire, context, decode, body, FIELDS)


def with_usual_names(wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an error with their usual names."""
    return {ALIASES.get(key, key): value for key, value in wire.items()}


def is_exception(name: str | None, wire: Mapping[str, Any]) -> bool:
    """Return whether an event of a stream is an exception, or an error that the service's model does not have."""
    return (name is not None and name.endswith("Exception")) or isinstance(wire.get(TYPE), str)


def wire_of_exception(name: str, wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error body for an exception in a stream."""
    return {TYPE: name[:1].upper() + name[1:], **wire}


def exception_of(payload: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the event for an error body, and its name."""
    holder = holder_of(payload)
    if holder is not None:
        # An event has the fields of the exception at the top, with their usual names.
        payload = {NAMES.get(key, key): value for key, value in payload[holder].items()}
    kind = type_of(str(payload.get(TYPE, "")))
    name = kind if kind in STREAMED else "InternalServerException"
    return {key: value for key, value in payload.items() if key != TYPE}, name[0].lower() + name[1:]
