"""Input: the documents of files and of standard input.

JSON Lines are one document if the format of such documents recognizes the first lines. Otherwise, each line is a
document. `incoming` reads streams.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from contentmodel.adapter import as_json
from contentmodel.cli.errors import BAD_DOCUMENT, NAMED_BY, Problem, naming, print_problem, problem_of
from contentmodel.cli.incoming import STREAM, Stream, chunks_of, lines_in, peek, request_in
from contentmodel.cli.installed import STORED, has_lines, load, load_all
from contentmodel.cli.opening import open_binary, plain_name
from contentmodel.convert import KINDS
from contentmodel.detecting import LONGEST_LINE, api_of_lines, begins_stream, identify_value, kind_of_all
from contentmodel.errors import DecodeError, DetectError, Fault
from contentmodel.interop.inspect_ai import samples
from contentmodel.json import kind_of, parse, write
from contentmodel.lines import PROBED, Lines, ParsedLines, line_numbers, parse_lines
from contentmodel.literals import PayloadKind
from contentmodel.serialize import loads

_T = TypeVar("_T")


@dataclass(frozen=True)
class Document:
    """One document: its bytes, or its file, whose bytes are read each time. They are not kept: a file may be large.

    `line` is its line number if it is one line of a JSON Lines file. `api` is its API if it is a whole JSON Lines file.
    `part` is its name in a file of several documents that have names. `kind` is its kind if it was a stream.
    """

    content: bytes | Path
    name: str
    line: int | None = None
    api: str | None = None
    part: str = ""
    kind: PayloadKind | None = None

    @property
    def data(self) -> bytes:
        if isinstance(self.content, bytes):
            return self.content
        lines: list[bytes] = _in_file(_all_lines, self.content)
        return b"".join(lines)

    @property
    def size(self) -> int:
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    def lines(self) -> ParsedLines:
        """Return the values of the lines of a JSON Lines file."""
        values = parse_lines(self.data) if isinstance(self.content, bytes) else _in_file(parse_lines, self.content)
        # One object on several lines is one value.
        return ParsedLines(values if values[:1] != ["{"] else as_json(self.data, self.api or "", "lines"))

    @property
    def location(self) -> str:
        part = self.part if self.line is None else f"line {self.line}"
        return f"{self.name}, {part}" if part else self.name

    def at(self, path: str) -> str:
        """Return a JSON path in this document, with the line number in a JSON Lines file."""
        number = self.line_of(path)
        return path if number is None else f"line {number}: {path}"

    def after_location(self, path: str) -> str:
        """Return the same as `at`, for a message that begins with `location`: a line number is not repeated."""
        return self.at(path) if self.line is None else path

    def line_of(self, path: str) -> int | None:
        """Return the line number of a JSON path in the file; None if the file is not JSON Lines."""
        index = _INDEX.match(path)
        if self.api is None or index is None:
            return self.line
        at = int(index[1])
        return self._numbers[at] if at < len(self._numbers) else None

    @cached_property
    def _numbers(self) -> list[int]:
        content = self.content
        return line_numbers(content) if isinstance(content, bytes) else _in_file(line_numbers, content)


def _in_file(read: Callable[[Lines], list[_T]], path: Path) -> list[_T]:
    """Read a file line by line."""
    with open_binary(path) as file, naming(str(path)):
        return read(file)


def _all_lines(lines: Lines) -> list[bytes]:
    return [line for line in lines if isinstance(line, bytes)]


_INDEX = re.compile(r"\$\[(\d+)\]")


@dataclass(frozen=True)
class Source:
    """The documents of a file. `is_lines` is True for JSON Lines.

    `size` is in bytes; None for JSON Lines of a pipe, which are read while they arrive.
    """

    name: str
    is_lines: bool
    size: int | None
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


def open_input(path: str | None, api: str | None, kind: str | None = None, *, folds: bool = True) -> Source | Stream:
    """Open a file, or standard input ("-", or None if it is a pipe). Return its documents, or one stream.

    `api` and `kind` are those of the command line, or None. If `folds`, a stream that makes a request is a document.
    """
    if path is None and (sys.stdin is None or sys.stdin.isatty()):
        raise Problem("no input", hint="name a file, or pipe JSON to standard input")
    name = "standard input" if path is None or path == "-" else path
    if kind == STREAM:
        stream = Stream(name, chunks_of(path))
        return _folded(stream, api) if folds else stream
    if Path(name).suffix.lower() == ".eval" and os.path.isfile(name):
        return Source(name, True, os.stat(name).st_size, _samples_of(name))
    # A pipe cannot be read twice: first to detect, then line by line.
    if Path(plain_name(name)).suffix.lower() in (".jsonl", ".ndjson") and os.path.isfile(name) and not _is_stream(name):
        return _open_lines(name, api, kind)
    is_stream, chunks = peek(chunks_of(path))
    if not is_stream:
        return _of_pipe(lines_in(chunks), name, api, kind)
    stream = Stream(name, chunks)
    folded = _folded(stream, api) if folds and kind != "response" else stream
    if kind is not None and isinstance(folded, Stream):
        raise Problem(f"{name}: this is a stream, not a {kind}", hint="remove --kind")
    return folded


def _is_stream(path: str) -> bool:
    """Return whether the first line of a file is an event of a stream."""
    with open_binary(path) as file, naming(path):
        return begins_stream(file.readline(LONGEST_LINE)) is True


def _folded(stream: Stream, api: str | None) -> Source | Stream:
    """Return the request that a stream makes if streams of its API are conversations, else the stream."""
    try:
        request, chunks = request_in(stream, api)
    except DecodeError as error:
        raise problem_of(error, stream.name, "") from None
    if request is None:
        return Stream(stream.name, chunks)
    return Source(stream.name, False, len(request), [Document(request, stream.name, kind="request")])


def open_source(path: str | None, refusal: str, api: str | None, kind: str | None = None) -> Source:
    """Return the documents of a file. Raise Problem with the text `refusal` if it is a stream."""
    source = open_input(path, api, kind)
    if isinstance(source, Stream):
        hint = "convert it to a stored response first: contentmodel convert FILE --to contentmodel"
        raise Problem(f"{source.name}: this is a stream: {refusal}", hint=hint)
    return source


def _open_lines(name: str, api: str | None, kind: str | None) -> Source:
    """Return the documents of a JSON Lines file: the whole file, or one for each line."""
    with open_binary(name) as file, naming(name):
        owner = _owner_of_lines(b"".join(islice(file, PROBED)), name, api, kind)
    if owner is not None:
        return _whole(Path(name), name, owner)
    return Source(name, True, os.stat(name).st_size, _lines_of(name))


def _of_pipe(lines: Iterator[bytes], name: str, api: str | None, kind: str | None) -> Source:
    """Return the documents of an input that can be read once. If each line is a document, read them one by one."""
    head, has_objects = _up_to_two(lines)
    if not has_objects or (api is not None and has_lines(api)):
        return _divide(b"".join(chain(head, lines)), name, api, kind)
    if api is None and kind != "response":
        head += islice(lines, PROBED)
        owner = _owner_of_lines(b"".join(head), name, api, kind)
        if owner is not None:
            return _whole(b"".join(chain(head, lines)), name, owner)
    return Source(name, True, None, _number(chain(head, lines), name))


def _up_to_two(lines: Iterator[bytes]) -> tuple[list[bytes], bool]:
    """Read up to the second line that is not blank. Return the lines, and whether the first such line is an object.

    If it is not, or if there is only one, the input may be one document.
    """
    head: list[bytes] = []
    is_first = True
    for line in lines:
        head.append(line)
        if not line.strip():
            continue
        if not is_first:
            return head, True
        if not _is_object(line.removeprefix(b"\xef\xbb\xbf")):
            return head, False
        is_first = False
    return head, False


def _divide(data: bytes, name: str, api: str | None, kind: str | None) -> Source:
    """Return the documents of an input: all of it if it is one JSON value or JSON Lines of a format, else each line."""
    if api is not None and has_lines(api):
        return _whole(data, name, api)
    if not data.strip():
        raise Problem(f"{name}: the input is empty")
    try:
        parse(data)
    except DecodeError:
        owner = _owner_of_lines(data, name, api, kind)
        if owner is not None:
            return _whole(data, name, owner)
        if _has_lines(data):
            return Source(name, True, len(data), _number(data.split(b"\n"), name))
    return _whole(data, name)


def _whole(content: bytes | Path, name: str, api: str | None = None) -> Source:
    document = Document(content, name, api=api)
    return Source(name, False, document.size, [document])


def _owner_of_lines(head: bytes, name: str, api: str | None, kind: str | None) -> str | None:
    """Return the API whose document JSON Lines are; None if each line is a document."""
    if api is not None:
        return api if has_lines(api) else None
    if kind == "response":
        return None
    load_all()
    try:
        return api_of_lines(head)
    except DetectError as error:
        raise Problem(f"{name}: {error}", hint="name the API with --from API") from None


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
    with open_binary(path) as file, naming(path):
        yield from _number(file, path)


def _samples_of(path: str) -> Iterator[Document]:
    """Yield the samples of an eval log of Inspect AI."""
    for sample in samples(path):
        part = f"sample {sample.get('id')}, epoch {sample.get('epoch')}"
        yield Document(write(sample), path, part=part)


def _number(lines: Iterable[bytes], name: str) -> Iterator[Document]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield Document(line.strip(b"\r\n"), name, number)


def identify(document: Document, api: str | None, kind: PayloadKind | None) -> Payload:
    """Parse a document, and detect its API and kind if they are None. Raise DecodeError or DetectError."""
    if document.api is not None:
        return Payload(document.lines(), document.api, kind or "request")
    kind = document.kind or kind
    value = _parse(document)
    if api == STORED or (api is None and isinstance(value, dict) and STORED in value):
        return _identify_stored(value, kind)
    kind = kind or kind_of_all(api, is_array=isinstance(value, list))
    if isinstance(value, list) and (api is None or kind is None) and not _is_conversation(value):
        hint = "several payloads must be JSON Lines: jq -c '.[]' FILE | contentmodel ..."
        raise Problem("expected a payload, or an array of messages, got an array of other values", hint=hint)
    if not isinstance(value, dict | list):
        raise Problem(f"expected an object: a payload, got {kind_of(value)}")
    if api is None or kind is None:
        load_all()
        may_be_lines = document.line is None and isinstance(value, dict)
        value, api, kind = identify_value(value, api, kind, may_be_lines=may_be_lines)
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


def only_document(documents: Iterable[Document], target: str, hint: str) -> Iterator[Document]:
    """Yield the only document. Raise Problem if there are several."""
    first = list(islice(documents, 2))
    if len(first) > 1:
        raise Problem(f"{first[0].name} has several documents, but {target} holds only one", hint=hint)
    yield from first


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
            problem = problem_of(error, document.location, options, document.after_location)
            print_problem(problem, hint=problem.hint not in hints)
            hints.add(problem.hint)
            code = max(code, problem.code)
    return code
