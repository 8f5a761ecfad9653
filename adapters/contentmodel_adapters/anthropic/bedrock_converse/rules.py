"""Requests that Converse refuses, ignores or answers badly, and the capabilities of models on Bedrock.

The models are Claude (anthropic/models.py), Nova, gpt-oss, and those of other vendors. Limits of ids, names, formats
and numbers are those of the service model (botocore 1.43.117), which the SDKs check, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from msgspec.structs import replace

from contentmodel.authoring import (
    Broken,
    Capabilities,
    CapabilityTable,
    Find,
    FindByModel,
    IdentifierRule,
    ListedModel,
    Range,
    Rules,
    Severity,
    kind_of,
    listing,
    makers,
    objects,
    objects_of,
    one_object,
)
from contentmodel_adapters.anthropic import models
from contentmodel_adapters.anthropic.bedrock_converse.table import API, CLAUDE, FORMATS, maker_of
from contentmodel_adapters.anthropic.models import excludes_top_p, refuses_forced_tool
from contentmodel_adapters.anthropic.shared import ends_in_space
from contentmodel_adapters.common.rules import bad_base64, out_of_range, table, unsampled

_SEEN = "2026-11-23"
GUIDE = "docs.aws.amazon.com/bedrock/latest/userguide"
_SAMPLED: dict[str, Range] = {name: models.SAMPLED[name] for name in ("temperature", "top_p")}
_PLAIN = Capabilities(
    efforts=(),
    thinking=(),
    sampling=_SAMPLED,
    structured_output=False,
    strict_tools=False,
    parallel_tool_calls=False,
    later_system=False,
    cache_points=False,
)
_EFFORTS = ("low", "medium", "high")
_TO_XHIGH = (*_EFFORTS, "xhigh")
_SWITCHED = ("disabled", "adaptive")
_SCHEMED = replace(_PLAIN, structured_output=True, strict_tools=True)
_NOVA = replace(_PLAIN, sampling=models.SAMPLED, cache_points=True)
# These models accept no sampling settings.
_GPT = replace(_PLAIN, efforts=_TO_XHIGH, thinking=_SWITCHED, sampling={})
_REGION = r"(?:[a-z]{2,8}(?:-[a-z]+)?\.)?"


_NEVER_PARALLEL = ("Mythos Preview", "Opus 4.1", "Sonnet 4, Opus 4", "Sonnet 3.7", "Claude 3.5 and older")


def _of_claude(row: ListedModel) -> ListedModel:
    """Return the row of a Claude model for Converse, which has no hosted tools.

    Claude takes its own field for parallel calls from 4.5 on (`supports_parallel_tool_use_config` in
    model_prices_and_context_window.json of BerriAI/litellm, seen 2026-11-27).
    """
    limits = {"hosted_types": {}, "parallel_tool_calls": row.shown not in _NEVER_PARALLEL, "later_system": False}
    return replace(row, capabilities=replace(row.capabilities, **limits))


_row = listing(_SEEN, at=f"{GUIDE}/", before=_REGION)


def _seen_by_others(shown: str, names: str, capabilities: Capabilities) -> ListedModel:
    """Return the row of models whose fields AWS does not document, but clients have tried."""
    at = "pydantic-ai-slim 2.68.0, "
    return listing("2026-11-27", at=at, before=_REGION)(shown, names, capabilities, "providers/bedrock.py")


CAPABILITIES = CapabilityTable(
    API,
    [
        *map(_of_claude, models.ROWS),
        _row(
            "Nova 2",
            r"amazon\.nova-2-.*",
            replace(_NOVA, efforts=_EFFORTS, thinking=("disabled", "adaptive")),
            "conversation-inference-supported-models-features.html",
        ),
        _row("Nova", r"amazon\.nova-.*", _NOVA, "prompt-caching.html"),
        _row(
            "gpt-oss",
            "gpt-oss.*",
            replace(_PLAIN, efforts=_EFFORTS, thinking=("adaptive",), structured_output=True),
            "model-parameters-openai.html",
        ),
        _seen_by_others("GPT-6 Astra, GPT-6.1", r"gpt-6(?:-astra|\.1).*", replace(_GPT, thinking=("adaptive",))),
        _seen_by_others("GPT-5.6, GPT-6", r"gpt-(?:5\.6|6).*", _GPT),
        _seen_by_others("Grok", r"xai\.grok.*", replace(_GPT, thinking=("adaptive",))),
        _seen_by_others("DeepSeek V3.2", r"deepseek\.v3\.2.*", replace(_PLAIN, efforts=("high",), thinking=_SWITCHED)),
        _seen_by_others(
            "GLM-5.3", r"zai\.glm-5\.3.*", replace(_PLAIN, efforts=(*_TO_XHIGH, "max"), thinking=("adaptive",))
        ),
        _seen_by_others("GLM", r"zai\.glm-.*", replace(_PLAIN, efforts=("high",), thinking=_SWITCHED)),
        _seen_by_others("Qwen 3", r"qwen\.qwen3.*", replace(_SCHEMED, efforts=("low", "high"), thinking=_SWITCHED)),
        _seen_by_others(
            "Models with schemas",
            r"(?:mistral\.(?:magistral-small|ministral-3|mistral-large-3|voxtral)|google\.gemma-3-(?:12|27)b"
            r"|minimax\.minimax-m2|nvidia\.nemotron-nano).*",
            _SCHEMED,
        ),
        _row(
            "Models of other vendors",
            r"(?:amazon|meta|mistral|cohere|ai21|deepseek|qwen|writer|moonshot|minimax|zai|nvidia|google)\..*",
            _PLAIN,
            "conversation-inference-supported-models-features.html",
        ),
    ],
    newest=replace(models.NEWEST, hosted_types={}, parallel_tool_calls=False, later_system=False),
    # The name of an inference profile need not tell its model: settings are sent as Claude takes them.
    others=Capabilities(parallel_tool_calls=False, later_system=False),
    own=makers.NAMES["anthropic"],
)
"""Models on Bedrock."""


# -- rules -------------------------------------------------------------------------------------------------------------

RULES = Rules(API, CAPABILITIES)
CALL_IDS = IdentifierRule("[a-zA-Z0-9_.:-]", 64)
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_-]", 64)
DOCUMENT_NAME = re.compile(r"[\w()\[\]-]+(?:\s[\w()\[\]-]+)*", re.ASCII)
"""The characters of a document's name, with single spaces between them."""
LONGEST_NAME, MOST_CACHE_POINTS = 200, 4
REFERENCE = "docs.aws.amazon.com/bedrock/latest/APIReference"
MODEL = "botocore 1.43.117, bedrock-runtime"
SAMPLING = {"temperature": "temperature", "topP": "top_p"}

