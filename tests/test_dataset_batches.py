"""Jobs over batches: plain requests, maps, the fields of losses, and folders and inputs that are damaged."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer.testing

from contentmodel.cli.app import app
from contentmodel.datasets import JobError, Report, Settings, run_job

# -- plain requests, maps, and fields ----------------------------------------------------------------------------------

NAMED_TOOL = {"type": "function", "function": {"name": "a.b c", "parameters": {"type": "object", "properties": {}}}}
PLAIN = {"model": "gpt-4o", "messages": [{"role": "user", "content": "q", "name": "me"}], "tools": [NAMED_TOOL]}


def to_batch(tmp_path: Path, *, key: str | None = None, requests: Any = (PLAIN, PLAIN), **options: Any) -> Report:
    text = "".join(json.dumps(request) + "\n" for request in requests)
    if not (tmp_path / "in.jsonl").exists():
        (tmp_path / "in.jsonl").write_text(text)
    made = {"source": "openai-chat", "target": "anthropic-batch", "model": "claude-opus-5", **options}
    settings = Settings("convert", made, key=key, column=None if key is None else "request", format="jsonl")
    return run_job([str(tmp_path / "in.jsonl")], tmp_path / "out", settings, workers=0)


def data_in(folder: Path) -> list[Any]:
    return [json.loads(line) for path in sorted((folder / "data").iterdir()) for line in path.read_text().splitlines()]


def test_plain_requests_become_lines_of_a_batch_with_the_numbers_of_their_rows(tmp_path: Path) -> None:
    report = to_batch(tmp_path)
    lines = data_in(tmp_path / "out")
    assert [line["custom_id"] for line in lines] == ["f0-r1", "f0-r2"]
    assert {line["params"]["model"] for line in lines} == {"claude-opus-5"}
    assert "foreign-model" not in report.total.counts


def test_plain_requests_become_lines_of_a_batch_with_their_keys(tmp_path: Path) -> None:
    rows = [{"id": 7, "request": PLAIN}, {"id": "not valid", "request": PLAIN}]
    to_batch(tmp_path, key="id", requests=rows)
    (line,) = data_in(tmp_path / "out")
    assert line["custom_id"] == "7"
    (failed,) = [
        json.loads(row) for path in (tmp_path / "out/errors").iterdir() for row in path.read_text().splitlines()
    ]
    assert "'not valid' does not match" in failed["error"]


def test_answers_of_a_batch_get_the_names_of_their_requests(tmp_path: Path) -> None:
    to_batch(tmp_path)
    name = data_in(tmp_path / "out")[0]["params"]["tools"][0]["name"]
    assert name != "a.b c"
    call = {"type": "tool_use", "id": "t", "name": name, "input": {}}
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": [call],
    }
    message |= {"stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}
    results = [{"custom_id": f"f0-r{n}", "result": {"type": "succeeded", "message": message}} for n in (2, 1)]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results))
    options = {"source": "anthropic-batch", "target": "openai-batch", "maps": str(tmp_path / "out")}
    run_job([tmp_path / "results.jsonl"], tmp_path / "back", Settings("convert", options, format="jsonl"), workers=0)
    calls = [line["response"]["body"]["choices"][0]["message"]["tool_calls"][0] for line in data_in(tmp_path / "back")]
    assert [call["function"]["name"] for call in calls] == ["a.b c", "a.b c"]


def test_report_has_the_fields_of_losses(tmp_path: Path) -> None:
    report = to_batch(tmp_path, model=None, requests=[PLAIN] * 30)
    assert report.total.counts["foreign-model"] == 30
    fields = report.fields["no-field"]
    assert (fields.rows, fields.kinds, fields.paths) == (20, {"dropped": 20}, {"$.messages[*].name": 20})
    assert fields.example is not None
    assert (fields.example.path, fields.example.why != "") == ("$.messages[0].name", True)


def test_batch_format_without_keys_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the target must be one of openai-batch"):
        to_batch(tmp_path, source="openai-batch", target="anthropic-messages")


# -- damaged folders and inputs ----------------------------------------------------------------------------------------


def without_report(folder: Path) -> Any:
    """Remove the reports of a job, so that it has work to do. Return its manifest."""
    for path in (folder / "reports").iterdir():
        path.unlink()
    return json.loads((folder / "manifest.json").read_text())


@pytest.mark.parametrize("change", [{"name": "../../evil"}, {"path": "/etc/passwd"}, None])
def test_manifest_with_other_shards_is_refused(tmp_path: Path, change: Any) -> None:
    to_batch(tmp_path)
    manifest = without_report(tmp_path / "out")
    manifest["shards"] = [] if change is None else [{**manifest["shards"][0], **change}]
    (tmp_path / "out/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(JobError, match="its shards are not those of the input files"):
        to_batch(tmp_path)
    assert not (tmp_path.parent / "evil.jsonl").exists()
    assert not [*(tmp_path / "out/errors").glob("*")]


def test_damaged_outputs_are_named(tmp_path: Path) -> None:
    to_batch(tmp_path)
    (data,) = (tmp_path / "out/data").iterdir()
    (report,) = (tmp_path / "out/reports").iterdir()
    whole = data.read_bytes()
    data.write_bytes(whole[:20])
    with pytest.raises(JobError, match=re.escape(f"{data} has 20 bytes")):
        to_batch(tmp_path)
    data.unlink()
    to_batch(tmp_path)
    assert data.read_bytes() == whole
    report.write_text('{"total"')
    with pytest.raises(JobError, match=re.escape(f"{report}: not the report of a shard")):
        to_batch(tmp_path)


def test_millions_of_blank_lines_stop_the_job(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(PLAIN).encode() + b"\n" * 3_000_000))
    settings = Settings("stats", {"source": "openai-chat"}, format="jsonl")
    with pytest.raises(JobError, match="more than 1,000,000 blank lines after line 1"):
        run_job([path], tmp_path / "out", settings, workers=0)


def test_damaged_page_of_parquet_names_the_input(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"p": [json.dumps(PLAIN)] * 50}), path)
    data = bytearray(path.read_bytes())
    data[4:40] = b"\xff" * 36
    path.write_bytes(bytes(data))
    settings = Settings("stats", {"source": "openai-chat"}, format="jsonl")
    with pytest.raises(JobError, match=re.escape(str(path))):
        run_job([path], tmp_path / "out", settings, workers=0)


def limits(folder: str, format: str) -> Any:
    return typer.testing.CliRunner().invoke(app, ["datasets", "limits", folder, "--for", format])


def test_limits_of_a_folder_are_checked(tmp_path: Path) -> None:
    to_batch(tmp_path, model=None)
    found = limits(str(tmp_path / "out/data"), "anthropic-batch")
    assert found.exit_code == 1
    assert "model-of-this-provider" in found.output
    assert "$[0].params.model" in found.output
    assert limits(str(tmp_path / "out"), "anthropic-batch").output == found.output
    assert limits(str(tmp_path / "out/data"), "openai-batch").exit_code == 1
