"""If a content is replaced by another, each of its parts is in the output or reported as a loss."""

from __future__ import annotations

from typing import Any

import pytest

from contentmodel import audit, convert
from contentmodel.auditing import unaccounted, vocabulary_of_api
from contentmodel.objects import counted_objects

ANTHROPIC, CHAT, RESPONSES, GEMINI = "anthropic-messages", "openai-chat", "openai-responses", "google-generate-content"

TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo=", "media_type": "image/png"}}
CITED = {
    "type": "char_location",
    "cited_text": "quoted",
    "document_index": 0,
    "document_title": "of it",
    "start_char_index": 3,
    "end_char_index": 9,
}
DOCUMENT = {"type": "document", "source": {"type": "content", "content": [TEXT, IMAGE]}}
FOUND = {"type": "search_result", "source": "s", "title": "t", "content": [TEXT, {**TEXT, "citations": [CITED]}]}
AUDIO = {"id": "audio_1", "data": "AAAA", "expires_at": 5, "transcript": "Hm."}
ADDED = {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": [{"type": "function", "name": "f"}]}


def late(output: dict[str, Any]) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": "t", "content": [output]}
    return {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [result]}]}


def cited_answer() -> dict[str, Any]:
    citation = {"type": "url_citation", "url_citation": {"url": "u", "title": "", "start_index": 0, "end_index": 0}}
    message = {"role": "assistant", "content": "", "annotations": [citation]}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "i", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def audio_answer() -> dict[str, Any]:
    message = {"role": "assistant", "content": None, "audio": AUDIO}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "i", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


UNKNOWN = {"x": [1, 2]}
CALLER = {"type": "program", "caller_id": "program_1"}
GIVEN = {"type": "function_call_output", "id": "fco_1", "call_id": "c", "output": "o", "caller": CALLER}
REFUSED = {
    "code": "refused",
    "message": "No.",
    "moderation_details": {"categories": ["a"], "moderation_stage": "input"},
}
IMAGE_CALL = {"type": "image_generation_call", "id": "ig_1", "result": None, "status": "failed", "error": REFUSED}
MCP_CALL = {"type": "mcp_call", "id": "mcp_1", "name": "n", "server_label": "s", "arguments": "{}"}
NUMBERED = {**MCP_CALL, "error": {"type": "http_error", "code": 0, "message": ""}}
UNKNOWN_ERROR = {**MCP_CALL, "error": {"type": "mcp_tool_execution_error", "content": UNKNOWN}}
ENDED = {"outcome": {"type": "timeout", "unknown": UNKNOWN}, "stdout": "a", "stderr": "b"}
SHELL = {"type": "shell_call_output", "call_id": "c", "output": [ENDED]}
REFUSAL = {"type": "refusal", "refusal": "0"}
REFUSALS = {"type": "message", "role": "assistant", "content": [REFUSAL, REFUSAL]}
UNSAFE = {"id": "check_1", "code": "malicious", "message": "Stop."}
CLICK = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "c",
    "status": "completed",
    "action": {"type": "screenshot"},
    "pending_safety_checks": [UNSAFE],
}
SEARCH = {"exaAiSearch": {"apiKey": "k", "unknown": UNKNOWN}}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "a"}]}


def asked(block: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [block]}]}


def answered(block: dict[str, Any]) -> dict[str, Any]:
    return {**asked(TEXT), "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": [block]}]}


def request(item: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "input": [item]}


def answer(item: dict[str, Any]) -> dict[str, Any]:
    return {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [item]}


CUT_OFF = {"reason": "max_output_tokens", "unknown": "abc"}

CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "the image of a document of a late result": (ANTHROPIC, late(DOCUMENT), "request"),
    "the citations of a late result": (ANTHROPIC, late(FOUND), "request"),
    "the audio of a transcript": (CHAT, audio_answer(), "response"),
    "the id of added tools": (RESPONSES, request(ADDED), "request"),
    "the id of tools that an answer adds": (RESPONSES, answer(ADDED), "response"),
    "the name of a set of tools that is added": (
        ANTHROPIC,
        asked({"type": "tool_addition", "tool": {"type": "mcp_toolset_reference", "server_name": "s"}}),
        "request",
    ),
    "the cache point of added tools": (
        ANTHROPIC,
        asked(
            {
                "type": "tool_addition",
                "tool": {"type": "tool_definition", "definition": {"type": "bash_20241022", "name": "bash"}},
                "cache_control": {"type": "ephemeral", "ttl": "5m"},
            }
        ),
        "request",
    ),
    "the citations of a system text": (
        ANTHROPIC,
        {**asked(TEXT), "system": [{**TEXT, "citations": [CITED]}, {"type": "text", "text": "b"}]},
        "request",
    ),
    "the citations of a user's text": (ANTHROPIC, asked({**TEXT, "citations": [CITED]}), "request"),
    "the image of a document": (ANTHROPIC, asked(DOCUMENT), "request"),
    "the unknown field of a part of a document": (
        ANTHROPIC,
        asked({"type": "document", "source": {"type": "content", "content": [{**TEXT, "unknown": UNKNOWN}]}}),
        "request",
    ),
    "the flag of a failure without a message": (
        ANTHROPIC,
        answered({"type": "mcp_tool_result", "tool_use_id": "t", "is_error": True}),
        "request",
    ),
    "the caller of a result": (RESPONSES, answer(GIVEN), "response"),
    "the details of an error": (RESPONSES, request(IMAGE_CALL), "request"),
    "the number of an error without a message": (RESPONSES, request(NUMBERED), "request"),
    "the message of an error that is no text": (RESPONSES, request(UNKNOWN_ERROR), "request"),
    "what is beside the sign of a failure": (RESPONSES, request(SHELL), "request"),
    "the id in the arguments of a call": (RESPONSES, request(CLICK), "request"),
    "the settings of a hosted tool": (GEMINI, {"contents": [], "tools": [SEARCH]}, "request"),
    "the unknown field of the details of an incomplete answer": (
        RESPONSES,
        {**answer(GIVEN), "status": "incomplete", "incomplete_details": CUT_OFF},
        "response",
    ),
    "the reason of a complete answer": (RESPONSES, {**answer(GIVEN), "incomplete_details": {"reason": 5}}, "response"),
    "the old name of the tool choice": (CHAT, {**ASKED, "function_call": "none"}, "request"),
    "two equal refusals": (RESPONSES, request(REFUSALS), "request"),
    "two equal refusals of an answer": (RESPONSES, answer({**REFUSALS, "id": "m", "status": "completed"}), "response"),
    "the name of a result of an answer": (RESPONSES, answer({**GIVEN, "name": "look"}), "response"),
    "the citation of an empty text": (CHAT, cited_answer(), "response"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", [ANTHROPIC, CHAT, RESPONSES, GEMINI])
def test_encoder_reports_values_that_replacement_cannot_hold(name: str, target: str) -> None:
    source, payload, kind = CASES[name]
    assert audit(payload, convert(payload, source=source, target=target, kind=kind)) == []


def pages(first: int) -> dict[str, Any]:
    cited = {"type": "page_location", "cited_text": "q", "document_index": 0, "document_title": None}
    cited |= {"start_page_number": first, "end_page_number": 11}
    block = {"type": "text", "text": "a", "citations": [cited]}
    return {"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": [block]}]}


SEARCH = {"type": "file_search", "vector_store_ids": ["vs_1"], "max_num_results": 0}
DEFINITION = {"name": "f", "input_schema": {"type": "object"}}
LISTED = {"type": "mcp_tool_listing", "mcp_server_name": "deepwiki", "tools": [DEFINITION]}
OF_FRAMEWORKS: dict[str, tuple[str, str, Any, str]] = {
    "an added tool": (RESPONSES, "vercel-ui-messages", request({**ADDED, "tools": [SEARCH]}), "request"),
    "an added definition": (
        ANTHROPIC,
        "vercel-model-messages",
        asked({"type": "tool_addition", "tool": {"type": "tool_definition", "definition": DEFINITION}}),
        "request",
    ),
    "the server of a call": (RESPONSES, "pydantic-ai-messages", request(MCP_CALL), "request"),
    "the server of a failed call": (RESPONSES, "pydantic-ai-messages", request(NUMBERED), "request"),
    "the server of a list of tools": (ANTHROPIC, "inspect-eval-log", asked(LISTED), "request"),
    "pages": (ANTHROPIC, "inspect-eval-log", pages(7), "request"),
    "reasoning without a text": (
        RESPONSES,
        "otel-gen-ai",
        answer({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}),
        "response",
    ),
}


