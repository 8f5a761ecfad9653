"""Persistent conversations: turns and blocks stored in SQLite or PostgreSQL.

Needs `contentmodel[history]`; for PostgreSQL `contentmodel[postgresql]` as well.
"""

from contentmodel.extras import needs_extra

# Without greenlet, SQLAlchemy raises an ImportError of its own.
with needs_extra("history", "sqlalchemy", "greenlet"):
    from contentmodel.history.asynchronous import AsyncTurnStore
    from contentmodel.history.claude_sessions import ClaudeSessionStore
    from contentmodel.history.errors import (
        ConflictError,
        DamagedError,
        HistoryError,
        InvalidTurnError,
        NotFoundError,
        SchemaError,
    )
    from contentmodel.history.log import ConversationLog, record_notices
    from contentmodel.history.log_async import AsyncConversationLog, arecord_notices
    from contentmodel.history.log_entries import InvalidEntryError, LogEntry
    from contentmodel.history.recording import arecord, record
    from contentmodel.history.store import TurnStore
    from contentmodel.history.turns import START, STATUSES, Block, Conversation, Status, StoredTurn, Turn

__all__ = [
    "START",
    "STATUSES",
    "AsyncConversationLog",
    "AsyncTurnStore",
    "Block",
    "ClaudeSessionStore",
    "ConflictError",
    "Conversation",
    "ConversationLog",
    "DamagedError",
    "HistoryError",
    "InvalidEntryError",
    "InvalidTurnError",
    "LogEntry",
    "NotFoundError",
    "SchemaError",
    "Status",
    "StoredTurn",
    "Turn",
    "TurnStore",
    "arecord",
    "arecord_notices",
    "record",
    "record_notices",
]
