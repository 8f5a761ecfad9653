"""Open files for reading, also those that are compressed with gzip or zstd."""

from __future__ import annotations

import errno
import gzip
import io
import os
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from contentmodel.extras import needs_extra

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

COMPRESSED = (".gz", ".zst")
"""The ends of the names of compressed files."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def open_binary(path: str | Path, *, buffered: bool = True) -> BinaryIO:
    """Open a file. If it is compressed with gzip or zstd, as its first bytes show, read the decompressed bytes.

    Reading raises OSError if the compressed data are damaged. `buffered` is for files that are not compressed.
    """
    file = open(path, "rb", buffering=-1 if buffered else 0)  # noqa: SIM115
    begin = b""
    if os.path.isfile(path):
        # The first bytes of a pipe could not be read again.
        begin = file.read(4) or b""
        file.seek(0)
    if begin.startswith(_GZIP):
        return io.BufferedReader(_Decompressed(cast(IO[bytes], gzip.GzipFile(fileobj=file)), file))
    if begin.startswith(_ZSTD):
        with needs_extra("cli"):
            import zstandard
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return io.BufferedReader(_Decompressed(cast(IO[bytes], reader), file))
    return file


def plain_name(path: str | Path) -> str:
    """Return the name of a file without the end that shows its compression."""
    name = Path(path).name
    end = next((end for end in COMPRESSED if name.lower().endswith(end)), "")
    return name[: len(name) - len(end)]


class _Decompressed(io.RawIOBase):
    """The decompressed bytes of a file. Faults of the compressed data are errors of reading."""

    def __init__(self, inner: IO[bytes], file: IO[bytes]) -> None:
        super().__init__()
        self._inner, self._file = inner, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        try:
            data = self._inner.read(len(view))
        except EOFError:
            raise OSError(errno.EIO, "the compressed data are cut off") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise OSError(errno.EIO, f"the compressed data are damaged: {error}") from None
        except Exception as error:
            # The errors of zstandard have no base class but Exception.
            if type(error).__module__.partition(".")[0] != "zstandard":
                raise
            raise OSError(errno.EIO, f"the compressed data are damaged: {error}") from None
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            self._file.close()
        super().close()
