"""The APIs of providers, as data for tests: a request, an answer and a stream of each, and the official client.

A new API is one entry of `PROVIDERS`. Tests of one API at a time take `PROVIDERS`; tests of pairs take `conftest.APIS`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anthropic
import boto3
import cohere
import ollama
import openai
from botocore.config import Config
from google import genai
from mistralai.client import Mistral, utils

from contentmodel import adapter
from contentmodel.authoring import EVENT_STREAM

QUESTION = [{"role": "user", "content": "?"}]


class OfficialClient:
    """The official client of an API: it asks one question, and returns what the client returns."""

    def __init__(self, url: str) -> None:
        """Create the client. `url` is its base URL."""

    def plain(self) -> Any:
        """Return the answer."""
        raise NotImplementedError

    def streamed(self) -> tuple[Any, str]:
        """Return the final object of the client's stream helper, or its chunks, and the text that it streamed."""
        raise NotImplementedError

    def streamed_error(self) -> Any:
        """Raise the error of a stream. If the API has an event for it, return this event: the last one."""
        return self.streamed()[0]

    async def plain_later(self) -> Any:
        """Return the answer of the asynchronous client."""
        raise NotImplementedError

    async def streamed_later(self) -> Any:
        """Return the final object, or the chunks, of the asynchronous client."""
        raise NotImplementedError


class _Anthropic(OfficialClient):
    def __init__(self, url: str) -> None:
        self.client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        self.later = anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)
        self.asked: Any = {"model": "m", "max_tokens": 9, "messages": QUESTION}

    def plain(self) -> Any:
        return self.client.beta.messages.create(**self.asked)

    def streamed(self) -> tuple[Any, str]:
        with self.client.beta.messages.stream(**self.asked) as stream:
            text = "".join(stream.text_stream)
            return stream.get_final_message(), text

    async def plain_later(self) -> Any:
        return await self.later.beta.messages.create(**self.asked)

    async def streamed_later(self) -> Any:
        async with self.later.beta.messages.stream(**self.asked) as stream:
            return await stream.get_final_message()


class _OpenAI(OfficialClient):
    def __init__(self, url: str) -> None:
        self.client: Any = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
        self.later: Any = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)


class _Chat(_OpenAI):
    def plain(self) -> Any:
        return self.client.chat.completions.create(model="m", messages=QUESTION)

    def streamed(self) -> tuple[Any, str]:
        with self.client.chat.completions.stream(model="m", messages=QUESTION) as stream:
            text = "".join(event.delta for event in stream if event.type == "content.delta")
            return stream.get_final_completion(), text

    async def plain_later(self) -> Any:
        return await self.later.chat.completions.create(model="m", messages=QUESTION)

    async def streamed_later(self) -> Any:
        async with self.later.chat.completions.stream(model="m", messages=QUESTION) as stream:
            try:
                return await stream.get_final_completion()
            except openai.LengthFinishReasonError as error:
                return error.completion


class _Responses(_OpenAI):
    def plain(self) -> Any:
        return self.client.responses.create(model="m", input="?")

    def streamed(self) -> tuple[Any, str]:
        with self.client.responses.stream(model="m", input="?") as stream:
            events = list(stream)
            text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
            # The client has no final response for an incomplete answer. The last event has it.
            is_whole = events[-1].type == "response.completed"
            return (stream.get_final_response() if is_whole else events[-1].response), text

    def streamed_error(self) -> Any:
        return list(self.client.responses.create(model="m", input="?", stream=True))[-1]

    async def plain_later(self) -> Any:
        return await self.later.responses.create(model="m", input="?")

    async def streamed_later(self) -> Any:
        async with self.later.responses.stream(model="m", input="?") as stream:
            return [event async for event in stream][-1].response


class _Google(OfficialClient):
    def __init__(self, url: str) -> None:
        self.client = genai.Client(api_key="none", http_options={"base_url": url})
        self.later = self.client.aio

    def plain(self) -> Any:
        return self.client.models.generate_content(model="m", contents="?")

    def streamed(self) -> tuple[Any, str]:
        chunks = list(self.client.models.generate_content_stream(model="m", contents="?"))
        parts = [p for chunk in chunks for c in chunk.candidates or [] if c.content for p in c.content.parts or []]
        return chunks, "".join(part.text or "" for part in parts if not part.thought)

    async def plain_later(self) -> Any:
        return await self.later.models.generate_content(model="m", contents="?")

    async def streamed_later(self) -> Any:
        chunks = await self.later.models.generate_content_stream(model="m", contents="?")
        return [chunk async for chunk in chunks]


