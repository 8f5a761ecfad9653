"""Captures of HTTP traffic become recorded traffic: every format, every provider, damaged files, and the command."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
import typer.testing
import yaml
from hypothesis import given
from hypothesis import strategies as st

import contentmodel_conformance.cli_record  # noqa: F401  (its command comes with it)
from capture_writers import FORMATS, JSON_HEADERS, cassette, exchange, flows, har, netstring, vcr_yaml
from conftest import FEW
from contentmodel import adapter
from contentmodel.framing import stream_format_of
from contentmodel.json import parse
from contentmodel_conformance import check_adapter
from contentmodel_conformance.captures.entries import CaptureError, Damaged, Exchange, Message
from contentmodel_conformance.captures.reading import read_capture
from contentmodel_conformance.captures.recognition import call_at
from contentmodel_conformance.captures.recorder import Recorder, write_records
from contentmodel_conformance.cli import app
from contentmodel_conformance.mutants import Broken
from contentmodel_conformance.server.answers import body_of
from contentmodel_conformance.server.endpoints import ENDPOINTS
from contentmodel_conformance.strategies.transcripts import answers, transcripts
from contentmodel_conformance.subject import limits_of
from providers import PROVIDERS

REAL = Path(__file__).parent / "captures"
"""Files that mitmproxy 11.0 and vcrpy 9.4 wrote of requests to the loopback server."""
ENDPOINT_OF = {endpoint.api: endpoint for endpoint in ENDPOINTS}
CHAT_URL = "https://api.openai.com/v1/chat/completions"
CHAT = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
ANSWER = PROVIDERS["openai-chat"].answer("Hi.")


def url_of(api: str, *, streams: bool) -> str:
    """Return a URL of a method of an API at the provider's host."""
    http = adapter(api).http  # type: ignore[attr-defined]
    method = http.method(streams=streams)
    query = "&".join(f"{name}={value}" for name, value in method.query.items())
    return http.base_url + method.path.format(model="some-model") + (f"?{query}" if query else "")


def record(*arguments: object, input: bytes | None = None) -> Any:
    return typer.testing.CliRunner().invoke(app, ["record", *map(str, arguments)], input=input, env={"COLUMNS": "200"})


def bodies(folder: Path) -> dict[str, list[Any]]:
    """Return the bodies of the records in a folder, by file name without suffix."""
    return {
        path.name.removesuffix(".jsonl"): [json.loads(line)["body"] for line in path.read_text().splitlines()]
        for path in sorted(folder.glob("*.jsonl"))
    }


def recorded(folder: Path, exchanges: Iterable[Exchange], write: Any = har, *options: object) -> dict[str, list[Any]]:
    """Write exchanges as a capture, record it, and return the bodies of the records."""
    path = folder / next(name for name, writer in FORMATS.items() if writer is write)
    path.write_bytes(write(exchanges))
    result = record(path, "-o", folder / "out", *options)
    assert result.exit_code in (0, 1), result.output
    return bodies(folder / "out")


# -- every provider and every format -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("api", PROVIDERS)
def test_records_of_provider_equal_its_payloads(api: str, name: str, tmp_path: Path) -> None:
    provider = PROVIDERS[api]
    frames = provider.stream("Hel", "lo.")
    form = stream_format_of(adapter(api))
    exchanges = [
        exchange(url_of(api, streams=False), provider.request, provider.answer("Hello.")),
        exchange(
            url_of(api, streams=True),
            {**provider.request, "n": 1},
            b"".join(frames),
            answer_headers=[("content-type", form.media_type)],
        ),
        exchange(url_of(api, streams=False), {**provider.request, "n": 2}, provider.error, status=400),
    ]
    found = recorded(tmp_path, exchanges, FORMATS[name])
    assert found.keys() == {f"{api}.{kind}" for kind in ("request", "response", "stream", "error")}
    assert found[f"{api}.response"] == [provider.answer("Hello.")]
    assert found[f"{api}.error"] == [provider.error]
    expected = [provider.request, {**provider.request, "n": 1}, {**provider.request, "n": 2}]
    assert sorted(found[f"{api}.request"], key=str) == sorted(expected, key=str)
    assert found[f"{api}.stream"] == [events_of(api, b"".join(frames))]


