"""Defects in lanes: templates that take too much, or that put turns into the wrong places."""

from __future__ import annotations

from typing import Any

from contentmodel.lanes import lane, turns, values
from contentmodel.lanes.template import Code
from contentmodel.lanes.turns import SplicedRequest, Turns
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, GOOGLE
from contentmodel_conformance.mutants.engine.changes import BEDROCK, change


@change(values, "is_prose", ANTHROPIC, "lanes/agents", other=BEDROCK)
def takes_any_text(original: Any, text: str) -> bool:
    """Take blank texts and sentinels for prose."""
    return True


@change(values.Kind, "test_for", CHAT, "lanes/agents", other=ANTHROPIC)
def takes_any_id(original: Any, self: Any, value: Any) -> Any:
    """Take any text for an id."""
    test = original(self, value)
    return (lambda other: True) if test and self is values.ID else test


@change(values, "_is_count", CHAT, "lanes/crossing", other=GOOGLE)
def counts_without_end(original: Any, number: int) -> bool:
    """Take any positive number for a count."""
    return number > 0


@change(values, "_arguments_in", CHAT, "lanes/agents", other=ANTHROPIC)
def reads_any_spelling(original: Any, text: str, *, is_compact: bool) -> Any:
    """Take arguments in any spelling, the loss of which is not reported."""
    return values.read_arguments(text)


@change(Code, "_compare", CHAT, "lanes/agents", other=ANTHROPIC)
def compares_nothing(original: Any, self: Any) -> None:
    """Forget what the values are to each other: sums, and different ids."""


@change(lane.Lane, "outcome", ANTHROPIC, "lanes/agents", other=CHAT)
def loses_nothing(original: Any, self: Any, encoded: Any) -> Any:
    """Forget the losses of a conversion."""
    return original(self, encoded)._replace(losses=())


@change(turns, "_are_apart", CHAT, "lanes/agents", other=ANTHROPIC)
def takes_repeated_ids(original: Any, turns: Any, rest: Any) -> bool:
    """Take turns with ids of other calls, and with calls of unknown tools."""
    return True


@change(Turns, "_left_out", CHAT, "lanes/agents", other=ANTHROPIC)
def leaves_out_all(original: Any, self: Any, messages: Any, fits: Any, right: Any) -> Any:
    """Leave out every turn but the first, also at the end and beside other messages."""
    return [*fits[1:]]


@change(turns, "_inside", ANTHROPIC, "lanes/agents", other=CHAT)
def forgets_losses_of_turns(original: Any, *arguments: Any) -> Any:
    """Forget the losses of turns."""
    original(*arguments)
    return ()


@change(SplicedRequest, "_whole_index", ANTHROPIC, "lanes/agents", other=CHAT)
def keeps_indexes(original: Any, self: Any, index: int) -> int:
    """Report losses after the turns that were left out at their indexes without these."""
    return index
