"""Codecs of values: opaque state of the model's provider, citations, cache points, formats of media, outcomes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from contentmodel.authoring import (
    Blocks,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    Opaque,
    Place,
    Words,
    reasons,
)
from contentmodel.content.base import Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation, Span
from contentmodel.content.media_types import media_type_of_link, usual_media_type
from contentmodel.content.text import SpanConverter
from contentmodel.literals import ProtectedKind

API = "inspect-eval-log"

# -- opaque state ------------------------------------------------------------------------------------------------------

_ISSUERS = {
    "anthropic": re.compile(r"claude|^anthropic/"),
    "openai": re.compile(r"gpt|(^|/)o\d|codex|^openai/"),
    "google": re.compile(r"gemini|^google/|^vertex/"),
    "xai": re.compile(r"grok|^xai/"),
}
OF_OPENROUTER = "reasoning-details://"
"""The prefix of a signature that is OpenRouter's `reasoning_details` as JSON."""


def issuer_of(model: str | None) -> str:
    """Return the provider of a model; the empty string if the name of the model does not show it.

    Messages do not name the provider that issued their opaque state: it is the model's provider.
    """
    name = (model or "").lower()
    return next((issuer for issuer, pattern in _ISSUERS.items() if pattern.search(name)), "")


def model_for(issuer: str, model: str) -> str:
    """Return the name of a model from which `issuer_of` finds the provider."""
    return model if not issuer or issuer_of(model) == issuer else f"{issuer}/{model}"


def kind_of_state(issuer: str, *, has_summary: bool) -> ProtectedKind:
    """Return the kind of the opaque state of redacted reasoning. Anthropic's redacted blocks have no summary."""
    if issuer in ("openai", "xai"):
        return "encrypted"
    return "redacted" if issuer == "anthropic" and not has_summary else "signature"


def is_of_openrouter(fields: Mapping[str, Any]) -> bool:
    """Return whether the opaque state in the fields of reasoning has OpenRouter's form."""
    signature = fields.get("signature")
    return signature.__class__ is str and signature.startswith(OF_OPENROUTER)


class ProviderState(Codec[Protected]):
    """Opaque state of the model's provider: redacted reasoning, or the signature of visible reasoning."""

    classes = (str,)
    identity = False

    def __init__(self, *, redacted: bool) -> None:
        super().__init__()
        self._redacted = redacted

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value != ""

    def decode(self, value: str, context: DecodeContext, container: dict[str, Any], key: str) -> Protected:
        issuer = context.origin.issuer or API
        issuer = "openrouter" if is_of_openrouter(container) else issuer
        has_summary = container.get("summary").__class__ is str
        kind = kind_of_state(issuer, has_summary=has_summary) if self._redacted else "signature"
        return Protected(issuer=issuer, kind=kind, data=value)

    def encode(self, value: Protected, context: EncodeContext, owner: Any) -> str:
        return value.data

    def describe(self) -> str:
        return "opaque"


OPENAI_STATE = Opaque("openai", "encrypted", mandatory=True)
"""Encrypted content of OpenAI. The rows with this field are only for objects that have such content."""


def fill_summary(value: Any, wire: dict[str, Any]) -> None:
    """Write the summary of signed reasoning without one. Without it, it would be decoded as a redacted block."""
    if value.protected is not None and value.protected.kind == "signature":
        wire.setdefault("summary", "")


# -- texts -------------------------------------------------------------------------------------------------------------


class Breakpoint(Codec[CachePoint]):
    """The flag of a text at which the cached prompt ends."""

    classes = (bool,)
    identity = False
    is_rare = True

    def holds(self, value: object) -> bool:
        return value is True

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> CachePoint:
        return CachePoint()

    def places(self, value: CachePoint, wire: Any, path: str) -> Iterable[Place]:
        return [(value, path, wire, None)]

    def encode(self, value: CachePoint, context: EncodeContext, owner: object) -> bool:
        if value.ttl is not None:
            context.report_loss(value, "ttl", reasons.CACHE_LIFETIME)
        context.leave_residue(value)
        return True


