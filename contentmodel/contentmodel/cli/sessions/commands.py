"""The subcommands of `contentmodel sessions`."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer
from rich.rule import Rule

from contentmodel.cli.console import err, out, safe_text, visible
from contentmodel.cli.convert import Losses, Policies, Quiet, Raising
from contentmodel.cli.errors import BAD_DOCUMENT, Problem, print_problem, problem_of
from contentmodel.cli.installed import check_api, load
from contentmodel.cli.losses import Tally, print_tally
from contentmodel.cli.options import OnLoss, parse_policies
from contentmodel.cli.output import check_output, open_optional, open_output, print_json
from contentmodel.cli.pieces import Page, print_parts
from contentmodel.cli.sessions.agents import Agent, Session, agent_named, agents
from contentmodel.cli.sessions.finding import find_session, listed, sessions_of
from contentmodel.cli.sessions.listing import as_object, print_sessions
from contentmodel.cli.sessions.loading import Loaded, load_session
from contentmodel.cli.sessions.writing import Plan, check_free, convert_session, write_new
from contentmodel.cli.show import Full, Width
from contentmodel.cli.stores import open_store, without_password
from contentmodel.cli.transcript import transcript
from contentmodel.display import count_of
from contentmodel.engine.losses.loss import LossError
from contentmodel.request import ChatRequest

_SHOWN = 30
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Tools(StrEnum):
    """The policies for the tools of the other agent."""

    keep = "keep"
    map = "map"
    text = "text"


Which = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="The id of a session, the beginning of one, or the path of a session file; - is standard input.",
        show_default=False,
    ),
]
OfAgent = Annotated[
    str | None, typer.Option("--agent", metavar="AGENT", help="Only sessions of this agent: claude-code, codex, ...")
]
OfProject = Annotated[
    Path | None, typer.Option("--project", metavar="FOLDER", help="Only sessions in this folder or below it.")
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", "-n", metavar="N", min=0, help=f"The most sessions to list; 0: all. Default: {_SHOWN}, --json: all."
    ),
]
Everything = Annotated[
    bool, typer.Option("--all", help="List sub-agents, and older files of the same session, too. Lists all sessions.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object per session, one per line.")]
Alone = Annotated[
    bool,
    typer.Option("--alone", help="Codex: read only the file, without the session that it continues after a fork."),
]
FullResults = Annotated[
    bool,
    typer.Option("--full-results", help="Claude Code: read large results from their files, in place of the previews."),
]
ToAgent = Annotated[
    str, typer.Option("--to", metavar="AGENT", help="claude-code or codex; or the id of an API, with --output.")
]
ToolPolicy = Annotated[
    Tools,
    typer.Option(
        "--tools",
        help="The tools of the source. keep: their names. map: the tools of the target, where one does the same. "
        "text: calls and results as text.",
    ),
]
NewId = Annotated[
    str | None, typer.Option("--id", metavar="UUID", help="The id of the new session. Default: a random one.")
]
Directory = Annotated[
    str | None,
    typer.Option(
        "--directory", metavar="FOLDER", help="The project folder of the new session. Default: that of the source."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing: print the path, the losses and the command.")]
Elsewhere = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write to this new file, and not where the agent finds it; - is standard output.",
    ),
]


Store = Annotated[
    str, typer.Option("--store", metavar="STORE", help="A SQLite file, or postgresql://...; created if it is missing.")
]
NewConversation = Annotated[
    str | None,
    typer.Option(
        "--conversation", "-c", metavar="ID", help="The id of the conversation. Default: that of the session."
    ),
]
QuietBar = Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the progress bar.")]


def sessions_command() -> None:
    """List the sessions of coding agents on this machine, show them, and move them from one agent to another.

    The agents are Claude Code, Codex and Gemini CLI (read only). Their session files are found below ~/.claude (or
    $CLAUDE_CONFIG_DIR), ~/.codex (or $CODEX_HOME) and ~/.gemini. They are never changed.

    \b
    [bold]Examples[/bold]
    contentmodel sessions list
    contentmodel sessions show 4ec89008
    contentmodel sessions convert 4ec89008 --to codex
    contentmodel sessions import 4ec89008 --store history.db
    """


def list_sessions(
    *,
    agent: OfAgent = None,
    project: OfProject = None,
    limit: Limit = None,
    everything: Everything = False,
    as_json: AsJson = False,
) -> None:
    """List the sessions of coding agents on this machine, the one that changed last first.

    Only the first lines of each file are read. A file that cannot be read is listed with the reason. The id is cut to
    the shortest beginning that no other session has; other commands accept it.

    Exit codes: 0 listed; 2 a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel sessions list
    contentmodel sessions list --agent codex --project .
    contentmodel sessions list --json | jq -r .path
    """
    only = agent_named(agent, "--agent")
    chosen = agents() if only is None else [only]
    every = sessions_of(chosen, sub_agents=everything)
    found = listed(every, everything=everything)
    if project is not None:
        folder = os.path.realpath(project)
        found = (session for session in found if _is_in(session, folder))
    most = limit if limit is not None else 0 if as_json or everything else _SHOWN
    shown = list(islice(found, most or None))
    if as_json:
        for session in shown:
            print_json(as_object(session))
        return
    console = out()
    if shown:
        print_sessions(shown, every, console)
    else:
        places = ", ".join(str(each.home) for each in chosen)
        console.print(safe_text(f"no sessions in {places}", "dim"), soft_wrap=True)
    if most and len(shown) == most and next(found, None) is not None:
        err().print(f"these are the {most} newest; --limit 0 lists all", style="dim")


def _is_in(session: Session, folder: str) -> bool:
    return session.directory is not None and Path(session.directory).is_relative_to(folder)


def show_session(
    session: Which, *, alone: Alone = False, full_results: FullResults = False, width: Width = None, full: Full = False
) -> None:
    """Show the conversation of a session as a readable transcript, as the agent would resume it.

    Each tool call is shown together with its result. Long texts are cut; --full prints them completely. A fork of
    Codex is shown with the session that it continues.

    Exit codes: 0 shown; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel sessions show 4ec89008
    contentmodel sessions show 4ec89008 --full --full-results | less -R
    """
    console = out(width)
    found = find_session(session)
    for loaded in load_session(found, alone=alone, full_results=full_results):
        with _naming(loaded):
            request = load(found.agent.api).decode_request(loaded.lines)
        title = " · ".join(part for part in (found.agent.name, found.id, found.directory) if part)
        console.print(Rule(safe_text(title, "bold")))
        print_parts(console, transcript(request, Page(full)))


def convert_sessions(
    session: Which,
    *,
    target: ToAgent,
    tools: ToolPolicy = Tools.keep,
    new_id: NewId = None,
    directory: Directory = None,
    output: Elsewhere = None,
    dry_run: DryRun = False,
    alone: Alone = False,
    full_results: FullResults = False,
    losses: Losses = None,
    on_loss: Raising = OnLoss.report,
    policy: Policies = None,
    quiet: Quiet = False,
) -> None:
    """Convert a session to the format of another agent, and write it where that agent finds it.

    The file gets a new id. No file is ever replaced. A summary of the losses goes to standard error; the path of the
    new file, and the command that resumes the session, go to standard output.

    Both agents accept calls of tools that they do not have (--tools keep). With --tools map, Bash, Write, Edit and
    others become exec_command and apply_patch, and the reverse; a call without an exact counterpart keeps its name.

    Exit codes: 0 converted; 1 refused by --on-loss raise; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel sessions convert 4ec89008 --to codex --dry-run
    contentmodel sessions convert 4ec89008 --to codex --tools map
    contentmodel sessions convert rollout.jsonl --to claude-code --directory .
    contentmodel sessions convert 4ec89008 --to openai-chat -o chat.json
    """
    agent = agent_named(target, "")
    if agent is None:
        check_api(target, "--to", stored=False)
        _check_no_agent({"--id": new_id, "--directory": directory, "--dry-run": dry_run})
    elif agent.place is None:
        hint = "use --to claude-code or --to codex"
        raise Problem(f"--to {target}: sessions of this agent can be read only", hint=hint)
    found = find_session(session)
    if found.agent is agent:
        raise Problem(f"{found.path}: this is a session of {agent.name} already", hint="name another agent with --to")
    check_output(losses, [str(found.path), output], "--losses")
    folder = os.path.realpath(directory) if directory is not None else found.directory or os.getcwd()
    id_ = _new_id(new_id, agent)
    policies: dict[str, Any] = {**parse_policies(policy or []), "session": id_, "directory": folder}
    plan = Plan(target if agent is None else agent.api, tools.value, policies, on_loss.value)
    tally, refused = Tally(documents=1), None
    for loaded in load_session(found, alone=alone, full_results=full_results, doing="converting", quiet=quiet):
        with open_optional(losses) as tally.listing:
            try:
                with _naming(loaded):
                    encoded = convert_session(loaded, plan)
            except LossError as error:
                refused = error
                tally.add(loaded.document, error.losses)
                continue
            tally.add(loaded.document, encoded.losses)
            body = encoded.to_json()
            place = None if agent is None or output is not None else agent.place
            path = None if agent is None or place is None else place(agent, id_, folder, encoded.payload)
            _write(path, output, body, dry_run=dry_run)
            tally.converted = 1
    if not quiet:
        print_tally(tally, err(), target=plan.target, is_lines=False)
    if refused is not None:
        raise refused
    if agent is not None and path is not None:
        _print_resume(agent, id_, folder, path, dry_run=dry_run)


def import_session(
    session: Which,
    *,
    store: Store,
    conversation: NewConversation = None,
    alone: Alone = False,
    full_results: FullResults = False,
    quiet: QuietBar = False,
) -> None:
    """Store a session as a conversation of a store, with its times, usage and ids.

    A store is a SQLite file, which is created if it does not exist, or the URL of a PostgreSQL database. Needs
    contentmodel\\[history]. To update a conversation, delete it from the store first.

    Exit codes: 0 stored; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel sessions import 4ec89008 --store history.db
    contentmodel show history.db --conversation 4ec89008-99e3-42e4-b08e-5d8711230cc0
    """
    found = find_session(session)
    name = conversation or found.id
    if not name:
        raise Problem(f"{found.path}: the session has no id", hint="name the conversation with --conversation ID")
    for loaded in load_session(found, alone=alone, full_results=full_results, doing="importing", quiet=quiet):
        with _naming(loaded):
            request = load(found.agent.api).decode_request(loaded.lines)
        turns = _stored(store, name, request)
    named = without_password(store)
    out().print(visible(f"stored {count_of(turns, 'turn')} as the conversation {name}"), soft_wrap=True)
    show = f"contentmodel show {shlex.quote(named)} --conversation {shlex.quote(name)}"
    out().print(visible(f"show with: {show}"), soft_wrap=True)


def _stored(store: str, name: str, request: ChatRequest) -> int:
    """Store a request as a new conversation. Return the number of its turns."""
    with open_store(store, create=True) as opened:
        from contentmodel.history import ConflictError

        try:
            return len(opened.save(name, request))
        except ConflictError as error:
            raise Problem(str(error), hint="name another conversation with --conversation ID") from None


@contextmanager
def _naming(loaded: Loaded) -> Iterator[None]:
    """Print the errors of a session with its file and its lines, and exit. Refused losses are raised."""
    try:
        yield
    except LossError:
        raise
    except BAD_DOCUMENT as error:
        problem = problem_of(error, loaded.document.location, "", loaded.document.after_location)
        print_problem(problem)
        raise typer.Exit(problem.code) from None


def _check_no_agent(options: dict[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise Problem(f"{option} needs an agent as --to", hint=f"remove {option}, or use --to claude-code or codex")


def _new_id(text: str | None, agent: Agent | None) -> str:
    """Return the id of the new session. Raise Problem if it is no id, or that of a session that exists."""
    if text is None or agent is None:
        return str(uuid4())
    id_ = text.lower()
    if not _ID.fullmatch(id_):
        raise Problem(f"--id: expected a UUID, got {text!r}", hint="example: --id 5e551011-0000-4000-8000-000000000000")
    if any(session.id == id_ for session in sessions_of([agent], sub_agents=False)):
        raise Problem(f"--id: a session of {agent.name} with the id {id_} exists", hint="use another id, or none")
    return id_


def _write(path: Path | None, output: str | None, body: bytes, *, dry_run: bool) -> None:
    if path is None and output in (None, "-"):
        if not dry_run:
            with open_output(None) as write:
                write(body if body.endswith(b"\n") else body + b"\n")
        return
    target = Path(output or "") if path is None else path
    check_free(target, "--output" if path is None else "--id")
    if not dry_run:
        write_new(target, body)


def _print_resume(agent: Agent, id_: str, folder: str, path: Path, *, dry_run: bool) -> None:
    console = out()
    console.print(visible(f"{'would write' if dry_run else 'wrote'} {path}"), soft_wrap=True)
    console.print(visible(f"resume with: {agent.resume_in(id_, folder)}"), soft_wrap=True)
    if not os.path.isdir(folder):
        note = f"the folder {folder} does not exist on this machine; --directory FOLDER names another one"
        err().print(visible(note), style="yellow", soft_wrap=True)


COMMANDS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("list", list_sessions),
    ("show", show_session),
    ("convert", convert_sessions),
    ("import", import_session),
)
"""The subcommands of `contentmodel sessions`, with their names."""
