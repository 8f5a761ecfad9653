"""The worked adapter of docs/writing-an-adapter.md: the module is built from the page, and packaged like ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
WORKED = TESTS / "worked"
PAGE = TESTS.parent / "docs" / "writing-an-adapter.md"
FILES = ("chat_log.py", "chat_log_tests.py", "log.json", "pyproject.toml")


def files_of(page: str) -> dict[str, str]:
    """The files of a page: their blocks one below the other, the last line last; methods go on in their class."""
    files: dict[str, str] = defaultdict(str)
    ends: dict[str, str] = {}
    for title, block in re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', page, re.DOTALL):
        name, _, place = title.partition(",")
        if place:
            ends[name] = block
        else:
            between = "\n" if block.startswith(" ") else "\n\n"
            files[name] += (between if files[name] else "") + block
    return {name: text + (f"\n\n{ends[name]}" if name in ends else "") for name, text in files.items()}


def run(
    *words: str, folder: Path, path: Path | None = None, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m ...` in a folder, with another folder of installed packages."""
    environment = {**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    environment.pop("CONTENTMODEL_CORPUS", None)
    if path is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(path), environment.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, input=given, capture_output=True, text=True, encoding="utf-8", check=False
    )


# -- the page ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_the_page_has_the_file(name: str) -> None:
    assert files_of(PAGE.read_text())[name] == (WORKED / name).read_text()


def test_the_page_has_no_other_files() -> None:
    assert set(files_of(PAGE.read_text())) == set(FILES)


def test_the_module_is_short() -> None:
    assert len((WORKED / "chat_log.py").read_text().splitlines()) < 200


def until(heading: str, folder: Path) -> Path:
    """A folder with the files as the page has them before a heading."""
    for name, text in files_of(PAGE.read_text().partition(f"\n## {heading}\n")[0]).items():
        (folder / name).write_text(text)
    return folder


def failures(folder: Path, target: str, *only: str) -> dict[str, str]:
    """Return the checks that fail, each with its first finding."""
    options = [word for name in only for word in ("--only", name)]
    found = run("contentmodel_conformance", "run", target, *options, "--report", "report.json", folder=folder)
    report = json.loads((folder / "report.json").read_text())
    failed = {one["check"]: one["findings"][0]["detail"] for one in report["outcomes"] if one["status"] == "failed"}
    assert found.returncode == (1 if failed else 0), found.stderr
    return failed


@pytest.mark.slow
def test_the_adapter_without_its_methods_fails_as_the_page_says(tmp_path: Path) -> None:
    found = failures(until("What every adapter says", tmp_path), "chat_log", "face", "detection", "identity/table")
    assert set(found) == {"face/adapter", "detection/written"}
    page = PAGE.read_text()
    assert all(detail.partition(" (")[0] in page for detail in found.values())


