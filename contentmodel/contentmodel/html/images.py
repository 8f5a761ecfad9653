"""Validate images and links: only known image formats and plain web URLs are allowed on a page."""

from __future__ import annotations

import base64
import re
from urllib.parse import urlsplit

from contentmodel.content.media import DataContent
from contentmodel.display import count_of
from contentmodel.html.nodes import HOSTILE

_MAGIC: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
    ("image/avif", re.compile(rb"....ftypavi[fs]", re.DOTALL)),
    ("image/bmp", re.compile(rb"BM.{12}\x28\0\0\0", re.DOTALL)),
)
"""The first bytes of each image type. SVG is excluded because it may contain scripts."""


def image_source(content: DataContent) -> str | None:
    """Return a data URI if the content is declared as an image and its bytes are of a known image type; else None."""
    if content.text is not None or not content.is_media_type("image/*"):
        return None
    try:
        data = content.to_bytes()
    except ValueError:
        return None
    # Use the type of the bytes, not the declared one, because browsers detect the type from the bytes.
    media_type = next((kind for kind, magic in _MAGIC if magic.match(data)), None)
    return media_type and f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def link_to(uri: str | None) -> str:
    """Return the URI if it is a safe http or https URL, else ""."""
    if not uri or HOSTILE.search(uri) or re.search(r'[\s"\'<>\\^`{|}]', uri):
        return ""
    try:
        parts = urlsplit(uri)
        # User info before the host can imitate another host.
        is_link = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return ""
    return uri if is_link else ""


def size_of(content: DataContent) -> str:
    """Return the size of the content as readable text."""
    if content.text is not None:
        return count_of(len(content.text), "character")
    count = len(content.data.rstrip("=")) * 3 // 4
    if count < 10_000:
        return count_of(count, "byte")
    return f"{count / 1000:,.0f} kB" if count < 10**7 else f"{count // 10**6:,} MB"
