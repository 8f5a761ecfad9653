"""Provenance: positions of objects in trees, distinct parts of values, and paths through replacements."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from contentmodel import ChatMessage, ChatRequest, FunctionResultContent, TextContent
from contentmodel.authoring import DecodeContext, Row, Table
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.loss import Loss, PendingLoss
from contentmodel.engine.losses.provenance import (
    ModelPaths,
    Positions,
    containers_of,
    parts_of,
    stepped,
    with_distinct_parts,
)
from contentmodel.message import Origin


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
    assert paths.owner(first) == (value.messages[0], "contents", True)
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
