"""The table of the Responses API: tools, items as messages, requests and answers.

The rows of parts and items are in items.py. Consecutive items of the assistant (reasoning, calls, hosted tools, the
parts of its message items) are one message, and so are consecutive results of tools. The fields of an item other than
its parts are kept with its first part, in the hint `ITEM`; a part with that hint starts an item.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    AddedTools,
    Blocks,
    Choice,
    Codec,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    Fields,
    Filled,
    FinishReasons,
    Hint,
    Implied,
    OneOf,
    PairRow,
    ProviderOnly,
    Record,
    Rest,
    Roles,
    Row,
    Silent,
    TextField,
    TextOrBlocks,
    custom_names,
    enum_at,
    escaped,
    hints,
    needs_error_mark,
    object_of,
    reasons,
    row,
    text_of,
    wire_fields,
    with_error_mark,
    with_error_read,
)
from contentmodel.content.base import Protected
from contentmodel.content.outcomes import ConfigurationContent, ToolChangeContent, UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolApprovalResponseContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, FinishReason
from contentmodel.request import (
    ChatRequest,
    CustomTool,
    FunctionTool,
    HostedTool,
    ResponseFormat,
    ToolChoice,
    ToolGroup,
)
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common.answer import OnlyChoice, misfits
from contentmodel_adapters.common.citations import whole_citations
from contentmodel_adapters.common.hosted import Current, Hosted, declaration
from contentmodel_adapters.common.reasoning import ITEM, MAKERS, decode_parts, maker_of, unknown_part_of
from contentmodel_adapters.common.replay import Change, Replay
from contentmodel_adapters.common.schema_adaptation import fits_strict_mode
from contentmodel_adapters.openai.responses.items import (
    AGENT_MESSAGE,
    API,
    ERROR,
    FORMATS,
    INPUT,
    ITEMS,
    OTHER_PAIRS,
    OUTPUT,
    PAIRS,
    REASONING,
    SEALED,
    TABLE,
    USAGE,
    ItemIds,
    is_agent_message,
)
from contentmodel_adapters.openai.table import EFFORTS, ERRORS, TIERS, read_choice, write_choice

# -- tools -------------------------------------------------------------------------------------------------------------


class _StrictByDefault(Implied):
    """The value of `strict` in a function without this field. A changed value is written."""

    def __init__(self) -> None:
        super().__init__({"strict": True})

    def keys_of(self, attribute: str) -> Sequence[str]:
        return ("strict",) if attribute == "strict" else ()

    def finish(self, value: Any, wire: dict[str, Any], context: EncodeContext) -> None:
        if value.strict is False or context.completes:
            wire["strict"] = value.strict


def _is_strict_by_default(wire: Mapping[str, Any]) -> bool:
    """Return whether a function has no `strict`, and a schema that the API enforces nevertheless.

    "If you omit `strict`, the default depends on the API: Responses requests will attempt to normalize your schema into
    strict mode when possible, and will fall back to non-strict, best-effort function calling [...]. Chat Completions
    requests remain non-strict by default" (developers.openai.com/api/docs/guides/function-calling, "Strict mode", and
    types/responses/namespace_tool.py of openai 3.54; seen 2026-11-29). The guide does not list what is normalized, and
    only names closed objects and required properties as examples. So only a schema that strict mode takes unchanged is
    known to be enforced: no schema that another API gets is rewritten because a field is missing.
    """
    return wire.get("strict") is None and fits_strict_mode(wire.get("parameters"))


_FUNCTION = {"name": "name", "description": "description", "parameters": "parameters", "output_schema": "returns"}
FUNCTION = row(
    "function",
    FunctionTool,
    {**_FUNCTION, "strict": "strict"},
    # If `strict` is missing, this API takes it as true, others as false.
    Filled({"parameters": None, "strict": False}),
)
STRICT_BY_DEFAULT = row(
    "function", FunctionTool, _FUNCTION, _StrictByDefault(), form="strict by default", accepts=_is_strict_by_default
)
CUSTOM = row("custom", CustomTool, {"name": "name", "description": "description", "format": "format"})

HOSTED_KINDS = {
    "web_search": "web_search",
    "web_search_2025_08_26": "web_search",
    "web_search_preview": "web_search",
    "web_search_preview_2025_03_11": "web_search",
    "file_search": "file_search",
    "code_interpreter": "code_interpreter",
    "image_generation": "image_generation",
    "mcp": "mcp",
    "computer": "computer",
    "computer_use_preview": "computer",
    "local_shell": "shell",
    "shell": "shell",
    "apply_patch": "apply_patch",
    "tool_search": "tool_search",
    "programmatic_tool_calling": "program",
}
# The definitions of hosted tools that were created by the application or come from another API (openai 3.54,
# types/responses/tool_param.py, seen 2026-11-22).
_SEARCHES = {
    "allowed_domains": "filters.allowed_domains",
    "user_location": "user_location",
    "search_context_size": "search_context_size",
}
_SCREEN = ("display_width", "display_height", "environment")
CURRENT: Current = {
    "web_search": (Hosted("web_search", crosses=True, searches=_SEARCHES),),
    "file_search": (Hosted("file_search", needs=("vector_store_ids",)),),
    "code_interpreter": (Hosted("code_interpreter"),),
    "image_generation": (Hosted("image_generation", crosses=True),),
    "mcp": (Hosted("mcp", needs=("server_label",)),),
    "computer": (Hosted("computer_use_preview", needs=_SCREEN), Hosted("computer")),
    "shell": (Hosted("shell"),),
    "apply_patch": (Hosted("apply_patch"),),
    "tool_search": (Hosted("tool_search"),),
    "program": (Hosted("programmatic_tool_calling"),),
}
# Required settings for which the API has an automatic choice.
FILL: dict[str, dict[str, Any]] = {"code_interpreter": {"container": {"type": "auto"}}}


def _usual_tool(tool: Any, rows: list[Row]) -> Row | None:
    if tool.__class__ is FunctionTool:
        return FUNCTION
    if tool.__class__ is not HostedTool:
        return rows[0]
    declared = declaration(tool, CURRENT)
    return next((r for r in rows if declared is not None and r.name == declared.tag), None)


HOSTED = [
    Row(
        tag,
        HostedTool,
        {},
        Implied({"kind": kind}),
        Rest("settings"),
        Silent("name"),
        Filled(FILL.get(tag, {})),
        constants={"type": tag},
    )
    for tag, kind in HOSTED_KINDS.items()
]
OTHER = Row("other", HostedTool, {"type": "kind"}, Rest("settings"), Silent("name"))
FUNCTIONS = [STRICT_BY_DEFAULT, FUNCTION]
INNER = TABLE.union(
    "namespace tool", [*FUNCTIONS, CUSTOM, *HOSTED], default="function", other=OTHER, prefer=_usual_tool
)
NAMESPACE = row(
    "namespace",
    ToolGroup,
    {"name": "name", "description": "description", "tools": ("tools", Blocks(INNER))},
)
TOOLS = TABLE.union(
    "tool", [*FUNCTIONS, CUSTOM, NAMESPACE, *HOSTED], default="function", other=OTHER, prefer=_usual_tool
)


def read_any_choice(value: dict[str, Any]) -> ToolChoice | None:
    """Return the choice that an object means; None if it is not understood."""
    kind = text_of(value, "type")
    is_hosted = kind in HOSTED_KINDS
    return ToolChoice(mode="required", hosted=HOSTED_KINDS[kind]) if is_hosted else read_choice(value, inside=False)


def write_any_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    """Return the string or object of a choice; None if the API cannot express it."""
    if choice.hosted is not None:
        return {"type": choice.hosted} if choice.hosted in HOSTED_KINDS else None
    return write_choice(choice, custom_names(tools), inside=False)


_FORMS = ("function", "custom", "allowed_tools", *HOSTED_KINDS, "computer_use")
TABLE.known_values("tool_choice", "auto", "none", "required", *_FORMS)
TOOL_CHOICE = Choice(read_any_choice, write_any_choice, tagged=("type", _FORMS))

TEXT_FORMAT = TABLE.union(
    "text.format",
    [
        row(
            "json_schema",
            ResponseFormat,
            {"schema": "schema", "name": "name", "description": "description", "strict": "strict"},
            Implied({"kind": "json_schema"}),
            Silent("media_type"),
            Filled({"name": "response"}),
        ),
        row("json_object", ResponseFormat, {}, Implied({"kind": "json"}), Silent("media_type")),
        row("text", ResponseFormat, {}, Implied({"kind": "text"}), Silent("media_type")),
    ],
    other=Row("other", ResponseFormat, {"type": "kind"}),
    prefer=lambda response_format, rows: next((r for r in rows if r.implied.get("kind") == response_format.kind), None),
)

ADDED = AddedTools(TOOLS, lambda tool: tool)
"""The tools of items of type `additional_tools`."""


# -- messages ----------------------------------------------------------------------------------------------------------

STRING = Hint[Literal[True]](API, "string", "the content of an item, or the input, was a string")
WHOLE_ITEM = Hint[Literal[True]](
    API,
    "whole_item",
    "an unknown object was an item, not a part of one",
    older={"whole": lambda value: value},
)
ROLES = Roles(API, {"user": "user", "assistant": "assistant", "system": "system", "developer": "developer"})
MESSAGE = TABLE.records["message"] = row(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", TextOrBlocks(INPUT, "string"))},
    Silent("message_id"),
).bind(API)

_PAIR_BY_TAG = {pair.name: pair for pair in PAIRS}
_OTHER_BY_NAME = {pair.name: pair for pair in OTHER_PAIRS}
_PAIR_BY_CALL: dict[type, PairRow] = {pair.call.model: pair for pair in (*PAIRS, *OTHER_PAIRS)}
_PAIR_BY_RESULT: dict[type, PairRow] = {pair.result.model: pair for pair in (*PAIRS, *OTHER_PAIRS)}
_REASONING_FIELDS = (("summary", "summary_text"), ("content", "reasoning_text"))


# -- decoding ------------------------------------------------------------------------------------------------------


def decode_items(items: list[Any], context: DecodeContext) -> list[ChatMessage]:
    """Return the messages of a list of items."""
    messages: list[ChatMessage] = []
    run: list[Any] = []
    run_role = ""
    for index, item in enumerate(items):
        if item.__class__ is not dict:
            context.expected(items, index, "an object: an item", item)
            continue
        role, contents = context.decoded.get(id(item)) or decode_item(item, items, index, context)
        if role == run_role and contents is not None:
            run.extend(contents)
            continue
        if run:
            messages.append(ChatMessage(role=run_role, contents=run, origin=context.origin))
        run, run_role = [], ""
        if contents is None:
            message = _decode_message(item, context)
            context.trace(_row_of(item), [message], items, index, spread=False)
            messages.append(message)
        else:
            # A copy: the list of one item's contents was traced, and must not grow.
            run, run_role = list(contents), role
    if run:
        messages.append(ChatMessage(role=run_role, contents=run, origin=context.origin))
    return messages


def decode_item(
    item: dict[str, Any], items: list[Any], index: int, context: DecodeContext
) -> tuple[str, list[Any] | None]:
    """Return the role of the run that an item belongs to, and its contents; None if it is a separate message."""
    tag = item.get("type")
    if tag in ("function_call", "function_call_output", "custom_tool_call_output"):
        content = with_error_read(ITEMS.decode(item, context))
        if content.__class__ in _ROLES:
            context.traces.append((ITEMS, [content], items, index, False))
            return _ROLES[content.__class__], [content]
    if tag == "message" or (tag is None and item.get("role") is not None):
        content = item.get("content")
        if item.get("role") == "assistant" and (content.__class__ is str or content):
            return "assistant", _decode_parts(item, context)
        return "", None
    if tag == "agent_message" and not context.origin.is_answer and is_agent_message(item):
        return "", None
    if tag == "reasoning":
        return "assistant", _decode_reasoning(item, context)
    pair = _PAIR_BY_TAG.get(tag) if tag.__class__ is str else None
    if pair is not None:
        contents = _decode_pair(pair, item, context)
    elif (other := _decode_other_pair(item, context)) is not None:
        pair, contents = other
    elif tag is None and item.get("id").__class__ is str:
        reference = ITEMS.decode({**item, "type": "item_reference"}, context)
        contents = [hints.without_tag(reference, API, "type", item)]
    else:
        contents = [_decode_other(item, context)]
    context.traces.append((ITEMS if pair is None else pair, contents, items, index, False))
    return _ROLES.get(contents[0].__class__) or _role_of(contents[0]), contents


def _decode_other(item: dict[str, Any], context: DecodeContext) -> Any:
    """Decode an item that is one content. An unknown one gets the hint `WHOLE_ITEM`: it is not part of another."""
    is_null = "type" in item and item["type"] is None
    content = UnknownContent(api=API, block=item) if is_null else ITEMS.decode(item, context)
    return WHOLE_ITEM.on(content, API, True) if content.__class__ is UnknownContent else content


def _decode_pair(pair: PairRow, item: dict[str, Any], context: DecodeContext) -> list[Any]:
    action = item.get("action")
    if pair.name == "web_search_call" and "sources" in item:
        # Encoding writes a field of this name into the action.
        return [WHOLE_ITEM.on(UnknownContent(api=API, block=item), API, True)]
    if pair.name != "web_search_call" or action.__class__ is not dict or "sources" not in action:
        return pair.decode(item, context)
    # A search has its results inside its action.
    inner = {key: value for key, value in action.items() if key != "sources"}
    lifted = {**item, "action": inner, "sources": action["sources"]}
    context.copied(lifted, item, moved=("sources", "action.sources"))
    return pair.decode(lifted, context)


def _decode_other_pair(item: dict[str, Any], context: DecodeContext) -> tuple[PairRow, list[Any]] | None:
    """Return the call and the result of a tool's item that the tag does not tell; None if it has another form."""
    for pair in OTHER_PAIRS:
        shape = pair.call.shape
        if pair.call.fits(item) if shape is None else shape.fits(item) and not ITEMS.knows(item):
            break
    else:
        return None
    contents = context.attempt(pair.decode, item)
    if contents is None or len(contents) != 2:
        return None
    call, result = contents
    result = msgspec.structs.replace(result, name=call.name)
    return pair, [hints.ROW.on(content, API, pair.name) for content in (call, result)]


