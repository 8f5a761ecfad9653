"""The lines of Claude Code's sessions: their types and fields (observed with version 2.1.330 on 2026-11-23)."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import Inner, strings_in, weighed
from contentmodel_adapters.sessions.lines import value_at

API = "claude-code-session"
INNER = Inner("anthropic-messages", "messages")

CHAIN = ("parentUuid", "logicalParentUuid")
"""The fields with the id of the line before. After a compaction, the first is null, and the second is set."""

COMMON = ("isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch")
"""The fields of each line with a message. A new line copies them from the line before it."""

SHAPE = ("system", "tools")
"""The fields of a line `api-request-shape`: the instructions and tools of requests, as the Messages API has them."""

VERSION = "2.1.330"
"""The version of Claude Code whose files this adapter writes."""

SYNTHETIC = "<synthetic>"
"""The model of answers that the program makes itself."""

API_ERROR = "api-error"
"""The residue entry of lines with an error of the API: the program shows them, and sends them to no model."""

TEXTS: dict[tuple[str, str], tuple[tuple[str, ...], ...]] = {
    ("attachment", "queued_command"): (("attachment", "prompt"),),
    ("attachment", "file"): (("attachment", "content", "file", "content"), ("attachment", "content")),
    ("system", "local_command"): (("content",),),
}
"""The paths of the content that Claude Code sends with the role "user", by the type and the kind of the line.

These are prompts typed during a turn, files of the user, and outputs of the user's commands (`normalizeMessagesForAPI`,
`normalizeAttachmentForAPI` of version 2.1, seen 2026-11-27). A line with `rendered` has the sent messages there.
"""

SUPERSEDED = "superseded"
"""The residue entry of lines that a later line with the same id replaces."""

CONTEXT = "context"
"""The residue entry of attachments with values of the user or of the project, whose messages the file does not contain.

An attachment of an unknown kind may have such values.
"""

PROGRAM_KINDS = frozenset(
    {
        *("environment", "model", "date", "date_change", "skill_listing", "dynamic_skill", "prompt_snapshot"),
        *("deferred_tools_delta", "agent_listing_delta", "command_permissions", "structured_output", "session_context"),
        *("total_tokens_reminder", "token_usage", "output_token_usage", "budget_usd", "max_turns_reached"),
        *("todo", "todo_reminder", "task_reminder", "verify_plan_reminder", "compaction_reminder"),
        *("plan_mode", "plan_mode_reentry", "plan_mode_exit", "auto_mode", "auto_mode_exit", "output_style"),
        *("critical_system_reminder", "companion_intro", "ultrathink_effort", "hook_success", "hook_cancelled"),
        *("hook_non_blocking_error", "hook_error_during_execution", "hook_system_message", "hook_permission_decision"),
    }
)
"""The kinds of attachments about the program: its settings, its limits and its reminders."""

HOOKS = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion")
"""The events of hooks whose output is sent to the model (`hook_success` of version 2.1.332, seen 2026-11-27)."""


def has_context(attachment: dict[str, Any]) -> bool:
    """Return whether an attachment may contain values of the user or of the project that are sent to the model."""
    kind = attachment.get("type")
    if kind == "hook_success":
        return attachment.get("hookEvent") in HOOKS and bool(attachment.get("content"))
    if isinstance(kind, str) and kind in PROGRAM_KINDS:
        return False
    return any(strings_in([value for key, value in attachment.items() if key != "type"]))


NOTICES = frozenset(
    {
        *("compact_boundary", "microcompact_boundary", "informational", "api_error", "api_metrics", "turn_duration"),
        *("stop_hook_summary", "away_summary", "model_refusal_fallback", "memory_saved", "agents_killed"),
        *("bridge_status", "permission_retry", "scheduled_task_fire", "init", "status", "hook_response"),
    }
)
"""The subtypes of lines `system` with notices of the program, which are sent to no model."""

PROGRESS = frozenset({"bash_progress", "powershell_progress", "hook_progress", "mcp_progress", "query_update"})
"""The types of lines `progress` that repeat a part of a later result."""

OF_PROGRAM = frozenset(
    {
        *("atis-latch", "tools-used", "cost-state", "last-prompt", "mode", "permission-mode", "pr-link"),
        *("file-history-snapshot", "file-history-delta", "summary", "ai-title", "custom-title", "tag", "agent-name"),
        *("agent-setting", "api-request", "api-request-shape", "attachment", API_ERROR),
    }
)
"""The residue entries of lines with states, titles and errors of the program, and of attachments about it."""

RECORDS: dict[str, Any] = dict.fromkeys(
    (
        *COMMON,
        *CHAIN,
        *("uuid", "type", "timestamp", "requestId", "requestRef", "requestedModel", "promptId", "permissionMode"),
        *("promptSource", "turnOrigin", "turnPosition", "apiBlockIndex", "effort", "perTurnEffort", "madeBy", "slug"),
        *("thinkingDurationMs", "thinkingDisplay", "promptCacheRequested", "toolInputStreamMs", "requestSessionId"),
        *("sourceToolAssistantUUID", "sourceToolUseID", "permissionDecision", "sandboxed", "toolDenialKind"),
        *("imagePasteIds", "isVisibleInTranscriptOnly", "isMeta", "isCompactSummary", "isApiErrorMessage", "origin"),
        *("turnCompanion", "queueSkipAttachments", "agentId", "attributionAgent", "teamName", "level", "subtype"),
        *("isSnapshotUpdate", "querySource", "renderedRole"),
        *("message.id", "message.type", "message.role", "message.model", "message.usage", "message.stop_reason"),
        *("message.stop_sequence", "message.stop_details", "message.container", "message.context_management"),
        *("attachment.type", "attachment.displayPath", "attachment.truncated"),
        *("attachment.commandMode", "attachment.origin", "attachment.source_uuid", "attachment.timestamp"),
        *("attachment.isMeta", "attachment.imagePasteIds"),
        *("renderedBesideToolResult", "fallback", "diagnostics", "session_id", "parent_tool_use_id"),
    )
) | dict.fromkeys(
    (
        *("todos", "thinkingMetadata", "attachment", "attachment.content", SUPERSEDED, "queue-operation", "progress"),
        *("system", "api-request-blob", *OF_PROGRAM),
    ),
    weighed,
)
"""Fields, and types of lines, whose losses are insignificant: they repeat the history, or no model receives them.

Lines that may hold other content are kept under another name.
"""


def text_path(line: dict[str, Any], kinds: tuple[type, ...] = (str, list)) -> tuple[str, ...] | None:
    """Return the path of the content in a line of TEXTS; None if the line has none of these types there."""
    attachment = line.get("attachment")
    kind = attachment.get("type") if attachment.__class__ is dict else line.get("subtype")
    if "rendered" in line or not isinstance(kind, str):
        return None
    paths = TEXTS.get((str(line.get("type")), kind), ())
    return next((path for path in paths if value_at(line, path).__class__ in kinds), None)


def with_value(value: dict[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
    """Return an object with a new value at a path."""
    key, *rest = path
    return {**value, key: with_value(value[key], tuple(rest), new) if rest else new}
