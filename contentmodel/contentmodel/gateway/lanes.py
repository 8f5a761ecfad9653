"""The lanes of a gateway: requests and answers like earlier ones are converted by templates (`lanes`). No I/O.

A gateway changes requests and answers between decoding and encoding: its own lanes include these changes. They make
templates in a thread, so that no other request waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from contentmodel.content.tools import ToolCallContent
from contentmodel.encoded import Encoded
from contentmodel.gateway.report import logger
from contentmodel.json import Json, JsonObject
from contentmodel.lanes.lane import Lane
from contentmodel.lanes.template import Outcome
from contentmodel.lanes.turns import Turns
from contentmodel.lanes.values import Kind
from contentmodel.message import contents_of
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.serialize import convert_value, to_builtins
from contentmodel.usage import Usage

LEARNING = ThreadPoolExecutor(1, "contentmodel-lanes")
"""The thread that makes templates, one after the other."""

NOW = "contentmodel now"
"""The member with the present time, which a lane adds to an answer."""

ChangeRequest: TypeAlias = Callable[[ChatRequest, Any, str | None], ChatRequest]
"""A function of a request, its trace, and the model that it is for."""
ChangeAnswer: TypeAlias = Callable[[ChatResponse, Any, int], ChatResponse]
"""A function of an answer, its trace, and the present time."""


def _logged(make: Callable[..., None], *arguments: Any) -> None:
    """Make templates. A failure is logged: conversions do not need them."""
    try:
        make(*arguments)
    except Exception:
        logger.exception("a template could not be made")


class RequestLane(Lane):
    """The lane of requests of one API to one upstream. `change` is applied between decoding and encoding."""

    def __init__(self, reader: Any, writer: Any, policies: Mapping[str, str], change: ChangeRequest) -> None:
        super().__init__(reader, writer, policies)
        self._change = change

    def request_by_model(self, wire: Json, model: str | None = None) -> Encoded:
        request, *trace = self.reader.trace_request(wire, is_plain=True)
        return self.writer.encode_request(self._change(request, trace, model), self._policies, model).trace_to(*trace)

    def new_turns(self, by_model: Callable[[JsonObject], Encoded]) -> Turns:
        return _LateTurns(self.reader, self.writer, by_model)


class _LateTurns(Turns):
    def learn(self, wire: JsonObject, encoded: Encoded) -> None:
        LEARNING.submit(_logged, self._learn, wire)

    def _learn(self, wire: JsonObject) -> None:
        # The result of the request is read by another thread.
        super().learn(wire, self._convert(wire))


class AnswerLane(Lane):
    """The lane of whole answers of one upstream to clients of one API. An answer has the present time as `NOW`.

    Its templates make a list: the payload, the usage, and the ids and names of the calls. `change` is applied between
    decoding and encoding.
    """

    def __init__(self, reader: Any, writer: Any, policies: Mapping[str, str], change: ChangeAnswer) -> None:
        super().__init__(reader, writer, policies)
        self._change = change

    def answer_by_model(self, wire: Json) -> Encoded:
        body = {name: value for name, value in wire.items() if name != NOW}
        response, *trace = self.reader.trace_response(body, is_plain=True)
        changed = self._change(response, trace, wire[NOW])
        return self.writer.encode_response(changed, self._policies).trace_to(*trace)

    def kinds_of(self, encoded: Encoded) -> Mapping[str, Kind] | None:
        # An answer without contents may be one of another API.
        return super().kinds_of(encoded) if _contents_of(encoded) else None

    def outcome(self, encoded: Encoded) -> Outcome:
        response: Any = encoded.value
        calls = [[one.call_id, one.name] for one in _contents_of(encoded) if isinstance(one, ToolCallContent)]
        made = [encoded.payload, to_builtins(response.usage), calls]
        return super().outcome(encoded)._replace(payload=made)

    def _add(self, wire: JsonObject, encoded: Encoded) -> None:
        LEARNING.submit(_logged, super()._add, wire, encoded)


def _contents_of(encoded: Encoded) -> list[Any]:
    response: Any = encoded.value
    return [*contents_of([message for choice in response.choices for message in choice.messages])]


def usage_of(made: Json) -> Usage | None:
    """Return the usage that a template made."""
    return None if made is None else convert_value(made, Usage)
