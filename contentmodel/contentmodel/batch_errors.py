"""The errors in results of Google's batch files: codes of gRPC, and texts.

Sources, seen 2026-11-27: google/rpc/status.proto and google/rpc/code.proto, which list the HTTP status of each code;
"Batch prediction" of cloud.google.com/vertex-ai/generative-ai/docs, whose `status` is "Bad Request: " and the JSON text
of a body.
"""

from __future__ import annotations

from http import HTTPStatus

from contentmodel.errors import DecodeError
from contentmodel.json import Json, JsonObject, parse, write

# The HTTP statuses, and their numbers of google.rpc.Code. The first number is written.
_NUMBERS = {
    400: (3, 9, 11),
    401: (16,),
    403: (7,),
    404: (5,),
    409: (10, 6),
    429: (8,),
    499: (1,),
    500: (13, 2, 15),
    501: (12,),
    503: (14,),
    504: (4,),
}
_STATUSES = {number: status for status, numbers in _NUMBERS.items() for number in numbers}
RPC_CODES = {status: numbers[0] for status, numbers in _NUMBERS.items()}
"""The number of google.rpc.Code for each HTTP status."""
_PHRASES = {status.phrase: status.value for status in HTTPStatus if status >= 400}


def with_http_code(error: Json) -> Json:
    """Return a google.rpc.Status with the HTTP status as its code, as an error of the API has it."""
    code = error.get("code") if isinstance(error, dict) else None
    return {**error, "code": _STATUSES[code]} if code.__class__ is int and code in _STATUSES else error


def error_of_text(text: str) -> tuple[JsonObject, int]:
    """Return the error body and the status of a text of Vertex AI: a phrase of HTTP, and the JSON text of the body."""
    phrase, _, rest = text.partition(": ")
    status = _PHRASES.get(phrase, 500)
    try:
        body = parse(rest)
    except DecodeError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        return {**body, "error": with_http_code(body["error"])}, status
    return {"error": {"message": text}}, status


def text_of_error(error: JsonObject) -> str:
    """Return the text of an error that `error_of_text` reads."""
    body = with_http_code(error)
    phrase = next((phrase for phrase, status in _PHRASES.items() if status == body.get("code")), "Error")
    return f"{phrase}: {write({'error': body}).decode()}"
