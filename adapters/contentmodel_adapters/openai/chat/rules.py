"""Requests that Chat Completions refuses, ignores or answers badly.

Many hosts have this API, and few are as strict as OpenAI. A rule that only OpenAI enforces applies only if the
model's name is one of OpenAI's. A rule for some of OpenAI's models applies only to these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from contentmodel.authoring import (
    Broken,
    Capabilities,
    Host,
    IdentifierRule,
    Rules,
    Severity,
    chat,
    child_path,
    makers,
    objects,
    one_object,
    settings,
)
from contentmodel.request import ReasoningOptions
from contentmodel_adapters.common.rules import (
    bad_base64,
    call_ids,
    declare_pairs,
    declares,
    declares_by_model,
    is_object,
    is_object_text,
    out_of_range,
    result_id,
    subschemas,
    table,
    unsampled,
)
from contentmodel_adapters.openai.chat.hosts import (
    API,
    AT_ALIBABA,
    AT_CEREBRAS,
    AT_DEEPSEEK,
    AT_GOOGLE,
    AT_GROQ,
    AT_MINIMAX,
    AT_MOONSHOT,
    AT_XAI,
    DIALECTS,
    PLATFORM,
    SEEN,
    Dialect,
    Restriction,
    has_tool,
    names_model,
    own_fields,
    required_reasoning,
    thinks_in,
)
from contentmodel_adapters.openai.models import CUSTOM_TOOLS, openai_table

CAPABILITIES = openai_table(API)
"""OpenAI's models, the newest first."""
RULES = Rules(API, CAPABILITIES)
CALL_IDS = IdentifierRule(".", 40)
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_-]", 64)
REFUSED_IN_AUTHORS = r"\s<|\\/>"
AUTHORS = IdentifierRule(f"[^{REFUSED_IN_AUTHORS}]", 64)

_OPENAI = r"(?:ft:)?(?:gpt-\d|gpt-audio|chatgpt-|o\d(?:-|$)).*"
_SDK = "openai/types/chat/completion_create_params.py of openai 3.52.0"
_TYPES = "openai/types/chat/*_param.py of openai 3.52.0"
_STRICT = "developers.openai.com/api/docs/guides/structured-outputs, Supported schemas"


_rule = declares(RULES, models=_OPENAI, seen="2026-11-21")
_by_model = declares_by_model(RULES, seen="2026-11-22")


chat.declare_model(RULES, "chain-ml/council#45; seen 2026-11-22", fix="set model in the request, or pass model=")


@_rule("refused", fix="use system, developer, user, assistant or tool", source=_TYPES)
def roles_are_known(request: dict[str, Any]) -> Iterator[Broken]:
    """The role of a message must be developer, system, user, assistant, tool or function."""
    for at, message in objects(request, "messages"):
        if message.get("role") not in ("developer", "system", "user", "assistant", "tool", "function"):
            yield f"{at}.role", f"{message.get('role')!r:.60}"


@_by_model("refused", fix="move it into the user message", source="janhq/jan#4392, pydantic/pydantic-ai#974")
def instructions_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """o1-mini and o1-preview accept neither system nor developer messages."""
    for at, message in objects(request, "messages") if not capabilities.instructions else ():
        if message.get("role") in ("system", "developer"):
            yield f"{at}.role", message["role"]


@_rule("refused", fix="set content, at least to an empty string", source="langchain-ai/langchainjs#4153")
def messages_have_content(request: dict[str, Any]) -> Iterator[Broken]:
    """A message must have content. Optional for assistant messages with calls, a refusal or audio."""
    for at, message in objects(request, "messages"):
        alternatives = ("tool_calls", "function_call", "refusal", "audio") if message.get("role") == "assistant" else ()
        is_optional = message.get("role") == "function" or any(message.get(key) for key in alternatives)
        if message.get("content") is None and not is_optional:
            yield f"{at}.content", "no content"


@_rule("refused", fix="use a short id in the call and in its result", source="BerriAI/litellm#11392")
def call_ids_are_short(request: dict[str, Any]) -> Iterator[Broken]:
    """Tool call ids must have at most 40 characters."""
    for at, message in objects(request, "messages"):
        for path, call_id in [*call_ids(message, at), *result_id(message, at)]:
            if len(call_id) > CALL_IDS.longest:
                yield path, f"{len(call_id)} characters"


