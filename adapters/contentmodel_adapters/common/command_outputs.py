"""The outputs of shell commands in APIs with one object for each command: its stdout, its stderr and how it ended.

In the model, each command has a text (its stdout), then a text (its stderr) and an error if there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from contentmodel.authoring import EncodeContext, Failure, Place, Union, hints
from contentmodel.content.base import AIContent
from contentmodel.content.text import TextContent

STDERR = "stderr"


class CommandOutputs:
    """Split the object of a command into contents, and join them.

    A row of the API decodes the object to the text of its stdout, with the other fields in the residue. `failure` are
    the fields of a command that failed.
    """

    def __init__(self, api: str, failure: Failure) -> None:
        self._api, self._failure = api, failure

    def split(self, contents: Sequence[Any], wires: Sequence[Any]) -> list[Any]:
        """Return the contents of commands, each with the contents of its stderr and of its failure."""
        return [one for content, wire in zip(contents, wires, strict=False) for one in self._of_command(content, wire)]

    def _of_command(self, content: Any, wire: Any) -> list[Any]:
        if content.__class__ is not TextContent:
            return [content]
        residue = (content.extra or {}).get(self._api, {})
        stderr = residue.get(STDERR)
        if stderr.__class__ is not str or not stderr:
            return [content, *self._failure.errors(wire, self._api)]
        other_fields = {key: value for key, value in residue.items() if key != STDERR}
        printed = msgspec.structs.replace(content, extra={self._api: other_fields} if other_fields else None)
        failed = TextContent(text=stderr, extra=hints.COLUMN.extra(self._api, STDERR))
        return [printed, failed, *self._failure.errors(wire, self._api)]

    def places(self, contents: Iterable[Any], wires: Sequence[Any], path: str, union: Union) -> Iterable[Place]:
        """Yield the origin of each content."""
        index = -1
        for content in contents:
            index += 0 if self._follows(content) else 1
            if 0 <= index < len(wires):
                at = f"{path}[{index}]"
                sign = self._failure.place_of(content, wires[index], at, self._api)
                if sign is not None:
                    yield content, *sign, None
                else:
                    yield content, at, wires[index], None if self._follows(content) else union

    def join(self, contents: Iterable[Any], context: EncodeContext) -> list[AIContent]:
        """Return one content for each command: the inverse of `split`."""
        commands: list[Any] = []
        for content in contents:
            if self._is_stderr(content) and commands and content.__class__ is TextContent:
                commands[-1] = context.replaced(commands[-1], self._with_stderr(commands[-1], content.text))
            elif not self._follows(content):
                commands.append(content)
        return commands

    def _with_stderr(self, content: Any, text: str) -> Any:
        extra = content.extra or {}
        residue = {**extra.get(self._api, {}), STDERR: text}
        return msgspec.structs.replace(content, extra={**extra, self._api: residue})

    def _is_stderr(self, content: Any) -> bool:
        return hints.COLUMN.of(content, self._api) == STDERR

    def _follows(self, content: Any) -> bool:
        """Return whether a content belongs to the command of the content before it."""
        return self._is_stderr(content) or hints.FAILURE.of(content, self._api) is not None
