"""Requests that the Responses API refuses, ignores or answers badly.

Other hosts offer this API too, and few are as strict as OpenAI. A rule that only OpenAI enforces is checked only if the
model's name is one of OpenAI's, and a rule of some of its models only for these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import (
    Broken,
    Capabilities,
    IdentifierRule,
    Rules,
    makers,
    objects,
    one_object,
)
from contentmodel.content.media_types import media_type_of_link
from contentmodel_adapters.common.rules import (
    bad_base64,
    declares,
    declares_by_model,
    is_object_text,
    out_of_range,
    table,
)
from contentmodel_adapters.openai.responses.items import API, CLIENT_CALLS, PREFIXES, PROVIDER_CALLS, SEALING
from contentmodel_adapters.openai.responses.items import RESULTS as ITEMS_OF_RESULTS
from contentmodel_adapters.openai.responses.table import CURRENT, FILL, ROLES
from contentmodel_adapters.openai.rules import (
    MODELS,
    RANGES,
    Found,
    Schemas,
    beyond_limits,
    declare_schemas,
    is_unread_image,
    media_type_in,
    openai_table,
    repeated,
    short,
    unsupported,
    without_json,
)

CAPABILITIES = openai_table(API)
"""OpenAI's models, the newest first."""
RULES = Rules(API, CAPABILITIES)
CALL_IDS = IdentifierRule(".", 64)
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_-]", 128)
makers.declare_models(RULES, "developers.openai.com/api/docs/models; seen 2026-11-29", serves=makers.OPEN | {*SEALING})

_SDK = "openai 3.52.0, openai/types/responses"
_SPEC = "openresponses/openresponses, schema"

# The host runs programs.
_CALLS = {row.constants["type"] for row in (*CLIENT_CALLS, *PROVIDER_CALLS)} - {"program"}
_RESULTS = {row.constants["type"] for row in ITEMS_OF_RESULTS} - {"program_output"}

_PREFIXED = ["message", "reasoning", "function_call", "function_call_output"]
_PREFIXED += ["custom_tool_call", "custom_tool_call_output", "web_search_call"]
_OUTPUT_PARTS = ["output_text", "refusal"]
_NEEDS: dict[str, Any] = {tool.tag: (*tool.needs, *FILL.get(tool.tag, ())) for of in CURRENT.values() for tool in of}
_NEEDS |= {"function": ["name"], "custom": ["name"], "namespace": ["name", "description", "tools"]}
_CHOOSABLE = ["function", "custom", "mcp", "file_search", "code_interpreter", "image_generation"]
_CHOOSABLE += ["shell", "apply_patch"]
_LIMITS = {**RANGES, "max_output_tokens": (16, float("inf")), "max_tool_calls": (1, float("inf"))}
_LONGEST = {"prompt_cache_key": 64, "safety_identifier": 128}
_INCLUDED = ["file_search_call.results", "web_search_call.results", "web_search_call.action.sources"]
_INCLUDED += ["message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs"]
_INCLUDED += ["reasoning.encrypted_content", "message.output_text.logprobs"]
_rule = declares(RULES, models=MODELS, seen="2026-11-21")
_by_model = declares_by_model(RULES, seen="2026-11-22")


@_rule("refused", fix="remove it", source="openai/codex#36551, musistudio/claude-code-router#1783")
def reasoning_has_no_content(request: dict[str, Any]) -> Iterator[Broken]:
    """A reasoning item must have an empty content. vLLM, LM Studio and xAI accept its text."""
    for at, item in objects(request, "input"):
        if item.get("type") == "reasoning" and item.get("content"):
            yield f"{at}.content", "the text of the reasoning"


def _items(request: dict[str, Any], *kinds: str) -> Found:
    """Return the items of the input, or those of some kinds, each with its path."""
    return ((at, item) for at, item in objects(request, "input") if not kinds or _kind(item) in kinds)


def _kind(item: dict[str, Any]) -> str:
    """Return an item's type. An item with a role and without a type is a message."""
    return _text(item, "type") or ("message" if item.get("role") is not None else "")


def _text(parent: dict[str, Any], key: str) -> str:
    """Return the text under a key, "" if there is none."""
    return parent[key] if isinstance(parent.get(key), str) else ""


def _remembers(request: dict[str, Any]) -> bool:
    """Return whether the request builds on items that the host has stored."""
    stored = any(request.get(key) for key in ("previous_response_id", "conversation", "prompt"))
    return stored or any(_items(request, "item_reference"))


