"""Media of several APIs: names of audio formats, and links that only one provider can fetch."""

from __future__ import annotations

from contentmodel.authoring import MappedEnum

AUDIO = MappedEnum(
    {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/opus", "aac": "audio/aac"}
)
"""`input_audio.format` of OpenAI's APIs: the short name of a format, where others have a media type."""

GOOGLE_FILES = ("https://generativelanguage.googleapis.com/", "https://aiplatform.googleapis.com/")
"""Files of Gemini's Files API need the key of their owner (ai.google.dev/gemini-api/docs/files, seen 2026-11-22)."""