def is_known_item(item: dict[str, Any]) -> bool:
    """Return whether the type of an item is of this API. The entries of logs have such types, and a timestamp."""
    tag = text_of(item, "type")
    return (tag in _OF_MESSAGES or tag in _PAIR_BY_TAG or ITEMS.knows(item)) and "timestamp" not in item


_OF_MESSAGES = ("message", "agent_message", "reasoning")
_FUNCTION_RESULTS = frozenset({FunctionResultContent, CustomToolResultContent})
_OF_ITEMS = frozenset(row.model for row in ITEMS.rows)
_PLAIN_TEXT = frozenset({"type", "text", "annotations"})
"""The fields of a part that a string can replace. The annotations are empty: a request has no citations."""

_ROLES: dict[type, str] = {
    FunctionCallContent: "assistant",
    CustomToolCallContent: "assistant",
    FunctionResultContent: "tool",
    CustomToolResultContent: "tool",
}


def _role_of(content: Any) -> str:
    if isinstance(content, ToolResultContent | ToolApprovalResponseContent):
        return "tool" if getattr(content, "executor", "client") == "client" else "assistant"
    if isinstance(content, ConfigurationContent | ToolChangeContent):
        return "developer"
    return "assistant"


def _row_of(item: dict[str, Any]) -> Row:
    return AGENT_MESSAGE if item.get("type") == "agent_message" else MESSAGE


