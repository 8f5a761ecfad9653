"""A run of several nights leaves out the tests that passed before, on the same commit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
GIVEN = """\
import pytest

@pytest.mark.parametrize("number", range(3))
def test_number(number):
    assert number != 1 or {passes}

@pytest.fixture
def broken():
    yield
    assert {passes}

@pytest.mark.xdist_group("one")
def test_teardown(broken): pass

@pytest.mark.skip
def test_skipped(): pass
"""
CONFTEST = """\
import os
from resuming import resume

def pytest_configure(config):
    resume(config, os.environ["PROGRESS"] or None, "quick")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The working tree of a project with tests."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / ".gitignore").write_text("__pycache__\nprogress\n.pytest_cache\n")
    git(tmp_path, "init", "--quiet")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def commit(folder: Path, *, passes: bool) -> None:
    (folder / "test_a.py").write_text(GIVEN.format(passes=passes))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "a")


def outcome(folder: Path, *words: str, progress: str = "progress") -> tuple[int, str]:
    """Run the tests, and return the exit code and the last line, without the time."""
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    environment = {**os.environ, "PROGRESS": progress, "PYTHONPATH": path, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[-1].strip("= ").partition(" in ")[0]


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("-n", "2", "--dist", "loadgroup")], ids=["alone", "workers"])
def test_passed_tests_are_left_out_and_failed_ones_run_again(words: tuple[str, ...], project: Path) -> None:
    commit(project, passes=False)
    assert outcome(project, *words) == (1, "1 failed, 3 passed, 1 skipped, 1 error")
    code, line = outcome(project, *words)
    assert code == 1
    assert line.startswith("1 failed, 1 passed")
    assert line.endswith("1 error")


@pytest.mark.slow
def test_each_commit_has_its_own_progress(project: Path) -> None:
    commit(project, passes=False)
    outcome(project)
    commit(project, passes=True)
    assert outcome(project) == (0, "4 passed, 1 skipped")
    assert outcome(project) == (0, "5 deselected")


@pytest.mark.slow
def test_run_without_folder_or_of_changed_files_is_not_resumed(project: Path) -> None:
    commit(project, passes=True)
    outcome(project)
    assert outcome(project, progress="") == (0, "4 passed, 1 skipped")
    (project / "new.py").touch()
    assert outcome(project) == (0, "4 passed, 1 skipped, 1 warning")
    assert len(list((project / "progress").iterdir())) == 1
