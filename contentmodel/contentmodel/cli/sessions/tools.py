"""Convert the calls of a session's tools: keep their names, use the target's tools, or write them as text."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from contentmodel.authoring import EncodeContext, reasons, report_result_records, reported_text
from contentmodel.cli.sessions.patches import patch_of, values_of
from contentmodel.cli.sessions.tool_table import MINOR, TOOLS, Tool
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.errors import ToolArgumentsError
from contentmodel.message import ChatMessage, contents_of
from contentmodel.request import ChatRequest

Call: TypeAlias = FunctionCallContent | CustomToolCallContent
C = TypeVar("C", bound=AIContent)

_SHELL_WORDS = 3
"""The number of words of a command line that runs a command in a shell: `bash -lc COMMAND`."""


def with_tools(request: ChatRequest, policy: str, context: EncodeContext, directory: str | None) -> ChatRequest:
    """Return a request with its calls and results converted by a policy ("keep", "map" or "text"). Report losses.

    `directory` is the project folder of the session: relative paths in arguments refer to it.
    """
    if policy == "keep":
        return request
    change = Translation(request, context, directory or "/").message if policy == "map" else Flattening(context).message
    return context.replace(request, messages=[change(message) for message in request.messages])


class Translation:
    """Replace calls of the source's tools, and their results, by those of the target's tools that do the same."""

    def __init__(self, request: ChatRequest, context: EncodeContext, directory: str) -> None:
        self._context, self._directory = context, directory
        source = None if request.origin is None else request.origin.api
        self._sources = [tool for tool in TOOLS if tool.api == source]
        self._targets = [tool for tool in TOOLS if tool.api == context.api]
        results = (content for content in contents_of(request.messages) if isinstance(content, ToolResultContent))
        self._results = {result.call_id: result for result in results}
        self._made: dict[str | None, AIContent] = {}
        """The new calls, by id."""

    def message(self, message: ChatMessage) -> ChatMessage:
        """Return a message with calls and results of the target's tools, where they do the same."""
        return self._context.with_contents(message, [self._content(content) for content in message.contents])

    def _content(self, content: AIContent) -> AIContent:
        if isinstance(content, Call):
            return self._call(content)
        if isinstance(content, FunctionResultContent | CustomToolResultContent):
            return self._result(content)
        return content

    def _call(self, call: Call) -> AIContent:
        for source in self._sources:
            values = _values(source, call) if source.name == call.name else None
            if values is None:
                continue
            for target in self._targets:
                translated = self._made_call(call, source, target, values) if target.action == source.action else None
                if translated is not None:
                    self._made[call.call_id] = translated
                    return translated
        return call

    def _made_call(self, call: Call, source: Tool, target: Tool, values: Mapping[str, Any]) -> AIContent | None:
        """Return the call of a target's tool; None if it does not do exactly the same."""
        result = self._results.get(call.call_id)
        if target.only_images and not _is_image(result):
            return None
        placed, unneeded = self._placed(values, target)
        arguments: dict[str, Any] | str | None
        if target.takes_patch:
            artifact = None if result is None else result.artifact
            arguments = None if "all" in placed else patch_of(target.action, placed, artifact)
        else:
            names = {value: name for name, value in target.arguments.items()}
            unneeded |= MINOR & (placed.keys() - names.keys())
            remaining = {value: argument for value, argument in placed.items() if value not in unneeded}
            arguments = (
                {names[value]: argument for value, argument in remaining.items()}
                if remaining.keys() <= names.keys()
                else None
            )
        if arguments is None:
            return None
        names_of_source = () if source.takes_patch else call.arguments_object
        lost = [name for name in names_of_source if name in source.ignored or source.arguments.get(name) in unneeded]
        self._report(call, target, lost, is_patch=source.takes_patch or target.takes_patch)
        kind = CustomToolCallContent if target.takes_patch else FunctionCallContent
        return self._context.replaced(call, _of_kind(call, kind, name=target.name, arguments=arguments))

    def _placed(self, values: Mapping[str, Any], target: Tool) -> tuple[dict[str, Any], set[str]]:
        """Return values with paths as a tool accepts them, and the names of values that were removed as defaults."""
        placed = dict(values)
        if target.absolute_paths:
            placed["path"] = posixpath.join(self._directory, placed["path"])
        if placed.get("directory") == self._directory:
            del placed["directory"]
            return placed, {"directory"}
        return placed, set()

    def _report(self, call: ToolCallContent, target: Tool, lost: list[str], *, is_patch: bool) -> None:
        self._context.report_loss(call, "name", reasons.TOOL_MAPPED, tool=target.name)
        if is_patch:
            self._context.report_loss(call, "arguments", reasons.TOOL_MAPPED, tool=target.name)
        for name in lost:
            self._context.report_loss(call, f"arguments$.{name}", reasons.TOOL_ARGUMENT, tool=target.name)

    def _result(self, result: FunctionResultContent | CustomToolResultContent) -> AIContent:
        call = self._made.get(result.call_id)
        if call is None:
            return result
        kind = CustomToolResultContent if isinstance(call, CustomToolCallContent) else FunctionResultContent
        name = None if result.name is None else getattr(call, "name", None)
        return self._context.replaced(result, _of_kind(result, kind, name=name))


