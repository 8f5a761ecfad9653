"""Content blocks of LangChain's messages: standard ones, and those in the format of a provider.

The adapter of the provider's API decodes and encodes blocks in its format. A content that it decoded has the hint
`INNER`, and its other fields are the residue of that API.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal

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
from contentmodel_adapters.langchain_messages.anthropic_forms import own_form, standard_form, trace_own
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
Place = tuple[Any, Any]
"""The container of a block, and its key in the container."""
Found = list[tuple[Any, dict[str, Any]]]
"""Contents, each with the fields of its block that are no fields of the API."""


# -- blocks of an API --------------------------------------------------------------------------------------------------


class Dialect:
    """The blocks of an API in the content of a message. Its adapter decodes and encodes them as those of an answer."""

    def __init__(self, api: str, union: str) -> None:
        self.api, self._union = api, union

    @property
    def adapter(self) -> Any:
        """The adapter of the API."""
        return installed(self.api)

    def knows(self, block: dict[str, Any]) -> bool:
        """Return whether a block that no row decodes is a block of the API."""
        return block.get("type") != "text" and self._has(block)

    def _has(self, block: dict[str, Any]) -> bool:
        return bool(self.adapter.table.unions[self._union].knows(block))

    def decode(self, wires: Any, keys: list[Any], context: DecodeContext) -> list[Any]:
        """Return the contents of the blocks `wires[key]`."""
        found = self._read([wires[key] for key in keys], [(wires, key) for key in keys], context)
        if found is not None:
            return [self._marked(content, fields, context) for content, fields in found]
        if len(keys) > 1:
            return [content for key in keys for content in self.decode(wires, [key], context)]
        return [self._faulty(wires, keys[0], context)]

    def _read(self, blocks: list[Any], places: list[Place], context: DecodeContext) -> Found | None:
        """Return the contents of blocks; None if a block has a fault."""
        message = {"role": "assistant", "content": blocks}
        request, trace = self.adapter.read_request({"messages": [message]})
        if trace.has_faults:
            return None
        contents = list(contents_of(request.messages))
        union = self.adapter.table.unions[self._union]
        for place, content in zip(places, contents, strict=False):
            context.trace(union, [content], *place, spread=False)
        return [(content, {}) for content in contents]

    def _faulty(self, wires: Any, key: Any, context: DecodeContext) -> Any:
        unknown = UnknownContent(api=API, block=wires[key])
        context.trace(None, [unknown], wires, key, spread=False)
        return unknown

    def _marked(self, content: Any, fields: dict[str, Any], context: DecodeContext) -> Any:
        # Usually, a refusal is beside the content.
        column = hints.COLUMN.entry("content") if content.__class__ is ErrorContent else {}
        own = {**fields, **self.mark(), **column}
        return context.replace(content, extra={**(content.extra or {}), API: own})

    def mark(self) -> dict[str, Any]:
        """Return the hints of the contents of these blocks."""
        api: Any = self.api
        return INNER.entry(api)

    def encode(self, contents: list[Any], context: EncodeContext) -> list[Any]:
        """Return the blocks of contents that have the hints."""
        origin = Origin(api=self.api, issuer=self.adapter.issuer)
        plain = [context.replaced(content, _without_own(content)) for content in contents]
        message = ChatMessage(role="assistant", contents=plain, origin=origin)
        encoded = self.adapter.encode_request(ChatRequest(messages=[message], origin=origin))
        encoded.hand_over(context)
        return self._blocks_of(encoded.payload)

    def _blocks_of(self, payload: dict[str, Any]) -> list[Any]:
        messages = list_of(payload, "messages")
        content = messages[0].get("content") if messages else None
        return [{"type": "text", "text": content}] if content.__class__ is str else content or []


def _without_own(content: Any) -> Any:
    extra = {api: residue for api, residue in (content.extra or {}).items() if api != API}
    return replace(content, extra=extra or None)


class Anthropic(Dialect):
    """The blocks of Anthropic. Cited texts are among them."""

    def knows(self, block: dict[str, Any]) -> bool:
        return "citations" in block if block.get("type") == "text" else self._has(block)


class StandardOfAnthropic(Dialect):
    """Standard blocks that LangChain made of Anthropic's, decoded as those."""

    def _read(self, blocks: list[Any], places: list[Place], context: DecodeContext) -> Found | None:
        own_blocks = [own_form(block) or {} for block in blocks]
        for own, block in zip(own_blocks, blocks, strict=True):
            trace_own(own, block, context)
        found = super()._read(own_blocks, places, context)
        types = [object_of(block, "extras").get("block_type") for block in blocks]
        return found and [
            (content, {} if kind is None else {"block_type": kind})
            for (content, _), kind in zip(found, types, strict=True)
        ]

    def _faulty(self, wires: Any, key: Any, context: DecodeContext) -> Any:
        return CONTENT.decode_one(wires, key, context)

    def mark(self) -> dict[str, Any]:
        return {**super().mark(), **STANDARD.entry(True)}


