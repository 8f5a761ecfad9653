"""The base class of the results of lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.engine.json import Json
from contentmodel.engine.losses.encoded import Encoded


class Late(Encoded):
    """A result without the value of the model: what only a conversion through the model sets is made late."""

    __slots__ = ("_by_model",)

    def __init__(self, payload: Json, by_model: Callable[[], Encoded]) -> None:
        """Create the result. `by_model` converts the same payload through the model."""
        self.payload = payload
        self._by_model = by_model

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the conversion through the model."""
        if name not in Encoded.__slots__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        encoded = self._by_model()
        for slot in Encoded.__slots__:
            if slot != "payload":
                setattr(self, slot, getattr(encoded, slot))
        return getattr(self, name)
