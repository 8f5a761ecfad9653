"""The settings of a web search that several APIs have: domains, the place of the user, the size of the context.

Sources: types/web_search_tool_20250305_param.py of anthropic 2.12, types/responses/web_search_tool_param.py and
types/chat/completion_create_params.py of openai 3.54, types.GoogleSearch of google-genai 3.4;
openrouter.ai/docs/guides/features/server-tools/web-search (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_PLACE = frozenset({"type", "city", "country", "region", "timezone"})


def _domains(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(name, str) for name in value) else None


def _place(value: Any) -> dict[str, Any] | None:
    """Return an approximate location with its fields at the top; None if it is of another form."""
    if not isinstance(value, dict) or value.get("type") != "approximate":
        return None
    inner = value.get("approximate")
    flat = {"type": "approximate", **inner} if isinstance(inner, dict) and len(value) == 2 else value
    return flat if flat.keys() <= _PLACE else None


def _size(value: Any) -> str | None:
    return value if value in ("low", "medium", "high") else None


_READ: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "allowed_domains": ("allowed_domains", _domains),
    "filters.allowed_domains": ("allowed_domains", _domains),
    "blocked_domains": ("blocked_domains", _domains),
    "excluded_domains": ("blocked_domains", _domains),
    "excludeDomains": ("blocked_domains", _domains),
    "filters.blocked_domains": ("blocked_domains", _domains),
    "filters.excluded_domains": ("blocked_domains", _domains),
    "user_location": ("user_location", _place),
    "search_context_size": ("search_context_size", _size),
}
"""The neutral name and the check of each setting, by its path in the settings of any API."""


def _leaves(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the path and value of each setting; those of `filters` one by one."""
    for name, value in settings.items():
        if name == "filters" and isinstance(value, dict):
            yield from ((f"filters.{inner}", item) for inner, item in value.items())
        else:
            yield name, value


def crossing_settings(settings: Mapping[str, Any], written: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of a search that another API has too, as it writes them, and the paths of the others.

    `written` gives the path of each setting in the other API by its neutral name: a key, or two with a dot between.
    One value is taken for each name.
    """
    crossed: dict[str, Any] = {}
    lost: list[str] = []
    for path, value in _leaves(settings):
        name, check = _READ.get(path, (None, None))
        taken = None if check is None or name not in written or name in crossed else check(value)
        if taken is None:
            lost.append(path)
        else:
            crossed[str(name)] = taken
    wire: dict[str, Any] = {}
    for name, value in crossed.items():
        above, _, key = written[name].rpartition(".")
        (wire.setdefault(above, {}) if above else wire)[key] = value
    return wire, lost