class Responses(Dialect):
    """The items of the Responses API. LangChain has each part of a message item as a block."""

    def knows(self, block: dict[str, Any]) -> bool:
        kind = block.get("type")
        pairs = (pair.name for pair in self.adapter.table.pairs)
        return kind in _PARTS or kind == "reasoning" or kind in pairs or self._has(block)

    def _read(self, blocks: list[Any], places: list[Place], context: DecodeContext) -> Found | None:
        items, origins = _items_of(blocks, places)
        request, trace = self.adapter.read_request({"input": items})
        if trace.has_faults:
            return None
        made_at = {id(content): place for content, place in context.adopt(trace, origins)}
        # Each part of a message has the id of the message. The first one has it as a field around it.
        later = {key: wires[key] for (holder, index), (wires, key) in origins.items() if index and holder != id(items)}
        found = []
        for content in contents_of(request.messages):
            _, key = made_at.get(id(content), (None, None))
            block = later.get(key, {})
            found.append((content, {name: block[name] for name in _OF_ITEM if name in block}))
        return found

    def _blocks_of(self, payload: dict[str, Any]) -> list[Any]:
        return [block for item in payload["input"] for block in _blocks_of_item(item)]


_PARTS = {
    "text": ("assistant", "output_text"),
    "refusal": ("assistant", "refusal"),
    **{name: ("user", name) for name in ("input_text", "input_image", "input_file")},
}
"""The role and the type of the parts of message items, by the type of their blocks."""
_OF_ITEM = ("id", "phase")
"""The fields of a block that are those of its message item."""


def _items_of(blocks: list[Any], places: list[Place]) -> tuple[list[Any], dict[Any, Place]]:
    """Return the items of blocks, and the place of each block by the place of its item or part."""
    items: list[Any] = []
    origins: dict[Any, Place] = {}
    for block, place in zip(blocks, places, strict=True):
        item, part = _item_of(block)
        if part is None:
            holder = items
        elif items and {**items[-1], "content": []} == item:
            holder, item = items[-1]["content"], part
        else:
            items.append(item)
            holder, item = item["content"], part
        origins[id(holder), len(holder)] = place
        holder.append(item)
    return items, origins


