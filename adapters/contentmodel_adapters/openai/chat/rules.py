"""Requests that Chat Completions refuses, ignores or answers badly.

Many hosts have this API, and few are as strict as OpenAI. A rule that only OpenAI enforces applies only if the
model's name is one of OpenAI's. A rule for some of OpenAI's models applies only to these.
"""

from __future__ import annotations

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
)
from contentmodel_adapters.common.rules import (
    bad_base64,
    call_ids,
    declare_pairs,
    declares,
    declares_by_model,
    is_object_text,
    out_of_range,
    result_id,
    table,
)
from contentmodel_adapters.openai.chat.hosts import (
    API,
    DIALECTS,
    PLATFORM,
    SEEN,
    WITH_DEVELOPER,
    Dialect,
    has_tool,
    names_model,
    own_fields,
    required_reasoning,
    thinks_in,
)
from contentmodel_adapters.openai.rules import (
    CUSTOM_TOOLS,
    MODELS,
    PENALTIES,
    RANGES,
    STOPS,
    Found,
    Schemas,
    beyond_limits,
    declare_schemas,
    is_unread_image,
    media_type_in,
    openai_table,
    repeated,
    unsupported,
    without_json,
)

CAPABILITIES = openai_table(API)
"""OpenAI's models, the newest first."""
RULES = Rules(API, CAPABILITIES)
CALL_IDS = IdentifierRule(".", 40)
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_-]", 64)
REFUSED_IN_AUTHORS = r"\s<|\\/>"
AUTHORS = IdentifierRule(f"[^{REFUSED_IN_AUTHORS}]", 64)

_SDK = "openai/types/chat/completion_create_params.py of openai 3.52.0"
_TYPES = "openai/types/chat/*_param.py of openai 3.52.0"


_rule = declares(RULES, models=MODELS, seen="2026-11-21")
_by_model = declares_by_model(RULES, seen="2026-11-22")


chat.declare_model(RULES, "chain-ml/council#45; seen 2026-11-22", fix="set model in the request, or pass model=")


@_rule("refused", fix="use system, developer, user, assistant or tool", source=_TYPES)
def roles_are_known(request: dict[str, Any]) -> Iterator[Broken]:
    """The role of a message must be developer, system, user, assistant, tool or function."""
    for at, message in objects(request, "messages"):
        role = message.get("role")
        if not isinstance(role, str) or role not in WITH_DEVELOPER:
            yield f"{at}.role", f"{role!r:.60}"


@_by_model("refused", fix="move it into the user message", source="janhq/jan#4392, pydantic/pydantic-ai#974")
def instructions_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """o1-mini and o1-preview accept neither system nor developer messages."""
    for at, message in objects(request, "messages") if not capabilities.instructions else ():
        if message.get("role") in ("system", "developer"):
            yield f"{at}.role", message["role"]


ALTERNATIVES = ("tool_calls", "function_call", "refusal", "audio")
"""The fields of an assistant message without which it must have content."""


@_rule("refused", fix="set content, at least to an empty string", source="langchain-ai/langchainjs#4153")
def messages_have_content(request: dict[str, Any]) -> Iterator[Broken]:
    """A message must have content. Optional for assistant messages with calls, a refusal or audio."""
    for at, message in objects(request, "messages"):
        alternatives = ALTERNATIVES if message.get("role") == "assistant" else ()
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
        yield from repeated(call_ids(message, at), set())
        yield from repeated(result_id(message, at), answered)


declare_pairs(_rule, calls="agno-agi/agno#4345", results="smarter-sh/smarter#264, qwersyk/Newelle#425")


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


def _formats(request: dict[str, Any]) -> Found:
    return one_object(request, "response_format")


def _functions(parent: dict[str, Any], key: str, at: str = "$") -> Found:
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


AUDIO_FORMATS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
"""The formats of audio that a part may have, with their media types. Only some models take audio."""


