"""Media of several APIs: names of audio formats, links that only one provider can fetch, and modalities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import Codec, EncodeContext, MappedEnum, reasons
from contentmodel.content.media import HostedFileContent
from contentmodel.content.media_types import usual_media_type

AUDIO = MappedEnum(
    {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/opus", "aac": "audio/aac"}
)
"""`input_audio.format` of OpenAI's APIs: the short name of a format, where others have a media type."""

GOOGLE_FILES = ("https://generativelanguage.googleapis.com/", "https://aiplatform.googleapis.com/")
"""Files of Gemini's Files API need the key of their owner (ai.google.dev/gemini-api/docs/files, seen 2026-11-22)."""


def typed_file(content: HostedFileContent, context: EncodeContext) -> HostedFileContent:
    """Return a stored file with the usual media type of its kind, for formats without a field for the kind."""
    media_type = None if content.media_type is not None else usual_media_type(content.kind)
    if media_type is None:
        return content
    context.report_loss(content, "media_type", reasons.GUESSED_MEDIA_TYPE, media_type=media_type)
    typed: HostedFileContent = context.replace(content, media_type=media_type)
    return typed


# -- modalities --------------------------------------------------------------------------------------------------------


class Modalities(Codec[list[str]]):
    """A list of modalities.

    Values of the same API stay as they are. Values of another API are respelled; unknown ones are lost.
    """

    classes = (list,)
    identity = False

    def __init__(self, spell: Callable[[str], str], *names: str) -> None:
        self._spell, self._names = spell, frozenset(names)

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and bool(value) and all(name.__class__ is str for name in value)

    def decode(self, value: Any, context: Any, container: Any, key: str) -> Any:
        return value

    def encode(self, value: list[str], context: EncodeContext, owner: Any) -> Any:
        if context.native:
            return value
        spelled = [self._spell(name) for name in value]
        supported = [name for name in spelled if name in self._names]
        if len(supported) < len(spelled):
            context.report_loss(owner, "options.modalities", reasons.NO_MODALITY)
        return supported or None

    def describe(self) -> str:
        return "list[str]"
