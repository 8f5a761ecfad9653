"""Failure signs: the error that a field of a tool's result reports, read and written."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from contentmodel import AIContent, Citation, ErrorContent, FunctionResultContent, Origin, TextContent
from contentmodel.content import CachePoint, Protected
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.table.failure_fields import Failure, FailureField, has_explicit_error
from contentmodel.hints import FAILURE

API = "tales"
STATUS = Failure(FailureField("state", ("failed",), "failed"))
FLAG = Failure(FailureField("meta.is_error", failed=True), texts_are_errors=True, only_fields=True)


def context() -> EncodeContext:
    return EncodeContext(API, "teller", "request")


def decoding() -> DecodeContext:
    return DecodeContext(API, Origin(api=API, issuer="teller"))


def result(*outputs: Any) -> FunctionResultContent:
    return FunctionResultContent(call_id="1", outputs=list(outputs))


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}])
def test_sign_without_listed_values_reads_empty_value_as_success(value: Any) -> None:
    assert FailureField("error").error({"error": value}) is None


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (True, ErrorContent(code="error")),
        (2, ErrorContent(message="error 2", code="error", details={"error": 2})),
        ("no disk", ErrorContent(message="no disk", code="error")),
        ({"message": "no disk"}, ErrorContent(message="no disk", code="error", details={"message": "no disk"})),
        ({"type": "io"}, ErrorContent(message="", code="io", details={"type": "io"})),
        ({"code": 7, "message": 8}, ErrorContent(message="", code="error", details={"code": 7, "message": 8})),
    ],
)
def test_sign_reads_the_message_the_code_and_the_details(value: Any, error: ErrorContent) -> None:
    assert FailureField("error").error({"error": value}) == error


@pytest.mark.parametrize(("value", "reports"), [("failed", True), ("ok", False), (None, False), (["failed"], False)])
def test_sign_with_listed_values_reports_only_the_listed_values(value: Any, reports: bool) -> None:
    error = FailureField("a.state", ("failed",)).error({"a": {"state": value}})
    assert error == (ErrorContent(code="failed") if reports else None)


def test_sign_distinguishes_true_from_listed_number() -> None:
    sign = FailureField("status", (1,))
    assert sign.error({"status": True}) is None
    assert sign.error({"status": 1}) == ErrorContent(message="status 1", code="status", details={"status": 1})


def test_exit_code_is_a_failure_except_zero() -> None:
    sign = FailureField("exit_code")
    assert sign.error({"exit_code": 0}) is None
    assert sign.error({"exit_code": 3}) == ErrorContent(
        message="exit code 3", code="exit_code", details={"exit_code": 3}
    )


def test_first_matching_sign_is_the_error() -> None:
    failure = Failure(FailureField("a"), FailureField("b"), FailureField("c"))
    (error,) = failure.errors({"b": "second", "c": "third"}, API)
    assert error.message == "second"
    assert FAILURE.of(error, API) == "sign"


def test_read_adds_the_error_after_the_outputs() -> None:
    read = STATUS.read(result(TextContent(text="x")), {"state": "failed"}, decoding())
    assert [type(output) for output in read.outputs] == [TextContent, ErrorContent]
    assert read.error is read.outputs[1]


def test_read_keeps_a_result_that_has_an_error_already() -> None:
    failed = result(ErrorContent(message="own"))
    assert STATUS.read(failed, {"state": "failed"}, decoding()) is failed


def test_texts_of_a_failed_result_are_its_error_if_texts_are_errors() -> None:
    read = FLAG.read(result(TextContent(text="no disk")), {"meta": {"is_error": True}}, decoding())
    (error,) = read.outputs
    assert (type(error), error.message, FAILURE.of(error, API)) == (ErrorContent, "no disk", "text")


OF_ANY_CONTENT: dict[str, Any] = {
    "annotations": [Citation(title="A tale")],
    "protected": Protected(issuer="teller", kind="signature", data="c2ln"),
    "cache_point": CachePoint(),
    "extra": {API: {"loud": True}},
}


def test_texts_of_a_failed_result_keep_every_field_that_all_contents_have() -> None:
    assert OF_ANY_CONTENT.keys() == set(AIContent.__struct_fields__)
    plain, here = result(TextContent(text="no disk", **OF_ANY_CONTENT)), context()
    read = FLAG.read(plain, {"meta": {"is_error": True}}, decoding())
    assert read.outputs[0].cache_point == CachePoint()
    assert FLAG.without(read, here) == plain


@pytest.mark.parametrize(
    ("failure", "wire"), [(STATUS, {"state": "failed"}), (FLAG, {"meta": {"is_error": True}})], ids=["status", "flag"]
)
def test_errors_made_from_signs_are_removed_before_writing(failure: Failure, wire: dict[str, Any]) -> None:
    plain, here = result(TextContent(text="no disk")), context()
    assert failure.without(failure.read(plain, wire, decoding()), here) == plain
    assert here.pending_losses == []


def test_error_of_another_api_is_kept_and_gets_the_sign() -> None:
    failed, wire, here = result(ErrorContent(message="no disk")), {}, context()
    assert FLAG.without(failed, here) == failed
    FLAG.write(failed, wire, here)
    assert wire == {"meta": {"is_error": True}}


def test_sign_that_is_not_the_only_field_for_a_failure_is_not_written() -> None:
    wire: dict[str, Any] = {}
    STATUS.write(result(ErrorContent(message="no disk")), wire, context())
    assert wire == {}


def test_sign_on_a_successful_result_is_a_loss() -> None:
    here = context()
    STATUS.write(result(TextContent(text="fine")), {"state": "failed"}, here)
    assert [(reason.code, field) for _, field, reason, _, _ in here.pending_losses] == [("error-added", "outputs")]


def test_place_of_returns_path_of_the_sign_of_an_error() -> None:
    wire = {"meta": {"is_error": "no disk"}}
    (error,) = FLAG.errors(wire, API)
    assert FLAG.place_of(error, wire, "$.a", API) == ("$.a.meta.is_error", "no disk")
    assert FLAG.place_of(ErrorContent(message="no disk"), wire, "$.a", API) is None


def test_explicit_error_excludes_errors_that_a_decoder_made() -> None:
    own = ErrorContent(message="x")
    assert not has_explicit_error(result(TextContent(text="x")))
    made = FAILURE.on(own, API, "sign")
    assert not has_explicit_error(result(made))
    assert has_explicit_error(result(made, msgspec.structs.replace(own)))
