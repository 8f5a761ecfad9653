"""Hosted tools of OpenAI and Gemini that Pydantic AI keeps: they return to their provider as its own items and parts.

Pydantic AI's model classes judge both directions: the parts that they make of an answer, and the items that they send.
Ours have the results, too: Pydantic AI leaves those of OpenAI to the store of the API.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from google.genai import types as google_types
from openai.types.responses import Response
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from contentmodel import convert
from contentmodel.auditing import audit

RESPONSES, GEMINI, PYDANTIC_AI = "openai-responses", "google-generate-content", "pydantic-ai-messages"
MODELS = {RESPONSES: "gpt-5.2", GEMINI: "gemini-3-pro-preview"}
PARAMETERS = ModelRequestParameters()
PNG = "iVBORw0KGgo="
REFUSED = {"type": "http_error", "code": 500, "message": "No."}
LOOK = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False, "description": "Look."}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": f"{kind}_1", **fields}


def done(kind: str, **fields: Any) -> dict[str, Any]:
    return item(kind, status="completed", **fields)


def found(**fields: Any) -> dict[str, Any]:
    return {"file_id": "file_1", "filename": "a.txt", "score": 0.5, "text": "Fog.", "attributes": {"k": "v"}, **fields}


SOURCES = [{"type": "url", "url": "https://a.example"}]
ITEMS: dict[str, list[dict[str, Any]]] = {
    "search": [done("web_search_call", action={"type": "search", "query": "q", "sources": SOURCES})],
    "search without sources": [done("web_search_call", action={"type": "search", "query": "q", "queries": ["q", "r"]})],
    "failed search": [item("web_search_call", status="failed", action={"type": "search", "query": "q"})],
    "page": [done("web_search_call", action={"type": "open_page", "url": "https://a.example"})],
    "find": [done("web_search_call", action={"type": "find_in_page", "url": "https://a.example", "pattern": "p"})],
    "files": [done("file_search_call", queries=["q", "r"], results=[found(), found(file_id="file_2")])],
    "files without results": [done("file_search_call", queries=["q"])],
    "code": [done("code_interpreter_call", container_id="c1", code="1", outputs=[{"type": "logs", "logs": "1"}])],
    "code with image": [
        done(
            "code_interpreter_call",
            container_id="c1",
            code="plot()",
            outputs=[
                {"type": "logs", "logs": "1"},
                {"type": "image", "url": f"data:image/png;base64,{PNG}"},
                {"type": "logs", "logs": "2"},
            ],
        )
    ],
    "failed code": [item("code_interpreter_call", status="failed", container_id="c1", code="1", outputs=None)],
    "image": [done("image_generation_call", result=PNG, output_format="png")],
    "image with settings": [
        done(
            "image_generation_call",
            result="UklGRg==",
            output_format="webp",
            quality="low",
            size="1024x1024",
            background="opaque",
            revised_prompt="A cat.",
        )
    ],
    "image in a stream": [
        item("image_generation_call", status="generating", result=PNG, output_format="png", action="edit")
    ],
    "server": [item("mcp_call", server_label="srv", name="get", arguments='{"a":1}', output="Fog.", error=None)],
    "failed server": [item("mcp_call", server_label="srv", name="get", arguments="{}", error=REFUSED)],
    "list": [item("mcp_list_tools", server_label="srv", tools=[{"name": "get", "input_schema": {"type": "object"}}])],
    "empty list": [item("mcp_list_tools", server_label="srv", tools=[])],
    "failed list": [item("mcp_list_tools", server_label="srv", tools=[], error="No.")],
    "tools": [
        done("tool_search_call", call_id=None, execution="server", arguments={"paths": ["look"]}),
        done("tool_search_output", call_id=None, execution="server", tools=[LOOK]),
    ],
    "tools by call id": [
        done("tool_search_call", call_id="call_9", execution="server", arguments={"queries": ["look"]}),
        done("tool_search_output", call_id="call_9", execution="server", tools=[LOOK]),
    ],
}


def ran(outcome: str, output: str, **fields: Any) -> list[dict[str, Any]]:
    code = {"language": "PYTHON", "code": "1", **fields}
    return [{"executableCode": code}, {"codeExecutionResult": {"outcome": outcome, "output": output, **fields}}]


def used(kind: str, arguments: dict[str, Any], response: dict[str, Any]) -> list[dict[str, Any]]:
    tool = {"id": "tool_1", "toolType": kind}
    return [
        {"toolCall": {**tool, "args": arguments}, "thoughtSignature": "AAAA"},
        {"toolResponse": {**tool, "response": response}, "thoughtSignature": "BBBB"},
    ]


PARTS: dict[str, list[dict[str, Any]]] = {
    "code": ran("OUTCOME_OK", "1"),
    "code with id": ran("OUTCOME_OK", "1", id="code_1"),
    "failed code": ran("OUTCOME_FAILED", "Error"),
    "signed code": [{**part, "thoughtSignature": "AAAA"} for part in ran("OUTCOME_OK", "1")],
    "two runs": [*ran("OUTCOME_OK", "1"), *ran("OUTCOME_DEADLINE_EXCEEDED", "2")],
    "search": used("GOOGLE_SEARCH_WEB", {"queries": ["q"]}, {"search_suggestions": "<p>"}),
    "page": used("URL_CONTEXT", {"urls": ["https://a.example"]}, {"result": "Fog."}),
    "files": used("FILE_SEARCH", {"query": "q"}, {}),
}
CASES = [*((RESPONSES, name) for name in ITEMS), *((GEMINI, name) for name in PARTS)]


def blocks_of(api: str, name: str) -> list[dict[str, Any]]:
    return ITEMS[name] if api == RESPONSES else PARTS[name]


def conversation(api: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    if api == RESPONSES:
        user = {"type": "message", "role": "user"}
        items = [{**user, "content": "Look."}, *blocks, {**user, "content": "More?"}]
        return {"model": MODELS[api], "input": items}
    turns = [("user", [{"text": "Look."}]), ("model", [*blocks, {"text": "Yes."}]), ("user", [{"text": "More?"}])]
    return {"contents": [{"role": role, "parts": parts} for role, parts in turns]}


def kept_of(api: str, name: str) -> Any:
    return convert(conversation(api, blocks_of(api, name)), source=api, target=PYDANTIC_AI, kind="request")


def sent_by(api: str, payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the items or the parts between the two messages of the user."""
    if api == RESPONSES:
        items: list[dict[str, Any]] = payload["input"][1:-1]
        return items
    assert [content["role"] for content in payload["contents"]] == ["user", "model", "user"]
    parts: list[dict[str, Any]] = payload["contents"][1]["parts"]
    return parts[:-1]


