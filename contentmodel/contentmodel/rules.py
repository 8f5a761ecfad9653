"""Rules of APIs: small named checks that find the parts of a payload that an API refuses, ignores or mishandles.

A rule only reads the wire payload. So the same rules check payloads of adapters, of users and of other libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

import msgspec

from contentmodel.capabilities import NO_HOST, UNLIMITED, Capabilities, CapabilityTable, Host, Known
from contentmodel.json import child_path

Severity: TypeAlias = Literal["refused", "ignored", "harmful", "unchecked"]
"""`refused`: the API returns an error. `ignored`: the API accepts the part, but the model does not receive it.
`harmful`: the API accepts the part, and the response gets worse. `unchecked`: the rule does not apply to the model, or
the model is unknown. The part would violate the rule for the provider's newest model."""

MODEL_RULE = "model-of-this-provider"
"""The name of the rule on models of other providers. If a converted request breaks it, encoders report a loss."""

Broken: TypeAlias = tuple[str, str]
"""The JSON path where a rule is broken, and a description of the value."""

Find: TypeAlias = Callable[[dict[str, Any]], Iterator[Broken]]
FindByModel: TypeAlias = Callable[[dict[str, Any], Capabilities], Iterator[Broken]]
FindByHost: TypeAlias = Callable[[dict[str, Any], Host], Iterator[Broken]]
Applies: TypeAlias = Callable[[dict[str, Any]], bool]


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """A violation of a rule: the JSON `path`, the name of the `rule`, a `message`, and the `fix`."""

    path: str
    rule: str
    severity: Severity
    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.severity} {self.rule} at {self.path}: {self.message}; {self.fix}"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of an API: its `text`, its severity, the fix, and the source.

    `find` yields the violations of a request. `find_by_model` does the same, given the capabilities of the model, and
    `find_by_host`, given its host. A rule has one of the three. `applies` returns whether the rule applies to the model
    of a request; None means it applies to every model. `only_for` does the same, and no other model is checked, not
    even for the severity "unchecked". Both read nothing but the model's name. `at_known_hosts` is the severity if it is
    known which models the host serves; None if it is the same.
    """

    name: str
    text: str
    severity: Severity
    at_known_hosts: Severity | None = None
    fix: str
    source: str
    find: Find | None = None
    find_by_model: FindByModel | None = None
    find_by_host: FindByHost | None = None
    applies: Applies | None = None
    only_for: Applies | None = None

    def is_for(self, payload: dict[str, Any]) -> bool:
        """Return whether the rule applies to the model of a request."""
        return (self.applies is None or self.applies(payload)) and (self.only_for is None or self.only_for(payload))

    def broken(self, payload: dict[str, Any], capabilities: Capabilities, host: Host = NO_HOST) -> Iterator[Broken]:
        """Yield the violations of a request: paths with descriptions. Yield none if the rule does not apply."""
        return self.found(payload, capabilities, host) if self.is_for(payload) else iter(())

    def find_anywhere(
        self, payload: dict[str, Any], capabilities: Capabilities, host: Host = NO_HOST
    ) -> Iterator[Broken]:
        """Yield the violations of a request, even if the rule does not apply to the model of the request.

        None if the rule is only for other models.
        """
        if self.only_for is not None and not self.only_for(payload):
            return iter(())
        return self.found(payload, capabilities, host)

    def found(self, payload: dict[str, Any], capabilities: Capabilities, host: Host) -> Iterator[Broken]:
        """Yield the violations of a request of any model."""
        if self.find_by_host is not None:
            return self.find_by_host(payload, host)
        if self.find_by_model is not None:
            return self.find_by_model(payload, capabilities)
        assert self.find is not None
        return self.find(payload)


_MOST_MODELS = 1_000
"""The number of models whose rules are kept."""


class Rules(Sequence[Rule]):
    """The rules of one API, in the order of their declaration.

    `capabilities` is the table of the API's models; None for an API without a table.
    """

    def __init__(self, api: str, capabilities: CapabilityTable | None = None) -> None:
        self.api = api
        self.capabilities = capabilities
        self._rules: list[Rule] = []
        self.leaving_out: list[Rule] = []
        self._leaving_out_of: dict[str, tuple[Rule, ...]] = {}

    def rule(
        self,
        severity: Severity,
        *,
        fix: str,
        source: str,
        applies: Applies | None = None,
        only_for: Applies | None = None,
    ) -> Callable[[Find], Find]:
        """Declare the decorated function as a rule.

        The name of the rule is the name of the function, with hyphens. The text of the rule is the first paragraph of
        its docstring. The function takes a request payload and yields violations: paths with descriptions. `fix` is the
        advice for the user. `source` is the documentation of the rule, with the date it was seen. `applies` returns
        whether the rule applies to the model of a request. Other models are not checked at all by a rule with
        `only_for`.

        The decorator raises TypeError if the function has no docstring.
        """

        def declare(find: Find) -> Find:
            self._add(find, severity=severity, fix=fix, source=source, applies=applies, only_for=only_for, find=find)
            return find

        return declare

    def by_model(
        self, severity: Severity, *, fix: str, source: str, applies: Applies | None = None
    ) -> Callable[[FindByModel], FindByModel]:
        """Declare the decorated function as a rule that also takes the Capabilities of the request's model."""

        def declare(find: FindByModel) -> FindByModel:
            self._add(find, severity=severity, fix=fix, source=source, applies=applies, find_by_model=find)
            return find

        return declare

    def by_host(
        self, severity: Severity, *, fix: str, source: str, at_known_hosts: Severity | None = None
    ) -> Callable[[FindByHost], FindByHost]:
        """Declare the decorated function as a rule that also takes the Host of the request's model."""

        def declare(find: FindByHost) -> FindByHost:
            self._add(find, severity=severity, at_known_hosts=at_known_hosts, fix=fix, source=source, find_by_host=find)
            return find

        return declare

    def _add(self, function: Callable[..., Any], **fields: Any) -> None:
        name = getattr(function, "__name__", "")
        text = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
        if not text:
            raise TypeError(f"rule {name} has no text: add a docstring")
        self._rules.append(Rule(name=name.replace("_", "-"), text=text, **fields))

    def leave_out(self, *names: str) -> None:
        """Let encoders drop the settings of another API's requests that break these rules, and report the losses."""
        by_name = {rule.name: rule for rule in self._rules}
        self.leaving_out += [by_name[name] for name in names]

    def to_leave_out(
        self,
        payload: dict[str, Any],
        capabilities: Capabilities | None = None,
        host: Host = NO_HOST,
        *,
        model: str | None = None,
    ) -> tuple[Rule, list[Broken]] | None:
        """Return the first rule of `leave_out` that a request breaks, with its violations in reverse order, or None.

        `model` is the name of the request's model: the rules that apply to it are found once.
        """
        capabilities = self._known(payload).capabilities if capabilities is None else capabilities
        for rule in self._to_apply(payload, model):
            broken = list(rule.found(payload, capabilities, host))
            if broken:
                return rule, broken[::-1]
        return None

    def _to_apply(self, payload: dict[str, Any], model: str | None) -> Sequence[Rule]:
        """Return the rules of `leave_out` that apply to the model of a request."""
        rules = None if model is None else self._leaving_out_of.get(model)
        if rules is None:
            rules = tuple(rule for rule in self.leaving_out if rule.is_for(payload))
            if model is not None and len(self._leaving_out_of) < _MOST_MODELS:
                self._leaving_out_of[model] = rules
        return rules

    def foreign_model(self, payload: dict[str, Any], host: Host = NO_HOST) -> str | None:
        """Return the description of a model of another provider; None if the request names none."""
        rule = next((rule for rule in self._rules if rule.name == MODEL_RULE), None)
        broken = None if rule is None else next(rule.broken(payload, Capabilities(), host), None)
        return None if broken is None else broken[1]

    def check(self, payload: dict[str, Any], known: Known | None = None, host: Host = NO_HOST) -> list[Violation]:
        """Return all violations of a request payload, rule by rule.

        If a rule does not apply to the model, or needs the capabilities of an unknown model, check it for the
        provider's newest model. Its violations then have the severity "unchecked". `known` overrides the
        capabilities that the table has for the model of the payload. `host` is the host of the model.
        """
        known = self._known(payload) if known is None else known
        return [violation for rule in self._rules for violation in self._violations(rule, payload, known, host)]

    def _violations(self, rule: Rule, payload: dict[str, Any], known: Known, host: Host) -> Iterator[Violation]:
        is_guess = known.status in ("guessed", "other", "unlimited") and rule.find_by_model is not None
        is_uncertain = is_guess or (rule.applies is not None and not rule.applies(payload))
        capabilities = self.capabilities.newest if is_guess and self.capabilities is not None else known.capabilities
        is_newest = known.status == "newest" and rule.find_by_model is not None
        note = f"; {known.unsure()}" if is_uncertain or is_newest else ""
        usual = rule.severity if host.serves is None else rule.at_known_hosts or rule.severity
        severity: Severity = "unchecked" if is_uncertain else usual
        for path, description in rule.find_anywhere(payload, capabilities, host):
            yield Violation(path=path, rule=rule.name, severity=severity, message=description + note, fix=rule.fix)

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
    """The format of an id or a name: the `characters` (a regular expression class), the maximum and minimum length."""

    characters: str
    longest: int
    shortest: int = 1

    def accepts(self, text: Any) -> bool:
        """Return whether `text` is a valid id or name."""
        return isinstance(text, str) and re.fullmatch(self.pattern, text) is not None

    @property
    def pattern(self) -> str:
        """The regular expression that the whole text must match."""
        return f"{self.characters}{{{self.shortest},{self.longest}}}"

    def __str__(self) -> str:
        return f"^{self.pattern}$"


