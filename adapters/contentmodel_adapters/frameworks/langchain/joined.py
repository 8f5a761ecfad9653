"""Blocks that LangChain joined from the pieces of a stream, as their provider has them.

Joined blocks keep the keys by which LangChain joined them. A joined call has its arguments in `partial_json` or as a
text, and in `tool_calls`, which the packages of providers prefer: langchain-anthropic 1.7.10 (chat_models.py) and
langchain-openai 1.7.4 (chat_models/base.py, `_pop_index_and_sub_index`), seen 2026-11-27.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import DecodeContext, Hint, object_of, objects_of, text_of
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks.langchain.blocks import API, name_of, parsed
from contentmodel_adapters.frameworks.langchain.dialects import DETAILS

JOINED = Hint[dict[str, dict[str, Any]]](
    API, "joined", "the fields of joined blocks, by path: as decoded (`was`) and as they were (`said`)"
)
BESIDE = {"reasoning": dict, "tool_outputs": list}
"""The entries of `additional_kwargs` with items of OpenAI, as version 0 has them, and their JSON classes."""
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_GUARDS = ("type", "id")
"""The fields of a block that must not change, or else the keys of the joined block are not written again."""


def without_joints(body: dict[str, Any], context: DecodeContext | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a body whose joined blocks are as their provider has them, and the hint of its message."""
    calls = {call["id"]: call for call in objects_of(body, "tool_calls") if call.get("id").__class__ is str}
    changes: dict[str, Any] = {}

    def change(path: str, block: dict[str, Any]) -> dict[str, Any]:
        new = _unjoined(block, calls)
        if new is not block:
            changes[path] = _difference(new, block)
            if context is not None:
                context.copied(new, block)
        return new

    copy = _mapped(body, change)
    if not changes:
        return body, {}
    if context is not None:
        context.copied(copy, body)
    return copy, JOINED.entry(changes)


def add_joints(body: dict[str, Any], message: ChatMessage) -> None:
    """Write the joined blocks of a body as they were, in place, except for those that changed."""
    changes = JOINED.of(message, API) or {}

    def change(path: str, block: dict[str, Any]) -> dict[str, Any]:
        was, said = (object_of(changes.get(path, {}), key) for key in ("was", "said"))
        return {**block, **said} if all(key in block and block[key] == value for key, value in was.items()) else block

    if changes:
        body.update(_mapped(body, change))


def _mapped(body: dict[str, Any], change: Callable[[str, dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return a body with `change(path, block)` in place of each block, also those beside the content."""

    def changed(value: Any, path: str) -> Any:
        if value.__class__ is list:
            return [
                changed(block, f"{path}.{at}") if block.__class__ is dict else block for at, block in enumerate(value)
            ]
        return change(path, value) if value.__class__ is dict else value

    made = {key: changed(value, key) if key == "content" else value for key, value in body.items()}
    beside = object_of(body, "additional_kwargs")
    if not beside.keys().isdisjoint(_MAPPED):
        made["additional_kwargs"] = {
            key: changed(value, key) if key in _MAPPED else value for key, value in beside.items()
        }
    return made


_MAPPED = frozenset((*BESIDE, DETAILS))


def _unjoined(block: dict[str, Any], calls: dict[str, Any]) -> dict[str, Any]:
    """Return a block without the keys of a join; the same block if it has none."""
    if text_of(block, "type").startswith("reasoning."):
        return _with_format(block)
    if block.get("type").__class__ is not str or (name_of(block) is not None and not _has_joints(block)):
        # The rows of this format decode the keys as fields without a meaning. Anthropic's adapter decodes its thinking.
        return block
    changed = _without_index(block)
    if isinstance(block.get("summary"), list):
        changed["summary"] = [_without_index(part) if part.__class__ is dict else part for part in block["summary"]]
    if block["type"] in _CALLS and "input" in block:
        changed |= {"input": _arguments(block, calls)}
        changed.pop("partial_json", None)
        if block.get("toolset_name", "") is None:
            del changed["toolset_name"]
    return block if changed == block else changed


def _has_joints(block: dict[str, Any]) -> bool:
    """Return whether a block may have keys of a join that decide which row decodes it."""
    field = {"reasoning": "summary", "text": "reference"}.get(block["type"])
    return block["type"] == "thinking" or field in block


def _with_format(detail: dict[str, Any]) -> dict[str, Any]:
    """Return a detail of OpenRouter's reasoning whose format is not the joined formats of its pieces."""
    name = text_of(detail, "format")
    size = (name + name).find(name, 1)
    is_joined = _SHORTEST_FORMAT <= size < len(name) and len(name) % size == 0
    return {**detail, "format": name[:size]} if is_joined else detail


_SHORTEST_FORMAT = 4


def _without_index(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "index"}


def _arguments(block: dict[str, Any], calls: dict[str, Any]) -> Any:
    """Return the arguments of a call, which the block itself need not have."""
    value, call_id = block["input"], block.get("id")
    if call_id.__class__ is str and call_id in calls and calls[call_id].get("args").__class__ is dict:
        return calls[call_id]["args"]
    text = value if value else block.get("partial_json")
    arguments = parsed(text) if text.__class__ is str else None
    return value if arguments is None else arguments


def _difference(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    return {
        "was": {key: value for key, value in new.items() if key in _GUARDS or old[key] != value},
        "said": {key: value for key, value in old.items() if key not in new or new[key] != value},
    }
