"""The capabilities of models: the types of the adapters' tables, and the look-up of a model's row by its name.

An adapter has one table of rows with source and date. Its encoder, its rules and `plan` read the same table. The policy
`capabilities` overrides it. A model that no row lists is treated as the provider's newest model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from contentmodel.framing import StreamFormat
    from contentmodel.request import ReasoningOptions

Range: TypeAlias = tuple[float, float]
"""The minimum and the maximum of a number. If both are equal, the model accepts only this value."""

Status: TypeAlias = Literal["listed", "newest", "guessed", "other", "chosen", "unlimited"]
"""The source of a model's capabilities.

`listed`: a row matches the model. `newest`: the name is one of the provider's, but no row matches; use the newest
model's. `guessed`: the model is missing or not one of the provider's; encoders and rules use the newest model's, and
violations are "unchecked". `other`: like `guessed`, on an API that serves models of many vendors; encoders apply no
limits. `chosen`: the policy `capabilities` sets them. `unlimited`: the API has no table."""

_UNLISTED = ("newest", "guessed", "other")

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The effort levels of all APIs, in rising order. "none" turns reasoning off."""

BUDGETS = {"minimal": 512, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 65536}
"""The thinking budget, in tokens, of each effort level, for conversion in both directions. low, medium and high are
Google's values (ai.google.dev/gemini-api/docs/openai, seen 2026-11-22); the others extend them."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The capabilities of a model. Every default means "no known limit": `Capabilities()` accepts everything.

    `efforts`: the effort levels in rising order, () if the model accepts none. `default_effort`: the level used if a
    request sets none. `thinking`: the reasoning modes ("disabled", "between_tools", "adaptive", "enabled"), () if the
    model does not reason. `budget`: the minimum and maximum thinking budget, in tokens. `efforts_without_thinking`: the
    levels that can be combined with "disabled" and "between_tools".

    `sampling`: the range of each accepted sampling setting, by its name in ChatOptions. `sampling_while_thinking`
    replaces `sampling` while the model reasons. `stop_sequences`: the maximum number of stop sequences.

    `structured_output`, `strict_tools`: responses and arguments can be made to follow a schema. `forced_tools`: a
    request may require a call. `functions_with_effort`: functions can be combined with an effort.
    `parallel_tool_calls`: the setting is accepted. `hosted_with_functions`: hosted tools can be combined with
    functions. `hosted_types`: the accepted types of hosted tools, by kind; a kind that is missing has no limit.
    `custom_tools`: tools that take free text are accepted.

    `media`: the kinds of media that the model reads ("image", "document", "audio", "video"). `media_in_results`: media
    are accepted in function results. `instructions`, `later_system`, `prefill`: system text, system messages after
    other messages, and a final assistant message are accepted. `signed_calls`: calls in a request need the signature of
    the model. `signatures`: what a signature is bound to besides its issuer ("model", "conversation", "account").
    `several_choices`: a request may ask for more than one answer. `cache_points`: if the API has cache points, the
    model accepts them. `refused`: names of further wire fields that the model refuses. `limited_by`: what sets the
    limits, if not the model ("version 2 of the API"); reasons of losses name it.
    """

    efforts: tuple[str, ...] | None = None
    default_effort: str | None = None
    thinking: tuple[str, ...] | None = None
    budget: tuple[int, int] | None = None
    efforts_without_thinking: tuple[str, ...] | None = None
    sampling: dict[str, Range] | None = None
    sampling_while_thinking: dict[str, Range] | None = None
    stop_sequences: int | None = None
    structured_output: bool = True
    strict_tools: bool = True
    forced_tools: bool = True
    functions_with_effort: bool = True
    parallel_tool_calls: bool = True
    hosted_with_functions: bool = True
    hosted_types: dict[str, tuple[str, ...]] | None = None
    custom_tools: bool = True
    media: tuple[str, ...] | None = None
    media_in_results: bool = True
    instructions: bool = True
    later_system: bool = True
    prefill: bool = True
    signed_calls: bool = False
    signatures: tuple[str, ...] = ()
    several_choices: bool = True
    cache_points: bool = True
    refused: tuple[str, ...] = ()
    limited_by: str | None = None

    def thinks_by(self, mode: str) -> bool:
        """Return whether the model accepts a reasoning mode."""
        return self.thinking is None or mode in self.thinking

    def sampled(self, *, thinks: bool) -> dict[str, Range] | None:
        """Return the accepted sampling settings with their ranges; None if no limit is known."""
        return self.sampling_while_thinking if thinks and self.sampling_while_thinking is not None else self.sampling

    def policy(self) -> str:
        """Return these limits as a value of the policy `capabilities` (JSON text)."""
        return msgspec.json.encode(self).decode()


