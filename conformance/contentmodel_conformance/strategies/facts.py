"""Short requests with one thing that few requests have: a fact of the census is the only one that a step needs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import contentmodel
from contentmodel import (
    AIContent,
    ChatChoice,
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Citation,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    Protected,
    ReasoningContent,
    TextContent,
    UriContent,
)
from contentmodel.content import CONTENT_TYPES, DocumentContent, HostedToolResultContent, JsonContent, Span
from contentmodel.content.tools import (
    CustomToolResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
)
from contentmodel.engine.pipeline.sentinels import first_seal
from contentmodel.engine.pipeline.steps import CONTINUE
from contentmodel.message import Branch
from contentmodel.request import CustomTool, HostedTool, ToolGroup
from contentmodel_conformance.strategies.model import SETTINGS, structs

__all__ = ["rare_answers", "rare_requests"]


class _Note(TextContent, frozen=True, kw_only=True):
    """A content of an application's own class."""


_TEXT, _CITED = (
    TextContent(text="Sunny."),
    [Citation(url="https://example.org/a", title="A", span=Span(start=0, end=3))],
)
_SOURCE = Citation(url="https://example.org/a", title="A")
_LINK = UriContent(uri="https://example.org/a.png", media_type="image/png", name="a")
_SIGNED = Protected(issuer="x", kind="signature", data="eA==")
_CALL = FunctionCallContent(call_id="call_1", name="look", arguments={"city": "Oslo"})
_RESULT = FunctionResultContent(call_id="call_1", name="look", outputs=[_TEXT])
_CLIENTS = (FunctionResultContent, CustomToolResultContent)
_OF_MODELS = (ToolCallContent, ReasoningContent, HostedToolResultContent)
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "minLength": 1}}}
_FUNCTION = FunctionTool(name="look", parameters=_SCHEMA)
_replace = msgspec.structs.replace


def rare_requests() -> Mapping[str, SearchStrategy[ChatRequest]]:
    """Return strategies of requests, by what is rare in them. No request has an origin."""
    return {
        **{f"content {kind.__name__}": _drawn(kind).map(_with_content) for kind in CONTENT_TYPES},
        **{f"output {kind.__name__}": _drawn(kind).map(_with_output) for kind in CONTENT_TYPES},
        **{f"part {kind.__name__}": _drawn(kind).map(_with_part) for kind in CONTENT_TYPES},
        **{name: st.just(_with_content(content)) for name, content in _CONTENTS.items()},
        **{name: st.just(_with(message)) for name, message in _MESSAGES.items()},
        **{name: st.just(request) for name, request in _REQUESTS.items()},
        **{f"option {name}": values.map(partial(_with_option, name)) for name, values in SETTINGS.items()},
        **{f"extra {api}": st.just(_replace(_with(), extra={api: {"x": 1}})) for api in contentmodel.adapters()},
    }


def rare_answers() -> Mapping[str, SearchStrategy[ChatResponse]]:
    """Return strategies of answers, by what is rare in them. No answer has an origin."""
    rare = {kind.__name__: _drawn(kind) for kind in CONTENT_TYPES} | {n: st.just(c) for n, c in _CONTENTS.items()}
    return {
        **{name: contents.map(lambda content: _answer([content])) for name, contents in rare.items()},
        **{
            f"{name} after a text": contents.map(lambda content: _answer([_TEXT, content]))
            for name, contents in rare.items()
        },
    }


def _answer(contents: list[AIContent]) -> ChatResponse:
    messages = [ChatMessage(role="assistant", contents=contents)]
    return ChatResponse(id="answer_1", model="m", choices=[ChatChoice(messages=messages)])


def _with(*messages: ChatMessage) -> ChatRequest:
    return ChatRequest(model="m", messages=[contentmodel.user("Hello."), *messages, contentmodel.user("And now?")])


def _with_content(content: AIContent) -> ChatRequest:
    role = "tool" if isinstance(content, _CLIENTS) else "assistant" if isinstance(content, _OF_MODELS) else "user"
    return _with(ChatMessage(role=role, contents=[content]))


def _with_output(content: AIContent) -> ChatRequest:
    result = _replace(_RESULT, outputs=[content])
    return _with(ChatMessage(role="assistant", contents=[_CALL]), ChatMessage(role="tool", contents=[result]))


def _with_part(content: AIContent) -> ChatRequest:
    return _with_content(DocumentContent(parts=[content]))


def _with_option(name: str, value: Any) -> ChatRequest:
    return _replace(_with(), options=ChatOptions(**{name: value}), tools=[_FUNCTION] if "tool" in name else [])


def _drawn(kind: type[AIContent]) -> SearchStrategy[Any]:
    """Return a strategy of contents of a type, with an id if they are calls or results."""
    return structs(kind, 2).map(_with_id)


def _with_id(content: Any) -> Any:
    usual = {"call_id": "call_1", "name": "look", "text": "Sunny."}
    empty = {name: text for name, text in usual.items() if getattr(content, name, text) in ("", None)}
    empty = {name: text for name, text in empty.items() if name in content.__struct_fields__}
    if getattr(content, "executor", "client") not in ("client", "provider"):
        empty["executor"] = "client"
    return _replace(content, **empty) if empty else content


