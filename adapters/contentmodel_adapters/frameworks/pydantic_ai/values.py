"""Codecs of values: issuers of opaque state, user prompts with cache points, results of tools, outcomes, citations.

Source: pydantic_ai/messages.py of pydantic-ai-slim 2.68.0 (seen 2026-11-23).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    Blocks,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    Hint,
    Place,
    Row,
    TextField,
    Union,
    date_of,
    hints,
    reasons,
    wire_fields,
)
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation, Span
from contentmodel.content.media import standard_base64
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.text import JsonContent, SpanConverter, TextContent
from contentmodel.literals import ProtectedKind

API = "pydantic-ai-messages"
LONE = Hint[Literal[True]](API, "lone", "a cache point without a content before it")
FORM = Hint[Literal["list", "one"]](API, "written", 'the text was in a list ("list") or an object ("one")')
SAME = Hint[Literal[True]](API, "same", "the source is one of the citation before")
ANCHOR = Hint[dict[str, Any]](API, "anchor", "the fields of a citation beside its sources")
DIGESTS = "content_file_digests"
"""The field with the digests of links and uploaded files in a result: a mapping of another digest is a JSON value."""


# -- issuers -----------------------------------------------------------------------------------------------------------

_ISSUERS = {"google-gla": "google", "google-vertex": "google", "google-cloud": "google", "openai-codex": "openai"}
_ENCRYPTED = ("openai", "azure", "xai")
REDACTED = "redacted_thinking"
"""The id of a thinking part whose signature is the data of a redacted block of Anthropic."""
REDACTED_BY_BEDROCK = "redacted_content"
"""The same for the model class of Bedrock. Only Claude redacts (REDACTED_THINKING_PART_IDS of `_thinking_part.py`)."""
BEDROCK, CLAUDE = "bedrock", "anthropic"


def issuer_of(provider: object) -> str:
    """Return the issuer of opaque state for the name of a provider; the empty string if it is missing."""
    return _ISSUERS.get(provider, provider) if isinstance(provider, str) else ""


def _kind_of(fields: Mapping[str, Any]) -> ProtectedKind:
    """Return the kind of opaque state in a thinking part with these fields."""
    if fields.get("id") in (REDACTED, REDACTED_BY_BEDROCK):
        return "redacted"
    return "encrypted" if issuer_of(fields.get("provider_name")) in _ENCRYPTED else "signature"


class Signature(Codec[Protected]):
    """The signature or the encrypted content of a thinking part. `provider_name` beside it is its issuer.

    An empty signature is none: it is that of an interrupted stream, and Pydantic AI sends it to no model.
    """

    classes = (str,)
    identity = False

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value != ""

    def decode(self, value: str, context: DecodeContext, container: dict[str, Any], key: str) -> Protected:
        issuer = issuer_of(container.get("provider_name"))
        if issuer == BEDROCK and container.get("id") == REDACTED_BY_BEDROCK:
            issuer = CLAUDE
        return Protected(issuer=issuer, kind=_kind_of(container), data=value)

    def encode(self, value: Protected, context: EncodeContext, owner: Any) -> str | None:
        fields = (owner.extra or {}).get(API) or {}
        issuer = issuer_of(fields.get("provider_name"))
        if value.issuer in ((BEDROCK, CLAUDE) if issuer == BEDROCK else (issuer,)):
            if value.kind != _kind_of(fields):
                context.report_loss(owner, "protected", reasons.OTHER_VALUE, value=_kind_of(fields))
            return value.data
        context.report_loss(owner, "protected", reasons.OPAQUE_STATE, issuer=value.issuer)
        return None

    def describe(self) -> str:
        return "opaque"


def provider_fields(content: AIContent, item_id: str | None = None) -> dict[str, Any]:
    """Return the fields that name the provider of a content's opaque state, and the id of its item.

    Pydantic AI sends the reasoning of an item without an id to the Responses API as a text.
    """
    protected = content.protected
    issuer = "openai" if protected is None and item_id is not None else protected and protected.issuer
    if not issuer:
        return {}
    redacted = protected is not None and protected.kind == "redacted"
    own_id = REDACTED if redacted else item_id if issuer == "openai" else None
    return {"provider_name": issuer, **({} if own_id is None else {"id": own_id})}


# -- user prompts ------------------------------------------------------------------------------------------------------


class Prompt(Blocks[AIContent]):
    """The content of a user prompt: a string, or a list of strings and objects. Cache points follow their content."""

    classes = (str, list)

    def __init__(self, union: Union, cache_point: Row) -> None:
        super().__init__(union)
        self._cache_point = cache_point

    def holds(self, value: object) -> bool:
        return value.__class__ is str or (value.__class__ is list and bool(value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if value.__class__ is str:
            return [TextContent(text=value)]
        contents: list[AIContent] = []
        for index, item in enumerate(value):
            if item.__class__ is str:
                contents.append(TextContent(text=item))
            elif item.__class__ is not dict:
                context.expected(value, index, "a string or an object: a part of the prompt", item)
            elif item.get("kind") == "cache-point":
                self._add_point(contents, self._cache_point.decode(item, context))
            else:
                content = self.union.decode(item, context)
                is_bare_text = content.__class__ is TextContent and content.extra is None
                contents.append(FORM.on(content, API, "one") if is_bare_text else content)
        if len(contents) == len(value) == 1 and value[0].__class__ is str:
            contents[0] = FORM.on(contents[0], API, "list")
        return contents

    def _add_point(self, contents: list[AIContent], point: CachePoint) -> None:
        if contents and contents[-1].cache_point is None and contents[-1].__class__ is not UnknownContent:
            contents[-1] = msgspec.structs.replace(contents[-1], cache_point=point)
        else:
            contents.append(LONE.on(TextContent(text="", cache_point=point), API, True))

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        if wire.__class__ is str:
            yield value[0], path, wire, None
            return
        at = -1
        for content in value:
            if not LONE.of(content, API):
                at += 1
                place: Place = (content, f"{path}[{at}]", wire[at], self.union if wire[at].__class__ is dict else None)
                yield place
            if content.cache_point is not None:
                at += 1
                yield content.cache_point, f"{path}[{at}]", wire[at], self._cache_point

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        items: list[Any] = []
        for content in value:
            if self._is_string(content):
                items.append(content.text)  # type: ignore[attr-defined]
                context.report_lost_attributes(content, ("annotations", "protected"))
                context.leave_residue(content)
            elif content.__class__ is not TextContent or LONE.of(content, API) is None:
                items += self.union.encode_list([content], context)
            if content.cache_point is not None:
                items.append(self._cache_point.encode(content.cache_point, context))
        is_text = len(items) == 1 and items[0].__class__ is str
        return items[0] if is_text and FORM.of(value[0], API) != "list" else items or None

    def _is_string(self, content: Any) -> bool:
        if content.__class__ is not TextContent:
            return False
        residue = None if content.extra is None else content.extra.get(API)
        if not residue:
            return True
        if LONE.read(residue):
            return content.text != ""
        return not wire_fields(residue) and FORM.read(residue) != "one" and not hints.ROW.is_in(residue)

    def describe(self) -> str:
        return f"str or list of str and {self.union.name}"


# -- results of tools --------------------------------------------------------------------------------------------------

_LINKS = ("image-url", "audio-url", "document-url", "video-url")
_TEXT, _LINES = TextField(TextContent, "text"), TextField(TextContent, "text", between="\n")


def digest_of(item: Mapping[str, Any]) -> str:
    """Return the digest under which a result records a link or an uploaded file."""
    return hashlib.sha256(json.dumps(item, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def is_file(item: object, record: object) -> bool:
    """Return whether pydantic-ai reads an object in a result as a file: links and ids must be in the record.

    `record` is the list of digests; without a list, web links with a media type are files.
    """
    if not isinstance(item, dict):
        return False
    kind = item.get("kind")
    if kind == "binary":
        data = item.get("data")
        return isinstance(data, str) and isinstance(item.get("media_type"), str) and standard_base64(data) is not None
    if kind == "uploaded-file":
        return isinstance(record, list) and isinstance(item.get("file_id"), str) and digest_of(item) in record
    link = item.get("url")
    if kind not in _LINKS or not isinstance(link, str) or item.get("media_type", "") == "":
        return False
    return digest_of(item) in record if isinstance(record, list) else link.lower().startswith(("http://", "https://"))


class Returned(Blocks[AIContent]):
    """The content of a result: a text, a JSON value, a file, or a list with files.

    A list without a file is one JSON value, as models of APIs without blocks get it.
    """

    classes = (str, list, dict, int, float, bool)

    def holds(self, value: object) -> bool:
        return value is not None

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if value.__class__ is str:
            return [TextContent(text=value)]
        record = container.get(DIGESTS)
        if is_file(value, record):
            return [self.union.decode(value, context)]
        if not _has_files(value, record):
            return [JsonContent(value=value)]
        contents = [self._item(item, record, context) for item in value]
        if len(contents) == 1:
            contents[0] = FORM.on(contents[0], API, "list")
        return contents

    def _item(self, item: Any, record: Any, context: DecodeContext) -> Any:
        if item.__class__ is str:
            return TextContent(text=item)
        return self.union.decode(item, context) if is_file(item, record) else JsonContent(value=item)

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        if len(value) == 1 and (wire.__class__ is not list or value[0].__class__ is JsonContent):
            return [(value[0], path, wire, None if value[0].__class__ in _PLAIN else self.union)]
        pairs = zip(value, wire, strict=False)
        return [
            (content, f"{path}[{index}]", item, None if content.__class__ in _PLAIN else self.union)
            for index, (content, item) in enumerate(pairs)
        ]

    def encode(self, value: list[AIContent], context: EncodeContext, owner: Any) -> Any:
        if len(value) > 1 and all(content.__class__ is TextContent for content in value):
            return _LINES.encode(value, context, owner)
        items = [item for content in value for item in self._written(content, context, owner, alone=len(value) == 1)]
        if not items:
            # An empty list would be a JSON value.
            return None
        is_list = len(items) != 1 or FORM.of(value[0], API) == "list"
        if is_list and len(items) > 1 and not any(is_file(item, _digests(items)) for item in items):
            context.report_loss(owner, "outputs", reasons.JSON_FORM)
        return items if is_list else items[0]

    def _written(self, content: Any, context: EncodeContext, owner: Any, *, alone: bool) -> Iterator[Any]:
        if content.__class__ is TextContent:
            yield _TEXT.encode([content], context, owner) or ""
        elif content.__class__ is not JsonContent:
            context.report_lost_attributes(content, ("cache_point",))
            for item in self.union.encode_list([content], context):
                # Contents without a row here become texts.
                yield item["content"] if item.get("kind") == "text-content" else item
        elif is_file(content.value, []) or (alone and _has_files(content.value, [])):
            context.degrade(content, reasons.AS_TEXT, "value")
            yield content.text
        else:
            if content.value is None or content.value.__class__ is str:
                context.report_loss(content, "value", reasons.JSON_FORM)
            yield context.plain_value(content, "value")

    def describe(self) -> str:
        return f"any JSON value, {self.union.name} or a list of both"


_PLAIN = (TextContent, JsonContent)


def _has_files(value: object, record: object) -> bool:
    return isinstance(value, list) and any(is_file(item, record) for item in value)


def _digests(items: list[Any]) -> list[str]:
    kinds = (*_LINKS, "uploaded-file")
    return sorted({digest_of(item) for item in items if isinstance(item, dict) and item.get("kind") in kinds})


class Recorded(Filled):
    """The content of a result of another API, if it has none, and the digests of its files."""

    def finish(self, value: Any, wire: dict[str, Any], context: EncodeContext) -> None:
        super().finish(value, wire, context)
        content = wire.get("content")
        if content.__class__ not in (list, dict):
            return
        pairs = zip(content if content.__class__ is list else [content], value.outputs, strict=False)
        # The links of a web search are not files.
        files = [
            item
            for item, output in pairs
            if output.__class__ not in _PLAIN and item.__class__ is dict and "kind" in item
        ]
        for item in files:
            if item.get("kind") in _LINKS:
                item.setdefault("media_type", None)
        record = wire.get(DIGESTS)
        if not context.completes and record.__class__ is not list and all(is_file(item, record) for item in files):
            return
        written = _digests(files)
        recorded = record if record.__class__ is list else []
        if DIGESTS not in wire or not all(digest in recorded for digest in written):
            texts = {item for item in recorded if item.__class__ is str}
            wire[DIGESTS] = [*sorted({*written, *texts}), *(item for item in recorded if item.__class__ is not str)]


_OUTCOMES = {"success": "succeeded", "failed": "failed", "denied": "denied", "interrupted": "interrupted"}
_WORDS = {outcome: word for word, outcome in _OUTCOMES.items()} | {"retried": "retried"}
FAILURES = ("failed", "retried")
"""The outcomes that a model sees as an error."""


class Outcomes(Codec[tuple[str | None, bool | None]]):
    """The outcome of a call, and whether the model sees the result as an error."""

    classes = (str,)
    identity = False
    known_values = frozenset((*_OUTCOMES, "retried"))

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> tuple[str | None, bool | None]:
        return _OUTCOMES.get(value, value), True if value in FAILURES else None

    def encode(self, value: tuple[str | None, bool | None], context: EncodeContext, owner: object) -> str | None:
        outcome, failed = value
        if failed and outcome == "denied":
            context.report_loss(owner, "is_error", reasons.NO_FIELD)
            return outcome
        word = _WORDS.get(outcome or "", outcome if context.native else None)
        if outcome is not None and (word is None or (failed and word not in FAILURES)):
            context.report_loss(owner, "outcome", reasons.OUTCOME if failed else reasons.NO_FIELD, value=outcome)
        return "failed" if failed and word not in FAILURES else word


# -- times and citations -----------------------------------------------------------------------------------------------


class Time(Codec[Any]):
    """The time of a part or a response: a date as text, or seconds since 1970."""

    classes = (str, int, float)
    identity = False

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        if value.__class__ is not str or context.native:
            return value
        date = date_of(value)
        if date is None:
            context.report_loss(owner, "created", reasons.NO_FIELD)
        return date


class Citations(Codec[list[Citation]]):
    """The citations of a text. A citation of several sources is one citation for each source, with the same span."""

    classes = (list,)
    identity = False

    def __init__(self, sources: Union) -> None:
        self._sources = sources

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value) and all(map(_is_citation, value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Citation]:
        return [citation for item in value for citation in self._of_item(item, context)]

    def _of_item(self, item: dict[str, Any], context: DecodeContext) -> Iterator[Citation]:
        other_fields = {name: inner for name, inner in item.items() if name != "sources"}
        for index, source in enumerate(item["sources"]):
            wire = source if len(item["sources"]) > 1 else _only_source(item, source, context)
            citation = self._sources.decode(wire, context)
            if citation.__class__ is Citation:
                if wire is not source:
                    context.trace(self._sources, [citation], wire, None, spread=False)
                anchored = msgspec.structs.replace(citation, span=_span_of(item.get("anchor")))
                yield context.replaced(
                    citation, SAME.on(anchored, API, True) if index else ANCHOR.on(anchored, API, other_fields)
                )

    def count(self, wire: Any) -> int:
        return sum(len(item["sources"]) for item in wire)

    def places(self, value: list[Citation], wire: Any, path: str) -> Iterable[Place]:
        places = [
            (f"{path}[{at}].sources[{index}]", source)
            for at, item in enumerate(wire)
            for index, source in enumerate(item["sources"])
        ]
        return [
            (citation, where, source, self._sources) for citation, (where, source) in zip(value, places, strict=False)
        ]

    def encode(self, value: list[Citation], context: EncodeContext, owner: Any) -> Any:
        items: list[dict[str, Any]] = []
        converter = SpanConverter(owner.text)
        for citation in value:
            source = self._sources.encode_one(citation, context)
            if source is None:
                continue
            if items and SAME.of(citation, API):
                items[-1]["sources"].append(source)
            else:
                items.append({"sources": [source], **self._anchor(citation, converter, context)})
        return items or None

    def _anchor(self, citation: Citation, converter: SpanConverter, context: EncodeContext) -> dict[str, Any]:
        read = ANCHOR.of(citation, API)
        if read is not None and _span_of(read.get("anchor")) == citation.span:
            return read
        other_fields = {name: inner for name, inner in (read or {}).items() if name != "anchor"}
        if citation.span is None:
            return other_fields
        span = converter.convert(citation.span, "codepoint")
        start, end = span.start or 0, span.end or 0
        if not 0 <= start < end:
            # Pydantic AI refuses the whole conversation because of such an anchor.
            context.report_loss(citation, "span", reasons.NO_FIELD)
            return other_fields
        if span != citation.span:
            context.report_loss(citation, "span", reasons.CITATION_UNITS)
        return {**other_fields, "anchor": {"start": start, "end": end, "kind": "content"}}

    def describe(self) -> str:
        return f"list of citations with {self._sources.name}"


def _only_source(item: dict[str, Any], source: dict[str, Any], context: DecodeContext) -> dict[str, Any]:
    """Return a copy of the only source of a citation, which has the path of the whole citation."""
    copy = dict(source)
    for key in source:
        context.copied(copy, item, (key, (source, key)))
    return copy


def _is_citation(item: Any) -> bool:
    sources = item.get("sources") if item.__class__ is dict else None
    if sources.__class__ is not list or not sources:
        return False
    return all(map(_is_source, sources))


def _is_source(source: Any) -> bool:
    """Return whether a row decodes a source. A web source without a link is a fault, but not if the link is null."""
    return source.__class__ is dict and source.get("kind") in ("web", "document") and source.get("url", "") is not None


def _span_of(anchor: Any) -> Span | None:
    if (
        anchor.__class__ is not dict
        or anchor.get("start").__class__ is not int
        or anchor.get("end").__class__ is not int
    ):
        return None
    return Span(start=anchor["start"], end=anchor["end"])
