"""The HTTP interface of Chat Completions (platform.openai.com/docs/api-reference/chat, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod

HTTP = HttpApi(
    base_url="https://api.openai.com/v1",
    generate=HttpMethod(path="/chat/completions", routes=("/v1/chat/completions",)),
    dates_answers=True,
    key_variables=("OPENAI_API_KEY",),
    forwarded=("openai-organization", "openai-project"),
    # Without it, a stream has no usage.
    usage_fields={"stream_options": {"include_usage": True}},
)