def events_of(api: str, raw: bytes) -> list[dict[str, Any]]:
    """Return the events of a stream as records have them."""
    events = []
    for name, data in stream_format_of(adapter(api)).framing().feed(raw):
        text = data.decode()
        events.append(({} if name is None else {"event": name}) | {"data": parse(text) if text[0] == "{" else text})
    return events


@pytest.mark.parametrize("api", PROVIDERS)
@FEW
@given(data=st.data())
def test_records_of_generated_exchanges_equal_payloads(
    api: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    http, limits = adapter(api).http, limits_of(adapter(api))  # type: ignore[attr-defined]
    payload = http.body_of(adapter(api).encode_request(data.draw(transcripts(api, limits, longest=2))).payload)
    answer = data.draw(answers(api, limits))
    whole = body_of(answer, ENDPOINT_OF[api])
    stream = body_of(answer, ENDPOINT_OF[api], streams="events", size=data.draw(st.integers(1, 9)))
    raw = b"".join(stream.frames)
    exchanges = [
        exchange(url_of(api, streams=False), payload, whole.frames[0], status=whole.status),
        exchange(url_of(api, streams=True), payload, raw, answer_headers=[("content-type", stream.media_type)]),
    ]
    folder = tmp_path_factory.mktemp("capture")
    found = recorded(folder, exchanges, FORMATS[data.draw(st.sampled_from(sorted(FORMATS)))])
    assert found == {
        f"{api}.request": [payload],
        f"{api}.response": [parse(whole.frames[0])],
        f"{api}.stream": [events_of(api, raw)],
    }


@pytest.mark.parametrize("name", ["cassette.yaml", "flows.mitm", "traffic.har"])
def test_files_of_recorders_are_read(name: str, tmp_path: Path) -> None:
    result = record(REAL / name, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    found = bodies(tmp_path)
    assert {key: len(values) for key, values in found.items()} == {
        "anthropic-messages.request": 1,
        "anthropic-messages.stream": 1,
        "bedrock-converse.request": 1,
        "bedrock-converse.stream": 1,
        "google-generate-content.request": 1,
        "google-generate-content.stream": 1,
        "ollama-chat.request": 1,
        "ollama-chat.stream": 1,
        "openai-chat.request": 1,
        "openai-chat.response": 1,
    }
    for api in ("anthropic-messages", "bedrock-converse", "google-generate-content", "ollama-chat"):
        text = json.dumps(found[f"{api}.stream"], ensure_ascii=False)
        assert "The sky" in text
        assert "🌍" in text
    assert "planted" not in "".join(path.read_text() for path in tmp_path.iterdir())


def test_records_have_model_status_and_id_of_request(tmp_path: Path) -> None:
    url = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude%3A0/converse"
    provider = PROVIDERS["bedrock-converse"]
    recorded(tmp_path, [exchange(url, provider.request, provider.answer("Hi."))])
    request = json.loads((tmp_path / "out/bedrock-converse.request.jsonl").read_text())
    answer = json.loads((tmp_path / "out/bedrock-converse.response.jsonl").read_text())
    assert (request["status"], request["model"], request["dialect"]) == (200, "eu.anthropic.claude:0", None)
    assert (answer["request_id"], answer["model"]) == (request["id"], "eu.anthropic.claude:0")


# -- recognition -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "api", "model", "own"),
    [
        (CHAT_URL, "openai-chat", None, True),
        ("https://openrouter.ai/api/v1/chat/completions", "openai-chat", None, False),
        ("https://a.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", "openai-chat", None, False),
        ("https://api.mistral.ai/v1/chat/completions", "mistral-chat", None, True),
        ("https://codestral.mistral.ai/v1/chat/completions", "mistral-chat", None, True),
        ("http://127.0.0.1:8089/mistral/v1/chat/completions", "mistral-chat", None, False),
        ("http://127.0.0.1:8089/v1/chat/completions", "openai-chat", None, False),
        ("http://localhost:11434/api/chat", "ollama-chat", None, False),
        ("https://proxy.example/anthropic/v1/messages?beta=true", "anthropic-messages", None, False),
        ("https://chatgpt.com/backend-api/codex/responses", "openai-responses", None, False),
        (
            "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google/models/"
            "gemini-3:streamGenerateContent?alt=sse",
            *("google-generate-content", "gemini-3", True),
        ),
        ("https://api.openai.com/v1/embeddings", None, None, None),
        ("https://[broken", None, None, None),
    ],
)
def test_api_is_recognized_by_url(url: str, api: str | None, model: str | None, own: bool | None) -> None:
    call = call_at(url)
    assert (call and (call.api, call.model, call.is_own_host)) == (api and (api, model, own))


def test_api_at_unknown_path_is_recognized_by_payload(tmp_path: Path) -> None:
    provider = PROVIDERS["anthropic-messages"]
    payload = {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "?"}],
    }
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude/invoke"
    found = recorded(tmp_path, [exchange(url, payload, provider.answer("Hi."))])
    assert found == {"anthropic-messages.request": [payload], "anthropic-messages.response": [provider.answer("Hi.")]}


