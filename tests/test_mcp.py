"""MCP: conversion of contents, tools of a real server over stdio and HTTP, and serving of tools."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, types

from contentmodel import (
    ChatMessage,
    ChatRequest,
    Citation,
    ContentModelError,
    DataContent,
    DecodeError,
    DocumentContent,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedFileContent,
    Protected,
    TextContent,
    UnknownContent,
    UriContent,
)
from contentmodel.runner import AsyncToolRunner, ToolRunner
from contentmodel.tools import (
    Tool,
    ToolContext,
    ToolInputError,
    ToolOutcome,
    ToolSet,
    bind,
    result_of,
    tool,
    validate_input,
)
from contentmodel.tools.mcp import (
    McpError,
    McpTimeoutError,
    McpTools,
    contents_from_mcp,
    contents_to_mcp,
    outcome_from_mcp,
    result_from_mcp,
    result_to_mcp,
    serve,
)
from contentmodel.tools.mcp.blocks import json_of
from scripted import AsyncScripted, Scripted, answer, call

SERVER = str(Path(__file__).parent / "services" / "mcp_server.py")
CALL = FunctionCallContent(call_id="call_1", name="f", arguments={})

# MCP to contents and back --------------------------------------------------------------------------------------------

words = st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
maybe = {
    "annotations": st.fixed_dictionaries(
        {},
        optional={
            "audience": st.lists(st.sampled_from(["user", "assistant"]), max_size=2),
            "priority": st.floats(0, 1),
            "lastModified": words,
        },
    ),
    "_meta": st.dictionaries(words, json_values, max_size=2),
}
media_types = st.sampled_from(["image/png", "audio/wav", "IMAGE/X", "application/pdf", "text/plain", "odd", ""])
base64s = st.binary(max_size=6).map(lambda data: DataContent.from_bytes(data, "x").data) | words
uris = words | st.sampled_from(["file:///a b.txt", "note://1", "attachment:a%20b", "attachment:", "attachment:a b"])


def of_type(kind: str, fields: dict[str, Any], optional: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"type": st.just(kind), **fields}, optional={**(optional or {}), **maybe})


def resources(**fields: Any) -> st.SearchStrategy[Any]:
    more = {"mimeType": media_types | st.none(), "_meta": maybe["_meta"]}
    return st.fixed_dictionaries({"uri": uris, **fields}, optional=more)


blocks = st.one_of(
    of_type("text", {"text": words | st.just('{"a": 1}')}),
    of_type("image", {"data": base64s, "mimeType": media_types}),
    of_type("audio", {"data": base64s, "mimeType": media_types}),
    of_type("resource", {"resource": resources(text=words) | resources(blob=base64s)}),
    of_type(
        "resource_link",
        {"uri": uris, "name": words},
        {"title": words | st.none(), "description": words, "mimeType": media_types, "size": st.integers(0, 9)},
    ),
)


def sdk_block(block: dict[str, Any]) -> Any:
    """Return a block as an object of the MCP package's class."""
    kinds: dict[str, Any] = {
        "text": types.TextContent,
        "image": types.ImageContent,
        "audio": types.AudioContent,
        "resource": types.EmbeddedResource,
        "resource_link": types.ResourceLink,
    }
    return kinds[block["type"]].model_validate(block)


@given(st.lists(blocks, max_size=3))
def test_mcp_blocks_round_trip(given_blocks: list[dict[str, Any]]) -> None:
    classes = [sdk_block(block) for block in given_blocks]
    contents = contents_from_mcp(classes)
    back = contents_to_mcp(contents)
    assert [json_of(block) for block in back] == given_blocks
    assert [type(block) for block in back] == [type(block) for block in classes]
    assert back.losses == ()
    assert contents_from_mcp(given_blocks) == contents


@given(json_values | blocks.flatmap(lambda block: json_values.map(lambda more: {**block, "more": more, "text": more})))
def test_unknown_mcp_blocks_round_trip(block: Any) -> None:
    [content] = contents_from_mcp([block])
    back = contents_to_mcp([content])
    assert [json_of(item) for item in back] == [block]
    assert back.losses == ()


