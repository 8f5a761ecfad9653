"""Where a transcript can be sliced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.message import ChatMessage
from contentmodel.pairs import TranscriptIndex


def split_points(messages: Sequence[ChatMessage], *, prefix_bound: bool = True) -> list[int]:
    """The positions `i` where `messages[:i]` and `messages[i:]` are both whole: 0 and `len(messages)` always are.

    A cut between the two would split a call from its result or from an approval request about it, a question (an
    approval request, an input request) from its answer, or reasoning from the item that it led to. Newer models of
    Anthropic bind each signature to all that stands before it (a 400 `prefix_mismatch`, anthropic 2.11 beta types):
    then nothing before a signed thought is a place to cut. `prefix_bound=False` leaves that out, for models whose
    signatures bind nothing.
    """
    unsafe = [0] * (len(messages) + 1)
    for first, last in (*_pairs(messages), *_reasoning(messages)):
        # A cut at first + 1 up to last stands between the two.
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
    """The first and the last message of each pair."""
    index = TranscriptIndex(messages)
    for pairs in (index.result_of, index.response_of):
        yield from ((first[0], second[0]) for first, second in pairs.items())
    yield from ((call[0], places[-1][0]) for call, places in index.approvals_of.items())


def _reasoning(messages: Sequence[ChatMessage]) -> Iterator[tuple[int, int]]:
    """Protected reasoning at the end of one message of the assistant, and the next one, which it led to."""
    for index in range(len(messages) - 1):
        last = messages[index].contents[-1] if messages[index].contents else None
        if isinstance(last, ReasoningContent) and last.protected and messages[index + 1].role == "assistant":
            yield index, index + 1


def _sealed(messages: Sequence[ChatMessage]) -> Iterator[int]:
    """The messages that hold state bound to all before it."""
    for index, message in enumerate(messages):
        thoughts = (c for c in message.contents if isinstance(c, ReasoningContent | CompactionContent))
        if any(thought.protected and thought.protected.issuer == "anthropic" for thought in thoughts):
            yield index
