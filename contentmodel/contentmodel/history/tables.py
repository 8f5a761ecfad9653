"""The tables of the newest version of the schema. `migrations` has the steps from version to version."""

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

from contentmodel.history.columns import AnyText, Json, Moment

METADATA = MetaData()
KIND = "kind"
"""The key of a column's `info` for the class of its JSON value, if there is only one."""

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
    # No cascade: it would nest as deep as the conversation is long. One statement deletes a turn and its successors.
    Column("previous", ForeignKey("turns.id")),
    Column("number", Integer, nullable=False),
    Column("is_branch", Boolean, nullable=False),
    Column("role", String, nullable=False),
    Column("status", String, nullable=False),
    Column("model", AnyText),
    Column("origin", Json),
    Column("stop_reason", AnyText),
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
# Query planners only use an index on an expression, or a partial index, if a query contains the same expression.
followed = func.coalesce(turns.c.previous, text("''"))
"""The id of the previous turn; "" at the start."""
NOT_COMPLETE = text("turns.status <> 'complete'")
"""The condition for turns that are open, failed or interrupted, which are few."""

# A turn has one successor. Further successors must be branches.
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
    Column("block_type", AnyText, nullable=False),
    Column("text_content", AnyText),
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
    Column("text", AnyText),
    Column("content", Json),
    Column("created_at", Moment, nullable=False),
    Column("number", Integer, nullable=False, server_default=text("0")),
    # No cascade: entries are deleted with their conversation, in one statement.
    Column("parent", ForeignKey("log_entries.id")),
    Index("log_entries_number", "conversation", "number", unique=True),
    Index("log_entries_turn", "turn"),
    Index("log_entries_parent", "parent"),
)
