"""The settings of documents that the Messages API and Converse share: whether they are cited, and their context.

They are residue: the Messages API has them in the block, Converse in its member `document` or `searchResult`. Sources:
types/document_block_param.py of anthropic 2.12, DocumentBlock and SearchResultBlock of botocore 1.43.117.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import EncodeContext, object_of
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage

CLAUDE, CONVERSE = "anthropic-messages", "bedrock-converse"
TYPES = (DataContent, UriContent, DocumentContent, FunctionResultContent)
_SETTINGS = {"citations": dict, "context": str}
_MEMBERS = ("document", "searchResult")


def with_cited_documents(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose documents have the settings of the other API as settings of this one."""
    origin = context.origin
    if context.native or origin is None or origin.api not in (CLAUDE, CONVERSE):
        return messages
    return [context.with_contents(message, [_moved(c, context) for c in message.contents]) for message in messages]


def _moved(content: Any, context: EncodeContext) -> Any:
    if isinstance(content, FunctionResultContent):
        outputs = [_moved(output, context) for output in content.outputs]
        is_same = all(new is old for new, old in zip(outputs, content.outputs, strict=True))
        return content if is_same else context.replace(content, outputs=outputs)
    source = CLAUDE if context.api == CONVERSE else CONVERSE
    extra = content.extra or {}
    if not isinstance(content, TYPES) or source not in extra:
        return content
    own = extra[source]
    member = None if source == CLAUDE else next((name for name in _MEMBERS if own.get(name).__class__ is dict), None)
    fields = own if member is None else object_of(own, member)
    kinds = {"citations": dict} if _is_result(content) else _SETTINGS
    settings = {
        name: fields[name] for name, kind in kinds.items() if fields.get(name) and fields[name].__class__ is kind
    }
    if not settings:
        return content
    rest = {name: value for name, value in fields.items() if name not in settings}
    left = rest if member is None else {**own, member: rest} if rest else {k: v for k, v in own.items() if k != member}
    made = settings if context.api == CLAUDE else {_MEMBERS[_is_result(content)]: settings}
    return context.replace(content, extra={**extra, source: left, context.api: made})


def _is_result(content: Any) -> bool:
    """Return whether a content is a search result, which has no context."""
    return isinstance(content, DocumentContent) and content.uri is not None and content.title is not None
