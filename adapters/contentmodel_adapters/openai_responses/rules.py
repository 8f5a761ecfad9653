"""What the API refuses, ignores or answers badly in a request."""

from __future__ import annotations

from contentmodel.rules import Rules

RULES = Rules("openai-responses")
