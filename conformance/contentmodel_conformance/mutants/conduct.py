"""Broken adapters that keep what is said, and are no good to work with."""

from __future__ import annotations

from typing import Any

from contentmodel import ContentModelError, Loss
from contentmodel_conformance.mutants.broken import (
    ANTHROPIC,
    CHAT,
    Broken,
    changed,
    messages_of,
    mutant,
    replace,
    with_messages,
)

# -- what depends on something else ------------------------------------------------------------------------------------


@mutant(CHAT, "purity/sdk")
class MutatesItsInput(Broken):
    """Takes the model's name out of the payload that it was given."""

    def trace_request(self, payload: Any) -> Any:
        value, wire, trace = super().trace_request(payload)
        if isinstance(payload, dict):
            payload.pop("model", None)
        return value, wire, trace


@mutant(CHAT, "purity/sdk")
class MutatesTheModel(Broken):
    """Empties the list of tools that it was given to write."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind == "request":
            payload = {**payload, "tools": list(payload["tools"])} if "tools" in payload else payload
            value.tools.clear()
        return payload


@mutant(CHAT, "tracing/foreign")
class ForgetsWhatItReplaced(Broken):
    """Keeps no record of which contents it put in the place of others."""

    def encode_request(self, request: Any, policies: Any = None, model: str | None = None) -> Any:
        encoded = super().encode_request(request, policies, model)
        encoded._context.replacements.clear()
        return encoded


@mutant(CHAT, "purity/sdk")
class RemembersEarlierPayloads(Broken):
    """Numbers what it writes, across all that it ever wrote."""

    count = 0

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        self.count += 1
        return {**payload, "number": self.count}


@mutant(CHAT, "purity/sdk")
class WritesInAnyOrder(Broken):
    """Writes its keys in the order of a set: the same value, and other bytes each time."""

    turn = False

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        self.turn = not self.turn
        return dict(sorted(payload.items(), reverse=self.turn))


@mutant(CHAT, "key-order/payloads")
class DependsOnTheOrderOfKeys(Broken):
    """Knows the model's name where it stands first, and keeps it as any field where it does not."""

    def trace_request(self, payload: Any) -> Any:
        value, wire, trace = super().trace_request(payload)
        if value.model is None or next(iter(wire)) == "model":
            return value, wire, trace
        own = {**(value.extra or {}).get(CHAT, {}), "model": value.model}
        return replace(value, model=None, extra={**(value.extra or {}), CHAT: own}), wire, trace


@mutant(CHAT, "model-json/sdk")
class HoldsWhatJsonCannot(Broken):
    """Puts a tuple into the model, which is something else as soon as the model is saved."""

    def decoded(self, kind: str, value: Any) -> Any:
        return replace(value, extra={**(value.extra or {}), "notes": {"keys": (1, 2)}})


@mutant(CHAT, "schema-fits/sdk", "model-json/sdk")
class HoldsWrongTypes(Broken):
    """Numbers the messages where the model wants the text of an id."""

    def decoded(self, kind: str, value: Any) -> Any:
        return with_messages(value, [replace(message, message_id=1) for message in messages_of(value)])


# -- what is not expected ----------------------------------------------------------------------------------------------


@mutant(CHAT, "disturbance/anywhere", "totality/json")
class RaisesKeyError(Broken):
    """Takes for granted that every message says its role."""

    def read(self, kind: str, payload: Any) -> Any:
        if kind == "request" and isinstance(payload, dict):
            [message["role"] for message in payload["messages"]]
        return payload


@mutant(CHAT, "refusal/hard", "refusal/cut")
class AcceptsAnything(Broken):
    """Takes what is no payload at all for an empty one."""

    def trace_request(self, payload: Any) -> Any:
        try:
            return super().trace_request(payload)
        except ContentModelError:
            return super().trace_request({"messages": []})


@mutant(CHAT, "totality/deep")
class RecursesWithoutBound(Broken):
    """Walks into what it has parsed with a function for each level, and ends long before the parser does."""

    def decoded(self, kind: str, value: Any) -> Any:
        changed(value.extra, lambda item: item)
        return value


@mutant(CHAT, "detection/written")
class TakesAnswersForRequests(Broken):
    """Is surer that an answer is a request."""

    def recognises(self, payload: dict[str, Any]) -> dict[str, float]:
        return {"request": 1.0, "response": 0.5}


@mutant(CHAT, "face/adapter")
class HasNoRules(Broken):
    """Cannot be asked what its API refuses."""

    check_request = None


@mutant(ANTHROPIC, "coverage/sdk")
class KnowsNoThoughts(Broken):
    """Has no row for a block that its SDK has a type for."""

    def describe(self) -> Any:
        described = self.inner.describe()
        unions = {
            name: {**union, "rows": [row for row in union["rows"] if "thinking" not in row["name"]]}
            for name, union in described["unions"].items()
        }
        return {**described, "unions": unions}


@mutant(CHAT, "bounds/requests")
class ComparesEachWithEach(Broken):
    """Looks at all earlier messages again for each message."""

    def decoded(self, kind: str, value: Any) -> Any:
        for message in messages_of(value):
            for other in messages_of(value):
                _is_the_same(message, other)
        return value


@mutant(CHAT, "bounds/requests")
class CopiesAllThatItHasWritten(Broken):
    """Looks through all messages that it has written for each message that it writes."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        messages: list[Any] = []
        for message in payload.get("messages", ()):
            messages = [one for one in messages if not _is_the_same(one, message)]
            messages.append(message)
        return {**payload, "messages": messages} if messages else payload


@mutant(CHAT, "bounds/responses")
class ComparesLosses(Broken):
    """Compares each loss with all others, to report each once."""

    def claimed(self, losses: tuple[Loss, ...], value: Any) -> tuple[Loss, ...]:
        return tuple(loss for at, loss in enumerate(losses) if not any(loss == other for other in losses[:at]))


def _is_the_same(one: Any, other: Any) -> bool:
    return one is other


@mutant(CHAT, "conversion/anywhere")
class TrustsTheClassOfRestoredFields(Broken):
    """Takes a field that only another API knows for a text or a number when it writes a payload."""

    def to_write(self, kind: str, value: Any) -> Any:
        for message in messages_of(value):
            for content in message.contents:
                for fields in (content.extra or {}).values():
                    {known: field for field, known in fields.items()}
        return value
