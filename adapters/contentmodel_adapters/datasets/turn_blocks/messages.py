"""Turns: how blocks group into messages, and the request around them.

One turn may be a whole run of the tool loop: the assistant's blocks, the results of its calls, and its next blocks.
Reading cuts it into messages; the application's results become messages of the role "tool". Writing joins such messages
into one turn. A message's fields other than its role and blocks are in the turn's `envelope`, and so is an unusual
cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    Hint,
    Place,
)
from contentmodel.content.tools import ToolResultContent
from contentmodel.message import ChatMessage, Origin, contents_of
from contentmodel.request import ChatRequest
from contentmodel.serialize import to_builtins
from contentmodel_adapters.datasets.turn_blocks.blocks import (
    API,
    Reading,
    bare,
    json_of,
    json_places,
    made_by,
    own_residue,
    read_block,
    value_of,
    with_residue,
    write_block,
)
from contentmodel_adapters.datasets.turn_blocks.spelling import residue_of, respelled

Turn = dict[str, Any]

HERE = Origin(api=API, issuer="")
"""The default origin of a request. Rows are kept and not sent: they have no issuer."""
STARTS = Hint[Literal[True]](API, "starts", "a message starts a turn, but usually continues one")
WITHIN = Hint[Literal[True]](API, "within", "a message continues a turn, but usually starts one")
"""Hints of messages that start or continue a turn against the usual cut."""
OWN = ("role", "origin", "envelope", "blocks")
"""The keys of a turn that are derived from its messages. The other keys are kept with the first message."""
COLUMNS: dict[str, tuple[type, ...]] = {
    "id": (str, int),
    "conversation": (str, int),
    "previous": (str, int),
    "status": (str,),
    "model": (str,),
    "stop_reason": (str,),
    "usage": (dict,),
    "started_at": (str, int, float),
    "ended_at": (str, int, float),
    "error": (dict, str),
}
"""The types of a turn's columns; each may also be null."""
_ANSWERS = ("ToolApprovalResponseContent", "InputResponseContent")


# -- how blocks group --------------------------------------------------------------------------------------------------


def is_answer(content: Any) -> bool:
    """Return whether the application created this content: a result of its own tool, an approval, an input."""
    if isinstance(content, ToolResultContent):
        return content.executor == "client"
    return content.__class__.__name__ in _ANSWERS


def cut(
    role: str, contents: list[Any], origin: Origin | None, origin_of_results: Origin | None = None
) -> list[ChatMessage]:
    """Return the messages of a turn's contents if its envelope does not list them. There is always one.

    Only messages with the turn's role come from its origin. Usually, the application created the others: its results.
    """
    runs: list[tuple[str, list[Any]]] = []
    for content in contents:
        run_role = "tool" if is_answer(content) else role
        if not runs or runs[-1][0] != run_role:
            runs.append((run_role, []))
        runs[-1][1].append(content)
    return [
        ChatMessage(role=run_role, contents=run, origin=origin if run_role == role else origin_of_results)
        for run_role, run in runs or [(role, [])]
    ]


def _joins(first: ChatMessage, last: ChatMessage, message: ChatMessage) -> bool:
    """Return whether a message usually continues the turn of `first`: a tool loop goes on after `last`."""
    pair = (last.role, message.role)
    return first.role == "assistant" and pair in (("assistant", "tool"), ("tool", "assistant"))


def _runs(messages: list[ChatMessage]) -> list[list[ChatMessage]]:
    runs: list[list[ChatMessage]] = []
    for message in messages:
        residue = own_residue(message)
        if runs and (WITHIN.is_in(residue) or (not residue and _joins(runs[-1][0], runs[-1][-1], message))):
            runs[-1].append(message)
        else:
            runs.append([message])
    return runs


# -- writing -----------------------------------------------------------------------------------------------------------


def write_turns(messages: list[ChatMessage]) -> list[Turn]:
    """Return the turns of messages, spelled as they were read."""
    return [write_turn(run) for run in _runs(messages)]


