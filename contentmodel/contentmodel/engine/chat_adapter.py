"""The base class for the adapters of APIs like Chat Completions, and the steps of their requests and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from contentmodel.engine.adapting import TableAdapter
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline import foreign, media
from contentmodel.engine.pipeline.calls import with_fitting_calls
from contentmodel.engine.pipeline.foreign import place_instructions, without_user_messages
from contentmodel.engine.pipeline.steps import Step, payload_step, request_step, transcript_step
from contentmodel.engine.pipeline.tools import Kinds, with_json_schemas, with_known_tools, without_settings_of_tools
from contentmodel.engine.streams.chunks import ChunkDecoder, ChunkEncoder
from contentmodel.engine.streams.joined_texts import with_normalized_texts
from contentmodel.engine.table.answers import whole_seconds
from contentmodel.json import JsonObject
from contentmodel.response import ChatResponse
from contentmodel.rules import IdentifierRule

NAMES = IdentifierRule("[a-zA-Z0-9_-]", 64)
"""The ids and names that most such APIs accept."""
NO_MEDIA = media.MediaSupport(media_types=(), links=())


def chat_steps(
    *,
    ids: IdentifierRule = NAMES,
    names: IdentifierRule = NAMES,
    reads: Callable[[EncodeContext], media.MediaSupport] = lambda context: NO_MEDIA,
) -> tuple[Step, ...]:
    """Return the steps that adapt a request. `ids` and `names` are those of calls, `reads` the media of the model."""
    return (
        request_step(with_known_tools, native=True, kinds=Kinds()),
        request_step(place_instructions, native=True),
        *foreign.NORMALIZE,
        *media.with_readable_media(reads),
        request_step(foreign.with_a_turn),
        request_step(with_fitting_calls, ids=ids, names=names),
        request_step(with_json_schemas),
    )


def chat_answer(*, created: bool = False, **fields: Any) -> tuple[Step, ...]:
    """Return the steps that complete an answer of another API: with an id, numbered choices and these fields.

    If `created`, the API requires the time of an answer in seconds.
    """

    def completed(payload: JsonObject, response: ChatResponse, context: EncodeContext) -> JsonObject:
        if response.error is not None and not response.choices:
            return payload
        if created:
            payload["created"] = whole_seconds(response, context)
        for index, choice in enumerate(payload.get("choices", ())):
            choice.setdefault("index", index)
        return {"id": "", **fields, "choices": [], **payload}

    return (payload_step(completed),)


class ChatAdapter(TableAdapter):
    """An adapter of an API like Chat Completions: requests of messages, answers of choices, streams of chunks.

    A subclass sets `api`, `issuer`, `table`, `rules`, `request`, `response`, `answer`, `errors` and `finish`. It
    replaces a tuple of steps if its API needs others: `request_steps = chat_steps(ids=...)`, `response_payload_steps =
    chat_answer(created=True, object="chat.completion")`.
    """

    decoder = ChunkDecoder
    encoder = ChunkEncoder
    requires: Mapping[str, type] = {"messages": list}
    token_counts: Mapping[str, bool] | None = {"cached_inside": True, "reasoning_inside": True}
    request_steps = chat_steps()
    request_payload_steps = (
        payload_step(foreign.with_model),
        payload_step(without_settings_of_tools, keys=("tool_choice", "parallel_tool_calls")),
    )
    answer_steps = (transcript_step(without_user_messages), transcript_step(with_normalized_texts, native=True))
    response_payload_steps = chat_answer()
    meaningless: Mapping[str, Any] = {"object": ("chat.completion",)}
    own_models: tuple[str, ...] = ()
    """The beginnings of the names of models that only this API has, such as "jamba-"."""

    def recognises(self, payload: JsonObject) -> Mapping[str, float]:
        """Return the kind of a request, an answer, a chunk or an error.

        The confidence is low, unless the payload names one of the API's own models: other APIs have the same fields.
        """
        kind = self._kind_of(payload)
        return {kind: 1.0 if str(payload.get("model")).startswith(self.own_models) else 0.1} if kind else {}

    def _kind_of(self, payload: JsonObject) -> str:
        if isinstance(payload.get("messages"), list):
            return "request"
        listed = payload.get("choices")
        first: Any = listed[0] if isinstance(listed, list) and listed else None
        if isinstance(first, dict):
            return "stream" if "delta" in first else "response"
        errors = self.response.fields_of("error", payload)
        return "response" if any(payload.get(key) is not None for key in errors) else ""
