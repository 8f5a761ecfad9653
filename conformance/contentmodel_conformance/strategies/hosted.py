"""Calls and results of unknown hosted tools, in the format of each provider."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contentmodel_conformance.strategies.sdk import json_values

__all__ = ["HOSTED_APIS", "unknown_tools"]

Blocks: TypeAlias = list[dict[str, Any]]
_NAMES = st.sampled_from(["quantum", "weather_map", "x", "deep_research", "tool"])
_PARTS = [("Call", "Result"), ("Call", "Response"), ("_call", "_result"), ("_call", "_response")]
_WORDS = st.text(max_size=6)
_ODD_KEYS = st.sampled_from(
    ["content", "output", "outputs", "results", "status", "error", "name", "caller", "is_error"]
)
_INPUTS: list[dict[str, Any]] = [{}, {"arguments": "{}"}, {"arguments": {"a": 1}}, {"action": {"type": "a"}}]
_OUTPUTS: dict[str, list[SearchStrategy[Any]]] = {
    "anthropic-messages": [
        st.builds(lambda text: {"type": "text", "text": text}, _WORDS),
        st.builds(lambda text: {"type": "quantum_result", "text": text, "score": 1}, _WORDS),
        st.builds(lambda code: {"type": "quantum_tool_result_error", "error_code": code}, _WORDS),
        st.just({"type": "web_search_result", "url": "https://example.com", "title": "a", "encrypted_content": "e"}),
        st.just({"type": "quantum_result", "stdout": "a", "stderr": "b", "return_code": 1}),
        st.just({"type": "quantum_output", "file_id": "file_1"}),
    ],
    "openai-responses": [
        st.builds(lambda text: {"type": "input_text", "text": text}, _WORDS),
        st.builds(lambda text: {"type": "quantum", "text": text, "score": 1}, _WORDS),
        st.just({"type": "logs", "logs": "a"}),
        st.just({"type": "page", "url": "https://example.com", "title": "a"}),
        st.just({"type": "file", "file_id": "file_1"}),
        st.just({"score": 1}),
    ],
    "google-interactions": [
        st.builds(lambda text: {"type": "text", "text": text}, _WORDS),
        st.just({"type": "image", "uri": "https://example.com/a.png", "mime_type": "image/png"}),
        st.just({"type": "quantum", "score": 1}),
    ],
}


def _given_back(api: str) -> SearchStrategy[Any]:
    """Return a strategy of tool results: a list of outputs, one output, text, or any JSON."""
    one = st.one_of(_OUTPUTS[api])
    return st.lists(one, max_size=3) | one | _WORDS | json_values


@st.composite
def _anthropic(draw: DrawFn) -> Blocks:
    name, call_id = draw(_NAMES), draw(st.sampled_from(["srvtoolu_1", "t"]))
    call = {"type": draw(st.sampled_from(["server_tool_use", f"{name}_tool_use"])), "id": call_id, "name": name}
    result = {"type": f"{name}_tool_result", "tool_use_id": call_id}
    key = draw(st.sampled_from(["content", "content", "output", "outputs", "results"]))
    return [{**call, "input": {}}, {**result, key: draw(_given_back("anthropic-messages"))}]


@st.composite
def _responses(draw: DrawFn) -> Blocks:
    name, status = draw(_NAMES), draw(st.sampled_from(["completed", "failed", "in_progress"]))
    call = {"type": f"{name}_call", "id": "q_1", "status": status}
    inputs = draw(st.sampled_from(_INPUTS))
    key = draw(st.sampled_from(["output", "outputs", "results", "content", "result"]))
    outputs = {key: draw(_given_back("openai-responses"))}
    if draw(st.booleans()):
        return [{**call, **inputs, **outputs}]
    ending = draw(st.sampled_from(["call_output", "output", "result"]))
    output = {"type": f"{name}_{ending}", "id": "o_1", "call_id": "c_1", "status": status}
    return [{**call, **inputs, "call_id": "c_1"}, {**output, **outputs}]


@st.composite
def _interactions(draw: DrawFn) -> Blocks:
    name, ending = draw(_NAMES), draw(st.sampled_from(["result", "output"]))
    key = draw(st.sampled_from(["result", "result", "output", "results", "content"]))
    result = {"type": f"{name}_{ending}", draw(st.sampled_from(["call_id", "id"])): "t_1"}
    call = {"type": f"{name}_call", "id": "t_1", "arguments": {"a": 1}}
    return [call, {**result, key: draw(_given_back("google-interactions"))}]


@st.composite
def _google(draw: DrawFn) -> Blocks:
    if draw(st.booleans()):
        name, (call, result) = draw(_NAMES.filter(lambda name: name != "tool")), draw(st.sampled_from(_PARTS))
        key = draw(st.sampled_from(["response", "output", "result", "error", "score"]))
        return [{f"{name}{call}": {"id": "t", "args": {}}}, {f"{name}{result}": {"id": "t", key: draw(json_values)}}]
    tool = {"id": draw(st.sampled_from(["t_1", "t"])), "toolType": draw(_NAMES).upper()}
    response = draw(st.dictionaries(st.sampled_from(["output", "error", "took", "a b"]), json_values, max_size=2))
    return [{"toolCall": {**tool, "args": {}}}, {"toolResponse": {**tool, "response": response}}]


@st.composite
def _chat(draw: DrawFn) -> Blocks:
    name = draw(_NAMES)
    call = {"id": "c_1", "type": f"{name}_function", "function": {"name": f"${name}", "arguments": "{}"}}
    return [draw(st.sampled_from([call, {"id": "c_1", "type": name, name: {"a": 1}}]))]


_BLOCKS: dict[str, SearchStrategy[Blocks]] = {
    "anthropic-messages": _anthropic(),
    "openai-responses": _responses(),
    "google-generate-content": _google(),
    "google-interactions": _interactions(),
    "openai-chat": _chat(),
}
HOSTED_APIS = tuple(_BLOCKS)
"""The APIs with a strategy of calls and results of hosted tools."""


def unknown_tools(api: str) -> SearchStrategy[Blocks]:
    """Return a strategy of a call of an unknown tool with its result: the blocks of one turn."""
    return _BLOCKS[api]


@st.composite
def surprising(draw: DrawFn, api: str) -> Blocks:
    """Draw the same as `unknown_tools`, with any JSON value in one field of one block."""
    blocks = draw(unknown_tools(api))
    place = draw(st.integers(0, len(blocks) - 1))
    keys = st.sampled_from([key for key in blocks[place] if key != "type"]) | _ODD_KEYS
    changed = {**blocks[place], draw(keys): draw(json_values)}
    return [*blocks[:place], changed, *blocks[place + 1 :]]
