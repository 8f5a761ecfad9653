"""The kit: its reports of adapters that break a law, and that they are deterministic."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st
from typer.testing import CliRunner

import contentmodel
import contentmodel_conformance.cli_matrix
import contentmodel_conformance.cli_mutants  # noqa: F401  (its commands come with it)
from contentmodel import ContentModelError
from contentmodel_conformance import Outcome, Report, check_adapter, check_adapters, check_corpus
from contentmodel_conformance.checks import CHECKS, LAWS
from contentmodel_conformance.cli import app
from contentmodel_conformance.page import as_page
from contentmodel_conformance.recordings import CorpusError
from contentmodel_conformance.rendering import as_markdown, headline
from contentmodel_conformance.report import ReportError, merged, shown
from contentmodel_conformance.strategies.transcripts import LIMITS
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.suite import run_check
from contentmodel_conformance.trying import Trial

CHAT = contentmodel.adapter("openai-chat")


class Delegate:
    """Delegate to the Chat adapter. Tests override the methods that they break."""

    def __getattr__(self, name: str) -> Any:
        return getattr(CHAT, name)


class Forgetful(Delegate):
    """Drop a setting of requests."""

    def encode_request(self, request: Any, *rest: Any) -> Any:
        options = msgspec.structs.replace(request.options, top_p=None)
        return CHAT.encode_request(msgspec.structs.replace(request, options=options), *rest)


class Raising(Delegate):
    """Raise KeyError if the model is not `m`."""

    def decode_request(self, payload: Any) -> Any:
        request = CHAT.decode_request(payload)
        return request if {}.get(request.model, 0) else {"m": request}[request.model or "m"]


class Meddling(Delegate):
    """Change the decoded payload in place."""

    def decode_response(self, payload: Any) -> Any:
        response = CHAT.decode_response(payload)
        if isinstance(payload, dict):
            payload.pop("model", None)
        return response


class Silent(Delegate):
    """An adapter without streams, rules and SDK."""

    api = "silent-chat"
    rules = ()

    def stream_decoder(self, *, deltas: bool = True) -> Any:
        raise NotImplementedError("it answers at once")


class Spy(Delegate):
    """Record the decoded payloads."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def decode_request(self, payload: Any) -> Any:
        self.seen.append(json.loads(json.dumps(payload)))
        return CHAT.decode_request(payload)


@cache
def report_of(adapter: type[Delegate], *only: str) -> Report:
    """Return the report of an adapter without others, made once for all tests that read it."""
    return check_adapter(adapter(), only=list(only), others=[])


def one(report: Report, check: str) -> Outcome:
    (found,) = [outcome for outcome in report.outcomes if outcome.check == check]
    return found


# -- findings ----------------------------------------------------------------------------------------------------------


def test_finding_has_path_both_values_and_minimal_input() -> None:
    (finding,) = one(report_of(Forgetful, "identity/sdk", "face"), "identity/sdk").findings
    assert (finding.law, finding.where, finding.found) == ("identity", "$.top_p", "(nothing)")
    minimal = json.loads(finding.minimal)
    assert set(minimal) <= {"messages", "model", "top_p"}
    assert finding.expected == json.dumps(minimal["top_p"])
    assert finding.command == "contentmodel-conformance run openai-chat --only identity/sdk --seed 0"


@pytest.mark.slow
def test_exception_of_adapter_is_reported_as_totality_finding() -> None:
    report = check_adapter(Raising(), only=["identity/sdk", "stability"], others=[])
    (finding,) = one(report, "identity/sdk").findings
    assert finding.law == "totality"
    assert finding.detail.startswith("KeyError: ")
    assert "test_kit.py" in finding.detail


def test_run_continues_if_adapter_raises_system_exit() -> None:
    class Exiting(Delegate):
        def decode_response(self, payload: Any) -> Any:
            raise SystemExit(3)

    report = check_adapter(Exiting(), only=["identity/sdk", "totality/bytes"], others=[])
    assert {finding.law for outcome in report.outcomes for finding in outcome.findings} == {"totality"}


