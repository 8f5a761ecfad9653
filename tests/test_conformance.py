"""Run every check of the kit on every installed adapter, through the public API of the kit.

`CONTENTMODEL_PROFILE=deep` tries twenty times as many examples. If CONTENTMODEL_CORPUS is set, recorded traffic is
tried too. The costly checks are marked slow. Without them, each law is still tried on a few examples.

`chosen_formats` says which formats are tried whole. The others are tried with one partner of each family, with fewer
examples, and with every third costly check. The nightly run tries all formats whole.
"""

from __future__ import annotations

import json
import zlib
from functools import cache, wraps
from itertools import cycle
from pathlib import Path
from typing import Any, ClassVar

import pytest

import contentmodel
import ollama_payloads
from chosen_formats import FAMILY_OF, REPRESENTATIVES, chosen
from conftest import PROFILE, payloads, share
from contentmodel_conformance import AdapterConformance, bounds, trying
from contentmodel_conformance.checks import CHECKS, LAWS
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.suite import run_check
from data_sets import values as data_sets
from history import values
from langchain_payloads import LANGCHAIN
from session_files import (
    claude_session,
    codex_session,
    compacted_session,
    compressed_session,
    gemini_session,
    interrupted_session,
)

EVERY = contentmodel.adapters()
SPANS = [*payloads("otel-gen-ai").values()]
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
EACH_OTHER = (
    *PROVIDERS,
    *("turn-blocks", "openai-finetune", "hf-messages", "sharegpt", "atif"),
    *("claude-code-session", "codex-rollout", "gemini-cli-session"),
)
"""The formats that are tried with each other. The others are tried with the partners: these providers and the rows."""


def stored(name: str) -> dict[str, list[Any]]:
    found = {kind: [*payloads(name, kind).values()] for kind in ("request", "response")}
    return {kind: each for kind, each in found.items() if each}