@pytest.mark.parametrize("name", OF_FRAMEWORKS)
def test_conversion_to_formats_of_frameworks_reports_each_value(name: str) -> None:
    source, target, payload, kind = OF_FRAMEWORKS[name]
    assert audit(payload, convert(payload, source=source, target=target, kind=kind)) == []


def test_refusal_after_a_text_of_mcp_is_apart_from_it() -> None:
    message = {"role": "assistant", "content": "Well", "refusal": "No."}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    chat = {"id": "i", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    written = convert(chat, source=CHAT, target="mcp-sampling", kind="response").payload
    assert written["content"] == {"type": "text", "text": "Well\n\nNo."}


def test_unaccounted_finds_media_type_of_data_url_without_one() -> None:
    output = {"parts": [{"type": "file", "mediaType": "text/csv", "url": "data:;base64,"}]}
    assert unaccounted({"mime": "text/csv"}, output, (), None, vocabulary_of_api("vercel-ui-messages")) == []


def test_unaccounted_takes_label_after_its_prefix() -> None:
    parts = {"parts": [{"part_kind": "builtin-tool-return", "tool_name": "mcp_server:0", "content": "0"}]}
    of_target = vocabulary_of_api("pydantic-ai-messages")
    assert unaccounted({"server_label": "0", "code": 0}, parts, (), None, of_target) == []


def test_unaccounted_counts_number_written_as_text_once() -> None:
    assert unaccounted({"a": 404}, {"b": "404"}, ()) == []
    assert [one.value for one in unaccounted({"a": 404, "b": "404"}, {"c": "404"}, ())] == [404]


@pytest.mark.parametrize(
    ("tool", "paths"), [({"googleSearch": {}}, ["$.tools[0].googleSearch"]), ({"function": {"name": "f"}}, [])]
)
def test_audit_counts_tools_without_a_type_as_hosted_unless_the_request_defines_them(
    tool: dict[str, Any], paths: list[str]
) -> None:
    assert [counted.above[-1] for counted in counted_objects({"tools": [tool]}, ())] == paths


PIECES = [{"type": "output_text", "text": text, "annotations": []} for text in ("wor", "ld", "0", "0")]


@pytest.mark.parametrize("deleted", [None, *range(4)])
def test_audit_finds_each_piece_of_text_in_joined_text(deleted: int | None) -> None:
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": PIECES}
    encoded = convert(answer(item), source=RESPONSES, target=CHAT, kind="response")
    message = encoded.payload["choices"][0]["message"]
    assert message["content"] == "world00"
    assert audit(answer(item), encoded) == []
    if deleted is not None:
        message["content"] = "".join(piece["text"] for at, piece in enumerate(PIECES) if at != deleted)
        assert audit(answer(item), encoded) != []


def test_audit_does_not_find_short_base64_at_the_end_of_longer_base64() -> None:
    def image(data: str) -> dict[str, Any]:
        return {"type": "input_image", "image_url": f"data:image/png;base64,{data}"}

    items = [
        {"type": "message", "role": "user", "content": [image("AAA=")]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [image("iVBORw0KGgoAAAAAAAAAAA==")]},
    ]
    payload = {"model": "m", "input": items}
    encoded = convert(payload, source=RESPONSES, target=CHAT, kind="request")
    assert audit(payload, encoded) == []
    del encoded.payload["messages"][0]["content"][0]["image_url"]["url"]
    assert [missing.path for missing in audit(payload, encoded)] == ["$.input[0].content[0].image_url"]
