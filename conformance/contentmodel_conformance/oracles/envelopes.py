"""The whole payload of each API and kind, as a record of wire names; `sdks` has them by API.

Owns what the SDKs' types do not define: `stream` is a key of the body, headers are not, and generateContent has no
request type. Each function imports the SDK when it is called.
"""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any, Literal, TypeAlias, get_type_hints

from pydantic.alias_generators import to_camel

from contentmodel_conformance.oracles.shapes import (
    NULL,
    Anything,
    Field,
    ListOf,
    Literals,
    MapOf,
    OneOf,
    Record,
    Scalar,
    fields_of,
    shape_of,
)

Kind: TypeAlias = Literal["request", "response"]

# Sent as headers (anthropic 2.11, resources/beta/messages/messages.py).
_ANTHROPIC_HEADERS = frozenset({"betas", "user_profile_id", "workspace_id"})
# Filled in by the client, never by the server (google-genai 3.4, types.GenerateContentResponse).
_GOOGLE_CLIENT_FIELDS = frozenset({"sdkHttpResponse", "automaticFunctionCallingHistory", "parsed"})
# google-genai 3.4 has one config class. These of its fields go to the top level or stay in the client, and all
# others are generationConfig (models.py, _GenerateContentConfig_to_mldev and _to_vertex).
_GOOGLE_NOT_GENERATION = frozenset(
    {
        "httpOptions",
        "shouldReturnHttpResponse",
        "automaticFunctionCalling",
        "automaticContinuation",
        "generationOutputConfig",
        "systemInstruction",
        "tools",
        "toolConfig",
        "safetySettings",
        "cachedContent",
        "labels",
        "modelArmorConfig",
        "serviceTier",
        "continuationToken",
        "store",
    }
)


def anthropic_request() -> Record:
    """Return the request of Messages, with the fields of the beta."""
    from anthropic.types.beta import message_create_params

    record = request_record(message_create_params.MessageCreateParamsNonStreaming)
    # Version 2023-06-01 of the API accepts them; types since anthropic 2.0 do not have them (_constants.py).
    sampling = {"temperature": Scalar("float"), "top_p": Scalar("float"), "top_k": Scalar("int")}
    older = {name: Field(shape, required=False) for name, shape in sampling.items()}
    return Record(record.name, lambda: {**record.fields, **older})


def anthropic_stable_request() -> Record:
    """Return the request without beta features. The beta types contain it, except for what the beta renamed."""
    from anthropic.types import message_create_params

    return request_record(message_create_params.MessageCreateParamsNonStreaming)


def anthropic_response() -> Record:
    """Return the answer of Messages."""
    from anthropic.types.beta import BetaMessage

    return _response_record(BetaMessage)


def chat_request() -> Record:
    """Return the request of Chat Completions."""
    from openai.types.chat import completion_create_params

    return request_record(completion_create_params.CompletionCreateParamsNonStreaming)


def chat_response() -> Record:
    """Return the answer of Chat Completions."""
    from openai.types.chat import ChatCompletion

    return _response_record(ChatCompletion)


def responses_request() -> Record:
    """Return the request of Responses."""
    from openai.types.responses import response_create_params

    return request_record(response_create_params.ResponseCreateParamsNonStreaming)


def responses_response() -> Record:
    """Return the answer of Responses."""
    from openai.types.responses import Response

    return _response_record(Response)


def mistral_request() -> Record:
    """Return the request of Mistral's chat completions."""
    from mistralai.client import models

    return request_record(models.ChatCompletionRequestTypedDict)


def mistral_response() -> Record:
    """Return the answer of Mistral's chat completions."""
    from mistralai.client import models

    record = _response_record(models.ChatCompletionResponseTypedDict)
    # The class of usage accepts further fields (models/usageinfo.py of mistralai 3.7). The API sends these two.
    usage = fields_of(models.UsageInfoTypedDict) | {
        "prompt_tokens_details": Field(MapOf(Scalar("int")), required=False),
        "num_cached_tokens": Field(Scalar("int"), required=False),
    }
    usage_field = Field(Record("UsageInfo", lambda: usage), required=True)
    return Record(record.name, lambda: {**record.fields, "usage": usage_field})


def google_request_types() -> dict[str, Any]:
    """Return the annotation of each top-level key of generateContent, except `generationConfig`."""
    from google.genai import types

    return {
        "contents": list[types.Content],
        "systemInstruction": types.Content,
        "tools": list[types.Tool],
        "toolConfig": types.ToolConfig,
        "safetySettings": list[types.SafetySetting],
        "cachedContent": str,
        "labels": dict[str, str],
        "modelArmorConfig": types.ModelArmorConfig,
        "serviceTier": types.ServiceTier,
        "continuationToken": bytes,
        "store": bool,
        "outputConfig": types.GenerationOutputConfig,
    }


def google_generation_types() -> dict[str, Any]:
    """Return the annotation of each key of `generationConfig`. If both classes have it, GenerationConfig wins."""
    from google.genai import types

    fields = types.GenerateContentConfig.model_fields | types.GenerationConfig.model_fields
    named = {to_camel(name): info.annotation for name, info in fields.items()}
    return {name: annotation for name, annotation in named.items() if name not in _GOOGLE_NOT_GENERATION}


