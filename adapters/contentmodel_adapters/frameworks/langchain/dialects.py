"""Blocks in the format of a provider. The adapter of the provider's API decodes and encodes them.

A content of such a block has the hint `INNER`, and its other fields are the residue of that API.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import replace

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import DecodeContext, EncodeContext, Hint, hints, list_of, runs
from contentmodel.content.outcomes import ErrorContent, UnknownContent
from contentmodel.message import ChatMessage, Origin, contents_of
from contentmodel.request import ChatRequest
from contentmodel_adapters.frameworks.langchain.blocks import API

INNER = Hint[Literal["anthropic-messages", "openai-chat", "openai-responses", "bedrock-converse", "mistral-chat"]](
    API, "inner", "the API whose block it is"
)
RESPONSES = "openai-responses"
GOOGLE = "google-generate-content"
CHAT = "openai-chat"
COHERE = "cohere-chat"
Place = tuple[Any, Any]
"""The container of a block, and its key in the container."""
Found = list[tuple[Any, dict[str, Any]]]
"""Contents, each with the fields of its block that are no fields of the API."""


class Dialect:
    """The blocks of an API in the content of a message. Its adapter decodes and encodes them as those of an answer."""

    def __init__(self, api: str, union: str) -> None:
        self.api, self._union = api, union

    @property
    def adapter(self) -> Any:
        """The adapter of the API."""
        return installed(self.api)

    def knows(self, block: dict[str, Any]) -> bool:
        """Return whether a block that no row decodes is a block of the API."""
        return block.get("type") != "text" and self._has(block)

    def _has(self, block: dict[str, Any]) -> bool:
        return bool(self.adapter.table.unions[self._union].knows(block))

    def decode(self, wires: Any, keys: list[Any], context: DecodeContext) -> list[Any]:
        """Return the contents of the blocks `wires[key]`."""
        found = self._read([wires[key] for key in keys], [(wires, key) for key in keys], context)
        if found is not None:
            return [self._marked(content, fields, context) for content, fields in found]
        if len(keys) > 1:
            return [content for key in keys for content in self.decode(wires, [key], context)]
        return [self._faulty(wires, keys[0], context)]

    def _read(self, blocks: list[Any], places: list[Place], context: DecodeContext) -> Found | None:
        """Return the contents of blocks; None if a block has a fault."""
        request, trace = self.adapter.read_request({"messages": [self._message_of(blocks)]})
        if trace.has_faults:
            return None
        contents = list(contents_of(request.messages))
        for place, content in zip(places, contents, strict=False):
            context.trace(self._layout_of(content), [content], *place, spread=False)
        return [(content, {}) for content in contents]

    def _layout_of(self, content: Any) -> Any:
        """Return the union, or the pair of rows, that decodes the block of a content."""
        return self.adapter.table.unions[self._union]

    def _message_of(self, blocks: list[Any]) -> dict[str, Any]:
        """Return a message of the API with these blocks."""
        return {"role": "assistant", "content": blocks}

    def _faulty(self, wires: Any, key: Any, context: DecodeContext) -> Any:
        unknown = UnknownContent(api=API, block=wires[key])
        context.trace(None, [unknown], wires, key, spread=False)
        return unknown

    def _marked(self, content: Any, fields: dict[str, Any], context: DecodeContext) -> Any:
        # Usually, a refusal is beside the content.
        column = hints.COLUMN.entry("content") if content.__class__ is ErrorContent else {}
        own = {**fields, **self.mark(), **column}
        return context.replace(content, extra={**(content.extra or {}), API: own})

    def mark(self) -> dict[str, Any]:
        """Return the hints of the contents of these blocks."""
        api: Any = self.api
        return INNER.entry(api)

    def encode(self, contents: list[Any], context: EncodeContext) -> list[Any]:
        """Return the blocks of contents that have the hints."""
        origin = Origin(api=self.api, issuer=self.adapter.issuer)
        plain = [context.replaced(content, _without_own(content)) for content in contents]
        message = ChatMessage(role="assistant", contents=plain, origin=origin)
        encoded = self.adapter.encode_request(ChatRequest(messages=[message], origin=origin))
        encoded.hand_over(context)
        return self._blocks_of(encoded.payload)

    def _blocks_of(self, payload: dict[str, Any]) -> list[Any]:
        messages = list_of(payload, "messages")
        content = messages[0].get("content") if messages else None
        return [{"type": "text", "text": content}] if content.__class__ is str else content or []


def _without_own(content: Any) -> Any:
    extra = {api: residue for api, residue in (content.extra or {}).items() if api != API}
    return replace(content, extra=extra or None)


class Anthropic(Dialect):
    """The blocks of Anthropic. Cited texts are among them."""

    def knows(self, block: dict[str, Any]) -> bool:
        return "citations" in block if block.get("type") == "text" else self._has(block)


class Responses(Dialect):
    """The items of the Responses API. LangChain has each part of a message item as a block."""

    def knows(self, block: dict[str, Any]) -> bool:
        kind = block.get("type")
        pairs = (pair.name for pair in self.adapter.table.pairs)
        return kind in _PARTS or kind == "reasoning" or kind in pairs or self._has(block)

    def _read(self, blocks: list[Any], places: list[Place], context: DecodeContext) -> Found | None:
        items, origins = _items_of(blocks, places)
        request, trace = self.adapter.read_request({"input": items})
        if trace.has_faults:
            return None
        made_at = {id(content): place for content, place in context.adopt(trace, origins)}
        # Each part of a message has the id of the message. The first one has it as a field around it.
        later = {key: wires[key] for (holder, index), (wires, key) in origins.items() if index and holder != id(items)}
        found = []
        for content in contents_of(request.messages):
            _, key = made_at.get(id(content), (None, None))
            block = later.get(key, {})
            found.append((content, {name: block[name] for name in _OF_ITEM if name in block}))
        return found

    def _blocks_of(self, payload: dict[str, Any]) -> list[Any]:
        return [block for item in list_of(payload, "input") for block in _blocks_of_item(item)]


_PARTS = {
    "text": ("assistant", "output_text"),
    "refusal": ("assistant", "refusal"),
    **{name: ("user", name) for name in ("input_text", "input_image", "input_file")},
}
"""The role and the type of the parts of message items, by the type of their blocks."""
_OF_ITEM = ("id", "phase")
"""The fields of a block that are those of its message item."""


def _items_of(blocks: list[Any], places: list[Place]) -> tuple[list[Any], dict[Any, Place]]:
    """Return the items of blocks, and the place of each block by the place of its item or part."""
    items: list[Any] = []
    origins: dict[Any, Place] = {}
    for block, place in zip(blocks, places, strict=True):
        item, part = _item_of(block)
        if part is None:
            holder = items
        elif items and {**items[-1], "content": []} == item:
            holder, item = items[-1]["content"], part
        else:
            items.append(item)
            holder, item = item["content"], part
        origins[id(holder), len(holder)] = place
        holder.append(item)
    return items, origins


def _item_of(block: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the item of a block; if the block is a part of a message item, the item without parts, and the part."""
    if block["type"] not in _PARTS:
        return block, None
    role, tag = _PARTS[block["type"]]
    of_item = {key: block[key] for key in _OF_ITEM if key in block}
    part = {**{key: value for key, value in block.items() if key not in _OF_ITEM}, "type": tag}
    return {"type": "message", "content": [], "role": role, **of_item}, part


