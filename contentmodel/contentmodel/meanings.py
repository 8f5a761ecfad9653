"""Values that an audit compares by their field and meaning: the finish reasons of an answer, and the model.

Each API has its own finish reasons. The name of a model may also occur in a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, NamedTuple

from contentmodel.engine.table.answers import SHOWN_BY_CONTENT, FinishReasons
from contentmodel.json import child_path
from contentmodel.vocabularies import Vocabulary


class Meaning(NamedTuple):
    """A finish reason or model, its own path, and the paths of it, its ancestors and the other fields that spell it."""

    value: str | int
    path: str
    above: tuple[str, ...]


def changed(source: Any, output: Any, described: Vocabulary, target: Vocabulary, lost: Set[str]) -> list[Meaning]:
    """Return the finish reasons and the model of a source that its output changes, but for those that `lost` covers.

    A finish reason that says more than its normalized reason must be in the output as it is, or as the value that means
    the same. For any other one, a value with the same normalized reason is enough.
    """
    meanings = [
        *_changed_models(source, output, described, target),
        *_changed_finishes(source, output, described, target),
    ]
    return [meaning for meaning in meanings if lost.isdisjoint(meaning.above)]


def _changed_models(source: Any, output: Any, described: Vocabulary, target: Vocabulary) -> list[Meaning]:
    written = [model.value for model in _models(output, target)]
    models = _models(source, described) if written and not target.is_store else ()
    return [model for model in models if model.value not in written]


def _models(payload: Any, vocabulary: Vocabulary) -> Iterator[Meaning]:
    """Yield the models that the fields of a request or an answer name."""
    for key in vocabulary.models if isinstance(payload, dict) else ():
        if isinstance(payload.get(key), str) and payload[key]:
            path = child_path("$", key)
            yield Meaning(payload[key], path, ("$", path))


def _changed_finishes(source: Any, output: Any, described: Vocabulary, target: Vocabulary) -> list[Meaning]:
    ours, theirs = described.finish, target.finish
    if ours is None or theirs is None:
        return []
    written = [finish.value for finish in finishes(output, target)]
    return [
        finish
        for finish in finishes(source, described)
        if not any(_means_the_same(finish.value, value, ours, theirs) for value in written)
    ]


def _means_the_same(value: str | int, written: str | int, ours: FinishReasons, theirs: FinishReasons) -> bool:
    reason, other = ours.reasons.get(value, "other"), theirs.reasons.get(written, "other")
    if value == written or theirs.same_value(value, reason) == written:
        return True
    is_same = reason == other != "other" or {reason, other} <= SHOWN_BY_CONTENT
    return is_same and ours.is_usual(value, reason)


def finishes(payload: Any, vocabulary: Vocabulary) -> Iterator[Meaning]:
    """Yield the finish reasons of an answer: of the answer itself, or of each of its choices."""
    if not isinstance(payload, dict):
        return
    yield from _finish_of(payload, ("$",), vocabulary)
    for key, items in payload.items():
        for at, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                path = child_path("$", key)
                yield from _finish_of(item, ("$", path, f"{path}[{at}]"), vocabulary, of_choice=True)


def _finish_of(
    holder: dict[str, Any], above: tuple[str, ...], vocabulary: Vocabulary, *, of_choice: bool = False
) -> Iterator[Meaning]:
    fields = vocabulary.finishes_of_choices if of_choice else vocabulary.finishes
    said = {key: holder[key] for key in fields if holder.get(key) not in (None, "", {})}
    paths = [child_path(above[-1], key) for key in said]
    for key, value in said.items():
        place = child_path(above[-1], key)
        if value.__class__ not in (str, int, dict):
            # A value of another class is no finish reason: it stays in the residue.
            continue
        if isinstance(value, dict):
            # The reason of an incomplete answer is more exact than its status.
            inner: list[tuple[str, str | int]] = [
                (child_path(place, name), reason) for name, reason in value.items() if isinstance(reason, str)
            ]
        else:
            inner = [] if any(isinstance(other, dict) for other in said.values()) else [(place, value)]
        for path, reason in inner:
            yield Meaning(reason, path, (*above, *paths, path))
