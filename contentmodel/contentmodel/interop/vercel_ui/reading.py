"""Read the chunks of a UI message as the message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from contentmodel.adapter import JsonText, Payload, as_json
from contentmodel.errors import DecodeError, Fault
from contentmodel.framing import AnyFraming
from contentmodel.json import JsonArray, JsonObject, kind_of, parse
from contentmodel.partial import PartialJsonReader

API = "vercel-ui-messages"


def read_message(chunks: JsonText | Iterable[Payload]) -> JsonObject:
    """Return the UI message that a UI message stream contains.

    `chunks` are server-sent events (as a whole, or in pieces that may be cut anywhere), or objects. Besides the fields
    of a UI message, the message may have

    - `finishReason`, of the chunk `finish`;
    - `error`: the text of the chunk `error`. If the chunks stop early, it reports that;
    - `chunks`: each chunk without a part, such as transient data, and the number of parts before it.

    Raise DecodeError if a chunk is malformed, or refers to a part that has not started.
    """
    reader = MessageReader()
    pieces: Iterable[Any] = [chunks] if isinstance(chunks, bytes | bytearray | memoryview | str) else chunks
    for item in pieces:
        if isinstance(item, bytes | bytearray | memoryview | str):
            reader.feed(item.encode("utf-8", "surrogatepass") if isinstance(item, str) else bytes(item))
        else:
            reader.feed_chunk(item)
    message = reader.message
    return message if reader.is_over else {"error": "the stream ended before the message was finished", **message}


class MessageReader:
    """Read the chunks of one UI message while they arrive. `message` is the message so far.

    `is_over` is True after the chunk `finish`, `abort` or `error`.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._framing = AnyFraming()
        self._message: JsonObject = {"id": "", "role": "assistant", "parts": []}
        self._texts: dict[tuple[str, str], JsonObject] = {}
        """The parts of texts and reasoning that grow, by type and id."""
        self._pieces: dict[int, tuple[JsonObject, list[str]]] = {}
        """The new pieces of texts, by the identity of their part."""
        self._calls: dict[str, tuple[int, JsonObject]] = {}
        """The last part of each call, and its number."""
        self._named: dict[tuple[str, str], JsonObject] = {}
        """The parts of data, by type and id, and the parts of calls, by the id of their request for approval."""
        self._inputs: dict[str, PartialJsonReader] = {}
        self._raw: dict[str, list[str]] = {}
        """The pieces of the input of calls that grow."""
        self._step = 0
        """The number of parts before the current step."""
        self._kept: JsonArray = []
        self._count = 0

    @property
    def message(self) -> JsonObject:
        """The message so far. Its parts change with the next chunks."""
        for part, pieces in self._pieces.values():
            part["text"] = "".join([part["text"], *pieces])
        self._pieces = {}
        for name, raw in self._raw.items():
            part = self._calls[name][1]
            if part["state"] == "input-streaming" and raw:
                raw[:] = ["".join(raw)]
                is_text = part.get("inputEncoding") == "text"
                part |= {"rawInput": raw[0], "input": raw[0] if is_text else self._inputs[name].value}
        return {**self._message, **({"chunks": self._kept} if self._kept else {})}

    def feed(self, data: bytes) -> None:
        """Read bytes, cut anywhere. Raise DecodeError if a chunk is malformed."""
        for _, frame in self._framing.feed(data):
            if frame != b"[DONE]":
                self.feed_chunk(parse(frame, API))

    def feed_chunk(self, chunk: Payload) -> None:
        """Read one chunk. Raise DecodeError if it is malformed."""
        wire = as_json(chunk, API, "json")
        self._count += 1
        if not isinstance(wire, dict):
            raise DecodeError(API, [Fault(f"$[{self._count - 1}]", f"expected a chunk, got {kind_of(wire)}")])
        kind = self._string(wire, "type")
        first, _, last = kind.rpartition("-")
        if first in ("text", "reasoning") and last in ("start", "delta", "end"):
            self._read_text(first, last, wire)
        elif kind in _READ:
            try:
                _READ[kind](self, wire)
            except RecursionError:
                self._fail("type", "nested too deeply")
        elif kind in _PARTS:
            self._parts.append(_present(wire))
        elif kind.startswith("data-"):
            self._read_data(wire)
        else:
            self._keep(wire)

    @property
    def _parts(self) -> JsonArray:
        parts: JsonArray = self._message["parts"]
        return parts

    def _fail(self, key: str, message: str) -> NoReturn:
        raise DecodeError(API, [Fault(f"$[{self._count - 1}].{key}", message)])

    def _string(self, chunk: Mapping[str, Any], key: str) -> str:
        value = chunk.get(key)
        if not isinstance(value, str):
            self._fail(key, f"expected string, got {kind_of(value)}")
        return value

    def _keep(self, chunk: JsonObject) -> None:
        self._kept.append({"at": len(self._parts), "chunk": chunk})

    # -- texts and data ------------------------------------------------------------------------------------------------

    def _read_text(self, kind: str, step: str, chunk: JsonObject) -> None:
        name = self._string(chunk, "id")
        if step == "start":
            begun = {"type": kind, **({"id": name} if kind == "reasoning" else {}), "text": "", "state": "streaming"}
            self._texts[kind, name] = part = {**begun, **_present(chunk, "type", "id", "text", "state")}
            self._parts.append(part)
            return
        growing = self._texts.get((kind, name))
        if growing is None:
            self._fail("id", f"{name!r:.100} has not started")
        growing.update(_present(chunk, "type", "id", "delta", "text", "state"))
        if step == "delta":
            self._pieces.setdefault(id(growing), (growing, []))[1].append(self._string(chunk, "delta"))
        else:
            growing["state"] = "done"
            del self._texts[kind, name]

    def _read_data(self, chunk: JsonObject) -> None:
        if chunk.get("transient"):
            self._keep(chunk)
            return
        if chunk.get("id") is None:
            self._parts.append(_present(chunk))
            return
        name = (chunk["type"], self._string(chunk, "id"))
        if name in self._named:
            self._named[name]["data"] = chunk.get("data")
        else:
            self._named[name] = part = _present(chunk)
            self._parts.append(part)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _change_call(self, part: JsonObject, state: str, chunk: JsonObject, *fields: str) -> None:
        """Set the state of a call, and its `fields` from a chunk. Input that was streamed is replaced."""
        part["state"] = state
        for field in ("output", "errorText", "rawInput", "preliminary", *fields):
            part.pop(field, None)
        part |= {field: chunk[field] for field in fields if field in chunk}
        part |= _present({field: chunk.get(field) for field in ("title", "toolMetadata", "providerExecuted")})
        if chunk.get("providerMetadata") is not None:
            is_result = state in ("output-available", "output-error")
            part["resultProviderMetadata" if is_result else "callProviderMetadata"] = chunk["providerMetadata"]

    def _read_input(self, chunk: JsonObject) -> None:
        kind, name = chunk["type"], self._string(chunk, "toolCallId")
        tool = self._string(chunk, "toolName")
        at, part = self._calls.get(name, (-1, {}))
        if at < self._step:
            typed = {"type": "dynamic-tool", "toolName": tool} if chunk.get("dynamic") else {"type": f"tool-{tool}"}
            part = {**typed, "toolCallId": name}
            self._calls[name] = len(self._parts), part
            self._parts.append(part)
        elif part["type"] == "dynamic-tool":
            part["toolName"] = tool
        else:
            part["type"] = f"tool-{tool}"
        part.pop("inputEncoding", None)
        if kind == "tool-input-start":
            self._change_call(part, "input-streaming", chunk, "input", "inputEncoding")
            self._inputs[name], self._raw[name] = PartialJsonReader(), []
        elif kind == "tool-input-available":
            self._change_call(part, "input-available", chunk, "input")
        else:
            self._change_call(part, "output-error", chunk, "input", "errorText")

    def _read_more_input(self, chunk: JsonObject) -> None:
        name, text = self._string(chunk, "toolCallId"), self._string(chunk, "inputTextDelta")
        if name not in self._raw:
            self._fail("toolCallId", f"{name!r:.100} has not started")
        self._inputs[name].feed(text)
        self._raw[name].append(text)

    def _call(self, chunk: JsonObject) -> JsonObject:
        name = self._string(chunk, "toolCallId")
        if name not in self._calls:
            self._fail("toolCallId", f"no call {name!r:.100}")
        return self._calls[name][1]

    def _read_output(self, chunk: JsonObject) -> None:
        self._change_call(self._call(chunk), "output-available", chunk, "output", "preliminary")

    def _read_failure(self, chunk: JsonObject) -> None:
        part = self._call(chunk)
        raw = {"rawInput": part["rawInput"]} if "rawInput" in part and part["type"] != "dynamic-tool" else {}
        self._change_call(part, "output-error", chunk, "errorText")
        part |= raw

    def _read_denial(self, chunk: JsonObject) -> None:
        self._call(chunk)["state"] = "output-denied"

    def _read_question(self, chunk: JsonObject) -> None:
        part = self._call(chunk)
        names = {"approvalDescriptor": "descriptor", "reason": "requestReason"}
        fields = _present(chunk, "type", "toolCallId", "approvalId")
        approval = {names.get(key, key): value for key, value in fields.items()}
        name = self._string(chunk, "approvalId")
        part |= {"state": "approval-requested", "approval": {**approval, "id": name}}
        self._named["approval", name] = part

    def _read_answer(self, chunk: JsonObject) -> None:
        name = self._string(chunk, "approvalId")
        part = self._named.get(("approval", name))
        if part is None:
            self._fail("approvalId", f"no request for approval {name!r:.100}")
        answer = _present({key: chunk.get(key) for key in ("approved", "reason")})
        part |= {"state": "approval-responded", "approval": {**part["approval"], **answer}}
        part |= _present({"providerExecuted": chunk.get("providerExecuted")})
        if chunk.get("providerMetadata") is not None:
            part["callProviderMetadata"] = chunk["providerMetadata"]

    # -- steps and the message -----------------------------------------------------------------------------------------

    def _start_step(self, chunk: JsonObject) -> None:
        self._parts.append({"type": "step-start"})
        self._step = len(self._parts)

    def _reset_step(self, chunk: JsonObject) -> None:
        del self.message["parts"][self._step :]
        self._texts, self._inputs, self._raw = {}, {}, {}
        self._calls = {name: (at, part) for name, (at, part) in self._calls.items() if at < self._step}
        part_ids = set(map(id, self._parts))
        self._named = {name: part for name, part in self._named.items() if id(part) in part_ids}

    def _read_metadata(self, chunk: JsonObject) -> None:
        if chunk.get("messageId") is not None:
            self._message["id"] = self._string(chunk, "messageId")
        if chunk.get("messageMetadata") is not None:
            metadata = self._message.get("metadata")
            self._message["metadata"] = _merged(metadata, chunk["messageMetadata"])
        if chunk["type"] == "finish":
            self.is_over = True
            self._message |= _present({"finishReason": chunk.get("finishReason")})

    def _read_end(self, chunk: JsonObject) -> None:
        self.is_over = True
        if chunk["type"] == "error":
            self._message["error"] = self._string(chunk, "errorText")
        else:
            self._keep(chunk)

    def _skip(self, chunk: JsonObject) -> None:
        """Ignore the end of a step: the next step or the end of the message implies it."""


