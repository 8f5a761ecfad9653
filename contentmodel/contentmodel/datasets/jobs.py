"""Jobs: apply an operation to all rows of files, in shards. A job that was stopped continues where it stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import msgspec

import contentmodel
from contentmodel.datasets.engines import Engine, run_shards
from contentmodel.datasets.errors import JobError
from contentmodel.datasets.inputs import File, Shard, divide, find_files
from contentmodel.datasets.reports import Report
from contentmodel.datasets.shards import DRAFTS, Settings, ShardJob, draft_of

MANIFEST, REPORT = "manifest.json", "report.json"


class Manifest(msgspec.Struct, frozen=True):
    """The plan of a job: its settings, the version of the library, the input files, and their shards."""

    version: str
    settings: Settings
    files: list[File]
    shards: list[Shard]


class Progress(msgspec.Struct, frozen=True):
    """The shards and bytes that are finished, and those of the whole job. `report` has the finished rows.

    `rows` counts also rows of unfinished shards, and `of_rows` those of the job: None if files have to be read for it.
    """

    shards: int
    of_shards: int
    size: int
    of_size: int
    report: Report
    rows: int = 0
    of_rows: int | None = None


def run_job(
    inputs: Sequence[str | PathLike[str]],
    output: str | PathLike[str],
    settings: Settings,
    *,
    engine: Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    on_progress: Callable[[Progress], object] | None = None,
) -> Report:
    """Apply the operation of `settings` to all rows of `inputs`: files, folders and glob patterns. Return the report.

    The folder `output` gets `data/`, one file a shard; `errors/`, the rows that failed; `reports/`, one a shard;
    `manifest.json`, the plan; and `report.json`. If the folder has a job with the same settings and inputs, continue
    it: finished shards are not done again. `engine` is "local" (`workers` processes of this machine) or "ray" (the
    cluster at `address`, or this machine). `on_progress` is called before the first shard, after each one, and twice a
    second while processes of this machine work.

    Raise JobError if the folder has another job, or the job cannot be finished; UnknownApiError and ValueError for
    settings that no row can have; OSError; and MissingExtraError.
    """
    folder = Path(output)
    manifest = _manifest([fspath(path) for path in inputs], folder, settings)
    work = ShardJob(settings, folder)
    finished_shards = [shard for shard in manifest.shards if work.is_done(shard)]
    report = Report()
    for shard in finished_shards:
        report.add(work.report_of(shard))
    finished = set(finished_shards)
    unfinished = [shard for shard in manifest.shards if shard not in finished]
    tracker = _Tracker(manifest.shards, finished_shards, report, on_progress)
    if unfinished:
        for shard, part in run_shards(work, unfinished, engine, workers, address, tracker.read):
            tracker.add(shard, part)
    # Add reports in the order of the shards, so that each run of the job writes the same report.
    total = Report()
    for shard in manifest.shards:
        total.add(work.report_of(shard))
    with draft_of(folder / REPORT, folder) as draft:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(total), indent=2) + b"\n")
    shutil.rmtree(folder / DRAFTS, ignore_errors=True)
    return total


class _Tracker:
    """Count finished shards, and call `on_progress`."""

    def __init__(
        self,
        shards: Sequence[Shard],
        done: Sequence[Shard],
        report: Report,
        on_progress: Callable[[Progress], object] | None,
    ) -> None:
        self._all = (len(shards), sum(shard.size for shard in shards))
        self._done, self._size = len(done), sum(shard.size for shard in done)
        self._report, self._on_progress = report, on_progress
        rows = [shard.rows for shard in shards]
        self._of_rows = None if None in rows else sum(row or 0 for row in rows)
        self._before = self._rows = report.total.rows
        self._call()

    def read(self, rows: int) -> None:
        """Call `on_progress` with the number of rows that workers have read."""
        if self._before + rows > self._rows:
            self._rows = self._before + rows
            self._call()

    def add(self, shard: Shard, report: Report) -> None:
        self._done += 1
        self._size += shard.size
        self._report.add(report)
        self._call()

    def _call(self) -> None:
        if self._on_progress is not None:
            rows = max(self._rows, self._report.total.rows)
            rows = rows if self._of_rows is None else min(rows, self._of_rows)
            self._on_progress(Progress(self._done, *self._sizes, self._report, rows, self._of_rows))

    @property
    def _sizes(self) -> tuple[int, int, int]:
        return self._all[0], self._size, self._all[1]


def _manifest(inputs: Sequence[str], folder: Path, settings: Settings) -> Manifest:
    """Return the plan of the job in a folder. Make it if the folder is new or empty."""
    path = folder / MANIFEST
    files = find_files(inputs)
    if path.exists():
        stored = _read_manifest(path)
        _check_same(stored, Manifest(contentmodel.__version__, settings, files, []), folder)
        # The names of outputs and the inputs are those of the command: a manifest is not trusted.
        if stored.shards != list(divide(files, settings.shard_rows)):
            raise JobError(f"{path}: its shards are not those of the input files: choose another folder")
        return stored
    if folder.exists() and any(entry.name != DRAFTS for entry in folder.iterdir()):
        raise JobError(f"{folder} is not empty, and has no job: choose a new folder")
    manifest = Manifest(contentmodel.__version__, settings, files, list(divide(files, settings.shard_rows)))
    # Wrong settings are reported before the folder exists.
    ShardJob(settings, folder).check()
    with draft_of(path, folder) as draft:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    return manifest


def _read_manifest(path: Path) -> Manifest:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise JobError(f"{path}: not the manifest of a job: {error}") from None


def _check_same(stored: Manifest, wanted: Manifest, folder: Path) -> None:
    """Raise JobError with the differences if the job of a folder is another one."""
    was, is_ = _facts(stored), _facts(wanted)
    changed = [
        f"{name} was {was.get(name)!r}, is {is_.get(name)!r}"
        for name in {**was, **is_}
        if was.get(name) != is_.get(name)
    ]
    if stored.files != wanted.files:
        changed.append("the input files changed")
    if changed:
        raise JobError(f"{folder} has another job: {'; '.join(changed)}: choose another folder, or remove this one")


def _facts(manifest: Manifest) -> dict[str, Any]:
    settings = msgspec.to_builtins(manifest.settings)
    return {"version": manifest.version, **settings.pop("options"), **settings}
