"""Adapt media of other APIs to the target: media types, base64, file names, links, and allowed positions.

Messages from the target's own API are not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from contentmodel import reasons
from contentmodel.content import CONTENT_TYPES
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import (
    DataContent,
    HostedFileContent,
    MediaContent,
    UriContent,
    media_type_matches,
    standard_base64,
)
from contentmodel.content.media_types import (
    essence_of,
    is_media_type,
    kind_of_media,
    media_type_of_data,
    media_type_of_link,
    media_type_of_name,
    usual_media_type,
)
from contentmodel.content.text import TextContent
from contentmodel.content.tools import CustomToolResultContent, FunctionResultContent
from contentmodel.engine.pipeline import lowering
from contentmodel.engine.pipeline.foreign import left_out
from contentmodel.engine.pipeline.lowering import is_one_text
from contentmodel.engine.pipeline.sentinels import is_made_name, made_name
from contentmodel.engine.pipeline.steps import Fact, content_step, each_output, recorded
from contentmodel.message import ChatMessage

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.content.tools import ToolResultContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.pipeline.steps import Made, Step
    from contentmodel.reasons import Reason

_ALIASES = {"image/jpg": "image/jpeg", "audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav"}


class MediaSupport(msgspec.Struct, frozen=True):
    """The media that a target reads: inline data of `media_types`, links to media of `links` (None: any type).

    - `schemes`: the URI schemes of links; "" for paths of files, which have none.
    - `private`: prefixes of links that only their provider can fetch.
    - `texts`: whether an inline document may be plain text instead of base64. If `media_types` has no
      documents of text, it becomes a text of the message.
    - `named`: whether an inline document requires a file name.
    - `in_answers`: whether assistant messages may contain media.
    - `files`: whether messages may refer to files that the provider stores.
    - `in_documents`: whether documents of parts may contain media.
    - `typed_links`: whether links require a media type, except those with a prefix in `untyped`.
    """

    media_types: tuple[str, ...] | None = None
    links: tuple[str, ...] | None = None
    schemes: tuple[str, ...] = ("http", "https")
    private: tuple[str, ...] = ()
    texts: bool = False
    named: bool = False
    in_answers: bool = False
    files: bool = True
    in_documents: bool = False
    typed_links: bool = False
    untyped: tuple[str, ...] = ()


Reads: TypeAlias = "MediaSupport | Callable[[EncodeContext], MediaSupport]"
"""The media that a target reads, or a function that returns them for its model and host."""
MEDIA = (DataContent, UriContent, HostedFileContent)
TYPES = (*MEDIA, DocumentContent)
"""The content types that `readable` converts."""
ALL_MEDIA = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, MediaContent)) | {MediaContent}
"""The content types that `without_media` converts."""
_RESULTS = (FunctionResultContent, CustomToolResultContent)


def with_readable_media(reads: Reads, *, aimed: bool = False) -> tuple[Step, ...]:
    """Return the steps that convert media of other APIs for the target. Unreadable media are dropped.

    A link that the target cannot fetch becomes text. If nothing of a user message is left, it gets a placeholder text.
    """
    options: dict[str, Any] = {"aimed": aimed, "own": "aimed", "reads": reads}
    return (
        content_step(readable, *TYPES, needs=TYPES, emptied=user_left_out, **options),
        content_step(with_readable_outputs, *_RESULTS, needs=(Fact.RICH_RESULT,), **options),
    )


def user_left_out(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a user message without contents with a placeholder text."""
    return left_out(message, context) if message.role == "user" else message


def readable(content: AIContent, context: EncodeContext, reads: Reads) -> Made:
    """Return what the target reads of a medium, or of a document with media."""
    support = reads(context) if callable(reads) else reads
    if context.message.role == "assistant" and not support.in_answers and content.__class__ in MEDIA:
        return without_medium(content, context, reasons.MEDIA_OF_ASSISTANT)
    return _readable(content, context, support)


def with_readable_outputs(result: ToolResultContent, context: EncodeContext, reads: Reads) -> AIContent:
    """Return a result with what the target reads of the media in it."""
    if is_one_text(result):
        return result
    support = reads(context) if callable(reads) else reads
    return each_output(result, lambda output, context: _readable(output, context, support), context)


