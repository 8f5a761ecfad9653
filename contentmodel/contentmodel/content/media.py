"""Bytes, links and files. Bytes stay the base64 text that was received until somebody asks for them."""

from __future__ import annotations

import base64
import binascii

from contentmodel.content.base import AIContent


def media_type_matches(media_type: str | None, pattern: str) -> bool:
    """Whether `media_type` is `pattern` ("image/png", "image/*"): case and parameters do not count."""
    if media_type is None:
        return False
    essence = media_type.partition(";")[0].strip().lower()
    wanted = pattern.lower()
    if wanted.endswith("/*"):
        return essence.startswith(wanted[:-1])
    return essence == wanted


class MediaContent(AIContent, frozen=True, kw_only=True):
    """What data, links and files have in common: an IANA media type and a name, where they are known."""

    media_type: str | None = None
    name: str | None = None

    def is_media_type(self, pattern: str) -> bool:
        """Whether the media type is `pattern` ("image/png", "image/*"), case-insensitively."""
        return media_type_matches(self.media_type, pattern)


class DataContent(MediaContent, frozen=True, kw_only=True):
    """Inline bytes. `data` is base64 as received (standard or url-safe, padded or not) and is never re-encoded.

    `text` in place of `data` holds a text document that was sent as text. `transcript` is what is said in audio.
    """

    data: str = ""
    text: str | None = None
    transcript: str | None = None

    def to_bytes(self) -> bytes:
        """The bytes, decoded now. ValueError where `data` is not base64."""
        if self.text is not None:
            return self.text.encode("utf-8", "surrogatepass")
        plain = self.data.replace("-", "+").replace("_", "/")
        try:
            return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        except binascii.Error as error:
            raise ValueError(f"data of this content is not base64: {error}") from None

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str, *, name: str | None = None) -> DataContent:
        """Standard padded base64 of `data`."""
        return cls(data=base64.b64encode(data).decode("ascii"), media_type=media_type, name=name)


class UriContent(MediaContent, frozen=True, kw_only=True):
    """A link. `title` is the linked page's, `text` an excerpt of it where the API gave one."""

    uri: str
    title: str | None = None
    text: str | None = None


class HostedFileContent(MediaContent, frozen=True, kw_only=True):
    """A file that the provider keeps. `file_id` means something to its provider alone."""

    file_id: str
    title: str | None = None
    text: str | None = None


class HostedVectorStoreContent(AIContent, frozen=True, kw_only=True):
    """A vector store that the provider keeps."""

    vector_store_id: str
