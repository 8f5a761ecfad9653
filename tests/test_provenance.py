"""Provenance: positions of objects in trees, distinct parts of values, and paths through replacements."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from contentmodel import ChatMessage, ChatRequest, FunctionResultContent, TextContent, reasons
from contentmodel.authoring import DecodeContext, Row, Table
from contentmodel.engine.losses.model_paths import ModelPaths, Owners, parts_of, stepped, with_distinct_parts
from contentmodel.engine.losses.provenance import Positions, containers_of
from contentmodel.losses import Loss, PendingLoss
from contentmodel.message import Origin
from contentmodel_conformance.strategies import model
from contentmodel_conformance.strategies.transcripts import transcripts


def request(*contents: Any) -> ChatRequest:
    return ChatRequest(model="m", messages=[ChatMessage(role="user", contents=list(contents))])


# -- positions ---------------------------------------------------------------------------------------------------------


def test_path_of_an_object_has_the_steps_from_the_root() -> None:
    deep = {"x": 1}
    payload = {"a": [{}, {"b b": deep}]}
    assert Positions([payload], containers_of).path(deep) == "$.a[1]['b b']"


def test_path_begins_with_the_given_root() -> None:
    deep = {"x": 1}
    assert Positions([{"a": deep}], containers_of, "$.choices[2]").path(deep) == "$.choices[2].a"


def test_equal_objects_have_separate_paths() -> None:
    first, second = {"x": 1}, {"x": 1}
    positions = Positions([[first, second]], containers_of)
    assert [positions.path(second), positions.path(first)] == ["$[1]", "$[0]"]


def test_object_that_occurs_twice_has_its_first_and_shallowest_path() -> None:
    shared = {"x": 1}
    positions = Positions([{"deep": {"inner": shared}, "a": shared, "b": shared}], containers_of)
    assert positions.path(shared) == "$.a"


def test_object_outside_of_trees_has_no_path_and_no_root() -> None:
    positions = Positions([{"a": {}}], containers_of)
    assert positions.path({}) is None
    assert positions.parent({}) is None
    assert positions.tree({}) is None


def test_tree_returns_the_index_of_the_root() -> None:
    inner = {"x": 1}
    positions = Positions([{"a": {}}, {"a": [inner]}], containers_of)
    assert positions.tree(inner) == 1


def test_positions_read_no_deeper_than_needed() -> None:
    seen = []

    def children(value: Any) -> Any:
        seen.append(value)
        return containers_of(value)

    top, deep = {"leaf": {}}, {"x": 1}
    positions = Positions([{"a": top, "b": {"c": deep}}], children)
    assert positions.path(top) == "$.a"
    assert len(seen) == 1
    assert positions.path(deep) == "$.b.c"
    assert deep not in seen


@pytest.mark.parametrize(("step", "path"), [(3, "$.a[3]"), ("b", "$.a.b"), ("b.c", "$.a['b.c']"), ("", "$.a['']")])
def test_step_is_an_index_or_a_key(step: str | int, path: str) -> None:
    assert stepped("$.a", step) == path


# -- parts -------------------------------------------------------------------------------------------------------------


def test_parts_are_structs_and_lists_without_residue_and_json() -> None:
    inner = TextContent(text="x")
    content = FunctionResultContent(call_id="1", outputs=[inner], extra={"an-api": {"a": [1]}})
    assert parts_of(content) == [("outputs", content.outputs)]
    assert parts_of(content.outputs) == [(0, inner)]
    assert parts_of(inner) == []


def test_value_without_repeated_objects_stays_the_same_object() -> None:
    value = request(TextContent(text="a"), TextContent(text="a"))
    assert with_distinct_parts(value) is value


def test_each_further_occurrence_of_an_object_is_a_copy() -> None:
    shared = FunctionResultContent(call_id="1", outputs=[TextContent(text="a")])
    value = request(shared, shared, shared)
    distinct = with_distinct_parts(value)
    assert distinct == value
    contents = distinct.messages[0].contents
    assert contents[0] is shared
    assert len({id(content) for content in contents}) == 3
    assert len({id(content.outputs[0]) for content in contents}) == 3
    assert [content is shared for content in value.messages[0].contents] == [True] * 3, "the original is unchanged"


# -- owners ------------------------------------------------------------------------------------------------------------


def every_part(value: Any) -> dict[int, tuple[Any, str]]:
    """Return every part of a model value, by identity, with the first path to it: found by a search of all levels."""
    level, found = [(value, "$")], {id(value): (value, "$")}
    while level:
        below = []
        for owner, path in level:
            for step, part in parts_of(owner):
                if id(part) not in found:
                    below.append((part, stepped(path, step)))
                    found[id(part)] = below[-1]
        level = below
    return found


@given(value=model.requests() | model.responses(), seed=st.randoms(use_true_random=False))
def test_path_of_each_part_is_that_of_a_search_of_all_levels(value: Any, seed: Any) -> None:
    structs = [(part, path) for part, path in every_part(value).values() if isinstance(part, msgspec.Struct)]
    seed.shuffle(structs)
    owners = Owners([value])
    assert [owners.path(part) for part, _ in structs] == [path for _, path in structs]
    assert owners.path(TextContent(text="apart")) is None


def test_part_that_occurs_twice_has_its_first_owner() -> None:
    shared = TextContent(text="a")
    result = FunctionResultContent(call_id="1", outputs=[shared])
    value = request(result, TextContent(text="b"), shared, shared)
    assert Owners([value]).of(shared) == (value.messages[0], "contents", 2)


def test_root_that_another_root_contains_has_no_owner() -> None:
    inner = TextContent(text="a")
    outer = FunctionResultContent(call_id="1", outputs=[inner])
    owners = Owners([outer, inner], "")
    assert (owners.of(inner), owners.path(inner), owners.root_of(inner)) == (None, "", 1)


def test_search_for_the_owner_of_a_setting_reads_no_contents() -> None:
    value = request(*(FunctionResultContent(call_id="1", outputs=[TextContent(text="a")]) for _ in range(9)))
    owners = Owners([value])
    assert owners.of(value.options) == (value, "options", None)
    assert not any(id(output) in owners._owned for message in value.messages for output in message.contents)


# -- places by index ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", ["anthropic-messages", "google-generate-content", "openai-chat", "openai-responses"])
@given(data=st.data())
def test_place_of_an_element_by_its_index_is_the_one_that_its_row_yields(api: str, data: Any) -> None:
    adapter: Any = contentmodel.adapter(api)
    payload = adapter.encode_request(data.draw(transcripts(api))).payload
    _, wire, context = adapter.trace_request(payload)
    for place in context.paths(wire).places():
        if isinstance(place.row, Row) and place.wire.__class__ is dict:
            yielded: dict[int, Any] = {}
            for part, *found in place.row.places(place.item, place.wire, place.path):
                yielded.setdefault(id(part), found)
            for name, parts in parts_of(place.item):
                for index, part in enumerate(parts if isinstance(parts, list) else ()):
                    by_index = place.row.element_at(name, index, place.wire, place.path)
                    assert by_index is None or [*by_index] == yielded[id(part)]


# -- replacements ------------------------------------------------------------------------------------------------------


def pending(owner: object, field: str | None = None, **named: Any) -> PendingLoss:
    return PendingLoss(owner=owner, field=field, reason=reasons.NO_ROLE, values={"role": "x"}, **named)


def test_source_of_a_second_replacement_is_the_first_value() -> None:
    first = TextContent(text="a")
    value = request(TextContent(text="0"), first)
    second, third = TextContent(text="b"), TextContent(text="c")
    paths = ModelPaths([value], [(first, second), (second, third)], "an-api")
    assert paths.source(third) is first
    assert paths.leads_back(third)
    assert paths.owners.of(first) == (value.messages[0], "contents", 1)
    assert paths.root_of(third) == 0


def test_source_of_a_replaced_root_is_the_root() -> None:
    value = request(TextContent(text="a"))
    new = msgspec.structs.replace(value, model="other")
    assert ModelPaths([value], [(value, new)], "an-api").source(new) is value


def test_leads_back_is_false_for_value_that_replaced_no_other() -> None:
    made = TextContent(text="made")
    paths = ModelPaths([request()], [], "an-api")
    assert not paths.leads_back(made)
    assert paths.root_of(made) is None


def losses(*roots: Any, replaced: Any = ()) -> ModelPaths:
    return ModelPaths(list(roots), replaced, "an-api")


def test_loss_of_a_replacement_has_the_path_of_the_replaced_value() -> None:
    old, new = TextContent(text="a"), TextContent(text="b")
    found: Loss = losses(request(old), replaced=[(old, new)]).loss(pending(new, "text"))
    assert found.path == "$.messages[0].contents[0].text"


def test_loss_of_residue_names_the_api_and_the_field() -> None:
    content = TextContent(text="a", extra={"other": {"b.c": 1}})
    found = losses(request(content)).loss(pending(content, "b.c", api="other"))
    assert found.path == "$.messages[0].contents[0].extra.other['b.c']"


# -- copies ------------------------------------------------------------------------------------------------------------


def test_fields_of_copies_have_the_paths_of_their_origins() -> None:
    payload = {"list": [{"own": 1, "parts": [{"id": "a"}, {"id": "b"}]}], "setting": True}
    (item,) = payload["list"]
    context = DecodeContext("copies", Origin(api="copies", issuer="copies"))
    table = Table("copies")
    rows = table.union("part", [Row("part", TextContent, {"part.id": "text", "set": "protected.kind"})], tag=None)
    values = []
    for index, part in enumerate(item["parts"]):
        copy = {"own": 1, "part": part, "set": True}
        context.copied(copy, item, ("part", (item["parts"], index)))
        context.copied(copy, item, ("set", (payload, "setting")))
        values.append(TextContent(text=part["id"]))
        context.trace(rows, values[-1:], copy, None, spread=False)
    model = ModelPaths(values, [], "copies")
    paths = context.paths(payload)
    fields = ["text", "protected.kind", None]
    lost = [PendingLoss(value, field, reasons.NO_FIELD) for value in values for field in fields]
    assert [loss.path for pending in lost for loss in paths.losses(pending, model)] == [
        *("$.list[0].parts[0].id", "$.setting", "$.list[0]", "$.setting"),
        *("$.list[0].parts[1].id", "$.setting", "$.list[0]", "$.setting"),
    ]


def test_object_that_is_recorded_as_its_own_copy_has_its_path() -> None:
    payload = {"a": {"b": 1}}
    context = DecodeContext("api", Origin(api="api", issuer=""))
    context.copied(payload["a"], payload["a"])
    assert context.paths(payload).path(payload["a"]) == "$.a"
