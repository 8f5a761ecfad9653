"""Define tools, offer them to every provider, validate their input, and convert their results to contents.

Needs the extra `tools`. `import contentmodel` does not import this package.
"""

from contentmodel.extras import needs_extra

with needs_extra("tools", "docstring_parser", "jsonschema", "pydantic", "re2"):
    from contentmodel.tools.cancellation import Cancellation
    from contentmodel.tools.config import ToolFile, ToolFileError, ToolFileWarning, load_tools
    from contentmodel.tools.definition import Tool, tool
    from contentmodel.tools.faults import InputFault, ToolInputError
    from contentmodel.tools.input import Input, validate_input
    from contentmodel.tools.outcome import ToolOutcome, contents_of, error_of, result_of
    from contentmodel.tools.schema import ToolDefinitionError, UnenforcedPattern
    from contentmodel.tools.sets import ToolSet, UnknownToolError, bind
    from contentmodel.tools.signature import ToolContext
    from contentmodel.tools.validation import InputLimits

__all__ = [
    "Cancellation",
    "Input",
    "InputFault",
    "InputLimits",
    "Tool",
    "ToolContext",
    "ToolDefinitionError",
    "ToolFile",
    "ToolFileError",
    "ToolFileWarning",
    "ToolInputError",
    "ToolOutcome",
    "ToolSet",
    "UnenforcedPattern",
    "UnknownToolError",
    "bind",
    "contents_of",
    "error_of",
    "load_tools",
    "result_of",
    "tool",
    "validate_input",
]
