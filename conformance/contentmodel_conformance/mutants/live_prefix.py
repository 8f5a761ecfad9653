"""Defects in live blocks: text that the source did not send."""

from __future__ import annotations

from typing import Any

from contentmodel.engine.streams import block_encoder
from contentmodel.engine.streams.outgoing import OutgoingBlock
from contentmodel.engine.table.codecs import ArgumentsObject
from contentmodel.json import write
from contentmodel_conformance.mutants.broken import ANTHROPIC
from contentmodel_conformance.mutants.engine.changes import OLLAMA, RESPONSES, change


@change(OutgoingBlock, "unwritten", ANTHROPIC, "live-prefix/typed")
def cuts_a_text_by_length(original: Any, self: Any, text: str) -> str:
    """Write the end of a finished text that is longer than what was sent, whether or not it continues it."""
    return text[self.sent :]


@change(block_encoder, "spelled", ANTHROPIC, "live-prefix/typed", other=OLLAMA)
def respells_finished_arguments(original: Any, text: str, typed: str) -> str:
    """Write the finished arguments as the library spells them."""
    return text


@change(OutgoingBlock, "_typed", RESPONSES, "live-prefix/typed", other=ANTHROPIC)
def repeats_arguments_in_its_own_spelling(original: Any, self: Any, arguments: Any) -> str:
    """Repeat arguments in the spelling of the library, although their pieces have another one."""
    return original(self, arguments) if arguments.__class__ is str else write(arguments).decode()


@change(ArgumentsObject, "decode", OLLAMA, "live-prefix/typed")
def keeps_the_mark_of_invalid_arguments(
    original: Any, self: Any, value: Any, context: Any, container: Any, key: Any
) -> Any:
    """Read arguments that are no JSON object as an object with one property."""
    return value
