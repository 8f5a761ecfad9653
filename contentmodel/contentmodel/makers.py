"""The makers of models, by the names of their models: which APIs serve a model, and the rule on the others.

This is the only place with the names of makers' models. Tables of capabilities, rows of hosts and rules use it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from contentmodel.capabilities import Host, canonical
from contentmodel.json import child_path
from contentmodel.rules import Broken, Rules, Severity

NAMES = {
    "openai": r"gpt-(?:\d|audio).*|chatgpt-.*|codex-.*|computer-use-.*|o\d(?:-.*)?",
    "anthropic": r"claude-.*",
    "google": r"gemini-.*",
    "mistral": r"(?:open-)?(?:mi|magi|code|dev|pix|vox)[a-z]*(?:ral|mamba).*",
    "cohere": r"(?:command|c4ai|aya|north).*",
    "amazon": r"(?:[a-z]{2,8}\.)?amazon\..*",
    "xai": r"grok-.*",
    "deepseek": r"deepseek-(?:chat|reasoner|flash|pro|v\d.*)",
    "moonshot": r"(?:kimi|moonshot)-.*",
    "zai": r"glm-.*",
    "alibaba": r"qwen.*|qwq-.*",
    "minimax": r"(?i:minimax)-.*",
}
"""The makers, with the names of their models as a regular expression of whole names in the form of `canonical`."""
SHOWN = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google",
    "mistral": "Mistral",
    "cohere": "Cohere",
    "amazon": "Amazon",
    "xai": "xAI",
    "deepseek": "DeepSeek",
    "moonshot": "Moonshot AI",
    "zai": "Z.ai",
    "alibaba": "Alibaba",
    "minimax": "MiniMax",
}
OPEN = frozenset({"deepseek", "moonshot", "zai", "alibaba", "minimax"})
"""Makers whose models have the same names at other hosts: their weights are open."""
EVERY = frozenset(NAMES)
# The services of Mistral and Cohere name versions ("-latest", "-2512", "-03-2025"). Other names are also those of open
# weights ("mistral-small", "command-r"), which any host can serve; Azure writes capitals ("Mistral-large-2411").
_VERSIONED = re.compile(r"[^A-Z]*-(?:latest|nightly|\d{4})")
_HAVE_OPEN_NAMES = ("mistral", "cohere")
# Google names a model by a path. Other names with a slash are those of hosts: openrouter, Groq, LiteLLM, Hugging Face.
_PATH_OF_GOOGLE = re.compile(r"(?:.*/)?models/|")


@lru_cache(maxsize=1024)
def provider_of(model: str) -> str | None:
    """Return the provider that a model's name belongs to; None if other hosts can have the same name.

    A name with a path ("anthropic/claude-opus-5") is that of a host.
    """
    name = model[_PATH_OF_GOOGLE.match(model).end() :]  # type: ignore[union-attr]
    if "/" in name:
        return None
    short = canonical(name)
    maker = next((maker for maker, names in NAMES.items() if re.fullmatch(names, short)), None)
    has_open_name = maker in _HAVE_OPEN_NAMES and _VERSIONED.fullmatch(name) is None
    return None if has_open_name else maker


def declare_models(
    rules: Rules,
    source: str,
    *,
    serves: Collection[str],
    field: str = "model",
    own_names: str | None = None,
    severity: Severity = "refused",
) -> None:
    """Declare that a request must not name a model of another provider.

    `serves` are the makers whose models hosts of the API serve under their makers' names; a host can have other ones.
    `own_names` are the names that the API gives to models of any maker, as a regular expression. `field` has the name.
    `severity` is "unchecked" for an API whose hosts can serve any model under its maker's name. A host whose models are
    known refuses those of others.
    """

    def model_of_this_provider(request: dict[str, Any], host: Host) -> Iterator[Broken]:
        """Name a model of this provider, or one that a host of this API serves."""
        model = request.get(field)
        if not isinstance(model, str) or (own_names is not None and re.fullmatch(own_names, model)):
            return
        provider = provider_of(model)
        if provider is not None and provider not in (serves if host.serves is None else host.serves):
            yield child_path("$", field), f"{model!r:.80} is a model of {SHOWN[provider]}"

    fix = "name a model of this API (model=, --model), or the host with the policy dialect if a host serves this model"
    rules.by_host(severity, at_known_hosts="refused", fix=fix, source=source)(model_of_this_provider)
