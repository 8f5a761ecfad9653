"""Containers: documents whose parts are whole messages of another API.

A session file, for example, is a container with messages in the format of an API. The adapter of the container builds
payloads of that API from the lines, and the inner adapter decodes these payloads (`Inner`). `InnerTrace` translates
paths in the inner payloads to paths in the container.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.engine.losses.model_paths import ModelPaths
from contentmodel.engine.losses.provenance import WirePaths, residue_places
from contentmodel.json import Json, JsonArray, JsonObject, value_at
from contentmodel.losses import Loss, PendingLoss, what_of

if TYPE_CHECKING:
    from contentmodel.encoded import Encoded
    from contentmodel.engine.adapting import TableAdapter
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.reasons import Reason
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse

TOKEN = "contentmodel:line"
"""The field that carries a number through the inner adapter, to find the wire object of each value of a container."""

OwnPaths = Callable[[object, str], "Sequence[tuple[str, Json]] | None"]
"""Return the paths of a field that the adapter of a container decoded, each with the value that is residue there.

Return None if it did not decode the field. A residue field has the name `extra.NAME`.
"""


class Other:
    """Another API whose values a format holds. No other code of the format calls the adapter of this API."""

    def __init__(self, api: str) -> None:
        self.api = api

    @property
    def adapter(self) -> TableAdapter:
        """The adapter of the API."""
        from contentmodel.adapter import adapter

        adapter_of_api: Any = adapter(self.api)
        return adapter_of_api  # type: ignore[no-any-return]


class Inner(Other):
    """The API whose messages a container holds."""

    def __init__(self, api: str, messages: str) -> None:
        """Create the declaration. `messages` is the field of the API's requests that has the messages."""
        super().__init__(api)
        self.messages = messages

    def decode(self, fields: JsonObject, messages: JsonArray) -> tuple[ChatRequest, Json, DecodeContext]:
        """Decode messages, and the other fields of a request. Return the request, its payload, and the trace."""
        return self.adapter.trace_request({**fields, self.messages: messages})

    def decode_answer(self, fields: JsonObject) -> ChatResponse:
        """Decode an answer."""
        return self.adapter.decode_response(fields)

    def encode(self, request: ChatRequest, context: EncodeContext) -> JsonObject:
        """Encode a request. Its losses become losses of the container."""
        payload: JsonObject = self._encoded(request, context, None).payload
        return payload

    def encode_messages(
        self, request: ChatRequest, context: EncodeContext, placeholders: Collection[Reason]
    ) -> JsonArray:
        """Encode the messages of a request.

        `placeholders` are the reasons of the API to begin with a message that the container does not need.
        """
        encoded = self._encoded(request, context, context.model, placeholders)
        written: Any = encoded.payload.get(self.messages) or []
        # generateContent takes one content without its array.
        messages: JsonArray = written if written.__class__ is list else [written]
        return messages[1:] if encoded.reports(placeholders) else messages

    def encode_answer(self, response: ChatResponse, context: EncodeContext) -> JsonObject:
        """Encode an answer. Its losses become losses of the container."""
        encoded = self.adapter.encode_response(response, context.policies)
        encoded.add_losses_to(context)
        payload: JsonObject = encoded.payload
        return payload

    def _encoded(
        self,
        request: ChatRequest,
        context: EncodeContext,
        model: str | None,
        placeholders: Collection[Reason] = (),
    ) -> Encoded:
        if request.origin is not None and context.native:
            request = context.replace(request, origin=msgspec.structs.replace(request.origin, api=self.api))
        encoded = self.adapter.encode_request(request, context.policies, model)
        encoded.add_losses_to(context, placeholders)
        return encoded


class InnerPayload(msgspec.Struct, frozen=True):
    """One inner payload, and the trace of its decoding."""

    wire: Json
    trace: DecodeContext
    places: Mapping[str, str]
    """The path in the container for each path of the payload that has one."""
    lines: Mapping[str, str] = {}
    """The path of the line of each value that is alone in its line, by the path of the value in the inner payload."""


