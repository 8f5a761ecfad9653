"""Notes of the codecs in a residue: keys that begin with ":", about how the wire said something."""

from __future__ import annotations

from typing import Any

import msgspec


def noted(content: Any, api: str, note: str, value: Any) -> Any:
    """`content` with a note of the codec in the residue of `api`."""
    extra = content.extra or {}
    return msgspec.structs.replace(content, extra={**extra, api: {**extra.get(api, {}), note: value}})


def note_of(content: Any, api: str, note: str) -> Any:
    """The note, or None."""
    own = None if content.extra is None else content.extra.get(api)
    return None if own is None else own.get(note)
