"""Secrets of captures are not in their records, wherever they are planted; other texts are unchanged."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture_writers import FORMATS, exchange
from conftest import FEW
from contentmodel import adapter
from contentmodel.events import Fold
from contentmodel.framing import stream_format_of
from contentmodel_conformance.captures.entries import Exchange, OwnRecord
from contentmodel_conformance.captures.reading import read_capture
from contentmodel_conformance.captures.recorder import Recorder, write_records
from contentmodel_conformance.captures.scrubbing import Scrubber
from contentmodel_conformance.recordings import Recordings
from planted_secrets import IN_FIELDS, IN_HEADERS, IN_TEXTS
from providers import PROVIDERS
from test_captures import CHAT, CHAT_URL, url_of

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
KEYS = st.sampled_from(["sk-", "sk-ant-api03-", "AIza", "gsk_", "hf_", "ghp_", "xai-"]).flatmap(
    lambda start: st.text(LETTERS, min_size=36, max_size=40).map(lambda rest: start + rest)
)
"""Texts that look like keys."""
VALUES = st.text(LETTERS + "-_./+", min_size=12, max_size=40).filter(lambda text: len(set(text)) > 8)
"""Credentials that look like any other text."""


def with_secret(api: str, secret: str, cuts: list[int], header: str) -> list[Exchange]:
    """Return exchanges that have a secret in every place of a capture."""
    provider = PROVIDERS[api]
    text = f"The key is {secret}, keep it."
    places = sorted({min(cut, len(text)) for cut in cuts})
    pieces = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    request = json.loads(json.dumps(provider.request).replace('"?"', json.dumps(text)))
    request |= {"metadata": {"note": text, secret: "a"}, "nested": json.dumps({"a": [text]})}
    headers = [(header, f"Bearer {secret}"), ("cookie", f"a=b; session={secret}"), ("openai-organization", secret)]
    url = url_of(api, streams=False)
    query = f"{'&' if '?' in url else '?'}key={secret}"
    frames = b"".join(provider.stream(*pieces))
    media_type = stream_format_of(adapter(api)).media_type
    return [
        exchange(url + query, request, provider.answer(text), headers=headers),
        exchange(url, {**request, "n": 1}, {**provider.error, "detail": text}, status=401),
        exchange(url_of(api, streams=True), request, frames, answer_headers=[("content-type", media_type)]),
        exchange("https://login.example/", {"token": secret}, {"token": secret}, headers=headers),
    ]


def recorded(path: Path, exchanges: list[Exchange], name: str) -> Recordings:
    """Write a capture, and record it."""
    (path / name).write_bytes(FORMATS[name](exchanges))
    recorder = Recorder()
    for entry in read_capture(str(path / name)):
        recorder.add(entry)
    write_records(recorder.finish(), path / "out")
    return Recordings(path / "out")


@pytest.mark.parametrize("api", PROVIDERS)
@FEW
@given(
    secret=KEYS | VALUES,
    cuts=st.lists(st.integers(1, 50), max_size=12),
    header=st.sampled_from(["authorization", "x-api-key", "x-goog-api-key", "api-key", "x-amz-security-token"]),
    name=st.sampled_from(sorted(FORMATS)),
)
def test_planted_secret_is_in_no_record(
    api: str, secret: str, cuts: list[int], header: str, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Not even in parts: in the text of the folded stream, neither."""
    folder = tmp_path_factory.mktemp("capture")
    found = recorded(folder, with_secret(api, secret, cuts, header), name)
    written = "".join(path.read_text() for path in (folder / "out").iterdir())
    assert not [secret[at : at + 10] for at in range(len(secret) - 9) if secret[at : at + 10] in written]
    (stream,) = found.of(api, "stream")
    fold = Fold()
    for event in adapter(api).stream_decoder().feed(stream.raw):
        fold.feed(event)
    assert fold.response is not None
    assert re.fullmatch(r"The key is SCRUBBED-\d+, keep it\.", fold.response.text)


