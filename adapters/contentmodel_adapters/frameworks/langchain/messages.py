"""Messages of LangChain in three spellings.

`messages_to_dict` writes `{"type": "ai", "data": {...}}`, `model_dump` the fields alone, and `dumpd` writes
`{"lc": 1, "type": "constructor", "id": [...], "kwargs": {...}}`. The fields are called the body here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from msgspec.structs import replace

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    MessageList,
    as_text_content,
    each_output,
    foreign,
    hints,
    object_of,
    objects_of,
    runs,
)
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent, ToolResultContent
from contentmodel.message import ChatMessage, Origin
from contentmodel_adapters.frameworks.call_signatures import is_signed, sign, without_signatures
from contentmodel_adapters.frameworks.langchain.beside import (
    BESIDE,
    GROUNDED,
    LISTED_IN,
    add_citations,
    add_documents,
    add_sources,
    is_of_cohere,
    with_citations,
    with_documents,
    with_grounding,
    with_places_of_sources,
    with_sources,
    without_cited,
    without_documents,
    without_grounding,
)
from contentmodel_adapters.frameworks.langchain.blocks import API, OUTCOMES, is_invalid, is_own, own_extra
from contentmodel_adapters.frameworks.langchain.guests import (
    BEDROCK,
    CHAT,
    COHERE,
    GOOGLE,
    INNER,
    LISTS_OF_CHAT,
    RESPONSES,
    own_tool,
)
from contentmodel_adapters.frameworks.langchain.items import ITEMS, as_function_result, with_item
from contentmodel_adapters.frameworks.langchain.repeated import (
    LISTS,
    OLDER,
    PLAN,
    TAKEN,
    add_joints,
    add_repetitions,
    without_joints,
    without_repetitions,
)
from contentmodel_adapters.frameworks.langchain.rows import (
    ANSWERS,
    APIS,
    AROUND,
    ASKED,
    CLASSES,
    MESSAGES,
    OF_GOOGLE,
    OLLAMA,
    OPENROUTER,
    PROVIDER_OF,
    REMOVE,
    RESULT_MESSAGE,
    RESULTS,
    RESULTS_OF,
    issuer_of,
)

# -- decoding ----------------------------------------------------------------------------------------------------------


def body_key(wire: dict[str, Any]) -> str | None:
    """Return the field of a stored message that has its body; None if the message is the body itself."""
    if wire.get("lc") is not None and wire.get("kwargs").__class__ is dict:
        return "kwargs"
    return "data" if wire.get("data").__class__ is dict and wire.get("content") is None else None


def word_of(wire: dict[str, Any], key: str | None) -> str | None:
    """Return the type of a stored message; None if it has none."""
    holder = wire if key is None or (key != "kwargs" and wire[key].get("type") is None) else wire[key]
    word: Any = holder.get("type")
    if key == "kwargs" and word is None:
        name = wire.get("id")
        word = CLASSES.get(name[-1]) if name.__class__ is list and name and name[-1].__class__ is str else None
    return word if word.__class__ is str else None


def only_of_batch(messages: Any) -> list[Any] | None:
    """Return the conversation of a batch of one, as callbacks and the runs of LangSmith have it; None if it is none."""
    is_batch = messages.__class__ is list and len(messages) == 1 and messages[0].__class__ is list
    return messages[0] if is_batch and messages[0] else None


def expanded(payload: Any) -> Any:
    """Return a payload for audits, as other APIs have it: error flags, names of tools and blocks without joints."""
    if payload.__class__ is dict:
        return {**payload, "messages": expanded(payload["messages"])} if "messages" in payload else payload
    if payload.__class__ is not list:
        return payload
    if only_of_batch(payload) is not None:
        return [expanded(payload[0])]
    return [_expanded(wire) if wire.__class__ is dict else wire for wire in payload]


def _expanded(wire: dict[str, Any]) -> dict[str, Any]:
    key = body_key(wire)
    body = wire if key is None else wire[key]
    changed = body
    if word_of(wire, key) in RESULTS_OF:
        changed = {**body, "status": True} if body.get("status") == "error" else body
        # The message repeats the id of an item, and keeps it if the item gets another one.
        items = [object_of(block, "value") for block in objects_of(body, "content")]
        if len(items) == 1 and items[0].get("call_id") == body.get("tool_call_id"):
            value = {name: item for name, item in items[0].items() if name != "call_id"}
            changed = {**changed, "content": [{**body["content"][0], "value": value}]}
    else:
        changed = with_places_of_sources(without_joints(body)[0])
        if changed.get("content").__class__ is list:
            is_of_openai = object_of(body, "response_metadata").get("model_provider") == "openai"
            content = [_with_own_words(block, is_of_openai=is_of_openai) for block in changed["content"]]
            changed = {**changed, "content": content}
    return changed if key is None else {**wire, key: changed}


def _with_own_words(block: Any, *, is_of_openai: bool) -> Any:
    if block.__class__ is not dict:
        return block
    if block.get("type") == "code_execution_result" and block.get("outcome").__class__ is int:
        return {**block, "outcome": OUTCOMES.get(block["outcome"], block["outcome"])}
    if is_of_openai and block.get("type") == "server_tool_result" and block.get("status") == "error":
        return {**block, "status": "failed"}
    extras = object_of(block, "extras")
    if block.get("type") == "server_tool_result" and extras.get("outcome").__class__ is int:
        return {**block, "extras": {**extras, "outcome": OUTCOMES.get(extras["outcome"], extras["outcome"])}}
    is_call = block.get("type") == "server_tool_call" and "name" in block
    return {**block, "name": own_tool(block["name"])} if is_call else block


class Messages(MessageList):
    """The list of messages."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        origin = context.origin
        for index, wire in self.objects(value, context):
            inner = body_key(wire)
            word = word_of(wire, inner)
            body = wire if inner is None else wire[inner]
            if word is None:
                context.fault(body if "type" in body else wire, "type", "missing string: the type of this message")
                continue
            message = _decode_body(body, word, context)
            context.origin = origin
            if inner is not None:
                around = {name: item for name, item in wire.items() if name != inner}
                message = context.replaced(message, AROUND.on(message, API, around))
            messages.append(message)
            layout: Any = RESULT_MESSAGE if word in RESULTS_OF else MESSAGES
            context.trace(layout, [message], value if inner is None else wire, inner or index, spread=False)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        arounds = (AROUND.of(message, API) for message in value)
        around = next((one for one in arounds if one is not None), None)
        is_flat = around is None and any(map(is_own, value))
        writer = _Writer(context, None if is_flat else around or {})
        before = context.native, context.completes
        wires = [wire for message in value for wire in writer.write(message)]
        context.native, context.completes = before
        return wires


