"""Verify a run: the work of the agent, the requests at the upstream, and that each difference is a reported loss."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from model import DONE, NOTES, Model, image, shown
from programs import Program
from servers import EndedProcess, Exchange

from contentmodel.content.media import DataContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.losses import Loss, significant
from contentmodel.message import contents_of
from contentmodel_conformance.agreement import Excuses, compare
from contentmodel_conformance.laws import LawBroken
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.readers import READERS
from contentmodel_conformance.readers.reading import ASSISTANT, CALL
from contentmodel_conformance.server import Recorded


@dataclass
class Run:
    """The facts of a run that has ended."""

    program: Program
    to: str
    scenario: str
    project: Path
    ended: EndedProcess
    model: Model
    exchanges: list[Exchange]
    records: list[Recorded]
    reports: dict[str, dict[str, Any]]
    hosts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    host: str | None = None
    """The host of Chat Completions that the model belongs to; None for the API's own."""

    @property
    def tried(self) -> int:
        """The number of calls that the model requested and the agent made."""
        last = self.last
        return 0 if last is None else sum(isinstance(c, ToolResultContent) for c in contents_of(last.request.messages))

    @property
    def last(self) -> Any:
        """The last request of the task at the upstream."""
        return next((r for r in reversed(self.records) if r.request is not None and r.request.tools), None)

    def losses(self) -> Counter[str]:
        """Count the significant losses of all requests and answers, by code."""
        return Counter(loss.code for report in self.reports.values() for loss in losses_of(report))


def losses_of(report: dict[str, Any], *sides: str) -> list[Loss]:
    """Return the significant losses of a report."""
    listed = [item for side in sides or ("request", "answer") for item in report.get(side, [])]
    return list(significant(msgspec.convert(listed, list[Loss])))


def violations(run: Run) -> list[str]:
    """Return what the upstream's API would refuse or ignore in the requests, and what its SDK's types do not have."""
    found = [f"{v.severity} {v.rule} at {v.path}" for record in run.records for v in record.check()]
    if run.host is not None:
        return found  # A host has fields and values that the types of OpenAI's SDK lack.
    if run.to == run.program.api:
        return found  # The agent's own requests may have fields that the SDK's types lack.
    checker = judge(run.to, "request")
    for record in run.records:
        found += [f"types: {fault}" for fault in checker.faults(record.payload)]
    return found


def check(run: Run) -> list[str]:
    """Return the faults of a run; [] if there is none."""
    faults = [*_work(run), *_requests(run)]
    if run.last is None:
        return [*faults, "the upstream was sent no request with tools"]
    faults += [*_transcript(run), *_prefixes(run)]
    for exchange, record in _pairs(run):
        faults += _agreement(run, exchange, record)
    return faults


# -- the agent's work --------------------------------------------------------------------------------------------------


def _work(run: Run) -> Iterator[str]:
    if run.ended.code is None:
        yield f"the agent did not end in {run.ended.seconds:.0f} seconds"
    elif run.ended.code != 0:
        yield f"the agent ended with code {run.ended.code}: {run.ended.err[-300:]!r}"
    if DONE not in run.ended.out:
        yield f"the agent did not print the last text: {run.ended.out[-200:]!r}"
    notes = run.project / "notes.txt"
    if not notes.exists():
        yield "the agent did not write notes.txt"
    elif notes.read_text() != NOTES:
        yield f"notes.txt has another text: {notes.read_text()!r}"
    numbers = [
        step.text or step.reasoning for step in run.model.steps if step.results[:1] and step.results[0][:3] == "at "
    ]
    counted = run.project / "count.txt"
    lines = counted.read_text().splitlines() if counted.exists() else []
    if lines != [f"counted {n}" for n in range(1, len(numbers) + 1)]:
        yield f"count.txt has the lines {lines}"


def _requests(run: Run) -> Iterator[str]:
    scripted = [record for record in run.records if record.fault is not None]
    # A stream that breaks before its first content becomes an error of the gateway.
    allowed = [status for record in scripted for status in ((record.status,) if record.status != 200 else (500, 502))]
    for exchange in run.exchanges:
        if (exchange.status or 500) < 400 and not exchange.broke:
            continue
        if exchange.status in allowed:
            allowed.remove(exchange.status)
        elif exchange.path.partition("?")[0] != "/":
            answer = bytes(exchange.answer[:200])
            yield f"{exchange.method} {exchange.path} was answered with {exchange.status}: {answer!r}"
    ended = [report.get("ended") for report in run.reports.values() if report.get("ended") not in (None, "complete")]
    broken = [record for record in scripted if record.status == 200]
    if len(ended) > len(broken):
        yield f"streams ended as {ended}, and {len(broken)} were to break"
    for record in run.records:
        if record.error is not None:
            yield f"request {record.number} is not valid: {record.error}"
        if record.fault is None and record.status != 200:
            yield f"the upstream answered request {record.number} with {record.status}"


# -- the transcript ----------------------------------------------------------------------------------------------------


