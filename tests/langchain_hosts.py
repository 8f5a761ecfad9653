"""Messages of LangChain's packages for hosts of models, as the packages make them of answers."""

from __future__ import annotations

from typing import Any


def message(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    """Return the fields of a message."""
    common = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}
    return {"content": content, **common, "type": kind, **fields}


def answer(content: Any, **fields: Any) -> dict[str, Any]:
    """Return the fields of an answer."""
    return message("ai", content, **{"tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None, **fields})


def result(content: Any, call_id: str, **fields: Any) -> dict[str, Any]:
    """Return the fields of the result of a call."""
    return message("tool", content, **{"tool_call_id": call_id, "artifact": None, "status": "success", **fields})


LINKS = ["https://example.org/a", "https://example.org/b"]
FOUND = {"title": "E", "url": LINKS[0], "date": "2024-07-14", "last_updated": None, "snippet": "Spain", "source": "web"}
PERPLEXITY = [
    message("human", "Who won?"),
    answer(
        "Spain won.[1]",
        additional_kwargs={
            "citations": [LINKS[0]],
            "search_results": [FOUND],
            "images": [{"image_url": "https://example.org/i.png", "origin_url": LINKS[0], "height": 1, "width": 2}],
            "related_questions": ["Who lost?"],
        },
        response_metadata={"model_name": "sonar", "search_context_size": "low"},
    ),
]
XAI = [
    message("human", "Who won?"),
    answer(
        "Spain.",
        additional_kwargs={"refusal": None, "reasoning_content": "Hm.", "citations": LINKS},
        response_metadata={"model_provider": "xai"},
    ),
]
EXECUTED = [
    {
        "index": 0,
        "type": "search",
        "arguments": '{"query": "q"}',
        "output": "Title: E",
        "search_results": {"results": [{"title": "E", "url": LINKS[0], "content": "c", "score": 0.9}]},
    },
    {
        "index": 1,
        "type": "python",
        "arguments": '{"code": "print(4)"}',
        "output": "4\n",
        "code_results": [{"text": "4"}],
    },
]
_OF_GROQ = {"reasoning_content": "Compute.", "executed_tools": EXECUTED}
GROQ = [
    message("human", "2 + 2?"),
    answer("It is 4.", additional_kwargs=_OF_GROQ, response_metadata={"model_provider": "groq"}),
]
GROQ_V1 = [
    message("human", "2 + 2?"),
    answer(
        [
            {"type": "reasoning", "reasoning": "Compute."},
            {"type": "server_tool_call", "name": "web_search", "id": "0", "args": {"query": "q"}},
            {
                "type": "server_tool_result",
                "tool_call_id": "0",
                "output": "Title: E",
                "status": "success",
                "extras": {"search_results": EXECUTED[0]["search_results"]},
            },
            {"type": "server_tool_call", "name": "code_interpreter", "id": "1", "args": {"code": "print(4)"}},
            {
                "type": "server_tool_result",
                "tool_call_id": "1",
                "output": "4\n",
                "status": "success",
                "extras": {"code_results": [{"text": "4"}]},
            },
            {"type": "text", "text": "It is 4."},
        ],
        additional_kwargs=_OF_GROQ,
        response_metadata={"model_provider": "groq", "model_name": "groq/compound", "output_version": "v1"},
    ),
]
DETAILS = [
    {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": "ZW5j", "format": "openai-responses-v1", "index": 1},
]
_CALL = {"name": "f", "args": {}, "id": "c1", "type": "tool_call"}
OPENROUTER = [
    message("human", "Look."),
    answer(
        "I look.",
        additional_kwargs={"reasoning_content": "Hm.", "reasoning_details": DETAILS},
        response_metadata={"model_provider": "openrouter"},
        tool_calls=[_CALL],
    ),
    result("r", "c1"),
]
OPENROUTER_TEXT = [
    message("human", "Look."),
    answer(
        "I look.", additional_kwargs={"reasoning_content": "Hm."}, response_metadata={"model_provider": "openrouter"}
    ),
]
OPENROUTER_STREAM = [
    message("human", "Look."),
    {
        **answer(
            "I look.",
            additional_kwargs={
                "reasoning_content": "Hm.",
                "reasoning_details": [{**DETAILS[0], "format": "anthropic-claude-v1" * 3}],
            },
            response_metadata={"model_provider": "openrouter"},
        ),
        "type": "AIMessageChunk",
        "tool_call_chunks": [],
        "chunk_position": None,
    },
]
"""LangChain joins the formats of the pieces of a detail."""
PLAN = "I will look."
_RAW_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CITED = {
    "start": 6,
    "end": 13,
    "text": "raining",
    "sources": [{"type": "tool", "id": "c1:0", "tool_output": {"w": "rain"}}],
    "content_index": 0,
    "type": "TEXT_CONTENT",
}
DOCUMENT = {"id": "d1", "text": "Tall penguins are emperors."}
DOCUMENTS: list[Any] = [
    {"id": "d1", "data": DOCUMENT},
    {"data": {"title": "T", "snippet": "s"}},
    {"id": "d3", "data": "x"},
]
CITED_DOCUMENT = {
    "start": 0,
    "end": 8,
    "text": "Emperors",
    "sources": [{"type": "document", "id": "d1", "document": DOCUMENT}],
    "content_index": None,
    "type": "TEXT_CONTENT",
}


def _of_cohere(**fields: Any) -> dict[str, Any]:
    """Return the fields of an answer of Cohere: the metadata repeat those beside the content."""
    tokens = {"input_tokens": 3.0, "output_tokens": 4.0}
    beside = {"id": "a1", "finish_reason": "COMPLETE", "token_count": tokens, **fields}
    return {"additional_kwargs": beside, "response_metadata": beside}


COHERE = [
    message("human", "Weather?"),
    answer(PLAN, **_of_cohere(tool_plan=PLAN, tool_calls=[_RAW_CALL]), tool_calls=[_CALL]),
    result('[{"w": "rain"}]', "c1"),
    answer("It is raining.", **_of_cohere(citations=[CITED])),
    message("human", "Penguins?", additional_kwargs={"documents": DOCUMENTS}),
    answer(
        [{"type": "reasoning", "id": "a1", "summary": [{"text": "Hm."}]}, {"type": "text", "text": "Emperors."}],
        **_of_cohere(documents=[{"id": "d1", "data": DOCUMENT}], citations=[CITED_DOCUMENT]),
    ),
    message("human", "Again."),
    {
        **answer(
            [
                {"type": "reasoning", "index": 0, "summary": [{"text": "Hm.", "index": 0}]},
                {"type": "text", "index": 1, "text": "Emperors."},
            ]
        ),
        "type": "AIMessageChunk",
        "tool_call_chunks": [],
        "chunk_position": None,
    },
]
_OF_STREAM = {
    "finish_reason": "TOOL_CALL",
    "token_count": {"total_tokens": 7.0, "input_tokens": 3.0, "output_tokens": 4.0},
    "tool_calls": [_RAW_CALL],
}
COHERE_STREAM = [
    message("human", "Weather?"),
    answer(PLAN, additional_kwargs=_OF_STREAM, response_metadata=_OF_STREAM, tool_calls=[_CALL]),
    result('[{"w": "rain"}]', "c1"),
]
MISTRAL = [
    message("human", "Who won?"),
    answer(
        [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
            {"type": "text", "text": "Spain"},
            {"type": "text", "text": "", "reference": {"reference_ids": [1]}},
        ],
        response_metadata={"model_provider": "mistralai"},
    ),
]
OLLAMA = [
    message("human", "2 + 2?"),
    answer(
        "4",
        additional_kwargs={"reasoning_content": "Hm."},
        response_metadata={"model": "qwen3", "done_reason": "stop", "model_provider": "ollama"},
    ),
]
CONVERSATIONS = [
    *(PERPLEXITY, XAI, GROQ, GROQ_V1, OPENROUTER, OPENROUTER_TEXT, OPENROUTER_STREAM, COHERE, COHERE_STREAM, MISTRAL),
    OLLAMA,
]
