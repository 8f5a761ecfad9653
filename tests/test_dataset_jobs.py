"""Jobs over files: shards, formats, failed rows, resumption after kills, and the command."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer.testing

import contentmodel
from conftest import PROFILE
from contentmodel.cli.app import app
from contentmodel.datasets import JobError, Progress, Report, Settings, converter, run_job
from contentmodel.datasets import inputs as dataset_inputs
from contentmodel.datasets.engines import run_in_processes
from contentmodel.datasets.inputs import Shard, divide, find_files, lines_of

OPTIONS = {"target": "anthropic-messages", "source": "openai-chat", "kind": "request"}
BAD = ["{", '{"model": 3}', "[" * 5000, "null", '"text"', '{"messages": 1}', "\xff"]


def request(number: int) -> dict[str, Any]:
    return {
        "model": f"local-{number % 3}",
        "max_completion_tokens": 100,
        "messages": [{"role": "user", "name": "ann", "content": f"Question {number}?"}],
    }


def text_of(number: int) -> bytes:
    """Return the text of a row: every tenth is bad."""
    if number % 10 == 9:
        return BAD[number // 10 % len(BAD)].encode("latin-1")
    return json.dumps(request(number)).encode()


def lines(count: int, first: int = 0) -> bytes:
    return b"".join(text_of(number) + b"\n" for number in range(first, first + count))


def write_parquet(path: Path, count: int, group: int = 7) -> None:
    table = pa.table({"id": range(count), "request": pa.array([text_of(n) for n in range(count)], pa.binary())})
    pq.write_table(table, path, row_group_size=group)


def settings(**changes: Any) -> Settings:
    return msgspec.structs.replace(Settings("convert", OPTIONS, shard_rows=10), **changes)


def rows_in(output: Path) -> list[dict[str, Any]]:
    """Return all rows of the results, in the order of the inputs."""
    rows: list[dict[str, Any]] = []
    for path in sorted((output / "data").iterdir()):
        if path.suffix == ".parquet":
            rows += pq.read_table(path).to_pylist()
        else:
            rows += [json.loads(line) for line in path.read_bytes().splitlines()]
    return rows


def failures_in(output: Path) -> list[dict[str, Any]]:
    paths = sorted((output / "errors").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def without_time(report: Report) -> Any:
    return msgspec.to_builtins(msgspec.structs.replace(report, seconds=0.0))


WRITERS: dict[str, Any] = {
    "rows.jsonl": lambda path, data: path.write_bytes(data),
    "rows.jsonl.gz": lambda path, data: path.write_bytes(gzip.compress(data)),
    "two-parts.jsonl.gz": lambda path, data: path.write_bytes(gzip.compress(data[:500]) + gzip.compress(data[500:])),
    "rows.ndjson.bz2": lambda path, data: path.write_bytes(bz2.compress(data)),
    "rows.jsonl.zst": lambda path, data: path.write_bytes(pa.Codec("zstd").compress(data, asbytes=True)),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_rows_of_lines_are_converted_in_order(tmp_path: Path, name: str, form: Any) -> None:
    WRITERS[name](tmp_path / name, lines(35))
    report = run_job([tmp_path / name], tmp_path / "out", settings(format=form), workers=0)
    good = [number for number in range(35) if number % 10 != 9]
    rows = rows_in(tmp_path / "out")
    if form == "parquet":
        assert [row["row"] for row in rows] == list(range(1, 36))
        assert [row["row"] for row in rows if row["error"] is None] == [number + 1 for number in good]
        payloads = [json.loads(row["payload"]) for row in rows if row["error"] is None]
    else:
        payloads = rows
    assert payloads == [contentmodel.convert(request(n), source="openai-chat", **TARGET).payload for n in good]
    assert [(row["row"], row["source"]) for row in failures_in(tmp_path / "out")][:2] == [(10, "{"), (20, BAD[1])]
    assert (report.total.rows, report.total.errors, report.total.counts) == (35, 3, {"no-field": 32})
    assert {name: group.rows for name, group in report.models.items()} == {"local-0": 11, "local-1": 11, "local-2": 10}


TARGET: dict[str, Any] = {"target": "anthropic-messages", "kind": "request"}


@pytest.mark.parametrize("group", [3, 7, 10, 100])
def test_rows_of_parquet_are_converted_in_order(tmp_path: Path, group: int) -> None:
    write_parquet(tmp_path / "rows.parquet", 35, group)
    run_job([tmp_path / "rows.parquet"], tmp_path / "out", settings(column="request", key="id"), workers=0)
    rows = rows_in(tmp_path / "out")
    assert [row["id"] for row in rows] == list(range(35))
    assert list(rows[0]) == ["id", "payload", "losses", "error", "api"]
    assert [row["id"] for row in rows if row["error"]] == [9, 19, 29]
    assert [(row["row"], row["key"]) for row in failures_in(tmp_path / "out")] == [(10, 9), (20, 19), (30, 29)]


def test_keys_and_payloads_of_lines_are_fields(tmp_path: Path) -> None:
    made = [{"id": "a", "body": request(0)}, {"id": 7, "body": request(1)}, {"id": None}, {"body": 3}, {}]
    source = tmp_path / "rows.jsonl"
    source.write_text("\n".join(map(json.dumps, made)) + "\n\n   \n[")
    run_job([source], tmp_path / "a", settings(column="body", key="id", format="jsonl"), workers=0)
    assert [row["id"] for row in rows_in(tmp_path / "a")] == ["a", "7"]
    assert [(row["row"], row["key"]) for row in failures_in(tmp_path / "a")] == [
        (3, "null"),
        (4, None),
        (5, None),
        (8, None),
    ]


def test_payload_of_a_line_with_half_a_surrogate_pair_is_its_field(tmp_path: Path) -> None:
    half = {**request(0), "messages": [{"role": "user", "content": "half \ud83d of it"}]}
    lines = [{"id": "a", "body": half}, {"id": "b", "body": request(1), "note": "\ud83d"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    made = settings(column="body", key="id", format="jsonl")
    run_job([tmp_path / "rows.jsonl"], tmp_path / "out", made, workers=0)
    assert [row["id"] for row in rows_in(tmp_path / "out")] == ["a", "b"]
    assert rows_in(tmp_path / "out")[0]["payload"]["messages"][0]["content"][0]["text"] == "half \ud83d of it"


def test_line_above_the_limit_is_an_error_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(2) + b'"' + b"x" * 3_000_000 + b'"\n' + lines(2))
    shards = list(divide(find_files([str(path)]), 3))
    assert [(shard.first, shard.rows) for shard in shards] == [(0, 3), (3, 2)]
    assert [(number, len(line) < 1002) for number, line in lines_of(shards[0], 1000)] == [
        (1, True),
        (2, True),
        (3, True),
    ]
    report = run_job([path], tmp_path / "out", settings(max_bytes=1000, shard_rows=3), workers=0)
    assert (report.total.rows, report.total.errors) == (5, 1)
    assert "the limit is 1,000" in failures_in(tmp_path / "out")[0]["error"]


@pytest.mark.parametrize("rows", [1, 4, 9, 10, 11, 1000])
@pytest.mark.parametrize("group", [None, 1, 4, 100])
def test_shards_cover_each_row_once(tmp_path: Path, rows: int, group: int | None) -> None:
    path = tmp_path / ("rows.jsonl" if group is None else "rows.parquet")
    if group is None:
        path.write_bytes(lines(10))
    else:
        write_parquet(path, 10, group)
    shards = list(divide(find_files([str(path)]), rows))
    covered = [row for shard in shards for row in range(shard.first, shard.first + (shard.rows or 0))]
    assert covered == list(range(10))
    assert len({shard.name for shard in shards}) == len(shards)
    read = [
        n for shard in shards for place in dataset_inputs.batches_of(shard, None, None, 9999) for n in place.numbers
    ]
    assert read == list(range(1, 11))


def test_inputs_are_files_folders_and_patterns(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b/c.parquet", "b/d.JSONL.gz", "_x.jsonl", ".y.jsonl", "b/notes.txt", "_tmp/e.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    found = [Path(file.path).name for file in find_files([str(tmp_path), str(tmp_path / "*.jsonl")])]
    assert found == ["a.jsonl", "c.parquet", "d.JSONL.gz", "_x.jsonl"]
    with pytest.raises(JobError, match="no files"):
        find_files([str(tmp_path / "*.parquet")])
    with pytest.raises(FileNotFoundError):
        find_files([str(tmp_path / "missing.jsonl")])


def long_lines(count: int) -> bytes:
    """Return requests that take some milliseconds each."""
    rows = []
    for number in range(count):
        turn = [{"role": "user", "name": "ann", "content": f"{number} " * 20}, {"role": "assistant", "content": "Yes."}]
        rows.append(json.dumps({**request(number), "messages": turn * 40}).encode())
    return b"\n".join([*rows[:-1], b"{", rows[-1]])


PROGRAM = """
import sys
from contentmodel.datasets import Settings, run_job

