"""Measure contentmodel and its peers, from bytes to bytes, as multiples of the time of msgspec.

    python benchmarks/run.py                  all tables in the terminal
    python benchmarks/run.py --markdown       the same, written into docs/performance.md too
    python benchmarks/run.py --quick          a short run, for a first look
    python benchmarks/run.py --alone          without the peers
    python benchmarks/run.py --streams        only the tables of streams

Recorded traffic is measured if CONTENTMODEL_CORPUS is set to a folder of it. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import stream_peers
from measure import Timing, Work, measure
from peers import OFFLINE, Peer, load, quiet
from report import Report, Table, milliseconds, times
from stages import STAGES, durations, stages
from stream_tables import StreamBench
from transcripts import APIS, Census, census, long_answer, request, response, short_answer, transcript

import contentmodel
from contentmodel.encoded import Encoded
from contentmodel.lanes.lane import Lane

ANTHROPIC, CHAT, RESPONSES, GOOGLE = APIS
PAIRS = (
    (ANTHROPIC, CHAT),
    (CHAT, ANTHROPIC),
    (ANTHROPIC, RESPONSES),
    (RESPONSES, ANTHROPIC),
    (ANTHROPIC, GOOGLE),
    (GOOGLE, ANTHROPIC),
)
OTHERS = ("bedrock-converse", "cohere-chat", "google-interactions", "mistral-chat", "ollama-chat")
"""The other APIs of providers. Their payloads are converted from Anthropic's."""
TURNS = 100

FLOOR = "msgspec (the floor)"
FLOOR_INPUT = "msgspec, the input encoded again"
OURS = "contentmodel"
OURS_LOSSES = "contentmodel, with losses"
FIRST = "contentmodel, first of a shape"
FIRST_LOSSES = "the same, with losses"
VARIANTS = 3
"""The payloads that a library converts in turn. They have the same shapes and other values."""

_parse = msgspec.json.Decoder().decode
_write = msgspec.json.Encoder().encode


