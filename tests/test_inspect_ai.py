"""Eval logs of Inspect AI. Its types and its own converters judge what the adapter reads and writes."""

from __future__ import annotations

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from typer.testing import CliRunner

from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    DecodeError,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    ReasoningContent,
    TextContent,
    UriContent,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.cli.app import app
from contentmodel.content import (
    CachePoint,
    Citation,
    CompactionContent,
    CustomToolCallContent,
    ErrorContent,
    Span,
    UnknownContent,
    hosted,
)
from contentmodel.content.base import Protected
from contentmodel.content.tools import CustomToolResultContent, HostedToolCallContent
from contentmodel.interop.inspect_ai import samples
from contentmodel.message import contents_of
from contentmodel_conformance.strategies.transcripts import transcripts
from inspect_logs import (
    ATTACHED,
    CALLS,
    DOCUMENTS,
    GEMINI,
    HOSTED,
    LOG,
    LOOP,
    MESSAGES,
    PARTS,
    PIXEL,
    assistant,
    reasoning,
    used,
)

API = "inspect-eval-log"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
every_document = pytest.mark.parametrize("document", DOCUMENTS)


def decoded(document: Any) -> ChatRequest:
    return adapter(API).decode_request(document)


def contents(document: Any) -> list[Any]:
    return list(contents_of(decoded(document).messages))


def written(*messages: ChatMessage, **fields: Any) -> Any:
    return adapter(API).encode_request(ChatRequest(messages=list(messages), **fields)).payload


# -- identity ----------------------------------------------------------------------------------------------------------


@every_document
def test_document_is_encoded_unchanged(document: Any) -> None:
    original = copy.deepcopy(document)
    encoded = adapter(API).encode_request(decoded(document))
    assert (encoded.payload, encoded.losses) == (original, ())
    assert document == original


@every_document
def test_document_is_detected(document: Any) -> None:
    assert detect(document) == (API, "request")


@every_document
@pytest.mark.parametrize("target", [*PROVIDERS, "hf-messages", "turn-blocks", "vercel-model-messages"])
def test_conversion_reports_every_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, source=API, target=target, model="gpt-5.2")) == []


@every_document
def test_every_content_has_a_type_of_the_model(document: Any) -> None:
    found = contents(document)
    found += [output for content in found for output in getattr(content, "outputs", ())]
    assert not [content for content in found if isinstance(content, UnknownContent)]


