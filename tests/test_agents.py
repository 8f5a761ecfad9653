"""The scripted models of the runs with coding agents, and their session files. The runs need npm: `make agents`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import contentmodel
from conftest import APIS
from contentmodel import ChatRequest, FunctionCallContent, FunctionTool
from contentmodel.adapter import adapter
from contentmodel.content.tools import CustomToolCallContent
from contentmodel.request import CustomTool, ToolGroup
from contentmodel_conformance.oracles import judge

AGENTS = Path(__file__).parent.parent / "agents"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the modules of the folder importable. It is no package."""
    monkeypatch.syspath_prepend(str(AGENTS))
    names = {path.stem for path in AGENTS.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    yield
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.fixture
def agents(folder: None) -> Any:
    """Return the modules of the runs."""
    import model
    import programs
    import wire

    return model, programs, wire


@pytest.fixture
def recorder(folder: None) -> Any:
    """Return the modules of the recordings."""
    import scenarios
    import sessions
    import stages
    import storage

    return sessions, scenarios, stages, storage


@pytest.mark.parametrize("api", APIS)
def test_answers_of_scripted_model_are_valid(agents: Any, api: str) -> None:
    _, _, wire = agents
    calls = [wire.ModelCall(wire.CALL_IDS[api].format(1), "run", {"command": "ls"})]
    if api.startswith("openai"):
        calls.append(wire.ModelCall(wire.CALL_IDS[api].format(2), "apply_patch", "*** Begin Patch"))
    payload = wire.ANSWERS[api](wire.ModelTurn(1, "Why.", "Now.", tuple(calls)))
    if api != "openai-chat":  # reasoning_content is a field of hosts, and not of the SDK.
        assert judge(api, "response").faults(payload) == []
    response = contentmodel.adapter(api).decode_response(payload)
    assert response.text == "Now."
    assert [call.name for call in response.tool_calls] == [call.name for call in calls]


@pytest.mark.parametrize("api", APIS)
def test_scripted_model_continues_after_the_calls_of_a_request(agents: Any, api: str, tmp_path: Path) -> None:
    model, programs, _ = agents
    steps = model.task(programs.PROGRAMS["codex"], tmp_path)
    script = model.Model(api, steps)
    tools = [FunctionTool(name=name, parameters={"type": "object"}) for name in ("exec_command", "view_image")]
    messages: list[Any] = [contentmodel.user("Go.")]
    for step in steps:
        answer = script(ChatRequest(messages=messages, tools=tools))
        calls = answer.tool_calls
        assert len(calls) == len(step.calls)
        assert all(isinstance(call, FunctionCallContent | CustomToolCallContent) for call in calls)
        messages += answer.messages
    assert answer.text == model.DONE


def test_scripted_model_reports_a_tool_that_is_not_offered(agents: Any, tmp_path: Path) -> None:
    model, programs, _ = agents
    script = model.Model("openai-chat", model.task(programs.PROGRAMS["gemini-cli"], tmp_path))
    request = ChatRequest(messages=[contentmodel.user("Go.")], tools=[FunctionTool(name="other")])
    with pytest.raises(LookupError, match="write_file"):
        script(request)


# -- recorded sessions -------------------------------------------------------------------------------------------------

FIRST_LINES = {
    "claude-code": {"type": "user", "sessionId": "5d4fa4e2-4519-47cf-b6bb-4cb5b3013998"},
    "codex": {
        "timestamp": "2026-11-23T09:51:40.106Z",
        "type": "session_meta",
        "payload": {"id": "01a207d1-8032-7bf1-baa7-71726167e536"},
    },
    "gemini-cli": {
        "sessionId": "cd79c25e-4519-47cf-b6bb-4cb5b3013998",
        "projectHash": "0",
        "startTime": "2026-11-23T09:52:41.261Z",
    },
}
PLACES = {
    "claude-code": ".claude/projects/-work-my-project/5d4fa4e2-4519-47cf-b6bb-4cb5b3013998.jsonl",
    "codex": ".codex/sessions/2026/11/23/rollout-2026-11-23T09-51-40-01a207d1-8032-7bf1-baa7-71726167e536.jsonl",
    "gemini-cli": ".gemini/tmp/my_project/chats/session-2026-11-23T09-52-cd79c25e.jsonl",
}


@pytest.mark.parametrize("name", FIRST_LINES)
def test_storage_puts_session_file_where_its_agent_looks_for_it(recorder: Any, name: str, tmp_path: Path) -> None:
    _, _, _, storage = recorder
    written = tmp_path / "written.jsonl"
    written.write_text(json.dumps(FIRST_LINES[name]) + "\n")
    placed = storage.STORAGES[name].put(written, tmp_path / "home", Path("/work/my_project"))
    assert placed == tmp_path / "home" / PLACES[name]
    line = FIRST_LINES[name]
    session = line.get("sessionId") or line["payload"]["id"]  # type: ignore[index]
    assert storage.STORAGES[name].newest(tmp_path / "home") == session


def test_storage_keeps_the_name_of_a_second_file_of_a_thread(recorder: Any, tmp_path: Path) -> None:
    _, _, _, storage = recorder
    name = f"rollout-2026-11-23T09-51-40-{FIRST_LINES['codex']['payload']['id']}_01a207ea-63e6-7c02.jsonl"  # type: ignore[index]
    written = tmp_path / name
    written.write_text(json.dumps(FIRST_LINES["codex"]) + "\n")
    assert storage.CODEX.put(written, tmp_path / "home", tmp_path).name == name


def test_storage_of_a_home_without_sessions_raises_lookup_error(recorder: Any, tmp_path: Path) -> None:
    _, _, _, storage = recorder
    with pytest.raises(LookupError, match="wrote no session"):
        storage.CODEX.newest(tmp_path)


def test_staged_model_answers_sessions_sub_agents_and_summaries_apart(recorder: Any) -> None:
    _, scenarios, stages, _ = recorder
    from programs import PROGRAMS

    stage = scenarios.SCENARIOS["sub-agent"][0](PROGRAMS["claude-code"], Path("/project"))[0]
    script = stages.StagedModel("anthropic-messages")
    script.begin(stage)
    tools = [FunctionTool(name=name, parameters={"type": "object"}) for name in ("Agent", "Bash")]

    def asked(text: str) -> Any:
        return script(ChatRequest(messages=[contentmodel.user(text)], tools=tools))

    assert [call.name for call in asked(stage.prompt).tool_calls] == ["Agent"]
    assert [call.name for call in asked(stages.SUBTASK).tool_calls] == ["Bash"]
    assert asked("Critically evaluate the <state_snapshot> you just generated.").text == stages.SUMMARY
    assert asked(stage.prompt).text == stage.steps[1].text
    assert (script.summaries, script.steps, len(script.sub)) == (1, [], 1)
    with pytest.raises(LookupError, match="no turn left"):
        asked(stage.prompt)


def test_staged_model_calls_a_tool_of_a_group_with_its_namespace(recorder: Any) -> None:
    _, scenarios, stages, _ = recorder
    from programs import PROGRAMS

    script = stages.StagedModel("openai-responses")
    script.begin(scenarios.SCENARIOS["resume"][0](PROGRAMS["codex-scripts"], Path("/project"))[1])
    group = ToolGroup(name="functions", tools=[CustomTool(name="exec")])
    answer = script(ChatRequest(messages=[contentmodel.user("Go on.")], tools=[group]))
    [item] = [
        item for item in adapter("openai-responses").encode_response(answer).payload["output"] if "call_id" in item
    ]
    assert (item["type"], item["name"], item["namespace"]) == ("custom_tool_call", "exec", "functions")


def test_every_scenario_has_stages_for_its_agents(recorder: Any, tmp_path: Path) -> None:
    _, scenarios, _, storage = recorder
    from programs import PROGRAMS

    for make, names in scenarios.SCENARIOS.values():
        for name in names:
            first, *rest = make(PROGRAMS[name], tmp_path)
            assert first.way == "new"
            assert all(stage.way != "fork" or storage.STORAGES[name].forked for stage in rest)


def test_unreadable_names_lines_that_are_no_objects(recorder: Any, tmp_path: Path) -> None:
    sessions, _, _, _ = recorder
    (tmp_path / "a.jsonl").write_text('{"type": "user"}\n[]\n{"type"\n')
    assert sessions.unreadable(tmp_path) == [f"a.jsonl: line {number} is no JSON object" for number in (2, 3)]