Request: TypeAlias = dict[str, Any]
Found: TypeAlias = Iterator[tuple[str, dict[str, Any]]]


# An id has the maker's name before a dot, or is an ARN: us.anthropic.claude-opus-5.
makers.declare_models(
    RULES,
    f"{GUIDE}/models-supported.html; seen 2026-11-29",
    serves=(),
    field="modelId",
    own_names=r"arn:.*|(?:[a-z-]+\.)?[a-z0-9]+\..*",
)


def _rule(fix: str, source: str, severity: Severity = "refused") -> Callable[[Find], Find]:
    return RULES.rule(severity, fix=fix, source=f"{source}; seen 2026-11-23")


def _by_model(fix: str, source: str) -> Callable[[FindByModel], FindByModel]:
    return RULES.by_model("refused", fix=fix, source=f"{source}; capabilities of models; seen 2026-11-23")


def blocks(request: Request, key: str) -> Found:
    """Yield the objects under a key of the blocks of messages, and of the content of results, each with its path."""
    for at, message in objects(request, "messages"):
        for path, block in objects(message, "content", at):
            yield from one_object(block, key, path)
            for inner, result in one_object(block, "toolResult", path):
                for place, part in objects(result, "content", inner):
                    yield from one_object(part, key, place)


def _texts(request: Request) -> Iterator[tuple[str, Any]]:
    lists = [("$", request, "system"), *((at, message, "content") for at, message in objects(request, "messages"))]
    for at, parent, key in lists:
        yield from ((f"{path}.text", block["text"]) for path, block in objects(parent, key, at) if "text" in block)


