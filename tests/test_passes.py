"""Steps of the engine on messages of another API: each function alone, with the losses that it reports."""

from __future__ import annotations

from typing import Any

import pytest

from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    ReasoningContent,
    TextContent,
)
from contentmodel.content import ToolApprovalRequestContent
from contentmodel.engine.context import EncodeContext, is_all_native, is_native
from contentmodel.engine.pipeline.calls import pair_calls, with_complete_calls, with_names_of_calls
from contentmodel.engine.pipeline.foreign import (
    WITHOUT_BLANK_TEXTS,
    normalize_foreign,
    with_a_turn,
    without_broken_status,
)
from contentmodel.engine.pipeline.names import with_answer_ids, with_call_ids, with_distinct_ids
from contentmodel.engine.pipeline.sentinels import APART, LATE, NO_RESULT, NO_TURN
from contentmodel.engine.pipeline.steps import Plan, walked
from contentmodel.pairs import AnswerCallIds, TranscriptIndex

OWN = Origin(api="tales", issuer="teller")
OTHER = Origin(api="songs", issuer="singer")


def context(origin: Origin | None = OTHER) -> EncodeContext:
    return EncodeContext("tales", "teller", "request", origin=origin)


def message(role: str, *contents: Any, origin: Origin | None = OTHER) -> ChatMessage:
    return ChatMessage(role=role, contents=list(contents), origin=origin)


def text(words: str) -> TextContent:
    return TextContent(text=words)


def call(call_id: str | None = "1", name: str = "f", **fields: Any) -> FunctionCallContent:
    return FunctionCallContent(call_id=call_id, name=name, **{"arguments": {}, **fields})


def result(call_id: str | None = "1", *outputs: Any, name: str | None = None) -> FunctionResultContent:
    return FunctionResultContent(call_id=call_id, name=name, outputs=list(outputs))


def codes(made: EncodeContext) -> list[tuple[str, str | None]]:
    """Return the code and the field of each loss that was reported."""
    return [(reason.code, field) for _, field, reason, _, _ in made.pending_losses]


# -- origins -----------------------------------------------------------------------------------------------------------


def test_message_is_native_only_with_an_origin_of_the_target() -> None:
    assert is_native(message("user", origin=OWN), context())
    assert not is_native(message("user"), context())
    assert not is_native(message("user", origin=None), context())


def test_request_is_native_only_if_all_its_messages_are() -> None:
    own, other = message("user", origin=OWN), message("user")
    assert is_all_native(ChatRequest(messages=[own], origin=OWN), context(OWN))
    assert not is_all_native(ChatRequest(messages=[own, other], origin=OWN), context(OWN))
    assert not is_all_native(ChatRequest(messages=[own], origin=OTHER), context(OTHER))


# -- texts and turns ---------------------------------------------------------------------------------------------------


def test_blank_texts_of_other_apis_are_dropped_and_reported() -> None:
    here = context()
    kept = walked([message("user", text("a"), text(" \n"), text(""))], Plan((WITHOUT_BLANK_TEXTS,)), here)
    assert [content.text for content in kept[0].contents] == ["a"]
    # Nothing is lost with an empty text.
    assert codes(here) == [("blank-text", None)]


def test_blank_texts_of_native_messages_are_kept() -> None:
    here, own = context(), message("user", text(" "), origin=OWN)
    assert walked([own], Plan((WITHOUT_BLANK_TEXTS,)), here) == [own]
    assert codes(here) == []


def test_request_without_contents_gets_a_turn() -> None:
    here = context()
    made = with_a_turn(ChatRequest(messages=[message("user")], origin=OTHER), here)
    assert [content.text for content in made.messages[-1].contents] == [NO_TURN]
    assert codes(here) == [("no-user-message", "messages")]


@pytest.mark.parametrize("origin", [OWN, OTHER])
def test_request_gets_no_turn_if_it_has_contents_or_is_native(origin: Origin) -> None:
    here = context(origin)
    contents = [] if origin is OWN else [text("a")]
    asked = ChatRequest(messages=[message("user", *contents, origin=origin)], origin=origin)
    assert with_a_turn(asked, here) is asked
    assert codes(here) == []


def test_incomplete_call_is_reported() -> None:
    here, messages = context(), [message("assistant", call(status="incomplete"), call("2", status="completed"))]
    assert without_broken_status(messages, here) is messages
    assert codes(here) == [("interrupted-status", "status")]


# -- ids of calls ------------------------------------------------------------------------------------------------------


def test_calls_and_results_without_ids_get_the_same_ids() -> None:
    here = context()
    messages = [message("assistant", call(None), call(None, "g")), message("tool", result(None), result(None))]
    calls, results = (made.contents for made in with_call_ids(messages, here))
    ids = [content.call_id for content in calls]
    assert len(set(ids)) == 2
    assert [content.call_id for content in results] == ids
    assert codes(here) == [("call-id", "call_id")] * 4


