"""Calls and results of hosted tools that an application builds itself, with only fields of the model.

`arguments` are in the format of the target API (docs.claude.com, the pages of each tool; openai 3.54,
types/responses; google-genai 3.4, types; seen 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel import DataContent, ErrorContent, TextContent, UriContent
from contentmodel.content import ReferenceContent, hosted
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent

__all__ = ["handmade_turns"]

_PAGE = UriContent(uri="https://example.org/a")
_TEXT = TextContent(text="done")
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "openai-responses": {
        "web_search": {"type": "search", "query": "a"},
        "code_interpreter": {"code": "1"},
        "shell": {"commands": ["ls"]},
        "apply_patch": {"type": "delete_file", "path": "a"},
        "computer_use": {"action": {"type": "screenshot"}},
        "file_search": {"queries": ["a"]},
        "program": {"code": "f()"},
    },
}
_OUTPUTS: dict[str, list[Any]] = {
    "web_search": [_PAGE],
    "web_fetch": [DataContent(text="a page", media_type="text/plain", name="A page")],
    "url_context": [_PAGE],
    "code_interpreter": [_TEXT],
    "shell": [_TEXT],
    "text_editor": [_TEXT],
    "file_search": [TextContent(text="a passage")],
    "image_generation": [DataContent(data="eA==", media_type="image/png")],
    "mcp_server": [_TEXT],
    "tool_search": [ReferenceContent(item_id="look")],
    "maps": [_PAGE],
    "advisor": [_TEXT],
    "program": [_TEXT],
}


def handmade_turns(api: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield named assistant turns: the call and the result of every kind of hosted tool, together and separately.

    If the application runs the tool, there is no result: it is not part of an answer.
    """
    for name, call, result in _classes():
        arguments = _ARGUMENTS.get(api, {}).get(name, {})
        served: dict[str, Any] = {"server": "s"} if "server" in call.__struct_fields__ else {}
        called = call(call_id="t1", name="look" if name in _NAMED else None, arguments=arguments, **served)
        yield f"{name}: a call", [called]
        if called.executor == "client":
            continue
        failed = _FAILED.get(api) or [ErrorContent(code="unavailable", message="no")]
        results = [("a result", _OUTPUTS.get(name, [])), ("an empty result", []), ("a failure", failed)]
        for label, outputs in results[1:2] if name in _EMPTY.get(api, ()) else results:
            answered = result(call_id="t1", outputs=outputs, **served)
            yield f"{name}: {label}", [called, answered]
            yield f"{name}: {label} alone", [answered]


_NAMED = ("browser", "computer_use", "mcp_server")
"""The kinds whose calls have the name of one of several tools."""
# Anthropic's errors of hosted tools have only a code.
_FAILED: dict[str, list[Any]] = {
    "anthropic-messages": [ErrorContent(code="unavailable")],
    "google-interactions": [ErrorContent(code="error", message="no")],
}
_EMPTY = {"google-interactions": ("web_search", "file_search", "maps")}
"""The kinds whose results have no field for what was found, nor for a failure: citations have the pages.

Their fields are those of google-genai 3.4, _gaos/types/interactions (seen 2026-11-29).
"""


def _classes() -> Iterator[tuple[str, type[HostedToolCallContent], type[HostedToolResultContent]]]:
    """Yield each kind of hosted tool with the classes of its call and its result."""
    for name in vars(hosted):
        kind = name.removesuffix("ToolCallContent")
        if kind not in (name, "Hosted"):
            yield _snake(kind), getattr(hosted, name), getattr(hosted, f"{kind}ToolResultContent")


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")
