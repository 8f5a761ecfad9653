"""Defects in the steps that adapt a request, and in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from contentmodel import renames
from contentmodel.content.text import TextContent
from contentmodel.engine import chat, context
from contentmodel.engine.pipeline import (
    answers,
    calls,
    foreign,
    lowering,
    media,
    names,
    sentinels,
    settings,
    steps,
    tools,
)
from contentmodel.engine.pipeline.tools import AddedTools
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, GOOGLE
from contentmodel_conformance.mutants.engine.changes import MISTRAL, RESPONSES, change

replace = msgspec.structs.replace

# -- JSON --------------------------------------------------------------------------------------------------------------


@change(lowering, "as_text_content", CHAT, "section/stored")
def writes_no_json(original: Any, content: Any, context: Any) -> Any:
    """Send an empty text instead of a JSON value."""
    return replace(original(content, context), text="")


# -- fields ------------------------------------------------------------------------------------------------------------


@change(settings, "with_fields_of", MISTRAL, "accounting/sdk")
def drops_fields_that_both_apis_have(original: Any, request: Any, context: Any, other: str, names: Any) -> Any:
    """Drop the provider-specific fields that the target has, too, without a report."""
    changed = original(request, context, other, names)
    return changed if changed is request else replace(changed, extra={**changed.extra, context.api: {}})


# -- order -------------------------------------------------------------------------------------------------------------


def _without(steps: Sequence[Any], name: str) -> list[Any]:
    return [step for step in steps if step.name != name]


def _swapped(steps: Sequence[Any], one: str, other: str) -> list[Any]:
    by_name = {step.name: step for step in steps}
    swapped = {one: by_name[other], other: by_name[one]} if {one, other} <= by_name.keys() else {}
    return [swapped.get(step.name, step) for step in steps]


@change(steps.Plan, "__init__", ANTHROPIC, "rules/foreign")
def leaves_blank_texts(original: Any, self: Any, steps: Any) -> None:
    """Skip the step that drops blank texts."""
    original(self, _without(tuple(steps), "without_blank_text"))


@change(steps.Plan, "__init__", GOOGLE, "rules/crossing")
def leaves_schemas_as_they_are(original: Any, self: Any, steps: Any) -> None:
    """Skip the step that adapts the schemas of tools."""
    original(self, _without(tuple(steps), "with_fitting_schemas"))


@change(steps.Plan, "__init__", ANTHROPIC, "acceptance/settings")
def forgets_the_limit(original: Any, self: Any, steps: Any) -> None:
    """Skip the step that sets the required token limit."""
    original(self, _without(tuple(steps), "with_limit"))


@change(steps.Plan, "__init__", GOOGLE, "identity/sdk")
def completes_native_payloads(original: Any, self: Any, steps: Any) -> None:
    """Run the steps for payloads of other APIs on native payloads."""
    steps = tuple(steps)
    is_of_payloads = any(step.name == "_with_required" for step in steps)
    original(self, [replace(step, native=True) if is_of_payloads else step for step in steps])


@change(context, "is_native", CHAT, "rules/crossing", other=RESPONSES)
def treats_issuer_as_api(original: Any, message: Any, context: Any) -> Any:
    """Treat messages of other APIs of the same issuer as native."""
    return message.origin is not None and message.origin.issuer == context.issuer


@change(steps, "census", ANTHROPIC, "identity/sdk-places")
def adapts_native_requests(original: Any, request: Any, api: Any) -> Any:
    """Run all steps on a native request."""
    return original(request, api) | {steps.Fact.FOREIGN}


# -- contents ----------------------------------------------------------------------------------------------------------


@change(foreign, "with_known_role", CHAT, "roles/crossing")
def gives_unknown_roles_rights(original: Any, message: Any, context: Any) -> Any:
    """Send a message of an unknown role as a system message."""
    sent = original(message, context)
    return sent if sent is message else replace(sent, role="system")


@change(foreign, "_is_blank", ANTHROPIC, "rules/crossing")
def takes_blanks_for_texts(original: Any, content: Any) -> bool:
    """Send texts of other APIs that only have blanks."""
    return bool(original(content) and not content.text)


@change(foreign, "joined_messages", ANTHROPIC, "voices/crossing")
def joins_the_last_message_only(original: Any, run: Any, context: Any) -> Any:
    """Drop the middle messages of a run that is joined."""
    return original([run[0], run[-1]], context)


@change(foreign, "_fits", ANTHROPIC, "rules/crossing")
def leaves_instructions_anywhere(original: Any, run: Any, before: Any, after: Any) -> Any:
    """Keep instructions anywhere in a conversation."""
    return True


@change(lowering, "as_function_call", ANTHROPIC, "accounting/crossing")
def drops_arguments_of_hosted_calls(original: Any, content: Any, context: Any) -> Any:
    """Convert a hosted call to a function call without arguments, and report no loss of them."""
    return [replace(call, arguments={}) for call in original(content, context)]


@change(lowering, "as_text", ANTHROPIC, "accounting/crossing")
def keeps_only_titles(original: Any, content: Any) -> Any:
    """Convert only the first line of a link or a document to text."""
    return original(content).partition("\n")[0]


@change(sentinels, "announced", CHAT, "stability/foreign")
def leaves_announcements_in_results(original: Any, result: Any) -> Any:
    """Keep the sentinel for following media in the text of a result."""
    return result.outputs, original(result)[1]


@change(sentinels, "with_error_read", CHAT, "section/own")
def reads_no_failures(original: Any, result: Any) -> Any:
    """Keep the sentinel of a failure in the text of a result."""
    return result


@change(sentinels, "with_detached_media", CHAT, "stability/foreign")
def leaves_media_in_results(original: Any, messages: Any, api: Any) -> Any:
    """Leave detached media in their own message when a payload is decoded."""
    return messages


@change(media, "standard_base64", CHAT, "rules/crossing", other=GOOGLE)
def sends_url_safe_base64(original: Any, data: Any) -> Any:
    """Send URL-safe base64 of another API unchanged."""
    return data


@change(media, "_typed", CHAT, "rules/crossing", other=ANTHROPIC)
def sends_files_without_names(original: Any, content: Any, context: Any, reads: Any) -> Any:
    """Send documents without names to a target that requires them."""
    return original(content, context, replace(reads, named=False))


@change(media, "_as_text", CHAT, "accounting/crossing", other=GOOGLE)
def converts_links_silently(original: Any, content: Any, context: Any, reason: Any, **values: Any) -> Any:
    """Convert links to text, and report no loss."""
    return TextContent(text=lowering.as_text(content))


@change(names.Bijection, "keeps", ANTHROPIC, "rules/crossing")
def keeps_long_ids(original: Any, self: Any, text: Any) -> Any:
    """Keep ids and names that the target does not accept."""
    return True


@change(renames.Renames, "restored_names", CHAT, "maps/crossing")
def leaves_names_of_the_target(original: Any, self: Any, response: Any, restore: Any, replaced: Any = None) -> Any:
    """Restore the ids of calls in an answer, but not the names of tools."""
    return original(replace(self, names={}), response, restore, replaced)


@change(renames._StreamUndoing, "__call__", CHAT, "maps/crossing")
def restores_names_at_the_end(original: Any, self: Any, event: Any) -> Any:
    """Restore ids and names when a streamed block stops, but not when it starts."""
    return [event] if event.__class__.__name__ == "BlockStart" else original(self, event)


@change(names, "_id_of_result", CHAT, "answered-calls/foreign", other=ANTHROPIC)
def keeps_ids_of_results(original: Any, messages: Any, place: Any, call_place: Any, given: Any) -> Any:
    """Keep the id of a result whose call gets another id."""
    return {}


@change(calls._Pairing, "_answer_waiting", ANTHROPIC, "rules/foreign")
def adds_no_placeholder_results(original: Any, self: Any) -> Any:
    """Add no results to unanswered calls."""
    self._waiting = {}


@change(calls._Pairing, "_as_user_text", ANTHROPIC, "accounting/crossing")
def drops_late_results_silently(original: Any, self: Any, result: Any) -> Any:
    """Drop results that come too late, and report no loss."""
    return []


@change(calls._Fit, "_is_name", CHAT, "rules/crossing", other=RESPONSES)
def accepts_any_name(original: Any, self: Any, name: Any) -> Any:
    """Accept any name when deciding whether a request can be sent unchanged."""
    self._names.add(name)
    return True


@change(AddedTools, "leave_out", ANTHROPIC, "identity/sdk-places")
def writes_added_tools_twice(original: Any, self: Any, request: Any) -> Any:
    """Send the tools that a message adds also with the request's tools."""
    return request


