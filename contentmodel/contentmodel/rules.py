"""What an API refuses, ignores or answers badly: small named checks of its payloads.

A rule looks at the wire payload alone and says where it is broken. It knows nothing of the model: the same rules judge
what an adapter emits, what a user wrote by hand, and what another library made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from contentmodel.capabilities import UNLIMITED, Capabilities, CapabilityTable, Known
from contentmodel.engine.json import child_path

Severity: TypeAlias = Literal["refused", "ignored", "harmful", "unchecked"]
"""`refused`: the API answers with an error. `ignored`: it accepts it, and the model never sees it. `harmful`: it
accepts it, and the answer is worse for it. `unchecked`: the rule is not judged for the model that is named, and the
provider's newest model would break it."""

Broken: TypeAlias = tuple[str, str]
"""The JSON path where a rule is broken, and what stands there."""

Find: TypeAlias = Callable[[dict[str, Any]], Iterator[Broken]]
FindByModel: TypeAlias = Callable[[dict[str, Any], Capabilities], Iterator[Broken]]
Applies: TypeAlias = Callable[[dict[str, Any]], bool]


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """One place where a payload breaks a rule: the JSON `path`, the `rule`'s name, `what` is there and the `fix`."""

    path: str
    rule: str
    severity: Severity
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.severity} {self.rule} at {self.path}: {self.what}; {self.fix}"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of an API: what it says, how bad it is to break it, what to do about it and where it is written.

    `find` yields where a request breaks it; `find_by_model` does so by what the model takes, and a rule has one of
    them. `applies` says whether the rule is judged for the model that a request names; None: for every model.
    """

    name: str
    says: str
    severity: Severity
    fix: str
    source: str
    find: Find | None = None
    find_by_model: FindByModel | None = None
    applies: Applies | None = None

    def broken(self, payload: dict[str, Any], takes: Capabilities) -> Iterator[Broken]:
        """Yield the paths where a request breaks the rule, each with what stands there."""
        if self.applies is not None and not self.applies(payload):
            return iter(())
        return self.find_anywhere(payload, takes)

    def find_anywhere(self, payload: dict[str, Any], takes: Capabilities) -> Iterator[Broken]:
        """Yield the same, whether or not the rule is judged for the request's model."""
        if self.find_by_model is not None:
            return self.find_by_model(payload, takes)
        assert self.find is not None
        return self.find(payload)


class Rules(Sequence[Rule]):
    """The rules of one API, in the order in which they were declared.

    `capabilities` is what its models take, None for an API without a table.
    """

    def __init__(self, api: str, capabilities: CapabilityTable | None = None) -> None:
        self.api = api
        self.capabilities = capabilities
        self._rules: list[Rule] = []
        self.leaving_out: list[Rule] = []

    def rule(
        self, severity: Severity, *, fix: str, source: str, applies: Applies | None = None
    ) -> Callable[[Find], Find]:
        """Declare the function below as a rule.

        The function's name, with hyphens, is the rule's, and the first paragraph of its docstring says the rule. It
        takes a request payload and yields the paths where it is broken, each with what stands there. `fix` tells the
        user what to do, `source` where the rule is written, with the date it was seen. `applies` says whether the rule
        is judged for the model that a request names.
        """

        def declare(find: Find) -> Find:
            self._add(find, severity=severity, fix=fix, source=source, applies=applies, find=find)
            return find

        return declare

    def by_model(
        self, severity: Severity, *, fix: str, source: str, applies: Applies | None = None
    ) -> Callable[[FindByModel], FindByModel]:
        """Declare the function below as a rule that also takes the Capabilities of the request's model."""

        def declare(find: FindByModel) -> FindByModel:
            self._add(find, severity=severity, fix=fix, source=source, applies=applies, find_by_model=find)
            return find

        return declare

    def _add(self, function: Callable[..., Any], **fields: Any) -> None:
        name = getattr(function, "__name__", "")
        says = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
        if not says:
            raise TypeError(f"rule {name} says nothing: give it a docstring")
        self._rules.append(Rule(name=name.replace("_", "-"), says=says, **fields))

    def leave_out(self, *names: str) -> None:
        """An encoder that writes for another API leaves out the settings that break these rules, and reports them."""
        by_name = {rule.name: rule for rule in self._rules}
        self.leaving_out += [by_name[name] for name in names]

    def to_leave_out(
        self, payload: dict[str, Any], takes: Capabilities | None = None
    ) -> tuple[Rule, list[Broken]] | None:
        """The first of these rules that a request breaks, and where; the last in a list first."""
        takes = self._known(payload).takes if takes is None else takes
        for rule in self.leaving_out:
            found = list(rule.broken(payload, takes))
            if found:
                return rule, found[::-1]
        return None

    def check(self, payload: dict[str, Any], known: Known | None = None) -> list[Violation]:
        """Every violation in a request payload, rule by rule.

        A rule that does not apply to the model, or that would have to know the model, is judged as for the provider's
        newest one: what it finds is "unchecked". `known` says what the model takes, where that is not what the table
        says of the model that the payload names.
        """
        known = self._known(payload) if known is None else known
        return [found for rule in self._rules for found in self._judge(rule, payload, known)]

    def _judge(self, rule: Rule, payload: dict[str, Any], known: Known) -> Iterator[Violation]:
        is_guess = known.status in ("guessed", "other", "unlimited") and rule.find_by_model is not None
        is_skipped = is_guess or (rule.applies is not None and not rule.applies(payload))
        takes = self.capabilities.newest if is_guess and self.capabilities is not None else known.takes
        note = (
            f"; {known.unsure()}" if is_skipped or (rule.find_by_model is not None and known.status == "newest") else ""
        )
        severity: Severity = "unchecked" if is_skipped else rule.severity
        for path, what in rule.find_anywhere(payload, takes):
            yield Violation(path=path, rule=rule.name, severity=severity, what=what + note, fix=rule.fix)

    def _known(self, payload: dict[str, Any]) -> Known:
        if self.capabilities is None:
            return UNLIMITED
        named = payload.get("model")
        return self.capabilities.of(named if isinstance(named, str) else None)

    def __getitem__(self, index: Any) -> Any:
        return self._rules[index]

    def __len__(self) -> int:
        return len(self._rules)


class IdentifierRule(msgspec.Struct, frozen=True):
    """What an API takes for an id or a name: the `characters` (a regular expression's class) and how many at most."""

    characters: str
    longest: int

    def accepts(self, text: Any) -> bool:
        """Whether `text` is a name that the API takes."""
        return isinstance(text, str) and re.fullmatch(self.pattern, text) is not None

    @property
    def pattern(self) -> str:
        """The regular expression of the whole text."""
        return f"{self.characters}{{1,{self.longest}}}"

    def __str__(self) -> str:
        return f"^{self.pattern}$"


def objects(parent: Any, key: str, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects in the list under `key` of an object, each with its path; nothing where there is no such list."""
    found = parent.get(key) if isinstance(parent, dict) else None
    if isinstance(found, list):
        where = child_path(path, key)
        for index, item in enumerate(found):
            if isinstance(item, dict):
                yield f"{where}[{index}]", item


def one_object(parent: Any, key: str, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """The object under `key` of an object, with its path; nothing where there is none."""
    found = parent.get(key) if isinstance(parent, dict) else None
    if isinstance(found, dict):
        yield child_path(path, key), found
