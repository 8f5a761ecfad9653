"""The blocks of providers in the content of a message: in the spelling of the provider, or in one of LangChain.

A block in the provider's spelling is its own form. The others are standard blocks that LangChain makes of Anthropic's,
and blocks that langchain-aws and langchain-mistralai make. The adapter of the provider decodes and encodes all of them.

A content of such a block has the hint `INNER`, and its other fields are the residue of the provider's API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

from msgspec.structs import replace

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Form,
    Guest,
    Hint,
    camel_name,
    forms,
    guests,
    hints,
    list_of,
    object_of,
    runs,
    snake_name,
)
from contentmodel.content.outcomes import ErrorContent, UnknownContent
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel.message import ChatMessage, contents_of
from contentmodel_adapters.frameworks.langchain.blocks import API, TABLE

ANTHROPIC, CHAT, MISTRAL = "anthropic-messages", "openai-chat", "mistral-chat"
BEDROCK_API: Final = "bedrock-converse"
RESPONSES, GOOGLE, COHERE = "openai-responses", "google-generate-content", "cohere-chat"
INNER = Hint[Literal["anthropic-messages", "openai-chat", "openai-responses", "bedrock-converse", "mistral-chat"]](
    API, "inner", "the API whose block it is"
)
STANDARD = Hint[Literal[True]](API, "standard", "the block of the API was spelled as a standard block")
WRAPPED = Hint[dict[str, Any]](API, "wrapped", "the fields of the block `non_standard` that contains the block")
Block = dict[str, Any]
Found = list[tuple[Any, Block]]
"""Contents, each with the fields of its block that are no fields of the API."""
Other = Callable[[Any, Any, DecodeContext], Any]
"""Decode a block `wires[key]` that is none of the provider."""


def unknown(wires: Any, key: Any, context: DecodeContext) -> UnknownContent:
    """Decode a block with a fault."""
    content = UnknownContent(api=API, block=wires[key])
    context.trace(None, [content], wires, key, spread=False)
    return content


class Dialect(guests.Provider):
    """The blocks of an API in the content of a message. Its adapter decodes and encodes them as those of an answer."""

    is_standard = False

    def __init__(self, api: str, union: str) -> None:
        super().__init__(api)
        self._union = union

    def knows(self, block: Block) -> bool:
        """Return whether a block that no row decodes is a block of the API."""
        if self.api == ANTHROPIC and block.get("type") == "text":
            return "citations" in block
        return block.get("type") != "text" and bool(self.adapter.table.unions[self._union].knows(block))

    def decode(self, wires: Any, keys: list[Any], context: DecodeContext, other: Other = unknown) -> list[Any]:
        """Return the contents of the blocks `wires[key]`. `other` decodes those that have a fault."""
        decoded = self._read(wires, keys, context)
        if decoded is not None:
            return [self._marked(content, fields, context) for content, fields in decoded]
        if len(keys) > 1:
            return [content for key in keys for content in self.decode(wires, [key], context, other)]
        return [other(wires, keys[0], context)]

    def _read(self, wires: Any, keys: list[Any], context: DecodeContext) -> Found | None:
        """Return the contents of blocks; None if a block has a fault."""
        contents = self._contents([wires[key] for key in keys])
        for key, content in zip(keys, contents or (), strict=False):
            context.trace(self.adapter.table.unions[self._union], [content], wires, key, spread=False)
        return None if contents is None else [(content, {}) for content in contents]

    def _contents(self, blocks: list[Any]) -> list[Any] | None:
        messages, trace = self.read({"messages": [self._message_of(blocks)]})
        return None if trace.has_faults else list(contents_of(messages))

    def _message_of(self, blocks: list[Any]) -> Block:
        """Return a message of the API with these blocks."""
        return {"role": "assistant", "content": blocks}

    def _marked(self, content: Any, fields: Block, context: DecodeContext) -> Any:
        # Usually, a refusal is beside the content.
        column = hints.COLUMN.entry("content") if content.__class__ is ErrorContent else {}
        extra = {**(content.extra or {}), API: {**fields, **self.mark(), **column}}
        if isinstance(content, HostedToolCallContent | HostedToolResultContent):
            guest_hint = hints.GUEST.entry("standard" if self.is_standard else "block")
            extra[self.api] = {**extra.get(self.api, {}), **guest_hint}
        return context.replace(content, extra=extra)

    def mark(self) -> Block:
        """Return the hints of the contents of these blocks."""
        api: Any = self.api
        return {**INNER.entry(api), **(STANDARD.entry(True) if self.is_standard else {})}

    def encode(self, contents: list[Any], context: EncodeContext) -> list[Any]:
        """Return the blocks of contents that have the hints. Some are in blocks `non_standard`."""
        plain = [context.replaced(content, _without_residue(content)) for content in contents]
        message = ChatMessage(role="assistant", contents=plain, origin=self.origin)
        blocks = self._blocks_of(self.write([message], context), contents)
        arounds = [WRAPPED.of(content, API) for content in contents]
        if len(blocks) != len(contents):
            return blocks
        pairs = zip(blocks, arounds, strict=True)
        return [block if around is None else {**around, "value": block} for block, around in pairs]

    def _blocks_of(self, payload: Block, contents: list[Any]) -> list[Any]:
        messages = list_of(payload, "messages")
        content = messages[0].get("content") if messages else None
        return [{"type": "text", "text": content}] if content.__class__ is str else content or []


def _without_residue(content: Any) -> Any:
    extra = {api: residue for api, residue in (content.extra or {}).items() if api != API}
    return replace(content, extra=extra or None)


class Formed(Dialect):
    """The blocks that LangChain, or the package of a provider, has in other forms. `written` are only written."""

    is_standard = True

    def __init__(self, guest: Guest, union: str, written: Sequence[Form] = ()) -> None:
        super().__init__(guest.api, union)
        self._forms, self._written = guest.forms, (*guest.forms, *written)

    def knows(self, block: Block) -> bool:
        return forms.spelled(self._forms, block) is not None

    def _read(self, wires: Any, keys: list[Any], context: DecodeContext) -> Found | None:
        spellings = [spelling for key in keys if (spelling := forms.spelled(self._forms, wires[key])) is not None]
        contents = self._contents([block for _, block, _ in spellings])
        if contents is None or len(contents) != len(keys):
            return None
        for key, content, (form, block, _) in zip(keys, contents, spellings, strict=True):
            for move in form.moves(block, wires[key]):
                context.copied(*move)
            context.trace(self.adapter.table.unions[self._union], [content], wires, key, spread=False)
        return [
            (content, hints.escaped(other_fields))
            for content, (_, _, other_fields) in zip(contents, spellings, strict=True)
        ]

    def _blocks_of(self, payload: Block, contents: list[Any]) -> list[Any]:
        blocks = [forms.part_of(self._written, block) or block for block in super()._blocks_of(payload, contents)]
        rests = [hints.wire_fields((content.extra or {}).get(API, {})) for content in contents]
        pairs = zip(blocks, rests, strict=True) if len(blocks) == len(rests) else ()
        return [forms.merged(block, _unwritten(rest, block)) for block, rest in pairs] or blocks


def _unwritten(rest: Block, block: Block) -> Block:
    """Return the other fields of a block without its type, which older documents have among them."""
    kind = object_of(block, "extras").get("block_type")
    return {key: value for key, value in rest.items() if key != "block_type" or value != kind}


# -- Anthropic ---------------------------------------------------------------------------------------------------------

# The translator of langchain-core (messages/block_translators/anthropic.py, seen 2026-11-23) renames some fields of a
# block, and collects the others in `extras`.
_ANY, _SOME, _TEXT = forms.Leaf(nullable=True), forms.Leaf(required=True), forms.Leaf(str, required=True)
_TOOLS = {"code_execution": "code_interpreter"}
"""The standard names of tools that have another name there."""
_OWN_TOOLS = {name: tool for tool, name in _TOOLS.items()}
_SERVER = "remote_mcp"


def own_tool(name: Any) -> Any:
    """Return Anthropic's name of a tool that providers run."""
    return _OWN_TOOLS.get(name, name) if name.__class__ is str else name


