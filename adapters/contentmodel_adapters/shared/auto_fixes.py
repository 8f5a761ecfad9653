"""Descriptions of how a conversion makes requests follow the target's rules, by rule name. APIs share rule names."""

from __future__ import annotations

from collections.abc import Mapping

_PAIRED = "a call that got no result gets one that says so"
_LATE = "a result that no call waits for is told in words of the user"
_MAPPED = "mapped by a bijection that `encoded.maps` keeps"
_SCHEMA = "the schema is written in the dialect that the API takes"
_UNREAD = "what is not read is left out"
_LEFT_OUT = "a message of which nothing can be sent is left out; one of the user says so in a text"
_APART = "media follow in a message of the user, and come back on reading"

MENDS: Mapping[str, str] = {
    "arguments-are-objects": "text that is no object stands under the key `input`",
    "arguments-have-an-object-schema": _SCHEMA,
    "arrays-have-items": _SCHEMA,
    "audio-goes-to-models-that-hear": _UNREAD,
    "blocks-stand-in-their-turns": "results of hosted tools stand in a turn of their own",
    "bytes-are-base64": "base64 of any alphabet becomes that of the standard one; what is not base64 is left out",
    "call-ids-are-plain": _MAPPED,
    "call-ids-are-short": _MAPPED,
    "calls-and-tools-say-their-type": "the type is always written",
    "call-ids-are-unique": "the second call of a turn with one id gets another, and so does its result",
    "calls-and-responses-are-whole": "what is no object stands under the key `output`; the name is the call's",
    "calls-are-answered": _PAIRED,
    "calls-are-signed": "the first call of a turn says that its signature is not to be checked",
    "calls-come-after-something": "a turn of the user that says so stands before it",
    "contents-have-parts": _LEFT_OUT,
    "content-is-text-or-parts": _LEFT_OUT,
    "errors-are-told-in-text": _APART,
    "files-have-names": "a file without a name gets one of its kind and type, which is left out again on the way back",
    "functions-stand-in-one-tool": "all functions are in one tool",
    "ids-are-short": _MAPPED,
    "item-ids-are-unique": "items of other APIs have no ids",
    "item-ids-have-their-prefix": "items of other APIs have no ids",
    "mcp-outputs-are-answered": "a hosted call of another API is a function call with its result",
    "media-has-a-known-type": _UNREAD,
    "media-is-readable": _UNREAD,
    "media-types-are-read": _UNREAD,
    "media-says-its-type": _UNREAD,
    "messages-have-content": _LEFT_OUT,
    "openapi-enums-are-texts": _SCHEMA,
    "openapi-schemas-are-whole": _SCHEMA,
    "openapi-schemas-use-known-words": _SCHEMA,
    "parts-hold-one-thing": "each content is a part of its own",
    "parts-stand-where-they-may": "parts are chosen by the role of their message",
    "reasoning-has-its-item": "reasoning of another issuer is left out (policy `reasoning`)",
    "responses-follow-their-calls": _LATE,
    "responses-hold-no-media": _APART,
    "responses-stand-apart-from-text": "results stand in a content of their own",
    "results-answer-calls": _LATE,
    "results-are-text": _APART,
    "results-come-first": "results stand in a message of their own",
    "results-follow-their-calls": _LATE,
    "results-have-calls": _LATE,
    "roles-are-known": "roles are those of the API",
    "schemas-describe-objects": _SCHEMA,
    "statuses-are-known": "a failure is told in the words of the result, and read from them again",
    "strict-objects-are-closed": _SCHEMA,
    "strict-properties-are-required": _SCHEMA,
    "strict-references-stand-alone": _SCHEMA,
    "strict-schemas-are-small": "where it is too large, the tool is not strict",
    "strict-schemas-have-no-bounds": _SCHEMA,
    "strict-schemas-use-known-keywords": _SCHEMA,
    "system-messages-are-for-newer-models": "later system messages are the user's; leading ones are the instructions",
    "system-messages-follow-user-turns": "later system messages are the user's; leading ones are the instructions",
    "text-is-not-blank": "a text of nothing but white space is left out",
    "thinking-is-signed": "reasoning of another issuer is left out (policy `reasoning`)",
    "tool-names-are-plain": _MAPPED,
    "tool-names-fit-the-alphabet": _MAPPED,
    "unstored-items-are-whole": "items of other APIs have no ids",
    "user-turns-have-content": _LEFT_OUT,
}
"""If a rule is also in `Rules.leave_out`, the encoder drops the setting. The caller must follow any other rule."""
