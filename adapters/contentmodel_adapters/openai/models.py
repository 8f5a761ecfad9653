"""Capabilities of OpenAI's models, for Chat Completions and Responses."""

from __future__ import annotations

from msgspec.structs import replace

from contentmodel.authoring import Capabilities, CapabilityTable, Range, listing, makers
from contentmodel.capabilities import ListedModel

_SEEN = "2026-11-22"
_DOCS = "developers.openai.com/api/docs"
_REASONING = f"{_DOCS}/guides/reasoning"
_LATEST = f"{_DOCS}/guides/latest-model, parameter compatibility"
_AZURE = "learn.microsoft.com/azure/ai-services/openai/how-to/reasoning"

_TO_HIGH = ("low", "medium", "high")
_TO_XHIGH = ("low", "medium", "high", "xhigh")
_TO_MAX = ("low", "medium", "high", "xhigh", "max")
_SAMPLED: dict[str, Range] = {"temperature": (0, 2), "top_p": (0, 1)}
_SAMPLED |= {"frequency_penalty": (-2, 2), "presence_penalty": (-2, 2)}
_FIXED: dict[str, Range] = {"temperature": (1, 1), "top_p": (1, 1)}
_FIXED |= {"frequency_penalty": (0, 0), "presence_penalty": (0, 0)}
_LIMIT = ("max_tokens",)
_REFUSED = ("max_tokens", "logit_bias", "logprobs", "top_logprobs")
_SEARCH = "web_search_options"
_STOPS = 4
_VISUAL = ("image", "document")
_WITH_AUDIO = ("image", "document", "audio")


def _unreasoning(
    *refused: str, media: tuple[str, ...] = _VISUAL, schemas: bool = True, sampled: bool = True
) -> Capabilities:
    """Return the capabilities of a model that does not reason."""
    return Capabilities(
        efforts=(),
        thinking=(),
        sampling=_SAMPLED if sampled else None,
        stop_sequences=_STOPS,
        structured_output=schemas,
        strict_tools=schemas,
        media=media,
        cache_points=False,
        custom_tools=False,
        refused=refused,
    )


def _reasoning(
    *efforts: str,
    default: str = "medium",
    stops: int = _STOPS,
    functions: bool = True,
    parallel: bool = True,
    refused: tuple[str, ...] = _LIMIT,
    cache_points: bool = False,
    custom: bool = True,
) -> Capabilities:
    """Return the capabilities of a reasoning model.

    If it can turn reasoning off, it takes sampling settings while reasoning is off.
    """
    stops_thinking = "none" in efforts
    return Capabilities(
        efforts=efforts,
        default_effort=default,
        thinking=("disabled", "adaptive") if stops_thinking else ("adaptive",),
        sampling=_SAMPLED if stops_thinking else _FIXED,
        sampling_while_thinking=_FIXED,
        stop_sequences=stops,
        functions_with_effort=functions,
        parallel_tool_calls=parallel,
        media=_VISUAL,
        cache_points=cache_points,
        custom_tools=custom,
        refused=refused,
    )


CUSTOM_TOOLS = (
    "developers.openai.com/api/docs/guides/function-calling, Custom tools; Arize-ai/openinference#2083 (introduced "
    "with GPT-5)"
)

_FIRST = Capabilities(
    efforts=(),
    thinking=("adaptive",),
    sampling=_FIXED,
    structured_output=False,
    strict_tools=False,
    parallel_tool_calls=False,
    media=(),
    instructions=False,
    cache_points=False,
    custom_tools=False,
    refused=_LIMIT,
)
# Cache points: gpt-5.6 and later (types/responses/response_create_params.py of openai 3.54, seen 2026-11-23).
_NEWEST = _reasoning(*_TO_MAX, functions=False, cache_points=True)

_row = listing(_SEEN)

