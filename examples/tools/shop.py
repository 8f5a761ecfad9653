"""Run the tools of shop.tools.json offline: a query of SQLite, a call of a REST API, and a function.

    python examples/tools/shop.py

The database is made of shop.sql in a temporary folder, and the REST API is a server on this machine.
`python examples/tools/shop.py shop.db` only makes the database, for `contentmodel tools call`.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from contentmodel import FunctionCallContent
from contentmodel.tools import ToolSet, load_tools, result_of, validate_input
from contentmodel.tools.config import RestExecutor, SqlExecutor

HERE = Path(__file__).parent


class Post(BaseHTTPRequestHandler):
    """A REST API with one path: /deliveries/{order}."""

    def do_GET(self) -> None:
        """Answer with the state of a delivery."""
        body = json.dumps({"order": int(self.path.rpartition("/")[2]), "state": "on its way"}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


def total(amounts: list[float]) -> float:
    """Return the sum of amounts."""
    return sum(amounts)


def make_database(path: Path) -> None:
    """Make the database of the shop."""
    database = sqlite3.connect(path)
    database.executescript((HERE / "shop.sql").read_text())
    database.close()


def main() -> None:
    """Run each tool once, as for a model's call."""
    with tempfile.TemporaryDirectory() as folder, ThreadingHTTPServer(("127.0.0.1", 0), Post) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        make_database(Path(folder, "shop.db"))
        shop = SqlExecutor(f"sqlite:///{folder}/shop.db")
        post = RestExecutor(f"http://127.0.0.1:{server.server_port}")
        file = load_tools(
            HERE / "shop.tools.json",
            executors={"shop": shop, "post": post},
            functions={"total": total},
            strict=True,
        )
        tools = ToolSet(file.tools({"customer": 7}))
        for name, arguments in (
            ("orders", '{"limit": 2, "customer": 8}'),
            ("delivery", '{"order": 3}'),
            ("total", '{"amounts": [30, 6]}'),
        ):
            call = FunctionCallContent(call_id="call_1", name=name, arguments=arguments)
            valid = validate_input(tools[name], call)
            print(f"{name}: {result_of(call, valid.tool.invoke(valid.args)).text}")
        shop.close()
        post.close()
        server.shutdown()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make_database(Path(sys.argv[1]))
    else:
        main()