class Ours(AdapterConformance):
    """The settings of all our adapters: each pair of them is tried once."""

    deep = PROFILE == "deep"
    is_one_of_many = True
    others: ClassVar = [EVERY[name] for name in EACH_OTHER]
    quick: ClassVar = (trying.QUICK, 16)
    """The numbers of examples of the fast and of the slow checks. There are many formats."""

    @pytest.fixture(autouse=True)
    def fewer_examples(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        is_slow = request.node.get_closest_marker("slow") is not None
        monkeypatch.setattr(trying, "QUICK", self.quick[is_slow])
        if type(self) not in WHOLE:
            # The largest of the three sizes is nine times the smallest, instead of sixteen times.
            monkeypatch.setattr(bounds, "RATIO", 3)


class WithPartners(Ours):
    """The settings of further providers and of frameworks: conversions to the partners and from them."""

    is_one_of_many = False
    quick = (12, 8)
    others: ClassVar = [EVERY[name] for name in (*PROVIDERS, "turn-blocks")]


class OfFramework(WithPartners):
    """The settings of formats of frameworks. Their classes are slow: they also have tests of their own."""


class OfFiles(Ours):
    """The settings of formats of files. Their classes are slow: they also have tests of their own."""

    quick = (12, 8)


class TestOpenaiChat(Ours):
    adapter = "openai-chat"


class TestOpenaiResponses(Ours):
    adapter = "openai-responses"


class TestAnthropicMessages(Ours):
    adapter = "anthropic-messages"


class TestGoogleGenerateContent(Ours):
    adapter = "google-generate-content"


class TestCohereChat(WithPartners):
    adapter = "cohere-chat"


class TestGoogleInteractions(WithPartners):
    adapter = "google-interactions"


class TestBedrockConverse(WithPartners):
    adapter = "bedrock-converse"


class TestTurnBlocks(Ours):
    adapter = "turn-blocks"
    payloads: ClassVar = {"request": values.transcripts_of_rows(), "response": values.rows()}


class TestOpenaiFinetune(OfFiles):
    adapter = "openai-finetune"
    payloads: ClassVar = {"request": data_sets.FINETUNE}


class TestHfMessages(OfFiles):
    adapter = "hf-messages"
    payloads: ClassVar = {"request": data_sets.HF}


class TestSharegpt(OfFiles):
    adapter = "sharegpt"
    payloads: ClassVar = {"request": data_sets.SHAREGPT}


class TestAtif(OfFiles):
    adapter = "atif"
    payloads: ClassVar = {"request": data_sets.ATIF}


class TestMistralChat(WithPartners):
    adapter = "mistral-chat"


class TestOllamaChat(WithPartners):
    adapter = "ollama-chat"
    payloads: ClassVar = {"request": [ollama_payloads.REQUEST], "response": [ollama_payloads.ANSWER]}


class TestMeai(OfFramework):
    adapter = "meai"
    payloads: ClassVar = stored("meai")


class TestAgentFramework(OfFramework):
    adapter = "agent-framework"
    payloads: ClassVar = stored("agent-framework")


class TestLangchainMessages(OfFramework):
    adapter = "langchain-messages"
    payloads: ClassVar = {"request": LANGCHAIN}


class TestClaudeCodeSession(OfFiles):
    adapter = "claude-code-session"
    payloads: ClassVar = {"request": [claude_session(), compacted_session(), interrupted_session()]}


class TestCodexRollout(OfFiles):
    adapter = "codex-rollout"
    payloads: ClassVar = {"request": [codex_session()]}


class TestGeminiCliSession(OfFiles):
    adapter = "gemini-cli-session"
    payloads: ClassVar = {"request": [gemini_session(), compressed_session()]}


class TestPydanticAIMessages(OfFramework):
    adapter = "pydantic-ai-messages"
    payloads: ClassVar = stored("pydantic-ai-messages")


class TestInspectEvalLog(OfFramework):
    adapter = "inspect-eval-log"
    payloads: ClassVar = stored("inspect-eval-log")


class TestOtelGenAI(OfFramework):
    adapter = "otel-gen-ai"
    payloads: ClassVar = {"request": SPANS, "response": SPANS}


class TestVercelUIMessages(OfFramework):
    adapter = "vercel-ui-messages"
    payloads: ClassVar = stored("vercel-ui-messages")


class TestVercelModelMessages(OfFramework):
    adapter = "vercel-model-messages"
    payloads: ClassVar = stored("vercel-model-messages")


class TestAgUi(OfFramework):
    adapter = "ag-ui"
    payloads: ClassVar = stored("ag-ui")


class TestMcpSampling(OfFramework):
    adapter = "mcp-sampling"
    payloads: ClassVar = stored("mcp-sampling")


RECORDED = {name for name, check in CHECKS.items() if not {"corpus", "traffic"}.isdisjoint(check.needs)}
CHEAP = {"readable/recorded", "known/recorded", "identity/recorded", "stream-encoding/recorded"}
"""The checks of recorded traffic that stay fast."""
SLOW = RECORDED - CHEAP | {
    "acceptance/crossing",
    "acceptance/foreign",
    "acceptance/settings",
    "accounting/crossing",
    "accounting/list",
    "accounting/misfits",
    "accounting/sdk",
    "accounting/sdk-members",
    "accounting/unknown",
    "addressing/foreign",
    "agreement/crossing",
    "agreement/sdk",
    "bounds/requests",
    "bounds/responses",
    "bounds/streams",
    "conversion/anywhere",
    "conversion/hosted",
    "disturbance/anywhere",
    "each-by-itself/anywhere",
    "hints/stored",
    "honesty/foreign",
    "identity/given-unknown",
    "identity/sdk-places",
    "identity/unknown",
    "key-order/payloads",
    "lanes/agents",
    "lanes/crossing",
    "maps/crossing",
    "model-json/payloads",
    "model-json/sdk",
    "model-names/crossing",
    "notes/wire",
    "null-twin/other-fields",
    "null-twin/payloads",
    "null-twin/sdk-places",
    "opacity/crossing",
    "pairing/foreign",
    "pairing/own",
    "pairing/repeated",
    "planning/answers",
    "planning/crossing",
    "planning/rare",
    "policies/foreign",
    "precision/crossing",
    "prefixes/crossing",
    "prefixes/foreign",
    "purity/payloads",
    "purity/sdk",
    "replay/sdk",
    "restoration/crossing",
    "roles/crossing",
    "rules/crossing",
    "rules/foreign",
    "rules/settings",
    "schema-fits/payloads",
    "schema-fits/sdk",
    "section/foreign",
    "section/stored",
    "sharing/foreign",
    "stability/any",
    "stability/foreign",
    "stability/own",
    "stream-conversion/mixed-up",
    "stored-documents/forged",
    "stream-crossing/foreign",
    "stream-encoding/sdk-places",
    "stream-repetition/foreign",
    "tracing/any",
    "tracing/foreign",
    "voices/crossing",
}
"""The costly checks, and those of a law that a faster check tries too."""

for _name in SLOW:
    pytest.mark.slow(getattr(Ours, "test_" + _name.replace("/", "_").replace("-", "_")))


CLASSES: list[Any] = [
    one
    for base in (Ours, WithPartners, OfFiles, OfFramework)
    for one in base.__subclasses__()
    if one.adapter is not None
]
"""The classes above, one for each adapter."""
for _one in (*OfFiles.__subclasses__(), *OfFramework.__subclasses__()):
    pytest.mark.slow(_one)

WHOLE = [one for one in CLASSES if PROFILE == "deep" or chosen().is_whole(one.adapter)]
TURNS = 3
"""Each costly check has its turn with every third format of those that are not tried whole."""


def has_turn(one: type[Ours], check: str) -> bool:
    """Return whether CI tries a costly check on the format of a class. Formats of one family follow each other."""
    return one in WHOLE or (zlib.crc32(check.encode()) + [*FAMILY_OF].index(one.adapter)) % TURNS == 0


def left_to_nightly(one: type[Ours], check: str) -> None:
    """Mark the test of a check as nightly, in one class."""
    name = "test_" + check.replace("/", "_").replace("-", "_")
    inherited = getattr(Ours, name)

    @pytest.mark.nightly
    @wraps(inherited)
    def test(self: Ours, request: pytest.FixtureRequest) -> None:
        inherited(self, request)

    setattr(one, name, test)


for _one in CLASSES:
    if _one not in WHOLE:
        _one.others = [EVERY[name] for name in REPRESENTATIVES]
        _one.partners = 3
        _one.is_one_of_many = _one.adapter in REPRESENTATIVES
        _one.quick = (12, 6)
    for _name in SLOW:
        if not has_turn(_one, _name):
            left_to_nightly(_one, _name)

FEW: list[Any] = [TestAnthropicMessages, TestOpenaiResponses]
"""The classes that take turns in the fast forms of slow checks."""


@cache
def few_partners(one: type[Ours]) -> Subject:
    """Return the subject of a class with three partners, which differ from class to class.

    The slow checks try every pair.
    """
    others = [EVERY[name] for name in EACH_OTHER if name != one.adapter]
    return type(one.__name__, (one,), {"others": others[2 * FEW.index(one) :: 4][:3]}).subject()


OF_TYPES = ("accounting/sdk", "accounting/sdk-members", "agreement/sdk")
"""The checks of payloads that the SDKs' types allow."""


@pytest.mark.nightly
@pytest.mark.parametrize("partner", [name for name in EVERY if name not in EACH_OTHER])
@pytest.mark.parametrize("one", [one for one in CLASSES if one.adapter in PROVIDERS], ids=lambda one: one.__name__)
def test_payloads_of_sdk_types_are_converted_to_formats_with_partners(
    one: type[Ours], partner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The classes of these formats try conversations. The classes of the providers do not try these formats."""
    monkeypatch.setattr(trying, "QUICK", WithPartners.quick[True])
    subject = type(one.__name__, (one,), {"others": [EVERY[partner]]}).subject()
    for name in OF_TYPES:
        outcome = run_check(CHECKS[name], subject)
        assert outcome.status in ("passed", "skipped"), outcome.findings


RELAYED = [name for name, check in CHECKS.items() if "traffic" in check.needs]
OF_RECORDINGS = [
    "prefixes/recorded",
    *(name for name, check in CHECKS.items() if {"corpus", "others"} <= set(check.needs)),
]


def with_others(one: type[Ours], others: list[Any]) -> Subject:
    return type(one.__name__, (one,), {"others": others, "partners": None}).subject()


@pytest.mark.nightly
@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.__name__)
def test_recorded_traffic_is_relayed_through_every_format_to_every_other(one: type[Ours]) -> None:
    others = [other for other in EVERY.values() if other.api != one.adapter]
    subject = with_others(one, share(others, CLASSES.index(one)))
    for name in RELAYED:
        outcome = run_check(CHECKS[name], subject)
        assert outcome.status in ("passed", "skipped"), outcome.findings


@pytest.mark.nightly
@pytest.mark.parametrize(
    "one",
    [one for one in CLASSES if getattr(EVERY[one.adapter], "http", None) is not None],
    ids=lambda one: one.__name__,
)
def test_recorded_traffic_is_converted_to_the_formats_that_its_class_does_not_try(one: type[Ours]) -> None:
    tried = {other.api for other in one.others}
    others = [EVERY[name] for name in EVERY if name not in tried]
    subject = with_others(one, share(others, CLASSES.index(one)))
    for name in OF_RECORDINGS:
        outcome = run_check(CHECKS[name], subject)
        assert outcome.status in ("passed", "skipped"), outcome.findings


def quick_forms() -> list[str]:
    """Return a slow check for each law that has no other check. The growth of answers is measured faster."""
    tried = {check.law for name, check in CHECKS.items() if name not in SLOW}
    found = {CHECKS[name].law: name for name in sorted(SLOW - RECORDED - {"bounds/requests"}, reverse=True)}
    return sorted(name for law, name in found.items() if law not in tried)


def quick_cases() -> list[Any]:
    """Return each quick form with one of the few classes."""
    cases = zip(quick_forms(), cycle(FEW), strict=False)
    return [pytest.param(name, one, id=f"{name}-{one.__name__}") for name, one in cases]


@pytest.mark.parametrize(("name", "one"), quick_cases())
def test_slow_check_passes_on_a_few_examples(name: str, one: type[Ours], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "QUICK", 4)
    # The largest of the three sizes is nine times the smallest, instead of sixteen times.
    monkeypatch.setattr(bounds, "RATIO", 3)
    outcome = run_check(CHECKS[name], few_partners(one))
    assert outcome.status in ("passed", "skipped"), outcome.findings


STORED = Path(__file__).parent / "stored"
"""The documents of `test_hints`. Their payloads have what few others have."""


def documents_of(one: type[Ours]) -> dict[str, Any]:
    """Return the payloads of a class by kind, and the stored ones."""
    found: dict[str, Any] = {kind: given for kind, given in one.payloads.items() if isinstance(given, list)}
    path = STORED / f"{one.adapter}.jsonl"
    for record in map(json.loads, path.read_text().splitlines() if path.exists() else ()):
        if record["kind"] in ("request", "response"):
            found[record["kind"]] = [*found.get(record["kind"], ()), record["payload"]]
    return found


WITH_DOCUMENTS = [one for one in CLASSES if documents_of(one)]


@pytest.mark.parametrize("one", WITH_DOCUMENTS, ids=lambda one: one.__name__)
def test_documents_with_one_value_changed_are_refused_or_kept(one: type[Ours], monkeypatch: pytest.MonkeyPatch) -> None:
    """The classes of frameworks and of files are slow, and those of providers have no payloads."""
    monkeypatch.setattr(trying, "QUICK", 12)
    subject = type(one.__name__, (one,), {"payloads": documents_of(one)}).subject()
    outcome = run_check(CHECKS["disturbance/given"], subject)
    assert outcome.status == "passed", outcome.findings


def test_every_law_of_generated_input_has_a_fast_test() -> None:
    fast = {CHECKS[name].law for name in [*(CHECKS.keys() - SLOW), *quick_forms()]}
    assert LAWS.keys() - fast == {CHECKS[name].law for name in RECORDED} - fast


@pytest.mark.parametrize("check", sorted(SLOW))
def test_each_costly_check_has_its_turn_with_formats_of_several_families(check: str) -> None:
    families = {FAMILY_OF[one.adapter] for one in CLASSES if has_turn(one, check)}
    assert {"frameworks", "sessions", "datasets"} < families


@pytest.mark.parametrize("one", [one for one in CLASSES if one not in WHOLE], ids=lambda one: one.__name__)
def test_each_representative_has_its_turn_with_every_format(one: type[Ours]) -> None:
    applying = [name for name, check in CHECKS.items() if not check.skipped(one.subject())]
    tried = [name for name in applying if "others" in CHECKS[name].needs and (name not in SLOW or has_turn(one, name))]
    partners = {other.api for name in tried for other in one.subject().in_turn(name).others}
    assert partners == {*REPRESENTATIVES} - {one.adapter}


def test_every_installed_adapter_has_a_conformance_class() -> None:
    assert {one.adapter for one in CLASSES} == set(contentmodel.adapters())


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.__name__)
def test_kit_skips_few_checks_of_every_adapter(one: type[Ours]) -> None:
    """Otherwise, a kit that skips every check would pass."""
    subject = one.subject()
    applying = [check for check in CHECKS.values() if "corpus" not in check.needs and not check.skipped(subject)]
    assert len(applying) > (20 if subject.no_streams else 45)
