"""Official clients read the same values from recorded answers and from the output of our encoders."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import openai
import pytest

import contentmodel
from conftest import records
from contentmodel import ChatResponse, FunctionCallContent, ToolCallContent, UnknownContent, fold_stream
from contentmodel.errors import ToolArgumentsError
from contentmodel.hints import COLUMN
from contentmodel_conformance.server import LoopbackServer
from contentmodel_conformance.streams import frames_of
from providers import PROVIDERS


def answers(api: str) -> Iterator[tuple[str, ChatResponse]]:
    """Return recorded answers of the API, with streams folded, and without failed ones."""
    adapter = contentmodel.adapter(api)
    for record in records(api, "response"):
        yield record["id"], adapter.decode_response(record["body"])
    for record in records(api, "stream"):
        yield record["id"], fold_stream(frames_of(record["body"]), api)


def served(api: str) -> list[tuple[str, ChatResponse]]:
    return [
        (n, answer) for n, answer in answers(api) if answer.error is None and answer.choices and is_readable(answer)
    ]


def text_of(answer: ChatResponse) -> str:
    return "".join(message.text for choice in answer.choices for message in choice.messages)


def is_readable(answer: ChatResponse) -> bool:
    """Return whether the SDK can read the answer.

    google-genai 3.4 raises if enums are requested as integers. boto3 refuses blocks with a type, which mocks have.
    """
    contents = [content for choice in answer.choices for message in choice.messages for content in message.contents]
    has_type = any("type" in (content.extra or {}).get("bedrock-converse", {}) for content in contents)
    return not has_type and (answer.finish_reason is None or not isinstance(answer.finish_reason.raw, int))


def comparable(response: ChatResponse) -> list[Any]:
    """Return an answer without the details of one API's encoding."""
    choices: list[Any] = []
    for choice in response.choices:
        contents = [_content(content) for message in choice.messages for content in message.contents]
        # Snowflake sends "" for an unset finish reason, and openai's accumulator treats it as unset.
        reason = choice.finish_reason.reason if choice.finish_reason and choice.finish_reason.raw != "" else None
        choices.append([[content for content in contents if content], reason])
    return [
        choices,
        None if response.usage is None or _is_usage_of_host(response) else response.usage.all_output_tokens,
    ]


def _is_usage_of_host(response: ChatResponse) -> bool:
    """Return whether the usage is in a field that the official client has no class for: `x_groq` in Groq's streams."""
    own = (response.extra or {}).get("openai-chat", {})
    return "usage" in (own.get("x_groq") or {})


def _content(content: Any) -> Any:
    if COLUMN.of(content, "openai-chat") == "reasoning_details":
        # openai's accumulator merges entries of the same index, even with different types.
        return None
    if is_redacted_by_bedrock(content):
        # boto3 1.43 reads it as an unknown member, without its data.
        return None
    if isinstance(content, ToolCallContent) and isinstance(content.arguments, str):
        # The clients parse arguments. Text that is not an object stays unchanged.
        with suppress(ToolArgumentsError):
            content = msgspec.structs.replace(content, arguments=content.arguments_object)
    if isinstance(content, FunctionCallContent) and content.arguments is None:
        # Arguments are required: a call without arguments is written with an empty object.
        content = msgspec.structs.replace(content, arguments={})
    plain = _plain(msgspec.to_builtins(content))
    return plain if plain != {"type": "text", "text": ""} else None


def is_redacted_by_bedrock(content: Any) -> bool:
    if isinstance(content, UnknownContent):
        return isinstance(content.block, dict) and "SDK_UNKNOWN_MEMBER" in content.block
    state = getattr(content, "protected", None)
    return state is not None and (state.issuer, state.kind) == ("bedrock", "redacted")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in ("extra", "status", "executor", "annotations")}
    if isinstance(value, str):
        # google-genai writes bytes in the URL-safe alphabet of base64.
        return value.replace("+", "-").replace("/", "_").rstrip("=")
    return [_plain(item) for item in value] if isinstance(value, list) else value


def decoded(api: str, read: Any) -> ChatResponse:
    """Decode a client's object, or its chunks, to our model."""
    adapter = contentmodel.adapter(api)
    if not isinstance(read, list):
        return adapter.decode_response(read)
    decoder = adapter.stream_decoder()
    events = [event for chunk in read for event in decoder.feed_event(chunk)]
    return contentmodel.fold([*events, *decoder.close()])


def differences(api: str, pairs: Iterator[tuple[str, ChatResponse, Any]]) -> list[str]:
    """Return a description of each answer that the client read differently."""
    wrong = []
    for name, answer, read in pairs:
        actual, expected = comparable(decoded(api, read)), comparable(answer)
        if actual != expected:
            wrong.append(f"{name}\n  read     {str(actual)[:400]}\n  recorded {str(expected)[:400]}")
    return wrong


def report(wrong: list[str]) -> str:
    return f"{len(wrong)} answers are read differently:\n" + "\n".join(wrong[:4])


@pytest.mark.slow
@pytest.mark.parametrize("api", PROVIDERS)
def test_official_client_reads_every_recorded_answer(api: str, corpus: Any) -> None:
    answers = served(api)
    with LoopbackServer([answer for _, answer in answers]) as server:
        reader = PROVIDERS[api].official(server.base_url(api))
        wrong = differences(api, ((name, answer, reader.plain()) for name, answer in answers))
    assert not wrong, report(wrong)
    assert answers


@pytest.mark.slow
@pytest.mark.parametrize("api", PROVIDERS)
def test_official_client_reads_every_recorded_answer_as_a_stream(api: str, corpus: Any) -> None:
    answers = served(api)
    wrong, texts = [], []
    with LoopbackServer([answer for _, answer in answers]) as server:
        reader = PROVIDERS[api].official(server.base_url(api))
        for name, answer in answers:
            try:
                read, text = reader.streamed()
            except openai.LengthFinishReasonError as error:
                # The client's helper raises for an answer that was cut. The error has the answer.
                read, text = error.completion, text_of(answer)
            wrong += differences(api, iter([(name, answer, read)]))
            if text != text_of(answer):
                texts.append(f"{name}: {text[:200]!r} for {text_of(answer)[:200]!r}")
    assert not wrong, report(wrong)
    assert not texts, report(texts)


@pytest.mark.nightly
@pytest.mark.parametrize("api", PROVIDERS)
def test_official_async_client_reads_every_recorded_answer_plain_and_streamed(api: str, corpus: Any) -> None:
    answers = served(api)

    async def read(server: LoopbackServer) -> list[tuple[str, ChatResponse, Any]]:
        reader = PROVIDERS[api].official(server.base_url(api))
        results = []
        for name, answer in answers:
            results.append((name, answer, await reader.plain_later()))
            results.append((name, answer, await reader.streamed_later()))
        return results

    with LoopbackServer([answer for _, answer in answers for _ in range(2)]) as server:
        wrong = differences(api, iter(asyncio.run(read(server))))
    assert not wrong, report(wrong)
