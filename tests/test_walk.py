"""The walk over contents and messages, the plan of its steps, and the census of facts that it follows from."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    DataContent,
    FunctionCallContent,
    FunctionResultContent,
    ReasoningContent,
    TextContent,
    UriContent,
)
from contentmodel.authoring import Fact, content_step, each_output, needs, transcript_step, turn_step
from contentmodel.content import Citation, DocumentContent, JsonContent, Protected
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline.steps import Plan, Step, census, walked
from contentmodel.message import Origin
from contentmodel.request import CustomTool, FunctionTool

API = "tales"
OWN, OTHER = Origin(api=API, issuer="teller"), Origin(api="songs", issuer="singer")
replace = msgspec.structs.replace


def message(role: str, *contents: Any, origin: Origin | None = OTHER, **fields: Any) -> ChatMessage:
    return ChatMessage(role=role, contents=list(contents), origin=origin, **fields)


def context(origin: Origin | None = OTHER) -> EncodeContext:
    return EncodeContext(API, "teller", "request", origin=origin)


def text(words: str, **fields: Any) -> TextContent:
    return TextContent(text=words, **fields)


def call(call_id: str | None = "1", **fields: Any) -> FunctionCallContent:
    return FunctionCallContent(call_id=call_id, name="f", arguments={}, **fields)


def result(*outputs: Any, **fields: Any) -> FunctionResultContent:
    return FunctionResultContent(call_id="1", outputs=list(outputs), **fields)


def words(messages: list[ChatMessage]) -> list[list[str]]:
    return [[content.text for content in one.contents if isinstance(content, TextContent)] for one in messages]


def upper(content: Any, context: EncodeContext) -> Any:
    return replace(content, text=content.text.upper()) if content.text.islower() else content


def split(content: Any, context: EncodeContext) -> Any:
    return [text(word) for word in content.text.split()]


def source_of(value: object, here: EncodeContext) -> object:
    """Return the value that a value replaced, through all replacements."""
    while id(value) in here.originals():
        value = here.originals()[id(value)]
    return value


# -- the walk ----------------------------------------------------------------------------------------------------------


def test_walk_returns_same_messages_if_no_step_changes_anything() -> None:
    messages = [message("user", text("A")), message("assistant", call())]
    assert walked(messages, Plan((content_step(upper, TextContent),)), context()) is messages


def test_each_message_passes_all_steps_of_a_walk_before_the_next() -> None:
    seen: list[tuple[str, str]] = []

    def noted(name: str) -> Step:
        def note(content: Any, context: EncodeContext) -> Any:
            seen.append((name, content.text))
            return content

        return content_step(note, TextContent)

    walked([message("user", text("a")), message("user", text("b"))], Plan((noted("1"), noted("2"))), context())
    assert seen == [("1", "a"), ("2", "a"), ("1", "b"), ("2", "b")]


def test_later_step_gets_what_an_earlier_one_made() -> None:
    plan = Plan((content_step(split, TextContent), content_step(upper, TextContent)))
    assert words(walked([message("user", text("a b"))], plan, context())) == [["A", "B"]]


def test_step_that_returns_nothing_leaves_a_content_out() -> None:
    plan = Plan((content_step(lambda content, context: (), ReasoningContent),))
    made = walked([message("assistant", ReasoningContent(text="hm"), text("a"))], plan, context())
    assert words(made) == [["a"]]
    assert len(made[0].contents) == 1


def test_message_of_which_nothing_is_left_becomes_what_the_step_declares() -> None:
    def placeholder(emptied: ChatMessage, context: EncodeContext) -> ChatMessage:
        return replace(emptied, contents=[text("left out")])

    plan = Plan((content_step(lambda content, context: (), UriContent, emptied=placeholder),))
    made = walked(
        [message("user", UriContent(uri="a")), message("user", UriContent(uri="b"), text("c"))], plan, context()
    )
    assert words(made) == [["left out"], ["c"]]


def test_turn_step_may_make_several_messages_or_none() -> None:
    def apart(one: ChatMessage, context: EncodeContext) -> Any:
        return [] if not one.contents else [replace(one, contents=[content]) for content in one.contents]

    made = walked([message("user", text("a"), text("b")), message("user")], Plan((turn_step(apart),)), context())
    assert words(made) == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, ["a", "B"]), ({"own": "always"}, ["A", "B"]), ({"own": "aimed"}, ["a", "B"])],
    ids=["never", "always", "aimed"],
)
def test_messages_of_the_target_are_left_alone_unless_the_step_says_otherwise(
    options: Any, expected: list[str]
) -> None:
    messages = [message("user", text("a"), origin=OWN), message("user", text("b"))]
    made = walked(messages, Plan((content_step(upper, TextContent, **options),)), context())
    assert [one for each in words(made) for one in each] == expected


def test_aimed_step_looks_at_messages_of_the_target_that_go_to_another_model() -> None:
    here = context(OWN)
    here.is_aimed = True
    plan = Plan((content_step(upper, TextContent, aimed=True),))
    assert words(walked([message("user", text("a"), origin=OWN)], plan, here)) == [["A"]]


def test_step_gets_only_contents_with_its_attribute() -> None:
    cited = text("a", annotations=[Citation(url="u")])
    plan = Plan((content_step(upper, attribute="annotations"),))
    assert words(walked([message("user", cited, text("b"))], plan, context())) == [["A", "b"]]


def test_step_is_skipped_for_messages_with_only_plain_types() -> None:
    def plain(facts: Any) -> Any:
        return {"user": frozenset({TextContent})}

    plan = Plan((content_step(upper, TextContent, plain=plain),))
    made = walked([message("user", text("a")), message("assistant", text("b"))], plan, context())
    assert words(made) == [["a"], ["B"]]


def test_context_has_message_and_index_of_the_content() -> None:
    seen: list[tuple[str, int]] = []

    def note(content: Any, context: EncodeContext) -> Any:
        seen.append((context.message.role, context.index))
        return content

    walked(
        [message("user", text("a"), text("b")), message("assistant", text("c"))], Plan((content_step(note),)), context()
    )
    assert seen == [("user", 0), ("user", 1), ("assistant", 0)]


# -- what the walk records ---------------------------------------------------------------------------------------------


def test_walk_records_the_source_of_each_content_and_message() -> None:
    here, first = context(), message("user", text("a b"))
    plan = Plan((content_step(split, TextContent), content_step(upper, TextContent)))
    [made] = walked([first], plan, here)
    assert source_of(made, here) is first
    assert [source_of(content, here) for content in made.contents] == [first.contents[0]] * 2


def test_parts_of_a_document_keep_their_own_place() -> None:
    here, part = context(), DataContent.from_bytes(b"x", media_type="image/png")
    document = DocumentContent(parts=[text("a"), part])
    plan = Plan((content_step(lambda content, context: content.parts, DocumentContent),))
    [made] = walked([message("user", document)], plan, here)
    assert made.contents[1] is part
    assert source_of(part, here) is part


def test_walk_records_contents_that_a_turn_step_changed() -> None:
    here, first = context(), message("assistant", text("a"), call())

    def signed(one: ChatMessage, context: EncodeContext) -> ChatMessage:
        return replace(one, contents=[one.contents[0], replace(one.contents[1], name="g")])

    [made] = walked([first], Plan((turn_step(signed, FunctionCallContent),)), here)
    assert source_of(made.contents[1], here) is first.contents[1]


def test_message_of_the_same_role_stands_for_the_source() -> None:
    here, first = context(), message("user", text("a"), result(text("b")))

    def apart(one: ChatMessage, context: EncodeContext) -> Any:
        return [ChatMessage(role="tool", contents=[one.contents[1]]), replace(one, contents=[one.contents[0]])]

    tool, user = walked([first], Plan((turn_step(apart, FunctionResultContent),)), here)
    assert source_of(user, here) is first
    assert source_of(tool, here) is tool


def upper_results_first(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Move results before the user's texts, and change the texts."""
    user, tool = messages
    texts = [upper(content, context) for content in user.contents if isinstance(content, TextContent)]
    results = [content for content in user.contents if not isinstance(content, TextContent)]
    return [replace(tool, contents=[*tool.contents, *results]), replace(user, contents=texts)]


