"""Fields of Chat Completions that hosts document as refused or ignored: rows for each host, and their check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import Severity, child_path, objects

SEEN = "2026-11-29"


class Restriction(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of requests that a host refuses or ignores.

    - `fields`: the fields, each with the values that are accepted or make no difference. `messages.name` is the name in
      messages.
    - `models`: the names of the models, as a regular expression. None if the restriction applies to all.
    - `thinking`: whether the restriction applies while the model thinks, or while it does not. None if to both.
    - `source`: the statement of the host, seen on the date `SEEN`.
    """

    fields: Mapping[str, tuple[Any, ...]]
    models: str | None = None
    thinking: bool | None = None
    severity: Severity = "refused"
    source: str


_USUAL = frozenset(
    (
        *("model", "messages", "stream", "temperature", "top_p", "max_tokens", "stop", "n"),
        *("tools", "tool_choice", "response_format", "reasoning_effort"),
    )
)
FIELDS_OF_GOOGLE = _USUAL | {"extra_body", "max_completion_tokens", "stream_options"}
"""The fields that the documentation of the endpoint shows, or that were tried (liliMozi/openhanako#2494)."""
FIELDS_OF_GROQ = _USUAL | frozenset(
    (
        *("citation_options", "compound_custom", "disable_tool_validation", "documents", "exclude_domains"),
        *("frequency_penalty", "function_call", "functions", "include_domains", "include_reasoning", "logit_bias"),
        *("logprobs", "max_completion_tokens", "parallel_tool_calls", "presence_penalty", "reasoning_format"),
        *("search_settings", "seed", "service_tier", "stream_options", "top_logprobs", "user"),
    )
)
"""The fields of groq 1.7.0 without `metadata` and `store`, which the host does not support."""
FIELDS_OF_MISTRAL = _USUAL | frozenset(
    (
        *("frequency_penalty", "guardrails", "logprobs", "metadata", "min_tokens", "parallel_tool_calls", "prediction"),
        *("presence_penalty", "prompt_cache_key", "prompt_mode", "random_seed", "repetition_penalty", "safe_prompt"),
        *("top_k", "top_logprobs"),
    )
)

UNFORCED = {"tool_choice": ("auto", "none")}
"""The fields of hosts that do not let a request force a call."""
_KIMI = "platform.kimi.ai/docs/guide/kimi-k2-6-quickstart, Parameters Differences and Tool Use Compatibility"
_KIMI_FIXED = r"kimi-k2\.[56].*"
_XAI = "docs.x.ai/docs/guides/reasoning"

