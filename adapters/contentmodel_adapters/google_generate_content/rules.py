"""Requests that generateContent refuses, ignores or answers badly.

Names are read in both spellings, `functionCall` and `function_call`. The model and the host are in the URL, not in the
payload. A rule of some models is checked only if the caller names the model; rules of only one host (the Developer API,
Vertex AI) are not checked. In a request with cachedContent, the cached contents precede its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from contentmodel.authoring import Broken, Capabilities, IdentifierRule, Rules, child_path, one_object
from contentmodel.authoring import objects as _objects
from contentmodel_adapters.google_generate_content.capabilities import CAPABILITIES
from contentmodel_adapters.shared.rule_helpers import (
    declares,
    declares_by_model,
    last_name,
    spelled_items,
    spelled_key,
    spelled_object,
    spelled_path,
    spelled_value,
)

RULES = Rules("google-generate-content", CAPABILITIES)
CALL_IDS = IdentifierRule(".", 64)
"""The API documents neither an alphabet nor a limit; 64 is the smallest limit of the other APIs."""
TOOL_NAMES = IdentifierRule("(?=[a-zA-Z_])[a-zA-Z0-9_.:-]", 64)
"""Error messages of the API name a limit of 64, the SDK 128: generated names follow the first, the rule the second."""

Request: TypeAlias = dict[str, Any]
Found: TypeAlias = Iterator[tuple[str, dict[str, Any]]]
Find: TypeAlias = Callable[[Request], Iterator[Broken]]

_TYPES = "google/genai/types.py of google-genai 3.4.0"
_SIGNATURES = "ai.google.dev/gemini-api/docs/thought-signatures"
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_NO_BASE64 = re.compile(r"[^a-zA-Z0-9+/_=\s-]")
_MEDIA_TYPE = re.compile(r"[^/\s]+/\S.*")

_ENDING_WITH_USER = r"gemini-3\.(?:5-flash-lite|[6-9]-).*"
_TWO_ROLES = r"gemini-(?:[12](?![\d-])|3-|3\.1-).*"
_SPEECH = r"gemini-[\d.]+-(?:flash|pro)-(?:preview-tts|tts-preview).*"
_MEMBERS = ["text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"]
_MEMBERS += ["codeExecutionResult", "toolCall", "toolResponse"]
_LATER_ROLES = ["system", "system_1", "assistant", "developer", "context", "user_context"]
_HOSTED = ["googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "googleMaps", "fileSearch"]
_SETTINGS = ["temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "seed", "logprobs"]
_SETTINGS += ["presencePenalty", "frequencyPenalty", "responseMimeType", "responseSchema", "responseJsonSchema"]
_SETTINGS += ["responseModalities", "responseLogprobs", "thinkingConfig", "speechConfig"]
_MOST_STOPS = 5
_ANSWER_TYPES = ["text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum"]
_LIMITS: dict[str, tuple[float, float]] = {"temperature": (0, 2), "topP": (0, 1), "candidateCount": (1, 8)}
_LIMITS |= {"presencePenalty": (-2, 2), "frequencyPenalty": (-2, 2), "logprobs": (0, 20)}
_LIMITS |= {"maxOutputTokens": (1, float("inf")), "topK": (0, float("inf")), "seed": (-(2**31), 2**31 - 1)}
_UNKNOWN_KEYWORDS = ["$schema", "$id", "$comment", "definitions", "const", "oneOf", "allOf", "not", "if", "then"]
_UNKNOWN_KEYWORDS += ["else", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "patternProperties"]
_UNKNOWN_KEYWORDS += ["propertyNames", "prefixItems", "contains", "dependentRequired", "dependentSchemas", "examples"]


def _is(models: str, request: Request) -> bool:
    return re.fullmatch(models, last_name(request)) is not None


_rule = declares(RULES, seen="2026-11-21", name=last_name)
_by_model = declares_by_model(RULES, seen="2026-11-22")


def _said(value: Any) -> str:
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
    for at, told in spelled_object(request, "systemInstruction"):
        yield from objects(told, "parts", at)


def _members(content: dict[str, Any], at: str, name: str) -> Found:
    """Yield the objects of one kind in the parts of a content."""
    for where, part in objects(content, "parts", at):
        yield from spelled_object(part, name, where)


def _functions(request: Request) -> Found:
    for at, tool in objects(request, "tools"):
        yield from objects(tool, spelled_key(tool, "functionDeclarations"), at)


@_rule("refused", fix="say something, or leave it out", source="langchain-ai/langchain-google#1393, vercel/ai#3775")
def contents_have_parts(request: Request) -> Iterator[Broken]:
    """A request has at least one content, and every content at least one part."""
    if request.get("contents") == []:
        yield "$.contents", "no contents"
    for at, content in objects(request, "contents"):
        if content.get("parts") in (None, []):
            yield f"{at}.parts", "no parts"


@_rule("refused", fix="make it several parts, or none", source="router-for-me/CLIProxyAPI#1293, symfony/ai#1980")
def parts_hold_one_thing(request: Request) -> Iterator[Broken]:
    """A part is a text, or media, or a call, or a response: not two of them, and not nothing."""
    for at, part in _all_parts(request):
        there = [name for name in _MEMBERS if spelled_value(part, name) is not None]
        if len(there) > 1 or not {key for key, value in part.items() if value is not None} - {"thought"}:
            yield at, f"{' and '.join(there) or 'nothing'} in one part"


@_rule("refused", fix="send what the API reads", source=f"{_TYPES}, Part")
def parts_hold_values_of_their_class(request: Request) -> Iterator[Broken]:
    """A part's text is a string, and its media, call, response or code is an object."""
    for at, part in _all_parts(request):
        for name in _MEMBERS:
            value, wanted = spelled_value(part, name), str if name == "text" else dict
            if value is not None and not isinstance(value, wanted):
                yield spelled_path(at, part, name), _said(value)


