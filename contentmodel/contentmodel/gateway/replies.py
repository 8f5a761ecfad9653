"""Whole answers of the gateway, and the routes that have them. All JSON is written here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from contentmodel.gateway.front import JSON_TYPE, Front
from contentmodel.json import write


class ApiRoute(Route):
    """A route of one API, whose errors are those of this API."""

    def __init__(self, path: str, front: Front, endpoint: Any, method: str) -> None:
        super().__init__(path, endpoint, methods=[method])
        self.front = front

    def has(self, scope: Scope) -> bool:
        """Return whether a request is for this path, whatever its method."""
        return self.matches(scope)[0] is not Match.NONE


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer with a JSON value."""
    return Response(write(value), status, headers, JSON_TYPE)


def error_response(status: int, message: str, retry_after: int | None = None) -> Response:
    """Return an error that is of no API, in a form that clients of all APIs read."""
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 503: "overloaded_error"}
    kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return json_response(
        {"type": "error", "error": {"type": kind, "message": message, "code": status}}, status, headers
    )
