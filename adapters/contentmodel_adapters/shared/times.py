"""Times of stored messages."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import Codec, EncodeContext, date_of, reasons


class DateText(Codec[Any]):
    """The time of a message: a date in text."""

    classes = (str,)
    identity = False

    def decode(self, value: Any, context: Any, container: Any, key: str) -> str:
        return str(value)

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> str | None:
        date = value if context.native and value.__class__ is str else date_of(value)
        if date != value:
            lost = reasons.TIME_DROPPED if date is None else reasons.TIME_REWRITTEN
            context.report_loss(owner, "created", lost, form="as a date")
        return date
