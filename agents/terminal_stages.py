"""Stages of Gemini CLI in a terminal: a checkpoint, a compression and a rewind."""

from __future__ import annotations

from terminal import ENTER, UP, Terminal


def _ask(terminal: Terminal, *prompts: str) -> None:
    for prompt in prompts:
        terminal.wait_until_quiet()
        terminal.type(prompt, ENTER)
    terminal.wait_until_quiet()


def _quit(terminal: Terminal) -> None:
    terminal.type("/quit", ENTER)


def checkpoint(terminal: Terminal) -> None:
    """Save a checkpoint between two prompts, go back to it, and ask again."""
    terminal.wait("Type your message")
    _ask(terminal, "Write the notes.", "/resume save notes", "Go on.", "/resume resume notes", "Go another way.")
    _quit(terminal)


def compress(terminal: Terminal) -> None:
    """Compress between two prompts."""
    terminal.wait("Type your message")
    _ask(terminal, "Write the notes.", "/compress")
    terminal.wait("compressed from")
    _ask(terminal, "Go on after the compression.")
    _quit(terminal)


def rewind(terminal: Terminal) -> None:
    """Take the second prompt back, and ask another way: the agent puts the old prompt before the new one."""
    terminal.wait("Type your message")
    _ask(terminal, "Write the notes.", "A prompt that is taken back.", "/rewind")
    # The list has the results of the last turn after its prompt.
    terminal.type(UP, UP, ENTER)
    terminal.wait("Confirm Rewind")
    terminal.type(ENTER)
    _ask(terminal, " Go another way.")
    _quit(terminal)
