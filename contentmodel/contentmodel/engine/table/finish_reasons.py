"""API-specific values with a common meaning: finish reasons, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.losses import reasons
from contentmodel.engine.table.codecs import Codec
from contentmodel.message import FinishReason
from contentmodel.response import ChatChoice

RESUMABLE = frozenset({"pause", "compaction", "running"})


class FinishReasons(Codec[FinishReason]):
    """Decode and encode an API's finish reasons. `reasons` maps them to those of the model, `values` the reverse.

    The API's own value is kept and written again. A value of another API is mapped by its reason; if this API has only
    a coarser value, that is a loss. Values of `of_hosts` are read, and not written for other APIs.
    """

    classes = (str, int)
    identity = False

    def __init__(
        self,
        reasons: Mapping[str | int, str],
        values: Mapping[str, str | int],
        otherwise: str | None,
        *,
        has_stop_sequence: bool = False,
        implied: tuple[str, ...] = (),
        of_hosts: Mapping[str | int, str] = MappingProxyType({}),
    ) -> None:
        self.values, self.otherwise, self._own = values, otherwise, reasons
        self.reasons = {**reasons, **of_hosts}
        self._has_stop_sequence = has_stop_sequence
        # Reasons that the API has no value for because the answer itself shows them.
        self._implied = implied

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> FinishReason:
        reason = self.reasons.get(value, "other")
        return FinishReason(reason=reason, raw=value, resumable=reason in RESUMABLE)

    def encode(self, value: FinishReason, context: EncodeContext, owner: Any) -> str | int | None:
        if value.stop_sequence is not None and not self._has_stop_sequence:
            context.report_loss(value, "stop_sequence", reasons.STOP_SEQUENCE)
        if value.raw is not None and (context.native or self._own.get(value.raw) == value.reason):
            return value.raw
        raw = self.values.get(value.reason)
        if value.reason not in self._implied and (raw is None or self.reasons.get(raw) != value.reason):
            context.report_loss(owner, "finish_reason.raw", reasons.NO_FINISH_REASON, value=value.reason)
        return self.otherwise if raw is None else raw

    def describe(self) -> str:
        return "finish reason"


def finished_by_calls(choice: ChatChoice) -> ChatChoice:
    """Return a complete choice that has tool calls with the finish reason "tool_calls".

    Gemini has one value for both cases. Chat sends "stop" if the request named the function to call; some hosts and
    models always send "stop" or "". The API's own value is kept.
    """
    finish = choice.finish_reason
    if finish is None or (finish.reason != "stop" and finish.raw != ""):
        return choice
    if not any(message.tool_calls for message in choice.messages):
        return choice
    return msgspec.structs.replace(choice, finish_reason=msgspec.structs.replace(finish, reason="tool_calls"))
