"""A hostile MCP server cannot exceed the limits, and cannot forge notes of the library in its data."""

from __future__ import annotations

import asyncio
import codecs
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from bounded import LONG, dripping, no_hang
from contentmodel import FunctionCallContent, TextContent
from contentmodel.tools import ToolInputError, ToolSet, UnenforcedPattern, result_of, validate_input
from contentmodel.tools.mcp import (
    McpError,
    McpTimeoutError,
    McpTools,
    contents_from_mcp,
    contents_to_mcp,
    outcome_from_mcp,
    result_to_mcp,
)
from contentmodel.tools.mcp.bounds import bounded_encoding

SERVER = str(Path(__file__).parent / "services" / "lying_mcp.py")
EVIL_TEXT = "a" * 40 + "!"

pytestmark = pytest.mark.filterwarnings(f"ignore::{UnenforcedPattern.__module__}.{UnenforcedPattern.__name__}")


def hostile_server(mode: str = "tools", **options: Any) -> McpTools:
    return McpTools.stdio(sys.executable, [SERVER, mode], **{"timeout": LONG, "connect_timeout": LONG, **options})


@pytest.mark.slow
def test_mcp_results_of_hostile_server_are_bounded() -> None:
    with no_hang(), hostile_server() as server:
        with pytest.raises(McpError, match=r"match the outputSchema: \$\.a: expected pattern"):
            server.call_sync("promise", {})
        assert server.call_sync("unique", {}).error is None
        with pytest.raises(McpError, match="at most 10,000 blocks, got 100,000"):
            server.call_sync("blocks", {})
        assert len(server.call_sync("says", {}).results) == 2001
        with pytest.raises(McpError, match="more than 16,777,216 bytes"):
            server.call_sync("gigantic", {})
        assert server.call_sync("types", {}).results[0] == TextContent(text="x")
        assert server.call_sync("other", {}).text == "plain"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["endless", "wrong_id"])
def test_mcp_call_raises_timeout_error_if_result_never_ends(name: str) -> None:
    with no_hang(), hostile_server(timeout=0.2) as server, pytest.raises(McpTimeoutError):
        server.call_sync(name, {})


def test_mcp_tool_schema_with_backtracking_pattern_is_checked_in_bounded_time() -> None:
    with no_hang(), hostile_server() as server:
        call = FunctionCallContent(call_id="1", name="pattern", arguments={"a": EVIL_TEXT})
        with pytest.raises(ToolInputError, match="pattern"):
            validate_input(ToolSet(server.tools)["pattern"], call)


def test_mcp_tools_rejects_imitating_names_and_long_descriptions() -> None:
    with hostile_server() as server:
        assert [str(fault) for fault in server.faults[:3]] == [
            "says\u200b: the name has more than 128 characters, or unprintable characters at $.tools[10]",
            "x" * 128 + ": the name has more than 128 characters, or unprintable characters at $.tools[11]",
            "told: the description has more than 100,000 characters at $.tools[12]",
        ]
        assert 'ahead: its inputSchema: the pattern "(?=a)b" is not enforced' in str(server.faults[3])
        assert ToolSet(server.tools)["ahead"].definition.extra == {"mcp": {"::form": "note"}}


def test_mcp_tools_reads_endless_tool_list_up_to_a_limit() -> None:
    with no_hang(), hostile_server("pages") as server:
        assert 1000 <= len(server.tools) <= 1030
        assert "has no end" in str(server.faults[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "seconds"), [("huge", 20), ("slow", 1)])
def test_mcp_tools_raises_mcp_error_if_tool_list_is_too_large_or_slow(mode: str, seconds: float) -> None:
    with no_hang(), pytest.raises(McpError):  # noqa: SIM117
        with hostile_server(mode, connect_timeout=seconds):
            pass


@pytest.mark.slow
def test_mcp_call_returns_result_despite_flood_of_notifications() -> None:
    with no_hang(), hostile_server("flood") as server:
        assert server.call_sync("other", {}).text == "plain"


def test_large_mcp_result_does_not_block_the_event_loop() -> None:
    async def main() -> int:
        turns = 0
        async with hostile_server() as server:
            calling = asyncio.ensure_future(server.call("says", {}))
            while not calling.done():
                turns += 1
                await asyncio.sleep(0.005)
            assert len((await calling).results) == 2001
        return turns

    with no_hang():
        assert asyncio.run(main()) > 5


@pytest.fixture(scope="module")
def deep_server() -> Iterator[McpTools]:
    with hostile_server("deep", timeout=LONG) as server:
        yield server