def _texts(items: Found, key: str) -> Iterator[Broken]:
    """Return the texts under a key of objects, each with its path."""
    return ((f"{at}.{key}", item[key]) for at, item in items if isinstance(item.get(key), str))


@_rule("refused", models=None, fix="add its output after it", source="Azure/azure-sdk-for-python#46092")
def calls_have_results(request: dict[str, Any]) -> Iterator[Broken]:
    """Each call that the client runs must have an output with its call_id."""
    answered = {call_id for _, call_id in _texts(_items(request, *_RESULTS), "call_id")}
    # The id of this output is that of the call (types/responses/response_input_item.py of openai 3.54).
    answered |= {call_id for _, call_id in _texts(_items(request, "local_shell_call_output"), "id")}
    if not any(_items(request, "item_reference")):
        calls = ((at, call) for at, call in _items(request, *_CALLS) if not _needs_no_result(call))
        for at, call_id in _texts(calls, "call_id"):
            if call_id not in answered:
                yield at, f"{call_id!r:.80} has no output"


def _needs_no_result(call: dict[str, Any]) -> bool:
    """Return whether the host itself runs the call, or its result may come later."""
    return call.get("execution") == "server" or call.get("async") is True


@_rule("refused", models=None, fix="send the call too", source="continuedev/continue#10092, agentjido/req_llm#426")
def results_have_calls(request: dict[str, Any]) -> Iterator[Broken]:
    """Each output must have a call with its call_id, in the input or stored by the host."""
    called = {call_id for _, call_id in _texts(_items(request, *_CALLS), "call_id")}
    if not _remembers(request):
        outputs = ((at, item) for at, item in _items(request, *_RESULTS) if not _needs_no_result(item))
        for at, call_id in _texts(outputs, "call_id"):
            if call_id not in called:
                yield at, f"no call {call_id!r:.80}"


@_rule(
    "refused",
    models="deepseek-.*",
    fix="move it before the call",
    source="deepseek-ai/awesome-deepseek-integration#740",
)
def results_directly_follow_calls(request: dict[str, Any]) -> Iterator[Broken]:
    """For DeepSeek, only other calls and outputs may come between a call and its output."""
    pending: dict[str, str] = {}
    for at, item in _items(request):
        if _kind(item) in _CALLS:
            pending.update((call_id, path) for path, call_id in _texts(iter([(at, item)]), "call_id"))
        elif _kind(item) in _RESULTS:
            pending.pop(_text(item, "call_id"), None)
        else:
            yield from ((path, f"{_kind(item)!r:.60} before its output") for path in pending.values())
            pending = {}


@_rule(
    "refused",
    fix="shorten call_id, remove id",
    source="decolua/9router#393, orchidfiles/ungate#41, can1357/oh-my-pi#284",
)
def ids_are_short(request: dict[str, Any]) -> Iterator[Broken]:
    """A call_id and the id of an item must have 1 to 64 characters."""
    call_ids = _texts(_items(request, *_CALLS, *_RESULTS), "call_id")
    for at, item_id in [*call_ids, *_texts(_items(request), "id")]:
        if not 1 <= len(item_id) <= CALL_IDS.longest:
            yield at, f"{len(item_id)} characters"


@_rule("refused", fix="remove the id", source="openai/codex#33176, jlcodes99/cockpit-tools#2090")
def item_ids_have_their_prefix(request: dict[str, Any]) -> Iterator[Broken]:
    """The id of an item must start with the prefix of its type: msg, rs, fc, ctc or ws."""
    for kind in _PREFIXED:
        for at, item_id in _texts(_items(request, kind), "id"):
            if not item_id.startswith(PREFIXES[kind]):
                yield at, f"{item_id!r:.60}, not {PREFIXES[kind]}_..."


@_rule("refused", fix="send the item once", source="microsoft/vscode#321977, OpenRouterTeam/ai-sdk-provider#254")
def item_ids_are_unique(request: dict[str, Any]) -> Iterator[Broken]:
    """No two items may have the same id."""
    yield from repeated(_texts(_items(request), "id"), set())


@_rule("refused", fix="add the item that it led to, or remove it", source="vercel/ai#7099, openai/openai-node#1567")
def reasoning_followed_by_its_item(request: dict[str, Any]) -> Iterator[Broken]:
    """A reasoning item with an id must be followed by the output item that it led to.

    An assistant message without an id does not count as one, unless `store` is false: then no item needs an id.
    """
    pending: list[str] = []
    for at, item in [*_items(request), ("$", {"role": "user"})]:
        if _kind(item) == "reasoning":
            pending += [at] if isinstance(item.get("id"), str) else []
            continue
        stored = request.get("store") is not False
        is_output = item.get("role") == "assistant" and (isinstance(item.get("id"), str) or not stored)
        if _kind(item) in _RESULTS or (_kind(item) == "message" and not is_output):
            yield from ((path, "no output item after it") for path in pending)
        pending = []