def back(api: str, kept: Any, **options: Any) -> Any:
    return convert(kept, source=PYDANTIC_AI, target=api, kind="request", model=MODELS[api], **options)


# -- Pydantic AI -------------------------------------------------------------------------------------------------------


def openai_model() -> OpenAIResponsesModel:
    return OpenAIResponsesModel(MODELS[RESPONSES], provider=OpenAIProvider(api_key="none"))


def gemini_model(name: str = MODELS[GEMINI]) -> GoogleModel:
    return GoogleModel(name, provider=GoogleProvider(api_key="none"))


def read_by_pydantic_ai(api: str, blocks: list[dict[str, Any]]) -> ModelResponse:
    """Return the message that Pydantic AI makes of an answer with these items or parts."""
    if api == RESPONSES:
        answer = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.2", "output": blocks}
        needed = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        return openai_model()._process_response(Response.model_validate({**answer, **needed}), {}, PARAMETERS)
    candidate = {"content": {"role": "model", "parts": blocks}, "finishReason": "STOP"}
    answered = google_types.GenerateContentResponse.model_validate({"candidates": [candidate]})
    return gemini_model()._process_response(answered, PARAMETERS)


def sent_by_pydantic_ai(api: str, payload: Any, parameters: ModelRequestParameters = PARAMETERS) -> Any:
    history = ModelMessagesTypeAdapter.validate_python(payload)
    if api == RESPONSES:
        _, items = asyncio.run(openai_model()._map_messages(history, {}, parameters))
        return sent_by(api, {"input": items})
    _, contents = asyncio.run(gemini_model()._map_messages(history, parameters))
    request = [google_types.Content.model_validate(content) for content in contents]
    dumped = [json.loads(content.model_dump_json(by_alias=True, exclude_none=True)) for content in request]
    return sent_by(api, {"contents": dumped})


_COUNTED = ("timestamp", "otel_metadata", "content_file_digests", "identifier", "vendor_metadata", "metadata")


def plain_parts(message: dict[str, Any], api: str) -> list[Any]:
    """Return the parts of a message without times and texts, and without ids that Pydantic AI makes at random."""
    parts = [part for part in json.loads(json.dumps(message["parts"])) if part["part_kind"] != "text"]
    for part in parts:
        if api == GEMINI and part["tool_name"] == "code_execution":
            del part["tool_call_id"]
    return [without(part, _COUNTED) for part in parts]


