"""The HTTP interface of Messages (platform.claude.com/docs/en/api/overview and .../versioning, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod, TokenCounting

HTTP = HttpApi(
    base_url="https://api.anthropic.com",
    generate=HttpMethod(path="/v1/messages", routes=("/v1/messages",)),
    count=TokenCounting(
        method=HttpMethod(path="/v1/messages/count_tokens", routes=("/v1/messages/count_tokens",)),
        # The parameters of types/beta/message_count_tokens_params.py of anthropic 2.12.
        fields=(
            *("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control"),
            *("context_management", "compaction", "mcp_servers", "billing_policy", "speed"),
        ),
        result="input_tokens",
    ),
    key_header="x-api-key",
    key_prefix="",
    key_variables=("ANTHROPIC_API_KEY",),
    headers={"anthropic-version": "2023-06-01"},
    forwarded=("anthropic-version", "anthropic-beta"),
    request_id="request-id",
    keep_alive=b'event: ping\ndata: {"type": "ping"}\n\n',
)
