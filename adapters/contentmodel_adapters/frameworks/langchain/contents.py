"""The union of all blocks in the content of a message: standard blocks, and those in the format of a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Literal

from contentmodel.authoring import (
    CachePoints,
    DecodeContext,
    EncodeContext,
    Hint,
    Row,
    Union,
    hints,
    list_of,
    object_of,
    reasons,
    runs,
)
from contentmodel.content import result_type
from contentmodel.content.hosted import CodeInterpreterToolResultContent, ImageGenerationToolResultContent
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
from contentmodel.message import ChatMessage, contents_of
from contentmodel_adapters.common.hosted_tools import with_class
from contentmodel_adapters.frameworks.langchain.anthropic_forms import own_form, standard_form, trace_own
from contentmodel_adapters.frameworks.langchain.bedrock_forms import converse_form, package_form, trace_converse
from contentmodel_adapters.frameworks.langchain.blocks import (
    API,
    BEDROCK_POINT,
    BLOCKS,
    JSON,
    RESULT_CLASSES,
    STANDARD_CODE,
    TABLE,
    is_reference,
    name_in_result,
    name_of,
    usual_row,
)
from contentmodel_adapters.frameworks.langchain.dialects import (
    BEDROCK,
    BY_API,
    CHAT,
    DETAILS,
    DIALECTS,
    GOOGLE,
    INNER,
    LISTS_OF_CHAT,
    RESPONSES,
    Dialect,
    Found,
    Place,
    Responses,
    dialect_of,
)
from contentmodel_adapters.frameworks.langchain.openai_forms import (
    INDEX,
    OF_OPENAI,
    copies_of,
    items_of,
    standard_blocks,
)
from contentmodel_adapters.frameworks.langchain.settings import (
    MEDIA_TYPES,
    in_places,
    with_settings,
    with_usual_places,
    without_settings,
)

STANDARD = Hint[Literal[True]](API, "standard", "the block of the API was spelled as a standard block")
WRAPPED = Hint[dict[str, Any]](API, "wrapped", "the fields of the block `non_standard` that contains the block")
POINTS = CachePoints(BEDROCK_POINT)
POINT = "cachePoint"
"""The only key of Bedrock's cache point, which is a block after the block that it belongs to."""


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


class OfBedrock(Dialect):
    """Blocks that langchain-aws made of Converse's, decoded as those."""

    def _read(self, blocks: list[Any], places: list[Place], context: DecodeContext) -> Found | None:
        own_blocks = [converse_form(block) or {} for block in blocks]
        for own, block in zip(own_blocks, blocks, strict=True):
            trace_converse(own, block, context)
        return super()._read(own_blocks, places, context)

    def mark(self) -> dict[str, Any]:
        return {**super().mark(), **STANDARD.entry(True)}

    def _blocks_of(self, payload: dict[str, Any]) -> list[Any]:
        return [package_form(block) for block in super()._blocks_of(payload)]


class OfMistral(Dialect):
    """References that langchain-mistralai made of Mistral's, decoded as those."""

    def knows(self, block: dict[str, Any]) -> bool:
        return is_reference(block)

    def _read(self, blocks: list[Any], places: list[Place], context: DecodeContext) -> Found | None:
        own_blocks = [{"type": "reference", **block["reference"]} for block in blocks]
        for own, block in zip(own_blocks, blocks, strict=True):
            context.copied(own, block)
            for key in block["reference"]:
                context.copied(own, block, (key, f"reference.{key}"))
        return super()._read(own_blocks, places, context)

    def mark(self) -> dict[str, Any]:
        return {**super().mark(), **STANDARD.entry(True)}

    def _blocks_of(self, payload: dict[str, Any]) -> list[Any]:
        return [_as_text(block) for block in super()._blocks_of(payload)]


