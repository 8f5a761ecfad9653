"""Optional dependencies: if one is missing, the error contains the `pip` command that installs it.

`ROWS` has a row for every import of a third-party module. A new import without a row fails the first test.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("contentmodel/contentmodel", "adapters/contentmodel_adapters", "conformance/contentmodel_conformance")
OURS = {"contentmodel", "contentmodel_adapters", "contentmodel_conformance"}
REQUIRED = {"msgspec"}

CLI = "from contentmodel.cli import main; main()"
STORE = "from contentmodel.history import TurnStore\nTurnStore.open({!r})"
ASYNC_STORE = "import asyncio\nfrom contentmodel.history import AsyncTurnStore\nasyncio.run(AsyncTurnStore.open({!r}))"
CLIENT = "import contentmodel.client as clients; clients.{}({!r})"
EXECUTOR = "from contentmodel.tools.config import {0}; {0}({1!r})"
FILE = "from contentmodel.tools import load_tools; load_tools([{{'type': 'api', 'function': {0}, 'api': {1}}}])"
FUNCTION = {"name": "a", "description": "A tool.", "parameters": {"type": "object", "properties": {}}}
POSTGRESQL = "postgresql://localhost/shop"
KIT = "import contentmodel_conformance as kit; kit.check_adapter"
KIT_CLI = "from contentmodel_conformance.__main__ import main; main()"
KIT_SERVER = "import contentmodel_conformance.server"
KIT_BODIES = "from contentmodel_conformance.captures.bodies import decompressed; decompressed(b'', {!r}, 9)"
JUDGE = "from contentmodel_conformance.oracles import judge; judge({!r}, 'response')"

Row = tuple[str, str, str, str]
"""The folder or file of an import, the module, the extra that installs it, and a program that needs it."""

ROWS: list[Row] = [
    ("contentmodel/contentmodel/cli/", "typer", "cli", CLI),
    ("contentmodel/contentmodel/cli/", "rich", "cli", CLI),
    ("contentmodel/contentmodel/cli/opening.py", "zstandard", "cli",
     "import tempfile; from contentmodel.cli.opening import open_binary; file = tempfile.NamedTemporaryFile();"
     " file.write(bytes([0x28, 0xb5, 0x2f, 0xfd])); file.flush(); open_binary(file.name)"),
    ("contentmodel/contentmodel/cli/stores.py", "sqlalchemy", "history", "from contentmodel.history import TurnStore"),
    ("contentmodel/contentmodel/history/", "sqlalchemy", "history", "import contentmodel.history"),
    ("contentmodel/contentmodel/datasets/", "pyarrow", "arrow", "import contentmodel.datasets"),
    ("contentmodel/contentmodel/datasets/engines.py", "ray", "ray",
     "from contentmodel.datasets.engines import run_with_ray; next(run_with_ray(None, [], None, None))"),
    ("contentmodel/contentmodel/langchain.py", "langchain_core", "langchain", "import contentmodel.langchain"),
    ("contentmodel/contentmodel/interop/langchain_tools.py", "langchain_core", "langchain",
     "import contentmodel.interop.langchain_tools"),
    ("contentmodel/contentmodel/html/page.py", "jinja2", "html", "from contentmodel.html import page; page([])"),
    ("contentmodel/contentmodel/html/markup.py", "markdown_it", "html",
     "from contentmodel.html.markup import markup; markup('*a*', [])"),
    ("contentmodel/contentmodel/interop/pydantic_ai.py", "pydantic_ai", "pydantic-ai",
     "import contentmodel.interop.pydantic_ai"),
    ("contentmodel/contentmodel/interop/inspect_ai.py", "zstandard", "inspect-ai",
     "from contentmodel.interop.inspect_ai import samples; next(samples('tests/data_sets/inspect.eval'))"),
    ("contentmodel/contentmodel/runner/telemetry.py", "opentelemetry", "otel",
     "from contentmodel.runner.telemetry import OpenTelemetry; OpenTelemetry()"),
    ("contentmodel/contentmodel/gateway/", "httpx2", "gateway", "import contentmodel.gateway"),
    ("contentmodel/contentmodel/gateway/", "starlette", "gateway", "import contentmodel.gateway"),
    ("contentmodel/contentmodel/gateway/", "anyio", "gateway", "import contentmodel.gateway"),
    ("contentmodel/contentmodel/compression.py", "zstandard", "gateway",
     "from contentmodel.http_guard import CODINGS; CODINGS['zstd'](b'', 9)"),
    ("contentmodel/contentmodel/gateway/serving.py", "uvicorn", "gateway",
     "import sys; sys.argv[1:] = ['gateway', '--to', 'openai-chat', '--key', 'none']; " + CLI),
    ("contentmodel/contentmodel/server/", "cryptography", "server", "import contentmodel.server"),
    ("contentmodel/contentmodel/server/", "starlette", "server", "import contentmodel.server"),
    ("contentmodel/contentmodel/tools/", "docstring_parser", "tools", "import contentmodel.tools"),
    ("contentmodel/contentmodel/tools/", "jsonschema", "tools", "import contentmodel.tools"),
    ("contentmodel/contentmodel/tools/", "pydantic", "tools", "import contentmodel.runner"),
    ("contentmodel/contentmodel/tools/", "re2", "tools", "import contentmodel.runner"),
    ("contentmodel/contentmodel/tools/config/graphql.py", "graphql", "tools",
     FILE.format(FUNCTION, {"query": "{ a }"})),
    ("contentmodel/contentmodel/tools/config/statements.py", "sqlglot", "tools",
     FILE.format(FUNCTION, {"query": "SELECT 1"})),
    ("contentmodel/contentmodel/tools/config/http.py", "httpx2", "tools",
     EXECUTOR.format("RestExecutor", "https://a.example")),
    ("contentmodel/contentmodel/tools/config/clients.py", "httpx2", "tools",
     EXECUTOR.format("GraphQLExecutor", "https://a.example")),
    ("contentmodel/contentmodel/tools/config/sql.py", "sqlalchemy", "tools",
     EXECUTOR.format("SqlExecutor", "sqlite://")),
    ("contentmodel/contentmodel/tools/mcp/", "mcp", "mcp", "import contentmodel.tools.mcp"),
    ("contentmodel/contentmodel/tools/mcp/", "httpx2", "mcp", "import contentmodel.tools.mcp"),
    *(
        (f"adapters/contentmodel_adapters/{folder}/client.py", module, extra, CLIENT.format(make, api))
        for folder, module, extra, api in [
            ("anthropic/messages", "anthropic", "anthropic", "anthropic-messages"),
            ("anthropic/bedrock_converse", "boto3", "bedrock", "bedrock-converse"),
            ("anthropic/bedrock_converse", "botocore", "bedrock", "bedrock-converse"),
            ("mistral", "mistralai", "mistral", "mistral-chat"),
            ("ollama", "ollama", "ollama", "ollama-chat"),
            ("cohere", "cohere", "cohere", "cohere-chat"),
            ("openai/chat", "openai", "openai", "openai-chat"),
            ("openai/responses", "openai", "openai", "openai-responses"),
        ]
        for make in ("chat_client", "async_chat_client")
    ),
    ("adapters/contentmodel_adapters/google/clients.py", "google", "google",
     CLIENT.format("chat_client", "google-generate-content")),
    ("adapters/contentmodel_adapters/google/clients.py", "google", "google",
     CLIENT.format("async_chat_client", "google-interactions")),
    ("conformance/contentmodel_conformance/", "hypothesis", "conformance", KIT),
    ("conformance/contentmodel_conformance/", "typer", "conformance", KIT_CLI),
    ("conformance/contentmodel_conformance/", "rich", "conformance", KIT_CLI),
    ("conformance/contentmodel_conformance/testing.py", "pytest", "conformance",
     "import contentmodel_conformance as kit; kit.AdapterConformance"),
    ("conformance/contentmodel_conformance/server/", "anyio", "conformance", KIT_SERVER),
    ("conformance/contentmodel_conformance/server/", "starlette", "conformance", KIT_SERVER),
    ("conformance/contentmodel_conformance/server/", "uvicorn", "conformance", KIT_SERVER),
    ("conformance/contentmodel_conformance/captures/", "starlette", "conformance",
     "import sys; sys.argv[1:] = ['--version']; " + KIT_CLI),
    ("conformance/contentmodel_conformance/captures/vcr.py", "yaml", "captures",
     "from contentmodel_conformance.captures.vcr import load_yaml; load_yaml(b'')"),
    ("conformance/contentmodel_conformance/captures/bodies.py", "brotli", "captures", KIT_BODIES.format("br")),
    ("contentmodel/contentmodel/compression.py", "zstandard", "captures", KIT_BODIES.format("zstd")),
    ("conformance/contentmodel_conformance/oracles/", "pydantic", "conformance", KIT),
    ("conformance/contentmodel_conformance/oracles/", "anthropic", "anthropic", JUDGE.format("anthropic-messages")),
    ("conformance/contentmodel_conformance/oracles/", "botocore", "bedrock", JUDGE.format("bedrock-converse")),
    ("conformance/contentmodel_conformance/oracles/", "google", "google", JUDGE.format("google-generate-content")),
    ("conformance/contentmodel_conformance/oracles/", "mistralai", "mistral", JUDGE.format("mistral-chat")),
    ("conformance/contentmodel_conformance/oracles/", "openai", "openai", JUDGE.format("openai-chat")),
    ("conformance/contentmodel_conformance/oracles/", "cohere", "cohere", JUDGE.format("cohere-chat")),
    ("conformance/contentmodel_conformance/oracles/", "ollama", "ollama", JUDGE.format("ollama-chat")),
    ("conformance/contentmodel_conformance/coverage.py", "anthropic", "anthropic",
     "from contentmodel_conformance.coverage import sdk_types; sdk_types('anthropic-messages')"),
]  # fmt: skip

# Modules that are not imported by name, and several ways to need one module.
MORE: list[Row] = [
    ("", "psycopg", "postgresql", STORE.format(POSTGRESQL)),
    ("", "psycopg", "postgresql", ASYNC_STORE.format(POSTGRESQL)),
    ("", "psycopg", "postgresql", EXECUTOR.format("SqlExecutor", POSTGRESQL)),
    ("", "aiosqlite", "history", ASYNC_STORE.format(":memory:")),
    ("", "greenlet", "history", "import contentmodel.history"),
    ("", "sqlalchemy", "server", "import contentmodel.server"),
    ("", "jsonschema", "server", "import contentmodel.server"),
]

EXEMPT = {
    ("contentmodel/contentmodel/cli/gateway_agent.py", "uvicorn"): "the command imports gateway/serving.py first",
    ("contentmodel/contentmodel/gateway/stored_records.py", "sqlalchemy"): "the app imports contentmodel.history first",
    ("contentmodel/contentmodel/gateway/telemetry.py", "opentelemetry"): "without it, no spans are recorded",
    ("contentmodel/contentmodel/interop/pydantic.py", "pydantic_core"): "only pydantic calls these functions",
    ("contentmodel/contentmodel/tools/config/postgresql_times.py", "psycopg"): "only connections of psycopg use it",
    ("contentmodel/contentmodel/tools/mcp/bounds.py", "pydantic_core"): "a dependency of the package mcp",
    ("contentmodel/contentmodel/tools/schema.py", "pydantic_core"): "a dependency of pydantic",
    ("contentmodel/contentmodel/tools/schema.py", "typing_extensions"): "a dependency of pydantic",
    ("contentmodel/contentmodel/tools/validation.py", "referencing"): "a dependency of jsonschema",
    (
        "adapters/contentmodel_adapters/common/clients.py",
        "httpx2",
    ): "a dependency of the SDKs, which are imported first",
    ("adapters/contentmodel_adapters/cohere/client.py", "httpx"): "a dependency of the SDK",
    ("adapters/contentmodel_adapters/mistral/client.py", "httpx2"): "a dependency of the SDK",
    ("adapters/contentmodel_adapters/ollama/client.py", "httpx"): "a dependency of the SDK",
    ("conformance/contentmodel_conformance/oracles/accumulators.py", "httpx2"): "a dependency of the SDKs",
    ("conformance/contentmodel_conformance/oracles/shapes.py", "typing_extensions"): "a dependency of pydantic",
    ("conformance/contentmodel_conformance/oracles/validators.py", "typing_extensions"): "a dependency of pydantic",
    ("conformance/contentmodel_conformance/matrix/page.py", "markupsafe"): "a dependency of jinja2",
    ("conformance/contentmodel_conformance/matrix/page.py", "jinja2"): "`_html` in cli_matrix.py names the extra",
    ("conformance/contentmodel_conformance/page.py", "jinja2"): "tests/test_matrix.py",
    ("conformance/contentmodel_conformance/plugin.py", "pytest"): "only pytest imports its plugins",
    ("conformance/contentmodel_conformance/laws.py", "jsonschema"): "`Subject.no_jsonschema` skips the check",
}


# Modules that no extra installs.
WITHOUT_EXTRA = [
    ("MySQLdb", EXECUTOR.format("SqlExecutor", "mysql://localhost/shop")),
    ("pymysql", EXECUTOR.format("SqlExecutor", "mysql+pymysql://localhost/shop")),
    ("psycopg2", EXECUTOR.format("SqlExecutor", "postgresql+psycopg2://localhost/shop")),
    ("pyodbc", EXECUTOR.format("SqlExecutor", "mssql://localhost/shop")),
]


def imports() -> Iterator[tuple[str, str]]:
    """Yield the file and the module of each import of a third-party module, except for type checkers."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text()
            nodes = list(ast.walk(ast.parse(source)))
            if "TYPE_CHECKING" in source:
                for node in nodes:
                    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                        node.body = []
                nodes = list(ast.walk(nodes[0]))
            for node in nodes:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
                for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - OURS - REQUIRED:
                    yield str(path.relative_to(ROOT)), name


