"""The scripted model of the runs with coding agents. The runs themselves need npm: `make agents`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import contentmodel
from conftest import APIS
from contentmodel import ChatRequest, FunctionCallContent, FunctionTool
from contentmodel.content.tools import CustomToolCallContent
from contentmodel_conformance.oracles import judge

AGENTS = Path(__file__).parent.parent / "agents"


@pytest.fixture
def agents(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import the modules of the folder, which is no package."""
    monkeypatch.syspath_prepend(str(AGENTS))
    names = {path.stem for path in AGENTS.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    import model
    import programs
    import wire

    yield model, programs, wire
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.mark.parametrize("api", APIS)
def test_answers_of_scripted_model_are_valid(agents: Any, api: str) -> None:
    _, _, wire = agents
    calls = [wire.Called(wire.CALL_IDS[api].format(1), "run", {"command": "ls"})]
    if api.startswith("openai"):
        calls.append(wire.Called(wire.CALL_IDS[api].format(2), "apply_patch", "*** Begin Patch"))
    payload = wire.ANSWERS[api](wire.Said(1, "Why.", "Now.", tuple(calls)))
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