if __name__ == "__main__":
    options = {"target": "anthropic-messages", "source": "openai-chat", "kind": "request"}
    settings = Settings("convert", options, format=sys.argv[3], shard_rows=100)
    run_job([sys.argv[1]], sys.argv[2], settings, workers=2)
"""


def workers_of(driver: int) -> list[int]:
    """Return the worker processes of a driver, without the process that tracks its resources."""
    done = subprocess.run(
        ["ps", "-ww", "-o", "pid=", "-o", "args=", "--ppid", str(driver)], capture_output=True, text=True, check=False
    )
    found = (line.split(maxsplit=1) for line in done.stdout.splitlines())
    return [int(pid) for pid, arguments in found if "spawn_main" in arguments]


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def has_ended(pids: list[int]) -> bool:
    """Return whether processes end within some seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.05)
    return False


KILLS = 20 if PROFILE == "deep" else 8


@pytest.mark.slow
@pytest.mark.parametrize("form", [pytest.param("parquet", marks=pytest.mark.nightly), "jsonl"])
def test_killed_drivers_and_workers_do_not_change_the_results(tmp_path: Path, form: Any) -> None:
    """Kill workers and drivers in turn, at random moments.

    The next run of the same command continues, and the results are those of one run.
    """
    source, program = tmp_path / "rows.jsonl", tmp_path / "program.py"
    source.write_bytes(long_lines(4000))
    program.write_text(PROGRAM)
    chosen, moments = settings(format=form, shard_rows=100), random.Random(form)
    kills: list[str] = []
    folders = [tmp_path / "job0"]
    while len(kills) < KILLS or not (folders[-1] / "report.json").exists():
        if (folders[-1] / "report.json").exists():
            folders.append(tmp_path / f"job{len(folders)}")
        with subprocess.Popen([sys.executable, program, source, folders[-1], form]) as driver:
            while driver.poll() is None:
                time.sleep(moments.uniform(0.2, 1.5))
                workers = workers_of(driver.pid)
                if not workers and moments.random() < 0.8:
                    continue
                if len(kills) >= KILLS:
                    assert driver.wait(120) == 0
                elif workers and len(kills) % 2 == 0:
                    kill(moments.choice(workers))
                    kills.append("worker")
                else:
                    kill(driver.pid)
                    assert has_ended(workers)
                    kills.append("driver")
    assert min(kills.count("driver"), kills.count("worker")) > 1
    expected = run_job([source], tmp_path / "undisturbed", chosen, workers=0)
    for folder in folders:
        assert rows_in(folder) == rows_in(tmp_path / "undisturbed")
        assert failures_in(folder) == failures_in(tmp_path / "undisturbed")
        total = msgspec.json.decode((folder / "report.json").read_bytes(), type=Report)
        assert without_time(total) == without_time(expected)
        assert not (folder / ".drafts").exists()


