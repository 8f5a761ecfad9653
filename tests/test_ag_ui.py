"""AG-UI: inputs of runs and their messages. The types of ag-ui-protocol judge what the adapter writes."""

from __future__ import annotations

import copy
from typing import Any

import ag_ui.core as library
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from conftest import payloads
from contentmodel import (
    ChatRequest,
    DecodeError,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.content import ConfigurationContent, UnknownContent
from contentmodel_conformance.strategies.transcripts import transcripts

API = "ag-ui"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
MESSAGES = TypeAdapter[Any](list[library.Message])
STORED = payloads("ag-ui")
LOOP, RUN, OLDER, DOCUMENTS = STORED["loop"], STORED["run"], STORED["older"], [*STORED.values()]
HELLO = {"id": "u1", "role": "user", "content": "Hello"}
RESULT = {"id": "t-call_1", "role": "tool", "toolCallId": "call_1", "content": "a"}
every_document = pytest.mark.parametrize("document", DOCUMENTS)


def refused(payload: Any) -> list[str]:
    """Return what ag-ui-protocol does not read of a payload as it is: faults, and fields that its types do not have."""
    as_model = library.RunAgentInput.model_validate if isinstance(payload, dict) else MESSAGES.validate_python
    try:
        return _unknown(as_model(payload))
    except ValueError as error:
        return [str(error)]


def _unknown(value: Any) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in _unknown(item)]
    if not hasattr(value, "model_fields_set"):
        return []
    inner = [name for item in dict(value).values() for name in _unknown(item)]
    return [*inner, *(value.model_extra or {})]


def decoded(document: Any) -> ChatRequest:
    return adapter(API).decode_request(document)


@every_document
def test_document_is_encoded_unchanged(document: Any) -> None:
    original = copy.deepcopy(document)
    made = adapter(API).encode_request(decoded(document))
    assert (made.payload, made.losses) == (original, ())
    assert document is OLDER or refused(original) == []
    assert check(document, api=API) == []


@pytest.mark.parametrize("document", DOCUMENTS[:-1])
def test_document_is_detected(document: Any) -> None:
    assert detect(document) == (API, "request")


@every_document
@pytest.mark.parametrize("target", [*PROVIDERS, "vercel-ui-messages"])
def test_conversion_reports_every_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, source=API, target=target, model="gpt-5.2")) == []


@every_document
def test_every_message_has_a_type_of_the_model(document: Any) -> None:
    contents: list[Any] = [content for message in decoded(document).messages for content in message.contents]
    contents += [output for content in contents for output in getattr(content, "outputs", ())]
    assert not [content for content in contents if isinstance(content, UnknownContent)]


def test_objects_of_the_library_are_payloads() -> None:
    run = library.RunAgentInput.model_validate(RUN)
    messages = MESSAGES.validate_python(LOOP)
    assert adapter(API).encode_request(decoded(run)).payload == RUN
    assert adapter(API).encode_request(decoded(messages)).payload == LOOP
    made = [library.UserMessage(id="u1", content="Hello")]
    assert adapter(API).encode_request(decoded(made)).payload == [HELLO]


def test_opaque_state_is_sent_only_to_its_provider() -> None:
    signed = convert(LOOP, source=API, target="anthropic-messages", model="claude-opus-4-8").payload
    assert signed["messages"][1]["content"][0] == {"type": "thinking", "thinking": "Look it up.", "signature": "EqQB"}
    for target in PROVIDERS:
        made = convert(LOOP, source=API, target=target, model="gpt-5.2").payload
        assert "a value of another agent" not in str(made)
        assert ("EqQB" in str(made)) is (target == "anthropic-messages")


def test_activity_is_kept_and_reported() -> None:
    message = decoded(LOOP).messages[6]
    assert message.contents == [ConfigurationContent(kind="PLAN", settings={"steps": [{"done": True}]})]
    assert (message.role, message.message_id) == ("assistant", "v1")
    for target in PROVIDERS:
        made = convert(LOOP, source=API, target=target, model="gpt-5.2")
        assert "PLAN" not in str(made.payload)
        assert "$[8]" in [loss.path for loss in made.losses]


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ([{"role": "user", "content": "a"}], "messages_have_ids"),
        ([{"id": "1", "role": "critic", "content": "a"}], "roles_are_known"),
        ([{"id": "1", "role": "system", "content": []}], "contents_are_strings"),
        ([RESULT], "results_follow_their_calls"),
        ({"messages": [], "threadId": "t"}, "runs_have_ids"),
    ],
)
def test_check_reports_violation(document: Any, rule: str) -> None:
    assert [found.rule.replace("-", "_") for found in check(document, api=API)] == [rule]


@pytest.mark.parametrize("document", ["[1]", '[{"id": "1"}]', '[{"role": "activity"}]', '{"messages": {}}'])
def test_faulty_document_is_refused(document: str) -> None:
    with pytest.raises(DecodeError):
        decoded(document)


@given(st.sampled_from(PROVIDERS).flatmap(transcripts))
def test_library_reads_every_converted_conversation(request: ChatRequest) -> None:
    made = adapter(API).encode_request(request)
    assert refused(made.payload) == []
    assert [found for found in check(made.payload, api=API) if found.severity == "refused"] == []
