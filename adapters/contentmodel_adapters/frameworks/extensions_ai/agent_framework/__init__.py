"""The adapter of conversations of Microsoft Agent Framework (Python): lists of messages."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import DUMPERS, content_step
from contentmodel.content.citations import Citation
from contentmodel.content.text import TextContent
from contentmodel_adapters.common.citations import in_unit
from contentmodel_adapters.frameworks.extensions_ai import answers
from contentmodel_adapters.frameworks.extensions_ai import contents as extensions_ai
from contentmodel_adapters.frameworks.extensions_ai.agent_framework.blocks import API, NAMES, REQUEST, RESPONSE, TABLE
from contentmodel_adapters.frameworks.extensions_ai.agent_framework.rules import RULES

WITH_SPANS = content_step(in_unit, TextContent, attribute="annotations", needs=(Citation,), unit=NAMES.unit)
TYPES_OF_ANSWERS = ("chat_response", "agent_response", "agent_run_response")


class AgentFramework(answers.WithAnswers):
    """The adapter of lists of messages, alone or in the field `messages` of an object, and of answers."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    takes_json = True
    keeps_approvals = True
    records = frozenset({"message_id"})
    meaningless = {
        "type": ("message", "chat_message", "role", "usage_details", "finish_reason", *TYPES_OF_ANSWERS),
        "additional_properties": {},
        "hosted": False,
        "user_input_request": True,
        "exception": "FunctionInvocationError",
        # `result` repeats the texts of `items`, and `media_type` repeats a part of `uri`.
        "result": None,
        "media_type": None,
    }
    reasoning_fields = ("reasoning",)
    request_steps = (*extensions_ai.STEPS, WITH_SPANS)
    answer_steps = (*answers.MESSAGE_STEPS, WITH_SPANS)
    types_of_answers = TYPES_OF_ANSWERS
    of_answers = frozenset({"response_id", "model", "created_at", "finish_reason", "usage_details"})

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of this format: each has its type."""
        return extensions_ai.recognised(items, NAMES.tag, ("message", "chat_message"))


def _dumped(value: Any) -> Any:
    """Return an object of the library as the library stores it."""
    return value.to_dict()


DUMPERS["agent_framework"] = _dumped
adapter = AgentFramework()