def google_request() -> Record:
    """Return the request of generateContent."""
    generation = Record("GenerationConfig", lambda: _optional(google_generation_types()))
    fields = {**_optional(google_request_types()), "generationConfig": Field(generation, required=False)}
    fields["contents"] = Field(fields["contents"].shape, required=True)
    return Record("GenerateContentRequest", lambda: fields)


def google_response() -> Record:
    """Return the answer of generateContent."""
    from google.genai.types import GenerateContentResponse

    return _response_record(GenerateContentResponse, without=_GOOGLE_CLIENT_FIELDS)


def interactions_request(of: Literal["model", "agent"] = "model") -> Record:
    """Return the request of Interactions, to a model or to an agent. Any name of a model or an agent is valid."""
    from google.genai import interactions

    is_model = of == "model"
    record = request_record(
        interactions.CreateModelInteractionParam if is_model else interactions.CreateAgentInteractionParam
    )
    return Record(record.name, lambda: {**record.fields, of: Field(Scalar("str"), required=True)})


def interactions_response() -> Record:
    """Return the answer of Interactions. The SDK itself sets the text of the output; recorded answers have `object`.

    Its steps come before `input`, which repeats the request, so that the kit tries each type of a step in the answer.
    """
    from google.genai import interactions

    record = _response_record(interactions.Interaction, without=frozenset({"continuation_ids", "output_text"}))
    names = {name: Field(Scalar("str"), required=False) for name in ("model", "agent")}
    names["object"] = Field(Literals(("interaction",)), required=False)
    return Record(record.name, lambda: {"steps": record.fields["steps"], **record.fields, **names})


def ollama_request() -> Record:
    """Return the request of /api/chat."""
    from ollama._types import ChatRequest, Message, Options, Tool

    fields = {**fields_of(ChatRequest), "options": Field(Record("Options", lambda: fields_of(Options)), required=False)}
    fields["messages"] = Field(ListOf(_ollama_message(Message)), required=True)
    # The types of schemas have few keywords, and accept any.
    # A tool without a function, or a function without a name, is not one that a model can call.
    named = {"name": Field(Scalar("str"), required=True), "parameters": Field(MapOf(Anything()), required=False)}
    function = {**fields_of(Tool.Function), **named}
    tool = {**fields_of(Tool), "function": Field(Record("ToolFunction", lambda: function), required=True)}
    fields["tools"] = Field(ListOf(Record("Tool", lambda: tool)), required=False)
    return Record("ChatRequest", lambda: fields)


def ollama_response() -> Record:
    """Return the answer of /api/chat."""
    from ollama._types import ChatResponse, Message

    fields = {**fields_of(ChatResponse), "message": Field(_ollama_message(Message), required=True)}
    return Record("ChatResponse", lambda: fields)


def _ollama_message(message: Any) -> Record:
    """Return a message with its images as base64, and with the ids that the types of ollama 0.6.3 do not have yet."""
    text = Field(Scalar("str"), required=False)
    function = {**fields_of(message.ToolCall.Function), "index": Field(Scalar("int"), required=False)}
    call = {"function": Field(Record("Function", lambda: function), required=True), "id": text}
    changed = {
        "images": Field(ListOf(Scalar("bytes")), required=False),
        "tool_calls": Field(ListOf(Record("ToolCall", lambda: call)), required=False),
        "tool_call_id": text,
    }
    fields = {**fields_of(message), **changed}
    return Record("Message", lambda: fields)


def cohere_request() -> Record:
    """Return the request of Cohere's Chat API v2: the parameters of the method that sends it."""
    from cohere.v2.client import V2Client

    hints = get_type_hints(V2Client.chat)
    parameters = signature(V2Client.chat).parameters
    fields = {
        name: Field(shape_of(hint), required=parameters[name].default is Parameter.empty)
        for name, hint in hints.items()
        if name not in ("request_options", "return")
    }
    stream = Field(Scalar("bool"), required=False)
    return Record("V2ChatRequest", lambda: {**fields, "stream": stream})


def cohere_response() -> Record:
    """Return the answer of Cohere's Chat API v2."""
    from cohere.v2.types.v2chat_response import V2ChatResponse

    return _response_record(V2ChatResponse)


def request_record(params: type) -> Record:
    """Return the request body for the parameters of a `create` method: with `stream`, without headers."""

    def read() -> dict[str, Field]:
        body = {name: item for name, item in fields_of(params).items() if name not in _ANTHROPIC_HEADERS}
        return body | {"stream": Field(OneOf((Scalar("bool"), NULL)), required=False)}

    return Record(params.__name__, read)


def _response_record(model: type, without: frozenset[str] = frozenset()) -> Record:
    return Record(
        model.__name__,
        lambda: {name: item for name, item in fields_of(model).items() if name not in without},
    )


def _optional(annotations: dict[str, Any]) -> dict[str, Field]:
    return {name: Field(shape_of(annotation), required=False) for name, annotation in annotations.items()}
