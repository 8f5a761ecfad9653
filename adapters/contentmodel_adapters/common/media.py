"""Media of several APIs: names of audio formats, and links that only one provider can fetch."""

from __future__ import annotations

from contentmodel.authoring import EncodeContext, MappedEnum, reasons
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
