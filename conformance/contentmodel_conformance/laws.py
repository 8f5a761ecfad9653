"""The laws of adapters, one plain function each; pytest is not needed.

A violated law raises `LawBroken` with the law, the path in the payload, and both values.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any

import msgspec

from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    DecodeError,
    Encoded,
    EncodeError,
    FunctionCallContent,
    FunctionResultContent,
    Loss,
    TextContent,
    dumps,
    loads,
    schema,
)
from contentmodel.adapter import traced
from contentmodel.auditing import (
    CALL,
    COVERING,
    NAME,
    RESULT,
    Unaccounted,
    counted,
    leaves,
    unaccounted,
    vocabulary_of_api,
)
from contentmodel.content.media_types import kind_of_media
from contentmodel.json import value_at
from contentmodel.lines import parse_lines
from contentmodel.meanings import finishes
from contentmodel.pairs import TranscriptIndex
from contentmodel.serialize import to_builtins
from contentmodel.vocabularies import Vocabulary, vocabulary_of
from contentmodel_conformance.differences import ABSENT, Label, difference, short
from contentmodel_conformance.growth import conversation_of, has_grown, is_same, turns_in
from contentmodel_conformance.opaque import opaque_marks, protected_in, readable_by, with_marks


class LawBroken(AssertionError):
    """Raised if a law does not hold for a value.

    `where` is a JSON path, an event or a byte; `expected` and `found` are the values there; `detail` describes the
    violation.
    """

    def __init__(self, law: str, where: str, detail: str, expected: Any = None, found: Any = None) -> None:
        self.law, self.where, self.detail = law, where, detail
        self.expected, self.found = expected, found
        super().__init__(f"{law}: at {where}: {detail}")


class Refused(Exception):
    """Raised if a law does not apply to a value. If there is no message, the adapter refused an invalid payload."""


def identity(adapter: Any, kind: str, payload: Any) -> None:
    """Decoding a payload and encoding it for the same API gives the same JSON value, and reports no loss."""
    value = decode(adapter, kind, payload)
    encoded = encode(adapter, kind, value)
    changed = difference(payload, encoded.payload)
    if changed is not None:
        raise LawBroken("identity", *changed)
    if encoded.losses:
        loss = encoded.losses[0]
        raise LawBroken("identity", loss.path, f"a loss was reported: {loss.what}: {loss.why}", Label("no loss"), loss)


def identity_of_lines(adapter: Any, kind: str, data: bytes) -> None:
    """A text of JSON Lines decodes like the values of its lines, and is written as these values."""
    values = parse_lines(data)
    identity(adapter, kind, values)
    encoded = encode(adapter, kind, decode(adapter, kind, data))
    changed = difference(values, parse_lines(encoded.to_json()))
    if changed is not None:
        raise LawBroken("identity", *changed)


def stability(adapter: Any, kind: str, value: Any) -> None:
    """Any model value encodes to a payload of this API that decodes, and encodes again to the same payload."""
    identity(adapter, kind, encode(adapter, kind, value).payload)


def section(adapter: Any, kind: str, value: Any) -> None:
    """A model value that is encoded and decoded again is the same value, except for reported losses."""
    encoded = encode(adapter, kind, value)
    again = decode(adapter, kind, encoded.payload)
    if kind == "response":
        _ends_alike(value, again, encoded.losses)
    before, after = _with_seconds(msgspec.to_builtins(value)), _with_seconds(msgspec.to_builtins(again))
    if kind == "request":
        _are_set_alike(before, after, encoded.losses)
    for missing in unaccounted(before, after, encoded.losses):
        if not _may_be_missing(before, after, missing.path):
            raise LawBroken(
                "section",
                missing.path,
                f"{short(missing.value)} is missing after encoding and decoding",
                missing.value,
                ABSENT,
            )


def _with_seconds(value: Any) -> Any:
    """Return a request with the times of its messages in seconds: formats write the same time in different forms."""
    for message in value.get("messages", ()):
        created = message.get("created")
        if isinstance(created, str):
            with suppress(ValueError):
                message["created"] = datetime.fromisoformat(created).timestamp()
    return value


def _ends_alike(response: ChatResponse, again: ChatResponse, losses: Iterable[Loss]) -> None:
    lost = {loss.path for loss in losses}
    for at, (one, other) in enumerate(zip(response.choices, again.choices, strict=False)):
        field_path = f"$.choices[{at}].finish_reason"
        before, after = (choice.finish_reason and choice.finish_reason.reason for choice in (one, other))
        if before is not None and before != after and not any(path.startswith(field_path) for path in lost):
            raise LawBroken("section", f"{field_path}.reason", f"{before} became {after}", before, after)


def _are_set_alike(before: Any, after: Any, losses: Iterable[Loss]) -> None:
    """Check that options survive a round trip, except for omitted defaults and values that only the API has."""
    lost = [loss.path for loss in losses]
    for path, value, above in leaves(before.get("options", {}), "$.options"):
        restored = value_at(after, path)
        is_provider_specific = path.endswith(".mode") and restored not in (None, "auto", "none", "required")
        if value in (None, "text") or str(restored).lower() == str(value).lower() or is_provider_specific:
            continue
        if not any(place in above or place.startswith(path) for place in lost):
            raise LawBroken("section", path, f"{short(value)} is missing after encoding and decoding", value, restored)


def _may_be_missing(before: Any, after: Any, path: str) -> bool:
    """Return whether a value may be missing after a round trip.

    It may if the adapter sets it (an origin), if it is a default (text as response format), or if another value implies
    it (a tool's type its name, a media type the kind of a link).
    """
    if ".origin" in path or path.endswith((".protected.issuer", ".protected.kind")):
        return True
    above, _, key = path.rpartition(".")
    owner = value_at(before, above)
    if above == "$.options.response_format":
        return key == "kind" and owner["kind"] == "text"
    if not isinstance(owner, dict):
        return False
    if key == "kind":
        return owner.get("type") == "uri" and owner["kind"] in _kinds_of_link(after, owner["uri"])
    return key == "name" and owner.get("type", "") not in ("function_call", "")


def _kinds_of_link(value: Any, uri: str) -> Iterator[str | None]:
    """Yield the kinds that the media types of the links to `uri` imply."""
    for path, item, _ in leaves(value):
        if item == uri and path.endswith(".uri"):
            yield kind_of_media(value_at(value, path.removesuffix(".uri")).get("media_type"))


def model_json(value: Any) -> None:
    """Saving a model value as JSON and loading it gives an equal value."""
    again = loads(dumps(value))
    if again != value:
        changed = difference(msgspec.to_builtins(value), msgspec.to_builtins(again))
        raise LawBroken("model JSON", *(changed or ("$", "loads(dumps(value)) differs from the value", value, again)))


def schema_fits(value: Any) -> None:
    """The JSON of a model value is valid against the published JSON Schema of the model."""
    if msgspec.to_builtins(value) != to_builtins(value):
        raise Refused("a newer version stored the value: it has another schema")
    document = json.loads(dumps(value))
    fault = next(_validator().iter_errors(document), None)
    if fault is not None:
        raise LawBroken("schema", fault.json_path, fault.message, fault.schema, fault.instance)


@cache
def _validator() -> Any:
    import jsonschema  # type: ignore[import-untyped]

    return jsonschema.Draft202012Validator(schema())


def purity(adapter: Any, kind: str, payload: dict[str, Any]) -> None:
    """Decoding and encoding do not change their input, and the same input gives the same bytes."""
    before = copy.deepcopy(payload)
    value = decode(adapter, kind, payload)
    _unchanged("decoding changed the payload", before, payload)
    stored = dumps(value)
    first = encode(adapter, kind, value).to_json()
    _unchanged("encoding changed the payload", before, payload)
    if dumps(value) != stored:
        raise LawBroken("purity", "$", "encoding changed the value of the model", json.loads(stored), value)
    second = encode(adapter, kind, decode(adapter, kind, payload)).to_json()
    if second != first:
        raise LawBroken("purity", "$", "decoding and encoding the payload again gave different bytes", first, second)


def _unchanged(event: str, before: Any, after: Any) -> None:
    changed = difference(before, after)
    if changed is not None:
        raise LawBroken("purity", changed.where, f"{event}: {changed.detail}", changed.expected, changed.found)


def totality(adapter: Any, kind: str, payload: Any) -> None:
    """Any input decodes to a value or raises DecodeError. Encoding the value raises nothing but EncodeError."""
    try:
        value = decode(adapter, kind, payload)
    except DecodeError as error:
        _names_places(error)
        return
    with suppress(EncodeError):
        encode(adapter, kind, value).to_json()


def disturbance(adapter: Any, kind: str, payload: Any) -> None:
    """A payload with missing or arbitrary values is refused with a JSON path, or round-trips without a change."""
    try:
        decode(adapter, kind, payload)
    except DecodeError as error:
        _names_places(error)
        raise Refused from None
    identity(adapter, kind, payload)


def refusal(adapter: Any, kind: str, payload: bytes) -> None:
    """Invalid input (truncated, not JSON, not an object, nested too deep) is refused with a JSON path."""
    try:
        decode(adapter, kind, payload)
    except DecodeError as error:
        _names_places(error)
        return
    raise LawBroken("refusal", "$", "invalid input was accepted as a payload", Label("a DecodeError"), Label("a value"))


def conversion(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Any payload is refused with DecodeError, or is converted with losses that have paths; nothing else is raised."""
    converted(source, target, kind, payload)


def converted(source: Any, target: Any, kind: str, payload: Any) -> tuple[Encoded, list[Unaccounted]]:
    """Check the law of conversion. Return the converted payload, and the values that the audit reports as missing."""
    try:
        encoded = crossed(source, target, kind, payload)
    except DecodeError as error:
        _names_places(error)
        raise Refused from None
    encoded.to_json()
    for loss in encoded.losses:
        if not loss.path.startswith("$"):
            raise LawBroken("conversion", "$", "a loss has no JSON path", Label("a path from $"), loss.path)
    vocabularies = vocabulary_for(source), vocabulary_for(target)
    named = encoded.named_by_caller
    missing = unaccounted(loss_source(source, kind, payload), encoded.payload, encoded.losses, *vocabularies, named)
    if kind == "request":
        target.check_request(encoded.payload, None)
    return encoded, missing


_VOCABULARIES: dict[int, tuple[Any, Vocabulary]] = {}
"""The vocabularies by the id of their adapter. The adapter is kept, so that no other one gets its id."""


def vocabulary_for(adapter: Any) -> Vocabulary:
    """Return the vocabulary of an adapter, which takes longer to derive than a small payload takes to audit."""
    if id(adapter) not in _VOCABULARIES:
        _VOCABULARIES[id(adapter)] = adapter, vocabulary_of(adapter)
    return _VOCABULARIES[id(adapter)][1]


def _names_places(error: DecodeError) -> None:
    for fault in error.faults:
        if not fault.path.startswith("$"):
            raise LawBroken("totality", "$", "the fault has no JSON path", Label("a path from $"), fault.path)


def accounting(
    source: Any, encoded: Encoded, vocabulary: Vocabulary | None = None, target: Vocabulary | None = None
) -> None:
    """Every value of the source is in the output, is covered by a loss, or only gives structure."""
    vocabulary = vocabulary or vocabulary_of_api(encoded.source_api)
    target = target or vocabulary_of_api(encoded.api)
    require_complete(unaccounted(source, encoded.payload, encoded.losses, vocabulary, target, encoded.named_by_caller))


def require_complete(missing: Iterable[Unaccounted]) -> None:
    """Raise LawBroken for the first value that the audit reports as missing, if any."""
    for value in missing:
        detail = f"{short(value.value)} is neither in the output nor covered by a loss"
        raise LawBroken("accounting", value.path, detail, value.value, ABSENT)


def tracing(encoded: Encoded) -> None:
    """Every loss has the path of a value of the source: steps record which values they replace."""
    for value in encoded.untraced():
        raise LawBroken(
            "tracing", "$", "the value is lost, and no step recorded which value of the source it replaces", None, value
        )


ALLOWED = Label("what the SDK's types allow")


def acceptance(judge: Any, encoded: Encoded) -> None:
    """Encoded payloads are strictly valid against the types of the official SDK."""
    payload = json.loads(encoded.to_json())
    for fault in judge.faults(payload):
        path, _, message = fault.partition(": ")
        raise LawBroken("acceptance", path, message, ALLOWED, value_at(payload, path, ABSENT))


# If the provider stores the conversation, the request has no turns, and no default can replace them.
_NO_TURNS = {"list-lengths-in-range", "messages-and-max-tokens-required", "contents-have-parts"}
# A line of a fine-tuning file needs an answer. No conversion can add one.
_UNANSWERED = {"answer-required"}
# A missing or foreign model, which losses report: only the caller can name another one.
_OF_MODELS = {"no-model": {"model-required"}, "foreign-model": {"model-of-this-provider"}}


def rules(adapter: Any, encoded: Encoded, model: str | None = None) -> None:
    """An encoded request violates none of the adapter's rules for its API."""
    turns = turns_in(encoded.payload)
    excused = _UNANSWERED if turns else _NO_TURNS
    excused = excused.union(*(_OF_MODELS.get(loss.code, set()) for loss in encoded.losses))
    for violation in adapter.check_request(encoded.payload, model):
        if violation.severity == "unchecked":
            continue
        # A store has no issuer and keeps all content: only refusals are violations.
        if violation.rule not in excused and (adapter.issuer or violation.severity == "refused"):
            value = value_at(encoded.payload, violation.path, ABSENT)
            detail = f"{violation.rule} ({violation.severity}): {violation.message}"
            raise LawBroken("rules", violation.path, detail, Label(violation.fix), value)


def replay(adapter: Any, judge: Any, response: ChatResponse) -> None:
    """An answer in the next request of its own API is accepted: fields that only answers have are left out."""
    payload = json.loads(adapter.encode_request(_next_request(response)).to_json())
    without = set(judge.faults(_without_nulls(payload)))
    for fault in judge.faults(payload):
        if fault in without:
            path, _, message = fault.partition(": ")
            raise LawBroken("replay", path, message, ALLOWED, value_at(payload, path, ABSENT))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _next_request(response: ChatResponse) -> ChatRequest:
    """Return a request that continues after an answer, with results for its calls."""
    answer = response.choices[0].messages
    calls = [content for message in answer for content in message.contents if isinstance(content, FunctionCallContent)]
    outputs = [TextContent(text="Done.")]
    results: list[Any] = [FunctionResultContent(call_id=call.call_id, outputs=list(outputs)) for call in calls]
    return ChatRequest(
        model=response.model or "m",
        messages=[
            ChatMessage(role="user", contents=[TextContent(text="Hi.")]),
            *answer,
            *([ChatMessage(role="tool", contents=results)] if results else []),
            ChatMessage(role="user", contents=[TextContent(text="Go on.")]),
        ],
        options=ChatOptions(max_output_tokens=4096),
        origin=response.origin,
    )


def addressing(adapter: Any, request: ChatRequest) -> None:
    """A request that is encoded for a model names that model, or no model if the URL names it."""
    written = adapter.encode_request(request, None, "another-model-1")
    model = adapter.decode_request(written.payload).model
    if model not in (None, "another-model-1"):
        raise LawBroken("addressing", "$.model", "the request names another model", "another-model-1", model)


def prefixes(adapter: Any, request: ChatRequest) -> None:
    """Adding a turn does not change the encoding of the earlier turns, so cached prefixes stay valid.

    Only the last message may grow, by whole blocks, and lose its mark that the model continues it. Instructions at the
    end may change if no answer follows them, and results may be added to a turn that has some. If a target requires a
    turn, it gets a placeholder until there is content to send (loss "no-user-message").
    """
    before: list[Any] = []
    turns_of = conversation_of(adapter, request)
    for count in _ends_of_requests(request.messages):
        start = msgspec.structs.replace(request, messages=request.messages[:count])
        encoded = adapter.encode_request(start)
        after = turns_of(encoded.payload)
        for index, turn in enumerate(before):
            whole = index < len(before) - 1
            if not whole and _are_unanswered(turn, after[index + 1 : index + 2]):
                continue
            same = is_same if whole else _has_grown_or_ended
            if index >= len(after) or not same(turn, after[index]):
                now = after[index] if index < len(after) else ABSENT
                detail = f"{short(turn)} changed when message {count} was added"
                raise LawBroken("prefixes", f"$[{index}]", detail, turn, now)
        is_placeholder = len(after) == 1 and any(loss.code == "no-user-message" for loss in encoded.losses)
        # A sentence that asks to continue the last answer leaves as soon as a turn follows (loss "continued").
        is_asked = any(loss.code == "continued" for loss in encoded.losses)
        before = [] if is_placeholder else after[:-1] if is_asked else after


def _ends_of_requests(messages: Sequence[ChatMessage]) -> list[int]:
    """Return the lengths of the beginnings that an application may send.

    It does not send some results of a turn, or instructions after its calls, if further results follow them.
    """
    index = TranscriptIndex(messages)
    within: set[int] = set()
    for call, result in index.result_of.items():
        roles = [message.role for message in messages[: result[0]]]
        end = next((at for at in range(call[0], result[0]) if roles[at] != "assistant"), result[0])
        if set(roles[end:]) <= {"tool", "system", "developer"}:
            within.update(range(end + 1, result[0] + 1))
    return [count for count in range(1, len(messages) + 1) if count not in within]


def _has_grown_or_ended(turn: Any, now: Any) -> bool:
    """Return whether the last message has grown. It has the field `prefix` while the model is to continue it."""
    if isinstance(turn, dict) and isinstance(now, dict) and turn.get("prefix") is True and "prefix" not in now:
        turn = {key: value for key, value in turn.items() if key != "prefix"}
    return has_grown(turn, now)


def _are_unanswered(turn: Any, following: list[Any]) -> bool:
    """Return whether a turn has instructions and no turn of the assistant follows it directly."""
    if not isinstance(turn, dict) or turn.get("role") not in ("system", "developer"):
        return False
    return any(isinstance(other, dict) and other.get("role") != "assistant" for other in following)


def opacity(source: Any, target: Any, kind: str, payload: dict[str, Any]) -> None:
    """No opaque value, such as a signature, is sent to a host that does not read the state of its issuer."""
    if source.issuer == target.issuer or not source.issuer or not target.issuer:
        # A store has no issuer: protected values in it have their own.
        raise Refused("opaque values may be sent to their issuer, and kept in a store")
    marked, marks = with_marks(payload, protected_in(decode(source, kind, payload)))
    value = decode(source, kind, marked)
    readable = readable_by(target, value)
    opaque = opaque_marks({mark: at for mark, at in marks.items() if mark not in readable}, protected_in(value))
    text = encode(target, kind, value).to_json().decode()
    for mark, path in opaque.items():
        if mark in text:
            detail = f"a value that only {source.issuer} can read was sent to {target.api}"
            raise LawBroken("opacity", path, detail, ABSENT, value_at(payload, path))


_NAMES = (CALL, NAME, RESULT)


def restoration(source: Any, target: Any, kind: str, payload: dict[str, Any]) -> None:
    """Converting to another API and back restores every value that the target can represent."""
    out = crossed(source, target, kind, payload)
    back = crossed(target, source, kind, out.payload)
    returned, between = loss_source(target, kind, out.payload), vocabulary_for(target)
    returned = returned if between.expanded is None else between.expanded(returned)
    lost_paths = {loss.path for loss in back.losses if loss.kind in COVERING}
    lost_on_return = [value_at(returned, path) for path in lost_paths]
    # Names are in other forms there, for example after a prefix.
    lost_on_return += [
        leaf.value
        for leaf in (counted(returned, msgspec.structs.replace(between, expanded=None)) if lost_paths else ())
        if leaf.sort in _NAMES and not lost_paths.isdisjoint(leaf.above)
    ]
    vocabulary, before = vocabulary_for(source), loss_source(source, kind, payload)
    if vocabulary.finish is not None and between.finish is not None:
        # The target's finish reason stands for the usual one of its meaning.
        lost_on_return += [
            vocabulary.finish.values.get(between.finish.reasons.get(finish.value, "other"))
            for finish in finishes(returned, between)
            if not lost_paths.isdisjoint(finish.above)
        ]
    names = {leaf.above[-1] for leaf in counted(before, vocabulary) if leaf.sort == NAME}
    unrestored = unaccounted(before, loss_source(source, kind, back.payload), out.losses, vocabulary, vocabulary)
    # The values of a missing object are counted separately.
    missing = [value for value in unrestored if not isinstance(value.value, dict)]
    # If several citations repeat a source's name, the target may have it only once.
    once = {value.value: value for value in missing if value.path in names}
    expected = [*once.values(), *(value for value in missing if value.path not in names)]
    for lost in unaccounted([value.value for value in expected], lost_on_return, ()):
        value = expected[int(lost.path[2:-1])]
        raise LawBroken("restoration", value.path, f"{short(value.value)} was not restored", value.value, ABSENT)


def crossed(source: Any, target: Any, kind: str, payload: Any, model: str | None = None) -> Encoded:
    """Convert a payload, like `contentmodel.convert`. Without tracing, the paths of losses refer to the model value."""
    value, trace = traced(source, kind, payload)
    encoded: Encoded
    if kind == "request":
        encoded = target.encode_request(value, None, model)
    else:
        encoded = target.encode_response(value)
    return encoded if trace is None else encoded.trace_to(*trace)


def loss_source(adapter: Any, kind: str, payload: Any) -> Any:
    """Return what the paths of losses refer to: the payload, or its model JSON if the adapter has no tracing."""
    if hasattr(adapter, f"trace_{kind}"):
        return payload
    return _without_origins(msgspec.to_builtins(decode(adapter, kind, payload)))


def _without_origins(value: Any) -> Any:
    """Return the model's JSON without origins, which payloads do not have."""
    if isinstance(value, dict):
        return {key: _without_origins(item) for key, item in value.items() if key != "origin"}
    return [_without_origins(item) for item in value] if isinstance(value, list) else value


def decode(adapter: Any, kind: str, payload: Any) -> Any:
    """Decode a payload of either kind."""
    return adapter.decode_request(payload) if kind == "request" else adapter.decode_response(payload)


def encode(adapter: Any, kind: str, value: Any) -> Encoded:
    """Encode a model value of either kind."""
    encoded: Encoded = adapter.encode_request(value) if kind == "request" else adapter.encode_response(value)
    return encoded
