"""The checks of lanes: a template of an answer is right for every answer that it takes."""

from __future__ import annotations

from contentmodel_conformance.checks.crossing import along, each_way, fans, law_of_payloads
from contentmodel_conformance.checks.recorded import crossing
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.lanes import lanes
from contentmodel_conformance.strategies.agents import agent_answers, agent_requests
from contentmodel_conformance.subject import Subject, limits_of
from contentmodel_conformance.trying import Trial


@check(lanes, "crossing", "requests and answers, from and to every other API with lanes", "lane", "others")
def generated(subject: Subject, trial: Trial) -> None:
    along(trial, subject, lanes)


@check(lanes, "agents", "requests and answers of agents, from and to every other API with lanes", "lane", "others")
def agents(subject: Subject, trial: Trial) -> None:
    for kind, strategy_of in (("request", agent_requests), ("response", agent_answers)):
        for source, targets, _ in fans(subject, kind):
            each_way(
                trial,
                strategy_of(source.api, limits_of(source)),
                law_of_payloads(lanes),
                source,
                targets,
                kind,
                share=0.5,
            )


@check(lanes, "recorded", "recorded requests and answers, to every API with lanes", "lane", "corpus", "others")
def recorded(subject: Subject, trial: Trial) -> None:
    crossing(subject, trial, lanes, "request", "response", itself=True, one_of=1 if trial.deep else 4)