@_rule("refused", fix="say user or model", source=f"memex-lab/dart_agent_core#34; {_TYPES}, Content.role")
def roles_are_known(request: Request) -> Iterator[Broken]:
    """A content's role is user or model; Gemini before 3.5 knew function, and later ones system, assistant and more."""
    known = ["user", "model", "", *([] if _is(_ENDING_WITH_USER, request) else ["function"])]
    known += [] if _is(_TWO_ROLES, request) else _LATER_ROLES
    for at, content in objects(request, "contents"):
        if _role(content) not in known:
            yield f"{at}.role", _said(content["role"])


@_rule("refused", fix="let the user speak last", source="LibreChat-AI/agents#323, microsoft/semantic-kernel#13288")
def requests_end_with_the_user(request: Request) -> Iterator[Broken]:
    """The only content is not the model's, and to Gemini 3.5 Flash-Lite, 3.6 and later the last one is not either."""
    found = [] if spelled_value(request, "cachedContent") else list(objects(request, "contents"))
    for at, content in found[-1:] if len(found) == 1 or _is(_ENDING_WITH_USER, request) else ():
        if _role(content) == "model" and not any(_members(content, at, "functionResponse")):
            yield f"{at}.role", "the last content is the model's"


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
    waiting: _Step | None = None
    for step in _steps(request):
        if step.responses or (waiting and not step.calls):
            yield waiting, step
            waiting = None
        if step.calls:
            waiting = step if waiting is None else waiting._replace(calls=waiting.calls + step.calls)


@_rule("refused", fix="put a content of the user before it", source="google-gemini/gemini-cli#11814")
def calls_come_after_something(request: Request) -> Iterator[Broken]:
    """The conversation does not begin with a function call."""
    for step in list(_steps(request))[:1]:
        if step.calls and not spelled_value(request, "cachedContent"):
            yield step.path, "the first content calls a function"


@_rule("refused", fix="answer each call once, all in one content", source="vertesia/llumiverse#620, dust-tt/dust#26268")
def calls_are_answered(request: Request) -> Iterator[Broken]:
    """Right behind the function calls of a turn comes one content with as many function responses."""
    for turn, answer in _pairs(request):
        if turn and turn.calls != answer.responses:
            yield turn.path, f"{turn.calls} calls and {answer.responses} responses behind them"


