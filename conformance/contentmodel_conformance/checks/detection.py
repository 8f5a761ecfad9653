"""The checks of detection: documents of the adapter under other names, and with something unknown inside."""

from __future__ import annotations

from functools import partial

from contentmodel_conformance import detection
from contentmodel_conformance.checks.payloads import sources
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.strategies.foreign import disturbed_documents, renamed
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial


@check(detection.foreign_documents, "renamed", "payloads whose keys, roles or types have other names")
def renamed_payloads(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        for label, payloads in sources(subject, kind):
            trial.each(payloads.flatmap(renamed), detection.foreign_documents, f"{kind} {label}")


@check(detection.known_documents, "disturbed", "payloads that the adapter wrote, with unknown fields or a block")
def disturbed_payloads(subject: Subject, trial: Trial) -> None:
    for kind in subject.supported:
        law = partial(detection.known_documents, subject.api, kind)
        for label, payloads in sources(subject, kind):
            if label in ("written", "own"):
                trial.each(payloads.flatmap(disturbed_documents), law, f"{kind} {label}")
