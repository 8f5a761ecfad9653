"""The adapter of OpenAI's fine-tuning files, JSON Lines: one line is one conversation, and one payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import media, request_step, with_fitting_calls
from contentmodel_adapters.common import documents
from contentmodel_adapters.datasets.finetune.blocks import API, REQUEST, TABLE
from contentmodel_adapters.datasets.finetune.rules import RULES

READS = media.MediaSupport(("image/png", "image/jpeg", "image/webp"), ("image/*",), ("http", "https", "data"))
KEYS = {"messages", "tools", "parallel_tool_calls", "functions"}


class OpenAIFinetune(documents.DocumentAdapter):
    """The adapter of lines for supervised fine-tuning."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    # The format has no reasoning.
    reasoning_fields = ()
    refused = {
        "preferred_output": "a pair of answers (DPO) is not a conversation: convert `input` with each of its answers",
    }
    request_steps = documents.usual_steps(
        READS,
        request_step(with_fitting_calls, ids=documents.ANYTHING, names=documents.ANYTHING, detach_media="always"),
    )

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the confidence that a payload is a line. Only lines have weights; a request also has a model."""
        if "preferred_output" in payload and "non_preferred_output" in payload:
            # Decoding states why a pair is no conversation.
            return {"request": 0.9}
        messages = payload.get("messages")
        if not isinstance(messages, list) or not self.have_roles(messages):
            return {}
        if payload.keys() - KEYS:
            return {"request": 0.1}
        return {"request": 0.95 if any("weight" in message for message in messages) else 0.3}


adapter = OpenAIFinetune()
