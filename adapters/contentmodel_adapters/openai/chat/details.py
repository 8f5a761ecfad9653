"""OpenRouter's details of reasoning in a message. Clients may store those of a stream as they came: in fragments.

A detail continues an earlier one of its index and type (agno-agi/agno#8794, agno-agi/agno#8861, seen 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contentmodel.authoring import Blocks, DecodeContext, EncodeContext, Hint, Place, write
from contentmodel.content.reasoning import ReasoningContent
from contentmodel_adapters.openai.chat.parts import API

Wire = dict[str, Any]
FRAGMENTS = Hint[list[dict[str, Any]]](API, "fragments", "the details that a detail was divided into")
GROWING = ("text", "summary", "data", "thinking")
"""The fields of a detail, or of a block of thinking, that grow in a stream."""


def detail_names(entry: Wire) -> tuple[bytes, ...]:
    """Return the keys that identify the earlier detail that a detail continues: index and type; both with the id."""
    if "index" not in entry:
        return ()
    kind = [entry["index"], entry.get("type")]
    return write(kind), write([*kind, entry.get("id")])


def merged(fragments: list[Wire]) -> Wire:
    """Return the detail that was divided into fragments: the texts are joined, other fields have their last value."""
    whole: Wire = {}
    for fragment in fragments:
        for key, value in fragment.items():
            is_text = key in GROWING and value.__class__ is str and whole.get(key).__class__ is str
            if value is not None or key not in whole:
                whole[key] = whole[key] + value if is_text else value
    return whole


def grouped(entries: list[Any]) -> list[list[Any]]:
    """Return the entries of a list, each with the fragments that follow and continue it."""
    groups: list[list[Any]] = []
    for entry in entries:
        names = detail_names(entry) if entry.__class__ is dict else ()
        if names and groups and groups[-1][0].__class__ is dict and _continues(entry, groups[-1][0], names):
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def _continues(entry: Wire, first: Wire, names: tuple[bytes, ...]) -> bool:
    return (
        entry["index"] is not None
        and detail_names(first)[:1] == names[:1]
        and (entry.get("id") is None or entry["id"] == first.get("id"))
    )


class Details(Blocks[ReasoningContent]):
    """A list of details. Fragments of one detail are decoded as one, and written again as they were."""

    def quick_decode(self, name: str, call: str, bind: Any) -> str:
        return call

    def decode(self, value: list[Any], context: DecodeContext, container: Any, key: str) -> list[ReasoningContent]:
        groups = grouped(value)
        if len(groups) == len(value):
            return super().decode(value, context, container, key)
        contents: list[Any] = []
        for group in groups:
            wire = group[0] if len(group) == 1 else merged(group)
            context.copied(wire, group[0])
            content = self.union.decode(wire, context)
            contents.append(content if len(group) == 1 else FRAGMENTS.on(content, API, group))
        return contents

    def count(self, wire: Any) -> int:
        return len(grouped(wire)) if wire.__class__ is list else 1

    def places(self, value: list[ReasoningContent], wire: Any, path: str) -> Iterable[Place]:
        at = 0
        for content, group in zip(value, grouped(wire) if wire.__class__ is list else (), strict=False):
            yield content, f"{path}[{at}]", group[0], self.union
            at += len(group)

    def encode(self, value: list[ReasoningContent], context: EncodeContext, owner: object) -> Any:
        wires: list[Any] = []
        for content in value:
            made = self.union.encode_list([content], context)
            fragments = FRAGMENTS.of(content, API) if context.native else None
            wires += fragments if fragments is not None and made == [merged(fragments)] else made
        return wires or None


def with_whole_details(message: Wire) -> Wire:
    """Return a message whose details are whole, for audits. Each fragment that is joined to another one is empty."""
    details = message.get("reasoning_details")
    if details.__class__ is not list:
        return message
    groups = grouped(details)
    if len(groups) == len(details):
        return message
    return {
        **message,
        "reasoning_details": [one for group in groups for one in [merged(group), *[{}] * (len(group) - 1)]],
    }