def _decode_message(item: dict[str, Any], context: DecodeContext) -> ChatMessage:
    if item.get("type") is not None:
        layout = _row_of(item)
        message: ChatMessage = layout.decode(item, context)
        return message if layout is MESSAGE else hints.ROW.on(message, API, layout.name)
    typed = {**item, "type": "message"}
    context.copied(typed, item)
    message = MESSAGE.decode(typed, context)
    return hints.without_tag(message, API, "type", item) if isinstance(message, ChatMessage) else message


def _decode_parts(item: dict[str, Any], context: DecodeContext) -> list[Any]:
    content = item["content"]
    around = escaped({key: value for key, value in item.items() if key not in ("content", "role")})
    if content.__class__ is str:
        parts: list[Any] = [TextContent(text=content)]
        context.trace(None, parts, item, "content", spread=False)
        around |= STRING.entry(True)
    elif content.__class__ is list:
        parts = OUTPUT.decode_list(content, context)
        context.trace(OUTPUT, parts, item, "content", spread=len(parts) == len(content))
    else:
        context.expected(item, "content", "string or array", content)
        return []
    if parts:
        parts[0] = ITEM.on(parts[0], API, around)
    return parts


def _decode_reasoning(item: dict[str, Any], context: DecodeContext) -> list[Any]:
    parts: list[Any] = []
    around = dict(escaped(item))
    fields: list[tuple[str, slice]] = []
    for field, tag in _REASONING_FIELDS:
        wires = item.get(field)
        if wires.__class__ is list and any(_is_part(wire, tag) for wire in wires):
            parts += decode_parts(wires, field, REASONING, partial(_is_part, tag=tag), context)
            fields.append((field, slice(len(parts) - len(wires), len(parts))))
            del around[field]
    state = None
    if "provider_data" in item:
        _decode_passed_on(item, parts, around, context)
    # llama.cpp sends an empty text, which is no state (tools/server/server-task.cpp at 00efb3e, seen 2026-11-27).
    elif text_of(around, "encrypted_content"):
        state = SEALED.decode(around.pop("encrypted_content"), context, item, "encrypted_content")
        context.trace(None, [state], item, "encrypted_content", spread=False)
    if state is None and text_of(around, "signature") and _signer_of(item) is not None:
        state = Protected(issuer=_signer_of(item) or API, kind="signature", data=around.pop("signature"))
        context.trace(None, [state], item, "signature", spread=False)
    is_bare = not parts or (state is not None and not isinstance(parts[-1], ReasoningContent))
    if is_bare:
        parts.append(ReasoningContent())
    if state is not None:
        parts[-1] = msgspec.structs.replace(parts[-1], protected=state)
    parts[0] = ITEM.on(parts[0], API, around)
    for field, of_field in fields:
        context.trace(REASONING, parts[of_field], item, field, spread=True)
    if is_bare:
        context.trace(None, parts[-1:], item, "summary", spread=False)
    return parts


