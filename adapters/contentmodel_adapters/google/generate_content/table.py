"""The table of Gemini's generateContent: parts, media, hosted tools, grounding, usage, and the contents of requests.

Read off google-genai 3.4 (types.py), seen November 2026. The key that a part has determines its kind; modifiers (a
signature, a video's cut) may be beside it. Requests spell names with underscores as well. Definitions of tools and the
record of requests are in tools.py, answers in response.py: the whole would be longer than 1,000 lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    BlocksOrOne,
    Codec,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Failure,
    FailureField,
    Filled,
    Gathered,
    Group,
    Hint,
    Implied,
    MintedId,
    Place,
    ProtobufJson,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    TextField,
    camel_name,
    dotted_key,
    escaped,
    hints,
    parse,
    reasons,
    snake_name,
    spread,
    wire_fields,
    with_detached_media,
    with_media_back,
)
from contentmodel.content import hosted
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.media_types import kind_of_media
from contentmodel.content.outcomes import ConfigurationContent, ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.errors import ContentModelError
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import TranscriptIndex, new_ids
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import SpelledRole, misfits, restore_role, role_of
from contentmodel_adapters.common.first_turn import BEGUN_BEFORE, without_begun
from contentmodel_adapters.common.reasoning import Signature, Unread
from contentmodel_adapters.google.shared import json_as_text

API = "google-generate-content"
TABLE = Table(API)
GROUNDING = Hint[Literal[True]](API, "grounding", "the content was next to the parts of a candidate")
KEY_OF_RESPONSE = Hint[Literal["", "error", "result", "bare"]](
    API,
    "response",
    'the key of the only text in the response of a function, "" if the response is JSON, "bare" if it is no object',
)

SIGNED: dict[str, Spec] = {"thoughtSignature": ("protected", Signature())}


class ResponseObject(Codec[list[AIContent]]):
    """The JSON object that a tool returns, as texts or as a JSON value.

    One string under "output", "error" or "result" is one text; a list of several strings under "output" or "error" is
    as many texts. Any other value under "result" that is not an object is that value, and any other object is the value
    itself: without those keys "the whole response is treated as function output" (types.py of google-genai,
    FunctionResponse; the SDK itself writes "result"; seen 2026-11-22). The hint `KEY_OF_RESPONSE` of the first text has
    the key; "" for a text that has the JSON of the whole object. An empty object has no outputs.

    The API takes objects only. A text or another value is read nevertheless, because stored conversations have it.
    """

    classes: tuple[type, ...] = (dict,)
    identity = False

    def holds(self, value: Any) -> bool:
        return value is not None and value not in ({}, "")

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        if value.__class__ is not dict:
            bare = KEY_OF_RESPONSE.extra(API, "bare")
            return [
                TextContent(text=value, extra=bare) if value.__class__ is str else JsonContent(value=value, extra=bare)
            ]
        if len(value) == 1:
            ((name, output),) = value.items()
            texts = output if _is_texts(output) and name in ("output", "error") else [output]
            if name in _OUTPUTS and texts[0].__class__ is str:
                extra = None if name == "output" else KEY_OF_RESPONSE.extra(API, name)
                return [TextContent(text=texts[0], extra=extra), *(TextContent(text=text) for text in texts[1:])]
            if name == "result" and output.__class__ is not dict:
                return [JsonContent(value=output)]
        return [JsonContent(value=value)]

    def count(self, wire: Any) -> int:
        is_one = wire.__class__ is dict and len(wire) == 1
        output: Any = wire.get("output", wire.get("error")) if is_one else None
        return len(output) if _is_texts(output) else 1

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        if wire.__class__ is not dict or value[0].__class__ is not TextContent:
            return [(value[0], path, wire, None)]
        ((name, texts),) = wire.items()
        inner = f"{path}.{name}"
        return [(value[0], inner, texts, None)] if texts.__class__ is str else spread(value, texts, inner, None)

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        if owner.is_error and not context.native:
            context.report_loss(owner, "is_error", reasons.ERROR_KEY)
        if len(value) == 1 and context.native and KEY_OF_RESPONSE.of(value[0], API) == "bare":
            return context.plain_value(value[0], "value" if value[0].__class__ is JsonContent else "text")
        if len(value) == 1 and value[0].__class__ is JsonContent:
            return self._encode_json(value[0], context, failed=bool(owner.is_error))
        if JsonContent in map(type, value):
            value = [json_as_text(content, context) for content in value]
        texts = [TEXT_FIELD.encode([content], context, owner) or "" for content in value]
        name = None if value[0].extra is None else KEY_OF_RESPONSE.of(value[0], API)
        if name == "" and len(texts) == 1:
            read = _object_of(texts[0])
            if read is not None:
                return read
        key = "error" if owner.is_error else "output"
        if len(texts) > 1:
            return {key if name not in ("output", "error") else name: texts}
        return {key if name in (None, "", "bare") else name: texts[0]}

    def _encode_json(self, content: JsonContent, context: EncodeContext, *, failed: bool) -> dict[str, Any]:
        context.report_lost_attributes(content, ("annotations", "protected", "cache_point"))
        context.leave_residue(content)
        value = content.value
        response = value if value.__class__ is dict and not failed else {"error" if failed else "result": value}
        read = self.decode(response, context, {}, "") if self.holds(response) else []  # type: ignore[arg-type]
        if not (len(read) == 1 and read[0].__class__ is JsonContent and read[0].value is value):
            context.report_loss(content, "value", reasons.JSON_FORM)
        return response


class AnyResponse(ResponseObject):
    """The result of an unknown tool, whose form no SDK states: any JSON value."""

    classes = (dict, list, str, bool, int, float)


_OUTPUTS = ("output", "error", "result")


def _is_texts(value: Any) -> bool:
    return value.__class__ is list and len(value) > 1 and all(item.__class__ is str for item in value)


def _object_of(text: str) -> dict[str, Any] | None:
    try:
        value = parse(text)
    except ContentModelError:
        return None
    return value if isinstance(value, dict) else None


TEXT_FIELD = TextField(TextContent, "text")
CALL_ID = MintedId()
ARGUMENTS = ArgumentsObject()

INLINE = Row(
    "inlineData",
    DataContent,
    {
        **SIGNED,
        "inlineData.data": "data",
        "inlineData.mimeType": "media_type",
        "inlineData.displayName": "name",
    },
    ProtobufJson(),
)


class FileUri(Codec[tuple[str, str | None]]):
    """The address of a file, and its kind: a link to a YouTube video has no media type."""

    classes = (str,)
    identity = False
    mandatory = True

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        is_video = container.get("mimeType").__class__ is not str and value.startswith(YOUTUBE)
        return value, "video" if is_video else None

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        uri, kind = value
        derived = kind_of_media(owner.media_type) or self.decode(uri, context, {}, "")[1]  # type: ignore[arg-type]
        if kind not in (None, derived):
            context.report_loss(owner, "kind", reasons.OTHER_VALUE, value=derived)
        return uri


YOUTUBE = ("https://www.youtube.com/", "https://youtube.com/", "https://m.youtube.com/", "https://youtu.be/")
"""Links to videos (ai.google.dev/gemini-api/docs/video-understanding, seen 2026-11-22)."""

FILE = Row(
    "fileData",
    UriContent,
    {
        **SIGNED,
        "fileData.fileUri": (("uri", "kind"), FileUri()),
        "fileData.mimeType": "media_type",
        "fileData.displayName": "name",
    },
    ProtobufJson(),
)


def has(wire: dict[str, Any], name: str) -> Any:
    """Return the value of a field in either spelling."""
    return wire[name] if name in wire else wire.get(snake_name(name))


def _media_row(wire: dict[str, Any]) -> str | None:
    if has(wire, "inlineData").__class__ is dict:
        return "inlineData"
    link = has(wire, "fileData")
    return "fileData" if link.__class__ is dict and has(link, "fileUri").__class__ is str else None


MEDIA = TABLE.union("media part", [INLINE, FILE], find=_media_row)

# toolType -> the call and result of the tool (google-genai 3.4 types.ToolType).
TOOL_TYPES: dict[str, tuple[type[Any], type[Any]]] = {
    "GOOGLE_SEARCH_WEB": (hosted.WebSearchToolCallContent, hosted.WebSearchToolResultContent),
    "GOOGLE_SEARCH_IMAGE": (hosted.WebSearchToolCallContent, hosted.WebSearchToolResultContent),
    "URL_CONTEXT": (hosted.UrlContextToolCallContent, hosted.UrlContextToolResultContent),
    "GOOGLE_MAPS": (hosted.MapsToolCallContent, hosted.MapsToolResultContent),
    "FILE_SEARCH": (hosted.FileSearchToolCallContent, hosted.FileSearchToolResultContent),
    "MEDIA_PROCESSING": (hosted.MediaProcessingToolCallContent, hosted.MediaProcessingToolResultContent),
}
UNSAID = ("name", "status", "is_error", "caller")


def _tool_call(name: str, model: type[Any], **constants: str) -> Row:
    fields: dict[str, Spec] = {**SIGNED, "toolCall.id": ("call_id", CALL_ID), "toolCall.args": ("arguments", ARGUMENTS)}
    if not constants:
        fields["toolCall.toolType"] = "name"
    return Row(name, model, fields, Silent(*UNSAID), ProtobufJson(), constants=_dotted(constants))


# The key "error" has the failure, as in the response of a function (types.FunctionResponse.response).
RESPONSE_ERROR = Failure(FailureField("toolResponse.response.error"), texts_are_errors=True)
# Enums are strings, or numbers if the caller requested integers (types.Outcome, types.UrlRetrievalStatus).
_FAILED_OUTCOMES = ("OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED", 2, 3)
OUTCOME = Failure(
    FailureField("codeExecutionResult.outcome", _FAILED_OUTCOMES, failed="OUTCOME_FAILED"), only_fields=True
)
UNREAD = {f"URL_RETRIEVAL_STATUS_{status}" for status in ("ERROR", "PAYWALL", "UNSAFE")} | {2, 3, 4}


def _tool_result(name: str, model: type[Any], **constants: str) -> Row:
    fields: dict[str, Spec] = {**SIGNED, "toolResponse.id": ("call_id", CALL_ID)}
    if not constants:
        fields["toolResponse.toolType"] = "name"
    columns = {"toolResponse.response": Column(ResponseObject(), TextContent, JsonContent)}
    return Row(
        name,
        model,
        fields,
        Columns("outputs", columns),
        Silent(*UNSAID),
        ProtobufJson(),
        constants=_dotted(constants),
        failure=RESPONSE_ERROR,
    )


def _dotted(constants: dict[str, str]) -> dict[str, str]:
    return {key.replace("__", "."): value for key, value in constants.items()}


MODIFIERS = (
    *("mediaResolution", "videoMetadata", "partMetadata", "mediaProcessing", "speechMetadata"),
    *("documentMetadata", "spreadsheetMetadata", "audioMetadata"),
)
_MODIFIER_KEYS = frozenset(MODIFIERS)
_BESIDE = frozenset({*MODIFIERS, "thoughtSignature", "thought"})


# Keys that determine a part's kind, whatever other keys it has.
class IdOfCode(Group):
    """The id of a call that runs code. Decoding leaves it to the step that pairs calls with results."""

    attribute = "call_id"

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> None:
        return None

    def encode(self, value: str | None, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        is_repeated = owner.arguments.__class__ is dict and owner.arguments.get("id") == value
        if value is not None and is_repeated and hints.MINTED.of(owner, API) != value:
            context.report_loss(owner, "call_id", reasons.REPEATED_ID)


_MEMBERS = ("functionCall", "functionResponse", "executableCode", "codeExecutionResult")
_TOOLS = ("toolCall", "toolResponse")
_SNAKE = {snake_name(name): name for name in (*_MEMBERS, *_TOOLS, "inlineData", "fileData", "thoughtSignature")}
_OTHER_OUTPUTS = ("output", "outputs", "result", "results", "content")


@lru_cache(maxsize=64)
def other_part(key: str) -> Row | None:
    """Return the row of an unknown part, whose key names a tool: `quantumCall` and `quantumResult`; None for others."""
    name = camel_name(key)
    if name in _MEMBERS or name in _TOOLS:
        return None
    ending = next((ending for ending in ("Call", "Result", "Response") if name.endswith(ending)), None)
    if ending is None or name == ending:
        return None
    at = dotted_key(key)
    fields: dict[str, Spec] = {**SIGNED, f"{at}.id": ("call_id", CALL_ID)}
    others = (Implied({"name": name.removesuffix(ending)}), Silent("status", "is_error", "caller"), ProtobufJson())
    if ending == "Call":
        fields[f"{at}.args"] = ("arguments", ARGUMENTS)
        return Row(key, HostedToolCallContent, fields, *others, is_generated=False)
    columns = {f"{at}.response": Column(AnyResponse(), TextContent, JsonContent)}
    columns |= {f"{at}.{field}": Column(AnyResponse(), hinted=True) for field in _OTHER_OUTPUTS}
    failure_fields = (
        FailureField(f"{at}.error"),
        FailureField(f"{at}.response.error"),
        FailureField(f"{at}.outcome", _FAILED_OUTCOMES),
    )
    failure = Failure(*failure_fields, texts_are_errors=True)
    columned = Columns("outputs", columns)
    return Row(key, HostedToolResultContent, fields, columned, *others, failure=failure, is_generated=False)


def _other_key(wire: dict[str, Any], keys: Iterable[str]) -> str | None:
    """Return the only unknown key of a part if it is that of a call or a result; else None."""
    others = [key for key in keys if camel_name(key) not in _BESIDE]
    is_one = len(others) == 1 and wire[others[0]].__class__ is dict
    return others[0] if is_one and other_part(others[0]) is not None else None


def _part_row(wire: dict[str, Any]) -> str | None:
    if len(wire) == 1 and wire.get("text").__class__ is str:
        return "text"
    for name in _MEMBERS:
        if name in wire and wire[name].__class__ is dict:
            return name
    if not _SNAKE.keys().isdisjoint(wire):
        original, wire = wire, {**{_SNAKE[key]: value for key, value in wire.items() if key in _SNAKE}, **wire}
        return next((name for name in _MEMBERS if wire.get(name).__class__ is dict), None) or _other_row(wire, original)
    return _other_row(wire, wire)


def _other_row(wire: dict[str, Any], original: dict[str, Any]) -> str | None:
    """Return the row of a part that is no function's and no code. `wire` has the usual spellings of the given names."""
    for name in _TOOLS:
        tool = wire.get(name)
        if tool.__class__ is dict:
            kind = has(tool, "toolType")
            return f"{name}.{kind}" if kind.__class__ is str and kind in TOOL_TYPES else name
    medium = _media_row(wire)
    if medium is not None:
        return medium
    if wire.get("text").__class__ is str:
        return "thought" if wire.get("thought") is True else "text"
    keys = {key for key, value in original.items() if value is not None}
    other = _other_key(original, keys)
    if other is not None:
        return other
    if wire.get("thoughtSignature").__class__ is str and "text" not in keys:
        return "signature"
    if not keys:
        return "empty"
    return "modifier" if keys <= _MODIFIER_KEYS else None


