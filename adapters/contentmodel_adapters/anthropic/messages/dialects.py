"""The hosts of the Messages API: one row for each, with its differences from Anthropic's own API.

The steps in fit.py and the rules below read the rows. Bedrock's InvokeModel and Vertex AI have the model in the path
and the version of the API in the body (lib/bedrock/_client.py and lib/vertex/_client.py of anthropic 2.12, seen
2026-11-24).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    INVOKE_STREAM,
    Broken,
    Capabilities,
    Host,
    Rules,
    StreamFormat,
    makers,
    objects,
    one_object,
)
from contentmodel.capabilities import canonical
from contentmodel.content import (
    AdvisorToolCallContent,
    AdvisorToolResultContent,
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    McpListToolsToolCallContent,
    McpListToolsToolResultContent,
    McpServerToolCallContent,
    McpServerToolResultContent,
    ShellToolCallContent,
    ShellToolResultContent,
    TextEditorToolCallContent,
    TextEditorToolResultContent,
    WebFetchToolCallContent,
    WebFetchToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel_adapters.anthropic.messages.table import HOSTED_KINDS, VERSION

SEEN = "2026-11-24"
CACHE_CONTROL = "cache_control"
UNCACHED = ("thinking", "redacted_thinking")
"""Blocks without a cache point (types/thinking_block_param.py of anthropic 2.12, seen 2026-11-27)."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A host of the Messages API, and its differences from Anthropic's own.

    - `version`: the value of `anthropic_version` in the body; None if the version is in a header.
    - `in_path`: the fields of a request that are in the path instead.
    - `betas_in_body`: whether the beta features of a request are in the body. Else they are in a header.
    - `refused`: further fields that the host refuses. `hosted_types`: the types of hosted tools that the host accepts,
      by kind; a kind that is missing has no limit.
    - `sources`: the types of sources of images and documents that the host refuses.
    - `caches`: the models that take a cache point of the whole request, as a pattern of names; None for all.
      `unstructured`: the models that lack output formats and strict tools at the host.
    - `stream_format`: the format of its streams; None if it is the API's own. `errors_of_aws`: whether its errors are
      those of AWS.
    """

    name: str
    version: str | None = None
    in_path: tuple[str, ...] = ()
    betas_in_body: bool = False
    refused: tuple[str, ...] = ()
    hosted_types: Mapping[str, tuple[str, ...]] = {}
    sources: tuple[str, ...] = ()
    caches: str | None = None
    unstructured: str | None = None
    stream_format: StreamFormat | None = None
    errors_of_aws: bool = False


# The features of Anthropic's own platform: build-with-claude/data-residency, /fast-mode, the MCP connector, the Files
# API and the containers of code execution (platform.claude.com/docs/en/build-with-claude/overview). Bedrock refuses
# `diagnostics` and the types of code execution, and Vertex AI accepts only the first version of web search (live tests,
# in models/anthropic/__init__.py of pydantic-ai 2.68). Links: anthropics/anthropic-sdk-typescript#1038,
# pollinations/pollinations#5862.
_OWN_FIELDS = ("container", "mcp_servers", "diagnostics", "inference_geo", "speed")
_OWN_TOOLS: dict[str, tuple[str, ...]] = dict.fromkeys(("web_fetch", "code_interpreter", "advisor", "mcp"), ())
_OWN_SOURCES = ("url", "file")
# Older models refuse `cache_control` beside the messages ("Extra inputs are not permitted"; live tests, in
# providers/_bedrock_model_names.py of pydantic-ai 2.68; BerriAI/litellm#26320; seen 2026-11-27).
_CACHED_AT_BEDROCK = "claude-(?:fable-5|haiku-5-5|opus-4-[78]|opus-5|sonnet-5).*"
# docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html, and the same file; seen 2026-11-27.
_UNSTRUCTURED_AT_BEDROCK = "claude-(?:opus-4-1|fable-5).*"
DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(name="anthropic"),
        Dialect(
            name="bedrock",
            version="bedrock-2023-05-31",
            in_path=("model", "stream"),
            betas_in_body=True,
            refused=_OWN_FIELDS,
            hosted_types={"web_search": (), **_OWN_TOOLS},
            sources=_OWN_SOURCES,
            caches=_CACHED_AT_BEDROCK,
            unstructured=_UNSTRUCTURED_AT_BEDROCK,
            stream_format=INVOKE_STREAM,
            errors_of_aws=True,
        ),
        Dialect(
            name="vertex",
            version="vertex-2023-10-16",
            in_path=("model",),
            refused=_OWN_FIELDS,
            hosted_types={"web_search": ("web_search_20250305",), **_OWN_TOOLS},
            sources=_OWN_SOURCES,
        ),
    )
}


def dialect_of(policies: Mapping[str, str] | None) -> Dialect | None:
    """Return the host that the policy `dialect` names; None without the policy. Raise ValueError if it is unknown."""
    name = (policies or {}).get("dialect")
    if name is None:
        return None
    if name not in DIALECTS:
        raise ValueError(f"unknown policy dialect={name}: expected {' | '.join(DIALECTS)}")
    return DIALECTS[name]


def host_of(policies: Mapping[str, str] | None) -> Host:
    """Return the differences of the host that the policy `dialect` names."""
    dialect = dialect_of(policies)
    return (
        Host()
        if dialect is None
        else Host(stream_format=dialect.stream_format, serves=frozenset({"anthropic"}), dialect=dialect)
    )


def limited(capabilities: Capabilities, policies: Mapping[str, str] | None, model: str | None) -> Capabilities:
    """Return the capabilities of a model at the host that the policy `dialect` names."""
    dialect = dialect_of(policies)
    if dialect is None:
        return capabilities
    if dialect.unstructured is not None and _is_named(model, dialect.unstructured):
        capabilities = msgspec.structs.replace(capabilities, structured_output=False, strict_tools=False)
    if not dialect.hosted_types:
        return capabilities
    types = {**(capabilities.hosted_types or {}), **dialect.hosted_types}
    return msgspec.structs.replace(capabilities, hosted_types=types)


def _is_named(model: Any, pattern: str) -> bool:
    return isinstance(model, str) and re.fullmatch(pattern, canonical(model)) is not None


def refuses_cache_point(dialect: Dialect, model: Any) -> bool:
    """Return whether a host refuses the cache point of a whole request. False if the model is unknown."""
    if dialect.caches is None or not isinstance(model, str) or not canonical(model).startswith("claude"):
        return False
    return not _is_named(model, dialect.caches)


# -- the history -------------------------------------------------------------------------------------------------------

_HOSTED: dict[str, tuple[type, ...]] = {
    "web_search": (WebSearchToolCallContent, WebSearchToolResultContent),
    "web_fetch": (WebFetchToolCallContent, WebFetchToolResultContent),
    "code_interpreter": (
        *(
            CodeInterpreterToolCallContent,
            CodeInterpreterToolResultContent,
            ShellToolCallContent,
            ShellToolResultContent,
        ),
        *(TextEditorToolCallContent, TextEditorToolResultContent),
    ),
    "advisor": (AdvisorToolCallContent, AdvisorToolResultContent),
    "mcp": (
        *(McpServerToolCallContent, McpServerToolResultContent),
        *(McpListToolsToolCallContent, McpListToolsToolResultContent),
    ),
}
"""The calls and results that the provider runs, by the kind of the tool."""
_BLOCKS = {
    "web_search": "web_search",
    "web_fetch": "web_fetch",
    "advisor": "advisor",
    "mcp": "mcp",
    **dict.fromkeys(("code_execution", "bash_code_execution", "text_editor_code_execution"), "code_interpreter"),
}
"""The kinds of these tools, by the name in a `server_tool_use`, and by the begin of the type of a result."""


OF_HOSTED_TOOLS = tuple(kind for kinds in _HOSTED.values() for kind in kinds)


def lacking_contents(dialect: Dialect) -> tuple[type, ...]:
    """Return the types of the calls and results of the hosted tools of which the host has no version."""
    return tuple(kind for kinds in map(_HOSTED.get, _lacking(dialect)) if kinds is not None for kind in kinds)


def _lacking(dialect: Dialect) -> list[str]:
    """Return the kinds of the hosted tools of which the host has no version."""
    return [kind for kind, types in dialect.hosted_types.items() if not types]


def _refused_blocks(request: dict[str, Any], dialect: Dialect) -> Iterator[Broken]:
    """Yield the hosted calls and results in the messages that a host does not accept."""
    lacking = _lacking(dialect)
    for at, message in objects(request, "messages"):
        for where, block in objects(message, "content", at):
            kind = str(block.get("type"))
            name = block.get("name") if kind == "server_tool_use" else re.sub("_tool_(?:use|result|listing)$", "", kind)
            if isinstance(name, str) and _BLOCKS.get(name) in lacking:
                yield where, f"{kind:.60} at {dialect.name}"


# -- rules -------------------------------------------------------------------------------------------------------------


def refused_tools(request: dict[str, Any], dialect: Dialect) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the hosted tools that a host does not accept, with their paths."""
    for at, tool in objects(request, "tools"):
        kind = HOSTED_KINDS.get(str(tool.get("type")))
        if kind is not None and tool["type"] not in dialect.hosted_types.get(kind, (tool["type"],)):
            yield at, tool


