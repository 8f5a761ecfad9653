"""The adapter of docs/writing-an-adapter.md: the built-in `mistral-chat` with other names, which the kit accepts."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import contentmodel
from conftest import PROFILE
from contentmodel_conformance import Report, check_adapter
from contentmodel_conformance.checks import CHECKS, LAWS

TESTS = Path(__file__).parent
WORKED = TESTS / "worked"
"""The files of the page beside those of the adapter: the project, an example and the tests."""
BUILT_IN = TESTS.parent / "adapters" / "contentmodel_adapters" / "mistral"
PACKAGE = "my_mistral_chat"
PAGE = TESTS.parent / "docs" / "writing-an-adapter.md"


def expected_files() -> dict[str, str]:
    """Return the files that the page must have. Its names differ from those of the built-in adapter."""
    files = {path.name: path.read_text() for path in WORKED.iterdir() if path.suffix in (".py", ".toml", ".json")}
    for path in BUILT_IN.glob("*.py"):
        # The client needs more than the interface for authors.
        if path.name != "client.py":
            text = path.read_text().replace("contentmodel_adapters.mistral", PACKAGE)
            files[f"{PACKAGE}/{path.name}"] = text.replace("mistral-chat", "my-mistral-chat")
    return files


FILES = expected_files()
FIRST = "Requests of other APIs"
"""The heading that follows the first version of the adapter."""
OTHERS = ("anthropic-messages", "openai-chat")
SLOW = {"bounds", "precision"}


def files_of(page: str) -> dict[str, str]:
    """Return the files of a page: the blocks of each in order. Later blocks replace one that is marked "at first"."""
    files: dict[str, str] = defaultdict(str)
    first: dict[str, str] = {}
    for title, block in re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', page, re.DOTALL):
        name, _, place = title.partition(",")
        if place:
            first[name] = block
        else:
            files[name] += ("\n\n" if files[name] else "") + block
    return {**first, **files}


def files_before(heading: str, folder: Path) -> Path:
    """Write the files that the page has before a heading, and return the folder."""
    for name, text in files_of(PAGE.read_text().partition(f"\n## {heading}\n")[0]).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the page."""
    return files_before("(the end)", tmp_path_factory.mktemp("worked"))


@contextmanager
def imported(folder: Path, name: str = PACKAGE) -> Iterator[Any]:
    """Import a module from a folder, and remove it and its package from `sys.modules` afterwards."""

    def forget() -> None:
        for module in [module for module in sys.modules if module.partition(".")[0].startswith(PACKAGE)]:
            del sys.modules[module]

    forget()
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        forget()


def checked(module: Any, *only: str, **settings: Any) -> Report:
    """Return the report of the class of tests in a module, or of its adapter."""
    tests = getattr(module, "TestMistralChat", None)
    if tests is not None:
        settings |= {name: getattr(tests, name) for name in ("payloads", "examples", "limits")}
    others = [contentmodel.adapter(api) for api in OTHERS]
    return check_adapter((tests or module).adapter, only=only, others=others, **settings)


def failures(report: Report) -> dict[str, str]:
    """Return the checks that fail, each with its first finding."""
    return {one.check: one.findings[0].detail for one in report.outcomes if one.status == "failed"}


# -- the page ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_page_of_worked_adapter_has_the_file(name: str) -> None:
    assert files_of(PAGE.read_text())[name] == FILES[name]


def test_page_of_worked_adapter_has_no_other_files() -> None:
    assert set(files_of(PAGE.read_text())) == set(FILES)


def test_worked_adapter_imports_only_the_interface_for_authors() -> None:
    text = "\n".join(text for name, text in FILES.items() if name.startswith(PACKAGE + "/"))
    modules = set(re.findall(r"^(?:from|import) ([\w.]+)", text, re.MULTILINE))
    own = {module for module in modules if module.partition(".")[0] == PACKAGE}
    assert modules - own == {"__future__", "collections.abc", "typing", "contentmodel", "contentmodel.authoring"}


