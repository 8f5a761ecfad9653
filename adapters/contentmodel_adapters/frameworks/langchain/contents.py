"""The union of all blocks in the content of a message: standard blocks, and those in the format of a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    CachePoints,
    DecodeContext,
    EncodeContext,
    Hint,
    Row,
    Union,
    each_output,
    hints,
    reasons,
    runs,
)
from contentmodel.content import result_type
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import CodeInterpreterToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
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
from contentmodel_adapters.common.objects import at, without
from contentmodel_adapters.frameworks.hosted_tools import with_class
from contentmodel_adapters.frameworks.langchain.blocks import (
    API,
    BEDROCK_POINT,
    BLOCKS,
    CACHE_POINT,
    JSON,
    KINDS,
    RESULT_CLASSES,
    STANDARD_CODE,
    TABLE,
    is_own,
    is_reference,
    name_in_result,
    name_of,
    usual_row,
)
from contentmodel_adapters.frameworks.langchain.guests import (
    ANTHROPIC,
    BEDROCK,
    BEDROCK_API,
    CHAT,
    DETAILS,
    FORMED_OF_BEDROCK,
    GOOGLE,
    INNER,
    LISTS_OF_CHAT,
    OF_ANTHROPIC,
    OF_CHAT,
    OF_MISTRAL,
    REFERENCE_OF_MISTRAL,
    STANDARD,
    STANDARD_OF_ANTHROPIC,
    WRAPPED,
    Dialect,
    unknown,
)
from contentmodel_adapters.frameworks.langchain.items import OF_OPENAI, OF_RESPONSES, STANDARD_OF_OPENAI

# -- settings of media ------------------------------------------------------------------------------------------------

# Packages read some settings of media in several places: beside the other fields, in `extras` or in `metadata`. These
# are the cache point, Anthropic's citations and context of a document, and names. Source: langchain-anthropic 1.7
# (chat_models.py) and langchain-aws 1.9 (chat_models/bedrock_converse.py), both in `_format_data_content_block`, seen
# 2026-11-27.
SET = Hint[dict[str, str]](API, "set", "the path of each setting in a media block that is not in its usual place")
MEDIA_TYPES = (DataContent, UriContent, HostedFileContent)
_POINTS = CachePoints(CACHE_POINT)
_POINT = "cache_control"
_OF_DOCUMENTS = {"citations": dict, "context": str}
"""The settings of documents that only Anthropic has, with their JSON classes."""
_HOLDERS = ("", "extras.", "metadata.")
_NAMED = {"file": "filename", "text-plain": "title"}
"""The usual field of a name, by the type of the block."""
_NAMES = ("title", "name")
"""The other fields of a name: Anthropic's, and Bedrock's."""


def with_usual_places(block: dict[str, Any], context: DecodeContext) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a block with its settings beside the other fields, and their paths in the block."""
    kind = block.get("type")
    places = dict(_places(block, kind)) if kind.__class__ is str and kind in KINDS else {}
    if not places:
        return block, {}
    copy = block
    for key, path in places.items():
        copy = {**without(copy, path), key: at(copy, path)}
    context.copied(copy, block)
    for key, path in places.items():
        context.copied(copy, block, (key, path))
    for holder in ("extras", "metadata"):
        if holder in copy and copy[holder] is not block[holder]:
            context.copied(copy[holder], block[holder])
    return copy, places


def _places(block: dict[str, Any], kind: str) -> Any:
    """Yield the usual field of each setting of a block, and the path that it has."""
    if not _POINTS.holds(block.get(_POINT)):
        yield from _path_of(block, _POINT, _HOLDERS[1:], (_POINT,), _POINTS.holds)
    if kind in _NAMED:
        for key, json_class in _OF_DOCUMENTS.items():
            yield from _path_of(block, key, _HOLDERS, (key,), lambda value, c=json_class: value.__class__ is c)
        if not any(at(block, f"{holder}{name}") for holder in _HOLDERS for name in ("filename", _NAMED[kind])):
            yield from _path_of(block, _NAMED[kind], _HOLDERS, _NAMES, lambda value: value.__class__ is str and value)


def _path_of(block: dict[str, Any], key: str, holders: tuple[str, ...], names: tuple[str, ...], holds: Any) -> Any:
    paths = (f"{holder}{name}" for name in names for holder in holders)
    path = next((path for path in paths if holds(at(block, path))), None)
    if path is not None:
        yield key, path


def with_settings(content: Any, places: dict[str, str], context: DecodeContext) -> Any:
    """Return the content of a block with usual places. Anthropic's settings are fields of its API."""
    residue = (content.extra or {}).get(API, {})
    of_anthropic = {key: residue[key] for key in _OF_DOCUMENTS if key in places and key in residue}
    other_fields = {key: value for key, value in residue.items() if key not in of_anthropic}
    extra = {**(content.extra or {}), API: {**other_fields, **SET.entry(places)}}
    if of_anthropic:
        extra[ANTHROPIC] = {**extra.get(ANTHROPIC, {}), **of_anthropic}
    return context.replace(content, extra=extra)


