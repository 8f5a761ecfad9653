"""The errors of jobs."""

from __future__ import annotations

from contentmodel.errors import ContentModelError


class JobError(ContentModelError):
    """A job cannot start, or stopped. Its finished shards are kept, and the same command continues with the others."""
