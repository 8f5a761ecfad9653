"""Rules of fine-tuning files: which lines OpenAI refuses.

Sources: developers.openai.com/api/docs/guides/supervised-fine-tuning, vision-fine-tuning and
cookbook.openai.com/examples/chat_finetuning_data_prep.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.common import rules
from contentmodel_adapters.datasets.finetune.blocks import API

RULES = Rules(API)
SOURCE = "cookbook.openai.com/examples/chat_finetuning_data_prep"
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
rules.declare(RULES, ROLES, SOURCE)


@RULES.rule("refused", fix="add an answer of the assistant", source=SOURCE)
def answer_required(line: dict[str, Any]) -> Iterator[Broken]:
    """A line must have an assistant message: the model is trained on it."""
    if not any(message.get("role") == "assistant" for _, message in objects(line, "messages")):
        yield "$.messages", "no assistant message"


@RULES.rule("refused", fix="set it to 0 or 1", source=SOURCE)
def weights_are_binary(line: dict[str, Any]) -> Iterator[Broken]:
    """Only assistant messages may have a weight, which must be 0 or 1."""
    for path, message in objects(line, "messages"):
        weight = message.get("weight")
        if weight is not None and (message.get("role") != "assistant" or weight not in (0, 1)):
            yield f"{path}.weight", f"{weight!r:.60} in a message of the role {message.get('role')!r:.60}"


@RULES.rule("refused", fix="move it to a user message", source="guides/vision-fine-tuning")
def images_in_user_messages(line: dict[str, Any]) -> Iterator[Broken]:
    """Only user messages may contain images."""
    for path, message in objects(line, "messages"):
        for at, part in objects(message, "content", path) if message.get("role") != "user" else ():
            if part.get("type") == "image_url":
                yield at, f"an image in a message of the role {message.get('role')!r:.60}"