def without_settings(content: Any, context: EncodeContext) -> tuple[Any, dict[str, str]]:
    """Return a content whose settings of Anthropic are fields of its block, and the paths of all settings."""
    extra = content.extra or {}
    theirs = extra.get(ANTHROPIC, {})
    if content.__class__ not in MEDIA_TYPES:
        return content, {}
    moved = {key: theirs[key] for key, json_class in _OF_DOCUMENTS.items() if theirs.get(key).__class__ is json_class}
    places = {**{key: f"extras.{key}" for key in moved}, **(SET.of(content, API) or {})}
    if moved:
        other_fields = {key: value for key, value in theirs.items() if key not in moved}
        others = {api: fields for api, fields in extra.items() if api != ANTHROPIC}
        changed_extra = {
            **others,
            **({ANTHROPIC: other_fields} if other_fields else {}),
            API: {**extra.get(API, {}), **moved},
        }
        content = context.replace(content, extra=changed_extra)
    return content, places


def in_places(block: dict[str, Any], places: dict[str, str]) -> dict[str, Any]:
    """Return a block with its settings in their places."""
    copy = dict(block)
    for key, path in places.items():
        if key not in copy:
            continue
        value = copy.pop(key)
        holder, _, name = path.rpartition(".")
        if not holder:
            copy[name] = value
        elif copy.get(holder, {}).__class__ is dict:
            copy[holder] = {**copy.get(holder, {}), name: value}
    return copy


# -- the union of blocks ----------------------------------------------------------------------------------------------

POINTS = CachePoints(BEDROCK_POINT)
POINT = "cachePoint"
"""The only key of Bedrock's cache point, which is a block after the block that it belongs to."""


DIALECTS = (OF_ANTHROPIC, OF_RESPONSES, OF_CHAT, OF_MISTRAL)
"""The APIs of the blocks, in the order of preference for blocks that several have."""
_BY_API = {one.api: one for one in (*DIALECTS, BEDROCK)}
_STANDARD = {
    one.api: one for one in (STANDARD_OF_ANTHROPIC, STANDARD_OF_OPENAI, FORMED_OF_BEDROCK, REFERENCE_OF_MISTRAL)
}
_OF_BEDROCK = ("text", "image", "document", "video", "audio")


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
                decoded = key.decode(wires, indexes, context, self.decode_one if key.is_standard else unknown)
            else:
                unpointed = self._with_point(contents, wires, indexes, context) if key == POINT else indexes
                decoded = [self.decode_one(wires, index, context) for index in unpointed]
            contents += [content for content in decoded if content is not None]
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
        return STANDARD_OF_ANTHROPIC if issuer == "anthropic" and STANDARD_OF_ANTHROPIC.knows(block) else None

    def _with_point(
        self, contents: list[Any], wires: list[Any], indexes: list[int], context: DecodeContext
    ) -> list[int]:
        """Add the first of Bedrock's cache points to the last content, in place. Return the indexes of the others."""
        last = contents[-1] if contents else None
        if last is None or last.__class__ is UnknownContent or last.cache_point is not None:
            return indexes
        block = wires[indexes[0]]
        point = INNER.on(POINTS.row.decode(block[POINT], context), API, BEDROCK_API)
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
        decoded = [] if dialect is None else dialect.decode(block, ["value"], context)
        if len(decoded) != 1 or decoded[0].__class__ is UnknownContent:
            return UnknownContent(api=API, block=block)
        return context.replaced(decoded[0], WRAPPED.on(decoded[0], API, around))

    # -- encoding ------------------------------------------------------------------------------------------------------

    def _encode_all(self, contents: Sequence[Any], context: EncodeContext) -> list[Any]:
        blocks: list[Any] = []
        for run, has_point in runs(contents, _has_own_point):
            if not has_point:
                blocks += self._encode_run(run, context)
            elif encoded := self._encode_run([context.replace(run[0], cache_point=None)], context):
                blocks += [*encoded, {POINT: POINTS.encode(run[0].cache_point, context, run[0])}]
        return blocks

    def _encode_run(self, contents: Sequence[Any], context: EncodeContext) -> list[Any]:
        blocks: list[Any] = []
        for dialect, group in groupby(contents, key=_dialect_of):
            if dialect is None:
                blocks += [block for content in group for block in self._encode_plain(content, context)]
            else:
                blocks += dialect.encode(list(group), context)
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
        return REFERENCE_OF_MISTRAL
    if FORMED_OF_BEDROCK.knows(block):
        return FORMED_OF_BEDROCK
    if block.get("type").__class__ is not str:
        keys = [key for key, value in block.items() if value is not None]
        return BEDROCK if len(keys) == 1 and keys[0] in _OF_BEDROCK else None
    order = sorted(DIALECTS, key=lambda dialect: dialect.api.partition("-")[0] != issuer)
    return next((dialect for dialect in order if dialect.knows(block)), None)


