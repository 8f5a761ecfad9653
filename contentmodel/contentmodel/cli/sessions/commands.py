"""The subcommands of `contentmodel sessions`."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
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
from contentmodel.cli.installed import load, points
from contentmodel.cli.losses import Tally, print_tally
from contentmodel.cli.options import OnLoss, parse_policies
from contentmodel.cli.output import check_output, open_optional, open_output, print_json
from contentmodel.cli.pieces import Page, print_parts
from contentmodel.cli.sessions.agents import Agent, Session, agent_named, agents
from contentmodel.cli.sessions.finding import find_session, listed, sessions_of
from contentmodel.cli.sessions.listing import as_object, print_sessions
from contentmodel.cli.sessions.loading import Loaded, load_session
from contentmodel.cli.sessions.writing import Plan, check_free, check_messages, convert_session, write_new
from contentmodel.cli.show import Full, Width
from contentmodel.cli.stores import open_store, without_password
from contentmodel.cli.transcript import transcript
from contentmodel.display import count_of
from contentmodel.encoded import Encoded
from contentmodel.losses import LossError
from contentmodel.request import ChatRequest

_SHOWN = 30
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Tools(StrEnum):
    """The policies for the calls of the source agent's tools."""

    keep = "keep"
    map = "map"
    text = "text"


Which = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="The id of a session, the first characters of an id, or the path of a session file; - is standard input.",
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
        "--limit",
        "-n",
        metavar="N",
        min=0,
        help=f"The number of sessions to list; 0 lists all. Default: {_SHOWN}; with --json or --all: all.",
    ),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Also list sub-agents, and older files of the same session. No limit by default.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object per session, one per line.")]
Alone = Annotated[
    bool,
    typer.Option(
        "--alone", help="Codex: read only this file of a forked or reverted session, without the lines before it."
    ),
]
FullResults = Annotated[
    bool,
    typer.Option(
        "--full-results", help="Claude Code: replace the previews of large results by the full texts in tool-results/."
    ),
]
ToAgent = Annotated[
    str,
    typer.Option(
        "--to", metavar="AGENT", help="claude-code or codex; or the id of an API: the payload goes to --output."
    ),
]
ToolPolicy = Annotated[
    Tools,
    typer.Option(
        "--tools",
        help="How to convert calls of the source's tools. keep: keep their names. map: call the target's tool if it "
        "does the same, else keep the name. text: write calls and results as text.",
    ),
]
NewId = Annotated[
    str | None, typer.Option("--id", metavar="UUID", help="The id of the new session. Default: a random one.")
]
Directory = Annotated[
    str | None,
    typer.Option(
        "--directory",
        metavar="FOLDER",
        help="The project folder of the new session. Default: the folder of the source.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Write nothing. Print the losses, the path, and the command that would resume the session."
    ),
]
Elsewhere = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write to this new file instead of the agent's folder; - is standard output.",
    ),
]


Store = Annotated[
    str,
    typer.Option(
        "--store", metavar="STORE", help="A SQLite file, which is created if it is missing, or postgresql://..."
    ),
]
NewConversation = Annotated[
    str | None,
    typer.Option(
        "--conversation", "-c", metavar="ID", help="The id of the new conversation. Default: the id of the session."
    ),
]
QuietBar = Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the progress bar.")]


def sessions_command() -> None:
    """List the sessions of coding agents on this machine, show them, and move them from one agent to another.

    The session files of Claude Code are in ~/.claude (or $CLAUDE_CONFIG_DIR), of Codex in ~/.codex (or $CODEX_HOME),
    and of Gemini CLI in ~/.gemini. They are never changed. A session can be converted to Claude Code and Codex.

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
    """List the sessions of coding agents on this machine, with the last changed session first.

    Only the first lines of each file are read. A file that cannot be read is listed with the reason. Ids are shortened,
    but stay unique: the other commands accept them.

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
    sessions = listed(every, everything=everything)
    if project is not None:
        folder = os.path.realpath(project)
        sessions = (session for session in sessions if _is_in(session, folder))
    most = limit if limit is not None else 0 if as_json or everything else _SHOWN
    shown = list(islice(sessions, most or None))
    if as_json:
        for session in shown:
            print_json(as_object(session))
        return
    console = out()
    if shown:
        print_sessions(shown, every, console)
    else:
        places = ", ".join(str(each.home) for each in chosen)
        of_project = "" if project is None else f" of the project {folder}"
        console.print(safe_text(f"no sessions{of_project} in {places}", "dim"), soft_wrap=True)
    if most and len(shown) == most and next(sessions, None) is not None:
        err().print("more sessions exist; --limit 0 lists all", style="dim")


