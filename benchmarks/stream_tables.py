"""The tables of streams: folding to a response, conversion to another API, and the memory of a long stream.

The floor of a fold is msgspec: it decodes the JSON of each frame, already split, without types, and encodes it
again. The floor of a conversion is decoding the JSON of each input frame, and encoding that of each output frame.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import memory
import msgspec
from measure import Timing, Work, measure
from peers import quiet
from report import Report, Table, milliseconds, times
from stream_peers import StreamPeer
from streams import Sent, agent_answer, data_of, long_text, recorded, sent
from transcripts import APIS

from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.streams import StreamConverter, fold_stream

ANTHROPIC, CHAT, RESPONSES, GOOGLE = APIS
PAIRS = (
    (ANTHROPIC, CHAT),
    (CHAT, ANTHROPIC),
    (ANTHROPIC, RESPONSES),
    (RESPONSES, ANTHROPIC),
    (RESPONSES, CHAT),
    (GOOGLE, ANTHROPIC),
)
STREAMS = {"long text": long_text, "agent": agent_answer}
CHUNK = 4096
WHOLE, CUT = "contentmodel, fed whole", "contentmodel, in 4 KB chunks"
FLOOR = "msgspec (the floor)"
FLOOR_INPUT = "msgspec, the input encoded again"
_NO_FUNCTION = "no function for this stream was found"

_parse = msgspec.json.Decoder().decode
_write = msgspec.json.Encoder().encode


class StreamBench:
    """One run of the stream tables."""

    def __init__(self, seconds: float, peers: list[StreamPeer], report: Report) -> None:
        self.seconds = seconds
        self.peers = peers
        self.report = report

    def about_peers(self) -> None:
        if self.peers:
            table = Table("Peers, for streams", ("", "version", "measured through"))
            for peer in self.peers:
                table.row(peer.name, peer.version, peer.failure or peer.through)
            self.report.add(table)

    def _measured(self, contenders: dict[str, Work]) -> dict[str, Timing]:
        with quiet():
            return measure(contenders, self.seconds)

    # -- a stream folded into a response -------------------------------------------------------------------------

    def folds(self) -> None:
        names = (WHOLE, CUT, *(peer.name for peer in self.peers))
        table = Table("Stream folded into a response, times the floor", ("", "frames", "bytes", "floor", *names))
        for kind, make in STREAMS.items():
            for api in APIS:
                stream = sent(make(api))
                contenders: dict[str, Work] = {
                    FLOOR: partial(_floor, stream.data),
                    WHOLE: partial(fold_stream, [stream.raw], api),
                    CUT: partial(fold_stream, stream.cut(CHUNK), api),
                    **self._gatherers(api, stream, f"fold of {api}, {kind}"),
                }
                timings = self._measured(contenders)
                self.report.detail(_detail(f"Fold of {api}, {kind}", timings))
                table.row(f"{api}, {kind}", f"{stream.frames:,}", *_cells(stream, timings, names))
        self.report.add(table)

    def _gatherers(self, api: str, stream: Sent, subject: str) -> dict[str, Work]:
        """Return the fold of each peer that has one and supports the stream."""
        gatherers: dict[str, Work] = {}
        for peer in self.peers:
            gather = peer.folds.get(api)
            if peer.failure is not None or gather is None:
                self.report.unmeasured(peer.name, subject, peer.failure or _NO_FUNCTION)
                continue
            try:
                with quiet():
                    gather(stream)
            except Exception as error:
                self.report.unmeasured(peer.name, subject, _failed(error))
                continue
            gatherers[peer.name] = partial(gather, stream)
        return gatherers

    # -- a stream of one API as another's ------------------------------------------------------------------------

    def translations(self) -> None:
        peers = [peer.name for peer in self.peers if peer.streams or peer.failure]
        names = (WHOLE, CUT, *peers)
        ratios = Table("Stream of one API as another's, times the floor", ("", "frames", "bytes", "floor", *names))
        missing = Table("Stream of one API as another's, missing from the output", ("", "input has", WHOLE, *peers))
        for kind, make in STREAMS.items():
            for source, target in PAIRS:
                row = f"{source} to {target}, {kind}"
                stream = sent(make(source))
                has = _contents_of(source, stream.raw)
                lost: dict[str, str] = {}
                timings = self._translation(source, target, stream, has, lost)
                self.report.detail(_detail(row, timings))
                ratios.row(row, f"{stream.frames:,}", *_cells(stream, timings, names))
                missing.row(row, _counted(has), *(lost.get(name, "not measured") for name in (WHOLE, *peers)))
        self.report.add(ratios)
        self.report.add(missing)

    def _translation(
        self, source: str, target: str, stream: Sent, has: dict[str, int], lost: dict[str, str]
    ) -> dict[str, Timing]:
        made = translated([stream.raw], source, target)
        outputs = [_parse(data) for data in data_of(made.replace(b"\r\n", b"\n").split(b"\n\n")[:-1])]
        chunks = stream.cut(CHUNK)
        contenders: dict[str, Work] = {
            FLOOR: partial(_floor_of_both, stream.data, outputs),
            FLOOR_INPUT: partial(_floor, stream.data),
            WHOLE: lambda: translated([stream.raw], source, target),
            CUT: lambda: translated(chunks, source, target),
        }
        lost[WHOLE] = _missing(has, _contents_of(target, made))
        for peer in self.peers:
            translate = peer.streams.get((source, target))
            if peer.failure is not None or translate is None:
                if peer.streams:
                    self.report.unmeasured(peer.name, f"stream, {source} to {target}", _NO_FUNCTION)
                continue
            try:
                with quiet():
                    lost[peer.name] = _missing(has, _contents_of(target, translate(stream)))
            except Exception as error:
                self.report.unmeasured(peer.name, f"stream, {source} to {target}", _failed(error))
                continue
            contenders[peer.name] = partial(translate, stream)
        return self._measured(contenders)

    # -- recorded traffic ----------------------------------------------------------------------------------------

    def recorded(self, folder: Path) -> None:
        """Measure all recorded streams of an API, one after the other."""
        columns = ("", "streams", "frames", "floor", WHOLE, CUT, "official SDK", "failed")
        table = Table("Recorded streams, folded into responses, times the floor", columns)
        for api in APIS:
            streams = _recordings(folder / "recorded" / f"{api}.stream.jsonl")
            good = [stream for stream in streams if fold_stream([stream.raw], api).error is None]
            if not good:
                continue
            cut = [stream.cut(CHUNK) for stream in good]
            contenders: dict[str, Work] = {
                FLOOR: lambda good=good: [_floor(stream.data) for stream in good],
                WHOLE: lambda good=good, api=api: [fold_stream([stream.raw], api) for stream in good],
                CUT: lambda cut=cut, api=api: [fold_stream(chunks, api) for chunks in cut],
            }
            gather = next((peer.folds.get(api) for peer in self.peers if peer.name == "official SDK"), None)
            if gather is not None:
                contenders["official SDK"] = partial(_gather_all, gather, good)
            timings = self._measured(contenders)
            floor = timings[FLOOR].best
            ratios = (times(timings[n].best / floor) if n in timings else "-" for n in columns[4:-1])
            frames = sum(stream.frames for stream in good)
            table.row(api, str(len(good)), f"{frames:,}", milliseconds(floor), *ratios, str(len(streams) - len(good)))
        self.report.add(table)

    # -- memory --------------------------------------------------------------------------------------------------

    def memory(self, megabytes: int) -> None:
        """Measure a stream of this length and one of a tenth of it: bounded memory does not grow with the length."""
        sizes = (megabytes // 10, megabytes)
        columns = ("", *(f"{size} MB grow it by" for size in sizes), "bytes in", "bytes out")
        table = Table("Memory, a stream of many blocks passed through in chunks of 64 KB", columns)
        for source, target in memory.CASES:
            growths = [memory.measured(source, target, size) for size in sizes]
            grown = (f"{growth.grown / 1e6:.1f} MB" for growth in growths)
            table.row(f"{source} to {target}", *grown, f"{growths[-1].read:,}", f"{growths[-1].written:,}")
        self.report.add(table)


def translated(chunks: list[bytes], source: str, target: str) -> bytes:
    """Convert a stream's bytes to another API."""
    converter = StreamConverter(source, target)
    made = [converter.feed(chunk) for chunk in chunks]
    made.append(converter.close())
    return b"".join(made)