def _item_of(block: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the item of a block; if the block is a part of a message item, the item without parts, and the part."""
    if block["type"] not in _PARTS:
        return block, None
    role, tag = _PARTS[block["type"]]
    of_item = {key: block[key] for key in _OF_ITEM if key in block}
    part = {**{key: value for key, value in block.items() if key not in _OF_ITEM}, "type": tag}
    return {"type": "message", "content": [], "role": role, **of_item}, part


def _blocks_of_item(item: dict[str, Any]) -> list[Any]:
    if item.get("type") != "message":
        return [item]
    content = item.get("content")
    parts = [{"type": "output_text", "text": content}] if content.__class__ is str else content or []
    tags = ["text" if part.get("type") == "output_text" else part.get("type") for part in parts]
    of_item = {key: item[key] for key in _OF_ITEM if key in item}
    return [{**part, "type": tag, **of_item} for part, tag in zip(parts, tags, strict=True)]


DIALECTS = (
    Anthropic("anthropic-messages", "content block"),
    Responses(RESPONSES, "item"),
    Dialect("openai-chat", "content part"),
)
"""The APIs of the blocks, in the order of preference for blocks that several have."""
STANDARD_OF_ANTHROPIC = StandardOfAnthropic("anthropic-messages", "content block")
BEDROCK = Dialect("bedrock-converse", "content block")
"""The blocks of langchain-aws. They have one key, and no type."""
_BY_API = {one.api: one for one in (*DIALECTS, BEDROCK)}
_OF_BEDROCK = ("text", "image", "document", "video", "audio")
POINTS = CachePoints(BEDROCK_POINT)
POINT = "cachePoint"
"""The only key of Bedrock's cache point, which is a block after the block that it belongs to."""


def dialect_of(block: dict[str, Any], issuer: str) -> Dialect | None:
    """Return the dialect of a block that is no standard block; None if no API has it."""
    if block.get("type").__class__ is not str:
        return BEDROCK if len(block) == 1 and any(key in block for key in _OF_BEDROCK) else None
    order = sorted(DIALECTS, key=lambda one: one.api.partition("-")[0] != issuer)
    return next((one for one in order if one.knows(block)), None)


def is_standard(block: dict[str, Any], issuer: str) -> bool:
    """Return whether a block is decoded by a row of this format. Anthropic's thinking is decoded by its own adapter."""
    return name_of(block) is not None and not (block.get("type") == "thinking" and issuer in ("", "anthropic"))


# -- the union of all blocks -------------------------------------------------------------------------------------------


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
            if isinstance(key, Dialect):
                made = key.decode(wires, indexes, context)
            else:
                rest = self._with_point(contents, wires, indexes, context) if key == POINT else indexes
                made = [self.decode_one(wires, index, context) for index in rest]
            contents += [content for content in made if content is not None]
        return _with_kinds(contents, context)

    def _kind(self, block: Any, context: DecodeContext) -> Dialect | str | None:
        """Return the dialect of a block, or the key of a cache point; None for blocks of this format."""
        if block.__class__ is not dict:
            return None
        if len(block) == 1 and POINTS.holds(block.get(POINT)):
            return POINT
        issuer = context.origin.issuer
        if not is_standard(block, issuer):
            return dialect_of(block, issuer)
        return STANDARD_OF_ANTHROPIC if issuer == "anthropic" and own_form(block) is not None else None

    def _with_point(
        self, contents: list[Any], wires: list[Any], indexes: list[int], context: DecodeContext
    ) -> list[int]:
        """Add the first of Bedrock's cache points to the last content, in place. Return the indexes of the others."""
        last = contents[-1] if contents else None
        if last is None or last.__class__ is UnknownContent or last.cache_point is not None:
            return indexes
        block = wires[indexes[0]]
        point = INNER.on(POINTS.row.decode(block[POINT], context), API, "bedrock-converse")
        context.trace(POINTS.row, [point], block, POINT, spread=False)
        contents[-1] = context.replace(last, cache_point=point)
        return indexes[1:]

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
        made = [] if dialect is None else dialect.decode(block, ["value"], context)
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
                blocks += [*made, {POINT: POINTS.encode(run[0].cache_point, context, run[0])}]
        return blocks

    def _encode_run(self, contents: Sequence[Any], context: EncodeContext) -> list[Any]:
        blocks: list[Any] = []
        for api, group in groupby(contents, key=lambda content: INNER.of(content, API)):
            run = list(group)
            if api is None:
                blocks += [block for content in run for block in self._encode_plain(content, context)]
            else:
                blocks += _in_form(_BY_API[api].encode(run, context), run)
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
    return content.cache_point is not None and INNER.of(content.cache_point, API) is not None


def _in_form(blocks: list[Any], contents: list[Any]) -> list[Any]:
    """Return the blocks of contents as standard blocks, or in blocks `non_standard`, as their hints say."""
    if len(blocks) != len(contents):
        return blocks
    formed = []
    for block, content in zip(blocks, contents, strict=True):
        made = standard_form(block) if STANDARD.of(content, API) else block
        around = WRAPPED.of(content, API)
        formed.append(made if around is None else {**around, "value": made})
    return formed


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
        return context.with_fields(content, STANDARD_OF_ANTHROPIC.mark())
    dialect = next((one for one in DIALECTS if one.api == api), None)
    is_redacted = sealed is not None and sealed.kind == "redacted"
    if dialect is not None and (isinstance(content, _NON_STANDARD) or is_redacted):
        return context.with_fields(content, {**dialect.mark(), **WRAPPED.entry({"type": "non_standard"})})
    if content.__class__ is CodeInterpreterToolResultContent:
        return context.replace(content, outputs=[_as_logs(output, context) for output in content.outputs])
    return content


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


CONTENT = ContentBlocks()
TABLE.unions["content block"] = CONTENT
