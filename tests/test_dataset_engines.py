"""Functions of record batches in Spark and Daft: the programs of the documentation, on files."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contentmodel.datasets import converter

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parent.parent / "docs" / "datasets.md").read_text()
CONVERT = converter(target="anthropic-messages", source="openai-chat", kind="request", column="request", key="id")


def request(number: int) -> str:
    message = {"role": "user", "name": "ann", "content": f"Hi {number}."}
    return json.dumps({"model": "gpt-5.2", "max_completion_tokens": 500, "messages": [message]})


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write two files of rows into the folder that the documentation reads. The last row is not JSON."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "logs"
    folder.mkdir()
    texts = [*map(request, range(9)), "{"]
    for half in range(2):
        rows = {"id": [f"r{n}" for n in range(5 * half, 5 * half + 5)], "request": texts[5 * half : 5 * half + 5]}
        pq.write_table(pa.table(rows), folder / f"{half}.parquet")
    return folder


def run(engine: str, **names: Any) -> Any:
    """Run the program of an engine in the documentation. Return what it converted."""
    (program,) = (block for block in re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL) if engine in block)
    names |= {"convert": CONVERT, "pa": pa}
    exec(compile(program, f"datasets.md, {engine}", "exec"), names)
    return names["converted"]


def expected(logs: Path) -> list[dict[str, Any]]:
    return CONVERT(pq.read_table(logs)).to_pylist()  # type: ignore[no-any-return]


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="the extra `engines` has Spark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    # Spark finds the address of this machine by its name, which may have none.
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    builder = sql.SparkSession.builder.master("local[1]")
    session = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").getOrCreate()
    yield session
    session.stop()


@pytest.mark.nightly
def test_spark_converts_batches_and_keeps_rows_that_fail(logs: Path, spark: Any) -> None:
    rows = [row.asDict(recursive=True) for row in run("pyspark", spark=spark).sort("id").collect()]
    assert rows == expected(logs)
    assert [row["error"] is None for row in rows] == [True] * 9 + [False]


def test_daft_converts_batches_and_keeps_rows_that_fail(logs: Path) -> None:
    pytest.importorskip("daft", reason="the extra `engines` has Daft")
    os.environ.setdefault("DAFT_ANALYTICS_ENABLED", "0")
    rows = run("import daft").sort("id").to_pylist()
    assert rows == expected(logs)
    assert [row["error"] is None for row in rows] == [True] * 9 + [False]
