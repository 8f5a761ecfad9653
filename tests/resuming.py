"""Resume a run of tests that takes several nights: leave out the tests that passed before, on the same commit.

CONTENTMODEL_PROGRESS is a folder, with one file for each commit and profile. The file has the id of every test that
passed or was skipped. Failed tests run again. A run of changed files is not resumed, and leaves no file.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest


class Resuming:
    """A plugin of pytest. The process that prints the results writes the file, and workers leave out its tests."""

    def __init__(self, passed: frozenset[str], file: Path | None) -> None:
        self.passed = passed
        self.file = file
        """The file to write; None in workers."""
        self._failed: set[str] = set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give every worker the same tests, also one that is started late."""
        node.workerinput["passed"] = sorted(self.passed)

    # After pytest-xdist, which adds the group of a test to its id.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        left_out = [item for item in items if item.nodeid in self.passed]
        items[:] = [item for item in items if item.nodeid not in self.passed]
        config.hook.pytest_deselected(items=left_out)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None and self.file is not None:
            terminal.write_line(f"{len(self.passed)} tests passed before ({self.file.name})")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.when == "teardown" and report.nodeid not in self._failed and self.file is not None:
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(f"{report.nodeid}\n")

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.passed:
            session.exitstatus = pytest.ExitCode.OK


def resume(config: pytest.Config, folder: str | None, name: str) -> None:
    """Register the plugin, if there is a folder and the files are those of a commit."""
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        if "passed" in worker:
            config.pluginmanager.register(Resuming(frozenset(worker["passed"]), None))
        return
    if not folder:
        return
    commit = commit_of(config.rootpath)
    if commit is None:
        text = "this run cannot be resumed: it is not one of a commit, because files were changed or there is no git"
        config.issue_config_time_warning(pytest.PytestConfigWarning(text), 2)
    else:
        file = config.rootpath / folder / f"{commit}-{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        passed = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        config.pluginmanager.register(Resuming(frozenset(passed), file))


def commit_of(root: Path) -> str | None:
    """Return the commit whose files a working tree has; None if it has others, or if there is no git."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(root), *words]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout.strip()

    try:
        return None if git("status", "--porcelain") else git("rev-parse", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return None
