"""Bytes, links and files. Bytes are kept as the received base64 text and decoded on demand."""

from __future__ import annotations

import base64
from os import PathLike
from typing import Any

from contentmodel.content.base import AIContent
from contentmodel.content.media_types import essence_of, kind_of_media, media_type_of_link, media_type_of_name
from contentmodel.literals import Detail, MediaKind, Open

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")


def standard_base64(text: str) -> str | None:
    """Convert base64 text to the standard alphabet with padding. Return None if it is not base64.

    Accept both alphabets, padded or not, with or without white space. The encoded bytes stay the same.
    """
    try:
        data = text.encode("ascii")
    except UnicodeEncodeError:
        return None
    digits = data.rstrip(b"=")
    if not digits.translate(None, _ALPHABET) and len(data) % 4 == 0 and len(data) - len(digits) <= 2:
        return text
    data = b"".join(data.split())
    digits = data.rstrip(b"=").translate(_TO_STANDARD)
    if digits.translate(None, _ALPHABET) or len(digits) % 4 == 1 or len(data) - len(digits) > 2:
        return None
    return (digits + b"=" * (-len(digits) % 4)).decode("ascii")


def media_type_matches(media_type: str | None, pattern: str) -> bool:
    """Return whether `media_type` matches `pattern` ("image/png", "image/*"). Ignore case and parameters."""
    essence, wanted = essence_of(media_type), pattern.lower()
    if wanted.endswith("/*"):
        return essence.startswith(wanted[:-1])
    return bool(essence) and essence == wanted


class MediaContent(AIContent, frozen=True, kw_only=True):
    """The base class of data, links and files, with an optional IANA media type and name."""

    media_type: str | None = None
    """The IANA media type."""
    name: str | None = None
    """The name of the file."""
    detail: Open[Detail | None] = None
    """The resolution at which the model reads it: `auto`, `low`, `high`, or another value."""

    def is_media_type(self, pattern: str) -> bool:
        """Return whether the media type matches `pattern` ("image/png", "image/*"). Ignore case and parameters."""
        return media_type_matches(self.media_type, pattern)

    @property
    def media_kind(self) -> Open[MediaKind | None]:
        """The kind of media, derived from the media type or the file extension of the name; else None."""
        return kind_of_media(self.media_type or media_type_of_name(self.name or ""))


class DataContent(MediaContent, frozen=True, kw_only=True):
    """Inline bytes.

    Contents are compared by their text: if the same bytes may be encoded differently, compare `to_bytes()`.
    """

    data: str = ""
    """Base64 as received: standard or URL-safe, padded or not. It is never re-encoded."""
    text: str | None = None
    """The text of a text document that was sent as text. It replaces `data`."""
    transcript: str | None = None
    """The transcript of audio."""

    def __post_init__(self) -> None:
        data: Any = self.data
        if isinstance(data, bytes | bytearray | memoryview):
            raise TypeError("data of a DataContent is base64 text: use DataContent.from_bytes for bytes")

    def to_bytes(self) -> bytes:
        """Return the bytes. Raise ValueError if `data` is not base64."""
        if self.text is not None:
            return self.text.encode("utf-8", "surrogatepass")
        return base64.b64decode(self._standard())

    def _standard(self) -> str:
        if self.text is not None:
            return base64.b64encode(self.to_bytes()).decode("ascii")
        standard = standard_base64(self.data)
        if standard is None:
            raise ValueError(f"data of this content is not base64: {self.data[:40]!r}")
        return standard

    @property
    def data_uri(self) -> str:
        """The content as a data URI (`data:image/png;base64,...`). Raise ValueError if `data` is not base64."""
        default = "application/octet-stream" if self.text is None else "text/plain"
        return f"data:{self.media_type or default};base64,{self._standard()}"

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str, *, name: str | None = None) -> DataContent:
        """Return a content with `data` as standard padded base64."""
        return cls(data=base64.b64encode(data).decode("ascii"), media_type=media_type, name=name)

    @classmethod
    def from_path(cls, path: str | PathLike[str], *, media_type: str | None = None) -> DataContent:
        """Read a file and return it as a content with the name of the file.

        If `media_type` is not given, derive it from the file extension ("application/octet-stream" if the extension is
        unknown). Raise OSError if the file cannot be read.
        """
        import mimetypes
        from pathlib import Path

        file = Path(path)
        type_of_file = media_type or media_type_of_name(file.name) or mimetypes.guess_type(file.name)[0]
        return cls.from_bytes(file.read_bytes(), type_of_file or "application/octet-stream", name=file.name)

    @classmethod
    def from_data_uri(cls, uri: str, *, name: str | None = None) -> DataContent:
        """Parse a `data:` URI with base64 or percent-encoded data.

        Raise TypeError if `uri` is not a str, and ValueError if it is not a data URI.
        """
        from urllib.parse import unquote, unquote_to_bytes

        if not isinstance(uri, str):
            raise TypeError(f"expected a data URI, got {type(uri).__name__}")
        scheme, _, after_scheme = uri.partition(":")
        head, comma, body = after_scheme.partition(",")
        if scheme.lower() != "data" or not comma:
            raise ValueError(f"expected a data URI, got {uri[:40]!r}")
        is_base64 = head.lower().endswith(";base64")
        media_type = (head[: -len(";base64")] if is_base64 else head) or "text/plain"
        if is_base64:
            return cls(data=unquote(body), media_type=media_type, name=name)
        return cls.from_bytes(unquote_to_bytes(body), media_type, name=name)


class UriContent(MediaContent, frozen=True, kw_only=True):
    """A link."""

    uri: str
    """The address."""
    kind: Open[MediaKind | None] = None
    """The kind of media, from the API: `image`, `document`, `audio`, `video`; None for web pages."""
    title: str | None = None
    """The title of the linked page."""
    text: str | None = None
    """An excerpt of the linked page, if the API returned one."""

    @property
    def media_kind(self) -> Open[MediaKind | None]:
        """`kind`, or the kind derived from the media type or the file extension of the link's path; else None."""
        return self.kind or kind_of_media(self.media_type or media_type_of_link(self.uri))


class HostedFileContent(MediaContent, frozen=True, kw_only=True):
    """A file stored by the provider."""

    file_id: str
    """The provider's id of the file. It is only valid for that provider."""
    kind: Open[MediaKind | None] = None
    """The kind of media, from the API: `image`, `document`, `audio`, `video`."""
    title: str | None = None
    """The title of the file."""
    text: str | None = None
    """An excerpt of the file, if the API returned one."""

    @property
    def media_kind(self) -> Open[MediaKind | None]:
        """`kind`, or the kind derived from the media type or the file extension of the name; else None."""
        return self.kind or super().media_kind


class HostedVectorStoreContent(AIContent, frozen=True, kw_only=True):
    """A vector store kept by the provider."""

    vector_store_id: str
    """The provider's id of the store."""