@pytest.mark.slow
def test_face_check_reports_missing_attributes_of_adapter() -> None:
    class Nothing:
        api = "nothing"

    report = check_adapter(Nothing())
    assert not report.ok
    assert one(report, "face/adapter").findings[0].where == "issuer"


@pytest.mark.slow
def test_purity_check_finds_payload_changed_in_place() -> None:
    report = check_adapter(Meddling(), only=["purity"], others=[])
    assert one(report, "purity/payloads").findings[0].where == "$.model"


@pytest.mark.slow
def test_bounds_check_finds_quadratic_work() -> None:
    class Quadratic(Delegate):
        def decode_request(self, payload: Any) -> Any:
            request = CHAT.decode_request(payload)
            assert [len(m.role) + len(n.role) for m in request.messages for n in request.messages]
            return request

    assert check_adapter(Delegate(), only=["bounds/requests"], others=[]).ok
    findings = one(check_adapter(Quadratic(), only=["bounds/requests"], others=[]), "bounds/requests").findings
    assert len(findings) > 20
    assert "test_kit.py" in findings[0].where


def test_check_fails_if_adapter_is_not_deterministic() -> None:
    class Fickle(Delegate):
        turns = 0

        def encode_request(self, request: Any, *rest: Any) -> Any:
            Fickle.turns += 1
            return CHAT.encode_request(msgspec.structs.replace(request, model=str(Fickle.turns % 7)), *rest)

    outcome = one(check_adapter(Fickle(), only=["identity/sdk"], others=[]), "identity/sdk")
    assert outcome.status == "failed"


# -- skipped checks ----------------------------------------------------------------------------------------------------


def test_checks_that_do_not_apply_are_skipped_with_a_note() -> None:
    streams = [law for law in LAWS if law.startswith("stream ")]
    others = [
        "rules/foreign",
        "identity/sdk",
        "accounting/crossing",
        "identity/given",
        "identity/table",
        "refusal/hard",
    ]
    report = check_adapter(Silent(), only=[*streams, *others], others=[])
    assert {outcome.status for outcome in report.outcomes if outcome.law in streams} == {"skipped"}
    assert one(report, "stream-cuts/written").note == "it answers at once"
    assert one(report, "rules/foreign").note == "the adapter has no rules"
    assert one(report, "identity/sdk").note == "no official SDK has types of this API"
    assert one(report, "accounting/crossing").note == "there is no other adapter to convert from or to"
    assert one(report, "identity/given").note == "no payloads were given: see `payloads`"
    assert one(report, "identity/table").status == "passed"
    assert one(report, "refusal/hard").status == "passed"


@pytest.mark.slow
def test_face_check_notes_payload_kind_that_adapter_does_not_support() -> None:
    class Asking(Silent):
        def encode_response(self, response: Any, *rest: Any) -> Any:
            raise NotImplementedError("it is never answered")

    report = check_adapter(Asking(), only=["face", "stability"], others=[])
    assert (
        one(report, "face/adapter").note
        == "the adapter does not support responses, so they were not tried: it is never answered"
    )
    assert one(report, "stability/foreign").status == "passed"
    given: Any = {"response": [{"choices": []}]}
    assert not check_adapter(Asking(), only=["stability/foreign"], others=[], payloads=given).ok, "it was said to"


def test_stream_check_fails_if_adapter_of_api_with_sdk_has_no_streams() -> None:
    class Streamless(Delegate):
        def stream_decoder(self, *, deltas: bool = True) -> Any:
            raise NotImplementedError

    outcome = one(check_adapter(Streamless(), only=["stream-cuts"], others=[]), "stream-cuts/written")
    assert outcome.status == "failed"


def test_run_without_tried_checks_has_exit_code_1() -> None:
    report = check_adapter(Silent(), only=["stream-cuts"], others=[])
    assert report.failures == []
    assert report.exit_code == 1