def write_turn(run: list[ChatMessage]) -> Turn:
    """Return the turn of these messages."""
    contents = list(contents_of(run))
    turn = {**heading(run), "blocks": [write_block(content, index) for index, content in enumerate(contents)]}
    turn = respelled(turn, own_residue(run[0]))
    blocks = turn.get("blocks")
    rows = blocks if isinstance(blocks, list) else []
    numbers = [row["sequence"] for row in rows if isinstance(row, dict) and row.get("sequence") is not None]
    if not all(a.__class__ is int and b.__class__ is int and a < b for a, b in pairwise(numbers)):
        # An inserted block may break the order of sequence numbers that people gave.
        turn["blocks"] = [{**row, "sequence": index} for index, row in enumerate(rows)]
    return turn


def heading(run: list[ChatMessage], role: str | None = None) -> Turn:
    """Return a turn without its blocks: the role, the origin, and an envelope if the usual cut gives other messages.

    `role` is the turn's role if it is known; otherwise the messages' role that needs no envelope, or the first.
    """
    messages = [bare(message) for message in run]
    contents = list(contents_of(messages))
    origin = messages[0].origin
    roles = [role] if role is not None else list(dict.fromkeys(message.role for message in messages))
    turn: Turn = {"role": roles[0]}
    if origin is not None:
        turn["origin"] = to_builtins(origin)
    for usual in roles:
        of_results = _origin_of_results(messages, usual)
        if cut(usual, contents, origin, of_results) == messages:
            return {**turn, "role": usual, **({"envelope": _of_results(of_results)} if of_results else {})}
    # A turn that grows keeps what its envelope has already.
    envelope = _of_results(_origin_of_results(messages, roles[0]))
    return {**turn, "envelope": {**envelope, "messages": [shell_of(message) for message in messages]}}


def _origin_of_results(messages: list[ChatMessage], role: str) -> Origin | None:
    """Return the origin of the first message of a turn that does not have the turn's role."""
    return next((message.origin for message in messages if message.role != role), None)


def _of_results(origin: Origin | None) -> dict[str, Any]:
    return {} if origin is None else {"results": {"origin": to_builtins(origin)}}


def shell_of(message: ChatMessage) -> dict[str, Any]:
    """Return a message as JSON, with the number of its blocks instead of them."""
    return {**json_of(msgspec.structs.replace(message, contents=[])), "blocks": len(message.contents)}


def write_request(request: ChatRequest) -> dict[str, Any]:
    """Return a request as turns, with its other fields under `envelope`."""
    return respelled({**_request_heading(request), "turns": write_turns(request.messages)}, own_residue(request))


def _request_heading(request: ChatRequest) -> dict[str, Any]:
    envelope = json_of(msgspec.structs.replace(request, messages=[], origin=None))
    if request.origin != HERE:
        envelope["origin"] = None if request.origin is None else to_builtins(request.origin)
    return {"envelope": envelope} if envelope else {}


# -- reading -----------------------------------------------------------------------------------------------------------


def read_turns(turns: list[Any], path: str, reading: Reading) -> list[list[ChatMessage]]:
    """Return the messages of each turn."""
    runs: list[list[ChatMessage]] = []
    for index, turn in enumerate(turns):
        turn_path = f"{path}[{index}]"
        if not isinstance(turn, dict):
            reading.expected(turn_path, "an object: a turn", turn)
            continue
        _check_order(turns, index, turn_path, reading)
        run = read_turn(turn, turn_path, reading)
        if runs and not own_residue(run[0]) and _joins(runs[-1][0], runs[-1][-1], run[0]):
            run[0] = with_residue(run[0], STARTS.entry(True))
        runs.append(run)
    return runs


def _check_order(turns: list[Any], index: int, path: str, reading: Reading) -> None:
    """Report a turn that does not follow the one before it: a transcript is one branch of a conversation."""
    before = turns[index - 1] if index else None
    previous = turns[index].get("previous")
    if isinstance(before, dict) and previous is not None and before.get("id") not in (None, previous):
        reading.fault(
            f"{path}.previous",
            f"the turn before it is {before['id']!r}, not {previous!r}: list the turns of one branch in order",
        )


