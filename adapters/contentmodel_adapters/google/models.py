"""Capabilities of Gemini models, on the APIs that serve them."""

from __future__ import annotations

from contentmodel.authoring import Capabilities, Range, listing

_SEEN = "2026-11-22"
_THINKING = "ai.google.dev/gemini-api/docs/thinking"
_CLOUD = "docs.cloud.google.com/gemini-enterprise-agent-platform/models"
_CONFIG = "types.GenerateContentConfig of google-genai 3.4.0"

_SAMPLED: dict[str, Range] = {"temperature": (0, 2), "top_p": (0, 1), "top_k": (1, 2**31 - 1)}
_PENALTIES: dict[str, Range] = {"frequency_penalty": (-2, 2), "presence_penalty": (-2, 2)}
ALL_SAMPLED = _SAMPLED | _PENALTIES
_TO_HIGH = ("low", "medium", "high")
_FROM_MINIMAL = ("minimal", "low", "medium", "high")
_MEDIA = ("image", "document", "audio", "video")
STOPS, _FIRST_STOPS = 5, 16


def _before_3(
    *thinking: str, budget: tuple[int, int] | None = None, stops: int = STOPS, is_documented: bool = True
) -> Capabilities:
    """Return the capabilities of a model before Gemini 3. `is_documented`: whether its thinking is documented."""
    return Capabilities(
        efforts=(),
        thinking=thinking if is_documented else None,
        budget=budget,
        sampling=ALL_SAMPLED,
        stop_sequences=stops,
        hosted_with_functions=False,
        media=_MEDIA,
        media_in_results=False,
    )


def _levelled(
    *efforts: str,
    thinking: tuple[str, ...] = ("adaptive",),
    sampling: dict[str, Range] | None = None,
    prefill: bool = True,
) -> Capabilities:
    """Return the capabilities of a model from Gemini 3 on: levels, one answer, and signatures on its calls.

    More than one candidate: googleapis/js-genai#1609, googleapis/python-genai#1723 (seen 2026-11-29).
    """
    return Capabilities(
        efforts=efforts,
        thinking=thinking,
        sampling=ALL_SAMPLED if sampling is None else sampling,
        stop_sequences=STOPS,
        media=_MEDIA,
        prefill=prefill,
        signed_calls=True,
        several_choices=False,
    )


_ANY_BUDGET = ("disabled", "adaptive", "enabled")
_MAKERS = Capabilities(stop_sequences=STOPS, sampling=ALL_SAMPLED)
_GEMMA_3 = Capabilities(
    efforts=(),
    thinking=(),
    sampling=ALL_SAMPLED,
    stop_sequences=STOPS,
    hosted_with_functions=False,
    media=("image",),
    instructions=False,
)
_END = "(?:-preview.*|-exp.*)?"


_row = listing(_SEEN)

# A final content of the role model is refused by 3.5 Flash-Lite, 3.6 and later: LibreChat-AI/agents#323,
# microsoft/semantic-kernel#13288 (seen 2026-11-22).
ROWS = [
    _row(
        "Gemini 3 images",
        r"gemini-3(?:\.\d)?-(?:pro|flash)-image.*",
        _MAKERS,
        "ai.google.dev/gemini-api/docs/image-generation",
    ),
    _row("Gemini speech", r"gemini-.*tts.*", _MAKERS, "ai.google.dev/gemini-api/docs/speech-generation"),
    _row(
        "Gemini 3.7 Flash, Gemini 3.8 Flash",
        rf"gemini-3\.[78]-flash{_END}",
        _levelled(*_TO_HIGH, sampling=_SAMPLED, prefill=False),
        f"{_THINKING}; {_CLOUD}/thinking",
    ),
    _row(
        "Gemini 3.5 Flash-Lite, Gemini 3.6 Flash",
        rf"gemini-3\.(?:5-flash-lite|6-flash){_END}",
        _levelled(*_FROM_MINIMAL, sampling=_SAMPLED, prefill=False),
        f"{_CLOUD}/gemini/3-5-flash-lite; {_CLOUD}/thinking",
    ),
    _row(
        "Gemini 3 Flash, Gemini 3.1 Flash-Lite, Gemini 3.5 Flash",
        rf"gemini-3(?:-flash|\.1-flash-lite|\.5-flash){_END}",
        _levelled(*_FROM_MINIMAL, thinking=_ANY_BUDGET),
        f"{_THINKING}; {_CLOUD}/thinking",
    ),
    _row("Gemini 3.1 Pro", rf"gemini-3\.1-pro{_END}", _levelled(*_TO_HIGH), f"{_THINKING}; {_CLOUD}/thinking"),
    _row("Gemini 3 Pro", rf"gemini-3-pro{_END}", _levelled("low", "high"), f"{_THINKING}; {_CLOUD}/thinking"),
    _row(
        "Gemini 2.5 Pro",
        rf"gemini-2\.5-pro{_END}",
        _before_3("adaptive", "enabled", budget=(128, 32768)),
        _THINKING,
    ),
    _row(
        "Gemini 2.5 Flash-Lite",
        rf"gemini-2\.5-flash-lite{_END}",
        _before_3(*_ANY_BUDGET, budget=(512, 24576)),
        _THINKING,
    ),
    _row("Gemini 2.5 Flash", rf"gemini-2\.5-flash{_END}", _before_3(*_ANY_BUDGET, budget=(1, 24576)), _THINKING),
    _row("Other Gemini 2.5", r"gemini-2\.5-.*", _before_3(is_documented=False), f"{_THINKING}; {_CONFIG}"),
    _row("Gemini 2.0", r"gemini-2(?:\.0)?-.*", _before_3(), f"{_THINKING}; {_CONFIG}"),
    _row("Gemini 1", r"gemini-1.*", _before_3(stops=_FIRST_STOPS), f"{_THINKING}; {_CONFIG}"),
    _row("Gemma 3", r"gemma-3.*", _GEMMA_3, "0xPlaygrounds/rig#788, lobehub/lobehub#7128"),
]
"""Gemini models, the newest first."""
NEWEST = _levelled(*_TO_HIGH, sampling=_SAMPLED, prefill=False)
