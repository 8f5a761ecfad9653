"""The hosts of generateContent: one row for each, with its differences.

From Gemini 3 on, the Developer API runs hosted tools beside functions only if the request asks for their calls and
results. Vertex AI runs them without, and refuses the field (types.ToolConfig of google-genai 3.4; ag2ai/ag2#3145,
vercel/ai#14655; seen 2026-11-27).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import Broken, Host, Rules, makers, objects
from contentmodel_adapters.common.rules import last_name, spelled_object, spelled_path, spelled_value
from contentmodel_adapters.google.generate_content.tools import DECLARATIONS

INVOCATIONS = "includeServerSideToolInvocations"
"""The field of a tool configuration that asks for the calls and results of hosted tools."""
HOSTED = ("googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "googleMaps", "fileSearch")
"""The tools that Google runs."""
_BEFORE_3 = re.compile(r"gemini-[12]\b.*|gemma-.*")


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A host of generateContent. `invocations`: whether it has the field `INVOCATIONS`, and requires it."""

    name: str
    invocations: bool


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (Dialect(name="gemini", invocations=True), Dialect(name="vertex", invocations=False))
}


def host_of(policies: Mapping[str, str] | None) -> Host:
    """Return the host that the policy `dialect` names. Raise ValueError if it is unknown."""
    name = (policies or {}).get("dialect")
    if name is None:
        return Host()
    if name not in DIALECTS:
        raise ValueError(f"unknown policy dialect={name}: expected {' | '.join(DIALECTS)}")
    return Host(dialect=DIALECTS[name])


def hosted_tools_are_reported(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The Developer API runs hosted tools beside functions only with includeServerSideToolInvocations.

    Vertex AI refuses the field.
    """
    dialect: Dialect | None = host.dialect
    if dialect is None:
        return
    configs = list(spelled_object(request, "toolConfig"))
    for at, config in configs if not dialect.invocations else ():
        if spelled_value(config, INVOCATIONS) is not None:
            yield spelled_path(at, config, INVOCATIONS), f"at {dialect.name}"
    is_set = any(spelled_value(config, INVOCATIONS) is True for _, config in configs)
    if dialect.invocations and not is_set and not _BEFORE_3.fullmatch(last_name(request)):
        yield from ((at, f"{name} with functions") for at, name in _hosted_with_functions(request))


def _hosted_with_functions(request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    tools = list(objects(request, "tools"))
    if any(spelled_value(tool, DECLARATIONS) for _, tool in tools):
        used = ((at, tool, name) for at, tool in tools for name in HOSTED if spelled_value(tool, name) is not None)
        yield from ((spelled_path(at, tool, name), name) for at, tool, name in used)


def declare_rules(rules: Rules) -> None:
    """Add the rules of hosts to those of the API."""
    makers.declare_models(rules, "ai.google.dev/gemini-api/docs/models; seen 2026-11-29", serves={"google"})
    rules.by_host(
        "refused",
        fix="set it for the Developer API only",
        source="types.ToolConfig of google-genai 3.4; ag2ai/ag2#3145, vercel/ai#14655; seen 2026-11-27",
    )(hosted_tools_are_reported)
