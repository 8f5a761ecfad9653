"""The peer libraries that contentmodel is compared with, each called through its own conversion functions.

No peer converts bytes to bytes. If it works on dicts, msgspec parses its input and writes its output. If it works on
pydantic models, its models parse and write JSON, as in its clients. Each is called in the cheapest way found. Imports
are inside functions, so that a missing or failing peer becomes a line in the table.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

Convert = Callable[[bytes], bytes]
Pair = tuple[str, str]

ANTHROPIC = "anthropic-messages"
CHAT = "openai-chat"
RESPONSES = "openai-responses"
GOOGLE = "google-generate-content"

parse = msgspec.json.Decoder().decode


def _default(value: Any) -> Any:
    # llm-babel keeps numbers as text; other objects in a dict are pydantic models.
    token = getattr(value, "token", None)
    return msgspec.Raw(token) if isinstance(token, str) else value.model_dump(exclude_none=True)


write = msgspec.json.Encoder(enc_hook=_default).encode

# Prevent network access while measuring: litellm fetches prices, and several peers report usage.
OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "CRITICAL",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


@dataclass
class Peer:
    """A library and the conversions that it supports. If it cannot be used, `failure` has the reason."""

    name: str
    package: str
    modules: tuple[str, ...]
    through: str
    requests: Mapping[Pair, Convert] = field(default_factory=dict)
    responses: Mapping[Pair, Convert] = field(default_factory=dict)
    failure: str | None = None

    @property
    def version(self) -> str:
        return installed(self.package)


def installed(package: str) -> str:
    """Return the version of a package, or "not installed"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def load() -> list[Peer]:
    """Return every peer, loaded or with its `failure`."""
    os.environ.update(OFFLINE)
    peers = []
    for describe, functions in _PEERS:
        peer = describe()
        try:
            with quiet():
                peer.requests, peer.responses = functions()
        except Exception as error:
            peer.failure = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        peers.append(peer)
    return peers


