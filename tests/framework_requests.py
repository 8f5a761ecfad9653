"""The requests that a framework and this library make of the same messages, and the facts in which they differ.

A fact is a kind and a value. Beside the facts of the conformance kit's readers (texts, calls, results, media, failures)
there are the ids of calls, texts of reasoning, and opaque state. A library may download a link: here, the bytes of a
link are its address.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from conftest import records
from contentmodel import adapter, convert
from contentmodel.auditing import leaves
from contentmodel.json import value_at
from contentmodel.literals import Policies
from contentmodel_conformance.agreement import _unmarked
from contentmodel_conformance.readers import READERS
from contentmodel_conformance.readers.reading import MEDIUM, digest, digest_of_bytes, first

CALL_ID, RESULT_ID, REASONING, OPAQUE, STATE = "call id", "result id", "reasoning", "opaque state", "item"
MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-4-8",
    "google-generate-content": "gemini-3-pro-preview",
}
KEPT: Policies = {"prefill": "keep"}
"""Frameworks send the begun answer at the end also to a model that refuses it."""
Fact = tuple[str, Any]


class Habit(NamedTuple):
    """A difference that is explained: what a library does in its own way, and the facts that it should have read."""

    why: str
    apis: Collection[str]
    change: Callable[[Fact], Iterable[Fact]]
    both: bool = False
    """True if the facts of our request change, too."""


class Difference(NamedTuple):
    """Facts of one kind, in order, that are in one request only."""

    kind: str
    theirs: Sequence[Any]
    ours: Sequence[Any]


# -- facts -------------------------------------------------------------------------------------------------------------

_VALUES = ("arguments", "args", "response", "tools", "output", "citations", "annotations")
"""The fields whose values are those of users and tools."""


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a request that are not values of users or tools."""
    if isinstance(value, dict):
        yield value
        for name, inner in value.items():
            if name not in _VALUES and not (name == "input" and isinstance(inner, dict)):
                yield from _objects(inner)
    for item in value if isinstance(value, list) else ():
        yield from _objects(item)


def _of_anthropic(wire: dict[str, Any]) -> Iterator[Fact]:
    kind = wire.get("type")
    if kind == "thinking":
        yield REASONING, wire.get("thinking")
        yield OPAQUE, wire.get("signature")
    elif kind == "redacted_thinking":
        yield OPAQUE, wire.get("data")
    elif kind == "tool_use":
        yield CALL_ID, wire.get("id")
    elif kind == "tool_result":
        yield RESULT_ID, wire.get("tool_use_id")
    elif isinstance(kind, str) and kind.endswith(("_tool_use", "_tool_result")):
        yield STATE, kind


def _of_responses(wire: dict[str, Any]) -> Iterator[Fact]:
    kind = wire.get("type")
    if kind in ("summary_text", "reasoning_text"):
        yield REASONING, wire.get("text")
    elif kind in ("reasoning", "compaction"):
        yield OPAQUE, wire.get("encrypted_content")
    elif kind in ("function_call", "custom_tool_call"):
        yield CALL_ID, wire.get("call_id")
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield RESULT_ID, wire.get("call_id")
    elif isinstance(kind, str) and kind not in _ITEMS:
        yield STATE, kind


_ITEMS = ("message", "input_text", "output_text", "input_image", "input_file", "input_audio", "refusal")


def _of_chat(wire: dict[str, Any]) -> Iterator[Fact]:
    for name in ("reasoning", "reasoning_content"):
        yield REASONING, wire.get(name)
    yield OPAQUE, None if wire.get("reasoning_details") is None else str(wire["reasoning_details"])
    yield RESULT_ID, wire.get("tool_call_id")
    yield CALL_ID, wire.get("id") if isinstance(wire.get("function"), dict) else None


def _of_google(wire: dict[str, Any]) -> Iterator[Fact]:
    yield REASONING, wire.get("text") if wire.get("thought") else None
    yield OPAQUE, digest(first(wire, "thoughtSignature", "thought_signature")[1])
    for kind, names in ((CALL_ID, _CALLS), (RESULT_ID, _RESPONSES)):
        part = first(wire, *names)[1]
        yield kind, part.get("id") if isinstance(part, dict) else None
    yield from ((STATE, name) for name in _HOSTED if name in wire)


_CALLS, _RESPONSES = ("functionCall", "function_call"), ("functionResponse", "function_response")
_HOSTED = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
_MORE: dict[str, Callable[[dict[str, Any]], Iterator[Fact]]] = {
    "anthropic-messages": _of_anthropic,
    "openai-responses": _of_responses,
    "openai-chat": _of_chat,
    "google-generate-content": _of_google,
}


def facts_of(api: str, payload: dict[str, Any]) -> list[Fact]:
    """Return the facts of a request."""
    read = [(fact.kind, fact.value) for fact in _unmarked(READERS[api]("request", payload).facts)]
    more = [fact for wire in _objects(payload) for fact in _MORE[api](wire)]
    return [(kind, _downloaded(value) if kind == MEDIUM else value) for kind, value in read + more if value]


def _downloaded(value: Any) -> Any:
    return digest_of_bytes(value.encode()) if "://" in value else value


MARKS = re.compile(
    r"\[(?:late result|output) of tool call "
    r"|\[(?:nothing of this message could be sent|the conversation has no message yet)\]"
)
"""Texts of our requests for what the API has no field for."""