@cache
def tester(rule: IdentifierRule) -> Callable[[str], bool]:
    """Return a function that tests whether a text matches the rule."""
    matches = re.compile(rule.pattern, re.DOTALL).fullmatch
    # Most ids are Python identifiers. Testing that is faster than matching a pattern.
    longest = rule.longest if matches("a") and matches("Z_9") else 0

    def accepts(text: str) -> bool:
        return (len(text) <= longest and text.isascii() and text.isidentifier()) or matches(text) is not None

    return accepts


def objects(parent: Any, key: str, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects in the list `parent[key]`, each with its path. Yield nothing if there is no such list."""
    items = parent.get(key) if isinstance(parent, dict) else None
    if isinstance(items, list):
        list_path = child_path(path, key)
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield f"{list_path}[{index}]", item


def one_object(parent: Any, key: str, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the object `parent[key]` with its path. Yield nothing if it is not an object."""
    item = parent.get(key) if isinstance(parent, dict) else None
    if isinstance(item, dict):
        yield child_path(path, key), item


def objects_along(parent: Any, *keys: str, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects that a path of keys leads to, each with its path. The path goes through the items of lists."""
    values = [(path, parent)]
    for key in keys:
        values = [child for at, value in values for child in (*objects(value, key, at), *one_object(value, key, at))]
    yield from values
