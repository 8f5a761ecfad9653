"""The events of AG-UI: their types, and the events for texts, reasoning and calls, which are sent in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from contentmodel.json import JsonObject

API = "ag-ui"


class Growing(NamedTuple):
    """The events for a message or a call that is sent in pieces: the prefix of their types and the field for its id."""

    prefix: str
    piece: str
    key: str

    def start(self, name: str, /, **fields: Any) -> JsonObject:
        """Return the first event."""
        return with_fields({"type": f"{self.prefix}_START", self.key: name}, fields)

    def more(self, name: str, text: str) -> JsonObject:
        """Return the event for more text."""
        return {"type": f"{self.prefix}_{self.piece}", self.key: name, "delta": text}

    def end(self, name: str) -> JsonObject:
        """Return the last event."""
        return {"type": f"{self.prefix}_END", self.key: name}

    def whole(self, name: str, text: str, /, **fields: Any) -> list[JsonObject]:
        """Return all events of a text in one piece."""
        return [self.start(name, **fields), *([self.more(name, text)] if text else []), self.end(name)]


def with_fields(fields: JsonObject, further: Mapping[str, Any]) -> JsonObject:
    """Return an object with further fields. Existing fields keep their values."""
    return {**fields, **further, **fields}


TEXT = Growing("TEXT_MESSAGE", "CONTENT", "messageId")
REASONING = Growing("REASONING_MESSAGE", "CONTENT", "messageId")
CALL = Growing("TOOL_CALL", "ARGS", "toolCallId")
GROWING = {
    f"{growing.prefix}_{step}": (growing, step)
    for growing in (TEXT, REASONING, CALL)
    for step in ("START", growing.piece, "END", "CHUNK")
}
OLDER = {f"THINKING_TEXT_MESSAGE_{step}": f"REASONING_MESSAGE_{step}" for step in ("START", "CONTENT", "END")}
"""The events of reasoning before version 1.0, which have no ids."""
PHASES = frozenset({"REASONING_START", "REASONING_END", "THINKING_START", "THINKING_END"})
"""The start and the end of a phase of reasoning. Before version 1.0, a phase may have a title."""
INPUT = ("state", "tools", "context", "forwardedProps", "resume")
"""The fields of the input of a run besides its ids and its messages."""
_OTHERS = (
    *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED"),
    *("SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"),
    *("TOOL_CALL_RESULT", "MESSAGES_SNAPSHOT", "REASONING_ENCRYPTED_VALUE", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"),
    *("STATE_SNAPSHOT", "STATE_DELTA", "CUSTOM", "RAW"),
)
EVENT_TYPES = frozenset({*GROWING, *OLDER, *PHASES, *_OTHERS})
"""The types of events in the current and in earlier versions of the protocol."""


def is_event(value: object) -> bool:
    """Return whether a JSON value is an event of a run."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] in EVENT_TYPES