def _decode_body(body: dict[str, Any], word: str, context: DecodeContext) -> ChatMessage:
    typed = body
    if body.get("type") is None:
        typed = {**body, "type": word}
        context.copied(typed, body)
    is_result = word in RESULTS_OF
    if is_result:
        message = with_item(RESULT_MESSAGE.decode(typed, context), context)
    else:
        message = _decode_message(typed, word, context)
    return message if typed is body else context.replaced(message, hints.without_tag(message, API, "type", body))


def _decode_message(body: dict[str, Any], word: str, context: DecodeContext) -> ChatMessage:
    metadata = object_of(body, "response_metadata")
    provider = metadata.get("model_provider")
    if provider.__class__ is str:
        name = metadata.get("model_name") or metadata.get("model") or metadata.get("model_id")
        model = name if name.__class__ is str else None
        context.origin = Origin(api=API, issuer=issuer_of(provider, model), model=model)
    copy = body
    fields: dict[str, Any] = {}
    if word in ANSWERS:
        joined, joints = without_joints(body, context)
        copy, moved, fields = without_repetitions(joined)
        fields |= joints
        context.copied(copy, joined)
        for move in moved:
            context.copied(copy, joined, move)
    decoded = MESSAGES.decode(copy, context)
    if word in ANSWERS:
        decoded = with_sources(with_grounding(decoded, metadata, context), copy, context)
        decoded = with_citations(decoded, copy, context)
    elif word in ASKED:
        decoded = with_documents(decoded, copy, context)
    message = _with_origin(decoded, provider, context)
    signatures = object_of(copy, "call_signatures")
    places = {key: (signatures, key) for key, data in signatures.items() if data.__class__ is str}
    # Only the package of Google writes them, also if the metadata that names the provider was removed.
    sign(message, places, context, "google")
    extra = message.extra or {}
    return context.replace(message, extra={**extra, API: {**extra.get(API, {}), **fields}}) if fields else message