@_rule("refused", models=None, fix="give each call a unique id", source="agno-agi/agno#5116, openclaw/openclaw#47136")
def call_ids_are_unique(request: dict[str, Any]) -> Iterator[Broken]:
    """No two calls of a message and no two results of a turn may have the same id."""
    answered: set[str] = set()
    for at, message in objects(request, "messages"):
        if message.get("role") != "tool":
            answered = set()
        yield from _repeated(call_ids(message, at), set())
        yield from _repeated(result_id(message, at), answered)


declare_pairs(_rule, calls="agno-agi/agno#4345", results="smarter-sh/smarter#264, qwersyk/Newelle#425")


def _repeated(named: Iterator[Broken], known: set[str]) -> Iterator[Broken]:
    """Yield the names that are in `known` or occur again. Add all names to `known`."""
    for path, name in named:
        if name in known:
            yield path, f"duplicate {name!r:.60}"
        known.add(name)


@_rule(
    "refused", fix="set type to function or custom", source="langchain-ai/langchain-azure#35, openai/openai-node#521"
)
def calls_and_tools_have_types(request: dict[str, Any]) -> Iterator[Broken]:
    """Each call, each tool and the choice of a tool must have a type."""
    calls = [call for at, message in objects(request, "messages") for call in objects(message, "tool_calls", at)]
    for at, typed in [*calls, *objects(request, "tools"), *one_object(request, "tool_choice")]:
        if not isinstance(typed.get("type"), str):
            yield f"{at}.type", "no type"


@_rule("harmful", models=None, fix="send {} instead", source="vllm-project/vllm#43995, sgl-project/sglang#28035")
def call_arguments_are_objects(request: dict[str, Any]) -> Iterator[Broken]:
    """The arguments of a function call must be the text of a JSON object, or empty."""
    for at, message in objects(request, "messages"):
        for path, function in _functions(message, "tool_calls", at):
            text = function.get("arguments")
            if isinstance(text, str) and text.strip() and not is_object_text(text):
                yield f"{path}.arguments", f"{text!r:.60}"


