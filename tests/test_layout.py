"""The layout: packages, allowed imports, and public names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import contentmodel
from contentmodel import authoring, content
from contentmodel.content import CONTENT_TYPES

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "contentmodel": ROOT / "contentmodel" / "contentmodel",
    "contentmodel_adapters": ROOT / "adapters" / "contentmodel_adapters",
    "contentmodel_conformance": ROOT / "conformance" / "contentmodel_conformance",
}
# Each package may import only the packages of its row.
MAY_IMPORT = {
    "contentmodel": {"contentmodel"},
    "contentmodel_adapters": {"contentmodel", "contentmodel_adapters"},
    "contentmodel_conformance": set(PACKAGES),
}
POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
FOLDERS = {
    api: PACKAGES["contentmodel_adapters"].parent.joinpath(*point.partition(":")[0].split("."))
    for api, point in POINTS["contentmodel.adapters"].items()
}
"""The folder of each adapter. Adapters of one family share the folder above theirs."""
COMMON = PACKAGES["contentmodel_adapters"] / "common"
# Formats without a provider have no clients, no streams and no tools. Each has only these further files.
FORMATS: dict[str, set[str]] = {
    "turn-blocks": {"messages.py", "response.py", "spelling.py"},
    "openai-finetune": set(),
    "ag-ui": {"messages.py"},
    "mcp-sampling": {"response.py"},
    "agent-framework": set(),
    "atif": set(),
    "hf-messages": {"padding.py"},
    "sharegpt": {"placeholders.py"},
    "meai": set(),
    "otel-gen-ai": {"hosted.py", "messages.py", "spelling.py", "values.py"},
    "langchain-messages": {
        *("beside.py", "contents.py", "guests.py", "items.py", "messages.py", "repeated.py", "rows.py"),
    },
    "vercel-model-messages": {"messages.py", "older.py"},
    "vercel-ui-messages": {"messages.py", "older.py", "tools.py", "turns.py"},
    "claude-code-session": {"reading.py", "tree.py", "writing.py"},
    "codex-rollout": {"reading.py"},
    "pydantic-ai-messages": {"guests.py", "hosted.py", "messages.py", "values.py"},
    "inspect-eval-log": {"anchors.py", "attachments.py", "hosted.py", "messages.py", "values.py"},
    "gemini-cli-session": {"reading.py", "records.py", "writing.py"},
}
# OpenAI's APIs have several hosts. Other tables are longer than a file may be.
FURTHER: dict[str, set[str]] = {
    "openai-chat": {"choices.py", "hosts.py", "messages.py", "parts.py"},
    "openai-responses": {"items.py"},
    "anthropic-messages": {"response.py"},
    "google-generate-content": {"response.py", "tools.py"},
    "bedrock-converse": {"response.py"},
}

pytestmark = pytest.mark.xdist_group("layout")
"""One process parses the files."""


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file, parsed once for all tests."""
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> set[str]:
    """Return every module that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def files(package: str) -> list[Path]:
    return sorted(PACKAGES[package].rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_allowed_packages(package: str) -> None:
    wrong = {
        str(path.relative_to(ROOT)): module
        for path in files(package)
        for module in imports(path)
        if module.split(".")[0] in PACKAGES and module.split(".")[0] not in MAY_IMPORT[package]
    }
    assert wrong == {}


def imported(node: ast.AST) -> Iterator[str]:
    """Return every module that code imports at run time, with late imports and without those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            yield child.module
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        yield from imported(child)