def recorded(api: str, framework: str) -> dict[str, Any]:
    """Return the documents of a framework for the accepted requests of an API, by record."""
    return {
        record["id"]: convert(record["body"], source=api, target=framework, kind="request").payload
        for record in records(api, "request")
        if record["status"] in (200, None)
    }


def where(kind: str, is_own: Callable[[Any], object]) -> Callable[[Fact], Iterable[Fact]]:
    """Return a change that leaves out the facts of a kind with such a value."""
    return lambda fact: () if fact[0] == kind and is_own(fact[1]) else (fact,)


def rewritten(kind: str, change: Callable[[Any], Any]) -> Callable[[Fact], Iterable[Fact]]:
    """Return a change of the values of one kind."""
    return lambda fact: ((kind, change(fact[1])),) if fact[0] == kind else (fact,)


# -- hosted tools ------------------------------------------------------------------------------------------------------

_HOSTED_KINDS = ("builtin-tool", "server_tool", "mcp_")
_IDS = ("id", "tool_use_id", "call_id", "tool_call_id", "toolCallId")


def hosted_ids(document: Any) -> set[str]:
    """Return the ids of calls that the provider ran, in a document of a framework."""
    found = set()
    for wire in _objects(document):
        kind = str(wire.get("part_kind") or wire.get("type"))
        if kind.startswith(_HOSTED_KINDS) or wire.get("providerExecuted"):
            found.update(str(wire[name]) for name in _IDS if wire.get(name))
    return found


def without(value: Any, ids: Collection[str]) -> Any:
    """Return a request without the blocks of the calls with these ids."""
    if isinstance(value, list):
        return [without(item, ids) for item in value if not _belongs(item, ids)]
    return {name: without(inner, ids) for name, inner in value.items()} if isinstance(value, dict) else value


def _belongs(item: Any, ids: Collection[str]) -> bool:
    wires = [wire for wire in (item, *item.values()) if isinstance(wire, dict)] if isinstance(item, dict) else []
    return any(str(wire.get(name)) in ids for wire in wires for name in _IDS)


# -- comparison --------------------------------------------------------------------------------------------------------


class Comparison:
    """Compare the requests of a framework with ours. `used` has the habits that explained a difference."""

    def __init__(self, source: str, habits: Sequence[Habit], *, stores: bool = True) -> None:
        self.source, self.habits, self.stores = source, habits, stores
        self.used: set[str] = set()
        self.excused: set[tuple[str, str]] = set()
        """The kinds of facts that only the framework sends, each with the code of the loss that reports it."""

    def differences(self, api: str, document: Any, theirs: dict[str, Any]) -> list[Difference]:
        """Return the differences between their request and ours that neither a habit nor a loss explains."""
        encoded = convert(document, source=self.source, target=api, model=MODELS[api], kind="request", policies=KEPT)
        made_ids = encoded.maps.ids if encoded.maps else {}
        originals = {made: original for original, made in made_ids.items()}
        hosted = hosted_ids(document)
        made_hosted = hosted | {made_ids[one] for one in hosted if one in made_ids}
        of_theirs = self._facts(api, without(theirs, hosted), is_ours=False)
        payload = encoded.payload if self.stores else self._unstored(api, document)
        of_ours = self._facts(api, without(payload, made_hosted), is_ours=True)
        of_ours = [(kind, originals.get(value, value) if kind.endswith(" id") else value) for kind, value in of_ours]
        lost = _lost(document, encoded.losses)
        found = []
        for kind, left, right in _compared(of_theirs, of_ours):
            self.excused |= {(kind, lost[value]) for value in left if value in lost}
            difference = Difference(kind, [v for v in left if v not in lost], [v for v in right if v not in lost])
            if difference.theirs or difference.ours:
                found.append(difference)
        return found

    def _unstored(self, api: str, document: Any) -> Any:
        """Return our request if the provider stores nothing."""
        request = adapter(self.source).decode_request(document)
        request = replace(request, options=replace(request.options, store=False))
        return adapter(api).encode_request(request, model=MODELS[api], policies=KEPT).payload

    def _facts(self, api: str, payload: dict[str, Any], *, is_ours: bool) -> list[Fact]:
        facts = facts_of(api, payload)
        for habit in self.habits:
            if api in habit.apis and (habit.both or not is_ours):
                changed = [made for fact in facts for made in habit.change(fact) if made[1]]
                self.used |= {habit.why} if changed != facts else set()
                facts = changed
        return facts


def _lost(document: Any, losses: Iterable[Any]) -> dict[Any, str]:
    """Return the values that losses name, in a document and as digests of media, with the codes of the losses."""
    codes: dict[Any, str] = {}
    for loss in losses:
        if loss.kind != "insignificant" and loss.path != "$":
            texts = [leaf for _, leaf, _ in leaves(value_at(document, loss.path)) if isinstance(leaf, str)]
            for text in texts:
                codes |= dict.fromkeys((text, digest(text), digest_of_bytes(text.encode())), loss.code)
    return codes


def _compared(theirs: Iterable[Fact], ours: Iterable[Fact]) -> Iterator[Difference]:
    sides: dict[str, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for side, facts in enumerate((theirs, ours)):
        for kind, value in facts:
            sides[kind][side].append(value)
    for kind, (left, right) in sides.items():
        matcher = difflib.SequenceMatcher(None, [*map(str, left)], [*map(str, right)], autojunk=False)
        for operation, i, j, m, n in matcher.get_opcodes():
            if operation != "equal":
                yield Difference(kind, left[i:j], right[m:n])
