"""The scenarios of recorded sessions: what happens in each, by agent."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import server_stages
import terminal_stages
from model import Step, image, task
from programs import Arguments, Program
from stages import STARTED, SUBTASK, RunningAgent, Stage, interrupted, killed
from storage import STORAGES
from terminal import Terminal

Stages = Callable[[Program, Path], list[Stage]]

ALL = ("claude-code", "codex", "codex-scripts", "gemini-cli")
LINES = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
"""The options of Claude Code for prompts as lines of JSON."""


def _first(program: Program, project: Path) -> Stage:
    steps = task(program, project)
    return Stage("Write the notes.", (*steps[:2], Step("The notes are there.", "The notes are written.")))


def _next(program: Program, prompt: str, way: str = "resume", word: str = "again") -> Stage:
    say = Step(f"A command prints {word}.", "", (program.command(f"echo {word}"),))
    return Stage(prompt, (say, Step("That is all.", f"It prints {word}.")), way)


def _waiting(program: Program) -> tuple[Step, ...]:
    wait = program.command(f"touch {STARTED}; sleep 60")
    return (
        Step("A command comes first.", "", (program.command("echo first"),)),
        Step("A long command.", "Now I wait.", (wait,)),
    )


def _task(program: Program, project: Path) -> list[Stage]:
    return [Stage("Write notes.txt, look at image.png, and count.", tuple(task(program, project)))]


def _resume(program: Program, project: Path) -> list[Stage]:
    return [_first(program, project), _next(program, "Go on.")]


def _fork(program: Program, project: Path) -> list[Stage]:
    fork = _next(program, "Go another way.", "fork", "forked")
    return [_first(program, project), fork, _next(program, "Go on with the fork.")]


def _interrupt(program: Program, project: Path) -> list[Stage]:
    stage = Stage("Wait.", _waiting(program), attend=interrupted, ends=False)
    return [stage, _next(program, "Go on after the interrupt.")]


def _kill(program: Program, project: Path) -> list[Stage]:
    stage = Stage("Wait.", _waiting(program), attend=killed, ends=False)
    return [stage, _next(program, "Go on after the kill.")]


def _large(program: Program, project: Path) -> list[Stage]:
    count = Step("A long count.", "", (program.command("seq 1 30000"),))
    return [Stage("Count to 30000.", (count, Step("That is all.", "Counted."))), _next(program, "Go on.")]


# -- an image in a prompt ----------------------------------------------------------------------------------------------


def _user(*content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": list(content)}}


def _send_image(agent: RunningAgent) -> None:
    data = base64.b64encode(image()).decode()
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    agent.write(_user({"type": "text", "text": "What is in this image?"}, block))


def _image(program: Program, project: Path) -> list[Stage]:
    stage = Stage("What is in this image?", (Step("Colors.", "A gradient of colors."),))
    if program.name == "claude-code":
        stage = replace(stage, options=LINES, reads=True, attend=_send_image)
    elif program.name == "gemini-cli":
        stage = replace(stage, prompt="What is in this image? @image.png")
    else:
        stage = replace(stage, options=("--image", "image.png"))
    return [stage, _next(program, "Go on.")]


# -- more tools --------------------------------------------------------------------------------------------------------


def _tools(program: Program, project: Path) -> list[Stage]:
    notes, names = project / "notes.txt", {"claude-code": _claude_tools, "gemini-cli": _gemini_tools}
    calls = names.get(program.name, _codex_tools)(project)
    edits = [Step(f"Tool {n}.", "", tuple([(name, arguments)] for name, arguments in some)) for n, some in calls]
    write = Step("The notes come first.", "", (program.write(notes, "one\ntwo\n"),))
    read = Step("Then I read them.", "", (program.read(notes),))
    return [Stage("Write and edit the notes.", (write, read, *edits, Step("That is all.", "Edited.")))]


Calls = list[tuple[int, list[tuple[str, Arguments]]]]


def _claude_tools(project: Path) -> Calls:
    edit = {"file_path": str(project / "notes.txt"), "old_string": "two", "new_string": "zwei"}
    wrong = {**edit, "old_string": "not there"}
    return [
        (1, [("Edit", edit)]),
        (2, [("Edit", wrong), ("Bash", {"command": "cat notes.txt", "description": "Print"})]),
        (3, [("ToolSearch", {"query": "select:TaskCreate,TaskUpdate", "max_results": 5})]),
    ]


def _codex_tools(project: Path) -> Calls:
    patch = "*** Begin Patch\n*** Update File: notes.txt\n@@\n one\n-two\n+zwei\n*** End Patch\n"
    return [
        (1, [("apply_patch", patch)]),
        (2, [("apply_patch", patch), ("exec_command", {"cmd": "cat notes.txt"})]),
        (3, [("web_search", {"type": "search", "query": "notes"}), ("exec_command", {"cmd": "echo searched"})]),
        (6, [("tool_search", {"query": "agents"})]),
        (4, [("create_goal", {"objective": "Write the notes."})]),
        (5, [("update_goal", {"status": "complete"})]),
    ]


def _gemini_tools(project: Path) -> Calls:
    edit = {
        "file_path": str(project / "notes.txt"),
        "instruction": "Translate.",
        "old_string": "two",
        "new_string": "zwei",
    }
    return [
        (1, [("replace", edit)]),
        (2, [("replace", {**edit, "old_string": "not there"}), ("glob", {"pattern": "*.txt"})]),
        (3, [("list_directory", {"dir_path": str(project)}), ("grep_search", {"pattern": "one"})]),
        (4, [("update_topic", {"title": "Notes", "summary": "The notes are edited.", "strategic_intent": "Edit."})]),
    ]


# -- compaction --------------------------------------------------------------------------------------------------------

FEW = ("-c", "model_auto_compact_token_limit=4000")
"""The option of Codex for a compaction after each answer of the scripted model."""


def _compact(program: Program, project: Path) -> list[Stage]:
    first, last = _first(program, project), _next(program, "Go on after the compaction.")
    if program.name == "claude-code":
        return [first, Stage("/compact Keep the count.", (), "resume", summaries=1), last]
    middle = _next(program, "Go on with a small context.", word="compacted")
    return [first, replace(middle, options=FEW, summaries=1), last]


SMALL = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "1"}
"""The variables of Claude Code for a compaction after 1000 tokens."""


def _compact_itself(program: Program, project: Path) -> list[Stage]:
    """Let the agent compact in the middle of a turn, before its next request."""
    middle = _next(program, "Go on with a small context.", word="compacted")
    last = _next(program, "Go on after the compaction.")
    return [
        _first(program, project),
        replace(middle, options=("--settings", json.dumps({"env": SMALL})), summaries=1),
        last,
    ]


# -- sub-agents --------------------------------------------------------------------------------------------------------


def _sub(program: Program, project: Path) -> list[Stage]:
    own: tuple[Step, ...] = (Step("I count.", "", (program.command("seq 3"),)), Step("Three.", "Three lines."))
    calls: list[tuple[str, Arguments]]
    if program.name == "claude-code":
        arguments = {"description": "Count the lines", "prompt": SUBTASK, "subagent_type": "general-purpose"}
        calls = [("Agent", {**arguments, "run_in_background": False})]
    elif program.name == "codex-scripts":
        return _codex_sub(program)
    else:
        calls = [("invoke_agent", {"agent_name": "generalist", "prompt": SUBTASK})]
        own = (own[0], Step("Done.", "", ([("complete_task", {"result": {"response": "Three lines."}})],)))
    steps = (Step("A sub-agent counts.", "", (calls,)), Step("Three lines.", "The sub-agent counted three lines."))
    return [Stage("Let a sub-agent count.", steps, sub=own), _next(program, "Go on.")]


def _codex_sub(program: Program) -> list[Stage]:
    own = (Step("I count.", "", (program.command("seq 3"),)), Step("Three.", "Three lines."))
    spawn = ("spawn_agent", {"task_name": "count", "message": SUBTASK, "fork_turns": "none"})
    steps = (
        Step("A sub-agent counts.", "", ([spawn],)),
        Step("I wait for it.", "", ([("wait_agent", {"timeout_ms": 10000})],)),
        Step("Three lines.", "The sub-agent counted three lines."),
    )
    return [Stage("Let a sub-agent count.", steps, sub=own), _next(program, "Go on.")]


def _background(program: Program, project: Path) -> list[Stage]:
    """Let the agent go on while the sub-agent works. It gets a message when the sub-agent has ended."""
    [stage, _] = _sub(program, project)
    arguments = {"description": "Count the lines", "prompt": SUBTASK, "subagent_type": "general-purpose"}
    start = Step("A sub-agent counts.", "", ([("Agent", arguments)],))
    return [replace(stage, steps=(start, *stage.steps[1:], Step("It ended.", "The sub-agent ended.")))]


# -- other ways of Claude Code -----------------------------------------------------------------------------------------


def _rewind(program: Program, project: Path) -> list[Stage]:
    back = replace(_next(program, "Go another way.", word="other"), options=_to_first_answer)
    return [_first(program, project), _next(program, "A prompt that is taken back.", word="lost"), back]


def _to_first_answer(home: Path) -> tuple[str, ...]:
    """Return the option for a resume at the last line of the first prompt's turn."""
    [session] = STORAGES["claude-code"].files(home)
    lines = [json.loads(line) for line in session.read_text().splitlines()]
    prompts = [place for place, line in enumerate(lines) if line["type"] == "user" and "promptSource" in line]
    answers = [line["uuid"] for line in lines[: prompts[1]] if line["type"] == "assistant"]
    return ("--resume-session-at", answers[-1])


