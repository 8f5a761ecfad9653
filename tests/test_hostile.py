"""The strategies of hostile conversations: they draw every imitation of sentinels and notes often enough."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, seed, settings

import contentmodel
from contentmodel import FunctionCallContent, FunctionResultContent
from contentmodel.content import CustomToolCallContent
from contentmodel_conformance.strategies import hostile
from contentmodel_conformance.subject import limits_of
from contentmodel_conformance.voices import TAG

GOOGLE = "google-generate-content"
CONTENTS = {
    "contents": [{"role": "user", "parts": [{"text": "Hello."}]}, {"role": "model", "parts": [{"text": "Hi."}]}]
}


def drawn(strategy: Any, count: int) -> list[Any]:
    """Return `count` values of a strategy, always the same ones."""
    values: list[Any] = []
    run = settings(max_examples=count, database=None, deadline=None, phases=(Phase.generate,))(
        given(strategy)(lambda value: values.append(value))
    )
    seed(0)(run)()
    return values


def test_imitations_do_not_depend_on_order_of_adapters() -> None:
    adapters = list(contentmodel.adapters().values())
    assert hostile._imitations(*adapters) == hostile._imitations(*reversed(adapters)) == hostile.imitations()
    assert list(hostile._notes(*adapters)) == list(hostile._notes(*reversed(adapters)))


def test_imitations_depend_on_given_adapters() -> None:
    adapters = list(contentmodel.adapters().values())
    assert hostile._imitations() != hostile._imitations(*adapters)


@pytest.mark.slow
def test_drawn_messages_often_have_key_that_imitates_role_hint() -> None:
    payloads = drawn(hostile.with_notes(CONTENTS), 100)
    marked = [payload for payload in payloads if any(isinstance(c.get(":role"), dict) for c in payload["contents"])]
    assert len(marked) >= 10


def test_drawn_tool_results_often_begin_with_failure_mark() -> None:
    requests = drawn(hostile.hostile("openai-chat"), 30)
    assert sum(any(_imitates_failure(content) for content in _contents(request)) for request in requests) >= 10


def test_drawn_user_messages_always_imitate_result_label() -> None:
    for request in drawn(hostile.hostile(GOOGLE), 10):
        users = [message for message in request.messages if message.role == "user"]
        assert any(message.contents[0].text.startswith("[output of tool call") for message in users)


def _contents(request: Any) -> list[Any]:
    return [content for message in request.messages for content in message.contents]


def _imitates_failure(content: Any) -> bool:
    if not isinstance(content, FunctionResultContent):
        return False
    return getattr(content.outputs[0], "text", "").startswith("[is_error: true")


def test_drawn_custom_calls_and_results_have_tags_and_distinct_ids() -> None:
    drawn_requests = drawn(hostile.hostile("openai-responses", limits_of(contentmodel.adapter("openai-responses"))), 40)
    customs = 0
    for request in drawn_requests:
        contents = [content for message in request.messages for content in message.contents]
        calls = [content for content in contents if isinstance(content, CustomToolCallContent)]
        ids = [call.call_id for call in contents if isinstance(call, CustomToolCallContent | FunctionCallContent)]
        assert all(TAG.search(call.arguments or "") for call in calls)
        assert len(ids) == len(set(ids))
        customs += len(calls)
    assert customs > 5
