"""Convert records of Gemini CLI's sessions to contents of generateContent, and back.

A record of an answer holds thoughts, text and calls either in the fields `thoughts`, `content` and `toolCalls`, or all
as parts of `content`. The program sends them in this order (`convertSessionToClientHistory`, seen with 0.61.0).
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Opened(NamedTuple):
    """A record as parts, the path of each part in the record, and the record without the values of the parts."""

    parts: list[Any]
    places: list[str]
    envelope: dict[str, Any]


def opened(record: dict[str, Any]) -> Opened | None:
    """Return a record as parts; None if it has an unknown form, from which `restored` could not restore it."""
    content = record.get("content")
    is_answer = record["type"] == "gemini"
    held: Any
    if content.__class__ is list:
        parts, places, held = list(content), [f".content[{at}]" for at in range(len(content))], [None] * len(content)
    elif content.__class__ is dict:
        parts, places, held = [content], [".content"], {}
    elif content.__class__ is str and (content or not is_answer):
        parts, places, held = [{"text": content}], [".content"], None
    elif content == "":
        parts, places, held = [], [], ""
    else:
        return None
    if any(part.__class__ is not dict for part in parts):
        return None
    envelope = {**record, "content": held}
    if is_answer and not any("functionCall" in part or part.get("thought") for part in parts):
        before, after = _thoughts(record), _calls(record)
        if before is None or after is None:
            return None
        parts, places = [*before.parts, *parts, *after.parts], [*before.places, *places, *after.places]
        envelope |= {**before.envelope, **after.envelope}
    found = Opened(parts, places, envelope)
    return found if restored(envelope, parts) == record else None


def restored(envelope: dict[str, Any], parts: list[Any]) -> dict[str, Any] | None:
    """Return the record with new parts, in the form of its envelope; None if the parts do not fit into this form."""
    record, rest = dict(envelope), list(parts)
    thoughts = [thought for thought in _objects(record.get("thoughts")) if thought.get("description", "") is None]
    calls = [call for call in _objects(record.get("toolCalls")) if call.get("id", "") is None]
    if len(rest) < len(thoughts) + len(calls):
        return None
    filled: dict[str, list[Any]] = {}
    if thoughts:
        filled["thoughts"] = [_with_thought(thought, rest.pop(0)) for thought in thoughts]
    if calls:
        filled["toolCalls"] = [_with_call(call, part) for call, part in zip(calls, rest[-len(calls) :], strict=True)]
        del rest[-len(calls) :]
    if any(None in values for values in filled.values()):
        return None
    record |= filled
    held = envelope.get("content")
    if held.__class__ is list and len(held) == len(rest):
        record["content"] = rest
    elif held == {} and len(rest) == 1:
        record["content"] = rest[0]
    elif held is None and len(rest) == 1 and [*rest[0]] == ["text"]:
        record["content"] = rest[0]["text"]
    elif held != "" or rest:
        return None
    return record


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if item.__class__ is dict] if value.__class__ is list else []


# -- thoughts and calls ------------------------------------------------------------------------------------------------


def _thoughts(record: dict[str, Any]) -> Opened | None:
    thoughts = record.get("thoughts")
    if not thoughts:
        return Opened([], [], {})
    if thoughts.__class__ is not list or any(not _is_thought(thought) for thought in thoughts):
        return None
    parts = [{"text": _head(thought) + thought["description"], "thought": True} for thought in thoughts]
    places = [f".thoughts[{at}].description" for at in range(len(thoughts))]
    return Opened(parts, places, {"thoughts": [{**thought, "description": None} for thought in thoughts]})


def _is_thought(thought: Any) -> bool:
    return (
        thought.__class__ is dict
        and thought.get("description").__class__ is str
        and thought.get("subject", "").__class__ is str
    )


def _head(thought: dict[str, Any]) -> str:
    return f"**{thought['subject']}** " if thought.get("subject") else ""


def _with_thought(thought: dict[str, Any], part: dict[str, Any]) -> dict[str, Any] | None:
    head, text = _head(thought), part.get("text")
    if set(part) != {"text", "thought"} or part["thought"] is not True or not isinstance(text, str):
        return None
    return {**thought, "description": text[len(head) :]} if text.startswith(head) else None


_CALL = ("id", "name", "args")


def _calls(record: dict[str, Any]) -> Opened | None:
    calls = record.get("toolCalls")
    if not calls:
        return Opened([], [], {})
    if calls.__class__ is not list or any(not _is_call(call) for call in calls):
        return None
    parts = [{"functionCall": {key: call[key] for key in _CALL if key in call}} for call in calls]
    rest = [{key: None if key in _CALL else value for key, value in call.items()} for call in calls]
    return Opened(parts, [f".toolCalls[{at}]" for at in range(len(calls))], {"toolCalls": rest})


def _is_call(call: Any) -> bool:
    return call.__class__ is dict and isinstance(call.get("id"), str) and isinstance(call.get("name"), str)


def _with_call(call: dict[str, Any], part: dict[str, Any]) -> dict[str, Any] | None:
    given = part.get("functionCall")
    if [*part] != ["functionCall"] or given.__class__ is not dict or any(key not in _CALL for key in given):
        return None
    return {**call, **given} if all(key in given for key in _CALL if key in call) else None


# -- results -----------------------------------------------------------------------------------------------------------


def results_of(record: dict[str, Any]) -> Opened:
    """Return the results of the calls in a record of an answer as parts of a message of the user.

    The envelope has the calls without these results: `with_results` restores them. If it cannot, there are no parts.
    """
    parts, places, rest = [], [], []
    calls = record.get("toolCalls")
    for at, call in enumerate(calls if calls.__class__ is list else ()):
        if call.__class__ is not dict:
            rest.append(call)
            continue
        result, place = call.get("result"), f".toolCalls[{at}].result"
        if result.__class__ is list and result and all(part.__class__ is dict for part in result):
            parts += result
            places += [f"{place}[{number}]" for number in range(len(result))]
            rest.append({**call, "result": [None] * len(result)})
        elif result.__class__ is dict and result:
            parts.append(result)
            places.append(place)
            rest.append({**call, "result": {}})
        elif isinstance(result, str):
            named = {key: call[key] for key in ("id", "name") if key in call}
            parts.append({"functionResponse": {**named, "response": {"output": result}}})
            places.append(place)
            rest.append({**call, "result": ""})
        else:
            rest.append(call)
    found = Opened(parts, places, {"toolCalls": rest})
    return found if parts and with_results({**record, **found.envelope}, parts) == record else Opened([], [], {})


def with_results(record: dict[str, Any], parts: list[Any]) -> dict[str, Any] | None:
    """Return a record with the results of its calls; None if the parts do not have the form of the results."""
    rest, calls = list(parts), []
    for call in record.get("toolCalls", ()):
        held = call.get("result") if call.__class__ is dict else None
        size = len(held) if held.__class__ is list and None in held else 1 if held in ("", {}) else 0
        taken, rest = rest[:size], rest[size:]
        if len(taken) < size:
            return None
        if held.__class__ is list and size:
            call = {**call, "result": taken}
        elif held == {}:
            call = {**call, "result": taken[0]}
        elif held == "":
            output = (taken[0].get("functionResponse") or {}).get("response", {}).get("output")
            if not isinstance(output, str):
                return None
            call = {**call, "result": output}
        calls.append(call)
    return None if rest else {**record, "toolCalls": calls}
