"""Limits on the requests of one web client."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of `create_app`. A request that exceeds a limit is refused with status 413, 400, 408 or 503.

    `body_bytes`: the longest request body, after its decompression. `body_seconds`: the time to send it. `requests`:
    requests at once in this process, with those that read events. `answer_bytes`: the longest body of `/approvals`, and
    the longest answer among the contents of a turn. `contents`: the contents of one user turn, and the answers in one
    body. `key_length`: characters of an `idempotency_key`. `keys`: how many keys the process remembers, over all
    conversations; the oldest is forgotten first. `id_length`: characters of ids, file names and conversation names
    (a store limits conversation names to 500). `link_length`: characters of a link.
    `running`: turns that run at once in this process. `listed`: stored conversations that one list request reads.
    `page_bytes`: a page of turns with their blocks ends after this many bytes, and has at least one turn.
    """

    body_bytes: int = 10_000_000
    body_seconds: int = 60
    requests: int = 10_000
    answer_bytes: int = 100_000
    contents: int = 100
    key_length: int = 200
    keys: int = 10_000
    id_length: int = 500
    link_length: int = 8_000
    running: int = 1_000
    listed: int = 1_000
    page_bytes: int = 10_000_000

    def __post_init__(self) -> None:
        wrong = [name for name in self.__struct_fields__ if getattr(self, name) < 1]
        if wrong:
            raise ValueError(f"limits are 1 or more: {', '.join(f'{name}={getattr(self, name)}' for name in wrong)}")