def scrub(*values: Any, own: tuple[str, ...] = ()) -> list[Any]:
    return Scrubber([re.compile(text) for text in own]).scrub(values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl -H 'Authorization: Bearer abcdefgh1234'", "curl -H 'Authorization: Bearer SCRUBBED-1'"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic SCRUBBED-1"),
        ("https://ann:secret@a.example/b", "https://ann:SCRUBBED-1@a.example/b"),
        ("https://a.example/?a=1&X-Amz-Signature=abc123&b=2", "https://a.example/?a=1&X-Amz-Signature=SCRUBBED-1&b=2"),
        ('{"api_key": "abc", "n": 1}', '{"api_key": "SCRUBBED-1", "n": 1}'),
        ('{"a": "{\\"password\\": \\"abc\\"}"}', '{"a": "{\\"password\\": \\"SCRUBBED-1\\"}"}'),
        ('{"password": "ab\\"cd"}', '{"password": "SCRUBBED-1"}'),
        ("MY_API_KEY=abcdefgh\nB=1", "MY_API_KEY=SCRUBBED-1\nB=1"),
        ("AKIAIOSFODNN7EXAMPLE", "SCRUBBED-1"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "SCRUBBED-1"),
        ("arn:aws:bedrock:us-east-1:123456789012:guardrail/a", "arn:aws:bedrock:us-east-1:SCRUBBED-1:guardrail/a"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "SCRUBBED-1"),
        ("sk-proj-aaaaaaaaaaaaaaaaaaaa sk-proj-bbbbbbbbbbbbbbbbbbbb", "SCRUBBED-1 SCRUBBED-2"),
    ],
)
def test_text_like_a_secret_is_replaced(text: str, expected: str) -> None:
    assert scrub({"text": text}) == [{"text": expected}]


@pytest.mark.parametrize(
    "value",
    [
        {"logprobs": [{"token": "Hello", "bytes": [72]}], "max_tokens": 9, "next_page_token": "abc"},
        {"properties": {"password": {"type": "string"}}, "required": ["password"]},
        "Bearer authentication is basic, and risk-based tokens are task-specific.",
        "ask-me-anything-about-desk-jobs",
        "msg_01XqeKmrXZC6cEjV1eFMs3fq toolu_01A09q90qw90lq917835lq9 call_abc chatcmpl-123 resp_0079983300eccacb0068fb",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "https://a.example:8080/b?c=d",
        "token = tokens[0]; key = keys.pop(); password = get_password(user, 2)",
        "def login(user: str, password: str, api_key: Optional[str] = None, token: Token2 = None) -> None:",
        "api_key = settings.api_key\npassword = self.config['password']\nclient = OpenAI(api_key=api_key)\n",
        "client = OpenAI(api_key=os.environ['OPENAI_API_KEY'])\nconst key = process.env.API_KEY;",
        "export OPENAI_API_KEY=$KEY\napi_key: ${API_KEY}\npassword: {{ vault_password }}\napi_key = '<your key>'",
        "max_tokens: 4096\ntoken_count=1234567\nPRIMARY_KEY=user_id",
        "prompt_cache_key: 4f9d2c7ab1e34860a5c8d7f0e21b93d6",
        'password = input("Password: ") or "guest"\nprint("token:", token)\nif password == "":',
        '{"type": "object", "properties": {"password": {"type": "string"}}, "required": ["password", "api_key"]}',
        "properties:\n  password:\n    type: string\n  api_key:\n    type: string\n",
        "The password: it must have a digit. Authorization: see below. The secret: practice. Your token: none.",
        "PASS: test_1\nFAIL: test_2\n3 tests pass: 100%\nPWD=/home/ann/project2\n",
        "docker run -u 1000:1000 image\nHTTP 200 code=42abcdef\nhttps://a.example/?code=US123456",
        "<token>Hello</token><key>name</key><string>value</string><input type='password'>",
        {"headers": {"Authorization": "Bearer ${TOKEN}"}, "api_key": "{{ key }}", "password": "<your password>"},
        "ACCESS_KEY = 'AWS_ACCESS_KEY_ID'\nSECRET_KEY = 'aws_secret_access_key'\nSTREAM_KEY = '_GET_stream'",
        'def first() -> Pass:\n    """Return a pass."""\ncredentials = base64.b64encode(pair.encode()).decode()',
        "Sets the 'Cookie:' header of 'https://user:password@host' or https://***:***@host.",
        "raise MCPError(code=INVALID_REQUEST, message='Client callback failed')",
        {"pwd": "/home/ann/project", "pass": True, "token": "Hello", "key": "name", "secret": None, "tokens": ["a"]},
        {"session_id": "0b5d6a3e-8a6f-4d3c-9f42-8a4b7e0c1d2e"},
        {"prompt_cache_key": "4f9d2c7ab1e34860a5c8d7f0e21b93d6"},
        {
            "headers": {
                "Accept": "application/json",
                "X-Trace-Id": "4f9d2c7ab1e34860a5c8d7f0e21b93d6",
                "User-Agent": "a",
            }
        },
        {"thought_signature": "EpQBCpEB4f9d2c7ab1e34860a5c8d7f0e21b93d6", "name": "password", "description": "A word."},
    ],
)
def test_other_text_is_unchanged(value: Any) -> None:
    scrubber = Scrubber()
    assert scrubber.scrub([value]) == [value]
    assert not scrubber.counts