def test_unknown_messages_parts_and_calls_are_kept() -> None:
    document = [
        {"role": "critic", "content": "no"},
        {"role": "user", "content": [{"type": "wave"}, {"type": "image", "image": "a"}, {"no": "type"}]},
        {"role": "assistant", "content": "", "tool_calls": [{"type": "odd"}, {"type": "function"}], "error": 1},
        {"role": "tool", "content": [], "error": "text"},
    ]
    assert adapter(API).encode_request(decoded(document)).payload == document


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ([1], "$[0]"),
        ([{"content": "a"}], "$[0].role"),
        ([{"role": "user", "content": [1]}], "$[0].content[0]"),
        ({"messages": [assistant(used("web_search", "a", "{}", ""), 1)]}, "$.messages[0].content[1]"),
        ({"epoch": 1}, "$.messages"),
    ],
)
def test_fault_has_a_path(payload: Any, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decoded(payload)
    assert caught.value.faults[0].path == path


@pytest.mark.parametrize("document", [LOOP, PARTS, HOSTED, ATTACHED])
def test_document_breaks_no_rule(document: Any) -> None:
    assert check(document, api=API) == []


def test_check_reports_what_inspect_refuses() -> None:
    document = [
        {"role": "critic", "content": "no"},
        {"role": "user"},
        {"role": "user", "content": [{"type": "audio", "audio": "a.flac", "format": "flac"}, {"type": "wave"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "tool_type": "shell"}], "tool_calls": [{"id": "c1"}]},
        {"role": "tool", "content": "", "error": {"type": "odd"}},
    ]
    found = {violation.rule for violation in check(document, api=API)}
    assert found == {
        "roles-are-known",
        "messages-have-contents",
        "parts-are-known",
        "values-are-known",
        "calls-are-complete",
    }


# -- decoding ----------------------------------------------------------------------------------------------------------


def test_reasoning_has_opaque_state_of_the_provider_of_its_model() -> None:
    thoughts = [content for content in contents(LOOP) if isinstance(content, ReasoningContent)]
    assert [(one.text, one.protected) for one in thoughts] == [
        ("Look it up.", Protected(issuer="anthropic", kind="signature", data="c2ln")),
        ("", Protected(issuer="anthropic", kind="redacted", data="cmVk")),
    ]
    thoughts = [content for content in contents(PARTS[3:]) if isinstance(content, ReasoningContent)]
    encrypted = Protected(issuer="openai", kind="encrypted", data="ZW5j")
    assert [(one.text, one.protected) for one in thoughts[:4]] == [
        ("Think.", encrypted),
        ("Visible.", None),
        ("Only a summary.", None),
        ("Both.", encrypted),
    ]
    (compaction,) = [content for content in contents(PARTS[3:]) if isinstance(content, CompactionContent)]
    assert compaction.protected == encrypted


@pytest.mark.parametrize(
    ("model", "issuer"),
    [
        ("claude-opus-4-8", "anthropic"),
        ("us.anthropic.claude-opus-4-6-v1", "anthropic"),
        ("gpt-5.2", "openai"),
        ("openai/o3", "openai"),
        ("gemini-3-pro", "google"),
        ("vertex/gemini-3-pro", "google"),
        ("grok-4", "xai"),
        ("mockllm/model", API),
    ],
)
def test_issuer_is_found_from_the_name_of_the_model(model: str, issuer: str) -> None:
    (thought,) = contents([assistant(reasoning("c2ln", redacted=True), model=model)])
    assert thought.protected.issuer == issuer


@pytest.mark.parametrize("target", ["anthropic-messages", "openai-responses", "google-generate-content"])
def test_opaque_state_is_sent_only_to_its_provider(target: str) -> None:
    payload = json.dumps(convert(LOOP, source=API, target=target, model="m").payload)
    assert ("c2ln" in payload) is ("cmVk" in payload) is (target == "anthropic-messages")


def test_failed_result_has_the_message_that_the_model_gets() -> None:
    results = [content for content in contents(LOOP) if isinstance(content, FunctionResultContent)]
    assert [(one.text, one.is_error, one.outcome) for one in results] == [
        ("18 degrees", None, None),
        ("no such city", True, None),
        ("Here.", None, None),
        ("too slowpartly", True, "timed_out"),
    ]
    sent = convert(LOOP, source=API, target="anthropic-messages", model="claude-opus-4-8").payload["messages"]
    assert sent[2]["content"][1] == {
        "type": "tool_result",
        "tool_use_id": "c2",
        "content": "no such city",
        "is_error": True,
    }


def test_citations_have_offsets_of_the_text_or_a_part_of_their_source() -> None:
    (cited,) = [content for content in contents(PARTS) if isinstance(content, TextContent) and content.annotations]
    url, document, content = cited.annotations
    assert (url.url, url.span) == ("https://example.org/a", Span(start=0, end=5))
    assert document.location == Span(start=1, end=2, unit="page")
    assert (document.document_index, document.cited_text, content.cited_text) == (0, "warm", "today")


def test_media_decode_to_bytes_and_links() -> None:
    media = decoded(PARTS).messages[0].contents
    assert media[0].cache_point == CachePoint()
    assert [(type(one).__name__, one.media_type, one.media_kind, one.name) for one in media[1:]] == [  # type: ignore[attr-defined]
        ("DataContent", "image/png", "image", None),
        ("UriContent", None, "image", None),
        ("DataContent", "audio/wav", "audio", None),
        ("UriContent", "audio/mpeg", "audio", None),
        ("DataContent", "video/mp4", "video", None),
        ("UriContent", "video/quicktime", "video", None),
        ("DataContent", "application/pdf", "document", "a.pdf"),
        ("UriContent", "text/plain", "document", "b.txt"),
    ]


def test_hosted_tool_decodes_to_a_call_and_its_result() -> None:
    found = contents(HOSTED)[1:-1]
    pairs = list(zip(found[::2], found[1::2], strict=True))
    assert [(type(call), call.arguments, result.outputs, result.is_error) for call, result in pairs] == [
        (
            hosted.WebSearchToolCallContent,
            '{"query": "Oslo"}',
            [TextContent(text='[{"url": "https://example.org"}]')],
            None,
        ),
        (hosted.WebFetchToolCallContent, '{"url": "https://example.org"}', [TextContent(text="A page.")], None),
        (hosted.WebSearchToolCallContent, '{"pattern": "a"}', [ErrorContent(message="failed")], None),
        (hosted.McpServerToolCallContent, '{"q": 1}', [ErrorContent(message="no such tool (404)")], None),
        (hosted.McpServerToolCallContent, "{}", [TextContent(text="3")], True),
        (hosted.McpListToolsToolCallContent, "", [TextContent(text='[{"name":"ask"}]')], None),
        (HostedToolCallContent, "{}", [TextContent(text="3")], None),
        (hosted.CodeInterpreterToolCallContent, {"code": "print(1)"}, [TextContent(text="1\n")], None),
        (hosted.CodeInterpreterToolCallContent, '{"code": "print(1)"}', [TextContent(text='{"stdout": "1"}')], None),
        (hosted.ShellToolCallContent, '{"command": "ls"}', [TextContent(text="a.txt")], None),
        (hosted.TextEditorToolCallContent, '{"command": "view"}', [TextContent(text="one")], None),
        (hosted.CodeInterpreterToolCallContent, {"code": "1 + 1"}, [TextContent(text="2")], None),
    ]
    assert all(call.call_id == result.call_id for call, result in pairs)
    assert pairs[3][0].server == "deep"


def test_custom_call_has_its_text() -> None:
    calls = decoded(CALLS).messages[1].contents
    assert [(type(call), call.arguments) for call in calls] == [  # type: ignore[attr-defined]
        (CustomToolCallContent, "*** Begin"),
        (FunctionCallContent, {"path": "a"}),
        *[(FunctionCallContent, {})] * 3,
    ]


def test_result_of_a_custom_call_is_a_custom_result() -> None:
    results = [message.contents[0] for message in decoded(CALLS).messages[2:8]]
    kinds = [CustomToolResultContent, *[FunctionResultContent] * 5]
    assert [type(result) for result in results] == kinds
    call, result = decoded(CALLS).messages[1].contents[0], results[0]
    written = adapter(API).encode_request(
        ChatRequest(messages=[of("openai", call), of("openai", result, role="tool")], origin=Origin(api="x", issuer=""))
    )
    assert written.payload[1] == {"role": "tool", "tool_call_id": "c1", "function": "patch", "content": "Done."}
    assert type(decoded(written.payload).messages[1].contents[0]) is CustomToolResultContent


def test_anchor_decodes_to_the_signature_of_its_call() -> None:
    found = decoded(GEMINI).messages[1].contents
    assert [type(content) for content in found] == [ReasoningContent, TextContent, *[FunctionCallContent] * 2]
    assert [content.protected for content in found[2:]] == [
        Protected(issuer="google", kind="signature", data="c2ln"),
        None,
    ]
    sent = convert(GEMINI, source=API, target="google-generate-content", model="gemini-3-pro")
    (signed, unsigned) = sent.payload["contents"][1]["parts"][-2:]
    assert (signed["thoughtSignature"], "thoughtSignature" in unsigned) == ("c2ln", False)
    again = convert(sent.payload, source="google-generate-content", target=API, model="gemini-3-pro").payload
    assert again[1]["content"][-1] == GEMINI[1]["content"][1]
    lost = convert(GEMINI, source=API, target="openai-chat", model="m").losses
    assert [loss.path for loss in lost if loss.what.startswith("protected")] == [
        "$[1].content[1].reasoning",
        "$[4].content[0].reasoning",
    ]


def test_attachments_replace_their_references() -> None:
    messages = decoded(ATTACHED).messages
    image = messages[0].contents[1]
    assert isinstance(image, DataContent)
    assert image.data_uri == PIXEL
    assert messages[1].contents[0].arguments == {"note": "A long text."}  # type: ignore[attr-defined]
    assert messages[2].contents[0].text == "A long text."  # type: ignore[attr-defined]
    assert messages[3].text == "attachment://none"
    sent = convert(ATTACHED, source=API, target="openai-chat").payload
    assert sent["messages"][0]["content"][1]["image_url"]["url"] == PIXEL


def test_edited_attachment_is_written_as_text() -> None:
    request = decoded(ATTACHED)
    request.messages[2].contents[0].outputs[0] = TextContent(text="Another text.")  # type: ignore[attr-defined]
    payload = adapter(API).encode_request(request).payload
    assert payload["messages"][2]["content"] == "Another text."
    assert payload["messages"][0]["content"][1]["image"] == "attachment://a1"
    assert payload["attachments"] == ATTACHED["attachments"]


# -- encoding ----------------------------------------------------------------------------------------------------------


def of(issuer: str, *contents: Any, model: str = "m", role: str = "assistant") -> ChatMessage:
    return ChatMessage(role=role, contents=list(contents), origin=Origin(api="x", issuer=issuer, model=model))


def test_state_is_written_if_the_model_shows_its_provider() -> None:
    sealed = Protected(issuer="anthropic", kind="signature", data="c2ln")
    (message,) = written(
        of("anthropic", ReasoningContent(text="a", protected=sealed)), origin=Origin(api="x", issuer="x")
    )
    assert message["model"] == "anthropic/m"
    assert message["content"] == [{"type": "reasoning", "redacted": True, "summary": "a", "reasoning": "c2ln"}]
    (thought,) = contents([message])
    assert (thought.text, thought.protected) == ("a", sealed)


def test_state_of_another_provider_is_dropped_with_a_loss() -> None:
    sealed = Protected(issuer="openai", kind="encrypted", data="c2ln")
    request = ChatRequest(messages=[of("anthropic", ReasoningContent(text="a", protected=sealed))])
    encoded = adapter(API).encode_request(request)
    assert encoded.payload[0]["content"] == [{"type": "reasoning", "reasoning": "a"}]
    assert [loss.code for loss in encoded.losses] == ["opaque-state"]


def test_other_hosted_tool_keeps_its_name() -> None:
    call = hosted.FileSearchToolCallContent(call_id="f1", arguments={"queries": ["a"]})
    result = hosted.FileSearchToolResultContent(call_id="f1", outputs=[UriContent(uri="https://a.org", title="A")])
    encoded = adapter(API).encode_request(ChatRequest(messages=[of("openai", call, result)]))
    assert encoded.payload[0]["content"] == [
        {
            "type": "tool_use",
            "tool_type": "mcp_call",
            "id": "f1",
            "name": "file_search",
            "arguments": '{"queries":["a"]}',
            "result": "A\nhttps://a.org",
        }
    ]
    assert {loss.code for loss in encoded.losses} == {"tool-by-name", "as-text"}


def test_citation_has_offsets_in_code_points() -> None:
    cited = Citation(url="https://a.org", span=Span(start=2, end=3, unit="utf16"))
    text = TextContent(text="\U0001f600a", annotations=[cited])
    (message,) = written(of("openai", text), origin=Origin(api="x", issuer="x"))
    assert message["content"][0]["citations"][0]["cited_text"] == [1, 2]


# -- the library -------------------------------------------------------------------------------------------------------


def library() -> Any:
    """Return the module with the types of the library."""
    return pytest.importorskip("inspect_ai.log", reason="inspect_ai, which judges payloads, is not installed")


def validated(messages: Any) -> list[Any]:
    """Return messages as the library reads and writes them."""
    library()
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser

    classes = {
        "system": ChatMessageSystem,
        "user": ChatMessageUser,
        "assistant": ChatMessageAssistant,
        "tool": ChatMessageTool,
    }
    return [classes[message["role"]].model_validate(message) for message in messages]


@pytest.mark.slow
@pytest.mark.parametrize("document", MESSAGES)
def test_handmade_document_is_valid_for_the_library(document: Any) -> None:
    assert validated(document)


@pytest.mark.slow
@pytest.mark.parametrize("api", PROVIDERS)
@given(data=transcripts("anthropic-messages"))
def test_conversion_is_valid_for_the_library(api: str, data: ChatRequest) -> None:
    source = adapter(api).encode_request(data).payload
    written = convert(source, source=api, target=API).payload
    assert len(validated(written)) == len(written)


@pytest.mark.slow
def test_objects_of_the_library_are_payloads() -> None:
    messages = validated(LOOP)
    again = adapter(API).encode_request(decoded(messages)).payload
    assert validated(again) == messages
    sample = library().EvalSample.model_validate({**ATTACHED, "events": []})
    assert decoded(sample).messages[0].contents[1].data_uri == PIXEL  # type: ignore[attr-defined]


@pytest.mark.slow
def test_converters_of_the_library_agree() -> None:
    """`messages_to_openai` writes calls, texts and results of a conversation as we do."""
    library()
    import asyncio

    from inspect_ai.model import messages_to_openai

    conversation = [LOOP[0], LOOP[1], assistant("", tool_calls=LOOP[2]["tool_calls"][:2]), *LOOP[3:5]]
    conversation[2] = {**conversation[2], "content": "One moment."}
    theirs = json.loads(json.dumps(asyncio.run(messages_to_openai(validated(conversation)))))
    ours = convert(conversation, source=API, target="openai-chat", model="gpt-4.1").payload["messages"]
    for one, other in zip(theirs, ours, strict=True):
        assert one["role"] in (other["role"], "developer")
        assert text_of(one).removeprefix("Error: ") in text_of(other)
        assert [json.loads(c["function"]["arguments"]) for c in one.get("tool_calls", ())] == [
            json.loads(c["function"]["arguments"]) for c in other.get("tool_calls", ())
        ]


FROM_ANTHROPIC: list[Any] = [
    {"role": "user", "content": "How is Oslo?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Look.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "cmVk"},
            {
                "type": "text",
                "text": "One.",
                "citations": [
                    {
                        "type": "page_location",
                        "cited_text": "x",
                        "document_index": 0,
                        "document_title": "D",
                        "start_page_number": 1,
                        "end_page_number": 2,
                    }
                ],
            },
            {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no such city", "is_error": True}],
    },
]
FROM_RESPONSES: list[Any] = [
    {"role": "user", "content": "Hi."},
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Think."}],
        "encrypted_content": "ZW5j",
    },
    {"type": "mcp_call", "id": "mcp_1", "name": "ask", "server_label": "deep", "arguments": "{}", "output": "3"},
    {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "content": [
            {
                "type": "output_text",
                "text": "It is warm.",
                "annotations": [
                    {"type": "url_citation", "url": "https://a.org", "title": "A", "start_index": 0, "end_index": 2}
                ],
                "logprobs": [],
            }
        ],
    },
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}', "id": "fc_1"},
    {"type": "function_call_output", "call_id": "c1", "output": "x"},
]


