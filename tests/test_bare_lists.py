"""A list of messages instead of a request, for every API and in the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from contentmodel import ChatRequest, DecodeError, adapter, audit, check, convert, detect, user
from contentmodel.authoring import DUMPERS
from contentmodel.cli.app import app
from contentmodel.errors import DetectError
from contentmodel_adapters.datasets.finetune import OpenAIFinetune

LISTS: dict[str, list[dict[str, Any]]] = {
    "openai-chat": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi", "weird": 1},
        {"role": "assistant", "content": "hello"},
    ],
    "anthropic-messages": [
        {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x.org/a.png"}}]},
        {"role": "assistant", "content": "A cat.", "weird": 1},
    ],
    "google-generate-content": [{"role": "user", "parts": [{"text": "hi"}], "weird": 1}],
    "openai-responses": [{"type": "message", "role": "user", "content": "hi", "weird": 1}],
}
every_list = pytest.mark.parametrize("api", LISTS)


@pytest.mark.parametrize("target", [api for api in LISTS if api != "google-generate-content"])
def test_gemini_contents_and_parts_as_single_objects_are_decoded(target: str) -> None:
    payload = {
        "contents": {"role": "user", "parts": {"text": "hi"}},
        "systemInstruction": {"parts": {"text": "Be brief."}},
    }
    standard = {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
    }
    reader = adapter("google-generate-content")
    assert detect(payload) == ("google-generate-content", "request")
    assert reader.encode_request(reader.decode_request(payload)).payload == payload
    assert check(payload, api="google-generate-content") == []
    encoded = convert(payload, target=target)
    assert encoded.payload == convert(standard, target=target).payload
    assert audit(payload, encoded) == []


def test_gemini_encodes_list_if_single_content_became_two() -> None:
    reader = adapter("google-generate-content")
    request = reader.decode_request({"contents": {"role": "user", "parts": {"text": "hi"}}})
    request.messages[0].contents.append(request.messages[0].contents[0])
    request.messages.append(request.messages[0])
    content = {"role": "user", "parts": [{"text": "hi"}, {"text": "hi"}]}
    assert reader.encode_request(request).payload == {"contents": [content, content]}


@pytest.mark.parametrize("contents", [{}, "hi", None, 3])
def test_check_reports_invalid_gemini_contents(contents: Any) -> None:
    assert check({"contents": contents}, api="google-generate-content", model="gemini-2.5-flash") != []


@every_list
def test_list_of_messages_is_detected_and_decoded_as_request(api: str) -> None:
    assert detect(LISTS[api]) == (api, "request")
    assert detect(json.dumps(LISTS[api])) == (api, "request")
    request = adapter(api).decode_request(LISTS[api])
    assert request.messages


@every_list
def test_list_of_messages_is_encoded_as_list_within_its_api(api: str) -> None:
    encoded = convert(LISTS[api], source=api, target=api)
    assert encoded.payload == LISTS[api]
    assert encoded.losses == ()


@every_list
@pytest.mark.parametrize("target", LISTS)
def test_losses_of_converted_list_have_paths_in_the_list(api: str, target: str) -> None:
    encoded = convert(LISTS[api], target=target)
    assert audit(LISTS[api], encoded) == []
    if api != target:
        assert isinstance(encoded.payload, dict)
        (index,) = [index for index, message in enumerate(LISTS[api]) if "weird" in message]
        assert f"$[{index}].weird" in {loss.path for loss in encoded.losses}


def test_convert_reads_ambiguous_list_as_named_api() -> None:
    plain = [{"role": "user", "content": "hi"}]
    assert detect(plain) == ("openai-chat", "request")
    for api in ("openai-chat", "anthropic-messages", "openai-responses"):
        assert detect(plain, api=api) == (api, "request")
        assert convert(plain, source=api, target=api).payload == plain


def test_convert_encodes_list_of_messages_as_request_if_model_is_given() -> None:
    assert convert(LISTS["openai-chat"], target="openai-chat", model="gpt-5.2").payload == {
        "model": "gpt-5.2",
        "messages": LISTS["openai-chat"],
    }


@pytest.mark.parametrize(
    "items",
    [
        [],
        [1, 2],
        [{"a": 1}],
        [{"model": "m", "messages": []}],
        [{"type": "text", "text": "a"}],
    ],
)
def test_detect_rejects_list_without_messages(items: list[Any]) -> None:
    with pytest.raises(DetectError, match="no messages"):
        detect(items)


def test_decode_error_of_list_has_path_in_the_list() -> None:
    with pytest.raises(DecodeError) as caught:
        adapter("openai-chat").decode_request([{"role": "user", "content": "hi"}, {"content": "who?"}])
    assert [fault.path for fault in caught.value.faults] == ["$[1].role"]
    with pytest.raises(DecodeError, match="expected an object"):
        adapter("openai-chat").decode_response([])


class ListOfMessages(OpenAIFinetune):
    """An adapter of a format whose documents are lists."""

    api = "openai-finetune"
    is_list = True
    conversation = "messages"


def test_format_of_lists_writes_other_conversations_as_list() -> None:
    writer = ListOfMessages()
    request = adapter("openai-chat").decode_request({"model": "gpt-5.2", "messages": LISTS["openai-chat"]})
    assert [message["role"] for message in writer.encode_request(request).payload] == ["system", "user", "assistant"]
    assert writer.encode_request(ChatRequest(messages=[user("hi")])).payload == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    "payload", [[], [{"role": "user", "content": "hi"}], {"messages": []}, {"messages": [], "a": 1}]
)
def test_format_of_lists_keeps_lists_and_objects(payload: Any) -> None:
    writer = ListOfMessages()
    assert writer.encode_request(writer.decode_request(payload)).payload == payload


def test_violation_in_format_of_lists_has_path_in_list() -> None:
    unanswered = {"role": "tool", "tool_call_id": "call_1", "content": "1"}
    found = ListOfMessages().check_request([{"role": "user", "content": "hi"}, unanswered])
    assert {violation.path.partition("]")[0] for violation in found} <= {"$", "$[1"}
    assert any(violation.path.startswith("$[1]") for violation in found)


def test_objects_of_other_libraries_are_dumped_by_function_of_their_module(monkeypatch: pytest.MonkeyPatch) -> None:
    class Turn:
        text = "hi"

    with pytest.raises(DecodeError, match="Turn is not a JSON value"):
        adapter("openai-chat").decode_request([Turn()])  # type: ignore[list-item]
    monkeypatch.setitem(DUMPERS, Turn.__module__.partition(".")[0], lambda turn: {"role": "user", "content": turn.text})
    assert adapter("openai-chat").decode_request([Turn()]).messages[0].text == "hi"
    assert detect([Turn()]) == ("openai-chat", "request")


def test_violation_in_list_has_path_in_request() -> None:
    unanswered = {"role": "tool", "tool_call_id": "call_1", "content": "1"}
    found = check([{"role": "user", "content": "hi"}, unanswered], api="openai-chat")
    assert any(violation.path.startswith("$.messages[1]") for violation in found)


def test_commands_accept_list_of_messages(tmp_path: Path) -> None:
    path = tmp_path / "messages.json"
    path.write_text(json.dumps(LISTS["openai-chat"]))
    runner = CliRunner()
    assert runner.invoke(app, ["detect", str(path)]).stdout.strip() == "openai-chat request"
    made = runner.invoke(app, ["convert", str(path), "--to", "anthropic-messages", "--quiet"])
    assert json.loads(made.stdout)["system"] == "Be brief."
    named = runner.invoke(app, ["convert", str(path), "--from", "openai-chat", "--to", "openai-chat", "--quiet"])
    assert json.loads(named.stdout) == LISTS["openai-chat"]
    assert "hello" in runner.invoke(app, ["show", str(path)]).stdout


def test_detect_command_suggests_jq_for_list_of_payloads(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    path.write_text(json.dumps([{"model": "m", "messages": LISTS["openai-chat"]}]))
    result = CliRunner().invoke(app, ["detect", str(path)])
    assert result.exit_code == 2
    assert "jq -c '.[]'" in result.output


MISSHAPEN: dict[str, tuple[Any, str]] = {
    "vercel-ui-messages": ([{"role": "user", "parts": "x"}], "$[0].parts"),
    "langchain-messages": ({"messages": 7}, "$.messages"),
    "meai": ([5], "$[0]"),
    "atif": ({"a": 1}, "$.steps"),
}


@pytest.mark.parametrize("api", MISSHAPEN)
def test_faults_of_named_format_of_conversations_have_paths(api: str) -> None:
    """The API is known, and its lists are conversations: nothing is left to detect."""
    payload, path = MISSHAPEN[api]
    with pytest.raises(DecodeError) as caught:
        convert(payload, source=api, target="openai-chat")
    assert [fault.path for fault in caught.value.faults] == [path]
    command = ["convert", "-", "--from", api, "--to", "openai-chat"]
    result = CliRunner().invoke(app, command, input=json.dumps(payload))
    assert result.exit_code == 2
    assert f"{path}: " in result.stderr
