"""Read the events of a run as the input of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from contentmodel.adapter import JsonText, Payload, adapter, as_json
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import ENDED
from contentmodel.framing import AnyFraming
from contentmodel.interop.ag_ui.events import (
    API,
    CALL,
    GROWING,
    INPUT,
    OLDER,
    PHASES,
    REASONING,
    TEXT,
    Growing,
    with_fields,
)
from contentmodel.interop.json_patch import PatchError, patched
from contentmodel.json import JsonArray, JsonObject, kind_of, parse


def read_run(events: JsonText | Iterable[Payload]) -> JsonObject:
    """Return the input of a run with the messages, the state and the other values after its events.

    `events` are server-sent events (as a whole, or in chunks that may be cut anywhere), or objects: dicts, or events of
    ag-ui-protocol. Besides the fields of `RunAgentInput`, the run may have

    - `finished`: the fields of RUN_FINISHED, such as `outcome`, `result` and `usage`;
    - `error`: the fields of RUN_ERROR. If the events stop early, its code is `stream_ended`;
    - `events`: each event that changes no message (steps, custom and raw events), and the number of messages before it.

    Texts are joined: the limits, the times and the raw events of their pieces are not kept. Raise DecodeError if an
    event is malformed, or refers to a message that has not started.
    """
    reader = RunReader()
    chunks: Iterable[Any] = [events] if isinstance(events, bytes | bytearray | memoryview | str) else events
    for item in chunks:
        if isinstance(item, bytes | bytearray | memoryview | str):
            reader.feed(item.encode("utf-8", "surrogatepass") if isinstance(item, str) else bytes(item))
        else:
            reader.feed_event(item)
    run = reader.run
    if not reader.is_over:
        run["error"] = {"message": "the stream ended before the run was finished", "code": ENDED}
    return run


# -- reading -----------------------------------------------------------------------------------------------------------


class RunReader:
    """Read the events of one run while they arrive. `run` is the run so far, as `read_run` returns it.

    `is_over` is True after RUN_FINISHED or RUN_ERROR.
    """

    def __init__(self) -> None:
        adapter(API)  # Load the adapter: it registers the function that dumps events of ag-ui-protocol.
        self.is_over = False
        self._framing = AnyFraming()
        self._run: JsonObject = {}
        self._messages: JsonArray = []
        self._results: dict[int, JsonArray] = {}
        """The messages of new results, by `id()` of the message with their call, or of the last message without one."""
        self._owners: dict[tuple[str, str], JsonObject] = {}
        """The messages and the calls, by the name of the field that refers to them in events, and by id."""
        self._callers: dict[str, JsonObject] = {}
        """The message of each call."""
        self._pieces: dict[int, tuple[JsonObject, list[str]]] = {}
        """The new pieces of texts, by `id()` of the object that has the text."""
        self._chunked: dict[tuple[str, object], str] = {}
        """The id in the last chunk, by the prefix of its type and by sub-agent."""
        self._kept: JsonArray = []
        self._count = self._size = 0
        self._reasoning = 0
        self._title: JsonObject = {}
        self._has_started = False

    @property
    def run(self) -> JsonObject:
        """The run so far. Its messages change with the next events."""
        for owner, pieces in self._pieces.values():
            field = "content" if "role" in owner else "arguments"
            begun = owner.get(field)
            owner[field] = "".join([begun if isinstance(begun, str) else "", *pieces])
        self._pieces = {}
        self._messages, self._results = [*self._in_order()], {}
        events = {"events": self._kept} if self._kept else {}
        return {**self._run, "messages": self._messages, **events}

    def _in_order(self) -> Iterator[JsonObject]:
        """Yield the messages. New results follow their call and the results that it has."""
        late: JsonArray = []
        for message in self._messages:
            if late and message.get("role") != "tool":
                yield from late
                late = []
            yield message
            late += self._results.get(id(message), ())
        yield from late

    def feed(self, data: bytes) -> None:
        """Read bytes, cut anywhere. Raise DecodeError if an event is malformed."""
        for _, frame in self._framing.feed(data):
            self.feed_event(parse(frame, API))

    def feed_event(self, event: Payload) -> None:
        """Read one event. Raise DecodeError if it is malformed, or if the run is over."""
        wire = as_json(event, API, "json")
        self._count += 1
        if not isinstance(wire, dict):
            raise DecodeError(API, [Fault(f"$[{self._count - 1}]", f"expected an event, got {kind_of(wire)}")])
        kind = self._string(wire, "type")
        if self.is_over:
            self._fail("type", f"{kind} after the end of the run: use one reader for each run")
        growing = GROWING.get(OLDER.get(kind, kind))
        if growing is not None:
            self._read_piece(*growing, wire)
        elif kind in _READ:
            _READ[kind](self, wire)
        elif kind in PHASES:
            self._title = _rest(wire, *(key for key in wire if key != "title"))
        else:
            self._kept.append({"at": self._size, "event": wire})

    def _fail(self, key: str, message: str) -> NoReturn:
        raise DecodeError(API, [Fault(f"$[{self._count - 1}].{key}", message)])

    def _string(self, event: Mapping[str, Any], key: str) -> str:
        value = event.get(key)
        if not isinstance(value, str):
            self._fail(key, f"expected string, got {kind_of(value)}")
        return value

    # -- texts, reasoning and calls ------------------------------------------------------------------------------------

    def _read_piece(self, growing: Growing, step: str, event: JsonObject) -> None:
        name = self._name(growing, step, event)
        owner = self._owners.get((growing.key, name))
        if step == "START" or (step == "CHUNK" and owner is None):
            self._start(growing, name, event, owner)
        elif owner is None:
            self._fail(growing.key, f"{name!r:.100} has not started")
        else:
            _merge_metadata(owner, event)
        if event.get("delta") is not None and step != "START":
            self._grow(self._owners[growing.key, name], self._string(event, "delta"))
        elif step == growing.piece:
            self._string(event, "delta")

    def _name(self, growing: Growing, step: str, event: JsonObject) -> str:
        """Return the id in an event. A chunk may omit it, and reasoning events of older versions have none."""
        agent = event.get("subagentRunId")
        place = (growing.prefix, agent if isinstance(agent, str) else None)
        if event["type"] in OLDER:
            self._reasoning += step == "START" or not self._reasoning
            name = f"reasoning-{self._reasoning}"
            if (growing.key, name) not in self._owners and step != "START":
                self._start(growing, name, {}, None)
            return name
        if step == "CHUNK" and event.get(growing.key) is None and place in self._chunked:
            return self._chunked[place]
        name = self._string(event, growing.key)
        if step == "CHUNK":
            self._chunked[place] = name
        return name

    def _start(self, growing: Growing, name: str, event: JsonObject, owner: JsonObject | None) -> None:
        if growing is CALL:
            self._start_call(name, event, owner)
        elif owner is not None:
            _merge_metadata(owner, event)
        else:
            role = "reasoning" if growing is REASONING else "assistant"
            if growing is TEXT and event.get("role") is not None:
                role = self._string(event, "role")
            fields = _rest(event, growing.key, "role", "delta")
            title, self._title = self._title if growing is REASONING else {}, {}
            self._add(with_fields({"id": name, "role": role, "content": ""}, {**title, **fields}))

    def _start_call(self, name: str, event: JsonObject, call: JsonObject | None) -> None:
        function = self._string(event, "toolCallName")
        if call is not None:
            if isinstance(call.get("function"), dict):
                call["function"]["name"] = function
            _merge_metadata(call, event)
            return
        message = self._caller(name, event)
        fields = _rest(event, CALL.key, "toolCallName", "parentMessageId", "subagentRunId", "delta")
        call = with_fields({"id": name, "type": "function", "function": {"name": function, "arguments": ""}}, fields)
        if not isinstance(message.get("toolCalls"), list):
            message["toolCalls"] = []
        message["toolCalls"].append(call)
        self._index_call(call, message)

    def _caller(self, name: str, event: JsonObject) -> JsonObject:
        """Return the assistant message for a new call. A call without a parent gets a new message."""
        parent = event.get("parentMessageId")
        parent_message = self._owners.get(("messageId", parent)) if isinstance(parent, str) else None
        if parent_message is not None and parent_message.get("role") == "assistant":
            return parent_message
        message_id = name if parent_message is not None or not isinstance(parent, str) else parent
        agent = {} if event.get("subagentRunId") is None else {"subagentRunId": event["subagentRunId"]}
        return self._add({"id": message_id, "role": "assistant", **agent})

    def _grow(self, owner: JsonObject, text: str) -> None:
        grown = owner["function"] if isinstance(owner.get("function"), dict) else owner
        begun = grown.get("arguments" if grown is not owner else "content")
        if begun is not None and not isinstance(begun, str):
            self._fail("delta", f"{owner['id']!r:.100} has no text")
        self._pieces.setdefault(id(grown), (grown, []))[1].append(text)

    # -- messages ------------------------------------------------------------------------------------------------------

    def _add(self, message: JsonObject) -> JsonObject:
        self._messages.append(message)
        self._size += 1
        self._index(message)
        return message

    def _index(self, message: JsonObject) -> None:
        self._owners["messageId", message["id"]] = message
        calls = message.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                self._index_call(call, message)

    def _index_call(self, call: JsonObject, message: JsonObject) -> None:
        self._owners["toolCallId", call["id"]] = call
        self._callers[call["id"]] = message

    def _read_result(self, event: JsonObject) -> None:
        name, call = self._string(event, "messageId"), self._string(event, "toolCallId")
        fields = _rest(event, "messageId", "toolCallId", "content", "role")
        message = with_fields({"id": name, "role": "tool", "toolCallId": call, "content": event.get("content")}, fields)
        self._index(message)
        before = self._callers.get(call, self._messages[-1] if self._messages else None)
        if before is None:
            self._messages.append(message)
        else:
            self._results.setdefault(id(before), []).append(message)
        self._size += 1

    def _read_snapshot(self, event: JsonObject) -> None:
        """Replace the messages. If the snapshot has no activities, the old ones stay; the same applies to reasoning."""
        messages = self._listed(event)
        new = {message["id"]: message for message in messages}
        staying = {"activity", "reasoning"} - {message["role"] for message in messages}
        staying_messages = [old for old in self.run["messages"] if old["id"] in new or old["role"] in staying]
        staying_ids = {old["id"] for old in staying_messages}
        self._messages = [new.get(old["id"], old) for old in staying_messages]
        self._messages += [message for message in messages if message["id"] not in staying_ids]
        self._owners, self._callers = {}, {}
        self._size = len(self._messages)
        for message in self._messages:
            self._index(message)

    def _listed(self, owner: Mapping[str, Any]) -> list[JsonObject]:
        """Return the messages in an event or in the input of the run. Fail if one of them has no id or no role."""
        messages = owner.get("messages")
        for message in messages if isinstance(messages, list) else [None]:
            if not isinstance(message, dict) or not all(isinstance(message.get(key), str) for key in ("id", "role")):
                self._fail("messages", "expected an array of messages with ids and roles")
        return messages  # type: ignore[return-value]

    def _read_activity(self, event: JsonObject) -> None:
        name = self._string(event, "messageId")
        message = with_fields({"id": name, "role": "activity"}, _rest(event, "messageId", "replace", "metadata"))
        activity = self._owners.get(("messageId", name))
        if activity is None:
            activity = self._add(message)
        elif event.get("replace") is not False:
            if activity.get("role") != "activity":
                activity.clear()
            activity.update(message)
        _merge_metadata(activity, event)

    def _read_activity_changes(self, event: JsonObject) -> None:
        activity = self._owners.get(("messageId", self._string(event, "messageId")))
        if activity is None or activity.get("role") != "activity":
            self._fail("messageId", "no activity has this id")
        activity["content"] = self._patched(activity.get("content"), event, "patch")
        _merge_metadata(activity, event)

    def _read_encrypted(self, event: JsonObject) -> None:
        key = "toolCallId" if event.get("subtype") == "tool-call" else "messageId"
        owner = self._owners.get((key, self._string(event, "entityId")))
        if owner is None:
            self._fail("entityId", "no message or call has this id")
        owner["encryptedValue"] = self._string(event, "encryptedValue")

    # -- the run and its state -----------------------------------------------------------------------------------------

    def _read_start(self, event: JsonObject) -> None:
        if self._has_started:
            self._fail("type", "a second run begins: use one reader for each run")
        self._has_started = True
        run_input = event.get("input")
        run_input = run_input if isinstance(run_input, dict) else {}
        self._run = {**_rest(event, "input"), **{key: value for key, value in self._run.items() if key in INPUT}}
        for key, value in run_input.items():
            if key != "messages" and value is not None:
                self._run.setdefault(key, value)
        for message in self._listed(run_input) if run_input.get("messages") is not None else ():
            if ("messageId", message["id"]) not in self._owners:
                self._add(message)

    def _read_end(self, event: JsonObject) -> None:
        self.is_over = True
        if event["type"] == "RUN_ERROR":
            self._run["error"] = _rest(event)
        else:
            self._run = {**_rest({key: event.get(key) for key in ("threadId", "runId")}), **self._run}
            self._run["finished"] = _rest(event, "threadId", "runId")

    def _read_state(self, event: JsonObject) -> None:
        self._run["state"] = event.get("snapshot")

    def _read_state_changes(self, event: JsonObject) -> None:
        self._run["state"] = self._patched(self._run.get("state"), event, "delta")

    def _patched(self, document: Any, event: JsonObject, key: str) -> Any:
        try:
            return patched({} if document is None else document, event.get(key))
        except PatchError as error:
            self._fail(key, str(error))
        except RecursionError:
            self._fail(key, "nested too deeply")


_READ: dict[str, Callable[[RunReader, JsonObject], None]] = {
    "RUN_STARTED": RunReader._read_start,
    "RUN_FINISHED": RunReader._read_end,
    "RUN_ERROR": RunReader._read_end,
    "TOOL_CALL_RESULT": RunReader._read_result,
    "MESSAGES_SNAPSHOT": RunReader._read_snapshot,
    "ACTIVITY_SNAPSHOT": RunReader._read_activity,
    "ACTIVITY_DELTA": RunReader._read_activity_changes,
    "REASONING_ENCRYPTED_VALUE": RunReader._read_encrypted,
    "STATE_SNAPSHOT": RunReader._read_state,
    "STATE_DELTA": RunReader._read_state_changes,
}


def _rest(event: Mapping[str, Any], *excluded: str) -> JsonObject:
    """Return the fields of an event without its type, nulls, and the fields in `excluded`."""
    return {key: value for key, value in event.items() if key != "type" and key not in excluded and value is not None}


def _merge_metadata(owner: JsonObject, event: JsonObject) -> None:
    if isinstance(event.get("metadata"), dict):
        metadata = owner.get("metadata")
        owner["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), **event["metadata"]}
