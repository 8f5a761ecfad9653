"""The tool loop: call the model, run the tools that it calls, send their results, and repeat until it calls none.

Needs the extra `tools`. `import contentmodel` does not import this package.
"""

from contentmodel.runner.aio import AsyncRunStream, AsyncToolRunner
from contentmodel.runner.keeping import MessageStore
from contentmodel.runner.observer import Observer
from contentmodel.runner.report import (
    OUTCOMES,
    STOPS,
    CallRecord,
    RunInterrupted,
    RunReport,
    RunResult,
    answered,
)
from contentmodel.runner.sync import RunStream, ToolRunner

__all__ = [
    "OUTCOMES",
    "STOPS",
    "AsyncRunStream",
    "AsyncToolRunner",
    "CallRecord",
    "MessageStore",
    "Observer",
    "RunInterrupted",
    "RunReport",
    "RunResult",
    "RunStream",
    "ToolRunner",
    "answered",
]