_READ: dict[str, Callable[[MessageReader, JsonObject], None]] = {
    "start": MessageReader._read_metadata,
    "message-metadata": MessageReader._read_metadata,
    "finish": MessageReader._read_metadata,
    "start-step": MessageReader._start_step,
    "reset-step": MessageReader._reset_step,
    "finish-step": MessageReader._skip,
    "abort": MessageReader._read_end,
    "error": MessageReader._read_end,
    "tool-input-start": MessageReader._read_input,
    "tool-input-delta": MessageReader._read_more_input,
    "tool-input-available": MessageReader._read_input,
    "tool-input-error": MessageReader._read_input,
    "tool-output-available": MessageReader._read_output,
    "tool-output-error": MessageReader._read_failure,
    "tool-output-denied": MessageReader._read_denial,
    "tool-approval-request": MessageReader._read_question,
    "tool-approval-response": MessageReader._read_answer,
}
_PARTS = frozenset({"file", "reasoning-file", "source-url", "source-document", "custom", "steering-message"})
_OWN = frozenset({"start-step", "finish-step", *(kind for kind in _READ if kind.startswith("tool-"))})
_STARTS = frozenset({"type", "messageId", "messageMetadata"})


def is_chunk(value: object) -> bool:
    """Return whether a JSON value is a chunk of a UI message stream of a type that no other stream has."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    if value["type"] in ("text-start", "text-delta", "text-end"):
        return isinstance(value.get("id"), str)
    return value["type"] in _OWN or (value["type"] == "start" and value.keys() <= _STARTS)


def _present(value: Mapping[str, Any], *excluded: str) -> JsonObject:
    """Return the fields that are not null and not in `excluded`."""
    return {key: item for key, item in value.items() if item is not None and key not in excluded}


def _merged(old: Any, new: Any) -> Any:
    """Return metadata with its objects merged."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{key: _merged(old.get(key), item) for key, item in new.items()}}
