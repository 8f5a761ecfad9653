"""Formats of files. A document is a conversation and is decoded as a request. Few have answers; none has streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    Encoded,
    IdentifierRule,
    Kinds,
    RequestsOnly,
    Row,
    TableAdapter,
    date_of,
    foreign,
    media,
    place_instructions,
    reasons,
    request_step,
    with_fitting_calls,
    with_known_tools,
)
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.schema_adaptation import OPENAI, with_fitting_schemas

ANYTHING = IdentifierRule(r"[\s\S]", 100_000)
"""Ids and names with any characters: a file does not restrict them."""


class FileAdapter(TableAdapter):
    """A base class of adapters of file formats. They have no issuer, and hold no opaque state of providers."""

    issuer = ""
    reasoning_fields: tuple[str, ...] = ("reasoning_content",)
    refused: Mapping[str, str] = {}
    """Keys of documents that are not conversations, each with the message of the fault that refuses them."""

    def encode_request(
        self, request: ChatRequest, policies: Mapping[str, str] | None = None, model: str | None = None
    ) -> Encoded:
        """Encode a conversation as a document. By default, reasoning is kept if the format has a field for it."""
        default_policies = {"reasoning": self.reasoning_fields[0]} if self.reasoning_fields else {}
        return super().encode_request(request, {**default_policies, **(policies or {})}, model)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        for key, reason in self.refused.items():
            if key in wire and not self.requires.keys() & wire.keys():
                context.fault(wire, key, reason)
        return super()._decode_row(row, wire, context)


class DocumentAdapter(RequestsOnly, FileAdapter):
    """A base class of adapters of file formats that have only conversations."""


class Lists(FileAdapter):
    """A base class of adapters of lists of messages, alone or in the field `messages` of an object."""

    requires = {"messages": list}
    conversation = "messages"
    is_list = True

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the confidence that an object has messages of this format, which is the confidence of its list."""
        messages = payload.get(self.conversation)
        score = self.recognises_list(messages) if messages.__class__ is list else 0.0
        return {"request": score} if score else {}


class ListAdapter(RequestsOnly, Lists):
    """A base class of adapters of lists of messages that have only conversations."""


KNOWN_TOOLS = request_step(with_known_tools, native=True, kinds=Kinds())
INSTRUCTIONS = request_step(place_instructions, native=True)
NORMALIZED = foreign.NORMALIZE
WITH_A_TURN = request_step(foreign.with_a_turn)
FITTING_CALLS = request_step(with_fitting_calls, ids=ANYTHING, names=ANYTHING)
FITTING_SCHEMAS = request_step(with_fitting_schemas, dialects=OPENAI)
"""The steps of formats whose messages are like those of Chat."""


def usual_steps(reads: media.MediaSupport, calls: Any = FITTING_CALLS, instructions: Any = INSTRUCTIONS) -> Any:
    """Return all steps of a format whose messages are like those of Chat, with the media that it reads."""
    fitting = media.with_readable_media(reads)
    return KNOWN_TOOLS, instructions, *NORMALIZED, *fitting, WITH_A_TURN, calls, FITTING_SCHEMAS


class DateText(Codec[Any]):
    """The time of a message: a date in text."""

    classes = (str,)
    identity = False

    def decode(self, value: Any, context: Any, container: Any, key: str) -> str:
        return str(value)

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> str | None:
        date = value if context.native and value.__class__ is str else date_of(value)
        if date != value:
            lost = reasons.TIME_DROPPED if date is None else reasons.TIME_REWRITTEN
            context.report_loss(owner, "created", lost, form="as a date")
        return date
