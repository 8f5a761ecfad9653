"""The HTTP interface of the Chat API v2 (docs.cohere.com/v2/reference/chat, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod

HTTP = HttpApi(
    base_url="https://api.cohere.com",
    generate=HttpMethod(path="/v2/chat", routes=("/v2/chat",)),
    key_variables=("CO_API_KEY",),
    request_id="x-debug-trace-id",
)
