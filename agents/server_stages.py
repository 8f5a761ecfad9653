"""Stages of Codex through its app server: a revert, a fork in the middle, a compaction and an interrupted turn."""

from __future__ import annotations

from typing import Any

from stages import RunningAgent

COMMAND = ("app-server",)


class AppServer:
    """A client of `codex app-server`: JSON-RPC, one message a line."""

    def __init__(self, agent: RunningAgent) -> None:
        self.agent = agent
        self._number = 0
        self.ask("initialize", clientInfo={"name": "contentmodel", "title": None, "version": "1"})
        self.agent.write({"method": "initialized"})

    def ask(self, method: str, **params: Any) -> Any:
        """Call a method, and return its result. Raises RuntimeError if the server refuses."""
        self._number += 1
        number = self._number
        self.agent.write({"id": number, "method": method, "params": params})
        [answer] = self.agent.wait(lambda: [line for line in self.agent.lines() if line.get("id") == number])
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def start(self) -> str:
        """Start a thread, and return its id."""
        started = self.ask(
            "thread/start",
            cwd=str(self.agent.project),
            approvalPolicy="never",
            sandbox="danger-full-access",
        )
        thread: str = started["thread"]["id"]
        return thread

    def begin(self, thread: str, prompt: str) -> str:
        """Start a turn, and return its id."""
        begun = self.ask("turn/start", threadId=thread, input=[{"type": "text", "text": prompt}])
        turn: str = begun["turn"]["id"]
        return turn

    def end(self, thread: str, turn: str) -> None:
        """Wait until a turn has ended."""
        self.agent.wait(lambda: any(_ended(line, thread, turn) for line in self.agent.lines()))

    def turn(self, thread: str, prompt: str) -> str:
        """Run a turn, and return its id."""
        turn = self.begin(thread, prompt)
        self.end(thread, turn)
        return turn


def _ended(line: dict[str, Any], thread: str, turn: str) -> bool:
    if line.get("method") != "turn/completed" or line["params"]["threadId"] != thread:
        return False
    return bool(line["params"]["turn"]["id"] == turn)


def revert(agent: RunningAgent) -> None:
    """Run two turns, remove the second, and run another."""
    server = AppServer(agent)
    thread = server.start()
    server.turn(thread, "Write the notes.")
    second = server.turn(thread, "A turn that is reverted.")
    server.ask("thread/revert", threadId=thread, beforeTurnId=second)
    server.turn(thread, "Go another way.")


def fork(agent: RunningAgent) -> None:
    """Run two turns, fork after the first, and run a turn of the fork."""
    server = AppServer(agent)
    thread = server.start()
    first = server.turn(thread, "Write the notes.")
    server.turn(thread, "A turn that the fork lacks.")
    forked = server.ask("thread/fork", threadId=thread, lastTurnId=first)["thread"]["id"]
    server.turn(forked, "Go another way.")


def compact(agent: RunningAgent) -> None:
    """Run a turn, compact, and run another."""
    server = AppServer(agent)
    thread = server.start()
    server.turn(thread, "Write the notes.")
    server.ask("thread/compact/start", threadId=thread)
    agent.wait(lambda: sum(line.get("method") == "turn/completed" for line in agent.lines()) > 1)
    server.turn(thread, "Go on after the compaction.")


def interrupt(agent: RunningAgent) -> None:
    """Interrupt a turn while it waits for a command, and run another."""
    server = AppServer(agent)
    thread = server.start()
    turn = server.begin(thread, "Wait.")
    agent.wait_for_command()
    server.ask("turn/interrupt", threadId=thread, turnId=turn)
    server.end(thread, turn)
    server.turn(thread, "Go on after the interrupt.")
