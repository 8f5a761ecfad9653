"""The check of model names: requests converted with and without a model of the target."""

from __future__ import annotations

from contentmodel_conformance import model_names
from contentmodel_conformance.checks.crossing import conversations, each_way, fans, law_of_payloads
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial


@check(model_names.model_names, "crossing", "requests, from and to every other API", "others")
def names_of_models(subject: Subject, trial: Trial) -> None:
    law = law_of_payloads(model_names.model_names)
    for source, targets, kind in fans(subject, "request"):
        # The names depend on the APIs, and hardly on the conversation.
        each_way(trial, conversations(source, kind), law, source, targets, kind, share=0.1)
