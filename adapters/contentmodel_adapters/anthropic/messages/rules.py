"""The hosts of the Messages API, the requests that it refuses, ignores or answers badly, and capabilities of models.

The models are in anthropic/models.py. The rules are those of Anthropic's own models. Hosts of other models are less
strict, so a rule that only Claude enforces is checked only if the model's name contains `claude`. The steps in fit.py
read the same rows and limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from contentmodel.authoring import (
    INVOKE_STREAM,
    Broken,
    Capabilities,
    CapabilityTable,
    Find,
    FindByModel,
    Host,
    IdentifierRule,
    Range,
    Rules,
    Severity,
    StreamFormat,
    list_of,
    makers,
    objects,
    one_object,
)
from contentmodel.capabilities import canonical
from contentmodel.content import hosted
from contentmodel.content.media_types import kind_of_media, media_type_of_link
from contentmodel_adapters.anthropic import models
from contentmodel_adapters.anthropic.messages.table import API, HOSTED_KINDS, SERVER_TOOLS, VERSION
from contentmodel_adapters.anthropic.models import excludes_top_p, refuses_forced_tool
from contentmodel_adapters.anthropic.shared import ends_in_space
from contentmodel_adapters.common.rules import bad_base64, out_of_range, subschemas, table, unsampled
from contentmodel_adapters.common.schemas import ANTHROPIC_STRICT

Request: TypeAlias = dict[str, Any]
Found: TypeAlias = Iterator[tuple[str, dict[str, Any]]]

CAPABILITIES = CapabilityTable(API, models.ROWS, newest=models.NEWEST, own=makers.NAMES["anthropic"])


RULES = Rules("anthropic-messages", CAPABILITIES)

# -- hosts ----------------------------------------------------------------------------------------------------------

# Bedrock's InvokeModel and Vertex AI have the model in the path and the version of the API in the body
# (lib/bedrock/_client.py and lib/vertex/_client.py of anthropic 2.12, seen 2026-11-24).
CACHE_CONTROL = "cache_control"
THINKING = ("thinking", "redacted_thinking")
"""Blocks of reasoning. They have no cache point (types/thinking_block_param.py of anthropic 2.12, seen 2026-11-27)."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A host of the Messages API, and its differences from Anthropic's own.

    - `version`: the value of `anthropic_version` in the body; None if the version is in a header.
    - `in_path`: the fields of a request that are in the path instead.
    - `betas_in_body`: whether the beta features of a request are in the body. Else they are in a header.
    - `refused`: further fields that the host refuses. `hosted_types`: the types of hosted tools that the host accepts,
      by kind; a kind that is missing has no limit.
    - `sources`: the types of sources of images and documents that the host refuses.
    - `caches`: the models that take a cache point of the whole request, as a pattern of names; None for all.
      `unstructured`: the models that lack output formats and strict tools at the host.
    - `stream_format`: the format of its streams; None if it is the API's own. `errors_of_aws`: whether its errors are
      those of AWS.
    """

    name: str
    version: str | None = None
    in_path: tuple[str, ...] = ()
    betas_in_body: bool = False
    refused: tuple[str, ...] = ()
    hosted_types: Mapping[str, tuple[str, ...]] = {}
    sources: tuple[str, ...] = ()
    caches: str | None = None
    unstructured: str | None = None
    stream_format: StreamFormat | None = None
    errors_of_aws: bool = False


# The features of Anthropic's own platform: build-with-claude/data-residency, /fast-mode, the MCP connector, the Files
# API and the containers of code execution (platform.claude.com/docs/en/build-with-claude/overview). Bedrock refuses
# `diagnostics` and the types of code execution, and Vertex AI accepts only the first version of web search (live tests,
# in models/anthropic/__init__.py of pydantic-ai 2.68). Links: anthropics/anthropic-sdk-typescript#1038,
# pollinations/pollinations#5862.
_OWN_FIELDS = ("container", "mcp_servers", "diagnostics", "inference_geo", "speed")
_OWN_TOOLS: dict[str, tuple[str, ...]] = dict.fromkeys(("web_fetch", "code_interpreter", "advisor", "mcp"), ())
_OWN_SOURCES = ("url", "file")
# Older models refuse `cache_control` beside the messages ("Extra inputs are not permitted"; live tests, in
# providers/_bedrock_model_names.py of pydantic-ai 2.68; BerriAI/litellm#26320; seen 2026-11-27).
_CACHED_AT_BEDROCK = "claude-(?:fable-5|haiku-5-5|opus-4-[78]|opus-5|sonnet-5).*"
# docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html, and the same file; seen 2026-11-27.
_UNSTRUCTURED_AT_BEDROCK = "claude-(?:opus-4-1|fable-5).*"
DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(name="anthropic"),
        Dialect(
            name="bedrock",
            version="bedrock-2023-05-31",
            in_path=("model", "stream"),
            betas_in_body=True,
            refused=_OWN_FIELDS,
            hosted_types={"web_search": (), **_OWN_TOOLS},
            sources=_OWN_SOURCES,
            caches=_CACHED_AT_BEDROCK,
            unstructured=_UNSTRUCTURED_AT_BEDROCK,
            stream_format=INVOKE_STREAM,
            errors_of_aws=True,
        ),
        Dialect(
            name="vertex",
            version="vertex-2023-10-16",
            in_path=("model",),
            refused=_OWN_FIELDS,
            hosted_types={"web_search": ("web_search_20250305",), **_OWN_TOOLS},
            sources=_OWN_SOURCES,
        ),
    )
}


def dialect_of(policies: Mapping[str, str] | None) -> Dialect | None:
    """Return the host that the policy `dialect` names; None without the policy. Raise ValueError if it is unknown."""
    name = (policies or {}).get("dialect")
    if name is None:
        return None
    if name not in DIALECTS:
        raise ValueError(f"unknown policy dialect={name}: expected {' | '.join(DIALECTS)}")
    return DIALECTS[name]


def host_of(policies: Mapping[str, str] | None) -> Host:
    """Return the differences of the host that the policy `dialect` names."""
    dialect = dialect_of(policies)
    return (
        Host()
        if dialect is None
        else Host(stream_format=dialect.stream_format, serves=frozenset({"anthropic"}), dialect=dialect)
    )


def limited(capabilities: Capabilities, policies: Mapping[str, str] | None, model: str | None) -> Capabilities:
    """Return the capabilities of a model at the host that the policy `dialect` names."""
    dialect = dialect_of(policies)
    if dialect is None:
        return capabilities
    if dialect.unstructured is not None and _is_named(model, dialect.unstructured):
        capabilities = msgspec.structs.replace(capabilities, structured_output=False, strict_tools=False)
    if not dialect.hosted_types:
        return capabilities
    types = {**(capabilities.hosted_types or {}), **dialect.hosted_types}
    return msgspec.structs.replace(capabilities, hosted_types=types)


def _is_named(model: Any, pattern: str) -> bool:
    return isinstance(model, str) and re.fullmatch(pattern, canonical(model)) is not None


def refuses_cache_point(dialect: Dialect, model: Any) -> bool:
    """Return whether a host refuses the cache point of a whole request. False if the model is unknown."""
    if dialect.caches is None or not isinstance(model, str) or not canonical(model).startswith("claude"):
        return False
    return not _is_named(model, dialect.caches)


# The calls and results of the tools that the provider runs, by the kind of the tool, with the names of their blocks.
_PROVIDED: tuple[tuple[str, type[Any], type[Any], tuple[str, ...]], ...] = (
    *SERVER_TOOLS,
    ("mcp", hosted.McpServerToolCallContent, hosted.McpServerToolResultContent, ("mcp",)),
    ("mcp", hosted.McpListToolsToolCallContent, hosted.McpListToolsToolResultContent, ()),
)
_KINDS = {name: kind for kind, _, _, names in _PROVIDED for name in names}
OF_HOSTED_TOOLS = tuple(content for _, call, result, _ in _PROVIDED for content in (call, result))


def lacking_contents(dialect: Dialect) -> tuple[type, ...]:
    """Return the types of the calls and results of the hosted tools of which the host has no version."""
    lacking = _lacking(dialect)
    return tuple(content for kind, *pair, _ in _PROVIDED if kind in lacking for content in pair)


def _lacking(dialect: Dialect) -> list[str]:
    """Return the kinds of the hosted tools of which the host has no version."""
    return [kind for kind, types in dialect.hosted_types.items() if not types]


def refused_tools(request: Request, dialect: Dialect) -> Found:
    """Yield the hosted tools that a host does not accept, with their paths."""
    for at, tool in objects(request, "tools"):
        kind = HOSTED_KINDS.get(str(tool.get("type")))
        if kind is not None and tool["type"] not in dialect.hosted_types.get(kind, (tool["type"],)):
            yield at, tool


# -- rules ----------------------------------------------------------------------------------------------------------

CALL_IDS = IdentifierRule("[a-zA-Z0-9_-]", 64)
"""The API documents no limit; 64 is the limit of Bedrock, which runs the same models."""
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_-]", 128)

DOCS = "platform.claude.com/docs/en/build-with-claude"
TOOLS_PAGE = "platform.claude.com/docs/en/agents-and-tools/tool-use"
SDK = "anthropic 2.11.0"

CALL_ID = re.compile(f"{CALL_IDS.characters}+")
HOSTED_ID = re.compile("srvtoolu_[a-zA-Z0-9_]+")
SAMPLING = {name: name for name in ("temperature", "top_p", "top_k")}
INLINE = {
    "image base64": ("image/png", "image/jpeg", "image/gif", "image/webp"),
    "document base64": ("application/pdf",),
    "document text": ("text/plain",),
}
"""The media types that blocks take inline, by the types of the block and of its source."""
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
UNSUPPORTED = {
    kind: [name for name in names if name not in (ANTHROPIC_STRICT.keywords or ())]
    for kind, names in {"integer": BOUNDS, "number": BOUNDS, "array": ("maxItems", "uniqueItems")}.items()
}
MIN_ITEMS = range(int(ANTHROPIC_STRICT.most_min_items) + 1)
"""The limits of strict schemas, by type, and the values of `minItems`: those that the step for schemas obeys."""
MOST_BREAKPOINTS, MOST_STRICT = 4, 20


class Turn(NamedTuple):
    """Consecutive messages of one role, which the API joins: the path of the first, and the blocks of all."""

    role: Any
    path: str
    blocks: list[tuple[str, dict[str, Any]]]

    def ids(self, kind: str, key: str) -> list[tuple[str, str]]:
        """Return the ids that blocks of a kind have under a key, each with the block's path."""
        return [(at, b[key]) for at, b in self.blocks if b.get("type") == kind and isinstance(b.get(key), str)]


