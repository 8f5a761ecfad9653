"""`contentmodel check`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from contentmodel.cli.console import Terminal, err, out, safe_text, visible
from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import STORED, check_api, load
from contentmodel.cli.options import In, Model
from contentmodel.cli.output import print_json
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, Payload, for_each, identify, open_source
from contentmodel.rules import Violation

VIOLATIONS_FOUND = 1
_STYLES = {"refused": "bold red", "ignored": "yellow", "harmful": "magenta", "unchecked": "dim"}

For = Annotated[
    str | None,
    typer.Option("--for", metavar="API", help="The API whose rules to check. Default: the one that is detected."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object for each violation, a line each.")]


def check(path: In = None, *, api: For = None, model: Model = None, as_json: AsJson = False) -> None:
    """Say what an API would refuse, ignore or answer badly in requests, and what to do about it.

    [bold]refused[/bold] is answered with an error; [bold]ignored[/bold] is accepted, and the model never sees it;
    [bold]harmful[/bold] is accepted, and the answer is worse for it. Some rules are of some models only: --model says
    which one a request is for, where it does not say so itself. [bold]unchecked[/bold] is no violation: the rule could
    not be applied to the model, and the provider's newest model would refuse it. A model that is not listed counts as
    the newest; a note on standard error says so, and with --json an unchecked [bold]listed-model[/bold].

    Exit codes: 0 no rule is broken; 1 some are; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel check request.json --for anthropic-messages
    contentmodel check request.json --for openai-chat --model gpt-5.2
    contentmodel check log.jsonl --json | jq -r .rule | sort | uniq -c
    """
    check_api(api, "--for", stored=False)
    console = out()
    source = open_source(path, "rules are for requests")
    found, notes = 0, set[str]()

    def work(document: Document) -> None:
        nonlocal found
        payload = identify(document, api, "request" if api is not None else None)
        violations = violations_of(payload, model)
        unlisted = _unlisted(payload, model)
        if unlisted is not None and as_json:
            print_json(_listed(document, unlisted))
        elif unlisted is not None and unlisted.what not in notes:
            notes.add(unlisted.what)
            err().print(f"note: {visible(unlisted.what)}", style="dim", soft_wrap=True)
        found += sum(violation.severity != "unchecked" for violation in violations)
        for violation in violations:
            if as_json:
                print_json(_listed(document, violation))
            else:
                _print(document, violation, console)

    code = for_each(documents_of(source, "checking"), work, "--for API")
    if not as_json and not code:
        _print_count(found, console)
    raise typer.Exit(code or (VIOLATIONS_FOUND if found else 0))


def violations_of(payload: Payload, model: str | None) -> Sequence[Violation]:
    """The violations of one request. Problem where it is none."""
    if payload.api == STORED:
        raise Problem("a stored document breaks no API's rules", hint="convert it first: contentmodel convert --to API")
    if payload.kind != "request":
        raise Problem(f"a {payload.kind} of {payload.api}: rules are for requests")
    found: Sequence[Violation] = load(payload.api).check_request(payload.value, model)
    return found


def _unlisted(payload: Payload, model: str | None) -> Violation | None:
    """Return that a request's model counts as the newest because its API's table does not list it; None if it does."""
    fields = payload.value if isinstance(payload.value, dict) else {}
    named = fields.get("model") if model is None else model
    what = load(payload.api).knowing(named if isinstance(named, str) else None).unlisted()
    fix = "name a listed model by --model, or read the rules of the newest model as a guess"
    path = "$.model" if "model" in fields else "$"
    if what is None:
        return None
    return Violation(path=path, rule="listed-model", severity="unchecked", what=what, fix=fix)


def _listed(document: Document, violation: Violation) -> dict[str, Any]:
    line = {} if document.line is None else {"line": document.line}
    return {**line, **msgspec.structs.asdict(violation)}


def _print(document: Document, violation: Violation, console: Terminal) -> None:
    head = Text(violation.severity, style=_STYLES[violation.severity])
    head.append(f" {violation.rule}", style="bold").append(" at ").append_text(
        safe_text(document.at(violation.path), "cyan")
    )
    console.print(head, soft_wrap=True)
    console.print(f"  {visible(violation.what)}", soft_wrap=True)
    console.print(f"  {visible(violation.fix)}", style="dim", soft_wrap=True)


def _print_count(found: int, console: Terminal) -> None:
    if not found:
        console.print("no rule is broken", style="green")
    else:
        console.print("1 violation" if found == 1 else f"{found:,} violations", style="yellow")
