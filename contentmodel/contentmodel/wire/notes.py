"""Notes of the codecs in a residue: keys that begin with ":", about how the wire said something."""

from __future__ import annotations

from typing import Any

import msgspec

MINTED = ":minted"
"""The id that an adapter gave a call, or a result, of an API without ids: it is left out on the way back."""


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


def minted(call: Any) -> dict[str, dict[str, Any]] | None:
    """What the residue of a call's result has to say where the call's id was given to it; None where it came so."""
    own = {api: {MINTED: call.call_id} for api in call.extra or () if note_of(call, api, MINTED) == call.call_id}
    return own or None