def test_checks_use_given_payloads_and_limits() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
    given: dict[str, Any] = {"payloads": {"request": [request]}, "limits": LIMITS["openai-chat"]}
    report = check_adapter(Silent(), only=["identity/given", "identity/given-unknown", "prefixes/own"], **given)
    assert [outcome.status for outcome in report.outcomes] == ["passed"] * 3


def test_every_law_has_a_description() -> None:
    assert {check.law for check in CHECKS.values()} == set(LAWS)
    for law, promise in LAWS.items():
        assert promise.endswith("."), law
        assert len(promise) > 30, law


def test_check_adapter_rejects_unknown_law() -> None:
    with pytest.raises(ValueError, match="'levity': the laws are face"):
        check_adapter(Delegate(), only=["levity"])


# -- determinism -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_value_is_tried_on_all_targets_and_the_failure_of_each_is_minimal() -> None:
    drawn: list[int] = []
    trial = Trial("accounting/crossing", "accounting", "")

    def breaks_from(least: int) -> Callable[[int], None]:
        def law(value: int) -> None:
            drawn.append(value)
            assert value < least

        return law

    wholes = st.integers(0, 1000)
    trial.each_of(wholes, {"a": breaks_from(10), "b": breaks_from(2000), "c": breaks_from(5)})
    assert [(finding.label, finding.minimal) for finding in trial.findings] == [("a", "10"), ("c", "5")]
    held = Trial("accounting/crossing", "accounting", "")
    drawn.clear()
    held.each_of(wholes, {"a": breaks_from(2000), "b": breaks_from(3000)})
    assert drawn[::2] == drawn[1::2]
    assert held.tried == len(drawn) == 2 * held.examples


def test_same_seed_gives_same_report() -> None:
    """Compare a report with the one that other tests read."""
    checks = ("identity/sdk", "face")
    made_again = check_adapter(Forgetful(), only=checks, others=[])
    assert [outcome.status for outcome in made_again.outcomes] == ["passed", "failed"]
    assert made_again.to_json() == report_of(Forgetful, *checks).to_json()


@pytest.mark.slow
def test_check_tries_same_inputs_alone_and_with_others() -> None:
    seen = []
    for only, seed in ((["identity/unknown"], 1), (["purity", "identity"], 1), (["identity/unknown"], 2)):
        spy = Spy()
        check_adapter(spy, only=only, others=[], seed=seed, progress=lambda p, spy=spy: spy.seen.append(p.check))
        start = spy.seen.index("identity/unknown")
        seen.append(spy.seen[start : spy.seen.index("identity/unknown", start + 1)])
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]


def test_other_adapters_take_turns_in_checks() -> None:
    others = [contentmodel.adapter(api) for api in ("openai-responses", "anthropic-messages", "ollama-chat", "atif")]
    subject = Subject(contentmodel.adapter("openai-chat"), others=others, partners=2)
    turns = {name: [other.api for other in subject.in_turn(name).others] for name in CHECKS}
    assert {*map(tuple, turns.values())} == {("openai-responses", "ollama-chat"), ("anthropic-messages", "atif")}
    assert len(subject.others) == 4
    for name in ("model-names/crossing", "errors/crossing"):
        of_turn = [contentmodel.adapter(api) for api in turns[name]]
        alone = run_check(CHECKS[name], Subject(subject.adapter, others=of_turn), tries=2)
        assert run_check(CHECKS[name], subject, tries=2) == alone
    assert run_check(CHECKS[name], subject, tries=2, deep=True).tried > alone.tried


def test_all_other_adapters_are_in_one_turn_if_they_are_few() -> None:
    subject = Subject(contentmodel.adapter("openai-chat"), others=[contentmodel.adapter("ollama-chat")], partners=2)
    assert subject.in_turn("errors/crossing") is subject


