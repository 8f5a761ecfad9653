"""Keep the conversations of clients in a store, for upstreams that keep none.

Each answer is stored as the upstream sent it, with its origin and its opaque state, and with the ids and names of the
client. The next request of the conversation sends it back unchanged to the same API.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
from starlette.routing import Route

from contentmodel.adapter import adapter
from contentmodel.content.outcomes import ErrorContent, ReferenceContent
from contentmodel.errors import Fault
from contentmodel.events import CANCELLED, StreamEvent, TurnComplete, TurnError, TurnStart
from contentmodel.gateway.config import ConfigError
from contentmodel.gateway.conversations import (
    LOCKED,
    PREVIOUS,
    PREVIOUS_NOT_FOUND,
    Conversations,
    References,
    Thread,
    check_kept,
    echoed,
    not_found,
    references,
    unreadable,
)
from contentmodel.gateway.front import Front, GatewayError
from contentmodel.gateway.report import logger
from contentmodel.gateway.stored_items import KEY, items_of, shown, turn_of_answer, turn_of_item, with_origin
from contentmodel.gateway.stored_routes import CHAIN, CONVERSATION, DELETED, Endpoints
from contentmodel.gateway.translation import Decoded, Request
from contentmodel.history import (
    START,
    AsyncConversationLog,
    AsyncTurnStore,
    ConflictError,
    HistoryError,
    NotFoundError,
    Turn,
)
from contentmodel.history.engines import url_of
from contentmodel.history.recording import Taking
from contentmodel.message import ChatMessage, Origin
from contentmodel.renames import Renames
from contentmodel.response import ChatResponse
from contentmodel.serialize import to_builtins
from contentmodel.unfolding import unfold


class Place(msgspec.Struct, frozen=True):
    """The position of a new input: the conversation, and the turn before it. `branch` allows several successors.

    `copied` are the messages of another conversation, which are stored first.
    """

    conversation: str
    previous: str = START
    branch: bool = False
    copied: list[ChatMessage] = []


class StoredConversations(Conversations):
    """The conversations of a gateway with a store."""

    store: AsyncTurnStore

    def __init__(self, location: str) -> None:
        self.location = location

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the store while the gateway runs. At the end, answers that are not complete are interrupted."""
        async with await AsyncTurnStore.open(self.location) as self.store:
            yield

    def routes(self, front: Front) -> Iterator[Route]:
        yield from Endpoints(self, front).routes()

    async def thread(self, request: Request, notes: list[str]) -> Thread:
        asked = references(request)
        if asked.keeps:
            check_kept(request.incoming.payload)
        try:
            place, messages = await self._before(asked)
            decoded = await Joining(self.store, request, asked).decoded(messages)
        except HistoryError as error:
            raise unreadable(error) from error
        if not asked.keeps:
            return Thread(decoded)
        return StoredThread(self.store, request, place, decoded, len(messages), notes)

    async def _before(self, asked: References) -> tuple[Place, list[ChatMessage]]:
        """Return the position of a request, and the messages before its input."""
        if asked.previous is not None:
            return await self._after_answer(asked.previous)
        if asked.conversation is not None:
            return await self._in_conversation(asked.conversation)
        return Place(f"{CHAIN}{uuid.uuid4().hex}"), []

    async def _after_answer(self, name: str) -> tuple[Place, list[ChatMessage]]:
        turn = await self.answer(name)
        if turn is None:
            message = f"Previous response with id {name!r:.200} not found."
            raise GatewayError("invalid_request", message, fields={"param": PREVIOUS, "code": PREVIOUS_NOT_FOUND})
        if turn.is_open:
            message = f"The response {name!r:.200} is still in progress: wait until it is complete."
            raise GatewayError("conflict", message, fields={"param": PREVIOUS})
        messages = (await self.store.load(turn.conversation, turn)).messages
        if turn.conversation.startswith(CONVERSATION):
            # The conversation itself stays as it is.
            return Place(f"{CHAIN}{uuid.uuid4().hex}", copied=messages), messages
        return Place(turn.conversation, turn.id, branch=True), messages

    async def _in_conversation(self, name: str) -> tuple[Place, list[ChatMessage]]:
        try:
            if not name.startswith(CONVERSATION):
                raise NotFoundError(name)
            head = (await self.store.conversation(name)).head
        except NotFoundError:
            raise not_found("Conversation", name, "conversation") from None
        if head is None:
            return Place(name), []
        return Place(name, head), (await self.store.load(name, head)).messages

    async def answer(self, name: str) -> Turn | None:
        """Return the turn of an answer; None if it does not exist, or was deleted."""
        found = turn_of_answer(name)
        if found is None:
            return None
        try:
            turn = await self.store.turn(found)
        except NotFoundError:
            return None
        is_deleted = await AsyncConversationLog(self.store).entries(turn.conversation, 1, kinds=(DELETED,), turn=turn)
        return None if is_deleted or turn.role != "assistant" else turn


