"""Broken adapters that send what the model or its host refuses."""

from __future__ import annotations

from typing import Any

from contentmodel_conformance.mutants.broken import ANTHROPIC, CHAT, Broken, mutant

_CHECK = "obedience/conversations"


@mutant(CHAT, _CHECK)
class SendsDeveloperEverywhere(Broken):
    """Send system messages as developer messages, also to hosts without this role."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind != "request":
            return payload
        messages = [{**m, "role": "developer"} if m.get("role") == "system" else m for m in payload["messages"]]
        return {**payload, "messages": messages}


@mutant(CHAT, _CHECK)
class StoresEverywhere(Broken):
    """Send the field `store`, also to hosts that refuse unknown fields."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        return {**payload, "store": False} if kind == "request" else payload


@mutant(ANTHROPIC, _CHECK)
class KeepsAnswersAtTheEnd(Broken):
    """Send no message of the user after an answer that the model refuses to continue."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        messages = payload["messages"] if kind == "request" else []
        is_added = bool(messages) and "[continue this answer" in str(messages[-1].get("content"))
        return {**payload, "messages": messages[:-1]} if is_added else payload
