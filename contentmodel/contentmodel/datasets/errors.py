"""The errors of jobs."""

from __future__ import annotations

from contentmodel.errors import ContentModelError


class JobError(ContentModelError):
    """Raised if a job cannot start, or stopped. Finished shards are kept; the same command runs the others."""
