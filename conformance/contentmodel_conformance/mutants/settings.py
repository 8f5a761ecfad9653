"""Broken adapters that send settings that the model does not support."""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, Broken, mutant

_CHECK = "rules/settings"


@mutant(ANTHROPIC, _CHECK)
class CopiesEffort(Broken):
    """Send the reasoning effort of another API, also if the model does not support it."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        reasoning = value.options.reasoning if kind == "request" else None
        if reasoning is None or reasoning.effort is None:
            return payload
        return {**payload, "output_config": {**payload.get("output_config", {}), "effort": reasoning.effort}}


@mutant(CHAT, _CHECK)
class CopiesTemperature(Broken):
    """Send the temperature of another API, also if the model does not support it."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind != "request" or value.options.temperature is None:
            return payload
        return {**payload, "temperature": value.options.temperature}
