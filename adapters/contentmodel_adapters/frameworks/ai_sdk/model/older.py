"""The rows of parts of version 4 of the AI SDK, whose fields have other names: `args`, `result`, `mimeType`.

Stored conversations have such "core messages". They are read, and written back in the same form. Source:
the type declarations of ai 4.3, `ToolCallPart` and `ToolResultPart` (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    ArgumentsObjectOrText,
    Codec,
    DataUri,
    Field,
    Filled,
    Implied,
    Required,
    Row,
    Silent,
    Spec,
    hints,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel_adapters.frameworks.ai_sdk.parts import STATES, AnyResult, Base64, DataUrl, has_type

CALL, RESULT = "Function.4", "Function.result.4"
"""The names of the rows of calls, and of results with one value."""
IMAGE = Row(
    "image",
    DataContent,
    {"data": ("data", Required()), "mimeType": "media_type"},
    constants={"type": "image"},
)
"""The row of an image among the contents of a result."""


def is_call(part: Mapping[str, Any]) -> bool:
    """Return whether a call has the fields of version 4."""
    return "input" not in part and "args" in part


def form_of_result(part: Mapping[str, Any]) -> str | None:
    """Return the ending of the name of a result's row; None if it has no field of version 4."""
    if part.get("experimental_content").__class__ is list:
        return "contents.4"
    return "result.4" if "result" in part else None


def is_result(result: Any, api: str) -> bool:
    """Return whether a result was read from the fields of version 4."""
    return (hints.ROW.of(result, api) or "").endswith(".4")


def fits(result: Any, api: str) -> bool:
    """Return whether the row that decoded a result of version 4 can encode its outputs."""
    if hints.ROW.of(result, api) != RESULT:
        return True
    return len(result.outputs) < 2 and all(output.__class__ in (TextContent, JsonContent) for output in result.outputs)


def _has_media_type(part: Mapping[str, Any]) -> bool:
    return "mediaType" not in part and part.get("mimeType").__class__ is str


def _media(name: str, at: str, fields: Mapping[str, Spec], *of_link: Field) -> list[Row]:
    """Return the rows of files or images, whose data or link is the field `at`."""
    has_data_url = has_type(at, "mimeType")

    def row_of(form: str, model: type[Any], data_fields: dict[str, Spec], *others: Field, is_url: bool = False) -> Row:
        def accepts(part: Mapping[str, Any]) -> bool:
            return _has_media_type(part) and (not is_url or has_data_url(part))

        return Row(
            f"{name}.{form}.4", model, {**data_fields, **fields}, *others, constants={"type": name}, accepts=accepts
        )

    typed: dict[str, Spec] = {"mimeType": "media_type"}
    return [
        row_of("base64", DataContent, {at: ("data", Base64()), **typed}),
        row_of("url", DataContent, {at: ("data", DataUrl()), **typed}, is_url=True),
        row_of("typed", DataContent, {at: (("media_type", "data"), DataUri())}),
        row_of("link", UriContent, {at: ("uri", Required()), **typed}, *of_link),
    ]


def reasoning() -> list[Row]:
    """Return the rows of reasoning."""
    return [
        Row(
            "reasoning.4",
            ReasoningContent,
            {"text": "text", "signature": ("protected", STATES["anthropic.signature"])},
            Filled({"text": ""}),
            constants={"type": "reasoning"},
        ),
        Row(
            "redacted-reasoning",
            ReasoningContent,
            {"data": ("protected", STATES["anthropic.redactedData"])},
            Silent("text"),
            constants={"type": "redacted-reasoning"},
        ),
    ]


def files(cached: Mapping[str, Spec]) -> list[Row]:
    """Return the rows of files."""
    return _media("file", "data", {"filename": "name", **cached}, Silent("kind"))


def images(cached: Mapping[str, Spec]) -> list[Row]:
    """Return the rows of images."""
    return _media("image", "image", cached, Implied({"kind": "image"}))


def call(cached: Mapping[str, Spec]) -> Row:
    """Return the row of a call."""
    fields: dict[str, Spec] = {
        "toolCallId": "call_id",
        "toolName": "name",
        "args": ("arguments", ArgumentsObjectOrText()),
        **cached,
    }
    filled = Filled({"toolCallId": "", "toolName": "", "args": {}})
    return Row(CALL, FunctionCallContent, fields, filled, Silent("status"), constants={"type": "tool-call"})


def results(parts: Codec[Any], cached: Mapping[str, Spec]) -> list[Row]:
    """Return the rows of results: with one value, and with contents for the model. `parts` is the codec of contents."""
    fields: dict[str, Spec] = {"toolCallId": "call_id", "toolName": "name", "isError": "is_error", **cached}
    constants = {"type": "tool-result"}
    value: dict[str, Spec] = {"result": ("outputs", AnyResult())}
    # The model gets the contents. The value beside them stays in the residue.
    contents: dict[str, Spec] = {"experimental_content": ("outputs", parts)}

    def row_of(name: str, outputs: dict[str, Spec]) -> Row:
        filled = Filled({"toolCallId": "", "toolName": ""})
        return Row(name, FunctionResultContent, {**fields, **outputs}, filled, Silent("outcome"), constants=constants)

    return [row_of(RESULT, value), row_of("Function.contents.4", contents)]