def test_progress_is_reported_before_and_after_each_check() -> None:
    steps: list[Any] = []
    check_adapter(Delegate(), only=["face", "coverage"], others=[], progress=steps.append)
    assert [(s.check, s.done, s.count, s.outcome is not None) for s in steps] == [
        ("face/adapter", 0, 2, False),
        ("face/adapter", 1, 2, True),
        ("coverage/sdk", 1, 2, False),
        ("coverage/sdk", 2, 2, True),
    ]


# -- reports -----------------------------------------------------------------------------------------------------------


def test_report_survives_json_round_trip() -> None:
    report = report_of(Forgetful, "identity/sdk", "face")
    assert Report.from_json(report.to_json()) == report
    assert merged([report]) == report


@pytest.mark.parametrize(
    ("document", "message"),
    [(b"{}", "not a report"), (b"[", "not a report"), (b"\xff", "not a report"), (b'{"version": 9}', "not a report")],
)
def test_report_from_json_rejects_invalid_documents_and_newer_versions(document: bytes, message: str) -> None:
    with pytest.raises(ReportError, match=message):
        Report.from_json(document)
    later = msgspec.structs.replace(report_of(Delegate, "face"), version=2)
    with pytest.raises(ReportError, match="version 2"):
        Report.from_json(later.to_json())


def test_report_since_lists_changes() -> None:
    broken = report_of(Forgetful, "identity/sdk", "face")
    whole = report_of(Delegate, "identity/sdk", "face")
    assert [(c.kind, c.check) for c in whole.since(broken)] == [("fixed", "identity/sdk")]
    assert [(c.kind, c.check) for c in broken.since(whole)] == [("broken", "identity/sdk")]
    assert whole.since(whole) == []
    fewer = report_of(Delegate, "face")
    assert fewer.since(whole) == [], "nobody asked for the others"
    assert [c.kind for c in whole.since(fewer)] == ["new"]
    everything = msgspec.structs.replace(fewer, only=())
    assert [(c.kind, c.check) for c in everything.since(whole)] == [("gone", "identity/sdk")]


def test_page_and_markdown_escape_hostile_text() -> None:
    class Hostile(Delegate):
        def decode_request(self, payload: Any) -> Any:
            raise KeyError("<script>alert(1)</script> | \x1b[31m\u202e")

    report = check_adapter(Hostile(), only=["identity/sdk"], others=[])
    page, text = as_page(report), as_markdown(report)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert 'name="viewport"' in page
    for made in (page, text):
        assert "\x1b" not in made
        assert "\u202e" not in made


def test_shown_formats_values_and_truncates_long_ones() -> None:
    assert shown(None) == "null"
    assert shown(b"data: \xff") == "data: \\xff"
    assert shown({"a": [1, b"x"]}) == '{"a": [1, "x"]}'
    assert shown("x" * 400).endswith("(402 characters)")


# -- recorded traffic --------------------------------------------------------------------------------------------------


