"""Objects of a payload that are counted as a whole: citations and hosted tools.

Counting their values is not enough: other objects may contain all values of a citation, and a hosted tool may have no
values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from contentmodel.errors import DecodeError
from contentmodel.json import child_path, parse


def of_text(text: str) -> Any:
    """Return the array of a JSON text, such as the tools of a data set; any other text unchanged."""
    try:
        value = parse(text) if text.startswith("[") else text
    except DecodeError:
        return text
    return value


class CountedObject(NamedTuple):
    """An object, the paths of its ancestors and itself (`above`), and its sort: "citation" or "hosted"."""

    value: Any
    above: tuple[str, ...]
    sort: str


def missing(
    source: Iterable[CountedObject], output: Iterable[CountedObject], lost: Collection[str]
) -> Iterator[CountedObject]:
    """Yield the surplus objects of a source: the last ones of a sort that the output has fewer of.

    Ignore objects at or below a path of `lost`.
    """
    counts = Counter(item.sort for item in output)
    for item in source:
        if not any(path in lost for path in item.above):
            counts[item.sort] -= 1
            if counts[item.sort] < 0:
                yield item


def counted_objects(payload: Any, data: Collection[str]) -> Iterator[CountedObject]:
    """Yield the citations and hosted tools of a payload. Skip the fields `data`, which contain JSON of the caller."""
    if isinstance(payload, dict):
        yield from _hosted_tools(payload)
    stack: list[tuple[Any, str, tuple[str, ...]]] = [(payload, "", ("$",))]
    while stack:
        item, key, above = stack.pop()
        inner: list[tuple[Any, str, tuple[str, ...]]] = []
        if isinstance(item, dict):
            for name, value in item.items():
                if isinstance(value, dict | list) and name not in data and name not in RETURNED:
                    inner.append((value, name, (*above, child_path(above[-1], name))))
        elif isinstance(item, list):
            for at, value in enumerate(item):
                if isinstance(value, dict | list):
                    inner.append((value, "", (*above, f"{above[-1]}[{at}]")))
            if key in _CITATIONS:
                yield from (
                    CountedObject(value, over, "citation") for value, _, over in inner if isinstance(value, dict)
                )
        stack += reversed(inner)


def _hosted_tools(request: dict[str, Any]) -> Iterator[CountedObject]:
    """Yield the hosted tools of a request: each tool with a hosted type, or each key with settings of a tool.

    The type of a tool may be missing; the key "function" or "custom" then marks a tool that the request defines.
    """
    for key in _SEARCHES & request.keys():
        if request[key] is not None:
            yield CountedObject(request[key], ("$", f"$.{key}"), "hosted")
    tools = request.get("tools")
    for at, tool in enumerate(tools) if isinstance(tools, list) else ():
        above = ("$", "$.tools", f"$.tools[{at}]")
        if not isinstance(tool, dict):
            continue
        if "type" in tool:
            if isinstance(tool["type"], str) and tool["type"] not in _DEFINED:
                yield CountedObject(tool, above, "hosted")
        elif "name" not in tool and _DEFINED.isdisjoint(tool):
            settings = ((key, value) for key, value in tool.items() if isinstance(value, dict))
            yield from (CountedObject(value, (*above, child_path(above[-1], key)), "hosted") for key, value in settings)


_CITATIONS = frozenset({"annotations", "citations", "groundingSupports", "grounding_supports"})
_SEARCHES = frozenset({"web_search_options"})
"""Top-level fields of a request that represent a hosted tool."""
_DEFINED = frozenset({"function", "custom", "namespace"})
"""The types, and keys, of tools that a request defines."""
RETURNED = frozenset({"response"})
"""Fields with the return value of a function, whose inner fields are the application's."""
