"""The lines of Codex rollouts: their types and fields."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import weighed

API = "codex-rollout"

ITEMS = frozenset(
    {
        *("message", "reasoning", "compaction", "context_compaction", "image_generation_call", "web_search_call"),
        *("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"),
        *("local_shell_call", "tool_search_call", "tool_search_output", "additional_tools"),
    }
)
"""The types of items that Codex reads (`ResponseItem`)."""

PARTS = frozenset({"input_text", "input_image", "input_audio", "output_text", "encrypted_content"})
"""The types of the parts of messages and outputs that Codex reads (`ContentItem`, `FunctionCallOutputContentItem`)."""

SNAPSHOT = "ghost_snapshot"
"""The type of items with the state of the files: Codex sends them to no model."""

PASSTHROUGH = "internal_chat_message_metadata_passthrough"
"""A field of items with metadata of the program."""

COMMUNICATION = "inter_agent_communication"
"""The type of lines with a message of another agent, which the model receives as an item of the type AGENT_MESSAGE.

Source: `InterAgentCommunication::to_model_input_item` in codex-rs/protocol of openai/codex (seen 2026-11-27).
"""
AGENT_MESSAGE = "agent_message"

SUMMARY = "Another language model started to solve this problem and produced a summary of its thinking process."
"""The beginning of the summaries of compactions, which have the role "user"."""

CONTEXT = frozenset(
    {
        *("environment_context", "user_instructions", "skill", "skills_instructions", "user_shell_command"),
        *("turn_aborted", "subagents", "subagent_notification", "recommended_plugins", "goal_context", "hook_prompt"),
    }
)
"""The tags around the texts that Codex adds with the role "user". They begin no turn, as those of an AGENTS.md do not.

Source: `ContextualUserFragment` in codex-rs/core/src/context of openai/codex (seen 2026-11-27).
"""

OF_PROGRAM = frozenset({"session_meta", "turn_context", "world_state", "compacted", "state", SNAPSHOT})
"""The types of lines with settings and states of the program, and of compactions: the history has their summary."""

NOTICES = frozenset(
    {
        *("error", "warning", "stream_error", "background_event", "deprecation_notice", "model_reroute", "turn_diff"),
        *("task_started", "turn_started", "token_count", "turn_aborted", "thread_name_updated", "session_configured"),
    }
)
"""The types of events that the program shows to the user, and that repeat no item of the history."""

RECORDS: dict[str, Any] = {
    **dict.fromkeys(("timestamp", "ordinal", "metadata", PASSTHROUGH, f"payload.{PASSTHROUGH}", "type")),
    **dict.fromkeys(("payload.id", "payload.other_recipients", "payload.trigger_turn", "payload.encrypted_content")),
    **dict.fromkeys(("output", "payload.output"), weighed),
    **dict.fromkeys((*OF_PROGRAM, "event_msg", "token_usage_record"), weighed),
    **dict.fromkeys(("inter_agent_communication_metadata", "security_risk_score"), weighed),
}
"""Fields, and types of lines, whose losses are insignificant: they repeat the history, or no model receives them.

Lines that may hold other content are kept under another name.
"""

OUTPUT = "_output"
"""The suffix of the types of items that hold the result of a call."""

ORIGINATOR = "contentmodel"
CLI_VERSION = "0.169.0"
"""The version of Codex whose files this adapter writes."""
