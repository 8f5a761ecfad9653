"""Run coding agents through the gateway, offline, with the models of other providers.

    python agents/run.py                                   all agents, to each of the other APIs
    python agents/run.py --agent codex --to openai-chat    one agent, to one API
    python agents/run.py --agent codex --hosts             one agent, to a model of each host of Chat Completions
    python agents/run.py --scenario faults                 only the runs with errors and broken streams
    python agents/run.py --keep runs                       keep the files of all runs in a folder

Claude Code, Codex CLI and Gemini CLI are installed from npm into the folder .agents, at the versions of
agents/package.json. Each runs in a folder and a home of its own, with a dummy key, and with `contentmodel gateway` for
its provider. The upstream is the loopback server with a scripted model. A proxy refuses every other host.

A run has more than a dozen turns: a file that is written, a file that is missing, an image, two calls at once, a
command that fails, and reasoning before each. The verdict is "ok" if the agent ends its task, if every request at the
upstream is valid, and if the transcript there is complete except for the losses that the gateway reports.

Exit codes: 0 all runs are ok; 1 one is not; 2 the agents cannot be installed, or a bad command line.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from model import PROMPT, Model, image, task
from programs import PROGRAMS, Place, Program, environment
from servers import gateway, recorder, refusing_proxy, reports_of, run
from verify import Run, check, violations
from wire import HOSTS, MODELS

from contentmodel_conformance.server import Fault, LoopbackServer, Turn

FOLDER = Path(__file__).parent
INSTALLED = FOLDER.parent / ".agents"
SCENARIOS = ("task", "faults")
COLUMNS = (
    "agent",
    "version",
    "upstream",
    "scenario",
    "requests",
    "results",
    "seconds",
    "losses",
    "violations",
    "verdict",
)


# -- installation ------------------------------------------------------------------------------------------------------


def install() -> None:
    """Install the agents, unless they are installed."""
    wanted = json.loads((FOLDER / "package.json").read_text())["dependencies"]
    if all(version_of(package) == version for package, version in wanted.items()):
        return
    if shutil.which("npm") is None:
        print("npm is missing: install Node.js 20 or newer", file=sys.stderr)
        raise SystemExit(2)
    INSTALLED.mkdir(exist_ok=True)
    shutil.copy(FOLDER / "package.json", INSTALLED)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"]
    if subprocess.run(command, cwd=INSTALLED, stdin=subprocess.DEVNULL, timeout=900, check=False).returncode != 0:
        raise SystemExit(2)


def version_of(package: str) -> str | None:
    """Return the installed version of a package; None if it is not installed."""
    path = INSTALLED / "node_modules" / package / "package.json"
    return json.loads(path.read_text())["version"] if path.exists() else None


# -- one run -----------------------------------------------------------------------------------------------------------


@contextmanager
def folder_of(keep: Path | None, name: str) -> Iterator[Path]:
    """Yield the folder of a run. It is removed at the end, unless it is to be kept."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="contentmodel-agents-", ignore_cleanup_errors=True) as made:
            yield Path(made)
        return
    folder = keep.resolve() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield folder


def turns(model: Model, scenario: str) -> list[Any]:
    """Return the script of the upstream."""
    if scenario == "task":
        return [model]
    faults = (Fault(status=429, retry_after=1), Fault(drop_after=400), Fault(drop_after=9000))
    return [model, *(Turn(model, fault) for fault in faults), *[model] * 20]


def config_of(api: str, base_url: str, scenario: str, host: str | None = None) -> str:
    """Return the configuration of the gateway, for the API's own model or that of a host.

    Errors of the upstream reach the agent at once.
    """
    retries = "retries = 0\n" if scenario == "faults" else ""
    model = MODELS[api] if host is None else HOSTS[host]
    return (
        f'[upstreams.up]\napi = "{api}"\nbase_url = "{base_url}"\nkey = "none"\n{retries}\n'
        f'[[routes]]\nto = "up"\nmodel = "{model}"\n'
    )


