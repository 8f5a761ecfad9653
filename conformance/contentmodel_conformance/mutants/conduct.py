"""Broken adapters that keep all content, and have another defect."""

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

# -- side effects and order --------------------------------------------------------------------------------------------


@mutant(CHAT, "purity/sdk")
class MutatesItsInput(Broken):
    """Remove the model's name from the payload that is decoded."""

    def trace_request(self, payload: Any) -> Any:
        value, wire, trace = super().trace_request(payload)
        if isinstance(payload, dict):
            payload.pop("model", None)
        return value, wire, trace


@mutant(CHAT, "purity/sdk")
class MutatesTheModel(Broken):
    """Empty the list of tools of the request that is encoded."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind == "request":
            payload = {**payload, "tools": list(payload["tools"])} if "tools" in payload else payload
            value.tools.clear()
        return payload


@mutant(CHAT, "tracing/foreign")
class ForgetsWhatItReplaced(Broken):
    """Discard the record of which contents were replaced."""

    def encode_request(self, request: Any, policies: Any = None, model: str | None = None) -> Any:
        encoded = super().encode_request(request, policies, model)
        encoded._context.replacements.clear()
        return encoded


@mutant(CHAT, "purity/sdk")
class RemembersEarlierPayloads(Broken):
    """Number all encoded payloads."""

    count = 0

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        self.count += 1
        return {**payload, "number": self.count}


@mutant(CHAT, "purity/sdk")
class WritesInAnyOrder(Broken):
    """Encode keys in alternating order, so that equal values give different bytes."""

    turn = False

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        self.turn = not self.turn
        return dict(sorted(payload.items(), reverse=self.turn))


@mutant(CHAT, "key-order/payloads")
class DependsOnTheOrderOfKeys(Broken):
    """Decode the model's name only if it is the first key, and else keep it as an unknown field."""

    def trace_request(self, payload: Any) -> Any:
        value, wire, trace = super().trace_request(payload)
        if value.model is None or next(iter(wire)) == "model":
            return value, wire, trace
        residue = {**(value.extra or {}).get(CHAT, {}), "model": value.model}
        return replace(value, model=None, extra={**(value.extra or {}), CHAT: residue}), wire, trace


@mutant(CHAT, "model-json/sdk")
class DecodesToATuple(Broken):
    """Decode a list to a tuple, which becomes a list after saving and loading."""

    def decoded(self, kind: str, value: Any) -> Any:
        return replace(value, extra={**(value.extra or {}), "notes": {"keys": (1, 2)}})


@mutant(CHAT, "schema-fits/sdk", "model-json/sdk")
class HoldsWrongTypes(Broken):
    """Decode the ids of messages as numbers instead of strings."""

    def decoded(self, kind: str, value: Any) -> Any:
        return with_messages(value, [replace(message, message_id=1) for message in messages_of(value)])


# -- unexpected input --------------------------------------------------------------------------------------------------


@mutant(CHAT, "disturbance/anywhere", "totality/json")
class RaisesKeyError(Broken):
    """Require every message to have a role."""

    def read(self, kind: str, payload: Any) -> Any:
        if kind == "request" and isinstance(payload, dict):
            [message["role"] for message in payload["messages"]]
        return payload


@mutant(CHAT, "refusal/hard", "refusal/cut")
class AcceptsAnything(Broken):
    """Decode invalid payloads as empty ones."""

    def trace_request(self, payload: Any) -> Any:
        try:
            return super().trace_request(payload)
        except ContentModelError:
            return super().trace_request({"messages": []})


@mutant(CHAT, "totality/deep")
class RecursesWithoutBound(Broken):
    """Recurse for each level of nesting, and exceed the limit before the parser does."""

    def decoded(self, kind: str, value: Any) -> Any:
        changed(value.extra, lambda item: item)
        return value


@mutant(CHAT, "detection/written")
class RecognisesAnswersAsRequests(Broken):
    """Score every payload higher as a request than as an answer."""

    def recognises(self, payload: dict[str, Any]) -> dict[str, float]:
        return {"request": 1.0, "response": 0.5}


@mutant(CHAT, "face/adapter")
class HasNoRules(Broken):
    """Omit the method `check_request`."""

    check_request = None


@mutant(ANTHROPIC, "coverage/sdk")
class HasNoRowForThinking(Broken):
    """Omit the row for thinking blocks, which the SDK's types have."""

    def describe(self) -> Any:
        described = self.inner.describe()
        unions = {
            name: {**union, "rows": [row for row in union["rows"] if "thinking" not in row["name"]]}
            for name, union in described["unions"].items()
        }
        return {**described, "unions": unions}


@mutant(CHAT, "bounds/requests")
class ComparesEachWithEach(Broken):
    """Compare each message with all messages."""

    def decoded(self, kind: str, value: Any) -> Any:
        for message in messages_of(value):
            for other in messages_of(value):
                _is_the_same(message, other)
        return value


@mutant(CHAT, "bounds/requests")
class CopiesAllEarlierMessages(Broken):
    """Copy all encoded messages for each message that is encoded."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        messages: list[Any] = []
        for message in payload.get("messages", ()):
            messages = [earlier for earlier in messages if not _is_the_same(earlier, message)]
            messages.append(message)
        return {**payload, "messages": messages} if messages else payload


@mutant(CHAT, "bounds/responses")
class ComparesLosses(Broken):
    """Compare each loss with all earlier ones."""

    def claimed(self, losses: tuple[Loss, ...], value: Any) -> tuple[Loss, ...]:
        return tuple(loss for at, loss in enumerate(losses) if not any(loss == other for other in losses[:at]))


def _is_the_same(one: Any, other: Any) -> bool:
    return one is other


@mutant(CHAT, "conversion/anywhere")
class TrustsTheClassOfRestoredFields(Broken):
    """Require unknown fields of other APIs to be hashable when a payload is encoded."""

    def to_write(self, kind: str, value: Any) -> Any:
        for message in messages_of(value):
            for content in message.contents:
                for fields in (content.extra or {}).values():
                    {known: field for field, known in fields.items()}
        return value
