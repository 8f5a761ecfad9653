"""The lines of Claude Code's sessions: their types and fields (observed with version 2.1.330 on 2026-11-23)."""

from __future__ import annotations

from typing import Any

API = "claude-code-session"

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

CONTEXT = "context"
"""The residue entry of attachments of CONTEXT_KINDS whose messages the file does not contain."""

CONTEXT_KINDS = frozenset(
    {
        *("queued_command", "file", "already_read_file", "directory", "pdf_reference", "mcp_resource", "agent_mention"),
        *("selected_lines_in_ide", "opened_file_in_ide", "edited_text_file", "edited_image_file", "diagnostics"),
        *("nested_memory", "relevant_memories", "plan_file_reference", "invoked_skills", "teammate_mailbox"),
        *("task_status", "hook_additional_context", "hook_blocking_error", "hook_stopped_continuation"),
        *("async_hook_response", "selected_lines_in_diff", "at_mention_reference", "compact_file_reference"),
        *("account_memory_recall", "cowork_memory_context", "context_sections", "instructions", "memory_update"),
        *("project_doc_reads", "poll_events", "plugin_note", "fork_briefing", "mcp_instructions_delta"),
        *("skill_mention", "peer_mention", "artifact_opening_prefetch"),
    }
)
"""The kinds of attachments that contain values of the user or of the project. The others are about the program."""

HOOKS = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion")
"""The events of hooks whose output is sent to the model (`hook_success` of version 2.1.332, seen 2026-11-27)."""


def has_context(attachment: dict[str, Any]) -> bool:
    """Return whether an attachment contains values of the user or of the project that are sent to the model."""
    kind = attachment.get("type")
    if kind == "hook_success":
        return attachment.get("hookEvent") in HOOKS and bool(attachment.get("content"))
    return isinstance(kind, str) and kind in CONTEXT_KINDS


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
        *("todos", "thinkingMetadata", "isSnapshotUpdate", "querySource", "renderedRole", "attachment"),
        *("message.id", "message.type", "message.role", "message.model", "message.usage", "message.stop_reason"),
        *("message.stop_sequence", "message.stop_details", "message.container", "message.context_management"),
        *("queue-operation", "atis-latch", "tools-used", "cost-state", "last-prompt", "mode", "permission-mode"),
        *("file-history-snapshot", "file-history-delta", "summary", "ai-title", "custom-title", "tag", "agent-name"),
        *("agent-setting", "pr-link", "progress", "system", "api-request", "api-request-shape", "api-request-blob"),
        *("attachment.type", "attachment.content", "attachment.displayPath", "attachment.truncated"),
        *("attachment.commandMode", "attachment.origin", "attachment.source_uuid", "attachment.timestamp"),
        *("attachment.isMeta", "attachment.imagePasteIds", API_ERROR),
        *("renderedBesideToolResult", "fallback", "diagnostics", "session_id", "parent_tool_use_id"),
    )
)
"""Fields, and types of lines, whose losses are insignificant: they repeat the history, or no model receives them."""


def text_path(line: dict[str, Any], kinds: tuple[type, ...] = (str, list)) -> tuple[str, ...] | None:
    """Return the path of the content in a line of TEXTS; None if the line has none of these types there."""
    attachment = line.get("attachment")
    kind = attachment.get("type") if attachment.__class__ is dict else line.get("subtype")
    if "rendered" in line or not isinstance(kind, str):
        return None
    paths = TEXTS.get((str(line.get("type")), kind), ())
    return next((path for path in paths if value_at(line, path).__class__ in kinds), None)


def value_at(value: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path; False if there is none."""
    for key in path:
        value = value.get(key, False) if value.__class__ is dict else False
    return value


def with_value(value: dict[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
    """Return an object with a new value at a path."""
    key, *rest = path
    return {**value, key: with_value(value[key], tuple(rest), new) if rest else new}