def without(value: Any, names: tuple[str, ...] = ()) -> Any:
    """Return a JSON value without null, and without fields of these names."""
    if isinstance(value, list):
        return [without(inner, names) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: without(inner, names) for key, inner in value.items() if inner is not None and key not in names}


def dumped(messages: Any) -> Any:
    return ModelMessagesTypeAdapter.dump_python(messages, mode="json")


@pytest.mark.parametrize(("api", "name"), CASES)
def test_conversion_to_pydantic_ai_has_the_parts_that_it_makes_itself(api: str, name: str) -> None:
    loaded = ModelMessagesTypeAdapter.validate_python(kept_of(api, name).payload)
    [theirs] = dumped([read_by_pydantic_ai(api, blocks_of(api, name))])
    ours = next(message for message in dumped(loaded) if message["kind"] == "response")
    assert plain_parts(ours, api) == plain_parts(theirs, api)


RESULT = ("output", "outputs", "results", "result", "tools", "error", "sources", "output_format")
"""The fields of items that have the result of a call, and the format of its image."""
SETTINGS = ("background", "quality", "size", "revised_prompt")


def without_results(api: str, items: list[dict[str, Any]]) -> Any:
    """Return items without null and, if they are OpenAI's, without the results of calls."""
    if api == GEMINI:
        return without(items)
    kept = [item if item["type"] == "tool_search_output" else without([item], RESULT + SETTINGS)[0] for item in items]
    return without(kept)


@pytest.mark.parametrize(("api", "name"), CASES)
def test_conversion_from_pydantic_ai_has_the_blocks_that_it_sends(api: str, name: str) -> None:
    kept = kept_of(api, name).payload
    ours, theirs = sent_by(api, back(api, kept).payload), sent_by_pydantic_ai(api, kept)
    for sent in ours:
        if sent.get("type") == "image_generation_call":
            # The type of the SDK requires it (ImageGenerationCall of openai 3.54). Pydantic AI leaves it out.
            assert sent.pop("status") == "completed"
    assert without_results(api, ours) == without_results(api, theirs)


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("api", "name"), [case for case in CASES if case != (RESPONSES, "code with image")])
@pytest.mark.parametrize("provider", ["anthropic", None])
def test_parts_of_another_provider_are_functions(api: str, name: str, provider: str | None) -> None:
    kept = kept_of(api, name).payload
    for part in kept[1]["parts"]:
        part["provider_name"] = provider
    sent = json.dumps(back(api, kept).payload)
    kind = "function_call" if api == RESPONSES else "functionCall"
    assert f'"{kind}"' in sent
    own = (
        ["executableCode", "toolCall"]
        if api == GEMINI
        else [f'type": "{sent_item["type"]}' for sent_item in ITEMS[name]]
    )
    assert not any(f'"{mark}"' in sent for mark in own)


def test_code_without_container_is_a_function_at_openai() -> None:
    kept = kept_of(RESPONSES, "code").payload
    del kept[1]["parts"][0]["args"]["container_id"]
    assert sent_by_pydantic_ai(RESPONSES, kept) == []
    assert sent_by(RESPONSES, back(RESPONSES, kept).payload)[0]["type"] == "function_call"


def test_search_of_gemini_is_sent_without_sources_that_pydantic_ai_added() -> None:
    kept = kept_of(GEMINI, "search").payload
    kept[1]["parts"][1]["content"]["sources"] = [{"uri": "https://a.example"}]
    returned = back(GEMINI, kept)
    assert sent_by(GEMINI, returned.payload) == sent_by_pydantic_ai(GEMINI, kept) == PARTS["search"]
    assert audit(kept, returned) == []


@pytest.mark.parametrize("name", ["search", "page", "files"])
def test_tools_of_gemini_are_functions_for_models_before_gemini_3(name: str) -> None:
    kept = kept_of(GEMINI, name).payload
    sent = convert(kept, source=PYDANTIC_AI, target=GEMINI, kind="request", model="gemini-2.5-flash").payload
    assert "functionCall" in json.dumps(sent)


def test_tool_of_gemini_with_an_id_of_pydantic_ai_is_a_function() -> None:
    kept = kept_of(GEMINI, "search").payload
    for part in kept[1]["parts"][:2]:
        part["tool_call_id"] = "pyd_ai_1"
    assert sent_by_pydantic_ai(GEMINI, kept) == []
    assert "functionCall" in json.dumps(back(GEMINI, kept).payload)
