"""Convert a session to the format of another agent, and write it to a new file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from contentmodel.adapter import traced
from contentmodel.authoring import EncodeContext
from contentmodel.cli.errors import Problem, naming
from contentmodel.cli.installed import load
from contentmodel.cli.sessions.loading import Loaded
from contentmodel.cli.sessions.tools import with_tools
from contentmodel.encoded import Encoded
from contentmodel.errors import EncodeError
from contentmodel.losses import LossError, significant
from contentmodel.request import ChatRequest


@dataclass(frozen=True)
class Plan:
    """The options of a conversion. `policies` also has the id and the folder of the new session."""

    target: str
    tools: str
    policies: dict[str, str]
    on_loss: str


def convert_session(loaded: Loaded, plan: Plan) -> Encoded:
    """Return a session in the format of another agent or API.

    Raise Problem if it has no messages, and LossError if it has losses and `on_loss` is "raise".
    """
    value, trace = traced(load(loaded.session.agent.api), "request", loaded.lines)
    request = cast(ChatRequest, value)
    check_messages(request)
    writer = load(plan.target)
    context = EncodeContext(plan.target, getattr(writer, "issuer", ""), "request", plan.policies, request.origin)
    changed = with_tools(request, plan.tools, context, loaded.session.directory)
    encoded: Encoded = writer.encode_request(changed, plan.policies)
    if changed is not request:
        encoded.add_losses_to(context)
        encoded = Encoded(encoded.payload, request, context, None, encoded.form)
    if trace is not None:
        encoded.trace_to(*trace)
    if plan.on_loss == "raise" and (refused := significant(encoded.losses)):
        raise LossError(plan.target, refused)
    return encoded


def check_messages(request: ChatRequest) -> None:
    """Raise Problem if a session has no messages."""
    if not request.messages:
        hint = "choose another session: `contentmodel sessions list` shows their first words"
        raise Problem("the session has no messages", hint=hint)


def check_free(path: Path, option: str) -> None:
    """Raise Problem if a path exists, or if it is below a file. `option` sets another path."""
    if path.is_dir():
        raise Problem(f"{path}: is a folder", hint=f"set {option} to a new file in it")
    if os.path.lexists(path):
        raise Problem(f"{path}: the file exists, and is not replaced", hint=f"set {option} to another one")
    file = next((folder for folder in path.parents if folder.exists() and not folder.is_dir()), None)
    if file is not None:
        raise Problem(f"{path}: {file} is a file, not a folder", hint=f"set {option} to another path")


def write_new(path: Path, pieces: Iterable[bytes], source: Path | None) -> None:
    """Write a file that does not exist yet, and create its folders. After a failure, there is no file.

    The file has at most the permissions of the file `source`, and so have the folders. If `source` is None, only the
    user can read it.
    """
    mode = stat.S_IMODE(source.stat().st_mode) & 0o666 if source is not None else 0o600
    _make_folders(path.parent, mode | (mode & 0o444) >> 2)
    try:
        with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode | 0o600)) as file, naming(str(path)):
            file.writelines(pieces)
    except FileExistsError:
        raise OSError(errno.EEXIST, "the file exists, and is not replaced", str(path)) from None
    except (OSError, EncodeError):
        with suppress(OSError):
            path.unlink()
        raise


def _make_folders(path: Path, mode: int) -> None:
    """Create a folder, and those above it that are missing."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=mode | 0o700, exist_ok=True)
    path.mkdir(exist_ok=True)