def test_contents_from_mcp_maps_each_block_type_to_its_content_type() -> None:
    made = contents_from_mcp(
        [
            {"type": "text", "text": "a", "_meta": {"k": 1}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a.py", "text": "x = 1"}},
            {"type": "resource", "resource": {"uri": "file:///a.pdf", "blob": "AAAA", "mimeType": "application/pdf"}},
            {"type": "resource_link", "uri": "note://1", "name": "one", "description": "The first."},
            {"type": "hologram", "data": 1},
            "no block",
        ]
    )
    assert made == [
        TextContent(text="a", extra={"mcp": {"_meta": {"k": 1}}}),
        DataContent(data="AAAA", media_type="image/png"),
        DataContent(data="AAAA", media_type="audio/wav"),
        TextContent(text="x = 1", extra={"mcp": {"resource": {"uri": "file:///a.py"}}}),
        DataContent(data="AAAA", media_type="application/pdf", name="file:///a.pdf"),
        UriContent(uri="note://1", name="one", text="The first."),
        UnknownContent(api="mcp", block={"type": "hologram", "data": 1}),
        UnknownContent(api="mcp", block="no block"),
    ]


# Contents to MCP and back --------------------------------------------------------------------------------------------

citations = st.none() | st.just([Citation(url="https://example.com/")])
protected = st.none() | st.just(Protected(issuer="x", kind="signature", data="s"))
residues = st.none() | st.sampled_from([{"openai-chat": {"id": 1}}, {"mcp": {"_meta": {"k": None}}}])
names = st.none() | st.text(min_size=1, max_size=8) | st.sampled_from(["a b.pdf", "file:///x", "attachment:x", "a:b"])
contents = st.one_of(
    st.builds(TextContent, text=words, annotations=citations, protected=protected, extra=residues),
    st.builds(DataContent, data=base64s | st.just("-_8"), media_type=st.none() | media_types, name=names),
    st.builds(DataContent, text=words, media_type=st.none() | media_types, name=names, extra=residues),
    st.builds(DataContent, data=st.just("AAAA"), media_type=media_types, transcript=st.none() | words),
    st.builds(UriContent, uri=words, name=names, title=st.none() | words, text=st.none() | words),
    st.builds(ErrorContent, message=words, code=st.none() | words, details=st.none() | st.just({"a": [1]})),
    st.builds(HostedFileContent, file_id=words),
    st.builds(DocumentContent, parts=st.lists(st.builds(TextContent, text=words), max_size=2), title=st.none() | words),
    st.builds(UnknownContent, api=st.sampled_from(["mcp", "other"]), block=st.just({"type": "zz"})),
)


@given(contents)
def test_contents_to_mcp_reports_loss_unless_content_round_trips(content: Any) -> None:
    made = contents_to_mcp([content])
    assert contents_from_mcp(made) == [content] or made.losses
    assert all(loss.path.startswith("$[0]") for loss in made.losses)


def test_contents_to_mcp_reports_path_and_kind_of_losses() -> None:
    made = contents_to_mcp(
        [
            TextContent(text="a", annotations=[Citation(url="https://example.com/")]),
            HostedFileContent(file_id="file_1"),
            DataContent(data="AAAA", media_type="application/pdf"),
            DataContent(data="_-8", media_type="image/png", name="a.png"),
        ]
    )
    assert [(loss.path, loss.kind) for loss in made.losses] == [
        ("$[0].annotations[0]", "dropped"),
        ("$[1]", "dropped"),
        ("$[2].name", "synthesized"),
        ("$[3].name", "dropped"),
        ("$[3].data", "degraded"),
    ]
    assert [json_of(block)["type"] for block in made] == ["text", "resource", "image"]
    assert made[2].data == "/+8="


def test_contents_to_mcp_encodes_edited_text() -> None:
    [content] = contents_from_mcp([{"type": "resource", "resource": {"uri": "file:///a", "text": "old", "text2": 1}}])
    [block] = contents_to_mcp([msgspec.structs.replace(content, text="new")])
    assert json_of(block) == {"type": "resource", "resource": {"uri": "file:///a", "text": "new", "text2": 1}}


# Results -------------------------------------------------------------------------------------------------------------

results = st.fixed_dictionaries(
    {"content": st.lists(blocks, max_size=3)},
    optional={"structuredContent": json_values, "isError": st.just(True), "_meta": maybe["_meta"]},
)


@given(results, st.sampled_from(["text", "uri"]))
def test_mcp_results_round_trip(result: dict[str, Any], links: str) -> None:
    made = types.CallToolResult.model_validate(result)
    outcome = outcome_from_mcp(made, links=links)
    for ours in (outcome, result_of(CALL, outcome), result_from_mcp(CALL, result, links=links)):
        back = result_to_mcp(ours)
        assert back.losses == ()
        assert back.result.model_dump(mode="json", by_alias=True) == made.model_dump(mode="json", by_alias=True)
    assert bool(result_of(CALL, outcome).is_error) == bool(result.get("isError"))


@given(results, json_values)
def test_outcome_from_mcp_includes_structured_content_once(result: dict[str, Any], value: Any) -> None:
    with_value = {**result, "isError": False, "structuredContent": value}
    alone = outcome_from_mcp({**with_value, "content": []}).results
    repeated = outcome_from_mcp({**with_value, "content": [{"type": "text", "text": json.dumps(value)}]}).results
    assert len(alone) == len(repeated) == 1
    if value is not None:
        assert json.loads(alone[0].text) == json.loads(repeated[0].text) == value


@pytest.mark.parametrize(
    ("texts", "value", "expected"),
    [
        (["5"], {"result": 5}, ["5"]),
        (["five"], {"result": "five"}, ["five"]),
        (["a", "b"], {"result": ["a", "b"]}, ["a", "b"]),
        (['{"b": 1, "a": 2}'], {"a": 2, "b": 1}, ['{"b": 1, "a": 2}']),
        (["1"], True, ["1", "true"]),
        ([], {"sum": 3}, ['{"sum": 3}']),
        (["Done."], {"sum": 3}, ["Done.", '{"sum": 3}']),
    ],
)
def test_outcome_from_mcp_adds_structured_content_unless_texts_contain_it(
    texts: list[str], value: Any, expected: list[str]
) -> None:
    content = [{"type": "text", "text": text} for text in texts]
    made = outcome_from_mcp({"content": content, "structuredContent": value})
    assert [item.text for item in made.results] == expected


def test_result_to_mcp_prefers_edited_text_to_structured_content() -> None:
    [decoded] = outcome_from_mcp(
        {"content": [{"type": "text", "text": '{"a": 1}'}], "structuredContent": {"a": 1}}
    ).results
    made = result_to_mcp(ToolOutcome([TextContent(text="no", extra=decoded.extra)]))
    assert made.result.structured_content is None
    assert [loss.code for loss in made.losses] == ["mcp-edited-value"]
    [added] = outcome_from_mcp({"content": [], "structuredContent": {"a": 1}}).results
    made = result_to_mcp(ToolOutcome([TextContent(text='{"a": 2}', extra=added.extra)]))
    assert (made.result.content, made.result.structured_content, made.losses) == ([], {"a": 2}, ())


def test_outcome_from_mcp_ignores_links_when_comparing_structured_content() -> None:
    link = {"type": "resource_link", "uri": "note://1", "name": "one"}
    payload = {"content": [{"type": "text", "text": "a"}, link], "structuredContent": {"result": ["a"]}}
    outcome = outcome_from_mcp(payload)
    assert [content.text for content in outcome.results] == ["a", "one\nnote://1"]
    made = result_to_mcp(outcome)
    assert (json_of(made.result.content[1]), made.result.structured_content) == (link, {"result": ["a"]})
    assert made.losses == ()


def test_outcome_from_mcp_reads_blocks_of_results_that_were_built_by_hand() -> None:
    resource = types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///a", text="b"))
    built = types.CallToolResult(content=[types.TextContent(text="a"), resource])
    assert [type(content) for content in outcome_from_mcp(built).results] == [TextContent, TextContent]


def test_mcp_error_results_are_decoded_and_encoded() -> None:
    failed = outcome_from_mcp({"content": [{"type": "text", "text": "No."}], "isError": True})
    assert failed.results == [ErrorContent(message="No.", code="tool_failed")]
    silent = outcome_from_mcp({"content": [], "isError": True})
    assert silent.error is not None
    assert result_to_mcp(silent).result.content == []

    outputs = [TextContent(text="first"), ErrorContent(message="then", code="x", details={"a": 1})]
    ours = FunctionResultContent(call_id="call_1", name="f", outputs=outputs, is_error=True)
    made = result_to_mcp(ours)
    assert made.result.is_error
    assert [block.text for block in made.result.content] == ["first", "then"]
    assert made.losses == ()
    assert result_from_mcp(CALL, made.result) == ours


def test_result_to_mcp_reports_loss_of_protected_data_of_an_error() -> None:
    signed = ErrorContent(message="no", code="tool_failed", protected=Protected(issuer="x", kind="signature", data="s"))
    made = result_to_mcp(ToolOutcome([signed]))
    assert [block.meta for block in made.result.content] == [None]
    assert [loss.path for loss in made.losses] == ["$.results[0].protected"]
    [text] = contents_from_mcp([{"type": "text", "text": "a", "_meta": {"contentmodel/error": {"code": 5}}}])
    assert text == TextContent(text="a", extra={"mcp": {"_meta": {"contentmodel/error": {"code": 5}}}})


def test_result_to_mcp_reports_loss_of_unsupported_content() -> None:
    made = result_to_mcp(ToolOutcome(["hi", HostedFileContent(file_id="f")], note="slow", display="Said hi."))
    assert [block.text for block in made.result.content] == ["hi", "slow"]
    assert [(loss.path, loss.kind) for loss in made.losses] == [("$.display", "dropped"), ("$.results[1]", "dropped")]
    unknown = [{"type": "hologram", "data": 1}, {"type": "text", "text": "a", "new": 1}]
    made = result_to_mcp(outcome_from_mcp({"content": unknown}))
    assert [block.text for block in made.result.content] == ['{"type": "hologram", "data": 1}', "a"]
    assert [loss.kind for loss in made.losses] == ["degraded", "degraded"]


@pytest.mark.parametrize(
    "result", [{}, {"content": "text"}, [], None, {"content": [{"type": "text", "text": 1.0}, float("nan")]}]
)
def test_outcome_from_mcp_rejects_invalid_result(result: Any) -> None:
    with pytest.raises(DecodeError):
        outcome_from_mcp(result)


# A server over stdio -------------------------------------------------------------------------------------------------


def stdio(*mode: str, **options: Any) -> McpTools:
    return McpTools.stdio(sys.executable, [SERVER, *(mode or ("stdio",))], **options)


async def run(tools: ToolSet, name: str, **args: Any) -> FunctionResultContent:
    """Run one call like the tool loop."""
    call = FunctionCallContent(call_id="call_1", name=name, arguments=args)
    try:
        valid = validate_input(tools[name], call)
        return result_of(call, await valid.tool.invoke(valid.args, ToolContext()))
    except Exception as error:
        return result_of(call, error)


async def check_tools(server: McpTools) -> None:
    tools = ToolSet(server.tools)
    assert tools.names == ("add", "picture", "total", "fail", "hang", "exit", "cancelled", "refuse", "header")
    assert server.faults == []
    assert tools["add"].definition.extra == {"mcp": {"title": "Addition", "annotations": {"readOnlyHint": True}}}
    assert tools["total"].definition.returns is not None
    assert (await run(tools, "add", a=1, b=2)).outputs == [
        TextContent(text="3", extra={"mcp": {":result": {"_meta": {"cost": 1}}}})
    ]
    assert (await run(tools, "add", a=1)).error.code == "invalid_arguments"
    picture, resource, link = (await run(tools, "picture")).outputs
    assert picture.is_media_type("image/png")
    assert (resource.text, link.text) == ("A.", "one\nThe first note.\nnote://1")
    assert (await run(tools, "total", a=1, b=2)).text == '{"sum": 3}'
    failed = await run(tools, "fail")
    assert failed.is_error
    assert failed.error == ErrorContent(message="It did not work.", code="tool_failed")
    refused = await run(tools, "refuse")
    assert refused.error.message == "refuse of the MCP server tests: no tool is named refuse"


def test_mcp_tools_over_stdio_lists_and_calls_tools_of_a_server() -> None:
    async def main() -> None:
        async with stdio() as server:
            await check_tools(server)

    asyncio.run(main())


@pytest.mark.slow
def test_mcp_call_is_cancelled_on_server_after_timeout_or_cancellation() -> None:
    async def main() -> None:
        async with stdio(timeout=0.3) as server:
            tools = ToolSet(server.tools)
            assert tools["hang"].timeout == 0.3
            assert (await run(tools, "hang")).error.code == "timeout"
        async with stdio() as server:
            tools = ToolSet(server.tools)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(tools["hang"].invoke({}), 0.3)
            assert (await run(tools, "cancelled")).text == "1"

    asyncio.run(main())


def test_mcp_calls_fail_if_server_exits() -> None:
    async def main() -> None:
        async with stdio() as server:
            tools = ToolSet(server.tools)
            hanging = asyncio.create_task(run(tools, "hang"))
            await asyncio.sleep(0)
            for name in ("exit", "add"):
                ended = await run(tools, name, **({"a": 1, "b": 2} if name == "add" else {}))
                assert ended.error.message == f"{name} of the MCP server tests: the server closed the connection"
            assert (await hanging).is_error
        with pytest.raises(McpError, match="the connection was closed"):
            await server.call("add", {"a": 1, "b": 2})

    asyncio.run(main())


@pytest.mark.slow
def test_mcp_close_fails_running_calls() -> None:
    with stdio() as server:
        failed: list[BaseException] = []

        def hang() -> None:
            try:
                server.call_sync("hang", {})
            except McpError as error:
                failed.append(error)

        hanging = threading.Thread(target=hang)
        hanging.start()
        assert server.call_sync("add", {"a": 1, "b": 2}).text == "3"
    hanging.join(10)
    assert len(failed) == 1
    server.close()


@pytest.mark.slow
def test_mcp_tools_opened_synchronously_run_on_any_thread_and_loop() -> None:
    with stdio(prefix="math_", only=["add", "gone"]) as server:
        assert [str(fault) for fault in server.faults] == ["gone: the server has no tool with this name at $.tools"]
        [add] = server.tools
        assert add.name == add.definition.name == "math_add"
        texts: list[str] = []

        def work(number: int) -> None:
            texts.append(asyncio.run(add.invoke({"a": number, "b": 0})).text)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(texts) == list("01234567")


@pytest.mark.slow
def test_mcp_tools_rejects_invalid_tools_and_keeps_unknown_blocks() -> None:
    async def main() -> None:
        async with stdio("rogue", timeout=2) as server:
            tools = ToolSet(server.tools)
            assert tools.names == ("good", "untyped", "promise", "garbage", "bomb", "silence")
            assert [str(fault) for fault in server.faults] == [
                "text: the inputSchema: the type of the schema must be object at $ at $.tools[1]",
                "circle: the inputSchema: $ref is circular, or refers through more than 64 schemas at $ at $.tools[2]",
                "wrong: the inputSchema: 5 is not of type 'array' at $.required at $.tools[4]",
                "a tool: the name is missing at $.tools[5]",
                "a tool: the name is missing at $.tools[11]",
                "untyped: its outputSchema is ignored: $ref 'http://example.com/' does not refer to a schema in this "
                "document at $ at $.tools",
                "good: another tool of the server has this name at $.tools",
            ]
            good = await run(tools, "good")
            assert good.outputs[0].block == {"type": "hologram", "data": [1, 2]}
            assert good.outputs[1] == TextContent(text="Hello.", extra={"mcp": {"new": {"field": None}}})
            assert '$.sum: expected integer, got "many"' in (await run(tools, "promise")).error.message
            assert '$: expected string, got {"a": 1}' in (await run(tools, "bomb")).error.message
            assert "the server sent invalid MCP" in (await run(tools, "garbage")).error.message
            assert (await run(tools, "silence")).error.code == "timeout"

    asyncio.run(main())


def test_mcp_tools_reports_truncated_tool_list() -> None:
    with stdio("rogue", "endless") as server:
        cut = "the list of tools has no end: reading stopped after 2 pages at $.nextCursor"
        assert cut in [str(fault) for fault in server.faults]
        assert "good" in ToolSet(server.tools)


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (McpTools.stdio("/no/such/server"), "No such file"),
        (McpTools.stdio(sys.executable, ["-c", "pass"]), "the server closed the connection"),
        (stdio("rogue", "mute", connect_timeout=0.5), "did not answer in time"),
        (McpTools.http("http://127.0.0.1:9/mcp"), "MCP server 127.0.0.1"),
    ],
)
def test_mcp_tools_raises_mcp_error_if_server_cannot_be_opened(server: McpTools, message: str) -> None:
    with pytest.raises(McpError, match=message) as caught, server:
        pass
    assert isinstance(caught.value, ContentModelError)
    with pytest.raises(McpError):
        server.call_sync("add", {})


