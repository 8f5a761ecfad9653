"""What each model of an API takes: the vocabulary of the adapters' tables, and how a model's name finds its row.

An adapter keeps one table of sourced, dated rows. Its encoder, its rules and `plan` read the same table, and the policy
`capabilities` overrides it. A model that no row names counts as the newest one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

Range: TypeAlias = tuple[float, float]
"""The least and the most of a number. Where both are equal, the model takes this value only."""

Status: TypeAlias = Literal["listed", "newest", "guessed", "other", "chosen", "unlimited"]
"""`listed`: a row names the model. `newest`: the name is the provider's, no row has it, and it counts as the newest.
`guessed`: no model is named, or none of the provider's; encoders take it for the newest, rules do not judge it.
`other`: the same on an API that hosts of many vendors speak, and no limits are known. `chosen`: the policy
`capabilities` says what the model takes. `unlimited`: the API has no table."""

_UNLISTED = ("newest", "guessed", "other")

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The levels of effort of all APIs, in rising order; "none" turns thinking off."""

BUDGETS = {"minimal": 512, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 65536}
"""The thinking budget that stands for an effort, and the other way round: low, medium and high as Google maps them
(ai.google.dev/gemini-api/docs/openai, seen 2026-11-22), the others beside them."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a model takes. Every default means that no limit is known, so that `Capabilities()` takes everything.

    `efforts` are the levels of effort in rising order, () for a model that takes none; `default_effort` is the one that
    counts where a request names none. `thinking` are the modes of thinking ("disabled", "between_tools", "adaptive",
    "enabled"), () for a model that does not think; `budget` is the least and the most of a thinking budget, in tokens;
    `efforts_without_thinking` are the levels that go with "disabled" and "between_tools".

    `sampling` maps each sampling setting that the model takes, by its name in ChatOptions, to its range;
    `sampling_while_thinking` replaces it while the model thinks. `stop_sequences` is how many of them it takes.

    `structured_output` and `strict_tools`: answers and arguments follow a schema. `forced_tools`: a request may require
    a call. `functions_with_effort`: functions go together with an effort. `parallel_tool_calls`: the setting is taken.
    `hosted_with_functions`: hosted tools go together with functions. `hosted_types` are the types of hosted tools that
    the model takes, by kind, for each kind of which it does not take every type.

    `media` are the kinds of media that it reads ("image", "document", "audio", "video"); `media_in_results` says
    whether results of functions hold some. `instructions`, `later_system` and `prefill` say whether it takes system
    text at all, system messages between others, and a last message of the assistant. `signed_calls`: calls that it
    reads need its signature. `signatures` is what a signature is bound to beside its issuer ("model", "conversation",
    "account"). `refused` are further fields of the wire, by name, that it refuses. `because` introduces the reason of a
    loss where something else than the model sets the limits ("version 2 of the API says").
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
    media: tuple[str, ...] | None = None
    media_in_results: bool = True
    instructions: bool = True
    later_system: bool = True
    prefill: bool = True
    signed_calls: bool = False
    signatures: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    because: str | None = None

    def thinks_by(self, mode: str) -> bool:
        """Return whether the model takes a mode of thinking."""
        return self.thinking is None or mode in self.thinking

    def sampled(self, *, thinks: bool) -> dict[str, Range] | None:
        """Return the sampling settings that the model takes, with their ranges; None where no limit is known."""
        return self.sampling_while_thinking if thinks and self.sampling_while_thinking is not None else self.sampling

    def policy(self) -> str:
        """Return the text that the policy `capabilities` takes for these limits."""
        return msgspec.json.encode(self).decode()


class ListedModel(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a table: the models that `names` matches, what they take, and where that is written.

    `names` is a regular expression of whole names as `canonical` returns them; `shown` is what a reader calls them.
    """

    shown: str
    names: str
    takes: Capabilities
    source: str
    seen: str


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a table knows of one model: what it `takes`, how that was found, and the row where there is one.

    Where the policy `capabilities` chose only some `fields` of what it takes, the others are as `found` without it.
    """

    model: str | None
    takes: Capabilities
    status: Status
    row: ListedModel | None = None
    found: Known | None = None
    fields: frozenset[str] = frozenset()

    def why(self, what: str, *fields: str) -> str:
        """Return the reason of a loss: the model, how it is known, and what it does or does not do.

        `fields` are those of Capabilities that say so.
        """
        if self.found is not None and not self.fields.intersection(fields):
            return self.found.why(what)
        if self.status == "chosen":
            return f"{self.takes.because or 'the policy capabilities says'} that the model {what}"
        if self.status not in ("newest", "guessed"):
            return f"{self.model or 'the model'} {what}"
        return f"{self._unlisted()}, and the newest model {what}"

    def unlisted(self) -> str | None:
        """Return that the model counts as the newest because no row lists it, or none is named; None if one does."""
        return f"{self._unlisted()}: judged as the provider's newest model" if self.status in _UNLISTED else None

    def unsure(self) -> str:
        """Return why a check cannot be sure: the model is not listed, or another vendor's."""
        return self.unlisted() or "judged as the provider's own models"

    def _unlisted(self) -> str:
        return f"{self.model!r:.80} is not listed" if self.model else "no model is named"


