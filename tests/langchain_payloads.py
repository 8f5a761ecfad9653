"""Messages of LangChain in all spellings, as its libraries write them."""

from __future__ import annotations

from typing import Any

from langchain_hosts import CONVERSATIONS as OF_HOSTS
from langchain_hosts import answer as _answer
from langchain_hosts import message as _message
from langchain_hosts import result as _result

ANTHROPIC = {"model_provider": "anthropic", "model_name": "claude-opus-4-8", "stop_reason": "tool_use", "id": "msg_1"}
CALL = {"name": "look", "args": {"at": "Oslo"}, "id": "tu_1", "type": "tool_call"}
PLAIN = [
    _message("system", "Be brief."),
    _message("human", "Weather in Oslo?", name="ada", id="h1"),
    _answer(
        "",
        tool_calls=[{"name": "weather", "args": {"city": "Oslo"}, "id": "call_1", "type": "tool_call"}],
        invalid_tool_calls=[
            {"name": "weather", "args": "{oops", "id": "call_2", "error": "not JSON", "type": "invalid_tool_call"}
        ],
        additional_kwargs={
            "refusal": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
            ],
        },
        response_metadata={
            "model_provider": "openai",
            "model_name": "gpt-4.1",
            "finish_reason": "tool_calls",
            "id": "chatcmpl-1",
            "logprobs": None,
        },
        usage_metadata={
            "input_tokens": 11,
            "output_tokens": 7,
            "total_tokens": 18,
            "input_token_details": {"cache_read": 4, "audio": 0},
            "output_token_details": {"reasoning": 3},
        },
    ),
    _result("Sunny.", "call_1", name="weather", artifact={"celsius": 21}, id="t1"),
    _result("not JSON", "call_2", status="error"),
    _answer("It is sunny.", additional_kwargs={"reasoning_content": "The tool said so."}),
]
OLDER = [
    _message("human", "Look."),
    {
        "type": "ai",
        "content": "",
        "additional_kwargs": {
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
                {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{oops"}},
            ]
        },
    },
    _result("4", "c1"),
    _result("not JSON", "c2"),
    {"type": "ai", "content": "", "additional_kwargs": {"function_call": {"name": "g", "arguments": "{}"}}},
    {"type": "function", "name": "g", "content": "5"},
    _answer(
        "",
        tool_calls=[{"name": "g", "args": {}, "id": "c3", "type": "tool_call"}],
        additional_kwargs={"function_call": {"name": "g", "arguments": "{}"}},
    ),
    _result("6", "c3"),
]
"""Calls in the form before langchain-core 0.1.46, and one that langchain-google-genai has in both forms."""
_IMAGE = "data:image/png;base64,iVBORw0KGgo="
_CUSTOM = {"type": "custom_tool_call", "call_id": "c1", "name": "code", "input": "print(1)", "id": "ctc_1"}
_COMPUTER = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "c2",
    "action": {"type": "screenshot"},
    "pending_safety_checks": [],
    "status": "completed",
}
_SCREENSHOT = {
    "type": "computer_call_output",
    "call_id": "c2",
    "output": {"type": "computer_screenshot", "image_url": _IMAGE},
}
_CHECKS = [{"id": "sc_1", "code": "c", "message": "m"}]
_CALLED = [{"name": "code", "args": {"__arg1": "print(1)"}, "id": "c1", "type": "tool_call"}]
ITEMS = [
    _message("human", "Look."),
    _answer([_CUSTOM, _COMPUTER], tool_calls=_CALLED, response_metadata={"model_provider": "openai"}),
    _result([{"type": "custom_tool_call_output", "output": "1"}], "c1", name="code", artifact={"celsius": 21}),
    _result(
        [{"type": "input_image", "image_url": _IMAGE}],
        "c2",
        additional_kwargs={"type": "computer_call_output", "acknowledged_safety_checks": _CHECKS},
    ),
    _answer(
        [{"type": "non_standard", "value": _CUSTOM}, {"type": "non_standard", "value": _COMPUTER}],
        tool_calls=_CALLED,
        response_metadata={"model_provider": "openai", "output_version": "v1"},
    ),
    _result(
        [{"type": "non_standard", "value": {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"}}], "c1"
    ),
    _result([{"type": "non_standard", "value": _SCREENSHOT}], "c2"),
]
"""Calls of OpenAI's custom tools and computer tool, with their results, in the forms of both versions."""
_V1 = {"model_provider": "openai", "output_version": "v1"}
REASONED = [
    _message("human", "Look."),
    _answer(
        [
            {"type": "reasoning", "id": "rs_1", "reasoning": "a", "encrypted_content": "ZW5j", "index": "lc_rs_30"},
            {"type": "reasoning", "id": "rs_1", "reasoning": "b", "index": "lc_rs_31"},
            {"type": "reasoning", "id": "rs_2", "extras": {"encrypted_content": "ZW5k"}},
            {"type": "reasoning", "id": "rs_3", "reasoning": "c"},
            {"type": "text", "text": "Seen."},
        ],
        response_metadata=_V1,
    ),
    _message("human", "Again."),
    {
        "type": "ai",
        "content": [
            {
                "type": "reasoning",
                "id": "rs_4",
                "summary": [{"type": "summary_text", "text": "d"}],
                "content": [{"type": "reasoning_text", "text": "e"}],
            },
            {"type": "text", "text": "Seen."},
        ],
    },
]
"""Reasoning items of OpenAI with several parts, as blocks of version 1 and as an item that names no provider."""
HOSTED_ITEMS = [
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "name": "echo",
        "server_label": "s",
        "arguments": '{"a":1}',
        "error": {"type": "mcp_protocol_error", "message": "boom"},
    },
    {"type": "mcp_call", "id": "mcp_2", "name": "echo", "server_label": "s", "arguments": "{}", "output": "ok"},
    {
        "type": "mcp_list_tools",
        "id": "mcpl_1",
        "server_label": "s",
        "tools": [{"name": "echo", "input_schema": {"type": "object"}}],
    },
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "code": "print(1)",
        "container_id": "cntr_1",
        "outputs": [{"type": "logs", "logs": "1"}, {"type": "image", "url": "https://example.org/a.png"}],
    },
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "failed",
        "action": {"type": "search", "query": "q", "sources": [{"type": "url", "url": "https://example.org"}]},
    },
    {
        "type": "file_search_call",
        "id": "fs_1",
        "status": "completed",
        "queries": ["q"],
        "results": [{"file_id": "file_1", "filename": "a.txt", "score": 0.5, "text": "T", "attributes": {}}],
    },
    {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "output_format": "png",
        "result": "iVBORw0KGgo=",
    },
]
HOSTED = [
    _message("human", "Look."),
    _answer(
        [
            {
                "type": "server_tool_call",
                "name": "remote_mcp",
                "id": "mcp_1",
                "args": {"a": 1},
                "extras": {"tool_name": "echo", "server_label": "s"},
            },
            {
                "type": "server_tool_result",
                "tool_call_id": "mcp_1",
                "extras": {"error": {"type": "mcp_protocol_error", "message": "boom"}},
                "status": "error",
            },
            {
                "type": "server_tool_call",
                "name": "remote_mcp",
                "id": "mcp_2",
                "args": {},
                "extras": {"tool_name": "echo", "server_label": "s"},
            },
            {"type": "server_tool_result", "tool_call_id": "mcp_2", "output": "ok", "status": "success"},
            {
                "type": "server_tool_call",
                "name": "mcp_list_tools",
                "id": "mcpl_1",
                "args": {},
                "extras": {"server_label": "s"},
            },
            {
                "type": "server_tool_result",
                "tool_call_id": "mcpl_1",
                "output": [{"name": "echo", "input_schema": {"type": "object"}}],
                "status": "success",
            },
            {
                "type": "server_tool_call",
                "name": "code_interpreter",
                "id": "ci_1",
                "args": {"code": "print(1)"},
                "extras": {"container_id": "cntr_1"},
                "index": "lc_cic_0",
            },
            {
                "type": "server_tool_result",
                "tool_call_id": "ci_1",
                "output": [{"type": "logs", "logs": "1"}, {"type": "image", "url": "https://example.org/a.png"}],
                "status": "success",
                "index": "lc_cir_1",
            },
            {"type": "server_tool_call", "name": "web_search", "id": "ws_1", "args": {"type": "search", "query": "q"}},
            {
                "type": "server_tool_result",
                "tool_call_id": "ws_1",
                "output": {"sources": [{"type": "url", "url": "https://example.org"}]},
                "status": "error",
            },
            {"type": "server_tool_call", "name": "file_search", "id": "fs_1", "args": {"queries": ["q"]}},
            {
                "type": "server_tool_result",
                "tool_call_id": "fs_1",
                "output": [{"file_id": "file_1", "filename": "a.txt", "score": 0.5, "text": "T", "attributes": {}}],
                "status": "success",
            },
            {
                "type": "image",
                "base64": "iVBORw0KGgo=",
                "mime_type": "image/png",
                "id": "ig_1",
                "extras": {"status": "completed", "output_format": "png"},
            },
            {"type": "text", "text": "Seen."},
        ],
        response_metadata=_V1,
    ),
]
"""Blocks that langchain-core makes of `HOSTED_ITEMS`."""
SPOKEN = [
    _message("human", "Say hi."),
    _answer(
        "",
        additional_kwargs={"audio": {"id": "audio_1", "data": "UklGRg==", "expires_at": 1, "transcript": "hi"}},
        response_metadata={"model_provider": "openai", "model_name": "gpt-audio"},
    ),
    _message("human", "Again."),
]
"""An answer of Chat Completions with audio."""
_CALLS_OF_BLOCKS = [{"name": "f", "args": {}, "id": f"c{at}", "type": "tool_call"} for at in range(1, 5)]
RESULTS = [
    _message("human", "Look."),
    _answer("", tool_calls=_CALLS_OF_BLOCKS),
    _message("human", [{"type": "tool_result", "tool_use_id": "c1", "content": "1"}, {"type": "text", "text": "See?"}]),
    _message("human", [{"type": "function_call_output", "call_id": "c2", "output": "2"}]),
    _answer([{"type": "text", "text": "Yes."}, {"type": "tool_result", "tool_use_id": "c3", "content": "3"}]),
    _result("4", "c4"),
]
"""Results as blocks in the content of messages that are no results."""
BLOCKS = [
    _message(
        "human",
        [
            {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}},
            "plain",
            {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png", "id": "lc_1"},
            {"type": "image", "url": "https://example.org/a.png"},
            {"type": "audio", "source_type": "base64", "data": "AAAA", "mime_type": "audio/wav"},
            {"type": "video", "url": "https://example.org/a.mp4", "mime_type": "video/mp4"},
            {"type": "file", "base64": "JVBERg==", "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
            {"type": "file", "file_id": "file_1"},
            {"type": "text-plain", "text": "A note.", "mime_type": "text/plain", "title": "note"},
            {"type": "image_url", "image_url": {"url": "https://example.org/b.png", "detail": "low"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        ],
    ),
    _answer(
        [
            {"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "c2ln"}},
            {
                "type": "text",
                "text": "Yes.",
                "annotations": [
                    {
                        "type": "citation",
                        "url": "https://example.org",
                        "title": "E",
                        "start_index": 0,
                        "end_index": 3,
                        "cited_text": "q",
                    },
                    {"type": "non_standard_annotation", "value": {"a": 1}},
                ],
            },
            {"type": "server_tool_call", "id": "srv_1", "name": "web_search", "args": {"query": "q"}},
            {
                "type": "server_tool_result",
                "tool_call_id": "srv_1",
                "status": "success",
                "output": [
                    {
                        "type": "web_search_result",
                        "url": "https://example.org",
                        "title": "E",
                        "encrypted_content": "eA==",
                    }
                ],
                "extras": {"block_type": "web_search_tool_result"},
            },
            {"type": "server_tool_call", "id": "srv_2", "name": "lab", "args": {}},
            {"type": "server_tool_result", "tool_call_id": "srv_2", "status": "error", "output": "no"},
            {"type": "non_standard", "value": {"type": "redacted_thinking", "data": "cmVk"}},
            {**CALL},
        ],
        tool_calls=[CALL],
        response_metadata={**ANTHROPIC, "output_version": "v1"},
    ),
    _result([{"type": "text", "text": "Seen."}, {"type": "image", "url": "data:image/png;base64,AAAA"}], "tu_1"),
]
NATIVE = [
    _message("human", "Look."),
    _answer(
        [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "cmVk"},
            {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "tu_1", "name": "look", "input": {"at": "Oslo"}},
        ],
        tool_calls=[CALL],
        response_metadata=ANTHROPIC,
    ),
    _result("Seen.", "tu_1"),
    _answer(
        [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
                "encrypted_content": "ZW5j",
            },
            {"type": "text", "text": "Hello.", "annotations": [], "id": "msg_9"},
            {"type": "refusal", "refusal": "No.", "id": "msg_9"},
            {
                "type": "code_interpreter_call",
                "id": "ci_1",
                "code": "1",
                "container_id": "c",
                "outputs": [{"type": "logs", "logs": "1"}],
                "status": "completed",
            },
            {"type": "function_call", "id": "fc_1", "call_id": "c2", "name": "g", "arguments": '{"b": 2}'},
        ],
        tool_calls=[{"name": "g", "args": {"b": 2}, "id": "c2", "type": "tool_call"}],
        response_metadata={"model_provider": "openai", "model_name": "gpt-5", "id": "resp_1"},
    ),
    _result("2", "c2"),
]
OTHERS = [
    {**_message("system", "Be brief."), "additional_kwargs": {"__openai_role__": "developer"}},
    _message("chat", "Yes?", role="critic"),
    _message("function", "1", name="f"),
    _message("remove", "", id="h1"),
    _message(
        "AIMessageChunk",
        "Hi",
        tool_calls=[],
        invalid_tool_calls=[],
        usage_metadata=None,
        tool_call_chunks=[],
        chunk_position="last",
    ),
]
PIXEL = "iVBORw0KGgo="
PARTNERS = [
    _message("system", [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}]),
    _message(
        "human",
        [
            {"type": "text", "text": "Compare."},
            {"cachePoint": {"type": "default", "ttl": "1h"}},
            {"type": "media", "mime_type": "image/png", "data": PIXEL},
            {"type": "media", "mime_type": "video/mp4", "file_uri": "gs://bucket/a.mp4"},
            {"type": "image_url", "image_url": "https://example.org/a.png"},
            {"type": "image_url", "image_url": f"data:image/png;base64,{PIXEL}"},
            {"image": {"format": "png", "source": {"bytes": PIXEL}}},
            {"document": {"format": "pdf", "name": "d", "source": {"bytes": "aGk="}}},
        ],
    ),
]
"""Blocks of langchain-google-genai and langchain-aws, and those of OpenAI in a short form."""
JOINED = [
    _message("human", "Look."),
    _answer(
        [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln", "index": 0},
            {
                "type": "server_tool_use",
                "id": "srv",
                "name": "web_search",
                "input": {},
                "partial_json": '{"query": "q"}',
            },
            {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [], "index": 2},
            {
                "type": "tool_use",
                "id": "tu_1",
                "name": "look",
                "input": {},
                "toolset_name": None,
                "index": 3,
                "partial_json": '{"at": "Oslo"}',
            },
        ],
        tool_calls=[CALL],
        response_metadata=ANTHROPIC,
    ),
    _result("Seen.", "tu_1"),
    _answer(
        [{"type": "tool_use", "id": "tu_2", "name": "look", "input": '{"at": "Oslo"}', "index": 0}],
        tool_calls=[{**CALL, "id": "tu_2"}],
        response_metadata={"model_provider": "bedrock_converse"},
    ),
    _result("Seen.", "tu_2"),
    _answer(
        [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "a", "index": 0}],
                "encrypted_content": "ZW5j",
                "index": 0,
            },
            {"type": "function_call", "id": "fc_1", "call_id": "c2", "name": "g", "arguments": '{"b": 2}', "index": 1},
        ],
        tool_calls=[{"name": "g", "args": {"b": 2}, "id": "c2", "type": "tool_call"}],
        response_metadata={"model_provider": "openai", "model_name": "gpt-5", "id": "resp_1"},
    ),
    _result("2", "c2"),
]
"""Answers that langchain-anthropic, langchain-aws and langchain-openai join from the pieces of a stream."""
BESIDE = [
    _message("human", "Look."),
    _answer(
        [{"type": "text", "text": "Seen.", "annotations": [], "index": 1}],
        id="msg_1",
        tool_calls=[{"name": "g", "args": {"b": 2}, "id": "c2", "type": "tool_call"}],
        additional_kwargs={
            "reasoning": {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [
                    {"type": "summary_text", "text": "a", "index": 0},
                    {"type": "summary_text", "text": "b", "index": 1},
                ],
                "encrypted_content": "ZW5j",
            },
            "tool_outputs": [
                {
                    "type": "web_search_call",
                    "id": "ws_1",
                    "status": "completed",
                    "action": {"type": "search", "query": "q"},
                    "index": 2,
                },
                {
                    "type": "code_interpreter_call",
                    "id": "ci_1",
                    "code": "1",
                    "container_id": "c",
                    "outputs": [{"type": "logs", "logs": "1"}],
                    "status": "completed",
                },
            ],
        },
        response_metadata={"model_provider": "openai", "model_name": "gpt-5", "id": "resp_1"},
    ),
    _result("2", "c2"),
]
"""An answer of langchain-openai with `output_version="v0"`: items are beside the content."""
HOSTS = [
    _message(
        "human",
        [
            {"type": "file", "base64": "JVBERg==", "mime_type": "application/pdf", "filename": "a.pdf"},
            {
                "type": "file",
                "source_type": "base64",
                "data": "JVBERg==",
                "mime_type": "application/pdf",
                "filename": "b.pdf",
            },
        ],
    ),
    _answer(
        [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
            {"type": "text", "text": "Yes."},
            {"type": "reference", "reference_ids": [1]},
        ],
        response_metadata={"model_provider": "mistralai", "model_name": "magistral-medium"},
    ),
    _message("human", "Again."),
    _answer(
        [
            {"type": "reasoning_content", "reasoning_content": {"text": "Hm.", "signature": "c2ln"}},
            {"type": "text", "text": "Yes."},
        ],
        response_metadata={
            "model_provider": "bedrock_converse",
            "model_name": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        },
    ),
]
"""Named files, and answers of langchain-mistralai and langchain-aws."""
CODE = [
    _message("human", "Count."),
    _answer(
        [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "executable_code", "executable_code": "print(1)", "language": "PYTHON", "id": "e1"},
            {"type": "code_execution_result", "code_execution_result": "1", "outcome": 1, "tool_call_id": ""},
            {"type": "text", "text": "One."},
        ],
        response_metadata={"model_provider": "google_genai", "model_name": "gemini-2.5-pro"},
    ),
]
"""An answer of langchain-google-genai with its code tool."""
_METADATA_OF_GEMINI = {"model_provider": "google_genai", "model_name": "gemini-2.5-pro"}
GROUNDING: dict[str, Any] = {
    "web_search_queries": ["euro 2024"],
    "image_search_queries": [],
    "grounding_chunks": [{"web": {"uri": "https://example.org", "title": "E", "domain": None}, "maps": None}],
    "grounding_supports": [
        {
            "segment": {"start_index": 6, "end_index": 16, "part_index": 4, "text": "Spain won."},
            "grounding_chunk_indices": [0],
            "confidence_scores": None,
        }
    ],
    "search_entry_point": None,
}


