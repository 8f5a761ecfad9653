"""Generate the page of model capabilities from the adapters' tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import contentmodel
from contentmodel.capabilities import Capabilities, CapabilityTable

HEAD = """# Capabilities of models

This page lists the settings that each model accepts. It is generated from the adapters' tables (`rules.py`) by
`python -m contentmodel_conformance.pages docs`. Encoders use the table to adapt a request of another API to
the model, and [`check`](converting.md#rules-of-the-target) uses it to check payloads. In the column "effort", the
model's default is bold.

A model name may have a path (`models/`, `anthropic/`), a region and vendor (`us.anthropic.`), a date or version
(`-20250929`, `@20250929`, `-v1:0`, `-latest`), or a variant (`:free`). Encoders and `check` treat an unlisted model of
the provider as its **newest** model. At an API of one provider, they do the same with every other name, and with a
request without a model. OpenAI's APIs, Converse and Ollama serve models of many vendors: for other names, or without
one, encoders apply only the limits of the API. If `check` cannot check a rule for a model, it reports the severity
`unchecked`. A model of another provider breaks the rule `model-of-this-provider`.

The policy `capabilities` overrides the table. Its value is the name of a listed model, `any` for no limits, or a JSON
object with the fields that differ.

```python
contentmodel.convert(payload, target="openai-chat", model="my-host-7b", policies={"capabilities": "gpt-4o"})
contentmodel.convert(payload, target="openai-chat", policies={"capabilities": '{"sampling": {"top_p": [0, 1]}}'})
```

In Python, `contentmodel.adapter(api).look_up_model(model)` returns the capabilities of a model. Its attribute
`capabilities` is a `contentmodel.capabilities.Capabilities`, and `status` is `listed`, or the other source of the row.
`unlisted()` returns a sentence if the model is treated as the newest, and None otherwise. `contentmodel check` prints
the sentence. An adapter of another API passes its `CapabilityTable` to `Rules`.
"""


NO_MOST = 10**6
"""A maximum of this size or more means no maximum."""


def capabilities_page() -> str:
    """Return the capability tables of all adapters as Markdown. Equal tables appear once."""
    lines = [HEAD]
    seen: list[tuple[str, Any]] = []
    for api, adapter in contentmodel.adapters().items():
        table = getattr(getattr(adapter, "rules", None), "capabilities", None)
        if table is not None:
            same = next((other for other, rows in seen if rows == table.rows), None)
            seen.append((api, table.rows))
            lines += [f"## {api}", "", *(_rows(table) if same is None else [f"The same as {same}.", ""])]
    return "\n".join(lines).rstrip() + "\n"


def _rows(table: CapabilityTable) -> Iterator[str]:
    yield from ("| models | effort | thinking | sampling | more | source |", "|---|---|---|---|---|---|")
    for row in table.rows:
        source = f"{row.source}; seen {row.seen}".replace("*", r"\*")
        yield f"| {row.shown} | {' | '.join(_cells(row.capabilities))} | {source} |"
    yield "| *newest* | " + " | ".join(_cells(table.newest)) + " | |"
    yield ""


def _cells(capabilities: Capabilities) -> tuple[str, str, str, str]:
    return (
        _efforts(capabilities),
        _thinking(capabilities),
        _sampling(capabilities),
        ", ".join(_more(capabilities)) or "–",
    )


def _efforts(capabilities: Capabilities) -> str:
    if capabilities.efforts is None:
        return "any"
    return (
        ", ".join(
            f"**{effort}**" if effort == capabilities.default_effort else effort for effort in capabilities.efforts
        )
        or "not supported"
    )


def _thinking(capabilities: Capabilities) -> str:
    if capabilities.thinking is None:
        return "unknown"
    least, most = capabilities.budget or (0, 0)
    budget = "" if capabilities.budget is None else f" (from {least})" if most >= NO_MOST else f" ({least} to {most})"
    return ", ".join(mode + (budget if mode == "enabled" else "") for mode in capabilities.thinking) or "no"


def _sampling(capabilities: Capabilities) -> str:
    if capabilities.sampling is None:
        return "unknown"
    free = [name for name, (least, most) in capabilities.sampling.items() if least < most]
    fixed = capabilities.sampling_while_thinking is not None and bool(free)
    return (", ".join(free) or "no") + (" (not while thinking)" if fixed else "")


def _more(capabilities: Capabilities) -> Iterator[str]:
    """Yield the unusual capabilities and limits of a model."""
    limits = {
        "no schemas": not capabilities.structured_output,
        "no forced tools": not capabilities.forced_tools,
        "no functions with an effort": not capabilities.functions_with_effort,
        "no parallel_tool_calls": not capabilities.parallel_tool_calls,
        "no hosted tools with functions": not capabilities.hosted_with_functions,
        "no media in results": not capabilities.media_in_results,
        "no system text": not capabilities.instructions,
        "no later system messages": not capabilities.later_system,
        "no prefill": not capabilities.prefill,
        "no custom tools": not capabilities.custom_tools,
        "one answer": not capabilities.several_choices,
        "no cache points": not capabilities.cache_points,
        "signed calls": capabilities.signed_calls,
    }
    if capabilities.stop_sequences is not None:
        yield f"{capabilities.stop_sequences} stop sequences"
    yield from (text for text, holds in limits.items() if holds)
    for kind, types in (capabilities.hosted_types or {}).items():
        yield f"{kind} as {' or '.join(types)}"
    if capabilities.media is not None:
        yield f"reads {' and '.join(capabilities.media) or 'text only'}"
    if capabilities.signatures:
        yield f"signatures bound to {' and '.join(capabilities.signatures)}"
    if capabilities.refused:
        yield f"refuses {', '.join(capabilities.refused)}"
