"""The versions of the schema, and the migration steps between them, which run when a store is opened.

Never change a released step. If a table changes later, copy its old definition into the step that created it.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    inspect,
    select,
    text,
)

from contentmodel.history.columns import AnyText, Json, Moment
from contentmodel.history.errors import SchemaError
from contentmodel.history.tables import METADATA, conversations, turn_blocks, turns

SCHEMA = Table("contentmodel_schema", MetaData(), Column("version", Integer, nullable=False))
LOCK = 0x636F6E74656E74
"""The key of the PostgreSQL advisory lock that a migration holds: "content" in ASCII."""


def _turns_and_blocks(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[conversations, turns, turn_blocks], checkfirst=False)


def _conversation_log(connection: Connection) -> None:
    conversation = ForeignKey(conversations.c.id, ondelete="CASCADE")
    Table(
        "log_entries",
        MetaData(),
        Column("id", String, primary_key=True),
        Column("conversation", conversation, nullable=False),
        Column("turn", ForeignKey(turns.c.id, ondelete="SET NULL")),
        Column("kind", String, nullable=False),
        Column("text", AnyText),
        Column("content", Json),
        Column("created_at", Moment, nullable=False),
        Index("log_entries_created", "conversation", "created_at", "id"),
        Index("log_entries_turn", "turn"),
    ).create(connection, checkfirst=False)


def _log_in_order(connection: Connection) -> None:
    """Add the column `parent`, and number the entries in the order in which they were added."""
    for statement in (
        "ALTER TABLE log_entries ADD COLUMN number INTEGER DEFAULT 0 NOT NULL",
        "ALTER TABLE log_entries ADD COLUMN parent VARCHAR REFERENCES log_entries (id)",
        "UPDATE log_entries SET number = (SELECT count(*) FROM log_entries AS other"
        " WHERE other.conversation = log_entries.conversation"
        " AND (other.created_at, other.id) <= (log_entries.created_at, log_entries.id))",
        "CREATE UNIQUE INDEX log_entries_number ON log_entries (conversation, number)",
        "CREATE INDEX log_entries_parent ON log_entries (parent)",
        "DROP INDEX log_entries_created",
    ):
        connection.execute(text(statement))


STEPS: tuple[Callable[[Connection], None], ...] = (_turns_and_blocks, _conversation_log, _log_in_order)
"""STEPS[n] migrates a database from version n to version n + 1. Version 0 is empty."""

VERSION = len(STEPS)


def migrate(connection: Connection, *, to: int = VERSION) -> int:
    """Migrate the database to a version of the schema, in the transaction of `connection`. Return the old version.

    Raise SchemaError if the version is newer than this library's, or if the tables belong to another program.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    version = _version(connection)
    if version > VERSION:
        raise SchemaError(
            f"this database has version {version} of the schema, but this library supports version {VERSION}: "
            "upgrade contentmodel"
        )
    for step in STEPS[version:to]:
        step(connection)
    if version < to:
        connection.execute(SCHEMA.update().values(version=to))
    return version


def _version(connection: Connection) -> int:
    names = set(inspect(connection).get_table_names())
    if SCHEMA.name not in names:
        foreign = sorted(names & set(METADATA.tables))
        if foreign:
            raise SchemaError(
                f"this database has tables of another program ({', '.join(foreign)}): "
                "use a separate database for the store"
            )
        SCHEMA.create(connection)
        connection.execute(SCHEMA.insert().values(version=0))
    versions = connection.execute(select(SCHEMA.c.version)).scalars().all()
    if len(versions) != 1:
        raise SchemaError(f"{SCHEMA.name} must have one row, the version of the schema, but it has {len(versions)}")
    if versions[0].__class__ is not int or versions[0] < 0:
        raise SchemaError(f"{SCHEMA.name} has the version {versions[0]!r}: expected an integer of 0 or more")
    return versions[0]