def test_payload_of_application_at_path_of_ollama_is_skipped(tmp_path: Path) -> None:
    message = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "?"}]}
    payload = {"id": "c1", "messages": [message], "trigger": "submit-message"}
    assert recorded(tmp_path, [exchange("https://app.example/api/chat", payload, b"data: {}\n\n")]) == {}


def test_array_of_gemini_and_line_of_ollama_are_streams(tmp_path: Path) -> None:
    google, ollama = PROVIDERS["google-generate-content"], PROVIDERS["ollama-chat"]
    asked = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    found = recorded(
        tmp_path,
        [
            exchange(url_of("google-generate-content", streams=True), google.request, [google.answer("Hi.")]),
            exchange(url_of("ollama-chat", streams=True), asked, ollama.answer("Hi."), answer_headers=[]),
        ],
    )
    assert found["google-generate-content.stream"] == [[{"data": google.answer("Hi.")}]]
    assert found["ollama-chat.stream"] == [[{"data": ollama.answer("Hi.")}]]


# -- what is skipped ---------------------------------------------------------------------------------------------------


def chat_exchange(**changes: Any) -> Exchange:
    return msgspec.structs.replace(exchange(CHAT_URL, CHAT, ANSWER), **changes)


@pytest.mark.parametrize(
    ("one", "kinds", "reason"),
    [
        (chat_exchange(is_websocket=True), [], "a WebSocket"),
        (chat_exchange(method="GET"), [], "not a request of an LLM API"),
        (chat_exchange(url="https://a.example/track", request=Message(body=b"{}")), [], "not a request of an LLM API"),
        (chat_exchange(status=None), [], "no answer: the request was blocked, or the connection ended"),
        (chat_exchange(status=302), [], "no answer, but the status 302"),
        (chat_exchange(request=Message(body=None)), [], "the capture does not have the body of the request"),
        (chat_exchange(request=Message(body=b'{"model": ')), [], "the request is not JSON, or is cut off"),
        (chat_exchange(request=Message(body=b"[1]")), [], "the request is not a JSON object"),
        (chat_exchange(request=Message(body=b" " * 2000)), [], "the request has more than 1,000 bytes"),
        (chat_exchange(answer=Message(body=None)), ["request"], "the capture does not have the body of the answer"),
        (chat_exchange(answer=Message(body=b"")), ["request"], "the answer is empty"),
        (chat_exchange(answer=Message(body=b" " * 2000)), ["request"], "the answer has more than 1,000 bytes"),
        (
            chat_exchange(answer=Message(body=gzip.compress(b" " * 2000))),
            ["request"],
            "the answer has more than 1,000 bytes",
        ),
        (chat_exchange(answer=Message(body=b"<html>")), [], "the answer is neither a JSON object nor a stream"),
        (
            chat_exchange(status=502, answer=Message(body=b"<html>")),
            ["request"],
            "the answer is neither a JSON object nor a stream",
        ),
        (
            chat_exchange(answer=Message(body=b"".join(PROVIDERS["openai-chat"].stream("Hi.")[:1]))),
            ["request"],
            "the answer is not complete: the last event of the stream is missing",
        ),
        (
            chat_exchange(answer=Message(body=b'data: {"id": "c1", "cho')),
            ["request"],
            "the answer is not complete: the last event is cut off",
        ),
        (chat_exchange(url="https://api.anthropic.com/v1/messages/count_tokens"), [], "a count of tokens"),
    ],
)
def test_entry_is_skipped_with_reason(one: Exchange, kinds: list[str], reason: str) -> None:
    recorder = Recorder(largest=1000)
    assert recorder.add(one) == reason
    assert [kind for _, kind in recorder.finish()] == kinds
    assert recorder.summary.skipped == {reason: 1}