def read_turn(turn: Turn, path: str, reading: Reading) -> list[ChatMessage]:
    """Return the messages of a turn, at least one. The first one keeps the turn's other fields."""
    messages = read_messages(turn, path, reading)
    residue = residue_around(heading(messages), turn)
    for index in range(1, len(messages)):
        if not _joins(messages[0], messages[index - 1], messages[index]):
            messages[index] = with_residue(messages[index], WITHIN.entry(True))
    return [with_residue(messages[0], residue), *messages[1:]]


def read_messages(turn: Turn, path: str, reading: Reading) -> list[ChatMessage]:
    """Return the messages of a turn, without the turn's other fields."""
    role = turn.get("role")
    if not isinstance(role, str):
        wanted = "a string: the role of the turn"
        reading.expected(f"{path}.role", wanted, role) if "role" in turn else reading.fault(
            f"{path}.role", f"missing {wanted[2:]}"
        )
        role = ""
    _check_columns(turn, path, reading)
    origin = None
    if turn.get("origin") is not None:
        origin = value_of(turn["origin"], Origin, f"{path}.origin", reading)
    blocks = Reading(reading.faults, "" if origin is None else origin.issuer)
    contents = _read_blocks(turn.get("blocks"), f"{path}.blocks", blocks)
    return as_cut(role, contents, origin, turn.get("envelope"), f"{path}.envelope", reading)


def residue_around(written: Turn, turn: Turn) -> dict[str, Any]:
    """Return the residue of a turn without its blocks."""
    if turn.get("blocks"):
        turn = {key: value for key, value in turn.items() if key != "blocks"}
        return residue_of({key: value for key, value in written.items() if key != "blocks"}, turn)
    return residue_of({**written, "blocks": []}, turn)


def _check_columns(turn: Turn, path: str, reading: Reading) -> None:
    for name, kinds in COLUMNS.items():
        value = turn.get(name)
        if value is not None and value.__class__ not in kinds:
            names = {str: "a string", int: "an integer", float: "a number", dict: "an object"}
            wanted = " or ".join(names[kind] for kind in kinds if not (kind is int and float in kinds))
            reading.expected(f"{path}.{name}", wanted, value)


def _read_blocks(blocks: Any, path: str, reading: Reading) -> list[Any]:
    if blocks is None:
        return []
    if not isinstance(blocks, list):
        reading.expected(path, "an array of blocks", blocks)
        return []
    contents, last = [], None
    for index, block in enumerate(blocks):
        block_path = f"{path}[{index}]"
        sequence = block.get("sequence") if isinstance(block, dict) else None
        if sequence is not None and sequence.__class__ is not int:
            reading.expected(f"{block_path}.sequence", "an integer", sequence)
        elif sequence is not None:
            if last is not None and sequence <= last:
                reading.fault(
                    f"{block_path}.sequence", f"{sequence} comes after {last}: list each block once, in order"
                )
            last = sequence
        contents.append(read_block(block, block_path, reading, index))
    return [content for content in contents if content is not None]


def as_cut(
    role: str, contents: list[Any], origin: Origin | None, envelope: Any, path: str, reading: Reading
) -> list[ChatMessage]:
    """Return the messages of a turn: those that its envelope lists, or else the usual ones."""
    if envelope is not None and not isinstance(envelope, dict):
        reading.expected(path, "an object", envelope)
        envelope = None
    envelope = envelope or {}
    if envelope.get("messages") is not None:
        listed = read_shells(envelope["messages"], contents, f"{path}.messages", reading)
        if listed is not None:
            return listed
    results = envelope.get("results")
    of_results = results.get("origin") if isinstance(results, dict) else None
    if of_results is not None:
        of_results = value_of(of_results, Origin, f"{path}.results.origin", reading)
    return cut(role, contents, origin, of_results)


