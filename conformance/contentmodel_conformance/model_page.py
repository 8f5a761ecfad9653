"""Generate the pages of types and of events from the Structs of the model and their docstrings.

The meaning of a field is the docstring of the attribute, or an entry of `MEANINGS`. A field without either is an error,
so that no new field is left out.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct, structs

import contentmodel.request as requests
from contentmodel import content as contents
from contentmodel.content.base import Protected
from contentmodel.content.citations import Citation, Span
from contentmodel.content.tools import Caller
from contentmodel.events import EVENT_TYPES, BlockDelta
from contentmodel.message import ChatMessage, Origin
from contentmodel.response import ChatChoice, ChatResponse, FinishReason
from contentmodel.usage import Usage

Types = Sequence[type[Struct]]

CONTENT_HEAD = """# Types and fields

This page lists every type of the model with its fields, made from the code by
`python -m contentmodel_conformance.pages docs`. Use it to look up a field. The [content model](model.md) explains how
the types belong together; [events](event-types.md) lists the events of streams.

Every type is a frozen, keyword-only `msgspec.Struct` and is compared by value. The tag of a content is the value of
`type` in JSON. Types without a tag are fields of other types. `Open[Role]` means any text; [the values of
`Role`](reference-content.md#values-of-fields) are the known ones. A field without a default is required.
"""

EVENT_HEAD = """# Events and their fields

This page lists every event of a streamed turn with its fields, made from `contentmodel.events` by
`python -m contentmodel_conformance.pages docs`. [Streams](streams.md) explains how to read, fold and write events.

```text
TurnStart
    BlockStart  deltas  BlockStop      once for each block; several blocks may be open at once
    BlockCatchUp                       replaces a block
    UsageDelta  Notice  WireEvent      at any time
TurnComplete or TurnError
```

A block is one content. The tag of an event is the value of `type` in JSON. A field without a default is required.
"""

GROUPS: tuple[tuple[str, str, Types], ...] = (
    ("Every content", "Each content has these fields besides its own.", (contents.AIContent,)),
    (
        "Text, reasoning, documents",
        "",
        (contents.TextContent, contents.ReasoningContent, contents.DocumentContent),
    ),
    (
        "Media",
        "`MediaContent` is the base class of data, links and files.",
        (
            contents.MediaContent,
            contents.DataContent,
            contents.UriContent,
            contents.HostedFileContent,
            contents.HostedVectorStoreContent,
        ),
    ),
    (
        "Tool calls",
        "`ToolCallContent` is the base class of all calls.",
        (
            contents.ToolCallContent,
            contents.FunctionCallContent,
            contents.CustomToolCallContent,
            contents.HostedToolCallContent,
        ),
    ),
    (
        "Tool results",
        "`ToolResultContent` is the base class of all results.",
        (
            contents.ToolResultContent,
            contents.FunctionResultContent,
            contents.CustomToolResultContent,
            contents.HostedToolResultContent,
        ),
    ),
)
"""The sections before the hosted tools: title, introduction, types."""

LATER_GROUPS: tuple[tuple[str, str, Types], ...] = (
    (
        "Approvals and input",
        "",
        (
            contents.ToolApprovalRequestContent,
            contents.ToolApprovalResponseContent,
            contents.InputRequestContent,
            contents.InputResponseContent,
        ),
    ),
    (
        "Errors and other contents",
        "",
        (
            contents.ErrorContent,
            contents.UsageContent,
            contents.CompactionContent,
            contents.ToolChangeContent,
            contents.ConfigurationContent,
            contents.ReferenceContent,
            contents.UnknownContent,
        ),
    ),
    ("Parts of contents", "", (Protected, Citation, Span, Caller)),
    ("Messages", "", (ChatMessage, Origin)),
    (
        "Requests",
        "",
        (
            requests.ChatRequest,
            requests.ChatOptions,
            requests.ReasoningOptions,
            requests.ResponseFormat,
            requests.ToolChoice,
        ),
    ),
    (
        "Definitions of tools",
        "",
        (requests.FunctionTool, requests.CustomTool, requests.HostedTool, requests.ToolGroup),
    ),
    ("Responses", "", (ChatResponse, ChatChoice, FinishReason, Usage)),
)
"""The sections after the hosted tools."""

MEANINGS = {
    "extra": "Unmapped wire fields and [hints](hints.md), by API id.",
    "AIContent.annotations": "The citations of the content.",
    "AIContent.protected": "Opaque state of the provider that belongs to the content, such as a signature.",
    "TextContent.text": "The text.",
    "ReasoningContent.text": "The text of the reasoning.",
    "MediaContent.media_type": "The IANA media type.",
    "MediaContent.name": "The name of the file.",
    "MediaContent.detail": "The resolution at which the model reads it: `auto`, `low`, `high`, or another value.",
    "DataContent.data": "Base64 as received: standard or URL-safe, padded or not. It is never re-encoded.",
    "DataContent.text": "The text of a text document that was sent as text. It replaces `data`.",
    "DataContent.transcript": "The transcript of audio.",
    "UriContent.uri": "The address.",
    "UriContent.kind": "The kind of media, from the API: `image`, `document`, `audio`, `video`; None for web pages.",
    "UriContent.title": "The title of the linked page.",
    "UriContent.text": "An excerpt of the linked page, if the API returned one.",
    "HostedFileContent.file_id": "The provider's id of the file. It is only valid for that provider.",
    "HostedFileContent.kind": "The kind of media, from the API: `image`, `document`, `audio`, `video`.",
    "HostedFileContent.title": "The title of the file.",
    "HostedFileContent.text": "An excerpt of the file, if the API returned one.",
    "HostedVectorStoreContent.vector_store_id": "The provider's id of the store.",
    "DocumentContent.parts": "The contents of the document.",
    "DocumentContent.title": "The title of the document.",
    "DocumentContent.uri": "The application's identifier of the source. It need not be an address.",
    "ReasoningContent.kind": "`summary` or `text` (the reasoning itself), if the API marks it as such.",
    "ErrorContent.kind": "The [kind](converting.md#errors), the same for all APIs: `rate_limit`, `overloaded`.",
    "ToolChangeContent.action": "`add` or `remove`.",
    "ToolChangeContent.tools": "The definitions or references, in the provider's format.",
    "ConfigurationContent.kind": "The provider's name of the change.",
    "ConfigurationContent.settings": "The settings, in the provider's format.",
    "UnknownContent.api": "The API id.",
    "UnknownContent.block": "The complete JSON of the block.",
    "ErrorContent.message": "The provider's message.",
    "ErrorContent.code": "The provider's code; `refusal` for a refusal.",
    "ErrorContent.details": "Further fields of the provider's error.",
    "UsageContent.usage": "The token counts.",
    "CompactionContent.text": "The summary.",
    "ReferenceContent.item_id": "The provider's id of the item.",
    "ToolCallContent.call_id": "The id that pairs the call with its result.",
    "ToolCallContent.name": "The name of the tool.",
    "ToolCallContent.arguments": (
        "An object; or a text if the API sent a text, which is kept exactly as received, valid JSON or not."
    ),
    "ToolCallContent.status": "The provider's value.",
    "ToolCallContent.caller": "The caller, if the API reports it.",
    "ToolResultContent.call_id": "The id of the call that this is the result of.",
    "ToolResultContent.name": "The name of the tool.",
    "ToolResultContent.outputs": "The outputs as contents. A failure is an `ErrorContent` among them.",
    "ToolResultContent.is_error": "Whether the call failed, if the API has such a flag.",
    "ToolResultContent.status": "The provider's value.",
    "ToolResultContent.caller": "The caller, if the API reports it.",
    "executor": "`client` if the application runs the tool, or `provider`.",
    "namespace": "The group that declares the tool.",
    "ToolApprovalRequestContent.request_id": "The id of the request. The response has the same one.",
    "ToolApprovalRequestContent.name": "The name of the tool.",
    "ToolApprovalRequestContent.server": "The label of the MCP server.",
    "ToolApprovalRequestContent.arguments": "The arguments of the call.",
    "ToolApprovalResponseContent.request_id": "The id of the request that this responds to.",
    "ToolApprovalResponseContent.approved": "Whether the call is approved.",
    "ToolApprovalResponseContent.reason": "The reason, for people and the model.",
    "InputRequestContent.request_id": "The id of the request. The response has the same one.",
    "InputRequestContent.message": "The question.",
    "InputRequestContent.schema": "The JSON Schema of the expected value.",
    "InputResponseContent.request_id": "The id of the request that this responds to.",
    "InputResponseContent.value": "The user's input, a JSON value.",
    "server": "The label of the server.",
    "McpListToolsToolResultContent.tools": "The definitions, as the server describes them.",
    "ToolSearchToolResultContent.tools": "Names or definitions of the tools, in the provider's format.",
    "Protected.issuer": "The provider that created the state: `anthropic`, `openai`, `google`.",
    "Protected.kind": "`signature`, `encrypted` or `redacted`.",
    "Protected.data": "The text, exactly as received. It is only sent to APIs of the issuer.",
    "Citation.span": "The part of the text that the citation belongs to; None means all of it.",
    "Citation.location": "The part of the source.",
    "Citation.cited_text": "The quotation of the source.",
    "Citation.url": "The address of the source.",
    "Citation.title": "The title of the source.",
    "Citation.file_id": "The provider's id of the source, if it is a file.",
    "Citation.filename": "The name of the source, if it is a file.",
    "Citation.container_id": "The provider's id of the container that holds the file.",
    "Citation.document_index": "The index of the source among the documents of the request.",
    "Citation.source_indices": "Indices of the sources in the list of results that accompanies the text.",
    "Span.start": "The first position. None means that the API omitted it: read it as 0.",
    "Span.end": "The position after the last one. None means that the span is a point, an insertion index.",
    "Span.unit": (
        "Of a text: `codepoint` (Python characters), `utf16` (JavaScript), `byte` (UTF-8). "
        "Of a source: `char`, `page`, `block`."
    ),
    "Caller.kind": "`direct` for the model itself, else the provider's name of the kind of program.",
    "Caller.call_id": "The call of the program that makes this call.",
    "ChatMessage.role": "`system`, `developer`, `user`, `assistant`, `tool`, or another value of an API.",
    "ChatMessage.contents": "The contents. A text in the list, or instead of it, becomes a `TextContent`.",
    "ChatMessage.author_name": "The name of the author, for APIs that tell users apart.",
    "ChatMessage.message_id": "The provider's id of the message.",
    "ChatMessage.origin": "The source of a decoded message; None for a message of the application.",
    "Origin.api": "The API id.",
    "Origin.issuer": "The provider: `anthropic`, `openai`, `google`.",
    "Origin.endpoint": "The host, if it is known.",
    "Origin.model": "The model.",
    "Origin.is_answer": "Whether the value is part of a response of the API.",
    "FunctionTool.name": "The name of the function.",
    "FunctionTool.description": "The description for the model.",
    "FunctionTool.parameters": "The JSON Schema of the arguments, unchanged.",
    "FunctionTool.returns": "The JSON Schema of the result, unchanged.",
    "FunctionTool.strict": "Whether the API enforces the schema.",
    "CustomTool.name": "The name of the tool.",
    "CustomTool.description": "The description for the model.",
    "CustomTool.format": (
        'The constraint: `{"type": "grammar", "syntax": "lark", "definition": "..."}`, or the syntax `regex`.'
    ),
    "HostedTool.kind": "The normalized purpose, the same for every API: `web_search`, `code_interpreter`, `mcp`.",
    "HostedTool.settings": "The parameters, in the provider's format.",
    "HostedTool.name": "The name of the tool.",
    "ToolGroup.tools": "The tools of the group.",
    "ToolGroup.name": "The name of the namespace.",
    "ToolGroup.description": "The description for the model.",
    "ResponseFormat.kind": "`text`, `json`, `json_schema`, or another value of an API.",
    "ResponseFormat.schema": "The JSON Schema of the response.",
    "ResponseFormat.name": "The name of the schema.",
    "ResponseFormat.description": "The description of the schema, for the model.",
    "ResponseFormat.strict": "Whether the API enforces the schema.",
    "ResponseFormat.media_type": "The media type of the response.",
    "ToolChoice.mode": "`auto`, `none`, `required`, or another value of an API.",
    "ToolChoice.tools": "The names that the choice is limited to.",
    "ToolChoice.hosted": "The kind of the one hosted tool that is selected.",
    "ReasoningOptions.mode": "The provider's value: `enabled`, `adaptive`, `disabled`.",
    "ReasoningOptions.effort": "The provider's value: `low` to `max`.",
    "ReasoningOptions.budget_tokens": "The maximum number of reasoning tokens.",
    "ReasoningOptions.include": "Whether to return the reasoning.",
    "ReasoningOptions.summary": "The kind of summary.",
    "ChatOptions.max_output_tokens": "The maximum number of output tokens.",
    "ChatOptions.temperature": "The sampling temperature.",
    "ChatOptions.top_p": "The probability mass of nucleus sampling.",
    "ChatOptions.top_k": "The number of candidates of top-k sampling.",
    "ChatOptions.frequency_penalty": "The penalty for frequent tokens.",
    "ChatOptions.presence_penalty": "The penalty for tokens that occurred.",
    "ChatOptions.seed": "The seed of sampling.",
    "ChatOptions.stop_sequences": "Texts that end the response.",
    "ChatOptions.choices": "The number of alternative answers.",
    "ChatOptions.logprobs": "Whether to return the log probabilities of tokens.",
    "ChatOptions.top_logprobs": "The number of candidates with log probabilities for each token.",
    "ChatOptions.stream": "Whether to stream the response.",
    "ChatOptions.store": "Whether the provider stores the response.",
    "ChatOptions.user": "The application's id of its user.",
    "ChatOptions.metadata": "The application's own values, stored with the response.",
    "ChatOptions.service_tier": "The provider's service tier.",
    "ChatOptions.verbosity": "The verbosity of the response, the provider's value.",
    "ChatOptions.modalities": "The kinds of output.",
    "ChatOptions.conversation_id": "The provider's id of a conversation that it stores.",
    "ChatOptions.previous_response_id": "The id of a stored response to continue.",
    "ChatOptions.parallel_tool_calls": "Whether the model may make several calls at once.",
    "ChatOptions.tool_choice": "The tools that the model may or must call.",
    "ChatOptions.response_format": "The required format of the response.",
    "ChatOptions.reasoning": "Settings of the reasoning.",
    "ChatRequest.model": "The model.",
    "ChatRequest.instructions": "The system prompt outside the messages: contents, or one text.",
    "ChatRequest.messages": "The conversation.",
    "ChatRequest.tools": "The definitions of tools.",
    "ChatRequest.options": "The settings of the request.",
    "ChatRequest.origin": "The source of a decoded request; None for a request of the application.",
    "FinishReason.reason": (
        "The normalized reason: `stop`, `length`, `tool_calls`, `content_filter`, `refusal`, `pause`, `error`, "
        "`compaction`, `cancelled`, `running`, `other`."
    ),
    "FinishReason.raw": "The API's own value.",
    "FinishReason.stop_sequence": "The stop sequence that ended the response.",
    "FinishReason.resumable": ("If true, the turn is not finished: send the same conversation again to continue it."),
    "ChatChoice.messages": "The messages of the answer.",
    "ChatChoice.finish_reason": "The reason why the answer ended.",
    "ChatChoice.index": "The API's number of the choice.",
    "ChatChoice.logprobs": "Log probabilities, in the provider's format.",
    "ChatResponse.id": "The provider's id of the response.",
    "ChatResponse.model": "The model that answered.",
    "ChatResponse.created": "The time of the response in the API's format: a number of seconds since 1970, or a text.",
    "ChatResponse.choices": "The alternative answers.",
    "ChatResponse.usage": "The token counts.",
    "ChatResponse.error": "The failure, if the response is one.",
    "ChatResponse.origin": "The source of a decoded response.",
    "Usage.input_tokens": "Tokens of the input.",
    "Usage.output_tokens": "Tokens of the output.",
    "Usage.total_tokens": "The total that the API reports.",
    "Usage.cache_read_tokens": "Input tokens that were read from a cache.",
    "Usage.cache_write_tokens": "Input tokens that were written to a cache.",
    "Usage.reasoning_tokens": "Tokens of reasoning.",
    "Usage.input_audio_tokens": "Input tokens of audio.",
    "Usage.output_audio_tokens": "Output tokens of audio.",
    "Usage.tool_input_tokens": "Input tokens of the results of hosted tools.",
    "Usage.accepted_prediction_tokens": "Tokens of a predicted output that the response has.",
    "Usage.rejected_prediction_tokens": "Tokens of a predicted output that the response does not have.",
    "Usage.cached_inside": "Whether `input_tokens` includes the cached tokens.",
    "Usage.reasoning_inside": "Whether `output_tokens` includes `reasoning_tokens`.",
    "TurnStart.response": "The id, model, origin and usage so far, if known. It has no choices.",
    "index": "The number of the block in the turn, in the order in which blocks start.",
    "choice": "The number of the choice that the block belongs to.",
    "BlockStart.content": "The content so far. The field that deltas extend is empty, unless the API sent it complete.",
    "BlockStop.content": "The final content.",
    "BlockStop.is_complete": "False if the stream ended inside the block.",
    "BlockCatchUp.content": "The content that replaces the block.",
    "TextDelta.text": "The text to append.",
    "ReasoningDelta.text": "The text to append.",
    "SignatureDelta.protected": "The opaque state.",
    "ArgumentsDelta.text": "More of the JSON text of the arguments, or text for the argument at `path`.",
    "ArgumentsDelta.path": "The JSON path of the argument to extend or set; None for the text as a whole.",
    "ArgumentsDelta.value": "The value of the argument at `path`.",
    "CitationDelta.citation": "The citation.",
    "MediaDelta.data": "The base64 to append, or a complete preview.",
    "MediaDelta.preview": "The number of the preview; None for the data itself.",
    "OutputDelta.text": "The text to append.",
    "UnknownDelta.api": "The API id.",
    "UnknownDelta.delta": "The JSON of the delta.",
    "UsageDelta.usage": "The total so far.",
    "Notice.kind": "`tool_use`, `tool_result`, or another value.",
    "Notice.text": "The text for the user.",
    "Notice.call_id": "The id of the call that the text refers to.",
    "OutputDelta.name": "The name of the output stream: `stdout`, `stderr`.",
    "WireEvent.api": "The API id.",
    "WireEvent.name": "The name of the event, if it has one.",
    "WireEvent.data": "The JSON of the event.",
    "TurnComplete.response": "Everything except the contents: ids, usage, finish reasons.",
    "TurnComplete.layout": "The blocks of each message of each choice.",
    "TurnError.error": "The cause.",
    "TurnError.response": "Everything that was received, except the contents.",
    "TurnError.layout": "The blocks of each message of each choice.",
}
"""The meanings of fields without a docstring, by `Class.field`, or by the name if it means the same everywhere."""


class Member(NamedTuple):
    """A field of a type: its type and default as in the source, and its meaning."""

    name: str
    type: str
    default: str | None
    meaning: str


def content_page() -> str:
    """Return every type of the model with its fields, as Markdown."""
    lines = [CONTENT_HEAD, *_sections(GROUPS), *_hosted(), *_sections(LATER_GROUPS)]
    return "\n".join(lines).rstrip() + "\n"


def event_page() -> str:
    """Return every event with its fields, as Markdown."""
    lines = [EVENT_HEAD, "| event | tag | emitted |", "|---|---|---|"]
    lines += [
        f"| [`{kind.__name__}`](#{kind.__name__.lower()}) | `{_tag(kind)}` | {summary(kind)} |" for kind in EVENT_TYPES
    ]
    lines += ["", f"All deltas have the field `index`: {MEANINGS['index'][0].lower()}{MEANINGS['index'][1:]}", ""]
    for kind in EVENT_TYPES:
        lines += [f"## {kind.__name__}", "", *_paragraphs(kind), *_table(members(kind) or _inherited(kind))]
    return "\n".join(lines).rstrip() + "\n"


def _sections(groups: Sequence[tuple[str, str, Types]]) -> Iterator[str]:
    for title, introduction, types in groups:
        yield from (f"## {title}", "")
        if introduction:
            yield from (introduction, "")
        for kind in types:
            yield from _section(kind)


def _section(kind: type[Struct]) -> Iterator[str]:
    yield from (f"### {kind.__name__}", "", *_paragraphs(kind))
    facts = []
    if _tag(kind) and kind in (*contents.CONTENT_TYPES, *_DEFINITIONS):
        facts.append(f"Tag: `{_tag(kind)}`.")
    base = kind.__mro__[1]
    if base in _BASES:
        facts.append(
            f"It has the fields of `{base.__name__}`, and those below."
            if members(kind)
            else f"Fields: those of `{base.__name__}`."
        )
    if facts:
        yield from (" ".join(facts), "")
    yield from _table(members(kind))


_BASES = {contents.MediaContent, contents.ToolCallContent, contents.ToolResultContent}
_DEFINITIONS = (requests.FunctionTool, requests.CustomTool, requests.HostedTool, requests.ToolGroup)


def _hosted() -> Iterator[str]:
    """Yield the table of hosted tools that have types of their own."""
    yield from (
        "## Hosted tools",
        "",
        "Tools that the provider defines. A call has the fields of `ToolCallContent`, a result those of",
        "`ToolResultContent`; the last column lists further fields. Tools without types of their own use the base",
        "classes `HostedToolCallContent` and `HostedToolResultContent`.",
        "",
        "| type | tag | meaning | run by | further fields |",
        "|---|---|---|---|---|",
    )
    for kind in contents.CONTENT_TYPES:
        if issubclass(kind, contents.HostedToolCallContent | contents.HostedToolResultContent) and _has_own(kind):
            runs = next(field.default for field in structs.fields(kind) if field.name == "executor")
            further = "; ".join(
                f"`{member.name}`: {as_code(member.type)}" for member in members(kind) if member.name != "executor"
            )
            yield f"| `{kind.__name__}` | `{_tag(kind)}` | {summary(kind)} | {runs} | {further} |"
    yield ""


def _has_own(kind: type[Struct]) -> bool:
    return kind not in (contents.HostedToolCallContent, contents.HostedToolResultContent)


def _tag(kind: type[Struct]) -> str:
    return str(kind.__struct_config__.tag or "")


def _table(fields: Sequence[Member]) -> Iterator[str]:
    if fields:
        yield from ("| field | type | default | meaning |", "|---|---|---|---|")
        for field in fields:
            default = "" if field.default is None else f"`{field.default}`"
            yield f"| `{field.name}` | {as_code(field.type)} | {default} | {_cell(field.meaning)} |"
        yield ""


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def as_code(text: str) -> str:
    """Return a type as code in a table. Renderers differ in how a bar in a code span is escaped, so use an entity."""
    return "<code>{}</code>".format(text.replace("|", "&#124;")) if "|" in text else f"`{text}`"


# -- docstrings --------------------------------------------------------------------------------------------------------


def summary(kind: type[Struct]) -> str:
    """Return the sentences of a docstring that do not describe a field, as one line."""
    return _cell(" ".join(sentence for _, sentence in _sentences(kind) if not _subjects(kind, sentence)))


def _paragraphs(kind: type[Struct]) -> Iterator[str]:
    """Yield the docstring of a type, without the sentences that the table of fields repeats."""
    written: dict[int, list[str]] = {}
    about = False
    for number, sentence in _sentences(kind):
        subjects = _subjects(kind, sentence)
        # "It ..." continues the sentence before it.
        about = bool(subjects) or (about and sentence.startswith("It "))
        if not about:
            written.setdefault(number, []).append(sentence)
    for sentences in written.values():
        yield from (" ".join(sentences), "")


def _sentences(kind: type[Struct]) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a docstring with the number of their paragraph."""
    for number, paragraph in enumerate(inspect.getdoc(kind).split("\n\n") if kind.__doc__ else ()):  # type: ignore[union-attr]
        text = " ".join(paragraph.split())
        yield from ((number, sentence) for sentence in re.split(r"(?<=\.) (?=[A-Z`])", text))


def _subjects(kind: type[Struct], sentence: str) -> list[str]:
    """Return the fields that a sentence begins with: "`mode` and `effort` are ..."."""
    found = re.match(r"((?:, | and |, and )?`\w+`)+", sentence)
    names = re.findall(r"`(\w+)`", found.group()) if found else []
    return [name for name in names if name in kind.__struct_fields__]


@cache
def members(kind: type[Struct]) -> tuple[Member, ...]:
    """Return the fields that a type declares itself. Raise KeyError if a field has no meaning."""
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found = []
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            doc = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else None
            default = None if node.value is None else _default(ast.unparse(node.value))
            found.append(
                Member(name, ast.unparse(node.annotation).replace("'", ""), default, _meaning(kind, name, doc))
            )
    return tuple(found)


def _inherited(kind: type[Struct]) -> tuple[Member, ...]:
    return members(BlockDelta) if issubclass(kind, BlockDelta) else ()


def _default(text: str) -> str:
    return {"NO_CONTENTS": "[]"}.get(text, text).replace("'", '"')


def _meaning(kind: type[Struct], name: str, doc: Any) -> str:
    if isinstance(doc, str):
        return " ".join(doc.split())
    return MEANINGS.get(f"{kind.__name__}.{name}") or MEANINGS[name]