def recorded(folder: Path, *lines: Any) -> Path:
    (folder / "openai-chat.request.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


GOOD = json.dumps({"api": "openai-chat", "kind": "request", "body": {"model": "m", "messages": [], "top_p": 1}})


def test_finding_of_unreadable_record_has_file_and_line(tmp_path: Path) -> None:
    folder = recorded(tmp_path, GOOD, "{", "[]", '{"id": "x"}', json.dumps({"kind": "stream", "body": []}))
    report = check_adapter(Delegate(), corpus=folder, only=["readable", "identity/recorded"], others=[])
    outcome = one(report, "readable/recorded")
    assert (outcome.tried, outcome.failed) == (5, 4)
    assert [finding.where for finding in outcome.findings] == [f"openai-chat.request.jsonl:{n}" for n in (2, 3, 4, 5)]
    assert one(report, "identity/recorded").status == "passed"


def test_finding_of_recorded_payload_has_its_source(tmp_path: Path) -> None:
    report = check_adapter(Forgetful(), corpus=recorded(tmp_path, GOOD, GOOD), only=["identity/recorded"], others=[])
    outcome = one(report, "identity/recorded")
    assert (outcome.tried, outcome.failed) == (2, 2)
    assert outcome.findings[1].source == "openai-chat.request.jsonl:2"
    assert outcome.findings[1].where == "$.top_p"
    assert f"--corpus {tmp_path}" in outcome.findings[1].command


@pytest.mark.slow
def test_check_corpus_runs_only_checks_of_recordings(tmp_path: Path) -> None:
    report = check_corpus(recorded(tmp_path, GOOD), {"openai-chat": CHAT})
    assert {"identity/recorded", "stream-cuts/recorded"} <= {outcome.check for outcome in report.outcomes}
    assert all("recorded" in outcome.check for outcome in report.outcomes)
    assert report.ok


def test_check_corpus_rejects_folder_without_traffic(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no recorded traffic"):
        check_corpus(tmp_path)


def test_check_adapters_merges_outcomes_into_one_report() -> None:
    found = {api: contentmodel.adapter(api) for api in ("openai-chat", "turn-blocks")}
    report = check_adapters(found, only=["face", "opacity"])
    assert list(report.adapters) == ["openai-chat", "turn-blocks"]
    assert report.ok


# -- the command -------------------------------------------------------------------------------------------------------

BROKEN = """
import contentmodel, msgspec
from contentmodel_conformance import AdapterConformance

class Broken:
    def __getattr__(self, name):
        return getattr(contentmodel.adapter("openai-chat"), name)

    def encode_request(self, request, *rest):
        options = msgspec.structs.replace(request.options, top_p=None)
        request = msgspec.structs.replace(request, options=options)
        return contentmodel.adapter("openai-chat").encode_request(request, *rest)

adapter = Broken()

class TestBroken(AdapterConformance):
    adapter = adapter
    others = ()
    seed = 3
"""


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "contentmodel_conformance", "run", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8")


@pytest.mark.slow
def test_run_command_reports_findings_and_fixes_since_last_report(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(BROKEN)
    files = [word for name in ("a.json", "a.md", "a.html") for word in ("--report", name)]
    done = command(tmp_path, "mine", "--only", "identity/sdk", *files)
    assert done.returncode == 1, done.stderr
    assert "identity at $.top_p: " in done.stdout
    assert "contentmodel-conformance run mine --only identity/sdk --seed 0" in done.stdout
    assert not Report.from_json((tmp_path / "a.json").read_bytes()).ok
    assert "$.top_p" in (tmp_path / "a.html").read_text()
    assert "breaks `identity/sdk`" in (tmp_path / "a.md").read_text()
    (tmp_path / "mine.py").write_text(BROKEN.replace("top_p=None", "top_p=request.options.top_p"))
    again = command(tmp_path, "mine:TestBroken", "--only", "identity/sdk", "--since", "a.json")
    assert again.returncode == 0, again.stderr
    assert "fixed: openai-chat identity/sdk (failed before, passed now)" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "no adapter is named nobody"),
        (["json"], "json has no adapter"),
        (["json:nothing"], "json:nothing has no adapter"),
        (["openai-chat", "--only", "levity"], "no law or check is named 'levity'"),
        (["openai-chat", "--report", "a.pdf"], "a report cannot be written as a.pdf"),
        (["openai-chat", "--since", "none.json"], "none.json: No such file or directory"),
        (["openai-chat", "--corpus", "."], "no recorded traffic in ."),
    ],
)
def test_run_command_rejects_invalid_command_line(
    tmp_path: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", *arguments])
    assert done.exit_code == 2, done.stdout
    assert done.stderr.startswith("error: ")
    assert message in done.stderr


def test_run_command_help_lists_options() -> None:
    done = CliRunner().invoke(app, ["run", "--help"])
    assert done.exit_code == 0
    for word in ("--deep", "--seed", "--only", "--corpus", "--report", "--since", "Exit codes"):
        assert word in done.stdout


@pytest.mark.parametrize("name", ["run", "matrix", "coverage", "mutants", "serve"])
def test_command_help_has_an_example(name: str) -> None:
    done = CliRunner().invoke(app, [name, "--help"])
    assert done.exit_code == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert any(line.startswith(f"contentmodel-conformance {name}") for line in lines)
    assert "\\b" not in done.stdout


# -- pytest ------------------------------------------------------------------------------------------------------------


def run_tests(folder: Path, text: str, *arguments: str) -> str:
    (folder / "test_mine.py").write_text(text)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rxs", *arguments, "test_mine.py"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8").stdout