_ROWS = [
    _row("GPT-6 Astra", r"gpt-6(?:\.2)?-astra(?:-law)?", _NEWEST, f"{_DOCS}/models/gpt-6-astra"),
    _row("GPT-6.1, GPT-6.2", r"gpt-6\.[12]-(?:sol|terra)", _NEWEST, f"{_DOCS}/models/gpt-6.1-sol"),
    _row(
        "GPT-6 Sol, GPT-6 Luna",
        r"gpt-6-(?:sol|luna)",
        _reasoning("none", *_TO_MAX, functions=False, cache_points=True),
        f"{_DOCS}/models/gpt-6-sol; {_LATEST}",
    ),
    _row(
        "GPT-5.6",
        r"gpt-5\.6(?:-(?:sol|terra|luna|cyber))?",
        _reasoning("none", *_TO_MAX, functions=False, cache_points=True),
        f"{_REASONING}; openai/openai-openapi#541; khoj-ai/khoj#1377",
    ),
    _row("GPT-5.5", r"gpt-5\.5", _reasoning("none", *_TO_XHIGH, functions=False), f"{_REASONING}; {_LATEST}"),
    _row("GPT-5.5 Pro", r"gpt-5\.5-pro", _reasoning(*_TO_XHIGH[1:], functions=False), f"{_DOCS}/models/gpt-5.5-pro"),
    _row(
        "GPT-5.4",
        r"gpt-5\.4(?:-mini|-nano)?",
        _reasoning("none", *_TO_XHIGH, default="none", functions=False),
        f"{_REASONING}; {_LATEST}",
    ),
    _row("GPT-5.4 Pro", r"gpt-5\.4-pro", _reasoning(*_TO_XHIGH[1:], functions=False), f"{_DOCS}/models/gpt-5.4-pro"),
    _row("GPT-5.2", r"gpt-5\.2", _reasoning("none", *_TO_XHIGH, default="none"), f"{_REASONING}; {_LATEST}"),
    _row("GPT-5.2 Pro", r"gpt-5\.2-pro", _reasoning(*_TO_XHIGH[1:]), f"{_DOCS}/models/gpt-5.2-pro"),
    _row(
        "GPT-5.1",
        r"gpt-5\.1(?:-mini)?",
        _reasoning("none", *_TO_HIGH, default="none"),
        f"{_REASONING}; anomalyco/opencode#4451",
    ),
    _row(
        "GPT-5.1 to GPT-5.3 Chat",
        r"gpt-5\.[123]-chat",
        _reasoning("medium"),
        f"{_DOCS}/models/gpt-5.1-chat-latest",
    ),
    _row(
        "Codex from GPT-5.1 Codex Max on",
        r"gpt-5\.(?:1-codex-max|[23]-codex.*)",
        _reasoning(*_TO_XHIGH),
        f"{_DOCS}/models/gpt-5.3-codex",
    ),
    _row("GPT-5 Codex, GPT-5.1 Codex", r"gpt-5(?:\.1)?-codex(?:-mini)?", _reasoning(*_TO_HIGH), _REASONING),
    _row("GPT-5 Pro", r"gpt-5-pro", _reasoning("high", default="high"), _REASONING),
    _row("GPT-5 Chat", r"gpt-5-chat", _unreasoning(), "BerriAI/litellm#13781"),
    _row(
        "GPT-5",
        r"gpt-5(?:-mini|-nano)?",
        _reasoning("minimal", *_TO_HIGH, stops=0, refused=(*_REFUSED, _SEARCH)),
        f"{_REASONING}; {_AZURE}",
    ),
    _row(
        "Deep research",
        r"o[34](?:-mini)?-deep-research",
        _reasoning("medium", custom=False),
        f"{_DOCS}/guides/deep-research",
    ),
    _row(
        "o3, o4-mini",
        r"o3|o4-mini",
        _reasoning(*_TO_HIGH, stops=0, parallel=False, custom=False, refused=(*_REFUSED, _SEARCH)),
        _AZURE,
    ),
    _row(
        "o1, o3-mini",
        r"o1|o3-mini",
        _reasoning(*_TO_HIGH, parallel=False, custom=False, refused=(*_REFUSED, _SEARCH)),
        _AZURE,
    ),
    _row("o1 Pro, o3 Pro", r"o[13]-pro", _reasoning(*_TO_HIGH, custom=False), f"{_DOCS}/models/o3-pro"),
    _row("o1-mini, o1-preview", r"o1-(?:mini|preview)", _FIRST, f"{_AZURE}; janhq/jan#4392, pydantic/pydantic-ai#974"),
    _row(
        "GPT-4o Search",
        r"gpt-4o(?:-mini)?-search-preview",
        _unreasoning(sampled=False),
        f"{_DOCS}/models/gpt-4o-search-preview",
    ),
    _row(
        "GPT Audio",
        r"gpt-audio.*|gpt-4o-(?:mini-)?(?:audio|realtime|transcribe).*",
        _unreasoning(media=_WITH_AUDIO, schemas=False),
        f"{_DOCS}/guides/audio",
    ),
    _row(
        "GPT-4o, GPT-4.1",
        r"gpt-4(?:o|\.1)(?:-mini)?|gpt-4\.1-nano|gpt-4\.5-preview|chatgpt-4o",
        _unreasoning(_SEARCH),
        f"{_DOCS}/models/gpt-4.1",
    ),
    _row("GPT-4", r"gpt-4(?:-.*)?", _unreasoning(schemas=False), f"{_DOCS}/guides/structured-outputs"),
    _row("GPT-3.5", r"gpt-3\.5.*", _unreasoning(schemas=False, media=()), f"{_DOCS}/guides/structured-outputs"),
]


def openai_table(api: str) -> CapabilityTable:
    """Return the capability table of OpenAI's models for one of its APIs.

    For models of other vendors behind the same API, the API's limit of stop sequences applies, and cache points and
    custom tools are not sent
    (types/chat/completion_create_params.py of openai 3.54, seen 2026-11-22).
    """
    return CapabilityTable(
        api,
        [_of_api(row, api) for row in _ROWS],
        newest=_of_capabilities(_NEWEST, api),
        own=makers.NAMES["openai"],
        others=Capabilities(stop_sequences=_STOPS, cache_points=False, custom_tools=False),
    )


def _of_api(row: ListedModel, api: str) -> ListedModel:
    return replace(row, capabilities=_of_capabilities(row.capabilities, api))


def _of_capabilities(capabilities: Capabilities, api: str) -> Capabilities:
    """Return the capabilities of a model on an API: only Chat refuses functions beside an effort."""
    if api == "openai-chat":
        return capabilities
    return replace(capabilities, functions_with_effort=True)
