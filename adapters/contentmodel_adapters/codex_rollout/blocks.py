"""The lines of Codex rollouts: their types and fields."""

from __future__ import annotations

from typing import Any

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

RECORDS: dict[str, Any] = dict.fromkeys(
    (
        *("timestamp", "ordinal", "metadata", PASSTHROUGH, f"payload.{PASSTHROUGH}", "output", "payload.output"),
        *("session_meta", "turn_context", "event_msg", "token_usage_record", "world_state", "compacted", "state"),
        *("inter_agent_communication_metadata", "security_risk_score", SNAPSHOT),
        *("payload.id", "payload.other_recipients", "payload.trigger_turn", "payload.encrypted_content"),
    )
)
"""Fields, and types of lines, whose losses are insignificant: they repeat the history, or no model receives them."""
RECORDS["type"] = None

OUTPUT = "_output"
"""The suffix of the types of items that hold the result of a call."""

ORIGINATOR = "contentmodel"
CLI_VERSION = "0.169.0"
"""The version of Codex whose files this adapter writes."""
