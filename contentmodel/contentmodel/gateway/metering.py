"""Read the usage of answers that are passed through as bytes."""

from __future__ import annotations

from collections.abc import Mapping

from contentmodel.errors import DecodeError
from contentmodel.events import ENDED, TurnComplete, TurnError
from contentmodel.gateway.report import Report, logger, short
from contentmodel.gateway.upstream import Sender


def read_usage(sender: Sender, headers: Mapping[str, str], body: bytes, report: Report) -> None:
    """Record the usage of a whole answer, if it has one. An answer of another form is passed on all the same."""
    if "content-encoding" in headers:
        return
    try:
        report.usage = sender.adapter.decode_response(body).usage
    except DecodeError:
        return
    except Exception:
        logger.exception("the usage of request %s cannot be read", report.id)


class Meter:
    """Reads the usage, and an error, of a stream that is passed through."""

    def __init__(self, sender: Sender, headers: Mapping[str, str], report: Report) -> None:
        self._report = report
        self._decoder = None if "content-encoding" in headers else sender.adapter.stream_decoder(deltas=False)
        self._end: TurnComplete | TurnError | None = None

    def feed(self, chunk: bytes) -> None:
        """Read a chunk."""
        if self._decoder is not None:
            self._take("feed", chunk)

    def close(self) -> None:
        """Record the usage. Of a stream without an end, it is the usage that arrived."""
        if self._decoder is None:
            return
        is_whole = self._end is not None
        if not is_whole:
            self._take("close")
        end = self._end
        if end is None:
            return
        self._report.usage, self._report.partial = end.response.usage, not is_whole
        if isinstance(end, TurnError) and end.error.code != ENDED:
            self._report.ended, self._report.error = "failed", short(end.error.kind or end.error.code or "server")

    def _take(self, method: str, *chunk: bytes) -> None:
        try:
            events = getattr(self._decoder, method)(*chunk)
        except Exception:
            logger.exception("the usage of request %s cannot be read", self._report.id)
            self._decoder = None
            return
        if events and isinstance(events[-1], TurnComplete | TurnError):
            self._end = events[-1]