PARTS = TABLE.union(
    "part",
    [
        Row("text", TextContent, {**SIGNED, "text": "text"}, Silent("annotations"), ProtobufJson()),
        Row(
            "thought",
            ReasoningContent,
            {**SIGNED, "text": "text"},
            Silent("kind"),
            ProtobufJson(),
            constants={"thought": True},
        ),
        Row("signature", ReasoningContent, SIGNED, Silent("kind"), ProtobufJson()),
        INLINE,
        FILE,
        Row(
            "functionCall",
            FunctionCallContent,
            {
                **SIGNED,
                "functionCall.id": ("call_id", CALL_ID),
                "functionCall.name": "name",
                "functionCall.args": ("arguments", ARGUMENTS),
            },
            ProtobufJson(),
        ),
        Row(
            "functionResponse",
            FunctionResultContent,
            {
                **SIGNED,
                "functionResponse.id": ("call_id", CALL_ID),
                "functionResponse.name": "name",
            },
            Columns(
                "outputs",
                {
                    "functionResponse.response": Column(ResponseObject(), TextContent, JsonContent),
                    "functionResponse.parts": Column(Blocks(MEDIA), DataContent, UriContent),
                },
            ),
            Silent("is_error"),
            Filled({"functionResponse.response": {}}),
            ProtobufJson(),
        ),
        Row(
            "executableCode",
            hosted.CodeInterpreterToolCallContent,
            {**SIGNED, "executableCode": ("arguments", ArgumentsObject("code"))},
            IdOfCode(),
            Silent(*UNSAID),
            ProtobufJson(),
        ),
        Row(
            "codeExecutionResult",
            hosted.CodeInterpreterToolResultContent,
            {
                **SIGNED,
                "codeExecutionResult.id": ("call_id", CALL_ID),
                "codeExecutionResult.outcome": "status",
            },
            Columns("outputs", {"codeExecutionResult.output": Column(TEXT_FIELD, TextContent)}),
            Silent(*UNSAID),
            ProtobufJson(),
            failure=OUTCOME,
        ),
        *(_tool_call(f"toolCall.{t}", call, toolCall__toolType=t) for t, (call, _) in TOOL_TYPES.items()),
        *(_tool_result(f"toolResponse.{t}", result, toolResponse__toolType=t) for t, (_, result) in TOOL_TYPES.items()),
        # Vertex AI leaves an empty text out: `{}`.
        Row("empty", TextContent, {}, Implied({"text": ""}), Silent("annotations"), ProtobufJson()),
        # A cut of a video may be a separate part, after the video.
        Row("modifier", ConfigurationContent, {}, Gathered("settings", *MODIFIERS), Implied({"kind": "modifier"})),
        _tool_call("toolCall", HostedToolCallContent),
        _tool_result("toolResponse", HostedToolResultContent),
    ],
    find=_part_row,
    family=other_part,
)

