"""Record session files of coding agents, offline, and resume session files with the agents.

    python agents/sessions.py -o sessions                         all agents, all scenarios
    python agents/sessions.py -o sessions --agent codex --scenario fork
    python agents/sessions.py resume --agent codex --file FILE    resume a session, and print the requests

Each agent has a home of its own and a dummy key, and its provider is the loopback server with a scripted model. A proxy
refuses every other host. The folder of a recording, AGENT/SCENARIO, has

    home/              the session files as the agent wrote them, at their places below the home
    requests-N.jsonl   the requests of stage N, as the loopback server received them
    stage-N.out, .err  what the agent printed
    recording.json     the agent's version, the project's path, and each stage: its prompt and its session

Each recorded session is then resumed in another home: the requests must contain its last prompt. Sessions of Claude
Code and Codex are also converted for the other agent, which resumes them. It must send their history and call a tool,
and the conversion back must restore the history. `resume` copies a session file to its place in a new home, lets the
agent resume it with a prompt, and answers with a call of a tool, and then with a text.

Exit codes: 0 all recordings are complete; 1 one is not; 2 the agents cannot be installed, or a bad command line.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversions import FORMATS, faults_of
from model import Step, image
from programs import PROGRAMS, Place, Program, environment
from run import INSTALLED, install, version_of
from scenarios import SCENARIOS
from servers import EndedProcess, refusing_proxy, run
from stages import RunningAgent, Stage, StagedModel
from storage import STORAGES
from terminal import run_in_terminal

from contentmodel_conformance.server import LoopbackServer
from contentmodel_conformance.server.records import Recorded

LIMIT = 60.0
"""The time of one stage, in seconds."""


@dataclass
class Recording:
    """The folders and the server of an agent that runs in stages. `faults` are the reasons why it is incomplete."""

    program: Program
    work: Path
    server: LoopbackServer
    model: StagedModel
    proxy: str
    limit: float = LIMIT
    stages: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def home(self) -> Path:
        """The home of the agent."""
        return self.work / "home"

    @property
    def project(self) -> Path:
        """The folder that the agent works in."""
        return self.work / "project"

    def run(self, stage: Stage) -> list[Recorded]:
        """Run a stage, and return its requests."""
        number, before = len(self.stages) + 1, len(self.server.requests)
        self.model.begin(stage)
        log = self.work / f"stage-{number}.out"
        ended = self._run(stage, log)
        self.seconds += ended.seconds
        requests = self.server.requests[before:]
        self.faults += [f"stage {number}: {fault}" for fault in self._check(stage, ended, requests)]
        session = STORAGES[self.program.name].newest(self.home)
        self.stages.append({"prompt": stage.prompt, "way": stage.way, "session": session, "code": ended.code})
        return requests

    def _run(self, stage: Stage, log: Path) -> EndedProcess:
        place = Place(self.home, self.project, self.server.url)
        command, own = self.program.start(place, stage.prompt)
        command = self._command(stage, command)
        command[0] = str(INSTALLED / "node_modules" / ".bin" / command[0])
        variables = environment(place, self.proxy, **own)
        attend, types = stage.attend, stage.types
        if types is not None:
            return run_in_terminal(
                command, folder=self.project, environment=variables, limit=self.limit, log=log, attend=types
            )
        return run(
            command,
            folder=self.project,
            environment=variables,
            limit=self.limit,
            log=log,
            attend=None
            if attend is None
            else lambda process: attend(RunningAgent(process, self.project, log, self.limit)),
            reads=stage.reads,
        )

    def _command(self, stage: Stage, command: list[str]) -> list[str]:
        """Return the command of a stage, from the one for a new session with the stage's prompt."""
        if stage.command is not None:
            return [command[0], *stage.command]
        storage = STORAGES[self.program.name]
        continued = {"resume": storage.resumed, "fork": storage.forked}.get(stage.way)
        if continued is not None:
            command = continued(command, storage.newest(self.home))
        dropped = {"--prompt", stage.prompt} if stage.types else {stage.prompt} if stage.reads else set()
        command = [word for word in command if word not in dropped]
        options = stage.options(self.home) if callable(stage.options) else stage.options
        at = 2 if command[1] == "exec" else len(command)
        return [*command[:at], *options, *command[at:]]

    def _check(self, stage: Stage, ended: EndedProcess, requests: list[Recorded]) -> Iterator[str]:
        if ended.code is None:
            yield "the agent did not end in time"
        elif ended.code != 0 and stage.ends:
            yield f"the agent ended with code {ended.code}: {ended.err[-300:].strip()}"
        yield from (f"{record.path} was answered {record.status}" for record in requests if record.status != 200)
        for kind, left in (("session", self.model.steps), ("sub-agents", self.model.sub)):
            if left:
                yield f"the model has {len(left)} turns left for the {kind}"
        if self.model.summaries < stage.summaries:
            yield "the agent requested no summary"


@contextmanager
def recording(program: Program, work: Path) -> Iterator[Recording]:
    """Yield a recording in an empty folder, with a running server and proxy."""
    work = work.resolve()
    for name in ("home", "project", "tmp"):
        (work / name).mkdir()
    (work / "project" / "image.png").write_bytes(image())
    model = StagedModel(program.api)
    with LoopbackServer([model], repeat=True) as server, refusing_proxy() as (proxy, _):
        yield Recording(program, work, server, model, proxy)