def _transcript(run: Run) -> Iterator[str]:
    """Compare the last request with the script: texts and calls in order, and a result for each call."""
    steps = sorted(run.model.turns)
    if len(steps) < len(run.model.steps):
        yield f"only {len(steps)} of {len(run.model.steps)} turns were requested"
        return
    turns = [run.model.turns[number] for number in steps[:-1]]
    wanted: list[Any] = []
    for turn in turns:
        wanted += [(ASSISTANT, turn.text)] if turn.text else []
        wanted += [(CALL, (call.name, _arguments(call.arguments))) for call in turn.calls]
    facts = READERS[run.to]("request", run.last.payload).facts
    found = [(fact.kind, _plain(fact)) for fact in facts if fact.kind in (ASSISTANT, CALL)]
    reasoning = {turn.reasoning for turn in turns}
    found = [item for item in found if not (item[0] == ASSISTANT and item[1] in reasoning)]
    if found != wanted:
        same = (a == b for a, b in zip(found, wanted, strict=False))
        place = next((n for n, is_same in enumerate(same) if not is_same), min(len(found), len(wanted)))
        sent, expected = (shown(items[place : place + 2]) for items in (found, wanted))
        yield f"texts and calls differ at {place}: sent {sent}, expected {expected}"
    yield from _results(run, [call.id for turn in turns for call in turn.calls])
    yield from _reasoning(run, reasoning)


def _arguments(arguments: Any) -> Any:
    return {"input": arguments} if isinstance(arguments, str) else arguments


def _plain(fact: Any) -> Any:
    if fact.kind != CALL:
        return fact.value
    name, arguments = fact.value
    return name, json.loads(arguments) if isinstance(arguments, str) else arguments


def _results(run: Run, ids: list[str]) -> Iterator[str]:
    contents = list(contents_of(run.last.request.messages))
    calls = [content.call_id for content in contents if isinstance(content, ToolCallContent)]
    results = {content.call_id: content for content in contents if isinstance(content, ToolResultContent)}
    if run.to != "google-generate-content" and calls != ids:
        yield f"the ids of calls are {calls[:3]}..., expected {ids[:3]}..."
    number = sum(isinstance(content, ToolResultContent) for content in contents)
    if sorted(map(str, results)) != sorted(map(str, calls)) or number != len(calls):
        yield f"{len(calls)} calls have {number} results with ids {list(results)[:5]}"
        return
    step_calls = iter(calls)
    for step in run.model.steps:
        for place in range(len(step.calls)):
            result = results[next(step_calls)]
            text = "".join(output.text for output in result.outputs if isinstance(output, TextContent))
            text += "" if result.error is None else str(result.error.message)
            if step.results and not re.search(step.results[place], text):
                yield f"the result of turn {step.reasoning!r} is {text[:200]!r}"
    if any(step.image for step in run.model.steps) and not any(_is_image(content) for content in _all(contents)):
        yield "the image is not in the request"


def _prefixes(run: Run) -> Iterator[str]:
    """Check that each request begins with the messages of the one before, so that the upstream's cache has them."""
    field = {"openai-responses": "input", "google-generate-content": "contents"}.get(run.to, "messages")
    turns = [r.payload[field] for r in run.records if r.request is not None and r.request.tools]
    for number, (before, after) in enumerate(pairwise(map(_uncached, turns)), 2):
        if before != after[: len(before)]:
            yield f"request {number} of the task changes earlier messages"


def _uncached(value: Any) -> Any:
    """Return a JSON value without marks of the cache: they move from turn to turn."""
    if isinstance(value, dict):
        return {key: _uncached(item) for key, item in value.items() if key != "cache_control"}
    return [_uncached(item) for item in value] if isinstance(value, list) else value


def _all(contents: list[Any]) -> Iterator[Any]:
    for content in contents:
        yield content
        if isinstance(content, ToolResultContent):
            yield from content.outputs


def _is_image(content: Any) -> bool:
    return isinstance(content, DataContent) and content.data == base64.b64encode(image()).decode()


def _reasoning(run: Run, wanted: set[str]) -> Iterator[str]:
    """Check that the last request has each reasoning of the script, or that there is a loss for each missing one."""
    contents = contents_of(run.last.request.messages)
    found = {content.text for content in contents if isinstance(content, ReasoningContent)}
    missing = wanted - found
    report = next((run.reports[a.name] for a, r in _pairs(run) if a.name and r is run.last), {})
    if report.get("passed_through"):
        return
    lost = [loss for loss in losses_of(report) if loss.family == "reasoning"]
    answered = [
        loss for other in run.reports.values() for loss in losses_of(other, "answer") if loss.family == "reasoning"
    ]
    if len(missing) > len(lost) + len(answered):
        yield f"{len(missing)} of {len(wanted)} reasonings are missing, and {len(lost)} losses name one"


# -- every request -----------------------------------------------------------------------------------------------------


def _pairs(run: Run) -> Iterator[tuple[Exchange, Recorded]]:
    """Yield the requests of the agent, each with the converted request at the upstream."""
    numbers = {f"req_{record.number}": record for record in run.records}
    for exchange in run.exchanges:
        record = numbers.get(exchange.upstream_id or "")
        if record is not None and record.request is not None and exchange.name in run.reports:
            yield exchange, record


def _agreement(run: Run, exchange: Exchange, record: Recorded) -> Iterator[str]:
    """Compare the facts that independent readers find in the two forms of a request."""
    report = run.reports[exchange.name or ""]
    if report.get("passed_through"):
        if {**exchange.payload, "model": None} != {**record.payload, "model": None}:
            yield f"request {record.number} differs from that of the agent, although the API is the same"
        return
    listed = msgspec.convert(report.get("request", []), list[Loss])
    before = READERS[run.program.api]("request", exchange.payload)
    after = READERS[run.to]("request", record.payload)
    try:
        compare(before, after, Excuses(exchange.payload, listed))
    except LawBroken as error:
        yield f"request {record.number}: {error}"[:500]
