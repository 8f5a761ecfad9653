"""Load tools from JSON configuration files, and execute them with REST, GraphQL and SQL.

Needs the extra `tools`. Executors also need a client: httpx2, or SQLAlchemy and a driver.
"""

from contentmodel.tools.config.executors import Executor
from contentmodel.tools.config.faults import (
    ExecutorError,
    ExecutorTimeoutError,
    MessageStoreError,
    ToolContextError,
    ToolFileError,
    ToolFileFault,
    ToolFileWarning,
)
from contentmodel.tools.config.file import ToolFile
from contentmodel.tools.config.format import Operation, tool_file_schema
from contentmodel.tools.config.graphql import GraphQLExecutor
from contentmodel.tools.config.load import load_tools
from contentmodel.tools.config.messages import MessageLog
from contentmodel.tools.config.rest import RestExecutor
from contentmodel.tools.config.sql import SqlExecutor

__all__ = [
    "Executor",
    "ExecutorError",
    "ExecutorTimeoutError",
    "GraphQLExecutor",
    "MessageLog",
    "MessageStoreError",
    "Operation",
    "RestExecutor",
    "SqlExecutor",
    "ToolContextError",
    "ToolFile",
    "ToolFileError",
    "ToolFileFault",
    "ToolFileWarning",
    "load_tools",
    "tool_file_schema",
]
