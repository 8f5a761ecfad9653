"""The formats that the slow tests try whole are those of the families that a change touches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import contentmodel
from chosen_formats import FAMILIES, FAMILY_OF, REPRESENTATIVES, choice, families_of, folders_of_formats

ADAPTERS = "adapters/contentmodel_adapters"


def test_every_adapter_is_in_one_family() -> None:
    formats = [api for family in FAMILIES.values() for api in family]
    assert sorted(formats) == sorted(contentmodel.adapters()) == sorted(folders_of_formats())
    assert len(REPRESENTATIVES) == len(FAMILIES)


@pytest.mark.parametrize(
    ("file", "touched"),
    [
        ("openai/chat/table.py", {"openai"}),
        ("openai/errors.py", {"openai"}),
        ("anthropic/models.py", {"anthropic", "aws"}),
        ("anthropic/bedrock_converse/fit.py", {"aws"}),
        ("mistral/rules.py", {"chat"}),
        ("frameworks/ai_sdk/ui/blocks.py", {"frameworks"}),
        ("frameworks/ai_sdk/parts.py", {"frameworks"}),
        ("frameworks/hosted_tools.py", {"frameworks", "telemetry"}),
        ("frameworks/otel/values.py", {"telemetry"}),
        ("common/answer.py", set()),
        ("__init__.py", set()),
    ],
)
def test_family_is_that_of_the_folder(file: str, touched: set[str]) -> None:
    assert families_of([f"{ADAPTERS}/{file}"]) == touched


def test_core_kit_and_documentation_touch_no_family() -> None:
    files = ["contentmodel/contentmodel/convert.py", "conformance/contentmodel_conformance/laws.py", "docs/index.md"]
    assert families_of(files) == frozenset()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A working tree with one commit."""
    folder = tmp_path / ADAPTERS / "mistral"
    folder.mkdir(parents=True)
    (folder / "rules.py").write_text("a\n")
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "a")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def test_unchanged_tree_has_no_family_whole(repository: Path) -> None:
    made = choice({"CONTENTMODEL_BASE": "HEAD"}, repository)
    assert made.families == frozenset()
    assert made.reason == "changed since HEAD: no family"


def test_families_of_changed_and_of_new_files_are_whole(repository: Path) -> None:
    (repository / ADAPTERS / "mistral" / "rules.py").write_text("b\n")
    (repository / ADAPTERS / "sessions" / "codex").mkdir(parents=True)
    (repository / ADAPTERS / "sessions" / "codex" / "new.py").write_text("c\n")
    made = choice({"CONTENTMODEL_BASE": "HEAD"}, repository)
    assert made.families == {"chat", "sessions"}
    assert made.is_whole("cohere-chat")
    assert not made.is_whole("openai-chat")
    assert str(made) == (
        "formats: chat, sessions whole, the others with one partner of each family (changed since HEAD: chat, sessions)"
    )


def test_change_of_many_families_has_none_whole(repository: Path) -> None:
    for family in ("mistral", "openai", "google"):
        (repository / ADAPTERS / family).mkdir(exist_ok=True)
    (repository / ADAPTERS / "mistral" / "rules.py").write_text("b\n")
    (repository / ADAPTERS / "openai" / "errors.py").write_text("b\n")
    (repository / ADAPTERS / "google" / "models.py").write_text("b\n")
    made = choice({"CONTENTMODEL_BASE": "HEAD"}, repository)
    assert made.families == frozenset()
    assert made.reason == "changed since HEAD: chat, google, openai"


@pytest.mark.parametrize("base", ["", "no-such-commit"])
def test_unknown_base_has_no_family_whole(base: str, repository: Path) -> None:
    made = choice({"CONTENTMODEL_BASE": base}, repository)
    assert made.families == frozenset()
    assert made.reason.startswith("what changed is unknown")


def test_folder_without_repository_has_no_family_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert choice({}, tmp_path).reason.startswith("what changed is unknown")


def test_missing_git_has_no_family_whole(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert choice({"CONTENTMODEL_BASE": "HEAD"}, repository).reason.startswith("what changed is unknown")


@pytest.mark.parametrize(("given", "families"), [("all", set(FAMILIES)), ("aws,chat", {"aws", "chat"}), ("", set())])
def test_families_can_be_named(given: str, families: set[str], tmp_path: Path) -> None:
    made = choice({"CONTENTMODEL_WHOLE": given}, tmp_path)
    assert made.families == families
    assert {api for api in FAMILY_OF if made.is_whole(api)} == {api for one in families for api in FAMILIES[one]}


def test_unknown_family_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="CONTENTMODEL_WHOLE: azure: pass all, or openai, anthropic"):
        choice({"CONTENTMODEL_WHOLE": "azure"}, tmp_path)
