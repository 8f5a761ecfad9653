"""The policies of a conversion: what a caller can choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from contentmodel.capabilities import check_choice
from contentmodel.json import whole_number
from contentmodel.literals import OnLoss, Policies

POLICIES = {
    "reasoning": ("drop", "text", "reasoning_content", "reasoning", "reasoning_details"),
    "hosted_tools": ("function", "text", "drop"),
    "compaction": ("text", "drop"),
    "prefill": ("continue", "keep"),
    "stream_usage": ("last", "chunk"),
    "ai_sdk": ("7", "6", "5"),
}
"""The policies for foreign targets, with their values. The first value is the default.

`reasoning_content`, `reasoning` and `reasoning_details` are fields of assistant messages that some hosts of Chat
Completions support. An API without them gets no reasoning. `prefill` is for models that refuse to continue an answer:
if the conversation ends with one, "continue" adds a message of the user, and "keep" does not. `stream_usage` is for
streams of Chat Completions: "last" puts the usage in the last chunk with a choice, "chunk" in a separate chunk without
choices, as `stream_options.include_usage` does. `ai_sdk` is the version of Vercel's AI SDK that reads the messages.

The additional policy `capabilities` sets the capabilities of the target's model: the name of a listed model, "any", or
a JSON object with fields of `contentmodel.capabilities.Capabilities`. The policy `output_limit` is a number: the limit
of output tokens for an API that requires one, if the request has none. The policies of TEXT_POLICIES are texts: the id
and the working directory of a session of a coding agent, and the name of the host of an API that has several
(`dialects` of its adapter): Chat Completions, Anthropic Messages and generateContent.
"""


TEXT_POLICIES = ("session", "directory", "dialect")


def check_choices(policies: Policies | None, on_loss: OnLoss) -> Mapping[str, str] | None:
    """Return the policies of a caller. Raise ValueError with the valid choices if `on_loss` or a policy is invalid."""
    if on_loss not in ("report", "raise"):
        raise ValueError(f"on_loss is {on_loss!r}: expected 'report' or 'raise'")
    return check_policies(policies)


def check_policies(policies: Policies | None) -> Mapping[str, str] | None:
    """Return the policies of a caller. Raise ValueError with the valid choices if a policy is invalid."""
    chosen = cast("Mapping[str, str] | None", policies)
    for family, policy in (chosen or {}).items():
        if family == "capabilities":
            check_choice(policy)
        elif family == "output_limit":
            output_limit_of(policy)
        elif family not in TEXT_POLICIES and policy not in POLICIES.get(family, ()):
            choices = "; ".join(f"{name}: {' | '.join(options)}" for name, options in POLICIES.items())
            more = "capabilities: MODEL | any | JSON; output_limit: N; session: ID; directory: PATH; dialect: HOST"
            raise ValueError(f"unknown policy {family}={policy}: expected {choices}; {more}")
    return chosen


def output_limit_of(policy: str) -> int:
    """Return the number of the policy `output_limit`. Raise ValueError if it is not a positive number."""
    limit = whole_number(policy)
    if not limit:
        raise ValueError(f"unknown policy output_limit={policy}: expected a number of tokens")
    return limit
