"""Messages of LangChain's packages for single providers: results as JSON, code of Gemini, grounding, and usage."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import contentmodel
from conftest import payloads
from contentmodel import convert
from contentmodel.content.citations import Span
from contentmodel.content.hosted import (
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.text import JsonContent
from contentmodel.message import ChatMessage

API = "langchain-messages"
GEMINI = "google-generate-content"
ADAPTER: Any = contentmodel.adapter(API)
BEDROCK, SETTINGS = (payloads("langchain-messages")[name] for name in ("bedrock", "settings"))
USER = {"type": "human", "content": "Look."}
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


def written(messages: list[Any]) -> Any:
    return ADAPTER.encode_request(ADAPTER.decode_request(messages)).payload


def answer(messages: list[Any]) -> ChatMessage:
    message: ChatMessage = ADAPTER.decode_request(messages).messages[-1]
    return message


# -- JSON results of Bedrock -------------------------------------------------------------------------------------------

CALL = {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "c1", "type": "tool_call"}]}
JSON_BLOCKS = [{"type": "json", "json": {"celsius": 4}}, {"json": {"celsius": 4}}]


def with_result(*blocks: Any) -> list[Any]:
    return [USER, CALL, {"type": "tool", "tool_call_id": "c1", "content": list(blocks)}]


@pytest.mark.parametrize("block", JSON_BLOCKS)
def test_json_block_of_a_result_is_json_in_other_apis(block: Any) -> None:
    messages = with_result(block)
    assert written(messages) == messages
    bedrock = convert(messages, target="bedrock-converse", source=API, kind="request")
    assert bedrock.payload["messages"][-1]["content"][0]["toolResult"]["content"] == [{"json": {"celsius": 4}}]
    chat = convert(messages, target="openai-chat", source=API, kind="request")
    assert chat.payload["messages"][-1]["content"] == '{"celsius":4}'
    assert not [loss for one in (bedrock, chat) for loss in one.losses if loss.kind == "dropped"]


@pytest.mark.parametrize("block", [{"type": "json"}, {"json": None}, {"type": "json", "json": None}])
def test_json_block_without_json_is_kept(block: Any) -> None:
    messages = with_result(block)
    assert written(messages) == messages


def test_new_json_output_is_written_as_text() -> None:
    request = ADAPTER.decode_request(with_result(JSON_BLOCKS[0]))
    result: Any = request.messages[-1].contents[0]
    result = replace(result, outputs=[*result.outputs, JsonContent(value=[1])])
    message = replace(request.messages[-1], contents=[result])
    payload = ADAPTER.encode_request(replace(request, messages=[*request.messages[:-1], message])).payload
    assert payload[-1]["content"] == [JSON_BLOCKS[0], {"type": "text", "text": "[1]"}]


# -- blocks of Converse ------------------------------------------------------------------------------------------------


def blocks(target: str) -> list[Any]:
    """Return the blocks that another API gets for the answer of Bedrock."""
    payload = convert(BEDROCK, target=target, source=API, kind="request").payload
    return [block for message in payload["messages"][3:] for block in message["content"]]


def test_blocks_of_converse_are_sent_to_it() -> None:
    assert written(BEDROCK) == BEDROCK
    redacted, cited, _, result, _ = blocks("bedrock-converse")
    assert redacted == {"reasoningContent": {"redactedContent": "cmVk"}}
    citation = {
        "title": "Sky",
        "source": "doc1",
        "sourceContent": [{"text": "sky blue"}],
        "location": {"documentChar": {"documentIndex": 0, "start": 0, "end": 8}},
    }
    assert cited == {"citationsContent": {"content": [{"text": "The sky is blue."}], "citations": [citation]}}
    assert result["toolResult"]["content"] == [{"json": {"std_out": "2"}}, {"text": "Done."}]


def test_citations_of_converse_are_citations_of_anthropic() -> None:
    made = blocks("anthropic-messages")
    assert made[0]["text"] == "The sky is blue."
    (citation,) = made[0]["citations"]
    assert (citation["type"], citation["document_title"], citation["cited_text"]) == (
        "char_location",
        "Sky",
        "sky blue",
    )
    assert [block["content"] for block in made if block["type"] == "tool_result"] == [
        [{"type": "text", "text": '{"std_out":"2"}'}, {"type": "text", "text": "Done."}]
    ]


def test_wrapped_result_of_converse_has_its_json() -> None:
    content = [{"type": "non_standard", "value": block} for block in BEDROCK[-1]["content"][2:4]]
    messages = [*BEDROCK[:-1], {**BEDROCK[-1], "content": content}]
    assert written(messages) == messages
    result: Any = answer(messages).contents[1]
    assert result.outputs[0] == JsonContent(value={"std_out": "2"})


def test_edit_of_a_cited_text_of_converse_is_encoded() -> None:
    request = ADAPTER.decode_request(BEDROCK)
    contents: list[Any] = list(request.messages[-1].contents)
    contents[1] = replace(contents[1], text="No.", annotations=None)
    messages = [*request.messages[:-1], replace(request.messages[-1], contents=contents)]
    payload = ADAPTER.encode_request(replace(request, messages=messages)).payload
    assert payload[-1]["content"] == [
        BEDROCK[-1]["content"][0],
        {"type": "text", "text": "No."},
        *BEDROCK[-1]["content"][2:],
    ]


# -- settings of media -------------------------------------------------------------------------------------------------

ENABLED = {"citations": {"enabled": True}}
CACHED = {"cache_control": {"type": "ephemeral"}}


def test_settings_of_media_are_sent_to_anthropic() -> None:
    assert written(SETTINGS) == SETTINGS
    encoded = convert(SETTINGS, target="anthropic-messages", source=API, kind="request")
    found = [
        {key: value for key, value in block.items() if key not in ("type", "source")}
        for block in encoded.payload["messages"][0]["content"]
    ]
    assert found == [
        {**ENABLED, **CACHED, "title": "Report", "context": "Of May."},
        {**ENABLED, "title": "report"},
        {"title": "A", "context": "C"},
        CACHED,
    ]


def test_names_of_documents_are_sent_to_bedrock() -> None:
    payload = convert(SETTINGS, target="bedrock-converse", source=API, kind="request").payload
    names = [block["document"]["name"] for block in payload["messages"][0]["content"] if "document" in block]
    assert names == ["Report", "report", "A"]


def test_settings_of_anthropic_are_written_among_the_extras() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}
    messages = [{"role": "user", "content": [{"type": "document", "source": source, **ENABLED, "context": "C"}]}]
    request = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": messages}
    encoded = convert(request, target=API, source="anthropic-messages", kind="request")
    assert encoded.payload[0]["data"]["content"][0]["extras"] == {**ENABLED, "context": "C"}
    again = convert(encoded.payload, target="anthropic-messages", source=API, kind="request").payload
    assert again["messages"] == messages


def test_edit_of_a_cache_point_among_the_extras_is_encoded() -> None:
    request = ADAPTER.decode_request(SETTINGS)
    contents: list[Any] = list(request.messages[0].contents)
    contents[3] = replace(contents[3], cache_point=None)
    payload = ADAPTER.encode_request(
        replace(request, messages=[replace(request.messages[0], contents=contents)])
    ).payload
    assert payload[0]["content"][3] == {"type": "image", "url": "https://example.org/a.png"}


# -- code that Gemini ran ----------------------------------------------------------------------------------------------


METADATA = {"model_provider": "google_genai", "model_name": "gemini-2.5-pro", "output_version": "v1"}
CODE = [
    USER,
    {
        "type": "ai",
        "content": [*ran("u1", "1", "1\n", 1), *ran("u2", "oops", "NameError", 2), {"type": "text", "text": "One."}],
        "response_metadata": METADATA,
    },
]


def test_standard_results_of_gemini_belong_to_the_calls_before_them() -> None:
    assert written(CODE) == CODE
    contents: list[Any] = answer(CODE).contents
    assert [content.__class__ for content in contents[:4]] == [
        CodeInterpreterToolCallContent,
        CodeInterpreterToolResultContent,
    ] * 2
    assert [contents[1].is_error, contents[3].is_error] == [False, True]
    payload = convert(CODE, target=GEMINI, source=API, kind="request").payload
    parts = payload["contents"][1]["parts"]
    assert [next(iter(part)) for part in parts] == ["executableCode", "codeExecutionResult"] * 2 + ["text"]
    assert parts[3]["codeExecutionResult"]["outcome"] == "OUTCOME_FAILED"


def test_standard_results_of_gemini_are_results_of_functions_in_other_apis() -> None:
    payload = convert(CODE, target="anthropic-messages", source=API, kind="request").payload
    results = [block for message in payload["messages"] for block in message["content"] if "tool_use_id" in block]
    assert [result["content"] for result in results] == ["1\n", "NameError"]
    assert [result.get("is_error") for result in results] == [None, True]


def test_failed_code_of_gemini_is_an_error_in_other_apis() -> None:
    older: list[Any] = [
        USER,
        {
            "type": "ai",
            "content": [
                {"type": "executable_code", "executable_code": "oops", "language": "PYTHON", "id": "u1"},
                {"type": "code_execution_result", "code_execution_result": "No", "outcome": 2, "tool_call_id": ""},
                {"type": "text", "text": "Sorry."},
            ],
            "response_metadata": {"model_provider": "google_genai"},
        },
    ]
    assert written(older) == older
    payload = convert(older, target="anthropic-messages", source=API, kind="request").payload
    assert payload["messages"][2]["content"][0]["is_error"] is True


def test_code_of_gemini_is_written_as_its_package_reads_it() -> None:
    parts = [
        {"executableCode": {"code": "oops", "language": "PYTHON"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "No"}},
    ]
    payload = convert(
        {"contents": [{"role": "model", "parts": parts}]}, target=API, source=GEMINI, kind="request"
    ).payload
    result = payload[0]["data"]["content"][1]
    assert result["output"] == "No"
    assert result["extras"] == {"block_type": "code_execution_result", "outcome": 2}
    assert result["status"] == "error"


# -- grounding of Gemini -----------------------------------------------------------------------------------------------

TEXT = "Søk: Spain won."


def grounded(content: Any, **metadata: Any) -> list[Any]:
    return [
        USER,
        {
            "type": "ai",
            "content": content,
            "response_metadata": {"model_provider": "google_genai", "grounding_metadata": GROUNDING, **metadata},
        },
    ]


@pytest.mark.parametrize(
    "content", [TEXT, [TEXT], [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": TEXT}]]
)
def test_grounding_is_citations_and_a_search(content: Any) -> None:
    messages = grounded(content)
    assert written(messages) == messages
    *_, text, call, result = answer(messages).contents
    assert isinstance(call, WebSearchToolCallContent)
    assert call.arguments == {"queries": ["euro 2024"]}
    assert isinstance(result, WebSearchToolResultContent)
    assert text.annotations is not None
    (citation,) = text.annotations
    assert (citation.url, citation.title) == ("https://example.org", "E")
    assert citation.span == Span(start=6, end=16, unit="byte")
    spec = convert(messages, target="vercel-ui-messages", source=API, kind="request").payload
    assert "https://example.org" in str(spec)


def test_grounding_of_another_text_makes_no_citation() -> None:
    messages = grounded("Another text.")
    assert written(messages) == messages
    assert answer(messages).contents[0].annotations is None


def test_grounding_is_not_sent_to_gemini() -> None:
    payload = convert(grounded(TEXT), target=GEMINI, source=API, kind="request").payload
    assert payload["contents"][1]["parts"] == [{"text": TEXT}]


def test_standard_citations_of_gemini_count_bytes() -> None:
    citation = {
        "type": "citation",
        "url": "https://example.org",
        "start_index": 6,
        "end_index": 16,
        "extras": {"google_ai_metadata": {"grounding_chunk_index": 0}},
    }
    messages = grounded([{"type": "text", "text": TEXT, "annotations": [citation]}], output_version="v1")
    assert written(messages) == messages
    annotations = answer(messages).contents[0].annotations
    assert annotations is not None
    (read,) = annotations
    assert read.span == Span(start=6, end=16, unit="byte")


def test_citations_of_other_apis_count_characters() -> None:
    candidate = {
        "content": {"role": "model", "parts": [{"text": TEXT}]},
        "groundingMetadata": {
            "groundingChunks": [{"web": {"uri": "https://example.org"}}],
            "groundingSupports": [{"segment": {"startIndex": 6, "endIndex": 16}, "groundingChunkIndices": [0]}],
        },
    }
    response = contentmodel.adapter(GEMINI).decode_response({"candidates": [candidate]})
    request = contentmodel.ChatRequest(messages=list(response.messages))
    payload: Any = ADAPTER.encode_request(request).payload
    (annotation,) = payload[0]["data"]["content"][0]["annotations"]
    assert TEXT[annotation["start_index"] : annotation["end_index"]] == "Spain won."


# -- usage -------------------------------------------------------------------------------------------------------------


def with_usage(**details: Any) -> list[Any]:
    usage = {"input_tokens": 13, "output_tokens": 7, "total_tokens": 20, "input_token_details": details}
    return [USER, {"type": "ai", "content": "Yes.", "usage_metadata": usage}]


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        # langchain-anthropic and langchain-aws: by lifetime, with zero in the usual counter.
        (
            {"cache_creation": 0, "cache_read": 3, "ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 5},
            (3, 6),
        ),
        # Older versions have the sum in the usual counter.
        (
            {"cache_creation": 6, "cache_read": 3, "ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 5},
            (3, 6),
        ),
        # langchain-openai: by the tier of the service.
        ({"priority_cache_read": 4, "priority": 9}, (4, None)),
        ({"cache_read": 4, "cache_creation": 2}, (4, 2)),
    ],
)
def test_split_counters_are_added(details: Any, expected: tuple[int | None, int | None]) -> None:
    messages = with_usage(**details)
    assert written(messages) == messages
    usage = answer(messages).usage
    assert usage is not None
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == expected


def test_edit_of_a_split_counter_is_encoded() -> None:
    request = ADAPTER.decode_request(with_usage(cache_creation=0, ephemeral_1h_input_tokens=5))
    message = request.messages[-1]
    message = replace(message, usage=replace(message.usage, cache_write_tokens=9))
    payload = ADAPTER.encode_request(replace(request, messages=[request.messages[0], message])).payload
    assert payload[-1]["usage_metadata"]["input_token_details"] == {"cache_creation": 9}
