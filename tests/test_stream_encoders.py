"""Stream encoders by example: regressions, each with the correct output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatResponse,
    Citation,
    ErrorContent,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    ReasoningContent,
    TextContent,
)
from contentmodel.content import Span, convert_span
from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.tools import InputRequestContent
from contentmodel.engine.context import EncodeContext
from contentmodel.events import (
    ArgumentsDelta,
    BlockCatchUp,
    BlockStart,
    ReasoningDelta,
    TextDelta,
    TurnComplete,
    TurnError,
    TurnStart,
    fold,
)
from contentmodel.pairs import AnswerCallIds
from contentmodel.streams import StreamConverter, encode_stream, fold_stream
from contentmodel.unfolding import unfold
from contentmodel_adapters.openai.responses.items import ItemIds
from contentmodel_conformance import streams
from contentmodel_conformance.late_texts import stream_late_texts
from contentmodel_conformance.oracles.accumulators import accumulated
from providers import PROVIDERS

every_api = pytest.mark.parametrize("api", APIS)
CHAT, RESPONSES, ANTHROPIC, GOOGLE = (
    "openai-chat",
    "openai-responses",
    "anthropic-messages",
    "google-generate-content",
)
STOP = FinishReason(reason="stop")
CALL = FunctionCallContent(call_id="call_1", name="search", arguments='{"q":"x"}')


def answer(*choices: Sequence[Any], source: str | None = CHAT) -> ChatResponse:
    """Return an answer with a choice for each of `choices`, which are lists of contents."""
    origin = Origin(api=source, issuer="somebody", model="m") if source else None
    made = [
        ChatChoice(
            messages=[ChatMessage(role="assistant", contents=list(contents), origin=origin)],
            finish_reason=STOP,
            index=number,
        )
        for number, contents in enumerate(choices)
    ]
    return ChatResponse(id="i", model="m", created=1, choices=made, origin=origin)


def written(api: str, events: Sequence[Any]) -> tuple[bytes, Any, list[Any]]:
    """Return the bytes of an encoded stream, its losses, and the contents that it decodes to."""
    adapter = contentmodel.adapter(api)
    raw, losses = streams.encode(adapter, events)
    response = fold(streams.decode(adapter, [raw]))
    return raw, losses, [content for message in response.messages for content in message.contents]


def values(raw: bytes) -> list[dict[str, Any]]:
    lines = (line[6:] for line in raw.split(b"\n") if line.startswith(b"data: "))
    return [json.loads(line) for line in lines if line != b"[DONE]"]


@every_api
def test_stream_encoder_drops_and_reports_unsupported_blocks(api: str) -> None:
    events = list(unfold(answer([InputRequestContent(request_id="q"), TextContent(text="words")])))
    _, losses, contents = written(api, events)
    assert [content.text for content in contents] == ["words"]
    assert "$.choices[0].messages[0].contents[0]" in [loss.path for loss in losses]


@pytest.mark.filterwarnings("ignore")
def test_sdk_reads_the_index_of_an_empty_choice() -> None:
    response = answer([], [TextContent(text="second")], source=RESPONSES)
    raw, _ = streams.encode(contentmodel.adapter(CHAT), list(unfold(response)))
    choices = accumulated(CHAT, values(raw))["choices"]
    assert [(choice["index"], choice["message"]["content"]) for choice in choices] == [(0, None), (1, "second")]


def test_google_stream_encoder_keeps_citations_of_merged_texts() -> None:
    texts = [
        TextContent(text=word, annotations=[Citation(span=Span(start=0, end=1), url="https://example.org")])
        for word in ("one", "two")
    ]
    raw, _, _ = written(GOOGLE, list(unfold(answer(texts, source=None))))
    (candidate,) = values(raw)[-1]["candidates"]
    supports = candidate["groundingMetadata"]["groundingSupports"]
    assert [support["segment"].get("startIndex", 0) for support in supports] == [0, 3]


@every_api
def test_stream_encoder_writes_the_deltas_of_a_block_without_a_stop(api: str) -> None:
    start = answer(source=GOOGLE)
    end = answer([], source=GOOGLE)
    events = [
        TurnStart(response=start),
        BlockStart(index=0, content=TextContent(text="")),
        TextDelta(index=0, text="all "),
        TextDelta(index=0, text="of it"),
        TurnComplete(response=end, layout=[[[0]]]),
    ]
    _, losses, contents = written(api, events)
    assert [content.text for content in contents] == ["all of it"]
    assert not [loss for loss in losses if loss.family == "text"]


@every_api
def test_stream_encoder_writes_pending_blocks_if_the_turn_fails(api: str) -> None:
    start = answer(source=ANTHROPIC)
    events = [
        TurnStart(response=start),
        BlockStart(index=0, content=FunctionCallContent(call_id="c", name="f", arguments="")),
        ArgumentsDelta(index=0, text='{"half": '),
        BlockStart(index=1, content=TextContent(text="")),
        TextDelta(index=1, text="words"),
        TurnError(error=ErrorContent(message="boom", code="overloaded_error"), response=start, layout=[[[0, 1]]]),
    ]
    _, _, contents = written(api, events)
    assert "".join(content.text for content in contents if isinstance(content, TextContent)) == "words"
    assert all(content.status == "incomplete" for content in contents if isinstance(content, FunctionCallContent))


def test_anthropic_stream_encoder_numbers_blocks_after_an_incomplete_call() -> None:
    start = answer(source=ANTHROPIC)
    events = [
        TurnStart(response=start),
        BlockStart(index=0, content=FunctionCallContent(call_id="c", name="f", arguments="")),
        BlockStart(index=1, content=TextContent(text="words")),
        TurnError(error=ErrorContent(message="boom"), response=start, layout=[[[0, 1]]]),
    ]
    raw, _, _ = written(ANTHROPIC, events)
    assert [v["index"] for v in values(raw) if v["type"] == "content_block_start"] == [0, 1]


@every_api
def test_stream_encoder_ignores_a_catch_up_without_changes(api: str) -> None:
    response = answer([TextContent(text="words"), CALL])
    events = list(unfold(response))
    again = [BlockCatchUp(index=0, content=TextContent(text="words")), BlockCatchUp(index=1, content=CALL)]
    assert written(api, [*events[:-1], *again, events[-1]]) == written(api, events)


@pytest.mark.parametrize(
    ("api", "written", "lost"),
    [
        (CHAT, {"a": "Sunny", "b": "warm"}, []),
        ("cohere-chat", {"a": "Sunny", "b": "warm"}, []),
        (GOOGLE, {"a": "Sunny", "b": "warm"}, []),
        (RESPONSES, {"b": "warm"}, ["[0]"]),
        ("google-interactions", {"b": "warm"}, ["[0]"]),
        (ANTHROPIC, {}, ["[0]", "[1]"]),
        ("bedrock-converse", {}, ["[0]", "[1]"]),
        ("mistral-chat", {}, ["[0]", "[1]"]),
        ("ollama-chat", {}, ["[0]", "[1]"]),
    ],
)
def test_citations_at_the_end_of_a_text_around_a_call_are_written_or_reported(
    api: str, written: dict[str, str], lost: list[str]
) -> None:
    call = FunctionCallContent(call_id="c1", name="f", arguments="{}")
    spans = {"a": Span(start=0, end=5), "b": Span(start=10, end=14)}
    text = TextContent(
        text="Sunny and warm.", annotations=[Citation(url=u, title="", span=s) for u, s in spans.items()]
    )
    *events, end = unfold(answer([TextContent(text="Sunny"), call], source="elsewhere"))
    raw, losses = streams.encode(contentmodel.adapter(api), [*events, BlockCatchUp(index=0, content=text), end])
    folded = fold(streams.decode(contentmodel.adapter(api), [raw]))
    assert {
        citation.url: content.text[points.start : points.end]
        for content in folded.messages[0].contents
        for citation in content.annotations or ()
        if (points := convert_span(content.text, citation.span, "codepoint"))
    } == written
    paths = [loss.path.partition("annotations")[2] for loss in losses if loss.family == "citations"]
    assert [path for path in paths if not path.endswith(".span")] == lost


@every_api
def test_rest_of_a_text_is_written_once_if_its_neighbour_is_cited_afterwards(api: str) -> None:
    *events, end = unfold(answer([TextContent(text="First."), TextContent(text="Sec")], source="elsewhere"))
    cited = [Citation(url="https://example.org/a", title="A", span=Span(start=0, end=5))]
    late = [
        BlockCatchUp(index=1, content=TextContent(text="Second.")),
        BlockCatchUp(index=0, content=TextContent(text="First.", annotations=cited)),
    ]
    stream_late_texts(contentmodel.adapter(api), [*events, *late, end])


def test_anthropic_stream_encoder_ignores_a_repeated_result() -> None:
    response = contentmodel.adapter(ANTHROPIC).decode_response(
        {
            "type": "message",
            "role": "assistant",
            "content": [
                {
                    "type": "code_execution_tool_result",
                    "tool_use_id": "c",
                    "content": {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0},
                }
            ],
        }
    )
    events = list(unfold(response))
    again = BlockCatchUp(index=0, content=response.messages[0].contents[0])
    assert written(ANTHROPIC, [*events[:-1], again, events[-1]])[2] == written(ANTHROPIC, events)[2]


@every_api
def test_stream_encoder_accepts_reasoning_deltas_after_the_stop(api: str) -> None:
    thought = ReasoningContent(text="First, ")
    events = list(unfold(answer([thought, TextContent(text="words")], source=CHAT)))
    late = [
        ReasoningDelta(index=0, text="then"),
        BlockCatchUp(index=0, content=ReasoningContent(text="First, then")),
    ]
    _, _, contents = written(api, [*events[:-1], *late, events[-1]])
    assert [content.text for content in contents if isinstance(content, TextContent)] == ["words"]


HI, CALLED = {"content": "hi"}, {"tool_calls": [{"index": 0, "id": "call_1", "type": "function"}]}
CALLED["tool_calls"][0]["function"] = {"name": "f", "arguments": "{}"}  # type: ignore[index]
CITED = {"annotations": [{"type": "url_citation", "url_citation": {"url": "u", "start_index": 0, "end_index": 2}}]}
MORE = {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}


def chat_stream(*deltas: Any) -> bytes:
    """Return a stream of Chat Completions with these deltas."""
    choices: list[Any] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    chunks = [
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [c]} for c in choices
    ]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


@every_api
@pytest.mark.parametrize("deltas", [(HI, CALLED, HI), (CALLED, HI), (CALLED, HI, MORE), (HI, CALLED, CITED)])
def test_texts_around_calls_of_a_chat_stream_keep_their_order(api: str, deltas: tuple[Any, ...]) -> None:
    events = streams.decode(contentmodel.adapter(CHAT), [chat_stream(*deltas)])
    streams.repetition(contentmodel.adapter(api), events)
    raw, losses, contents = written(api, events)
    texts = ["hi" if "content" in delta else "f" for delta in deltas if delta not in (CITED, MORE)]
    if api == CHAT:
        texts = ["hi" * texts.count("hi"), "f"]
    known = [content for content in contents if isinstance(content, TextContent | FunctionCallContent)]
    assert [content.text if isinstance(content, TextContent) else content.name for content in known] == texts
    if api == ANTHROPIC:
        steps = [value["type"] for value in values(raw) if value["type"].startswith("content_block_st")]
        assert steps == ["content_block_start", "content_block_stop"] * len(contents)
    changed = [loss.code for loss in losses if loss.code == "changed-after-write"]
    assert changed == (["changed-after-write"] if MORE in deltas else [])
    if CITED in deltas and api == RESPONSES:
        assert [citation.url for citation in contents[0].annotations] == ["u"]


EMPTY = TextContent(text="")
NOT_EMPTY = TextContent(text="x")


def test_stream_encoder_writes_an_empty_text_that_grows_after_its_stop() -> None:
    events: list[Any] = [event for event in unfold(answer([EMPTY, CALL])) if not isinstance(event, TurnComplete)]
    events.append(BlockCatchUp(index=0, content=NOT_EMPTY))
    end = TurnComplete(response=ChatResponse(choices=[ChatChoice(finish_reason=STOP)]), layout=[[[0, 1]]])
    for api in (ANTHROPIC, RESPONSES, GOOGLE):
        _, _, contents = written(api, [*events, end])
        assert [content.text for content in contents if isinstance(content, TextContent)] == ["x"]


def test_stream_converter_accepts_values_of_a_wrong_type() -> None:
    message = {"type": "message", "role": "assistant", "content": [], "usage": 7}
    block = {"type": "text", "text": "words", "citations": 7}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    chunk = {"candidates": [{"content": {"role": "model", "parts": [{"text": 7}]}, "finishReason": "STOP"}]}
    for api, wires in ((ANTHROPIC, events), (GOOGLE, [chunk])):
        converter = StreamConverter(api, api)
        raw = b"".join(b"data: " + json.dumps(wire).encode() + b"\n\n" for wire in wires)
        assert values(converter.feed(raw) + converter.close())


@pytest.mark.parametrize("later", [None, '{"q":"x"}'])
def test_chat_stream_keeps_arguments_that_start_as_null(later: str | None) -> None:
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "search", "arguments": None}}
    deltas: list[Any] = [{"role": "assistant", "tool_calls": [call]}]
    if later is not None:
        deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": later}}]})
    head = {"id": "i", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks: list[Any] = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    raw = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    events = list(streams.decode(contentmodel.adapter(CHAT), [raw]))
    _, _, (content,) = written(CHAT, events)
    assert [content] == list(fold(events).messages[0].contents)


@pytest.mark.parametrize("api", [CHAT, GOOGLE])
def test_encoders_put_an_empty_line_between_texts_around_a_dropped_block(api: str) -> None:
    cited = [Citation(url="https://example.org/a", title="A", span=Span(start=4, end=7))]
    parts = [
        TextContent(text="It has a number."),
        ReasoningContent(text="Look it up."),
        TextContent(text="Now "),
        TextContent(text="let me look.", annotations=cited),
        CompactionContent(),
        TextContent(text=""),
        TextContent(text="Done."),
    ]
    response = answer(parts, source=ANTHROPIC)
    adapter = contentmodel.adapter(api)
    expected = "It has a number.\n\nNow let me look.\n\nDone."
    whole = adapter.decode_response(adapter.encode_response(response).payload)
    assert whole.text == expected
    for size in (1, None):
        # generateContent sends the results of a search after the text.
        text, *_ = written(api, list(unfold(response, size=size)))[2]
        assert text.text == expected
        (citation,) = text.annotations
        span = convert_span(text.text, citation.span, "codepoint")
        assert text.text[span.start : span.end] == "me "


def test_chat_stream_encoder_joins_texts_of_the_same_api() -> None:
    response = answer([TextContent(text="a"), CALL, TextContent(text="b")])
    assert written(CHAT, list(unfold(response)))[2][0].text == "ab"


@every_api
@given(start=st.sampled_from(["", "x", " ", "\n\n", "\U0001f600"]) | st.text(), deltas=st.lists(st.text(), max_size=4))
def test_stream_encoder_writes_the_whole_text_for_any_initial_text(api: str, start: str, deltas: list[str]) -> None:
    # The encoder drops a text of another API that is blank as a whole, so the text ends with "end".
    text = "".join([start, *deltas, "end"])
    begin, _, _, stop, end = unfold(answer([TextContent(text=text)], source=GOOGLE if api == CHAT else CHAT))
    grow = [TextDelta(index=0, text=delta) for delta in [*deltas, "end"]]
    events = [begin, BlockStart(index=0, content=TextContent(text=start)), *grow, stop, end]
    _, losses, contents = written(api, events)
    assert [content.text for content in contents] == [text]
    assert [loss for loss in losses if ".contents[" in loss.path] == []


@pytest.mark.parametrize("api", [RESPONSES, ANTHROPIC, GOOGLE])
def test_stream_encoder_writes_reasoning_deltas_at_once(api: str) -> None:
    origin = contentmodel.adapter(api).answer_origin({})
    begun = ReasoningContent(text="", kind="summary" if api == RESPONSES else None)
    encoder = contentmodel.adapter(api).stream_encoder()
    encoder.feed(TurnStart(response=ChatResponse(id="i", model="m", origin=origin)))
    encoder.feed(BlockStart(index=0, content=begun))
    assert b"Hm." in encoder.feed(ReasoningDelta(index=0, text="Hm."))


@every_api
def test_encode_contents_gives_the_contents_of_the_encoded_answer(api: str) -> None:
    contents = [
        ReasoningContent(text="Hm."),
        TextContent(text="a", annotations=[Citation(url="https://example.org", span=Span(start=0, end=1))]),
        CALL,
        TextContent(text="b"),
    ]
    adapter = contentmodel.adapter(api)
    response = answer(contents, source="turn-blocks")
    payload = adapter.encode_response(response).payload
    context = EncodeContext(api, adapter.issuer, "response", None, response.origin)
    alone = adapter.encode_contents(contents, context)
    if api == GOOGLE:
        (candidate,) = payload["candidates"]
        assert alone == {key: candidate[key] for key in ("content", "groundingMetadata")}
    else:
        if api == RESPONSES:
            # The encoder of answers gives items ids, and calls a status.
            named = ItemIds(payload)
            alone = [named.named(item) for item in alone]
        assert (
            alone
            == {
                ANTHROPIC: lambda: payload["content"],
                CHAT: lambda: payload["choices"][0]["message"],
                RESPONSES: lambda: payload["output"],
            }[api]()
        )


@every_api
def test_losses_of_many_dropped_blocks_have_the_path_of_each(api: str) -> None:
    lost = CompactionContent()
    contents = [content for number in range(50) for content in (TextContent(text=f"{number}"), lost)]
    events = list(unfold(answer(contents, source=GOOGLE if api == ANTHROPIC else ANTHROPIC)))
    _, losses, _ = written(api, events)
    paths = [loss.path for loss in losses if loss.kind == "dropped" and ".contents[" in loss.path]
    assert paths == [f"$.choices[0].messages[0].contents[{2 * number + 1}]" for number in range(50)]


def test_streamed_call_ids_give_a_result_the_id_of_its_call() -> None:
    ids = AnswerCallIds()
    call = ids.give(0, FunctionCallContent(name="a"))
    assert ids.give(1, FunctionCallContent(name="b")).call_id != call.call_id
    assert ids.give(2, FunctionResultContent(name="a", outputs=[])).call_id == call.call_id
    assert ids.give(0, FunctionCallContent(name="a", arguments={})).call_id == call.call_id


@pytest.mark.parametrize("api", PROVIDERS)
def test_streams_of_answers_with_lone_surrogates_grow(api: str) -> None:
    contents = [ReasoningContent(text="thought"), TextContent(text="text")]
    choices = [ChatChoice(messages=[ChatMessage(role="assistant", contents=contents)])]
    answer = ChatResponse(id="half \ud83d", model="half \udfff", choices=choices)
    assert fold_stream(encode_stream(unfold(answer, size=2), api), api).text == "text"
