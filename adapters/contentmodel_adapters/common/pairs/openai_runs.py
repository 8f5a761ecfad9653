"""Patches, shells and programs of OpenAI that the AI SDK keeps. They become items of the Responses API again.

A call that the application runs is one of OpenAI's tools if it has the id of such an item: without the definition of
the tool, the model did not make it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import Any

from contentmodel.authoring import EncodeContext, object_of, reasons
from contentmodel.content.tools import (
    Caller,
    FunctionCallContent,
    FunctionResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.interop.front_ends import arguments_of
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.pairs.ai_sdk_openai import RESPONSES, item_id_of
from contentmodel_adapters.common.pairs.ai_sdk_openai_runs import OF_PREFIX, PATCH, PROGRAM, call_item, result_item
from contentmodel_adapters.common.pairs.kept_results import (
    MODEL_MESSAGES,
    SDK_FORMATS,
    UI_MESSAGES,
    decoded,
    is_hosted,
    is_kept,
    json_of,
    with_own,
    without_values,
)

_METADATA = {UI_MESSAGES: "callProviderMetadata", MODEL_MESSAGES: "providerOptions"}
"""The field of calls with the values of providers, by format."""


def with_runs_of_openai(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose patches, shells and programs that the AI SDK keeps are those of the Responses API.

    A call that the application runs is changed if its result has the form of the tool. A program without a result
    stays if it made other calls: it waits for their results.
    """
    if context.policies.get("hosted_tools", "function") != "function":
        return request
    are_kept = [is_kept(message, SDK_FORMATS, context) for message in request.messages]
    runs = _Runs(list(compress(request.messages, are_kept)), context)
    messages = [
        context.with_contents(message, [runs.made.get(id(content), content) for content in message.contents])
        if is_changed and runs.made
        else message
        for message, is_changed in zip(request.messages, are_kept, strict=True)
    ]
    return context.with_messages(request, messages)


class _Runs:
    """The calls and results of a conversation that are OpenAI's own."""

    def __init__(self, messages: list[ChatMessage], context: EncodeContext) -> None:
        self._context = context
        self.made: dict[int, Any] = {}
        """The contents of the API, by the identity of those that they replace."""
        callers: dict[str | None, Caller] = {}
        calls: dict[str | None, tuple[Any, str]] = {}
        programs: dict[str | None, tuple[Any, str]] = {}
        done: set[str | None] = set()
        for content, api in _contents_of(messages):
            if isinstance(content, FunctionCallContent):
                calls[content.call_id] = (content, api)
                if content.caller is not None and content.caller.kind == "program":
                    callers[content.call_id] = content.caller
            elif is_hosted(content, ToolCallContent) and content.name == PROGRAM:
                programs[content.call_id] = (content, api)
            elif isinstance(content, FunctionResultContent):
                if content.call_id in calls:
                    self._pair(*calls.pop(content.call_id), content)
                if content.call_id in callers and content.caller is None:
                    self.made[id(content)] = context.replace(content, caller=callers[content.call_id])
            elif is_hosted(content, ToolResultContent):
                done.add(content.call_id)
        for caller in callers.values():
            if caller.call_id in programs and self._is_sent(*programs[caller.call_id], is_done=caller.call_id in done):
                context.own_contents[id(caller)] = caller

    def _pair(self, call: FunctionCallContent, api: str, result: FunctionResultContent) -> None:
        item_id = _item_id(call, api)
        tool = OF_PREFIX.get(str(item_id).partition("_")[0], PROGRAM)
        only: Any = result.output_list[0] if len(result.output_list) == 1 else None
        value = json_of(getattr(only, "value", getattr(only, "text", None)))
        if tool == PROGRAM or result.is_error or call.call_id is None:
            return
        items = (
            call_item(tool, call.call_id, item_id, arguments_of(call)),
            result_item(tool, call.call_id, None, value),
        )
        if None not in items:
            if tool == PATCH:
                self._context.report_loss(call, "arguments$.callId", reasons.REPEATED_CALL)
            self._make(call, items[0], api, executor="client")
            self._make(result, items[1], api, executor="client")

    def _is_sent(self, program: Any, api: str, *, is_done: bool) -> bool:
        """Return whether the API gets a program. One without a result is changed here."""
        item = call_item(PROGRAM, program.call_id, _item_id(program, api), arguments_of(program))
        if item is not None and not is_done and id(program) not in self.made:
            self._make(program, item, api)
        return item is not None

    def _make(self, old: Any, item: Any, api: str, **changes: Any) -> None:
        new = decoded(RESPONSES, {"input": [item]})[0]
        own = (old.extra or {}).get(api, {})
        residue = {api: without_values(own, _METADATA[api], ("itemId",))} if isinstance(old, ToolCallContent) else None
        if old.name is not None and new.name != old.name:
            self._context.report_loss(old, "name", reasons.FIXED_NAME)
        self.made[id(old)] = with_own(old, new, self._context, residue, **changes)


def _contents_of(messages: list[ChatMessage]) -> Iterator[tuple[Any, str]]:
    for message in messages:
        for content in message.contents:
            yield content, "" if message.origin is None else message.origin.api


def _item_id(call: ToolCallContent, api: str) -> Any:
    return item_id_of(object_of((call.extra or {}).get(api, {}), _METADATA[api]))
