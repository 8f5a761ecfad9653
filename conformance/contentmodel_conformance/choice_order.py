"""The law of the order of choices: the choices of a stream may begin in any order."""

from __future__ import annotations

from typing import Any

from contentmodel.events import fold
from contentmodel.framing import stream_format_of
from contentmodel_conformance import streams

__all__ = ["last_choice_first", "stream_choices"]


def stream_choices(adapter: Any, body: list[dict[str, Any]], turned: list[dict[str, Any]]) -> None:
    """Each choice of a stream has the position of its index, whichever choice begins first."""
    form = stream_format_of(adapter)
    one, other = (fold(streams.decode(adapter, streams.frames_of(events, form))) for events in (body, turned))
    streams.same("choices", one, other)


def last_choice_first(body: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a stream whose choices come one after the other, the last one first; [] if it has only one choice."""
    places = [place for place, event in enumerate(body) if _indexes(event["data"])]
    if len({index for place in places for index in _indexes(body[place]["data"])}) < 2:
        return []
    turned = list(body)
    events = sorted((body[place] for place in places), key=lambda event: -_indexes(event["data"])[0])
    for place, event in zip(places, events, strict=True):
        turned[place] = event
    return turned


def _indexes(data: Any) -> list[int]:
    """Return the indexes of the choices that an event belongs to."""
    lists = [data.get(key) for key in ("choices", "candidates")] if isinstance(data, dict) else []
    return [choice.get("index", 0) for choices in lists if isinstance(choices, list) for choice in choices]
