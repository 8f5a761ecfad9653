"""The names that the installed SDKs define at each position of a payload: tags of unions, names of fields.

Owns the positions. Independent of adapters: `coverage` compares a table's description with these sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

import msgspec

from contentmodel.errors import MissingExtraError
from contentmodel.extras import needs_extra
from contentmodel_conformance.oracles.sdks import SDKS, envelope
from contentmodel_conformance.oracles.shapes import ListOf, Literals, MapOf, Record, Shape, members, shape_of

__all__ = ["Coverage", "coverage", "missing_types", "sdk_types"]

# A position is read along paths: `request:messages.content=tool_result.content` leads to the content of those
# blocks in messages whose type or role may be `tool_result`. Lists and unions have no step in a path.
Paths: TypeAlias = tuple[str, ...]

_ANTHROPIC: dict[str, Paths] = {
    "request.content": ("request:messages.content",),
    "response.content": ("response:content",),
    "tool_result.content": ("request:messages.content=tool_result.content",),
    "system.content": ("request:system",),
    "citations.request": ("request:messages.content=text.citations",),
    "citations.response": ("response:content=text.citations",),
    "tools": ("request:tools",),
    "tool_choice": ("request:tool_choice",),
    "thinking": ("request:thinking",),
    "image.source": ("request:messages.content=image.source",),
    "document.source": ("request:messages.content=document.source",),
    "server_tool_use.name": (
        "request:messages.content=server_tool_use.name",
        "response:content=server_tool_use.name",
    ),
    "caller": ("request:messages.content.caller", "response:content.caller"),
    "stop_reason": ("response:stop_reason",),
    "usage.fields": ("response:usage",),
    "usage.iterations": ("response:usage.iterations",),
    "request.fields": ("request:",),
    "response.fields": ("response:",),
}
_CHAT: dict[str, Paths] = {
    "message.roles": ("request:messages",),
    "user.content": ("request:messages=user.content",),
    "assistant.content": ("request:messages=assistant.content",),
    "tool_calls": ("request:messages.tool_calls", "response:choices.message.tool_calls"),
    "annotations": ("response:choices.message.annotations",),
    "tools": ("request:tools",),
    "tool_choice": ("request:tool_choice",),
    "response_format": ("request:response_format",),
    "finish_reason": ("response:choices.finish_reason",),
    "usage.fields": ("response:usage",),
    "request.fields": ("request:",),
    "response.fields": ("response:",),
    "choice.fields": ("response:choices",),
    "message.fields": ("response:choices.message",),
}
_RESPONSES: dict[str, Paths] = {
    "input.items": ("request:input",),
    "output.items": ("response:output",),
    "input.content": ("request:input=user.content",),
    "output.content": ("response:output=message.content",),
    "tool_output.content": (
        "request:input=function_call_output.output",
        "request:input=custom_tool_call_output.output",
        "request:input=computer_call_output.output",
    ),
    "annotations": ("response:output=message.content.annotations",),
    "tools": ("request:tools", "response:tools"),
    "tool_choice": ("request:tool_choice", "response:tool_choice"),
    "text.format": ("request:text.format", "response:text.format"),
    "web_search.action": ("request:input=web_search_call.action", "response:output=web_search_call.action"),
    "code_interpreter.outputs": (
        "request:input=code_interpreter_call.outputs",
        "response:output=code_interpreter_call.outputs",
    ),
    "computer.actions": (
        "request:input=computer_call.action",
        "request:input=computer_call.actions",
        "response:output=computer_call.action",
        "response:output=computer_call.actions",
    ),
    "shell.outcome": (
        "request:input=shell_call_output.output.outcome",
        "response:output=shell_call_output.output.outcome",
    ),
    "apply_patch.operation": (
        "request:input=apply_patch_call.operation",
        "response:output=apply_patch_call.operation",
    ),
    "status": ("response:status",),
    "incomplete.reason": ("response:incomplete_details.reason",),
    "usage.fields": ("response:usage",),
    "request.fields": ("request:",),
    "response.fields": ("response:",),
}
_GOOGLE: dict[str, Paths] = {
    "part.fields": ("request:contents.parts", "response:candidates.content.parts"),
    "tool.members": ("request:tools",),
    "finish_reason": ("response:candidates.finishReason",),
    "tool_type": ("request:contents.parts.toolCall.toolType",),
    "usage.fields": ("response:usageMetadata",),
    "candidate.fields": ("response:candidates",),
    "request.fields": ("request:",),
    "response.fields": ("response:",),
    "generation_config.fields": ("request:generationConfig",),
    "grounding.fields": ("response:candidates.groundingMetadata",),
    "function_calling.mode": ("request:toolConfig.functionCallingConfig.mode",),
}
_INTERACTIONS: dict[str, Paths] = {
    "steps": ("request:input", "response:steps"),
    "content": (
        "request:input=user_input.content",
        "request:input=model_output.content",
        "response:steps=model_output.content",
    ),
    "content of a result": (
        "request:input=function_result.result",
        "request:input=mcp_server_tool_result.result",
        "response:steps=mcp_server_tool_result.result",
    ),
    "annotations": (
        "request:input=model_output.content.annotations",
        "response:steps=model_output.content.annotations",
    ),
    "tools": ("request:tools",),
    "response_format": ("request:response_format",),
    "status": ("response:status",),
    "usage.fields": ("response:usage",),
    "request.fields": ("request:",),
    "response.fields": ("response:",),
    "generation_config.fields": ("request:generation_config",),
}
_MISTRAL: dict[str, Paths] = {
    "message.roles": ("request:messages",),
    "content": ("request:messages.content", "response:choices.message.content"),
    "thinking": ("request:messages.content=thinking.thinking",),
    "tools": ("request:tools",),
    "tool_choice": ("request:tool_choice",),
    "response_format": ("request:response_format",),
    "finish_reason": ("response:choices.finish_reason",),
    "usage.fields": ("response:usage",),
    "request.fields": ("request:",),
    "response.fields": ("response:",),
}
_COHERE: dict[str, Paths] = {
    "message.roles": ("request:messages",),
    "user.content": ("request:messages=user.content",),
    "assistant.content": ("request:messages=assistant.content", "response:message.content"),
    "tool.content": ("request:messages=tool.content",),
    "tool_calls": ("request:messages.tool_calls", "response:message.tool_calls"),
    "citation.sources": ("request:messages.citations.sources", "response:message.citations.sources"),
    "citation.type": ("request:messages.citations.type", "response:message.citations.type"),
    "tools": ("request:tools",),
    "tool_choice": ("request:tool_choice",),
    "response_format": ("request:response_format",),
    "finish_reason": ("response:finish_reason",),
    "usage.fields": ("response:usage",),
    "request.fields": ("request:",),
    "response.fields": ("response:",),
}
_OLLAMA: dict[str, Paths] = {
    "request.fields": ("request:",),
    "options.fields": ("request:options",),
    "message.fields": ("request:messages", "response:message"),
    "response.fields": ("response:",),
}
_BEDROCK: dict[str, Paths] = {
    "message.roles": ("request:messages",),
    "content.members": ("request:messages.content", "response:output.message.content"),
    "system.members": ("request:system",),
    "tool_result.members": ("request:messages.content.toolResult.content",),
    "reasoning.members": ("request:messages.content.reasoningContent",),
    "guard.members": ("request:messages.content.guardContent",),
    "document.source.members": ("request:messages.content.document.source",),
    "location.members": ("request:messages.content.citationsContent.citations.location",),
    **{
        f"{kind}.format": (f"request:messages.content.{kind}.format",)
        for kind in ("image", "document", "video", "audio")
    },
    "tool.members": ("request:toolConfig.tools",),
    "tool_choice.members": ("request:toolConfig.toolChoice",),
    "service_tier": ("request:serviceTier.type",),
    "stop_reason": ("response:stopReason",),
    "usage.fields": ("response:usage",),
    "request.fields": ("request:",),
    "response.fields": ("response:",),
}
_POSITIONS: dict[str, dict[str, Paths]] = {
    "anthropic-messages": _ANTHROPIC,
    "bedrock-converse": _BEDROCK,
    "cohere-chat": _COHERE,
    "google-generate-content": _GOOGLE,
    "google-interactions": _INTERACTIONS,
    "mistral-chat": _MISTRAL,
    "ollama-chat": _OLLAMA,
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
}


@cache
def sdk_types(api: str) -> dict[str, frozenset[str]]:
    """Return the names at each position: `type` tags, message roles, values of a scalar, or wire names of fields.

    Raises KeyError for an API without an SDK here, and ImportError if the SDK is not installed.
    """
    with needs_extra(SDKS[api].extra):
        names = {name: _read(api, name, paths) for name, paths in _POSITIONS[api].items()}
        return names | (_anthropic_more(api, names) if api == "anthropic-messages" else {})


# Open sets that the SDKs list and the adapters accept as any string: each is one field of ErrorContent.
_OPEN = frozenset({"error.type", "error.code"})
# Fields of the SDK's types that are not in the JSON body.
_NOT_ON_THE_WIRE = {
    "anthropic-messages": {"request.fields": {"user_profile_id", "workspace_id", "betas"}},
}


class Coverage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A comparison of one adapter's table with the installed SDK of its API.

    `sdk` and `version` identify the SDK. By position, `known` counts the names that are in the table, and `missing`
    lists those that are not. If nothing could be compared, `note` has the reason.
    """

    api: str
    sdk: str = ""
    version: str = ""
    known: dict[str, int] = {}
    missing: dict[str, list[str]] = {}
    note: str = ""


