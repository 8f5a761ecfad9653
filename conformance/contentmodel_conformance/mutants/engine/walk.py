"""Defects in the census of facts, in plans, in the walk, and in the steps that every adapter shares."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.engine.adapting import TableAdapter
from contentmodel.engine.pipeline import steps
from contentmodel.engine.pipeline.steps import Fact
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, GOOGLE
from contentmodel_conformance.mutants.engine.changes import BEDROCK, change

replace = msgspec.structs.replace

# -- the census --------------------------------------------------------------------------------------------------------


@change(steps, "_add_messages", CHAT, "planning/crossing")
def counts_no_messages(original: Any, facts: Any, messages: Any, api: Any) -> None:
    """Take no facts of messages but that they are of another API."""
    facts.add(Fact.FOREIGN)


@change(steps, "census", BEDROCK, "planning/crossing", other=CHAT)
def counts_no_instructions(original: Any, request: Any, api: Any) -> Any:
    """Forget that a request has instructions."""
    return original(request, api) - {Fact.INSTRUCTIONS, "system", "developer"}


@change(steps, "census", ANTHROPIC, "rules/settings")
def counts_no_settings(original: Any, request: Any, api: Any) -> Any:
    """Forget the settings of a request."""
    return frozenset(fact for fact in original(request, api) if not (isinstance(fact, tuple) and fact[0] == "option"))


@change(steps, "census", GOOGLE, "planning/crossing")
def counts_no_tools(original: Any, request: Any, api: Any) -> Any:
    """Forget the tools of a request."""
    return frozenset(fact for fact in original(request, api) if not (isinstance(fact, tuple) and fact[0] == "tool"))


# -- plans -------------------------------------------------------------------------------------------------------------


@change(steps.Plan, "planned", CHAT, "identity/sdk-places")
def plans_own_requests_like_others(original: Any, self: Any, facts: Any, context: Any) -> Any:
    """Choose the steps for requests of other APIs for those of the target's own."""
    return original(self, facts | {Fact.FOREIGN}, context)


@change(TableAdapter, "aim", ANTHROPIC, "obedience/conversations")
def keeps_one_target(original: Any, self: Any, context: Any, model: Any) -> None:
    """Keep what is known of the first model for all models."""
    original(self, context, model)
    context.known = _first_known.setdefault((id(self), context.kind), context.known)


_first_known: dict[Any, Any] = {}


@change(steps, "_joined", CHAT, "rules/crossing", other=ANTHROPIC)
def forgets_the_last_walk(original: Any, chosen: Any, facts: Any) -> Any:
    """Leave out the last walk of a plan."""
    stages = list(original(chosen, facts))
    last = max((at for at, stage in enumerate(stages) if stage.name == "walk"), default=None)
    return tuple(stage for at, stage in enumerate(stages) if at != last)


# -- the walk ----------------------------------------------------------------------------------------------------------


@change(steps.Walk, "_turns", CHAT, "agreement/crossing", other=ANTHROPIC)
def joins_messages_again(original: Any, self: Any, message: Any, context: Any, idle: Any, *, is_own: Any) -> Any:
    """Drop all but the first of the messages that a message becomes."""
    return original(self, message, context, idle, is_own=is_own)[:1]
