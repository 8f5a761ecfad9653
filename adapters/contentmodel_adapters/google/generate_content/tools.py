"""The table of generateContent requests: tools, tool choice, reasoning levels (google-genai 3.4, types.py; Nov. 2026).

A file of its own: table.py would be longer than 1,000 lines.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from contentmodel.authoring import (
    Aliases,
    Choice,
    Codec,
    DecodeContext,
    EncodeContext,
    Fields,
    Hint,
    MappedEnum,
    ProtobufJson,
    Row,
    Silent,
    camel_name,
    enum_at,
    free_text_row,
    hints,
    is_free_text,
    reasons,
)
from contentmodel.request import ChatRequest, CustomTool, FunctionTool, HostedTool, Tool, ToolChoice
from contentmodel_adapters.common.hosted import Current, Hosted, declaration
from contentmodel_adapters.common.media import Modalities
from contentmodel_adapters.google.generate_content.table import API, TABLE, Contents, Instructions
from contentmodel_adapters.google.shared import are_strict

# The members of a Tool other than function declarations, and their kinds.
HOSTED_KINDS = {
    "googleSearch": "web_search",
    "googleSearchRetrieval": "web_search",
    "enterpriseWebSearch": "web_search",
    "exaAiSearch": "web_search",
    "parallelAiSearch": "web_search",
    "urlContext": "url_context",
    "codeExecution": "code_interpreter",
    "fileSearch": "file_search",
    "retrieval": "file_search",
    "googleMaps": "maps",
    "computerUse": "computer",
    "mcpServers": "mcp",
}
# The members of hosted tools that were created by the application or come from another API (google-genai 3.4,
# types.Tool, seen 2026-11-22).
CURRENT: Current = {
    "web_search": (Hosted("googleSearch", crosses=True),),
    "code_interpreter": (Hosted("codeExecution", crosses=True),),
    "url_context": (Hosted("urlContext", crosses=True),),
    "file_search": (Hosted("fileSearch", needs=("fileSearchStoreNames",)),),
    "maps": (Hosted("googleMaps"),),
    "computer": (Hosted("computerUse", needs=("environment",)),),
    "mcp": (Hosted("mcpServers", needs=("name",)),),
}
DECLARATIONS = "functionDeclarations"
_Entry = Literal["object", True]
ENTRY = Hint[_Entry](API, "entry", 'this is the first tool of a wire object: "object" if the object replaces the list')
KEY = Hint[str | None](API, "key", "the key of a member of a wire object, null if the object is empty")
NULLS = Hint[list[str]](API, "nulls", "the members of a wire object that are null, on its first tool")
MEMBER = Hint[dict[str, Any]](API, "member", "a member that is not an object, under its key", fields=True)
VALUE = Hint[Any](API, "value", "the value of a member that is not an object, in documents stored before `:member`")
LEVEL = Hint[str](API, "level", "the level of thinking in the letters of the payload")
T = TypeVar("T")

_SCHEMAS = {"name": "name", "description": "description"}


def _row_of_function(wire: dict[str, Any]) -> str:
    if wire.get("parameters") is not None or wire.get("response") is not None:
        return "openapi"
    return "free text" if is_free_text(wire.get("parametersJsonSchema")) else "json schema"


FUNCTION = TABLE.union(
    "function declaration",
    [
        Row(
            "json schema",
            FunctionTool,
            {**_SCHEMAS, "parametersJsonSchema": "parameters", "responseJsonSchema": "returns"},
            Silent("strict"),
            ProtobufJson(),
        ),
        # `parameters` and `response` are an older subset of OpenAPI with types in capitals.
        Row("openapi", FunctionTool, {**_SCHEMAS, "parameters": "parameters", "response": "returns"}, Silent("strict")),
        free_text_row("free text", "parametersJsonSchema"),
    ],
    find=_row_of_function,
)


SETTINGS = Fields({}, rest="settings")


class Tools(Codec[list[Tool]]):
    """A list of Tool objects. Each function and each hosted tool in them is one tool.

    The API also takes one object instead of the list. The first tool of each wire object has the hint `ENTRY`. A member
    with an unusual spelling or shape keeps its key in the hint `KEY`, and its value in `MEMBER`. A single function
    instead of a list of functions has the hint `FORM`.
    """

    classes = (list, dict)
    identity = False

    def holds(self, value: Any) -> bool:
        if value.__class__ is dict:
            return bool(value)
        return value.__class__ is list and bool(value) and all(entry.__class__ is dict for entry in value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        if value.__class__ is dict:
            return _decode_entry(value, "object", container, key, context)
        return [tool for i, entry in enumerate(value) for tool in _decode_entry(entry, True, value, i, context)]

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        entries: list[dict[str, Any]] = []
        empty_on_purpose: list[int] = []
        for tool in value:
            entry = _entry_of(tool, entries, context)
            residue = (tool.extra or {}).get(API)
            if residue is not None and KEY.is_in(residue) and KEY.read(residue) is None:
                empty_on_purpose.append(len(entries) - 1)
            else:
                _encode_member(tool, entry, context)
            if residue is not None and context.native:
                entry.update(dict.fromkeys(NULLS.read(residue) or ()))
        if context.native and len(entries) == 1 and ENTRY.of(value[0], API) == "object":
            return entries[0]
        return [entry for i, entry in enumerate(entries) if entry or i in empty_on_purpose] or None

    def describe(self) -> str:
        return "list of tool"


def _decode_entry(entry: Any, form: _Entry, container: Any, key: str | int, context: DecodeContext) -> list[Any]:
    """Return the tools of one Tool object, which is `container[key]`."""
    tools: list[Any] = []
    for name, member in entry.items():
        tools += [] if member is None else _decode_member(name, member, entry, context)
    if not tools:
        tools = [HostedTool(extra=KEY.extra(API, None))]
        context.trace(None, tools[:], container, key, spread=False)
    tools[0] = _hinted(tools[0], ENTRY, form, context)
    nulls = [name for name, member in entry.items() if member is None]
    if nulls:
        tools[0] = _hinted(tools[0], NULLS, nulls, context)
    return tools


def _entry_of(tool: Any, entries: list[dict[str, Any]], context: EncodeContext) -> dict[str, Any]:
    """Return the Tool object for a tool, a new one if needed.

    All functions of another API are in one object: of several, the API may read only the first (tmc/langchaingo#1245,
    seen 2026-11-22).
    """
    if context.native:
        fits = entries[-1] if entries and not ENTRY.of(tool, API) else None
    else:
        is_function = isinstance(tool, FunctionTool | CustomTool)
        fits = next((entry for entry in entries if (DECLARATIONS in entry) == is_function), None) if entries else None
    if fits is None:
        fits = {}
        entries.append(fits)
    return fits


def _decode_member(name: str, member: Any, entry: dict[str, Any], context: DecodeContext) -> list[Any]:
    camel = camel_name(name)
    if camel == DECLARATIONS and member.__class__ is dict and _are_declarations([member]):
        only = FUNCTION.decode(member, context)
        context.trace(FUNCTION, [only], entry, name, spread=False)
        only = _hinted(only, hints.FORM, "one", context)
        return [only] if camel == name else [_hinted(only, KEY, name, context)]
    if camel == DECLARATIONS and _are_declarations(member):
        functions = [FUNCTION.decode(declaration, context) for declaration in member]
        context.trace(FUNCTION, functions, entry, name, spread=True)
        return functions if camel == name else [_hinted(tool, KEY, name, context) for tool in functions]
    kind = HOSTED_KINDS.get(camel, name)
    tool = HostedTool(kind=kind, extra={API: {**KEY.entry(name), **MEMBER.entry({name: member})}})
    fields = None
    if member.__class__ is dict:
        tool = HostedTool(kind=kind, settings=member, extra=KEY.extra(API, name))
        fields = SETTINGS
    context.trace(fields, [tool], entry, name, spread=False)
    return [tool]


def _hinted(tool: Any, hint: Hint[T], value: T, context: DecodeContext) -> Any:
    changed = hint.on(tool, API, value)
    context.replaced(tool, changed)
    return changed


def _are_declarations(member: Any) -> bool:
    if member.__class__ is not list or not member:
        return False
    return all(item.__class__ is dict and item.get("name").__class__ is str for item in member)


def _encode_member(tool: Any, entry: dict[str, Any], context: EncodeContext) -> None:
    if isinstance(tool, FunctionTool | CustomTool):
        key = KEY.of(tool, API) or next((k for k in entry if camel_name(k) == DECLARATIONS), DECLARATIONS)
        wire = FUNCTION.encode_one(tool, context)
        if context.native and key not in entry and hints.FORM.of(tool, API) == "one":
            entry[key] = wire
        elif entry.get(key).__class__ is dict:
            entry[key] = [entry[key], wire]
        else:
            entry.setdefault(key, []).append(wire)
    else:
        _encode_hosted(tool, entry, context)


def _encode_hosted(tool: HostedTool, entry: dict[str, Any], context: EncodeContext) -> None:
    residue = (tool.extra or {}).get(API)
    key = None if residue is None else KEY.read(residue)
    if residue is not None and key is not None:
        members = {key: VALUE.read(residue)} if VALUE.is_in(residue) else MEMBER.read(residue) or {}
        entry[key] = members.get(key, tool.settings)
        return
    declared = declaration(tool, CURRENT) if tool.__class__ is HostedTool else None
    if declared is None:
        context.report_loss(tool, None, reasons.NO_HOSTED_TOOL)
        return
    present = entry.get(declared.tag)
    if present is not None and (declared.tag != "mcpServers" or present.__class__ is not list):
        context.report_loss(tool, None, reasons.REPEATED_TOOL)
        return
    context.leave_residue(tool, own=True)
    is_ours = context.is_ours(tool)
    context.report_lost_attributes(tool, ("name", "cache_point") if is_ours else ("name", "settings", "cache_point"))
    settings = dict(tool.settings) if is_ours else {}
    entry[declared.tag] = [*(present or ()), settings] if declared.tag == "mcpServers" else settings


def tools_of_member(path: str, tools: list[Any]) -> list[Any]:
    """Return the hosted tools that are written as the member at a path in the tools of a payload."""
    kind = HOSTED_KINDS.get(camel_name(path.rpartition(".")[2]))
    return [tool for tool in tools if kind is not None and isinstance(tool, HostedTool) and tool.kind == kind]


TABLE.known_values("tool.members", DECLARATIONS, *HOSTED_KINDS)
MODES = {"MODE_UNSPECIFIED": "auto", "AUTO": "auto", "ANY": "required", "NONE": "none", "VALIDATED": "auto"}
_RAW_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}


def read_choice(value: dict[str, Any]) -> ToolChoice | None:
    """Return the choice that a functionCallingConfig means; None if it is not understood."""
    mode, names = value.get("mode"), value.get("allowedFunctionNames")
    if mode.__class__ is not str:
        return None
    tools = names if names.__class__ is list and names and all(n.__class__ is str for n in names) else None
    # The modes are read in any case (types.FunctionCallingConfigMode).
    return ToolChoice(mode=MODES.get(mode.upper(), mode), tools=tools)


def write_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    """Return the functionCallingConfig of a choice; None if the API cannot express it."""
    if choice.hosted is not None or (choice.mode not in _RAW_MODES and choice.mode.upper() not in MODES):
        return None
    mode = _RAW_MODES.get(choice.mode, choice.mode)
    # Names are for ANY and VALIDATED only (types.FunctionCallingConfig.allowed_function_names).
    if mode == "AUTO" and (choice.tools or are_strict(tools)):
        mode = "VALIDATED"
    return {"mode": mode, **({"allowedFunctionNames": choice.tools} if choice.tools else {})}


def _capitals(value: dict[str, Any]) -> dict[str, Any]:
    mode = value.get("mode")
    return {**value, "mode": mode.upper()} if mode.__class__ is str else value


TABLE.known_values("function_calling.mode", *MODES)
TOOL_CHOICE = Choice(
    read_choice, write_choice, strings=False, tagged=("mode", MODES), fallback={"mode": "AUTO"}, usual=_capitals
)


_LEVELS = ("minimal", "low", "medium", "high", "xhigh")


class Level(MappedEnum):
    """thinkingLevel: the effort levels in capitals."""

    def __init__(self) -> None:
        super().__init__({level.upper(): level for level in _LEVELS})
        self.known_values = frozenset(("THINKING_LEVEL_UNSPECIFIED", *(level.upper() for level in _LEVELS)))

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        if not context.native and value not in _LEVELS:
            context.report_loss(owner, "options.reasoning.effort", reasons.NO_EFFORT_LEVEL, level=value)
            return None
        spelled = LEVEL.of(owner, API)
        if spelled is not None and spelled.lower() == value:
            return spelled
        return super().encode(value, context, owner)


def with_level(request: ChatRequest, context: DecodeContext) -> ChatRequest:
    """Return the request with its effort as the model spells it. The API ignores case."""
    reasoning = request.options.reasoning
    if reasoning is None or reasoning.effort is None or reasoning.effort in _LEVELS:
        return request
    effort = reasoning.effort.removeprefix(f"{API}:")
    if effort.lower() not in _LEVELS:
        return request
    changed = msgspec.structs.replace(reasoning, effort=effort.lower())
    options = msgspec.structs.replace(request.options, reasoning=changed)
    result: ChatRequest = LEVEL.on(msgspec.structs.replace(request, options=options), API, effort)
    context.replaced(reasoning, changed)
    return result


# -- requests ----------------------------------------------------------------------------------------------------------

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "contents": ("messages", Contents()),
        "systemInstruction": ("instructions", Instructions()),
        "tools": ("tools", Tools()),
        "toolConfig.functionCallingConfig": ("options.tool_choice", TOOL_CHOICE),
        "generationConfig.temperature": "options.temperature",
        "generationConfig.topP": "options.top_p",
        "generationConfig.topK": "options.top_k",
        "generationConfig.candidateCount": "options.choices",
        "generationConfig.maxOutputTokens": "options.max_output_tokens",
        "generationConfig.stopSequences": "options.stop_sequences",
        "generationConfig.presencePenalty": "options.presence_penalty",
        "generationConfig.frequencyPenalty": "options.frequency_penalty",
        "generationConfig.seed": "options.seed",
        "generationConfig.responseLogprobs": "options.logprobs",
        "generationConfig.logprobs": "options.top_logprobs",
        "generationConfig.responseModalities": (
            "options.modalities",
            Modalities(str.upper, "TEXT", "IMAGE", "AUDIO", "VIDEO"),
        ),
        "generationConfig.responseMimeType": "options.response_format.media_type",
        "generationConfig.responseJsonSchema": "options.response_format.schema",
        "generationConfig.thinkingConfig.includeThoughts": "options.reasoning.include",
        "serviceTier": enum_at("options.service_tier", "flex", "standard", "priority"),
        "generationConfig.thinkingConfig.thinkingBudget": "options.reasoning.budget_tokens",
        "generationConfig.thinkingConfig.thinkingLevel": ("options.reasoning.effort", Level()),
    },
    Silent("model", "options.stream", "options.response_format.kind"),
    ProtobufJson(),
    # Aliases: the older subset of OpenAPI, which schemas of other APIs are not written in, and the name of a JSON
    # Schema in the reference of the Developer API (ai.google.dev/api/generate-content, GenerationConfig, seen
    # 2026-11-23).
    Aliases(
        dict.fromkeys(("generationConfig.responseSchema", "generationConfig._responseJsonSchema"), "responseJsonSchema")
    ),
)
TABLE.keep(
    "generation_config",
    *("audioTimestamp", "audioTranscriptionConfig", "automaticContinuation", "continuationToken", "routingConfig"),
    *("enableEnhancedCivicAnswers", "generationOutputConfig", "imageConfig", "mediaResolution", "speechConfig"),
    *("modelSelectionConfig", "enableAffectiveDialog", "responseFormat", "translationConfig"),
)
TABLE.keep(
    "request",
    *("cachedContent", "labels", "modelArmorConfig", "safetySettings", "store", "model", "outputConfig"),
    *("automaticFunctionCalling", "httpOptions", "shouldReturnHttpResponse"),
)


def with_format_kind(request: ChatRequest) -> ChatRequest:
    """Set the kind of the response format, which its fields imply."""
    response_format = request.options.response_format
    if response_format is None:
        return request
    kind = (
        "json_schema"
        if response_format.schema is not None
        else "json"
        if response_format.media_type == "application/json"
        else "other"
    )
    options = msgspec.structs.replace(
        request.options, response_format=msgspec.structs.replace(response_format, kind=kind)
    )
    return msgspec.structs.replace(request, options=options)
