"""Values that a message of LangChain has twice or in fields of several names: calls, signatures, finish reasons.

`without_repetitions` moves each to the one field that a row decodes, and `add_repetitions` is its inverse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import DecodeContext, Hint, list_of, object_of, objects_of, text_of
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks.langchain.blocks import API, name_of, parsed
from contentmodel_adapters.frameworks.langchain.guests import DETAILS

REPEATED = Hint[dict[str, Any]](
    API, "repeated", "`tool_calls` as decoded (`said`), if they differ from the usual ones (`was`)"
)
TAKEN = Hint[list[str]](API, "taken", "the fields of a body that have the names of fields that decoding adds")
ENDING = Hint[str](API, "ending", "the name of the field with the finish reason, if it is not `finish_reason`")

LISTS = ("tool_calls", "invalid_tool_calls")
AGAIN = {"tool_calls": "calls_again", "invalid_tool_calls": "invalid_again"}
"""The field of a body in which the calls that its content has already are decoded. It has no meaning elsewhere."""
PLAN = "plan"
"""The field of a body in which the plan of Cohere's calls is decoded. It is the content and, again, `tool_plan`.

A streamed message has it as its content only (langchain-cohere 0.6.0, chat_models.py, seen 2026-11-27).
"""
_RECORDS = ("id", "finish_reason", "generation_id", "token_count", "documents")
"""The entries of `additional_kwargs` that Cohere's answers have in their metadata, too."""
SIGNATURES = "__gemini_function_call_thought_signatures__"
LIFTED = {
    "refusal": "refusal",
    "raw_calls": "tool_calls",
    "raw_call": "function_call",
    "older_calls": "tool_calls",
    "older_call": "function_call",
    "call_signatures": SIGNATURES,
    "links_again": "citations",
    "reasoning_again": "reasoning_content",
    "tools_again": "executed_tools",
    "plan_again": "tool_plan",
    **{f"{name}_again": name for name in _RECORDS},
}
"""The entries of `additional_kwargs` that are decoded as fields of the body, by the name of the field.

These are the refusal, the calls as the provider has them, and the signatures of Gemini's calls by their ids. The calls
of the provider repeat those of the message (`raw_`), except in messages before langchain-core 0.1.46, which have no
others (`older_`). The links of Perplexity repeat those of its search results, and the text of OpenRouter's reasoning
repeats that of its details (`_again`). The content of version 1 repeats reasoning and the tools of Groq.
The content repeats the plan of Cohere's calls, and the metadata repeat its records.
"""
OLDER = frozenset({"older_calls", "older_call"})
OF_METADATA = {f"{name}_of_metadata": name for name in ("tool_plan", "tool_calls", "citations", "documents")}
"""The entries of `response_metadata` that are decoded as fields of the body if `additional_kwargs` have the same.

Cohere's answers have their plan, calls and citations in both, and the documents of the request.
"""
REPEATING = (*(field for field in LIFTED if field.endswith("_again")), *OF_METADATA)
"""The fields that repeat others. They have no meaning elsewhere."""
ENDINGS = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason")
"""The names of the finish reason in `response_metadata`."""
_CALLS = {
    "tool_call": ("args", "id"),
    "tool_use": ("input", "id"),
    "function_call": ("arguments", "call_id"),
    "custom_tool_call": ("input", "call_id"),
    "invalid_tool_call": ("args", "id"),
}
"""The fields of the arguments and the id of a call, by the type of its block."""


