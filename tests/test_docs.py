"""Documentation: the code of the README and of the pages runs, and the generated pages are up to date."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer.testing

import contentmodel
from contentmodel.cli.app import app
from contentmodel.content import AIContent, Protected
from contentmodel.events import BlockDelta, StreamEvent
from contentmodel.interop import Model
from contentmodel_conformance import pages
from contentmodel_conformance.auto_fixes import AUTO_FIXES
from contentmodel_conformance.matrix import Matrix
from contentmodel_conformance.model_page import content_page, event_page, meaning_of

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
COMMITTED = [page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if page.name not in pages.SITE_ONLY]
EXAMPLE = ROOT / "examples" / "agent_turns.anthropic.json"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def pages_of_python() -> list[Any]:
    """Return the pages with Python blocks. Slow pages run conformance checks or servers."""
    slow = dict.fromkeys(("conformance.md", "mcp.md"), pytest.mark.slow)
    found = [page for page in PAGES if blocks(page, "python")]
    return [pytest.param(page, id=page.name, marks=slow.get(page.name, ())) for page in found]


@pytest.mark.parametrize("page", pages_of_python())
def test_python_blocks_of_page_run(page: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Run a page's blocks in order. `payload` is a request to convert, as the pages assume."""
    monkeypatch.chdir(ROOT)
    payload = json.loads(EXAMPLE.read_text())
    request = contentmodel.adapter("anthropic-messages").decode_request(payload)
    encoded = contentmodel.convert(payload, target="openai-chat")
    names: dict[str, Any] = {"contentmodel": contentmodel, "payload": payload, "request": request, "encoded": encoded}
    for number, block in enumerate(blocks(page, "python")):
        try:
            exec(compile(block, f"{page.name} block {number}", "exec", dont_inherit=True), names)
        except contentmodel.LossError:
            # The page shows how to refuse losses, and this transcript has some.
            assert 'on_loss="raise"' in block
    printed = capsys.readouterr().out.splitlines()
    for line in re.findall(r"^# (dropped .*)$", page.read_text(), re.MULTILINE):
        assert line in printed


def commands_with_output(page: Path) -> list[tuple[str, list[str]]]:
    """Return the commands of a page that read the examples and show their output, each with the shown lines."""
    found = [block.partition("\n") for block in blocks(page, "console")]
    return [
        (command.removeprefix("$ contentmodel "), shown.splitlines())
        for command, _, shown in found
        if " examples/" in command and shown and "$ " not in shown
    ]


@pytest.mark.parametrize(("command", "shown"), commands_with_output(ROOT / "docs" / "cli.md"))
def test_output_of_command_is_as_shown(
    command: str, shown: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page shows the lines in order. It leaves out some at `...`."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    result = typer.testing.CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "96"})
    lines = iter([line.rstrip() for line in result.output.splitlines()])
    assert [line for line in shown if line != "..." and line not in lines] == []


GIVEN = """\
from typing import Any
import contentmodel
payload: dict[str, Any] = {}
request = contentmodel.adapter("anthropic-messages").decode_request(payload)
encoded = contentmodel.convert(payload, target="openai-chat")
"""
"""Names that the Python blocks of every page can use."""


WITHOUT_TYPES = ("datasets.md",)
"""Pages about libraries without types, which pyright does not accept in its strict mode."""


def programs(folder: Path, left_out: Sequence[str] = ()) -> list[Path]:
    """Write the blocks of each page as a program. The README needs no prelude."""
    made = []
    for page in PAGES:
        if blocks(page, "python") and page.name not in left_out:
            given = "" if page.name == "README.md" else GIVEN
            made.append(folder / f"{page.stem.replace('-', '_').lower()}_page.py")
            made[-1].write_text(given + "\n".join(blocks(page, "python")))
    return made


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.nightly
def test_python_blocks_of_pages_pass_mypy_strict(tmp_path: Path) -> None:
    # Use the project's settings and cache: without the cache, mypy would check the packages again.
    done = run("mypy", "--config-file", ROOT / "pyproject.toml", *programs(tmp_path))
    assert done.stdout.startswith("Success"), done.stdout


@pytest.mark.slow
def test_python_blocks_of_pages_pass_pyright_strict(tmp_path: Path) -> None:
    # Disable lint rules for unused names: pages show imports and values.
    lint = dict.fromkeys(("reportUnusedExpression", "reportDuplicateImport", "reportUnusedImport"), False)
    settings = {"include": [str(tmp_path)], "typeCheckingMode": "strict", "pythonVersion": "3.11", **lint}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    assert len(programs(tmp_path, WITHOUT_TYPES)) > 20
    done = run("pyright", "--project", tmp_path, "--pythonpath", sys.executable)
    assert "0 errors" in done.stdout, done.stdout + done.stderr


def outdated() -> list[str]:
    """Return the generated pages of the repository that differ from the tables and rules."""
    made = {name: text for name, text in pages.pages().items() if name not in pages.SITE_ONLY}
    return [name for name, text in made.items() if (ROOT / "docs" / name).read_text() != text]


def test_generated_pages_except_fidelity_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "matrix", Matrix)
    assert outdated() == ["fidelity.md"]


def test_git_ignores_the_pages_of_the_site() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert sorted(line.removeprefix("/docs/") for line in ignored if line.startswith("/docs/")) == [*pages.SITE_ONLY]


@pytest.mark.parametrize("page", COMMITTED, ids=lambda page: page.name)
def test_links_of_page_lead_to_files_of_the_repository(page: Path) -> None:
    """Pages that only the built documentation has are no such files. For pages of `docs`, mkdocs checks the anchors."""
    links = re.findall(r"\]\(([\w./-]+)(?:#[^)]*)?\)", page.read_text())
    found = {link: (page.parent / link).resolve() for link in links}
    dead = [link for link, path in found.items() if not path.exists() or path.name in pages.SITE_ONLY]
    assert not dead


def public_types(base: type[Model] = Model) -> Iterator[type[Model]]:
    """Yield the types of the model: contents, events, messages, requests, responses, usage and their parts."""
    for kind in base.__subclasses__():
        if kind.__module__.startswith("contentmodel."):
            yield kind
            yield from public_types(kind)


TYPES = list(dict.fromkeys(public_types()))


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_field_of_type_has_docstring(kind: type[Model]) -> None:
    assert all(meaning_of(kind, name) for name in kind.__struct_fields__)


@pytest.mark.parametrize("kind", sorted({*TYPES} - {StreamEvent, BlockDelta}, key=lambda kind: kind.__name__))
def test_every_type_is_on_page_of_types_or_events(kind: type[Model]) -> None:
    assert re.search(rf"^(##+ {kind.__name__}$|\| `{kind.__name__}` )", content_page() + event_page(), re.MULTILINE)


def test_field_without_docstring_is_refused() -> None:
    class Bare(AIContent, frozen=True, kw_only=True):
        protected: Protected | None = None
        colour: str = ""

    assert meaning_of(Bare, "protected") == meaning_of(AIContent, "protected")
    with pytest.raises(LookupError, match=r"Bare.colour has no docstring: write one below the field"):
        meaning_of(Bare, "colour")


def test_every_automatic_fix_belongs_to_a_rule() -> None:
    rules = {rule.name for adapter in contentmodel.adapters().values() for rule in adapter.rules}
    assert set(AUTO_FIXES) <= rules


def test_readme_contains_make_demo_and_make_test() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text
