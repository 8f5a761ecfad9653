"""Capabilities of models: lookup by any spelling of a name, and their use in encoders and checks."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS, records
from contentmodel import ChatOptions, ReasoningOptions, convert
from contentmodel.authoring import MODEL_RULE
from contentmodel.capabilities import Capabilities, canonical, nearest_effort
from contentmodel_conformance.strategies.sdk import sdk_payloads

ANTHROPIC, CHAT, RESPONSES, GOOGLE = "anthropic-messages", "openai-chat", "openai-responses", "google-generate-content"
HI = {"role": "user", "content": "Hi"}


def table(api: str) -> Any:
    return contentmodel.adapter(api).rules.capabilities


def gemini(**config: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": config}


def claude(**settings: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 4096, "messages": [HI], **settings}


def chat(**settings: Any) -> dict[str, Any]:
    return {"model": "gpt-5.2", "messages": [HI], **settings}


def crossed(payload: dict[str, Any], source: str, target: str, model: str | None, **policies: str) -> Any:
    encoded = contentmodel.convert(
        payload, source=source, target=target, model=model, policies=policies, kind="request"
    )
    assert refused(encoded.payload, target, model) == []
    return encoded


def refused(payload: dict[str, Any], api: str, model: str | None) -> list[str]:
    found = contentmodel.check(payload, api=api, model=model)
    return [str(v) for v in found if v.severity != "unchecked" and (model is not None or v.rule != MODEL_RULE)]


def lost(encoded: Any) -> dict[str, tuple[str, str]]:
    return {loss.path: (loss.kind, loss.why) for loss in encoded.losses}


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-opus-4@20250514", "claude-opus-4"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("publishers/anthropic/models/claude-opus-4-1@20250805", "claude-opus-4-1"),
        ("claude-opus-4-8[1m]", "claude-opus-4-8"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("models/gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("google/gemini-2.5-flash:free", "gemini-2.5-flash"),
        ("ft:gpt-4o-mini-2024-07-18:acme::abc", "gpt-4o-mini"),
        ("openai.gpt-5.6-luna", "gpt-5.6-luna"),
        ("GPT-5", "gpt-5"),
    ],
)
def test_canonical_removes_host_additions_from_model_name(model: str, name: str) -> None:
    assert canonical(model) == name


@given(st.text(max_size=300))
def test_capabilities_lookup_accepts_any_model_name(name: str) -> None:
    for api in APIS:
        assert table(api).of(name).status in ("listed", "newest", "guessed", "other")


def test_capabilities_tables_list_every_model_of_the_sdks() -> None:
    """Models for specialized research and for computer use have no row."""
    from anthropic.types.model_param import ModelParam
    from openai.types.shared.chat_model import ChatModel

    assert [name for name in literals(ModelParam) if table(ANTHROPIC).of(name).status != "listed"] == []
    unlisted = [name for name in literals(ChatModel) if table(CHAT).of(name).status != "listed"]
    assert unlisted == ["codex-mini-latest"]


def literals(annotation: Any) -> list[str]:
    found = [[option] if isinstance(option, str) else literals(option) for option in typing.get_args(annotation)]
    return [name for names in found for name in names]


@pytest.mark.parametrize(
    ("api", "model", "status"),
    [
        (ANTHROPIC, "claude-opus-9", "newest"),
        (ANTHROPIC, "kimi-k3", "guessed"),
        (ANTHROPIC, None, "guessed"),
        (GOOGLE, "gemini-9-flash", "newest"),
        (CHAT, "gpt-9", "newest"),
        (CHAT, "llama-3.3-70b", "other"),
        (CHAT, None, "other"),
    ],
)
def test_capabilities_lookup_treats_unlisted_model_as_newest_of_its_provider(
    api: str, model: str | None, status: str
) -> None:
    assert table(api).of(model).status == status


@pytest.mark.parametrize("api", APIS)
def test_capability_rows_have_source_date_and_known_efforts(api: str) -> None:
    for row in table(api).rows:
        assert row.source
        assert row.seen.startswith("20")
        efforts = row.capabilities.efforts or ()
        assert [nearest_effort(word, efforts) for word in efforts] == list(efforts), row.shown
        assert row.capabilities.default_effort is None or row.capabilities.default_effort in efforts


# -- thinking ----------------------------------------------------------------------------------------------------------


_OFF = [
    (gemini(thinkingConfig={"thinkingBudget": 0}), GOOGLE),
    (claude(thinking={"type": "disabled"}), ANTHROPIC),
    (chat(reasoning_effort="none"), CHAT),
    ({"model": "gpt-5.2", "input": "Hi", "reasoning": {"effort": "none"}}, RESPONSES),
]
_CAN_DISABLE = {ANTHROPIC: "claude-haiku-5-5", CHAT: "gpt-5.4", RESPONSES: "gpt-5.6", GOOGLE: "gemini-2.5-flash"}
_CANNOT_DISABLE = {
    ANTHROPIC: "claude-opus-5-5",
    CHAT: "gpt-5",
    RESPONSES: "gpt-6-astra",
    GOOGLE: "gemini-3.1-pro-preview",
}


@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize(("payload", "source"), _OFF, ids=[source for _, source in _OFF])
def test_convert_keeps_thinking_disabled_if_model_supports_it(
    payload: dict[str, Any], source: str, target: str
) -> None:
    if source == target:
        return
    encoded = crossed(payload, source, target, _CAN_DISABLE[target])
    settings = contentmodel.adapter(target).decode_request(encoded.payload).options.reasoning
    assert settings is not None
    assert (settings.mode == "disabled") or (settings.effort == "none") or (settings.budget_tokens == 0)
    kinds = {loss.kind for loss in encoded.losses if "reasoning" in loss.what}
    assert kinds <= {"insignificant"}
    least = crossed(payload, source, target, _CANNOT_DISABLE[target])
    assert [why for _, why in lost(least).values() if "cannot turn thinking off" in why]


@pytest.mark.parametrize(
    ("effort", "target", "model", "sent"),
    [
        ("xhigh", ANTHROPIC, "claude-opus-4-5", "high"),
        ("xhigh", ANTHROPIC, "claude-opus-4-6", "high"),
        ("max", ANTHROPIC, "claude-opus-4-6", "max"),
        ("minimal", ANTHROPIC, "claude-opus-5", "low"),
        ("utmost", ANTHROPIC, "claude-sonnet-4-5", None),
        ("high", RESPONSES, "gpt-4o", None),
        ("xhigh", RESPONSES, "gpt-5", "high"),
        ("low", RESPONSES, "gpt-5-pro", "high"),
        ("medium", GOOGLE, "gemini-3-pro-preview", "low"),
        ("xhigh", GOOGLE, "gemini-3-flash-preview", "high"),
    ],
)
def test_convert_uses_nearest_effort_that_model_accepts(effort: str, target: str, model: str, sent: str | None) -> None:
    encoded = crossed(chat(reasoning_effort=effort), CHAT, target, model)
    settings = contentmodel.adapter(target).decode_request(encoded.payload).options.reasoning
    assert (settings.effort if settings else None) == sent
    if sent != effort:
        kind, why = lost(encoded)["$.reasoning_effort"]
        assert kind == ("dropped" if sent is None else "degraded")
        assert model in why


def test_effort_becomes_no_budget_while_claude_waits_for_results() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked: list[dict[str, Any]] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
    ]
    encoded = crossed(chat(messages=asked, reasoning_effort="low"), CHAT, ANTHROPIC, "claude-haiku-4-5")
    assert "thinking" not in encoded.payload
    assert lost(encoded)["$.reasoning_effort"] == ("dropped", "claude-haiku-4-5 accepts no effort")
    later = [*asked, {"role": "assistant", "content": "1"}, {"role": "user", "content": "Why?"}]
    encoded = crossed(chat(messages=later, reasoning_effort="low"), CHAT, ANTHROPIC, "claude-haiku-4-5")
    assert encoded.payload["thinking"] == {"type": "enabled", "budget_tokens": 1024}


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("target", [ANTHROPIC, GOOGLE, RESPONSES, "google-interactions", "bedrock-converse"])
@pytest.mark.parametrize("source", [ANTHROPIC, GOOGLE, RESPONSES, "google-interactions", "bedrock-converse"])
def test_wish_to_see_the_thinking_is_sent_in_the_field_of_each_api(source: str, target: str, shown: bool) -> None:
    models = {
        ANTHROPIC: "claude-opus-4-8",
        GOOGLE: "gemini-3-pro-preview",
        RESPONSES: "gpt-5.2",
        "google-interactions": "gemini-3-pro-preview",
        "bedrock-converse": "anthropic.claude-opus-4-8",
    }
    request = contentmodel.ChatRequest(
        model=models[source],
        messages=[contentmodel.ChatMessage(role="user", contents=[contentmodel.TextContent(text="Hi")])],
        options=ChatOptions(max_output_tokens=9000, reasoning=ReasoningOptions(effort="high", include=shown)),
    )
    payload = contentmodel.adapter(source).encode_request(request).payload
    encoded = crossed(payload, source, target, models[target])
    settings = contentmodel.adapter(target).decode_request(encoded.payload).options.reasoning
    assert settings is not None
    wish = (
        {True: (True, None), False: (False, None)}
        if target == GOOGLE
        else {
            ANTHROPIC: {True: (None, "summarized"), False: (None, "omitted")},
            "bedrock-converse": {True: (None, "summarized"), False: (None, "omitted")},
            RESPONSES: {True: (None, "auto"), False: (None, None)},
            "google-interactions": {True: (None, "auto"), False: (None, "none")},
        }[target]
    )
    # A request to Responses without the wish is one that leaves it to the model.
    assert (settings.include, settings.summary) == (wish[shown] if shown or source != RESPONSES else (None, None))
    assert {loss.kind for loss in encoded.losses if loss.what.startswith("options.reasoning.")} <= {"insignificant"}


@pytest.mark.parametrize("summary", ["detailed", "poetic"])
def test_kind_of_summary_that_an_api_lacks_is_reported(summary: str) -> None:
    asked = {"model": "gpt-5.2", "input": "Hi", "reasoning": {"effort": "low", "summary": summary}}
    encoded = crossed(asked, RESPONSES, ANTHROPIC, "claude-opus-4-8")
    assert encoded.payload["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert lost(encoded)["$.reasoning.summary"] == (
        "degraded",
        f"anthropic-messages has no {summary} form of the thinking",
    )
    encoded = crossed(asked, RESPONSES, ANTHROPIC, "claude-3-5-haiku-latest")
    assert "thinking" not in encoded.payload
    assert lost(encoded)["$.reasoning.summary"][0] == "dropped"
    encoded = crossed(asked, RESPONSES, "bedrock-converse", "amazon.nova-2-lite-v1:0")
    assert "display" not in str(encoded.payload)
    assert lost(encoded)["$.reasoning.summary"][0] == "dropped"


# -- sampling and the rest ---------------------------------------------------------------------------------------------


def test_convert_drops_temperature_if_model_thinks() -> None:
    settings = {"thinkingConfig": {"thinkingBudget": 2000}, "temperature": 0.2}
    encoded = crossed(gemini(**settings), GOOGLE, ANTHROPIC, "claude-sonnet-4-5")
    assert "temperature" not in encoded.payload
    assert "while it thinks" in lost(encoded)["$.generationConfig.temperature"][1]
    assert crossed(gemini(temperature=0.2), GOOGLE, CHAT, "gpt-5.2").payload["temperature"] == 0.2
    assert "temperature" not in crossed(gemini(temperature=0.2), GOOGLE, CHAT, "gpt-5.6").payload


_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(("model", "follows"), [("claude-sonnet-4-5", True), ("claude-sonnet-4-0", False)])
def test_convert_sends_response_schema_only_to_models_that_support_it(model: str, follows: bool) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": _SCHEMA}}
    function = {"name": "f", "strict": True, "parameters": _SCHEMA}
    payload = chat(response_format=form, tools=[{"type": "function", "function": function}])
    encoded = crossed(payload, CHAT, ANTHROPIC, model)
    assert ("output_config" in encoded.payload) is follows
    assert (encoded.payload["tools"][0].get("strict") is True) is follows
    assert follows or "accepts no response schema" in " ".join(why for _, why in lost(encoded).values())


# -- the policy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["claude-sonnet-4-5", "any", '{"sampling": {"temperature": [0, 1]}}'])
def test_capabilities_policy_overrides_model_table(choice: str) -> None:
    payload = chat(temperature=0.5)
    assert "temperature" not in crossed(payload, CHAT, ANTHROPIC, "our-model").payload
    encoded = crossed(payload, CHAT, ANTHROPIC, "our-model", capabilities=choice)
    assert encoded.payload["temperature"] == 0.5
    [plan] = contentmodel.plan(
        payload, targets=[ANTHROPIC], models={ANTHROPIC: "claude-opus-5-5"}, policies={"capabilities": choice}
    )
    assert "$.temperature" not in [loss.path for loss in plan.losses]
    assert plan.violations == ()


@pytest.mark.parametrize("choice", ["", "gpt-unheard-of", '{"temperature": 1}', '{"sampling": 1}', "{"])
def test_convert_rejects_invalid_capabilities_policy(choice: str) -> None:
    with pytest.raises(ValueError, match="policy capabilities"):
        contentmodel.convert(chat(), source=CHAT, target=ANTHROPIC, policies={"capabilities": choice})


def test_loss_reason_names_policy_if_policy_sets_the_limit() -> None:
    limits = Capabilities(sampling={}).policy()
    encoded = crossed(chat(temperature=0.5), CHAT, RESPONSES, "gpt-4o", capabilities=limits)
    assert lost(encoded)["$.temperature"][1] == "by the policy capabilities, the model accepts no temperature"
    other = crossed(chat(reasoning_effort="low"), CHAT, RESPONSES, "gpt-4o", capabilities=limits)
    assert lost(other)["$.reasoning_effort"][1] == "gpt-4o does not support thinking"


def test_client_drops_sampling_that_its_api_version_rejects() -> None:
    anthropic = pytest.importorskip("anthropic")
    new = anthropic.Anthropic(api_key="k")
    old = anthropic.Anthropic(api_key="k", default_headers={"anthropic-version": "2023-06-01"})
    request = contentmodel.ChatRequest(
        model="claude-sonnet-4-5",
        messages=[contentmodel.ChatMessage(role="user", contents=[contentmodel.TextContent(text="Hi")])],
        options=ChatOptions(temperature=0.5, reasoning=ReasoningOptions(effort="utmost")),
    )
    for sdk, sent in ((new, None), (old, 0.5)):
        call = contentmodel.chat_client(ANTHROPIC, sdk=sdk).prepare(request, stream=False)  # type: ignore[attr-defined]
        assert call.payload.get("temperature") == sent
        reasons = {loss.path: loss.why for loss in call.losses}
        assert reasons["$.options.reasoning.effort"] == "claude-sonnet-4-5 accepts no effort"
        if sent is None:
            assert reasons["$.options.temperature"].startswith("by version 2026-10-21 of the API, the model accepts")


# -- checks ------------------------------------------------------------------------------------------------------------

_WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    CHAT: (
        chat(messages=[{"role": "wizard", "content": "Hi"}], temperature="hot", tools="none", service_tier="gold"),
        ["$.messages[0].role", "$.service_tier", "$.temperature", "$.tools"],
    ),
    RESPONSES: (
        {"model": "gpt-5.2", "input": [{"role": "wizard", "content": "Hi"}], "top_p": "hot", "tools": "none"},
        ["$.input[0].role", "$.tools", "$.top_p"],
    ),
    ANTHROPIC: (
        claude(
            messages=[{"role": "wizard", "content": "Hi"}], temperature="hot", tools="none", thinking={"type": "wild"}
        ),
        ["$.messages[0].role", "$.temperature", "$.thinking.type", "$.tools"],
    ),
    GOOGLE: (
        {
            "contents": [{"role": "wizard", "parts": [{"text": "Hi"}]}],
            "tools": "none",
            "generationConfig": {"temperature": "hot", "thinkingConfig": {"thinkingLevel": "HUGE"}},
        },
        [
            "$.contents[0].role",
            "$.generationConfig.temperature",
            "$.generationConfig.thinkingConfig.thinkingLevel",
            "$.tools",
        ],
    ),
}


@pytest.mark.parametrize(
    ("api", "payload", "paths"),
    [
        (
            ANTHROPIC,
            claude(max_tokens="5", messages=[{"role": "user", "content": [{"type": "text"}]}]),
            {"$.max_tokens", "$.messages[0].content[0].text"},
        ),
        (
            RESPONSES,
            {"model": "gpt-5.2", "input": [{"type": "function_call"}], "max_output_tokens": "5", "store": "no"},
            {"$.max_output_tokens", "$.store"},
        ),
    ],
)
def test_check_reports_wrong_json_types_together_with_missing_fields(
    api: str, payload: dict[str, Any], paths: set[str]
) -> None:
    assert paths <= {v.path for v in contentmodel.check(payload, api=api) if v.severity == "refused"}


def test_check_reports_expected_and_actual_json_type_of_object_field() -> None:
    tool = {"type": "function", "function": "f"}
    [found] = contentmodel.check(chat(tools=[tool]), api=CHAT)
    assert (found.path, found.message) == ("$.tools[0].function", "expected object, got string")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"type": "image_url", "image_url": 7}, "no form of image_url has such fields: image_url"),
        ({"type": "image_url"}, "no form of image_url has such fields: no other field"),
        ({"type": "file", "file": {"file_url": "a"}}, "no form of file has such fields: file"),
    ],
)
def test_check_reports_blocks_of_a_known_type_that_have_no_known_form(part: dict[str, Any], message: str) -> None:
    payload = chat(messages=[{"role": "user", "content": [part]}])
    [found] = contentmodel.check(payload, api=CHAT)
    assert (found.path, found.rule, found.message) == ("$.messages[0].content[0]", "shape", message)
    assert contentmodel.check({**payload, "model": "our-model"}, api=CHAT) == []


def test_check_reports_wrong_json_types_for_unlisted_model() -> None:
    payload = {**_WRONG[CHAT][0], "model": "our-model"}
    found = {v.path for v in contentmodel.check(payload, api=CHAT) if v.severity == "refused"}
    # Values of settings that other hosts may extend are checked only for OpenAI's models.
    assert found == {"$.messages[0].role", "$.temperature", "$.tools"}


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_check_reports_no_wrong_json_type_in_payloads_of_sdk_types(api: str, data: st.DataObject) -> None:
    """Ignore `parameters` of functions in a namespace: OpenAI's type `object` allows any JSON."""
    payload = data.draw(sdk_payloads(api, "request"))
    shapes = [v for v in contentmodel.check(payload, api=api) if v.rule == "shape" and "expected" in v.message]
    assert [str(v) for v in shapes if not v.path.endswith(".parameters")] == []


