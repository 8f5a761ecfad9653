"""Descriptions of how a conversion makes requests follow the target's rules, by rule name. APIs share rule names."""

from __future__ import annotations

from collections.abc import Mapping

_PAIRED = "A call without a result gets a placeholder result."
_LATE = "A result without a matching call becomes user text."
_MAPPED = "Invalid names and ids are replaced; `encoded.maps` maps them to the originals."
_SCHEMA = "The schema is rewritten in the dialect of the API."
_UNREAD = "Unsupported media are dropped."
_LEFT_OUT = "A message with nothing to send is dropped; a user message gets a placeholder text instead."
_APART = "Media are moved to a user message after the results, and restored on decode."
_NO_IDS = "Items from other APIs are sent without ids."
_NO_REASONING = "Reasoning of other issuers is dropped (policy `reasoning`)."
_SYSTEM = "Leading system messages become instructions; later ones become user messages."

AUTO_FIXES: Mapping[str, str] = {
    "answers-have-content": "An assistant message with only empty texts is dropped.",
    "arguments-are-objects": "Arguments that are not an object are sent under the key `input`.",
    "arrays-have-items": _SCHEMA,
    "audio-input-supported": _UNREAD,
    "begins-with-user": "A placeholder user turn is added at the start.",
    "blocks-in-their-roles": "Results of hosted tools are sent in a separate turn.",
    "data-is-base64": "Base64 of other alphabets is converted to the standard alphabet; invalid base64 is dropped.",
    "call-ids-are-short": _MAPPED,
    "call-ids-are-unique": "A duplicate call id in a turn is replaced, and so is the id of its result.",
    "call-ids-match-pattern": _MAPPED,
    "call-ids-have-nine-characters": _MAPPED,
    "calls-and-responses-are-complete": "A response that is not an object is sent under the key `output`; "
    "the name is taken from the call.",
    "calls-and-tools-have-types": "The type is always sent.",
    "calls-are-not-first": "A placeholder user turn is added at the start.",
    "calls-are-signed": "The first call of a turn gets a value that skips the check of its signature.",
    "calls-have-results": _PAIRED,
    "calls-need-definitions": "The tools that messages call are defined, without schemas.",
    "content-is-text-or-parts": _LEFT_OUT,
    "contents-have-parts": _LEFT_OUT,
    "document-names-match-pattern": "Names are generated, or other characters become spaces.",
    "documents-need-text": "A text is added to the message.",
    "error-results-hold-text": f"{_APART} Documents become text.",
    "failed-results-have-content": "A failed result without content gets a placeholder text.",
    "files-have-names": "A file without a name gets a name from its kind and type, which is removed on decode.",
    "functions-in-one-tool": "All functions are sent in one tool.",
    "ids-are-short": _MAPPED,
    "item-ids-are-unique": _NO_IDS,
    "item-ids-have-their-prefix": _NO_IDS,
    "json-results-are-objects": "Any other JSON value is sent as text.",
    "mcp-outputs-are-answered": "Hosted calls of other APIs are sent as function calls with results.",
    "media-has-mime-type": _UNREAD,
    "media-types-supported": _UNREAD,
    "messages-have-content": _LEFT_OUT,
    "no-text-with-responses": "Results are sent in a separate content.",
    "openapi-enums-are-strings": _SCHEMA,
    "openapi-schemas-are-complete": _SCHEMA,
    "openapi-schemas-use-known-keywords": _SCHEMA,
    "parts-have-one-field": "Each content is sent as a separate part.",
    "parts-in-their-roles": "The type of a part is chosen by the role of its message.",
    "prefix-is-last": "The field is set in a last message of the assistant.",
    "reasoning-followed-by-its-item": _NO_REASONING,
    "response-media-supported": _APART,
    "responses-follow-their-calls": _LATE,
    "results-are-text": _APART,
    "results-come-first": "Results are sent in a separate message.",
    "results-follow-their-calls": _LATE,
    "results-have-calls": _LATE,
    "roles-are-known": "Unknown roles are replaced with roles of the API.",
    "roles-in-order": "An answer is sent between a result and a user message; a system message after "
    "an answer or a result becomes a user message.",
    "schemas-describe-objects": _SCHEMA,
    "statuses-are-known": "A failure is sent in the text of the result, and restored on decode.",
    "strict-objects-are-closed": _SCHEMA,
    "strict-properties-are-required": _SCHEMA,
    "strict-references-have-no-siblings": _SCHEMA,
    "strict-schema-limits": "If the schema is too large, the tool is sent without `strict`.",
    "strict-schemas-have-no-bounds": _SCHEMA,
    "strict-schemas-use-known-keywords": _SCHEMA,
    "system-messages-follow-user-turns": _SYSTEM,
    "system-messages-supported": _SYSTEM,
    "text-is-not-empty": "Blank text is dropped.",
    "text-is-not-blank": "Blank text is dropped.",
    "thinking-is-signed": _NO_REASONING,
    "tool-names-match-pattern": _MAPPED,
    "unstored-items-are-complete": _NO_IDS,
    "user-turns-have-content": _LEFT_OUT,
}
"""If a rule is also in `Rules.leave_out`, the encoder drops the setting. The caller must follow all other rules."""
