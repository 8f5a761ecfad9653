"""The adapter of Microsoft.Extensions.AI (.NET): lists of ChatMessage, and ChatResponse, as JSON."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import content_step, foreign, with_error_mark
from contentmodel.content.citations import Citation
from contentmodel.content.text import TextContent
from contentmodel_adapters.common.citations import in_unit
from contentmodel_adapters.frameworks.extensions_ai import answers
from contentmodel_adapters.frameworks.extensions_ai import contents as extensions_ai
from contentmodel_adapters.frameworks.extensions_ai.meai.blocks import API, NAMES, REQUEST, RESPONSE, TABLE
from contentmodel_adapters.frameworks.extensions_ai.meai.rules import RULES

WITH_SPANS = content_step(in_unit, TextContent, attribute="annotations", needs=(Citation,), unit=NAMES.unit)
WITH_MARKS = content_step(with_error_mark, *foreign.RESULTS, native=True, needs=foreign.RESULTS)


class ExtensionsAI(answers.WithAnswers):
    """The adapter of lists of ChatMessage, alone or in the field `messages` of a thread, and of ChatResponse."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    takes_json = True
    keeps_approvals = True
    records = frozenset({"message_id", "created"})
    reasoning_fields = ("reasoning",)
    request_steps = (*extensions_ai.STEPS, WITH_SPANS, WITH_MARKS)
    answer_steps = (*answers.MESSAGE_STEPS, WITH_SPANS, WITH_MARKS)
    of_answers = frozenset({"responseId", "modelId", "createdAt", "finishReason", "usage", "continuationToken"})

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of this format: their contents have a `$type`."""
        return extensions_ai.recognised(items, NAMES.tag)


adapter = ExtensionsAI()