def _ids(message: dict[str, Any], key: str) -> list[Any]:
    return [table(block, key).get("toolUseId") for block in objects_of(message, "content") if key in block]


@_rule("start with a user message", f"{REFERENCE}/API_runtime_Converse.html, vercel/ai#4138")
def begins_with_user(request: Request) -> Iterator[Broken]:
    """A conversation must start with a user message."""
    for at, message in list(objects(request, "messages"))[:1]:
        if message.get("role") == "assistant":
            yield f"{at}.role", "assistant at the start"


@_rule("remove the block", "vercel/ai#5500, langchain-ai/langchain-aws#251")
def text_is_not_empty(request: Request) -> Iterator[Broken]:
    """The text of a block must not be empty."""
    yield from ((at, "no text") for at, text in _texts(request) if text == "")


@_rule("add content, or remove the message", f"{REFERENCE}/API_runtime_Message.html")
def messages_have_content(request: Request) -> Iterator[Broken]:
    """A message must have content."""
    for at, message in objects(request, "messages"):
        if message.get("content") == []:
            yield f"{at}.content", "no content"


@_rule("replace the id in the call and in its result", f"{MODEL}, run-llama/llama_index#22775")
def call_ids_match_pattern(request: Request) -> Iterator[Broken]:
    """The id of a call must have at most 64 letters, digits, underscores, periods, colons and hyphens."""
    for key in ("toolUse", "toolResult"):
        for at, block in blocks(request, key):
            call_id = block.get("toolUseId")
            if isinstance(call_id, str) and not CALL_IDS.accepts(call_id):
                yield f"{at}.toolUseId", f"{call_id!r:.80}"


@_rule("use letters, digits, _ and -, at most 64", f"{MODEL}, vercel/ai#10202")
def tool_names_match_pattern(request: Request) -> Iterator[Broken]:
    """The name of a tool must have at most 64 letters, digits, underscores and hyphens, in definitions and calls."""
    config = table(request, "toolConfig")
    tools = [spec for at, tool in objects(config, "tools", "$.toolConfig") for spec in one_object(tool, "toolSpec", at)]
    for at, named in [*tools, *blocks(request, "toolUse")]:
        name = named.get("name")
        if isinstance(name, str) and not TOOL_NAMES.accepts(name):
            yield f"{at}.name", f"{name!r:.80}"


@_rule("define the tools again", f"{REFERENCE}/API_runtime_ToolConfiguration.html, BerriAI/litellm#5747")
def calls_need_definitions(request: Request) -> Iterator[Broken]:
    """A request whose messages contain calls or results must have a toolConfig."""
    if not objects_of(table(request, "toolConfig"), "tools"):
        for key in ("toolUse", "toolResult"):
            yield from ((at, "no toolConfig") for at, _ in list(blocks(request, key))[:1])


@_rule("send a result for each call in the next message", f"{GUIDE}/tool-use-inference-call.html")
def calls_have_results(request: Request) -> Iterator[Broken]:
    """Each call must have a result in the next message, and each result a call in the message before it."""
    messages = [*objects(request, "messages")]
    none: tuple[str, dict[str, Any]] = ("", {})
    for (_, before), (at, message), (_, after) in zip([none, *messages], messages, [*messages[1:], none], strict=False):
        if message.get("role") == "assistant":
            answered = _ids(after, "toolResult")
            hosted = _ids(message, "toolResult")
            for call_id in _ids(message, "toolUse"):
                if call_id not in answered and call_id not in hosted:
                    yield at, f"no result for {call_id!r:.80}"
        else:
            calls = _ids(before, "toolUse")
            for call_id in _ids(message, "toolResult"):
                if call_id not in calls:
                    yield at, f"no call {call_id!r:.80}"