UNLIMITED = Known(model=None, takes=Capabilities(), status="unlimited")
"""What is known of every model of an API without a table."""


class CapabilityTable:
    """The models of one API and what each takes.

    `own` is a regular expression of the provider's own names: such a name that no row has counts as the newest model.
    So does any other name, or none at all (`guess`, where fewer limits are certain of it), unless the API has `others`:
    the limits, if there are any, of the models of other vendors, whose hosts speak the API.
    """

    def __init__(
        self,
        api: str,
        rows: Iterable[ListedModel],
        *,
        newest: Capabilities,
        own: str = ".*",
        guess: Capabilities | None = None,
        others: Capabilities | None = None,
    ) -> None:
        self.api = api
        self.rows = tuple(rows)
        self.newest = newest
        self._guess = newest if guess is None else guess
        self._others = others
        self._own = re.compile(own)
        self._names = [(re.compile(row.names), row) for row in self.rows]

    def of(self, model: str | None) -> Known:
        """Return what is known of a model, by any spelling of its name."""
        name = canonical(model or "")
        row = next((row for names, row in self._names if names.fullmatch(name)), None)
        if row is not None:
            return Known(model=model, takes=row.takes, status="listed", row=row)
        if self._own.fullmatch(name):
            return Known(model=model, takes=self.newest, status="newest")
        if self._others is not None:
            return Known(model=model or None, takes=self._others, status="other")
        return Known(model=model or None, takes=self._guess, status="guessed")

    def chosen(self, model: str | None, policies: Mapping[str, str] | None) -> Known:
        """Return what is known of a model, or what the policy `capabilities` says of it.

        ValueError if the policy names a model that no row lists.
        """
        choice = (policies or {}).get("capabilities")
        if choice is None:
            return self.of(model)
        if choice == "any":
            return Known(model=model, takes=Capabilities(), status="chosen")
        if choice.startswith("{"):
            changes, found = changes_of(choice), self.of(model)
            takes = msgspec.structs.replace(found.takes, **changes)
            return Known(model=model, takes=takes, status="chosen", found=found, fields=frozenset(changes))
        known = self.of(choice)
        if known.row is None:
            raise ValueError(f"no policy capabilities={choice}: {self.api} lists no such model")
        return Known(model=model, takes=known.takes, status="chosen", row=known.row)


def changes_of(choice: str) -> dict[str, Any]:
    """Return the fields of Capabilities that a JSON object sets. ValueError if a field or its value is none of them."""
    try:
        made = msgspec.json.decode(choice, type=Capabilities)
        named = msgspec.json.decode(choice, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ValueError(f"no policy capabilities={choice}: {error}") from None
    return {name: getattr(made, name) for name in named}


def check_choice(choice: str) -> None:
    """Check a value of the policy `capabilities`: "any", a model's name, or a JSON object. ValueError if it is none."""
    if not choice:
        raise ValueError("no policy capabilities=: name a model, or say any, or give a JSON object of Capabilities")
    if choice.startswith("{"):
        changes_of(choice)


_LONGEST = 256
_TUNED = re.compile(r"ft:([^:]+).*", re.DOTALL)
_VENDOR = re.compile(r"(?:[a-z]{2,8}(?:-[a-z]+)?\.)?(?:anthropic|openai|google)\.(?=[a-z])")
_SNAPSHOT = re.compile(r"-(?:\d{8}|\d{4}-\d\d-\d\d|v\d+|latest|\d{3})$")
_CLAUDE_VERSION = re.compile(r"(?<=\d)\.(?=\d)")


def canonical(model: str) -> str:
    """Return a model's name without what hosts add to it.

    These go: paths ("models/", "anthropic/", "publishers/google/models/"), regions and vendors ("us.anthropic."), dates
    and versions ("-20250929", "-2025-08-07", "@20250929", "-v1:0", "-latest", "-001"), and variants (":free", "[1m]").
    Dots in the versions of Claude models become hyphens.
    """
    name = model[:_LONGEST].strip().lower()
    tuned = _TUNED.fullmatch(name)
    name = tuned[1] if tuned else name.rpartition("/")[2]
    name = _VENDOR.sub("", name, count=1) if _VENDOR.match(name) else name
    name = name.lstrip("~").partition("@")[0].partition(":")[0].partition("[")[0]
    while (shorter := _SNAPSHOT.sub("", name)) != name:
        name = shorter
    return _CLAUDE_VERSION.sub("-", name) if name.startswith("claude") else name


def nearest_effort(word: str, efforts: tuple[str, ...]) -> str | None:
    """Return the level of `efforts` that is nearest to a word, the lower of two; None where neither is a level."""
    if word not in EFFORTS:
        return None
    levels = [effort for effort in efforts if effort in EFFORTS and (effort != "none" or word == "none")]
    place = EFFORTS.index(word)
    return min(levels, key=lambda level: (abs(EFFORTS.index(level) - place), EFFORTS.index(level)), default=None)


def effort_of(budget: int) -> str:
    """Return the least effort whose budget is as large as `budget`; the highest where none is."""
    return next((word for word in BUDGETS if BUDGETS[word] >= budget), "max")