def _as_text(block: dict[str, Any]) -> dict[str, Any]:
    """Return a reference as a text; a text that was a reference stays one."""
    if block.get("type") != "reference":
        return block
    return {"type": "text", "text": "", "reference": {key: value for key, value in block.items() if key != "type"}}


class StandardOfOpenAI(Responses):
    """Standard blocks that LangChain made of OpenAI's items, decoded as those."""

    def decode(self, wires: Any, keys: list[Any], context: DecodeContext) -> list[Any]:
        contents: list[Any] = []
        at = 0
        for item, number in items_of([wires[key] for key in keys]):
            indexes = keys[at : at + number]
            found = None if item is None else self._read_item(item, wires, indexes, context)
            if found is None:
                contents += [CONTENT.decode_one(wires, key, context) for key in indexes]
            else:
                contents += [self._marked(content, fields, context) for content, fields in found]
            at += number
        return contents

    def _read_item(self, item: dict[str, Any], wires: Any, keys: list[Any], context: DecodeContext) -> Found | None:
        """Return the contents of the item of blocks; None if the item has a fault.

        There is one for each block, but two for the only block of an image.
        """
        blocks = [wires[key] for key in keys]
        request, trace = self.adapter.read_request({"input": [item]})
        contents = list(contents_of(request.messages))
        is_image = len(keys) == 1 and item["type"] != "reasoning"
        if trace.has_faults or len(contents) != (2 if is_image else len(keys)) or (is_image and INDEX in blocks[0]):
            return None
        for block, (copy, moves) in zip(blocks, copies_of(item, blocks), strict=False):
            for move in moves:
                context.copied(copy, block, move)
        places = keys * len(contents) if is_image else keys
        own = self.adapter.table
        table = next((pair for pair in own.pairs if pair.name == item["type"]), own.unions["reasoning part"])
        found = []
        for content, key in zip(contents, places, strict=True):
            context.trace(table, [content], wires, key, spread=False)
            found.append((content, _rest_of(wires[key], is_first=key == keys[0])))
        states = [content.protected for content in contents if content.protected is not None]
        holder = blocks[0] if "encrypted_content" in blocks[0] else object_of(blocks[0], "extras")
        context.trace(None, states, holder, "encrypted_content", spread=False)
        return found

    def mark(self) -> dict[str, Any]:
        return {**super().mark(), **STANDARD.entry(True)}

    def encode(self, contents: list[Any], context: EncodeContext) -> list[Any]:
        blocks = super().encode(contents, context)
        # The call and the result of an image are one block.
        alone = [content for content in contents if content.__class__ is not ImageGenerationToolResultContent]
        if len(blocks) != len(alone):
            return blocks
        joints = [
            {key: value for key, value in (content.extra or {}).get(API, {}).items() if key == INDEX}
            for content in alone
        ]
        return [{**block, **joint} for block, joint in zip(blocks, joints, strict=True)]

    def _blocks_of(self, payload: dict[str, Any]) -> list[Any]:
        return [block for item in list_of(payload, "input") for block in standard_blocks(item)]


def _rest_of(block: dict[str, Any], *, is_first: bool) -> dict[str, Any]:
    """Return the fields of a standard block that its item does not have, or has once for all blocks."""
    names = [INDEX, *(["mime_type"] if block["type"] == "image" else [] if is_first else ["id", "tool_call_id"])]
    return {name: block[name] for name in names if name in block}


STANDARD_OF_ANTHROPIC = StandardOfAnthropic("anthropic-messages", "content block")
STANDARD_OF_OPENAI = StandardOfOpenAI(RESPONSES, "item")
OF_BEDROCK = OfBedrock(BEDROCK.api, "content block")
OF_MISTRAL = OfMistral("mistral-chat", "part")


