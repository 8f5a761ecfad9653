"""Hypothesis strategies of documents with conversations: lines of fine-tuning files and rows of data sets."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from contentmodel_conformance.strategies.sdk import json_values

Drawn = st.SearchStrategy[Any]

UNKNOWN = st.dictionaries(st.sampled_from(["note", "weight", "x y", "id"]), json_values, max_size=1)
TEXTS = st.sampled_from(["Hi.", "", "18 degrees", "<tool_call>{}</tool_call>", '{"a": 1}', "half \ud83d of it"])
IDS = st.sampled_from(["c1", "c2", "", "id with blanks"])
LINKS = st.sampled_from(
    ["https://example.org/a.png", "a.png", "file:///a.png", "data:image/png;base64,iVBORw0KGgo=", "data:,x"]
)
NULLABLE = st.none() | TEXTS
OBJECTS = st.dictionaries(st.sampled_from(["city", "day", "a"]), st.none() | json_values, max_size=3)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            st.sampled_from(["city", "day"]),
            st.none() | st.fixed_dictionaries({"type": st.sampled_from(["string", ["string", "null"]])}),
        ),
        "required": st.none() | st.just(["city"]),
    },
)
TOOLS = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.just("function"),
            "function": st.fixed_dictionaries(
                {"name": st.sampled_from(["weather", "clock"])},
                optional={
                    "description": NULLABLE,
                    "parameters": st.none() | SCHEMAS,
                    "strict": st.none() | st.booleans(),
                },
            ),
        }
    ),
    max_size=2,
)


def conversations(messages: Drawn, **optional: Drawn) -> Drawn:
    """Draw documents with a list of messages, sometimes with unknown fields."""
    known = st.fixed_dictionaries({"messages": st.lists(messages, min_size=1, max_size=5)}, optional=optional)
    return st.tuples(known, UNKNOWN).map(lambda parts: parts[1] | parts[0])


def messages_of(calls: Drawn, parts: Drawn, reasoning: Drawn, tool: dict[str, Drawn]) -> Drawn:
    """Draw messages with the columns of Chat Completions."""
    content = NULLABLE | st.lists(parts, max_size=3)
    plain = st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user"]), "content": content}, optional={"name": NULLABLE}
    )
    columns = {"content": content, "refusal": NULLABLE, "tool_calls": st.none() | st.lists(calls, max_size=2)}
    written = st.fixed_dictionaries({"role": st.just("assistant")}, optional={**columns, "name": NULLABLE})
    result = st.fixed_dictionaries({"role": st.just("tool"), "content": content}, optional=tool)
    return st.tuples(UNKNOWN, st.one_of(plain, st.tuples(written, reasoning).map(_joined), result)).map(_joined)


def _joined(parts: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    return parts[0] | parts[1]


def function(arguments: Drawn) -> Drawn:
    return st.fixed_dictionaries({"name": st.sampled_from(["weather", "clock"])}, optional={"arguments": arguments})


TEXT_PARTS = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}, optional={"note": json_values})
IMAGE_URLS = st.fixed_dictionaries(
    {
        "type": st.just("image_url"),
        "image_url": st.fixed_dictionaries({"url": LINKS}, optional={"detail": st.sampled_from(["low", "high", "?"])}),
    }
)

FINETUNE = conversations(
    messages_of(
        st.fixed_dictionaries(
            {"id": IDS, "type": st.just("function"), "function": function(st.sampled_from(['{"a": 1}', "{}", "", "{"]))}
        ),
        TEXT_PARTS | IMAGE_URLS,
        st.fixed_dictionaries({}, optional={"weight": st.sampled_from([0, 1, 2, None])}),
        {"tool_call_id": IDS},
    ),
    tools=TOOLS,
    parallel_tool_calls=st.booleans() | st.none(),
)

_MEDIA = st.tuples(
    st.sampled_from(["image", "audio", "video"]),
    st.sampled_from(["url", "path", "base64", "own", "none"]),
    LINKS,
).map(
    lambda part: {"type": part[0]} | ({} if part[1] == "none" else {part[0] if part[1] == "own" else part[1]: part[2]})
)

HF = conversations(
    messages_of(
        st.one_of(
            st.fixed_dictionaries({"function": function(OBJECTS)}, optional={"id": st.none() | IDS}),
            st.fixed_dictionaries({"type": st.just("function"), "function": function(OBJECTS | TEXTS)}),
            function(OBJECTS),
        ),
        TEXT_PARTS | IMAGE_URLS | _MEDIA,
        st.fixed_dictionaries(
            {}, optional={"thinking": NULLABLE, "reasoning_content": NULLABLE, "reasoning": NULLABLE}
        ),
        {"name": NULLABLE, "tool_call_id": st.none() | IDS},
    ),
    tools=st.none() | TOOLS | TOOLS.map(json.dumps) | TEXTS,
    chat_template_kwargs=json_values,
)

_PARTS = TEXT_PARTS | st.fixed_dictionaries(
    {
        "type": st.sampled_from(["image", "audio"]),
        "source": st.fixed_dictionaries({"path": LINKS}, optional={"media_type": st.sampled_from(["image/png", "x"])}),
    }
)
_MESSAGES = TEXTS | st.lists(_PARTS, max_size=3)
_OBSERVATIONS = st.fixed_dictionaries(
    {
        "results": st.lists(
            st.fixed_dictionaries(
                {}, optional={"source_call_id": st.none() | IDS, "content": st.none() | _MESSAGES, "extra": json_values}
            ),
            max_size=2,
        )
    },
    optional={"note": json_values},
)
_COMMON = {
    "step_id": st.integers(1, 3),
    "timestamp": st.sampled_from(["2026-11-23T10:00:00Z", "yesterday", None]),
    "observation": st.none() | _OBSERVATIONS,
    "extra": json_values,
}
_STEPS = st.fixed_dictionaries(
    {"source": st.sampled_from(["system", "user", "critic"]), "message": _MESSAGES}, optional=_COMMON
) | st.fixed_dictionaries(
    {"source": st.just("agent"), "message": _MESSAGES},
    optional={
        **_COMMON,
        "reasoning_content": NULLABLE,
        "metrics": st.just({"prompt_tokens": 7}),
        "tool_calls": st.none()
        | st.lists(
            st.fixed_dictionaries(
                {"tool_call_id": IDS, "function_name": st.sampled_from(["weather", "clock"])},
                optional={"arguments": OBJECTS, "extra": json_values},
            ),
            max_size=2,
        ),
    },
)
ATIF = st.fixed_dictionaries(
    {"schema_version": st.just("ATIF-v1.7"), "steps": st.lists(_STEPS, min_size=1, max_size=4)},
    optional={
        "agent": st.fixed_dictionaries(
            {"name": TEXTS}, optional={"model_name": NULLABLE, "tool_definitions": st.none() | TOOLS}
        ),
        "notes": NULLABLE,
        "final_metrics": json_values,
    },
)

_CALLS = st.fixed_dictionaries(
    {"name": st.sampled_from(["weather", "clock"]), "arguments": OBJECTS | st.sampled_from(['{"a": 1}', "{", ""])},
    optional={"id": IDS, "note": json_values},
)
_CALL_TEXTS = st.one_of(
    _CALLS.map(json.dumps),
    _CALLS.map(lambda call: json.dumps(call, separators=(",", ":"))),
    st.lists(_CALLS, min_size=1, max_size=2).map(json.dumps),
    TEXTS,
    st.sampled_from(["[]", '{"name": "weather"}', '{"name":"clock","arguments":{"a":"<image>"}}']),
)
_VALUES = TEXTS | st.sampled_from(
    ["<image>", "Look: <image> and <image>", "<video>Look.", "<audio>", "<image><audio> x"]
)
_TURNS = st.tuples(
    UNKNOWN,
    st.fixed_dictionaries(
        {
            "from": st.sampled_from(
                ["human", "user", "gpt", "assistant", "system", "observation", "tool", "critic", "function_call", ""]
            ),
            "value": _VALUES,
        }
    )
    | st.fixed_dictionaries({"from": st.just("function_call"), "value": _CALL_TEXTS})
    | st.fixed_dictionaries(
        {"from": st.sampled_from(["human", "gpt", "tool"])}, optional={"value": st.none() | json_values}
    ),
).map(_joined)
_LISTS = st.none() | st.lists(LINKS, max_size=3) | st.lists(json_values, max_size=2)
_BARE = TOOLS.map(lambda tools: [tool["function"] for tool in tools])


def _with_media(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with a link for each placeholder."""
    values = [message.get("value") for message in document["conversations"]]
    texts = [value for value in values if isinstance(value, str)]
    for kind in ("image", "video", "audio"):
        count = sum(text.count(f"<{kind}>") for text in texts)
        if count:
            document[f"{kind}s"] = [f"{at}.{kind}" if at else f"data:{kind}/x;base64,AAAA" for at in range(count)]
    return document


_CONVERSATIONS = st.fixed_dictionaries(
    {"conversations": st.lists(_TURNS, min_size=1, max_size=5)},
    optional={
        "system": NULLABLE,
        "tools": st.none() | TOOLS | TOOLS.map(json.dumps) | _BARE.map(json.dumps) | _BARE | TEXTS,
        "images": _LISTS,
        "videos": _LISTS,
        "audios": _LISTS,
        "id": json_values,
    },
)
SHAREGPT = _CONVERSATIONS | _CONVERSATIONS.map(_with_media)