@pytest.mark.parametrize("api", APIS)
def test_check_accepts_recorded_requests(api: str) -> None:
    for record in records(api, "request"):
        if (record["status"] or 200) < 400:
            for model in (None, record["model"]):
                assert refused(record["body"], api, model) == [], record["id"]


@pytest.mark.parametrize(
    ("api", "payload", "path"),
    [
        (CHAT, chat(model="our-model", temperature=5), "$.temperature"),
        (CHAT, chat(model="our-model", reasoning_effort="none"), "$.reasoning_effort"),
        (ANTHROPIC, claude(model="our-model", temperature=0.5), "$.temperature"),
        (GOOGLE, gemini(presencePenalty=0.5), "$.generationConfig.presencePenalty"),
    ],
)
def test_check_reports_rules_that_it_could_not_apply_as_unchecked(api: str, payload: dict[str, Any], path: str) -> None:
    found = [v for v in contentmodel.check(payload, api=api) if v.path == path]
    assert [v.severity for v in found] == ["unchecked"] * len(found)
    assert found
    assert "is not listed" in found[0].message or "the request names no model" in found[0].message


def test_look_up_model_reports_whether_model_is_listed() -> None:
    look_up_model = contentmodel.adapter(ANTHROPIC).look_up_model
    assert (look_up_model("claude-opus-4-8").status, look_up_model("claude-opus-4-8").unlisted()) == ("listed", None)
    assert (look_up_model("claude-opus-9").status, look_up_model("our-model").status) == ("newest", "guessed")
    assert look_up_model("our-model").unlisted() == "'our-model' is not listed: checked as the provider's newest model"
    assert look_up_model(None).unlisted() == "the request names no model: checked as the provider's newest model"
    assert look_up_model("our-model", {"capabilities": "any"}).unlisted() is None


def test_check_treats_unlisted_model_as_newest_of_its_provider() -> None:
    [found] = contentmodel.check(claude(model="claude-opus-9", temperature=0.5), api=ANTHROPIC)
    assert (found.path, found.severity) == ("$.temperature", "refused")
    assert "'claude-opus-9' is not listed: checked as the provider's newest model" in found.message


@pytest.mark.parametrize("choice", ["", "0", "-1", "many", "1e9", "²"])
def test_policy_output_limit_is_a_positive_number(choice: str) -> None:
    with pytest.raises(ValueError, match="expected a number of tokens"):
        convert(
            {"model": "m", "messages": []},
            source="openai-chat",
            target="anthropic-messages",
            kind="request",
            policies={"output_limit": choice},
        )
