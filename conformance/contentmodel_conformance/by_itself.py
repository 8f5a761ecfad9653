"""The laws of odd values: a value of an unknown form changes nothing about the others, and its loss is significant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from contentmodel import ChatRequest, DecodeError
from contentmodel.authoring import strings_in
from contentmodel.json import child_path, object_or_text, parse, steps_of, value_at
from contentmodel_conformance import laws
from contentmodel_conformance.differences import ABSENT
from contentmodel_conformance.hints import without_extra
from contentmodel_conformance.laws import LawBroken
from contentmodel_conformance.readers import Reader
from contentmodel_conformance.readers.reading import ASSISTANT, CALL, MEDIUM, RESULT, SYSTEM, USER

MARK = "The lamp is green, and it was not moved."
"""The text in odd values."""

LONG = 16
"""The smallest length of the texts that the law of weight looks for without a reader."""

_FACTS = (SYSTEM, USER, ASSISTANT, CALL, RESULT, MEDIUM)
_KEYS = frozenset(
    {"text", "content", "parts", "message", "prompt", "thinking", "output", "result", "arguments", "data"}
)
_NOTICES: Mapping[str, frozenset[str]] = {
    "gemini-cli-session": frozenset({"info", "error", "warning"}),
    "claude-code-session": frozenset({"summary", "system"}),
    "codex-rollout": frozenset({"session_meta", "turn_context", "world_state", "compacted"}),
}
"""The types of lines with texts of the program, which it sends to no model."""


def each_by_itself(adapter: Any, kind: str, payloads: tuple[Any, Any]) -> None:
    """Decode each record, line, block and part by itself: an unknown, torn or odd one changes no other.

    `payloads` are one payload, and the same with an odd value in one of its lists. An adapter may refuse the second as
    a whole, unless its documents are lines. The texts, calls, results and media of the first are found in the second,
    in the same order and with the same roles. All others are of the odd value. A list may be a JSON value of the
    application, which is sent as text: then the odd value is in this text.
    """
    payload, changed = payloads
    try:
        before = [*_facts(getattr(adapter, f"decode_{kind}")(payload))]
    except DecodeError:
        raise laws.Refused from None
    try:
        after = [*_facts(getattr(adapter, f"decode_{kind}")(changed))]
    except DecodeError as error:
        if getattr(adapter, "form", "json") == "lines":
            detail = f"an odd value makes decoding fail: {error}"
            raise LawBroken("each by itself", "$", detail, ABSENT, ABSENT) from None
        raise laws.Refused from None
    remaining = iter(after)
    for fact in before:
        decoded = next((other for other in remaining if MARK not in str(other) or _is_longer_list(fact, other)), None)
        if decoded is None or not (decoded == fact or _is_longer_list(fact, decoded)):
            raise LawBroken("each by itself", "$", "an odd value changes another value", fact, decoded or ABSENT)
    extra = next((other for other in remaining if MARK not in str(other)), ABSENT)
    if extra is not ABSENT:
        raise LawBroken("each by itself", "$", "an odd value adds another value", ABSENT, extra)


def _is_longer_list(fact: tuple[str, str, str], later: tuple[str, str, str]) -> bool:
    """Return whether two facts are JSON texts of the same value, in which one list has one more item."""
    if later[:2] != fact[:2]:
        return False
    try:
        one, other = parse(fact[2]), parse(later[2])
    except DecodeError:
        return False
    return any(shorter == one for shorter in _shorter(other))


def _shorter(value: Any) -> Iterator[Any]:
    """Yield copies of a JSON value without one item of one of its lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(value, list):
            yield [*value[:key], *value[key + 1 :]]
        for shorter in _shorter(item):
            yield {**value, key: shorter} if isinstance(value, dict) else [*value[:key], shorter, *value[key + 1 :]]