@_rule("send an object, or the value as text", "aws/aws-sdk-js-v3#7330")
def json_results_are_objects(request: Request) -> Iterator[Broken]:
    """A JSON value in a result must be an object."""
    for at, result in blocks(request, "toolResult"):
        for path, part in objects(result, "content", at):
            if part.get("json") is not None and not isinstance(part["json"], dict):
                yield f"{path}.json", kind_of(part["json"])


@_rule("add a text", "aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15")
def failed_results_have_content(request: Request) -> Iterator[Broken]:
    """A result with the status "error" must have content."""
    for at, result in blocks(request, "toolResult"):
        if result.get("status") == "error" and not result.get("content"):
            yield f"{at}.content", "no content"


@_rule("use letters, digits, _, single spaces, - and brackets", f"{REFERENCE}/API_runtime_DocumentBlock.html")
def document_names_match_pattern(request: Request) -> Iterator[Broken]:
    """The name of a document may have letters, digits, underscores, single spaces, hyphens and brackets."""
    for at, document in blocks(request, "document"):
        name = document.get("name")
        if isinstance(name, str) and not (DOCUMENT_NAME.fullmatch(name) and len(name) <= LONGEST_NAME):
            yield f"{at}.name", f"{name!r:.80}"


@_rule("add a text to the message", f"{REFERENCE}/API_runtime_DocumentBlock.html")
def documents_need_text(request: Request) -> Iterator[Broken]:
    """A user message with a document must also have a text."""
    for at, message in objects(request, "messages"):
        content = objects_of(message, "content")
        if any("document" in block for block in content) and not any("text" in block for block in content):
            yield at, "a document without a text"


@_rule("convert it", MODEL)
def formats_supported(request: Request) -> Iterator[Broken]:
    """The format of a medium must be one of the service's."""
    for kind, formats in FORMATS.items():
        for at, medium in blocks(request, kind):
            value = medium.get("format")
            # A media type is accepted as well.
            if isinstance(value, str) and value not in (*formats, *formats.values()):
                yield f"{at}.format", f"{value!r:.80}"


@_by_model("send another kind of medium", f"{GUIDE}/conversation-inference-supported-models-features.html")
def media_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """A model must read the kinds of media that it gets."""
    for kind in FORMATS if capabilities.media is not None else ():
        if kind not in (capabilities.media or ()):
            yield from ((at, f"a medium of the kind {kind}") for at, _ in blocks(request, kind))


@_rule("send the bytes", "recorded requests to Claude and Nova 2, pydantic/pydantic-ai")
def s3_locations_supported(request: Request) -> Iterator[Broken]:
    """Claude reads no media in S3, and no model reads them in the results of tools."""
    everywhere = maker_of(request.get("modelId")) == CLAUDE
    for kind in FORMATS:
        for at, medium in blocks(request, kind):
            if "s3Location" in table(medium, "source") and (everywhere or ".toolResult." in at):
                yield f"{at}.source.s3Location", "a location in S3"


@_rule("send standard base64", MODEL)
def bytes_are_base64(request: Request) -> Iterator[Broken]:
    """Bytes must be base64 of the standard alphabet."""
    for kind in FORMATS:
        for at, medium in blocks(request, kind):
            yield from bad_base64(f"{at}.source.bytes", table(medium, "source").get("bytes"), bare=True)


@_rule("remove some", f"{GUIDE}/prompt-caching.html")
def cache_points_limited(request: Request) -> Iterator[Broken]:
    """A request may have at most four cache points."""
    yield from ((at, "one too many") for at in [*cache_points(request)][MOST_CACHE_POINTS:])