@_rule("refused", fix="send the full content", source="anomalyco/opencode#7724, can1357/oh-my-pi#41")
def unstored_items_are_complete(request: dict[str, Any]) -> Iterator[Broken]:
    """With store false, reasoning must have its encrypted_content, and no item may be a reference."""
    if request.get("store") is False and not _remembers({**request, "input": None}):
        items = _items(request, "item_reference", "reasoning")
        bare = ((at, item) for at, item in items if not item.get("encrypted_content"))
        yield from ((at, f"{item_id!r:.60} without content") for at, item_id in _texts(bare, "id"))


@_rule("refused", fix="use user, assistant, system or developer", source=f"{_SDK}/response_input_item_param.py")
def roles_are_known(request: dict[str, Any]) -> Iterator[Broken]:
    """The role of a message must be user, assistant, system or developer."""
    for at, message in _items(request, "message"):
        if _text(message, "role") not in ROLES.to_model:
            yield f"{at}.role", short(message.get("role"))


@_rule("refused", fix='send "" if it is empty', source="QuantumNous/new-api#4776")
def content_is_text_or_parts(request: dict[str, Any]) -> Iterator[Broken]:
    """The content of a message and the output of a function must be a string or a list of parts."""
    contents = [(f"{at}.content", message.get("content")) for at, message in _items(request, "message")]
    outputs = _items(request, "function_call_output", "custom_tool_call_output")
    for at, content in [*contents, *((f"{at}.output", item.get("output")) for at, item in outputs)]:
        if not isinstance(content, str | list):
            yield at, short(content)