def _stop(agent: RunningAgent) -> None:
    """Interrupt a turn as an application does, and send another prompt."""
    agent.write(_user({"type": "text", "text": "Wait."}))
    agent.wait_for_command()
    agent.write({"type": "control_request", "request_id": "one", "request": {"subtype": "interrupt"}})
    agent.wait(lambda: any(line["type"] == "result" for line in agent.lines()))
    agent.write(_user({"type": "text", "text": "Go on after the interrupt."}))
    agent.wait(lambda: sum(line["type"] == "result" for line in agent.lines()) > 1)


def _control(program: Program, project: Path) -> list[Stage]:
    steps = (*_waiting(program), *_next(program, "").steps)
    stage = Stage("Wait.", steps, options=LINES, reads=True, attend=_stop)
    return [stage, _next(program, "Go on.")]


# -- the app server of Codex -------------------------------------------------------------------------------------------


def _server(act: Callable[[RunningAgent], None], *prompts: str, summaries: int = 0) -> Stages:
    """Return the stages of a function that acts on the app server: turns of one command each, and a resume."""

    def stages(program: Program, project: Path) -> list[Stage]:
        steps = tuple(step for word in prompts for step in _next(program, "", word=word).steps)
        acted = Stage("", steps, command=server_stages.COMMAND, reads=True, attend=act, summaries=summaries)
        return [acted, _next(program, "Go on.")]

    return stages