def module_name(path: Path, package: str) -> str:
    parts = path.relative_to(PACKAGES[package].parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_modules_have_no_circular_imports() -> None:
    modules = {module_name(path, package): path for package in PACKAGES for path in files(package)}
    graph = {
        name: {other for other in imported(tree_of(path)) if other in modules} - {name}
        for name, path in modules.items()
    }
    # A package imports what it offers; what is in it needs the package's name alone.
    for name, others in graph.items():
        others -= {package for package in others if name.startswith(f"{package}.")}
    assert graph["contentmodel.engine.adapting"]
    TopologicalSorter(graph).prepare()


def modules_of_adapters() -> dict[str, Path]:
    return {module_name(path, "contentmodel_adapters"): path for path in files("contentmodel_adapters")}


def users_of_modules() -> dict[Path, set[Path]]:
    """Return the files of adapters that import each file of adapters, also for type checkers only."""
    modules = modules_of_adapters()
    users: dict[Path, set[Path]] = {path: set() for path in modules.values()}
    for path in modules.values():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module in modules:
                inner = {modules.get(f"{node.module}.{alias.name}") for alias in node.names}
                for used in inner - {None} or {modules[node.module]}:
                    users[used].add(path)
            elif isinstance(node, ast.Import):
                assert not any(alias.name in modules for alias in node.names), (path, "use `from`")
    return users


def test_adapters_import_their_family_and_common_only() -> None:
    """A module imports from its own folder, from the folders above it, and from `common`; `common` only from itself.

    So an adapter imports neither an adapter of its family nor anything of another family.
    """
    wrong = {
        str(path.relative_to(ROOT)): str(used.relative_to(ROOT))
        for used, paths in users_of_modules().items()
        for path in paths
        if not path.is_relative_to(used.parent) and not used.is_relative_to(COMMON)
    }
    assert wrong == {}


def test_common_has_few_modules_and_none_of_a_single_family() -> None:
    """Modules of `common` count as one more family."""

    def family(path: Path) -> str:
        return path.relative_to(COMMON.parent).parts[0]

    users = {
        path: {family(user) for user in paths} for path, paths in users_of_modules().items() if path.parent == COMMON
    }
    assert {path.name: names for path, names in users.items() if len(names) == 1 and names != {"common"}} == {}
    assert len(list(COMMON.glob("*.py"))) <= 21


def test_adapters_do_not_import_the_engine() -> None:
    """Adapters use only `contentmodel.authoring`, as adapters of other authors do. Its names are stable."""
    for path in files("contentmodel_adapters"):
        assert not any(module.startswith("contentmodel.engine") for module in imports(path)), path


def test_applications_do_not_import_the_engine() -> None:
    """They use the model, its functions, and small public modules: `json`, `losses`, `framing`, `hints` and others."""
    root = PACKAGES["contentmodel"]
    for path in files(root.name):
        if path.relative_to(root).parts[0] in APPLICATIONS:
            assert not any(module.startswith("contentmodel.engine") for module in imported(tree_of(path))), path


APPLICATIONS = ("cli", "datasets", "gateway", "history", "html", "interop", "runner", "server", "tools")


def test_adapters_call_no_other_adapters() -> None:
    """Blocks of providers are guests (`Guest`, `Inner`)."""
    root = PACKAGES["contentmodel_adapters"]
    found = {str(path.relative_to(root)) for path in files(root.name) if LOOK_UP in imported(tree_of(path))}
    # Clients look up the adapter of their own API.
    assert found == {"common/clients.py"}


LOOK_UP = "contentmodel.adapter.adapter"
"""The function that returns the adapter of an API."""


def test_names_of_authoring_are_sorted_and_exist() -> None:
    assert authoring.__all__ == sorted(authoring.__all__)
    assert all(hasattr(authoring, name) for name in authoring.__all__)
    assert authoring.VERSION == 1


@pytest.mark.parametrize("api", FOLDERS)
def test_every_adapter_has_the_same_files(api: str) -> None:
    if api in FORMATS:
        expected = {"__init__.py", "blocks.py", "rules.py", *FORMATS[api]}
    else:
        five = {"table.py", "fit.py", "stream.py", "rules.py", "client.py"}
        expected = {"__init__.py", *five, *FURTHER.get(api, ())}
    assert {path.name for path in FOLDERS[api].iterdir() if path.name != "__pycache__"} == expected


def test_every_file_is_of_an_adapter_or_directly_in_a_folder_of_several() -> None:
    """Folders of families have a docstring in `__init__.py`, and no code in it."""
    above = {folder.parent for folder in FOLDERS.values()} | {COMMON}
    above |= {folder.parent for folder in above} & set(PACKAGES["contentmodel_adapters"].rglob("*"))
    above.add(PACKAGES["contentmodel_adapters"])
    assert {path.parent for path in files("contentmodel_adapters")} == above | set(FOLDERS.values())
    for folder in above:
        assert all(isinstance(node, ast.Expr) for node in tree_of(folder / "__init__.py").body), folder


def test_every_provider_adapter_has_a_client() -> None:
    clients = POINTS["contentmodel.clients"]
    assert FOLDERS.keys() - clients.keys() == FORMATS.keys()
    for api, module in clients.items():
        assert POINTS["contentmodel.adapters"][api] == f"{module.removesuffix('.client')}:adapter"


WITH_EXTRAS = ("cli", "datasets", "gateway", "history", "server")
"""Packages that need an extra as a whole."""


def test_core_imports_only_standard_library_and_msgspec() -> None:
    """Except for packages of extras, modules import only the standard library and msgspec at the top."""
    allowed = set(sys.stdlib_module_names) | {"contentmodel", "msgspec"}
    wrong = {}
    for path in files("contentmodel"):
        # Pydantic imports the last one.
        is_of_extra = path.relative_to(PACKAGES["contentmodel"]).parts[0] in WITH_EXTRAS
        if is_of_extra or path.parts[-2:] == ("interop", "pydantic.py"):
            continue
        for node in tree_of(path).body:
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            wrong.update({str(path): m for m in modules if m.split(".")[0] not in allowed})
    assert wrong == {}


def test_numbers_in_texts_are_read_in_one_place() -> None:
    """`int` fails for texts of more than 4,300 digits, and `isdecimal` accepts digits of any script."""
    reads = re.compile(r"\.is(decimal|digit|numeric)\(").search
    found = [path for package in PACKAGES for path in files(package) if reads(path.read_text())]
    assert [str(path.relative_to(ROOT)) for path in found] == ["contentmodel/contentmodel/json.py"]


def test_no_source_file_is_longer_than_1000_lines() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for package in PACKAGES
        for path in files(package)
        if (lines := len(path.read_text().splitlines())) > 1_000
    }
    assert long == {}