def _blocks_of_item(item: dict[str, Any]) -> list[Any]:
    if item.get("type") != "message":
        return [item]
    content = item.get("content")
    parts = [{"type": "output_text", "text": content}] if content.__class__ is str else content or []
    tags = ["text" if part.get("type") == "output_text" else part.get("type") for part in parts]
    of_item = {key: item[key] for key in _OF_ITEM if key in item}
    return [{**part, "type": tag, **of_item} for part, tag in zip(parts, tags, strict=True)]


class BesideContent(Dialect):
    """A field of an answer of Chat Completions beside its content: an object, or a list of objects."""

    def __init__(self, field: str, union: str, *, is_list: bool = True) -> None:
        super().__init__(CHAT, union)
        self._field, self._is_list = field, is_list

    def _message_of(self, blocks: list[Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": None, self._field: blocks if self._is_list else blocks[0]}

    def encode(self, contents: list[Any], context: EncodeContext) -> list[Any]:
        blocks: list[Any] = []
        for run, is_faulty in runs(contents, _has_fault):
            blocks += [one.block for one in run] if is_faulty else super().encode(run, context)
        return blocks

    def _blocks_of(self, payload: dict[str, Any]) -> list[Any]:
        values = [message[self._field] for message in list_of(payload, "messages") if self._field in message]
        return [block for value in values for block in value] if self._is_list else values


def _has_fault(content: Any) -> bool:
    """Return whether the block of a content has a fault, and is decoded as one of this format."""
    return content.__class__ is UnknownContent and INNER.of(content, API) is None


class ExecutedTools(BesideContent):
    """The tools that Groq ran. Each is a call and a result."""

    def _read(self, blocks: list[Any], places: list[Place], context: DecodeContext) -> Found | None:
        found = super()._read(blocks, [place for place in places for _ in range(2)], context)
        return found if found is not None and len(found) == 2 * len(blocks) else None

    def _layout_of(self, content: Any) -> Any:
        pairs = [pair for pair in self.adapter.table.pairs if pair.name.startswith(f"{self._union}.")]
        return next(pair for pair in pairs if content.__class__ in (pair.call.model, pair.result.model))


DIALECTS = (
    Anthropic("anthropic-messages", "content block"),
    Responses(RESPONSES, "item"),
    Dialect("openai-chat", "content part"),
    Dialect("mistral-chat", "part"),
)
"""The APIs of the blocks, in the order of preference for blocks that several have."""
BEDROCK = Dialect("bedrock-converse", "content block")
"""The blocks of langchain-aws. They have one key, and no type."""
SPOKEN = BesideContent("audio", "audio", is_list=False)
DETAILS = "reasoning_details"
LISTS_OF_CHAT = {
    DETAILS: BesideContent(DETAILS, "reasoning detail"),
    "executed_tools": ExecutedTools("executed_tools", "executed"),
}
"""The lists of OpenRouter's reasoning and of Groq's tools, by their name in a message."""
BY_API = {one.api: one for one in (*DIALECTS, BEDROCK)}
_OF_BEDROCK = ("text", "image", "document", "video", "audio")


def dialect_of(block: dict[str, Any], issuer: str) -> Dialect | None:
    """Return the dialect of a block that is no standard block; None if no API has it."""
    if block.get("type").__class__ is not str:
        keys = [key for key, value in block.items() if value is not None]
        return BEDROCK if len(keys) == 1 and keys[0] in _OF_BEDROCK else None
    order = sorted(DIALECTS, key=lambda one: one.api.partition("-")[0] != issuer)
    return next((one for one in order if one.knows(block)), None)
