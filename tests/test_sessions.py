"""Session files of coding agents: reading, writing, and conversion between them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from contentmodel import ChatMessage, ChatRequest, Origin, adapter, assistant, audit, convert, detect, user
from contentmodel.content import (
    DataContent,
    FunctionCallContent,
    FunctionResultContent,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
    UnknownContent,
    UriContent,
)
from contentmodel.lines import parse_lines, write_lines
from contentmodel.message import contents_of
from session_files import (
    Claude,
    call,
    claude_session,
    codex_line,
    codex_session,
    compacted_session,
    gemini_session,
    interrupted_session,
    said,
    text,
)

CLAUDE, CODEX = "claude-code-session", "codex-rollout"
FILES = {
    "claude": (CLAUDE, claude_session),
    "compacted": (CLAUDE, compacted_session),
    "interrupted": (CLAUDE, interrupted_session),
    "codex": (CODEX, codex_session),
}


def uuid_of(value: str, lines: list[Any]) -> str:
    """Return the id of the line with a text."""
    return next(line["uuid"] for line in lines if isinstance(line, dict) and value in str(line.get("message")))


def texts(messages: list[ChatMessage]) -> list[str]:
    return [content.text for content in contents_of(messages) if isinstance(content, TextContent) and content.text]


@pytest.mark.parametrize("name", FILES)
def test_a_session_is_written_as_the_same_lines(name: str) -> None:
    api, lines = FILES[name][0], FILES[name][1]()
    reader = adapter(api)
    encoded = reader.encode_request(reader.decode_request(write_lines(lines)))
    assert encoded.payload == lines
    assert encoded.losses == ()
    assert parse_lines(encoded.to_json()) == lines


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("target", ["anthropic-messages", "openai-chat", "google-generate-content", CLAUDE, CODEX])
def test_each_value_of_a_session_reaches_the_target_or_is_reported(name: str, target: str) -> None:
    api, lines = FILES[name][0], FILES[name][1]()
    encoded = convert(lines, source=api, target=target, kind="request")
    assert audit(lines, encoded) == []


def test_lines_of_one_answer_are_one_message_with_its_usage_once() -> None:
    request = adapter(CLAUDE).decode_request(claude_session())
    answer = next(message for message in request.messages if message.response_id == "msg_1")
    assert [type(content) for content in answer.contents if not isinstance(content, ToolCallContent)] == [
        ReasoningContent,
        TextContent,
    ]
    assert [call.call_id for call in answer.tool_calls] == ["toolu_1", "toolu_2"]
    assert answer.usage is not None
    assert answer.usage.output_tokens == 5
    assert answer.finish_reason is not None
    assert (answer.finish_reason.reason, answer.created) == ("tool_calls", "2026-11-23T10:00:04.000Z")


def test_both_results_of_parallel_calls_are_in_the_conversation() -> None:
    request = adapter(CLAUDE).decode_request(claude_session())
    results = [content for content in contents_of(request.messages) if isinstance(content, ToolResultContent)]
    assert [result.call_id for result in results] == ["toolu_1", "toolu_2"]
    assert results[0].artifact == {"stdout": "a.txt", "interrupted": False}


def test_prompts_taken_back_and_sub_agents_are_branches() -> None:
    request = adapter(CLAUDE).decode_request(claude_session())
    assert texts(request.messages)[-3:] == ["There is one file.", "Keep it.", "It stays."]
    assert [(branch.kind, texts(branch.messages)) for branch in request.branches] == [
        ("alternative", ["Delete it.", "It is deleted."]),
        ("agent", ["Count.", "One."]),
    ]
    assert request.branches[1].name == "a1"


def test_attachments_are_messages_of_their_role() -> None:
    request = adapter(CLAUDE).decode_request(claude_session())
    assert [(m.role, m.text) for m in request.messages[1:4]] == [
        ("system", "It is Monday."),
        ("user", "One file."),
        ("user", "Another file."),
    ]


def test_prompts_files_and_commands_of_the_user_are_messages() -> None:
    request = adapter(CLAUDE).decode_request(interrupted_session())
    assert [(message.role, message.text) for message in request.messages if message.text] == [
        ("user", "<local-command-stdout>Total cost: $1.20</local-command-stdout>"),
        ("user", "What is in @notes.txt?"),
        ("user", "Three maps."),
        ("user", "Count them."),
        ("assistant", "There are three maps."),
        ("user", "Draw another."),
        ("user", "Try again."),
        ("assistant", "It is drawn."),
        ("user", "Look, too."),
    ]
    assert isinstance(request.messages[-1].contents[1], UriContent)
    assert request.branches == []


def test_edited_prompts_files_and_commands_keep_their_lines() -> None:
    lines = interrupted_session()
    request = adapter(CLAUDE).decode_request(lines)
    edited = [
        msgspec.structs.replace(
            message,
            contents=[
                msgspec.structs.replace(content, text="New.") if isinstance(content, TextContent) else content
                for content in message.contents
            ],
        )
        for message in request.messages
    ]
    written = adapter(CLAUDE).encode_request(msgspec.structs.replace(request, messages=edited)).payload
    assert written[0] == {**lines[0], "content": "New."}
    file = {**lines[2]["attachment"]["content"]["file"], "content": "New."}
    assert written[2]["attachment"] == {**lines[2]["attachment"], "content": {"type": "text", "file": file}}
    assert written[7]["attachment"] == {**lines[7]["attachment"], "prompt": "New."}
    assert written[13]["attachment"]["prompt"][0] == text("New.")


def test_attachments_of_the_user_whose_messages_are_not_in_the_file_are_lost() -> None:
    encoded = convert(interrupted_session(), source=CLAUDE, target="openai-chat", kind="request", model="gpt-6.1")
    lost = [loss.path for loss in encoded.losses if loss.kind != "insignificant"]
    assert lost == ["$[2].attachment.filename", "$[3]"]


def test_errors_of_the_api_are_no_answers_of_the_model() -> None:
    lines = interrupted_session()
    request = adapter(CLAUDE).decode_request(lines)
    assert request.model == "claude-opus-4-8"
    assert adapter(CLAUDE).check_request(lines) == []
    encoded = convert(lines, source=CLAUDE, target="openai-chat", kind="request")
    assert {loss.path for loss in encoded.losses} >= {"$[10]", "$[14]"}


def test_an_answer_that_the_program_made_has_no_model() -> None:
    file = Claude()
    file.user("a")
    message = {"id": "m", "model": "<synthetic>", "role": "assistant", "content": [text("No response requested.")]}
    file.add("assistant", {"message": message})
    request = adapter(CLAUDE).decode_request(file.lines)
    assert texts(request.messages) == ["a", "No response requested."]
    assert (request.model, request.messages[1].origin and request.messages[1].origin.model) == (None, None)
    assert adapter(CLAUDE).encode_request(request).payload == file.lines


def test_messages_that_a_compaction_preserved_follow_its_summary() -> None:
    request = adapter(CLAUDE).decode_request(compacted_session())
    assert texts(request.messages) == ["Summary: notes were written.", "The notes are written.", "Go on.", "I go on."]
    assert [(branch.kind, texts(branch.messages)) for branch in request.branches] == [
        ("compacted", ["Write the notes."])
    ]


def segmented_session(head: str, tail: str) -> list[Any]:
    """Return a session whose compaction names the ends of the preserved messages. Two results are of parallel calls."""
    file = Claude()
    old = file.user("Write the notes.")
    asked = file.user("Read them, too.")
    one = file.answer("msg_1", call("toolu_1"))
    two = file.answer("msg_1", call("toolu_2"))
    file.result("toolu_1", "a.txt", after=one)
    last = file.result("toolu_2", "b.txt", after=two)
    ends = {"first": old, "second": asked, "last": last}
    segment = {"headUuid": ends.get(head, head), "tailUuid": ends.get(tail, tail), "anchorUuid": ""}
    metadata = {"trigger": "auto", "preservedSegment": segment}
    boundary = {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": last, "compactMetadata": metadata}
    file.add("system", boundary, after=None)
    segment["anchorUuid"] = file.user("Summary: notes were written.", isCompactSummary=True)
    file.user("Go on.")
    return file.lines


def test_messages_between_the_ends_that_a_compaction_names_follow_its_summary() -> None:
    lines = segmented_session("second", "last")
    request = adapter(CLAUDE).decode_request(lines)
    assert texts(request.messages) == ["Summary: notes were written.", "Read them, too.", "Go on."]
    results = [content for content in contents_of(request.messages) if isinstance(content, ToolResultContent)]
    assert [result.call_id for result in results] == ["toolu_1", "toolu_2"]
    assert [(branch.kind, texts(branch.messages)) for branch in request.branches] == [
        ("compacted", ["Write the notes."])
    ]
    assert adapter(CLAUDE).encode_request(request).payload == lines


@pytest.mark.parametrize(("head", "tail"), [("missing", "last"), ("second", "missing"), ("last", "second")])
def test_a_segment_whose_ends_are_not_connected_preserves_nothing(head: str, tail: str) -> None:
    request = adapter(CLAUDE).decode_request(segmented_session(head, tail))
    assert texts(request.messages) == ["Summary: notes were written.", "Go on."]
    assert [branch.kind for branch in request.branches] == ["compacted"]


def test_a_rollout_has_the_history_after_its_last_compaction_without_turns_taken_back() -> None:
    request = adapter(CODEX).decode_request(codex_session())
    assert request.model == "gpt-5.5"
    assert [content.text for content in request.instructions if isinstance(content, TextContent)] == [
        "You are an agent."
    ]
    assert texts(request.messages) == [
        "List the files.",
        "Summary: files were listed.",
        "Keep it.",
        "It stays.",
    ]
    assert [branch.kind for branch in request.branches] == ["compacted", "alternative"]
    answer = request.branches[0].messages[1]
    assert answer.usage is not None
    assert (answer.response_id, answer.usage.cache_read_tokens) == ("resp_1", 80)


def summarized_session() -> list[Any]:
    """Return a rollout whose lines `compacted` have a summary, and no history."""
    sorting = {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "call_1"}
    return [
        codex_line("session_meta", {"id": "s", "cwd": "/project"}, 0),
        codex_line("response_item", said("developer", "Ask first."), 1),
        codex_line("response_item", said("user", "Sort the maps."), 2),
        codex_line("response_item", sorting, 3),
        codex_line("response_item", {"type": "function_call_output", "call_id": "call_1", "output": "done"}, 4),
        codex_line("compacted", {"message": "The maps are sorted."}, 5),
        codex_line("response_item", said("user", "Name them."), 6),
        codex_line("response_item", said("assistant", "They have names."), 7),
        codex_line("compacted", {"message": "Sorted and named.", "replacement_history": None}, 8),
        codex_line("compacted", {"message": None, "replacement_history": None}, 9),
        codex_line("response_item", said("user", "Stop."), 10),
        codex_line("event_msg", {"type": "thread_rolled_back", "num_turns": 1}, 11),
    ]


def test_a_compaction_without_a_history_leaves_the_prompts_and_its_summary() -> None:
    lines = summarized_session()
    request = adapter(CODEX).decode_request(lines)
    assert texts(request.messages) == ["Ask first.", "Sort the maps.", "Name them.", "Sorted and named."]
    assert [branch.kind for branch in request.branches] == ["compacted", "compacted", "alternative"]
    assert adapter(CODEX).encode_request(request).payload == lines
    (summary,) = request.messages[-1].contents
    message = msgspec.structs.replace(request.messages[-1], contents=[msgspec.structs.replace(summary, text="Sorted.")])
    edited = msgspec.structs.replace(request, messages=[*request.messages[:-1], message])
    written = adapter(CODEX).encode_request(edited).payload
    assert written[8]["payload"] == {"message": "Sorted.", "replacement_history": None}


@pytest.mark.parametrize(
    ("prompt", "turns", "left"),
    [
        ("<div> does not render, why?", 1, ["one", "1"]),
        ("<skill> is a tag </div>", 1, ["one", "1"]),
        ("three", 1, ["one", "1"]),
        ("three", 2, []),
        ("three", 9, []),
        ("<environment_context>\n<cwd>/w</cwd>\n</environment_context>\n", 1, []),
        ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", 1, []),
        ("<TURN_ABORTED>x</turn_aborted>", 1, []),
        ('<hook_prompt hook_run_id="h">x</hook_prompt>', 1, []),
    ],
)
def test_turns_taken_back_begin_with_prompts_and_not_with_context(prompt: str, turns: int, left: list[str]) -> None:
    context = "<environment_context>\n<cwd>/project</cwd>\n</environment_context>"
    lines = [
        codex_line("session_meta", {"id": "s", "cwd": "/project"}, 0),
        codex_line("response_item", said("user", context), 1),
        codex_line("response_item", said("user", "one"), 2),
        codex_line("response_item", said("assistant", "1"), 3),
        codex_line("response_item", said("user", prompt), 4),
        codex_line("response_item", said("assistant", "2"), 5),
        codex_line("event_msg", {"type": "thread_rolled_back", "num_turns": turns}, 6),
        codex_line("response_item", said("user", "four"), 7),
    ]
    request = adapter(CODEX).decode_request(lines)
    assert texts(request.messages) == [context, *left, "four"]
    assert adapter(CODEX).encode_request(request).payload == lines


def test_the_summary_of_a_compaction_reaches_other_apis() -> None:
    encoded = convert(summarized_session(), source=CODEX, target="openai-chat", kind="request")
    assert encoded.payload["messages"][-1] == {"role": "user", "content": "Sorted and named."}
    assert {loss.path for loss in encoded.losses if loss.code == "no-branches"} >= {"$[3]", "$[5].payload", "$[10]"}
    assert audit(summarized_session(), encoded) == []


def test_the_lines_of_older_rollouts_have_no_envelope() -> None:
    lines: list[Any] = [
        {"id": "s", "timestamp": "2025-07-01T08:00:00.000Z", "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        said("user", "Sort the maps."),
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_1"},
        {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        said("assistant", "They are sorted."),
    ]
    assert detect(write_lines(lines)) == (CODEX, "request")
    request = adapter(CODEX).decode_request(lines)
    assert [message.role for message in request.messages] == ["user", "assistant", "tool", "assistant"]
    assert adapter(CODEX).encode_request(request).payload == lines
    assert _lost_lines(lines) == []
    lines[0]["instructions"] = "Use few words."
    assert _lost_lines(lines) == ["$[0]"]


def old_results(envelope: bool) -> list[Any]:
    """Return a rollout of a version that wrote results as objects. Older ones have no envelope, too."""
    items: list[dict[str, Any]] = [
        said("user", "Sort the maps."),
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_1"},
        {"type": "function_call_output", "call_id": "call_1", "output": {"content": "no maps", "success": False}},
        {"type": "custom_tool_call", "name": "apply_patch", "input": "x", "call_id": "call_2"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": {"success": True, "content": "patched"}},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_3"},
        {"type": "function_call_output", "call_id": "call_3", "output": {"content": "none"}},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_4"},
        {"type": "function_call_output", "call_id": "call_4", "output": {"content": "x", "success": True, "other": 1}},
    ]
    if not envelope:
        return [{"id": "s", "timestamp": "2025-07-01T08:00:00.000Z", "instructions": None}, *items]
    header = codex_line("session_meta", {"id": "s", "cwd": "/project"}, 0)
    return [header, *(codex_line("response_item", item, at) for at, item in enumerate(items, 1))]


@pytest.mark.parametrize("envelope", [True, False])
def test_results_with_a_flag_of_their_success_have_their_text_and_the_flag(envelope: bool) -> None:
    lines = old_results(envelope)
    reader = adapter(CODEX)
    request = reader.decode_request(lines)
    results = [content for content in contents_of(request.messages) if isinstance(content, ToolResultContent)]
    assert [(one.text, one.is_error) for one in results[:3]] == [("no maps", True), ("patched", False), ("none", None)]
    assert reader.encode_request(request).payload == lines
    encoded = convert(lines, source=CODEX, target="anthropic-messages", kind="request")
    blocks = [block for message in encoded.payload["messages"] for block in message["content"]]
    (failed,) = (block for block in blocks if block.get("is_error"))
    assert (failed["tool_use_id"], failed["content"]) == ("call_1", "no maps")
    assert audit(lines, encoded) == []
    inside = ".payload" if envelope else ""
    assert {loss.path for loss in convert(lines, source=CODEX, target="openai-chat", kind="request").losses} >= {
        f"$[3]{inside}.output.success",
        f"$[9]{inside}.output",
    }


def test_an_edited_text_of_an_old_result_is_written_and_its_edited_flag_reported() -> None:
    lines = old_results(True)
    reader = adapter(CODEX)
    request = reader.decode_request(lines)
    messages = list(request.messages)
    at = next(at for at, message in enumerate(messages) if message.role == "tool")
    (result,) = messages[at].contents
    edited = msgspec.structs.replace(result, outputs=[TextContent(text="two maps")], is_error=None)  # type: ignore[call-arg]
    messages[at] = msgspec.structs.replace(messages[at], contents=[edited])
    encoded = reader.encode_request(msgspec.structs.replace(request, messages=messages))
    assert encoded.payload[3]["payload"]["output"] == {"content": "two maps", "success": False}
    assert [loss.code for loss in encoded.losses] == ["edited-record"]


def _lost_lines(lines: list[Any]) -> list[str]:
    """Return the paths of the significant losses of a rollout at another API, without those of fields."""
    encoded = convert(lines, source=CODEX, target="openai-chat", kind="request")
    return [loss.path for loss in encoded.losses if loss.kind != "insignificant" and loss.path.endswith("]")]


def test_the_states_of_files_in_a_rollout_are_no_part_of_the_history() -> None:
    state = {"type": "ghost_snapshot", "ghost_commit": {"id": "c0ffee", "parent": None}}
    history = [said("user", "Sort the maps."), state, said("user", "They are sorted.")]
    lines = [
        codex_line("session_meta", {"id": "s", "cwd": "/project"}, 0),
        codex_line("response_item", said("user", "Sort the maps."), 1),
        codex_line("response_item", state, 2),
        codex_line("compacted", {"message": "", "replacement_history": history}, 3),
        codex_line("response_item", said("assistant", "Anything else?"), 4),
    ]
    request = adapter(CODEX).decode_request(lines)
    assert texts(request.messages) == ["Sort the maps.", "They are sorted.", "Anything else?"]
    assert adapter(CODEX).encode_request(request).payload == lines
    encoded = convert(lines, source=CODEX, target="openai-responses", kind="request")
    assert [item["type"] for item in encoded.payload["input"]] == ["message"] * 3
    assert audit(lines, encoded) == []
    shorter = msgspec.structs.replace(request, messages=request.messages[1:])
    written = adapter(CODEX).encode_request(shorter).payload
    assert written[3]["payload"]["replacement_history"] == history[1:]


def test_a_path_of_a_loss_is_in_the_line() -> None:
    losses = convert(codex_session(), source=CODEX, target="anthropic-messages", kind="request").losses
    assert {loss.path for loss in losses if loss.code == "no-branches"} >= {"$[2]", "$[11]"}
    others = convert(claude_session(), source=CLAUDE, target="openai-chat", kind="request").losses
    assert {"$[4]", "$[1].timestamp", "$[0]"} <= {loss.path for loss in others}


@pytest.mark.parametrize(
    ("source", "lines", "target"), [(CLAUDE, claude_session, CODEX), (CODEX, codex_session, CLAUDE)]
)
def test_a_session_converted_and_back_has_the_same_texts_calls_and_results(
    source: str, lines: Any, target: str
) -> None:
    first = adapter(source).decode_request(lines())
    there = convert(lines(), source=source, target=target, kind="request").payload
    back = adapter(source).decode_request(convert(there, source=target, target=source, kind="request").payload)
    spoken = [message for message in first.messages if message.role != "system"]
    assert texts(back.messages) == texts(spoken)

    def calls(messages: list[ChatMessage]) -> list[Any]:
        return [(c.call_id, c.name) for c in contents_of(messages) if isinstance(c, ToolCallContent)]

    assert calls(back.messages) == calls(spoken)
    times = [message.created for message in spoken if message.text]
    pairs = zip(times, [message.created for message in back.messages if message.text], strict=True)
    assert all(time in (None, written) for time, written in pairs)


def test_a_message_added_to_a_session_is_the_new_end_of_its_chain() -> None:
    reader = adapter(CLAUDE)
    request = reader.decode_request(claude_session())
    more = msgspec.structs.replace(request, messages=[*request.messages, user("And now?"), assistant("Now as before.")])
    lines = reader.encode_request(more).payload
    added = [line for line in lines if line not in claude_session() and line["type"] != "last-prompt"]
    assert [line["parentUuid"] for line in added] == [uuid_of("It stays.", lines), added[0]["uuid"]]
    prompt = next(line for line in lines if isinstance(line, dict) and line["type"] == "last-prompt")
    assert prompt["leafUuid"] == added[1]["uuid"]
    assert texts(reader.decode_request(lines).messages)[-2:] == ["And now?", "Now as before."]


def test_answers_added_one_after_another_have_different_ids() -> None:
    reader = adapter(CLAUDE)
    request = reader.decode_request(claude_session())
    for number in range(3):
        more = [*request.messages, user("Again."), assistant(f"Answer {number}.")]
        request = reader.decode_request(reader.encode_request(msgspec.structs.replace(request, messages=more)).payload)
    assert texts(request.messages)[-6:] == ["Again.", "Answer 0.", "Again.", "Answer 1.", "Again.", "Answer 2."]
    ids = [message.response_id for message in request.messages if message.response_id is not None]
    assert len(ids) == len(set(ids))


def test_lines_after_a_removed_message_follow_the_one_before_it() -> None:
    reader = adapter(CLAUDE)
    request = reader.decode_request(claude_session())
    kept = [message for message in request.messages if message.text != "Keep it."]
    lines = reader.encode_request(msgspec.structs.replace(request, messages=kept)).payload
    parent = next(line["parentUuid"] for line in lines if isinstance(line, dict) and "It stays." in str(line))
    assert parent == uuid_of("There is one file.", lines)


def test_an_edited_text_keeps_its_line() -> None:
    reader = adapter(CODEX)
    request = reader.decode_request(codex_session())
    *before, last = request.messages
    edited = msgspec.structs.replace(
        last,
        contents=[msgspec.structs.replace(last.contents[0], text="It is kept.")],  # type: ignore[call-arg]
    )
    lines = reader.encode_request(msgspec.structs.replace(request, messages=[*before, edited])).payload
    assert lines[15]["payload"]["content"] == [{"type": "output_text", "text": "It is kept."}]
    assert lines[:15] == codex_session()[:15]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": 7}},
        {"type": "assistant", "uuid": "u", "message": {"role": "assistant", "content": [{"type": "text", "text": 3}]}},
        {"type": "assistant", "uuid": "u", "message": 3},
        {"type": "user", "uuid": "u", "message": {"role": "user"}},
        {"type": "something-new", "uuid": "u", "value": [1]},
        {"uuid": 7},
        [1, 2],
        None,
        17,
        "not JSON",
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": "x", "contentmodel:line": 3}},
    ],
)
def test_a_line_that_cannot_be_read_is_kept_and_reported(line: Any) -> None:
    lines = [*compacted_session(), line]
    reader = adapter(CLAUDE)
    assert reader.encode_request(reader.decode_request(lines)).payload == lines
    encoded = convert(lines, source=CLAUDE, target="anthropic-messages", kind="request")
    assert audit(lines, encoded) == []


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"type": "text", "text": 3}]},
        {"role": "assistant"},
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "text", "text": "x", "contentmodel:line": 3}]},
        3,
    ],
)
def test_a_message_that_is_not_part_of_the_conversation_is_a_violation(message: Any) -> None:
    lines = [*compacted_session(), {"type": "assistant", "uuid": "u", "message": message}]
    violation = adapter(CLAUDE).check_request(lines)[-1]
    path = "$[6].message.content[0]" if message != 3 and message.get("content") not in (None, "x") else "$[6]"
    assert (violation.path, violation.rule) == (path, "shape")


def test_only_the_line_with_the_fault_leaves_the_conversation() -> None:
    file = Claude()
    first = file.user("a")
    file.user("taken back", after=first)
    file.answer("msg_1", {"type": "text", "text": 3})
    file.user("b", after=first)
    file.answer("msg_2", text("c"))
    request = adapter(CLAUDE).decode_request(file.lines)
    assert (texts(request.messages), texts(request.branches[0].messages)) == (["a", "b", "c"], ["taken back"])
    assert [v.path for v in adapter(CLAUDE).check_request(file.lines)] == ["$[2].message.content[0]"]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("assistant", [{"type": "text"}]),
        ("assistant", [{"type": "text", "text": 5}]),
        ("assistant", [7]),
        ("user", ["mid"]),
        ("user", [{"type": "tool_result", "tool_use_id": "t", "content": ["s"]}]),
    ],
)
@pytest.mark.parametrize("is_last", [True, False])
def test_the_messages_before_a_line_with_a_fault_stay_in_the_conversation(
    kind: str, content: Any, is_last: bool
) -> None:
    file = Claude()
    file.user("a")
    file.answer("msg_1", text("b"))
    file.add(kind, {"message": {"role": kind, "content": content}})
    if not is_last:
        file.user("c")
    request = adapter(CLAUDE).decode_request(file.lines)
    assert texts(request.messages) == (["a", "b"] if is_last else ["a", "b", "c"])
    assert request.branches == []
    assert adapter(CLAUDE).encode_request(request).payload == file.lines
    inside = ".content[0]" if content[0] not in ("mid", 7) and "content" in content[0] else ""
    assert [v.path for v in adapter(CLAUDE).check_request(file.lines)] == [f"$[2].message.content[0]{inside}"]


@pytest.mark.parametrize("parent", ["missing", 2, ["u"]])
def test_a_parent_that_no_line_is_is_a_violation(parent: Any) -> None:
    file = Claude()
    file.user("a", after=parent)
    assert [v.path for v in adapter(CLAUDE).check_request(file.lines)] == ["$[0].parentUuid"]


@pytest.mark.parametrize("file", [claude_session, codex_session, gemini_session])
def test_lines_that_are_no_json_objects_are_violations(file: Any) -> None:
    lines = [line for line in file() if isinstance(line, dict)]
    reader = adapter(detect(write_lines(lines))[0])
    before = reader.check_request(lines)
    damaged = [*lines[:1], "{broken", *lines[1:], 7, '{"type":"assist']
    violations = [v for v in reader.check_request(write_lines(damaged)) if v.rule == "shape"]
    assert [v.path for v in violations] == ["$[1]", f"$[{len(damaged) - 2}]", f"$[{len(damaged) - 1}]"]
    assert {v.severity for v in violations} == {"ignored"}
    assert all(v.rule != "shape" for v in before)


def test_unknown_items_of_a_rollout_are_kept() -> None:
    item = {"timestamp": "2026", "type": "response_item", "payload": {"type": "agent_message", "author": "/root"}}
    lines = [*codex_session()[:3], item]
    reader = adapter(CODEX)
    request = reader.decode_request(lines)
    assert isinstance(request.messages[-1].contents[0], UnknownContent)
    assert reader.encode_request(request).payload == lines


@pytest.mark.parametrize("line", [{"payload": {}}, {"type": 7, "payload": {}}, {"type": "turn_context"}, {}])
def test_a_line_of_a_rollout_without_a_type_or_a_payload_is_kept(line: Any) -> None:
    lines = [*codex_session(), line]
    reader = adapter(CODEX)
    assert reader.encode_request(reader.decode_request(lines)).payload == lines


def test_tools_that_a_rollout_adds_are_reported() -> None:
    tools = [{"type": "function", "name": "wait", "parameters": {"type": "object"}}]
    item = {"type": "additional_tools", "role": "developer", "tools": tools}
    lines = [*codex_session()[:3], codex_line("response_item", item, 17)]
    assert audit(lines, convert(lines, source=CODEX, target=CLAUDE, kind="request")) == []


@pytest.mark.parametrize("target", [CLAUDE, CODEX])
@pytest.mark.parametrize("media_type", ["image/png", "application/pdf"])
def test_media_in_results_are_written_or_reported(target: str, media_type: str) -> None:
    kind = "image" if media_type == "image/png" else "document"
    source = {"type": "base64", "media_type": media_type, "data": "aW1hZ2U="}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [text("a"), {"type": kind, "source": source}]}
    payload = {
        "model": "claude-opus-4-8",
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [call("toolu_1")]},
            {"role": "user", "content": [result]},
        ],
    }
    encoded = convert(payload, source="anthropic-messages", target=target, kind="request")
    assert audit(payload, encoded) == []
    assert b"contentmodel:line" not in encoded.to_json()


def test_new_items_are_those_that_codex_reads() -> None:
    payload = {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Read it."}, {"type": "file", "file": {"file_id": "f"}}],
            },
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "No."}, {"type": "refusal", "refusal": "I refuse."}],
            },
        ]
    }
    encoded = convert(payload, source="openai-chat", target=CODEX, kind="request")
    items = [line["payload"] for line in encoded.payload[1:]]
    assert [part["type"] for item in items for part in item["content"]] == ["input_text", "output_text", "output_text"]
    assert {loss.code for loss in encoded.losses} >= {"refusal-as-text", "no-field"}


def test_two_answers_with_one_id_stay_two_answers() -> None:
    request = ChatRequest(
        messages=[
            user("a"),
            msgspec.structs.replace(assistant("b"), response_id="r"),
            user("c"),
            msgspec.structs.replace(assistant("d"), response_id="r"),
        ]
    )
    reader = adapter(CLAUDE)
    assert texts(reader.decode_request(reader.encode_request(request).payload).messages) == ["a", "b", "c", "d"]


def test_a_file_without_its_parent_is_reported_by_its_rules() -> None:
    file = Claude()
    file.user("Go on.", after="missing")
    assert [v.rule for v in adapter(CLAUDE).check_request(file.lines)] == ["parents-are-in-the-file"]
    base = {"id": "x", "history_base": {"thread_id": "y", "end_ordinal_exclusive": 3}}
    rollout = [{"timestamp": "2026", "type": "session_meta", "payload": base}]
    assert [v.path for v in adapter(CODEX).check_request(rollout)] == ["$[0].payload.history_base"]


@pytest.mark.parametrize(("name", "target"), [("codex", CLAUDE), ("claude", CODEX)])
def test_convert_takes_the_id_and_the_folder_of_a_session(name: str, target: str) -> None:
    lines = convert(
        FILES[name][1](), source=FILES[name][0], target=target, policies={"session": "5e55", "directory": "/elsewhere"}
    ).payload
    if target == CLAUDE:
        assert {(line["sessionId"], line["cwd"]) for line in lines} == {("5e55", "/elsewhere")}
    else:
        assert (lines[0]["payload"]["id"], lines[0]["payload"]["cwd"]) == ("5e55", "/elsewhere")


@pytest.mark.parametrize("api", [CLAUDE, CODEX])
def test_residue_without_a_line_does_not_replace_the_fields_of_a_new_line(api: str) -> None:
    reader = adapter(api)
    origin = Origin(api=api, issuer=reader.issuer)
    message = ChatMessage(role="user", contents=[TextContent(text="Hi.", extra={api: {"mine": 1}})], origin=origin)
    encoded = reader.encode_request(ChatRequest(messages=[message], origin=origin))
    assert "mine" not in encoded.payload[-1]
    assert encoded.payload[-1].keys() >= {"timestamp", "type"}
    assert [loss.path for loss in encoded.losses if "mine" in loss.what] == ["$.messages[0].contents[0].extra.mine"]


@pytest.mark.parametrize("target", [CLAUDE, CODEX, "gemini-cli-session"])
@pytest.mark.parametrize(
    ("source", "result"),
    [
        (
            "openai-responses",
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {
                    "type": "search",
                    "query": "a",
                    "sources": [{"type": "url", "url": "https://example.org/a"}],
                },
            },
        ),
        (
            "anthropic-messages",
            {
                "type": "web_fetch_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": {
                    "type": "web_fetch_result",
                    "url": "https://example.org/a",
                    "content": {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "A page."},
                    },
                },
            },
        ),
    ],
)
def test_media_of_a_hosted_result_reach_a_session_without_tokens(
    source: str, result: dict[str, Any], target: str
) -> None:
    call = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_fetch",
        "input": {"url": "https://example.org/a"},
    }
    if source == "openai-responses":
        payload: dict[str, Any] = {"model": "m", "input": [{"role": "user", "content": "Search."}, result]}
    else:
        messages = [{"role": "user", "content": "Fetch."}, {"role": "assistant", "content": [call, result]}]
        payload = {"model": "m", "max_tokens": 9, "messages": messages}
    encoded = convert(payload, source=source, target=target, kind="request")
    assert b"contentmodel:line" not in encoded.to_json()
    assert audit(payload, encoded) == []


def test_a_late_result_of_a_session_is_no_second_result_of_its_call() -> None:
    """The call gets a placeholder result when another message follows it."""
    items = [
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
        {"type": "function_call_output", "call_id": "call_1", "output": "It rains."},
    ]
    lines = [codex_line("response_item", item, second) for second, item in enumerate(items)]
    encoded = convert(lines, source=CODEX, target="openai-responses", kind="request")
    outputs = [item for item in encoded.payload["input"] if item.get("type") == "function_call_output"]
    assert len(outputs) == 1
    assert "It rains." in str(encoded.payload["input"][-1]["content"])
    assert "unmatched-result" in {loss.code for loss in encoded.losses}
    assert audit(lines, encoded) == []


@pytest.mark.parametrize("source", ["anthropic-messages", "openai-responses"])
def test_media_of_a_failed_result_become_a_separate_message(source: str) -> None:
    """The Messages API takes no media in failed results, and a line of a session stays a message when it is read."""
    image = DataContent(data="iVBORw0KGgo=", media_type="image/png")
    failed = FunctionResultContent(call_id="call_1", outputs=[TextContent(text="No."), image], is_error=True)
    calls: list[Any] = [FunctionCallContent(call_id="call_1", name="look", arguments={})]
    messages = [
        user("Look."),
        ChatMessage(role="assistant", contents=calls),
        ChatMessage(role="tool", contents=[failed]),
    ]
    payload = adapter(source).encode_request(ChatRequest(model="m", messages=messages)).payload
    encoded = convert(payload, source=source, target=CLAUDE, kind="request")
    assert audit(payload, encoded) == []
    assert "media-after-result" in {loss.code for loss in encoded.losses}
    again = adapter(CLAUDE).decode_request(encoded.payload)
    result = next(content for content in contents_of(again.messages) if isinstance(content, ToolResultContent))
    assert [getattr(output, "text", None) for output in result.outputs] == ["No."]
    assert [type(content) for content in again.messages[-1].contents] == [TextContent, DataContent]
    assert audit(encoded.payload, convert(encoded.payload, source=CLAUDE, target="openai-chat", kind="request")) == []


def printed(kind: str, uuid: str, content: Any, call_id: str | None = None) -> dict[str, Any]:
    """Return a line that `claude -p --output-format stream-json` prints."""
    answer = {"id": f"msg_{uuid}", "type": "message", "model": "claude-opus-4-5", "usage": {"input_tokens": 3}}
    message = {**(answer if kind == "assistant" else {}), "role": kind, "content": content}
    return {"type": kind, "message": message, "parent_tool_use_id": call_id, "session_id": "s1", "uuid": uuid}


def test_printed_lines_are_one_conversation_with_branches_for_subagents() -> None:
    task = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "Count the boats."}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Four boats."}
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s1", "uuid": "l0", "tools": ["Task"]},
        printed("assistant", "l1", [{"type": "text", "text": "I ask another agent."}]),
        printed("assistant", "l2", [task]),
        printed("user", "l3", [{"type": "text", "text": "Count the boats."}], "toolu_1"),
        printed("assistant", "l4", [{"type": "text", "text": "I see four."}], "toolu_1"),
        printed("user", "l5", [result]),
        printed("assistant", "l6", [{"type": "text", "text": "There are four."}]),
        {"type": "result", "subtype": "success", "result": "There are four.", "session_id": "s1", "uuid": "l7"},
    ]
    assert detect(write_lines(lines)) == (CLAUDE, "request")
    request = adapter(CLAUDE).decode_request(lines)
    roles = [(message.role, message.text) for message in request.messages]
    assert roles[0] == ("assistant", "I ask another agent.")
    assert roles[-1] == ("assistant", "There are four.")
    (result_read,) = request.messages[-2].contents
    assert isinstance(result_read, FunctionResultContent)
    assert result_read.call_id == "toolu_1"
    assert [(branch.kind, [message.text for message in branch.messages]) for branch in request.branches] == [
        ("agent", ["Count the boats.", "I see four."])
    ]
    assert adapter(CLAUDE).encode_request(request).payload == lines
    made = convert(lines, source=CLAUDE, target="openai-chat", kind="request")
    assert audit(lines, made) == []
