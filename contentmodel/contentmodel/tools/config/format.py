"""The format of a tool configuration file: a list of tools of four types.

The classes here define the format. The published JSON Schema is generated from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta

Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
METHODS: Final[tuple[str, ...]] = get_args(Method)
"""The methods that a call may have. CONNECT and TRACE are excluded: a TRACE response may contain credentials."""
SAVE: Final = "InternalSaveChatMessage"
"""The tool that saves a message of the conversation. It is not offered to the model."""
LOAD: Final = "InternalGetChatMessages"
"""The tool that loads the messages of the conversation. It is not offered to the model."""
INTERNAL: Final = (SAVE, LOAD)

_ONE_OF = {"oneOf": [{"required": ["path"]}, {"required": ["query"], "not": {"required": ["method"]}}]}
Text = Annotated[str, Meta(min_length=1)]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a tool configuration file. Unknown keys are faults."""


class Function(Part, frozen=True, kw_only=True):
    """The declaration of a tool, as the model sees it. `parameters` is the JSON Schema of an object.

    `strict` asks the provider to enforce the schema.
    """

    name: Text
    description: str | None = None
    parameters: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})
    strict: bool | None = None


class Api(Part, frozen=True, kw_only=True):
    """A call of an API by the executor `name`: a `path` of a REST API, or a GraphQL or SQL `query`.

    `path` begins with a slash. It can contain `{argument}` placeholders in its segments and in the values of its query
    parameters. `method` is only allowed with `path`; the default is GET.
    """

    name: Text = "default"
    path: Text = ""
    method: Method = "GET"
    query: Text = ""


class ApiTool(Part, frozen=True, kw_only=True, tag_field="type", tag="api"):
    """A tool that calls an API. `context` names the parameters that the caller supplies instead of the model."""

    function: Function
    context: list[Text] = []
    api: Annotated[Api, Meta(extra_json_schema=_ONE_OF)]


class LocalTool(Part, frozen=True, kw_only=True, tag_field="type", tag="local"):
    """A tool that is a Python function, registered by the application under the tool's name."""

    function: Function
    context: list[Text] = []


class ClientTool(Part, frozen=True, kw_only=True, tag_field="type", tag="client"):
    """A tool that the application runs: it is declared to the model, and its calls are returned to the caller."""

    function: Function
    context: list[Text] = []


class DeclaredTool(Part, frozen=True, kw_only=True, tag_field="type", tag="function"):
    """A tool in the format of OpenAI's Chat Completions API. It is declared to the model, like a `client` tool."""

    function: Function
    context: list[Text] = []


Entry = ApiTool | LocalTool | ClientTool | DeclaredTool
KINDS: Final[dict[str, type[Entry]]] = {
    "api": ApiTool,
    "local": LocalTool,
    "client": ClientTool,
    "function": DeclaredTool,
}


@dataclass(frozen=True)
class Operation:
    """The input of an executor: one call of an API, as defined in the file.

    `tool` is the name of the tool. Either `path` and `method` are set, or `query`. `parameters` are the names of the
    possible arguments, which all need a place in the call. `supplied` are these and other available arguments. `body`
    are the arguments that a call puts into its body, unless its path contains them.
    """

    tool: str
    method: str = "GET"
    path: str = ""
    query: str = ""
    parameters: frozenset[str] = frozenset()
    supplied: frozenset[str] = frozenset()
    body: frozenset[str] = frozenset()


def tool_file_schema() -> dict[str, Any]:
    """Return the JSON Schema (Draft 2020-12) of a tool configuration file."""
    schema = msgspec.json.schema(list[Entry])
    for part in schema["$defs"].values():
        part["description"] = " ".join(part["description"].split())
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Tool configuration file"}
    return {**head, **schema}
