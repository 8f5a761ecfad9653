"""Requests that refer to answers and conversations that a server keeps, in the form of the Responses API.

`keeping` answers them from a store; without one, they are refused here. (types/responses/response_create_params.py and
types/conversations of openai 3.54.)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.routing import Route

from contentmodel.content.outcomes import ReferenceContent
from contentmodel.events import StreamEvent
from contentmodel.gateway.front import Front, GatewayError
from contentmodel.gateway.report import logger
from contentmodel.gateway.translation import Decoded, Request
from contentmodel.message import contents_of
from contentmodel.renames import Renames
from contentmodel.response import ChatResponse

PREVIOUS_NOT_FOUND = "previous_response_not_found"
"""OpenAI's code of the error for an unknown `previous_response_id`."""
LOCKED = "conversation_locked"
"""OpenAI's code of the error for a conversation that another request is continuing."""

MAX_DEPTH = 200
"""The levels of a body that is kept. Python writes and reads about 300."""


@dataclass(frozen=True)
class References:
    """The references of a request: the ids of an answer and of a conversation, and whether it refers to items.

    `keeps` is whether the client wants the answer to be kept.
    """

    previous: str | None = None
    conversation: str | None = None
    items: bool = False
    keeps: bool = True

    @property
    def is_empty(self) -> bool:
        """True if the request contains the whole conversation."""
        return self.previous is None and self.conversation is None and not self.items


class Thread:
    """One request of a kept conversation. This class is for a request that is not kept, and continues nothing.

    `decoded` is the request with the messages that it refers to; None if it refers to none. `is_kept` is true if the
    answer is kept.
    """

    is_kept = False

    def __init__(self, decoded: Decoded | None = None) -> None:
        self.decoded = decoded

    async def begin(self) -> None:
        """Store the input. Call this before the request is sent. Raise GatewayError if another request is ahead."""

    async def abandon(self) -> None:
        """Delete the input again. Call this if the client gets no answer."""

    def whole(self, response: ChatResponse, maps: Renames) -> ChatResponse:
        """Take a whole answer, and return it with the id for the client. `maps` are what was restored in it."""
        return response

    def events(self, maps: Renames) -> Callable[[StreamEvent], StreamEvent]:
        """Return a function that takes the events of a streamed answer, and returns them with the id for the client."""
        return lambda event: event

    async def write(self) -> None:
        """Store the complete blocks that were taken. A failure of the store is reported, and the answer goes on."""

    async def end(self) -> None:
        """Store the end of the answer. If its last event was not taken, it is interrupted."""


class Conversations:
    """The conversations of a gateway that keeps none."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the store while the gateway runs."""
        yield

    def routes(self, front: Front) -> Iterator[Route]:
        """Yield the routes of the kept answers and conversations."""
        yield from ()

    async def thread(self, request: Request, notes: list[str]) -> Thread:
        """Return the thread of a request. `notes` are for the report.

        Raise GatewayError if the request refers to something that the gateway does not have.
        """
        asked = references(request)
        if asked.previous is not None:
            raise refused(
                f"Previous response with id {asked.previous!r:.200} not found", PREVIOUS, code=PREVIOUS_NOT_FOUND
            )
        if asked.conversation is not None:
            raise refused(f"Conversation with id {asked.conversation!r:.200} not found", "conversation")
        if asked.items:
            raise refused("the input has an item_reference", "input")
        return Thread()


PREVIOUS = "previous_response_id"
WHY = (
    "the gateway keeps no conversations: set `store` in its configuration, or send the whole conversation with each "
    "request and `store: false`"
)


def refused(what: str, parameter: str, *, code: str | None = None) -> GatewayError:
    """Return the error for a reference to something that is not kept."""
    return GatewayError("invalid_request", f"{what}: {WHY}", fields={"param": parameter, "code": code})


def not_found(kind: str, name: str, parameter: str | None = None) -> GatewayError:
    """Return the error for an unknown conversation or answer."""
    return GatewayError(
        "not_found", f"{kind} with id {name!r:.200} not found.", fields={"param": parameter, "code": None}
    )


def unreadable(error: Exception) -> GatewayError:
    """Return the error for a store that cannot be read. Its own text may contain a path: it is logged only."""
    logger.error("the store of conversations cannot be read: %s", error)
    return GatewayError("server", "the gateway cannot read its store of conversations")


def check_kept(payload: Mapping[str, Any]) -> None:
    """Raise GatewayError if a body has values that cannot be kept: nested too deeply, or no metadata of the API.

    (types/shared/metadata.py of openai 3.54.)
    """
    if _is_deeper(payload, MAX_DEPTH):
        raise GatewayError("invalid_request", f"the body is nested too deeply to be kept: at most {MAX_DEPTH} levels")
    metadata = payload.get("metadata")
    pairs = {} if metadata is None else metadata
    if not isinstance(pairs, Mapping) or len(pairs) > 16:
        raise _invalid("metadata", "`metadata` must be an object of at most 16 pairs")
    for key, value in pairs.items():
        if len(key) > 64 or not isinstance(value, str) or len(value) > 512:
            raise _invalid("metadata", "`metadata` has keys of at most 64 and texts of at most 512 characters")


def _is_deeper(value: Any, most: int) -> bool:
    """Return whether a JSON value has more than `most` levels."""
    level: list[Any] = [value]
    for _ in range(most):
        level = [
            item
            for inner in level
            for item in (inner.values() if isinstance(inner, Mapping) else inner)
            if isinstance(item, list | Mapping)
        ]
        if not level:
            return False
    return True


def references(request: Request) -> References:
    """Return what a request refers to. Raise GatewayError if it is not valid, or needs what no gateway can do."""
    payload = request.incoming.payload
    if payload.get("background") is True:
        raise _invalid("background", "the gateway cannot answer in the background: leave `background` out")
    if payload.get("prompt") is not None:
        raise _invalid("prompt", "the gateway has no stored prompts: send the prompt as `instructions` and `input`")
    previous, conversation = payload.get(PREVIOUS), payload.get("conversation")
    if isinstance(conversation, Mapping):
        conversation = conversation.get("id")
    for name, value in ((PREVIOUS, previous), ("conversation", conversation)):
        if value is not None and not isinstance(value, str):
            raise _invalid(name, f"`{name}` is not an id")
    if previous is not None and conversation is not None:
        raise _invalid(PREVIOUS, f"`{PREVIOUS}` and `conversation` exclude each other: send one of them")
    items = _may_refer(payload) and any(
        isinstance(content, ReferenceContent) for content in contents_of(request.value.messages)
    )
    return References(previous, conversation, items, payload.get("store") is not False)


def _may_refer(payload: Mapping[str, Any]) -> bool:
    """Return whether an item of the input may be a reference: by its type, or because it has neither type nor role."""
    items = payload.get("input")
    return isinstance(items, list) and any(
        not isinstance(item, dict)
        or item.get("type") == "item_reference"
        or (item.get("type") is None and item.get("role") is None)
        for item in items
    )


def _invalid(parameter: str, message: str) -> GatewayError:
    return GatewayError("invalid_request", message, fields={"param": parameter})


def echoed(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that its answer repeats."""
    conversation = payload.get("conversation")
    name = conversation.get("id") if isinstance(conversation, Mapping) else conversation
    fields = {key: payload[key] for key in (PREVIOUS, "metadata", "instructions") if payload.get(key) is not None}
    return {**fields, "store": True, **({} if name is None else {"conversation": {"id": name}})}
