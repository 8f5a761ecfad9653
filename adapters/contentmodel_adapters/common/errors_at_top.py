"""Errors whose fields are at the top of the body of an answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from contentmodel.authoring import DecodeContext, ErrorBody


def decode_with_error(
    wire: dict[str, Any],
    context: DecodeContext,
    decode: Callable[[dict[str, Any]], Any],
    body: ErrorBody,
    fields: Collection[str],
) -> Any:
    """Return a decoded answer and its error, whose `fields` are at the top."""
    own, rest = context.only(wire, fields), context.without(wire, fields)
    error = body.decode(own, context, wire, next(iter(own)))
    context.trace(body.row, [error], wire, None, spread=False)
    return msgspec.structs.replace(decode(rest), error=error)
