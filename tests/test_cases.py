"""Cases: "this payload becomes that, with these losses". Each line of `cases/*.jsonl` is one.

A case has these fields:

- `case`: its name, unique in its file. `why`: the fact that it pins, with its source.
- `source`, `target`: API ids. `kind`: "request" (the default), "response" or "stream".
- `payload`: a JSON value, or the text of a document or a stream. A list of events if `kind` is "stream".
- `model`, `policies`: as in `convert`. Optional.
- `expected`: the values in the output by JSON path; `$` is the whole output. `absent`: paths that the output lacks. The
  output of a stream is the list of its events: `$[-1]` is the last one.
- `joined`: only for streams. All texts under a key, in the order of the events: `{"partial_json": "{\\"a\\":"}`.
- `losses`: every significant loss, as "code path", in any order.
- `violations`: what `check` refuses in the output, as "rule path". No case needs this unless a loss says why.
- `unless`: laws that do not hold for the payload, each with the reason.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import contentmodel
from contentmodel.json import value_at
from contentmodel.losses import significant
from contentmodel_conformance import laws, streams

FOLDER = Path(__file__).parent / "cases"
FIELDS = {
    *("case", "why", "source", "target", "kind", "payload", "model", "policies"),
    *("expected", "absent", "joined", "losses", "violations", "unless"),
}
MISSING = object()


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}-{case['case']}")
        for path in sorted(FOLDER.glob("*.jsonl"))
        for case in map(json.loads, path.read_text().splitlines())
    ]


EACH = pytest.mark.parametrize("case", cases())


def stream_of(case: dict[str, Any]) -> bytes:
    """Return the bytes of a stream: its text, or its events in the frames of its API."""
    payload = case["payload"]
    if isinstance(payload, str):
        return payload.encode()
    form = contentmodel.adapter(case["source"]).stream_format
    return b"".join(streams.frames_of([{"event": event.get("type"), "data": event} for event in payload], form))


def converted(case: dict[str, Any]) -> Any:
    kind = case.get("kind", "request")
    return contentmodel.convert(
        stream_of(case) if kind == "stream" else case["payload"],
        source=case["source"],
        target=case["target"],
        kind=kind,
        model=case.get("model"),
        policies=case.get("policies"),
    )


def output_of(case: dict[str, Any], encoded: Any) -> Any:
    if case.get("kind") == "stream":
        return streams.values_of(encoded.payload, contentmodel.adapter(case["target"]))
    return encoded.payload


def texts_under(key: str, value: Any) -> Iterator[str]:
    """Yield the texts of all fields with this name, in order."""
    if isinstance(value, list):
        for item in value:
            yield from texts_under(key, item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == key and isinstance(item, str):
                yield item
            else:
                yield from texts_under(key, item)


@EACH
def test_payload_becomes_what_its_case_states(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case)
    encoded = converted(case)
    output = output_of(case, encoded)
    assert case == before, "the input was changed"
    assert {path: value_at(output, path, "(missing)") for path in case.get("expected", {})} == case.get("expected", {})
    assert [path for path in case.get("absent", ()) if value_at(output, path, MISSING) is not MISSING] == []
    for key, text in case.get("joined", {}).items():
        assert "".join(texts_under(key, output)) == text
    assert sorted(f"{loss.code} {loss.path}" for loss in significant(encoded.losses)) == sorted(case["losses"])


@EACH
def test_laws_hold_for_payload_of_case(case: dict[str, Any]) -> None:
    kind, unless = case.get("kind", "request"), case.get("unless", {})
    source, target = contentmodel.adapter(case["source"]), contentmodel.adapter(case["target"])
    if kind == "stream":
        events = streams.decode(source, [stream_of(case)])
        if "crossing" not in unless:
            streams.crossing(target, events)
        return
    encoded = converted(case)
    payload = (
        json.loads(case["payload"]) if isinstance(case["payload"], str) and source.conversation else case["payload"]
    )
    if "accounting" not in unless:
        assert contentmodel.audit(case["payload"], encoded) == []
    if "tracing" not in unless:
        laws.tracing(encoded)
    if "identity" not in unless:
        laws.identity(source, kind, payload)
    if "restoration" not in unless and "model" not in case and "policies" not in case:
        laws.restoration(source, target, kind, payload)
    if kind == "response" and "crossing" not in unless:
        streams.crossing(target, list(contentmodel.unfold(source.decode_response(payload))))
    if kind == "request":
        found = contentmodel.check(
            encoded.payload, api=case["target"], model=case.get("model"), policies=case.get("policies")
        )
        refused = sorted(f"{violation.rule} {violation.path}" for violation in found if violation.severity == "refused")
        assert refused == sorted(case.get("violations", []))


def test_cases_have_known_fields_and_unique_names() -> None:
    for path in FOLDER.glob("*.jsonl"):
        read = [json.loads(line) for line in path.read_text().splitlines()]
        assert len({case["case"] for case in read}) == len(read), path.name
        for case in read:
            assert set(case) <= FIELDS, case["case"]
            assert case["why"], case["case"]
            assert len(set(case["losses"])) == len(case["losses"]), case["case"]