class _Tool(forms.Leaf):
    """The name of a tool."""

    part_classes = block_classes = (str,)

    def to_block(self, value: str) -> Any:
        return own_tool(value) if value != _SERVER and value not in _TOOLS else forms.MISFIT

    def to_part(self, value: str) -> str:
        return _TOOLS.get(value, value)


class _ResultType(forms.Leaf):
    """The type of a result. That of a server has a form of its own."""

    part_classes = block_classes = (str,)
    examples = ("web_search_tool_result", "code_execution_tool_result")

    def to_block(self, value: str) -> Any:
        is_other = value.endswith("_tool_result") and value != "mcp_tool_result"
        return value if is_other else forms.MISFIT

    to_part = to_block


class _Output(forms.Leaf):
    """The content of a result, and whether it is an error. Parts have no empty content."""

    def to_block(self, value: tuple[Any, Any]) -> Any:
        output, status = value
        return (output or []) if status == _status_of(output) else forms.MISFIT

    def to_part(self, value: Any) -> Any:
        return value or forms.NOTHING, _status_of(value)


def _status_of(output: Any) -> str:
    return "error" if output.__class__ is dict and output.get("error_code") else "success"


class _Content(forms.Leaf):
    """The content of the result of a server. Parts have no empty content."""

    block_default: Any = ()

    def to_part(self, value: Any) -> Any:
        return value or forms.NOTHING