def _decode_passed_on(item: dict[str, Any], parts: list[Any], around: dict[str, Any], context: DecodeContext) -> None:
    """Give thoughts the signatures of their maker, which the Agents SDK joins in items of models of other APIs.

    Source: openai-agents 0.24, models/chatcmpl_converter.py, seen 2026-11-27.
    """
    signatures, maker = text_of(item, "encrypted_content").split("\n"), _maker_in(item)
    thoughts = [number for number, part in enumerate(parts) if getattr(part, "kind", None) == "text"]
    if maker is None or len(signatures) != len(thoughts):
        return
    states = [Protected(issuer=maker, kind="signature", data=signature) for signature in signatures]
    context.trace(None, states, item, "encrypted_content", spread=False)
    for number, state in zip(thoughts, states, strict=True):
        parts[number] = msgspec.structs.replace(parts[number], protected=state)
    del around["encrypted_content"]


def _maker_in(item: dict[str, Any]) -> str | None:
    """Return the maker of the model that an item of the Agents SDK names; None if its state is not passed on."""
    return maker_of(text_of(object_of(item, "provider_data"), "model"))


def _signer_of(item: dict[str, Any]) -> str | None:
    """Return the maker whose signature an item of OpenRouter has; None if its `format` names no such maker.

    Source: @openrouter/sdk 1.3, models/outputreasoningitem.d.ts, seen 2026-11-27.
    """
    maker = FORMATS.get(text_of(item, "format"))
    return maker if maker in MAKERS else None