@_rule("refused", fix="put it behind its call", source="langchain-ai/langchain#27799, google-gemini/gemini-cli#26691")
def responses_follow_their_calls(request: Request) -> Iterator[Broken]:
    """Right before a content with function responses there are function calls."""
    cached = [at for at, _ in objects(request, "contents")][:1] if spelled_value(request, "cachedContent") else []
    for turn, answer in _pairs(request):
        if not turn and answer.path not in cached:
            yield answer.path, "no function call before it"


@_rule("harmful", fix="move it behind", source="NousResearch/hermes-agent#79791, vellum-ai/vellum-assistant#39495")
def responses_stand_apart_from_text(request: Request) -> Iterator[Broken]:
    """A content with function responses holds no text."""
    for at, content in objects(request, "contents"):
        mixed = any(_members(content, at, "functionResponse"))
        for where, part in objects(content, "parts", at) if mixed else ():
            if isinstance(part.get("text"), str) and part["text"].strip():
                yield where, "text beside a function response"


@_rule("refused", fix='say the name, and {"output": ...}', source="vercel/ai#3589, AstrBotDevs/AstrBot#7216 and #1228")
def calls_and_responses_are_whole(request: Request) -> Iterator[Broken]:
    """The args of a call and the response of a response are objects, and the response has the name of its function."""
    for at, part in _parts(request):
        for name, key in (("functionCall", "args"), ("functionResponse", "response")):
            for where, item in spelled_object(part, name, at):
                if not isinstance(item.get(key), dict | None):
                    yield f"{where}.{key}", _said(item[key])
                if name == "functionResponse" and item.get("name") in (None, ""):
                    yield f"{where}.name", "no name"


@_by_model("refused", fix='send its own, or "skip_thought_signature_validator"', source=_SIGNATURES)
def calls_are_signed(request: Request, takes: Capabilities) -> Iterator[Broken]:
    """To Gemini 3, the first function call of each step since the user last spoke has its thoughtSignature."""
    before = 1
    for at, content in _current_turn(request) if takes.signed_calls else ():
        calls = [
            (w, part)
            for w, part in objects(content, "parts", at)
            if isinstance(spelled_value(part, "functionCall"), dict)
        ]
        for where, part in calls[:1] if not before else ():
            if not spelled_value(part, "thoughtSignature"):
                yield spelled_path(where, part, "thoughtSignature"), "no signature"
        before = len(calls)


def _current_turn(request: Request) -> list[tuple[str, dict[str, Any]]]:
    """Return the contents from the user's last one that has more than function responses; [] if there is none."""
    found, start = list(objects(request, "contents")), None
    for index, (at, content) in enumerate(found):
        spoken = any(spelled_value(part, "functionResponse") is None for _, part in objects(content, "parts", at))
        start = index if spoken and _role(content) != "model" else start
    return [] if start is None else found[start:]


@_by_model("refused", fix="put it behind the responses", source="google-gemini/gemini-cli#19436")
def responses_hold_no_media(request: Request, takes: Capabilities) -> Iterator[Broken]:
    """Before Gemini 3, function responses have no parts."""
    held = takes.media_in_results or "computer-use" in last_name(request)
    for at, part in _parts(request) if not held else ():
        for where, response in spelled_object(part, "functionResponse", at):
            if response.get("parts"):
                yield f"{where}.parts", f"parts to {last_name(request)}"


@_rule("refused", fix="send bare base64", source="google-gemini/gemini-cli#8003, danny-avila/LibreChat#6593")
def bytes_are_base64(request: Request) -> Iterator[Broken]:
    """The data of inlineData and a thoughtSignature are base64, in either alphabet."""
    for at, part in _parts(request):
        media = ((where, blob, "data") for where, blob in spelled_object(part, "inlineData", at))
        for where, holder, name in [(at, part, "thoughtSignature"), *media]:
            text = spelled_value(holder, name)
            if isinstance(text, str) and _NO_BASE64.search(text):
                yield spelled_path(where, holder, name), f"{text[:30]!r}"