class ContentBlocks(Union):
    """The union of all blocks in the content of a message."""

    def __init__(self, name: str, rows: list[Row], find: Callable[[dict[str, Any]], str | None]) -> None:
        super().__init__(API, name, rows, find=find, prefer=usual_row)
        self._row_of = find
        self._decode_own, self._encode_own = self.decode_list, self.encode_list
        self.decode_list = self._decode_all
        self.encode_list = self._encode_all

    def _decode_all(self, wires: list[Any], context: DecodeContext) -> list[Any]:
        return self.decode_at(wires, range(len(wires)), context)

    def decode_at(self, wires: Any, keys: Iterable[Any], context: DecodeContext) -> list[Any]:
        """Return the contents of the blocks `wires[key]`."""
        contents: list[Any] = []
        for key, group in groupby(keys, key=lambda index: self._kind(wires[index], context)):
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
        if self._row_of(block) is None or (block.get("type") == "thinking" and issuer in ("", "anthropic")):
            # Anthropic's thinking is decoded by its own adapter.
            return _reader_of(block, issuer)
        if issuer == "openai":
            return STANDARD_OF_OPENAI if block["type"] in OF_OPENAI else None
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
        placed, places = with_usual_places(block, context)
        content = self.decode(placed, context)
        if places:
            is_media = content.__class__ in MEDIA_TYPES
            content = with_settings(content, places, context) if is_media else UnknownContent(api=API, block=block)
        context.trace(self, [content], wires, index, spread=False)
        return content

    def _unwrapped(self, block: dict[str, Any], value: dict[str, Any], context: DecodeContext) -> Any:
        """Return the content of a block of a provider in the block `non_standard`."""
        dialect = _reader_of(value, context.origin.issuer)
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
        for dialect, group in groupby(contents, key=_dialect_of):
            run = list(group)
            if dialect is None:
                blocks += [block for content in run for block in self._encode_plain(content, context)]
            elif dialect is STANDARD_OF_OPENAI:
                blocks += dialect.encode(run, context)
            else:
                blocks += _in_form(dialect.encode(run, context), run)
        return blocks

    def _encode_plain(self, content: Any, context: EncodeContext) -> list[Any]:
        is_string = content.__class__ is TextContent and hints.FORM.of(content, API) == "string"
        if is_string and content.annotations is None and content.protected is None and content.cache_point is None:
            context.leave_residue(content)
            return [content.text]
        if isinstance(content, HostedToolResultContent) and content.artifact is not None:
            context.report_loss(content, "artifact", reasons.ARTIFACT)
        content, places = without_settings(content, context)
        blocks = self._encode_own([content], context)
        return [in_places(block, places) for block in blocks] if places else blocks


def _reader_of(block: dict[str, Any], issuer: str) -> Dialect | None:
    """Return the dialect that decodes a block that is no standard block; None if no API has it."""
    if is_reference(block):
        return OF_MISTRAL
    return dialect_of(block, issuer) if converse_form(block) is None else OF_BEDROCK


def _dialect_of(content: Any) -> Dialect | None:
    """Return the dialect that encodes the block of a content; None for blocks of this format."""
    api = INNER.of(content, API)
    if api is None:
        return None
    own = next((one for one in (STANDARD_OF_OPENAI, OF_BEDROCK, OF_MISTRAL) if one.api == api), None)
    return own if own is not None and STANDARD.of(content, API) is True else BY_API[api]


def _has_own_point(content: Any) -> bool:
    return content.cache_point is not None and INNER.of(content.cache_point, API) is not None


def _in_form(blocks: list[Any], contents: list[Any]) -> list[Any]:
    """Return the blocks of contents as standard blocks, or in blocks `non_standard`, as their hints say."""
    if len(blocks) != len(contents):
        return blocks
    formed = []
    for block, content in zip(blocks, contents, strict=True):
        is_standard = STANDARD.of(content, API) and INNER.of(content, API) == STANDARD_OF_ANTHROPIC.api
        made = standard_form(block) if is_standard else block
        around = WRAPPED.of(content, API)
        formed.append(made if around is None else {**around, "value": made})
    return formed


