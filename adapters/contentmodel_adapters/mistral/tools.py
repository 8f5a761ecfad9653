"""Tools, the choice of tools, and the format of the answer."""

from __future__ import annotations

from contentmodel import HostedTool
from contentmodel.authoring import Implied, Rest, ToolOrMode, chat, row
from contentmodel_adapters.mistral.blocks import TABLE

HOSTED = {"image_generation": "image_generation", "document_library": "file_search", "connector": "connector"}
"""The kinds of the tools that Mistral runs."""
TOOLS = chat.function_tools(
    TABLE,
    others=[
        chat.free_text_function(),
        *(row(tag, HostedTool, {}, Implied({"kind": kind}), Rest("settings")) for tag, kind in HOSTED.items()),
    ],
    default="function",
    find=chat.row_of_function,
)
FORMATS = chat.response_formats(TABLE, "response format", chat.named_schema_row())
CHOICE = ToolOrMode("function.name", {"type": "function"}, {"auto": "auto", "none": "none", "required": "any"})
TABLE.known_values("tool_choice", "auto", "none", "any", "required", "function")
