"""API-specific values with a common meaning: finish reasons, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.losses import reasons
from contentmodel.engine.table.codecs import Codec
from contentmodel.errors import UnknownApiError
from contentmodel.message import FinishReason, Origin
from contentmodel.response import ChatChoice

_INSTEAD = {
    "error": ("content_filter", "refusal", "length"),
    "cancelled": ("error", "content_filter", "refusal", "length"),
    "content_filter": ("refusal", "error", "length"),
    "refusal": ("content_filter", "error", "length"),
    "length": ("error",),
}
"""The reasons that replace one for which an API has no value.

An answer that failed, that was cut off, blocked or refused never ends like a usual one.
"""
UNSUCCESSFUL = frozenset(_INSTEAD)
"""The reasons of answers that failed, or that were cut off, blocked or refused."""
SHOWN_BY_CONTENT = frozenset({"stop", "tool_calls", "refusal"})
"""The reasons of complete answers. Some APIs have one value for them: the content shows the calls and the refusal."""
RESUMABLE = frozenset({"pause", "compaction", "running"})


class FinishReasons(Codec[FinishReason]):
    """Decode and encode an API's finish reasons. `reasons` maps them to those of the model, `values` the reverse.

    The API's own value is kept and written again. A value of another API is mapped by its reason; if this API has only
    a coarser value, that is a loss. Values of `of_hosts` are read, and not written for other APIs. Those of `same` mean
    the same as the usual value of their reason.
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
        same: tuple[str | int, ...] = (),
    ) -> None:
        self.values, self.otherwise, self._own = values, otherwise, reasons
        self.reasons = {**reasons, **of_hosts}
        self._has_stop_sequence = has_stop_sequence
        # Reasons that the API has no value for because the answer itself shows them.
        self._implied, self._same = implied, same

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> FinishReason:
        reason = self.reasons.get(value, "other")
        return FinishReason(reason=reason, raw=value, resumable=reason in RESUMABLE)

    def encode(self, value: FinishReason, context: EncodeContext, owner: Any) -> str | int | None:
        if value.stop_sequence is not None and not self._has_stop_sequence:
            context.report_loss(value, "stop_sequence", reasons.STOP_SEQUENCE)
        if context.native and value.raw is not None:
            return value.raw
        same = None if value.raw is None else self.same_value(value.raw, value.reason)
        if same is not None:
            return same
        raw = self.values.get(value.reason)
        for word in _INSTEAD.get(value.reason, ()) if raw is None else ():
            raw = self.values.get(word) if raw is None else raw
        if value.reason not in self._implied and (raw is None or self.reasons.get(raw) != value.reason):
            context.report_loss(owner, "finish_reason.raw", reasons.NO_FINISH_REASON, value=value.reason)
        else:
            self.report_if_exact(value, context, owner)
        return self.otherwise if raw is None else raw

    def report_if_exact(self, value: FinishReason, context: EncodeContext, owner: object) -> None:
        """Report that a value which says more than its reason is not sent."""
        if is_exact(value, context):
            context.report_loss(owner, "finish_reason.raw", reasons.NO_FINISH_REASON, value=value.raw)

    def same_value(self, raw: str | int, reason: str) -> str | int | None:
        """Return the value of this API that means the same as a value of another API, and no less; None without one."""
        return raw if self._own.get(raw) == reason else None

    def has(self, reason: str) -> bool:
        """Return whether the API has a value that means this reason, and no other."""
        return self.reasons.get(self.values.get(reason, "")) == reason

    def is_usual(self, raw: str | int, reason: str) -> bool:
        """Return whether a value says no more than its reason. The content may have made another one of "stop"."""
        meant = self.reasons.get(raw)
        is_meant = meant == reason or (meant == "stop" and reason in SHOWN_BY_CONTENT)
        return raw in self._same or not is_meant or raw == self.values.get(f"{meant}", meant)

    def describe(self) -> str:
        return "finish reason"


def source_of(origin: Origin | None) -> Any:
    """Return the adapter of an origin; None if there is none."""
    from contentmodel.adapter import adapter

    try:
        return None if origin is None else adapter(origin.api)
    except UnknownApiError:
        return None


def is_exact(finish: FinishReason, context: EncodeContext) -> bool:
    """Return whether the value that the source's API sent says more than its reason: "RECITATION", "stop_sequence".

    Of a source that is not installed, only a value that is spelled like its reason says no more.
    """
    if finish.raw is None or context.origin is None:
        return False
    source = source_of(context.origin)
    if source is None:
        return finish.raw != finish.reason
    own: FinishReasons | None = getattr(source, "finish", None)
    return own is not None and not own.is_usual(finish.raw, finish.reason)


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
