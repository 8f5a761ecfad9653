"""Conversations that grow in one direction each: `REQUESTS[name](size)`.

They are values of the model, so that any adapter can encode them, and has payloads of each shape in its own API.
Numbers in texts have four digits, so that every part has the same size. Knows no API.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    Citation,
    DataContent,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    ReasoningContent,
    TextContent,
    ToolChoice,
    UnknownContent,
    UriContent,
)
from contentmodel.content import (
    CustomToolCallContent,
    CustomToolResultContent,
    Span,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)

Shape = Callable[[int], Any]
"""What makes a value of a size."""

_PNG = "iVBORw0KGgo="


def text(words: str) -> TextContent:
    return TextContent(text=words)


def _user(*contents: Any) -> ChatMessage:
    return ChatMessage(role="user", contents=list(contents) or [text("Go on.")])


def assistant(*contents: Any) -> ChatMessage:
    return ChatMessage(role="assistant", contents=list(contents))


def _tool(*contents: Any) -> ChatMessage:
    return ChatMessage(role="tool", contents=list(contents))


def call(number: int | None, **fields: Any) -> FunctionCallContent:
    call_id = None if number is None else f"call_{number:04}"
    return FunctionCallContent(
        **{"call_id": call_id, "name": "weather", "arguments": {"day": 1_000 + (number or 0)}, **fields}
    )


def _result(number: int | None, *outputs: Any, **fields: Any) -> FunctionResultContent:
    call_id = None if number is None else f"call_{number:04}"
    said = list(outputs) or [text(f"{number or 0:04} degrees")]
    return FunctionResultContent(**{"call_id": call_id, "name": "weather", "outputs": said, **fields})


def _request(*messages: ChatMessage, **fields: Any) -> ChatRequest:
    return ChatRequest(model="m", messages=[_user(), *messages], **fields)


def picture(number: int) -> DataContent:
    return DataContent(data=_PNG, media_type="image/png", name=f"{number:04}.png")


# -- conversations -----------------------------------------------------------------------------------------------------


def turns(size: int) -> ChatRequest:
    """Users and assistants by turns."""
    said = [[_user(text(f"question {n:04}")), assistant(text(f"answer {n:04}"))] for n in range(size)]
    return _request(*(message for pair in said for message in pair))


def agent_turns(size: int) -> ChatRequest:
    """Calls, each answered before the next."""
    said = [[assistant(text(f"day {n:04}"), call(n)), _tool(_result(n))] for n in range(size)]
    return _request(*(message for pair in said for message in pair))


def assistant_messages(size: int) -> ChatRequest:
    """Messages of the assistant, one after the other."""
    return _request(*(assistant(text(f"word {n:04}")) for n in range(size)), _user())


def assistant_calls(size: int) -> ChatRequest:
    """Messages of the assistant with a call each, and all of their results behind them."""
    calls = (assistant(call(n)) for n in range(size))
    return _request(*calls, *(_tool(_result(n)) for n in range(size)), _user())


def parallel_calls(size: int) -> ChatRequest:
    """Calls of one message, and a message for each result."""
    return _request(assistant(*(call(n) for n in range(size))), *(_tool(_result(n)) for n in range(size)), _user())


def results_of_one_message(size: int) -> ChatRequest:
    """Calls of one message, and their results in one other."""
    return _request(assistant(*(call(n) for n in range(size))), _tool(*(_result(n) for n in range(size))), _user())


def orphan_results(size: int) -> ChatRequest:
    """Results without a call, while one call waits."""
    orphans = (_tool(_result(n)) for n in range(1, size + 1))
    return _request(assistant(call(0)), *orphans, _tool(_result(0)), _user())


def orphans_of_one_message(size: int) -> ChatRequest:
    """The same in one message."""
    return _request(assistant(call(0)), _tool(*(_result(n) for n in range(1, size + 1))), _user())


def unanswered_calls(size: int) -> ChatRequest:
    """Calls of one message that get no result."""
    return _request(assistant(*(call(n) for n in range(size))), _user())


def unanswered_turns(size: int) -> ChatRequest:
    """Calls that get no result, each in a turn of its own."""
    return _request(*(message for n in range(size) for message in (assistant(call(n)), _user())))


def open_calls(size: int) -> ChatRequest:
    """Calls at the end, whose results are still to come."""
    return _request(assistant(*(call(n) for n in range(size))))


def calls_without_ids(size: int) -> ChatRequest:
    """Calls and results without ids, by turns."""
    return _request(*(message for _ in range(size) for message in (assistant(call(None)), _tool(_result(None)))))


def calls_without_ids_of_one_message(size: int) -> ChatRequest:
    """Calls without ids in one message, and their results in another, in another order of their tools."""
    names = [f"tool_{n:04}" for n in range(size)]
    calls = (call(None, name=name) for name in names)
    return _request(assistant(*calls), _tool(*(_result(None, name=name) for name in reversed(names))), _user())


def calls_with_one_id(size: int) -> ChatRequest:
    """Calls of one message that all have the same id, and their results."""
    calls, results = (call(1) for _ in range(size)), (_result(1) for _ in range(size))
    return _request(assistant(*calls), _tool(*results), _user())


def turns_with_one_id(size: int) -> ChatRequest:
    """Calls of many messages that all have the same id, and their results."""
    return _request(*(message for _ in range(size) for message in (assistant(call(1)), _tool(_result(1)))))


def ids_of_other_letters(size: int) -> ChatRequest:
    """Calls whose ids and names no API takes."""
    pairs = [(call(n, call_id=f"call:{n:04}/é", name=f"tool {n:04}!"), n) for n in range(size)]
    said = [(assistant(call), _tool(_result(n, call_id=call.call_id, name=call.name))) for call, n in pairs]
    tools: list[Any] = [FunctionTool(name=f"tool {n:04}!", parameters={"type": "object"}) for n in range(size)]
    choice = ToolChoice(mode="auto", tools=[tool.name for tool in tools])
    return _request(*(m for pair in said for m in pair), tools=tools, options=ChatOptions(tool_choice=choice))


def free_text_calls(size: int) -> ChatRequest:
    """Calls of tools that take free text, and their results."""
    said = [
        (
            assistant(CustomToolCallContent(call_id=f"call_{n:04}", name="run", arguments=f"print({n:04})")),
            _tool(CustomToolResultContent(call_id=f"call_{n:04}", outputs=[text(str(n))])),
        )
        for n in range(size)
    ]
    return _request(*(message for pair in said for message in pair))


def media_results(size: int) -> ChatRequest:
    """Results that are pictures, all in one turn."""
    calls = (call(n) for n in range(size))
    results = (_result(n, text("Here."), picture(n)) for n in range(size))
    return _request(assistant(*calls), _tool(*results), _user())


def media_turns(size: int) -> ChatRequest:
    """Results that are pictures, each in a turn of its own."""
    return _request(*(m for n in range(size) for m in (assistant(call(n)), _tool(_result(n, picture(n))), _user())))


def media_of_one_result(size: int) -> ChatRequest:
    """One result of many pictures."""
    return _request(assistant(call(0)), _tool(_result(0, *(picture(n) for n in range(size)))), _user())


def failed_results(size: int) -> ChatRequest:
    """Results that are failures."""
    return _request(
        assistant(*(call(n) for n in range(size))), _tool(*(_result(n, is_error=True) for n in range(size))), _user()
    )


def system_messages(size: int) -> ChatRequest:
    """Instructions at the beginning, and more of them between the turns."""
    between = (m for n in range(size) for m in (ChatMessage(role="system", contents=[text(f"rule {n:04}")]), _user()))
    first = (ChatMessage(role="system", contents=[text(f"first {n:04}")]) for n in range(size))
    return ChatRequest(model="m", messages=[*first, _user(), *between])


def instructions(size: int) -> ChatRequest:
    """A system prompt of many texts."""
    return _request(instructions=[text(f"rule {n:04}") for n in range(size)])


def texts(size: int) -> ChatRequest:
    """Texts of one message."""
    return _request(_user(*(text(f"text {n:04}") for n in range(size))))


def user_messages(size: int) -> ChatRequest:
    """Messages of the user, one after the other."""
    return _request(*(_user(text(f"text {n:04}")) for n in range(size)))


def equal_texts(size: int) -> ChatRequest:
    """The same words again and again, in objects of their own and in one that is shared."""
    shared = text("The same.")
    return _request(*(_user(text("The same."), shared) for _ in range(size)))


def blank_texts(size: int) -> ChatRequest:
    """Texts that say nothing."""
    return _request(assistant(text("Yes."), *(text(" " * (n % 3)) for n in range(size))), _user())


def pictures(size: int) -> ChatRequest:
    """Pictures and links of one message."""
    links = (UriContent(uri=f"https://example.org/{n:04}.png", media_type="image/png") for n in range(size))
    return _request(_user(*(picture(n) for n in range(size)), *links))


def thoughts(size: int) -> ChatRequest:
    """Thoughts of one message, and of many."""
    one = assistant(*(ReasoningContent(text=f"thought {n:04}") for n in range(size)), text("Yes."))
    many = (m for n in range(size) for m in (_user(), assistant(ReasoningContent(text=f"so {n:04}"), text("Yes."))))
    return _request(one, *many)


def hosted_calls(size: int) -> ChatRequest:
    """Searches of the provider in one message, and their results."""
    return _request(assistant(*searches(size), text("Found.")), _user())


def searches(size: int) -> list[Any]:
    found: list[Any] = []
    for n in range(size):
        page = UriContent(uri=f"https://example.org/{n:04}", title=f"Page {n:04}", media_type="text/html")
        found.append(WebSearchToolCallContent(call_id=f"srv_{n:04}", arguments={"query": f"query {n:04}"}))
        found.append(WebSearchToolResultContent(call_id=f"srv_{n:04}", outputs=[page]))
    return found


def unfinished_hosted_calls(size: int) -> ChatRequest:
    """Searches of the provider that have no result."""
    return _request(assistant(*searches(size)[::2], text("Wait.")), _user())


def unknown_blocks(size: int) -> ChatRequest:
    """Blocks that no adapter knows."""
    return _request(_user(*(UnknownContent(api="elsewhere", block={"type": f"new_{n:04}"}) for n in range(size))))


def unknown_fields(size: int) -> ChatRequest:
    """Fields of another API that no other has: each is a loss."""
    fields = {f"field_{n:04}": {"value": 1_000 + n} for n in range(size)}
    return ChatRequest(
        model="m",
        messages=[
            ChatMessage(role="user", contents=[TextContent(text="Hi.", extra={"elsewhere": dict(fields)})]),
            *(
                ChatMessage(role="user", contents=[text("Hi.")], extra={"elsewhere": {"field": {"value": 1_000 + n}}})
                for n in range(size)
            ),
        ],
        extra={"elsewhere": fields},
    )


def named_messages(size: int) -> ChatRequest:
    """Messages with names and ids, which most APIs have no field for."""
    said = (("user", "assistant")[n % 2] for n in range(size))
    return _request(
        *(
            ChatMessage(role=role, contents=[text(f"text {n:04}")], author_name=f"name_{n:04}", message_id=f"id_{n:04}")
            for n, role in enumerate(said)
        )
    )


def tools(size: int) -> ChatRequest:
    """Tools with parameters."""
    schema = {"type": "object", "properties": {"day": {"type": "integer", "minimum": 1}}, "required": ["day"]}
    return _request(
        tools=[FunctionTool(name=f"tool_{n:04}", description="A tool.", parameters=schema) for n in range(size)]
    )


def long_schema(size: int) -> ChatRequest:
    """A tool of many parameters, with keywords that not every API takes."""
    each: dict[str, Any] = {"type": ["string", "null"], "minLength": 1, "pattern": "^a", "default": "a", "not": {}}
    schema = {
        "type": "object",
        "properties": {f"p{n:04}": {**each, "title": f"P{n:04}"} for n in range(size)},
        "required": [f"p{n:04}" for n in range(size)],
        "additionalProperties": False,
    }
    return _request(tools=[FunctionTool(name="tool", parameters=schema)])


def many_references(size: int) -> ChatRequest:
    """A tool whose parameters refer to definitions of their own."""
    schema = {
        "type": "object",
        "properties": {f"p{n:04}": {"$ref": f"#/$defs/d{n:04}"} for n in range(size)},
        "$defs": {f"d{n:04}": {"type": "object", "properties": {"x": {"type": "string"}}} for n in range(size)},
    }
    return _request(tools=[FunctionTool(name="tool", parameters=schema)])


def deep_schema(size: int) -> ChatRequest:
    """A tool whose parameters are nested, up to what every parser takes."""
    schema: dict[str, Any] = {"type": "string", "minLength": 1}
    for _ in range(min(size, 100)):
        schema = {"type": "object", "properties": {"inner": schema}, "required": ["inner"]}
    return _request(tools=[FunctionTool(name="tool", parameters=schema)])


def cited_text(size: int) -> ChatRequest:
    """A long text of the assistant with many citations."""
    return _request(assistant(cited(size)), _user())


def cited(size: int) -> TextContent:
    words = "Ünïcödé wörds. "
    return TextContent(
        text=words * size,
        annotations=[
            Citation(
                url=f"https://example.org/{n:04}",
                title=f"Page {n:04}",
                span=Span(start=n * len(words), end=(n + 1) * len(words) - 1),
                cited_text=f"words {n:04}",
            )
            for n in range(size)
        ],
    )


def cited_texts(size: int) -> ChatRequest:
    """Texts of one message with a citation each."""
    return _request(assistant(*(cited(1) for _ in range(size))), _user())


def cited_search(size: int) -> ChatRequest:
    """A text with citations of what a search found."""
    return _request(assistant(*searches(size), cited(size)), _user())


def long_text(size: int) -> ChatRequest:
    """One text that grows."""
    return _request(_user(text("word " * size)))


def metadata(size: int) -> ChatRequest:
    """Settings with many entries."""
    options = ChatOptions(
        metadata={f"key_{n:04}": f"value {n:04}" for n in range(size)},
        stop_sequences=[f"stop {n:04}" for n in range(size)],
    )
    return _request(options=options)


REQUESTS: Mapping[str, Shape] = {
    shape.__name__.replace("_", "-"): shape
    for shape in (
        turns,
        agent_turns,
        assistant_messages,
        assistant_calls,
        parallel_calls,
        results_of_one_message,
        orphan_results,
        orphans_of_one_message,
        unanswered_calls,
        unanswered_turns,
        open_calls,
        calls_without_ids,
        calls_without_ids_of_one_message,
        calls_with_one_id,
        turns_with_one_id,
        ids_of_other_letters,
        free_text_calls,
        media_results,
        media_turns,
        media_of_one_result,
        failed_results,
        system_messages,
        instructions,
        texts,
        user_messages,
        equal_texts,
        blank_texts,
        pictures,
        thoughts,
        hosted_calls,
        unfinished_hosted_calls,
        unknown_blocks,
        unknown_fields,
        named_messages,
        tools,
        long_schema,
        many_references,
        deep_schema,
        cited_text,
        cited_texts,
        cited_search,
        long_text,
        metadata,
    )
}
"""Conversations that grow."""
