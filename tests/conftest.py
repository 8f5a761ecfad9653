"""Shared configuration and fixtures: the hypothesis profile, the markers, recorded traffic, and PostgreSQL."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import ssl
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from chosen_formats import chosen
from resuming import resume
from services.postgresql import NotInstalledError, cluster

APIS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")


def slow(*values: Any) -> Any:
    """Return the values of a slow case, for `parametrize`."""
    return pytest.param(*values, marks=pytest.mark.slow)


NODE = Path(__file__).parent / "node"
"""The programs that run in Node, beside the npm packages that `make node` installs."""
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (NODE / "node_modules").is_dir(),
    reason="Node or its packages are missing: run `make node`",
)


def payloads(name: str, kind: str = "request") -> dict[str, Any]:
    """Return the payloads of `payloads/NAME.jsonl` by their names: requests, or answers."""
    lines = map(json.loads, (Path(__file__).parent / "payloads" / f"{name}.jsonl").read_text().splitlines())
    return {line["name"]: line["payload"] for line in lines if line.get("kind", "request") == kind}


DATABASES = ("sqlite", slow("postgresql"))
PROFILE = os.environ.get("CONTENTMODEL_PROFILE", "quick")

# No deadline and no health check on time: the speed of the machine must not fail tests.
_ANY_MACHINE: dict[str, Any] = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("quick", max_examples=25, derandomize=True, **_ANY_MACHINE)
settings.register_profile("deep", max_examples=500, **_ANY_MACHINE)
settings.load_profile(PROFILE)
FEW = settings(max_examples=100 if PROFILE == "deep" else 5)
"""The settings of a costly property that is tried for many parameters."""


def share(values: Sequence[Any], number: int, of: int = 3) -> Sequence[Any]:
    """Return the share of some values that a costly test with this number tries: all of them in a deep run."""
    return values if PROFILE == "deep" else values[number % of :: of]


# A full garbage collection visits every imported module, which takes half a second: a tenth of the time of all tests.
gc.set_threshold(*gc.get_threshold()[:2], 1000)

# Every HTTP client loads the certificates of the system, which takes 20 ms. No test uses TLS, so one certificate is
# enough. Clients that ignore the environment read the default paths.
_CERTIFICATE = str(Path(__file__).parent / "services" / "certificate.pem")
os.environ["SSL_CERT_FILE"] = _CERTIFICATE
_PATHS = ssl.get_default_verify_paths()._replace(openssl_cafile=_CERTIFICATE)
ssl.get_default_verify_paths = lambda: _PATHS


def pytest_configure(config: pytest.Config) -> None:
    """Resume a run of several nights. Restore the handler of SIGINT: child processes of a background job ignore it."""
    resume(config, os.environ.get("CONTENTMODEL_PROGRESS"), PROFILE)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case with bytes after its argument: compressed bytes contain the time, and every worker needs one name."""
    return argname if isinstance(val, bytes) else None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print which formats the slow tests try whole. The header of pytest is not printed in quiet runs."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and session.config.option.markexpr not in ("", "not slow"):
        terminal.write_line(str(chosen()))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a database server or a browser, and those of the nightly run, as slow."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if not {"postgresql", "browser"}.isdisjoint(fixtures) or item.get_closest_marker("nightly"):
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """Exclude what exists now from garbage collections: visiting every imported module takes half a second."""
    gc.freeze()


def _corpus() -> Path | None:
    folder = os.environ.get("CONTENTMODEL_CORPUS")
    return Path(folder) if folder else None


@pytest.fixture(autouse=True)
def registered_types() -> Iterator[None]:
    """Forget the content types that a test registers."""
    from contentmodel.content.registering import REGISTERED

    before = dict(REGISTERED)
    yield
    REGISTERED.clear()
    REGISTERED.update(before)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of recorded traffic. If it is not set, tests that use it are skipped."""
    folder = _corpus()
    if folder is None:
        pytest.skip("CONTENTMODEL_CORPUS is not set")
    return folder


def records(api: str, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the recorded exchanges of one API and kind ("request", "response", "stream", "error").

    Yields nothing if CONTENTMODEL_CORPUS is not set, or if there are none of this kind, so that `list(records(...))`
    works in `parametrize`. Raises LookupError if the corpus has nothing of the API.
    """
    folder = _corpus()
    if folder is None:
        return
    recorded = folder / "recorded"
    if not any(recorded.glob(f"{api}.*.jsonl")):
        raise LookupError(f"nothing recorded of {api} in {recorded}")
    path = recorded / f"{api}.{kind}.jsonl"
    if path.exists():
        with path.open("rb") as lines:
            yield from map(json.loads, lines)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The SQLAlchemy URL of a PostgreSQL: CONTENTMODEL_POSTGRESQL, or a temporary cluster for this session.

    If PostgreSQL is not installed, tests that use it are skipped.
    """
    given = os.environ.get("CONTENTMODEL_POSTGRESQL")
    if given:
        yield given
        return
    with ExitStack() as stack:
        try:
            url = stack.enter_context(cluster())
        except NotInstalledError as error:
            pytest.skip(f"{error} (or set CONTENTMODEL_POSTGRESQL to the URL of one)")
        yield url


@contextmanager
def fresh_database(server: str) -> Iterator[str]:
    """Yield the SQLAlchemy URL of a new, empty PostgreSQL database. It is dropped at the end, even if in use."""
    from sqlalchemy import create_engine, make_url, text
    from sqlalchemy.pool import NullPool

    name = f"test_{uuid.uuid4().hex}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0"))
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def database(postgresql: str) -> Iterator[str]:
    """The SQLAlchemy URL of a fresh, empty PostgreSQL database."""
    with fresh_database(postgresql) as url:
        yield url


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run headless Chromium on a file or a URL: `browser(page, *options)` returns its standard output."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium on PATH (Debian: apt-get install chromium)")
    profile = tmp_path_factory.mktemp("profile")

    def run(page: Path | str, *options: str) -> str:
        fixed = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run")
        arguments = [
            found,
            *fixed,
            f"--user-data-dir={profile}",
            *options,
            page.as_uri() if isinstance(page, Path) else page,
        ]
        return subprocess.run(arguments, capture_output=True, check=True, timeout=120).stdout.decode()

    return run


@contextmanager
def installed_adapter(folder: Path, name: str, module: str) -> Iterator[None]:
    """Install the adapter of a module for a while, as a distribution in a folder."""
    import importlib

    from contentmodel.auditing import vocabulary_of_api
    from contentmodel.cli.installed import points

    registry = importlib.import_module("contentmodel.adapter")
    caches: tuple[Any, ...] = (registry._entry_points, registry.adapter, points, vocabulary_of_api)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[contentmodel.adapters]\n{name} = {module}:adapter\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for cached in caches:
            cached.cache_clear()
        yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture(scope="module")
def chat_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Install the format of `chat_log`, whose documents are JSON Lines."""
    import chat_log

    with installed_adapter(tmp_path_factory.mktemp("installed"), chat_log.API, "chat_log"):
        yield chat_log.adapter


@pytest.fixture(scope="module")
def upstream() -> Iterator[Any]:
    """Run an upstream for gateways that sends any bytes."""
    # Few test files need it.
    from raw_upstreams import raw_upstream

    with raw_upstream() as running:
        yield running
