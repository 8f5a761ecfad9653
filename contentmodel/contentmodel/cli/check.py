"""`contentmodel check`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from contentmodel.cli.console import Terminal, err, out, safe_text, visible
from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import STORED, load, target_option
from contentmodel.cli.options import In, Model, parse_policies
from contentmodel.cli.output import print_json
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, Payload, for_each, identify, open_source
from contentmodel.convert import check as check_request
from contentmodel.display import count_of
from contentmodel.literals import Policies
from contentmodel.rules import Violation

VIOLATIONS_FOUND = 1
_STYLES = {"refused": "bold red", "ignored": "yellow", "harmful": "magenta", "unchecked": "dim"}

For = Annotated[
    str | None,
    typer.Option("--for", metavar="API", help="The API whose rules are checked. Default: the detected API."),
]
About = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="FAMILY=CHOICE",
        help="What is known of the model: dialect=HOST names its host, capabilities=MODEL|any|JSON its capabilities. "
        "Repeatable.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object per violation, one per line.")]


def check(
    path: In = None, *, api: For = None, model: Model = None, policy: About = None, as_json: AsJson = False
) -> None:
    """Check requests against the rules of an API. Print each violation with its JSON path and its fix.

    The severities: [bold]refused[/bold]: the API answers with an error. [bold]ignored[/bold]: the API accepts the
    value, but the model never sees it. [bold]harmful[/bold]: the API accepts the value, but the answer is worse.
    [bold]unchecked[/bold]: not a violation. The rule cannot be checked for this model; the provider's newest model
    would refuse the request.

    Some rules apply only to some models. If a request does not name its model, name it with --model. An unlisted
    model counts as the provider's newest: a note on standard error reports this, and --json adds an unchecked object
    of the rule [bold]listed-model[/bold].

    Some rules are a host's: Groq, for example, refuses fields of Chat Completions that OpenAI accepts. Often the name
    of the model selects its host. If not, name the host with --policy.

    Exit codes: 0 no violations; 1 violations; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel check request.json --for anthropic-messages
    contentmodel check request.json --for openai-chat --model gpt-5.2
    contentmodel check request.json --policy dialect=groq
    contentmodel check log.jsonl --json | jq -r .rule | sort | uniq -c
    """
    api, model = target_option(api, "--for", model, stored=False)
    policies = parse_policies(policy or [])
    console = out()
    source = open_source(path, "only requests can be checked", api)
    count, notes = 0, set[str]()

    def work(document: Document) -> None:
        nonlocal count
        payload = identify(document, api, "request" if api is not None else None)
        violations = violations_of(payload, model, policies)
        unlisted = _unlisted(payload, model, policies)
        if unlisted is not None and as_json:
            print_json(_listed(document, unlisted))
        elif unlisted is not None and unlisted.message not in notes:
            notes.add(unlisted.message)
            err().print(f"note: {visible(unlisted.message)}", style="dim", soft_wrap=True)
        count += sum(violation.severity != "unchecked" for violation in violations)
        for violation in violations:
            if as_json:
                print_json(_listed(document, violation))
            else:
                print_violation(violation, document.at(violation.path), console)

    code = for_each(documents_of(source, "checking"), work, "--for API")
    if not as_json and not code:
        print_count(count, console)
    raise typer.Exit(code or (VIOLATIONS_FOUND if count else 0))


def violations_of(payload: Payload, model: str | None, policies: Policies) -> Sequence[Violation]:
    """Return the violations of one request. Raise Problem if the payload is not a request."""
    if payload.api == STORED:
        raise Problem(
            "a stored document has no API to check", hint="convert it first: contentmodel convert FILE --to API"
        )
    if payload.kind != "request":
        raise Problem(f"this is a {payload.kind} of {payload.api}; only requests can be checked")
    return check_request(payload.value, api=payload.api, model=model, policies=policies)


def _unlisted(payload: Payload, model: str | None, policies: Policies) -> Violation | None:
    """Return a note that the API's table does not list the request's model; None if the table lists it."""
    fields = payload.value if isinstance(payload.value, dict) else {}
    model_id = fields.get("model") if model is None else model
    message = load(payload.api).look_up_model(model_id if isinstance(model_id, str) else None, policies).unlisted()
    fix = "name a listed model with --model, or treat the result as a guess: the rules of the newest model were used"
    path = "$.model" if "model" in fields else "$"
    if message is None:
        return None
    return Violation(path=path, rule="listed-model", severity="unchecked", message=message, fix=fix)


def _listed(document: Document, violation: Violation) -> dict[str, Any]:
    number = document.line_of(violation.path)
    line = {} if number is None else {"line": number}
    return {**line, **msgspec.structs.asdict(violation)}


def print_violation(violation: Violation, place: str, console: Terminal) -> None:
    """Print a violation with its place, its message and its fix."""
    head = Text(violation.severity, style=_STYLES[violation.severity])
    head.append(f" {violation.rule}", style="bold").append(" at ").append_text(safe_text(place, "cyan"))
    console.print(head, soft_wrap=True)
    console.print(f"  {visible(violation.message)}", soft_wrap=True)
    console.print(f"  {visible(violation.fix)}", style="dim", soft_wrap=True)


def print_count(count: int, console: Terminal) -> None:
    """Print the number of violations."""
    if not count:
        console.print("no violations", style="green")
    else:
        console.print(count_of(count, "violation"), style="yellow")