@pytest.mark.slow
@pytest.mark.parametrize("source", ["anthropic-messages", "openai-responses"])
def test_library_converts_messages_of_providers_to_the_same_messages(source: str) -> None:
    library()
    import asyncio

    from inspect_ai.model import messages_from_anthropic, messages_from_openai_responses

    if source == "anthropic-messages":
        theirs: Any = asyncio.run(messages_from_anthropic(FROM_ANTHROPIC))
        ours = convert({"messages": FROM_ANTHROPIC, "model": "claude-opus-4-8"}, source=source, target=API).payload
    else:
        theirs = asyncio.run(messages_from_openai_responses(FROM_RESPONSES, "gpt-5.2"))
        ours = convert({"input": FROM_RESPONSES, "model": "gpt-5.2"}, source=source, target=API).payload
    assert list(map(_comparable, theirs)) == list(map(_comparable, validated(ours)))


def _comparable(message: Any) -> Any:
    """Return what both converters write: they differ in ids, and in the content of a failed result."""
    dumped = message.model_dump(exclude_none=True, exclude={"id", "source", "model", "metadata"})
    if "error" in dumped:
        dumped["content"] = ""
    for part in dumped["content"] if isinstance(dumped["content"], list) else ():
        part.pop("signature", None)
    if [part["type"] for part in dumped["content"] if isinstance(part, dict)] == ["text"]:
        dumped["content"] = dumped["content"][0]["text"]
    return dumped