@pytest.mark.slow
def test_the_adapter_without_its_passes_fails_nothing_and_loses_instructions(tmp_path: Path) -> None:
    folder = until("What comes from elsewhere", tmp_path)
    assert failures(folder, "chat_log", "face", "detection", "settling", "section", "honesty") == {}
    (line,) = re.findall(r"^ +1 +dropped +(.*)$", PAGE.read_text(), re.MULTILINE)
    request = {"model": "m", "max_tokens": 9, "system": "Be brief.", "messages": [{"role": "user", "content": "Hi."}]}
    code = (
        "import json, sys, contentmodel, chat_log; source = contentmodel.adapter('anthropic-messages'); "
        "encoded = chat_log.adapter.encode_request(source.decode_request(sys.stdin.read())); "
        "print(*(f'{loss.what}: {loss.why}' for loss in encoded.losses))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, input=json.dumps(request), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == line


@pytest.mark.slow
def test_the_tempting_line_is_found(tmp_path: Path) -> None:
    folder = until("(the end)", tmp_path)
    module = folder / "chat_log.py"
    (tempting,) = re.findall(r"^return .* if message\.contents\]$", PAGE.read_text(), re.MULTILINE)
    good = tempting.replace(" if message.contents", "")
    assert good in module.read_text()
    module.write_text(module.read_text().replace(good, tempting))
    assert set(failures(folder, "chat_log_tests:TestChatLog", "disturbance")) == {"disturbance/anywhere"}


@pytest.mark.slow
def test_lines_that_change_when_others_follow_are_found(tmp_path: Path) -> None:
    """Where a log has its conversation is found out: no format has to call it as others do."""
    folder = until("(the end)", tmp_path)
    module = folder / "chat_log.py"
    good = "return [LINE.encode(message, context) for message in value]"
    assert good in module.read_text()
    module.write_text(
        module.read_text().replace(good, good.replace("context) for", 'context) | {"of": len(value)} for'))
    )
    assert "prefixes/home" in failures(folder, "chat_log_tests:TestChatLog", "prefixes")


@pytest.mark.slow
def test_the_tests_of_the_page_run(tmp_path: Path) -> None:
    """What is tried on its own payloads and within its limits: nothing fails."""
    folder = until("(the end)", tmp_path)
    laws = ("identity", "purity", "model-json", "disturbance", "settling", "section", "prefixes/home", "pairing")
    assert failures(folder, "chat_log_tests:TestChatLog", *laws) == {}
    collected = run("pytest", "-q", "-p", "no:cacheprovider", "chat_log_tests.py", "-k", "face or table", folder=folder)
    assert collected.returncode == 0, collected.stdout


# -- the distribution --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the worked distribution installed, by pip where its build backend is there: nothing is fetched.

    Where it is not, the module and the metadata are put there as an installer would.
    """
    target, source = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("source")
    for name in FILES:
        shutil.copy(WORKED / name, source)
    if find_spec("hatchling") is not None:
        words = ("--no-deps", "--no-build-isolation", "--no-index", "--target", str(target), str(source))
        done = run("pip", "install", "--quiet", *words, folder=source)
        assert done.returncode == 0, done.stderr
        return target
    project = tomllib.loads((WORKED / "pyproject.toml").read_text())
    for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]:
        shutil.copy(WORKED / name, target)
    about = project["project"]
    folder = target / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    groups = about["entry-points"].items()
    lines = [line for group, points in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return target


@pytest.mark.slow
def test_the_adapter_is_found_by_its_entry_point(installed: Path, tmp_path: Path) -> None:
    done = run("contentmodel.cli", "apis", "--json", folder=tmp_path, path=installed)
    assert done.returncode == 0, done.stderr
    assert "chat-log" in done.stdout
    assert "chat-log" not in run("contentmodel.cli", "apis", "--json", folder=tmp_path).stdout


@pytest.mark.slow
def test_the_command_detects_and_converts_it(installed: Path, tmp_path: Path) -> None:
    log = (WORKED / "log.json").read_text()
    detected = run("contentmodel.cli", "detect", "-", folder=tmp_path, path=installed, given=log)
    assert detected.stdout.split() == ["chat-log", "request"]
    there = run("contentmodel.cli", "convert", "-", "--to", "openai-chat", folder=tmp_path, path=installed, given=log)
    assert there.returncode == 0, there.stderr
    assert json.loads(there.stdout)["messages"][0] == {"role": "system", "content": "Be brief."}
    back = run(
        "contentmodel.cli", "convert", "-", "--to", "chat-log", folder=tmp_path, path=installed, given=there.stdout
    )
    lines = json.loads(log)["lines"]
    del lines[1]["seat"]
    assert json.loads(back.stdout)["lines"] == lines


@pytest.mark.slow
def test_it_ends_in_a_green_report(installed: Path, tmp_path: Path) -> None:
    done = run("contentmodel_conformance", "run", "chat-log", folder=tmp_path, path=installed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 fail," in done.stdout