@_rule(
    "refused", fix="convert it to a supported type", source=f"openclaw/openclaw#102354, acoyfellow/my-ax#89; {_TYPES}"
)
def media_types_supported(request: dict[str, Any]) -> Iterator[Broken]:
    """Images in data URLs must be PNG, JPEG, GIF or WebP; audio must be wav or mp3."""
    for at, part, _ in _parts(request):
        for path, image in one_object(part, "image_url", at):
            if is_unread_image(image.get("url")):
                yield f"{path}.url", media_type_in(image["url"])
        for path, audio in one_object(part, "input_audio", at):
            if audio.get("format") not in AUDIO_FORMATS:
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


STREAMED_AUDIO = "pcm16"
"""The only format of audio in a stream."""


@_rule("refused", fix="set voice and format in audio", source=f"Agent-Field/agentfield#584; {_TYPES}")
def audio_output_has_format(request: dict[str, Any]) -> Iterator[Broken]:
    """A request for audio must set `audio`; in a stream, its format must be pcm16."""
    audio = request.get("audio")
    if _requests_audio(request) and not isinstance(audio, dict):
        yield "$.audio", "missing, but audio is one of the modalities"
    if isinstance(audio, dict) and request.get("stream") is True and audio.get("format") != STREAMED_AUDIO:
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
    yield from repeated(((at, name) for at, name in named if isinstance(name, str)), set())


@_rule("refused", fix="define the tool, or choose another", source=_SDK)
def chosen_tools_are_defined(request: dict[str, Any]) -> Iterator[Broken]:
    """A tool that tool_choice forces the model to call must be one of the tools."""
    defined = [function.get("name") for _, function in _functions(request, "tools")]
    for at, choice in one_object(request, "tool_choice"):
        for path, function in [*one_object(choice, "function", at), *one_object(choice, "custom", at)]:
            if defined and function.get("name") not in defined:
                yield f"{path}.name", f"{function.get('name')!r:.80} is not among the tools"


declare_schemas(RULES, Schemas(lambda request: _functions(request, "tools"), _formats, "json_schema"))


@_rule("refused", fix="write JSON in a message, or use a json_schema", source="errornotes.dev, JSON mode")
def json_mode_mentions_json(request: dict[str, Any]) -> Iterator[Broken]:
    """A request for a JSON object must contain the word JSON in its messages."""
    return without_json(_formats(request), _texts(request))


def _texts(request: dict[str, Any]) -> Iterator[Any]:
    yield from (message.get("content") for _, message in objects(request, "messages"))
    yield from (part.get("text") for _, part, _ in _parts(request))


_AT_LEAST_ONE = dict.fromkeys(("n", "max_tokens", "max_completion_tokens"), (1, float("inf")))


@_rule("refused", fix="use a value within the limits", source=f"OpenBMB/ChatDev#446, {_SDK}")
def numbers_are_in_range(request: dict[str, Any]) -> Iterator[Broken]:
    """temperature must be 0 to 2, top_p 0 to 1, penalties -2 to 2, top_logprobs 0 to 20; n and max_tokens 1 or more."""
    yield from out_of_range(request, {**RANGES, **PENALTIES, **_AT_LEAST_ONE})


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
    for at, items, least, most in [*limits, ("$.stop", request.get("stop"), 0, STOPS), *calls]:
        if isinstance(items, list) and not least <= len(items) <= most:
            yield at, f"{len(items)} items"


@_rule("refused", fix="shorten or remove it", source="shared_params/metadata.py of openai 3.52.0")
def metadata_limits(request: dict[str, Any]) -> Iterator[Broken]:
    """Metadata must have at most 16 keys of at most 64 characters, with strings of at most 512."""
    return beyond_limits(table(request, "metadata"))


_NEEDS = {"tool_choice": "tools", "parallel_tool_calls": "tools", "stream_options": "stream"}
_NEEDS["top_logprobs"] = "logprobs"


@_rule("refused", fix="send both or neither", source=f"openai/swarm#30, BerriAI/litellm#5803; {_SDK}")
def field_dependencies_are_met(request: dict[str, Any]) -> Iterator[Broken]:
    """tool_choice and parallel_tool_calls require tools, stream_options a stream, and top_logprobs logprobs."""
    for key, needed in _NEEDS.items():
        if request.get(key) is not None and not request.get(needed):
            yield f"$.{key}", f"{key} without {needed}"