def text_of(message: Any) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


# -- logs --------------------------------------------------------------------------------------------------------------


def test_samples_of_a_log_are_read_one_by_one() -> None:
    found = list(samples(LOG))
    assert [(sample["id"], len(sample["messages"])) for sample in found] == [(2, 2), ("weather", 10)]
    for sample in found:
        assert detect(sample) == (API, "request")
        assert adapter(API).encode_request(decoded(sample)).payload == sample
        assert not [content for content in contents(sample) if isinstance(content, UnknownContent)]
        assert audit(sample, convert(sample, target="anthropic-messages", model="claude-opus-4-8")) == []
    image = decoded(found[1]).messages[1].contents[1]
    assert isinstance(image, DataContent)
    assert image.media_type == "image/png"


@pytest.mark.slow
def test_log_is_read_as_the_library_reads_it() -> None:
    log = library().read_eval_log(str(LOG))
    ours = {sample["id"]: sample["messages"] for sample in samples(LOG)}
    for sample in log.samples:
        assert validated(ours[sample.id]) == sample.messages


def log_file(path: Path, members: dict[str, str], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_json_log_and_deflated_log_are_read(tmp_path: Path) -> None:
    plain = tmp_path / "log.json"
    plain.write_text(json.dumps({"version": 2, "eval": {}, "samples": [ATTACHED]}))
    assert list(samples(plain)) == [ATTACHED]
    members = {"header.json": "{}", "samples/1_epoch_1.json": json.dumps(ATTACHED), "summaries.json": "[]"}
    assert list(samples(log_file(tmp_path / "log.eval", members))) == [ATTACHED]


def test_number_that_json_lacks_becomes_a_string(tmp_path: Path) -> None:
    path = log_file(tmp_path / "a.eval", {"samples/1_epoch_1.json": '{"messages": [], "scores": {"a": NaN, "b": 1}}'})
    (sample,) = samples(path)
    assert sample["scores"] == {"a": "NaN", "b": 1}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"a.json": "{}"}, "a.eval: it is a zip file, but not an eval log"),
        ({"samples/1_epoch_1.json": "{"}, "a.eval, samples/1_epoch_1.json: not JSON"),
        ({"samples/1_epoch_1.json": "[]"}, "samples/1_epoch_1.json: expected an object, got array"),
        ({"samples/1_epoch_1/sample.json": "{}", "samples/1_epoch_1/messages/0.json": "[]"}, "is stored in chunks"),
    ],
)
def test_bad_log_is_refused_with_its_member(tmp_path: Path, members: dict[str, str], message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        list(samples(log_file(tmp_path / "a.eval", members)))


def test_whole_log_is_refused_with_the_function_that_reads_it() -> None:
    log = {"version": 2, "eval": {}, "samples": [ATTACHED]}
    assert detect(log) == (API, "request")
    with pytest.raises(DecodeError, match=r"interop\.inspect_ai\.samples at \$\.samples"):
        decoded(log)


@pytest.mark.parametrize("text", ["{}", '{"eval": {}, "samples": 1}', "[]", "no", "PK"])
def test_json_file_that_is_no_log_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(DecodeError, match=r"log\.json: "):
        list(samples(path))
    with pytest.raises(FileNotFoundError):
        list(samples(tmp_path / "none.eval"))


def test_damaged_log_is_refused_with_its_member(tmp_path: Path) -> None:
    data = bytearray(LOG.read_bytes())
    with zipfile.ZipFile(LOG) as archive:
        start = archive.getinfo("samples/weather_epoch_1.json").header_offset + 100
    data[start : start + 20] = bytes(20)
    path = tmp_path / "a.eval"
    path.write_bytes(data)
    with pytest.raises(DecodeError, match=r"samples/weather_epoch_1\.json: the file is damaged"):
        list(samples(path))


def test_command_reads_the_samples_of_a_log() -> None:
    shown = CliRunner().invoke(app, ["show", str(LOG)])
    assert shown.stdout.count(f"{API} request") == 2
    converted = CliRunner().invoke(app, ["convert", str(LOG), "--to", "anthropic-messages", "-q"])
    lines = converted.stdout.splitlines()
    assert [len(json.loads(line)["messages"]) for line in lines] == [8, 4]


def test_fields_of_a_hosted_result_without_class_here_are_reported() -> None:
    found = {"type": "tool_search_output", "call_id": "c", "tools": [{"type": "code_interpreter", "container": "x"}]}
    payload = {"model": "m", "input": [{"role": "user", "content": "Hi."}, found]}
    assert audit(payload, convert(payload, source="openai-responses", target=API)) == []


def test_title_of_a_fetched_text_is_in_its_text() -> None:
    page = {"type": "document", "title": "Home", "source": {"type": "text", "media_type": "text/plain", "data": "Hi"}}
    blocks = [
        {"type": "server_tool_use", "id": "srv_1", "name": "web_fetch", "input": {"url": "https://example.org"}},
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "srv_1",
            "content": {"type": "web_fetch_result", "url": "https://example.org", "content": page},
        },
    ]
    request = {"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": blocks}]}
    encoded = convert(request, source="anthropic-messages", target="inspect-eval-log")
    assert "Home\\nHi" in encoded.to_json().decode()
