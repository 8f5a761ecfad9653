"""Measure jobs over generated requests: rows per second, and memory, compared with a plain loop over the same file.

    python benchmarks/dataset_jobs.py                        50,000 rows; 1 and 2 workers
    python benchmarks/dataset_jobs.py --rows 1000000 --workers 1 2 4 --ray
    python benchmarks/dataset_jobs.py --rows 1000000 --folder /data/bench     keeps the files

Each case runs in a separate process. Its memory is the largest resident set of one process, workers included. On a
machine that does other work, the rows per second of a core (of processor time) are more exact than those of the clock.
Ray's workers are not children of the process: their time and memory are not counted. The plain loop reads each line,
converts it and writes it, like a program without this library's jobs. If litellm is installed, its conversion of the
same lines is measured as well.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import contentmodel

SOURCE, TARGET = "openai-chat", "anthropic-messages"
TEXT = "The forecast for Oslo is rain in the morning, and sun after lunch; take a coat, and leave early. "
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def main() -> None:
    """Measure all cases, or the case that a measuring process names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        _measure(options.folder, options.case[0], int(options.case[1]))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        source = folder / "requests.jsonl"
        generate(source, options.rows)
        print(f"{options.rows:,} requests, {source.stat().st_size / 1e6:,.0f} MB, {SOURCE} to {TARGET}\n")
        print(f"{'case':<28}{'seconds':>9}{'rows/s':>9}{'rows/s of a core':>17}{'MB/s':>7}{'memory MB':>11}")
        cases = [("loop", 0), *(_litellm()), *(("local", number) for number in options.workers)]
        cases += [("local to Parquet", number) for number in options.workers[-1:]]
        cases += [("ray", number) for number in options.workers if options.ray]
        for name, workers in cases:
            _report(folder, source, name, workers, options.rows)


def generate(path: Path, rows: int) -> None:
    """Write requests of 2 to 30 messages, with tools, calls and results: 2 kB on average."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    random_numbers = random.Random(0)
    with path.open("w") as file:
        for number in range(rows):
            file.write(json.dumps(_request(number, random_numbers)) + "\n")


def _request(number: int, numbers: random.Random) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for turn in range(min(int(numbers.expovariate(0.5)) + 1, 10)):
        messages.append({"role": "user", "content": f"{number}.{turn} {TEXT * numbers.randint(1, 3)}"})
        if numbers.random() < 0.4:
            call = {"name": "weather", "arguments": json.dumps({"city": f"Oslo {number}"})}
            calls = [{"id": f"call_{turn}", "type": "function", "function": call}]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            messages.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": TEXT})
        messages.append({"role": "assistant", "content": TEXT * numbers.randint(1, 4)})
    messages.append({"role": "user", "content": "Thanks. And tomorrow?"})
    return {"model": "gpt-5.2", "max_completion_tokens": 500, "messages": messages, "tools": [TOOL]}


def _litellm() -> list[tuple[str, int]]:
    try:
        import litellm
    except ImportError:
        return []
    return [("litellm", 0)] if litellm else []


def _report(folder: Path, source: Path, name: str, workers: int, rows: int) -> None:
    command = [sys.executable, __file__, "--folder", str(folder), "--case", name, str(workers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, processor, memory = json.loads(done.stdout.splitlines()[-1])
    label = f"{name}, {workers} worker{'s' if workers > 1 else ''}" if workers else name
    size = source.stat().st_size / 1e6
    speeds = f"{rows / seconds:>9,.0f}{rows / processor:>17,.0f}{size / seconds:>7.1f}"
    print(f"{label:<28}{seconds:>9.1f}{speeds}{memory / 1000:>11,.0f}", flush=True)


def _measure(folder: Path, name: str, workers: int) -> None:
    """Run one case, and print its seconds and its memory in kilobytes."""
    source = folder / "requests.jsonl"
    loops = {"loop": _loop, "litellm": _loop_of_litellm}
    with tempfile.TemporaryDirectory(dir=folder) as output:
        began = time.perf_counter()
        if name in loops:
            loops[name](source, Path(output) / "out.jsonl")
        else:
            _job(source, Path(output) / "out", name, workers)
        seconds = time.perf_counter() - began
    used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    print(json.dumps([seconds, processor, max(used)]))


def _loop(source: Path, output: Path) -> None:
    with source.open("rb") as read, output.open("wb") as written:
        for line in read:
            encoded = contentmodel.convert(line, source=SOURCE, target=TARGET, kind="request")
            written.write(encoded.to_json() + b"\n")


def _loop_of_litellm(source: Path, output: Path) -> None:
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig

    config: Any = AnthropicConfig()
    with source.open("rb") as read, output.open("w") as written:
        for line in read:
            body = json.loads(line)
            optional = {"max_tokens": body["max_completion_tokens"], "tools": body["tools"]}
            mapped = config.map_openai_params(optional, {}, "claude-opus-4-8", drop_params=False)
            made = config.transform_request("claude-opus-4-8", body["messages"], mapped, {}, {})
            written.write(json.dumps(made) + "\n")


def _job(source: Path, output: Path, name: str, workers: int) -> None:
    from contentmodel.datasets import Settings, run_job

    form: Any = "parquet" if name.endswith("Parquet") else "jsonl"
    settings = Settings("convert", {"source": SOURCE, "target": TARGET, "kind": "request"}, format=form)
    run_job([source], output, settings, engine="ray" if name == "ray" else "local", workers=workers)


if __name__ == "__main__":
    main()