def _server_interrupt(program: Program, project: Path) -> list[Stage]:
    acted = _server(server_stages.interrupt, "second")(program, project)
    return [replace(acted[0], steps=(*_waiting(program), *acted[0].steps)), acted[1]]


# -- Gemini CLI in a terminal ------------------------------------------------------------------------------------------


def _typed(types: Callable[[Terminal], None], *prompts: str, summaries: int = 0) -> Stages:
    """Return the stages of a function that types: first the notes, then turns of one command each, and a resume."""

    def stages(program: Program, project: Path) -> list[Stage]:
        steps = [step for word in prompts for step in _next(program, "", word=word).steps]
        typed = Stage("", (*_first(program, project).steps, *steps), types=types, summaries=summaries)
        return [typed, _next(program, "Go on.")]

    return stages


# -- all ---------------------------------------------------------------------------------------------------------------

CODEX = ("codex", "codex-scripts")

SCENARIOS: dict[str, tuple[Stages, tuple[str, ...]]] = {
    "task": (_task, ALL),
    "tools": (_tools, ("claude-code", "codex", "gemini-cli")),
    "image": (_image, ALL),
    "resume": (_resume, ALL),
    "fork": (_fork, ("claude-code", "codex")),
    "interrupt": (_interrupt, ALL),
    "kill": (_kill, ALL),
    "large": (_large, ALL),
    "compact": (_compact, ("claude-code", "codex", "codex-scripts")),
    "compact-itself": (_compact_itself, ("claude-code",)),
    "revert": (_server(server_stages.revert, "first", "second", "third"), CODEX),
    "fork-middle": (_server(server_stages.fork, "first", "second", "third"), CODEX),
    "compact-server": (_server(server_stages.compact, "first", "second", summaries=1), CODEX),
    "interrupt-server": (_server_interrupt, CODEX),
    "checkpoint": (_typed(terminal_stages.checkpoint, "second", "third"), ("gemini-cli",)),
    "compress": (_typed(terminal_stages.compress, "second", summaries=1), ("gemini-cli",)),
    "rewind-terminal": (_typed(terminal_stages.rewind, "second", "third"), ("gemini-cli",)),
    "rewind": (_rewind, ("claude-code",)),
    "interrupt-control": (_control, ("claude-code",)),
    "sub-agent": (_sub, ("claude-code", "codex-scripts", "gemini-cli")),
    "sub-agent-background": (_background, ("claude-code",)),
}
"""The stages of each scenario, and the agents that have it."""
