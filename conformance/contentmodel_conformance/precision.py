"""The law of precision: if a value is deleted from an output, the audit reports it."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from operator import itemgetter
from typing import Any

from contentmodel import Encoded, Loss
from contentmodel.auditing import COVERING, Leaf, counted, unaccounted
from contentmodel.content.media_types import OTHER_NAMES
from contentmodel.json import child_path
from contentmodel.vocabularies import Vocabulary
from contentmodel_conformance.differences import ABSENT
from contentmodel_conformance.laws import LawBroken

MOST = 8
"""The number of deletions tried per output: a deterministic sample of the paths."""

Steps = tuple[Any, ...]
"""The keys and indices that lead to a value."""


def precision(
    source: Any,
    encoded: Encoded,
    vocabulary: Vocabulary,
    target: Vocabulary,
    *,
    most: int = MOST,
    usual: Collection[Any] = (),
) -> None:
    """If a value is deleted from an output, the audit reports it: no loss covers more than what was lost.

    The loss of a whole value is the only one at its path.

    A value is deleted if it occurs once in the source and once in the output; a part of a longer text counts as an
    occurrence. Either the value or the block around it is deleted. These are never deleted: keywords of either API,
    values that the source does not have, values at the path of a loss, JSON texts, of which the audit counts the
    values, and the `usual` values, which the target writes in any case.
    """
    losses = encoded.losses
    reported_once(losses)
    lost = {loss.path for loss in losses if loss.kind in COVERING}
    leaves = counted(source, vocabulary, losses)
    paths_of = {leaf.value: leaf.above[-1] for leaf in leaves if not _stays(leaf, lost) and leaf.value not in usual}
    for steps, value in _carried(paths_of, source, encoded.payload, target, most):
        deleted = _path(steps)
        missed = unaccounted(
            source, _without(encoded.payload, steps), losses, vocabulary, target, encoded.named_by_caller
        )
        if all(gap.path != paths_of[value] for gap in missed):
            detail = f"the audit does not report it if {deleted} is deleted from the output"
            raise LawBroken("precision", paths_of[value], detail, value, ABSENT)


def reported_once(losses: Collection[Loss]) -> None:
    """Raise LawBroken if a value that is dropped as a whole has another loss at its path."""
    counts = Counter(loss.path for loss in losses)
    for loss in losses:
        if loss.exact and loss.kind == "dropped" and loss.path != "$" and counts[loss.path] > 1:
            codes = [other.code for other in losses if other.path == loss.path]
            detail = f"the loss of {loss.what} is reported more than once"
            raise LawBroken("precision", loss.path, detail, [loss.code], codes)


def _stays(leaf: Leaf, lost: Collection[str]) -> bool:
    is_blank = isinstance(leaf.value, str) and not leaf.value.strip()
    return is_blank or leaf.value.__class__ is bool or leaf.above[-1] in lost


def _carried(
    paths_of: Mapping[Any, str], source: Any, output: Any, target: Vocabulary, most: int
) -> Iterator[tuple[Steps, Any]]:
    """Yield up to `most` deletions: the steps to delete, and a value in it that the source has too.

    Alternately, the value itself and a block around it are deleted.
    """
    once = _Once(source), _Once(output)
    places = {leaf.above[-1] for leaf in counted(output, target)}
    went = ((steps, value) for steps, value in _scalars(output) if _is_whole(value) and value in paths_of)
    candidates = [(_hash(steps), steps, value) for steps, value in went if _path(steps) in places]
    chosen = (
        (number, steps, value)
        for number, steps, value in sorted(candidates, key=itemgetter(0))
        if all(value in side for side in once)
    )
    for number, steps, value in islice(chosen, most):
        yield steps[: 1 + number % len(steps)] if number % 2 else steps, value


class _Once:
    """The scalars that occur once in a JSON value, and in no longer text.

    Both base64 alphabets count as equal, and so do the names of a media type.
    """

    def __init__(self, root: Any) -> None:
        values = [value for _, value in _scalars(root) if value.__class__ is not bool]
        # JSON text may spell a value differently than the payload: an emoji as escaped surrogates.
        values += [inner for value in values for _, inner in _scalars(_spelled(value))]
        self._counts = Counter(_standard(value) for value in values)
        self._text = json.dumps(root, ensure_ascii=False)

    def __contains__(self, value: Any) -> bool:
        return (
            self._counts[_standard(value)] == 1
            and self._text.count(json.dumps(value, ensure_ascii=False).strip('"')) == 1
            and not any(name in self._text for name in OTHER_NAMES.get(value, ()))
        )


def _spelled(value: Any) -> Any:
    """Parse an object or array in JSON text; [] if the text is neither."""
    try:
        parsed = json.loads(value) if value.__class__ is str and not _is_whole(value) else []
    except ValueError:
        return []
    return parsed if isinstance(parsed, dict | list) else []


_STANDARD = str.maketrans("-_", "+/", "=")


def _standard(value: Any) -> Any:
    return value.translate(_STANDARD) if value.__class__ is str else value


def _is_whole(value: Any) -> bool:
    """Return whether the audit counts a value as a whole. It counts the parts of JSON text."""
    return value.__class__ in (int, float) or (value.__class__ is str and value[:1] not in ("{", "["))


def _scalars(value: Any, over: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield every scalar of a JSON value with the steps to it."""
    inner: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        if isinstance(item, dict | list):
            yield from _scalars(item, (*over, key))
        else:
            yield (*over, key), item


def _hash(steps: Steps) -> int:
    return zlib.crc32(_path(steps).encode("utf-8", "surrogatepass"))


def _path(steps: Steps) -> str:
    path = "$"
    for step in steps:
        path = child_path(path, step) if isinstance(step, str) else f"{path}[{step}]"
    return path


def _without(value: Any, steps: Steps) -> Any:
    """Return a JSON value without the part that `steps` lead to. Other parts are shared with the original."""
    first, *rest = steps
    copy = value.copy()
    if rest:
        copy[first] = _without(value[first], tuple(rest))
    else:
        del copy[first]
    return copy
