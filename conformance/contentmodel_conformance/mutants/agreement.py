"""Broken adapters with decoders that swap values, and encoders that swap them back.

Laws of round trips do not find them. Independent readers do.
"""

from __future__ import annotations

from typing import Any

from contentmodel import ChatMessage, TextContent
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, Broken, mutant, replace

_CHECK = "agreement/crossing"


class Exchanging(Broken):
    """A broken adapter that swaps values of answers, both in its decoder and in its encoder."""

    def exchanged(self, answer: Any) -> Any:
        """Return an answer with its values swapped."""
        return answer

    def decoded(self, kind: str, value: Any) -> Any:
        return self.exchanged(value) if kind == "response" else value

    def to_write(self, kind: str, value: Any) -> Any:
        return self.exchanged(value) if kind == "response" else value


class _Counters(Exchanging):
    one, other = "", ""

    def exchanged(self, answer: Any) -> Any:
        usage = answer.usage
        if usage is None:
            return answer
        values = {self.one: getattr(usage, self.other), self.other: getattr(usage, self.one)}
        return replace(answer, usage=replace(usage, **values))


@mutant(CHAT, _CHECK, "example/given")
class ExchangesTokens(_Counters):
    """Swap the tokens of the prompt and of the completion."""

    one, other = "input_tokens", "output_tokens"


@mutant(ANTHROPIC, _CHECK, "example/given")
class ExchangesCacheCounters(_Counters):
    """Swap the tokens read from the cache and those written to it."""

    one, other = "cache_read_tokens", "cache_write_tokens"


@mutant(CHAT, _CHECK, "example/given")
class ReadsLengthAsStop(Exchanging):
    """Swap the finish reasons for a complete answer and for one that reached its limit."""

    def exchanged(self, answer: Any) -> Any:
        return replace(answer, choices=[_ended(choice) for choice in answer.choices])


_ENDS = {"stop": "length", "length": "stop"}


def _ended(choice: Any) -> Any:
    finish = choice.finish_reason
    if finish is None:
        return choice
    return replace(choice, finish_reason=replace(finish, reason=_ENDS.get(finish.reason, finish.reason)))


@mutant(CHAT, _CHECK)
class DecodesInstructionsAsUserText(Broken):
    """Decode instructions as messages of the user."""

    def decoded(self, kind: str, value: Any) -> Any:
        if kind == "response":
            return value
        first, others = value.instructions[:1], value.instructions[1:]
        instructions = [ChatMessage(role="user", contents=first, origin=value.origin)] if first else []
        messages = [
            replace(message, role="user") if message.role == "system" else message for message in value.messages
        ]
        return replace(value, instructions=others, messages=[*instructions, *messages])


@mutant(ANTHROPIC, _CHECK)
class JoinsUserTexts(Broken):
    """Join the first two texts of a user message."""

    def decoded(self, kind: str, value: Any) -> Any:
        if kind == "response":
            return value
        return replace(value, messages=[_glued(message) for message in value.messages])


def _glued(message: Any) -> Any:
    texts, rest = message.contents[:2], message.contents[2:]
    if message.role != "user" or not all(isinstance(content, TextContent) for content in texts) or len(texts) < 2:
        return message
    return replace(message, contents=[replace(texts[0], text=texts[0].text + texts[1].text), *rest])