def test_public_names_are_sorted_documented_and_limited_in_number() -> None:
    assert contentmodel.__all__ == sorted(contentmodel.__all__)
    for name in contentmodel.__all__:
        assert getattr(contentmodel, name).__doc__ or name in ("Content", "POLICIES"), name
    assert len(contentmodel.__all__) <= 70


def test_type_checkers_see_the_names_that_are_imported_on_first_use() -> None:
    (seen,) = (
        node
        for node in tree_of(PACKAGES["contentmodel"] / "__init__.py").body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    names = {
        node.module: tuple(alias.name for alias in node.names) for node in seen.body if isinstance(node, ast.ImportFrom)
    }
    assert names == contentmodel._NAMES
    assert sorted(name for of_module in names.values() for name in of_module) == contentmodel.__all__


@pytest.mark.parametrize(
    "program",
    [
        "import contentmodel.adapter, contentmodel.convert; from contentmodel import adapter, convert",
        "from contentmodel import adapter, convert; import contentmodel.adapter, contentmodel.convert",
        "from contentmodel.convert import convert; import contentmodel; adapter = contentmodel.adapter",
        "from contentmodel import *",
        "from contentmodel import tools, content, adapter, convert; assert content.TextContent",
        "import contentmodel; assert contentmodel.content.TextContent; from contentmodel import adapter, convert",
        "import contentmodel; assert set(contentmodel.__all__) <= {*dir(contentmodel)}; adapter = convert = print",
        "import contentmodel; assert not hasattr(contentmodel, 'no_such_name'); adapter = convert = print",
    ],
)
def test_public_names_are_the_same_whatever_is_imported_first(program: str) -> None:
    subprocess.run([sys.executable, "-c", f"{program}; assert callable(adapter) and callable(convert)"], check=True)


def test_import_of_the_package_imports_no_model() -> None:
    program = "import contentmodel, sys; print(*sorted(n for n in sys.modules if n.startswith('contentmodel')))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["contentmodel", "contentmodel.interop"]


def test_every_content_type_is_public() -> None:
    assert {c.__name__ for c in CONTENT_TYPES} <= set(content.__all__)


SAMPLE = Path(__file__).parents[1] / "examples" / "agent_turns.anthropic.json"

BARE = """
import importlib, sys

class Bare:
    allowed = {*sys.stdlib_module_names, "msgspec", "contentmodel", "contentmodel_adapters", *sys.argv[2:]}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.allowed and not name.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Bare())
importlib.import_module(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("package", "extra"),
    [
        ("contentmodel.tools", "tools"),
        ("contentmodel.runner", "tools"),
        ("contentmodel.tools.mcp", "tools"),
        ("contentmodel.history", "history"),
        ("contentmodel.datasets", "arrow"),
        ("contentmodel.server", "server"),
        ("contentmodel.gateway", "gateway"),
        ("contentmodel_conformance.server", "conformance"),
    ],
)
def test_import_without_extra_raises_error_with_pip_command(package: str, extra: str) -> None:
    call = [sys.executable, "-c", BARE, package, "contentmodel_conformance"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith(f'which is not installed: pip install "contentmodel[{extra}]"')


def installed_with(*names: str) -> set[str]:
    """Return the modules of the distributions, and of all that they require."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        found.add(name := waiting.pop())
        needs = [Requirement(text) for text in requires(name) or ()]
        waiting |= {need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})} - found
    wanted = {canonicalize_name(name) for name in found}
    owners = packages_distributions().items()
    return {module for module, names in owners if wanted & {canonicalize_name(name) for name in names}}


@pytest.mark.slow
def test_show_command_needs_only_the_cli_extra() -> None:
    program = f"{BARE}\nsys.argv[1:] = ['show', {str(SAMPLE)!r}]\nsys.modules['contentmodel.cli'].main()"
    allowed = installed_with("typer", "rich")
    assert "jsonschema" not in allowed
    done = subprocess.run(
        [sys.executable, "-c", program, "contentmodel.cli", *allowed], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Done, and connections are falling." in done.stdout
