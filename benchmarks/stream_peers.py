"""The peer libraries for streams: how each folds a stream, and converts it to another API.

Each is called in the cheapest way found, without a socket. The official SDKs, and libraries built on them, read the
bytes with the SDK's decoder. A library without a decoder gets split frames, and msgspec parses and writes its dicts.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from peers import ANTHROPIC, CHAT, GOOGLE, OFFLINE, RESPONSES, Pair, installed, named, parse, quiet, write
from streams import Sent

Gather = Callable[[Sent], Any]
Translate = Callable[[Sent], bytes]


@dataclass
class StreamPeer:
    """A library and its functions for streams. If it cannot be used, `failure` has the reason."""

    name: str
    packages: tuple[str, ...]
    through: str
    folds: Mapping[str, Gather] = field(default_factory=dict)
    streams: Mapping[Pair, Translate] = field(default_factory=dict)
    failure: str | None = None

    @property
    def version(self) -> str:
        return ", ".join(f"{package} {installed(package)}" for package in self.packages)


Functions = tuple[dict[str, Gather], dict[Pair, Translate]]


def load() -> list[StreamPeer]:
    """Return every peer, loaded or with its `failure`."""
    os.environ.update(OFFLINE)
    peers = []
    for name, packages, through, functions in _PEERS:
        peer = StreamPeer(name, packages, through)
        try:
            with quiet():
                peer.folds, peer.streams = functions()
        except Exception as error:
            peer.failure = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        peers.append(peer)
    return peers


def _sse(events: Iterable[bytes], names: Iterable[str] | None = None) -> bytes:
    """Return JSON values as server-sent events."""
    if names is None:
        return b"".join(b"data: %b\n\n" % data for data in events)
    pairs = zip(names, events, strict=True)
    return b"".join(b"event: %b\ndata: %b\n\n" % (name.encode(), data) for name, data in pairs)


# -- the official SDKs -------------------------------------------------------------------------------------------


def _anthropic_events() -> Callable[[Sent], Any]:
    client = named("anthropic", "Anthropic")(api_key="none")
    stream, response = named("anthropic", "Stream"), named("httpx", "Response")
    kind = named("anthropic.types", "RawMessageStreamEvent")
    return lambda sent: stream(cast_to=kind, response=response(200, content=sent.raw), client=client)


def _openai_events(module: str, name: str) -> Callable[[Sent], Any]:
    client = named("openai", "OpenAI")(api_key="none")
    stream, response = named("openai", "Stream"), named("httpx", "Response")
    kind = named(module, name)
    return lambda sent: stream(cast_to=kind, response=response(200, content=sent.raw), client=client)


def _sdk_functions() -> Functions:
    accumulate = named("anthropic.lib.streaming._messages", "accumulate_event")
    chat_state = named("openai.lib.streaming.chat", "ChatCompletionStreamState")
    responses_state = named("openai.lib.streaming.responses._responses", "ResponseStreamState")
    omit = named("openai", "omit")
    messages = _anthropic_events()
    chunks = _openai_events("openai.types.chat", "ChatCompletionChunk")
    events = _openai_events("openai.types.responses", "ResponseStreamEvent")

    def anthropic(sent: Sent) -> Any:
        message = None
        for event in messages(sent):
            message = accumulate(event=event, current_snapshot=message)
        return message

    def chat(sent: Sent) -> Any:
        state = chat_state()
        for chunk in chunks(sent):
            state.handle_chunk(chunk)
        return state.current_completion_snapshot

    def responses(sent: Sent) -> Any:
        state = responses_state(input_tools=omit, text_format=omit)
        for event in events(sent):
            state.handle_event(event)
        return state._completed_response

    return {ANTHROPIC: anthropic, CHAT: chat, RESPONSES: responses}, {}


# -- any-llm -----------------------------------------------------------------------------------------------------


def _any_llm_functions() -> Functions:
    compat = "any_llm.utils.messages_compat"
    chunk = named("any_llm.types.completion", "ChatCompletionChunk")
    accumulate = named("any_llm.utils.streaming", "accumulate_chunks")
    from_anthropic = named("any_llm.providers.anthropic.utils", "_create_openai_chunk_from_anthropic_chunk")
    to_messages = named(compat, "chat_completion_chunk_to_message_stream_events")
    close, state_of = named(compat, "close_open_blocks"), named(compat, "StreamingState")
    from_responses = named("any_llm.providers.openai.messages_responses", "convert_responses_stream")
    message_stream, omit = named("anthropic", "MessageStream"), named("anthropic", "not_given")
    messages = _anthropic_events()
    events = _openai_events("openai.types.responses", "ResponseStreamEvent")

    def chunks(sent: Sent) -> Iterator[Any]:
        return (chunk.model_validate_json(data) for data in sent.data)

    def chunks_of_anthropic(sent: Sent) -> Iterator[Any]:
        # It reads the SDK's helper, which gathers the message too: the last event has its usage.
        for event in message_stream(messages(sent), output_format=omit):
            yield from_anthropic(event, "claude")

    def anthropic_to_chat(sent: Sent) -> bytes:
        return _sse(made.model_dump_json(exclude_none=True).encode() for made in chunks_of_anthropic(sent))

    def written(made: Iterable[Any]) -> bytes:
        kept = list(made)
        return _sse((event.model_dump_json().encode() for event in kept), (event.type for event in kept))

    def chat_to_anthropic(sent: Sent) -> bytes:
        state = state_of()
        # The loop of its `messages` adds two events that end the message.
        made = [event for event_chunk in chunks(sent) for event in to_messages(event_chunk, state)]
        return written([*made, *close(state)])

    def responses_to_anthropic(sent: Sent) -> bytes:
        async def gathered() -> list[Any]:
            return [event async for event in from_responses(_asynchronous(events(sent)))]

        return written(asyncio.run(gathered()))

    return (
        {CHAT: lambda sent: accumulate(chunks(sent)), ANTHROPIC: lambda sent: accumulate(chunks_of_anthropic(sent))},
        {
            (ANTHROPIC, CHAT): anthropic_to_chat,
            (CHAT, ANTHROPIC): chat_to_anthropic,
            (RESPONSES, ANTHROPIC): responses_to_anthropic,
        },
    )


async def _asynchronous(events: Iterable[Any]) -> AsyncIterator[Any]:
    for event in events:
        yield event


# -- litellm -----------------------------------------------------------------------------------------------------


def _litellm_functions() -> Functions:
    build = named("litellm", "stream_chunk_builder")
    chunk = named("litellm.types.utils", "ModelResponseStream")
    passing = "litellm.llms.anthropic.pass_through"
    from_anthropic = named("litellm.llms.anthropic.chat.handler", "ModelResponseIterator")
    to_anthropic = named(f"{passing}.adapters.streaming_iterator", "AnthropicStreamWrapper")
    responses_to_anthropic = named(
        f"{passing}.responses_adapters.streaming_iterator", "AnthropicResponsesStreamWrapper"
    )
    bridge = "litellm.completion_extras.litellm_responses_transformation.transformation"
    from_responses = named(bridge, "OpenAiResponsesToChatCompletionStreamIterator")
    gemini = "litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini"
    from_google = named(gemini, "ModelResponseIterator")
    logging = SimpleNamespace(optional_params={})

    def chat(sent: Sent) -> Iterator[Any]:
        return (chunk(**parse(data)) for data in sent.data)

    def parsed(make: Callable[[], Any]) -> Callable[[Sent], Iterator[Any]]:
        def chunks(sent: Sent) -> Iterator[Any]:
            read = make().chunk_parser
            chunks_read = (read(parse(data)) for data in sent.data)
            return (made for made in chunks_read if made is not None)

        return chunks

    readers = {
        CHAT: chat,
        ANTHROPIC: parsed(lambda: from_anthropic(iter(()), sync_stream=True)),
        RESPONSES: parsed(lambda: from_responses(iter(()), sync_stream=True)),
        GOOGLE: parsed(lambda: from_google(iter(()), sync_stream=True, logging_obj=logging)),
    }

    def fold(api: str) -> Gather:
        return lambda sent: build(list(readers[api](sent)))

    def to_chat(api: str) -> Translate:
        return lambda sent: _sse(made.model_dump_json(exclude_none=True).encode() for made in readers[api](sent))

    def to_messages(api: str) -> Translate:
        return lambda sent: b"".join(to_anthropic(readers[api](sent), "model").anthropic_sse_wrapper())

    def responses_to_messages(sent: Sent) -> bytes:
        async def gathered() -> bytes:
            events = _asynchronous(parse(data) for data in sent.data)
            wrapper = responses_to_anthropic(events, "model")
            return b"".join([frame async for frame in wrapper.async_anthropic_sse_wrapper()])

        return asyncio.run(gathered())

    return (
        {api: fold(api) for api in readers},
        {
            (ANTHROPIC, CHAT): to_chat(ANTHROPIC),
            (RESPONSES, CHAT): to_chat(RESPONSES),
            (GOOGLE, CHAT): to_chat(GOOGLE),
            (CHAT, ANTHROPIC): to_messages(CHAT),
            (RESPONSES, ANTHROPIC): responses_to_messages,
        },
    )


# -- langchain ---------------------------------------------------------------------------------------------------


def _langchain_functions() -> Functions:
    gather = named("langchain_core.language_models.chat_models", "generate_from_stream")
    generation = named("langchain_core.outputs", "ChatGenerationChunk")
    message = named("langchain_core.messages", "AIMessageChunk")
    base = "langchain_openai.chat_models.base"
    of_responses = named(base, "_convert_responses_chunk_to_generation_chunk")
    openai = named("langchain_openai", "ChatOpenAI")(model="gpt-4.1", api_key="none")
    claude = named("langchain_anthropic", "ChatAnthropic")(model="claude-sonnet-4-5", api_key="none")
    messages = _anthropic_events()
    chunks = _openai_events("openai.types.chat", "ChatCompletionChunk")
    events = _openai_events("openai.types.responses", "ResponseStreamEvent")

    def of_anthropic(sent: Sent) -> Iterator[Any]:
        started = None
        for event in messages(sent):
            made, started = claude._make_message_chunk_from_anthropic_event(
                event, stream_usage=True, coerce_content_to_string=False, block_start_event=started
            )
            if made is not None:
                yield generation(message=made)

    def of_chat(sent: Sent) -> Iterator[Any]:
        for chunk in chunks(sent):
            made = openai._convert_chunk_to_generation_chunk(chunk.model_dump(), message, {})
            if made is not None:
                yield made

    def of_items(sent: Sent) -> Iterator[Any]:
        place = (-1, -1, -1)
        reasons = False
        known: dict[str, int] = {}
        for event in events(sent):
            *after, made = of_responses(event, *place, has_reasoning=reasons, item_output_indices=known)
            place = (after[0], after[1], after[2])
            if made is not None:
                reasons = reasons or "reasoning" in made.message.additional_kwargs
                yield made

    return {
        ANTHROPIC: lambda sent: gather(of_anthropic(sent)),
        CHAT: lambda sent: gather(of_chat(sent)),
        RESPONSES: lambda sent: gather(of_items(sent)),
    }, {}


# -- llm-babel, llm-rosetta --------------------------------------------------------------------------------------


def _babel_functions() -> Functions:
    translate = named("llm_transform.registry", "translate_stream")
    names = {ANTHROPIC: ANTHROPIC, CHAT: CHAT, RESPONSES: RESPONSES, GOOGLE: "gemini"}

    def stream(source: str, target: str) -> Translate:
        def translated(sent: Sent) -> bytes:
            made = translate(names[source], names[target], [parse(data) for data in sent.data])
            kinds = [event["type"] for event in made] if target == ANTHROPIC else None
            return _sse((write(event) for event in made), kinds)

        return translated

    # It only writes streams of these two, and folds none: its `fold_stream` gives a list of events.
    return {}, {(a, b): stream(a, b) for a in names for b in (CHAT, ANTHROPIC) if a != b}


def _rosetta_functions() -> Functions:
    processor = named("llm_rosetta.pipeline", "StreamProcessor")
    converter = named("llm_rosetta", "get_converter_for_provider")
    names = {ANTHROPIC: "anthropic", CHAT: "openai_chat", RESPONSES: "openai_responses", GOOGLE: "google"}

    def stream(source: str, target: str) -> Translate:
        def translated(sent: Sent) -> bytes:
            reader, writer = converter(names[source]), converter(names[target])
            work = processor(
                target_converter=reader,
                source_converter=writer,
                from_ctx=reader.create_stream_context(),
                to_ctx=writer.create_stream_context(),
            ).process_chunk
            made = [event for data in sent.data for event in work(parse(data))]
            kinds = [event["type"] for event in made] if target in (ANTHROPIC, RESPONSES) else None
            return _sse((write(event) for event in made), kinds)

        return translated

    return {}, {(a, b): stream(a, b) for a in names for b in names if a != b}


_PEERS: tuple[tuple[str, tuple[str, ...], str, Callable[[], Functions]], ...] = (
    (
        "official SDK",
        ("anthropic", "openai"),
        "the SDK's `Stream` over the bytes, then `accumulate_event`, `ChatCompletionStreamState` or "
        "`ResponseStreamState`",
        _sdk_functions,
    ),
    (
        "any-llm",
        ("any-llm-sdk",),
        "`accumulate_chunks` over its own chunks; the functions behind its `messages` and `completion` streams",
        _any_llm_functions,
    ),
    (
        "litellm",
        ("litellm",),
        "each provider's `chunk_parser`, then `stream_chunk_builder`, its stream wrappers of `/v1/messages`, or JSON "
        "of the chunks; without the wrapper that its `completion` puts around them",
        _litellm_functions,
    ),
    (
        "langchain",
        ("langchain-core",),
        "the chat models' own functions for one event, over the SDK's `Stream`, then `generate_from_stream`",
        _langchain_functions,
    ),
    ("llm-babel", ("llm-babel",), "`translate_stream`; dicts to dicts", _babel_functions),
    (
        "llm-rosetta",
        ("llm-rosetta",),
        "the `StreamProcessor` of its pipeline, without the request; dicts to dicts",
        _rosetta_functions,
    ),
)