def _is_part(wire: Any, tag: str) -> bool:
    return wire.__class__ is dict and wire.get("type") == tag and wire.get("text").__class__ is str


# -- encoding ------------------------------------------------------------------------------------------------------


def pair_of(content: Any) -> PairRow | None:
    """Return the pair that a call or a result is half of; None for one of an unknown tool that has a separate item."""
    if content.__class__ in (HostedToolCallContent, HostedToolResultContent):
        return _OTHER_BY_NAME.get(hints.ROW.of(content, API) or "")
    return _PAIR_BY_CALL.get(content.__class__) or _PAIR_BY_RESULT.get(content.__class__)


def item_groups(contents: list[Any]) -> list[list[Any]]:
    """Return contents in groups, each of which is one item: a call with its result, if they are halves of a pair."""
    calls: dict[tuple[str | None, type], list[Any]] = {}
    groups: list[list[Any]] = []
    for content in contents:
        pair, kind = pair_of(content), content.__class__
        call = calls.pop((content.call_id, kind), None) if pair is not None and kind is pair.result.model else None
        if call is not None:
            call.append(content)
            continue
        groups.append([content])
        if pair is not None and kind is pair.call.model:
            calls[content.call_id, pair.result.model] = groups[-1]
    return groups


class ItemRows:
    """The finder of the rows of the contents of items."""

    def row_of(self, value: Any) -> Any:
        """Return the row of a content: that of its half of a pair, if its item is a pair."""
        pair = pair_of(value)
        return ITEMS.row_of(value) if pair is None else pair.row_of(value)