def _facts(value: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the role, the type and the value of each content that is known."""
    if isinstance(value, ChatRequest):
        yield from _contents("instructions", value.instructions)
        messages = value.messages
    else:
        messages = [message for choice in value.choices for message in choice.messages]
    for message in messages:
        # A message of the user has another role if it has only results.
        yield from _contents("user" if message.role == "tool" else message.role, message.contents)


def _contents(role: str, contents: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    for content in contents:
        plain = msgspec.to_builtins(content)
        name = type(content).__name__
        for field in ("text", "refusal", "data", "uri", "file_id", "message"):
            if isinstance(plain.get(field), str) and plain[field]:
                yield role, name, plain[field]
        if "arguments" in plain:
            # A framework has two blocks that follow each other as one item of the provider, whose arguments are a text.
            arguments = plain["arguments"]
            yield (
                role,
                name,
                f"{plain.get('name')} {object_or_text(arguments) if isinstance(arguments, str) else arguments}",
            )
        if isinstance(plain.get("outputs"), list):
            yield from _contents("result", content.outputs)


def weight(readers: tuple[Reader | None, Reader | None], source: Any, target: Any, kind: str, payload: Any) -> None:
    """No insignificant loss covers a text, a call, a result or a medium.

    The reader of the source's API finds them, unless the reader of the target finds the same in the output: a format
    may repeat a value. A setting that repeats one of the request is no content, and neither are empty arguments or a
    name: an id, or a value of a field that the adapter declares as structure, such as a finish reason. Without a
    reader, these are the long texts in fields that usually have content, unless the decoded value has the same text.
    """
    reader, reader_of_target = readers
    try:
        encoded = laws.crossed(source, target, kind, payload)
    except DecodeError:
        raise laws.Refused from None
    minor = {loss.path: loss.code for loss in encoded.losses if loss.kind == "insignificant" and loss.path != "$"}
    major = [loss.path for loss in encoded.losses if loss.kind in ("dropped", "degraded") and loss.path != "$"]
    if reader is not None:
        sent = [] if reader_of_target is None else reader_of_target(kind, encoded.payload).facts
        repeated = [(fact.kind, fact.value) for fact in sent]
        source_facts = [fact for fact in reader(kind, payload).facts if fact.kind in _FACTS]
        facts = [
            (fact.paths[0], fact.value)
            for fact in source_facts
            if (fact.kind, fact.value) not in repeated
            and not (fact.kind == CALL and value_at(payload, fact.paths[0]) in (None, ""))
        ]
        settings = [above for above, code in minor.items() if code == "repeated-setting"]
        names = laws.vocabulary_for(source).structure | {"id"}
        marked = [*_marked(payload, "$")]
        # A format may have the list of the odd value twice.
        is_repeated = any(not any(_is_within(path, above) for above in minor) for path in marked)
        facts += [
            (path, MARK)
            for path in (() if is_repeated else marked)
            if not any(_is_within(path, above) for above in settings) and names.isdisjoint(steps_of(path))
        ]
    else:
        decoded = without_extra(msgspec.to_builtins(laws.decode(source, kind, payload)))
        decoded_text = "\n".join(strings_in(decoded))
        facts = [
            (path, text)
            for path, text in ((path, text) for above in minor for path, text in _long(value_at(payload, above), above))
            if text.strip() not in decoded_text and not _is_notice(source.api, payload, path)
        ]
    for path, value in facts:
        covering = next((above for above in minor if _is_within(path, above)), None)
        if covering is not None and not any(_is_within(path, above) for above in major):
            detail = f"an insignificant loss ({minor[covering]}) covers content"
            raise LawBroken("weight", covering, detail, value, ABSENT)


def _is_within(path: str, above: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}["))


def _marked(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of the texts of odd values."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _marked(item, child_path(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _marked(item, f"{path}[{index}]")
    elif isinstance(value, str) and MARK in value:
        yield path


def _long(value: Any, path: str, is_held: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the paths and the values of long texts under keys of content."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _long(item, f"{path}.{key}", is_held=is_held or key in _KEYS)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _long(item, f"{path}[{index}]", is_held=is_held)
    elif isinstance(value, str) and len(value) >= LONG and (is_held or path.rpartition(".")[2] in _KEYS):
        yield path, value


def _is_notice(api: str, payload: Any, path: str) -> bool:
    """Return whether a text is in a line of the program: a notice, or an error of the API as Claude Code shows it."""
    line = value_at(payload, path[: path.find("]") + 1]) if isinstance(payload, list) else None
    if not isinstance(line, dict):
        return False
    message = line.get("message")
    is_made = isinstance(message, dict) and message.get("model") == "<synthetic>"
    is_error = api == "claude-code-session" and is_made and line.get("isApiErrorMessage") is True
    return is_error or line.get("type") in _NOTICES.get(api, ())