def coverage(api: str, adapter: Any) -> Coverage:
    """Compare the types of the installed SDK with an adapter's table. If the adapter raises, the note has the error."""
    if api not in SDKS:
        return Coverage(api=api, note="no official SDK has types of this API")
    sdk = SDKS[api].package
    try:
        installed = version(sdk)
        types = sdk_types(api)
    except (PackageNotFoundError, ImportError):
        return Coverage(api=api, sdk=sdk, note=str(MissingExtraError(SDKS[api].extra, sdk)))
    try:
        missing = missing_types(api, adapter.describe())
    except Exception as error:  # Third-party adapters may raise anything.
        return Coverage(api=api, sdk=sdk, version=installed, note=f"the adapter fails: {type(error).__name__}: {error}")
    not_on_wire = _NOT_ON_THE_WIRE.get(api, {})
    counts = {
        position: len(tags - not_on_wire.get(position, set())) - len(missing.get(position, ()))
        for position, tags in types.items()
        if position not in _OPEN
    }
    return Coverage(api=api, sdk=sdk, version=installed, known=counts, missing=missing)


def missing_types(api: str, described: dict[str, Any]) -> dict[str, list[str]]:
    """Return the SDK's types that are missing from a table's description, by position; {} if none are."""
    named = set(_named(described))
    not_on_wire = _NOT_ON_THE_WIRE.get(api, {})
    missing = {
        position: sorted(tags - named - not_on_wire.get(position, set()))
        for position, tags in sdk_types(api).items()
        if position not in _OPEN
    }
    return {position: tags for position, tags in missing.items() if tags}