class ListedModel(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a table: the models that `names` matches, their capabilities, the source, and the date it was seen.

    `names` is a regular expression that matches whole names in the form of `canonical`. `shown` is the display name.
    """

    shown: str
    names: str
    capabilities: Capabilities
    source: str
    seen: str


def listing(seen: str, *, at: str = "", before: str = "") -> Callable[[str, str, Capabilities, str], ListedModel]:
    """Return a function that makes the rows of a table: `shown`, `names`, `capabilities` and `source`.

    `at` is the begin of every source, `before` that of all names, and `seen` the date.
    """

    def listed(shown: str, names: str, capabilities: Capabilities, source: str) -> ListedModel:
        return ListedModel(shown=shown, names=before + names, capabilities=capabilities, source=at + source, seen=seen)

    return listed


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a look-up of a model: its `capabilities`, their source (`status`), and the row, if any.

    If the policy `capabilities` only sets some `fields`, `without_policy` is the result without the policy.
    """

    model: str | None
    capabilities: Capabilities
    status: Status
    row: ListedModel | None = None
    without_policy: Known | None = None
    fields: frozenset[str] = frozenset()

    def why(self, statement: str, *fields: str) -> str:
        """Return the reason of a loss: the model, the source of its capabilities, and the `statement` on it.

        `fields` are the fields of Capabilities that the statement depends on.
        """
        if self.without_policy is not None and not self.fields.intersection(fields):
            return self.without_policy.why(statement)
        if self.status == "chosen":
            limited_by = self.capabilities.limited_by or "the policy capabilities"
            return f"by {limited_by}, the model {statement}"
        if self.status not in ("newest", "guessed"):
            return f"{self.model or 'the model'} {statement}"
        return f"{self._unlisted()}, and the newest model {statement}"

    def unlisted(self) -> str | None:
        """Return a sentence if the model is missing or not listed, and thus treated as the newest; else None."""
        return f"{self._unlisted()}: checked as the provider's newest model" if self.status in _UNLISTED else None

    def unsure(self) -> str:
        """Return why a check is uncertain: the model is not listed, or is another vendor's."""
        return self.unlisted() or "checked as one of the provider's own models"

    def _unlisted(self) -> str:
        return f"{self.model!r:.80} is not listed" if self.model else "the request names no model"


UNLIMITED = Known(model=None, capabilities=Capabilities(), status="unlimited")
"""The result for every model of an API without a table."""


class CapabilityTable:
    """The models of one API and their capabilities.

    `own` is a regular expression of the provider's own model names. A name that matches it, but no row, gets the
    capabilities of the newest model. Any other name, or None, gets `others` if it is set: the capabilities of other
    vendors' models on hosts that implement the API. Else it gets those of the newest model, too.
    """

    def __init__(
        self,
        api: str,
        rows: Iterable[ListedModel],
        *,
        newest: Capabilities,
        own: str = ".*",
        others: Capabilities | None = None,
    ) -> None:
        self.api = api
        self.rows = tuple(rows)
        self.newest = newest
        self._others = others
        self._own = re.compile(own)
        self._names = [(re.compile(row.names), row) for row in self.rows]

    def of(self, model: str | None) -> Known:
        """Look up a model by any spelling of its name."""
        name = canonical(model or "")
        row = next((row for names, row in self._names if names.fullmatch(name)), None)
        if row is not None:
            return Known(model=model, capabilities=row.capabilities, status="listed", row=row)
        if self._own.fullmatch(name):
            return Known(model=model, capabilities=self.newest, status="newest")
        if self._others is not None:
            return Known(model=model or None, capabilities=self._others, status="other")
        return Known(model=model or None, capabilities=self.newest, status="guessed")

    def chosen(self, model: str | None, policies: Mapping[str, str] | None) -> Known:
        """Look up a model and apply the policy `capabilities`.

        Raise ValueError if the policy names a model that no row lists, or is not valid JSON of Capabilities.
        """
        choice = (policies or {}).get("capabilities")
        if choice is None:
            return self.of(model)
        if choice == "any":
            return Known(model=model, capabilities=Capabilities(), status="chosen")
        if choice.startswith("{"):
            changes, base = changes_of(choice), self.of(model)
            capabilities = msgspec.structs.replace(base.capabilities, **changes)
            return Known(
                model=model, capabilities=capabilities, status="chosen", without_policy=base, fields=frozenset(changes)
            )
        known = self.of(choice)
        if known.row is None:
            raise ValueError(
                f"unknown policy capabilities={choice}: {self.api} lists no such model; expected a model, any, or JSON"
            )
        return Known(model=model, capabilities=known.capabilities, status="chosen", row=known.row)


def changes_of(choice: str) -> dict[str, Any]:
    """Parse a JSON object with fields of Capabilities. Raise ValueError if a field or its value is invalid."""
    try:
        changed = msgspec.json.decode(choice, type=Capabilities)
        named = msgspec.json.decode(choice, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ValueError(f"invalid policy capabilities={choice}: {error}") from None
    return {name: getattr(changed, name) for name in named}


def check_choice(choice: str) -> None:
    """Raise ValueError if a value of the policy `capabilities` is empty or an invalid JSON object."""
    if not choice:
        raise ValueError("the policy capabilities is empty: expected a model, any, or a JSON object of Capabilities")
    if choice.startswith("{"):
        changes_of(choice)


_LONGEST = 256
_TUNED = re.compile(r"ft:([^:]+).*", re.DOTALL)
_VENDOR = re.compile(r"(?:[a-z]{2,8}(?:-[a-z]+)?\.)?(?:anthropic|openai|google)\.(?=[a-z])")
# The first models of Claude are versions, claude-v2 for example.
_SNAPSHOT = re.compile(r"-(?:\d{8}|\d{4}-\d\d-\d\d|(?<!^claude-)v\d+|latest|\d{3})$")
_CLAUDE_VERSION = re.compile(r"(?<=\d)\.(?=\d)")


def canonical(model: str) -> str:
    """Return the canonical name of a model, without the prefixes and suffixes that hosts add.

    Remove paths ("models/", "anthropic/", "publishers/google/models/"), regions and vendors ("us.anthropic."), dates
    and versions ("-20250929", "-2025-08-07", "@20250929", "-v1:0", "-latest", "-001"), and variants (":free", "[1m]").
    Replace dots in the versions of Claude models with hyphens.
    """
    name = model[:_LONGEST].strip().lower()
    tuned = _TUNED.fullmatch(name)
    name = tuned[1] if tuned else name.rpartition("/")[2]
    name = _VENDOR.sub("", name, count=1) if _VENDOR.match(name) else name
    name = name.lstrip("~").partition("@")[0].partition(":")[0].partition("[")[0]
    while (shorter := _SNAPSHOT.sub("", name)) != name:
        name = shorter
    return _CLAUDE_VERSION.sub("-", name) if name.startswith("claude") else name


def nearest_effort(wanted: str, efforts: tuple[str, ...]) -> str | None:
    """Return the level of `efforts` nearest to `wanted`, the lower one of two. Return None if no levels are known."""
    if wanted not in EFFORTS:
        return None
    levels = [effort for effort in efforts if effort in EFFORTS and (effort != "none" or wanted == "none")]
    place = EFFORTS.index(wanted)
    return min(levels, key=lambda level: (abs(EFFORTS.index(level) - place), EFFORTS.index(level)), default=None)


def effort_of(budget: int) -> str:
    """Return the lowest effort whose budget is at least `budget` tokens; "max" if there is none."""
    return next((effort for effort in BUDGETS if BUDGETS[effort] >= budget), "max")


def thinks(requested: ReasoningOptions | None, capabilities: Capabilities) -> bool:
    """Return whether a model thinks: as requested, or by default."""
    if capabilities.thinking == ():
        return False
    mode, effort = (requested.mode, requested.effort) if requested is not None else (None, None)
    budget = None if requested is None else requested.budget_tokens
    if mode in ("disabled", "between_tools") or budget == 0:
        return False
    if mode is not None or budget is not None:
        return True
    # A level of effort alone does not turn thinking on if it is off by default.
    chosen = effort or capabilities.default_effort
    return chosen is not None and chosen != "none" and "enabled" not in (capabilities.thinking or ())


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """The additions of the host of a model to an API.

    - `issuers`: the issuers whose opaque state the host reads, besides the API's own.
    - `state_field`: the field of a message that contains reasoning with this state. `state_residue` are other fields of
      such reasoning.
    - `fields`: the host's fields that the API does not have.
    - `cache_points`: whether the host accepts cache points for all models.
    - `policies`: the host's default policies.
    - `stream_format`: the format of its streams; None if it is the API's own.
    - `serves`: the makers whose models the host serves, for the rule `MODEL_RULE`; None if they are those of the API.
    - `dialect`: the adapter's own description of the host.
    """

    issuers: frozenset[str] = frozenset()
    state_field: str | None = None
    state_residue: Mapping[str, Any] = {}
    fields: frozenset[str] = frozenset()
    cache_points: bool = False
    policies: Mapping[str, str] = {}
    stream_format: StreamFormat | None = None
    serves: frozenset[str] | None = None
    dialect: Any = None


NO_HOST = Host()
