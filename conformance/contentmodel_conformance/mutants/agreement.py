"""Broken adapters that misread what they write back: each undoes in the encoder what its decoder does.

No law of round trips finds them. A reader that does not know the adapter does.
"""

from __future__ import annotations

from typing import Any

from contentmodel import ChatMessage, TextContent
from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, Broken, mutant, replace

_CHECK = "agreement/crossing"


class Exchanging(Broken):
    """Changes answers by an exchange that undoes itself, when it decodes and when it encodes."""

    def exchanged(self, answer: Any) -> Any:
        """Return an answer with an exchange."""
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
    """Takes the tokens of the prompt for those of the completion, and the other way round."""

    one, other = "input_tokens", "output_tokens"


@mutant(ANTHROPIC, _CHECK, "example/given")
class ExchangesCacheCounters(_Counters):
    """Takes the tokens read from the cache for those written to it, and the other way round."""

    one, other = "cache_read_tokens", "cache_write_tokens"


@mutant(CHAT, _CHECK, "example/given")
class ReadsLengthAsStop(Exchanging):
    """Takes an answer that reached its limit for one that is complete, and the other way round."""

    def exchanged(self, answer: Any) -> Any:
        return replace(answer, choices=[_ended(choice) for choice in answer.choices])


_ENDS = {"stop": "length", "length": "stop"}


def _ended(choice: Any) -> Any:
    finish = choice.finish_reason
    if finish is None:
        return choice
    return replace(choice, finish_reason=replace(finish, reason=_ENDS.get(finish.reason, finish.reason)))


@mutant(CHAT, _CHECK)
class TakesInstructionsForWords(Broken):
    """Takes instructions for the words of a user."""

    def decoded(self, kind: str, value: Any) -> Any:
        if kind == "response":
            return value
        first, rest = value.instructions[:1], value.instructions[1:]
        said = [ChatMessage(role="user", contents=first, origin=value.origin)] if first else []
        heard = [replace(message, role="user") if message.role == "system" else message for message in value.messages]
        return replace(value, instructions=rest, messages=[*said, *heard])


@mutant(ANTHROPIC, _CHECK)
class GluesTexts(Broken):
    """Makes one text of the first two of a user's turn."""

    def decoded(self, kind: str, value: Any) -> Any:
        if kind == "response":
            return value
        return replace(value, messages=[_glued(message) for message in value.messages])


def _glued(message: Any) -> Any:
    texts, rest = message.contents[:2], message.contents[2:]
    if message.role != "user" or not all(isinstance(content, TextContent) for content in texts) or len(texts) < 2:
        return message
    return replace(message, contents=[replace(texts[0], text=texts[0].text + texts[1].text), *rest])
