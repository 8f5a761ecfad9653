"""The hosts of generateContent, the requests that it refuses, ignores or answers badly, and capabilities of models.

The models are in google/models.py. Names are read in both spellings, `functionCall` and `function_call`. The model and
the host are in the URL, not in the payload. A rule of some models is checked only if the caller names the model; the
rule of a host only if the policy `dialect` names it. In a request with cachedContent, the cached
contents precede its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from contentmodel.authoring import (
    Broken,
    Capabilities,
    CapabilityTable,
    Host,
    Rules,
    camel_name,
    child_path,
    makers,
    one_object,
)
from contentmodel.authoring import objects as _objects
from contentmodel.content.media_types import is_media_type
from contentmodel_adapters.common.rules import (
    declares,
    declares_by_model,
    last_name,
    spelled_items,
    spelled_key,
    spelled_object,
    spelled_path,
    spelled_value,
)
from contentmodel_adapters.google import models
from contentmodel_adapters.google.generate_content.table import API
from contentmodel_adapters.google.generate_content.tools import DECLARATIONS
from contentmodel_adapters.google.shared import FUNCTION_NAME

CAPABILITIES = CapabilityTable(API, models.ROWS, newest=models.NEWEST, own=makers.NAMES["google"])


RULES = Rules("google-generate-content", CAPABILITIES)

# -- hosts ----------------------------------------------------------------------------------------------------------

# From Gemini 3 on, the Developer API runs hosted tools beside functions only if the request asks for their calls and
# results. Vertex AI runs them without, and refuses the field (types.ToolConfig of google-genai 3.4; ag2ai/ag2#3145,
# vercel/ai#14655; seen 2026-11-27).
INVOCATIONS = "includeServerSideToolInvocations"
"""The field of a tool configuration that asks for the calls and results of hosted tools."""
HOSTED = ("googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "googleMaps", "fileSearch")
"""The tools that Google runs."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A host of generateContent. `invocations`: whether it has the field `INVOCATIONS`, and requires it."""

    name: str
    invocations: bool


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (Dialect(name="gemini", invocations=True), Dialect(name="vertex", invocations=False))
}


def host_of(policies: Mapping[str, str] | None) -> Host:
    """Return the host that the policy `dialect` names. Raise ValueError if it is unknown."""
    name = (policies or {}).get("dialect")
    if name is None:
        return Host()
    if name not in DIALECTS:
        raise ValueError(f"unknown policy dialect={name}: expected {' | '.join(DIALECTS)}")
    return Host(dialect=DIALECTS[name])


# -- rules ----------------------------------------------------------------------------------------------------------

Request: TypeAlias = dict[str, Any]
Found: TypeAlias = Iterator[tuple[str, dict[str, Any]]]
Find: TypeAlias = Callable[[Request], Iterator[Broken]]

_TYPES = "google/genai/types.py of google-genai 3.4.0"
_SIGNATURES = "ai.google.dev/gemini-api/docs/thought-signatures"
_NO_BASE64 = re.compile(r"[^a-zA-Z0-9+/_=\s-]")

