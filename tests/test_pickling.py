"""Errors and public values can be pickled, so that they can be sent between processes."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing import get_context
from types import ModuleType
from typing import Any

import msgspec
import msgspec.inspect as types
import pytest

import contentmodel
import contentmodel.authoring
import contentmodel_adapters
from contentmodel import DecodeError, Encoded, adapter, adapters, audit, convert
from contentmodel.errors import ContentModelError, Fault, MissingExtraError
from contentmodel.hints import declared
from contentmodel.losses import Loss
from contentmodel.tools.config.faults import ToolFileFault
from contentmodel.tools.faults import InputFault

MODULES = [
    module
    for package in (contentmodel, contentmodel_adapters)
    for module in (package, *pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
]


def loaded() -> Iterator[ModuleType]:
    """Yield the modules of the packages."""
    for module in MODULES:
        if isinstance(module, ModuleType):
            yield module
        elif not module.name.endswith("__main__"):
            yield importlib.import_module(module.name)


def classes(is_wanted: Callable[[type[Any]], bool], *, are_public: bool) -> list[type[Any]]:
    """Return the classes that the modules define, or those that their `__all__` names."""
    found: dict[type[Any], None] = {}
    for module in loaded():
        names = getattr(module, "__all__", ()) if are_public else vars(module)
        for name in names:
            value = vars(module).get(name)
            if isinstance(value, type) and value.__module__.startswith("contentmodel") and is_wanted(value):
                found[value] = None
    return list(found)


def round_trip(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


# -- errors ------------------------------------------------------------------------------------------------------------

ERRORS = dict.fromkeys(
    classes(lambda kind: issubclass(kind, Exception), are_public=True)
    + classes(lambda kind: issubclass(kind, ContentModelError), are_public=False)
)
FAULTS = [Fault("$.a", "expected str")]
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "ConfigError": ("gateway.toml", FAULTS),
    "DecodeError": ("openai-chat", FAULTS),
    "LossError": ("openai-chat", (Loss("$.a", "dropped", "a", "openai-chat has no field for it"),)),
    "McpError": ("server", "it has ended"),
    "McpTimeoutError": ("server", "no answer"),
    "MissingExtraError": ("history", "sqlalchemy"),
    "ToolArgumentsError": ("search", "[", "unexpected end"),
    "ToolContextError": ("tools.toml", ["user: missing"]),
    "ToolDefinitionError": ("search", ["no schema"]),
    "ToolFileWarning": ([ToolFileFault("tools.toml", "search", "$.search", "no schema")],),
    "ToolInputError": ("search", [InputFault("$.q", "str", "5")]),
}
"""The arguments of errors that take others than a text."""


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_error_is_equal_after_pickling(kind: type[Exception]) -> None:
    error = kind(*ARGUMENTS.get(kind.__name__, ("why",)))
    error.add_note("a note")
    again = round_trip(error)
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.args == error.args
    assert again.__dict__ == error.__dict__


def test_decode_error_keeps_its_faults_after_pickling() -> None:
    with pytest.raises(DecodeError) as raised:
        adapter("openai-chat").decode_request({"messages": [{"role": 5}]})
    again = round_trip(raised.value)
    assert (again.api, again.faults, str(again)) == ("openai-chat", raised.value.faults, str(raised.value))


def test_missing_extra_error_keeps_the_name_of_the_module_after_pickling() -> None:
    error = MissingExtraError("history", "sqlalchemy")
    again = round_trip(error)
    assert (again.extra, again.name, again.msg) == (error.extra, error.name, error.msg)


def converted(payload: Any) -> Encoded:
    return convert(payload, source="openai-chat", target="anthropic-messages", kind="request")


@pytest.mark.slow
def test_bad_payload_in_a_pool_of_processes_fails_alone() -> None:
    good = {"model": "gpt-4.1", "seed": 1, "messages": [{"role": "user", "content": "Hi."}]}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        jobs: list[Future[Encoded]] = [pool.submit(converted, {} if index == 3 else good) for index in range(8)]
        results = [job.exception() or job.result() for job in jobs]
    expected = converted(good)
    assert isinstance(results.pop(3), DecodeError)
    for result in results:
        assert isinstance(result, Encoded)
        assert (result.payload, result.losses) == (expected.payload, expected.losses)


# -- values ------------------------------------------------------------------------------------------------------------


def is_value(kind: type[Any]) -> bool:
    return issubclass(kind, msgspec.Struct | enum.Enum) or dataclasses.is_dataclass(kind)


def sample(kind: types.Type) -> Any:
    """Return a value of a type."""
    if isinstance(kind, types.UnionType):
        return sample(kind.types[0])
    if isinstance(kind, types.LiteralType):
        return kind.values[0]
    if isinstance(kind, types.StructType):
        return example(kind.cls)
    return SAMPLES.get(type(kind))


SAMPLES: dict[type[types.Type], Any] = {
    types.StrType: "x",
    types.IntType: 1,
    types.FloatType: 1.5,
    types.BoolType: True,
    types.BytesType: b"x",
    types.ListType: [],
    types.DictType: {},
    types.VarTupleType: (),
    types.FrozenSetType: frozenset(),
    types.DateTimeType: datetime(2026, 11, 29, tzinfo=UTC),
}


def example(kind: type[Any]) -> Any:
    """Return a value of a class. Only required fields are set."""
    if issubclass(kind, enum.Enum):
        return next(iter(kind))
    if issubclass(kind, msgspec.Struct):
        hints = {field.encode_name: field for field in types.type_info(kind).fields}
        required = [field for field in msgspec.structs.fields(kind) if field.required]
        return kind(**{field.name: sample(hints[field.encode_name].type) for field in required})
    required_fields = [
        field
        for field in dataclasses.fields(kind)
        if field.init and field.default is field.default_factory is dataclasses.MISSING
    ]
    return kind(**dict.fromkeys((field.name for field in required_fields), "x"))


LIVE = {"ToolContext"}
"""Values of a running call, which belong to their process."""
# Declarations of adapters consist of functions.
VALUES = [
    kind
    for kind in classes(is_value, are_public=True)
    if kind.__name__ not in LIVE and kind not in vars(contentmodel.authoring).values()
]


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_value_is_equal_after_pickling(kind: type[Any]) -> None:
    value = example(kind)
    again = round_trip(value)
    assert type(again) is kind
    assert again == value


REQUEST = {
    "model": "gpt-4.1",
    "seed": 1,
    "user": "u",
    "messages": [
        {"role": "user", "content": "Hi."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a.1", "type": "function", "function": {"name": "f.g", "arguments": "{ }"}, "odd": 1},
                {"id": "a.1", "type": "function", "function": {"name": "f.g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a.1", "content": "1"},
    ],
    "tools": [{"type": "function", "function": {"name": "f.g", "parameters": {"type": "object"}}}],
    "odd": {"a": 1},
}


def used(api: str) -> Any:
    """Return an adapter after its first requests and hints, which it may keep functions of."""
    found = adapter(api)
    with suppress(NotImplementedError):
        found.encode_request(adapter("openai-chat").decode_request(REQUEST))
    for hint in declared():
        hint.is_in({hint.key: "x"})
    return found


@pytest.mark.parametrize("api", adapters())
def test_adapter_and_its_models_are_the_same_after_pickling(api: str) -> None:
    found = used(api)
    again = round_trip(found)
    assert (type(again), again.api) == (type(found), api)
    assert round_trip(found.look_up_model("gpt-4.1")) == found.look_up_model("gpt-4.1")


def test_hint_is_the_same_after_pickling() -> None:
    hints = declared()
    assert hints
    assert all(round_trip(hint) is hint for hint in hints)


@pytest.mark.parametrize("api", [api for api in adapters() if api != "openai-chat"])
def test_encoded_is_equal_after_pickling(api: str) -> None:
    try:
        encoded = convert(REQUEST, source="openai-chat", target=api, kind="request")
    except NotImplementedError:
        pytest.skip("this format has no requests")
    again = round_trip(encoded)
    assert again.losses == encoded.losses
    for name in ("payload", "api", "source_api", "value", "maps", "status", "form", "may_lose"):
        assert getattr(again, name) == getattr(encoded, name)
    assert again.to_json() == encoded.to_json()
    assert again.count_losses() == encoded.count_losses()
    assert again.untraced() == encoded.untraced() == []
    assert audit(REQUEST, again) == audit(REQUEST, encoded)
    assert repr(round_trip(again)) == repr(encoded)


def test_encoded_without_a_source_is_equal_after_pickling() -> None:
    encoded = adapter("anthropic-messages").encode_request(adapter("openai-chat").decode_request(REQUEST))
    again = round_trip(encoded)
    assert (again.payload, again.losses, again.source_api) == (encoded.payload, encoded.losses, None)


def test_encoded_stream_is_equal_after_pickling() -> None:
    frame = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}
    data = b"data: " + msgspec.json.encode(frame) + b"\n\ndata: [DONE]\n\n"
    encoded = convert(data, source="openai-chat", target="anthropic-messages", kind="stream")
    assert round_trip(encoded) == encoded