def _readable(content: AIContent, context: EncodeContext, reads: MediaSupport) -> Made:
    if isinstance(content, DocumentContent):
        if reads.in_documents or not any(part.__class__ in MEDIA for part in content.parts):
            return content
        parts: list[AIContent] = []
        for part in _parted(content, context):
            changed = _readable(part, context, reads)
            parts += (part,) if changed is part else recorded(part, changed, context)
        return parts
    if isinstance(content, MediaContent) and content.media_type and not is_media_type(content.media_type):
        context.report_loss(content, "media_type", reasons.NO_MEDIA_TYPE)
        content = context.replace(content, media_type=None)
    if content.__class__ is UriContent:
        return _readable_link(content, context, reads)
    if content.__class__ is HostedFileContent and not reads.files:
        context.report_loss(content, None, reasons.UNSUPPORTED_CONTENT)
        return ()
    return _readable_data(content, context, reads) if content.__class__ is DataContent else content


def _parted(content: DocumentContent, context: EncodeContext) -> list[AIContent]:
    """Return a document without its media, which follow it: other APIs have documents of texts only."""
    apart: list[AIContent] = [part for part in content.parts if part.__class__ in MEDIA]
    for part in apart:
        context.report_loss(part, None, reasons.MEDIA_AFTER_DOCUMENT)
    texts = [part for part in content.parts if part.__class__ not in MEDIA]
    if texts or content.title or content.uri:
        return [context.replace(content, parts=texts), *apart]
    # Nothing is left of the document but its settings.
    context.report_loss(content, None, reasons.UNSUPPORTED_CONTENT)
    return apart


# -- links -------------------------------------------------------------------------------------------------------------


def _readable_link(content: UriContent, context: EncodeContext, reads: MediaSupport) -> Made:
    name, colon, _ = content.uri.partition(":")
    scheme = name.lower() if colon else ""
    if scheme == "data" and ("data" not in reads.schemes or content.media_kind is None):
        inline = _inline(content, context, reads)
        if inline is not None:
            return inline
    if content.uri.startswith(reads.private or "\0") or scheme not in reads.schemes:
        return _as_text(content, context, reasons.LINK_AS_TEXT)
    if reads.links is not None and not _is_read(content, reads.links):
        if content.media_kind is None:
            return _as_unknown(content, context)
        return _as_text(content, context, reasons.LINK_TO_KIND, medium=content.media_kind)
    if reads.typed_links and content.media_type is None and not content.uri.startswith(reads.untyped):
        return _typed_link(content, context)
    return content


def _typed_link(content: UriContent, context: EncodeContext) -> Made:
    """Return a link with a media type derived from its ending or its kind. If neither is known, return it as text."""
    media_type = media_type_of_link(content.uri)
    if kind_of_media(media_type) != content.media_kind:
        media_type = usual_media_type(content.media_kind)
    if media_type is None:
        return _as_unknown(content, context)
    context.report_loss(content, "media_type", reasons.GUESSED_MEDIA_TYPE, media_type=media_type)
    return msgspec.structs.replace(content, media_type=media_type)


def _is_read(content: UriContent, patterns: tuple[str, ...]) -> bool:
    """Return whether a link refers to media of one of these types, judging by its type, kind and ending."""
    kind = content.media_kind
    media_type = content.media_type or media_type_of_link(content.uri)
    if kind_of_media(media_type) != kind:
        media_type = usual_media_type(kind)
    media_type = _ALIASES.get(essence_of(media_type), media_type)
    return any(media_type_matches(media_type, pattern) for pattern in patterns)


def _as_text(content: UriContent, context: EncodeContext, reason: Reason, **values: object) -> Made:
    context.degrade(content, reason, *lowering.spelled(content), **values)
    return TextContent(text=lowering.as_text(content))


def _as_unknown(content: UriContent, context: EncodeContext) -> Made:
    return _as_text(content, context, reasons.LINK_WITHOUT_KIND)


def _inline(content: UriContent, context: EncodeContext, reads: MediaSupport) -> Made | None:
    """Return the content of a data URI, converted as inline data; None if the URI is malformed."""
    try:
        data = DataContent.from_data_uri(content.uri, name=content.name)
    except ValueError:
        return None
    if "data" not in reads.schemes:
        context.report_loss(content, "uri", reasons.DATA_URI)
    data = msgspec.structs.replace(data, detail=content.detail, extra=content.extra)
    return _readable_data(context.replaced(content, data), context, reads)


