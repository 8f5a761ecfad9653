"""Formats of training data: fine-tuning files of OpenAI, and data sets with messages.

`data_sets/padded.jsonl` has the rows that pyarrow 26.0.1 returns for two rows with other tools:
`pyarrow.Table.from_pylist(rows).to_pylist()`.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from conftest import FEW
from contentmodel import (
    DecodeError,
    FunctionCallContent,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.errors import DetectError, EncodeError
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.readers import READERS
from data_sets import values

FINETUNE, HF = "openai-finetune", "hf-messages"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
PADDED = [json.loads(line) for line in (Path(__file__).parent / "data_sets" / "padded.jsonl").read_text().splitlines()]

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "description": "Look.", "parameters": PARAMETERS}}
LINES: list[dict[str, Any]] = [
    {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather in Oslo?"},
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "18 degrees"},
            {"role": "assistant", "content": "18 degrees.", "weight": 1},
            {"role": "user", "content": "And tomorrow?"},
            {"role": "assistant", "content": "I do not know.", "weight": 0},
        ],
        "tools": [TOOL],
        "parallel_tool_calls": False,
    },
    {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                ],
            },
            {"role": "assistant", "content": None, "refusal": "I cannot help with that.", "x_source": {"page": 3}},
        ],
        "x_split": "train",
    },
]
ROWS: list[dict[str, Any]] = [
    {
        "messages": [
            {"role": "user", "content": [{"type": "image", "path": "a.png"}, {"type": "text", "text": "Look."}]},
            {
                "role": "assistant",
                "thinking": "A cat.",
                "content": None,
                "tool_calls": [
                    {"type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}},
                    {"function": {"name": "weather", "arguments": {"city": "Bergen", "day": None}}},
                    {"name": "weather", "arguments": {"city": "Rome"}},
                ],
            },
            {"role": "tool", "name": "weather", "content": "18 degrees"},
        ],
        "tools": [TOOL],
        "chat_template_kwargs": {"enable_thinking": True},
        "source": "own",
    },
    {"messages": [{"role": "user", "content": "Hi."}], "tools": json.dumps([TOOL])},
    {"messages": [{"role": "user", "content": "Hi."}], "tools": "not JSON"},
    *PADDED,
    {
        "messages": [
            {"role": "user", "content": "Weather in Oslo and Rome?"},
            {"role": "tool_call", "content": '{"name": "weather", "arguments": {"city": "Oslo", "day": null}}'},
            {"role": "tool_call", "content": '[{"name":"weather","arguments":{"city":"Rome"}}]', "loss": True},
            {"role": "tool_response", "content": "18 degrees"},
            {"role": "tool", "content": "24 degrees"},
            {"role": "tool_call", "content": "no call"},
        ],
        "tools": [TOOL["function"], {"function": TOOL["function"]}],
    },
]
DOCUMENTS = [(FINETUNE, line) for line in LINES] + [(HF, row) for row in ROWS]
every_document = pytest.mark.parametrize(("api", "payload"), DOCUMENTS)


# -- every format ------------------------------------------------------------------------------------------------------


@every_document
def test_document_is_encoded_unchanged(api: str, payload: dict[str, Any]) -> None:
    original = copy.deepcopy(payload)
    encoded = adapter(api).encode_request(adapter(api).decode_request(payload))
    assert encoded.payload == original
    assert encoded.losses == ()
    assert payload == original


@every_document
@pytest.mark.parametrize("target", [*PROVIDERS, FINETUNE, HF])
def test_conversion_of_document_reports_every_loss(api: str, payload: dict[str, Any], target: str) -> None:
    encoded = convert(payload, source=api, target=target, model="gpt-4.1" if target in PROVIDERS else None)
    assert audit(payload, encoded) == []


@every_document
def test_document_has_no_violations_except_tools_as_text(api: str, payload: dict[str, Any]) -> None:
    found = {(violation.rule, violation.severity) for violation in check(payload, api=api)}
    expected = {("tools-are-not-padded", "harmful")} if payload in PADDED else set()
    if isinstance(payload.get("tools"), str):
        expected = {("shape", "refused")} & found
    assert found == expected


@pytest.mark.parametrize("api", [FINETUNE, HF])
def test_format_has_no_answers_and_no_streams(api: str) -> None:
    for call in (lambda: adapter(api).decode_response({}), lambda: adapter(api).stream_decoder()):
        with pytest.raises(DecodeError, match="only conversations"):
            call()
    with pytest.raises(EncodeError, match="only conversations"):
        adapter(api).stream_encoder()


@pytest.mark.parametrize(
    ("payload", "api"),
    [
        (
            {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "x", "weight": 0}]},
            FINETUNE,
        ),
        ({"messages": [{"role": "user", "content": "Hi."}]}, "openai-chat"),
        ({"model": "m", "messages": [{"role": "user", "content": "Hi.", "tool_calls": None}]}, "openai-chat"),
        ({"messages": [{"role": "user", "content": "Hi.", "tool_calls": None}]}, HF),
        ([{"role": "user", "content": "Hi.", "tool_calls": None}], HF),
        ({"messages": [{"role": "user", "content": "Hi."}], "chat_template_kwargs": {}}, HF),
        (ROWS[0], HF),
    ],
)
def test_detect_prefers_the_api_if_a_document_has_no_sign_of_a_data_set(payload: Any, api: str) -> None:
    assert detect(payload) == (api, "request")


@pytest.mark.parametrize("target", [*PROVIDERS, FINETUNE, HF])
@pytest.mark.parametrize(("api", "documents"), [(FINETUNE, values.FINETUNE), (HF, values.HF)], ids=[FINETUNE, HF])
@FEW
@given(data=st.data())
def test_conversion_of_generated_document_reports_every_loss(
    api: str, documents: st.SearchStrategy[Any], target: str, data: st.DataObject
) -> None:
    payload = data.draw(documents)
    try:
        encoded = convert(payload, source=api, target=target, model="gpt-4.1" if target in PROVIDERS else None)
    except (DecodeError, DetectError):
        reject()
    assert audit(payload, encoded) == []


# -- fine-tuning files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", LINES)
def test_line_of_fine_tuning_file_is_valid_for_the_official_sdk(line: dict[str, Any]) -> None:
    """The messages of a line are those of a request, and a weight."""
    request: Any = convert(line, source=FINETUNE, target=FINETUNE).payload | {"model": "gpt-4.1"}
    request["messages"] = [{k: v for k, v in m.items() if k[:2] != "x_"} for m in request["messages"]]
    request.pop("x_split", None)
    weighted = [message.pop("weight", None) for message in request["messages"]]
    assert judge("openai-chat", "request").faults(request) == []
    assert 0 in weighted or line is LINES[1]


def test_pair_of_answers_is_refused_with_a_reason() -> None:
    line = {"input": {"messages": []}, "preferred_output": [], "non_preferred_output": []}
    with pytest.raises(DecodeError) as caught:
        adapter(FINETUNE).decode_request(line)
    assert any(fault.path == "$.preferred_output" and "DPO" in fault.message for fault in caught.value.faults)
    assert detect(line) == (FINETUNE, "request")


@pytest.mark.parametrize(
    ("messages", "rule", "path"),
    [
        ([{"role": "user", "content": "Hi."}], "answer-required", "$.messages"),
        ([{"role": "assistant", "content": "Hi.", "weight": 2}], "weights-are-binary", "$.messages[0].weight"),
        (
            [{"role": "user", "content": "Hi.", "weight": 1}, {"role": "assistant", "content": "x"}],
            "weights-are-binary",
            "$.messages[0].weight",
        ),
        (
            [{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}]}],
            "images-in-user-messages",
            "$.messages[0].content[0]",
        ),
        ([{"role": "critic", "content": "x"}], "roles-are-known", "$.messages[0].role"),
        ([{"role": "tool", "tool_call_id": "c1", "content": "x"}], "results-follow-their-calls", "$.messages[0]"),
        ([], "messages-required", "$.messages"),
    ],
)
def test_check_reports_violation_of_fine_tuning_file(messages: Any, rule: str, path: str) -> None:
    found = check({"messages": messages}, api=FINETUNE)
    assert any(violation.rule == rule and violation.path.startswith(path) for violation in found)


# -- data sets with messages -------------------------------------------------------------------------------------------


def test_null_argument_is_kept_if_its_tool_accepts_null() -> None:
    row = copy.deepcopy(ROWS[0])
    properties = row["tools"][0]["function"]["parameters"]["properties"]
    properties["day"] = {"type": ["string", "null"]}
    request = adapter(HF).decode_request(row)
    found = [c.arguments for m in request.messages for c in m.contents if isinstance(c, FunctionCallContent)]
    assert found == [{"city": "Oslo"}, {"city": "Bergen", "day": None}, {"city": "Rome"}]


def test_row_without_messages_is_refused_with_a_reason() -> None:
    with pytest.raises(DecodeError) as caught:
        adapter(HF).decode_request({"prompt": [], "chosen": [], "rejected": []})
    assert any("join its lists" in fault.message for fault in caught.value.faults)


def test_row_of_conversation_renders_in_a_chat_template() -> None:
    """Chat templates write arguments with `tojson`, so they must be objects."""
    jinja2 = pytest.importorskip("jinja2")
    template = jinja2.Template(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.arguments | tojson }}</tool_call>{% endfor %}"
        "<|im_end|>\n{% endfor %}"
    )
    rendered = template.render(convert(LINES[0], source=FINETUNE, target=HF).payload)
    assert '<tool_call>{"city": "Oslo"}</tool_call>' in rendered
    assert "<|im_start|>tool\n18 degrees<|im_end|>" in rendered


@pytest.mark.parametrize(
    ("row", "rule", "path"),
    [
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]},
            "arguments-are-objects",
            "$.messages[0].tool_calls[0].function.arguments",
        ),
        (PADDED[0], "tools-are-not-padded", "$.tools[0].function.parameters"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "roles-are-known", "$.messages[0].role"),
    ],
)
def test_check_reports_violation_of_row(row: Any, rule: str, path: str) -> None:
    assert (rule, path) in {(violation.rule, violation.path) for violation in check(row, api=HF)}


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [{"role": "user", "content": "Hi."}], "tools": [TOOL["function"]]},
        {"messages": [{"role": "tool_call", "content": "{}"}]},
    ],
)
def test_detect_recognizes_rows_of_trainers(row: dict[str, Any]) -> None:
    assert detect(row) == (HF, "request")


def test_reader_of_rows_agrees_with_the_adapter_on_padded_rows() -> None:
    facts = [fact.value for row in PADDED for fact in READERS[HF]("request", row).of("call")]
    assert facts == [("weather", '{"city":"Oslo"}'), ("add", '{"a":2,"b":3}')]