@dataclass
class Result:
    """The result of converting one payload: its census, the timings, and what each library's output lacks."""

    has: str
    timings: dict[str, Timing] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class Bench:
    """One run: the time per table, the peers, and the tables so far."""

    def __init__(self, seconds: float, peers: list[Peer]) -> None:
        self.seconds = seconds
        self.peers = peers
        self.apis = [api for api in APIS if self._loads(api)]
        self.report = Report()

    def _loads(self, api: str) -> bool:
        try:
            contentmodel.adapter(api)
        except Exception as error:
            print(f"{api} is left out: its adapter does not load ({type(error).__name__}: {error})")
            return False
        return True

    def measured(self, contenders: dict[str, Work], seconds: float | None = None) -> dict[str, Timing]:
        """Time the contenders with their output and warnings suppressed."""
        with quiet():
            return measure(contenders, seconds or self.seconds)

    # -- from one API to another ---------------------------------------------------------------------------------

    def conversions(self, kind: str, title: str, payload_of: Callable[[str, int], dict[str, Any]]) -> None:
        """Measure the floor, this library and the peers, for each pair of APIs. `payload_of` takes a variant, too."""
        peers = [peer.name for peer in self.peers]
        names = (OURS, OURS_LOSSES, FIRST, FIRST_LOSSES, *peers)
        ratios = Table(f"{title}, times the floor", ("", "bytes", "floor", *names))
        missing = Table(f"{title}, missing from the output", ("", "input has", OURS, *peers))
        for source, target in PAIRS:
            if source not in self.apis or target not in self.apis:
                continue
            variants = [_write(payload_of(source, number)) for number in range(VARIANTS)]
            data = variants[0]
            result = self._conversion(kind, source, target, variants)
            self.report.detail(_detail(f"{title}: {source} to {target} ({len(data):,} bytes)", result))
            floor = result.timings[FLOOR]
            multiples = (
                times(result.timings[name].best / floor.best) if name in result.timings else "-" for name in names
            )
            pair = f"{source} to {target}"
            ratios.row(pair, f"{len(data):,}", milliseconds(floor.best / VARIANTS), *multiples)
            lost = (result.lost.get(name, "not measured") for name in (OURS, *peers))
            missing.row(pair, result.has, *lost)
            for name, reason in result.failures.items():
                self.report.unmeasured(name, f"{kind}, {pair}", reason)
        self.report.add(ratios)
        self.report.add(missing)

    def _conversion(self, kind: str, source: str, target: str, variants: list[bytes]) -> Result:
        data = variants[0]
        contents = census(source, _parse(data))
        outputs = [contentmodel.convert(one, source=source, target=target, kind=kind) for one in variants]
        result = Result(_described(contents))
        lost = f"{_missing(contents, census(target, outputs[0].payload))} ({_count(outputs[0].losses)} listed)"
        result.lost[OURS] = lost
        pairs = [(one, output.payload) for one, output in zip(variants, outputs, strict=True)]
        first = _by_model(source, target, kind)

        def ours(one: bytes) -> Encoded:
            return contentmodel.convert(one, source=source, target=target, kind=kind)

        contenders: dict[str, Work] = {
            FLOOR: lambda: [(_parse(one), _write(payload)) for one, payload in pairs],
            FLOOR_INPUT: lambda: [_write(_parse(one)) for one in variants],
            OURS: lambda: [ours(one).to_json() for one in variants],
            OURS_LOSSES: lambda: [_with_losses(ours(one)) for one in variants],
            FIRST: lambda: [first(one).to_json() for one in variants],
            FIRST_LOSSES: lambda: [_with_losses(first(one)) for one in variants],
        }
        for peer in self.peers:
            convert = (peer.requests if kind == "request" else peer.responses).get((source, target))
            if peer.failure is not None or convert is None:
                result.failures[peer.name] = peer.failure or "no function for this conversion was found"
                continue
            try:
                with quiet():
                    result.lost[peer.name] = _missing(contents, census(target, _parse(convert(data))))
            except Exception as error:
                result.failures[peer.name] = f"fails: {type(error).__name__}: {_first_line(error)}"
                continue
            contenders[peer.name] = partial(_each, convert, variants)
        result.timings = self.measured(contenders)
        return result

    def stages(self, title: str, payload_of: Callable[[str], dict[str, Any]]) -> None:
        """Measure each stage of a conversion, in multiples of the floor."""
        table = Table(title, ("", "floor", *STAGES))
        for source, target in PAIRS:
            data = _write(payload_of(source))
            payload = contentmodel.convert(data, source=source, target=target, kind="request").payload
            timings = self.measured(
                {
                    FLOOR: lambda data=data, payload=payload: (_parse(data), _write(payload)),
                    **stages(data, source, target),
                }
            )
            floor = timings[FLOOR].best
            parts = durations(timings)
            table.row(f"{source} to {target}", milliseconds(floor), *(times(parts[name] / floor) for name in STAGES))
        self.report.add(table)

    # -- other providers -----------------------------------------------------------------------------------------

    def others(self, kind: str, title: str, payload: dict[str, Any]) -> None:
        """Measure a payload of Anthropic converted to each other API, and back."""
        table = Table(
            f"{title}, other providers, times the floor", ("", "bytes", "floor", OURS, OURS_LOSSES, FIRST, FIRST_LOSSES)
        )
        for api in filter(self._loads, OTHERS):
            there = contentmodel.convert(payload, source=ANTHROPIC, target=api, kind=kind).payload
            self._other_row(table, kind, ANTHROPIC, api, _write(payload))
            self._other_row(table, kind, api, ANTHROPIC, _write(there))
        self.report.add(table)

    def _other_row(self, table: Table, kind: str, source: str, target: str, data: bytes) -> None:
        payload = contentmodel.convert(data, source=source, target=target, kind=kind).payload
        first = _by_model(source, target, kind)
        contenders: dict[str, Work] = {
            FLOOR: lambda: (_parse(data), _write(payload)),
            OURS: lambda: contentmodel.convert(data, source=source, target=target, kind=kind).to_json(),
            OURS_LOSSES: lambda: _with_losses(contentmodel.convert(data, source=source, target=target, kind=kind)),
            FIRST: lambda: first(data).to_json(),
            FIRST_LOSSES: lambda: _with_losses(first(data)),
        }
        timings = self.measured(contenders, self.seconds / 2)
        floor = timings[FLOOR].best
        multiples = (times(timings[name].best / floor) for name in (OURS, OURS_LOSSES, FIRST, FIRST_LOSSES))
        table.row(f"{source} to {target}", f"{len(data):,}", milliseconds(floor), *multiples)

    # -- the same API --------------------------------------------------------------------------------------------

    def identity(self, title: str, payloads: Callable[[str, str], dict[str, Any]]) -> None:
        """Measure decoding and encoding again for the same API."""
        table = Table(title, ("", "bytes", "floor", OURS, "of the floor", "by medians"))
        for api in self.apis:
            adapter = contentmodel.adapter(api)
            for kind in ("request", "response"):
                decode = getattr(adapter, f"decode_{kind}")
                encode = getattr(adapter, f"encode_{kind}")
                data = _write(payloads(api, kind))
                timings = self.measured(
                    {
                        FLOOR: partial(_parse_and_write, data),
                        OURS: partial(_decode_and_encode, decode, encode, data),
                    },
                    self.seconds / 2,
                )
                _ratio_row(table, f"{kind}, {api}", len(data), timings)
        self.report.add(table)

    # -- recorded traffic ----------------------------------------------------------------------------------------

    def recorded(self, folder: Path) -> None:
        """Measure converting all recorded payloads of an API to each other API."""
        for kind in ("request", "response"):
            columns = ("", "payloads", "median size", "floor", OURS, "of the floor", "by medians", "failed")
            table = Table(f"Recorded {kind}s, all of them", columns)
            for source in self.apis:
                bodies = _recorded(folder / "recorded" / f"{source}.{kind}.jsonl")
                for target in self.apis if bodies else ():
                    self._recorded_row(table, kind, source, target, bodies)
            self.report.add(table)

    def _recorded_row(self, table: Table, kind: str, source: str, target: str, bodies: list[bytes]) -> None:
        good: list[tuple[bytes, Any]] = []
        for body in bodies:
            try:
                encoded = contentmodel.convert(body, source=source, target=target, kind=kind)
                _write(encoded.payload)
                good.append((body, encoded.payload))
            except Exception:
                continue
        if not good:
            table.row(f"{source} to {target}", str(len(bodies)), "-", "-", "-", "-", "-", str(len(bodies)))
            return

        def floor() -> None:
            for body, payload in good:
                _parse(body)
                _write(payload)

        def ours() -> None:
            for body, _ in good:
                contentmodel.convert(body, source=source, target=target, kind=kind).to_json()

        timings = self.measured({FLOOR: floor, OURS: ours}, self.seconds / 2)
        table.row(
            f"{source} to {target}",
            str(len(good)),
            f"{round(statistics.median(len(body) for body, _ in good)):,}",
            milliseconds(timings[FLOOR].best),
            milliseconds(timings[OURS].best),
            times(timings[OURS].best / timings[FLOOR].best),
            times(timings[OURS].median / timings[FLOOR].median),
            str(len(bodies) - len(good)),
        )

    # -- import --------------------------------------------------------------------------------------------------

    def imports(self, rounds: int) -> None:
        """Measure an import in a fresh interpreter, and the first conversion after it."""
        first = (
            "import contentmodel; contentmodel.convert("
            'b\'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}\','
            ' source="anthropic-messages", target="openai-chat", kind="request").to_json()'
        )
        statements = {
            "import msgspec": "import msgspec",
            "import contentmodel": "import contentmodel",
            "import contentmodel, and a first conversion": first,
        }
        for peer in self.peers:
            if peer.failure is None:
                statements[f"import {', '.join(peer.modules)}"] = "import " + ", ".join(peer.modules)
        taken: dict[str, list[float]] = {name: [] for name in statements}
        for _ in range(rounds):
            for name, statement in statements.items():
                taken[name].append(_import_seconds(statement))
        table = Table("Import, in a fresh interpreter", ("", "best", "median"))
        for name, seconds in taken.items():
            table.row(name, milliseconds(min(seconds)), milliseconds(statistics.median(seconds)))
        self.report.add(table)


