"""Millions of payloads: functions of Arrow record batches, and jobs over files. Needs the extra `arrow`.

Each function takes a record batch (or a table) with one payload per row, and returns it with columns of results:

    convert = converter(target="anthropic-messages", column="request")
    for batch in reader:
        convert(batch)

Every engine that passes Arrow batches can run it: `datasets.map`, Ray Data, Spark, DuckDB, polars. `run_job` runs it on
files.
"""

from contentmodel.extras import needs_extra

with needs_extra("arrow", "pyarrow"):
    from contentmodel.datasets.arrow import (
        BatchFunction,
        auditor,
        checker,
        converter,
        planner,
        shower,
        statistics,
    )
    from contentmodel.datasets.errors import JobError
    from contentmodel.datasets.jobs import Progress, run_job
    from contentmodel.datasets.reports import Group, Report
    from contentmodel.datasets.shards import Settings

__all__ = [
    "BatchFunction",
    "Group",
    "JobError",
    "Progress",
    "Report",
    "Settings",
    "auditor",
    "checker",
    "converter",
    "planner",
    "run_job",
    "shower",
    "statistics",
]