class _Interactions(_Google):
    def plain(self) -> Any:
        return self.client.interactions.create(model="m", input="?")

    def streamed(self) -> tuple[Any, str]:
        events = list(self.client.interactions.create(model="m", input="?", stream=True))
        deltas = [event.delta for event in events if event.event_type == "step.delta"]
        return events, "".join(delta.text for delta in deltas if delta.type == "text")

    async def plain_later(self) -> Any:
        return await self.later.interactions.create(model="m", input="?")

    async def streamed_later(self) -> Any:
        return [event async for event in await self.later.interactions.create(model="m", input="?", stream=True)]


class _Mistral(OfficialClient):
    def __init__(self, url: str) -> None:
        none = utils.RetryConfig("none", utils.BackoffStrategy(1, 1, 1, 1), False)
        self.client = Mistral(api_key="none", server_url=url, retry_config=none)
        self.asked: Any = {"model": "m", "messages": QUESTION}

    def plain(self) -> Any:
        return self.client.chat.complete(**self.asked)

    def streamed(self) -> tuple[Any, str]:
        with self.client.chat.stream(**self.asked) as stream:
            chunks = [event.data for event in stream]
        contents = [choice.delta.content for chunk in chunks for choice in chunk.choices]
        parts = [part for content in contents for part in ([content] if isinstance(content, str) else content or [])]
        return chunks, "".join(part if isinstance(part, str) else getattr(part, "text", "") for part in parts)

    async def plain_later(self) -> Any:
        return await self.client.chat.complete_async(**self.asked)

    async def streamed_later(self) -> Any:
        async with await self.client.chat.stream_async(**self.asked) as stream:
            return [event.data async for event in stream]


class _Ollama(OfficialClient):
    def __init__(self, url: str) -> None:
        self.client = ollama.Client(host=url)
        self.later = ollama.AsyncClient(host=url)
        self.asked: Any = {"model": "m", "messages": QUESTION}

    def plain(self) -> Any:
        return self.client.chat(**self.asked)

    def streamed(self) -> tuple[Any, str]:
        chunks = list(self.client.chat(**self.asked, stream=True))
        return chunks, "".join(chunk.message.content or "" for chunk in chunks)

    async def plain_later(self) -> Any:
        return await self.later.chat(**self.asked)

    async def streamed_later(self) -> Any:
        return [chunk async for chunk in await self.later.chat(**self.asked, stream=True)]


class _Cohere(OfficialClient):
    def __init__(self, url: str) -> None:
        self.client = cohere.ClientV2(api_key="none", base_url=url, max_retries=0)
        self.later = cohere.AsyncClientV2(api_key="none", base_url=url, max_retries=0)
        self.asked: Any = {"model": "m", "messages": QUESTION}

    def plain(self) -> Any:
        return self.client.chat(**self.asked)

    def streamed(self) -> tuple[Any, str]:
        events = list(self.client.chat_stream(**self.asked))
        deltas = [event.delta.message.content for event in events if event.type == "content-delta"]
        return events, "".join(content.text or "" for content in deltas)

    def streamed_error(self) -> Any:
        return self.streamed()[0][-1]

    async def plain_later(self) -> Any:
        return await self.later.chat(**self.asked)

    async def streamed_later(self) -> Any:
        return [event async for event in self.later.chat_stream(**self.asked)]


class _Bedrock(OfficialClient):
    def __init__(self, url: str) -> None:
        once = Config(retries={"total_max_attempts": 1})
        keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
        self.client: Any = boto3.client("bedrock-runtime", endpoint_url=url, config=once, **keys)
        self.asked: Any = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "?"}]}]}

    def plain(self) -> Any:
        return self.client.converse(**self.asked)

    def streamed(self) -> tuple[Any, str]:
        events = list(self.client.converse_stream(**self.asked)["stream"])
        deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
        return events, "".join(delta.get("text", "") for delta in deltas)

    async def plain_later(self) -> Any:
        # boto3 has no asynchronous client.
        return await asyncio.to_thread(self.plain)

    async def streamed_later(self) -> Any:
        return (await asyncio.to_thread(self.streamed))[0]


