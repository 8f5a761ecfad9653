"""Input: the documents of files and of standard input. JSON Lines have one document per line.

`incoming` reads streams.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contentmodel.cli.errors import BAD_DOCUMENT, NAMED_BY, Problem, print_problem, problem_of
from contentmodel.cli.incoming import STREAM, Stream, chunks_of, peek
from contentmodel.cli.installed import STORED, load, load_all
from contentmodel.convert import KINDS
from contentmodel.detecting import detect
from contentmodel.engine.json import kind_of, parse
from contentmodel.errors import DecodeError, Fault
from contentmodel.literals import PayloadKind
from contentmodel.serialize import loads


@dataclass(frozen=True)
class Document:
    """The bytes of one JSON document. `line` is its line number in a JSON Lines file."""

    data: bytes
    name: str
    line: int | None = None

    @property
    def location(self) -> str:
        return self.name if self.line is None else f"{self.name}, line {self.line}"

    def at(self, path: str) -> str:
        """Return a JSON path in this document, with the line number in a JSON Lines file."""
        return path if self.line is None else f"line {self.line}: {path}"


@dataclass(frozen=True)
class Source:
    """The documents of a file. `size` is in bytes; `is_lines` is True for JSON Lines."""

    name: str
    is_lines: bool
    size: int
    documents: Iterable[Document]


@dataclass(frozen=True)
class Payload:
    """A parsed document, its API and its kind."""

    value: Any
    api: str
    kind: str

    @property
    def payload_kind(self) -> PayloadKind | None:
        """Return the kind if it is a kind of API payload, else None."""
        return next((kind for kind in KINDS if kind == self.kind), None)


def open_input(path: str | None, kind: str | None = None) -> Source | Stream:
    """Open a file, or standard input ("-", or None if it is a pipe). Return its documents, or one stream."""
    if path is None and (sys.stdin is None or sys.stdin.isatty()):
        raise Problem("no input", hint="name a file, or pipe JSON to standard input")
    name = "standard input" if path is None or path == "-" else path
    if kind == STREAM:
        return Stream(name, chunks_of(path))
    if Path(name).suffix.lower() in (".jsonl", ".ndjson"):
        return Source(name, True, os.stat(name).st_size, _lines_of(name))
    is_stream, chunks = peek(chunks_of(path))
    if is_stream and kind is not None:
        raise Problem(f"{name}: this is a stream, not a {kind}", hint="remove --kind")
    return Stream(name, chunks) if is_stream else _divide(b"".join(chunks), name)


def open_source(path: str | None, refusal: str, kind: str | None = None) -> Source:
    """Return the documents of a file. Raise Problem with the text `refusal` if it is a stream."""
    source = open_input(path, kind)
    if isinstance(source, Stream):
        hint = "convert it to a stored response first: contentmodel convert FILE --to contentmodel"
        raise Problem(f"{source.name}: this is a stream: {refusal}", hint=hint)
    return source


def _divide(data: bytes, name: str) -> Source:
    """Return one document if the whole input is JSON, else one document per line if the lines are JSON."""
    if not data.strip():
        raise Problem(f"{name}: the input is empty")
    try:
        parse(data)
    except DecodeError:
        if _has_lines(data):
            return Source(name, True, len(data), _number(data.split(b"\n"), name))
    return Source(name, False, len(data), [Document(data, name)])


def _has_lines(data: bytes) -> bool:
    """Return whether at least two lines are not blank and one of them is a JSON object without indentation."""
    lines = [line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    return len(lines) > 1 and any(_is_object(line) for line in lines)


def _is_object(line: bytes) -> bool:
    if not line.startswith(b"{"):
        return False
    try:
        return bool(parse(line))
    except DecodeError:
        return False


def _lines_of(path: str) -> Iterator[Document]:
    with open(path, "rb") as file:
        yield from _number(file, path)


def _number(lines: Iterable[bytes], name: str) -> Iterator[Document]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield Document(line.strip(b"\r\n"), name, number)


def identify(document: Document, api: str | None, kind: PayloadKind | None) -> Payload:
    """Parse a document, and detect its API and kind if they are None. Raise DecodeError or DetectError."""
    value = _parse(document)
    if api == STORED or (api is None and isinstance(value, dict) and STORED in value):
        return _identify_stored(value, kind)
    if isinstance(value, list) and not _is_conversation(value):
        hint = f"several payloads must be JSON Lines: jq -c '.[]' {document.name} | contentmodel ..."
        raise Problem("expected a payload, or an array of messages, got an array of other values", hint=hint)
    if not isinstance(value, dict | list):
        raise Problem(f"expected an object: a payload, got {kind_of(value)}")
    if api is None or kind is None:
        load_all()
        api, kind = detect(value, api=api, kind=kind)
    return Payload(value, api, kind)


def _is_conversation(values: list[Any]) -> bool:
    """Return whether an array holds messages, not payloads or other objects."""
    keys = ("role", "parts", "type")
    return all(isinstance(v, dict) and any(k in v for k in keys) and "messages" not in v for v in values)


def _parse(document: Document) -> Any:
    try:
        return parse(document.data)
    except DecodeError as error:
        if document.line is None:
            raise
        message = error.faults[0].message.replace("line 1 column", "column")
        raise DecodeError(error.api, [Fault("$", message)]) from None


def _identify_stored(value: Any, kind: str | None) -> Payload:
    stored_kind = value.get("kind") if isinstance(value, dict) else None
    if kind is not None and stored_kind != kind:
        raise DecodeError(STORED, [Fault("$.kind", f"expected {kind!r}, got {stored_kind!r}")])
    return Payload(value, STORED, stored_kind if isinstance(stored_kind, str) else "document")


def decode(payload: Payload, document: Document) -> Any:
    """Decode a payload to a request, a response, or any other value of a stored document."""
    if payload.api == STORED:
        return loads(document.data)
    reader = load(payload.api)
    return reader.decode_request(payload.value) if payload.kind == "request" else reader.decode_response(payload.value)


def for_each(documents: Iterable[Document], work: Callable[[Document], None], options: str = NAMED_BY) -> int:
    """Call `work` with every document. Report a bad document and continue. Return the exit code.

    `options` are the options that name the API and the kind of a document.
    """
    code = 0
    hints = {""}
    for document in documents:
        try:
            work(document)
        except BAD_DOCUMENT as error:
            problem = problem_of(error, document.location, options)
            print_problem(problem, hint=problem.hint not in hints)
            hints.add(problem.hint)
            code = max(code, problem.code)
    return code
