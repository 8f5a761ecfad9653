"""The endpoints of kept answers and conversations, in the form of the Responses API.

(resources/responses/responses.py and resources/conversations of openai 3.54.)
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from contentmodel.errors import DecodeError
from contentmodel.gateway.conversations import check_kept, not_found, unreadable
from contentmodel.gateway.front import Front, GatewayError
from contentmodel.gateway.replies import ApiRoute, json_response
from contentmodel.gateway.stored_items import KEY, answer_of, items_of, listed, page_of, turn_of_item
from contentmodel.history import (
    START,
    AsyncConversationLog,
    ConflictError,
    HistoryError,
    LogEntry,
    NotFoundError,
    Turn,
)
from contentmodel.json import JsonObject, parse, whole_number

if TYPE_CHECKING:
    from contentmodel.gateway.keeping import StoredConversations

CONVERSATION = "conv_"
"""The prefix of the ids of conversations that clients create."""
CHAIN = "chain_"
"""The prefix of the stored conversations of answers that follow each other."""
DELETED, METADATA = "deleted", "metadata"
"""The kinds of log entries: an answer that was deleted while others follow it, and the metadata of a conversation."""
MOST, USUAL = 100, 20
"""The longest and the usual number of items of a page."""
PAGE = 100
"""The number of turns that are read at once."""

Handler = Callable[[HttpRequest], Awaitable[JsonObject]]


class Endpoints:
    """The endpoints of one API."""

    def __init__(self, kept: StoredConversations, front: Front) -> None:
        self._kept, self._front = kept, front

    def routes(self) -> Iterator[Route]:
        """Yield the routes."""
        answer, conversation = "/v1/responses/{id}", "/v1/conversations/{id}"
        for path, method, handler in (
            (answer, "GET", self.get_answer),
            (answer, "DELETE", self.delete_answer),
            (f"{answer}/input_items", "GET", self.list_input),
            ("/v1/conversations", "POST", self.create_conversation),
            (conversation, "GET", self.get_conversation),
            (conversation, "POST", self.update_conversation),
            (conversation, "DELETE", self.delete_conversation),
            (f"{conversation}/items", "GET", self.list_items),
            (f"{conversation}/items", "POST", self.add_items),
            (f"{conversation}/items/{{item}}", "GET", self.get_item),
        ):
            yield ApiRoute(path, self._front, partial(self._answered, handler), method)

    async def _answered(self, handler: Handler, request: HttpRequest) -> Response:
        """Return the answer of a handler, or an error of the API."""
        try:
            return json_response(await handler(request))
        except GatewayError as error:
            refused = error
        except ConflictError:
            refused = GatewayError("conflict", "an answer is still in progress: wait until it is complete")
        except NotFoundError:
            kind = "Conversation" if "conversations" in request.url.path else "Response"
            refused = not_found(kind, request.path_params.get("id", ""))
        except HistoryError as error:
            refused = unreadable(error)
        reply = self._front.refusal(refused)
        return Response(reply.body, reply.status, reply.headers)

    # -- answers -------------------------------------------------------------------------------------------------------

    async def get_answer(self, request: HttpRequest) -> JsonObject:
        """Return an answer."""
        if request.query_params.get("stream") == "true":
            raise GatewayError("invalid_request", "the gateway does not stream kept answers: leave `stream` out")
        turn = await self._turn(request)
        answer = answer_of(await self._kept.store.response(turn), turn, self._front.api)
        payload: JsonObject = self._front.adapter.encode_response(answer).payload
        return payload

    async def list_input(self, request: HttpRequest) -> JsonObject:
        """Return the items of the input of an answer, without those of the answers before it."""
        turn = await self._turn(request)
        return _page(request, await self._items(await self._input(turn)))

    async def delete_answer(self, request: HttpRequest) -> JsonObject:
        """Delete an answer with its input. If others follow it, they keep its text until the last one is deleted."""
        turn = await self._turn(request)
        await self._log.add(turn.conversation, DELETED, turn=turn)
        if turn.conversation.startswith(CHAIN):
            await self._clear(turn)
        return {"id": request.path_params["id"], "object": "response.deleted", "deleted": True}

    async def _clear(self, turn: Turn | None) -> None:
        """Delete the turns of deleted answers that no others follow.

        All turns are read at most once: an answer is usually followed by the next turn, or by none.
        """
        store, followers = self._kept.store, None
        while turn is not None and await self._log.entries(turn.conversation, 1, kinds=(DELETED,), turn=turn):
            following = await store.turns(turn.conversation, 1, turn)
            if following and following[0].previous == turn.id:
                return
            if following and followers is None:
                followers = Counter([other.previous async for other in self._all(turn.conversation)])
            if followers and followers[turn.id]:
                return
            first = [*await self._input(turn), turn][0]
            await store.delete_turn(first)
            if followers:
                followers[first.previous] -= 1
            if (await store.conversation(turn.conversation)).turns == 0:
                await store.delete(turn.conversation)
                return
            turn = None if first.previous is None else await store.turn(first.previous)

    async def _all(self, conversation: str, after: Turn | None = None, size: int = PAGE) -> AsyncIterator[Turn]:
        while page := await self._kept.store.turns(conversation, size, after):
            for turn in page:
                yield turn
            after = page[-1]

    async def _turn(self, request: HttpRequest) -> Turn:
        turn = await self._kept.answer(request.path_params["id"])
        if turn is None:
            raise NotFoundError(request.path_params["id"])
        return turn

    async def _input(self, turn: Turn) -> list[Turn]:
        """Return the turns of the input of an answer."""
        store = self._kept.store
        extra = (await store.response(turn)).extra or {}
        turns: list[Turn] = []
        while len(turns) < extra.get(KEY, {}).get("inputs", 0) and turn.previous is not None:
            turn = await store.turn(turn.previous)
            turns.append(turn)
        return turns[::-1]

    async def _items(self, turns: list[Turn]) -> list[JsonObject]:
        store, adapter = self._kept.store, self._front.adapter
        return [item for turn in turns for item in (await items_of(store, turn, adapter)).items]

    # -- conversations -------------------------------------------------------------------------------------------------

    async def create_conversation(self, request: HttpRequest) -> JsonObject:
        """Create a conversation, with items and metadata."""
        body, name = await _body(request), f"{CONVERSATION}{uuid.uuid4().hex}"
        await self._add(name, body.get("items") or [], START)
        await self._log.add(name, METADATA, content=body.get("metadata") or {})
        return await self._conversation(name)

    async def get_conversation(self, request: HttpRequest) -> JsonObject:
        """Return a conversation."""
        return await self._conversation(_name(request))

    async def update_conversation(self, request: HttpRequest) -> JsonObject:
        """Replace the metadata of a conversation."""
        body = await _body(request)
        await self._log.add(_name(request), METADATA, content=body.get("metadata") or {})
        return await self._conversation(_name(request))

    async def delete_conversation(self, request: HttpRequest) -> JsonObject:
        """Delete a conversation with all of its items."""
        await self._kept.store.delete(_name(request))
        return {"id": _name(request), "object": "conversation.deleted", "deleted": True}

    async def list_items(self, request: HttpRequest) -> JsonObject:
        """Return the items of a conversation. Only the turns of the page are read."""
        name, (limit, after, order) = _name(request), _page_query(request)
        head = (await self._kept.store.conversation(name)).head
        place = await self._place(name, after)
        turns = (
            self._from(name, place, limit + 1)
            if order == "asc"
            else self._back_from(head if place is None else place.id)
        )
        items: list[JsonObject] = []
        async for turn in turns:
            found = await self._items([turn])
            items += found if order == "asc" else found[::-1]
            if place is not None and turn.id == place.id:
                items = items[[item["id"] for item in items].index(after) + 1 :]
            if len(items) > limit:
                break
        return page_of(items[:limit], has_more=len(items) > limit)

    async def _place(self, name: str, item: str | None) -> Turn | None:
        """Return the turn of an item of a conversation; None if there is no such item."""
        turn = None if item is None else turn_of_item(item)
        try:
            found = None if turn is None else await self._kept.store.turn(turn)
        except NotFoundError:
            return None
        if found is None or found.conversation != name:
            return None
        return found if any(known["id"] == item for known in await self._items([found])) else None

    async def _from(self, name: str, turn: Turn | None, size: int) -> AsyncIterator[Turn]:
        """Yield the turns of a conversation, all of them or from one on. `size` are read at once."""
        if turn is not None:
            yield turn
        async for other in self._all(name, turn, size):
            yield other

    async def _back_from(self, turn: str | None) -> AsyncIterator[Turn]:
        """Yield a turn and those before it, the latest first."""
        while turn is not None and turn != START:
            found = await self._kept.store.turn(turn)
            yield found
            turn = found.previous

    async def get_item(self, request: HttpRequest) -> JsonObject:
        """Return one item of a conversation."""
        conversation, name = _name(request), request.path_params["item"]
        await self._kept.store.conversation(conversation)
        turn = await self._place(conversation, name)
        if turn is None:
            raise GatewayError("not_found", f"Item with id {name!r:.200} not found.", fields={"code": None})
        return next(item for item in await self._items([turn]) if item["id"] == name)

    async def add_items(self, request: HttpRequest) -> JsonObject:
        """Add items to a conversation, and return them."""
        body, name = await _body(request), _name(request)
        head = (await self._kept.store.conversation(name)).head
        turns = await self._add(name, body.get("items") or [], START if head is None else head)
        items = await self._items(turns)
        return listed(items, None, len(items), "asc")

    async def _add(self, name: str, items: Any, previous: str) -> list[Turn]:
        try:
            messages = self._front.adapter.decode_request({"input": items}).messages
        except DecodeError as error:
            raise GatewayError("invalid_request", str(error)) from None
        return await self._kept.store.add_messages(name, messages, previous)

    async def _conversation(self, name: str) -> JsonObject:
        kept = await self._kept.store.conversation(name)
        entry = await self._latest(name, METADATA)
        created = int(kept.created_at.timestamp())
        metadata = {} if entry is None else entry.content
        return {"id": name, "object": "conversation", "created_at": created, "metadata": metadata}

    async def _latest(self, name: str, kind: str) -> LogEntry | None:
        """Return the latest entry of a kind. A log is read from its start: the steps double, and begin again at 1."""
        found, step = None, 1
        while step:
            after = step - 1 if found is None else found.number + step - 1
            later = await self._log.entries(name, 1, after, (kind,))
            found, step = (later[0], 2 * step) if later else (found, 0 if step == 1 else 1)
        return found

    @property
    def _log(self) -> AsyncConversationLog:
        return AsyncConversationLog(self._kept.store)


def _name(request: HttpRequest) -> str:
    """Return the id of the conversation in the path. Raise NotFoundError if clients did not create it."""
    name: str = request.path_params["id"]
    if not name.startswith(CONVERSATION):
        raise NotFoundError(name)
    return name


async def _body(request: HttpRequest) -> JsonObject:
    try:
        body = parse(await request.body() or b"{}")
    except DecodeError as error:
        raise GatewayError("invalid_request", str(error)) from None
    if not isinstance(body, dict):
        raise GatewayError("invalid_request", "expected a JSON object")
    check_kept(body)
    return body


def _page(request: HttpRequest, items: list[JsonObject]) -> JsonObject:
    limit, after, order = _page_query(request)
    return listed(items, after, limit, order)


def _page_query(request: HttpRequest) -> tuple[int, str | None, str]:
    """Return the limit of a page, the item before it, and its order."""
    query = request.query_params
    limit = whole_number(query.get("limit", str(USUAL)))
    if limit is None or not 1 <= limit <= MOST:
        raise GatewayError("invalid_request", f"`limit` must be from 1 to {MOST}", fields={"param": "limit"})
    return limit, query.get("after"), query.get("order", "desc")
