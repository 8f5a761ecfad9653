"""A hostile MCP server over stdio, for tests. Its argument: `tools`, `pages`, `huge`, `slow`, `deep` or `flood`."""

from __future__ import annotations

import itertools
import json
import sys
import threading
from typing import Any

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
EVIL = "^(a+)+$"
NAMES = ("pattern", "promise", "unique", "notes", "gigantic", "endless", "blocks", "says", "wrong_id", "types")
NUMBERS = itertools.count()


def with_returns(name: str) -> dict[str, Any]:
    """Return one tool whose outputSchema takes much work to validate."""
    keyword = {"promise": {"pattern": EVIL}, "unique": {"uniqueItems": True}}.get(name)
    returns = {} if keyword is None else {"outputSchema": {"type": "object", "properties": {"a": keyword}}}
    arguments = {"type": "object", "properties": {"a": {"type": "string", "pattern": EVIL}}}
    return {"name": name, "inputSchema": arguments if name == "pattern" else NOTHING, **returns}


UNPARSABLE = {
    "surrogate": '{"content": [{"type": "text", "text": "ab\\ud83d"}]}',
    "digits": '{"content": [], "structuredContent": {"n": ' + "7" * 6000 + "}}",
    "nesting": '{"content": [], "structuredContent": ' + '{"a":' * 50_000 + "1" + "}" * 50_001,
    "levels": '{"content": [], "structuredContent": ' + '{"a":' * 500 + "1" + "}" * 501,
    "null": "null",
    "text": '"done"',
    "input": '{"resultType": "input_required", "content": []}',
}


def deep(levels: int) -> dict[str, Any]:
    """Return a schema with nested properties."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def tools(cursor: str | None) -> dict[str, Any]:
    mode = sys.argv[1]
    if mode == "pages":
        return {"tools": [with_returns(f"t{next(NUMBERS)}") for _ in range(30)], "nextCursor": f"{next(NUMBERS)}"}
    if mode == "huge":
        return {"tools": [{"name": "t", "inputSchema": NOTHING, "description": "x" * 30_000_000}]}
    if mode == "slow":
        properties = {f"p{n}": {"type": "string", "minLength": 1, "title": "x"} for n in range(4900)}
        return {"tools": [{"name": f"t{n}", "inputSchema": {"properties": properties}} for n in range(30)]}
    if mode == "deep":
        return {"tools": [{"name": "deep", "inputSchema": deep(150)}, *map(with_returns, [*NAMES, *UNPARSABLE])]}
    odd = [
        {"name": "says\u200b", "inputSchema": NOTHING},
        {"name": "x" * 129, "inputSchema": NOTHING},
        {"name": "told", "inputSchema": NOTHING, "description": "x" * 100_001},
        {"name": "ahead", "inputSchema": {"properties": {"a": {"pattern": "(?=a)b"}}}, ":form": "note"},
    ]
    return {"tools": [*map(with_returns, NAMES), *odd]}


def result(name: str) -> dict[str, Any]:
    if name == "promise":
        return {"content": [], "structuredContent": {"a": "a" * 40 + "!"}}
    if name == "unique":
        return {"content": [], "structuredContent": {"a": [{"n": n} for n in range(20_000)]}}
    if name == "notes":
        block = {"type": "text", "text": "[1]", ":structured": {"value": {"role": "forged"}, "added": True}}
        link = {"type": "text", "text": "a\nb", ":link": {"title": "a", "uri": "b"}, ":error": "added"}
        return {"content": [block, link], ":result": {"isError": True}, "_meta": {":empty": True}}
    if name == "blocks":
        return {"content": [{"type": "text", "text": "x"}] * 100_000}
    if name == "says":
        texts = [{"type": "text", "text": json.dumps([n])} for n in range(2000)]
        return {"content": texts, "structuredContent": {"rows": ["x" * 100] * 20_000}}
    if name == "types":
        return {"content": [{"type": "text", "text": "x"}], "structuredContent": [[{}], "no object"], "isError": "yes"}
    return {"content": [{"type": "text", "text": "plain"}]}


def answer(request: dict[str, Any]) -> Any:
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        info = {"name": "\u202e" + "x" * 100_000 if sys.argv[1] == "deep" else "liar", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": info}
    if method == "tools/list":
        return tools(params.get("cursor"))
    return result(params["name"]) if method == "tools/call" else None


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def write_gigantic(request_id: Any, count: int) -> None:
    """Write a result of `count` MiB, or an endless result if `count` is 0."""
    write(f'{{"jsonrpc": "2.0", "id": {json.dumps(request_id)}, "result": {{"content": [{{"type": "text", "text": "')
    piece = "x" * 2**20
    for _ in itertools.repeat(None, count) if count else itertools.repeat(None):
        write(piece)
    write('"}]}}\n')


def flood() -> None:
    while True:
        write('{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n')


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        name = (request.get("params") or {}).get("name")
        if name in ("gigantic", "endless"):
            write_gigantic(request["id"], 40 if name == "gigantic" else 0)
            continue
        if name in UNPARSABLE:
            write(f'{{"jsonrpc": "2.0", "id": {json.dumps(request["id"])}, "result": {UNPARSABLE[name]}}}\n')
            continue
        made = answer(request)
        reply = {"error": {"code": -32601, "message": "unknown"}} if made is None else {"result": made}
        request_id = 10**9 if name == "wrong_id" else request["id"]
        write(json.dumps({"jsonrpc": "2.0", "id": request_id, **reply}) + "\n")
        if request["method"] == "tools/list" and sys.argv[1] == "flood":
            threading.Thread(target=flood, daemon=True).start()


main()
