"""Pass a method through that is not converted: an upstream of the same API answers it, or the client gets an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from contentmodel.gateway.config import Route
from contentmodel.gateway.exchange import Exchange
from contentmodel.gateway.front import GatewayError, Reply, without
from contentmodel.gateway.translation import Outgoing
from contentmodel.gateway.upstream import Sender, UpstreamError, headers_to_pass
from contentmodel.http_api import HttpMethod


def pass_through(method: HttpMethod) -> Callable[[Exchange], Awaitable[Reply]]:
    """Return a function that passes requests of a method through."""

    async def passed(exchange: Exchange) -> Reply:
        return await exchange.guarded(partial(_passed, exchange, method))

    return passed


async def _passed(exchange: Exchange, method: HttpMethod) -> Reply:
    incoming = exchange.incoming
    route = exchange.route()
    sender = _sender(exchange, method, route)
    model = route.model or incoming.model
    request = exchange.request(incoming, route)
    if request.has_envelopes:
        outgoing = request.outgoing(sender)
    else:
        outgoing = Outgoing(request.passed(model), model, streams=False, passes=True)
    exchange.describe(sender, outgoing)
    headers = sender.headers(incoming.headers, exchange.key, same_api=True)
    try:
        response = await sender.send(exchange.client, method, model, outgoing.body, headers)
        body = await exchange.body_of(sender, response, response.aiter_raw())
    except UpstreamError as error:
        return exchange.failed(sender, error)
    answered = headers_to_pass(response.headers, is_decoded=False)
    shown = {name: without(value, sender.secrets) for name, value in answered.items()}
    return exchange.finished(Reply(response.status_code, without(body, sender.secrets), shown))


def _sender(exchange: Exchange, method: HttpMethod, route: Route) -> Sender:
    """Return the first upstream of the client's API. Raise GatewayError if the route has none."""
    front = exchange.incoming.front
    senders = [exchange.senders[name] for name in route.upstreams]
    found = next((sender for sender in senders if sender.speaks(front)), None)
    if found is None:
        names = ", ".join(f"{sender.name} ({sender.api})" for sender in senders)
        message = f"{method.path} needs an upstream of {front.api}: the route of {exchange.incoming.model!r:.200} has"
        raise GatewayError("not_found", f"{message} {names}. Set the client to do this itself")
    return found
