"""The attributes that are recorded for OpenTelemetry, judged by the JSON Schemas of its conventions.

No package has these schemas. CONTENTMODEL_OTEL_SCHEMAS names a folder with the files of `model/gen-ai` of
open-telemetry/semantic-conventions-genai.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import contentmodel
from conftest import APIS, records
from contentmodel import ChatRequest, chat_client, convert, user
from contentmodel.authoring import objects_of
from contentmodel.runner import ToolRunner
from contentmodel.runner.telemetry import OpenTelemetry
from contentmodel.tools import tool
from contentmodel_conformance.server import LoopbackServer
from contentmodel_conformance.strategies.sdk import sdk_payloads
from test_otel_gen_ai import exporting

API = "otel-gen-ai"
FILES = {
    "gen_ai.input.messages": "gen-ai-input-messages.json",
    "gen_ai.output.messages": "gen-ai-output-messages.json",
    "gen_ai.system_instructions": "gen-ai-system-instructions.json",
    "gen_ai.tool.definitions": "gen-ai-tool-definitions.json",
}
FOLDER = os.environ.get("CONTENTMODEL_OTEL_SCHEMAS")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="CONTENTMODEL_OTEL_SCHEMAS is not set")


@functools.cache
def validators(attribute: str) -> dict[str | None, Draft202012Validator]:
    """Return the validators of an attribute: of its whole value (None), and of each known type of object in it.

    The schema allows objects of any type. So only the validator of a type finds that an object lacks a field.
    """
    schema = json.loads((Path(FOLDER or "") / FILES[attribute]).read_text("utf-8"))
    kinds = {
        one["properties"]["type"].get("const"): one
        for one in schema["$defs"].values()
        if "properties" in one and "type" in one["properties"]
    }
    typed = {kind: {**one, "$defs": schema["$defs"]} for kind, one in kinds.items() if kind is not None}
    return {kind: Draft202012Validator(one) for kind, one in {None: schema, **typed}.items()}


def faults(attributes: dict[str, Any]) -> Iterator[str]:
    """Yield what the schemas refuse in the attributes of a span."""
    for name in FILES.keys() & attributes.keys():
        value = attributes[name]
        items = json.loads(value) if isinstance(value, str) else value
        nested = [part for message in items for part in objects_of(message, "parts")]
        for one, kind in [(items, None), *((item, item.get("type")) for item in (*items, *nested))]:
            if kind is None and one is not items:
                continue
            for validator in filter(None, [validators(name).get(kind)]):
                yield from (f"{name}: {error.message[:300]}" for error in validator.iter_errors(one))


def test_object_without_a_required_field_is_found() -> None:
    assert list(faults({"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text"}]}]}))
    assert list(faults({"gen_ai.tool.definitions": [{"type": "web_search"}]}))
    assert not list(
        faults(
            {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "x", "visible": True}]}]}
        )
    )


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_generated_payload_is_recorded_as_the_schemas_require(api: str, kind: Any, data: st.DataObject) -> None:
    decoded = contentmodel.adapter(api)
    payload = data.draw(sdk_payloads(api, kind))
    assert not list(faults(convert(payload, source=decoded.api, target=API, kind=kind).payload))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("api", [*APIS, "bedrock-converse", "mistral-chat", "cohere-chat"])
def test_recording_is_recorded_as_the_schemas_require(api: str, kind: Any) -> None:
    for record in records(api, kind):
        if record["status"] == 200 or kind == "response":
            encoded = convert(record["body"], source=api, target=API, kind=kind)
            assert not list(faults(encoded.payload)), record["id"]


def test_spans_of_the_observer_are_as_the_schemas_require() -> None:
    @tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"Sunny in {city}."

    exporter, provider = exporting()
    observer = OpenTelemetry(contents=True, tracer_provider=provider)
    with LoopbackServer([{"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}, "It is sunny."]) as server:
        url = server.base_url("anthropic-messages")
        client = chat_client("anthropic-messages", model="claude-opus-5", api_key="none", base_url=url)
        ToolRunner(client, [weather], observer=observer).run(
            ChatRequest(instructions="Be brief.", messages=[user("?")])
        )
    spans = [dict(span.attributes or {}) for span in exporter.get_finished_spans()]
    assert {name for span in spans for name in span} >= FILES.keys()
    assert [fault for span in spans for fault in faults(span)] == []
