"""The methods of an adapter whose format holds conversations, and neither single answers nor streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from contentmodel.adapter import Payload
from contentmodel.errors import DecodeError, EncodeError, Fault
from contentmodel.response import ChatResponse


class RequestsOnly:
    """A base class of adapters that have only requests. The other methods raise an error with a fix."""

    api: str

    def decode_response(self, payload: Payload) -> NoReturn:
        """Raise DecodeError: the format has no responses."""
        raise self._refused("responses")

    def trace_response(self, payload: Payload) -> NoReturn:
        """Raise DecodeError: the format has no responses."""
        raise self._refused("responses")

    def stream_decoder(self, *, deltas: bool = True) -> NoReturn:
        """Raise DecodeError: the format has no streams."""
        raise self._refused("streams")

    def encode_response(self, response: ChatResponse, policies: Mapping[str, str] | None = None) -> NoReturn:
        """Raise EncodeError: the format has no responses."""
        raise EncodeError(
            f"{self.api} has no responses, only conversations: convert the request with the messages of the response"
        )

    def stream_encoder(self, policies: Mapping[str, str] | None = None) -> NoReturn:
        """Raise EncodeError: the format has no streams."""
        raise EncodeError(
            f"{self.api} has no streams, only conversations: convert the request with the messages of the response"
        )

    def _refused(self, what: str) -> DecodeError:
        return DecodeError(self.api, [Fault("$", f"{self.api} has no {what}, only conversations: decode a request")])