def _is_in(session: Session, folder: str) -> bool:
    return session.directory is not None and Path(session.directory).is_relative_to(folder)


def show_session(
    session: Which, *, alone: Alone = False, full_results: FullResults = False, width: Width = None, full: Full = False
) -> None:
    """Show the conversation of a session as a readable transcript.

    The transcript has the messages that the agent would send to the model when it resumes the session. Each tool call
    is shown together with its result. Long texts are cut; --full prints them completely. A fork of Codex is shown with
    the messages before the fork.

    Exit codes: 0 shown; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel sessions show 4ec89008
    contentmodel sessions show 4ec89008 --full --full-results | less -R
    """
    console = out(width)
    session_file = find_session(session)
    for loaded in load_session(session_file, alone=alone, full_results=full_results):
        with _naming(loaded):
            request = _decoded(loaded)
        title = " · ".join(part for part in (session_file.agent.name, session_file.id, session_file.directory) if part)
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

    The new session has a new id. No file is ever replaced. A summary of the losses goes to standard error. The path of
    the new file, and the command that resumes the session, go to standard output.

    Claude Code and Codex accept histories with calls of unknown tools (--tools keep). With --tools map, calls of Bash,
    Write and Edit become calls of exec_command and apply_patch, and the reverse. A call without an exact counterpart
    keeps its name.

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
        _check_target(target)
        _check_no_agent({"--id": new_id, "--directory": directory, "--dry-run": dry_run})
    elif agent.place is None:
        hint = f"use --to claude-code or --to codex; `contentmodel convert FILE --to {agent.api}` writes its format"
        raise Problem(f"--to {target}: this command cannot create sessions of {agent.name}", hint=hint)
    session_file = find_session(session)
    if session_file.agent is agent:
        raise Problem(
            f"{session_file.path}: it is already a session of {agent.name}", hint="use --to with another agent"
        )
    check_output(losses, [str(session_file.path), output], "--losses")
    folder = os.path.realpath(directory) if directory is not None else session_file.directory or os.getcwd()
    id_ = _new_id(new_id, agent)
    policies: dict[str, Any] = {**_policies(policy), "session": id_, "directory": folder}
    plan = Plan(target if agent is None else agent.api, tools.value, policies, on_loss.value)
    tally, refused = Tally(documents=1), None
    prints = output == "-" or (agent is None and output is None)
    for loaded in load_session(
        session_file, alone=alone, full_results=full_results, doing="converting", quiet=quiet, prints=prints
    ):
        with open_optional(losses) as tally.listing:
            try:
                with _naming(loaded):
                    encoded = convert_session(loaded, plan)
            except LossError as error:
                refused = error
                tally.add(loaded.document, error.losses)
                continue
            tally.add(loaded.document, encoded.losses)
            place = None if agent is None or output is not None else agent.place
            path = None if agent is None or place is None else place(agent, id_, folder, encoded.payload)
            _write(path, output, encoded, None if session_file.data is not None else session_file.path, dry_run=dry_run)
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
    """Store a session as a new conversation in a database, with its times, usage and ids.

    The store is a SQLite file, which is created if it does not exist, or the URL of a PostgreSQL database. Needs
    contentmodel\\[history]. A conversation that exists is never changed: to import a session again, use another
    --conversation.

    Exit codes: 0 stored; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel sessions import 4ec89008 --store history.db
    contentmodel show history.db --conversation 4ec89008-99e3-42e4-b08e-5d8711230cc0
    """
    session_file = find_session(session)
    name = conversation or session_file.id
    if not name:
        raise Problem(
            f"{session_file.path}: the session has no id", hint="set the id of the conversation: --conversation ID"
        )
    for loaded in load_session(
        session_file, alone=alone, full_results=full_results, doing="importing", quiet=quiet, prints=False
    ):
        with _naming(loaded):
            request = _decoded(loaded)
        turns = _stored(store, name, request)
    named = without_password(store)
    out().print(visible(f"stored {count_of(turns, 'turn')} as the conversation {name}"), soft_wrap=True)
    show = f"contentmodel show {shlex.quote(named)} --conversation {shlex.quote(name)}"
    out().print(visible(f"show with: {show}"), soft_wrap=True)