class _Writer:
    """Write items. `_open` is the item to which more parts may be appended."""

    def __init__(self, context: EncodeContext, ids: ItemIds | None = None) -> None:
        self.context = context
        self._ids = ids
        self.items: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        self._is_given = False
        self._results: dict[tuple[str | None, type], deque[Any]] = {}
        self._joined: set[int] = set()

    def message(self, message: ChatMessage) -> None:
        self._open = None
        # A message of the user, the system or the developer is one item if none of its contents is one.
        if message.role in ("assistant", "tool") or not _OF_ITEMS.isdisjoint(map(type, message.contents)):
            self._turn(message)
        else:
            is_of_agent = self.context.native and hints.ROW.of(message, API) == AGENT_MESSAGE.name
            made_by = AGENT_MESSAGE if is_of_agent and message.role == "user" else MESSAGE
            item = made_by.encode(message, self.context)
            # Skip foreign messages with nothing to send.
            if self.context.native or "content" in item:
                self.items.append(item)

    def _turn(self, message: ChatMessage) -> None:
        contents: list[Any] = message.contents
        if message.author_name is not None:
            self.context.report_lost_attributes(message, ("author_name",))
        if message.extra is not None:
            self.context.leave_residue(message)
        if not contents and message.role == "assistant" and self.context.native:
            self.items.append(MESSAGE.encode(message, self.context))
        self._results = {}
        for result in contents:
            kind = result.__class__
            if kind in _PAIR_BY_RESULT and pair_of(result) is not None:
                self._results.setdefault((result.call_id, kind), deque()).append(result)
        for content in contents:
            self._write(content, message)

    def _write(self, content: Any, message: ChatMessage) -> None:
        kind = content.__class__
        pair = pair_of(content) if kind in _PAIR_BY_CALL or kind in _PAIR_BY_RESULT else None
        if kind in _FUNCTION_RESULTS and needs_error_mark(content):
            content = with_error_mark(content, self.context)
        if kind is ReasoningContent:
            self._reasoning(content)
        elif kind is UnknownContent and (field := unknown_part_of(content, API)) is not None:
            self._append(self._thought(content), field, content)
        elif pair is not None and kind in _PAIR_BY_CALL:
            self._open = None
            # Ids should be unique, but need not be: results are taken in their order.
            results = self._results.get((content.call_id, pair.result.model))
            result = results.popleft() if results else None
            self._joined.add(id(result))
            self._pair(pair, content, result)
        elif pair is not None:
            if id(content) not in self._joined:
                self._open = None
                self._pair(pair, None, content)
        elif kind in _OF_ITEMS or (kind is UnknownContent and self._is_item(content)):
            self._open = None
            self.items.extend(ITEMS.encode_list([content], self.context))
        else:
            self._part(content, message)

    def _is_item(self, content: UnknownContent) -> bool:
        """Return whether an unknown object was an item, or can only be one."""
        if WHOLE_ITEM.of(content, API):
            return True
        return ITEM.of(content, API) is None and not self._continues()

    def _continues(self) -> bool:
        item = self._open or {}
        return item.get("type") in (None, "message") and item.get("content").__class__ is list

    def _pair(self, pair: PairRow, call: Any, result: Any) -> None:
        item = pair.encode(call, result, self.context)
        if pair.name == "web_search_call" and "sources" in item:
            action = item.get("action") or {}
            # Arguments that are text are the search query.
            search = action if isinstance(action, dict) else {"type": "search", "query": action}
            item["action"] = {**search, "sources": item.pop("sources")}
        item.setdefault("type", f"{getattr(result, 'name', None) or 'hosted'}_call")
        self.items.append(item)

    def _part(self, content: Any, message: ChatMessage) -> None:
        context, around = self.context, ITEM.of(content, API)
        is_own = context.native and message.origin is not None and message.origin.api == API
        content = content if is_own or context.is_own(content) else whole_citations(content, context)
        is_given = around is not None or (self._is_given and self._continues())
        if not is_given and context.kind == "request" and content.annotations:
            # Citations require output_text, which only an item of the API's own answer may have.
            for citation in content.annotations:
                context.report_loss(citation, None, reasons.NO_CITATION_IN_REQUEST)
            content = context.replace(content, annotations=None)
        parts = OUTPUT.encode_list([content], context)
        if not parts:
            return
        if around is not None:
            self._is_given = True
            self._open = item = wire_fields(around)
            item["role"] = self._role(message)
            plain = STRING.read(around) and parts[0].keys() <= _PLAIN_TEXT and not parts[0].get("annotations")
            item["content"] = parts[0]["text"] if plain and content.__class__ is TextContent else parts
            self.items.append(item)
        elif self._continues():
            self._open["content"].extend(parts)  # type: ignore[index]
        else:
            self._new_message(parts, message)

    def _role(self, message: ChatMessage) -> str:
        return ROLES.encode(message.role, self.context, message)

    def _new_message(self, parts: list[Any], message: ChatMessage) -> None:
        item: dict[str, Any] = {"type": "message", "role": self._role(message)}
        if self.context.kind == "response":
            # An item of an answer has a status.
            item = {**item, "status": "completed"}
            item = item if self._ids is None else self._ids.named(item)
        elif len(parts) == 1 and parts[0].get("type") == "output_text" and parts[0].keys() <= _PLAIN_TEXT:
            self.items.append({**item, "content": parts[0]["text"]})
            return
        item["content"] = parts
        self._open, self._is_given = item, False
        self.items.append(item)

    def _thought(self, content: Any) -> dict[str, Any]:
        """Return the item of reasoning that a content is a part of: its own, the open one, or a new one."""
        around, item = ITEM.of(content, API), self._open
        if around is not None or item is None or item.get("type") != "reasoning":
            fields = {"type": "reasoning", "summary": []} if around is None else wire_fields(around)
            # The lists are copied: they may grow.
            item = {key: list(value) if value.__class__ is list else value for key, value in fields.items()}
            self._open = item
            self.items.append(item)
        return item

    def _append(self, item: dict[str, Any], field: str, content: Any) -> None:
        parts = REASONING.encode_list([content], self.context)
        if item.get(field).__class__ is list:
            item[field].extend(parts)
        else:
            item[field] = parts

    def _reasoning(self, content: ReasoningContent) -> None:
        item = self._thought(content)
        if content.kind is not None or content.text:
            self._append(item, "content" if content.kind == "text" else "summary", content)
        else:
            self.context.leave_residue(content)
        if content.protected is not None:
            self._seal(item, content, content.protected)

    def _seal(self, item: dict[str, Any], content: ReasoningContent, state: Protected) -> None:
        before = item.get("encrypted_content")
        if state.issuer == _maker_in(item):
            item["encrypted_content"] = state.data if before is None else f"{before}\n{state.data}"
            return
        if state.kind == "signature" and state.issuer == _signer_of(item):
            item["signature"] = state.data
            self._open = None
            return
        encrypted = SEALED.encode(state, self.context, content)
        if encrypted is not None:
            item["encrypted_content"] = encrypted
        self._open = None