def repeated_calls(body: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the calls in the blocks of a body as `tool_calls` and as `invalid_tool_calls` repeat them."""
    calls: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    for holder in objects_of(body, "content"):
        block = object_of(holder, "value") if holder.get("type") == "non_standard" else holder
        kind = text_of(block, "type")
        if kind not in _CALLS:
            continue
        field, call_id = _CALLS[kind]
        value = block.get(field)
        call = {"name": block.get("name"), "args": value, "id": block.get(call_id), "type": "tool_call"}
        if kind == "invalid_tool_call":
            invalid.append({**call, "error": block.get("error"), "type": kind})
        elif kind == "custom_tool_call":
            calls.append({**call, "args": {"__arg1": value}})
        elif kind != "function_call":
            calls += [] if value is None else [call]
        elif value.__class__ is str:
            arguments = parsed(value)
            if arguments is None:
                invalid.append({**call, "error": None, "type": "invalid_tool_call"})
            else:
                calls.append({**call, "args": arguments})
    return calls, invalid


# -- decoding ----------------------------------------------------------------------------------------------------------


def without_repetitions(body: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]], dict[str, Any]]:
    """Return a copy of a body with each value once, its moved fields with their origins, and the hints."""
    copy = dict(body)
    moved: list[tuple[str, str]] = []
    fields: dict[str, Any] = {}
    present = [name for name in (*AGAIN.values(), *LIFTED, *OF_METADATA, PLAN) if name in body]
    if present:
        fields |= TAKEN.entry(present)
    else:
        moved += [*_move_calls(copy, body), *_lift(copy, body), *_lift_metadata(copy, body)]
    repeated = {
        name: {"was": calls, **({"said": body[name]} if name in body else {})}
        for name, calls in zip(LISTS, repeated_calls(body), strict=True)
        if calls and (present or body.get(name) != calls)
    }
    if repeated:
        fields |= REPEATED.entry(repeated)
    metadata = object_of(copy, "response_metadata")
    ending = next((name for name in ENDINGS if metadata.get(name).__class__ is str), None)
    if ending is not None and "finish_reason" not in metadata:
        copy["response_metadata"] = _renamed(metadata, ending, "finish_reason")
        moved.append(("response_metadata.finish_reason", f"response_metadata.{ending}"))
        fields |= ENDING.entry(ending)
    return copy, moved, fields


def _move_calls(copy: dict[str, Any], body: dict[str, Any]) -> list[tuple[str, str]]:
    """Move the calls that the content has already to fields of their own, in place. Return the moved fields."""
    moved: list[tuple[str, str]] = []
    for name, calls in zip(LISTS, repeated_calls(body), strict=True):
        ids = [call["id"] for call in calls]
        again = [one for one in objects_of(body, name) if (one in calls if one.get("id") is None else one["id"] in ids)]
        if again:
            other_calls = {at: call for at, call in enumerate(body[name]) if not any(call is one for one in again)}
            copy |= {AGAIN[name]: again, name: [*other_calls.values()]}
            if not other_calls:
                del copy[name]
            moved += [
                (AGAIN[name], name),
                *((f"{name}.{index}", f"{name}.{at}") for index, at in enumerate(other_calls)),
            ]
    return moved


def _lift(copy: dict[str, Any], body: dict[str, Any]) -> list[tuple[str, str]]:
    """Move entries of `additional_kwargs` to fields of the body, in place. Return the moved fields."""
    kwargs = object_of(body, "additional_kwargs")
    has_calls = any(body.get(name) for name in LISTS) or any(repeated_calls(body))
    has_list = any(call.get("function").__class__ is dict for call in objects_of(kwargs, "tool_calls"))
    has_one = object_of(kwargs, "function_call").get("name").__class__ is str
    lifted = {
        "refusal": text_of(kwargs, "refusal") != "",
        "raw_calls": has_calls and kwargs.get("tool_calls").__class__ is list,
        "raw_call": has_one and (has_calls or has_list),
        "older_calls": has_list and not has_calls,
        "older_call": has_one and not has_calls and not has_list,
        "call_signatures": kwargs.get(SIGNATURES).__class__ is dict,
        "links_again": _repeats_links(kwargs),
        "reasoning_again": _repeats_reasoning(kwargs, body),
        "tools_again": _repeats_tools(kwargs, body),
        "plan_again": text_of(kwargs, "tool_plan") != "" and kwargs["tool_plan"] == body.get("content"),
        **{field: _is_repeated(name, kwargs, body) for field, name in LIFTED.items() if name in _RECORDS},
    }
    moved = {field: name for field, name in LIFTED.items() if lifted[field]}
    if moved:
        copy["additional_kwargs"] = {key: value for key, value in kwargs.items() if key not in moved.values()}
        copy |= {field: kwargs[name] for field, name in moved.items()}
    places = [(field, f"additional_kwargs.{name}") for field, name in moved.items()]
    if "plan_again" not in moved and not (has_calls and _is_streamed_plan(body)):
        return places
    copy[PLAN] = copy.pop("content")
    return [*places, (PLAN, "content")]


def _lift_metadata(copy: dict[str, Any], body: dict[str, Any]) -> list[tuple[str, str]]:
    """Move entries of the metadata that `additional_kwargs` repeat to fields, in place. Return the moved fields."""
    kwargs, metadata = object_of(body, "additional_kwargs"), object_of(body, "response_metadata")
    moved = {field: name for field, name in OF_METADATA.items() if _is_repeated(name, kwargs, body)}
    if moved:
        copy["response_metadata"] = {key: value for key, value in metadata.items() if key not in moved.values()}
        copy |= {field: metadata[name] for field, name in moved.items()}
    return [(field, f"response_metadata.{name}") for field, name in moved.items()]


def _is_streamed_plan(body: dict[str, Any]) -> bool:
    """Return whether the content beside calls is a plan: only Cohere has this finish reason."""
    ending = object_of(body, "response_metadata").get("finish_reason")
    has_plan = "tool_plan" in object_of(body, "additional_kwargs")
    return ending == "TOOL_CALL" and not has_plan and text_of(body, "content") != ""


def _repeats_links(kwargs: dict[str, Any]) -> bool:
    links = links_of(kwargs)
    return bool(links) and kwargs.get("citations") == links


def links_of(kwargs: dict[str, Any]) -> list[Any]:
    """Return the links of Perplexity's search results."""
    return [source["url"] for source in objects_of(kwargs, "search_results") if "url" in source]


def _repeats_reasoning(kwargs: dict[str, Any], body: dict[str, Any]) -> bool:
    return text_of(kwargs, "reasoning_content") in _texts_of_reasoning(kwargs, body)


def _texts_of_reasoning(kwargs: dict[str, Any], body: dict[str, Any]) -> list[str]:
    """Return the texts of the details of OpenRouter's reasoning, and of blocks of reasoning in the content."""
    listed = [block for block in objects_of(kwargs, DETAILS) if text_of(block, "type").startswith("reasoning.")]
    details = [text_of(block, "text") or text_of(block, "summary") for block in listed]
    blocks = [text_of(block, "reasoning") for block in objects_of(body, "content") if block.get("type") == "reasoning"]
    texts = [between.join(filter(None, group)) for group in (details, blocks) for between in ("", "\n\n")]
    return [text for text in texts if text]


def is_raw_call(value: Any) -> bool:
    """Return whether a value is a call as the API of a provider has it."""
    return value.__class__ is dict and any(value.get(name).__class__ is dict for name in ("function", "custom"))


def is_executed_tool(value: Any) -> bool:
    """Return whether a value is a tool that Groq ran."""
    return value.__class__ is dict and value.get("type").__class__ is str and "arguments" in value


def is_chunk(value: Any) -> bool:
    """Return whether a value is a piece of a call. The calls of the message have all pieces, joined."""
    return value.__class__ is dict and value.keys() >= {"name", "args"}


def _is_repeated(name: str, kwargs: dict[str, Any], body: dict[str, Any]) -> bool:
    """Return whether the metadata have the same entry."""
    return kwargs.get(name) is not None and object_of(body, "response_metadata").get(name) == kwargs[name]


def _repeats_tools(kwargs: dict[str, Any], body: dict[str, Any]) -> bool:
    """Return whether blocks of the content are the calls and results of all tools that Groq ran.

    Source: langchain-core 1.8.3 (messages/block_translators/groq.py, seen 2026-11-27).
    """
    tools, blocks = [*filter(is_executed_tool, list_of(kwargs, "executed_tools"))], objects_of(body, "content")
    calls = [block for block in blocks if block.get("type") == "server_tool_call"]
    results = [block for block in blocks if block.get("type") == "server_tool_result"]
    outputs = [tool["output"] for tool in tools if tool.get("output")]
    return bool(tools) and len(calls) == len(tools) and [result.get("output") for result in results] == outputs


def _renamed(fields: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in fields.items()}


# -- encoding ----------------------------------------------------------------------------------------------------------


def add_repetitions(body: dict[str, Any], message: ChatMessage) -> None:
    """Write each value of a body to all fields that the message had it in, in place."""
    repeated = REPEATED.of(message, API) or {}
    present = TAKEN.of(message, API) or []
    for name, calls in zip(LISTS, repeated_calls(body), strict=True):
        if AGAIN[name] not in present:
            body.pop(AGAIN[name], None)
        difference = object_of(repeated, name)
        if "was" in difference and difference["was"] == calls:
            body.pop(name, None)
            if "said" in difference:
                body[name] = difference["said"]
        elif calls:
            body[name] = [*calls, *(body.get(name) or ())]
    fields = [field for field in LIFTED if field in body and field not in present]
    lifted = {LIFTED[field]: body.pop(field) for field in fields}
    if PLAN in body and PLAN not in present:
        plan = body.pop(PLAN)
        body["content"] = body.get("content") or plan
        lifted |= {"tool_plan": plan} if "plan_again" in fields or not _is_streamed_plan(body) else {}
    if lifted:
        kwargs = {**body.get("additional_kwargs", {}), **lifted}
        body["additional_kwargs"] = kwargs
        _edit_repetitions(kwargs, fields, body)
    ending = ENDING.of(message, API)
    of_metadata = {
        name: body.pop(field) for field, name in OF_METADATA.items() if field in body and field not in present
    }
    if of_metadata:
        body["response_metadata"] = {**object_of(body, "response_metadata"), **of_metadata}
    metadata = body.get("response_metadata")
    if ending is not None and metadata.__class__ is dict:
        body["response_metadata"] = _renamed(metadata, "finish_reason", ending)


def _edit_repetitions(kwargs: dict[str, Any], fields: list[str], body: dict[str, Any]) -> None:
    """Change the entries of `additional_kwargs` that repeat reasoning or tools if these were edited, in place."""
    if "tools_again" in fields and not _repeats_tools(kwargs, body):
        del kwargs["executed_tools"]
    if "reasoning_again" in fields and not _repeats_reasoning(kwargs, body):
        texts = _texts_of_reasoning(kwargs, body)
        kwargs["reasoning_content"] = texts[0] if texts else ""


# -- joined blocks ----------------------------------------------------------------------------------------------------

# LangChain joins the pieces of a stream. Joined blocks keep the keys by which it joined them. A joined call has its
# arguments in `partial_json` or as a text, and in `tool_calls`, which the packages of providers prefer:
# langchain-anthropic 1.7.10 (chat_models.py) and langchain-openai 1.7.4 (chat_models/base.py,
# `_pop_index_and_sub_index`), seen 2026-11-27.
JOINED = Hint[dict[str, dict[str, Any]]](
    API, "joined", "the fields of joined blocks, by path: as decoded (`was`) and as they were (`said`)"
)
_JOINED_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
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

    mapped = {key: changed(value, key) if key == "content" else value for key, value in body.items()}
    beside = object_of(body, "additional_kwargs")
    if not beside.keys().isdisjoint(_MAPPED):
        mapped["additional_kwargs"] = {
            key: changed(value, key) if key in _MAPPED else value for key, value in beside.items()
        }
    return mapped


_MAPPED = frozenset(("reasoning", "tool_outputs", DETAILS))
"""The entries of `additional_kwargs` with blocks: OpenAI's items as version 0 has them, and those of OpenRouter."""


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
    if block["type"] in _JOINED_CALLS and "input" in block:
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
