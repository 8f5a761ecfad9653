"""Write the events of a run that has ended: the inverse of `read_run`."""

from __future__ import annotations

from collections.abc import Iterator

from contentmodel.errors import DecodeError
from contentmodel.interop.ag_ui.events import CALL, INPUT, REASONING, TEXT
from contentmodel.interop.ag_ui.reading import read_run
from contentmodel.json import JsonArray, JsonObject


def write_run(run: JsonObject | JsonArray) -> list[JsonObject]:
    """Return the events of a run, or of a list of messages. `read_run` restores the same run from them.

    The messages up to the last user message are the input of the run, in RUN_STARTED. Later messages become events. If
    events cannot express a message, all messages are in the input.
    """
    document: JsonObject = run if isinstance(run, dict) else {"messages": run}
    messages = document["messages"]
    inputs = [number for number, message in enumerate(messages, 1) if message.get("role") in _INPUT_ROLES]
    try:
        events = list(_events(document, inputs[-1] if inputs else 0))
        if read_run(events)["messages"] == messages:
            return events
    except (DecodeError, AttributeError, LookupError, TypeError):
        # A message is malformed.
        pass
    return list(_events(document, len(messages)))


def _events(run: JsonObject, count: int) -> Iterator[JsonObject]:
    """Yield the events of a run. The first `count` messages are its input."""
    names = {key: run.get(key, "") for key in ("threadId", "runId")}
    known_keys = (*names, *INPUT, "messages", "finished", "error", "events")
    inputs = {key: run[key] for key in INPUT if key in run and key != "state"}
    started = {"type": "RUN_STARTED", **names, **{key: value for key, value in run.items() if key not in known_keys}}
    if count or inputs:
        started["input"] = {**names, "messages": run["messages"][:count], **inputs}
    yield started
    if "state" in run:
        yield {"type": "STATE_SNAPSHOT", "snapshot": run["state"]}
    events = iter([(entry["at"], entry["event"]) for entry in run.get("events", ())])
    waiting = next(events, None)
    for number, message in enumerate(run["messages"][count:], count):
        while waiting is not None and waiting[0] <= number:
            yield waiting[1]
            waiting = next(events, None)
        yield from _MESSAGES.get(message.get("role"), _text_events)(message)
    if waiting is not None:
        yield waiting[1]
    yield from (event for _, event in events)
    if "error" in run:
        yield {"type": "RUN_ERROR", "message": "", **run["error"]}
    else:
        yield {"type": "RUN_FINISHED", **names, **run.get("finished", {})}


def _text_events(message: JsonObject) -> Iterator[JsonObject]:
    """Yield the events of a message of the assistant: its text, its state and its calls."""
    name, content = message.get("id", ""), message.get("content")
    if isinstance(content, str):
        other_fields = {
            key: value for key, value in message.items() if key not in ("id", "content", "toolCalls", _ENCRYPTED)
        }
        yield from TEXT.whole(name, content, **other_fields)
    yield from _encrypted_events(message, name, "message")
    for call in message.get("toolCalls") or ():
        function, call_id = call.get("function", {}), call.get("id", "")
        other_fields = {key: value for key, value in call.items() if key not in ("id", "type", "function", _ENCRYPTED)}
        parent = {} if name == call_id else {"parentMessageId": name}
        agent = {"subagentRunId": message["subagentRunId"]} if "subagentRunId" in message else {}
        fields = {"toolCallName": function.get("name", ""), **parent, **agent, **other_fields}
        yield from CALL.whole(call_id, function.get("arguments", ""), **fields)
        yield from _encrypted_events(call, call_id, "tool-call")


def _reasoning_events(message: JsonObject) -> Iterator[JsonObject]:
    name, content = message.get("id", ""), message.get("content", "")
    fields = {key: value for key, value in message.items() if key not in ("id", "content", _ENCRYPTED)}
    yield {"type": "REASONING_START", "messageId": name}
    yield from REASONING.whole(name, content, **fields)
    yield from _encrypted_events(message, name, "message")
    yield {"type": "REASONING_END", "messageId": name}


def _result_events(message: JsonObject) -> Iterator[JsonObject]:
    fields = {key: value for key, value in message.items() if key != "id"}
    yield {"type": "TOOL_CALL_RESULT", "messageId": message.get("id", ""), **fields}


def _activity_events(message: JsonObject) -> Iterator[JsonObject]:
    fields = {key: value for key, value in message.items() if key not in ("id", "role")}
    yield {"type": "ACTIVITY_SNAPSHOT", "messageId": message.get("id", ""), **fields}


_INPUT_ROLES = ("user", "system", "developer")
_ENCRYPTED = "encryptedValue"
_MESSAGES = {"reasoning": _reasoning_events, "tool": _result_events, "activity": _activity_events}


def _encrypted_events(owner: JsonObject, name: str, subtype: str) -> Iterator[JsonObject]:
    if owner.get(_ENCRYPTED) is not None:
        fields = {"subtype": subtype, "entityId": name, _ENCRYPTED: owner[_ENCRYPTED]}
        yield {"type": "REASONING_ENCRYPTED_VALUE", **fields}