DEEPSEEK = (
    Restriction(
        fields=UNFORCED,
        thinking=True,
        source="api-docs.deepseek.com/quick_start/agent_integrations/oh_my_pi; deepseek-ai/DeepSeek-V3#1376",
    ),
    Restriction(
        fields={"logprobs": (False,), "top_logprobs": ()},
        models="deepseek-reasoner",
        source="api-docs.deepseek.com/guides/reasoning_model",
    ),
    Restriction(
        fields={"temperature": (), "presence_penalty": (0,), "frequency_penalty": (0,)},
        thinking=True,
        severity="ignored",
        source="api-docs.deepseek.com/guides/thinking_mode",
    ),
)
MOONSHOT = (
    Restriction(
        fields={"top_p": (0.95,), "n": (1,), "presence_penalty": (0,), "frequency_penalty": (0,)},
        models=_KIMI_FIXED,
        source=_KIMI,
    ),
    Restriction(fields={"temperature": (1,)}, models=_KIMI_FIXED, thinking=True, source=_KIMI),
    Restriction(fields={"temperature": (0.6,)}, models=_KIMI_FIXED, thinking=False, source=_KIMI),
    Restriction(fields=UNFORCED, models=_KIMI_FIXED, thinking=True, source=_KIMI),
)
ALIBABA = (
    Restriction(
        fields=UNFORCED,
        thinking=True,
        source="alibabacloud.com/help/en/model-studio/qwen-api-reference, tool_choice; cloudwego/eino#994",
    ),
)
MINIMAX = (
    Restriction(
        fields={"presence_penalty": (0,), "frequency_penalty": (0,), "logit_bias": ({},)},
        severity="ignored",
        source="platform.minimax.io/docs/api-reference/text-openai-api, Important Note",
    ),
)
GROQ = (
    Restriction(
        fields={"logprobs": (False,), "top_logprobs": (), "logit_bias": ({},), "messages.name": (), "n": (1,)},
        source="console.groq.com/docs/openai, Currently Unsupported OpenAI Features; sipeed/picoclaw#1196, "
        "CherryHQ/cherry-studio#11435, skye-harris/hass_local_openai_llm#59",
    ),
)
GOOGLE = (
    Restriction(
        fields={"n": (1,)},
        models=r"(?:models/)?gemini-[3-9].*",
        source="googleapis/js-genai#1609, googleapis/python-genai#1723",
    ),
)
# req_llm 1.10, guides/cerebras.md, and inference-docs.cerebras.ai/resources/openai: these fields get a 400.
CEREBRAS = (
    Restriction(
        fields={
            "frequency_penalty": (),
            "presence_penalty": (),
            "logit_bias": (),
            "parallel_tool_calls": (),
            "service_tier": (),
            "metadata": (),
            "store": (),
        },
        source="inference-docs.cerebras.ai/resources/openai; livekit/agents#1274",
    ),
)
XAI = (
    Restriction(fields={"metadata": ()}, source="esengine/DeepSeek-Reasonix#9822"),
    Restriction(
        fields={"presence_penalty": (), "frequency_penalty": (), "stop": ()},
        models=r"grok-(?:3-mini|4|code)(?!.*non-reasoning).*",
        source=_XAI,
    ),
    Restriction(
        fields={"reasoning_effort": ()},
        models=r"grok-(?:3|4|4-fast-reasoning)(?:-latest|-\d{4})?",
        source=_XAI,
    ),
    Restriction(
        fields={"logprobs": (False,), "top_logprobs": ()},
        models=r"grok-4\.20.*",
        severity="ignored",
        source="docs.x.ai/developers/models, Grok 4.20 Information",
    ),
)


def excluded(
    restrictions: Iterable[Restriction], severity: Severity, request: dict[str, Any], *, thinks: bool
) -> Iterator[tuple[str, Any]]:
    """Yield the values that restrictions of a severity exclude, each with its path."""
    for restriction in restrictions:
        is_model = restriction.models is None or is_named(request, restriction.models)
        if restriction.severity != severity or not is_model or restriction.thinking not in (None, thinks):
            continue
        for field, accepted in restriction.fields.items():
            yield from ((at, v) for at, v in _values(request, field) if v is not None and v not in accepted)


def unknown(
    fields: Iterable[str] | None, platform: Iterable[str], request: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a request, with their paths, that are not in `fields`; if that is None, are in `platform`."""
    known = None if fields is None else frozenset(fields)
    refused = frozenset(platform)
    for name, value in request.items():
        if value is not None and (name in refused if known is None else name not in known):
            yield child_path("$", name), value


def is_named(request: Mapping[str, Any], names: str) -> bool:
    """Return whether the model of a request has one of the names."""
    model = request.get("model")
    return isinstance(model, str) and re.fullmatch(names, model) is not None


def _values(request: dict[str, Any], field: str) -> Iterator[tuple[str, Any]]:
    """Yield the value of a field, with its path. Yield that of each message, except results, for `messages.name`."""
    if not field.startswith("messages."):
        yield f"$.{field}", request.get(field)
        return
    name = field.removeprefix("messages.")
    for at, message in objects(request, "messages"):
        if message.get("role") not in ("tool", "function"):
            yield f"{at}.{name}", message.get(name)


def sources(severity: Severity) -> str:
    """Return the sources of all restrictions of a severity, each once."""
    rows = (*DEEPSEEK, *MOONSHOT, *ALIBABA, *MINIMAX, *GROQ, *XAI, *CEREBRAS, *GOOGLE)
    found = dict.fromkeys(row.source for row in rows if row.severity == severity)
    return f"{'; '.join(found)}; seen {SEEN}"
