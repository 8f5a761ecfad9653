"""The endpoints for front ends of other protocols: `useChat` of the Vercel AI SDK, and AG-UI."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from contentmodel.framing import write_sse
from contentmodel.history import START, NotFoundError, Turn
from contentmodel.interop import vercel_ui
from contentmodel.interop.ag_ui import RunWriter
from contentmodel.interop.front_ends import BlockWriter
from contentmodel.json import write
from contentmodel.message import contents_of
from contentmodel.server import request_models
from contentmodel.server.front_ends.bodies import FrontEndRequest, chat_of, run_of
from contentmodel.server.front_ends.transcript import only_answers, ui_messages
from contentmodel.server.log import EncodedEvent
from contentmodel.server.queries import wrong
from contentmodel.server.questions import turn_in
from contentmodel.server.replies import answer
from contentmodel.server.request_models import TurnRequest
from contentmodel.server.sse import HEARTBEAT
from contentmodel.server.streaming import EventStream
from contentmodel.server.turn_service import StartedTurn

if TYPE_CHECKING:
    from contentmodel.server.app import Front


class FrontEnds:
    """The endpoints, over those of the server's own protocol."""

    def __init__(self, front: Front) -> None:
        self._front = front

    def routes(self) -> list[Route]:
        """Return the endpoints."""
        return [
            Route("/vercel/chat", self.post_chat, methods=["POST"]),
            Route("/vercel/chat/{conversation}", self.get_chat, methods=["GET"]),
            Route("/vercel/chat/{conversation}/stream", self.get_chat_stream, methods=["GET"]),
            Route("/ag-ui", self.post_run, methods=["POST"]),
        ]

    async def post_chat(self, request: Request) -> Response:
        """Begin a turn for `useChat`, and stream it."""
        front = self._front
        data = await request.body()
        received = await request_models.decoded(chat_of, data, front.rules)
        version = _version(request)
        begun = await self._begin(request, received)
        message = received.answered if received.contents and received.answered else begun.turn
        return await self._chat_stream(begun.turn, message, version)

    async def get_chat(self, request: Request) -> Response:
        """Return the messages of a conversation, for `useChat({ messages })`. A new conversation has none."""
        conversation, version = await self._front.conversation_of(request), _version(request)
        try:
            return answer(await ui_messages(self._front.store.stream(conversation), version))
        except NotFoundError:
            return answer([])

    async def get_chat_stream(self, request: Request) -> Response:
        """Stream the running turn of a conversation from its start. Status 204 if none runs."""
        conversation, version = await self._front.conversation_of(request), _version(request)
        try:
            head = (await self._front.store.conversation(conversation)).head
        except NotFoundError:
            head = None
        turn = None if head is None else await self._front.store.turn(head)
        if turn is None or not turn.is_open:
            return Response(status_code=204)
        return await self._chat_stream(turn.id, (await self._first(turn)).id, version)

    async def _chat_stream(self, turn: str, message: str, version: str) -> Response:
        encode = partial(_encoded, vercel_ui.VercelWriter(turn, message, version))
        batches = await self._front.batches(turn)
        return EventStream(batches, headers=vercel_ui.HEADERS, encode=encode, end=vercel_ui.END)

    async def post_run(self, request: Request) -> Response:
        """Begin a turn for a run of AG-UI, and stream it."""
        front = self._front
        data = await request.body()
        received = await request_models.decoded(run_of, data, front.rules)
        begun = await self._begin(request, received)
        writer = RunWriter(begun.turn, received.conversation, received.run)
        return EventStream(await front.batches(begun.turn), encode=partial(_encoded, writer))

    # -- the start of a turn -------------------------------------------------------------------------------------------

    async def _begin(self, request: Request, received: FrontEndRequest) -> StartedTurn:
        return await self._front.begin(request, received.conversation, lambda: self._turn_request(received))

    async def _turn_request(self, received: FrontEndRequest) -> TurnRequest:
        if received.again:
            return TurnRequest([], again=(await self._user_turn(received)).id)
        if received.edits:
            edited = await self._user_turn(received)
            return TurnRequest(received.contents, edited.previous or START, branch=True)
        return TurnRequest(received.contents, key=received.key, digest=request_models.digest_of(received.contents))

    async def _user_turn(self, received: FrontEndRequest) -> Turn:
        """Return the user's turn that gets another answer, or that is edited."""
        store = self._front.store
        if received.answered is not None:
            answer = await turn_in(store, received.conversation, received.answered)
            if answer.role == "assistant":
                return await store.turn((await self._first(answer)).previous or START)
        turns = await self._user_turns(received.conversation)
        if not 0 < received.position <= len(turns):
            raise NotFoundError(
                f"the conversation {received.conversation!r} has {len(turns)} user messages, and the request refers "
                f"to number {received.position}: send all messages of the conversation, or the id of the answer"
            )
        return turns[received.position - 1]

    async def _user_turns(self, conversation: str) -> list[Turn]:
        """Return the user's turns on the path to the turn that began last, without those that only answer questions."""
        turns = [stored async for stored in self._front.store.stream(conversation) if stored.turn.role == "user"]
        return [stored.turn for stored in turns if not only_answers(contents_of(stored.messages))]

    async def _first(self, turn: Turn) -> Turn:
        """Return the first turn of the assistant's message: turns that go on after answers belong to the same one."""
        store = self._front.store
        while turn.previous is not None and turn.previous != START:
            user = await store.turn(turn.previous)
            if user.previous is None or user.previous == START or not await self._only_answers(user):
                break
            turn = await store.turn(user.previous)
        return turn

    async def _only_answers(self, turn: Turn) -> bool:
        return only_answers(block.content for block in await self._front.store.blocks(turn))


def _encoded(writer: BlockWriter, batch: Iterable[EncodedEvent]) -> bytes:
    """Encode events as server-sent events. An empty batch, or one without chunks, becomes a heartbeat."""
    chunks = (chunk for encoded in batch for chunk in writer.chunks(encoded.event))
    return b"".join(write_sse(write(chunk)) for chunk in chunks) or HEARTBEAT


def _version(request: Request) -> str:
    """Return the major version of the AI SDK that the client uses."""
    version: Any = request.query_params.get("version", vercel_ui.VERSIONS[-1])
    if version not in vercel_ui.VERSIONS:
        raise wrong("version", f"one of {', '.join(vercel_ui.VERSIONS)}", version)
    return str(version)