@_rule("refused", fix='say it in full, as in "image/png"', source=f"charmbracelet/crush#995; {_TYPES}, Blob.mime_type")
def media_says_its_type(request: Request) -> Iterator[Broken]:
    """inlineData has a mimeType of the form type/subtype, and so has fileData where it has one."""
    for at, part in _parts(request):
        files = [(w, f) for w, f in spelled_object(part, "fileData", at) if spelled_value(f, "mimeType")]
        for where, media in [*spelled_object(part, "inlineData", at), *files]:
            kind = spelled_value(media, "mimeType")
            if not isinstance(kind, str) or not _MEDIA_TYPE.fullmatch(kind):
                yield spelled_path(where, media, "mimeType"), _said(kind)


@_rule("refused", fix="map the name, wherever it stands", source=f"kaitranntt/ccs#219, cline/cline#7339; {_TYPES}")
def tool_names_fit_the_alphabet(request: Request) -> Iterator[Broken]:
    """A function's name has up to 128 letters, digits and _ . : -, the first of them a letter or underscore."""
    for at, function in _functions(request):
        name = function.get("name")
        if name is None or (isinstance(name, str) and not _NAME.fullmatch(name)):
            yield f"{at}.name", _said(name)


@_rule("refused", fix="rename one, or leave it out", source="rikkahub/rikkahub#1311, watt-mind/coach#280")
def names_and_ids_are_unique(request: Request) -> Iterator[Broken]:
    """No two functions have the same name, and no two function calls of a content the same id."""
    yield from _repeated(_functions(request), "name")
    for at, content in objects(request, "contents"):
        yield from _repeated(_members(content, at, "functionCall"), "id")


def _repeated(found: Found, key: str) -> Iterator[Broken]:
    """Yield the paths where a text under a key occurs again."""
    known: set[str] = set()
    for at, item in found:
        value = item.get(key)
        if isinstance(value, str) and value in known:
            yield f"{at}.{key}", f"{_said(value)} a second time"
        known |= {value} if isinstance(value, str) else set()


@_rule("refused", fix="leave some out", source="google-gemini/gemini-cli#19083 and #25440")
def functions_are_few(request: Request) -> Iterator[Broken]:
    """A tool has at most 512 functions."""
    for at, tool in objects(request, "tools"):
        declared = spelled_value(tool, "functionDeclarations")
        if isinstance(declared, list) and len(declared) > 512:
            yield spelled_path(at, tool, "functionDeclarations"), f"{len(declared)} functions"


@_rule("harmful", fix="put all functions into one tool", source="tmc/langchaingo#1245, seen 2026-11-22")
def functions_stand_in_one_tool(request: Request) -> Iterator[Broken]:
    """At most one tool has functionDeclarations: of several, only the first may be read."""
    holders = [(at, tool) for at, tool in objects(request, "tools") if spelled_value(tool, "functionDeclarations")]
    for at, tool in holders[1:]:
        yield spelled_path(at, tool, "functionDeclarations"), "functions in a second tool"


@_rule("refused", fix="define it, and say ANY or VALIDATED", source=f"{_TYPES}, FunctionCallingConfig and its modes")
def allowed_functions_can_be_called(request: Request) -> Iterator[Broken]:
    """allowedFunctionNames stands with the mode ANY or VALIDATED, and names functions that are among the tools."""
    defined = {name for _, function in _functions(request) if isinstance(name := function.get("name"), str)}
    for where, config in spelled_object(request, "toolConfig"):
        for at, calling in spelled_object(config, "functionCallingConfig", where):
            allowed, mode = list(spelled_items(calling, "allowedFunctionNames", at)), calling.get("mode")
            if allowed and (mode is None or (isinstance(mode, str) and mode.upper() not in ("ANY", "VALIDATED"))):
                yield spelled_path(at, calling, "allowedFunctionNames"), f"with the mode {_said(mode)}"
            strays = (found for found in allowed if isinstance(found[1], str) and found[1] not in defined)
            yield from ((path, f"{_said(name)} is no tool") for path, name in (strays if defined else ()))


def _is_used(tool: dict[str, Any], name: str) -> bool:
    value = spelled_value(tool, name)
    return value is not None and (name != "functionDeclarations" or bool(value))


