"""The rule for when a template is made, and the base class of the results of lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from contentmodel.encoded import Encoded
from contentmodel.json import Json

if TYPE_CHECKING:
    from contentmodel.engine.adapting import TableAdapter


def is_due(uses: int) -> bool:
    """Return whether to make a template after so many uses of the model's way: after 2, 4, 8 ... 256."""
    return 2 <= uses <= 256 and uses.bit_count() == 1


class Late(Encoded):
    """A result without the value of the model: what only a conversion through the model sets is made late."""

    __slots__ = ("_api", "_by_model", "_status")

    def __init__(
        self,
        payload: Json,
        reader: TableAdapter,
        writer: TableAdapter,
        by_model: Callable[[], Encoded],
        status: int | None = None,
    ) -> None:
        """Create the result. `by_model` converts the same payload through the model."""
        self.payload = payload
        self._source_api, self._api, self._form, self._status = reader.api, writer.api, writer.form, status
        self._by_model = by_model

    @property
    def api(self) -> str:
        """The API of the payload."""
        return self._api

    @property
    def status(self) -> int | None:
        """The HTTP status that the target API sends with this body; None for a request."""
        return self._status

    @property
    def may_lose(self) -> bool:
        """True if anything was lost."""
        return bool(self.losses)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the conversion through the model."""
        if name not in Encoded.__slots__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        encoded = self._by_model()
        for slot in Encoded.__slots__:
            if slot != "payload":
                setattr(self, slot, getattr(encoded, slot))
        return getattr(self, name)
