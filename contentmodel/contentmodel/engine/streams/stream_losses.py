"""The losses of a stream, recorded block by block. Their paths are found when the caller reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from contentmodel.engine.losses.encoded import Encoded, EncodedContents
from contentmodel.engine.losses.loss import Loss, PendingLoss, loss_of, pruned, what_of
from contentmodel.events import GROWING_FIELDS

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.losses.reasons import Reason
    from contentmodel.events import Layout

Place = tuple[int, int]
"""The key of a block: the number of its choice, and its own number."""
MOST_KEPT = 65_536
"""The maximum number of characters of blocks that are kept in memory until their losses are read."""


class StreamLosses:
    """The losses of the blocks and of the envelope of a stream."""

    def __init__(self, api: str) -> None:
        """Create an empty collection. `api` is the API of the stream."""
        self.api = api
        self._losses: dict[Place | None, dict[Loss, None]] = {}
        """The losses of each block, with paths relative to the block, and those of the envelope (key None)."""
        self._unread: list[tuple[list[Place], EncodedContents] | Encoded] = []
        """Encoded values that may have lost something."""
        self._kept = 0
        """The total size of their contents."""
        self._whole_losses: tuple[Loss, ...] | None = None
        """The losses with full paths, as last read; None if they are outdated."""
        self._layout: Layout = []

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far. The message of a block is known only at the end of the turn."""
        if self._unread:
            self._read_losses()
        if self._whole_losses is None:
            paths = self._paths()
            self._whole_losses = pruned(
                [
                    loss if place is None else msgspec.structs.replace(loss, path=path_of(place, paths) + loss.path)
                    for place, losses in self._losses.items()
                    for loss in losses
                ]
            )
        return self._whole_losses

    def _paths(self) -> dict[Place, str]:
        """Return the path of each block that has a position in a message."""
        return {
            (number, index): f"$.choices[{number}].messages[{m}].contents[{at}]"
            for number, messages in enumerate(self._layout)
            for m, indices in enumerate(messages)
            for at, index in enumerate(indices)
        }

    def _read_losses(self) -> None:
        unread, self._unread, self._kept = self._unread, [], 0
        for entry in unread:
            if isinstance(entry, Encoded):
                self.add_losses(None, entry.losses)
            else:
                places, encoded = entry
                for place, losses in zip(places, encoded.losses(), strict=True):
                    self.add_losses(place, losses)

    def add_losses(self, place: Place | None, losses: Iterable[Loss]) -> None:
        """Add losses of a block, with paths relative to it, or of the envelope (None)."""
        self._losses.setdefault(place, {}).update(dict.fromkeys(losses))
        self._whole_losses = None

    def record(self, places: list[Place], encoded: EncodedContents) -> None:
        """Record the losses of blocks."""
        if encoded.may_lose:
            self._record(places, encoded)

    def _record(self, places: list[Place], encoded: EncodedContents) -> None:
        self._kept += sum(map(size_of, encoded.contents))
        self._unread.append((places, encoded))
        if self._kept > MOST_KEPT:
            self._read_losses()

    def note_envelope(self, encoded: Encoded) -> None:
        """Record the losses of an answer, or of its envelope."""
        if encoded.may_lose:
            self._unread.append(encoded)

    def lose_usage(self, reason: Reason) -> None:
        """Report the usage of the answer as lost."""
        self.add_losses(None, [loss_of(reason, "$.usage", "usage of ChatResponse", self.api, family="usage")])

    def report_loss(self, place: Place, content: AIContent, reason: Reason, *, field: str | None = None) -> None:
        """Report a block, or a field of it, as lost."""
        pending = PendingLoss(content, field, reason)
        self.add_losses(place, [pending.at(f".{field}" if field else "", self.api, what_of(pending))])

    def place_losses(self, layout: Layout) -> None:
        """Take the positions of the blocks: the turn has ended."""
        self._layout, self._whole_losses = layout, None


def size_of(content: AIContent) -> int:
    """Return the approximate size of a content in characters. If it is not plain text, return more than the limit."""
    text = getattr(content, GROWING_FIELDS.get(content.__class__) or "", None)
    return 1_000 + len(text) if isinstance(text, str) else MOST_KEPT + 1


def path_of(place: Place, known: Mapping[Place, str]) -> str:
    """Return the path of a block. While its message is unknown, the path contains its number in the choice instead."""
    choice, index = place
    return known.get(place) or f"$.choices[{choice}].blocks[{index}]"
