"""Standard blocks that LangChain makes of OpenAI's items: an item may become several blocks.

The translator is in langchain-core (messages/block_translators/openai.py), and its inverse in langchain-openai
(chat_models/_compat.py), seen 2026-11-27.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from contentmodel.authoring import object_of, objects_of, text_of

_OF_EACH = ("type", "id")
"""The fields of an item that each of its blocks has."""
INDEX = "index"
"""The field by which LangChain joined the blocks of a stream."""
OF_OPENAI = ("reasoning",)
"""The types of the blocks."""
Block = dict[str, Any]


def _without(wire: Block, *keys: str) -> Block:
    return {key: value for key, value in wire.items() if key not in keys}


def items_of(blocks: list[Block]) -> list[tuple[Block | None, int]]:
    """Return the items of which LangChain makes exactly these blocks, each with the number of its blocks.

    A block that is of no item is alone, with None in place of the item.
    """
    items: list[tuple[Block | None, int]] = []
    for _, group in groupby(blocks, key=lambda block: (block.get("type") == "reasoning", block.get("id"))):
        run = [_without(block, INDEX) for block in group]
        item = _reasoning_item(run)
        is_exact = item is not None and standard_blocks(item) == run
        items += [(item, len(run))] if is_exact else [(None, 1)] * len(run)
    return items


def standard_blocks(item: Block) -> list[Block]:
    """Return the standard blocks of an item; the item itself if it has none."""
    return _reasoning_blocks(item) if item.get("type") == "reasoning" else [item]


def _reasoning_item(blocks: list[Block]) -> Block | None:
    """Return the item of reasoning blocks with the same id; None if they are no parts of an item of OpenAI."""
    first = blocks[0]
    if first.get("type") != "reasoning" or not ("id" in first or "encrypted_content" in first):
        return None
    texts = [block["reasoning"] for block in blocks if block.get("reasoning").__class__ is str]
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return {**_without(first, "reasoning", "extras"), **object_of(first, "extras"), "summary": summary}


def _reasoning_blocks(item: Block) -> list[Block]:
    common = {key: item[key] for key in _OF_EACH if key in item}
    others = _without(item, "summary", *_OF_EACH)
    if not item.get("summary"):
        return [{**common, "extras": others} if others else common]
    blocks = [{**common, "reasoning": text_of(part, "text")} for part in objects_of(item, "summary")]
    return [{**blocks[0], **others}, *blocks[1:]] if blocks else [item]
