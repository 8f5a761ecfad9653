"""The rows of MCP's content blocks. Some formats have these blocks in the outputs of tools.

Source: mcp_types/_types.py of mcp-types 2.3.0 (seen 2026-11-23). `contentmodel.tools.mcp` converts the results
of tools without these rows: it handles objects of the package `mcp`, with their classes, names and error flags.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import Filled, Required, Row, Spec, row
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.text import TextContent


def rows(filled: Mapping[str, Any]) -> list[Row]:
    """Return the rows of texts, images, audio and links. `filled` are the fields that images and audio require."""
    media: dict[str, Spec] = {"data": ("data", Required()), "mimeType": "media_type"}
    link = {"uri": "uri", "name": "name", "title": "title", "description": "text", "mimeType": "media_type"}
    return [
        row("text", TextContent, {"text": "text"}),
        row("image", DataContent, media, Filled(filled)),
        row("audio", DataContent, media, Filled(filled)),
        row("resource_link", UriContent, link, Filled({"name": ""})),
    ]
