"""A temporary PostgreSQL cluster in a temporary folder, removed when the process that started it ends.

By hand, `python tests/services/postgresql.py` starts one, prints its SQLAlchemy URL and stops it at Ctrl-C. In tests
the fixtures `postgresql` and `database` of conftest do the same. It listens on a unix socket in its folder, which
only its owner and root can enter, so it needs no port and no password.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DEBIAN = Path("/usr/lib/postgresql")
# Tests need not survive a power cut. A test of durability uses `durable=True`.
CARELESS = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
# The script that ends the cluster waits for the end of its standard input: it comes when we close it, and when we die.
STOP = 'read -r _; "$1/pg_ctl" -D "$2/data" -m immediate -w stop >/dev/null 2>&1; rm -rf "$2"'


class NotInstalledError(Exception):
    """Raised if no PostgreSQL server is installed."""


def binaries() -> Path:
    """Return the folder of initdb and pg_ctl: the one on PATH, else the newest of Debian's packages.

    Raises NotInstalledError.
    """
    on_path = shutil.which("initdb")
    packaged = sorted(DEBIAN.glob("*/bin"), key=lambda folder: float(folder.parent.name), reverse=True)
    for folder in [Path(on_path).parent] * bool(on_path) + packaged:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    raise NotInstalledError(f"PostgreSQL is not installed: no initdb and pg_ctl on PATH or in {DEBIAN}/*/bin")


def _owner() -> dict[str, Any]:
    """Return the arguments of subprocess for the user of the cluster. PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _run(command: list[str | Path], folder: Path, owner: dict[str, Any]) -> None:
    """Run a command to its end. If it fails, raise an error with its output and the server's log."""
    # Output goes to a file: a pipe would stay open as long as the server that pg_ctl starts.
    with (folder / "output").open("w+") as output:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, **owner
        )
        if done.returncode:
            log = folder / "log"
            text = (folder / "output").read_text() + (log.read_text() if log.exists() else "")
            raise RuntimeError(f"{command[0]} failed with exit code {done.returncode}:\n{text}")


@contextmanager
def cluster(*, durable: bool = False) -> Iterator[str]:
    """Start a cluster, and yield the SQLAlchemy URL of its database `postgres`. Stop and remove it on exit.

    durable: commits reach the disk before they return (fsync), as in a real deployment. Raises NotInstalledError.
    """
    programs, owner = binaries(), _owner()
    # Not TMPDIR: the path of a unix socket is limited to about a hundred bytes.
    folder = Path(tempfile.mkdtemp(prefix="cm-pg-", dir="/tmp"))
    if owner:
        os.chown(folder, owner["user"], owner["group"])
    stopper = subprocess.Popen(
        ["sh", "-c", STOP, "stop", programs, folder], cwd="/", stdin=subprocess.PIPE, start_new_session=True, **owner
    )
    try:
        initdb = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        _run([programs / "initdb", "-D", folder / "data", *initdb], folder, owner)
        settings = f"-k {folder} -c listen_addresses='' -c max_connections=100 {'' if durable else CARELESS}"
        start = ["-l", folder / "log", "-o", settings, "-w", "-t", "60", "start"]
        _run([programs / "pg_ctl", "-D", folder / "data", *start], folder, owner)
        yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
    finally:
        assert stopper.stdin is not None
        stopper.stdin.close()
        stopper.wait()
        # The folder is in /tmp, whose sticky bit may prevent the cluster's owner from deleting it.
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def stopped(url: str) -> Iterator[None]:
    """Stop the server of a cluster as an administrator does, and start it again on exit, with the same settings."""
    folder = Path(url.rpartition("host=")[2])
    pg_ctl: list[str | Path] = [binaries() / "pg_ctl", "-D", folder / "data", "-w", "-t", "60"]
    settings = f"-k {folder} -c listen_addresses='' -c max_connections=100 {CARELESS}"
    _run([*pg_ctl, "-m", "fast", "stop"], folder, _owner())
    try:
        yield
    finally:
        _run([*pg_ctl, "-l", folder / "log", "-o", settings, "start"], folder, _owner())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Start a throw-away PostgreSQL cluster, print its URL, and stop and remove it at Ctrl-C."
    )
    parser.add_argument("--durable", action="store_true", help="commits reach the disk before they return (fsync)")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with cluster(durable=options.durable) as url:
            print(url, flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except NotInstalledError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