@_by_model("refused", fix="leave one out", source="symfony/ai#803 and #1777, BerriAI/litellm#26682")
def functions_come_alone(request: Request, takes: Capabilities) -> Iterator[Broken]:
    """Before Gemini 3, hosted tools do not stand beside functions, and JSON is not asked for beside either."""
    tools = [] if takes.hosted_with_functions else list(objects(request, "tools"))
    hosted = [(at, tool, name) for at, tool in tools for name in _HOSTED if _is_used(tool, name)]
    has_functions = any(_is_used(tool, "functionDeclarations") for _, tool in tools)
    yield from ((spelled_path(*found), f"{found[2]} beside functions") for found in (hosted if has_functions else ()))
    for at, config in spelled_object(request, "generationConfig") if has_functions or hosted else ():
        if spelled_value(config, "responseMimeType") == "application/json":
            yield spelled_path(at, config, "responseMimeType"), "JSON, with tools"


@_rule("refused", models="gemini-[2-9].*", fix="say googleSearch", source="spring-projects/spring-ai#2185")
def search_is_not_retrieval(request: Request) -> Iterator[Broken]:
    """Since Gemini 2, googleSearchRetrieval is googleSearch."""
    for at, tool in objects(request, "tools"):
        if _is_used(tool, "googleSearchRetrieval"):
            yield spelled_path(at, tool, "googleSearchRetrieval"), f"for {last_name(request)}"


@_rule("refused", fix="put it into the cache", source="BerriAI/litellm#17304, langchain-ai/langchain-google#1618")
def cached_contents_hold_tools_and_instructions(request: Request) -> Iterator[Broken]:
    """With cachedContent, a request has no systemInstruction, tools and toolConfig of its own."""
    for name in ("systemInstruction", "tools", "toolConfig"):
        if spelled_value(request, "cachedContent") and spelled_value(request, name):
            yield spelled_path("$", request, name), "beside cachedContent"


@_rule("refused", fix="leave one of them out", source=f"{_TYPES}; flachesis/gemini-rust#64; help.apiyi.com/en?p=7834")
def fields_exclude_each_other(request: Request) -> Iterator[Broken]:
    """A schema is in OpenAPI's words or in a JsonSchema field, and thinking has a level or a budget."""
    settings = (
        (found, "responseSchema", "responseJsonSchema") for found in spelled_object(request, "generationConfig")
    )
    pairs = [*settings, *((found, "thinkingLevel", "thinkingBudget") for found in _thinking(request))]
    for found in _functions(request):
        pairs += [(found, "parameters", "parametersJsonSchema"), (found, "response", "responseJsonSchema")]
    for (at, holder), name, other in pairs:
        if spelled_value(holder, name) is not None and spelled_value(holder, other) is not None:
            yield spelled_path(at, holder, name), f"beside {other}"


def _thinking(request: Request) -> Found:
    for at, config in spelled_object(request, "generationConfig"):
        yield from spelled_object(config, "thinkingConfig", at)


@_rule("refused", fix="say application/json", source=f"ai.google.dev/api/generate-content; {_TYPES}, response_schema")
def answers_have_a_known_type(request: Request) -> Iterator[Broken]:
    """responseMimeType is one that there is, and with a schema application/json or text/x.enum."""
    for at, config in spelled_object(request, "generationConfig"):
        kind = spelled_value(config, "responseMimeType")
        if kind not in [None, "", *_ANSWER_TYPES]:
            yield spelled_path(at, config, "responseMimeType"), _said(kind)
        for name in ("responseSchema", "responseJsonSchema"):
            if spelled_value(config, name) is not None and kind not in ("application/json", "text/x.enum"):
                yield spelled_path(at, config, name), f"a schema of {_said(kind)}"


@_rule("refused", fix="put it where it belongs", source="steipete/summarize#209, nashsu/llm_wiki#49, TanStack/ai#459")
def fields_stand_where_they_belong(request: Request) -> Iterator[Broken]:
    """What shapes the answer stands in generationConfig, and a thoughtSignature beside its functionCall, not in it."""
    for name in [name for name in _SETTINGS if spelled_value(request, name) is not None]:
        yield spelled_path("$", request, name), "outside of generationConfig"
    for at, part in _parts(request):
        for where, call in spelled_object(part, "functionCall", at):
            if spelled_value(call, "thoughtSignature") is not None:
                yield spelled_path(where, call, "thoughtSignature"), "a signature in a call"


