"""The HTTP interface of Mistral's chat completions (docs.mistral.ai/api and mistralai 3.7.0, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod

HTTP = HttpApi(
    base_url="https://api.mistral.ai",
    generate=HttpMethod(path="/v1/chat/completions", routes=("/mistral/v1/chat/completions",)),
    dates_answers=True,
    key_variables=("MISTRAL_API_KEY",),
    # OpenAI's API has the same path.
    mount="/mistral",
)