def requests() -> list[dict[str, Any]]:
    """Return the request of Anthropic that the page converts, and the request of Mistral that it checks."""
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)]


def losses_of(page: str) -> list[tuple[int, str, str]]:
    """Return the rows of the tables of losses on the page: count, kind, and the first line of the text."""
    rows = re.findall(r"^ +(\d+)   (dropped|degraded|moved|synthesized) +(.*)$", page, re.MULTILINE)
    return [(int(count), kind, text) for count, kind, text in rows]


def test_first_version_of_worked_adapter_keeps_payloads_and_lacks_streams(tmp_path: Path) -> None:
    with imported(files_before(FIRST, tmp_path)) as module:
        found = failures(checked(module, "face", "detection", "identity"))
        with pytest.raises(contentmodel.DecodeError, match="my-mistral-chat has no streams"):
            module.adapter.stream_decoder()
    assert found == {}


def test_first_version_of_worked_adapter_has_losses_of_the_page(tmp_path: Path) -> None:
    with imported(files_before(FIRST, tmp_path)) as module:
        request = contentmodel.adapter("anthropic-messages").decode_request(requests()[0])
        losses = module.adapter.encode_request(request).losses
    on_page = losses_of(PAGE.read_text())[:2]
    assert sorted(f"{loss.what}: {loss.why}" for loss in losses) == sorted(text for _, _, text in on_page)


