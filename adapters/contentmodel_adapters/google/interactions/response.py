"""The envelope of Interactions: steps, status, usage, errors (google-genai 3.4, _gaos; November 2026)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Fields,
    FinishReasons,
    Group,
    Hint,
    Record,
    finished_by_calls,
    hints,
    list_of,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common.answer import OnlyChoice, misfits
from contentmodel_adapters.google.interactions.blocks import API, ERROR, TABLE, USAGE
from contentmodel_adapters.google.interactions.messages import (
    decode_outputs,
    decode_steps,
    encode_outputs,
    encode_steps,
    is_outputs,
)

FINISH = FinishReasons(
    {
        "completed": "stop",
        "requires_action": "tool_calls",
        "incomplete": "length",
        "budget_exceeded": "length",
        "failed": "error",
        "cancelled": "cancelled",
        "in_progress": "running",
        "queued": "running",
        "requires_continuation": "pause",
    },
    {
        "stop": "completed",
        "tool_calls": "requires_action",
        "length": "incomplete",
        "error": "failed",
        "cancelled": "cancelled",
        "running": "in_progress",
        "pause": "requires_continuation",
        "content_filter": "incomplete",
    },
    "completed",
)
TABLE.known_values("status", *FINISH.reasons)
TABLE.keep(
    "response",
    *("agent", "agent_config", "background", "cached_content", "continuation_ids", "continuation_token", "environment"),
    *("environment_id", "errors", "generation_config", "input", "labels", "object", "output_audio", "output_image"),
    *("output_text", "output_video", "previous_interaction_id", "response_format", "response_mime_type"),
    *("response_modalities", "safety_settings", "service_tier", "system_instruction", "tools", "updated"),
    "webhook_config",
)

_BLOCKED = (
    *("safety", "recitation", "language", "prohibited_content", "spii", "blocklist", "content_blocked"),
    *("image_safety", "image_prohibited_content", "image_recitation", "image_other"),
)
# ai.google.dev/gemini-api/docs/api-errors (seen 2026-11-26). Other codes are the name of the HTTP status.
ERRORS = ErrorTypes(
    ("code",),
    {
        "invalid_request": {"code": "invalid_request"},
        "authentication": {"code": "authentication"},
        "billing": {"code": "payment_required"},
        "permission": {"code": "permission_denied"},
        "not_found": {"code": "not_found"},
        "conflict": {"code": "conflict"},
        "context_length": {"code": "invalid_request"},
        "too_large": {"code": "payload_too_large"},
        "rate_limit": {"code": "rate_limit_exceeded"},
        "cancelled": {"code": "cancelled"},
        "server": {"code": "api_error"},
        "overloaded": {"code": "service_unavailable"},
        "timeout": {"code": "gateway_timeout"},
    },
    {
        "parameter_unknown": "invalid_request",
        "failed_precondition": "invalid_request",
        "out_of_range": "invalid_request",
        "model_not_found": "not_found",
        "quota_exceeded": "rate_limit",
        **dict.fromkeys(_BLOCKED, "invalid_request"),
    },
)
TABLE.known_values("error.code", *ERRORS.types)

OUTPUTS = Hint[Literal[True]](API, "outputs", "the answer has the field `outputs`, which was there before `steps`")
NO_STEPS = Hint[list[Any] | None](API, "steps", "the steps of an answer that has none: null or empty")
ENDING = Fields({"finish_reason": "status", "messages": "steps"})


class Answer(OnlyChoice):
    """The only choice of an answer: its messages are the steps, its finish reason is the status."""

    keys = ("steps", "status", "outputs")
    parts = {"status": "choices.finish_reason"}

    def taken(self, wire: Mapping[str, Any]) -> Collection[str]:
        if all(wire.get(key) is None for key in self.keys):
            return ()
        has_outputs = wire.get("steps") is None and is_outputs(wire.get("outputs"))
        return [key for key in self.keys if key in wire and (key != "outputs" or has_outputs)]

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        taken = self.taken(wire)
        if not taken:
            return []
        steps, status = wire.get("steps"), wire.get("status")
        if steps is not None and steps.__class__ is not list:
            context.expected(wire, "steps", "array", steps)
        messages = decode_steps(steps, context) if steps.__class__ is list else []
        own = misfits(wire, status=str)
        if "outputs" in taken:
            messages = decode_outputs(wire["outputs"], context)
            own |= OUTPUTS.entry(True)
        if "steps" in wire and not steps:
            own |= NO_STEPS.entry(steps)
        if "status" in wire and status is None:
            own["status"] = None
        finish = FINISH.decode(status, context, wire, "status") if status.__class__ is str else None
        choice = ChatChoice(messages=messages, finish_reason=finish, extra={API: own} if own else None)
        choices = [finished_by_calls(choice)]
        context.trace(ENDING, choices, wire, None, spread=False)
        return choices

    def write_choice(
        self, choice: ChatChoice, own: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        # A stream has its contents in steps.
        has_outputs = OUTPUTS.read(own) is True and any(message.contents for message in choice.messages)
        if has_outputs:
            wire["outputs"] = encode_outputs(choice.messages, context)
        steps = [] if has_outputs else encode_steps(choice.messages, context)
        if steps or NO_STEPS.is_in(own):
            wire["steps"] = steps or NO_STEPS.read(own)
        if "status" in own:
            wire["status"] = own["status"]
        if choice.finish_reason is not None:
            wire["status"] = FINISH.encode(choice.finish_reason, context, choice)


ERROR_BODY = ErrorBody(ERROR, ERRORS)


class Failed(Group):
    """The error of a body, or the first error of a failed interaction, which has a list of them.

    The other ones stay in the residue. The errors of an interaction that did not fail are diagnostics.
    """

    attribute = "error"
    keys = ("error", "errors")

    def taken(self, wire: Mapping[str, Any]) -> Collection[str]:
        if wire.get("error").__class__ is dict:
            return ("error",)
        return ("errors",) if len(_errors(wire)) == 1 else ()

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> ErrorContent | None:
        error, errors = wire.get("error"), _errors(wire)
        if error.__class__ is dict:
            made = ERROR_BODY.decode(error, context, wire, "error")
            context.trace(ERROR, [made], wire, "error", spread=False)
        elif errors:
            made = hints.FORM.on(ERROR_BODY.decode(errors[0], context, wire, "errors"), API, "list")
            context.trace(ERROR, [made], errors, 0, spread=False)
        else:
            return None
        return made

    def encode(
        self, value: ErrorContent | None, wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        if value is None:
            return
        made = ERROR_BODY.encode_object(value, context, owner)
        if context.native and hints.FORM.of(value, API) == "list":
            wire["errors"] = [made, *list_of((owner.extra or {}).get(API, {}), "errors")[1:]]
        else:
            wire["error"] = made


def _errors(wire: Mapping[str, Any]) -> list[Any]:
    """Return the errors of a failed interaction; [] if they have another form."""
    errors = list_of(wire, "errors") if wire.get("status") == "failed" else []
    return errors if all(error.__class__ is dict for error in errors) else []


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created": "created",
        "usage": ("usage", Record(USAGE)),
    },
    Answer(),
    Failed(),
)


_COUNTED = ("total_input_tokens", "total_output_tokens", "total_tool_use_tokens", "total_thought_tokens")