def _numbers(parent: dict[str, Any], at: str, limits: dict[str, tuple[float, float]]) -> Iterator[Broken]:
    for name, (least, most) in limits.items():
        value = spelled_value(parent, name)
        if isinstance(value, int | float) and not isinstance(value, bool) and not least <= value <= most:
            yield spelled_path(at, parent, name), f"below {least}" if value < least else f"not up to {most}"


@_rule("refused", fix="choose another", source=f"continuedev/continue#7849, theneuralbase.com/gemini-api; {_TYPES}")
def numbers_are_in_range(request: Request) -> Iterator[Broken]:
    """temperature is 0 to 2, topP 0 to 1, a penalty -2 to 2, candidateCount 1 to 8; 5 stopSequences; seed an int32."""
    for at, config in spelled_object(request, "generationConfig"):
        yield from _numbers(config, at, _LIMITS)
        stops = spelled_value(config, "stopSequences")
        if isinstance(stops, list) and len(stops) > (
            CAPABILITIES.of(last_name(request)).takes.stop_sequences or _MOST_STOPS
        ):
            yield spelled_path(at, config, "stopSequences"), f"{len(stops)} of them"


@_rule("refused", fix="choose another", source=f"{_TYPES}, VideoMetadata.fps")
def frame_rates_are_in_range(request: Request) -> Iterator[Broken]:
    """A video is read at more than 0 and at most 24 frames a second."""
    for at, part in _parts(request):
        for where, cut in spelled_object(part, "videoMetadata", at):
            yield from _numbers(cut, where, {"fps": (5e-324, 24)})


@_rule("refused", models="gemma-3.*", fix="say it in words", source="0xPlaygrounds/rig#788, lobehub/lobehub#7128")
def gemma_takes_contents_alone(request: Request) -> Iterator[Broken]:
    """Gemma 3 takes neither a systemInstruction nor functions."""
    if spelled_value(request, "systemInstruction"):
        yield spelled_path("$", request, "systemInstruction"), f"to {last_name(request)}"
    for at, tool in objects(request, "tools"):
        if _is_used(tool, "functionDeclarations"):
            yield spelled_path(at, tool, "functionDeclarations"), f"to {last_name(request)}"


@_rule("refused", models=_SPEECH, fix="ask for AUDIO", source="BerriAI/litellm#11118, TheKentuckian/robot_comic#122")
def speech_models_read_aloud(request: Request) -> Iterator[Broken]:
    """Models for speech are asked for AUDIO alone, of one content, without systemInstruction."""
    at, config = next(spelled_object(request, "generationConfig"), ("$.generationConfig", {}))
    if spelled_value(config, "responseModalities") not in (["AUDIO"], ["audio"]):
        yield spelled_path(at, config, "responseModalities"), "not AUDIO alone"
    if spelled_value(request, "systemInstruction"):
        yield spelled_path("$", request, "systemInstruction"), f"to {last_name(request)}"
    yield from ((where, "a second content") for where, _ in list(objects(request, "contents"))[1:])


@_by_model("refused", fix="choose another", source="ai.google.dev/gemini-api/docs/thinking; RooCodeInc/Roo-Code#10700")
def models_take_the_thinking(request: Request, takes: Capabilities) -> Iterator[Broken]:
    """Before Gemini 3 there is no thinkingLevel, later models have their own levels, and a model has its budgets."""
    for at, thinking in _thinking(request):
        level, budget = spelled_value(thinking, "thinkingLevel"), spelled_value(thinking, "thinkingBudget")
        known = takes.efforts is None or (isinstance(level, str) and level.lower() in (*takes.efforts, _NO_LEVEL))
        if level is not None and not known:
            yield spelled_path(at, thinking, "thinkingLevel"), f"{_said(level)} to {last_name(request)}"
        if isinstance(budget, int | float) and not _takes_budget(takes, budget):
            yield spelled_path(at, thinking, "thinkingBudget"), f"out of the range of {last_name(request)}"