def _citation(kind: str, title: str, place: str, field: str) -> Form:
    """Return the form of a citation, whose type follows from the place of a field in the annotation."""
    cited_fields: dict[str, forms.Spec] = {"cited_text": ("cited_text", _SOME), "title": (title, _ANY)}
    return Form(kind, {"type": "citation"}, {"type": kind}, {**cited_fields, place: (field, _SOME)}, rest="extras")


_CITED = forms.Each(
    _citation("web_search_result_location", "title", "url", "url"),
    _citation("char_location", "document_title", "extras.start_char_index", "start_char_index"),
    _citation("search_result_location", "title", "extras.search_result_index", "search_result_index"),
    _citation("page_location", "document_title", "extras.start_page_number", "start_page_number"),
    _citation("content_block_location", "document_title", "extras.start_block_index", "start_block_index"),
    Form("other", {"type": "non_standard_annotation"}, {}, {}, rest="value"),
    required=True,
    examples=(
        [{"type": "citation", "cited_text": "a", "title": "A", "url": "https://a.example"}],
        [
            {
                "type": "citation",
                "cited_text": "a",
                "title": None,
                "extras": {"start_char_index": 0, "end_char_index": 1},
            }
        ],
        [{"type": "non_standard_annotation", "value": {"type": "new"}}],
    ),
)
_FAILED = forms.Words(("error", True), ("success", False), part_default="success")
_TYPE = _ResultType(required=True)
_USE: dict[str, forms.Spec] = {"id": ("id", _ANY), "args": ("input", _ANY)}
_ID: dict[str, forms.Spec] = {"tool_call_id": ("tool_use_id", _ANY)}
_CALL, _RESULT = {"type": "server_tool_call"}, {"type": "server_tool_result"}


def _form(name: str, part: Block, block: Block, fields: Any) -> Form:
    """Return a form of Anthropic, whose other fields LangChain collects in `extras`."""
    return Form(name, part, block, fields, rest="extras")


