"""The errors of stores."""

from __future__ import annotations

from contentmodel.errors import ContentModelError


class HistoryError(ContentModelError):
    """The base class of the errors of stores. Raised directly if the database fails, with its error as the cause."""


class ConflictError(HistoryError):
    """A conflict with stored data: the turn already has a successor or another writer, or the block differs."""


class NotFoundError(HistoryError, LookupError):
    """The conversation, turn or log entry does not exist."""


class InvalidTurnError(HistoryError, ValueError):
    """A turn or a block cannot be stored: its role, its shape or its name is invalid."""


class DamagedError(HistoryError):
    """Stored data cannot be read: the file is damaged, or another program wrote the row.

    The message contains the store, the table, the row and the column, if they are known.
    """


class SchemaError(HistoryError):
    """The schema of the database is of a newer version of this library, or of another program."""
