"""The law of voices: content keeps its author, the user or the tool, in every conversion.

A voice is a text, a medium or a call of a conversation with its role, its kind, and the call that it belongs to. Texts
and calls have tags (`strategies/hostile.py`), so that each can be found after a conversion.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from contentmodel import ChatRequest, FunctionCallContent, FunctionResultContent, TextContent
from contentmodel.content import MediaContent
from contentmodel.content.tools import CustomToolCallContent, CustomToolResultContent
from contentmodel.json import write
from contentmodel.pairs import Place, TranscriptIndex
from contentmodel_conformance import laws
from contentmodel_conformance.differences import ABSENT, Label
from contentmodel_conformance.laws import LawBroken

TAG = re.compile(r"voice\d+eciov")
_ROLES = {"developer": "system"}
_KNOWN = frozenset({"system", "user", "assistant", "tool"})
# A custom tool is the form of a free-text function in APIs that have such tools.
_CALLS = (FunctionCallContent, CustomToolCallContent)
_RESULTS = (FunctionResultContent, CustomToolResultContent)


@dataclass(frozen=True)
class Voice:
    """One text, medium or call: its path, role, kind and content, and the call that it is a result of."""

    path: str
    role: str
    kind: str
    content: str
    call: str | None = None
    failed: bool = False

    def __str__(self) -> str:
        result = f" of call {self.call}{' that failed' * self.failed}" if self.call is not None else ""
        return f"{self.kind}{result}, role {self.role}: {self.content!r:.60}"


def voices(ways: Iterable[Any], request: ChatRequest) -> None:
    """Content of users and tools keeps its role, its kind and its call, also if it imitates a sentinel.

    A loss may report that a content has fewer rights in the target (those of the user). More rights are never allowed.
    """
    for adapter in ways:
        encoded = adapter.encode_request(request)
        lost = frozenset(loss.path for loss in encoded.losses)
        again = adapter.decode_request(encoded.payload)
        decoded = list(voices_of(again))
        remaining = [voice.content for voice in decoded]
        for voice in voices_of(request):
            _is_kept(voice, decoded, remaining, lost)
        request = again


def _is_kept(voice: Voice, decoded: list[Voice], remaining: list[str], lost: Collection[str]) -> None:
    again = [index for index, other in enumerate(decoded) if voice.content in remaining[index]]
    same = [index for index in again if _are_alike(voice, decoded[index])]
    if same:
        # Count each occurrence once: the API may have joined several texts.
        remaining[same[0]] = remaining[same[0]].replace(voice.content, "", 1)
        return
    counterpart = decoded[again[0]] if again else ABSENT
    if not _is_excused(voice, lost):
        raise LawBroken(
            "voices", voice.path, f"became {counterpart}, but no loss reports it", Label(str(voice)), str(counterpart)
        )
    for index in again:
        if TAG.search(voice.content) and decoded[index].role not in ("user", voice.role):
            detail = f"became {decoded[index]}: no loss may give more rights"
            raise LawBroken("voices", voice.path, detail, Label(str(voice)), str(decoded[index]))


def _are_alike(one: Voice, other: Voice) -> bool:
    return (one.role, one.kind, one.call, one.failed) == (other.role, other.kind, other.call, other.failed)


def _is_excused(voice: Voice, lost: Collection[str]) -> bool:
    """Return whether a loss names the content, a parent of it, its role, or its failure."""
    above = [voice.path[: match.end()] for match in re.finditer(r"\]", voice.path)]
    message = above[0] if above else voice.path
    content = above[1] if len(above) > 1 else message
    near = {voice.path, f"{voice.path}.text", f"{message}.role", f"{content}.is_error", *above}
    return not near.isdisjoint(lost)


def voices_of(request: ChatRequest) -> Iterator[Voice]:
    """Yield the voices of a request, in order."""
    for at, content in enumerate(request.instructions):
        yield from _plain(content, f"$.instructions[{at}]", "system")
    index = TranscriptIndex(request.messages)
    tags: dict[Place, str] = {}
    for number, message in enumerate(request.messages):
        role = _ROLES.get(message.role, message.role)
        role = role if role in _KNOWN else "user"
        for at, content in enumerate(message.contents):
            path = f"$.messages[{number}].contents[{at}]"
            if isinstance(content, _CALLS):
                tags[number, at] = _tag_of(content.arguments)
                yield Voice(path, role, "call", tags[number, at])
            elif isinstance(content, _RESULTS):
                call = index.call_of.get((number, at))
                yield from _outputs(content, path, role, tags.get(call, "") if call else "")
            else:
                yield from _plain(content, path, role)


def _tag_of(arguments: Any) -> str:
    match = TAG.search(write(arguments).decode("utf-8", "replace"))
    return match[0] if match else ""


def _outputs(
    result: FunctionResultContent | CustomToolResultContent, path: str, role: str, call: str
) -> Iterator[Voice]:
    for index, output in enumerate(result.output_list):
        for voice in _plain(output, f"{path}.outputs[{index}]", role):
            yield Voice(voice.path, role, voice.kind, voice.content, call, bool(result.is_error))


def _plain(content: Any, path: str, role: str) -> Iterator[Voice]:
    if isinstance(content, TextContent) and content.text.strip():
        yield Voice(path, role, "text", content.text)
    elif isinstance(content, MediaContent):
        value = getattr(content, "data", None) or getattr(content, "uri", None)
        if value is not None:
            yield Voice(path, role, "medium", value)


# -- keys and roles of the wire ----------------------------------------------------------------------------------------


def notes(adapter: Any, payloads: tuple[Any, Any]) -> None:
    """A wire key that imitates a note of a codec is an unknown field: it changes no content, and round-trips.

    Paths may change: a block of Bedrock with an unknown field is no cache point of the block before it.
    """
    before, after = (
        [replace(voice, path="") for voice in voices_of(adapter.decode_request(payload))] for payload in payloads
    )
    if before != after:
        changed = next((pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]), (before, after))
        raise LawBroken("notes", "$", "keys that imitate notes changed the content", str(changed[0]), str(changed[1]))
    laws.identity(adapter, "request", payloads[1])


def roles(target: Any, request: ChatRequest) -> None:
    """A role that its API does not define is kept, or sent to another API as the user's role with a loss."""
    encoded = target.encode_request(request)
    lost = {loss.path for loss in encoded.losses}
    again = target.decode_request(encoded.payload)
    # A session file holds messages of another API, with the roles of that API.
    api_roles = {message.role for message in again.messages}
    for index, message in enumerate(request.messages):
        if message.role in _KNOWN or message.role == "developer":
            continue
        path = f"$.messages[{index}]"
        is_own = message.role.startswith(f"{target.api}:") or message.role in api_roles
        if not is_own and not any(loss.startswith(path) for loss in lost):
            raise LawBroken(
                "roles", f"{path}.role", f"no loss reports the role {message.role!r}", "a loss", message.role
            )
        texts = (content.text for content in message.contents if isinstance(content, TextContent))
        tags = {tag for text in texts for tag in TAG.findall(text)}
        for voice in voices_of(again):
            if voice.role != "user" and not tags.isdisjoint(TAG.findall(voice.content)):
                raise LawBroken("roles", f"{path}.role", f"{message.role!r} became {voice.role!r}", "user", voice.role)
