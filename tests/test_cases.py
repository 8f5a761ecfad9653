"""Cases: "this payload becomes that, with these losses". Each line of `cases/*.jsonl` is one.

A case has these fields:

- `case`: its name, unique in its file. `why`: the fact that it pins, with its source.
- `source`, `target`: API ids. `kind`: "request" (the default), "response" or "stream". The id "contentmodel" stands for
  the model: as `source` for a request or an answer that an application made, as `target` for what the decoder read.
  Both are spelled as in a document of `contentmodel.serialize`.
- `payload`: a JSON value, or the text of a document or a stream. A list of events if `kind` is "stream"; the model as
  source has an answer there, too.
- `model`, `policies`: as in `convert`. Optional.
- `expected`: the values in the output by JSON path; `$` is the whole output. `absent`: paths that the output lacks. The
  output of a stream is the list of its events: `$[-1]` is the last one.
- `contains`, `lacks`: texts that occur somewhere in the output, or nowhere. `status`: the HTTP status of an error.
- `accepted`: the types of the official SDK accept the output. `detected`: `detect` finds the payload's API and kind.
- `joined`: only for streams. All texts under a key, in the order of the events: `{"partial_json": "{\\"a\\":"}`.
- `faults`: only for payloads that the decoder of the source refuses: the path of every fault, in order, and a part of
  its message.
- `losses`: every significant loss, as "code path", in any order. The model as target has none.
- `violations`: what `check` refuses in the output, as "rule path". No case needs this unless a loss says why.
- `remarks`: what else `check` reports, if that matters.
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
from contentmodel.encoded import EncodedStream
from contentmodel.json import value_at, write
from contentmodel.losses import significant
from contentmodel.serialize import VERSION, dumps, loads
from contentmodel_conformance import laws, streams
from contentmodel_conformance.oracles import judge

MODEL = "contentmodel"
FOLDER = Path(__file__).parent / "cases"
FIELDS = {
    *("case", "why", "source", "target", "kind", "payload", "model", "policies"),
    *("expected", "absent", "contains", "lacks", "joined", "status", "accepted", "detected", "losses"),
    *("violations", "remarks", "faults", "unless"),
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
    if not form.is_text:
        return b"".join(form.write(write(data), name) for event in payload for name, data in event.items())
    return b"".join(streams.frames_of([{"event": event.get("type"), "data": event} for event in payload], form))


def events_of(case: dict[str, Any]) -> Any:
    """Return the events of the model: those of a stream, or what an application made."""
    if case["source"] != MODEL:
        return streams.decode(contentmodel.adapter(case["source"]), [stream_of(case)])
    made = model_value(case)
    return made if isinstance(made, list) else list(contentmodel.unfold(made))


def model_value(case: dict[str, Any]) -> Any:
    """Return the request, answer or events of the model that the payload of a case describes."""
    kind = case.get("kind", "request")
    if kind == "stream":
        kind = "events" if isinstance(case["payload"], list) else "response"
    return loads(json.dumps({MODEL: VERSION, "kind": kind, "value": case["payload"]}))


def converted(case: dict[str, Any]) -> Any:
    kind, source, target = case.get("kind", "request"), case["source"], case["target"]
    options = {"model": case.get("model"), "policies": case.get("policies")}
    if source == MODEL:
        adapter = contentmodel.adapter(target)
        if kind == "stream":
            return EncodedStream(*streams.encode(adapter, events_of(case), options["policies"]))
        if kind == "response":
            return adapter.encode_response(model_value(case), policies=options["policies"])
        return adapter.encode_request(model_value(case), **options)
    return contentmodel.convert(
        stream_of(case) if kind == "stream" else case["payload"], source=source, target=target, kind=kind, **options
    )


def wire_value(case: dict[str, Any]) -> Any:
    """Return the payload of a case as decoders take it. Documents of conversations are parsed, lines are not."""
    payload = case["payload"]
    source: Any = contentmodel.adapter(case["source"])
    parsed = isinstance(payload, str) and getattr(source, "conversation", None)
    return json.loads(payload) if parsed else payload


def decoded(case: dict[str, Any]) -> Any:
    """Return what the decoder of the source reads, as in a document of the model."""
    adapter = contentmodel.adapter(case["source"])
    if case.get("kind") == "stream":
        return json.loads(dumps(contentmodel.fold(events_of(case))))["value"]
    read = adapter.decode_response if case.get("kind") == "response" else adapter.decode_request
    return json.loads(dumps(read(wire_value(case))))["value"]


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


def assert_expected(case: dict[str, Any], output: Any) -> None:
    expected = case.get("expected", {})
    found = {path: value_at(output, path, "(missing)") for path in expected}
    assert found == expected
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True), "1 is neither 1.0 nor true"
    assert [path for path in case.get("absent", ()) if value_at(output, path, MISSING) is not MISSING] == []
    written = json.dumps(output, ensure_ascii=False)
    assert [text for text in case.get("contains", ()) if text not in written] == []
    assert [text for text in case.get("lacks", ()) if text in written] == []
    for key, text in case.get("joined", {}).items():
        assert "".join(texts_under(key, output)) == text


@EACH
def test_payload_becomes_what_its_case_states(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case)
    if "faults" in case:
        with pytest.raises(contentmodel.DecodeError) as caught:
            decoded(case)
        found = caught.value.faults
        assert [fault.path for fault in found] == list(case["faults"])
        assert all(case["faults"][fault.path] in fault.message for fault in found)
        return
    if case.get("detected"):
        assert contentmodel.detect(case["payload"]) == (case["source"], case.get("kind", "request"))
    if case["target"] == MODEL:
        assert_expected(case, decoded(case))
        assert case == before, "the input was changed"
        return
    encoded, again = converted(case), converted(case)
    assert case == before, "the input was changed"
    if case.get("kind") != "stream":
        assert write(again.payload) == write(encoded.payload), "the second output differs"
    assert_expected(case, output_of(case, encoded))
    assert "status" not in case or encoded.status == case["status"]
    if case.get("accepted"):
        laws.acceptance(judge(case["target"], case.get("kind", "request")), encoded)
    assert sorted(f"{loss.code} {loss.path}" for loss in significant(encoded.losses)) == sorted(case["losses"])


@EACH
def test_laws_hold_for_payload_of_case(case: dict[str, Any]) -> None:
    kind, unless = case.get("kind", "request"), case.get("unless", {})
    if "faults" in case:
        return
    if kind == "stream":
        assert_stream_laws(case)
        return
    if case["target"] == MODEL:
        if "identity" not in unless:
            laws.identity(contentmodel.adapter(case["source"]), kind, wire_value(case))
        return
    target = contentmodel.adapter(case["target"])
    encoded = converted(case)
    if "tracing" not in unless:
        laws.tracing(encoded)
    if case["source"] != MODEL:
        assert_wire_laws(case, encoded)
    if kind == "response" and "crossing" not in unless and has_stream(target):
        streams.crossing(target, list(contentmodel.unfold(answer_of(case))))
    if kind == "request":
        found = contentmodel.check(
            encoded.payload, api=case["target"], model=case.get("model"), policies=case.get("policies")
        )
        refused = sorted(f"{violation.rule} {violation.path}" for violation in found if violation.severity == "refused")
        assert refused == sorted(case.get("violations", []))
        others = sorted(f"{violation.rule} {violation.path}" for violation in found if violation.severity != "refused")
        assert "remarks" not in case or others == sorted(case["remarks"])


def assert_stream_laws(case: dict[str, Any]) -> None:
    """Assert the laws of a stream: the order of its events, its cuts, and the same answer without streaming."""
    events = events_of(case)
    streams.order(events)
    if case["source"] != MODEL:
        streams.cuts(contentmodel.adapter(case["source"]), stream_of(case), range(0, 10_000, 7))
    if case["target"] != MODEL and "crossing" not in case.get("unless", {}):
        streams.crossing(contentmodel.adapter(case["target"]), events)


def has_stream(adapter: Any) -> bool:
    try:
        adapter.stream_encoder()
    except contentmodel.EncodeError:
        return False
    return True


def answer_of(case: dict[str, Any]) -> Any:
    if case["source"] == MODEL:
        return model_value(case)
    return contentmodel.adapter(case["source"]).decode_response(wire_value(case))


def assert_wire_laws(case: dict[str, Any], encoded: Any) -> None:
    """Assert the laws of a payload: the same format, the audit, and the way back."""
    kind, unless, payload = case.get("kind", "request"), case.get("unless", {}), wire_value(case)
    source = contentmodel.adapter(case["source"])
    if "accounting" not in unless:
        assert contentmodel.audit(case["payload"], encoded) == []
    if "identity" not in unless:
        laws.identity(source, kind, payload)
    if "restoration" not in unless and "model" not in case and "policies" not in case:
        laws.restoration(source, contentmodel.adapter(case["target"]), kind, payload)


def test_cases_have_known_fields_and_unique_names() -> None:
    for path in FOLDER.glob("*.jsonl"):
        read = [json.loads(line) for line in path.read_text().splitlines()]
        assert len({case["case"] for case in read}) == len(read), path.name
        for case in read:
            assert set(case) <= FIELDS, case["case"]
            assert case["why"], case["case"]
            if case["target"] != MODEL and "faults" not in case:
                assert len(set(case["losses"])) == len(case["losses"]), case["case"]