def test_worked_adapter_converts_the_request_with_losses_of_the_page(worked: Path) -> None:
    with imported(worked) as module:
        request = contentmodel.adapter("anthropic-messages").decode_request(requests()[0])
        encoded = module.adapter.encode_request(request, model="mistral-large-latest")
        assert module.adapter.check_request(encoded.payload) == []
        losses = [loss for loss in encoded.losses if loss.path != "$.model"]
    roles = [message["role"] for message in encoded.payload["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert sorted(loss.kind for loss in losses) == ["degraded", "degraded", "synthesized"]
    on_page = losses_of(PAGE.read_text())[2:]
    assert [(count, kind) for count, kind, _ in on_page] == [(2, "degraded"), (1, "synthesized")]


def test_rules_of_worked_adapter_report_violations_of_the_page(worked: Path) -> None:
    refused = requests()[1]
    user, call, result, _ = refused["messages"]
    two = {**call, "tool_calls": call["tool_calls"] * 2}
    tool = {"function": {"name": "ü"}}
    with imported(worked) as module:
        names = [f"{one.severity} {one.rule} at {one.path}" for one in module.adapter.check_request(refused)]
        unanswered = module.adapter.check_request({"messages": [user, two, result]})
        badly_named = module.adapter.check_request({"model": "m", "messages": [], "tools": [tool]})
    assert all(f"\n{name}\n" in PAGE.read_text() for name in names)
    assert len(names) == 3
    assert {"model-required", "calls-have-results"} <= {one.rule for one in unanswered}
    assert [one.rule for one in badly_named] == ["tool-names-match-pattern"]


# -- the kit -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_worked_adapter_passes_checks_of_the_kit(worked: Path) -> None:
    """Check all laws except the slowest with two other adapters. The report on the page has all laws.

    Few examples are enough: `test_conformance` tries the same code as `mistral-chat`.
    """
    with imported(worked, f"{PACKAGE}_tests") as module:
        report = checked(module, *(law for law in LAWS if law not in SLOW), tries=None if PROFILE == "deep" else 3)
    assert failures(report) == {}
    assert sum(one.status == "passed" for one in report.outcomes) > 70


def test_conformance_class_of_the_page_has_tests(worked: Path) -> None:
    with imported(worked, f"{PACKAGE}_tests") as module:
        assert callable(module.TestMistralChat.test_identity_table)


def test_streams_of_worked_adapter_are_independent_of_cuts(worked: Path) -> None:
    with imported(worked, f"{PACKAGE}_tests") as module:
        assert failures(checked(module, "stream-cuts/written")) == {}


def test_kit_finds_the_mistake_of_the_page(tmp_path: Path) -> None:
    folder = files_before("(the end)", tmp_path)
    file = folder / PACKAGE / "stream.py"
    (mistake,) = re.findall(r"```text\n(EMPTY: .*?)```", PAGE.read_text(), re.DOTALL)
    good = re.compile(r"def without_text\(.*?\n\n\n", re.DOTALL)
    assert good.search(file.read_text())
    file.write_text(good.sub(lambda _: f"{mistake}\n\n", file.read_text()))
    with imported(folder, f"{PACKAGE}_tests") as module:
        assert set(failures(checked(module, "stream-cuts/written"))) == {"stream-cuts/written"}


@pytest.mark.slow
@pytest.mark.skipif("CONTENTMODEL_CORPUS" not in os.environ, reason="no recorded traffic")
def test_recorded_traffic_survives_a_round_trip_through_worked_adapter(worked: Path) -> None:
    # Some parts have no row by design.
    names = [name for name in CHECKS if name.endswith("/recorded") and name != "known/recorded"]
    with imported(worked, f"{PACKAGE}_tests") as module:
        report = checked(module, *names, corpus=os.environ["CONTENTMODEL_CORPUS"])
    assert failures(report) == {}


# -- the distribution --------------------------------------------------------------------------------------------------


def run(*words: str, folder: Path, path: Path, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `python -m ...` in a folder, with another folder of installed packages."""
    environment = {**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    environment["PYTHONPATH"] = os.pathsep.join([str(path), environment.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, input=given, capture_output=True, text=True, encoding="utf-8", check=False
    )


def installed(target: Path, source: Path) -> Path:
    """Return a folder with the distribution of a folder installed, by pip if its build backend is there.

    Otherwise the package and the metadata are copied as an installer would: nothing is downloaded.
    """
    if find_spec("hatchling") is not None:
        words = ("--no-deps", "--no-build-isolation", "--no-index", "--target", str(target), str(source))
        done = run("pip", "install", "--quiet", *words, folder=source, path=source)
        assert done.returncode == 0, done.stderr
        return target
    project = tomllib.loads((source / "pyproject.toml").read_text())
    for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        shutil.copytree(source / name, target / name)
    about = project["project"]
    folder = target / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    groups = about["entry-points"].items()
    lines = [line for group, points in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return target


@pytest.mark.slow
def test_convert_command_finds_the_installed_worked_adapter(worked: Path, tmp_path: Path) -> None:
    path = installed(tmp_path / "installed", worked)
    words = ("contentmodel.cli", "convert", "-", "--from", "my-mistral-chat", "--to", "openai-chat")
    done = run(*words, folder=tmp_path, path=path, given=(WORKED / "request.json").read_text())
    assert done.returncode == 0, done.stderr
    messages = json.loads(done.stdout)["messages"]
    assert messages[0] == {"role": "system", "content": "Be brief."}
    assert messages[-1] == {"role": "user", "content": "Thanks."}


# -- the first adapter -------------------------------------------------------------------------------------------------

HELLO = TESTS.parent / "docs" / "hello-adapter.md"


def test_first_adapter_has_sixty_lines_and_passes_the_kit(tmp_path: Path) -> None:
    """Check the adapter of the page with one other adapter. The page has the result of all checks."""
    text = re.findall(r"```python\n(.*?)```", HELLO.read_text(), re.DOTALL)[0]
    assert len(text.splitlines()) <= 60
    (tmp_path / f"{PACKAGE}_hello.py").write_text(text)
    with imported(tmp_path, f"{PACKAGE}_hello") as module:
        laws = ("face", "identity", "disturbance", "accounting/misfits", "stream-cuts", "stream-crossing", "errors")
        others = [contentmodel.adapter("openai-chat")]
        report = check_adapter(module.adapter, only=laws, others=others, target="my_ai21")
    assert failures(report) == {}
    assert {"identity/table", "stream-crossing/foreign"} <= {
        one.check for one in report.outcomes if one.status == "passed"
    }
