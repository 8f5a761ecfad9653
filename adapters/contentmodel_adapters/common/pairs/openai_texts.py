"""Texts of OpenAI with their citations, in the parts of the Vercel AI SDK and as items of the Responses API.

The SDK keeps the id of the item, the annotations and the phase of a text. It sends a text as a reference to the stored
item, which has the annotations. It sends only the text and the phase if nothing is stored, or if a model that reasons
would get the item without the reasoning before it. Source: `convert-to-openai-responses-input.ts` and
`map-openai-responses-annotation.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import EncodeContext, object_of, objects_of, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.pairs.kept_results import (
    MODEL_MESSAGES,
    SDK_FORMATS,
    UI_MESSAGES,
    decoded,
    is_kept,
    provider_in,
    with_own,
    without_values,
)
from contentmodel_adapters.common.pairs.provider_state import RESPONSES, with_id_of_item

_METADATA = {UI_MESSAGES: "providerMetadata", MODEL_MESSAGES: "providerOptions"}
"""The field of texts with the values of providers, by format."""
_PROVIDERS = ("openai", "azure")
Fields = dict[str, Any]


def with_texts_of_openai(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose texts that the AI SDK keeps are items of the Responses API, with their annotations."""
    is_stored = request.options.store is not False
    messages = [
        context.with_contents(message, _Texts(message.origin.api, context, is_stored=is_stored).changed(message))
        if message.role == "assistant" and message.origin is not None and is_kept(message, SDK_FORMATS, context)
        else message
        for message in request.messages
    ]
    return context.with_messages(request, messages)


class _Texts:
    """The texts and the reasoning of messages of one format."""

    def __init__(self, api: str, context: EncodeContext, *, is_stored: bool) -> None:
        self._api, self._context, self._is_stored = api, context, is_stored

    def changed(self, message: ChatMessage) -> list[AIContent]:
        """Return the contents of a message as the API has them."""
        # A model that does not reason needs no reasoning before a stored item.
        is_complete = self._context.known.capabilities.thinking == ()
        has_items = self._is_stored and any(self._key(one)[0] is TextContent for one in message.contents)
        made: list[AIContent] = []
        # If the last content is part of the item of a text, another text would become a part of it, too.
        is_open = False
        for (kind, _), group in groupby(message.contents, self._key):
            parts: list[Any] = list(group)
            own = self._texts(parts) if kind is TextContent and self._is_stored and is_complete else None
            if own is not None:
                made += own
            elif kind is ReasoningContent and any(_is_encrypted(part) for part in parts):
                is_complete = True
                # The item of a text after it requires the id.
                made += [with_id_of_item(parts[0], self._context), *parts[1:]] if has_items else parts
            else:
                is_complete = is_complete or any(self._is_item(part) for part in parts)
                made += [self._alone(part, is_open=is_open) for part in parts]
            is_open = own is not None
        return made

    def _is_item(self, content: Any) -> bool:
        return isinstance(content, ReasoningContent) and self._context.is_own(content)

    def _key(self, content: Any) -> tuple[type[Any] | None, str | None]:
        """Return the class of a part of an item, and the id of the item; (None, None) for other contents."""
        if not isinstance(content, TextContent | ReasoningContent):
            return None, None
        item_id = self._kept(content).get("itemId")
        return (content.__class__, item_id) if isinstance(item_id, str) else (None, None)

    def _kept(self, content: Any) -> Fields:
        metadata = object_of((content.extra or {}).get(self._api, {}), _METADATA[self._api])
        return object_of(metadata, provider_in(metadata, _PROVIDERS))

    def _texts(self, parts: list[Any]) -> list[AIContent] | None:
        """Return the parts of the item of a text; None if their annotations are malformed."""
        own = [made for made in map(self._own, parts) if made is not None]
        if len(own) != len(parts):
            return None
        return [self._text(old, new, is_first=old is parts[0]) for old, new in zip(parts, own, strict=True)]

    def _own(self, content: TextContent) -> TextContent | None:
        kept = self._kept(content)
        part = {"type": "output_text", "text": content.text, "annotations": kept.get("annotations", [])}
        phase = {"phase": kept["phase"]} if isinstance(kept.get("phase"), str) else {}
        item = {"type": "message", "id": kept["itemId"], "status": "completed", "role": "assistant", **phase}
        own: Any = next(iter(decoded(RESPONSES, {"input": [{**item, "content": [part]}]})), None)
        is_whole = isinstance(own, TextContent) and len(own.annotations or ()) == len(objects_of(kept, "annotations"))
        return own if is_whole else None

    def _text(self, content: TextContent, own: TextContent, *, is_first: bool) -> AIContent:
        kept = self._kept(content)
        self._report_citations(content, own.annotations or [], objects_of(kept, "annotations"))
        if not is_first:
            # The first part has the values of the item.
            return self._replaced(content, replace(own, extra=None), names=("annotations",))
        phase = ["phase"] if isinstance(kept.get("phase"), str) else []
        return self._replaced(content, own, names=("annotations", "itemId", *phase))

    def _report_citations(self, content: TextContent, own: list[Citation], annotations: list[Fields]) -> None:
        """Report the citations that the annotations replace. The SDK has most of them in several places."""
        cited = {_source_of(citation) for citation in own}
        for citation in content.annotations or ():
            is_repeated = _source_of(citation) in cited or any(
                _source_of(citation) == (None, one.get("filename") or one.get("file_id")) for one in annotations
            )
            reason = reasons.REPEATED_CITATION if is_repeated else reasons.NO_CITATION_IN_REQUEST
            self._context.report_loss(citation, None, reason)

    def _alone(self, content: Any, *, is_open: bool) -> Any:
        """Return a text as a message with its phase, and without an id; other contents unchanged."""
        if not isinstance(content, TextContent):
            return content
        phase = self._kept(content).get("phase")
        given = {"phase": phase} if isinstance(phase, str) else {}
        if not given and not is_open:
            return content
        item = {"type": "message", "role": "assistant", **given, "content": content.text}
        contents = decoded(RESPONSES, {"input": [item]})
        if len(contents) != 1 or not isinstance(contents[0], TextContent):
            return content
        self._report_citations(content, [], [])
        return self._replaced(content, contents[0], names=given)

    def _replaced(self, old: Any, own: Any, names: Collection[str]) -> AIContent:
        """Return the content of the API in place of one of the SDK, without the values that the item has."""
        residue = (old.extra or {}).get(self._api, {})
        at = _METADATA[self._api]
        provider = provider_in(object_of(residue, at), _PROVIDERS)
        left = without_values(residue, at, names, provider) if provider else residue
        return with_own(old, own, self._context, {self._api: left}, protected=old.protected)  # type: ignore[no-any-return]


def _is_encrypted(content: ReasoningContent) -> bool:
    return content.protected is not None and content.protected.kind == "encrypted"


def _source_of(citation: Citation) -> tuple[str | None, str | None]:
    return (citation.url, None if citation.url is not None else citation.filename)