def _parse_and_write(data: bytes) -> bytes:
    return _write(_parse(data))


def _decode_and_encode(decode: Callable[[bytes], Any], encode: Callable[[Any], Any], data: bytes) -> Any:
    return encode(decode(data)).to_json()


def _with_losses(encoded: Encoded) -> tuple[bytes, Any]:
    return encoded.to_json(), encoded.losses


def _by_model(source: str, target: str, kind: str) -> Callable[[bytes], Encoded]:
    """Return the conversion of a payload as if none of its shape had been converted before."""
    reader: Any = contentmodel.adapter(source)
    lane = Lane(reader, contentmodel.adapter(target), None)  # type: ignore[arg-type]
    convert = lane.request_by_model if kind == "request" else lane.answer_by_model
    return lambda data: convert(_parse(data))


def _each(convert: Callable[[bytes], Any], variants: list[bytes]) -> list[Any]:
    return [convert(one) for one in variants]


def _described(contents: Census) -> str:
    counts = ((name, getattr(contents, name)) for name in Census.__dataclass_fields__)
    return ", ".join(_number(count, name) for name, count in counts if count)


def _missing(before: Census, after: Census) -> str:
    counts = ((name, getattr(before, name), getattr(after, name)) for name in Census.__dataclass_fields__)
    return ", ".join(_number(have - left, name) for name, have, left in counts if left < have) or "nothing counted"