def record(program: Program, scenario: str, target: Path) -> Recording:
    """Record a scenario into a folder, which is replaced."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    stages, _ = SCENARIOS[scenario]
    with _temporary() as work, recording(program, work) as made:
        for number, stage in enumerate(stages(program, made.project), 1):
            requests = made.run(stage)
            (target / f"requests-{number}.jsonl").write_text(lines_of(requests))
        save(made, target)
    return made


def save(made: Recording, target: Path) -> None:
    """Copy the session files to the folder of a recording, and check that they are readable."""
    storage = STORAGES[made.program.name]
    for name in storage.kept:
        source, copy = made.home / name, target / "home" / name
        if source.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
    for log in made.work.glob("stage-*"):
        shutil.copy(log, target)
    about = {
        "agent": made.program.name,
        "version": version_of(made.program.package),
        "project": str(made.project),
        "stages": made.stages,
    }
    (target / "recording.json").write_text(json.dumps(about, indent=1) + "\n")
    made.faults += unreadable(target / "home")
    if not storage.files(target / "home"):
        made.faults.append("the agent wrote no session file")


def unreadable(home: Path) -> list[str]:
    """Return the lines of the JSON Lines files below a folder that are not objects."""
    faults = []
    for path in sorted(home.rglob("*.jsonl")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            try:
                is_object = isinstance(json.loads(line), dict)
            except ValueError:
                is_object = False
            if not is_object:
                faults.append(f"{path.name}: line {number} is no JSON object")
    return faults


def lines_of(requests: list[Recorded]) -> str:
    """Return requests as JSON Lines."""
    return "".join(json.dumps(request.as_json()) + "\n" for request in requests)


@contextmanager
def _temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="contentmodel-sessions-", ignore_cleanup_errors=True) as made:
        yield Path(made)


# -- resume ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Resumed:
    """A resumed session: the requests, the session file at the end, and the reasons why the agent failed, if any."""

    requests: list[Recorded]
    text: str
    faults: list[str]


def resume(
    program: Program, *files: Path, prompt: str = "Go on.", steps: tuple[Step, ...] = (), limit: float = LIMIT
) -> Resumed:
    """Let an agent resume a session file with a prompt, and return the requests that it sent.

    The last file is resumed. Files before it are other sessions of its home, such as the parent of a fork. `steps` are
    the answers of the model. By default, these are a call of a command, and a text.
    """
    storage = STORAGES[program.name]
    call = Step("A command prints one word.", "", (program.command("echo resumed"),))
    stage = Stage(prompt, steps or (call, Step("That is all.", "Resumed.")), "resume")
    with _temporary() as work, recording(program, work) as made:
        made.limit = limit
        for path in files:
            placed = storage.put(path, made.home, made.project)
        # The stage resumes the session in the newest file.
        placed.touch()
        requests = made.run(stage)
        return Resumed(requests, storage.files(made.home)[-1].read_text(), made.faults)


def resume_faults(made: Recording, folder: Path) -> list[str]:
    """Resume a recorded session in another home. Return the faults."""
    files = STORAGES[made.program.name].files(folder / "home")
    done = resume(made.program, *files)
    first, prompt = json.dumps(done.requests[0].payload) if done.requests else "", made.stages[-1]["prompt"]
    lost = [] if prompt in first else [f"the history lacks the prompt {prompt!r}"]
    return [f"resumed in another home: {fault}" for fault in (*done.faults, *lost)]


def conversion_faults(name: str, folder: Path) -> list[str]:
    """Convert the sessions of a recording for another agent, which resumes them. Return the faults."""

    def resumed(program: Program, path: Path) -> tuple[list[Recorded], str, list[str]]:
        done = resume(program, path)
        return done.requests, done.text, done.faults

    if name not in FORMATS:
        return []
    files = STORAGES[PROGRAMS[name].name].files(folder / "home")
    return [fault for path in files for fault in faults_of(name, path, resumed)]


# -- the command -------------------------------------------------------------------------------------------------------


def _record_all(chosen: argparse.Namespace) -> int:
    failed = False
    for name in chosen.agent or PROGRAMS:
        for scenario in chosen.scenario or SCENARIOS:
            if name not in SCENARIOS[scenario][1]:
                continue
            folder = chosen.output / name / scenario
            try:
                made = record(PROGRAMS[name], scenario, folder)
                faults, seconds = (
                    made.faults or [*resume_faults(made, folder), *conversion_faults(name, folder)],
                    f", {made.seconds:.0f} s",
                )
            except (LookupError, OSError) as error:
                faults, seconds = [f"{type(error).__name__}: {error}"], ""
            print(f"{name}, {scenario}: {'failed' if faults else 'ok'}{seconds}", file=sys.stderr)
            for fault in faults:
                print(f"  {fault}", file=sys.stderr)
            failed = failed or bool(faults)
    return 1 if failed else 0


def _resume_one(chosen: argparse.Namespace) -> int:
    done = resume(PROGRAMS[chosen.agent[0]], *chosen.file, prompt=chosen.prompt)
    print(lines_of(done.requests), end="")
    for fault in done.faults:
        print(fault, file=sys.stderr)
    return 1 if done.faults else 0


def main() -> int:
    """Record sessions, or resume one, as the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", nargs="?", choices=("record", "resume"), default="record")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="the folder of the recordings")
    parser.add_argument("--agent", action="append", choices=PROGRAMS, help="an agent; repeatable. Default: all")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="a scenario; repeatable. Default: all")
    parser.add_argument(
        "--file",
        action="append",
        type=Path,
        help="the session file to resume; repeatable: first the parents of a fork, then the fork",
    )
    parser.add_argument("--prompt", default="Go on.", help="the prompt after the resume")
    chosen = parser.parse_args()
    if chosen.action == "resume" and not (chosen.file and len(chosen.agent or ()) == 1):
        parser.error("resume requires one --agent and a --file")
    install()
    if chosen.action == "resume":
        return _resume_one(chosen)
    if chosen.output is not None:
        return _record_all(chosen)
    with _temporary() as folder:
        chosen.output = folder
        return _record_all(chosen)


if __name__ == "__main__":
    raise SystemExit(main())