class CitedText(Codec[tuple[Span | None, str | None]]):
    """The cited text, or the start and the end of the citation in the text that has the citation."""

    classes = (str, list)
    identity = False

    def holds(self, value: object) -> bool:
        return value.__class__ is str or _is_range(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> tuple[Span | None, str | None]:
        return (None, value) if value.__class__ is str else (Span(start=value[0], end=value[1]), None)

    def encode(self, value: tuple[Span | None, str | None], context: EncodeContext, owner: Any) -> Any:
        span, text = value
        if text is None:
            return None if span is None else [span.start or 0, (span.start or 0) if span.end is None else span.end]
        if span is not None:
            context.report_loss(owner, "span", reasons.NO_FIELD)
        return text

    def describe(self) -> str:
        return "str or list[int]"


def _is_range(value: Any) -> bool:
    return value.__class__ is list and len(value) == 2 and all(item.__class__ is int for item in value)


class Range(Codec[Span]):
    """The cited part of a document. Pages count from 0 here, and from 1 in a Citation."""

    classes = (dict,)
    identity = False
    _UNITS = ("block", "page", "char")
    _KEYS = frozenset({"type", "start_index", "end_index"})

    def holds(self, value: Any) -> bool:
        if value.__class__ is not dict or value.keys() != self._KEYS or value["type"] not in self._UNITS:
            return False
        return _is_range([value["start_index"], value["end_index"]])

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Span:
        first = _first_of(value["type"])
        return Span(start=value["start_index"] + first, end=value["end_index"] + first, unit=value["type"])

    def encode(self, value: Span, context: EncodeContext, owner: Any) -> Any:
        if value.unit not in self._UNITS:
            context.report_loss(owner, "location", reasons.UNSUPPORTED_VALUE, value=value.unit)
            return None
        first = _first_of(value.unit)
        start = first if value.start is None else value.start
        end = start if value.end is None else value.end
        return {"type": value.unit, "start_index": start - first, "end_index": end - first}


def _first_of(unit: str) -> int:
    return 1 if unit == "page" else 0


def with_usual_pages(citation: Any) -> Any:
    """Return a citation whose pages count from 1, as other APIs have them."""
    pages = citation.get("range") if citation.__class__ is dict else None
    if pages.__class__ is not dict or pages.get("type") != "page" or not Range().holds(pages):
        return citation
    counted = {name: index + 1 for name, index in pages.items() if name != "type"}
    return {**citation, "range": {**pages, **counted}}


class Citations(Blocks[Any]):
    """The citations of a text. Their offsets are in code points."""

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        converter = SpanConverter(owner.text)
        return super().encode([_in_codepoints(item, converter, context) for item in value], context, owner)


def _in_codepoints(citation: Any, converter: SpanConverter, context: EncodeContext) -> Any:
    if citation.__class__ is not Citation or citation.span is None or citation.span.unit == "codepoint":
        return citation
    span = converter.convert(citation.span, "codepoint")
    if (span.start, span.end) != (citation.span.start, citation.span.end):
        context.report_loss(citation, "span", reasons.CITATION_UNITS)
    return context.replace(citation, span=span)


# -- media -------------------------------------------------------------------------------------------------------------

FORMATS = {
    "audio": {"wav": "audio/wav", "mp3": "audio/mpeg"},
    "video": {"mp4": "video/mp4", "mpeg": "video/mpeg", "mov": "video/quicktime"},
}
"""The media type of each format of audio and video."""


def format_of(kind: str) -> Filled:
    """Return the field of the format of audio or video: by the media type, or by the ending of the link."""
    of_type = {media_type: name for name, media_type in FORMATS[kind].items()}
    usual = of_type[usual_media_type(kind) or ""]

    def fill(value: Any, wire: dict[str, Any]) -> None:
        mime_type = value.media_type or media_type_of_link(getattr(value, "uri", "")) or ""
        wire.setdefault("format", of_type.get(mime_type, usual))

    return Filled({}, fill)


# -- results -----------------------------------------------------------------------------------------------------------

OUTCOMES = {"timeout": "timed_out", "approval": "denied", "cancelled": "interrupted"}
"""The outcome of a call, by the type of its error. Types that mean only a failure are not listed."""


def _report_outcome(value: str, context: EncodeContext, owner: Any) -> None:
    reason = reasons.USUAL_OUTCOME if value == "failed" else reasons.OUTCOME
    context.report_loss(owner, "outcome", reason, value=value)


OUTCOME = Words(OUTCOMES, _report_outcome)
"""The type of an error that shows the outcome of the call."""
