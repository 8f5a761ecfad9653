"""The loop that runs tools: ask the model, run what it calls, tell it the results, until it calls no more.

Needs the extra `tools`. `import contentmodel` loads none of this.
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
