"""The kit finds every deliberately broken adapter, and reports the law that it breaks."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

import contentmodel
import contentmodel_conformance.cli_mutants  # noqa: F401  (its command comes with it)
import test_capabilities
import test_framing
import test_pairs
from chosen_formats import REPRESENTATIVES
from contentmodel import encoded, pairs
from contentmodel.engine import adapting
from contentmodel.engine.pipeline import steps
from contentmodel.engine.table import tables
from contentmodel.framing import JsonParser
from contentmodel_conformance import check_adapter
from contentmodel_conformance.cli import app
from contentmodel_conformance.mutants import MUTANTS, AdapterMutant, Broken, Mutant
from contentmodel_conformance.mutants.engine.changes import EngineMutant, changed, reloaded_adapters
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.suite import CHECKS

FAST = {
    # One mutant of each module.
    "writes-undefined-roles",
    "copies-temperature",
    "decodes-labels-as-assistant",
    "recognises-answers-as-requests",
    "drops-the-last-event",
    "joins-user-texts",
    "records-replacements-backwards",
    "leaves-names-of-the-target",
    "counts-lists-from-one",
    "reads-results-without-their-call",
    "keeps-the-last-piece",
    "pairs-with-the-first-group",
    "forgets-the-other-fields-of-parts",
}
EACH = pytest.mark.parametrize("mutant", MUTANTS.values(), ids=list(MUTANTS))


def marks_of(names: Iterable[str]) -> Iterator[Any]:
    """Yield the mark of each mutant: a slow one is nightly if a mutant of its kind before it breaks the same checks."""
    seen = {(type(MUTANTS[name]), MUTANTS[name].checks) for name in FAST}
    for name in names:
        kind = type(MUTANTS[name]), MUTANTS[name].checks
        yield () if name in FAST else pytest.mark.nightly if kind in seen else pytest.mark.slow
        seen.add(kind)


EACH_TRIED = pytest.mark.parametrize(
    "mutant",
    [pytest.param(MUTANTS[name], id=name, marks=mark) for name, mark in zip(MUTANTS, marks_of(MUTANTS), strict=True)],
)
PAIRS = sorted({(mutant.api, mutant.other) for mutant in MUTANTS.values()})


@EACH_TRIED
def test_every_check_of_mutant_finds_it(mutant: Mutant) -> None:
    report = mutant.report()
    assert {outcome.check: outcome.status for outcome in report.outcomes} == dict.fromkeys(mutant.checks, "failed")
    for outcome in report.failures:
        finding = outcome.findings[0]
        # An exception of an adapter breaks the law `totality` in every check.
        assert finding.law in (outcome.law, "totality")
        assert finding.where
        assert finding.detail
        assert f"--only {outcome.check}" in finding.command


def adapter_mutant(name: str) -> AdapterMutant:
    mutant = MUTANTS[name]
    assert isinstance(mutant, AdapterMutant)
    return mutant


@pytest.mark.nightly
def test_only_precision_finds_loss_with_too_wide_path() -> None:
    mutant = adapter_mutant("reports-losses-too-wide")
    laws = ["accounting", "agreement", "conversion", "honesty", "precision", "restoration", "section"]
    report = check_adapter(mutant.adapter(), only=laws, others=[contentmodel.adapter(mutant.other)])
    assert {outcome.law for outcome in report.outcomes if outcome.status != "skipped"} == set(laws)
    assert tuple(outcome.check for outcome in report.failures) == mutant.checks == ("precision/crossing",)


@pytest.mark.nightly
def test_only_checks_of_sdk_members_find_mutant_of_toolset_references() -> None:
    mutant = MUTANTS["takes-references-for-added-tools"]
    with mutant.broken() as (adapter, other):
        report = check_adapter(adapter, only=["accounting", "precision", "tracing"], others=[other])
    assert tuple(outcome.check for outcome in report.failures) == mutant.checks


def checks_of(api: str, other: str) -> list[str]:
    """Return the checks of all mutants of two adapters."""
    found = (mutant.checks for mutant in MUTANTS.values() if (mutant.api, mutant.other) == (api, other))
    return sorted(set().union(*found))


ONE_PARTNER = {"bounds/requests", "bounds/responses", "bounds/streams"}
"""Checks that try an input with one of the other adapters. The number of adapters changes the choice."""


@pytest.mark.nightly
@pytest.mark.parametrize(("api", "other"), [pair for pair in PAIRS if ONE_PARTNER.intersection(checks_of(*pair))])
def test_unchanged_adapters_pass_checks_of_mutants(api: str, other: str) -> None:
    """The failure of a mutant has no meaning if its adapter fails without the defect.

    `test_conformance` tries all other checks on pairs of adapters, in a nightly run on all of them.
    """
    checks = sorted(ONE_PARTNER.intersection(checks_of(api, other)))
    report = check_adapter(contentmodel.adapter(api), only=checks, others=[contentmodel.adapter(other)])
    assert [outcome.status for outcome in report.outcomes] == ["passed"] * len(checks), report.failures


@pytest.mark.parametrize(("api", "other"), PAIRS, ids=[" and ".join(pair) for pair in PAIRS])
def test_checks_of_mutants_apply_to_unchanged_adapters(api: str, other: str) -> None:
    subject = Subject(contentmodel.adapter(api), others=[contentmodel.adapter(other)])
    assert {name: why for name in checks_of(api, other) if (why := CHECKS[name].skipped(subject))} == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "api",
    [
        pytest.param(api, marks=() if api in REPRESENTATIVES else pytest.mark.nightly)
        for api in sorted(contentmodel.adapters())
    ],
)
def test_mutant_without_defect_passes_like_its_adapter(api: str) -> None:
    """The checks must find the defect, not the wrapper around the adapter."""
    adapter = Broken(contentmodel.adapter(api))
    laws = ["face", "identity/table", "detection", "stability/own", "section/foreign", "stream-cuts", "stream-encoding"]
    assert not check_adapter(adapter, only=laws, others=[]).failures


@EACH
def test_mutant_has_description_and_known_checks(mutant: Mutant) -> None:
    assert mutant.description.endswith(".")
    assert set(mutant.checks) <= set(CHECKS)
    assert mutant.checks


def test_every_law_of_generated_input_has_a_mutant() -> None:
    tried = {check.law for check in CHECKS.values() if "corpus" not in check.needs}
    found = {CHECKS[name].law for mutant in MUTANTS.values() for name in mutant.checks}
    assert tried - found == MODEL_LAWS


MODEL_LAWS = {"stream unfolding"}
"""Laws that no adapter can break: they concern only the model."""


PARTS = [
    "engine.adapting",
    "engine.context",
    "engine.losses",
    "engine.pipeline",
    "engine.streams",
    "engine.table",
    "lanes",
    *("encoded", "framing", "hints", "losses", "renames"),
]
UNBROKEN = {
    # A mistake in it makes no template, because each template is verified.
    "lanes.passing",
    # What it makes late is made by the model's way.
    "lanes.late",
    # Data, types and documentation.
    "engine.table.introspect",
    "engine.table.tables",
}
"""Modules that no mutant changes."""


def modules_of(part: str) -> set[str]:
    found = importlib.import_module(f"contentmodel.{part}")
    inside = pkgutil.iter_modules(getattr(found, "__path__", ()))
    return {f"{part}.{one.name}" for one in inside} or {part}


def test_every_engine_module_has_a_mutant() -> None:
    broken = {mutant.module for mutant in MUTANTS.values() if isinstance(mutant, EngineMutant)}
    known = set().union(*map(modules_of, PARTS)) | {"pairs"}
    assert known - {name.removeprefix("contentmodel.") for name in broken} == UNBROKEN


def test_engine_mutant_restores_engine() -> None:
    before = contentmodel.adapter("openai-chat"), steps.apply_request_steps, encoded._is_of_failure_field
    with changed(steps, "apply_request_steps", lambda original, *rest: original(*rest)), reloaded_adapters():
        assert contentmodel.adapter("openai-chat") is not before[0]
        assert adapting.apply_request_steps is steps.apply_request_steps is not before[1]
    assert (contentmodel.adapter("openai-chat"), adapting.apply_request_steps, encoded._is_of_failure_field) == before


def forgets_a_cut_escape(original: Any, self: Any, data: bytes, at: int) -> Any:
    """Forget a backslash that is the last byte before a cut."""
    self._escaped = False
    return original(self, data, at)


def ends_no_group(original: Any, self: Any) -> None:
    """Treat all calls of a transcript as one group."""


def pairs_by_ids_alone(original: Any, self: Any, key: Any) -> bool:
    """Ignore names if several calls have the id of a result."""
    return False


def finds_no_misfits(original: Any, *arguments: Any, **named: Any) -> Any:
    """Report no values of a wrong class."""
    return iter(())


IN_UNIT_TESTS: dict[str, tuple[Any, str, Any, Any]] = {
    "framing": (
        JsonParser,
        "_scan",
        forgets_a_cut_escape,
        test_framing.test_json_parser_ignores_brackets_and_quotes_in_strings,
    ),
    "groups": (
        pairs._Pending,
        "close",
        ends_no_group,
        test_pairs.test_result_pairs_with_later_call_if_id_is_used_again,
    ),
    "names": (
        pairs._Pending,
        "_has_several",
        pairs_by_ids_alone,
        lambda: test_pairs.test_results_with_equal_ids_pair_with_calls_by_name("openai-chat"),
    ),
    "classes": (
        tables,
        "misfits",
        finds_no_misfits,
        test_capabilities.test_check_reports_wrong_json_types_for_unlisted_model,
    ),
}
"""Mistakes that no law finds: the owner and name of the function, the mistake, and the unit test that finds it."""


@pytest.mark.parametrize("name", IN_UNIT_TESTS)
def test_unit_test_finds_mistake_that_no_law_finds(name: str) -> None:
    owner, attribute, change, test = IN_UNIT_TESTS[name]
    test()
    with changed(owner, attribute, change), pytest.raises((AssertionError, ValueError)):
        test()


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["mutants", *words])


def test_mutants_command_prints_law_that_finds_mutant() -> None:
    result = run("loses-null", "recognises-answers-as-requests")
    assert result.exit_code == 0
    assert "identity" in result.stdout
    assert "2 of 2 found" in result.stdout


def test_mutants_command_lists_all_mutants() -> None:
    result = run("--list")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in MUTANTS)


def test_mutants_command_writes_json_line_for_each_mutant() -> None:
    result = run("has-no-rules", "--json")
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["found"] == {"face/adapter": json.loads(line)["found"]["face/adapter"]}
    assert json.loads(line)["missed"] == []


@pytest.mark.slow
def test_mutants_command_fails_if_mutant_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter_mutant("loses-null").kind, "read", Broken.read)
    result = run("loses-null")
    assert result.exit_code == 1
    assert "missed" in result.stdout
    assert "0 of 1 found" in result.stdout


def test_mutants_command_rejects_unknown_mutant() -> None:
    assert run("loses-everything").exit_code != 0