def run_one(program: Program, to: str, scenario: str, folder: Path, limit: float, host: str | None = None) -> Run:
    """Run an agent, and verify the run."""
    home, project = folder / "home", folder / "project"
    for made in (home, project, folder / "tmp"):
        made.mkdir()
    (project / "image.png").write_bytes(image())
    model = Model(to, task(program, project, short=scenario == "faults"))
    config, log = folder / "gateway.toml", folder / "gateway.log"
    with LoopbackServer(turns(model, scenario), repeat=scenario == "task") as upstream:
        config.write_text(config_of(to, upstream.base_url(to), scenario, host))
        with gateway(config, log) as inner, recorder(inner) as (url, exchanges), refusing_proxy() as (proxy, hosts):
            place = Place(home, project, url)
            command, own = program.start(place, PROMPT)
            command[0] = str(INSTALLED / "node_modules" / ".bin" / command[0])
            variables = environment(place, proxy, **own)
            ended = run(command, folder=project, environment=variables, limit=limit, log=folder / "agent.log")
            reports = {
                report["id"]: httpx2.get(f"{inner}/contentmodel/losses/{report['id']}", trust_env=False).json()
                for report in reports_of(log)
            }
        done = Run(
            program, to, scenario, project, ended, model, list(exchanges), list(upstream.requests), reports, hosts
        )
        done.host = host
    save(done, folder)
    done.faults = [*check(done), *violations(done)]
    return done


def save(done: Run, folder: Path) -> None:
    """Write the requests of both sides, the answers to the agent, and the reports into the folder of the run."""
    with (folder / "requests.jsonl").open("w") as lines:
        for exchange in done.exchanges:
            lines.write(
                json.dumps(
                    {
                        "id": exchange.name,
                        "upstream": exchange.upstream_id,
                        "path": exchange.path,
                        "status": exchange.status,
                        "payload": exchange.payload,
                        "answer": exchange.answer.decode("utf-8", "replace"),
                    }
                )
                + "\n"
            )
    with (folder / "upstream.jsonl").open("w") as lines:
        lines.writelines(json.dumps(record.as_json()) + "\n" for record in done.records)
    (folder / "reports.json").write_text(json.dumps(done.reports, indent=1))


# -- the table ---------------------------------------------------------------------------------------------------------


def row_of(done: Run) -> tuple[str, ...]:
    """Return the row of a run in the table."""
    losses = ", ".join(f"{code}={count}" for code, count in done.losses().most_common()) or "none"
    return (
        done.program.name,
        version_of(done.program.package) or "?",
        done.to if done.host is None else f"{done.to} ({done.host})",
        done.scenario,
        str(len(done.records)),
        str(done.tried),
        f"{done.ended.seconds:.0f}",
        losses,
        str(len(violations(done))),
        "failed" if done.faults else "ok",
    )


def print_table(rows: list[tuple[str, ...]]) -> None:
    """Print the table as Markdown."""
    widths = [max(len(row[place]) for row in (COLUMNS, *rows)) for place in range(len(COLUMNS))]
    for row in (COLUMNS, tuple("-" * width for width in widths), *rows):
        print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |")


def main() -> int:
    """Run the agents that the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", action="append", choices=PROGRAMS, help="an agent; repeatable. Default: all")
    parser.add_argument(
        "--to",
        action="append",
        choices=MODELS,
        metavar="API",
        help=f"an upstream's API: {', '.join(MODELS)}; repeatable. Default: all but the agent's own",
    )
    parser.add_argument(
        "--hosts", action="store_true", help="only a model of each host of Chat Completions, not the APIs' own models"
    )
    parser.add_argument(
        "--scenario",
        action="append",
        choices=SCENARIOS,
        help="the whole task, or a short one with faults; repeatable. Default: both",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep the files of each run: requests, reports, and the output of the agent",
    )
    parser.add_argument(
        "--limit", type=float, default=180, metavar="SECONDS", help="the time of one run (default: 180)"
    )
    chosen = parser.parse_args()
    install()
    rows, failed = [], False
    for name in chosen.agent or PROGRAMS:
        program = PROGRAMS[name]
        upstreams: list[tuple[str, str | None]] = [(to, None) for to in chosen.to or MODELS]
        if chosen.hosts:
            upstreams = [("openai-chat", host) for host in HOSTS]
        for to, host in upstreams:
            if to == program.api and not chosen.to:
                continue
            for scenario in chosen.scenario or SCENARIOS:
                with folder_of(chosen.keep, f"{name}-{host or to}-{scenario}") as folder:
                    done = run_one(program, to, scenario, folder, chosen.limit, host)
                rows.append(row_of(done))
                failed = failed or bool(done.faults)
                print(f"{name} -> {host or to}, {scenario}: {rows[-1][-1]}", file=sys.stderr)
                for fault in dict.fromkeys(done.faults):
                    print(f"  {fault}", file=sys.stderr)
                if done.hosts:
                    print(f"  refused hosts: {', '.join(sorted(set(done.hosts)))}", file=sys.stderr)
    print_table(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