def _floor(data: list[bytes]) -> None:
    for frame in data:
        _write(_parse(frame))


def _floor_of_both(data: list[bytes], outputs: list[Any]) -> None:
    for frame in data:
        _parse(frame)
    for output in outputs:
        _write(output)


def _gather_all(gather: Any, streams: list[Sent]) -> None:
    for stream in streams:
        try:
            gather(stream)
        except Exception:
            # An SDK older than the recording may skip parts of it, and then does less work.
            continue


def _cells(stream: Sent, timings: dict[str, Timing], names: tuple[str, ...]) -> list[str]:
    floor = timings[FLOOR].best
    ratios = (times(timings[name].best / floor) if name in timings else "-" for name in names)
    return [f"{len(stream.raw):,}", milliseconds(floor), *ratios]


def _detail(title: str, timings: dict[str, Timing]) -> Table:
    table = Table(title, ("", "best", "median", "of the floor", "by medians"))
    floor = timings[FLOOR]
    for name, timing in timings.items():
        ratios = times(timing.best / floor.best), times(timing.median / floor.median)
        table.row(name, milliseconds(timing.best), milliseconds(timing.median), *ratios)
    return table


def _contents_of(api: str, raw: bytes) -> dict[str, int]:
    """Return the number of characters and calls in a stream, as our decoder reads it."""
    counts = {"characters of text": 0, "characters of reasoning": 0, "calls": 0}
    response = fold_stream([raw], api)
    for content in (c for choice in response.choices for message in choice.messages for c in message.contents):
        if isinstance(content, TextContent):
            counts["characters of text"] += len(content.text)
        elif isinstance(content, ReasoningContent):
            counts["characters of reasoning"] += len(content.text or "")
        elif isinstance(content, FunctionCallContent):
            counts["calls"] += 1
    return counts


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _missing(before: dict[str, int], after: dict[str, int]) -> str:
    return _counted(
        {name: have - after.get(name, 0) for name, have in before.items() if after.get(name, 0) < have}
    ) or ("nothing counted")


def _failed(error: Exception) -> str:
    return f"fails: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}"


def _recordings(path: Path) -> list[Sent]:
    """Return the accepted recorded streams, without those that cannot be encoded as UTF-8."""
    streams = []
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        record = json.loads(line)
        status = record.get("status")
        if isinstance(record.get("body"), list) and (status is None or 200 <= status < 300):
            try:
                streams.append(recorded(record["body"]))
            except UnicodeEncodeError:
                continue
    return streams