_ENDING_WITH_USER = r"gemini-3\.(?:5-flash-lite|[6-9]-).*"
_TWO_ROLES = r"gemini-(?:[12](?![\d-])|3-|3\.1-).*"
_SPEECH = r"gemini-[\d.]+-(?:flash|pro)-(?:preview-tts|tts-preview).*"
_MEMBERS = ["text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"]
_MEMBERS += ["codeExecutionResult", "toolCall", "toolResponse"]
_LATER_ROLES = ["system", "system_1", "assistant", "developer", "context", "user_context"]
_SETTINGS = ["temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "seed", "logprobs"]
_SETTINGS += ["presencePenalty", "frequencyPenalty", "responseMimeType", "responseSchema", "responseJsonSchema"]
_SETTINGS += ["responseModalities", "responseLogprobs", "thinkingConfig", "speechConfig"]
_ANSWER_TYPES = ["text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum"]
_LIMITS: dict[str, tuple[float, float]] = {
    **{camel_name(name): models.ALL_SAMPLED[name] for name in ("temperature", "top_p")},
    "candidateCount": (1, 8),
    **{camel_name(name): models.ALL_SAMPLED[name] for name in ("presence_penalty", "frequency_penalty")},
    "logprobs": (0, 20),
    "maxOutputTokens": (1, float("inf")),
    "topK": (0, float("inf")),
    "seed": (-(2**31), 2**31 - 1),
}
_UNKNOWN_KEYWORDS = ["$schema", "$id", "$comment", "definitions", "const", "oneOf", "allOf", "not", "if", "then"]
_UNKNOWN_KEYWORDS += ["else", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "patternProperties"]
_UNKNOWN_KEYWORDS += ["propertyNames", "prefixItems", "contains", "dependentRequired", "dependentSchemas", "examples"]


def _is(models: str, request: Request) -> bool:
    return re.fullmatch(models, last_name(request)) is not None


_rule = declares(RULES, seen="2026-11-21", name=last_name)
_by_model = declares_by_model(RULES, seen="2026-11-22")


def _short(value: Any) -> str:
    """Return a short form of a value: lists and objects may be too deep to print, and integers too long."""
    return f"{value!r:.60}" if value is None or isinstance(value, str | float | bool) else type(value).__name__


def _role(content: dict[str, Any]) -> str:
    role = content.get("role")
    return role.lower() if isinstance(role, str) else ""


def objects(parent: dict[str, Any], key: str, at: str = "$") -> Found:
    """Yield the objects in the list under a key, or the only one instead of a list, each with its path."""
    yield from _objects(parent, key, at)
    yield from one_object(parent, key, at)


def _parts(request: Request) -> Found:
    for at, content in objects(request, "contents"):
        yield from objects(content, "parts", at)


def _all_parts(request: Request) -> Found:
    """Yield the parts of the conversation and of the instructions."""
    yield from _parts(request)
    for at, instructions in spelled_object(request, "systemInstruction"):
        yield from objects(instructions, "parts", at)


def _members(content: dict[str, Any], at: str, name: str) -> Found:
    """Yield the objects of one kind in the parts of a content."""
    for path, part in objects(content, "parts", at):
        yield from spelled_object(part, name, path)


def _functions(request: Request) -> Found:
    for at, tool in objects(request, "tools"):
        yield from objects(tool, spelled_key(tool, "functionDeclarations"), at)


@_rule("refused", fix="add a part, or remove the content", source="langchain-ai/langchain-google#1393, vercel/ai#3775")
def contents_have_parts(request: Request) -> Iterator[Broken]:
    """A request must have at least one content, and every content at least one part."""
    if request.get("contents") == []:
        yield "$.contents", "no contents"
    for at, content in objects(request, "contents"):
        if content.get("parts") in (None, []):
            yield f"{at}.parts", "no parts"


@_rule("refused", fix="split or remove the part", source="router-for-me/CLIProxyAPI#1293, symfony/ai#1980")
def parts_have_one_field(request: Request) -> Iterator[Broken]:
    """A part must contain exactly one of text, media, call, response and code."""
    for at, part in _all_parts(request):
        members = [name for name in _MEMBERS if spelled_value(part, name) is not None]
        if len(members) > 1 or not {key for key, value in part.items() if value is not None} - {"thought"}:
            yield at, f"{' and '.join(members) or 'nothing'} in one part"


@_rule("refused", fix="send a string or an object", source=f"{_TYPES}, Part")
def part_values_have_valid_types(request: Request) -> Iterator[Broken]:
    """The text of a part must be a string; its media, call, response or code must be an object."""
    for at, part in _all_parts(request):
        for name in _MEMBERS:
            value, wanted = spelled_value(part, name), str if name == "text" else dict
            if value is not None and not isinstance(value, wanted):
                yield spelled_path(at, part, name), _short(value)


@_rule("refused", fix="use user or model", source=f"memex-lab/dart_agent_core#34; {_TYPES}, Content.role")
def roles_are_known(request: Request) -> Iterator[Broken]:
    """The role of a content must be user or model; up to Gemini 3.5 also function, from 3.5 on also system and more."""
    allowed = ["user", "model", "", *([] if _is(_ENDING_WITH_USER, request) else ["function"])]
    allowed += [] if _is(_TWO_ROLES, request) else _LATER_ROLES
    for at, content in objects(request, "contents"):
        if _role(content) not in allowed:
            yield f"{at}.role", _short(content["role"])


@_rule("refused", fix="end with a user content", source="LibreChat-AI/agents#323, microsoft/semantic-kernel#13288")
def requests_end_with_user_content(request: Request) -> Iterator[Broken]:
    """The only content must not have the role model; for Gemini 3.5 Flash-Lite, 3.6 and later, nor the last one."""
    contents = [] if spelled_value(request, "cachedContent") else list(objects(request, "contents"))
    for at, content in contents[-1:] if len(contents) == 1 or _is(_ENDING_WITH_USER, request) else ():
        if _role(content) == "model" and not any(_members(content, at, "functionResponse")):
            yield f"{at}.role", "the last content has the role model"


class _Step(NamedTuple):
    """A content: its path, and the numbers of its function calls and responses."""

    path: str
    calls: int
    responses: int


def _steps(request: Request) -> Iterator[_Step]:
    for at, content in objects(request, "contents"):
        counts = (len(list(_members(content, at, name))) for name in ("functionCall", "functionResponse"))
        yield _Step(at, *counts)


def _pairs(request: Request) -> Iterator[tuple[_Step | None, _Step]]:
    """Yield each content of calls with the next content, and each content of responses without calls before it."""
    pending: _Step | None = None
    for step in _steps(request):
        if step.responses or (pending and not step.calls):
            yield pending, step
            pending = None
        if step.calls:
            pending = step if pending is None else pending._replace(calls=pending.calls + step.calls)


@_rule("refused", fix="add a user content before it", source="google-gemini/gemini-cli#11814")
def calls_are_not_first(request: Request) -> Iterator[Broken]:
    """A conversation must not start with a function call."""
    for step in list(_steps(request))[:1]:
        if step.calls and not spelled_value(request, "cachedContent"):
            yield step.path, "the first content calls a function"


@_rule("refused", fix="answer each call once, all in one content", source="vertesia/llumiverse#620, dust-tt/dust#26268")
def calls_have_results(request: Request) -> Iterator[Broken]:
    """The content after the function calls of a turn must have as many function responses."""
    for turn, answer in _pairs(request):
        if turn and turn.calls != answer.responses:
            yield turn.path, f"{turn.calls} calls and {answer.responses} responses after them"


@_rule("refused", fix="move it after its call", source="langchain-ai/langchain#27799, google-gemini/gemini-cli#26691")
def responses_follow_their_calls(request: Request) -> Iterator[Broken]:
    """A content with function responses must directly follow function calls."""
    cached = [at for at, _ in objects(request, "contents")][:1] if spelled_value(request, "cachedContent") else []
    for turn, answer in _pairs(request):
        if not turn and answer.path not in cached:
            yield answer.path, "no function call before it"


@_rule("harmful", fix="move it after them", source="NousResearch/hermes-agent#79791, vellum-ai/vellum-assistant#39495")
def no_text_with_responses(request: Request) -> Iterator[Broken]:
    """A content with function responses must not contain text."""
    for at, content in objects(request, "contents"):
        mixed = any(_members(content, at, "functionResponse"))
        for path, part in objects(content, "parts", at) if mixed else ():
            if isinstance(part.get("text"), str) and part["text"].strip():
                yield path, "text with a function response"


@_rule("refused", fix='set the name, use {"output": ...}', source="vercel/ai#3589, AstrBotDevs/AstrBot#7216 and #1228")
def calls_and_responses_are_complete(request: Request) -> Iterator[Broken]:
    """The args of a call and the response of a functionResponse must be objects, and it must have a name."""
    for at, part in _parts(request):
        for name, key in (("functionCall", "args"), ("functionResponse", "response")):
            for path, item in spelled_object(part, name, at):
                if not isinstance(item.get(key), dict | None):
                    yield f"{path}.{key}", _short(item[key])
                if name == "functionResponse" and item.get("name") in (None, ""):
                    yield f"{path}.name", "no name"


@_by_model("refused", fix='send it, or "skip_thought_signature_validator"', source=_SIGNATURES)
def calls_are_signed(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """For Gemini 3, the first function call of each step since the last user message must have its thoughtSignature."""
    before = 1
    for at, content in _current_turn(request) if capabilities.signed_calls else ():
        calls = [
            (w, part)
            for w, part in objects(content, "parts", at)
            if isinstance(spelled_value(part, "functionCall"), dict)
        ]
        for path, part in calls[:1] if not before else ():
            if not spelled_value(part, "thoughtSignature"):
                yield spelled_path(path, part, "thoughtSignature"), "no signature"
        before = len(calls)


def _current_turn(request: Request) -> list[tuple[str, dict[str, Any]]]:
    """Return the contents from the last user message on; function responses are no message. [] if there is none."""
    contents, start = list(objects(request, "contents")), None
    for index, (at, content) in enumerate(contents):
        is_message = any(spelled_value(part, "functionResponse") is None for _, part in objects(content, "parts", at))
        start = index if is_message and _role(content) != "model" else start
    return [] if start is None else contents[start:]


@_by_model("refused", fix="move it after the responses", source="google-gemini/gemini-cli#19436")
def response_media_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Before Gemini 3, function responses must not have parts."""
    is_supported = capabilities.media_in_results or "computer-use" in last_name(request)
    for at, part in _parts(request) if not is_supported else ():
        for path, response in spelled_object(part, "functionResponse", at):
            if response.get("parts"):
                yield f"{path}.parts", f"parts for {last_name(request)}"


@_rule("refused", fix="send plain base64", source="google-gemini/gemini-cli#8003, danny-avila/LibreChat#6593")
def data_is_base64(request: Request) -> Iterator[Broken]:
    """The data of inlineData and a thoughtSignature must be base64, in either alphabet."""
    for at, part in _parts(request):
        media = ((path, blob, "data") for path, blob in spelled_object(part, "inlineData", at))
        for path, holder, name in [(at, part, "thoughtSignature"), *media]:
            text = spelled_value(holder, name)
            if isinstance(text, str) and _NO_BASE64.search(text):
                yield spelled_path(path, holder, name), f"{text[:30]!r}"


@_rule("refused", fix='use a full type, as "image/png"', source=f"charmbracelet/crush#995; {_TYPES}, Blob.mime_type")
def media_has_mime_type(request: Request) -> Iterator[Broken]:
    """The mimeType must have the form type/subtype. It is required in inlineData, optional in fileData."""
    for at, part in _parts(request):
        files = [(w, f) for w, f in spelled_object(part, "fileData", at) if spelled_value(f, "mimeType")]
        for path, media in [*spelled_object(part, "inlineData", at), *files]:
            kind = spelled_value(media, "mimeType")
            if not isinstance(kind, str) or not is_media_type(kind):
                yield spelled_path(path, media, "mimeType"), _short(kind)


@_rule("refused", fix="rename it everywhere", source=f"kaitranntt/ccs#219, cline/cline#7339; {_TYPES}")
def tool_names_match_pattern(request: Request) -> Iterator[Broken]:
    """A function name must have up to 128 letters, digits and _ . : - and start with a letter or underscore."""
    for at, function in _functions(request):
        name = function.get("name")
        if name is None or (isinstance(name, str) and not FUNCTION_NAME.fullmatch(name)):
            yield f"{at}.name", _short(name)


@_rule("refused", fix="rename or remove one of them", source="rikkahub/rikkahub#1311, watt-mind/coach#280")
def names_and_ids_are_unique(request: Request) -> Iterator[Broken]:
    """No two functions may have the same name, and no two function calls of a content the same id."""
    yield from _repeated(_functions(request), "name")
    for at, content in objects(request, "contents"):
        yield from _repeated(_members(content, at, "functionCall"), "id")


def _repeated(items: Found, key: str) -> Iterator[Broken]:
    """Yield the paths where a text under a key occurs again."""
    seen: set[str] = set()
    for at, item in items:
        value = item.get(key)
        if isinstance(value, str) and value in seen:
            yield f"{at}.{key}", f"duplicate {_short(value)}"
        seen |= {value} if isinstance(value, str) else set()


@_rule("refused", fix="remove some of them", source="google-gemini/gemini-cli#19083 and #25440")
def function_limit(request: Request) -> Iterator[Broken]:
    """A tool must have at most 512 functions."""
    for at, tool in objects(request, "tools"):
        declared = spelled_value(tool, "functionDeclarations")
        if isinstance(declared, list) and len(declared) > 512:
            yield spelled_path(at, tool, "functionDeclarations"), f"{len(declared)} functions"


@_rule("harmful", fix="put all functions into one tool", source="tmc/langchaingo#1245, seen 2026-11-22")
def functions_in_one_tool(request: Request) -> Iterator[Broken]:
    """Only one tool should have functionDeclarations: the API may read only the first of several."""
    holders = [(at, tool) for at, tool in objects(request, "tools") if spelled_value(tool, "functionDeclarations")]
    for at, tool in holders[1:]:
        yield spelled_path(at, tool, "functionDeclarations"), "functions in a second tool"


@_rule("refused", fix="define it, and use ANY or VALIDATED", source=f"{_TYPES}, FunctionCallingConfig and its modes")
def allowed_functions_are_defined(request: Request) -> Iterator[Broken]:
    """allowedFunctionNames requires the mode ANY or VALIDATED, and must contain only names of defined functions."""
    defined = {name for _, function in _functions(request) if isinstance(name := function.get("name"), str)}
    for path, config in spelled_object(request, "toolConfig"):
        for at, calling in spelled_object(config, "functionCallingConfig", path):
            allowed, mode = list(spelled_items(calling, "allowedFunctionNames", at)), calling.get("mode")
            if allowed and (mode is None or (isinstance(mode, str) and mode.upper() not in ("ANY", "VALIDATED"))):
                yield spelled_path(at, calling, "allowedFunctionNames"), f"with the mode {_short(mode)}"
            strays = ((path, name) for path, name in allowed if isinstance(name, str) and name not in defined)
            yield from ((path, f"{_short(name)} is not defined") for path, name in (strays if defined else ()))


def _is_used(tool: dict[str, Any], name: str) -> bool:
    value = spelled_value(tool, name)
    return value is not None and (name != "functionDeclarations" or bool(value))


@_by_model("refused", fix="remove one", source="symfony/ai#803 and #1777, BerriAI/litellm#26682")
def tool_combinations_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Before Gemini 3, hosted tools cannot be combined with functions, nor JSON output with any tools."""
    tools = [] if capabilities.hosted_with_functions else list(objects(request, "tools"))
    hosted = [(at, tool, name) for at, tool in tools for name in HOSTED if _is_used(tool, name)]
    has_functions = any(_is_used(tool, "functionDeclarations") for _, tool in tools)
    yield from ((spelled_path(*used), f"{used[2]} with functions") for used in (hosted if has_functions else ()))
    for at, config in spelled_object(request, "generationConfig") if has_functions or hosted else ():
        if spelled_value(config, "responseMimeType") == "application/json":
            yield spelled_path(at, config, "responseMimeType"), "JSON with tools"


@_rule("refused", models="gemini-[2-9].*", fix="use googleSearch", source="spring-projects/spring-ai#2185")
def search_tool_supported(request: Request) -> Iterator[Broken]:
    """From Gemini 2 on, googleSearch replaces googleSearchRetrieval."""
    for at, tool in objects(request, "tools"):
        if _is_used(tool, "googleSearchRetrieval"):
            yield spelled_path(at, tool, "googleSearchRetrieval"), f"for {last_name(request)}"


@_rule("refused", fix="put it into the cache", source="BerriAI/litellm#17304, langchain-ai/langchain-google#1618")
def no_tools_with_cached_content(request: Request) -> Iterator[Broken]:
    """A request with cachedContent must not have systemInstruction, tools or toolConfig."""
    for name in ("systemInstruction", "tools", "toolConfig"):
        if spelled_value(request, "cachedContent") and spelled_value(request, name):
            yield spelled_path("$", request, name), "with cachedContent"


@_rule("refused", fix="remove one of them", source=f"{_TYPES}; flachesis/gemini-rust#64; help.apiyi.com/en?p=7834")
def no_conflicting_fields(request: Request) -> Iterator[Broken]:
    """A schema must be an OpenAPI or a JSON Schema, not both; thinking must have a level or a budget, not both."""
    configs = spelled_object(request, "generationConfig")
    pairs = [(config, "responseSchema", "responseJsonSchema") for config in configs]
    pairs += [(thinking, "thinkingLevel", "thinkingBudget") for thinking in _thinking(request)]
    for function in _functions(request):
        pairs += [(function, "parameters", "parametersJsonSchema"), (function, "response", "responseJsonSchema")]
    for (at, holder), name, other in pairs:
        if spelled_value(holder, name) is not None and spelled_value(holder, other) is not None:
            yield spelled_path(at, holder, name), f"with {other}"


def _thinking(request: Request) -> Found:
    for at, config in spelled_object(request, "generationConfig"):
        yield from spelled_object(config, "thinkingConfig", at)


@_rule("refused", fix="use application/json", source=f"ai.google.dev/api/generate-content; {_TYPES}, response_schema")
def response_type_supported(request: Request) -> Iterator[Broken]:
    """responseMimeType must be a known type; with a schema, it must be application/json or text/x.enum."""
    for at, config in spelled_object(request, "generationConfig"):
        kind = spelled_value(config, "responseMimeType")
        if kind not in [None, "", *_ANSWER_TYPES]:
            yield spelled_path(at, config, "responseMimeType"), _short(kind)
        for name in ("responseSchema", "responseJsonSchema"):
            if spelled_value(config, name) is not None and kind not in ("application/json", "text/x.enum"):
                yield spelled_path(at, config, name), f"a schema with the type {_short(kind)}"


@_rule("refused", fix="move it where it belongs", source="steipete/summarize#209, nashsu/llm_wiki#49, TanStack/ai#459")
def fields_in_their_objects(request: Request) -> Iterator[Broken]:
    """Settings of the answer belong in generationConfig, and a thoughtSignature in the part of its functionCall."""
    for name in [name for name in _SETTINGS if spelled_value(request, name) is not None]:
        yield spelled_path("$", request, name), "outside generationConfig"
    for at, part in _parts(request):
        for path, call in spelled_object(part, "functionCall", at):
            if spelled_value(call, "thoughtSignature") is not None:
                yield spelled_path(path, call, "thoughtSignature"), "a signature inside functionCall"


def _numbers(parent: dict[str, Any], at: str, limits: dict[str, tuple[float, float]]) -> Iterator[Broken]:
    for name, (least, most) in limits.items():
        value = spelled_value(parent, name)
        if isinstance(value, int | float) and not isinstance(value, bool) and not least <= value <= most:
            yield spelled_path(at, parent, name), f"below {least}" if value < least else f"above {most}"


@_rule("refused", fix="use a valid value", source=f"continuedev/continue#7849, theneuralbase.com/gemini-api; {_TYPES}")
def numbers_are_in_range(request: Request) -> Iterator[Broken]:
    """temperature is 0 to 2, topP 0 to 1, penalties -2 to 2, candidateCount 1 to 8; 5 stopSequences; seed int32."""
    for at, config in spelled_object(request, "generationConfig"):
        yield from _numbers(config, at, _LIMITS)
        stops = spelled_value(config, "stopSequences")
        most = CAPABILITIES.of(last_name(request)).capabilities.stop_sequences or models.STOPS
        if isinstance(stops, list) and len(stops) > most:
            yield spelled_path(at, config, "stopSequences"), f"{len(stops)} sequences"


@_rule("refused", fix="use a valid value", source=f"{_TYPES}, VideoMetadata.fps")
def frame_rates_are_in_range(request: Request) -> Iterator[Broken]:
    """The fps of a video must be more than 0 and at most 24."""
    for at, part in _parts(request):
        for path, cut in spelled_object(part, "videoMetadata", at):
            yield from _numbers(cut, path, {"fps": (5e-324, 24)})


@_rule("refused", models="gemma-3.*", fix="put it in the text", source="0xPlaygrounds/rig#788, lobehub/lobehub#7128")
def gemma_has_no_instructions_or_functions(request: Request) -> Iterator[Broken]:
    """Gemma 3 accepts neither systemInstruction nor functions."""
    if spelled_value(request, "systemInstruction"):
        yield spelled_path("$", request, "systemInstruction"), f"for {last_name(request)}"
    for at, tool in objects(request, "tools"):
        if _is_used(tool, "functionDeclarations"):
            yield spelled_path(at, tool, "functionDeclarations"), f"for {last_name(request)}"


@_rule("refused", models=_SPEECH, fix="request AUDIO", source="BerriAI/litellm#11118, TheKentuckian/robot_comic#122")
def speech_models_output_audio(request: Request) -> Iterator[Broken]:
    """Speech models require responseModalities AUDIO, a single content and no systemInstruction."""
    at, config = next(spelled_object(request, "generationConfig"), ("$.generationConfig", {}))
    if spelled_value(config, "responseModalities") not in (["AUDIO"], ["audio"]):
        yield spelled_path(at, config, "responseModalities"), "not only AUDIO"
    if spelled_value(request, "systemInstruction"):
        yield spelled_path("$", request, "systemInstruction"), f"for {last_name(request)}"
    yield from ((path, "a second content") for path, _ in list(objects(request, "contents"))[1:])


@_by_model("refused", fix="use another", source="ai.google.dev/gemini-api/docs/thinking; RooCodeInc/Roo-Code#10700")
def thinking_mode_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Before Gemini 3, models accept no thinkingLevel. Each model accepts only its own levels and budgets."""
    for at, thinking in _thinking(request):
        level, budget = spelled_value(thinking, "thinkingLevel"), spelled_value(thinking, "thinkingBudget")
        levels = capabilities.efforts
        is_known = levels is None or (isinstance(level, str) and level.lower() in (*levels, _NO_LEVEL))
        if level is not None and not is_known:
            yield spelled_path(at, thinking, "thinkingLevel"), f"{_short(level)} for {last_name(request)}"
        if isinstance(budget, int | float) and not _takes_budget(capabilities, budget):
            yield spelled_path(at, thinking, "thinkingBudget"), f"out of the range of {last_name(request)}"


_NO_LEVEL = "thinking_level_unspecified"


def _takes_budget(capabilities: Capabilities, budget: float) -> bool:
    if budget == 0:
        return capabilities.thinks_by("disabled") or capabilities.thinking == ()
    least, most = capabilities.budget or (float("-inf"), float("inf"))
    return budget == -1 or least <= budget <= most


@_by_model("refused", fix="remove it", source="docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini")
def answer_settings_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Gemini 3 returns one candidate. Gemini 3.5 Flash-Lite, 3.6 and later accept no presence and frequency penalty."""
    for at, config in spelled_object(request, "generationConfig") if not capabilities.several_choices else ():
        yield from _numbers(config, at, {"candidateCount": (1, 1)})
    names = {"presencePenalty": "presence_penalty", "frequencyPenalty": "frequency_penalty"}
    for at, config in spelled_object(request, "generationConfig") if capabilities.sampling is not None else ():
        for name in [name for name, setting in names.items() if setting not in (capabilities.sampling or {})]:
            if spelled_value(config, name) not in (None, 0):
                yield spelled_path(at, config, name), f"{_short(spelled_value(config, name))} for {last_name(request)}"


def _openapi_schemas(request: Request) -> Found:
    """Yield the OpenAPI schemas and all their subschemas, down to paths of 2,000 characters."""
    pending: list[tuple[str, dict[str, Any]]] = []
    for at, function in _functions(request):
        pending += [*spelled_object(function, "parameters", at), *spelled_object(function, "response", at)]
    for at, config in spelled_object(request, "generationConfig"):
        pending += spelled_object(config, "responseSchema", at)
    pending.reverse()
    while pending:
        at, schema = pending.pop()
        yield at, schema
        pending += reversed(list(_children(at, schema)) if len(at) < 2000 else [])


def _children(at: str, schema: dict[str, Any]) -> Found:
    for path, properties in one_object(schema, "properties", at):
        for name in properties:
            yield from one_object(properties, name, path)
    yield from one_object(schema, "items", at)
    yield from objects(schema, spelled_key(schema, "anyOf"), at)


@_rule("refused", fix="use a JsonSchema field", source="pizza-bot-app/pizza-bot#62, zed-industries/zed#44875")
def openapi_schemas_use_known_keywords(request: Request) -> Iterator[Broken]:
    """parameters, response and responseSchema must have one type, and no const, oneOf, allOf, exclusive bounds etc."""
    for at, schema in _openapi_schemas(request):
        yield from ((child_path(at, key), f"{key} in a schema") for key in _UNKNOWN_KEYWORDS if key in schema)
        if isinstance(schema.get("type"), list):
            yield f"{at}.type", "a list of types"


@_rule("refused", fix="add it", source="TokenRhythm/opensquilla#1263, cline/cline#7339, moltis-org/moltis#849")
def openapi_schemas_are_complete(request: Request) -> Iterator[Broken]:
    """In parameters, response and responseSchema, arrays must have items, and required properties must be defined."""
    for at, schema in _openapi_schemas(request):
        kind, defined = schema.get("type"), schema.get("properties") or {}
        if isinstance(kind, str) and kind.upper() == "ARRAY" and schema.get("items") is None:
            yield at, "an array without items"
        for path, name in spelled_items(schema, "required", at) if isinstance(defined, dict) else ():
            if isinstance(name, str) and name not in defined:
                yield path, f"{_short(name)} is not among the properties"


@_rule("refused", fix="use a string", source="microsoft/azure-devops-mcp#145, sbroenne/mcp-server-excel#607")
def openapi_enums_are_strings(request: Request) -> Iterator[Broken]:
    """In parameters, response and responseSchema, enum values must be non-empty strings."""
    for at, schema in _openapi_schemas(request):
        values = spelled_items(schema, "enum", at)
        yield from ((path, _short(value)) for path, value in values if not isinstance(value, str) or not value)


makers.declare_models(RULES, "ai.google.dev/gemini-api/docs/models; seen 2026-11-29", serves={"google"})


@RULES.by_host(
    "refused",
    fix="set it for the Developer API only",
    source="types.ToolConfig of google-genai 3.4; ag2ai/ag2#3145, vercel/ai#14655; seen 2026-11-27",
)
def hosted_tools_are_reported(request: Request, host: Host) -> Iterator[Broken]:
    """The Developer API runs hosted tools beside functions only with includeServerSideToolInvocations.

    Vertex AI refuses the field.
    """
    dialect: Dialect | None = host.dialect
    if dialect is None:
        return
    configs = list(spelled_object(request, "toolConfig"))
    for at, config in configs if not dialect.invocations else ():
        if spelled_value(config, INVOCATIONS) is not None:
            yield spelled_path(at, config, INVOCATIONS), f"at {dialect.name}"
    is_set = any(spelled_value(config, INVOCATIONS) is True for _, config in configs)
    runs_both = CAPABILITIES.of(last_name(request)).capabilities.hosted_with_functions
    if dialect.invocations and not is_set and runs_both:
        tools = list(_objects(request, "tools"))
        mixed = any(spelled_value(tool, DECLARATIONS) for _, tool in tools)
        used = [(at, tool, name) for at, tool in tools for name in HOSTED if spelled_value(tool, name) is not None]
        yield from ((spelled_path(*one), f"{one[2]} with functions") for one in used if mixed)


RULES.leave_out(
    "numbers-are-in-range",
    "thinking-mode-supported",
    "answer-settings-supported",
    "allowed-functions-are-defined",
    "tool-combinations-supported",
    "response-type-supported",
)
