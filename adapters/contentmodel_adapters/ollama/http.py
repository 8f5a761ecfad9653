"""The HTTP interface of /api/chat (docs.ollama.com/api/chat and .../api/authentication, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod

HTTP = HttpApi(
    base_url="http://127.0.0.1:11434",
    generate=HttpMethod(path="/api/chat", routes=("/api/chat",)),
    key_variables=("OLLAMA_API_KEY",),
    streams_by_default=True,
    # The clients parse each line as JSON, which may begin with spaces (_client.py of ollama 0.6.3). They read no blank
    # lines and no comments.
    keep_alive=b" ",
    comments=False,
)