_MADE = ("created_by",)
_PROVIDERS = ("unknown", "user", "assistant", "system", "critic", "discriminator", "tool")
_TOOL = Change(fills={"strict": None, "parameters": None})
REPLAY = Replay(
    blocks={
        "additional_tools": Change(replacements={"role": dict.fromkeys(_PROVIDERS, "developer")}),
        "apply_patch_call": Change(drops=_MADE),
        "apply_patch_call_output": Change(drops=_MADE),
        "code_interpreter_call": Change(fills={"code": None, "outputs": None}),
        "compaction": Change(drops=_MADE),
        "computer_call_output": Change(drops=_MADE, replacements={"status": {"failed": "incomplete"}}),
        "custom_tool_call": Change(drops=("status",)),
        "custom_tool_call_output": Change(drops=("created_by", "name", "status")),
        "double_click": Change(fills={"keys": []}),
        "function": _TOOL,
        "function_call_output": Change(drops=_MADE),
        "image_generation_call": Change(fills={"result": None}),
        "output_text": Change(fills={"annotations": []}),
        "shell_call": Change(drops=_MADE),
        "shell_call_output": Change(drops=_MADE),
        "tool_search_call": Change(drops=_MADE),
        "tool_search_output": Change(drops=_MADE),
    },
    fields={"error": Change(fills={"code": None, "param": None}), "output": Change(drops=_MADE)},
    verbatim=("arguments", "parameters", "schema", "input_schema"),
)
"""The differences of items in requests from those in answers (openai 3.54, types/responses; November 2026)."""


def encode_items(
    messages: list[ChatMessage], context: EncodeContext, ids: ItemIds | None = None
) -> list[dict[str, Any]]:
    """Return the items of a list of messages. New message items get ids from `ids`."""
    writer = _Writer(context, ids)
    for message in messages:
        before = len(writer.items)
        writer.message(message)
        if context.kind == "request" and message.origin is not None and message.origin.is_answer:
            writer.items[before:] = [REPLAY.request_form(item, message, context) for item in writer.items[before:]]
    return writer.items


class Items(Codec[list[ChatMessage]]):
    """The `input` of a request: a list of items, or a string for one user message."""

    classes = (list, str)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ is str or (value.__class__ is list and bool(value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        if value.__class__ is list:
            return decode_items(value, context)
        contents: list[Any] = [TextContent(text=value)]
        context.trace(None, contents, container, key, spread=False)
        extra = STRING.extra(API, True)
        return [ChatMessage(role="user", contents=contents, origin=context.origin, extra=extra)]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> Any:
        items = encode_items(value, context)
        if len(value) == 1 and STRING.of(value[0], API) and set(items[0]) == {"type", "role", "content"}:
            content = items[0]["content"]
            return content if content.__class__ is str else items
        return items or None


# -- requests ----------------------------------------------------------------------------------------------------------

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "instructions": ("instructions", TextField(TextContent, "text", between="\n\n")),
        "input": ("messages", Items()),
        "tools": ("tools", Blocks(TOOLS)),
        "tool_choice": ("options.tool_choice", TOOL_CHOICE),
        "parallel_tool_calls": "options.parallel_tool_calls",
        "text.format": ("options.response_format", OneOf(TEXT_FORMAT)),
        "text.verbosity": "options.verbosity",
        "max_output_tokens": "options.max_output_tokens",
        "temperature": "options.temperature",
        "top_p": "options.top_p",
        "top_logprobs": "options.top_logprobs",
        "stream": "options.stream",
        "store": "options.store",
        "user": "options.user",
        "metadata": "options.metadata",
        "service_tier": enum_at("options.service_tier", *TIERS, "ultrafast"),
        "previous_response_id": ("options.previous_response_id", ProviderOnly("options.previous_response_id", str)),
        "conversation": "options.conversation_id",
        "reasoning.effort": enum_at("options.reasoning.effort", *EFFORTS),
        "reasoning.summary": enum_at("options.reasoning.summary", "auto", "concise", "detailed"),
    },
)


# -- answers -----------------------------------------------------------------------------------------------------------

INCOMPLETE = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "max_messages": "length",
    "steered": "other",
}
INCOMPLETE_STATUS = "incomplete"
"""The status of an incomplete answer: the finish reason if its details have none."""
STATUSES = {
    "completed": "stop",
    "failed": "error",
    "cancelled": "cancelled",
    "in_progress": "running",
    "queued": "running",
}

