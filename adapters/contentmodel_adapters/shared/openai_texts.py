"""Texts of OpenAI with their citations, in the parts of the Vercel AI SDK and as items of the Responses API.

The SDK keeps the id of the item, the annotations and the phase of a text. It sends a text as a reference to the stored
item, which has the annotations. It sends only the text and the phase if nothing is stored, or if a model that reasons
would get the item without the reasoning before it. Source: `convert-to-openai-responses-input.ts` and
`map-openai-responses-annotation.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import EncodeContext, is_native, object_of, objects_of, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.shared.kept_results import MODEL_MESSAGES, UI_MESSAGES, decoded
from contentmodel_adapters.shared.provider_state import ITEM, RESPONSES

_METADATA = {UI_MESSAGES: "providerMetadata", MODEL_MESSAGES: "providerOptions"}
"""The field of texts with the values of providers, by format."""
_PROVIDERS = ("openai", "azure")
Fields = dict[str, Any]


def with_texts_of_openai(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose texts that the AI SDK keeps are items of the Responses API, with their annotations."""
    is_stored = request.options.store is not False
    messages = [
        context.with_contents(message, _Texts(message.origin.api, context, is_stored=is_stored).changed(message))
        if message.role == "assistant"
        and message.origin is not None
        and message.origin.api in _METADATA
        and not is_native(message, context)
        else message
        for message in request.messages
    ]
    return context.with_messages(request, messages)


class _Texts:
    """The texts and the reasoning of one message, in their order."""

    def __init__(self, api: str, context: EncodeContext, *, is_stored: bool) -> None:
        self._api, self._context, self._is_stored = api, context, is_stored
        # A model that does not reason needs no reasoning before a stored item.
        self._is_complete = context.known.capabilities.thinking == ()
        self._open: Any = None
        """The id of the item that the content before has, if more parts may follow."""

    def changed(self, message: ChatMessage) -> list[AIContent]:
        """Return the contents of the message as the API has them."""
        return [self._changed(content) for content in message.contents]

    def _changed(self, content: Any) -> AIContent:
        before, self._open = self._open, None
        kept = self._kept(content) if isinstance(content, TextContent | ReasoningContent) else {}
        item_id = kept.get("itemId")
        if isinstance(content, ReasoningContent):
            return self._reasoning(content, item_id, is_first=before is None or before != item_id)
        if not isinstance(content, TextContent) or not kept:
            return content
        if self._is_stored and self._is_complete and isinstance(item_id, str):
            return self._text(content, kept, is_first=before is None or before != item_id)
        return self._with_phase(content, kept.get("phase"))

    def _kept(self, content: Any) -> Fields:
        metadata = object_of((content.extra or {}).get(self._api, {}), _METADATA[self._api])
        return next((object_of(metadata, name) for name in _PROVIDERS if object_of(metadata, name)), {})

    def _reasoning(self, content: ReasoningContent, item_id: Any, *, is_first: bool) -> AIContent:
        """Return reasoning with the id of its item, if the API can read its state."""
        state = content.protected
        if not isinstance(item_id, str) or (state is not None and state.kind != "encrypted"):
            return content
        self._open = item_id
        self._is_complete = self._is_complete or state is not None
        if not is_first or state is None:
            return content
        marked = ITEM.on(content, RESPONSES, {"type": "reasoning", "id": item_id, "summary": []})
        return self._replaced(content, marked, names=("itemId",))

    def _text(self, content: TextContent, kept: Fields, *, is_first: bool) -> AIContent:
        annotations = kept.get("annotations", [])
        part = {"type": "output_text", "text": content.text, "annotations": annotations}
        phase = {"phase": kept["phase"]} if isinstance(kept.get("phase"), str) else {}
        item = {"type": "message", "id": kept["itemId"], "status": "completed", "role": "assistant", **phase}
        contents = decoded(RESPONSES, {"input": [{**item, "content": [part]}]})
        own: Any = contents[0] if len(contents) == 1 else None
        if not isinstance(own, TextContent) or len(own.annotations or ()) != len(objects_of(kept, "annotations")):
            return content
        self._open = kept["itemId"]
        self._report_citations(content, own.annotations or [], objects_of(kept, "annotations"))
        if is_first:
            return self._replaced(content, own, names=("annotations", "itemId", *phase))
        # The first part has the values of the item.
        return self._replaced(content, replace(own, extra=None), names=("annotations",))

    def _report_citations(self, content: TextContent, own: list[Citation], annotations: list[Fields]) -> None:
        """Report the citations that the annotations replace. The SDK has most of them in several places."""
        cited = {_source_of(citation) for citation in own}
        for citation in content.annotations or ():
            is_repeated = _source_of(citation) in cited or any(
                _source_of(citation) == (None, one.get("filename") or one.get("file_id")) for one in annotations
            )
            reason = reasons.REPEATED_CITATION if is_repeated else reasons.NO_CITATION_IN_REQUEST
            self._context.report_loss(citation, None, reason)

    def _with_phase(self, content: TextContent, phase: Any) -> AIContent:
        if not isinstance(phase, str):
            return content
        item = {"type": "message", "role": "assistant", "phase": phase, "content": content.text}
        contents = decoded(RESPONSES, {"input": [item]})
        if len(contents) != 1 or not isinstance(contents[0], TextContent):
            return content
        self._report_citations(content, [], [])
        return self._replaced(content, contents[0], names=("phase",))

    def _replaced(self, old: Any, own: Any, names: Collection[str]) -> AIContent:
        """Return the content of the API in place of one of the SDK, without the values that the item has."""
        residue = (old.extra or {}).get(self._api, {})
        at = _METADATA[self._api]
        metadata = {
            provider: {name: value for name, value in fields.items() if name not in names}
            if provider in _PROVIDERS and isinstance(fields, dict)
            else fields
            for provider, fields in object_of(residue, at).items()
        }
        rest = {name: value for name, value in residue.items() if name != at}
        metadata = {provider: fields for provider, fields in metadata.items() if fields != {}}
        rest = {**rest, at: metadata} if metadata else rest
        extra = {**(old.extra or {}), self._api: rest, RESPONSES: (own.extra or {}).get(RESPONSES, {})}
        changes = {name: getattr(old, name) for name in ("protected", "cache_point")}
        made: Any = replace(own, extra={api: fields for api, fields in extra.items() if fields} or None, **changes)
        self._context.kept_hosted[id(made)] = made
        return self._context.replaced(old, made)  # type: ignore[no-any-return]


def _source_of(citation: Citation) -> tuple[str | None, str | None]:
    return (citation.url, None if citation.url is not None else citation.filename)