def ran(call_id: str, code: str, output: str, outcome: int) -> list[Any]:
    """Return the standard blocks that langchain-core makes of a run of code by Gemini: its result has an empty id."""
    return [
        {
            "type": "server_tool_call",
            "name": "code_interpreter",
            "args": {"code": code, "language": "PYTHON"},
            "id": call_id,
        },
        {
            "type": "server_tool_result",
            "tool_call_id": "",
            "status": "success" if outcome == 1 else "error",
            "output": output,
            "extras": {"block_type": "code_execution_result", "outcome": outcome},
        },
    ]


GEMINI = [
    _message("human", "Count."),
    _answer(
        [*ran("u1", "1", "1\n", 1), *ran("u2", "oops", "NameError", 2), {"type": "text", "text": "One."}],
        response_metadata={**_METADATA_OF_GEMINI, "output_version": "v1"},
    ),
    _message("human", "Søk."),
    _answer("Søk: Spain won.", response_metadata={**_METADATA_OF_GEMINI, "grounding_metadata": GROUNDING}),
]
"""Answers of langchain-google-genai: one with standard blocks of its code tool, and one with grounding."""
SETTINGS = [
    _message(
        "human",
        [
            {
                "type": "file",
                "base64": "JVBERg==",
                "mime_type": "application/pdf",
                "extras": {
                    "citations": {"enabled": True},
                    "title": "Report",
                    "context": "Of May.",
                    "cache_control": {"type": "ephemeral"},
                    "kept": 1,
                },
            },
            {
                "type": "file",
                "source_type": "base64",
                "data": "JVBERg==",
                "mime_type": "application/pdf",
                "metadata": {"citations": {"enabled": True}, "name": "report"},
            },
            {"type": "text-plain", "text": "abc", "mime_type": "text/plain", "title": "A", "context": "C"},
            {"type": "image", "url": "https://example.org/a.png", "extras": {"cache_control": {"type": "ephemeral"}}},
        ],
    ),
]
"""Media with settings of Anthropic in the places where its package reads them."""
_CALLS_OF_BEDROCK = [{"name": "f", "args": {}, "id": call_id, "type": "tool_call"} for call_id in ("c1", "c2")]
BEDROCK = [
    _message("human", "Look."),
    _answer(
        "",
        tool_calls=_CALLS_OF_BEDROCK,
        usage_metadata={
            "input_tokens": 13,
            "output_tokens": 7,
            "total_tokens": 20,
            "input_token_details": {"cache_creation": 0, "cache_read": 3, "ephemeral_1h_input_tokens": 5},
        },
    ),
    _result([{"type": "json", "json": {"celsius": 4}}], "c1"),
    _result([{"json": {"celsius": 4}}, {"type": "text", "text": "Fog."}], "c2"),
    _answer(
        [
            {"type": "reasoning_content", "reasoning_content": {"redacted_content": "cmVk"}},
            {
                "type": "text",
                "text": "The sky is blue.",
                "citations": [
                    {
                        "title": "Sky",
                        "source": "doc1",
                        "source_content": [{"text": "sky blue"}],
                        "location": {"document_char": {"document_index": 0, "start": 0, "end": 8}},
                    }
                ],
            },
            {
                "type": "server_tool_use",
                "name": "nova_code_interpreter",
                "input": {"snippet": "1+1"},
                "id": "t0",
            },
            {
                "type": "tool_result",
                "tool_use_id": "t0",
                "is_error": False,
                "content": [{"type": "json", "json": {"std_out": "2"}}, {"type": "text", "text": "Done."}],
            },
            {"type": "text", "text": "Two."},
        ],
        response_metadata={
            "model_provider": "bedrock_converse",
            "model_name": "us.amazon.nova-2-lite-v1:0",
            "stopReason": "end_turn",
        },
    ),
]
"""Messages of langchain-aws: JSON results, usage by the lifetime of the cache, and blocks that Converse has."""
CLASSES = {
    "human": "HumanMessage",
    "ai": "AIMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
    "chat": "ChatMessage",
    "function": "FunctionMessage",
    "remove": "RemoveMessage",
    "AIMessageChunk": "AIMessageChunk",
}


def with_data(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages as `messages_to_dict` writes them."""
    return [{"type": message["type"], "data": message} for message in messages]


def with_kwargs(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages as `dumpd` writes them: without null and empty fields."""
    return [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", CLASSES[message["type"]]],
            "kwargs": {key: value for key, value in message.items() if value not in (None, {})},
        }
        for message in messages
    ]


CONVERSATIONS: list[list[dict[str, Any]]] = [
    *(
        PLAIN,
        BLOCKS,
        NATIVE,
        OTHERS,
        PARTNERS,
        JOINED,
        BESIDE,
        HOSTS,
        CODE,
        GEMINI,
        BEDROCK,
        SETTINGS,
        OLDER,
        ITEMS,
        REASONED,
        RESULTS,
        HOSTED,
        SPOKEN,
        *OF_HOSTS,
    ),
]
LANGCHAIN: list[Any] = [
    *CONVERSATIONS,
    *map(with_data, CONVERSATIONS),
    *map(with_kwargs, CONVERSATIONS),
    {"messages": PLAIN, "next": "agent"},
]
