"""Attacks in a real browser: a page of another site against a server of conversations, and unprintable content."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import contentmodel
from contentmodel import ChatMessage, ChatRequest, TextContent
from contentmodel.html import page
from scripted import answer
from test_server_app import Paced, run, serving

SECRET = "the treasure is under the oak"
ATTACKS = """
const base = "http://127.0.0.1:%d", turns = base + "/conversations/c/turns", body = JSON.stringify({content: "forged"});
const send = (headers, body, more) => fetch(turns, {method: "POST", headers, body, ...more});
const form = new FormData();
form.append(body, "");
const heard = () => new Promise((resolve, reject) => {
  const source = new EventSource(base + "/turns/%s/events");
  for (const name of ["turn_begin", "block_start", "block_stop", "turn_end"])
    source.addEventListener(name, event => resolve(event.data));
  source.onmessage = event => resolve(event.data);
  source.onerror = () => { source.close(); reject(new Error("closed")); };
});
const remove = async () => {
  let reply;  // A conversation is not deleted while the forged turn runs.
  do reply = await fetch(base + "/conversations/c", {method: "DELETE"}); while (reply.status === 409);
  return reply.text();
};
const attacks = [
  () => send({"content-type": "text/plain"}, body, {mode: "no-cors"}),
  () => send({"content-type": "application/x-www-form-urlencoded"}, body, {mode: "no-cors"}),
  () => send({}, form, {mode: "no-cors"}),
  async () => navigator.sendBeacon(turns, new Blob([body], {type: "text/plain"})),
  async () => (await send({"content-type": "application/json"}, body)).text(),
  async () => (await fetch(turns + "?blocks=true")).text(),
  remove,
  heard,
];
(async () => {
  const results = [];
  for (const attack of attacks)
    try { results.push(String(await attack())); } catch (error) { results.push("blocked: " + error); }
  document.body.textContent = JSON.stringify(results);
  document.body.setAttribute("data-done", results.length);
})();
"""


async def attacked(path: Path, browser: Any, **settings: Any) -> tuple[str, list[str]]:
    """Return what a page of another site can read from a server, and the texts stored there afterwards."""
    async with serving(str(path / "turns.db"), Paced([answer(SECRET)] * 9), **settings) as front:
        begun = await front.ask("Where is it?")
        await front.ended(begun["turn"])
        hostile = path / "hostile.html"
        script = ATTACKS % (front.port, begun["turn"])
        hostile.write_text(f"<!DOCTYPE html><body><script>{script}</script>")
        dom = await asyncio.to_thread(browser, hostile, "--dump-dom", "--virtual-time-budget=5000")
        assert 'data-done="8"' in dom, dom
        found = await front.store.conversations(10)
        stored = (await front.store.load("c")).messages if found else []
        return dom.partition("<body")[2], [message.text for message in stored]


def test_server_blocks_reads_and_writes_from_another_site(browser: Any, tmp_path: Path) -> None:
    async def go() -> None:
        learned, stored = await attacked(tmp_path, browser)
        assert SECRET not in learned
        assert stored == ["Where is it?", SECRET]

    run(go())


def test_server_allows_reads_and_writes_from_a_listed_origin(browser: Any, tmp_path: Path) -> None:
    """The attacks work if the server allows the page. The origin of a file is null."""

    async def go() -> None:
        learned, stored = await attacked(tmp_path, browser, origins=["null"])
        assert SECRET in learned
        assert stored == []

    run(go())


@pytest.mark.parametrize("code", [0xD83D, 0xDE00])
def test_browser_shows_page_with_unpaired_surrogate_escaped(browser: Any, code: int, tmp_path: Path) -> None:
    request = ChatRequest(messages=[ChatMessage(role="user", contents=[TextContent(text=f"before {chr(code)} after")])])
    shown = tmp_path / "half.html"
    shown.write_text(page(contentmodel.loads(contentmodel.dumps(request))), encoding="utf-8")
    dom = browser(shown, "--dump-dom")
    assert f"before {json.dumps(chr(code))[1:-1]} after" in re.sub("<[^>]*>", "", dom)