def test_every_third_party_import_has_a_row_or_is_exempt() -> None:
    uses = set(imports())
    assert [use for use in sorted(uses - EXEMPT.keys()) if not any(_covers(row, *use) for row in ROWS)] == []
    assert sorted(EXEMPT.keys() - uses) == []
    assert [row[:2] for row in ROWS if not any(_covers(row, *use) for use in uses)] == []


def _covers(row: Row, path: str, module: str) -> bool:
    return path.startswith(row[0]) and module == row[1]


def cases() -> Iterator[Any]:
    """Yield each row. The first one is fast: every row starts a process of its own."""
    for number, row in enumerate((*ROWS, *MORE)):
        yield pytest.param(row, id=f"{row[1]}-{row[2]}", marks=[pytest.mark.slow] if number else [])


@pytest.mark.parametrize("row", list(cases()))
def test_missing_module_is_reported_with_its_extra(row: Row) -> None:
    _, module, extra, program = row
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    command = [sys.executable, "-W", "ignore", "-c", f"import sys; sys.modules[{module!r}] = None\n{program}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stderr.strip().rpartition("\n")[2]
    assert done.returncode != 0
    assert f"this needs {module}" in last
    assert last.endswith(f'which is not installed: pip install "contentmodel[{extra}]"')


@pytest.mark.parametrize(("module", "program"), WITHOUT_EXTRA, ids=[module for module, _ in WITHOUT_EXTRA])
def test_missing_module_that_no_extra_installs_is_reported(module: str, program: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", f"import sys; sys.modules[{module!r}] = None\n{program}"]
    last = subprocess.run(command, capture_output=True, text=True, check=False).stderr.strip().rpartition("\n")[2]
    assert last.startswith("contentmodel.errors.MissingExtraError: ")
    assert last.endswith(f"this needs {module}, which is not installed: install the package that has this module")
