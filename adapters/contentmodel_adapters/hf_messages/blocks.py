"""The table of data sets with a column `messages`, as chat templates read them.

Sources: huggingface.co/docs/transformers/chat_templating, chat_extras and chat_templating_multimodal;
huggingface.co/docs/trl/dataset_formats.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Codec,
    DataUri,
    EncodeContext,
    Implied,
    Required,
    Row,
    chat,
    reasons,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.request import ChatRequest
from contentmodel_adapters.hf_messages.padding import API, LITERALS, nulls_in, with_nulls, without_nulls
from contentmodel_adapters.shared.chat_rows import ChatRows, usual_row


class Arguments(Codec[Any]):
    """The arguments of a call: an object, or JSON text. Conversion from another API writes an object."""

    classes = (dict, str)
    identity = False
    _as_object = ArgumentsObject()

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        if context.native:
            return with_nulls(value, owner)
        arguments = self._as_object.encode(value, context, owner)
        for path in nulls_in(arguments):
            context.report_loss(owner, f"arguments${path}", reasons.NULL_MEMBERS)
        return without_nulls(arguments)


class Parameters(Codec[Any]):
    """The schema of a tool, which may contain nulls that Arrow added."""

    classes = (dict,)
    identity = False

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        if context.native:
            return with_nulls(value, owner)
        for path in nulls_in(value, LITERALS):
            context.report_loss(owner, f"parameters${path}", reasons.NULL_MEMBERS)
        return without_nulls(value, LITERALS)


def _media(kind: str) -> list[Row]:
    """Return the rows of parts with one kind of media, in `url`, `path`, `base64` or a field named as the kind."""
    constants, implied = {"type": kind}, Implied({"kind": kind})
    return [
        Row(f"{kind}.data", DataContent, {"url": (("media_type", "data"), DataUri())}, constants=constants),
        Row(f"{kind}.own.data", DataContent, {kind: (("media_type", "data"), DataUri())}, constants=constants),
        Row(f"{kind}.base64", DataContent, {"base64": ("data", Required())}, constants=constants),
        Row(kind, UriContent, {"url": "uri"}, implied, constants=constants),
        Row(f"{kind}.own", UriContent, {kind: "uri"}, implied, constants=constants),
        Row(f"{kind}.path", UriContent, {"path": "uri"}, implied, constants=constants),
    ]


KINDS_OF_MEDIA = ("image", "audio", "video")
OPENAI = {"type": "image_url"}
MESSAGES = ChatRows(
    API,
    [
        *(part for kind in KINDS_OF_MEDIA for part in _media(kind)),
        Row("image_url.data", DataContent, {"image_url.url": (("media_type", "data"), DataUri())}, constants=OPENAI),
        Row("image_url", UriContent, {"image_url.url": "uri"}, Implied({"kind": "image"}), constants=OPENAI),
    ],
    arguments=Arguments(),
    prefer=usual_row("image"),
    reasoning=("reasoning_content", "thinking", "reasoning"),
    function={**chat.FUNCTION, "function.parameters": ("parameters", Parameters())},
)
TABLE = MESSAGES.table
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {"messages": ("messages", MESSAGES), "tools": ("tools", Blocks(MESSAGES.tools))},
)
TABLE.keep("request", "chat_template_kwargs")
