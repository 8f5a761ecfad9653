"""The watchdog of the kit: it ends a check without progress, and reports the call and the input."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

import contentmodel
from conftest import slow
from contentmodel_conformance import Outcome, check_adapter, watchdog

CHAT = contentmodel.adapter("openai-chat")


class Delegate:
    """Delegate to the Chat adapter. Tests override the methods that they break."""

    def __getattr__(self, name: str) -> Any:
        return getattr(CHAT, name)


def _spin(value: Any) -> Any:
    # The limit is short only in this function, so that a slow machine ends no other work.
    limit, watchdog.LIMIT = watchdog.LIMIT, 0.1
    try:
        while True:
            value = [value][0]
    finally:
        watchdog.LIMIT = limit


class HangsAtBracket(Delegate):
    """Hang if a text has a bracket, in the decoder and in the encoder."""

    def decode_request(self, payload: Any) -> Any:
        return _spin(payload) if b"[1, 2]" in msgspec.json.encode(payload) else CHAT.decode_request(payload)

    def encode_request(self, request: Any, *rest: Any) -> Any:
        return _spin(request) if "[" in str(request.messages) else CHAT.encode_request(request, *rest)


class HangsAlways(Delegate):
    api = "hanging"

    def encode_request(self, request: Any, *rest: Any) -> Any:
        return _spin(request)


def outcome_of(adapter: Any, check: str, *, in_thread: bool = False) -> Outcome:
    """Return the outcome of a check, optionally run in a thread, which receives no signals."""
    if not in_thread:
        return check_adapter(adapter, only=[check], others=[]).outcomes[0]
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(outcome_of, adapter, check).result()


@pytest.mark.parametrize("in_thread", [False, slow(True)])
@pytest.mark.parametrize("check", ["section/own", slow("notes/wire"), slow("face/adapter")])
def test_watchdog_ends_hanging_check_and_reports_input(check: str, in_thread: bool) -> None:
    # The call is in a law, in a strategy that encodes its draws, or in the check of the adapter's attributes.
    adapter = HangsAlways() if check == "face/adapter" else HangsAtBracket()
    outcome = outcome_of(adapter, check, in_thread=in_thread)
    assert outcome.status == "failed"
    finding = next(found for found in outcome.findings if "in _spin" in found.detail)
    assert finding.law == "totality"
    assert "encode_request (at test_watchdog.py:" in finding.detail
    assert "in _spin)" in finding.detail
    assert '"messages"' in finding.minimal


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timers")
def test_watchdog_restores_signal_handler_and_timer() -> None:
    before = signal.getsignal(signal.SIGALRM)
    check_adapter(CHAT, only=["face"], others=[])
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
