"""What can go wrong with a store, by who is at fault."""

from __future__ import annotations

from contentmodel.errors import ContentModelError


class HistoryError(ContentModelError):
    """The base of the errors of stores. Raised as it is where the database itself fails; the cause is that error."""


class ConflictError(HistoryError):
    """Somebody else was there first: another turn follows already, another writer writes, the block is another."""


class NotFoundError(HistoryError, LookupError):
    """There is no such conversation, or no such turn in it."""


class InvalidTurnError(HistoryError, ValueError):
    """A turn or a block is not one that a store keeps: its role or its shape is wrong."""


class DamagedError(HistoryError):
    """What is stored cannot be read: the file is damaged, or something else than a store wrote the row.

    The message names the store, the table, the row and the column, as far as they are known.
    """


class SchemaError(HistoryError):
    """The database is of a newer version of this library, or somebody else's."""
