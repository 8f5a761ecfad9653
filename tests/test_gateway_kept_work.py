"""Kept conversations: the work of each call, and values that cannot be kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.testclient import TestClient

from contentmodel.gateway import create_app, read_config
from contentmodel.history import AsyncTurnStore
from contentmodel_conformance.server import LoopbackServer, say

JSON = {"content-type": "application/json"}


@contextmanager
def kept(answers: int = 1) -> Iterator[TestClient]:
    """Run a gateway with a store in memory, and yield a client of it."""
    with LoopbackServer([say("Oslo.")] * answers) as server:
        up = {"api": "anthropic-messages", "base_url": server.base_url("anthropic-messages"), "key": "none"}
        routes = [{"to": "up", "model": "claude-opus-4-8"}]
        app = create_app(read_config({"store": ":memory:", "upstreams": {"up": up}, "routes": routes}))
        with TestClient(app, raise_server_exceptions=False) as http:
            yield http


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the steps of the store, and the turns that it returns in pages."""
    counted = [0]
    do: Any = AsyncTurnStore._do

    async def counting(self: Any, step: Any) -> Any:
        result = await do(self, step)
        counted[0] += len(result) if isinstance(result, list) else 1
        return result

    monkeypatch.setattr(AsyncTurnStore, "_do", counting)
    return counted


def ask(http: TestClient, text: Any, **fields: Any) -> str:
    answer = http.post("/v1/responses", json={"model": "m", "input": text, **fields})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


@pytest.mark.slow
@pytest.mark.parametrize("order", ["first to last", "last to first"])
def test_work_of_deleting_a_chain_grows_with_its_length(work: list[int], order: str) -> None:
    counts = []
    for length in (8, 32):
        with kept(length) as http:
            names = [ask(http, "Where?")]
            for _ in range(length - 1):
                names.append(ask(http, "And?", previous_response_id=names[-1]))
            work[0] = 0
            for name in names if order == "first to last" else names[::-1]:
                assert http.delete(f"/v1/responses/{name}").status_code == 200
            counts.append(work[0])
            assert http.get(f"/v1/responses/{names[0]}").status_code == 404
    assert counts[1] < 5 * counts[0]


@pytest.mark.slow
def test_work_of_deleting_interleaved_branches_is_linear_for_each_call(work: list[int]) -> None:
    counts = []
    for length in (6, 24):
        with kept(2 * length + 1) as http:
            root = ask(http, "Where?")
            ends, branches = [root, root], [list[str](), list[str]()]
            for _ in range(length):
                for number, branch in enumerate(branches):
                    ends[number] = ask(http, "And?", previous_response_id=ends[number])
                    branch.append(ends[number])
            for name in branches[0][:-1]:
                http.delete(f"/v1/responses/{name}")
            work[0] = 0
            http.delete(f"/v1/responses/{branches[0][-1]}")
            counts.append(work[0])
            assert http.get(f"/v1/responses/{branches[1][0]}").status_code == 200
            assert http.get(f"/v1/responses/{root}").status_code == 200
    assert counts[1] < 5 * counts[0]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_work_of_a_page_of_items_depends_on_the_page(work: list[int], order: str) -> None:
    counts = []
    for length in (10, 40):
        with kept() as http:
            items = [{"role": "user", "content": f"text {number}"} for number in range(length)]
            name = http.post("/v1/conversations", json={"items": items[:20]}).json()["id"]
            http.post(f"/v1/conversations/{name}/items", json={"items": items[20:]})
            path, read, after = f"/v1/conversations/{name}/items?limit=3&order={order}", list[Any](), ""
            while True:
                work[0] = 0
                page = http.get(path + after).json()
                counts.append(work[0])
                read += page["data"]
                assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][-1]["id"])
                if not page["has_more"]:
                    break
                after = f"&after={page['last_id']}"
            texts = [item["content"][0]["text"] for item in read]
            assert (texts if order == "asc" else texts[::-1]) == [item["content"] for item in items]
            work[0] = 0
            assert http.get(f"/v1/conversations/{name}/items/{read[0]['id']}").json() == read[0]
            counts.append(work[0])
            unknown = http.get(f"{path}&after=msg_unknown").json()
            assert unknown["data"] == read[:3]
    assert max(counts) < 40


