"""Tool definitions, tool choice and response format of Chat Completions (openai 3.52, types/chat; November 2026)."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    FREE_TEXT_ROW,
    Choice,
    Codec,
    DecodeContext,
    EncodeContext,
    Implied,
    Rest,
    Row,
    Silent,
    chat,
    custom_names,
    hints,
    object_of,
    reasons,
    row,
    text_of,
)
from contentmodel.request import CustomTool, FunctionTool, HostedTool, ToolChoice
from contentmodel_adapters.openai.chat.parts import API, CACHE_CONTROL, TABLE, CacheControlOfTool


class GrammarObject(Codec[dict[str, Any]]):
    """The format of a custom tool. A grammar is a nested object here. In the model, its fields are next to `type`.

    openai 3.54, types/chat/chat_completion_custom_tool_param.py, against types/shared/custom_tool_input_format.py, seen
    2026-11-22.
    """

    classes = (dict,)
    identity = False

    def holds(self, value: Any) -> bool:
        if value.__class__ is not dict or value.keys() != {"type", "grammar"}:
            return bool(value == {"type": "text"})
        grammar = value["grammar"]
        return value["type"] == "grammar" and grammar.__class__ is dict and "type" not in grammar

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        return {"type": "grammar", **value["grammar"]} if "grammar" in value else value

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        if value.get("type") == "grammar":
            return {"type": "grammar", "grammar": {name: item for name, item in value.items() if name != "type"}}
        if value != {"type": "text"}:
            context.report_loss(owner, "format", reasons.NO_TEXT_FORMAT)
            return None
        return value


TOOLS = TABLE.union(
    "tool",
    [
        row(
            "function",
            FunctionTool,
            # docs.litellm.ai/docs/completion/prompt_caching, seen 2026-11-23.
            {**chat.FUNCTION, "cache_control": ("cache_point", CacheControlOfTool(CACHE_CONTROL))},
        ),
        row(
            "custom",
            CustomTool,
            {
                "custom.name": "name",
                "custom.description": "description",
                "custom.format": ("format", GrammarObject()),
            },
        ),
        chat.free_text_function(),
        # Hosts prefix the names of tools that they run (openrouter:web_search, November 2026).
        Row(
            "openrouter:web_search",
            HostedTool,
            {"parameters": "settings"},
            Implied({"kind": "web_search"}),
            constants={"type": "openrouter:web_search"},
        ),
        Row(
            "openrouter:advisor",
            HostedTool,
            {"parameters": "settings"},
            Implied({"kind": "advisor"}),
            constants={"type": "openrouter:advisor"},
        ),
    ],
    default="function",
    other=Row("other", HostedTool, {"type": "kind"}),
    find=chat.row_of_function,
    # Chat has no hosted tools: those of another API cannot be sent.
    prefer=lambda tool, rows: "custom" if tool.__class__ is CustomTool else None,
)


# The settings of the search of a search model: here an option, elsewhere a tool (openai 3.54,
# types/chat/completion_create_params.py, `WebSearchOptions`, seen 2026-11-27).
SEARCH = TABLE.union(
    "web_search_options",
    [Row("web_search_options", HostedTool, {}, Implied({"kind": "web_search"}), Rest("settings"), Silent("name"))],
    find=lambda wire: "web_search_options",
)

# The old form of tools (types/chat/completion_create_params.py of openai 3.52, `functions`, deprecated): old clients
# still send it.
FUNCTIONS = TABLE.union(
    "function",
    [Row("function", FunctionTool, {"name": "name", "description": "description", "parameters": "parameters"})],
    find=lambda wire: "function",
)


def read_choice(value: dict[str, Any]) -> ToolChoice | None:
    """Decode a tool choice that is an object; None if its form is unknown."""
    kind = value.get("type")
    inner = value.get(kind) if kind.__class__ is str else None
    if inner.__class__ is not dict:
        return None
    if kind in ("function", "custom") and inner.get("name").__class__ is str:
        return ToolChoice(mode="required", tools=[inner["name"]])
    if kind == "allowed_tools" and inner.get("mode").__class__ is str and inner.get("tools").__class__ is list:
        tools = [tool for tool in inner["tools"] if isinstance(tool, dict)]
        names = [object_of(tool, text_of(tool, "type")).get("name") for tool in tools]
        texts = [name for name in names if isinstance(name, str)]
        if texts and len(texts) == len(inner["tools"]):
            return ToolChoice(mode=inner["mode"], tools=texts)
    return None


def write_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    """Encode a tool choice as a string or an object; None if Chat cannot express it."""
    if choice.hosted is not None:
        return None
    names = choice.tools or []
    if not names:
        return choice.mode if choice.mode in ("auto", "none", "required") else None
    customs = custom_names(tool for tool in tools if hints.ROW.of(tool, API) != FREE_TEXT_ROW)
    kinds = ["custom" if name in customs else "function" for name in names]
    named = [{"type": kind, kind: {"name": name}} for kind, name in zip(kinds, names, strict=True)]
    if choice.mode == "required" and len(named) == 1:
        return named[0]
    if choice.mode == "none":
        # Chat can list allowed tools, not forbidden ones.
        return None
    return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": named}}


def read_old_choice(value: Any) -> ToolChoice | None:
    """Return the choice of `function_call`: "auto", "none" or the name of a function; None if it is anything else."""
    if value in ("auto", "none"):
        return ToolChoice(mode=value)
    if value.__class__ is dict and value.keys() == {"name"} and value["name"].__class__ is str:
        return ToolChoice(mode="required", tools=[value["name"]])
    return None


def old_choice(value: Any) -> Any:
    """Return a `tool_choice` in the form of `function_call`; None if that cannot express it."""
    if value in ("auto", "none"):
        return value
    return {"name": value["function"]["name"]} if isinstance(value, dict) and value["type"] == "function" else None


_FORMS = ("function", "custom", "allowed_tools")
TABLE.known_values("tool_choice", "auto", "none", "required", *_FORMS)
# Mistral's word for `required`, which some hosts take (docs.mistral.ai/capabilities/function_calling, seen 2026-11-27).
TOOL_CHOICE = Choice(read_choice, write_choice, tagged=("type", _FORMS), synonyms={"any": "required"})

# Some hosts take the schema beside the type (README of the server of llama.cpp; "Guidance" of TGI; seen 2026-11-27).
RESPONSE_FORMAT = chat.response_formats(
    TABLE,
    "response_format",
    chat.named_schema_row(accepts=lambda wire: "json_schema" in wire or "schema" not in wire),
    chat.schema_row("json_schema", "schema", "schema"),
    chat.schema_row("json_object", "schema", "schema"),
    chat.schema_row("json", "value", "value"),
)
