"""The type of a field that holds contents: a list of them, which may be given as texts when a value is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, overload

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent

    class Contents:
        """A list of contents. A text in it, or in place of it, becomes a TextContent.

        Type checkers take the type of a parameter of `__init__` from `__set__`, and that of an attribute from
        `__get__`. At run time, the annotation of these fields is `list[Content]`. mypy 2.4 loses the latter type in a
        frozen subclass of a class with such a field: `outputs` of results, which have subclasses, are a plain list.
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