def _parts(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield each part of a message or an output, with its path and the role; that of an output is "tool"."""
    for at, message in _items(request, "message"):
        yield from ((path, part, message.get("role")) for path, part in objects(message, "content", at))
    for at, item in _items(request, "function_call_output", "custom_tool_call_output"):
        yield from ((path, part, "tool") for path, part in objects(item, "output", at))


@_rule("refused", fix="use output_text or input_text", source="tinyhumansai/openhuman#3624, linanwx/nagobot#27")
def parts_in_their_roles(request: dict[str, Any]) -> Iterator[Broken]:
    """Assistant messages must contain output_text and refusals; other messages and tool outputs input parts."""
    for at, part, role in _parts(request):
        kind = part.get("type")
        if kind in ("text", "image_url", "file") or (
            kind not in _OUTPUT_PARTS if role == "assistant" else kind in _OUTPUT_PARTS
        ):
            yield f"{at}.type", f"{short(kind)} with the role {short(role)}"


@_rule(
    "refused",
    fix="convert it to a supported type",
    source="developers.openai.com/api/docs/guides/images-vision; aplpolaris/promptfx#724",
)
def media_types_supported(request: dict[str, Any]) -> Iterator[Broken]:
    """An image_url must be a string, in a data URL PNG, JPEG, GIF or WebP; a file must not be audio or video.

    The type of a file_url is derived from the file extension.
    """
    for at, part, _ in _parts(request):
        image, file = part.get("image_url"), media_type_in(part.get("file_data"))
        if part.get("type") == "input_image" and (isinstance(image, dict | list) or is_unread_image(image)):
            yield f"{at}.image_url", media_type_in(image) or short(image)
        if part.get("type") == "input_file" and file.startswith(("audio/", "video/")):
            yield f"{at}.file_data", file
        link = media_type_of_link(part["file_url"]) if isinstance(part.get("file_url"), str) else None
        if part.get("type") == "input_file" and link and link.startswith(("audio/", "video/")):
            yield f"{at}.file_url", link


@_rule("refused", fix="add a filename", source=f"laravel/ai#324; {_SDK}")
def files_have_names(request: dict[str, Any]) -> Iterator[Broken]:
    """An input_file with file_data must have a filename."""
    for at, part, _ in _parts(request):
        if part.get("type") == "input_file" and isinstance(part.get("file_data"), str) and not part.get("filename"):
            yield f"{at}.filename", "no filename"


@_rule("refused", fix="use the standard base64 alphabet", source="sipherxyz/comfyui-art-venture#75")
def data_is_base64(request: dict[str, Any]) -> Iterator[Broken]:
    """A data URL of an image or a file must contain base64 in the standard alphabet."""
    for at, part, _ in _parts(request):
        for name in ("image_url", "file_data"):
            yield from bad_base64(f"{at}.{name}", part.get(name))


@_rule("refused", fix="report failures in the output text", source="openclaw/Tachikoma#48, openai/openai-python#3008")
def statuses_are_known(request: dict[str, Any]) -> Iterator[Broken]:
    """A function output must have no error and no failure status; the status of reasoning must not be null."""
    for at, item in _items(request, "function_call_output"):
        yield from [(f"{at}.error", short(item["error"]))] if "error" in item else []
        if item.get("status") not in (None, "in_progress", "completed", "incomplete"):
            yield f"{at}.status", short(item["status"])
    for at, item in _items(request, "reasoning"):
        yield from [(f"{at}.status", "null")] if item.get("status", "") is None else []


@_rule("refused", fix="send a computer_screenshot", source=f"{_SDK}/response_input_item_param.py")
def computer_outputs_are_screenshots(request: dict[str, Any]) -> Iterator[Broken]:
    """The output of a computer call must be a computer_screenshot."""
    for at, item in _items(request, "computer_call_output"):
        output = item.get("output")
        if not isinstance(output, dict) or output.get("type") != "computer_screenshot":
            yield f"{at}.output", short(output)


@_rule("harmful", models=None, fix="send {} instead", source="MetaFARS/codex-relay#57, meituan-longcat/LongCat-2.0#14")
def call_arguments_are_objects(request: dict[str, Any]) -> Iterator[Broken]:
    """The arguments of a function call must be the text of a JSON object, or empty."""
    for at, text in _texts(_items(request, "function_call"), "arguments"):
        if text.strip() and not is_object_text(text):
            yield at, f"{text!r:.60}"


@_rule("ignored", fix="send it as a function_call with its output", source="aplisay/llm-agent#225")
def mcp_outputs_are_answered(request: dict[str, Any]) -> Iterator[Broken]:
    """The model must answer an mcp_call before the next user message: it does not see the output of a replayed one."""
    pending: list[str] = []
    for at, item in [*_items(request), ("$", {"role": "user"})]:
        if _kind(item) == "message" and item.get("role") == "user":
            yield from ((path, "no answer follows") for path in pending)
        if _kind(item) == "mcp_call":
            pending += [f"{at}.output"] if item.get("output") else []
        elif _kind(item) not in ("reasoning", "mcp_list_tools"):
            pending = []


def _tools(request: dict[str, Any]) -> Found:
    """Yield the tools of a request, also those in its namespaces and those that items add."""
    for at, holder in [("$", request), *_items(request, "additional_tools", "tool_search_output")]:
        for path, tool in objects(holder, "tools", at):
            yield path, tool
            if tool.get("type") == "namespace":
                yield from objects(tool, "tools", path)


def _functions(request: dict[str, Any], *kinds: str) -> Found:
    return ((at, tool) for at, tool in _tools(request) if tool.get("type") in (kinds or ("function",)))


@_rule("refused", fix="rename it everywhere", source=f"{_SPEC}/tools.tsp; diegosouzapw/OmniRoute#4317 for 128")
def tool_names_match_pattern(request: dict[str, Any]) -> Iterator[Broken]:
    """Tool names, in tools and in calls, must be 1 to 128 letters, digits, underscores and dashes."""
    called = _items(request, "function_call", "custom_tool_call")
    for at, name in [*_texts(_functions(request, "function", "custom"), "name"), *_texts(called, "name")]:
        if not TOOL_NAMES.accepts(name):
            yield at, f"{name!r:.80}"


@_rule("harmful", models=None, fix="rename or remove one of them", source="openai/openai-agents-python#4116")
def tool_names_are_unique(request: dict[str, Any]) -> Iterator[Broken]:
    """No two functions or custom tools of the request may have the same name."""
    named = ((at, tool) for at, tool in objects(request, "tools") if tool.get("type") in ("function", "custom"))
    yield from repeated(_texts(named, "name"), set())


@_rule("refused", fix="set it in the tool itself", source=f"stanfordnlp/dspy#9984; {_SDK}/tool_param.py")
def tools_have_required_fields(request: dict[str, Any]) -> Iterator[Broken]:
    """Functions must have a name at the top level; hosted tools their container, vector stores or server."""
    for at, tool in objects(request, "tools"):
        kind = _text(tool, "type")
        yield from ((f"{at}.{key}", f"{kind} without {key}") for key in _NEEDS.get(kind, ()) if tool.get(key) is None)
        if kind == "mcp" and not any(tool.get(key) for key in ("server_url", "connector_id", "tunnel_id")):
            yield at, "mcp without server_url, connector_id or tunnel_id"


@_rule("refused", fix="define the tool, or choose another", source=f"vercel/ai#18997; {_SDK}")
def chosen_tools_are_defined(request: dict[str, Any]) -> Iterator[Broken]:
    """A tool that tool_choice names must be one of the tools, and `required` needs tools."""
    defined = {_identity(tool) for _, tool in _tools(request)}
    if request.get("tool_choice") == "required" and not defined and not request.get("prompt"):
        yield "$.tool_choice", "required, without tools"
    for at, choice in one_object(request, "tool_choice") if not request.get("prompt") else ():
        for path, tool in [(at, choice), *objects(choice, "tools", at)]:
            if tool.get("type") in _CHOOSABLE and _identity(tool) not in defined:
                yield path, f"{' '.join(_identity(tool)):.80} is not among the tools"


def _identity(tool: dict[str, Any]) -> tuple[str, str]:
    kind = _text(tool, "type")
    return kind, _text(tool, {"function": "name", "custom": "name", "mcp": "server_label"}.get(kind, ""))


def _formats(request: dict[str, Any]) -> Found:
    return (text_format for at, text in one_object(request, "text") for text_format in one_object(text, "format", at))


declare_schemas(RULES, Schemas(_functions, _formats))


@_rule("refused", fix="set it in the format", source=f"{_SDK}/response_format_text_json_schema_config_param.py")
def response_formats_have_schemas(request: dict[str, Any]) -> Iterator[Broken]:
    """A json_schema format must have a schema."""
    for at, text_format in _formats(request):
        if text_format.get("type") == "json_schema" and not isinstance(text_format.get("schema"), dict):
            yield f"{at}.schema", short(text_format.get("schema"))


@_rule("refused", fix="write JSON in a message", source="pydantic/pydantic-ai, models/openai.py")
def json_mode_mentions_json(request: dict[str, Any]) -> Iterator[Broken]:
    """A request for a JSON object must contain the word JSON in its input; instructions do not count."""
    return iter(()) if _remembers(request) else without_json(_formats(request), _contents(request))


def _contents(request: dict[str, Any]) -> Iterator[Any]:
    """Yield the contents of messages and the outputs of tools, and the texts of their parts."""
    yield request.get("input")
    for _, item in _items(request):
        yield from (item.get("content"), item.get("output"))
    yield from (part.get("text") for _, part, _ in _parts(request))


@_rule(
    "refused", fix="use a value within the limits", source=f"vectorize-io/hindsight#58; {_SDK}; {_SPEC}/responses.tsp"
)
def numbers_are_in_range(request: dict[str, Any]) -> Iterator[Broken]:
    """temperature is 0 to 2, top_p 0 to 1, top_logprobs 0 to 20, max_output_tokens at least 16, max_tool_calls 1."""
    return out_of_range(request, _LIMITS)


@_rule("refused", fix="shorten it, send a hash, or remove it", source=f"vybestack/llxprt-code#2135; {_SDK}")
def metadata_limits(request: dict[str, Any]) -> Iterator[Broken]:
    """Limits: metadata 16 keys of 64 characters with strings of 512; prompt_cache_key 64, safety_identifier 128."""
    for key, most in _LONGEST.items():
        value = request.get(key)
        if value is not None and (not isinstance(value, str) or len(value) > most):
            yield f"$.{key}", short(value)
    yield from beyond_limits(table(request, "metadata"))


@_by_model("refused", fix="remove it", source=f"{_SDK}/response_includable.py; microsoft/agent-framework#7483")
def includes_are_known(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """`include` must contain known values, and encrypted reasoning only for models that reason."""
    names = request.get("include")
    unreasoning = capabilities.thinking == ()
    for index, name in enumerate(
        names if isinstance(names, list) and re.fullmatch(MODELS, _text(request, "model")) else []
    ):
        if name not in _INCLUDED or (name == "reasoning.encrypted_content" and unreasoning):
            yield f"$.include[{index}]", short(name)


@_by_model("refused", fix="remove it", source="openai/codex#6647, anomalyco/opencode#26268, Azure how-to/reasoning")
def settings_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """A model accepts only its own levels of reasoning.effort, and no sampling settings while it reasons."""
    return unsupported(request, capabilities, "$.reasoning.effort", table(request, "reasoning").get("effort"))


RULES.leave_out(
    "chosen-tools-are-defined",
    "numbers-are-in-range",
    "metadata-limits",
    "includes-are-known",
    "settings-supported",
    "structured-output-supported",
    "json-mode-mentions-json",
)
