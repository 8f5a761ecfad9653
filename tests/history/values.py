"""Hypothesis strategies of hand-written rows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from contentmodel_conformance.strategies.sdk import json_values

ROLES = st.sampled_from(["user", "assistant", "tool", "assistant", "tool", "system", "developer"])
UNKNOWN = st.dictionaries(st.sampled_from(["note", "cache_control", "x y", "it's"]), json_values, max_size=2)
_TEXT = st.sampled_from(["Hi.", "", "18 degrees"])
_INSIDE: dict[str, st.SearchStrategy[Any]] = {
    "text": st.fixed_dictionaries({}, optional={"annotations": st.none() | st.just([{"url": "https://a.example"}])}),
    "thinking": st.fixed_dictionaries(
        {}, optional={"signature": st.sampled_from(["c2ln", None, ""]), "issuer": st.just("anthropic")}
    ),
    "tool_use": st.fixed_dictionaries(
        {"tool_use_id": st.sampled_from(["t1", "t2"]), "tool_name": st.just("weather")},
        optional={
            "input": st.sampled_from([{}, {"city": "Oslo"}, '{"city": "Oslo"}', None]),
            "executor": st.just("client"),
        },
    ),
    "image": st.fixed_dictionaries({"media_type": st.just("image/png"), "data": st.just("iVBORw0K")})
    | st.fixed_dictionaries({"url": st.just("https://a.example/a.png")}, optional={"media_type": st.just("image/png")}),
    "reference": st.fixed_dictionaries({"uri": st.just("https://a.example")}, optional={"title": st.just("A")})
    | st.fixed_dictionaries({"file": st.just("file_1")})
    | st.fixed_dictionaries({"item_id": st.just("item_1")}),
    "error": st.fixed_dictionaries({"message": st.just("No."), "code": st.just("refusal")}),
    "web_search_tool_call": st.fixed_dictionaries({"call_id": st.just("s1"), "arguments": st.just({"query": "x"})}),
    "web_search_tool_result": st.fixed_dictionaries(
        {"call_id": st.just("s1"), "outputs": st.just([{"type": "uri", "uri": "https://a.example", "more": 1}])}
    ),
    "hologram": st.fixed_dictionaries({"shape": st.just([1, 2])}),
}


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """Draw a hand-written block, sometimes with unknown fields."""
    form = draw(st.integers(0, 9))
    if form == 0:
        return {"type": "text", "text": draw(_TEXT), **draw(UNKNOWN)}
    kind = draw(st.sampled_from([*_INSIDE, "tool_result", "text"]))
    if kind == "tool_result":
        outputs = _TEXT | st.none() | st.lists(blocks(depth - 1), max_size=2 if depth > 0 else 0)
        inside = draw(
            st.fixed_dictionaries(
                {"tool_use_id": st.sampled_from(["t1", "t2"])},
                optional={"is_error": st.booleans() | st.none(), "content": outputs},
            )
        )
    else:
        inside = draw(_INSIDE[kind])
    inside = {**inside, **draw(UNKNOWN)}
    block: dict[str, Any] = {"block_type": kind}
    if kind in ("text", "thinking") or draw(st.integers(0, 4)) == 0:
        block["text_content"] = draw(_TEXT if kind in ("text", "thinking") else st.none() | _TEXT)
    if inside or draw(st.booleans()):
        block["content"] = inside or draw(st.sampled_from([None, {}]))
    return {**block, **draw(UNKNOWN)}


@st.composite
def rows(draw: st.DrawFn, role: str | None = None) -> dict[str, Any]:
    """Draw a hand-written turn."""
    made = draw(st.lists(blocks(), max_size=4))
    numbered = draw(st.sampled_from([None, 0, 1, 10]))
    if numbered is not None:
        made = [{"sequence": numbered + (numbered or 1) * index, **block} for index, block in enumerate(made)]
    optional = {
        "conversation": st.just("c1"),
        "status": st.sampled_from(["complete", "interrupted", None]),
        "model": st.just("claude-opus-5"),
        "origin": st.none() | st.just({"api": "anthropic-messages", "issuer": "anthropic"}),
        "stop_reason": st.sampled_from(["stop", "end_turn", "odd", None]),
        "usage": st.none() | st.just({"input_tokens": 3, "output_tokens": 4, "cached": {"more": 1}}),
        "started_at": st.just("2026-11-21T10:00:00Z"),
        "ended_at": st.none(),
        "error": st.none() | st.just("Broke.") | st.just({"message": "Broke.", "code": "x", "new": 1}),
        "envelope": st.none() | st.just({}) | st.just({"note": 1}),
    }
    turn = draw(st.fixed_dictionaries({"role": st.just(role) if role else ROLES}, optional=optional))
    if made or draw(st.booleans()):
        turn["blocks"] = made
    if made and draw(st.integers(0, 5)) == 0:
        turn["envelope"] = {
            "messages": [
                {"role": draw(ROLES), "author_name": "ann", "blocks": 1, "new": 2},
                {"role": draw(ROLES), "blocks": len(made) - 1},
            ]
        }
    return {**turn, **draw(UNKNOWN)}


@st.composite
def transcripts_of_rows(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a hand-written request."""
    turns = draw(st.lists(rows(), max_size=5))
    if draw(st.booleans()):
        turns = [{"id": f"t{index}", **turn} for index, turn in enumerate(turns)]
        turns = [{**turn, "previous": f"t{index - 1}" if index else None} for index, turn in enumerate(turns)]
    envelope = {
        "model": st.just("m"),
        "instructions": st.just([{"type": "text", "text": "Be brief.", "more": 1}]),
        "tools": st.just([{"type": "function", "name": "weather", "parameters": {"type": "object"}, "new": None}]),
        "options": st.just({"temperature": 1, "seed": None, "new": 1}),
        "origin": st.none() | st.just({"api": "openai-chat", "issuer": "openai", "new": 1}),
        "messages": st.just([]),
    }
    wire: dict[str, Any] = {"turns": turns, **draw(UNKNOWN)}
    if draw(st.booleans()):
        wire["envelope"] = draw(st.fixed_dictionaries({}, optional=envelope))
    if draw(st.booleans()):
        wire["conversation"] = "c1"
    return wire
