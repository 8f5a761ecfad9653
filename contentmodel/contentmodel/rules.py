"""What an API refuses, ignores or answers badly: small named checks of its payloads.

A rule looks at the wire payload alone and says where it is broken. It knows nothing of the model: the same rules judge
what an adapter emits, what a user wrote by hand, and what another library made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from contentmodel.wire.json import child_path

Severity: TypeAlias = Literal["refused", "ignored", "harmful"]
"""`refused`: the API answers with an error. `ignored`: it accepts it, and the model never sees it. `harmful`: it
accepts it, and the answer is worse for it."""

Broken: TypeAlias = tuple[str, str]
"""The JSON path where a rule is broken, and what stands there."""


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
    """One rule of an API: what it says, how bad it is to break it, what to do about it and where it is written."""

    name: str
    says: str
    severity: Severity
    fix: str
    source: str
    find: Callable[[dict[str, Any]], Iterator[Broken]]


class Rules(Sequence[Rule]):
    """The rules of one API, in the order in which they were declared."""

    def __init__(self, api: str) -> None:
        self.api = api
        self._rules: list[Rule] = []
        self.leaving_out: list[Rule] = []

    def rule(
        self, severity: Severity, *, fix: str, source: str
    ) -> Callable[[Callable[[dict[str, Any]], Iterator[Broken]]], Callable[[dict[str, Any]], Iterator[Broken]]]:
        """Declares the function below as a rule.

        The function's name, with hyphens, is the rule's, and the first paragraph of its docstring says the rule. It
        takes a request payload and yields the paths where it is broken, each with what stands there. `fix` tells the
        user what to do, `source` where the rule is written, with the date it was seen.
        """

        def declare(find: Callable[[dict[str, Any]], Iterator[Broken]]) -> Callable[[dict[str, Any]], Iterator[Broken]]:
            says = " ".join((find.__doc__ or "").partition("\n\n")[0].split())
            if not says:
                raise TypeError(f"rule {find.__name__} says nothing: give it a docstring")
            name = find.__name__.replace("_", "-")
            self._rules.append(Rule(name=name, says=says, severity=severity, fix=fix, source=source, find=find))
            return find

        return declare

    def leave_out(self, *names: str) -> None:
        """An encoder that writes for another API leaves out the settings that break these rules, and reports them."""
        by_name = {rule.name: rule for rule in self._rules}
        self.leaving_out += [by_name[name] for name in names]

    def to_leave_out(self, payload: dict[str, Any]) -> tuple[Rule, list[str]] | None:
        """The first of these rules that a request breaks, and the paths where; the last in a list first."""
        for rule in self.leaving_out:
            paths = [path for path, _ in rule.find(payload)]
            if paths:
                return rule, paths[::-1]
        return None

    def check(self, payload: dict[str, Any]) -> list[Violation]:
        """Every violation in a request payload, rule by rule."""
        return [
            Violation(path=path, rule=rule.name, severity=rule.severity, what=what, fix=rule.fix)
            for rule in self._rules
            for path, what in rule.find(payload)
        ]

    def __getitem__(self, index: Any) -> Any:
        return self._rules[index]

    def __len__(self) -> int:
        return len(self._rules)


class Alphabet(msgspec.Struct, frozen=True):
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
