"""Standard blocks that LangChain makes of Anthropic's: hosted tools, calls that have a caller, and cited texts.

The translator of langchain-core (messages/block_translators/anthropic.py, seen 2026-11-23) renames some fields of a
block, and collects the others in `extras`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import DecodeContext, list_of, object_of, text_of

_CALL = {"name": "name", "input": "args", "id": "id"}
_RESULT = {"tool_use_id": "tool_call_id", "content": "output"}
"""The standard name of each field of a call or a result that is not among the extras, by Anthropic's name."""
_MOVED = {**_CALL, **_RESULT, "is_error": "status", "citations": "annotations"}
_TOOLS = {"code_execution": "code_interpreter"}
"""The standard names of tools that have another name there."""
_OWN_TOOLS = {name: own for own, name in _TOOLS.items()}


def _moved(own: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return fields of Anthropic under their standard names, with the others as extras."""
    extras = {key: value for key, value in own.items() if key not in names}
    made = {names[key]: value for key, value in own.items() if key in names}
    return {**made, "extras": extras} if extras else made


def _moved_back(standard: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of which `_moved` makes an object."""
    made = {own: standard[name] for own, name in names.items() if name in standard}
    return {**made, **object_of(standard, "extras")}


def _without(wire: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in wire.items() if key not in keys}


# -- blocks ------------------------------------------------------------------------------------------------------------


def standard_form(block: dict[str, Any]) -> dict[str, Any]:
    """Return Anthropic's block of a tool, or its cited text, as a standard block."""
    kind, fields = str(block.get("type")), _without(block, "type")
    if kind == "text":
        annotations = {"annotations": [_annotation(one) for one in block["citations"]]} if "citations" in block else {}
        return {**_without(block, "citations"), **annotations}
    if kind == "tool_use":
        return {"type": "tool_call", **_moved(fields, _CALL)}
    if kind == "server_tool_use":
        name = text_of(block, "name")
        return {"type": "server_tool_call", **_moved({**fields, "name": _TOOLS.get(name, name)}, _CALL)}
    if kind == "mcp_tool_use":
        fields = {**fields, "name": "remote_mcp", "tool_name": block.get("name")}
        return {"type": "server_tool_call", **_moved(fields, _CALL)}
    if kind.endswith("_tool_result"):
        output = block.get("content")
        fields = {"block_type": kind, **_without(fields, "is_error", *([] if output else ["content"]))}
        failed = block.get("is_error") or (output.__class__ is dict and block["content"].get("error_code"))
        return {"type": "server_tool_result", "status": "error" if failed else "success", **_moved(fields, _RESULT)}
    return {"type": "non_standard", "value": block}


def own_form(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return Anthropic's block of which LangChain makes exactly this standard block; None if there is none."""
    own = _own_form(block)
    return own if own is not None and standard_form(own) == block else None


def _own_form(block: dict[str, Any]) -> dict[str, Any] | None:
    kind = block["type"]
    if kind == "text":
        annotations = list_of(block, "annotations")
        if "annotations" not in block or not all(one.__class__ is dict for one in annotations):
            return None
        return {**_without(block, "annotations"), "citations": [_citation(one) for one in annotations]}
    if kind == "tool_call" and "caller" in object_of(block, "extras"):
        return {**_moved_back(block, _CALL), "type": "tool_use"}
    if kind == "server_tool_call" and all(name in block for name in _CALL.values()):
        own = _moved_back(block, _CALL)
        if block["name"] == "remote_mcp":
            return {**_without(own, "tool_name"), "type": "mcp_tool_use", "name": own.get("tool_name")}
        return {**own, "type": "server_tool_use", "name": own_tool(block["name"])}
    if kind == "server_tool_result" and "tool_call_id" in block:
        own = {"content": [], **_moved_back(block, _RESULT)}
        failed = {"is_error": block.get("status") == "error"} if own.get("block_type") == "mcp_tool_result" else {}
        return {**_without(own, "block_type"), "type": own.get("block_type"), **failed}
    return None


def own_tool(name: Any) -> Any:
    """Return Anthropic's name of a tool that providers run."""
    return _OWN_TOOLS.get(name, name) if name.__class__ is str else name


def trace_own(own: dict[str, Any], block: dict[str, Any], context: DecodeContext) -> None:
    """Record that Anthropic's form is decoded in place of a standard block."""
    for field, origin in (*_MOVED.items(), *((key, f"extras.{key}") for key in object_of(block, "extras"))):
        context.copied(own, block, (field, origin))
    for citation, annotation in zip(list_of(own, "citations"), list_of(block, "annotations"), strict=False):
        for key in object_of(annotation, "extras"):
            context.copied(citation, annotation, (key, f"extras.{key}"))


# -- citations ---------------------------------------------------------------------------------------------------------

_LOCATED = {
    "start_char_index": "char_location",
    "search_result_index": "search_result_location",
    "start_page_number": "page_location",
    "start_block_index": "content_block_location",
}
"""The types of Anthropic's citations by a field that they have, in the order of preference."""
_OF_DOCUMENTS = {"document_title": "title", "cited_text": "cited_text"}
_CITATIONS: dict[str, Mapping[str, str]] = {
    **dict.fromkeys(_LOCATED.values(), _OF_DOCUMENTS),
    "search_result_location": {"title": "title", "cited_text": "cited_text"},
    "web_search_result_location": {"url": "url", "title": "title", "cited_text": "cited_text"},
}
"""The standard names of the fields of citations, by the type of the citation."""


def _annotation(citation: dict[str, Any]) -> dict[str, Any]:
    """Return Anthropic's citation as a standard annotation."""
    names = _CITATIONS.get(text_of(citation, "type")) if "cited_text" in citation else None
    if names is None:
        return {"type": "non_standard_annotation", "value": citation}
    return {"type": "citation", **_moved(_without(citation, "type"), names)}


def _citation(annotation: dict[str, Any]) -> dict[str, Any]:
    """Return the citation of Anthropic that a standard annotation was made of."""
    if annotation.get("type") == "non_standard_annotation":
        return object_of(annotation, "value")
    located = (kind for field, kind in _LOCATED.items() if field in object_of(annotation, "extras"))
    kind = "web_search_result_location" if "url" in annotation else next(located, "")
    return {**_moved_back(annotation, _CITATIONS.get(kind, {})), "type": kind}
