"""The pipeline of an adapter: the order of its steps, when they run, and what they record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    Citation,
    DataContent,
    FunctionCallContent,
    FunctionResultContent,
    Protected,
    ReasoningContent,
    TextContent,
)
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline import steps
from contentmodel.engine.pipeline.steps import Plan, Step, apply_request_steps, request_step, transcript_step
from contentmodel.message import Origin
from contentmodel.unfolding import unfold
from contentmodel_conformance.strategies.handmade import handmade_turns

ORDER = {
    "anthropic-messages": """
        with_fitting_settings *with_separate_added_tools *with_known_tools with_sendable_tools hoist_instructions
        without_blank_instructions with_whole_guests with_citation_rows with_citations_on_texts with_call_ids
        with_denials_as_results with_known_role lowered not_empty
        results_apart *with_history_of_host join_results join_assistant with_fitting_names without_blank_text
        without_file readable with_readable_outputs with_document_settings with_a_turn with_placed_instructions
        with_fitting_prefill with_fitting_schemas; with_limit with_model with_fitting_cache_points
        *with_form_of_host""",
    "bedrock-converse": """
        *report_stream with_fitting_settings *with_known_tools with_sendable_tools hoist_instructions
        without_blank_instructions without_empty_descriptions *with_readable_reasoning with_citation_rows
        with_citations_on_texts with_call_ids with_denials_as_results with_known_role lowered not_empty
        results_apart with_citation_rows without_blank_text readable with_readable_outputs with_a_turn
        with_fitting_calls with_document_settings instructions_as_text with_fitting_prefill
        with_fitting_outputs with_text_beside_documents with_named_documents with_begun with_fitting_schemas
        with_parallel_calls *with_no_tool_of_claude; with_tool_config *with_fields_of_model with_metadata
        with_fitting_cache_points *with_required_messages""",
    "cohere-chat": """
        *with_fitting_settings *with_known_tools *place_instructions with_citations_on_texts with_call_ids
        with_denials_as_results with_known_role lowered not_empty results_apart _uncited readable
        with_readable_outputs with_a_turn with_fitting_calls with_fitting_schemas; with_model""",
    "google-generate-content": """
        *report_url with_fitting_settings *with_known_tools with_respelled_tools with_shared_fields with_sendable_tools
        hoist_instructions with_media_type without_cited_instructions with_whole_guests with_citations_on_texts
        with_call_ids with_denials_as_results with_known_role lowered not_empty results_apart join_results
        join_assistant _uncited readable with_readable_outputs with_fitting_parts with_fitting_schemas
        *with_mode_of_strict_tools with_names_of_results with_begun with_a_turn
        with_text_of_failure with_signed_parts with_signed_call; without_choice_of_no_functions with_invocations""",
    "google-interactions": """
        with_fitting_settings *with_known_tools with_respelled_tools with_shared_fields with_sendable_tools
        hoist_instructions with_signed_thoughts with_citations_on_texts with_call_ids with_denials_as_results
        with_known_role lowered not_empty results_apart readable with_readable_outputs with_a_turn
        with_fitting_calls with_signed_turn instructions_as_text with_fitting_schemas *with_mode_of_strict_tools
        with_names_of_results; with_model""",
    "openai-chat": """
        with_settings_of_platform with_fields_of_mistral *with_fitting_settings *with_tools_of_host
        *place_instructions with_citations_on_texts with_call_ids with_denials_as_results with_known_role lowered
        not_empty results_apart *without_unread_state with_state_of_host with_signed_call *without_citations
        with_role_of_host with_accepted_author readable with_readable_outputs with_a_turn with_fitting_calls
        with_fitting_schemas *with_reported_settings; with_model without_settings_of_tools with_voice
        with_rules_of_host *with_aliases""",
    "openai-responses": """
        with_settings_of *with_fitting_settings *with_separate_added_tools *with_known_tools with_sendable_tools
        with_kept_approvals with_whole_guests with_programs with_definitions
        with_state_of_items with_stored_reasoning with_citations_on_texts with_call_ids with_denials_as_results
        with_known_role lowered not_empty results_apart *without_unread_state *without_text with_state_at_end
        with_kept_texts readable with_readable_outputs with_a_turn with_fitting_calls with_fitting_schemas;""",
}
"""The steps over a request; after the semicolon, those over its payload. A star: also on native requests."""
ANSWERS = {
    "anthropic-messages": """
        without_user_messages with_citation_rows normalize_answer without_names_of_results without_media
        without_blank_text *without_broken_status; with_cache_writes; completed *with_error_of_host""",
    "bedrock-converse": """
        without_user_messages normalize_answer with_citation_rows without_names_of_results without_media
        with_fitting_outputs without_blank_text *without_broken_status; with_cache_writes; completed""",
    "cohere-chat": "without_user_messages normalize_answer without_names_of_results without_media;; completed",
    "google-generate-content": """
        without_user_messages with_text_of_failure *with_normalized_texts; *without_blocked; completed""",
    "google-interactions": "with_signed_thoughts normalize_answer;; completed",
    "openai-chat": """
        without_user_messages with_state_of_host *with_normalized_texts;; completed *with_error_of_host
        *with_listed_sources""",
    "openai-responses": "normalize_answer without_media;; completed",
}
"""The same for an answer: over the messages of a choice; over the response; over its payload."""

API = "tales"
OWN = Origin(api=API, issuer="teller")


@pytest.mark.parametrize("api", ORDER)
def test_adapter_passes_have_expected_order(api: str) -> None:
    adapter: Any = contentmodel.adapter(api)
    requests = (adapter.request_steps, adapter.request_payload_steps + adapter.host_payload_steps)
    answers = (adapter.answer_steps, adapter.response_steps, adapter.response_payload_steps)
    for listed, expected in ((requests, ORDER), (answers, ANSWERS)):
        for listed_steps, names in zip(listed, expected[api].split(";"), strict=True):
            assert [f"*{step.name}" if step.native else step.name for step in listed_steps] == names.split()


def added(word: str) -> Any:
    """Return a step that adds a message of one word."""

    def add(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
        return [*messages, ChatMessage(role="user", contents=[TextContent(text=word)])]

    return add


def add_words(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    return ChatRequest(messages=added(f"after {len(request.messages)}")(request.messages, context))


def texts(request: ChatRequest, *steps: Step) -> list[str]:
    context = EncodeContext(API, "teller", "request", origin=request.origin)
    return [message.text for message in apply_request_steps(request, Plan(steps), context).messages]


def test_passes_run_in_order_and_get_previous_result() -> None:
    steps = (
        transcript_step(added("a")),
        request_step(add_words),
        transcript_step(added("b")),
        transcript_step(added("c")),
    )
    assert texts(ChatRequest(), *steps) == ["a", "after 1", "b", "c"]


@pytest.mark.parametrize("native", [True, False])
def test_native_request_runs_only_native_passes(native: bool) -> None:
    request = ChatRequest(origin=OWN if native else None)
    steps = (transcript_step(added("foreign")), request_step(add_words, native=True))
    assert texts(request, *steps) == (["after 0"] if native else ["foreign", "after 1"])


@pytest.mark.parametrize("has_medium", [True, False])
def test_pass_is_skipped_if_transcript_has_none_of_its_types(has_medium: bool) -> None:
    image = DataContent.from_bytes(b"x", media_type="image/png")
    output = contentmodel.FunctionResultContent(call_id="c", outputs=[image] if has_medium else [])
    request = ChatRequest(messages=[ChatMessage(role="tool", contents=[output])])
    assert texts(request, transcript_step(added("a"), needs=(DataContent,))) == (["", "a"] if has_medium else [""])


def test_pipeline_records_replacements_of_passes() -> None:
    context = EncodeContext(API, "teller", "request")
    request = ChatRequest(messages=[])
    made = apply_request_steps(request, Plan((request_step(add_words), transcript_step(added("b")))), context)
    replaced = {id(new): old for old, new in context.replacements}
    source: Any = made
    while id(source) in replaced:
        source = replaced[id(source)]
    assert source is request


SOURCES = ("anthropic-messages", "google-generate-content", "openai-responses")


def answers_of(api: str) -> Iterator[ChatResponse]:
    """Yield answers of an API with a text and a call, and with each kind of hosted tool."""
    origin = Origin(api=api, issuer=contentmodel.adapter(api).issuer, model="m", is_answer=True)
    signed = Protected(issuer=origin.issuer, kind="signature", data="eA==")
    cited = [Citation(url="https://example.org/a", title="A")]
    usual: list[list[Any]] = [
        [TextContent(text="a")],
        [TextContent(text=" ")],
        [TextContent(text="", protected=signed), TextContent(text="b", annotations=cited)],
        [ReasoningContent(text="a", protected=signed), FunctionCallContent(call_id="c", name="f", arguments={})],
        [FunctionCallContent(name="f", arguments={}), FunctionCallContent(name="f", arguments={}, status="incomplete")],
        [FunctionResultContent(call_id="c", name="f", outputs=[TextContent(text=" ")], is_error=True)],
        [DataContent.from_bytes(b"x", media_type="image/png"), TextContent(text="a"), TextContent(text="")],
    ]
    for contents in [*usual, *(contents for _, contents in handmade_turns(api))]:
        message = ChatMessage(role="assistant", contents=contents, origin=origin)
        yield ChatResponse(id="a", model="m", choices=[ChatChoice(messages=[message])], origin=origin)


def encoded_answers(api: str) -> list[Any]:
    """Return answers of several APIs as answers and streams of `api`, with their losses."""
    adapter, made = contentmodel.adapter(api), list[Any]()
    for answer in [answer for source in SOURCES for answer in answers_of(source)]:
        encoded = adapter.encode_response(answer)
        made.append((encoded.payload, encoded.losses))
        if adapter.encoder is not None:
            encoder = adapter.stream_encoder()
            made.append(([encoder.feed(event) for event in unfold(answer)], encoder.losses))
    return made


@pytest.mark.parametrize("api", ANSWERS)
def test_planned_passes_of_an_answer_do_the_same_as_all_passes(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = encoded_answers(api)

    adapter: Any = contentmodel.adapter(api)
    monkeypatch.setattr(steps, "_may_change", lambda *_: True)
    monkeypatch.setattr(adapter, "_answer_plan", Plan(adapter.answer_steps))
    assert encoded_answers(api) == planned