EXCLUDED = {"tools": "tools", "logprobs": "options.logprobs", "max_completion_tokens": "options.max_output_tokens"}
"""The fields that exclude a prediction, with their attributes. So do audio, and more than one choice."""


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
        excluded = [key for key in (*EXCLUDED, "audio") if request.get(key)]
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
    rows = (row for dialect in DIALECTS.values() for row in dialect.restrictions)
    sources = dict.fromkeys(row.source for row in rows if row.severity == severity)
    return f"{'; '.join(sources)}; seen {SEEN}"


@RULES.by_host(
    "refused",
    fix="send the reasoning of the answer back, or an empty text",
    source="api-docs.deepseek.com/guides/thinking_mode; anomalyco/opencode#16318, Lapis0x0/obsidian-yolo#243; "
    "seen 2026-11-23",
)
def calls_have_reasoning(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """At some hosts, a message with calls must have its reasoning while the model thinks."""
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
        unknown = PLATFORM - dialect.takes
        yield from _named([name for name in request if name in unknown], request, dialect)


@RULES.by_host("ignored", fix="rename it", source="the documentation of the host; seen 2026-11-23")
def limit_has_name_of_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The limit of output tokens must be in the host's field, which is max_tokens at some hosts."""
    if host.dialect and host.dialect.limit == "max_tokens" and request.get("max_completion_tokens") is not None:
        yield "$.max_completion_tokens", f"max_completion_tokens at {host.dialect.name}"


@RULES.by_host("refused", fix="remove it, or use a value that the host accepts", source=_restricted_by("refused"))
def fields_accepted_by_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The host must accept each field and its value. Some refuse unknown fields, or settings while a model thinks.

    The row of a host has the fields that it accepts, and its restrictions.
    """
    dialect: Dialect | None = host.dialect
    if dialect is None:
        return
    yield from _restricted("refused", request, dialect)
    if dialect.fields is not None:
        accepted = dialect.fields | own_fields(dialect)
        yield from _named([name for name in request if name not in accepted], request, dialect)


@RULES.by_host("ignored", fix="remove it", source=_restricted_by("ignored"))
def fields_read_by_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The host must read each field. Some hosts ignore settings, always or while a model thinks."""
    return iter(()) if host.dialect is None else _restricted("ignored", request, host.dialect)


def _restricted(severity: Severity, request: dict[str, Any], dialect: Dialect) -> Iterator[Broken]:
    """Yield the fields with values that restrictions of the host exclude."""
    thinks = thinks_in(request, dialect)
    for restriction in dialect.restrictions:
        is_model = restriction.models is None or names_model(request, restriction.models)
        if restriction.severity != severity or not is_model or restriction.thinking not in (None, thinks):
            continue
        for field, accepted in restriction.fields.items():
            for at, value in _values(request, field):
                if value is not None and value not in accepted:
                    yield at, f"{value!r:.60} at {dialect.name}"


def _named(names: Iterable[str], request: dict[str, Any], dialect: Dialect) -> Iterator[Broken]:
    """Yield the fields of a request that have these names and a value."""
    for name in names:
        if request[name] is not None:
            yield child_path("$", name), f"{request[name]!r:.60} at {dialect.name}"


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
    return unsupported(request, capabilities, "$.reasoning_effort", request.get("reasoning_effort"))


@_by_model(
    "refused",
    fix='set "reasoning_effort": "none", or use the Responses API',
    source="openai/openai-openapi#541, charmbracelet/crush#2913, GEMISIS/leviath#333",
)
def no_effort_with_functions(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """From GPT-5.4 on, models accept function tools only without reasoning_effort, or with `none`."""
    effort = request.get("reasoning_effort")
    if effort in (None, "none") or capabilities.functions_with_effort:
        return
    if any(tool.get("type") == "function" for _, tool in objects(request, "tools")):
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
