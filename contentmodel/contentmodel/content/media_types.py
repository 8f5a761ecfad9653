"""Media types: their kinds of media and their file extensions.

This table is the same on every machine. The table of `mimetypes` depends on files of the operating system.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import get_args

from contentmodel.literals import MediaKind

MEDIA_TYPES = {
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "html": "text/html",
    "htm": "text/html",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "rtf": "application/rtf",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "heic": "image/heic",
    "heif": "image/heif",
    "svg": "image/svg+xml",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "opus": "audio/opus",
    "m4a": "audio/mp4",
    "mp4": "video/mp4",
    "mpeg": "video/mpeg",
    "mov": "video/quicktime",
    "webm": "video/webm",
    "avi": "video/x-msvideo",
}
"""The media type of each file extension. The first extension of a type is its usual one."""

_ENDINGS = {media_type: ending for ending, media_type in reversed(MEDIA_TYPES.items())}
_USUAL = {
    "image": "image/jpeg",
    "audio": "audio/mpeg",
    "video": "video/mp4",
    "document": "application/pdf",
}
_KINDS: dict[str, MediaKind] = {kind: kind for kind in get_args(MediaKind)}


def essence_of(media_type: str | None) -> str:
    """Return `media_type` in lower case and without parameters; "" for None."""
    return (media_type or "").partition(";")[0].strip().lower()


_FORM = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+ *(?:;[^\0-\x1f\x7f]*)?", re.ASCII)


def is_media_type(text: str | None) -> bool:
    """Return whether a text has the form type/subtype, with or without parameters (RFC 6838, section 4.2)."""
    return text is not None and _FORM.fullmatch(text) is not None


def kind_of_media(media_type: str | None) -> MediaKind | None:
    """Return "image", "audio", "video", or "document" for any other type; None without a media type."""
    essence = essence_of(media_type)
    return _KINDS.get(essence.partition("/")[0], "document") if essence else None


def media_type_of_name(name: str) -> str | None:
    """Return the media type of the extension of a file name; None if it is not in the table."""
    _, dot, ending = name.rpartition(".")
    return MEDIA_TYPES.get(ending.lower()) if dot else None


def media_type_of_link(uri: str) -> str | None:
    """Return the media type of the file extension of a link's path; None if it is not in the table."""
    place = uri.partition("?")[0].partition("#")[0].partition("://")[2]
    return media_type_of_name(place.rpartition("/")[2]) if "/" in place else None


def usual_media_type(kind: str | None) -> str | None:
    """Return the most common media type of a kind ("image/jpeg" for "image"); None if the kind is unknown."""
    return _USUAL.get(kind or "")


_BEGINNINGS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "JVBERi": "application/pdf",
    "SUQz": "audio/mpeg",
    "T2dnUw": "audio/ogg",
    "ZkxhQ": "audio/flac",
}
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


def media_type_of_data(data: str) -> str | None:
    """Detect the media type of standard base64 data from its first bytes. Return None if they are not recognised."""
    for beginning, media_type in _BEGINNINGS.items():
        if data.startswith(beginning):
            return media_type
    if data.startswith("UklGR"):
        return _RIFF.get(b64decode(data[:16])[8:12])
    return None


def ending_of(media_type: str | None) -> str:
    """Return the usual file extension of a media type, with its dot; "" if the type is unknown."""
    ending = _ENDINGS.get(essence_of(media_type))
    return f".{ending}" if ending else ""


OTHER_NAMES = {
    "audio/mpeg": ("mp3",),
    "audio/mp3": ("mp3", "audio/mpeg"),
    "audio/wav": ("wav",),
    **{f"image/{name}": (name,) for name in ("png", "jpeg", "webp", "gif")},
    "mp3": ("audio/mpeg",),
    "wav": ("audio/wav",),
    "flac": ("audio/flac",),
    "opus": ("audio/opus",),
    "aac": ("audio/aac",),
}
"""Other names of media types: the APIs of OpenAI have short format names."""
