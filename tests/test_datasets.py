"""Files of training data, read by Hugging Face `datasets`: its rows hold the same conversations.

Arrow gives all rows the same columns, and fills missing values with None.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contentmodel import ChatRequest, FunctionCallContent, FunctionResultContent, adapter, convert

datasets = pytest.importorskip("datasets", reason="the package `datasets` reads the files")

PARAMETERS: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def conversation(name: str, parameters: dict[str, Any], arguments: dict[str, Any], text: str) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {
        "model": "gpt-4.1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": text},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "18"},
            {"role": "assistant", "content": "18."},
        ],
        "tools": [{"type": "function", "function": {"name": name, "parameters": parameters}}],
    }


REQUESTS: list[dict[str, Any]] = [
    conversation("weather", PARAMETERS, {"city": "Oslo"}, "Weather?"),
    conversation("add", {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 2}, "Add."),
    {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]},
]
PICTURE: dict[str, Any] = {
    "model": "gpt-4.1",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ],
        },
        {"role": "assistant", "content": "A cat."},
    ],
}


def facts(request: ChatRequest) -> list[Any]:
    """Return the roles, texts, calls, results and tools of a conversation."""
    found: list[Any] = [getattr(content, "text", None) for content in request.instructions]
    for message in request.messages:
        for content in message.contents:
            if isinstance(content, FunctionCallContent):
                found.append((message.role, content.call_id, content.name, content.arguments_object))
            elif isinstance(content, FunctionResultContent):
                found.append((message.role, content.call_id, [getattr(part, "text", None) for part in content.outputs]))
            else:
                found.append((message.role, getattr(content, "text", None), getattr(content, "uri", None)))
    return [*found, *((getattr(tool, "name", None), getattr(tool, "parameters", None)) for tool in request.tools)]


@pytest.mark.parametrize("api", ["hf-messages", "openai-finetune", "sharegpt"])
@pytest.mark.parametrize(
    "requests", [REQUESTS, [PICTURE, PICTURE], [*REQUESTS, PICTURE]], ids=["tools", "media", "both"]
)
def test_rows_of_datasets_hold_the_conversations_that_were_written(
    tmp_path: Path, api: str, requests: list[dict[str, Any]]
) -> None:
    written: list[Any] = [convert(request, source="openai-chat", target=api).payload for request in requests]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in written))
    rows = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(rows) == len(written)
    for row, document in zip(rows, written, strict=True):
        request = adapter(api).decode_request(row)
        assert facts(request) == facts(adapter(api).decode_request(document))
        assert adapter(api).encode_request(request).payload == row