@pytest.mark.parametrize("name", ["digits", "nesting", "levels", "null", "text"])
def test_mcp_call_raises_mcp_error_at_once_if_the_answer_cannot_be_parsed(deep_server: McpTools, name: str) -> None:
    with no_hang(), pytest.raises(McpError, match="is not a valid answer") as raised:
        deep_server.call_sync(name, {})
    assert not isinstance(raised.value, McpTimeoutError)
    assert deep_server.call_sync("other", {}).text == "plain"


def test_mcp_call_replaces_halves_of_surrogate_pairs(deep_server: McpTools) -> None:
    with no_hang():
        assert deep_server.call_sync("surrogate", {}).text == "ab\ufffd"


def test_mcp_call_raises_mcp_error_if_the_result_is_not_complete(deep_server: McpTools) -> None:
    with no_hang(), pytest.raises(McpError, match="the result is not complete: input_required"):
        deep_server.call_sync("input", {})


def test_mcp_tool_with_a_deep_schema_is_left_out_alone(deep_server: McpTools) -> None:
    assert {"pattern", "other"} - {tool.name for tool in deep_server.tools} == {"other"}
    (fault,) = [fault for fault in deep_server.faults if "deep" in fault.message]
    assert fault.message.startswith("deep: the inputSchema is nested too deeply")


def test_mcp_server_name_in_errors_is_short_and_printable(deep_server: McpTools) -> None:
    assert deep_server.name == "\ufffd" + "x" * 127