def test_recordings_have_no_false_secrets(corpus: Path) -> None:
    """Fields of credentials and account ids are replaced, and no other text of real traffic."""
    recorder = Recorder()
    for path in sorted((corpus / "recorded").glob("*.response.jsonl")):
        for entry in read_capture(str(path)):
            recorder.add(entry)
    recorder.finish()
    assert recorder.summary.scrubbed.keys() <= {"field", "account id"}


def planted() -> list[Exchange]:
    """Return exchanges with all planted secrets: in a message, in a call, in an answer, and in pieces of a stream."""
    texts = [text for text, _ in IN_TEXTS.values()]
    calls = [{"id": f"call_{number}", "type": "function"} for number in range(len(texts))]
    pairs = list(zip(calls, texts, strict=True))
    named = [call | {"function": {"name": "a", "arguments": json.dumps({"b": text})}} for call, text in pairs]
    repeated = " ".join(f"Found {secret} here." for _, secret in IN_HEADERS.values())
    messages = [
        *({"role": "user", "content": text} for text in [*texts, repeated]),
        {"role": "assistant", "content": None, "tool_calls": named},
        *({"role": "tool", "tool_call_id": call["id"], "content": text} for call, text in pairs),
    ]
    fields = [field for field, _ in IN_FIELDS.values()]
    request = {**CHAT, "messages": messages, "metadata": {str(number): field for number, field in enumerate(fields)}}
    provider = PROVIDERS["openai-chat"]
    headers = sorted({header for header, _ in IN_HEADERS.values()})
    whole = "\n\n".join([*texts, *map(json.dumps, fields), repeated])
    frames = b"".join(provider.stream(*(whole[at : at + 7] for at in range(0, len(whole), 7))))
    stream = [("content-type", "text/event-stream")]
    return [
        exchange(CHAT_URL, request, provider.answer(whole), headers=headers),
        exchange(CHAT_URL, {**request, "stream": True}, frames, headers=headers, answer_headers=stream),
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_planted_secrets_of_people_are_in_no_file(name: str, tmp_path: Path) -> None:
    found = recorded(tmp_path, planted(), name)
    assert [len(list(found.of("openai-chat", kind))) for kind in ("request", "response", "stream")] == [2, 1, 1]
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    # The deltas of a stream are one text.
    (stream,) = found.of("openai-chat", "stream")
    fold = Fold()
    for event in adapter("openai-chat").stream_decoder().feed(stream.raw):
        fold.feed(event)
    assert fold.response is not None
    written += fold.response.text
    secrets = {key: secret for planted in (IN_TEXTS, IN_FIELDS, IN_HEADERS) for key, (_, secret) in planted.items()}
    assert len(secrets) >= 66
    assert {key: secret for key, secret in secrets.items() if secret in written} == {}


@pytest.mark.parametrize("name", IN_TEXTS)
def test_secret_in_text_is_removed_alone(name: str) -> None:
    """The text around it is left."""
    text, secret = IN_TEXTS[name]
    scrubber = Scrubber()
    (scrubbed,) = scrubber.scrub([{"text": text}])
    assert secret not in scrubbed["text"]
    assert "SCRUBBED-1" in scrubbed["text"]
    assert {place.path for place in scrubber.places} == {"$.text"}
    assert secret not in repr(scrubber.places)


def test_field_of_credentials_is_replaced() -> None:
    servers = [{"authorization_token": "abc", "headers": {"X-Api-Key": "def", "Accept": "a"}}]
    expected = [{"authorization_token": "SCRUBBED-1", "headers": {"X-Api-Key": "SCRUBBED-2", "Accept": "a"}}]
    assert scrub({"mcp_servers": servers}) == [{"mcp_servers": expected}]


def test_equal_secrets_of_exchange_have_same_number() -> None:
    first, second = "sk-aaaaaaaaaaaaaaaaaaaa", "sk-bbbbbbbbbbbbbbbbbbbb"
    assert scrub({"a": first, "b": second}, {"c": second}) == [
        {"a": "SCRUBBED-1", "b": "SCRUBBED-2"},
        {"c": "SCRUBBED-2"},
    ]


def test_scrubbing_again_changes_nothing_and_continues_numbers() -> None:
    once = scrub({"api_key": "abc", "text": "Bearer abcdefgh1234 sk-aaaaaaaaaaaaaaaaaaaa"})
    assert scrub(*once) == once
    assert scrub({"a": "SCRUBBED-3", "b": "sk-aaaaaaaaaaaaaaaaaaaa"}) == [{"a": "SCRUBBED-3", "b": "SCRUBBED-4"}]


def test_own_expressions_are_counted_without_their_matches() -> None:
    scrubber = Scrubber([re.compile(r"acme-\d+"), re.compile("x*")])
    assert scrubber.scrub([{"acme-1": ["acme-1 and acme-2"]}]) == [{"SCRUBBED-1": ["SCRUBBED-1 and SCRUBBED-2"]}]
    assert scrubber.counts == {"--scrub 1": 3}


def test_secret_in_interleaved_deltas_is_replaced() -> None:
    secret = "sk-aaaaaaaaaaaaaaaaaaaa"

    def chunk(index: int, text: str) -> dict[str, Any]:
        return {"data": {"id": "c1", "choices": [{"index": index, "delta": {"content": text}}]}}

    events = [chunk(0, "a " + secret[:9]), chunk(1, "b"), chunk(0, secret[9:] + " c"), chunk(1, "d")]
    (scrubbed,) = scrub(events)
    assert scrubbed == [chunk(0, "a SCRUBBED-1"), chunk(1, "b"), chunk(0, " c"), chunk(1, "d")]


def test_secret_of_one_exchange_is_replaced_in_others() -> None:
    """Also in a record that is only passed through."""
    recorder = Recorder()
    data = {"id": "r1", "api": "openai-chat", "kind": "request", "body": {**CHAT, "user": "plain-looking-key"}}
    recorder.add(OwnRecord(place="line 1", data={**data, "url_path": "/v1?key=plain-looking-key"}))
    recorder.add(exchange("https://a.example/", {}, {}, headers=[("Authorization", "Bearer plain-looking-key")]))
    ((record,),) = recorder.finish().values()
    assert record["body"]["user"] == "SCRUBBED-1"
    assert record["url_path"] == "/v1?key=SCRUBBED-1"
    assert record["id"].startswith("openai-chat-request-")


def test_signature_of_aws_does_not_make_its_region_a_secret() -> None:
    signed = (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20261124/us-east-1/bedrock/aws4_request, Signature=0123456789"
    )
    recorder = Recorder()
    recorder.add(exchange(CHAT_URL, {**CHAT, "user": "us-east-1 0123456789"}, {}, headers=[("authorization", signed)]))
    files = recorder.finish()
    assert files["openai-chat", "request"][0]["body"]["user"] == "us-east-1 SCRUBBED-1"
    assert recorder.summary.left_out == {"header authorization": 1}


@pytest.mark.parametrize(
    "text",
    ["-----BEGIN PRIVATE KEY-----" * 2000, '"' + "a-" * 40_000, "A_" * 40_000, "://a:" * 20_000]
    + [
        unit * 8_000
        for unit in ("token=", "api_key: '", "-u a:b ", "<a>", "name='a' ", "mysql ", "\\", "x-a:", "auth=(", "curl ")
    ],
)
def test_time_is_linear_in_length(text: str) -> None:
    """A quadratic expression takes minutes."""
    assert scrub(text)