# -- grounding -----------------------------------------------------------------------------------------------------

_CHUNKS: dict[str, dict[str, Spec]] = {
    "web": {"web.uri": "uri", "web.title": "title"},
    "maps": {"maps.uri": "uri", "maps.title": "title", "maps.text": "text"},
    "retrievedContext": {
        "retrievedContext.uri": "uri",
        "retrievedContext.title": "title",
        "retrievedContext.text": "text",
    },
    "image": {"image.sourceUri": "uri", "image.title": "title"},
}


CHUNKS = TABLE.union(
    "grounding chunk",
    [
        *(Row(name, UriContent, fields) for name, fields in _CHUNKS.items()),
        # A passage of a file search store has a text and no address.
        Row("passage", TextContent, {"retrievedContext.text": "text"}),
    ],
    tag=None,
)
SUPPORT = TABLE.record(
    "grounding support",
    Citation,
    {
        "segment.startIndex": "span.start",
        "segment.endIndex": "span.end",
        "groundingChunkIndices": "source_indices",
    },
    # Offsets count bytes of the part's UTF-8 (types.Segment); the chunks name the page.
    Implied({"span.unit": "byte"}),
    Silent("url", "title"),
)


READ_URLS = TABLE.union(
    "url metadata",
    [
        Row(
            "unread url",
            ErrorContent,
            {"retrievedUrl": ("message", Unread()), "urlRetrievalStatus": "code"},
            select=("urlRetrievalStatus", UNREAD),
        ),
        Row("url", UriContent, {"retrievedUrl": "uri"}),
    ],
    tag=None,
)

USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "promptTokenCount": "input_tokens",
        "candidatesTokenCount": "output_tokens",
        "totalTokenCount": "total_tokens",
        "cachedContentTokenCount": "cache_read_tokens",
        "thoughtsTokenCount": "reasoning_tokens",
        "toolUsePromptTokenCount": "tool_input_tokens",
    },
    # candidatesTokenCount leaves thoughts out (types.GenerateContentResponseUsageMetadata.total_token_count).
    Implied({"reasoning_inside": False}),
    Silent("cached_inside"),
    ProtobufJson(),
)
ERROR = TABLE.record("error", ErrorContent, {"message": "message", "status": "code"}, Silent("kind"))

TABLE.keep("part", "audioTranscription", *MODIFIERS)
TABLE.keep(
    "usage",
    *(
        "cacheTokensDetails",
        "candidatesTokensDetails",
        "promptTokensDetails",
        "toolUsePromptTokensDetails",
        "trafficType",
    ),
)
TABLE.known_values("tool_type", "TOOL_TYPE_UNSPECIFIED", *TOOL_TYPES)


# -- contents ----------------------------------------------------------------------------------------------------------

# One message each, with generated call ids where the wire has none.

ROLE = Hint[SpelledRole](API, "role", "the role of a content, if it is missing or spelled in another way than usual")
BEFORE = Hint[str](API, *BEGUN_BEFORE)
INSTRUCTION = Hint[dict[str, Any]](
    API, "instruction", "the fields of the system instruction beside its parts, on its first part", fields=True
)
ROLES = Roles(API, {"user": "user", "model": "assistant"}, {"user": "user", "assistant": "model", "tool": "user"})
_OF_TOOLS = (ToolCallContent, ToolResultContent)
_TAKES_ID = (ToolCallContent, FunctionResultContent)
_OF_NO_TOOL = frozenset({TextContent, ReasoningContent})
_RESULT_ROLES = ("user", f"{API}:tool", f"{API}:function")
"""Roles of messages that hold results. Clients of the SDKs also send "tool" and "function"
(ai.google.dev/gemini-api/docs/function-calling, seen 2026-11-22).
"""
_ROLES = frozenset({*ROLES.to_model, "tool", "function"})