_OF_CHAT = frozenset(("audio", *LISTS_OF_CHAT))
"""The columns of contents that only answers of Chat Completions have."""
_REASONING = "reasoning_content"


def _with_origin(message: ChatMessage, provider: Any, context: DecodeContext) -> ChatMessage:
    """Return a message with the API of its provider as its origin if only this API has its contents.

    The adapter of the API then sends them unchanged.
    """
    columns = {hints.COLUMN.of(content, API) for content in message.contents}
    if message.origin is not None and (columns & _OF_CHAT or (provider == OPENROUTER and _REASONING in columns)):
        # A request refers to the audio of an answer, and has the reasoning of OpenRouter.
        origin = replace(message.origin, api=CHAT, is_answer=True)
        contents = [
            _with_chat_column(content, context) if provider == OPENROUTER else content for content in message.contents
        ]
        return context.replace(message, contents=contents, origin=origin, extra=own_extra(message))
    api = APIS.get(provider) if provider.__class__ is str else _api_of(message)
    if message.origin is None or api is None or not any(_is_of_api(content, api) for content in message.contents):
        return message
    if any(_is_blank(content) for content in message.contents):
        return message
    return context.replace(message, origin=replace(message.origin, api=api), extra=own_extra(message))


def _with_chat_column(content: AIContent, context: DecodeContext) -> AIContent:
    """Return the text of OpenRouter's reasoning with the hint of the column that it has in Chat Completions."""
    if hints.COLUMN.of(content, API) != _REASONING:
        return content
    hinted: AIContent = context.replaced(content, hints.COLUMN.on(content, CHAT, "reasoning"))
    return hinted


def _api_of(message: ChatMessage) -> str | None:
    """Return the API of a message that names no provider, as those of Cohere and of older packages.

    Only OpenAI has its items.
    """
    if any(map(is_of_cohere, message.contents)):
        return COHERE
    is_of_openai = any(
        content.__class__ is ReasoningContent and INNER.of(content, API) == RESPONSES for content in message.contents
    )
    return RESPONSES if is_of_openai else None


def _is_of_api(content: Any, of_provider: str) -> bool:
    """Return whether a content is one that only the API of its provider has."""
    if of_provider == GOOGLE:
        return content.__class__ in OF_GOOGLE or GROUNDED.of(content, API) is True
    if of_provider == COHERE:
        return is_of_cohere(content)
    if of_provider == OLLAMA:
        return content.__class__ is ReasoningContent
    api = INNER.of(content, API)
    if BEDROCK.api in (api, of_provider):
        return api == of_provider and content.__class__ in (TextContent, ReasoningContent)
    if api is None or content.__class__ in (TextContent, FunctionCallContent):
        return api is not None and bool(content.annotations)
    # Parts of an item of OpenAI belong together. Mistral's reasoning is unsigned, and Anthropic's has its signature.
    return content.__class__ is not ReasoningContent or api in (RESPONSES, "mistral-chat")


def _is_blank(content: Any) -> bool:
    # Mistral's references are decoded as texts without text.
    return content.__class__ is TextContent and not content.text.strip() and INNER.of(content, API) != "mistral-chat"


# -- encoding ----------------------------------------------------------------------------------------------------------