@pytest.mark.slow
def test_mcp_tools_approval_uses_destructive_annotation_or_function() -> None:
    with stdio(approval="destructive") as server:
        needs_approval = {tool.name: tool.needs_approval({}) for tool in server.tools}
        assert (needs_approval["add"], needs_approval["picture"], needs_approval["fail"], needs_approval["hang"]) == (
            False,
            False,
            True,
            True,
        )
    with stdio(prefix="x_", approval=lambda name, args: name == "add" and args["a"] > 1) as server:
        add = server.tools[0]
        assert (add.needs_approval({"a": 1}), add.needs_approval({"a": 2})) == (False, True)
    with pytest.raises(ValueError, match="destructive"):
        stdio(approval="sometimes")


# A server over HTTP --------------------------------------------------------------------------------------------------


@contextmanager
def over_http() -> Iterator[str]:
    with subprocess.Popen([sys.executable, SERVER, "http"], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with over_http() as address:
        yield address


def test_mcp_tools_over_http_lists_and_calls_tools_of_a_server(url: str) -> None:
    async def main() -> None:
        async with McpTools.http(url, {"X-Test": "yes"}) as server:
            await check_tools(server)
            assert (await server.call("header", {})).text == "yes"

    asyncio.run(main())


@pytest.mark.slow
def test_mcp_call_over_http_is_cancelled_on_server_after_timeout(url: str) -> None:
    with McpTools.http(url, timeout=1) as server:
        before = int(server.call_sync("cancelled", {}).text)
        with pytest.raises(McpTimeoutError):
            server.call_sync("hang", {})
        # The server notices when it finds that the client has disconnected.
        while int(server.call_sync("cancelled", {}).text) == before:
            time.sleep(0.05)


def test_mcp_calls_over_http_fail_if_server_exits() -> None:
    with over_http() as address, McpTools.http(address, connect_timeout=30) as server:
        for name in ("exit", "add"):
            with pytest.raises(McpError):
                server.call_sync(name, {"a": 1, "b": 2} if name == "add" else {})


# Served tools --------------------------------------------------------------------------------------------------------


@tool
def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


@tool(approval=True)
def erase() -> str:
    """Erases everything."""
    return "erased"


@tool
async def broken(how: str) -> str:
    """Fails."""
    if how == "hang":
        await asyncio.sleep(3600)
    raise SystemExit(how)


class Data(Tool):
    """Data."""

    name = "data"
    args_schema = {"type": "object", "properties": {}}

    def run(self, args: Any, *context: Any) -> Any:
        return ToolOutcome({"state": context[0].state}, display="shown")

    def invoke(self, args: Any, context: ToolContext | None = None) -> Any:
        return self.run(args, context)


@pytest.mark.slow
def test_serve_offers_tools_to_mcp_clients() -> None:
    async def main() -> None:
        offered = serve([double, erase, broken, Data()], timeout=1, state=5)
        async with Client(offered) as client, McpTools.session(client) as server:
            tools = ToolSet(server.tools)
            assert tools.names == ("double", "erase", "broken", "data")
            assert tools["double"].definition.description == "Twice a number."
            assert tools["double"].definition.parameters == double.definition.parameters
            assert (await run(tools, "double", number=4)).text == "8"
            with pytest.raises(ToolInputError):
                validate_input(
                    tools["double"], FunctionCallContent(call_id="c", name="double", arguments={"number": "4"})
                )
            wrong = await server.call("double", {"number": "4"})
            assert wrong.error.code == "invalid_arguments"
            assert wrong.error.message.endswith('- $.number: expected a valid integer, got "4"')
            assert wrong.error.details["faults"][0]["path"] == "$.number"
            assert "was not approved" in (await run(tools, "erase")).error.message
            assert (await run(tools, "broken", how="dies")).error.message == "dies"
            assert (await run(tools, "broken", how="hang")).error.code == "timeout"
            assert (await run(tools, "data")).text == '{"state": 5}'
            with pytest.raises(McpError, match="unknown tool gone"):
                await server.call("gone", {})
            with pytest.raises(McpError, match="await `call`"):
                server.call_sync("double", {"number": 4})
            result = await asyncio.to_thread(server.call_sync, "double", {"number": 4})
            assert result.text == "8"
        with pytest.raises(McpError, match="async with"), McpTools.session(client):
            pass

    asyncio.run(main())


@pytest.mark.slow
def test_serve_keeps_structured_results_of_proxied_mcp_tools() -> None:
    async def main() -> None:
        async with stdio(only=["total", "add"]) as server, Client(serve(server.tools)) as client:
            listed = (await client.list_tools()).tools
            assert listed[0].annotations.read_only_hint
            assert (await client.call_tool("total", {"a": 1, "b": 2})).structured_content == {"sum": 3}

    asyncio.run(main())


def test_import_of_mcp_tools_does_not_load_mcp_package() -> None:
    code = "import sys, contentmodel.tools.mcp; assert not {'mcp', 'mcp_types', 'httpx2'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_bind_accepts_mcp_tools() -> None:
    with stdio() as server:
        request = bind(ChatRequest(messages=[ChatMessage(role="user", contents=[])]), server.tools, choice="add")
        assert request.options.tool_choice.tools == ["add"]


# Tool runner ---------------------------------------------------------------------------------------------------------

SCRIPT = [
    answer(call("add", "call_1", a=1, b=2), call("hang", "call_2"), call("total", "call_3", a=1, b=2)),
    answer(call("exit", "call_4")),
    answer("Done."),
]


def outputs_by_call(result: Any) -> dict[str, str]:
    """Return the output that the model receives for each call: the text, or the error code."""
    results = [
        item for message in result.messages for item in message.contents if isinstance(item, FunctionResultContent)
    ]
    return {item.call_id: item.error.code if item.error else item.text for item in results}


EXPECTED_OUTPUTS = {"call_1": "3", "call_2": "timeout", "call_3": '{"sum": 3}', "call_4": "tool_failed"}


@pytest.mark.slow
def test_tool_runner_runs_mcp_tools() -> None:
    with stdio() as server:
        assert outputs_by_call(ToolRunner(Scripted(SCRIPT), server.tools, timeout=5).run("Add.")) == EXPECTED_OUTPUTS


@pytest.mark.slow
def test_async_tool_runner_runs_mcp_tools() -> None:
    async def main() -> None:
        async with stdio() as server:
            assert (
                outputs_by_call(await AsyncToolRunner(AsyncScripted(SCRIPT), server.tools, timeout=5).run("Add."))
                == EXPECTED_OUTPUTS
            )

    asyncio.run(main())


def test_structured_content_is_the_artifact_of_the_result() -> None:
    call = FunctionCallContent(call_id="call_1", name="count", arguments={})
    wire = {"content": [{"type": "text", "text": "two"}], "structuredContent": {"count": 2}}
    result = result_from_mcp(call, wire)
    assert result.artifact == {"count": 2}
    changed = msgspec.structs.replace(result, artifact={"count": 3})
    assert result_to_mcp(changed).result.structured_content == {"count": 3}
    assert result_to_mcp(result).result.structured_content == {"count": 2}


def test_artifact_of_an_outcome_is_sent_as_structured_content() -> None:
    written = result_to_mcp(ToolOutcome("two", artifact={"count": 2}))
    assert (written.result.structured_content, written.losses) == ({"count": 2}, ())


def test_artifact_without_a_json_form_is_an_error_of_the_result() -> None:
    call = FunctionCallContent(call_id="call_1", name="count", arguments={})
    result = result_of(call, ToolOutcome("two", artifact=object()))
    assert (result.artifact, result.is_error) == (None, True)