def _decoded(loaded: Loaded) -> ChatRequest:
    """Return the conversation of a session. Raise Problem if it has no messages."""
    request: ChatRequest = load(loaded.session.agent.api).decode_request(loaded.lines)
    check_messages(request)
    return request


def _stored(store: str, name: str, request: ChatRequest) -> int:
    """Store a request as a new conversation. Return the number of its turns."""
    with open_store(store, create=True) as opened:
        from contentmodel.history import ConflictError

        try:
            return len(opened.save(name, request))
        except ConflictError as error:
            raise Problem(str(error), hint="set another id for the conversation: --conversation ID") from None


@contextmanager
def _naming(loaded: Loaded) -> Iterator[None]:
    """Print the errors of a session with its file and its lines, and exit. Pass LossError on."""
    try:
        yield
    except LossError:
        raise
    except BAD_DOCUMENT as error:
        problem = problem_of(error, loaded.document.location, "", loaded.document.after_location)
        print_problem(problem)
        raise typer.Exit(problem.code) from None


def _check_target(name: str) -> None:
    """Raise Problem if the value of --to is neither an agent nor an API that is installed."""
    if name in points():
        return
    writable = [agent.name for agent in agents() if agent.place is not None]
    matches = get_close_matches(name.lower(), [*writable, *points()], n=1)
    meant = f"did you mean {matches[0]}? " if matches else ""
    hint = f"{meant}the agents are {' and '.join(writable)}; `contentmodel apis` lists the APIs"
    raise Problem(f"--to: unknown agent or API {name!r}", hint=hint)


def _policies(policy: list[str] | None) -> dict[str, Any]:
    """Return the policies of the command line. Raise Problem for those that have an option of their own."""
    policies: dict[str, Any] = {**parse_policies(policy or [])}
    for family, option in (("session", "--id UUID"), ("directory", "--directory FOLDER")):
        if family in policies:
            raise Problem(f"--policy: {family} cannot be set here", hint=f"use {option}")
    return policies


def _check_no_agent(options: dict[str, object]) -> None:
    for option, value in options.items():
        if value:
            hint = f"remove {option}, or use --to claude-code or --to codex"
            raise Problem(f"{option} can be used only if --to is an agent", hint=hint)


def _new_id(text: str | None, agent: Agent | None) -> str:
    """Return the id of the new session. Raise Problem if it is not a UUID, or if a session of the agent has it."""
    if text is None or agent is None:
        return str(uuid4())
    id_ = text.lower()
    if not _ID.fullmatch(id_):
        raise Problem(f"--id: expected a UUID, got {text!r}", hint="example: --id 5e551011-0000-4000-8000-000000000000")
    if any(session.id == id_ for session in sessions_of([agent], sub_agents=False)):
        hint = "use another id, or omit --id for a random one"
        raise Problem(f"--id: {agent.name} already has a session with the id {id_}", hint=hint)
    return id_


def _write(path: Path | None, output: str | None, encoded: Encoded, source: Path | None, *, dry_run: bool) -> None:
    pieces = encoded.json_pieces()
    if path is None and output in (None, "-"):
        if not dry_run:
            with open_output(None) as write:
                for piece in pieces:
                    write(piece if piece.endswith(b"\n") else piece + b"\n")
        return
    target = Path(output or "") if path is None else path
    check_free(target, "--output" if path is None else "--id")
    if not dry_run:
        write_new(target, pieces, source)


def _print_resume(agent: Agent, id_: str, folder: str, path: Path, *, dry_run: bool) -> None:
    console = out()
    console.print(visible(f"{'would write' if dry_run else 'wrote'} {path}"), soft_wrap=True)
    console.print(visible(f"resume with: {agent.resume_in(id_, folder)}"), soft_wrap=True)
    if not os.path.isdir(folder):
        named = shlex.quote(folder) if folder.isprintable() else repr(folder)
        note = f"the folder {named} does not exist on this machine; to use another one, convert with --directory FOLDER"
        err().print(visible(note), style="yellow", soft_wrap=True)


COMMANDS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("list", list_sessions),
    ("show", show_session),
    ("convert", convert_sessions),
    ("import", import_session),
)
"""The subcommands of `contentmodel sessions`, with their names."""