class _Writer:
    """Write messages. New messages are written in the spelling of the others."""

    def __init__(self, context: EncodeContext, around: dict[str, Any] | None) -> None:
        self._context, self._around = context, around

    def write(self, message: ChatMessage) -> Iterator[dict[str, Any]]:
        """Yield the objects of a message: each result of the application's tools is one."""
        context, is_native = self._context, is_own(message)
        # A list may have messages of this format beside those of others.
        context.native, context.completes = is_native, not is_native
        if not message.contents and not is_native and message.role != REMOVE:
            foreign.leave_empty(message, context)
            return
        issuer = _issuer_of(message)
        pieces = runs(message.contents, lambda content: _is_a_message(content, message))
        for at, (contents, is_result) in enumerate([*pieces] or [([], False)]):
            # A result has no metadata that name a provider.
            context.issuer = "" if is_result else issuer
            part = context.with_contents(message, contents)
            yield self._result(part, is_first=not at) if is_result else self._message(part, is_first=not at)
        context.issuer = ""

    def _message(self, part: ChatMessage, *, is_first: bool) -> dict[str, Any]:
        context, is_answer = self._context, part.role == "assistant"
        if not is_first:
            part = context.replace(part, message_id=None, usage=None, finish_reason=None, response_id=None, extra=None)
        if part.role == "tool":
            part = context.replace(part, role="user")
        listed = part if context.native else None
        if not is_answer:
            context.report_records(part, _HELD_ELSEWHERE)
            part = without_documents(part, context) if context.native else part
        elif context.native:
            part = without_cited(without_grounding(part, context), context, LISTED_IN, BESIDE)
        part, signatures = self._without_signatures(part)
        if is_answer:
            part = _without_older_calls(part, context) if context.native else _with_columns(part, context)
        body = MESSAGES.encode_list([part], context)[0]
        if signatures:
            body["call_signatures"] = {**body.get("call_signatures", {}), **signatures}
        if is_answer and (body.get("type") or "ai") in ANSWERS:
            add_repetitions(body, part)
            add_joints(body, part)
            if listed is not None:
                add_sources(body, listed, context)
                add_citations(body, listed, context)
            _write_format(body, part, context)
        elif listed is not None and not is_answer:
            add_documents(body, listed, context)
        return self._spelled(body, part)

    def _without_signatures(self, part: ChatMessage) -> tuple[ChatMessage, dict[str, str]]:
        """Return a message without the signatures of Gemini's calls, which are beside its content."""
        context = self._context
        is_beside = not context.native or "call_signatures" in (part.extra or {}).get(API, {})
        if context.issuer != "google" or not is_beside:
            return part, {}
        return without_signatures(part, context, _is_signed_function)

    def _result(self, message: ChatMessage, *, is_first: bool) -> dict[str, Any]:
        context = self._context
        result = as_function_result(message.contents[0], context)
        if result.is_error is None and result.error is not None:
            result = context.replace(result, is_error=True)
        message = context.with_contents(message, [result])
        if not is_first:
            return self._spelled(RESULTS.encode_list(message.contents, context)[0], None)
        body = RESULT_MESSAGE.encode_message(message, context)[0]
        context.report_records(message, _HELD_ELSEWHERE)
        return self._spelled(body, message)

    def _spelled(self, body: dict[str, Any], message: ChatMessage | None) -> dict[str, Any]:
        """Return a body in the spelling of its message, or of the other messages."""
        envelope = None if message is None else AROUND.of(message, API)
        if message is not None and envelope is not None:
            residue = (message.extra or {}).get(API, {})
            if "type" in (hints.ABSENT.read(residue) or ()):
                body.pop("type", None)
                body |= {"type": None} if "type" in residue else {}
            return {**envelope, "kwargs" if "lc" in envelope else "data": body}
        if self._around is None or (message is not None and self._context.native):
            return body
        # A forged hint may have removed the type.
        word = body.get("type") or ("tool" if "tool_call_id" in body else "human")
        if "lc" in self._around:
            name = next(name for name, one in CLASSES.items() if one == word)
            around = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name]}
            return {**around, "kwargs": body}
        return {"type": word, "data": body}


_HELD_ELSEWHERE = ("created",)
"""The field of messages whose loss is reported for all messages."""


def _is_a_message(content: AIContent, message: ChatMessage) -> bool:
    """Return whether a content of a message is a message by itself: a result, unless it was a block of a provider."""
    is_result = content.__class__ in (FunctionResultContent, *ITEMS)
    return is_result and (message.role == "tool" or INNER.of(content, API) is None)