def _named(value: Any) -> Iterator[str]:
    """Yield every string of a table's description, and the parts of dotted and comma-separated ones."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _named(key)
            yield from _named(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named(item)
    elif isinstance(value, str):
        yield value
        yield from value.split(".")
        yield from value.split(", ")


def _anthropic_more(api: str, names: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return the names of the contents of each hosted result, and of error responses."""
    from anthropic.types import BetaErrorResponse, ErrorDetails

    blocks = names["request.content"] | names["response.content"]
    nested = {
        f"{tag}.content": (f"request:messages.content={tag}.content", f"response:content={tag}.content")
        for tag in sorted(blocks)
        if tag.endswith("_tool_result")
    }
    results = {name: _read(api, name, paths) for name, paths in nested.items()}
    errors = {
        "error.type": _tags(_along([shape_of(BetaErrorResponse)], "error")),
        "error.code": _tags(_along([shape_of(ErrorDetails)], "error_code")),
    }
    return results | errors


def _read(api: str, position: str, paths: Paths) -> frozenset[str]:
    return frozenset().union(*(_reader(position)(_at(api, path)) for path in paths))


def _at(api: str, path: str) -> list[Shape]:
    kind, _, rest = path.partition(":")
    return _along([envelope(api, kind)], rest)


def _reader(position: str) -> Callable[[Iterable[Shape]], frozenset[str]]:
    if position.endswith((".fields", ".members")):
        return _names
    return _roles if position.endswith(".roles") else _tags


def _along(shapes: list[Shape], path: str) -> list[Shape]:
    """Return the shapes at the end of a path. Lists, maps and unions are replaced by their members."""
    ends = list(_flat(shapes))
    for step in filter(None, path.split(".")):
        key, _, tag = step.partition("=")
        fields = (shape.fields.get(key) for shape in ends if isinstance(shape, Record))
        inner = _flat(field.shape for field in fields if field)
        ends = [shape for shape in inner if not tag or tag in _own_tags(shape)]
    return ends


def _flat(shapes: Iterable[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        for member in members(shape):
            match member:
                case ListOf(inner) | MapOf(inner):
                    yield from _flat([inner])
                case _:
                    yield member


def _own_tags(shape: Shape) -> frozenset[str]:
    return _literals(shape, "type") | _literals(shape, "role")


def _tags(shapes: Iterable[Shape]) -> frozenset[str]:
    return frozenset().union(*(_values(shape) | _literals(shape, "type") for shape in shapes))


def _roles(shapes: Iterable[Shape]) -> frozenset[str]:
    return frozenset().union(*(_literals(shape, "role") for shape in shapes))


def _names(shapes: Iterable[Shape]) -> frozenset[str]:
    return frozenset(name for shape in shapes if isinstance(shape, Record) for name in shape.fields)


def _literals(shape: Shape, key: str) -> frozenset[str]:
    if not isinstance(shape, Record) or key not in shape.fields:
        return frozenset()
    return frozenset().union(*(_values(inner) for inner in members(shape.fields[key].shape)))


def _values(shape: Shape) -> frozenset[str]:
    return frozenset(map(str, shape.values)) if isinstance(shape, Literals) else frozenset()