_OF_ANTHROPIC = [
    Form("text", {"type": "text"}, {"type": "text"}, {"annotations": ("citations", _CITED)}, rest=""),
    _form(
        "call",
        {"type": "tool_call"},
        {"type": "tool_use"},
        {**_USE, "name": "name", "extras.caller": ("caller", _SOME)},
    ),
    _form(
        "mcp.call", {**_CALL, "name": _SERVER}, {"type": "mcp_tool_use"}, {**_USE, "extras.tool_name": ("name", _ANY)}
    ),
    _form("tool.call", _CALL, {"type": "server_tool_use"}, {**_USE, "name": ("name", _Tool(required=True))}),
    _form(
        "mcp.result",
        {**_RESULT, "extras.block_type": "mcp_tool_result"},
        {"type": "mcp_tool_result"},
        {**_ID, "output": ("content", _Content()), "status": ("is_error", _FAILED)},
    ),
    _form(
        "tool.result",
        _RESULT,
        {},
        {**_ID, "extras.block_type": ("type", _TYPE), ("output", "status"): ("content", _Output())},
    ),
]
"""Anthropic's hosted tools, calls that have a caller, and cited texts as standard blocks."""

# -- Bedrock and Mistral -----------------------------------------------------------------------------------------------

# langchain-aws 1.9.1 has names in Python's style (chat_models/bedrock_converse.py, `_bedrock_to_lc` and
# `_lc_content_to_bedrock`, seen 2026-11-27).


class _Renamed(forms.Leaf):
    """Citations, in which each name is in Python's style. Anthropic's have types."""

    part_classes = block_classes = (list,)

    def to_block(self, value: list[Any]) -> Any:
        are_cited = bool(value) and all(one.__class__ is dict and "type" not in one for one in value)
        return _renamed(value, camel_name) if are_cited else forms.MISFIT

    def to_part(self, value: list[Any]) -> Any:
        return _renamed(value, snake_name)

    def moves(self, block: Any, part: Any) -> Iterator[forms.Moved]:
        yield block, part, None
        names: dict[Any, Any] = {camel_name(key): key for key in part} if part.__class__ is dict else {}
        yield from ((block, part, name) for name in names.items())
        for new_key, key in (names or dict(enumerate(range(len(part))))).items():
            if part[key].__class__ in (dict, list):
                yield from self.moves(block[new_key], part[key])


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    if value.__class__ is dict:
        return {rename(key): _renamed(item, rename) for key, item in value.items()}
    return [_renamed(item, rename) for item in value] if value.__class__ is list else value


class _OneText(forms.Leaf):
    """A text that is a list of texts in the block."""

    part_classes = (str,)
    block_classes = (list,)

    def to_block(self, value: str) -> Any:
        return [{"text": value}]

    def to_part(self, value: list[Any]) -> Any:
        texts: list[Any] = [part.get("text") if part.__class__ is dict else None for part in value]
        return "".join(texts) if all(text.__class__ is str for text in texts) else forms.MISFIT


class _WithJson(forms.Each):
    """Contents of a result, one of which is JSON: Anthropic's results have none."""

    def to_block(self, value: list[Any]) -> Any:
        has_json = any(part.__class__ is dict and part.get("type") == "json" for part in value)
        return super().to_block(value) if has_json else forms.MISFIT


_TEXT_OR_JSON = _WithJson(
    Form("json", {"type": "json"}, {}, {"json": ("json", _SOME)}),
    Form("text", {"type": "text"}, {}, {"text": ("text", _TEXT)}),
    required=True,
)
_GIVEN: dict[str, forms.Spec] = {
    "tool_use_id": ("toolResult.toolUseId", _TEXT),
    "is_error": ("toolResult.status", forms.Words((True, "error"), (False, "success"))),
    "content": ("toolResult.content", _TEXT_OR_JSON),
}
_JOINED: dict[str, forms.Spec] = {"text": ("citationsContent.content", _OneText(required=True))}
_REDACTED: forms.Spec = ("reasoningContent.redactedContent", _TEXT)
_OF_BEDROCK = [
    Form("redacted", {"type": "reasoning_content"}, {}, {"reasoning_content.redacted_content": _REDACTED}),
    Form("result", {"type": "tool_result"}, {}, _GIVEN),
    Form(
        "cited",
        {"type": "text"},
        {},
        {**_JOINED, "citations": ("citationsContent.citations", _Renamed(required=True))},
    ),
]
"""Cited texts, redacted reasoning, and results with JSON."""
_UNCITED = [Form("text", {"type": "text"}, {}, fields) for fields in ({"text": ("text", _TEXT)}, _JOINED)]
"""Texts whose citations were removed."""
# langchain-mistralai 1.1.6 makes a reference an empty text (chat_models.py, `_normalize_mistral_content`, seen
# 2026-11-27).
_REFERENCE = Form("reference", {"type": "text", "text": ""}, {"type": "reference"}, {}, rest="reference")

