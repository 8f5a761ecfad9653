"""What every test may rely on: the hypothesis profile, the deep marker, the recorded traffic, and a PostgreSQL."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from services.postgresql import NotInstalledError, cluster

APIS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
PROFILE = os.environ.get("CONTENTMODEL_PROFILE", "quick")

# How fast or busy the machine is, is no verdict on the code: hence no deadline, and no health check on time.
_ANY_MACHINE: dict[str, Any] = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("quick", max_examples=25, derandomize=True, **_ANY_MACHINE)
settings.register_profile("deep", max_examples=2500, **_ANY_MACHINE)
settings.load_profile(PROFILE)


def pytest_configure() -> None:
    """What a shell starts in the background is deaf to interrupts, and so is what that starts in its turn."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if PROFILE == "deep":
        return
    skip = pytest.mark.skip(reason="runs only with CONTENTMODEL_PROFILE=deep")
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(skip)


def _corpus() -> Path | None:
    folder = os.environ.get("CONTENTMODEL_CORPUS")
    return Path(folder) if folder else None


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of recorded traffic. Tests that ask for it are skipped where there is none."""
    folder = _corpus()
    if folder is None:
        pytest.skip("CONTENTMODEL_CORPUS is not set")
    return folder


def records(api: str, kind: str) -> Iterator[dict[str, Any]]:
    """Recorded exchanges of one API and kind ("request", "response", "stream", "error"), as they were stored.

    None where CONTENTMODEL_CORPUS is not set, or the corpus has none of this kind, so that
    `list(records(...))` can stand in `parametrize`; an API that the corpus does not know is an error.
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
    """The SQLAlchemy URL of a PostgreSQL: CONTENTMODEL_POSTGRESQL, or a throw-away cluster started for this session.

    Tests that ask for it are skipped where none is installed.
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
    """The SQLAlchemy URL of a new, empty database of a PostgreSQL; dropped at the end, whoever is still connected."""
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
    """Runs headless Chromium over a page: `browser(path, *options)` gives what it prints."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium on PATH (Debian: apt-get install chromium)")
    profile = tmp_path_factory.mktemp("profile")

    def run(path: Path, *options: str) -> str:
        fixed = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run")
        arguments = [found, *fixed, f"--user-data-dir={profile}", *options, path.as_uri()]
        return subprocess.run(arguments, capture_output=True, check=True, timeout=120).stdout.decode()

    return run
