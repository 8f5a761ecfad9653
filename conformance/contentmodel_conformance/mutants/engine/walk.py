"""Defects in the census of facts, in plans, in the walk, and in the steps that every adapter shares."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.content import Citation, CustomToolCallContent, JsonContent, UriContent, WebSearchToolResultContent
from contentmodel.engine.adapting import TableAdapter
from contentmodel.engine.pipeline import steps
from contentmodel.engine.pipeline.steps import Fact
from contentmodel.request import CustomTool, ToolGroup
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


@change(steps, "_add_contents", BEDROCK, "planning/crossing")
def counts_no_blank_texts(original: Any, facts: Any, contents: Any) -> None:
    """Take no fact of texts without a visible character."""
    original(facts, contents)
    facts.discard(Fact.BLANK_TEXT)


@change(steps, "_add_messages", CHAT, "planning/any")
def counts_no_authors(original: Any, facts: Any, messages: Any, api: Any) -> None:
    """Take no fact of the names of authors."""
    original(facts, messages, api)
    facts.discard(Fact.AUTHOR)


@change(steps, "_add_messages", CHAT, "planning/any")
def counts_no_records_of_messages(original: Any, facts: Any, messages: Any, api: Any) -> None:
    """Take no fact of the times, counts and ends of messages."""
    original(facts, messages, api)
    facts.discard(Fact.MESSAGE_RECORD)


_UNSEEN: dict[str, tuple[Any, str]] = {
    "rich-results": (Fact.RICH_RESULT, CHAT),
    "records-of-results": (Fact.RESULT_RECORD, CHAT),
    "ids-of-messages": (Fact.MESSAGE_ID, CHAT),
    "opaque-state": (Fact.STATE, "inspect-eval-log"),
    "citations-alone": (Fact.CITED_ALONE, CHAT),
    "missing-ids-of-calls": (Fact.NO_CALL_ID, "otel-gen-ai"),
    "namespaces": (Fact.NAMESPACE, CHAT),
    "requests-to-continue": (Fact.CONTINUED, CHAT),
    "own-classes": (Fact.OWN_CLASS, CHAT),
    "unset-outputs": (Fact.NO_OUTPUTS, ANTHROPIC),
    "branches": (Fact.BRANCHES, CHAT),
    "json": (JsonContent, CHAT),
    "citations": (Citation, BEDROCK),
    "links": (UriContent, CHAT),
    "results-of-hosted-tools": (WebSearchToolResultContent, CHAT),
    "calls-of-custom-tools": (CustomToolCallContent, GOOGLE),
    "custom-tools": (("tool", CustomTool), GOOGLE),
    "groups-of-tools": (("tool", ToolGroup), CHAT),
    "settings-of-reasoning": (("option", "reasoning"), ANTHROPIC),
    "developers": ("developer", ANTHROPIC),
}
"""Facts, each with an API that has a step for it."""


def _forget(name: str, fact: Any, api: str) -> None:
    def counts_no_fact(original: Any, request: Any, api: Any) -> Any:
        return original(request, api) - {fact}

    counts_no_fact.__name__ = f"counts-no-{name}"
    counts_no_fact.__doc__ = f"Take no fact of {name.replace('-', ' ')}."
    change(steps, "census", api, "planning/rare")(counts_no_fact)


for _name, (_fact, _api) in _UNSEEN.items():
    _forget(_name, _fact, _api)


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


@change(steps.Plan, "planned", CHAT, "rules/crossing")
def plans_without_conditions(original: Any, self: Any, facts: Any, context: Any) -> Any:
    """Choose the steps of every host, model and policy."""
    before, self._chosen = (
        self._chosen,
        {key: tuple(replace(step, on=None) for step in chosen) for key, chosen in self._chosen.items()},
    )
    try:
        return original(self, facts, context)
    finally:
        self._chosen = before


@change(steps.Plan, "stages", CHAT, "rules/crossing")
def keeps_a_plan_for_all_facts(original: Any, self: Any, facts: Any, context: Any) -> Any:
    """Keep the plan of the first request for all requests to the target."""
    key = id(self), context.native, context.is_aimed
    return _first_plans.setdefault(key, original(self, facts, context))


_first_plans: dict[Any, Any] = {}


# -- the walk ----------------------------------------------------------------------------------------------------------


@change(steps.Walk, "_turns", CHAT, "agreement/crossing", other=ANTHROPIC)
def joins_messages_again(original: Any, self: Any, message: Any, context: Any, idle: Any, *, is_own: Any) -> Any:
    """Drop all but the first of the messages that a message becomes."""
    return original(self, message, context, idle, is_own=is_own)[:1]


@change(steps, "recorded", CHAT, "tracing/any")
def records_no_contents(original: Any, content: Any, changed: Any, context: Any) -> Any:
    """Record no content that a step of a walk made."""
    return changed if isinstance(changed, list | tuple) else (changed,)


@change(steps, "recorded_turns", CHAT, "tracing/any")
def records_no_turns(original: Any, message: Any, changed: Any, context: Any) -> Any:
    """Record no message that a step of a walk made."""
    return list(changed) if isinstance(changed, list | tuple) else [changed]


@change(steps, "compared", CHAT, "tracing/any")
def records_nothing_of_transcripts(original: Any, old: Any, new: Any, context: Any) -> Any:
    """Record nothing that a step over all messages, or over a request, made."""
    return new


@change(steps, "_pairs", CHAT, "accounting/crossing")
def pairs_replaced_parts_in_reverse(original: Any, old: Any, new: Any, known: Any) -> Any:
    """Take the last new part for what replaced the first one."""
    pairs = original(old, new, known)
    return [(before, after) for (before, _), (_, after) in zip(pairs, reversed(pairs), strict=True)]


@change(steps, "_pairs_of_messages", CHAT, "tracing/any")
def finds_no_replaced_messages(original: Any, gone: Any, changed: Any, known: Any) -> Any:
    """Record no message that a step over all messages made."""
    return []


@change(steps.Walk, "__call__", CHAT, "rules/crossing")
def walks_to_the_first_change(original: Any, self: Any, messages: Any, context: Any) -> Any:
    """End a walk at the first message that it changes."""
    for number, message in enumerate(messages):
        changed = original(self, [message], context)
        if len(changed) != 1 or changed[0] is not message:
            return [*messages[:number], *changed, *messages[number + 1 :]]
    return messages