_CONTENTS: dict[str, AIContent] = {
    "cited text": _replace(_TEXT, annotations=_CITED),
    "citations alone": TextContent(text="", annotations=_CITED),
    "signed text": _replace(_TEXT, protected=_SIGNED),
    "signed reasoning": ReasoningContent(text="Sun?", protected=_SIGNED),
    "signed call": _replace(_CALL, protected=_SIGNED),
    "result of the provider": _replace(_RESULT, executor="provider"),
    "blank text": TextContent(text=" "),
    "empty text": TextContent(text=""),
    "call without an id": _replace(_CALL, call_id=None),
    "result without an id": _replace(_RESULT, call_id=None),
    "call in a namespace": _replace(_CALL, namespace="weather"),
    "result without outputs": _replace(_RESULT, outputs=None),
    "result of nothing": _replace(_RESULT, outputs=[]),
    "result of two texts": _replace(_RESULT, outputs=[_TEXT, _TEXT]),
    "result of a blank text": _replace(_RESULT, outputs=[TextContent(text=" ")]),
    "result with an outcome": _replace(_RESULT, outcome="denied"),
    "result with an artifact": _replace(_RESULT, artifact={"rows": 2}),
    "failed result": _replace(_RESULT, is_error=True),
    "outputs with citations": _replace(_RESULT, outputs=[_replace(_TEXT, annotations=_CITED)]),
    "result of a link": _replace(_RESULT, outputs=[_LINK, _TEXT]),
    "JSON": JsonContent(value={"wind": 2}),
    "own class": _Note(text="Sunny."),
    "own class in a result": _replace(_RESULT, outputs=[_Note(text="Sunny.")]),
    "own class in a document": DocumentContent(parts=[_Note(text="Sunny.")]),
}


def _asked(*, approved: bool) -> ChatRequest:
    asked = ToolApprovalRequestContent(request_id="call_1", name="look", arguments={"city": "Oslo"})
    answer = ToolApprovalResponseContent(request_id="call_1", approved=approved)
    asking, answering = (
        ChatMessage(role="assistant", contents=[_CALL, asked]),
        ChatMessage(role="user", contents=[answer]),
    )
    return ChatRequest(model="m", messages=[contentmodel.user("Hi."), asking, answering])


_MESSAGES: dict[str, ChatMessage] = {
    "author": ChatMessage(role="user", contents=[_TEXT], author_name="Ann"),
    "author of an odd name": ChatMessage(role="user", contents=[_TEXT], author_name="Ann <a>"),
    "id of a message": ChatMessage(role="user", contents=[_TEXT], message_id="m-1"),
    "time of a message": ChatMessage(role="user", contents=[_TEXT], created=1_780_000_000),
    "answer": ChatMessage(role="assistant", contents=[_TEXT]),
    "padded answer": ChatMessage(role="assistant", contents=[TextContent(text="Sunny. ")]),
    "citations after a text": ChatMessage(
        role="assistant", contents=[_TEXT, TextContent(text="", annotations=[_SOURCE])]
    ),
    "empty answer": ChatMessage(role="assistant"),
    "empty result": ChatMessage(role="tool"),
    "system": ChatMessage(role="system", contents=[_TEXT]),
    "developer": ChatMessage(role="developer", contents=[_TEXT]),
    "unknown role": ChatMessage(role="critic", contents=[_TEXT]),
}
_REQUESTS: dict[str, ChatRequest] = {
    "nothing": _with(),
    "no message": ChatRequest(model="m"),
    "instructions": _replace(_with(), instructions=[_TEXT]),
    "branches": _replace(_with(), branches=[Branch(messages=[contentmodel.user("Why?")], parent_id="m-1")]),
    "answer at the end": ChatRequest(model="m", messages=[contentmodel.user("Hi."), contentmodel.assistant("Sun ")]),
    "continued answer": ChatRequest(
        model="m",
        messages=[
            contentmodel.user("Hi."),
            ChatMessage(role="assistant", contents=[_TEXT]),
            contentmodel.user(f"{CONTINUE} #{first_seal(_TEXT)}]"),
        ],
    ),
    "approved call": _asked(approved=True),
    "denied call": _asked(approved=False),
    **{
        f"tool {name}": _replace(_with(), tools=[tool])
        for name, tool in {
            "function": _FUNCTION,
            "strict function": _replace(_FUNCTION, strict=True),
            "custom": CustomTool(name="look"),
            "hosted": HostedTool(kind="web_search"),
            "group": ToolGroup(tools=[_FUNCTION]),
            "namespace": ToolGroup(tools=[_FUNCTION], name="weather"),
            "strict group": ToolGroup(tools=[_replace(_FUNCTION, strict=True)]),
            "custom in a group": ToolGroup(tools=[CustomTool(name="look")]),
            "hosted in a group": ToolGroup(tools=[HostedTool(kind="web_search")]),
        }.items()
    },
}
