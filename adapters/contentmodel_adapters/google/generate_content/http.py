"""The HTTP interface of generateContent (ai.google.dev/api/generate-content and .../tokens, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod, TokenCounting


def _method(verb: str, **query: str) -> HttpMethod:
    """Return a method of a model. The routes are those of the Developer API and of Vertex AI."""
    return HttpMethod(
        path=f"/v1beta/models/{{model}}:{verb}",
        routes=(f"/{{version}}/models/{{model}}:{verb}", f"/{{version}}/{{parent:path}}/models/{{model}}:{verb}"),
        query=query,
    )


HTTP = HttpApi(
    base_url="https://generativelanguage.googleapis.com",
    generate=_method("generateContent"),
    stream=_method("streamGenerateContent", alt="sse"),
    count=TokenCounting(method=_method("countTokens"), wraps="generateContentRequest", result="totalTokens"),
    key_header="x-goog-api-key",
    key_prefix="",
    key_query="key",
    # google-genai prefers the first one (google/genai/_api_client.py of 3.4, get_env_api_key).
    key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    retry_in_body=True,
    # google-genai reads a comment as JSON (_RawJsonLineBuffer in _api_client.py of 3.4), and ignores blank lines.
    keep_alive=b"\n",
    comments=False,
)
