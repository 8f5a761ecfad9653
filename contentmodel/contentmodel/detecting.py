"""Detect the API and the kind of a payload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from contentmodel.adapter import (
    Adapter,
    JsonText,
    Payload,
    RecognisesLists,
    RequestsOnly,
    adapter,
    adapters,
    as_json,
    form_of,
)
from contentmodel.errors import DecodeError, DetectError, Fault
from contentmodel.framing import LINES, AnyFraming, begins_like_sse, stream_format_of
from contentmodel.json import Json, JsonArray, JsonObject, child_path, is_error_in_list, kind_of, parse
from contentmodel.lines import PROBED, probe_lines
from contentmodel.literals import PayloadKind
from contentmodel.reading import first_faulty, reads


class Identified(NamedTuple):
    """A payload as plain JSON values, its API and its kind."""

    payload: Json
    api: str
    kind: PayloadKind


def detect(payload: Payload, *, api: str | None = None, kind: PayloadKind | None = None) -> tuple[str, PayloadKind]:
    """Return the API id and the kind ("request", "response" or "stream") of a payload.

    A list of messages is a request. JSON Lines are the request of a format whose documents are JSON Lines. A stream is
    detected by the first event that only one API could have sent. Pass `api` or `kind` if it is already known. Raise
    DetectError if no API, or more than one, matches.
    """
    if kind == "stream" or (kind is None and is_stream(payload)):
        return detect_stream(payload, api), "stream"
    identified = _identify(payload, api, kind, whole=False)
    return identified.api, identified.kind


def identify(payload: Payload, api: str | None = None, kind: PayloadKind | None = None) -> Identified:
    """Detect the API and the kind of a request or a response. Also return the payload as plain JSON values.

    Raise DetectError if no API, or more than one, matches, and DecodeError if the payload is neither JSON nor JSON
    Lines.
    """
    return _identify(payload, api, kind, whole=True)


def _identify(payload: Payload, api: str | None, kind: PayloadKind | None, *, whole: bool) -> Identified:
    """Identify a payload. If not `whole`, read only the first lines of JSON Lines."""
    if api is not None and form_of(api) == "lines":
        return Identified(as_json(payload, api) if whole else None, api, kind or "request")
    if api is None and not _is_text(payload):
        adapters()  # Each adapter adds its function to DUMPERS when it is loaded.
    try:
        value = as_json(payload, "json" if api is None else api)
    except DecodeError:
        if not _is_text(payload) or api is not None or kind == "response":
            raise
        line_api = api_of_lines(payload)
        if line_api is None:
            _refuse_lines(payload)
            raise
        return Identified(as_json(payload, line_api) if whole else None, line_api, "request")
    # An object in a text may be a document of one line; an array in a text is not the values of lines.
    return identify_value(value, api, kind, may_be_lines=_is_text(payload) != isinstance(value, list))


def identify_value(value: Json, api: str | None, kind: PayloadKind | None, *, may_be_lines: bool) -> Identified:
    """Identify JSON values. `may_be_lines`: an object may be the only line of a document, a list its lines."""
    kind = kind or kind_of_all(api, is_array=isinstance(value, list))
    if api is not None and kind is not None and isinstance(value, list | dict):
        return Identified(value, api, kind)
    if isinstance(value, list) and kind != "request" and is_error_in_list(value):
        name, _ = _detect_object(value[0], api, "response", may_be_lines=False)
        return Identified(value, name, "response")
    if isinstance(value, list) and kind != "response":
        return Identified(value, _detect_list(value, api, may_be_lines=may_be_lines), "request")
    if not isinstance(value, dict):
        raise DetectError(f"cannot detect the API of this payload: expected an object, got {kind_of(value)}")
    name, found_kind = _detect_object(value, api, kind, may_be_lines=may_be_lines)
    return Identified([value] if form_of(name) == "lines" else value, name, found_kind)


def kind_of_all(api: str | None, *, is_array: bool) -> PayloadKind | None:
    """Return "request" for a format that has only conversations, or whose arrays are conversations; else None."""
    if api is None:
        return None
    candidate = adapter(api)
    has_only_requests = isinstance(candidate, RequestsOnly) or (is_array and getattr(candidate, "is_list", False))
    return "request" if has_only_requests else None


def _is_text(payload: Payload) -> TypeGuard[JsonText]:
    return isinstance(payload, bytes | bytearray | memoryview | str)


def _detect_object(
    payload: JsonObject, api: str | None, kind: PayloadKind | None, *, may_be_lines: bool
) -> tuple[str, PayloadKind]:
    """Return the API and the kind of an object. If it `may_be_lines`, it may be a document of one line."""
    candidates = adapters() if api is None else {api: adapter(api)}
    scores: dict[tuple[str, PayloadKind], float] = {
        (name, key): score
        for name, candidate in candidates.items()
        for key, score in candidate.recognises(payload).items()
        if kind is None or key == kind
    }
    if may_be_lines and kind != "response":
        scores |= {(name, "request"): score for name, score in _scores_of_lines([payload], candidates).items()}
    best = _best(payload, scores, candidates, is_named=api is not None)
    if not best:
        raise DetectError(_unknown_object(payload, api, kind, candidates, scores))
    # An error object may be both a response body and a stream event.
    winners = [key for key in best if key[1] != "stream"] or best
    if len(winners) > 1:
        names = " or ".join(f"{name} ({key})" for name, key in winners)
        missing = "API" if len({name for name, _ in winners}) > 1 else "kind"
        raise DetectError(f"this may be {names}: pass its {missing}")
    return winners[0]


Scores: TypeAlias = Mapping[tuple[str, PayloadKind], float]
"""The likelihood that a payload is of each API and kind."""


def _best(
    payload: JsonObject | JsonArray, scores: Scores, candidates: Mapping[str, Adapter], *, is_named: bool
) -> list[tuple[str, PayloadKind]]:
    """Return the APIs and kinds with the highest score, of those whose adapters read the payload.

    If the caller named the API, its adapter is not tried: decoding reports what it cannot read.
    """
    for score in sorted({*scores.values()} - {0.0}, reverse=True):
        best = [
            (name, kind)
            for (name, kind), value in scores.items()
            if value == score
            and (is_named or kind == "stream" or reads(candidates[name], kind, _as_document(payload, name), score))
        ]
        if best:
            return best
    return []


def _as_document(payload: JsonObject | JsonArray, api: str) -> JsonObject | JsonArray:
    return [payload] if form_of(api) == "lines" and isinstance(payload, dict) else payload


def _unknown_object(
    payload: JsonObject, api: str | None, kind: PayloadKind | None, candidates: Mapping[str, Adapter], scores: Scores
) -> str:
    """Return the text of the error for an object that no API recognizes, or whose messages none reads."""
    problem, fix = f"this looks like neither a request nor a response of {api}", "pass its kind"
    if api is None:
        problem = f"no API recognizes an object with the keys {_keys(payload)}{_closest(payload, scores, candidates)}"
        fix = f"pass its API, one of {', '.join(sorted(candidates))}"
    misfits = "" if scores else "".join(f"{misfit}; " for misfit in _misfits(payload, candidates, kind))
    return f"{problem}: {misfits and misfits + 'correct the value, or '}{fix}"


def _closest(payload: JsonObject | JsonArray, scores: Scores, candidates: Mapping[str, Adapter]) -> str:
    """Return which API a document is most similar to, if one has a score; else ""."""
    if not scores:
        return ""
    name, kind = max(scores, key=lambda key: scores[key])
    at = first_faulty(candidates[name], kind, _as_document(payload, name))
    unread = f"the entry at {at} is none of its messages" if at else "its adapter recognizes no content of the messages"
    return f" (the most similar is a {kind} of {name}, but {unread})"


_EMPTY: dict[str, Any] = {"array": [], "object": {}, "string": ""}
"""An empty value of each JSON class that identifies an API."""
_KEYS_PROBED = 64
"""The number of keys that are probed for values of the wrong class. Requests of the APIs have fewer."""


def _misfits(payload: Mapping[str, Any], candidates: Mapping[str, Adapter], kind: PayloadKind | None) -> Iterator[str]:
    """Yield each key whose value has the wrong JSON class: with another class, an API recognizes the payload."""
    probe = dict(payload)
    for key in islice(payload, _KEYS_PROBED):
        actual = kind_of(payload[key])
        expected: dict[str, list[str]] = {}
        for name, empty in _EMPTY.items():
            if name != actual:
                probe[key] = empty
                expected[name] = _owners(probe, candidates, kind)
        probe[key] = payload[key]
        classes = [name for name, owners in expected.items() if owners]
        if classes:
            owners = dict.fromkeys(owner for name in classes for owner in expected[name])
            yield (f"{child_path('$', key)}: expected {' or '.join(classes)} as in {' or '.join(owners)}, got {actual}")


_LIKELY = 0.5
"""The confidence below which a document is more likely one of another API with the same keys."""


def _owners(payload: dict[str, Any], candidates: Mapping[str, Adapter], kind: PayloadKind | None) -> list[str]:
    """Return what a document may be: "a request of openai-chat"."""
    return [
        f"a {kind_name} of {name}"
        for name, candidate in candidates.items()
        for kind_name, confidence in candidate.recognises(payload).items()
        if confidence >= _LIKELY and kind_name != "stream" and kind in (None, kind_name)
    ]


def _detect_list(items: JsonArray, api: str | None, *, may_be_lines: bool) -> str:
    """Return the API that recognizes a list of messages, or the values of lines, with the highest score.

    Raise DetectError if none does.
    """
    candidates = adapters() if api is None else {api: adapter(api)}
    scores = {
        name: candidate.recognises_list(items)
        for name, candidate in candidates.items()
        if isinstance(candidate, RecognisesLists) and form_of(name) == "json"
    }
    if may_be_lines:
        scores |= _scores_of_lines(items, candidates)
    scored: Scores = {(name, "request"): score for name, score in scores.items() if score}
    best = _best(items, scored, candidates, is_named=api is not None)
    if not best:
        owner = "no API" if api is None else api
        verb = "recognizes this array" if api is None else "does not recognize this array"
        closest = _closest(items, scored, candidates)
        raise DetectError(f"{owner} {verb}: it must be a conversation, and has no messages of an API{closest}")
    return best[0][0]


def api_of_lines(text: JsonText) -> str | None:
    """Return the API that recognizes JSON Lines as one document; None if none does. Only the first lines are read.

    Raise DetectError if more than one does.
    """
    values, candidates = probe_lines(text), adapters()
    scores: Scores = {(name, "request"): score for name, score in _scores_of_lines(values, candidates).items()}
    winners = [name for name, _ in _best(values, scores, candidates, is_named=False)]
    if len(winners) > 1:
        raise DetectError(f"these JSON Lines may be of {' or '.join(winners)}: pass the API")
    return winners[0] if winners else None


def _refuse_lines(text: JsonText) -> None:
    """Raise DetectError if a text that no API recognizes is JSON Lines."""
    values = probe_lines(text)
    if len(values) < 2 or values[0].__class__ is not dict:
        return
    apis = ", ".join(name for name in adapters() if form_of(name) == "lines")
    fix = f", or pass the API of the document, one of {apis}" if apis else ""
    looked = f"the first {PROBED} lines" if len(values) == PROBED else f"{len(values)} lines"
    raise DetectError(
        f"no API recognizes these JSON Lines as one document (looked at {looked}): pass each line by itself{fix}"
    )


def _scores_of_lines(values: JsonArray, candidates: Mapping[str, Adapter]) -> dict[str, float]:
    """Return how likely the values of the first lines are a document of each API that has documents of lines."""
    scores = {
        name: candidate.recognises_list(values[:PROBED])
        for name, candidate in candidates.items()
        if form_of(name) == "lines" and isinstance(candidate, RecognisesLists)
    }
    return {name: score for name, score in scores.items() if score}


LONGEST_LINE = 1 << 20
"""The number of bytes in which the first line of a stream in lines must end."""


def is_stream(payload: Payload) -> bool:
    """Return whether a payload consists of the events of a stream: server-sent events, or lines."""
    if not isinstance(payload, bytes | bytearray | memoryview | str):
        return False
    return begins_stream(bytes_of(payload[:LONGEST_LINE])) is True


def begins_stream(data: bytes) -> bool | None:
    """Return whether this is the start of a stream; None if it is too short to decide.

    JSON and server-sent events begin differently. JSON is a stream if its first line is an event of an API whose
    streams are lines, or if the first element of its array is an event.
    """
    begun = begins_like_sse(data)
    if begun is False and data.lstrip().startswith(b"["):
        return _begins_array_of_stream(data)
    if begun is not False or not data.lstrip().startswith(b"{"):
        return begun
    line, end, _ = data.lstrip().partition(b"\n")
    if not end:
        return None if len(data) < LONGEST_LINE else False
    return is_line_of_stream(line)


def _begins_array_of_stream(data: bytes) -> bool | None:
    """Return whether the first element of an array is an event, as Gemini sends them; None if it is not complete."""
    frames = AnyFraming().feed(data)
    if not frames:
        is_empty = data.strip()[1:].lstrip().startswith(b"]")
        return None if len(data) < LONGEST_LINE and not is_empty else False
    try:
        event = parse(frames[0][1])
    except DecodeError:
        return False
    return isinstance(event, dict) and _is_event(event)


def _is_event(event: JsonObject) -> bool:
    """Return whether an object is an event of a stream, and not a message or an item of a conversation."""
    if not any("stream" in candidate.recognises(event) for candidate in adapters().values()):
        return False
    try:
        _detect_list([event], None, may_be_lines=False)
    except DetectError:
        return True
    return False


def is_line_of_stream(line: bytes) -> bool:
    """Return whether a line is an event of an API whose streams are lines, and not a payload of its own."""
    if not line.rstrip().endswith(b"}"):
        return False
    try:
        event = parse(line)
    except DecodeError:
        return False
    return any(
        [*candidate.recognises(event)] == ["stream"]
        for candidate in adapters().values()
        if stream_format_of(candidate) is LINES and isinstance(event, dict)
    )


def bytes_of(payload: Payload) -> bytes:
    """Return the bytes of a stream. Raise DecodeError if the payload is an object."""
    if isinstance(payload, str):
        return payload.encode("utf-8", "surrogatepass")
    if isinstance(payload, bytes | bytearray | memoryview):
        return bytes(payload)
    raise DecodeError("stream", [Fault("$", f"expected the bytes of a stream, got {kind_of(payload)}")])


def detect_stream(payload: Payload, api: str | None) -> str:
    """Return the API of the first event that only one API recognizes. Raise DetectError if there is no such event."""
    framing = AnyFraming()
    candidates = adapters() if api is None else {api: adapter(api)}
    for _, data in framing.feed(bytes_of(payload)):
        try:
            event = parse(data)
        except DecodeError:
            continue
        scores = {
            name: candidate.recognises(event).get("stream", 0.0)
            for name, candidate in candidates.items()
            if isinstance(event, dict)
        }
        best = max(scores.values(), default=0.0)
        winners = [name for name, score in scores.items() if score == best]
        if best and len(winners) == 1:
            return winners[0]
    apis = ", ".join(sorted(candidates))
    raise DetectError(f"no event of this stream identifies its API: pass its API, one of {apis}")


def _keys(payload: Mapping[str, Any]) -> str:
    keys = list(payload)
    return ", ".join(keys[:8]) + (", ..." if len(keys) > 8 else "") if keys else "(none)"