@pytest.mark.slow
def test_work_of_reading_metadata_hardly_grows_with_its_updates(work: list[int]) -> None:
    with kept() as http:
        name = http.post("/v1/conversations", json={}).json()["id"]
        for number in range(60):
            work[0] = 0
            answer = http.post(f"/v1/conversations/{name}", json={"metadata": {"number": str(number)}})
            assert answer.json()["metadata"] == {"number": str(number)}
            assert work[0] < 45
        assert http.get(f"/v1/conversations/{name}").json()["metadata"] == {"number": "59"}


# -- values ------------------------------------------------------------------------------------------------------------


def test_conversation_with_a_lone_surrogate_can_be_read() -> None:
    body = b'{"model":"m \\ud800","input":[{"role":"user","content":"hi \\ud800"}],"metadata":{"\\udfff":"\\ud800"}}'
    with kept() as http:
        created = http.post("/v1/responses", content=body, headers=JSON)
        assert created.status_code == 200
        name = created.json()["id"]
        assert http.get(f"/v1/responses/{name}").json()["metadata"] == {"\udfff": "\ud800"}
        assert "hi \\ud800" in http.get(f"/v1/responses/{name}/input_items").text
        made = http.post("/v1/conversations", content=b'{"metadata":{"a":"\\ud800"}}', headers=JSON).json()["id"]
        items = b'{"items":[{"role":"user","content":"hi \\ud800"}]}'
        assert http.post(f"/v1/conversations/{made}/items", content=items, headers=JSON).status_code == 200
        assert "hi \\ud800" in http.get(f"/v1/conversations/{made}/items").text
        assert http.get(f"/v1/conversations/{made}").json()["metadata"] == {"a": "\ud800"}
        report = http.get(f"/contentmodel/losses/{created.headers['contentmodel-request-id']}")
        assert report.json()["model"] == "m \ud800"


def deep(levels: int) -> str:
    return '{"a":' * levels + '"\\ud800"' + "}" * levels


@pytest.mark.parametrize("levels", [150, 190, 195, 210, 400, 990, 5000, 100_000])
def test_body_that_is_nested_too_deeply_is_refused_and_others_can_be_read(levels: int) -> None:
    with kept() as http:
        name = http.post("/v1/conversations", json={}).json()["id"]
        item = f'{{"role":"user","content":"x","zz":{deep(levels)}}}'
        added = http.post(f"/v1/conversations/{name}/items", content=f'{{"items":[{item}]}}', headers=JSON)
        answer = http.post("/v1/responses", content=f'{{"model":"m","input":[{item}]}}', headers=JSON)
        assert {added.status_code, answer.status_code} == ({200} if levels < 200 else {400})
        listed = http.get(f"/v1/conversations/{name}/items")
        assert (listed.status_code, len(listed.json()["data"])) == (200, 1 if levels < 200 else 0)
        if levels < 200:
            assert http.get(f"/v1/responses/{answer.json()['id']}/input_items").status_code == 200


@pytest.mark.parametrize(
    "metadata",
    [
        [],
        "a",
        {"a": 1},
        {"a": {"b": "c"}},
        {"a": None},
        {"k" * 65: "a"},
        {"a": "v" * 513},
        dict.fromkeys("abcdefghijklmnopq", "a"),
    ],
)
def test_metadata_that_the_api_does_not_allow_is_refused(metadata: Any) -> None:
    with kept() as http:
        name = http.post("/v1/conversations", json={}).json()["id"]
        answers = [
            http.post("/v1/conversations", json={"metadata": metadata}),
            http.post(f"/v1/conversations/{name}", json={"metadata": metadata}),
            http.post("/v1/responses", json={"model": "m", "input": "x", "metadata": metadata}),
        ]
    for answer in answers:
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["param"] == "metadata", json.dumps(answer.json())
