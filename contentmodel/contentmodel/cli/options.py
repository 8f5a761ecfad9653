"""Arguments and options that several commands share, and their checks."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, cast

import typer

from contentmodel.adapter import adapters
from contentmodel.capabilities import check_choice
from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import api_option
from contentmodel.literals import Policies
from contentmodel.policies import POLICIES, TEXT_POLICIES, output_limit_of


class PayloadKind(StrEnum):
    """The kinds of payload of an API."""

    request = "request"
    response = "response"
    stream = "stream"


class OnLoss(StrEnum):
    """The handling of losses."""

    report = "report"
    raise_ = "raise"


In = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="JSON, JSON Lines, or a stream. Default, or with -: standard input.",
        show_default=False,
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="API", help="The API of the input, or contentmodel (stored documents). Default: detected."
    ),
]
Kind = Annotated[PayloadKind | None, typer.Option("--kind", help="The kind of the input. Default: detected.")]


Model = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="MODEL", help="The model that the request is for. Default: the model that the request names."
    ),
]


def parse_models(texts: list[str]) -> dict[str, str]:
    """Parse API=MODEL texts. Raise Problem if an API is unknown."""
    models = {}
    for text in texts:
        api, _, model = text.partition("=")
        if not model:
            raise Problem(
                f"--model: expected API=MODEL, got {text!r}", hint="example: --model anthropic-messages=claude-opus-4-8"
            )
        models[api_option(api, "--model", stored=False)] = model
    return models


def parse_policies(texts: list[str]) -> Policies:
    """Parse FAMILY=CHOICE texts. Raise Problem if a policy is unknown."""
    return cast(Policies, dict(_parse_policy(text) for text in texts))


def _parse_policy(text: str) -> tuple[str, str]:
    family, _, choice = text.partition("=")
    if family == "capabilities":
        _check_capabilities(choice)
    elif family == "output_limit":
        _check_limit(choice)
    elif family == "dialect":
        _check_dialect(choice)
    elif family not in TEXT_POLICIES and choice not in POLICIES.get(family, ()):
        policies = "; ".join(f"{name}={'|'.join(choices)}" for name, choices in POLICIES.items())
        raise Problem(
            f"--policy: unknown policy {text!r}",
            hint=f"use one of: {policies}; capabilities=MODEL|any|JSON; output_limit=N; session=ID; directory=PATH; "
            "dialect=HOST",
        )
    return family, choice


def _check_dialect(choice: str) -> None:
    dialects = sorted({name for loaded in adapters().values() for name in getattr(loaded, "dialects", ())})
    if choice not in dialects:
        raise Problem(f"--policy: unknown policy {f'dialect={choice}'!r}", hint=f"use one of: {', '.join(dialects)}")


def _check_limit(choice: str) -> None:
    try:
        output_limit_of(choice)
    except ValueError as error:
        raise Problem(f"--policy: {error}", hint="use output_limit=32000, for example") from None


def _check_capabilities(choice: str) -> None:
    try:
        check_choice(choice)
    except ValueError as error:
        raise Problem(f"--policy: {error}", hint="use capabilities=MODEL, =any, or =JSON") from None
