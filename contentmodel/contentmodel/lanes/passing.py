"""Find the values of a decoded payload that pass, by the attributes of the model that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation, Span
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.engine.context import DecodeContext
from contentmodel.engine.losses.model_paths import ModelPaths
from contentmodel.engine.losses.provenance import WirePaths
from contentmodel.json import Json, child_path, value_at
from contentmodel.lanes.values import (
    ARGUMENTS,
    CONSTANT,
    ENDS,
    ID,
    INPUT,
    NAME,
    NAME_OF_RESULT,
    OUTPUT,
    PROSE,
    START,
    STATE,
    TEXT,
    TEXT_OF_ARGUMENTS,
    TOTAL,
    URL,
    Kind,
    kind_of_other,
)
from contentmodel.losses import PendingLoss
from contentmodel.message import contents_of
from contentmodel.reasons import NO_FIELD
from contentmodel.response import ChatResponse
from contentmodel.usage import COUNTERS, Usage

_COUNTERS = {
    name: OUTPUT if name.startswith(("output_", "reasoning_", "accepted_", "rejected_")) else INPUT for name in COUNTERS
}
_ATTRIBUTES: Mapping[type, Mapping[str, Kind]] = {
    TextContent: {"text": TEXT},
    ReasoningContent: {"text": TEXT},
    FunctionCallContent: {"call_id": ID, "name": NAME, "arguments": ARGUMENTS},
    FunctionResultContent: {"call_id": ID, "name": NAME_OF_RESULT},
    Citation: {"url": URL, "title": PROSE, "cited_text": PROSE},
    ChatResponse: {"id": ID, "model": CONSTANT},
    Usage: {**_COUNTERS, "total_tokens": TOTAL},
}
"""The attributes whose values pass, by the type of their owner."""
_TYPES = (TextContent, ReasoningContent, FunctionCallContent)
"""The types of the contents of a usual answer."""


class Leaf(NamedTuple):
    """A value of a payload, with its path and its kind."""

    path: str
    value: Json
    kind: Kind


def kinds_of_answer(response: ChatResponse, wire: Json, context: DecodeContext) -> Mapping[str, Kind] | None:
    """Return the kinds of values of a decoded answer, by path in its wire object.

    Return None for an unusual answer: an error, or one with contents that are no texts, reasoning and calls of
    functions, or with citations of more than pages.
    """
    contents: list[AIContent] = [*contents_of([m for choice in response.choices for m in choice.messages])]
    if response.error is not None or not all(c.__class__ in _TYPES and cites_pages(c) for c in contents):
        return None
    owners = [response, *contents, *([] if response.usage is None else [response.usage])]
    return dict(found_in(owners, wire, context.paths(wire), ModelPaths([response], [], context.api)))


def cites_pages(content: AIContent) -> bool:
    """Return whether all citations of a content are of pages, and of parts of its text or of the whole."""
    return all(map(_is_of_page, content.annotations or ()))


def _is_of_page(citation: Citation) -> bool:
    page = Citation(
        url=citation.url,
        title=citation.title,
        cited_text=citation.cited_text,
        span=citation.span,
        extra=citation.extra,
    )
    return citation.url is not None and citation == page


def found_in(owners: Iterable[Any], wire: Json, paths: WirePaths, model: ModelPaths) -> Iterator[tuple[str, Kind]]:
    """Yield the path of each value that these owners hold as it is in the payload, and its kind."""
    for owner in owners:
        attributes = [(name, getattr(owner, name), kind) for name, kind in _ATTRIBUTES.get(owner.__class__, {}).items()]
        state = getattr(owner, "protected", None)
        attributes += [] if state is None else [("protected", state.data, STATE)]
        span: Span | None = getattr(owner, "span", None)
        if span is not None and span.unit in ENDS:
            attributes += [("span.start", span.start, START), ("span.end", span.end, ENDS[span.unit])]
        yield from found_in(getattr(owner, "annotations", None) or (), wire, paths, model)
        for name, value, kind in attributes:
            path = None if value is None else path_of(owner, name, paths, model)
            if path is not None and value_at(wire, path) == value:
                yield path, TEXT_OF_ARGUMENTS if kind is ARGUMENTS and value.__class__ is str else kind


def path_of(owner: msgspec.Struct, attribute: str | None, paths: WirePaths, model: ModelPaths) -> str | None:
    """Return the only path of an attribute, or of its owner, in the source; None if it has none or several."""
    losses = paths.losses(PendingLoss(owner, attribute, NO_FIELD, None, {}), model)
    return losses[0].path if len(losses) == 1 or (losses and attribute is None) else None


def kind_at(path: str, value: Json, kinds: Mapping[str, Kind]) -> Kind:
    """Return the kind of a value of a payload."""
    kind = kinds.get(path) or kind_of_other(value)
    return kind if kind.test_for(value) is not None else CONSTANT


def leaves(value: Json, kinds: Mapping[str, Kind], path: str = "$") -> Iterator[Leaf]:
    """Yield the values of a payload in their order: those that pass, and constants."""
    kind = kind_at(path, value, kinds)
    if kind is CONSTANT and value.__class__ in (dict, list):
        for inner, item in items_of(value, path):
            yield from leaves(item, kinds, inner)
    else:
        yield Leaf(path, value, kind)


def items_of(value: Json, path: str) -> list[tuple[str, Json]]:
    """Return the items of an object or a list with their paths."""
    if value.__class__ is dict:
        return [(child_path(path, key), item) for key, item in value.items()]
    return [(f"{path}[{at}]", item) for at, item in enumerate(value)]


def replaced(value: Json, values: Mapping[str, Json], path: str = "$") -> Json:
    """Return a copy of a JSON value with other values at some paths."""
    if path in values:
        return values[path]
    if value.__class__ is dict:
        return {key: replaced(item, values, child_path(path, key)) for key, item in value.items()}
    return [replaced(item, values, at) for at, item in items_of(value, path)] if value.__class__ is list else value
