"""Access checks. A conversation that the caller may not see is reported as missing."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import Any, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request

from contentmodel.errors import DecodeError, Fault
from contentmodel.history import AsyncTurnStore, Conversation, NotFoundError, Turn
from contentmodel.server.request_models import TurnRequest
from contentmodel.server.sent import HERE

Authorize: TypeAlias = Callable[[Request, str | None], Any]
"""Return whether a request may access a conversation (None: the request is about no conversation). May be async."""
Uploads: TypeAlias = Callable[[Request, str, str], Any]
"""Return whether the sender of a request uploaded a file (last argument: its id) to a conversation. May be async."""

BATCH = 100
"""Number of conversations that are read at once for a list."""


class Access:
    """Access checks by the application. Without `authorize`, all is allowed; without `uploads`, no file is accepted."""

    def __init__(self, authorize: Authorize | None, uploads: Uploads | None) -> None:
        self._authorize, self._uploads = authorize, uploads

    async def check(self, request: Request) -> None:
        """Raise HTTPException (403) if `authorize` rejects a request that is about no conversation."""
        if not await self._allows(request, None):
            raise HTTPException(403, "the request is not allowed")

    async def check_conversation(self, request: Request, conversation: str) -> None:
        """Raise NotFoundError if the caller may not see a conversation, whether it exists or not."""
        if not await self.shows(request, conversation):
            raise NotFoundError(f"there is no conversation {conversation!r}")

    async def turn(self, request: Request, store: AsyncTurnStore, name: str) -> Turn:
        """Return a turn. Raise the same NotFoundError if the turn is missing and if the caller may not see it."""
        try:
            turn = await store.turn(name)
        except NotFoundError:
            # Call `authorize` for a missing turn too: an error such as 401 must not reveal whether the turn exists.
            await self.shows(request, None)
            raise
        if not await self.shows(request, turn.conversation):
            raise NotFoundError(f"there is no turn {name!r}")
        return turn

    async def shows(self, request: Request, conversation: str | None) -> bool:
        """Return whether the caller may see a conversation: False on 403 or 404. Other HTTP errors are raised."""
        try:
            return await self._allows(request, conversation)
        except HTTPException as error:
            if error.status_code in (403, 404):
                return False
            raise

    async def _allows(self, request: Request, conversation: str | None) -> bool:
        return self._authorize is None or await _is_true(self._authorize(request, conversation))

    async def check_files(self, request: Request, conversation: str, turn_request: TurnRequest) -> None:
        """Raise DecodeError if this caller did not upload a file of the user's turn to this conversation."""
        faults = [
            Fault(path, "the file was not uploaded to this conversation")
            for path, name in turn_request.files
            if self._uploads is None or not await _is_true(self._uploads(request, conversation, name))
        ]
        if faults:
            raise DecodeError(HERE, faults)

    async def page(
        self, request: Request, store: AsyncTurnStore, size: int, after: Conversation | None, newest: bool, most: int
    ) -> tuple[list[Conversation], Conversation | None]:
        """Return the conversations that the caller may see, and where the next page begins (None if there is none).

        At most `most` stored conversations are read. If that limit is reached, the page may be short or empty even
        though more conversations follow.
        """
        visible: list[Conversation] = []
        place, remaining = after, most
        while remaining > 0:
            count = min(max(size + 1, BATCH), remaining)
            batch = await store.conversations(count, place, newest_first=newest)
            for place in batch:
                if not await self.shows(request, place.id):
                    continue
                if len(visible) == size:
                    return visible, visible[-1]
                visible.append(place)
            if len(batch) < count:
                return visible, None
            remaining -= count
        return visible, place


async def _is_true(answer: Any) -> bool:
    return (await answer if isawaitable(answer) else answer) is True
