"""Texts of an answer at APIs whose clients join them: an empty line separates distinct texts.

Chat Completions has one text. Clients of generateContent join the texts of neighbouring parts, and must in streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline import foreign
from contentmodel.engine.pipeline.foreign import with_citations_of_texts
from contentmodel.engine.pipeline.steps import is_alone, needs_alone
from contentmodel.engine.streams.block_encoder import AmendingEncoder
from contentmodel.engine.streams.encoder import Place
from contentmodel.engine.streams.outgoing import OutgoingBlock, Written
from contentmodel.engine.table.unions import Union
from contentmodel.json import JsonObject
from contentmodel.message import ChatMessage, contents_of

EMPTY_LINE = "\n\n"


class JoinedTexts:
    """The written texts of one answer, and whether the next one needs an empty line before it.

    Texts that follow each other in the source are one text in pieces. If another content is between them in the source,
    they are two texts.
    """

    def __init__(self) -> None:
        self.size = 0
        """The number of characters that were written."""
        self._end = ""
        self._is_parted = False

    def part(self) -> None:
        """Separate the texts so far from those that follow: another content is between them."""
        self._is_parted = True

    def end(self) -> None:
        """Forget the texts so far: a content that the target has already separates them from those that follow."""
        self._end = ""

    def before(self, text: str) -> str:
        """Return the separator before the next text; "" if it needs none."""
        needs_line = self._is_parted and text and self._end and not self._end.endswith(EMPTY_LINE)
        return EMPTY_LINE if needs_line else ""

    def beginning(self, block: OutgoingBlock, grow: Callable[[str], bytes]) -> Callable[[str], bytes]:
        """Return a function that writes the first piece of a live block with its separator. `grow` writes the rest."""

        def begin(text: str) -> bytes:
            block.grow = grow
            return grow(self.before(text) + text)

        return begin

    def add(self, text: str) -> str:
        """Count the next text. Return what is written for it: the separator and the text."""
        if not text:
            return ""
        written = self.before(text) + text
        self._is_parted = False
        self.size += len(written)
        self._end = (self._end + written)[-len(EMPTY_LINE) :]
        return written

    def append(self, text: str) -> None:
        """Count text that is written without a separator."""
        self.size += len(text)
        self._end = (self._end + text)[-len(EMPTY_LINE) :]


class JoiningEncoder(AmendingEncoder):
    """A stream encoder for an API whose clients join texts."""

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self._texts: dict[int, JoinedTexts] = {}

    def texts_of(self, block: OutgoingBlock | Written) -> JoinedTexts:
        """Return the texts of the block's choice."""
        texts = self._texts.get(block.choice)
        if texts is None:
            texts = self._texts[block.choice] = JoinedTexts()
        return texts

    def start(self, block: OutgoingBlock) -> None:
        if block.content.__class__ is not TextContent and self.completes:
            self.texts_of(block).part()

    def joining(self, block: OutgoingBlock, grow: Callable[[str], bytes]) -> Callable[[str], bytes]:
        """Return the function that writes a live text, with a separator before it if it needs one."""
        return self.texts_of(block).beginning(block, grow) if self.completes else grow

    def add_text(self, block: OutgoingBlock, text: str) -> str:
        """Count the text of a block. Return what is written for it.

        A content of another type that is written as text starts a separate text.
        """
        texts = self.texts_of(block)
        written = texts.add(text)
        if block.content.__class__ is not TextContent and self.completes:
            texts.part()
        return written

    def write_more(self, place: Place, wire: Any) -> None:
        message = {name: value for name, value in wire.items() if name != "role"}
        if message:
            self.put_message(place[0], message)

    def put_message(self, choice: int, message: JsonObject) -> None:
        """Write the fields of a message that continues a choice."""
        raise NotImplementedError


@needs_alone(*foreign.NORMALIZED)
def with_normalized_texts(
    messages: list[ChatMessage],
    context: EncodeContext,
    *,
    cites: bool = False,
    blocks: Union | None = None,
    has_errors: bool = True,
) -> list[ChatMessage]:
    """Return the normalized messages of an answer, with empty lines between distinct texts.

    An answer of this API stays as it is. `cites` is passed to `normalize_answer`. Contents that `blocks` has rows for
    already separate texts. If not `has_errors`, or if `blocks` has no row for an error, it becomes a text.
    """
    if is_alone(messages):
        return foreign.normalize_answer(messages, context, cites=cites)
    messages = with_citations_of_texts(messages, context)
    normalized = foreign.normalize_answer(messages, context, cites=cites)
    if not context.completes:
        return normalized
    has_errors = has_errors and (blocks is None or blocks.has(ErrorContent, native=False))
    return _with_separated_texts(normalized, messages, context, blocks, has_errors=has_errors)


def _with_separated_texts(
    normalized: list[ChatMessage],
    source: list[ChatMessage],
    context: EncodeContext,
    blocks: Union | None,
    *,
    has_errors: bool,
) -> list[ChatMessage]:
    if sum(bool(_text_in(content, has_errors=has_errors)) for content in contents_of(normalized)) < 2:
        return normalized
    originals = list(contents_of(source))
    texts = {id(content) for content in originals if content.__class__ is TextContent}
    joined, following = JoinedTexts(), iter(originals)
    messages = []
    for message in normalized:
        contents: list[Any] = []
        for content in message.contents:
            text = _text_in(content, has_errors=has_errors)
            if content.__class__ is TextContent or text:
                is_original = id(content) in texts
                if not is_original or _skips(following, content):
                    joined.part()
                if joined.before(text):
                    contents.append(context.replaced(content, TextContent(text=EMPTY_LINE)))
                joined.add(text)
            elif blocks is not None and blocks.has(content.__class__, native=False):
                joined.end()
            contents.append(content)
        messages.append(context.with_contents(message, contents))
    return messages


def _text_in(content: Any, *, has_errors: bool) -> str:
    """Return the text of a content, also that of an error at an API that has none."""
    if content.__class__ is TextContent:
        return str(content.text)
    return "" if has_errors or content.__class__ is not ErrorContent else content.message or content.code or ""


def _skips(contents: Iterator[Any], wanted: Any) -> bool:
    """Advance to a content. Return whether others come before it; empty texts do not count."""
    before = takewhile(lambda content: content is not wanted, contents)
    return sum(not foreign.is_empty_text(content) for content in before) > 0
