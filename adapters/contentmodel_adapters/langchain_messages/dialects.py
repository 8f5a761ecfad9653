"""Content blocks of LangChain's messages: standard ones, and those in the format of a provider.

The adapter of the provider's API decodes and encodes blocks in its format. A content that it decoded has the hint
`INNER`, and its other fields are the residue of that API.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import (
    CachePoints,
    DecodeContext,
    EncodeContext,
    Hint,
    Union,
    hints,
    list_of,
    object_of,
    reasons,
    runs,
)
from contentmodel.content import result_type
from contentmodel.content.hosted import CodeInterpreterToolResultContent
from contentmodel.content.outcomes import (
    CompactionContent,
    ConfigurationContent,
    ErrorContent,
    ReferenceContent,
    ToolChangeContent,
    UnknownContent,
)
from contentmodel.content.text import TextContent
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent, ToolApprovalRequestContent
from contentmodel.message import ChatMessage, Origin, contents_of
from contentmodel.request import ChatRequest
from contentmodel_adapters.langchain_messages.blocks import (
    API,
    BEDROCK_POINT,
    BLOCKS,
    RESULT_CLASSES,
    TABLE,
    name_of,
    usual_row,
)
from contentmodel_adapters.shared.hosted_tools import with_class

INNER = Hint[Literal["anthropic-messages", "openai-chat", "openai-responses", "bedrock-converse"]](
    API, "inner", "the API whose block it is"
)
STANDARD = Hint[Literal[True]](API, "standard", "the block of the API was spelled as a standard block")
WRAPPED = Hint[dict[str, Any]](API, "wrapped", "the fields of the block `non_standard` that contains the block")
RESPONSES = "openai-responses"


class Dialect(NamedTuple):
    """The blocks of one API: the union of them, and the functions that build and take apart its payload."""

    api: str
    union: str
    field: str


DIALECTS = (
    Dialect("anthropic-messages", "content block", "messages"),
    Dialect(RESPONSES, "item", "input"),
    Dialect("openai-chat", "content part", "messages"),
)
"""The APIs of the blocks, in the order of preference for blocks that several have."""
HOSTED_ANTHROPIC = Dialect("anthropic-messages", "content block", "standard")
"""Calls and results of Anthropic's hosted tools as standard blocks."""
BEDROCK = Dialect("bedrock-converse", "content block", "messages")
"""The blocks of langchain-aws. They have one key, and no type."""
POINT = Dialect("bedrock-converse", "cachePoint", "")
"""Bedrock's cache point, which is a block after the block that it belongs to."""
POINTS = CachePoints(BEDROCK_POINT)
_OF_BEDROCK = ("text", "image", "document", "video", "audio")
_PARTS = {
    "text": ("assistant", "output_text"),
    "refusal": ("assistant", "refusal"),
    **{name: ("user", name) for name in ("input_text", "input_image", "input_file")},
}
"""The role and the type of the parts of message items of the Responses API. LangChain has each part as a block."""


def _inner(api: str) -> Any:
    """Return an API as the value of a hint."""
    return api


def dialect_of(block: dict[str, Any], issuer: str) -> Dialect | None:
    """Return the dialect of a block that is no standard block; None if no API has it."""
    if block.get("type").__class__ is not str:
        return BEDROCK if len(block) == 1 and any(key in block for key in _OF_BEDROCK) else None
    order = sorted(DIALECTS, key=lambda one: one.api.partition("-")[0] != issuer)
    return next((one for one in order if _knows(one, block)), None)


def _knows(dialect: Dialect, block: dict[str, Any]) -> bool:
    api: Any = installed(dialect.api)
    table = api.table
    kind = block.get("type")
    if dialect.api == RESPONSES and (
        kind in _PARTS or kind == "reasoning" or any(pair.name == kind for pair in table.pairs)
    ):
        return True
    if kind == "text" and dialect.api != RESPONSES:
        return "citations" in block and dialect.union == "content block"
    return bool(table.unions[dialect.union].knows(block))


def is_standard(block: dict[str, Any], issuer: str) -> bool:
    """Return whether a block is decoded by a row of this format. Anthropic's thinking is decoded by its own adapter."""
    return name_of(block) is not None and not (block.get("type") == "thinking" and issuer in ("", "anthropic"))


# -- hosted tools of Anthropic -----------------------------------------------------------------------------------------

_CALLS = {"code_interpreter": "code_execution"}
_MOVED = (
    ("tool_use_id", "tool_call_id"),
    ("content", "output"),
    ("input", "args"),
    ("is_error", "status"),
    ("citations", "annotations"),
)