def _functions(parent: dict[str, Any], key: str, at: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the `function` or the `custom` of each call or tool."""
    for path, item in objects(parent, key, at):
        yield from one_object(item, "function", path)
        yield from one_object(item, "custom", path)


_PARTS = {"developer": ["text"], "system": ["text"], "assistant": ["text", "refusal"]}
_PARTS["user"] = ["text", "image_url", "input_audio", "file"]


def _parts(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield each part of each message's content, with its path and the message's role."""
    for at, message in objects(request, "messages"):
        for path, part in objects(message, "content", at):
            yield path, part, message.get("role")


@_rule("refused", fix="move it to a user message, or remove it", source=f"openai/openai-node#1030; {_TYPES}")
def parts_in_their_roles(request: dict[str, Any]) -> Iterator[Broken]:
    """User messages accept text, images, audio and files, assistant messages text and refusals, instructions text."""
    for at, part, role in _parts(request):
        allowed = _PARTS.get(role) if isinstance(role, str) else None
        if allowed is not None and part.get("type") not in allowed:
            yield f"{at}.type", f"{part.get('type')!r:.60} in a message of the role {role}"


@_rule("harmful", fix="move it to a user message after the results", source="openai/openai-openapi#523")
def results_are_text(request: dict[str, Any]) -> Iterator[Broken]:
    """The content of a tool message must be text."""
    for at, part, role in _parts(request):
        if role == "tool" and part.get("type") != "text":
            yield f"{at}.type", f"{part.get('type')!r:.60} in a tool message"


@_rule(
    "refused", fix="convert it to a supported type", source=f"openclaw/openclaw#102354, acoyfellow/my-ax#89; {_TYPES}"
)
def media_types_supported(request: dict[str, Any]) -> Iterator[Broken]:
    """Images in data URLs must be PNG, JPEG, GIF or WebP; audio must be wav or mp3."""
    for at, part, _ in _parts(request):
        for path, image in one_object(part, "image_url", at):
            match = re.match(r"data:([^;,]{1,99})[;,]", url) if isinstance(url := image.get("url"), str) else None
            if match and not re.fullmatch(r"image/(?:png|jpe?g|gif|webp)", match[1].strip().lower()):
                yield f"{path}.url", match[1]
        for path, audio in one_object(part, "input_audio", at):
            if audio.get("format") not in ("wav", "mp3"):
                yield f"{path}.format", f"{audio.get('format')!r:.60}"


@_rule("refused", fix="add a filename", source="openai/openai-agents-python#1513, langchain-ai/langchainjs#9512")
def files_have_names(request: dict[str, Any]) -> Iterator[Broken]:
    """A file with file_data must have a filename."""
    for at, part, _ in _parts(request):
        for path, file in one_object(part, "file", at):
            if isinstance(file.get("file_data"), str) and not file.get("filename") and not file.get("file_id"):
                yield f"{path}.filename", "no filename"


@_rule("refused", fix="use the standard base64 alphabet", source="sipherxyz/comfyui-art-venture#75")
def data_is_base64(request: dict[str, Any]) -> Iterator[Broken]:
    """The data of audio, and of data URLs of images and files, must be base64 in the standard alphabet."""
    places = {"image_url": "url", "file": "file_data", "input_audio": "data"}
    for at, part, _ in _parts(request):
        for key, name in places.items():
            for path, holder in one_object(part, key, at):
                yield from bad_base64(f"{path}.{name}", holder.get(name), bare=key == "input_audio")


@_by_model("refused", fix="use a function with one text parameter", source=CUSTOM_TOOLS)
def custom_tools_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """Models before GPT-5 accept no custom tools."""
    for at, tool in objects(request, "tools") if not capabilities.custom_tools else ():
        if tool.get("type") == "custom":
            yield at, f"a custom tool for {request.get('model')}"


@_by_model("refused", fix="send a transcript", source="developers.openai.com/api/docs/guides/audio")
def audio_input_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """GPT-3.5, GPT-4, GPT-5 and o-series models accept audio only if their name contains `audio`."""
    for at, part, _ in _parts(request) if capabilities.media is not None and "audio" not in capabilities.media else ():
        if part.get("type") == "input_audio":
            yield at, f"audio for {request.get('model')}"


@_by_model("refused", fix="send audio, or add audio to the modalities", source="CherryHQ/cherry-studio#1179")
def audio_models_require_audio(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """A request to an audio model must contain audio or request it."""
    has_audio = any(part.get("type") == "input_audio" for _, part, _ in _parts(request))
    has_audio = has_audio or _requests_audio(request) or any(m.get("audio") for _, m in objects(request, "messages"))
    if capabilities.media is not None and "audio" in capabilities.media and not has_audio:
        yield "$.modalities", "no audio in the messages or the modalities"


@_rule("refused", fix="set voice and format in audio", source=f"Agent-Field/agentfield#584; {_TYPES}")
def audio_output_has_format(request: dict[str, Any]) -> Iterator[Broken]:
    """A request for audio must set `audio`; in a stream, its format must be pcm16."""
    audio = request.get("audio")
    if _requests_audio(request) and not isinstance(audio, dict):
        yield "$.audio", "missing, but audio is one of the modalities"
    if isinstance(audio, dict) and request.get("stream") is True and audio.get("format") != "pcm16":
        yield "$.audio.format", f"{audio.get('format')!r:.60} in a stream"


def _requests_audio(request: dict[str, Any]) -> bool:
    return isinstance(request.get("modalities"), list) and "audio" in request["modalities"]


@_rule(
    "refused",
    fix="rename it everywhere",
    source="mcp-use/mcp-use#90; function_definition.py of openai 3.52.0",
)
def tool_names_match_pattern(request: dict[str, Any]) -> Iterator[Broken]:
    """Tool names, in tools and in calls, must be 1 to 64 letters, digits, underscores and dashes."""
    called = [function for at, m in objects(request, "messages") for function in _functions(m, "tool_calls", at)]
    for at, function in [*_functions(request, "tools"), *called]:
        if isinstance(function.get("name"), str) and not TOOL_NAMES.accepts(function["name"]):
            yield f"{at}.name", f"{function['name']!r:.80}"


@_rule("refused", fix="replace the refused characters by underscores", source="danny-avila/LibreChat#1075")
def author_names_match_pattern(request: dict[str, Any]) -> Iterator[Broken]:
    """The name of a message's author must be 1 to 64 characters without white space, `<`, `|`, `\\`, `/` and `>`."""
    for at, message in objects(request, "messages"):
        name = message.get("name")
        if isinstance(name, str) and message.get("role") != "tool" and not AUTHORS.accepts(name):
            yield f"{at}.name", f"{name!r:.80}"


@_rule("harmful", models=None, fix="rename or remove one of them", source="dataelement/Clawith#251")
def tool_names_are_unique(request: dict[str, Any]) -> Iterator[Broken]:
    """No two tools may have the same name."""
    named = ((f"{at}.name", function.get("name")) for at, function in _functions(request, "tools"))
    yield from _repeated(((at, name) for at, name in named if isinstance(name, str)), set())


@_rule("refused", fix="define the tool, or choose another", source=_SDK)
def chosen_tools_are_defined(request: dict[str, Any]) -> Iterator[Broken]:
    """A tool that tool_choice forces the model to call must be one of the tools."""
    defined = [function.get("name") for _, function in _functions(request, "tools")]
    for at, choice in one_object(request, "tool_choice"):
        for path, function in [*one_object(choice, "function", at), *one_object(choice, "custom", at)]:
            if defined and function.get("name") not in defined:
                yield f"{path}.name", f"{function.get('name')!r:.80} is not among the tools"


@_rule(
    "refused",
    fix="use type object, with the schema as a property",
    source="nspady/google-calendar-mcp#39, langchain-ai/langchainjs#9804",
)
def schemas_describe_objects(request: dict[str, Any]) -> Iterator[Broken]:
    """Function parameters and a strict response format must have type object, and no union at the top level."""
    parameters = [schema for at, f in _functions(request, "tools") for schema in one_object(f, "parameters", at)]
    for at, schema in dict([*_strict_roots(request), *parameters]).items():
        if schema.get("type") != "object" and "$ref" not in schema:
            yield f"{at}.type", f"{schema.get('type')!r:.60}"
        unions = [key for key in ("oneOf", "anyOf", "allOf", "enum", "not") if key in schema]
        yield from ((child_path(at, key), f"{key} at the top level") for key in unions)


@_rule("refused", fix="add items", source="sigoden/aichat#1049, mark3labs/mcphost#35")
def arrays_have_items(request: dict[str, Any]) -> Iterator[Broken]:
    """In function parameters, an array must have `items` or `prefixItems`."""
    for at, function in _functions(request, "tools"):
        for root in one_object(function, "parameters", at):
            for path, schema, _ in subschemas(*root):
                if schema.get("type") == "array" and not {"items", "prefixItems"} & schema.keys():
                    yield path, "an array without items"


@_rule("refused", fix='set "additionalProperties": false, or remove strict', source=_STRICT)
def strict_objects_are_closed(request: dict[str, Any]) -> Iterator[Broken]:
    """In a strict schema, every object must have additionalProperties false."""
    for at, schema, _ in _strict_subschemas(request):
        if is_object(schema) and schema.get("additionalProperties") is not False:
            yield f"{at}.additionalProperties", f"{schema.get('additionalProperties')!r:.60}"


@_rule("refused", fix="add it to required, and make it nullable if it is optional", source=_STRICT)
def strict_properties_are_required(request: dict[str, Any]) -> Iterator[Broken]:
    """In a strict schema, every property must be required."""
    for at, schema, _ in _strict_subschemas(request):
        listed = schema.get("required")
        required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
        for name in table(schema, "properties"):
            if name not in required:
                yield child_path(f"{at}.properties", name), "not in required"


_UNKNOWN_KEYWORDS = ["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"]
_UNKNOWN_KEYWORDS += ["propertyNames", "uniqueItems"]


@_rule(
    "refused",
    fix="rewrite it with other keywords",
    source=f"{_STRICT}; openai/openai-agents-python#1884, mastra-ai/mastra#23321",
)
def strict_schemas_use_known_keywords(request: dict[str, Any]) -> Iterator[Broken]:
    """A strict schema must not use allOf, oneOf, not, if, dependent..., propertyNames or uniqueItems."""
    for at, schema, _ in _strict_subschemas(request):
        yield from ((child_path(at, key), f"{key} in a strict schema") for key in _UNKNOWN_KEYWORDS if key in schema)


@_rule("refused", fix="inline the definition", source="camel-ai/camel#3001, vectorize-io/hindsight#3944")
def strict_references_have_no_siblings(request: dict[str, Any]) -> Iterator[Broken]:
    """In a strict schema, a $ref must have no sibling keywords except definitions."""
    for at, schema, _ in _strict_subschemas(request):
        siblings = sorted(schema.keys() - {"$ref", "$defs", "definitions", "$schema"})
        if "$ref" in schema and siblings:
            yield at, f"{', '.join(siblings):.60} next to a $ref"


@_rule("refused", fix="make the schema smaller, or remove strict", source=_STRICT)
def strict_schema_limits(request: dict[str, Any]) -> Iterator[Broken]:
    """A strict schema must have at most 10 levels of objects, 5,000 properties and 1,000 enum values."""
    for root in _strict_roots(request):
        schemas = [*subschemas(*root)]
        yield from (
            (at, "objects nested deeper than 10 levels") for at, s, level in schemas if level == 11 and is_object(s)
        )
        properties = sum(len(table(schema, "properties")) for _, schema, _ in schemas)
        values = sum(len(s["enum"]) for _, s, _ in schemas if isinstance(s.get("enum"), list))
        if properties > 5000 or values > 1000:
            yield root[0], f"{properties} properties and {values} enum values"


def _strict_roots(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the strict schemas of a request: of strict tools, and of the response format."""
    formats = [
        schema for at, f in one_object(request, "response_format") for schema in one_object(f, "json_schema", at)
    ]
    for at, described in [*_functions(request, "tools"), *formats]:
        if described.get("strict") is True:
            yield from one_object(described, "parameters", at)
            yield from one_object(described, "schema", at)


def _strict_subschemas(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], int]]:
    for root in _strict_roots(request):
        yield from subschemas(*root)


@_rule("refused", fix="use letters, digits, _ and -", source="response_format_json_schema.py of openai 3.52.0")
def response_formats_have_names(request: dict[str, Any]) -> Iterator[Broken]:
    """A JSON schema of a response format must have a name of letters, digits, underscores and dashes."""
    for at, response_format in one_object(request, "response_format"):
        for path, described in one_object(response_format, "json_schema", at):
            if not TOOL_NAMES.accepts(described.get("name")):
                yield f"{path}.name", f"{described.get('name')!r:.80}"


@_rule("refused", fix="write JSON in a message, or use a json_schema", source="errornotes.dev, JSON mode")
def json_mode_mentions_json(request: dict[str, Any]) -> Iterator[Broken]:
    """A request for a JSON object must contain the word JSON in its messages."""
    for at, response_format in one_object(request, "response_format"):
        if response_format.get("type") == "json_object":
            texts = [message.get("content") for _, message in objects(request, "messages")]
            texts += [part.get("text") for _, part, _ in _parts(request)]
            if not any("json" in text.lower() for text in texts if isinstance(text, str)):
                yield f"{at}.type", "json_object, but no message contains JSON"


_RANGES: dict[str, tuple[float, float]] = {"temperature": (0, 2), "top_p": (0, 1), "top_logprobs": (0, 20)}
_RANGES |= {"presence_penalty": (-2, 2), "frequency_penalty": (-2, 2), "n": (1, float("inf"))}
_RANGES |= dict.fromkeys(("max_tokens", "max_completion_tokens"), (1, float("inf")))


@_rule("refused", fix="use a value within the limits", source=f"OpenBMB/ChatDev#446, {_SDK}")
def numbers_are_in_range(request: dict[str, Any]) -> Iterator[Broken]:
    """temperature must be 0 to 2, top_p 0 to 1, penalties -2 to 2, top_logprobs 0 to 20; n and max_tokens 1 or more."""
    yield from out_of_range(request, _RANGES)


@_rule("refused", fix="send an integer", source=_SDK)
def limits_are_integers(request: dict[str, Any]) -> Iterator[Broken]:
    """max_tokens, the older name of max_completion_tokens, must be an integer."""
    limit = request.get("max_tokens")
    if limit is not None and limit.__class__ is not int:
        yield "$.max_tokens", f"{limit!r:.60}"


@_rule("refused", fix="add, remove or shorten it", source=f"openai/openai-python#2061, anomalyco/opencode#4909; {_SDK}")
def list_lengths_in_range(request: dict[str, Any]) -> Iterator[Broken]:
    """A request must have at least one message, no empty list of calls, at most 128 tools and 4 stop sequences."""
    calls = [(f"{at}.tool_calls", m.get("tool_calls"), 1, 2**31) for at, m in objects(request, "messages")]
    limits = [("$.messages", request.get("messages"), 1, 2**31), ("$.tools", request.get("tools"), 0, 128)]
    for at, items, least, most in [*limits, ("$.stop", request.get("stop"), 0, 4), *calls]:
        if isinstance(items, list) and not least <= len(items) <= most:
            yield at, f"{len(items)} items"


@_rule("refused", fix="shorten or remove it", source="shared_params/metadata.py of openai 3.52.0")
def metadata_limits(request: dict[str, Any]) -> Iterator[Broken]:
    """Metadata must have at most 16 keys of at most 64 characters, with strings of at most 512."""
    metadata = table(request, "metadata")
    if len(metadata) > 16:
        yield "$.metadata", f"{len(metadata)} keys"
    for key, value in metadata.items():
        if len(key) > 64 or not isinstance(value, str) or len(value) > 512:
            yield child_path("$.metadata", key), f"{value!r:.60}"


_NEEDS = {"tool_choice": "tools", "parallel_tool_calls": "tools", "stream_options": "stream"}
_NEEDS["top_logprobs"] = "logprobs"


@_rule("refused", fix="send both or neither", source=f"openai/swarm#30, BerriAI/litellm#5803; {_SDK}")
def field_dependencies_are_met(request: dict[str, Any]) -> Iterator[Broken]:
    """tool_choice and parallel_tool_calls require tools, stream_options a stream, and top_logprobs logprobs."""
    for key, needed in _NEEDS.items():
        if request.get(key) is not None and not request.get(needed):
            yield f"$.{key}", f"{key} without {needed}"


@_rule(
    "refused",
    fix="remove one of them",
    source="langchain-ai/langgraph#5943; learn.microsoft.com/azure/foundry/openai/how-to/predicted-outputs",
)
def no_conflicting_fields(request: dict[str, Any]) -> Iterator[Broken]:
    """max_tokens excludes max_completion_tokens; prediction excludes it too, tools, logprobs, audio, n > 1."""
    if request.get("max_tokens") is not None and request.get("max_completion_tokens") is not None:
        yield "$.max_tokens", "with max_completion_tokens"
    if isinstance(request.get("prediction"), dict):
        excluded = [key for key in ("tools", "logprobs", "max_completion_tokens", "audio") if request.get(key)]
        excluded += ["n"] if request.get("n") not in (None, 1) else []
        yield from ((f"$.{key}", "with prediction") for key in excluded)


# -- hosts -------------------------------------------------------------------------------------------------------------

# Many hosts of this API, Anthropic's own among them, serve Claude and others under their makers' names. So a name alone
# proves no mistake.
makers.declare_models(
    RULES,
    "developers.openai.com/api/docs/models; the sources of the hosts; seen 2026-11-29",
    serves=(frozenset(DIALECTS) & makers.EVERY) | {"openai"},
    severity="unchecked",
)
_HOSTS = f"{'; '.join(dialect.source for dialect in DIALECTS.values())}; seen {SEEN}"


def _restricted_by(severity: Severity) -> str:
    """Return the sources of all restrictions of a severity, each once."""
    rows = (*AT_DEEPSEEK, *AT_MOONSHOT, *AT_ALIBABA, *AT_MINIMAX, *AT_GROQ, *AT_XAI, *AT_CEREBRAS, *AT_GOOGLE)
    found = dict.fromkeys(row.source for row in rows if row.severity == severity)
    return f"{'; '.join(found)}; seen {SEEN}"


@RULES.by_host(
    "refused",
    fix="send the reasoning of the answer back, or an empty text",
    source="api-docs.deepseek.com/guides/thinking_mode; anomalyco/opencode#16318, Lapis0x0/obsidian-yolo#243; "
    "seen 2026-11-23",
)
def calls_have_reasoning(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """At DeepSeek and Moonshot, a message with calls must have its reasoning while the model thinks."""
    field = required_reasoning(request, host)
    for at, message in objects(request, "messages") if field is not None else ():
        if message.get("tool_calls") and not isinstance(message.get(field or ""), str):
            yield f"{at}.{field}", f"no {field} beside the calls"


@RULES.by_host("refused", fix="use system", source=_HOSTS)
def roles_known_to_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The host must accept the role of each message: most hosts do not accept the role developer."""
    for at, message in objects(request, "messages") if host.dialect else ():
        role = message.get("role")
        if isinstance(role, str) and role not in host.dialect.roles:
            yield f"{at}.role", f"{role:.60} at {host.dialect.name}"


@RULES.by_host("refused", fix="use a function with one text parameter", source=_HOSTS)
def tools_known_to_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The host must have the type of each tool and call: most hosts have functions only, and no custom tools."""
    if not host.dialect:
        return
    calls = [call for at, message in objects(request, "messages") for call in objects(message, "tool_calls", at)]
    for at, typed in [*objects(request, "tools"), *calls]:
        if not has_tool(host.dialect, typed.get("type")):
            yield f"{at}.type", f"{typed['type']:.60} at {host.dialect.name}"


@RULES.by_host("ignored", fix="remove it", source=_HOSTS)
def fields_known_to_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """Other hosts do not document the fields for features of OpenAI's platform, such as `store` and `metadata`."""
    dialect: Dialect | None = host.dialect
    if dialect is not None and dialect.fields is None and dialect.takes is not None:
        for path, value in _unknown(None, PLATFORM - dialect.takes, request):
            yield path, f"{value!r:.60} at {dialect.name}"


@RULES.by_host("ignored", fix="rename it", source="the documentation of the host; seen 2026-11-23")
def limit_has_name_of_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The limit of output tokens must be in the host's field: max_tokens at DeepSeek and Z.ai."""
    if host.dialect and host.dialect.limit == "max_tokens" and request.get("max_completion_tokens") is not None:
        yield "$.max_completion_tokens", f"max_completion_tokens at {host.dialect.name}"


@RULES.by_host("refused", fix="remove it, or use a value that the host accepts", source=_restricted_by("refused"))
def fields_accepted_by_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """Groq refuses logprobs, logit_bias, names and n > 1; xAI stop and penalties; thinking models a forced call.

    Google, Groq and Mistral refuse unknown fields. Kimi K2.5 and K2.6 refuse other values of their
    fixed sampling settings. The models of DeepSeek, Moonshot and Alibaba refuse a forced call while they think.
    """
    yield from _restricted("refused", request, host)
    dialect: Dialect | None = host.dialect
    if dialect is not None and dialect.fields is not None:
        own = own_fields(dialect)
        for path, value in _unknown(dialect.fields | own, (), request):
            yield path, f"{value!r:.60} at {dialect.name}"


@RULES.by_host("ignored", fix="remove it", source=_restricted_by("ignored"))
def fields_read_by_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """DeepSeek ignores temperature and penalties while it thinks, MiniMax penalties, and Grok 4.20 logprobs."""
    return _restricted("ignored", request, host)


def _restricted(severity: Severity, request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """Yield the fields with values that restrictions of the host exclude."""
    dialect: Dialect | None = host.dialect
    rows = () if dialect is None else dialect.restrictions
    if dialect is not None and rows:
        for path, value in _excluded(rows, severity, request, thinks=thinks_in(request, dialect)):
            yield path, f"{value!r:.60} at {dialect.name}"


def _excluded(
    restrictions: Iterable[Restriction], severity: Severity, request: dict[str, Any], *, thinks: bool
) -> Iterator[tuple[str, Any]]:
    """Yield the values that restrictions of a severity exclude, each with its path."""
    for restriction in restrictions:
        is_model = restriction.models is None or names_model(request, restriction.models)
        if restriction.severity != severity or not is_model or restriction.thinking not in (None, thinks):
            continue
        for field, accepted in restriction.fields.items():
            yield from ((at, v) for at, v in _values(request, field) if v is not None and v not in accepted)


def _unknown(
    fields: Iterable[str] | None, platform: Iterable[str], request: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a request, with their paths, that are not in `fields`; if that is None, are in `platform`."""
    known = None if fields is None else frozenset(fields)
    refused = frozenset(platform)
    for name, value in request.items():
        if value is not None and (name in refused if known is None else name not in known):
            yield child_path("$", name), value


def _values(request: dict[str, Any], field: str) -> Iterator[tuple[str, Any]]:
    """Yield the value of a field, with its path. Yield that of each message, except results, for `messages.name`."""
    if not field.startswith("messages."):
        yield f"$.{field}", request.get(field)
        return
    name = field.removeprefix("messages.")
    for at, message in objects(request, "messages"):
        if message.get("role") not in ("tool", "function"):
            yield f"{at}.{name}", message.get(name)


# -- settings ----------------------------------------------------------------------------------------------------------

_HARMLESS: dict[str, Any] = {"logit_bias": {}, "logprobs": False}
_SAMPLING = {key: key for key in ("temperature", "top_p", "presence_penalty", "frequency_penalty")}


@_by_model(
    "refused",
    fix="remove it; use max_completion_tokens instead of max_tokens",
    source="learn.microsoft.com/azure/ai-services/openai/how-to/reasoning; griptape-ai/griptape#1915, "
    "huggingface/smolagents#1671, run-llama/llama_index#20865, umputun/tg-spam#304, pydantic/pydantic-ai#2822",
)
def settings_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """A model accepts only its own levels of reasoning_effort, and no sampling settings while it reasons.

    GPT-5, o3 and o4-mini do not accept stop. Reasoning models do not accept max_tokens, and most of them no logprobs.
    Few models accept web_search_options.
    """
    effort = request.get("reasoning_effort")
    if effort is not None and capabilities.efforts is not None and effort not in capabilities.efforts:
        yield "$.reasoning_effort", f"{effort!r:.60} for {request.get('model')}"
    requested = ReasoningOptions(effort=effort if isinstance(effort, str) else None)
    ranges = capabilities.sampled(thinks=settings.thinks(requested, capabilities))
    fields = {
        key: request.get(key) for key in capabilities.refused if request.get(key) not in (None, _HARMLESS.get(key))
    }
    fields |= {"stop": request.get("stop")} if capabilities.stop_sequences == 0 and request.get("stop") else {}
    if not capabilities.parallel_tool_calls and request.get("parallel_tool_calls") is not None:
        fields["parallel_tool_calls"] = request["parallel_tool_calls"]
    for key, value in [*unsampled(request, _SAMPLING, ranges), *fields.items()]:
        yield f"$.{key}", f"{value!r:.60} for {request.get('model')}"


@_by_model(
    "refused", fix="ask for JSON in the prompt", source="developers.openai.com/api/docs/guides/structured-outputs"
)
def structured_output_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """GPT-3.5, GPT-4 and audio models accept no schema of the response."""
    for at, response_format in one_object(request, "response_format") if not capabilities.structured_output else ():
        if response_format.get("type") == "json_schema":
            yield at, f"a schema for {request.get('model')}"


@_by_model(
    "refused",
    fix='set "reasoning_effort": "none", or use the Responses API',
    source="openai/openai-openapi#541, charmbracelet/crush#2913, GEMISIS/leviath#333",
)
def no_effort_with_functions(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """From GPT-5.4 on, models accept function tools only without reasoning_effort, or with `none`."""
    effort = request.get("reasoning_effort")
    functions = (tool for _, tool in objects(request, "tools") if tool.get("type") == "function")
    if effort not in (None, "none") and not capabilities.functions_with_effort and any(functions):
        yield "$.reasoning_effort", f"{effort!r:.60} with functions"


RULES.leave_out(
    "fields-accepted-by-host",
    "fields-known-to-host",
    "field-dependencies-are-met",
    "no-conflicting-fields",
    "chosen-tools-are-defined",
    "settings-supported",
    "structured-output-supported",
    "no-effort-with-functions",
    "numbers-are-in-range",
    "metadata-limits",
    "json-mode-mentions-json",
)
