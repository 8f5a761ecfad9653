"""Standard blocks that LangChain makes of OpenAI's items: an item may become several blocks.

The translator is in langchain-core (messages/block_translators/openai.py), and its inverse in langchain-openai
(chat_models/_compat.py), seen 2026-11-27.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from contentmodel.authoring import object_of, objects_of, text_of
from contentmodel_adapters.frameworks.langchain.blocks import parsed

Block = dict[str, Any]
INDEX = "index"
"""The field by which LangChain joined the blocks of a stream."""
OF_OPENAI = ("reasoning", "server_tool_call", "server_tool_result", "image")
"""The types of the blocks."""
_OF_EACH = ("type", "id")
"""The fields of a reasoning item that each of its blocks has."""


class _Tool(NamedTuple):
    """The item of a tool: its type, and the fields with the arguments and the result.

    `args`: the arguments are the field itself or, if it is a list or a text, in an object under the name of the field.
    `beside`: the other fields are beside those of the call, not among its extras.
    """

    item: str
    args: str
    output: str
    beside: bool = False


_TOOLS = {
    "web_search": _Tool("web_search_call", "action", "sources", beside=True),
    "file_search": _Tool("file_search_call", "queries", "results", beside=True),
    "code_interpreter": _Tool("code_interpreter_call", "code", "outputs"),
    "remote_mcp": _Tool("mcp_call", "arguments", "output"),
    "mcp_list_tools": _Tool("mcp_list_tools", "", "tools"),
}
_NAMES = {tool.item: name for name, tool in _TOOLS.items()}
_STATUSES = {"success": "completed", "error": "failed"}
_OF_STATUS = {own: status for status, own in _STATUSES.items()}
_MCP = ("remote_mcp", "mcp_list_tools")
"""The tools whose failure is the field `error`."""
_IMAGE = "image_generation_call"


def _without(wire: Block, *keys: str) -> Block:
    return {key: value for key, value in wire.items() if key not in keys}


def items_of(blocks: list[Block]) -> list[tuple[Block | None, int]]:
    """Return the items of which LangChain makes exactly these blocks, each with the number of its blocks.

    A block that is of no item is alone, with None in place of the item.
    """
    items: list[tuple[Block | None, int]] = []
    at = 0
    while at < len(blocks):
        run = [_without(block, INDEX) for block in blocks[at : at + _number_of(blocks, at)]]
        item = _item_of(run)
        is_exact = item is not None and standard_blocks(item) == run
        items += [(item, len(run))] if is_exact else [(None, 1)] * len(run)
        at += len(run)
    return items


def _number_of(blocks: list[Block], at: int) -> int:
    """Return the number of the blocks from `at` that can be of one item."""
    first = blocks[at]
    if first["type"] == "reasoning":
        end = at
        while end < len(blocks) and blocks[end]["type"] == "reasoning" and blocks[end].get("id") == first.get("id"):
            end += 1
        return end - at
    after = blocks[at + 1] if at + 1 < len(blocks) else {}
    is_pair = first["type"] == "server_tool_call" and after.get("type") == "server_tool_result"
    return 2 if is_pair and "id" in first and after.get("tool_call_id") == first["id"] else 1


def _item_of(blocks: list[Block]) -> Block | None:
    """Return the item of blocks; None if they are of no item of OpenAI."""
    kind = blocks[0]["type"]
    if kind == "reasoning":
        return _reasoning_item(blocks)
    if kind == "image":
        return _image_item(blocks[0])
    name = blocks[0].get("name")
    return _tool_item(*blocks) if len(blocks) == 2 and name.__class__ is str and name in _TOOLS else None


def standard_blocks(item: Block) -> list[Block]:
    """Return the standard blocks of an item; the item itself if it has none."""
    kind = item.get("type")
    if kind == "reasoning":
        return _reasoning_blocks(item)
    if kind == _IMAGE:
        return [_image_block(item)]
    return _tool_blocks(item, _NAMES[kind]) if kind in _NAMES else [item]


def copies_of(item: Block, blocks: list[Block]) -> list[tuple[Block, list[tuple[str, Any]]]]:
    """Return the part of an item that each block has, with the origins of its fields in the block."""
    if item["type"] == "reasoning":
        return [
            (
                {**block, **object_of(block, "extras"), "type": "summary_text", "text": block.get("reasoning")},
                [("text", "reasoning"), *((key, f"extras.{key}") for key in object_of(block, "extras"))],
            )
            for block in blocks
        ]
    first = blocks[0]
    moves: list[tuple[str, Any]] = [(key, f"extras.{key}") for key in object_of(first, "extras") if key in item]
    if item["type"] == _IMAGE:
        return [(item, [*moves, ("result", "base64")])]
    result, tool = blocks[1], _TOOLS[first["name"]]
    moves += [("name", "extras.tool_name"), ("status", (result, "status"))]
    moves.append((tool.args, "args" if tool.args in ("action", "arguments") else f"args.{tool.args}"))
    output = "output.sources" if tool.output == "sources" else "output"
    sources = object_of(item, "action").get("sources")
    of_result = dict(item) if sources is None else {**item, "sources": sources}
    return [(item, moves), (of_result, [(tool.output, output), ("error", "extras.error"), ("status", "status")])]


# -- reasoning and images ----------------------------------------------------------------------------------------------


def _reasoning_item(blocks: list[Block]) -> Block | None:
    """Return the item of reasoning blocks with the same id; None if they are no parts of an item of OpenAI."""
    first = blocks[0]
    if "id" not in first and "encrypted_content" not in first:
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


def _image_item(block: Block) -> Block | None:
    extras = object_of(block, "extras")
    if "id" not in block or "status" not in extras or "base64" not in block:
        return None
    return {"type": _IMAGE, "id": block["id"], "result": block["base64"], **extras}


def _image_block(item: Block) -> Block:
    block = {"type": "image", "base64": item.get("result"), "id": item.get("id")}
    if item.get("output_format"):
        block["mime_type"] = f"image/{item['output_format']}"
    return {**block, "extras": _without(item, "type", "result", "id")}


# -- calls and results -------------------------------------------------------------------------------------------------


def _tool_item(call: Block, result: Block) -> Block | None:
    """Return the item of a call and its result; None if the output of a server is no text, as in other APIs."""
    name = call["name"]
    tool = _TOOLS[name]
    if name == "remote_mcp" and not isinstance(result.get("output"), str | None):
        return None
    extras, of_result = object_of(call, "extras"), object_of(result, "extras")
    item = {"type": tool.item, "id": call["id"], **_without(call, "type", "id", "name", "args", "extras")}
    item |= {"name" if key == "tool_name" else key: value for key, value in extras.items()}
    args = object_of(call, "args")
    if name == "remote_mcp" and "args" in call:
        item["arguments"] = json.dumps(args, ensure_ascii=False, separators=(",", ":"))
    elif name == "web_search":
        item["action"] = {**args, **object_of(result, "output")}
    else:
        item |= args
    if "output" in result and name != "web_search":
        item[tool.output] = result["output"]
    status = result.get("status")
    told = {"status": _STATUSES.get(status, status)} if name not in _MCP and status.__class__ is str else {}
    return {**item, **told, **of_result}


def _tool_blocks(item: Block, name: str) -> list[Block]:
    """Return the call and the result of an item."""
    tool = _TOOLS[name]
    taken = ("type", "id", tool.args, tool.output, "error" if name in _MCP else "status")
    others = {"tool_name" if key == "name" else key: value for key, value in item.items() if key not in taken}
    call: Block = {"type": "server_tool_call", "name": name, "id": item.get("id")}
    arguments = parsed(text_of(item, "arguments")) if name == "remote_mcp" else _args(item, tool)
    if arguments is None:
        others["arguments"] = item.get("arguments")
    else:
        call["args"] = arguments
    if others:
        call |= others if tool.beside else {"extras": others}
    return [call, _result_block(item, name)]


def _args(item: Block, tool: _Tool) -> Block:
    if tool.args == "action":
        return _without(object_of(item, "action"), "sources")
    return {tool.args: item[tool.args]} if tool.args in item else {}


def _result_block(item: Block, name: str) -> Block:
    result: Block = {"type": "server_tool_result", "tool_call_id": item.get("id")}
    sources = object_of(item, "action").get("sources")
    output = {"sources": sources} if name == "web_search" and sources else item.get(_TOOLS[name].output)
    if output or (name == "code_interpreter" and "outputs" in item):
        result["output"] = output
    if name in _MCP:
        error = item.get("error")
        return {**result, **({"extras": {"error": error}} if error else {}), "status": "error" if error else "success"}
    status = item.get("status")
    if status in _OF_STATUS:
        return {**result, "status": _OF_STATUS[status]}
    return {**result, "extras": {"status": status}} if status else result
