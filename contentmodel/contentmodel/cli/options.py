"""What several commands take, and the checks of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, cast

import typer

from contentmodel.capabilities import check_choice
from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import check_api
from contentmodel.engine.pipeline.lowering import POLICIES
from contentmodel.literals import Policies


class PayloadKind(StrEnum):
    """The kinds of payload that an API has."""

    request = "request"
    response = "response"
    stream = "stream"


class OnLoss(StrEnum):
    """What to do about a loss."""

    report = "report"
    raise_ = "raise"


In = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="JSON, JSON Lines, or a stream; - is standard input, which is also read when something is piped in.",
        show_default=False,
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="API", help="The API that the input is of, or contentmodel. Default: detected."),
]
Kind = Annotated[PayloadKind | None, typer.Option("--kind", help="Which of these the input is. Default: detected.")]


Model = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help="The model that a request is for. Default: the one that it names."),
]


def parse_models(texts: list[str]) -> dict[str, str]:
    """API=MODEL, by API. Problem where there is no such API."""
    models = {}
    for text in texts:
        api, _, model = text.partition("=")
        if not model:
            raise Problem(
                f"--model: expected API=MODEL, got {text!r}", hint="--model anthropic-messages=claude-opus-4-8"
            )
        check_api(api, "--model", stored=False)
        models[api] = model
    return models


def parse_policies(texts: list[str]) -> Policies:
    """FAMILY=CHOICE, as `convert` takes it. Problem where there is no such policy."""
    return cast(Policies, dict(_parse_policy(text) for text in texts))


def _parse_policy(text: str) -> tuple[str, str]:
    family, _, choice = text.partition("=")
    if family == "capabilities":
        _check_capabilities(choice)
    elif choice not in POLICIES.get(family, ()):
        known = "; ".join(f"{name}={'|'.join(choices)}" for name, choices in POLICIES.items())
        raise Problem(f"--policy: there is no {text!r}", hint=f"there are: {known}; capabilities=MODEL|any|JSON")
    return family, choice


def _check_capabilities(choice: str) -> None:
    try:
        check_choice(choice)
    except ValueError as error:
        raise Problem(f"--policy: {error}", hint="capabilities=MODEL, capabilities=any, or capabilities=JSON") from None