def test_last_event_needs_no_blank_line(tmp_path: Path) -> None:
    frames = PROVIDERS["openai-chat"].stream("Hi.")
    raw = b"".join(frames).rstrip()
    found = recorded(tmp_path, [exchange(CHAT_URL, CHAT, raw, answer_headers=[("content-type", "text/event-stream")])])
    assert found["openai-chat.stream"] == [events_of("openai-chat", b"".join(frames))]


def test_same_records_are_written_once_and_in_same_order(tmp_path: Path) -> None:
    """A request that the provider accepted once is kept as accepted."""
    cases = [(seed, status) for seed in (1, 2, 1) for status in (429, 200)]
    exchanges = [exchange(CHAT_URL, {**CHAT, "seed": seed}, ANSWER, status=status) for seed, status in cases]
    (tmp_path / "one.har").write_bytes(har(exchanges))
    (tmp_path / "two.har").write_bytes(har(exchanges[::-1]))
    assert record(tmp_path / "one.har", "-o", tmp_path / "a").exit_code == 0
    assert record(tmp_path / "two.har", "-o", tmp_path / "b").exit_code == 0
    first, second = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert first == second
    requests = [json.loads(line) for line in first["openai-chat.request.jsonl"].splitlines()]
    assert sorted((request["body"]["seed"], request["status"]) for request in requests) == [(1, 200), (2, 200)]


def test_records_of_output_folder_are_kept_and_scrubbed_again(tmp_path: Path) -> None:
    one = exchange(CHAT_URL, {**CHAT, "user": "ann@example.org"}, ANSWER)
    assert recorded(tmp_path, [one])["openai-chat.request"][0]["user"] == "ann@example.org"
    other = exchange(CHAT_URL, {**CHAT, "seed": 2}, ANSWER)
    found = recorded(tmp_path, [other], har, "--scrub", r"[a-z]+@example\.org")
    users = [body.get("user") for body in found["openai-chat.request"]]
    assert sorted(users, key=str) == [None, "SCRUBBED-1"]
    request_ids = {json.loads(line)["id"] for line in (tmp_path / "out/openai-chat.request.jsonl").open()}
    answer = json.loads((tmp_path / "out/openai-chat.response.jsonl").read_text())
    assert answer["request_id"] in request_ids


@pytest.mark.slow
def test_recorded_traffic_passes_through(corpus: Path, tmp_path: Path) -> None:
    source = corpus / "recorded/openai-chat.stream.jsonl"
    # Addresses of search results have hashes.
    assert record(source, "-o", tmp_path, "--yes").exit_code == 0
    lines = {line["id"]: line for line in map(json.loads, source.open())}
    for line in map(json.loads, (tmp_path / source.name).open()):
        assert lines[line["id"]] == line


# -- encodings and spellings of formats --------------------------------------------------------------------------------


def deflated(data: bytes) -> bytes:
    return zlib.compress(data)


def raw_deflated(data: bytes) -> bytes:
    """Compress without the header and the checksum of zlib."""
    return zlib.compress(data)[2:-4]


def brotlied(data: bytes) -> bytes:
    return pytest.importorskip("brotli").compress(data)  # type: ignore[no-any-return]


