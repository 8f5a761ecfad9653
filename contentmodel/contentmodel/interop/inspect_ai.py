"""Read the samples of eval logs of Inspect AI. The adapter `inspect-eval-log` decodes each of them.

    for sample in samples("logs/run.eval"):
        request = contentmodel.adapter("inspect-eval-log").decode_request(sample)

Inspect AI itself is not needed. Its logs are compressed with zstandard, which Python supports from version 3.14 on.
Older versions need the extra `inspect-ai`.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

from contentmodel.errors import DecodeError, Fault
from contentmodel.extras import needs_extra
from contentmodel.json import kind_of, parse

_API = "inspect-eval-log"
_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")
"""The header of a member in a zip file: its last two fields are the lengths of the name and the extra field."""


def samples(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """Yield the samples of an eval log: a `.eval` file, which is read one sample at a time, or a `.json` file.

    Numbers that JSON does not have (a score may be NaN) become strings: "NaN", "Infinity".

    Raise DecodeError with the name of the file and its member if the file is not an eval log or is damaged,
    MissingExtraError if the library for its compression is missing, and OSError if the file cannot be read.
    """
    if zipfile.is_zipfile(path):
        yield from _of_archive(path)
        return
    data = Path(path).read_bytes()
    if data[:2] == b"PK":
        raise _fault(fspath(path), "the file is damaged: the directory at the end of the zip file is missing")
    log = _object(data, fspath(path))
    entries = log.get("samples")
    if not isinstance(entries, list) or "eval" not in log:
        raise _fault(fspath(path), "it is not an eval log: expected an object with `eval` and `samples`")
    for index, sample in enumerate(entries):
        if not isinstance(sample, dict):
            raise _fault(fspath(path), f"expected a sample, got {kind_of(sample)}", f"$.samples[{index}]")
        yield sample


def _of_archive(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        # A resumed run may write a sample twice: the last one is used.
        names = [name for name in dict.fromkeys(archive.namelist()) if _is_sample(name)]
        if not names and "header.json" not in archive.namelist() and "_journal/start.json" not in archive.namelist():
            raise _fault(fspath(path), "it is a zip file, but not an eval log: it has neither samples nor a header")
        for name in names:
            where = f"{fspath(path)}, {name}"
            if name.count("/") > 1:
                raise _fault(where, "the sample is stored in chunks, which this function cannot read")
            yield _object(_read(file, archive, archive.getinfo(name), where), where)


def _is_sample(name: str) -> bool:
    is_part = name.count("/") > 1 and not name.endswith("/sample.json")
    return name.startswith("samples/") and name.endswith(".json") and not is_part


def _read(file: IO[bytes], archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> bytes:
    try:
        return archive.read(member)
    except OSError:
        raise
    except NotImplementedError:
        # This version of Python lacks the method of compression.
        pass
    except Exception as error:
        # Each method of compression raises other exceptions.
        raise _fault(where, f"the file is damaged: {error}") from None
    if member.compress_type != _ZSTANDARD:
        raise _fault(where, f"it is compressed with the method {member.compress_type}, which this Python cannot read")
    return _decompressed(file, member, where)


def _decompressed(file: IO[bytes], member: zipfile.ZipInfo, where: str) -> bytes:
    """Return the content of a member that is compressed with zstandard, in one or more frames."""
    with needs_extra("inspect-ai"):
        import zstandard
    file.seek(member.header_offset)
    file.seek(sum(_LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))), 1)
    compressed = file.read(member.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(compressed, read_across_frames=True) as reader:
            data: bytes = reader.read(member.file_size)
    except zstandard.ZstdError as error:
        raise _fault(where, f"the file is damaged: {error}") from None
    if zlib.crc32(data) != member.CRC:
        raise _fault(where, "the file is damaged: its checksum is wrong")
    return data


def _object(data: bytes, where: str) -> dict[str, Any]:
    """Return the JSON object of a file."""
    try:
        value = parse(data)
    except DecodeError as error:
        try:
            value = json.loads(data, parse_constant=str)
        except (ValueError, RecursionError):
            raise _fault(where, error.faults[0].message) from None
    if not isinstance(value, dict):
        raise _fault(where, f"expected an object, got {kind_of(value)}")
    return value


def _fault(where: str, message: str, path: str = "$") -> DecodeError:
    return DecodeError(_API, [Fault(path, f"{where}: {message}")])
