"""The classes of the calls and results of tools that APIs define, by the kind of tool, such as `web_search`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import EncodeContext, is_native, reasons, transcript_step
from contentmodel.content import CONTENT_TYPES
from contentmodel.content.base import content_tag
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent, ToolCallContent
from contentmodel.message import ChatMessage


def _by_kind(base: type[Any], ending: str) -> dict[str, type[Any]]:
    return {content_tag(kind.__name__).removesuffix(ending): kind for kind in CONTENT_TYPES if issubclass(kind, base)}


CALLS = _by_kind(HostedToolCallContent, "_tool_call")
RESULTS = _by_kind(HostedToolResultContent, "_tool_result")
OTHER = "hosted"
"""The kind of a tool without classes of its own: its call is a `HostedToolCallContent`."""
BY_PROVIDER = tuple(kind for kind, model in CALLS.items() if model().executor == "provider")
"""The kinds of the tools that providers run."""
KIND_OF = {model: kind for kinds in (CALLS, RESULTS) for kind, model in kinds.items()}


def with_class(content: Any, kind: type[Any]) -> Any:
    """Return a call or a result as a value of another class, with the fields that both classes have."""
    names = [name for name in content.__struct_fields__ if name in kind.__struct_fields__]
    return kind(**{name: getattr(content, name) for name in names})


def without_lone_names(
    messages: list[ChatMessage], context: EncodeContext, is_own: Callable[[ChatMessage], bool] = lambda message: False
) -> list[ChatMessage]:
    """Return the messages. Results whose calls have other names, or are missing, lose theirs: only calls have names.

    `is_own` returns whether a message of another origin was decoded from the format.
    """
    contents: list[Any] = [content for message in messages for content in message.contents]
    names = {call.call_id: call.name for call in contents if isinstance(call, ToolCallContent)}
    for message in messages:
        others: list[Any] = [] if is_native(message, context) or is_own(message) else message.contents
        for content in others:
            is_named = isinstance(content, HostedToolResultContent) and content.name
            if is_named and names.get(content.call_id) != content.name:
                context.report_loss(content, "name", reasons.NO_FIELD)
    return messages


def names_in_calls(**settings: Any) -> Any:
    """Return the step of formats whose results of hosted tools have no names."""
    return transcript_step(without_lone_names, needs=tuple(RESULTS.values()), **settings)