def _dialect_of(content: Any) -> Dialect | None:
    """Return the dialect that encodes the block of a content; None for blocks of this format."""
    api: Any = INNER.of(content, API)
    dialect = _STANDARD.get(api) if STANDARD.of(content, API) is True else None
    return dialect or _BY_API.get(api)


def _has_own_point(content: Any) -> bool:
    return content.cache_point is not None and INNER.of(content.cache_point, API) is not None


def _with_kinds(contents: list[Any], context: DecodeContext) -> list[Any]:
    """Return contents in which each result of a hosted tool has the class of the tool that its call names."""
    calls = {call.call_id: call for call in contents if isinstance(call, HostedToolCallContent)}
    for index, content in enumerate(contents) if calls else ():
        if isinstance(content, HostedToolResultContent) and content.call_id == "":
            _pair(contents, index, context)
        elif content.__class__ is HostedToolResultContent and content.call_id in calls:
            contents[index] = _of_tool(content, calls[content.call_id], context)
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


CONTENT_BLOCKS = ContentBlocks("content block", BLOCKS, name_of)
RESULT_CONTENT = ContentBlocks("result block", [*BLOCKS, *JSON], name_in_result)
TABLE.unions |= {union.name: union for union in (CONTENT_BLOCKS, RESULT_CONTENT)}


# -- messages of other APIs --------------------------------------------------------------------------------------------


def with_block_hints(content: AIContent, context: EncodeContext) -> AIContent:
    """Return a content of another API with hints if it has no standard block.

    It is a block of that API: that of a hosted tool of Anthropic in the standard form, another in a block
    `non_standard`.
    """
    message, sealed = context.message, content.protected
    if message.role != "assistant" or is_own(message):
        return content
    api = "" if message.origin is None else message.origin.api
    is_hosted = isinstance(content, HostedToolCallContent | HostedToolResultContent) and content.executor == "provider"
    is_redacted = sealed is not None and sealed.kind == "redacted"
    is_cited = content.__class__ is TextContent and bool(content.annotations)
    marks: dict[str, Any] = {}
    if api == CHAT and hints.COLUMN.of(content, CHAT) == DETAILS:
        marks = {**LISTS_OF_CHAT[DETAILS].mark(), **hints.COLUMN.entry(DETAILS)}
    elif api == ANTHROPIC and (is_hosted or is_cited):
        marks = STANDARD_OF_ANTHROPIC.mark()
    elif api == BEDROCK_API and is_redacted:
        marks = FORMED_OF_BEDROCK.mark()
    elif api in _BY_API and api != BEDROCK_API and (isinstance(content, _NON_STANDARD) or is_redacted):
        marks = {**_BY_API[api].mark(), **WRAPPED.entry({"type": "non_standard"})}
    elif isinstance(content, CodeInterpreterToolResultContent):
        return _of_gemini(content) if api == GOOGLE else each_output(content, _as_logs, context)
    marked: AIContent = _with(content, marks)
    return marked


def _with(content: Any, marks: dict[str, Any]) -> Any:
    """Return a content with hints."""
    extra = content.extra or {}
    return replace(content, extra={**extra, API: {**extra.get(API, {}), **marks}}) if marks else content


def _of_gemini(result: CodeInterpreterToolResultContent) -> CodeInterpreterToolResultContent:
    """Return a result of Gemini's code tool with its only text as a string, as langchain-google-genai requires it.

    The status tells a failure.
    """
    failed = result.is_error or result.error is not None
    outputs = [output for output in result.output_list if output.__class__ is not ErrorContent]
    if len(outputs) == 1 and outputs[0].__class__ is TextContent:
        outputs = [_with(outputs[0], hints.FORM.entry("string"))]
    marked: CodeInterpreterToolResultContent = _with(result, hints.ROW.entry(STANDARD_CODE.name))
    return replace(marked, outputs=outputs, is_error=failed)


def _as_logs(output: AIContent, context: EncodeContext) -> AIContent:
    """Return a text output with the hint that encodes it as logs of a code interpreter."""
    marks = {"type": "logs", **hints.ROW.entry("output.logs")} if output.__class__ is TextContent else {}
    marked: AIContent = _with(output, marks)
    return marked


_NON_STANDARD = (
    CompactionContent,
    ConfigurationContent,
    ReferenceContent,
    ToolChangeContent,
    ToolApprovalRequestContent,
)
