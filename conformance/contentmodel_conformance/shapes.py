"""Conversations that each grow in one dimension: `REQUESTS[name](size)`.

They are model values, so any adapter can encode them. Numbers in texts have four digits, so that every part has the
same size. Independent of APIs.
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
"""Returns a value of the given size."""

_PNG = "iVBORw0KGgo="


def text(value: str) -> TextContent:
    """Return a text content."""
    return TextContent(text=value)


def _user(*contents: Any) -> ChatMessage:
    return ChatMessage(role="user", contents=list(contents) or [text("Go on.")])


def assistant(*contents: Any) -> ChatMessage:
    """Return a message of the assistant."""
    return ChatMessage(role="assistant", contents=list(contents))


def _tool(*contents: Any) -> ChatMessage:
    return ChatMessage(role="tool", contents=list(contents))


def call(number: int | None, **fields: Any) -> FunctionCallContent:
    """Return a function call with a numbered id, or without an id."""
    call_id = None if number is None else f"call_{number:04}"
    return FunctionCallContent(
        **{"call_id": call_id, "name": "weather", "arguments": {"day": 1_000 + (number or 0)}, **fields}
    )


def _result(number: int | None, *outputs: Any, **fields: Any) -> FunctionResultContent:
    call_id = None if number is None else f"call_{number:04}"
    contents = list(outputs) or [text(f"{number or 0:04} degrees")]
    return FunctionResultContent(**{"call_id": call_id, "name": "weather", "outputs": contents, **fields})


def _request(*messages: ChatMessage, **fields: Any) -> ChatRequest:
    return ChatRequest(model="m", messages=[_user(), *messages], **fields)


def picture(number: int) -> DataContent:
    """Return an image with a numbered name."""
    return DataContent(data=_PNG, media_type="image/png", name=f"{number:04}.png")


# -- conversations -----------------------------------------------------------------------------------------------------


def turns(size: int) -> ChatRequest:
    """Return `size` pairs of user and assistant messages."""
    pairs = [[_user(text(f"question {n:04}")), assistant(text(f"answer {n:04}"))] for n in range(size)]
    return _request(*(message for pair in pairs for message in pair))


def agent_turns(size: int) -> ChatRequest:
    """Return `size` calls, each answered before the next."""
    pairs = [[assistant(text(f"day {n:04}"), call(n)), _tool(_result(n))] for n in range(size)]
    return _request(*(message for pair in pairs for message in pair))


def assistant_messages(size: int) -> ChatRequest:
    """Return `size` assistant messages in a row."""
    return _request(*(assistant(text(f"word {n:04}")) for n in range(size)), _user())


def assistant_calls(size: int) -> ChatRequest:
    """Return `size` assistant messages with a call each, followed by all results."""
    calls = (assistant(call(n)) for n in range(size))
    return _request(*calls, *(_tool(_result(n)) for n in range(size)), _user())


def parallel_calls(size: int) -> ChatRequest:
    """Return one message with `size` calls, and a message for each result."""
    return _request(assistant(*(call(n) for n in range(size))), *(_tool(_result(n)) for n in range(size)), _user())


def results_of_one_message(size: int) -> ChatRequest:
    """Return one message with `size` calls, and one with their results."""
    return _request(assistant(*(call(n) for n in range(size))), _tool(*(_result(n) for n in range(size))), _user())


def orphan_results(size: int) -> ChatRequest:
    """Return `size` results without a call, while one call is pending."""
    orphans = (_tool(_result(n)) for n in range(1, size + 1))
    return _request(assistant(call(0)), *orphans, _tool(_result(0)), _user())


def orphans_of_one_message(size: int) -> ChatRequest:
    """Return `size` results without a call in one message, while one call is pending."""
    return _request(assistant(call(0)), _tool(*(_result(n) for n in range(1, size + 1))), _user())


def unanswered_calls(size: int) -> ChatRequest:
    """Return one message with `size` calls without results."""
    return _request(assistant(*(call(n) for n in range(size))), _user())


def unanswered_turns(size: int) -> ChatRequest:
    """Return `size` turns, each with a call without a result."""
    return _request(*(message for n in range(size) for message in (assistant(call(n)), _user())))


def open_calls(size: int) -> ChatRequest:
    """Return `size` pending calls at the end."""
    return _request(assistant(*(call(n) for n in range(size))))


def calls_without_ids(size: int) -> ChatRequest:
    """Return `size` pairs of call and result without ids."""
    return _request(*(message for _ in range(size) for message in (assistant(call(None)), _tool(_result(None)))))


def calls_without_ids_of_one_message(size: int) -> ChatRequest:
    """Return `size` calls without ids in one message, and their results in reverse order in another."""
    names = [f"tool_{n:04}" for n in range(size)]
    calls = (call(None, name=name) for name in names)
    return _request(assistant(*calls), _tool(*(_result(None, name=name) for name in reversed(names))), _user())


def calls_with_one_id(size: int) -> ChatRequest:
    """Return one message with `size` calls of the same id, and their results."""
    calls, results = (call(1) for _ in range(size)), (_result(1) for _ in range(size))
    return _request(assistant(*calls), _tool(*results), _user())


def turns_with_one_id(size: int) -> ChatRequest:
    """Return `size` messages with a call of the same id each, and their results."""
    return _request(*(message for _ in range(size) for message in (assistant(call(1)), _tool(_result(1)))))


def ids_of_other_letters(size: int) -> ChatRequest:
    """Return `size` calls with ids and names that no API accepts."""
    pairs = [(call(n, call_id=f"call:{n:04}/é", name=f"tool {n:04}!"), n) for n in range(size)]
    exchanges = [(assistant(call), _tool(_result(n, call_id=call.call_id, name=call.name))) for call, n in pairs]
    tools: list[Any] = [FunctionTool(name=f"tool {n:04}!", parameters={"type": "object"}) for n in range(size)]
    choice = ToolChoice(mode="auto", tools=[tool.name for tool in tools])
    return _request(*(m for pair in exchanges for m in pair), tools=tools, options=ChatOptions(tool_choice=choice))


def free_text_calls(size: int) -> ChatRequest:
    """Return `size` calls of custom tools (free text), and their results."""
    exchanges = [
        (
            assistant(CustomToolCallContent(call_id=f"call_{n:04}", name="run", arguments=f"print({n:04})")),
            _tool(CustomToolResultContent(call_id=f"call_{n:04}", outputs=[text(str(n))])),
        )
        for n in range(size)
    ]
    return _request(*(message for pair in exchanges for message in pair))


def media_results(size: int) -> ChatRequest:
    """Return `size` results with images in one turn."""
    calls = (call(n) for n in range(size))
    results = (_result(n, text("Here."), picture(n)) for n in range(size))
    return _request(assistant(*calls), _tool(*results), _user())


def media_turns(size: int) -> ChatRequest:
    """Return `size` turns with an image as result each."""
    return _request(*(m for n in range(size) for m in (assistant(call(n)), _tool(_result(n, picture(n))), _user())))


def media_of_one_result(size: int) -> ChatRequest:
    """Return one result with `size` images."""
    return _request(assistant(call(0)), _tool(_result(0, *(picture(n) for n in range(size)))), _user())


def failed_results(size: int) -> ChatRequest:
    """Return `size` failed results."""
    return _request(
        assistant(*(call(n) for n in range(size))), _tool(*(_result(n, is_error=True) for n in range(size))), _user()
    )


def system_messages(size: int) -> ChatRequest:
    """Return `size` system messages at the beginning, and as many between turns."""
    between = (m for n in range(size) for m in (ChatMessage(role="system", contents=[text(f"rule {n:04}")]), _user()))
    first = (ChatMessage(role="system", contents=[text(f"first {n:04}")]) for n in range(size))
    return ChatRequest(model="m", messages=[*first, _user(), *between])


def instructions(size: int) -> ChatRequest:
    """Return instructions of `size` texts."""
    return _request(instructions=[text(f"rule {n:04}") for n in range(size)])


def texts(size: int) -> ChatRequest:
    """Return one message with `size` texts."""
    return _request(_user(*(text(f"text {n:04}") for n in range(size))))


def user_messages(size: int) -> ChatRequest:
    """Return `size` user messages in a row."""
    return _request(*(_user(text(f"text {n:04}")) for n in range(size)))


def equal_texts(size: int) -> ChatRequest:
    """Return `size` messages with equal texts: separate objects, and one shared object."""
    shared = text("The same.")
    return _request(*(_user(text("The same."), shared) for _ in range(size)))


def blank_texts(size: int) -> ChatRequest:
    """Return one message with `size` blank texts."""
    return _request(assistant(text("Yes."), *(text(" " * (n % 3)) for n in range(size))), _user())


def pictures(size: int) -> ChatRequest:
    """Return one message with `size` images and links."""
    links = (UriContent(uri=f"https://example.org/{n:04}.png", media_type="image/png") for n in range(size))
    return _request(_user(*(picture(n) for n in range(size)), *links))


def thoughts(size: int) -> ChatRequest:
    """Return `size` reasoning contents in one message, and one in each of `size` messages."""
    one = assistant(*(ReasoningContent(text=f"thought {n:04}") for n in range(size)), text("Yes."))
    many = (m for n in range(size) for m in (_user(), assistant(ReasoningContent(text=f"so {n:04}"), text("Yes."))))
    return _request(one, *many)


def hosted_calls(size: int) -> ChatRequest:
    """Return one message with `size` hosted searches and their results."""
    return _request(assistant(*searches(size), text("Found.")), _user())


def searches(size: int) -> list[Any]:
    """Return `size` hosted searches, each followed by its result."""
    contents: list[Any] = []
    for n in range(size):
        page = UriContent(uri=f"https://example.org/{n:04}", title=f"Page {n:04}", media_type="text/html")
        contents.append(WebSearchToolCallContent(call_id=f"srv_{n:04}", arguments={"query": f"query {n:04}"}))
        contents.append(WebSearchToolResultContent(call_id=f"srv_{n:04}", outputs=[page]))
    return contents


def unfinished_hosted_calls(size: int) -> ChatRequest:
    """Return one message with `size` hosted searches without results."""
    return _request(assistant(*searches(size)[::2], text("Wait.")), _user())


def unknown_blocks(size: int) -> ChatRequest:
    """Return one message with `size` unknown blocks."""
    return _request(_user(*(UnknownContent(api="elsewhere", block={"type": f"new_{n:04}"}) for n in range(size))))


def unknown_fields(size: int) -> ChatRequest:
    """Return `size` fields of an unknown API in several places; each is a loss."""
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
    """Return `size` messages with author names and ids, which most APIs have no field for."""
    roles = (("user", "assistant")[n % 2] for n in range(size))
    return _request(
        *(
            ChatMessage(role=role, contents=[text(f"text {n:04}")], author_name=f"name_{n:04}", message_id=f"id_{n:04}")
            for n, role in enumerate(roles)
        )
    )


def tools(size: int) -> ChatRequest:
    """Return a request with `size` tools."""
    schema = {"type": "object", "properties": {"day": {"type": "integer", "minimum": 1}}, "required": ["day"]}
    return _request(
        tools=[FunctionTool(name=f"tool_{n:04}", description="A tool.", parameters=schema) for n in range(size)]
    )


def long_schema(size: int) -> ChatRequest:
    """Return a tool with `size` parameters, with keywords that some APIs reject."""
    each: dict[str, Any] = {"type": ["string", "null"], "minLength": 1, "pattern": "^a", "default": "a", "not": {}}
    schema = {
        "type": "object",
        "properties": {f"p{n:04}": {**each, "title": f"P{n:04}"} for n in range(size)},
        "required": [f"p{n:04}" for n in range(size)],
        "additionalProperties": False,
    }
    return _request(tools=[FunctionTool(name="tool", parameters=schema)])


def many_references(size: int) -> ChatRequest:
    """Return a tool with `size` parameters, each with its own `$ref`."""
    schema = {
        "type": "object",
        "properties": {f"p{n:04}": {"$ref": f"#/$defs/d{n:04}"} for n in range(size)},
        "$defs": {f"d{n:04}": {"type": "object", "properties": {"x": {"type": "string"}}} for n in range(size)},
    }
    return _request(tools=[FunctionTool(name="tool", parameters=schema)])


def deep_schema(size: int) -> ChatRequest:
    """Return a tool with nested parameters, at most 100 levels: every parser accepts that."""
    schema: dict[str, Any] = {"type": "string", "minLength": 1}
    for _ in range(min(size, 100)):
        schema = {"type": "object", "properties": {"inner": schema}, "required": ["inner"]}
    return _request(tools=[FunctionTool(name="tool", parameters=schema)])


def cited_text(size: int) -> ChatRequest:
    """Return a long assistant text with `size` citations."""
    return _request(assistant(cited(size)), _user())


def cited(size: int) -> TextContent:
    """Return a text of `size` sentences, each with a citation."""
    sentence = "Ünïcödé wörds. "
    return TextContent(
        text=sentence * size,
        annotations=[
            Citation(
                url=f"https://example.org/{n:04}",
                title=f"Page {n:04}",
                span=Span(start=n * len(sentence), end=(n + 1) * len(sentence) - 1),
                cited_text=f"words {n:04}",
            )
            for n in range(size)
        ],
    )


def cited_texts(size: int) -> ChatRequest:
    """Return one message with `size` texts with a citation each."""
    return _request(assistant(*(cited(1) for _ in range(size))), _user())


def cited_search(size: int) -> ChatRequest:
    """Return a text that cites `size` search results."""
    return _request(assistant(*searches(size), cited(size)), _user())


def long_text(size: int) -> ChatRequest:
    """Return one text of `size` words."""
    return _request(_user(text("word " * size)))


def metadata(size: int) -> ChatRequest:
    """Return options with `size` metadata entries, and a few more stop sequences."""
    options = ChatOptions(
        metadata={f"key_{n:04}": f"value {n:04}" for n in range(size)},
        # More than any API takes, so that sequences are lost at every size.
        stop_sequences=[f"stop {n:04}" for n in range(size + 8)],
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
"""All shapes of conversations, by name."""
NESTED = frozenset({"deep-schema"})
"""The shapes whose values nest as deeply as they are large."""