# -- fields beside the content -----------------------------------------------------------------------------------------


class BesideContent(Dialect):
    """A field of an answer of Chat Completions beside its content: an object, or a list of objects."""

    def __init__(self, field: str, union: str, *, is_list: bool = True) -> None:
        super().__init__(CHAT, union)
        self._field, self._is_list = field, is_list

    def _message_of(self, blocks: list[Any]) -> Block:
        return {"role": "assistant", "content": None, self._field: blocks if self._is_list else blocks[0]}

    def encode(self, contents: list[Any], context: EncodeContext) -> list[Any]:
        blocks: list[Any] = []
        for run, is_faulty in runs(contents, _has_fault):
            blocks += [one.block for one in run] if is_faulty else super().encode(run, context)
        return blocks

    def _blocks_of(self, payload: Block, contents: list[Any]) -> list[Any]:
        values = [message[self._field] for message in list_of(payload, "messages") if self._field in message]
        return [block for value in values for block in value] if self._is_list else values


def _has_fault(content: Any) -> bool:
    """Return whether the block of a content has a fault, and is decoded as one of this format."""
    return content.__class__ is UnknownContent and INNER.of(content, API) is None


class _ExecutedTools(BesideContent):
    """The tools that Groq ran. Each is a call and a result."""

    def _read(self, wires: Any, keys: list[Any], context: DecodeContext) -> Found | None:
        contents = self._contents([wires[key] for key in keys])
        if contents is None or len(contents) != 2 * len(keys):
            return None
        pairs = [pair for pair in self.adapter.table.pairs if pair.name.startswith(f"{self._union}.")]
        for at, content in enumerate(contents):
            pair = next(pair for pair in pairs if content.__class__ in (pair.call.model, pair.result.model))
            context.trace(pair, [content], wires, keys[at // 2], spread=False)
        return [(content, {}) for content in contents]


OF_CHAT, OF_MISTRAL = Dialect(CHAT, "content part"), Dialect(MISTRAL, "part")
OF_ANTHROPIC = Dialect(ANTHROPIC, "content block")
BEDROCK = Dialect(BEDROCK_API, "content block")
"""The blocks of langchain-aws. They have one key, and no type."""
_PARTS = guests.Parts(issuer="", call_id="", around="response_metadata.model_provider")
STANDARD_OF_ANTHROPIC = Formed(TABLE.guest(ANTHROPIC, ("anthropic",), _OF_ANTHROPIC, _PARTS), "content block")
FORMED_OF_BEDROCK = Formed(
    TABLE.guest(BEDROCK_API, ("bedrock_converse",), _OF_BEDROCK, _PARTS), "content block", _UNCITED
)
REFERENCE_OF_MISTRAL = Formed(TABLE.guest(MISTRAL, ("mistralai",), [_REFERENCE], _PARTS), "part")
SPOKEN = BesideContent("audio", "audio", is_list=False)
DETAILS = "reasoning_details"
LISTS_OF_CHAT = {
    DETAILS: BesideContent(DETAILS, "reasoning detail"),
    "executed_tools": _ExecutedTools("executed_tools", "executed"),
}
"""The lists of OpenRouter's reasoning and of Groq's tools, by their name in a message."""
