"""Documents that consist of contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.given import NO_CONTENTS
from contentmodel.content.text import are_contents, as_contents

if TYPE_CHECKING:
    from contentmodel.content.given import Contents


class DocumentContent(AIContent, frozen=True, kw_only=True):
    """A document given as parts, so that citations can refer to them: a text in blocks, or a search result."""

    parts: Contents = NO_CONTENTS
    """The contents of the document."""
    title: str | None = None
    """The title of the document."""
    uri: str | None = None
    """The application's identifier of the source. It need not be an address."""

    def __post_init__(self) -> None:
        if not are_contents(self.parts):
            msgspec.structs.force_setattr(self, "parts", as_contents(self.parts, "parts"))