def stored_conversations(location: str) -> StoredConversations:
    """Return the conversations in a file or a database. Raise ConfigError if it is neither."""
    try:
        url_of(location, is_async=True)
    except HistoryError as error:
        raise ConfigError("configuration", [Fault("store", str(error))]) from None
    return StoredConversations(location)


# -- the messages before an input --------------------------------------------------------------------------------------


class Joining:
    """Put the messages that a request refers to into the request, with the places that their losses are reported at."""

    def __init__(self, store: AsyncTurnStore, request: Request, asked: References) -> None:
        self._store, self._request, self._asked = store, request, asked
        self._api = adapter(request.front.api)

    async def decoded(self, before: list[ChatMessage]) -> Decoded:
        """Return the request with the messages before its input, and with the items that its input refers to."""
        value, trace = self._request.decoded
        messages = value.messages
        if self._asked.items:
            messages = [part for message in messages for part in await self._resolved(message)]
        own = (value.extra or {}).get(self._api.api, {})
        rest = {key: content for key, content in own.items() if key not in ("conversation", "background")}
        changed = msgspec.structs.replace(
            value,
            messages=[*before, *messages],
            # The gateway does what these three ask for.
            options=msgspec.structs.replace(value.options, previous_response_id=None, conversation_id=None, store=None),
            extra={**(value.extra or {}), self._api.api: rest},
        )
        if trace is None:
            return changed, None
        payload, context = trace
        context.replaced(value, changed)
        context.replaced(value.options, changed.options)
        return changed, (self._placed(payload, context, before), context)

    def _placed(self, payload: Any, context: Any, before: list[ChatMessage]) -> Any:
        """Return the payload with places for the stored messages: losses of these have the paths of these places.

        `$.previous_response_id.messages[2].contents[0]` is a content of the third message that this id refers to.
        """
        if not before:
            return payload
        places: list[dict[str, Any]] = [{"contents": [{} for _ in message.contents]} for message in before]
        for number, message in enumerate(before):
            context.trace(None, [message], places, number, spread=False)
            for index, content in enumerate(message.contents):
                context.trace(None, [content], places[number]["contents"], index, spread=False)
        name = PREVIOUS if self._asked.previous is not None else "conversation"
        return {**payload, name: {"messages": places}}

    async def _resolved(self, message: ChatMessage) -> list[ChatMessage]:
        """Return the messages in place of one with references to items."""
        parts: list[ChatMessage] = []
        for turn, run in _runs(message):
            if turn is None:
                parts.append(msgspec.structs.replace(message, contents=run))
                continue
            found = await self._found(turn, [reference.item_id for reference in run])
            if self._request.decoded[1] is not None:
                context = self._request.decoded[1][1]
                for content in (content for part in found for content in part.contents):
                    context.replaced(run[0], content)
            parts += found
        return parts

    async def _found(self, turn: str, names: list[str]) -> list[ChatMessage]:
        messages = None
        if turn:
            with suppress(NotFoundError):
                stored = await items_of(self._store, await self._store.turn(turn), self._api)
                messages = stored.messages_of(names)
        if messages is None:
            message = f"Item with id {names[0]!r:.200} not found. Items are not kept when `store` is set to false."
            raise GatewayError("invalid_request", message, fields={"param": "input"})
        return messages


def _runs(message: ChatMessage) -> Iterator[tuple[str | None, list[Any]]]:
    """Yield runs of contents with the id of the turn that they refer to: None for other contents, "" if unknown."""
    runs: list[tuple[str | None, list[Any]]] = []
    for content in message.contents:
        turn = turn_of_item(content.item_id) or "" if isinstance(content, ReferenceContent) else None
        if runs and runs[-1][0] == turn:
            runs[-1][1].append(content)
        else:
            runs.append((turn, [content]))
    yield from runs


# -- one request -------------------------------------------------------------------------------------------------------


