"""Run every check of the kit on every installed adapter, through the public API of the kit.

`CONTENTMODEL_PROFILE=deep` tries a hundred times as many examples. If CONTENTMODEL_CORPUS is set, recorded traffic is
tried too.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import contentmodel
from conftest import PROFILE
from contentmodel_conformance import AdapterConformance
from history import values


class Ours(AdapterConformance):
    """The settings of all our adapters: each pair of them is tried once."""

    deep = PROFILE == "deep"
    is_one_of_many = True


class TestOpenaiChat(Ours):
    adapter = "openai-chat"


class TestOpenaiResponses(Ours):
    adapter = "openai-responses"


class TestAnthropicMessages(Ours):
    adapter = "anthropic-messages"


class TestGoogleGenerateContent(Ours):
    adapter = "google-generate-content"


class TestTurnBlocks(Ours):
    adapter = "turn-blocks"
    payloads: ClassVar = {"request": values.transcripts_of_rows(), "response": values.rows()}


def test_every_installed_adapter_goes_through() -> None:
    ours: list[Any] = Ours.__subclasses__()
    assert {one.adapter for one in ours} == set(contentmodel.adapters())


@pytest.mark.parametrize("one", Ours.__subclasses__(), ids=lambda one: one.__name__)
def test_most_checks_apply(one: type[Ours]) -> None:
    """Otherwise, a kit that skips every check would pass."""
    from contentmodel_conformance.checks import CHECKS

    subject = one.subject()
    applying = [check for check in CHECKS.values() if "corpus" not in check.needs and not check.skipped(subject)]
    assert len(applying) > (20 if subject.no_streams else 45)
