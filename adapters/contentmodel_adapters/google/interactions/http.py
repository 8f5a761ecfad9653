"""The HTTP interface of Interactions (google-genai 3.4, _gaos/interactions.py; seen 2026-11-26)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod

HTTP = HttpApi(
    base_url="https://generativelanguage.googleapis.com",
    generate=HttpMethod(
        path="/v1beta/interactions",
        routes=("/{version}/interactions", "/{version}/{parent:path}/interactions"),
    ),
    # The version of the types. Without it, a server may answer in an older form (_hooks/google_genai_auth.py).
    headers={"Api-Revision": "2026-05-20"},
    key_header="x-goog-api-key",
    key_prefix="",
    key_query="key",
    # google-genai prefers the first one (google/genai/_api_client.py of 3.4, get_env_api_key).
    key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
)