class InnerTrace:
    """The trace of the decoding of a container, for `Encoded.trace_to`, which also accepts a `DecodeContext`."""

    def __init__(self, api: str, parts: Sequence[InnerPayload], paths: OwnPaths) -> None:
        """Create the trace. `paths` returns the paths of the fields that the container's adapter decoded itself."""
        self.api = api
        self._parts = parts
        self._paths_in_container = paths

    def paths(self, payload: Json) -> InnerPaths:
        """Return the paths of the decoded values in the container."""
        return InnerPaths(self.api, payload, self._parts, self._paths_in_container)


class InnerPaths:
    """The paths of losses in a container."""

    def __init__(
        self,
        api: str,
        payload: Json,
        parts: Sequence[InnerPayload],
        own_paths: OwnPaths,
    ) -> None:
        self._api = api
        self._payload = payload
        self._parts: list[tuple[WirePaths, InnerPayload]] = [(part.trace.paths(part.wire), part) for part in parts]
        self._paths_in_container = own_paths

    def losses(self, pending: PendingLoss, model: ModelPaths) -> list[Loss]:
        """Return a loss for each path of a pending loss in the container, or one with its path in the content model."""
        owner = model.source(pending.owner)
        if pending.api in (None, self._api):
            paths_of_field = self._own_paths(owner, pending, model)
            if paths_of_field is not None:
                name = what_of(pending)
                return [pending.at(path + inside, model.target, name + inside) for path, inside in paths_of_field]
        for paths, part in self._parts:
            if paths.knows(pending.owner, model):
                return [_in_container(loss, part) for loss in paths.losses(pending, model)]
        return [model.loss(pending)]

    def is_inside(self, state: object) -> bool:
        """Return whether an opaque state is inside of a wire object that is lost as a whole."""
        return any(paths.is_inside(state) for paths, _ in self._parts)

    def _own_paths(self, owner: object, pending: PendingLoss, model: ModelPaths) -> list[tuple[str, str]] | None:
        """Return the paths of a field that the container's adapter decoded; None if it did not decode the field."""
        if pending.api is not None:
            places = self._paths_in_container(owner, f"extra.{pending.field}")
            if places is None:
                return None
            return [
                (path, inside)
                for path, residue in places
                for inside in residue_places(residue, value_at(self._payload, path), "")
            ]
        field = pending.field or ""
        while owner is not None:
            for name in (field, field.partition(".")[0]):
                places = self._paths_in_container(owner, name)
                if places is not None:
                    return [(path, "") for path, _ in places]
            above = model.owners.of(owner)
            if above is None or above[2] is not None:
                return None
            owner, field = above[0], above[1]
        return None


def token_of(extra: Mapping[str, Mapping[str, Json]] | None, api: str) -> dict[str, dict[str, Json]] | None:
    """Return the residue of a value without all but its token, for a value that replaces it; None if it has none."""
    token = extra.get(api, {}).get(TOKEN) if extra else None
    return None if token is None else {api: {TOKEN: token}}


def _in_container(loss: Loss, part: InnerPayload) -> Loss:
    """Return a loss with its path in the container.

    If a value is lost as a whole, and it is alone in its line, the path is that of the line.
    """
    if loss.exact and loss.kind in ("dropped", "insignificant") and loss.path in part.lines:
        return msgspec.structs.replace(loss, path=part.lines[loss.path])
    path, exact = translated(loss.path, part.places)
    return msgspec.structs.replace(loss, path=path, exact=loss.exact and exact)


def translated(path: str, places: Mapping[str, str]) -> tuple[str, bool]:
    """Replace the longest prefix of a path that is in `places`. Return ("$", False) if no prefix is.

    The second value is True if the path is exact.
    """
    end = len(path)
    while end > 0:
        place = places.get(path[:end])
        if place is not None:
            return place + path[end:], True
        end = max(path.rfind(".", 0, end), path.rfind("[", 0, end))
    return "$", False
