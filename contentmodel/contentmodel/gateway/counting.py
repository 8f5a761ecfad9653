"""Count the input tokens of a request: by the upstream, if it can; else by an estimate, which a header reports."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import httpx2

from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.errors import DecodeError
from contentmodel.gateway.conversations import Thread
from contentmodel.gateway.exchange import Exchange
from contentmodel.gateway.front import JSON_TYPE, Reply
from contentmodel.gateway.translation import Request
from contentmodel.gateway.upstream import Sender, TooLargeError, UpstreamError, bounded
from contentmodel.json import parse, write
from contentmodel.message import contents_of
from contentmodel.request import ChatRequest

COUNTED_HEADER = "contentmodel-counted"
"""The source of a count: "upstream", "converted" (the converted request, by the upstream) or "estimated"."""

CHARACTERS = 4
"""The characters of JSON per token of an estimate, as OpenAI's and Google's pages on tokens give it for English."""
REFUSED = ("invalid_request", "context_length", "too_large", "conflict", "cancelled", "authentication", "permission")
"""The kinds of errors that the client gets. After others, the count is estimated."""
MAX_ANSWER = 2**20
"""The size of the upstream's answer in bytes."""
MEDIA_TOKENS = 1000
"""The tokens of an image or a file of an estimate."""


async def count_tokens(exchange: Exchange) -> Reply:
    """Return the number of input tokens of a request, in the client's API."""
    return await exchange.guarded(partial(_counted, exchange))


async def _counted(exchange: Exchange) -> Reply:
    incoming = exchange.incoming
    own = incoming.front.http.count
    assert own is not None
    route = exchange.route()
    route = route.at(route.targets[0], exchange.config.upstreams)
    request = exchange.request(replace(incoming, payload=own.payload_of(incoming.payload), streams=False), route)
    sender = exchange.senders[route.upstreams[0]]
    thread = await exchange.thread(request, sender)
    try:
        tokens, how = await _asked(exchange, sender, request, thread)
    except UpstreamError as error:
        if error.kind in REFUSED:
            return exchange.failed(sender, error)
        tokens, how = None, "estimated"
    if tokens is None:
        value, _ = (None if thread is None else thread.decoded) or request.decoded
        tokens, how = estimated(value), "estimated"
    headers = {"content-type": JSON_TYPE, COUNTED_HEADER: how}
    return exchange.finished(Reply(200, write(own.write(tokens)), headers))


async def _asked(exchange: Exchange, sender: Sender, request: Request, thread: Thread | None) -> tuple[int | None, str]:
    """Return the upstream's count, and how it was asked; None if it has no such method."""
    count = sender.http.count
    if count is None:
        return None, "estimated"
    same_api = sender.speaks(request.front)
    if same_api and not request.has_envelopes:
        model = request.route.model or exchange.incoming.model
        body, how = request.passed(model), "upstream"
    else:
        outgoing = request.outgoing(sender, thread)
        exchange.describe(sender, outgoing)
        model, how = outgoing.model, "converted"
        payload = sender.http.with_path_model(parse(outgoing.body), model)
        body = write(count.request_of(payload, model))
    headers = sender.headers(exchange.incoming.headers, exchange.key, same_api=same_api)
    response = await sender.send(exchange.client, count.method, model, body, headers)
    try:
        answer = b"".join([chunk async for chunk in bounded(response.aiter_bytes(), MAX_ANSWER)])
        return count.read(parse(answer)), how
    except (httpx2.HTTPError, TooLargeError, DecodeError, OSError):
        return None, "estimated"
    finally:
        await response.aclose()


def estimated(request: ChatRequest) -> int:
    """Return an estimate of the input tokens of a request, from the number of its characters."""
    media, texts = 0, []
    for content in contents_of(request.messages):
        if isinstance(content, DataContent | UriContent | HostedFileContent):
            media += 1
        else:
            texts.append(len(write(content)))
    fixed = len(write([request.instructions, request.tools]))
    return (sum(texts) + fixed) // CHARACTERS + MEDIA_TOKENS * media
