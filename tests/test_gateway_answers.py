"""Official clients read recorded answers of every API through the gateway, as `convert` returns them."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from conftest import APIS, share
from contentmodel import ChatResponse, adapter
from contentmodel_conformance.server import LoopbackServer
from gateways import config_for, gateway
from providers import PROVIDERS, QUESTION, base_url
from test_official_clients import comparable, decoded, report, served

OTHER_PAIRS = [(api, target) for api in APIS for target in APIS if api != target]


def expected(api: str, answer: ChatResponse) -> ChatResponse:
    """Return the answer as it is after its conversion to the client's API."""
    result: ChatResponse = adapter(api).decode_response(adapter(api).encode_response(answer).payload)
    return result


def joined(response: ChatResponse) -> list[Any]:
    """Return an answer in its comparable form, with adjacent texts as one: most streams do not separate them."""
    choices, tokens = comparable(response)
    read = []
    for contents, reason in choices:
        parts: list[Any] = []
        for content in contents:
            if parts and content["type"] == parts[-1]["type"] == "text":
                parts[-1] = {**parts[-1], "text": parts[-1]["text"] + content["text"]}
            else:
                parts.append(content)
        read.append([parts, reason])
    return [read, tokens]


def is_finished(answer: ChatResponse) -> bool:
    """Return whether an answer is finished. Answers of compaction are excluded: they repeat messages of the user."""
    roles = {message.role for choice in answer.choices for message in choice.messages}
    return roles <= {"assistant"} and answer.finish_reason is not None


def streamed(api: str, reader: Any) -> Any:
    """Return what the client reads of a stream: for Chat, the chunks, because the helper raises for some answers."""
    if api != "openai-chat":
        return reader.streamed()[0]
    usage = {"include_usage": True}
    return list(reader.client.chat.completions.create(model="m", messages=QUESTION, stream=True, stream_options=usage))


@pytest.mark.slow
@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_official_client_reads_every_recorded_answer(api: str, target: str, corpus: Any) -> None:
    finished = [(name, answer) for name, answer in served(target) if is_finished(answer)]
    wanted = share(finished, (APIS.index(api) - APIS.index(target)) % len(APIS) - 1)
    wrong = []
    with (
        LoopbackServer([answer for _, answer in wanted for _ in range(2)]) as server,
        gateway(config_for(target, server.base_url(target), reasoning="drop")) as (url, _),
    ):
        reader = PROVIDERS[api].official(base_url(api, url))
        for name, answer in wanted:
            want = expected(api, answer)
            whole = decoded(api, reader.plain())
            if comparable(whole) != comparable(want):
                wrong.append(f"{name}\n  read     {comparable(whole)!s:.600}\n  expected {comparable(want)!s:.600}")
            if api == "openai-chat" and answer.finish_reason and answer.finish_reason.reason == "error":
                # The stream ends with the failure, which this client raises. An answer in one piece has a reason.
                with pytest.raises(openai.APIError):
                    streamed(api, reader)
                continue
            read = joined(decoded(api, streamed(api, reader)))
            if read != joined(want):
                wrong.append(f"{name}, streamed\n  read     {read!s:.600}\n  expected {joined(want)!s:.600}")
    assert not wrong, report(wrong)
    assert len(finished) > 20
