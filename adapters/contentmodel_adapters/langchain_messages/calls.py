"""Values that a message of LangChain has twice or in fields of several names: calls, signatures, finish reasons."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import object_of
from contentmodel_adapters.langchain_messages.blocks import parsed
from contentmodel_adapters.langchain_messages.rows import ENDINGS


def repeated_calls(content: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the calls in the blocks of a message as `tool_calls` and as `invalid_tool_calls` repeat them."""
    calls: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    for block in content if content.__class__ is list else ():
        if block.__class__ is not dict:
            continue
        kind, name = block.get("type"), block.get("name")
        if kind == "tool_call" and "args" in block:
            calls.append({"name": name, "args": block["args"], "id": block.get("id"), "type": "tool_call"})
        elif kind == "tool_use" and "input" in block:
            calls.append({"name": name, "args": block["input"], "id": block.get("id"), "type": "tool_call"})
        elif kind == "function_call" and block.get("arguments").__class__ is str:
            arguments = parsed(block["arguments"])
            common = {"name": name, "id": block.get("call_id")}
            if arguments is None:
                error = {"args": block["arguments"], "error": None, "type": "invalid_tool_call"}
                invalid.append({**common, **error})
            else:
                calls.append({**common, "args": arguments, "type": "tool_call"})
        elif kind == "invalid_tool_call":
            wanted = ("name", "args", "id", "error")
            invalid.append({**{key: block.get(key) for key in wanted}, "type": "invalid_tool_call"})
    return calls, invalid


LISTS = ("tool_calls", "invalid_tool_calls")
AGAIN = {"tool_calls": "calls_again", "invalid_tool_calls": "invalid_again"}
"""The field of a body in which the calls that its content has already are decoded. It has no meaning elsewhere."""


SIGNATURES = "__gemini_function_call_thought_signatures__"
LIFTED = {"refusal": "refusal", "tool_calls": "raw_calls", SIGNATURES: "call_signatures"}
"""The entries of `additional_kwargs` that are decoded as fields of the body: the refusal, OpenAI's own calls, and the
signatures of Gemini's calls by their ids."""


def without_repetitions(
    body: dict[str, Any], metadata: dict[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]], dict[str, Any]]:
    """Return the body with each call once, and the finish reason in one field; the moved fields, and the hints."""
    copy: dict[str, Any] = body
    taken = [name for name in (*AGAIN.values(), *LIFTED.values()) if name in body]
    moved: list[tuple[str, str]] = []
    changes: dict[str, Any] = {}
    repeated: dict[str, Any] = {}
    for name, calls in zip(LISTS, repeated_calls(body.get("content")), strict=True):
        listed = body.get(name)
        if not calls:
            continue
        ids = [call["id"] for call in calls]
        again = [call for call in listed or () if call.__class__ is dict and call.get("id") in ids]
        if listed.__class__ is list and again and not taken:
            rest = [call for call in listed if not any(call is one for one in again)]
            copy = {**copy, AGAIN[name]: again}
            copy.pop(name)
            if rest:
                copy[name] = rest
            moved.append((AGAIN[name], name))
        if listed != calls or taken:
            repeated[name] = {"was": calls, **({"said": listed} if name in body else {})}
    if repeated:
        changes["repeated"] = repeated
    ending = next((name for name in ENDINGS if metadata.get(name).__class__ is str), "finish_reason")
    if ending != "finish_reason" and "finish_reason" not in metadata:
        others = {key: value for key, value in metadata.items() if key != ending}
        copy = {**copy, "response_metadata": {**others, "finish_reason": metadata[ending]}}
        moved.append(("response_metadata.finish_reason", f"response_metadata.{ending}"))
        changes["ending"] = ending
    kwargs = object_of(body, "additional_kwargs")
    has_calls = any(body.get(name) for name in LISTS) or bool(repeated_calls(body.get("content"))[0])
    classes = {"refusal": str, "tool_calls": list, SIGNATURES: dict}
    lifted = {name: kwargs[name] for name in LIFTED if kwargs.get(name).__class__ is classes[name]}
    if not lifted.get("refusal"):
        lifted.pop("refusal", None)
    if not has_calls:
        lifted.pop("tool_calls", None)
    if taken:
        changes["taken"] = taken
    elif lifted:
        others = {key: value for key, value in kwargs.items() if key not in lifted}
        copy = {**copy, "additional_kwargs": others, **{LIFTED[name]: value for name, value in lifted.items()}}
        moved += [(LIFTED[name], f"additional_kwargs.{name}") for name in lifted]
    return copy, moved, changes