@change(tools._Fitter, "_has_added", ANTHROPIC, "accounting/sdk-members")
def takes_references_for_added_tools(original: Any, self: Any, change: Any, message: Any) -> bool:
    """Treat a reference to a set of tools as tools in the list of the request."""
    return bool(change.action == "add" and self._kinds.listed and not self._kinds.changes)


@change(tools._Fitter, "_without_namespace", CHAT, "maps/crossing", other=RESPONSES)
def drops_namespaces_of_calls(original: Any, self: Any, call: Any) -> Any:
    """Drop the namespace of a call, also if another tool has the remaining name."""
    return original(self, call) if self._kinds.namespaces else replace(call, namespace=None)


# -- models and hosts --------------------------------------------------------------------------------------------------


@change(sentinels, "with_continuation", ANTHROPIC, "obedience/conversations")
def ends_requests_with_answers(original: Any, request: Any, context: Any) -> Any:
    """Add no message after an answer at the end that the model refuses to continue."""
    return request


@change(steps.Plan, "__init__", ANTHROPIC, "obedience/conversations")
def sends_hosted_calls_to_every_host(original: Any, self: Any, steps: Any) -> None:
    """Send calls of hosted tools also to hosts that lack these tools."""
    original(self, _without(tuple(steps), "with_history_of_host"))


# -- messages and settings of several APIs -----------------------------------------------------------------------------


@change(chat.ChatMessages, "encode_message", MISTRAL, "accounting/crossing", other=ANTHROPIC)
def sends_one_result_of_a_message(original: Any, self: Any, message: Any, context: Any) -> Any:
    """Write only the first of several results."""
    return original(self, message, context)[:1]


@change(tools, "with_json_schemas", MISTRAL, "accounting/crossing", other=GOOGLE)
def forgets_schemas_of_other_spelling(original: Any, request: Any, context: Any) -> Any:
    """Drop the schemas whose types are in upper case."""
    changed = original(request, context)
    pairs = zip(changed.tools, request.tools, strict=True)
    return replace(changed, tools=[new if new is old else replace(new, parameters=None) for new, old in pairs])


@change(settings, "with_fitting_settings", ANTHROPIC, "rules/settings")
def sends_settings_as_they_are(original: Any, request: Any, context: Any, form: Any) -> Any:
    """Send settings that the target's model refuses."""
    return request


@change(answers, "counted", CHAT, "agreement/crossing")
def counts_tokens_as_the_source(original: Any, response: Any, context: Any, **counting: Any) -> Any:
    """Leave the counters of tokens as the source counts them."""
    return response
