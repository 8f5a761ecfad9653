"""Rules of several APIs: rules of some models, of messages like those of Chat, JSON in text, walks through schemas."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Protocol

from contentmodel.authoring import (
    Broken,
    Find,
    FindByModel,
    Range,
    Rules,
    Severity,
    chat,
    child_path,
    objects,
    one_object,
    parse,
    snake_name,
)
from contentmodel.content.media import standard_base64
from contentmodel.errors import DecodeError

DEEPEST_CHECKED = 100
"""The number of levels of a schema that are checked: far more than any API accepts."""


class Declare(Protocol):
    """Declare a rule for the models whose names match `models`, or for all models if it is None."""

    def __call__(
        self, severity: Severity, *, fix: str, source: str, models: str | None = ...
    ) -> Callable[[Find], Find]: ...


class DeclareByModel(Protocol):
    """Declare a rule that also takes the capabilities of the request's model."""

    def __call__(self, severity: Severity, *, fix: str, source: str) -> Callable[[FindByModel], FindByModel]: ...


def whole_name(request: dict[str, Any]) -> str:
    """Return the name of a request's model, "" if it has none."""
    named = request.get("model")
    return named if isinstance(named, str) else ""


def last_name(request: dict[str, Any]) -> str:
    """Return the last name in the path of a request's model, "" if it has none."""
    return whole_name(request).rpartition("/")[2]


def declares(
    rules: Rules, *, seen: str, models: str | None = None, name: Callable[[dict[str, Any]], str] = whole_name
) -> Declare:
    """Return the decorator of an API's rules.

    `models` is the default pattern of the models that a rule is for; `seen` is a date.
    """
    usual = models

    def declare_rule(
        severity: Severity, *, fix: str, source: str, models: str | None = usual
    ) -> Callable[[Find], Find]:
        def applies(request: dict[str, Any]) -> bool:
            return models is None or re.fullmatch(models, name(request)) is not None

        # A rule for a few models applies to unlisted names of the provider, and not to models of other vendors.
        is_usual = models is None or models == usual
        return rules.rule(
            severity,
            fix=fix,
            source=f"{source}; seen {seen}",
            applies=applies if is_usual and models is not None else None,
            only_for=None if is_usual else applies,
        )

    return declare_rule


def declares_by_model(rules: Rules, *, seen: str) -> DeclareByModel:
    """Return the decorator of an API's rules that depend on its table of capabilities. `seen` is a date."""

    def declare_rule(severity: Severity, *, fix: str, source: str) -> Callable[[FindByModel], FindByModel]:
        return rules.by_model(severity, fix=fix, source=f"{source}; capabilities of models; seen {seen}")

    return declare_rule


def unsampled(
    settings: dict[str, Any], names: Mapping[str, str], ranges: Mapping[str, Range] | None
) -> Iterator[tuple[str, str]]:
    """Yield the sampling settings that a model does not take, or takes only at one value: the key, and the value sent.

    `names` maps each key of the wire to the setting's name in ChatOptions. Values outside a range are not yielded,
    because the rule on numbers reports them.
    """
    for key, setting in names.items() if ranges is not None else ():
        value, (least, most) = settings.get(key), (ranges or {}).get(setting, (None, None))
        if isinstance(value, int | float) and not isinstance(value, bool) and least == most and value != least:
            yield key, str(value)


def out_of_range(
    settings: dict[str, Any], limits: Mapping[str, tuple[float, float]], at: str = "$"
) -> Iterator[Broken]:
    """Yield the numbers that are outside of their limits, each with its path and the limit."""
    for key, (least, most) in limits.items():
        value = settings.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and not least <= value <= most:
            yield child_path(at, key), f"{value}, below {least}" if value < least else f"{value}, above {most}"


def is_object_text(text: str) -> bool:
    """Return whether a text is the JSON of an object."""
    try:
        return isinstance(parse(text), dict)
    except DecodeError:
        return False


