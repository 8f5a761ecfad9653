"""Contents to try: the forms of each content type, and a value for each of its optional fields.

Owns the values. They are simple and suit every API, so that a loss is caused by the type and not by the value.
Independent of adapters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from contentmodel import content as contents
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.citations import Citation, Span
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import (
    CodeInterpreterToolCallContent,
    ComputerUseToolCallContent,
    ComputerUseToolResultContent,
    FileSearchToolResultContent,
    ImageGenerationToolResultContent,
    McpListToolsToolResultContent,
    ShellToolCallContent,
    ToolSearchToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import CompactionContent, ErrorContent, ToolChangeContent, UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import Caller, CustomToolCallContent, ToolCallContent, ToolResultContent
from contentmodel.usage import Usage

__all__ = ["IMAGE", "Form", "fields_of", "forms", "with_field"]

# One white pixel: an image that every provider accepts.
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg=="
_PDF = "JVBERi0xLjQKJSVFT0YK"
_SOUND = "UklGRiQAAABXQVZFZm10IA=="
_VIDEO = "AAAAGGZ0eXBtcDQyAAAAAG1wNDI="
_DATA = "b3BhcXVlLXN0YXRl"

_TEXT = TextContent(text="18 degrees, cloudy.")
_PICTURE = DataContent(data=IMAGE, media_type="image/png")
_PAGE = UriContent(uri="https://example.org/weather", title="Weather")
_FILE = HostedFileContent(file_id="file_0123456789", name="weather.csv")
_TOOL = {"type": "function", "name": "lookup", "description": "Looks it up.", "parameters": {"type": "object"}}


# Not tried as fields: residue belongs to one API; APIs represent status and executor differently; ids and outputs are
# in every form.
_ELSEWHERE = frozenset({"extra", "executor", "status", "outputs", "call_id"})


class Form(NamedTuple):
    """One form of a content type: a readable name, and a content."""

    name: str
    content: AIContent


def forms(kind: type[AIContent], api: str, issuer: str) -> list[Form]:
    """Return the forms of a content type. Opaque state and unknown blocks come from `api` and its `issuer`."""
    make_fields = _FORMS.get(kind)
    if make_fields is not None:
        return [Form(name, kind(**fields)) for name, fields in make_fields(api, issuer).items()]
    if issubclass(kind, ToolCallContent):
        arguments = _ARGUMENTS.get(kind, {"query": "weather in Paris"})
        return [Form("a call", kind(call_id="call_0123456789", name=tool_name(kind), arguments=arguments))]
    if issubclass(kind, ToolResultContent):
        return [Form(name, _result(kind, fields)) for name, fields in _results_of(kind).items()]
    return [Form("as it is", kind(**_least(kind)))]


def fields_of(kind: type[AIContent]) -> tuple[str, ...]:
    """Return the optional fields of a type to try one by one: all that its forms do not cover."""
    covered = _VARIED.get(kind, frozenset()) | _ELSEWHERE
    if issubclass(kind, ToolResultContent):
        # Its name and caller are set on its call.
        covered |= {"name", "caller"}
    if issubclass(kind, ToolCallContent):
        covered |= {"name"}
    required = {field.name for field in msgspec.structs.fields(kind) if field.required}
    return tuple(name for name in kind.__struct_fields__ if name not in covered | required)


def with_field(form: Form, name: str, issuer: str) -> list[Form]:
    """Return variants of the form with one more field set; [] if the form has that value, or no value is known."""
    variants: dict[str, Any]
    if name == "protected":
        variants = {name: _opaque_state(issuer, "signature")}
    elif name == "annotations":
        variants = {f"{name} ({variant})": [citation] for variant, citation in _CITATIONS.items()}
    elif name == "arguments":
        variants = {f"{name} as text": _FIELDS[name]}
    else:
        variants = {name: _FIELDS[name]} if name in _FIELDS else {}
    return [
        Form(label, msgspec.structs.replace(form.content, **{name: value}))
        for label, value in variants.items()
        if getattr(form.content, name) != value
    ]


def tool_name(kind: type[AIContent]) -> str:
    tag = contents.base.content_tag(kind.__name__)
    name = tag.removesuffix("_tool_call").removesuffix("_tool_result").removesuffix("_result").removesuffix("_call")
    return "lookup" if name in ("function", "custom_tool", "hosted", "custom") else name


def _result(kind: type[AIContent], outputs: list[Any]) -> AIContent:
    more: dict[str, Any] = (
        {"tools": [_TOOL]} if kind in (ToolSearchToolResultContent, McpListToolsToolResultContent) else {}
    )
    return kind(call_id="call_0123456789", outputs=outputs, **more)  # type: ignore[call-arg]


def _results_of(kind: type[AIContent]) -> dict[str, list[Any]]:
    outputs = _OUTPUTS.get(kind)
    if outputs is not None:
        return outputs
    return {"with text": [_TEXT], "with an image": [_PICTURE]}


def _opaque_state(issuer: str, kind: str) -> Protected:
    return Protected(issuer=issuer, kind=kind, data=_DATA)


def _least(kind: type[AIContent]) -> dict[str, Any]:
    """Return the required fields of a type that has no forms here."""
    return {
        field.name: True if field.type is bool else f"{field.name}_0123456789"
        for field in msgspec.structs.fields(kind)
        if field.required
    }


def _reasoning(api: str, issuer: str) -> dict[str, dict[str, Any]]:
    return {
        "thoughts": {"text": "The user wants the weather."},
        "signed thoughts": {"text": "The user wants the weather.", "protected": _opaque_state(issuer, "signature")},
        "encrypted": {"protected": _opaque_state(issuer, "encrypted")},
        "redacted": {"protected": _opaque_state(issuer, "redacted")},
        "encrypted, with a summary": {
            "text": "About the weather.",
            "kind": "summary",
            "protected": _opaque_state(issuer, "encrypted"),
        },
    }


def _unknown(api: str, issuer: str) -> dict[str, dict[str, Any]]:
    block = {"type": "block_of_tomorrow", "blockOfTomorrow": {"text": "new"}}
    return {"a block of its own API": {"api": api, "block": block}}


_FORMS: dict[type[AIContent], Any] = {
    TextContent: lambda api, issuer: {"words": {"text": "What is the weather in Paris?"}},
    ReasoningContent: _reasoning,
    JsonContent: lambda api, issuer: {"an object": {"value": {"temperature": 18, "sky": ["cloudy"]}}},
    DataContent: lambda api, issuer: {
        "an image": {"data": IMAGE, "media_type": "image/png"},
        "a PDF": {"data": _PDF, "media_type": "application/pdf", "name": "weather.pdf"},
        "a text document": {"text": "18 degrees, cloudy.", "media_type": "text/plain"},
        "a sound": {"data": _SOUND, "media_type": "audio/wav"},
        "a video": {"data": _VIDEO, "media_type": "video/mp4"},
    },
    UriContent: lambda api, issuer: {
        "of an image": {"uri": "https://example.org/sky.png", "media_type": "image/png"},
        "of a PDF": {"uri": "https://example.org/weather.pdf", "media_type": "application/pdf"},
        "of a paper": {"uri": "https://example.org/papers/7", "kind": "document"},
        "of a page": {"uri": "https://example.org/weather", "title": "Weather"},
    },
    HostedFileContent: lambda api, issuer: {
        "a file": {"file_id": "file_0123456789"},
        "an image": {"file_id": "file_0123456789", "media_type": "image/png"},
        "a PDF": {"file_id": "file_0123456789", "media_type": "application/pdf"},
        "a picture": {"file_id": "file_0123456789", "kind": "image"},
    },
    DocumentContent: lambda api, issuer: {
        "a text in blocks": {"parts": [_TEXT], "title": "Weather"},
        "a search result": {"parts": [_TEXT], "title": "Weather", "uri": "https://example.org/weather"},
    },
    ErrorContent: lambda api, issuer: {
        "a failure": {"message": "The station is down.", "code": "unavailable"},
        "a refusal": {"message": "I cannot help with that.", "code": "refusal"},
    },
    contents.outcomes.UsageContent: lambda api, issuer: {"counts": {"usage": Usage(input_tokens=3, output_tokens=5)}},
    CompactionContent: lambda api, issuer: {
        "a summary": {"text": "They spoke of the weather."},
        "opaque": {"protected": _opaque_state(issuer, "encrypted")},
    },
    ToolChangeContent: lambda api, issuer: {
        "tools added": {"action": "add", "tools": [_TOOL]},
        "tools removed": {"action": "remove", "tools": [_TOOL]},
    },
    UnknownContent: _unknown,
    contents.outcomes.ConfigurationContent: lambda api, issuer: {
        "an effort": {"kind": "configuration_update", "settings": {"reasoning": {"effort": "low"}}}
    },
    CustomToolCallContent: lambda api, issuer: {
        "a call": {"call_id": "call_0123456789", "name": "lookup", "arguments": "weather in Paris"}
    },
    contents.tools.ToolApprovalRequestContent: lambda api, issuer: {
        "a question": {
            "request_id": "mcpr_0123456789",
            "name": "lookup",
            "server": "weather",
            "arguments": {"city": "Paris"},
        }
    },
}
_VARIED: dict[type[AIContent], frozenset[str]] = {
    ReasoningContent: frozenset({"text", "protected"}),
    DataContent: frozenset({"data", "text", "media_type"}),
    UriContent: frozenset({"media_type", "kind"}),
    HostedFileContent: frozenset({"media_type", "kind"}),
    DocumentContent: frozenset({"parts"}),
    ErrorContent: frozenset({"message", "code"}),
    CompactionContent: frozenset({"text", "protected"}),
    ToolChangeContent: frozenset({"tools"}),
    UnknownContent: frozenset({"block", "annotations", "protected"}),
    contents.outcomes.ConfigurationContent: frozenset({"settings"}),
    ToolSearchToolResultContent: frozenset({"tools"}),
    McpListToolsToolResultContent: frozenset({"tools"}),
}

# Arguments of these tools, in the format of the APIs that have them.
_ARGUMENTS: dict[type[AIContent], Any] = {
    contents.tools.FunctionCallContent: {"city": "Paris"},
    WebSearchToolCallContent: {"query": "weather in Paris"},
    CodeInterpreterToolCallContent: {"code": "print(18)"},
    ShellToolCallContent: {"command": "date"},
    ComputerUseToolCallContent: {"action": {"type": "screenshot"}},
}
_OUTPUTS: dict[type[AIContent], dict[str, list[Any]]] = {
    contents.tools.FunctionResultContent: {
        "with text": [_TEXT],
        "with an image": [_PICTURE],
        "with an error": [ErrorContent(message="The station is down.")],
    },
    WebSearchToolResultContent: {"with pages": [_PAGE]},
    contents.hosted.MapsToolResultContent: {"with pages": [_PAGE]},
    contents.hosted.UrlContextToolResultContent: {"with pages": [_PAGE]},
    ImageGenerationToolResultContent: {"with an image": [_PICTURE]},
    ComputerUseToolResultContent: {"with an image": [_PICTURE]},
    FileSearchToolResultContent: {"with a file": [_FILE], "with text": [_TEXT]},
    ToolSearchToolResultContent: {"with tools": []},
    McpListToolsToolResultContent: {"with tools": []},
}

_CITATIONS = {
    "a page": Citation(span=Span(start=0, end=4), url="https://example.org/weather", title="Weather"),
    "a quote of a page": Citation(url="https://example.org/weather", title="Weather", cited_text="18 degrees"),
    "a place in a document": Citation(
        document_index=0, title="Weather", location=Span(start=0, end=10, unit="char"), cited_text="18 degrees"
    ),
    "a tool's result": Citation(span=Span(start=0, end=4), call_id="call_0123456789"),
    "a file": Citation(span=Span(start=0, end=4), file_id="file_0123456789", filename="weather.csv"),
}
_FIELDS: dict[str, Any] = {
    "cache_point": contents.CachePoint(),
    "is_error": True,
    "outcome": "timed_out",
    "artifact": {"rows": [18]},
    "caller": Caller(kind="direct"),
    "name": "weather.png",
    "title": "Weather",
    "detail": "low",
    "text": "18 degrees, cloudy.",
    "uri": "https://example.org/weather",
    "transcript": "18 degrees.",
    "details": {"station": "Paris"},
    "server": "weather",
    "namespace": "weather",
    "reason": "Not today.",
    "message": "Which city?",
    "schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    "value": {"city": "Paris"},
    "arguments": '{"city": "Paris"}',
    "kind": "summary",
}
