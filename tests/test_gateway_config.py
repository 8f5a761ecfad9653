"""The configuration of a gateway: every fault is reported with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from contentmodel.gateway import ConfigError, GatewayConfig, config_schema, load_config, read_config

CLAUDE = {"api": "anthropic-messages", "key": "none"}
GOOD: dict[str, Any] = {"upstreams": {"claude": CLAUDE}, "routes": [{"to": "claude"}]}


def faults(value: dict[str, Any], environment: dict[str, str] | None = None) -> dict[str, str]:
    with pytest.raises(ConfigError) as raised:
        read_config(value, environment=environment or {})
    return {fault.path: fault.message for fault in raised.value.faults}


def changed(**changes: Any) -> dict[str, Any]:
    return {**GOOD, **changes}


def test_read_config_reports_all_type_faults_at_once() -> None:
    value = {
        "port": "x",
        "upstream": {},
        "upstreams": {"a": {"api": "openai-chat", "retries": -1, "keyy": 1}, "b": {}},
        "routes": [{"models": [], "to": 3}, {"to": "a", "on_loss": "maybe", "hosted_tools": "no"}],
    }
    assert faults(value) == {
        "port": "expected `int`, got `str`",
        "upstream": "unknown key 'upstream': did you mean 'upstreams'?",
        "upstreams.a.retries": "expected `int` >= 0",
        "upstreams.a.keyy": "unknown key 'keyy': did you mean 'key'?",
        "upstreams.b.api": "required, and missing",
        "routes[0].models": "expected `array` of length >= 1",
        "routes[0].to": "expected `str | object | array`, got `int`",
        "routes[1].on_loss": "invalid enum value 'maybe': expected 'report' or 'refuse'",
        "routes[1].hosted_tools": "invalid enum value 'no': expected 'encode' or 'drop' or 'function' or 'refuse'",
        "upstreams.a.key": "the environment variable OPENAI_API_KEY is not set",
    }


def test_read_config_reports_faults_of_types_and_values_at_once() -> None:
    value = {
        "host": "0.0.0.0",
        "prot": 1,
        "upstreams": {"a": {"api": "openai-caht", "retries": "many"}, "b": {"base_url": "ftp://x"}},
        "routes": [{"model": ["gpt"], "to": "c"}, {"models": "gpt-5", "to": ["a", 5, "d"]}, {"models": ["x"]}],
    }
    found = faults(value)
    assert found == {
        "prot": "unknown key 'prot': did you mean 'port'?",
        "upstreams.a.retries": "expected `int`, got `str`",
        "upstreams.a.api": "unknown API 'openai-caht': did you mean 'openai-chat'?",
        "upstreams.b.api": "required, and missing",
        "routes[0].model": "expected `str | null`, got `array`: did you mean 'models'?",
        "routes[0].to": "unknown upstream 'c': known: a, b",
        "routes[1].models": "expected `array`, got `str`: did you mean 'model'?",
        "routes[1].to[1]": "expected `str | object`, got `int`",
        "routes[1].to[2]": "unknown upstream 'd': known: a, b",
        "routes[2].to": "required, and missing",
        "key": "required with host '0.0.0.0', which other machines can reach: set key = 'env:NAME'",
    }


def test_read_config_reports_all_faults_of_values_at_once() -> None:
    value = {
        "upstreams": {"a": {"api": "openai-caht"}, "b": {"api": "openai-chat", "key": "sk-1", "base_url": "ftp://x"}},
        "routes": [
            {"to": ["c", "b", "b"], "on_loss": {"medai": "refuse"}},
            {"models": ["gpt-*"], "to": "b", "policies": {"reasoning": "x"}},
        ],
    }
    found = faults(value)
    assert set(found) == {
        *("upstreams.a.api", "upstreams.b.key", "upstreams.b.base_url", "routes[0].to[0]", "routes[0].to[2]"),
        *("routes[0].on_loss.medai", "routes[1].policies.reasoning", "routes[1].models"),
    }
    assert found["upstreams.a.api"] == "unknown API 'openai-caht': did you mean 'openai-chat'?"
    assert found["routes[1].models"] == "never used: an earlier route matches '*'"


UPSTREAMS = {
    "gpt": {"api": "openai-chat", "key": "none"},
    "claude": {"api": "anthropic-messages", "key": "none", "model": "claude-opus-5"},
    "spare": {"api": "openai-responses", "key": "none"},
}
NAMED = [{"upstream": "gpt", "model": "gpt-5.2", "policies": {"reasoning": "text"}}, {"upstream": "claude"}]


def test_route_has_a_model_for_each_upstream() -> None:
    config = read_config({"upstreams": UPSTREAMS, "routes": [{"to": [*NAMED, "spare"], "hosted_tools": "drop"}]})
    (route,) = config.routes
    attempts = [route.at(target, config.upstreams) for target in route.targets]
    assert [attempt.model for attempt in attempts] == ["gpt-5.2", "claude-opus-5", None]
    assert [attempt.policies for attempt in attempts] == [{"reasoning": "text"}, {}, {}]
    assert {attempt.hosted_tools for attempt in attempts} == {"drop"}
    assert route.upstreams == ("gpt", "claude", "spare")


def test_route_has_one_upstream_as_a_table() -> None:
    config = read_config({"upstreams": UPSTREAMS, "routes": [{"to": NAMED[0], "model": "gpt-4.1"}]})
    (target,) = config.routes[0].targets
    assert config.routes[0].at(target, config.upstreams).model == "gpt-5.2"


@pytest.mark.parametrize(
    ("route", "fault"),
    [
        ({"to": ["gpt", "claude"], "model": "gpt-5.2"}, True),
        ({"to": ["gpt", {"upstream": "claude"}], "model": "gpt-5.2"}, True),
        ({"to": ["gpt", {"upstream": "claude", "model": "claude-opus-5"}], "model": "gpt-5.2"}, False),
        ({"to": ["gpt", "claude"]}, False),
        ({"to": ["gpt", "spare"], "model": "gpt-5.2"}, False),
    ],
)
def test_read_config_refuses_one_model_for_upstreams_of_different_providers(route: Any, fault: bool) -> None:
    value = {"upstreams": UPSTREAMS, "routes": [route]}
    if not fault:
        assert read_config(value)
        return
    found = faults(value)
    assert set(found) == {"routes[0].to"}
    assert "different providers" in found["routes[0].to"]


def test_read_config_reports_faults_of_targets_with_their_places() -> None:
    to = [{"upstream": "gtp", "modle": "m"}, {"model": "m"}]
    assert faults({"upstreams": UPSTREAMS, "routes": [{"to": to}]}) == {
        "routes[0].to[0].modle": "unknown key 'modle': did you mean 'model'?",
        "routes[0].to[1].upstream": "required, and missing",
    }
    found = faults({"upstreams": UPSTREAMS, "routes": [{"to": [{"upstream": "gtp", "policies": {"reasoning": "x"}}]}]})
    assert set(found) == {"routes[0].to[0]", "routes[0].to[0].policies.reasoning"}


def test_read_config_refuses_a_literal_key_without_repeating_it() -> None:
    message = faults(changed(upstreams={"claude": {"api": "anthropic-messages", "key": "sk-secret"}}))
    assert "sk-secret" not in str(message)
    assert "environment variable" in message["upstreams.claude.key"]


def test_read_config_reports_a_missing_environment_variable() -> None:
    upstreams = {"claude": {"api": "anthropic-messages"}}
    assert faults(changed(upstreams=upstreams)) == {
        "upstreams.claude.key": "the environment variable ANTHROPIC_API_KEY is not set"
    }
    assert read_config(changed(upstreams=upstreams), environment={"ANTHROPIC_API_KEY": "k"})


def test_read_config_requires_a_key_unless_the_host_is_loopback() -> None:
    assert set(faults(changed(host="0.0.0.0"))) == {"key"}
    assert read_config(changed(host="0.0.0.0", key="env:GATE"), environment={"GATE": "k"}).key == "env:GATE"


@pytest.mark.parametrize("text", ["port = ", "\xff"])
def test_load_config_reports_a_file_that_is_not_toml(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gateway.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match="not TOML"):
        load_config(path)


def test_load_config_reads_a_toml_file(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text('[upstreams.a]\napi = "openai-chat"\nkey = "none"\n[[routes]]\nmodels = ["gpt-*"]\nto = ["a"]\n')
    config = load_config(path)
    assert isinstance(config, GatewayConfig)
    assert config.routes[0].matches("gpt-5")
    assert not config.routes[0].matches("o3")


def test_config_schema_and_reader_refuse_the_same_values() -> None:
    validator = jsonschema.Draft202012Validator(config_schema())
    assert validator.is_valid(GOOD)
    for wrong in (changed(port=70000), changed(upstream={}), changed(routes=[]), changed(routes=[{"models": ["*"]}])):
        assert not validator.is_valid(wrong)
        assert faults(wrong)
