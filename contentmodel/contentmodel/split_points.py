"""Find the positions where a transcript can be split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.message import ChatMessage
from contentmodel.pairs import TranscriptIndex


def split_points(messages: Sequence[ChatMessage], *, prefix_bound: bool = True) -> list[int]:
    """Return the positions `i` where `messages[:i]` and `messages[i:]` are both valid, including 0 and `len(messages)`.

    Other positions would separate a call from its result or its approval request, a request for approval or input from
    its response, or reasoning from the item that follows it. Newer models of Anthropic bind each signature to all
    earlier content (a 400 `prefix_mismatch`, anthropic 2.11 beta types), so positions before signed reasoning are
    excluded. Pass `prefix_bound=False` for models whose signatures are not bound to earlier content.
    """
    unsafe = [0] * (len(messages) + 1)
    for first, last in (*_pairs(messages), *_reasoning(messages)):
        # Positions from first + 1 to last separate the two.
        unsafe[first + 1] += 1
        unsafe[last + 1 if last < len(messages) else last] -= 1
    sealed = max(_sealed(messages), default=0) if prefix_bound else 0
    cuts, depth = [], 0
    for position, change in enumerate(unsafe):
        depth += change
        if position in (0, len(messages)) or (depth == 0 and position > sealed):
            cuts.append(position)
    return cuts


def _pairs(messages: Sequence[ChatMessage]) -> Iterator[tuple[int, int]]:
    """Yield the indices of the first and the last message of each pair."""
    index = TranscriptIndex(messages)
    for pairs in (index.result_of, index.response_of):
        yield from ((first[0], second[0]) for first, second in pairs.items())
    yield from ((call[0], places[-1][0]) for call, places in index.approvals_of.items())


def _reasoning(messages: Sequence[ChatMessage]) -> Iterator[tuple[int, int]]:
    """Yield the indices of a message that ends with protected reasoning and of the assistant message after it."""
    for index in range(len(messages) - 1):
        last = messages[index].contents[-1] if messages[index].contents else None
        if isinstance(last, ReasoningContent) and last.protected and messages[index + 1].role == "assistant":
            yield index, index + 1


def _sealed(messages: Sequence[ChatMessage]) -> Iterator[int]:
    """Yield the indices of messages with opaque state that is bound to all earlier content."""
    for index, message in enumerate(messages):
        thoughts = (c for c in message.contents if isinstance(c, ReasoningContent | CompactionContent))
        if any(thought.protected and thought.protected.issuer == "anthropic" for thought in thoughts):
            yield index