def zstandarded(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").compress(data)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        ("gzip", gzip.compress),
        ("deflate", deflated),
        ("deflate", raw_deflated),
        ("br", brotlied),
        ("zstd", zstandarded),
        ("gzip, br", lambda data: brotlied(gzip.compress(data))),
        ("gzip", lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
        ("gzip", bytes),
        ("br", bytes),
        ("", gzip.compress),
    ],
)
def test_content_encoding_is_decoded(encoding: str, compress: Any, tmp_path: Path) -> None:
    """Also if the capture has the decoded body and keeps the header, or lacks the header."""
    headers = [*JSON_HEADERS, ("Content-Encoding", encoding)]
    one = exchange(CHAT_URL, CHAT, compress(json.dumps(ANSWER).encode()), answer_headers=headers)
    assert recorded(tmp_path, [one], flows)["openai-chat.response"] == [ANSWER]


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_compressed_bomb_is_skipped(encoding: str) -> None:
    compress = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotlied, "zstd": zstandarded}[encoding]
    body = compress(b"a" * 3_000_000)
    one = exchange(CHAT_URL, CHAT, body, answer_headers=[("content-encoding", encoding)])
    assert Recorder(largest=1_000_000).add(one) == "the answer has more than 1,000,000 bytes"


@pytest.mark.parametrize(
    ("encoding", "body", "reason"),
    [
        ("gzip", b"\x1f\x8b broken", "the body of the answer: damaged: "),
        ("lzma", b"\x00", "the body of the answer: unknown Content-Encoding 'lzma': expected one of gzip"),
    ],
)
def test_undecodable_body_is_error_of_its_entry(encoding: str, body: bytes, reason: str, tmp_path: Path) -> None:
    broken = exchange(CHAT_URL, CHAT, body, answer_headers=[("content-encoding", encoding)])
    (tmp_path / "a.mitm").write_bytes(flows([broken, exchange(CHAT_URL, {**CHAT, "seed": 1}, ANSWER)]))
    result = record(tmp_path / "a.mitm", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert f"error: {tmp_path / 'a.mitm'}, flow 1: {reason}" in result.stderr
    assert bodies(tmp_path / "out")["openai-chat.request"] == [{**CHAT, "seed": 1}]


def with_response(**response: Any) -> bytes:
    """Return a cassette whose response has these fields."""
    made = cassette([exchange(CHAT_URL, CHAT, ANSWER)])
    made["interactions"][0]["response"] = {"headers": {}, **response}
    return yaml.safe_dump(made).encode()


@pytest.mark.parametrize(
    "data",
    [
        with_response(status={"code": 200}, parsed_body=ANSWER),
        with_response(status_code=200, content=json.dumps(ANSWER)),
        with_response(status={"code": 200}, body={"string": json.dumps(ANSWER).encode()}),
        with_response(status={"code": 200}, body={"string": gzip.compress(json.dumps(ANSWER).encode())}),
        vcr_yaml([exchange(CHAT_URL, CHAT, ANSWER)]).replace(b"!!binary", b"!binary"),
        yaml.safe_dump(
            {
                "requests": [one["request"] for one in cassette([exchange(CHAT_URL, CHAT, ANSWER)])["interactions"]],
                "responses": [one["response"] for one in cassette([exchange(CHAT_URL, CHAT, ANSWER)])["interactions"]],
            }
        ).encode(),
        with_response(status={"code": 200}, body={"string": "@"}).replace(
            b"'@'",
            b"!!python/object/new:_io.BytesIO {state: !!python/tuple [!!binary %s, 0, null]}"
            % base64.b64encode(json.dumps(ANSWER).encode()),
        ),
        json.dumps(cassette([exchange(CHAT_URL, CHAT, ANSWER)])).encode(),
        b"\xef\xbb\xbf" + har([exchange(CHAT_URL, CHAT, ANSWER)]),
    ],
)
def test_spellings_of_cassettes_and_har_are_read(data: bytes, tmp_path: Path) -> None:
    result = record("-", "-o", tmp_path, input=data)
    assert (result.exit_code, bodies(tmp_path)["openai-chat.response"]) == (0, [ANSWER]), result.output


# -- damaged files -----------------------------------------------------------------------------------------------------


def test_yaml_makes_no_objects(tmp_path: Path) -> None:
    data = b"interactions:\n- request: !!python/object/apply:os.system ['touch x']\n  response: {}\n"
    (tmp_path / "a.yaml").write_bytes(data)
    (entry,) = read_capture(str(tmp_path / "a.yaml"))
    assert entry == Damaged(place="interaction 1", reason="Expected `object`, got `array` - at `$.request`")


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 12))
    (tmp_path / "a.yaml").write_text(f"l0: &l0 [1]\n{levels}interactions: *l11\n")
    with pytest.raises(CaptureError, match="when the aliases of the YAML are expanded"):
        list(read_capture(str(tmp_path / "a.yaml")))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.har", b'{"log": {"entries": [', "not JSON: "),
        ("a.har", b'{"log": {}}', "expected a list at $.log.entries of the HAR file"),
        ("a.har", b'{"log": {"entries": [{"request": {"url": "u"}}]}}', "entry 1: Object missing required field"),
        (
            "a.har",
            b'{"log": {"entries": [{"request": {"method": "POST", "url": "u"}, "response": {"status": 200, "content":'
            b' {"text": "?", "encoding": "base64"}}}]}}',
            "entry 1: $.response.content.text: not base64",
        ),
        ("a.yaml", b"interactions: [a: b: c]", "not YAML: "),
        ("a.yaml", b"interactions: [1]", "interaction 1: Expected `object`, got `int`"),
        ("a.mitm", flows([exchange(CHAT_URL, CHAT, ANSWER)])[:-10], "flow 1: byte 0: the value is cut off"),
        ("a.mitm", b"3:abc?", "flow 1: byte 0: unknown type b'?'"),
        ("a.mitm", netstring(7), "flow 1: expected the fields of a flow"),
        ("a.mitm", netstring({"request": {"method": 7}}), "flow 1: the fields of the flow are malformed"),
        ("a.mitm", b"4:1:a,}", "flow 1: byte 6: a name without a value"),
        ("a.txt", b"hello", "neither HAR, nor a VCR cassette, nor flows of mitmproxy, nor recorded traffic"),
        ("a.json", b'{"name": "a"}', "JSON, but neither HAR, nor a VCR cassette, nor recorded traffic"),
        ("a.jsonl", b'{"a": 1}\n{"a": 2}\n', "JSON Lines, but not recorded traffic"),
        ("a.har", b"", "the file is empty"),
        ("a.har", b"\x1f\x8b broken", "damaged: "),
        (
            "openai-chat.stream.jsonl",
            b'{"body": []}\n{"body": 1}\n',
            "line 2: the body of a stream is a list of events",
        ),
        ("openai-chat.request.jsonl", b'{"body": {}}\n{"bo', "line 2: not JSON"),
    ],
)
def test_damaged_file_is_reported_with_place(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    result = record(tmp_path / name, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path / name}")
    assert message in result.stderr


def test_flows_before_damage_are_recorded(tmp_path: Path) -> None:
    data = flows([exchange(CHAT_URL, {**CHAT, "seed": seed}, ANSWER) for seed in (1, 2)])
    (tmp_path / "a.mitm").write_bytes(data[:-10])
    result = record(tmp_path / "a.mitm", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "flow 2: byte " in result.stderr
    assert bodies(tmp_path / "out")["openai-chat.request"] == [{**CHAT, "seed": 1}]


@given(
    st.binary(max_size=200)
    | st.sampled_from([b"9:", b"{", b"interactions:"]).flatmap(
        lambda start: st.binary(max_size=60).map(lambda rest: start + rest)
    )
)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data))), suppress(CaptureError):
        list(read_capture("-"))


