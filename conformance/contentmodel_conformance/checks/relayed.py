"""The checks of relayed traffic: recordings of other APIs, converted to the API, and from there to a third one.

Such payloads have what no provider sends: sentinels, media after their results, and the ids of other APIs.
"""

from __future__ import annotations

import zlib
from functools import partial
from typing import Any

from contentmodel_conformance import laws
from contentmodel_conformance.agreement import agreement
from contentmodel_conformance.checks.agreement import law_of_readers
from contentmodel_conformance.checks.crossing import WayLaw, accounted
from contentmodel_conformance.checks.recorded import payloads
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

ONE_OF = 2
"""A quick run tries one of so many records of an API."""
ON = "recorded traffic of other APIs, converted to this API"


def relayed(subject: Subject, trial: Trial, law: WayLaw, *, onwards: bool = True) -> None:
    """Try a law on recordings of the other APIs, each on the way from this API to one target, or on this API alone."""
    one_of = 1 if trial.deep else ONE_OF
    for source in subject.others:
        for kind in subject.supported:
            targets = subject.others_by_kind[kind] if onwards else [subject.adapter]
            for record in payloads(subject, source.api, kind) if targets else ():
                number, remainder = divmod(zlib.crc32(record.id.encode()), one_of)
                if remainder == 0 and record.kind == kind:
                    target = targets[number % len(targets)]
                    name = f"{kind} {source.api} to {subject.api}" + (f" to {target.api}" if onwards else "")
                    way = partial(_relayed, law, source, subject.adapter, target, kind)
                    trial.once(record.body, way, name, record.source)


def _relayed(law: WayLaw, source: Any, adapter: Any, target: Any, kind: str, body: Any) -> None:
    payload = laws.crossed(source, adapter, kind, body).payload
    origin = laws.decode(adapter, kind, payload).origin
    if adapter is not target and origin is not None and origin.api == source.api:
        raise laws.Refused("a store has the content of other APIs, which their own checks convert")
    law(adapter, target, kind, payload)


@check(laws.identity, "relayed", ON, "traffic", "others")
def identity(subject: Subject, trial: Trial) -> None:
    relayed(subject, trial, lambda source, target, kind, payload: laws.identity(source, kind, payload), onwards=False)


@check(laws.accounting, "relayed", f"{ON}, and to another one", "traffic", "others")
def accounting(subject: Subject, trial: Trial) -> None:
    relayed(subject, trial, accounted)


@check(laws.restoration, "relayed", f"{ON}, and to another one", "traffic", "others")
def restoration(subject: Subject, trial: Trial) -> None:
    relayed(subject, trial, laws.restoration)


@check(agreement, "relayed", f"{ON}, and to another one", "traffic", "others", "reader")
def agreeing(subject: Subject, trial: Trial) -> None:
    relayed(subject, trial, law_of_readers(subject))
