"""The methods of an adapter whose format holds requests and answers, but no streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from contentmodel.errors import DecodeError, EncodeError, Fault


class NoStreams:
    """A base class of adapters of formats without streams. The methods raise an error with a fix."""

    api: str

    def stream_decoder(self, *, deltas: bool = True) -> NoReturn:
        """Raise DecodeError: the format has no streams."""
        raise DecodeError(self.api, [Fault("$", f"{self.api} has no streams: decode a response")])

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> NoReturn:
        """Raise EncodeError: the format has no streams."""
        raise EncodeError(f"{self.api} has no streams: fold the events and encode the response")