# -- the command -------------------------------------------------------------------------------------------------------


def test_folder_is_searched_and_other_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    (tmp_path / "in/.hidden").mkdir()
    (tmp_path / "in/deep/a.har").write_bytes(har([exchange(CHAT_URL, CHAT, ANSWER)]))
    (tmp_path / "in/.hidden/a.har").write_bytes(b"{")
    (tmp_path / "in/package.json").write_text('{"name": "a"}')
    (tmp_path / "in/notes.txt").write_text("hello")
    result = record(tmp_path / "in", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines() == [
        "read 1 exchange",
        "  openai-chat  1 request, 1 response",
        "  skipped 1: a file in a folder, but not a capture",
        f"wrote 2 files in {tmp_path / 'out'}",
    ]


def test_nothing_recorded_is_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "a.har").write_bytes(har([exchange("https://a.example/", {}, {})]))
    result = record(tmp_path / "a.har", "-o", tmp_path / "out", "-v")
    assert result.exit_code == 1
    assert f"skipped {tmp_path / 'a.har'}, entry 1: not a request of an LLM API" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{0}/missing.har", "-o", "{0}/out"], "No such file"),
        (["{0}/a.har", "-o", "{0}/a.har"], "is a file"),
        (["{0}/a.har", "-o", "{0}/out", "--scrub", "("], "--scrub (: "),
        (["{0}/a.har", "-o", "{0}/bad"], "line 1: not JSON"),
    ],
)
def test_bad_command_line_is_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.har").write_bytes(har([exchange(CHAT_URL, CHAT, ANSWER)]))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/openai-chat.request.jsonl").write_text("{\n")
    result = record(*[argument.format(tmp_path) for argument in arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert (tmp_path / "bad/openai-chat.request.jsonl").read_text() == "{\n"


def test_records_are_written_into_subfolder_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "out/recorded").mkdir(parents=True)
    recorder = Recorder()
    recorder.add(exchange(CHAT_URL, CHAT, ANSWER))
    write_records(recorder.finish(), tmp_path / "out")
    assert (tmp_path / "out/recorded/openai-chat.request.jsonl").exists()


class LosesSeed(Broken):
    """Drop the seed of requests."""

    def decoded(self, kind: str, value: Any) -> Any:
        if kind != "request":
            return value
        return msgspec.structs.replace(value, options=msgspec.structs.replace(value.options, seed=None))


def test_run_on_recorded_capture_passes_and_finds_defect(tmp_path: Path) -> None:
    recorded(tmp_path, [exchange(CHAT_URL, {**CHAT, "seed": 7}, ANSWER)])
    only = ["identity/recorded"]
    chat = adapter("openai-chat")
    assert check_adapter(chat, only=only, corpus=tmp_path / "out", others=[]).ok
    report = check_adapter(LosesSeed(chat), only=only, corpus=tmp_path / "out", others=[])
    assert [finding.where for outcome in report.failures for finding in outcome.findings] == ["$.seed"]
    result = typer.testing.CliRunner().invoke(
        app, ["run", "openai-chat", "--corpus", str(tmp_path / "out"), "--only", "identity/recorded"]
    )
    assert (result.exit_code, "1 check passes" in result.stdout or "1 checks pass" in result.stdout) == (0, True)


# -- the review of unknown values --------------------------------------------------------------------------------------

RANDOM = "k7Qz2mX9vR4tB8nL3wJ6"
"""A value that looks random, in no format of keys."""
REVIEWED = [exchange(CHAT_URL, {**CHAT, "messages": [{"role": "user", "content": f"Use {RANDOM}."}]}, ANSWER)]


def random_capture(folder: Path) -> Path:
    path = folder / "a.har"
    path.write_bytes(har(REVIEWED))
    return path


def test_unknown_value_without_terminal_is_listed_and_nothing_is_written(tmp_path: Path) -> None:
    result = record(random_capture(tmp_path), "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert "k7Qz…J6 (20 characters)" in result.output
    assert "$.messages[0].content" in result.output
    assert "--scrub-unknown" in result.output
    assert RANDOM not in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("option", "is_kept"), [("--yes", True), ("--scrub-unknown", False)])
def test_option_decides_about_unknown_values(option: str, is_kept: bool, tmp_path: Path) -> None:
    result = record(random_capture(tmp_path), "-o", tmp_path / "out", option)
    assert result.exit_code == 0, result.output
    assert (RANDOM in json.dumps(bodies(tmp_path / "out"))) is is_kept
    assert ("unknown value\n" in result.output) is not is_kept
    # A value that was kept once is not asked for again.
    assert record(random_capture(tmp_path), "-o", tmp_path / "out").exit_code == (0 if is_kept else 3)


def test_options_about_unknown_values_exclude_each_other(tmp_path: Path) -> None:
    assert record(random_capture(tmp_path), "-o", tmp_path / "out", "--yes", "--scrub-unknown").exit_code == 2


@pytest.mark.parametrize(
    ("answers", "code", "is_kept"),
    [
        ("k\n", 0, True),
        ("r\n", 0, False),
        ("x\nd\nr\n", 0, False),
        ("d\nk\n", 0, True),
        ("q\n", 3, None),
        ("", 1, None),
    ],
)
def test_user_decides_about_unknown_values(answers: str, code: int, is_kept: bool | None, tmp_path: Path) -> None:
    with patch("contentmodel_conformance.cli_review.has_terminal", return_value=True):
        result = record(random_capture(tmp_path), "-o", tmp_path / "out", input=answers.encode())
    assert result.exit_code == code, result.output
    if is_kept is None:
        assert not (tmp_path / "out").exists()
    else:
        assert (RANDOM in json.dumps(bodies(tmp_path / "out"))) is is_kept


def test_ids_signatures_and_hashes_of_formats_are_not_listed(tmp_path: Path) -> None:
    request = {
        **CHAT,
        "prompt_cache_key": RANDOM,
        "messages": [
            {
                "role": "user",
                "content": "call_k7Qz2mX9vR4tB8nL3wJ6 0b5d6a3e-8a6f-4d3c-9f42-8a4b7e0c1d2e /src/v2/a1/b2/c3/d4",
            },
            {"role": "assistant", "tool_calls": [{"id": RANDOM, "function": {"name": "a", "arguments": "{}"}}]},
        ],
        "extra": {"signature": RANDOM, "encrypted_content": RANDOM, "image": f"data:image/png;base64,{RANDOM}"},
    }
    (tmp_path / "a.har").write_bytes(har([exchange(CHAT_URL, request, ANSWER)]))
    result = record(tmp_path / "a.har", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output


def test_unknown_value_in_pieces_of_a_stream_is_replaced(tmp_path: Path) -> None:
    provider = PROVIDERS["openai-chat"]
    frames = b"".join(provider.stream("Use k7Qz2m", "X9vR4tB8", "nL3wJ6 now."))
    stream = [("content-type", "text/event-stream")]
    (tmp_path / "a.har").write_bytes(har([exchange(CHAT_URL, CHAT, frames, answer_headers=stream)]))
    assert record(tmp_path / "a.har", "-o", tmp_path / "out").exit_code == 3
    result = record(tmp_path / "a.har", "-o", tmp_path / "out", "--scrub-unknown", "--verbose")
    assert result.exit_code == 0, result.output
    assert "vR4tB8" not in json.dumps(bodies(tmp_path / "out"))
    assert "$[*].data.choices.delta.content: unknown value" in result.output


def test_verbose_lists_places_of_secrets_without_them(tmp_path: Path) -> None:
    request = {**CHAT, "metadata": {"note": "password: hunter2abc and api_key=hunter2abc"}}
    (tmp_path / "a.har").write_bytes(har([exchange(CHAT_URL, request, ANSWER)]))
    result = record(tmp_path / "a.har", "-o", tmp_path / "out", "--verbose")
    assert re.search(r"openai-chat-request-\w+ \$\.metadata\.note: field \(2 times\)", result.output)
    assert "scrubbed 2: field" in result.output
    assert "hunter2abc" not in result.output


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_new_files_and_folders_are_private(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    (tmp_path / "a.har").write_bytes(har([exchange(CHAT_URL, CHAT, ANSWER)]))
    before = os.umask(0o022)
    try:
        assert record(tmp_path / "a.har", "-o", out).exit_code == 0
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (out, out.parent)} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in out.iterdir()} == {0o600}