# -- inline data -------------------------------------------------------------------------------------------------------


def _readable_data(content: DataContent, context: EncodeContext, reads: MediaSupport) -> Made:
    if content.text is not None and not reads.texts:
        context.report_loss(content, "text", reasons.DOCUMENT_AS_BASE64)
        inline = DataContent.from_bytes(content.to_bytes(), content.media_type or "text/plain")
        media_type = content.media_type or inline.media_type
        changed = msgspec.structs.replace(content, data=inline.data, text=None, media_type=media_type)
        content = context.replaced(content, changed)
    if not content.data and content.text is None and not context.keeps_state:
        # Telemetry without media, and data URLs without data. Providers refuse them.
        context.report_loss(content, None, reasons.NO_DATA)
        return ()
    data = standard_base64(content.data)
    if data is None:
        context.report_loss(content, None, reasons.NOT_BASE64)
        return ()
    if data is not content.data:
        context.report_loss(content, "data", reasons.BASE64_SPELLING)
        content = context.replace(content, data=data)
    if content.name is not None and is_made_name(content):
        context.report_loss(content, "name", reasons.GENERATED_FILE_NAME)
        content = context.replace(content, name=None)
    if content.media_type is None:
        # Every API requires a media type.
        media_type = media_type_of_name(content.name or "") or media_type_of_data(content.data)
        if media_type is None:
            context.report_loss(content, None, reasons.UNTYPED_DATA)
            return ()
        context.report_loss(content, "media_type", reasons.GUESSED_MEDIA_TYPE, media_type=media_type)
        content = context.replace(content, media_type=media_type)
    if reads.texts and content.text is None and content.is_media_type("text/*"):
        content = _with_text(content, context)
    return _typed(content, context, reads)


def _with_text(content: DataContent, context: EncodeContext) -> DataContent:
    """Return a text document as text, for targets that reserve base64 for other documents."""
    try:
        text = content.to_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return content
    context.report_loss(content, "data", reasons.DOCUMENT_TEXT)
    document: DataContent = context.replace(content, data="", text=text)
    return document


def _typed(content: DataContent, context: EncodeContext, reads: MediaSupport) -> AIContent | tuple[()]:
    """Return inline data with the target's name of its media type, and with a file name if the target requires one."""
    if reads.media_types is not None:
        named, is_named, is_read = _of_type(content.media_type or "", reads.media_types)
        if not is_read:
            if content.text is not None:
                context.degrade(content, reasons.DOCUMENT_AS_TEXT, "text", media_type=named)
                return TextContent(text=content.text)
            context.report_loss(content, None, reasons.UNSUPPORTED_MEDIA_TYPE, media_type=named)
            return ()
        if not is_named:
            context.report_loss(content, "media_type", reasons.MEDIA_TYPE_NAME, media_type=named)
            content = context.replace(content, media_type=named)
    if content.name or not reads.named or content.media_kind in ("image", "audio"):
        return content
    context.report_loss(content, "name", reasons.FILE_NAME)
    return msgspec.structs.replace(content, name=made_name(content))


@lru_cache(maxsize=256)
def _of_type(media_type: str, patterns: tuple[str, ...]) -> tuple[str, bool, bool]:
    """Return the usual name of a media type, whether it has this name, and whether a pattern matches it."""
    essence = essence_of(media_type)
    named = _ALIASES.get(essence, essence)
    return named, named == essence, any(media_type_matches(named, pattern) for pattern in patterns)


# -- positions without media -------------------------------------------------------------------------------------------


def without_media(content: AIContent, context: EncodeContext) -> Made:
    """Return what is left of a medium in another API's answer, for APIs whose answers contain none."""
    if context.native or not isinstance(content, MediaContent):
        return content
    return without_medium(content, context, reasons.NO_MEDIA_IN_ANSWER)


def without_medium(content: AIContent, context: EncodeContext, reason: Reason) -> Made:
    """Return a text for a medium: the address of a link, or a transcript. If it has neither, report a loss."""
    if content.__class__ is UriContent and content.uri.partition(":")[0].lower() != "data":
        return _as_text(content, context, reasons.AS_TEXT)
    if content.__class__ is DataContent and content.transcript:
        context.degrade(content, reasons.TRANSCRIPT, "transcript")
        return TextContent(text=content.transcript)
    context.report_loss(content, None, reason)
    return ()