def table(parent: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object under a key, {} if there is none."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def is_object(schema: dict[str, Any]) -> bool:
    """Return whether the type of a schema names "object"."""
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def subschemas(at: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield a schema and all its subschemas, each with its path and its level of objects."""
    pending = [(at, schema, 0, 0)]
    while pending:
        at, subschema, level, depth = pending.pop()
        level += is_object(subschema)
        yield at, subschema, level
        if depth < DEEPEST_CHECKED:
            pending += reversed([(path, child, level, depth + 1) for path, child in _children(at, subschema)])


def _children(at: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for key in ("properties", "$defs", "definitions"):
        for name in table(schema, key):
            yield from one_object(schema[key], name, child_path(at, key))
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        yield from objects(schema, key, at)
    yield from one_object(schema, "items", at)


def bad_base64(path: str, value: Any, *, bare: bool = False) -> Iterator[Broken]:
    """Yield `path` if the value is not base64 of the standard alphabet: a `bare` text, or the data of a data URL.

    Padding is not checked.
    """
    if not isinstance(value, str):
        return
    is_data_url = value.startswith("data:") and ";base64," in value[:200]
    if bare or is_data_url:
        data = value if bare else value.partition(";base64,")[2]
        if standard_base64(data) is None or "-" in data or "_" in data:
            yield path, f"{data[:30]!r}"


def spelled_key(parent: dict[str, Any], name: str) -> str:
    """Return a name as an object spells it: `fileData`, or `file_data` if the object has that."""
    return snake_name(name) if name not in parent and snake_name(name) in parent else name


def spelled_value(parent: Any, name: str) -> Any:
    """Return the value under a name in either spelling; None if there is none."""
    return parent.get(spelled_key(parent, name)) if isinstance(parent, dict) else None


def spelled_path(at: str, parent: dict[str, Any], name: str) -> str:
    """Return the path of a field as the object spells its name."""
    return child_path(at, spelled_key(parent, name))


def spelled_object(parent: dict[str, Any], name: str, at: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the object under a name in either spelling, with its path, if there is one."""
    return one_object(parent, spelled_key(parent, name), at)


def spelled_items(parent: dict[str, Any], name: str, at: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of a list under a name in either spelling, each with its path."""
    items = spelled_value(parent, name)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        yield f"{spelled_path(at, parent, name)}[{index}]", item


# -- messages like those of Chat ---------------------------------------------------------------------------------------


def declare(rules: Rules, roles: Collection[str], source: str) -> None:
    """Declare the rules of roles, calls and results."""
    declare_roles(rules, roles, source)
    chat.declare_results(rules, source)


def declare_roles(
    rules: Rules, roles: Collection[str], source: str, *, messages: str = "messages", key: str = "role"
) -> None:
    """Declare that a document has messages, and that each has one of `roles` in its field `key`."""

    @rules.rule("refused", fix=f"use one of {', '.join(roles)}", source=source)
    def roles_are_known(document: dict[str, Any]) -> Iterator[Broken]:
        """Each message must have one of the roles of the format."""
        for path, message in objects(document, messages):
            role = message.get(key)
            if isinstance(role, str) and role not in roles:
                yield f"{path}.{key}", f"the role {role!r:.60}"

    @rules.rule("refused", fix="add a message", source=source)
    def messages_required(document: dict[str, Any]) -> Iterator[Broken]:
        """There must be at least one message."""
        if document.get(messages) == []:
            yield f"$.{messages}", "an empty list"


def declare_pairs(rule: Declare, *, calls: str, results: str) -> None:
    """Declare that the results of a message's calls follow it at once. `calls` and `results` are the sources."""

    @rule("refused", models=None, fix="add a tool message after it", source=calls)
    def calls_have_results(request: dict[str, Any]) -> Iterator[Broken]:
        """Each call of an assistant message must be answered by a tool message before any other message."""
        unanswered: dict[str, str] = {}
        for at, message in [*objects(request, "messages"), ("$", {"role": "end"})]:
            if message.get("role") != "tool":
                yield from ((path, f"{call_id!r:.60} has no result") for call_id, path in unanswered.items())
                unanswered = {call_id: path for path, call_id in call_ids(message, at)}
            for _, call_id in result_id(message, at):
                unanswered.pop(call_id, None)

    @rule("refused", models=None, fix="move it after its call", source=results)
    def results_follow_their_calls(request: dict[str, Any]) -> Iterator[Broken]:
        """A tool message must answer a call of the assistant message before it, with no other message in between."""
        called: set[str] = set()
        for at, message in objects(request, "messages"):
            if message.get("role") != "tool":
                called = {call_id for _, call_id in call_ids(message, at)}
            for path, call_id in result_id(message, at):
                if call_id not in called:
                    yield path, f"no call {call_id!r:.60} before it"


def call_ids(message: dict[str, Any], at: str) -> Iterator[Broken]:
    """Yield the ids of the calls of a message, each with its path."""
    for path, call in objects(message, "tool_calls", at):
        if isinstance(call.get("id"), str):
            yield f"{path}.id", call["id"]


def result_id(message: dict[str, Any], at: str) -> Iterator[Broken]:
    """Yield the id of the call that a tool message answers, with its path."""
    if message.get("role") == "tool" and isinstance(message.get("tool_call_id"), str):
        yield f"{at}.tool_call_id", message["tool_call_id"]
