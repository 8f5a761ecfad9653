"""Rules: each has an example that breaks it and one that keeps it. No accepted request breaks a rule."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import records
from contentmodel_conformance.strategies.sdk import disturbed

EXAMPLES = Path(__file__).parent / "rules"
APIS = sorted(path.stem for path in EXAMPLES.glob("*.json"))
"""The APIs of providers: each has a file of examples."""


def examples(api: str) -> list[dict[str, Any]]:
    """Return `{"rule", "breaks", "paths", "keeps"}` for each rule: `breaks` breaks it at `paths`, `keeps` does not."""
    found: list[dict[str, Any]] = json.loads((EXAMPLES / f"{api}.json").read_text())
    return found


def broken(api: str, payload: Any, example: dict[str, Any]) -> list[str]:
    violations = contentmodel.check(payload, api=api, policies=example.get("policies"))
    return [v.path for v in violations if v.rule == example["rule"]]


@pytest.mark.parametrize(
    ("api", "example"), [pytest.param(api, e, id=f"{api}-{e['rule']}") for api in APIS for e in examples(api)]
)
def test_rule_reports_violation_of_its_example(api: str, example: dict[str, Any]) -> None:
    assert broken(api, example["breaks"], example) == example["paths"]
    assert broken(api, example["keeps"], example) == []


@pytest.mark.parametrize("api", APIS)
def test_every_rule_has_an_example_and_a_source(api: str) -> None:
    rules = contentmodel.adapter(api).rules
    assert {r.name for r in rules} == {e["rule"] for e in examples(api)}
    assert len({r.name for r in rules}) == len(rules)
    for rule in rules:
        assert all((rule.text, rule.fix, re.search(r"seen 20\d\d-\d\d-\d\d", rule.source))), rule.name


# Refused for a reason outside the payload.
OTHER_REASONS = {
    "oc-req-efcb710554": "a model that does not exist",
    "oc-req-47ebbd30ea": "a model that does not exist",
    "oc-req-1dba20c714": "a model that does not exist",
    "oc-req-329f2e7caf": "a call that the model made",
    "oc-req-5cd1302ff5": "a rate limit",
    "or-req-1eaf567792": "a model that does not exist",
    "or-req-25b741216c": "an invalid key",
    "bc-req-6b7b0d20e4": "a model that does not exist",
    "gg-req-386185252a": "a page whose site forbids access",
    "gg-req-4cc517abc6": "a page whose site forbids access",
}


def violations(api: str, payload: Any, model: str | None = None) -> list[contentmodel.Violation]:
    """Return the violations, without the note on rules that were not applied."""
    return [v for v in contentmodel.check(payload, api=api, model=model) if v.severity != "unchecked"]


@pytest.mark.parametrize("api", APIS)
def test_recorded_requests_that_provider_rejected_break_a_rule(api: str) -> None:
    refused = [record for record in records(api, "request") if (record["status"] or 0) >= 400]
    # The rules of generateContent depend on the model in the URL.
    unflagged = {record["id"] for record in refused if not violations(api, record["body"], record["model"])}
    assert unflagged <= set(OTHER_REASONS)


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_check_accepts_any_object(api: str, data: st.DataObject) -> None:
    """Any object gives violations, and never an exception."""
    payloads = st.sampled_from([e["breaks"] for e in examples(api)])
    contentmodel.check(data.draw(disturbed(payloads)), api=api)


def test_output_of_a_local_shell_names_its_call_by_id() -> None:
    action = {"type": "exec", "command": ["ls"], "env": {}}
    call = {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1", "status": "completed", "action": action}
    output = {"type": "local_shell_call_output", "id": "call_1", "output": "x"}
    items = [{"role": "user", "content": "Hi"}, call, output]
    assert contentmodel.check({"model": "gpt-5.2", "input": items}, api="openai-responses") == []
    broken = contentmodel.check({"model": "gpt-5.2", "input": items[:2]}, api="openai-responses")
    assert [one.rule for one in broken] == ["calls-have-results"]