# -- answers and streams of one text -----------------------------------------------------------------------------------


def frames(*events: Any) -> list[bytes]:
    """Return server-sent events."""
    return [b"data: %b\n\n" % (e.encode() if isinstance(e, str) else json.dumps(e).encode()) for e in events]


def anthropic_answer(text: str) -> dict[str, Any]:
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def anthropic_stream(*texts: str) -> list[bytes]:
    message = {**anthropic_answer(""), "content": [], "stop_reason": None}
    delta = {"type": "content_block_delta", "index": 0}
    return frames(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({**delta, "delta": {"type": "text_delta", "text": part}} for part in texts),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )


def chat_answer(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def chat_stream(*texts: str) -> list[bytes]:
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def choice(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    deltas = [choice({"content": part}) for part in texts]
    return frames(choice({"role": "assistant", "content": ""}), *deltas, choice({}, "stop"), "[DONE]")


def responses_answer(text: str) -> dict[str, Any]:
    shell = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    return {**shell, "output": [response_item(text)]}


def response_item(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [part]}


def responses_stream(*texts: str) -> list[bytes]:
    at = {"item_id": "i1", "output_index": 0, "content_index": 0}
    shell = {"id": "r1", "object": "response", "created_at": 1, "model": "m"}
    item, whole = {**response_item(""), "content": [], "status": "in_progress"}, response_item("".join(texts))
    deltas = [{"type": "response.output_text.delta", **at, "delta": part} for part in texts]
    return frames(
        {"type": "response.created", "response": {**shell, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **at, "part": response_item("")["content"][0]},
        *deltas,
        {"type": "response.output_text.done", **at, "text": "".join(texts)},
        {"type": "response.content_part.done", **at, "part": whole["content"][0]},
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": {**shell, "status": "completed", "output": [whole]}},
    )


def google_answer(text: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]}


def google_stream(*texts: str) -> list[bytes]:
    parts = [{"candidates": [{"content": {"role": "model", "parts": [{"text": part}]}}]} for part in texts]
    return frames(*parts, {"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]})


def interactions_answer(text: str) -> dict[str, Any]:
    step = {"type": "model_output", "content": [{"type": "text", "text": text}]}
    return {"id": "v1_a", "object": "interaction", "model": "m", "status": "completed", "steps": [step]}


def interactions_stream(*texts: str) -> list[bytes]:
    known = {"id": "v1_a", "object": "interaction", "model": "m"}
    deltas = [{"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": part}} for part in texts]
    return frames(
        {"event_type": "interaction.created", "interaction": {**known, "status": "in_progress"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        *deltas,
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {**known, "status": "completed"}},
    )


def mistral_answer(text: str) -> dict[str, Any]:
    return {**chat_answer(text), "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


def ollama_answer(text: str) -> dict[str, Any]:
    return {**ollama_line(text), "done": True, "done_reason": "stop"}


def ollama_line(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"model": "m", "created_at": "2026-11-23T10:00:00Z", "message": message, "done": False}


def ollama_stream(*texts: str) -> list[bytes]:
    return [json.dumps(line).encode() + b"\n" for line in (*map(ollama_line, texts), ollama_answer(""))]


def cohere_answer(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"id": "c1", "message": message, "finish_reason": "COMPLETE"}


def cohere_stream(*texts: str) -> list[bytes]:
    empty = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}

    def delta(kind: str, content: dict[str, Any]) -> dict[str, Any]:
        return {"type": kind, "index": 0, "delta": {"message": {"content": content}}}

    return frames(
        {"id": "c1", "type": "message-start", "delta": {"message": empty}},
        delta("content-start", {"type": "text", "text": ""}),
        *(delta("content-delta", {"text": part}) for part in texts),
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
        "[DONE]",
    )


def bedrock_answer(text: str) -> dict[str, Any]:
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    output = {"message": {"role": "assistant", "content": [{"text": text}]}}
    return {"output": output, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}


def bedrock_stream(*texts: str) -> list[bytes]:
    answer = bedrock_answer("")
    deltas = [("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": part}}) for part in texts]
    events: list[tuple[str, dict[str, Any]]] = [
        ("messageStart", {"role": "assistant"}),
        *deltas,
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": answer["usage"], "metrics": answer["metrics"]}),
    ]
    return [EVENT_STREAM.write(json.dumps(event).encode(), name) for name, event in events]


# -- the table ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Provider:
    """One API.

    `model` is a model of the provider. `request` is a small request. `answer` returns the body of an answer of one
    text, and `stream` the bytes of each event of an answer in several texts. `error` is the body of an error with the
    message "No.", and `error_code` its code, if it has one. `official` is the official client.
    """

    model: str
    request: dict[str, Any]
    answer: Callable[[str], dict[str, Any]]
    stream: Callable[..., list[bytes]]
    error: dict[str, Any]
    official: type[OfficialClient]
    error_code: str | None = "no_way"


_OPENAI_ERROR = {"error": {"message": "No.", "type": "refusal", "param": None, "code": "no_way"}}
PROVIDERS = {
    "openai-chat": Provider(
        model="gpt-5.2",
        request={"model": "m", "messages": QUESTION},
        answer=chat_answer,
        stream=chat_stream,
        error=_OPENAI_ERROR,
        official=_Chat,
    ),
    "openai-responses": Provider(
        model="gpt-5.2",
        request={"model": "m", "input": "?"},
        answer=responses_answer,
        stream=responses_stream,
        error=_OPENAI_ERROR,
        official=_Responses,
    ),
    "anthropic-messages": Provider(
        model="claude-opus-4-8",
        request={"model": "m", "max_tokens": 9, "messages": QUESTION},
        answer=anthropic_answer,
        stream=anthropic_stream,
        error={"type": "error", "error": {"type": "no_way", "message": "No."}, "request_id": "req_1"},
        official=_Anthropic,
    ),
    "google-generate-content": Provider(
        model="gemini-3-pro-preview",
        request={"contents": [{"role": "user", "parts": [{"text": "?"}]}]},
        answer=google_answer,
        stream=google_stream,
        error={"error": {"code": 400, "message": "No.", "status": "no_way", "details": []}},
        official=_Google,
    ),
    "google-interactions": Provider(
        model="gemini-3-pro-preview",
        request={"model": "m", "input": "?"},
        answer=interactions_answer,
        stream=interactions_stream,
        error={"error": {"code": "no_way", "message": "No."}},
        official=_Interactions,
    ),
    "mistral-chat": Provider(
        model="mistral-medium-latest",
        request={"model": "m", "messages": QUESTION},
        answer=mistral_answer,
        stream=chat_stream,
        error={"object": "error", "message": "No.", "type": "no_way", "param": None, "code": None},
        official=_Mistral,
    ),
    "ollama-chat": Provider(
        model="qwen3",
        # Without `stream`, the server streams.
        request={"model": "m", "messages": QUESTION, "stream": False},
        answer=ollama_answer,
        stream=ollama_stream,
        error={"error": "No."},
        official=_Ollama,
        error_code=None,
    ),
    "cohere-chat": Provider(
        model="command-a-03-2025",
        request={"model": "m", "messages": QUESTION},
        answer=cohere_answer,
        stream=cohere_stream,
        error={"id": "e1", "message": "No."},
        error_code=None,
        official=_Cohere,
    ),
    "bedrock-converse": Provider(
        model="us.anthropic.claude-opus-4-8",
        # The path has the model.
        request={"messages": [{"role": "user", "content": [{"text": "?"}]}]},
        answer=bedrock_answer,
        stream=bedrock_stream,
        error={"message": "No.", "__type": "no_way"},
        official=_Bedrock,
    ),
}


def base_url(api: str, url: str) -> str:
    """Return the base URL of the official client of an API, for a server that answers several APIs."""
    http = adapter(api).http
    return f"{url}{http.mount}{urlsplit(http.base_url).path}"


def path_of(api: str, *, streams: bool = False, model: str = "m") -> str:
    """Return the path of an API's method at a server that answers several APIs, with its query."""
    method = adapter(api).http.method(streams=streams)
    query = "&".join(f"{name}={value}" for name, value in method.query.items())
    return base_url(api, "") + method.path.format(model=model) + (f"?{query}" if query else "")