def with_anthropic_name(block: Any) -> Any:
    """Return a block with Anthropic's name of the tool, if it is a call of a tool that providers run."""
    if block.__class__ is not dict or block.get("type") != "server_tool_call":
        return block
    name = block.get("name")
    return {**block, "name": _CALLS.get(name, name)} if name.__class__ is str else block


def standard_form(block: dict[str, Any]) -> dict[str, Any]:
    """Return Anthropic's block of a hosted tool as langchain-core's translator writes it."""
    kind = str(block.get("type"))
    if kind in ("server_tool_use", "mcp_tool_use"):
        is_own = kind == "server_tool_use"
        name = block.get("name", "")
        names = {made: own for own, made in _CALLS.items()}
        rest = {key: value for key, value in block.items() if key not in ("type", "name", "input", "id")}
        extras = rest if is_own else {"tool_name": name, **rest}
        made = {
            "type": "server_tool_call",
            "name": names.get(name, name) if is_own else "remote_mcp",
            "args": block.get("input", {}),
            "id": block.get("id", ""),
        }
    elif kind.endswith("_tool_result"):
        output = block.get("content", [])
        failed = block.get("is_error") or (output.__class__ is dict and output.get("error_code"))
        known = ("type", "tool_use_id", "content", "is_error")
        extras = {"block_type": kind, **{key: value for key, value in block.items() if key not in known}}
        made = {"type": "server_tool_result", "tool_call_id": block.get("tool_use_id", "")}
        made |= {"status": "error" if failed else "success", **({"output": output} if output else {})}
    elif kind == "text":
        return {
            "annotations" if key == "citations" else key: [_annotation(one) for one in value]
            if key == "citations"
            else value
            for key, value in block.items()
        }
    else:
        return {"type": "non_standard", "value": block}
    return {**made, **({"extras": extras} if extras else {})}