@pytest.mark.parametrize(
    "line",
    [
        b"starting {",
        b'{"level": "info", "id": 5',
        b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": ' + b"[" * 9000,
        b'{"jsonrpc": "2.0", "method": "x", "params": {"a": "\\ud83d"}}',
        b"{}",
        b"",
    ],
)
def test_bounded_encoding_keeps_lines_that_are_no_responses(line: bytes) -> None:
    decoder = codecs.getincrementaldecoder(bounded_encoding(20_000))()
    assert decoder.decode(line + b"\n") == line.decode() + "\n"


def test_bounded_encoding_finds_an_id_at_the_end() -> None:
    decoder = codecs.getincrementaldecoder(bounded_encoding(200_000))()
    line = b'{"result": {"id": 7, "content": ' + b"[" * 50_000 + b"]" * 50_000 + b'}, "jsonrpc": "2.0", "id": "a"}\n'
    assert json.loads(decoder.decode(line))["id"] == "a"


# -- broken connections ------------------------------------------------------------------------------------------------


class Reset(BaseHTTPRequestHandler):
    """A server over HTTP. The tool "reset" closes the connection without an answer, "restart" forgets the session."""

    sessions: ClassVar[set[str]] = set()

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, params = request["method"], request.get("params") or {}
        if method == "initialize":
            session = f"s{len(Reset.sessions)}"
            Reset.sessions.add(session)
            info = {"name": "reset", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            self._send(request, result, {"mcp-session-id": session})
        elif method == "server/discover":
            self.send_error(400)
        elif self.headers.get("mcp-session-id") not in Reset.sessions:
            self.send_error(404)
        elif "id" not in request:
            self.send_response(202)
            self.end_headers()
        elif method == "tools/list":
            names = ("ok", "reset", "restart", "gzip")
            self._send(request, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
        elif params["name"] == "reset":
            self.close_connection = True
        else:
            if params["name"] == "restart":
                Reset.sessions.clear()
                Reset.sessions.add("none")
            encoding = {"content-encoding": "gzip"} if params["name"] == "gzip" else {}
            self._send(request, {"content": [{"type": "text", "text": "fine"}]}, encoding)

    def do_GET(self) -> None:
        self.send_error(405)

    def do_DELETE(self) -> None:
        self.send_error(405)

    def _send(self, request: Any, result: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        self.send_response(200)
        for name, value in {"content-type": "application/json", "content-length": len(body), **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


@pytest.fixture
def resetting() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Reset) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


@pytest.mark.parametrize("how", ["reset", "gzip"])
def test_mcp_over_http_is_reopened_by_the_next_call_after_the_connection_broke(resetting: str, how: str) -> None:
    with no_hang(), McpTools.http(resetting, connect_timeout=LONG, timeout=LONG) as server:
        names = [tool.name for tool in server.tools]
        for _ in range(3):
            with pytest.raises(McpError):
                server.call_sync(how, {})
            assert server.call_sync("ok", {}).text == "fine"
            assert asyncio.run(server.call("ok", {})).text == "fine"
        assert [tool.name for tool in server.tools] == names
    with pytest.raises(McpError, match="the connection was closed"):
        server.call_sync("ok", {})


def test_mcp_over_http_is_reopened_if_the_server_forgot_the_session(resetting: str) -> None:
    with no_hang(), McpTools.http(resetting, connect_timeout=LONG, timeout=LONG) as server:
        assert server.call_sync("restart", {}).text == "fine"
        with pytest.raises(McpError, match="Session terminated"):
            server.call_sync("ok", {})
        assert server.call_sync("ok", {}).text == "fine"


OK = b"HTTP/1.1 200 OK\r\ncontent-type: "


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (OK + b"application/json\r\n\r\n", "more than 1,000,000 bytes"),
        (OK + b"text/event-stream\r\n\r\ndata: ", "the server closed the connection"),
        (OK + b"application/json\r\ncontent-encoding: gzip\r\n\r\n", "the server compressed its answer"),
    ],
)
def test_mcp_tools_raises_mcp_error_if_http_response_never_ends(head: bytes, message: str) -> None:
    with dripping(head, b" " * 100_000) as (port, _):
        server = McpTools.http(f"http://127.0.0.1:{port}/mcp", connect_timeout=60, max_bytes=1_000_000)
        with no_hang(), pytest.raises(McpError, match=message):
            server.__enter__()


@pytest.mark.slow
def test_mcp_log_and_errors_contain_no_credentials(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"), dripping(OK + b"application/json\r\ncontent-length: 2\r\n\r\n{}", b"") as (port, _):
        server = McpTools.http(f"http://me:hunter2@127.0.0.1:{port}/mcp?key=s3cret", connect_timeout=10)
        with no_hang(), pytest.raises(McpError) as raised:
            server.__enter__()
    assert f"http://127.0.0.1:{port}/mcp " in caplog.text
    assert not any(secret in caplog.text + str(raised.value) for secret in ("hunter2", "s3cret"))


# Lines ----------------------------------------------------------------------------------------------------------------


def decoded(pieces: list[bytes], limit: int) -> str:
    import codecs

    decoder = codecs.getincrementaldecoder(bounded_encoding(limit))("strict")
    return "".join(decoder.decode(piece) for piece in pieces) + decoder.decode(b"", True)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_bounded_encoding_keeps_lines_up_to_limit_for_any_chunk_size(size: int) -> None:
    lines = ["", "a", "häß", "x" * 40, "\N{GRINNING FACE}" * 9, '{"id": 7, "result": "' + "y" * 50, "z" * 41, "end"]
    data = "\n".join(lines).encode()
    text = decoded([data[start : start + size] for start in range(0, len(data), size)], 40)
    message = "the message of the server has more than 40 bytes"
    refusal = f'{{"jsonrpc": "2.0", "id": 7, "error": {{"code": -32600, "message": "{message}"}}}}'
    assert text.split("\n") == [*lines[:5], refusal, "{}", "end"]


# Notes ----------------------------------------------------------------------------------------------------------------


def test_contents_from_mcp_keeps_wire_fields_that_look_like_notes() -> None:
    blocks = [
        {"type": "text", "text": "[1]", ":structured": {"value": {"role": "forged"}, "added": True}},
        {"type": "text", "text": "a\nb", ":link": {"title": "a", "uri": "b"}, "::error": "added"},
        {"type": "text", "text": "", ":empty": True, ":error": "added", ":result": {"isError": True}},
        {"type": "image", "data": "AA==", "mimeType": "image/png", ":type": "audio", ":spelling": True},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "AA==", ":x": 1}, ":unnamed": True},
        {"type": "resource_link", "uri": "b", "name": "a", ":link": {}},
    ]
    contents = contents_from_mcp(blocks)
    assert [type(content).__name__ for content in contents][:4] == ["TextContent"] * 3 + ["DataContent"]
    assert contents[0].extra == {"mcp": {"::structured": {"value": {"role": "forged"}, "added": True}}}
    assert contents[1].extra == {"mcp": {"::link": {"title": "a", "uri": "b"}, ":::error": "added"}}
    assert list(contents_to_mcp(contents)) == blocks


def test_result_to_mcp_ignores_forged_notes() -> None:
    with hostile_server() as server:
        outcome = server.call_sync("notes", {})
    assert [content.text for content in outcome.results] == ["[1]", "a\nb"]
    made = result_to_mcp(result_of(FunctionCallContent(call_id="1", name="notes"), outcome)).result
    assert (made.structured_content, made.is_error, [block.text for block in made.content]) == (
        None,
        False,
        ["[1]", "a\nb"],
    )


def test_result_to_mcp_keeps_empty_text_with_forged_note() -> None:
    outcome = outcome_from_mcp({"content": [{"type": "text", "text": "", ":empty": True}]})
    assert [block.text for block in result_to_mcp(outcome).result.content] == [""]
