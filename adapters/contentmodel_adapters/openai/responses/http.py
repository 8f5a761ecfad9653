"""The HTTP interface of Responses (platform.openai.com/docs/api-reference/responses, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod, TokenCounting

HTTP = HttpApi(
    base_url="https://api.openai.com/v1",
    generate=HttpMethod(path="/responses", routes=("/v1/responses",)),
    count=TokenCounting(
        method=HttpMethod(path="/responses/input_tokens", routes=("/v1/responses/input_tokens",)),
        # The parameters of types/responses/input_token_count_params.py of openai 3.54.
        fields=(
            *("model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text"),
            *("truncation", "previous_response_id", "conversation", "personality"),
        ),
        result="input_tokens",
        answer={"object": "response.input_tokens"},
    ),
    dates_answers=True,
    key_variables=("OPENAI_API_KEY",),
    forwarded=("openai-organization", "openai-project", "openai-beta"),
    # The other APIs store no answers.
    foreign={"store": False},
    keeps_conversations=True,
    # Its answer is encrypted: only OpenAI can make one, and read it (resources/responses/responses.py of openai 3.54).
    passed=(HttpMethod(path="/responses/compact", routes=("/v1/responses/compact",)),),
)