def anthropic_form(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return Anthropic's form of a standard block of a hosted tool; None if it has none."""
    extras = object_of(block, "extras")
    rest = {key: value for key, value in extras.items() if key not in ("block_type", "tool_name")}
    if block["type"] == "text":
        citations = [_citation(one) for one in block["annotations"]]
        return {**{key: value for key, value in block.items() if key != "annotations"}, "citations": citations}
    if block["type"] == "server_tool_call":
        if block.get("name") == "remote_mcp":
            return {"type": "mcp_tool_use", **_without_type(block, extras.get("tool_name")), **rest}
        return {"type": "server_tool_use", **_without_type(block, _CALLS.get(block["name"], block["name"])), **rest}
    kind = extras.get("block_type")
    if kind.__class__ is not str or not kind.endswith("_tool_result"):
        return None
    made = {"type": kind, "tool_use_id": block.get("tool_call_id"), "content": block.get("output", []), **rest}
    if kind == "mcp_tool_result":
        made["is_error"] = block.get("status") == "error"
    return made


_LOCATED = {
    "start_char_index": "char_location",
    "search_result_index": "search_result_location",
    "start_page_number": "page_location",
    "start_block_index": "content_block_location",
}
"""The types of Anthropic's citations by a field that they have, in the order of preference."""


def _annotation(citation: dict[str, Any]) -> dict[str, Any]:
    """Return Anthropic's citation as a standard annotation."""
    kind = citation.get("type")
    if "cited_text" not in citation or kind not in ("web_search_result_location", *_LOCATED.values()):
        return {"type": "non_standard_annotation", "value": citation}
    title = "document_title" if "document_title" in citation else "title"
    named = {"url": "url", title: "title", "cited_text": "cited_text"}
    if kind != "web_search_result_location":
        named.pop("url")
    extras = {key: value for key, value in citation.items() if key not in (*named, "type")}
    made = {named[key]: citation[key] for key in named if key in citation}
    return {"type": "citation", **made, **({"extras": extras} if extras else {})}


def _citation(annotation: dict[str, Any]) -> dict[str, Any]:
    """Return the citation of Anthropic that a standard annotation was made of."""
    if annotation.get("type") == "non_standard_annotation":
        return object_of(annotation, "value")
    extras = object_of(annotation, "extras")
    made = {key: value for key, value in annotation.items() if key not in ("type", "extras")}
    if "url" in annotation:
        return {"type": "web_search_result_location", **made, **extras}
    kind = next((kind for field, kind in _LOCATED.items() if field in extras), "")
    if kind not in ("", "search_result_location") and "title" in made:
        made["document_title"] = made.pop("title")
    return {"type": kind, **made, **extras}


def _without_type(block: dict[str, Any], name: Any) -> dict[str, Any]:
    return {"name": name, "input": block.get("args"), "id": block.get("id")}


def has_own_form(block: dict[str, Any]) -> bool:
    """Return whether a standard block of a hosted tool is exactly one of Anthropic's blocks."""
    if block["type"] == "text":
        annotations = block.get("annotations")
        if annotations.__class__ is not list or not all(one.__class__ is dict for one in annotations):
            return False
    elif block["type"] not in ("server_tool_call", "server_tool_result"):
        return False
    if block["type"] == "server_tool_call" and block.get("name").__class__ is not str:
        return False
    own = anthropic_form(block)
    return own is not None and standard_form(own) == block


def _own_form(block: dict[str, Any], context: DecodeContext) -> dict[str, Any]:
    own = anthropic_form(block) or {}
    for field, origin in (*_MOVED, *((key, f"extras.{key}") for key in object_of(block, "extras"))):
        context.copied(own, block, (field, origin))
    for citation, annotation in zip(list_of(own, "citations"), list_of(block, "annotations"), strict=False):
        for key in object_of(annotation, "extras"):
            context.copied(citation, annotation, (key, f"extras.{key}"))
    return own


# -- decoding ----------------------------------------------------------------------------------------------------------


class ContentBlocks(Union):
    """The union of all blocks in the content of a message."""

    def __init__(self) -> None:
        super().__init__(API, "content block", BLOCKS, find=name_of, prefer=usual_row)
        self._decode_own, self._encode_own = self.decode_list, self.encode_list
        self.decode_list = self._decode_all
        self.encode_list = self._encode_all

    def _decode_all(self, wires: list[Any], context: DecodeContext) -> list[Any]:
        contents: list[Any] = []
        for key, group in groupby(range(len(wires)), key=lambda index: self._kind(wires[index], context)):
            indexes = list(group)
            if key is POINT:
                made = self._with_point(contents, wires, indexes, context)
            elif key is None:
                made = [self.decode_one(wires, index, context) for index in indexes]
            else:
                made = decode_inner(key, wires, indexes, context)
            contents += [content for content in made if content is not None]
        return _with_kinds(contents, context)

    def _kind(self, block: Any, context: DecodeContext) -> Dialect | None:
        if block.__class__ is not dict:
            return None
        if len(block) == 1 and POINTS.holds(block.get(POINT.union)):
            return POINT
        if is_standard(block, context.origin.issuer):
            is_hosted = context.origin.issuer == "anthropic" and has_own_form(block)
            return HOSTED_ANTHROPIC if is_hosted else None
        return dialect_of(block, context.origin.issuer)

    def _with_point(
        self, contents: list[Any], wires: list[Any], indexes: list[int], context: DecodeContext
    ) -> list[Any]:
        """Add Bedrock's cache point to the last content, in place. Return the contents of the other points."""
        last = contents[-1] if contents else None
        if last is not None and last.__class__ is not UnknownContent and last.cache_point is None:
            block = wires[indexes.pop(0)]
            point = INNER.on(POINTS.row.decode(block[POINT.union], context), API, _inner(POINT.api))
            context.trace(POINTS.row, [point], block, POINT.union, spread=False)
            contents[-1] = context.replace(last, cache_point=point)
        return [self.decode_one(wires, index, context) for index in indexes]

    def decode_one(self, wires: Any, index: Any, context: DecodeContext) -> Any:
        """Return the content of one block: a string, a standard block or one of an unknown type."""
        block = wires[index]
        if block.__class__ is str:
            text = TextContent(text=block, extra=hints.FORM.extra(API, "string"))
            context.trace(None, [text], wires, index, spread=False)
            return text
        if block.__class__ is not dict:
            context.expected(wires, index, "an object or a string: a content block", block)
            return None
        value = block.get("value")
        if block.get("type") == "non_standard" and value.__class__ is dict:
            return self._unwrapped(block, value, context)
        content = self.decode(block, context)
        context.trace(self, [content], wires, index, spread=False)
        return content

    def _unwrapped(self, block: dict[str, Any], value: dict[str, Any], context: DecodeContext) -> Any:
        """Return the content of a block of a provider in the block `non_standard`."""
        dialect = dialect_of(value, context.origin.issuer)
        around = {key: item for key, item in block.items() if key != "value"}
        made = [] if dialect is None else decode_inner(dialect, block, ["value"], context)
        if len(made) != 1 or made[0].__class__ is UnknownContent:
            return UnknownContent(api=API, block=block)
        return context.replaced(made[0], WRAPPED.on(made[0], API, around))

    # -- encoding ------------------------------------------------------------------------------------------------------

    def _encode_all(self, contents: Sequence[Any], context: EncodeContext) -> list[Any]:
        blocks: list[Any] = []
        for run, has_point in runs(contents, _has_own_point):
            if not has_point:
                blocks += self._encode_run(run, context)
            elif made := self._encode_run([context.replace(run[0], cache_point=None)], context):
                blocks += [*made, {POINT.union: POINTS.encode(run[0].cache_point, context, run[0])}]
        return blocks

    def _encode_run(self, contents: Sequence[Any], context: EncodeContext) -> list[Any]:
        blocks: list[Any] = []
        for api, group in groupby(contents, key=lambda content: INNER.of(content, API)):
            run = list(group)
            if api is None:
                blocks += [block for content in run for block in self._encode_plain(content, context)]
            else:
                blocks += encode_inner(api, run, context)
        return blocks

    def _encode_plain(self, content: Any, context: EncodeContext) -> list[Any]:
        is_string = content.__class__ is TextContent and hints.FORM.of(content, API) == "string"
        if is_string and content.annotations is None and content.protected is None and content.cache_point is None:
            context.leave_residue(content)
            return [content.text]
        if isinstance(content, HostedToolResultContent) and content.artifact is not None:
            context.report_loss(content, "artifact", reasons.ARTIFACT)
        return self._encode_own([content], context)


def _has_own_point(content: Any) -> bool:
    return content.cache_point is not None and INNER.of(content.cache_point, API) == POINT.api


def _with_kinds(contents: list[Any], context: DecodeContext) -> list[Any]:
    """Return contents in which each result of a hosted tool has the class of the tool that its call names."""
    calls = {call.call_id: call for call in contents if isinstance(call, HostedToolCallContent)}
    for at, content in enumerate(contents) if calls else ():
        if content.__class__ is not HostedToolResultContent or INNER.of(content, API) is not None:
            continue
        kind = result_type(calls[content.call_id]) if content.call_id in calls else None
        if kind in RESULT_CLASSES:
            contents[at] = context.replaced(content, with_class(content, kind))
    return contents


def decode_inner(dialect: Dialect, wires: Any, keys: list[Any], context: DecodeContext) -> list[Any]:
    """Return the contents of the blocks `wires[key]` of an API. Blocks with faults are unknown or standard contents."""
    api: Any = installed(dialect.api)
    blocks = [wires[key] for key in keys]
    if dialect is HOSTED_ANTHROPIC:
        blocks = [_own_form(block, context) for block in blocks]
    places: dict[Any, Any] = {}
    if dialect.api == RESPONSES:
        items = _items_of(blocks, [(wires, key) for key in keys], places)
        request, trace = api.read_request({"input": items})
    else:
        request, trace = api.read_request({"messages": [{"role": "assistant", "content": blocks}]})
    if trace.has_faults:
        if len(keys) > 1:
            return [content for key in keys for content in decode_inner(dialect, wires, [key], context)]
        if dialect is HOSTED_ANTHROPIC:
            return [CONTENT.decode_one(wires, keys[0], context)]
        unknown = UnknownContent(api=API, block=blocks[0])
        context.trace(None, [unknown], wires, keys[0], spread=False)
        return [unknown]
    contents = list(contents_of(request.messages))
    if dialect.api == RESPONSES:
        # Each part of a message has the id of the message. The first one has it as a field around it.
        adopted = {id(item): key for item, (_, key) in context.adopt(trace, places)}
        later = {key: wires[key] for (holder, index), (_, key) in places.items() if index and holder != id(items)}
        ids = [_own_id(later.get(adopted.get(id(content)))) for content in contents]
    else:
        ids = [None] * len(contents)
        union = api.table.unions[dialect.union]
        for key, content in zip(keys, contents, strict=False):
            context.trace(union, [content], wires, key, spread=False)
    if dialect is HOSTED_ANTHROPIC:
        kinds = [object_of(wires[key], "extras").get("block_type") for key in keys]
        ids = [None if kind is None else {"block_type": kind} for kind in kinds]
    made = []
    for content, own in zip(contents, ids, strict=True):
        # Usually, a refusal is beside the content.
        column = hints.COLUMN.entry("content") if content.__class__ is ErrorContent else {}
        extra = {**(content.extra or {}), API: {**(own or {}), **INNER.entry(_inner(dialect.api)), **column}}
        if dialect is HOSTED_ANTHROPIC:
            extra[API] |= STANDARD.entry(True)
        made.append(context.replace(content, extra=extra))
    return made


def _own_id(block: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if block is None else {key: block[key] for key in _OF_ITEM if key in block}


def _items_of(blocks: list[Any], at: list[tuple[Any, Any]], places: dict[Any, Any]) -> list[Any]:
    """Return the items of blocks of the Responses API. `places` gets the place of each block in the items."""
    items: list[Any] = []
    for block, place in zip(blocks, at, strict=True):
        if block["type"] not in _PARTS:
            places[id(items), len(items)] = place
            items.append(block)
            continue
        role, tag = _PARTS[block["type"]]
        part = {**{key: value for key, value in block.items() if key not in _OF_ITEM}, "type": tag}
        around = {"role": role, **{key: block[key] for key in _OF_ITEM if key in block}}
        last = items[-1] if items else None
        if last is None or last.get("type") != "message" or {**last, "content": None} != {**_MESSAGE, **around}:
            items.append({**_MESSAGE, **around, "content": []})
        content = items[-1]["content"]
        places[id(content), len(content)] = place
        content.append(part)
    return items


_MESSAGE = {"type": "message", "content": None}
_OF_ITEM = ("id", "phase")


def _blocks_of(items: list[Any]) -> Iterator[Any]:
    """Yield the blocks of items of the Responses API."""
    for item in items:
        if item.get("type") != "message":
            yield item
            continue
        content = item.get("content")
        parts = [{"type": "output_text", "text": content}] if content.__class__ is str else content or []
        for part in parts:
            tag = "text" if part.get("type") == "output_text" else part.get("type")
            yield {**part, "type": tag, **{key: item[key] for key in _OF_ITEM if key in item}}


def encode_inner(api: str, contents: list[Any], context: EncodeContext) -> list[Any]:
    """Return the blocks of contents that the adapter of an API decoded."""
    adapter: Any = installed(api)
    origin = Origin(api=api, issuer=adapter.issuer)
    plain = [context.replaced(content, _without_own(content)) for content in contents]
    message = ChatMessage(role="assistant", contents=plain, origin=origin)
    encoded = adapter.encode_request(ChatRequest(messages=[message], origin=origin))
    encoded.hand_over(context)
    if api == RESPONSES:
        blocks = list(_blocks_of(encoded.payload.get("input", [])))
    else:
        entry = (encoded.payload.get("messages") or [{}])[0]
        content = entry.get("content") or []
        blocks = [{"type": "text", "text": content}] if content.__class__ is str else content
    if len(blocks) == len(contents):
        pairs = zip(blocks, contents, strict=True)
        blocks = [standard_form(block) if STANDARD.of(content, API) else block for block, content in pairs]
    wraps = [WRAPPED.of(content, API) for content in contents]
    if any(wrap is not None for wrap in wraps) and len(wraps) == len(blocks):
        blocks = [
            block if wrap is None else {**wrap, "value": block} for block, wrap in zip(blocks, wraps, strict=True)
        ]
    return blocks


def with_inner(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of another API with hints on the contents that have no standard block.

    They are blocks of that API: those of Anthropic's hosted tools in the standard form, others in a block
    `non_standard`.
    """
    api = "" if message.origin is None else message.origin.api
    contents = [_with_inner(content, api, context) for content in message.contents]
    return context.with_contents(message, contents)


def _with_inner(content: Any, api: str, context: EncodeContext) -> Any:
    is_hosted = isinstance(content, HostedToolCallContent | HostedToolResultContent) and content.executor == "provider"
    sealed = content.protected
    is_cited = content.__class__ is TextContent and bool(content.annotations)
    if api == "anthropic-messages" and (is_hosted or is_cited):
        hint = STANDARD.entry(True)
    elif any(one.api == api for one in DIALECTS) and (
        isinstance(content, _NON_STANDARD) or (sealed is not None and sealed.kind == "redacted")
    ):
        hint = WRAPPED.entry({"type": "non_standard"})
    elif content.__class__ is CodeInterpreterToolResultContent:
        return context.replace(content, outputs=[_as_logs(output, context) for output in content.outputs])
    else:
        return content
    return context.with_fields(content, {**INNER.entry(_inner(api)), **hint})


def _as_logs(output: Any, context: EncodeContext) -> Any:
    """Return a text output with the hint that encodes it as logs of a code interpreter."""
    if output.__class__ is not TextContent:
        return output
    return context.with_fields(output, {"type": "logs", **hints.ROW.entry("output.logs")})


_NON_STANDARD = (
    CompactionContent,
    ConfigurationContent,
    ReferenceContent,
    ToolChangeContent,
    ToolApprovalRequestContent,
)


def _without_own(content: Any) -> Any:
    extra = {api: residue for api, residue in (content.extra or {}).items() if api != API}
    return replace(content, extra=extra or None)


CONTENT = ContentBlocks()
TABLE.unions["content block"] = CONTENT