def body_has_form_of_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """A request to Bedrock or Vertex AI must have `anthropic_version` in the body, and its model only in the path."""
    dialect: Dialect | None = host.dialect
    if dialect is None:
        return
    if dialect.version is not None and request.get(VERSION) is None:
        yield "$", f"no {VERSION}: {dialect.name} takes {dialect.version!r}"
    yield from ((f"$.{name}", "in the body") for name in dialect.in_path if name in request)


def features_known_to_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """Bedrock and Vertex AI lack features of Anthropic's own API: fields, hosted tools and calls, files, media by URL.

    Older models at Bedrock accept cache points of blocks only.
    """
    dialect: Dialect | None = host.dialect
    if dialect is None:
        return
    yield from ((f"$.{name}", f"at {dialect.name}") for name in dialect.refused if request.get(name) is not None)
    if request.get(CACHE_CONTROL) is not None and refuses_cache_point(dialect, request.get("model")):
        yield f"$.{CACHE_CONTROL}", f"for {request['model']:.60} at {dialect.name}"
    yield from ((at, f"{tool['type']} at {dialect.name}") for at, tool in refused_tools(request, dialect))
    yield from _refused_blocks(request, dialect)
    for at, message in objects(request, "messages"):
        for where, block in objects(message, "content", at):
            inside = objects(block, "content", where) if block.get("type") == "tool_result" else iter(())
            for path, holder in [(where, block), *inside]:
                for place, source in one_object(holder, "source", path):
                    if source.get("type") in dialect.sources:
                        yield place, f"source of type {source['type']} at {dialect.name}"


def declare_rules(rules: Rules) -> None:
    """Add the rules of hosts to those of the API."""
    # Hosts with this API: DeepSeek (api-docs.deepseek.com/guides/anthropic_api), Ollama and others with open weights.
    makers.declare_models(
        rules, "platform.claude.com/docs/en/api/errors, 404; seen 2026-11-29", serves=makers.OPEN | {"anthropic"}
    )
    sdk = (
        f"lib/bedrock/_client.py, lib/vertex/_client.py of anthropic 2.12; fumito-ito/AnthropicSwiftSDK#19; seen {SEEN}"
    )
    rules.by_host("refused", fix="convert it with the policy dialect", source=sdk)(body_has_form_of_host)
    rules.by_host(
        "refused",
        fix="remove it, or send media inline",
        source="platform.claude.com/docs/en/build-with-claude/overview, "
        f"anthropics/anthropic-sdk-typescript#1038, pollinations/pollinations#5862, BerriAI/litellm#36228; seen {SEEN}",
    )(features_known_to_host)
