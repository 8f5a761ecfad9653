"""The checks of one adapter on model values: realistic transcripts, answers, and arbitrary values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
from hypothesis import strategies as st

from contentmodel import ChatMessage, ChatOptions, ChatRequest, ChatResponse, FunctionTool, Origin, TextContent
from contentmodel_conformance import laws, mapping
from contentmodel_conformance.checks.payloads import of
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.strategies import model
from contentmodel_conformance.strategies.mixed import mixed_answers
from contentmodel_conformance.strategies.stored import stored
from contentmodel_conformance.strategies.transcripts import answers, transcripts
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.texts import texts_apart
from contentmodel_conformance.trying import Law, Trial

Values = st.SearchStrategy[Any]
Made = Callable[[Subject], Iterator[tuple[str, Values]]]
"""Yields strategies of values for an adapter, by kind."""


def own(subject: Subject) -> Iterator[tuple[str, Values]]:
    """Yield values from this API, by kind; nothing if its limits are not set."""
    if subject.limits is None:
        return
    if "request" in subject.supported:
        yield "request", transcripts(subject.api, subject.limits)
    if "response" in subject.supported:
        yield "response", answers(subject.api, subject.limits)


def foreign(subject: Subject) -> Iterator[tuple[str, Values]]:
    """Yield values from an API without an adapter, by kind."""
    if "request" in subject.supported:
        yield "request", transcripts("anthropic-messages").map(as_foreign)
    if "response" in subject.supported:
        yield "response", answers("anthropic-messages").map(as_foreign)


def kept(subject: Subject) -> Iterator[tuple[str, Values]]:
    """Yield requests with fields of stored conversations, from an API without an adapter."""
    if "request" in subject.supported:
        yield "request", stored(transcripts("anthropic-messages").map(as_foreign))


def repeated(subject: Subject) -> Iterator[tuple[str, Values]]:
    """Yield requests from an API without an adapter, in which calls of different turns share ids."""
    if "request" in subject.supported:
        yield "request", transcripts("anthropic-messages", few_ids=True).map(as_foreign)


def anything(subject: Subject) -> Iterator[tuple[str, Values]]:
    """Yield arbitrary model values, by kind."""
    if "request" in subject.supported:
        yield "request", model.requests()
    if "response" in subject.supported:
        yield "response", model.responses()


FOREIGN_ORIGIN = Origin(api="smoke-signals", issuer="unknown", model="m")
"""An API without an adapter."""


def as_foreign(value: Any) -> Any:
    """Return a request or response with its origins set to an API without an adapter."""
    replace = msgspec.structs.replace
    if isinstance(value, ChatRequest):
        return replace(
            value, messages=[replace(m, origin=FOREIGN_ORIGIN) for m in value.messages], origin=FOREIGN_ORIGIN
        )
    choices = [
        replace(choice, messages=[replace(m, origin=FOREIGN_ORIGIN) for m in choice.messages])
        for choice in value.choices
    ]
    return replace(value, choices=choices, origin=FOREIGN_ORIGIN)


# -- round trips -------------------------------------------------------------------------------------------------------


NATIVE = "transcripts and answers of this API"
FOREIGN = "transcripts and answers from an API without an adapter"


def on_values(law: Callable[..., Any], name: str, values: Made, on: str, *needs: str) -> None:
    """Register a check of `law` on `values` of both kinds."""

    @check(law, name, on, *needs)
    def run(subject: Subject, trial: Trial) -> None:
        for kind, strategy in values(subject):
            trial.each(strategy, of(subject, law, kind), kind)


def on_requests(law: Callable[[Any, Any], None], name: str, values: Made, on: str, *needs: str) -> None:
    """Register a check of a law of requests."""

    @check(law, name, on, *needs)
    def run(subject: Subject, trial: Trial) -> None:
        for kind, strategy in values(subject):
            if kind == "request":
                trial.each(strategy, lambda request: law(subject.adapter, request), kind)


on_values(laws.stability, "own", own, NATIVE, "limits")
on_values(laws.stability, "foreign", foreign, FOREIGN)
on_values(laws.stability, "any", anything, "any value of the model")
on_values(laws.section, "own", own, NATIVE, "limits")
on_values(laws.section, "foreign", foreign, FOREIGN)
on_values(laws.section, "stored", kept, "conversations with the fields that files of agents store")


@check(laws.section, "tools", "tools with any schema")
def tools(subject: Subject, trial: Trial) -> None:
    if "request" in subject.supported:
        trial.each(
            st.builds(_with_tool, model.tool_schemas(), st.just(ChatOptions())), of(subject, laws.section, "request")
        )


@check(laws.section, "settings", "requests with any settings, from an API without an adapter")
def settings(subject: Subject, trial: Trial) -> None:
    if "request" in subject.supported:
        law = of(subject, laws.section, "request")
        for name in model.SETTINGS:
            trial.each(model.options(name).map(_with_options), law, name, share=0.04)
        for names in _sharing(subject):
            trial.each(model.options(*names).map(_with_options), law, ", ".join(names), share=0.3)
        trial.each(model.options().map(_with_options), law)


def _sharing(subject: Subject) -> Iterator[list[str]]:
    """Yield the settings that one field of a request has together."""
    records = {} if subject.no_table else subject.description["records"]
    for field in records.get("request", {}).get("fields", {}).values():
        names = [name.removeprefix("options.") for name in field.get("attribute", "").split(", ")]
        if len(names) > 1 and model.SETTINGS.keys() >= set(names):
            yield names


def _with_options(options: ChatOptions) -> ChatRequest:
    request: ChatRequest = as_foreign(_with_tool({"type": "object"}, options))
    return request


def _with_tool(parameters: dict[str, Any], options: ChatOptions) -> ChatRequest:
    messages = [ChatMessage(role="user", contents=[TextContent(text="Hi.")])]
    tool = FunctionTool(name="weather", description="The weather.", parameters=parameters)
    return ChatRequest(model="m", messages=messages, tools=[tool], options=options)


# -- encoded payloads --------------------------------------------------------------------------------------------------


@check(laws.acceptance, "foreign", FOREIGN, "judge")
def foreign_acceptance(subject: Subject, trial: Trial) -> None:
    for kind, values in foreign(subject):
        accepts = judge(subject.api, kind)
        trial.each(values, _written(subject, kind, partial(laws.acceptance, accepts)), kind)


@check(laws.rules, "foreign", "transcripts from an API without an adapter", "rules")
def foreign_rules(subject: Subject, trial: Trial) -> None:
    for kind, values in foreign(subject):
        if kind == "request":
            trial.each(values, _written(subject, kind, lambda written: laws.rules(subject.adapter, written)), kind)


OF_MODELS = "requests with any settings, from an API without an adapter, for old, new and unlisted models"


@check(laws.rules, "settings", OF_MODELS, "rules", "limits")
def settings_rules(subject: Subject, trial: Trial) -> None:
    _for_models(subject, trial, partial(laws.rules, subject.adapter))


@check(laws.acceptance, "settings", OF_MODELS, "judge", "limits")
def settings_acceptance(subject: Subject, trial: Trial) -> None:
    accepts = judge(subject.api, "request")
    _for_models(subject, trial, lambda written, model: laws.acceptance(accepts, written))


def _for_models(subject: Subject, trial: Trial, law: Callable[[Any, str], None]) -> None:
    """Try a law on requests with settings, encoded for each model of the limits."""
    limits = subject.limits
    models = (*limits.models, *limits.settings_of) if limits is not None and "request" in subject.supported else ()
    for name in models:
        trial.each(model.options().map(_with_options), _of_model(subject, name, law), name, share=0.5)


def _of_model(subject: Subject, name: str, law: Callable[[Any, str], None]) -> Law:
    return lambda value: law(subject.adapter.encode_request(value, None, name), name)


def _written(subject: Subject, kind: str, law: Law) -> Law:
    return lambda value: law(laws.encode(subject.adapter, kind, value))


@check(laws.tracing, "foreign", FOREIGN)
def foreign_tracing(subject: Subject, trial: Trial) -> None:
    for kind, values in foreign(subject):
        trial.each(values, _written(subject, kind, laws.tracing), kind)


@check(laws.tracing, "any", "any value of the model")
def any_tracing(subject: Subject, trial: Trial) -> None:
    for kind, values in anything(subject):
        trial.each(values, _written(subject, kind, laws.tracing), kind)


@check(texts_apart, "foreign", "answers with texts between other contents, from an API without an adapter")
def apart(subject: Subject, trial: Trial) -> None:
    if "response" in subject.supported:
        trial.each(mixed_answers(FOREIGN_ORIGIN), partial(texts_apart, subject.adapter))


@check(
    texts_apart, "streamed", "answers with texts between other contents, as streams with deltas of any size", "streams"
)
def apart_in_streams(subject: Subject, trial: Trial) -> None:
    def law(case: tuple[ChatResponse, int | None]) -> None:
        texts_apart(subject.adapter, *case, streamed=True)

    trial.each(st.tuples(mixed_answers(FOREIGN_ORIGIN), st.sampled_from((None, 1, 3))), law)


on_values(mapping.sharing, "foreign", foreign, FOREIGN)
on_requests(laws.addressing, "foreign", foreign, "transcripts from an API without an adapter")
on_requests(laws.prefixes, "own", own, "transcripts of this API", "limits")
on_requests(laws.prefixes, "foreign", foreign, "transcripts from an API without an adapter")