@pytest.mark.slow
def test_conformance_class_has_a_test_for_each_check(tmp_path: Path) -> None:
    found = run_tests(tmp_path, BROKEN, "--collect-only")
    assert "test_mine.py::TestBroken::test_stream_cuts_written" in found
    assert found.count("::") == 2 * len(CHECKS)


@pytest.mark.slow
def test_failed_conformance_test_shows_finding_and_command(tmp_path: Path) -> None:
    found = run_tests(tmp_path, BROKEN, "-k", "identity_sdk or accounting_crossing", "--conformance-seed", "5")
    assert "identity at $.top_p" in found
    assert "run test_mine:TestBroken --only identity/sdk --seed 5" in found
    assert "there is no other adapter to convert from or to" in found
    assert "Traceback" not in found


@pytest.mark.slow
def test_known_failure_is_expected_and_reported_once_it_passes(tmp_path: Path) -> None:
    known = BROKEN + '    known = {"identity/sdk": "forgets top_p", "face/adapter": "a face of its own"}\n'
    found = run_tests(tmp_path, known, "-k", "identity_sdk or face")
    assert "forgets top_p" in found
    assert "face/adapter passes: remove it from `known` (a face of its own)" in found


def test_conformance_class_without_adapter_raises_type_error() -> None:
    from contentmodel_conformance import AdapterConformance

    class Empty(AdapterConformance):
        pass

    with pytest.raises(TypeError, match="Empty has no adapter"):
        Empty.subject()


def test_kit_errors_derive_from_content_model_error() -> None:
    assert issubclass(ReportError, ContentModelError)
    assert issubclass(CorpusError, ContentModelError)


@pytest.mark.slow
def test_crossing_checks_run_on_model_values_if_adapter_has_no_tracing() -> None:
    class Untraced:
        """The Chat adapter without tracing."""

        api, issuer = "untraced-chat", "openai"

        def __getattr__(self, name: str) -> Any:
            if name.startswith("trace_"):
                raise AttributeError(name)
            return getattr(CHAT, name)

    class Losing(Untraced):
        def decode_request(self, payload: Any) -> Any:
            return CHAT.decode_request(payload)

        def encode_request(self, request: Any, *rest: Any) -> Any:
            return CHAT.encode_request(msgspec.structs.replace(request, messages=request.messages[:-1]), *rest)

    others = [contentmodel.adapter("anthropic-messages")]
    only = ["accounting/crossing", "restoration/crossing"]
    report = check_adapter(Untraced(), only=only, others=others, limits=LIMITS["openai-chat"])
    assert [outcome.status for outcome in report.outcomes] == ["passed"] * 2, report.failures
    broken = check_adapter(Losing(), only=only, others=others, limits=LIMITS["openai-chat"])
    assert one(broken, "accounting/crossing").status == "failed"


@pytest.mark.parametrize(
    ("passed", "failed", "skipped", "text"),
    [
        (1, 0, 7, "1 check passes, 0 fail, 7 do not apply"),
        (0, 1, 1, "0 checks pass, 1 fails, 1 does not apply"),
        (1200, 2, 0, "1,200 checks pass, 2 fail, 0 do not apply"),
    ],
)
def test_headline_has_singular_and_plural(passed: int, failed: int, skipped: int, text: str) -> None:
    statuses = [*["passed"] * passed, *["failed"] * failed, *["skipped"] * skipped]
    outcomes = tuple(Outcome(api="a", check="c", law="l", on="o", status=status) for status in statuses)
    assert headline(Report(adapters={}, laws={}, outcomes=outcomes)) == f"{text} (quick, seed 0)"