INNER = BlocksOrOne(PARTS)
CONTENT = TABLE.record(
    "content",
    ChatMessage,
    {"role": ("role", ROLES), "parts": ("contents", INNER)},
    Silent("message_id"),
    ProtobufJson(),
)


def decode_content(wire: dict[str, Any], context: DecodeContext, role: str = "user") -> ChatMessage:
    """Decode one Content. If it has no role, it gets `role`. A hint keeps a role that is spelled in an unusual way."""
    value = wire.get("role")
    if value.__class__ is str and (value in ROLES.to_model or not _is_respelled(value)):
        message: ChatMessage = CONTENT.decode(wire, context)
        return message
    copy = {**wire, "role": value.lower() if value.__class__ is str else role}
    context.copied(copy, wire)
    message = CONTENT.decode(copy, context)
    residue = {**(message.extra or {}).get(API, {}), **ROLE.entry(role_of(wire))}
    residue |= misfits(wire, role=str)
    return msgspec.structs.replace(message, extra={**(message.extra or {}), API: residue})


def _is_respelled(role: str) -> bool:
    """Return whether a role is one of the API's in other letters: the API ignores case."""
    return role != role.lower() and role.lower() in _ROLES


def _is_spelling(spelled: Any, role: str | None, message: ChatMessage) -> bool:
    """Return whether the hint of a role still applies to a message: its role may have been edited."""
    return spelled.__class__ is not str or message.role == "tool" or spelled.lower() == role