def test_normalization_returns_same_messages_if_calls_have_ids() -> None:
    messages = [message("assistant", call()), message("tool", result(text("a")))]
    assert normalize_foreign(messages, context()) is messages


def test_streamed_calls_get_same_ids_as_in_whole_response() -> None:
    contents = [call(None), call(None, "g"), result(None), call("given"), result("given")]
    streamed = AnswerCallIds("answer")
    ids = [streamed.give(index, content).call_id for index, content in enumerate(contents)]
    here = context()
    here.answer_id = "answer"
    (whole,) = with_answer_ids([message("assistant", *contents)], here)
    assert ids == [content.call_id for content in whole.contents]
    assert streamed.give(0, call(None)).call_id == ids[0]


def test_repeated_ids_of_a_turn_become_distinct_and_results_follow_their_calls() -> None:
    here = context()
    messages = [message("assistant", call("1"), call("1", "g")), message("tool", result("1"), result("1"))]
    calls, results = (made.contents for made in with_distinct_ids(messages, TranscriptIndex(messages), here))
    assert [content.call_id for content in calls] == ["1", "1_2"]
    assert [content.call_id for content in results] == ["1", "1_2"]
    assert set(codes(here)) == {("repeated-call-id", "call_id")}


def test_ids_that_repeat_in_later_turns_become_distinct_and_are_kept_in_maps() -> None:
    here = context()
    turn = [message("assistant", call("1")), message("tool", result("1"))]
    messages = [*turn, message("user", text("again")), *turn, *turn]
    made = with_distinct_ids(messages, TranscriptIndex(messages), here)
    assert [content.call_id for one in made if one.role != "user" for content in one.contents] == [
        *("1", "1", "1_2", "1_2", "1_3", "1_3")
    ]
    assert here.maps is not None
    assert here.maps.repeated == {"1_2": "1", "1_3": "1"}
    for end in range(len(messages)):
        assert with_distinct_ids(messages[:end], TranscriptIndex(messages[:end]), context()) == made[:end]


def test_target_that_repeats_its_own_ids_keeps_them() -> None:
    here = context()
    own = [message("assistant", call("1"), origin=OWN), message("tool", result("1"), origin=OWN)] * 2
    assert with_distinct_ids(own, TranscriptIndex(own), here) == own


def test_result_gets_id_of_its_call_if_only_results_have_ids() -> None:
    here = context()
    messages = [
        message("assistant", call(None), call(None, "g")),
        message("tool", result("x", name="g"), result("y", name="f")),
    ]
    calls, results = (made.contents for made in with_call_ids(messages, here))
    assert [content.call_id for content in results] == [content.call_id for content in reversed(calls)]
    assert codes(here)[2:] == [("id-of-call", "call_id")] * 2


def test_approval_gets_new_id_of_its_call() -> None:
    request = ToolApprovalRequestContent(request_id="1", name="f")
    messages = [message("assistant", call("1")), message("tool", result("1")), message("assistant", call("1"), request)]
    made = with_distinct_ids(messages, TranscriptIndex(messages), context())
    assert made[2].contents[1].request_id == made[2].contents[0].call_id == "1_2"


def test_results_get_the_names_of_their_calls() -> None:
    here = context()
    messages = [message("assistant", call(name="f")), message("tool", result(name="other"))]
    named = with_names_of_calls(messages, TranscriptIndex(messages), here)
    assert named[1].contents[0].name == "f"
    assert codes(here) == [("name-of-call", "name")]


@pytest.mark.parametrize(("arguments", "reported"), [(None, []), ("", [("empty-arguments", "arguments")])])
def test_calls_without_arguments_get_an_empty_object(arguments: Any, reported: list[Any]) -> None:
    here = context()
    (made,) = with_complete_calls([message("assistant", call(arguments=arguments))], here)
    assert made.contents[0].arguments == {}
    assert codes(here) == reported


# -- pairs -------------------------------------------------------------------------------------------------------------


def paired(*messages: ChatMessage, **settings: Any) -> tuple[list[ChatMessage], EncodeContext]:
    here = context()
    return pair_calls(messages, TranscriptIndex(messages), here, **settings), here


def test_pair_calls_keeps_paired_calls_unchanged() -> None:
    messages = [message("assistant", call()), message("tool", result("1", text("ok"))), message("user", text("Thanks"))]
    made, here = paired(*messages)
    assert made == messages
    assert codes(here) == []