class StoredThread(Thread):
    """One request whose input and answer are stored."""

    def __init__(
        self, store: AsyncTurnStore, request: Request, place: Place, decoded: Decoded, before: int, notes: list[str]
    ) -> None:
        """`before` is the number of messages before the input."""
        super().__init__(decoded)
        self.is_kept = True
        self._store, self._place, self._notes = store, place, notes
        self._input = decoded[0].messages[before:]
        self._api = request.front.api
        self._fields = echoed(request.incoming.payload)
        self._turn: Turn | None = None
        self._first: Turn | None = None
        self._taking: Taking | None = None
        self._last: TurnComplete | TurnError | None = None
        self._begun = ChatResponse()
        self._origin: Origin | None = None
        self._actions: list[Any] = []
        self._inputs = 0
        self._has_failed = self._is_changed = False
        self._lock = asyncio.Lock()

    # -- the input -----------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        if self._turn is not None:
            return
        try:
            await asyncio.shield(self._begin())
        except ConflictError as error:
            message = "Another process is currently operating on this conversation. Please retry in a few seconds."
            raise GatewayError("conflict", message, fields={"code": LOCKED}) from error
        except HistoryError as error:
            self._give_up(error)

    async def _begin(self) -> None:
        place, store = self._place, self._store
        copied = await store.add_messages(place.conversation, place.copied, START) if place.copied else []
        previous = copied[-1].id if copied else place.previous
        added = await store.add_messages(place.conversation, self._input, previous, branch=place.branch)
        last, branch = (added[-1].id, False) if added else (previous, place.branch)
        self._inputs = len(added)
        self._first = next(iter([*copied, *added]), None)
        try:
            self._turn = await store.begin_turn(place.conversation, "assistant", last, branch=branch)
        except BaseException:
            await self._delete()
            raise

    async def abandon(self) -> None:
        if self._turn is None:
            return
        try:
            await asyncio.shield(self._delete())
        except HistoryError as error:
            self._give_up(error)

    async def _delete(self) -> None:
        if self._turn is not None:
            with suppress(ConflictError):
                await self._store.end_turn(self._turn, status="interrupted")
        first = self._first or self._turn
        if first is not None:
            await self._store.delete_turn(first)
        self._turn = None
        if self._place.previous == START and self._place.conversation.startswith(CHAIN):
            await self._store.delete(self._place.conversation)

    # -- the answer ----------------------------------------------------------------------------------------------------

    def whole(self, response: ChatResponse, maps: Renames) -> ChatResponse:
        if self._turn is None:
            return response
        take = self.events(maps)
        for event in unfold(response):
            take(event)
        return shown(response, self._turn, self._api, self._fields)

    def events(self, maps: Renames) -> Callable[[StreamEvent], StreamEvent]:
        # An upstream may fail before its first block, and the request may be sent again.
        self._taking = None if self._turn is None else Taking(self._turn)
        self._last, self._begun, self._actions = None, ChatResponse(), []
        # A message with restored arguments is not what the upstream's API sent: it is encoded like one of the client.
        self._is_changed = bool(maps.ids or maps.schemas or maps.tools)
        return self._taken

    def _taken(self, event: StreamEvent) -> StreamEvent:
        if self._turn is None or self._taking is None:
            return event
        stored = event
        if self._is_changed and isinstance(event, TurnStart | TurnComplete | TurnError):
            stored = msgspec.structs.replace(event, response=with_origin(event.response, None))
        if isinstance(stored, TurnComplete | TurnError):
            self._last = stored
        else:
            self._actions += self._taking.take(stored)
        if not isinstance(event, TurnStart | TurnComplete | TurnError):
            return event
        if isinstance(stored, TurnStart):
            self._begun = stored.response
            self._origin = event.response.origin
        return msgspec.structs.replace(event, response=shown(event.response, self._turn, self._api, self._fields))

    async def write(self) -> None:
        if self._actions:
            await asyncio.shield(self._write())

    async def _write(self) -> None:
        async with self._lock:
            actions, self._actions = self._actions, []
            if self._has_failed:
                return
            try:
                for action in actions:
                    await getattr(self._store, action.method)(self._turn, *action.args, **action.kwargs)
            except HistoryError as error:
                self._give_up(error)
                with suppress(HistoryError):
                    await self._store.end_turn(self._turn or "", status="interrupted")

    async def end(self) -> None:
        if self._taking is None:
            return
        last = self._last or TurnError(error=ErrorContent(code=CANCELLED), response=self._begun)
        origin = None if self._origin is None else to_builtins(self._origin)
        own = {KEY: {"inputs": self._inputs, "fields": self._fields, "origin": origin}}
        response = msgspec.structs.replace(last.response, extra={**(last.response.extra or {}), **own})
        self._actions += self._taking.take(msgspec.structs.replace(last, response=response))
        self._taking = None
        await self.write()

    def _give_up(self, error: HistoryError) -> None:
        """Report that the store failed, and store nothing more of this answer. The client gets it anyway."""
        self._has_failed = True
        logger.error("the conversation %s could not be stored: %s", self._place.conversation, error)
        self._notes.append(f"the answer is not stored: {type(error).__name__}")
