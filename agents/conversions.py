"""Convert recorded sessions to the format of another agent, let that agent resume them, and convert them back."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft7Validator
from programs import PROGRAMS, Program
from run import INSTALLED

from contentmodel import ChatMessage, adapter, convert
from contentmodel.content import TextContent, ToolCallContent, ToolResultContent
from contentmodel.lines import parse_lines
from contentmodel.message import contents_of
from contentmodel_conformance.server.records import Recorded


class Format(NamedTuple):
    """A session format: its API, the API of the agent's requests, and the name of a new file."""

    api: str
    requests: str
    name_of: Callable[[list[dict[str, dict[str, str]]]], str]


def _rollout_name(lines: list[dict[str, dict[str, str]]]) -> str:
    payload = lines[0]["payload"]
    return f"rollout-{payload['timestamp'][:19].replace(':', '-')}-{payload['id']}.jsonl"


CLAUDE = Format("claude-code-session", "anthropic-messages", lambda lines: f"{lines[0]['sessionId']}.jsonl")
CODEX = Format("codex-rollout", "openai-responses", _rollout_name)
FORMATS = {"claude-code": (CLAUDE, "codex", CODEX), "codex": (CODEX, "claude-code", CLAUDE)}
FORMATS["codex-scripts"] = FORMATS["codex"]
"""The format of an agent, the agent that resumes its sessions, and that agent's format."""

Resume = Callable[[Program, Path], tuple[Sequence[Recorded], str, list[str]]]
"""Let an agent resume a file. Return the requests, the text of the file at the end, and the faults."""


class Conversation(NamedTuple):
    """The texts, and the ids of calls and results, of a conversation. Names of tools are not compared."""

    text: list[str]
    calls: list[str | None]
    results: list[str | None]

    @classmethod
    def of(cls, messages: list[ChatMessage]) -> Conversation:
        """Return the conversation of messages, without system and developer messages."""
        contents = list(contents_of(message for message in messages if message.role not in ("system", "developer")))
        return cls(
            [content.text for content in contents if isinstance(content, TextContent) and content.text],
            [content.call_id for content in contents if isinstance(content, ToolCallContent)],
            [content.call_id for content in contents if isinstance(content, ToolResultContent)],
        )

    def missing_in(self, other: Conversation) -> list[str]:
        """Return the parts that another conversation lacks. The other one may join texts."""
        whole = "\n".join(other.text)
        lost = [f"the text {text[:80]!r}" for text in self.text if text not in whole]
        lost += [f"the call {call}" for call in self.calls if call not in other.calls]
        return lost + [f"the result of {call}" for call in self.results if call not in other.results]


def faults_of(agent: str, path: Path, resume: Resume) -> list[str]:
    """Return the faults of one recorded session: decode and encode it, convert it, resume it, and convert it back."""
    own, other, target = FORMATS[agent]
    lines = parse_lines(path.read_bytes())
    session = adapter(own.api).decode_request(lines)
    if adapter(own.api).encode_request(session).payload != lines:
        return [f"{path.name} is not written as the same lines"]
    converted = convert(lines, source=own.api, target=target.api, kind="request")
    faults = [*_schema_faults(converted.payload)] if target is CODEX else []
    history = Conversation.of(adapter(target.api).decode_request(converted.payload).messages)
    faults += [f"lost in the conversion: {part}" for part in _lost_parts(Conversation.of(session.messages), history)]
    if not history.text:
        return faults
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / target.name_of(converted.payload)
        file.write_bytes(converted.to_json())
        requests, after, problems = resume(PROGRAMS[other], file)
    faults += [f"{other} resumes {path.name}: {problem}" for problem in problems]
    if not requests:
        return [*faults, f"{other} sends no request"]
    sent = Conversation.of(adapter(target.requests).decode_request(requests[0].payload).messages)
    faults += [f"{other} does not send {part}" for part in history.missing_in(sent)]
    resumed = adapter(target.api).decode_request(after)
    if len(Conversation.of(resumed.messages).calls) <= len(history.calls):
        faults.append(f"{other} calls no tool after the resume")
    back = convert(after, source=target.api, target=own.api, kind="request")
    restored = Conversation.of(adapter(own.api).decode_request(back.payload).messages)
    return faults + [f"not restored: {part}" for part in history.missing_in(restored)]


@cache
def _item_validators() -> dict[str, Any]:
    """Return a validator for each type of item. Codex itself generates the schema."""
    with tempfile.TemporaryDirectory() as folder:
        command = [INSTALLED / "node_modules" / ".bin" / "codex", "app-server", "generate-json-schema", "--out", folder]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        schema = json.loads((Path(folder) / "codex_app_server_protocol.v2.schemas.json").read_text())
    definitions = schema["definitions"]
    item = definitions["ResponseItem"]
    return {
        name: Draft7Validator({**one, "definitions": definitions})
        for one in item.get("oneOf") or item["anyOf"]
        for name in one.get("properties", {}).get("type", {}).get("enum", ())
    }


def _schema_faults(lines: list[Any]) -> Iterator[str]:
    """Yield a fault for each item that violates the schema of Codex."""
    for at, line in enumerate(lines[1:], 1):
        kind = line["payload"]["type"]
        errors = (
            _item_validators()[kind].iter_errors(line["payload"])
            if kind in _item_validators()
            else ("the type is not in the schema",)
        )
        yield from (f"$[{at}].payload, {kind}: {str(error)[:200]}" for error in errors)


def _lost_parts(before: Conversation, after: Conversation) -> list[str]:
    """Return the texts and calls that a conversion lost. Ignore results: those of hosted tools may become texts."""
    return [part for part in before.missing_in(after) if not part.startswith("the result")]
