"""Items of the Responses API in messages: as blocks, as standard blocks, and as the content of a result.

LangChain has each part of a message item as a block. It makes standard blocks of other items: an item may become
several. The translator is in langchain-core (messages/block_translators/openai.py), and its inverse in langchain-openai
(chat_models/_compat.py), seen 2026-11-27.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from msgspec.structs import replace

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, list_of, object_of, objects_of, text_of
from contentmodel.content.hosted import ComputerUseToolResultContent, ImageGenerationToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.tools import CustomToolResultContent, FunctionResultContent, ToolResultContent
from contentmodel.message import ChatMessage, Origin, contents_of
from contentmodel_adapters.frameworks.hosted_tools import with_class
from contentmodel_adapters.frameworks.langchain.blocks import API, own_extra, parsed, without_fields
from contentmodel_adapters.frameworks.langchain.guests import INNER, RESPONSES, Block, Dialect, Found, Other, unknown

INDEX = "index"
"""The field by which LangChain joined the blocks of a stream."""

# -- blocks ------------------------------------------------------------------------------------------------------------


class Responses(Dialect):
    """The items of the Responses API. LangChain has each part of a message item as a block."""

    def knows(self, block: Block) -> bool:
        kind = block.get("type")
        pairs = [pair.name for pair in self.adapter.table.pairs]
        return kind in _PARTS or kind == "reasoning" or kind in pairs or super().knows(block)

    def _read(self, wires: Any, keys: list[Any], context: DecodeContext) -> Found | None:
        items, origins = _items_of(wires, keys)
        messages, trace = self.read({"input": items})
        if trace.has_faults:
            return None
        made_at = {id(content): place for content, place in context.add_traces(trace, origins)}
        # Each part of a message has the id of the message. The first one has it as a field around it.
        later = {key: wires[key] for (holder, index), (wires, key) in origins.items() if index and holder != id(items)}
        decoded = []
        for content in contents_of(messages):
            _, key = made_at.get(id(content), (None, None))
            block = later.get(key, {})
            decoded.append((content, {name: block[name] for name in _OF_ITEM if name in block}))
        return decoded

    def _blocks_of(self, payload: Block, contents: list[Any]) -> list[Any]:
        return [block for item in list_of(payload, "input") for block in _blocks_of_item(item)]


_PARTS = {
    "text": ("assistant", "output_text"),
    "refusal": ("assistant", "refusal"),
    **{name: ("user", name) for name in ("input_text", "input_image", "input_file")},
}
"""The role and the type of the parts of message items, by the type of their blocks."""
_OF_ITEM = ("id", "phase")
"""The fields of a block that are those of its message item."""


def _items_of(wires: Any, keys: list[Any]) -> tuple[list[Any], dict[Any, tuple[Any, Any]]]:
    """Return the items of blocks, and the place of each block by the place of its item or part."""
    items: list[Any] = []
    origins: dict[Any, tuple[Any, Any]] = {}
    for key in keys:
        item, part = _item_and_part(wires[key])
        if part is None:
            holder = items
        elif items and {**items[-1], "content": []} == item:
            holder, item = items[-1]["content"], part
        else:
            items.append(item)
            holder, item = item["content"], part
        origins[id(holder), len(holder)] = wires, key
        holder.append(item)
    return items, origins


def _item_and_part(block: Block) -> tuple[Block, Block | None]:
    """Return the item of a block; if the block is a part of a message item, the item without parts, and the part."""
    if block["type"] not in _PARTS:
        return block, None
    role, tag = _PARTS[block["type"]]
    of_item = {key: block[key] for key in _OF_ITEM if key in block}
    part = {**without_fields(block, *_OF_ITEM), "type": tag}
    return {"type": "message", "content": [], "role": role, **of_item}, part


def _blocks_of_item(item: Block) -> list[Any]:
    if item.get("type") != "message":
        return [item]
    content = item.get("content")
    parts = [{"type": "output_text", "text": content}] if content.__class__ is str else content or []
    tags = ["text" if part.get("type") == "output_text" else part.get("type") for part in parts]
    of_item = {key: item[key] for key in _OF_ITEM if key in item}
    return [{**part, "type": tag, **of_item} for part, tag in zip(parts, tags, strict=True)]


OF_RESPONSES = Responses(RESPONSES, "item")

# -- standard blocks ---------------------------------------------------------------------------------------------------


class StandardOfOpenAI(Responses):
    """Standard blocks that LangChain made of OpenAI's items, decoded as those."""

    is_standard = True

    def decode(self, wires: Any, keys: list[Any], context: DecodeContext, other: Other = unknown) -> list[Any]:
        contents: list[Any] = []
        at = 0
        for item, number in items_of([wires[key] for key in keys]):
            indexes = keys[at : at + number]
            decoded = None if item is None else self._read_item(item, wires, indexes, context)
            if decoded is None:
                contents += [other(wires, key, context) for key in indexes]
            else:
                contents += [self._marked(content, fields, context) for content, fields in decoded]
            at += number
        return contents

    def _read_item(self, item: Block, wires: Any, keys: list[Any], context: DecodeContext) -> Found | None:
        """Return the contents of the item of blocks; None if the item has a fault.

        There is one for each block, but two for the only block of an image.
        """
        blocks = [wires[key] for key in keys]
        messages, trace = self.read({"input": [item]})
        contents = list(contents_of(messages))
        is_image = len(keys) == 1 and item["type"] != "reasoning"
        if trace.has_faults or len(contents) != (2 if is_image else len(keys)) or (is_image and INDEX in blocks[0]):
            return None
        for block, (copy, moves) in zip(blocks, copies_of(item, blocks), strict=False):
            for move in moves:
                context.copied(copy, block, move)
        items_table = self.adapter.table
        table = next(
            (pair for pair in items_table.pairs if pair.name == item["type"]), items_table.unions["reasoning part"]
        )
        decoded = []
        for content, key in zip(contents, keys * (len(contents) // len(keys)), strict=True):
            context.trace(table, [content], wires, key, spread=False)
            decoded.append((content, _rest_of(wires[key], is_first=key == keys[0])))
        states = [content.protected for content in contents if content.protected is not None]
        holder = blocks[0] if "encrypted_content" in blocks[0] else object_of(blocks[0], "extras")
        context.trace(None, states, holder, "encrypted_content", spread=False)
        return decoded

    def _blocks_of(self, payload: Block, contents: list[Any]) -> list[Any]:
        blocks = [block for item in list_of(payload, "input") for block in standard_blocks(item)]
        # The call and the result of an image are one block.
        alone = [content for content in contents if content.__class__ is not ImageGenerationToolResultContent]
        if len(blocks) != len(alone):
            return blocks
        residues = [(content.extra or {}).get(API, {}) for content in alone]
        return [
            {**block, **({INDEX: residue[INDEX]} if INDEX in residue else {})}
            for block, residue in zip(blocks, residues, strict=True)
        ]


def _rest_of(block: Block, *, is_first: bool) -> Block:
    """Return the fields of a standard block that its item does not have, or has once for all blocks."""
    names = [INDEX, *(["mime_type"] if block["type"] == "image" else [] if is_first else ["id", "tool_call_id"])]
    return {name: block[name] for name in names if name in block}


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
_OF_STATUS = {word: status for status, word in _STATUSES.items()}
_MCP = ("remote_mcp", "mcp_list_tools")
"""The tools whose failure is the field `error`."""
_IMAGE = "image_generation_call"


def items_of(blocks: list[Block]) -> list[tuple[Block | None, int]]:
    """Return the items of which LangChain makes exactly these blocks, each with the number of its blocks.

    A block that is of no item is alone, with None in place of the item.
    """
    items: list[tuple[Block | None, int]] = []
    at = 0
    while at < len(blocks):
        run = [without_fields(block, INDEX) for block in blocks[at : at + _number_of(blocks, at)]]
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
    return {**without_fields(first, "reasoning", "extras"), **object_of(first, "extras"), "summary": summary}


def _reasoning_blocks(item: Block) -> list[Block]:
    common = {key: item[key] for key in _OF_EACH if key in item}
    others = without_fields(item, "summary", *_OF_EACH)
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
    return {**block, "extras": without_fields(item, "type", "result", "id")}


# -- calls and results -------------------------------------------------------------------------------------------------


def _tool_item(call: Block, result: Block) -> Block | None:
    """Return the item of a call and its result; None if the output of a server is no text, as in other APIs."""
    name = call["name"]
    tool = _TOOLS[name]
    if name == "remote_mcp" and not isinstance(result.get("output"), str | None):
        return None
    extras, of_result = object_of(call, "extras"), object_of(result, "extras")
    item = {"type": tool.item, "id": call["id"], **without_fields(call, "type", "id", "name", "args", "extras")}
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
    status_field = {"status": _STATUSES.get(status, status)} if name not in _MCP and status.__class__ is str else {}
    return {**item, **status_field, **of_result}


def _tool_blocks(item: Block, name: str) -> list[Block]:
    """Return the call and the result of an item."""
    tool = _TOOLS[name]
    used_fields = ("type", "id", tool.args, tool.output, "error" if name in _MCP else "status")
    others = {"tool_name" if key == "name" else key: value for key, value in item.items() if key not in used_fields}
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
        return without_fields(object_of(item, "action"), "sources")
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


# -- results -----------------------------------------------------------------------------------------------------------

# A message of the role `tool` may be the item of a custom tool or of the computer tool. It is decoded as the result in
# the item. Source: langchain-openai 1.7.4 (chat_models/base.py, `_make_computer_call_output_from_message` and
# `_make_custom_tool_output_from_message`), seen 2026-11-27.
ITEM = Hint[Block](
    API, "item", "the own `call_id` and `hints` of the item that is the content of a result; empty without an item"
)
ITEMS = (CustomToolResultContent, ComputerUseToolResultContent)
_SCREENSHOT = "computer_call_output"
_OF_MESSAGE = ("name", "is_error", "artifact")
"""The fields of a result that only the message has, not its item."""


def with_item(message: ChatMessage, context: DecodeContext) -> ChatMessage:
    """Return a message with the result in its item, if its content is one. OpenAI's adapter then sends it unchanged."""
    result: Any = message.contents[0]
    extra = result.extra or {}
    item = _screenshot(result, extra.get(API, {})) or _only_item(result, extra.get(API, {}))
    if item is None:
        return message
    origin = Origin(api=RESPONSES, issuer="openai")
    contents = [context.replaced(result, item)]
    return context.replace(message, contents=contents, origin=origin, extra=own_extra(message))


def _screenshot(result: Any, residue: Block) -> ToolResultContent | None:
    """Return the result of a message that is a screenshot as in version 0. `residue`: its fields of this format."""
    beside = object_of(residue, "additional_kwargs")
    is_one = len(result.outputs) == 1 and isinstance(result.outputs[0], DataContent | UriContent | HostedFileContent)
    if beside.get("type") != _SCREENSHOT or not is_one:
        return None
    extra = {API: {**residue, "additional_kwargs": without_fields(beside, "type"), **ITEM.entry({})}}
    fields = {name: getattr(result, name) for name in (*_OF_MESSAGE, "call_id", "outputs")}
    return ComputerUseToolResultContent(extra=extra, **fields)


def _only_item(result: Any, residue: Block) -> ToolResultContent | None:
    """Return the result in the only block of a message. `residue`: the fields of the message of this format."""
    item: Any = result.outputs[0] if len(result.outputs) == 1 else None
    if item.__class__ not in ITEMS or INNER.of(item, API) != RESPONSES or "tool_call_id" in residue:
        return None
    if any(getattr(item, name) is not None for name in _OF_MESSAGE):
        return None
    extra = item.extra or {}
    # The id of the item is that of the call. The message has it too.
    again = {"tool_call_id": result.call_id} if None not in (item.call_id, result.call_id) else {}
    hint = ITEM.entry({"call_id": item.call_id, "hints": extra[API]})
    new: ToolResultContent = replace(
        item,
        call_id=result.call_id if item.call_id is None else item.call_id,
        extra={**extra, API: {**residue, **again, **hint}},
        **{name: getattr(result, name) for name in _OF_MESSAGE},
    )
    return new


def as_function_result(result: Any, context: EncodeContext) -> Any:
    """Return a result as that of a function. The item that it had is its output."""
    if result.__class__ is FunctionResultContent:
        return result
    said = ITEM.of(result, API)
    if said is None:
        return context.replaced(result, with_class(result, FunctionResultContent))
    residue = without_fields((result.extra or {}).get(API, {}), ITEM.key)
    extra = without_fields(result.extra or {}, API)
    fields = {name: getattr(result, name) for name in (*_OF_MESSAGE, "call_id", "outputs")}
    if said == {}:
        residue["additional_kwargs"] = {**object_of(residue, "additional_kwargs"), "type": _SCREENSHOT}
    else:
        again, residue = residue.get("tool_call_id"), without_fields(residue, "tool_call_id")
        inner = said.get("call_id")
        item = replace(
            result,
            call_id=None if inner is None else result.call_id,
            extra={**extra, API: {**object_of(said, "hints"), **OF_RESPONSES.mark()}},
            **dict.fromkeys(_OF_MESSAGE),
        )
        extra, fields["outputs"] = {}, [item]
        if inner is not None and again != inner:
            fields["call_id"] = again
    if residue:
        extra[API] = residue
    return context.replaced(result, FunctionResultContent(extra=extra or None, **fields))


STANDARD_OF_OPENAI = StandardOfOpenAI(RESPONSES, "item")