def _turns(request: Request) -> list[Turn]:
    """Return the turns of a request; [] if it continues a thread, because earlier turns are not in the request."""
    turns: list[Turn] = []
    for at, message in () if request.get("thread") else objects(request, "messages"):
        content = message.get("content")
        if not turns or turns[-1].role != message.get("role"):
            turns.append(Turn(message.get("role"), at, []))
        if isinstance(content, str) and content:
            turns[-1].blocks.append((f"{at}.content", {"type": "text", "text": content}))
        turns[-1].blocks.extend(objects(message, "content", at))
    return turns


def _blocks(request: Request, *kinds: str) -> Found:
    """Yield the blocks of these kinds in messages and in results."""
    for at, message in objects(request, "messages"):
        for path, block in objects(message, "content", at):
            inside = objects(block, "content", path) if block.get("type") == "tool_result" else iter(())
            yield from ((w, b) for w, b in [*inside, (path, block)] if not kinds or b.get("type") in kinds)


def _final(request: Request) -> list[tuple[str, dict[str, Any]]]:
    """Return the blocks that the answer continues: those of an assistant turn at the end."""
    turns = _turns(request)
    return turns[-1].blocks if turns and turns[-1].role == "assistant" else []


def _is_hosted_result(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind.endswith("_tool_result") and kind != "mcp_tool_result"


def _number(request: Request, key: str) -> float | None:
    value = request.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_blank(text: Any) -> bool:
    return isinstance(text, str) and not text.strip()


def cached_blocks(request: Request) -> Found:
    """Yield the tools and blocks with a cache breakpoint in the order in which the API reads them."""
    blocks = [*objects(request, "tools"), *objects(request, "system"), *_blocks(request)]
    yield from ((f"{at}.cache_control", b) for at, b in blocks if isinstance(b.get("cache_control"), dict))


def _open_loop(turns: list[Turn]) -> list[Turn]:
    """Return the assistant's turns since the last user message, if their calls have just been answered."""
    loop: list[Turn] = []
    for turn in turns:
        if turn.role == "assistant":
            loop.append(turn)
        elif turn.role == "user" and any(b.get("type") != "tool_result" for _, b in turn.blocks):
            loop = []
    return loop if turns and turns[-1].role == "user" else []


def _strict_schemas(request: Request) -> Found:
    """Yield each schema that the API enforces on the answer, and its subschemas."""
    strict = [(at, tool) for at, tool in objects(request, "tools") if tool.get("strict") is True]
    forms = [form for at, config in one_object(request, "output_config") for form in one_object(config, "format", at)]
    holders = [(at, tool, "input_schema") for at, tool in strict] + [(at, form, "schema") for at, form in forms]
    roots = (root for at, holder, key in holders for root in one_object(holder, key, at))
    yield from ((at, schema) for root in roots for at, schema, _ in subschemas(*root))


def _rule(fix: str, source: str, severity: Severity = "refused") -> Callable[[Find], Find]:
    """Declare a rule for all models."""
    return RULES.rule(severity, fix=fix, source=f"{source}; seen 2026-11-21")


def _of_claude(fix: str, source: str, severity: Severity = "refused") -> Callable[[Find], Find]:
    """Declare a rule for Claude models only."""
    return RULES.rule(severity, fix=fix, source=f"{source}; seen 2026-11-21", applies=_is_claude)


def _by_model(fix: str, source: str) -> Callable[[FindByModel], FindByModel]:
    """Declare a rule that depends on the model's capabilities."""
    return RULES.by_model("refused", fix=fix, source=f"{source}; capabilities of models; seen 2026-11-22")


def _is_claude(request: Request) -> bool:
    return "claude" in str(request.get("model"))


@_of_claude("set both", f"langchain-ai/langchain#31657, types/message_create_params.py of {SDK}")
def messages_and_max_tokens_required(request: Request) -> Iterator[Broken]:
    """A request must have at least one message and a max_tokens limit."""
    if request.get("messages") == [] and not request.get("thread"):
        yield "$.messages", "no message"
    if request.get("max_tokens") is None:
        yield "$", "no max_tokens"


@_of_claude("add content, or remove the message", "NousResearch/hermes-agent#3149")
def user_turns_have_content(request: Request) -> Iterator[Broken]:
    """Of consecutive user messages, at least one must have content."""
    yield from ((t.path, "no content") for t in _turns(request) if t.role == "user" and not t.blocks)


@_of_claude("remove the block, but keep the turn", "anthropics/anthropic-sdk-python#461, anomalyco/opencode#31259")
def text_is_not_blank(request: Request) -> Iterator[Broken]:
    """Text blocks of messages and of the system prompt must contain more than white space."""
    blocks = [*objects(request, "system"), *(b for t in _turns(request) for b in t.blocks)]
    yield from ((at, "no text") for at, b in blocks if b.get("type") == "text" and _is_blank(b.get("text")))


@_of_claude("remove it, or add a user message", "anomalyco/opencode#1295, tailcallhq/forgecode#1872")
def prefill_ends_in_text(request: Request) -> Iterator[Broken]:
    """A request that ends with an assistant turn must not end with a thinking block or with white space."""
    for at, block in _final(request)[-1:]:
        if ends_in_space(block.get("text")):
            yield at, "white space at the end"
        elif block.get("type") in THINKING:
            yield at, "thinking at the end"


@_by_model("end with a user message", "platform.claude.com/docs/en/api/errors, ericc-ch/copilot-api#261")
def prefill_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """From Claude 4.6 on, a request must not end with text of the assistant."""
    paused = any(b.get("type") in ("server_tool_use", "mcp_tool_use") for _, b in _final(request))
    if not capabilities.prefill and not paused and not request.get("fallback_credit_token"):
        yield from ((at, "a prefill") for at, b in _final(request)[-1:] if b.get("type") == "text")


@_rule("move it between a user turn and its answer", f"{DOCS}/mid-conversation-system-messages")
def system_messages_follow_user_turns(request: Request) -> Iterator[Broken]:
    """A system message must follow a user turn or a hosted result, and precede an assistant turn or the end."""
    turns, none = _turns(request), Turn(None, "", [])
    for before, turn, after in zip([none, *turns], turns, [*turns[1:], none], strict=False):
        hosted = any(_is_hosted_result(b) for _, b in before.blocks[-1:])
        fits = (before.role == "user" or hosted) and after.role in ("assistant", None)
        if turn.role == "system" and turn.blocks and not fits:
            yield turn.path, f"between {before.role or 'the start'} and {after.role or 'the end'}"


@_by_model("use the system field", f"{DOCS}/mid-conversation-system-messages, sgl-project/sglang#368")
def system_messages_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Models up to Claude 4.7 do not accept messages with the role system."""
    if not capabilities.later_system:
        yield from ((at, "a system message") for at, m in objects(request, "messages") if m.get("role") == "system")


@_rule("move it to a turn of the other role", f"SEMOSS/Semoss#2323, {TOOLS_PAGE}/handle-tool-calls")
def blocks_in_their_roles(request: Request) -> Iterator[Broken]:
    """Calls belong in assistant turns; results and images belong in user turns."""
    misplaced = {"assistant": ("image", "tool_result"), "user": ("tool_use",)}
    for turn in _turns(request):
        kinds = misplaced.get(turn.role, ()) if isinstance(turn.role, str) else ()
        yield from ((at, f"{b['type']} in a {turn.role} turn") for at, b in turn.blocks if b.get("type") in kinds)


@_of_claude("replace the id in the call and in its result", "maximhq/bifrost#5097, ding113/claude-code-hub#470")
def call_ids_match_pattern(request: Request) -> Iterator[Broken]:
    """Call ids must be ASCII letters, digits, underscores and hyphens; hosted call ids must start with `srvtoolu_`."""
    ids = {"tool_use": ("id", CALL_ID), "tool_result": ("tool_use_id", CALL_ID), "server_tool_use": ("id", HOSTED_ID)}
    for at, block in _blocks(request, *ids):
        key, pattern = ids[block["type"]]
        if isinstance(block.get(key), str) and not pattern.fullmatch(block[key]):
            yield f"{at}.{key}", repr(block[key])


@_rule("give each call a unique id and one result", "NachoSEO/claudegram#12, vectorize-io/hindsight#4250")
def call_ids_are_unique(request: Request) -> Iterator[Broken]:
    """In a turn, no two calls and no two results may have the same id."""
    for turn in _turns(request):
        for kind, key in (("tool_use", "id"), ("tool_result", "tool_use_id")):
            ids = turn.ids(kind, key)
            first = {call_id: at for at, call_id in reversed(ids)}
            yield from ((f"{at}.{key}", f"duplicate {call_id!r}") for at, call_id in ids if first[call_id] != at)


@_rule("add a result to the next message, at least an error", "anthropics/claude-code#5060, Kilo-Org/kilocode#5163")
def calls_have_results(request: Request) -> Iterator[Broken]:
    """Each call must have a result in the next user turn."""
    turns = _turns(request)
    for turn, after in zip(turns, [*turns[1:], Turn(None, "", [])], strict=False):
        answered = {call_id for _, call_id in after.ids("tool_result", "tool_use_id")}
        calls = turn.ids("tool_use", "id") if turn.role == "assistant" else []
        yield from ((at, f"no result for {call_id!r}") for at, call_id in calls if call_id not in answered)


@_rule("restore the call, or send the result as text", "tghamm/Anthropic.SDK#184, langchain-ai/langchain#31657")
def results_have_calls(request: Request) -> Iterator[Broken]:
    """Each result must answer a call of the assistant turn directly before it."""
    turns = _turns(request)
    for before, turn in zip([Turn(None, "", []), *turns], turns, strict=False):
        calls = {call_id for _, call_id in before.ids("tool_use", "id")}
        results = turn.ids("tool_result", "tool_use_id") if turn.role == "user" else []
        yield from ((at, f"no call {call_id!r}") for at, call_id in results if call_id not in calls)


@_rule("move the results to the start", f"{TOOLS_PAGE}/handle-tool-calls, anthropics/claude-code#37")
def results_come_first(request: Request) -> Iterator[Broken]:
    """In a user turn, results must come before all other content."""
    for turn in _turns(request):
        results = [block.get("type") == "tool_result" for _, block in turn.blocks]
        leading = results.index(False) if False in results else len(results)
        late = (at for (at, _), is_result in zip(turn.blocks[leading:], results[leading:], strict=True) if is_result)
        yield from ((at, "after other content") for at in late if turn.role == "user")


@_of_claude("restore the missing one, or send text", f"{DOCS}/handling-stop-reasons, anthropics/claude-code#65726")
def hosted_calls_and_results_are_paired(request: Request) -> Iterator[Broken]:
    """A hosted call must have a result before the next user content, and a hosted result must have a call before it."""
    calls: set[str] = set()
    pending: dict[str, str] = {}
    for turn in _turns(request):
        if turn.role == "user" and any(b.get("type") != "tool_result" for _, b in turn.blocks):
            yield from ((at, f"no result for {call_id!r}") for call_id, at in pending.items())
            pending = {}
        for at, block in turn.blocks:
            if _is_hosted_result(block) and str(block.get("tool_use_id")) not in calls:
                yield at, f"no call {block.get('tool_use_id')!r}"
            for call_id in (block.get("tool_use_id"), table(block, "caller").get("tool_id")):
                pending.pop(str(call_id), None)
            if block.get("type") == "server_tool_use":
                calls.add(str(block.get("id")))
                pending[str(block.get("id"))] = at


@_rule("send an object; {} if there are no arguments", f"types/tool_use_block_param.py of {SDK}")
def arguments_are_objects(request: Request) -> Iterator[Broken]:
    """The input of a call must be a JSON object."""
    calls = _blocks(request, "tool_use", "server_tool_use")
    yield from ((f"{at}.input", "not an object") for at, call in calls if not isinstance(call.get("input"), dict))


@_of_claude("remove it, or send it as text", f"types/thinking_block_param.py of {SDK}, earendil-works/pi#1523")
def thinking_is_signed(request: Request) -> Iterator[Broken]:
    """Thinking blocks must have the signature that the API issued with them."""
    signatures = ((at, block.get("signature")) for at, block in _blocks(request, "thinking"))
    yield from ((at, "no signature") for at, s in signatures if not isinstance(s, str) or not s)


@_of_claude("send it too, or disable thinking", f"{DOCS}/extended-thinking, Kilo-Org/kilocode#5219", "harmful")
def thinking_kept_with_calls(request: Request) -> Iterator[Broken]:
    """With a thinking budget, calls without their thinking are refused, or the answer continues without thinking."""
    loop = _open_loop(_turns(request)) if table(request, "thinking").get("type") == "enabled" else []
    thought = any(b.get("type") in THINKING for turn in loop for _, b in turn.blocks)
    yield from ((turn.path, "calls without thinking") for turn in loop[:1] if not thought)


@_of_claude("set it on another block", f"types/thinking_block_param.py of {SDK}, router-for-me/CLIProxyAPI#4561")
def breakpoints_on_cacheable_blocks(request: Request) -> Iterator[Broken]:
    """Thinking blocks and tools with deferred loading must not be cache breakpoints."""
    deferred = ((at, tool) for at, tool in objects(request, "tools") if tool.get("defer_loading") is True)
    for at, block in [*deferred, *_blocks(request, *THINKING)]:
        yield from ((path, "a cache breakpoint") for path, _ in one_object(block, "cache_control", at))


@_of_claude("use the standard base64 alphabet", "anthropics/anthropic-sdk-typescript#603, Yeachan-Heo/gajae-code#2813")
def data_is_base64(request: Request) -> Iterator[Broken]:
    """The data of an image or a document must be base64 in the standard alphabet."""
    for at, block in _blocks(request, "image", "document"):
        for path, source in one_object(block, "source", at):
            if source.get("type") == "base64":
                yield from bad_base64(f"{path}.data", source.get("data"), bare=True)


@_of_claude("convert it to a supported type", f"types/base64_image_source_param.py, image_block_param.py of {SDK}")
def media_types_supported(request: Request) -> Iterator[Broken]:
    """Inline images must be JPEG, PNG, GIF or WebP, inline documents PDF or text; no link may be to audio or video."""
    for at, block in _blocks(request, "image", "document"):
        for path, source in one_object(block, "source", at):
            media_type = source.get("media_type")
            accepted = INLINE.get(f"{block['type']} {source.get('type')}")
            if accepted and isinstance(media_type, str) and media_type not in accepted:
                yield f"{path}.media_type", media_type
            link = source.get("url") if source.get("type") == "url" else None
            linked = media_type_of_link(link) if isinstance(link, str) else None
            if kind_of_media(linked) in ("audio", "video"):
                yield f"{path}.url", f"a link to {linked}"


@_of_claude("keep the text in the result, and move the rest after the results", "can1357/oh-my-pi#12809")
def error_results_hold_text(request: Request) -> Iterator[Broken]:
    """A result with `is_error` must contain only text."""
    for at, result in _blocks(request, "tool_result"):
        inside = objects(result, "content", at) if result.get("is_error") is True else iter(())
        yield from ((path, f"{b.get('type')} in an error result") for path, b in inside if b.get("type") != "text")


@_of_claude("use a value from 0 to 1", "anthropics/anthropic-sdk-python#893, odysseus-dev/odysseus#1644")
def sampling_in_range(request: Request) -> Iterator[Broken]:
    """temperature and top_p must be between 0 and 1."""
    return out_of_range(request, {key: models.SAMPLED[key] for key in ("temperature", "top_p")})


@_of_claude("use 0 or more", f"types/message_create_params.py of {SDK}")
def counts_are_not_negative(request: Request) -> Iterator[Broken]:
    """max_tokens and top_k must be at least 0. With max_tokens 0, the API caches the prompt and sends no answer."""
    return out_of_range(request, dict.fromkeys(("max_tokens", "top_k"), (0, float("inf"))))


@_by_model("remove it", "UKGovernmentBEIS/inspect_ai#3721, srtab/daiv#1429, langfuse/langfuse#9882")
def sampling_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """From Claude 4.7 on, temperature and top_p must be 1, and top_k must be unset."""
    yield from _unsampled(request, capabilities.sampled(thinks=False))


@_of_claude("remove one of them", "langfuse/langfuse#9882")
def temperature_excludes_top_p(request: Request) -> Iterator[Broken]:
    """Claude 4.5 and 4.6 accept only one of temperature and top_p."""
    both = _number(request, "temperature") is not None and _number(request, "top_p") is not None
    if both and excludes_top_p(request.get("model")):
        yield "$.top_p", "with temperature"


@_by_model("remove it", "mnfst/modelparams.dev#214, quarkiverse/quarkus-langchain4j#1812, SEMOSS/Semoss#1655")
def no_sampling_with_thinking(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """With thinking, temperature must be 1, top_p at least 0.95, and top_k unset."""
    if table(request, "thinking").get("type") in ("enabled", "adaptive"):
        yield from _unsampled(request, capabilities.sampling_while_thinking)


def _unsampled(request: Request, ranges: Mapping[str, Range] | None) -> Iterator[Broken]:
    """Yield the sampling settings that the model does not take, or only at one value."""
    if SAMPLING.keys().isdisjoint(request):
        return
    yield from ((f"$.{key}", value) for key, value in unsampled(request, SAMPLING, ranges))
    least, _ = (ranges or {}).get("top_p", (0, 1))
    top_p = _number(request, "top_p")
    yield from (("$.top_p", str(top_p)) for _ in [0] if top_p is not None and 0 < least < 1 and top_p < least)


@_of_claude("use 1024 or more, and less than max_tokens", f"types/thinking_config_enabled_param.py of {SDK}")
def thinking_budget_in_range(request: Request) -> Iterator[Broken]:
    """A thinking budget must be at least 1024 and, in a request without tools, less than max_tokens."""
    for at, thinking in one_object(request, "thinking"):
        budget, most = _number(thinking, "budget_tokens"), _number(request, "max_tokens")
        enough = most is None or budget is None or budget < most or bool(request.get("tools"))
        if thinking.get("type") == "enabled" and budget is not None and (budget < models.BUDGET[0] or not enough):
            yield at, f"{budget}, max_tokens {most}"


@_by_model("use adaptive thinking from 4.7 on, a budget up to 4.5", f"srtab/daiv#1429, {DOCS}/effort")
def thinking_mode_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Thinking mode and effort must be of those that the model supports. Without thinking, it may support fewer levels.

    Up to 4.5, no adaptive thinking; from 4.7 on, no thinking budget; Sonnet 4.5, Haiku 4.5 and older: no effort.
    """
    kind, effort = table(request, "thinking").get("type"), table(request, "output_config").get("effort")
    off = capabilities.efforts_without_thinking if kind in ("disabled", "between_tools") else None
    if (
        isinstance(kind, str)
        and not capabilities.thinks_by(kind)
        and not (kind == "disabled" and capabilities.thinking == ())
    ):
        yield "$.thinking", kind
    efforts = capabilities.efforts if off is None else off
    if effort is not None and efforts is not None and effort not in efforts:
        yield "$.output_config.effort", str(effort)


@_by_model("use auto, and ask for the tool in the prompt", "mastra-ai/mastra#7507, can1357/oh-my-pi#12939")
def forced_tool_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """A tool must not be forced with a thinking budget, or on Opus 5.5, Sonnet 5.5, Fable or Mythos 5.1 and 5.2."""
    kind = table(request, "tool_choice").get("type")
    if kind in ("any", "tool") and refuses_forced_tool(capabilities, table(request, "thinking").get("type")):
        yield "$.tool_choice", kind


@_by_model("remove it, and ask for JSON in the prompt", f"{DOCS}/structured-outputs")
def structured_output_supported(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Models before Opus 4.1, Sonnet 4.5 and Haiku 4.5 accept no output format and no strict tools."""
    for at, config in one_object(request, "output_config") if not capabilities.structured_output else ():
        yield from ((path, "a format") for path, _ in one_object(config, "format", at))
    for at, tool in objects(request, "tools") if not capabilities.strict_tools else ():
        yield from ((f"{at}.strict", "a strict tool") for _ in [0] if tool.get("strict") is True)


@_rule("add it", "API errors: tool_choice may only be specified while providing tools; not found in provided tools")
def chosen_tools_are_defined(request: Request) -> Iterator[Broken]:
    """A tool choice requires tools, and a tool that it names must be one of them."""
    for at, choice in () if request.get("mcp_servers") or request.get("thread") else one_object(request, "tool_choice"):
        tools = [tool for _, tool in objects(request, "tools")]
        named = all(isinstance(tool.get("name"), str) for tool in tools)
        if not tools and choice.get("type") in ("auto", "any", "tool"):
            yield at, "no tools"
        elif named and choice.get("type") == "tool" and all(tool["name"] != choice.get("name") for tool in tools):
            yield at, f"no tool {choice.get('name')!r}"


@_of_claude("rename it everywhere", "home-assistant/core#147760, anthropics/claude-code#96152")
def tool_names_match_pattern(request: Request) -> Iterator[Broken]:
    """Tool names must be 1 to 128 ASCII letters, digits, underscores and hyphens."""
    names = ((at, tool.get("name")) for at, tool in objects(request, "tools"))
    yield from ((f"{at}.name", repr(n)) for at, n in names if isinstance(n, str) and not TOOL_NAMES.accepts(n))


@_rule("rename or remove one of them", "anthropics/claude-code#10687, eclipse-theia/theia#16122")
def tool_names_are_unique(request: Request) -> Iterator[Broken]:
    """No two tools may have the same name."""
    names = [(at, tool["name"]) for at, tool in objects(request, "tools") if isinstance(tool.get("name"), str)]
    first = {name: at for at, name in reversed(names)}
    yield from ((f"{at}.name", f"duplicate {name!r}") for at, name in names if first[name] != at)


@_of_claude("use an object with properties", "anthropics/claude-code#40075, dearlordylord/huly-mcp#66")
def schemas_describe_objects(request: Request) -> Iterator[Broken]:
    """The input schema of a tool must have type object, and no oneOf, allOf or anyOf at the top level."""
    for at, tool in objects(request, "tools"):
        for path, schema in one_object(tool, "input_schema", at):
            if schema.get("type") != "object":
                yield path, f"type {schema.get('type')!r}"
            yield from ((f"{path}.{key}", "at the top level") for key in ("oneOf", "allOf", "anyOf") if key in schema)


@_of_claude("set additionalProperties: false", f"{DOCS}/structured-outputs, veryfront/veryfront-code#3921")
def strict_objects_are_closed(request: Request) -> Iterator[Broken]:
    """In schemas of strict tools and of the output format, objects must have additionalProperties false."""
    for at, schema in _strict_schemas(request):
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            yield at, "additionalProperties is not false"


@_of_claude("move it to the description", f"{DOCS}/structured-outputs, maximhq/bifrost#4691")
def strict_schemas_have_no_bounds(request: Request) -> Iterator[Broken]:
    """Schemas of strict tools and of the output format must not bound numbers or lists, except with minItems 0 or 1."""
    for at, schema in _strict_schemas(request):
        keywords = UNSUPPORTED.get(str(schema.get("type")), ())
        yield from ((f"{at}.{keyword}", "not supported") for keyword in keywords if keyword in schema)
        if schema.get("type") == "array" and schema.get("minItems", 0) not in MIN_ITEMS:
            yield f"{at}.minItems", str(schema["minItems"])


@_of_claude("remove strict from the less important ones", "camel-ai/camel#4171, elizaOS/eliza#16499")
def strict_tool_limit(request: Request) -> Iterator[Broken]:
    """At most 20 tools may be strict."""
    if len(list_of(request, "tools")) <= MOST_STRICT:
        return
    strict = [at for at, tool in objects(request, "tools") if tool.get("strict") is True]
    yield from ((f"{at}.strict", f"more than {MOST_STRICT} strict tools") for at in strict[MOST_STRICT:])


@_of_claude("remove cache_control from some of them", "tghamm/Anthropic.SDK#50, griffinmartin/opencode-claude-auth#121")
def cache_breakpoint_limit(request: Request) -> Iterator[Broken]:
    """A request may have at most 4 cache breakpoints."""
    yield from ((at, f"more than {MOST_BREAKPOINTS}") for at, _ in [*cached_blocks(request)][MOST_BREAKPOINTS:])


@_of_claude("set the earlier breakpoints to 1h too", "headroomlabs-ai/headroom#2939, vellum-ai/vellum-assistant#22191")
def longer_cache_ttl_first(request: Request) -> Iterator[Broken]:
    """In tools, system and messages, a cache breakpoint of 1h must not come after one of 5m."""
    shorter = False
    for at, block in cached_blocks(request):
        if shorter and block["cache_control"].get("ttl") == "1h":
            yield f"{at}.ttl", "1h after 5m"
        shorter = shorter or block["cache_control"].get("ttl", "5m") == "5m"


@_of_claude("remove defer_loading from a tool, such as the search tool", f"{TOOLS_PAGE}/tool-search-tool")
def not_all_tools_deferred(request: Request) -> Iterator[Broken]:
    """If a request has tools, at least one must not have deferred loading."""
    deferred = [tool.get("defer_loading") is True for _, tool in objects(request, "tools")]
    if deferred and all(deferred):
        yield "$.tools", "all tools are deferred"


@_of_claude("remove it, and cut the answer yourself", "BerriAI/litellm#3286, MegaGrindStone/mcp-web-ui#5")
def stop_sequences_are_not_blank(request: Request) -> Iterator[Broken]:
    """Stop sequences must contain more than white space."""
    sequences = request["stop_sequences"] if isinstance(request.get("stop_sequences"), list) else []
    yield from ((f"$.stop_sequences[{i}]", repr(s)) for i, s in enumerate(sequences) if _is_blank(s))


@_of_claude("request citations or a format, not both", "anthropics/claude-code#19417, agno-agi/agno#7513")
def no_citations_with_output_format(request: Request) -> Iterator[Broken]:
    """With an output format, documents and search results must not have citations."""
    if isinstance(table(request, "output_config").get("format"), dict):
        for at, block in _blocks(request, "document", "search_result"):
            for path, citations in one_object(block, "citations", at):
                yield from (
                    (f"{path}.enabled", "with an output format") for _ in [0] if citations.get("enabled") is True
                )


# -- rules of hosts -------------------------------------------------------------------------------------------------

# Hosts with this API: DeepSeek (api-docs.deepseek.com/guides/anthropic_api), Ollama and others with open weights.
makers.declare_models(
    RULES, "platform.claude.com/docs/en/api/errors, 404; seen 2026-11-29", serves=makers.OPEN | {"anthropic"}
)


@RULES.by_host(
    "refused",
    fix="convert it with the policy dialect",
    source="lib/bedrock/_client.py, lib/vertex/_client.py of anthropic 2.12; fumito-ito/AnthropicSwiftSDK#19; "
    "seen 2026-11-24",
)
def body_has_form_of_host(request: Request, host: Host) -> Iterator[Broken]:
    """A request to Bedrock or Vertex AI must have `anthropic_version` in the body, and its model only in the path."""
    dialect: Dialect | None = host.dialect
    if dialect is None:
        return
    if dialect.version is not None and request.get(VERSION) is None:
        yield "$", f"no {VERSION}: {dialect.name} takes {dialect.version!r}"
    yield from ((f"$.{name}", "in the body") for name in dialect.in_path if name in request)


@RULES.by_host(
    "refused",
    fix="remove it, or send media inline",
    source="platform.claude.com/docs/en/build-with-claude/overview, anthropics/anthropic-sdk-typescript#1038, "
    "pollinations/pollinations#5862, BerriAI/litellm#36228; seen 2026-11-24",
)
def features_known_to_host(request: Request, host: Host) -> Iterator[Broken]:
    """Bedrock and Vertex AI lack features of Anthropic's own API: fields, hosted tools and calls, files, media by URL.

    Older models at Bedrock accept cache points of blocks only.
    """
    dialect: Dialect | None = host.dialect
    if dialect is None:
        return
    yield from ((f"$.{name}", f"at {dialect.name}") for name in dialect.refused if request.get(name) is not None)
    if request.get(CACHE_CONTROL) is not None and refuses_cache_point(dialect, request.get("model")):
        yield f"$.{CACHE_CONTROL}", f"for {request['model']:.60} at {dialect.name}"
    yield from ((at, f"{tool['type']} at {dialect.name}") for at, tool in refused_tools(request, dialect))
    lacking = _lacking(dialect)
    for at, block in _blocks(request):
        kind = str(block.get("type"))
        name = block.get("name") if kind == "server_tool_use" else re.sub("_tool_(?:use|result|listing)$", "", kind)
        if isinstance(name, str) and _KINDS.get(name) in lacking:
            yield at, f"{kind:.60} at {dialect.name}"
        for place, source in one_object(block, "source", at):
            if source.get("type") in dialect.sources:
                yield place, f"source of type {source['type']} at {dialect.name}"


RULES.leave_out(
    *("counts-are-not-negative", "chosen-tools-are-defined", "forced-tool-supported", "thinking-mode-supported"),
    *("thinking-budget-in-range", "sampling-supported", "temperature-excludes-top-p", "no-sampling-with-thinking"),
    *("structured-output-supported", "stop-sequences-are-not-blank", "strict-tool-limit"),
)
