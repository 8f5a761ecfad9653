"""Notes that codecs keep in a residue, about how the wire spelled a value.

A residue holds unknown wire fields and notes side by side. The key of a note begins with one ":". The key of a wire
field that begins with ":" gets one more when it enters the residue, and loses it when it is written again, so no
payload can forge a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.engine.json import JsonObject

FAILURE = ":failure"
"""The note of an error that a decoder made: "sign" if a field beside the outputs reports it, "text" if a text does."""
MINTED = ":minted"
"""The id that an adapter gave a call, or a result, of an API without ids: it is left out on the way back."""


def is_note(key: str) -> bool:
    """Return whether a key of a residue names a note, not a wire field."""
    return key[:1] == ":" and key[1:2] != ":"


def escaped_key(key: str) -> str:
    """Return the residue key of a wire field."""
    return f":{key}" if key[:1] == ":" else key


def wire_key(key: str) -> str:
    """Return the wire field that a residue key stands for: the inverse of `escaped_key`."""
    return key[1:] if key[:2] == "::" else key


def escaped(fields: JsonObject) -> JsonObject:
    """Return wire fields as a residue holds them; the same dict where no key begins with ":"."""
    for key in fields:
        if key[:1] == ":":
            return {escaped_key(key): value for key, value in fields.items()}
    return fields


def wire_fields(residue: Mapping[str, object]) -> JsonObject:
    """Return the wire fields of a residue, without its notes: the inverse of `escaped`."""
    return {wire_key(key): value for key, value in residue.items() if not is_note(key)}


def noted(content: Any, api: str, note: str, value: Any) -> Any:
    """`content` with a note of the codec in the residue of `api`."""
    extra = content.extra or {}
    return msgspec.structs.replace(content, extra={**extra, api: {**extra.get(api, {}), note: value}})


def note_of(content: Any, api: str, note: str) -> Any:
    """The note, or None."""
    own = None if content.extra is None else content.extra.get(api)
    return None if own is None else own.get(note)


def with_call_id(content: Any, call_id: str) -> Any:
    """A call, or a result, under another id. One that its adapter had to give stays one that is left out again."""
    old, extra = content.call_id, content.extra
    if extra is not None and old is not None:
        extra = {
            api: {**fields, MINTED: call_id} if fields.get(MINTED) == old else fields for api, fields in extra.items()
        }
    return msgspec.structs.replace(content, call_id=call_id, extra=extra)


def minted(call: Any) -> dict[str, JsonObject] | None:
    """What the residue of a call's result has to say where the call's id was given to it; None where it came so."""
    own = {api: {MINTED: call.call_id} for api in call.extra or () if note_of(call, api, MINTED) == call.call_id}
    return own or None
