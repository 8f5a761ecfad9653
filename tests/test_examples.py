"""The examples run as their pages show."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "examples" / "tools" / "README.md"
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
RUN_CLI = ("-m", "contentmodel.cli")


def commands() -> list[tuple[str, str]]:
    """Return the commands of the page with their outputs, without those that install packages."""
    steps = [step for block in CONSOLE.findall(PAGE.read_text()) for step in block.split("$ ")[1:]]
    pairs = [step.partition("\n") for step in steps]
    return [(command, output) for command, _, output in pairs if not command.startswith("pip ")]


@pytest.mark.slow
def test_commands_of_the_tool_examples_print_what_the_page_shows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    paths = os.pathsep.join(str(ROOT / package) for package in ("contentmodel", "adapters", "conformance"))
    found = commands()
    assert len(found) == 4
    for command, output in found:
        program, *arguments = shlex.split(command)
        start = {"python": (), "contentmodel": RUN_CLI}[program]
        done = subprocess.run(
            [sys.executable, *start, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode, done.stdout) == (0, output.rstrip("\n") + "\n" if output.strip() else ""), done.stderr


def test_every_tool_of_the_example_is_in_its_output() -> None:
    from contentmodel.tools.config.load import read_tools

    names = [made.name for made in read_tools(PAGE.parent / "shop.tools.json", None, None, strict=True).definitions]
    (shown,) = [output for command, output in commands() if command.endswith("shop.py")]
    assert [line.partition(":")[0] for line in shown.splitlines() if line] == names