def read_shells(shells: Any, contents: list[Any], path: str, reading: Reading) -> list[ChatMessage] | None:
    """Return messages from their shells, which have the number of blocks of each."""
    if not isinstance(shells, list) or not shells:
        reading.expected(path, "a non-empty array of messages", shells)
        return None
    messages, at = [], 0
    for index, shell in enumerate(shells):
        message_path = f"{path}[{index}]"
        count = shell.get("blocks") if isinstance(shell, dict) else None
        if count.__class__ is not int or count < 0:
            reading.fault(message_path, "expected an object: a message, with the number of its blocks under `blocks`")
            return None
        data = {key: value for key, value in shell.items() if key not in ("blocks", "contents")}
        message = value_of(data, ChatMessage, message_path, reading)
        if message is None:
            return None
        messages.append(msgspec.structs.replace(bare(message), contents=contents[at : at + count]))
        at += count
    if at != len(contents) and not reading.faults:
        reading.fault(path, f"these messages have {at} blocks, but the turn has {len(contents)}")
    return messages


def read_request(wire: dict[str, Any], reading: Reading) -> tuple[ChatRequest, list[int]]:
    """Return the request of turns and their envelope, and the number of messages of each turn."""
    turns, envelope = wire.get("turns"), wire.get("envelope")
    if not isinstance(turns, list):
        reading.expected("$.turns", "an array of turns", turns) if "turns" in wire else reading.fault(
            "$.turns", "missing array of turns"
        )
        turns = []
    if envelope is not None and not isinstance(envelope, dict):
        reading.expected("$.envelope", "an object", envelope)
        envelope = None
    conversation = wire.get("conversation")
    if conversation is not None and conversation.__class__ not in COLUMNS["conversation"]:
        reading.expected("$.conversation", "a string or an integer", conversation)
    data = {key: value for key, value in (envelope or {}).items() if key != "messages"}
    read = value_of({"origin": to_builtins(HERE), **data}, ChatRequest, "$.envelope", reading)
    request = ChatRequest(origin=HERE) if read is None else bare(read)
    runs = read_turns(turns, "$.turns", reading)
    request = msgspec.structs.replace(request, messages=[message for run in runs for message in run])
    other_fields = {key: value for key, value in wire.items() if key != "turns"}
    return with_residue(request, residue_of(_request_heading(request), other_fields)), [len(run) for run in runs]


# -- where things came from --------------------------------------------------------------------------------------------


class Places:
    """The wire fields of messages and requests, for source traces."""

    def __init__(self, paths: dict[str, str]) -> None:
        self._paths = paths

    def row_of(self, value: Any) -> Places:
        return self

    def fields_of(self, attribute: str, wire: Any) -> list[str]:
        """Return the fields of a wire object that an attribute comes from."""
        head, dot, rest = attribute.partition(".")
        return [self._paths.get(head, head) + dot + rest]

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        """Yield the sources of the model objects under `envelope`."""
        envelope = wire.get("envelope")
        for name in value.__struct_fields__ if isinstance(envelope, dict) else ():
            if self._paths.get(name) == f"envelope.{name}":
                yield from json_places(getattr(value, name), envelope.get(name), f"{path}.envelope.{name}")


REQUEST = Places({name: f"envelope.{name}" for name in ChatRequest.__struct_fields__ if name != "messages"})
SHELL = tuple(name for name in ChatMessage.__struct_fields__ if name not in ("role", "contents", "origin"))
"""The fields of a message that are in the envelope of its turn."""
TURN = Places({"contents": "blocks", **{name: "envelope.messages" for name in SHELL if name != "extra"}})


def trace_turn(context: Any, messages: list[ChatMessage], turn: Turn, container: Any, key: Any) -> None:
    """Record that messages came from the turn at `container[key]`, and their contents from its blocks."""
    context.trace(TURN, messages, container, key, spread=False)
    contents = list(contents_of(messages))
    if contents:
        context.trace(made_by, contents, turn, "blocks", spread=True)
