"""The type of a field that holds contents: a list of contents that the constructor also accepts as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, overload

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent

    class Contents:
        """A list of contents. A text in the list, or instead of the list, becomes a TextContent.

        Type checkers take the type of an `__init__` parameter from `__set__`, and the type of the attribute from
        `__get__`. At run time, these fields are annotated `list[Content]`. mypy 2.4 loses the attribute type in a
        frozen subclass of a class with such a field. `outputs` of results is a plain list for this reason.
        """

        @overload
        def __get__(self, instance: None, owner: Any) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: Any) -> list[AIContent]: ...
        def __get__(self, instance: Any, owner: Any) -> Any: ...
        def __set__(self, instance: object, value: str | Sequence[AIContent | str]) -> None: ...

    NO_CONTENTS = Contents()
else:
    NO_CONTENTS = []