def _of_kind(content: AIContent, kind: type[C], **changed: Any) -> C:
    """Return a call or a result as an object of another class, with some fields changed."""
    fields = {name: getattr(content, name) for name in content.__struct_fields__ if name in kind.__struct_fields__}
    return kind(**{**fields, **changed})


def _values(tool: Tool, call: ToolCallContent) -> dict[str, Any] | None:
    """Return the values of the action of a call; None if the table does not have all of its arguments."""
    if tool.takes_patch:
        return values_of(call.arguments, tool.action) if isinstance(call.arguments, str) else None
    try:
        arguments = call.arguments_object
    except ToolArgumentsError:
        return None
    values = {}
    for name, value in arguments.items():
        value_name = tool.arguments.get(name)
        if value_name is not None:
            values[value_name] = _command(value) if value_name == "command" else value
        elif name not in tool.ignored and value not in (None, False):
            return None
    required = {
        value_name for value_name in tool.arguments.values() if value_name not in ("all", "directory", "timeout")
    }
    if not all(isinstance(values.get(value_name), str) for value_name in required):
        return None
    return {value_name: value for value_name, value in values.items() if value not in (None, False)}


def _command(value: Any) -> Any:
    """Return a command as one text. Older versions of Codex split the command line of the shell into words."""
    if isinstance(value, list) and len(value) == _SHELL_WORDS and value[1] in ("-lc", "-c"):
        return value[2]
    return value


def _is_image(result: ToolResultContent | None) -> bool:
    outputs = [] if result is None else result.output_list
    return any(isinstance(output, DataContent) and (output.media_type or "").startswith("image/") for output in outputs)


class Flattening:
    """Replace calls and results by text."""

    def __init__(self, context: EncodeContext) -> None:
        self._context = context
        self._names: dict[str | None, str] = {}

    def message(self, message: ChatMessage) -> ChatMessage:
        """Return a message with text in place of calls and results. A message of the role "tool" becomes the user's."""
        contents = [flat for content in message.contents for flat in self._contents(content)]
        changed = self._context.with_contents(message, contents)
        return self._context.replace(changed, role="user") if changed.role == "tool" else changed

    def _contents(self, content: AIContent) -> Iterator[AIContent]:
        if isinstance(content, ToolCallContent):
            name = self._names[content.call_id] = content.name or "a tool"
            self._report(content, "name", "arguments")
            yield self._context.replaced(content, TextContent(text=f"[Call of {name}: {content.arguments_text}]"))
        elif isinstance(content, ToolResultContent):
            yield from self._result(content)
        else:
            yield content

    def _result(self, result: ToolResultContent) -> Iterator[AIContent]:
        name = result.name or self._names.get(result.call_id, "a tool")
        self._report(result, "name", "is_error", "outputs")
        report_result_records([result], (), self._context)
        failed = " (failed)" if result.error is not None else ""
        media = [output for output in result.output_list if isinstance(output, DataContent)]
        texts = [
            reported_text(output, self._context) for output in result.output_list if not isinstance(output, DataContent)
        ]
        text = f"[Result of {name}{failed}:]\n" + "\n".join(texts)
        yield self._context.replaced(result, TextContent(text=text))
        yield from media

    def _report(self, content: AIContent, *written: str) -> None:
        """Report the fields in `written` as converted to text, and the other fields as lost."""
        for name in written:
            if getattr(content, name) not in (None, []):
                self._context.report_loss(content, name, reasons.AS_TEXT)
        self._context.report_rest(content, *written)