def with_json_as_text(content: AIContent, context: EncodeContext) -> AIContent:
    """Return a result with JSON outputs as texts, unless its block has JSON."""
    if not isinstance(content, ToolResultContent) or INNER.of(content, API) is not None:
        return content
    return each_output(content, _as_text, context)


def _as_text(output: AIContent, context: EncodeContext) -> AIContent:
    is_new = output.__class__ is JsonContent and hints.ROW.of(output, API) is None
    return as_text_content(cast("JsonContent", output), context) if is_new else output


def _is_signed_function(call: Any) -> bool:
    return call.__class__ is FunctionCallContent and is_signed(call)


def _issuer_of(message: ChatMessage) -> str:
    """Return the issuer of the opaque state that a message can have. Only new messages of models name one."""
    if message.role != "assistant" and not is_own(message):
        return ""
    if message.origin is not None and message.origin.issuer:
        return message.origin.issuer
    issuers = [content.protected.issuer for content in message.contents if content.protected is not None]
    # State of an unnamed provider: a message that names one could not have it.
    return "" if API in issuers else next(iter(issuers), "")


def _with_columns(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message whose new calls are beside its content, if the content is one text, Cohere's plan or nothing."""
    first = [content for content in message.contents[:1] if _is_content(content, message)]
    calls: list[Any] = message.contents[len(first) :]
    if not calls or not all(map(_is_plain_text, first)) or not all(map(_is_plain_call, calls)):
        return message
    beside = [
        call
        if API in (call.extra or {})
        else context.replaced(call, hints.COLUMN.on(call, API, LISTS[is_invalid(call)]))
        for call in calls
    ]
    texts = [
        one if one.__class__ is TextContent else context.replaced(one, hints.COLUMN.on(one, API, PLAN)) for one in first
    ]
    return context.with_contents(message, [*texts, *beside])


def _is_content(content: Any, message: ChatMessage) -> bool:
    """Return whether a content is a text, or a plan of Cohere, which is the content of its message."""
    is_of_cohere = message.origin is not None and message.origin.api == COHERE
    is_plan = content.__class__ is ReasoningContent and content.kind == "plan"
    return content.__class__ is TextContent or (is_plan and is_of_cohere)


def _without_older_calls(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message without calls in the older form if it has others: only these would be read then.

    Calls in fields of the body that happen to have the names of the columns stay there.
    """
    columns = [
        hints.COLUMN.of(content, API) for content in message.contents if content.__class__ is FunctionCallContent
    ]
    are_fields = not OLDER.isdisjoint(TAKEN.of(message, API) or ())
    if OLDER.isdisjoint(columns) or are_fields or columns == ["older_call"] or set(columns) == {"older_calls"}:
        return message
    contents = [
        context.replaced(content, hints.COLUMN.on(content, API, "content"))
        if hints.COLUMN.of(content, API) in OLDER
        else content
        for content in message.contents
    ]
    return context.with_contents(message, contents)


def _is_plain_text(text: AIContent) -> bool:
    return not (text.annotations or text.protected or text.cache_point or API in (text.extra or {}))


def _is_plain_call(content: AIContent) -> bool:
    return content.__class__ is FunctionCallContent and content.protected is None and content.cache_point is None


def _write_format(body: dict[str, Any], message: ChatMessage, context: EncodeContext) -> None:
    """Write the metadata that name the provider and the format of the content, in place."""
    origin = message.origin
    issuer = context.issuer if not context.native else origin.issuer if origin is not None else ""
    labels = {"model_provider": PROVIDER_OF.get(issuer, issuer)} if issuer else {}
    metadata = body.get("response_metadata") or {}
    if metadata.__class__ is not dict:
        return
    if context.native:
        labels |= metadata
    else:
        labels = {**metadata, **labels}
        if origin is not None and origin.model is not None:
            labels["model_name"] = origin.model
        if body.get("content").__class__ is list:
            labels["output_version"] = "v1"
    if labels:
        body["response_metadata"] = labels