def test_engine_records_what_a_step_over_messages_changed_and_moved() -> None:
    here = context()
    user, tool = message("user", text("a"), late := result(text("1"))), message("tool", early := result(text("0")))
    made = walked([user, tool], Plan([transcript_step(upper_results_first)]), here)
    assert [one.role for one in made] == ["tool", "user"]
    assert [source_of(one, here) for one in made] == [tool, user]
    assert list(map(id, made[0].contents)) == [id(early), id(late)]
    assert source_of(made[1].contents[0], here) is user.contents[0]


def joined(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    contents = [content for one in messages for content in one.contents]
    return [replace(messages[0], contents=contents), message("user", text("more"))]


def test_joined_message_stands_for_the_first_one_and_a_new_one_for_none() -> None:
    here = context()
    both = [message("assistant", text("a")), message("assistant", text("b"))]
    made = walked(both, Plan([transcript_step(joined)]), here)
    assert source_of(made[0], here) is both[0]
    assert source_of(made[1], here) is made[1]


def test_message_of_replaced_contents_keeps_its_source_if_its_role_changes() -> None:
    def as_user(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
        return [replace(one, role="user") for one in messages]

    here, system = context(), message("system", text("a"))
    made = walked([system], Plan([content_step(upper, TextContent), transcript_step(as_user)]), here)
    assert (words(made), made[0].role, source_of(made[0], here)) == ([["A"]], "user", system)
    assert source_of(made[0], here) is system


def test_step_may_give_back_what_an_earlier_one_replaced() -> None:
    here = context()
    original = [message("user", text("a"))]
    steps = [content_step(upper, TextContent), transcript_step(lambda messages, context: list(original))]
    steps[1] = replace(steps[1], name="back")
    made = walked(original, Plan(steps), here)
    assert made == original
    assert source_of(made[0], here) is original[0]
    assert source_of(made[0].contents[0], here) is original[0].contents[0]


def test_step_keeps_what_it_records_itself() -> None:
    here = context()
    original = [message("user", text("a"), text("b"))]

    def swapped(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
        first, second = messages[0].contents
        return [
            replace(messages[0], contents=[context.replaced(second, text("B")), context.replaced(first, text("A"))])
        ]

    made = walked(original, Plan([transcript_step(swapped)]), here)
    assert [source_of(content, here) for content in made[0].contents] == original[0].contents[::-1]


def test_each_output_changes_and_records_outputs() -> None:
    here, outputs = context(), [text("a"), text("B")]
    made = each_output(result(*outputs), upper, here)
    assert [output.text for output in made.output_list] == ["A", "B"]  # type: ignore[attr-defined]
    assert source_of(made.output_list[0], here) is outputs[0]
    assert made.output_list[1] is outputs[1]


def test_each_output_returns_same_result_if_nothing_changes() -> None:
    whole = result(text("A"))
    assert each_output(whole, upper, context()) is whole


# -- plans -------------------------------------------------------------------------------------------------------------


@needs("user", makes=lambda facts: (UriContent,))
def _linked(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    return [*messages, message("tool", UriContent(uri="made"))]


def test_step_runs_for_facts_that_an_earlier_step_makes() -> None:
    plan = Plan(
        (transcript_step(_linked), content_step(lambda content, context: text("link"), UriContent, needs=(UriContent,)))
    )
    assert words(walked([message("user", text("a"))], plan, context())) == [["a"], ["link"]]
    assert words(walked([message("assistant", text("a"))], plan, context())) == [["a"]]


def test_step_runs_only_for_targets_of_its_condition() -> None:
    plan = Plan((content_step(upper, TextContent, on=lambda context: context.keeps_state),))
    here = context()
    assert words(walked([message("user", text("a"))], plan, here)) == [["a"]]
    here.keeps_state = True
    assert words(walked([message("user", text("a"))], plan, here)) == [["A"]]


def test_plan_is_kept_by_facts_and_target() -> None:
    plan, here = Plan((content_step(upper, TextContent, needs=(TextContent,)),)), context()
    here.target = object()
    some, none = frozenset({TextContent, Fact.FOREIGN}), frozenset({Fact.FOREIGN})
    assert plan.stages(some, here) is plan.stages(some, here)
    assert len(plan.stages(some, here)) == 1
    assert plan.stages(none, here) == ()


def test_every_step_may_have_work_for_contents_of_own_classes() -> None:
    class Note(TextContent, frozen=True, kw_only=True):
        pass

    facts = census(ChatRequest(messages=[message("user", Note(text="a"))]), API)
    assert Fact.OWN_CLASS in facts
    assert len(Plan((content_step(upper, needs=(UriContent,)),)).planned(facts, context())) == 1


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages", "google-generate-content", "bedrock-converse"])
def test_own_turns_of_a_mixed_transcript_are_sent_back_as_they_were(target: str) -> None:
    adapter = contentmodel.adapter(target)
    asked = contentmodel.ChatRequest(
        model="m", messages=[contentmodel.user("a"), ChatMessage(role="assistant", contents=[text("b")])]
    )
    own = adapter.decode_request(adapter.encode_request(asked).payload)
    mixed = replace(own, messages=[*own.messages, message("user", text("c"))])
    alone, beside = adapter.encode_request(own).payload, adapter.encode_request(mixed).payload
    field = "contents" if "contents" in alone else "messages"
    assert beside[field][: len(alone[field])] == alone[field]


# -- the census --------------------------------------------------------------------------------------------------------

STATE = Protected(issuer="singer", kind="signature", data="x")


@pytest.mark.parametrize(
    ("fact", "request_"),
    [
        (Fact.INSTRUCTIONS, ChatRequest(instructions=[text("a")])),
        (JsonContent, ChatRequest(instructions=[JsonContent(value=1)])),
        (Fact.NO_OUTPUTS, ChatRequest(messages=[message("tool", FunctionResultContent(call_id="1", outputs=None))])),
        (Fact.RICH_RESULT, ChatRequest(messages=[message("tool", result())])),
        (Fact.RICH_RESULT, ChatRequest(messages=[message("tool", result(text("a"), text("b")))])),
        (DataContent, ChatRequest(messages=[message("tool", result(DataContent.from_bytes(b"x", "image/png")))])),
        (
            DataContent,
            ChatRequest(messages=[message("user", DocumentContent(parts=[DataContent.from_bytes(b"x", "image/png")]))]),
        ),
        (Fact.RESULT_RECORD, ChatRequest(messages=[message("tool", result(text("a"), outcome="denied"))])),
        (Fact.MESSAGE_ID, ChatRequest(messages=[message("user", message_id="1")])),
        (Fact.MESSAGE_RECORD, ChatRequest(messages=[message("user", created=1)])),
        (Fact.AUTHOR, ChatRequest(messages=[message("user", author_name="ann")])),
        (Fact.STATE, ChatRequest(messages=[message("assistant", call(protected=STATE))])),
        (Citation, ChatRequest(instructions=[text("a", annotations=[Citation(url="u")])])),
        (Citation, ChatRequest(messages=[message("assistant", text("a", annotations=[Citation(url="u")]))])),
        (Fact.CITED_ALONE, ChatRequest(messages=[message("assistant", text("", annotations=[Citation(url="u")]))])),
        (Fact.NO_CALL_ID, ChatRequest(messages=[message("assistant", call(None))])),
        (Fact.NAMESPACE, ChatRequest(messages=[message("assistant", call(namespace="n"))])),
        (Fact.BLANK_TEXT, ChatRequest(messages=[message("user", text(" \n"))])),
        (Fact.BLANK_TEXT, ChatRequest(messages=[message("tool", result(text("")))])),
        (Fact.BLANK_TEXT, ChatRequest(messages=[message("tool", result(text("a"), text("")))])),
        (Fact.STRICT_TOOL, ChatRequest(tools=[FunctionTool(name="f", strict=True)])),
        (("tool", CustomTool), ChatRequest(tools=[CustomTool(name="f")])),
        (("option", "temperature"), ChatRequest(options=ChatOptions(temperature=0))),
        (("extra", "songs"), ChatRequest(extra={"songs": {"a": 1}})),
        ("developer", ChatRequest(messages=[message("developer", text("a"))])),
        (Fact.FOREIGN, ChatRequest(messages=[message("user", origin=OWN), message("user")], origin=OWN)),
        (Fact.FOREIGN, ChatRequest(messages=[message("user", origin=OWN)])),
    ],
)
def test_census_has_fact_of_request(fact: Any, request_: ChatRequest) -> None:
    assert fact in census(request_, API)


def test_census_of_a_usual_request_has_no_special_facts() -> None:
    messages = [message("user", text("a")), message("assistant", call()), message("tool", result(text("b")))]
    own = [replace(one, origin=OWN) for one in messages]
    assert {fact for fact in census(ChatRequest(messages=own, origin=OWN), API) if isinstance(fact, Fact)} == set()
