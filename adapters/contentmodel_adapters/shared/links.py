"""Links that only one provider can fetch, by how they begin."""

from __future__ import annotations

GOOGLE_FILES = ("https://generativelanguage.googleapis.com/", "https://aiplatform.googleapis.com/")
"""Files of Gemini's Files API need the key of their owner (ai.google.dev/gemini-api/docs/files, seen 2026-11-22)."""