@pytest.mark.slow
def test_worker_that_is_killed_again_and_again_stops_the_job(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(lines(3))
    shards = list(divide(find_files([str(tmp_path / "rows.jsonl")]), 10))
    with pytest.raises(JobError, match=r"a worker was killed 3 times .* with these shards: 00000-rows\.jsonl"):
        list(run_in_processes(killed_with, shards, 1))


def killed_with(shard: Shard) -> Report:
    """Kill the process that works on a shard, as a system without memory does."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError(shard)


@pytest.mark.slow
def test_ray_gives_the_same_results(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    (tmp_path / "rows.jsonl").write_bytes(lines(45))
    whole = run_job([tmp_path / "rows.jsonl"], tmp_path / "a", settings(), workers=0)
    with_ray = run_job([tmp_path / "rows.jsonl"], tmp_path / "b", settings(), engine="ray", workers=2)
    assert rows_in(tmp_path / "a") == rows_in(tmp_path / "b")
    assert failures_in(tmp_path / "a") == failures_in(tmp_path / "b")
    assert without_time(whole) == without_time(with_ray)
    write_parquet(tmp_path / "rows.parquet", 3)
    with pytest.raises(JobError, match=r"no column 'body': the input has id, request"):
        run_job([tmp_path / "rows.parquet"], tmp_path / "c", settings(column="body"), engine="ray", workers=1)
    table = ray.data.from_arrow(pa.table({"request": [json.dumps(request(0))]}))
    rows = table.map_batches(converter(**TARGET), batch_format="pyarrow").take_all()
    assert [row["api"] for row in rows] == ["openai-chat"]
    ray.shutdown()


class StoppedError(Exception):
    """The interruption of a job in a test."""


def stopped_after(count: int) -> Any:
    def on_progress(now: Progress) -> None:
        if now.shards == count:
            raise StoppedError

    return on_progress


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_stopped_job_continues_with_the_other_shards(tmp_path: Path, form: Any) -> None:
    (tmp_path / "rows.jsonl").write_bytes(lines(45))
    chosen, seen = settings(format=form), []
    with pytest.raises(StoppedError):
        run_job([tmp_path / "rows.jsonl"], tmp_path / "a", chosen, workers=0, on_progress=stopped_after(2))
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "a" / "data").iterdir()}
    assert len(before) == 2
    part = run_job([tmp_path / "rows.jsonl"], tmp_path / "a", chosen, workers=0, on_progress=seen.append)
    whole = run_job([tmp_path / "rows.jsonl"], tmp_path / "b", chosen, workers=0)
    assert [now.shards for now in seen] == [2, 3, 4, 5]
    assert all((tmp_path / "a" / "data" / name).stat().st_mtime_ns == time for name, time in before.items())
    assert rows_in(tmp_path / "a") == rows_in(tmp_path / "b")
    assert failures_in(tmp_path / "a") == failures_in(tmp_path / "b")
    assert without_time(part) == without_time(whole)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "data",
        "errors",
        "manifest.json",
        "report.json",
        "reports",
    ]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"options": {**OPTIONS, "target": "openai-chat"}}, "target was 'anthropic-messages', is 'openai-chat'"),
        ({"shard_rows": 11}, "shard_rows was 10, is 11"),
        ({"key": "id"}, "key was None, is 'id'"),
        ({"command": "stats", "options": {}}, "command was 'convert', is 'stats'"),
    ],
)
def test_folder_of_another_job_is_refused(tmp_path: Path, changes: Any, text: str) -> None:
    (tmp_path / "rows.jsonl").write_bytes(lines(3))
    run_job([tmp_path / "rows.jsonl"], tmp_path / "out", settings(), workers=0)
    with pytest.raises(JobError) as caught:
        run_job([tmp_path / "rows.jsonl"], tmp_path / "out", settings(**changes), workers=0)
    assert text in str(caught.value)
    assert str(caught.value).endswith("choose another folder, or remove this one")


def test_changed_inputs_and_used_folders_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(3))
    run_job([path], tmp_path / "out", settings(), workers=0)
    path.write_bytes(lines(4))
    with pytest.raises(JobError, match="the input files changed"):
        run_job([path], tmp_path / "out", settings(), workers=0)
    with pytest.raises(JobError, match="is not empty, and has no job"):
        run_job([path], tmp_path, settings(), workers=0)
    with pytest.raises(ValueError, match="kind is 'answer'"):
        run_job([path], tmp_path / "b", settings(options={**OPTIONS, "kind": "answer"}), workers=0)
    assert not (tmp_path / "b").exists()


def test_file_that_cannot_be_read_stops_the_job_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(JobError, match=r"rows\.parquet: not a Parquet file"):
        run_job([tmp_path / "rows.parquet"], tmp_path / "a", settings(), workers=0)
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(lines(90))[:-20])
    with pytest.raises(JobError, match=r"rows\.jsonl\.gz, after row 0: "):
        run_job([tmp_path / "rows.jsonl.gz"], tmp_path / "b", settings(), workers=0)
    write_parquet(tmp_path / "rows.parquet", 3)
    with pytest.raises(JobError, match="no column 'body': the input has id, request"):
        run_job([tmp_path / "rows.parquet"], tmp_path / "c", settings(column="body"), workers=0)


def test_report_has_the_days_of_answers(tmp_path: Path) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
    times = (0, 86_399, 86_400, None)
    answers = [{"object": "chat.completion", "created": time, "model": "m", "choices": [choice]} for time in times]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, answers)))
    chosen = settings(options={**OPTIONS, "kind": "response"}, format="jsonl")
    report = run_job([tmp_path / "rows.jsonl"], tmp_path / "out", chosen, workers=0)
    assert {day: group.rows for day, group in report.days.items()} == {"1970-01-01": 2, "1970-01-02": 1}


def test_checks_and_statistics_are_jobs(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(lines(12))
    stats = Settings("stats", {}, format="jsonl")
    report = run_job([tmp_path / "rows.jsonl"], tmp_path / "stats", stats, workers=0)
    assert report.total.counts == {"messages": 11, "text": 11, "turns": 11}
    assert rows_in(tmp_path / "stats")[0]["messages"] == 1
    refused = json.dumps({**request(0), "temperature": 9, "model": "gpt-4.1"}).encode()
    (tmp_path / "requests.jsonl").write_bytes(lines(12) + refused)
    checks = Settings("check", {"source": "openai-chat"}, format="jsonl")
    report = run_job([tmp_path / "requests.jsonl"], tmp_path / "check", checks, workers=0)
    assert len(rows_in(tmp_path / "check")) == 13
    assert sum(report.models["gpt-4.1"].counts.values()) == 1


def command(*arguments: str | Path) -> Any:
    return typer.testing.CliRunner().invoke(app, ["datasets", *map(str, arguments)])


def test_command_runs_in_processes_and_reports(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(lines(25))
    arguments = ["convert", tmp_path / "rows.jsonl", "--to", "anthropic-messages", "--from", "openai-chat"]
    arguments += ["--kind", "request", "-o", tmp_path / "out", "--shard-rows", "10", "--workers", "1"]
    done = command(*arguments)
    assert done.exit_code == 1, done.output
    assert "23 of 25 rows converted to anthropic-messages" in done.output
    assert "2 rows failed" in done.output
    assert re.search(r"23 +no-field +dropped", done.output)
    assert len(rows_in(tmp_path / "out")) == 23
    assert "another job: target was" in command(*arguments, "--to", "mistral-chat").output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["convert", "rows.jsonl", "--to", "openai-chatt", "-o", "out"], "did you mean openai-chat?"),
        (["convert", "missing.jsonl", "--to", "openai-chat", "-o", "out"], "has no missing.jsonl"),
        (["convert", "rows.jsonl", "--to", "openai-chat", "-o", "."], "is not empty, and has no job"),
        (["stats", "rows.jsonl", "-o", "out", "--address", "auto"], "--address needs --engine ray"),
    ],
)
def test_command_reports_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_bytes(lines(2))
    done = command(*arguments)
    assert done.exit_code == 2
    assert text in done.output


def test_statistics_are_printed_with_the_names_of_counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_bytes(lines(2))
    done = command("stats", "rows.jsonl", "-o", "out", "--workers", "1")
    assert re.search(r"count +name *\n", done.output)


def test_limits_of_batch_files_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = json.dumps({"custom_id": "r1", "params": {**request(0), "model": "claude-opus-5"}}) + "\n"
    Path("good.jsonl").write_text(line)
    Path("bad.jsonl").write_text(line + line + "{\n")
    assert command("limits", "good.jsonl", "--for", "anthropic-batch").exit_code == 0
    done = command("limits", "good.jsonl", "bad.jsonl", "--for", "anthropic-batch")
    assert done.exit_code == 1
    assert "refused batch-key at bad.jsonl: $[1].custom_id" in done.output
    assert done.output.endswith("2 violations\n")
    listed = command("limits", "bad.jsonl", "--for", "anthropic-batch", "--json").output.splitlines()
    assert [json.loads(one)["rule"] for one in listed] == ["batch-key", "batch-line"]
    assert "cannot read none.jsonl" in command("limits", "none.jsonl", "--for", "anthropic-batch").output
    assert "anthropic-batch" in command("limits", "bad.jsonl", "--for", "anthropic").output