def cache_points(request: Request) -> Iterator[str]:
    """Yield the paths of the blocks that are cache points, in the order in which a model reads them."""
    lists = [
        ("$.toolConfig", table(request, "toolConfig"), "tools"),
        ("$", request, "system"),
        *((at, message, "content") for at, message in objects(request, "messages")),
    ]
    for at, parent, key in lists:
        yield from (path for path, block in objects(parent, key, at) if isinstance(block.get("cachePoint"), dict))


@_rule("use a value from 0 to 1", MODEL)
def sampling_in_range(request: Request) -> Iterator[Broken]:
    """The temperature and topP must be from 0 to 1, and maxTokens must be positive."""
    limits = {**{key: models.SAMPLED[name] for key, name in SAMPLING.items()}, "maxTokens": (1, float("inf"))}
    return out_of_range(table(request, "inferenceConfig"), limits, "$.inferenceConfig")


@_by_model("remove it", f"{GUIDE}/model-parameters.html")
def sampling_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Some models accept a sampling setting only at its default, or not at all."""
    broken = unsampled(table(request, "inferenceConfig"), SAMPLING, capabilities.sampling)
    yield from ((f"$.inferenceConfig.{key}", value) for key, value in broken)


@_by_model("end with a user message", f"{GUIDE}/model-parameters-anthropic-claude-messages.html")
def prefill_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """From Claude 4.6 on, a request must not end with a message of the assistant."""
    last = [*objects(request, "messages")][-1:]
    if not capabilities.prefill:
        yield from ((at, "a prefill") for at, message in last if message.get("role") == "assistant")


@_rule("remove it, or add a user message", "anomalyco/opencode#1295")
def prefill_ends_in_text(request: Request) -> Iterator[Broken]:
    """A request to Claude that ends with a message of the assistant must not end with reasoning or with white space."""
    for at, message in [*objects(request, "messages")][-1:] if maker_of(request.get("modelId")) == CLAUDE else ():
        for path, block in [*objects(message, "content", at)][-1:] if message.get("role") == "assistant" else ():
            if ends_in_space(block.get("text")):
                yield f"{path}.text", "white space at the end"
            elif "reasoningContent" in block:
                yield path, "reasoning at the end"


@_rule("remove one of them", "mem0ai/mem0#3891, BerriAI/litellm#15070")
def temperature_excludes_top_p(request: Request) -> Iterator[Broken]:
    """Claude 4.5 and 4.6 accept only one of temperature and topP."""
    config = table(request, "inferenceConfig")
    both = config.get("temperature") is not None and config.get("topP") is not None
    if both and excludes_top_p(request.get("modelId")):
        yield "$.inferenceConfig.topP", "with temperature"


@_by_model("use auto, and ask for the tool in the prompt", "mastra-ai/mastra#7507, can1357/oh-my-pi#12939")
def forced_tool_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """A tool must not be forced with a thinking budget, or on a model that accepts no forced tool."""
    forced = table(table(request, "toolConfig"), "toolChoice").keys() & {"any", "tool"}
    thinking = table(table(request, "additionalModelRequestFields"), "thinking").get("type")
    if forced and refuses_forced_tool(capabilities, thinking):
        yield "$.toolConfig.toolChoice", min(forced)


@_rule("define the tool", f"{REFERENCE}/API_runtime_SpecificToolChoice.html")
def chosen_tool_is_defined(request: Request) -> Iterator[Broken]:
    """The tool that a request forces must be defined."""
    config = table(request, "toolConfig")
    kinds = ("toolSpec", "systemTool")
    names = [table(tool, kind).get("name") for tool in objects_of(config, "tools") for kind in kinds]
    for at, tool in one_object(table(config, "toolChoice"), "tool", "$.toolConfig.toolChoice"):
        if tool.get("name") not in names:
            yield f"{at}.name", f"{tool.get('name')!r:.80}"


RULES.leave_out("sampling-in-range", "temperature-excludes-top-p", "forced-tool-supported")