def test_call_without_a_result_gets_a_placeholder_before_the_next_turn() -> None:
    made, here = paired(message("assistant", call()), message("user", text("Go on.")))
    assert [one.role for one in made] == ["assistant", "tool", "user"]
    assert made[1].contents == [result("1", text(NO_RESULT), name="f")]
    assert codes(here) == [("missing-result", None)]


def test_placeholder_joins_the_results_of_its_turn() -> None:
    made, _ = paired(
        message("assistant", call("1"), call("2")), message("tool", result("2")), message("user", text("x"))
    )
    assert [content.call_id for content in made[1].contents] == ["2", "1"]


def test_call_at_the_end_gets_no_placeholder() -> None:
    made, here = paired(message("assistant", call()))
    assert [one.role for one in made] == ["assistant"]
    assert codes(here) == []


def test_half_answered_turn_at_the_end_gets_placeholders() -> None:
    made, here = paired(message("assistant", call("1"), call("2")), message("tool", result("2")))
    assert made[-1].contents == [result("2"), result("1", text(NO_RESULT), name="f")]
    assert codes(here) == [("missing-result", None)]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_result_is_sent_before_instructions_that_separate_it_from_its_call(role: str) -> None:
    first, last = message("tool", result("1")), message("tool", result("2"))
    between = message(role, text("Be brief."))
    calls = message("assistant", call("1"), call("2"))
    made, here = paired(calls, first, between, last, message("assistant", text("Done.")))
    results = message("tool", result("1"), result("2"))
    assert made == [calls, results, between, message("assistant", text("Done."))]
    assert codes(here) == [("result-moved", None)]


def test_result_after_an_answer_of_the_model_becomes_text() -> None:
    between = [message("developer", text("Be brief.")), message("assistant", text("Well."))]
    made, here = paired(message("assistant", call("1")), *between, message("tool", result("1", text("late"))))
    assert [one.role for one in made] == ["assistant", "tool", "developer", "assistant", "user"]
    assert codes(here) == [("missing-result", None), ("unmatched-result", None)]


def test_unmatched_result_is_sent_after_placeholders_if_no_call_of_the_last_turn_has_a_result() -> None:
    made, here = paired(message("assistant", call("1")), message("tool", result("x", text("late"))))
    assert [one.role for one in made] == ["assistant", "tool", "user"]
    assert codes(here)[:1] == [("unmatched-result", None)]


def test_result_of_no_pending_call_becomes_text_after_the_results() -> None:
    made, here = paired(message("assistant", call()), message("tool", result("x", text("late")), result("1")))
    assert [one.role for one in made] == ["assistant", "tool", "user"]
    assert made[2].contents[0].text == f"{LATE.write('x')}\nlate"
    assert codes(here)[0] == ("unmatched-result", None)


@pytest.mark.parametrize("call_id", ["c1", "", "a b]", "]\n", '"', '"\n"', "\ud83d\n"])
def test_label_of_a_result_is_one_line_with_the_call_id(call_id: str) -> None:
    label = LATE.write(call_id)
    assert "\n" not in label
    assert LATE.read(label) == call_id
    assert APART.read(label) is None


@pytest.mark.parametrize("written", ['"', '"a"', '"a', '"\\u000a"', "[1]\n"])
def test_text_that_is_not_exactly_a_label_is_not_read_as_one(written: str) -> None:
    assert LATE.read(f"[late result of tool call {written}]") is None


def test_result_at_the_beginning_is_kept_if_conversation_is_continued() -> None:
    messages = [message("tool", result("x")), message("user", text("a"))]
    assert paired(*messages, is_continued=True)[0] == messages
    assert [one.role for one in paired(*messages)[0]] == ["user", "user"]


def test_media_of_results_follow_all_results_of_the_turn() -> None:
    picture = DataContent(data="iVBORw0KGgo=", media_type="image/png")
    made, here = paired(
        message("assistant", call("1"), call("2")),
        message("tool", result("1", text("see"), picture)),
        message("tool", result("2", text("ok"))),
        detach_media="always",
    )
    assert [one.role for one in made] == ["assistant", "tool", "tool", "user"]
    assert made[3].contents[-1] is picture
    assert picture not in made[1].contents[0].outputs
    assert codes(here) == [("media-after-result", None)]


def test_pair_calls_gives_same_beginning_for_longer_conversation() -> None:
    messages = [
        message("user", text("Do it.")),
        message("assistant", ReasoningContent(text="Hm."), call("1"), call("2")),
        message("tool", result("2", text("two"))),
        message("user", text("And?")),
        message("tool", result("1", text("late"))),
        message("assistant", text("Done.")),
    ]
    whole = paired(*messages)[0]
    # A turn of calls at the end is still open.
    for end in (1, 4, 6):
        begun = paired(*messages[:end])[0]
        assert begun == whole[: len(begun)]
