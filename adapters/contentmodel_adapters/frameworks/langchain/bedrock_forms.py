"""Blocks that langchain-aws makes of Converse's: cited texts, redacted reasoning, and results with JSON.

Their names are in Python's style.
Source: langchain-aws 1.9.1 (chat_models/bedrock_converse.py, `_bedrock_to_lc` and
`_lc_content_to_bedrock`), seen 2026-11-27.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import DecodeContext, camel_name, list_of, object_of, objects_of, snake_name

Block = dict[str, Any]
_REDACTED = "reasoning_content.redacted_content"


def converse_form(block: Block) -> Block | None:
    """Return Converse's block of which langchain-aws makes exactly this block; None if there is none."""
    own = _converse_form(block)
    return own if own is not None and package_form(own) == block else None


def _converse_form(block: Block) -> Block | None:
    reasoning = object_of(block, "reasoning_content")
    if block.get("type") == "reasoning_content" and reasoning.get("redacted_content").__class__ is str:
        return {"reasoningContent": {"redactedContent": reasoning["redacted_content"]}}
    if block.get("type") == "tool_result":
        return _converse_result(block)
    citations = list_of(block, "citations")
    # Anthropic's citations have types.
    is_cited = bool(citations) and all(one.__class__ is dict and "type" not in one for one in citations)
    if block.get("type") != "text" or block.get("text").__class__ is not str or not is_cited:
        return None
    return {"citationsContent": {"content": [{"text": block["text"]}], "citations": _renamed(citations, camel_name)}}


def _converse_result(block: Block) -> Block | None:
    """Return Converse's form of a result that has JSON: Anthropic's results have none."""
    parts = list_of(block, "content")
    if not any(part.__class__ is dict and part.get("type") == "json" for part in parts):
        return None
    content = [{key: part[key] for key in ("text", "json") if key in part} for part in objects_of(block, "content")]
    status = "error" if block.get("is_error") else "success"
    return {"toolResult": {"toolUseId": block.get("tool_use_id"), "status": status, "content": content}}


def package_form(block: Block) -> Block:
    """Return Converse's block as langchain-aws has it."""
    made: Block
    reasoning, cited = object_of(block, "reasoningContent"), object_of(block, "citationsContent")
    if "redactedContent" in reasoning:
        return {"type": "reasoning_content", "reasoning_content": {"redacted_content": reasoning["redactedContent"]}}
    result = object_of(block, "toolResult")
    if result:
        parts = [{"type": "json" if "json" in part else "text", **part} for part in objects_of(result, "content")]
        made = {"type": "tool_result", "tool_use_id": result.get("toolUseId"), "content": parts}
        return {**made, "is_error": result.get("status") == "error"}
    texts = "".join(part.get("text", "") for part in objects_of(cited, "content"))
    made = {"type": "text", "text": block.get("text", texts)}
    return {**made, "citations": _renamed(cited["citations"], snake_name)} if cited.get("citations") else made


def _renamed(value: Any, rename: Any) -> Any:
    if value.__class__ is dict:
        return {rename(key): _renamed(item, rename) for key, item in value.items()}
    return [_renamed(item, rename) for item in value] if value.__class__ is list else value


_MOVED = {
    "reasoningContent.redactedContent": _REDACTED,
    "toolResult.toolUseId": "tool_use_id",
    "toolResult.status": "is_error",
    "toolResult.content": "content",
    "citationsContent.content": "text",
    "citationsContent.citations": "citations",
}
"""The origin in a block of each field of Converse's form."""


def trace_converse(own: Block, block: Block, context: DecodeContext) -> None:
    """Record that Converse's form is decoded in place of a block."""
    for move in _MOVED.items():
        context.copied(own, block, move)
    result, cited = object_of(own, "toolResult"), object_of(own, "citationsContent")
    for copy, original in zip(list_of(result, "content"), list_of(block, "content"), strict=False):
        context.copied(copy, original)
    for copy, original in zip(list_of(cited, "citations"), list_of(block, "citations"), strict=False):
        _trace(copy, original, context)


def _trace(copy: Any, original: Any, context: DecodeContext) -> None:
    if copy.__class__ is list:
        pairs = list(zip(copy, original, strict=True))
    elif copy.__class__ is dict:
        pairs = [(copy[camel_name(key)], item) for key, item in original.items()]
        for key in original:
            context.copied(copy, original, (camel_name(key), key))
    else:
        return
    context.copied(copy, original)
    for one, other in pairs:
        _trace(one, other, context)
