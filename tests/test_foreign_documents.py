"""Documents that no API has, or only one reads. Each line of `foreign/documents.jsonl` is one.

A line has a `name`, the fact that it pins (`why`), the `document`, and what detection must return: null, or the API and
the kind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import contentmodel
from contentmodel.cli.app import app
from contentmodel.errors import DetectError

LINES = (Path(__file__).parent / "foreign" / "documents.jsonl").read_text().splitlines()
DOCUMENTS: dict[str, dict[str, Any]] = {line["name"]: line for line in map(json.loads, LINES)}
FOREIGN = [name for name, line in DOCUMENTS.items() if line["expected"] is None]
KNOWN = [name for name, line in DOCUMENTS.items() if line["expected"] is not None]


def test_documents_have_unique_names() -> None:
    assert len(DOCUMENTS) == len(LINES)


@pytest.mark.parametrize("name", KNOWN)
def test_document_of_known_format_is_detected(name: str) -> None:
    assert [*contentmodel.detect(DOCUMENTS[name]["document"])] == DOCUMENTS[name]["expected"]


@pytest.mark.parametrize("name", FOREIGN)
def test_no_api_recognizes_foreign_document(name: str) -> None:
    document = DOCUMENTS[name]["document"]
    for payload in (document, json.dumps(document)):
        with pytest.raises(DetectError, match=r"^no API recognizes") as caught:
            contentmodel.detect(payload)
        assert "role" not in str(caught.value)
        with pytest.raises(DetectError):
            contentmodel.convert(payload, target="openai-chat")


@pytest.mark.parametrize("name", FOREIGN)
def test_convert_command_refuses_foreign_document(name: str) -> None:
    text = json.dumps(DOCUMENTS[name]["document"])
    result = CliRunner().invoke(app, ["convert", "-", "--to", "anthropic-messages"], input=text)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no API recognizes" in result.stderr or "an array of other values" in result.stderr


def test_error_names_the_most_similar_format() -> None:
    with pytest.raises(DetectError, match="the most similar is a request of openai-chat"):
        contentmodel.detect({"model": "gpt-5.2", "messages": [{"role": "user", "body": "Hi"}]})


def test_named_api_is_not_questioned() -> None:
    document = {"messages": [{"role": "user", "body": "Hi"}]}
    assert contentmodel.detect(document, api="openai-chat") == ("openai-chat", "request")