def encode_content(message: ChatMessage, context: EncodeContext) -> dict[str, Any]:
    """Return the Content of a message. In a request, drop the contents of an answer's grounding."""
    if context.kind == "request" and any(map(attrgetter("extra"), message.contents)):
        message = without_grounding(message, context)
    wire = CONTENT.functions[1](message, context)
    if message.extra is not None:
        begun, spelled = BEFORE.of(message, API), ROLE.of(message, API)
        if begun is not None:
            wire["parts"] = [{"text": begun}]
        if spelled is not None and _is_spelling(spelled.get("role"), wire.get("role"), message):
            restore_role(wire, spelled)
    if context.completes:
        wire.setdefault("parts", [])
    return wire


def without_grounding(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return the message without contents of grounding, which are beside the parts."""
    return context.with_contents(message, [c for c in message.contents if not GROUNDING.of(c, API)])


def id_of_answer(wire: dict[str, Any]) -> str | None:
    """Return the id of an answer, under either of its names."""
    value = wire.get("responseId", wire.get("response_id"))
    return value if isinstance(value, str) else None


class CallIds:
    """Generate ids for calls and results without one, so that each result refers to its call.

    A generated id differs from the id of every call and function result in `messages`, and from those of answers with
    another `answer_id`.
    """

    def __init__(self, messages: Iterable[ChatMessage] = (), answer_id: str | None = None) -> None:
        tools: list[Any] = [content for content in contents_of(messages) if isinstance(content, _OF_TOOLS)]
        self._are_known = bool(tools) and None not in map(attrgetter("call_id"), tools)
        taken_ids = {content.call_id for content in tools if isinstance(content, _TAKES_ID)}
        self._new = new_ids(taken_ids, answer_id)
        self._index = TranscriptIndex()
        self._messages = 0
        self._ids: dict[tuple[int, int], Any] = {}

    def identify(self, message: ChatMessage) -> ChatMessage:
        """Return the message with ids on every call and result, and failures marked.

        If it has only results, its role becomes "tool".
        """
        contents = message.contents
        number, self._messages = self._messages, self._messages + 1
        for index, content in enumerate(contents):
            if isinstance(content, HostedToolCallContent) and (inner := _inner_id(content)) is not None:
                contents[index] = with_id(content, inner)
        if not self._are_known:
            self._index.add(contents, message.role)
        if _OF_NO_TOOL.issuperset(map(type, contents)):
            return message
        functions = 0
        for index, content in enumerate(contents):
            if not isinstance(content, _OF_TOOLS):
                continue
            if content.call_id is None:
                call = self._index.call_of.get((number, index))
                content = with_id(content, next(self._new) if call is None else self._ids[call])
            self._ids[number, index] = content.call_id
            functions += content.__class__ is FunctionResultContent
            contents[index] = _marked(content)
        if contents and functions == len(contents) and message.role in _RESULT_ROLES:
            return _as_results(message)
        return message


def _inner_id(content: HostedToolCallContent) -> str | None:
    """Return the id in the arguments of a hosted call, if the call has no id."""
    if content.call_id is not None or content.name is not None:
        return None
    inner = content.arguments.get("id") if content.arguments.__class__ is dict else None
    return inner if inner.__class__ is str else None


def _as_results(message: ChatMessage) -> ChatMessage:
    """Return a message of results with the role "tool", and a hint if its role was not the usual "user"."""
    result = ChatMessage(role="tool", contents=message.contents, origin=message.origin, extra=message.extra)
    role = message.role.removeprefix(f"{API}:")
    return result if role == "user" or ROLE.of(result, API) else ROLE.on(result, API, {"role": role})


def with_id(content: Any, call_id: str) -> Any:
    """Return the content with an id, and a hint that this API's encoder drops it. An existing id is kept."""
    if content.call_id is not None:
        return content
    extra = content.extra
    if extra is not None:
        return hints.MINTED.on(msgspec.structs.replace(content, call_id=call_id), API, call_id)
    return msgspec.structs.replace(content, call_id=call_id, extra=hints.MINTED.extra(API, call_id))


def _marked(content: Any) -> Any:
    """Mark a function's result as a failure if its response has the key "error"."""
    if content.__class__ is not FunctionResultContent or not content.outputs:
        return content
    first = content.outputs[0]
    if first.extra is None or KEY_OF_RESPONSE.of(first, API) != "error":
        return content
    return msgspec.structs.replace(content, is_error=True)


class Contents(Codec[list[ChatMessage]]):
    """The contents of a request. One content instead of the list is kept by a hint on its message."""

    classes = (list, dict)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ in (list, dict) and bool(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        if value.__class__ is dict:
            only = hints.FORM.on(CallIds().identify(decode_content(value, context)), API, "one")
            context.trace(CONTENT, [only], container, key, spread=False)
            return [only]
        messages = []
        for index, wire in enumerate(value):
            if wire.__class__ is not dict:
                context.expected(value, index, "an object: a content", wire)
            else:
                messages.append(decode_content(wire, context))
        ids = CallIds(messages)
        messages = [ids.identify(message) for message in messages]
        context.trace_messages(messages, value, lambda message: CONTENT)
        return without_begun(with_media_back(messages, context), context, BEFORE)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> Any:
        wires = [encode_content(message, context) for message in with_detached_media(value, API)]
        if context.native and len(wires) == 1 and hints.FORM.of(value[0], API) == "one":
            return wires[0]
        # Skip foreign messages with nothing to send.
        return wires if context.native else [wire for wire in wires if wire["parts"]]


class Answer(Codec[list[ChatMessage]]):
    """The content of a candidate."""

    classes = (dict,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        return [CallIds(answer_id=context.answer_id).identify(decode_content(value, context, "model"))]

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return [(value[0], path, wire, CONTENT)]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> dict[str, Any]:
        first, *others = value
        for other in others:
            context.report_lost_attributes(other, ("author_name",))
            context.leave_residue(other, own=True)
        if others:
            contents = list(contents_of(value))
            first = context.replace(first, contents=contents, role="assistant")
        return encode_content(first, context)


class Instructions(Codec[list[AIContent]]):
    """systemInstruction: a Content, or a string. Its other fields are in a hint of the first part."""

    classes = (dict, str)
    identity = False

    def holds(self, value: Any) -> bool:
        if value.__class__ is str:
            return True
        return value.__class__ is dict and INNER.holds(value.get("parts"))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        if value.__class__ is str:
            return [TextContent(text=value, extra=hints.FORM.extra(API, "string"))]
        contents: list[Any] = INNER.decode(value["parts"], context, value, "parts")
        if contents:
            other_fields = escaped({name: item for name, item in value.items() if name != "parts"})
            contents[0] = INSTRUCTION.on(contents[0], API, other_fields)
        return contents

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        if wire.__class__ is str:
            return [(value[0], path, wire, None)]
        return INNER.places(value, wire["parts"], f"{path}.parts")

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        if len(value) == 1 and hints.FORM.of(value[0], API) == "string":
            return TEXT_FIELD.encode(value, context, owner)
        parts = INNER.encode(value, context, owner)
        return {**wire_fields(INSTRUCTION.of(value[0], API) or {}), "parts": parts} if parts else None