_NO_LEVEL = "thinking_level_unspecified"


def _takes_budget(takes: Capabilities, budget: float) -> bool:
    if budget == 0:
        return takes.thinks_by("disabled") or takes.thinking == ()
    least, most = takes.budget or (float("-inf"), float("inf"))
    return budget == -1 or least <= budget <= most


@_by_model("refused", fix="leave it out", source="docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini")
def penalties_are_for_older_models(request: Request, takes: Capabilities) -> Iterator[Broken]:
    """Gemini 3.5 Flash-Lite and Gemini 3.6 and later take no presencePenalty and no frequencyPenalty."""
    names = {"presencePenalty": "presence_penalty", "frequencyPenalty": "frequency_penalty"}
    for at, config in spelled_object(request, "generationConfig") if takes.sampling is not None else ():
        for name in [name for name, setting in names.items() if setting not in (takes.sampling or {})]:
            if spelled_value(config, name) not in (None, 0):
                yield spelled_path(at, config, name), f"{_said(spelled_value(config, name))} to {last_name(request)}"


def _openapi_schemas(request: Request) -> Found:
    """Yield the OpenAPI schemas and all their subschemas, down to paths of 2,000 characters."""
    waiting: list[tuple[str, dict[str, Any]]] = []
    for at, function in _functions(request):
        waiting += [*spelled_object(function, "parameters", at), *spelled_object(function, "response", at)]
    for at, config in spelled_object(request, "generationConfig"):
        waiting += spelled_object(config, "responseSchema", at)
    waiting.reverse()
    while waiting:
        at, schema = waiting.pop()
        yield at, schema
        waiting += reversed(list(_children(at, schema)) if len(at) < 2000 else [])


def _children(at: str, schema: dict[str, Any]) -> Found:
    for where, properties in one_object(schema, "properties", at):
        for name in properties:
            yield from one_object(properties, name, where)
    yield from one_object(schema, "items", at)
    yield from objects(schema, spelled_key(schema, "anyOf"), at)


@_rule("refused", fix="say it in a JsonSchema field", source="pizza-bot-app/pizza-bot#62, zed-industries/zed#44875")
def openapi_schemas_use_known_words(request: Request) -> Iterator[Broken]:
    """parameters, response and responseSchema have one type, and no const, oneOf, allOf, exclusive bounds or such."""
    for at, schema in _openapi_schemas(request):
        yield from ((child_path(at, key), f"{key} in a schema") for key in _UNKNOWN_KEYWORDS if key in schema)
        if isinstance(schema.get("type"), list):
            yield f"{at}.type", "a list of types"


@_rule("refused", fix="define it", source="TokenRhythm/opensquilla#1263, cline/cline#7339, moltis-org/moltis#849")
def openapi_schemas_are_whole(request: Request) -> Iterator[Broken]:
    """In parameters, response and responseSchema, arrays have items, and what is required is among the properties."""
    for at, schema in _openapi_schemas(request):
        kind, defined = schema.get("type"), schema.get("properties") or {}
        if isinstance(kind, str) and kind.upper() == "ARRAY" and schema.get("items") is None:
            yield at, "an array without items"
        for where, name in spelled_items(schema, "required", at) if isinstance(defined, dict) else ():
            if isinstance(name, str) and name not in defined:
                yield where, f"{_said(name)} is not among the properties"


@_rule("refused", fix="make it a text", source="microsoft/azure-devops-mcp#145, sbroenne/mcp-server-excel#607")
def openapi_enums_are_texts(request: Request) -> Iterator[Broken]:
    """In parameters, response and responseSchema, the values of an enum are texts, none of them empty."""
    for at, schema in _openapi_schemas(request):
        found = spelled_items(schema, "enum", at)
        yield from ((where, _said(value)) for where, value in found if not isinstance(value, str) or not value)


RULES.leave_out(
    "numbers-are-in-range",
    "models-take-the-thinking",
    "penalties-are-for-older-models",
    "allowed-functions-can-be-called",
    "functions-come-alone",
    "answers-have-a-known-type",
)
