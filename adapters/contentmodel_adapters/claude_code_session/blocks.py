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
        *("renderedBesideToolResult", "fallback", "diagnostics", "session_id", "parent_tool_use_id"),
    )
)
"""Fields, and types of lines, whose losses are insignificant: they repeat the history, or no model receives them."""
