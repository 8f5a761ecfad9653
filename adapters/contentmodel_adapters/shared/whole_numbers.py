"""Numbers that an API takes only as whole numbers."""

from __future__ import annotations

from contentmodel.authoring import Codec, EncodeContext, Reason


class WholeTopK(Codec[int | float]):
    """A `top_k` that is a whole number. A number of another API is rounded, which `rounded` reports."""

    classes = (int, float)
    identity = False

    def __init__(self, rounded: Reason) -> None:
        self.rounded = rounded

    def encode(self, value: int | float, context: EncodeContext, owner: object) -> int | float:
        if context.completes and isinstance(value, float):
            context.report_loss(owner, "options.top_k", self.rounded)
            return round(value)
        return value
