"""Select the checks that apply to an adapter, run them, and report.

report = check_adapter(my_adapter)
assert report.ok, report.failures
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

import contentmodel
from contentmodel_conformance.checks import CHECKS, LAWS, Check
from contentmodel_conformance.examples import Example
from contentmodel_conformance.readers import Reader
from contentmodel_conformance.recordings import Recordings
from contentmodel_conformance.report import Outcome, Report, merged
from contentmodel_conformance.rows_at import row_at
from contentmodel_conformance.strategies.transcripts import Limits
from contentmodel_conformance.subject import Payloads, Subject
from contentmodel_conformance.trying import Trial

__all__ = ["CHECKS", "LAWS", "Progress", "check_adapter", "check_adapters", "check_corpus", "run_check", "selected"]


class Progress(msgspec.Struct, frozen=True):
    """The progress of a run: `done` of `count` checks. `outcome` is None before `check` runs, and set after it."""

    api: str
    check: str
    done: int
    count: int
    outcome: Outcome | None


OnProgress: TypeAlias = Callable[[Progress], None]


def check_adapter(
    adapter: Any,
    *,
    deep: bool = False,
    seed: int = 0,
    corpus: Path | str | Recordings | None = None,
    others: Iterable[Any] | None = None,
    only: Sequence[str] | None = None,
    progress: OnProgress | None = None,
    payloads: Mapping[str, Payloads] | None = None,
    limits: Limits | None = None,
    reader: Reader | None = None,
    examples: Sequence[Example] = (),
    target: str | None = None,
    fail_fast: bool = False,
    tries: int | None = None,
    partners: int | None = None,
) -> Report:
    """Run every check that applies to an adapter, and report the outcome of each.

    `deep` tries twenty times as many examples, `tries` another number. The same `seed` gives the same examples, and
    the same report.
    `corpus` is a folder of recorded traffic. `others` are the adapters to convert from and to; by default all that
    are installed. `partners` is the largest number of them in one check: they take turns, unless `deep`. `only` has
    names of laws or checks ("identity", "identity/table"). `progress` is called before and after each check.
    `payloads` has payloads of the format, by kind ("request", "response"): a hypothesis strategy or a sequence. They
    are added to those generated from the SDK's types and the adapter's table. `limits` describes what transcripts of
    the API can contain. `reader` reads payloads of the API without the adapter (see
    `contentmodel_conformance.readers`). `examples` are payloads, each with the ChatRequest or the ChatResponse
    expected of it. `target` is the adapter's name on the command line, for the commands in reports. With `fail_fast`,
    a check ends with its first finding, and its input is not minimized.

    An exception of the adapter becomes a finding and is never raised. Raises ValueError if `only` contains an unknown
    name, or if an example is invalid.
    """
    chosen = selected(only)
    subject = Subject(
        adapter,
        others=others,
        payloads=payloads,
        limits=limits,
        reader=reader,
        examples=examples,
        recordings=_recordings(corpus),
        partners=partners,
    )
    return _report(
        subject,
        chosen,
        deep=deep,
        seed=seed,
        only=only,
        progress=progress,
        target=target,
        fail_fast=fail_fast,
        tries=tries,
    )


def check_adapters(
    adapters: Mapping[str, Any] | None = None,
    *,
    deep: bool = False,
    seed: int = 0,
    corpus: Path | str | Recordings | None = None,
    only: Sequence[str] | None = None,
    progress: OnProgress | None = None,
) -> Report:
    """Check several adapters, by API id; by default all that are installed. Each pair is tried once."""
    all_adapters = contentmodel.adapters() if adapters is None else dict(adapters)
    chosen, recordings = selected(only), _recordings(corpus)
    return merged(
        _report(
            Subject(adapter, others=all_adapters.values(), recordings=recordings, is_one_of_many=True),
            chosen,
            deep=deep,
            seed=seed,
            only=only,
            progress=progress,
        )
        for adapter in all_adapters.values()
    )


def check_corpus(
    folder: Path | str | Recordings,
    adapters: Mapping[str, Any] | None = None,
    *,
    only: Sequence[str] | None = None,
    progress: OnProgress | None = None,
) -> Report:
    """Run only the checks on recorded traffic: how much of it keeps each law, and the first difference of each failure.

    Raises CorpusError if the folder has no recordings.
    """
    recorded = {name: check for name, check in selected(only).items() if "corpus" in check.needs}
    return check_adapters(adapters, corpus=_recordings(folder), only=list(recorded), progress=progress)


def selected(only: Sequence[str] | None) -> dict[str, Check]:
    """Return the checks named by law or by check; all if `only` is None. Raises ValueError for unknown names."""
    if only is None:
        return dict(CHECKS)
    unknown = [name for name in only if not any(_is_named(check, name) for check in CHECKS.values())]
    if unknown:
        names = ", ".join(LAWS)
        raise ValueError(f"no law or check is named {', '.join(map(repr, unknown))}: the laws are {names}")
    return {name: check for name, check in CHECKS.items() if any(_is_named(check, selector) for selector in only)}


def _is_named(check: Check, name: str) -> bool:
    return name in (check.name, check.law, check.law.replace(" ", "-"))


def run_check(
    check: Check,
    subject: Subject,
    *,
    deep: bool = False,
    seed: int = 0,
    target: str | None = None,
    fail_fast: bool = False,
    tries: int | None = None,
) -> Outcome:
    """Run one check of one adapter. An exception of the adapter becomes a finding."""
    subject = subject if deep else subject.in_turn(check.name)
    labels: dict[str, Any] = {"api": subject.api, "check": check.name, "law": check.law, "on": check.on}
    command = _command(check, subject, deep, seed, target)
    trial = Trial(
        check.name,
        check.law,
        command,
        deep=deep,
        seed=seed,
        fail_fast=fail_fast,
        wire=subject.wire,
        row=partial(row_at, subject.adapter),
        tries=tries,
    )
    trial.run(lambda: _run_unless_skipped(check, subject, trial))
    if trial.skipped:
        return Outcome(status="skipped", note=trial.skipped, **labels)
    note = "; ".join(trial.notes)
    if trial.findings:
        status = "failed"
    elif trial.tried == trial.refused:
        status, note = "skipped", note or _nothing(trial)
    else:
        status = "passed"
    return Outcome(
        status=status,  # type: ignore[arg-type]
        tried=trial.tried,
        refused=trial.refused,
        failed=trial.failed,
        note=note,
        findings=tuple(trial.findings),
        **labels,
    )


def _run_unless_skipped(check: Check, subject: Subject, trial: Trial) -> None:
    # Calls the adapter, which may hang: so it runs inside the trial.
    trial.skipped = check.skipped(subject)
    if not trial.skipped:
        check.run(subject, trial)


def _nothing(trial: Trial) -> str:
    if not trial.tried:
        return "there was no input to try"
    return trial.why_refused or f"the check applies to none of the {trial.tried} inputs"


def _command(check: Check, subject: Subject, deep: bool, seed: int, target: str | None) -> str:
    arguments = ["contentmodel-conformance", "run", target or subject.api, "--only", check.name]
    if "corpus" in check.needs and subject.recordings is not None:
        arguments += ["--corpus", str(subject.recordings.folder)]
    arguments += ["--deep"] if deep else []
    return shlex.join([*arguments, "--seed", str(seed)])


def _report(
    subject: Subject,
    chosen: Mapping[str, Check],
    *,
    deep: bool,
    seed: int,
    only: Sequence[str] | None,
    progress: OnProgress | None,
    target: str | None = None,
    fail_fast: bool = False,
    tries: int | None = None,
) -> Report:
    outcomes = []
    report_progress = progress or (lambda step: None)
    for number, check in enumerate(chosen.values()):
        report_progress(Progress(api=subject.api, check=check.name, done=number, count=len(chosen), outcome=None))
        outcomes.append(
            run_check(check, subject, deep=deep, seed=seed, target=target, fail_fast=fail_fast, tries=tries)
        )
        report_progress(
            Progress(api=subject.api, check=check.name, done=number + 1, count=len(chosen), outcome=outcomes[-1])
        )
    laws = {check.law: LAWS[check.law] for check in chosen.values()}
    return Report(
        adapters={subject.api: _description(subject.adapter)},
        laws=laws,
        outcomes=tuple(outcomes),
        seed=seed,
        deep=deep,
        only=tuple(only or ()),
    )


def _description(adapter: Any) -> str:
    """Return the class and the package of an adapter."""
    module = type(adapter).__module__
    owners = _distributions().get(module.partition(".")[0], ())
    return " ".join([f"{module}.{type(adapter).__qualname__}", *(f"({name} {version(name)})" for name in owners[:1])])


@cache
def _distributions() -> Mapping[str, Sequence[str]]:
    """Return the distributions of each installed package. Reads the list of files of each distribution."""
    return packages_distributions()


def _recordings(corpus: Path | str | Recordings | None) -> Recordings | None:
    return Recordings(corpus) if isinstance(corpus, str | Path) else corpus