def _number(count: int, name: str) -> str:
    return f"{count} {name.removesuffix('s') if count == 1 else name}"


def _detail(title: str, result: Result) -> Table:
    table = Table(title, ("", "best", "median", "of the floor", "by medians"))
    floor = result.timings[FLOOR]
    for name, timing in result.timings.items():
        table.row(
            name,
            milliseconds(timing.best),
            milliseconds(timing.median),
            times(timing.best / floor.best),
            times(timing.median / floor.median),
        )
    return table


def _count(losses: tuple[Any, ...]) -> str:
    return f"{len(losses)} {'loss' if len(losses) == 1 else 'losses'}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:120]


def _ratio_row(table: Table, name: str, size: int, timings: dict[str, Timing]) -> None:
    floor, ours = timings[FLOOR], timings[OURS]
    table.row(
        name,
        f"{size:,}",
        milliseconds(floor.best),
        milliseconds(ours.best),
        times(ours.best / floor.best),
        times(ours.median / floor.median),
    )


def _recorded(path: Path) -> list[bytes]:
    """Return the accepted recorded bodies as compact JSON, without those that cannot be encoded as UTF-8."""
    bodies = []
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        record = json.loads(line)
        status = record.get("status")
        if isinstance(record.get("body"), dict) and (status is None or 200 <= status < 300):
            try:
                bodies.append(_write(record["body"]))
            except UnicodeEncodeError:
                continue
    return bodies


def _import_seconds(statement: str) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        # Compiled modules are cached, as in an installed package.
        env={**os.environ, **OFFLINE, "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": ""},
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    """Run the benchmarks that the command line selects."""
    parser = argparse.ArgumentParser(description="Compare contentmodel with other libraries.")
    parser.add_argument("--quick", action="store_true", help="a short run")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--markdown", action="store_true", help="write the tables into docs/performance.md")
    parser.add_argument("--streams", action="store_true", help="only the tables of streams")
    options = parser.parse_args()
    if options.streams and options.markdown:
        parser.error("--markdown writes all tables: leave out --streams")

    seconds = 0.6 if options.quick else 4.0
    corpus = Path(os.environ["CONTENTMODEL_CORPUS"]) if os.environ.get("CONTENTMODEL_CORPUS") else None
    if corpus is None:
        print("Recorded traffic is not measured: CONTENTMODEL_CORPUS is not set.")
    bench = Bench(seconds=seconds, peers=[] if options.alone or options.streams else load())
    if not options.streams:
        _payloads(bench, corpus)
    streams = StreamBench(seconds / 2, [] if options.alone else stream_peers.load(), bench.report)
    _streams(streams, corpus, 10 if options.quick else 100)
    bench.report.add_unmeasured()
    if not options.streams:
        bench.imports(3 if options.quick else 7)
    if options.markdown:
        bench.report.write(Path(__file__).parent.parent / "docs" / "performance.md")


def _payloads(bench: Bench, corpus: Path | None) -> None:
    """Add the tables of requests and answers."""
    conversation, long = transcript(TURNS), long_answer()
    bench.report.about_peers(bench.peers)
    bench.conversions(
        "request", f"Request of {TURNS} turns", lambda api, number: request(api, transcript(TURNS, 5 + number))
    )
    bench.conversions(
        "response", "Answer with two tool calls", lambda api, number: response(api, short_answer(11 + number))
    )
    bench.conversions("response", "Long answer", lambda api, number: response(api, long_answer(13 + number)))
    bench.others("request", f"Request of {TURNS} turns", request(ANTHROPIC, conversation))
    bench.others("response", "Long answer", response(ANTHROPIC, long))
    bench.stages(f"Request of {TURNS} turns, its stages, times the floor", lambda api: request(api, conversation))
    bench.identity(
        f"The same API, decoded and encoded again: the request of {TURNS} turns, the long answer",
        lambda api, kind: request(api, conversation) if kind == "request" else response(api, long),
    )
    if corpus is not None:
        bench.recorded(corpus)


def _streams(streams: StreamBench, corpus: Path | None, megabytes: int) -> None:
    """Add the tables of streams."""
    streams.about_peers()
    streams.folds()
    streams.translations()
    if corpus is not None:
        streams.recorded(corpus)
    streams.memory(megabytes)


if __name__ == "__main__":
    main()
