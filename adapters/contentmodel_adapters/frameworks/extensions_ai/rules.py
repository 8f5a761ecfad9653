"""Rules of formats whose messages have typed contents (`extensions_ai`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.frameworks.extensions_ai.contents import Names


def contents_in(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the contents of all messages of a document, each with its path."""
    for path, message in objects(document, "messages"):
        yield from objects(message, "contents", path)


def declare(rules: Rules, names: Names, types: Collection[str], source: str, *, refused: bool) -> None:
    """Declare the rules of types, calls and results. Set `refused` if readers of the format refuse other types."""

    @rules.rule("refused" if refused else "ignored", fix="use a type of the format", source=source)
    def types_are_known(document: dict[str, Any]) -> Iterator[Broken]:
        """The type of a content must be one of the format."""
        for path, content in contents_in(document):
            kind = content.get(names.tag)
            if isinstance(kind, str) and kind not in types:
                yield f"{path}.{names.tag}", f"the type {kind!r:.60}"

    @rules.rule("harmful", fix="put the call before its result", source=source)
    def results_follow_their_calls(document: dict[str, Any]) -> Iterator[Broken]:
        """The result of a function must follow the call with its id."""
        called: set[Any] = set()
        key = names.of("call_id")
        for path, content in contents_in(document):
            call_id, kind = content.get(key), content.get(names.tag)
            if isinstance(call_id, str) and kind == names.of("function_call"):
                called.add(call_id)
            elif isinstance(call_id, str) and kind == names.of("function_result") and call_id not in called:
                yield f"{path}.{key}", f"no call {call_id!r:.60} before it"