@contextlib.contextmanager
def quiet() -> Any:
    """Suppress the output, logs and warnings of libraries."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def named(module: str, name: str) -> Any:
    """Import a module, and return its attribute `name`."""
    return getattr(importlib.import_module(module), name)


Functions = tuple[dict[Pair, Convert], dict[Pair, Convert]]

# -- any-llm -----------------------------------------------------------------------------------------------------


def _any_llm() -> Peer:
    return Peer(
        "any-llm",
        "any-llm-sdk",
        ("any_llm",),
        "the functions behind its `messages`, `completion` and `responses` calls; requests are dicts in a pydantic "
        "envelope, responses pydantic models",
    )


def _any_llm_functions() -> Functions:
    messages_params = named("any_llm.types.messages", "MessagesParams")
    completion_params = named("any_llm.types.completion", "CompletionParams")
    chat_completion = named("any_llm.types.completion", "ChatCompletion")
    to_chat = named("any_llm.utils.messages_compat", "messages_params_to_completion_params")
    to_message = named("any_llm.utils.messages_compat", "chat_completion_to_message_response")
    to_responses = named("any_llm.providers.openai.messages_responses", "messages_params_to_responses_params")
    from_responses = named("any_llm.providers.openai.messages_responses", "response_to_message_response")
    to_anthropic = named("any_llm.providers.anthropic.utils", "_convert_params")
    from_anthropic = named("any_llm.providers.anthropic.utils", "_convert_response")
    message = named("anthropic.types", "Message")
    response = named("openai.types.responses", "Response")

    def anthropic_to_chat(data: bytes) -> bytes:
        return write(to_chat(messages_params(**parse(data))))

    def anthropic_to_responses(data: bytes) -> bytes:
        params = to_responses(messages_params(**parse(data)))
        return bytes(params.model_dump_json(exclude_none=True).encode())

    def chat_to_anthropic(data: bytes) -> bytes:
        payload = parse(data)
        payload["model_id"] = payload.pop("model")
        payload["max_tokens"] = payload.pop("max_completion_tokens")
        return write(to_anthropic(completion_params(**payload), provider_name="anthropic"))

    def anthropic_answer_to_chat(data: bytes) -> bytes:
        return bytes(from_anthropic(message.model_validate_json(data)).model_dump_json().encode())

    def chat_answer_to_anthropic(data: bytes) -> bytes:
        return bytes(to_message(chat_completion.model_validate_json(data)).model_dump_json().encode())

    def responses_answer_to_anthropic(data: bytes) -> bytes:
        return bytes(from_responses(response.model_validate_json(data)).model_dump_json().encode())

    requests: dict[Pair, Convert] = {
        (ANTHROPIC, CHAT): anthropic_to_chat,
        (ANTHROPIC, RESPONSES): anthropic_to_responses,
        (CHAT, ANTHROPIC): chat_to_anthropic,
    }
    responses: dict[Pair, Convert] = {
        (ANTHROPIC, CHAT): anthropic_answer_to_chat,
        (CHAT, ANTHROPIC): chat_answer_to_anthropic,
        (RESPONSES, ANTHROPIC): responses_answer_to_anthropic,
    }
    return requests, responses


# -- litellm -----------------------------------------------------------------------------------------------------


def _litellm() -> Peer:
    return Peer(
        "litellm",
        "litellm",
        ("litellm",),
        "the transformations behind its `/v1/messages`, `/v1/responses` and `completion`; requests dict to dict, "
        "responses over its own pydantic models",
    )


def _litellm_functions() -> Functions:
    passing = "litellm.llms.anthropic.pass_through"
    adapter = named(f"{passing}.adapters.transformation", "LiteLLMAnthropicMessagesAdapter")()
    to_responses = named(f"{passing}.responses_adapters.transformation", "LiteLLMAnthropicToResponsesAPIAdapter")()
    config = named("litellm.llms.anthropic.chat.transformation", "AnthropicConfig")()
    bridge = named(
        "litellm.responses.litellm_completion_transformation.transformation",
        "LiteLLMCompletionResponsesConfig",
    )
    model_response = named("litellm", "ModelResponse")
    responses_response = named("litellm.types.llms.openai", "ResponsesAPIResponse")
    no_http = named("httpx", "Response")(200)

    def write_anthropic(payload: dict[str, Any]) -> bytes:
        model, messages = payload.pop("model"), payload.pop("messages")
        optional = config.map_openai_params(payload, {}, model, drop_params=True)
        return write(config.transform_request(model, messages, optional, {}, {}))

    def anthropic_to_chat(data: bytes) -> bytes:
        return write(adapter.translate_anthropic_to_openai(parse(data))[0])

    def anthropic_to_responses(data: bytes) -> bytes:
        return write(to_responses.translate_request(parse(data)))

    def chat_to_anthropic(data: bytes) -> bytes:
        payload = parse(data)
        payload["model"] = "claude-sonnet-4-5"
        return write_anthropic(payload)

    def responses_to_anthropic(data: bytes) -> bytes:
        payload = parse(data)
        items = payload.pop("input")
        chat = bridge.transform_responses_api_request_to_chat_completion_request(
            "claude-sonnet-4-5", items, payload, "anthropic"
        )
        return write_anthropic(chat)

    def anthropic_answer_to_chat(data: bytes) -> bytes:
        answer = config.transform_parsed_response(parse(data), no_http, model_response())
        return bytes(answer.model_dump_json().encode())

    def chat_answer_to_anthropic(data: bytes) -> bytes:
        return write(adapter.translate_openai_response_to_anthropic(model_response(**parse(data))))

    def responses_answer_to_anthropic(data: bytes) -> bytes:
        return write(to_responses.translate_response(responses_response(**parse(data))))

    def anthropic_answer_to_responses(data: bytes) -> bytes:
        answer = config.transform_parsed_response(parse(data), no_http, model_response())
        made = bridge.transform_chat_completion_response_to_responses_api_response("", {}, answer)
        return bytes(made.model_dump_json().encode())

    requests: dict[Pair, Convert] = {
        (ANTHROPIC, CHAT): anthropic_to_chat,
        (ANTHROPIC, RESPONSES): anthropic_to_responses,
        (CHAT, ANTHROPIC): chat_to_anthropic,
        (RESPONSES, ANTHROPIC): responses_to_anthropic,
    }
    responses: dict[Pair, Convert] = {
        (ANTHROPIC, CHAT): anthropic_answer_to_chat,
        (ANTHROPIC, RESPONSES): anthropic_answer_to_responses,
        (CHAT, ANTHROPIC): chat_answer_to_anthropic,
        (RESPONSES, ANTHROPIC): responses_answer_to_anthropic,
    }
    return requests, responses


# -- langchain ---------------------------------------------------------------------------------------------------


def _langchain() -> Peer:
    return Peer(
        "langchain",
        "langchain-core",
        ("langchain_core.messages", "langchain_anthropic", "langchain_openai"),
        "`convert_to_messages`, then the target's own formatting; messages and tools only, the settings around them "
        "are not converted",
    )


def _langchain_functions() -> Functions:
    to_messages = named("langchain_core.messages", "convert_to_messages")
    to_openai = named("langchain_core.messages", "convert_to_openai_messages")
    to_openai_tool = named("langchain_core.utils.function_calling", "convert_to_openai_tool")
    to_anthropic_tool = named("langchain_anthropic.chat_models", "convert_to_anthropic_tool")
    to_anthropic = named("langchain_anthropic.chat_models", "_format_messages")
    to_input = named("langchain_openai.chat_models.base", "_construct_responses_api_input")
    to_dict = named("langchain_openai.chat_models.base", "_convert_message_to_dict")
    from_responses = named("langchain_openai.chat_models.base", "_construct_lc_result_from_responses_api")
    anthropic = named("langchain_anthropic", "ChatAnthropic")(model="claude-sonnet-4-5", api_key="none")
    openai = named("langchain_openai", "ChatOpenAI")(model="gpt-4.1", api_key="none")
    message = named("anthropic.types", "Message")
    completion = named("openai.types.chat", "ChatCompletion")
    response = named("openai.types.responses", "Response")

    def from_anthropic(payload: dict[str, Any]) -> list[Any]:
        messages = to_messages(payload["messages"])
        return list(to_messages([{"role": "system", "content": payload["system"]}])) + list(messages)

    def anthropic_to_chat(data: bytes) -> bytes:
        payload = parse(data)
        tools = [to_openai_tool(tool) for tool in payload["tools"]]
        return write({"messages": to_openai(from_anthropic(payload)), "tools": tools})

    def anthropic_to_responses(data: bytes) -> bytes:
        payload = parse(data)
        tools = [to_openai_tool(tool) for tool in payload["tools"]]
        items = to_input(to_messages(to_openai(from_anthropic(payload))))
        return write({"input": items, "tools": tools})

    def chat_to_anthropic(data: bytes) -> bytes:
        payload = parse(data)
        tools = [to_anthropic_tool(tool) for tool in payload["tools"]]
        system, messages = to_anthropic(to_messages(payload["messages"]), model="claude-sonnet-4-5")
        return write({"system": system, "messages": messages, "tools": tools})

    def chat_to_responses(data: bytes) -> bytes:
        payload = parse(data)
        tools = [to_openai_tool(tool) for tool in payload["tools"]]
        return write({"input": to_input(to_messages(payload["messages"])), "tools": tools})

    def anthropic_answer_to_chat(data: bytes) -> bytes:
        answer = anthropic._format_output(message.model_validate_json(data)).generations[0].message
        return write({"choices": [{"message": to_dict(answer)}]})

    def chat_answer_to_anthropic(data: bytes) -> bytes:
        answer = openai._create_chat_result(completion.model_validate_json(data)).generations[0].message
        return write(to_anthropic([answer], model="claude-sonnet-4-5")[1][0])

    def responses_answer_to_anthropic(data: bytes) -> bytes:
        answer = from_responses(response.model_validate_json(data)).generations[0].message
        return write(to_anthropic([answer], model="claude-sonnet-4-5")[1][0])

    def anthropic_answer_to_responses(data: bytes) -> bytes:
        answer = anthropic._format_output(message.model_validate_json(data)).generations[0].message
        return write({"output": to_input([answer])})

    requests: dict[Pair, Convert] = {
        (ANTHROPIC, CHAT): anthropic_to_chat,
        (ANTHROPIC, RESPONSES): anthropic_to_responses,
        (CHAT, ANTHROPIC): chat_to_anthropic,
        (CHAT, RESPONSES): chat_to_responses,
    }
    responses: dict[Pair, Convert] = {
        (ANTHROPIC, CHAT): anthropic_answer_to_chat,
        (ANTHROPIC, RESPONSES): anthropic_answer_to_responses,
        (CHAT, ANTHROPIC): chat_answer_to_anthropic,
        (RESPONSES, ANTHROPIC): responses_answer_to_anthropic,
    }
    return requests, responses


# -- llm-babel ---------------------------------------------------------------------------------------------------


def _babel() -> Peer:
    return Peer(
        "llm-babel",
        "llm-babel",
        ("llm_transform.registry",),
        "`translate`, `translate_response`; dict to dict",
    )


def _babel_functions() -> Functions:
    translate = named("llm_transform.registry", "translate")
    answer = named("llm_transform.registry", "translate_response")
    names = {ANTHROPIC: ANTHROPIC, CHAT: CHAT, RESPONSES: RESPONSES, GOOGLE: "gemini"}

    def request(source: str, target: str) -> Convert:
        return lambda data: write(translate(source, target, parse(data)))

    def response(source: str, target: str) -> Convert:
        return lambda data: write(answer(source, target, parse(data)))

    pairs = [(a, b) for a in names for b in names]
    return (
        {(a, b): request(names[a], names[b]) for a, b in pairs},
        {(a, b): response(names[a], names[b]) for a, b in pairs},
    )


# -- llm-rosetta -------------------------------------------------------------------------------------------------


def _rosetta() -> Peer:
    return Peer(
        "llm-rosetta",
        "llm-rosetta",
        ("llm_rosetta",),
        "a `ConversionPipeline` for each request, as its `convert` makes one; for responses the two converters that "
        "the pipeline calls, without it; dict to dict",
    )


def _rosetta_functions() -> Functions:
    pipeline = named("llm_rosetta.pipeline", "ConversionPipeline")
    get_shim = named("llm_rosetta.shims", "get_shim")
    converter = named("llm_rosetta", "get_converter_for_provider")
    names = {ANTHROPIC: "anthropic", CHAT: "openai_chat", RESPONSES: "openai_responses", GOOGLE: "google"}

    def made(source: str, target: str) -> Any:
        return pipeline(
            source,
            target,
            source_shim=get_shim(source),
            target_shim=get_shim(target),
            force_conversion=True,
            google_output_format="rest",
        )

    def request(source: str, target: str) -> Convert:
        return lambda data: write(made(source, target).convert_request(parse(data)))

    def response(source: str, target: str) -> Convert:
        # The pipeline needs the request before the answer; its converters do not.
        reader = converter(source).response_from_provider
        writer = converter(target).response_to_provider
        return lambda data: write(writer(reader(parse(data))))

    pairs = [(a, b) for a in names for b in names]
    return (
        {(a, b): request(names[a], names[b]) for a, b in pairs},
        {(a, b): response(names[a], names[b]) for a, b in pairs},
    )


_PEERS: tuple[tuple[Callable[[], Peer], Callable[[], Functions]], ...] = (
    (_any_llm, _any_llm_functions),
    (_litellm, _litellm_functions),
    (_langchain, _langchain_functions),
    (_babel, _babel_functions),
    (_rosetta, _rosetta_functions),
)
