"""A function call that the token limit cuts off does not look complete to users of the official clients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from contentmodel import ChatChoice, ChatMessage, ChatResponse, FinishReason, FunctionCallContent, Origin, convert
from contentmodel import adapter as adapter_of
from contentmodel.unfolding import unfold
from contentmodel_conformance import streams
from contentmodel_conformance.server.serving import serving
from providers import PROVIDERS, base_url

TEXTS = ['{"command":"rm -rf build', '{"command":"ls"']
"""Arguments that were cut off. A client that closes their brackets runs another command."""


def cut_off(api: str, text: str) -> ChatResponse:
    """Return an answer of an API whose call was cut off."""
    origin = Origin(api=api, issuer=adapter_of(api).issuer)
    call = FunctionCallContent(call_id="call_1", name="run", arguments=text)
    message = ChatMessage(role="assistant", contents=[call], origin=origin)
    choice = ChatChoice(messages=[message], finish_reason=FinishReason(reason="length"))
    return ChatResponse(id="r1", model="m", created=1_780_000_000, choices=[choice], origin=origin)


def whole(source: str, target: str, text: str) -> bytes:
    """Return a cut-off answer of the source as the target's body."""
    body = adapter_of(source).encode_response(cut_off(source, text)).payload
    return convert(body, source=source, target=target, kind="response").to_json()


def streamed(source: str, target: str, text: str) -> bytes:
    """Return a cut-off answer of the source as the target's stream. Its pieces are converted one by one."""
    raw, _ = streams.encode(adapter_of(source), list(unfold(cut_off(source, text), size=5)))
    return bytes(convert(raw, source=source, target=target, kind="stream").payload)


@contextmanager
def answering(bodies: Iterable[bytes], media_type: str) -> Iterator[str]:
    """Run a server that answers each request with the next body, and yield its URL."""
    rest = iter(bodies)

    def answer(request: Request) -> Response:
        return Response(next(rest), media_type=media_type)

    with serving(Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])) as url:
        yield url


def read_anthropic(client: Any, *, stream: bool) -> tuple[Any, Any]:
    """Return the arguments and the finish reason, as the client gives them: an object, or the text of its events."""
    if not stream:
        message = client.plain()
        return message.content[0].input, message.stop_reason
    with client.client.beta.messages.stream(**client.asked) as events:
        text = "".join(event.partial_json for event in events if event.type == "input_json")
        return text, events.get_final_message().stop_reason


def read_chat(client: Any, *, stream: bool) -> tuple[Any, Any]:
    if stream:
        # The client's helper raises for an answer that was cut off. The error has the answer.
        with pytest.raises(openai.LengthFinishReasonError) as caught:
            client.streamed()
        choice = caught.value.completion.choices[0]
    else:
        choice = client.plain().choices[0]
    return choice.message.tool_calls[0].function.arguments, choice.finish_reason


def read_responses(client: Any, *, stream: bool) -> tuple[Any, Any]:
    response = client.streamed()[0] if stream else client.plain()
    item = response.output[0]
    # An item of OpenAI without a status gets none.
    assert (response.status, item.status) in (("incomplete", "incomplete"), ("incomplete", None))
    return item.arguments, response.incomplete_details.reason


def read_google(client: Any, *, stream: bool) -> tuple[Any, Any]:
    chunks = client.streamed()[0] if stream else [client.plain()]
    calls = [call for chunk in chunks for call in chunk.function_calls or []]
    assert len(calls) == 1
    return calls[0].args, chunks[-1].candidates[0].finish_reason.name


READERS: dict[str, tuple[Any, str]] = {
    "anthropic-messages": (read_anthropic, "max_tokens"),
    "openai-chat": (read_chat, "length"),
    "openai-responses": (read_responses, "max_output_tokens"),
    "google-generate-content": (read_google, "MAX_TOKENS"),
}


CUT_OFF = [(source, text) for source in PROVIDERS for text in TEXTS]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("target", READERS)
def test_cut_off_call_does_not_look_complete_to_the_official_client(target: str, stream: bool) -> None:
    read, length = READERS[target]
    write, media_type = (streamed, "text/event-stream") if stream else (whole, "application/json")
    with answering((write(source, target, text) for source, text in CUT_OFF), media_type) as url:
        client = PROVIDERS[target].official(base_url(target, url))
        for source, text in CUT_OFF:
            arguments, finish = read(client, stream=stream)
            assert arguments in (text, {"INVALID_JSON": text}), source
            assert finish == length, source