_REASONS: dict[str | int, str] = dict((*STATUSES.items(), *INCOMPLETE.items()))
FINISH = FinishReasons(
    _REASONS,
    {
        "stop": "completed",
        "tool_calls": "completed",
        "length": "max_output_tokens",
        "content_filter": "content_filter",
        "error": "failed",
        "cancelled": "cancelled",
        "running": "in_progress",
    },
    "completed",
    implied=("tool_calls",),
    of_hosts={INCOMPLETE_STATUS: "length"},
    same=(INCOMPLETE_STATUS,),
)
"""The finish reasons: a status, or the reason of an incomplete answer."""

TABLE.known_values("status", *STATUSES, INCOMPLETE_STATUS)
TABLE.known_values("incomplete.reason", *INCOMPLETE)
TABLE.known_values("error.code", *ERRORS.types)


def finish_of(wire: Mapping[str, Any], choice: ChatChoice) -> FinishReason | None:
    """Return the finish reason that the status gives; "tool_calls" if a completed answer has tool calls."""
    status, details = wire.get("status"), wire.get("incomplete_details")
    if not isinstance(status, str):
        return None
    if status == INCOMPLETE_STATUS:
        raw = details.get("reason") if isinstance(details, dict) else None
        if not isinstance(raw, str):
            return FinishReason(reason=FINISH.reasons[status], raw=status)
        return FinishReason(reason=INCOMPLETE.get(raw, "other"), raw=raw)
    reason = STATUSES.get(status, "other")
    if reason == "stop" and any(message.tool_calls for message in choice.messages):
        reason = "tool_calls"
    return FinishReason(reason=reason, raw=status, resumable=reason == "running")


def _other_details(wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of an incomplete answer that its finish reason does not hold, for the residue."""
    details = wire.get("incomplete_details")
    if details.__class__ is not dict:
        return {}
    is_read = wire.get("status") == INCOMPLETE_STATUS and details.get("reason").__class__ is str
    others = {key: value for key, value in details.items() if value is not None and not (is_read and key == "reason")}
    return {"incomplete_details": others} if others else {}


def status_of(raw: str | int | None) -> dict[str, Any]:
    """Return the status fields of an encoded finish reason."""
    if raw is None:
        return {}
    if raw in INCOMPLETE:
        return {"status": INCOMPLETE_STATUS, "incomplete_details": {"reason": raw}}
    return {"status": raw, "incomplete_details": None}


STATUS_FIELDS = Hint[dict[str, Any]](API, "ending", "the fields that report the status of the answer")
NO_OUTPUT = Hint[list[Any] | None](API, "output", "the output of an answer that has no items: null or empty")
ENDING = Fields({"finish_reason": "status", "messages": "output"})


class Output(OnlyChoice):
    """The output items and the status: the messages of the only choice, and its finish reason.

    The status fields are kept in the hint `STATUS_FIELDS` and written again, unless the finish reason was changed or
    comes from another API.
    """

    keys = ("output", "status", "incomplete_details")
    parts = {"status": "choices.finish_reason", "incomplete_details": "choices.finish_reason"}

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        keys = [key for key in self.keys if key in wire]
        return () if all(wire[key] is None for key in keys) else keys

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        items = wire.get("output")
        if items is not None and items.__class__ is not list:
            context.expected(wire, "output", "array", items)
        messages = decode_items(items, context) if items.__class__ is list else []
        if not self.consumed(wire):
            return []
        ending = {key: wire[key] for key in self.keys[1:] if key in wire}
        hint_fields = STATUS_FIELDS.entry(ending)
        if "output" in wire and not items:
            hint_fields |= NO_OUTPUT.entry(items)
        extra = {API: {**hint_fields, **misfits(wire, status=str, incomplete_details=dict), **_other_details(wire)}}
        choice = ChatChoice(messages=messages, extra=extra)
        choices = [msgspec.structs.replace(choice, finish_reason=finish_of(wire, choice))]
        context.trace(ENDING, choices, wire, None, spread=False)
        return choices

    def write_choice(
        self, choice: ChatChoice, residue: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        # The application may add texts to an answer of this API. All items of another API's answer get ids when it is
        # completed.
        items = encode_items(choice.messages, context, None if context.completes else ItemIds(wire))
        if items or NO_OUTPUT.is_in(residue):
            wire["output"] = items or NO_OUTPUT.read(residue)
        wire.update(STATUS_FIELDS.read(residue) or {})
        finish = choice.finish_reason
        if finish is not None and finish_of(wire, choice) != finish:
            wire.update(status_of(FINISH.encode(finish, context, choice)))


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created_at": "created",
        "usage": ("usage", Record(USAGE)),
        "error": ("error", ErrorBody(ERROR, ERRORS)),
    },
    Output(),
)
