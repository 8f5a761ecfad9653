"""Generate the pages of types and of events from the Structs of the model and their docstrings.

The meaning of a field is the docstring below it. A field that a class declares again without one has the meaning that
the base class gives it. A field without a meaning is an error, so that no new field is left out.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from msgspec import Struct, structs

import contentmodel.request as requests
from contentmodel import content as contents
from contentmodel.content.base import Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation, Span
from contentmodel.content.tools import Caller
from contentmodel.events import EVENT_TYPES, BlockDelta
from contentmodel.interop import Model
from contentmodel.message import Branch, ChatMessage, FinishReason, Origin
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage

Types = Sequence[type[Struct]]

CONTENT_HEAD = """# Types and fields

This page lists every type of the model with its fields, made from the code by
`python -m contentmodel_conformance.pages docs`. Use it to look up a field. The [content model](model.md) explains how
the types belong together; [events](event-types.md) lists the events of streams.

Every type is a frozen, keyword-only `msgspec.Struct` and is compared by value. The tag of a content is the value of
`type` in JSON. Types without a tag are fields of other types. `Open[Role]` means any text; [the values of
`Role`](reference-content.md#values-of-fields) are the known ones. A field without a default is required.
[Hints](hints.md) explains the hints in `extra`.
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
        "Text, reasoning, JSON, documents",
        "",
        (contents.TextContent, contents.ReasoningContent, contents.JsonContent, contents.DocumentContent),
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
    ("Parts of contents", "", (Protected, CachePoint, Citation, Span, Caller)),
    ("Messages", "", (ChatMessage, Branch, Origin)),
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
    index = meaning_of(BlockDelta, "index")
    lines += ["", f"All deltas have the field `index`: {index[0].lower()}{index[1:]}", ""]
    for kind in EVENT_TYPES:
        lines += [f"## {kind.__name__}", "", *_paragraphs(kind), *_table(members(kind))]
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
    """Return the docstring of a type as one line."""
    return _cell(" ".join((inspect.getdoc(kind) or "").split()))


def _paragraphs(kind: type[Struct]) -> Iterator[str]:
    """Yield the docstring of a type, one line for each paragraph."""
    for paragraph in (inspect.getdoc(kind) or "").split("\n\n"):
        yield from (" ".join(paragraph.split()), "")


def members(kind: type[Struct]) -> tuple[Member, ...]:
    """Return the fields that a type declares itself. Raise LookupError if a field has no meaning."""
    return tuple(
        Member(
            name,
            ast.unparse(field.annotation).replace("'", ""),
            None if field.value is None else _default(ast.unparse(field.value)),
            meaning_of(kind, name),
        )
        for name, (field, _) in _declared(kind).items()
    )


def meaning_of(kind: type[Struct], name: str) -> str:
    """Return the docstring of a field, from the type or its closest base class. Raise LookupError if none has one."""
    for base in kind.__mro__:
        if issubclass(base, Model) and (meaning := _declared(base).get(name, (None, ""))[1]):
            return meaning
    raise LookupError(f"{kind.__name__}.{name} has no docstring: write one below the field")


@cache
def _declared(kind: type[Struct]) -> dict[str, tuple[ast.AnnAssign, str]]:
    """Return the fields of the source of a class, each with its docstring as one line, or ""."""
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    return {
        node.target.id: (node, " ".join(_docstring(after).split()))
        for node, after in zip(tree.body, [*tree.body[1:], None], strict=True)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def _docstring(node: ast.stmt | None) -> str:
    value = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else ""
    return value if isinstance(value, str) else ""


def _default(text: str) -> str:
    return {"NO_CONTENTS": "[]"}.get(text, text).replace("'", '"')
