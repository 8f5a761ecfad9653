"""The tables, as the newest version of the schema has them; `migrations` says how each version came to be."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    func,
    text,
)

from contentmodel.history.columns import Json, Moment, Words

METADATA = MetaData()
KIND = "kind"
"""The key of a column's `info` that has the class of its JSON, where it is always of one."""

conversations = Table(
    "conversations",
    METADATA,
    Column("id", String, primary_key=True),
    Column("head", String),
    Column("turn_count", Integer, nullable=False),
    Column("last_number", Integer, nullable=False),
    Column("settings", Json, info={KIND: dict}),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("conversations_created", "created_at", "id"),
)

turns = Table(
    "turns",
    METADATA,
    Column("id", String, primary_key=True),
    Column("conversation", ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    # Turns are deleted with those that follow, in one statement: cascades would nest as deep as a conversation is long.
    Column("previous", ForeignKey("turns.id")),
    Column("number", Integer, nullable=False),
    Column("is_branch", Boolean, nullable=False),
    Column("role", String, nullable=False),
    Column("status", String, nullable=False),
    Column("model", Words),
    Column("origin", Json),
    Column("stop_reason", Words),
    Column("usage", Json),
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("error", Json),
    Column("envelope", Json, info={KIND: dict}),
    Column("layout", Json, info={KIND: list}),
    Column("writer", String),
    UniqueConstraint("conversation", "number", name="turns_number"),
    Index("turns_previous", "previous"),
    Index(
        "turns_not_complete",
        "status",
        "writer",
        postgresql_where=text("status <> 'complete'"),
        sqlite_where=text("status <> 'complete'"),
    ),
)
# Planners take an index on an expression, or on some rows, for queries that say the same in the same words.
followed = func.coalesce(turns.c.previous, text("''"))
"""The id of the turn that a turn follows, empty at the start."""
NOT_COMPLETE = text("turns.status <> 'complete'")
"""Turns that are open, failed or interrupted: few of many."""

# A turn is followed by one turn; by others only where they were begun as branches.
Index(
    "turns_follow_once",
    turns.c.conversation,
    followed,
    unique=True,
    postgresql_where=~turns.c.is_branch,
    sqlite_where=turns.c.is_branch == text("0"),
)

turn_blocks = Table(
    "turn_blocks",
    METADATA,
    Column("turn", ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("block_type", Words, nullable=False),
    Column("text_content", Words),
    Column("content", Json),
    Column("rest", Json, info={KIND: dict}),
)

log_entries = Table(
    "log_entries",
    METADATA,
    Column("id", String, primary_key=True),
    Column("conversation", ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("turn", ForeignKey("turns.id", ondelete="SET NULL")),
    Column("kind", String, nullable=False),
    Column("text", Words),
    Column("content", Json),
    Column("created_at", Moment, nullable=False),
    Column("number", Integer, nullable=False, server_default=text("0")),
    # Entries are deleted with their conversation, in one statement, as turns are.
    Column("parent", ForeignKey("log_entries.id")),
    Index("log_entries_number", "conversation", "number", unique=True),
    Index("log_entries_turn", "turn"),
    Index("log_entries_parent", "parent"),
)
