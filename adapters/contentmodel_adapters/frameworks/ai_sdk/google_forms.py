"""Gemini's parts of hosted tools in the parts of the AI SDK.

Source: `google-language-model.ts` and `convert-to-google-messages.ts` of @ai-sdk/google 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from contentmodel.authoring import Form, forms, guests
from contentmodel_adapters.frameworks.ai_sdk.spelling import (
    ID,
    OBJECT,
    SPELLED,
    Fields,
    Spelling,
    at_path,
    either,
    name_of,
)

_OF_GOOGLE = ("google", "googleVertex", "vertex")
"""The names of the provider."""


def google(spelling: Spelling) -> list[Form]:
    """Return the forms of the parts of generateContent of tools that Gemini runs."""
    call_adds, result_adds = spelling.names("code_execution")
    named_adds = {**call_adds, "toolCallId": lambda part: at_path(part, "input.id")}
    ran: Fields = {"input.language": ("executableCode.language", ID), "input.code": ("executableCode.code", ID)}
    printed: Fields = {
        f"{spelling.value}.outcome": ("codeExecutionResult.outcome", SPELLED),
        f"{spelling.value}.output": ("codeExecutionResult.output", _Printed(str)),
    }
    # Some parts have ids.
    ran_named, printed_named = {"input.id": ("executableCode.id", ID)}, {"toolCallId": ("codeExecutionResult.id", ID)}
    call, result = spelling.call, spelling.result
    signed, signed_result = (
        either([at], _OF_GOOGLE, "thoughtSignature", "thoughtSignature", required=False, repeats=False)
        for at in (spelling.of_call, spelling.of_result)
    )
    call_fields = {"input": ("toolCall.args", OBJECT), **_server_tool(spelling.of_call, "toolCall")}
    response_fields = {
        spelling.value: ("toolResponse.response", _Response(dict)),
        **_server_tool(spelling.of_result, "toolResponse"),
    }

    def name(part: Fields) -> str:
        return f"server:{_server_type(part, spelling)}"

    tool_adds = {"toolName": name} if spelling.is_split else {"type": "dynamic-tool", "toolName": name}
    return [
        Form("named_code.call", call, {}, {**ran, **ran_named, **signed}, adds=named_adds),
        Form("code.call", call, {}, {**ran, **signed}, adds=call_adds),
        Form("named_code.result", result, {}, {**printed, **printed_named, **signed_result}, adds=result_adds),
        Form("code.result", result, {}, {**printed, **signed_result}, adds=result_adds),
        Form("tool.call", call, {}, {**call_fields, **signed}, adds=tool_adds),
        Form(
            "tool.result",
            result,
            {},
            {**response_fields, **signed_result},
            adds={"toolName": name} if spelling.is_split else {},
        ),
    ]


def _server_tool(at: str, key: str) -> Fields:
    return {
        **either([at], _OF_GOOGLE, "serverToolCallId", f"{key}.id"),
        **either([at], _OF_GOOGLE, "serverToolType", f"{key}.toolType"),
    }


class _Printed(forms.Leaf):
    """The output of code. A part has an empty text if there is none."""

    part_default = ""
    keeps = True


class _Response(forms.Leaf):
    """The response of a tool. A part has an empty object if there is none."""

    part_default: Fields = {}


def gemini_parts(spelling: Spelling) -> guests.Groups:
    """Return a function that yields each part of a tool of Gemini, with or without its other half."""

    def groups(parts: Sequence[Fields], is_named: Callable[[Fields], bool]) -> Iterator[guests.Group]:
        paired, _ = spelling.pairs_in(parts)
        calls = dict(spelling.calls_in(parts))
        codes = {at for at, part in calls.items() if name_of(part) == "code_execution"}
        codes |= {paired[at] for at in codes if at in paired}
        named = {part["toolCallId"] for part in calls.values() if at_path(part, "input.id") is not None}
        for at, part in enumerate(parts):
            if part.get("toolCallId").__class__ is not str:
                continue
            if _server_type(part, spelling) is not None:
                yield guests.Group(part, {"": at}, tool="tool")
            elif at in codes or (at not in calls and part.get("toolName") == "code_execution"):
                yield guests.Group(part, {"": at}, tool="named_code" if part.get("toolCallId") in named else "code")

    return groups


def _server_type(part: Fields, spelling: Spelling) -> Any:
    types = (
        at_path(part, f"{at}.{provider}.serverToolType")
        for at in (spelling.of_call, spelling.of_result)
        for provider in _OF_GOOGLE
    )
    return next((kind for kind in types if kind is not None), None)