def _with_kinds(contents: list[Any], context: DecodeContext) -> list[Any]:
    """Return contents in which each result of a hosted tool has the class of the tool that its call names."""
    calls = {call.call_id: call for call in contents if isinstance(call, HostedToolCallContent)}
    for at, content in enumerate(contents) if calls else ():
        if isinstance(content, HostedToolResultContent) and content.call_id == "":
            _pair(contents, at, context)
        elif content.__class__ is HostedToolResultContent and content.call_id in calls:
            contents[at] = _of_tool(content, calls[content.call_id], context)
    return contents


def _of_tool(result: Any, call: Any, context: DecodeContext) -> Any:
    kind = None if INNER.of(result, API) is not None else result_type(call)
    return context.replaced(result, with_class(result, kind)) if kind in RESULT_CLASSES else result


def _pair(contents: list[Any], at: int, context: DecodeContext) -> None:
    """Remove the ids of a result with an empty id and of the call before it, so that their order pairs them, in place.

    langchain-google-genai generates the ids of such calls, and does not write them in the results.
    """
    before = contents[at - 1] if at else None
    if not isinstance(before, HostedToolCallContent) or INNER.of(before, API) is not None:
        return
    result = contents[at] if contents[at].__class__ in _PAIRED else _of_tool(contents[at], before, context)
    contents[at - 1 : at + 1] = [_without_id(before, "id", context), _without_id(result, "tool_call_id", context)]


_PAIRED = RESULT_CLASSES - {HostedToolResultContent}


def _without_id(content: Any, field: str, context: DecodeContext) -> Any:
    """Return a content whose id is in a field without a meaning."""
    extra = content.extra or {}
    extra = {**extra, API: {**extra.get(API, {}), field: content.call_id}}
    return context.replace(content, call_id=None, extra=extra)


CONTENT = ContentBlocks("content block", BLOCKS, name_of)
RESULT_CONTENT = ContentBlocks("result block", [*BLOCKS, *JSON], name_in_result)
TABLE.unions |= {union.name: union for union in (CONTENT, RESULT_CONTENT)}


# -- messages of other APIs --------------------------------------------------------------------------------------------


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
    if api == CHAT and hints.COLUMN.of(content, CHAT) == DETAILS:
        return context.with_fields(content, {**LISTS_OF_CHAT[DETAILS].mark(), **hints.COLUMN.entry(DETAILS)})
    if api == "anthropic-messages" and (is_hosted or is_cited):
        return context.with_fields(content, STANDARD_OF_ANTHROPIC.mark())
    if api == BEDROCK.api and sealed is not None and sealed.kind == "redacted":
        return context.with_fields(content, OF_BEDROCK.mark())
    dialect = next((one for one in DIALECTS if one.api == api), None)
    is_redacted = sealed is not None and sealed.kind == "redacted"
    if dialect is not None and (isinstance(content, _NON_STANDARD) or is_redacted):
        return context.with_fields(content, {**dialect.mark(), **WRAPPED.entry({"type": "non_standard"})})
    if content.__class__ is CodeInterpreterToolResultContent and api == GOOGLE:
        return _of_gemini(content, context)
    if content.__class__ is CodeInterpreterToolResultContent:
        return context.replace(content, outputs=[_as_logs(output, context) for output in content.output_list])
    return content


def _of_gemini(result: Any, context: EncodeContext) -> Any:
    """Return a result of Gemini's code tool with its only text as a string, as langchain-google-genai requires it.

    The status tells a failure.
    """
    failed = result.is_error or result.error is not None
    made = context.replace(result, outputs=[one for one in result.outputs if one.__class__ is not ErrorContent])
    if len(made.outputs) == 1 and made.outputs[0].__class__ is TextContent:
        text = context.with_fields(made.outputs[0], hints.FORM.entry("string"))
        made = context.replace(made, outputs=[text])
    return context.with_fields(context.replace(made, is_error=failed), hints.ROW.entry(STANDARD_CODE.name))


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
