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

from conftest import payloads
from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    DecodeError,
    Origin,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.cli.app import app
from contentmodel.content import (
    UnknownContent,
)
from contentmodel.interop.inspect_ai import samples
from contentmodel.message import contents_of
from contentmodel_conformance.strategies.transcripts import transcripts

API = "inspect-eval-log"
LOG = Path(__file__).parent / "data_sets" / "inspect.eval"
STORED = payloads(API)
LOOP, ATTACHED = STORED["loop"], STORED["attached"]
MESSAGES = [document for document in STORED.values() if isinstance(document, list)]
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
every_document = pytest.mark.parametrize("document", STORED.values(), ids=STORED)


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


@pytest.mark.parametrize("document", [LOOP, STORED["parts"], STORED["hosted"], ATTACHED])
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
    thinking = {"type": "reasoning", "reasoning": "c2ln", "redacted": True}
    (thought,) = contents([{"role": "assistant", "content": [thinking], "model": model}])
    assert thought.protected.issuer == issuer


@pytest.mark.parametrize("target", ["anthropic-messages", "openai-responses", "google-generate-content"])
def test_opaque_state_is_sent_only_to_its_provider(target: str) -> None:
    payload = json.dumps(convert(LOOP, source=API, target=target, model="m").payload)
    assert ("c2ln" in payload) is ("cmVk" in payload) is (target == "anthropic-messages")


# -- encoding ----------------------------------------------------------------------------------------------------------


def of(issuer: str, *contents: Any, model: str = "m", role: str = "assistant") -> ChatMessage:
    return ChatMessage(role=role, contents=list(contents), origin=Origin(api="x", issuer=issuer, model=model))


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
    assert decoded(sample).messages[0].contents[1].data_uri == ATTACHED["attachments"]["a1"]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_converters_of_the_library_agree() -> None:
    """`messages_to_openai` writes calls, texts and results of a conversation as we do."""
    library()
    import asyncio

    from inspect_ai.model import messages_to_openai

    conversation = [LOOP[0], LOOP[1], {**LOOP[2], "tool_calls": LOOP[2]["tool_calls"][:2]}, *LOOP[3:5]]
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
